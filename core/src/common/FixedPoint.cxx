// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/FixedPoint.h"

#include "common/WideInteger.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace voxelmaps
{
namespace
{
// log2(n) * 2^56 by repeated squaring.
std::uint64_t
Log2FixedPoint(std::uint64_t n)
{
  int exponent = 63;
  while ((n >> exponent) == 0)
  {
    --exponent;
  }
  std::uint64_t mantissa = n << (63 - exponent); // [1, 2) with 63 fraction bits
  std::uint64_t fraction = 0;
  for (int bit = 0; bit < 56; ++bit)
  {
    mantissa = MultiplyHigh(mantissa, mantissa); // [1, 4) with 62 fraction bits
    fraction <<= 1;
    if (mantissa >> 63)
    {
      fraction |= 1;
    }
    else
    {
      mantissa <<= 1;
    }
  }
  return (static_cast<std::uint64_t>(exponent) << 56) + fraction;
}

/** round(2^bits n logarithm / 2^56). */
std::int64_t
ScaledProduct(std::uint64_t n, std::uint64_t logarithm, int bits)
{
  const std::uint64_t high = MultiplyHigh(n, logarithm);
  const std::uint64_t low = n * logarithm;
  const int           shift = 56 - bits;
  const std::uint64_t rounded = low + (std::uint64_t{ 1 } << (shift - 1));
  const std::uint64_t carry = rounded < low ? 1 : 0;
  return static_cast<std::int64_t>(((high + carry) << (64 - shift)) | (rounded >> shift));
}

/** Tables that depend only on a number of bits. Small ones are cached: computing one takes longer than a small image.
 */
template <typename T>
class KeptTables
{
public:
  /** makeEntry(n) for n = 0 ... size - 1. */
  template <typename TMakeEntry>
  std::vector<T>
  Get(std::size_t size, int bits, const TMakeEntry & makeEntry)
  {
    std::vector<T> table;
    table.reserve(size);
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      const std::vector<T> &            kept = m_Tables[bits];
      table.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(std::min(size, kept.size())));
    }
    if (table.size() == size)
    {
      return table;
    }
    while (table.size() < size)
    {
      table.push_back(makeEntry(table.size()));
    }
    if (size <= maxKeptSize)
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      std::vector<T> &                  kept = m_Tables[bits];
      if (kept.size() < size)
      {
        kept = table;
      }
    }
    return table;
  }

private:
  static constexpr std::size_t maxKeptSize = 65536;

  std::mutex                    m_Mutex;
  std::map<int, std::vector<T>> m_Tables;
};
} // namespace

int
CeilLog2(std::uint64_t n)
{
  int bits = 0;
  while ((std::uint64_t{ 1 } << bits) < n)
  {
    ++bits;
  }
  return bits;
}

double
PowerOfTwo(int exponent)
{
  double power = 1.0;
  for (; exponent > 0; --exponent)
  {
    power *= 2.0;
  }
  for (; exponent < 0; ++exponent)
  {
    power *= 0.5;
  }
  return power;
}

std::int64_t
EntropyTerm(std::uint64_t n, int bits)
{
  return n < 2 ? 0 : ScaledProduct(n, Log2FixedPoint(n), bits);
}

int
EntropyBits(std::uint64_t maxNumber)
{
  constexpr int       maxBits = 48;
  constexpr int       sumBits = 61;
  const std::uint64_t logarithm = maxNumber < 2 ? 0 : Log2FixedPoint(maxNumber);
  int                 bits = 0;
  while (bits < maxBits && ScaledProduct(maxNumber, logarithm, bits + 1) < std::int64_t{ 1 } << sumBits)
  {
    ++bits;
  }
  return bits;
}

std::vector<std::int64_t>
MakeEntropyTable(std::uint64_t maxNumber, int bits, const JobExecution & execution)
{
  static auto & tables = *new KeptTables<std::int64_t>;
  return tables.Get(maxNumber + 1, bits, [bits, &execution](std::uint64_t n) {
    if (n % 65536 == 65535)
    {
      execution.CheckAbort();
    }
    return EntropyTerm(n, bits);
  });
}

std::vector<std::uint64_t>
MakeInverseSquares(std::uint64_t maxNumber, int bits)
{
  static auto & tables = *new KeptTables<std::uint64_t>;
  return tables.Get(maxNumber + 1, bits, [bits](std::uint64_t n) {
    return n == 0 ? 0 : static_cast<std::uint64_t>(FixedPointQuotient(1, n * n, bits));
  });
}

std::int64_t
FixedPointQuotient(std::uint64_t numerator, std::uint64_t denominator, int bits)
{
  // Long division; the remainder leaves 30 bits of a word for the next digit.
  std::uint64_t quotient = numerator / denominator;
  std::uint64_t remainder = numerator % denominator;
  while (bits > 0)
  {
    const int digit = bits < 30 ? bits : 30;
    remainder <<= digit;
    quotient = (quotient << digit) + remainder / denominator;
    remainder %= denominator;
    bits -= digit;
  }
  return static_cast<std::int64_t>(2 * remainder >= denominator ? quotient + 1 : quotient);
}
} // namespace voxelmaps
