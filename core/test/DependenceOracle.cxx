// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceOracle.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace DependenceOracle
{
Matrix
MakeMatrix(const Levels & levels, const Window & window, const Triple & position, const Parameters & parameters)
{
  std::map<Triple, std::uint32_t> voxels;
  Triple                          at;
  for (std::int64_t i = 0; i < window.size[0] * window.size[1] * window.size[2]; ++i)
  {
    const Triple inWindow{
      { i % window.size[0], i / window.size[0] % window.size[1], i / (window.size[0] * window.size[1]) }
    };
    bool isInside = true;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      at[axis] = position[axis] - window.anchor[axis] + inWindow[axis];
      isInside = isInside && at[axis] >= 0 && at[axis] < levels.size[axis];
    }
    if (isInside && levels(at) != 0)
    {
      voxels[at] = levels(at);
    }
  }
  Matrix matrix;
  for (const auto & voxel : voxels)
  {
    std::uint32_t size = 1;
    for (const Triple & offset : parameters.offsets)
    {
      for (const std::int64_t sign : { -1, 1 })
      {
        const auto neighbor = voxels.find({ { voxel.first[0] + sign * offset[0],
                                              voxel.first[1] + sign * offset[1],
                                              voxel.first[2] + sign * offset[2] } });
        if (neighbor != voxels.end())
        {
          const std::uint32_t greater = std::max(voxel.second, neighbor->second);
          const std::uint32_t lesser = std::min(voxel.second, neighbor->second);
          size += greater - lesser <= parameters.alpha ? 1 : 0;
        }
      }
    }
    ++matrix[{ voxel.second, size }];
  }
  return matrix;
}

Value
ComputeFeature(Feature feature, const Matrix & matrix)
{
  using Run = RunLengthOracle::Feature;
  // In the order of the features of dependences.
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
} // namespace DependenceOracle
