// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSums_h
#define BoxSums_h

// Sums over boxes, axis by axis. For files that are compiled once per instruction set and define
// VOXELMAPS_INSTRUCTION_SET.
#include "texture/cpu/TileShape.h"

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
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps

#endif // BoxSums_h
