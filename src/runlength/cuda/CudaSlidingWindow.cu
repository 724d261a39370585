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
// Windows slide along y: one row of voxels leaves, one enters. For windows and aggregations that BoxSums has no kernels
// for; doc/run-length-engine.md has the identities.
//
// LevelsKernel counts the runs of each level, which GLN and GLV need. A thread owns the window of one column of
// outputs, and keeps the counts of all levels in shared memory. The runs of a window are its voxels that are not linked
// to the next one of their run.
//
// RunsKernel sums over the starts of k equal voxels in a row (S_k). A thread owns one column of voxels; sums over x
// follow for each output. The starts in a window are those that end in a row that entered, less those that began in a
// row that left.
#include "CudaFeatureComponents.h"
#include "CudaRunLengthMethods.h"
#include "common/Division.h"
#include "common/FixedPoint.h"
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

// A column of outputs starts with all rows of its window, which long columns do less often.
constexpr int minRowsOfSegment = 8;
constexpr int maxRowsOfSegment = 64;

// Threads of a block of LevelsKernel, if the counts of so many windows fit into shared memory.
constexpr int maxWindowsPerBlock = 32;
constexpr int minWindowsPerBlock = 4;
constexpr int maxBlocksPerMultiprocessor = 32;

// Outputs per row of a block of RunsKernel, beside the columns that its windows reach beyond them.
constexpr int outputsPerTile = 64;
constexpr int maxColumnsPerTile = 320;

/** Number of voxels, above the bits of a sum of i^2, and sum of q(i). */
struct alignas(16) VoxelSums
{
  std::uint64_t packed;
  std::uint64_t inverses;
};

/** One of the directions, turned so that it does not lead to smaller y. */
struct TurnedStep
{
  int x;
  int y;
  int z;
};

/** Directions (bit d) that lead to greater or smaller x, z, and to another y. */
struct StepMasks
{
  std::uint32_t greaterX;
  std::uint32_t smallerX;
  std::uint32_t greaterZ;
  std::uint32_t smallerZ;
  std::uint32_t otherY;
};

/** Runs of a voxel in a row that enters end there, and in one that leaves they start there. Within a row both start. */
enum Passage
{
  Enters,
  Leaves
};
constexpr int numberOfPassages = 2;

/** Where the sums over the runs of a matrix are on their way to FeaturesKernel, in the order of RunLengthSums. */
enum SumOfMatrix
{
  Runs,
  Squares,
  Inverses,
  LongRuns,
  LongRunSquares,
  LongRunInverses,
  ShortRuns,
  ShortRunSquares,
  ShortRunInverses,
  LengthNonUniformity,
  LevelNonUniformity,
  LevelSum,
  NumberOfSums
};

struct SlidingLayout
{
  int matrices;
  /** Outputs of a thread or tile along y, and segments of so many. */
  int          rows;
  int          segmentsY;
  std::int64_t segments;
  /** Voxels per row of what follows from the levels: those that the windows of a row reach. */
  std::int64_t pitch;
  std::int64_t voxels;
  int          squareBits;
  TurnedStep   steps[Directions::maxNumber];
  /** By passage: turned once more for rows that enter. */
  StepMasks masks[numberOfPassages];

  /** LevelsKernel: threads of a block, and blocks along x. */
  int         windows;
  int         windowBlocks;
  std::size_t windowBytes;

  /** RunsKernel: threads and outputs of a row of a tile, and tiles along x. */
  int columns;
  int tileOutputs;
  int tiles;
  /** Sets of S_k: one per step along x if merged, else one. */
  int sets;
  /** S_k in shared memory: as many k as there can be, or so many at a time. */
  int         lengths;
  std::size_t columnBytes;

  std::int64_t
  OutputsOfSegment(const RunLengthTask & task) const
  {
    return rows * task.outputSize[0];
  }
};

/** Device memory of a slab, and the segments whose sums it holds at a time. */
struct SlidingBuffers
{
  /** By passage: the level of a voxel, and above it, bit by bit, the directions in which it is linked. */
  std::uint32_t * links[numberOfPassages];
  /** By passage and direction: equal voxels from one on, or back from it. */
  std::uint8_t * lengths[numberOfPassages];
  /** What each voxel adds to S_k. */
  VoxelSums * weights;
  /** Of all voxels that windows reach. */
  int * longestRun;
  /** Voxels of each window, and the sums of its matrices. */
  std::uint32_t * voxels;
  double *        sums;

  std::int64_t firstSegment;
  std::int64_t endSegment;
  /** Outputs of the most segments that fit. */
  std::int64_t capacity;
};
constexpr int linkShift = 16;
constexpr int maxRunLength = 255;

VOXELMAPS_HOST_DEVICE bool
IsMerged(const RunLengthTask & task)
{
  return task.aggregation == RunLengthJob::Aggregation::Merge;
}

/** Bits that hold every number of runs. */
int
BitsOfCounts(const RunLengthTask & task)
{
  return CeilLog2(task.maxVoxels + 1);
}

/** Bits that hold every sum of i^2. */
int
BitsOfSquares(const RunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  return task.needsSquares ? CeilLog2(levels * levels + 1) + BitsOfCounts(task) : 0;
}

bool
NeedsLevels(const RunLengthTask & task)
{
  return task.needsLevelCounts || task.needsLevelSum;
}

/** Shared memory for the counts of all levels, with level 0 among them. */
std::size_t
WindowBytes(const RunLengthTask & task, int windows)
{
  const std::size_t bytes = task.maxVoxels < 65536 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  const std::size_t levels = NeedsLevels(task) ? static_cast<std::size_t>(task.numberOfGrayLevels) + 1 : 0;
  return (levels * bytes * windows + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);
}

/** 0 if the counts of too few windows fit for the threads of a block. */
int
WindowsPerBlock(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  int windows = maxWindowsPerBlock;
  while (windows >= minWindowsPerBlock && WindowBytes(task, windows) > limits.maxSharedMemoryPerBlock)
  {
    windows /= 2;
  }
  return windows >= minWindowsPerBlock ? windows : 0;
}

StepMasks
MakeMasks(const RunLengthTask & task, const TurnedStep (&steps)[Directions::maxNumber], Passage passage)
{
  StepMasks masks{};
  for (int d = 0; d < task.directions.number; ++d)
  {
    const int           sign = passage == Enters && steps[d].y != 0 ? -1 : 1;
    const std::uint32_t bit = 1u << (linkShift + d);
    masks.greaterX |= sign * steps[d].x > 0 ? bit : 0;
    masks.smallerX |= sign * steps[d].x < 0 ? bit : 0;
    masks.greaterZ |= sign * steps[d].z > 0 ? bit : 0;
    masks.smallerZ |= sign * steps[d].z < 0 ? bit : 0;
    masks.otherY |= steps[d].y != 0 ? bit : 0;
  }
  return masks;
}

SlidingLayout
MakeLayout(const RunLengthTask & task)
{
  const CudaDeviceLimits limits = GetCudaDeviceLimits();
  SlidingLayout          layout{};
  layout.matrices = IsMerged(task) ? 1 : task.directions.number;
  layout.squareBits = BitsOfSquares(task);
  for (int d = 0; d < task.directions.number; ++d)
  {
    const auto & step = task.directions.steps[d];
    const int    sign = step[1] < 0 ? -1 : 1;
    layout.steps[d] = TurnedStep{ sign * step[0], sign * step[1], sign * step[2] };
  }
  for (const Passage passage : { Enters, Leaves })
  {
    layout.masks[passage] = MakeMasks(task, layout.steps, passage);
  }

  layout.windows = WindowsPerBlock(task, limits);
  layout.windowBlocks = static_cast<int>((task.outputSize[0] + layout.windows - 1) / layout.windows);
  layout.windowBytes = WindowBytes(task, layout.windows);
  layout.pitch = std::int64_t{ layout.windowBlocks } * layout.windows + task.window[0] - 1;
  layout.voxels = layout.pitch * task.levelsSize[1] * task.levelsSize[2];

  constexpr int warp = 32;
  layout.columns = (outputsPerTile + task.window[0] - 1 + warp - 1) / warp * warp;
  layout.tileOutputs = layout.columns - task.window[0] + 1;
  layout.tiles = static_cast<int>((task.outputSize[0] + layout.tileOutputs - 1) / layout.tileOutputs);
  layout.sets = IsMerged(task) ? 3 : 1;
  // Two blocks at least on each multiprocessor.
  const std::size_t bytesOfLength = sizeof(VoxelSums) * (layout.sets + 1) * layout.columns;
  layout.lengths = std::min(task.directions.longestLine,
                            std::max(static_cast<int>(limits.maxSharedMemoryPerBlock / 2 / bytesOfLength), 3));
  layout.columnBytes = bytesOfLength * layout.lengths;

  // Segments as long as they can be with a block for every place on the device.
  const auto fitting = static_cast<std::int64_t>(limits.maxSharedMemoryPerBlock / (layout.windowBytes + 1024));
  const auto places = GetNumberOfMultiprocessors() *
                      std::min<std::int64_t>(std::max<std::int64_t>(fitting, 1), maxBlocksPerMultiprocessor);
  const std::int64_t rows = task.outputSize[1] * task.outputSize[2] * layout.windowBlocks * layout.matrices;
  const auto         rowsOfPlace = static_cast<int>(std::min<std::int64_t>(rows / places + 1, maxRowsOfSegment));
  layout.rows = static_cast<int>(std::min<std::int64_t>(std::max(rowsOfPlace, minRowsOfSegment), task.outputSize[1]));
  layout.segmentsY = static_cast<int>((task.outputSize[1] + layout.rows - 1) / layout.rows);
  layout.segments = layout.segmentsY * task.outputSize[2];
  return layout;
}

std::uint64_t
RoundUp(std::uint64_t bytes)
{
  constexpr std::uint64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/** Bytes of the buffers. */
struct SlidingBytes
{
  std::uint64_t links;
  std::uint64_t lengths;
  std::uint64_t weights;
  std::uint64_t longestRun;
  std::uint64_t ofSegment;

  SlidingBytes(const RunLengthTask & task, const SlidingLayout & layout)
  {
    const auto voxels = static_cast<std::uint64_t>(layout.voxels);
    links = RoundUp(voxels * sizeof(std::uint32_t));
    lengths = RoundUp(voxels * static_cast<std::uint64_t>(task.directions.number));
    weights = RoundUp(voxels * sizeof(VoxelSums));
    longestRun = RoundUp(sizeof(int));
    ofSegment = static_cast<std::uint64_t>(layout.OutputsOfSegment(task)) *
                (sizeof(double) + static_cast<std::uint64_t>(layout.matrices) * NumberOfSums * sizeof(double));
  }
  std::uint64_t
  Fixed() const
  {
    return numberOfPassages * (links + lengths) + weights + longestRun;
  }
};

SlidingBuffers
MakeBuffers(const RunLengthTask & task, const SlidingLayout & layout, const CudaMethodResources & resources)
{
  const SlidingBytes  bytes(task, layout);
  const std::uint64_t segments =
    std::min(static_cast<std::uint64_t>(layout.segments), (resources.scratchBytes - bytes.Fixed()) / bytes.ofSegment);
  auto *         at = static_cast<char *>(resources.scratch);
  SlidingBuffers buffers{};
  const auto     take = [&at](auto *& buffer, std::uint64_t size) {
    buffer = reinterpret_cast<std::remove_reference_t<decltype(buffer)>>(at);
    at += size;
  };
  for (const Passage passage : { Enters, Leaves })
  {
    take(buffers.links[passage], bytes.links);
    take(buffers.lengths[passage], bytes.lengths);
  }
  take(buffers.weights, bytes.weights);
  take(buffers.longestRun, bytes.longestRun);
  buffers.capacity = static_cast<std::int64_t>(segments) * layout.OutputsOfSegment(task);
  take(buffers.sums, static_cast<std::uint64_t>(buffers.capacity * layout.matrices) * NumberOfSums * sizeof(double));
  take(buffers.voxels, static_cast<std::uint64_t>(buffers.capacity) * sizeof(std::uint32_t));
  return buffers;
}

/** Number of equal voxels from one on along a direction, or back, at most as many as a line of the window has. */
__device__ int
LengthOfRun(const RunLengthTask & task, std::int64_t x, std::int64_t y, std::int64_t z, const TurnedStep & step,
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
        forward = LengthOfRun(task, x, y, z, step, 1, longest);
        backward = step.y == 0 ? forward : LengthOfRun(task, x, y, z, step, -1, longest);
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
  atomicMax(buffers.longestRun, longestRun);
}

/** A segment of outputs, and the levels that its windows reach. */
struct SlidingSegment
{
  std::int64_t row;
  std::int64_t plane;
  int          rows;
  /** The row of the levels at which the first window starts, and the planes of the window that are in the levels. */
  std::int64_t firstRow;
  std::int64_t firstPlane;
  int          beginZ;
  int          endZ;
  /** Where the sums of its outputs are. */
  std::int64_t sums;

  __device__
  SlidingSegment(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                 std::int64_t segment)
    : row(segment % layout.segmentsY * layout.rows)
    , plane(segment / layout.segmentsY)
    , rows(static_cast<int>(min(std::int64_t{ layout.rows }, task.outputSize[1] - row)))
    , firstRow(row + task.outputToLevels[1] - task.anchor[1])
    , firstPlane(plane + task.outputToLevels[2] - task.anchor[2])
    , beginZ(static_cast<int>(max(std::int64_t{ 0 }, min(std::int64_t{ task.window[2] }, -firstPlane))))
    , endZ(static_cast<int>(min(std::int64_t{ task.window[2] }, task.levelsSize[2] - firstPlane)))
    , sums((segment - buffers.firstSegment) * layout.rows * task.outputSize[0])
  {}
  /** Whether features of an output are to be computed: a voxel that has a level, and is selected. */
  __device__ bool
  IsComputed(const RunLengthTask & task, std::int64_t x, int y) const
  {
    const std::int64_t at[3] = { x + task.outputToLevels[0],
                                 row + y + task.outputToLevels[1],
                                 plane + task.outputToLevels[2] };
    return x < task.outputSize[0] && at[0] >= 0 && at[0] < task.levelsSize[0] && at[1] >= 0 &&
           at[1] < task.levelsSize[1] && at[2] >= 0 && at[2] < task.levelsSize[2] &&
           task.levels[task.LevelOffset(at[0], at[1], at[2])] != 0 &&
           task.IsSelected((plane * task.outputSize[1] + row + y) * task.outputSize[0] + x);
  }
  /** Whether that holds for any output of a column. */
  __device__ bool
  IsAnyComputed(const RunLengthTask & task, std::int64_t x) const
  {
    for (int y = 0; y < rows; ++y)
    {
      if (this->IsComputed(task, x, y))
      {
        return true;
      }
    }
    return false;
  }
  __device__ bool
  HasLevels(const RunLengthTask & task, std::int64_t y) const
  {
    return y >= 0 && y < task.levelsSize[1];
  }
  /** Where a column of a row and plane of the window is among what follows from the levels. */
  __device__ std::int64_t
  Voxel(const RunLengthTask & task, const SlidingLayout & layout, std::int64_t column, std::int64_t y, int z) const
  {
    return ((firstPlane + z) * task.levelsSize[1] + y) * layout.pitch + column;
  }
};

/** The counts of the levels of a window. */
template <bool VMerge, bool VLevelSum, typename TCount>
class RunsOfLevels
{
public:
  __device__
  RunsOfLevels(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
               const SlidingSegment & segment, int matrix, std::int64_t column, TCount * counts)
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
  // Sums of squares of counts, and of levels, over a window.
  using Square = std::conditional_t<sizeof(TCount) == 2, std::uint32_t, std::uint64_t>;
  using Difference = std::make_signed_t<Square>;

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
    TCount *            countOut = m_Counts + levelOut * stride;
    TCount *            countIn = m_Counts + levelIn * stride;
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
  __device__ TCount
  Change(std::uint32_t level, std::uint32_t before, int runs)
  {
    const std::uint32_t after = before + static_cast<std::uint32_t>(runs);
    const auto          difference = static_cast<Square>(static_cast<Difference>(runs));
    // after^2 - before^2
    m_SumOfSquares += difference * (before + after);
    if constexpr (VLevelSum)
    {
      m_LevelSum += difference * level;
    }
    return static_cast<TCount>(after);
  }

  __device__ void
  Store(int y) const
  {
    if (m_Column < m_Task.outputSize[0])
    {
      // Absent voxels were counted as level 0.
      const Square absent = m_Counts[0];
      double *     to = m_Buffers.sums + std::int64_t{ m_Matrix } * NumberOfSums * m_Buffers.capacity + m_Segment.sums +
                    y * m_Task.outputSize[0] + m_Column;
      to[LevelNonUniformity * m_Buffers.capacity] = static_cast<double>(m_SumOfSquares - absent * absent);
      to[LevelSum * m_Buffers.capacity] = static_cast<double>(m_LevelSum);
    }
  }

  const RunLengthTask &  m_Task;
  const SlidingLayout &  m_Layout;
  const SlidingBuffers & m_Buffers;
  const SlidingSegment & m_Segment;
  const int              m_Matrix;
  const std::int64_t     m_Column;
  const std::uint32_t    m_Directions;
  TCount * const         m_Counts;
  Square                 m_SumOfSquares{ 0 };
  Square                 m_LevelSum{ 0 };
};

template <bool VMerge, bool VLevelSum, typename TCount>
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
  RunsOfLevels<VMerge, VLevelSum, TCount> runs(
    task, layout, buffers, segment, matrix, column, reinterpret_cast<TCount *>(shared) + thread);
  runs.Compute();
}

__device__ void
Add(VoxelSums & sums, const VoxelSums & more)
{
  sums.packed += more.packed;
  sums.inverses += more.inverses;
}
__device__ void
Subtract(VoxelSums & sums, const VoxelSums & less)
{
  sums.packed -= less.packed;
  sums.inverses -= less.inverses;
}

/** The sums S_k of a tile, for k from a first one on. */
class RunsOfTile
{
public:
  __device__
  RunsOfTile(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
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
    , m_VoxelsOfLength(m_Sums + layout.lengths * layout.sets * layout.columns + m_Thread)
    , m_LongestOfTile(longest)
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
  SumsOf(int length, int set) const
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
  StepOfSet(int set) const
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
      const int stepX = this->StepOfSet(set);
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
      int       ofPlane[planesAtATime];
      VoxelSums weights[planesAtATime];
#pragma unroll
      for (int u = 0; u < planesAtATime; ++u)
      {
        ofPlane[u] = begin + u < m_Segment.endZ ? lengths[at + u * planeSize] : 0;
      }
#pragma unroll
      for (int u = 0; u < planesAtATime; ++u)
      {
        const int z = begin + u;
        ofPlane[u] = min(ofPlane[u], rowsToEnd);
        ofPlane[u] = min(ofPlane[u], stepZ > 0 ? m_Task.window[2] - z : stepZ < 0 ? z + 1 : maxRunLength);
        weights[u] = ofPlane[u] >= this->FirstStarts() ? m_Buffers.weights[at + u * planeSize] : VoxelSums{ 0, 0 };
      }
#pragma unroll
      for (int u = 0; u < planesAtATime; ++u)
      {
        if (ofPlane[u] >= this->FirstStarts())
        {
          const int   length = min(ofPlane[u], m_EndLength - 1);
          VoxelSums & of = m_VoxelsOfLength[(length - m_FirstLength) * m_Layout.columns];
          VoxelSums   sums = of;
          passage == Enters ? Add(sums, weights[u]) : Subtract(sums, weights[u]);
          of = sums;
          m_LongestOfRow = max(m_LongestOfRow, length);
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
    for (int k = m_LongestOfRow; k >= this->FirstStarts(); --k)
    {
      VoxelSums & ofLength = m_VoxelsOfLength[(k - m_FirstLength) * m_Layout.columns];
      Add(starts, ofLength);
      ofLength = VoxelSums{ 0, 0 };
      const int column = m_Thread - (k - 1) * stepToEnd;
      if (column >= 0 && column < m_Layout.columns)
      {
        VoxelSums & to = this->SumsOf(k, set)[column];
        VoxelSums   sums = to;
        Add(sums, starts);
        to = sums;
      }
    }
    m_Longest = max(m_Longest, m_LongestOfRow);
    m_LongestOfRow = 1;
  }

  /** Sums over the runs of the windows of a row, when all threads are there. */
  __device__ void
  FinishRow(int y)
  {
    if (m_FirstLength == 1)
    {
      this->SumsOf(1, 0)[m_Thread] = m_Voxels;
    }
    if (m_Longest > m_LongestTold)
    {
      atomicMax(m_LongestOfTile, m_Longest);
      m_LongestTold = m_Longest;
    }
    __syncthreads();
    if (this->IsOutput() && m_Segment.IsComputed(m_Task, m_Column, y))
    {
      this->Store(y, *m_LongestOfTile);
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
      this->AddColumns(this->SumsOf(1, 0) + m_Thread, m_Task.window[0], sums);
      const auto directions = static_cast<std::uint64_t>(m_EndDirection - m_FirstDirection);
      return VoxelSums{ sums.packed * directions, sums.inverses * directions };
    }
    for (int set = 0; set < m_Layout.sets; ++set)
    {
      const int step = this->StepOfSet(set);
      const int begin = m_Thread + (step < 0 ? k - 1 : 0);
      this->AddColumns(this->SumsOf(k, set) + begin, m_Task.window[0] - (step != 0 ? k - 1 : 0), sums);
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
             CountOf(const VoxelSums & sums) const
  {
    return sums.packed >> m_Layout.squareBits;
  }
  __device__ std::uint64_t
             SquaresOf(const VoxelSums & sums) const
  {
    return sums.packed & ((std::uint64_t{ 1 } << m_Layout.squareBits) - 1);
  }

  /** Runs of length l are S_l - 2 S_(l+1) + S_(l+2). */
  __device__ void
  Store(int y, int longest) const
  {
    const std::int64_t    at = m_Segment.sums + y * m_Task.outputSize[0] + m_Column;
    double *              stored = m_Buffers.sums + std::int64_t{ m_Matrix } * NumberOfSums * m_Buffers.capacity + at;
    RunLengthSums<double> sums{};
    ClearRuns(sums);
    if (m_FirstLength > 1)
    {
      // Those of shorter runs.
      this->ForEachSum(sums, [this, stored](SumOfMatrix i, double & sum) { sum = stored[i * m_Buffers.capacity]; });
    }
    VoxelSums current = this->Starts(m_FirstLength);
    if (m_FirstLength == 1 && m_Matrix == 0)
    {
      m_Buffers.voxels[at] = static_cast<std::uint32_t>(this->CountOf(current));
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
      VoxelSums ofLength = atLeast;
      Subtract(ofLength, longer);
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
      atLeast = longer;
      next = afterNext;
    }
    this->ForEachSum(sums, [this, stored](SumOfMatrix i, double sum) { stored[i * m_Buffers.capacity] = sum; });
  }

  template <typename TFunction>
  __device__ void
  ForEachSum(RunLengthSums<double> & sums, const TFunction & function) const
  {
    function(Runs, sums.runs);
    function(Squares, sums.squares);
    function(Inverses, sums.inverses);
    function(LongRuns, sums.longRuns);
    function(LongRunSquares, sums.longRunSquares);
    function(LongRunInverses, sums.longRunInverses);
    function(ShortRuns, sums.shortRuns);
    function(ShortRunSquares, sums.shortRunSquares);
    function(ShortRunInverses, sums.shortRunInverses);
    function(LengthNonUniformity, sums.lengthNonUniformity);
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
  VoxelSums * const m_VoxelsOfLength;
  int * const       m_LongestOfTile;
  /** Of this column. */
  VoxelSums m_Voxels{ 0, 0 };
  int       m_LongestOfRow{ 1 };
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
  RunsOfTile           runs(task,
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

/** Sums over the runs of a matrix of an output. */
__device__ RunLengthSums<double>
           LoadSums(const RunLengthTask & task, const SlidingBuffers & buffers, int matrix, std::int64_t at)
{
  const double *        from = buffers.sums + std::int64_t{ matrix } * NumberOfSums * buffers.capacity + at;
  const auto            load = [&](SumOfMatrix i) { return from[i * buffers.capacity]; };
  RunLengthSums<double> sums{};
  sums.voxels = static_cast<double>(buffers.voxels[at]);
  sums.runs = load(Runs);
  sums.squares = load(Squares);
  sums.inverses = load(Inverses);
  sums.longRuns = load(LongRuns);
  sums.longRunSquares = load(LongRunSquares);
  sums.longRunInverses = load(LongRunInverses);
  sums.shortRuns = load(ShortRuns);
  sums.shortRunSquares = load(ShortRunSquares);
  sums.shortRunInverses = load(ShortRunInverses);
  sums.lengthNonUniformity = load(LengthNonUniformity);
  if (task.needsLevelCounts)
  {
    sums.levelNonUniformity = load(LevelNonUniformity);
  }
  if (task.needsLevelSum)
  {
    // These doubles are integers below 2^53.
    sums.levelVariance = VarianceNumerator(static_cast<std::uint64_t>(sums.runs),
                                           static_cast<std::uint64_t>(sums.squares),
                                           static_cast<std::uint64_t>(load(LevelSum)));
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
  for (int m = 0; m < layout.matrices; ++m)
  {
    const RunLengthSums<double>               sums = LoadSums(task, buffers, m, at);
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
    ((segment.plane * task.outputSize[1] + segment.row + y) * task.outputSize[0] + x) * task.numberOfComponents;
  if (segment.IsComputed(task, x, y))
  {
    WriteFeatures(task, layout, buffers, components, out, at);
    return;
  }
  for (int c = 0; c < task.numberOfComponents; ++c)
  {
    StoreComponent(task, out + c, task.backgroundValue);
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

template <bool VMerge, bool VLevelSum>
void
ComputeLevels(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
              unsigned int segments, cudaStream_t stream)
{
  const auto kernel = task.maxVoxels < 65536 ? LevelsKernel<VMerge, VLevelSum, std::uint16_t>
                                             : LevelsKernel<VMerge, VLevelSum, std::uint32_t>;
  AllowSharedMemory(kernel, layout.windowBytes);
  const unsigned int blocks = segments * layout.matrices * layout.windowBlocks;
  kernel<<<blocks, layout.windows, layout.windowBytes, stream>>>(task, layout, buffers);
  CheckLaunch("starting the kernel of levels");
}

void
ComputeSegments(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                cudaStream_t stream)
{
  const auto segments = static_cast<unsigned int>(buffers.endSegment - buffers.firstSegment);
  if (NeedsLevels(task))
  {
    if (IsMerged(task))
    {
      task.needsLevelSum ? ComputeLevels<true, true>(task, layout, buffers, segments, stream)
                         : ComputeLevels<true, false>(task, layout, buffers, segments, stream);
    }
    else
    {
      task.needsLevelSum ? ComputeLevels<false, true>(task, layout, buffers, segments, stream)
                         : ComputeLevels<false, false>(task, layout, buffers, segments, stream);
    }
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
  const auto             outputs = static_cast<std::uint64_t>(layout.OutputsOfSegment(task)) * segments;
  FeaturesKernel<<<BlocksFor(outputs, threads), threads, 0, stream>>>(
    task, layout, buffers, MakeFeatureComponents(task));
  CheckLaunch("starting the kernel of features");
}
} // namespace

bool
CudaSlidingWindowTakes(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  return !task.needsEntropy && !(task.needsInverses && task.wideInverses) &&
         BitsOfSquares(task) + BitsOfCounts(task) <= 64 &&
         static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels * task.numberOfGrayLevels <
           9007199254740992.0 && // 2^53
         static_cast<double>(task.maxVoxels) * task.scales.shortRunScale < maxFusedDivisor &&
         WindowsPerBlock(task, limits) > 0;
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
  constexpr std::int64_t voxelsOfPart = std::int64_t{ 1 } << 36;
  constexpr std::int64_t maxBlocks = std::int64_t{ 1 } << 30;

  const SlidingLayout layout = MakeLayout(task);
  SlidingBuffers      buffers = MakeBuffers(task, layout, resources);
  ComputeLengths(task, layout, buffers, resources.stream);
  // What leaves and enters.
  const std::int64_t voxelsOfSegment = layout.OutputsOfSegment(task) * task.directions.number *
                                       (2 + task.window[1] / layout.rows) * task.window[0] * task.window[2];
  const std::int64_t segments = std::max<std::int64_t>(
    1,
    std::min({ buffers.capacity / layout.OutputsOfSegment(task),
               voxelsOfPart / voxelsOfSegment,
               maxBlocks / (std::int64_t{ std::max(layout.windowBlocks, layout.tiles) } * layout.matrices) }));
  std::int64_t voxels = 0;
  for (std::int64_t first = 0; first < layout.segments; first += segments)
  {
    buffers.firstSegment = first;
    buffers.endSegment = std::min(first + segments, layout.segments);
    ComputeSegments(task, layout, buffers, resources.stream);
    voxels += segments * voxelsOfSegment;
    if (voxels >= voxelsOfPart && buffers.endSegment < layout.segments)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
      voxels = 0;
    }
  }
}
} // namespace voxelmaps
} // namespace itk
