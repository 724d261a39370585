// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceSlidingWindow.h"
#include "glcm/CooccurrenceWalk.h"

#include "glcm/MaximalCorrelation.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <utility>

namespace voxelmaps
{
namespace
{
// Long rows hide that windows have to be filled at their start; sums of one row stay in the cache.
constexpr std::int64_t maxRowLength = 128;
constexpr std::int64_t minRowLength = 16;

// The table of cells grows with the square of the number of levels in the windows of a row: at most 8 MB per thread
// with counts of 16 bits.
constexpr std::int64_t maxRanks = 2895;

constexpr std::uint64_t pairsBetweenAbortChecks = 4000000;

// Where the moments that are not in the tables begin.
constexpr std::size_t atSums = CooccurrenceTables::differenceSize;
constexpr std::size_t atSigned = atSums + CooccurrenceTables::sumSize;
constexpr std::size_t atCubesHigh = atSigned + 2;
constexpr std::size_t atWeightsHigh = atCubesHigh + 2;

/** The greatest sum of the cells of a matrix. */
std::size_t
MaxTotal(const CooccurrenceTask & task)
{
  return (task.scales.symmetric ? 2 : 1) * task.maxPairs;
}
} // namespace

CooccurrenceTables::CooccurrenceTables(const CooccurrenceTask & task)
  : rowLength(maxRowLength)
{
  if (task.needsCells && task.numberOfGrayLevels > maxRanks)
  {
    const std::int64_t planes = maxRanks / (std::int64_t{ task.window[1] } * task.window[2]);
    rowLength = std::max(minRowLength, std::min(maxRowLength, planes - task.window[0] + 1));
  }
  const std::int64_t * const terms = task.scales.entropyTable;
  if (terms != nullptr)
  {
    for (std::size_t n = 0; n < MaxTotal(task); ++n)
    {
      termSteps.push_back(terms[n + 1] - terms[n]);
    }
    for (std::int64_t m = 0; m < static_cast<std::int64_t>(task.maxPairs); ++m)
    {
      if (task.scales.symmetric)
      {
        cellSteps.push_back({ 2 * (terms[m + 1] - terms[m]), 2 * (2 * m + 1) });
        cellSteps.push_back({ terms[2 * m + 2] - terms[2 * m], 4 * (2 * m + 1) });
      }
      else
      {
        cellSteps.push_back({ terms[m + 1] - terms[m], 2 * m + 1 });
        cellSteps.push_back(cellSteps.back());
      }
    }
  }
  if (task.wideMoments || task.wideWeights)
  {
    return;
  }
  const auto levels = static_cast<std::size_t>(task.numberOfGrayLevels);
  differenceTable.assign(levels * differenceSize, 0);
  for (std::size_t k = 0; k < levels; ++k)
  {
    std::int64_t * const row = &differenceTable[k * differenceSize];
    row[0] = 1;
    row[1] = static_cast<std::int64_t>(k);
    row[2] = row[1] * row[1];
    if (task.needsWeights)
    {
      std::copy_n(task.weights + k * NumberOfCooccurrenceWeights, NumberOfCooccurrenceWeights, row + 3);
    }
  }
  sumTable.assign((2 * levels + 1) * sumSize, 0);
  for (std::size_t u = 2; u <= 2 * levels; ++u)
  {
    std::int64_t * const row = &sumTable[u * sumSize];
    row[0] = static_cast<std::int64_t>(u) - task.scales.center;
    row[1] = row[0] * row[0];
    row[2] = row[1] * row[0];
    row[3] = row[1] * row[1];
  }
}

CooccurrenceSlidingWindow::CooccurrenceSlidingWindow(const CooccurrenceTask & task, const CooccurrenceTables & tables,
                                                     const JobExecution & execution, InstructionSet widest)
  : m_Task(task)
  , m_Tables(tables)
  , m_Execution(execution)
  , m_Row(task)
  , m_Walk(task, execution, widest)
  , m_Correlations(task, execution, widest)
  , m_IsWide(task.wideMoments || task.wideWeights)
  , m_CountsPairs(task.needsCells || task.needsSumCounts || task.needsDifferenceCounts)
  , m_LevelRanks(static_cast<std::size_t>(task.numberOfGrayLevels) + 1)
  , m_Sliders(static_cast<std::size_t>(task.OffsetsPerMatrix()))
{
  const auto levels = static_cast<std::size_t>(task.numberOfGrayLevels);
  m_Counts.sums.resize(task.needsSumCounts ? 2 * levels + 1 : 0);
  m_Counts.differences.resize(task.needsDifferenceCounts ? levels : 0);
  m_Counts.countCells.resize(task.needsCells ? MaxTotal(task) + 1 : 0);
}

bool
CooccurrenceSlidingWindow::Supports(const CooccurrenceTask & task)
{
  return MaxTotal(task) <= std::numeric_limits<Count>::max();
}

void
CooccurrenceSlidingWindow::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      this->ComputeRow(y, z, start[0], start[0] + size[0]);
    }
  }
}

void
CooccurrenceSlidingWindow::ComputeRow(std::int64_t y, std::int64_t z, std::int64_t xBegin, std::int64_t xEnd)
{
  std::vector<std::int64_t> voxels;
  WindowBox                 window;
  std::int64_t              first = 0;
  m_Windows.clear();
  for (std::int64_t x = xBegin; x < xEnd; ++x)
  {
    const std::int64_t voxel = (z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x;
    const WindowBox    here(m_Task, { x, y, z });
    if (here.isComputed)
    {
      first = voxels.empty() ? here.first[0] : first;
      const int begin = static_cast<int>(here.first[0] - first);
      m_Windows.push_back({ begin, begin + here.size[0] });
      voxels.push_back(voxel);
      window = here;
    }
    else
    {
      StoreBackground(m_Task, voxel);
    }
  }
  if (voxels.empty())
  {
    return;
  }
  this->CopyLevels(first, first + m_Windows.back().end, window);
  if (m_Task.needsCells && !this->RankLevels())
  {
    m_Walk.Compute({ { xBegin, y, z } }, { { xEnd - xBegin, 1, 1 } });
    return;
  }

  m_Row.Begin(std::move(voxels));
  const int perMatrix = m_Task.OffsetsPerMatrix();
  for (int offset = 0; offset < m_Task.numberOfOffsets; offset += perMatrix)
  {
    m_Row.ClearSums();
    m_Task.scales.symmetric ? this->ComputeMatrix<true>(offset, perMatrix)
                            : this->ComputeMatrix<false>(offset, perMatrix);
    m_Row.FinishMatrix(offset / perMatrix);
  }
  m_Row.Finish();
}

void
CooccurrenceSlidingWindow::CopyLevels(std::int64_t xBegin, std::int64_t xEnd, const WindowBox & window)
{
  m_SizeY = window.size[1];
  m_SizeZ = window.size[2];
  const auto planeSize = static_cast<std::size_t>(m_SizeY) * static_cast<std::size_t>(m_SizeZ);
  const auto planes = static_cast<std::size_t>(xEnd - xBegin);
  m_Levels.resize(planes * planeSize);
  for (int z = 0; z < m_SizeZ; ++z)
  {
    for (int y = 0; y < m_SizeY; ++y)
    {
      const std::uint16_t * const from =
        m_Task.levels + m_Task.LevelOffset(xBegin, window.first[1] + y, window.first[2] + z);
      std::uint16_t * const to = &m_Levels[static_cast<std::size_t>(z * m_SizeY + y)];
      for (std::size_t x = 0; x < planes; ++x)
      {
        to[x * planeSize] = from[x];
      }
    }
  }
}

bool
CooccurrenceSlidingWindow::RankLevels()
{
  m_Ranks.resize(m_Levels.size());
  m_RankLevels.clear();
  for (std::size_t i = 0; i < m_Levels.size(); ++i)
  {
    std::uint16_t & rank = m_LevelRanks[m_Levels[i]];
    if (rank == 0 && m_Levels[i] != 0)
    {
      m_RankLevels.push_back(m_Levels[i]);
      rank = static_cast<std::uint16_t>(m_RankLevels.size());
      if (m_RankLevels.size() > static_cast<std::size_t>(maxRanks))
      {
        break;
      }
    }
    m_Ranks[i] = rank;
  }
  if (m_Task.needsMaximalCorrelation && m_RankLevels.size() <= static_cast<std::size_t>(maxRanks))
  {
    std::sort(m_RankLevels.begin(), m_RankLevels.end());
    for (std::size_t rank = 0; rank < m_RankLevels.size(); ++rank)
    {
      m_LevelRanks[m_RankLevels[rank]] = static_cast<std::uint16_t>(rank + 1);
    }
    std::transform(
      m_Levels.begin(), m_Levels.end(), m_Ranks.begin(), [this](std::uint16_t level) { return m_LevelRanks[level]; });
  }
  for (const std::uint16_t level : m_RankLevels)
  {
    m_LevelRanks[level] = 0;
  }
  return m_RankLevels.size() <= static_cast<std::size_t>(maxRanks);
}

void
CooccurrenceSlidingWindow::SetOffset(const PairOffset & offset, Slider & slider) const
{
  const auto & step = offset.step;
  slider.before = std::max(-step[0], 0);
  slider.after = std::max(step[0], 0);
  slider.yBegin = std::max(-step[1], 0);
  slider.yEnd = std::max(m_SizeY - std::max(step[1], 0), slider.yBegin);
  slider.zBegin = std::max(-step[2], 0);
  slider.zEnd = std::max(m_SizeZ - std::max(step[2], 0), slider.zBegin);
  slider.stride = (std::ptrdiff_t{ step[0] } * m_SizeZ + step[2]) * m_SizeY + step[1];
  slider.begin = 0;
  slider.end = 0;
  slider.moments = Moments{};
  // One more than have pairs in a window, so that a plane can be made before another one leaves.
  slider.planes.resize(static_cast<std::size_t>(std::max(m_Task.window[0] - slider.before - slider.after, 0)) + 1);
  const auto maxPairs = static_cast<std::size_t>((slider.yEnd - slider.yBegin) * (slider.zEnd - slider.zBegin));
  for (Plane & plane : slider.planes)
  {
    plane.pairs.resize(std::max(plane.pairs.size(), m_CountsPairs ? maxPairs : 0));
  }
}

void
CooccurrenceSlidingWindow::CheckAbort(const Slider & slider)
{
  m_Pairs += static_cast<std::uint64_t>((slider.yEnd - slider.yBegin) * (slider.zEnd - slider.zBegin));
  if (m_Pairs >= pairsBetweenAbortChecks)
  {
    m_Pairs = 0;
    m_Execution.CheckAbort();
  }
}

template <bool VSymmetric>
void
CooccurrenceSlidingWindow::MakePlane(const Slider & slider, int x, Plane & plane)
{
  const std::ptrdiff_t first = std::ptrdiff_t{ x } * m_SizeZ * m_SizeY;
  const auto           forEachPair = [&](const auto & visit) {
    for (int z = slider.zBegin; z < slider.zEnd; ++z)
    {
      const std::uint16_t * const levels = &m_Levels[static_cast<std::size_t>(first + z * m_SizeY)];
      for (int y = slider.yBegin; y < slider.yEnd; ++y)
      {
        const int a = levels[y];
        const int b = levels[y + slider.stride];
        if (a != 0 && b != 0)
        {
          visit(first + z * m_SizeY + y, a, b);
        }
      }
    }
  };
  if (m_IsWide)
  {
    CooccurrenceSums wide{};
    forEachPair([&](std::ptrdiff_t, int a, int b) { AddCooccurrencePair(m_Task, a, b, wide); });
    plane.moments = {
      wide.pairs,          wide.differences,    wide.differenceSquares, wide.weights[0],     wide.weights[1],
      wide.weights[2],     wide.weights[3],     wide.weights[4],        wide.sums,           wide.sumSquares,
      wide.sumCubes,       wide.sumFourths,     wide.signedDifferences, wide.products,       wide.sumCubesHigh,
      wide.sumFourthsHigh, wide.weightsHigh[0], wide.weightsHigh[1],    wide.weightsHigh[2], wide.weightsHigh[3],
      wide.weightsHigh[4]
    };
  }
  else
  {
    // Local arrays, which stay in registers.
    constexpr std::size_t differenceStride = CooccurrenceTables::differenceSize;
    constexpr std::size_t sumStride = CooccurrenceTables::sumSize;
    std::int64_t          differences[differenceStride]{};
    std::int64_t          sums[sumStride]{};
    std::int64_t          signedDifferences = 0;
    std::int64_t          products = 0;
    const std::int64_t *  differenceTable = m_Tables.differenceTable.data();
    const std::int64_t *  sumTable = m_Tables.sumTable.data();
    forEachPair([&](std::ptrdiff_t, int a, int b) {
      const std::int64_t * const difference = differenceTable + std::abs(a - b) * std::ptrdiff_t{ differenceStride };
      const std::int64_t * const sum = sumTable + (a + b) * std::ptrdiff_t{ sumStride };
      for (std::size_t i = 0; i < differenceStride; ++i)
      {
        differences[i] += difference[i];
      }
      for (std::size_t i = 0; i < sumStride; ++i)
      {
        sums[i] += sum[i];
      }
    });
    if constexpr (!VSymmetric)
    {
      forEachPair([&](std::ptrdiff_t, int a, int b) {
        signedDifferences += a - b;
        products += (a - b) * sumTable[(a + b) * std::ptrdiff_t{ sumStride }];
      });
    }
    std::copy_n(differences, differenceStride, plane.moments.begin());
    std::copy_n(sums, sumStride, plane.moments.begin() + atSums);
    plane.moments[atSigned] = signedDifferences;
    plane.moments[atSigned + 1] = products;
  }
  if (!m_CountsPairs)
  {
    return;
  }

  Pair *                      pair = plane.pairs.data();
  const auto                  numberOfRanks = static_cast<std::uint32_t>(m_RankLevels.size());
  const std::uint16_t * const ranks = m_Task.needsCells ? m_Ranks.data() : m_Levels.data();
  forEachPair([&](std::ptrdiff_t at, int a, int b) {
    const std::uint32_t firstRank = ranks[at];
    const std::uint32_t secondRank = ranks[at + slider.stride];
    if constexpr (VSymmetric)
    {
      const std::uint32_t greater = std::max(firstRank, secondRank);
      pair->cell = greater * (greater - 1) / 2 + (firstRank + secondRank - greater) - 1;
    }
    else
    {
      pair->cell = (firstRank - 1) * numberOfRanks + secondRank - 1;
    }
    pair->sum = static_cast<std::uint32_t>(a + b);
    pair->difference = static_cast<std::uint16_t>(std::abs(a - b));
    pair->firstRank = static_cast<std::uint16_t>(firstRank);
    pair->secondRank = static_cast<std::uint16_t>(secondRank);
    pair->isEqual = a == b ? 1 : 0;
    ++pair;
  });
  plane.number = static_cast<std::size_t>(pair - plane.pairs.data());
}

void
CooccurrenceSlidingWindow::StoreMoments(const Moments & moments, CooccurrenceSums & sums) const
{
  sums.pairs += moments[0];
  sums.differences += moments[1];
  sums.differenceSquares += moments[2];
  sums.sums += moments[atSums];
  sums.sumSquares += moments[atSums + 1];
  sums.sumCubes += moments[atSums + 2];
  sums.sumFourths += moments[atSums + 3];
  sums.signedDifferences += moments[atSigned];
  sums.products += moments[atSigned + 1];
  for (std::size_t w = 0; w < NumberOfCooccurrenceWeights; ++w)
  {
    sums.weights[w] += moments[3 + w];
  }
  if (m_IsWide)
  {
    sums.sumCubesHigh += moments[atCubesHigh];
    sums.sumFourthsHigh += moments[atCubesHigh + 1];
    for (std::size_t w = 0; w < NumberOfCooccurrenceWeights; ++w)
    {
      sums.weightsHigh[w] += moments[atWeightsHigh + w];
    }
  }
}

template <bool VSymmetric>
void
CooccurrenceSlidingWindow::ComputeMatrix(int firstOffset, int numberOfOffsets)
{
  if (m_Task.needsCells)
  {
    const std::size_t ranks = m_RankLevels.size();
    const std::size_t cells = VSymmetric ? ranks * (ranks + 1) / 2 : ranks * ranks;
    m_Counts.cells.resize(std::max(m_Counts.cells.size(), cells));
    m_Counts.rows.resize(std::max(m_Counts.rows.size(), ranks + 1));
    m_Counts.columns.resize(std::max(m_Counts.columns.size(), ranks + 1));
  }
  for (int i = 0; i < numberOfOffsets; ++i)
  {
    this->SetOffset(m_Task.offsets[firstOffset + i], m_Sliders[static_cast<std::size_t>(i)]);
  }
  CooccurrenceSums sums{};
  for (std::size_t n = 0; n < m_Windows.size(); ++n)
  {
    CooccurrenceSums & to = m_Row.Sums()[n];
    for (Slider & slider : m_Sliders)
    {
      this->MoveTo<VSymmetric>(m_Windows[n], slider, sums);
      this->StoreMoments(slider.moments, to);
    }
    // Counts that fall leave the maximum too great.
    while (sums.maximum > 0 && m_Counts.countCells[static_cast<std::size_t>(sums.maximum)] == 0)
    {
      --sums.maximum;
    }
    to.differenceTerms = sums.differenceTerms;
    to.sumTerms = sums.sumTerms;
    to.cellTerms = sums.cellTerms;
    to.rowTerms = sums.rowTerms;
    to.columnTerms = sums.columnTerms;
    to.cellSquares = sums.cellSquares;
    to.maximum = sums.maximum;
    if (m_Task.needsMaximalCorrelation && to.pairs != 0)
    {
      this->CorrelateCells<VSymmetric>(to);
    }
  }
  m_Correlations.Flush();
  // Leave the tables empty.
  const int end = m_Windows.back().end;
  for (Slider & slider : m_Sliders)
  {
    this->MoveTo<VSymmetric>({ end, end }, slider, sums);
  }
}

template <bool VSymmetric>
void
CooccurrenceSlidingWindow::CorrelateCells(CooccurrenceSums & sums)
{
  const std::size_t ranks = m_RankLevels.size();
  const auto        findRanks = [ranks](const std::vector<Count> & rankCounts, std::vector<std::size_t> & found) {
    found.clear();
    for (std::size_t rank = 1; rank <= ranks; ++rank)
    {
      if (rankCounts[rank] != 0)
      {
        found.push_back(rank - 1);
      }
    }
  };
  findRanks(m_Counts.rows, m_WindowRows);
  if constexpr (VSymmetric)
  {
    double * to = m_Correlations.BeginSymmetric(static_cast<int>(m_WindowRows.size()), &sums.maximalCorrelation);
    const std::ptrdiff_t stride = m_Correlations.GetStride();
    for (std::size_t i = 0; i < m_WindowRows.size(); ++i)
    {
      const Count * const cells = &m_Counts.cells[m_WindowRows[i] * (m_WindowRows[i] + 1) / 2];
      for (std::size_t j = 0; j < i; ++j, to += stride)
      {
        *to = cells[m_WindowRows[j]];
      }
      // Pairs of one level are counted in both orders.
      *to = 2.0 * cells[m_WindowRows[i]];
      to += stride;
    }
  }
  else
  {
    findRanks(m_Counts.columns, m_WindowColumns);
    double * to = m_Correlations.BeginAsymmetric(
      static_cast<int>(m_WindowRows.size()), static_cast<int>(m_WindowColumns.size()), &sums.maximalCorrelation);
    for (const std::size_t row : m_WindowRows)
    {
      for (const std::size_t column : m_WindowColumns)
      {
        *to++ = m_Counts.cells[row * ranks + column];
      }
    }
    m_Correlations.FinishAsymmetric();
  }
}

template <bool VSymmetric>
void
CooccurrenceSlidingWindow::MoveTo(const Window & window, Slider & slider, CooccurrenceSums & sums)
{
  // Windows move upward: both ends never decrease.
  const int  begin = window.begin + slider.before;
  const int  end = window.end - slider.after;
  const auto getPlane = [&slider](int x) -> Plane & {
    return slider.planes[static_cast<std::size_t>(x) % slider.planes.size()];
  };
  const auto change = [&](const Moments & by, const auto & operation) {
    std::int64_t * const moments = slider.moments.data();
    std::transform(moments, moments + (m_IsWide ? numberOfMoments : atCubesHigh), by.data(), moments, operation);
  };
  for (; slider.begin < begin && slider.begin < slider.end; ++slider.begin)
  {
    const Plane & plane = getPlane(slider.begin);
    change(plane.moments, std::minus<>());
    if (m_CountsPairs)
    {
      this->CountPlane<VSymmetric, false>(plane, sums);
    }
  }
  if (slider.begin == slider.end)
  {
    slider.begin = std::max(slider.begin, begin);
    slider.end = slider.begin;
  }
  for (; slider.end < end; ++slider.end)
  {
    this->CheckAbort(slider);
    Plane & plane = getPlane(slider.end);
    this->MakePlane<VSymmetric>(slider, slider.end, plane);
    change(plane.moments, std::plus<>());
    if (m_CountsPairs)
    {
      this->CountPlane<VSymmetric, true>(plane, sums);
    }
  }
}

template <bool VSymmetric, bool VAdd>
void
CooccurrenceSlidingWindow::CountPlane(const Plane & plane, CooccurrenceSums & sums)
{
  const std::int64_t * const steps = m_Tables.termSteps.data();
  const bool                 needsSumCounts = m_Task.needsSumCounts;
  const bool                 needsDifferenceCounts = m_Task.needsDifferenceCounts;
  const bool                 needsCells = m_Task.needsCells;
  const bool                 needsRows = m_Task.needsRows;

  // The change of the sum of terms as a count goes up or down by one.
  const auto count = [=](Count & n) {
    const auto smaller = static_cast<Count>(VAdd ? n : n - 1);
    n = static_cast<Count>(VAdd ? smaller + 1 : smaller);
    return steps[smaller];
  };
  const CooccurrenceTables::CellStep * const cellSteps = m_Tables.cellSteps.data();
  Count * const                              cells = m_Counts.cells.data();
  Count * const                              rows = m_Counts.rows.data();
  Count * const                              columns = m_Counts.columns.data();
  Count * const                              sumCounts = m_Counts.sums.data();
  Count * const                              differences = m_Counts.differences.data();
  std::uint32_t * const                      countCells = m_Counts.countCells.data();

  std::int64_t       sumTerms = 0;
  std::int64_t       differenceTerms = 0;
  std::int64_t       cellTerms = 0;
  std::int64_t       cellSquares = 0;
  std::int64_t       rowTerms = 0;
  std::int64_t       columnTerms = 0;
  auto               maximum = static_cast<std::uint32_t>(sums.maximum);
  const Pair * const end = plane.pairs.data() + plane.number;
  for (const Pair * pair = plane.pairs.data(); pair != end; ++pair)
  {
    if (needsSumCounts)
    {
      sumTerms += count(sumCounts[pair->sum]);
    }
    if (needsDifferenceCounts)
    {
      differenceTerms += count(differences[pair->difference]);
    }
    if (!needsCells)
    {
      continue;
    }
    // Pairs of one level are counted twice in the same cell of a symmetric matrix, others in two cells.
    const std::uint32_t isDouble = VSymmetric ? pair->isEqual : 0;
    Count &             cell = cells[pair->cell];
    const auto          smaller = static_cast<Count>(VAdd ? cell : cell - 1);
    cell = static_cast<Count>(VAdd ? smaller + 1 : smaller);
    const std::uint32_t                  less = std::uint32_t{ smaller } << isDouble;
    const std::uint32_t                  more = less + 1 + isDouble;
    const CooccurrenceTables::CellStep & step = cellSteps[2 * std::size_t{ smaller } + isDouble];
    cellTerms += step.terms;
    cellSquares += step.squares;
    if (VAdd)
    {
      --countCells[less];
      ++countCells[more];
      maximum = std::max(maximum, more);
    }
    else
    {
      ++countCells[less];
      --countCells[more];
    }
    if (needsRows)
    {
      rowTerms += count(rows[pair->firstRank]);
      if (VSymmetric)
      {
        rowTerms += count(rows[pair->secondRank]);
      }
      else
      {
        columnTerms += count(columns[pair->secondRank]);
      }
    }
  }
  constexpr std::int64_t sign = VAdd ? 1 : -1;
  sums.sumTerms += sign * sumTerms;
  sums.differenceTerms += sign * differenceTerms;
  sums.cellTerms += sign * cellTerms;
  sums.cellSquares += sign * cellSquares;
  sums.rowTerms += sign * rowTerms;
  sums.columnTerms += sign * columnTerms;
  sums.maximum = maximum;
}
} // namespace voxelmaps
