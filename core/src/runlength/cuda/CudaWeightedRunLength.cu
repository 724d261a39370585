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
