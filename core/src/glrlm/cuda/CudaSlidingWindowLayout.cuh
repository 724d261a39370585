// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSlidingWindowLayout_cuh
#define CudaSlidingWindowLayout_cuh

#include "CudaRunLengthMethods.h"
#include "common/Division.h"
#include "common/FixedPoint.h"
#include "device/CudaMemory.h"
#include "window/WindowBox.h"

#include <algorithm>
#include <type_traits>

// How kernels of windows that slide along y divide a slab: segments, blocks and their shared memory, and buffers in
// device memory.
namespace voxelmaps
{
namespace slidingwindow
{
// A column of outputs starts with all rows of its window, which long columns do less often.
constexpr int minSegmentRows = 8;
constexpr int maxSegmentRows = 64;

// Threads of a block, if the counts of so many windows fit into shared memory.
constexpr int maxWindowsPerBlock = 32;
constexpr int minWindowsPerBlock = 4;
constexpr int maxBlocksPerMultiprocessor = 32;

// Outputs per row of a block of RunsKernel, in addition to the columns that its windows reach beyond them.
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

/** Where the sums over the levels of a matrix are on their way to FeaturesKernel, behind those over its runs. */
constexpr int levelNonUniformityNumber = numberOfRunSums;
constexpr int levelSumNumber = numberOfRunSums + 1;
constexpr int numberOfSums = numberOfRunSums + 2;

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
  SegmentOutputs(const RunLengthTask & task) const
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
  /** The longest run of all voxels that windows reach. */
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

inline VOXELMAPS_HOST_DEVICE bool
IsMerged(const RunLengthTask & task)
{
  return task.aggregation == RunLengthJob::Aggregation::Merge;
}

/** Bits that hold every sum of i^2. */
inline int
SquareBits(const RunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  return task.needsSquares ? BitCount(levels * levels) + BitCount(task.maxVoxels) : 0;
}

inline bool
NeedsLevels(const RunLengthTask & task)
{
  return task.needsLevelCounts || task.needsLevelSum;
}

/** Runs of a level in a window. */
using LevelCount = std::uint16_t;

/** Shared memory for the counts of all levels, with level 0 among them. */
inline std::size_t
WindowBytes(const RunLengthTask & task, int windows)
{
  const std::size_t levels = NeedsLevels(task) ? static_cast<std::size_t>(task.numberOfGrayLevels) + 1 : 0;
  return (levels * sizeof(LevelCount) * windows + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);
}

/** Threads of a block, a window each, of which a number needs some bytes of shared memory; 0 if too few fit. */
template <typename TBytes>
int
WindowsPerBlock(const CudaDeviceLimits & limits, const TBytes & bytes)
{
  int windows = maxWindowsPerBlock;
  while (windows >= minWindowsPerBlock && bytes(windows) > limits.maxSharedMemoryPerBlock)
  {
    windows /= 2;
  }
  return windows >= minWindowsPerBlock ? windows : 0;
}
inline int
WindowsPerBlock(const CudaDeviceLimits & limits, const RunLengthTask & task)
{
  return WindowsPerBlock(limits, [&task](int windows) { return WindowBytes(task, windows); });
}

inline StepMasks
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

inline SlidingLayout
MakeLayout(const RunLengthTask & task)
{
  const CudaDeviceLimits limits = GetCudaDeviceLimits();
  SlidingLayout          layout{};
  layout.matrices = IsMerged(task) ? 1 : task.directions.number;
  layout.squareBits = SquareBits(task);
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

  layout.windows = WindowsPerBlock(limits, task);
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
  const std::size_t lengthBytes = sizeof(VoxelSums) * (layout.sets + 1) * layout.columns;
  layout.lengths = std::min(task.directions.longestLine,
                            std::max(static_cast<int>(limits.maxSharedMemoryPerBlock / 2 / lengthBytes), 3));
  layout.columnBytes = lengthBytes * layout.lengths;

  // Segments as long as they can be with a block for every place on the device.
  const auto fitting = static_cast<std::int64_t>(limits.maxSharedMemoryPerBlock / (layout.windowBytes + 1024));
  const auto places = limits.numberOfMultiprocessors *
                      std::min<std::int64_t>(std::max<std::int64_t>(fitting, 1), maxBlocksPerMultiprocessor);
  const std::int64_t rows = task.outputSize[1] * task.outputSize[2] * layout.windowBlocks * layout.matrices;
  const auto         placeRows = static_cast<int>(std::min<std::int64_t>(rows / places + 1, maxSegmentRows));
  layout.rows = static_cast<int>(std::min<std::int64_t>(std::max(placeRows, minSegmentRows), task.outputSize[1]));
  layout.segmentsY = static_cast<int>((task.outputSize[1] + layout.rows - 1) / layout.rows);
  layout.segments = layout.segmentsY * task.outputSize[2];
  return layout;
}

/** Bytes of the buffers. By hand, as how many segments fit follows from these. */
struct SlidingBytes
{
  std::uint64_t links;
  std::uint64_t lengths;
  std::uint64_t weights;
  std::uint64_t longestRun;
  std::uint64_t perSegment;

  SlidingBytes(const RunLengthTask & task, const SlidingLayout & layout)
  {
    const auto voxels = static_cast<std::uint64_t>(layout.voxels);
    links = RoundUpToAlignment(voxels * sizeof(std::uint32_t));
    lengths = RoundUpToAlignment(voxels * static_cast<std::uint64_t>(task.directions.number));
    weights = RoundUpToAlignment(voxels * sizeof(VoxelSums));
    longestRun = RoundUpToAlignment(sizeof(int));
    perSegment = static_cast<std::uint64_t>(layout.SegmentOutputs(task)) *
                 (sizeof(double) + static_cast<std::uint64_t>(layout.matrices) * numberOfSums * sizeof(double));
  }
  std::uint64_t
  Fixed() const
  {
    return numberOfPassages * (links + lengths) + weights + longestRun;
  }
};

inline SlidingBuffers
MakeBuffers(const RunLengthTask & task, const SlidingLayout & layout, const CudaMethodResources & resources)
{
  const SlidingBytes  bytes(task, layout);
  const std::uint64_t segments =
    std::min(static_cast<std::uint64_t>(layout.segments), (resources.scratchBytes - bytes.Fixed()) / bytes.perSegment);
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
  buffers.capacity = static_cast<std::int64_t>(segments) * layout.SegmentOutputs(task);
  take(buffers.sums, static_cast<std::uint64_t>(buffers.capacity * layout.matrices) * numberOfSums * sizeof(double));
  take(buffers.voxels, static_cast<std::uint64_t>(buffers.capacity) * sizeof(std::uint32_t));
  return buffers;
}

/** A segment of outputs along y. */
struct OutputSegment
{
  std::int64_t row;
  std::int64_t plane;
  int          rows;

  template <typename TLayout>
  __device__
  OutputSegment(const RunLengthTask & task, const TLayout & layout, std::int64_t segment)
    : row(segment % layout.segmentsY * layout.rows)
    , plane(segment / layout.segmentsY)
    , rows(static_cast<int>(min(static_cast<std::int64_t>(layout.rows), task.outputSize[1] - row)))
  {}
  __device__ bool
  IsComputed(const RunLengthTask & task, std::int64_t x, std::int64_t y) const
  {
    const std::int64_t voxel[3] = { x, row + y, plane };
    return x < task.outputSize[0] && WindowBox(task, voxel).isComputed;
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
};

/** A segment, and the levels that its windows reach. */
struct SlidingSegment : OutputSegment
{
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
    : OutputSegment(task, layout, segment)
    , firstRow(row + task.outputToLevels[1] - task.anchor[1])
    , firstPlane(plane + task.outputToLevels[2] - task.anchor[2])
    , beginZ(static_cast<int>(max(std::int64_t{ 0 }, min(std::int64_t{ task.window[2] }, -firstPlane))))
    , endZ(static_cast<int>(min(std::int64_t{ task.window[2] }, task.levelsSize[2] - firstPlane)))
    , sums((segment - buffers.firstSegment) * layout.rows * task.outputSize[0])
  {}
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
} // namespace slidingwindow
} // namespace voxelmaps

#endif // CudaSlidingWindowLayout_cuh
