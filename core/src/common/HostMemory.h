// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef HostMemory_h
#define HostMemory_h

#include "voxelmaps/HostMemory.h"
#include "voxelmaps/Job.h"

namespace voxelmaps
{
/** UseHugePages, then let all workers write to every page: what is copied to the buffer later does not wait for pages.
 * The content of the buffer is lost. */
void
TouchMemory(void * data, std::size_t bytes, const JobExecution & execution);

/** Let the system provide the memory of the huge pages that begin in bytes begin ... end - 1 of a buffer; calls for all
 * parts of a buffer, one after the other or concurrently, leave only its start to the first write. The content does not
 * change. Nothing happens where PopulatesHugePages() is false. */
void
PopulateHugePages(void * data, std::size_t bytes, std::size_t begin, std::size_t end);
bool
PopulatesHugePages();

/** memcpy for results larger than the caches: it does not read the memory that it overwrites. */
void
CopyPastCaches(void * to, const void * from, std::size_t bytes);
} // namespace voxelmaps

#endif // HostMemory_h
