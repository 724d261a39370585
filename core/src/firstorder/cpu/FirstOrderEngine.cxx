// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FirstOrderTile.h"
#include "firstorder/FirstOrder.h"
#include "window/cpu/TileKernel.h"
#include "window/Tiling.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds, but not less than a vector of windows.
constexpr std::int64_t maxTileSteps = 1000000;
} // namespace

std::vector<TextureMethod<FirstOrderJob>>
TextureClass<FirstOrderJob>::GetMethods(const FirstOrderJob &) const
{
  return { { "Tiles", MethodSupport::Full, [this](const FirstOrderJob & job) {
              const auto compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeFirstOrderTile));
              const std::int64_t voxels = std::max<std::int64_t>(maxTileSteps / task.windowVoxels, 16);
              const Triple       size = TileSize(job.outputSize, voxels, { { 128, 8, 8 } });
              const int          maxSize[3] = { static_cast<int>(size[0]),
                                                static_cast<int>(size[1]),
                                                static_cast<int>(size[2]) };
              const std::size_t  bytes = FirstOrderTileMemory(task, TileShape(task, maxSize), nullptr).bytes;
              ForEachKernelTile(Tiling(job.outputSize, size),
                                job.execution,
                                bytes,
                                [&](const KernelTile & tile, void * workspace) { compute(task, tile, workspace); });
            } } };
}
} // namespace voxelmaps
