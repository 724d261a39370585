// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceTile.h"

#include "GrayToneDifferenceTileMemory.h"
#include "common/FixedPoint.h"
#include "texture/cpu/WindowBox.h"

namespace voxelmaps
{
bool
GrayToneDifferenceTileSupports(const GrayToneDifferenceTask & task)
{
  // The table of a window is searched from the first to the last level.
  constexpr int maxLevels = 1024;
  return task.isBox && !task.isWide && task.numberOfGrayLevels <= maxLevels &&
         task.differenceBits + BitCount(static_cast<std::uint64_t>(task.windowVoxels)) <= 64;
}

std::size_t
GrayToneDifferenceWorkspaceSize(const GrayToneDifferenceTask & task, const int (&tileSize)[3])
{
  return GrayToneDifferenceTileMemory(task, tileSize, nullptr).bytes;
}

void
StoreGrayToneDifferenceFeatures(const GrayToneDifferenceTask & task, const GrayToneDifferenceSums & sums,
                                std::int64_t firstComponent)
{
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    StoreComponent(task, firstComponent, f, GrayToneDifferenceFeatureValue(task.features[f], sums, task.scale));
  }
}

void
StoreGrayToneDifferenceBackground(const GrayToneDifferenceTask & task, std::int64_t firstComponent)
{
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    StoreComponentOrNaN(task, firstComponent, f, task.backgroundValue);
  }
}
} // namespace voxelmaps
