/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
// A thread slides the window of one column along y and keeps the matrix of the window up to date: one row of voxels
// leaves, one enters. For windows and aggregations that BoxSums has no kernels for.
//
// The length of a voxel is the number of voxels of its run from it on, in the window: every run has one voxel of each
// length from 1 to its own. So the runs of level i are the voxels of level i with length 1, and with D_l, a sum over the
// voxels with length l, runs of length l add up to D_l - D_(l+1). In a row that enters, lengths are counted backward, as
// only these do not change the lengths of other voxels.
#include "CudaRunLengthMethods.h"
#include "CudaFeatureComponents.h"
#include "common/Division.h"
#include "common/WideProduct.h"

#include <algorithm>
#include <type_traits>

namespace itk
{
namespace voxelmaps
{
namespace
{
using Division = FusedDivision<double, DoubleArithmetic>;

constexpr int maxColumnsPerBlock = 32;
constexpr int minColumnsPerBlock = 4;
constexpr int maxBlocksPerMultiprocessor = 32;
// A column of outputs starts with all rows of its window, which long columns do less often.
constexpr int minRowsOfSegment = 8;
constexpr int maxRowsOfSegment = 64;

/** Sums over voxels: their number, above the bits of the sum of i^2, and the sum of q(i). */
struct alignas(16) VoxelSums
{
  std::uint64_t packed;
  std::uint64_t inverses;
};

/** The lengths of a voxel in all directions, a byte each, and above them its level. */
struct alignas(16) LengthBytes
{
  std::uint32_t words[4];
};
constexpr int levelShiftOfLastWord = 16;

/** One of the directions, turned so that it does not lead to smaller y. */
struct TurnedStep
{
  int x;
  int y;
  int z;
};

/** Sums over the runs of a matrix on their way from SlideKernel to FeaturesKernel, all but the number of voxels. */
constexpr int sumsPerMatrix = 12;

struct SlidingLayout
{
  /** Threads of a block, one for each column of outputs, and blocks along x. */
  int columns;
  int blocksX;
  /** Outputs of a thread, and segments of so many along y. */
  int          rows;
  int          segmentsY;
  std::int64_t segments;
  /** Voxels per row of what follows from the levels: those that windows of all threads of a row reach. */
  std::int64_t pitch;
  int          squareBits;
  int          matrices;
  std::size_t  sharedBytes;
  TurnedStep   steps[Directions::maxNumber];

  /** Outputs of a segment, those of threads beyond the output too. */
  std::int64_t
  VoxelsOfSegment() const
  {
    return std::int64_t{ rows } * blocksX * columns;
  }
};

/** Device memory of a slab, and the segments whose sums it holds at a time. */
struct SlidingBuffers
{
  /** By direction: the level of a voxel, its length backward << 16 and forward << 24. Not if merged. */
  std::uint32_t * lengths;
  /** If merged: backward, forward. */
  LengthBytes * lengthBytes[2];
  /** What to clip the lengths of the voxels of a row of the window to, backward and forward; if merged. */
  LengthBytes * clips[2];
  /** What each voxel adds to sums. */
  VoxelSums * weights;
  /** Of all voxels of a window, once per direction of its matrix. */
  VoxelSums * voxels;
  double *    sums;

  std::int64_t firstSegment;
  std::int64_t endSegment;
  /** Outputs of the most segments that fit. */
  std::int64_t capacity;
};

bool
IsMerged(const RunLengthTask & task)
{
  return task.aggregation == RunLengthJob::Aggregation::Merge;
}

int
BitsOf(std::uint64_t n)
{
  int bits = 0;
  for (; n != 0; n >>= 1)
  {
    ++bits;
  }
  return bits;
}

/** Bits of the greatest sum of i^2. */
int
BitsOfSquares(const RunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  return task.needsSquares ? BitsOf(levels * levels) + BitsOf(task.maxVoxels) : 0;
}

std::size_t
BytesOfCount(const RunLengthTask & task)
{
  return task.maxVoxels < 65536 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
}

std::size_t
SharedBytes(const RunLengthTask & task, int columns)
{
  const std::size_t ofLengths = static_cast<std::size_t>(task.directions.longestLine - 1) * sizeof(VoxelSums);
  const std::size_t ofLevels =
    task.needsLevelCounts ? static_cast<std::size_t>(task.numberOfGrayLevels) * BytesOfCount(task) : 0;
  return ((ofLengths + ofLevels) * columns + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);
}

/** Most threads of a block whose counts fit in shared memory; 0 if they are too few to be worth it. */
int
ColumnsPerBlock(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  int columns = maxColumnsPerBlock;
  while (columns >= minColumnsPerBlock && SharedBytes(task, columns) > limits.maxSharedMemoryPerBlock)
  {
    columns /= 2;
  }
  return columns >= minColumnsPerBlock ? columns : 0;
}

SlidingLayout
MakeLayout(const RunLengthTask & task)
{
  const CudaDeviceLimits limits = GetCudaDeviceLimits();
  SlidingLayout          layout{};
  layout.columns = ColumnsPerBlock(task, limits);
  layout.blocksX = static_cast<int>((task.outputSize[0] + layout.columns - 1) / layout.columns);
  layout.pitch = std::int64_t{ layout.blocksX } * layout.columns + task.window[0] - 1;
  layout.squareBits = BitsOfSquares(task);
  layout.matrices = IsMerged(task) ? 1 : task.directions.number;
  layout.sharedBytes = SharedBytes(task, layout.columns);

  // Segments as long as they can be with a block for every place on the device.
  const auto fitting = static_cast<std::int64_t>(limits.maxSharedMemoryPerBlock / (layout.sharedBytes + 1024));
  const auto places = GetNumberOfMultiprocessors() *
                      std::min<std::int64_t>(std::max<std::int64_t>(fitting, 1), maxBlocksPerMultiprocessor);
  const std::int64_t rows = task.outputSize[1] * task.outputSize[2] * layout.blocksX * layout.matrices;
  const auto         rowsOfPlace = static_cast<int>(std::min<std::int64_t>(rows / places + 1, maxRowsOfSegment));
  layout.rows = static_cast<int>(std::min<std::int64_t>(std::max(rowsOfPlace, minRowsOfSegment), task.outputSize[1]));
  layout.segmentsY = static_cast<int>((task.outputSize[1] + layout.rows - 1) / layout.rows);
  layout.segments = layout.segmentsY * task.outputSize[2];

  for (int d = 0; d < task.directions.number; ++d)
  {
    const auto & step = task.directions.steps[d];
    const int    sign = step[1] < 0 ? -1 : 1;
    layout.steps[d] = TurnedStep{ sign * step[0], sign * step[1], sign * step[2] };
  }
  return layout;
}

std::uint64_t
RoundUp(std::uint64_t bytes)
{
  constexpr std::uint64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/** Bytes of the buffers, one after the other. */
struct SlidingBytes
{
  std::uint64_t lengths;
  std::uint64_t clips;
  std::uint64_t weights;
  std::uint64_t ofSegment;

  SlidingBytes(const RunLengthTask & task, const SlidingLayout & layout)
  {
    const auto voxels = static_cast<std::uint64_t>(layout.pitch * task.levelsSize[1] * task.levelsSize[2]);
    const auto rowVoxels = static_cast<std::uint64_t>(task.window[0]) * static_cast<std::uint64_t>(task.window[2]);
    const bool merged = IsMerged(task);
    lengths = RoundUp(voxels * (merged ? 2 * sizeof(LengthBytes) : task.directions.number * sizeof(std::uint32_t)));
    clips = merged ? RoundUp(2 * rowVoxels * sizeof(LengthBytes)) : 0;
    weights = RoundUp(voxels * sizeof(VoxelSums));
    ofSegment = static_cast<std::uint64_t>(layout.VoxelsOfSegment()) *
                (sizeof(VoxelSums) + layout.matrices * sumsPerMatrix * sizeof(double));
  }
  std::uint64_t
  Fixed() const
  {
    return lengths + clips + weights;
  }
};

SlidingBuffers
MakeBuffers(const RunLengthTask & task, const SlidingLayout & layout, const CudaMethodResources & resources)
{
  const SlidingBytes  bytes(task, layout);
  const std::uint64_t segments =
    std::min(static_cast<std::uint64_t>(layout.segments), (resources.scratchBytes - bytes.Fixed()) / bytes.ofSegment);
  char *         at = static_cast<char *>(resources.scratch);
  SlidingBuffers buffers{};
  buffers.lengths = reinterpret_cast<std::uint32_t *>(at);
  buffers.lengthBytes[0] = reinterpret_cast<LengthBytes *>(at);
  buffers.lengthBytes[1] = buffers.lengthBytes[0] + layout.pitch * task.levelsSize[1] * task.levelsSize[2];
  at += bytes.lengths;
  buffers.clips[0] = reinterpret_cast<LengthBytes *>(at);
  buffers.clips[1] = buffers.clips[0] + std::int64_t{ task.window[0] } * task.window[2];
  at += bytes.clips;
  buffers.weights = reinterpret_cast<VoxelSums *>(at);
  at += bytes.weights;
  buffers.capacity = static_cast<std::int64_t>(segments) * layout.VoxelsOfSegment();
  buffers.voxels = reinterpret_cast<VoxelSums *>(at);
  buffers.sums = reinterpret_cast<double *>(buffers.voxels + buffers.capacity);
  return buffers;
}

/** Number of equal voxels from one on along a direction, at most as many as a line of the window has. */
__device__ int
LengthOfRun(const RunLengthTask & task, std::int64_t x, std::int64_t y, std::int64_t z, const TurnedStep & step,
            int sign, int longest)
{
  const std::uint16_t * level = task.levels + task.LevelOffset(x, y, z);
  const std::int64_t    stride = sign * task.LevelOffset(step.x, step.y, step.z);
  const auto            reach = [sign](int s, std::int64_t at, std::int64_t size) {
    return s == 0 ? std::int64_t{ 255 } : sign * s > 0 ? size - at : at + 1;
  };
  const std::int64_t most = min(min(reach(step.x, x, task.levelsSize[0]), reach(step.y, y, task.levelsSize[1])),
                                min(reach(step.z, z, task.levelsSize[2]), static_cast<std::int64_t>(longest)));
  int                length = 1;
  while (length < most && level[length * stride] == *level)
  {
    ++length;
  }
  return length;
}

/** Lengths and weights of all voxels that windows reach; all is 0 beyond the levels. */
template <bool VMerge>
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
    LengthBytes bytes[2] = {};
#pragma unroll
    for (int d = 0; d < Directions::maxNumber; ++d)
    {
      if (d < task.directions.number)
      {
        const TurnedStep & step = layout.steps[d];
        int                forward = 0;
        int                backward = 0;
        if (level != 0)
        {
          const int longest = task.directions.longestLines[d];
          forward = LengthOfRun(task, x, y, z, step, 1, longest);
          // A run within a row enters and leaves as a whole.
          backward = step.y == 0 ? forward : LengthOfRun(task, x, y, z, step, -1, longest);
        }
        if (VMerge)
        {
          bytes[0].words[d / 4] |= static_cast<std::uint32_t>(backward) << (8 * (d % 4));
          bytes[1].words[d / 4] |= static_cast<std::uint32_t>(forward) << (8 * (d % 4));
        }
        else
        {
          buffers.lengths[d * planeRows * layout.pitch + at] =
            level | static_cast<std::uint32_t>(backward) << 16 | static_cast<std::uint32_t>(forward) << 24;
        }
      }
    }
    if (VMerge)
    {
      for (int i = 0; i < 2; ++i)
      {
        bytes[i].words[3] |= level << levelShiftOfLastWord;
        buffers.lengthBytes[i][at] = bytes[i];
      }
    }
  }
}

/** Voxels of a line from position `at` of a window of so many to its end. */
__device__ int
VoxelsToEnd(int step, int at, int size)
{
  return step == 0 ? 255 : step > 0 ? size - at : at + 1;
}

/** Steps along which the lengths of an entering row are counted. */
__device__ TurnedStep
StepOfRow(const TurnedStep & step, bool enters)
{
  return enters && step.y != 0 ? TurnedStep{ -step.x, -step.y, -step.z } : step;
}

__global__ void
ClipsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
            const __grid_constant__ SlidingBuffers buffers)
{
  const int voxel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (voxel >= task.window[0] * task.window[2])
  {
    return;
  }
  for (int leaves = 0; leaves < 2; ++leaves)
  {
    LengthBytes clip = {};
    for (int d = 0; d < task.directions.number; ++d)
    {
      const TurnedStep step = StepOfRow(layout.steps[d], leaves == 0);
      const int        length = min(VoxelsToEnd(step.x, voxel % task.window[0], task.window[0]),
                             VoxelsToEnd(step.z, voxel / task.window[0], task.window[2]));
      clip.words[d / 4] |= static_cast<std::uint32_t>(length) << (8 * (d % 4));
    }
    buffers.clips[leaves][voxel] = clip;
  }
}

__device__ VoxelSums
Difference(const VoxelSums & a, const VoxelSums & b)
{
  return VoxelSums{ a.packed - b.packed, a.inverses - b.inverses };
}

/** The part of the outputs that a block computes: a column of outputs per thread. */
struct SlidingPosition
{
  /** First output of the thread. */
  std::int64_t column;
  std::int64_t row;
  std::int64_t plane;
  int          rows;
  /** The row of the levels at which its window starts, and the planes of the window that are in the levels. */
  std::int64_t firstRow;
  std::int64_t firstPlane;
  int          beginZ;
  int          endZ;
  /** Where its sums are. */
  std::int64_t sums;

  __device__
  SlidingPosition(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                  std::int64_t segment, int blockX, int thread)
    : column(std::int64_t{ blockX } * layout.columns + thread)
    , row(segment % layout.segmentsY * layout.rows)
    , plane(segment / layout.segmentsY)
    , rows(static_cast<int>(min(std::int64_t{ layout.rows }, task.outputSize[1] - row)))
    , firstRow(row + task.outputToLevels[1] - task.anchor[1])
    , firstPlane(plane + task.outputToLevels[2] - task.anchor[2])
    , beginZ(static_cast<int>(max(std::int64_t{ 0 }, min(std::int64_t{ task.window[2] }, -firstPlane))))
    , endZ(static_cast<int>(min(std::int64_t{ task.window[2] }, task.levelsSize[2] - firstPlane)))
    , sums((segment - buffers.firstSegment) * layout.rows * layout.blocksX * layout.columns + column)
  {}
  __device__ std::int64_t
             Sums(const SlidingLayout & layout, int y) const
  {
    return sums + std::int64_t{ y } * layout.blocksX * layout.columns;
  }
};

/** Whether features of an output are to be computed: a voxel that has a level, and is selected. */
__device__ bool
IsComputed(const RunLengthTask & task, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const std::int64_t at[3] = { x + task.outputToLevels[0], y + task.outputToLevels[1], z + task.outputToLevels[2] };
  return x < task.outputSize[0] && at[0] >= 0 && at[0] < task.levelsSize[0] && at[1] >= 0 &&
         at[1] < task.levelsSize[1] && at[2] >= 0 && at[2] < task.levelsSize[2] &&
         task.levels[task.LevelOffset(at[0], at[1], at[2])] != 0 &&
         task.IsSelected((z * task.outputSize[1] + y) * task.outputSize[0] + x);
}

/** Sums over all voxels of the windows of a thread, which all directions share. */
__device__ void
SumVoxels(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
          const SlidingPosition & position)
{
  VoxelSums  sums{ 0, 0 };
  const auto addRow = [&](std::int64_t y, bool enters) {
    if (y < 0 || y >= task.levelsSize[1])
    {
      return;
    }
    for (int j = position.beginZ; j < position.endZ; ++j)
    {
      const VoxelSums * weights =
        buffers.weights + ((position.firstPlane + j) * task.levelsSize[1] + y) * layout.pitch + position.column;
#pragma unroll 4
      for (int i = 0; i < task.window[0]; ++i)
      {
        sums = enters ? VoxelSums{ sums.packed + weights[i].packed, sums.inverses + weights[i].inverses }
                      : Difference(sums, weights[i]);
      }
    }
  };
  for (int r = 0; r < task.window[1] - 1; ++r)
  {
    addRow(position.firstRow + r, true);
  }
  for (int y = 0; y < position.rows; ++y)
  {
    addRow(position.firstRow + y + task.window[1] - 1, true);
    buffers.voxels[position.Sums(layout, y)] = sums;
    addRow(position.firstRow + y, false);
  }
}

__global__ void
SumVoxelsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
                const __grid_constant__ SlidingBuffers buffers)
{
  const std::int64_t segment = buffers.firstSegment + blockIdx.x / layout.blocksX;
  SumVoxels(
    task,
    layout,
    buffers,
    SlidingPosition(
      task, layout, buffers, segment, static_cast<int>(blockIdx.x) % layout.blocksX, static_cast<int>(threadIdx.x)));
}

/** The matrix of a window that slides along y. */
template <bool VMerge, typename TCount>
class SlidingMatrix
{
public:
  __device__
  SlidingMatrix(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers, int matrix,
                const SlidingPosition & position, int thread, char * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Buffers(buffers)
    , m_Position(position)
    , m_Step(layout.steps[matrix])
    , m_Matrix(matrix)
    , m_Columns(layout.columns)
    , m_SumsOfLength(reinterpret_cast<VoxelSums *>(shared) + thread)
    , m_RunsOfLevel(
        reinterpret_cast<TCount *>(reinterpret_cast<VoxelSums *>(shared) +
                                   static_cast<std::int64_t>(task.directions.longestLine - 1) * layout.columns) +
        thread)
  {}

  /** All counts start with 0. */
  __device__ void
  Compute()
  {
    // In the first window, lengths end at its first row.
    for (int r = 0; r < m_Task.window[1]; ++r)
    {
      this->AddRow<1, true>(m_Position.firstRow + r, r + 1);
    }
    this->Store(0);
    for (int y = 1; y < m_Position.rows; ++y)
    {
      this->AddRow<-1, false>(m_Position.firstRow + y - 1, 255);
      this->AddRow<1, false>(m_Position.firstRow + y - 1 + m_Task.window[1], 255);
      this->Store(y);
    }
  }

private:
  // Sums of squares of counts, and of levels, over a window.
  using Square = std::conditional_t<sizeof(TCount) == 2, std::uint32_t, std::uint64_t>;

  /** Add (VSign = 1) or remove (-1) the voxels of a row. */
  template <int VSign, bool VFirstWindow>
  __device__ void
  AddRow(std::int64_t y, int rowsToEnd)
  {
    if (y < 0 || y >= m_Task.levelsSize[1])
    {
      return;
    }
    const TurnedStep   step = StepOfRow(m_Step, VSign > 0);
    const std::int64_t planeSize = m_Task.levelsSize[1] * m_Layout.pitch;
    std::int64_t       at =
      (m_Position.firstPlane + m_Position.beginZ) * planeSize + y * m_Layout.pitch + m_Position.column;
    for (int j = m_Position.beginZ; j < m_Position.endZ; ++j, at += planeSize)
    {
      if constexpr (VMerge)
      {
        this->AddMergedVoxels<VSign, VFirstWindow>(at, j, rowsToEnd);
      }
      else
      {
        int clip = VoxelsToEnd(step.z, j, m_Task.window[2]);
        if (VFirstWindow && step.y != 0)
        {
          clip = min(clip, rowsToEnd);
        }
        this->AddVoxels<VSign>(at, step.x, clip);
      }
    }
  }

  template <int VSign>
  __device__ void
  AddVoxels(std::int64_t at, int stepX, int clip)
  {
    constexpr int         voxelsAtATime = 4;
    const std::uint32_t * lengths =
      m_Buffers.lengths + m_Matrix * (m_Task.levelsSize[2] * m_Task.levelsSize[1] * m_Layout.pitch) + at;
    const int side = m_Task.window[0];
    const int firstClip = VoxelsToEnd(stepX, 0, side);
    const int slope = stepX == 0 ? 0 : stepX > 0 ? -1 : 1;
    for (int i = 0; i < side; i += voxelsAtATime)
    {
      std::uint32_t words[voxelsAtATime];
#pragma unroll
      for (int u = 0; u < voxelsAtATime; ++u)
      {
        words[u] = i + u < side ? lengths[i + u] : 0;
      }
#pragma unroll
      for (int u = 0; u < voxelsAtATime; ++u)
      {
        const auto length = static_cast<int>(VSign > 0 ? (words[u] >> 16) & 255u : words[u] >> 24);
        this->AddVoxel<VSign>(
          words[u] & 0xffffu, min(length, min(clip, firstClip + slope * (i + u))), m_Buffers.weights + at + i + u);
      }
    }
  }

  template <int VSign>
  __device__ void
  AddVoxel(std::uint32_t level, int length, const VoxelSums * weightOfVoxel)
  {
    if (length == 1)
    {
      this->AddRunsOfLevel<VSign>(level, 1);
    }
    else if (length > 1)
    {
      const VoxelSums weight = *weightOfVoxel;
      this->AddVoxelsOfLength<VSign>(length, weight);
      AddSigned<VSign>(m_Longer, weight);
    }
  }

  template <int VSign, bool VFirstWindow>
  __device__ void
  AddMergedVoxels(std::int64_t at, int j, int rowsToEnd)
  {
    const LengthBytes * lengths = m_Buffers.lengthBytes[VSign > 0 ? 0 : 1] + at;
    const LengthBytes * clips = m_Buffers.clips[VSign > 0 ? 0 : 1] + j * m_Task.window[0];
    const VoxelSums *   weights = m_Buffers.weights + at;
#pragma unroll 2
    for (int i = 0; i < m_Task.window[0]; ++i)
    {
      const LengthBytes bytes = lengths[i];
      const LengthBytes clip = clips[i];
      const VoxelSums   weight = weights[i];
      const auto        level = bytes.words[3] >> levelShiftOfLastWord;
      if (level == 0)
      {
        continue;
      }
      int longer = 0;
#pragma unroll
      for (int d = 0; d < Directions::maxNumber; ++d)
      {
        auto length = static_cast<int>(
          min((bytes.words[d / 4] >> (8 * (d % 4))) & 255u, (clip.words[d / 4] >> (8 * (d % 4))) & 255u));
        if (VFirstWindow && m_Layout.steps[d].y != 0)
        {
          length = min(length, rowsToEnd);
        }
        // Bytes of directions that there are not are 0.
        if (length > 1)
        {
          this->AddVoxelsOfLength<VSign>(length, weight);
          ++longer;
        }
      }
      const auto times = static_cast<std::uint64_t>(longer);
      AddSigned<VSign>(m_Longer, VoxelSums{ weight.packed * times, weight.inverses * times });
      AddSigned<VSign>(m_Voxels, weight);
      const int runs = m_Task.directions.number - longer;
      if (runs > 0)
      {
        this->AddRunsOfLevel<VSign>(level, static_cast<std::uint32_t>(runs));
      }
    }
  }

  template <int VSign>
  static __device__ void
  AddSigned(VoxelSums & sums, const VoxelSums & more)
  {
    sums.packed += VSign > 0 ? more.packed : 0 - more.packed;
    sums.inverses += VSign > 0 ? more.inverses : 0 - more.inverses;
  }

  template <int VSign>
  __device__ void
  AddVoxelsOfLength(int length, const VoxelSums & weight)
  {
    VoxelSums * of = m_SumsOfLength + (length - 2) * m_Columns;
    VoxelSums   sums = *of;
    AddSigned<VSign>(sums, weight);
    *of = sums;
    m_Longest = max(m_Longest, length);
  }

  template <int VSign>
  __device__ void
  AddRunsOfLevel(std::uint32_t level, std::uint32_t runs)
  {
    m_LevelSum += VSign > 0 ? Square{ level } * runs : 0 - Square{ level } * runs;
    if (m_Task.needsLevelCounts)
    {
      TCount *          of = m_RunsOfLevel + (level - 1) * static_cast<std::uint32_t>(m_Columns);
      const std::uint32_t before = *of;
      const std::uint32_t after = VSign > 0 ? before + runs : before - runs;
      // after^2 - before^2
      m_LevelNonUniformity += VSign > 0 ? Square{ runs } * (before + after) : 0 - Square{ runs } * (before + after);
      *of = static_cast<TCount>(after);
    }
  }

  __device__ VoxelSums
  SumsOfLength(int length) const
  {
    return length <= m_Longest ? m_SumsOfLength[(length - 2) * m_Columns] : VoxelSums{ 0, 0 };
  }
  __device__ std::uint64_t
  CountOf(const VoxelSums & sums) const
  {
    return sums.packed >> m_Layout.squareBits;
  }
  __device__ std::uint64_t
  SquaresOf(const VoxelSums & sums) const
  {
    return sums.packed & ((std::uint64_t{ 1 } << m_Layout.squareBits) - 1);
  }

  /** Store the sums over the runs of the window of an output. */
  __device__ void
  Store(int y) const
  {
    if (!IsComputed(m_Task, m_Position.column, m_Position.row + y, m_Position.plane))
    {
      return;
    }
    const std::int64_t at = m_Position.Sums(m_Layout, y);
    VoxelSums          voxels = m_Voxels;
    if constexpr (VMerge)
    {
      voxels.packed *= static_cast<std::uint64_t>(m_Task.directions.number);
      voxels.inverses *= static_cast<std::uint64_t>(m_Task.directions.number);
      m_Buffers.voxels[at] = voxels;
    }
    else
    {
      voxels = m_Buffers.voxels[at];
    }
    const VoxelSums runs = Difference(voxels, m_Longer);

    RunLengthSums<double> sums{};
    ClearRuns(sums);
    VoxelSums current = runs;
    for (int l = 1; l <= m_Longest; ++l)
    {
      const VoxelSums next = this->SumsOfLength(l + 1);
      const VoxelSums ofLength = Difference(current, next);
      // Adding none changes nothing.
      if (ofLength.packed != 0)
      {
        AddRunsOfLength(sums,
                        m_Task.lengthSquares[l],
                        m_Task.shortRunWeights[l],
                        static_cast<double>(this->CountOf(ofLength)),
                        static_cast<double>(this->SquaresOf(ofLength)),
                        static_cast<double>(ofLength.inverses));
      }
      current = next;
    }
    sums.levelNonUniformity = static_cast<double>(m_LevelNonUniformity);
    sums.levelVariance =
      m_Task.needsLevelSum ? VarianceNumerator(this->CountOf(runs), this->SquaresOf(runs), m_LevelSum) : 0.0;

    double *     to = m_Buffers.sums + m_Matrix * sumsPerMatrix * m_Buffers.capacity + at;
    const double values[sumsPerMatrix] = { sums.runs,
                                           sums.squares,
                                           sums.inverses,
                                           sums.longRuns,
                                           sums.longRunSquares,
                                           sums.longRunInverses,
                                           sums.shortRuns,
                                           sums.shortRunSquares,
                                           sums.shortRunInverses,
                                           sums.lengthNonUniformity,
                                           sums.levelNonUniformity,
                                           sums.levelVariance };
#pragma unroll
    for (int i = 0; i < sumsPerMatrix; ++i)
    {
      to[i * m_Buffers.capacity] = values[i];
    }
  }

  const RunLengthTask &   m_Task;
  const SlidingLayout &   m_Layout;
  const SlidingBuffers &  m_Buffers;
  const SlidingPosition & m_Position;
  const TurnedStep        m_Step;
  const int               m_Matrix;
  const int               m_Columns;

  /** In shared memory, one for each thread side by side: sums over voxels of length 2, 3 ..., and runs of each level. */
  VoxelSums * m_SumsOfLength;
  TCount *    m_RunsOfLevel;

  /** Of all voxels (if merged), and of those with a length of 2 or more. */
  VoxelSums m_Voxels{ 0, 0 };
  VoxelSums m_Longer{ 0, 0 };
  Square    m_LevelNonUniformity{ 0 };
  Square    m_LevelSum{ 0 };
  int       m_Longest{ 1 };
};

template <bool VMerge, typename TCount>
__global__ void
SlideKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
            const __grid_constant__ SlidingBuffers buffers)
{
  extern __shared__ __align__(16) char shared[];
  const auto                           thread = static_cast<int>(threadIdx.x);
  const auto                           blockX = static_cast<int>(blockIdx.x) % layout.blocksX;
  const auto                           rest = static_cast<int>(blockIdx.x) / layout.blocksX;
  const SlidingPosition                position(
    task, layout, buffers, buffers.firstSegment + rest / layout.matrices, blockX, thread);
  // Masks and selections leave many blocks with nothing to compute.
  bool any = false;
  for (int y = 0; y < position.rows && !any; ++y)
  {
    any = IsComputed(task, position.column, position.row + y, position.plane);
  }
  if (__syncthreads_or(any) == 0)
  {
    return;
  }
  auto * words = reinterpret_cast<uint4 *>(shared);
  for (int i = thread; i < static_cast<int>(layout.sharedBytes / sizeof(uint4)); i += layout.columns)
  {
    words[i] = make_uint4(0, 0, 0, 0);
  }
  __syncthreads();
  SlidingMatrix<VMerge, TCount> matrix(task, layout, buffers, rest % layout.matrices, position, thread, shared);
  matrix.Compute();
}

/** Sums over the runs of a matrix of an output, from SlideKernel. */
__device__ RunLengthSums<double>
LoadSums(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers, int matrix,
         std::int64_t at)
{
  static_cast<void>(task);
  const double * from = buffers.sums + matrix * sumsPerMatrix * buffers.capacity + at;
  double         values[sumsPerMatrix];
#pragma unroll
  for (int i = 0; i < sumsPerMatrix; ++i)
  {
    values[i] = from[i * buffers.capacity];
  }
  RunLengthSums<double> sums{};
  sums.voxels = static_cast<double>(buffers.voxels[at].packed >> layout.squareBits);
  sums.runs = values[0];
  sums.squares = values[1];
  sums.inverses = values[2];
  sums.longRuns = values[3];
  sums.longRunSquares = values[4];
  sums.longRunInverses = values[5];
  sums.shortRuns = values[6];
  sums.shortRunSquares = values[7];
  sums.shortRunInverses = values[8];
  sums.lengthNonUniformity = values[9];
  sums.levelNonUniformity = values[10];
  sums.levelVariance = values[11];
  return sums;
}

/** Features of one output. */
__device__ void
WriteFeatures(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
              const FeatureComponents & components, std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t at)
{
  constexpr int      numberOfFeatures = RunLengthTask::maxFeatures - 1; // all but entropy
  const std::int64_t out = ((z * task.outputSize[1] + y) * task.outputSize[0] + x) * task.numberOfComponents;
  if (!IsComputed(task, x, y, z))
  {
    for (int c = 0; c < task.numberOfComponents; ++c)
    {
      StoreComponent(task, out + c, task.backgroundValue);
    }
    return;
  }
  const bool isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  double     averages[numberOfFeatures] = {};
  for (int m = 0; m < layout.matrices; ++m)
  {
    const RunLengthSums<double>               sums = LoadSums(task, layout, buffers, m, at);
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(task.scales.shortRunScale));
#pragma unroll
    for (int f = 0; f < numberOfFeatures; ++f)
    {
      if (components.of[f] >= 0)
      {
        const double value = RunLengthFeatureValue(static_cast<RunLengthJob::Feature>(f), sums, divisors, task.scales);
        if (isAverage)
        {
          averages[f] += value;
        }
        else
        {
          StoreComponent(task, out + m * task.numberOfFeatures + components.of[f], value);
        }
      }
    }
  }
  if (isAverage)
  {
    const auto numberOfDirections = Division::By(static_cast<double>(task.directions.number));
#pragma unroll
    for (int f = 0; f < numberOfFeatures; ++f)
    {
      if (components.of[f] >= 0)
      {
        StoreComponent(task, out + components.of[f], Division::Quotient(averages[f], numberOfDirections));
      }
    }
  }
}

__global__ void
FeaturesKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
               const __grid_constant__ SlidingBuffers buffers, const __grid_constant__ FeatureComponents components)
{
  const std::int64_t at = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  const std::int64_t columns = std::int64_t{ layout.blocksX } * layout.columns;
  const std::int64_t x = at % columns;
  const std::int64_t row = at / columns;
  const std::int64_t segment = buffers.firstSegment + row / layout.rows;
  const std::int64_t y = segment % layout.segmentsY * layout.rows + row % layout.rows;
  if (segment < buffers.endSegment && x < task.outputSize[0] && y < task.outputSize[1])
  {
    WriteFeatures(task, layout, buffers, components, x, y, segment / layout.segmentsY, at);
  }
}

template <bool VMerge>
void
ComputeSegments(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                cudaStream_t stream)
{
  const auto blocks = static_cast<unsigned int>((buffers.endSegment - buffers.firstSegment) * layout.blocksX);
  if (!VMerge)
  {
    SumVoxelsKernel<<<blocks, layout.columns, 0, stream>>>(task, layout, buffers);
    CheckLaunch("starting the kernel of sums over voxels");
  }
  const auto kernel = BytesOfCount(task) == 2 ? SlideKernel<VMerge, std::uint16_t> : SlideKernel<VMerge, std::uint32_t>;
  AllowSharedMemory(kernel, layout.sharedBytes);
  kernel<<<blocks * layout.matrices, layout.columns, layout.sharedBytes, stream>>>(task, layout, buffers);
  CheckLaunch("starting the kernel of SlidingWindow");
  constexpr unsigned int threads = 128;
  const auto             voxels = static_cast<std::uint64_t>(layout.VoxelsOfSegment()) *
                      static_cast<std::uint64_t>(buffers.endSegment - buffers.firstSegment);
  FeaturesKernel<<<BlocksFor(voxels, threads), threads, 0, stream>>>(
    task, layout, buffers, MakeFeatureComponents(task));
  CheckLaunch("starting the kernel of features");
}

template <bool VMerge>
void
ComputeLengths(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
               cudaStream_t stream)
{
  constexpr unsigned int threads = 128;
  constexpr std::int64_t maxBlocks = 65535;
  const std::int64_t     planeRows = task.levelsSize[1] * task.levelsSize[2];
  if (planeRows > 0)
  {
    const dim3 blocks(BlocksFor(static_cast<std::uint64_t>(layout.pitch), threads),
                      static_cast<unsigned int>(std::min(planeRows, maxBlocks)));
    LengthsKernel<VMerge><<<blocks, threads, 0, stream>>>(task, layout, buffers);
    CheckLaunch("starting the kernel of lengths");
  }
  if (VMerge)
  {
    const auto voxels = static_cast<std::uint64_t>(task.window[0]) * static_cast<std::uint64_t>(task.window[2]);
    ClipsKernel<<<BlocksFor(voxels, threads), threads, 0, stream>>>(task, layout, buffers);
    CheckLaunch("starting the kernel of clips");
  }
}
} // namespace

bool
CudaSlidingWindowTakes(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  return !task.needsEntropy && !(task.needsInverses && task.wideInverses) &&
         BitsOfSquares(task) + BitsOf(task.maxVoxels) <= 64 &&
         static_cast<double>(task.maxVoxels) * task.scales.shortRunScale < maxFusedDivisor &&
         ColumnsPerBlock(task, limits) > 0;
}

CudaScratchBytes
CudaSlidingWindowScratchBytes(const RunLengthTask & task)
{
  const SlidingLayout layout = MakeLayout(task);
  const SlidingBytes  bytes(task, layout);
  return { bytes.Fixed() + bytes.ofSegment,
           bytes.Fixed() + bytes.ofSegment * static_cast<std::uint64_t>(layout.segments) };
}

void
ComputeByCudaSlidingWindow(const RunLengthTask & task, const CudaMethodResources & resources)
{
  // About a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t visitsOfPart = std::int64_t{ 1 } << 36;
  constexpr std::int64_t maxBlocks = std::int64_t{ 1 } << 30;

  const SlidingLayout layout = MakeLayout(task);
  SlidingBuffers      buffers = MakeBuffers(task, layout, resources);
  const bool          merged = IsMerged(task);
  merged ? ComputeLengths<true>(task, layout, buffers, resources.stream)
         : ComputeLengths<false>(task, layout, buffers, resources.stream);
  const std::int64_t visitsOfSegment = layout.VoxelsOfSegment() * task.directions.number *
                                       (2 + task.window[1] / layout.rows) * task.window[0] * task.window[2];
  const std::int64_t segments = std::max<std::int64_t>(
    1,
    std::min({ buffers.capacity / layout.VoxelsOfSegment(),
               visitsOfPart / visitsOfSegment,
               maxBlocks / (std::int64_t{ layout.blocksX } * layout.matrices) }));
  std::int64_t visits = 0;
  for (std::int64_t first = 0; first < layout.segments; first += segments)
  {
    buffers.firstSegment = first;
    buffers.endSegment = std::min(first + segments, layout.segments);
    merged ? ComputeSegments<true>(task, layout, buffers, resources.stream)
           : ComputeSegments<false>(task, layout, buffers, resources.stream);
    visits += segments * visitsOfSegment;
    if (visits >= visitsOfPart && buffers.endSegment < layout.segments)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
      visits = 0;
    }
  }
}
} // namespace voxelmaps
} // namespace itk
