/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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
