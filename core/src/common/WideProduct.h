// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WideProduct_h
#define WideProduct_h

#include "common/HostDevice.h"

#include <cstdint>

namespace voxelmaps
{
/** Upper 64 bits of a 64 x 64 bit product. */
VOXELMAPS_HOST_DEVICE inline std::uint64_t
MultiplyHigh(std::uint64_t a, std::uint64_t b)
{
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#elif defined(__SIZEOF_INT128__) && !defined(VOXELMAPS_WITHOUT_COMPILER_EXTENSIONS)
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
  const std::uint64_t aLow = a & 0xffffffffu;
  const std::uint64_t aHigh = a >> 32;
  const std::uint64_t bLow = b & 0xffffffffu;
  const std::uint64_t bHigh = b >> 32;
  const std::uint64_t middle = aHigh * bLow + ((aLow * bLow) >> 32);
  const std::uint64_t middle2 = aLow * bHigh + (middle & 0xffffffffu);
  return aHigh * bHigh + (middle >> 32) + (middle2 >> 32);
#endif
}

/** n * squares - sum^2, exact in 128 bits, rounded once to double. */
VOXELMAPS_HOST_DEVICE inline double
VarianceNumerator(std::uint64_t n, std::uint64_t squares, std::uint64_t sum)
{
  std::uint64_t low = n * squares - sum * sum;
  std::uint64_t high = MultiplyHigh(n, squares) - MultiplyHigh(sum, sum) - (n * squares < sum * sum ? 1 : 0);
  // Shift into 64 bits, keeping a sticky bit so that the conversion rounds as if it saw all bits.
  int shift = 0;
  while (high != 0)
  {
    const std::uint64_t sticky = low & 1;
    low = (low >> 1) | (high << 63) | sticky;
    high >>= 1;
    ++shift;
  }
  double value = static_cast<double>(low);
  for (; shift > 0; --shift)
  {
    value *= 2.0;
  }
  return value;
}
} // namespace voxelmaps

#endif // WideProduct_h
