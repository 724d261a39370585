// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceWalk.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr std::uint64_t stepsBetweenAbortChecks = 1000000;

/** The end of the equal keys from the first one on. */
template <typename TIterator>
TIterator
FindGroupEnd(TIterator first, TIterator end)
{
  return std::find_if(first, end, [first](std::uint32_t key) { return key != *first; });
}
} // namespace

DependenceWalk::DependenceWalk(const DependenceTask & task, const JobExecution & execution)
  : m_Task(task)
  , m_Execution(execution)
{}

void
DependenceWalk::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      for (std::int64_t x = start[0]; x < start[0] + size[0]; ++x)
      {
        const std::int64_t voxel = (z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x;
        const WindowBox    window(m_Task, { x, y, z });
        if (!window.isComputed)
        {
          for (int c = 0; c < m_Task.numberOfComponents; ++c)
          {
            StoreComponentOrNaN(m_Task, voxel * m_Task.voxelStride, c, m_Task.backgroundValue);
          }
          continue;
        }
        this->FindEntries(window);
        SizeMatrixSums sums;
        ClearEntries(sums);
        this->AddEntries(sums);
        StoreDependenceFeatures(m_Task, voxel, sums);
      }
    }
  }
}

void
DependenceWalk::FindEntries(const WindowBox & window)
{
  m_Keys.clear();
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      for (int x = 0; x < window.size[0]; ++x)
      {
        const int level = window.Level(m_Task, x, y, z);
        if (level == 0)
        {
          continue;
        }
        std::uint32_t size = 1;
        for (int k = 0; k < m_Task.numberOfOffsets; ++k)
        {
          const auto & step = m_Task.offsets[k].step;
          for (const int sign : { 1, -1 })
          {
            const int other = window.Level(m_Task, x + sign * step[0], y + sign * step[1], z + sign * step[2]);
            size += AreDependent(level, other, m_Task.alpha) ? 1 : 0;
          }
        }
        m_Keys.push_back((static_cast<std::uint32_t>(level) << 16) | size);
        m_Steps += static_cast<std::uint64_t>(m_Task.numberOfOffsets) + 1;
        if (m_Steps >= stepsBetweenAbortChecks)
        {
          m_Steps = 0;
          m_Execution.CheckAbort();
        }
      }
    }
  }
}

void
DependenceWalk::AddEntries(SizeMatrixSums & sums)
{
  const auto & inverses = m_Task.scales.inverseSquares;
  std::sort(m_Keys.begin(), m_Keys.end());
  m_Sizes.clear();
  for (auto element = m_Keys.cbegin(); element != m_Keys.cend();)
  {
    const std::uint32_t level = *element >> 16;
    SizeMatrixGroup     group;
    ClearEntries(group);
    while (element != m_Keys.cend() && *element >> 16 == level)
    {
      const auto          end = FindGroupEnd(element, m_Keys.cend());
      const std::uint32_t size = *element & 0xffffu;
      for (auto entry = element; entry != end; ++entry)
      {
        AddEntry(group, size, inverses[size]);
        m_Sizes.push_back(size);
      }
      if (m_Task.scales.entropyTable != nullptr)
      {
        sums.entropyTerms += m_Task.scales.entropyTable[end - element];
      }
      element = end;
    }
    AddGroup<levelAxis>(sums, level, inverses[level], group);
  }
  std::sort(m_Sizes.begin(), m_Sizes.end());
  for (auto size = m_Sizes.cbegin(); size != m_Sizes.cend();)
  {
    const auto end = FindGroupEnd(size, m_Sizes.cend());
    const auto entries = static_cast<std::uint64_t>(end - size);
    sums.axes[sizeAxis].nonUniformity += entries * entries;
    size = end;
  }
}
} // namespace voxelmaps
