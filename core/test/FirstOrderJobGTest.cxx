// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace
{
using Job = voxelmaps::FirstOrderJob;
using Feature = Job::Feature;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::FirstOrderFeatureMapEnums;
using namespace VoxelMapsTest;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

/** Cases with a window of this size, of a few voxels of a larger image. */
void
CheckWindow(std::uint64_t seed, const Triple & imageSize, const Triple & windowSize, const Triple & regionSize,
            unsigned int count, std::int64_t budget)
{
  for (unsigned int i = 0; i < count; ++i)
  {
    RandomNumbers random(seed + i);
    auto          randomCase = ClassCase<Job>::Draw(seed + i, imageSize[2] > 1 ? 3 : 2, random);
    const auto    numberOfGrayLevels = random.OneOf<std::uint32_t>({ 1, 2, 32, 256, 65535 });
    DrawLargeWindow(
      randomCase.common, imageSize, windowSize, regionSize, numberOfGrayLevels, numberOfGrayLevels, random);
    CheckDrawnCase<Job>(randomCase, random, budget);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

/** A job of one window that is an image of these intensities along x; the level of a voxel is its number. */
template <typename TReal>
std::vector<double>
ComputeLine(const std::vector<TReal> & intensities, const std::vector<Feature> & features)
{
  std::vector<std::uint16_t> levels;
  for (std::size_t i = 0; i < intensities.size(); ++i)
  {
    levels.push_back(static_cast<std::uint16_t>(i + 1));
  }
  Job job;
  job.levels = levels.data();
  job.intensities = intensities.data();
  job.intensitiesAreDouble = std::is_same<TReal, double>::value;
  job.levelsSize = { { static_cast<std::int64_t>(intensities.size()), 1, 1 } };
  job.numberOfGrayLevels = static_cast<std::uint32_t>(intensities.size());
  job.outputSize = { { 1, 1, 1 } };
  job.windowSize = job.levelsSize;
  job.features = features;
  std::vector<double> first;
  for (const auto & engine : GetEngines(job))
  {
    SCOPED_TRACE(engine.name);
    const std::vector<double> result = ComputeJob<double>(job, engine);
    if (first.empty())
    {
      first = result;
    }
    EXPECT_TRUE(result.empty() || HasSameBits(first, result));
  }
  return first;
}
} // namespace

TEST(FirstOrderJob, LargeWindows)
{
  CheckWindow(1, { { 45, 9, 8 } }, { { 5, 5, 5 } }, { { 45, 9, 8 } }, 10, 100000);
  CheckWindow(2, { { 40, 12, 12 } }, { { 9, 9, 9 } }, { { 40, 4, 3 } }, 4, 100000);
  CheckWindow(3, { { 40, 15, 15 } }, { { 13, 13, 13 } }, { { 20, 3, 2 } }, 4, 100000);
  CheckWindow(4, { { 260, 256, 1 } }, { { 255, 255, 1 } }, { { 3, 2, 1 } }, 3, 200000);
  CheckWindow(5, { { 41, 41, 41 } }, { { 40, 40, 40 } }, { { 3, 2, 1 } }, 3, 200000);
  for (const std::int64_t size : { 2, 3, 4, 15, 16, 17, 127, 128, 129, 255 })
  {
    CheckWindow(static_cast<std::uint64_t>(size), { { 300, 2, 1 } }, { { size, 1, 1 } }, { { 40, 2, 1 } }, 3, 20000);
  }
}

TEST(FirstOrderJob, PercentilesAreThoseOfNumPy)
{
  // numpy.percentile([1, 2, 4, 8, 16, 32], [10, 25, 50, 75, 90])
  const std::vector<Feature> features{
    Feature::Percentile10, Feature::InterquartileRange, Feature::Median, Feature::Percentile90
  };
  EXPECT_EQ((std::vector<double>{ 1.5, 11.5, 6.0, 24.0 }),
            ComputeLine(std::vector<float>{ 32, 1, 16, 2, 8, 4 }, features));
  EXPECT_EQ((std::vector<double>{ 1.5, 11.5, 6.0, 24.0 }),
            ComputeLine(std::vector<double>{ 32, 1, 16, 2, 8, 4 }, features));
}

TEST(FirstOrderJob, InfiniteIntensitiesHaveTheSameBitsEverywhere)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto       all = Enums::GetAllFeatures();
  for (const std::vector<double> & line : { std::vector<double>{ 1, 2, infinity },
                                            std::vector<double>{ infinity, 1, 2 },
                                            std::vector<double>{ -infinity, 3, infinity, 5 },
                                            std::vector<double>{ 1e200, -1e200, 3.0 },
                                            std::vector<double>{ 5e-324, 1e-320, 0.0 } })
  {
    const auto values = ComputeLine(line, all);
    EXPECT_EQ(*std::max_element(line.begin(), line.end()), values[static_cast<std::size_t>(Feature::Maximum)]);
    EXPECT_EQ(*std::min_element(line.begin(), line.end()), values[static_cast<std::size_t>(Feature::Minimum)]);
  }
  // The own voxel is the first one; it does not matter whether it is the infinite one.
  for (const std::vector<double> & line :
       { std::vector<double>{ 1, 2, infinity, 4 }, std::vector<double>{ infinity, 1, 2, 4 } })
  {
    const auto values =
      ComputeLine(line, { Feature::Mean, Feature::Energy, Feature::Range, Feature::Median, Feature::Variance });
    EXPECT_EQ((std::vector<double>{ infinity, infinity, infinity, 3.0 }),
              std::vector<double>(values.begin(), values.begin() + 4));
    EXPECT_TRUE(std::isnan(values[4]));
  }
}

TEST(FirstOrderJob, RobustMeanAbsoluteDeviationIgnoresOutliers)
{
  constexpr double           infinity = std::numeric_limits<double>::infinity();
  const std::vector<Feature> features{ Feature::RobustMeanAbsoluteDeviation };
  for (const double outlier : { 1e12, 1e30, -1e30, 3.4e38, infinity, -infinity })
  {
    // The own voxel is the first one.
    std::vector<double>                  line{ outlier };
    std::vector<double>                  constant{ outlier };
    std::vector<FirstOrderOracle::Voxel> voxels{ { outlier, 1 } };
    for (int i = 1; i < 125; ++i)
    {
      line.push_back(i % 10 + 0.5);
      constant.push_back(0.1);
      voxels.push_back({ line.back(), 1 });
    }
    const auto expected = FirstOrderOracle::Compute(features[0], voxels, 0.0, 1.0);
    const auto values = ComputeLine(line, features);
    EXPECT_TRUE(Agrees(expected, values[0])) << values[0] << " with " << outlier;
    EXPECT_EQ(std::vector<double>{ 0.0 }, ComputeLine(constant, features)) << outlier;
  }
}

TEST(FirstOrderJob, IntegersAroundTheLimitsOfKeys)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double limit = 1048576.0;
  // Least and greatest integer, and another intensity.
  const std::vector<std::vector<double>> ranges{ { 0, 65534 },
                                                 { 0, 65535 },
                                                 { -32768, 32766 },
                                                 { -32768, 32767 },
                                                 { -limit, -limit + 9 },
                                                 { limit - 65534, limit },
                                                 { limit - 9, limit + 1 },
                                                 { -limit - 1, -limit + 9 },
                                                 { -3, 3, 0.5 },
                                                 { -1000, 3000, 1e-3 },
                                                 { 0, 9, infinity },
                                                 { 0, 9, -infinity },
                                                 { 0, 9, 65535 },
                                                 { 7, 7 } };
  std::uint64_t                          seed = 600;
  for (const Triple & window : std::vector<Triple>{
         { { 3, 3, 3 } }, { { 5, 5, 5 } }, { { 5, 4, 3 } }, { { 5, 5, 1 } }, { { 7, 7, 7 } }, { { 6, 3, 8 } } })
  {
    for (const auto & range : ranges)
    {
      for (const std::uint32_t numberOfGrayLevels : { 3u, 700u })
      {
        RandomNumbers random(++seed);
        auto          randomCase = ClassCase<Job>::Draw(seed, 3, random, numberOfGrayLevels);
        auto &        common = randomCase.common;
        auto &        levels = common.levels;
        levels.size = { { 40, 10, 9 } };
        levels.values.resize(40 * 10 * 9);
        for (auto & level : levels.values)
        {
          level = static_cast<std::uint16_t>(random.Between(1, numberOfGrayLevels));
        }
        common.numberOfGrayLevels = numberOfGrayLevels;
        common.window.size = window;
        common.window.anchor = { { 1, random.Below(window[1]), 0 } };
        common.regionIndex = { { 0, 0, 0 } };
        common.regionSize = levels.size;
        const std::string holes = DrawHoles(levels, random);
        for (const std::uint16_t level : levels.values)
        {
          const auto integer = static_cast<double>(
            random.Between(static_cast<std::int64_t>(range[0]), static_cast<std::int64_t>(range[1])));
          const double often = random.Chance(0.5) ? range[0] : range[1];
          randomCase.intensities.push_back(level == 0 ? quietNaN : random.Chance(0.3) ? often : integer);
        }
        if (range.size() > 2)
        {
          auto & own = randomCase.intensities[static_cast<std::size_t>(random.Below(40 * 10 * 9))];
          own = std::isnan(own) ? own : range[2];
        }
        randomCase.floats.assign(randomCase.intensities.begin(), randomCase.intensities.end());
        randomCase.parameters.features = Enums::GetAllFeatures();
        randomCase.parameters.voxelArrayShift = random.OneOf<double>({ 0.0, -limit, 0.5, 2.0 * limit });
        randomCase.parameters.intensitiesAreDouble = random.Chance(0.5);
        const Job  job = MakeCaseJob(randomCase);
        const auto expected = ComputeJob<double>(job);
        for (const auto & engine : GetEngines(job))
        {
          ASSERT_TRUE(HasSameBits(expected, ComputeJob<double>(job, engine)))
            << engine.name << ", " << range[0] << " ... " << range[1] << ", window " << window[0] << " x " << window[1]
            << " x " << window[2] << ", " << holes;
        }
      }
    }
  }
}

TEST(FirstOrderJob, DoublesThatAreFloatsHaveTheBitsOfFloats)
{
  for (std::uint64_t seed = 540; seed < 600; ++seed)
  {
    RandomNumbers     random(seed);
    auto              randomCase = ClassCase<Job>::Draw(seed, 3, random, 64);
    const std::string holes = DrawHoles(randomCase.common.levels, random);
    DrawIntensities(false, randomCase, random);
    randomCase.parameters.features = DrawFirstOrderFeatures(random);
    randomCase.parameters.voxelArrayShift = random.OneOf<double>({ 0.0, 0.5 });
    const auto expected = ComputeJob<double>(MakeCaseJob(randomCase));
    randomCase.parameters.intensitiesAreDouble = true;
    const Job job = MakeCaseJob(randomCase);
    for (const auto & engine : GetEngines(job))
    {
      ASSERT_TRUE(HasSameBits(expected, ComputeJob<double>(job, engine)))
        << engine.name << ", " << randomCase << ", " << holes << ", intensities: " << randomCase.pattern;
    }
  }
}

TEST(FirstOrderJob, RefusesInvalidJobs)
{
  const std::vector<float>         intensities(8, 1.0f);
  const std::vector<std::uint16_t> levels(8, 1);
  std::vector<float>               output(8 * Enums::NumberOfFeatures);
  Job                              valid;
  valid.levels = levels.data();
  valid.intensities = intensities.data();
  valid.levelsSize = valid.outputSize = { { 2, 2, 2 } };
  valid.numberOfGrayLevels = 1;
  valid.features = { Feature::Mean };
  valid.output = output.data();
  const auto expect = [&valid](const auto & mistake, const std::vector<std::string> & words) {
    Job job = valid;
    mistake(job);
    ExpectRefusal(job, words);
  };
  for (const auto & engine : GetEngines(valid))
  {
    EXPECT_NO_THROW(engine.compute(valid));
  }
  expect([](Job & job) { job.intensities = nullptr; }, { "intensities" });
  expect([](Job & job) { job.voxelArrayShift = quietNaN; }, { "VoxelArrayShift", "nan" });
  expect([](Job & job) { job.voxelVolume = 0.0; }, { "volume of a voxel", "0.000000" });
  expect([](Job & job) { job.windowSize = { { 41, 40, 40 } }; }, { "65600", "voxels" });
}
