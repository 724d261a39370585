// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeMatrixOracle.h"

#include <cstdlib>

namespace SizeMatrixOracle
{
using Run = RunLengthOracle::Feature;

Matrix
CountDependences(const Levels & levels, const Window & window, const Triple & position,
                 const voxelmaps::DependenceJob & parameters)
{
  Matrix                              matrix;
  const RunLengthOracle::WindowLevels inWindow(levels, window, position);
  inWindow.ForEachVoxel([&](const Triple & at, std::uint16_t level) {
    std::uint32_t size = 1;
    for (const Triple & offset : parameters.offsets)
    {
      for (const std::int64_t sign : { -1, 1 })
      {
        const std::uint16_t neighbor = inWindow(RunLengthOracle::Move(at, offset, sign));
        const std::int64_t  difference = std::abs(std::int64_t{ level } - neighbor);
        size += neighbor != 0 && difference <= std::int64_t{ parameters.alpha } ? 1 : 0;
      }
    }
    ++matrix[{ level, size }];
  });
  return matrix;
}

Matrix
CountZones(const Levels & levels, const Window & window, const Triple & position,
           voxelmaps::SizeZoneJob::Connectivity connectivity)
{
  std::map<Triple, std::uint16_t> voxels;
  RunLengthOracle::WindowLevels(levels, window, position)
    .ForEachVoxel([&voxels](const Triple & at, std::uint16_t level) { voxels[at] = level; });
  const bool isFull = connectivity == voxelmaps::SizeZoneJob::Connectivity::Full;
  Matrix     matrix;
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
      for (std::int64_t k = isFull ? 0 : 9; k < (isFull ? 27 : 18); ++k)
      {
        const auto found = voxels.find(RunLengthOracle::Move(from, { { k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1 } }));
        if (found != voxels.end() && found->second == level)
        {
          front.push_back(found->first);
          voxels.erase(found);
        }
      }
    }
    ++matrix[{ level, size }];
  }
  return matrix;
}

Value
ComputeFeature(const Matrix & matrix, voxelmaps::DependenceJob::Feature feature)
{
  constexpr Run runFeatures[]{ Run::ShortRunEmphasis,
                               Run::LongRunEmphasis,
                               Run::GrayLevelNonUniformity,
                               Run::RunLengthNonUniformity,
                               Run::RunLengthNonUniformityNormalized,
                               Run::GrayLevelVariance,
                               Run::RunVariance,
                               Run::RunEntropy,
                               Run::LowGrayLevelRunEmphasis,
                               Run::HighGrayLevelRunEmphasis,
                               Run::ShortRunLowGrayLevelEmphasis,
                               Run::ShortRunHighGrayLevelEmphasis,
                               Run::LongRunLowGrayLevelEmphasis,
                               Run::LongRunHighGrayLevelEmphasis };
  return RunLengthOracle::ComputeSizeFeature(matrix, runFeatures[static_cast<int>(feature)]);
}

Value
ComputeFeature(const Matrix & matrix, voxelmaps::SizeZoneJob::Feature feature)
{
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
} // namespace SizeMatrixOracle
