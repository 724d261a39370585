// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsTileContext_h
#define BoxSumsTileContext_h

// Part of BoxSumsTileKernel.h: the input of a tile and where its voxels are.
#include "BoxSumsTile.h"
#include "texture/cpu/BoxSums.h"

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** A tile, its input and its memory, as all steps of the computation see them. */
struct TileContext
{
  const BoxSumsTask &  task;
  const KernelTile &   tile;
  const TileShape      shape;
  const TileMemory     memory;
  const std::ptrdiff_t inputVoxels; // with the slack that blocks may read

  TileContext(const BoxSumsTask & theTask, const KernelTile & theTile, void * workspace)
    : task(theTask)
    , tile(theTile)
    , shape(theTask, theTile.size)
    , memory(theTask, shape, workspace)
    , inputVoxels(shape.inputVoxels + inputSlack)
  {}

  const int (&Direction(int d) const)[3] { return task.directions.steps[d]; }

  Box
  GetBox(int d, int k) const
  {
    const auto & direction = this->Direction(d);
    return Box{ task.window[0] - (k - 1) * (direction[0] != 0 ? 1 : 0),
                task.window[1] - (k - 1) * (direction[1] != 0 ? 1 : 0),
                task.window[2] - (k - 1) * (direction[2] != 0 ? 1 : 0) };
  }

  std::ptrdiff_t
  InputOffset(int x, int y, int z) const
  {
    return shape.InputOffset(x, y, z);
  }

  /** From the least corner of k voxels along a direction to their first. */
  std::ptrdiff_t
  FirstVoxel(int d, int k) const
  {
    const auto & direction = this->Direction(d);
    return this->InputOffset(direction[0] < 0 ? k - 1 : 0, direction[1] < 0 ? k - 1 : 0, direction[2] < 0 ? k - 1 : 0);
  }

  const std::uint16_t *
  CenterRow(int y, int z) const
  {
    return memory.levels + this->InputOffset(task.anchor[0], task.anchor[1] + y, task.anchor[2] + z);
  }

  /** start_k of a direction; all share start_1, and without run entropy the others too, one direction after the other.
   */
  std::uint8_t *
  RunStarts(int d, int k) const
  {
    const int before = k == 1 ? 0 : (task.needsEntropy ? d : 0) * (task.directions.longestLine - 1) + k - 1;
    return memory.runStarts + before * inputVoxels;
  }

  /** Number of the first output voxel of a row of the tile. */
  std::int64_t
  OutputVoxel(int y, int z) const
  {
    return voxelmaps::OutputVoxel(task, tile, 0, y, z);
  }

  std::ptrdiff_t
  PlaneOutputs() const
  {
    return std::ptrdiff_t{ shape.nx } * shape.ny;
  }

  /** Copy the input of the tile, 0 outside the level buffer. Returns whether any output voxel has a level and is
   * selected. */
  bool
  LoadLevels()
  {
    std::memset(memory.levels, 0, 2 * static_cast<std::size_t>(inputVoxels));
    CopyInput(task, tile, task.levels, tile.size[0] + task.window[0] - 1, 0, shape.ey, shape.ez, [this](int y, int z) {
      return memory.levels + this->InputOffset(0, y, z);
    });
    for (int z = 0; z < shape.nz; ++z)
    {
      for (int y = 0; y < shape.ny; ++y)
      {
        const std::uint16_t * row = this->CenterRow(y, z);
        const std::int64_t    voxel = this->OutputVoxel(y, z);
        for (int x = 0; x < tile.size[0]; ++x)
        {
          if (row[x] != 0 && task.IsSelected(voxel + x))
          {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** start_2 of a direction. */
  void
  MakeLinks(int d, std::uint8_t * VOXELMAPS_RESTRICT links) const
  {
    const auto &         direction = this->Direction(d);
    const std::ptrdiff_t first = this->FirstVoxel(d, 2);
    const std::ptrdiff_t step = this->InputOffset(direction[0], direction[1], direction[2]);
    const int            rows = shape.ey - (direction[1] != 0 ? 1 : 0);
    const int            planes = shape.ez - (direction[2] != 0 ? 1 : 0);
    for (int z = 0; z < planes; ++z)
    {
      for (int y = 0; y < rows; ++y)
      {
        const std::ptrdiff_t                     at = this->InputOffset(0, y, z);
        const std::uint16_t * VOXELMAPS_RESTRICT a = memory.levels + at + first;
        const std::uint16_t * VOXELMAPS_RESTRICT b = a + step;
        std::uint8_t * VOXELMAPS_RESTRICT        out = links + at;
        ForEachLane<std::uint8_t>(shape.ex, [&](std::ptrdiff_t x) {
          out[x] = static_cast<std::uint8_t>((a[x] == b[x] ? 1 : 0) & (a[x] != 0 ? 1 : 0));
        });
      }
    }
  }

  /** start_2, start_3 ... of a direction, up to the longest that is not zero everywhere, whose k is returned. */
  int
  MakeRunStarts(int d) const
  {
    const int longest = task.directions.longestLines[d];
    if (longest < 2)
    {
      return 1;
    }
    const auto & direction = Direction(d);
    // start_k(c) = start_(k-1)(c + shorter) and link(c + link): the last voxel of k joins the k - 1 before it.
    const std::ptrdiff_t shorter = FirstVoxel(d, 2);
    for (int k = 2; k <= longest; ++k)
    {
      if (k == 2)
      {
        MakeLinks(d, RunStarts(d, 2));
      }
      const std::ptrdiff_t link =
        InputOffset(direction[0] > 0 ? k - 2 : 0, direction[1] > 0 ? k - 2 : 0, direction[2] > 0 ? k - 2 : 0);
      const int    rows = shape.ey - (direction[1] != 0 ? k - 1 : 0);
      const int    planes = shape.ez - (direction[2] != 0 ? k - 1 : 0);
      const int    columns = tile.size[0] + task.window[0] - 1 - (direction[0] != 0 ? k - 1 : 0);
      unsigned int any = 0;
      for (int z = 0; z < planes; ++z)
      {
        for (int y = 0; y < rows; ++y)
        {
          const std::ptrdiff_t                    at = InputOffset(0, y, z);
          std::uint8_t * VOXELMAPS_RESTRICT       out = RunStarts(d, k) + at;
          const std::uint8_t * VOXELMAPS_RESTRICT before = RunStarts(d, k - 1) + at + shorter;
          const std::uint8_t * VOXELMAPS_RESTRICT links = RunStarts(d, 2) + at + link;
          if (k > 2)
          {
            ForEachLane<std::uint8_t>(shape.ex, [&](std::ptrdiff_t x) { out[x] = before[x] & links[x]; });
          }
          std::uint8_t some = 0;
          for (int x = 0; x < columns; ++x)
          {
            some |= out[x];
          }
          any |= some;
        }
      }
      if (any == 0)
      {
        return k - 1;
      }
    }
    return longest;
  }

  template <typename T>
  T *
  Scratch() const
  {
    return static_cast<T *>(memory.rowScratch);
  }

  /** Box sums of output plane z; call for plane after plane. */
  template <bool VAdd, typename T, typename TSource>
  void
  SumBox(const Box & box, const TSource & source, int z, T * plane, T * out) const
  {
    AdvancePlane(shape, box, source, z, plane);
    SumPlane<VAdd>(shape, box, plane, static_cast<T *>(memory.row), this->Scratch<T>(), out);
  }
};
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps

#endif // BoxSumsTileContext_h
