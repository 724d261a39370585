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
#ifndef voxelmaps_ThreadPool_h
#define voxelmaps_ThreadPool_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/Job.h"

namespace voxelmaps
{
/** A ParallelFor for callers that have no threads of their own: it keeps its threads from one call to the next, and
 * starts as many as a call asks for. A call from one of its threads, or while another call runs, computes everything on
 * the calling thread. A process that was forked starts new threads. */
VoxelMapsCore_EXPORT ParallelFor
GetThreadPool();

/** Number of processors that this process may use, at least 1. */
VoxelMapsCore_EXPORT unsigned int
GetNumberOfProcessors();
} // namespace voxelmaps

#endif // voxelmaps_ThreadPool_h
