// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Run entropy of wide windows, which slide along y: one plane of voxels leaves, one enters. A thread owns the windows
// of one column of outputs, and keeps the number of runs of every level and length in shared memory. A voxel that
// enters makes the run before it longer by one, and one that leaves makes the run after it shorter, so each changes two
// numbers.
#include "CudaRunAccumulator.cuh"
#include "CudaSlidingWindowLayout.cuh"
#include "window/cuda/CudaSlabEngine.h"

#include <limits>

namespace voxelmaps
{
namespace
{
using RunCount = std::uint16_t;

using slidingwindow::maxSegmentRows;
using slidingwindow::minWindowsPerBlock;
using slidingwindow::OutputSegment;

struct SlideLayout
{
  int matrices;
  int component;
  /** Counts of a window: of every level and length, after one that is not used. */
  int cells;
  /** Windows of a block along x, 0 if the counts of too few fit into shared memory, and blocks along x. */
  int         windows;
  int         windowBlocks;
  std::size_t windowBytes;
  /** Outputs of a thread along y, and segments of so many. */
  std::int64_t rows;
  std::int64_t segmentsY;
  std::int64_t segments;
  /** Levels that windows reach, with 0 beyond the image. */
  std::int64_t size[3];
  /** Directions, turned so that voxels are visited along them: z, y and x do not decrease in this order. */
  int steps[Directions::maxNumber][3];

  explicit SlideLayout(const RunLengthTask & task)
    : matrices(task.directions.number / task.DirectionsPerMatrix())
    , component(FindRunEntropy(task))
    , cells(1 + task.numberOfGrayLevels * task.directions.longestLine)
    , size{}
    , steps{}
  {
    const auto bytes = [this](int number) { return std::size_t(cells) * number * sizeof(RunCount); };
    windows = slidingwindow::WindowsPerBlock(GetCudaDeviceLimits(), bytes);
    const std::int64_t columns = std::max(windows, minWindowsPerBlock);
    windowBlocks = static_cast<int>((task.outputSize[0] + columns - 1) / columns);
    windowBytes = bytes(windows);
    rows = std::min<std::int64_t>(maxSegmentRows, task.outputSize[1]);
    segmentsY = (task.outputSize[1] + rows - 1) / rows;
    segments = segmentsY * task.outputSize[2];
    size[0] = windowBlocks * columns + task.window[0] - 1;
    for (int axis = 1; axis < 3; ++axis)
    {
      size[axis] = task.outputSize[axis] + task.window[axis] - 1;
    }
    for (int d = 0; d < task.directions.number; ++d)
    {
      const auto & step = task.directions.steps[d];
      const int    sign = step[1] != 0 ? step[1] : step[2] != 0 ? step[2] : step[0];
      for (int axis = 0; axis < 3; ++axis)
      {
        steps[d][axis] = sign * step[axis];
      }
    }
  }

  std::uint64_t
  LevelBytes() const
  {
    return RoundUpToAlignment(NumberOfVoxels(size) * sizeof(std::uint16_t));
  }
  std::uint64_t
  FixedBytes(const RunLengthTask & task) const
  {
    return LevelBytes() + RoundUpToAlignment(task.maxVoxels * sizeof(std::int64_t));
  }
  /** Bytes of the results of a segment: a sum and a number of runs per matrix. */
  std::uint64_t
  SegmentBytes(const RunLengthTask & task) const
  {
    return static_cast<std::uint64_t>(rows * task.outputSize[0] * matrices) * sizeof(RunEntropySums);
  }
};

/** The levels, t(n + 1) - t(n), and the results of segments from the first one on. By hand, as SlidingBytes. */
struct SlideBuffers
{
  std::uint16_t *  levels;
  std::int64_t *   differences;
  RunEntropySums * sums;
};

__global__ void
PrepareKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlideLayout layout,
              const __grid_constant__ SlideBuffers buffers)
{
  ForEachInGrid(static_cast<std::int64_t>(task.maxVoxels),
                [&](std::int64_t n) { buffers.differences[n] = task.entropyTable[n + 1] - task.entropyTable[n]; });
  ForEachInGrid(layout.size[0] * layout.size[1] * layout.size[2], [&](std::int64_t i) {
    const std::int64_t row = i / layout.size[0];
    const std::int64_t at[3] = { i - row * layout.size[0], row % layout.size[1], row / layout.size[1] };
    buffers.levels[i] = task.LevelAt(at[0] + task.outputToLevels[0] - task.anchor[0],
                                     at[1] + task.outputToLevels[1] - task.anchor[1],
                                     at[2] + task.outputToLevels[2] - task.anchor[2]);
  });
}

/** The runs of a window along one direction or, merged, along all. */
class SlidingRuns
{
public:
  __device__
  SlidingRuns(const RunLengthTask & task, const SlideLayout & layout, int matrix, const std::uint16_t * column,
              const std::int64_t * differences, RunCount * counts)
    : m_Task(task)
    , m_Layout(layout)
    , m_FirstDirection(matrix * task.DirectionsPerMatrix())
    , m_Column(column)
    , m_Differences(differences)
    , m_Counts(counts)
  {}

  /** Let the voxels of a row of all slices enter, or leave, a window with so many rows that ends, or starts, with it.
   */
  template <bool VEnters>
  __device__ void
  MovePlane(std::int64_t row, int rows)
  {
    for (int d = m_FirstDirection; d < m_FirstDirection + m_Task.DirectionsPerMatrix(); ++d)
    {
      const int(&step)[3] = m_Layout.steps[d];
      const std::int64_t stride =
        (VEnters ? -1 : 1) * ((step[2] * m_Layout.size[1] + step[1]) * m_Layout.size[0] + step[0]);
      const std::uint16_t * line = m_Column + row * m_Layout.size[0];
      const int             longestY = step[1] != 0 ? rows : m_Task.directions.longestLine;
      for (int z = 0; z < m_Task.window[2]; ++z, line += m_Layout.size[0] * m_Layout.size[1])
      {
        const int longestZ = min(longestY, this->Longest<VEnters>(step[2], z, m_Task.window[2]));
        for (int x = 0; x < m_Task.window[0]; x += voxelsAtATime)
        {
          this->MoveVoxels<VEnters>(line, x, step[0], stride, longestZ);
        }
      }
    }
  }

  __device__ RunEntropySums
  GetSums() const
  {
    return { m_Entropy, m_Runs };
  }

private:
  /** Voxels of the window from one on: back if it enters. */
  template <bool VEnters>
  __device__ int
  Longest(int step, int at, int size) const
  {
    return step == 0 ? m_Task.directions.longestLine : (step > 0) == VEnters ? at + 1 : size - at;
  }

  /** Move some voxels of a line: the loads of all, and then the changes of all, do not wait for each other. */
  template <bool VEnters>
  __device__ void
  MoveVoxels(const std::uint16_t * line, int firstX, int stepX, std::int64_t stride, int longestZ)
  {
    std::uint32_t levels[voxelsAtATime];
    std::uint32_t nextLevels[voxelsAtATime];
    int           longest[voxelsAtATime];
    int           lengths[voxelsAtATime];
#pragma unroll
    for (int i = 0; i < voxelsAtATime; ++i)
    {
      const int  x = firstX + i;
      const bool isInside = x < m_Task.window[0];
      longest[i] = isInside ? min(longestZ, this->Longest<VEnters>(stepX, x, m_Task.window[0])) : 0;
      levels[i] = isInside ? line[x] : 0;
      nextLevels[i] = longest[i] > 1 ? line[x + stride] : 0;
    }
#pragma unroll
    for (int i = 0; i < voxelsAtATime; ++i)
    {
      const bool            isLong = nextLevels[i] == levels[i] && levels[i] != 0;
      const std::uint16_t * voxel = line + firstX + i + 2 * stride;
      lengths[i] = isLong ? 2 : 1;
      while (isLong && lengths[i] < longest[i] && *voxel == levels[i])
      {
        ++lengths[i];
        voxel += stride;
      }
    }
#pragma unroll
    for (int i = 0; i < voxelsAtATime; ++i)
    {
      this->ChangeLength<VEnters>(levels[i], lengths[i]);
    }
  }

  /** Let a run have this length, and one voxel less before, or the other way around. Absent voxels, and runs of no
   * voxels, have a count that is not used. */
  template <bool VEnters>
  __device__ void
  ChangeLength(std::uint32_t level, int length)
  {
    constexpr int       change = VEnters ? 1 : -1;
    const bool          isPresent = level != 0;
    const bool          isLong = isPresent && length > 1;
    const std::uint32_t cell = isPresent ? (level - 1) * m_Task.directions.longestLine + length : 0;
    RunCount * const    count = m_Counts + cell * m_Layout.windows;
    RunCount * const    shorter = m_Counts + (isLong ? cell - 1 : 0) * m_Layout.windows;
    const int           before = *count;
    const int           shorterBefore = *shorter;
    *count = static_cast<RunCount>(before + change);
    *shorter = static_cast<RunCount>(shorterBefore - change);
    const std::int64_t difference = isPresent ? m_Differences[VEnters ? before : before - 1] : 0;
    const std::int64_t shorterDifference = isLong ? m_Differences[VEnters ? shorterBefore - 1 : shorterBefore] : 0;
    m_Entropy += VEnters ? difference - shorterDifference : shorterDifference - difference;
    m_Runs += static_cast<std::uint32_t>(isPresent && !isLong ? change : 0);
  }

  static constexpr int voxelsAtATime = 4;

  const RunLengthTask &       m_Task;
  const SlideLayout &         m_Layout;
  const int                   m_FirstDirection;
  const std::uint16_t * const m_Column;
  const std::int64_t * const  m_Differences;
  RunCount * const            m_Counts;
  std::int64_t                m_Entropy{ 0 };
  std::uint32_t               m_Runs{ 0 };
};

__global__ void
SlideKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlideLayout layout,
            const __grid_constant__ SlideBuffers buffers, std::int64_t firstSegment)
{
  extern __shared__ __align__(16) RunCount counts[];
  const std::int64_t  column = std::int64_t{ blockIdx.x } % layout.windowBlocks * layout.windows + threadIdx.x;
  const std::int64_t  rest = std::int64_t{ blockIdx.x } / layout.windowBlocks;
  const int           matrix = static_cast<int>(rest % layout.matrices);
  const std::int64_t  number = rest / layout.matrices;
  const OutputSegment segment(task, layout, firstSegment + number);

  // Masks and selections leave many blocks with nothing to compute.
  if (__syncthreads_or(segment.IsAnyComputed(task, column)) == 0)
  {
    return;
  }
  RunCount * const windowCounts = counts + threadIdx.x;
  for (int i = 0; i < layout.cells; ++i)
  {
    windowCounts[i * layout.windows] = 0;
  }
  SlidingRuns runs(task,
                   layout,
                   matrix,
                   buffers.levels + (segment.plane * layout.size[1] + segment.row) * layout.size[0] + column,
                   buffers.differences,
                   windowCounts);
  const int   height = task.window[1];
  for (int row = 0; row < segment.rows + height - 1; ++row)
  {
    if (row >= height)
    {
      runs.MovePlane<false>(row - height, height);
    }
    runs.MovePlane<true>(row, min(row + 1, height));
    const std::int64_t y = row - (height - 1);
    if (y >= 0 && column < task.outputSize[0])
    {
      buffers.sums[((number * layout.matrices + matrix) * layout.rows + y) * task.outputSize[0] + column] =
        runs.GetSums();
    }
  }
}

__global__ void
StoreKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlideLayout layout,
            const __grid_constant__ SlideBuffers buffers, std::int64_t firstSegment, std::int64_t segments)
{
  const std::int64_t segmentOutputs = layout.rows * task.outputSize[0];
  ForEachInGrid(segments * segmentOutputs, [&](std::int64_t i) {
    const std::int64_t  number = i / segmentOutputs;
    const std::int64_t  at = i - number * segmentOutputs;
    const std::int64_t  y = at / task.outputSize[0];
    const std::int64_t  x = at - y * task.outputSize[0];
    const OutputSegment segment(task, layout, firstSegment + number);
    if (y >= segment.rows)
    {
      return;
    }
    const std::int64_t out =
      ((segment.plane * task.outputSize[1] + segment.row + y) * task.outputSize[0] + x) * task.voxelStride;
    if (segment.IsComputed(task, x, y))
    {
      StoreRunEntropy(task, out, layout.component, [&](int matrix) {
        return buffers.sums[(number * layout.matrices + matrix) * segmentOutputs + at];
      });
    }
    else
    {
      StoreRunEntropyBackground(task, out, layout.component);
    }
  });
}
} // namespace

bool
CudaRunEntropySlideSupports(const RunLengthTask & task)
{
  return task.maxVoxels <= std::numeric_limits<RunCount>::max() && SlideLayout(task).windows > 0;
}

CudaScratchBytes
CudaRunEntropySlideScratchBytes(const RunLengthTask & task)
{
  const SlideLayout layout(task);
  return { layout.FixedBytes(task) + layout.SegmentBytes(task),
           layout.FixedBytes(task) + layout.SegmentBytes(task) * static_cast<std::uint64_t>(layout.segments) };
}

void
ComputeCudaRunEntropySlide(const RunLengthTask & task, const CudaMethodResources & resources)
{
  constexpr unsigned int threads = 128;
  // About a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partVoxels = std::int64_t{ 1 } << 34;

  const SlideLayout  layout(task);
  char * const       scratch = static_cast<char *>(resources.scratch);
  const SlideBuffers buffers{ reinterpret_cast<std::uint16_t *>(scratch),
                              reinterpret_cast<std::int64_t *>(scratch + layout.LevelBytes()),
                              reinterpret_cast<RunEntropySums *>(scratch + layout.FixedBytes(task)) };
  PrepareKernel<<<BlocksForGridStride(NumberOfVoxels(layout.size), threads), threads, 0, resources.stream>>>(
    task, layout, buffers);
  CheckLaunch("starting the kernel that prepares run entropy");
  AllowSharedMemory(SlideKernel, layout.windowBytes);
  const std::int64_t segmentBlocks = std::int64_t{ layout.windowBlocks } * layout.matrices;
  const std::int64_t segmentVoxels = layout.rows * task.outputSize[0] * task.directions.number *
                                     (2 + task.window[1] / layout.rows) * task.window[0] * task.window[2];
  const auto fitting =
    static_cast<std::int64_t>((resources.scratchBytes - layout.FixedBytes(task)) / layout.SegmentBytes(task));
  const std::int64_t part = std::max<std::int64_t>(
    1, std::min({ fitting, partVoxels / segmentVoxels, std::numeric_limits<int>::max() / segmentBlocks }));
  LaunchChunked(
    layout.segments, part, resources, "starting the kernels of run entropy", [&](std::int64_t first, std::int64_t end) {
      SlideKernel<<<static_cast<unsigned int>((end - first) * segmentBlocks),
                    layout.windows,
                    layout.windowBytes,
                    resources.stream>>>(task, layout, buffers, first);
      CheckLaunch("starting the kernel of sliding windows");
      const auto outputs = static_cast<std::uint64_t>((end - first) * layout.rows * task.outputSize[0]);
      StoreKernel<<<BlocksForGridStride(outputs, threads), threads, 0, resources.stream>>>(
        task, layout, buffers, first, end - first);
    });
}
} // namespace voxelmaps
