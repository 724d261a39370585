// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceWalk.h"

#include "cooccurrence/CooccurrencePairs.h"
#include "cooccurrence/MaximalCorrelation.h"

#include <algorithm>
#include <iterator>

namespace voxelmaps
{
namespace
{
constexpr std::uint64_t pairsBetweenAbortChecks = 1000000;

/** Call visit(n) for every group of n equal keys. */
template <typename TVisit>
void
ForEachGroup(std::vector<std::uint32_t> & keys, const TVisit & visit)
{
  std::sort(keys.begin(), keys.end());
  for (std::size_t first = 0; first < keys.size();)
  {
    std::size_t end = first + 1;
    while (end < keys.size() && keys[end] == keys[first])
    {
      ++end;
    }
    visit(static_cast<std::int64_t>(end - first));
    first = end;
  }
}
} // namespace

CooccurrenceWalk::CooccurrenceWalk(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest)
  : m_Task(task)
  , m_Execution(execution)
  , m_Row(task)
  , m_Correlations(task, execution, widest)
{}

void
CooccurrenceWalk::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      for (std::int64_t x = start[0]; x < start[0] + size[0]; ++x)
      {
        const std::int64_t voxel = (z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x;
        const WindowBox    window(m_Task, { x, y, z });
        if (!window.isComputed)
        {
          for (int c = 0; c < m_Task.numberOfComponents; ++c)
          {
            StoreComponentOrNaN(m_Task, voxel * m_Task.voxelStride, c, m_Task.backgroundValue);
          }
          continue;
        }
        m_Row.Begin({ voxel });
        const int perMatrix = m_Task.OffsetsPerMatrix();
        for (int first = 0; first < m_Task.numberOfOffsets; first += perMatrix)
        {
          m_Row.ClearSums();
          CooccurrenceSums & sums = m_Row.Sums()[0];
          for (std::vector<std::uint32_t> * keys : { &m_Cells, &m_Rows, &m_Columns, &m_LevelSums, &m_Differences })
          {
            keys->clear();
          }
          for (int offset = first; offset < first + perMatrix; ++offset)
          {
            this->AddPairs(m_Task.offsets[offset], window, sums);
          }
          this->CountCells(sums);
          if (m_Task.needsMaximalCorrelation && sums.pairs != 0)
          {
            this->CorrelateCells(sums);
          }
          m_Row.FinishMatrix(first / perMatrix);
        }
        m_Row.Finish();
      }
    }
  }
}

void
CooccurrenceWalk::AddPairs(const PairOffset & offset, const WindowBox & window, CooccurrenceSums & sums)
{
  const auto & step = offset.step;
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      for (int x = 0; x < window.size[0]; ++x)
      {
        const auto a = static_cast<std::uint32_t>(window.Level(m_Task, x, y, z));
        const auto b = static_cast<std::uint32_t>(window.Level(m_Task, x + step[0], y + step[1], z + step[2]));
        if (a == 0 || b == 0)
        {
          continue;
        }
        AddCooccurrencePair(m_Task, static_cast<int>(a), static_cast<int>(b), sums);
        m_LevelSums.push_back(a + b);
        m_Differences.push_back(a < b ? b - a : a - b);
        m_Cells.push_back((a << 16) | b);
        m_Rows.push_back(a);
        if (m_Task.scales.symmetric)
        {
          m_Cells.push_back((b << 16) | a);
          m_Rows.push_back(b);
        }
        else
        {
          m_Columns.push_back(b);
        }
        if (++m_Pairs % pairsBetweenAbortChecks == 0)
        {
          m_Execution.CheckAbort();
        }
      }
    }
  }
}

void
CooccurrenceWalk::CountCells(CooccurrenceSums & sums)
{
  const std::int64_t * const terms = m_Task.scales.entropyTable;
  if (m_Task.needsSumCounts)
  {
    ForEachGroup(m_LevelSums, [&](std::int64_t n) { sums.sumTerms += terms[n]; });
  }
  if (m_Task.needsDifferenceCounts)
  {
    ForEachGroup(m_Differences, [&](std::int64_t n) { sums.differenceTerms += terms[n]; });
  }
  if (m_Task.needsCells)
  {
    ForEachGroup(m_Cells, [&](std::int64_t n) {
      sums.cellTerms += terms[n];
      sums.cellSquares += n * n;
      sums.maximum = std::max(sums.maximum, n);
    });
  }
  if (m_Task.needsRows)
  {
    ForEachGroup(m_Rows, [&](std::int64_t n) { sums.rowTerms += terms[n]; });
    ForEachGroup(m_Columns, [&](std::int64_t n) { sums.columnTerms += terms[n]; });
  }
}

void
CooccurrenceWalk::CorrelateCells(CooccurrenceSums & sums)
{
  const bool isSymmetric = m_Task.scales.symmetric;
  std::unique_copy(m_Rows.begin(), m_Rows.end(), std::back_inserter(m_RowLevels));
  const std::vector<std::uint32_t> & columns = isSymmetric ? m_Rows : m_Columns;
  std::unique_copy(columns.begin(), columns.end(), std::back_inserter(m_ColumnLevels));
  const auto numberOfRows = static_cast<int>(m_RowLevels.size());
  const auto numberOfColumns = static_cast<int>(m_ColumnLevels.size());
  double *   counts = nullptr;
  if (isSymmetric)
  {
    counts = m_Correlations.BeginSymmetric(numberOfRows, &sums.maximalCorrelation);
    for (int i = 0; i < TriangleRow(numberOfRows); ++i)
    {
      counts[i * m_Correlations.GetStride()] = 0.0;
    }
  }
  else
  {
    counts = m_Correlations.BeginAsymmetric(numberOfRows, numberOfColumns, &sums.maximalCorrelation);
  }
  const auto findRank = [](const std::vector<std::uint32_t> & levels, std::uint32_t level) {
    return static_cast<int>(std::lower_bound(levels.begin(), levels.end(), level) - levels.begin());
  };
  for (const std::uint32_t cell : m_Cells)
  {
    const int row = findRank(m_RowLevels, cell >> 16);
    const int column = findRank(m_ColumnLevels, cell & 0xffffu);
    if (!isSymmetric)
    {
      counts[row * numberOfColumns + column] += 1.0;
    }
    else if (column <= row)
    {
      counts[(TriangleRow(row) + column) * m_Correlations.GetStride()] += 1.0;
    }
  }
  if (!isSymmetric)
  {
    m_Correlations.FinishAsymmetric();
  }
  m_Correlations.Flush();
  m_RowLevels.clear();
  m_ColumnLevels.clear();
}
} // namespace voxelmaps
