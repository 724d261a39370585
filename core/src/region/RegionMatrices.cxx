// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/RegionTypes.h"

#include "ngtdm/GrayToneDifferenceFormulas.h"

#include <algorithm>
#include <set>

namespace voxelmaps
{
namespace
{
using RowSpan = RegionLevels::RowSpan;

/** Steps to the neighbors of a voxel on both sides. */
std::vector<std::int64_t>
MakeSteps(const RegionLevels & levels, const std::vector<Triple> & offsets)
{
  std::vector<std::int64_t> steps;
  for (const Triple & offset : offsets)
  {
    steps.push_back(levels.Step(offset));
    steps.push_back(-levels.Step(offset));
  }
  return steps;
}

CellCounts
MakeCounts(const RegionLevels & levels, std::uint64_t greatestColumn)
{
  return { levels.numberOfGrayLevels + std::uint64_t{ 1 }, greatestColumn + 1, levels.numberOfVoxels };
}

/** Whether two voxels of the region are on the same line along a direction. */
bool
HasLine(const RegionLevels & levels, const Triple & direction, const JobExecution & execution)
{
  const int        axis = direction[0] != 0 ? 0 : direction[1] != 0 ? 1 : 2;
  std::set<Triple> lines;
  bool             isFound = false;
  levels.ForEachRow(execution, [&](const RowSpan & row) {
    for (Triple voxel{ { row.begin, row.y, row.z } }; voxel[0] < row.end && !isFound; ++voxel[0])
    {
      // Where the line of the voxel has the coordinate 0 along the axis.
      Triple             origin = voxel;
      const std::int64_t steps = voxel[axis] * direction[axis];
      std::transform(origin.begin(), origin.end(), direction.begin(), origin.begin(), [steps](auto from, auto along) {
        return from - steps * along;
      });
      isFound = row.levels[voxel[0]] != 0 && !lines.insert(origin).second;
    }
  });
  return isFound;
}
} // namespace

RegionLevels::RegionLevels(const Triple & boxSize, const Triple & margin)
  : size(boxSize)
  , pitch(size[0] + margin[0])
  , planePitch(pitch * (size[1] + margin[1]))
  , start(this->Step(margin))
  , levels(static_cast<std::size_t>(2 * start + size[2] * planePitch))
{}

void
RegionLevels::Count(std::uint32_t largestLevel, const JobExecution & execution)
{
  numberOfGrayLevels = largestLevel;
  counts.assign(std::size_t{ largestLevel } + 1, 0);
  this->ForEachVoxel(execution, [this](const std::uint16_t * voxel) {
    ++counts[*voxel];
    ++numberOfVoxels;
  });
  hasOneLevel = std::count(counts.begin(), counts.end(), 0) == static_cast<std::int64_t>(largestLevel);
}

std::vector<Cell>
CountPairs(const RegionLevels & levels, const Triple & offset, bool isSymmetric, const JobExecution & execution)
{
  const std::int64_t step = levels.Step(offset);
  CellCounts         cells = MakeCounts(levels, levels.numberOfGrayLevels);
  levels.ForEachVoxel(execution, [&](const std::uint16_t * voxel) {
    if (voxel[step] != 0)
    {
      cells.Add(*voxel, voxel[step]);
      if (isSymmetric)
      {
        cells.Add(voxel[step], *voxel);
      }
    }
  });
  return cells.Take();
}

std::vector<Cell>
CountRuns(const RegionLevels & levels, const Triple & direction, bool skipsWithoutPairs, const JobExecution & execution)
{
  const std::int64_t step = levels.Step(direction);
  const auto         longest = static_cast<std::uint64_t>(std::max({ levels.size[0], levels.size[1], levels.size[2] }));
  CellCounts         cells = MakeCounts(levels, longest);
  bool               hasNeighbors = false;
  levels.ForEachVoxel(execution, [&](const std::uint16_t * voxel) {
    const std::uint16_t level = *voxel;
    if (voxel[-step] != level)
    {
      const std::uint16_t * next = voxel + step;
      std::uint64_t         length = 1;
      for (; *next == level; next += step)
      {
        ++length;
      }
      hasNeighbors = hasNeighbors || length > 1 || *next != 0;
      cells.Add(level, length);
    }
  });
  const bool isSkipped = skipsWithoutPairs && !hasNeighbors && !HasLine(levels, direction, execution);
  return isSkipped ? std::vector<Cell>() : cells.Take();
}

std::vector<Cell>
CountZones(const RegionLevels & levels, const std::array<bool, 3> & connectsAxis, const JobExecution & execution)
{
  const auto                reach = [&connectsAxis](int axis) -> std::int64_t { return connectsAxis[axis] ? 1 : 0; };
  const std::int64_t        beyond = reach(0);
  std::vector<std::int64_t> rowSteps;
  for (std::int64_t z = -reach(2); z <= reach(2); ++z)
  {
    for (std::int64_t y = -reach(1); y <= reach(1); ++y)
    {
      rowSteps.push_back(levels.Step({ { 0, y, z } }));
    }
  }
  // Few zones are larger than the table has columns.
  const auto columns = std::min<std::uint64_t>(levels.numberOfVoxels, 1000);
  // Zones are removed from a copy, one run of voxels along x after the other.
  std::vector<std::uint16_t>   left = levels.levels;
  std::vector<std::uint16_t *> found;
  CellCounts                   cells = MakeCounts(levels, columns);
  levels.ForEachVoxel(execution, [&](const std::uint16_t * voxel) {
    const std::uint16_t level = *voxel;
    std::uint64_t       zone = 0;
    for (found.assign(1, left.data() + (voxel - levels.levels.data())); !found.empty();)
    {
      std::uint16_t * begin = found.back();
      std::uint16_t * end = begin;
      found.pop_back();
      while (*end == level && (end == begin || beyond > 0))
      {
        ++end;
      }
      while (begin < end && begin[-1] == level && beyond > 0)
      {
        --begin;
      }
      std::fill(begin, end, std::uint16_t{ 0 });
      zone += static_cast<std::uint64_t>(end - begin);
      for (std::size_t i = 0; i < rowSteps.size() && begin < end; ++i)
      {
        std::uint16_t * const first = begin + rowSteps[i] - beyond;
        std::uint16_t * const last = end + rowSteps[i] + beyond;
        for (std::uint16_t * other = first; other < last; ++other)
        {
          if (*other == level && (other == first || other[-1] != level))
          {
            found.push_back(other);
          }
        }
      }
    }
    if (zone != 0)
    {
      cells.Add(level, zone);
    }
  });
  return cells.Take();
}

std::vector<Cell>
CountDependences(const RegionLevels & levels, const std::vector<Triple> & offsets, std::uint32_t alpha,
                 const JobExecution & execution)
{
  const std::vector<std::int64_t> steps = MakeSteps(levels, offsets);
  const auto                      limit = static_cast<std::int32_t>(std::min(alpha, levels.numberOfGrayLevels));
  CellCounts                      cells = MakeCounts(levels, steps.size() + 1);
  std::vector<std::uint32_t>      dependent(static_cast<std::size_t>(levels.size[0]));
  levels.ForEachRow(execution, [&](const RowSpan & row) {
    std::uint32_t * const numbers = dependent.data();
    std::fill(numbers + row.begin, numbers + row.end, 1);
    for (const std::int64_t step : steps)
    {
      for (std::int64_t x = row.begin; x < row.end; ++x)
      {
        const std::int32_t other = row.levels[x + step];
        const std::int32_t difference = other - row.levels[x];
        numbers[x] += static_cast<std::uint32_t>((other != 0) & (difference <= limit) & (difference >= -limit));
      }
    }
    for (std::int64_t x = row.begin; x < row.end; ++x)
    {
      if (row.levels[x] != 0)
      {
        cells.Add(row.levels[x], numbers[x]);
      }
    }
  });
  return cells.Take();
}

std::vector<Cell>
CountToneDifferences(const RegionLevels & levels, const std::vector<Triple> & offsets, const JobExecution & execution)
{
  const std::vector<std::int64_t> steps = MakeSteps(levels, offsets);
  // Sums of |k i - S|, exact, by level i and number k of neighbors with the sum S of levels.
  CellCounts                 cells = MakeCounts(levels, steps.size());
  std::vector<std::uint32_t> present(static_cast<std::size_t>(levels.size[0]));
  std::vector<std::uint32_t> added(present.size());
  levels.ForEachRow(execution, [&](const RowSpan & row) {
    std::fill(present.begin(), present.end(), 0);
    std::fill(added.begin(), added.end(), 0);
    std::uint32_t * const numbers = present.data();
    std::uint32_t * const sums = added.data();
    for (const std::int64_t step : steps)
    {
      for (std::int64_t x = row.begin; x < row.end; ++x)
      {
        const std::uint32_t other = row.levels[x + step];
        numbers[x] += static_cast<std::uint32_t>(other != 0);
        sums[x] += other;
      }
    }
    for (std::int64_t x = row.begin; x < row.end; ++x)
    {
      if (row.levels[x] != 0 && numbers[x] != 0)
      {
        cells.Add(row.levels[x], numbers[x], NeighborDifference(row.levels[x], numbers[x], sums[x]));
      }
    }
  });
  return cells.Take();
}

std::vector<ToneDifference>
MakeToneDifferences(const LevelCounts & levels, const std::vector<Cell> & cells)
{
  std::vector<CompensatedSum> differences(levels.counts.size());
  for (const Cell & cell : cells)
  {
    differences[cell.row] += cell.value / static_cast<double>(cell.column);
  }
  std::vector<ToneDifference> result;
  for (std::size_t level = 1; level < levels.counts.size(); ++level)
  {
    if (levels.counts[level] != 0)
    {
      result.push_back({ static_cast<double>(level), static_cast<double>(levels.counts[level]), differences[level] });
    }
  }
  return result;
}
} // namespace voxelmaps
