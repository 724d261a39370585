/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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
