// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneOracle.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace SizeZoneOracle
{
Matrix
CountZones(const Levels & levels, const Window & window, const Triple & position, Connectivity connectivity)
{
  Triple                          first;
  Triple                          end;
  Triple                          at;
  std::map<Triple, std::uint16_t> voxels;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    first[axis] = std::max<std::int64_t>(position[axis] - window.anchor[axis], 0);
    end[axis] = std::min(position[axis] - window.anchor[axis] + window.size[axis], levels.size[axis]);
  }
  for (at[2] = first[2]; at[2] < end[2]; ++at[2])
  {
    for (at[1] = first[1]; at[1] < end[1]; ++at[1])
    {
      for (at[0] = first[0]; at[0] < end[0]; ++at[0])
      {
        if (levels(at) != 0)
        {
          voxels[at] = levels(at);
        }
      }
    }
  }
  Matrix             matrix;
  const std::int64_t slices = connectivity == Connectivity::Full ? 1 : 0;
  while (!voxels.empty())
  {
    const std::uint16_t level = voxels.begin()->second;
    std::vector<Triple> front{ voxels.begin()->first };
    voxels.erase(voxels.begin());
    std::uint32_t size = 0;
    while (!front.empty())
    {
      const Triple from = front.back();
      front.pop_back();
      ++size;
      for (at[2] = from[2] - slices; at[2] <= from[2] + slices; ++at[2])
      {
        for (at[1] = from[1] - 1; at[1] <= from[1] + 1; ++at[1])
        {
          for (at[0] = from[0] - 1; at[0] <= from[0] + 1; ++at[0])
          {
            const auto found = voxels.find(at);
            if (found != voxels.end() && found->second == level)
            {
              front.push_back(at);
              voxels.erase(found);
            }
          }
        }
      }
    }
    ++matrix[{ level, size }];
  }
  return matrix;
}

Value
ComputeFeature(const Matrix & matrix, Feature feature)
{
  using Run = RunLengthOracle::Feature;
  // In the order of the features of zones.
  constexpr Run runFeatures[]{ Run::GrayLevelNonUniformity,
                               Run::GrayLevelNonUniformityNormalized,
                               Run::GrayLevelVariance,
                               Run::HighGrayLevelRunEmphasis,
                               Run::LongRunEmphasis,
                               Run::LongRunHighGrayLevelEmphasis,
                               Run::LongRunLowGrayLevelEmphasis,
                               Run::LowGrayLevelRunEmphasis,
                               Run::RunLengthNonUniformity,
                               Run::RunLengthNonUniformityNormalized,
                               Run::ShortRunEmphasis,
                               Run::ShortRunHighGrayLevelEmphasis,
                               Run::ShortRunLowGrayLevelEmphasis,
                               Run::RunEntropy,
                               Run::RunPercentage,
                               Run::RunVariance };
  return RunLengthOracle::ComputeSizeFeature(matrix, runFeatures[static_cast<int>(feature)]);
}
} // namespace SizeZoneOracle
