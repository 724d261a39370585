// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneMatrix_h
#define SizeZoneMatrix_h

#include "sizezone/SizeZoneTask.h"

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
} // namespace voxelmaps

#endif // SizeZoneMatrix_h
