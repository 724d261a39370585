// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaDependenceMethods_h
#define CudaDependenceMethods_h

#include "dependence/Dependence.h"
#include "texture/cuda/CudaSlabEngine.h"

// The methods of the CUDA engine. All accept tasks with device pointers and give bit-identical results.
namespace voxelmaps
{
/** One block per window; supports every task. The blocks in flight share the scratch memory, which also holds the
 * dependent neighbors of all voxels if these are bits. */
bool
CudaDependenceNeighborsAreBits(const DependenceTask & hostTask);
CudaScratchBytes
CudaDependenceWalkScratchBytes(const DependenceTask & task, bool areNeighborsInBits);
void
ComputeByCudaDependenceWalk(const DependenceTask & task, bool areNeighborsInBits,
                            const CudaMethodResources & resources);

/** One thread per window, which has the voxels as bits in its registers. The neighbors are all voxels at distance 1. */
bool
CudaDependenceBitsSupports(const DependenceTask & hostTask);
void
ComputeByCudaDependenceBits(const DependenceTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaDependenceMethods_h
