// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaMaximalCorrelation_h
#define CudaMaximalCorrelation_h

#include "CudaCooccurrenceMethods.h"

namespace voxelmaps
{
/** Levels that windows can have at most, for eight lanes and for a warp per matrix: what a warp of four teams, or of
 * one, has shared memory for, if ten of them are to run on a multiprocessor. */
constexpr int maxEightLaneLevels = 40;
constexpr int maxWarpLevels = 72;

/** Windows by how many lanes a matrix needs, in device memory: numbers from a first one on. */
struct CorrelationLists
{
  /** For eight lanes, a warp and a block. Behind them is memory for one of the windows that are computed at all. */
  static constexpr int lists = 3;

  std::uint32_t * lengths;
  std::uint32_t * numbers;
  std::int64_t    capacity;

  VOXELMAPS_HOST_DEVICE std::uint32_t *
                        GetList(int list) const
  {
    return numbers + list * capacity;
  }
};

/** Whether the kernel for windows with few levels can compute some windows of a task. */
bool
CudaFewLevelCorrelationsSupports(const CooccurrenceTask & task);

/** Launch it for the windows first ... end - 1, and list the others; component is that of the coefficient in the first
 * matrix. */
void
LaunchCudaFewLevelCorrelations(const CooccurrenceTask & task, int component, std::int64_t first, std::int64_t end,
                               const CorrelationLists & others, cudaStream_t stream);
} // namespace voxelmaps

#endif // CudaMaximalCorrelation_h
