// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DeviceImage_h
#define DeviceImage_h

// An image with pixels in the memory of a device, in tests that run without one.

#include "itkImage.h"
#include "itkVoxelMapsDeviceImage.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace VoxelMapsTest
{
/** \class DeviceImage
 * \brief Behaves as an itk::CudaImage, but the memory of its device is memory of the host.
 *
 * Its buffer has wrong pixels while it is out of date.
 */
template <typename TPixel, unsigned int VDimension>
class DeviceImage : public itk::Image<TPixel, VDimension>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(DeviceImage);

  using Self = DeviceImage;
  using Superclass = itk::Image<TPixel, VDimension>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkNewMacro(Self);

  template <typename TOther, unsigned int VOther = VDimension>
  struct Rebind
  {
    using Type = DeviceImage<TOther, VOther>;
  };

  /** What images share after a graft. */
  struct Memory
  {
    std::vector<unsigned char> pixels;
    bool                       isHostOutOfDate{ false };
    bool                       isDeviceOutOfDate{ true };
    unsigned int               uploads{ 0 };
    unsigned int               downloads{ 0 };
  };

  void
  Allocate(bool initializePixels = false) override
  {
    Superclass::Allocate(initializePixels);
    m_Memory->isDeviceOutOfDate = true;
    m_Memory->isHostOutOfDate = !initializePixels;
  }
  void
  Initialize() override
  {
    Superclass::Initialize();
    m_Memory = std::make_shared<Memory>();
  }

  TPixel *
  GetBufferPointer() override
  {
    this->Download();
    m_Memory->isDeviceOutOfDate = true;
    return Superclass::GetBufferPointer();
  }
  const TPixel *
  GetBufferPointer() const override
  {
    this->Download();
    return Superclass::GetBufferPointer();
  }

  void *
  GetDevicePointer(bool isToWrite) const
  {
    m_Memory->pixels.resize(this->GetBytes());
    if (m_Memory->isDeviceOutOfDate)
    {
      m_Memory->isDeviceOutOfDate = false;
      if (!m_Memory->isHostOutOfDate)
      {
        ++m_Memory->uploads;
        std::memcpy(m_Memory->pixels.data(), this->Superclass::GetBufferPointer(), this->GetBytes());
      }
    }
    if (isToWrite)
    {
      m_Memory->isHostOutOfDate = true;
      std::memset(static_cast<void *>(const_cast<Self *>(this)->Superclass::GetBufferPointer()), 7, this->GetBytes());
    }
    return m_Memory->pixels.data();
  }
  const Memory &
  GetMemory() const
  {
    return *m_Memory;
  }

protected:
  DeviceImage() = default;
  ~DeviceImage() override = default;

  using Superclass::Graft;
  void
  Graft(const itk::DataObject * data) override
  {
    Superclass::Graft(data);
    m_Memory = dynamic_cast<const Self &>(*data).m_Memory;
  }

private:
  std::size_t
  GetBytes() const
  {
    return this->GetBufferedRegion().GetNumberOfPixels() * sizeof(TPixel);
  }
  void
  Download() const
  {
    if (m_Memory->isHostOutOfDate && !m_Memory->isDeviceOutOfDate)
    {
      ++m_Memory->downloads;
      std::memcpy(const_cast<Self *>(this)->Superclass::GetBufferPointer(), m_Memory->pixels.data(), this->GetBytes());
    }
    m_Memory->isHostOutOfDate = false;
  }

  std::shared_ptr<Memory> m_Memory{ std::make_shared<Memory>() };
};
} // namespace VoxelMapsTest

namespace itk
{
template <typename TPixel, unsigned int VDimension>
struct DeviceImageTraits<VoxelMapsTest::DeviceImage<TPixel, VDimension>>
{
  using ImageType = VoxelMapsTest::DeviceImage<TPixel, VDimension>;

  static constexpr bool isDeviceImage = true;

  class Pixels : public DevicePixels
  {
  public:
    explicit Pixels(const ImageType * image)
      : m_Image(image)
    {}
    bool
    IsAccessibleByHost() const override
    {
      return true;
    }
    int
    GetDeviceID() override
    {
      return -1;
    }
    const void *
    GetPointerToRead() override
    {
      return m_Image->GetDevicePointer(false);
    }
    void *
    GetPointerToWrite() override
    {
      return m_Image->GetDevicePointer(true);
    }

  private:
    const ImageType * m_Image;
  };

  static std::unique_ptr<DevicePixels>
  MakeDevicePixels(const ImageType * image)
  {
    return std::make_unique<Pixels>(image);
  }
};
} // namespace itk

#endif // DeviceImage_h
