// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceTile.h"
#include "dependence/DependencePlan.h"
#include "dependence/DependenceWalk.h"
#include "texture/cpu/Walk.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds.
constexpr std::int64_t maxTileSteps = 1000000;

/** A tile of about so many voxels, with long rows. */
Triple
TileSize(const Triple & outputSize, std::int64_t voxels, const Triple & maxSize)
{
  Triple       size;
  std::int64_t rest = std::max<std::int64_t>(voxels, 1);
  for (int d = 0; d < 3; ++d)
  {
    size[d] = EqualPart(outputSize[d], std::min(rest, maxSize[d]));
    rest = std::max<std::int64_t>(rest / size[d], 1);
  }
  return size;
}

} // namespace

void
ComputeDependenceFeatureMaps(const DependenceJob & job)
{
  const DependencePlan plan(job);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return;
  }
  const Triple tileSize =
    TileSize(job.outputSize, std::max<std::int64_t>(maxTileSteps / plan.task.windowVoxels, 64), { { 128, 8, 8 } });
  const int maxSize[3] = { static_cast<int>(tileSize[0]),
                           static_cast<int>(tileSize[1]),
                           static_cast<int>(tileSize[2]) };
  if (job.walkWindows || !DependenceTilePlan::Supports(plan.task, maxSize))
  {
    ComputeByWalk<DependenceWalk<SingleThread>>(
      plan.task, std::int64_t{ plan.task.windowVoxels } * (2 * plan.task.numberOfOffsets + 10), job.execution);
    return;
  }
  const DependenceTilePlan tilePlan(plan.task, maxSize);
  const auto               compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeDependenceTile));
  ForEachTile(Tiling(job.outputSize, tileSize), job.execution, [&]() {
    auto memory = MakeWorkspace(tilePlan.workspaceBytes);
    return [memory, compute, &plan, &tilePlan, &job](const Triple & start, const Triple & size) {
      DependenceTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = start[d];
        tile.size[d] = static_cast<int>(size[d]);
      }
      tile.execution = &job.execution;
      tile.checkAbort = [](const void * execution) { static_cast<const JobExecution *>(execution)->CheckAbort(); };
      tile.finish = FinishDependenceWindow;
      compute(plan.task, tilePlan.layout, tile, memory.get());
    };
  });
}
} // namespace voxelmaps
