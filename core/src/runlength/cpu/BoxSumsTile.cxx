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

std::size_t
BoxSumsWorkspaceSize(const BoxSumsTask & task)
{
  return TileMemory(task, TileShape(task, task.tileSize), nullptr).bytes;
}
} // namespace voxelmaps
