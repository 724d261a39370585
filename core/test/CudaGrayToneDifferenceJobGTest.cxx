// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"

#include <gtest/gtest.h>

#include <vector>

// What only the CUDA engine has; everything else is tested by GrayToneDifferenceJobGTest.cxx.
namespace
{
using Job = voxelmaps::GrayToneDifferenceJob;
using Triple = voxelmaps::Triple;
using Method = voxelmaps::GrayToneDifferenceFeatureMapEnums::CudaMethod;
using namespace VoxelMapsTest;
using SceneJob = NeighborScene<Job>;

class CudaGrayToneDifferenceJob : public CudaTest
{};
} // namespace

TEST_F(CudaGrayToneDifferenceJob, SmallCases)
{
  // For compute-sanitizer: few voxels, all methods and features.
  for (const std::uint32_t numberOfGrayLevels : { 5u, 64u, 5000u })
  {
    SceneJob                  scene({ { 7, 5, 3 } }, { { 5, 5, 5 } }, numberOfGrayLevels, 0.6, 0.1);
    std::vector<std::uint8_t> selection(scene.levels.size(), 1);
    selection[10] = 0;
    scene.job.selection = selection.data();
    ExpectCpuBits(scene.job, numberOfGrayLevels < 5000 ? Method::LevelTables : Method::WindowWalk);
  }
}

TEST_F(CudaGrayToneDifferenceJob, ManyAndFewLevelsInAWindow)
{
  // One level in all windows, a few, as many as there are voxels; blocks of all sizes.
  for (const std::uint32_t numberOfGrayLevels : { 1u, 2u, 32u, 64u, 128u, 200u, 256u, 400u, 1000u, 65535u })
  {
    for (const double newLevelChance : { 0.0, 0.05, 1.0 })
    {
      for (const double holeChance : { 0.0, 0.2, 0.9 })
      {
        SCOPED_TRACE(::testing::Message()
                     << numberOfGrayLevels << " levels, new with " << newLevelChance << ", holes with " << holeChance);
        const SceneJob scene({ { 70, 11, 7 } }, { { 5, 5, 5 } }, numberOfGrayLevels, newLevelChance, holeChance);
        // Tables of many levels do not fit the shared memory of all devices.
        EXPECT_TRUE(numberOfGrayLevels >= 256 || Supports(scene.job, Method::LevelTables));
        voxelmaps::CudaTextureReport<voxelmaps::GrayToneDifferenceJob> report;
        ComputeOnDevice<float>(scene.job, Method::Automatic, report);
        ExpectCpuBits(scene.job, report.method);
      }
    }
  }
}

TEST_F(CudaGrayToneDifferenceJob, WindowsOfAllShapes)
{
  const std::vector<Triple> windows{ { { 1, 1, 1 } }, { { 5, 1, 1 } }, { { 1, 6, 1 } }, { { 1, 1, 4 } },
                                     { { 2, 2, 2 } }, { { 2, 3, 4 } }, { { 5, 5, 1 } }, { { 7, 7, 7 } },
                                     { { 9, 9, 9 } }, { { 33, 2, 3 } } };
  for (const Triple & windowSize : windows)
  {
    for (const bool countVoxelsWithoutNeighbors : { true, false })
    {
      SCOPED_TRACE(::testing::Message() << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2]);
      SceneJob scene({ { 70, 13, 10 } }, windowSize, 32, 0.6, 0.3);
      scene.job.countVoxelsWithoutNeighbors = countVoxelsWithoutNeighbors;
      ExpectCpuBits(scene.job, Method::LevelTables);
      // Neighbors in the plane alone.
      scene.job.offsets.resize(4);
      ExpectCpuBits(scene.job, Method::LevelTables);
    }
  }
}

TEST_F(CudaGrayToneDifferenceJob, UnsupportedMethodThrows)
{
  for (const bool hasManyLevels : { true, false })
  {
    SceneJob scene({ { 9, 8, 7 } }, { { 3, 3, 3 } }, hasManyLevels ? 65535 : 8, 0.5);
    if (!hasManyLevels)
    {
      scene.job.offsets.pop_back(); // not all neighbors of a box
    }
    EXPECT_FALSE(Supports(scene.job, Method::LevelTables));
    ExpectCpuBits(scene.job, Method::WindowWalk);
  }
}
