// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionParts_h
#define RegionParts_h

#include "texture/SizeMatrix.h"
#include "voxelmaps/RegionFeaturesJob.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

/** What RegionEngine is made of: levels of a region, matrices of any size, and features of them in doubles. Counts are
 * exact; each feature is a sum over the elements in ascending order of row and column, with compensation, and moments
 * are about the mean. So they agree with the formulas of the window engines, whose integers have fixed sizes, but for
 * the last digits. */
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

/** Features of a co-occurrence matrix by their number.
 *
 * cells         In ascending order, of levels from 1; each pair in both orders if the matrix is symmetric.
 * hasOneLevel   Whether the region has one level, for which the maximal correlation coefficient is 1.
 */
std::array<double, CooccurrenceFeatureMapEnums::NumberOfFeatures>
ComputeCooccurrenceValues(const std::vector<Cell> & cells, std::uint32_t levels, bool needsMaximalCorrelation,
                          bool hasOneLevel);

/** Values of a matrix by level and size, in the order of SizeMatrixFeature. */
using SizeMatrixValues = std::array<double, 16>;

SizeMatrixValues
ComputeSizeMatrixValues(const std::vector<Cell> & cells);

SizeMatrixFeature
ToSizeMatrixFeature(RunLengthFeatureMapEnums::Feature feature);
SizeMatrixFeature
ToSizeMatrixFeature(DependenceFeatureMapEnums::Feature feature);

/** A gray level, the number n of its voxels, and the sum of their differences from the mean of their neighbors. */
struct ToneDifference
{
  double level;
  double voxels;
  double difference;
};

/** Features by their number. */
std::array<double, GrayToneDifferenceFeatureMapEnums::NumberOfFeatures>
ComputeGrayToneDifferenceValues(const std::vector<ToneDifference> & levels);

/** The gray levels of a region in its bounding box, 0 elsewhere and in a margin that all steps stay in. */
class RegionLevels
{
public:
  /** The margin is that of steps of up to so many voxels along each axis. */
  RegionLevels(const Triple & size, const Triple & margin);

  std::uint16_t *
  Row(std::int64_t y, std::int64_t z)
  {
    return m_Levels.data() + m_Start + z * m_PlanePitch + y * m_Pitch;
  }
  const std::uint16_t *
  Row(std::int64_t y, std::int64_t z) const
  {
    return m_Levels.data() + m_Start + z * m_PlanePitch + y * m_Pitch;
  }
  /** The distance in memory of two voxels. */
  std::int64_t
  Step(const Triple & offset) const
  {
    return offset[0] + offset[1] * m_Pitch + offset[2] * m_PlanePitch;
  }

  /** Call visit(row, begin, end, y, z) for the rows with voxels of the region: from the first to the last one. */
  template <typename TVisit>
  void
  ForEachRow(const JobExecution & execution, const TVisit & visit) const
  {
    for (std::int64_t z = 0; z < size[2]; ++z)
    {
      for (std::int64_t y = 0; y < size[1]; ++y)
      {
        const std::uint16_t * const row = this->Row(y, z);
        std::int64_t                begin = 0;
        std::int64_t                end = size[0];
        for (; begin < end && row[begin] == 0; ++begin)
        {
        }
        for (; begin < end && row[end - 1] == 0; --end)
        {
        }
        if (begin < end)
        {
          visit(row, begin, end, y, z);
        }
      }
      execution.CheckAbort();
    }
  }

  /** Fill counts, when all levels are there. */
  void
  Count(std::uint32_t largestLevel, const JobExecution & execution);

  Triple        size;
  std::uint32_t numberOfGrayLevels{ 0 };
  /** Number of voxels of each level; those of level 0 are not counted. */
  std::vector<std::uint64_t> counts;
  std::int64_t               numberOfVoxels{ 0 };
  bool                       hasOneLevel{ false };

private:
  friend std::vector<Cell>
  CountZones(const RegionLevels & levels, const std::array<bool, 3> & connectsAxis, const JobExecution & execution);

  std::int64_t               m_Pitch;
  std::int64_t               m_PlanePitch;
  std::int64_t               m_Start;
  std::vector<std::uint16_t> m_Levels;
};

/** Pairs of levels of the voxels p and p + offset. */
std::vector<Cell>
CountPairs(const RegionLevels & levels, const Triple & offset, const JobExecution & execution);

/** Runs by level and length; none if no line along the direction has two voxels of the region and these are skipped. */
std::vector<Cell>
CountRuns(const RegionLevels & levels, const Triple & direction, bool skipsWithoutPairs,
          const JobExecution & execution);

/** Zones by level and number of voxels. */
std::vector<Cell>
CountZones(const RegionLevels & levels, const std::array<bool, 3> & connectsAxis, const JobExecution & execution);

/** Voxels by level and 1 + number of dependent neighbors at p + offset and p - offset. */
std::vector<Cell>
CountDependences(const RegionLevels & levels, const std::vector<Triple> & offsets, std::uint32_t alpha,
                 const JobExecution & execution);

/** The levels with voxels; those without a neighbor have no difference. */
std::vector<ToneDifference>
CountToneDifferences(const RegionLevels & levels, const std::vector<Triple> & offsets, const JobExecution & execution);

/** A region in its bounding box, with a margin of one voxel on all sides: 1 inside, else 0. */
struct ShapeMask
{
  std::vector<std::uint8_t> inside;
  Triple                    size;
  std::array<double, 3>     spacing;

  const std::uint8_t *
  Row(std::int64_t y, std::int64_t z) const
  {
    return inside.data() + (z * size[1] + y) * size[0];
  }
};

/** Features by their number. */
std::array<double, 14>
ComputeShapeValues(const ShapeMask & mask, const JobExecution & execution);

/** The same of a region in one plane across z. */
std::array<double, 9>
ComputePlanarShapeValues(const ShapeMask & mask, const JobExecution & execution);
} // namespace voxelmaps

#endif // RegionParts_h
