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
#ifndef FusedDivision_h
#define FusedDivision_h

namespace itk
{
namespace voxelmaps
{
/** Correctly rounded quotients from reciprocals, on the device. Let r be within 2^-51.4 of 1/b, relative. Then
 * q = RN(a r) is within 2^-51 of a/b, the fused remainder a - q b is exact, and q + remainder * r is within 2^-102.4 of
 * a/b before its rounding. A quotient by an integer b that is not the middle of two doubles is at least 2^-54 / b away
 * from it, relative, and it cannot be the middle, so for b < 2^48 the bits are those of a/b. The numerator a may be any
 * double that is not so small or large that quotient or remainder leave the range of normal numbers. */
struct FusedDivision
{
  struct Divisor
  {
    double value;
    double reciprocal;
  };
  static __device__ Divisor
  By(double value)
  {
    return Divisor{ value, __drcp_rn(value) };
  }
  static __device__ Divisor
  ByProduct(const Divisor & a, const Divisor & b)
  {
    return Divisor{ a.value * b.value, a.reciprocal * b.reciprocal };
  }
  static __device__ double
  Quotient(double numerator, const Divisor & divisor)
  {
    const double quotient = numerator * divisor.reciprocal;
    const double remainder = __fma_rn(-quotient, divisor.value, numerator);
    return __fma_rn(remainder, divisor.reciprocal, quotient);
  }
  static constexpr double mostDivisor = 281474976710656.0; // 2^48
};
} // namespace voxelmaps
} // namespace itk

#endif // FusedDivision_h
