// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ExpMinus_h
#define ExpMinus_h

#include "common/HostDevice.h"

#include <cstdint>
#include <cstring>

// An exponential function with the same bits on every processor: mathematical functions differ between C libraries.
namespace voxelmaps
{
/** 1 - x / 2 (1 - x / 3 (... (1 - x / 14))). */
VOXELMAPS_HOST_DEVICE inline double
ExpMinusSeries(double x)
{
  double series = 1.0;
  series = 1.0 - x * (1.0 / 14.0) * series;
  series = 1.0 - x * (1.0 / 13.0) * series;
  series = 1.0 - x * (1.0 / 12.0) * series;
  series = 1.0 - x * (1.0 / 11.0) * series;
  series = 1.0 - x * (1.0 / 10.0) * series;
  series = 1.0 - x * (1.0 / 9.0) * series;
  series = 1.0 - x * (1.0 / 8.0) * series;
  series = 1.0 - x * (1.0 / 7.0) * series;
  series = 1.0 - x * (1.0 / 6.0) * series;
  series = 1.0 - x * (1.0 / 5.0) * series;
  series = 1.0 - x * (1.0 / 4.0) * series;
  series = 1.0 - x * (1.0 / 3.0) * series;
  series = 1.0 - x * (1.0 / 2.0) * series;
  return series;
}

/** 1 - exp(-x) for x >= 0, accurate to 2^-50, relative. Operations of doubles in the order written; compile with
 * contraction off. */
VOXELMAPS_HOST_DEVICE inline double
OneMinusExpMinus(double x)
{
  if (x < 0.35)
  {
    return x * ExpMinusSeries(x); // keeps the digits of small x
  }
  if (!(x < 60.0))
  {
    return 1.0; // exp(-60) < 2^-86
  }
  // x = n ln 2 + r with |r| <= ln 2 / 2; n times the upper part of ln 2 is exact, as that part ends in 11 zero bits.
  const int           n = static_cast<int>(x * 1.4426950408889634 + 0.5);
  const double        r = (x - n * 0.69314718055989033) - n * 5.4979230187083712e-14;
  const double        series = 1.0 - r * ExpMinusSeries(r);
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 - n) << 52;
  double              power; // 2^-n
  std::memcpy(&power, &bits, sizeof(power));
  return 1.0 - series * power;
}
} // namespace voxelmaps

#endif // ExpMinus_h
