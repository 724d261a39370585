// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

// What only the CUDA engine has; everything else is tested by CooccurrenceJobGTest.cxx.
namespace
{
using Job = voxelmaps::CooccurrenceJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
using Method = Enums::CudaMethod;
using namespace VoxelMapsTest;
using SceneJob = NeighborScene<Job>;

class CudaCooccurrenceJob : public CudaTest
{};

/** Expect the bits of the CPU, and that Automatic chooses SortedPairs if it is to support the job, or the next method
 * that does. */
void
ExpectCpuBits(const Job & job, bool isSorted)
{
  EXPECT_EQ(isSorted, Supports(job, Method::SortedPairs));
  VoxelMapsTest::ExpectCpuBits(job,
                               isSorted                            ? Method::SortedPairs
                               : Supports(job, Method::RankTables) ? Method::RankTables
                                                                   : Method::WindowWalk);
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
      for (const Method method : { Method::SortedPairs, Method::RankTables })
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

TEST_F(CudaCooccurrenceJob, OffsetsLongerThanTheWindow)
{
  SceneJob scene({ { 33, 20, 3 } }, { { 5, 1, 1 } }, 9, 0.5);
  scene.job.offsets = { { { 0, 2, 0 } }, { { 1, 0, 0 } }, { { 1, 3, 0 } }, { { 0, 1, 1 } } };
  ExpectCpuBits(scene.job, true);
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
          const Method method = Supports(scene.job, Method::RankTables) ? Method::RankTables : Method::Automatic;
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
        ASSERT_TRUE(
          HasSameBits(ComputeOnCpu<double>(scene.job), ComputeOnDevice<double>(scene.job, Method::SortedPairs)));
      }
    }
  }
}

TEST_F(CudaCooccurrenceJob, EveryFeatureAlone)
{
  for (const std::uint32_t numberOfGrayLevels : { 32u, 200u })
  {
    SceneJob scene({ { 40, 11, 6 } }, { { 5, 4, 3 } }, numberOfGrayLevels, 0.7, 0.1);
    for (const Enums::Feature feature : Enums::GetAllFeatures())
    {
      SCOPED_TRACE(::testing::Message() << feature);
      scene.job.features = { feature };
      ExpectCpuBits(scene.job, true);
    }
  }
}

TEST_F(CudaCooccurrenceJob, DistancesAndAsymmetricMatrices)
{
  SceneJob scene({ { 40, 21, 6 } }, { { 5, 5, 5 } }, 32, 0.7, 0.1);
  // Also one that no window has a pair of, and both of two opposite ones.
  scene.job.offsets = { { { 2, 0, 0 } },  { { -2, 1, 0 } },  { { 0, -1, -2 } }, { { 5, 0, 0 } },
                        { { 4, -4, 4 } }, { { -4, 4, -4 } }, { { 0, 0, 1 } } };
  for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
  {
    for (const bool symmetric : { true, false })
    {
      scene.job.aggregation = aggregation;
      scene.job.symmetric = symmetric;
      const bool isSorted = symmetric && aggregation != Job::Aggregation::Merge;
      ExpectCpuBits(scene.job, isSorted);
    }
  }
  scene.job.offsets.resize(1);
  scene.job.symmetric = true;
  ExpectCpuBits(scene.job, true);
}

TEST_F(CudaCooccurrenceJob, FewPairsOfLargeWindows)
{
  // So much shared memory for the levels of a tile that only small blocks fit: 75 pairs at most.
  SceneJob scene({ { 300, 262, 1 } }, { { 255, 255, 1 } }, 256, 0.5, 0.1);
  scene.job.offsets = { { { 250, 240, 0 } }, { { -251, 240, 0 } } };
  scene.job.outputIndex = { { 120, 124, 0 } };
  scene.job.outputSize = { { 40, 5, 1 } };
  if (!Supports(scene.job, Method::SortedPairs))
  {
    GTEST_SKIP() << "the device has too little shared memory per block";
  }
  ExpectCpuBits(scene.job, true);
  scene.job.features.pop_back();
  ExpectCpuBits(scene.job, true);
}
