// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"

#include "glrlm/paper/CudaSortReduce.h"
#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

// The matrices of SortReduce, which no feature shows, and the windows of Zhang et al. (2019).
namespace
{
using namespace VoxelMapsTest;
using Job = voxelmaps::RunLengthJob;
using Triple = voxelmaps::Triple;
using voxelmaps::RunLengthElement;

class CudaSortReduce : public CudaTest
{};

// 0, 45, 90 and 135 degrees.
const std::vector<Triple> paperDirections{ { { 1, 0, 0 } }, { { 1, -1, 0 } }, { { 0, -1, 0 } }, { { -1, -1, 0 } } };

/** Number of voxels with a level in the window of an output voxel; 0 if it is not computed. */
std::uint64_t
CountWindowVoxels(const Job & job, std::int64_t number)
{
  const Triple voxel{ { number % job.outputSize[0],
                        number / job.outputSize[0] % job.outputSize[1],
                        number / job.outputSize[0] / job.outputSize[1] } };
  const auto   level = [&job](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Triple at{ { x, y, z } };
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      if (at[axis] < 0 || at[axis] >= job.levelsSize[axis])
      {
        return 0;
      }
    }
    return static_cast<int>(job.levels[(z * job.levelsSize[1] + y) * job.levelsSize[0] + x]);
  };
  if (level(voxel[0], voxel[1], voxel[2]) == 0 || (job.selection != nullptr && job.selection[number] == 0))
  {
    return 0;
  }
  std::uint64_t count = 0;
  for (std::int64_t z = 0; z < job.windowSize[2]; ++z)
  {
    for (std::int64_t y = 0; y < job.windowSize[1]; ++y)
    {
      for (std::int64_t x = 0; x < job.windowSize[0]; ++x)
      {
        count += level(voxel[0] - job.windowAnchor[0] + x,
                       voxel[1] - job.windowAnchor[1] + y,
                       voxel[2] - job.windowAnchor[2] + z) > 0
                   ? 1
                   : 0;
      }
    }
  }
  return count;
}
} // namespace

TEST_F(CudaSortReduce, MatricesOfThePaper)
{
  // Tables 1 and 2; the level of an intensity is greater by 1.
  const std::vector<std::uint16_t>                       image{ 0,   255, 113, 113, 42, //
                                          255, 42,  113, 113, 0,  //
                                          128, 113, 255, 0,   42, //
                                          113, 255, 0,   128, 42, //
                                          42,  113, 128, 255, 255 };
  const std::array<std::uint16_t, 5>                     intensities{ 0, 42, 113, 128, 255 };
  const std::array<std::array<std::array<int, 5>, 5>, 4> expected{ {
    { { { 4, 0, 0, 0, 0 }, { 5, 0, 0, 0, 0 }, { 3, 2, 0, 0, 0 }, { 3, 0, 0, 0, 0 }, { 4, 1, 0, 0, 0 } } },
    { { { 1, 0, 1, 0, 0 }, { 5, 0, 0, 0, 0 }, { 3, 0, 0, 1, 0 }, { 1, 1, 0, 0, 0 }, { 2, 2, 0, 0, 0 } } },
    { { { 4, 0, 0, 0, 0 }, { 3, 1, 0, 0, 0 }, { 3, 2, 0, 0, 0 }, { 3, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0 } } },
    { { { 4, 0, 0, 0, 0 }, { 5, 0, 0, 0, 0 }, { 3, 2, 0, 0, 0 }, { 3, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0 } } },
  } };
  std::vector<std::uint16_t>                             levels;
  for (const std::uint16_t intensity : image)
  {
    levels.push_back(static_cast<std::uint16_t>(intensity + 1));
  }
  float output[44];
  Job   job;
  job.levels = levels.data();
  job.levelsSize = { { 5, 5, 1 } };
  job.numberOfGrayLevels = 256;
  job.output = output;
  job.outputSize = { { 1, 1, 1 } };
  job.windowSize = { { 5, 5, 1 } };
  job.offsets = paperDirections;
  job.features = Job::Enums::GetElevenFeatures();
  job.aggregation = Job::Aggregation::PerDirection;
  const auto matrices = voxelmaps::ComputeSortReduceMatrices(job);
  ASSERT_EQ(4u, matrices.size());
  for (std::size_t d = 0; d < 4; ++d)
  {
    std::vector<std::tuple<int, int, int>> wanted;
    std::vector<std::tuple<int, int, int>> found;
    for (std::size_t i = 0; i < 5; ++i)
    {
      for (int j = 0; j < 5; ++j)
      {
        if (expected[d][i][static_cast<std::size_t>(j)] > 0)
        {
          wanted.emplace_back(intensities[i] + 1, j + 1, expected[d][i][static_cast<std::size_t>(j)]);
        }
      }
    }
    for (const RunLengthElement & element : matrices[d].elements)
    {
      EXPECT_EQ(0, element.voxel);
      found.emplace_back(element.level, element.length, element.runs);
    }
    EXPECT_EQ(wanted, found) << "direction " << d;
  }
}

TEST_F(CudaSortReduce, LengthsOfRunsAddUpToTheVoxels)
{
  // Equation (1), for every window of every direction.
  for (const Triple & size : { Triple{ { 150, 9, 1 } }, Triple{ { 11, 7, 6 } }, Triple{ { 1, 1, 1 } } })
  {
    for (const Triple & windowSize : { Triple{ { 4, 4, 1 } }, Triple{ { 3, 5, 4 } }, Triple{ { 20, 20, 1 } } })
    {
      for (const bool isMerged : { false, true })
      {
        SCOPED_TRACE(::testing::Message() << size[0] << " x " << size[1] << " x " << size[2] << ", window "
                                          << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2]);
        TextureScene<Job> scene(size, windowSize, 9, 0.3, 0.1);
        scene.SetAllNeighbors();
        Job & job = scene.job;
        job.selection = size[0] > 1 ? scene.selection.data() : nullptr;
        job.aggregation = isMerged ? Job::Aggregation::Merge : Job::Aggregation::PerDirection;
        std::vector<float> output(CountNumbers(job));
        job.output = output.data();
        const auto matrices = voxelmaps::ComputeSortReduceMatrices(job);
        ASSERT_EQ(isMerged ? 1u : job.offsets.size(), matrices.size());
        for (const auto & matrix : matrices)
        {
          std::vector<std::uint64_t> voxels(static_cast<std::size_t>(size[0] * size[1] * size[2]), 0);
          for (const RunLengthElement & element : matrix.elements)
          {
            voxels[static_cast<std::size_t>(element.voxel)] += std::uint64_t{ element.length } * element.runs;
          }
          for (std::size_t i = 0; i < voxels.size(); ++i)
          {
            const std::uint64_t expected = CountWindowVoxels(job, static_cast<std::int64_t>(i));
            ASSERT_EQ(expected * (isMerged ? job.offsets.size() : 1), voxels[i]) << "voxel " << i;
          }
        }
      }
    }
  }
}

TEST_F(CudaSortReduce, WindowsOfThePaperHaveTheBitsOfTheCpu)
{
  // Figure 11: 4 x 4 to 20 x 20, anchored at the corner; several tiles in a row, and batches by the memory.
  for (const std::int64_t side : { 4, 8, 12, 16, 20 })
  {
    for (const std::uint32_t levels : { 2u, 256u, 65535u })
    {
      for (const auto aggregation : voxelmaps::GetEnumerators<Job::Aggregation>())
      {
        SCOPED_TRACE(::testing::Message() << side << ", " << levels << " levels, " << aggregation);
        TextureScene<Job> scene({ { 181, 27, 1 } }, { { side, side, 1 } }, levels, 0.5, 0.05);
        scene.job.windowAnchor = { { 0, 0, 0 } };
        scene.job.offsets = paperDirections;
        scene.job.features = Job::Enums::GetElevenFeatures();
        scene.job.aggregation = aggregation;
        const auto doubles = ComputeOnCpu<double>(scene.job);
        const auto floats = ComputeOnCpu<float>(scene.job);
        for (const std::uint64_t budget : { std::uint64_t{ 0 }, std::uint64_t{ 16 } << 20 })
        {
          ASSERT_TRUE(HasSameBits(doubles, ComputeOnDevice<double>(scene.job, "SortReduce", budget)));
          ASSERT_TRUE(HasSameBits(floats, ComputeOnDevice<float>(scene.job, "SortReduce", budget)));
        }
      }
    }
  }
}

TEST_F(CudaSortReduce, IsNamedToBeChosenAndRefusesTooLargeWindows)
{
  TextureScene<Job> scene({ { 30, 20, 1 } }, { { 4, 4, 1 } }, 32);
  const auto        methods = voxelmaps::GetCudaMethods(scene.job);
  EXPECT_EQ("SortReduce", methods.back());
  EXPECT_EQ("WindowWord", methods.front());
  scene.job.windowSize = { { 31, 31, 31 } };
  EXPECT_FALSE(Supports(scene.job, "SortReduce"));
  std::vector<float> output(CountNumbers(scene.job));
  scene.job.output = output.data();
  EXPECT_THROW(voxelmaps::ComputeSortReduceMatrices(scene.job), voxelmaps::UnsupportedMethodError);
}
