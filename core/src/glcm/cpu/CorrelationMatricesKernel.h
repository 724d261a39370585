// CorrelationMatricesKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// CorrelationMatricesKernel_hSPDX-License-Identifier: Apache-2.0

// CorrelationMatricesKernel_hIncluded once per instruction set by CorrelationMatrices*.cxx, which define
// VOXELMAPS_INSTRUCTION_SET.
#CorrelationMatricesKernel_hinclude "CorrelationMatrices.h"
#CorrelationMatricesKernel_hinclude "glcm/MaximalCorrelation.h"
#CorrelationMatricesKernel_hinclude "window/cpu/Simd.h"

#CorrelationMatricesKernel_hinclude < cmath>

CorrelationMatricesKernel_hnamespace voxelmaps
{
  CorrelationMatricesKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    CorrelationMatricesKernel_hnamespace
    {
#CorrelationMatricesKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
      CorrelationMatricesKernel_hinline bool CorrelationMatricesKernel_hIsZero(Real value)
      {
        CorrelationMatricesKernel_hbool isZero = true;
        CorrelationMatricesKernel_hfor(int i = 0; i < simdWidth; ++i)
        {
          CorrelationMatricesKernel_hisZero = isZero && value[i] == 0.0;
        }
        CorrelationMatricesKernel_hreturn isZero;
      }
      CorrelationMatricesKernel_hinline Real CorrelationMatricesKernel_hSqrt(Real value)
      {
#CorrelationMatricesKernel_hif defined(__AVX512F__)
        // CorrelationMatricesKernel_hThe unmasked form trips a false warning of GCC 12.
        CorrelationMatricesKernel_hreturn reinterpret_cast<Real>(
          _mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(value)));
#CorrelationMatricesKernel_helif defined(__AVX2__)
        CorrelationMatricesKernel_hreturn reinterpret_cast<Real>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(value)));
#CorrelationMatricesKernel_helse
        CorrelationMatricesKernel_hfor(int i = 0; i < simdWidth; ++i)
        {
          CorrelationMatricesKernel_hvalue[i] = std::sqrt(value[i]);
        }
        CorrelationMatricesKernel_hreturn value;
#CorrelationMatricesKernel_hendif
      }
#CorrelationMatricesKernel_hendif
      CorrelationMatricesKernel_hinline bool CorrelationMatricesKernel_hIsZero(double value)
      {
        CorrelationMatricesKernel_hreturn value == 0.0;
      }
      CorrelationMatricesKernel_hinline double CorrelationMatricesKernel_hSqrt(double value)
      {
        CorrelationMatricesKernel_hreturn std::sqrt(value);
      }

      /** CorrelationMatricesKernel_hThe one lane of a thread. */
      CorrelationMatricesKernel_htemplate<typename TReal> CorrelationMatricesKernel_hclass ThreadAlone
      {
      CorrelationMatricesKernel_hpublic:
        constexpr CorrelationMatricesKernel_hstatic int  first = 0;
        constexpr CorrelationMatricesKernel_hstatic int  step = 1;
        constexpr CorrelationMatricesKernel_hstatic bool isAlone = true;

        CorrelationMatricesKernel_hexplicit ThreadAlone(const CorrelationMatrices & matrices)
          : CorrelationMatricesKernel_hm_Matrices(matrices)
        {}

        CorrelationMatricesKernel_hvoid CorrelationMatricesKernel_hSync() const {}
        CorrelationMatricesKernel_hbool CorrelationMatricesKernel_hFinishColumn(int rows) const
        {
          CorrelationMatricesKernel_hconstexpr std::int64_t elementsBetweenAbortChecks = 2000000;
          *CorrelationMatricesKernel_hm_Matrices.work += std::int64_t{ rows } * rows;
          CorrelationMatricesKernel_hif(*m_Matrices.work > elementsBetweenAbortChecks)
          {
            *CorrelationMatricesKernel_hm_Matrices.work = 0;
            CorrelationMatricesKernel_hm_Matrices.checkAbort(m_Matrices.execution);
          }
          CorrelationMatricesKernel_hreturn false;
        }
        CorrelationMatricesKernel_hstatic TReal CorrelationMatricesKernel_hSquareRoot(TReal value)
        {
          CorrelationMatricesKernel_hreturn Sqrt(value);
        }
        CorrelationMatricesKernel_hstatic bool CorrelationMatricesKernel_hAreZero(TReal value)
        {
          CorrelationMatricesKernel_hreturn IsZero(value);
        }

      CorrelationMatricesKernel_hprivate:
        CorrelationMatricesKernel_hconst CorrelationMatrices & m_Matrices;
      };

      /** CorrelationMatricesKernel_hAs MaximalCorrelation::Search, with the same result: Newton's method proposes a
       * point of the grid, which is tested.
       */
      CorrelationMatricesKernel_htemplate<typename TReal> CorrelationMatricesKernel_hTReal
      CorrelationMatricesKernel_hSearchByNewton(
        const ThreadAlone<TReal> & thread, int levels, TReal * diagonal, const TReal * squares)
      {
        CorrelationMatricesKernel_husing       Algorithm = MaximalCorrelation<TReal, ThreadAlone<TReal>>;
        CorrelationMatricesKernel_hconst TReal zero{};
        CorrelationMatricesKernel_hconst TReal one = zero + 1.0;
        CorrelationMatricesKernel_hTReal       units{};
        CorrelationMatricesKernel_hTReal       above{};
        CorrelationMatricesKernel_hconst int   round =
          Algorithm::ChooseSide(thread, levels, diagonal, squares, false, units, above);
        CorrelationMatricesKernel_hAlgorithm::MakePositive(levels, diagonal, above);
        CorrelationMatricesKernel_hif(round < correlationBits)
        {
          // CorrelationMatricesKernel_hFrom above, the greatest eigenvalue is approached from one side. After a small
          // step, the next one is below the CorrelationMatricesKernel_hgrid.
          CorrelationMatricesKernel_hconstexpr int    maxSteps = 8;
          CorrelationMatricesKernel_hconstexpr double small = 0x1p-28;
          CorrelationMatricesKernel_hTReal x = Algorithm::Point(units + 2.0 * Algorithm::RoundStep(round), false);
          CorrelationMatricesKernel_hTReal isFar = one;
          CorrelationMatricesKernel_hfor(int step = 0; step < maxSteps && !IsZero(isFar); ++step)
          {
            // CorrelationMatricesKernel_hThe characteristic polynomial of the leading parts, and its derivative.
            CorrelationMatricesKernel_hTReal before{};
            CorrelationMatricesKernel_hTReal value = one;
            CorrelationMatricesKernel_hTReal slopeBefore{};
            CorrelationMatricesKernel_hTReal slope{};
            CorrelationMatricesKernel_hTReal square{};
            CorrelationMatricesKernel_hfor(int k = 0; k < levels; ++k)
            {
              CorrelationMatricesKernel_hconst TReal difference = x - diagonal[k];
              CorrelationMatricesKernel_hconst TReal nextSlope = value + difference * slope - square * slopeBefore;
              CorrelationMatricesKernel_hconst TReal next = difference * value - square * before;
              CorrelationMatricesKernel_hbefore = value;
              CorrelationMatricesKernel_hvalue = next;
              CorrelationMatricesKernel_hslopeBefore = slope;
              CorrelationMatricesKernel_hslope = nextSlope;
              CorrelationMatricesKernel_hsquare = squares[k];
            }
            CorrelationMatricesKernel_hconst TReal change = value / slope;
            CorrelationMatricesKernel_hx -= change;
            CorrelationMatricesKernel_hisFar = change < small ? zero : one;
          }
          // CorrelationMatricesKernel_hRounds to the nearest integer.
          CorrelationMatricesKernel_hconstexpr double magic = 0x1.8p52;
          CorrelationMatricesKernel_hconst TReal      nearest = (x * (1.0 / correlationGrid) + magic) - magic;
          CorrelationMatricesKernel_hconst TReal      least =
            Algorithm::GetLeastMinor(levels, diagonal, squares, Algorithm::Point(nearest - 0.5, false));
          CorrelationMatricesKernel_hconst TReal nextLeast =
            Algorithm::GetLeastMinor(levels, diagonal, squares, Algorithm::Point(nearest + 0.5, false));
          CorrelationMatricesKernel_hconst TReal isTooGreat = least > 0.0 ? one : zero;
          CorrelationMatricesKernel_hconst TReal isExact = nextLeast > 0.0 ? one - isTooGreat : zero;
          CorrelationMatricesKernel_hif(IsZero(one - isExact))
          {
            CorrelationMatricesKernel_hreturn nearest * correlationGrid;
          }
        }
        CorrelationMatricesKernel_hreturn Algorithm::Bisect(levels, diagonal, squares, false, round, units);
      }

      CorrelationMatricesKernel_htemplate<typename TReal> CorrelationMatricesKernel_hvoid
      CorrelationMatricesKernel_hComputeAs(const CorrelationMatrices & matrices)
      {
        CorrelationMatricesKernel_husing Algorithm = MaximalCorrelation<TReal, ThreadAlone<TReal>>;
        CorrelationMatricesKernel_hconst ThreadAlone<TReal> thread(matrices);
        CorrelationMatricesKernel_hauto * const             elements = reinterpret_cast<TReal *>(matrices.elements);
        CorrelationMatricesKernel_hauto * const             first = reinterpret_cast<TReal *>(matrices.workspace);
        CorrelationMatricesKernel_hTReal * const            second = first + matrices.levels;
        CorrelationMatricesKernel_hif(!matrices.isSquared)
        {
          CorrelationMatricesKernel_hAlgorithm::RemoveTrivialPart(thread, matrices.levels, elements, first, second);
        }
        CorrelationMatricesKernel_hAlgorithm::Tridiagonalize(thread, matrices.levels, elements, first, second);
        *CorrelationMatricesKernel_hreinterpret_cast<TReal *>(matrices.coefficients) =
          CorrelationMatricesKernel_hmatrices.isSquared
            ? Algorithm::Search(thread, matrices.levels, first, second, true)
            : CorrelationMatricesKernel_hSearchByNewton(thread, matrices.levels, first, second);
      }
    } // CorrelationMatricesKernel_hnamespace

    CorrelationMatricesKernel_hint CorrelationMatricesKernel_hGetCorrelationWidth()
    {
      CorrelationMatricesKernel_hreturn simdWidth;
    }

    CorrelationMatricesKernel_hvoid CorrelationMatricesKernel_hComputeMaximalCorrelations(
      const CorrelationMatrices & matrices)
    {
      CorrelationMatricesKernel_hmatrices.isAlone ? ComputeAs<double>(matrices) : ComputeAs<Real>(matrices);
    }
  } // CorrelationMatricesKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // CorrelationMatricesKernel_hnamespace voxelmaps
