// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSizeZoneMethods_h
#define CudaSizeZoneMethods_h

#include "sizezone/SizeZone.h"
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

// Launch the kernels for a slab.
void
ComputeByCudaBitPlanes(const SizeZoneTask & task, const CudaMethodResources & resources);
void
ComputeByCudaBitSlices(const SizeZoneTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaSizeZoneMethods_h
