// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using voxelmaps::FuzzyConnectednessVolumeCurve;
using ImageType = itk::Image<short, 2>;
using FilterType = itk::FuzzyConnectednessImageFilter<ImageType>;

/** Two squares of 20 x 20 noisy voxels, with a bridge of one voxel between them, in a different background. The bridge
 * differs from the squares by a step. */
FilterType::Pointer
MakeBridge(short step, std::int64_t noiseLevel, RandomNumbers & random)
{
  std::vector<short> pixels;
  for (int y = 0; y < 30; ++y)
  {
    for (int x = 0; x < 60; ++x)
    {
      const bool isSquare = y >= 5 && y < 25 && ((x >= 5 && x < 25) || (x >= 26 && x < 46));
      const bool isBridge = y == 12 && x == 25;
      const auto noise = static_cast<short>(isBridge ? 0 : random.Between(-noiseLevel, noiseLevel));
      pixels.push_back(static_cast<short>((isSquare ? 100 : isBridge ? 100 + step : -500) + noise));
    }
  }
  const auto filter = FilterType::New();
  filter->SetInput(MakeImage<ImageType>({ { 60, 30 } }, pixels));
  filter->SetSeed({ { 10, 12 } });
  filter->SetAffinityFunction(itk::FuzzyConnectednessEnums::AffinityFunction::Homogeneity);
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 100.0 } });
  return filter;
}
} // namespace

TEST(FuzzyConnectednessVolumeCurve, CountsAllThresholds)
{
  const std::vector<double>           strengths{ 0.5, 0.0, 1.0, 0.25, 0.5, 0.25, 0.25, 0.0 };
  const FuzzyConnectednessVolumeCurve curve(strengths.data(), 8);
  for (const double threshold : { 0.0, 0.1, 0.25, 0.2500001, 0.5, 0.51, 1.0, 1.1 })
  {
    std::int64_t expected = 0;
    for (const double strength : strengths)
    {
      expected += strength > 0.0 && strength >= threshold ? 1 : 0;
    }
    EXPECT_EQ(expected, curve.GetNumberOfVoxels(threshold)) << threshold;
  }
  // 1, 3, 6 voxels: from 1 voxel on, the object first grows to 3 times its size; from 2 on, only to twice.
  EXPECT_EQ(1.0, curve.GetSuggestedThreshold(1));
  EXPECT_EQ(0.5, curve.GetSuggestedThreshold(2));
  EXPECT_EQ(0.0, curve.GetSuggestedThreshold(6));
  const FuzzyConnectednessVolumeCurve empty;
  EXPECT_EQ(0, empty.GetNumberOfVoxels(0.0));
  EXPECT_EQ(0.0, empty.GetSuggestedThreshold(1));
}

TEST(FuzzyConnectednessVolumeCurve, CountsMillionsOfStrengthsWithAnyNumberOfThreads)
{
  RandomNumbers       random(10);
  std::vector<double> doubles;
  std::vector<float>  floats;
  for (int i = 0; i < 3000000; ++i)
  {
    // Many that occur once, some that occur often, and all below the smallest difference of floats.
    const std::int64_t kind = random.Between(0, 9);
    const double       strength = kind == 0   ? 0.0
                                  : kind == 1 ? 0.25
                                  : kind == 2 ? 1.0 - 1e-12 * static_cast<double>(random.Between(0, 500))
                                              : static_cast<double>(random.Between(0, 2000000000)) / 2e9;
    doubles.push_back(strength);
    floats.push_back(static_cast<float>(strength));
  }
  const auto expectCounts = [&](const auto & strengths) {
    auto sorted = strengths;
    std::sort(sorted.begin(), sorted.end());
    const auto positive = std::upper_bound(sorted.begin(), sorted.end(), 0.0);
    for (const unsigned int workers : { 1u, 2u, 7u })
    {
      voxelmaps::JobExecution execution;
      execution.numberOfWorkers = workers;
      execution.parallelFor = RunThreads;
      const FuzzyConnectednessVolumeCurve curve(
        strengths.data(), static_cast<std::int64_t>(strengths.size()), execution);
      for (std::size_t i = 0; i < sorted.size(); i += 997)
      {
        const auto least = std::max(positive, std::lower_bound(sorted.begin(), sorted.end(), sorted[i]));
        ASSERT_EQ(sorted.end() - least, curve.GetNumberOfVoxels(sorted[i])) << sorted[i] << ", " << workers;
      }
      EXPECT_EQ(sorted.end() - positive, curve.GetNumberOfVoxels(0.0));
    }
  };
  expectCounts(doubles);
  expectCounts(floats);
}

TEST(FuzzyConnectednessVolumeCurve, FindsLeaksOfKnownStrength)
{
  RandomNumbers random(8);
  for (const short step : { 12, 20, 30, 50 })
  {
    for (const std::int64_t noise : { 0, 1, 3 })
    {
      SCOPED_TRACE(::testing::Message() << "step " << step << ", noise " << noise);
      const auto filter = MakeBridge(step, noise, random);
      filter->Update();
      const float behind = filter->GetOutput()->GetPixel({ { 40, 12 } });
      // Noise makes the object begin in several jumps; without it, there is one.
      const double suggested = filter->GetSuggestedThreshold(noise == 0 ? 0.0 : 300.0);
      EXPECT_GT(suggested, behind);
      // With or without the bridge itself, one of whose two links is weaker.
      const double volume = filter->GetVolumeOfThreshold(suggested);
      EXPECT_TRUE(volume == 400.0 || volume == 401.0) << volume;
      EXPECT_GE(filter->GetVolumeOfThreshold(behind), 700.0);
    }
  }
  const auto filter = MakeBridge(20, 1, random);
  filter->Update();
  // No object is that large.
  EXPECT_EQ(0.0, filter->GetSuggestedThreshold(1e6));
  ExpectError([&] { filter->GetSuggestedThreshold(-2.0); }, { "-2", "volume" });
}

TEST(FuzzyConnectednessVolumeCurve, FollowsTheOutputAndItsSpacing)
{
  RandomNumbers random(9);
  const auto    filter = MakeBridge(20, 3, random);
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
  const double volume = filter->GetVolumeOfThreshold(0.5);
  const double spacing[2] = { 0.5, 3.0 };
  const_cast<ImageType *>(filter->GetInput())->SetSpacing(spacing);
  filter->Update();
  EXPECT_EQ(1.5 * volume, filter->GetVolumeOfThreshold(0.5));
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  filter->Update();
  const auto strengths = GetBuffer(filter->GetOutput());
  EXPECT_EQ(1.5 *
              static_cast<double>(std::count_if(strengths.begin(), strengths.end(), [](float f) { return f >= 0.5f; })),
            filter->GetVolumeOfThreshold(0.5));
}
