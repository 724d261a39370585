// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSlidingWindowLevels_cuh
#define CudaSlidingWindowLevels_cuh

#include "CudaSlidingWindowLayout.cuh"

// The runs of each level. Windows slide along y.
namespace voxelmaps
{
namespace slidingwindow
{
/** The counts of the levels of a window. */
template <bool VMerge>
class LevelRunCounter
{
public:
  __device__
  LevelRunCounter(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                  const SlidingSegment & segment, int matrix, std::int64_t column, LevelCount * counts)
    : m_Task(task)
    , m_Layout(layout)
    , m_Buffers(buffers)
    , m_Segment(segment)
    , m_Matrix(matrix)
    , m_Column(column)
    , m_Directions(VMerge ? ~0u << linkShift : 1u << (linkShift + matrix))
    , m_Counts(counts)
  {}

  /** All counts are 0 at first. */
  __device__ void
  Compute()
  {
    for (int r = 0; r < m_Task.window[1]; ++r)
    {
      this->Slide(-1, m_Segment.firstRow + r, r == 0);
    }
    this->Store(0);
    for (int y = 1; y < m_Segment.rows; ++y)
    {
      this->Slide(m_Segment.firstRow + y - 1, m_Segment.firstRow + y - 1 + m_Task.window[1], false);
      this->Store(y);
    }
  }

private:
  /** Directions in which the next voxel can be in the window, for the voxels of a row; not for its first or last voxel.
   */
  struct RowMasks
  {
    std::uint32_t directions;
    std::uint32_t notFirst;
    std::uint32_t notLast;

    __device__
    RowMasks(const RunLengthTask & task, const StepMasks & steps, std::uint32_t all, int z, bool isFirstRow)
      : directions(all & ~((z == 0 ? steps.smallerZ : 0) | (z == task.window[2] - 1 ? steps.greaterZ : 0) |
                           (isFirstRow ? steps.otherY : 0)))
      , notFirst(steps.smallerX)
      , notLast(steps.greaterX)
    {}
  };

  /** Let one row leave and one enter, as far as there are levels. */
  __device__ void
  Slide(std::int64_t leaving, std::int64_t entering, bool isFirstRow)
  {
    const bool leaves = m_Segment.HasLevels(m_Task, leaving);
    const bool enters = m_Segment.HasLevels(m_Task, entering);
    if (leaves && enters)
    {
      this->SlidePlanes<true, true>(leaving, entering, isFirstRow);
    }
    else if (enters)
    {
      this->SlidePlanes<false, true>(0, entering, isFirstRow);
    }
    else if (leaves)
    {
      this->SlidePlanes<true, false>(leaving, 0, isFirstRow);
    }
  }

  template <bool VLeaves, bool VEnters>
  __device__ void
  SlidePlanes(std::int64_t leaving, std::int64_t entering, bool isFirstRow)
  {
    for (int z = m_Segment.beginZ; z < m_Segment.endZ; ++z)
    {
      this->SlideRow<VLeaves, VEnters>(
        m_Buffers.links[Leaves] + m_Segment.Voxel(m_Task, m_Layout, m_Column, leaving, z),
        m_Buffers.links[Enters] + m_Segment.Voxel(m_Task, m_Layout, m_Column, entering, z),
        RowMasks(m_Task, m_Layout.masks[Leaves], m_Directions, z, false),
        RowMasks(m_Task, m_Layout.masks[Enters], m_Directions, z, isFirstRow));
    }
  }

  template <bool VLeaves, bool VEnters>
  __device__ void
  SlideRow(const std::uint32_t * out, const std::uint32_t * in, const RowMasks & masksOut, const RowMasks & masksIn)
  {
    constexpr int       voxelsAtATime = 4;
    const int           last = m_Task.window[0] - 1;
    const std::uint32_t lastOut = VLeaves ? out[last] & ~masksOut.notLast : 0;
    const std::uint32_t lastIn = VEnters ? in[last] & ~masksIn.notLast : 0;
    for (int i = 0; i < last; i += voxelsAtATime)
    {
      std::uint32_t wordsOut[voxelsAtATime];
      std::uint32_t wordsIn[voxelsAtATime];
#pragma unroll
      for (int u = 0; u < voxelsAtATime; ++u)
      {
        wordsOut[u] = VLeaves && i + u < last ? out[i + u] : 0;
        wordsIn[u] = VEnters && i + u < last ? in[i + u] : 0;
      }
      wordsOut[0] &= i == 0 ? ~masksOut.notFirst : ~0u;
      wordsIn[0] &= i == 0 ? ~masksIn.notFirst : ~0u;
#pragma unroll
      for (int u = 0; u < voxelsAtATime; ++u)
      {
        if (i + u < last)
        {
          this->Exchange<VLeaves, VEnters>(wordsOut[u], wordsIn[u], masksOut.directions, masksIn.directions);
        }
      }
    }
    const bool isFirst = last == 0;
    this->Exchange<VLeaves, VEnters>(lastOut & (isFirst ? ~masksOut.notFirst : ~0u),
                                     lastIn & (isFirst ? ~masksIn.notFirst : ~0u),
                                     masksOut.directions,
                                     masksIn.directions);
  }

  /** Let one voxel leave and one enter. Both counts are read before one is written, so that the second read need not
   * wait. */
  template <bool VLeaves, bool VEnters>
  __device__ void
  Exchange(std::uint32_t out, std::uint32_t in, std::uint32_t directionsOut, std::uint32_t directionsIn)
  {
    const std::uint32_t levelOut = out & 0xffffu;
    const std::uint32_t levelIn = in & 0xffffu;
    int                 runsOut = 0;
    int                 runsIn = 0;
    bool                changesOut = false;
    bool                changesIn = false;
    if constexpr (VMerge)
    {
      runsOut = VLeaves ? m_Task.directions.number - __popc(out & directionsOut) : 0;
      runsIn = VEnters ? m_Task.directions.number - __popc(in & directionsIn) : 0;
      if (VLeaves && VEnters && levelOut == levelIn)
      {
        runsIn -= runsOut;
        runsOut = 0;
      }
      changesOut = runsOut != 0;
      changesIn = runsIn != 0;
    }
    else
    {
      const bool isOut = VLeaves && (out & directionsOut) == 0;
      const bool isIn = VEnters && (in & directionsIn) == 0;
      const bool isBoth = VLeaves && VEnters && levelOut == levelIn && isOut && isIn;
      changesOut = isOut && !isBoth;
      changesIn = isIn && !isBoth;
      runsOut = 1;
      runsIn = 1;
    }
    const auto          stride = static_cast<std::uint32_t>(m_Layout.windows);
    LevelCount *        countOut = m_Counts + levelOut * stride;
    LevelCount *        countIn = m_Counts + levelIn * stride;
    const std::uint32_t beforeOut = changesOut ? *countOut : 0;
    const std::uint32_t beforeIn = changesIn ? *countIn : 0;
    if (changesOut)
    {
      *countOut = this->Change(levelOut, beforeOut, -runsOut);
    }
    if (changesIn)
    {
      *countIn = this->Change(levelIn, beforeIn, runsIn);
    }
  }
  __device__ LevelCount
  Change(std::uint32_t level, std::uint32_t before, int runs)
  {
    const auto          difference = static_cast<std::uint32_t>(runs);
    const std::uint32_t after = before + difference;
    // after^2 - before^2
    m_SquareSum += difference * (before + after);
    m_LevelSum += difference * level;
    return static_cast<LevelCount>(after);
  }

  __device__ void
  Store(int y) const
  {
    if (m_Column < m_Task.outputSize[0])
    {
      // Absent voxels were counted as level 0.
      const std::uint32_t absent = m_Counts[0];
      double * to = m_Buffers.sums + std::int64_t{ m_Matrix } * numberOfSums * m_Buffers.capacity + m_Segment.sums +
                    y * m_Task.outputSize[0] + m_Column;
      to[levelNonUniformityNumber * m_Buffers.capacity] = static_cast<double>(m_SquareSum - absent * absent);
      to[levelSumNumber * m_Buffers.capacity] = static_cast<double>(m_LevelSum);
    }
  }

  const RunLengthTask &  m_Task;
  const SlidingLayout &  m_Layout;
  const SlidingBuffers & m_Buffers;
  const SlidingSegment & m_Segment;
  const int              m_Matrix;
  const std::int64_t     m_Column;
  const std::uint32_t    m_Directions;
  LevelCount * const     m_Counts;
  // Over the levels of the window.
  std::uint32_t m_SquareSum{ 0 };
  std::uint32_t m_LevelSum{ 0 };
};

template <bool VMerge>
__global__ void
LevelsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
             const __grid_constant__ SlidingBuffers buffers)
{
  extern __shared__ __align__(16) char shared[];
  const auto                           thread = static_cast<int>(threadIdx.x);
  const auto                           block = static_cast<int>(blockIdx.x);
  const int                            matrix = block / layout.windowBlocks % layout.matrices;
  const std::int64_t                   column = std::int64_t{ block % layout.windowBlocks } * layout.windows + thread;
  const SlidingSegment                 segment(
    task, layout, buffers, buffers.firstSegment + block / layout.windowBlocks / layout.matrices);
  // Masks and selections leave many blocks with nothing to compute.
  if (__syncthreads_or(segment.IsAnyComputed(task, column)) == 0)
  {
    return;
  }
  auto * words = reinterpret_cast<uint4 *>(shared);
  for (int i = thread; i < static_cast<int>(layout.windowBytes / sizeof(uint4)); i += layout.windows)
  {
    words[i] = make_uint4(0, 0, 0, 0);
  }
  __syncthreads();
  LevelRunCounter<VMerge> runs(
    task, layout, buffers, segment, matrix, column, reinterpret_cast<LevelCount *>(shared) + thread);
  runs.Compute();
}
} // namespace slidingwindow
} // namespace voxelmaps

#endif // CudaSlidingWindowLevels_cuh
