// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RunLengthFormulas_h
#define RunLengthFormulas_h

#include "common/Division.h"
#include "voxelmaps/RunLengthJob.h"

/** The last step: from exact integers to features. One text for scalars, vectors, host and device.
 *
 * Every argument is an integer converted to double (rounded to nearest, so exact below 2^53). The operations below are
 * IEEE 754 double operations in the order written; compile with contraction off (-ffp-contract=off, -fmad=false), and
 * all compilers give the same bits. TReal is double, or a vector of doubles with the same operators.
 *
 * A feature is numerator / divisor. PerDirection and Merge round this quotient correctly. Average goes without a
 * division per direction: with r the correctly rounded 1 / runs, it adds numerator * r, direction by direction in their
 * order, or numerator * (r * r) where the divisor has runs^2, or the numerator where the divisor has no runs. Only then
 * it divides, by the product of the number of directions and what all divisors have in common. */
namespace voxelmaps
{
/** Inputs of the features of one matrix. Sums run over its runs; i is the level, l the length. */
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

constexpr int numberOfRunSums = 10;

/** Call f for the sums that AddRunsWithLength adds to. */
template <typename TReal, typename TFunction>
VOXELMAPS_HOST_DEVICE inline void
ForEachRunSum(RunLengthSums<TReal> & sums, TFunction f)
{
  f(sums.runs);
  f(sums.squares);
  f(sums.inverses);
  f(sums.longRuns);
  f(sums.longRunSquares);
  f(sums.longRunInverses);
  f(sums.shortRuns);
  f(sums.shortRunSquares);
  f(sums.shortRunInverses);
  f(sums.lengthNonUniformity);
}

/** Start with no run. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
ClearRuns(RunLengthSums<TReal> & sums)
{
  ForEachRunSum(sums, [](TReal & sum) { sum = TReal{}; });
}

/** Add the runs of one length: their number, sum of i^2 and sum of q(i). To be called with increasing lengths. */
template <typename TReal, typename TWeight>
VOXELMAPS_HOST_DEVICE inline void
AddRunsWithLength(RunLengthSums<TReal> & sums, TWeight lengthSquared, TWeight shortRunWeight, TReal runs, TReal squares,
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

/** Which power of the number of runs divides a feature. */
VOXELMAPS_HOST_DEVICE constexpr int
RunLengthRunPower(RunLengthFeatureMapEnums::Feature feature)
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  switch (feature)
  {
    case Feature::RunPercentage:
      return 0;
    case Feature::GrayLevelNonUniformityNormalized:
    case Feature::RunLengthNonUniformityNormalized:
    case Feature::GrayLevelVariance:
    case Feature::RunVariance:
      return 2;
    default:
      return 1;
  }
}

/** Whether the divisor of a feature contains the scale of short runs. */
VOXELMAPS_HOST_DEVICE constexpr bool
RunLengthUsesShortRuns(RunLengthFeatureMapEnums::Feature feature)
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  return feature == Feature::ShortRunEmphasis || feature == Feature::ShortRunLowGrayLevelEmphasis ||
         feature == Feature::ShortRunHighGrayLevelEmphasis;
}

/** The numerator of one feature of one matrix. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline TReal
RunLengthNumerator(RunLengthFeatureMapEnums::Feature feature, const RunLengthSums<TReal> & sums)
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  switch (feature)
  {
    case Feature::ShortRunEmphasis:
      return sums.shortRuns;
    case Feature::LongRunEmphasis:
      return sums.longRuns;
    case Feature::GrayLevelNonUniformity:
    case Feature::GrayLevelNonUniformityNormalized:
      return sums.levelNonUniformity;
    case Feature::RunLengthNonUniformity:
    case Feature::RunLengthNonUniformityNormalized:
      return sums.lengthNonUniformity;
    case Feature::RunPercentage:
      return sums.runs;
    case Feature::LowGrayLevelRunEmphasis:
      return sums.inverses;
    case Feature::HighGrayLevelRunEmphasis:
      return sums.squares;
    case Feature::ShortRunLowGrayLevelEmphasis:
      return sums.shortRunInverses;
    case Feature::ShortRunHighGrayLevelEmphasis:
      return sums.shortRunSquares;
    case Feature::LongRunLowGrayLevelEmphasis:
      return sums.longRunInverses;
    case Feature::LongRunHighGrayLevelEmphasis:
      return sums.longRunSquares;
    case Feature::GrayLevelVariance:
      return sums.levelVariance;
    case Feature::RunVariance:
      // The lengths of all runs add up to the voxels.
      return sums.runs * sums.longRuns - sums.voxels * sums.voxels;
    case Feature::RunEntropy:
      return sums.entropy;
  }
  return sums.runs;
}

/** A quotient in the unit of its feature: fixed point numbers lose their scale. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline TReal
RunLengthToUnit(RunLengthFeatureMapEnums::Feature feature, const TReal & quotient, const RunLengthScales & scales)
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  switch (feature)
  {
    case Feature::LowGrayLevelRunEmphasis:
    case Feature::ShortRunLowGrayLevelEmphasis:
    case Feature::LongRunLowGrayLevelEmphasis:
      return quotient * scales.inverseScale;
    case Feature::RunEntropy:
      return quotient * scales.entropyScale;
    default:
      return quotient;
  }
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
  const int                           power = RunLengthRunPower(feature);
  const typename TDivision::Divisor & divisor = power == 0                        ? by.voxels
                                                : power == 2                      ? by.runsSquared
                                                : RunLengthUsesShortRuns(feature) ? by.shortRuns
                                                                                  : by.runs;
  return RunLengthToUnit(feature, TDivision::Quotient(RunLengthNumerator(feature, sums), divisor), scales);
}

/** What one direction adds to the average of a feature; reciprocal is the correctly rounded 1 / runs. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline TReal
RunLengthAverageTerm(RunLengthFeatureMapEnums::Feature feature, const RunLengthSums<TReal> & sums,
                     const TReal & reciprocal)
{
  const TReal numerator = RunLengthNumerator(feature, sums);
  const int   power = RunLengthRunPower(feature);
  return power == 0 ? numerator : power == 1 ? numerator * reciprocal : numerator * (reciprocal * reciprocal);
}

/** The average of a feature over so many directions from the sum of their terms. */
template <typename TReal, typename TDivision>
VOXELMAPS_HOST_DEVICE inline TReal
RunLengthAverage(RunLengthFeatureMapEnums::Feature feature, const TReal & sum, const TReal & voxels,
                 const TReal & directions, const RunLengthScales & scales)
{
  const TReal divisor = RunLengthRunPower(feature) == 0   ? directions * voxels
                        : RunLengthUsesShortRuns(feature) ? directions * scales.shortRunScale
                                                          : directions;
  return RunLengthToUnit(feature, TDivision::Quotient(sum, TDivision::By(divisor)), scales);
}
} // namespace voxelmaps

#endif // RunLengthFormulas_h
