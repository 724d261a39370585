// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef UnsignedInteger128_h
#define UnsignedInteger128_h

#include <cstdint>

namespace VoxelMapsTest
{
/** What the oracles need of an integer of 128 bits, for compilers that have none. Results are modulo 2^128. */
class UnsignedInteger128
{
public:
  constexpr UnsignedInteger128() = default;

  constexpr UnsignedInteger128(std::uint64_t value)
    : m_Low(value)
  {}

  constexpr UnsignedInteger128(std::uint64_t high, std::uint64_t low)
    : m_High(high)
    , m_Low(low)
  {}

  explicit constexpr
  operator long double() const
  {
    return static_cast<long double>(m_High) * 18446744073709551616.0L + static_cast<long double>(m_Low);
  }

  /** Exact for values of up to 2^53; others may be rounded twice. */
  explicit constexpr
  operator double() const
  {
    return static_cast<double>(static_cast<long double>(*this));
  }

  friend constexpr bool
  operator==(const UnsignedInteger128 & a, const UnsignedInteger128 & b)
  {
    return a.m_High == b.m_High && a.m_Low == b.m_Low;
  }

  friend constexpr bool
  operator<=(const UnsignedInteger128 & a, const UnsignedInteger128 & b)
  {
    return a.m_High < b.m_High || (a.m_High == b.m_High && a.m_Low <= b.m_Low);
  }

  friend constexpr UnsignedInteger128
  operator+(const UnsignedInteger128 & a, const UnsignedInteger128 & b)
  {
    const std::uint64_t low = a.m_Low + b.m_Low;
    return { a.m_High + b.m_High + (low < a.m_Low ? 1 : 0), low };
  }

  friend constexpr UnsignedInteger128
  operator-(const UnsignedInteger128 & a, const UnsignedInteger128 & b)
  {
    return { a.m_High - b.m_High - (a.m_Low < b.m_Low ? 1 : 0), a.m_Low - b.m_Low };
  }

  /** Shift and add, bit by bit: slow, but obviously right. */
  friend constexpr UnsignedInteger128
  operator*(UnsignedInteger128 a, const UnsignedInteger128 & b)
  {
    UnsignedInteger128 product;
    for (int bit = 0; bit < 128; ++bit)
    {
      if (b.Bit(bit) == 1)
      {
        product = product + a;
      }
      a = a + a;
    }
    return product;
  }

  /** Long division, bit by bit. */
  friend constexpr UnsignedInteger128
  operator/(const UnsignedInteger128 & a, const UnsignedInteger128 & b)
  {
    UnsignedInteger128 quotient;
    UnsignedInteger128 remainder;
    for (int bit = 127; bit >= 0; --bit)
    {
      const bool overflows = remainder.Bit(127) == 1;
      remainder = remainder + remainder + a.Bit(bit);
      quotient = quotient + quotient;
      if (overflows || b <= remainder)
      {
        remainder = remainder - b;
        quotient = quotient + 1;
      }
    }
    return quotient;
  }

  constexpr UnsignedInteger128 &
  operator+=(const UnsignedInteger128 & other)
  {
    return *this = *this + other;
  }

private:
  constexpr std::uint64_t
  Bit(int bit) const
  {
    return bit < 64 ? (m_Low >> bit) & 1 : (m_High >> (bit - 64)) & 1;
  }

  std::uint64_t m_High{ 0 };
  std::uint64_t m_Low{ 0 };
};
} // namespace VoxelMapsTest

#endif // UnsignedInteger128_h
