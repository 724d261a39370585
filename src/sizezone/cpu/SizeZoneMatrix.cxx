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
#include "SizeZoneMatrix.h"

#include "texture/WindowBox.h"

#include <algorithm>

namespace itk
{
namespace voxelmaps
{
SizeZoneMatrix::SizeZoneMatrix(const SizeZoneTask & task)
  : m_Task(task)
  , m_SizesOfWindow(static_cast<std::size_t>(task.windowVoxels) + 1)
  , m_SizesOfLevel(static_cast<std::size_t>(task.windowVoxels) + 1)
{
  std::transform(task.features, task.features + task.numberOfFeatures, m_Features, SizeMatrixFeatureOf);
}

void
SizeZoneMatrix::Finish(std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones)
{
  // Rounds have 32 bits; a window begins a round for each of its zones at most.
  constexpr std::uint64_t maxRound = 0xffff0000u - 1u;
  if (m_Round + static_cast<std::uint64_t>(numberOfZones) > maxRound)
  {
    std::fill(m_SizesOfWindow.begin(), m_SizesOfWindow.end(), 0);
    std::fill(m_SizesOfLevel.begin(), m_SizesOfLevel.end(), 0);
    m_Round = 0;
  }
  const SizeMatrixScales & scales = m_Task.scales;
  const std::uint64_t      roundOfWindow = m_Round + 1;
  SizeMatrixSums           sums;
  SizeMatrixGroup          group;
  ClearEntries(sums);
  for (int first = 0, next = 0; first < numberOfZones; first = next)
  {
    const std::uint32_t level = LevelOfZone(zones[first]);
    ++m_Round;
    ClearEntries(group);
    for (; next < numberOfZones && LevelOfZone(zones[next]) == level; ++next)
    {
      const std::uint32_t size = SizeOfZone(zones[next]);
      AddEntry(group, size, scales.inverseSquares[size]);
      sums.axes[sizeAxis].nonUniformity += 2 * std::uint64_t{ Increment(m_SizesOfWindow[size], roundOfWindow) } + 1;
      if (scales.entropyTable != nullptr)
      {
        const std::uint32_t before = Increment(m_SizesOfLevel[size], m_Round);
        sums.entropyTerms += scales.entropyTable[before + 1] - scales.entropyTable[before];
      }
    }
    AddGroup<levelAxis>(sums, level, scales.inverseSquares[level], group);
  }
  const std::int64_t out = outputVoxel * m_Task.numberOfComponents;
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    StoreComponent(m_Task, out + f, SizeMatrixFeatureValue(m_Features[f], sums, scales));
  }
}

void
SizeZoneMatrix::StoreBackground(std::int64_t outputVoxel) const
{
  const std::int64_t out = outputVoxel * m_Task.numberOfComponents;
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    StoreComponentOrNaN(m_Task, out + f, m_Task.backgroundValue);
  }
}
} // namespace voxelmaps
} // namespace itk
