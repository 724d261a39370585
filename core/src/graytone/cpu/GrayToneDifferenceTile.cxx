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
#include "GrayToneDifferenceTile.h"

#include "GrayToneDifferenceTileMemory.h"
#include "common/FixedPoint.h"
#include "texture/cpu/WindowBox.h"

namespace voxelmaps
{
bool
GrayToneDifferenceTilesTake(const GrayToneDifferenceTask & task)
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
