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
