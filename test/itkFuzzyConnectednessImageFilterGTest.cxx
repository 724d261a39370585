// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "FuzzyConnectednessOracle.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"

#include <gtest/gtest.h>

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
using Method = Enums::Method;
using Names = std::vector<std::string>;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::MakeImage;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<Method>           allMethods{ Method::Automatic, Method::Buckets, Method::Hierarchy };
const std::vector<AffinityFunction> allAffinityFunctions{ AffinityFunction::GeometricMean,
                                                          AffinityFunction::WeightedSum,
                                                          AffinityFunction::Minimum,
                                                          AffinityFunction::Homogeneity };

Image2D::Pointer
MakeRamp()
{
  // 1 2 3 / 4 5 6 / 7 8 9
  return MakeImage<Image2D>({ { 3, 3 } }, { 1, 2, 3, 4, 5, 6, 7, 8, 9 });
}

Filter2D::Pointer
MakeFilter()
{
  auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(MakeRamp());
  filter->SetSeed({ { 1, 1 } });
  filter->SetObjectMean(5.0);
  filter->SetObjectVariance(4.0);
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

/** A filter that estimates its affinity from its seeds. */
template <typename TImage>
auto
MakeEstimatingFilter(TImage * image, const std::vector<typename TImage::IndexType> & seeds, unsigned int radius,
                     AffinityFunction affinityFunction)
{
  auto filter = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<TImage>>();
  filter->SetInput(image);
  filter->SetSeeds(seeds);
  filter->EstimateAffinityFromSeedsOn();
  filter->SetEstimationRadius(radius);
  filter->SetAffinityFunction(affinityFunction);
  return filter;
}

/** Expect estimates of the mean, the variance, and the mean and mean square of the smallest 90 % of differences. */
template <typename TImage>
void
ExpectEstimate(TImage * image, const std::vector<typename TImage::IndexType> & seeds, unsigned int radius,
               const typename TImage::Pointer & mask, double mean, double variance, double differenceMean,
               double differenceMeanSquare)
{
  for (const AffinityFunction affinityFunction : allAffinityFunctions)
  {
    SCOPED_TRACE(::testing::Message() << affinityFunction);
    using MaskType = itk::Image<unsigned char, TImage::ImageDimension>;
    const auto filter = MakeEstimatingFilter(image, seeds, radius, affinityFunction);
    if (mask)
    {
      const auto                 pixels = GetBuffer(mask.GetPointer());
      std::vector<unsigned char> inside(pixels.begin(), pixels.end());
      filter->SetMaskImage(MakeImage<MaskType>(mask->GetLargestPossibleRegion().GetSize(), inside));
    }
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_DOUBLE_EQ(mean, filter->GetUsedObjectMean());
    EXPECT_DOUBLE_EQ(variance, filter->GetUsedObjectVariance());
    if (affinityFunction == AffinityFunction::WeightedSum)
    {
      EXPECT_DOUBLE_EQ(differenceMean, filter->GetUsedDifferenceMean());
      EXPECT_NEAR(differenceMeanSquare - differenceMean * differenceMean,
                  filter->GetUsedDifferenceVariance(),
                  1e-14 * differenceMeanSquare);
    }
    else
    {
      EXPECT_EQ(0.0, filter->GetUsedDifferenceMean());
      EXPECT_DOUBLE_EQ(differenceMeanSquare / 4.0, filter->GetUsedDifferenceVariance());
    }

    // The same values as parameters give the same bits.
    const auto strengths = GetBuffer(filter->GetOutput());
    filter->SetObjectMean(filter->GetUsedObjectMean());
    filter->SetObjectVariance(filter->GetUsedObjectVariance());
    filter->SetDifferenceMean(filter->GetUsedDifferenceMean());
    filter->SetDifferenceVariance(filter->GetUsedDifferenceVariance());
    filter->EstimateAffinityFromSeedsOff();
    EXPECT_EQ(strengths, Compute(filter.GetPointer()));
    EXPECT_DOUBLE_EQ(mean, filter->GetUsedObjectMean());
  }
}
} // namespace

TEST(FuzzyConnectednessImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
  EXPECT_STREQ("FuzzyConnectednessImageFilter", filter->GetNameOfClass());
  EXPECT_TRUE(filter->GetSeeds().empty());
  EXPECT_EQ(nullptr, filter->GetSeedImage());
  EXPECT_EQ(nullptr, filter->GetMaskImage());
  EXPECT_EQ(0, filter->GetInsidePixelValue());
  EXPECT_EQ(AffinityFunction::GeometricMean, filter->GetAffinityFunction());
  EXPECT_EQ(0.0, filter->GetObjectMean());
  EXPECT_EQ(1.0, filter->GetObjectVariance());
  EXPECT_EQ(0.0, filter->GetDifferenceMean());
  EXPECT_EQ(1.0, filter->GetDifferenceVariance());
  EXPECT_EQ(0.5, filter->GetWeight());
  EXPECT_FALSE(filter->GetEstimateAffinityFromSeeds());
  EXPECT_EQ(2u, filter->GetEstimationRadius());
  EXPECT_EQ(0.0, filter->GetMinimumStrength());
  EXPECT_EQ(Adjacency::Face, filter->GetAdjacency());
  EXPECT_FALSE(filter->GetDistanceWeighting());
  EXPECT_EQ(Method::Automatic, filter->GetMethod());
  EXPECT_EQ(Method::Automatic, filter->GetUsedMethod());
  const itk::LightObject::Pointer another = filter->CreateAnother();
  EXPECT_NE(nullptr, dynamic_cast<Filter3D *>(another.GetPointer()));
}

TEST(FuzzyConnectednessImageFilter, SettersStoreAndModify)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  const auto mask = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 1));
  const std::vector<std::function<void(Filter2D *)>> setters{
    [](Filter2D * f) { f->SetSeed({ { 1, 2 } }); },
    [](Filter2D * f) { f->SetInsidePixelValue(7); },
    [](Filter2D * f) { f->SetAffinityFunction(AffinityFunction::Minimum); },
    [](Filter2D * f) { f->SetObjectMean(3.5); },
    [](Filter2D * f) { f->SetObjectVariance(4.5); },
    [](Filter2D * f) { f->SetDifferenceMean(5.5); },
    [](Filter2D * f) { f->SetDifferenceVariance(6.5); },
    [](Filter2D * f) { f->SetWeight(0.25); },
    [](Filter2D * f) { f->EstimateAffinityFromSeedsOn(); },
    [](Filter2D * f) { f->SetEstimationRadius(4); },
    [](Filter2D * f) { f->SetMinimumStrength(0.125); },
    [](Filter2D * f) { f->SetAdjacency(Adjacency::FaceEdge); },
    [](Filter2D * f) { f->DistanceWeightingOn(); },
    [](Filter2D * f) { f->SetMethod(Method::Buckets); },
    [&mask](Filter2D * f) { f->SetMaskImage(mask); },
    [&mask](Filter2D * f) { f->SetSeedImage(mask); },
  };
  for (std::size_t i = 0; i < setters.size(); ++i)
  {
    const auto before = filter->GetMTime();
    setters[i](filter);
    const auto after = filter->GetMTime();
    EXPECT_LT(before, after) << "setter " << i;
    setters[i](filter);
    EXPECT_EQ(after, filter->GetMTime()) << "setter " << i << " modifies without a change";
  }
  EXPECT_EQ((Filter2D::SeedsType{ { { 1, 2 } } }), filter->GetSeeds());
  EXPECT_EQ(7, filter->GetInsidePixelValue());
  EXPECT_EQ(AffinityFunction::Minimum, filter->GetAffinityFunction());
  EXPECT_EQ(3.5, filter->GetObjectMean());
  EXPECT_EQ(4.5, filter->GetObjectVariance());
  EXPECT_EQ(5.5, filter->GetDifferenceMean());
  EXPECT_EQ(6.5, filter->GetDifferenceVariance());
  EXPECT_EQ(0.25, filter->GetWeight());
  EXPECT_TRUE(filter->GetEstimateAffinityFromSeeds());
  EXPECT_EQ(4u, filter->GetEstimationRadius());
  EXPECT_EQ(0.125, filter->GetMinimumStrength());
  EXPECT_EQ(Adjacency::FaceEdge, filter->GetAdjacency());
  EXPECT_TRUE(filter->GetDistanceWeighting());
  EXPECT_EQ(Method::Buckets, filter->GetMethod());
  EXPECT_EQ(mask, filter->GetMaskImage());
  EXPECT_EQ(mask, filter->GetSeedImage());

  filter->EstimateAffinityFromSeedsOff();
  filter->DistanceWeightingOff();
  EXPECT_FALSE(filter->GetEstimateAffinityFromSeeds());
  EXPECT_FALSE(filter->GetDistanceWeighting());
}

TEST(FuzzyConnectednessImageFilter, SeedsAreSetAddedAndCleared)
{
  using Seeds = Filter2D::SeedsType;
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  auto       time = filter->GetMTime();
  const auto wasModified = [&filter, &time] {
    const auto before = time;
    time = filter->GetMTime();
    return before < time;
  };
  filter->ClearSeeds();
  EXPECT_FALSE(wasModified());
  filter->AddSeed({ { 1, 2 } });
  EXPECT_TRUE(wasModified());
  filter->AddSeed({ { -3, 4 } });
  EXPECT_TRUE(wasModified());
  EXPECT_EQ((Seeds{ { { 1, 2 } }, { { -3, 4 } } }), filter->GetSeeds());
  filter->SetSeeds({ { { 1, 2 } }, { { -3, 4 } } });
  EXPECT_FALSE(wasModified());
  filter->SetSeed({ { 5, 6 } });
  EXPECT_TRUE(wasModified());
  EXPECT_EQ((Seeds{ { { 5, 6 } } }), filter->GetSeeds());
  filter->SetSeeds({ { { 0, 1 } }, { { 2, 3 } }, { { 2, 3 } } });
  EXPECT_TRUE(wasModified());
  EXPECT_EQ(3u, filter->GetSeeds().size());
  filter->ClearSeeds();
  EXPECT_TRUE(wasModified());
  EXPECT_TRUE(filter->GetSeeds().empty());
}

TEST(FuzzyConnectednessImageFilter, PrintsAllParameters)
{
  const auto filter = MakeFilter();
  filter->SetSeeds({ { { 1, 2 } }, { { 0, 1 } } });
  filter->SetInsidePixelValue(65);
  filter->SetAffinityFunction(AffinityFunction::WeightedSum);
  filter->SetDifferenceMean(0.75);
  filter->SetDifferenceVariance(6.5);
  filter->SetWeight(0.25);
  filter->SetEstimationRadius(4);
  filter->SetMinimumStrength(0.125);
  filter->SetAdjacency(Adjacency::FaceEdge);
  filter->SetMethod(Method::Buckets);
  filter->Update();
  VoxelMapsTest::ExpectPrints(filter.GetPointer(),
                              { "Seeds: [1, 2] [0, 1]",
                                "InsidePixelValue: 65",
                                "AffinityFunction: WeightedSum",
                                "ObjectMean: 5",
                                "ObjectVariance: 4",
                                "DifferenceMean: 0.75",
                                "DifferenceVariance: 6.5",
                                "Weight: 0.25",
                                "EstimateAffinityFromSeeds: Off",
                                "EstimationRadius: 4",
                                "MinimumStrength: 0.125",
                                "Adjacency: FaceEdge",
                                "DistanceWeighting: Off",
                                "Method: Buckets",
                                "UsedObjectMean: 5",
                                "UsedObjectVariance: 4",
                                "UsedDifferenceMean: 0.75",
                                "UsedDifferenceVariance: 6.5",
                                "UsedMethod: Buckets" });
  // Not all of many seeds.
  filter->SetSeeds(Filter2D::SeedsType(1000, Filter2D::IndexType{ { 1, 2 } }));
  VoxelMapsTest::ExpectPrints(filter.GetPointer(), { "Seeds: [1, 2]", "[1, 2] and others, in all 1000\n" });
}

TEST(FuzzyConnectednessImageFilter, ReportsTheUsedMethod)
{
  const auto filter = MakeFilter();
  const auto expectUsedMethod = [&filter](Method expected) {
    filter->Update();
    // The CPU computes few voxels, also where a device is.
    EXPECT_EQ(expected, filter->GetUsedMethod());
  };
  for (const Method method : { Method::Buckets, Method::Hierarchy })
  {
    filter->SetMethod(method);
    expectUsedMethod(method);
  }
  filter->SetMethod(Method::Automatic);
  expectUsedMethod(Method::Hierarchy);
  filter->SetMinimumStrength(0.5);
  filter->SetNumberOfWorkUnits(1);
  expectUsedMethod(Method::Buckets);
  filter->GetMultiThreader()->SetMaximumNumberOfThreads(4);
  filter->SetNumberOfWorkUnits(4);
  expectUsedMethod(Method::Hierarchy);
}

TEST(FuzzyConnectednessImageFilter, EstimatesFromABox)
{
  // 1..9 have six differences of 1 and six of 3; the smallest 90 % leave out one of 3.
  ExpectEstimate(MakeRamp().GetPointer(),
                 { { { 1, 1 } } },
                 1,
                 nullptr,
                 5.0,
                 60.0 / 9.0,
                 (6.0 + 5.0 * 3.0) / 11.0,
                 (6.0 + 5.0 * 9.0) / 11.0);
}

TEST(FuzzyConnectednessImageFilter, EstimatesUseTheRadiusAndTheSeedImage)
{
  // The box of radius 2 around the middle of 0 1 3 6 10 15 21 is 1 3 6 10 15.
  const auto line = MakeImage<Image2D>({ { 7, 1 } }, { 0, 1, 3, 6, 10, 15, 21 });
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(line);
  filter->SetSeedImage(MakeImage<Mask2D>({ { 7, 1 } }, { 0, 0, 0, 9, 0, 0, 0 }));
  filter->EstimateAffinityFromSeedsOn();
  // Parameters that the estimate replaces are not checked.
  filter->SetObjectVariance(0.0);
  filter->SetDifferenceVariance(quietNaN);
  filter->Update();
  EXPECT_DOUBLE_EQ(7.0, filter->GetUsedObjectMean());
  EXPECT_DOUBLE_EQ((36.0 + 16.0 + 1.0 + 9.0 + 64.0) / 5.0, filter->GetUsedObjectVariance());
  EXPECT_DOUBLE_EQ((4.0 + 9.0 + 16.0 + 25.0) / 16.0, filter->GetUsedDifferenceVariance());
  filter->SetEstimationRadius(1);
  filter->Update();
  EXPECT_DOUBLE_EQ(19.0 / 3.0, filter->GetUsedObjectMean());
  EXPECT_DOUBLE_EQ(25.0 / 8.0, filter->GetUsedDifferenceVariance());
  // The parameters keep their values.
  EXPECT_EQ(0.0, filter->GetObjectMean());
  EXPECT_EQ(0.0, filter->GetObjectVariance());
}

TEST(FuzzyConnectednessImageFilter, SeedImagesAndMasksAreReadBySeveralThreads)
{
  // More voxels than two workers take at a time, in rows that are no multiple of the blocks that are looked at.
  constexpr itk::SizeValueType columns = 331;
  constexpr itk::SizeValueType rows = 607;
  VoxelMapsTest::RandomNumbers random(77);
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
    auto filter = VoxelMapsTest::NewFilter<Filter2D>();
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetInsidePixelValue(5);
    filter->SetNumberOfWorkUnits(threads);
    filter->SetObjectMean(25.0);
    filter->SetObjectVariance(100.0);
    filter->SetDifferenceVariance(100.0);
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

    // Of several seeds outside the mask, the message names the first.
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
    auto filter = VoxelMapsTest::NewFilter<Filter2D>();
    filter->SetInput(MakeRamp());
    filter->SetSeed({ { 1, 1 } });
    return filter;
  };
  const auto filter = make();
  ExpectError([&] { filter->Update(); }, { "no affinity", "ObjectMean", "EstimateAffinityFromSeeds" });
  const std::vector<std::function<void(Filter2D *)>> repairs{
    [](Filter2D * f) { f->SetObjectMean(0.0); },
    [](Filter2D * f) { f->SetObjectVariance(1.0); },
    [](Filter2D * f) { f->SetDifferenceMean(0.0); },
    [](Filter2D * f) { f->SetDifferenceVariance(1.0); },
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

TEST(FuzzyConnectednessImageFilterErrors, Mask)
{
  const auto repair = [](Filter2D * f) { f->SetMaskImage(nullptr); };
  const auto other = MakeImage<Mask2D>({ { 3, 2 } }, std::vector<unsigned char>(6, 1));
  ExpectRepairableError([&other](Filter2D * f) { f->SetMaskImage(other); }, repair, { "the mask", "[3, 2]", "[3, 3]" });
  const auto shifted = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 1));
  shifted->SetOrigin(std::vector<double>{ 0.0, -17.5 }.data());
  ExpectRepairableError(
    [&shifted](Filter2D * f) { f->SetMaskImage(shifted); }, repair, { "the mask", "grid", "-17.5" });
  const auto stretched = MakeImage<Mask2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 1));
  stretched->SetSpacing(std::vector<double>{ 1.0, 2.25 }.data());
  ExpectRepairableError(
    [&stretched](Filter2D * f) { f->SetMaskImage(stretched); }, repair, { "the mask", "grid", "2.25" });
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

TEST(FuzzyConnectednessImageFilterErrors, VarianceAndMean)
{
  struct Wrong
  {
    double      value;
    std::string printed;
  };
  for (const Wrong & wrong : { Wrong{ 0.0, "0" },
                               Wrong{ -2.5, "-2.5" },
                               Wrong{ quietNaN, "nan" },
                               Wrong{ infinity, "inf" },
                               Wrong{ -infinity, "-inf" } })
  {
    ExpectRepairableError([&wrong](Filter2D * f) { f->SetObjectVariance(wrong.value); },
                          [](Filter2D * f) { f->SetObjectVariance(4.0); },
                          { "ObjectVariance", wrong.printed });
    ExpectRepairableError([&wrong](Filter2D * f) { f->SetDifferenceVariance(wrong.value); },
                          [](Filter2D * f) { f->SetDifferenceVariance(1.0); },
                          { "DifferenceVariance", wrong.printed });
    if (!std::isfinite(wrong.value))
    {
      ExpectRepairableError([&wrong](Filter2D * f) { f->SetObjectMean(wrong.value); },
                            [](Filter2D * f) { f->SetObjectMean(5.0); },
                            { "ObjectMean", wrong.printed });
      ExpectRepairableError([&wrong](Filter2D * f) { f->SetDifferenceMean(wrong.value); },
                            [](Filter2D * f) { f->SetDifferenceMean(0.0); },
                            { "DifferenceMean", wrong.printed });
    }
  }
}

TEST(FuzzyConnectednessImageFilterErrors, WeightAndMinimumStrength)
{
  struct Wrong
  {
    double      value;
    std::string printed;
  };
  for (const Wrong & wrong : { Wrong{ -0.125, "-0.125" },
                               Wrong{ 1.5, "1.5" },
                               Wrong{ 2.0, "2" },
                               Wrong{ quietNaN, "nan" },
                               Wrong{ infinity, "inf" } })
  {
    ExpectRepairableError([&wrong](Filter2D * f) { f->SetWeight(wrong.value); },
                          [](Filter2D * f) { f->SetWeight(0.5); },
                          { "Weight", wrong.printed });
    ExpectRepairableError([&wrong](Filter2D * f) { f->SetMinimumStrength(wrong.value); },
                          [](Filter2D * f) { f->SetMinimumStrength(0.0); },
                          { "MinimumStrength", wrong.printed });
  }
  // 0 and 1 are allowed.
  for (const double value : { 0.0, 1.0 })
  {
    const auto filter = MakeFilter();
    filter->SetWeight(value);
    filter->SetMinimumStrength(value);
    EXPECT_NO_THROW(filter->Update());
  }
}

TEST(FuzzyConnectednessImageFilterErrors, EstimateWithoutVariance)
{
  const Names howToHelp{ "EstimationRadius", "ObjectMean", "ObjectVariance", "DifferenceVariance" };
  const auto  expectEstimateError = [&howToHelp](Filter2D * filter, Names words) {
    words.insert(words.end(), howToHelp.begin(), howToHelp.end());
    ExpectError([&] { filter->Update(); }, words);
  };
  // All equal, with 5 x 5 voxels in the box.
  const auto equal = MakeImage<Image2D>({ { 9, 9 } }, std::vector<short>(81, 3));
  for (const AffinityFunction affinityFunction : allAffinityFunctions)
  {
    const auto filter = MakeEstimatingFilter(equal.GetPointer(), { { { 4, 4 } } }, 2, affinityFunction);
    expectEstimateError(filter, { "25", "0", "2" });
    // With the parameters that are set, the filter works.
    filter->EstimateAffinityFromSeedsOff();
    filter->SetObjectMean(3.0);
    EXPECT_NO_THROW(filter->Update());
  }
  // One voxel.
  expectEstimateError(
    MakeEstimatingFilter(MakeRamp().GetPointer(), { { { 1, 1 } } }, 0, AffinityFunction::GeometricMean), { "1", "0" });
  // The differences of a ramp have no variance, which only the weighted sum requires.
  const auto ramp = MakeImage<Image2D>({ { 5, 1 } }, { 0, 2, 4, 6, 8 });
  expectEstimateError(MakeEstimatingFilter(ramp.GetPointer(), { { { 2, 0 } } }, 2, AffinityFunction::WeightedSum),
                      { "5", "8", "0" });
  EXPECT_NO_THROW(
    MakeEstimatingFilter(ramp.GetPointer(), { { { 2, 0 } } }, 2, AffinityFunction::GeometricMean)->Update());
}
