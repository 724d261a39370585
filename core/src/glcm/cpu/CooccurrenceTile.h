// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceTile_h
#define CooccurrenceTile_h

#include "window/cpu/KernelTile.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** Where a pair of ranks is counted in a table. */
struct CooccurrencePlaces
{
  std::uint16_t cell;
  std::uint16_t sum;
  std::uint16_t difference;
  /** 2 on the diagonal, since a pair of one level is counted in both orders. */
  std::uint8_t step;
};

/** The moments of a pair: those of its difference of levels, then those of its sum. See
 * CooccurrenceTables. */
constexpr int cooccurrenceDifferenceMoments = 8;
constexpr int cooccurrenceSumMoments = 4;
constexpr int cooccurrenceMoments = cooccurrenceDifferenceMoments + cooccurrenceSumMoments;

/** What a tile kernel finds out about a matrix. */
struct CooccurrenceTileSums
{
  std::int64_t moments[cooccurrenceMoments];
  std::int64_t rowTerms;
  std::int64_t sumTerms;
  std::int64_t differenceTerms;
  std::int64_t cellTerms;
  std::int64_t cellSquares;
  std::int64_t maximum;
};

/** The symmetric matrices of one offset, for the windows of a rectangle of output voxels.
 *
 * The table of a window has 16-bit counts of five parts: sums of rows by rank, sums u, differences k, cells of the
 * diagonal, and cells below it, those with the smallest difference of ranks first. Each part begins at a multiple of
 * 32. The table of a column, which holds the pairs of a window whose first voxel has one x, has bytes in their place.
 */
struct CooccurrenceTile
{
  /** Counts in a vector of the widest instruction set. */
  static constexpr int alignment = 32;
  /** t(n) of smaller counts are looked up in registers: slice i has the bits 15 i ... 15 i + 14. */
  static constexpr int smallCounts = 64;
  static constexpr int slices = 4;
  static constexpr int sliceBits = 15;

  /** Ranks of the levels from 1, 0 where a voxel is absent: z fastest, then y. */
  const std::uint8_t * ranks;
  std::ptrdiff_t       strideX;
  std::ptrdiff_t       strideY;
  int                  windows[2];

  /** From the first voxel of the first window: the least first voxel of a pair; numbers of first voxels; and from the
   * first to the second voxel of a pair. */
  std::ptrdiff_t first;
  int            pairs[3];
  std::ptrdiff_t step;

  /** At [rank * (numberOfRanks + 1) + other rank]. */
  const CooccurrencePlaces * places;
  int                        numberOfRanks;
  int                        sumsBegin;
  int                        differencesBegin;
  int                        diagonalBegin;
  int                        cellsBegin;
  int                        size;

  /** Moments of the differences and sums of the parts. */
  const std::int64_t *  differenceTable;
  const std::int64_t *  sumTable;
  const std::int64_t *  terms;      // null if no feature needs their sums
  const std::uint16_t * termSlices; // slice by slice

  /** Memory, aligned to 64 bytes: windows[0] + pairs[0] - 1 columns with size bytes, and as many moments; one column
   * more, of zeros; the table of a window. */
  std::uint8_t *  columns;
  std::int64_t *  columnMoments;
  std::uint16_t * counts;

  // Kernels call it, since code for one instruction set must not contain functions that other code may call.
  void (*finishWindow)(void * context, int x, int y, const CooccurrenceTileSums & sums, const std::uint16_t * counts);
  /** Whether features of a window are needed. */
  const std::uint8_t * isComputed;
  void *               context;
};

/** The counts of a table that cost as much time as a pair of a plane in CooccurrenceSlidingWindow, measured with 32 to
 * 128 levels on an AMD EPYC (Zen 4); 0 if there is no kernel. */
VOXELMAPS_DECLARE_KERNEL(int GetCooccurrenceTileCounts())
VOXELMAPS_DECLARE_KERNEL(void ComputeCooccurrenceTile(const CooccurrenceTile & tile))
} // namespace voxelmaps

#endif // CooccurrenceTile_h
