// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// A thread computes one matrix of one window. Most windows of medical images have few levels, so that a matrix fits the
// registers of a thread. A block counts the pairs of the matrices of some windows in shared memory, sorts the matrices
// by their number of levels, so that the threads of a warp do the same steps, and computes them. Windows with more
// levels are listed for the kernel of all matrices.
// So that the numbers of matrices are in registers.
#if defined(__CUDA_ARCH__)
#  define VOXELMAPS_UNROLL _Pragma("unroll")
#endif

#include "CudaMaximalCorrelation.h"
#include "CudaRankedWindows.cuh"
#include "device/CudaPolicy.h"
#include "glcm/MaximalCorrelation.h"
#include "window/WorkspaceLayout.h"
#include "window/cuda/CudaComputedWindows.cuh"

namespace voxelmaps
{
namespace
{
constexpr int           blockThreads = 256;
constexpr int           maxLevels = 16;
constexpr int           tableElements = TriangleRow(maxLevels);
constexpr std::uint32_t allLanes = 0xffffffffu;
/** A thread that computes matrices of its own in its warp; see MaximalCorrelation. */
struct WarpThread : SerialLane
{
  /** All threads of a warp take the same branches. */
  static __device__ bool
  AreZero(double value)
  {
    return __all_sync(allLanes, value == 0.0);
  }
};

using Algorithm = MaximalCorrelation<double, WarpThread>;

/** Whether a table has room for the levels of a window. */
__device__ bool
IsUsed(const RankedWindow & window)
{
  return !window.hasFarLevels && window.levels <= maxLevels;
}

/** The shared memory of a block: its windows, then what every matrix has, then the counts and the ranks of levels. */
struct Layout
{
  int component;
  int matrices; // of a window
  int windows;  // of a block
  int rankBytes;

  struct Fixed
  {
    double        coefficients[blockThreads];
    int           begins[maxLevels + 1];
    std::uint16_t levels[blockThreads];
    std::uint16_t order[blockThreads];
  };

  Layout(const CooccurrenceTask & task, int correlationComponent)
    : component(correlationComponent)
    , matrices(task.numberOfOffsets / task.OffsetsPerMatrix())
    , windows(blockThreads / matrices)
    , rankBytes(BlockWindows<blockThreads>::RankBytes(task))
  {}
};

template <typename TCount>
struct BlockMemory
{
  Layout::Fixed * fixed;
  RankedWindow *  windows;
  std::uint32_t * tables;
  std::uint8_t *  ranks;
  std::size_t     bytes;

  VOXELMAPS_HOST_DEVICE
  BlockMemory(const Layout & layout, char * shared)
  {
    constexpr int   tableWords = (tableElements + 1) * static_cast<int>(sizeof(TCount)) / 4 + 1;
    WorkspaceLayout workspace(shared, sizeof(double));
    fixed = workspace.Append<Layout::Fixed>(1);
    windows = workspace.Append<RankedWindow>(layout.windows);
    tables = workspace.Append<std::uint32_t>(tableWords * blockThreads);
    ranks = workspace.Append<std::uint8_t>(layout.windows * layout.rankBytes);
    bytes = workspace.Bytes();
  }
};

template <typename TCount>
using Counts = ThreadCounts<TCount, blockThreads>;

/** Set the lower triangle of a matrix from the counts of pairs; levels has a bit for each rank that occurs. */
template <typename TCount>
__device__ __forceinline__ void
CopyCounts(const Counts<TCount> & counts, std::uint32_t levels, int size, double * matrix)
{
  std::uint32_t rows = levels;
#pragma unroll
  for (int i = 0; i < size; ++i)
  {
    const bool    isRow = rows != 0;
    const int     row = __ffs(static_cast<int>(rows)) - 1;
    std::uint32_t columns = levels;
#pragma unroll
    for (int j = 0; j <= i; ++j)
    {
      const int column = __ffs(static_cast<int>(columns)) - 1;
      const int count = isRow ? counts[TriangleRow(row) + column] : 0;
      matrix[TriangleRow(i) + j] = i == j ? 2 * count : count;
      columns &= columns - 1;
    }
    rows &= rows - 1;
  }
}

template <int VLevels, typename TCount>
__device__ __forceinline__ double
Coefficient(const Counts<TCount> & counts, std::uint32_t levels, int size)
{
  double           matrix[TriangleRow(VLevels)];
  double           first[VLevels];
  double           second[VLevels];
  const WarpThread thread;
  CopyCounts(counts, levels, size, matrix);
  Algorithm::RemoveTrivialPart(thread, size, matrix, first, second);
  Algorithm::Tridiagonalize(thread, size, matrix, first, second);
  return Algorithm::Search(thread, size, first, second, false);
}

/** The coefficient of a matrix whose warp has so many levels at most: sizes in registers, or in local memory. */
template <typename TCount>
__device__ double
WarpCoefficient(const Counts<TCount> & counts, std::uint32_t levels, int size)
{
  return size <= 1    ? 0.0
         : size <= 3  ? Coefficient<3>(counts, levels, 3)
         : size <= 4  ? Coefficient<4>(counts, levels, 4)
         : size <= 5  ? Coefficient<5>(counts, levels, 5)
         : size <= 6  ? Coefficient<6>(counts, levels, 6)
         : size <= 8  ? Coefficient<8>(counts, levels, 8)
         : size <= 10 ? Coefficient<10>(counts, levels, 10)
                      : Coefficient<maxLevels>(counts, levels, size);
}

template <typename TCount>
class MatrixBlock
{
public:
  __device__
  MatrixBlock(const CooccurrenceTask & task, const Layout & layout, const BlockMemory<TCount> & memory)
    : m_Task(task)
    , m_Layout(layout)
    , m_Fixed(*memory.fixed)
    , m_Tables(reinterpret_cast<char *>(memory.tables))
    , m_Windows(task, layout.windows, memory.windows, memory.ranks)
    , m_Thread(static_cast<int>(threadIdx.x))
  {}

  /** Compute the windows from the one with this number on, and list those left out. */
  __device__ void
  Compute(const WindowNumbers & numbers, std::int64_t first, const CorrelationLists & others)
  {
    if (m_Thread <= maxLevels)
    {
      m_Fixed.begins[m_Thread] = 0;
    }
    m_Windows.Make(numbers, first, m_Layout.rankBytes, IsUsed);
    const std::uint32_t levels = this->CountPairs();
    this->SortMatrices(levels);
    const int           matrix = m_Fixed.order[m_Thread];
    const std::uint32_t matrixLevels = m_Fixed.levels[matrix];
    const int           size = __shfl_sync(allLanes, __popc(matrixLevels), 31);
    m_Fixed.coefficients[matrix] = WarpCoefficient(Counts<TCount>(m_Tables, matrix), matrixLevels, size);
    __syncthreads();
    this->Store(numbers.first, others);
  }

private:
  /** Count the pairs of the matrix of this thread; returns a bit for each rank that occurs in it. */
  __device__ std::uint32_t
             CountPairs() const
  {
    const int w = m_Thread / m_Layout.matrices;
    if (w >= m_Layout.windows || !m_Windows[w].box.isComputed || !IsUsed(m_Windows[w]))
    {
      return 0;
    }
    const Counts<TCount> counts(m_Tables, m_Thread);
    counts.Clear(0, TriangleRow(m_Windows[w].levels));
    const int     firstOffset = (m_Thread - w * m_Layout.matrices) * m_Task.OffsetsPerMatrix();
    std::uint32_t levels = 0;
    m_Windows.ForEachPair(
      w, m_Layout.rankBytes, firstOffset, firstOffset + m_Task.OffsetsPerMatrix(), [&](int a, int b) {
        const int element = PairElement(a, b, tableElements);
        ++counts[element];
        levels |= element != tableElements ? 1u << a | 1u << b : 0u;
      });
    return levels;
  }

  /** Order the matrices of the block by their number of levels. By hand: a counting sort with one atomic per thread is
   * shorter than a call of CUB's BlockRadixSort. */
  __device__ void
  SortMatrices(std::uint32_t levels) const
  {
    const int size = __popc(levels);
    m_Fixed.levels[m_Thread] = static_cast<std::uint16_t>(levels);
    const int before = atomicAdd(&m_Fixed.begins[size], 1);
    __syncthreads();
    int begin = 0;
    for (int s = 0; s < size; ++s)
    {
      begin += m_Fixed.begins[s];
    }
    m_Fixed.order[begin + before] = static_cast<std::uint16_t>(m_Thread);
    __syncthreads();
  }

  /** Store the coefficients of the windows, and list those left out. */
  __device__ void
  Store(std::int64_t listsFirst, const CorrelationLists & others) const
  {
    for (int w = m_Thread; w < m_Layout.windows; w += blockThreads)
    {
      const RankedWindow & window = m_Windows[w];
      if (!window.box.isComputed)
      {
        continue;
      }
      const std::int64_t out = window.number * m_Task.voxelStride;
      if (!IsUsed(window))
      {
        const int list = window.hasFarLevels                  ? 2
                         : window.levels > maxWarpLevels      ? 2
                         : window.levels > maxEightLaneLevels ? 1
                                                              : 0;
        // By hand, as CudaOtherWindows.
        others.GetList(list)[atomicAdd(others.lengths + list, 1u)] =
          static_cast<std::uint32_t>(window.number - listsFirst);
        continue;
      }
      const bool isPerDirection = m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection;
      double     total = 0.0;
      double     matrices = 0.0;
      for (int m = 0; m < m_Layout.matrices; ++m)
      {
        const int    matrix = w * m_Layout.matrices + m;
        const bool   hasPairs = m_Fixed.levels[matrix] != 0;
        const double value = m_Fixed.coefficients[matrix];
        total += hasPairs ? value : 0.0;
        matrices += hasPairs ? 1.0 : 0.0;
        if (isPerDirection)
        {
          StoreComponentOrNaN(m_Task,
                              out,
                              std::int64_t{ m } * m_Task.numberOfFeatures + m_Layout.component,
                              hasPairs ? value : m_Task.emptyValue);
        }
      }
      if (!isPerDirection)
      {
        StoreComponentOrNaN(m_Task, out, m_Layout.component, matrices > 0.0 ? total / matrices : m_Task.emptyValue);
      }
    }
  }

  const CooccurrenceTask &   m_Task;
  const Layout &             m_Layout;
  Layout::Fixed &            m_Fixed;
  char * const               m_Tables;
  BlockWindows<blockThreads> m_Windows;
  const int                  m_Thread;
};

/** length, if not null, is how many of the windows are computed: the first ones of the list. */
template <typename TCount>
__global__ void
__launch_bounds__(blockThreads, 2)
  FewLevelsKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ Layout layout,
                  WindowNumbers numbers, const std::uint32_t * length, const __grid_constant__ CorrelationLists others)
{
  extern __shared__ __align__(16) char shared[];
  const std::int64_t                   first = std::int64_t{ blockIdx.x } * layout.windows;
  numbers.number = length != nullptr ? *length : numbers.number;
  if (first < numbers.number)
  {
    MatrixBlock<TCount> block(task, layout, BlockMemory<TCount>(layout, shared));
    block.Compute(numbers, first, others);
  }
}

template <typename TCount>
void
Launch(const CooccurrenceTask & task, const Layout & layout, const WindowNumbers & numbers,
       const std::uint32_t * length, const CorrelationLists & others, cudaStream_t stream)
{
  const std::size_t  bytes = BlockMemory<TCount>(layout, nullptr).bytes;
  const unsigned int blocks =
    BlocksFor(static_cast<std::uint64_t>(numbers.number), static_cast<unsigned int>(layout.windows));
  AllowSharedMemory(FewLevelsKernel<TCount>, bytes);
  FewLevelsKernel<TCount><<<blocks, blockThreads, bytes, stream>>>(task, layout, numbers, length, others);
}

bool
HasSmallCounts(const CooccurrenceTask & task)
{
  return task.maxPairs <= 0xff;
}
} // namespace

bool
CudaFewLevelCorrelationsSupports(const CooccurrenceTask & task)
{
  // Else, threads without a matrix were too many.
  constexpr int maxMatrices = blockThreads / 2;
  if (!task.scales.symmetric || task.numberOfOffsets / task.OffsetsPerMatrix() > maxMatrices || task.maxPairs > 0xffff)
  {
    return false;
  }
  const Layout layout(task, 0);
  return (HasSmallCounts(task)
            ? BlockMemory<std::uint8_t>(layout, nullptr).bytes
            : BlockMemory<std::uint16_t>(layout, nullptr).bytes) <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}

void
LaunchCudaFewLevelCorrelations(const CooccurrenceTask & task, int component, std::int64_t first, std::int64_t end,
                               const CorrelationLists & others, cudaStream_t stream)
{
  const Layout    layout(task, component);
  WindowNumbers   numbers{ end - first, first, nullptr };
  std::uint32_t * length = nullptr;
  // Off: 0.97 to 1.01 of the time on an H200, in a lesion of 30,000 voxels.
  if (PolicyValue("correlation.ordered", 0) != 0)
  {
    std::uint32_t * const order = others.GetList(CorrelationLists::lists);
    length = others.lengths + CorrelationLists::lists;
    OrderWindows(task, first, static_cast<int>(end - first), order, length, stream);
    numbers.list = order;
  }
  HasSmallCounts(task) ? Launch<std::uint8_t>(task, layout, numbers, length, others, stream)
                       : Launch<std::uint16_t>(task, layout, numbers, length, others, stream);
}
} // namespace voxelmaps
