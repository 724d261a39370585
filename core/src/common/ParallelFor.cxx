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
#include "common/ParallelFor.h"


namespace voxelmaps
{
void
ForEachRangeOfVoxels(std::int64_t size, const JobExecution & execution,
                     const std::function<void(std::int64_t begin, std::int64_t end)> & compute)
{
  // Processed within about a millisecond.
  constexpr std::int64_t voxelsBetweenChecks = std::int64_t{ 1 } << 20;
  // Fewer take less time than it takes to start a worker.
  constexpr std::int64_t minVoxelsPerWorker = std::int64_t{ 1 } << 16;

  ForEachRange(size, minVoxelsPerWorker, execution, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += voxelsBetweenChecks)
    {
      compute(first, std::min(first + voxelsBetweenChecks, end));
      execution.CheckAbort();
    }
  });
}
} // namespace voxelmaps
