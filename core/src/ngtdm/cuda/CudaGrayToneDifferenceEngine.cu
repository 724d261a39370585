// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One thread per window adds up the differences of its voxels in a table of levels in shared memory. The windows of a
// block are a tile of one plane, whose voxels share their classes of positions along z.
#include "common/FixedPoint.h"
#include "ngtdm/GrayToneDifferenceWalk.h"
#include "window/cuda/CudaWalk.cuh"
#include "window/WindowBox.h"
#include "window/WorkspaceLayout.h"
#include "window/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr int tileWidth = 32;
constexpr int maxTileRows = 4;
constexpr int maxClasses = 3; // of positions along an axis
constexpr int maxNeighbors = 26;

// A sum of levels has the number of voxels above its lower bits.
constexpr int           sumBits = 22;
constexpr std::uint32_t sumMask = (1u << sumBits) - 1;
constexpr std::uint32_t oneVoxel = 1u << sumBits;

/** What a block has in shared memory, in this order. */
struct LevelTableLayout
{
  int tileRows;
  int threads;
  int maxLevels; // of a window
  // Voxels that the windows of a tile have in one plane.
  int width;
  int height;
  int classes[2]; // along x and y

  // Offsets in bytes.
  std::size_t
    products; // by level: 64-bit sums of A(i) and n(i), then n(i) A(i) of the levels of the window; per thread
  std::size_t reciprocals; // 1 / n
  std::size_t weights;     // L / k, by the number of neighbors and the voxel itself
  std::size_t present;     // levels and n(i) of the window; per thread
  std::size_t differences; // |k i - S| and number of voxels, of one plane and all classes along x and y
  std::size_t columns;     // sums over up to three planes, with a margin
  std::size_t levels;      // of all planes
  std::size_t bytes;
};

LevelTableLayout
MakeLevelTableLayout(const GrayToneDifferenceTask & task, int tileRows)
{
  LevelTableLayout layout{};
  layout.tileRows = tileRows;
  layout.threads = tileWidth * tileRows;
  layout.maxLevels = std::min(task.numberOfGrayLevels, task.windowVoxels);
  layout.width = tileWidth + task.window[0] - 1;
  layout.height = tileRows + task.window[1] - 1;
  int classes = 1;
  for (int d = 0; d < 2; ++d)
  {
    layout.classes[d] = task.reach[d] == 0 ? 1 : std::min(task.window[d], maxClasses);
    classes *= layout.classes[d];
  }
  WorkspaceLayout    workspace(nullptr, sizeof(std::uint64_t));
  const std::int64_t plane = std::int64_t{ layout.width } * layout.height;
  layout.products = workspace.Reserve<std::uint64_t>((std::int64_t{ task.numberOfGrayLevels } + 1) * layout.threads);
  layout.reciprocals = workspace.Reserve<double>(std::int64_t{ task.windowVoxels } + 1);
  layout.weights = workspace.Reserve<std::uint64_t>(maxNeighbors + 2);
  layout.present = workspace.Reserve<std::uint32_t>(std::int64_t{ layout.maxLevels } * layout.threads);
  layout.differences = workspace.Reserve<std::uint32_t>(plane * classes);
  layout.columns = workspace.Reserve<std::uint32_t>((std::int64_t{ layout.width } + 2) * (layout.height + 2));
  layout.levels = workspace.Reserve<std::uint16_t>(plane * task.window[2]);
  layout.bytes = workspace.Bytes();
  return layout;
}

/** The largest tile that fits; 0 rows if none does. */
LevelTableLayout
ChooseLayout(const GrayToneDifferenceTask & task, const CudaDeviceLimits & limits)
{
  for (int rows = maxTileRows; rows > 0; rows /= 2)
  {
    const LevelTableLayout layout = MakeLevelTableLayout(task, rows);
    if (layout.bytes <= limits.maxSharedMemoryPerBlock)
    {
      return layout;
    }
  }
  return LevelTableLayout{};
}

/** A block's work on a tile. */
class BlockTile
{
public:
  __device__
  BlockTile(const GrayToneDifferenceTask & task, const LevelTableLayout & layout, char * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Thread(static_cast<int>(threadIdx.x))
    , m_Table(reinterpret_cast<std::uint64_t *>(shared + layout.products) + threadIdx.x)
    , m_Reciprocals(reinterpret_cast<double *>(shared + layout.reciprocals))
    , m_Weights(reinterpret_cast<std::uint64_t *>(shared + layout.weights))
    , m_Present(reinterpret_cast<std::uint32_t *>(shared + layout.present) + threadIdx.x)
    , m_Differences(reinterpret_cast<std::uint32_t *>(shared + layout.differences))
    , m_Columns(reinterpret_cast<std::uint32_t *>(shared + layout.columns))
    , m_Levels(reinterpret_cast<std::uint16_t *>(shared + layout.levels))
  {
    for (int n = m_Thread; n <= task.windowVoxels; n += layout.threads)
    {
      m_Reciprocals[n] = 1.0 / n;
    }
    if (m_Thread < maxNeighbors + 2)
    {
      const bool hasWeight = m_Thread > 0 && m_Thread <= 2 * task.numberOfOffsets + 1;
      m_Weights[m_Thread] = hasWeight ? task.weights[m_Thread - 1] : 0;
    }
    for (int i = m_Thread; i < (layout.width + 2) * (layout.height + 2); i += layout.threads)
    {
      m_Columns[i] = 0;
    }
    for (int level = 0; level <= task.numberOfGrayLevels; ++level)
    {
      m_Table[level * layout.threads] = 0;
    }
  }

  __device__ void
  Compute(std::int64_t tileX, std::int64_t tileY, std::int64_t z)
  {
    const int          x = m_Thread % tileWidth;
    const int          y = m_Thread / tileWidth;
    const std::int64_t voxel[3] = { tileX * tileWidth + x, tileY * m_Layout.tileRows + y, z };
    const bool         isInside = voxel[0] < m_Task.outputSize[0] && voxel[1] < m_Task.outputSize[1];
    bool               isComputed = false;
    if (isInside)
    {
      isComputed = WindowBox(m_Task, voxel).isComputed;
    }
    const std::int64_t number = (z * m_Task.outputSize[1] + voxel[1]) * m_Task.outputSize[0] + voxel[0];
    if (__syncthreads_or(isComputed ? 1 : 0) != 0)
    {
      this->LoadLevels(tileX * tileWidth, tileY * m_Layout.tileRows, z);
      for (int plane = 0; plane < m_Task.window[2]; ++plane)
      {
        this->SumColumns(plane);
        __syncthreads();
        this->MakeDifferences(plane);
        __syncthreads();
        if (isComputed)
        {
          this->AddVoxels(plane, x, y);
        }
      }
    }
    if (isComputed)
    {
      const GrayToneDifferenceSums sums = this->AddLevels();
      for (int f = 0; f < m_Task.numberOfFeatures; ++f)
      {
        StoreComponent(m_Task,
                       number * m_Task.voxelStride,
                       f,
                       GrayToneDifferenceFeatureValue(m_Task.features[f], sums, m_Task.scale));
      }
    }
    else if (isInside)
    {
      StoreBackground(m_Task, number);
    }
    // Before the next tile's levels.
    __syncthreads();
  }

private:
  __device__ void
  LoadLevels(std::int64_t tileX, std::int64_t tileY, std::int64_t tileZ)
  {
    const std::int64_t start[3] = { tileX + m_Task.outputToLevels[0] - m_Task.anchor[0],
                                    tileY + m_Task.outputToLevels[1] - m_Task.anchor[1],
                                    tileZ + m_Task.outputToLevels[2] - m_Task.anchor[2] };
    const int          plane = m_Layout.width * m_Layout.height;
    for (int i = m_Thread; i < plane * m_Task.window[2]; i += m_Layout.threads)
    {
      const int          row = i / m_Layout.width;
      const std::int64_t x = start[0] + (i - row * m_Layout.width);
      const std::int64_t y = start[1] + row % m_Layout.height;
      const std::int64_t z = start[2] + row / m_Layout.height;
      const bool         isInside =
        x >= 0 && x < m_Task.levelsSize[0] && y >= 0 && y < m_Task.levelsSize[1] && z >= 0 && z < m_Task.levelsSize[2];
      m_Levels[i] = isInside ? m_Task.levels[m_Task.LevelOffset(x, y, z)] : std::uint16_t{ 0 };
    }
    __syncthreads();
  }

  /** Levels and numbers of the voxels of a plane and of its neighbors along z. */
  __device__ void
  SumColumns(int plane)
  {
    const int size = m_Layout.width * m_Layout.height;
    const int first = m_Task.reach[2] != 0 && plane > 0 ? plane - 1 : plane;
    const int last = m_Task.reach[2] != 0 && plane + 1 < m_Task.window[2] ? plane + 1 : plane;
    for (int i = m_Thread; i < size; i += m_Layout.threads)
    {
      std::uint32_t sum = 0;
      for (int p = first; p <= last; ++p)
      {
        const std::uint32_t level = m_Levels[p * size + i];
        sum += level + (level != 0 ? oneVoxel : 0u);
      }
      const int row = i / m_Layout.width;
      m_Columns[(row + 1) * (m_Layout.width + 2) + i - row * m_Layout.width + 1] = sum;
    }
  }

  /** |k i - S| and the number of voxels, itself among them, of the voxels of a plane in all classes along x and y. */
  __device__ void
  MakeDifferences(int plane)
  {
    const int size = m_Layout.width * m_Layout.height;
    const int pitch = m_Layout.width + 2;
    for (int i = m_Thread; i < size; i += m_Layout.threads)
    {
      const std::uint32_t         level = m_Levels[plane * size + i];
      const int                   row = i / m_Layout.width;
      const std::uint32_t * const column = m_Columns + (row + 1) * pitch + i - row * m_Layout.width + 1;
      std::uint32_t               sums[3][3]; // of rows before, of and after the voxel, by class along x
      for (int b = 0; b < 3; ++b)
      {
        const std::uint32_t * const at = column + (b - 1) * pitch;
        const std::uint32_t         before = m_Task.reach[0] != 0 ? at[-1] : 0u;
        const std::uint32_t         after = m_Task.reach[0] != 0 ? at[1] : 0u;
        sums[b][0] = at[0] + after;
        sums[b][1] = at[0] + before + after;
        sums[b][2] = at[0] + before;
      }
      for (int a = 0; a < m_Layout.classes[0]; ++a)
      {
        // The last of two classes is the last of three; one class has no neighbors before or after.
        const int           middle = m_Layout.classes[0] == 2 ? 2 * a : a;
        const std::uint32_t own = Choose(sums[1], middle);
        const std::uint32_t before = m_Task.reach[1] != 0 ? Choose(sums[0], middle) : 0u;
        const std::uint32_t after = m_Task.reach[1] != 0 ? Choose(sums[2], middle) : 0u;
        for (int b = 0; b < m_Layout.classes[1]; ++b)
        {
          const int           sizeClass = m_Layout.classes[1] == 2 ? 2 * b : b;
          const std::uint32_t sum = own + (sizeClass > 0 ? before : 0u) + (sizeClass < 2 ? after : 0u);
          const std::uint32_t voxels = sum >> sumBits;
          // Of k + 1 voxels, one is the voxel itself: (k + 1) i - (S + i) = k i - S.
          const std::uint32_t difference = NeighborDifference(level, voxels, sum & sumMask);
          m_Differences[(b * m_Layout.classes[0] + a) * size + i] = (voxels << sumBits) | (difference & sumMask);
        }
      }
    }
  }

  static __device__ std::uint32_t
                    Choose(const std::uint32_t (&sums)[3], int which)
  {
    return which == 0 ? sums[0] : which == 1 ? sums[1] : sums[2];
  }

  static __device__ int
  ClassIndex(int position, int windowSize, int classes)
  {
    return classes == 1 || position == 0 ? 0 : position == windowSize - 1 ? classes - 1 : 1;
  }

  __device__ void
  AddVoxels(int plane, int x, int y)
  {
    const int           size = m_Layout.width * m_Layout.height;
    const std::uint64_t one = std::uint64_t{ 1 } << m_Task.differenceBits;
    for (int wy = 0; wy < m_Task.window[1]; ++wy)
    {
      const int                   classY = ClassIndex(wy, m_Task.window[1], m_Layout.classes[1]);
      const int                   at = (y + wy) * m_Layout.width + x;
      const std::uint16_t * const levels = m_Levels + plane * size + at;
      const std::uint32_t * const differences = m_Differences + classY * m_Layout.classes[0] * size + at;
      for (int wx = 0; wx < m_Task.window[0]; ++wx)
      {
        const int           classX = ClassIndex(wx, m_Task.window[0], m_Layout.classes[0]);
        const std::uint32_t difference = differences[classX * size + wx];
        const std::uint32_t voxels = difference >> sumBits;
        const bool          counts = voxels > 1 || m_Task.countVoxelsWithoutNeighbors;
        // Absent voxels go to level 0, which is not looked at.
        m_Table[levels[wx] * m_Layout.threads] += (difference & sumMask) * m_Weights[voxels] + (counts ? one : 0);
      }
    }
  }

  /** Also clears the table for the next tile. */
  __device__ GrayToneDifferenceSums
  AddLevels()
  {
    GrayToneDifferenceTotals<std::uint64_t> totals;
    const std::uint64_t                     mask = (std::uint64_t{ 1 } << m_Task.differenceBits) - 1;
    int                                     levels = 0;
    for (int i = 1; i <= m_Task.numberOfGrayLevels; ++i)
    {
      const std::uint64_t sum = m_Table[i * m_Layout.threads];
      if (sum != 0)
      {
        const std::uint64_t count = sum >> m_Task.differenceBits;
        const double        product = totals.AddLevel(static_cast<std::uint64_t>(i), count, sum & mask);
        m_Table[i * m_Layout.threads] = 0;
        // Behind the levels that were looked at.
        m_Table[levels * m_Layout.threads] = static_cast<std::uint64_t>(__double_as_longlong(product));
        m_Present[levels * m_Layout.threads] =
          (static_cast<std::uint32_t>(i) << 16) | static_cast<std::uint32_t>(count);
        ++levels;
      }
    }
    GrayToneDifferenceSums sums = totals.GetSums();
    if (m_Task.needsComplexity || m_Task.needsImbalances)
    {
      this->ComparePairs(levels, sums);
    }
    for (int i = 0; i < levels || i < 1; ++i)
    {
      m_Table[i * m_Layout.threads] = 0;
    }
    return sums;
  }

  __device__ void
  ComparePairs(int levels, GrayToneDifferenceSums & sums) const
  {
    std::uint64_t imbalances = 0;
    double        complexity = 0.0;
    for (int i = 0; i < levels - 1; ++i)
    {
      const std::uint32_t present = m_Present[i * m_Layout.threads];
      const std::uint32_t level = present >> 16;
      const std::uint32_t count = present & 0xffffu;
      const std::uint32_t weighted = level * count;
      const double        product = this->GetProduct(i);
      double              row = 0.0;
      for (int j = i + 1; j < levels; ++j)
      {
        const std::uint32_t other = m_Present[j * m_Layout.threads];
        const std::uint32_t otherLevel = other >> 16;
        const std::uint32_t otherCount = other & 0xffffu;
        const std::uint32_t otherWeighted = otherLevel * otherCount;
        row += GrayToneDifferencePairTerm(product,
                                          this->GetProduct(j),
                                          static_cast<double>(static_cast<int>(otherLevel - level)),
                                          m_Reciprocals[count + otherCount]);
        imbalances += otherWeighted < weighted ? weighted - otherWeighted : otherWeighted - weighted;
      }
      complexity += row;
    }
    sums.complexity = complexity;
    sums.imbalances = imbalances;
  }

  __device__ double
  GetProduct(int i) const
  {
    return __longlong_as_double(static_cast<long long>(m_Table[i * m_Layout.threads]));
  }

  const GrayToneDifferenceTask & m_Task;
  const LevelTableLayout &       m_Layout;
  const int                      m_Thread;
  std::uint64_t * const          m_Table;
  double * const                 m_Reciprocals;
  std::uint64_t * const          m_Weights;
  std::uint32_t * const          m_Present;
  std::uint32_t * const          m_Differences;
  std::uint32_t * const          m_Columns;
  std::uint16_t * const          m_Levels;
};

__global__ void
__launch_bounds__(tileWidth * maxTileRows)
  LevelTablesKernel(const __grid_constant__ GrayToneDifferenceTask task,
                    const __grid_constant__ LevelTableLayout layout, std::int64_t firstTile, std::int64_t endTile)
{
  extern __shared__ __align__(16) char shared[];
  BlockTile                            tile(task, layout, shared);
  const std::int64_t                   tilesX = (task.outputSize[0] + tileWidth - 1) / tileWidth;
  const std::int64_t                   tilesY = (task.outputSize[1] + layout.tileRows - 1) / layout.tileRows;
  for (std::int64_t number = firstTile + blockIdx.x; number < endTile; number += gridDim.x)
  {
    const std::int64_t row = number / tilesX;
    tile.Compute(number - row * tilesX, row % tilesY, row / tilesY);
  }
}

/** Number of warps of a block, which the shared memory limits; 0 if the task is not supported. */
int
CountTableWarps(const GrayToneDifferenceTask & task, const CudaDeviceLimits & limits)
{
  const bool isSupported =
    task.isBox && !task.isWide && task.differenceBits + BitCount(static_cast<std::uint64_t>(task.windowVoxels)) <= 64;
  static_assert(tileWidth == 32, "a row of a tile is a warp");
  return isSupported ? ChooseLayout(task, limits).tileRows : 0;
}

void
ComputeByTables(const GrayToneDifferenceTask & task, const CudaMethodResources & resources)
{
  const LevelTableLayout layout = ChooseLayout(task, GetCudaDeviceLimits());
  const std::int64_t     tiles = (task.outputSize[0] + tileWidth - 1) / tileWidth *
                             ((task.outputSize[1] + layout.tileRows - 1) / layout.tileRows) * task.outputSize[2];
  const int blocks = PrepareKernel(LevelTablesKernel, layout.threads, layout.bytes);

  // In parts of at most a tenth of a second, so that an abort is quick.
  constexpr double   partSteps = 1e11;
  const double       levels = layout.maxLevels;
  const double       steps = layout.threads * (10.0 * task.windowVoxels + 20.0 * task.numberOfGrayLevels +
                                         5.0 * levels * std::min(levels, 64.0));
  const std::int64_t part = std::max<std::int64_t>(static_cast<std::int64_t>(partSteps / steps), blocks);
  LaunchChunked(
    tiles, part, resources, "starting the kernel of LevelTables", [&](std::int64_t first, std::int64_t end) {
      LevelTablesKernel<<<BlocksFor(static_cast<std::uint64_t>(end - first), 1, static_cast<std::uint64_t>(blocks)),
                          static_cast<unsigned int>(layout.threads),
                          layout.bytes,
                          resources.stream>>>(task, layout, first, end);
    });
}

// --- Walks, which support every task

using NarrowWalk = GrayToneDifferenceWalk<CudaThreadBlock, NarrowDifference>;
using WideWalk = GrayToneDifferenceWalk<CudaThreadBlock, WideDifference>;

CudaWalkPolicy
MakePolicy(const GrayToneDifferenceTask & task)
{
  // A warp for small windows.
  constexpr int maxWarpVoxels = 512;
  const int     threads = task.windowVoxels <= maxWarpVoxels ? CudaThreadBlock::lanesPerWarp : CudaThreadBlock::maxSize;
  return { "ngtdm.teams", threads, 40960, 32 };
}

CudaScratchBytes
WalkScratchBytes(const GrayToneDifferenceTask & task)
{
  return task.isWide ? CudaWalkScratchBytes<WideWalk>(task, MakePolicy(task))
                     : CudaWalkScratchBytes<NarrowWalk>(task, MakePolicy(task));
}

void
ComputeByWalk(const GrayToneDifferenceTask & task, const CudaMethodResources & resources)
{
  const std::int64_t levels = std::min(task.numberOfGrayLevels, task.windowVoxels);
  const std::int64_t steps =
    4 * (task.windowVoxels * (2 * std::int64_t{ task.numberOfOffsets } + 8) + 2 * levels * levels);
  task.isWide ? ComputeByCudaWalk<WideWalk>(task, MakePolicy(task), steps, resources)
              : ComputeByCudaWalk<NarrowWalk>(task, MakePolicy(task), steps, resources);
}
} // namespace

std::vector<CudaTextureMethod<GrayToneDifferenceJob>>
TextureClass<GrayToneDifferenceJob>::GetCudaMethods() const
{
  // Where tables of many levels leave a block a single warp, WindowWalk takes half the time.
  const int  warps = CountTableWarps(task, GetCudaDeviceLimits());
  const auto tables = warps >= PolicyValue("ngtdm.table_warps", 2) ? MethodSupport::Full
                      : warps > 0                                  ? MethodSupport::ByName
                                                                   : MethodSupport::None;
  return { { "LevelTables", tables, {}, ComputeByTables },
           { "WindowWalk", MethodSupport::Full, WalkScratchBytes, ComputeByWalk } };
}

void
TextureClass<GrayToneDifferenceJob>::AddCudaTables(CudaTables & tables, GrayToneDifferenceTask & deviceTask) const
{
  tables.Add(offsets, deviceTask.offsets);
  tables.Add(weights, deviceTask.weights);
}
} // namespace voxelmaps
