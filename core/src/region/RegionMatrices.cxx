// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/RegionParts.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
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

/** Whether two voxels of the region are on the same line along a direction; for regions without neighbors along it. */
bool
HasLine(const RegionLevels & levels, const Triple & direction, const JobExecution & execution)
{
  bool isFound = false;
  levels.ForEachRow(
    execution, [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, std::int64_t y, std::int64_t z) {
      for (Triple voxel{ { begin, y, z } }; voxel[0] < end && !isFound; ++voxel[0])
      {
        Triple     next = voxel;
        const auto isInside = [&](int d) { return (next[d] += direction[d]) >= 0 && next[d] < levels.size[d]; };
        const auto step = [&] { return isInside(0) && isInside(1) && isInside(2); };
        while (row[voxel[0]] != 0 && !isFound && step())
        {
          isFound = levels.Row(next[1], next[2])[next[0]] != 0;
        }
      }
    });
  return isFound;
}
} // namespace

RegionLevels::RegionLevels(const Triple & boxSize, const Triple & margin)
  : size(boxSize)
  , m_Pitch(boxSize[0] + margin[0])
  , m_PlanePitch(m_Pitch * (boxSize[1] + margin[1]))
  , m_Start(margin[0] + margin[1] * m_Pitch + margin[2] * m_PlanePitch)
  , m_Levels(static_cast<std::size_t>(2 * m_Start + boxSize[2] * m_PlanePitch))
{}

void
RegionLevels::Count(std::uint32_t largestLevel, const JobExecution & execution)
{
  numberOfGrayLevels = largestLevel;
  counts.assign(std::size_t{ largestLevel } + 1, 0);
  this->ForEachRow(execution, [this](const std::uint16_t * row, std::int64_t begin, std::int64_t end, auto, auto) {
    for (std::int64_t x = begin; x < end; ++x)
    {
      ++counts[row[x]];
    }
  });
  counts[0] = 0;
  numberOfVoxels = 0;
  for (const std::uint64_t count : counts)
  {
    numberOfVoxels += static_cast<std::int64_t>(count);
  }
  hasOneLevel = std::count(counts.begin(), counts.end(), 0) == static_cast<std::int64_t>(largestLevel);
}

std::vector<Cell>
CountPairs(const RegionLevels & levels, const Triple & offset, const JobExecution & execution)
{
  const std::uint64_t number = levels.numberOfGrayLevels + std::uint64_t{ 1 };
  const std::int64_t  step = levels.Step(offset);
  CellCounts          cells(number, number);
  levels.ForEachRow(execution, [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, auto, auto) {
    for (std::int64_t x = begin; x < end; ++x)
    {
      if (row[x] != 0 && row[x + step] != 0)
      {
        cells.Add(row[x], row[x + step]);
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
  CellCounts         cells(levels.numberOfGrayLevels + std::uint64_t{ 1 }, longest + 1);
  bool               hasNeighbors = false;
  levels.ForEachRow(execution, [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, auto, auto) {
    for (const std::uint16_t * voxel = row + begin; voxel < row + end; ++voxel)
    {
      const std::uint16_t level = *voxel;
      if (level == 0 || voxel[-step] == level)
      {
        continue;
      }
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
  std::vector<std::int64_t> steps;
  for (std::int64_t z = -1; z <= 1; ++z)
  {
    for (std::int64_t y = -1; y <= 1; ++y)
    {
      for (std::int64_t x = -1; x <= 1; ++x)
      {
        const bool isNeighbor =
          (connectsAxis[0] || x == 0) && (connectsAxis[1] || y == 0) && (connectsAxis[2] || z == 0);
        if (isNeighbor && (x != 0 || y != 0 || z != 0))
        {
          steps.push_back(levels.Step({ { x, y, z } }));
        }
      }
    }
  }
  // Zones are removed from a copy, one front of voxels after the other.
  std::vector<std::uint16_t> left = levels.m_Levels;
  std::vector<std::int64_t>  front;
  std::vector<std::int64_t>  next;
  CellCounts                 cells(levels.numberOfGrayLevels + std::uint64_t{ 1 },
                                   static_cast<std::uint64_t>(levels.numberOfVoxels) + 1);
  levels.ForEachRow(execution, [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, auto, auto) {
    for (std::int64_t x = begin; x < end; ++x)
    {
      const std::int64_t  seed = row + x - levels.m_Levels.data();
      const std::uint16_t level = left[static_cast<std::size_t>(seed)];
      if (level == 0)
      {
        continue;
      }
      std::uint64_t zone = 1;
      left[static_cast<std::size_t>(seed)] = 0;
      front.assign(1, seed);
      while (!front.empty())
      {
        next.clear();
        for (const std::int64_t voxel : front)
        {
          for (const std::int64_t step : steps)
          {
            std::uint16_t & neighbor = left[static_cast<std::size_t>(voxel + step)];
            if (neighbor == level)
            {
              neighbor = 0;
              next.push_back(voxel + step);
            }
          }
        }
        zone += next.size();
        front.swap(next);
      }
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
  CellCounts                      cells(levels.numberOfGrayLevels + std::uint64_t{ 1 }, steps.size() + 2);
  std::vector<std::uint32_t>      dependent(static_cast<std::size_t>(levels.size[0]));
  levels.ForEachRow(execution, [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, auto, auto) {
    std::uint32_t * const numbers = dependent.data();
    std::fill(numbers + begin, numbers + end, 1);
    for (const std::int64_t step : steps)
    {
      for (std::int64_t x = begin; x < end; ++x)
      {
        const std::int32_t other = row[x + step];
        const std::int32_t difference = other - row[x];
        numbers[x] += static_cast<std::uint32_t>((other != 0) & (difference <= limit) & (difference >= -limit));
      }
    }
    for (std::int64_t x = begin; x < end; ++x)
    {
      if (row[x] != 0)
      {
        cells.Add(row[x], numbers[x]);
      }
    }
  });
  return cells.Take();
}

std::vector<ToneDifference>
CountToneDifferences(const RegionLevels & levels, const std::vector<Triple> & offsets, const JobExecution & execution)
{
  const std::vector<std::int64_t> steps = MakeSteps(levels, offsets);
  // Sums of |k i - S|, exact, by level i and number k of neighbors with the sum S of levels.
  CellCounts                 sums(levels.numberOfGrayLevels + std::uint64_t{ 1 }, steps.size() + 1);
  std::vector<std::uint32_t> present(static_cast<std::size_t>(levels.size[0]));
  std::vector<std::uint32_t> added(present.size());
  levels.ForEachRow(execution, [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, auto, auto) {
    std::fill(present.begin(), present.end(), 0);
    std::fill(added.begin(), added.end(), 0);
    std::uint32_t * const numbers = present.data();
    std::uint32_t * const sumsOfLevels = added.data();
    for (const std::int64_t step : steps)
    {
      for (std::int64_t x = begin; x < end; ++x)
      {
        const std::uint32_t other = row[x + step];
        numbers[x] += static_cast<std::uint32_t>(other != 0);
        sumsOfLevels[x] += other;
      }
    }
    for (std::int64_t x = begin; x < end; ++x)
    {
      if (row[x] != 0 && numbers[x] != 0)
      {
        const std::uint64_t product = std::uint64_t{ numbers[x] } * row[x];
        const std::uint64_t sum = sumsOfLevels[x];
        sums.Add(row[x], numbers[x], product < sum ? sum - product : product - sum);
      }
    }
  });
  std::vector<CompensatedSum> differences(levels.counts.size());
  for (const Cell & cell : sums.Take())
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
