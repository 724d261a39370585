// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CellCounts_h
#define CellCounts_h

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** A sum of doubles with Neumaier's compensation: as accurate as with twice the digits. */
class CompensatedSum
{
public:
  void
  operator+=(double term)
  {
    const double sum = m_Sum + term;
    const bool   isLarger = (m_Sum < 0.0 ? -m_Sum : m_Sum) >= (term < 0.0 ? -term : term);
    m_Rest += isLarger ? (m_Sum - sum) + term : (term - sum) + m_Sum;
    m_Sum = sum;
  }
  operator double() const { return m_Sum + m_Rest; }

private:
  double m_Sum{ 0.0 };
  double m_Rest{ 0.0 };
};

/** An element of a matrix that is not 0. */
struct Cell
{
  std::uint64_t row;
  std::uint64_t column;
  /** The count, exact up to 2^53; or a sum of counts with weights. */
  double value;
};

/** The elements in ascending order; those of the same place are added, in their order. */
inline std::vector<Cell>
MergeCells(std::vector<Cell> cells)
{
  std::stable_sort(cells.begin(), cells.end(), [](const Cell & a, const Cell & b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  std::size_t size = 0;
  for (const Cell & cell : cells)
  {
    if (size > 0 && cells[size - 1].row == cell.row && cells[size - 1].column == cell.column)
    {
      cells[size - 1].value += cell.value;
    }
    else
    {
      cells[size++] = cell;
    }
  }
  cells.resize(size);
  return cells;
}

/** Counts of the elements of a matrix of any size: a table, or if that is large, a list of the elements that are merged
 * from time to time. */
class CellCounts
{
public:
  CellCounts(std::uint64_t rows, std::uint64_t columns)
    : m_Columns(columns)
    , m_Table(columns <= maxTable / rows ? rows * columns : 0)
  {}

  void
  Add(std::uint64_t row, std::uint64_t column, std::uint64_t count = 1)
  {
    if (!m_Table.empty())
    {
      m_Table[row * m_Columns + column] += count;
      return;
    }
    m_List.push_back({ row, column, static_cast<double>(count) });
    if (m_List.size() >= m_MergeAt)
    {
      m_List = MergeCells(std::move(m_List));
      m_MergeAt = std::max(m_MergeAt, 2 * m_List.size());
    }
  }

  /** The elements in ascending order. */
  std::vector<Cell>
  Take()
  {
    for (std::uint64_t i = 0; i < m_Table.size(); ++i)
    {
      if (m_Table[i] != 0)
      {
        m_List.push_back({ i / m_Columns, i % m_Columns, static_cast<double>(m_Table[i]) });
      }
    }
    return m_Table.empty() ? MergeCells(std::move(m_List)) : std::move(m_List);
  }

private:
  static constexpr std::uint64_t maxTable = std::uint64_t{ 1 } << 20;

  std::uint64_t              m_Columns;
  std::vector<std::uint64_t> m_Table;
  std::vector<Cell>          m_List;
  std::size_t                m_MergeAt{ maxTable };
};
} // namespace voxelmaps

#endif // CellCounts_h
