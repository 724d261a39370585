// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneWalk_h
#define SizeZoneWalk_h

#include "SizeZoneMatrix.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
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
