// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// A thread counts the pairs of one matrix of one window, in a table of the ranks of levels in shared memory, and
// computes the features of the matrix. Then, a thread averages one feature of the matrices of a window. Windows with
// more levels than a table has room for go to a list: tables with more levels are next, WindowWalk is last.
#include "CudaCooccurrenceMethods.h"
#include "CudaRankedWindows.cuh"
#include "texture/cuda/CudaChunkedLaunch.h"

#include <algorithm>
#include <type_traits>

namespace voxelmaps
{
namespace
{
/** The elements of a table of counts. */
template <int VLevels>
struct TableElements
{
  // Differences of levels in a window.
  static constexpr int maxDifference = 31;

  static constexpr int behindCells = TriangleRow(VLevels);
  static constexpr int sums = behindCells / 4 * 4 + 4;
  static constexpr int differences = sums + 2 * (maxDifference + 1);
  static constexpr int number = differences + maxDifference + 1;
};

/** The shared memory of a block: the tables of its threads, where their features are later, its windows, and ranks. */
template <int VLevels, typename TCount, int VThreads>
struct TableLayout
{
  int matrices; // of a window
  int windows;  // of a block
  int rankBytes;

  // Features and whether there is a pair.
  static constexpr std::size_t valueBytes = sizeof(double) * (CooccurrenceTask::maxFeatures + 1);
  static constexpr std::size_t tableBytes = sizeof(TCount) * TableElements<VLevels>::number;
  static constexpr std::size_t allTableBytes = (tableBytes > valueBytes ? tableBytes : valueBytes) * VThreads;
  static_assert(TableElements<VLevels>::number % 4 == 0, "tables are words");

  explicit TableLayout(const CooccurrenceTask & task)
    : matrices(task.numberOfOffsets / task.OffsetsPerMatrix())
    , windows(VThreads / matrices)
    , rankBytes(BlockWindows<VThreads>::RankBytes(task))
  {}
  std::size_t
  Bytes() const
  {
    return allTableBytes +
           static_cast<std::size_t>(windows) * (sizeof(RankedWindow) + static_cast<std::size_t>(rankBytes));
  }
};

template <int VLevels, typename TCount, int VThreads, typename TNumber>
class TableBlock
{
  using Layout = TableLayout<VLevels, TCount, VThreads>;
  using Elements = TableElements<VLevels>;
  using Counts = ThreadCounts<TCount, VThreads>;
  using Division =
    std::conditional_t<std::is_same_v<TNumber, double>, FusedDivision<double, DoubleArithmetic>, PlainDivision<double>>;

public:
  __device__
  TableBlock(const CooccurrenceTask & task, const Layout & layout, char * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Shared(shared)
    , m_Windows(
        task, layout.windows, reinterpret_cast<RankedWindow *>(shared + Layout::allTableBytes),
        reinterpret_cast<std::uint8_t *>(shared + Layout::allTableBytes + layout.windows * sizeof(RankedWindow)))
    , m_Thread(static_cast<int>(threadIdx.x))
  {}

  /** Compute the windows from the one with this number on, and list those left out, as numbers from numbers.first on.
   */
  __device__ void
  Compute(const WindowNumbers & numbers, std::int64_t first, std::uint32_t * others)
  {
    m_Windows.Make(numbers, first, m_Layout.rankBytes, IsUsed);
    CooccurrenceSums sums{};
    const int        w = m_Thread / m_Layout.matrices;
    const bool       hasMatrix = w < m_Layout.windows && m_Windows[w].box.isComputed && IsUsed(m_Windows[w]);
    if (hasMatrix)
    {
      this->CountPairs(w);
      this->SumCells(w, sums);
      this->SumLevels(w, sums);
    }
    __syncthreads();
    if (hasMatrix)
    {
      this->Evaluate(sums);
    }
    __syncthreads();
    const int items = m_Layout.windows * m_Task.numberOfFeatures;
    for (int item = m_Thread; item < items; item += VThreads)
    {
      const int feature = item / m_Layout.windows;
      this->StoreFeature(item - feature * m_Layout.windows, feature);
    }
    for (int i = m_Thread; i < m_Layout.windows; i += VThreads)
    {
      if (m_Windows[i].box.isComputed && !IsUsed(m_Windows[i]))
      {
        others[1 + atomicAdd(others, 1u)] = static_cast<std::uint32_t>(m_Windows[i].number - numbers.first);
      }
    }
  }

private:
  static __device__ int
  LeastBit(const RankedWindow & window)
  {
    int word = 0;
    while (window.set[word] == 0)
    {
      ++word;
    }
    return word * RankedWindow::wordBits + __ffs(static_cast<int>(window.set[word])) - 1;
  }
  static __device__ int
  GreatestBit(const RankedWindow & window)
  {
    int word = RankedWindow::setWords - 1;
    while (window.set[word] == 0)
    {
      --word;
    }
    return word * RankedWindow::wordBits + 31 - __clz(static_cast<int>(window.set[word]));
  }
  /** Whether a table has room for the levels of a window, which has at least one. */
  static __device__ bool
  IsUsed(const RankedWindow & window)
  {
    return !window.hasFarLevels && window.levels <= VLevels &&
           GreatestBit(window) - LeastBit(window) <= Elements::maxDifference;
  }

  /** A feature of a matrix; behind all features, how many matrices it counts for. */
  __device__ double &
  Value(int feature, int matrix) const
  {
    return reinterpret_cast<double *>(m_Shared)[feature * VThreads + matrix];
  }
  __device__ double &
  HasPairs(int matrix) const
  {
    return this->Value(CooccurrenceTask::maxFeatures, matrix);
  }

  __device__ void
  CountPairs(int w) const
  {
    const Counts         counts(m_Shared, m_Thread);
    const RankedWindow & window = m_Windows[w];
    const int            differences = GreatestBit(window) - LeastBit(window) + 1;
    counts.Clear(0, TriangleRow(window.levels));
    counts.Clear(Elements::sums, Elements::sums + 2 * differences - 1);
    counts.Clear(Elements::differences, Elements::differences + differences);
    const int firstOffset = (m_Thread - w * m_Layout.matrices) * m_Task.OffsetsPerMatrix();
    const int endOffset = firstOffset + m_Task.OffsetsPerMatrix();
    if (window.hasHoles)
    {
      m_Windows.ForEachPair(w, m_Layout.rankBytes, firstOffset, endOffset, [&counts](int a, int b) {
        ++counts[PairElement(a, b, Elements::behindCells)];
      });
    }
    else
    {
      m_Windows.ForEachPair(w, m_Layout.rankBytes, firstOffset, endOffset, [&counts](int a, int b) {
        ++counts[TriangleRow(max(a, b)) + min(a, b)];
      });
    }
  }

  /** The sums over cells; counts those of sums and differences of levels. */
  __device__ void
  SumCells(int w, CooccurrenceSums & sums) const
  {
    const Counts               counts(m_Shared, m_Thread);
    const RankedWindow &       window = m_Windows[w];
    const std::int64_t * const terms = m_Task.scales.entropyTable;
    // Levels of the rows from the least one on.
    std::uint32_t rows = this->Levels(window);
    for (int i = 0; rows != 0; ++i, rows &= rows - 1)
    {
      const int     row = __ffs(static_cast<int>(rows)) - 1;
      std::uint32_t columns = this->Levels(window);
      int           rowCount = 0;
      for (int j = 0; j <= i; ++j, columns &= columns - 1)
      {
        const int n = counts[TriangleRow(i) + j];
        if (n == 0)
        {
          continue;
        }
        const int column = __ffs(static_cast<int>(columns)) - 1;
        const int cell = i == j ? 2 * n : n;
        rowCount += cell;
        sums.pairs += n;
        counts[Elements::sums + row + column] += static_cast<TCount>(n);
        counts[Elements::differences + row - column] += static_cast<TCount>(n);
        if (m_Task.needsCells)
        {
          const std::int64_t square = std::int64_t{ cell } * cell;
          sums.cellTerms += i == j ? terms[cell] : 2 * terms[cell];
          sums.cellSquares += i == j ? square : 2 * square;
          sums.maximum = max(sums.maximum, std::int64_t{ cell });
        }
      }
      if (m_Task.needsRows)
      {
        for (int j = i + 1; j < window.levels; ++j)
        {
          rowCount += counts[TriangleRow(j) + i];
        }
        sums.rowTerms += terms[rowCount];
      }
    }
  }

  /** The sums over sums and differences of levels. */
  __device__ void
  SumLevels(int w, CooccurrenceSums & sums) const
  {
    const Counts         counts(m_Shared, m_Thread);
    const RankedWindow & window = m_Windows[w];
    const int            differences = GreatestBit(window) - LeastBit(window) + 1;
    std::int64_t         v = 2 * (window.least + LeastBit(window)) - m_Task.scales.center;
    for (int s = 0; s < 2 * differences - 1; ++s, ++v)
    {
      const std::int64_t n = counts[Elements::sums + s];
      if (n == 0)
      {
        continue;
      }
      const std::int64_t square = v * v;
      sums.sums += n * v;
      sums.sumSquares += n * square;
      sums.sumCubes += n * square * v;
      sums.sumFourths += n * square * square;
      if (m_Task.needsSumCounts)
      {
        sums.sumTerms += m_Task.scales.entropyTable[n];
      }
    }
    for (int k = 0; k < differences; ++k)
    {
      const std::int64_t n = counts[Elements::differences + k];
      if (n == 0)
      {
        continue;
      }
      sums.differences += n * k;
      sums.differenceSquares += n * k * k;
      if (m_Task.needsDifferenceCounts)
      {
        sums.differenceTerms += m_Task.scales.entropyTable[n];
      }
      if (m_Task.needsWeights)
      {
        for (int i = 0; i < NumberOfCooccurrenceWeights; ++i)
        {
          sums.weights[i] += n * m_Task.weights[k * NumberOfCooccurrenceWeights + i];
        }
      }
    }
    sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
  }

  /** A bit for each level of a window, from the least one on. */
  static __device__ std::uint32_t
                    Levels(const RankedWindow & window)
  {
    const int           least = LeastBit(window);
    const int           word = least / RankedWindow::wordBits;
    const std::uint64_t next = word + 1 < RankedWindow::setWords ? window.set[word + 1] : 0;
    return static_cast<std::uint32_t>((next << 32 | window.set[word]) >> (least % RankedWindow::wordBits));
  }

  __device__ void
  Evaluate(const CooccurrenceSums & sums) const
  {
    this->HasPairs(m_Thread) = sums.pairs != 0 ? 1.0 : 0.0;
    if (sums.pairs != 0)
    {
      const CooccurrenceDivisors<Division> divisors(sums.pairs);
      for (int feature = 0; feature < m_Task.numberOfFeatures; ++feature)
      {
        this->Value(feature, m_Thread) =
          CooccurrenceFeatureValue<TNumber, Division>(m_Task.features[feature], sums, divisors, m_Task.scales);
      }
    }
  }

  __device__ void
  StoreFeature(int w, int feature) const
  {
    const RankedWindow & window = m_Windows[w];
    const bool           isComputed = window.box.isComputed;
    if (window.number < 0 || (isComputed && !IsUsed(window)))
    {
      return;
    }
    const std::int64_t out = window.number * m_Task.voxelStride;
    const bool         isPerDirection = m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection;
    double             total = 0.0;
    double             matrices = 0.0;
    for (int m = 0; m < m_Layout.matrices; ++m)
    {
      const int  matrix = w * m_Layout.matrices + m;
      const bool hasPairs = isComputed && this->HasPairs(matrix) != 0.0;
      double     value = isComputed ? m_Task.emptyValue : m_Task.backgroundValue;
      if (hasPairs)
      {
        value = this->Value(feature, matrix);
        total += value;
        matrices += 1.0;
      }
      if (isPerDirection)
      {
        StoreComponentOrNaN(m_Task, out, std::int64_t{ m } * m_Task.numberOfFeatures + feature, value);
      }
    }
    if (!isPerDirection)
    {
      StoreComponentOrNaN(m_Task,
                          out,
                          feature,
                          !isComputed      ? m_Task.backgroundValue
                          : matrices > 0.0 ? total / matrices
                                           : m_Task.emptyValue);
    }
  }

  const CooccurrenceTask & m_Task;
  const Layout &           m_Layout;
  char * const             m_Shared;
  BlockWindows<VThreads>   m_Windows;
  const int                m_Thread;
};

template <int VLevels, typename TCount, int VThreads, typename TNumber>
__global__ void
__launch_bounds__(VThreads, 512 / VThreads)
  RankTablesKernel(const __grid_constant__ CooccurrenceTask task,
                   const __grid_constant__ TableLayout<VLevels, TCount, VThreads> layout,
                   const __grid_constant__ WindowNumbers numbers, std::uint32_t * others)
{
  extern __shared__ __align__(16) char           shared[];
  TableBlock<VLevels, TCount, VThreads, TNumber> block(task, layout, shared);
  block.Compute(numbers, std::int64_t{ blockIdx.x } * layout.windows, others);
}

constexpr int manyLevels = 32;
constexpr int manyLevelThreads = 64;

template <int VLevels, typename TCount, int VThreads>
void
Launch(const CooccurrenceTask & task, const WindowNumbers & numbers, std::uint32_t * others, cudaStream_t stream)
{
  const TableLayout<VLevels, TCount, VThreads> layout(task);
  const auto                                   start = [&](auto kernel) {
    AllowSharedMemory(kernel, layout.Bytes());
    const unsigned int blocks =
      BlocksFor(static_cast<std::uint64_t>(numbers.number), static_cast<unsigned int>(layout.windows));
    kernel<<<blocks, VThreads, layout.Bytes(), stream>>>(task, layout, numbers, others);
  };
  task.arithmetic == CooccurrenceArithmetic::Double
    ? start(RankTablesKernel<VLevels, TCount, VThreads, double>)
    : start(RankTablesKernel<VLevels, TCount, VThreads, WideInteger<2>>);
}

/** Whether bytes hold all counts, also those of rows. */
bool
HasSmallCounts(const CooccurrenceTask & task)
{
  return task.maxPairs <= 0xff;
}

constexpr std::int64_t maxListWindows = 1 << 20;

std::int64_t
ListCapacity(const CooccurrenceTask & task)
{
  // At least a row of tiles, which has at most 32 rows of windows.
  return std::min(static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)),
                  std::max(maxListWindows, 32 * task.outputSize[0]));
}

/** Rows of tiles whose windows a list has room for. */
std::int64_t
PartTileRows(const CooccurrenceTask & task, const CudaTileRows & rows)
{
  const std::int64_t windows = std::min(rows.windowRows, task.outputSize[1]) * task.outputSize[0];
  return std::max<std::int64_t>(ListCapacity(task) / windows, 1);
}

/** The number of windows, and the windows, of two lists. */
std::uint64_t
ListBytes(const CooccurrenceTask & task)
{
  constexpr std::uint64_t alignment = 256;
  return (8 * static_cast<std::uint64_t>(ListCapacity(task) + 1) / alignment + 1) * alignment;
}
} // namespace

bool
CudaRankTablesSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  const int matrices = task.numberOfOffsets / task.OffsetsPerMatrix();
  if (!task.scales.symmetric || task.wideMoments || task.wideWeights ||
      task.arithmetic == CooccurrenceArithmetic::Bits256 || task.maxPairs > 0xffff || matrices > manyLevelThreads)
  {
    return false;
  }
  return std::max({ TableLayout<16, std::uint8_t, 256>(task).Bytes(),
                    TableLayout<16, std::uint16_t, 128>(task).Bytes(),
                    TableLayout<manyLevels, std::uint16_t, manyLevelThreads>(task).Bytes() }) <=
         limits.maxSharedMemoryPerBlock;
}

CudaScratchBytes
CudaRankTablesScratchBytes(const CooccurrenceTask & task)
{
  const CudaScratchBytes walk = CudaCooccurrenceWalkScratchBytes(task);
  // WindowWalk needs its memory when the tiles are done.
  std::uint64_t tileBytes = 0;
  if (CudaFewLevelTilesSupports(task, GetCudaDeviceLimits()))
  {
    const CudaTileRows rows = GetCudaTileRows(task);
    tileBytes = CudaFewLevelTilesScratchBytes(std::min(rows.number, PartTileRows(task, rows)) * rows.tiles);
  }
  return { ListBytes(task) + std::max(walk.minimum, tileBytes), ListBytes(task) + std::max(walk.maximum, tileBytes) };
}

void
ComputeByCudaRankTables(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  constexpr const char * doing = "starting the kernel of RankTables";
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::int64_t     capacity = ListCapacity(task);
  std::uint32_t * const  list = static_cast<std::uint32_t *>(resources.scratch);
  std::uint32_t * const  secondList = list + capacity + 1;
  CudaMethodResources    walkResources = resources;
  walkResources.scratch = static_cast<char *>(resources.scratch) + ListBytes(task);
  walkResources.scratchBytes = resources.scratchBytes - ListBytes(task);
  const auto getLength = [&](const std::uint32_t * from) {
    CheckLaunch(doing);
    std::uint32_t length = 0;
    CheckCuda(cudaMemcpyAsync(&length, from, sizeof(length), cudaMemcpyDeviceToHost, resources.stream), doing);
    CheckCuda(cudaStreamSynchronize(resources.stream), doing);
    return length;
  };
  const auto clear = [&](std::uint32_t * length) {
    CheckCuda(cudaMemsetAsync(length, 0, sizeof(*length), resources.stream), doing);
  };
  const auto computeTables = [&](const WindowNumbers & numbers, std::uint32_t * freeList, std::uint32_t * otherList) {
    clear(freeList);
    HasSmallCounts(task) ? Launch<16, std::uint8_t, 256>(task, numbers, freeList, resources.stream)
                         : Launch<16, std::uint16_t, 128>(task, numbers, freeList, resources.stream);
    const WindowNumbers left{ getLength(freeList), numbers.first, freeList + 1 };
    if (left.number != 0)
    {
      clear(otherList);
      Launch<manyLevels, std::uint16_t, manyLevelThreads>(task, left, otherList, resources.stream);
      const WindowNumbers last{ getLength(otherList), numbers.first, otherList + 1 };
      ComputeByCudaCooccurrenceWalk(task, last, walkResources);
    }
  };
  if (!CudaFewLevelTilesSupports(task, GetCudaDeviceLimits()))
  {
    LaunchChunked(windows, capacity, resources, doing, [&](std::int64_t first, std::int64_t end) {
      computeTables({ end - first, first, nullptr }, list, secondList);
    });
    return;
  }
  const CudaTileRows tileRows = GetCudaTileRows(task);
  const std::int64_t partRows = PartTileRows(task, tileRows);
  LaunchChunked(tileRows.number, partRows, resources, doing, [&](std::int64_t firstRow, std::int64_t endRow) {
    const std::int64_t first = tileRows.GetFirstWindow(task, firstRow);
    clear(list);
    LaunchCudaFewLevelTiles(task, firstRow, endRow, { list, first, nullptr }, walkResources.scratch, resources.stream);
    const WindowNumbers left{ getLength(list), first, list + 1 };
    if (left.number != 0)
    {
      computeTables(left, secondList, list);
    }
  });
}
} // namespace voxelmaps
