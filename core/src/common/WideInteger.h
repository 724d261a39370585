// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WideInteger_h
#define WideInteger_h

#include "common/HostDevice.h"

#include <cstdint>
#include <cstring>

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

/** A signed integer of VWords 64-bit words in two's complement, modulo 2^(64 VWords). */
template <int VWords>
struct WideInteger
{
  std::uint64_t words[VWords]; // the lowest one first

  WideInteger() = default;
  VOXELMAPS_HOST_DEVICE
  WideInteger(std::int64_t value)
  {
    words[0] = static_cast<std::uint64_t>(value);
    for (int i = 1; i < VWords; ++i)
    {
      words[i] = value < 0 ? ~std::uint64_t{ 0 } : 0;
    }
  }

  VOXELMAPS_HOST_DEVICE bool
  IsNegative() const
  {
    return (words[VWords - 1] >> 63) != 0;
  }

  friend VOXELMAPS_HOST_DEVICE inline WideInteger
  operator+(const WideInteger & a, const WideInteger & b)
  {
    WideInteger   sum;
    std::uint64_t carry = 0;
    for (int i = 0; i < VWords; ++i)
    {
      const std::uint64_t partial = a.words[i] + b.words[i];
      sum.words[i] = partial + carry;
      carry = (partial < a.words[i] ? 1 : 0) + (sum.words[i] < partial ? 1 : 0);
    }
    return sum;
  }

  friend VOXELMAPS_HOST_DEVICE inline WideInteger
  operator-(const WideInteger & a, const WideInteger & b)
  {
    WideInteger   difference;
    std::uint64_t borrow = 0;
    for (int i = 0; i < VWords; ++i)
    {
      const std::uint64_t partial = a.words[i] - b.words[i];
      difference.words[i] = partial - borrow;
      borrow = (a.words[i] < b.words[i] ? 1 : 0) + (partial < borrow ? 1 : 0);
    }
    return difference;
  }

  /** Two's complement gives the right product modulo 2^(64 VWords) for all signs. */
  friend VOXELMAPS_HOST_DEVICE inline WideInteger
  operator*(const WideInteger & a, const WideInteger & b)
  {
    WideInteger product(0);
    for (int i = 0; i < VWords; ++i)
    {
      std::uint64_t carry = 0;
      for (int j = 0; i + j < VWords; ++j)
      {
        std::uint64_t low = a.words[i] * b.words[j];
        std::uint64_t high = MultiplyHigh(a.words[i], b.words[j]);
        low += carry;
        high += low < carry ? 1 : 0;
        product.words[i + j] += low;
        high += product.words[i + j] < low ? 1 : 0;
        carry = high;
      }
    }
    return product;
  }

  /** 2^32 times the integer. */
  VOXELMAPS_HOST_DEVICE WideInteger
  ShiftedByHalfWord() const
  {
    WideInteger shifted;
    shifted.words[0] = words[0] << 32;
    for (int i = 1; i < VWords; ++i)
    {
      shifted.words[i] = (words[i] << 32) | (words[i - 1] >> 32);
    }
    return shifted;
  }
};

/** sum += a b, for sums that stay positive. */
VOXELMAPS_HOST_DEVICE inline void
AddProduct(WideInteger<2> & sum, std::uint64_t a, std::uint64_t b)
{
  const std::uint64_t low = a * b;
  sum.words[0] += low;
  sum.words[1] += MultiplyHigh(a, b) + (sum.words[0] < low ? 1 : 0);
}

VOXELMAPS_HOST_DEVICE inline void
AddProduct(WideInteger<2> & sum, const WideInteger<2> & a, std::uint64_t b)
{
  AddProduct(sum, a.words[0], b);
  sum.words[1] += a.words[1] * b;
}

/** Number of zeros before the highest bit that is set; one is. */
VOXELMAPS_HOST_DEVICE inline int
LeadingZeros(std::uint64_t bits)
{
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(bits));
#elif defined(__GNUC__) || defined(__clang__)
  return __builtin_clzll(bits);
#else
  int zeros = 0;
  for (; (bits >> 63) == 0; bits <<= 1)
  {
    ++zeros;
  }
  return zeros;
#endif
}

/** Number of bits that are set. */
VOXELMAPS_HOST_DEVICE inline int
CountBits(std::uint32_t bits)
{
#if defined(__CUDA_ARCH__)
  return __popc(bits);
#elif defined(__GNUC__)
  return __builtin_popcount(bits);
#else
  int number = 0;
  for (; bits != 0; bits &= bits - 1)
  {
    ++number;
  }
  return number;
#endif
}

/** The nearest double, rounded once. */
template <int VWords>
VOXELMAPS_HOST_DEVICE inline double
ToDouble(const WideInteger<VWords> & integer)
{
  const bool                isNegative = integer.IsNegative();
  const WideInteger<VWords> magnitude = isNegative ? WideInteger<VWords>(0) - integer : integer;
  int                       top = VWords - 1;
  while (top > 0 && magnitude.words[top] == 0)
  {
    --top;
  }
  std::uint64_t bits = magnitude.words[top];
  if (top > 0)
  {
    // The upper 64 bits, the last of which is set if any bit below them is: 10 bits beyond a double's 53 keep rounding
    // right.
    const int shift = LeadingZeros(bits);
    bits <<= shift;
    const std::uint64_t next = magnitude.words[top - 1];
    if (shift > 0)
    {
      bits |= next >> (64 - shift);
    }
    bool isInexact = (next << shift) != 0;
    for (int i = 0; i < top - 1; ++i)
    {
      isInexact = isInexact || magnitude.words[i] != 0;
    }
    bits |= isInexact ? 1 : 0;
    const std::uint64_t exponent = static_cast<std::uint64_t>(1023 + 64 * top - shift) << 52;
    double              power;
    std::memcpy(&power, &exponent, sizeof(power));
    const double value = static_cast<double>(bits) * power;
    return isNegative ? -value : value;
  }
  return isNegative ? -static_cast<double>(bits) : static_cast<double>(bits);
}

/** n * squares - sum^2, which is not negative, exact in 128 bits, rounded once to double. */
VOXELMAPS_HOST_DEVICE inline double
VarianceNumerator(std::uint64_t n, std::uint64_t squares, std::uint64_t sum)
{
  WideInteger<2> product(0);
  AddProduct(product, n, squares);
  WideInteger<2> square(0);
  AddProduct(square, sum, sum);
  return ToDouble(product - square);
}

/** For code that accepts doubles or wide integers. */
VOXELMAPS_HOST_DEVICE inline double
ToDouble(double value)
{
  return value;
}
} // namespace voxelmaps

#endif // WideInteger_h
