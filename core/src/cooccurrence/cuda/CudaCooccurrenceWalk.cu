// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One warp per window walks its pairs and counts them in a table. Supports every task; the reference on the device.
#include "CudaCooccurrenceMethods.h"
#include "CudaRankedWindows.cuh"
#include "cooccurrence/CooccurrencePairs.h"
#include "texture/cuda/CudaChunkedLaunch.h"
#include "texture/cpu/WindowBox.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
constexpr int sharedTableEntries = 2048;

// Warps in flight on every multiprocessor, if there is memory for their tables.
constexpr std::uint64_t warpsPerMultiprocessor = 32;

using Count64 = unsigned long long;

/** Counts cells, sums of rows and columns, sums and differences of levels: an array over all keys, or a hash table
 * where that would be much larger than the number of keys that a matrix can have. */
struct CountTable
{
  // Where the keys of each kind begin.
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t sums;
  std::uint64_t differences;

  std::uint64_t keys;
  std::uint64_t entries;
  bool          isHash;
  bool          isShared;

  __host__ __device__ std::uint64_t
                      BytesPerWarp() const
  {
    return entries * (sizeof(std::uint32_t) + (isHash ? sizeof(Count64) : 0));
  }
};

CountTable
MakeCountTable(const CooccurrenceTask & task)
{
  const auto          levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  const std::uint64_t voxels = NumberOfVoxels(task.window);
  CountTable          table{};
  std::uint64_t       maxKeys = 0;
  // Adds keys of which so many can occur in a matrix; returns where they begin.
  const auto add = [&](bool isNeeded, std::uint64_t number, std::uint64_t maxOccurring) {
    const std::uint64_t begin = table.keys;
    if (isNeeded)
    {
      table.keys += number;
      maxKeys += std::min(number, maxOccurring);
    }
    return begin;
  };
  add(task.needsCells, task.scales.symmetric ? levels * (levels + 1) / 2 : levels * levels, task.maxPairs);
  table.rows = add(task.needsRows, levels, voxels);
  table.columns = add(task.needsRows && !task.scales.symmetric, levels, voxels);
  table.sums = add(task.needsSumCounts, 2 * levels - 1, task.maxPairs);
  table.differences = add(task.needsDifferenceCounts, levels, task.maxPairs);
  table.entries = table.keys;
  if (table.keys > 4 * maxKeys && table.keys > sharedTableEntries)
  {
    table.isHash = true;
    table.entries = 64;
    while (table.entries < 2 * maxKeys)
    {
      table.entries *= 2;
    }
  }
  table.isShared = !table.isHash && table.entries <= sharedTableEntries;
  return table;
}

template <typename T>
__device__ T
WarpSum(T value)
{
  for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
  {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

template <typename T>
__device__ T
WarpMax(T value)
{
  for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
  {
    value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

/** One warp's work on one window. */
template <typename TNumber>
class WarpWindow
{
public:
  __device__
  WarpWindow(const CooccurrenceTask & task, const CountTable & table, std::uint32_t * counts, Count64 * keys,
             int warpLane)
    : m_Task(task)
    , m_Table(table)
    , m_Counts(counts)
    , m_Keys(keys)
    , m_WarpLane(warpLane)
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
      for (int c = m_WarpLane; c < m_Task.numberOfComponents; c += lanesPerWarp)
      {
        StoreComponentOrNaN(m_Task, out, c, m_Task.backgroundValue);
      }
      return;
    }
    // Lane f keeps feature f.
    const bool isFeature = m_WarpLane < m_Task.numberOfFeatures;
    const bool isPerDirection = m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection;
    const int  offsetsPerMatrix = m_Task.OffsetsPerMatrix();
    double     total = 0.0;
    double     matrices = 0.0;
    for (int first = 0; first < m_Task.numberOfOffsets; first += offsetsPerMatrix)
    {
      this->ClearTable();
      CooccurrenceSums sums{};
      sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
      for (int i = first; i < first + offsetsPerMatrix; ++i)
      {
        this->AddPairs(m_Task.offsets[i], sums);
      }
      __syncwarp();
      this->Reduce(sums);
      double value = m_Task.emptyValue;
      if (sums.pairs != 0 && isFeature)
      {
        const CooccurrenceDivisors<Division> divisors(sums.pairs);
        value = CooccurrenceFeatureValue<TNumber, Division>(m_Task.features[m_WarpLane], sums, divisors, m_Task.scales);
        total += value;
        matrices += 1.0;
      }
      if (isPerDirection && isFeature)
      {
        StoreComponentOrNaN(
          m_Task, out, std::int64_t{ first / offsetsPerMatrix } * m_Task.numberOfFeatures + m_WarpLane, value);
      }
    }
    if (!isPerDirection && isFeature)
    {
      StoreComponentOrNaN(m_Task, out, m_WarpLane, matrices > 0.0 ? total / matrices : m_Task.emptyValue);
    }
  }

private:
  using Division = PlainDivision<double>;

  __device__ void
  ClearTable()
  {
    __syncwarp();
    for (std::uint64_t i = m_WarpLane; i < m_Table.entries; i += lanesPerWarp)
    {
      m_Counts[i] = 0;
      if (m_Table.isHash)
      {
        m_Keys[i] = 0;
      }
    }
    __syncwarp();
  }

  /** Count one more of a key; returns how many there were. */
  __device__ std::uint32_t
             CountOneMore(std::uint64_t key)
  {
    if (!m_Table.isHash)
    {
      return atomicAdd(m_Counts + key, 1u);
    }
    const std::uint64_t mask = m_Table.entries - 1;
    std::uint64_t       slot = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
    for (;;)
    {
      const Count64 found = atomicCAS(m_Keys + slot, Count64{ 0 }, static_cast<Count64>(key + 1));
      if (found == 0 || found == key + 1)
      {
        return atomicAdd(m_Counts + slot, 1u);
      }
      slot = (slot + 1) & mask;
    }
  }
  /** The same; returns t(n + 1) - t(n), which add up to the sum of t in any order of the pairs. */
  __device__ std::int64_t
             CountTerm(std::uint64_t key)
  {
    const std::uint32_t count = this->CountOneMore(key);
    return m_Task.scales.entropyTable[count + 1] - m_Task.scales.entropyTable[count];
  }

  __device__ void
  AddPairs(const PairOffset & offset, CooccurrenceSums & sums)
  {
    for (int i = m_WarpLane; i < m_Window.NumberOfVoxels(); i += lanesPerWarp)
    {
      const int row = i / m_Window.size[0];
      const int at[3] = { i - row * m_Window.size[0], row % m_Window.size[1], row / m_Window.size[1] };
      const int a = m_Window.Level(m_Task, at[0], at[1], at[2]);
      const int b = m_Window.Level(m_Task, at[0] + offset.step[0], at[1] + offset.step[1], at[2] + offset.step[2]);
      if (a != 0 && b != 0)
      {
        AddCooccurrencePair(m_Task, a, b, sums);
        this->Count(static_cast<std::uint64_t>(a - 1), static_cast<std::uint64_t>(b - 1), sums);
      }
    }
  }

  /** Levels from 0 on. */
  __device__ void
  Count(std::uint64_t a, std::uint64_t b, CooccurrenceSums & sums)
  {
    const std::uint64_t lower = min(a, b);
    const std::uint64_t upper = max(a, b);
    if (m_Task.needsCells)
    {
      this->CountCell(a, b, lower, upper, sums);
    }
    if (m_Task.needsRows)
    {
      sums.rowTerms += this->CountTerm(m_Table.rows + a);
      if (m_Task.scales.symmetric)
      {
        sums.rowTerms += this->CountTerm(m_Table.rows + b);
      }
      else
      {
        sums.columnTerms += this->CountTerm(m_Table.columns + b);
      }
    }
    if (m_Task.needsSumCounts)
    {
      sums.sumTerms += this->CountTerm(m_Table.sums + a + b);
    }
    if (m_Task.needsDifferenceCounts)
    {
      sums.differenceTerms += this->CountTerm(m_Table.differences + upper - lower);
    }
  }

  __device__ void
  CountCell(std::uint64_t a, std::uint64_t b, std::uint64_t lower, std::uint64_t upper, CooccurrenceSums & sums)
  {
    const std::int64_t * const terms = m_Task.scales.entropyTable;
    if (!m_Task.scales.symmetric)
    {
      const std::int64_t n = this->CountOneMore(a * static_cast<std::uint64_t>(m_Task.numberOfGrayLevels) + b);
      sums.cellTerms += terms[n + 1] - terms[n];
      sums.cellSquares += 2 * n + 1;
      sums.maximum = max(sums.maximum, n + 1);
      return;
    }
    // The cells (a, b) and (b, a) have n pairs each, a cell of the diagonal 2 n.
    const std::int64_t n = this->CountOneMore(upper * (upper + 1) / 2 + lower);
    if (a == b)
    {
      sums.cellTerms += terms[2 * n + 2] - terms[2 * n];
      sums.cellSquares += 8 * n + 4;
      sums.maximum = max(sums.maximum, 2 * n + 2);
    }
    else
    {
      sums.cellTerms += 2 * (terms[n + 1] - terms[n]);
      sums.cellSquares += 4 * n + 2;
      sums.maximum = max(sums.maximum, n + 1);
    }
  }

  /** From sums of lanes to sums of the warp. */
  __device__ void
  Reduce(CooccurrenceSums & sums) const
  {
    for (std::int64_t * sum : { &sums.pairs,
                                &sums.sums,
                                &sums.sumSquares,
                                &sums.sumCubes,
                                &sums.sumFourths,
                                &sums.differences,
                                &sums.differenceSquares,
                                &sums.differenceTerms,
                                &sums.sumTerms,
                                &sums.cellTerms,
                                &sums.rowTerms,
                                &sums.cellSquares })
    {
      *sum = WarpSum(*sum);
    }
    sums.maximum = WarpMax(sums.maximum);
    if (m_Task.needsWeights)
    {
      for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
      {
        sums.weights[w] = WarpSum(sums.weights[w]);
        sums.weightsHigh[w] = WarpSum(sums.weightsHigh[w]);
      }
    }
    if (m_Task.wideMoments)
    {
      sums.sumCubesHigh = WarpSum(sums.sumCubesHigh);
      sums.sumFourthsHigh = WarpSum(sums.sumFourthsHigh);
    }
    if (!m_Task.scales.symmetric)
    {
      sums.signedDifferences = WarpSum(sums.signedDifferences);
      sums.products = WarpSum(sums.products);
      sums.columnTerms = WarpSum(sums.columnTerms);
    }
  }

  const CooccurrenceTask & m_Task;
  const CountTable &       m_Table;
  std::uint32_t *          m_Counts;
  Count64 *                m_Keys;
  int                      m_WarpLane;
  WindowBox                m_Window;
};

template <typename TNumber>
__global__ void
__launch_bounds__(lanesPerWarp)
  WalkKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ CountTable table, char * scratch,
             const __grid_constant__ WindowNumbers numbers, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  // Keys come first, as they have 64 bits.
  char * const bytes = table.isShared ? shared : scratch + std::uint64_t{ blockIdx.x } * table.BytesPerWarp();
  auto *       counts = reinterpret_cast<std::uint32_t *>(bytes + (table.isHash ? table.entries * sizeof(Count64) : 0));
  WarpWindow<TNumber> window(task, table, counts, reinterpret_cast<Count64 *>(bytes), static_cast<int>(threadIdx.x));
  for (std::int64_t i = firstWindow + blockIdx.x; i < endWindow; i += gridDim.x)
  {
    window.Compute(numbers[i]);
    __syncwarp();
  }
}

std::uint64_t
WarpsInFlight()
{
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * warpsPerMultiprocessor;
}

template <typename TNumber>
void
Launch(const CooccurrenceTask & task, const WindowNumbers & numbers, const CudaMethodResources & resources)
{
  const CountTable table = MakeCountTable(task);
  std::uint64_t    warps = WarpsInFlight();
  if (!table.isShared && table.BytesPerWarp() > 0)
  {
    warps = std::max<std::uint64_t>(std::min<std::uint64_t>(warps, resources.scratchBytes / table.BytesPerWarp()), 1);
  }
  const std::size_t sharedBytes = table.isShared ? table.BytesPerWarp() : 0;
  static_assert(sharedTableEntries * sizeof(std::uint32_t) <= 49152, "fits the shared memory of every device");

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 33;
  const std::int64_t     steps = static_cast<std::int64_t>(NumberOfVoxels(task.window)) * task.numberOfOffsets;
  const std::int64_t     part = std::max(partSteps, steps) / std::max<std::int64_t>(steps, 1);
  LaunchChunked(
    numbers.number, part, resources, "starting the kernel of WindowWalk", [&](std::int64_t first, std::int64_t end) {
      WalkKernel<TNumber><<<static_cast<unsigned int>(warps), lanesPerWarp, sharedBytes, resources.stream>>>(
        task, table, static_cast<char *>(resources.scratch), numbers, first, end);
    });
}
} // namespace

CudaScratchBytes
CudaCooccurrenceWalkScratchBytes(const CooccurrenceTask & task)
{
  const CountTable    table = MakeCountTable(task);
  const std::uint64_t bytes = table.isShared ? 0 : table.BytesPerWarp();
  return { bytes, bytes * WarpsInFlight() };
}

void
ComputeByCudaCooccurrenceWalk(const CooccurrenceTask & task, const WindowNumbers & numbers,
                              const CudaMethodResources & resources)
{
  switch (task.arithmetic)
  {
    case CooccurrenceArithmetic::Double:
      return Launch<double>(task, numbers, resources);
    case CooccurrenceArithmetic::Bits128:
      return Launch<WideInteger<2>>(task, numbers, resources);
    case CooccurrenceArithmetic::Bits256:
      return Launch<WideInteger<4>>(task, numbers, resources);
  }
}

void
ComputeByCudaCooccurrenceWalk(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  ComputeByCudaCooccurrenceWalk(
    task, { static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)), 0, nullptr }, resources);
}
} // namespace voxelmaps
