// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Division_h
#define Division_h

#include "common/HostDevice.h"

#include <cmath>

// Correctly rounded division, so that quotients have the same bits on every processor.
namespace voxelmaps
{
/** Division by the compiler's operator. */
template <typename TReal>
struct PlainDivision
{
  struct Divisor
  {
    TReal value;
  };
  static VOXELMAPS_HOST_DEVICE inline TReal
  Reciprocal(TReal value)
  {
    return 1.0 / value;
  }
  static VOXELMAPS_HOST_DEVICE inline Divisor
  By(TReal value)
  {
    return Divisor{ value };
  }
  /** Division by the product of two divisors. */
  static VOXELMAPS_HOST_DEVICE inline Divisor
  ByProduct(const Divisor & a, const Divisor & b)
  {
    return Divisor{ a.value * b.value };
  }
  static VOXELMAPS_HOST_DEVICE inline TReal
  Quotient(TReal numerator, const Divisor & divisor)
  {
    return numerator / divisor.value;
  }
};

/** Correctly rounded quotients from reciprocals. Let r be within 2^-51.4 of 1/b, relative. Then q = RN(a r) is within
 * 2^-51 of a/b, the fused remainder a - q b is exact, and q + remainder * r is within 2^-102.4 of a/b before its
 * rounding. A quotient by an integer b that is not the middle of two doubles is at least 2^-54 / b away from it,
 * relative, and it cannot be the middle, so for b < 2^48 the bits are those of a/b. The numerator a may be any double
 * that is not so small or large that quotient or remainder leave the range of normal numbers.
 *
 * TArithmetic has the correctly rounded Reciprocal and MultiplyAdd, with one rounding, of TReal. */
template <typename TReal, typename TArithmetic>
struct FusedDivision
{
  struct Divisor
  {
    TReal value;
    TReal reciprocal;
  };
  static VOXELMAPS_HOST_DEVICE inline TReal
  Reciprocal(TReal value)
  {
    return TArithmetic::Reciprocal(value);
  }
  static VOXELMAPS_HOST_DEVICE inline Divisor
  By(TReal value)
  {
    return Divisor{ value, Reciprocal(value) };
  }
  static VOXELMAPS_HOST_DEVICE inline Divisor
  ByProduct(const Divisor & a, const Divisor & b)
  {
    return Divisor{ a.value * b.value, a.reciprocal * b.reciprocal };
  }
  static VOXELMAPS_HOST_DEVICE inline TReal
  Quotient(TReal numerator, const Divisor & divisor)
  {
    const TReal quotient = numerator * divisor.reciprocal;
    const TReal remainder = TArithmetic::MultiplyAdd(-quotient, divisor.value, numerator);
    return TArithmetic::MultiplyAdd(remainder, divisor.reciprocal, quotient);
  }
};

/** The greatest divisor that FusedDivision supports, exclusive. */
constexpr double maxFusedDivisor = 281474976710656.0; // 2^48

/** Arithmetic of FusedDivision for doubles. */
struct DoubleArithmetic
{
  static VOXELMAPS_HOST_DEVICE inline double
  Reciprocal(double value)
  {
#if defined(__CUDA_ARCH__)
    return __drcp_rn(value);
#else
    return 1.0 / value;
#endif
  }
  static VOXELMAPS_HOST_DEVICE inline double
  MultiplyAdd(double a, double b, double c)
  {
#if defined(__CUDA_ARCH__)
    return __fma_rn(a, b, c);
#else
    return std::fma(a, b, c);
#endif
  }
};
} // namespace voxelmaps

#endif // Division_h
