// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneWalk_h
#define SizeZoneWalk_h

#include "sizezone/SizeZone.h"
#include "texture/PaddedWindow.h"
#include "texture/SingleThread.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** From the zones of windows to features, window by window. */
class SizeZoneMatrix
{
public:
  explicit SizeZoneMatrix(const SizeZoneTask & task);

  /** Store the features of an output voxel whose window has these zones, at least one, level by level. */
  void
  Finish(std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones);

  /** Store the background at an output voxel. */
  void
  StoreBackground(std::int64_t outputVoxel) const;

private:
  /** A count in the lower 16 bits, and above them the round that it belongs to; counts of former rounds stand for 0. */
  using Count = std::uint64_t;

  /** Count once more, up to 65535; returns the count before. */
  static std::uint64_t
  Increment(Count & count, std::uint64_t round)
  {
    const Count         none = round << 16;
    const std::uint64_t before = count > none ? count - none : 0;
    count = none + before + 1;
    return before;
  }

  const SizeZoneTask & m_Task;
  SizeMatrixFeature    m_Features[SizeZoneTask::maxFeatures];
  // Zones by size: of a window, and of one of its levels.
  std::vector<Count> m_WindowSizes;
  std::vector<Count> m_LevelSizes;
  std::uint64_t      m_Round{ 0 };
};

/** Fills the zones of windows of any size, voxel by voxel, on a copy of the window. */
class SizeZoneWalk
{
public:
  using Task = SizeZoneTask;

  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    return PaddedWindow<>(task, margin).Bytes();
  }

  SizeZoneWalk(const Task & task, const SingleThread & thread, void * workspace)
    : m_Task(task)
    , m_Thread(thread)
    , m_Matrix(task)
    , m_Window(task, margin)
  {
    m_Window.SetMemory(workspace);
    const int slices = task.connectsSlices ? 1 : 0;
    for (int z = -slices; z <= slices; ++z)
    {
      for (int y = -1; y <= 1; ++y)
      {
        for (int x = -1; x <= 1; ++x)
        {
          m_Neighbors.push_back(m_Window.Stride({ x, y, z }));
        }
      }
    }
  }

  /** Compute an output voxel, counted x fastest. */
  void
  Compute(std::int64_t voxel)
  {
    const WindowBox window = WindowBox::At(m_Task, voxel);
    if (!window.isComputed)
    {
      m_Matrix.StoreBackground(voxel);
      return;
    }
    m_Thread.CountSteps(static_cast<std::uint64_t>(m_Task.windowVoxels) * m_Neighbors.size());
    m_Window.Load(m_Task, window, m_Thread);
    m_Zones.clear();
    m_Window.ForEachVoxel(window, m_Thread, [this](std::uint16_t * voxel) {
      const std::uint32_t level = *voxel;
      m_Zones.push_back(MakeZone(level, this->RemoveZone(voxel)));
    });
    std::sort(m_Zones.begin(), m_Zones.end());
    m_Matrix.Finish(voxel, m_Zones.data(), static_cast<int>(m_Zones.size()));
  }

private:
  static constexpr int margin[3] = { 1, 1, 1 };

  /** Remove the zone of a voxel from the copy; returns its number of voxels. */
  std::uint32_t
  RemoveZone(std::uint16_t * seed)
  {
    const std::uint16_t level = *seed;
    std::uint32_t       size = 1;
    *seed = 0;
    m_Front.assign(1, seed);
    while (!m_Front.empty())
    {
      std::uint16_t * const at = m_Front.back();
      m_Front.pop_back();
      for (const int neighbor : m_Neighbors)
      {
        if (at[neighbor] == level)
        {
          at[neighbor] = 0;
          m_Front.push_back(at + neighbor);
          ++size;
        }
      }
    }
    return size;
  }

  const Task &                 m_Task;
  SingleThread                 m_Thread;
  SizeZoneMatrix               m_Matrix;
  PaddedWindow<>               m_Window;
  std::vector<int>             m_Neighbors;
  std::vector<std::uint16_t *> m_Front; // voxels whose neighbors are to be looked at
  std::vector<std::uint32_t>   m_Zones;
};
} // namespace voxelmaps

#endif // SizeZoneWalk_h
