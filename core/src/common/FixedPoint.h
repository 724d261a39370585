// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FixedPoint_h
#define FixedPoint_h

#include "voxelmaps/Job.h"

#include <cstdint>
#include <vector>

// Fixed-point numbers by integer arithmetic only, since mathematical functions differ between C libraries.
namespace voxelmaps
{
/** The least number of bits b with 2^b >= n. */
int
CeilLog2(std::uint64_t n);

/** Bits of the binary number n. */
constexpr int
BitCount(std::uint64_t n)
{
  int bits = 0;
  for (; n != 0; n >>= 1)
  {
    ++bits;
  }
  return bits;
}

/** 2^exponent, exact. */
double
PowerOfTwo(int exponent);

/** round(2^bits n log2(n)) for bits < 56; 0 for n < 2. */
std::int64_t
EntropyTerm(std::uint64_t n, int bits);

/** The most bits, up to 48, with which EntropyTerm(maxNumber, bits) is below 2^61, and so is any sum of terms whose
 * numbers add up to maxNumber. */
int
EntropyBits(std::uint64_t maxNumber);

/** EntropyTerm(0, bits) ... EntropyTerm(maxNumber, bits). Large tables take seconds, so the execution can be aborted.
 */
std::vector<std::int64_t>
MakeEntropyTable(std::uint64_t maxNumber, int bits, const JobExecution & execution);

/** round(2^bits / n^2) for n = 0 ... maxNumber, which is below 2^17; 0 for n = 0. */
std::vector<std::uint64_t>
MakeInverseSquares(std::uint64_t maxNumber, int bits);

/** round(2^bits numerator / denominator) for numerator <= denominator < 2^34 and bits < 63. */
std::int64_t
FixedPointQuotient(std::uint64_t numerator, std::uint64_t denominator, int bits);
} // namespace voxelmaps

#endif // FixedPoint_h
