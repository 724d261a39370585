// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSlidingWindowRuns_cuh
#define CudaSlidingWindowRuns_cuh

#include "CudaSlidingWindowLayout.cuh"

// The runs of each length, and what they sum to. Windows slide along y.
namespace voxelmaps
{
namespace slidingwindow
{
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
          VoxelSums & of = m_LengthVoxels[(length - m_FirstLength) * m_Layout.columns];
          VoxelSums   sums = of;
          passage == Enters ? Add(sums, weights[u]) : Subtract(sums, weights[u]);
          of = sums;
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
  /** Of this column. */
  VoxelSums m_Voxels{ 0, 0 };
  int       m_RowLongest{ 1 };
  int       m_Longest{ 1 };
  int       m_LongestTold{ 1 };
};

static __global__ void
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
} // namespace slidingwindow
} // namespace voxelmaps

#endif // CudaSlidingWindowRuns_cuh
