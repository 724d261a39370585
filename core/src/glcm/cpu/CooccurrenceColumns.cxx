// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceColumns.h"

#include "window/cpu/TileKernel.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace voxelmaps
{
namespace
{
// Sums of squares fit 32 bits, and the pairs of a column 8 bits on the diagonal, where they count twice.
constexpr std::uint64_t maxPairs = 8191;
constexpr int           maxColumnPairs = 127;

// Places have 16 bits, and ranks 8.
constexpr std::size_t maxRanks = 160;
constexpr int         maxLevelSpan = 512;

// Few pairs are counted faster one by one.
constexpr int minColumnPairs = 16;

// One of so many windows of a tile must be computed; otherwise, counting only these is faster.
constexpr std::size_t minComputedShare = 4;

int
PadPart(int counts)
{
  return (counts + CooccurrenceTile::alignment - 1) / CooccurrenceTile::alignment * CooccurrenceTile::alignment;
}
} // namespace

CooccurrenceColumns::CooccurrenceColumns(const CooccurrenceTask & task, const CooccurrenceTables & tables,
                                         const JobExecution & execution, InstructionSet widest)
  : m_Task(task)
  , m_Tables(tables)
  , m_Execution(execution)
  , m_SlidingWindow(task, tables, execution, widest)
  , m_Correlations(task, execution, widest)
  , m_CountsPerPair(ChooseKernel(widest, VOXELMAPS_KERNELS(GetCooccurrenceTileCounts))())
  , m_ComputeTile(ChooseKernel(widest, VOXELMAPS_KERNELS(ComputeCooccurrenceTile)))
  , m_LevelRanks(static_cast<std::size_t>(task.numberOfGrayLevels) + 1)
{
  constexpr int          numbers = CooccurrenceTile::smallCounts;
  constexpr std::int64_t mask = (std::int64_t{ 1 } << CooccurrenceTile::sliceBits) - 1;
  const std::uint64_t    maxTotal = 2 * task.maxPairs;
  for (int slice = 0; slice < CooccurrenceTile::slices; ++slice)
  {
    for (std::uint64_t n = 0; n < numbers; ++n)
    {
      const std::int64_t term = n <= maxTotal ? task.scales.entropyTable[n] : 0;
      m_TermSlices.push_back(static_cast<std::uint16_t>((term >> (CooccurrenceTile::sliceBits * slice)) & mask));
    }
  }
  m_Tile.context = this;
  const bool needsTerms = std::any_of(task.features, task.features + task.numberOfFeatures, [](auto feature) {
    return feature != CooccurrenceTask::Feature::MaximalCorrelationCoefficient;
  });
  m_Tile.terms = needsTerms ? task.scales.entropyTable : nullptr;
  m_Tile.termSlices = m_TermSlices.data();
  m_Tile.differenceTable = tables.differenceTable.data();
  m_Tile.finishWindow =
    [](void * context, int x, int y, const CooccurrenceTileSums & sums, const std::uint16_t * counts) {
      static_cast<CooccurrenceColumns *>(context)->FinishWindow(x, y, sums, counts);
    };
}

bool
CooccurrenceColumns::Supports(const CooccurrenceTask & task, InstructionSet widest)
{
  const std::int64_t columnPairs = std::int64_t{ task.window[1] } * task.window[2];
  if (ChooseKernel(widest, VOXELMAPS_KERNELS(GetCooccurrenceTileCounts))() == 0 || !task.needsCells ||
      !task.scales.symmetric || task.OffsetsPerMatrix() != 1 || task.wideMoments || task.wideWeights ||
      task.maxPairs > maxPairs || columnPairs < minColumnPairs || columnPairs > maxColumnPairs)
  {
    return false;
  }
  constexpr int bits = CooccurrenceTile::slices * CooccurrenceTile::sliceBits;
  const auto    greatest = std::min<std::uint64_t>(CooccurrenceTile::smallCounts - 1, 2 * task.maxPairs);
  return task.scales.entropyTable[greatest] >> bits == 0;
}

void
CooccurrenceColumns::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    const Triple planeStart{ { start[0], start[1], z } };
    const Triple planeSize{ { size[0], size[1], 1 } };
    if (!this->ComputePlane(planeStart, planeSize))
    {
      m_SlidingWindow.Compute(planeStart, planeSize);
    }
  }
}

bool
CooccurrenceColumns::ComputePlane(const Triple & start, const Triple & size)
{
  this->SelectWindows(start, size);
  const auto computed = static_cast<std::size_t>(std::count(m_IsComputed.begin(), m_IsComputed.end(), 1));
  if (computed * minComputedShare < m_IsComputed.size() || computed == 0 || !this->RankLevels(start, size) ||
      !this->LayOutTable())
  {
    return false;
  }
  for (std::int64_t y = 0; y < size[1]; ++y)
  {
    std::vector<std::int64_t> voxels;
    for (std::int64_t x = 0; x < size[0]; ++x)
    {
      const auto         at = static_cast<std::size_t>(y * size[0] + x);
      const std::int64_t voxel = (start[2] * m_Task.outputSize[1] + start[1] + y) * m_Task.outputSize[0] + start[0] + x;
      if (m_IsComputed[at] != 0)
      {
        m_RowVoxels[at] = static_cast<std::int32_t>(voxels.size());
        voxels.push_back(voxel);
        continue;
      }
      StoreBackground(m_Task, voxel);
    }
    m_Rows[static_cast<std::size_t>(y)].Begin(std::move(voxels));
  }
  this->MakePlaces();
  for (int offset = 0; offset < m_Task.numberOfOffsets; ++offset)
  {
    m_Execution.CheckAbort();
    this->ComputeMatrices(offset);
  }
  for (std::int64_t y = 0; y < size[1]; ++y)
  {
    m_Rows[static_cast<std::size_t>(y)].Finish();
  }
  return true;
}

void
CooccurrenceColumns::SelectWindows(const Triple & start, const Triple & size)
{
  m_Tile.windows[0] = static_cast<int>(size[0]);
  m_Tile.windows[1] = static_cast<int>(size[1]);
  while (m_Rows.size() < static_cast<std::size_t>(size[1]))
  {
    m_Rows.emplace_back(m_Task);
  }
  m_RowVoxels.resize(static_cast<std::size_t>(size[0] * size[1]));
  m_IsComputed.clear();
  for (std::int64_t y = 0; y < size[1]; ++y)
  {
    for (std::int64_t x = 0; x < size[0]; ++x)
    {
      m_IsComputed.push_back(WindowBox(m_Task, { start[0] + x, start[1] + y, start[2] }).isComputed ? 1 : 0);
    }
  }
  m_Tile.isComputed = m_IsComputed.data();
}

bool
CooccurrenceColumns::RankLevels(const Triple & start, const Triple & size)
{
  std::int64_t first[3];
  std::int64_t extent[3];
  for (int d = 0; d < 3; ++d)
  {
    first[d] = start[d] + m_Task.outputToLevels[d] - m_Task.anchor[d];
    extent[d] = size[d] + m_Task.window[d] - 1;
  }
  m_Tile.strideY = static_cast<std::ptrdiff_t>(extent[2]);
  m_Tile.strideX = static_cast<std::ptrdiff_t>(extent[1]) * m_Tile.strideY;
  const auto forEachLine = [&](const auto & visit) {
    // Voxels outside the level buffer are absent.
    const std::int64_t xBegin = std::max<std::int64_t>(-first[0], 0);
    const std::int64_t xEnd = std::min(m_Task.levelsSize[0] - first[0], extent[0]);
    for (std::int64_t z = std::max<std::int64_t>(-first[2], 0);
         z < std::min(m_Task.levelsSize[2] - first[2], extent[2]);
         ++z)
    {
      for (std::int64_t y = std::max<std::int64_t>(-first[1], 0);
           y < std::min(m_Task.levelsSize[1] - first[1], extent[1]);
           ++y)
      {
        const std::uint16_t * const levels = m_Task.levels + m_Task.LevelOffset(first[0], first[1] + y, first[2] + z);
        std::uint8_t * const        ranks = m_Ranks.data() + y * m_Tile.strideY + z;
        for (std::int64_t x = xBegin; x < xEnd; ++x)
        {
          visit(levels[x], ranks[x * m_Tile.strideX]);
        }
      }
    }
  };
  m_Ranks.assign(static_cast<std::size_t>(extent[0] * extent[1] * extent[2]), 0);
  m_RankLevels.clear();
  forEachLine([this](std::uint16_t level, std::uint8_t &) {
    if (level != 0 && m_LevelRanks[level] == 0 && m_RankLevels.size() <= maxRanks)
    {
      m_LevelRanks[level] = 1;
      m_RankLevels.push_back(level);
    }
  });
  std::sort(m_RankLevels.begin(), m_RankLevels.end());
  const bool isSupported =
    m_RankLevels.size() <= maxRanks && m_RankLevels.back() - m_RankLevels.front() <= maxLevelSpan;
  if (isSupported)
  {
    for (std::size_t i = 0; i < m_RankLevels.size(); ++i)
    {
      m_LevelRanks[m_RankLevels[i]] = static_cast<std::uint8_t>(i + 1);
    }
    forEachLine([this](std::uint16_t level, std::uint8_t & rank) { rank = m_LevelRanks[level]; });
    m_Tile.ranks = m_Ranks.data();
  }
  for (const std::uint16_t level : m_RankLevels)
  {
    m_LevelRanks[level] = 0;
  }
  return isSupported;
}

bool
CooccurrenceColumns::LayOutTable()
{
  const auto ranks = static_cast<int>(m_RankLevels.size());
  const int  leastLevel = m_RankLevels.front();
  const int  span = m_RankLevels.back() - leastLevel + 1;
  m_Tile.numberOfRanks = ranks;
  m_Tile.sumsBegin = PadPart(ranks + 1);
  m_Tile.differencesBegin = m_Tile.sumsBegin + PadPart(2 * span - 1);
  m_Tile.diagonalBegin = m_Tile.differencesBegin + PadPart(span);
  m_Tile.cellsBegin = m_Tile.diagonalBegin + PadPart(ranks);
  m_Tile.size = m_Tile.cellsBegin + PadPart(std::max(ranks * (ranks - 1) / 2, 1));
  m_Tile.sumTable = m_Tables.sumTable.data() + std::ptrdiff_t{ 2 } * leastLevel * cooccurrenceSumMoments;

  return m_Tile.size <= m_CountsPerPair * m_Task.window[1] * m_Task.window[2];
}

void
CooccurrenceColumns::MakePlaces()
{
  const int ranks = m_Tile.numberOfRanks;
  const int leastLevel = m_RankLevels.front();
  m_DifferenceBegins.assign(1, m_Tile.diagonalBegin);
  int begin = m_Tile.cellsBegin;
  for (int difference = 1; difference < ranks; begin += ranks - difference, ++difference)
  {
    m_DifferenceBegins.push_back(begin);
  }
  m_Places.resize(static_cast<std::size_t>((ranks + 1) * (ranks + 1)));
  for (int i = 1; i <= ranks; ++i)
  {
    for (int j = 1; j <= ranks; ++j)
    {
      const int            first = m_RankLevels[static_cast<std::size_t>(i - 1)];
      const int            second = m_RankLevels[static_cast<std::size_t>(j - 1)];
      CooccurrencePlaces & places = m_Places[static_cast<std::size_t>(i * (ranks + 1) + j)];
      places.sum = static_cast<std::uint16_t>(m_Tile.sumsBegin + first + second - 2 * leastLevel);
      places.difference = static_cast<std::uint16_t>(m_Tile.differencesBegin + std::abs(first - second));
      places.cell =
        static_cast<std::uint16_t>(m_DifferenceBegins[static_cast<std::size_t>(std::abs(i - j))] + std::min(i, j) - 1);
      places.step = i == j ? 2 : 1;
    }
  }
  m_Tile.places = m_Places.data();

  // One column more than any offset needs, and an even number for the alignment of what stands behind their moments.
  const auto        columns = static_cast<std::size_t>((m_Tile.windows[0] + m_Task.window[0] + 1) / 2 * 2);
  const auto        size = static_cast<std::size_t>(m_Tile.size);
  const std::size_t momentBytes = columns * cooccurrenceMoments * sizeof(std::int64_t);
  const std::size_t countBytes = size * sizeof(std::uint16_t);
  const std::size_t bytes = momentBytes + countBytes + columns * size;
  if (m_MemoryBytes < bytes)
  {
    m_Memory = MakeWorkspace(bytes);
    m_MemoryBytes = bytes;
  }
  auto * const memory = static_cast<std::uint8_t *>(m_Memory.get());
  m_Tile.columnMoments = reinterpret_cast<std::int64_t *>(memory);
  m_Tile.counts = reinterpret_cast<std::uint16_t *>(memory + momentBytes);
  m_Tile.columns = memory + momentBytes + countBytes;
}

void
CooccurrenceColumns::ComputeMatrices(int offset)
{
  const auto & step = m_Task.offsets[offset].step;
  bool         hasPairs = true;
  for (int d = 0; d < 3; ++d)
  {
    m_Tile.pairs[d] = m_Task.window[d] - std::abs(step[d]);
    hasPairs = hasPairs && m_Tile.pairs[d] > 0;
  }
  const auto rowsEnd = m_Rows.begin() + m_Tile.windows[1];
  std::for_each(m_Rows.begin(), rowsEnd, [](CooccurrenceRow & row) { row.ClearSums(); });
  if (hasPairs)
  {
    const auto at = [this](int x, int y, int z) { return x * m_Tile.strideX + y * m_Tile.strideY + z; };
    m_Tile.first = at(std::max(-step[0], 0), std::max(-step[1], 0), std::max(-step[2], 0));
    m_Tile.step = at(step[0], step[1], step[2]);
    m_ComputeTile(m_Tile);
    m_Correlations.Flush();
  }
  std::for_each(m_Rows.begin(), rowsEnd, [offset](CooccurrenceRow & row) { row.FinishMatrix(offset); });
}

void
CooccurrenceColumns::FinishWindow(int x, int y, const CooccurrenceTileSums & sums, const std::uint16_t * counts)
{
  const auto         window = static_cast<std::size_t>(y * m_Tile.windows[0] + x);
  CooccurrenceSums & to = m_Rows[static_cast<std::size_t>(y)].Sums()[m_RowVoxels[window]];
  to.pairs = sums.moments[0];
  to.differences = sums.moments[1];
  to.differenceSquares = sums.moments[2];
  std::copy_n(sums.moments + 3, static_cast<int>(NumberOfCooccurrenceWeights), to.weights);
  const std::int64_t * const sumTable = sums.moments + cooccurrenceDifferenceMoments;
  to.sums = sumTable[0];
  to.sumSquares = sumTable[1];
  to.sumCubes = sumTable[2];
  to.sumFourths = sumTable[3];
  to.rowTerms = sums.rowTerms;
  to.sumTerms = sums.sumTerms;
  to.differenceTerms = sums.differenceTerms;
  to.cellTerms = sums.cellTerms;
  to.cellSquares = sums.cellSquares;
  to.maximum = sums.maximum;
  if (m_Task.needsMaximalCorrelation && to.pairs != 0)
  {
    this->CorrelateCells(counts, to);
  }
}

void
CooccurrenceColumns::CorrelateCells(const std::uint16_t * counts, CooccurrenceSums & sums)
{
  m_WindowRanks.clear();
  for (int rank = 1; rank <= m_Tile.numberOfRanks; ++rank)
  {
    if (counts[rank] != 0)
    {
      m_WindowRanks.push_back(rank - 1);
    }
  }
  const auto           levels = static_cast<int>(m_WindowRanks.size());
  double *             to = m_Correlations.BeginSymmetric(levels, &sums.maximalCorrelation);
  const std::ptrdiff_t stride = m_Correlations.GetStride();
  const int * const    ranks = m_WindowRanks.data();
  const int * const    begins = m_DifferenceBegins.data();
  for (int i = 0; i < levels; ++i)
  {
    for (int j = 0; j <= i; ++j, to += stride)
    {
      *to = counts[begins[ranks[i] - ranks[j]] + ranks[j]];
    }
  }
}
} // namespace voxelmaps
