// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRunLengthMethods_h
#define CudaRunLengthMethods_h

#include "cuda/CudaLaunch.h"
#include "runlength/RunLength.h"
#include "texture/cuda/CudaSlabEngine.h"

#include <vector>

// The methods of the CUDA engine. All accept tasks with device pointers and give bit-identical results.
namespace voxelmaps
{
/** One warp per window; supports every task. The warps in flight share the scratch memory. */
CudaScratchBytes
CudaWindowWalkScratchBytes(const RunLengthTask & task);
void
ComputeByCudaWindowWalk(const RunLengthTask & task, const CudaMethodResources & resources);
/** Compute again the windows in which a direction without pairs is to be skipped. */
void
SkipDirectionsByCudaWindowWalk(const RunLengthTask & task, const CudaMethodResources & resources);

/** One thread per window; supports every task with weights of directions, and no other. */
CudaScratchBytes
CudaWeightedRunLengthScratchBytes(const RunLengthTask & task);
void
ComputeByCudaWeightedRunLength(const RunLengthTask & task, const CudaMethodResources & resources);

/** Zhang et al. 2019 with CUB. Supports every task; more scratch memory means fewer batches of windows. Waits for the
 * stream now and then. */
CudaScratchBytes
CudaSortReduceScratchBytes(const RunLengthTask & task);
void
ComputeByCudaSortReduce(const RunLengthTask & task, const CudaMethodResources & resources);

/** The voxels of a window in a machine word. This and the following methods leave run entropy out. */
bool
CudaWindowWordSupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
void
ComputeByCudaWindowWord(const RunLengthTask & task, const CudaMethodResources & resources);

/** Box sums that neighboring windows share. */
bool
CudaBoxSumsSupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
CudaScratchBytes
CudaBoxSumsScratchBytes(const RunLengthTask & task);
void
ComputeByCudaBoxSums(const RunLengthTask & task, const CudaMethodResources & resources);

/** Windows that slide, and keep their matrices up to date. More scratch memory means fewer batches of windows. */
bool
CudaSlidingWindowSupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
CudaScratchBytes
CudaSlidingWindowScratchBytes(const RunLengthTask & task);
void
ComputeByCudaSlidingWindow(const RunLengthTask & task, const CudaMethodResources & resources);

/** Computes run entropy only; WindowWord, BoxSums and SlidingWindow leave its component unspecified. The steps are
 * those of MakeCudaRunEntropySteps in device memory. */
bool
CudaRunEntropySupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
std::vector<std::uint32_t>
MakeCudaRunEntropySteps(const RunLengthTask & task);
void
ComputeCudaRunEntropy(const RunLengthTask & task, const std::uint32_t * steps, const CudaMethodResources & resources);

/** The same for windows of up to 9 voxels along each axis, without steps. */
bool
CudaRunEntropyBitsSupports(const RunLengthTask & task);
void
ComputeCudaRunEntropyBits(const RunLengthTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaRunLengthMethods_h
