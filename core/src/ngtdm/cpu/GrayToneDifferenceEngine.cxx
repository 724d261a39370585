// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceTile.h"
#include "common/FixedPoint.h"
#include "ngtdm/GrayToneDifference.h"
#include "ngtdm/GrayToneDifferenceWalk.h"
#include "window/cpu/CpuWalk.h"
#include "window/WindowBox.h"

namespace voxelmaps
{
namespace
{
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

std::vector<TextureMethod<GrayToneDifferenceJob>>
TextureClass<GrayToneDifferenceJob>::GetMethods(const GrayToneDifferenceJob &) const
{
  return { { "Tiles",
             FullSupportIf(TilesSupport(task)),
             [this](const GrayToneDifferenceJob & job) { ComputeByTiles(job, task); } },
           { "WindowWalk", MethodSupport::Full, [this](const GrayToneDifferenceJob & job) {
              const std::int64_t steps = std::int64_t{ task.windowVoxels } * (task.numberOfOffsets + 10);
              task.isWide
                ? ComputeByWalk<GrayToneDifferenceWalk<SingleThread, WideDifference>>(task, steps, job.execution)
                : ComputeByWalk<GrayToneDifferenceWalk<SingleThread, NarrowDifference>>(task, steps, job.execution);
            } } };
}
} // namespace voxelmaps
