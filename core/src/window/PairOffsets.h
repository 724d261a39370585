// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PairOffsets_h
#define PairOffsets_h

#include "voxelmaps/Job.h"

#include <vector>

namespace voxelmaps
{
/** The vector from the first to the second voxel of a pair. */
struct PairOffset
{
  int step[3];
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
