// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Where filters find the pixels of images that have them on a device, as itkCudaImageGTest.cxx does with one.

#include "DeviceImage.h"
#include "DeviceImageChecks.h"
#include "TestedFilters.h"

#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

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

/** Has itk::Image of float made as images with memory on a device, as itk::CudaImageFactory does. */
class DeviceImageFactory : public itk::ObjectFactoryBase
{
public:
  using Self = DeviceImageFactory;
  using Superclass = itk::ObjectFactoryBase;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

  const char *
  GetITKSourceVersion() const override
  {
    return ITK_SOURCE_VERSION;
  }
  const char *
  GetDescription() const override
  {
    return "Images on a device";
  }

protected:
  DeviceImageFactory()
  {
    this->RegisterOverride(typeid(itk::Image<float, 3>).name(),
                           typeid(DeviceImage<float, 3>).name(),
                           this->GetDescription(),
                           true,
                           itk::CreateObjectFunction<DeviceImage<float, 3>>::New());
  }
};

TEST(DevicePixels, OfOutputsThatAFactoryMakes)
{
  EmulatedDevice::SetUp();
  const auto image = DeviceImages<EmulatedDevice>::MakeHostScene().seeds;
  const auto prepare = [&](const auto & filter) {
    filter->SetDevice(EmulatedDevice::GetDevice());
    filter->SetInput(image);
    filter->SetFeatureNames({ "firstorder_Mean", "glcm_Contrast" });
    filter->Update();
    return filter;
  };
  using ImageType = itk::Image<unsigned char, 3>;
  using MapType = itk::Image<float, 3>;
  const auto expected = prepare(itk::FeatureMapsImageFilter<ImageType, MapType>::New());
  const auto factory = DeviceImageFactory::New();
  itk::ObjectFactoryBase::RegisterFactory(factory);
  const auto filter = prepare(itk::FeatureMapsImageFilter<ImageType, MapType>::New());
  itk::ObjectFactoryBase::UnRegisterFactory(factory);
  for (unsigned int map = 0; map < 2; ++map)
  {
    const auto * const onDevice = dynamic_cast<const DeviceImage<float, 3> *>(filter->GetOutput(map));
    ASSERT_NE(nullptr, onDevice);
    DeviceImages<EmulatedDevice>::ExpectSame(expected->GetOutput(map), onDevice);
  }
}
} // namespace VoxelMapsTest
