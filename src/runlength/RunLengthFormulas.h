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
#ifndef RunLengthFormulas_h
#define RunLengthFormulas_h

#include "common/Division.h"
#include "itkRunLengthFeatureMapEnums.h"

#include <cstdint>

/** The last step: from exact integers to features. One text for scalars, vectors, host and device.
 *
 * Every argument is an integer converted to double (rounded to nearest, so exact below 2^53). The operations below are
 * IEEE 754 double operations in the order written; compile with contraction off (-ffp-contract=off, -fmad=false), and
 * all compilers give the same bits. TReal is double, or a vector of doubles with the same operators. */
namespace itk
{
namespace voxelmaps
{
/** What the features need to know of one matrix. Sums run over its runs; i is the level, l the length. */
template <typename TReal>
struct RunLengthSums
{
  TReal runs;                // sum 1
  TReal voxels;              // voxels of the window, once per direction
  TReal squares;             // sum i^2
  TReal inverses;            // sum q(i), q(i) = round(2^s / i^2)
  TReal longRuns;            // sum l^2
  TReal longRunSquares;      // sum l^2 i^2
  TReal longRunInverses;     // sum l^2 q(i)
  TReal shortRuns;           // sum c(l), c(l) = shortRunScale / l^2
  TReal shortRunSquares;     // sum c(l) i^2
  TReal shortRunInverses;    // sum c(l) q(i)
  TReal lengthNonUniformity; // sum over l of (runs of length l)^2
  TReal levelNonUniformity;  // sum over i of (runs of level i)^2
  TReal levelVariance;       // runs * squares - (sum i)^2
  TReal entropy;             // t(runs) - sum over (i, l) of t(P(i, l)), t(n) = round(2^entropyBits n log2 n)
};

/** Scales of the fixed point numbers in the sums. */
struct RunLengthScales
{
  double inverseScale;  // 2^-s
  double shortRunScale; // lcm(1 ... longest run)^2, or 1 beyond length 12
  double entropyScale;  // 2^-entropyBits
};

/** Start with no run. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
ClearRuns(RunLengthSums<TReal> & sums)
{
  const TReal zero = TReal() * 0.0;
  sums.runs = zero;
  sums.squares = zero;
  sums.inverses = zero;
  sums.longRuns = zero;
  sums.longRunSquares = zero;
  sums.longRunInverses = zero;
  sums.shortRuns = zero;
  sums.shortRunSquares = zero;
  sums.shortRunInverses = zero;
  sums.lengthNonUniformity = zero;
}

/** Add the runs of one length: their number, sum of i^2 and sum of q(i). To be called with increasing lengths. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
AddRunsOfLength(RunLengthSums<TReal> & sums, double lengthSquared, double shortRunWeight, TReal runs, TReal squares,
                TReal inverses)
{
  sums.runs += runs;
  sums.squares += squares;
  sums.inverses += inverses;
  sums.longRuns += runs * lengthSquared;
  sums.longRunSquares += squares * lengthSquared;
  sums.longRunInverses += inverses * lengthSquared;
  sums.shortRuns += runs * shortRunWeight;
  sums.shortRunSquares += squares * shortRunWeight;
  sums.shortRunInverses += inverses * shortRunWeight;
  sums.lengthNonUniformity += runs * runs;
}

/** The divisors of one matrix, shared by its features. */
template <typename TReal, typename TDivision>
struct RunLengthDivisors
{
  typename TDivision::Divisor runs;
  typename TDivision::Divisor runsSquared;
  typename TDivision::Divisor shortRuns;
  typename TDivision::Divisor voxels;

  VOXELMAPS_HOST_DEVICE
  RunLengthDivisors(const RunLengthSums<TReal> & sums, const typename TDivision::Divisor & shortRunScale)
    : runs(TDivision::By(sums.runs))
    , runsSquared(TDivision::ByProduct(runs, runs))
    , shortRuns(TDivision::ByProduct(runs, shortRunScale))
    , voxels(TDivision::By(sums.voxels))
  {}
};

/** Value of one feature of one matrix. */
template <typename TReal, typename TDivision>
VOXELMAPS_HOST_DEVICE inline TReal
RunLengthFeatureValue(RunLengthFeatureMapEnums::Feature feature, const RunLengthSums<TReal> & sums,
                      const RunLengthDivisors<TReal, TDivision> & by, const RunLengthScales & scales)
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  switch (feature)
  {
    case Feature::ShortRunEmphasis:
      return TDivision::Quotient(sums.shortRuns, by.shortRuns);
    case Feature::LongRunEmphasis:
      return TDivision::Quotient(sums.longRuns, by.runs);
    case Feature::GrayLevelNonUniformity:
      return TDivision::Quotient(sums.levelNonUniformity, by.runs);
    case Feature::RunLengthNonUniformity:
      return TDivision::Quotient(sums.lengthNonUniformity, by.runs);
    case Feature::RunPercentage:
      return TDivision::Quotient(sums.runs, by.voxels);
    case Feature::LowGrayLevelRunEmphasis:
      return TDivision::Quotient(sums.inverses, by.runs) * scales.inverseScale;
    case Feature::HighGrayLevelRunEmphasis:
      return TDivision::Quotient(sums.squares, by.runs);
    case Feature::ShortRunLowGrayLevelEmphasis:
      return TDivision::Quotient(sums.shortRunInverses, by.shortRuns) * scales.inverseScale;
    case Feature::ShortRunHighGrayLevelEmphasis:
      return TDivision::Quotient(sums.shortRunSquares, by.shortRuns);
    case Feature::LongRunLowGrayLevelEmphasis:
      return TDivision::Quotient(sums.longRunInverses, by.runs) * scales.inverseScale;
    case Feature::LongRunHighGrayLevelEmphasis:
      return TDivision::Quotient(sums.longRunSquares, by.runs);
    case Feature::GrayLevelNonUniformityNormalized:
      return TDivision::Quotient(sums.levelNonUniformity, by.runsSquared);
    case Feature::RunLengthNonUniformityNormalized:
      return TDivision::Quotient(sums.lengthNonUniformity, by.runsSquared);
    case Feature::GrayLevelVariance:
      return TDivision::Quotient(sums.levelVariance, by.runsSquared);
    case Feature::RunVariance:
      // The lengths of all runs add up to the voxels.
      return TDivision::Quotient(sums.runs * sums.longRuns - sums.voxels * sums.voxels, by.runsSquared);
    case Feature::RunEntropy:
      return TDivision::Quotient(sums.entropy, by.runs) * scales.entropyScale;
  }
  return sums.runs;
}
} // namespace voxelmaps
} // namespace itk

#endif // RunLengthFormulas_h
