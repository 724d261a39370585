// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTileBlock_cuh
#define CudaTileBlock_cuh

#include "CudaCooccurrenceMethods.h"
#include "device/CudaLaunch.h"
#include "device/CudaPolicy.h"
#include "device/CudaWarp.cuh"
#include "window/cuda/CudaLevelSet.cuh"
#include "window/WindowBox.h"
#include "window/WorkspaceLayout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

// The parts that kernels share in which a block computes a tile of windows: a warp has one matrix of 32 windows side by
// side, and a lane the matrix of one window, in a table of its own, which slides from row to row.
namespace voxelmaps
{
constexpr int          lanesPerWarp = 32;
constexpr int          maxTileWarps = 13;
constexpr unsigned int allLanes = 0xffffffffu;

/** From the least level of a tile to its greatest. */
constexpr int maxRange = 255;

/** Features that are averaged at a time: about one for each warp, or half as many where shared memory is scarce. */
constexpr int mostFeaturesAtATime = 12;
constexpr int fewFeaturesAtATime = 6;
static_assert(CooccurrenceTask::maxFeatures % mostFeaturesAtATime == 0 && mostFeaturesAtATime % fewFeaturesAtATime == 0,
              "all groups of features have as many");

/** The greatest number of rows of a tile, and the number of rows if matrices are computed in chunks. */
constexpr int maxRows = 32;
constexpr int chunkRows = 4;

/** Word i of the tables of the threads of a warp are side by side, so that each lane has a bank of its own. */
constexpr int wordStride = 4 * lanesPerWarp;

/** A voxel without a level, once the levels of a tile are replaced by codes: greater than all of them. */
constexpr unsigned int noLevel = 0x8000;

/** State of the tile of a block. */
struct TileInfo
{
  static constexpr int setWords = (maxRange + 1) / 32;

  /** The first voxel. */
  std::int64_t start[3];
  int          least;
  int          greatest;
  /** Number of different levels, where they are ranked. */
  int levels;
  int differences;
  int sums;
  /** The levels that occur, from the least one on. */
  LevelSet<setWords> set;
  /** The windows of a row that are computed. */
  std::uint32_t computed[maxRows];
  /** The windows of a row that have a matrix without pairs. */
  std::uint32_t withoutPairs[maxRows];
  /** By matrix, the windows that have pairs: of the current row, as row 0, or of all rows if there are chunks. */
  std::uint32_t withPairs[chunkRows][maxTileWarps];
  /** The windows of a row with a count that is too great. */
  std::uint32_t overflows[maxRows];
};

/** How the output is cut into tiles of 32 columns, and the shared memory of a block. */
struct TileLayout
{
  int  matrices; // of a window
  int  chunks;   // of matrices, one after the other
  int  groups;   // of rows of a tile, each with warps of its own
  int  steps;    // rows of a group, one after the other
  int  groupWarps;
  int  warps;
  int  tileColumns;
  int  tileRows;
  int  tileVoxels;
  int  terms;
  int  listBytes;
  int  tableWords;
  int  maxDoubleRange;
  int  featuresAtATime;
  bool hasAverages;
  /** Tiles with more levels are left: those that span as few levels as a table has, and others. */
  int          maxNarrowLevels;
  int          maxLevels;
  unsigned int tilesX;
  unsigned int tilesY;
  /** Component of a feature among those of a matrix, -1 if it is not selected. */
  int components[CooccurrenceTask::maxFeatures];

  // Parts of the shared memory, in bytes.
  int valuesBegin;
  int totalsBegin;
  int listsBegin;
  int infoBegin;
  int tileBegin;
  int tablesBegin;
  int bytes;

  TileLayout(const CooccurrenceTask & task, int wordsOfTable, int bytesOfLists, int blockWarps, int features)
    : matrices(task.numberOfOffsets / task.OffsetsPerMatrix())
    , chunks((matrices + blockWarps - 1) / blockWarps)
    , groups(matrices == 1 ? (blockWarps < 8 ? 4 : 8) : std::max(1, std::min(blockWarps, 12) / matrices))
    , steps(chunks == 1 && matrices > 6 ? 8 : chunkRows)
    , groupWarps((matrices + chunks - 1) / chunks)
    , warps(groups * groupWarps)
    , tileColumns(lanesPerWarp + task.window[0] - 1)
    , tileRows(groups * steps + task.window[1] - 1)
    , tileVoxels(tileColumns * tileRows * task.window[2])
    , terms(2 * static_cast<int>(task.maxPairs) + 1)
    , listBytes(bytesOfLists)
    , tableWords(wordsOfTable)
    , maxDoubleRange(MaxDoubleRange(static_cast<double>(task.maxPairs)))
    , featuresAtATime(features)
    // The features of one matrix are final.
    , hasAverages(matrices > 1 && task.aggregation == CooccurrenceJob::Aggregation::Average)
    , maxNarrowLevels(maxRange)
    , maxLevels(maxRange)
    , tilesX(static_cast<unsigned int>((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp))
    , tilesY(static_cast<unsigned int>((task.outputSize[1] + groups * steps - 1) / (groups * steps)))
  {
    std::fill_n(components, CooccurrenceTask::maxFeatures, -1);
    for (int f = 0; f < task.numberOfFeatures; ++f)
    {
      components[static_cast<int>(task.features[f])] = f;
    }
    constexpr int   valueBytes = lanesPerWarp * static_cast<int>(sizeof(double));
    WorkspaceLayout workspace(nullptr, 16);
    const auto reserve = [&workspace](std::ptrdiff_t size) { return static_cast<int>(workspace.Reserve<char>(size)); };
    reserve(terms * static_cast<int>(sizeof(std::int64_t)));
    valuesBegin = reserve(hasAverages ? featuresAtATime * warps * valueBytes : 0);
    totalsBegin = reserve(hasAverages && chunks > 1 ? CooccurrenceTask::maxFeatures * chunkRows * valueBytes : 0);
    listsBegin = reserve(listBytes);
    infoBegin = reserve(sizeof(TileInfo));
    tileBegin = reserve(tileVoxels * static_cast<int>(sizeof(std::uint16_t)));
    tablesBegin = reserve(warps * tableWords * wordStride);
    bytes = static_cast<int>(workspace.Bytes());
  }

private:
  /** The greatest range of levels for which doubles hold all integers of the formulas, as CooccurrencePlan decides for
   * all levels. */
  static int
  MaxDoubleRange(double pairs)
  {
    const double pairsCubed = pairs * pairs * pairs;
    const double numbers = std::max(4.0 * pairsCubed * pairs, 6.0 * pairsCubed);
    const double range = std::floor(std::sqrt(std::sqrt(0x1p53 / numbers)));
    return static_cast<int>(std::min<double>(range, maxRange));
  }
};

/** The pairs of an offset: where their first voxels are in the tile, and from there to the second one. */
struct PairRows : PairBox
{
  int toSecond;
};

/** Add the weights of so many pairs. */
inline __device__ void
AddWeights(int n, const std::int64_t * weights, CooccurrenceSums & sums)
{
#pragma unroll
  for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
  {
    sums.weights[w] += static_cast<std::int64_t>(std::uint64_t{ static_cast<std::uint32_t>(n) } *
                                                 static_cast<std::uint64_t>(weights[w]));
  }
}

/** The part of the work of a thread that does not depend on its table. */
class TileBlock
{
protected:
  using Division = FusedDivision<double, DoubleArithmetic>;

  __device__
  TileBlock(const CooccurrenceTask & task, const TileLayout & layout, char * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Terms(reinterpret_cast<std::int64_t *>(shared))
    , m_Shared(shared)
    , m_Info(*reinterpret_cast<TileInfo *>(shared + layout.infoBegin))
    , m_Tile(reinterpret_cast<std::uint16_t *>(shared + layout.tileBegin))
    , m_Lane(static_cast<int>(threadIdx.x) % lanesPerWarp)
    , m_Warp(static_cast<int>(threadIdx.x) / lanesPerWarp)
    , m_Group(m_Warp / layout.groupWarps)
    , m_Table(shared + layout.tablesBegin + m_Warp * (layout.tableWords * wordStride) + m_Lane * 4)
  {
    const std::int64_t * const terms = task.scales.entropyTable;
    for (int n = threadIdx.x; n < layout.terms; n += blockDim.x)
    {
      m_Terms[n] = terms != nullptr ? terms[n] : 0;
    }
  }

public:
  /** List or mark the windows of the tile that are to be computed. */
  __device__ void
  LeaveWindows(const CudaOtherWindows & others) const
  {
    this->LeaveWindows(m_Info.computed, others);
  }

protected:
  /** List or mark the windows whose bit is set in the word of their row. */
  __device__ void
  LeaveWindows(const std::uint32_t * rows, const CudaOtherWindows & others) const
  {
    for (int row = m_Warp; row < m_Layout.groups * m_Layout.steps; row += m_Layout.warps)
    {
      if ((rows[row] >> m_Lane & 1u) != 0)
      {
        others.Add(this->Number(row));
      }
    }
  }

  /** Set the tile. */
  __device__ void
  Begin(unsigned int tileRow, unsigned int tileX) const
  {
    if (threadIdx.x == 0)
    {
      const unsigned int plane = tileRow / m_Layout.tilesY;
      m_Info.start[0] = std::int64_t{ tileX } * lanesPerWarp;
      m_Info.start[1] = std::int64_t{ tileRow - plane * m_Layout.tilesY } * (m_Layout.groups * m_Layout.steps);
      m_Info.start[2] = plane;
      m_Info.least = 0xffff;
      m_Info.greatest = 0;
    }
    __syncthreads();
  }
  /** Call computeRow(chunk, step) for the rows of each group. */
  template <typename TComputeRow>
  __device__ void
  ComputeRows(const TComputeRow & computeRow)
  {
    for (int chunk = 0; chunk < m_Layout.chunks; ++chunk)
    {
      m_CountedStep = -2;
      m_Matrix = chunk * m_Layout.groupWarps + m_Warp - m_Group * m_Layout.groupWarps;
      for (int step = 0; step < m_Layout.steps && m_Info.start[1] + step < m_Task.outputSize[1]; ++step)
      {
        unsigned int any = 0;
        for (int group = 0; group < m_Layout.groups; ++group)
        {
          any |= m_Info.computed[group * m_Layout.steps + step];
        }
        if (any != 0)
        {
          computeRow(chunk, step);
        }
      }
    }
  }

  /** The greatest level of the tile minus the least one. */
  __device__ int
  Range() const
  {
    return m_Info.greatest - m_Info.least;
  }
  /** Number of the output voxel of this lane in a row of the tile. */
  __device__ std::int64_t
             Number(int row) const
  {
    return (m_Info.start[2] * m_Task.outputSize[1] + m_Info.start[1] + row) * m_Task.outputSize[0] + m_Info.start[0] +
           m_Lane;
  }

  /** Find the windows to compute, and whether there are any; the first stage stores the background elsewhere. */
  __device__ bool
  FindComputed(bool storesBackground) const
  {
    m_Info.set.Clear(static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    bool isAny = false;
    for (int row = m_Warp; row < m_Layout.groups * m_Layout.steps; row += m_Layout.warps)
    {
      const std::int64_t voxel[3] = { m_Info.start[0] + m_Lane, m_Info.start[1] + row, m_Info.start[2] };
      const bool         isOutput = voxel[0] < m_Task.outputSize[0] && voxel[1] < m_Task.outputSize[1];
      const bool         isComputed = isOutput && WindowBox(m_Task, voxel).isComputed;
      if (storesBackground && isOutput && !isComputed)
      {
        StoreBackground(m_Task, this->Number(row));
      }
      const unsigned int computed = __ballot_sync(allLanes, isComputed);
      isAny = isAny || computed != 0;
      if (m_Lane == 0)
      {
        m_Info.computed[row] = computed;
        m_Info.overflows[row] = 0;
        m_Info.withoutPairs[row] = 0;
      }
    }
    return __syncthreads_or(isAny) != 0;
  }

  /** Load the levels that the windows reach. */
  __device__ void
  LoadLevels() const
  {
    const std::int64_t first[3] = { m_Info.start[0] + m_Task.outputToLevels[0] - m_Task.anchor[0],
                                    m_Info.start[1] + m_Task.outputToLevels[1] - m_Task.anchor[1],
                                    m_Info.start[2] + m_Task.outputToLevels[2] - m_Task.anchor[2] };
    int                least = 0xffff;
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
          m_Tile[row * m_Layout.tileColumns + i] = static_cast<std::uint16_t>(level);
          least = min(least, level != 0 ? level : 0xffff);
          greatest = max(greatest, level);
        }
      }
    }
    // By hand: the compiler reduces the values of a warp first.
    atomicMin(&m_Info.least, least);
    atomicMax(&m_Info.greatest, greatest);
  }

  /** Find the ranks of the levels of the tile, and how many there are. */
  __device__ void
  FindRanks() const
  {
    for (int i = threadIdx.x; i < m_Layout.tileVoxels; i += blockDim.x)
    {
      if (m_Tile[i] != 0)
      {
        m_Info.set.Add(m_Tile[i] - m_Info.least);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0)
    {
      m_Info.levels = m_Info.set.MakeRanks();
    }
    __syncthreads();
  }
  /** Rank of a level, relative to the least one. */
  __device__ int
  Rank(int bit) const
  {
    return m_Info.set.Rank(bit);
  }

  /** Call countRows(pairs, 1) for the pairs of the matrix of this warp in a row of windows, or, if hasRowBefore, for
   * those that enter the windows, and countRows(pairs, -1) for those that leave them. */
  template <typename TCountRows>
  __device__ void
  CountPairs(int row, bool hasRowBefore, const TCountRows & countRows) const
  {
    const int offsets = m_Task.OffsetsPerMatrix();
    for (int offset = m_Matrix * offsets; offset < (m_Matrix + 1) * offsets; ++offset)
    {
      PairRows rows = this->Pairs(offset, row);
      if (rows.IsEmpty())
      {
        continue;
      }
      const int first = rows.begin[1];
      const int last = first + rows.size[1] - 1;
      rows.size[1] = hasRowBefore ? 1 : rows.size[1];
      // One call, since its code is long. What leaves the windows comes first, so that no count is too great.
#pragma unroll 1
      for (int number = hasRowBefore ? -1 : 1; number <= 1; number += 2)
      {
        rows.begin[1] = !hasRowBefore ? first : number < 0 ? first - 1 : last;
        countRows(rows, number);
      }
    }
  }
  /** The pairs of an offset in a row of windows. */
  __device__ PairRows
  Pairs(int offset, int row) const
  {
    const auto & step = m_Task.offsets[offset].step;
    PairRows     rows{ PairBox(m_Task.offsets[offset], m_Task.window), 0 };
    rows.begin[1] += row;
    rows.toSecond = (step[2] * m_Layout.tileRows + step[1]) * m_Layout.tileColumns + step[0];
    return rows;
  }
  /** Call count(level, level) for some pairs. */
  template <typename TCount>
  __device__ void
  CountRows(const PairRows & rows, const TCount & count) const
  {
    // Rows of usual lengths have loops without a counter.
    switch (rows.size[0])
    {
      case 3:
        return this->CountRowsOfLength<3>(rows, count);
      case 4:
        return this->CountRowsOfLength<4>(rows, count);
      case 5:
        return this->CountRowsOfLength<5>(rows, count);
      case 6:
        return this->CountRowsOfLength<6>(rows, count);
      case 7:
        return this->CountRowsOfLength<7>(rows, count);
      default:
        return this->CountRowsOfLength<0>(rows, count);
    }
  }
  /** VLength is the length of the rows, or 0. */
  template <int VLength, typename TCount>
  __device__ void
  CountRowsOfLength(const PairRows & rows, const TCount & count) const
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
            count(first[x], second[x]);
          }
        }
        else
        {
#pragma unroll 1
          for (int x = 0; x < rows.size[0]; ++x)
          {
            count(row[x], row[x + rows.toSecond]);
          }
        }
      }
    }
  }
  /** Store the features of the windows of a row of each group. Moments are relative to a sum of levels from the least
   * one on. */
  template <typename TNumber>
  __device__ void
  Evaluate(int chunk, int row, const CooccurrenceSums & sums, bool isComputed, int middleSum)
  {
    CooccurrenceScales scales = m_Task.scales;
    scales.center = 2 * std::int64_t{ m_Info.least } + middleSum;
    const CooccurrenceDivisors<Division> divisors(sums.pairs);
    if (!m_Layout.hasAverages)
    {
      if (isComputed && m_Matrix < m_Layout.matrices)
      {
        const std::int64_t number = this->Number(row);
        const std::int64_t first = std::int64_t{ m_Matrix } * m_Task.numberOfFeatures;
        this->ForEachFeature<TNumber>(
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
    const unsigned int withPairs = __ballot_sync(allLanes, sums.pairs != 0);
    if (m_Lane == 0 && m_Matrix < m_Layout.matrices)
    {
      m_Info.withPairs[m_Layout.chunks > 1 ? row : 0][chunk * m_Layout.groupWarps + m_Warp] = withPairs;
      if (withPairs != allLanes)
      {
        atomicOr(m_Info.withoutPairs + row, ~withPairs);
      }
    }
    this->AverageFeatures<TNumber>(
      chunk,
      row,
      sums,
      divisors,
      scales,
      std::make_integer_sequence<int, CooccurrenceTask::maxFeatures / fewFeaturesAtATime>());
  }

  /** Call f(feature, component, value) for some features of a matrix, if they are selected. */
  template <typename TNumber, typename TFunction, int... VFeatures>
  __device__ void
  ForEachFeature(const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
                 const CooccurrenceScales & scales, const TFunction & f, std::integer_sequence<int, VFeatures...>) const
  {
    const auto evaluate = [&](auto feature) {
      const int component = m_Layout.components[feature.value];
      if (component >= 0)
      {
        constexpr auto name = static_cast<CooccurrenceJob::Feature>(decltype(feature)::value);
        // Doubles hold the numbers of the others: at most 2047 pairs, and moments of at most 255.
        constexpr bool isWide =
          name == CooccurrenceJob::Feature::ClusterProminence || name == CooccurrenceJob::Feature::ClusterShade;
        f(feature.value,
          component,
          CooccurrenceFeatureValue<std::conditional_t<isWide, TNumber, double>, Division>(
            name, sums, divisors, scales));
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

  /** Average the features of the matrices of the windows. */
  template <typename TNumber, int... VGroups>
  __device__ void
  AverageFeatures(int chunk, int row, const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
                  const CooccurrenceScales & scales, std::integer_sequence<int, VGroups...>) const
  {
    (this->AverageGroup<TNumber, VGroups * fewFeaturesAtATime>(chunk, row, sums, divisors, scales), ...);
  }
  template <typename TNumber, int VFirst>
  __device__ void
  AverageGroup(int chunk, int row, const CooccurrenceSums & sums, const CooccurrenceDivisors<Division> & divisors,
               const CooccurrenceScales & scales) const
  {
    const int featuresAtATime = m_Layout.featuresAtATime;
    const int first = VFirst / featuresAtATime * featuresAtATime;
    this->ForEachFeature<TNumber>(
      sums,
      divisors,
      scales,
      [&](int feature, int, double value) { this->Value(feature - first, m_Warp) = sums.pairs != 0 ? value : 0.0; },
      Shifted<VFirst>(std::make_integer_sequence<int, fewFeaturesAtATime>()));
    if (VFirst + fewFeaturesAtATime != first + featuresAtATime)
    {
      return;
    }
    __syncthreads();
    for (int item = m_Warp; item < m_Layout.groups * featuresAtATime; item += m_Layout.warps)
    {
      const int group = item / featuresAtATime;
      const int i = item - group * featuresAtATime;
      const int component = m_Layout.components[first + i];
      const int itemRow = row + (group - m_Group) * m_Layout.steps;
      if (component < 0 || (m_Info.computed[itemRow] >> m_Lane & 1u) == 0)
      {
        continue;
      }
      // Features of matrices without pairs are 0 here.
      double total = chunk != 0 ? this->Total(first + i, itemRow) : 0.0;
      if (m_Layout.groupWarps == maxTileWarps)
      {
#pragma unroll
        for (int warp = 0; warp < maxTileWarps; ++warp)
        {
          total += this->Value(i, warp);
        }
      }
      else
      {
#pragma unroll 1
        for (int warp = group * m_Layout.groupWarps; warp < (group + 1) * m_Layout.groupWarps; ++warp)
        {
          total += this->Value(i, warp);
        }
      }
      if (chunk + 1 < m_Layout.chunks)
      {
        this->Total(first + i, itemRow) = total;
        continue;
      }
      const int matrices = this->MatricesWithPairs(group, itemRow);
      StoreComponentOrNaN(m_Task,
                          this->Number(itemRow) * m_Task.voxelStride,
                          component,
                          matrices != 0 ? Division::Quotient(total, Division::By(static_cast<double>(matrices)))
                                        : m_Task.emptyValue);
    }
    __syncthreads();
  }
  /** Number of matrices that have pairs, of the window of this lane in a row of a group. */
  __device__ int
  MatricesWithPairs(int group, int row) const
  {
    if ((m_Info.withoutPairs[row] >> m_Lane & 1u) == 0)
    {
      return m_Layout.matrices;
    }
    const std::uint32_t * const withPairs = m_Info.withPairs[m_Layout.chunks > 1 ? row : 0] + group * m_Layout.matrices;
    int                         matrices = 0;
    for (int matrix = 0; matrix < m_Layout.matrices; ++matrix)
    {
      matrices += static_cast<int>(withPairs[matrix] >> m_Lane & 1u);
    }
    return matrices;
  }

  /** Where a warp leaves a feature of its matrix for the averages; other warps read it between two barriers. */
  __device__ double &
  Value(int feature, int warp) const
  {
    return reinterpret_cast<double *>(m_Shared +
                                      m_Layout.valuesBegin)[(feature * m_Layout.warps + warp) * lanesPerWarp + m_Lane];
  }

private:
  /** The sum of a feature over the matrices of the chunks before. */
  __device__ double &
  Total(int feature, int row) const
  {
    return reinterpret_cast<double *>(m_Shared +
                                      m_Layout.totalsBegin)[(feature * chunkRows + row) * lanesPerWarp + m_Lane];
  }

protected:
  const CooccurrenceTask & m_Task;
  const TileLayout &       m_Layout;
  std::int64_t * const     m_Terms;
  char * const             m_Shared;
  TileInfo &               m_Info;
  std::uint16_t * const    m_Tile;
  const int                m_Lane;
  const int                m_Warp;
  const int                m_Group;
  char * const             m_Table;
  int                      m_Matrix{ 0 };
  /** The step whose pairs the table has. */
  int m_CountedStep{ -2 };
};

/** Where the tiles of a list are, and into how many parts the kernel divides each of them. */
struct TileRange
{
  unsigned int firstRow;
  unsigned int inPlane;
  unsigned int parts;
};

/** Compute the tiles of a list, which begins with their number. Tiles that the block has no room for go to another
 * list, if there is one; otherwise, their windows do. */
template <typename TBlock>
__global__ void
__launch_bounds__(maxTileWarps * lanesPerWarp, 1)
  TileListKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ TileLayout layout,
                 const __grid_constant__ CudaOtherWindows others, const __grid_constant__ TileRange range,
                 const std::uint32_t * tiles, std::uint32_t * otherTiles)
{
  extern __shared__ __align__(16) char shared[];
  TBlock                               block(task, layout, shared);
  for (unsigned int i = blockIdx.x; i < tiles[0] * range.parts; i += gridDim.x)
  {
    const unsigned int tile = tiles[1 + i / range.parts];
    const unsigned int row = tile / layout.tilesX;
    const unsigned int plane = (range.firstRow + row) / range.inPlane;
    const unsigned int rowInPlane = (range.firstRow + row - plane * range.inPlane) * range.parts + i % range.parts;
    if (rowInPlane < layout.tilesY &&
        !block.Compute(plane * layout.tilesY + rowInPlane, tile - row * layout.tilesX, others))
    {
      if (otherTiles == nullptr)
      {
        block.LeaveWindows(others);
      }
      else if (threadIdx.x == 0)
      {
        // By hand, as CudaOtherWindows.
        otherTiles[1 + atomicAdd(otherTiles, 1u)] = tile;
      }
    }
    __syncthreads();
  }
}

inline bool
FitsSharedMemory(const TileLayout & layout, const CudaDeviceLimits & limits)
{
  return static_cast<std::size_t>(layout.bytes) <= limits.maxSharedMemoryPerBlock;
}

/** Launch the kernel for a list of tiles of a first stage. */
template <typename TBlock>
void
LaunchTileList(const CooccurrenceTask & task, const TileLayout & layout, const TileLayout & first,
               std::int64_t firstRow, std::int64_t endRow, const CudaOtherWindows & others, const std::uint32_t * tiles,
               std::uint32_t * otherTiles, cudaStream_t stream)
{
  const auto kernel = TileListKernel<TBlock>;
  AllowSharedMemory(kernel, static_cast<std::size_t>(layout.bytes));
  const int  parts = first.groups * first.steps / (layout.groups * layout.steps);
  const auto blocks = static_cast<unsigned int>(
    std::min<std::int64_t>(GetCudaDeviceLimits().numberOfMultiprocessors, (endRow - firstRow) * layout.tilesX * parts));
  const TileRange range{ static_cast<unsigned int>(firstRow), first.tilesY, static_cast<unsigned int>(parts) };
  kernel<<<blocks, layout.warps * lanesPerWarp, layout.bytes, stream>>>(task, layout, others, range, tiles, otherTiles);
}
} // namespace voxelmaps

#endif // CudaTileBlock_cuh
