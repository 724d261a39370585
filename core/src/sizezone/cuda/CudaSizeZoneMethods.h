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
#ifndef CudaSizeZoneMethods_h
#define CudaSizeZoneMethods_h

#include "sizezone/SizeZoneTask.h"
#include "texture/cuda/CudaSlabEngine.h"

namespace voxelmaps
{
/** Whether a slice of a window fits some words, and the tables of the windows of a warp the shared memory of a block.
 */
bool
CudaBitPlanesSupports(const SizeZoneTask & task);
/** The same for the part of BitPlanes for large windows, in which a lane has a slice. */
bool
CudaBitSlicesSupports(const SizeZoneTask & task);

CudaScratchBytes
CudaUnionFindScratchBytes(const SizeZoneTask & slab);

// Launch the kernels of a method for a slab. UnionFind takes every task.
void
ComputeByCudaBitPlanes(const SizeZoneTask & task, const CudaMethodResources & resources);
void
ComputeByCudaBitSlices(const SizeZoneTask & task, const CudaMethodResources & resources);
void
ComputeByCudaUnionFind(const SizeZoneTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaSizeZoneMethods_h
