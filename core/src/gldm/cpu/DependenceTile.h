// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependenceTile_h
#define DependenceTile_h

#include "gldm/Dependence.h"
#include "window/cpu/KernelTile.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** Sums over the entries of one size of a window. */
struct DependenceSizeSums
{
  std::uint64_t entriesAndLevels; // entries 2^32 + sum i
  std::uint64_t squares;          // sum i^2
  // Sums of the lower 32 bits of q(i), and of the bits above them.
  std::uint64_t lowInverses;
  std::uint64_t highInverses;
};

/** What a tile kernel finds out about a window. */
struct DependenceWindow
{
  /** At [j] for j = 1 ... maxSize. */
  const DependenceSizeSums * sizes;
  std::int64_t               entropyTerms; // sum of t(n) over the elements n of the matrix
  std::uint64_t              levelSquares; // sum of squares of the entries of the levels
};

/** A tile, and what stores its features. */
struct DependenceTile : KernelTile
{
  /** Stores the features of a window. Kernels call it, since code for one instruction set must not contain functions
   * that other code may call. */
  void (*finish)(const DependenceTask & task, std::int64_t outputVoxel, const DependenceWindow & window);
};

/** Where tiles of one job keep what they need in memory: shared by all tiles, whatever their sizes. */
struct DependenceTileLayout
{
  /** Rows and planes of the input of a tile, which is larger than the tile by the window. */
  int            rowLength;
  int            rows;
  int            planes;
  std::ptrdiff_t inputVoxels;

  /** From the least corner of a window to its voxels. */
  const std::int32_t * voxels;
  /** The neighbors of voxel v in the window are neighbors[firstNeighbors[v]] ... neighbors[firstNeighbors[v + 1] - 1]:
   * from the least corner of a window, among the bytes of the first offset, to the byte that says whether voxel and
   * neighbor depend on each other. */
  const std::int32_t * firstNeighbors;
  const std::int32_t * neighbors;
  /** What a voxel of level i adds to the sums of its size; 0 for i = 0. */
  const DependenceSizeSums * levels;
  /** t(n + 1) - t(n); null if no feature needs it. */
  const std::int64_t * entropyDifferences;
  bool                 needsLevelSquares;
  /** Elements of the matrix are at [(i << sizeBits) + j]. */
  int sizeBits;
};

namespace
{
/** Windows whose sizes are computed at once: at most the bytes of the widest vector. */
constexpr int maxBlockWindows = 64;

/** The parts of a workspace. Laid out twice: without memory to learn the size, then on the memory. */
struct DependenceTileMemory
{
  std::uint16_t * levels;
  /** For every offset and voxel of the input, whether the voxel and that at the offset depend on each other. */
  std::uint8_t * dependent;
  /** For every voxel of the windows of a block, 1 + its number of dependent neighbors in each of the windows. */
  std::uint8_t *       sizes;
  std::uint16_t *      elements;     // of the matrix of a window, all 0 between windows
  DependenceSizeSums * sums;         // by size, of a window
  std::uint32_t *      levelCounts;  // voxels of every level, of one window; all 0 between rows
  std::uint64_t *      levelSquares; // of the windows of a row

  std::size_t numberOfElements;
  std::size_t bytes;

  DependenceTileMemory(const DependenceTask & task, const DependenceTileLayout & tiles, void * memory)
  {
    WorkspaceLayout      layout(memory);
    const std::ptrdiff_t numberOfLevels = std::ptrdiff_t{ task.numberOfGrayLevels } + 1;
    levels = layout.Append<std::uint16_t>(tiles.inputVoxels);
    // Blocks may read past the last row.
    dependent = layout.Append<std::uint8_t>(tiles.inputVoxels * task.numberOfOffsets + maxBlockWindows);
    sizes = layout.Append<std::uint8_t>(std::ptrdiff_t{ task.windowVoxels } * maxBlockWindows);
    numberOfElements =
      tiles.entropyDifferences == nullptr ? 0 : static_cast<std::size_t>(numberOfLevels) << tiles.sizeBits;
    elements = layout.Append<std::uint16_t>(static_cast<std::ptrdiff_t>(numberOfElements));
    sums = layout.Append<DependenceSizeSums>(std::ptrdiff_t{ task.maxSize } + 1);
    levelCounts = layout.Append<std::uint32_t>(tiles.needsLevelSquares ? numberOfLevels : 0);
    levelSquares = layout.Append<std::uint64_t>(tiles.rowLength);
    bytes = layout.Bytes();
  }
};
} // namespace

VOXELMAPS_DECLARE_KERNEL(void ComputeDependenceTile(const DependenceTask & task, const DependenceTileLayout & layout,
                                                    const DependenceTile & tile, void * workspace))
} // namespace voxelmaps

#endif // DependenceTile_h
