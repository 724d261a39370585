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

/** Levels of a window, from its least one on; and those of the second stage, whose tables leave room for half as many
 * warps. */
constexpr int fewLevels = 16;
constexpr int moreLevels = 24;

/** Where a voxel has no level: beyond the levels of every window. */
constexpr std::uint16_t noLevel = 0xffff;
constexpr int           maxLevel = 0xffff - moreLevels;

// So that the fourth power of the number of pairs is below maxFusedDivisor, and counts of levels fit 16 bits.
constexpr std::uint64_t maxTablePairs = 2047;

/** Features that are averaged at a time, while the next ones are computed. */
constexpr int featuresAtATime = 6;
static_assert(CooccurrenceTask::maxFeatures % featuresAtATime == 0, "all groups of features have as many");

/** How the output is cut into tiles of 32 columns, and the shared memory of a block. */
struct NarrowLayout
{
  int          matrices; // of a window
  int          groups;   // of rows of a tile, each with warps of its own
  int          steps;    // rows of a group, one after the other
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
  int valuesBegin;
  int pairsBegin;
  int tileBegin;
  int tablesBegin;
  int bytes;

  NarrowLayout(const CooccurrenceTask & task, int levels, int countBytes)
    : matrices(task.numberOfOffsets / task.OffsetsPerMatrix())
    , groups(matrices == 1 ? 8 : std::max(1, (maxWarps - 1) / matrices))
    , steps(groups == 1 ? 8 : 4)
    , warps(groups * matrices)
    , tileColumns(lanesPerWarp + task.window[0] - 1)
    , tileRows(groups * steps + task.window[1] - 1)
    , tileVoxels(tileColumns * tileRows * task.window[2])
    , terms(2 * static_cast<int>(task.maxPairs) + 1)
    , cellWords((TriangleRow(levels) + 1) * countBytes / 4 + 1)
    , tilesX(static_cast<unsigned int>((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp))
    , tilesY(static_cast<unsigned int>((task.outputSize[1] + groups * steps - 1) / (groups * steps)))
  {
    std::fill_n(components, CooccurrenceTask::maxFeatures, -1);
    for (int f = 0; f < task.numberOfFeatures; ++f)
    {
      components[static_cast<int>(task.features[f])] = f;
    }
    const int windows = groups * lanesPerWarp;
    weightsBegin = terms * static_cast<int>(sizeof(std::int64_t));
    rangesBegin = weightsBegin + levels * NumberOfCooccurrenceWeights * static_cast<int>(sizeof(std::int64_t));
    valuesBegin = rangesBegin + (2 * windows + 2) * static_cast<int>(sizeof(int));
    // The features of one matrix are final.
    const bool hasAverages = matrices > 1 && task.aggregation == CooccurrenceJob::Aggregation::Average;
    pairsBegin =
      valuesBegin + (hasAverages ? 2 * featuresAtATime * warps * lanesPerWarp * static_cast<int>(sizeof(double)) : 0);
    tileBegin = pairsBegin + (hasAverages ? 2 * warps * lanesPerWarp : 0);
    tablesBegin = tileBegin + (tileVoxels * static_cast<int>(sizeof(std::uint16_t)) + 7) / 8 * 8;
    bytes = tablesBegin + warps * lanesPerWarp * cellWords * static_cast<int>(sizeof(std::uint32_t));
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
template <int VLevels>
class TableSums
{
  static constexpr int maxDifference = VLevels - 1;

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
    this->template AddCells<VWord * perWord>(word,
                                             std::integral_constant<int, 8 * static_cast<int>(sizeof(TCount))>(),
                                             std::make_integer_sequence<int, perWord>());
  }

  /** The sums of a symmetric matrix with levels up to maxLevel from the least one on. */
  __device__ void
  Get(int maxLevel, const std::int64_t * weights, CooccurrenceSums & sums) const
  {
    Sums32 s{};
    this->AddSums(maxLevel, s, sums, std::make_integer_sequence<int, 2 * VLevels - 1>());
    this->AddDifferences(maxLevel, weights, s, sums, std::make_integer_sequence<int, VLevels>());
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
  /** |v| <= 23 and at most 2047 pairs: all sums fit 32 bits. */
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
    (this->template AddCell<VFirst + VIndices>(word >> (VIndices * VBits) & mask), ...);
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
      m_Rows.template Add<i>(cell);
    }
    else
    {
      m_BesideDiagonal += m_Terms[n];
      m_Squares += 2 * n * n;
      m_Maximum = max(m_Maximum, n);
      m_Rows.template Add<i>(n);
      m_Rows.template Add<j>(n);
    }
    m_Sums.template Add<i + j>(n);
    m_Differences.template Add<i - j>(n);
  }

  template <int... VSums>
  __device__ void
  AddSums(int maxLevel, Sums32 & s, CooccurrenceSums & sums, std::integer_sequence<int, VSums...>) const
  {
    (void)((VSums <= 2 * maxLevel && (this->template AddSum<VSums>(s, sums), true)) && ...);
  }
  template <int VSum>
  __device__ void
  AddSum(Sums32 & s, CooccurrenceSums & sums) const
  {
    constexpr int v = VSum - maxDifference;
    const auto    n = static_cast<int>(m_Sums.template Get<VSum>());
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
    (void)((VDifferences <= maxLevel && (this->template AddDifference<VDifferences>(weights, s, sums), true)) && ...);
  }
  /** Also the row of the level with this number. */
  template <int VDifference>
  __device__ void
  AddDifference(const std::int64_t * weights, Sums32 & s, CooccurrenceSums & sums) const
  {
    const auto n = static_cast<int>(m_Differences.template Get<VDifference>());
    s.pairs += n;
    s.differences += n * VDifference;
    s.differenceSquares += n * (VDifference * VDifference);
    sums.differenceTerms += m_Terms[n];
    sums.rowTerms += m_Terms[m_Rows.template Get<VDifference>()];
#pragma unroll
    for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
    {
      const auto weight = static_cast<std::uint64_t>(weights[VDifference * NumberOfCooccurrenceWeights + w]);
      sums.weights[w] += static_cast<std::int64_t>(std::uint64_t{ static_cast<std::uint32_t>(n) } * weight);
    }
  }

  const std::int64_t * const m_Terms;
  PackedCounts<VLevels>      m_Rows;
  PackedCounts<2 * VLevels>  m_Sums;
  PackedCounts<VLevels>      m_Differences;
  std::int64_t               m_OnDiagonal{ 0 };
  std::int64_t               m_BesideDiagonal{ 0 };
  std::uint32_t              m_Squares{ 0 };
  std::uint32_t              m_Maximum{ 0 };
};

/** The pairs of an offset: where their first voxels are in the tile, and from there to the second one. */
struct PairRows
{
  int begin[3];
  int size[3];
  int toSecond;
};

/** The work of a thread. */
template <int VLevels, typename TCount, typename TNumber>
class NarrowBlock
{
  using Division = FusedDivision<double, DoubleArithmetic>;

  static constexpr int maxDifference = VLevels - 1;
  static constexpr int numberOfCells = TriangleRow(VLevels);
  static_assert(numberOfCells % 4 == 0, "whole words have all cells");

public:
  __device__
  NarrowBlock(const CooccurrenceTask & task, const NarrowLayout & layout, char * shared, unsigned int tileRow)
    : m_Task(task)
    , m_Layout(layout)
    , m_Terms(reinterpret_cast<std::int64_t *>(shared))
    , m_Weights(reinterpret_cast<std::int64_t *>(shared + layout.weightsBegin))
    , m_Strip(reinterpret_cast<int *>(shared + layout.rangesBegin))
    , m_Least(m_Strip + 2)
    , m_Range(m_Least + layout.groups * lanesPerWarp)
    , m_Values(reinterpret_cast<double *>(shared + layout.valuesBegin))
    , m_HasPairs(reinterpret_cast<std::uint8_t *>(shared + layout.pairsBegin))
    , m_Tile(reinterpret_cast<std::uint16_t *>(shared + layout.tileBegin))
    , m_Tables(shared + layout.tablesBegin)
    , m_Lane(static_cast<int>(threadIdx.x) % lanesPerWarp)
    , m_Warp(static_cast<int>(threadIdx.x) / lanesPerWarp)
    , m_Group(m_Warp / layout.matrices)
    , m_Matrix(m_Warp - m_Group * layout.matrices)
  {
    const unsigned int plane = tileRow / layout.tilesY;
    m_Start[0] = std::int64_t{ blockIdx.y } * lanesPerWarp;
    m_Start[1] = std::int64_t{ tileRow - plane * layout.tilesY } * (layout.groups * layout.steps);
    m_Start[2] = plane;
  }

  __device__ void
  Compute(const CudaOtherWindows & others)
  {
    if (others.areMarked && !this->HasMarks(others.marks))
    {
      return;
    }
    this->LoadTables();
    __syncthreads();
    this->LoadTile();
    __syncthreads();
    // Then the tables need not be made anew for every row.
    const bool isStrip = m_Strip[1] - m_Strip[0] <= maxDifference;
    for (int step = 0; step < m_Layout.steps && m_Start[1] + step < m_Task.outputSize[1]; ++step)
    {
      this->ComputeRow(step, isStrip, others);
      __syncthreads();
    }
  }

private:
  static constexpr int notNarrow = -1;

  /** Number of the output voxel of this lane in a row of a group. */
  __device__ std::int64_t
             Number(int group, int step) const
  {
    const std::int64_t y = m_Start[1] + group * m_Layout.steps + step;
    return (m_Start[2] * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + m_Start[0] + m_Lane;
  }

  /** Compute a row of each group. isStrip tells whether all levels of the tile fit one table. */
  __device__ void
  ComputeRow(int step, bool isStrip, const CudaOtherWindows & others)
  {
    const int window = m_Group * lanesPerWarp + m_Lane;
    if (!isStrip)
    {
      this->FindRanges(step);
    }
    const std::int64_t voxel[3] = { m_Start[0] + m_Lane, m_Start[1] + m_Group * m_Layout.steps + step, m_Start[2] };
    const std::int64_t number = this->Number(m_Group, step);
    // One warp of a row decides for all.
    const bool isOutput = m_Matrix == 0 && voxel[0] < m_Task.outputSize[0] && voxel[1] < m_Task.outputSize[1];
    const bool isComputed =
      isOutput && (others.areMarked ? others.marks[number] != 0 : WindowBox(m_Task, voxel).isComputed);
    const int  least = isStrip ? m_Strip[0] : m_Least[window];
    const int  range = (isStrip ? m_Strip[1] : m_Range[window]) - least;
    bool       isNarrow = isComputed && range <= maxDifference;
    const int  narrowWindows = __syncthreads_count(isNarrow);
    const int  wideWindows = isStrip ? 0 : __syncthreads_count(isComputed && !isNarrow);
    const bool isUsed = narrowWindows != 0 && others.IsUsed(wideWindows);
    isNarrow = isNarrow && isUsed;
    if (isOutput)
    {
      if (!isComputed && !others.areMarked)
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
      m_Range[window] = isNarrow ? range : notNarrow;
    }
    __syncthreads();

    isNarrow = m_Range[window] != notNarrow;
    const int        maxLevel = MaxOfWarp(m_Range[window]);
    CooccurrenceSums sums{};
    if (maxLevel >= 0)
    {
      this->CountPairs(static_cast<unsigned int>(least), step, isStrip && m_CountedStep == step - 1);
      m_CountedStep = step;
      this->SumTable(maxLevel, sums);
    }
    CooccurrenceScales scales = m_Task.scales;
    scales.center = 2 * std::int64_t{ least } + maxDifference;
    const CooccurrenceDivisors<Division> divisors(sums.pairs);
    if (m_Layout.pairsBegin == m_Layout.valuesBegin)
    {
      if (isNarrow)
      {
        const std::int64_t first = std::int64_t{ m_Matrix } * m_Task.numberOfFeatures;
        this->ForEachFeature(
          sums,
          divisors,
          scales,
          [&](int, int component, double value) {
            StoreComponentOrNaN(
              m_Task, number * m_Task.voxelStride, first + component, sums.pairs != 0 ? value : m_Task.emptyValue);
          },
          std::make_integer_sequence<int, CooccurrenceTask::maxFeatures>());
      }
      return;
    }
    m_HasPairs[this->Place(step % 2, m_Warp)] = sums.pairs != 0 ? 1 : 0;
    this->AverageFeatures(
      step, sums, divisors, scales, std::make_integer_sequence<int, CooccurrenceTask::maxFeatures / featuresAtATime>());
  }

  /** Whether a window of the tile is marked. */
  __device__ bool
  HasMarks(const std::uint8_t * marks) const
  {
    bool isMarked = false;
    for (int row = m_Warp; row < m_Layout.groups * m_Layout.steps; row += m_Layout.warps)
    {
      if (m_Start[0] + m_Lane < m_Task.outputSize[0] && m_Start[1] + row < m_Task.outputSize[1])
      {
        isMarked = isMarked || marks[this->Number(0, row)] != 0;
      }
    }
    return __syncthreads_or(isMarked) != 0;
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
    for (int i = threadIdx.x; i < VLevels * NumberOfCooccurrenceWeights; i += blockDim.x)
    {
      const bool isWeight = m_Task.weights != nullptr && i / NumberOfCooccurrenceWeights < m_Task.numberOfGrayLevels;
      m_Weights[i] = isWeight ? m_Task.weights[i] : 0;
    }
    if (threadIdx.x == 0)
    {
      m_Strip[0] = noLevel;
      m_Strip[1] = 0;
    }
  }

  __device__ void
  LoadTile() const
  {
    const std::int64_t first[3] = { m_Start[0] + m_Task.outputToLevels[0] - m_Task.anchor[0],
                                    m_Start[1] + m_Task.outputToLevels[1] - m_Task.anchor[1],
                                    m_Start[2] + m_Task.outputToLevels[2] - m_Task.anchor[2] };
    int                least = noLevel;
    int                greatest = 0;
    int                row = m_Warp;
    for (int plane = 0; plane < m_Task.window[2]; ++plane)
    {
      for (; row < (plane + 1) * m_Layout.tileRows; row += m_Layout.warps)
      {
        const std::int64_t          y = first[1] + row - plane * m_Layout.tileRows;
        const std::int64_t          z = first[2] + plane;
        const bool                  isInside = y >= 0 && y < m_Task.levelsSize[1] && z >= 0 && z < m_Task.levelsSize[2];
        const std::uint16_t * const levels = m_Task.levels + m_Task.LevelOffset(first[0], y, z);
        for (int i = m_Lane; i < m_Layout.tileColumns; i += lanesPerWarp)
        {
          const std::int64_t x = first[0] + i;
          const int          level = isInside && x >= 0 && x < m_Task.levelsSize[0] ? levels[i] : 0;
          const int          tileLevel = level != 0 ? level : noLevel;
          m_Tile[row * m_Layout.tileColumns + i] = static_cast<std::uint16_t>(tileLevel);
          least = min(least, tileLevel);
          greatest = max(greatest, level);
        }
      }
    }
    atomicMin(m_Strip, least);
    atomicMax(m_Strip + 1, greatest);
  }

  /** Find the least level of the windows of a row, and the greatest, in place of the range; the warps share the rows of
   * the windows. */
  __device__ void
  FindRanges(int step) const
  {
    for (int i = threadIdx.x; i < m_Layout.groups * lanesPerWarp; i += blockDim.x)
    {
      m_Least[i] = noLevel;
      m_Range[i] = 0;
    }
    __syncthreads();
    for (int group = 0; group < m_Layout.groups; ++group)
    {
      int row = m_Warp;
      for (int z = 0; z < m_Task.window[2]; ++z)
      {
        for (; row < (z + 1) * m_Task.window[1]; row += m_Layout.warps)
        {
          const int                   y = row - z * m_Task.window[1] + group * m_Layout.steps + step;
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
          atomicMin(m_Least + group * lanesPerWarp + m_Lane, least);
          atomicMax(m_Range + group * lanesPerWarp + m_Lane, greatest);
        }
      }
    }
    __syncthreads();
  }

  /** Count the pairs of the matrix of this warp, from a level on. The table may have those of the row before. */
  __device__ void
  CountPairs(unsigned int least, int step, bool hasRowBefore) const
  {
    char * const table = m_Tables + threadIdx.x * 4;
    const int    wordStride = m_Layout.warps * lanesPerWarp * 4;
    if (!hasRowBefore)
    {
      for (int word = 0; word < m_Layout.cellWords; ++word)
      {
        *reinterpret_cast<std::uint32_t *>(table + word * wordStride) = 0;
      }
    }
    const int offsets = m_Task.OffsetsPerMatrix();
    for (int offset = m_Matrix * offsets; offset < (m_Matrix + 1) * offsets; ++offset)
    {
      const auto & step3 = m_Task.offsets[offset].step;
      PairRows     rows;
      for (int d = 0; d < 3; ++d)
      {
        rows.begin[d] = max(-step3[d], 0);
        rows.size[d] = m_Task.window[d] - abs(step3[d]);
      }
      if (rows.size[0] <= 0 || rows.size[1] <= 0 || rows.size[2] <= 0)
      {
        continue;
      }
      rows.begin[1] += m_Group * m_Layout.steps + step;
      rows.toSecond = (step3[2] * m_Layout.tileRows + step3[1]) * m_Layout.tileColumns + step3[0];
      if (!hasRowBefore)
      {
        this->CountRows(table, least, rows, 1);
        continue;
      }
      const int last = rows.begin[1] + rows.size[1] - 1;
      rows.size[1] = 1;
      rows.begin[1] -= 1;
      this->CountRows(table, least, rows, -1);
      rows.begin[1] = last;
      this->CountRows(table, least, rows, 1);
    }
  }
  __device__ void
  CountRows(char * table, unsigned int least, const PairRows & rows, int count) const
  {
    // Rows of usual lengths have loops without a counter.
    switch (rows.size[0])
    {
      case 3:
        return this->CountRows<3>(table, least, rows, count);
      case 4:
        return this->CountRows<4>(table, least, rows, count);
      case 5:
        return this->CountRows<5>(table, least, rows, count);
      case 6:
        return this->CountRows<6>(table, least, rows, count);
      case 7:
        return this->CountRows<7>(table, least, rows, count);
      default:
        return this->CountRows<0>(table, least, rows, count);
    }
  }
  /** VLength is the length of the rows, or 0. */
  template <int VLength>
  __device__ void
  CountRows(char * table, unsigned int least, const PairRows & rows, int count) const
  {
    int plane = (rows.begin[2] * m_Layout.tileRows + rows.begin[1]) * m_Layout.tileColumns + rows.begin[0] + m_Lane;
    for (int z = 0; z < rows.size[2]; ++z, plane += m_Layout.tileRows * m_Layout.tileColumns)
    {
      const std::uint16_t * row = m_Tile + plane;
      for (int y = 0; y < rows.size[1]; ++y, row += m_Layout.tileColumns)
      {
        if constexpr (VLength > 0)
        {
          unsigned int first[VLength];
          unsigned int second[VLength];
#pragma unroll
          for (int x = 0; x < VLength; ++x)
          {
            first[x] = row[x];
            second[x] = row[x + rows.toSecond];
          }
#pragma unroll
          for (int x = 0; x < VLength; ++x)
          {
            this->CountPair(table, first[x] - least, second[x] - least, count);
          }
        }
        else
        {
          for (int x = 0; x < rows.size[0]; ++x)
          {
            this->CountPair(table, row[x] - least, row[x + rows.toSecond] - least, count);
          }
        }
      }
    }
  }
  __device__ void
  CountPair(char * table, unsigned int a, unsigned int b, int count) const
  {
    constexpr unsigned int perWord = 4 / static_cast<unsigned int>(sizeof(TCount));
    const unsigned int     wordStride = static_cast<unsigned int>(m_Layout.warps) * (lanesPerWarp * 4);
    const unsigned int     i = max(a, b);
    // The cell behind all others counts pairs without level; windows that are not narrow must not reach beyond it. The
    // product fits 32 bits: both factors are at most 2^16.
    const unsigned int cell = min((i * (i + 1)) / 2 + min(a, b), static_cast<unsigned int>(numberOfCells));
    auto & number = *reinterpret_cast<TCount *>(table + cell / perWord * wordStride + cell % perWord * sizeof(TCount));
    number = static_cast<TCount>(number + count);
  }

  __device__ void
  SumTable(int maxLevel, CooccurrenceSums & sums) const
  {
    TableSums<VLevels> tableSums(m_Terms);
    this->AddWords(
      maxLevel, tableSums, std::make_integer_sequence<int, numberOfCells * static_cast<int>(sizeof(TCount)) / 4>());
    tableSums.Get(maxLevel, m_Weights, sums);
    sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
  }
  template <int... VWords>
  __device__ void
  AddWords(int maxLevel, TableSums<VLevels> & tableSums, std::integer_sequence<int, VWords...>) const
  {
    constexpr int      perWord = 4 / static_cast<int>(sizeof(TCount));
    const int          cells = TriangleRow(maxLevel + 1);
    const char * const table = m_Tables + threadIdx.x * 4;
    const int          wordStride = m_Layout.warps * lanesPerWarp * 4;
    const auto         add = [&](auto number) {
      const std::uint32_t word = *reinterpret_cast<const std::uint32_t *>(table + number.value * wordStride);
      if (word != 0)
      {
        tableSums.template AddWord<TCount, number.value>(word);
      }
      return true;
    };
    (void)((VWords * perWord < cells && add(std::integral_constant<int, VWords>())) && ...);
  }

  /** Call f(feature, component, value) for some features of a matrix, if they are selected. */
  template <typename TFunction, int... VFeatures>
  __device__ void
  ForEachFeature(const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
                 const CooccurrenceScales & scales, const TFunction & f, std::integer_sequence<int, VFeatures...>) const
  {
    const auto evaluate = [&](auto feature) {
      const int component = m_Layout.components[feature.value];
      if (component >= 0)
      {
        f(feature.value,
          component,
          CooccurrenceFeatureValue<TNumber, Division>(
            static_cast<CooccurrenceJob::Feature>(feature.value), sums, divisors, scales));
      }
    };
    (evaluate(std::integral_constant<int, VFeatures>()), ...);
  }
  template <int VFirst, int... VIndices>
  static constexpr __device__ std::integer_sequence<int, (VFirst + VIndices)...>
                              Shifted(std::integer_sequence<int, VIndices...>)
  {
    return {};
  }

  /** Average the features of the matrices of the windows. While some warps average a group of features, the others
   * compute the next one. */
  template <int... VGroups>
  __device__ void
  AverageFeatures(int step, const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
                  const CooccurrenceScales & scales, std::integer_sequence<int, VGroups...>) const
  {
    (this->AverageGroup<VGroups * featuresAtATime>(step, sums, divisors, scales), ...);
  }
  template <int VFirst>
  __device__ void
  AverageGroup(int step, const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
               const CooccurrenceScales & scales) const
  {
    double * const values = m_Values + VFirst / featuresAtATime % 2 * featuresAtATime * m_Layout.warps * lanesPerWarp;
    this->ForEachFeature(
      sums,
      divisors,
      scales,
      [&](int feature, int, double value) {
        values[this->Place(feature - VFirst, m_Warp)] = sums.pairs != 0 ? value : 0.0;
      },
      Shifted<VFirst>(std::make_integer_sequence<int, featuresAtATime>()));
    __syncthreads();
    for (int group = 0; group < m_Layout.groups; ++group)
    {
      if (m_Range[group * lanesPerWarp + m_Lane] == notNarrow)
      {
        continue;
      }
      for (int i = m_Warp; i < featuresAtATime; i += m_Layout.warps)
      {
        const int component = m_Layout.components[VFirst + i];
        if (component < 0)
        {
          continue;
        }
        // Features of matrices without pairs are 0 here.
        double total = 0.0;
        int    matrices = 0;
        for (int matrix = group * m_Layout.matrices; matrix < (group + 1) * m_Layout.matrices; ++matrix)
        {
          total += values[this->Place(i, matrix)];
          matrices += m_HasPairs[this->Place(step % 2, matrix)];
        }
        StoreComponentOrNaN(m_Task,
                            this->Number(group, step) * m_Task.voxelStride,
                            component,
                            matrices != 0 ? Division::Quotient(total, Division::By(static_cast<double>(matrices)))
                                          : m_Task.emptyValue);
      }
    }
  }
  /** Place of a number of this lane and a warp in one of several arrays. */
  __device__ int
  Place(int array, int warp) const
  {
    return (array * m_Layout.warps + warp) * lanesPerWarp + m_Lane;
  }

  const CooccurrenceTask & m_Task;
  const NarrowLayout &     m_Layout;
  std::int64_t * const     m_Terms;
  std::int64_t * const     m_Weights;
  int * const              m_Strip; // least and greatest level of the tile
  int * const              m_Least;
  int * const              m_Range;
  double * const           m_Values;
  std::uint8_t * const     m_HasPairs;
  std::uint16_t * const    m_Tile;
  char * const             m_Tables;
  const int                m_Lane;
  const int                m_Warp;
  const int                m_Group;
  const int                m_Matrix;
  std::int64_t             m_Start[3];
  int                      m_CountedStep{ -2 };
};

template <int VLevels, typename TCount, typename TNumber>
__global__ void
__launch_bounds__(maxWarps * lanesPerWarp, VLevels == fewLevels && sizeof(TCount) == 1 ? 2 : 1)
  NarrowWindowsKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ NarrowLayout layout,
                      const __grid_constant__ CudaOtherWindows others, unsigned int firstTileRow)
{
  extern __shared__ __align__(16) char  shared[];
  NarrowBlock<VLevels, TCount, TNumber> block(task, layout, shared, firstTileRow + blockIdx.x);
  block.Compute(others);
}

/** Whether bytes hold all counts of cells. */
bool
HasByteCounts(const CooccurrenceTask & task)
{
  return task.maxPairs <= 0xff;
}

NarrowLayout
MakeLayout(const CooccurrenceTask & task, int levels)
{
  return NarrowLayout(task, levels, HasByteCounts(task) ? 1 : 2);
}

/** Whether doubles hold all integers of the formulas, as CooccurrencePlan decides for all levels. */
bool
HasSmallNumbers(const CooccurrenceTask & task, int levels)
{
  const double difference = levels - 1;
  const auto   pairs = static_cast<double>(task.maxPairs);
  const double pairsCubed = pairs * pairs * pairs;
  return std::max(4.0 * pairsCubed * pairs, 6.0 * pairsCubed) * difference * difference * difference * difference <=
         0x1p53;
}

template <int VLevels, typename TCount>
void
Launch(const CooccurrenceTask & task, std::int64_t firstRow, std::int64_t endRow, const CudaOtherWindows & others,
       cudaStream_t stream)
{
  const NarrowLayout layout = MakeLayout(task, VLevels);
  const auto         bytes = static_cast<std::size_t>(layout.bytes);
  const auto         start = [&](auto kernel) {
    AllowSharedMemory(kernel, bytes);
    const dim3 blocks(static_cast<unsigned int>(endRow - firstRow), layout.tilesX);
    kernel<<<blocks, layout.warps * lanesPerWarp, bytes, stream>>>(
      task, layout, others, static_cast<unsigned int>(firstRow));
  };
  HasSmallNumbers(task, VLevels) ? start(NarrowWindowsKernel<VLevels, TCount, double>)
                                 : start(NarrowWindowsKernel<VLevels, TCount, WideInteger<2>>);
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
         static_cast<std::size_t>(MakeLayout(task, fewLevels).bytes) <= limits.maxSharedMemoryPerBlock;
}

CudaTileRows
GetCudaNarrowTileRows(const CooccurrenceTask & task)
{
  const NarrowLayout layout = MakeLayout(task, fewLevels);
  return {
    layout.tilesX, layout.tilesY, layout.groups * layout.steps, std::int64_t{ layout.tilesY } * task.outputSize[2]
  };
}

void
LaunchCudaNarrowWindows(const CooccurrenceTask & task, std::int64_t firstRow, std::int64_t endRow,
                        const CudaOtherWindows & others, cudaStream_t stream)
{
  if (!HasByteCounts(task))
  {
    return Launch<fewLevels, std::uint16_t>(task, firstRow, endRow, others, stream);
  }
  Launch<fewLevels, std::uint8_t>(task, firstRow, endRow, others, stream);
  if (others.marks != nullptr &&
      static_cast<std::size_t>(MakeLayout(task, moreLevels).bytes) <= GetCudaDeviceLimits().maxSharedMemoryPerBlock)
  {
    Launch<moreLevels, std::uint8_t>(task, firstRow, endRow, { others.list, others.first, others.marks, true }, stream);
  }
}
} // namespace voxelmaps
