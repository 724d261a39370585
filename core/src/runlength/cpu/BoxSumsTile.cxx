// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "BoxSumsTile.h"

#include "BoxSumsTileMemory.h"

namespace voxelmaps
{
bool
BoxSumsSupports(const BoxSumsTask & task)
{
  const auto maxVoxels = static_cast<double>(task.maxVoxels);
  if (task.needsInverses && task.wideInverses)
  {
    return false;
  }
  if (maxVoxels * task.scales.shortRunScale >= maxFusedDivisor)
  {
    return false;
  }
  const double levelSum = maxVoxels * task.numberOfGrayLevels;
  return !task.needsLevelSum || (levelSum < 2147483648.0 && levelSum * levelSum < 9007199254740992.0); // 2^31, 2^53
}

bool
SingleQuotientsTake(const BoxSumsTask & task)
{
  constexpr double exactSingles = 16777216.0; // 2^24
  if (task.outputIsDouble || task.aggregation != BoxSumsTask::Aggregation::PerDirection)
  {
    return false;
  }
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    if (RunLengthRunPower(task.features[f]) > 1 || task.features[f] == BoxSumsTask::Feature::RunEntropy)
    {
      return false;
    }
  }
  const auto   maxVoxels = static_cast<double>(task.maxVoxels);
  const double longest = task.directions.longestLine;
  const double maxSquare = static_cast<double>(task.numberOfGrayLevels) * task.numberOfGrayLevels;
  return longest <= maxSinglePrecisionLength && LevelCountBytes(task) == 1 &&
         maxVoxels * task.scales.shortRunScale < maxSingleDivisor &&
         (!task.needsSquares || maxVoxels * longest * maxSquare < exactSingles);
}

std::size_t
BoxSumsWorkspaceSize(const BoxSumsTask & task)
{
  return TileMemory(task, TileShape(task, task.tileSize), nullptr).bytes;
}
} // namespace voxelmaps
