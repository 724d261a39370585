/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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
