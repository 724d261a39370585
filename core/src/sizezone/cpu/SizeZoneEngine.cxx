// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneTile.h"
#include "SizeZoneWalk.h"
#include "sizezone/SizeZonePlan.h"
#include "texture/cpu/Walk.h"

#include <memory>

namespace voxelmaps
{
namespace
{
void
ComputeByBits(const SizeZoneTask & task, const SizeZoneJob & job)
{
  const auto   compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeSizeZoneTile));
  const Triple size{
    { EqualPart(job.outputSize[0], 64), EqualPart(job.outputSize[1], 16), EqualPart(job.outputSize[2], 8) }
  };
  const int         maxSize[3] = { static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2]) };
  const std::size_t bytes = SizeZoneWorkspaceSize(task, maxSize);
  ForEachTile(Tiling(job.outputSize, size), job.execution, [&]() {
    auto memory = MakeWorkspace(bytes);
    auto matrix = std::make_shared<SizeZoneMatrix>(task);
    return [memory, matrix, compute, &task, &job](const Triple & tileStart, const Triple & tileSize) {
      SizeZoneTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = tileStart[d];
        tile.size[d] = static_cast<int>(tileSize[d]);
      }
      tile.finish = [](void * context, std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones) {
        auto & features = *static_cast<SizeZoneMatrix *>(context);
        numberOfZones == 0 ? features.StoreBackground(outputVoxel) : features.Finish(outputVoxel, zones, numberOfZones);
      };
      tile.matrix = matrix.get();
      tile.execution = &job.execution;
      tile.checkAbort = [](const void * execution) { static_cast<const JobExecution *>(execution)->CheckAbort(); };
      compute(task, tile, memory.get());
    };
  });
}
} // namespace

void
ComputeSizeZoneFeatureMaps(const SizeZoneJob & job)
{
  const SizeZonePlan plan(job);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return;
  }
  if (SizeZoneTileSupports(plan.task))
  {
    ComputeByBits(plan.task, job);
  }
  else
  {
    ComputeByWalk<SizeZoneWalk>(plan.task, std::int64_t{ 20 } * plan.task.windowVoxels, job.execution);
  }
}
} // namespace voxelmaps
