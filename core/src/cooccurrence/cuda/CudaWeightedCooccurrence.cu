// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One thread per window adds the weights of its pairs.
#include "CudaCooccurrenceMethods.h"
#include "cooccurrence/WeightedCooccurrence.h"
#include "texture/cuda/CudaWalk.cuh"

namespace voxelmaps
{
CudaScratchBytes
CudaWeightedCooccurrenceScratchBytes(const CooccurrenceTask & task)
{
  return CudaWalkScratchBytes<WeightedCooccurrence>(task, cudaThreadWalkPolicy);
}

void
ComputeByCudaWeightedCooccurrence(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  const std::int64_t levels = MaxWindowLevels(task);
  const std::int64_t steps =
    static_cast<std::int64_t>(task.maxPairs) + levels * levels * (task.needsMaximalCorrelation ? levels : 1);
  ComputeByCudaWalk<WeightedCooccurrence>(task, cudaThreadWalkPolicy, 8 * steps, resources);
}
} // namespace voxelmaps
