// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One thread per window adds the weights of its pairs.
#include "CudaCooccurrenceMethods.h"
#include "cooccurrence/WeightedCooccurrence.h"
#include "texture/cuda/CudaWeightedWindows.cuh"

namespace voxelmaps
{
CudaScratchBytes
CudaWeightedCooccurrenceScratchBytes(const CooccurrenceTask & task)
{
  return CudaWeightedWindowsScratchBytes<WeightedCooccurrence>(task);
}

void
ComputeByCudaWeightedCooccurrence(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  const std::int64_t levels = MaxWindowLevels(task);
  ComputeByCudaWeightedWindows<WeightedCooccurrence>(task,
                                                     static_cast<std::int64_t>(task.maxPairs) +
                                                       levels * levels * (task.needsMaximalCorrelation ? levels : 1),
                                                     resources);
}
} // namespace voxelmaps
