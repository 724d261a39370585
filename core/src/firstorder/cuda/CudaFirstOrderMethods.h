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
#ifndef CudaFirstOrderMethods_h
#define CudaFirstOrderMethods_h

#include "firstorder/FirstOrderTask.h"
#include "texture/cuda/CudaSlabEngine.h"

namespace voxelmaps
{
/** Whether the windows of a warp fit the shared memory. */
bool
CudaSortingNetworkSupports(const FirstOrderTask & task);

CudaScratchBytes
CudaRadixSelectionScratchBytes(const FirstOrderTask & slab);

/** Memory for a CudaIntegerRange. */
constexpr std::uint64_t cudaIntegerRangeBytes = 256;

struct CudaIntegerRange;

/** Launch the kernels that compute windows of tiles. Returns false if the kernels of a method are needed, too: for
 * slabs whose intensities are not integers, or, if integers becomes null, for all slabs. Integers is where the device
 * finds what they are, at the beginning of the scratch memory. */
bool
ComputeByCudaFirstOrderTiles(const FirstOrderTask & task, const CudaMethodResources & resources,
                             const CudaIntegerRange *& integers);

// Launch the kernels of a method for a slab, which do nothing where integers were computed; these may be null.
// RadixSelection takes every task.
void
ComputeByCudaSortingNetwork(const FirstOrderTask & task, const CudaIntegerRange * integers,
                            const CudaMethodResources & resources);
void
ComputeByCudaRadixSelection(const FirstOrderTask & task, const CudaIntegerRange * integers,
                            const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaFirstOrderMethods_h
