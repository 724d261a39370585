// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FirstOrderTile.h"
#include "firstorder/FirstOrderPlan.h"
#include "texture/cpu/TileKernel.h"
#include "texture/cpu/Tiling.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds, but not less than a vector of windows.
constexpr std::int64_t maxTileSteps = 1000000;
} // namespace

void
ComputeFirstOrderFeatureMaps(const FirstOrderJob & job)
{
  const FirstOrderPlan plan(job);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return;
  }
  const auto         compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeFirstOrderTile));
  const std::int64_t voxels = std::max<std::int64_t>(maxTileSteps / plan.task.windowVoxels, 16);
  const std::int64_t nx = EqualPart(job.outputSize[0], std::min<std::int64_t>(voxels, 128));
  const std::int64_t ny =
    EqualPart(job.outputSize[1], std::min<std::int64_t>(std::max<std::int64_t>(voxels / nx, 1), 8));
  const std::int64_t nz =
    EqualPart(job.outputSize[2], std::min<std::int64_t>(std::max<std::int64_t>(voxels / (nx * ny), 1), 8));
  const Tiling      tiling(job.outputSize, { { nx, ny, nz } });
  const int         maxSize[3] = { static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(nz) };
  const std::size_t bytes = FirstOrderWorkspaceSize(plan.task, maxSize);
  ForEachTile(tiling, job.execution, [&]() {
    auto memory = MakeWorkspace(bytes);
    return [memory, compute, &plan, &job](const Triple & start, const Triple & size) {
      FirstOrderTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = start[d];
        tile.size[d] = static_cast<int>(size[d]);
      }
      tile.execution = &job.execution;
      tile.checkAbort = [](const void * execution) { static_cast<const JobExecution *>(execution)->CheckAbort(); };
      compute(plan.task, tile, memory.get());
    };
  });
}
} // namespace voxelmaps
