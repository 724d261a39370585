// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "ItkTestUtilities.h"

#include "itkCudaDevices.h"
#include "itkCudaRunLengthFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

// What only the Cuda class has; the tests of the CPU class cover everything else.
namespace
{
using ImageType = itk::Image<unsigned char, 3>;
using FilterType = itk::CudaRunLengthFeatureMapImageFilter<ImageType>;
using CpuFilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;
using Method = FilterType::CudaMethodEnum;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;

ImageType::Pointer
MakeNoise()
{
  VoxelMapsTest::RandomNumbers random(8);
  std::vector<unsigned char>   pixels(40 * 30 * 20);
  for (unsigned char & pixel : pixels)
  {
    pixel = static_cast<unsigned char>(random.Below(200));
  }
  return VoxelMapsTest::MakeImage<ImageType>({ { 40, 30, 20 } }, pixels);
}

class CudaRunLengthFeatureMapImageFilterOnDevice : public VoxelMapsTest::CudaTest
{};
} // namespace

TEST(CudaRunLengthFeatureMapImageFilter, HasTheDocumentedDefaults)
{
  const auto filter = FilterType::New();
  EXPECT_STREQ("CudaRunLengthFeatureMapImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(0, filter->GetDeviceID());
  EXPECT_TRUE(filter->GetOtherDeviceIDs().empty());
  EXPECT_EQ(Method::Automatic, filter->GetCudaMethod());
  EXPECT_EQ(0u, filter->GetDeviceMemoryBudget());
  EXPECT_EQ(Method::Automatic, filter->GetUsedCudaMethod());
  EXPECT_STREQ("", filter->GetUsedDeviceName());
  EXPECT_EQ(0u, filter->GetUsedNumberOfSlabs());
}

TEST(CudaRunLengthFeatureMapImageFilter, SettersStoreAndModify)
{
  const auto filter = FilterType::New();
  for (const bool modified : { true, false })
  {
    const auto before = filter->GetMTime();
    filter->SetDeviceID(3);
    EXPECT_EQ(modified, filter->GetMTime() > before);
    const auto between = filter->GetMTime();
    filter->SetCudaMethod(Method::SortReduce);
    EXPECT_EQ(modified, filter->GetMTime() > between);
    const auto after = filter->GetMTime();
    filter->SetDeviceMemoryBudget(123456);
    EXPECT_EQ(modified, filter->GetMTime() > after);
    const auto latest = filter->GetMTime();
    filter->SetOtherDeviceIDs({ 1, 2 });
    EXPECT_EQ(modified, filter->GetMTime() > latest);
  }
  EXPECT_EQ(3, filter->GetDeviceID());
  EXPECT_EQ((std::vector<int>{ 1, 2 }), filter->GetOtherDeviceIDs());
  EXPECT_EQ(Method::SortReduce, filter->GetCudaMethod());
  EXPECT_EQ(123456u, filter->GetDeviceMemoryBudget());
}

TEST_F(CudaRunLengthFeatureMapImageFilterOnDevice, EveryMethodHasTheBitsOfTheCpuClassAndTellsWhatItDid)
{
  const auto cpuFilter = CpuFilterType::New();
  ASSERT_STREQ("RunLengthFeatureMapImageFilter", cpuFilter->GetNameOfClass());
  cpuFilter->SetInput(MakeNoise());
  cpuFilter->Update();
  const auto expected = GetBuffer(cpuFilter->GetOutput());
  for (const Method method : { Method::Automatic, Method::SortReduce, Method::WindowWalk, Method::BoxSums })
  {
    const auto filter = FilterType::New();
    filter->SetInput(MakeNoise());
    filter->SetCudaMethod(method);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput()))) << method;
    EXPECT_NE(Method::Automatic, filter->GetUsedCudaMethod());
    EXPECT_TRUE(method == Method::Automatic || method == filter->GetUsedCudaMethod());
    EXPECT_EQ(itk::CudaDevices::GetName(0), filter->GetUsedDeviceName());
    EXPECT_EQ(1u, filter->GetUsedNumberOfSlabs());

    std::ostringstream print;
    filter->Print(print);
    for (const std::string & text : { std::string("DeviceID: 0"),
                                      std::string("OtherDeviceIDs:"),
                                      std::string("DeviceMemoryBudget: 0"),
                                      std::string("UsedDeviceName: ") + filter->GetUsedDeviceName(),
                                      std::string("UsedNumberOfSlabs: 1"),
                                      std::string("CudaMethod: ") })
    {
      EXPECT_NE(std::string::npos, print.str().find(text)) << text << " is missing in\n" << print.str();
    }
  }
}

TEST_F(CudaRunLengthFeatureMapImageFilterOnDevice, ASmallBudgetMakesSlabs)
{
  const auto filter = FilterType::New();
  filter->SetInput(MakeNoise());
  filter->Update();
  const auto expected = GetBuffer(filter->GetOutput());
  filter->SetDeviceMemoryBudget(600000);
  filter->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput())));
  EXPECT_GT(filter->GetUsedNumberOfSlabs(), 1u);
}

TEST_F(CudaRunLengthFeatureMapImageFilterOnDevice, SeveralDevicesHaveTheBitsOfOne)
{
  const auto filter = FilterType::New();
  filter->SetInput(MakeNoise());
  filter->Update();
  const auto expected = GetBuffer(filter->GetOutput());
  // The same device again, with a context of its own, stands for another one.
  filter->SetOtherDeviceIDs({ itk::CudaDevices::GetNumberOfDevices() - 1 });
  filter->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput())));
  EXPECT_NE(std::string::npos, std::string(filter->GetUsedDeviceName()).find(", "));
}

TEST_F(CudaRunLengthFeatureMapImageFilterOnDevice, ErrorsAreExceptionsOfITK)
{
  const auto filter = FilterType::New();
  filter->SetInput(MakeNoise());
  const int number = itk::CudaDevices::GetNumberOfDevices();
  for (const int deviceID : { -1, number })
  {
    filter->SetDeviceID(deviceID);
    ExpectError([&] { filter->Update(); }, { "DeviceID", std::to_string(deviceID), std::to_string(number) });
  }
  filter->SetDeviceID(0);
  filter->SetOtherDeviceIDs({ number });
  ExpectError([&] { filter->Update(); }, { "DeviceID", std::to_string(number) });
  filter->SetOtherDeviceIDs({});
  filter->SetDeviceMemoryBudget(1000);
  ExpectError([&] { filter->Update(); }, { "DeviceMemoryBudget", "needs", "1000" });
  filter->SetDeviceMemoryBudget(0);
  filter->SetCudaMethod(Method::WindowWord);
  filter->SetNeighborhoodRadius(4);
  ExpectError([&] { filter->Update(); }, { "~WindowWord", "does not support", "Automatic" });
  filter->SetCudaMethod(Method::Automatic);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
}
