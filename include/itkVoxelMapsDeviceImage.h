// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsDeviceImage_h
#define itkVoxelMapsDeviceImage_h

#include "VoxelMapsExport.h"
#include "itkImage.h"
#include "itkVectorImage.h"
#include "voxelmaps/CudaArrays.h"

#include <memory>
#include <type_traits>

namespace itk
{
/** \class DevicePixels
 * \brief Where an image has its pixels in addition to its buffer: in the memory of a device.
 *
 * The filters of this module ask for it before they read or write an image. itk::CudaImage of ITKCudaCommon has one.
 * For images of another class, specialize DeviceImageTraits.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT DevicePixels
{
public:
  DevicePixels() = default;
  DevicePixels(const DevicePixels &) = delete;
  DevicePixels &
  operator=(const DevicePixels &) = delete;
  virtual ~DevicePixels() = default;

  /** Whether the CPU can use the pointers, too, as those of managed memory. */
  virtual bool
  IsAccessibleByHost() const
  {
    return false;
  }
  /** Number of the CUDA device that has the memory; -1 if it is accessible by the host. */
  virtual int
  GetDeviceID() = 0;
  /** The cudaStream_t in which others read and write the pixels; null is the legacy default stream. */
  virtual void *
  GetStream() const
  {
    return nullptr;
  }

  /** The pixels of the buffered region, copied to the device if only the buffer of the image is up to date. */
  virtual const void *
  GetPointerToRead() = 0;
  /** The same for pixels that are all about to be written: the buffer of the image is out of date from then on. */
  virtual void *
  GetPointerToWrite() = 0;
};

/** \class DeviceImageTraits
 * \brief Which classes of images have DevicePixels.
 *
 * A specialization for another class has isDeviceImage = true, and a function
 * static std::unique_ptr<DevicePixels> MakeDevicePixels(const TImage * image).
 *
 * \ingroup VoxelMaps
 */
template <typename TImage, typename = void>
struct DeviceImageTraits
{
  static constexpr bool isDeviceImage = false;
};

namespace VoxelMapsDetail
{
/** The pixels of an itk::CudaImage, whose header is not needed here. Its kernels and copies use the default stream. */
template <typename TImage>
class CudaImagePixels : public DevicePixels
{
public:
  explicit CudaImagePixels(const TImage * image)
    : m_DataManager(image->GetCudaDataManager())
  {}
  int
  GetDeviceID() override
  {
    return voxelmaps::GetDeviceOf(this->GetPointerToRead());
  }
  const void *
  GetPointerToRead() override
  {
    // The pointer is meant for writing: it would have the next consumer on the host copy what has not changed.
    const bool   isHostOutOfDate = m_DataManager->IsCPUBufferDirty();
    const void * pixels = m_DataManager->GetGPUBufferPointer();
    m_DataManager->SetCPUDirtyFlag(isHostOutOfDate);
    return pixels;
  }
  void *
  GetPointerToWrite() override
  {
    return m_DataManager->GetGPUBufferPointer();
  }

private:
  const decltype(std::declval<const TImage &>().GetCudaDataManager()) m_DataManager;
};

using MakeDevicePixelsFunction = std::unique_ptr<DevicePixels> (*)(const DataObject *);

/** Have FindDevicePixels call a function, which returns null for what is not its kind of image. */
VoxelMaps_EXPORT void
RegisterDevicePixels(MakeDevicePixelsFunction function);

/** What the first of the registered functions returns. */
VoxelMaps_EXPORT std::unique_ptr<DevicePixels>
                 FindRegisteredDevicePixels(const DataObject * image);

template <typename TImage>
std::unique_ptr<DevicePixels>
MakeDevicePixelsIf(const DataObject * image)
{
  const auto * const deviceImage = dynamic_cast<const TImage *>(image);
  return deviceImage != nullptr ? DeviceImageTraits<TImage>::MakeDevicePixels(deviceImage) : nullptr;
}

/** The pixels of an image in the memory of a device; null if they are only in its buffer. */
template <typename TImage>
std::unique_ptr<DevicePixels>
FindDevicePixels(const TImage * image)
{
  if constexpr (DeviceImageTraits<TImage>::isDeviceImage)
  {
    return DeviceImageTraits<TImage>::MakeDevicePixels(image);
  }
  return FindRegisteredDevicePixels(image);
}

/** The type of an image of other pixels, on a device if images of a type are. */
template <typename TImage, typename TPixel, typename THostImage = Image<TPixel, TImage::ImageDimension>,
          typename = void>
struct ImageOf
{
  using Type = THostImage;
};
template <typename TImage, typename TPixel, typename THostImage>
struct ImageOf<TImage, TPixel, THostImage, std::enable_if_t<DeviceImageTraits<TImage>::isDeviceImage>>
{
  using Type = typename TImage::template Rebind<TPixel>::Type;
};

/** The type of the maps of an image, unless it is chosen. */
template <typename TImage>
using MapImageOf = typename ImageOf<TImage, float, VectorImage<float, TImage::ImageDimension>>::Type;
} // namespace VoxelMapsDetail

template <typename TImage>
struct DeviceImageTraits<TImage, std::void_t<decltype(std::declval<const TImage &>().GetCudaDataManager())>>
{
  static constexpr bool isDeviceImage = true;

  static std::unique_ptr<DevicePixels>
  MakeDevicePixels(const TImage * image)
  {
    return std::make_unique<VoxelMapsDetail::CudaImagePixels<TImage>>(image);
  }
};

/** Let filters find the DevicePixels of images of a class that are connected to them as an itk::Image. */
template <typename TImage>
void
RegisterDeviceImage()
{
  VoxelMapsDetail::RegisterDevicePixels(&VoxelMapsDetail::MakeDevicePixelsIf<TImage>);
}
} // namespace itk

#endif // itkVoxelMapsDeviceImage_h
