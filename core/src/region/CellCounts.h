// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CellCounts_h
#define CellCounts_h

#include <algorithm>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** An element of a matrix that is not 0. */
struct Cell
{
  std::uint64_t row;
  std::uint64_t column;
  /** The count, exact below 2^53; or a sum of counts with weights. */
  double value;
};

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

/** Counts of the elements of a matrix of any size: a table, or if that is large, a list of the elements that are merged
 * from time to time. Rows are below 2^16, columns below 2^48. */
class CellCounts
{
public:
  CellCounts(std::uint64_t rows, std::uint64_t columns)
    : m_Columns(columns)
    , m_IsDense(columns <= maxDenseCells / rows)
    , m_Table(m_IsDense ? rows * columns : 0)
  {}

  void
  Add(std::uint64_t row, std::uint64_t column, std::uint64_t count = 1)
  {
    if (m_IsDense)
    {
      m_Table[row * m_Columns + column] += count;
      return;
    }
    m_List.push_back({ row << 48 | column, count });
    if (m_List.size() >= m_MergeAt)
    {
      this->MergeList();
      m_MergeAt = std::max(minMergeSize, 2 * m_List.size());
    }
  }

  /** Call visit(row, column, count) for the elements that are not 0, in ascending order. */
  template <typename TVisit>
  void
  ForEach(const TVisit & visit)
  {
    this->MergeList();
    for (const Entry & entry : m_List)
    {
      visit(entry.key >> 48, entry.key & ((std::uint64_t{ 1 } << 48) - 1), entry.count);
    }
    for (std::uint64_t i = 0; i < m_Table.size(); ++i)
    {
      if (m_Table[i] != 0)
      {
        visit(i / m_Columns, i % m_Columns, m_Table[i]);
      }
    }
  }

  std::vector<Cell>
  GetCells()
  {
    std::vector<Cell> cells;
    this->ForEach([&cells](std::uint64_t row, std::uint64_t column, std::uint64_t count) {
      cells.push_back({ row, column, static_cast<double>(count) });
    });
    return cells;
  }

private:
  struct Entry
  {
    std::uint64_t key;
    std::uint64_t count;
  };
  static constexpr std::uint64_t maxDenseCells = std::uint64_t{ 1 } << 20;
  static constexpr std::size_t   minMergeSize = std::size_t{ 1 } << 20;

  void
  MergeList()
  {
    std::sort(m_List.begin(), m_List.end(), [](const Entry & a, const Entry & b) { return a.key < b.key; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < m_List.size(); ++i)
    {
      if (m_List[i].key == m_List[last].key)
      {
        m_List[last].count += m_List[i].count;
      }
      else
      {
        m_List[++last] = m_List[i];
      }
    }
    m_List.resize(m_List.empty() ? 0 : last + 1);
  }

  std::uint64_t              m_Columns;
  bool                       m_IsDense;
  std::vector<std::uint64_t> m_Table;
  std::vector<Entry>         m_List;
  std::size_t                m_MergeAt{ minMergeSize };
};
} // namespace voxelmaps

#endif // CellCounts_h
