// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionShape_h
#define RegionShape_h

#include "voxelmaps/RegionFeaturesJob.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** A region in its bounding box, with a margin of one voxel on all sides: 1 inside, else 0. */
struct ShapeMask
{
  std::vector<std::uint8_t> inside;
  Triple                    size;
  std::array<double, 3>     spacing;

  const std::uint8_t *
  Row(std::int64_t y, std::int64_t z) const
  {
    return inside.data() + (z * size[1] + y) * size[0];
  }
};

/** Features by their number. */
std::array<double, 14>
ComputeShapeValues(const ShapeMask & mask, const JobExecution & execution);

/** The same of a region in one plane across z. */
std::array<double, 9>
ComputePlanarShapeValues(const ShapeMask & mask, const JobExecution & execution);
} // namespace voxelmaps

#endif // RegionShape_h
