// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// The dependent neighbors at distance 1 are the same in all windows, but for those beyond the faces of a window, so
// they are found once, before; others are looked for in every window.
#include "CudaDependenceMethods.h"
#include "cuda/CudaMemory.h"
#include "dependence/DependenceWalk.h"
#include "texture/cuda/CudaWalk.cuh"

#include <cstdlib>

namespace voxelmaps
{
namespace
{
using Walk = DependenceWalk<CudaThreadBlock>;

constexpr CudaWalkPolicy policy{ CudaThreadBlock::lanesPerWarp, 40960, 16 };

// Two bits each, in 32.
constexpr int maxBitOffsets = 13;

/** Bytes of the dependent neighbors of all voxels. */
std::uint64_t
NeighborBytes(const DependenceTask & task, bool areNeighborsInBits)
{
  return RoundUpToAlignment(areNeighborsInBits ? NumberOfVoxels(task.levelsSize) * sizeof(std::uint32_t) : 0);
}

constexpr unsigned int neighborThreads = 256;

/** The dependent neighbors of every voxel: bit 2 k for p + offset k, bit 2 k + 1 for p - offset k. */
__global__ void
__launch_bounds__(neighborThreads)
  FindNeighborsKernel(const __grid_constant__ DependenceTask task, std::uint32_t * neighbors, std::int64_t voxels)
{
  const std::int64_t number = std::int64_t{ blockIdx.x } * neighborThreads + threadIdx.x;
  if (number >= voxels)
  {
    return;
  }
  const std::int64_t row = number / task.levelsSize[0];
  const std::int64_t at[3] = { number - row * task.levelsSize[0], row % task.levelsSize[1], row / task.levelsSize[1] };
  const auto         levelAt = [&task](std::int64_t x, std::int64_t y, std::int64_t z) -> int {
    const bool isInside =
      x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2];
    return isInside ? task.levels[task.LevelOffset(x, y, z)] : 0;
  };
  const int     level = task.levels[number];
  std::uint32_t dependent = 0;
  for (int k = 0; k < task.numberOfOffsets; ++k)
  {
    const PairOffset offset = task.offsets[k];
    const auto &     step = offset.step;
    const int        next = levelAt(at[0] + step[0], at[1] + step[1], at[2] + step[2]);
    const int        previous = levelAt(at[0] - step[0], at[1] - step[1], at[2] - step[2]);
    dependent |= (AreDependent(level, next, task.alpha) ? 1u : 0u) << (2 * k);
    dependent |= (AreDependent(level, previous, task.alpha) ? 2u : 0u) << (2 * k);
  }
  neighbors[number] = dependent;
}
} // namespace

bool
CudaDependenceNeighborsAreBits(const DependenceTask & hostTask)
{
  return hostTask.numberOfOffsets <= maxBitOffsets &&
         std::all_of(hostTask.offsets, hostTask.offsets + hostTask.numberOfOffsets, [](const PairOffset & offset) {
           return std::abs(offset.step[0]) <= 1 && std::abs(offset.step[1]) <= 1 && std::abs(offset.step[2]) <= 1;
         });
}

CudaScratchBytes
CudaDependenceWalkScratchBytes(const DependenceTask & task, bool areNeighborsInBits)
{
  const std::uint64_t    neighborBytes = NeighborBytes(task, areNeighborsInBits);
  const CudaScratchBytes walk = CudaWalkScratchBytes<Walk>(task, policy);
  return { neighborBytes + walk.minimum, neighborBytes + walk.maximum };
}

void
ComputeByCudaDependenceWalk(const DependenceTask & task, bool areNeighborsInBits, const CudaMethodResources & resources)
{
  DependenceTask      walkTask = task;
  CudaMethodResources walkResources = resources;
  if (areNeighborsInBits)
  {
    auto * const        neighbors = static_cast<std::uint32_t *>(resources.scratch);
    const std::uint64_t voxels = NumberOfVoxels(task.levelsSize);
    FindNeighborsKernel<<<BlocksFor(voxels, neighborThreads), neighborThreads, 0, resources.stream>>>(
      task, neighbors, static_cast<std::int64_t>(voxels));
    CheckLaunch("starting the kernel of dependent neighbors");
    walkTask.dependentNeighbors = neighbors;
    walkResources.scratch = static_cast<char *>(resources.scratch) + NeighborBytes(task, true);
    walkResources.scratchBytes -= NeighborBytes(task, true);
  }
  constexpr std::int64_t voxelSteps = 20;
  const std::int64_t     neighborSteps = areNeighborsInBits ? 0 : task.numberOfOffsets;
  ComputeByCudaWalk<Walk>(walkTask, policy, task.windowVoxels * (neighborSteps + voxelSteps), walkResources);
}
} // namespace voxelmaps
