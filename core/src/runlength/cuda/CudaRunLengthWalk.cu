// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One warp per window walks its runs, or one thread if directions have weights.
#include "CudaRunLengthMethods.h"
#include "runlength/RunLengthWalk.h"
#include "runlength/WeightedRunLength.h"
#include "texture/cuda/CudaWalk.cuh"

namespace voxelmaps
{
namespace
{
using Walk = RunLengthWalk<CudaThreadBlock>;
using SkippedWalk = SkippedDirectionsWalk<CudaThreadBlock>;

// 32 blocks are the most that a multiprocessor runs; larger workspaces would leave room for less than 14 on an H100.
constexpr CudaWalkPolicy policy{ CudaThreadBlock::lanesPerWarp, 16384, 32 };

std::int64_t
WindowSteps(const RunLengthTask & task)
{
  return static_cast<std::int64_t>(task.maxVoxels) * task.directions.number;
}
} // namespace

CudaScratchBytes
CudaRunLengthWalkScratchBytes(const RunLengthTask & task)
{
  return task.offsetWeights != nullptr ? CudaWalkScratchBytes<WeightedRunLength>(task, cudaThreadWalkPolicy)
                                       : CudaWalkScratchBytes<Walk>(task, policy);
}

void
ComputeByCudaRunLengthWalk(const RunLengthTask & task, const CudaMethodResources & resources)
{
  // A thread needs eight times as long for a step as a warp.
  task.offsetWeights != nullptr
    ? ComputeByCudaWalk<WeightedRunLength>(
        task, cudaThreadWalkPolicy, 8 * static_cast<std::int64_t>(task.maxVoxels), resources)
    : ComputeByCudaWalk<Walk>(task, policy, WindowSteps(task), resources);
}

void
SkipDirectionsByCudaRunLengthWalk(const RunLengthTask & task, const CudaMethodResources & resources)
{
  ComputeByCudaWalk<SkippedWalk>(task, policy, WindowSteps(task), resources);
}
} // namespace voxelmaps
