// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneTile.h"
#include "SizeZoneWalk.h"
#include "sizezone/SizeZone.h"
#include "texture/cpu/TileKernel.h"
#include "texture/cpu/Tiling.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds.
constexpr std::int64_t maxWalkVoxels = 100000;

void
ComputeByWalk(const SizeZoneTask & task, const Triple & outputSize, const JobExecution & execution)
{
  const std::int64_t voxels = std::max<std::int64_t>(maxWalkVoxels / task.windowVoxels, 1);
  const Tiling       tiling(outputSize,
                            { { EqualPart(outputSize[0], voxels),
                                EqualPart(outputSize[1], std::max<std::int64_t>(voxels / outputSize[0], 1)),
                                1 } });
  ForEachTile(tiling, execution, [&]() {
    auto walk = std::make_shared<SizeZoneWalk>(task, execution);
    return [walk](const Triple & start, const Triple & size) { walk->Compute(start, size); };
  });
}

void
ComputeByBits(const SizeZoneTask & task, const SizeZoneJob & job)
{
  const auto   compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeSizeZoneTile));
  const Triple size{
    { EqualPart(job.outputSize[0], 64), EqualPart(job.outputSize[1], 16), EqualPart(job.outputSize[2], 8) }
  };
  const int         maxSize[3] = { static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2]) };
  const std::size_t bytes = SizeZoneTileMemory(task, TileShape(task, maxSize), nullptr).bytes;
  ForEachKernelTile(
    Tiling(job.outputSize, size),
    job.execution,
    bytes,
    [&task]() { return std::make_shared<SizeZoneMatrix>(task); },
    [&](const KernelTile & tile, void * workspace, const std::shared_ptr<SizeZoneMatrix> & matrix) {
      const auto finish = [](void * context, std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones) {
        auto & features = *static_cast<SizeZoneMatrix *>(context);
        numberOfZones == 0 ? features.StoreBackground(outputVoxel) : features.Finish(outputVoxel, zones, numberOfZones);
      };
      compute(task, { tile, finish, matrix.get() }, workspace);
    });
}
} // namespace

void
TextureClass<SizeZoneJob>::ComputeOnCpu(const SizeZoneJob & job) const
{
  if (SlicesFitWords(task, maxWordBits))
  {
    ComputeByBits(task, job);
  }
  else
  {
    ComputeByWalk(task, job.outputSize, job.execution);
  }
}
} // namespace voxelmaps
