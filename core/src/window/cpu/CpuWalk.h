// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CpuWalk_h
#define CpuWalk_h

#include "window/Walk.h"
#include "window/cpu/TileKernel.h"
#include "window/Tiling.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace voxelmaps
{
/** Call visit(number) for the output voxels of a box. */
template <typename TVisit>
void
ForEachVoxelOfBox(const TextureTask & task, const Triple & start, const Triple & size, const TVisit & visit)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      const std::int64_t first = (z * task.outputSize[1] + y) * task.outputSize[0] + start[0];
      for (std::int64_t x = 0; x < size[0]; ++x)
      {
        visit(first + x);
      }
    }
  }
}

/** A worker that computes the windows of boxes by a walk, one after the other. */
template <typename TWalk>
auto
MakeWalker(const typename TWalk::Task & task, const JobExecution & execution)
{
  auto workspace = MakeWorkspace(TWalk::GetWorkspaceBytes(task));
  auto walk = std::make_shared<TWalk>(task, SingleThread(execution), workspace.get());
  return [workspace, walk, &task](const Triple & start, const Triple & size) {
    ForEachVoxelOfBox(task, start, size, [&](std::int64_t voxel) { walk->Compute(voxel); });
  };
}

/** Compute all windows by workers that makeWalker() returns. windowSteps: a measure of the work for one, about two
 * nanoseconds each. */
template <typename TMakeWalker>
void
ComputeByWalkers(const TextureTask & task, std::int64_t windowSteps, const JobExecution & execution,
                 const TMakeWalker & makeWalker)
{
  // What a worker does between two reports: some milliseconds, but rows short enough to share out.
  constexpr std::int64_t maxSteps = 2000000;
  constexpr std::int64_t maxVoxels = 4096;
  const std::int64_t     voxels =
    std::min(std::max<std::int64_t>(maxSteps / std::max<std::int64_t>(windowSteps, 1), 1), maxVoxels);
  const std::int64_t rows = std::max<std::int64_t>(voxels / task.outputSize[0], 1);
  const Triple       outputSize{ { task.outputSize[0], task.outputSize[1], task.outputSize[2] } };
  ForEachTile(Tiling(outputSize, { { EqualPart(outputSize[0], voxels), EqualPart(outputSize[1], rows), 1 } }),
              execution,
              makeWalker);
}
template <typename TWalk>
void
ComputeByWalk(const typename TWalk::Task & task, std::int64_t windowSteps, const JobExecution & execution)
{
  ComputeByWalkers(task, windowSteps, execution, [&]() { return MakeWalker<TWalk>(task, execution); });
}
} // namespace voxelmaps

#endif // CpuWalk_h
