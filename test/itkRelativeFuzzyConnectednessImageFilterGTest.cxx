// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkShiftScaleImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using Enums = itk::RelativeFuzzyConnectednessEnums;
using Affinity = itk::FuzzyConnectednessEnums::AffinityFunction;
using Adjacency = itk::FuzzyConnectednessEnums::Adjacency;
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using LabelType = itk::Image<unsigned char, 3>;
using RealType = itk::Image<float, 3>;
using FilterType = itk::RelativeFuzzyConnectednessImageFilter<ImageType>;
using IndexType = ImageType::IndexType;

/** Two balls, which touch, in a noisy image; indices do not begin at 0. */
ImageType::Pointer
MakeBalls(std::uint64_t seed = 1)
{
  RandomNumbers      random(seed);
  std::vector<short> pixels;
  for (int z = 0; z < 20; ++z)
  {
    for (int y = 0; y < 24; ++y)
    {
      for (int x = 0; x < 40; ++x)
      {
        const double left = std::hypot(x - 11, y - 12, z - 10);
        const double right = std::hypot(x - 28, y - 12, z - 10);
        const int    level = left < 9.0 ? 100 : right < 9.0 ? 150 : 20;
        pixels.push_back(static_cast<short>(level + random.Between(-6, 6)));
      }
    }
  }
  return MakeImage<ImageType>({ { 40, 24, 20 } }, pixels, { { -3, 5, 7 } });
}

IndexType
At(itk::IndexValueType x, itk::IndexValueType y, itk::IndexValueType z)
{
  return { { x - 3, y + 5, z + 7 } };
}

/** A filter with the rules of the papers, most of which are not the defaults. */
template <typename TFilter = FilterType>
typename TFilter::Pointer
NewFilterOfPapers()
{
  const auto filter = NewFilter<TFilter>();
  filter->SetAffinityFunction(Affinity::GeometricMean);
  filter->SetCompetition(Enums::Competition::Relative);
  filter->SetTieRule(Enums::TieRule::Background);
  return filter;
}

FilterType::Pointer
MakeFilter(const ImageType * image)
{
  const auto filter = NewFilterOfPapers();
  filter->SetInput(image);
  filter->AddSeed(At(11, 12, 10), 3);
  filter->AddSeed(At(28, 12, 10), 9);
  filter->AddSeed(At(1, 1, 1), 1);
  filter->SetAffinity({ { 100.0 }, { 900.0 }, {}, { 25.0 } });
  return filter;
}

struct Outputs
{
  std::vector<unsigned char> labels;
  std::vector<float>         strengths;
  std::vector<float>         margins;
};

Outputs
ComputeAll(FilterType * filter)
{
  filter->Update();
  return { GetBuffer(filter->GetOutput()), GetBuffer(filter->GetStrengthImage()), GetBuffer(filter->GetMarginImage()) };
}

void
ExpectSame(const Outputs & expected, const Outputs & actual)
{
  EXPECT_EQ(expected.labels, actual.labels);
  EXPECT_TRUE(HasSameBits(expected.strengths, actual.strengths));
  EXPECT_TRUE(HasSameBits(expected.margins, actual.margins));
}

} // namespace

TEST(RelativeFuzzyConnectednessImageFilter, SeparatesBallsThatTouch)
{
  const auto image = MakeBalls();
  const auto filter = MakeFilter(image);
  filter->SetAffinityFunction(Affinity::Homogeneity);
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 100.0 } });
  filter->GenerateStrengthImageOn();
  filter->GenerateMarginImageOn();
  for (const auto competition : { Enums::Competition::Relative, Enums::Competition::Iterative })
  {
    filter->SetCompetition(competition);
    const Outputs all = ComputeAll(filter);
    ExpectGeometry(filter.GetPointer(), image.GetPointer());
    const auto labelAt = [&](int x, int y, int z) { return filter->GetOutput()->GetPixel(At(x, y, z)); };
    EXPECT_EQ(3, labelAt(11, 12, 10));
    EXPECT_EQ(9, labelAt(28, 12, 10));
    EXPECT_EQ(1, labelAt(1, 1, 1));
    EXPECT_EQ(3, labelAt(5, 12, 10));
    EXPECT_EQ(9, labelAt(34, 12, 10));
    EXPECT_EQ(1.0f, filter->GetStrengthImage()->GetPixel(At(11, 12, 10)));
    EXPECT_LT(0.0f, filter->GetMarginImage()->GetPixel(At(11, 12, 10)));
    for (std::size_t voxel = 0; voxel < all.labels.size(); ++voxel)
    {
      ASSERT_GE(all.margins[voxel], 0.0f);
      ASSERT_LE(all.margins[voxel], all.strengths[voxel]);
    }
  }
}

TEST(RelativeFuzzyConnectednessImageFilter, OutputsOnlyExistIfAskedFor)
{
  const auto image = MakeBalls();
  const auto filter = MakeFilter(image);
  filter->Update();
  EXPECT_EQ(0u, filter->GetStrengthImage()->GetBufferedRegion().GetNumberOfPixels());
  EXPECT_EQ(0u, filter->GetMarginImage()->GetLargestPossibleRegion().GetNumberOfPixels());
  filter->GenerateMarginImageOn();
  filter->Update();
  EXPECT_EQ(image->GetLargestPossibleRegion(), filter->GetMarginImage()->GetBufferedRegion());
  EXPECT_EQ(0u, filter->GetStrengthImage()->GetBufferedRegion().GetNumberOfPixels());
  filter->GenerateMarginImageOff();
  filter->GenerateStrengthImageOn();
  // A filter after the strength.
  const auto shift = itk::ShiftScaleImageFilter<RealType, RealType>::New();
  shift->SetInput(filter->GetStrengthImage());
  shift->SetScale(2.0);
  shift->Update();
  EXPECT_EQ(2.0f, shift->GetOutput()->GetPixel(At(11, 12, 10)));
  EXPECT_EQ(0u, filter->GetMarginImage()->GetBufferedRegion().GetNumberOfPixels());
  EXPECT_EQ(0u, filter->GetMemoryOfHierarchy());
}

TEST(RelativeFuzzyConnectednessImageFilter, OutputsCanBeDisconnected)
{
  const auto image = MakeBalls();
  const auto filter = MakeFilter(image);
  filter->GenerateStrengthImageOn();
  filter->GenerateMarginImageOn();
  const Outputs            expected = ComputeAll(filter);
  const LabelType::Pointer labels = filter->GetOutput();
  const RealType::Pointer  strengths = filter->GetStrengthImage();
  const RealType::Pointer  margins = filter->GetMarginImage();
  for (itk::DataObject * output : std::vector<itk::DataObject *>{ labels, strengths, margins })
  {
    output->DisconnectPipeline();
  }
  ASSERT_NE(dynamic_cast<const RealType *>(filter->GetOutputs().at(1).GetPointer()), nullptr);

  const auto fresh = MakeFilter(image);
  for (const auto & each : { filter, fresh })
  {
    each->ClearSeeds();
    each->AddSeed(At(28, 12, 10), 7);
    each->GenerateStrengthImageOn();
    each->GenerateMarginImageOn();
  }
  const Outputs next = ComputeAll(filter);
  EXPECT_NE(expected.labels, next.labels);
  ExpectSame(ComputeAll(fresh), next);
  ExpectSame(expected,
             { GetBuffer(labels.GetPointer()), GetBuffer(strengths.GetPointer()), GetBuffer(margins.GetPointer()) });
}

TEST(RelativeFuzzyConnectednessImageFilter, StrengthIsThatOfTheFilterForOneObject)
{
  const auto image = MakeBalls();
  const auto filter = MakeFilter(image);
  filter->ClearSeeds();
  filter->AddSeed(At(11, 12, 10), 3);
  filter->AddSeed(At(13, 11, 10), 9);
  filter->GenerateStrengthImageOn();
  filter->EstimateAffinityFromSeedsOn();
  const auto oneObject = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  oneObject->SetInput(image);
  oneObject->SetSeeds({ At(11, 12, 10), At(13, 11, 10) });
  oneObject->EstimateAffinityFromSeedsOn();
  oneObject->Update();
  filter->Update();
  EXPECT_TRUE(HasSameBits(GetBuffer(oneObject->GetOutput()), GetBuffer(filter->GetStrengthImage())));
  EXPECT_EQ(oneObject->GetUsedAffinity(), filter->GetUsedAffinity());
}

TEST(RelativeFuzzyConnectednessImageFilter, SeedImagesAndOtherTypes)
{
  const auto image = MakeBalls();
  const auto filter = MakeFilter(image);
  filter->GenerateStrengthImageOn();
  filter->GenerateMarginImageOn();
  const Outputs expected = ComputeAll(filter);

  const auto seeds = LabelType::New();
  seeds->CopyInformation(image);
  seeds->SetRegions(image->GetLargestPossibleRegion());
  seeds->Allocate(true);
  seeds->SetPixel(At(11, 12, 10), 3);
  seeds->SetPixel(At(28, 12, 10), 9);
  seeds->SetPixel(At(1, 1, 1), 1);
  filter->ClearSeeds();
  EXPECT_EQ(0u, filter->GetNumberOfSeeds());
  filter->SetSeedImage(seeds);
  ExpectSame(expected, ComputeAll(filter));
  // A voxel may be a seed of the same label twice.
  filter->AddSeed(At(28, 12, 10), 9);
  ExpectSame(expected, ComputeAll(filter));

  // Labels that need 16 bits, in double, in 3D and 2D.
  using ShortLabelType = itk::Image<unsigned short, 3>;
  const auto wide =
    NewFilterOfPapers<itk::RelativeFuzzyConnectednessImageFilter<ImageType, ShortLabelType, itk::Image<double, 3>>>();
  wide->SetInput(image);
  wide->AddSeed(At(11, 12, 10), 40000);
  wide->AddSeed(At(28, 12, 10), 65535);
  wide->AddSeed(At(1, 1, 1), 300);
  wide->SetAffinity({ { 100.0 }, { 900.0 }, {}, { 25.0 } });
  wide->GenerateMarginImageOn();
  wide->Update();
  const auto labels = GetBuffer(wide->GetOutput());
  const auto margins = GetBuffer(wide->GetMarginImage());
  for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
  {
    const unsigned int label = expected.labels[voxel];
    ASSERT_EQ(label == 3 ? 40000u : label == 9 ? 65535u : label == 1 ? 300u : 0u, labels[voxel]);
    ASSERT_EQ(expected.margins[voxel], static_cast<float>(margins[voxel]));
  }

  using FlatType = itk::Image<float, 2>;
  const auto flat = NewFilter<itk::RelativeFuzzyConnectednessImageFilter<FlatType>>();
  flat->SetInput(MakeImage<FlatType>({ { 4, 1 } }, { 0.0f, 1.0f, 4.0f, 6.0f }));
  flat->AddSeed({ { 0, 0 } }, 5);
  flat->AddSeed({ { 3, 0 } }, 2);
  flat->SetAffinityFunction(Affinity::Homogeneity);
  flat->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  flat->Update();
  EXPECT_EQ((std::vector<unsigned char>{ 5, 5, 2, 2 }), GetBuffer(flat->GetOutput()));
}

TEST(RelativeFuzzyConnectednessImageFilter, TiesAndMinimumStrength)
{
  const auto image = MakeImage<ImageType>({ { 5, 1, 1 } }, { 7, 7, 7, 7, 30 });
  const auto filter = NewFilterOfPapers();
  filter->SetInput(image);
  filter->AddSeed({ { 0, 0, 0 } }, 8);
  filter->AddSeed({ { 3, 0, 0 } }, 6);
  filter->SetAffinityFunction(Affinity::Homogeneity);
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 100.0 } });
  filter->GenerateStrengthImageOn();
  filter->GenerateMarginImageOn();
  using Labels = std::vector<unsigned char>;
  EXPECT_EQ((Labels{ 8, 0, 0, 6, 0 }), ComputeAll(filter).labels);
  filter->SetTieRule(Enums::TieRule::LowestLabel);
  EXPECT_EQ((Labels{ 8, 6, 6, 6, 6 }), ComputeAll(filter).labels);
  filter->SetTieRule(Enums::TieRule::Background);
  filter->SetCompetition(Enums::Competition::Iterative);
  const Outputs iterative = ComputeAll(filter);
  EXPECT_EQ((Labels{ 8, 0, 0, 6, 6 }), iterative.labels);
  // g(23 / 2, 0, 100)
  EXPECT_NEAR(std::exp(-11.5 * 11.5 / 200.0), iterative.strengths[4], 1e-6);
  EXPECT_EQ(1.0f, iterative.strengths[1]);
  EXPECT_EQ(0.0f, iterative.margins[4]);
  filter->SetMinimumStrength(0.9);
  const Outputs strong = ComputeAll(filter);
  EXPECT_EQ((Labels{ 8, 0, 0, 6, 0 }), strong.labels);
  EXPECT_EQ(0.0f, strong.strengths[4]);
}

TEST(RelativeFuzzyConnectednessImageFilter, EditsWithAHierarchyEqualFreshFilters)
{
  for (std::uint64_t sequence = 0; sequence < 12 && !HasFailure(); ++sequence)
  {
    SCOPED_TRACE(sequence);
    RandomNumbers random(900 + sequence);
    const auto    image = MakeBalls(sequence);
    const auto    mask = MaskType::New();
    mask->CopyInformation(image);
    mask->SetRegions(image->GetLargestPossibleRegion());
    mask->Allocate();
    mask->FillBuffer(1);

    // Everything that a filter is set to; a fresh one gets the same.
    struct Setting
    {
      std::vector<std::pair<IndexType, unsigned char>> seeds;
      Enums::Competition                               competition{ Enums::Competition::Relative };
      Enums::TieRule                                   tieRule{ Enums::TieRule::Background };
      Adjacency                                        adjacency{ Adjacency::Face };
      Affinity                                         function{ Affinity::GeometricMean };
      double                                           mean{ 100.0 };
      double                                           minimum{ 0.0 };
      bool                                             isEstimated{ false };
      bool                                             isWeighted{ false };
      bool                                             hasMask{ false };
      bool                                             wantsMargins{ true };
      bool                                             isCropped{ false };
      double                                           cropMargin{ 5.0 };
    } setting;
    setting.seeds = { { At(11, 12, 10), 3 }, { At(28, 12, 10), 9 } };
    const auto apply = [&](FilterType * filter) {
      filter->SetInput(image);
      filter->ClearSeeds();
      for (const auto & seed : setting.seeds)
      {
        // Labels that differ in intensity have no estimate.
        filter->AddSeed(seed.first, setting.isEstimated ? 3 : seed.second);
      }
      filter->SetCompetition(setting.competition);
      filter->SetTieRule(setting.tieRule);
      filter->SetAdjacency(setting.adjacency);
      filter->SetAffinityFunction(setting.function);
      filter->SetAffinity({ { setting.mean }, { 900.0 }, {}, { 25.0 } });
      filter->SetMinimumStrength(setting.minimum);
      filter->SetEstimateAffinityFromSeeds(setting.isEstimated);
      filter->SetDistanceWeighting(setting.isWeighted);
      filter->SetMaskImage(setting.hasMask ? mask.GetPointer() : nullptr);
      filter->SetGenerateMarginImage(setting.wantsMargins);
      filter->SetCropToSeeds(setting.isCropped);
      filter->SetCropMargin(setting.cropMargin);
      filter->SetGenerateStrengthImage(true);
    };
    const auto kept = NewFilter<FilterType>();
    kept->KeepHierarchyOn();
    for (int edit = 0; edit < 20 && !HasFailure(); ++edit)
    {
      SCOPED_TRACE(edit);
      switch (random.Below(15))
      {
        case 0:
          setting.competition =
            random.OneOf<Enums::Competition>({ Enums::Competition::Relative, Enums::Competition::Iterative });
          break;
        case 1:
          setting.tieRule = random.OneOf<Enums::TieRule>(
            { Enums::TieRule::Background, Enums::TieRule::LowestLabel, Enums::TieRule::Distance });
          break;
        case 2:
          setting.adjacency = random.OneOf<Adjacency>({ Adjacency::Face, Adjacency::FaceEdge, Adjacency::Full });
          break;
        case 3:
          setting.function =
            random.OneOf<Affinity>({ Affinity::GeometricMean, Affinity::WeightedSum, Affinity::Minimum });
          break;
        case 4:
          setting.mean = static_cast<double>(random.Between(80, 120));
          break;
        case 5:
          setting.minimum = static_cast<double>(random.Below(100)) / 100.0;
          break;
        case 6:
          setting.isEstimated = !setting.isEstimated;
          break;
        case 7:
        {
          setting.hasMask = true;
          // Not where seeds may be.
          const IndexType index = At(random.Below(40), 20, random.Below(20));
          mask->SetPixel(index, 0);
          mask->Modified();
          break;
        }
        case 8:
        {
          const IndexType index = At(random.Below(40), random.Below(24), random.Below(20));
          image->SetPixel(index, static_cast<short>(random.Below(200)));
          image->Modified();
          break;
        }
        case 9:
          setting.wantsMargins = !setting.wantsMargins;
          break;
        case 10:
        {
          const double spacing[3] = { 1.0, 1.0 + static_cast<double>(random.Below(3)), 2.0 };
          image->SetSpacing(spacing);
          mask->SetSpacing(spacing);
          setting.isWeighted = true;
          break;
        }
        case 11:
          setting.isCropped = !setting.isCropped;
          break;
        case 12:
          setting.cropMargin = static_cast<double>(random.Below(8));
          break;
        default:
          if (setting.seeds.size() > 2 && random.Chance(0.5))
          {
            setting.seeds.erase(setting.seeds.begin() + random.Below(static_cast<std::int64_t>(setting.seeds.size())));
          }
          else
          {
            const IndexType index = At(random.Below(40), random.Below(20), random.Below(20));
            const auto      isIndex = [&](const auto & seed) { return seed.first == index; };
            if (std::none_of(setting.seeds.begin(), setting.seeds.end(), isIndex))
            {
              setting.seeds.emplace_back(index, static_cast<unsigned char>(random.Between(1, 4)));
            }
          }
      }
      apply(kept);
      const auto fresh = NewFilter<FilterType>();
      apply(fresh);
      fresh->SetNumberOfWorkUnits(static_cast<unsigned int>(random.Between(1, 5)));
      ExpectSame(ComputeAll(fresh), ComputeAll(kept));
      EXPECT_EQ(fresh->GetUsedCropRegion(), kept->GetUsedCropRegion());
      // Memory for the box: about 6 bytes per voxel, but not twice.
      const auto voxels = kept->GetUsedCropRegion().GetNumberOfPixels();
      EXPECT_LE(6u * voxels, kept->GetMemoryOfHierarchy());
      EXPECT_GE(19u * voxels, kept->GetMemoryOfHierarchy());
      EXPECT_EQ(0u, fresh->GetMemoryOfHierarchy());
    }
    kept->ReleaseHierarchy();
    EXPECT_EQ(0u, kept->GetMemoryOfHierarchy());
  }
}

TEST(RelativeFuzzyConnectednessImageFilter, KeepingDoesNotComputeAgain)
{
  const auto   image = MakeBalls();
  const auto   filter = MakeFilter(image);
  unsigned int runs = 0;
  Observe<itk::StartEvent>(filter, [&runs] { ++runs; });
  filter->Update();
  filter->KeepHierarchyOn();
  filter->Update();
  EXPECT_EQ(1u, runs);
  EXPECT_EQ(0u, filter->GetMemoryOfHierarchy());
  filter->AddSeed(At(2, 2, 2), 7);
  filter->Update();
  EXPECT_EQ(2u, runs);
  EXPECT_LT(0u, filter->GetMemoryOfHierarchy());
  filter->KeepHierarchyOff();
  EXPECT_EQ(0u, filter->GetMemoryOfHierarchy());
  filter->Update();
  EXPECT_EQ(2u, runs);
}

TEST(RelativeFuzzyConnectednessImageFilter, AffinitiesOfLabels)
{
  const auto image = MakeBalls();
  // The strength for a label is that of the filter for one object with the affinity of the label.
  const auto computeOne = [&](const IndexType & seed, double mean, double variance, bool isEstimated) {
    const auto filter = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
    filter->SetInput(image);
    filter->SetSeed(seed);
    filter->SetAffinity({ { mean }, { variance }, {}, { 25.0 } });
    filter->SetEstimateAffinityFromSeeds(isEstimated);
    return Compute(filter);
  };
  for (const bool isEstimated : { false, true })
  {
    const auto left = computeOne(At(11, 12, 10), 100.0, 400.0, isEstimated);
    const auto right = computeOne(At(28, 12, 10), 150.0, 900.0, isEstimated);
    const auto outside = computeOne(At(2, 2, 2), 20.0, 900.0, isEstimated);
    const auto filter = NewFilterOfPapers();
    filter->SetInput(image);
    filter->AddSeed(At(11, 12, 10), 3);
    filter->AddSeed(At(28, 12, 10), 9);
    filter->AddSeed(At(2, 2, 2), 1);
    filter->SetAffinity({ { 20.0 }, { 900.0 }, {}, { 25.0 } });
    filter->SetAffinityOfLabel(3, { { 100.0 }, { 400.0 }, {}, { 25.0 } });
    filter->SetAffinityOfLabel(9, { { 150.0 }, { 900.0 }, {}, { 25.0 } });
    filter->SetEstimateAffinityOfEveryLabel(isEstimated);
    filter->GenerateStrengthImageOn();
    filter->GenerateMarginImageOn();
    filter->KeepHierarchyOn();
    const Outputs outputs = ComputeAll(filter);
    EXPECT_EQ(isEstimated ? 3u : 2u, filter->GetUsedAffinitiesOfLabels().size());
    std::size_t ballVoxels = 0;
    for (std::size_t voxel = 0; voxel < left.size(); ++voxel)
    {
      const float         greatest = std::max({ left[voxel], right[voxel], outside[voxel] });
      const unsigned char label = outputs.labels[voxel];
      ASSERT_EQ(greatest, outputs.strengths[voxel]);
      if (label != 0)
      {
        ASSERT_EQ(greatest, label == 3 ? left[voxel] : label == 9 ? right[voxel] : outside[voxel]);
      }
      ballVoxels += label == 3 || label == 9 ? 1 : 0;
    }
    EXPECT_GT(ballVoxels, 4000u);
  }
  const auto filter = MakeFilter(image);
  filter->GenerateStrengthImageOn();
  const Outputs common = ComputeAll(filter);
  filter->SetAffinityOfLabel(9, { { 150.0 }, { 900.0 }, {}, { 25.0 } });
  EXPECT_FALSE(HasSameBits(common.strengths, ComputeAll(filter).strengths));
  filter->ClearAffinitiesOfLabels();
  ExpectSame(common, ComputeAll(filter));
  filter->SetCompetition(Enums::Competition::Iterative);
  filter->SetAffinityOfLabel(9, { { 150.0 }, { 110.0 }, {}, { 25.0 } });
  ExpectError([&] { filter->Update(); }, { "Competition", "Iterative", "labels" });
  filter->SetCompetition(Enums::Competition::Relative);
  filter->SetAffinityOfLabel(9, { { 150.0 }, { 110.0 }, {}, { -2.0 } });
  ExpectError([&] { filter->Update(); }, { "difference variance", "label", "9", "-2" });
  // The surroundings of a seed in a constant image have no variance.
  const auto constant = MakeImage<ImageType>({ { 8, 8, 8 } }, std::vector<short>(512, 5));
  const auto estimating = NewFilterOfPapers();
  estimating->SetInput(constant);
  estimating->AddSeed({ { 1, 1, 1 } }, 4);
  estimating->EstimateAffinityOfEveryLabelOn();
  ExpectError([&] { estimating->Update(); }, { "label", "4", "variance", "0" });
}

TEST(RelativeFuzzyConnectednessImageFilter, ErrorsNameTheValue)
{
  const auto image = MakeBalls();
  const auto expectError = [&](const std::function<void(FilterType *)> & change,
                               const std::vector<std::string> &          words) {
    const auto filter = MakeFilter(image);
    change(filter);
    ExpectError([&] { filter->Update(); }, words);
  };
  expectError([](FilterType * filter) { filter->ClearSeeds(); }, { "0", "seeds", "AddSeed" });
  expectError([](FilterType * filter) { filter->AddSeed(At(3, 3, 3), 0); }, { "label", "0", "255" });
  expectError([](FilterType * filter) { filter->AddSeed(At(3, 3, 3), 300); }, { "label", "300", "255" });
  expectError([](FilterType * filter) { filter->SetAffinityOfLabel(0, {}); }, { "label", "0", "255" });
  expectError([](FilterType * filter) { filter->AddSeed(At(40, 3, 3), 2); }, { "[37,", "outside" });
  expectError([](FilterType * filter) { filter->AddSeed(At(11, 12, 10), 7); }, { "labels", "3", "7" });
  expectError([](FilterType * filter) { filter->SetMinimumStrength(1.5); }, { "MinimumStrength", "1.5" });
  expectError([](FilterType * filter) { filter->SetCompetition(static_cast<Enums::Competition>(2)); },
              { "Competition", "2" });
  expectError([](FilterType * filter) { filter->SetTieRule(static_cast<Enums::TieRule>(9)); }, { "TieRule", "9" });
  expectError(
    [&](FilterType * filter) {
      const auto mask = MaskType::New();
      mask->SetRegions(image->GetLargestPossibleRegion());
      mask->Allocate(true);
      filter->SetMaskImage(mask);
    },
    { "the mask has no voxel inside" });
  expectError(
    [&](FilterType * filter) {
      const auto seeds = LabelType::New();
      seeds->SetRegions(image->GetLargestPossibleRegion());
      seeds->Allocate(true);
      filter->SetSeedImage(seeds);
    },
    { "seed", "image", "0" });
}

TEST(RelativeFuzzyConnectednessImageFilter, WhatHasNoEffectIsReported)
{
  const auto filter = MakeFilter(MakeBalls());
  filter->SetCompetition(Enums::Competition::Relative);
  filter->GenerateStrengthImageOff();
  filter->GenerateMarginImageOff();
  ExpectError([&] { filter->GetStrengthImage()->Update(); }, { "GenerateStrengthImageOn" });
  ExpectError([&] { filter->GetMarginImage()->Update(); }, { "GenerateMarginImageOn" });
  const auto getWarning = [&filter] {
    ::testing::internal::CaptureStderr();
    filter->Update();
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ("", getWarning());
  filter->SetAffinity({ { 100.0 }, { 2000.0 }, {}, { 500.0 } });
  filter->SetAffinityOfLabel(8, { { 100.0 }, { 2000.0 }, {}, { 500.0 } });
  EXPECT_NE(std::string::npos, getWarning().find("label 8 has an affinity of its own, but no seeds"));
}

TEST(RelativeFuzzyConnectednessImageFilter, DefaultsSuitObjectsOfDifferentIntensities)
{
  const auto image = MakeBalls();
  const auto filter = NewFilter<FilterType>();
  filter->SetInput(image);
  filter->AddSeed(At(11, 12, 10), 3);
  filter->AddSeed(At(1, 1, 1), 1);
  filter->Update();
  const auto labels = GetBuffer(filter->GetOutput());
  EXPECT_EQ(0, std::count(labels.begin(), labels.end(), 0));
  filter->SetAffinityFunction(Affinity::AbsoluteDifference);
  filter->SetCompetition(Enums::Competition::Iterative);
  filter->SetTieRule(Enums::TieRule::Distance);
  filter->Update();
  EXPECT_EQ(labels, GetBuffer(filter->GetOutput()));
  filter->EstimateAffinityFromSeedsOn();
  filter->SetAffinityFunction(Affinity::Homogeneity);
  EXPECT_NO_THROW(filter->Update());
  filter->SetAffinityFunction(Affinity::Minimum);
  ExpectError([&] { filter->Update(); },
              { "One affinity is to be estimated for all labels, but their intensities differ", "label 1", "label 3" });
}

TEST(RelativeFuzzyConnectednessImageFilter, AbsoluteDifferencesHaveNothingToEstimate)
{
  const auto filter = MakeFilter(MakeBalls());
  filter->SetAffinityFunction(Affinity::AbsoluteDifference);
  filter->SetCompetition(Enums::Competition::Iterative);
  const Outputs expected = ComputeAll(filter);
  filter->EstimateAffinityOfEveryLabelOn();
  EXPECT_EQ(expected.labels, ComputeAll(filter).labels);
  EXPECT_TRUE(filter->GetUsedAffinitiesOfLabels().empty());
}

TEST(RelativeFuzzyConnectednessImageFilter, PrintsItsParameters)
{
  ExpectPrints(MakeFilter(MakeBalls()).GetPointer(),
               { "Competition: Relative", "TieRule: Background", "KeepHierarchy: Off", "=9", "ObjectMean: 100" });
}
