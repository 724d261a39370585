// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependenceTileMemory_h
#define DependenceTileMemory_h

#include "DependenceTile.h"

namespace voxelmaps
{
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
  void *               elements;     // of the matrix of a window, bytes or 16 bits, all 0 between windows
  DependenceSizeSums * sums;         // by size, of a window
  std::uint32_t *      levelCounts;  // voxels of every level, of one window; all 0 between rows
  std::uint64_t *      levelSquares; // of the windows of a row

  std::size_t elementBytes;
  std::size_t bytes;

  DependenceTileMemory(const DependenceTask & task, const DependenceTileLayout & layout, void * memory)
    : bytes(0)
  {
    constexpr std::size_t alignment = 64;
    const auto            take = [&](std::size_t n) {
      void * part = memory == nullptr ? nullptr : static_cast<char *>(memory) + bytes;
      bytes += (n + alignment - 1) / alignment * alignment;
      return part;
    };
    const auto voxels = static_cast<std::size_t>(layout.inputVoxels);
    const auto numberOfLevels = static_cast<std::size_t>(task.numberOfGrayLevels) + 1;
    levels = static_cast<std::uint16_t *>(take(voxels * sizeof(std::uint16_t)));
    // Blocks may read past the last row.
    dependent = static_cast<std::uint8_t *>(
      take(voxels * static_cast<std::size_t>(task.numberOfOffsets) + std::size_t{ maxBlockWindows }));
    sizes =
      static_cast<std::uint8_t *>(take(static_cast<std::size_t>(task.windowVoxels) * std::size_t{ maxBlockWindows }));
    elementBytes = layout.entropyDifferences == nullptr
                     ? 0
                     : (numberOfLevels << layout.sizeBits) * (task.windowVoxels < 256 ? 1 : sizeof(std::uint16_t));
    elements = take(elementBytes);
    sums = static_cast<DependenceSizeSums *>(
      take((static_cast<std::size_t>(task.maxSize) + 1) * sizeof(DependenceSizeSums)));
    levelCounts =
      static_cast<std::uint32_t *>(take(layout.needsLevelSquares ? numberOfLevels * sizeof(std::uint32_t) : 0));
    levelSquares =
      static_cast<std::uint64_t *>(take(static_cast<std::size_t>(layout.rowLength) * sizeof(std::uint64_t)));
  }
};
} // namespace
} // namespace voxelmaps

#endif // DependenceTileMemory_h
