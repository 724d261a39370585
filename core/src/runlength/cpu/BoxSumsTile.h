// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsTile_h
#define BoxSumsTile_h

#include "runlength/RunLength.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** A task with what box sums need beside it. Plain data, since the sources compiled for one instruction set must not
 * instantiate templates of the C++ library, which the linker could pick for all processors. */
struct BoxSumsTask : RunLengthTask
{
  bool wideSquares; // sums of i^2 need 64 bits
  int  tileSize[3]; // the largest tile

  // Called every few milliseconds; throws to end the job.
  void (*checkAbort)(const void * execution);
  const void * execution;
};

/** A box of the output region. */
struct BoxSumsTile
{
  std::int64_t start[3];
  int          size[3];
};

/** Whether box sums can compute the task: all sums fit their integers. */
bool
BoxSumsSupports(const BoxSumsTask & task);

/** Bytes of the memory that a call of ComputeBoxSumsTile needs, aligned to 64. */
std::size_t
BoxSumsWorkspaceSize(const BoxSumsTask & task);

// One compilation of BoxSumsTileKernel.h per instruction set.
namespace baseline
{
void
ComputeBoxSumsTile(const BoxSumsTask & task, const BoxSumsTile & tile, void * workspace);
}
namespace avx2
{
void
ComputeBoxSumsTile(const BoxSumsTask & task, const BoxSumsTile & tile, void * workspace);
}
namespace avx512
{
void
ComputeBoxSumsTile(const BoxSumsTask & task, const BoxSumsTile & tile, void * workspace);
}
} // namespace voxelmaps

#endif // BoxSumsTile_h
