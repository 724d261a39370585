// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneTile_h
#define SizeZoneTile_h

#include "glszm/SizeZone.h"
#include "window/cpu/KernelTile.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** A tile, and what stores its features. */
struct SizeZoneTile : KernelTile
{
  /** Stores the features of an output voxel from the zones of its window, or the background if there are none. */
  void (*finish)(void * matrix, std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones);
  void * matrix;
};

namespace
{
constexpr int maxVectorBytes = 64; // of the widest instruction set
constexpr int maxVectorWindows = maxVectorBytes / static_cast<int>(sizeof(std::uint32_t));

/** The parts of a workspace. Laid out twice: without memory to learn the size, then on the memory. */
struct SizeZoneTileMemory
{
  std::uint16_t * levels; // of every input voxel
  /** For every slice of the input and every vector of windows: words of the voxels that have a level, and of each bit
   * of the levels. */
  void *          slices;
  std::uint32_t * zones; // of the windows of one vector

  std::size_t bytes;

  SizeZoneTileMemory(const SizeZoneTask & task, const TileShape & shape, void * memory)
  {
    WorkspaceLayout layout(memory);
    levels = layout.Append<std::uint16_t>(shape.inputVoxels + inputSlack);
    constexpr int wordBytes = maxWordBits / 8; // of a window, at most
    slices = layout.Append<char>(std::ptrdiff_t{ shape.ez } * shape.nx * (LevelBits(task) + 1) * wordBytes);
    zones = layout.Append<std::uint32_t>(std::ptrdiff_t{ maxVectorWindows } * task.windowVoxels);
    bytes = layout.Bytes();
  }
};
} // namespace

VOXELMAPS_DECLARE_KERNEL(void ComputeSizeZoneTile(const SizeZoneTask & task, const SizeZoneTile & tile,
                                                  void * workspace))
} // namespace voxelmaps

#endif // SizeZoneTile_h
