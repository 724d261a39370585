// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

// What only the CUDA engine has; everything else is tested by DependenceJobGTest.cxx.
namespace
{
using Job = voxelmaps::DependenceJob;
using Triple = voxelmaps::Triple;
using Method = voxelmaps::DependenceFeatureMapEnums::CudaMethod;
using namespace VoxelMapsTest;
using SceneJob = NeighborScene<Job>;

class CudaDependenceJob : public CudaTest
{};

/** What Automatic chooses for a job with near neighbors. */
Method
GetExpectedMethod(const Job & job)
{
  const Triple &     size = job.windowSize;
  const std::int64_t width = *std::max_element(size.begin(), size.end());
  const bool         haveBits =
    job.numberOfGrayLevels < 64 ? width <= 9 : job.numberOfGrayLevels < 512 && size[2] > 1 && width <= 7;
  return haveBits ? Method::BitPlanes : Method::WindowWalk;
}
} // namespace

TEST_F(CudaDependenceJob, SmallCases)
{
  // For compute-sanitizer: few voxels, all methods and features.
  for (const std::int64_t side : { 3, 5, 7, 9 })
  {
    SceneJob                  scene({ { 7, 5, 3 } }, { { side, side, side } }, 60, 0.6, 0.1);
    std::vector<std::uint8_t> selection(scene.levels.size(), 1);
    selection[10] = 0;
    scene.job.selection = selection.data();
    ExpectCpuBits(scene.job, Method::BitPlanes);
  }
}

TEST_F(CudaDependenceJob, ManyAndFewLevelsInAWindow)
{
  // Levels of 6, 9 and 16 bits. One level in all windows, a few, as many as there are voxels.
  for (const std::int64_t side : { 3, 5, 7, 9 })
  {
    for (const std::uint32_t numberOfGrayLevels : { 1u, 32u, 63u, 64u, 511u, 512u, 65535u })
    {
      for (const double newLevelChance : { 0.05, 1.0 })
      {
        for (const std::uint32_t alpha : { 0u, 1u, 40u, 65535u })
        {
          SCOPED_TRACE(::testing::Message() << side << ", " << numberOfGrayLevels << " levels, new with "
                                            << newLevelChance << ", alpha " << alpha);
          SceneJob scene({ { 35, 11, 9 } }, { { side, side, side } }, numberOfGrayLevels, newLevelChance, 0.1);
          scene.job.alpha = alpha;
          ExpectCpuBits(scene.job, GetExpectedMethod(scene.job));
          ASSERT_FALSE(::testing::Test::HasFailure());
        }
      }
    }
  }
}

TEST_F(CudaDependenceJob, WindowsOfAllShapes)
{
  const std::vector<Triple> windows{ { { 1, 1, 1 } }, { { 5, 1, 1 } },  { { 1, 6, 1 } }, { { 1, 1, 9 } },
                                     { { 2, 2, 2 } }, { { 2, 3, 4 } },  { { 5, 5, 1 } }, { { 4, 8, 6 } },
                                     { { 9, 1, 3 } }, { { 10, 2, 3 } }, { { 10, 5, 3 } } };
  for (const Triple & windowSize : windows)
  {
    SCOPED_TRACE(::testing::Message() << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2]);
    SceneJob     scene({ { 70, 13, 10 } }, windowSize, 32, 0.6, 0.3);
    const Method method = GetExpectedMethod(scene.job);
    ExpectCpuBits(scene.job, method);
    // Anchors at the faces.
    scene.job.windowAnchor = { { windowSize[0] - 1, 0, windowSize[2] - 1 } };
    ExpectCpuBits(scene.job, method);
    // Some of the neighbors.
    for (const std::size_t number : { 12, 7, 3, 1 })
    {
      scene.job.offsets.resize(number);
      ExpectCpuBits(scene.job, method);
    }
  }
}

TEST_F(CudaDependenceJob, DistantNeighbors)
{
  SceneJob scene({ { 40, 13, 10 } }, { { 5, 5, 5 } }, 8, 0.6, 0.1);
  scene.job.offsets.push_back({ { 0, 0, 2 } });
  ExpectCpuBits(scene.job, Method::WindowWalk);
  // Which the window cannot hold.
  scene.job.offsets.back() = { { 0, 0, 5 } };
  ExpectCpuBits(scene.job, Method::BitPlanes);
}
