// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PaddedWindow_h
#define PaddedWindow_h

#include "window/WindowBox.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** A copy of the levels of a window, with absent voxels around them that neighbors reach. Levels have the bits of
 * VPresent in addition, to count them while they are added up. */
template <typename TVoxel = std::uint16_t, TVoxel VPresent = 0>
class PaddedWindow
{
public:
  VOXELMAPS_HOST_DEVICE
  PaddedWindow(const TextureTask & task, const int (&margin)[3])
    : m_Margin{ margin[0], margin[1], margin[2] }
    , m_Size{ task.window[0] + 2 * margin[0], task.window[1] + 2 * margin[1], task.window[2] + 2 * margin[2] }
    , m_Levels(nullptr)
  {}

  /** A multiple of 8. */
  VOXELMAPS_HOST_DEVICE std::size_t
                        Bytes() const
  {
    const std::size_t voxels = static_cast<std::size_t>(m_Size[0]) * m_Size[1] * m_Size[2];
    return (voxels + 3) / 4 * 4 * sizeof(TVoxel);
  }
  VOXELMAPS_HOST_DEVICE void
  SetMemory(void * memory)
  {
    m_Levels = static_cast<TVoxel *>(memory);
  }

  /** Copy a window; returns how many of its voxels this thread of the team has found to have a level. */
  template <typename TTeam>
  VOXELMAPS_DEVICE std::uint32_t
                   Load(const TextureTask & task, const WindowBox & window, const TTeam & team)
  {
    std::uint32_t present = 0;
    for (int row = team.Rank(); row < m_Size[1] * m_Size[2]; row += team.Size())
    {
      const int    y = row % m_Size[1] - m_Margin[1];
      const int    z = row / m_Size[1] - m_Margin[2];
      TVoxel *     to = m_Levels + static_cast<std::size_t>(row) * m_Size[0];
      const bool   isInside = window.Contains(0, y, z);
      const int    size = isInside ? window.size[0] : 0;
      const auto * from =
        task.levels + (isInside ? task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + z) : 0);
      for (int x = -m_Margin[0]; x < m_Size[0] - m_Margin[0]; ++x)
      {
        const std::uint16_t level = x >= 0 && x < size ? from[x] : 0;
        *to++ = level != 0 ? static_cast<TVoxel>(VPresent | level) : TVoxel{ 0 };
        present += level != 0 ? 1 : 0;
      }
    }
    return present;
  }

  /** Call visit(pointer to level) for the voxels of the window that have a level. */
  template <typename TTeam, typename TVisit>
  VOXELMAPS_DEVICE void
  ForEachVoxel(const WindowBox & window, const TTeam & team, const TVisit & visit) const
  {
    // All voxels from the first to the last one: absent voxels are passed faster than positions are computed.
    const int      last[3] = { window.size[0] - 1, window.size[1] - 1, window.size[2] - 1 };
    TVoxel * const first = m_Levels + this->Stride(m_Margin);
    for (int i = team.Rank(); i <= this->Stride(last); i += team.Size())
    {
      if (first[i] != 0)
      {
        visit(first + i);
      }
    }
  }
  /** From a voxel to the next one along a step. */
  VOXELMAPS_HOST_DEVICE int
  Stride(const int (&step)[3]) const
  {
    return (step[2] * m_Size[1] + step[1]) * m_Size[0] + step[0];
  }

private:
  int      m_Margin[3];
  int      m_Size[3];
  TVoxel * m_Levels;
};
} // namespace voxelmaps

#endif // PaddedWindow_h
