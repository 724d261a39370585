// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/FuzzyConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessVolumeCurve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace VoxelMapsTest;
using voxelmaps::FuzzyConnectednessVolumeCurve;

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

// Two squares of 20 x 20 noisy voxels, with a bridge of one voxel between them, which differs from them by a step, in a
// different background.
TEST(FuzzyConnectednessVolumeCurve, FindsLeaksOfKnownStrength)
{
  RandomNumbers random(8);
  for (const short step : { 12, 20, 30, 50 })
  {
    for (const std::int64_t noiseLevel : { 0, 1, 3 })
    {
      SCOPED_TRACE(::testing::Message() << "step " << step << ", noise " << noiseLevel);
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
      std::vector<float>               strengths(pixels.size());
      voxelmaps::FuzzyConnectednessJob job;
      job.image = pixels.data();
      job.pixelType = voxelmaps::FuzzyConnectednessJob::PixelType::Int16;
      job.size = { { 60, 30, 1 } };
      job.seeds = { 12 * 60 + 10 };
      job.affinityFunction = voxelmaps::FuzzyConnectednessEnums::AffinityFunction::Homogeneity;
      job.affinity = { { 0.0 }, { 1.0 }, {}, { 100.0 } };
      job.output = strengths.data();
      voxelmaps::ComputeFuzzyConnectedness(job);
      const FuzzyConnectednessVolumeCurve curve(strengths.data(), 1800);
      const float                         behind = strengths[12 * 60 + 40];
      // Noise makes the object begin in several jumps; without it, there is one.
      const double suggested = curve.GetSuggestedThreshold(noiseLevel == 0 ? 25 : 300);
      EXPECT_GT(suggested, behind);
      // With or without the bridge itself, one of whose two links is weaker.
      const std::int64_t voxels = curve.GetNumberOfVoxels(suggested);
      EXPECT_TRUE(voxels == 400 || voxels == 401) << voxels;
      EXPECT_GE(curve.GetNumberOfVoxels(behind), 700);
      // No object is that large.
      EXPECT_EQ(0.0, curve.GetSuggestedThreshold(1000000));
    }
  }
}
