// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsTileContext_h
#define BoxSumsTileContext_h

// Part of BoxSumsTileKernel.h: sums over boxes, the input of a tile, and where its voxels are.
#include "BoxSumsTile.h"
#include "window/cpu/KernelTile.h"

#include <cstring>

#define VOXELMAPS_RESTRICT __restrict

// Tells the vectorizer that the iterations of the next loop do not depend on each other.
#if defined(VOXELMAPS_WITHOUT_COMPILER_EXTENSIONS)
#  define VOXELMAPS_INDEPENDENT
#elif defined(__clang__)
#  define VOXELMAPS_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#  define VOXELMAPS_INDEPENDENT _Pragma("GCC ivdep")
#else
#  define VOXELMAPS_INDEPENDENT
#endif

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
// --- Sums over boxes, axis by axis

/** Rows are processed in blocks of 64 voxels while that fits, and then of this many: a vector, or half of one. */
template <typename T>
constexpr int blockSize = sizeof(T) >= 4 ? 16 : 32;

/** Call f(x) for x = 0 ... n - 1, n a multiple of blockSize<T>. Calls must not depend on each other. */
template <typename T, typename TFunction>
inline void
ForEachLane(std::ptrdiff_t n, const TFunction & f)
{
  std::ptrdiff_t x0 = 0;
  for (; x0 + 64 <= n; x0 += 64)
  {
    VOXELMAPS_INDEPENDENT
    for (std::ptrdiff_t x = x0; x < x0 + 64; ++x)
    {
      f(x);
    }
  }
  for (; x0 < n; x0 += blockSize<T>)
  {
    VOXELMAPS_INDEPENDENT
    for (std::ptrdiff_t x = x0; x < x0 + blockSize<T>; ++x)
    {
      f(x);
    }
  }
}

struct Box
{
  int x, y, z;
};

/** start_k. */
template <typename T>
struct Counted
{
  const std::uint8_t * runStart;
  T
  operator()(std::ptrdiff_t i) const
  {
    return static_cast<T>(runStart[i]);
  }
};

/** f(level) start_k. */
template <typename T>
struct Weighted
{
  const std::uint8_t * runStart;
  const T *            weight;
  T
  operator()(std::ptrdiff_t i) const
  {
    return static_cast<T>(weight[i] & (T{ 0 } - static_cast<T>(runStart[i])));
  }
};

/** start_k of one level. */
template <typename T>
struct LevelSource
{
  const std::uint8_t * runStart;
  const std::uint8_t * indicator;
  T
  operator()(std::ptrdiff_t i) const
  {
    return static_cast<T>(runStart[i] & indicator[i]);
  }
};

/** Sums along z of the boxes that start in input plane z; call with z = 0, 1, ... in turn. */
template <typename T, typename TSource>
inline void
AdvancePlane(const TileShape & shape, const Box & box, const TSource & source, int z, T * VOXELMAPS_RESTRICT plane)
{
  const std::ptrdiff_t planeStride = std::ptrdiff_t{ shape.ex } * shape.ey;
  const int            rows = shape.ny + box.y - 1;
  const int            width = RoundUp(shape.nx + box.x - 1, blockSize<T>);
  for (int y = 0; y < rows; ++y)
  {
    T * VOXELMAPS_RESTRICT out = plane + std::ptrdiff_t{ y } * shape.ex;
    const std::ptrdiff_t   at = z * planeStride + std::ptrdiff_t{ y } * shape.ex;
    if (z == 0 || box.z == 1)
    {
      ForEachLane<T>(width, [&](std::ptrdiff_t x) { out[x] = source(at + x); });
      for (int k = 1; k < box.z; ++k)
      {
        const std::ptrdiff_t from = at + k * planeStride;
        ForEachLane<T>(width, [&](std::ptrdiff_t x) { out[x] = static_cast<T>(out[x] + source(from + x)); });
      }
    }
    else
    {
      const std::ptrdiff_t entering = at + (box.z - 1) * planeStride;
      const std::ptrdiff_t leaving = at - planeStride;
      ForEachLane<T>(
        width, [&](std::ptrdiff_t x) { out[x] = static_cast<T>(out[x] + source(entering + x) - source(leaving + x)); });
    }
  }
}

template <bool VAdd, int VWidth, typename T>
inline void
SumAlongShortRow(const T * VOXELMAPS_RESTRICT in, T * VOXELMAPS_RESTRICT out, int n)
{
  ForEachLane<T>(n, [&](std::ptrdiff_t x) {
    T sum = in[x];
    for (int j = 1; j < VWidth; ++j)
    {
      sum = static_cast<T>(sum + in[x + j]);
    }
    out[x] = VAdd ? static_cast<T>(out[x] + sum) : sum;
  });
}

/** out[x] = or += sum of in[x] ... in[x + width - 1]. Scratch holds two rows. */
template <bool VAdd, typename T>
inline void
SumAlongRow(const T * VOXELMAPS_RESTRICT in, T * VOXELMAPS_RESTRICT out, int n, int width, T * scratch, int scratchRow)
{
  switch (width)
  {
    case 1:
      return SumAlongShortRow<VAdd, 1>(in, out, n);
    case 2:
      return SumAlongShortRow<VAdd, 2>(in, out, n);
    case 3:
      return SumAlongShortRow<VAdd, 3>(in, out, n);
    case 4:
      return SumAlongShortRow<VAdd, 4>(in, out, n);
    case 5:
      return SumAlongShortRow<VAdd, 5>(in, out, n);
    case 6:
      return SumAlongShortRow<VAdd, 6>(in, out, n);
    case 7:
      return SumAlongShortRow<VAdd, 7>(in, out, n);
    default:
      break;
  }
  // Sums of 1, 2, 4 ... voxels; those of the binary digits of the width make the whole.
  const int length = RoundUp(n + width - 1, blockVoxels);
  T *       current = scratch;
  T *       next = scratch + scratchRow;
  std::memcpy(current, in, length * sizeof(T));
  int  done = 0;
  bool add = VAdd;
  for (int power = 1;; power *= 2)
  {
    if (width & power)
    {
      const T * VOXELMAPS_RESTRICT part = current + done;
      ForEachLane<T>(n, [&](std::ptrdiff_t x) { out[x] = static_cast<T>((add ? out[x] : T{ 0 }) + part[x]); });
      add = true;
      done += power;
    }
    if (done == width)
    {
      return;
    }
    const T * VOXELMAPS_RESTRICT from = current;
    T * VOXELMAPS_RESTRICT       to = next;
    for (int x = 0; x < length - power; ++x)
    {
      to[x] = static_cast<T>(from[x] + from[x + power]);
    }
    std::memcpy(to + length - power, from + length - power, power * sizeof(T));
    next = current;
    current = to;
  }
}

/** Sums along y and x of a plane of sums along z, for a plane of outputs. */
template <bool VAdd, typename T>
inline void
SumPlane(const TileShape & shape, const Box & box, const T * plane, T * VOXELMAPS_RESTRICT row, T * scratch, T * out)
{
  const int width = RoundUp(shape.nx + box.x - 1, blockSize<T>);
  for (int y = 0; y < shape.ny; ++y)
  {
    const T * VOXELMAPS_RESTRICT entering = plane + std::ptrdiff_t{ y + box.y - 1 } * shape.ex;
    const T *                    sums = entering;
    if (box.y > 1)
    {
      sums = row;
      if (y == 0)
      {
        std::memcpy(row, plane, width * sizeof(T));
        for (int k = 1; k < box.y; ++k)
        {
          const T * VOXELMAPS_RESTRICT next = plane + std::ptrdiff_t{ k } * shape.ex;
          ForEachLane<T>(width, [&](std::ptrdiff_t x) { row[x] = static_cast<T>(row[x] + next[x]); });
        }
      }
      else
      {
        const T * VOXELMAPS_RESTRICT leaving = plane + std::ptrdiff_t{ y - 1 } * shape.ex;
        ForEachLane<T>(width, [&](std::ptrdiff_t x) { row[x] = static_cast<T>(row[x] + entering[x] - leaving[x]); });
      }
    }
    SumAlongRow<VAdd>(sums, out + std::ptrdiff_t{ y } * shape.nx, shape.nx, box.x, scratch, shape.ex + blockVoxels);
  }
}

// --- The tile

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
