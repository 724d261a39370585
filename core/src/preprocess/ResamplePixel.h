// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ResamplePixel_h
#define ResamplePixel_h

#include "common/HostDevice.h"

#include <limits>
#include <type_traits>

namespace voxelmaps
{
// Kernels cannot call the functions of std::numeric_limits.
template <typename T>
constexpr T lowestPixel = std::numeric_limits<T>::lowest();
template <typename T>
constexpr T highestPixel = std::numeric_limits<T>::max();

/** A value as a pixel: integers without its fraction, and the least or greatest pixel for what is beyond them. NaN and
 * infinity of floats stay. */
template <typename TPixel>
VOXELMAPS_HOST_DEVICE TPixel
ConvertTo(double value)
{
  if constexpr (std::is_same<TPixel, double>::value)
  {
    return value;
  }
  else
  {
    constexpr auto lowest = static_cast<double>(lowestPixel<TPixel>);
    // Rounded up for 64 bits.
    constexpr auto highest = static_cast<double>(highestPixel<TPixel>);
    if constexpr (std::is_floating_point<TPixel>::value)
    {
      if (value - value != 0.0)
      {
        return static_cast<TPixel>(value);
      }
    }
    return value <= lowest ? lowestPixel<TPixel> : value >= highest ? highestPixel<TPixel> : static_cast<TPixel>(value);
  }
}
} // namespace voxelmaps

#endif // ResamplePixel_h
