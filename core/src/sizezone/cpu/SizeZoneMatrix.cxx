// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneMatrix.h"

#include "texture/cpu/WindowBox.h"

#include <algorithm>

namespace voxelmaps
{
SizeZoneMatrix::SizeZoneMatrix(const SizeZoneTask & task)
  : m_Task(task)
  , m_WindowSizes(static_cast<std::size_t>(task.windowVoxels) + 1)
  , m_LevelSizes(static_cast<std::size_t>(task.windowVoxels) + 1)
{
  std::transform(task.features, task.features + task.numberOfFeatures, m_Features, ToSizeMatrixFeature);
}

void
SizeZoneMatrix::Finish(std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones)
{
  const SizeMatrixScales &    scales = m_Task.scales;
  const std::uint64_t * const inverses = scales.inverseSquares;
  const std::int64_t * const  terms = scales.entropyTable;
  Count * const               windowSizes = m_WindowSizes.data();
  Count * const               levelSizes = m_LevelSizes.data();
  const std::uint64_t         windowRound = m_Round + 1;
  std::uint64_t               pairs = 0; // of a zone and one before it of the same size
  std::int64_t                entropyTerms = 0;
  SizeMatrixSums              sums;
  ClearEntries(sums);
  for (int first = 0, next = 0; first < numberOfZones; first = next)
  {
    const std::uint32_t level = ZoneLevel(zones[first]);
    SizeMatrixGroup     group;
    ClearEntries(group);
    ++m_Round;
    for (; next < numberOfZones && ZoneLevel(zones[next]) == level; ++next)
    {
      const std::uint32_t size = ZoneSize(zones[next]);
      AddEntry(group, size, inverses[size]);
      pairs += Increment(windowSizes[size], windowRound);
      if (terms != nullptr)
      {
        const std::int64_t * const term = terms + Increment(levelSizes[size], m_Round);
        entropyTerms += term[1] - term[0];
      }
    }
    AddGroup<levelAxis>(sums, level, inverses[level], group);
  }
  sums.entropyTerms = entropyTerms;
  // n zones of one size have n (n - 1) / 2 pairs.
  sums.axes[sizeAxis].nonUniformity = 2 * pairs + static_cast<std::uint64_t>(numberOfZones);
  const std::int64_t out = outputVoxel * m_Task.voxelStride;
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    StoreComponent(m_Task, out, f, SizeMatrixFeatureValue(m_Features[f], sums, scales));
  }
}

void
SizeZoneMatrix::StoreBackground(std::int64_t outputVoxel) const
{
  const std::int64_t out = outputVoxel * m_Task.voxelStride;
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    StoreComponentOrNaN(m_Task, out, f, m_Task.backgroundValue);
  }
}
} // namespace voxelmaps
