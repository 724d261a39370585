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
