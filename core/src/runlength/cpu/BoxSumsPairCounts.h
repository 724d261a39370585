// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsPairCounts_h
#define BoxSumsPairCounts_h

// Part of BoxSumsTileKernel.h: gray level non-uniformity of small windows.
#include "texture/cpu/Simd.h"
#include "BoxSumsTileContext.h"

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** (runs of a level)^2 is the number of its runs and twice the number of pairs of its runs; a run is its first voxel.
 * So the sum over levels is the number of runs and twice the number of pairs of first voxels of equal level. */
class PairCounts
{
public:
  explicit PairCounts(const TileContext & context)
    : m_Context(context)
    , m_Task(context.task)
    , m_Shape(context.shape)
    , m_Memory(context.memory)
    , m_Voxels(m_Task.window[0] * m_Task.window[1] * m_Task.window[2])
  {}

  /** Of every direction; uses up the links. */
  void
  Compute()
  {
    this->MakeEquals();
    int d = 0;
    for (; d + directionsAtOnce <= m_Task.directions.number; d += directionsAtOnce)
    {
      this->CountDirections<directionsAtOnce>(d);
    }
    for (; d < m_Task.directions.number; ++d)
    {
      this->CountDirections<1>(d);
    }
  }

private:
  static constexpr int directionsAtOnce = 4;

  /** Offset of a voxel of the window. */
  std::ptrdiff_t
  WindowOffset(const int voxel[3]) const
  {
    return m_Context.InputOffset(voxel[0], voxel[1], voxel[2]);
  }

  /** The n-th voxel of the window. */
  void
  WindowVoxel(int n, int voxel[3]) const
  {
    voxel[0] = n % m_Task.window[0];
    voxel[1] = n / m_Task.window[0] % m_Task.window[1];
    voxel[2] = n / (m_Task.window[0] * m_Task.window[1]);
  }

  /** Image of whether the voxels at corner + a and corner + b have one level. */
  void
  MakeEqual(const int a[3], const int b[3], std::uint8_t * VOXELMAPS_RESTRICT equal) const
  {
    const int rows = m_Shape.ey - (a[1] > b[1] ? a[1] : b[1]);
    const int planes = m_Shape.ez - (a[2] > b[2] ? a[2] : b[2]);
    for (int z = 0; z < planes; ++z)
    {
      const std::ptrdiff_t                     at = m_Context.InputOffset(0, 0, z);
      const std::uint16_t * VOXELMAPS_RESTRICT levelsA = m_Memory.levels + at + this->WindowOffset(a);
      const std::uint16_t * VOXELMAPS_RESTRICT levelsB = m_Memory.levels + at + this->WindowOffset(b);
      std::uint8_t * VOXELMAPS_RESTRICT        out = equal + at;
      const std::ptrdiff_t                     n = std::ptrdiff_t{ rows } * m_Shape.ex;
      ForEachLane<std::uint8_t>(n, [&](std::ptrdiff_t i) {
        out[i] = static_cast<std::uint8_t>((levelsA[i] == levelsB[i] ? 1 : 0) & (levelsA[i] != 0 ? 1 : 0));
      });
    }
  }

  /** The images of equality, and which of them, at which offset, is that of two voxels of the window. */
  void
  MakeEquals()
  {
    // Equality of two voxels of the window depends on their difference only.
    const std::uint8_t * differenceEqual[8 * maxVoxelsForPairs] = {};
    std::uint8_t *       next = m_Memory.equals;
    const int            spanX = 2 * m_Task.window[0] - 1;
    const int            spanY = 2 * m_Task.window[1] - 1;
    for (int i = 0; i < m_Voxels; ++i)
    {
      for (int j = i + 1; j < m_Voxels; ++j)
      {
        int a[3];
        int b[3];
        this->WindowVoxel(i, a);
        this->WindowVoxel(j, b);
        const int difference =
          ((b[2] - a[2]) * spanY + b[1] - a[1] + m_Task.window[1] - 1) * spanX + b[0] - a[0] + m_Task.window[0] - 1;
        const int corner[3] = { a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1], a[2] };
        if (differenceEqual[difference] == nullptr)
        {
          for (int axis = 0; axis < 3; ++axis)
          {
            a[axis] -= corner[axis];
            b[axis] -= corner[axis];
          }
          this->MakeEqual(a, b, next);
          differenceEqual[difference] = next;
          next += m_Context.inputVoxels;
        }
        m_Equals[i * maxVoxelsForPairs + j] = differenceEqual[difference] + this->WindowOffset(corner);
      }
    }
  }

  /** Images of whether the voxels of the window are first in their runs. */
  void
  MakeFirsts(int d, const std::uint8_t * firsts[]) const
  {
    // A voxel is first in its run if the one before it is outside the window or not linked to it.
    const int *          direction = m_Context.Direction(d);
    const int            forward[3] = { direction[0] > 0 ? 1 : 0, direction[1] > 0 ? 1 : 0, direction[2] > 0 ? 1 : 0 };
    const std::ptrdiff_t second = this->WindowOffset(forward);
    const std::uint8_t * VOXELMAPS_RESTRICT valid = m_Context.RunStarts(0, 1);
    std::uint8_t * VOXELMAPS_RESTRICT       unlinked = m_Memory.links + d * m_Context.inputVoxels;
    const std::ptrdiff_t                    n = m_Shape.inputVoxels - second;
    for (std::ptrdiff_t i = 0; i < n; ++i)
    {
      unlinked[i] = static_cast<std::uint8_t>(valid[i + second] & (unlinked[i] ^ 1));
    }
    for (int i = 0; i < m_Voxels; ++i)
    {
      int at[3];
      this->WindowVoxel(i, at);
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis)
      {
        const int before = at[axis] - direction[axis];
        inside = inside && before >= 0 && before < m_Task.window[axis];
      }
      firsts[i] = (inside ? unlinked - second : valid) + this->WindowOffset(at);
    }
  }

  template <int VDirections>
  void
  CountDirections(int d) const
  {
    const std::uint8_t * firsts[maxVoxelsForPairs * VDirections];
    for (int n = 0; n < VDirections; ++n)
    {
      const std::uint8_t * directionFirsts[maxVoxelsForPairs];
      this->MakeFirsts(d + n, directionFirsts);
      for (int i = 0; i < m_Voxels; ++i)
      {
        firsts[i * VDirections + n] = directionFirsts[i];
      }
    }
    auto * squares = static_cast<std::uint16_t *>(m_Memory.nonUniformities) + d * m_Shape.outputVoxels;
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int y = 0; y < m_Shape.ny; ++y)
      {
        const std::ptrdiff_t at = m_Context.InputOffset(0, y, z);
        int                  x = 0;
        for (; x + int(sizeof(Bytes)) <= m_Shape.nx; x += sizeof(Bytes))
        {
          this->CountBlock<VDirections, Bytes>(firsts, at + x, squares + x);
        }
        for (; x < m_Shape.nx; x += sizeof(FewerBytes))
        {
          this->CountBlock<VDirections, FewerBytes>(firsts, at + x, squares + x);
        }
        squares += m_Shape.nx;
      }
    }
  }

  template <int VDirections, typename TBytes>
  void
  CountBlock(const std::uint8_t * const firsts[], std::ptrdiff_t at, std::uint16_t * squares) const
  {
    constexpr int width = sizeof(TBytes);
    std::uint16_t widePairs[VDirections][width] = {};
    TBytes        pairs[VDirections] = {};
    TBytes        runs[VDirections] = {};
    int           maxPairs = 0;
    for (int i = 0; i < m_Voxels; ++i)
    {
      const int maxVoxelPairs = m_Voxels - 1 - i;
      if (maxPairs + maxVoxelPairs > 255)
      {
        for (int n = 0; n < VDirections; ++n)
        {
          AddBytes(pairs[n], widePairs[n]);
          pairs[n] = TBytes{};
        }
        maxPairs = 0;
      }
      maxPairs += maxVoxelPairs;
      const std::uint8_t * const * equals = m_Equals + i * maxVoxelsForPairs;
      TBytes                       voxelPairs[VDirections] = {};
      for (int j = i + 1; j < m_Voxels; ++j)
      {
        const auto equal = Load<TBytes>(equals[j] + at);
        for (int n = 0; n < VDirections; ++n)
        {
          voxelPairs[n] += equal & Load<TBytes>(firsts[j * VDirections + n] + at);
        }
      }
      for (int n = 0; n < VDirections; ++n)
      {
        // All bits of the counts of a first voxel, none of another.
        const auto first = Load<TBytes>(firsts[i * VDirections + n] + at);
        pairs[n] += voxelPairs[n] & (TBytes() - first);
        runs[n] += first;
      }
    }
    for (int n = 0; n < VDirections; ++n)
    {
      AddBytes(pairs[n], widePairs[n]);
      std::uint8_t counts[width];
      std::memcpy(counts, &runs[n], sizeof(counts));
      for (int x = 0; x < width; ++x)
      {
        squares[n * m_Shape.outputVoxels + x] = static_cast<std::uint16_t>(counts[x] + 2 * widePairs[n][x]);
      }
    }
  }

  template <typename TBytes>
  static void
  AddBytes(const TBytes & bytes, std::uint16_t sums[])
  {
    std::uint8_t values[sizeof(TBytes)];
    std::memcpy(values, &bytes, sizeof(values));
    for (std::size_t x = 0; x < sizeof(TBytes); ++x)
    {
      sums[x] = static_cast<std::uint16_t>(sums[x] + values[x]);
    }
  }

  const TileContext &  m_Context;
  const BoxSumsTask &  m_Task;
  const TileShape &    m_Shape;
  const TileMemory &   m_Memory;
  const int            m_Voxels;
  const std::uint8_t * m_Equals[maxVoxelsForPairs * maxVoxelsForPairs];
};
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps

#endif // BoxSumsPairCounts_h
