// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by CorrelationMatrices*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "CorrelationMatrices.h"
#include "glcm/MaximalCorrelation.h"
#include "window/cpu/Simd.h"

#include <cmath>

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
#if defined(VOXELMAPS_VECTOR_TYPES)
inline bool
IsZero(Real value)
{
  bool isZero = true;
  for (int i = 0; i < simdWidth; ++i)
  {
    isZero = isZero && value[i] == 0.0;
  }
  return isZero;
}
inline Real
Sqrt(Real value)
{
#  if defined(__AVX512F__)
  // The unmasked form trips a false warning of GCC 12.
  return reinterpret_cast<Real>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(value)));
#  elif defined(__AVX2__)
  return reinterpret_cast<Real>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(value)));
#  else
  for (int i = 0; i < simdWidth; ++i)
  {
    value[i] = std::sqrt(value[i]);
  }
  return value;
#  endif
}
#endif
inline bool
IsZero(double value)
{
  return value == 0.0;
}
inline double
Sqrt(double value)
{
  return std::sqrt(value);
}

/** The one lane of a thread. */
template <typename TReal>
class ThreadAlone
{
public:
  static constexpr int  first = 0;
  static constexpr int  step = 1;
  static constexpr bool isAlone = true;

  explicit ThreadAlone(const CorrelationMatrices & matrices)
    : m_Matrices(matrices)
  {}

  void
  Sync() const
  {}
  bool
  FinishColumn(int rows) const
  {
    constexpr std::int64_t elementsBetweenAbortChecks = 2000000;
    *m_Matrices.work += std::int64_t{ rows } * rows;
    if (*m_Matrices.work > elementsBetweenAbortChecks)
    {
      *m_Matrices.work = 0;
      m_Matrices.checkAbort(m_Matrices.execution);
    }
    return false;
  }
  static TReal
  SquareRoot(TReal value)
  {
    return Sqrt(value);
  }
  static bool
  AreZero(TReal value)
  {
    return IsZero(value);
  }

private:
  const CorrelationMatrices & m_Matrices;
};

/** As MaximalCorrelation::Search, with the same result: Newton's method proposes a point of the grid, which is tested.
 */
template <typename TReal>
TReal
SearchByNewton(const ThreadAlone<TReal> & thread, int levels, TReal * diagonal, const TReal * squares)
{
  using Algorithm = MaximalCorrelation<TReal, ThreadAlone<TReal>>;
  const TReal zero{};
  const TReal one = zero + 1.0;
  TReal       units{};
  TReal       above{};
  const int   round = Algorithm::ChooseSide(thread, levels, diagonal, squares, false, units, above);
  Algorithm::MakePositive(levels, diagonal, above);
  if (round < correlationBits)
  {
    // From above, the greatest eigenvalue is approached from one side. After a small step, the next one is below the
    // grid.
    constexpr int    maxSteps = 8;
    constexpr double small = 0x1p-28;
    TReal            x = Algorithm::Point(units + 2.0 * Algorithm::RoundStep(round), false);
    TReal            isFar = one;
    for (int step = 0; step < maxSteps && !IsZero(isFar); ++step)
    {
      // The characteristic polynomial of the leading parts, and its derivative.
      TReal before{};
      TReal value = one;
      TReal slopeBefore{};
      TReal slope{};
      TReal square{};
      for (int k = 0; k < levels; ++k)
      {
        const TReal difference = x - diagonal[k];
        const TReal nextSlope = value + difference * slope - square * slopeBefore;
        const TReal next = difference * value - square * before;
        before = value;
        value = next;
        slopeBefore = slope;
        slope = nextSlope;
        square = squares[k];
      }
      const TReal change = value / slope;
      x -= change;
      isFar = change < small ? zero : one;
    }
    // Rounds to the nearest integer.
    constexpr double magic = 0x1.8p52;
    const TReal      nearest = (x * (1.0 / correlationGrid) + magic) - magic;
    const TReal least = Algorithm::GetLeastMinor(levels, diagonal, squares, Algorithm::Point(nearest - 0.5, false));
    const TReal nextLeast = Algorithm::GetLeastMinor(levels, diagonal, squares, Algorithm::Point(nearest + 0.5, false));
    const TReal isTooGreat = least > 0.0 ? one : zero;
    const TReal isExact = nextLeast > 0.0 ? one - isTooGreat : zero;
    if (IsZero(one - isExact))
    {
      return nearest * correlationGrid;
    }
  }
  return Algorithm::Bisect(levels, diagonal, squares, false, round, units);
}

template <typename TReal>
void
ComputeAs(const CorrelationMatrices & matrices)
{
  using Algorithm = MaximalCorrelation<TReal, ThreadAlone<TReal>>;
  const ThreadAlone<TReal> thread(matrices);
  auto * const             elements = reinterpret_cast<TReal *>(matrices.elements);
  auto * const             first = reinterpret_cast<TReal *>(matrices.workspace);
  TReal * const            second = first + matrices.levels;
  if (!matrices.isSquared)
  {
    Algorithm::RemoveTrivialPart(thread, matrices.levels, elements, first, second);
  }
  Algorithm::Tridiagonalize(thread, matrices.levels, elements, first, second);
  *reinterpret_cast<TReal *>(matrices.coefficients) =
    matrices.isSquared ? Algorithm::Search(thread, matrices.levels, first, second, true)
                       : SearchByNewton(thread, matrices.levels, first, second);
}
} // namespace

int
GetCorrelationWidth()
{
  return simdWidth;
}

void
ComputeMaximalCorrelations(const CorrelationMatrices & matrices)
{
  matrices.isAlone ? ComputeAs<double>(matrices) : ComputeAs<Real>(matrices);
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
