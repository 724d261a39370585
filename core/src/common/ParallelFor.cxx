// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
