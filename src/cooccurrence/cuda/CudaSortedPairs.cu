/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
// A thread computes one window. The pairs of an offset become keys of 16 bits from which all counts of cells and of
// sums of levels follow once they are sorted: equal cells are neighbors then, and so are equal sums. A sorting network
// sorts the keys of two offsets at once, in registers, whatever the number of levels. Sums of rows and differences of
// levels, which are few, are counted in tables of bytes. doc/cooccurrence-engine.md
#include "CudaCooccurrenceMethods.h"
#include "CudaSortingNetwork.cuh"
#include "texture/CudaThreadTables.cuh"
#include "texture/WindowBox.h"

#include <algorithm>
#include <utility>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
constexpr int rowsPerBlock = 2;
constexpr int threadsPerBlock = lanesPerWarp * rowsPerBlock;
// For 168 registers per thread.
constexpr int blocksPerMultiprocessor = 6;
using Tables = CudaThreadTables<threadsPerBlock>;

/** Sums of rows count at most 2 * 127 pairs, which fit bytes. */
constexpr int maxPairsOfOffset = 127;

/** A key is (u << 7) | (k / 2), where u = a + b - 2 and k = |a - b| are even or odd together, so that the key tells
 * both levels. */
constexpr int maxLevels = 256;
constexpr int sumShift = 7;
/** Where there is no pair, a key of its own: greater than all others, with a sum that no pair has. */
constexpr std::uint32_t noPair = 0xff80;

/** What the pair n + 1 of a cell adds. */
struct __align__(16) CellStep
{
  std::int64_t terms;
  std::int32_t squares;
  /** The cell with this pair. */
  std::int32_t cell;
};

constexpr int maxSteps = maxPairsOfOffset + 1;
/** Steps of cells beside the diagonal, which are two cells with n pairs each, then those of the diagonal with 2 n. */
constexpr int numberOfCellSteps = 2 * maxSteps;
constexpr int numberOfTerms = 2 * maxSteps;

/** Numbers of keys that there is a network for. */
__host__ constexpr __device__ int
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
struct OffsetPairs
{
  int begin;
  int number;
  /** From the first to the second voxel of a pair, in the tile. */
  int step;
};
constexpr int headerInts = sizeof(OffsetPairs) / sizeof(std::int32_t);

/** How the output is cut into tiles, and shared memory into tables. */
struct PairsLayout
{
  int          tileColumns;
  int          tileRows;
  int          tileVoxels;
  int          wordsOfKeys;
  int          wordsOfCounts;
  std::int64_t tilesX;
  std::int64_t tilesY;
  /** Component of a feature among those of a direction, -1 if it is not selected. */
  int  components[CooccurrenceTask::maxFeatures];
  bool needsTerms;
  bool needsKeys;
  bool needsDifferences;

  PairsLayout() = default;
  explicit PairsLayout(const CooccurrenceTask & task)
    : tileColumns(lanesPerWarp + task.window[0] - 1)
    , tileRows(rowsPerBlock + task.window[1] - 1)
    , tileVoxels(tileColumns * tileRows * task.window[2])
    , wordsOfKeys(NumberOfKeys(static_cast<int>(task.maxPairs)))
    , wordsOfCounts(Tables::NumberOfWords<std::uint8_t>(task.numberOfGrayLevels))
    , tilesX((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp)
    , tilesY((task.outputSize[1] + rowsPerBlock - 1) / rowsPerBlock)
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
  std::size_t
  SharedBytes() const
  {
    constexpr std::size_t ofBlock = numberOfCellSteps * sizeof(CellStep) + (maxSteps + numberOfTerms) * 8;
    return ofBlock + RoundedTileBytes() + Tables::Bytes(wordsOfKeys + 2 * wordsOfCounts);
  }
  VOXELMAPS_HOST_DEVICE std::size_t
                        RoundedTileBytes() const
  {
    return (static_cast<std::size_t>(tileVoxels) * sizeof(std::uint16_t) + 15) / 16 * 16;
  }
};

/** Features that need sorted keys. */
__host__ constexpr __device__ bool
IsOfKeys(int feature)
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
  CellStep *      cellSteps;
  std::int64_t *  sumSteps; // t(n + 1) - t(n)
  std::int64_t *  terms;    // t(n)
  std::uint16_t * tile;
  char *          tables;

  __device__
  PairsMemory(const PairsLayout & layout, char * shared)
    : cellSteps(reinterpret_cast<CellStep *>(shared))
    , sumSteps(reinterpret_cast<std::int64_t *>(cellSteps + numberOfCellSteps))
    , terms(sumSteps + maxSteps)
    , tile(reinterpret_cast<std::uint16_t *>(terms + numberOfTerms))
    , tables(reinterpret_cast<char *>(tile) + layout.RoundedTileBytes())
  {}

  __device__ void
  LoadSteps(const CooccurrenceTask & task, const PairsLayout & layout) const
  {
    const std::int64_t * const t = task.scales.entropyTable;
    const int                  pairs = layout.needsTerms ? static_cast<int>(task.maxPairs) : -1;
    for (int n = threadIdx.x; n < maxSteps; n += threadsPerBlock)
    {
      const bool isCount = n < pairs;
      cellSteps[n] = { isCount ? 2 * (t[n + 1] - t[n]) : 0, 4 * n + 2, n + 1 };
      cellSteps[maxSteps + n] = { isCount ? t[2 * n + 2] - t[2 * n] : 0, 8 * n + 4, 2 * n + 2 };
      sumSteps[n] = isCount ? t[n + 1] - t[n] : 0;
    }
    for (int n = threadIdx.x; n < numberOfTerms; n += threadsPerBlock)
    {
      terms[n] = n <= 2 * pairs ? t[n] : 0;
    }
  }

  /** Load the levels that the windows of the tile reach; start is the first output voxel. */
  __device__ void
  LoadTile(const CooccurrenceTask & task, const PairsLayout & layout, const std::int64_t (&start)[3], int & minLevel,
           int & maxLevel) const
  {
    for (int i = threadIdx.x; i < layout.tileVoxels; i += threadsPerBlock)
    {
      const int          row = i / layout.tileColumns;
      const int          plane = row / layout.tileRows;
      const std::int64_t x = start[0] + i - row * layout.tileColumns + task.outputToLevels[0] - task.anchor[0];
      const std::int64_t y = start[1] + row - plane * layout.tileRows + task.outputToLevels[1] - task.anchor[1];
      const std::int64_t z = start[2] + plane + task.outputToLevels[2] - task.anchor[2];
      int                level = 0;
      if (x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2])
      {
        level = task.levels[task.LevelOffset(x, y, z)];
      }
      tile[i] = static_cast<std::uint16_t>(level);
      if (level != 0)
      {
        minLevel = min(minLevel, level);
        maxLevel = max(maxLevel, level);
      }
    }
  }
};

/** Which levels, from 0 on, occur in a tile. */
struct LevelRange
{
  int first;
  int last;
};

/** The sorted keys of one of two offsets, one after the other. */
template <int VHalf>
class SortedKeys
{
public:
  /** The word of the keys, and which bits of it differ from the word before. */
  __device__ void
  Add(const PairsMemory & memory, std::uint32_t word, std::uint32_t changed)
  {
    constexpr int           shift = 16 * VHalf;
    constexpr std::uint32_t cellBits = 0xffffu << shift;
    constexpr std::uint32_t sumBits = noPair << shift;
    // Even sums without difference.
    constexpr std::uint32_t offDiagonalBits = 0xffu << shift;
    constexpr int           diagonal = maxSteps;
    m_Cell = (changed & cellBits) == 0 ? m_Cell + 1 : (word & offDiagonalBits) == 0 ? diagonal : 0;
    m_Sum = (changed & sumBits) == 0 ? m_Sum + 1 : 0;
    const CellStep step = memory.cellSteps[m_Cell];
    m_CellTerms += step.terms;
    m_CellSquares += step.squares;
    m_Maximum = max(m_Maximum, step.cell);
    m_SumTerms += memory.sumSteps[m_Sum];
  }

  /** Of so many keys, of which so many are pairs. */
  __device__ void
  Get(const PairsMemory & memory, int keys, int pairs, int maxPairs, CooccurrenceSums & sums) const
  {
    const int others = keys - pairs;
    // Each of the others is a cell of its own beside the diagonal, and all have the same sum.
    sums.cellTerms = m_CellTerms;
    sums.cellSquares = m_CellSquares - 2 * others;
    sums.maximum = m_Maximum;
    sums.sumTerms = m_SumTerms - memory.terms[min(others, maxPairs)];
  }

private:
  int          m_Cell{ 0 };
  int          m_Sum{ 0 };
  std::int64_t m_CellTerms{ 0 };
  std::int64_t m_SumTerms{ 0 };
  std::int32_t m_CellSquares{ 0 };
  std::int32_t m_Maximum{ 0 };
};

template <int VNumber>
__device__ void
SortKeys(char * keys)
{
  std::uint32_t words[VNumber];
#pragma unroll
  for (int i = 0; i < VNumber; ++i)
  {
    words[i] = Tables::At<std::uint32_t>(keys, i * Tables::wordStride);
  }
  SortHalves(words);
#pragma unroll
  for (int i = 0; i < VNumber; ++i)
  {
    Tables::At<std::uint32_t>(keys, i * Tables::wordStride) = words[i];
  }
}

/** One thread's work on one window. */
template <typename TNumber, typename TDivision>
class WindowOfThread
{
public:
  __device__
  WindowOfThread(const CooccurrenceTask & task, const PairsLayout & layout, const PairsMemory & memory,
                 const std::int32_t * pairList, const LevelRange & range)
    : m_Task(task)
    , m_Layout(layout)
    , m_Memory(memory)
    , m_PairList(pairList)
    , m_Range(range)
    , m_Window(memory.tile + threadIdx.x / lanesPerWarp * layout.tileColumns + threadIdx.x % lanesPerWarp)
    , m_Keys(Tables::OfThread(memory.tables, 0))
    , m_Differences(m_Keys + layout.wordsOfKeys * Tables::wordStride)
    , m_Rows(m_Differences + layout.wordsOfCounts * Tables::wordStride)
  {}

  /** All lanes of a warp together; isStored tells which of them have a voxel that is to be computed. */
  __device__ void
  Compute(std::int64_t out, bool isStored)
  {
    Tables::Clear(m_Differences, 2 * m_Layout.wordsOfCounts);
    for (int first = 0; first < m_Task.numberOfOffsets; first += 2)
    {
      const bool   hasSecond = first + 1 < m_Task.numberOfOffsets;
      int          keys = NumberOfKeys(max(this->Pairs(first).number, hasSecond ? this->Pairs(first + 1).number : 0));
      int          pairsOfFirst = 0;
      int          pairsOfSecond = 0;
      std::int64_t rowTermsOfFirst = 0;
      std::int64_t rowTermsOfSecond = 0;
#pragma unroll 1
      for (int half = 0; half < 2; ++half)
      {
        if (half == 1)
        {
          pairsOfFirst = pairsOfSecond;
          rowTermsOfFirst = rowTermsOfSecond;
        }
        if (half == 1 && !hasSecond)
        {
          this->FillKeys(0, keys, half);
          break;
        }
        CooccurrenceSums sums{};
        this->AddPairs(this->Pairs(first + half), keys, half, sums);
        pairsOfSecond = static_cast<int>(sums.pairs);
        rowTermsOfSecond = sums.rowTerms;
        this->Evaluate<false>(sums, out + std::int64_t{ first + half } * m_Task.numberOfFeatures, isStored);
        m_Matrices += sums.pairs != 0 ? 1.0 : 0.0;
      }
      if (!m_Layout.needsKeys)
      {
        continue;
      }
      this->Sort(keys);
      SortedKeys<0> ofFirst;
      SortedKeys<1> ofSecond;
      this->Scan(keys, ofFirst, ofSecond);
      const int maxPairs = static_cast<int>(m_Task.maxPairs);
#pragma unroll 1
      for (int half = 0; half < (hasSecond ? 2 : 1); ++half)
      {
        CooccurrenceSums sums{};
        sums.pairs = half == 0 ? pairsOfFirst : pairsOfSecond;
        sums.rowTerms = half == 0 ? rowTermsOfFirst : rowTermsOfSecond;
        half == 0 ? ofFirst.Get(m_Memory, keys, pairsOfFirst, maxPairs, sums)
                  : ofSecond.Get(m_Memory, keys, pairsOfSecond, maxPairs, sums);
        this->Evaluate<true>(sums, out + std::int64_t{ first + half } * m_Task.numberOfFeatures, isStored);
      }
    }
    if (m_Task.aggregation != CooccurrenceJob::Aggregation::PerDirection && isStored)
    {
      this->StoreAverages(out, std::make_integer_sequence<int, CooccurrenceTask::maxFeatures>());
    }
  }

private:
  __device__ OffsetPairs
  Pairs(int offset) const
  {
    const std::int32_t * const header = m_PairList + offset * headerInts;
    return { __ldg(header), __ldg(header + 1), __ldg(header + 2) };
  }

  __device__ void
  SetKey(int i, int half, std::uint32_t key)
  {
    Tables::At<std::uint16_t>(m_Keys, i * Tables::wordStride + half * 2) = static_cast<std::uint16_t>(key);
  }
  __device__ void
  FillKeys(int begin, int end, int half)
  {
    for (int i = begin; i < end; ++i)
    {
      this->SetKey(i, half, noPair | static_cast<std::uint32_t>(i));
    }
  }

  /** One more of a byte; the byte does not overflow into the next one. */
  static __device__ void
  Count(char * counts, int i)
  {
    atomicAdd(reinterpret_cast<std::uint32_t *>(counts + i / 4 * Tables::wordStride), 1u << (8 * (i % 4)));
  }

  /** All sums of an offset but those of sorted keys. */
  __device__ void
  AddPairs(const OffsetPairs & pairs, int keys, int half, CooccurrenceSums & sums)
  {
    const std::int32_t * const  list = m_PairList + pairs.begin;
    const std::uint16_t * const second = m_Window + pairs.step;
    const int                   center = static_cast<int>(m_Task.scales.center);
    const bool                  needsRows = m_Task.needsRows;
    const bool                  needsDifferences = m_Layout.needsDifferences;
    int                         number = 0;
    // |v| < 256, so that the sum of 127 cubes fits 32 bits.
    int           firsts = 0;
    int           squares = 0;
    int           cubes = 0;
    std::uint64_t fourths = 0;
    int           differences = 0;
    int           differenceSquares = 0;
#pragma unroll 4
    for (int i = 0; i < pairs.number; ++i)
    {
      const int  at = __ldg(list + i);
      const int  a = m_Window[at];
      const int  b = second[at];
      const bool isPair = a != 0 && b != 0;
      const int  sum = isPair ? a + b : center;
      const int  k = isPair ? abs(a - b) : 0;
      const int  v = sum - center;
      const auto square = static_cast<std::uint32_t>(v * v);
      const auto key = static_cast<std::uint32_t>((sum - 2) << sumShift | k >> 1);
      number += isPair ? 1 : 0;
      firsts += v;
      squares += static_cast<int>(square);
      cubes += static_cast<int>(square) * v;
      fourths += static_cast<std::uint64_t>(square) * square;
      differences += k;
      differenceSquares += k * k;
      this->SetKey(i, half, isPair ? key : noPair | static_cast<std::uint32_t>(i));
      if (isPair)
      {
        if (needsDifferences)
        {
          Count(m_Differences, k);
        }
        if (needsRows)
        {
          Count(m_Rows, a - 1);
          Count(m_Rows, b - 1);
        }
      }
    }
    this->FillKeys(pairs.number, keys, half);
    sums.pairs = number;
    sums.sums = firsts;
    sums.sumSquares = squares;
    sums.sumCubes = cubes;
    sums.sumFourths = static_cast<std::int64_t>(fourths);
    sums.differences = differences;
    sums.differenceSquares = differenceSquares;
    if (needsDifferences)
    {
      this->TakeDifferences(sums);
    }
    if (needsRows)
    {
      sums.rowTerms = this->TakeRows();
    }
  }

  /** Read and clear the counts of differences. */
  __device__ void
  TakeDifferences(CooccurrenceSums & sums)
  {
    const int lastWord = (m_Range.last - m_Range.first) / 4;
    for (int word = 0; word <= lastWord; ++word)
    {
      std::uint32_t & four = Tables::At<std::uint32_t>(m_Differences, word * Tables::wordStride);
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
        if (m_Task.needsWeights)
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
      std::uint32_t &     four = Tables::At<std::uint32_t>(m_Rows, word * Tables::wordStride);
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
        return SortKeys<16>(m_Keys);
      case 32:
        return SortKeys<32>(m_Keys);
      case 48:
        return SortKeys<48>(m_Keys);
      case 64:
        return SortKeys<64>(m_Keys);
      case 80:
        return SortKeys<80>(m_Keys);
      case 100:
        return SortKeys<100>(m_Keys);
      default:
        return SortKeys<128>(m_Keys);
    }
  }

  __device__ void
  Scan(int keys, SortedKeys<0> & ofFirst, SortedKeys<1> & ofSecond) const
  {
    std::uint32_t before = ~Tables::At<std::uint32_t>(m_Keys, 0);
#pragma unroll 4
    for (int i = 0; i < keys; ++i)
    {
      const std::uint32_t word = Tables::At<std::uint32_t>(m_Keys, i * Tables::wordStride);
      ofFirst.Add(m_Memory, word, word ^ before);
      ofSecond.Add(m_Memory, word, word ^ before);
      before = word;
    }
  }

  /** Add the features of one matrix to the averages, or store them. */
  template <bool VOfKeys>
  __device__ void
  Evaluate(const CooccurrenceSums & sums, std::int64_t out, bool isStored)
  {
    const CooccurrenceDivisors<TDivision> divisors(sums.pairs);
    this->EvaluateFeatures<VOfKeys>(
      sums, divisors, out, isStored, std::make_integer_sequence<int, CooccurrenceTask::maxFeatures>());
  }
  template <bool VOfKeys, int... VFeatures>
  __device__ void
  EvaluateFeatures(const CooccurrenceSums & sums, const CooccurrenceDivisors<TDivision> & divisors, std::int64_t out,
                   bool isStored, std::integer_sequence<int, VFeatures...>)
  {
    (this->EvaluateFeature<VOfKeys, VFeatures>(sums, divisors, out, isStored), ...);
  }
  template <bool VOfKeys, int VFeature>
  __device__ void
  EvaluateFeature(const CooccurrenceSums & sums, const CooccurrenceDivisors<TDivision> & divisors, std::int64_t out,
                  bool isStored)
  {
    if constexpr (IsOfKeys(VFeature) == VOfKeys)
    {
      if (m_Layout.components[VFeature] >= 0)
      {
        double value = m_Task.emptyValue;
        if (sums.pairs != 0)
        {
          value = CooccurrenceFeatureValue<TNumber, TDivision>(
            static_cast<CooccurrenceJob::Feature>(VFeature), sums, divisors, m_Task.scales);
          m_Averages[VFeature] += value;
        }
        if (m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection && isStored)
        {
          StoreComponentOrNaN(m_Task, out + m_Layout.components[VFeature], value);
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
        StoreComponentOrNaN(m_Task, out + component, m_Matrices > 0.0 ? total / m_Matrices : m_Task.emptyValue);
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

template <typename TNumber, typename TDivision>
__global__ void
__launch_bounds__(threadsPerBlock, blocksPerMultiprocessor)
  SortedPairsKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ PairsLayout layout,
                    const std::int32_t * __restrict__ pairList, std::int64_t                           firstTile)
{
  extern __shared__ __align__(16) char shared[];
  __shared__ int                       minLevel;
  __shared__ int                       maxLevel;
  const PairsMemory                    memory(layout, shared);
  const std::int64_t                   tile = firstTile + blockIdx.x;
  const std::int64_t                   tileRow = tile / layout.tilesX;
  const std::int64_t                   tilePlane = tileRow / layout.tilesY;
  const std::int64_t                   start[3] = { (tile - tileRow * layout.tilesX) * lanesPerWarp,
                                                    (tileRow - tilePlane * layout.tilesY) * rowsPerBlock,
                                                    tilePlane };
  if (threadIdx.x == 0)
  {
    minLevel = maxLevels;
    maxLevel = 1;
  }
  __syncthreads();
  int minOfThread = maxLevels;
  int maxOfThread = 1;
  memory.LoadSteps(task, layout);
  memory.LoadTile(task, layout, start, minOfThread, maxOfThread);
  atomicMin(&minLevel, minOfThread);
  atomicMax(&maxLevel, maxOfThread);
  __syncthreads();

  const std::int64_t voxel[3] = { start[0] + threadIdx.x % lanesPerWarp,
                                  start[1] + threadIdx.x / lanesPerWarp,
                                  start[2] };
  const bool         isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
  const bool         isComputed = isOutput && WindowBox(task, voxel).isComputed;
  const std::int64_t out =
    ((voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0]) * task.numberOfComponents;
  if (isOutput && !isComputed)
  {
    for (int c = 0; c < task.numberOfComponents; ++c)
    {
      StoreComponentOrNaN(task, out + c, task.backgroundValue);
    }
  }
  if (__any_sync(0xffffffffu, isComputed))
  {
    WindowOfThread<TNumber, TDivision> window(task, layout, memory, pairList, LevelRange{ minLevel - 1, maxLevel - 1 });
    window.Compute(out, isComputed);
  }
}

template <typename TNumber, typename TDivision>
void
Launch(const CooccurrenceTask & task, const std::int32_t * pairList, const CudaMethodResources & resources)
{
  const PairsLayout layout(task);
  const std::size_t bytes = layout.SharedBytes();
  const auto        kernel = SortedPairsKernel<TNumber, TDivision>;
  AllowSharedMemory(kernel, bytes);

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t pairsOfPart = std::int64_t{ 1 } << 33;
  const std::int64_t pairsOfTile = static_cast<std::int64_t>(task.maxPairs) * task.numberOfOffsets * threadsPerBlock;
  const std::int64_t tiles = layout.tilesX * layout.tilesY * task.outputSize[2];
  const std::int64_t part = std::max<std::int64_t>(pairsOfPart / pairsOfTile, 1);
  for (std::int64_t first = 0; first < tiles; first += part)
  {
    const std::int64_t end = std::min(tiles, first + part);
    kernel<<<static_cast<unsigned int>(end - first), threadsPerBlock, bytes, resources.stream>>>(
      task, layout, pairList, first);
    CheckLaunch("starting the kernel of SortedPairs");
    if (end < tiles)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
    }
  }
}
} // namespace

bool
CudaSortedPairsTakes(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  return task.scales.symmetric && task.OffsetsPerMatrix() == 1 && task.numberOfGrayLevels <= maxLevels &&
         task.maxPairs <= maxPairsOfOffset && task.arithmetic != CooccurrenceArithmetic::Bits256 && !task.wideMoments &&
         !task.wideWeights && PairsLayout(task).SharedBytes() <= limits.maxSharedMemoryPerBlock;
}

std::vector<std::int32_t>
MakeCudaPairList(const CooccurrenceTask & taskOfHost)
{
  const PairsLayout         layout(taskOfHost);
  std::vector<std::int32_t> list(static_cast<std::size_t>(taskOfHost.numberOfOffsets) * headerInts);
  const auto inTile = [&layout](int x, int y, int z) { return (z * layout.tileRows + y) * layout.tileColumns + x; };
  for (int offset = 0; offset < taskOfHost.numberOfOffsets; ++offset)
  {
    const auto & step = taskOfHost.offsets[offset].step;
    int          begin[3];
    int          end[3];
    for (int d = 0; d < 3; ++d)
    {
      begin[d] = std::max(-step[d], 0);
      end[d] = taskOfHost.window[d] - std::max(step[d], 0);
    }
    const std::size_t first = list.size();
    for (int z = begin[2]; z < end[2]; ++z)
    {
      for (int y = begin[1]; y < end[1]; ++y)
      {
        for (int x = begin[0]; x < end[0]; ++x)
        {
          list.push_back(inTile(x, y, z));
        }
      }
    }
    std::int32_t * const header = &list[static_cast<std::size_t>(offset) * headerInts];
    header[0] = static_cast<std::int32_t>(first);
    header[1] = static_cast<std::int32_t>(list.size() - first);
    header[2] = inTile(step[0], step[1], step[2]);
  }
  return list;
}

void
ComputeByCudaSortedPairs(const CooccurrenceTask & task, const std::int32_t * pairList,
                         const CudaMethodResources & resources)
{
  if (task.arithmetic == CooccurrenceArithmetic::Double)
  {
    Launch<double, FusedDivision<double, DoubleArithmetic>>(task, pairList, resources);
  }
  else
  {
    Launch<WideInteger<2>, PlainDivision<double>>(task, pairList, resources);
  }
}
} // namespace voxelmaps
} // namespace itk
