// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderTile_h
#define FirstOrderTile_h

#include "firstorder/FirstOrder.h"
#include "texture/cpu/TileShape.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
namespace
{
constexpr int vectorBytes = 64; // of the widest instruction set

/** The parts of a workspace. Laid out twice: without memory to learn the size, then on the memory. */
struct FirstOrderTileMemory
{
  void *          intensities; // of every input voxel, NaN where it is absent
  std::uint16_t * levels;
  void *          sorted; // intensities of the windows of one vector
  std::uint32_t * counts; // voxels of every level, of one window

  // Of the windows of a row.
  std::int64_t *  levelEntropies; // sum of t(n_i)
  std::uint64_t * levelSquares;

  std::size_t bytes;

  FirstOrderTileMemory(const FirstOrderTask & task, const TileShape & shape, void * memory)
    : bytes(0)
  {
    const auto voxels = static_cast<std::size_t>(shape.inputVoxels);
    const auto take = [&](std::size_t n) {
      void * part = memory == nullptr ? nullptr : static_cast<char *>(memory) + bytes;
      bytes += (n + vectorBytes - 1) / vectorBytes * vectorBytes;
      return part;
    };
    intensities = take(voxels * (task.intensitiesAreDouble ? sizeof(double) : sizeof(float)));
    levels = static_cast<std::uint16_t *>(take(voxels * sizeof(std::uint16_t)));
    sorted = take(task.needsPercentiles ? static_cast<std::size_t>(task.windowVoxels) * vectorBytes : 0);
    counts = static_cast<std::uint32_t *>(take(
      task.needsLevelCounts ? (static_cast<std::size_t>(task.numberOfGrayLevels) + 1) * sizeof(std::uint32_t) : 0));
    const auto windows = static_cast<std::size_t>(shape.nx);
    levelEntropies = static_cast<std::int64_t *>(take(windows * sizeof(std::int64_t)));
    levelSquares = static_cast<std::uint64_t *>(take(windows * sizeof(std::uint64_t)));
  }
};
} // namespace

VOXELMAPS_DECLARE_KERNEL(void ComputeFirstOrderTile(const FirstOrderTask & task, const KernelTile & tile,
                                                    void * workspace))
} // namespace voxelmaps

#endif // FirstOrderTile_h
