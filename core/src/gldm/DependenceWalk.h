// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependenceWalk_h
#define DependenceWalk_h

#include "gldm/Dependence.h"
#include "window/CountTable.h"
#include "window/Walk.h"
#include "window/WindowBox.h"

#include <cstddef>

namespace voxelmaps
{
/** Where a voxel is along an axis of its window: it may be at both faces. */
constexpr int atLowFace = 1;
constexpr int atHighFace = 2;
constexpr int axisPlaces = 4;
constexpr int numberOfPlaces = axisPlaces * axisPlaces * axisPlaces;

/** Looks at the neighbors of all voxels of windows. Supports every task. */
template <typename TTeam>
class DependenceWalk : public WindowWalk<DependenceTask, false>
{
public:
  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    return MakeTable(task).Bytes() + numberOfPlaces * sizeof(std::uint32_t);
  }

  VOXELMAPS_DEVICE
  DependenceWalk(const Task & task, const TTeam & team, void * workspace)
    : m_Task(task)
    , m_Team(team)
    , m_Counts(MakeTable(task))
    , m_NeighborsInWindow(static_cast<std::uint32_t *>(workspace))
  {
    m_Counts.SetMemory(m_NeighborsInWindow + numberOfPlaces);
    for (int place = m_Team.Rank(); place < numberOfPlaces && m_Task.dependentNeighbors != nullptr;
         place += m_Team.Size())
    {
      m_NeighborsInWindow[place] = this->FindNeighborsInWindow(place);
    }
  }

  /** Compute an output voxel, counted x fastest. */
  VOXELMAPS_DEVICE void
  Compute(std::int64_t voxel)
  {
    const WindowBox window = WindowBox::At(m_Task, voxel);
    if (!window.isComputed)
    {
      StoreBackground(m_Task, voxel, m_Team);
      return;
    }
    m_Team.Synchronize();
    m_Counts.Clear(m_Team);
    m_Team.Synchronize();
    m_Team.ForEachVoxel(window.size, [&](int x, int y, int z) { this->CountVoxel(window, x, y, z); });
    m_Team.Synchronize();
    SizeMatrixSums sums;
    ClearEntries(sums);
    m_Counts.ForEach(this->FirstKey(), m_Team, [&](std::uint32_t key, std::uint32_t number) {
      const auto          sizes = static_cast<std::uint32_t>(m_Task.maxSize);
      const std::uint32_t element = key - this->FirstKey();
      this->AddElement(element / sizes + 1, element % sizes + 1, number, sums);
    });
    sums = m_Team.Sum(sums);
    for (int f = m_Team.Rank(); f < m_Task.numberOfFeatures; f += m_Team.Size())
    {
      StoreComponent(
        m_Task, voxel * m_Task.voxelStride, f, SizeMatrixFeatureValue(m_Task.matrixFeatures[f], sums, m_Task.scales));
    }
  }

private:
  /** Counts of levels, of sizes, then of level and size. */
  static VOXELMAPS_HOST_DEVICE CountTable
  MakeTable(const Task & task)
  {
    const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
    const auto sizes = static_cast<std::uint64_t>(task.maxSize);
    const auto voxels = static_cast<std::uint64_t>(task.windowVoxels);
    return CountTable(levels + sizes + levels * sizes, voxels + sizes + (voxels < levels ? voxels : levels));
  }

  /** First key of the elements of the matrix. */
  VOXELMAPS_DEVICE std::uint32_t
                   FirstKey() const
  {
    return 1 + static_cast<std::uint32_t>(m_Task.numberOfGrayLevels + m_Task.maxSize);
  }

  VOXELMAPS_DEVICE void
  CountVoxel(const WindowBox & window, int x, int y, int z)
  {
    const int level = window.Level(m_Task, x, y, z);
    if (level != 0)
    {
      const std::uint32_t neighbors = this->CountDependentNeighbors(window, x, y, z, level);
      m_Counts.Count(
        this->FirstKey() + static_cast<std::uint32_t>((level - 1) * m_Task.maxSize) + neighbors, 1, m_Team);
    }
  }

  /** Add the voxels of a level and size. */
  VOXELMAPS_DEVICE void
  AddElement(std::uint32_t level, std::uint32_t size, std::uint32_t number, SizeMatrixSums & sums)
  {
    const std::uint64_t * inverses = m_Task.scales.inverseSquares;
    SizeMatrixGroup       group{ number, std::uint64_t{ number } * size, std::uint64_t{ number } * size * size, {} };
    AddProduct(group.inverses, inverses[size], number);
    AddGroup<levelAxis>(sums, level, inverses[level], group);

    // (a + n)^2 - a^2 add up to the same square in any order of the elements; AddGroup has added n^2.
    const std::uint64_t ofLevel = m_Counts.Count(level, number, m_Team);
    const std::uint64_t ofSize =
      m_Counts.Count(static_cast<std::uint32_t>(m_Task.numberOfGrayLevels) + size, number, m_Team);
    sums.axes[levelAxis].nonUniformity += 2 * ofLevel * number;
    sums.axes[sizeAxis].nonUniformity += (2 * ofSize + number) * number;
    if (m_Task.scales.entropyTable != nullptr)
    {
      sums.entropyTerms += m_Task.scales.entropyTable[number];
    }
  }

  VOXELMAPS_DEVICE std::uint32_t
                   CountDependentNeighbors(const WindowBox & window, int x, int y, int z, int level)
  {
    if (m_Task.dependentNeighbors != nullptr)
    {
      const auto place = [](int at, int size) { return (at == 0 ? atLowFace : 0) | (at == size - 1 ? atHighFace : 0); };
      const int  places =
        (place(z, window.size[2]) * axisPlaces + place(y, window.size[1])) * axisPlaces + place(x, window.size[0]);
      const std::int64_t voxel = m_Task.LevelOffset(window.first[0] + x, window.first[1] + y, window.first[2] + z);
      return static_cast<std::uint32_t>(CountBits(m_Task.dependentNeighbors[voxel] & m_NeighborsInWindow[places]));
    }
    m_Team.CountSteps(static_cast<std::uint64_t>(m_Task.numberOfOffsets) + 1);
    std::uint32_t number = 0;
    for (int k = 0; k < m_Task.numberOfOffsets; ++k)
    {
      const PairOffset offset = m_Task.offsets[k];
      const auto &     step = offset.step;
      number += AreDependent(level, window.Level(m_Task, x + step[0], y + step[1], z + step[2]), m_Task.alpha) ? 1 : 0;
      number += AreDependent(level, window.Level(m_Task, x - step[0], y - step[1], z - step[2]), m_Task.alpha) ? 1 : 0;
    }
    return number;
  }

  /** As bits, of a voxel at a place. */
  VOXELMAPS_DEVICE std::uint32_t
                   FindNeighborsInWindow(int place) const
  {
    std::uint32_t mask = 0;
    for (int k = 0; k < m_Task.numberOfOffsets; ++k)
    {
      const PairOffset offset = m_Task.offsets[k];
      bool             hasNext = true;
      bool             hasPrevious = true;
      for (int d = 0, remainingPlace = place; d < 3; ++d, remainingPlace /= axisPlaces)
      {
        const bool isLow = (remainingPlace & atLowFace) != 0;
        const bool isHigh = (remainingPlace & atHighFace) != 0;
        hasNext = hasNext && !(offset.step[d] > 0 && isHigh) && !(offset.step[d] < 0 && isLow);
        hasPrevious = hasPrevious && !(offset.step[d] < 0 && isHigh) && !(offset.step[d] > 0 && isLow);
      }
      mask |= ((hasNext ? 1u : 0u) | (hasPrevious ? 2u : 0u)) << (2 * k);
    }
    return mask;
  }

  const Task &    m_Task;
  TTeam           m_Team;
  CountTable      m_Counts;
  std::uint32_t * m_NeighborsInWindow;
};
} // namespace voxelmaps

#endif // DependenceWalk_h
