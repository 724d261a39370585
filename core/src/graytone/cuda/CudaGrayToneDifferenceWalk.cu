// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaGrayToneDifferenceMethods.h"
#include "graytone/GrayToneDifferenceWalk.h"
#include "texture/cuda/CudaWalk.cuh"

namespace voxelmaps
{
namespace
{
using NarrowWalk = GrayToneDifferenceWalk<CudaThreadBlock, NarrowDifference>;
using WideWalk = GrayToneDifferenceWalk<CudaThreadBlock, WideDifference>;

CudaWalkPolicy
MakePolicy(const GrayToneDifferenceTask & task)
{
  // A warp for small windows.
  constexpr int maxWarpVoxels = 512;
  return { task.windowVoxels <= maxWarpVoxels ? CudaThreadBlock::lanesPerWarp : CudaThreadBlock::maxSize, 40960, 32 };
}
} // namespace

CudaScratchBytes
CudaGrayToneDifferenceWalkScratchBytes(const GrayToneDifferenceTask & task)
{
  return task.isWide ? CudaWalkScratchBytes<WideWalk>(task, MakePolicy(task))
                     : CudaWalkScratchBytes<NarrowWalk>(task, MakePolicy(task));
}

void
ComputeByCudaGrayToneDifferenceWalk(const GrayToneDifferenceTask & task, const CudaMethodResources & resources)
{
  const std::int64_t levels = std::min(task.numberOfGrayLevels, task.windowVoxels);
  const std::int64_t steps =
    4 * (task.windowVoxels * (2 * std::int64_t{ task.numberOfOffsets } + 8) + 2 * levels * levels);
  task.isWide ? ComputeByCudaWalk<WideWalk>(task, MakePolicy(task), steps, resources)
              : ComputeByCudaWalk<NarrowWalk>(task, MakePolicy(task), steps, resources);
}
} // namespace voxelmaps
