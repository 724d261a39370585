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
// Windows whose levels span at most 16, as most windows of medical images do. A warp counts the pairs of one matrix of
// 32 windows side by side, a lane the matrix of its window, in a table of its own in shared memory, by level from the
// least of the window on. All loops over a table are unrolled, so that levels, their sums and differences are
// constants, and the counts of these stay in registers. The warps of a block share the voxels of the windows, and
// average the features of their matrices at the end.
#include "CudaCooccurrenceMethods.h"
#include "CudaRankedWindows.cuh"
#include "texture/cuda/CudaParts.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace voxelmaps
{
namespace
{
constexpr int          lanesPerWarp = 32;
constexpr int          maxWarps = 13;
constexpr unsigned int allLanes = 0xffffffffu;

/** Levels of a window, from its least one on. */
#ifndef LEVELS
#  define LEVELS 16
#endif
constexpr int numberOfLevels = LEVELS;
constexpr int maxDifference = numberOfLevels - 1;
constexpr int numberOfCells = TriangleRow(numberOfLevels);

/** Where a voxel has no level: beyond the levels of every window. */
constexpr std::uint16_t noLevel = 0xffff;
constexpr int           maxLevel = 0xffff - numberOfLevels;

// So that the fourth power of the number of pairs is below maxFusedDivisor, and counts of levels fit 16 bits.
constexpr std::uint64_t maxTablePairs = 2047;

/** How the output is cut into tiles of 32 columns, and the shared memory of a block. */
struct NarrowLayout
{
  int          matrices; // of a window
  int          rows;     // of a tile
  int          warps;
  int          tileColumns;
  int          tileRows;
  int          tileVoxels;
  int          terms;
  int          cellWords; // of a table
  unsigned int tilesX;
  unsigned int tilesY;
  /** Component of a feature among those of a matrix, -1 if it is not selected. */
  int components[CooccurrenceTask::maxFeatures];

  // Parts of the shared memory, in bytes.
  int weightsBegin;
  int rangesBegin;
  int tileBegin;
  int tablesBegin;
  int bytes;

  NarrowLayout(const CooccurrenceTask & task, int countBytes)
    : matrices(task.numberOfOffsets / task.OffsetsPerMatrix())
    , rows(matrices == 1 ? 8 : std::max(1, (maxWarps - 1) / matrices))
    , warps(rows * matrices)
    , tileColumns(lanesPerWarp + task.window[0] - 1)
    , tileRows(rows + task.window[1] - 1)
    , tileVoxels(tileColumns * tileRows * task.window[2])
    , terms(2 * static_cast<int>(task.maxPairs) + 1)
    , cellWords((numberOfCells + 1) * countBytes / 4 + 1)
    , tilesX(static_cast<unsigned int>((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp))
    , tilesY(static_cast<unsigned int>((task.outputSize[1] + rows - 1) / rows))
  {
    std::fill_n(components, CooccurrenceTask::maxFeatures, -1);
    for (int f = 0; f < task.numberOfFeatures; ++f)
    {
      components[static_cast<int>(task.features[f])] = f;
    }
    const int windows = rows * lanesPerWarp;
    weightsBegin = terms * static_cast<int>(sizeof(std::int64_t));
    rangesBegin = weightsBegin + numberOfLevels * NumberOfCooccurrenceWeights * static_cast<int>(sizeof(std::int64_t));
    tileBegin = rangesBegin + 2 * windows * static_cast<int>(sizeof(int));
    tablesBegin = tileBegin + (tileVoxels * static_cast<int>(sizeof(std::uint16_t)) + 7) / 8 * 8;
    // The features of the matrices, and whether these have pairs, are in place of the tables later.
    const int values = task.aggregation == CooccurrenceJob::Aggregation::PerDirection ? 0 : task.numberOfFeatures + 1;
    bytes = tablesBegin +
            warps * lanesPerWarp *
              std::max(cellWords * static_cast<int>(sizeof(std::uint32_t)), values * static_cast<int>(sizeof(double)));
  }
};

constexpr __host__ __device__ int
CellRow(int cell)
{
  int row = 0;
  while (TriangleRow(row + 1) <= cell)
  {
    ++row;
  }
  return row;
}

/** Counts of 16 bits in registers; all indices are constants. */
template <int VNumber>
struct PackedCounts
{
  std::uint32_t words[(VNumber + 1) / 2]{};

  template <int VIndex>
  __device__ void
  Add(std::uint32_t n)
  {
    words[VIndex / 2] += n << (VIndex % 2 * 16);
  }
  template <int VIndex>
  __device__ std::uint32_t
             Get() const
  {
    return words[VIndex / 2] >> (VIndex % 2 * 16) & 0xffffu;
  }
};

/** The sums over the cells of a table. */
class TableSums
{
public:
  __device__ explicit TableSums(const std::int64_t * terms)
    : m_Terms(terms)
  {}

  /** Add the cells of a word of the table. */
  template <typename TCount, int VWord>
  __device__ void
  AddWord(std::uint32_t word)
  {
    constexpr int perWord = 4 / static_cast<int>(sizeof(TCount));
    this->AddCells<VWord * perWord>(word,
                                    std::integral_constant<int, 8 * static_cast<int>(sizeof(TCount))>(),
                                    std::make_integer_sequence<int, perWord>());
  }

  /** The sums of a symmetric matrix with levels up to maxLevel from the least one on. */
  __device__ void
  Get(int maxLevel, const std::int64_t * weights, CooccurrenceSums & sums) const
  {
    Sums32 s{};
    this->AddSums(maxLevel, s, sums, std::make_integer_sequence<int, 2 * numberOfLevels - 1>());
    this->AddDifferences(maxLevel, weights, s, sums, std::make_integer_sequence<int, numberOfLevels>());
    sums.pairs = s.pairs;
    sums.sums = s.first;
    sums.sumSquares = s.second;
    sums.sumCubes = s.third;
    sums.sumFourths = s.fourth;
    sums.differences = s.differences;
    sums.differenceSquares = s.differenceSquares;
    sums.cellTerms = 2 * m_BesideDiagonal + m_OnDiagonal;
    sums.cellSquares = m_Squares;
    sums.maximum = m_Maximum;
  }

private:
  /** |v| <= 15 and at most 2047 pairs: all sums fit 32 bits. */
  struct Sums32
  {
    int pairs;
    int first;
    int second;
    int third;
    int fourth;
    int differences;
    int differenceSquares;
  };

  template <int VFirst, int VBits, int... VIndices>
  __device__ void
  AddCells(std::uint32_t word, std::integral_constant<int, VBits>, std::integer_sequence<int, VIndices...>)
  {
    constexpr std::uint32_t mask = (1u << VBits) - 1u;
    (this->AddCell<VFirst + VIndices>(word >> (VIndices * VBits) & mask), ...);
  }
  template <int VCell>
  __device__ void
  AddCell(std::uint32_t n)
  {
    constexpr int i = CellRow(VCell);
    constexpr int j = VCell - TriangleRow(i);
    if constexpr (i == j)
    {
      const std::uint32_t cell = 2 * n;
      m_OnDiagonal += m_Terms[cell];
      m_Squares += cell * cell;
      m_Maximum = max(m_Maximum, cell);
      m_Rows.Add<i>(cell);
    }
    else
    {
      m_BesideDiagonal += m_Terms[n];
      m_Squares += 2 * n * n;
      m_Maximum = max(m_Maximum, n);
      m_Rows.Add<i>(n);
      m_Rows.Add<j>(n);
    }
    m_Sums.Add<i + j>(n);
    m_Differences.Add<i - j>(n);
  }

  template <int... VSums>
  __device__ void
  AddSums(int maxLevel, Sums32 & s, CooccurrenceSums & sums, std::integer_sequence<int, VSums...>) const
  {
    (void)((VSums <= 2 * maxLevel && (this->AddSum<VSums>(s, sums), true)) && ...);
  }
  template <int VSum>
  __device__ void
  AddSum(Sums32 & s, CooccurrenceSums & sums) const
  {
    constexpr int v = VSum - maxDifference;
    const auto    n = static_cast<int>(m_Sums.Get<VSum>());
    s.first += n * v;
    s.second += n * (v * v);
    s.third += n * (v * v * v);
    s.fourth += n * (v * v * v * v);
    sums.sumTerms += m_Terms[n];
  }

  template <int... VDifferences>
  __device__ void
  AddDifferences(int maxLevel, const std::int64_t * weights, Sums32 & s, CooccurrenceSums & sums,
                 std::integer_sequence<int, VDifferences...>) const
  {
    (void)((VDifferences <= maxLevel && (this->AddDifference<VDifferences>(weights, s, sums), true)) && ...);
  }
  /** Also the row of the level with this number. */
  template <int VDifference>
  __device__ void
  AddDifference(const std::int64_t * weights, Sums32 & s, CooccurrenceSums & sums) const
  {
    const auto n = static_cast<int>(m_Differences.Get<VDifference>());
    s.pairs += n;
    s.differences += n * VDifference;
    s.differenceSquares += n * (VDifference * VDifference);
    sums.differenceTerms += m_Terms[n];
    sums.rowTerms += m_Terms[m_Rows.Get<VDifference>()];
#pragma unroll
    for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
    {
      const auto weight = static_cast<std::uint64_t>(weights[VDifference * NumberOfCooccurrenceWeights + w]);
      sums.weights[w] += static_cast<std::int64_t>(std::uint64_t{ static_cast<std::uint32_t>(n) } * weight);
    }
  }

  const std::int64_t * const       m_Terms;
  PackedCounts<numberOfLevels>     m_Rows;
  PackedCounts<2 * numberOfLevels> m_Sums;
  PackedCounts<numberOfLevels>     m_Differences;
  std::int64_t                     m_OnDiagonal{ 0 };
  std::int64_t                     m_BesideDiagonal{ 0 };
  std::uint32_t                    m_Squares{ 0 };
  std::uint32_t                    m_Maximum{ 0 };
};

/** The work of a thread. */
template <typename TCount, typename TNumber>
class NarrowBlock
{
  using Division = FusedDivision<double, DoubleArithmetic>;

public:
  __device__
  NarrowBlock(const CooccurrenceTask & task, const NarrowLayout & layout, char * shared, unsigned int tileRow)
    : m_Task(task)
    , m_Layout(layout)
    , m_Terms(reinterpret_cast<std::int64_t *>(shared))
    , m_Weights(reinterpret_cast<std::int64_t *>(shared + layout.weightsBegin))
    , m_Least(reinterpret_cast<int *>(shared + layout.rangesBegin))
    , m_Range(m_Least + layout.rows * lanesPerWarp)
    , m_Tile(reinterpret_cast<std::uint16_t *>(shared + layout.tileBegin))
    , m_Tables(shared + layout.tablesBegin)
    , m_Lane(static_cast<int>(threadIdx.x) % lanesPerWarp)
    , m_Warp(static_cast<int>(threadIdx.x) / lanesPerWarp)
    , m_Row(m_Warp / layout.matrices)
    , m_Matrix(m_Warp - m_Row * layout.matrices)
  {
    const unsigned int plane = tileRow / layout.tilesY;
    m_Start[0] = std::int64_t{ blockIdx.y } * lanesPerWarp;
    m_Start[1] = std::int64_t{ tileRow - plane * layout.tilesY } * layout.rows;
    m_Start[2] = plane;
  }

  __device__ void
  Compute(const CudaOtherWindows & others)
  {
    this->LoadTables();
    this->LoadTile();
    __syncthreads();
    this->FindRanges();
    __syncthreads();
    const int          window = m_Row * lanesPerWarp + m_Lane;
    const std::int64_t voxel[3] = { m_Start[0] + m_Lane, m_Start[1] + m_Row, m_Start[2] };
    const std::int64_t number = this->Number(m_Row, m_Lane);
    // One warp of a row decides for all.
    const bool isOutput = m_Matrix == 0 && voxel[0] < m_Task.outputSize[0] && voxel[1] < m_Task.outputSize[1];
    const bool isComputed = isOutput && WindowBox(m_Task, voxel).isComputed;
    bool       isNarrow = isComputed && m_Range[window] - m_Least[window] <= maxDifference;
    const int  narrowWindows = __syncthreads_count(isNarrow);
    const int  wideWindows = __syncthreads_count(isComputed && !isNarrow);
    const bool isUsed = narrowWindows != 0 && others.IsUsed(narrowWindows, wideWindows);
    isNarrow = isNarrow && isUsed;
    if (isOutput)
    {
      if (!isComputed)
      {
        for (int c = 0; c < m_Task.numberOfComponents; ++c)
        {
          StoreComponentOrNaN(m_Task, number * m_Task.voxelStride, c, m_Task.backgroundValue);
        }
      }
      others.Add(number, isComputed && !isNarrow);
    }
    if (!isUsed)
    {
      return;
    }
    if (m_Matrix == 0)
    {
      m_Range[window] = isNarrow ? m_Range[window] - m_Least[window] : notNarrow;
    }
    __syncthreads();

    isNarrow = m_Range[window] != notNarrow;
    const int        maxLevel = MaxOfWarp(m_Range[window]);
    CooccurrenceSums sums{};
    if (maxLevel >= 0)
    {
      this->CountPairs(static_cast<unsigned int>(m_Least[window]));
      this->SumTable(maxLevel, sums);
    }
    CooccurrenceScales scales = m_Task.scales;
    scales.center = 2 * std::int64_t{ m_Least[window] } + maxDifference;
    if (m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection)
    {
      if (isNarrow)
      {
        const std::int64_t first = std::int64_t{ m_Matrix } * m_Task.numberOfFeatures;
        this->ForEachFeature(sums, scales, [&](int component, double value) {
          StoreComponentOrNaN(
            m_Task, number * m_Task.voxelStride, first + component, sums.pairs != 0 ? value : m_Task.emptyValue);
        });
      }
      return;
    }
    // The tables have been read.
    __syncthreads();
    this->Value(m_Task.numberOfFeatures, m_Warp) = sums.pairs != 0 ? 1.0 : 0.0;
    this->ForEachFeature(sums, scales, [&](int component, double value) {
      this->Value(component, m_Warp) = sums.pairs != 0 ? value : 0.0;
    });
    __syncthreads();
    this->StoreAverages();
  }

private:
  static constexpr int notNarrow = -1;

  /** Number of the output voxel in a row and column of the tile. */
  __device__ std::int64_t
             Number(int row, int column) const
  {
    return (m_Start[2] * m_Task.outputSize[1] + m_Start[1] + row) * m_Task.outputSize[0] + m_Start[0] + column;
  }

  static __device__ int
  MaxOfWarp(int value)
  {
    for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
    {
      value = max(value, __shfl_xor_sync(allLanes, value, offset));
    }
    return value;
  }

  __device__ void
  LoadTables() const
  {
    const std::int64_t * const terms = m_Task.scales.entropyTable;
    for (int n = threadIdx.x; n < m_Layout.terms; n += blockDim.x)
    {
      m_Terms[n] = terms != nullptr ? terms[n] : 0;
    }
    for (int i = threadIdx.x; i < numberOfLevels * NumberOfCooccurrenceWeights; i += blockDim.x)
    {
      const bool isWeight = m_Task.weights != nullptr && i / NumberOfCooccurrenceWeights < m_Task.numberOfGrayLevels;
      m_Weights[i] = isWeight ? m_Task.weights[i] : 0;
    }
    for (int i = threadIdx.x; i < m_Layout.rows * lanesPerWarp; i += blockDim.x)
    {
      m_Least[i] = noLevel;
      m_Range[i] = 0;
    }
  }

  __device__ void
  LoadTile() const
  {
    const std::int64_t first[3] = { m_Start[0] + m_Task.outputToLevels[0] - m_Task.anchor[0],
                                    m_Start[1] + m_Task.outputToLevels[1] - m_Task.anchor[1],
                                    m_Start[2] + m_Task.outputToLevels[2] - m_Task.anchor[2] };
    const int          rows = m_Layout.tileRows * m_Task.window[2];
    for (int row = m_Warp; row < rows; row += m_Layout.warps)
    {
      const int                   plane = row / m_Layout.tileRows;
      const std::int64_t          y = first[1] + row - plane * m_Layout.tileRows;
      const std::int64_t          z = first[2] + plane;
      const bool                  isInside = y >= 0 && y < m_Task.levelsSize[1] && z >= 0 && z < m_Task.levelsSize[2];
      const std::uint16_t * const levels = m_Task.levels + m_Task.LevelOffset(first[0], y, z);
      for (int i = m_Lane; i < m_Layout.tileColumns; i += lanesPerWarp)
      {
        const std::int64_t  x = first[0] + i;
        const std::uint16_t level = isInside && x >= 0 && x < m_Task.levelsSize[0] ? levels[i] : std::uint16_t{ 0 };
        m_Tile[row * m_Layout.tileColumns + i] = level != 0 ? level : noLevel;
      }
    }
  }

  /** Find the least level of all windows, and the greatest, in place of the range; the warps share their rows. */
  __device__ void
  FindRanges() const
  {
    for (int windowRow = 0; windowRow < m_Layout.rows; ++windowRow)
    {
      for (int row = m_Warp; row < m_Task.window[1] * m_Task.window[2]; row += m_Layout.warps)
      {
        const int                   z = row / m_Task.window[1];
        const int                   y = row - z * m_Task.window[1] + windowRow;
        const std::uint16_t * const levels = m_Tile + (z * m_Layout.tileRows + y) * m_Layout.tileColumns + m_Lane;
        int                         least = noLevel;
        int                         greatest = 0;
#pragma unroll 4
        for (int x = 0; x < m_Task.window[0]; ++x)
        {
          const int level = levels[x];
          least = min(least, level);
          greatest = max(greatest, level == noLevel ? 0 : level);
        }
        atomicMin(m_Least + windowRow * lanesPerWarp + m_Lane, least);
        atomicMax(m_Range + windowRow * lanesPerWarp + m_Lane, greatest);
      }
    }
  }

  /** Count the pairs of the matrix of this warp, from the least level of the window on. */
  __device__ void
  CountPairs(unsigned int least) const
  {
    char * const table = m_Tables + threadIdx.x * 4;
    const int    wordStride = m_Layout.warps * lanesPerWarp * 4;
    for (int word = 0; word < m_Layout.cellWords; ++word)
    {
      *reinterpret_cast<std::uint32_t *>(table + word * wordStride) = 0;
    }
    const int offsets = m_Task.OffsetsPerMatrix();
    for (int offset = m_Matrix * offsets; offset < (m_Matrix + 1) * offsets; ++offset)
    {
      // Rows of usual lengths have loops without a counter.
      switch (m_Task.window[0] - abs(m_Task.offsets[offset].step[0]))
      {
        case 3:
          this->CountRows<3>(table, least, offset);
          break;
        case 4:
          this->CountRows<4>(table, least, offset);
          break;
        case 5:
          this->CountRows<5>(table, least, offset);
          break;
        case 6:
          this->CountRows<6>(table, least, offset);
          break;
        case 7:
          this->CountRows<7>(table, least, offset);
          break;
        default:
          this->CountRows<0>(table, least, offset);
          break;
      }
    }
  }
  /** VLength is the length of the rows, or 0. */
  template <int VLength>
  __device__ void
  CountRows(char * table, unsigned int least, int offset) const
  {
    const auto & step = m_Task.offsets[offset].step;
    int          begin[3];
    int          size[3];
    for (int d = 0; d < 3; ++d)
    {
      begin[d] = max(-step[d], 0);
      size[d] = m_Task.window[d] - abs(step[d]);
    }
    const int toSecond = (step[2] * m_Layout.tileRows + step[1]) * m_Layout.tileColumns + step[0];
    int       plane = (begin[2] * m_Layout.tileRows + m_Row + begin[1]) * m_Layout.tileColumns + begin[0] + m_Lane;
    for (int z = 0; z < size[2]; ++z, plane += m_Layout.tileRows * m_Layout.tileColumns)
    {
      const std::uint16_t * row = m_Tile + plane;
      for (int y = 0; y < size[1]; ++y, row += m_Layout.tileColumns)
      {
        if constexpr (VLength > 0)
        {
          unsigned int first[VLength];
          unsigned int second[VLength];
#pragma unroll
          for (int x = 0; x < VLength; ++x)
          {
            first[x] = row[x];
            second[x] = row[x + toSecond];
          }
#pragma unroll
          for (int x = 0; x < VLength; ++x)
          {
            this->CountPair(table, first[x] - least, second[x] - least);
          }
        }
        else
        {
          for (int x = 0; x < size[0]; ++x)
          {
            this->CountPair(table, row[x] - least, row[x + toSecond] - least);
          }
        }
      }
    }
  }
  __device__ void
  CountPair(char * table, unsigned int a, unsigned int b) const
  {
    constexpr unsigned int perWord = 4 / static_cast<unsigned int>(sizeof(TCount));
    const unsigned int     wordStride = static_cast<unsigned int>(m_Layout.warps) * (lanesPerWarp * 4);
    const unsigned int     i = max(a, b);
    // The cell behind all others counts pairs without level; windows that are not narrow must not reach beyond it. The
    // product fits 32 bits: both factors are at most 2^16.
    const unsigned int cell = min((i * (i + 1)) / 2 + min(a, b), static_cast<unsigned int>(numberOfCells));
    ++*reinterpret_cast<TCount *>(table + cell / perWord * wordStride + cell % perWord * sizeof(TCount));
  }

  __device__ void
  SumTable(int maxLevel, CooccurrenceSums & sums) const
  {
    TableSums tableSums(m_Terms);
    this->AddWords(
      maxLevel, tableSums, std::make_integer_sequence<int, numberOfCells * static_cast<int>(sizeof(TCount)) / 4>());
    tableSums.Get(maxLevel, m_Weights, sums);
    sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
  }
  template <int... VWords>
  __device__ void
  AddWords(int maxLevel, TableSums & tableSums, std::integer_sequence<int, VWords...>) const
  {
    constexpr int      perWord = 4 / static_cast<int>(sizeof(TCount));
    const int          cells = TriangleRow(maxLevel + 1);
    const char * const table = m_Tables + threadIdx.x * 4;
    const int          wordStride = m_Layout.warps * lanesPerWarp * 4;
    const auto         add = [&](auto number) {
      const std::uint32_t word = *reinterpret_cast<const std::uint32_t *>(table + number.value * wordStride);
      if (word != 0)
      {
        tableSums.AddWord<TCount, number.value>(word);
      }
      return true;
    };
    (void)((VWords * perWord < cells && add(std::integral_constant<int, VWords>())) && ...);
  }

  /** Call f(component, value) for the selected features of a matrix with pairs. */
  template <typename TFunction>
  __device__ void
  ForEachFeature(const CooccurrenceSums & sums, const CooccurrenceScales & scales, const TFunction & f) const
  {
    const CooccurrenceDivisors<Division> divisors(sums.pairs);
    this->EvaluateFeatures(sums, divisors, scales, f, std::make_integer_sequence<int, CooccurrenceTask::maxFeatures>());
  }
  template <typename TFunction, int... VFeatures>
  __device__ void
  EvaluateFeatures(const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
                   const CooccurrenceScales & scales, const TFunction & f,
                   std::integer_sequence<int, VFeatures...>) const
  {
    const auto evaluate = [&](auto feature) {
      const int component = m_Layout.components[feature.value];
      if (component >= 0)
      {
        f(component,
          CooccurrenceFeatureValue<TNumber, Division>(
            static_cast<CooccurrenceJob::Feature>(feature.value), sums, divisors, scales));
      }
    };
    (evaluate(std::integral_constant<int, VFeatures>()), ...);
  }

  __device__ double &
  Value(int component, int warp) const
  {
    return reinterpret_cast<double *>(m_Tables)[(component * m_Layout.warps + warp) * lanesPerWarp + m_Lane];
  }

  /** The warps share the components. */
  __device__ void
  StoreAverages() const
  {
    for (int row = 0; row < m_Layout.rows; ++row)
    {
      if (m_Range[row * lanesPerWarp + m_Lane] == notNarrow)
      {
        continue;
      }
      const std::int64_t out = this->Number(row, m_Lane) * m_Task.voxelStride;
      const auto         sumMatrices = [this, row](int component) {
        // Features of matrices without pairs are 0 here.
        double total = 0.0;
        for (int matrix = 0; matrix < m_Layout.matrices; ++matrix)
        {
          total += this->Value(component, row * m_Layout.matrices + matrix);
        }
        return total;
      };
      const double matrices = sumMatrices(m_Task.numberOfFeatures);
      const auto   divisor = Division::By(matrices);
      for (int component = m_Warp; component < m_Task.numberOfFeatures; component += m_Layout.warps)
      {
        const double total = sumMatrices(component);
        StoreComponentOrNaN(
          m_Task, out, component, matrices > 0.0 ? Division::Quotient(total, divisor) : m_Task.emptyValue);
      }
    }
  }

  const CooccurrenceTask & m_Task;
  const NarrowLayout &     m_Layout;
  std::int64_t * const     m_Terms;
  std::int64_t * const     m_Weights;
  int * const              m_Least;
  int * const              m_Range;
  std::uint16_t * const    m_Tile;
  char * const             m_Tables;
  const int                m_Lane;
  const int                m_Warp;
  const int                m_Row;
  const int                m_Matrix;
  std::int64_t             m_Start[3];
};

template <typename TCount, typename TNumber>
__global__ void
__launch_bounds__(maxWarps * lanesPerWarp, LEVELS > 20 ? 1 : 2)
  NarrowWindowsKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ NarrowLayout layout,
                      const __grid_constant__ CudaOtherWindows others, unsigned int firstTileRow)
{
  extern __shared__ __align__(16) char shared[];
  NarrowBlock<TCount, TNumber>         block(task, layout, shared, firstTileRow + blockIdx.x);
  block.Compute(others);
}

/** Whether bytes hold all counts of cells. */
bool
HasByteCounts(const CooccurrenceTask & task)
{
  return task.maxPairs <= 0xff;
}

NarrowLayout
MakeLayout(const CooccurrenceTask & task)
{
  return NarrowLayout(task, HasByteCounts(task) ? 1 : 2);
}

/** Whether doubles hold all integers of the formulas, as CooccurrencePlan decides for all levels. */
bool
HasSmallNumbers(const CooccurrenceTask & task)
{
  constexpr double differenceFourth = double{ maxDifference } * maxDifference * maxDifference * maxDifference;
  const auto       pairs = static_cast<double>(task.maxPairs);
  const double     pairsCubed = pairs * pairs * pairs;
  return std::max(4.0 * pairsCubed * pairs, 6.0 * pairsCubed) * differenceFourth <= 0x1p53;
}
} // namespace

bool
CudaNarrowWindowsSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  // What a grid can have at most.
  constexpr std::int64_t maxColumns = std::int64_t{ 65535 } * lanesPerWarp;
  constexpr std::int64_t maxRows = 0x7fffffff;
  return task.outputSize[0] <= maxColumns &&
         task.outputSize[1] <= maxRows / std::max<std::int64_t>(task.outputSize[2], 1) && task.scales.symmetric &&
         !task.wideWeights && task.maxPairs <= maxTablePairs && task.numberOfGrayLevels <= maxLevel &&
         task.numberOfOffsets / task.OffsetsPerMatrix() <= maxWarps &&
         static_cast<std::size_t>(MakeLayout(task).bytes) <= limits.maxSharedMemoryPerBlock;
}

CudaTileRows
GetCudaNarrowTileRows(const CooccurrenceTask & task)
{
  const NarrowLayout layout = MakeLayout(task);
  return { layout.tilesY, layout.rows, std::int64_t{ layout.tilesY } * task.outputSize[2] };
}

void
LaunchCudaNarrowWindows(const CooccurrenceTask & task, std::int64_t firstRow, std::int64_t endRow,
                        const CudaOtherWindows & others, cudaStream_t stream)
{
  const NarrowLayout layout = MakeLayout(task);
  const auto         bytes = static_cast<std::size_t>(layout.bytes);
  const auto         start = [&](auto kernel) {
    AllowSharedMemory(kernel, bytes);
    const dim3 blocks(static_cast<unsigned int>(endRow - firstRow), layout.tilesX);
    kernel<<<blocks, layout.warps * lanesPerWarp, bytes, stream>>>(
      task, layout, others, static_cast<unsigned int>(firstRow));
  };
  if (HasByteCounts(task))
  {
    HasSmallNumbers(task) ? start(NarrowWindowsKernel<std::uint8_t, double>)
                          : start(NarrowWindowsKernel<std::uint8_t, WideInteger<2>>);
  }
  else
  {
    HasSmallNumbers(task) ? start(NarrowWindowsKernel<std::uint16_t, double>)
                          : start(NarrowWindowsKernel<std::uint16_t, WideInteger<2>>);
  }
}
} // namespace voxelmaps
