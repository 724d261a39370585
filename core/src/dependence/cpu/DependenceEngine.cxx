// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceTile.h"
#include "dependence/Dependence.h"
#include "dependence/DependenceWalk.h"
#include "texture/cpu/Walk.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds.
constexpr std::int64_t maxTileSteps = 1000000;
} // namespace

void
TextureClass<DependenceJob>::ComputeOnCpu(const DependenceJob & job) const
{
  const Triple tileSize =
    TileSize(job.outputSize, std::max<std::int64_t>(maxTileSteps / task.windowVoxels, 64), { { 128, 8, 8 } });
  const int maxSize[3] = { static_cast<int>(tileSize[0]),
                           static_cast<int>(tileSize[1]),
                           static_cast<int>(tileSize[2]) };
  if (job.walkWindows || !DependenceTilePlan::Supports(task, maxSize))
  {
    ComputeByWalk<DependenceWalk<SingleThread>>(
      task, std::int64_t{ task.windowVoxels } * (2 * task.numberOfOffsets + 10), job.execution);
    return;
  }
  const DependenceTilePlan tilePlan(task, maxSize);
  const auto               compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeDependenceTile));
  ForEachKernelTile(Tiling(job.outputSize, tileSize),
                    job.execution,
                    tilePlan.workspaceBytes,
                    [&](const KernelTile & tile, void * workspace) {
                      compute(task, tilePlan.layout, { tile, FinishDependenceWindow }, workspace);
                    });
}
} // namespace voxelmaps
