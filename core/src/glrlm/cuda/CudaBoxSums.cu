// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Box sums that neighboring windows share; doc/engines/glrlm.md has the identities.
//
// A block computes a tile of one output plane, with one thread per column and two rows of the tile and of what its
// windows reach. For each direction, every thread sums along z in registers, warps along x by shuffles, and then along
// y through shared memory. S_k is the sum over the starts of k equal voxels in a row, both ends inside the window; runs
// of length l are S_l - 2 S_(l+1) + S_(l+2).
#include "CudaBoxSumsLaunch.cuh"

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr int largestWindow = 9;

int
LargestSide(const RunLengthTask & task)
{
  return std::max({ task.window[0], task.window[1], task.window[2] });
}

std::uint64_t
RunLengthWordsBytes(const RunLengthTask & task)
{
  return NumberOfVoxels(task.levelsSize) * sizeof(std::uint64_t);
}

BoxSumsTiling
MakeTiling(const RunLengthTask & task, void * scratch)
{
  BoxSumsTiling tiling{};
  tiling.columns = tileColumns - task.window[0] + 1;
  tiling.rows = tileRows - task.window[1] + 1;
  tiling.tilesX = (task.outputSize[0] + tiling.columns - 1) / tiling.columns;
  tiling.tilesY = (task.outputSize[1] + tiling.rows - 1) / tiling.rows;
  tiling.squareBits = BitCount(MaxSquares(task));
  tiling.levelBits = task.maxVoxels < 256 ? 8 : 16;
  tiling.components = MakeFeatureComponents(task);
  tiling.runs = RunWeights(task);
  tiling.words = StartWeights(tiling.runs);
  tiling.runLengthWords = static_cast<std::uint64_t *>(scratch);
  tiling.levelNonUniformities = static_cast<char *>(scratch) + RunLengthWordsBytes(task);
  return tiling;
}

__device__ void
WriteRunLengthWord(const RunLengthTask & task, bool asBits, int x, int y, int z, std::uint64_t * runLengthWords)
{
  const std::int64_t    voxel = (z * task.levelsSize[1] + y) * task.levelsSize[0] + x;
  const std::uint16_t * levels = task.levels + voxel;
  const int             level = *levels;
  std::uint64_t         word = 0;
  if (level != 0)
  {
    // How far the levels reach to each side.
    const int before[2] = { x, y };
    const int after[3] = { static_cast<int>(task.levelsSize[0]) - 1 - x,
                           static_cast<int>(task.levelsSize[1]) - 1 - y,
                           static_cast<int>(task.levelsSize[2]) - 1 - z };
    word = static_cast<std::uint64_t>(level) << levelShift;
    for (int d = 0; d < task.directions.number; ++d)
    {
      const auto &       step = task.directions.steps[d];
      const std::int64_t stride = (step[2] * task.levelsSize[1] + step[1]) * task.levelsSize[0] + step[0];
      int                longest = task.directions.longestLines[d];
      if (step[0] != 0)
      {
        longest = min(longest, 1 + (step[0] > 0 ? after[0] : before[0]));
      }
      if (step[1] != 0)
      {
        longest = min(longest, 1 + (step[1] > 0 ? after[1] : before[1]));
      }
      if (step[2] != 0)
      {
        longest = min(longest, 1 + after[2]);
      }
      int                   length = 1;
      const std::uint16_t * next = levels + stride;
      while (length < longest && *next == level)
      {
        ++length;
        next += stride;
      }
      const std::uint32_t bits = asBits ? LengthBits(length) : static_cast<std::uint32_t>(length);
      word |= static_cast<std::uint64_t>(bits) << (lengthBits * d);
    }
  }
  runLengthWords[voxel] = word;
}

/** For every voxel and direction the number of equal voxels from it on, at most the longest run, and its level. */
__global__ void
RunLengthWordsKernel(const __grid_constant__ RunLengthTask task, bool asBits, std::uint64_t * runLengthWords)
{
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= task.levelsSize[0])
  {
    return;
  }
  for (int z = static_cast<int>(blockIdx.z); z < task.levelsSize[2]; z += static_cast<int>(gridDim.z))
  {
    for (int y = static_cast<int>(blockIdx.y); y < task.levelsSize[1]; y += static_cast<int>(gridDim.y))
    {
      WriteRunLengthWord(task, asBits, x, y, z, runLengthWords);
    }
  }
}

/** Shared memory that a block needs at least. */
std::size_t
SharedBytes(const RunLengthTask & task)
{
  const int         largest = LargestSide(task);
  const int         kinds = largest <= 3 ? 2 : largest <= 5 ? 4 : largest <= 7 ? 6 : 8;
  const std::size_t sums = SumBytes(kinds, ChooseSumWidth(task) != SumWidth::Separate, true);
  return std::max(sums, StagingBytes(task)) + InverseTableBytes(task);
}

std::uint64_t
LevelNonUniformityBytes(const RunLengthTask & task)
{
  const std::uint64_t bytes = task.maxVoxels < 256 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  return NumberOfVoxels(task.outputSize) * bytes * static_cast<std::uint64_t>(task.directions.number);
}
} // namespace

bool
CudaBoxSumsSupports(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  const auto levelSum = static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels;
  return LargestSide(task) <= largestWindow && task.aggregation != RunLengthJob::Aggregation::Merge &&
         !task.wideInverses && task.numberOfGrayLevels <= maxGrayLevels &&
         MaxSquares(task) < (std::uint64_t{ 1 } << 32) && levelSum * levelSum < 9007199254740992.0 && // 2^53
         static_cast<double>(task.maxVoxels) * task.scales.shortRunScale < maxFusedDivisor &&
         SharedBytes(task) <= limits.maxSharedMemoryPerBlock;
}

CudaScratchBytes
CudaBoxSumsScratchBytes(const RunLengthTask & task)
{
  const std::uint64_t bytes = RunLengthWordsBytes(task) + (task.needsLevelCounts ? LevelNonUniformityBytes(task) : 0);
  return { bytes, bytes };
}

void
ComputeByCudaBoxSums(const RunLengthTask & task, const CudaMethodResources & resources)
{
  if (NumberOfVoxels(task.levelsSize) > 0)
  {
    constexpr unsigned int threads = 128;
    constexpr std::int64_t maxBlocks = 65535;
    const dim3             blocks(BlocksFor(static_cast<std::uint64_t>(task.levelsSize[0]), threads),
                      static_cast<unsigned int>(std::min(task.levelsSize[1], maxBlocks)),
                      static_cast<unsigned int>(std::min(task.levelsSize[2], maxBlocks)));
    RunLengthWordsKernel<<<blocks, threads, 0, resources.stream>>>(
      task, LargestSide(task) <= maxBitLength, static_cast<std::uint64_t *>(resources.scratch));
    CheckLaunch("starting the kernel of run length words");
  }
  const BoxSumsTiling tiling = MakeTiling(task, resources.scratch);
  switch (LargestSide(task) / 2)
  {
    case 0:
    case 1:
      return LaunchBoxSums<3>(task, tiling, resources.stream);
    case 2:
      return LaunchBoxSums<5>(task, tiling, resources.stream);
    case 3:
      return LaunchBoxSums<7>(task, tiling, resources.stream);
    default:
      return LaunchBoxSums<9>(task, tiling, resources.stream);
  }
}
} // namespace voxelmaps
