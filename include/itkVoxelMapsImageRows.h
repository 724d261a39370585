// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageRows_h
#define itkVoxelMapsImageRows_h

#include "VoxelMapsExport.h"
#include "itkImage.h"
#include "itkImportImageContainer.h"
#include "itkVectorImage.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsDeviceImage.h"
#include "voxelmaps/CudaArrays.h"
#include "voxelmaps/FuzzyConnectednessJob.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
/** Number of the voxel at an index in a region. */
template <unsigned int VDimension>
std::int64_t
GetVoxel(const ImageRegion<VDimension> & region, const Index<VDimension> & index)
{
  std::int64_t voxel = 0;
  for (unsigned int d = VDimension; d-- > 0;)
  {
    voxel = voxel * static_cast<std::int64_t>(region.GetSize(d)) + index[d] - region.GetIndex(d);
  }
  return voxel;
}

/** Index of a voxel of a region, which must not be empty. */
template <unsigned int VDimension>
Index<VDimension>
GetIndex(const ImageRegion<VDimension> & region, std::int64_t voxel)
{
  auto index = region.GetIndex();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    index[d] += voxel % static_cast<std::int64_t>(region.GetSize(d));
    voxel /= static_cast<std::int64_t>(region.GetSize(d));
  }
  return index;
}

/** Call f(index, voxel, count) for the rows of a region, or their parts, that hold voxels begin ... end - 1 of the
 * region: each has count voxels from that index on, the first of which is that voxel of the region. */
template <typename TRegion, typename TFunction>
void
ForEachRow(const TRegion & region, std::int64_t begin, std::int64_t end, const TFunction & f)
{
  const auto length = static_cast<std::int64_t>(region.GetSize(0));
  for (std::int64_t voxel = begin; voxel < end;)
  {
    const std::int64_t count = std::min(end - voxel, length - voxel % length);
    f(GetIndex(region, voxel), voxel, count);
    voxel += count;
  }
}

template <typename TComponent, unsigned int VDimension>
std::true_type
IsVectorImage(const VectorImage<TComponent, VDimension> *);
std::false_type
IsVectorImage(const void *);

/** Whether the components of pixels are in the buffer of an itk::VectorImage. */
template <typename TImage>
constexpr bool isVectorImage = decltype(IsVectorImage(static_cast<const TImage *>(nullptr)))::value;

/** Whether the pixels of an image are in its buffer. Others compute them, such as itk::ImageAdaptor. */
template <typename TImage>
constexpr bool hasPixelsInBuffer =
  std::is_base_of<Image<typename TImage::PixelType, TImage::ImageDimension>, TImage>::value || isVectorImage<TImage>;

/** Number of elements of the buffer for each pixel. */
template <typename TImage>
std::int64_t
GetElementsPerPixel(const TImage * image)
{
  return isVectorImage<TImage> ? static_cast<std::int64_t>(image->GetNumberOfComponentsPerPixel()) : 1;
}

/** Throw an itk::ExceptionObject unless the buffered region of an image contains a region. */
template <unsigned int VDimension>
VoxelMaps_EXPORT void
VerifyBufferedRegion(const std::string & filter, const std::string & name, const ImageBase<VDimension> & image,
                     const ImageRegion<VDimension> & region);

/** Throw an itk::ExceptionObject if an image has allocated fewer elements than its buffered region needs. */
VoxelMaps_EXPORT void
VerifyAllocation(const std::string & filter, const std::string & name, SizeValueType allocated, SizeValueType elements);

/** \class JobMemory
 * \brief Whether a CUDA device computes a job, and where what it reads and writes is.
 *
 * \ingroup VoxelMaps
 */
struct VoxelMaps_EXPORT JobMemory
{
  using Location = voxelmaps::MemoryLocation;

  bool                   usesCuda{ false };
  voxelmaps::CudaOptions options;

  /** Whether the pixels of an image, null if only its buffer has them, are in memory of the location. */
  bool
  Has(DevicePixels * pixels, Location location) const
  {
    return pixels != nullptr &&
           (pixels->IsAccessibleByHost() ? location == Location::Host
                                         : location == Location::Device && pixels->GetDeviceID() == options.deviceID);
  }
  std::shared_ptr<void>
  Allocate(std::uint64_t bytes, Location location) const;
};

/** \class PixelsToRead
 * \brief The pixels of the buffered region of an image.
 *
 * \ingroup VoxelMaps
 */
template <typename TPixel>
struct PixelsToRead
{
  const TPixel *      pointer;
  JobMemory::Location location;
};

/** The pixels of an image for a filter that reads a region of it, in its buffer unless the memory of the job has them:
 * what all filters read goes through here. Throws an itk::ExceptionObject with the names of the filter and the image
 * unless the buffered region contains the region. */
template <typename TImage>
PixelsToRead<typename TImage::InternalPixelType>
GetPixels(const std::string & filter, const std::string & name, const TImage * image,
          const typename TImage::RegionType & region, const JobMemory & memory)
{
  VerifyBufferedRegion<TImage::ImageDimension>(filter, name, *image, region);
  const auto devicePixels = FindDevicePixels(image);
  if (memory.Has(devicePixels.get(), memory.options.inputLocation))
  {
    return { static_cast<const typename TImage::InternalPixelType *>(devicePixels->GetPointerToRead()),
             memory.options.inputLocation };
  }
  // Virtual: images such as itk::CudaImage first copy their pixels into the buffer.
  const auto * const pixels = image->GetBufferPointer();
  VerifyAllocation(filter,
                   name,
                   image->GetPixelContainer() == nullptr ? 0 : image->GetPixelContainer()->Size(),
                   image->GetBufferedRegion().GetNumberOfPixels() *
                     static_cast<SizeValueType>(GetElementsPerPixel(image)));
  return { pixels, JobMemory::Location::Host };
}

/** Copy the pixels of a region of a buffer to another buffer, each of the given number of bytes. Where an output is
 * larger than the region that was computed, what it has beyond that becomes 0. The options tell where the buffers are.
 */
template <unsigned int VDimension>
VoxelMaps_EXPORT void
CopyPixels(const void * from, const ImageRegion<VDimension> & fromRegion, void * to,
           const ImageRegion<VDimension> & toRegion, std::size_t bytes, const voxelmaps::JobExecution & execution,
           const voxelmaps::CudaOptions & options);

/** Throw an itk::ExceptionObject unless an image is on the grid of another, within a tolerance in voxels. */
template <unsigned int VDimension>
VoxelMaps_EXPORT void
VerifySameGrid(const std::string & filter, const std::string & name, const ImageBase<VDimension> & image,
               const ImageBase<VDimension> & input, double tolerance);

/** One byte per voxel of a region of a mask, other than 0 inside. The pixels, of this type, are those of the buffered
 * region of the image; those of the value are inside, or those other than 0 if it is null. Unless it is known that all
 * is well, throws an itk::ExceptionObject if no voxel is inside, or if there are several values but none is given. */
template <unsigned int VDimension>
VoxelMaps_EXPORT std::unique_ptr<std::uint8_t[]>
MakeMaskBytes(const std::string & filter, const std::string & name, voxelmaps::PixelType pixelType, const void * pixels,
              const void * insideValue, const ImageBase<VDimension> & image, const ImageRegion<VDimension> & region,
              bool isVerified, const voxelmaps::JobExecution & execution);

/** The same for pixels in the memory of the device of a job, without errors: null where MakeMaskBytes throws one. */
template <unsigned int VDimension>
VoxelMaps_EXPORT std::shared_ptr<const std::uint8_t[]>
                 MakeDeviceMaskBytes(voxelmaps::PixelType pixelType, const void * pixels, const void * insideValue,
                                     const ImageRegion<VDimension> & buffered, const ImageRegion<VDimension> & region,
                                     const JobMemory & memory);

/** A copy of bytes in the memory of the device of a job. */
VoxelMaps_EXPORT std::shared_ptr<const std::uint8_t[]>
CopyToDevice(const std::uint8_t * bytes, SizeValueType count, const voxelmaps::JobExecution & execution,
             const JobMemory & memory);

/** \class InputRegion
 * \brief The pixels of a region of an input, one after the other in memory: the buffer of the image, or a copy.
 *
 * \ingroup VoxelMaps
 */
template <typename TImage>
class InputRegion
{
public:
  using PixelType = typename TImage::InternalPixelType;
  using RegionType = typename TImage::RegionType;

  /** The image must outlive this. The pixels are in the memory that a job reads. Throws as GetPixels() does. */
  InputRegion(const std::string & filter, const TImage * image, const RegionType & region,
              const voxelmaps::JobExecution & execution, const JobMemory & memory)
    : m_Region(region)
    , m_Pixels(GetPixels(filter, "the input", image, region, memory).pointer)
  {
    if (image->GetBufferedRegion() != region)
    {
      const std::size_t      bytes = static_cast<std::size_t>(GetElementsPerPixel(image)) * sizeof(PixelType);
      voxelmaps::CudaOptions options = memory.options;
      options.outputLocation = options.inputLocation;
      m_Copy = memory.Allocate(region.GetNumberOfPixels() * bytes, options.inputLocation);
      CopyPixels(m_Pixels, image->GetBufferedRegion(), m_Copy.get(), region, bytes, execution, options);
      m_Pixels = static_cast<const PixelType *>(m_Copy.get());
    }
  }

  const PixelType *
  GetBufferPointer() const
  {
    return m_Pixels;
  }
  const RegionType &
  GetRegion() const
  {
    return m_Region;
  }

private:
  const RegionType      m_Region;
  const PixelType *     m_Pixels;
  std::shared_ptr<void> m_Copy;
};

/** \class SharedPixelContainer
 * \brief The pixels of one of several images that share a block of memory, which the last of them frees.
 *
 * \ingroup VoxelMaps
 */
template <typename TElement>
class SharedPixelContainer : public ImportImageContainer<SizeValueType, TElement>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(SharedPixelContainer);

  using Self = SharedPixelContainer;
  using Superclass = ImportImageContainer<SizeValueType, TElement>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);
  itkOverrideGetNameOfClassMacro(SharedPixelContainer);

  void
  SetPart(const std::shared_ptr<TElement[]> & block, SizeValueType first, SizeValueType count)
  {
    this->SetImportPointer(block.get() + first, count, false);
    m_Block = block;
  }

protected:
  SharedPixelContainer() = default;
  ~SharedPixelContainer() override = default;

  void
  DeallocateManagedMemory() override
  {
    Superclass::DeallocateManagedMemory();
    m_Block.reset();
  }

private:
  std::shared_ptr<TElement[]> m_Block;
};

/** \class OutputRegion
 * \brief The pixels of a region of an output, for engines that need them one after the other in memory.
 *
 * \ingroup VoxelMaps
 */
template <typename TImage>
class OutputRegion
{
public:
  using PixelType = typename TImage::PixelType;
  using RegionType = typename TImage::RegionType;

  /** Allocates memory for the region if that is only a part of the output, which is allocated. The pixels are in the
   * memory that a job writes. */
  OutputRegion(TImage * output, const RegionType & region, const JobMemory & memory)
    : m_OutputRegion(output->GetBufferedRegion())
    , m_Region(region)
    , m_Options(memory.options)
  {
    const auto devicePixels = FindDevicePixels(output);
    const bool isOnDevice = memory.Has(devicePixels.get(), m_Options.outputLocation);
    m_Output = isOnDevice ? static_cast<PixelType *>(devicePixels->GetPointerToWrite()) : output->GetBufferPointer();
    const std::uint64_t bytes = region.GetNumberOfPixels() * sizeof(PixelType);
    if (m_OutputRegion != region)
    {
      m_Pixels = memory.Allocate(bytes, m_Options.outputLocation);
    }
    if (m_Options.outputLocation == JobMemory::Location::Host)
    {
      voxelmaps::UseHugePages(this->GetBufferPointer(), bytes);
    }
  }

  PixelType *
  GetBufferPointer()
  {
    return m_Pixels ? static_cast<PixelType *>(m_Pixels.get()) : m_Output;
  }

  /** Put the pixels into the output, with zeros around them. */
  void
  Write(const voxelmaps::JobExecution & execution)
  {
    if (m_Pixels)
    {
      voxelmaps::CudaOptions options = m_Options;
      options.inputLocation = options.outputLocation;
      CopyPixels(m_Pixels.get(), m_Region, m_Output, m_OutputRegion, sizeof(PixelType), execution, options);
    }
  }

private:
  PixelType *                  m_Output;
  const RegionType             m_OutputRegion;
  const RegionType             m_Region;
  const voxelmaps::CudaOptions m_Options;
  std::shared_ptr<void>        m_Pixels;
};

/** The pixels that are not 0 of a seed image in the memory of the device of a job, by their numbers in a region. */
template <unsigned int VDimension>
VoxelMaps_EXPORT std::vector<voxelmaps::NonzeroPixel>
FindDeviceSeeds(voxelmaps::PixelType pixelType, const void * pixels, const ImageRegion<VDimension> & buffered,
                const ImageRegion<VDimension> & region, const JobMemory & memory);

/** \class SurroundingsOfSeeds
 * \brief The input of a job in host memory; of one in device memory, a copy of the box around all seeds.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT SurroundingsOfSeeds
{
public:
  /** The margin of the box is in voxels. */
  SurroundingsOfSeeds(const voxelmaps::FuzzyConnectednessInput & input, std::size_t bytesPerComponent,
                      unsigned int margin, const voxelmaps::JobExecution & execution, const JobMemory & memory);

  const voxelmaps::FuzzyConnectednessInput &
  GetInput() const
  {
    return m_Input;
  }

private:
  voxelmaps::FuzzyConnectednessInput m_Input;
  std::shared_ptr<void>              m_Pixels;
  std::shared_ptr<void>              m_Mask;
};
} // namespace VoxelMapsDetail
} // namespace itk

#endif // itkVoxelMapsImageRows_h
