// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ResampleImageCases_h
#define ResampleImageCases_h

#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/ResampleImageJob.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

// Jobs that several tests of resampling have.
namespace ResampleImageCases
{
using voxelmaps::GetPixelType;
using voxelmaps::ImageGrid;
using voxelmaps::PixelType;
using voxelmaps::ResampleImageJob;
using voxelmaps::Triple;
using VoxelMapsTest::RandomNumbers;
using Interpolation = ResampleImageJob::InterpolationEnum;

inline std::size_t
GetNumberOfVoxels(const ImageGrid & grid)
{
  return static_cast<std::size_t>(grid.size[0] * grid.size[1] * grid.size[2]);
}

/** All bits of small types, and numbers with fractions of floats. */
template <typename TPixel>
std::vector<TPixel>
DrawPixels(const ImageGrid & grid, RandomNumbers & random)
{
  std::vector<TPixel> pixels(GetNumberOfVoxels(grid));
  for (TPixel & pixel : pixels)
  {
    pixel = static_cast<TPixel>(random.Between(std::is_signed<TPixel>::value ? -100 : 0, 100));
    if (std::is_floating_point<TPixel>::value)
    {
      pixel += static_cast<TPixel>(random.Below(1 << 20)) / static_cast<TPixel>(1 << 20);
    }
  }
  return pixels;
}

/** A rotation about all axes, which may flip one. */
inline std::array<double, 9>
DrawDirection(RandomNumbers & random)
{
  const double          a = static_cast<double>(random.Below(628)) / 100.0;
  const double          b = static_cast<double>(random.Below(628)) / 100.0;
  const double          sign = random.Chance(0.5) ? 1.0 : -1.0;
  std::array<double, 9> direction{ { std::cos(a),
                                     -std::sin(a) * std::cos(b),
                                     sign * std::sin(a) * std::sin(b),
                                     std::sin(a),
                                     std::cos(a) * std::cos(b),
                                     -sign * std::cos(a) * std::sin(b),
                                     0.0,
                                     std::sin(b),
                                     sign * std::cos(b) } };
  return direction;
}

/** Grids that overlap in most cases, of which the second one is that of the output. */
inline void
DrawGrids(ResampleImageJob & job, std::int64_t maxSize, RandomNumbers & random)
{
  job.dimension = random.Chance(0.25) ? 2 : 3;
  const double kind = static_cast<double>(random.Below(100)) / 100.0;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const bool isUsed = axis < job.dimension;
    job.inputGrid.size[axis] = isUsed ? random.Between(1, maxSize) : 1;
    job.outputGrid.size[axis] = isUsed ? random.Between(1, maxSize) : 1;
    // Quarters have many ties.
    job.inputGrid.spacing[axis] = static_cast<double>(random.Between(1, 12)) / (kind < 0.5 ? 4.0 : 5.3);
    job.outputGrid.spacing[axis] = static_cast<double>(random.Between(1, 12)) / (kind < 0.5 ? 4.0 : 3.7);
    job.inputGrid.origin[axis] = static_cast<double>(random.Between(-40, 40)) / 4.0;
    job.outputGrid.origin[axis] = job.inputGrid.origin[axis] + static_cast<double>(random.Between(-12, 30)) / 4.0;
  }
  if (job.dimension == 3 && kind > 0.7)
  {
    job.inputGrid.direction = DrawDirection(random);
    job.outputGrid.direction = random.Chance(0.5) ? job.inputGrid.direction : DrawDirection(random);
  }
  else if (kind > 0.3)
  {
    job.inputGrid.direction[0] = -1.0;
    job.outputGrid.direction[0] = random.Chance(0.7) ? -1.0 : 1.0;
  }
}

/** All interpolations and orders. */
template <typename TVisit>
void
ForEachInterpolation(ResampleImageJob & job, const TVisit & visit)
{
  for (const Interpolation interpolation : voxelmaps::GetEnumerators<Interpolation>())
  {
    job.interpolation = interpolation;
    for (unsigned int order = 0; order <= (interpolation == Interpolation::BSpline ? 5u : 0u); ++order)
    {
      job.splineOrder = order;
      SCOPED_TRACE(VoxelMapsTest::Print(interpolation) + " of order " + std::to_string(order));
      visit();
    }
  }
}
} // namespace ResampleImageCases

#endif // ResampleImageCases_h
