// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WeightedWindows_h
#define WeightedWindows_h

#include "texture/TextureTask.h"
#include "texture/cpu/Tiling.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace voxelmaps
{
/** Compute windows with weighted matrices one by one. windowSteps: a measure of the work for one. */
template <typename TWindows, typename TJob>
void
ComputeWeightedWindows(const typename TWindows::Task & task, std::int64_t windowSteps, const TJob & job)
{
  // What a worker does between two reports: about ten milliseconds.
  constexpr std::int64_t tileSteps = 1000000;
  const std::int64_t     voxels = std::max<std::int64_t>(tileSteps / std::max<std::int64_t>(windowSteps, 1), 1);
  const Tiling           tiling(job.outputSize, { { EqualPart(job.outputSize[0], voxels), 1, 1 } });
  ForEachTile(tiling, job.execution, [&]() {
    auto workspace = std::make_shared<std::vector<double>>(TWindows::GetWorkspaceSize(task));
    auto windows = std::make_shared<TWindows>(task, workspace->data());
    return [workspace, windows, &task](const Triple & start, const Triple & size) {
      const std::int64_t first = (start[2] * task.outputSize[1] + start[1]) * task.outputSize[0] + start[0];
      for (std::int64_t x = 0; x < size[0]; ++x)
      {
        windows->Compute(first + x);
      }
    };
  });
}
} // namespace voxelmaps

#endif // WeightedWindows_h
