// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FirstOrderTile.h"
#include "firstorder/FirstOrder.h"
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
TextureClass<FirstOrderJob>::ComputeOnCpu(const FirstOrderJob & job) const
{
  const auto         compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeFirstOrderTile));
  const std::int64_t voxels = std::max<std::int64_t>(maxTileSteps / task.windowVoxels, 16);
  const std::int64_t nx = EqualPart(job.outputSize[0], std::min<std::int64_t>(voxels, 128));
  const std::int64_t ny =
    EqualPart(job.outputSize[1], std::min<std::int64_t>(std::max<std::int64_t>(voxels / nx, 1), 8));
  const std::int64_t nz =
    EqualPart(job.outputSize[2], std::min<std::int64_t>(std::max<std::int64_t>(voxels / (nx * ny), 1), 8));
  const Tiling      tiling(job.outputSize, { { nx, ny, nz } });
  const int         maxSize[3] = { static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(nz) };
  const std::size_t bytes = FirstOrderTileMemory(task, TileShape(task, maxSize), nullptr).bytes;
  ForEachKernelTile(
    tiling, job.execution, bytes, [&](const KernelTile & tile, void * workspace) { compute(task, tile, workspace); });
}
} // namespace voxelmaps
