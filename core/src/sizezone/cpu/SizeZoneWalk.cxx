// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneWalk.h"

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

SizeZoneWalk::SizeZoneWalk(const SizeZoneTask & task, const JobExecution & execution)
  : m_Task(task)
  , m_Execution(execution)
  , m_Matrix(task)
  , m_Row(static_cast<std::size_t>(task.window[0]) + 2)
  , m_Slice(m_Row * (static_cast<std::size_t>(task.window[1]) + 2))
  , m_Levels(m_Slice * (static_cast<std::size_t>(task.window[2]) + 2))
{
  const int slices = task.connectsSlices ? 1 : 0;
  for (int z = -slices; z <= slices; ++z)
  {
    for (int y = -1; y <= 1; ++y)
    {
      for (int x = -1; x <= 1; ++x)
      {
        if (x != 0 || y != 0 || z != 0)
        {
          m_Neighbors.push_back(z * static_cast<std::ptrdiff_t>(m_Slice) + y * static_cast<std::ptrdiff_t>(m_Row) + x);
        }
      }
    }
  }
}

void
SizeZoneWalk::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      m_Execution.CheckAbort();
      for (std::int64_t x = start[0]; x < start[0] + size[0]; ++x)
      {
        this->ComputeWindow({ x, y, z }, (z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x);
      }
    }
  }
}

void
SizeZoneWalk::ComputeWindow(const std::int64_t (&voxel)[3], std::int64_t outputVoxel)
{
  const WindowBox window(m_Task, voxel);
  if (!window.isComputed)
  {
    m_Matrix.StoreBackground(outputVoxel);
    return;
  }
  // What the window before left is 0.
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      const std::uint16_t * const from =
        m_Task.levels + m_Task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + z);
      std::copy_n(from,
                  window.size[0],
                  m_Levels.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(z) + 1) * m_Slice +
                                                                 (static_cast<std::size_t>(y) + 1) * m_Row + 1));
    }
  }
  m_Zones.clear();
  for (int z = 1; z <= window.size[2]; ++z)
  {
    for (int y = 1; y <= window.size[1]; ++y)
    {
      const std::size_t row = static_cast<std::size_t>(z) * m_Slice + static_cast<std::size_t>(y) * m_Row;
      for (std::size_t i = row + 1; i <= row + static_cast<std::size_t>(window.size[0]); ++i)
      {
        const std::uint32_t level = m_Levels[i];
        if (level != 0)
        {
          m_Zones.push_back(MakeZone(level, this->RemoveZone(i)));
        }
      }
    }
  }
  std::sort(m_Zones.begin(), m_Zones.end());
  m_Matrix.Finish(outputVoxel, m_Zones.data(), static_cast<int>(m_Zones.size()));
}

std::uint32_t
SizeZoneWalk::RemoveZone(std::size_t seed)
{
  const std::uint16_t level = m_Levels[seed];
  std::uint32_t       size = 1;
  m_Levels[seed] = 0;
  m_Front.assign(1, seed);
  while (!m_Front.empty())
  {
    const std::size_t at = m_Front.back();
    m_Front.pop_back();
    for (const std::ptrdiff_t neighbor : m_Neighbors)
    {
      const std::size_t next = at + static_cast<std::size_t>(neighbor);
      if (m_Levels[next] == level)
      {
        m_Levels[next] = 0;
        m_Front.push_back(next);
        ++size;
      }
    }
  }
  return size;
}
} // namespace voxelmaps
