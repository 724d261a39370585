// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FilterLines_h
#define FilterLines_h

#include "preprocess/Filter.h"
#include "window/cpu/KernelTile.h"

#include <cstdint>

namespace voxelmaps
{
/** Lines that are filtered together; index i of line k is at i * lanes + k. */
struct FilterLinesTask
{
  const FilterNode * node;
  /** For a convolution, voxels from the first one that it reads on, with those of its boundary; doubles or floats. */
  const void * input;
  std::int64_t inputLength;
  /** For a recursion, the causal part of all voxels, to which the anticausal part is added. */
  void *       output;
  double *     anticausal;
  std::int64_t outputLength;
  /** A multiple of filterLaneGroup. */
  std::int64_t lanes;
  /** Number of voxels of the line, and the first one that a convolution has results of. */
  std::int64_t lineLength;
  std::int64_t first;
};

/** A row of results of a Gabor filter. */
struct GaborRowTask
{
  const std::vector<GaborKernel::Row> * rows;
  /** Numbers of the kernel, the input at the first result, which has all voxels around it, and the sums of the even and
   * the odd part; doubles or floats. */
  const void * numbers;
  const void * input;
  void *       even;
  void *       odd;
  /** Voxels from one row of the input to the next. */
  std::int64_t pitch;
  /** A multiple of gaborLaneGroup. */
  std::int64_t length;
};

/** Lines whose arithmetic fills all vectors of an instruction set. */
constexpr std::int64_t filterLaneGroup = 16;
/** Voxels of a row whose sums are in registers. */
constexpr std::int64_t gaborLaneGroup = 32;

VOXELMAPS_DECLARE_KERNEL(void FilterRecursively(const FilterLinesTask & task);
                         void ConvolveDoubles(const FilterLinesTask & task);
                         void ConvolveFloats(const FilterLinesTask & task);
                         void GaborDoubles(const GaborRowTask & task); void GaborFloats(const GaborRowTask & task))
} // namespace voxelmaps

#endif // FilterLines_h
