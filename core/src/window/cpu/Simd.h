// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Simd_h
#define Simd_h

// Vectors of doubles, one voxel per element. For files that are compiled once per instruction set and define
// VOXELMAPS_INSTRUCTION_SET.
#include "common/Division.h"

#include <cstdint>
#include <cstring>

// Vector types of Clang and GCC 10 or later. Without them, a vector is one number.
#if defined(__has_builtin) && !defined(VOXELMAPS_WITHOUT_COMPILER_EXTENSIONS)
#  if __has_builtin(__builtin_convertvector)
#    define VOXELMAPS_VECTOR_TYPES
#    if defined(__AVX2__)
#      include <immintrin.h>
#    endif
#  endif
#endif

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
#if defined(VOXELMAPS_VECTOR_TYPES)
#  if defined(__AVX512F__)
constexpr int simdWidth = 8;
#  elif defined(__AVX2__)
constexpr int simdWidth = 4;
#  else
constexpr int simdWidth = 2;
#  endif
using Real = double __attribute__((vector_size(8 * simdWidth)));
using Bits64 = std::uint64_t __attribute__((vector_size(8 * simdWidth)));
using Bits32 = std::uint32_t __attribute__((vector_size(4 * simdWidth)));
using Signed32 = std::int32_t __attribute__((vector_size(4 * simdWidth)));
using Bits16 = std::uint16_t __attribute__((vector_size(2 * simdWidth)));
using Bytes = std::uint8_t __attribute__((vector_size(8 * simdWidth)));
using FewerBytes = std::uint8_t __attribute__((vector_size(simdWidth == 8 ? 32 : 8 * simdWidth)));

// Sums in 32 bits stay below 2^31 (BoxSumsSupports), and signed conversions are the fast ones.
inline Real
ToReal(Signed32 value)
{
#  if defined(__AVX512F__)
  // The unmasked form trips a false warning of GCC 12.
  return reinterpret_cast<Real>(_mm512_maskz_cvtepi32_pd(0xff, reinterpret_cast<__m256i>(value)));
#  else
  return __builtin_convertvector(value, Real);
#  endif
}
inline Real
ToReal(Bits32 value)
{
  return ToReal(reinterpret_cast<Signed32>(value));
}
inline Real
ToReal(Bits16 value)
{
  return ToReal(__builtin_convertvector(value, Signed32));
}
inline Real
ToReal(Bits64 value)
{
#  if defined(__AVX512DQ__)
  return __builtin_convertvector(value, Real);
#  else
  // Put the halves into the mantissas of 2^84 and 2^52; one rounding, in the last addition.
  const Bits64 high = (value >> 32) | 0x4530000000000000u;
  const Bits64 low = (value & 0xffffffffu) | 0x4330000000000000u;
  return (reinterpret_cast<Real>(high) - 19342813118337666422669312.0) + reinterpret_cast<Real>(low);
#  endif
}
#else
constexpr int simdWidth = 1;
using Real = double;
using Bits64 = std::uint64_t;
using Bits32 = std::uint32_t;
using Bits16 = std::uint16_t;
using Bytes = std::uint8_t;
using FewerBytes = std::uint8_t;
template <typename TBits>
inline Real
ToReal(TBits value)
{
  return static_cast<double>(value);
}
#endif

template <typename TPack, typename T>
inline TPack
Load(const T * memory)
{
  TPack pack;
  std::memcpy(&pack, memory, sizeof(TPack));
  return pack;
}

#if defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX2__) && defined(__FMA__)
struct VectorArithmetic
{
  static inline Real
  Reciprocal(Real value)
  {
    return 1.0 / value;
  }
  static inline Real
  MultiplyAdd(Real a, Real b, Real c)
  {
#  if defined(__AVX512F__)
    return reinterpret_cast<Real>(
      _mm512_fmadd_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b), reinterpret_cast<__m512d>(c)));
#  else
    return reinterpret_cast<Real>(
      _mm256_fmadd_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(c)));
#  endif
  }
};
using Division = FusedDivision<Real, VectorArithmetic>;
#else
using Division = PlainDivision<Real>;
#endif
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps

#endif // Simd_h
