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
#ifndef voxelmaps_VoxelMapsHostMemory_h
#define voxelmaps_VoxelMapsHostMemory_h

#include "voxelmaps/CoreExport.h"

#include <cstddef>

namespace voxelmaps
{
/** Ask the system for huge pages in a buffer that has not been written to: the first write to each page takes time, and
 * so does giving it back. Small buffers, the ends of a buffer that fill no huge page, and systems other than Linux keep
 * ordinary pages. The content does not change. */
VoxelMapsCore_EXPORT void
UseHugePages(void * data, std::size_t bytes);
} // namespace voxelmaps

#endif // voxelmaps_VoxelMapsHostMemory_h
