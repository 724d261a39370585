// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by BoxSumsTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "BoxSumsFeatures.h"
#include "BoxSumsLevelCounts.h"
#include "BoxSumsTileContext.h"

/* Box sums of images start_k give all sums over runs (run by run, the identity is easy to check):
 *   start_k(p) = 1 if the k voxels from p along direction d are of one level,
 *   S_k[f] = sum of f(level) start_k(p) over those p of the window whose k voxels are all in the window,
 *   R_l[f] = S_l[f] - 2 S_(l+1)[f] + S_(l+2)[f] is the sum of f over the runs of length l.
 * The p of S_k are a box that shrinks by |d| with every k, so windows need no border cases, and the sums are separable.
 * Images start_k are indexed by the least corner of their k voxels, so every box starts at the window's first voxel. */
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** The sums S_k of a tile, for every quantity that the features need. */
class RunSums
{
public:
  explicit RunSums(const TileContext & context)
    : m_Context(context)
    , m_Task(context.task)
    , m_Shape(context.shape)
    , m_Memory(context.memory)
  {}

  void
  MakeWeights()
  {
    const std::ptrdiff_t                     n = m_Context.inputVoxels;
    const std::uint16_t * VOXELMAPS_RESTRICT levels = m_Memory.levels;
    std::uint8_t * VOXELMAPS_RESTRICT        runStarts = m_Memory.runStarts;
    for (std::ptrdiff_t i = 0; i < n; ++i)
    {
      runStarts[i] = levels[i] != 0 ? 1 : 0;
    }
    if (m_Task.needsSquares && m_Task.wideSquares)
    {
      auto * VOXELMAPS_RESTRICT squares = static_cast<std::uint64_t *>(m_Memory.weights[SquareWeight]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        squares[i] = std::uint64_t{ levels[i] } * levels[i];
      }
    }
    else if (m_Task.needsSquares)
    {
      auto * VOXELMAPS_RESTRICT squares = static_cast<std::uint32_t *>(m_Memory.weights[SquareWeight]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        squares[i] = std::uint32_t{ levels[i] } * levels[i];
      }
    }
    if (m_Task.needsLevelSum)
    {
      auto * VOXELMAPS_RESTRICT weights = static_cast<std::uint32_t *>(m_Memory.weights[LevelWeight]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        weights[i] = levels[i];
      }
    }
    if (m_Task.needsInverses)
    {
      auto * inverses = static_cast<std::uint64_t *>(m_Memory.weights[InverseWeight]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        inverses[i] = m_Task.inverseSquares[levels[i]];
      }
    }
  }

  /** S_1, which all directions share. */
  void
  SumFirst() const
  {
    const Box box{ m_Task.window[0], m_Task.window[1], m_Task.window[2] };
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      this->SumAllWeights<false>(box, 0, 1, z, 0, m_Memory.firstSums, z * m_Context.PlaneOutputs());
    }
  }

  /** S_2, S_3 ... of a direction, plane by plane; finish(longest, z) is called when plane z is ready. */
  template <typename TFinish>
  void
  SumDirection(int d, const TFinish & finish)
  {
    const int longest = m_Task.needsEntropy ? m_Memory.longestRuns[d] : m_Context.MakeRunStarts(d);
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int k = 2; k <= longest; ++k)
      {
        this->SumRunStarts(d, k, z);
      }
      finish(longest, z);
    }
    m_LongestSoFar = longest > m_LongestSoFar ? longest : m_LongestSoFar;
  }

  /** Longest run of the directions so far. */
  int
  GetLongest() const
  {
    return m_LongestSoFar;
  }

private:
  /** S_k of a direction, added to that of the directions before if merged. */
  void
  SumRunStarts(int d, int k, int z) const
  {
    const Box            box = m_Context.GetBox(d, k);
    const std::ptrdiff_t first = m_Context.FirstVoxel(d, k);
    const bool           add = m_Task.aggregation == BoxSumsTask::Aggregation::Merge && k <= m_LongestSoFar;
    if (add)
    {
      this->SumAllWeights<true>(box, d, k, z, first, m_Memory.sums, m_Memory.SumsOffset(k, z));
    }
    else
    {
      this->SumAllWeights<false>(box, d, k, z, first, m_Memory.sums, m_Memory.SumsOffset(k, z));
    }
  }

  template <bool VAdd>
  void
  SumAllWeights(const Box & box, int d, int k, int z, std::ptrdiff_t first, void * const outs[],
                std::ptrdiff_t outOffset) const
  {
    const std::uint8_t * runStart = m_Context.RunStarts(d, k);
    for (int c = 0; c < NumberOfWeights; ++c)
    {
      const int bytes = WeightBytes(m_Task, c);
      if (bytes == 4)
      {
        auto * plane = static_cast<std::uint32_t *>(m_Memory.planes[c]) + (k - 1) * m_Memory.planesPerLength;
        auto * out = static_cast<std::uint32_t *>(outs[c]) + outOffset;
        if (c == CountWeight)
        {
          m_Context.SumBox<VAdd>(box, Counted<std::uint32_t>{ runStart }, z, plane, out);
        }
        else
        {
          const auto * weight = static_cast<const std::uint32_t *>(m_Memory.weights[c]) + first;
          m_Context.SumBox<VAdd>(box, Weighted<std::uint32_t>{ runStart, weight }, z, plane, out);
        }
      }
      else if (bytes == 8)
      {
        auto *       plane = static_cast<std::uint64_t *>(m_Memory.planes[c]) + (k - 1) * m_Memory.planesPerLength;
        auto *       out = static_cast<std::uint64_t *>(outs[c]) + outOffset;
        const auto * weight = static_cast<const std::uint64_t *>(m_Memory.weights[c]) + first;
        m_Context.SumBox<VAdd>(box, Weighted<std::uint64_t>{ runStart, weight }, z, plane, out);
      }
    }
  }

  const TileContext & m_Context;
  const BoxSumsTask & m_Task;
  const TileShape &   m_Shape;
  const TileMemory &  m_Memory;
  int                 m_LongestSoFar{ 1 };
};
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET

namespace VOXELMAPS_INSTRUCTION_SET
{
void
ComputeBoxSumsTile(const BoxSumsTask & task, const KernelTile & tile, void * workspace)
{
  TileContext         context(task, tile, workspace);
  const FeatureWriter writer(context);
  if (!context.LoadLevels())
  {
    writer.WriteBackground();
    return;
  }

  RunSums sums(context);
  sums.MakeWeights();
  sums.SumFirst();
  if (task.needsLevelCounts || task.needsEntropy)
  {
    LevelCounts(context).Compute();
  }

  const bool merge = task.aggregation == BoxSumsTask::Aggregation::Merge;
  for (int d = 0; d < task.directions.number; ++d)
  {
    tile.checkAbort(tile.execution);
    sums.SumDirection(d, [&](int longest, int z) {
      if (!merge)
      {
        writer.FinishPlane(d, longest, z);
      }
    });
  }
  if (merge)
  {
    for (int z = 0; z < context.shape.nz; ++z)
    {
      writer.FinishPlane(0, sums.GetLongest(), z);
    }
  }
  else if (task.aggregation == BoxSumsTask::Aggregation::Average)
  {
    writer.WriteAverages();
  }
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
