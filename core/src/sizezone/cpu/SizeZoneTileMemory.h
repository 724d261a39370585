// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneTileMemory_h
#define SizeZoneTileMemory_h

#include "SizeZoneTile.h"
#include "sizezone/SizeZoneWords.h"
#include "texture/cpu/TileShape.h"

namespace voxelmaps
{
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
    : bytes(0)
  {
    const auto take = [&](std::ptrdiff_t n) {
      void * part = memory == nullptr ? nullptr : static_cast<char *>(memory) + bytes;
      bytes += (static_cast<std::size_t>(n) + maxVectorBytes - 1) / maxVectorBytes * maxVectorBytes;
      return part;
    };
    constexpr auto levelBytes = static_cast<std::ptrdiff_t>(sizeof(std::uint16_t));
    levels = static_cast<std::uint16_t *>(take((shape.inputVoxels + inputSlack) * levelBytes));
    constexpr int wordBytes = maxWordBits / 8; // of a window, at most
    slices = take(std::ptrdiff_t{ shape.ez } * shape.nx * (LevelBits(task) + 1) * wordBytes);
    zones = static_cast<std::uint32_t *>(
      take(std::ptrdiff_t{ maxVectorWindows } * task.windowVoxels * static_cast<int>(sizeof(std::uint32_t))));
  }
};
} // namespace
} // namespace voxelmaps

#endif // SizeZoneTileMemory_h
