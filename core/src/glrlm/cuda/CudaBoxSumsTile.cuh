// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaBoxSumsTile_cuh
#define CudaBoxSumsTile_cuh

#include "CudaRunAccumulator.cuh"

// What the two kernels of BoxSums share: the tile of a block, and sums along its axes.
namespace voxelmaps
{
/** A block has a thread per column of 32 voxels along x and two rows. */
constexpr int tileColumns = 32;
constexpr int tileRows = 32;
constexpr int boxSumsThreads = tileRows / 2 * tileColumns;
// One row more than the tile, which the second row of the last warp may read.
constexpr int tileVoxels = (tileRows + 1) * tileColumns;

/** Bytes of shared memory for sums of k = 2 ... kinds + 1: inverses, squares, counts if they are apart, and levels. */
constexpr int
SumBytes(int kinds, bool isPacked, bool hasLevels)
{
  return (kinds * (isPacked ? 3 : 4) + (hasLevels ? 1 : 0)) * tileVoxels * static_cast<int>(sizeof(std::uint32_t));
}

/** Bytes of shared memory for q(i) of all levels, in front of the sums. */
inline __host__ __device__ int
InverseTableBytes(const RunLengthTask & task)
{
  return (task.numberOfGrayLevels + 2) / 2 * 2 * static_cast<int>(sizeof(std::uint64_t));
}

/** Values derived from a task. */
struct BoxSumsTiling
{
  /** Columns and rows of output per tile, and tiles along x and y. */
  int          columns;
  int          rows;
  std::int64_t tilesX;
  std::int64_t tilesY;
  /** Bits of a sum of i^2: in packed words the number of runs comes above it. */
  int squareBits;
  /** Bits of a count of voxels of one level, 8 or 16. */
  int levelBits;
  /** Bytes from one set of sums in shared memory to the other; 0 if there is room for one only. */
  int               bufferStride;
  FeatureComponents components;
  RunWeights        runs;
  StartWeights      words;

  /** From RunLengthWordsKernel, one word per voxel of the levels. */
  const std::uint64_t * runLengthWords;
  /** Sums over levels of runs^2, direction by direction: 16 bits where levelBits is 8, else 32. */
  void * levelNonUniformities;
};

/** Levels that the words of run lengths and the tables are made for. */
constexpr int maxGrayLevels = 1024;

/** A word of RunLengthWordsKernel: the number of equal voxels from one on, 4 bits per direction, and above that the
 * level. */
constexpr int lengthBits = 4;
constexpr int levelShift = lengthBits * Directions::maxNumber;
constexpr int maxWordLevel = (1 << (64 - levelShift)) - 1;

static_assert(maxGrayLevels <= maxWordLevel, "levels and lengths fit a word");

/** Where there are at most 5 equal voxels, bit k - 2 of the four indicates k: one instruction tests it.
 */
constexpr int maxBitLength = 5;

inline __host__ __device__ std::uint32_t
                           LengthBits(int length)
{
  return (1u << (length - 1)) - 1;
}

/** Whether the four bits of a voxel and direction say that k >= 2 equal voxels start there. */
template <int VWindow>
inline __device__ bool
StartsEqual(std::uint32_t length, int k)
{
  return VWindow <= maxBitLength ? (length & (1u << (k - 2))) != 0 : length >= static_cast<std::uint32_t>(k);
}

inline __device__ int
GetLevel(std::uint64_t word)
{
  return static_cast<int>(word >> levelShift);
}

inline __device__ std::uint32_t
                  GetLength(std::uint64_t word, int direction)
{
  // The halves apart: shifts of 64 bits take twice as long.
  const auto          high = static_cast<std::uint32_t>(word >> 32);
  const auto          low = static_cast<std::uint32_t>(word);
  const std::uint32_t half = direction < 8 ? low : high;
  return (half >> (lengthBits * (direction % 8))) & 15u;
}

/** What of the window is known at compile time: loops over known numbers take half of the instructions. */
enum class WindowShape
{
  Cube,   // VWindow along all axes
  Square, // VWindow along x and y, 1 along z, and directions in the plane
  Box     // at most VWindow along each axis
};

template <int VWindow, WindowShape VShape>
struct BoxSumsWindow
{
  static constexpr int planes = VShape == WindowShape::Square ? 1 : VWindow;

  /** Length of the window along x, y or z. */
  static __device__ int
  Side(const RunLengthTask & task, int axis)
  {
    return VShape == WindowShape::Box ? task.window[axis] : axis == 2 ? planes : VWindow;
  }
  static __device__ int
  LongestRun(const RunLengthTask & task, int direction)
  {
    return VShape == WindowShape::Box ? task.directions.longestLines[direction] : VWindow;
  }
  /** Voxels along an axis where k voxels in a row can start, and the first of them. */
  static __device__ int
  Width(const RunLengthTask & task, int axis, bool hasStep, int k)
  {
    return Side(task, axis) - (hasStep ? k - 1 : 0);
  }
  static __device__ int
  Start(int step, int k)
  {
    return step < 0 ? k - 1 : 0;
  }
};

/** Position of a thread and its tile. */
struct BoxSumsPosition
{
  int          warpLane;
  int          row;
  std::int64_t plane;
  std::int64_t start[2];

  __device__
  BoxSumsPosition(const RunLengthTask & task, const BoxSumsTiling & tiling, std::int64_t tile)
    : warpLane(static_cast<int>(threadIdx.x) % tileColumns)
    , row(static_cast<int>(threadIdx.x) / tileColumns * 2)
  {
    // Tiles that follow each other along z read nearly the same voxels.
    plane = tile % task.outputSize[2];
    const std::int64_t inPlane = tile / task.outputSize[2];
    start[0] = inPlane % tiling.tilesX * tiling.columns;
    start[1] = inPlane / tiling.tilesX * tiling.rows;
  }

  __device__ bool
  HasOutput(const RunLengthTask & task, const BoxSumsTiling & tiling, int r) const
  {
    return warpLane < tiling.columns && row + r < tiling.rows && start[0] + warpLane < task.outputSize[0] &&
           start[1] + row + r < task.outputSize[1];
  }
  __device__ std::int64_t
             OutputVoxel(const RunLengthTask & task, int r) const
  {
    return (plane * task.outputSize[1] + start[1] + row + r) * task.outputSize[0] + start[0] + warpLane;
  }

  /** Run length words of the planes of the window in a row of the tile; 0 beyond the levels. */
  template <int VPlanes>
  __device__ void
  Load(const RunLengthTask & task, const BoxSumsTiling & tiling, int r, std::uint64_t (&runLengthWords)[VPlanes]) const
  {
    const std::int64_t x = start[0] + warpLane + task.outputToLevels[0] - task.anchor[0];
    const std::int64_t y = start[1] + row + r + task.outputToLevels[1] - task.anchor[1];
    const bool         inPlane = x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1];
#pragma unroll
    for (int j = 0; j < VPlanes; ++j)
    {
      const std::int64_t z = plane + j + task.outputToLevels[2] - task.anchor[2];
      runLengthWords[j] = inPlane && j < task.window[2] && z >= 0 && z < task.levelsSize[2]
                            ? tiling.runLengthWords[(z * task.levelsSize[1] + y) * task.levelsSize[0] + x]
                            : 0;
    }
  }
};

/** Whether there is a voxel, with a level, in the middle of a window. */
inline __device__ bool
IsPresent(const RunLengthTask & task, const BoxSumsPosition & position, int r)
{
  return task.LevelAt(position.start[0] + position.warpLane + task.outputToLevels[0],
                      position.start[1] + position.row + r + task.outputToLevels[1],
                      position.plane + task.outputToLevels[2]) != 0;
}

/** What LevelNonUniformityKernel has written, or 0. */
inline __device__ std::uint32_t
LoadLevelNonUniformity(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position,
                       int d, int r)
{
  if (!task.needsLevelCounts || !position.HasOutput(task, tiling, r))
  {
    return 0;
  }
  const std::int64_t outputs = task.outputSize[0] * task.outputSize[1] * task.outputSize[2];
  const std::int64_t at = d * outputs + position.OutputVoxel(task, r);
  return tiling.levelBits == 8 ? static_cast<const std::uint16_t *>(tiling.levelNonUniformities)[at]
                               : static_cast<const std::uint32_t *>(tiling.levelNonUniformities)[at];
}

/** Averages of a row of voxels, from the sums of their terms. Interleaved ones go through shared memory, so that the
 * warp writes complete cache lines. */
template <typename TOutput, int VFeatures>
__device__ void
WriteAverages(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position, char * shared,
              int r, bool isPresent, double voxels, const double (&averages)[VFeatures])
{
  const int warpLane = position.warpLane;
  const int features = task.numberOfFeatures;
  auto *    staging = reinterpret_cast<TOutput *>(shared) + position.row / 2 * tileColumns * features;
  if (position.HasOutput(task, tiling, r))
  {
    const std::int64_t stride = task.componentStride;
    TOutput *          to = staging + warpLane * features;
    if (task.IsPlanar())
    {
      to = static_cast<TOutput *>(task.output) + position.OutputVoxel(task, r);
    }
    StoreAverages(task, tiling.components, averages, voxels, [&](int component, double average) {
      to[component * stride] = static_cast<TOutput>(isPresent ? average : task.backgroundValue);
    });
  }
  if (task.IsPlanar())
  {
    return;
  }
  __syncwarp();
  if (position.row + r < tiling.rows && position.start[1] + position.row + r < task.outputSize[1])
  {
    const int columns = static_cast<int>(min(std::int64_t{ tiling.columns }, task.outputSize[0] - position.start[0]));
    TOutput * to = static_cast<TOutput *>(task.output) + (position.OutputVoxel(task, r) - warpLane) * task.voxelStride;
    const std::int64_t gap = task.voxelStride - features;
    for (int i = warpLane; i < columns * features; i += tileColumns)
    {
      to[i + (gap == 0 ? 0 : i / features * gap)] = staging[i];
    }
  }
  __syncwarp();
}

/** Sum over `width` lanes from this one on. By hand: sums of CUB do not overlap. */
template <int VMax, typename T>
__device__ T
LaneSum(T value, int width)
{
  constexpr unsigned int all = 0xffffffffu;
  if (width == 1)
  {
    return value;
  }
  const T two = value + __shfl_down_sync(all, value, 1);
  if (width == 2)
  {
    return two;
  }
  if (width == 3)
  {
    return two + __shfl_down_sync(all, value, 2);
  }
  const T four = two + __shfl_down_sync(all, two, 2);
  if (VMax <= 4 || width == 4)
  {
    return four;
  }
  if (VMax <= 5 || width == 5)
  {
    return four + __shfl_down_sync(all, value, 4);
  }
  if (width == 6)
  {
    return four + __shfl_down_sync(all, two, 4);
  }
  if (VMax <= 7 || width == 7)
  {
    return four + __shfl_down_sync(all, two, 4) + __shfl_down_sync(all, value, 6);
  }
  const T eight = four + __shfl_down_sync(all, four, 4);
  return width == 8 ? eight : eight + __shfl_down_sync(all, value, 8);
}

/** Sums over `width` rows from `from` on, and from the next row on. */
template <typename T>
__device__ void
RowSum(const T * from, int width, T & first, T & second)
{
  const T value = from[0];
  T       sum = T();
#pragma unroll
  for (int i = 1; i < width; ++i)
  {
    sum += from[i * tileColumns];
  }
  first = value + sum;
  second = sum + from[width * tileColumns];
}

/** A thread of the kernels that add up runs, with sums in shared memory behind a table. */
template <int VWindow>
class BoxSumsThread
{
protected:
  __device__
  BoxSumsThread(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position,
                char * shared)
    : m_Task(task)
    , m_Tiling(tiling)
    , m_Position(position)
    , m_Shared(shared)
  {}

  /** Sums are written to one buffer while those of the other one are read, if there are two. */
  __device__ void
  NextBuffer()
  {
    if (m_Tiling.bufferStride == 0)
    {
      __syncthreads();
    }
    m_BufferOffset = m_Tiling.bufferStride - m_BufferOffset;
  }

  /** Sum over x, into shared memory at the column of the output voxel. */
  template <typename T>
  __device__ void
  SumAlongX(T value, int start, int width, int r, T * to) const
  {
    const T   sum = LaneSum<VWindow>(value, width);
    const int column = m_Position.warpLane - start;
    if (column >= 0)
    {
      to[(m_Position.row + r) * tileColumns + column] = sum;
    }
  }

  template <int VFeatures>
  __device__ void
  Write(int r, bool isPresent, double voxels, const double (&averages)[VFeatures]) const
  {
    if (m_Task.outputIsDouble)
    {
      WriteAverages<double>(m_Task, m_Tiling, m_Position, m_Shared, r, isPresent, voxels, averages);
    }
    else
    {
      WriteAverages<float>(m_Task, m_Tiling, m_Position, m_Shared, r, isPresent, voxels, averages);
    }
  }

  const RunLengthTask &   m_Task;
  const BoxSumsTiling &   m_Tiling;
  const BoxSumsPosition & m_Position;
  char *                  m_Shared;
  int                     m_BufferOffset{ 0 };
};
} // namespace voxelmaps

#endif // CudaBoxSumsTile_cuh
