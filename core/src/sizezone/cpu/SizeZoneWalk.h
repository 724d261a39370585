// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneWalk_h
#define SizeZoneWalk_h

#include "sizezone/SizeZone.h"

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
  SizeZoneWalk(const SizeZoneTask & task, const JobExecution & execution);

  /** Compute a box of the output region. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  void
  ComputeWindow(const std::int64_t (&voxel)[3], std::int64_t outputVoxel);
  /** Remove the zone of a voxel from the copy; returns its number of voxels. */
  std::uint32_t
  RemoveZone(std::size_t seed);

  const SizeZoneTask &        m_Task;
  const JobExecution &        m_Execution;
  SizeZoneMatrix              m_Matrix;
  std::size_t                 m_Row;
  std::size_t                 m_Slice;
  std::vector<std::ptrdiff_t> m_Neighbors;
  std::vector<std::uint16_t>  m_Levels; // of the window, between absent voxels
  std::vector<std::size_t>    m_Front;  // voxels whose neighbors are to be looked at
  std::vector<std::uint32_t>  m_Zones;
};
} // namespace voxelmaps

#endif // SizeZoneWalk_h
