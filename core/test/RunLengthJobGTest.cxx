// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"
#include "TextureMemoryScene.h"
#include "TextureRandomCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace
{
using Job = voxelmaps::RunLengthJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::RunLengthFeatureMapEnums;
using Report = voxelmaps::CudaReport;
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

// What only the CUDA engine has.
namespace
{
class CudaRunLengthJob : public CudaTest
{};

/** Levels with runs and holes, the eleven features, and a direction in each plane or slice. */
struct Scene : TextureScene<Job>
{
  Scene(const Triple & size, const Triple & windowSize, std::uint32_t numberOfGrayLevels, double newLevelChance = 0.4,
        double holeChance = 0.05)
    : TextureScene(size, windowSize, numberOfGrayLevels, newLevelChance, holeChance, 5)
  {
    job.features = Enums::GetElevenFeatures();
  }
};

} // namespace

TEST_F(CudaRunLengthJob, SelectionsAndDirectionsWithoutPairs)
{
  int count = 0;
  for (std::uint64_t seed = 620000; count < 30; ++seed)
  {
    RandomNumbers     random(seed);
    TextureRandomCase randomCase = DrawTextureRandomCase(seed, 2 + seed % 2, 300, random);
    if (randomCase.levels.values.size() > 500)
    {
      continue;
    }
    const std::string holes = DrawHoles(randomCase.levels, random);
    SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes);
    Job                       job = MakeRunLengthJob(randomCase);
    std::vector<std::uint8_t> selection(CountNumbers(job) / job.GetNumberOfComponents());
    std::generate(selection.begin(), selection.end(), [&random] { return random.Chance(0.5) ? 1 : 0; });
    job.selection = selection.data();
    job.skipDirectionsWithoutPairs = true;
    ExpectCpuBits(job);
    ++count;
  }
}

TEST_F(CudaRunLengthJob, FewVoxels)
{
  // For racecheck, which takes minutes for the small cases of all classes.
  int count = 0;
  for (std::uint64_t seed = 630000; count < 4; ++seed)
  {
    RandomNumbers           random(seed);
    const TextureRandomCase randomCase = DrawTextureRandomCase(seed, 2 + seed % 2, 20, random);
    if (randomCase.levels.values.size() <= 30)
    {
      SCOPED_TRACE(randomCase);
      ExpectCpuBits(MakeRunLengthJob(randomCase));
      ++count;
    }
  }
}

TEST_F(CudaRunLengthJob, RunEntropyOfSmallWindows)
{
  // Levels of 6, 9 and 16 bits; windows of 8 voxels along an axis, or with a direction twice, slide instead.
  const std::vector<Triple> windows{ { { 1, 3, 2 } }, { { 3, 3, 3 } }, { { 5, 5, 5 } },
                                     { { 5, 4, 1 } }, { { 2, 7, 6 } }, { { 7, 7, 7 } },
                                     { { 7, 6, 1 } }, { { 9, 9, 9 } }, { { 8, 3, 3 } } };
  for (const Triple & windowSize : windows)
  {
    for (const std::uint32_t numberOfGrayLevels : { 1u, 20u, 63u, 64u, 511u, 512u, 65535u })
    {
      SCOPED_TRACE(::testing::Message() << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2] << ", "
                                        << numberOfGrayLevels << " levels");
      Scene scene({ { 35, 11, 10 } }, windowSize, numberOfGrayLevels);
      scene.job.features = { Job::Feature::RunEntropy };
      for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
      {
        scene.job.aggregation = aggregation;
        ExpectCpuBits(scene.job);
      }
      scene.SetAllNeighbors();
      ExpectCpuBits(scene.job);
      scene.job.offsets.back() = scene.job.offsets.front();
      ExpectCpuBits(scene.job);
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
}

TEST_F(CudaRunLengthJob, AveragesAtTheLimitsOfPackedSums)
{
  // Several tiles; up to 32 levels (5 x 5 x 5) or 63 (3 x 3 x 3) share a 64-bit word with 1 / i^2, and greatest sums
  // come from scenes of one level.
  for (const std::int64_t side : { 3, 5 })
  {
    for (const std::uint32_t numberOfGrayLevels : { 1u, 9u, 31u, 32u, 33u, 63u, 64u, 65u, 255u })
    {
      Scene scene({ { 67, 35, 7 } }, { { side, side, side } }, numberOfGrayLevels);
      scene.SetAllNeighbors();
      for (const std::uint32_t onlyLevel : { 0u, 1u, numberOfGrayLevels })
      {
        SCOPED_TRACE(::testing::Message()
                     << "side " << side << ", " << numberOfGrayLevels << " levels, only " << onlyLevel);
        if (onlyLevel > 0)
        {
          std::fill(scene.levels.begin(), scene.levels.end(), static_cast<std::uint16_t>(onlyLevel));
        }
        scene.job.features = Enums::GetElevenFeatures();
        ASSERT_TRUE(HasSameBits(ComputeOnCpu<double>(scene.job), ComputeOnDevice<double>(scene.job, "BoxSums")));
        // Without 1 / i^2 and without sums over levels.
        scene.job.features = { Enums::Feature::RunPercentage, Enums::Feature::LongRunHighGrayLevelEmphasis };
        ASSERT_TRUE(HasSameBits(ComputeOnCpu<float>(scene.job), ComputeOnDevice<float>(scene.job, "BoxSums")));
      }
    }
  }
}

TEST_F(CudaRunLengthJob, AutomaticChoosesSlidingWindowForWideAndMergedWindows)
{
  const auto chooseMethod = [](const Job & job) {
    Report report;
    ComputeOnDevice<float>(job, "", report);
    return report.method;
  };
  EXPECT_EQ("SlidingWindow", chooseMethod(Scene({ { 30, 20, 1 } }, { { 10, 10, 1 } }, 32).job));
  EXPECT_EQ("SlidingWindow", chooseMethod(Scene({ { 12, 11, 10 } }, { { 3, 3, 11 } }, 32).job));
  Scene merged({ { 12, 11, 10 } }, { { 5, 5, 5 } }, 32);
  EXPECT_EQ("BoxSums", chooseMethod(merged.job));
  merged.job.aggregation = Job::Aggregation::Merge;
  EXPECT_EQ("SlidingWindow", chooseMethod(merged.job));
  // Run entropy has kernels of its own.
  merged.job.features = { Enums::Feature::RunEntropy };
  EXPECT_EQ("SlidingWindow", chooseMethod(merged.job));
  Scene manyLevels({ { 12, 11, 10 } }, { { 9, 9, 9 } }, 1000);
  manyLevels.job.features = Enums::GetAllFeatures();
  EXPECT_EQ("BoxSums", chooseMethod(manyLevels.job));
  manyLevels.job.numberOfGrayLevels = 65535;
  EXPECT_EQ("WindowWalk", chooseMethod(manyLevels.job));
}

TEST_F(CudaRunLengthJob, RunEntropyWithOtherMethods)
{
  struct EntropyCase
  {
    Triple        windowSize;
    std::uint32_t numberOfGrayLevels;
    double        newLevelChance;
    std::string   method;
  };
  // Windows up to 9 voxels wide and wider ones; as many levels as voxels, counted in arrays and hash tables; and
  // windows of one level, with the greatest counts.
  const std::vector<EntropyCase> cases{
    { { { 4, 4, 1 } }, 32, 0.5, "WindowWord" },      { { { 4, 3, 1 } }, 16383, 1.0, "WindowWord" },
    { { { 5, 5, 5 } }, 32, 0.5, "BoxSums" },         { { { 5, 5, 5 } }, 256, 1.0, "BoxSums" },
    { { { 3, 4, 3 } }, 1024, 1.0, "BoxSums" },       { { { 7, 7, 7 } }, 32, 0.2, "BoxSums" },
    { { { 5, 5, 5 } }, 3, 0.0, "BoxSums" },          { { { 7, 7, 7 } }, 3, 0.0, "BoxSums" },
    { { { 17, 15, 1 } }, 32, 0.5, "SlidingWindow" }, { { { 16, 16, 1 } }, 32, 0.5, "SlidingWindow" },
    { { { 17, 15, 1 } }, 2, 0.0, "SlidingWindow" },  { { { 3, 3, 3 } }, 20000, 1.0, "SlidingWindow" },
    { { { 16, 16, 1 } }, 2, 0.0, "SlidingWindow" },  { { { 10, 5, 5 } }, 60, 0.9, "SlidingWindow" }
  };
  for (const EntropyCase & entropy : cases)
  {
    for (const double holeChance : { 0.0, 0.1 })
    {
      Scene scene(
        { { 45, 21, 6 } }, entropy.windowSize, entropy.numberOfGrayLevels, entropy.newLevelChance, holeChance);
      scene.job.offsets.push_back({ { 0, 1, 0 } });
      for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
      {
        scene.job.aggregation = aggregation;
        for (const bool isAlone : { false, true })
        {
          SCOPED_TRACE(::testing::Message()
                       << entropy.windowSize[0] << " x " << entropy.windowSize[1] << " x " << entropy.windowSize[2]
                       << ", " << entropy.numberOfGrayLevels << " levels, " << holeChance << ", " << aggregation
                       << (isAlone ? ", alone" : ""));
          scene.job.features = Enums::GetAllFeatures();
          // Not the last component.
          std::swap(scene.job.features[3], scene.job.features.back());
          if (isAlone)
          {
            scene.job.features = { Enums::Feature::RunEntropy };
          }
          const auto expected = ComputeOnCpu<double>(scene.job);
          Report     report;
          for (const std::uint64_t budget : { std::uint64_t{ 0 }, std::uint64_t{ 4 } << 20 })
          {
            ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(scene.job, "", report, budget)));
            const bool isMerged = aggregation == Job::Aggregation::Merge;
            ASSERT_EQ(isMerged ? "SlidingWindow" : entropy.method, report.method);
          }
        }
      }
    }
  }
}

TEST_F(CudaRunLengthJob, WideWindowsHaveTheBitsOfTheCpu)
{
  struct WideCase
  {
    Triple        size;
    Triple        windowSize;
    std::uint32_t numberOfGrayLevels;
  };
  // Runs of up to 255 voxels, which are more than sums of all lengths fit for; many levels; windows that go beyond the
  // image.
  const std::vector<WideCase> cases{
    { { { 70, 50, 1 } }, { { 31, 31, 1 } }, 256 },  { { { 300, 9, 1 } }, { { 255, 4, 1 } }, 2 },
    { { { 9, 300, 1 } }, { { 4, 255, 1 } }, 2 },    { { { 40, 30, 1 } }, { { 90, 10, 1 } }, 5000 },
    { { { 24, 20, 18 } }, { { 15, 15, 15 } }, 32 }, { { { 13, 12, 40 } }, { { 2, 3, 33 } }, 1000 }
  };
  for (const WideCase & wide : cases)
  {
    for (const double holeChance : { 0.0, 0.3 })
    {
      Scene scene(wide.size, wide.windowSize, wide.numberOfGrayLevels);
      // One direction has the longest runs.
      RandomNumbers random(11);
      for (std::uint16_t & level : scene.levels)
      {
        level = random.Chance(holeChance) ? 0 : random.Chance(0.02) ? level : 1;
      }
      scene.job.offsets.push_back({ { 0, 1, 0 } });
      scene.job.features = Enums::GetAllFeatures();
      scene.job.features.pop_back(); // run entropy
      for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
      {
        SCOPED_TRACE(::testing::Message() << wide.windowSize[0] << " x " << wide.windowSize[1] << " x "
                                          << wide.windowSize[2] << ", " << holeChance << ", " << aggregation);
        scene.job.aggregation = aggregation;
        const auto expected = ComputeOnCpu<double>(scene.job);
        for (const std::uint64_t budget : { std::uint64_t{ 0 }, std::uint64_t{ 1 } << 22 })
        {
          ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(scene.job, "SlidingWindow", budget)));
        }
      }
    }
  }
}

TEST_F(CudaRunLengthJob, ErrorStatesRequiredBytes)
{
  const Scene scene({ { 300, 200, 5 } }, { { 5, 5, 5 } }, 32);
  const auto  expected = ComputeOnCpu<float>(scene.job);
  for (const std::string method : { "", "WindowWalk" })
  {
    SCOPED_TRACE(method);
    const auto compute = [&](std::uint64_t budget) { return ComputeOnDevice<float>(scene.job, method, budget); };
    const std::uint64_t needed = FindSmallBudgets(compute).at(0);
    EXPECT_TRUE(HasSameBits(expected, compute(needed)));
    EXPECT_THROW(compute(needed - 1), voxelmaps::EngineError);
  }
}

TEST_F(CudaRunLengthJob, MoreThan2To31Voxels)
{
  const char * const variable = std::getenv("VOXELMAPS_LARGE_TESTS");
  if (variable == nullptr || std::string(variable) != "1")
  {
    GTEST_SKIP() << "needs 22 GB of memory: set VOXELMAPS_LARGE_TESTS=1";
  }
  const Triple               size{ { 1291, 1291, 1291 } };
  const auto                 voxels = static_cast<std::size_t>(size[0] * size[1] * size[2]);
  std::vector<std::uint16_t> levels(voxels);
  std::uint32_t              state = 1;
  for (std::uint16_t & level : levels)
  {
    state = state * 1664525u + 1013904223u;
    level = static_cast<std::uint16_t>(state >> 30);
  }
  ASSERT_GT(voxels, std::size_t{ 1 } << 31);
  Job job;
  job.levels = levels.data();
  job.levelsSize = size;
  job.numberOfGrayLevels = 3;
  job.outputSize = size;
  job.windowSize = { { 2, 2, 2 } };
  job.windowAnchor = { { 1, 0, 1 } };
  job.offsets = { { { 1, -1, 1 } } };
  job.features = { Enums::Feature::LongRunEmphasis };
  job.execution.numberOfWorkers = std::max(1u, std::thread::hardware_concurrency());
  job.execution.parallelFor = RunThreads;
  std::vector<float> expected(voxels);
  job.output = expected.data();
  voxelmaps::ComputeFeatureMaps(job);
  std::vector<float> actual(voxels);
  job.output = actual.data();
  for (const std::string method : { "", "WindowWalk" })
  {
    std::fill(actual.begin(), actual.end(), -1.0F);
    voxelmaps::ComputeFeatureMapsCuda(WithMethod(job, method), {});
    EXPECT_TRUE(HasSameBits(expected, actual)) << method;
  }
}
