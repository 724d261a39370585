// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureClassCase.h"

#include "voxelmaps/RunLengthJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace
{
using Job = voxelmaps::RunLengthJob;
using InstructionSet = voxelmaps::InstructionSet;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::RunLengthFeatureMapEnums;
using VoxelMapsTest::CheckCase;
using VoxelMapsTest::ComputeJob;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::RandomNumbers;
using NoiseJob = VoxelMapsTest::ClassNoise<Job>;

const std::vector<InstructionSet> allInstructionSets{ InstructionSet::Baseline,
                                                      InstructionSet::AVX2,
                                                      InstructionSet::AVX512 };

/** A case with a window of this size, for a few voxels of a larger image. */
TextureRandomCase
MakeLargeWindowCase(std::uint64_t seed, const Triple & imageSize, const Triple & windowSize, const Triple & regionSize,
                    std::uint32_t numberOfGrayLevels, int numberOfUsedLevels, RandomNumbers & random)
{
  TextureRandomCase randomCase = DrawTextureRandomCase(seed, imageSize[2] > 1 ? 3 : 2, 65535, random);
  randomCase.numberOfGrayLevels = numberOfGrayLevels;
  randomCase.pattern = std::to_string(numberOfUsedLevels) + " levels in noisy runs";
  randomCase.levels.size = imageSize;
  randomCase.levels.values.assign(static_cast<std::size_t>(imageSize[0] * imageSize[1] * imageSize[2]), 1);
  auto &                     values = randomCase.levels.values;
  std::vector<std::uint16_t> palette;
  for (int i = 0; i < numberOfUsedLevels; ++i)
  {
    palette.push_back(static_cast<std::uint16_t>(random.Between(1, numberOfGrayLevels)));
  }
  const double change = random.OneOf<double>({ 0.0, 0.002, 0.05, 0.5 });
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    values[i] = i == 0 || random.Chance(change) ? random.OneOf(palette) : values[i - 1];
    if (random.Chance(0.001))
    {
      values[i] = 0;
    }
    else if (values[i] == 0)
    {
      values[i] = random.OneOf(palette);
    }
  }
  randomCase.window.size = windowSize;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    randomCase.window.anchor[axis] = random.Below(windowSize[axis]);
    randomCase.regionSize[axis] = std::min(regionSize[axis], imageSize[axis]);
    randomCase.regionIndex[axis] = random.Between(0, imageSize[axis] - randomCase.regionSize[axis]);
  }
  return randomCase;
}

/** A case of one voxel whose window is the whole image, so that nothing is clipped. */
TextureRandomCase
MakeWholeWindowCase(std::uint64_t seed, const Triple & windowSize, std::uint32_t numberOfGrayLevels,
                    RandomNumbers & random)
{
  TextureRandomCase randomCase =
    MakeLargeWindowCase(seed, windowSize, windowSize, { { 1, 1, 1 } }, numberOfGrayLevels, 1, random);
  randomCase.regionIndex = randomCase.window.anchor;
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
    const auto    randomCase =
      MakeLargeWindowCase(seed + i, imageSize, windowSize, regionSize, numbers.first, numbers.second, random);
    SCOPED_TRACE(::testing::Message() << randomCase);
    if (i % 2 == 0)
    {
      CheckCase<float, Job>(randomCase, random, budget);
    }
    else
    {
      CheckCase<double, Job>(randomCase, random, budget);
    }
    if (::testing::Test::HasFailure())
    {
      return;
    }
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

TEST(RunLengthJob, WidestInstructionSetIsKnown)
{
  const InstructionSet widest = voxelmaps::GetWidestInstructionSet();
  EXPECT_NE(allInstructionSets.end(), std::find(allInstructionSets.begin(), allInstructionSets.end(), widest));
  RecordProperty("InstructionSet", static_cast<int>(widest));
}

TEST(RunLengthJob, Window31x31)
{
  CheckLargeWindow(500000, { { 70, 50, 1 } }, { { 31, 31, 1 } }, { { 40, 7, 1 } }, 24, 150000);
}

TEST(RunLengthJob, Window15x15AndWindow16x16AroundTheLimitOfBytes)
{
  // 225, 256 and 255 voxels
  CheckLargeWindow(501000, { { 50, 40, 1 } }, { { 15, 15, 1 } }, { { 40, 7, 1 } }, 16, 100000);
  CheckLargeWindow(502000, { { 50, 40, 1 } }, { { 16, 16, 1 } }, { { 40, 7, 1 } }, 16, 100000);
  CheckLargeWindow(503000, { { 50, 40, 1 } }, { { 17, 15, 1 } }, { { 40, 7, 1 } }, 16, 100000);
}

TEST(RunLengthJob, WindowsAroundTheLongestExactShortRun)
{
  CheckLargeWindow(504000, { { 50, 40, 1 } }, { { 12, 12, 1 } }, { { 40, 7, 1 } }, 16, 100000);
  CheckLargeWindow(505000, { { 50, 40, 1 } }, { { 13, 13, 1 } }, { { 40, 7, 1 } }, 16, 100000);
}

TEST(RunLengthJob, Windows255x1And1x255)
{
  CheckLargeWindow(510000, { { 300, 5, 1 } }, { { 255, 1, 1 } }, { { 60, 5, 1 } }, 24, 100000);
  CheckLargeWindow(520000, { { 5, 300, 1 } }, { { 1, 255, 1 } }, { { 5, 60, 1 } }, 24, 100000);
}

TEST(RunLengthJob, Window255x255)
{
  CheckLargeWindow(530000, { { 300, 280, 1 } }, { { 255, 255, 1 } }, { { 3, 2, 1 } }, 12, 1500000);
}

TEST(RunLengthJob, Window15x15x15)
{
  CheckLargeWindow(540000, { { 20, 19, 18 } }, { { 15, 15, 15 } }, { { 6, 3, 2 } }, 24, 300000);
}

TEST(RunLengthJob, Window17x17x17)
{
  CheckLargeWindow(550000, { { 25, 19, 18 } }, { { 17, 17, 17 } }, { { 6, 3, 2 } }, 12, 400000);
}

TEST(RunLengthJob, Window40x40x40)
{
  CheckLargeWindow(560000, { { 50, 45, 41 } }, { { 40, 40, 40 } }, { { 2, 2, 2 } }, 10, 2000000);
}

TEST(RunLengthJob, ExtremeSumsOf65535Levels)
{
  // All voxels of the greatest level in one run per line: the greatest sums of l^2 i^2.
  for (const Triple & windowSize : { Triple{ { 255, 255, 1 } }, Triple{ { 40, 40, 40 } }, Triple{ { 5, 5, 5 } } })
  {
    for (const auto aggregation :
         { Job::Aggregation::Merge, Job::Aggregation::Average, Job::Aggregation::PerDirection })
    {
      RandomNumbers     random(1);
      TextureRandomCase randomCase = MakeWholeWindowCase(570000, windowSize, 65535, random);
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
  for (const Triple & windowSize : { Triple{ { 17, 15, 1 } },
                                     Triple{ { 16, 16, 1 } },
                                     Triple{ { 32, 16, 1 } },
                                     Triple{ { 255, 1, 1 } },
                                     Triple{ { 255, 255, 1 } } })
  {
    for (const auto aggregation : { Job::Aggregation::Merge, Job::Aggregation::PerDirection })
    {
      for (const std::size_t directions : { 1u, 2u, 6u })
      {
        RandomNumbers     random(4);
        TextureRandomCase randomCase = MakeWholeWindowCase(573000, windowSize, 8, random);
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
       { Triple{ { 9, 9, 9 } }, Triple{ { 15, 15, 15 } }, Triple{ { 40, 20, 20 } }, Triple{ { 40, 40, 40 } } })
  {
    for (const auto aggregation : { Job::Aggregation::Merge, Job::Aggregation::PerDirection })
    {
      RandomNumbers     random(2);
      TextureRandomCase randomCase = MakeWholeWindowCase(571000, windowSize, 65535, random);
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
  TextureRandomCase randomCase = MakeWholeWindowCase(572000, windowSize, 8, random);
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
    TextureRandomCase randomCase = MakeLargeWindowCase(static_cast<std::uint64_t>(580000 + edge),
                                                       { { 260, 140, 1 } },
                                                       { { edge, edge, 1 } },
                                                       { { 260, 140, 1 } },
                                                       64,
                                                       64,
                                                       random);
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
      EXPECT_THROW(voxelmaps::ComputeRunLengthFeatureMaps(job), voxelmaps::EngineError) << value;
    }
  }
  for (const Triple & size : { Triple{ { -1, 3, 1 } }, Triple{ { INT64_MAX, INT64_MAX, 0 } } })
  {
    Job job = noise.job;
    job.outputSize = size;
    EXPECT_THROW(voxelmaps::ComputeRunLengthFeatureMaps(job), voxelmaps::EngineError) << size[0];
    job.outputSize = { { 1, 1, 1 } };
    job.output = output.data();
    job.levelsSize = size;
    EXPECT_THROW(voxelmaps::ComputeRunLengthFeatureMaps(job), voxelmaps::EngineError) << size[0];
  }
  // Far from the levels, all voxels are absent.
  Job job = noise.job;
  job.output = output.data();
  job.backgroundValue = 5.0;
  job.outputIndex[2] = INT64_C(1) << 55;
  voxelmaps::ComputeRunLengthFeatureMaps(job);
  EXPECT_EQ(std::vector<float>(output.size(), 5.0f), output);
}
