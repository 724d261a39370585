// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceWalk.h"

#include <algorithm>
#include <cmath>

namespace voxelmaps
{
namespace
{
constexpr std::uint64_t stepsBetweenAbortChecks = 4000000;

// Sums of levels, up to 2^29, have the number of voxels above them.
constexpr std::uint64_t oneVoxel = std::uint64_t{ 1 } << 32;
} // namespace

template <typename TDifference>
GrayToneDifferenceWalk<TDifference>::GrayToneDifferenceWalk(const GrayToneDifferenceTask & task,
                                                            const JobExecution &           execution)
  : m_Task(task)
  , m_Execution(execution)
  , m_Levels(static_cast<std::size_t>(task.numberOfGrayLevels) + 1)
{
  for (int d = 0; d < 3; ++d)
  {
    m_Size[d] = task.window[d] + 2 * task.reach[d];
  }
  m_Window.resize(NumberOfVoxels(m_Size));
  for (int i = 0; i < task.numberOfOffsets; ++i)
  {
    const auto & step = task.offsets[i].step;
    m_NeighborSteps.push_back((step[2] * m_Size[1] + step[1]) * m_Size[0] + step[0]);
  }
}

template <typename TDifference>
void
GrayToneDifferenceWalk<TDifference>::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      for (std::int64_t x = start[0]; x < start[0] + size[0]; ++x)
      {
        const std::int64_t out = ((z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x) * m_Task.voxelStride;
        const WindowBox    window(m_Task, { x, y, z });
        if (!window.isComputed)
        {
          for (int c = 0; c < m_Task.numberOfComponents; ++c)
          {
            StoreComponentOrNaN(m_Task, out, c, m_Task.backgroundValue);
          }
          continue;
        }
        this->AddVoxels(window);
        GrayToneDifferenceSums sums = this->AddLevels();
        this->ComparePairs(sums);
        for (int f = 0; f < m_Task.numberOfFeatures; ++f)
        {
          StoreComponent(m_Task, out, f, GrayToneDifferenceFeatureValue(m_Task.features[f], sums, m_Task.scale));
        }
      }
    }
  }
}

template <typename TDifference>
void
GrayToneDifferenceWalk<TDifference>::AddVoxels(const WindowBox & window)
{
  std::fill(m_Window.begin(), m_Window.end(), 0);
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      const std::uint16_t * const row =
        m_Task.levels + m_Task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + z);
      std::transform(row,
                     row + window.size[0],
                     m_Window.begin() + this->OffsetInWindow(0, y, z),
                     [](std::uint16_t level) { return level == 0 ? std::uint64_t{ 0 } : oneVoxel | level; });
    }
  }
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      const std::uint64_t * voxel = m_Window.data() + this->OffsetInWindow(0, y, z);
      for (int x = 0; x < window.size[0]; ++x, ++voxel)
      {
        if (*voxel == 0)
        {
          continue;
        }
        std::uint64_t sum = 0;
        for (const std::ptrdiff_t step : m_NeighborSteps)
        {
          sum += voxel[step] + voxel[-step];
        }
        const auto neighbors = static_cast<std::uint32_t>(sum / oneVoxel);
        const auto own = static_cast<std::uint16_t>(*voxel % oneVoxel);
        Level &    level = m_Levels[own];
        if (!level.isListed)
        {
          level.isListed = true;
          m_ListedLevels.push_back(own);
        }
        level.count += neighbors != 0 || m_Task.countVoxelsWithoutNeighbors ? 1 : 0;
        level.difference.Add(NeighborDifference(own, neighbors, static_cast<std::uint32_t>(sum % oneVoxel)),
                             m_Task.weights[neighbors]);
        this->CountSteps(m_NeighborSteps.size());
      }
    }
  }
}

template <typename TDifference>
std::ptrdiff_t
GrayToneDifferenceWalk<TDifference>::OffsetInWindow(int x, int y, int z) const
{
  return (std::ptrdiff_t{ z + m_Task.reach[2] } * m_Size[1] + y + m_Task.reach[1]) * m_Size[0] + x + m_Task.reach[0];
}

/** Also clears the levels for the next window. */
template <typename TDifference>
GrayToneDifferenceSums
GrayToneDifferenceWalk<TDifference>::AddLevels()
{
  GrayToneDifferenceTotals<typename TDifference::Number> totals;
  std::sort(m_ListedLevels.begin(), m_ListedLevels.end());
  m_Present.clear();
  m_Counts.clear();
  m_Products.clear();
  for (const std::uint16_t i : m_ListedLevels)
  {
    Level & level = m_Levels[i];
    if (level.count != 0)
    {
      m_Products.push_back(totals.AddLevel(i, level.count, level.difference.Get()));
      m_Present.push_back(i);
      m_Counts.push_back(level.count);
    }
    level = Level{};
  }
  m_ListedLevels.clear();
  return totals.GetSums();
}

template <typename TDifference>
void
GrayToneDifferenceWalk<TDifference>::ComparePairs(GrayToneDifferenceSums & sums)
{
  if (!m_Task.needsComplexity && !m_Task.needsImbalances)
  {
    return;
  }
  // Sums of |i n(i) - j n(j)| stay below 2^48.
  double imbalances = 0.0;
  for (std::size_t i = 0; i < m_Present.size(); ++i)
  {
    double row = 0.0;
    for (std::size_t j = i + 1; j < m_Present.size(); ++j)
    {
      row += GrayToneDifferencePairTerm(
        m_Products[i], m_Products[j], m_Present[j] - m_Present[i], 1.0 / (m_Counts[i] + m_Counts[j]));
      imbalances += std::abs(m_Present[i] * m_Counts[i] - m_Present[j] * m_Counts[j]);
    }
    sums.complexity += row;
    this->CountSteps(m_Present.size());
  }
  sums.imbalances = static_cast<std::uint64_t>(imbalances);
}

template <typename TDifference>
void
GrayToneDifferenceWalk<TDifference>::CountSteps(std::uint64_t steps)
{
  m_Steps += steps;
  if (m_Steps > stepsBetweenAbortChecks)
  {
    m_Steps = 0;
    m_Execution.CheckAbort();
  }
}

template class GrayToneDifferenceWalk<NarrowDifference>;
template class GrayToneDifferenceWalk<WideDifference>;
} // namespace voxelmaps
