// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
