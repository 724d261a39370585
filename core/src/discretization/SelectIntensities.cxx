// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "discretization/GrayLevelJob.h"
#include "voxelmaps/GrayLevelDiscretization.h"

#include <limits>

namespace voxelmaps
{
namespace
{
template <typename TPixel, typename TIntensity>
void
Select(const TPixel * pixels, const std::uint16_t * levels, std::int64_t begin, std::int64_t end,
       TIntensity * intensities)
{
  for (std::int64_t i = begin; i < end; ++i)
  {
    // Adding 0 makes negative zero positive.
    intensities[i] = levels[i] != 0 ? static_cast<TIntensity>(pixels[i]) + TIntensity{ 0 }
                                    : std::numeric_limits<TIntensity>::quiet_NaN();
  }
}
} // namespace

void
SelectIntensities(PixelType pixelType, const void * pixels, const std::uint16_t * levels, std::int64_t count,
                  void * intensities, bool intensitiesAreDouble, const JobExecution & execution)
{
  VerifyEnumerator("The pixel type", pixelType, PixelType::Double);
  ForEachRangeOfVoxels(count, execution, [&](std::int64_t begin, std::int64_t end) {
    VisitPixelType(pixelType, [&](auto pixel) {
      const auto * const values = static_cast<const decltype(pixel) *>(pixels);
      intensitiesAreDouble ? Select(values, levels, begin, end, static_cast<double *>(intensities))
                           : Select(values, levels, begin, end, static_cast<float *>(intensities));
    });
  });
}
} // namespace voxelmaps
