// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One thread per window adds the weights of its runs.
#include "CudaRunLengthMethods.h"
#include "runlength/WeightedRunLength.h"
#include "texture/cuda/CudaWeightedWindows.cuh"

namespace voxelmaps
{
CudaScratchBytes
CudaWeightedRunLengthScratchBytes(const RunLengthTask & task)
{
  return CudaWeightedWindowsScratchBytes<WeightedRunLength>(task);
}

void
ComputeByCudaWeightedRunLength(const RunLengthTask & task, const CudaMethodResources & resources)
{
  ComputeByCudaWeightedWindows<WeightedRunLength>(task, static_cast<std::int64_t>(task.maxVoxels), resources);
}
} // namespace voxelmaps
