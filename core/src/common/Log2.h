// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Log2_h
#define Log2_h

#include "common/HostDevice.h"

#include <cstdint>
#include <cstring>

// A logarithm with the same bits on every processor: mathematical functions differ between C libraries.
namespace voxelmaps
{
/** log2 x for normal x > 0, accurate to 2^-50, relative. Operations of doubles in the order written; compile with
 * contraction off. */
VOXELMAPS_HOST_DEVICE inline double
Log2(double x)
{
  constexpr std::uint64_t fractionBits = (std::uint64_t{ 1 } << 52) - 1;
  std::uint64_t           bits;
  std::memcpy(&bits, &x, sizeof(bits));
  int                 exponent = static_cast<int>(bits >> 52) - 1023;
  const std::uint64_t mantissaBits = (bits & fractionBits) | (std::uint64_t{ 1023 } << 52);
  double              mantissa;
  std::memcpy(&mantissa, &mantissaBits, sizeof(mantissa));
  if (mantissa > 1.4142135623730951)
  {
    mantissa *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh s = 2 s (1 + s^2 / 3 + s^4 / 5 + ...) with |s| < 0.172, so that 13 terms are enough.
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = s * s;
  double       series = 1.0 / 25.0;
  series = 1.0 / 23.0 + square * series;
  series = 1.0 / 21.0 + square * series;
  series = 1.0 / 19.0 + square * series;
  series = 1.0 / 17.0 + square * series;
  series = 1.0 / 15.0 + square * series;
  series = 1.0 / 13.0 + square * series;
  series = 1.0 / 11.0 + square * series;
  series = 1.0 / 9.0 + square * series;
  series = 1.0 / 7.0 + square * series;
  series = 1.0 / 5.0 + square * series;
  series = 1.0 / 3.0 + square * series;
  series = 1.0 + square * series;
  constexpr double twoPerLn2 = 2.8853900817779268;
  return exponent + twoPerLn2 * s * series;
}
} // namespace voxelmaps

#endif // Log2_h
