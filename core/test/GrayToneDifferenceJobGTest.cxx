// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceRandomCase.h"
#include "TextureJobChecks.h"

#include "voxelmaps/GrayToneDifferenceJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace
{
using Job = voxelmaps::GrayToneDifferenceJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::GrayToneDifferenceFeatureMapEnums;
using VoxelMapsTest::CheckAllEnginesAndWindowWalk;
using VoxelMapsTest::CheckProgressException;
using VoxelMapsTest::CheckFeaturesAlone;
using VoxelMapsTest::CheckRegions;
using VoxelMapsTest::CheckSelection;
using VoxelMapsTest::CheckWorkers;
using VoxelMapsTest::ComputeJob;
using VoxelMapsTest::ExpectRefusal;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::RandomNumbers;

/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal>
void
CheckCase(const GrayToneDifferenceRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  CheckAllEnginesAndWindowWalk<TReal>(
    MakeGrayToneDifferenceJob(randomCase), random, [&](const std::vector<TReal> & result, double backgroundValue) {
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
      return DrawGrayToneDifferenceRandomCase(seed, dimension, 65535, random);
    },
    [](auto & randomCase, RandomNumbers & random) { return DrawHoles(randomCase.common.levels, random); },
    [](auto real, const auto & randomCase, RandomNumbers & random) {
      CheckCase<decltype(real)>(randomCase, random, 15000);
    });
}

/** All offsets of the neighbors at a distance. */
std::vector<Triple>
OffsetsAtDistance(std::int64_t distance)
{
  std::vector<Triple> offsets;
  for (std::int64_t z = -distance; z <= distance; ++z)
  {
    for (std::int64_t y = -distance; y <= distance; ++y)
    {
      for (std::int64_t x = -distance; x <= distance; ++x)
      {
        const std::int64_t last = z != 0 ? z : y != 0 ? y : x;
        if (last > 0 && std::max({ std::abs(x), std::abs(y), std::abs(z) }) == distance)
        {
          offsets.push_back({ { x, y, z } });
        }
      }
    }
  }
  return offsets;
}

/** Noise with holes, and all features. */
struct NoiseJob : VoxelMapsTest::TextureNoiseJob<Job>
{
  explicit NoiseJob(const Triple & size, std::uint32_t numberOfGrayLevels = 16)
    : TextureNoiseJob(size, numberOfGrayLevels)
  {
    job.offsets = OffsetsAtDistance(1);
    job.features = Enums::GetAllFeatures();
  }
};
} // namespace

// Few enough for compute-sanitizer.
TEST(GrayToneDifferenceJob, SmallCases)
{
  CheckRandomCases(810000, 2, 4);
  CheckRandomCases(810100, 3, 4);
}

TEST(GrayToneDifferenceJob, RandomCasesIn2D)
{
  CheckRandomCases(811000, 2, 700);
}

TEST(GrayToneDifferenceJob, RandomCasesIn3D)
{
  CheckRandomCases(820000, 3, 700);
}

TEST(GrayToneDifferenceJob, LargeWindowsAndManyLevels)
{
  // Sums in 64 and in 128 bits, weights of few and of many neighbors, tables of few and of many levels.
  const std::vector<Triple> windows{ { { 40, 40, 40 } }, { { 255, 255, 1 } }, { { 17, 17, 17 } }, { { 11, 11, 11 } },
                                     { { 9, 9, 9 } },    { { 255, 3, 3 } },   { { 3, 250, 2 } },  { { 2, 2, 2 } } };
  const std::vector<std::uint32_t> levelCounts{ 2, 33, 256, 1000, 1025, 65535 };
  std::uint64_t                    seed = 830000;
  for (const Triple & window : windows)
  {
    for (const std::uint32_t levels : levelCounts)
    {
      for (const std::int64_t used : { std::int64_t{ 3 }, std::int64_t{ std::min<std::uint32_t>(levels, 1500) } })
      {
        ++seed;
        // The oracle takes long for the largest windows.
        const bool isLarge = window[0] * window[1] * window[2] > 1000;
        if (isLarge && (used == 3 || levels != 65535))
        {
          continue;
        }
        RandomNumbers                random(seed);
        GrayToneDifferenceRandomCase randomCase = DrawGrayToneDifferenceRandomCase(seed, 3, 65535, random);
        TextureRandomCase &          common = randomCase.common;
        common.numberOfGrayLevels = levels;
        common.window.size = window;
        for (unsigned int axis = 0; axis < 3; ++axis)
        {
          common.levels.size[axis] = window[axis] + (axis == 0 ? 6 : random.Below(2));
          common.window.anchor[axis] = random.Below(window[axis]);
          common.regionIndex[axis] = std::min<std::int64_t>(common.window.anchor[axis], common.levels.size[axis] - 1);
          common.regionSize[axis] =
            axis == 0 && !isLarge ? std::min<std::int64_t>(2, common.levels.size[0] - common.regionIndex[0]) : 1;
        }
        common.levels.values.resize(
          static_cast<std::size_t>(common.levels.size[0] * common.levels.size[1] * common.levels.size[2]));
        std::vector<std::uint16_t> palette{ 1, static_cast<std::uint16_t>(levels) };
        while (static_cast<std::int64_t>(palette.size()) < used)
        {
          palette.push_back(static_cast<std::uint16_t>(random.Between(1, levels)));
        }
        const double change = random.OneOf<double>({ 0.01, 0.2, 1.0 });
        for (std::size_t i = 0; i < common.levels.values.size(); ++i)
        {
          common.levels.values[i] =
            i == 0 || random.Chance(change) ? random.OneOf(palette) : common.levels.values[i - 1];
        }
        randomCase.parameters.offsets = OffsetsAtDistance(random.Chance(0.7) ? 1 : 2);
        common.offsets = randomCase.parameters.offsets;
        SCOPED_TRACE(::testing::Message() << randomCase << ", " << used << " levels used");
        CheckCase<double>(randomCase, random, 100);
        if (::testing::Test::HasFailure())
        {
          return;
        }
      }
    }
  }
}

TEST(GrayToneDifferenceJob, ThousandsOfNeighbors)
{
  // Voxels of extreme levels with up to 575 neighbors; weights of 2208.
  constexpr std::int64_t       edge = 24;
  RandomNumbers                random(9);
  GrayToneDifferenceRandomCase randomCase;
  TextureRandomCase &          common = randomCase.common;
  common.dimension = 2;
  common.numberOfGrayLevels = 65535;
  common.levels.size = { { edge, edge, 1 } };
  for (std::int64_t i = 0; i < edge * edge; ++i)
  {
    common.levels.values.push_back(static_cast<std::uint16_t>(random.Chance(0.3)   ? 65535
                                                              : random.Chance(0.9) ? 1
                                                                                   : random.Between(2, 65534)));
  }
  common.window.size = common.levels.size;
  common.window.anchor = { { edge / 2, edge / 2, 0 } };
  common.regionIndex = { { edge / 2, edge / 2, 0 } };
  for (std::int64_t y = 0; y < edge; ++y)
  {
    for (std::int64_t x = 1 - edge; x < edge; ++x)
    {
      if (y > 0 || x > 0)
      {
        common.offsets.push_back({ { x, y, 0 } });
      }
    }
  }
  randomCase.parameters.offsets = common.offsets;
  randomCase.parameters.features = Enums::GetAllFeatures();
  CheckCase<double>(randomCase, random, 1);
}

TEST(GrayToneDifferenceJob, WorkersDoNotChangeBits)
{
  CheckWorkers(NoiseJob(Triple{ { 197, 61, 3 } }).job);
}

TEST(GrayToneDifferenceJob, RegionsDoNotChangeBits)
{
  CheckRegions(NoiseJob(Triple{ { 150, 27, 24 } }, 40).job);
}

TEST(GrayToneDifferenceJob, AFeatureHasTheSameBitsInAnySelection)
{
  for (const std::uint32_t levels : { 5u, 300u, 65535u })
  {
    CheckFeaturesAlone(NoiseJob(Triple{ { 20, 9, 3 } }, levels).job);
  }
}

TEST(GrayToneDifferenceJob, ASelectionIsComputedAlone)
{
  CheckSelection(NoiseJob(Triple{ { 200, 11, 2 } }).job);
}

TEST(GrayToneDifferenceJob, OffsetsLongerThanTheWindowDoNotMatter)
{
  NoiseJob   noise(Triple{ { 60, 20, 5 } });
  const auto expected = ComputeJob<double>(noise.job);
  noise.job.offsets.push_back({ { 3, 0, 0 } });
  noise.job.offsets.push_back({ { 1, 1, -4 } });
  std::rotate(noise.job.offsets.begin(), noise.job.offsets.begin() + 5, noise.job.offsets.end());
  EXPECT_TRUE(HasSameBits(expected, ComputeJob<double>(noise.job)));
}

TEST(GrayToneDifferenceJob, AnExceptionOfReportProgressEndsTheJob)
{
  CheckProgressException(NoiseJob(Triple{ { 200, 100, 40 } }).job);
}

TEST(GrayToneDifferenceJob, RefusesWhatBreaksARule)
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
  job.offsets = { { { 1, 0, 0 } }, { { -1, 0, 0 } } };
  ExpectRefusal(job, { "offset", "twice" });

  job = noise.job;
  job.features.clear();
  ExpectRefusal(job, { "0", "features", "5" });
  job.features = { Job::Feature::Contrast, static_cast<Job::Feature>(5) };
  ExpectRefusal(job, { "features", "5" });
  job.features = { Job::Feature::Contrast, Job::Feature::Contrast };
  ExpectRefusal(job, { "twice", "3" });

  job = noise.job;
  job.outputSize = { { 0, 3, 1 } };
  EXPECT_TRUE(ComputeJob<float>(job).empty());
}
