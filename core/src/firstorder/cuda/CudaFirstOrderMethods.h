// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFirstOrderMethods_h
#define CudaFirstOrderMethods_h

#include "firstorder/FirstOrder.h"
#include "window/cuda/CudaSlabEngine.h"

namespace voxelmaps
{
/** Memory for a CudaIntensityRange. */
constexpr std::uint64_t cudaIntensityRangeBytes = 256;

struct CudaIntensityRange;

/** Whether the kernels of tiles compute all slabs of a task, whatever its intensities. */
bool
CudaFirstOrderTilesSupports(const FirstOrderTask & task);
/** Launch the kernels that compute windows in tiles. Returns where other kernels find whether they have computed the
 * slab, at the beginning of the scratch memory; null if nothing depends on the intensities. */
const CudaIntensityRange *
ComputeByCudaFirstOrderTiles(const FirstOrderTask & task, const CudaMethodResources & resources);

/** Supports every task, and begins with tiles. */
CudaScratchBytes
CudaRadixSelectionScratchBytes(const FirstOrderTask & slab);
void
ComputeByCudaRadixSelection(const FirstOrderTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaFirstOrderMethods_h
