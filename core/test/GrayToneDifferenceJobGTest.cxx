// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{
using Job = voxelmaps::GrayToneDifferenceJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::GrayToneDifferenceFeatureMapEnums;
using namespace VoxelMapsTest;
using NoiseJob = ClassNoise<Job>;
using SceneJob = NeighborScene<Job>;
} // namespace

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
        RandomNumbers       random(seed);
        auto                randomCase = ClassCase<Job>::Draw(seed, 3, random);
        TextureRandomCase & common = randomCase.common;
        DrawLargeWindow(common, window, levels, used, isLarge ? 1 : 2, random);
        auto & offsets = randomCase.parameters.offsets;
        offsets = GetNeighborOffsets(true, random.Chance(0.7) ? 1 : 2);
        if (offsets.size() > 13)
        {
          // Only the neighbors at distance 2.
          offsets.erase(std::remove_if(offsets.begin(),
                                       offsets.end(),
                                       [](const Triple & offset) {
                                         return std::abs(offset[0]) < 2 && std::abs(offset[1]) < 2 && offset[2] < 2;
                                       }),
                        offsets.end());
        }
        common.offsets = offsets;
        SCOPED_TRACE(::testing::Message() << randomCase << ", " << used << " levels used");
        CheckCase<double, Job>(randomCase, random, 100);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

TEST(GrayToneDifferenceJob, ThousandsOfNeighbors)
{
  // Voxels of extreme levels with up to 575 neighbors; weights of 2208.
  constexpr std::int64_t edge = 24;
  RandomNumbers          random(9);
  ClassRandomCase<Job>   randomCase;
  TextureRandomCase &    common = randomCase.common;
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
  randomCase.parameters.offsets = common.offsets = GetNeighborOffsets(false, edge - 1);
  randomCase.parameters.features = Enums::GetAllFeatures();
  CheckCase<double, Job>(randomCase, random, 1);
}

TEST(GrayToneDifferenceJob, RefusesOppositeOffsets)
{
  const NoiseJob noise(Triple{ { 4, 3, 1 } });
  Job            job = noise.job;
  job.offsets = { { { 1, 0, 0 } }, { { -1, 0, 0 } } };
  ExpectRefusal(job, { "offset", "twice" });
}

// What only the CUDA engine has.
namespace
{

class CudaGrayToneDifferenceJob : public CudaTest
{};
} // namespace

TEST_F(CudaGrayToneDifferenceJob, ChoosesTablesForFewLevelsAndAllNeighbors)
{
  ExpectCpuBits(SceneJob({ { 9, 8, 7 } }, { { 3, 3, 3 } }, 8, 0.5).job, "LevelTables");
  for (const bool hasManyLevels : { true, false })
  {
    SceneJob scene({ { 9, 8, 7 } }, { { 3, 3, 3 } }, hasManyLevels ? 65535 : 8, 0.5);
    if (!hasManyLevels)
    {
      scene.job.offsets.pop_back(); // not all neighbors of a box
    }
    EXPECT_FALSE(Supports(scene.job, "LevelTables"));
    ExpectCpuBits(scene.job, "WindowWalk");
  }
}
