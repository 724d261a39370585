// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceRandomCase.h"
#include "TextureJobChecks.h"

#include "voxelmaps/DependenceJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace
{
using Job = voxelmaps::DependenceJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::DependenceFeatureMapEnums;
using VoxelMapsTest::CheckAllEnginesAndWindowWalk;
using VoxelMapsTest::CheckProgressException;
using VoxelMapsTest::CheckFeaturesAlone;
using VoxelMapsTest::CheckRegions;
using VoxelMapsTest::CheckSelection;
using VoxelMapsTest::CheckWorkers;
using VoxelMapsTest::DependenceRandomCase;
using VoxelMapsTest::DrawDependenceRandomCase;
using VoxelMapsTest::ExpectRefusal;
using VoxelMapsTest::RandomNumbers;

/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal>
void
CheckCase(const DependenceRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  CheckAllEnginesAndWindowWalk<TReal>(
    MakeDependenceJob(randomCase), random, [&](const std::vector<TReal> & result, double backgroundValue) {
      return AgreesWithOracle(randomCase, result, backgroundValue, random, budget);
    });
}

void
CheckRandomCases(std::uint64_t firstSeed, unsigned int dimension, unsigned int count)
{
  VoxelMapsTest::CheckDrawnCases(
    firstSeed,
    count,
    [dimension](std::uint64_t seed, RandomNumbers & random) {
      return DrawDependenceRandomCase(seed, dimension, 65535, random);
    },
    [](auto & randomCase, RandomNumbers & random) { return DrawHoles(randomCase.common.levels, random); },
    [](auto real, const auto & randomCase, RandomNumbers & random) {
      CheckCase<decltype(real)>(randomCase, random, 15000);
    });
}

/** Noise with holes, and all features. */
struct NoiseJob : VoxelMapsTest::TextureNoiseJob<Job>
{
  explicit NoiseJob(const Triple & size, std::uint32_t numberOfGrayLevels = 16)
    : TextureNoiseJob(size, numberOfGrayLevels)
  {
    job.offsets = { { { 1, 0, 0 } }, { { -1, 1, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } } };
    job.features = Enums::GetAllFeatures();
  }
};
} // namespace

// Few enough for compute-sanitizer.
TEST(DependenceJob, SmallCases)
{
  CheckRandomCases(709000, 2, 4);
  CheckRandomCases(709100, 3, 4);
}

TEST(DependenceJob, RandomCasesIn2D)
{
  CheckRandomCases(710000, 2, 400);
}

TEST(DependenceJob, RandomCasesIn3D)
{
  CheckRandomCases(720000, 3, 400);
}

TEST(DependenceJob, LargeWindowsAndManyLevels)
{
  // Counts of 8 and 16 bits, elements cleared at once and one by one, offsets too many for tiles.
  const std::vector<Triple> windows{ { { 40, 40, 40 } }, { { 255, 255, 1 } }, { { 17, 17, 17 } }, { { 11, 11, 11 } },
                                     { { 9, 9, 9 } },    { { 255, 1, 1 } },   { { 128, 2, 1 } } };
  std::uint64_t             seed = 730000;
  for (const Triple & window : windows)
  {
    const bool isLarge = window[0] * window[1] * window[2] > 20000;
    for (const std::uint32_t levels : { 33u, 65535u, 1u, 2u, 256u, 1000u })
    {
      if (isLarge && levels != 33 && levels != 65535)
      {
        continue; // the oracle takes long
      }
      RandomNumbers        random(++seed);
      DependenceRandomCase randomCase = DrawDependenceRandomCase(seed, 3, 65535, random);
      TextureRandomCase &  common = randomCase.common;
      common.numberOfGrayLevels = levels;
      common.window.size = window;
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        common.levels.size[axis] = window[axis] + (axis == 0 ? 6 : random.Below(2));
        common.window.anchor[axis] = random.Below(window[axis]);
        common.regionIndex[axis] = std::min<std::int64_t>(common.window.anchor[axis], common.levels.size[axis] - 1);
        common.regionSize[axis] =
          axis == 0 ? std::min<std::int64_t>(4, common.levels.size[0] - common.regionIndex[0]) : 1;
      }
      common.levels.values.resize(
        static_cast<std::size_t>(common.levels.size[0] * common.levels.size[1] * common.levels.size[2]));
      const double change = random.OneOf<double>({ 0.01, 0.2, 1.0 });
      for (std::size_t i = 0; i < common.levels.values.size(); ++i)
      {
        common.levels.values[i] = i == 0 || random.Chance(change)
                                    ? static_cast<std::uint16_t>(random.Between(1, levels))
                                    : common.levels.values[i - 1];
      }
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckCase<double>(randomCase, random, 100);
      if (::testing::Test::HasFailure())
      {
        return;
      }
    }
  }
}

TEST(DependenceJob, ManyOffsets)
{
  // 62 of distances 1 and 2 can be counted in bytes, the 171 up to distance 3 cannot.
  std::uint64_t seed = 740000;
  for (const std::int64_t distance : { 2, 3 })
  {
    for (const std::uint32_t levels : { 1u, 2u, 40u })
    {
      RandomNumbers        random(++seed);
      DependenceRandomCase randomCase = DrawDependenceRandomCase(seed, 3, 4, random);
      randomCase.parameters.offsets.clear();
      const std::int64_t side = 2 * distance + 1;
      // The second half of the cube around a voxel.
      for (std::int64_t i = side * side * side / 2 + 1; i < side * side * side; ++i)
      {
        randomCase.parameters.offsets.push_back(
          { { i % side - distance, i / side % side - distance, i / (side * side) - distance } });
      }
      TextureRandomCase & common = randomCase.common;
      common.numberOfGrayLevels = levels;
      common.levels.size = { { 9, 8, 8 } };
      common.window = { { { 8, 7, 7 } }, { { 4, 3, 3 } } };
      common.regionIndex = { { 0, 0, 3 } };
      common.regionSize = { { 9, 8, 2 } };
      common.levels.values.resize(9 * 8 * 8);
      for (std::uint16_t & level : common.levels.values)
      {
        level = static_cast<std::uint16_t>(random.Between(1, levels));
      }
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckCase<double>(randomCase, random, 20000);
    }
  }
}

TEST(DependenceJob, WorkersDoNotChangeBits)
{
  CheckWorkers(NoiseJob(Triple{ { 97, 61, 3 } }).job);
}

TEST(DependenceJob, RegionsDoNotChangeBits)
{
  CheckRegions(NoiseJob(Triple{ { 150, 7, 4 } }, 40).job);
}

TEST(DependenceJob, AFeatureHasTheSameBitsInAnySelection)
{
  for (const std::uint32_t levels : { 5u, 300u, 65535u })
  {
    CheckFeaturesAlone(NoiseJob(Triple{ { 20, 9, 3 } }, levels).job);
  }
}

TEST(DependenceJob, ASelectionIsComputedAlone)
{
  CheckSelection(NoiseJob(Triple{ { 200, 11, 2 } }).job);
}

TEST(DependenceJob, AnExceptionOfReportProgressEndsTheJob)
{
  CheckProgressException(NoiseJob(Triple{ { 300, 300, 10 } }).job);
}

TEST(DependenceJob, RefusesWhatBreaksARule)
{
  const NoiseJob noise(Triple{ { 4, 3, 1 } });
  Job            job = noise.job;
  job.offsets.clear();
  ExpectRefusal(job, { "0", "offsets", "4096" });
  job.offsets.assign(4097, Triple{ { 1, 0, 0 } });
  ExpectRefusal(job, { "4097", "offsets", "4096" });
  job.offsets = { { { 1, 0, 0 } }, { { 0, 0, 0 } } };
  ExpectRefusal(job, { "offset", "0, 0, 0" });
  job.offsets = { { { 1, 255, 0 } } };
  ExpectRefusal(job, { "offset", "255", "254" });
  job.offsets = { { { 1, 0, -255 } } };
  ExpectRefusal(job, { "offset", "255", "254" });
  job.offsets = { { { 1, 0, 0 } }, { { 1, -2, 0 } }, { { 1, 0, 0 } } };
  ExpectRefusal(job, { "offset", "1, 0, 0", "twice" });
  job.offsets = { { { 1, 0, 0 } }, { { 1, -2, 0 } }, { { -1, 2, 0 } } };
  ExpectRefusal(job, { "offset", "-1, 2, 0", "twice" });

  job = noise.job;
  job.features.clear();
  ExpectRefusal(job, { "0", "features", "14" });
  job.features = { Job::Feature::DependenceEntropy, static_cast<Job::Feature>(14) };
  ExpectRefusal(job, { "features", "14" });
  job.features = { Job::Feature::DependenceEntropy, Job::Feature::DependenceEntropy };
  ExpectRefusal(job, { "twice", "7" });
}
