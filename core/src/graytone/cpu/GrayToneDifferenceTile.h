// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceTile_h
#define GrayToneDifferenceTile_h

#include "graytone/GrayToneDifferenceFormulas.h"
#include "graytone/GrayToneDifferenceTask.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** A box of the output region. */
struct GrayToneDifferenceTile
{
  std::int64_t start[3];
  int          size[3];

  // Called every few milliseconds; throws to end the job.
  void (*checkAbort)(const void * execution);
  const void * execution;
};

/** Whether ComputeGrayToneDifferenceTile can compute the task. */
bool
GrayToneDifferenceTileSupports(const GrayToneDifferenceTask & task);

/** Bytes of the memory that a call of ComputeGrayToneDifferenceTile for a tile of at most this size needs, aligned
 * to 64. */
std::size_t
GrayToneDifferenceWorkspaceSize(const GrayToneDifferenceTask & task, const int (&tileSize)[3]);

/** Store the features of a window as the components that begin here. Compiled once, for all instruction sets. */
void
StoreGrayToneDifferenceFeatures(const GrayToneDifferenceTask & task, const GrayToneDifferenceSums & sums,
                                std::int64_t firstComponent);
/** The same for a voxel without features. */
void
StoreGrayToneDifferenceBackground(const GrayToneDifferenceTask & task, std::int64_t firstComponent);

// One compilation of GrayToneDifferenceTileKernel.h per instruction set.
namespace baseline
{
void
ComputeGrayToneDifferenceTile(const GrayToneDifferenceTask & task, const GrayToneDifferenceTile & tile,
                              void * workspace);
}
namespace avx2
{
void
ComputeGrayToneDifferenceTile(const GrayToneDifferenceTask & task, const GrayToneDifferenceTile & tile,
                              void * workspace);
}
namespace avx512
{
void
ComputeGrayToneDifferenceTile(const GrayToneDifferenceTask & task, const GrayToneDifferenceTile & tile,
                              void * workspace);
}
} // namespace voxelmaps

#endif // GrayToneDifferenceTile_h
