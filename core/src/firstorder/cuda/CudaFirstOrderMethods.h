// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
