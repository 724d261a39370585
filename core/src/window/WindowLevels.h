// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WindowLevels_h
#define WindowLevels_h

#include "window/WindowBox.h"

namespace voxelmaps
{
/** The different levels of a window in rising order. */
class WindowLevels
{
public:
  /** Needs room for as many levels as a window can have. */
  VOXELMAPS_HOST_DEVICE explicit WindowLevels(double * levels)
    : m_Levels(levels)
  {}

  /** Collect the levels of a window. */
  VOXELMAPS_HOST_DEVICE void
  Collect(const TextureTask & task, const WindowBox & window)
  {
    m_Number = 0;
    for (int z = 0; z < window.size[2]; ++z)
    {
      for (int y = 0; y < window.size[1]; ++y)
      {
        for (int x = 0; x < window.size[0]; ++x)
        {
          const int level = window.Level(task, x, y, z);
          if (level != 0)
          {
            this->Add(level);
          }
        }
      }
    }
  }

  VOXELMAPS_HOST_DEVICE int
  Number() const
  {
    return m_Number;
  }
  VOXELMAPS_HOST_DEVICE double
  operator[](int rank) const
  {
    return m_Levels[rank];
  }
  /** The number of levels below one. */
  VOXELMAPS_HOST_DEVICE int
  GetRank(double level) const
  {
    int first = 0;
    int end = m_Number;
    while (first < end)
    {
      const int middle = (first + end) / 2;
      if (m_Levels[middle] < level)
      {
        first = middle + 1;
      }
      else
      {
        end = middle;
      }
    }
    return first;
  }

private:
  VOXELMAPS_HOST_DEVICE void
  Add(double level)
  {
    const int rank = this->GetRank(level);
    if (rank < m_Number && m_Levels[rank] == level)
    {
      return;
    }
    for (int i = m_Number; i > rank; --i)
    {
      m_Levels[i] = m_Levels[i - 1];
    }
    m_Levels[rank] = level;
    ++m_Number;
  }

  double * m_Levels;
  int      m_Number{ 0 };
};

/** The number of different levels that a window can have at most. */
VOXELMAPS_HOST_DEVICE inline int
MaxWindowLevels(const TextureTask & task)
{
  const std::int64_t voxels = std::int64_t{ task.window[0] } * task.window[1] * task.window[2];
  return voxels < task.numberOfGrayLevels ? static_cast<int>(voxels) : task.numberOfGrayLevels;
}

} // namespace voxelmaps

#endif // WindowLevels_h
