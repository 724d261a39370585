// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "ItkTestUtilities.h"

#include "itkCudaDevices.h"
#include "itkCudaFuzzyConnectednessImageFilter.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

// The parts that only the Cuda class has; the tests of the CPU class cover everything else.
namespace
{
using ImageType = itk::Image<short, 3>;
using FilterType = itk::CudaFuzzyConnectednessImageFilter<ImageType>;
using CpuFilterType = itk::FuzzyConnectednessImageFilter<ImageType>;
using Method = FilterType::CudaMethodEnum;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;

const std::vector<Method> allMethods{ Method::Automatic, Method::CorrectedKFOE, Method::Hierarchy };

/** Noise of 40 x 30 x 20 voxels, large enough for several slabs. */
ImageType::Pointer
MakeNoise()
{
  VoxelMapsTest::RandomNumbers random(8);
  std::vector<short>           pixels(40 * 30 * 20);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Between(-100, 100));
  }
  return VoxelMapsTest::MakeImage<ImageType>({ { 40, 30, 20 } }, pixels);
}

template <typename TFilter>
typename TFilter::Pointer
MakeFilter()
{
  const auto filter = TFilter::New();
  filter->SetInput(MakeNoise());
  filter->SetSeeds({ { { 20, 15, 10 } }, { { 0, 29, 19 } } });
  filter->SetObjectVariance(2500.0);
  filter->SetDifferenceVariance(1000.0);
  return filter;
}

std::vector<float>
ComputeOnCpu()
{
  const auto filter = MakeFilter<CpuFilterType>();
  EXPECT_STREQ("FuzzyConnectednessImageFilter", filter->GetNameOfClass());
  filter->Update();
  return GetBuffer(filter->GetOutput());
}

class CudaFuzzyConnectednessImageFilterOnDevice : public VoxelMapsTest::CudaTest
{};
} // namespace

TEST(CudaFuzzyConnectednessImageFilter, HasTheDocumentedDefaults)
{
  const auto filter = FilterType::New();
  EXPECT_STREQ("CudaFuzzyConnectednessImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(0, filter->GetDeviceID());
  EXPECT_EQ(Method::Automatic, filter->GetCudaMethod());
  EXPECT_EQ(0u, filter->GetDeviceMemoryBudget());
  EXPECT_EQ(2u, filter->GetCorrectionPasses());
  EXPECT_EQ(Method::Automatic, filter->GetUsedCudaMethod());
  EXPECT_STREQ("", filter->GetUsedDeviceName());
  EXPECT_EQ(0u, filter->GetUsedNumberOfSlabs());
}

TEST(CudaFuzzyConnectednessImageFilter, SettersStoreAndModify)
{
  const auto filter = FilterType::New();
  const auto expectModified = [&filter](bool modified, const auto & set) {
    const auto before = filter->GetMTime();
    set();
    EXPECT_EQ(modified, filter->GetMTime() > before);
  };
  for (const bool modified : { true, false })
  {
    expectModified(modified, [&] { filter->SetDeviceID(3); });
    expectModified(modified, [&] { filter->SetCudaMethod(Method::Hierarchy); });
    expectModified(modified, [&] { filter->SetDeviceMemoryBudget(123456); });
    expectModified(modified, [&] { filter->SetCorrectionPasses(5); });
  }
  EXPECT_EQ(3, filter->GetDeviceID());
  EXPECT_EQ(Method::Hierarchy, filter->GetCudaMethod());
  EXPECT_EQ(123456u, filter->GetDeviceMemoryBudget());
  EXPECT_EQ(5u, filter->GetCorrectionPasses());
}

TEST_F(CudaFuzzyConnectednessImageFilterOnDevice, EveryMethodHasTheBitsOfTheCpuClassAndReportsWhatItDid)
{
  const auto expected = ComputeOnCpu();
  for (const Method method : allMethods)
  {
    const auto filter = MakeFilter<FilterType>();
    filter->SetCudaMethod(method);
    filter->SetCorrectionPasses(3);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput()))) << method;
    EXPECT_NE(Method::Automatic, filter->GetUsedCudaMethod());
    EXPECT_TRUE(method == Method::Automatic || method == filter->GetUsedCudaMethod());
    EXPECT_EQ(FilterType::MethodEnum::Automatic, filter->GetUsedMethod());
    EXPECT_EQ(itk::CudaDevices::GetName(0), filter->GetUsedDeviceName());
    EXPECT_EQ(1u, filter->GetUsedNumberOfSlabs());

    std::ostringstream print;
    filter->Print(print);
    for (const std::string & text : { std::string("DeviceID: 0"),
                                      std::string("DeviceMemoryBudget: 0"),
                                      std::string("CorrectionPasses: 3"),
                                      std::string("UsedDeviceName: ") + filter->GetUsedDeviceName(),
                                      std::string("UsedNumberOfSlabs: 1"),
                                      std::string("CudaMethod: ") })
    {
      EXPECT_NE(std::string::npos, print.str().find(text)) << text << " is missing in\n" << print.str();
    }
  }
}

TEST_F(CudaFuzzyConnectednessImageFilterOnDevice, CorrectionPassesDoNotChangeBits)
{
  const auto expected = ComputeOnCpu();
  for (const unsigned int passes : { 0u, 1u, 2u, 7u })
  {
    const auto filter = MakeFilter<FilterType>();
    filter->SetCudaMethod(Method::CorrectedKFOE);
    filter->SetCorrectionPasses(passes);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput()))) << passes << " passes";
  }
}

TEST_F(CudaFuzzyConnectednessImageFilterOnDevice, SmallImagesAreComputedOnTheCpuByDefault)
{
  for (const itk::SizeValueType width : { 127, 128 })
  {
    const auto filter = FilterType::New();
    filter->SetInput(VoxelMapsTest::MakeImage<ImageType>({ { width, 8, 8 } }, std::vector<short>(width * 64)));
    filter->SetSeed({ { 0, 0, 0 } });
    filter->SetObjectVariance(1.0);
    filter->SetDifferenceVariance(1.0);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_EQ(width == 127 ? "CPU" : itk::CudaDevices::GetName(0), filter->GetUsedDeviceName());
  }
}

TEST_F(CudaFuzzyConnectednessImageFilterOnDevice, ASmallBudgetMakesSlabs)
{
  const auto expected = ComputeOnCpu();
  for (const Method method : allMethods)
  {
    const auto filter = MakeFilter<FilterType>();
    filter->SetCudaMethod(method);
    // 2 MB for the engine, and 100 kB for planes of 1,200 voxels, of which 20 need 145 kB and 3 need 65 kB.
    filter->SetDeviceMemoryBudget(2100000);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput()))) << method;
    EXPECT_GT(filter->GetUsedNumberOfSlabs(), 1u) << method;
  }
}

TEST_F(CudaFuzzyConnectednessImageFilterOnDevice, ErrorsAreExceptionsOfITK)
{
  const auto filter = MakeFilter<FilterType>();
  const int  number = itk::CudaDevices::GetNumberOfDevices();
  for (const int deviceID : { -1, number })
  {
    filter->SetDeviceID(deviceID);
    ExpectError([&] { filter->Update(); }, { "DeviceID", std::to_string(deviceID), std::to_string(number) });
  }
  filter->SetDeviceID(0);
  filter->SetDeviceMemoryBudget(1000);
  ExpectError([&] { filter->Update(); }, { "DeviceMemoryBudget", "needs", "1000" });
  filter->SetDeviceMemoryBudget(0);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
}
