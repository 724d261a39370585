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
#ifndef CudaGrayToneDifferenceMethods_h
#define CudaGrayToneDifferenceMethods_h

#include "cuda/CudaLaunch.h"
#include "graytone/GrayToneDifferenceTask.h"
#include "texture/cuda/CudaSlabEngine.h"

namespace voxelmaps
{
/** Number of warps of a block of LevelTables, which the shared memory limits; 0 if it cannot take the task. */
int
CudaLevelTableWarps(const GrayToneDifferenceTask & task, const CudaDeviceLimits & limits);

CudaScratchBytes
CudaGrayToneDifferenceWalkScratchBytes(const GrayToneDifferenceTask & task);

// Launch the kernels of a method for a slab. WindowWalk takes every task.
void
ComputeByCudaLevelTables(const GrayToneDifferenceTask & task, const CudaMethodResources & resources);
void
ComputeByCudaGrayToneDifferenceWalk(const GrayToneDifferenceTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaGrayToneDifferenceMethods_h
