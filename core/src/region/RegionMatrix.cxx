// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/RegionMatrix.h"

#include "region/RegionTypes.h"

#include <algorithm>
#include <limits>
#include <string>

namespace voxelmaps
{
namespace
{
/** City-block distances to the nearest voxel outside a region, along the connected axes; 1 at the border. */
std::vector<std::uint32_t>
MakeBorderDistances(const RegionMatrixJob & job)
{
  const Triple &             size = job.size;
  const Triple               step{ { 1, size[0], size[0] * size[1] } };
  const auto                 voxels = size[0] * size[1] * size[2];
  std::vector<std::uint32_t> distances(static_cast<std::size_t>(voxels));
  // Two passes are exact for city-block distances: from the first corner, and back.
  for (const bool isForward : { true, false })
  {
    for (std::int64_t i = 0; i < voxels; ++i)
    {
      const std::int64_t voxel = isForward ? i : voxels - 1 - i;
      const bool         isInside = job.inside != nullptr ? job.inside[voxel] != 0 : job.levels[voxel] != 0;
      std::uint32_t      least = isForward ? std::numeric_limits<std::uint32_t>::max() - 1 : distances[voxel];
      for (int d = 0; d < 3 && isInside; ++d)
      {
        if (job.connectsAxis[d])
        {
          const std::int64_t at = voxel / step[d] % size[d];
          const bool         isAtEnd = isForward ? at == 0 : at == size[d] - 1;
          least = std::min(least, isAtEnd ? 1 : distances[voxel + (isForward ? -step[d] : step[d])] + 1);
        }
      }
      distances[voxel] = isInside ? least : 0;
    }
    job.execution.CheckAbort();
  }
  return distances;
}

/** Zones by level and the least border distance of their voxels. */
std::vector<Cell>
CountDistanceZones(const RegionMatrixJob & job)
{
  const std::vector<std::uint32_t> distances = MakeBorderDistances(job);
  const Triple &                   size = job.size;
  std::vector<std::uint16_t>       left(job.levels, job.levels + distances.size());
  std::vector<std::int64_t>        found;
  std::vector<Cell>                cells;
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(left.size()); ++first)
  {
    const std::uint16_t level = left[first];
    std::uint64_t       least = std::numeric_limits<std::uint32_t>::max();
    found.clear();
    if (level != 0)
    {
      left[first] = 0;
      found.push_back(first);
    }
    while (!found.empty())
    {
      const std::int64_t voxel = found.back();
      found.pop_back();
      least = std::min<std::uint64_t>(least, distances[voxel]);
      const Triple at{ { voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1]) } };
      Triple       low;
      Triple       high;
      for (int d = 0; d < 3; ++d)
      {
        const std::int64_t reach = job.connectsAxis[d] ? 1 : 0;
        low[d] = std::max<std::int64_t>(at[d] - reach, 0);
        high[d] = std::min(at[d] + reach, size[d] - 1);
      }
      for (std::int64_t z = low[2]; z <= high[2]; ++z)
      {
        for (std::int64_t y = low[1]; y <= high[1]; ++y)
        {
          for (std::int64_t x = low[0]; x <= high[0]; ++x)
          {
            const std::int64_t other = (z * size[1] + y) * size[0] + x;
            if (left[other] == level)
            {
              left[other] = 0;
              found.push_back(other);
            }
          }
        }
      }
    }
    if (level != 0)
    {
      cells.push_back({ level, least, 1.0 });
    }
  }
  return MergeCells(std::move(cells));
}

RegionLevels
MakeLevels(const RegionMatrixJob & job)
{
  Triple margin{ { 1, 1, 1 } };
  for (const Triple & offset : job.offsets)
  {
    for (int d = 0; d < 3; ++d)
    {
      margin[d] = std::max(margin[d], std::abs(offset[d]));
    }
  }
  RegionLevels  levels(job.size, margin);
  std::uint32_t largest = 0;
  for (std::int64_t z = 0; z < job.size[2]; ++z)
  {
    for (std::int64_t y = 0; y < job.size[1]; ++y)
    {
      const std::uint16_t * const from = job.levels + (z * job.size[1] + y) * job.size[0];
      const std::uint16_t * const end = from + job.size[0];
      const auto                  isUsed = [](std::uint16_t level) { return level != 0; };
      const std::int64_t          begin = std::find_if(from, end, isUsed) - from;
      if (begin < job.size[0])
      {
        std::uint16_t * const row = levels.Row(y, z);
        std::copy(from, end, row);
        levels.rows.push_back({ row, begin, job.size[0], y, z });
        largest = std::max<std::uint32_t>(largest, *std::max_element(from, end));
      }
    }
  }
  levels.Count(largest, job.execution);
  return levels;
}

void
Verify(const RegionMatrixJob & job)
{
  const bool hasDirection = job.kind == RegionMatrixKind::Cooccurrence || job.kind == RegionMatrixKind::RunLength;
  if (job.levels == nullptr || std::any_of(job.size.begin(), job.size.end(), [](auto n) { return n < 1; }))
  {
    throw EngineError("A matrix of a region needs gray levels, and at least one voxel along each axis.");
  }
  if (hasDirection && job.offsets.size() != 1)
  {
    throw EngineError("A matrix of pairs or runs needs one offset, but there are " +
                      std::to_string(job.offsets.size()) + ": compute one matrix for each direction.");
  }
  if (std::count(job.offsets.begin(), job.offsets.end(), Triple{ { 0, 0, 0 } }) != 0)
  {
    throw EngineError(
      "The offset (0, 0, 0) has no direction: each offset of a matrix needs a component that is not 0.");
  }
}
} // namespace

std::vector<RegionMatrixElement>
ComputeRegionMatrix(const RegionMatrixJob & job)
{
  Verify(job);
  std::vector<RegionMatrixElement> elements;
  if (job.kind == RegionMatrixKind::ToneDifference)
  {
    RegionLevels levels = MakeLevels(job);
    for (const Cell & cell : CountDependences(levels, job.offsets, levels.numberOfGrayLevels, job.execution))
    {
      // Voxels without a neighbor are not counted.
      levels.counts[cell.row] -= cell.column == 1 ? static_cast<std::uint64_t>(cell.value) : 0;
    }
    for (const ToneDifference & one :
         MakeToneDifferences(levels, CountToneDifferences(levels, job.offsets, job.execution)))
    {
      elements.push_back(
        { static_cast<std::uint64_t>(one.level), static_cast<std::uint64_t>(one.voxels), one.difference });
    }
    return elements;
  }
  const std::vector<Cell> cells = [&job]() {
    switch (job.kind)
    {
      case RegionMatrixKind::Cooccurrence:
        return CountPairs(MakeLevels(job), job.offsets[0], true, job.execution);
      case RegionMatrixKind::RunLength:
        return CountRuns(MakeLevels(job), job.offsets[0], false, job.execution);
      case RegionMatrixKind::SizeZone:
        return CountZones(MakeLevels(job), job.connectsAxis, job.execution);
      case RegionMatrixKind::Dependence:
        return CountDependences(MakeLevels(job), job.offsets, job.alpha, job.execution);
      case RegionMatrixKind::DistanceZone:
      case RegionMatrixKind::ToneDifference:
        break;
    }
    return CountDistanceZones(job);
  }();
  for (const Cell & cell : cells)
  {
    elements.push_back({ cell.row, cell.column, cell.value });
  }
  return elements;
}

std::vector<double>
ComputeRegionMatrixFeatures(RegionMatrixKind kind, const std::vector<RegionMatrixElement> & elements,
                            std::uint32_t numberOfGrayLevels)
{
  const auto toVector = [](const auto & values) { return std::vector<double>(values.begin(), values.end()); };
  if (kind == RegionMatrixKind::ToneDifference)
  {
    std::vector<ToneDifference> levels;
    for (const RegionMatrixElement & one : elements)
    {
      levels.push_back({ static_cast<double>(one.row), static_cast<double>(one.column), one.value });
    }
    return toVector(ComputeGrayToneDifferenceValues(levels));
  }
  std::vector<Cell> cells;
  std::uint64_t     largest = numberOfGrayLevels;
  for (const RegionMatrixElement & one : elements)
  {
    cells.push_back({ one.row, one.column, one.value });
    largest = std::max(largest, one.row);
  }
  cells = MergeCells(std::move(cells));
  if (cells.empty())
  {
    return std::vector<double>(kind == RegionMatrixKind::Cooccurrence ? CooccurrenceFeatureMapEnums::NumberOfFeatures
                                                                      : RunLengthFeatureMapEnums::NumberOfFeatures,
                               std::numeric_limits<double>::quiet_NaN());
  }
  if (kind == RegionMatrixKind::Cooccurrence)
  {
    return toVector(ComputeCooccurrenceValues(cells, static_cast<std::uint32_t>(largest), false, false));
  }
  const SizeMatrixValues values = ComputeSizeMatrixValues(cells);
  std::vector<double>    features;
  for (unsigned int feature = 0; feature < RunLengthFeatureMapEnums::NumberOfFeatures; ++feature)
  {
    const auto number = ToSizeMatrixFeature(static_cast<RunLengthFeatureMapEnums::Feature>(feature));
    features.push_back(values[static_cast<std::size_t>(number)]);
  }
  return features;
}
} // namespace voxelmaps
