// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace
{
using Job = voxelmaps::CooccurrenceJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
using namespace VoxelMapsTest;
using NoiseJob = ClassNoise<Job>;
using SceneJob = NeighborScene<Job>;
} // namespace

TEST(CooccurrenceJob, LargeWindowsAndManyLevels)
{
  // Moments in 64, 128 and 256 bits, sums of halves, counts beyond 16 bits, levels by rank and by level.
  const std::vector<Triple> windows{ { { 40, 40, 40 } }, { { 255, 255, 1 } }, { { 17, 17, 17 } }, { { 11, 11, 11 } },
                                     { { 9, 9, 9 } },    { { 255, 3, 3 } },   { { 3, 250, 2 } } };
  const std::vector<std::uint32_t> levelCounts{ 2, 33, 256, 1000, 65535 };
  std::uint64_t                    seed = 630000;
  for (const Triple & window : windows)
  {
    for (const std::uint32_t levels : levelCounts)
    {
      for (const std::int64_t used : { std::int64_t{ 3 }, std::int64_t{ levels } })
      {
        RandomNumbers       random(++seed);
        auto                randomCase = ClassCase<Job>::Draw(seed, 3, random);
        TextureRandomCase & common = randomCase.common;
        DrawLargeWindow(common, window, levels, used, 4, random);
        randomCase.parameters.offsets.resize(std::min<std::size_t>(randomCase.parameters.offsets.size(), 3));
        common.offsets = randomCase.parameters.offsets;
        LeaveOutLargeCorrelations(randomCase);
        SCOPED_TRACE(::testing::Message() << randomCase << ", " << used << " levels used");
        CheckCase<double, Job>(randomCase, random, 100);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

// Tables of counts that slide along two axes: long rows, several tiles, noise and smooth images, few and many levels,
// counts of all sizes, offsets that leave few pairs or none, and selections.
TEST(CooccurrenceJob, SlidingTablesHaveTheBitsOfSingleWindows)
{
  const std::vector<Triple> windows{ { { 5, 5, 5 } },  { { 4, 4, 4 } }, { { 7, 7, 7 } },   { { 9, 4, 4 } },
                                     { { 3, 16, 1 } }, { { 1, 5, 4 } }, { { 2, 11, 11 } }, { { 12, 12, 2 } } };
  for (std::uint64_t seed = 650000; seed < 650000 + 6 * windows.size(); ++seed)
  {
    RandomNumbers     random(seed);
    const Triple      size{ { random.Between(1, 150), random.Between(1, 24), random.Between(1, 7) } };
    const auto        levels = random.OneOf<std::uint32_t>({ 1, 2, 9, 32, 75, 200, 600 });
    const double      change = random.OneOf<double>({ 0.0, 0.02, 0.3, 1.0 });
    const double      absent = random.OneOf<double>({ 0.0, 0.0, 0.1, 0.9 });
    const double      selected = random.OneOf<double>({ 1.0, 0.5, 0.1 });
    TextureScene<Job> scene(size, windows[seed % windows.size()], levels, change, absent, seed);
    Job &             job = scene.job;
    for (std::uint8_t & voxel : scene.selection)
    {
      voxel = random.Chance(selected) ? 1 : 0;
    }
    job.selection = selected < 1.0 ? scene.selection.data() : nullptr;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      job.windowAnchor[axis] = random.Below(job.windowSize[axis]);
    }
    job.offsets = { { { 1, 0, 0 } },  { { -1, 1, 0 } }, { { 0, -2, 1 } },
                    { { 1, 1, -1 } }, { { 0, 0, 4 } },  { { 3, 0, 0 } } };
    if (random.Chance(0.2))
    {
      job.features = { Job::Feature::MaximalCorrelationCoefficient };
    }
    job.aggregation = random.Chance(0.5) ? Job::Aggregation::Average : Job::Aggregation::PerDirection;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    CheckAllEngines<double>(job, random, [](const std::vector<double> &, double) { return true; });
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

// Matrices side by side, alone, and more levels than a vector or warp computes at once.
TEST(CooccurrenceJob, MaximalCorrelationOfManyLevels)
{
  std::uint64_t seed = 640000;
  for (const std::uint32_t levels : { 33u, 60u, 130u, 513u })
  {
    for (const bool symmetric : { true, false })
    {
      RandomNumbers       random(++seed);
      auto                randomCase = ClassCase<Job>::Draw(seed, 2, random, 2);
      TextureRandomCase & common = randomCase.common;
      common.levels.size = { { 44, 40, 1 } };
      common.levels.values.clear();
      for (std::int64_t i = 0; i < 44 * 40; ++i)
      {
        // Every level occurs, and most pairs are of levels that are close to each other.
        const std::int64_t level = i * levels / (44 * 40) + random.Between(-3, 3);
        common.levels.values.push_back(
          static_cast<std::uint16_t>(std::min<std::int64_t>(std::max<std::int64_t>(level, 1), levels)));
      }
      common.numberOfGrayLevels = levels;
      common.window = { { { 40, 40, 1 } }, { { 20, 20, 0 } } };
      common.regionIndex = { { 20, 20, 0 } };
      common.regionSize = { { 2, 1, 1 } };
      common.offsets = { { { 1, 0, 0 } }, { { 0, 1, 0 } } };
      randomCase.parameters.offsets = common.offsets;
      randomCase.parameters.symmetric = symmetric;
      randomCase.parameters.features = { Job::Feature::MaximalCorrelationCoefficient };
      SCOPED_TRACE(::testing::Message() << randomCase);
      if (levels < 200)
      {
        CheckCase<double, Job>(randomCase, random, 1);
        continue;
      }
      // The oracle would take minutes.
      Job        job = MakeCaseJob(randomCase);
      const auto first = ComputeJob<double>(job);
      job.widestInstructionSet = voxelmaps::InstructionSet::Baseline;
      EXPECT_TRUE(HasSameBits(first, ComputeJob<double>(job)));
      job.widestInstructionSet = voxelmaps::InstructionSet::AVX2;
      job.method = "WindowWalk";
      EXPECT_TRUE(HasSameBits(first, ComputeJob<double>(job)));
      EXPECT_TRUE(std::all_of(first.begin(), first.end(), [](double value) { return value > 0.5 && value <= 1.0; }));
    }
  }
}

// Matrices are computed side by side: those of their neighbors must not matter.
TEST(CooccurrenceJob, MaximalCorrelationNextToLargeMatrices)
{
  const Triple size{ { 80, 15, 1 } };
  for (const std::uint32_t levels : { 20u, 40u, 95u, 200u })
  {
    RandomNumbers              random(levels);
    std::vector<std::uint16_t> image(static_cast<std::size_t>(size[0] * size[1]));
    for (std::int64_t i = 0; i < size[0] * size[1]; ++i)
    {
      // A pair of one level, a gap as wide as the window, and texture.
      const std::int64_t x = i % size[0];
      image[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(x >= 20 ? random.Between(1, levels)
                                                                      : i / size[0] == 7 && x < 2 ? 1
                                                                                                  : 0);
    }
    for (const bool symmetric : { true, false })
    {
      Job job;
      job.levels = image.data();
      job.levelsSize = size;
      job.outputIndex = { { 0, 7, 0 } };
      job.outputSize = { { size[0], 1, 1 } };
      job.numberOfGrayLevels = levels;
      job.windowSize = { { 15, 15, 1 } };
      job.windowAnchor = { { 7, 7, 0 } };
      job.offsets = { { { 1, 0, 0 } } };
      job.features = { Job::Feature::MaximalCorrelationCoefficient };
      job.symmetric = symmetric;
      const auto row = ComputeJob<double>(job);
      EXPECT_EQ(0.0, row[0]);
      EXPECT_EQ(0.0, row[1]);
      job.outputSize = { { 1, 1, 1 } };
      for (const std::int64_t x : { 0, 1, 20, 26, 50, 79 })
      {
        job.outputIndex[0] = x;
        EXPECT_EQ(row[static_cast<std::size_t>(x)], ComputeJob<double>(job)[0]) << x;
        if (!IsCudaTest())
        {
          job.method = "WindowWalk";
          EXPECT_EQ(row[static_cast<std::size_t>(x)], ComputeJob<double>(job)[0]) << x;
          job.method.clear();
        }
      }
    }
  }
}

TEST(CooccurrenceJob, MaximalCorrelationOfProductMatrices)
{
  for (const int levels : { 2, 20, 64, 100 })
  {
    // All pairs along x, each of them once, or as often as the second level.
    for (const bool weighted : { false, true })
    {
      std::vector<std::uint16_t> image;
      for (int a = 1; a <= levels; ++a)
      {
        for (int b = 1; b <= levels; ++b)
        {
          for (int i = 0; i < (weighted && levels <= 20 ? a * b : 1); ++i)
          {
            image.insert(image.end(), { static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b) });
          }
        }
      }
      image.resize((image.size() + 499) / 500 * 500);
      const auto planes = static_cast<std::int64_t>(image.size() / 500);
      if (planes > 130)
      {
        continue; // more than 65535 voxels
      }
      Job job;
      job.levels = image.data();
      job.levelsSize = { { 2, 250, planes } };
      job.outputSize = { { 2, 1, 1 } };
      job.numberOfGrayLevels = static_cast<std::uint32_t>(levels);
      job.windowSize = job.levelsSize;
      job.offsets = { { { 1, 0, 0 } } };
      job.features = { Job::Feature::MaximalCorrelationCoefficient };
      for (const bool symmetric : { true, false })
      {
        job.symmetric = symmetric;
        EXPECT_EQ(0.0, ComputeJob<double>(job)[0]) << levels << " levels";
      }
    }
  }
}

TEST(CooccurrenceJob, ChecksForAbortsBetweenCorrelations)
{
  NoiseJob noise(Triple{ { 40, 3, 3 } }, 256);
  noise.job.windowSize = { { 11, 11, 3 } };
  noise.job.windowAnchor = { { 5, 5, 1 } };
  noise.job.features = { Job::Feature::MaximalCorrelationCoefficient };
  std::uint64_t checks = 0;
  noise.job.execution.reportProgress = [&checks](std::uint64_t numberOfVoxels) {
    checks += numberOfVoxels == 0 ? 1 : 0;
  };
  ComputeJob<float>(noise.job);
  // On the CPU, after every 2 million steps of the 1440 matrices. How often a device is asked depends on its speed.
  EXPECT_GE(checks, IsCudaTest() ? 1u : 10u);
}

TEST(CooccurrenceJob, AbortsInLargeCorrelations)
{
  // One matrix takes half a minute.
  constexpr std::int64_t     side = 64;
  std::vector<std::uint16_t> levels(side * side);
  RandomNumbers              random(11);
  for (std::uint16_t & level : levels)
  {
    level = static_cast<std::uint16_t>(random.Between(1, 4096));
  }
  double output = 0.0;
  Job    job;
  job.levels = levels.data();
  job.levelsSize = { { side, side, 1 } };
  job.outputIndex = { { side / 2, side / 2, 0 } };
  job.outputSize = { { 1, 1, 1 } };
  job.output = &output;
  job.outputIsDouble = true;
  job.numberOfGrayLevels = 4096;
  job.windowSize = { { side, side, 1 } };
  job.windowAnchor = { { side / 2, side / 2, 0 } };
  job.offsets = { { { 1, 0, 0 } } };
  job.features = { Job::Feature::MaximalCorrelationCoefficient };
  // More checks than there are rows and voxels, but far fewer than there are columns of the matrix.
  constexpr int checksBeforeEnd = 20;
  int           checks = 0;
  job.execution.reportProgress = [&checks](std::uint64_t numberOfVoxels) {
    EXPECT_EQ(0u, numberOfVoxels);
    if (++checks == checksBeforeEnd)
    {
      throw std::runtime_error("enough");
    }
  };
  EXPECT_THROW(GetEngines(job).front().compute(job), std::runtime_error);
  EXPECT_EQ(checksBeforeEnd, checks);
}

TEST(CooccurrenceJob, FeaturesOfAsymmetricMatricesDoNotDependOnOthers)
{
  for (const std::uint32_t levels : { 5u, 300u, 65535u })
  {
    NoiseJob noise(Triple{ { 20, 9, 3 } }, levels);
    noise.job.symmetric = false;
    CheckFeaturesAlone(noise.job);
  }
}

TEST(CooccurrenceJob, RefusesInvalidJobs)
{
  const NoiseJob noise(Triple{ { 4, 3, 1 } });
  Job            job = noise.job;
  job.windowSize = { { 64, 64, 1 } };
  job.windowAnchor = { { 32, 32, 0 } };
  job.numberOfGrayLevels = 65535;
  EXPECT_NO_THROW(ComputeJob<float>(job));
  job.windowSize = { { 65, 64, 1 } };
  ExpectRefusal(job, { "4160", "65535", "MaximalCorrelationCoefficient", "4096" });
  job.numberOfGrayLevels = 4096;
  EXPECT_NO_THROW(ComputeJob<float>(job));
  job.numberOfGrayLevels = 4097;
  ExpectRefusal(job, { "4160", "4097", "MaximalCorrelationCoefficient", "4096" });
  job.features = { Job::Feature::Contrast };
  EXPECT_NO_THROW(ComputeJob<float>(job));

  job = noise.job;
  job.aggregation = static_cast<Job::Aggregation>(3);
  ExpectRefusal(job, { "aggregation", "3" });

  // 64 offsets of up to 65535 pairs each are possible, 70 are too many if they are merged.
  job = noise.job;
  job.windowSize = { { 255, 255, 1 } };
  job.offsets.clear();
  for (std::int64_t x = 1; x <= 70; ++x)
  {
    job.offsets.push_back({ { 1, x, 0 } });
  }
  job.aggregation = Job::Aggregation::Average;
  job.features = { Job::Feature::Contrast };
  EXPECT_NO_THROW(ComputeJob<float>(job));
  job.offsets.resize(60);
  job.aggregation = Job::Aggregation::Merge;
  EXPECT_NO_THROW(ComputeJob<float>(job));
  for (std::int64_t x = 1; x <= 60; ++x)
  {
    job.offsets.push_back({ { 2, x, 0 } });
  }
  ExpectRefusal(job, { "merged", "4194304" });
}

// What only the CUDA engine has.
namespace
{

class CudaCooccurrenceJob : public CudaTest
{};

/** Expect the bits of the CPU, and that Automatic chooses SortedPairs if it is to support the job, or the next method
 * that does. */
void
ExpectCpuBits(const Job & job, bool isSorted)
{
  EXPECT_EQ(isSorted, Supports(job, "SortedPairs"));
  VoxelMapsTest::ExpectCpuBits(job,
                               isSorted                      ? "SortedPairs"
                               : Supports(job, "RankTables") ? "RankTables"
                                                             : "WindowWalk");
}
} // namespace

TEST_F(CudaCooccurrenceJob, SmallCases)
{
  // For compute-sanitizer: few voxels, all methods and features.
  for (const std::uint32_t numberOfGrayLevels : { 5u, 256u, 1000u })
  {
    for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
    {
      SceneJob                  scene({ { 7, 5, 3 } }, { { 5, 5, 5 } }, numberOfGrayLevels, 0.6, 0.1);
      std::vector<std::uint8_t> selection(scene.levels.size(), 1);
      selection[10] = 0;
      scene.job.selection = selection.data();
      scene.job.aggregation = aggregation;
      const bool isSorted = numberOfGrayLevels <= 256 && aggregation != Job::Aggregation::Merge;
      ExpectCpuBits(scene.job, isSorted);
    }
  }
}

TEST_F(CudaCooccurrenceJob, LargeImagesOfFewAndManyLevels)
{
  // Enough tiles for the stages of SortedPairs: tiles of up to 16 and of up to 24 levels, near each other and far from
  // each other, and of more. All numbers of keys, and numbers of 128 bits.
  for (const Triple & windowSize :
       std::vector<Triple>{ { { 3, 3, 3 } }, { { 5, 3, 3 } }, { { 5, 5, 5 } }, { { 6, 5, 4 } } })
  {
    const std::uint64_t spread = windowSize[1] > 3 ? 4 : 1;
    SceneJob            scene({ { 33, 9, 320 } }, windowSize, static_cast<std::uint32_t>(64 * spread), 0.5);
    RandomNumbers       random(7);
    for (std::size_t i = 0; i < scene.levels.size(); ++i)
    {
      const std::size_t   x = i % 33;
      const std::size_t   z = i / (33 * 9);
      const std::uint64_t step = z / 10 % 4 == 1 && x > 16 ? 17 : z / 10 % 4 == 2 && x > 25 ? 40 : 0;
      const std::uint64_t noise = z / 10 % 4 == 3 ? random.Between(0, 60 * spread - 1) : random.Between(0, 5);
      scene.levels[i] =
        random.Chance(0.03) ? std::uint16_t{ 0 } : static_cast<std::uint16_t>(1 + step * spread + noise);
    }
    for (const auto aggregation : { Job::Aggregation::PerDirection, Job::Aggregation::Average })
    {
      scene.job.aggregation = aggregation;
      const auto expected = ComputeOnCpu<float>(scene.job);
      for (const std::string method : { "SortedPairs", "RankTables" })
      {
        EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, method)))
          << method << ", " << windowSize[0] << ", " << windowSize[1] << ", " << aggregation;
      }
    }
  }
}

TEST_F(CudaCooccurrenceJob, TilesWithCountsBeyondBytes)
{
  // One level nearly everywhere, so that a cell counts more than 255 pairs, next to so many other levels that the
  // tables have bytes: those windows are computed again.
  for (const std::uint32_t numberOfGrayLevels : { 10u, 22u, 30u, 60u })
  {
    for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
    {
      SCOPED_TRACE(::testing::Message() << numberOfGrayLevels << ", " << aggregation);
      SceneJob      scene({ { 40, 13, 10 } }, { { 9, 9, 9 } }, numberOfGrayLevels, 0.5);
      RandomNumbers random(8);
      for (std::uint16_t & level : scene.levels)
      {
        level =
          random.Chance(0.9) ? std::uint16_t{ 5 } : static_cast<std::uint16_t>(random.Between(0, numberOfGrayLevels));
      }
      scene.job.aggregation = aggregation;
      ExpectCpuBits(scene.job, false);
    }
  }
}

TEST_F(CudaCooccurrenceJob, FewVoxels)
{
  // For racecheck, which takes minutes for the small cases.
  for (const std::uint32_t numberOfGrayLevels : { 4u, 300u })
  {
    for (const auto aggregation : { Job::Aggregation::Average, Job::Aggregation::Merge })
    {
      SceneJob scene({ { 3, 2, 1 } }, { { 3, 3, 1 } }, numberOfGrayLevels, 0.6);
      scene.job.aggregation = aggregation;
      const bool isSorted = numberOfGrayLevels <= 256 && aggregation != Job::Aggregation::Merge;
      ExpectCpuBits(scene.job, isSorted);
    }
  }
}

namespace
{
/** Expect equal bits of small tiles that need each stage: of levels one after the other and far from each other. */
void
CheckSmallTiles(const Triple & size, const Triple & windowSize, std::initializer_list<std::uint32_t> numbersOfLevels)
{
  for (const std::uint32_t numberOfLevels : numbersOfLevels)
  {
    for (const std::uint32_t spread : { 1u, 3u })
    {
      for (const std::size_t numberOfOffsets : { std::size_t{ 13 }, std::size_t{ 4 } })
      {
        for (const auto aggregation : { Job::Aggregation::Average, Job::Aggregation::Merge })
        {
          if (aggregation == Job::Aggregation::Merge && windowSize[0] > 3 && numberOfOffsets > 4)
          {
            // More pairs than the tables of tiles can count.
            continue;
          }
          SCOPED_TRACE(::testing::Message() << numberOfLevels << " levels, " << spread << " apart, " << numberOfOffsets
                                            << " offsets, " << aggregation);
          SceneJob scene(size, windowSize, numberOfLevels * spread, 0.5);
          for (std::size_t i = 0; i < scene.levels.size(); ++i)
          {
            scene.levels[i] = static_cast<std::uint16_t>(1 + i * 7 % numberOfLevels * spread);
          }
          scene.levels[scene.levels.size() / 2] = 0;
          scene.job.aggregation = aggregation;
          scene.job.offsets.resize(std::min(numberOfOffsets, scene.job.offsets.size()));
          // The tables of some jobs need more shared memory than ordinary devices have.
          const std::string method = Supports(scene.job, "RankTables") ? "RankTables" : "";
          ASSERT_TRUE(HasSameBits(ComputeOnCpu<float>(scene.job), ComputeOnDevice<float>(scene.job, method)));
        }
      }
    }
  }
}
} // namespace

// For compute-sanitizer, which takes minutes for more voxels.
TEST_F(CudaCooccurrenceJob, SmallCasesOfTiles)
{
  CheckSmallTiles({ { 11, 9, 4 } }, { { 3, 3, 3 } }, { 7u, 20u, 30u, 60u });
  CheckSmallTiles({ { 11, 9, 8 } }, { { 7, 7, 7 } }, { 20u, 30u });
}

TEST_F(CudaCooccurrenceJob, FewVoxelsOfTiles)
{
  CheckSmallTiles({ { 8, 5, 2 } }, { { 3, 3, 2 } }, { 20u, 30u });
}

TEST_F(CudaCooccurrenceJob, ManyAndFewLevelsInAWindow)
{
  // One level in all windows, whose counts are greatest; a few; as many as there are voxels. Beyond 256 levels keys
  // would not fit 16 bits, and between 64 and 74 formulas change from doubles to 128 bits.
  for (const std::uint32_t numberOfGrayLevels : { 1u, 2u, 32u, 64u, 70u, 74u, 128u, 255u, 256u, 257u, 65535u })
  {
    for (const double newLevelChance : { 0.0, 0.05, 1.0 })
    {
      for (const double holeChance : { 0.0, 0.2, 0.9 })
      {
        SCOPED_TRACE(::testing::Message()
                     << numberOfGrayLevels << " levels, new with " << newLevelChance << ", holes with " << holeChance);
        const SceneJob scene({ { 40, 11, 7 } }, { { 5, 5, 5 } }, numberOfGrayLevels, newLevelChance, holeChance);
        ExpectCpuBits(scene.job, numberOfGrayLevels <= 256);
      }
    }
  }
}

TEST_F(CudaCooccurrenceJob, TablesOfFewAndManyLevels)
{
  // Smooth parts, whose windows have few levels, next to noise of more and more levels and of levels far from each
  // other: the windows of one job need all tables, and WindowWalk.
  for (const Triple & windowSize : std::vector<Triple>{ { { 5, 5, 5 } }, { { 7, 6, 5 } }, { { 9, 9, 1 } } })
  {
    for (const std::uint32_t numberOfGrayLevels : { 32u, 64u, 300u, 1000u })
    {
      SceneJob scene({ { 70, 12, windowSize[2] > 1 ? 6 : 1 } }, windowSize, numberOfGrayLevels, 0.1, 0.02);
      for (std::size_t i = 0; i < scene.levels.size(); ++i)
      {
        // Two levels on the left side, up to 16, 17 or more, 33 or more in the noise on the right.
        const std::size_t x = i % 70;
        const std::size_t noise = (i * 2654435761u >> 7) % (x < 14 ? 2 : x < 28 ? 16 : x < 42 ? 17 : x < 56 ? 33 : 400);
        scene.levels[i] = scene.levels[i] == 0 ? std::uint16_t{ 0 }
                                               : static_cast<std::uint16_t>(1 + (200 + noise) % numberOfGrayLevels);
      }
      for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
      {
        SCOPED_TRACE(::testing::Message() << windowSize[0] << ", " << numberOfGrayLevels << ", " << aggregation);
        scene.job.aggregation = aggregation;
        ExpectCpuBits(scene.job,
                      aggregation != Job::Aggregation::Merge && numberOfGrayLevels <= 256 && windowSize[0] != 7);
      }
    }
  }
}

TEST_F(CudaCooccurrenceJob, WindowsWithUpTo127Pairs)
{
  // Sums of rows of 127 pairs are up to 254, those of 128 do not fit bytes.
  struct WindowCase
  {
    Triple windowSize;
    bool   isSorted;
  };
  for (const WindowCase & window : { WindowCase{ { { 128, 1, 1 } }, true },
                                     WindowCase{ { { 129, 1, 1 } }, false },
                                     WindowCase{ { { 4, 4, 4 } }, true },
                                     WindowCase{ { { 6, 5, 4 } }, true },
                                     WindowCase{ { { 7, 6, 3 } }, true },
                                     WindowCase{ { { 3, 2, 2 } }, true },
                                     WindowCase{ { { 9, 8, 1 } }, true },
                                     WindowCase{ { { 17, 8, 1 } }, false },
                                     WindowCase{ { { 7, 7, 7 } }, false } })
  {
    for (const double newLevelChance : { 0.0, 0.5 })
    {
      SCOPED_TRACE(::testing::Message() << window.windowSize[0] << " x " << window.windowSize[1] << " x "
                                        << window.windowSize[2] << ", " << newLevelChance);
      SceneJob scene({ { 150, 9, window.windowSize[2] > 1 ? 5 : 1 } }, window.windowSize, 32, newLevelChance);
      scene.job.aggregation = Job::Aggregation::PerDirection;
      ExpectCpuBits(scene.job, window.isSorted);
    }
  }
}

TEST_F(CudaCooccurrenceJob, EveryNumberOfLevels)
{
  // All sizes of shared memory, for which blocks of different sizes are launched.
  for (const Triple & windowSize : std::vector<Triple>{ { { 5, 5, 5 } }, { { 5, 4, 3 } }, { { 2, 3, 4 } } })
  {
    for (std::uint32_t numberOfGrayLevels = 1; numberOfGrayLevels <= 256; ++numberOfGrayLevels)
    {
      SCOPED_TRACE(::testing::Message() << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2] << ", "
                                        << numberOfGrayLevels << " levels");
      SceneJob scene({ { 9, 5, 3 } }, windowSize, numberOfGrayLevels, 0.6, 0.05);
      for (const std::size_t features :
           { std::size_t{ Enums::NumberOfFeatures }, std::size_t{ Enums::NumberOfFeatures } - 1 })
      {
        scene.job.features.resize(features);
        ASSERT_TRUE(HasSameBits(ComputeOnCpu<double>(scene.job), ComputeOnDevice<double>(scene.job, "SortedPairs")));
      }
    }
  }
}

TEST_F(CudaCooccurrenceJob, FewPairsOfLargeWindows)
{
  // So much shared memory for the levels of a tile that only small blocks fit: 75 pairs at most.
  SceneJob scene({ { 300, 262, 1 } }, { { 255, 255, 1 } }, 256, 0.5, 0.1);
  scene.job.offsets = { { { 250, 240, 0 } }, { { -251, 240, 0 } } };
  scene.job.outputIndex = { { 120, 124, 0 } };
  scene.job.outputSize = { { 40, 5, 1 } };
  if (!Supports(scene.job, "SortedPairs"))
  {
    GTEST_SKIP() << "the device has too little shared memory per block";
  }
  ExpectCpuBits(scene.job, true);
  scene.job.features.pop_back();
  ExpectCpuBits(scene.job, true);
}
