// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Where filters find the pixels of images that have them on a device, as itkCudaImageGTest.cxx does with one.

#include "DeviceImage.h"
#include "DeviceImageChecks.h"
#include "TestedFilters.h"

namespace VoxelMapsTest
{
struct EmulatedDevice
{
  template <typename TPixel>
  using Image = DeviceImage<TPixel, 3>;

  static itk::DeviceEnums::Device
  GetDevice()
  {
    return IsCudaTest() ? itk::DeviceEnums::Device::CUDA : itk::DeviceEnums::Device::CPU;
  }
  static void
  SetUp()
  {
    itk::RegisterDeviceImage<Image<float>>();
    itk::RegisterDeviceImage<Image<unsigned char>>();
    itk::RegisterDeviceImage<Image<unsigned short>>();
  }
  template <typename TImage>
  static bool
  IsHostOutOfDate(const TImage * image)
  {
    return image->GetMemory().isHostOutOfDate;
  }
  template <typename TImage>
  static bool
  IsDeviceOutOfDate(const TImage * image)
  {
    return image->GetMemory().isDeviceOutOfDate;
  }
  template <typename TImage>
  static void
  SetOnDevice(TImage * image, const std::vector<typename TImage::PixelType> & pixels)
  {
    std::memcpy(image->GetDevicePointer(true), pixels.data(), pixels.size() * sizeof(pixels[0]));
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Emulated, DeviceImages, EmulatedDevice);

TEST(DevicePixels, AreCopiedOnceInEachDirection)
{
  using ImageType = DeviceImage<float, 3>;
  EmulatedDevice::SetUp();
  const auto image = MakeImage<ImageType>({ { 4, 3, 2 } }, std::vector<float>(24, 5.0f));
  const auto first = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
  first->SetInput(image);
  const auto second = itk::FuzzyConnectednessImageFilter<itk::Image<float, 3>>::New();
  second->SetInput(image);
  second->SetSeed({ { 0, 0, 0 } });
  second->SetAffinity({ { 5.0 }, { 1.0 }, {}, { 1.0 } });
  first->Update();
  second->Update();
  EXPECT_EQ(1u, image->GetMemory().uploads);
  EXPECT_EQ(0u, image->GetMemory().downloads);
  EXPECT_EQ(0u, first->GetOutput()->GetMemory().downloads);
  EXPECT_EQ(1, GetBuffer(first->GetOutput())[23]);
  EXPECT_EQ(1, GetBuffer(first->GetOutput())[22]);
  EXPECT_EQ(1u, first->GetOutput()->GetMemory().downloads);
  EXPECT_EQ(0u, first->GetOutput()->GetMemory().uploads);
}
} // namespace VoxelMapsTest
