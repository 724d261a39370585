// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Windows slide along y: one row of voxels leaves, one enters. For windows and aggregations that BoxSums has no kernels
// for; doc/engines/glrlm.md has the identities.
//
// LevelsKernel counts the runs of each level, which GLN and GLV need. A thread owns the window of one column of
// outputs, and keeps the counts of all levels in shared memory. The runs of a window are its voxels that are not linked
// to the next one of their run.
//
// RunsKernel sums over the starts of k equal voxels in a row (S_k). A thread owns one column of voxels; sums over x
// follow for each output. The starts in a window are those that end in a row that entered, less those that began in a
// row that left.
#include "CudaRunAccumulator.cuh"
#include "CudaSlidingWindowLayout.cuh"
#include "common/WideInteger.h"

#include <limits>

namespace voxelmaps
{
namespace slidingwindow
{
namespace
{
// --- The runs of each level

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

// --- The runs of each length, and what they sum to

inline __device__ void
Add(VoxelSums & sums, const VoxelSums & more)
{
  sums.packed += more.packed;
  sums.inverses += more.inverses;
}
inline __device__ void
Subtract(VoxelSums & sums, const VoxelSums & less)
{
  sums.packed -= less.packed;
  sums.inverses -= less.inverses;
}

/** The sums S_k of a tile, for k from a first one on. */
class TileRuns
{
public:
  __device__
  TileRuns(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
           const SlidingSegment & segment, int matrix, int tile, int firstLength, char * shared, int * longest)
    : m_Task(task)
    , m_Layout(layout)
    , m_Buffers(buffers)
    , m_Segment(segment)
    , m_Matrix(matrix)
    , m_FirstDirection(IsMerged(task) ? 0 : matrix)
    , m_EndDirection(IsMerged(task) ? task.directions.number : matrix + 1)
    , m_Thread(static_cast<int>(threadIdx.x))
    , m_Column(std::int64_t{ tile } * layout.tileOutputs + m_Thread)
    , m_FirstLength(firstLength)
    , m_EndLength(min(firstLength + layout.lengths, task.directions.longestLine + 1))
    , m_Sums(reinterpret_cast<VoxelSums *>(shared))
    , m_LengthVoxels(m_Sums + layout.lengths * layout.sets * layout.columns + m_Thread)
    , m_TileLongest(longest)
  {}

  __device__ bool
  IsOutput() const
  {
    return m_Thread < m_Layout.tileOutputs && m_Column < m_Task.outputSize[0];
  }
  __device__ std::int64_t
             Column() const
  {
    return m_Column;
  }

  __device__ void
  Compute()
  {
    for (int r = 0; r < m_Task.window[1]; ++r)
    {
      this->AddVoxels(Enters, m_Segment.firstRow + r);
    }
    this->ForEachDirection(
      [this](const TurnedStep & step, int d) {
        for (int r = 0; step.y == 0 && r < m_Task.window[1]; ++r)
        {
          this->AddRuns(Enters, d, m_Segment.firstRow + r, maxRunLength);
        }
      },
      false);
    __syncthreads();
    this->ForEachDirection(
      [this](const TurnedStep & step, int d) {
        for (int r = 0; step.y != 0 && r < m_Task.window[1]; ++r)
        {
          // Only the runs that the window had so far.
          this->AddRuns(Enters, d, m_Segment.firstRow + r, r + 1);
        }
      },
      true);
    this->FinishRow(0);
    for (int y = 1; y < m_Segment.rows; ++y)
    {
      const std::int64_t leaving = m_Segment.firstRow + y - 1;
      const std::int64_t entering = leaving + m_Task.window[1];
      this->AddVoxels(Leaves, leaving);
      this->AddVoxels(Enters, entering);
      this->ForEachDirection(
        [this, leaving, entering](const TurnedStep & step, int d) {
          this->AddRuns(Leaves, d, leaving, maxRunLength);
          if (step.y == 0)
          {
            this->AddRuns(Enters, d, entering, maxRunLength);
          }
        },
        false);
      // Others add to the sums of this column.
      __syncthreads();
      this->ForEachDirection(
        [this, entering](const TurnedStep & step, int d) {
          if (step.y != 0)
          {
            this->AddRuns(Enters, d, entering, maxRunLength);
          }
        },
        true);
      this->FinishRow(y);
    }
  }

private:
  __device__ bool
  HasColumn(std::int64_t y) const
  {
    return m_Segment.HasLevels(m_Task, y) && m_Column < m_Layout.pitch;
  }
  __device__ VoxelSums *
  SumsAt(int length, int set) const
  {
    return m_Sums + ((length - m_FirstLength) * m_Layout.sets + set) * m_Layout.columns;
  }

  /** S_1, which all directions share. */
  __device__ void
  AddVoxels(Passage passage, std::int64_t y)
  {
    if (m_FirstLength > 1 || !this->HasColumn(y))
    {
      return;
    }
    for (int z = m_Segment.beginZ; z < m_Segment.endZ; ++z)
    {
      const VoxelSums weight = m_Buffers.weights[m_Segment.Voxel(m_Task, m_Layout, m_Column, y, z)];
      passage == Enters ? Add(m_Voxels, weight) : Subtract(m_Voxels, weight);
    }
  }

  __device__ int
  SetStep(int set) const
  {
    return IsMerged(m_Task) ? set - 1 : m_Layout.steps[m_FirstDirection].x;
  }

  /** Call addRuns(step, d), and add what it found to S_k, set by set. */
  template <typename TFunction>
  __device__ void
  ForEachDirection(const TFunction & addRuns, bool areEnds)
  {
    for (int set = 0; set < m_Layout.sets; ++set)
    {
      const int stepX = this->SetStep(set);
      for (int d = m_FirstDirection; d < m_EndDirection; ++d)
      {
        if (m_Layout.steps[d].x == stepX)
        {
          addRuns(m_Layout.steps[d], d);
        }
      }
      this->AddStarts(set, areEnds ? stepX : 0);
    }
  }

  /** Add the voxels of a row of this column, or remove them, by length. */
  __device__ void
  AddRuns(Passage passage, int d, std::int64_t y, int rowsToEnd)
  {
    if (!this->HasColumn(y))
    {
      return;
    }
    const TurnedStep     step = m_Layout.steps[d];
    const int            stepZ = passage == Enters && step.y != 0 ? -step.z : step.z;
    const std::uint8_t * lengths = m_Buffers.lengths[passage] + d * m_Layout.voxels;
    const std::int64_t   planeSize = m_Task.levelsSize[1] * m_Layout.pitch;
    std::int64_t         at = m_Segment.Voxel(m_Task, m_Layout, m_Column, y, m_Segment.beginZ);
    // They come from far: all are asked for before the first one is used.
    constexpr int planesAtATime = 5;
    for (int begin = m_Segment.beginZ; begin < m_Segment.endZ; begin += planesAtATime, at += planesAtATime * planeSize)
    {
      int       planeLengths[planesAtATime];
      VoxelSums weights[planesAtATime];
#pragma unroll
      for (int u = 0; u < planesAtATime; ++u)
      {
        planeLengths[u] = begin + u < m_Segment.endZ ? lengths[at + u * planeSize] : 0;
      }
#pragma unroll
      for (int u = 0; u < planesAtATime; ++u)
      {
        const int z = begin + u;
        planeLengths[u] = min(planeLengths[u], rowsToEnd);
        planeLengths[u] = min(planeLengths[u], stepZ > 0 ? m_Task.window[2] - z : stepZ < 0 ? z + 1 : maxRunLength);
        weights[u] = planeLengths[u] >= this->FirstStarts() ? m_Buffers.weights[at + u * planeSize] : VoxelSums{ 0, 0 };
      }
#pragma unroll
      for (int u = 0; u < planesAtATime; ++u)
      {
        if (planeLengths[u] >= this->FirstStarts())
        {
          const int   length = min(planeLengths[u], m_EndLength - 1);
          VoxelSums & total = m_LengthVoxels[(length - m_FirstLength) * m_Layout.columns];
          VoxelSums   sums = total;
          passage == Enters ? Add(sums, weights[u]) : Subtract(sums, weights[u]);
          total = sums;
          m_RowLongest = max(m_RowLongest, length);
        }
      }
    }
  }
  __device__ int
  FirstStarts() const
  {
    return max(m_FirstLength, 2);
  }

  /** A voxel of length l is the start, or the end, of 2, 3 ... l voxels in a row. Threads that do this at the same time
   * have different columns for each k. */
  __device__ void
  AddStarts(int set, int stepToEnd)
  {
    VoxelSums starts{ 0, 0 };
    for (int k = m_RowLongest; k >= this->FirstStarts(); --k)
    {
      VoxelSums & lengthSums = m_LengthVoxels[(k - m_FirstLength) * m_Layout.columns];
      Add(starts, lengthSums);
      lengthSums = VoxelSums{ 0, 0 };
      const int column = m_Thread - (k - 1) * stepToEnd;
      if (column >= 0 && column < m_Layout.columns)
      {
        VoxelSums & to = this->SumsAt(k, set)[column];
        VoxelSums   sums = to;
        Add(sums, starts);
        to = sums;
      }
    }
    m_Longest = max(m_Longest, m_RowLongest);
    m_RowLongest = 1;
  }

  /** Sums over the runs of the windows of a row, when all threads are there. */
  __device__ void
  FinishRow(int y)
  {
    if (m_FirstLength == 1)
    {
      this->SumsAt(1, 0)[m_Thread] = m_Voxels;
    }
    if (m_Longest > m_LongestTold)
    {
      // By hand: few threads find a longer one.
      atomicMax(m_TileLongest, m_Longest);
      m_LongestTold = m_Longest;
    }
    __syncthreads();
    if (this->IsOutput() && m_Segment.IsComputed(m_Task, m_Column, y))
    {
      this->Store(y, *m_TileLongest);
    }
    __syncthreads();
  }

  /** S_k of the window of this thread. */
  __device__ VoxelSums
  Starts(int k) const
  {
    VoxelSums sums{ 0, 0 };
    if (k >= m_EndLength)
    {
      return sums;
    }
    if (k == 1)
    {
      this->AddColumns(this->SumsAt(1, 0) + m_Thread, m_Task.window[0], sums);
      const auto directions = static_cast<std::uint64_t>(m_EndDirection - m_FirstDirection);
      return VoxelSums{ sums.packed * directions, sums.inverses * directions };
    }
    for (int set = 0; set < m_Layout.sets; ++set)
    {
      const int step = this->SetStep(set);
      const int begin = m_Thread + (step < 0 ? k - 1 : 0);
      this->AddColumns(this->SumsAt(k, set) + begin, m_Task.window[0] - (step != 0 ? k - 1 : 0), sums);
    }
    return sums;
  }
  __device__ void
  AddColumns(const VoxelSums * columns, int number, VoxelSums & sums) const
  {
#pragma unroll 4
    for (int i = 0; i < number; ++i)
    {
      Add(sums, columns[i]);
    }
  }

  __device__ std::uint64_t
             GetCount(const VoxelSums & sums) const
  {
    return sums.packed >> m_Layout.squareBits;
  }
  __device__ std::uint64_t
             GetSquares(const VoxelSums & sums) const
  {
    return sums.packed & ((std::uint64_t{ 1 } << m_Layout.squareBits) - 1);
  }

  /** Runs of length l are S_l - 2 S_(l+1) + S_(l+2). */
  __device__ void
  Store(int y, int longest) const
  {
    const std::int64_t    at = m_Segment.sums + y * m_Task.outputSize[0] + m_Column;
    double *              stored = m_Buffers.sums + std::int64_t{ m_Matrix } * numberOfSums * m_Buffers.capacity + at;
    RunLengthSums<double> sums{};
    ClearRuns(sums);
    if (m_FirstLength > 1)
    {
      // Those of shorter runs.
      ForEachRunSum(sums, [this, from = stored](double & sum) mutable {
        sum = *from;
        from += m_Buffers.capacity;
      });
    }
    VoxelSums current = this->Starts(m_FirstLength);
    if (m_FirstLength == 1 && m_Matrix == 0)
    {
      m_Buffers.voxels[at] = static_cast<std::uint32_t>(this->GetCount(current));
    }
    VoxelSums next = m_FirstLength < longest ? this->Starts(m_FirstLength + 1) : VoxelSums{ 0, 0 };
    VoxelSums atLeast = current;
    Subtract(atLeast, next);
    // The last two S_k only serve the runs that are shorter.
    const int end = m_EndLength > m_Task.directions.longestLine ? m_EndLength : m_EndLength - 2;
    for (int l = m_FirstLength; l < end && l <= longest; ++l)
    {
      const VoxelSums afterNext = l + 2 <= longest ? this->Starts(l + 2) : VoxelSums{ 0, 0 };
      VoxelSums       longer = next;
      Subtract(longer, afterNext);
      VoxelSums lengthSums = atLeast;
      Subtract(lengthSums, longer);
      // Adding none changes nothing.
      if (lengthSums.packed != 0)
      {
        AddRunsWithLength(sums,
                          m_Task.lengthSquares[l],
                          m_Task.shortRunWeights[l],
                          static_cast<double>(this->GetCount(lengthSums)),
                          static_cast<double>(this->GetSquares(lengthSums)),
                          static_cast<double>(lengthSums.inverses));
      }
      atLeast = longer;
      next = afterNext;
    }
    ForEachRunSum(sums, [&](double sum) {
      *stored = sum;
      stored += m_Buffers.capacity;
    });
  }

  const RunLengthTask &  m_Task;
  const SlidingLayout &  m_Layout;
  const SlidingBuffers & m_Buffers;
  const SlidingSegment & m_Segment;
  const int              m_Matrix;
  const int              m_FirstDirection;
  const int              m_EndDirection;
  const int              m_Thread;
  const std::int64_t     m_Column;
  const int              m_FirstLength;
  const int              m_EndLength;
  /** S_k by k, step along x, and column. */
  VoxelSums * const m_Sums;
  /** Sums over the voxels of the row by length, of this column. */
  VoxelSums * const m_LengthVoxels;
  int * const       m_TileLongest;
  /** The sums of this column. */
  VoxelSums m_Voxels{ 0, 0 };
  int       m_RowLongest{ 1 };
  int       m_Longest{ 1 };
  int       m_LongestTold{ 1 };
};

__global__ void
__launch_bounds__(maxColumnsPerTile, 2)
  RunsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
             const __grid_constant__ SlidingBuffers buffers, int firstLength)
{
  extern __shared__ __align__(16) char shared[];
  __shared__ int                       longest;
  if (firstLength > *buffers.longestRun)
  {
    return;
  }
  const auto           block = static_cast<int>(blockIdx.x);
  const SlidingSegment segment(task, layout, buffers, buffers.firstSegment + block / layout.tiles / layout.matrices);
  TileRuns             runs(task,
                layout,
                buffers,
                segment,
                block / layout.tiles % layout.matrices,
                block % layout.tiles,
                firstLength,
                shared,
                &longest);
  if (__syncthreads_or(runs.IsOutput() && segment.IsAnyComputed(task, runs.Column())) == 0)
  {
    return;
  }
  auto * words = reinterpret_cast<uint4 *>(shared);
  for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(layout.columnBytes / sizeof(uint4));
       i += layout.columns)
  {
    words[i] = make_uint4(0, 0, 0, 0);
  }
  if (threadIdx.x == 0)
  {
    longest = 1;
  }
  __syncthreads();
  runs.Compute();
}

// --- Lengths and features

/** Number of equal voxels from one on along a direction, or back, at most as many as a line of the window has. */
__device__ int
MeasureRun(const RunLengthTask & task, std::int64_t x, std::int64_t y, std::int64_t z, const TurnedStep & step,
           int sign, int longest)
{
  const std::uint16_t * level = task.levels + task.LevelOffset(x, y, z);
  const std::int64_t    stride = sign * task.LevelOffset(step.x, step.y, step.z);
  const auto            reach = [sign, longest](int s, std::int64_t at, std::int64_t size) {
    return s == 0 ? std::int64_t{ longest } : sign * s > 0 ? size - at : at + 1;
  };
  const std::int64_t most = min(min(reach(step.x, x, task.levelsSize[0]), reach(step.y, y, task.levelsSize[1])),
                                min(reach(step.z, z, task.levelsSize[2]), std::int64_t{ longest }));
  int                length = 1;
  while (length < most && level[length * stride] == *level)
  {
    ++length;
  }
  return length;
}

/** Links, lengths and weights of all voxels that windows reach; all is 0 beyond the levels. */
__global__ void
LengthsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
              const __grid_constant__ SlidingBuffers buffers)
{
  const std::int64_t column = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  const std::int64_t x = column + task.outputToLevels[0] - task.anchor[0];
  if (column >= layout.pitch)
  {
    return;
  }
  int                longestRun = 1;
  const std::int64_t planeRows = task.levelsSize[1] * task.levelsSize[2];
  for (std::int64_t row = blockIdx.y; row < planeRows; row += gridDim.y)
  {
    const std::int64_t  y = row % task.levelsSize[1];
    const std::int64_t  z = row / task.levelsSize[1];
    const std::uint32_t level =
      x >= 0 && x < task.levelsSize[0] ? task.levels[task.LevelOffset(x, y, z)] : std::uint32_t{ 0 };
    const std::int64_t at = row * layout.pitch + column;
    VoxelSums          weight{ 0, 0 };
    if (level != 0)
    {
      weight.packed = (std::uint64_t{ 1 } << layout.squareBits) +
                      (task.needsSquares ? std::uint64_t{ level } * level : std::uint64_t{ 0 });
      weight.inverses = task.needsInverses ? task.inverseSquares[level] : 0;
    }
    buffers.weights[at] = weight;
    std::uint32_t links[numberOfPassages] = { level, level };
    for (int d = 0; d < task.directions.number; ++d)
    {
      const TurnedStep & step = layout.steps[d];
      int                forward = 0;
      int                backward = 0;
      if (level != 0)
      {
        const int longest = task.directions.longestLines[d];
        forward = MeasureRun(task, x, y, z, step, 1, longest);
        backward = step.y == 0 ? forward : MeasureRun(task, x, y, z, step, -1, longest);
      }
      longestRun = max(longestRun, forward);
      links[Enters] |= (backward > 1 ? 1u : 0u) << (linkShift + d);
      links[Leaves] |= (forward > 1 ? 1u : 0u) << (linkShift + d);
      buffers.lengths[Enters][d * layout.voxels + at] = static_cast<std::uint8_t>(backward);
      buffers.lengths[Leaves][d * layout.voxels + at] = static_cast<std::uint8_t>(forward);
    }
    buffers.links[Enters][at] = links[Enters];
    buffers.links[Leaves][at] = links[Leaves];
  }
  // By hand: the compiler reduces the values of a warp first.
  atomicMax(buffers.longestRun, longestRun);
}

/** Sums over the runs of a matrix of an output. */
__device__ RunLengthSums<double>
           LoadSums(const RunLengthTask & task, const SlidingBuffers & buffers, int matrix, std::int64_t at)
{
  const double *        from = buffers.sums + std::int64_t{ matrix } * numberOfSums * buffers.capacity + at;
  RunLengthSums<double> sums{};
  sums.voxels = static_cast<double>(buffers.voxels[at]);
  ForEachRunSum(sums, [&, next = from](double & sum) mutable {
    sum = *next;
    next += buffers.capacity;
  });
  if (task.needsLevelCounts)
  {
    sums.levelNonUniformity = from[levelNonUniformityNumber * buffers.capacity];
  }
  if (task.needsLevelSum)
  {
    // These doubles are integers below 2^53.
    sums.levelVariance = VarianceNumerator(static_cast<std::uint64_t>(sums.runs),
                                           static_cast<std::uint64_t>(sums.squares),
                                           static_cast<std::uint64_t>(from[levelSumNumber * buffers.capacity]));
  }
  return sums;
}

/** Features of one output. */
__device__ void
WriteFeatures(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
              const FeatureComponents & components, std::int64_t out, std::int64_t at)
{
  constexpr int numberOfFeatures = RunLengthTask::maxFeatures - 1; // all but entropy
  const bool    isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  double        averages[numberOfFeatures] = {};
  double        voxels = 0.0;
  for (int m = 0; m < layout.matrices; ++m)
  {
    const RunLengthSums<double> sums = LoadSums(task, buffers, m, at);
    voxels = sums.voxels;
    if (isAverage)
    {
      AddAverageTerms(components, sums, averages);
    }
    else
    {
      StoreFeatures<numberOfFeatures>(task, components, sums, [&](int component, double value) {
        StoreComponent(task, out, m * task.numberOfFeatures + component, value);
      });
    }
  }
  if (isAverage)
  {
    StoreAverages(task, components, averages, voxels, [&](int component, double value) {
      StoreComponent(task, out, component, value);
    });
  }
}

__global__ void
FeaturesKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
               const __grid_constant__ SlidingBuffers buffers, const __grid_constant__ FeatureComponents components)
{
  const std::int64_t at = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  const std::int64_t x = at % task.outputSize[0];
  const std::int64_t row = at / task.outputSize[0];
  const std::int64_t number = buffers.firstSegment + row / layout.rows;
  if (number >= buffers.endSegment)
  {
    return;
  }
  const SlidingSegment segment(task, layout, buffers, number);
  const auto           y = static_cast<int>(row % layout.rows);
  if (y >= segment.rows)
  {
    return;
  }
  const std::int64_t out =
    ((segment.plane * task.outputSize[1] + segment.row + y) * task.outputSize[0] + x) * task.voxelStride;
  if (segment.IsComputed(task, x, y))
  {
    WriteFeatures(task, layout, buffers, components, out, at);
    return;
  }
  for (int c = 0; c < task.numberOfComponents; ++c)
  {
    StoreComponent(task, out, c, task.backgroundValue);
  }
}

void
ComputeLengths(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
               cudaStream_t stream)
{
  constexpr unsigned int threads = 128;
  constexpr std::int64_t maxBlocks = 65535;
  CheckCuda(cudaMemsetAsync(buffers.longestRun, 0, sizeof(int), stream), "clearing the longest run");
  const std::int64_t planeRows = task.levelsSize[1] * task.levelsSize[2];
  if (planeRows > 0)
  {
    const dim3 blocks(BlocksFor(static_cast<std::uint64_t>(layout.pitch), threads),
                      static_cast<unsigned int>(std::min(planeRows, maxBlocks)));
    LengthsKernel<<<blocks, threads, 0, stream>>>(task, layout, buffers);
    CheckLaunch("starting the kernel of lengths");
  }
}

void
ComputeSegments(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                cudaStream_t stream)
{
  const auto segments = static_cast<unsigned int>(buffers.endSegment - buffers.firstSegment);
  if (NeedsLevels(task))
  {
    const auto kernel = IsMerged(task) ? LevelsKernel<true> : LevelsKernel<false>;
    AllowSharedMemory(kernel, layout.windowBytes);
    kernel<<<segments * layout.matrices * layout.windowBlocks, layout.windows, layout.windowBytes, stream>>>(
      task, layout, buffers);
    CheckLaunch("starting the kernel of levels");
  }
  AllowSharedMemory(RunsKernel, layout.columnBytes + sizeof(int));
  const unsigned int blocks = segments * layout.matrices * layout.tiles;
  const int          longest = task.directions.longestLine;
  for (int first = 1; first <= longest; first += layout.lengths - (first + layout.lengths <= longest ? 2 : 0))
  {
    RunsKernel<<<blocks, layout.columns, layout.columnBytes, stream>>>(task, layout, buffers, first);
    CheckLaunch("starting the kernel of runs");
  }
  constexpr unsigned int threads = 128;
  const auto             outputs = static_cast<std::uint64_t>(layout.SegmentOutputs(task)) * segments;
  FeaturesKernel<<<BlocksFor(outputs, threads), threads, 0, stream>>>(
    task, layout, buffers, MakeFeatureComponents(task));
  CheckLaunch("starting the kernel of features");
}
} // namespace
} // namespace slidingwindow

using namespace slidingwindow;

bool
CudaSlidingWindowSupports(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  return !(task.needsInverses && task.wideInverses) && task.maxVoxels <= std::numeric_limits<LevelCount>::max() &&
         SquareBits(task) + BitCount(task.maxVoxels) <= 64 &&
         static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels * task.numberOfGrayLevels < 9007199254740992.0 &&
         static_cast<double>(task.maxVoxels) * task.scales.shortRunScale < maxFusedDivisor &&
         WindowsPerBlock(limits, task) > 0;
}

CudaScratchBytes
CudaSlidingWindowScratchBytes(const RunLengthTask & task)
{
  const SlidingLayout layout = MakeLayout(task);
  const SlidingBytes  bytes(task, layout);
  return { bytes.Fixed() + bytes.perSegment,
           bytes.Fixed() + bytes.perSegment * static_cast<std::uint64_t>(layout.segments) };
}

void
ComputeByCudaSlidingWindow(const RunLengthTask & task, const CudaMethodResources & resources)
{
  // About a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partVoxels = std::int64_t{ 1 } << 36;
  constexpr std::int64_t maxBlocks = std::int64_t{ 1 } << 30;

  const SlidingLayout layout = MakeLayout(task);
  SlidingBuffers      buffers = MakeBuffers(task, layout, resources);
  ComputeLengths(task, layout, buffers, resources.stream);
  // What leaves and enters.
  const std::int64_t segmentVoxels = layout.SegmentOutputs(task) * task.directions.number *
                                     (2 + task.window[1] / layout.rows) * task.window[0] * task.window[2];
  const std::int64_t segments = std::max<std::int64_t>(
    1,
    std::min({ buffers.capacity / layout.SegmentOutputs(task),
               partVoxels / segmentVoxels,
               maxBlocks / (std::int64_t{ std::max(layout.windowBlocks, layout.tiles) } * layout.matrices) }));
  std::int64_t voxels = 0;
  for (std::int64_t first = 0; first < layout.segments; first += segments)
  {
    buffers.firstSegment = first;
    buffers.endSegment = std::min(first + segments, layout.segments);
    ComputeSegments(task, layout, buffers, resources.stream);
    voxels += segments * segmentVoxels;
    if (voxels >= partVoxels && buffers.endSegment < layout.segments)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
      voxels = 0;
    }
  }
}
} // namespace voxelmaps
