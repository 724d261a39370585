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
