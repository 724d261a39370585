// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaGrayToneDifferenceMethods_h
#define CudaGrayToneDifferenceMethods_h

#include "cuda/CudaLaunch.h"
#include "graytone/GrayToneDifference.h"
#include "texture/cuda/CudaSlabEngine.h"

namespace voxelmaps
{
/** Number of warps of a block of LevelTables, which the shared memory limits; 0 if it does not support the task. */
int
CudaLevelTableWarps(const GrayToneDifferenceTask & task, const CudaDeviceLimits & limits);

CudaScratchBytes
CudaGrayToneDifferenceWalkScratchBytes(const GrayToneDifferenceTask & task);

// Launch the kernels of a method for a slab. WindowWalk supports every task.
void
ComputeByCudaLevelTables(const GrayToneDifferenceTask & task, const CudaMethodResources & resources);
void
ComputeByCudaGrayToneDifferenceWalk(const GrayToneDifferenceTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaGrayToneDifferenceMethods_h
