// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsLevelCounts_h
#define BoxSumsLevelCounts_h

// Part of BoxSumsTileKernel.h: gray level non-uniformity.
#include "window/cpu/Simd.h"
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

  /** Counts of every direction; uses up the links. */
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

/** What is summed over levels, for every window and matrix: (runs of the level)^2, and t(runs of the level and a
 * length) for run entropy. */
class LevelCounts
{
public:
  explicit LevelCounts(const TileContext & context)
    : m_Context(context)
    , m_Task(context.task)
    , m_Shape(context.shape)
    , m_Memory(context.memory)
  {}

  void
  Compute() const
  {
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      if (m_Task.needsEntropy)
      {
        m_Memory.longestRuns[d] = m_Context.MakeRunStarts(d);
      }
      else
      {
        m_Context.MakeLinks(d, m_Memory.links + d * m_Context.inputVoxels);
        m_Memory.longestRuns[d] = m_Task.directions.longestLines[d] < 2 ? 1 : 2;
      }
    }
    const int levels = this->FindPresentLevels();
    if (this->PairsAreCheaper(levels))
    {
      PairCounts(m_Context).Compute();
      return;
    }
    switch (LevelCountBytes(m_Task))
    {
      case 1:
        return this->CountLevels<std::uint8_t, std::uint16_t>(levels);
      case 2:
        return this->CountLevels<std::uint16_t, std::uint32_t>(levels);
      default:
        return this->CountLevels<std::uint32_t, std::uint64_t>(levels);
    }
  }

private:
  int
  FindPresentLevels() const
  {
    std::memset(m_Memory.present, 0, static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1);
    for (std::ptrdiff_t i = 0; i < m_Shape.inputVoxels; ++i)
    {
      m_Memory.present[m_Memory.levels[i]] = 1;
    }
    int n = 0;
    for (int level = 1; level <= m_Task.numberOfGrayLevels; ++level)
    {
      if (m_Memory.present[level] != 0)
      {
        m_Memory.presentLevels[n++] = static_cast<std::uint16_t>(level);
      }
    }
    return n;
  }

  /** Level by level: the runs of a level are its voxels less its links, and those of one length are second differences
   * of the box sums of its start_k. */
  template <typename TCount, typename TSquare>
  void
  CountLevels(int levels) const
  {
    const bool merge = m_Task.aggregation == BoxSumsTask::Aggregation::Merge;
    const int  directions = m_Task.directions.number;
    const int  matrices = merge ? 1 : directions;
    const auto outputs = m_Shape.outputVoxels;
    auto *     squares = static_cast<TSquare *>(m_Memory.nonUniformities);
    auto *     plane = static_cast<TCount *>(m_Memory.countPlane);
    auto *     voxels = static_cast<TCount *>(m_Memory.levelVoxels);
    auto *     runStarts = static_cast<TCount *>(m_Memory.levelRunStarts);
    const Box  window{ m_Task.window[0], m_Task.window[1], m_Task.window[2] };
    const int  maxLengths = m_Task.needsEntropy ? m_Task.directions.longestLine - 1 : 1;
    const auto planeOutputs = m_Context.PlaneOutputs();
    std::memset(squares, 0, sizeof(TSquare) * static_cast<std::size_t>(outputs) * matrices);
    if (m_Task.needsEntropy)
    {
      std::memset(m_Memory.entropies, 0, sizeof(std::uint64_t) * static_cast<std::size_t>(outputs) * matrices);
    }

    for (int g = 0; g < levels; ++g)
    {
      m_Context.tile.checkAbort(m_Context.tile.execution);
      this->MakeIndicator(m_Memory.presentLevels[g]);
      for (int z = 0; z < m_Shape.nz; ++z)
      {
        const Counted<TCount> source{ m_Memory.indicator };
        m_Context.SumBox<false>(window, source, z, plane, voxels + z * planeOutputs);
      }
      int overallLongest = 1;
      if (merge)
      {
        std::memset(runStarts, 0, sizeof(TCount) * static_cast<std::size_t>(outputs) * maxLengths);
      }
      for (int d = 0; d < directions; ++d)
      {
        const int longest = this->SumLevelRunStarts(d, plane, runStarts);
        overallLongest = longest > overallLongest ? longest : overallLongest;
        if (!merge)
        {
          this->AddLevelRuns(d, longest, voxels, runStarts, 1, squares);
        }
      }
      if (merge)
      {
        this->AddLevelRuns(0, overallLongest, voxels, runStarts, directions, squares);
      }
    }
  }

  /** Box sums of start_2, start_3 ... of the level, added if merged. Returns the longest k with a sum that is not zero.
   */
  template <typename TCount>
  int
  SumLevelRunStarts(int d, TCount * plane, TCount * runStarts) const
  {
    const bool merge = m_Task.aggregation == BoxSumsTask::Aggregation::Merge;
    for (int k = 2; k <= m_Memory.longestRuns[d]; ++k)
    {
      const std::uint8_t * directionLinks =
        m_Task.needsEntropy ? m_Context.RunStarts(d, k) : m_Memory.links + d * m_Context.inputVoxels;
      const LevelSource<TCount> source{ directionLinks, m_Memory.indicator + m_Context.FirstVoxel(d, k) };
      const Box                 box = m_Context.GetBox(d, k);
      TCount * const            sums = runStarts + (k - 2) * m_Shape.outputVoxels;
      for (int z = 0; z < m_Shape.nz; ++z)
      {
        TCount * const out = sums + z * m_Context.PlaneOutputs();
        merge ? m_Context.SumBox<true>(box, source, z, plane, out)
              : m_Context.SumBox<false>(box, source, z, plane, out);
      }
      if (k > 2 && !merge && this->AreZero(sums))
      {
        return k - 1;
      }
    }
    return m_Memory.longestRuns[d];
  }

  template <typename TCount>
  bool
  AreZero(const TCount * sums) const
  {
    TCount any = 0;
    for (std::ptrdiff_t i = 0; i < m_Shape.outputVoxels; ++i)
    {
      any |= sums[i];
    }
    return any == 0;
  }

  /** What the runs of the level add to the sums of a matrix. */
  template <typename TCount, typename TSquare>
  void
  AddLevelRuns(int d, int longest, const TCount * voxels, const TCount * runStarts, int directions,
               TSquare * squares) const
  {
    if (m_Task.needsLevelCounts)
    {
      const TCount * links = longest >= 2 ? runStarts : nullptr;
      this->AddSquares(voxels, links, directions, squares + d * m_Shape.outputVoxels);
    }
    if (m_Task.needsEntropy)
    {
      for (int l = 1; l <= longest; ++l)
      {
        this->AddEntropy(l, longest, voxels, runStarts, directions, m_Memory.entropies + d * m_Shape.outputVoxels);
      }
    }
  }

  /** Add t(runs of the level of length l). */
  template <typename TCount>
  void
  AddEntropy(int l, int longest, const TCount * voxels, const TCount * runStarts, int directions,
             std::uint64_t * entropies) const
  {
    const auto           factor = static_cast<TCount>(l == 1 ? directions : 1);
    const TCount *       first = l == 1 ? voxels : runStarts + (l - 2) * m_Shape.outputVoxels;
    const TCount *       second = l + 1 <= longest ? runStarts + (l - 1) * m_Shape.outputVoxels : nullptr;
    const TCount *       third = l + 2 <= longest ? runStarts + l * m_Shape.outputVoxels : nullptr;
    const std::int64_t * table = m_Task.entropyTable;
    constexpr int        width = 32;

    for (std::ptrdiff_t at = 0; at < m_Shape.outputVoxels; at += width)
    {
      TCount runs[width];
      for (int i = 0; i < width; ++i)
      {
        runs[i] = static_cast<TCount>(factor * first[at + i]);
      }
      if (second != nullptr)
      {
        for (int i = 0; i < width; ++i)
        {
          runs[i] = static_cast<TCount>(runs[i] - second[at + i] - second[at + i]);
        }
      }
      if (third != nullptr)
      {
        for (int i = 0; i < width; ++i)
        {
          runs[i] = static_cast<TCount>(runs[i] + third[at + i]);
        }
      }
      // t(0) and t(1) are 0.
      TCount several = 0;
      for (int i = 0; i < width; ++i)
      {
        several |= runs[i] >> 1;
      }
      if (several != 0)
      {
        for (int i = 0; i < width; ++i)
        {
          entropies[at + i] += static_cast<std::uint64_t>(table[runs[i]]);
        }
      }
    }
  }

  /** Add (directions * voxels - links)^2, the square of the runs; no links is all zero. */
  template <typename TCount, typename TSquare>
  void
  AddSquares(const TCount * VOXELMAPS_RESTRICT voxels, const TCount * VOXELMAPS_RESTRICT links, int directions,
             TSquare * VOXELMAPS_RESTRICT squares) const
  {
    const auto factor = static_cast<TCount>(directions);
    const auto add = [=](std::ptrdiff_t i, TCount linked) {
      const auto runs = static_cast<TSquare>(static_cast<TCount>(factor * voxels[i] - linked));
      squares[i] = static_cast<TSquare>(squares[i] + runs * runs);
    };
    if (links == nullptr)
    {
      ForEachLane<TCount>(m_Shape.outputVoxels, [=](std::ptrdiff_t i) { add(i, TCount{ 0 }); });
    }
    else
    {
      ForEachLane<TCount>(m_Shape.outputVoxels, [=](std::ptrdiff_t i) { add(i, links[i]); });
    }
  }

  void
  MakeIndicator(std::uint16_t level) const
  {
    const std::uint16_t * VOXELMAPS_RESTRICT levels = m_Memory.levels;
    std::uint8_t * VOXELMAPS_RESTRICT        indicator = m_Memory.indicator;
    ForEachLane<std::uint8_t>(m_Shape.inputVoxels + inputSlack,
                              [=](std::ptrdiff_t i) { indicator[i] = levels[i] == level ? 1 : 0; });
  }

  /** Both ways give the same sums; estimated instructions per block decide. */
  bool
  PairsAreCheaper(int levels) const
  {
    const int voxels = m_Task.window[0] * m_Task.window[1] * m_Task.window[2];
    return UsesPairs(m_Task) && voxels * (voxels - 1) / 2 * 9 < levels * 50;
  }

  const TileContext & m_Context;
  const BoxSumsTask & m_Task;
  const TileShape &   m_Shape;
  const TileMemory &  m_Memory;
};
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps

#endif // BoxSumsLevelCounts_h
