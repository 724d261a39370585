// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderTile_h
#define FirstOrderTile_h

#include "firstorder/FirstOrder.h"
#include "window/cpu/KernelTile.h"

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

  // Sums of the windows of a row.
  std::int64_t *  levelEntropies; // sum of t(n_i)
  std::uint64_t * levelSquares;

  std::size_t bytes;

  FirstOrderTileMemory(const FirstOrderTask & task, const TileShape & shape, void * memory)
  {
    WorkspaceLayout layout(memory);
    intensities = task.intensitiesAreDouble ? static_cast<void *>(layout.Append<double>(shape.inputVoxels))
                                            : layout.Append<float>(shape.inputVoxels);
    levels = layout.Append<std::uint16_t>(shape.inputVoxels);
    sorted = layout.Append<char>(task.needsPercentiles ? std::ptrdiff_t{ task.windowVoxels } * vectorBytes : 0);
    counts = layout.Append<std::uint32_t>(task.needsLevelCounts ? task.numberOfGrayLevels + 1 : 0);
    levelEntropies = layout.Append<std::int64_t>(shape.nx);
    levelSquares = layout.Append<std::uint64_t>(shape.nx);
    bytes = layout.Bytes();
  }
};
} // namespace

VOXELMAPS_DECLARE_KERNEL(void ComputeFirstOrderTile(const FirstOrderTask & task, const KernelTile & tile,
                                                    void * workspace))
} // namespace voxelmaps

#endif // FirstOrderTile_h
