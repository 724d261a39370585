// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// A thread computes one window. The pairs of an offset become keys of 16 bits from which all counts of cells and of
// sums of levels follow once they are sorted: equal cells are neighbors then, and so are equal sums. A sorting network
// sorts the keys of two offsets at once, in registers, whatever the number of levels. Sums of rows and differences of
// levels, which are few, are counted in tables of bytes. doc/engines/glcm.md
#include "CudaCooccurrenceMethods.h"
#include "device/CudaPolicy.h"
#include "window/cuda/CudaRegisterSort.cuh"
#include "window/cuda/CudaThreadTables.cuh"
#include "window/cuda/CudaWindowTile.cuh"
#include "window/WindowBox.h"
#include "window/WorkspaceLayout.h"
#include "glcm/CooccurrenceFormulas.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace voxelmaps
{
// Pairs of levels as keys of 16 bits. When they are sorted, equal pairs are neighbors, and so are equal sums of levels.

/** Pairs of a window: sums of rows count at most twice as many, which fit bytes. */
constexpr int maxSortedPairs = 127;

/** A key is (sum << 7) | (difference / 2), for levels of 0 to 255: sum and difference are even or odd together, so that
 * the key determines both levels. */
constexpr int     sumShift = 7;
inline __device__ std::uint32_t
                  PairKey(int sum, int difference)
{
  return static_cast<std::uint32_t>(sum << sumShift | difference >> 1);
}
/** Where there is no pair, a key of its own: greater than all others, with a sum that no pair has. */
constexpr std::uint32_t noPair = 0xff80;

/** What the sums of t grow by, in shared memory. */
struct SortedKeySteps
{
  /** When a pair makes a cell c: t(c) - t(c - 1) in each of two cells, or t(c) - t(c - 2) in one of the diagonal. */
  struct __align__(16) Cell
  {
    std::int64_t besideDiagonal;
    std::int64_t onDiagonal;
  };
  static constexpr int numberOfTerms = 2 * maxSortedPairs + 1;
  static constexpr int numberOfSums = maxSortedPairs + 1;

  char * cells;
  char * sums; // t(n + 1) - t(n)

  /** From t(n) for n up to twice the number of pairs; by all threads of the block. */
  __device__ void
  Load(const std::int64_t * t, int maxPairs) const
  {
    for (int n = threadIdx.x; n < numberOfTerms; n += blockDim.x)
    {
      const bool isTerm = n <= 2 * maxPairs;
      reinterpret_cast<Cell *>(cells)[n] = { isTerm && n > 0 ? 2 * (t[n] - t[n - 1]) : 0,
                                             isTerm && n > 1 ? t[n] - t[n - 2] : 0 };
    }
    for (int n = threadIdx.x; n < numberOfSums; n += blockDim.x)
    {
      reinterpret_cast<std::int64_t *>(sums)[n] = n < maxPairs ? t[n + 1] - t[n] : 0;
    }
  }
};

/** Sorted keys, one after the other, in the low (0) or high (1) halves of words. */
template <int VHalf>
class SortedKeys
{
public:
  /** The word of the keys, and which bits of it differ from the word before. */
  __device__ __forceinline__ void
  Add(const SortedKeySteps & steps, std::uint32_t word, std::uint32_t changed)
  {
    constexpr int           shift = 16 * VHalf;
    constexpr std::uint32_t cellBits = 0xffffu << shift;
    constexpr std::uint32_t sumBits = noPair << shift;
    // The difference, and whether the sum is odd.
    constexpr std::uint32_t differenceBits = 0xffu << shift;

    const bool isOnDiagonal = (word & differenceBits) == 0;
    const int  next = m_Place + (isOnDiagonal ? 2 * cellStride : cellStride);
    const int  first = isOnDiagonal ? 2 * cellStride + diagonalPlace : cellStride;
    m_Place = (changed & cellBits) == 0 ? next : first;
    m_CellTerms += *reinterpret_cast<const std::int64_t *>(steps.cells + m_Place);
    m_Places += m_Place;
    m_MaxPlace = max(m_MaxPlace, m_Place);
    m_Sum = (changed & sumBits) == 0 ? m_Sum + sumStride : 0;
    m_SumTerms += *reinterpret_cast<const std::int64_t *>(steps.sums + m_Sum);
  }

  /** Store the sums of keys, of which some are pairs, and some of these on the diagonal. */
  __device__ void
  Get(const std::int64_t * terms, int keys, int pairs, int pairsOnDiagonal, int maxPairs, CooccurrenceSums & sums) const
  {
    const int others = keys - pairs;
    sums.cellTerms = m_CellTerms;
    sums.maximum = m_MaxPlace / cellStride;
    // The squares of two cells c grow by 4 c - 2, that of a cell of the diagonal by 4 c - 4. Each of the other keys is
    // a cell of its own off the diagonal, and all have the same sum.
    const int cells = (m_Places - pairsOnDiagonal * diagonalPlace) / cellStride;
    sums.cellSquares = 4 * (cells - others) - 2 * pairs - 2 * pairsOnDiagonal;
    sums.sumTerms = m_SumTerms - terms[min(others, maxPairs)];
  }

private:
  static constexpr int cellStride = sizeof(SortedKeySteps::Cell);
  static constexpr int sumStride = sizeof(std::int64_t);
  static constexpr int diagonalPlace = sizeof(std::int64_t);

  /** Place of the steps of the current cell c: c * cellStride, and diagonalPlace if it is on the diagonal. */
  int m_Place{ 0 };
  int m_Places{ 0 };
  int m_MaxPlace{ 0 };
  /** Place of the step of the current sum. */
  int          m_Sum{ 0 };
  std::int64_t m_CellTerms{ 0 };
  std::int64_t m_SumTerms{ 0 };
};

namespace
{
constexpr int lanesPerWarp = 32;
// Blocks of one warp per row of a tile. The warps of a block run the same part of the long code at about the same time,
// so large blocks are faster, if as many windows fit the shared memory of a multiprocessor.
constexpr int largeRows = 4;
constexpr int smallRows = 2;
// For 168 registers per thread.
constexpr int warpsPerMultiprocessor = 12;

template <int VRows>
using BlockTables = CudaThreadTables<VRows * lanesPerWarp>;

constexpr int maxLevels = 256;

/** Loads in flight before the first use, to hide latency. */
constexpr int batchPairs = 4;

/** Numbers of keys that there is a network for. */
constexpr __host__ __device__ int
NumberOfKeys(int pairs)
{
  return pairs <= 16    ? 16
         : pairs <= 32  ? 32
         : pairs <= 48  ? 48
         : pairs <= 64  ? 64
         : pairs <= 80  ? 80
         : pairs <= 100 ? 100
                        : 128;
}

/** Part of the pair list of an offset. */
struct __align__(16) OffsetPairs
{
  int begin;
  int number;
  /** From the first to the second voxel of a pair, in the tile. */
  int step;
  int unused;
};
constexpr int headerInts = sizeof(OffsetPairs) / sizeof(std::int32_t);

/** The least and the greatest level of a tile. */
struct LevelRange
{
  int first;
  int last;
};

/** How the output is cut into tiles, and shared memory into tables. */
struct PairsLayout
{
  CudaWindowTiles tiles;
  int             tileColumns;
  int             tileRows;
  int             tileVoxels;
  int             keyWords;
  int             countWords;
  /** Component of a feature among those of a direction, -1 if it is not selected. */
  int  components[CooccurrenceTask::maxFeatures];
  bool needsTerms;
  bool needsKeys;
  bool needsDifferences;

  PairsLayout(const CooccurrenceTask & task, int rows)
    : tiles(task, rows, 1)
    , tileColumns(lanesPerWarp + task.window[0] - 1)
    , tileRows(rows + task.window[1] - 1)
    , tileVoxels(tileColumns * tileRows * task.window[2])
    , keyWords(NumberOfKeys(static_cast<int>(task.maxPairs)))
    , countWords(BlockTables<1>::NumberOfWords<std::uint8_t>(task.numberOfGrayLevels + 1))
    , needsTerms(task.needsCells || task.needsSumCounts || task.needsDifferenceCounts)
    , needsKeys(task.needsCells || task.needsSumCounts)
    , needsDifferences(task.needsDifferenceCounts || task.needsWeights)
  {
    std::fill_n(components, CooccurrenceTask::maxFeatures, -1);
    for (int f = 0; f < task.numberOfFeatures; ++f)
    {
      components[static_cast<int>(task.features[f])] = f;
    }
  }
};

/** Features that need sorted keys. */
constexpr __host__ __device__ bool
UsesKeys(int feature)
{
  using Feature = CooccurrenceJob::Feature;
  switch (static_cast<Feature>(feature))
  {
    case Feature::InformationalMeasureOfCorrelation1:
    case Feature::InformationalMeasureOfCorrelation2:
    case Feature::JointEnergy:
    case Feature::JointEntropy:
    case Feature::MaximumProbability:
    case Feature::SumEntropy:
      return true;
    default:
      return false;
  }
}

/** Shared memory of a block. */
struct PairsMemory
{
  SortedKeySteps  keySteps;
  std::int64_t *  terms; // t(n)
  LevelRange *    range;
  std::uint16_t * tile;
  char *          tables;
  std::size_t     bytes;

  VOXELMAPS_HOST_DEVICE
  PairsMemory(const PairsLayout & layout, char * shared)
  {
    WorkspaceLayout workspace(shared, sizeof(std::int64_t));
    keySteps.cells = workspace.Append<char>(SortedKeySteps::numberOfTerms * sizeof(SortedKeySteps::Cell));
    keySteps.sums = workspace.Append<char>(SortedKeySteps::numberOfSums * sizeof(std::int64_t));
    terms = workspace.Append<std::int64_t>(SortedKeySteps::numberOfTerms);
    range = workspace.Append<LevelRange>(1);
    tile = workspace.Append<std::uint16_t>(layout.tileVoxels);
    tables = workspace.Append<char>(layout.tiles.rows * BlockTables<1>::Bytes(layout.keyWords + 2 * layout.countWords));
    bytes = workspace.Bytes();
  }

  __device__ void
  LoadSteps(const CooccurrenceTask & task, const PairsLayout & layout) const
  {
    const std::int64_t * const t = task.scales.entropyTable;
    const int                  maxPairs = layout.needsTerms ? static_cast<int>(task.maxPairs) : 0;
    keySteps.Load(t, maxPairs);
    for (int n = threadIdx.x; n < SortedKeySteps::numberOfTerms; n += blockDim.x)
    {
      terms[n] = n > 0 && n <= 2 * maxPairs ? t[n] : 0;
    }
  }

  /** Load the levels that the windows of the tile reach; start is the first output voxel. */
  __device__ void
  LoadTile(const CooccurrenceTask & task, const PairsLayout & layout, const std::int64_t (&start)[3]) const
  {
    int minLevel = maxLevels;
    int maxLevel = 1;
    ForEachTileLevel(task, start, layout.tileColumns, layout.tileRows, task.window[2], [&](int i, std::uint16_t level) {
      tile[i] = level;
      if (level != 0)
      {
        minLevel = min(minLevel, int{ level });
        maxLevel = max(maxLevel, int{ level });
      }
    });
    // By hand: the compiler reduces the values of a warp first.
    atomicMin(&range->first, minLevel);
    atomicMax(&range->last, maxLevel);
  }
};

template <typename TTables, int VNumber>
__device__ void
SortKeys(char * keys)
{
  std::uint32_t words[VNumber];
#pragma unroll
  for (int i = 0; i < VNumber; ++i)
  {
    words[i] = TTables::template At<std::uint32_t>(keys, i * TTables::wordStride);
  }
  SortHalves(words);
#pragma unroll
  for (int i = 0; i < VNumber; ++i)
  {
    TTables::template At<std::uint32_t>(keys, i * TTables::wordStride) = words[i];
  }
}

/** The pairs of an offset before they are sorted. */
struct CountedPairs
{
  int          number;
  int          onDiagonal;
  std::int64_t rowTerms;
};

/** One thread's work on one window. VAll: the averages of all features are wanted. */
template <typename TNumber, typename TDivision, int VRows, bool VAll>
class ThreadWindow
{
  using Tables = BlockTables<VRows>;

public:
  __device__
  ThreadWindow(const CooccurrenceTask & task, const PairsLayout & layout, const PairsMemory & memory,
               const std::int32_t * pairList)
    : m_Task(task)
    , m_Layout(layout)
    , m_Memory(memory)
    , m_PairList(pairList)
    , m_Range(*memory.range)
    , m_Window(memory.tile + threadIdx.x / lanesPerWarp * layout.tileColumns + threadIdx.x % lanesPerWarp)
    , m_Keys(Tables::ThreadTable(memory.tables, 0))
    , m_Differences(m_Keys + layout.keyWords * Tables::wordStride)
    , m_Rows(m_Differences + layout.countWords * Tables::wordStride)
  {}

  /** All lanes of a warp together; isStored indicates which of them have a voxel that is to be computed. */
  __device__ void
  Compute(std::int64_t out, bool isStored)
  {
    Tables::Clear(m_Differences, 2 * m_Layout.countWords);
    for (int first = 0; first < m_Task.numberOfOffsets; first += 2)
    {
      const bool   hasSecond = first + 1 < m_Task.numberOfOffsets;
      const int    keys = NumberOfKeys(max(this->Pairs(first).number, hasSecond ? this->Pairs(first + 1).number : 0));
      CountedPairs firstPairs{};
      CountedPairs secondPairs{};
#pragma unroll 1
      for (int half = 0; half < 2; ++half)
      {
        firstPairs = secondPairs;
        if (half == 1 && !hasSecond)
        {
          this->FillKeys(0, keys, half);
          break;
        }
        CooccurrenceSums sums{};
        secondPairs = this->AddPairs(this->Pairs(first + half), keys, half, sums);
        this->Evaluate<false>(
          sums, out + std::int64_t{ first + half } * m_Task.numberOfFeatures * m_Task.componentStride, isStored);
        m_Matrices += sums.pairs != 0 ? 1.0 : 0.0;
      }
      if (!VAll && !m_Layout.needsKeys)
      {
        continue;
      }
      this->Sort(keys);
      SortedKeys<0> firstKeys;
      SortedKeys<1> secondKeys;
      this->Scan(keys, firstKeys, secondKeys);
#pragma unroll 1
      for (int half = 0; half < (hasSecond ? 2 : 1); ++half)
      {
        const CountedPairs pairs = half == 0 ? firstPairs : secondPairs;
        const int          maxPairs = static_cast<int>(m_Task.maxPairs);
        CooccurrenceSums   sums{};
        sums.pairs = pairs.number;
        sums.rowTerms = pairs.rowTerms;
        half == 0 ? firstKeys.Get(m_Memory.terms, keys, pairs.number, pairs.onDiagonal, maxPairs, sums)
                  : secondKeys.Get(m_Memory.terms, keys, pairs.number, pairs.onDiagonal, maxPairs, sums);
        this->Evaluate<true>(
          sums, out + std::int64_t{ first + half } * m_Task.numberOfFeatures * m_Task.componentStride, isStored);
      }
    }
    if ((VAll || m_Task.aggregation != CooccurrenceJob::Aggregation::PerDirection) && isStored)
    {
      this->StoreAverages(out, std::make_integer_sequence<int, CooccurrenceTask::maxFeatures>());
    }
  }

private:
  __device__ OffsetPairs
  Pairs(int offset) const
  {
    const int4 header = __ldg(reinterpret_cast<const int4 *>(m_PairList) + offset);
    return { header.x, header.y, header.z, header.w };
  }

  __device__ void
  SetKey(int i, int half, std::uint32_t key)
  {
    Tables::template At<std::uint16_t>(m_Keys, i * Tables::wordStride + half * 2) = static_cast<std::uint16_t>(key);
  }
  __device__ void
  FillKeys(int begin, int end, int half)
  {
    for (int i = begin; i < end; ++i)
    {
      this->SetKey(i, half, noPair | static_cast<std::uint32_t>(i));
    }
  }

  /** One more of a byte, which does not overflow into the next one; nothing if there is no pair. */
  static __device__ void
  Count(char * counts, int i, bool isPair)
  {
    atomicAdd(reinterpret_cast<std::uint32_t *>(counts + i / 4 * Tables::wordStride),
              isPair ? 1u << (8 * (i % 4)) : 0u);
  }

  /** All sums of an offset but those of sorted keys. */
  __device__ CountedPairs
  AddPairs(const OffsetPairs & pairs, int keys, int half, CooccurrenceSums & sums)
  {
    const std::int32_t * const  list = m_PairList + pairs.begin;
    const std::uint16_t * const second = m_Window + pairs.step;
    const int                   center = static_cast<int>(m_Task.scales.center);
    const bool                  needsRows = VAll || m_Task.needsRows;
    const bool                  needsDifferences = VAll || m_Layout.needsDifferences;
    CountedPairs                counted{};
    // |v| < 256, so that the sum of 127 cubes fits 32 bits.
    int           firsts = 0;
    int           squares = 0;
    int           cubes = 0;
    std::uint64_t fourths = 0;
    int           differences = 0;
    int           differenceSquares = 0;
    for (int begin = 0; begin < pairs.number; begin += batchPairs)
    {
      // The list is padded to complete batches.
      const int4 at = __ldg(reinterpret_cast<const int4 *>(list + begin));
      const int  firstLevels[batchPairs] = { m_Window[at.x], m_Window[at.y], m_Window[at.z], m_Window[at.w] };
      const int  secondLevels[batchPairs] = { second[at.x], second[at.y], second[at.z], second[at.w] };
#pragma unroll
      for (int j = 0; j < batchPairs; ++j)
      {
        const int           i = begin + j;
        const int           a = firstLevels[j];
        const int           b = secondLevels[j];
        const bool          isPair = a != 0 && b != 0 && i < pairs.number;
        const int           sum = isPair ? a + b : center;
        const int           k = isPair ? abs(a - b) : 0;
        const int           v = sum - center;
        const auto          square = static_cast<std::uint32_t>(v * v);
        const std::uint32_t key = PairKey(sum - 2, k);
        counted.number += isPair ? 1 : 0;
        counted.onDiagonal += isPair && k == 0 ? 1 : 0;
        firsts += v;
        squares += static_cast<int>(square);
        cubes += static_cast<int>(square) * v;
        fourths += static_cast<std::uint64_t>(square) * square;
        differences += k;
        differenceSquares += k * k;
        this->SetKey(i, half, isPair ? key : noPair | static_cast<std::uint32_t>(i));
        if (needsDifferences)
        {
          Count(m_Differences, k, isPair);
        }
        if (needsRows)
        {
          Count(m_Rows, a, isPair);
          Count(m_Rows, b, isPair);
        }
      }
    }
    this->FillKeys(pairs.number, keys, half);
    sums.pairs = counted.number;
    sums.sums = firsts;
    sums.sumSquares = squares;
    sums.sumCubes = cubes;
    sums.sumFourths = static_cast<std::int64_t>(fourths);
    sums.differences = differences;
    sums.differenceSquares = differenceSquares;
    sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
    if (needsDifferences)
    {
      this->TakeDifferences(sums);
    }
    if (needsRows)
    {
      counted.rowTerms = this->TakeRows();
    }
    return counted;
  }

  /** Read and clear the counts of differences. */
  __device__ void
  TakeDifferences(CooccurrenceSums & sums)
  {
    const int lastWord = (m_Range.last - m_Range.first) / 4;
    for (int word = 0; word <= lastWord; ++word)
    {
      std::uint32_t & four = Tables::template At<std::uint32_t>(m_Differences, word * Tables::wordStride);
      std::uint32_t   counts = four;
      four = 0;
      for (int k = 4 * word; counts != 0; ++k, counts >>= 8)
      {
        const std::uint32_t count = counts & 0xffu;
        if (count == 0)
        {
          continue;
        }
        sums.differenceTerms += m_Memory.terms[count];
        if (VAll || m_Task.needsWeights)
        {
          const std::int64_t * const weights = m_Task.weights + k * NumberOfCooccurrenceWeights;
#pragma unroll
          for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
          {
            sums.weights[w] += static_cast<std::int64_t>(count) * __ldg(weights + w);
          }
        }
      }
    }
  }

  __device__ std::int64_t
             TakeRows()
  {
    std::int64_t sum = 0;
    for (int word = m_Range.first / 4; word <= m_Range.last / 4; ++word)
    {
      std::uint32_t &     four = Tables::template At<std::uint32_t>(m_Rows, word * Tables::wordStride);
      const std::uint32_t counts = four;
      four = 0;
      if (counts != 0)
      {
        sum += m_Memory.terms[counts & 0xffu] + m_Memory.terms[counts >> 8 & 0xffu] +
               m_Memory.terms[counts >> 16 & 0xffu] + m_Memory.terms[counts >> 24];
      }
    }
    return sum;
  }

  __device__ void
  Sort(int keys)
  {
    switch (keys)
    {
      case 16:
        return SortKeys<Tables, 16>(m_Keys);
      case 32:
        return SortKeys<Tables, 32>(m_Keys);
      case 48:
        return SortKeys<Tables, 48>(m_Keys);
      case 64:
        return SortKeys<Tables, 64>(m_Keys);
      case 80:
        return SortKeys<Tables, 80>(m_Keys);
      case 100:
        return SortKeys<Tables, 100>(m_Keys);
      default:
        return SortKeys<Tables, 128>(m_Keys);
    }
  }

  __device__ void
  Scan(int keys, SortedKeys<0> & firstKeys, SortedKeys<1> & secondKeys) const
  {
    std::uint32_t before = ~Tables::template At<std::uint32_t>(m_Keys, 0);
#pragma unroll 4
    for (int i = 0; i < keys; ++i)
    {
      const std::uint32_t word = Tables::template At<std::uint32_t>(m_Keys, i * Tables::wordStride);
      firstKeys.Add(m_Memory.keySteps, word, word ^ before);
      secondKeys.Add(m_Memory.keySteps, word, word ^ before);
      before = word;
    }
  }

  /** Add the features of one matrix to the averages, or store them. */
  template <bool VUsesKeys>
  __device__ void
  Evaluate(const CooccurrenceSums & sums, std::int64_t out, bool isStored)
  {
    const CooccurrenceDivisors<TDivision> divisors(sums.pairs);
    this->EvaluateFeatures<VUsesKeys>(
      sums, divisors, out, isStored, std::make_integer_sequence<int, CooccurrenceTask::maxFeatures>());
  }
  template <bool VUsesKeys, int... VFeatures>
  __device__ void
  EvaluateFeatures(const CooccurrenceSums & sums, const CooccurrenceDivisors<TDivision> & divisors, std::int64_t out,
                   bool isStored, std::integer_sequence<int, VFeatures...>)
  {
    (this->EvaluateFeature<VUsesKeys, VFeatures>(sums, divisors, out, isStored), ...);
  }
  template <bool VUsesKeys, int VFeature>
  __device__ void
  EvaluateFeature(const CooccurrenceSums & sums, const CooccurrenceDivisors<TDivision> & divisors, std::int64_t out,
                  bool isStored)
  {
    if constexpr (UsesKeys(VFeature) == VUsesKeys)
    {
      constexpr auto feature = static_cast<CooccurrenceJob::Feature>(VFeature);
      if constexpr (VAll)
      {
        // Without branches, so that features do not wait for each other.
        const double value = CooccurrenceFeatureValue<TNumber, TDivision>(feature, sums, divisors, m_Task.scales);
        m_Averages[VFeature] += sums.pairs != 0 ? value : 0.0;
      }
      else if (m_Layout.components[VFeature] >= 0)
      {
        double value = m_Task.emptyValue;
        if (sums.pairs != 0)
        {
          value = CooccurrenceFeatureValue<TNumber, TDivision>(feature, sums, divisors, m_Task.scales);
          m_Averages[VFeature] += value;
        }
        if (m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection && isStored)
        {
          StoreComponentOrNaN(m_Task, out, m_Layout.components[VFeature], value);
        }
      }
    }
  }
  template <int... VFeatures>
  __device__ void
  StoreAverages(std::int64_t out, std::integer_sequence<int, VFeatures...>) const
  {
    const auto store = [&](int component, double total) {
      if (component >= 0)
      {
        StoreComponentOrNaN(m_Task, out, component, m_Matrices > 0.0 ? total / m_Matrices : m_Task.emptyValue);
      }
    };
    (store(m_Layout.components[VFeatures], m_Averages[VFeatures]), ...);
  }

  const CooccurrenceTask & m_Task;
  const PairsLayout &      m_Layout;
  const PairsMemory &      m_Memory;
  const std::int32_t *     m_PairList;
  const LevelRange         m_Range;
  const std::uint16_t *    m_Window;
  char *                   m_Keys;
  char *                   m_Differences;
  char *                   m_Rows;
  double                   m_Matrices{ 0.0 };
  double                   m_Averages[CooccurrenceTask::maxFeatures]{};
};

template <typename TNumber, typename TDivision, int VRows, bool VAll>
__global__ void
__launch_bounds__(VRows * lanesPerWarp, warpsPerMultiprocessor / VRows)
  SortedPairsKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ PairsLayout layout,
                    const std::int32_t * __restrict__ pairList, const std::uint8_t * __restrict__ marks,
                    std::int64_t firstTile)
{
  extern __shared__ __align__(16) char shared[];
  const PairsMemory                    memory(layout, shared);
  std::int64_t                         start[3];
  layout.tiles.GetStart(firstTile + blockIdx.x, start);
  const std::int64_t voxel[3] = { start[0] + threadIdx.x % lanesPerWarp,
                                  start[1] + threadIdx.x / lanesPerWarp,
                                  start[2] };
  const bool         isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
  const std::int64_t number = (voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0];
  const bool isComputed = isOutput && (marks != nullptr ? marks[number] != 0 : WindowBox(task, voxel).isComputed);
  if (marks != nullptr && __syncthreads_or(isComputed) == 0)
  {
    return;
  }
  if (threadIdx.x == 0)
  {
    *memory.range = { maxLevels, 1 };
  }
  __syncthreads();
  memory.LoadSteps(task, layout);
  memory.LoadTile(task, layout, start);
  __syncthreads();

  const std::int64_t out = number * task.voxelStride;
  if (marks == nullptr && isOutput && !isComputed)
  {
    StoreBackground(task, number);
  }
  if (__any_sync(0xffffffffu, isComputed))
  {
    ThreadWindow<TNumber, TDivision, VRows, VAll> window(task, layout, memory, pairList);
    window.Compute(out, isComputed);
  }
}

/** Whether the averages of all features are wanted. */
bool
WantsAll(const CooccurrenceTask & task)
{
  return task.numberOfFeatures == CooccurrenceTask::maxFeatures &&
         task.aggregation != CooccurrenceJob::Aggregation::PerDirection;
}

/** Number of warps that a multiprocessor runs at a time, with so many in a block. */
int
CountWarps(const CooccurrenceTask & task, int rows, const CudaDeviceLimits & limits)
{
  constexpr std::size_t reservedBytes = 1024; // by the system, for each block
  const std::size_t     bytes = PairsMemory(PairsLayout(task, rows), nullptr).bytes;
  const std::size_t     blocks = (limits.maxSharedMemoryPerBlock + reservedBytes) / (bytes + reservedBytes);
  return std::min(static_cast<int>(blocks) * rows, warpsPerMultiprocessor);
}

/** Rows of a block: small blocks where large ones do not fit, or half as many warps again run at a time, which is with
 * more than 200 levels in 5 x 5 x 5. */
int
ChooseRows(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  const int small = CountWarps(task, smallRows, limits);
  const int large = CountWarps(task, largeRows, limits);
  return 2 * small >= 3 * large ? smallRows : largeRows;
}

template <typename TNumber, typename TDivision, int VRows, bool VAll>
void
Launch(const CooccurrenceTask & task, const std::int32_t * pairList, const std::uint8_t * marks,
       const CudaMethodResources & resources)
{
  constexpr int     threads = VRows * lanesPerWarp;
  const PairsLayout layout(task, VRows);
  const std::size_t bytes = PairsMemory(layout, nullptr).bytes;
  const auto        kernel = SortedPairsKernel<TNumber, TDivision, VRows, VAll>;
  AllowSharedMemory(kernel, bytes);

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partPairs = std::int64_t{ 1 } << 33;
  const std::int64_t     tilePairs = static_cast<std::int64_t>(task.maxPairs) * task.numberOfOffsets * threads;
  const std::int64_t     part = std::max<std::int64_t>(partPairs / tilePairs, 1);
  LaunchChunked(layout.tiles.Number(),
                part,
                resources,
                "starting the kernel of SortedPairs",
                [&](std::int64_t first, std::int64_t end) {
                  kernel<<<static_cast<unsigned int>(end - first), threads, bytes, resources.stream>>>(
                    task, layout, pairList, marks, first);
                });
}

template <typename TNumber, typename TDivision, int VRows>
void
LaunchRows(const CooccurrenceTask & task, const std::int32_t * pairList, const std::uint8_t * marks,
           const CudaMethodResources & resources)
{
  WantsAll(task) ? Launch<TNumber, TDivision, VRows, true>(task, pairList, marks, resources)
                 : Launch<TNumber, TDivision, VRows, false>(task, pairList, marks, resources);
}

template <typename TNumber, typename TDivision>
void
LaunchNumber(const CooccurrenceTask & task, const std::int32_t * pairList, const std::uint8_t * marks,
             const CudaMethodResources & resources)
{
  ChooseRows(task, GetCudaDeviceLimits()) == largeRows
    ? LaunchRows<TNumber, TDivision, largeRows>(task, pairList, marks, resources)
    : LaunchRows<TNumber, TDivision, smallRows>(task, pairList, marks, resources);
}

/** Whether the stages of few levels are faster than sorting, if the tiles have few levels. Measured on an H100: a cube
 * of 64^3 voxels, 5 x 5 x 5, 0.8 instead of 1.7 ms; 3 x 3 x 3 only gains a tenth, and 3 x 3 nothing. */
bool
UsesTiles(const CooccurrenceTask & task)
{
  if (task.maxPairs <= 16 || !CudaFewLevelTilesSupports(task, GetCudaDeviceLimits()))
  {
    return false;
  }
  const std::int64_t tilesPerMultiprocessor =
    task.maxPairs <= 32 ? PolicyValue("glcm.small_tiles", 32) : PolicyValue("glcm.tiles", 4);
  const CudaTileRows rows = GetCudaTileRows(task);
  return rows.number * rows.tiles >= tilesPerMultiprocessor * GetCudaDeviceLimits().numberOfMultiprocessors;
}

/** Rows of tiles that take less than a tenth of a second, so that an abort is quick. */
std::int64_t
PartTileRows(const CooccurrenceTask & task)
{
  constexpr std::int64_t partWindows = std::int64_t{ 1 } << 23;
  return std::max<std::int64_t>(partWindows / (GetCudaTileRows(task).windowRows * task.outputSize[0]), 1);
}

/** Bytes of the marks, one for each window. */
std::uint64_t
MarkBytes(const CooccurrenceTask & task)
{
  constexpr std::uint64_t alignment = 256;
  return (NumberOfVoxels(task.outputSize) / alignment + 1) * alignment;
}
std::uint64_t
TileScratchBytes(const CooccurrenceTask & task)
{
  const CudaTileRows rows = GetCudaTileRows(task);
  return CudaFewLevelTilesScratchBytes(std::min(rows.number, PartTileRows(task)) * rows.tiles);
}
} // namespace

bool
CudaSortedPairsSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  return task.scales.symmetric && task.OffsetsPerMatrix() == 1 && task.numberOfGrayLevels <= maxLevels &&
         task.maxPairs <= maxSortedPairs && task.arithmetic != CooccurrenceArithmetic::Bits256 && !task.wideMoments &&
         !task.wideWeights &&
         PairsMemory(PairsLayout(task, ChooseRows(task, limits)), nullptr).bytes <= limits.maxSharedMemoryPerBlock;
}

std::vector<std::int32_t>
MakeCudaPairList(const CooccurrenceTask & hostTask)
{
  const PairsLayout         layout(hostTask, ChooseRows(hostTask, GetCudaDeviceLimits()));
  std::vector<std::int32_t> list(static_cast<std::size_t>(hostTask.numberOfOffsets) * headerInts);
  const auto inTile = [&layout](int x, int y, int z) { return (z * layout.tileRows + y) * layout.tileColumns + x; };
  for (int offset = 0; offset < hostTask.numberOfOffsets; ++offset)
  {
    const auto &      step = hostTask.offsets[offset].step;
    const PairBox     pairs(hostTask.offsets[offset], hostTask.window);
    const std::size_t first = list.size();
    static_assert(headerInts % 4 == 0 && batchPairs == 4, "batches are read as vectors");
    for (int z = 0; z < pairs.size[2]; ++z)
    {
      for (int y = 0; y < pairs.size[1]; ++y)
      {
        for (int x = 0; x < pairs.size[0]; ++x)
        {
          list.push_back(inTile(pairs.begin[0] + x, pairs.begin[1] + y, pairs.begin[2] + z));
        }
      }
    }
    std::int32_t * const header = &list[static_cast<std::size_t>(offset) * headerInts];
    header[0] = static_cast<std::int32_t>(first);
    header[1] = static_cast<std::int32_t>(list.size() - first);
    header[2] = inTile(step[0], step[1], step[2]);
    while (list.size() % batchPairs != 0)
    {
      list.push_back(list.back());
    }
  }
  return list;
}

CudaScratchBytes
CudaSortedPairsScratchBytes(const CooccurrenceTask & task)
{
  const std::uint64_t bytes = UsesTiles(task) ? MarkBytes(task) + TileScratchBytes(task) : 0;
  return { bytes, bytes };
}

void
ComputeByCudaSortedPairs(const CooccurrenceTask & task, const std::int32_t * pairList,
                         const CudaMethodResources & resources)
{
  std::uint8_t * marks = nullptr;
  if (UsesTiles(task))
  {
    constexpr const char * doing = "starting the kernel of tiles";
    marks = static_cast<std::uint8_t *>(resources.scratch);
    CheckCuda(cudaMemsetAsync(marks, 0, MarkBytes(task), resources.stream), doing);
    const CudaTileRows tileRows = GetCudaTileRows(task);
    LaunchChunked(tileRows.number, PartTileRows(task), resources, doing, [&](std::int64_t first, std::int64_t end) {
      LaunchCudaFewLevelTiles(task, first, end, { nullptr, 0, marks }, marks + MarkBytes(task), resources.stream);
    });
  }
  if (task.arithmetic == CooccurrenceArithmetic::Double)
  {
    LaunchNumber<double, FusedDivision<double, DoubleArithmetic>>(task, pairList, marks, resources);
  }
  else
  {
    LaunchNumber<WideInteger<2>, PlainDivision<double>>(task, pairList, marks, resources);
  }
}
} // namespace voxelmaps
