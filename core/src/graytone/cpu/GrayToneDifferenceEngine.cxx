// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceTile.h"
#include "graytone/GrayToneDifferencePlan.h"
#include "graytone/GrayToneDifferenceWalk.h"
#include "texture/cpu/Walk.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
void
ComputeByTiles(const GrayToneDifferenceJob & job, const GrayToneDifferenceTask & task)
{
  const auto compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeGrayToneDifferenceTile));
  // The terms of a tile stay in the second-level cache.
  const Triple size{
    { EqualPart(job.outputSize[0], 64), EqualPart(job.outputSize[1], 16), EqualPart(job.outputSize[2], 16) }
  };
  const Tiling      tiling(job.outputSize, size);
  const int         maxSize[3] = { static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2]) };
  const std::size_t bytes = GrayToneDifferenceWorkspaceSize(task, maxSize);
  ForEachTile(tiling, job.execution, [&]() {
    auto memory = MakeWorkspace(bytes);
    return [memory, compute, &task, &job](const Triple & start, const Triple & tileSize) {
      GrayToneDifferenceTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = start[d];
        tile.size[d] = static_cast<int>(tileSize[d]);
      }
      tile.execution = &job.execution;
      tile.checkAbort = [](const void * execution) { static_cast<const JobExecution *>(execution)->CheckAbort(); };
      compute(task, tile, memory.get());
    };
  });
}
} // namespace

void
ComputeGrayToneDifferenceFeatureMaps(const GrayToneDifferenceJob & job)
{
  const GrayToneDifferencePlan plan(job);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return;
  }
  const std::int64_t steps = std::int64_t{ plan.task.windowVoxels } * (plan.task.numberOfOffsets + 10);
  if (!job.walkWindows && GrayToneDifferenceTileSupports(plan.task))
  {
    ComputeByTiles(job, plan.task);
  }
  else if (plan.task.isWide)
  {
    ComputeByWalk<GrayToneDifferenceWalk<SingleThread, WideDifference>>(plan.task, steps, job.execution);
  }
  else
  {
    ComputeByWalk<GrayToneDifferenceWalk<SingleThread, NarrowDifference>>(plan.task, steps, job.execution);
  }
}
} // namespace voxelmaps
