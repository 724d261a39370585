// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One thread per window adds up the differences of its voxels in a table of levels in shared memory. The windows of a
// block are a tile of one plane, whose voxels share their classes of positions along z.
#include "common/FixedPoint.h"
#include "ngtdm/GrayToneDifferenceWalk.h"
#include "window/cuda/CudaWalk.cuh"
#include "window/cuda/CudaWindowTile.cuh"
#include "window/WorkspaceLayout.h"
#include "window/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr int tileWidth = CudaWindowTiles::lanes;
constexpr int maxTileRows = CudaWindowTiles::maxWarps;
constexpr int maxClasses = 3; // of positions along an axis
constexpr int maxNeighbors = 26;

// A sum of levels has the number of voxels above its lower bits.
constexpr int           sumBits = 22;
constexpr std::uint32_t sumMask = (1u << sumBits) - 1;
constexpr std::uint32_t oneVoxel = 1u << sumBits;

/** What a block has in shared memory, in this order. */
struct LevelTableLayout
{
  CudaWindowTiles tiles;
  int             threads;
  int             maxLevels; // of a window
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
  std::size_t sharedBytes;

  LevelTableLayout(const GrayToneDifferenceTask & task, int tileRows)
    : tiles(task, tileRows, 1)
    , threads(tiles.Threads())
    , maxLevels(std::min(task.numberOfGrayLevels, task.windowVoxels))
    , width(tileWidth + task.window[0] - 1)
    , height(tileRows + task.window[1] - 1)
  {
    for (int d = 0; d < 2; ++d)
    {
      classes[d] = task.reach[d] == 0 ? 1 : std::min(task.window[d], maxClasses);
    }
    WorkspaceLayout    workspace(nullptr, sizeof(std::uint64_t));
    const std::int64_t plane = std::int64_t{ width } * height;
    products = workspace.Reserve<std::uint64_t>((std::int64_t{ task.numberOfGrayLevels } + 1) * threads);
    reciprocals = workspace.Reserve<double>(std::int64_t{ task.windowVoxels } + 1);
    weights = workspace.Reserve<std::uint64_t>(maxNeighbors + 2);
    present = workspace.Reserve<std::uint32_t>(std::int64_t{ maxLevels } * threads);
    differences = workspace.Reserve<std::uint32_t>(plane * classes[0] * classes[1]);
    columns = workspace.Reserve<std::uint32_t>((std::int64_t{ width } + 2) * (height + 2));
    levels = workspace.Reserve<std::uint16_t>(plane * task.window[2]);
    sharedBytes = workspace.Bytes();
  }
};

/** The rows of the largest tile that fits, each of which is a warp; 0 if none does. */
int
ChooseTileRows(const GrayToneDifferenceTask & task)
{
  int rows = maxTileRows;
  while (rows > 0 && LevelTableLayout(task, rows).sharedBytes > GetCudaDeviceLimits().maxSharedMemoryPerBlock)
  {
    rows /= 2;
  }
  return rows;
}

/** The body of LevelTables. */
class LevelTables
{
public:
  using Task = GrayToneDifferenceTask;
  using Layout = LevelTableLayout;
  static constexpr int minBlocks = 0;

  __device__
  LevelTables(const GrayToneDifferenceTask & task, const LevelTableLayout & layout)
    : m_Task(task)
    , m_Layout(layout)
    , m_Thread(static_cast<int>(threadIdx.x))
    , m_Table(At<std::uint64_t>(layout.products) + threadIdx.x)
    , m_Reciprocals(At<double>(layout.reciprocals))
    , m_Weights(At<std::uint64_t>(layout.weights))
    , m_Present(At<std::uint32_t>(layout.present) + threadIdx.x)
    , m_Differences(At<std::uint32_t>(layout.differences))
    , m_Columns(At<std::uint32_t>(layout.columns))
    , m_Levels(At<std::uint16_t>(layout.levels))
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
  Compute(const std::int64_t (&start)[3])
  {
    const int            x = m_Thread % tileWidth;
    const int            y = m_Thread / tileWidth;
    const CudaTileWindow window(m_Task, start, x, y, 0);
    if (__syncthreads_or(window.isComputed ? 1 : 0) != 0)
    {
      const auto store = [this](int i, std::uint16_t level) { m_Levels[i] = level; };
      ForEachTileLevel(m_Task, start, m_Layout.width, m_Layout.height, m_Task.window[2], store);
      __syncthreads();
      for (int plane = 0; plane < m_Task.window[2]; ++plane)
      {
        this->SumColumns(plane);
        __syncthreads();
        this->MakeDifferences(plane);
        __syncthreads();
        if (window.isComputed)
        {
          this->AddVoxels(plane, x, y);
        }
      }
    }
    if (window.isComputed)
    {
      const GrayToneDifferenceSums sums = this->AddLevels();
      for (int f = 0; f < m_Task.numberOfFeatures; ++f)
      {
        StoreComponent(m_Task,
                       window.output * m_Task.voxelStride,
                       f,
                       GrayToneDifferenceFeatureValue(m_Task.features[f], sums, m_Task.scale));
      }
    }
    else if (window.isOutput)
    {
      StoreBackground(m_Task, window.output);
    }
    // Before the next tile's levels.
    __syncthreads();
  }

private:
  /** A part of the shared memory. */
  template <typename T>
  static __device__ T *
  At(std::size_t bytes)
  {
    return reinterpret_cast<T *>(SharedMemory() + bytes);
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
          // One of the k + 1 voxels is the voxel itself: (k + 1) i - (S + i) = k i - S.
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

/** Number of warps of a block, which the shared memory limits; 0 if the task is not supported. */
int
CountTableWarps(const GrayToneDifferenceTask & task)
{
  const bool isSupported =
    task.isBox && !task.isWide && task.differenceBits + BitCount(static_cast<std::uint64_t>(task.windowVoxels)) <= 64;
  return isSupported ? ChooseTileRows(task) : 0;
}

void
ComputeByTables(const GrayToneDifferenceTask & task, const CudaMethodResources & resources)
{
  const LevelTableLayout layout(task, ChooseTileRows(task));
  constexpr double       partSteps = 1e11;
  const double           levels = layout.maxLevels;
  const double           steps = layout.threads * (10.0 * task.windowVoxels + 20.0 * task.numberOfGrayLevels +
                                         5.0 * levels * std::min(levels, 64.0));
  LaunchWindowTiles<LevelTables, true>(task,
                                       layout,
                                       layout.sharedBytes,
                                       static_cast<std::int64_t>(partSteps / steps),
                                       resources,
                                       "starting the kernel of LevelTables");
}

// --- Walks, which support every task

using NarrowWalk = GrayToneDifferenceWalk<CudaThreadBlock, NarrowDifference>;
using WideWalk = GrayToneDifferenceWalk<CudaThreadBlock, WideDifference>;

CudaWalkPolicy
MakePolicy(const GrayToneDifferenceTask & task)
{
  // A warp for small windows.
  const bool isWarp = task.windowVoxels <= PolicyValue("ngtdm.warp_voxels", 512);
  const int  threads = isWarp ? CudaThreadBlock::lanesPerWarp : CudaThreadBlock::maxSize;
  // 64 teams per multiprocessor: 3.5 ms on an H200 for windows of 7x7x7 in 64^3 voxels with 32 levels; 4.3 ms with 32.
  return { "ngtdm", threads, 40960, 64 };
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
  const int  warps = CountTableWarps(task);
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
