// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionTypes_h
#define RegionTypes_h

#include "window/SizeMatrix.h"
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
/** A sum of doubles and of the errors of its additions, which are exact: as accurate as with twice the digits. */
class CompensatedSum
{
public:
  void
  operator+=(double term)
  {
    const double sum = m_Sum + term;
    const double added = sum - m_Sum;
    m_Rest += (m_Sum - (sum - added)) + (term - added);
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
  const auto isBefore = [](const Cell & a, const Cell & b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  };
  if (!std::is_sorted(cells.begin(), cells.end(), isBefore))
  {
    std::stable_sort(cells.begin(), cells.end(), isBefore);
  }
  std::size_t size = 0;
  for (const Cell & cell : cells)
  {
    if (size > 0 && !isBefore(cells[size - 1], cell))
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

/** Counts of the elements of a matrix of any size: a table of the first columns, of a few elements per voxel, and a
 * list of the other elements, which are merged from time to time. */
class CellCounts
{
public:
  CellCounts(std::uint64_t rows, std::uint64_t columns, std::int64_t voxels)
    : m_Columns(std::min(columns, maxElementsPerVoxel * static_cast<std::uint64_t>(voxels) / rows))
    , m_Table(rows * m_Columns)
  {}

  void
  Add(std::uint64_t row, std::uint64_t column, std::uint64_t count = 1)
  {
    if (column < m_Columns)
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
    return MergeCells(std::move(m_List));
  }

private:
  static constexpr std::uint64_t maxElementsPerVoxel = 8;

  std::uint64_t              m_Columns;
  std::vector<std::uint64_t> m_Table;
  std::vector<Cell>          m_List;
  std::size_t                m_MergeAt{ std::size_t{ 1 } << 20 };
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

/** How many voxels of a region have each gray level. */
struct LevelCounts
{
  std::uint32_t numberOfGrayLevels{ 0 };
  /** Number of voxels of each level; those of level 0 are not counted. */
  std::vector<std::uint64_t> counts;
  std::int64_t               numberOfVoxels{ 0 };
  bool                       hasOneLevel{ false };
};

/** The gray levels of a region in its bounding box, 0 elsewhere and in a margin that all steps stay in. */
struct RegionLevels : LevelCounts
{
  /** The part of a row of the box from its first to its last voxel with the label. */
  struct RowSpan
  {
    std::uint16_t * levels;
    std::int64_t    begin;
    std::int64_t    end;
    std::int64_t    y;
    std::int64_t    z;
  };

  /** The margin is that of steps of up to so many voxels along each axis. */
  RegionLevels(const Triple & size, const Triple & margin);

  std::uint16_t *
  Row(std::int64_t y, std::int64_t z)
  {
    return levels.data() + start + y * pitch + z * planePitch;
  }
  /** The distance in memory of two voxels. */
  std::int64_t
  Step(const Triple & offset) const
  {
    return offset[0] + offset[1] * pitch + offset[2] * planePitch;
  }

  template <typename TVisit>
  void
  ForEachRow(const JobExecution & execution, const TVisit & visit) const
  {
    std::int64_t z = -1;
    for (const RowSpan & row : rows)
    {
      if (row.z != z)
      {
        execution.CheckAbort();
        z = row.z;
      }
      visit(row);
    }
  }
  /** Call visit with a pointer to each level that is not 0. */
  template <typename TVisit>
  void
  ForEachVoxel(const JobExecution & execution, const TVisit & visit) const
  {
    this->ForEachRow(execution, [&visit](const RowSpan & row) {
      for (const std::uint16_t * voxel = row.levels + row.begin; voxel < row.levels + row.end; ++voxel)
      {
        if (*voxel != 0)
        {
          visit(voxel);
        }
      }
    });
  }

  /** Fill counts, when all rows are there. */
  void
  Count(std::uint32_t largestLevel, const JobExecution & execution);

  Triple                     size;
  std::int64_t               pitch;
  std::int64_t               planePitch;
  std::int64_t               start;
  std::vector<std::uint16_t> levels;
  std::vector<RowSpan>       rows;
};

/** Pairs of levels of the voxels p and p + offset, in both orders if the matrix is symmetric. */
std::vector<Cell>
CountPairs(const RegionLevels & levels, const Triple & offset, bool isSymmetric, const JobExecution & execution);

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

/** Sums of |k i - S| by level i and number k of neighbors at p + offset and p - offset, whose levels have the sum S. */
std::vector<Cell>
CountToneDifferences(const RegionLevels & levels, const std::vector<Triple> & offsets, const JobExecution & execution);

/** The levels with voxels; those without a neighbor have no difference. */
std::vector<ToneDifference>
MakeToneDifferences(const LevelCounts & levels, const std::vector<Cell> & cells);

/** A region in its bounding box, with a margin of one voxel on all sides: 1 inside, else 0. */
struct RegionMask
{
  std::vector<std::uint8_t> inside;
  Triple                    size;

  std::uint8_t *
  Row(std::int64_t y, std::int64_t z)
  {
    return inside.data() + (z * size[1] + y) * size[0];
  }
  const std::uint8_t *
  Row(std::int64_t y, std::int64_t z) const
  {
    return inside.data() + (z * size[1] + y) * size[0];
  }
};

/** The cubes of eight neighbors of a mask of which the same ones are inside: their number, and sums of their indices.
 */
struct CubeCount
{
  std::int64_t cubes{ 0 };
  Triple       positions{};
};

/** All that shape depends on, in exact integers. Indices are those of a mask. */
struct ShapeCounts
{
  /** First and last coordinate of the vertices of a line; -1 if there are none. */
  using Line = std::array<std::int32_t, 2>;

  explicit ShapeCounts(const Triple & maskSize)
    : size(maskSize)
    , alongX(static_cast<std::size_t>(4 * size[1] * size[2]), Line{ { -1, -1 } })
    , alongY(static_cast<std::size_t>(4 * size[0] * size[2]), Line{ { -1, -1 } })
  {}

  Triple size;
  /** By the bits of the corners that are inside. */
  std::array<CubeCount, 256> cubes{};
  std::int64_t               voxels{ 0 };
  /** Sums of the indices of the voxels, and of their products i <= j. */
  Triple sums{};
  Triple products[3]{};
  /** The vertices of the surface, the middles between neighbors of which one is inside, have coordinates in half
   * voxels: lines along x, by 2 size[1] z + y, and along y, by 2 size[0] z + x. */
  std::vector<Line> alongX;
  std::vector<Line> alongY;
};

ShapeCounts
CountShape(const RegionMask & mask, const JobExecution & execution);

/** Features by their number. */
std::array<double, 17>
ComputeShapeValues(const ShapeCounts & counts, const std::array<double, 3> & spacing);

/** The same of a region in one plane across an axis. */
std::array<double, 10>
ComputePlanarShapeValues(const ShapeCounts & counts, const std::array<double, 3> & spacing, int across);
} // namespace voxelmaps

#endif // RegionTypes_h
