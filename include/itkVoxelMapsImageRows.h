// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageRows_h
#define itkVoxelMapsImageRows_h

#include "VoxelMapsExport.h"
#include "itkImage.h"
#include "itkVectorImage.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

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

/** The buffer of an image for a filter that reads a region of it: what all filters read goes through here. Throws an
 * itk::ExceptionObject with the names of the filter and the image unless the buffer has the pixels of the region. */
template <typename TImage>
const typename TImage::InternalPixelType *
GetPixels(const std::string & filter, const std::string & name, const TImage * image,
          const typename TImage::RegionType & region)
{
  VerifyBufferedRegion<TImage::ImageDimension>(filter, name, *image, region);
  // Virtual: images such as itk::CudaImage first copy their pixels into the buffer.
  const auto * const pixels = image->GetBufferPointer();
  VerifyAllocation(filter,
                   name,
                   image->GetPixelContainer() == nullptr ? 0 : image->GetPixelContainer()->Size(),
                   image->GetBufferedRegion().GetNumberOfPixels() *
                     static_cast<SizeValueType>(GetElementsPerPixel(image)));
  return pixels;
}

/** Copy the pixels of a region of a buffer to another buffer, each of the given number of bytes. Where an output is
 * larger than the region that was computed, what it has beyond that becomes 0. */
template <unsigned int VDimension>
VoxelMaps_EXPORT void
CopyPixels(const void * from, const ImageRegion<VDimension> & fromRegion, void * to,
           const ImageRegion<VDimension> & toRegion, std::size_t bytes, const voxelmaps::JobExecution & execution);

/** Throw an itk::ExceptionObject unless an image is on the grid of another, within a tolerance in voxels. */
template <unsigned int VDimension>
VoxelMaps_EXPORT void
VerifySameGrid(const std::string & filter, const std::string & name, const ImageBase<VDimension> & image,
               const ImageBase<VDimension> & input, double tolerance);

/** One byte per voxel of a region of a mask, other than 0 inside. The pixels, of this type, are those of the buffered
 * region of the image; those of the value are inside, or those other than 0 if it is null. Throws an
 * itk::ExceptionObject if no voxel is inside, or if there are several values but none is given. */
template <unsigned int VDimension>
VoxelMaps_EXPORT std::unique_ptr<std::uint8_t[]>
MakeMaskBytes(const std::string & filter, const std::string & name, voxelmaps::PixelType pixelType, const void * pixels,
              const void * insideValue, const ImageBase<VDimension> & image, const ImageRegion<VDimension> & region,
              const voxelmaps::JobExecution & execution);

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

  /** The image must outlive this. Throws as GetPixels() does. */
  InputRegion(const std::string & filter, const TImage * image, const RegionType & region,
              const voxelmaps::JobExecution & execution)
    : m_Region(region)
    , m_Pixels(GetPixels(filter, "the input", image, region))
  {
    if (image->GetBufferedRegion() != region)
    {
      const std::size_t bytes = static_cast<std::size_t>(GetElementsPerPixel(image)) * sizeof(PixelType);
      m_Copy.reset(new unsigned char[static_cast<std::size_t>(region.GetNumberOfPixels()) * bytes]);
      CopyPixels(m_Pixels, image->GetBufferedRegion(), m_Copy.get(), region, bytes, execution);
      m_Pixels = reinterpret_cast<const PixelType *>(m_Copy.get());
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
  const RegionType                 m_Region;
  const PixelType *                m_Pixels;
  std::unique_ptr<unsigned char[]> m_Copy;
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

  /** Allocates the output, and memory for the region if that is only a part of it. */
  OutputRegion(TImage * output, const RegionType & region)
    : m_Output(output)
    , m_Region(region)
  {
    output->SetBufferedRegion(output->GetRequestedRegion());
    output->Allocate();
    if (output->GetBufferedRegion() != region)
    {
      // Not a vector: one thread would clear it.
      m_Pixels.reset(new PixelType[static_cast<std::size_t>(region.GetNumberOfPixels())]);
    }
    voxelmaps::UseHugePages(this->GetBufferPointer(),
                            static_cast<std::size_t>(region.GetNumberOfPixels()) * sizeof(PixelType));
  }

  PixelType *
  GetBufferPointer()
  {
    return m_Pixels ? m_Pixels.get() : m_Output->GetBufferPointer();
  }

  /** Put the pixels into the output, with zeros around them. */
  void
  Write(const voxelmaps::JobExecution & execution)
  {
    if (m_Pixels)
    {
      CopyPixels(m_Pixels.get(),
                 m_Region,
                 m_Output->GetBufferPointer(),
                 m_Output->GetBufferedRegion(),
                 sizeof(PixelType),
                 execution);
    }
  }

private:
  TImage *                     m_Output;
  const RegionType             m_Region;
  std::unique_ptr<PixelType[]> m_Pixels;
};
} // namespace VoxelMapsDetail
} // namespace itk

#endif // itkVoxelMapsImageRows_h
