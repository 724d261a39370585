// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
using Job = voxelmaps::SizeZoneJob;
using Triple = voxelmaps::Triple;
using Connectivity = Job::Connectivity;
using namespace VoxelMapsTest;
using NoiseJob = ClassNoise<Job>;

/** Cases with a window of this size, of a few voxels of a larger image with few or many levels. */
void
CheckWindow(std::uint64_t firstSeed, const Triple & windowSize, const Triple & regionSize, unsigned int count,
            std::int64_t budget)
{
  for (std::uint64_t seed = firstSeed; seed < firstSeed + count && !::testing::Test::HasFailure(); ++seed)
  {
    RandomNumbers       random(seed);
    auto                randomCase = ClassCase<Job>::Draw(seed, 3, random);
    TextureRandomCase & common = randomCase.common;
    const auto          levels = random.OneOf<std::uint32_t>({ 1, 2, 3, 5, 32, 64, 256, 65535 });
    Triple              imageSize = windowSize;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      imageSize[axis] = std::max<std::int64_t>(windowSize[axis] + random.Between(-2, 3), regionSize[axis]);
    }
    // Long runs make large and winding zones.
    DrawLargeWindow(common, imageSize, windowSize, regionSize, levels, levels, random);
    CheckDrawnCase<Job>(randomCase, random, budget);
  }
}
} // namespace

TEST(SizeZoneJob, WindowsOfBits)
{
  // All numbers of words and of slices, and rows and columns.
  const std::vector<Triple> windows{
    { { 5, 5, 5 } },  { { 5, 5, 1 } },   { { 5, 5, 3 } },   { { 5, 5, 7 } },   { { 7, 7, 7 } },   { { 7, 7, 1 } },
    { { 7, 7, 2 } },  { { 7, 7, 4 } },   { { 7, 8, 6 } },   { { 3, 3, 3 } },   { { 62, 1, 1 } },  { { 30, 1, 7 } },
    { { 31, 1, 2 } }, { { 1, 32, 5 } },  { { 1, 16, 3 } },  { { 10, 3, 2 } },  { { 9, 9, 9 } },   { { 8, 8, 8 } },
    { { 9, 8, 10 } }, { { 11, 11, 1 } }, { { 10, 10, 3 } }, { { 12, 12, 2 } }, { { 13, 13, 1 } }, { { 15, 15, 2 } },
    { { 30, 8, 1 } }, { { 1, 96, 1 } },  { { 96, 1, 1 } },  { { 2, 2, 16 } },  { { 1, 1, 32 } },  { { 3, 2, 17 } },
    { { 1, 33, 1 } }, { { 63, 2, 1 } },  { { 64, 1, 3 } },  { { 62, 2, 2 } }
  };
  std::uint64_t seed = 730000;
  for (const Triple & window : windows)
  {
    const bool isSmall = window[0] * window[1] * window[2] <= 400;
    CheckWindow(seed, window, { { 40, isSmall ? 2 : 1, isSmall ? 2 : 1 } }, 6, 300000);
    seed += 100;
  }
}

TEST(SizeZoneJob, LargerWindows)
{
  // Windows of the CPU, and of both engines.
  const std::vector<Triple> windows{ { { 9, 9, 9 } },    { { 8, 8, 1 } },    { { 63, 1, 1 } },  { { 3, 3, 8 } },
                                     { { 1, 33, 2 } },   { { 13, 12, 11 } }, { { 255, 3, 3 } }, { { 3, 250, 2 } },
                                     { { 31, 2, 2 } },   { { 1, 1, 33 } },   { { 16, 16, 1 } }, { { 250, 1, 2 } },
                                     { { 40, 40, 40 } }, { { 255, 255, 1 } } };
  std::uint64_t             seed = 740000;
  for (const Triple & window : windows)
  {
    const std::int64_t voxels = window[0] * window[1] * window[2];
    CheckWindow(seed, window, { { 3, 1, 1 } }, voxels > 10000 ? 2 : 4, 1);
    seed += 100;
  }
}

TEST(SizeZoneJob, GreatestZone)
{
  // 65,025 voxels of the greatest level.
  RandomNumbers random(1);
  auto          randomCase = ClassCase<Job>::Draw(1, 2, random);
  const Triple  size{ { 255, 255, 1 } };
  DrawLargeWindow(randomCase.common, size, size, { { 1, 1, 1 } }, 65535, 1, random);
  std::fill(randomCase.common.levels.values.begin(), randomCase.common.levels.values.end(), std::uint16_t{ 65535 });
  randomCase.parameters.features = voxelmaps::SizeZoneFeatureMapEnums::GetAllFeatures();
  CheckCase<double, Job>(randomCase, random, 1);
}

TEST(SizeZoneJob, ExceptionOfReportProgressEndsTheJobWithLargerWindows)
{
  NoiseJob noise(Triple{ { 200, 200, 10 } });
  noise.job.windowSize[0] = noise.job.windowSize[1] = 8;
  CheckProgressException(noise.job);
}

TEST(SizeZoneJob, RefusesInvalidJobs)
{
  const NoiseJob noise(Triple{ { 4, 3, 1 } });
  Job            job = noise.job;
  job.connectivity = static_cast<Connectivity>(2);
  ExpectRefusal(job, { "connectivity", "2" });
  job = noise.job;
  job.windowSize = { { 41, 40, 40 } };
  ExpectRefusal(job, { "65600", "voxels" });
}
