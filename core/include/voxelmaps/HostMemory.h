// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_VoxelMapsHostMemory_h
#define voxelmaps_VoxelMapsHostMemory_h

#include "voxelmaps/CoreExport.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** Ask the system for huge pages in a buffer that has not been written to: the first write to each page takes time, and
 * so does giving it back. Small buffers, the ends of a buffer that fill no huge page, and systems other than Linux keep
 * ordinary pages. The content does not change. */
VoxelMapsCore_EXPORT void
UseHugePages(void * data, std::size_t bytes);

/** Bytes of memory of this machine; the greatest number where the system does not say, as on Windows. */
VoxelMapsCore_EXPORT std::uint64_t
                     GetMachineMemory();
} // namespace voxelmaps

#endif // voxelmaps_VoxelMapsHostMemory_h
