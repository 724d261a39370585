// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<short, 2>;
using Image3D = itk::Image<short, 3>;
using Mask2D = itk::Image<unsigned char, 2>;
using Filter2D = itk::FuzzyConnectednessImageFilter<Image2D>;
using Filter3D = itk::FuzzyConnectednessImageFilter<Image3D>;
using Enums = itk::FuzzyConnectednessEnums;
using AffinityFunction = Enums::AffinityFunction;
using Adjacency = Enums::Adjacency;
using Names = std::vector<std::string>;
using namespace VoxelMapsTest;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

Image2D::Pointer
MakeRamp()
{
  // 1 2 3 / 4 5 6 / 7 8 9
  return MakeImage<Image2D>({ { 3, 3 } }, { 1, 2, 3, 4, 5, 6, 7, 8, 9 });
}

Filter2D::Pointer
MakeFilter()
{
  auto filter = NewFilter<Filter2D>();
  filter->SetInput(MakeRamp());
  filter->SetSeed({ { 1, 1 } });
  filter->SetAffinity({ { 5.0 }, { 4.0 }, {}, { 1.0 } });
  return filter;
}

template <typename TFilter>
auto
Compute(TFilter * filter)
{
  filter->Update();
  return GetBuffer(filter->GetOutput());
}

/** Expect an error whose message contains these words, and that the filter works once the mistake is repaired. */
void
ExpectRepairableError(const std::function<void(Filter2D *)> & mistake, const std::function<void(Filter2D *)> & repair,
                      const Names & words)
{
  const auto filter = MakeFilter();
  mistake(filter);
  ExpectError([&] { filter->Update(); }, words);
  repair(filter);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
  EXPECT_EQ(Compute(MakeFilter().GetPointer()), GetBuffer(filter->GetOutput()));
}
} // namespace

TEST(FuzzyConnectednessImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = NewFilter<Filter3D>();
  EXPECT_STREQ("FuzzyConnectednessImageFilter", filter->GetNameOfClass());
  EXPECT_TRUE(filter->GetSeeds().empty());
  EXPECT_EQ(nullptr, filter->GetSeedImage());
  EXPECT_EQ(nullptr, filter->GetMaskImage());
  EXPECT_EQ(0, filter->GetInsidePixelValue());
  EXPECT_EQ(AffinityFunction::GeometricMean, filter->GetAffinityFunction());
  EXPECT_EQ(itk::FuzzyConnectednessAffinity(), filter->GetAffinity());
  EXPECT_EQ(0.5, filter->GetWeight());
  EXPECT_FALSE(filter->GetEstimateAffinityFromSeeds());
  EXPECT_EQ(2u, filter->GetEstimationRadius());
  EXPECT_EQ(0.0, filter->GetMinimumStrength());
  EXPECT_EQ(Adjacency::Face, filter->GetAdjacency());
  EXPECT_FALSE(filter->GetDistanceWeighting());
  EXPECT_EQ("", filter->GetMethod());
  EXPECT_STREQ("", filter->GetUsedMethod());
  const itk::LightObject::Pointer another = filter->CreateAnother();
  EXPECT_NE(nullptr, dynamic_cast<Filter3D *>(another.GetPointer()));
}

TEST(FuzzyConnectednessImageFilter, SettersStoreModifyAndArePrinted)
{
  const auto filter = MakeFilter();
  const auto mask = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 65));
  const auto expectModified = MakeModifiedCheck(filter.GetPointer());
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetSeeds({ { { 1, 2 } }, { { 0, 1 } } }); }, modified);
    expectModified([&] { filter->SetInsidePixelValue(65); }, modified);
    expectModified([&] { filter->SetAffinityFunction(AffinityFunction::WeightedSum); }, modified);
    expectModified([&] { filter->SetAffinity({ { 5.0 }, { 4.0 }, { 0.75 }, { 6.5 } }); }, modified);
    expectModified([&] { filter->SetWeight(0.25); }, modified);
    expectModified([&] { filter->SetEstimationRadius(4); }, modified);
    expectModified([&] { filter->SetMinimumStrength(0.125); }, modified);
    expectModified([&] { filter->SetAdjacency(Adjacency::FaceEdge); }, modified);
    expectModified([&] { filter->DistanceWeightingOn(); }, modified);
    expectModified([&] { filter->SetMethod("Hierarchy"); }, modified);
    expectModified([&] { filter->SetMaskImage(mask); }, modified);
    expectModified([&] { filter->SetSeedImage(mask); }, modified);
  }
  EXPECT_EQ(mask, filter->GetMaskImage());
  EXPECT_EQ(mask, filter->GetSeedImage());
  filter->Update();
  ExpectPrints(filter.GetPointer(),
               { "Seeds: [1, 2] [0, 1]",
                 "InsidePixelValue: 65",
                 "AffinityFunction: WeightedSum",
                 "ObjectMean: 5",
                 "ObjectCovariance: 4",
                 "DifferenceMean: 0.75",
                 "DifferenceCovariance: 6.5",
                 "Weight: 0.25",
                 "EstimateAffinityFromSeeds: Off",
                 "EstimationRadius: 4",
                 "MinimumStrength: 0.125",
                 "Adjacency: FaceEdge",
                 "DistanceWeighting: On",
                 "Method: Hierarchy",
                 "UsedObjectMean: 5",
                 "UsedObjectCovariance: 4",
                 "UsedDifferenceMean: 0.75",
                 "UsedDifferenceCovariance: 6.5",
                 "UsedMethod: Hierarchy" });
  expectModified([&] { filter->EstimateAffinityFromSeedsOn(); }, true);
  expectModified([&] { filter->EstimateAffinityFromSeedsOff(); }, true);
  // Not all of many seeds.
  filter->SetSeeds(Filter2D::SeedsType(1000, Filter2D::IndexType{ { 1, 2 } }));
  ExpectPrints(filter.GetPointer(), { "Seeds: [1, 2]", "[1, 2] and others, in all 1000\n" });
}

TEST(FuzzyConnectednessImageFilter, SeedsAreSetAddedAndCleared)
{
  using Seeds = Filter2D::SeedsType;
  const auto filter = NewFilter<Filter2D>();
  const auto expectModified = MakeModifiedCheck(filter.GetPointer());
  expectModified([&] { filter->ClearSeeds(); }, false);
  expectModified([&] { filter->AddSeed({ { 1, 2 } }); }, true);
  expectModified([&] { filter->AddSeed({ { -3, 4 } }); }, true);
  EXPECT_EQ((Seeds{ { { 1, 2 } }, { { -3, 4 } } }), filter->GetSeeds());
  expectModified([&] { filter->SetSeeds({ { { 1, 2 } }, { { -3, 4 } } }); }, false);
  expectModified([&] { filter->SetSeed({ { 5, 6 } }); }, true);
  EXPECT_EQ((Seeds{ { { 5, 6 } } }), filter->GetSeeds());
  expectModified([&] { filter->SetSeeds({ { { 0, 1 } }, { { 2, 3 } }, { { 2, 3 } } }); }, true);
  EXPECT_EQ(3u, filter->GetSeeds().size());
  expectModified([&] { filter->ClearSeeds(); }, true);
  EXPECT_TRUE(filter->GetSeeds().empty());
}

TEST(FuzzyConnectednessImageFilter, MethodsAreListedChosenAndReported)
{
  const auto filter = MakeFilter();
  const auto expectUsedMethod = [&filter](const std::string & expected) {
    filter->Update();
    EXPECT_EQ(expected, filter->GetUsedMethod());
    // The CPU computes few voxels without a method, also where a device is.
    EXPECT_EQ(IsCudaTest() && !filter->GetMethod().empty(), filter->GetUsedDeviceName() != std::string("CPU"));
  };
  auto methods = GetConnectednessMethods();
  methods.erase(methods.begin());
  EXPECT_EQ(methods, filter->GetAvailableMethods());
  for (const std::string & method : methods)
  {
    filter->SetMethod(method);
    expectUsedMethod(method);
  }
  filter->SetMethod("BoxSums");
  ExpectError([&] { filter->Update(); }, { "BoxSums", "does not exist", "3 x 3 x 1", methods.back() });
  filter->SetMethod("");
  expectUsedMethod("Hierarchy");
  filter->SetMinimumStrength(0.5);
  filter->SetNumberOfWorkUnits(1);
  expectUsedMethod("Buckets");
  EXPECT_EQ(IsCudaTest() ? "Hierarchy" : "Buckets", filter->GetAvailableMethods().front());
  filter->GetMultiThreader()->SetMaximumNumberOfThreads(4);
  filter->SetNumberOfWorkUnits(4);
  expectUsedMethod("Hierarchy");
}

TEST(FuzzyConnectednessImageFilter, EstimatesAreThoseOfTheCore)
{
  RandomNumbers      random(3);
  std::vector<short> pixels(600);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Below(100));
  }
  const auto image = MakeImage<Image2D>({ { 30, 20 } }, pixels, { { -4, 7 } });
  const auto filter = NewFilter<Filter2D>();
  filter->SetInput(image);
  filter->SetSeed({ { 3, 9 } });
  filter->SetEstimationRadius(3);
  filter->EstimateAffinityFromSeedsOn();
  // What the estimate replaces is not checked.
  filter->SetAffinity({ { quietNaN }, { 0.0 }, {}, {} });
  voxelmaps::FuzzyConnectednessInput input;
  input.image = image->GetBufferPointer();
  input.pixelType = voxelmaps::FuzzyConnectednessInput::PixelType::Int16;
  input.size = { { 30, 20, 1 } };
  input.seeds = { 2 * 30 + 7 };
  const auto strengths = Compute(filter.GetPointer());
  EXPECT_EQ(voxelmaps::EstimateAffinity(input, { AffinityFunction::GeometricMean, 3 }, {}).affinity,
            filter->GetUsedAffinity());
  filter->SetAffinity(filter->GetUsedAffinity());
  filter->EstimateAffinityFromSeedsOff();
  EXPECT_EQ(strengths, Compute(filter.GetPointer()));
}

TEST(FuzzyConnectednessImageFilter, WarnsOfALeak)
{
  // One of two seeds is in the background.
  RandomNumbers      random(4);
  std::vector<short> pixels;
  for (int i = 0; i < 400; ++i)
  {
    pixels.push_back(static_cast<short>((i % 20 > 7 && i % 20 < 11 ? 100 : 0) + random.Between(-9, 9)));
  }
  const auto filter = NewFilter<Filter2D>();
  filter->SetInput(MakeImage<Image2D>({ { 20, 20 } }, pixels));
  filter->EstimateAffinityFromSeedsOn();
  const auto getWarning = [&filter] {
    ::testing::internal::CaptureStderr();
    filter->Update();
    return ::testing::internal::GetCapturedStderr();
  };
  filter->SetSeed({ { 9, 5 } });
  EXPECT_EQ("", getWarning());
  filter->AddSeed({ { 2, 9 } });
  const std::string warning = getWarning();
  EXPECT_NE(std::string::npos, warning.find("The object may leak")) << warning;
  EXPECT_NE(std::string::npos, warning.find("EstimationRadius 2")) << warning;
}

TEST(FuzzyConnectednessImageFilter, VolumesFollowTheOutputAndItsSpacing)
{
  RandomNumbers      random(9);
  std::vector<short> pixels;
  for (int i = 0; i < 600; ++i)
  {
    pixels.push_back(static_cast<short>((i < 400 ? 100 : -500) + random.Between(-3, 3)));
  }
  const auto filter = NewFilter<Filter2D>();
  filter->SetInput(MakeImage<Image2D>({ { 20, 30 } }, pixels));
  filter->SetSeed({ { 10, 12 } });
  filter->SetAffinityFunction(AffinityFunction::Homogeneity);
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 100.0 } });
  ExpectError([&] { filter->GetSuggestedThreshold(); }, { "0", "Update" });
  ExpectError([&] { filter->GetVolumeOfThreshold(0.5); }, { "0", "Update" });
  {
    // The buffer of an aborted update has no strengths.
    const auto abort = filter->AddObserver(itk::ProgressEvent(),
                                           [&filter](const itk::EventObject &) { filter->SetAbortGenerateData(true); });
    EXPECT_THROW(filter->Update(), itk::ExceptionObject);
    ExpectError([&] { filter->GetVolumeOfThreshold(0.5); }, { "Update", "finish" });
    filter->RemoveObserver(abort);
    filter->SetAbortGenerateData(false);
  }
  filter->Update();
  ExpectError([&] { filter->GetVolumeOfThreshold(std::nan("")); }, { "threshold", "nan" });
  ExpectError([&] { filter->GetSuggestedThreshold(-2.0); }, { "-2", "volume" });
  EXPECT_EQ(0.0, filter->GetSuggestedThreshold(1e6));
  const double volume = filter->GetVolumeOfThreshold(0.5);
  const double spacing[2] = { 0.5, 3.0 };
  const_cast<Image2D *>(filter->GetInput())->SetSpacing(spacing);
  filter->Update();
  EXPECT_EQ(1.5 * volume, filter->GetVolumeOfThreshold(0.5));
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  filter->Update();
  const auto strengths = GetBuffer(filter->GetOutput());
  EXPECT_EQ(1.5 *
              static_cast<double>(std::count_if(strengths.begin(), strengths.end(), [](float f) { return f >= 0.5f; })),
            filter->GetVolumeOfThreshold(0.5));
}

TEST(FuzzyConnectednessImageFilter, SeedImagesAndMasksAreReadBySeveralThreads)
{
  // More voxels than two workers take at a time, in rows that are no multiple of the blocks that are looked at.
  constexpr itk::SizeValueType columns = 331;
  constexpr itk::SizeValueType rows = 607;
  RandomNumbers                random(77);
  const auto                   image = MakeImage<Image2D>({ { columns, rows } }, std::vector<short>(columns * rows, 0));
  const auto seedImage = MakeImage<Mask2D>({ { columns, rows } }, std::vector<unsigned char>(columns * rows, 0));
  const auto mask = MakeImage<Mask2D>({ { columns, rows } }, std::vector<unsigned char>(columns * rows, 5));
  std::vector<Image2D::IndexType> seeds;
  for (itk::SizeValueType voxel = 0; voxel < columns * rows; ++voxel)
  {
    image->GetBufferPointer()[voxel] = static_cast<short>(random.Below(50));
    const bool isSeed = voxel == 0 || voxel == columns * rows - 1 || random.Chance(0.001);
    if (isSeed)
    {
      seedImage->GetBufferPointer()[voxel] = static_cast<unsigned char>(random.Between(1, 255));
      seeds.push_back(image->ComputeIndex(static_cast<itk::OffsetValueType>(voxel)));
    }
    else if (random.Chance(0.3))
    {
      mask->GetBufferPointer()[voxel] = static_cast<unsigned char>(random.OneOf<int>({ 0, 1, 6 }));
    }
  }
  const auto makeFilter = [&](unsigned int threads) {
    auto filter = NewFilter<Filter2D>();
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetInsidePixelValue(5);
    filter->SetNumberOfWorkUnits(threads);
    filter->SetAffinity({ { 25.0 }, { 100.0 }, {}, { 100.0 } });
    return filter;
  };
  const auto bySeeds = makeFilter(1);
  bySeeds->SetSeeds(seeds);
  const auto expected = Compute(bySeeds.GetPointer());
  for (itk::SizeValueType voxel = 0; voxel < columns * rows; ++voxel)
  {
    const bool isSeed = seedImage->GetBufferPointer()[voxel] != 0;
    ASSERT_EQ(isSeed, expected[voxel] == 1.0f);
    ASSERT_TRUE(mask->GetBufferPointer()[voxel] == 5 || expected[voxel] == 0.0f);
  }
  for (const unsigned int threads : { 1u, 2u, 3u, 8u })
  {
    const auto filter = makeFilter(threads);
    filter->SetSeedImage(seedImage);
    EXPECT_EQ(expected, Compute(filter.GetPointer())) << threads << " threads";

    // The message names the first of several seeds outside the mask.
    mask->SetPixel(seeds[seeds.size() / 2], 4);
    mask->SetPixel(seeds.back(), 4);
    mask->Modified();
    std::ostringstream first;
    first << seeds[seeds.size() / 2];
    ExpectError([&] { filter->Update(); }, { "~" + first.str(), "outside the mask" });
    mask->SetPixel(seeds[seeds.size() / 2], 5);
    mask->SetPixel(seeds.back(), 5);
    mask->Modified();
  }
}

TEST(FuzzyConnectednessImageFilterErrors, NoSeed)
{
  const auto repair = [](Filter2D * f) { f->SetSeed({ { 1, 1 } }); };
  ExpectRepairableError([](Filter2D * f) { f->ClearSeeds(); }, repair, { "0 seeds" });
}

TEST(FuzzyConnectednessImageFilterErrors, NoAffinity)
{
  const auto make = [] {
    auto filter = NewFilter<Filter2D>();
    filter->SetInput(MakeRamp());
    filter->SetSeed({ { 1, 1 } });
    return filter;
  };
  const auto filter = make();
  ExpectError([&] { filter->Update(); }, { "object mean", "0 elements", "set the affinity", "estimate it" });
  const std::vector<std::function<void(Filter2D *)>> repairs{
    [](Filter2D * f) { f->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } }); },
    [](Filter2D * f) { f->EstimateAffinityFromSeedsOn(); },
    [](Filter2D * f) { f->SetAffinityFunction(AffinityFunction::AbsoluteDifference); },
  };
  for (const auto & repair : repairs)
  {
    const auto repaired = make();
    repair(repaired);
    EXPECT_NO_THROW(repaired->Update());
  }
}

TEST(FuzzyConnectednessImageFilterErrors, SeedOutsideTheImage)
{
  const auto repair = [](Filter2D * f) { f->SetSeed({ { 1, 1 } }); };
  ExpectRepairableError(
    [](Filter2D * f) { f->AddSeed({ { 3, 0 } }); }, repair, { "[3, 0]", "[3, 3]", "outside the image" });
  ExpectRepairableError([](Filter2D * f) { f->AddSeed({ { 0, -1 } }); }, repair, { "[0, -1]", "outside the image" });
}

TEST(FuzzyConnectednessImageFilterErrors, SeedOutsideTheMask)
{
  const auto repair = [](Filter2D * f) {
    f->SetMaskImage(nullptr);
    f->SetSeedImage(nullptr);
  };
  const auto mask = MakeImage<Mask2D>({ { 3, 3 } }, { 200, 200, 200, 200, 0, 200, 200, 200, 0 });
  ExpectRepairableError([&mask](Filter2D * f) { f->SetMaskImage(mask); }, repair, { "[1, 1]", "outside the mask" });
  mask->SetPixel({ { 1, 1 } }, 200);
  const auto seeds = MakeImage<Mask2D>({ { 3, 3 } }, { 0, 0, 0, 0, 0, 0, 0, 0, 1 });
  ExpectRepairableError(
    [&mask, &seeds](Filter2D * f) {
      f->SetMaskImage(mask);
      f->SetSeedImage(seeds);
    },
    repair,
    { "[2, 2]", "outside the mask" });
}

TEST(FuzzyConnectednessImageFilterErrors, SeedImage)
{
  const auto repair = [](Filter2D * f) { f->SetSeedImage(nullptr); };
  const auto zeros = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 0));
  ExpectRepairableError([&zeros](Filter2D * f) { f->SetSeedImage(zeros); }, repair, { "seed image", "0", "9" });
  const auto other = MakeImage<Mask2D>({ { 4, 3 } }, std::vector<unsigned char>(12, 1));
  ExpectRepairableError(
    [&other](Filter2D * f) { f->SetSeedImage(other); }, repair, { "seed image", "[4, 3]", "[3, 3]" });
  const auto moved = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 1), { { 1, 0 } });
  ExpectRepairableError(
    [&moved](Filter2D * f) { f->SetSeedImage(moved); }, repair, { "seed image", "[1, 0]", "[0, 0]" });
  const auto shifted = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 1));
  shifted->SetOrigin(std::vector<double>{ 17.5, 0.0 }.data());
  ExpectRepairableError(
    [&shifted](Filter2D * f) { f->SetSeedImage(shifted); }, repair, { "the seed image", "grid", "17.5" });
}

TEST(FuzzyConnectednessImageFilterErrors, ImagesWithoutBuffer)
{
  const auto repair = [](Filter2D * f) {
    f->SetInput(MakeFilter()->GetInput());
    f->SetMaskImage(nullptr);
    f->SetSeedImage(nullptr);
  };
  const auto mask = Mask2D::New();
  mask->SetRegions(itk::Size<2>{ { 3, 3 } });
  const auto image = std::decay_t<decltype(*MakeFilter()->GetInput())>::New();
  image->SetRegions(itk::Size<2>{ { 3, 3 } });
  ExpectRepairableError([&image](Filter2D * f) { f->SetInput(image); }, repair, { "9", "buffer has 0", "Allocate" });
  ExpectRepairableError([&mask](Filter2D * f) { f->SetMaskImage(mask); }, repair, { "9", "buffer has 0", "Allocate" });
  ExpectRepairableError([&mask](Filter2D * f) { f->SetSeedImage(mask); }, repair, { "9", "buffer has 0", "Allocate" });
}

TEST(FuzzyConnectednessImageFilterErrors, ParametersOfTheCore)
{
  const auto restore = [](Filter2D * f) {
    f->SetAffinity({ { 5.0 }, { 4.0 }, {}, { 1.0 } });
    f->SetWeight(0.5);
    f->SetMinimumStrength(0.0);
  };
  ExpectRepairableError([](Filter2D * f) { f->SetAffinity({ { 5.0 }, { -2.5 }, {}, { 1.0 } }); },
                        restore,
                        { "object variance", "-2.5", "positive" });
  ExpectRepairableError([](Filter2D * f) { f->SetWeight(1.5); }, restore, { "Weight", "1.5", "0 to 1" });
  ExpectRepairableError(
    [](Filter2D * f) { f->SetMinimumStrength(quietNaN); }, restore, { "MinimumStrength", "nan", "0 to 1" });
  // All equal, with 5 x 5 voxels in the box.
  const auto filter = MakeFilter();
  filter->SetInput(MakeImage<Image2D>({ { 9, 9 } }, std::vector<short>(81, 3)));
  filter->EstimateAffinityFromSeedsOn();
  ExpectError([&] { filter->Update(); }, { "EstimationRadius 2", "object variance", "0", "set the affinity" });
}
