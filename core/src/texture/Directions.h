// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Directions_h
#define Directions_h

#include "voxelmaps/Job.h"

#include <vector>

namespace voxelmaps
{
/** The directions of a job and the longest lines that its window has along them; plain data, as TextureTask. */
struct Directions
{
  static constexpr int maxNumber = 13;

  int number;
  /** Components -1, 0 or 1, the last one that is not 0 being positive: opposite directions hold the same lines. */
  int steps[maxNumber][3];
  /** Voxels of the longest line of a window, per direction and of all. */
  int longestLines[maxNumber];
  int longestLine;
};

/** Throws EngineError unless there are 1 to 13 offsets with components -1, 0 or 1, none of them zero. */
Directions
MakeDirections(const std::vector<Triple> & offsets, const Triple & windowSize);
} // namespace voxelmaps

#endif // Directions_h
