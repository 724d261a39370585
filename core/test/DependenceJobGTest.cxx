// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <vector>

namespace
{
using Job = voxelmaps::DependenceJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::DependenceFeatureMapEnums;
using namespace VoxelMapsTest;
using SceneJob = NeighborScene<Job>;
} // namespace

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
      RandomNumbers random(++seed);
      auto          randomCase = ClassCase<Job>::Draw(seed, 3, random);
      DrawLargeWindow(randomCase.common, window, levels, levels, 4, random);
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckCase<double, Job>(randomCase, random, 100);
      ASSERT_FALSE(::testing::Test::HasFailure());
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
      RandomNumbers random(++seed);
      auto          randomCase = ClassCase<Job>::Draw(seed, 3, random, 4);
      randomCase.parameters.offsets = GetNeighborOffsets(true, distance);
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
      CheckCase<double, Job>(randomCase, random, 20000);
    }
  }
}

TEST(DependenceJob, RefusesOffsetsThatAreGivenTwice)
{
  const ClassNoise<Job> noise(Triple{ { 4, 3, 1 } });
  Job                   job = noise.job;
  job.offsets = { { { 1, 0, 0 } }, { { 1, -2, 0 } }, { { 1, 0, 0 } } };
  ExpectRefusal(job, { "offset", "1, 0, 0", "twice" });
  job.offsets = { { { 1, 0, 0 } }, { { 1, -2, 0 } }, { { -1, 2, 0 } } };
  ExpectRefusal(job, { "offset", "-1, 2, 0", "twice" });
}

// What only the CUDA engine has.
namespace
{

class CudaDependenceJob : public CudaTest
{};
} // namespace

TEST_F(CudaDependenceJob, DistantNeighbors)
{
  SceneJob scene({ { 40, 13, 10 } }, { { 5, 5, 5 } }, 8, 0.6, 0.1);
  scene.job.offsets.push_back({ { 0, 0, 2 } });
  ExpectCpuBits(scene.job, "WindowWalk");
  // Which the window cannot hold.
  scene.job.offsets.back() = { { 0, 0, 5 } };
  ExpectCpuBits(scene.job, "BitPlanes");
}
