// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PairOffsets_h
#define PairOffsets_h

#include "common/HostDevice.h"
#include "voxelmaps/Job.h"

#include <vector>

namespace voxelmaps
{
/** The vector from the first to the second voxel of a pair. */
struct PairOffset
{
  int step[3];
};

/** The first voxels of the pairs of an offset in a window: a box, whose size is not positive if there are no pairs. */
struct PairBox
{
  int begin[3];
  int size[3];

  PairBox() = default;
  VOXELMAPS_HOST_DEVICE
  PairBox(const PairOffset & offset, const int (&window)[3])
  {
    for (int d = 0; d < 3; ++d)
    {
      const int step = offset.step[d];
      begin[d] = step < 0 ? -step : 0;
      size[d] = window[d] - (step < 0 ? -step : step);
    }
  }
  VOXELMAPS_HOST_DEVICE bool
  IsEmpty() const
  {
    return size[0] <= 0 || size[1] <= 0 || size[2] <= 0;
  }
};

/** Throws EngineError unless there are 1 to 4096 offsets with components -254 to 254, none of them zero. */
std::vector<PairOffset>
MakePairOffsets(const std::vector<Triple> & offsets);

/** The offsets of the pairs of neighbors in windows of this size: all but those that are longer than the window.
 * Throws EngineError as MakePairOffsets does, and if an offset is given twice, as itself or as its opposite, which
 * makes the same pairs. */
std::vector<PairOffset>
MakeNeighborOffsets(const std::vector<Triple> & offsets, const int (&windowSize)[3]);
} // namespace voxelmaps

#endif // PairOffsets_h
