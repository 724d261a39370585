// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One block of threads per window visits the neighbors of its voxels. Supports every task; the reference on the device.
#include "CudaGrayToneDifferenceMethods.h"
#include "graytone/GrayToneDifferenceFormulas.h"
#include "texture/cuda/CudaChunkedLaunch.h"
#include "texture/cpu/WindowBox.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
constexpr int maxThreads = 512;

// Blocks in flight on every multiprocessor, if there is memory for their tables.
constexpr std::uint64_t blocksPerMultiprocessor = 16;

using Word64 = unsigned long long;

/** The tables of a block: a bit for each level, the number of levels before each word of bits, and numbers of the
 * levels of the window, ascending. */
struct WalkTables
{
  int         levelWords;
  int         maxLevels; // of a window
  int         threads;
  std::size_t bytes;
  bool        isShared;
};

/** Numbers of a level of the window. First, both are sums of A(i); then the row of Complexity and n(i) A(i). */
struct WalkLevel
{
  Word64 lowOrRow;
  Word64 highOrProduct;
};

WalkTables
MakeWalkTables(const GrayToneDifferenceTask & task)
{
  constexpr std::size_t maxSharedBytes = 40960;
  WalkTables            tables{};
  tables.levelWords = task.numberOfGrayLevels / 32 + 1;
  tables.maxLevels = std::min(task.numberOfGrayLevels, task.windowVoxels);
  tables.threads = lanesPerWarp;
  while (tables.threads < maxThreads && tables.threads * 4 < task.windowVoxels)
  {
    tables.threads *= 2;
  }
  tables.bytes = static_cast<std::size_t>(tables.maxLevels) * (sizeof(WalkLevel) + 2 * sizeof(std::uint32_t)) +
                 static_cast<std::size_t>(tables.levelWords) * 2 * sizeof(std::uint32_t);
  tables.bytes = (tables.bytes + sizeof(WalkLevel) - 1) / sizeof(WalkLevel) * sizeof(WalkLevel);
  tables.isShared = tables.bytes <= maxSharedBytes;
  return tables;
}

/** A block's work on one window. */
template <typename TDifference>
class BlockWindow
{
public:
  __device__
  BlockWindow(const GrayToneDifferenceTask & task, const WalkTables & tables, char * memory)
    : m_Task(task)
    , m_Tables(tables)
    , m_Numbers(reinterpret_cast<WalkLevel *>(memory))
    , m_Counts(reinterpret_cast<std::uint32_t *>(m_Numbers + tables.maxLevels))
    , m_Levels(m_Counts + tables.maxLevels)
    , m_Bits(m_Levels + tables.maxLevels)
    , m_LevelsBefore(m_Bits + tables.levelWords)
    , m_Window{}
  {}

  __device__ void
  Compute(std::int64_t number)
  {
    const std::int64_t row = number / m_Task.outputSize[0];
    const std::int64_t voxel[3] = { number - row * m_Task.outputSize[0],
                                    row % m_Task.outputSize[1],
                                    row / m_Task.outputSize[1] };
    m_Window = WindowBox(m_Task, voxel);
    const std::int64_t out = number * m_Task.voxelStride;
    if (!m_Window.isComputed)
    {
      for (int c = static_cast<int>(threadIdx.x); c < m_Task.numberOfComponents; c += static_cast<int>(blockDim.x))
      {
        StoreComponentOrNaN(m_Task, out, c, m_Task.backgroundValue);
      }
      return;
    }
    __shared__ int    levels;
    __shared__ Word64 imbalances;
    this->RankLevels(levels);
    this->AddVoxels();
    GrayToneDifferenceSums sums{};
    if (threadIdx.x == 0)
    {
      sums = this->AddLevels(levels);
      imbalances = 0;
    }
    __syncthreads();
    if (m_Task.needsComplexity || m_Task.needsImbalances)
    {
      this->ComparePairs(levels, imbalances);
      __syncthreads();
    }
    if (threadIdx.x == 0)
    {
      if (m_Task.needsComplexity)
      {
        for (int i = 0; i < levels; ++i)
        {
          sums.complexity += __longlong_as_double(static_cast<long long>(m_Numbers[i].lowOrRow));
        }
      }
      sums.imbalances = imbalances;
      for (int f = 0; f < m_Task.numberOfFeatures; ++f)
      {
        StoreComponent(m_Task, out, f, GrayToneDifferenceFeatureValue(m_Task.features[f], sums, m_Task.scale));
      }
    }
  }

private:
  template <typename TVisit>
  __device__ void
  ForEachVoxel(const TVisit & visit) const
  {
    for (int i = static_cast<int>(threadIdx.x); i < m_Window.NumberOfVoxels(); i += static_cast<int>(blockDim.x))
    {
      const int row = i / m_Window.size[0];
      const int at[3] = { i - row * m_Window.size[0], row % m_Window.size[1], row / m_Window.size[1] };
      const int level = m_Window.Level(m_Task, at[0], at[1], at[2]);
      if (level != 0)
      {
        visit(static_cast<std::uint32_t>(level), at);
      }
    }
  }

  /** List the levels of the window, and clear their numbers. */
  __device__ void
  RankLevels(int & levels)
  {
    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    for (int word = thread; word < m_Tables.levelWords; word += threads)
    {
      m_Bits[word] = 0;
    }
    __syncthreads();
    this->ForEachVoxel([this](std::uint32_t level, const int(&)[3]) {
      const std::uint32_t bit = 1u << (level % 32);
      // Most voxels have the level of one before.
      if ((*static_cast<volatile std::uint32_t *>(m_Bits + level / 32) & bit) == 0)
      {
        atomicOr(m_Bits + level / 32, bit);
      }
    });
    __syncthreads();
    if (thread < lanesPerWarp)
    {
      int before = 0;
      for (int first = 0; first < m_Tables.levelWords; first += lanesPerWarp)
      {
        const int word = first + thread;
        const int own = word < m_Tables.levelWords ? __popc(m_Bits[word]) : 0;
        int       upToThis = own;
        for (int distance = 1; distance < lanesPerWarp; distance *= 2)
        {
          const int other = __shfl_up_sync(0xffffffffu, upToThis, distance);
          upToThis += thread >= distance ? other : 0;
        }
        if (word < m_Tables.levelWords)
        {
          m_LevelsBefore[word] = static_cast<std::uint32_t>(before + upToThis - own);
        }
        before += __shfl_sync(0xffffffffu, upToThis, lanesPerWarp - 1);
      }
      if (thread == 0)
      {
        levels = before;
      }
    }
    __syncthreads();
    for (int word = thread; word < m_Tables.levelWords; word += threads)
    {
      std::uint32_t rank = m_LevelsBefore[word];
      for (std::uint32_t bits = m_Bits[word]; bits != 0; bits &= bits - 1)
      {
        m_Levels[rank++] = static_cast<std::uint32_t>(word) * 32 + static_cast<std::uint32_t>(__ffs(bits) - 1);
      }
    }
    for (int i = thread; i < levels; i += threads)
    {
      m_Counts[i] = 0;
      m_Numbers[i] = WalkLevel{};
    }
    __syncthreads();
  }

  __device__ void
  AddVoxels()
  {
    this->ForEachVoxel([this](std::uint32_t level, const int(&at)[3]) {
      std::uint32_t neighbors = 0;
      std::uint32_t sum = 0;
      for (int i = 0; i < m_Task.numberOfOffsets; ++i)
      {
        const auto & step = m_Task.offsets[i].step;
        const int    after = m_Window.Level(m_Task, at[0] + step[0], at[1] + step[1], at[2] + step[2]);
        const int    before = m_Window.Level(m_Task, at[0] - step[0], at[1] - step[1], at[2] - step[2]);
        neighbors += (after != 0 ? 1 : 0) + (before != 0 ? 1 : 0);
        sum += static_cast<std::uint32_t>(after + before);
      }
      const std::uint32_t below = m_Bits[level / 32] & ((1u << (level % 32)) - 1);
      const std::uint32_t rank = m_LevelsBefore[level / 32] + static_cast<std::uint32_t>(__popc(below));
      if (neighbors != 0 || m_Task.countVoxelsWithoutNeighbors)
      {
        atomicAdd(m_Counts + rank, 1u);
      }
      TDifference difference{};
      difference.Add(NeighborDifference(level, neighbors, sum), m_Task.weights[neighbors]);
      this->AddDifference(m_Numbers[rank], difference);
    });
    __syncthreads();
  }

  static __device__ void
  AddDifference(WalkLevel & to, const NarrowDifference & difference)
  {
    atomicAdd(&to.lowOrRow, Word64{ difference.value });
  }
  static __device__ void
  AddDifference(WalkLevel & to, const WideDifference & difference)
  {
    atomicAdd(&to.lowOrRow, Word64{ difference.low });
    atomicAdd(&to.highOrProduct, Word64{ difference.high });
  }
  static __device__ void
  GetDifference(const WalkLevel & from, NarrowDifference & difference)
  {
    difference.value = from.lowOrRow;
  }
  static __device__ void
  GetDifference(const WalkLevel & from, WideDifference & difference)
  {
    difference.low = from.lowOrRow;
    difference.high = from.highOrProduct;
  }

  /** For one thread; keeps the levels that have voxels, and sets their number. */
  __device__ GrayToneDifferenceSums
  AddLevels(int & levels)
  {
    GrayToneDifferenceTotals<typename TDifference::Number> totals;
    int                                                    kept = 0;
    for (int i = 0; i < levels; ++i)
    {
      if (m_Counts[i] != 0)
      {
        TDifference difference;
        GetDifference(m_Numbers[i], difference);
        const double product = totals.AddLevel(m_Levels[i], m_Counts[i], difference.Get());
        m_Numbers[kept].highOrProduct = static_cast<Word64>(__double_as_longlong(product));
        m_Levels[kept] = m_Levels[i];
        m_Counts[kept] = m_Counts[i];
        ++kept;
      }
    }
    levels = kept;
    return totals.GetSums();
  }

  __device__ void
  ComparePairs(int levels, Word64 & imbalances)
  {
    Word64 sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < levels; i += static_cast<int>(blockDim.x))
    {
      const double    product = this->GetProduct(i);
      const long long weighted = static_cast<long long>(m_Levels[i]) * m_Counts[i];
      double          row = 0.0;
      for (int j = i + 1; j < levels; ++j)
      {
        const double difference = m_Levels[j] - m_Levels[i];
        const double voxels = m_Counts[i] + m_Counts[j];
        row += GrayToneDifferencePairTerm(product, this->GetProduct(j), difference, 1.0 / voxels);
        sum += static_cast<Word64>(llabs(static_cast<long long>(m_Levels[j]) * m_Counts[j] - weighted));
      }
      m_Numbers[i].lowOrRow = static_cast<Word64>(__double_as_longlong(row));
    }
    atomicAdd(&imbalances, sum);
  }

  __device__ double
  GetProduct(int i) const
  {
    return __longlong_as_double(static_cast<long long>(m_Numbers[i].highOrProduct));
  }

  const GrayToneDifferenceTask & m_Task;
  const WalkTables &             m_Tables;
  WalkLevel *                    m_Numbers;
  std::uint32_t *                m_Counts;
  std::uint32_t *                m_Levels;
  std::uint32_t *                m_Bits;
  std::uint32_t *                m_LevelsBefore;
  WindowBox                      m_Window;
};

template <typename TDifference>
__global__ void
__launch_bounds__(maxThreads)
  WalkKernel(const __grid_constant__ GrayToneDifferenceTask task, const __grid_constant__ WalkTables tables,
             char * scratch, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  BlockWindow<TDifference>             window(
                task, tables, tables.isShared ? shared : scratch + std::uint64_t{ blockIdx.x } * tables.bytes);
  for (std::int64_t number = firstWindow + blockIdx.x; number < endWindow; number += gridDim.x)
  {
    window.Compute(number);
    __syncthreads();
  }
}

std::uint64_t
BlocksInFlight()
{
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * blocksPerMultiprocessor;
}

template <typename TDifference>
void
Launch(const GrayToneDifferenceTask & task, const CudaMethodResources & resources)
{
  const WalkTables tables = MakeWalkTables(task);
  const auto       windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  std::uint64_t    blocks = BlocksInFlight();
  if (!tables.isShared)
  {
    blocks = std::max<std::uint64_t>(std::min<std::uint64_t>(blocks, resources.scratchBytes / tables.bytes), 1);
  }
  const std::size_t sharedBytes = tables.isShared ? tables.bytes : 0;

  // In parts of about a tenth of a second, so that an abort is quick whatever the window; a block takes a window.
  constexpr double   partSteps = 4e9;
  const double       levels = tables.maxLevels;
  const double       steps = task.windowVoxels * (2.0 * task.numberOfOffsets + 8.0) + 2.0 * levels * levels;
  const std::int64_t part =
    std::max<std::int64_t>(static_cast<std::int64_t>(partSteps / steps), GetCudaDeviceLimits().numberOfMultiprocessors);
  LaunchChunked(
    windows, part, resources, "starting the kernel of WindowWalk", [&](std::int64_t first, std::int64_t end) {
      WalkKernel<TDifference><<<static_cast<unsigned int>(blocks),
                                static_cast<unsigned int>(tables.threads),
                                sharedBytes,
                                resources.stream>>>(task, tables, static_cast<char *>(resources.scratch), first, end);
    });
}
} // namespace

CudaScratchBytes
CudaGrayToneDifferenceWalkScratchBytes(const GrayToneDifferenceTask & task)
{
  const WalkTables    tables = MakeWalkTables(task);
  const std::uint64_t bytes = tables.isShared ? 0 : tables.bytes;
  return { bytes, bytes * BlocksInFlight() };
}

void
ComputeByCudaGrayToneDifferenceWalk(const GrayToneDifferenceTask & task, const CudaMethodResources & resources)
{
  task.isWide ? Launch<WideDifference>(task, resources) : Launch<NarrowDifference>(task, resources);
}
} // namespace voxelmaps
