// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ItkTestUtilities.h"

#include "itkCudaDependenceFeatureMapImageFilter.h"
#include "itkCudaDevices.h"
#include "itkCudaCooccurrenceFeatureMapImageFilter.h"
#include "itkCudaFirstOrderFeatureMapImageFilter.h"
#include "itkCudaFuzzyConnectednessImageFilter.h"
#include "itkCudaGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkCudaRelativeFuzzyConnectednessImageFilter.h"
#include "itkCudaRunLengthFeatureMapImageFilter.h"
#include "itkCudaSizeZoneFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaFactory.h"
#include "itksys/SystemTools.hxx"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <typeinfo>

// What the Cuda classes do wherever they are, also where there is no device.

/** What the environment said, before main() switched the override off. */
extern const bool overrideEnabledAtStart;

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<short, 3>;
using itk::VoxelMapsCudaFactory;

/** Name of the class that New() of a class gives. */
template <typename TFilter>
std::string
NewClassName()
{
  return TFilter::New()->GetNameOfClass();
}

class VoxelMapsCudaFactoryTest : public ::testing::Test
{
protected:
  ~VoxelMapsCudaFactoryTest() override { VoxelMapsCudaFactory::SetOverrideEnabled(false); }
};

/** Image of a few voxels, the center of which is inside. */
template <typename TImage>
typename TImage::Pointer
MakeSmallImage()
{
  const auto image = TImage::New();
  image->SetRegions(TImage::SizeType::Filled(3));
  image->Allocate();
  image->FillBuffer(1);
  image->SetPixel(TImage::IndexType::Filled(1), 2);
  return image;
}
} // namespace

TEST_F(VoxelMapsCudaFactoryTest, NewGivesTheCudaClassWhereADeviceIsAndTheOverrideIsOn)
{
  const std::string prefix = itk::CudaDevices::IsUsable(0) ? "Cuda" : "";
  for (const bool enabled : { true, false, true })
  {
    VoxelMapsCudaFactory::SetOverrideEnabled(enabled);
    EXPECT_EQ(enabled, VoxelMapsCudaFactory::GetOverrideEnabled());
    const std::string before = enabled ? prefix : "";
    EXPECT_EQ(before + "CooccurrenceFeatureMapImageFilter",
              NewClassName<itk::CooccurrenceFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ(before + "CooccurrenceFeatureMapImageFilter",
              NewClassName<itk::CooccurrenceFeatureMapImageFilter<Image3D>>());
    EXPECT_EQ(before + "DependenceFeatureMapImageFilter",
              NewClassName<itk::DependenceFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ(before + "DependenceFeatureMapImageFilter",
              NewClassName<itk::DependenceFeatureMapImageFilter<Image3D>>());
    EXPECT_EQ(before + "FirstOrderFeatureMapImageFilter",
              NewClassName<itk::FirstOrderFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ(before + "FirstOrderFeatureMapImageFilter",
              NewClassName<itk::FirstOrderFeatureMapImageFilter<Image3D>>());
    EXPECT_EQ(before + "GrayToneDifferenceFeatureMapImageFilter",
              NewClassName<itk::GrayToneDifferenceFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ(before + "GrayToneDifferenceFeatureMapImageFilter",
              NewClassName<itk::GrayToneDifferenceFeatureMapImageFilter<Image3D>>());
    EXPECT_EQ(before + "RunLengthFeatureMapImageFilter", NewClassName<itk::RunLengthFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ(before + "RunLengthFeatureMapImageFilter", NewClassName<itk::RunLengthFeatureMapImageFilter<Image3D>>());
    EXPECT_EQ(before + "SizeZoneFeatureMapImageFilter", NewClassName<itk::SizeZoneFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ(before + "SizeZoneFeatureMapImageFilter", NewClassName<itk::SizeZoneFeatureMapImageFilter<Image3D>>());
    EXPECT_EQ(before + "FuzzyConnectednessImageFilter", NewClassName<itk::FuzzyConnectednessImageFilter<Image2D>>());
    EXPECT_EQ(before + "FuzzyConnectednessImageFilter", NewClassName<itk::FuzzyConnectednessImageFilter<Image3D>>());
    EXPECT_EQ(before + "RelativeFuzzyConnectednessImageFilter",
              NewClassName<itk::RelativeFuzzyConnectednessImageFilter<Image2D>>());
    EXPECT_EQ(before + "RelativeFuzzyConnectednessImageFilter",
              NewClassName<itk::RelativeFuzzyConnectednessImageFilter<Image3D>>());
    // Other classes are left alone, and so are those that are named.
    EXPECT_EQ("Image", NewClassName<Image2D>());
    EXPECT_EQ("CudaCooccurrenceFeatureMapImageFilter",
              NewClassName<itk::CudaCooccurrenceFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ("CudaDependenceFeatureMapImageFilter", NewClassName<itk::CudaDependenceFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ("CudaFirstOrderFeatureMapImageFilter", NewClassName<itk::CudaFirstOrderFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ("CudaGrayToneDifferenceFeatureMapImageFilter",
              NewClassName<itk::CudaGrayToneDifferenceFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ("CudaRunLengthFeatureMapImageFilter", NewClassName<itk::CudaRunLengthFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ("CudaSizeZoneFeatureMapImageFilter", NewClassName<itk::CudaSizeZoneFeatureMapImageFilter<Image2D>>());
    EXPECT_EQ("CudaFuzzyConnectednessImageFilter", NewClassName<itk::CudaFuzzyConnectednessImageFilter<Image2D>>());
    EXPECT_EQ("CudaRelativeFuzzyConnectednessImageFilter",
              NewClassName<itk::CudaRelativeFuzzyConnectednessImageFilter<Image2D>>());
  }
}

TEST_F(VoxelMapsCudaFactoryTest, FiltersAreRegisteredBeforeTheyAreMade)
{
  // Only this program's text mentions filters of this type; none is made.
  using RunLengthFilter = itk::RunLengthFeatureMapImageFilter<itk::Image<unsigned int, 2>>;
  const auto  neverCalled = [] { return RunLengthFilter::New(); };
  std::size_t count = 0;
  for (itk::ObjectFactoryBase * const factory : itk::ObjectFactoryBase::GetRegisteredFactories())
  {
    for (const std::string & name : factory->GetClassOverrideNames())
    {
      count += name == typeid(RunLengthFilter).name() ? 1 : 0;
    }
  }
  EXPECT_EQ(1u, count);
  static_cast<void>(neverCalled);
}

TEST_F(VoxelMapsCudaFactoryTest, ReHashKeepsTheOverride)
{
  const auto countFactories = [] {
    int count = 0;
    for (itk::ObjectFactoryBase * const factory : itk::ObjectFactoryBase::GetRegisteredFactories())
    {
      count += dynamic_cast<VoxelMapsCudaFactory *>(factory) != nullptr ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(1, countFactories());
  itk::ObjectFactoryBase::ReHash();
  EXPECT_EQ(1, countFactories());
  VoxelMapsCudaFactory::SetOverrideEnabled(true);
  EXPECT_EQ(itk::CudaDevices::IsUsable(0) ? "CudaRunLengthFeatureMapImageFilter" : "RunLengthFeatureMapImageFilter",
            NewClassName<itk::RunLengthFeatureMapImageFilter<Image2D>>());
}

TEST_F(VoxelMapsCudaFactoryTest, TheOverrideIsAnOrdinaryFilter)
{
  for (const bool enabled : { true, false })
  {
    VoxelMapsCudaFactory::SetOverrideEnabled(enabled);
    const auto filter = itk::RunLengthFeatureMapImageFilter<Image2D>::New();
    EXPECT_EQ(1, filter->GetReferenceCount());
    filter->SetInput(MakeSmallImage<Image2D>());
    filter->SetNeighborhoodRadius(1);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    // The window of the center: rows 111, 121, 111 are five runs of nine voxels.
    filter->SetOffsets({ { { 1, 0 } } });
    filter->SetFeatures({ itk::RunLengthFeatureMapEnums::Feature::RunPercentage });
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_FLOAT_EQ(5.0F / 9.0F, filter->GetOutput()->GetPixel({ { 1, 1 } })[0]);
  }
}

TEST_F(VoxelMapsCudaFactoryTest, TheEnvironmentSwitchesTheOverrideOff)
{
  // A new process starts with the environment of this one.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exitWithOverride = [] { std::exit(overrideEnabledAtStart ? 10 : 11); };
  for (const char * const off : { "0", "OFF", "off", "No", "false" })
  {
    itksys::SystemTools::PutEnv(std::string("VOXELMAPS_USE_CUDA=") + off);
    EXPECT_EXIT(exitWithOverride(), ::testing::ExitedWithCode(11), "") << off;
  }
  for (const char * const on : { "1", "ON", "yes", "" })
  {
    itksys::SystemTools::PutEnv(std::string("VOXELMAPS_USE_CUDA=") + on);
    EXPECT_EXIT(exitWithOverride(), ::testing::ExitedWithCode(10), "") << on;
  }
  itksys::SystemTools::UnPutEnv("VOXELMAPS_USE_CUDA");
  EXPECT_EXIT(exitWithOverride(), ::testing::ExitedWithCode(10), "");
}

TEST(DevicesOfCuda, TheirReasonFitsTheirNumber)
{
  using itk::CudaDevices;
  const int number = CudaDevices::GetNumberOfDevices();
  EXPECT_GE(number, 0);
  EXPECT_EQ(number == 0, !CudaDevices::GetReasonForNoDevice().empty());
  for (const int deviceID : { -1, number, number + 5 })
  {
    EXPECT_FALSE(CudaDevices::IsUsable(deviceID));
    EXPECT_EQ("", CudaDevices::GetName(deviceID));
    EXPECT_EQ(0u, CudaDevices::GetFreeMemory(deviceID));
  }
  for (int deviceID = 0; deviceID < number; ++deviceID)
  {
    EXPECT_TRUE(CudaDevices::IsUsable(deviceID));
    EXPECT_NE("", CudaDevices::GetName(deviceID));
    EXPECT_GT(CudaDevices::GetFreeMemory(deviceID), 0u);
    EXPECT_GE(CudaDevices::GetRuntimeVersion(), 12000);
    EXPECT_GE(CudaDevices::GetDriverVersion(), 12000);
  }
}

TEST(FiltersOfCuda, WithoutADeviceTheySaySo)
{
  if (itk::CudaDevices::GetNumberOfDevices() > 0)
  {
    GTEST_SKIP() << "here is a device: " << itk::CudaDevices::GetName(0);
  }
  const auto cooccurrence = itk::CudaCooccurrenceFeatureMapImageFilter<Image2D>::New();
  cooccurrence->SetInput(MakeSmallImage<Image2D>());
  VoxelMapsTest::ExpectError(
    [&] { cooccurrence->Update(); },
    { "CudaCooccurrenceFeatureMapImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  const auto dependence = itk::CudaDependenceFeatureMapImageFilter<Image2D>::New();
  dependence->SetInput(MakeSmallImage<Image2D>());
  VoxelMapsTest::ExpectError(
    [&] { dependence->Update(); },
    { "CudaDependenceFeatureMapImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  const auto firstOrder = itk::CudaFirstOrderFeatureMapImageFilter<Image2D>::New();
  firstOrder->SetInput(MakeSmallImage<Image2D>());
  VoxelMapsTest::ExpectError(
    [&] { firstOrder->Update(); },
    { "CudaFirstOrderFeatureMapImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  const auto grayToneDifference = itk::CudaGrayToneDifferenceFeatureMapImageFilter<Image2D>::New();
  grayToneDifference->SetInput(MakeSmallImage<Image2D>());
  VoxelMapsTest::ExpectError(
    [&] { grayToneDifference->Update(); },
    { "CudaGrayToneDifferenceFeatureMapImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  const auto runLength = itk::CudaRunLengthFeatureMapImageFilter<Image2D>::New();
  runLength->SetInput(MakeSmallImage<Image2D>());
  VoxelMapsTest::ExpectError(
    [&] { runLength->Update(); },
    { "CudaRunLengthFeatureMapImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  const auto sizeZone = itk::CudaSizeZoneFeatureMapImageFilter<Image2D>::New();
  sizeZone->SetInput(MakeSmallImage<Image2D>());
  VoxelMapsTest::ExpectError(
    [&] { sizeZone->Update(); },
    { "CudaSizeZoneFeatureMapImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  const auto connectedness = itk::CudaFuzzyConnectednessImageFilter<Image3D>::New();
  connectedness->SetInput(MakeSmallImage<Image3D>());
  connectedness->AddSeed(Image3D::IndexType::Filled(1));
  VoxelMapsTest::ExpectError(
    [&] { connectedness->Update(); },
    { "CudaFuzzyConnectednessImageFilter", "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });

  // The job says it, too, to those who use no filter.
  try
  {
    voxelmaps::ComputeRunLengthFeatureMapsCuda(voxelmaps::RunLengthJob{}, voxelmaps::CudaRunLengthOptions{});
    FAIL() << "no std::runtime_error";
  }
  catch (const std::runtime_error & error)
  {
    EXPECT_EQ(itk::CudaDevices::GetReasonForNoDevice(), error.what());
  }
}
