// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "PipelineTestUtilities.h"
#include "ItkTestUtilities.h"

#include "itkCudaRelativeFuzzyConnectednessImageFilter.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using ImageType = itk::Image<short, 3>;
using FilterType = itk::CudaRelativeFuzzyConnectednessImageFilter<ImageType>;
using CpuFilterType = itk::RelativeFuzzyConnectednessImageFilter<ImageType>;
using Method = itk::RelativeFuzzyConnectednessEnums::CudaMethod;

class CudaRelativeFuzzyConnectednessImageFilterOnDevice : public CudaTest
{};

ImageType::Pointer
MakeNoise(const ImageType::SizeType & size = { { 50, 40, 30 } })
{
  RandomNumbers      random(8);
  std::vector<short> pixels(size[0] * size[1] * size[2]);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Below(60));
  }
  return MakeImage<ImageType>(size, pixels);
}

template <typename TFilter>
void
SetUpFilter(TFilter * filter, const ImageType * image)
{
  filter->SetInput(image);
  filter->AddSeed({ { 3, 3, 3 } }, 7);
  filter->AddSeed({ { 10, 8, 6 } }, 2);
  filter->AddSeed({ { 2, 8, 5 } }, 9);
  filter->SetObjectMean(30.0);
  filter->SetObjectVariance(500.0);
  filter->SetDifferenceVariance(100.0);
}
} // namespace

TEST(CudaRelativeFuzzyConnectednessImageFilter, HasTheDocumentedDefaultsAndErrors)
{
  const auto filter = FilterType::New();
  EXPECT_STREQ("CudaRelativeFuzzyConnectednessImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(0, filter->GetDeviceID());
  EXPECT_EQ(Method::Automatic, filter->GetCudaMethod());
  EXPECT_EQ(0u, filter->GetMemoryOfHierarchy());
  SetUpFilter(filter.GetPointer(), MakeNoise());
  filter->SetCudaMethod(static_cast<Method>(2));
  ExpectError([&] { filter->Update(); }, { "CudaMethod", "2" });
}

TEST_F(CudaRelativeFuzzyConnectednessImageFilterOnDevice, KeepsTheHierarchyOfWhereItComputes)
{
  // So small an image is computed on the CPU by default.
  const auto image = MakeNoise({ { 12, 10, 8 } });
  const auto expected = CpuFilterType::New();
  SetUpFilter(expected.GetPointer(), image);
  expected->Update();
  const auto filter = FilterType::New();
  SetUpFilter(filter.GetPointer(), image);
  filter->KeepHierarchyOn();
  for (const bool usesCpu : { true, false, true })
  {
    filter->SetCudaMethod(usesCpu ? Method::Automatic : Method::Hierarchy);
    for (int i = 0; i < 2; ++i)
    {
      filter->Modified();
      VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
      EXPECT_EQ(GetBuffer(expected->GetOutput()), GetBuffer(filter->GetOutput())) << usesCpu;
    }
    EXPECT_EQ(usesCpu ? "CPU" : itk::CudaDevices::GetName(0), filter->GetUsedDeviceName());
    EXPECT_EQ(usesCpu ? Method::Automatic : Method::Hierarchy, filter->GetUsedCudaMethod());
    EXPECT_EQ(1u, filter->GetUsedNumberOfSlabs());
    EXPECT_GT(filter->GetMemoryOfHierarchy(), 6u * 12u * 10u * 8u);
  }
  filter->ReleaseHierarchy();
  EXPECT_EQ(0u, filter->GetMemoryOfHierarchy());
}

TEST_F(CudaRelativeFuzzyConnectednessImageFilterOnDevice, GoesOnAfterErrorsAndReleasedResources)
{
  const auto image = MakeNoise();
  const auto filter = FilterType::New();
  SetUpFilter(filter.GetPointer(), image);
  filter->KeepHierarchyOn();
  filter->Update();
  const auto expected = GetBuffer(filter->GetOutput());
  const auto memory = filter->GetMemoryOfHierarchy();

  filter->SetDeviceMemoryBudget(1000);
  filter->SetCudaMethod(Method::Hierarchy);
  ExpectError([&] { filter->Update(); }, { "DeviceMemoryBudget", "1000 bytes", "need" });
  EXPECT_EQ(memory, filter->GetMemoryOfHierarchy());
  // Automatic computes where there is enough memory.
  const auto automatic = FilterType::New();
  SetUpFilter(automatic.GetPointer(), image);
  automatic->SetDeviceMemoryBudget(1000);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(automatic->Update());
  EXPECT_EQ(expected, GetBuffer(automatic->GetOutput()));
  EXPECT_STREQ("CPU", automatic->GetUsedDeviceName());
  filter->SetDeviceMemoryBudget(0);
  filter->SetDeviceID(itk::CudaDevices::GetNumberOfDevices());
  ExpectError([&] { filter->Update(); }, { "DeviceID" });
  filter->SetDeviceID(0);
  // Not those of the hierarchy.
  itk::CudaDevices::ReleaseResources();
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
  EXPECT_EQ(expected, GetBuffer(filter->GetOutput()));
  EXPECT_EQ(memory, filter->GetMemoryOfHierarchy());
  itk::CudaDevices::ReleaseResources();
  filter->KeepHierarchyOff();
  filter->Modified();
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
  EXPECT_EQ(expected, GetBuffer(filter->GetOutput()));
  EXPECT_EQ(0u, filter->GetMemoryOfHierarchy());

  std::ostringstream text;
  filter->Print(text);
  for (const char * word : { "CudaMethod: ", "KeepHierarchy: Off", "UsedNumberOfSlabs: 1" })
  {
    EXPECT_NE(std::string::npos, text.str().find(word)) << word;
  }
}
