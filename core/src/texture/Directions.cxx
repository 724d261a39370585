// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "texture/Directions.h"

#include <algorithm>
#include <string>

namespace voxelmaps
{
Directions
MakeDirections(const std::vector<Triple> & offsets, const Triple & windowSize)
{
  if (offsets.empty() || offsets.size() > Directions::maxNumber)
  {
    throw EngineError("A job has " + std::to_string(offsets.size()) + " offsets, but must have 1 to " +
                      std::to_string(Directions::maxNumber) + ": one of each opposite pair.");
  }
  Directions directions{};
  directions.longestLine = 1;
  for (const Triple & offset : offsets)
  {
    const bool isUnit = std::all_of(offset.begin(), offset.end(), [](std::int64_t c) { return c >= -1 && c <= 1; });
    const std::int64_t sign = offset[2] != 0 ? offset[2] : offset[1] != 0 ? offset[1] : offset[0];
    if (!isUnit || sign == 0)
    {
      throw EngineError("A job has the offset (" + std::to_string(offset[0]) + ", " + std::to_string(offset[1]) + ", " +
                        std::to_string(offset[2]) +
                        "), which is not a valid direction: its components must be -1, 0 or 1, and not all 0.");
    }
    const int    d = directions.number++;
    std::int64_t longest = 255;
    for (int axis = 0; axis < 3; ++axis)
    {
      directions.steps[d][axis] = static_cast<int>(offset[axis] * sign);
      if (offset[axis] != 0)
      {
        longest = std::min(longest, windowSize[axis]);
      }
    }
    directions.longestLines[d] = static_cast<int>(longest);
    directions.longestLine = std::max(directions.longestLine, directions.longestLines[d]);
  }
  return directions;
}
} // namespace voxelmaps
