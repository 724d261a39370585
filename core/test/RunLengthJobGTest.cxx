// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace
{
using Job = voxelmaps::RunLengthJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::RunLengthFeatureMapEnums;
using namespace VoxelMapsTest;
using NoiseJob = ClassNoise<Job>;

/** A case of one voxel whose window is the entire image, so that nothing is clipped. */
TextureRandomCase
MakeUnclippedCase(std::uint64_t seed, const Triple & windowSize, std::uint32_t numberOfGrayLevels,
                  RandomNumbers & random)
{
  TextureRandomCase randomCase = DrawTextureRandomCase(seed, windowSize[2] > 1 ? 3 : 2, 65535, random);
  DrawLargeWindow(randomCase, windowSize, windowSize, { { 1, 1, 1 } }, numberOfGrayLevels, 1, random);
  return randomCase;
}

void
CheckLargeWindow(std::uint64_t seed, const Triple & imageSize, const Triple & windowSize, const Triple & regionSize,
                 unsigned int count, std::int64_t budget)
{
  const std::vector<std::pair<std::uint32_t, int>> levelCounts{ { 2, 2 },     { 32, 32 },    { 256, 3 },
                                                                { 256, 256 }, { 65535, 30 }, { 65535, 5000 } };
  for (unsigned int i = 0; i < count; ++i)
  {
    RandomNumbers random(seed + i);
    const auto &  numbers = levelCounts[(seed + i) % levelCounts.size()];
    auto          randomCase = DrawTextureRandomCase(seed + i, imageSize[2] > 1 ? 3 : 2, 65535, random);
    DrawLargeWindow(randomCase, imageSize, windowSize, regionSize, numbers.first, numbers.second, random);
    SCOPED_TRACE(::testing::Message() << randomCase);
    if (i % 2 == 0)
    {
      CheckCase<float, Job>(randomCase, random, budget);
    }
    else
    {
      CheckCase<double, Job>(randomCase, random, budget);
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}
} // namespace

TEST(RunLengthJob, NumberOfComponents)
{
  Job job;
  EXPECT_EQ(0u, job.GetNumberOfComponents());
  job.features = Enums::GetElevenFeatures();
  job.offsets = { { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 0, 0, 1 } } };
  EXPECT_EQ(11u, job.GetNumberOfComponents());
  job.aggregation = Job::Aggregation::Merge;
  EXPECT_EQ(11u, job.GetNumberOfComponents());
  job.aggregation = Job::Aggregation::PerDirection;
  EXPECT_EQ(33u, job.GetNumberOfComponents());
}

TEST(RunLengthJob, LargeWindows)
{
  struct WindowCase
  {
    Triple       imageSize;
    Triple       windowSize;
    Triple       regionSize;
    unsigned int count;
    std::int64_t budget;
  };
  const WindowCase cases[]{
    { { { 70, 50, 1 } }, { { 31, 31, 1 } }, { { 40, 7, 1 } }, 24, 150000 },
    // 225, 256 and 255 voxels.
    { { { 60, 40, 1 } }, { { 15, 15, 1 } }, { { 40, 7, 1 } }, 16, 100000 },
    { { { 60, 40, 1 } }, { { 16, 16, 1 } }, { { 40, 7, 1 } }, 16, 100000 },
    { { { 60, 40, 1 } }, { { 17, 15, 1 } }, { { 40, 7, 1 } }, 16, 100000 },
    // Around the longest short run that is exact.
    { { { 60, 40, 1 } }, { { 12, 12, 1 } }, { { 40, 7, 1 } }, 16, 100000 },
    { { { 60, 40, 1 } }, { { 13, 13, 1 } }, { { 40, 7, 1 } }, 16, 100000 },
    { { { 300, 5, 1 } }, { { 255, 1, 1 } }, { { 60, 5, 1 } }, 24, 100000 },
    { { { 5, 300, 1 } }, { { 1, 255, 1 } }, { { 5, 60, 1 } }, 24, 100000 },
    { { { 300, 280, 1 } }, { { 255, 255, 1 } }, { { 3, 2, 1 } }, 12, 1500000 },
    { { { 20, 19, 18 } }, { { 15, 15, 15 } }, { { 6, 3, 2 } }, 24, 300000 },
    { { { 25, 19, 18 } }, { { 17, 17, 17 } }, { { 6, 3, 2 } }, 12, 400000 },
    { { { 50, 45, 41 } }, { { 40, 40, 40 } }, { { 2, 2, 2 } }, 10, 2000000 },
  };
  std::uint64_t seed = 500000;
  for (const WindowCase & each : cases)
  {
    CheckLargeWindow(seed += 1000, each.imageSize, each.windowSize, each.regionSize, each.count, each.budget);
  }
}

TEST(RunLengthJob, ExtremeSumsOf65535Levels)
{
  // All voxels of the greatest level in one run per line: the greatest sums of l^2 i^2.
  for (const Triple & windowSize : std::vector<Triple>{ { { 255, 255, 1 } }, { { 40, 40, 40 } }, { { 5, 5, 5 } } })
  {
    for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
    {
      RandomNumbers     random(1);
      TextureRandomCase randomCase = MakeUnclippedCase(570000, windowSize, 65535, random);
      randomCase.pattern = "constant";
      randomCase.aggregation = aggregation;
      randomCase.offsets = { { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } } };
      const std::vector<Enums::Feature> longRuns{ Enums::Feature::LongRunHighGrayLevelEmphasis,
                                                  Enums::Feature::LongRunEmphasis,
                                                  Enums::Feature::ShortRunHighGrayLevelEmphasis,
                                                  Enums::Feature::GrayLevelNonUniformity,
                                                  Enums::Feature::RunVariance };
      for (const auto & features : { Enums::GetAllFeatures(), Enums::GetElevenFeatures(), longRuns })
      {
        randomCase.features = features;
        std::fill(randomCase.levels.values.begin(), randomCase.levels.values.end(), std::uint16_t{ 65535 });
        SCOPED_TRACE(::testing::Message() << randomCase);
        CheckCase<double, Job>(randomCase, random, 1);
        // One voxel of another level: the least entropy, and variances that cancel.
        randomCase.levels.values[randomCase.levels.values.size() / 2] = 65534;
        CheckCase<double, Job>(randomCase, random, 1);
        CheckCase<float, Job>(randomCase, random, 1);
      }
    }
  }
}

TEST(RunLengthJob, EveryVoxelARunOfTheSameLevel)
{
  // Flat windows and directions that leave them: the greatest counts of runs of one level and of one length.
  const std::vector<Triple> leaving{ { { 0, 0, 1 } },  { { 1, 0, 1 } },  { { 1, 1, 1 } },
                                     { { -1, 1, 1 } }, { { 0, -1, 1 } }, { { 1, -1, 1 } } };
  for (const Triple & windowSize : std::vector<Triple>{
         { { 17, 15, 1 } }, { { 16, 16, 1 } }, { { 32, 16, 1 } }, { { 255, 1, 1 } }, { { 255, 255, 1 } } })
  {
    for (const auto aggregation : { Job::Aggregation::Merge, Job::Aggregation::PerDirection })
    {
      for (const std::size_t directions : { 1u, 2u, 6u })
      {
        RandomNumbers     random(4);
        TextureRandomCase randomCase = MakeUnclippedCase(573000, windowSize, 8, random);
        randomCase.pattern = "constant";
        randomCase.aggregation = aggregation;
        randomCase.offsets.assign(leaving.begin(), leaving.begin() + static_cast<std::ptrdiff_t>(directions));
        std::fill(randomCase.levels.values.begin(), randomCase.levels.values.end(), std::uint16_t{ 8 });
        for (const auto & features : { Enums::GetAllFeatures(), Enums::GetElevenFeatures() })
        {
          randomCase.features = features;
          SCOPED_TRACE(::testing::Message() << randomCase);
          CheckCase<double, Job>(randomCase, random, 1);
        }
      }
    }
  }
}

TEST(RunLengthJob, VariancesOfGreatLevelsThatCancel)
{
  // N * sum i^2 and (sum i)^2 exceed 2^53, their difference is small.
  for (const Triple & windowSize :
       std::vector<Triple>{ { { 9, 9, 9 } }, { { 15, 15, 15 } }, { { 40, 20, 20 } }, { { 40, 40, 40 } } })
  {
    for (const auto aggregation : { Job::Aggregation::Merge, Job::Aggregation::PerDirection })
    {
      RandomNumbers     random(2);
      TextureRandomCase randomCase = MakeUnclippedCase(571000, windowSize, 65535, random);
      randomCase.pattern = "two greatest levels";
      randomCase.aggregation = aggregation;
      randomCase.offsets = { { { 1, 0, 0 } }, { { -1, 1, 1 } } };
      randomCase.features = { Enums::Feature::GrayLevelVariance, Enums::Feature::HighGrayLevelRunEmphasis };
      for (std::uint16_t & level : randomCase.levels.values)
      {
        level = static_cast<std::uint16_t>(random.Between(65534, 65535));
      }
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckCase<double, Job>(randomCase, random, 1);
    }
  }
}

TEST(RunLengthJob, ManyRunsThatAreAllShort)
{
  // 12 x 12 x 255 voxels, twelve directions merged: no run is longer than 12, but there are about 400000 of them.
  RandomNumbers     random(3);
  const Triple      windowSize{ { 12, 12, 255 } };
  TextureRandomCase randomCase = MakeUnclippedCase(572000, windowSize, 8, random);
  randomCase.pattern = "noise";
  randomCase.aggregation = Job::Aggregation::Merge;
  randomCase.offsets.clear();
  for (const std::int64_t y : { -1, 0, 1 })
  {
    for (const std::int64_t x : { -1, 0, 1 })
    {
      if (x != 0 || y != 0)
      {
        randomCase.offsets.push_back({ { x, y, 1 } });
      }
    }
  }
  randomCase.offsets.insert(randomCase.offsets.end(),
                            { { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } }, { { 1, -1, 0 } } });
  for (std::uint16_t & level : randomCase.levels.values)
  {
    level = static_cast<std::uint16_t>(random.Between(1, 8));
  }
  for (const auto & features : { Enums::GetAllFeatures(), Enums::GetElevenFeatures() })
  {
    randomCase.features = features;
    SCOPED_TRACE(::testing::Message() << randomCase);
    CheckCase<double, Job>(randomCase, random, 10000000);
  }
}

TEST(RunLengthJob, QuotientsAreCorrectlyRounded)
{
  // Many different numerators and denominators, every voxel compared in double precision.
  for (const std::int64_t edge : { 3, 7, 12, 16 })
  {
    RandomNumbers     random(static_cast<std::uint64_t>(580000 + edge));
    TextureRandomCase randomCase = DrawTextureRandomCase(static_cast<std::uint64_t>(edge), 2, 65535, random);
    const Triple      size{ { 260, 140, 1 } };
    DrawLargeWindow(randomCase, size, { { edge, edge, 1 } }, size, 64, 64, random);
    // Holes that get denser to the right, and runs that get longer to the bottom.
    for (std::size_t i = 1; i < randomCase.levels.values.size(); ++i)
    {
      const std::size_t x = i % 260;
      const std::size_t y = i / 260;
      auto &            level = randomCase.levels.values[i];
      level = static_cast<std::uint16_t>(random.Between(1, 64));
      if (random.Chance(static_cast<double>(y) / 150.0) && randomCase.levels.values[i - 1] != 0)
      {
        level = randomCase.levels.values[i - 1];
      }
      if (random.Chance(static_cast<double>(x) / 300.0))
      {
        level = 0;
      }
    }
    randomCase.pattern = "growing runs and holes";
    randomCase.offsets = { { { 1, 0, 0 } } };
    randomCase.aggregation = Job::Aggregation::PerDirection;
    randomCase.features = Enums::GetAllFeatures();
    randomCase.features.pop_back(); // all but run entropy
    SCOPED_TRACE(::testing::Message() << randomCase);
    CheckCase<double, Job>(randomCase, random, 20000000);
  }
}

TEST(RunLengthJob, WorkersMayRunOneAfterAnother)
{
  // parallelFor runs the bodies "at the same time where possible": one after another is allowed, in any order.
  NoiseJob   noise(Triple{ { 97, 61, 3 } });
  const auto one = ComputeJob<float>(noise.job);
  noise.job.execution.numberOfWorkers = 5;
  noise.job.execution.parallelFor = [](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    for (unsigned int worker = numberOfWorkers; worker-- > 0;)
    {
      body(worker);
    }
  };
  EXPECT_TRUE(HasSameBits(one, ComputeJob<float>(noise.job)));
}

TEST(RunLengthJob, RefusesRegionsBeyondTheRangeOfIndices)
{
  const NoiseJob     noise(Triple{ { 4, 3, 1 } });
  std::vector<float> output(12 * noise.job.GetNumberOfComponents());
  for (Triple Job::* index : { &Job::levelsIndex, &Job::outputIndex })
  {
    for (const std::int64_t value : { INT64_MAX, INT64_MIN, INT64_MAX - 2, INT64_MIN + 2 })
    {
      Job job = noise.job;
      job.output = output.data();
      (job.*index)[1] = value;
      EXPECT_THROW(voxelmaps::ComputeFeatureMaps(job), voxelmaps::EngineError) << value;
    }
  }
  for (const Triple & size : { Triple{ { -1, 3, 1 } }, Triple{ { INT64_MAX, INT64_MAX, 0 } } })
  {
    Job job = noise.job;
    job.outputSize = size;
    EXPECT_THROW(voxelmaps::ComputeFeatureMaps(job), voxelmaps::EngineError) << size[0];
    job.outputSize = { { 1, 1, 1 } };
    job.output = output.data();
    job.levelsSize = size;
    EXPECT_THROW(voxelmaps::ComputeFeatureMaps(job), voxelmaps::EngineError) << size[0];
  }
  // Far from the levels, all voxels are absent.
  Job job = noise.job;
  job.output = output.data();
  job.backgroundValue = 5.0;
  job.outputIndex[2] = INT64_C(1) << 55;
  voxelmaps::ComputeFeatureMaps(job);
  EXPECT_EQ(std::vector<float>(output.size(), 5.0f), output);
}
