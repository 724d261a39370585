// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceTile.h"
#include "GrayToneDifferenceWalk.h"
#include "common/FixedPoint.h"
#include "graytone/GrayToneDifference.h"
#include "texture/cpu/TileKernel.h"
#include "texture/cpu/Tiling.h"
#include "texture/cpu/WindowBox.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds.
constexpr std::int64_t maxTileNeighbors = 2000000;
constexpr std::int64_t maxWalkVoxels = 4096;

template <typename TDifference>
void
ComputeByWalk(const GrayToneDifferenceTask & task, const Triple & outputSize, const JobExecution & execution)
{
  const std::int64_t steps = std::int64_t{ task.windowVoxels } * (2 * task.numberOfOffsets + 1);
  const std::int64_t voxels = std::min(std::max<std::int64_t>(maxTileNeighbors / steps, 1), maxWalkVoxels);
  const Tiling       tiling(outputSize,
                            { { EqualPart(outputSize[0], voxels),
                                EqualPart(outputSize[1], std::max<std::int64_t>(voxels / outputSize[0], 1)),
                                1 } });
  ForEachTile(tiling, execution, [&]() {
    auto walk = std::make_shared<GrayToneDifferenceWalk<TDifference>>(task, execution);
    return [walk](const Triple & start, const Triple & size) { walk->Compute(start, size); };
  });
}

bool
TilesSupport(const GrayToneDifferenceTask & task)
{
  // The table of a window is searched from the first to the last level.
  constexpr int maxLevels = 1024;
  return task.isBox && !task.isWide && task.numberOfGrayLevels <= maxLevels &&
         task.differenceBits + BitCount(static_cast<std::uint64_t>(task.windowVoxels)) <= 64;
}

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
  const std::size_t bytes = GrayToneDifferenceTileMemory(task, maxSize, nullptr).bytes;
  ForEachKernelTile(
    tiling, job.execution, bytes, [&](const KernelTile & tile, void * workspace) { compute(task, tile, workspace); });
}
} // namespace

void
StoreGrayToneDifferenceFeatures(const GrayToneDifferenceTask & task, const GrayToneDifferenceSums & sums,
                                std::int64_t firstComponent)
{
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    StoreComponent(task, firstComponent, f, GrayToneDifferenceFeatureValue(task.features[f], sums, task.scale));
  }
}

void
StoreGrayToneDifferenceBackground(const GrayToneDifferenceTask & task, std::int64_t firstComponent)
{
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    StoreComponentOrNaN(task, firstComponent, f, task.backgroundValue);
  }
}

void
TextureClass<GrayToneDifferenceJob>::ComputeOnCpu(const GrayToneDifferenceJob & job) const
{
  if (!job.walkWindows && TilesSupport(task))
  {
    ComputeByTiles(job, task);
  }
  else if (task.isWide)
  {
    ComputeByWalk<WideDifference>(task, job.outputSize, job.execution);
  }
  else
  {
    ComputeByWalk<NarrowDifference>(task, job.outputSize, job.execution);
  }
}
} // namespace voxelmaps
