// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaDependenceMethods_h
#define CudaDependenceMethods_h

#include "dependence/Dependence.h"
#include "texture/cuda/CudaSlabEngine.h"

#include <cstdint>

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

/** The neighbors at distance 1. */
struct CudaNearNeighbors
{
  /** Whether they are all that a window can hold. */
  bool areAll;
  /** In the slice before that of the voxel, in its slice, and in the one after it: how many, and the steps to them. */
  int         numbers[3];
  std::int8_t steps[3][9][2];
};

/** One thread per window, which has the voxels as bits in its registers. The neighbors are those of
 * MakeCudaNearNeighbors. */
bool
CudaDependenceBitsSupports(const DependenceTask & hostTask);
CudaNearNeighbors
MakeCudaNearNeighbors(const DependenceTask & hostTask);
void
ComputeByCudaDependenceBits(const DependenceTask & task, const CudaNearNeighbors & neighbors,
                            const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaDependenceMethods_h
