// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// The voxels of a window of up to 4 x 4 as bits of a word, with 8 bits per row: runs by shifts and masks, and pairs of
// runs of one level by maps of equal neighbors that all windows and directions share; doc/engines/glrlm.md.
#include "CudaRunAccumulator.cuh"
#include "CudaRunLengthMethods.h"
#include "window/WorkspaceLayout.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
constexpr int warpsPerBlock = 8;
constexpr int maxSide = 4;
constexpr int rowBits = 8;
constexpr int tileColumns = lanesPerWarp + maxSide - 1;
constexpr int restColumns = maxSide - 1; // of a row, beyond those of the lanes

/** 16 * level^2 must fit 32 bits. */
constexpr int maxLevels = 16383;

// Neighbors beyond the tile may be read, but no window has them.
constexpr int guardBefore = maxSide - 1;
constexpr int guardAfter = (maxSide - 1) * (tileColumns + 1);

// Bit dy * rowBits + dx of a map is set if the voxel at (dx, dy) has the same level, for what comes after a voxel; and
// this one if the voxel itself has a level.
constexpr std::uint32_t validBit = 1u << 31;

/** One bit per voxel of a row, which all windows share: whether it has a level, and whether the next voxel along a step
 * has the same one. */
enum RowFlag
{
  IsValid,
  EqualsAlongX,
  EqualsAlongY,
  EqualsAlongDiagonal,
  EqualsAlongAntidiagonal,
  NumberOfRowFlags
};

constexpr __host__ __device__ int
MapBit(int flag)
{
  return flag == IsValid               ? 31
         : flag == EqualsAlongX        ? 1
         : flag == EqualsAlongY        ? rowBits
         : flag == EqualsAlongDiagonal ? rowBits + 1
                                       : rowBits - 1;
}

/** How the output is cut into tiles of rows of 32 voxels. */
struct WindowWordTiling
{
  int               rows;
  std::uint32_t     windowMask;
  unsigned int      tilesX;
  unsigned int      tilesY;
  FeatureComponents components;
  RunWeights        runs;
};

/** Shared memory of a block: the voxels of its windows, and its output. */
template <typename TOutput>
struct WordTile
{
  std::uint64_t * inverses;
  std::uint64_t * windowInverses; // sums of windows
  std::uint64_t * rowFlags;
  TOutput *       output;
  std::uint32_t * squares;
  std::uint32_t * windowSquares;
  std::uint32_t * maps;
  std::uint16_t * levels;
  std::size_t     bytes;

  static __host__ __device__ int
  NumberOfRows(const WindowWordTiling & tiling)
  {
    return tiling.rows + maxSide - 1;
  }
  static __host__ __device__ int
  NumberOfVoxels(const WindowWordTiling & tiling)
  {
    return NumberOfRows(tiling) * tileColumns;
  }
  static __host__ __device__ int
  NumberOfWindows(const WindowWordTiling & tiling)
  {
    return tiling.rows * lanesPerWarp;
  }
  VOXELMAPS_HOST_DEVICE
  WordTile(const RunLengthTask & task, const WindowWordTiling & tiling, char * shared)
  {
    const int       voxels = NumberOfVoxels(tiling);
    const int       windows = NumberOfWindows(tiling);
    WorkspaceLayout workspace(shared, sizeof(std::uint64_t));
    output = workspace.Append<TOutput>(windows * task.numberOfComponents);
    inverses = workspace.Append<std::uint64_t>(voxels);
    windowInverses = workspace.Append<std::uint64_t>(windows);
    rowFlags = workspace.Append<std::uint64_t>(NumberOfRows(tiling) * NumberOfRowFlags);
    squares = workspace.Append<std::uint32_t>(voxels);
    windowSquares = workspace.Append<std::uint32_t>(windows);
    maps = workspace.Append<std::uint32_t>(voxels);
    workspace.Append<std::uint16_t>(guardBefore);
    levels = workspace.Append<std::uint16_t>(voxels + guardAfter);
    bytes = workspace.Bytes();
  }

  __device__ void
  Load(const RunLengthTask & task, const WindowWordTiling & tiling, const std::int64_t (&start)[3]) const
  {
    const int voxels = NumberOfVoxels(tiling);
    // The columns and rows of the tile that have levels.
    const std::int64_t x = start[0] + task.outputToLevels[0] - task.anchor[0];
    const std::int64_t y = start[1] + task.outputToLevels[1] - task.anchor[1];
    const std::int64_t z = start[2] + task.outputToLevels[2];
    const bool         isPlane = z >= 0 && z < task.levelsSize[2];
    const int          firstColumn = Clamp(-x, tileColumns);
    const int          endColumn = isPlane ? Clamp(task.levelsSize[0] - x, tileColumns) : 0;
    const int          firstRow = Clamp(-y, NumberOfRows(tiling));
    const int          endRow = Clamp(task.levelsSize[1] - y, NumberOfRows(tiling));
    const std::int64_t origin = (z * task.levelsSize[1] + y) * task.levelsSize[0] + x;
    for (int i = static_cast<int>(threadIdx.x) - guardBefore; i < voxels + guardAfter;
         i += warpsPerBlock * lanesPerWarp)
    {
      std::uint32_t level = 0;
      if (i >= 0 && i < voxels)
      {
        const int row = i / tileColumns;
        const int column = i - row * tileColumns;
        if (column >= firstColumn && column < endColumn && row >= firstRow && row < endRow)
        {
          level = __ldg(task.levels + (origin + row * task.levelsSize[0] + column));
        }
        squares[i] = level * level;
        inverses[i] = task.needsInverses ? __ldg(task.inverseSquares + level) : 0;
      }
      levels[i] = static_cast<std::uint16_t>(level);
    }
    __syncthreads();
    this->MakeMaps(tiling);
    this->AddWindows(task, tiling);
    __syncthreads();
  }

  /** The voxels of a window of maxSide x maxSide voxels that have a flag, a bit for each. */
  __device__ std::uint32_t
             WindowFlags(int flag, int window) const
  {
    constexpr std::uint32_t mask = (1u << maxSide) - 1;
    const int               row = window / lanesPerWarp;
    const auto              column = static_cast<unsigned int>(window % lanesPerWarp);
    const uint2 *           words = reinterpret_cast<const uint2 *>(rowFlags) + row * NumberOfRowFlags + flag;
    std::uint32_t           flags = 0;
#pragma unroll
    for (int y = 0; y < maxSide; ++y)
    {
      const uint2 word = words[y * NumberOfRowFlags];
      flags |= (__funnelshift_r(word.x, word.y, column) & mask) << (y * rowBits);
    }
    return flags;
  }

private:
  static __device__ int
  Clamp(std::int64_t value, int greatest)
  {
    return static_cast<int>(max(std::int64_t{ 0 }, min(value, std::int64_t{ greatest })));
  }

  /** The maps, a row at a time for their flags; what rows have beyond the lanes, of several rows at a time. */
  __device__ void
  MakeMaps(const WindowWordTiling & tiling) const
  {
    constexpr int rowsAtATime = lanesPerWarp / restColumns;
    const int     lane = static_cast<int>(threadIdx.x) % lanesPerWarp;
    const int     rows = NumberOfRows(tiling);
    const int     parts = rows + (rows + rowsAtATime - 1) / rowsAtATime;
    auto * const  words = reinterpret_cast<std::uint32_t *>(rowFlags);
    for (int part = static_cast<int>(threadIdx.x) / lanesPerWarp; part < parts; part += warpsPerBlock)
    {
      const bool    isRest = part >= rows;
      const int     row = isRest ? (part - rows) * rowsAtATime + lane / restColumns : part;
      const int     column = isRest ? lanesPerWarp + lane % restColumns : lane;
      const int     voxel = row * tileColumns + column;
      std::uint32_t map = 0;
      if (row < rows && (!isRest || lane < rowsAtATime * restColumns))
      {
        const int level = levels[voxel];
        map = level != 0 ? validBit : 0;
#pragma unroll
        for (int dy = 0; dy < maxSide; ++dy)
        {
#pragma unroll
          for (int dx = dy == 0 ? 1 : 1 - maxSide; dx < maxSide; ++dx)
          {
            map |= (levels[voxel + dy * tileColumns + dx] == level ? 1u : 0u) << (dy * rowBits + dx);
          }
        }
        maps[voxel] = map;
      }
#pragma unroll
      for (int flag = 0; flag < NumberOfRowFlags; ++flag)
      {
        const std::uint32_t flags = __ballot_sync(0xffffffffu, (map >> MapBit(flag) & 1u) != 0);
        if (isRest && column == lanesPerWarp && row < rows && lane < rowsAtATime * restColumns)
        {
          words[2 * (row * NumberOfRowFlags + flag) + 1] = flags >> lane & ((1u << restColumns) - 1);
        }
        else if (!isRest && lane == flag)
        {
          words[2 * (row * NumberOfRowFlags + flag)] = flags;
        }
      }
    }
  }

  /** What all voxels of a window add up to is the same for all directions. */
  __device__ void
  AddWindows(const RunLengthTask & task, const WindowWordTiling & tiling) const
  {
    const int windows = NumberOfWindows(tiling);
    for (int i = threadIdx.x; i < 2 * windows; i += warpsPerBlock * lanesPerWarp)
    {
      const int window = i < windows ? i : i - windows;
      const int voxel = window / lanesPerWarp * tileColumns + window % lanesPerWarp;
      if (i < windows)
      {
        windowSquares[window] = SumOfWindow(task, squares + voxel);
      }
      else
      {
        windowInverses[window] = SumOfWindow(task, inverses + voxel);
      }
    }
  }
  template <typename T>
  static __device__ T
  SumOfWindow(const RunLengthTask & task, const T * first)
  {
    T sum = 0;
#pragma unroll
    for (int y = 0; y < maxSide; ++y)
    {
#pragma unroll
      for (int x = 0; x < maxSide; ++x)
      {
        if (x < task.window[0] && y < task.window[1])
        {
          sum += first[y * tileColumns + x];
        }
      }
    }
    return sum;
  }
};

constexpr __host__ __device__ int
BitIndex(int i)
{
  return i / maxSide * rowBits + i % maxSide;
}

/** Whether k voxels in a row from voxel i on can be in a window, for a step; directions out of the plane have none. */
constexpr __host__ __device__ bool
FitsInWindow(int i, int stepX, int stepY, int k)
{
  const int x = i % maxSide + (k - 1) * stepX;
  const int y = i / maxSide + (k - 1) * stepY;
  return k == 1 || ((stepX != 0 || stepY != 0) && x >= 0 && x < maxSide && y >= 0 && y < maxSide);
}

constexpr __host__ __device__ int
StepFlag(int stepX, int stepY)
{
  return stepY == 0   ? EqualsAlongX
         : stepX == 0 ? EqualsAlongY
         : stepX > 0  ? EqualsAlongDiagonal
                      : EqualsAlongAntidiagonal;
}

/** Sums of the runs of one direction of the window at a voxel of the tile. */
template <bool VAllFeatures, SumWidth VWidth, int VStepX, int VStepY, typename TTile>
__device__ void
SumRuns(const RunLengthTask & task, const WindowWordTiling & tiling, const TTile & tile, int window,
        RunLengthSums<double> & sums)
{
  constexpr int shift = VStepY * rowBits + VStepX;
  constexpr int positions = maxSide * maxSide;
  const int     voxel = window / lanesPerWarp * tileColumns + window % lanesPerWarp;
  const auto    at = [voxel](int i) { return voxel + i / maxSide * tileColumns + i % maxSide; };

  const std::uint32_t valid = tile.WindowFlags(IsValid, window) & tiling.windowMask;
  // Directions out of the plane have no neighbors.
  const std::uint32_t equal = shift != 0 ? tile.WindowFlags(StepFlag(VStepX, VStepY), window) : 0u;
  std::uint32_t       starts[maxSide + 3] = {};
  starts[1] = valid;
  starts[2] = valid & (valid >> shift) & equal;
  starts[3] = starts[2] & (starts[2] >> shift);
  starts[4] = starts[3] & (starts[2] >> (2 * shift));

  // The first voxels of the runs; pairs of them of one level.
  const std::uint32_t firsts = valid & ~(starts[2] << shift);
  std::uint32_t       pairs = 0;
  std::uint32_t       levelSum = 0;
  std::uint32_t       squares[maxSide + 3] = {};
  std::uint64_t       inverses[maxSide + 3] = {};
  squares[1] = tile.windowSquares[window];
  inverses[1] = tile.windowInverses[window];
#pragma unroll
  for (int i = 0; i < positions; ++i)
  {
    if (firsts & (1u << BitIndex(i)))
    {
      pairs += static_cast<std::uint32_t>(__popc((firsts >> BitIndex(i)) & tile.maps[at(i)]));
      if (VAllFeatures)
      {
        levelSum += tile.levels[at(i)];
      }
    }
    if (FitsInWindow(i, VStepX, VStepY, 2))
    {
      const std::uint32_t square = tile.squares[at(i)];
      const std::uint64_t inverse = tile.inverses[at(i)];
#pragma unroll
      for (int k = 2; k <= maxSide; ++k)
      {
        if (FitsInWindow(i, VStepX, VStepY, k) && (starts[k] & (1u << BitIndex(i))))
        {
          squares[k] += square;
          inverses[k] += inverse;
        }
      }
    }
  }

  RunAccumulator<VWidth> runs;
  runs.Clear();
#pragma unroll
  for (int l = 1; l <= maxSide; ++l)
  {
    if (l <= task.directions.longestLine)
    {
      const int count = __popc(starts[l]) - 2 * __popc(starts[l + 1]) + __popc(starts[l + 2]);
      runs.Add(tiling.runs,
               l,
               static_cast<std::uint32_t>(count),
               squares[l] - 2 * squares[l + 1] + squares[l + 2],
               inverses[l] - 2 * inverses[l + 1] + inverses[l + 2]);
    }
  }
  sums = runs.Get();
  sums.voxels = static_cast<double>(__popc(valid));
  sums.levelNonUniformity = static_cast<double>(static_cast<std::uint32_t>(__popc(firsts)) + 2 * pairs);
  if (VAllFeatures)
  {
    // Both are exact below 2^53.
    const auto levels = static_cast<double>(levelSum);
    sums.levelVariance = sums.runs * sums.squares - levels * levels;
  }
}

/** The same with steps that are known at compile time: less than half of the voxels can start long runs. */
template <bool VAllFeatures, SumWidth VWidth, typename TTile>
__device__ RunLengthSums<double>
           SumDirectionRuns(const RunLengthTask & task, const WindowWordTiling & tiling, const TTile & tile, int window,
                            int direction)
{
  const auto &          step = task.directions.steps[direction];
  RunLengthSums<double> sums{};
  if (step[2] != 0)
  {
    SumRuns<VAllFeatures, VWidth, 0, 0>(task, tiling, tile, window, sums);
  }
  else if (step[1] == 0)
  {
    SumRuns<VAllFeatures, VWidth, 1, 0>(task, tiling, tile, window, sums);
  }
  else if (step[0] == 0)
  {
    SumRuns<VAllFeatures, VWidth, 0, 1>(task, tiling, tile, window, sums);
  }
  else if (step[0] > 0)
  {
    SumRuns<VAllFeatures, VWidth, 1, 1>(task, tiling, tile, window, sums);
  }
  else
  {
    SumRuns<VAllFeatures, VWidth, -1, 1>(task, tiling, tile, window, sums);
  }
  return sums;
}

/** Copy the output of a block: rows of voxels; if their components are interleaved without gaps, by 16 bytes where they
 * begin at such an address. */
template <typename TOutput>
__device__ void
StoreTile(const RunLengthTask & task, const WindowWordTiling & tiling, const TOutput * output,
          const std::int64_t (&start)[3])
{
  const int  components = task.numberOfComponents;
  const auto columns = static_cast<int>(min(std::int64_t{ lanesPerWarp }, task.outputSize[0] - start[0]));
  const auto rows = static_cast<int>(min(std::int64_t{ tiling.rows }, task.outputSize[1] - start[1]));
  const int  warpsPerRow = max(1, warpsPerBlock / tiling.rows);
  const int  warp = static_cast<int>(threadIdx.x) / lanesPerWarp;
  const int  thread = static_cast<int>(threadIdx.x) - warp / warpsPerRow * warpsPerRow * lanesPerWarp;
  const int  threads = warpsPerRow * lanesPerWarp;
  for (int row = warp / warpsPerRow; row < rows; row += warpsPerBlock / warpsPerRow)
  {
    const std::int64_t voxel = (start[2] * task.outputSize[1] + start[1] + row) * task.outputSize[0] + start[0];
    TOutput *          to = static_cast<TOutput *>(task.output) + voxel * task.voxelStride;
    const TOutput *    from = output + row * lanesPerWarp * components;
    const int          number = columns * components;
    constexpr int      perVector = sizeof(float4) / sizeof(TOutput);
    if (task.voxelStride != components)
    {
      const int x = thread % lanesPerWarp;
      for (int c = thread / lanesPerWarp; c < components && x < columns; c += warpsPerRow)
      {
        to[x * task.voxelStride + c * task.componentStride] = from[x * components + c];
      }
    }
    else if (number % perVector == 0 && reinterpret_cast<std::uintptr_t>(to) % sizeof(float4) == 0 &&
             reinterpret_cast<std::uintptr_t>(from) % sizeof(float4) == 0)
    {
      for (int i = thread; i < number / perVector; i += threads)
      {
        reinterpret_cast<float4 *>(to)[i] = reinterpret_cast<const float4 *>(from)[i];
      }
    }
    else
    {
      for (int i = thread; i < number; i += threads)
      {
        to[i] = from[i];
      }
    }
  }
}

template <bool VAverage, bool VAllFeatures, SumWidth VWidth, typename TOutput>
__global__ void
__launch_bounds__(warpsPerBlock * lanesPerWarp, 3)
  WindowWordKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ WindowWordTiling tiling)
{
  constexpr int     features = VAllFeatures ? 15 : 11;
  extern __shared__ __align__(16) char shared[];
  const WordTile<TOutput>              tile(task, tiling, shared);
  const int                            components = task.numberOfComponents;
  // In 32 bits: divisions of 64 bits would take longer than all else of a small window.
  const unsigned int tileRow = blockIdx.x / tiling.tilesX;
  const unsigned int tilePlane = tileRow / tiling.tilesY;
  const std::int64_t start[3] = { std::int64_t{ blockIdx.x - tileRow * tiling.tilesX } * lanesPerWarp,
                                  std::int64_t{ tileRow - tilePlane * tiling.tilesY } * tiling.rows,
                                  tilePlane };
  tile.Load(task, tiling, start);

  const int warpLane = threadIdx.x % lanesPerWarp;
  const int directions = VAverage ? 1 : task.directions.number;
  // A warp computes a direction of a row, or all of them.
  int first = static_cast<int>(threadIdx.x) / lanesPerWarp;
  int row = 0;
  for (;; first += warpsPerBlock)
  {
    while (first >= directions && row < tiling.rows)
    {
      first -= directions;
      ++row;
    }
    if (row >= tiling.rows)
    {
      break;
    }
    const int  window = row * lanesPerWarp + warpLane;
    TOutput *  to = tile.output + window * components + first * task.numberOfFeatures;
    const auto store = [to](int component, double value) { to[component] = static_cast<TOutput>(value); };
    if constexpr (VAverage)
    {
      double values[features] = {};
      double voxels = 0.0;
      for (int d = 0; d < task.directions.number; ++d)
      {
        const RunLengthSums<double> sums = SumDirectionRuns<VAllFeatures, VWidth>(task, tiling, tile, window, d);
        voxels = sums.voxels;
        AddAverageTerms(tiling.components, sums, values);
      }
      StoreAverages(task, tiling.components, values, voxels, store);
    }
    else
    {
      StoreFeatures<features>(
        task, tiling.components, SumDirectionRuns<VAllFeatures, VWidth>(task, tiling, tile, window, first), store);
    }
    // Voxels beyond the levels have none in the tile either.
    if (tile.levels[(row + task.anchor[1]) * tileColumns + warpLane + task.anchor[0]] == 0)
    {
      for (int f = 0; f < task.numberOfFeatures; ++f)
      {
        to[f] = static_cast<TOutput>(task.backgroundValue);
      }
    }
  }
  __syncthreads();
  StoreTile(task, tiling, tile.output, start);
}

template <bool VAverage, bool VAllFeatures, SumWidth VWidth, typename TOutput>
void
Launch(const RunLengthTask & task, const WindowWordTiling & tiling, cudaStream_t stream)
{
  const std::size_t bytes = WordTile<TOutput>(task, tiling, nullptr).bytes;
  const auto        kernel = WindowWordKernel<VAverage, VAllFeatures, VWidth, TOutput>;
  AllowSharedMemory(kernel, bytes);
  const std::int64_t tiles = std::int64_t{ tiling.tilesX } * tiling.tilesY * task.outputSize[2];
  kernel<<<static_cast<unsigned int>(tiles), warpsPerBlock * lanesPerWarp, bytes, stream>>>(task, tiling);
  CheckLaunch("starting the kernel of WindowWord");
}

template <bool VAverage, typename TOutput>
void
LaunchOutput(const RunLengthTask & task, const WindowWordTiling & tiling, cudaStream_t stream)
{
  const double maxSquares =
    static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels * static_cast<double>(task.numberOfGrayLevels);
  if (tiling.components.beyondEleven)
  {
    Launch<VAverage, true, SumWidth::Separate, TOutput>(task, tiling, stream);
  }
  else if (maxSquares * task.scales.shortRunScale < 4294967296.0)
  {
    Launch<VAverage, false, SumWidth::Narrow, TOutput>(task, tiling, stream);
  }
  else
  {
    Launch<VAverage, false, SumWidth::Separate, TOutput>(task, tiling, stream);
  }
}

template <typename TOutput>
void
LaunchAggregation(const RunLengthTask & task, const WindowWordTiling & tiling, cudaStream_t stream)
{
  task.aggregation == RunLengthJob::Aggregation::Average ? LaunchOutput<true, TOutput>(task, tiling, stream)
                                                         : LaunchOutput<false, TOutput>(task, tiling, stream);
}

WindowWordTiling
MakeTiling(const RunLengthTask & task)
{
  WindowWordTiling tiling{};
  const bool       isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  // Two directions of a window per warp, so that the work that a block does once costs less.
  tiling.rows = isAverage ? warpsPerBlock : std::max(1, 2 * warpsPerBlock / task.directions.number);
  tiling.tilesX = static_cast<unsigned int>((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp);
  tiling.tilesY = static_cast<unsigned int>((task.outputSize[1] + tiling.rows - 1) / tiling.rows);
  tiling.components = MakeFeatureComponents(task);
  tiling.runs = RunWeights(task);
  for (int y = 0; y < task.window[1]; ++y)
  {
    tiling.windowMask |= ((1u << task.window[0]) - 1) << (y * rowBits);
  }
  return tiling;
}
} // namespace

bool
CudaWindowWordSupports(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  if (task.window[0] > maxSide || task.window[1] > maxSide || task.window[2] != 1 ||
      task.aggregation == RunLengthJob::Aggregation::Merge || task.wideInverses ||
      task.numberOfGrayLevels > maxLevels || NumberOfVoxels(task.outputSize) >= std::uint64_t{ 1 } << 31)
  {
    return false;
  }
  const WindowWordTiling tiling = MakeTiling(task);
  const std::size_t      bytes =
    task.outputIsDouble ? WordTile<double>(task, tiling, nullptr).bytes : WordTile<float>(task, tiling, nullptr).bytes;
  return bytes <= limits.maxSharedMemoryPerBlock;
}

void
ComputeByCudaWindowWord(const RunLengthTask & task, const CudaMethodResources & resources)
{
  const WindowWordTiling tiling = MakeTiling(task);
  task.outputIsDouble ? LaunchAggregation<double>(task, tiling, resources.stream)
                      : LaunchAggregation<float>(task, tiling, resources.stream);
}
} // namespace voxelmaps
