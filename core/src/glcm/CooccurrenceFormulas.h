// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceFormulas_h
#define CooccurrenceFormulas_h

#include "common/Division.h"
#include "common/ExpMinus.h"
#include "common/WideInteger.h"
#include "voxelmaps/CooccurrenceJob.h"

#include <cmath>
#include <cstdint>

/** The last step: from the integer sums of one matrix to features. One text for host and device.
 *
 * Every feature is one quotient of integers, except for Imc2, and for the root of asymmetric Correlation. The integers
 * are exact; each is rounded once to double, and the quotient is correctly rounded. The operations of doubles below are
 * IEEE 754 operations in the order written; compile with contraction off (-ffp-contract=off, -fmad=false), and all
 * compilers give the same bits. Average adds the features of the directions that have a pair, in the order of the
 * offsets, and divides by the number of these directions.
 *
 * A pair has the levels a and b; u = a + b, v = u - (Ng + 1), e = a - b, k = |e|. A symmetric matrix counts every pair
 * twice, an asymmetric one once; "cells" are the elements of this matrix, and T is their sum. */
namespace voxelmaps
{
/** Fixed-point weights w(k) of the features that are the mean of a weight. */
enum CooccurrenceWeight : int
{
  InverseDifferenceWeight = 0,             // 1 / (1 + k)
  InverseDifferenceMomentWeight,           // 1 / (1 + k^2)
  InverseDifferenceMomentNormalizedWeight, // Ng^2 / (Ng^2 + k^2)
  InverseDifferenceNormalizedWeight,       // Ng / (Ng + k)
  InverseVarianceWeight,                   // 1 / k^2, 0 for k = 0
  NumberOfCooccurrenceWeights
};

/** How the numerators of a job are computed without rounding: decided by TextureClass. */
enum class CooccurrenceArithmetic : std::uint8_t
{
  /** In doubles, as all numbers are integers of at most 2^53; divisors are below 2^48, as FusedDivision needs them. */
  Double,
  /** In WideInteger<2>. The division must be PlainDivision. */
  Bits128,
  /** In WideInteger<4>. The division must be PlainDivision. */
  Bits256
};

/** Inputs of the features of one matrix; sums over its pairs, unless a comment says otherwise. Sums that the
 * selected features do not need may be 0. Those that the fields ...High continue are sums of the lower 32 bits, and
 * ...High sums of the bits above, of each term: 0 unless the task has wideMoments or wideWeights. */
struct CooccurrenceSums
{
  std::int64_t pairs; // C
  std::int64_t sums;  // sum v
  std::int64_t sumSquares;
  std::int64_t sumCubes;
  std::int64_t sumCubesHigh;
  std::int64_t sumFourths;
  std::int64_t sumFourthsHigh;
  std::int64_t differences; // sum k
  std::int64_t differenceSquares;
  // Sums of an asymmetric matrix, else 0.
  std::int64_t signedDifferences; // sum e
  std::int64_t products;          // sum v e

  std::int64_t weights[NumberOfCooccurrenceWeights]; // sum w(k)
  std::int64_t weightsHigh[NumberOfCooccurrenceWeights];

  // Sums of t(n) = round(2^entropyBits n log2 n).
  std::int64_t differenceTerms; // over n = pairs with the same k
  std::int64_t sumTerms;        // over n = pairs with the same u
  std::int64_t cellTerms;       // over n = cells
  std::int64_t rowTerms;        // over n = sums of rows
  std::int64_t columnTerms;     // over n = sums of columns, of an asymmetric matrix

  std::int64_t cellSquares; // sum of squares of the cells
  std::int64_t maximum;     // the greatest cell

  double maximalCorrelation; // complete; see MaximalCorrelation.h
};

/** Values of a job that the formulas use. */
struct CooccurrenceScales
{
  std::int64_t center;       // Ng + 1
  bool         symmetric;    // whether T = 2 C, else T = C
  double       weightScale;  // 2^-s of the fixed-point weights
  double       entropyScale; // 2^-entropyBits
  /** t(n) for n = 0 ... greatest T, if a selected feature needs it. */
  const std::int64_t * entropyTable;
};

/** T: the sum of the cells. */
VOXELMAPS_HOST_DEVICE inline std::int64_t
CooccurrenceTotal(const CooccurrenceSums & sums, const CooccurrenceScales & scales)
{
  return scales.symmetric ? 2 * sums.pairs : sums.pairs;
}

/** The divisors of one matrix, shared by its features. */
template <typename TDivision>
struct CooccurrenceDivisors
{
  typename TDivision::Divisor pairs;
  typename TDivision::Divisor pairsSquared;
  typename TDivision::Divisor pairsCubed;
  typename TDivision::Divisor pairsFourth;

  VOXELMAPS_HOST_DEVICE explicit CooccurrenceDivisors(std::int64_t numberOfPairs)
    : pairs(TDivision::By(static_cast<double>(numberOfPairs)))
    , pairsSquared(TDivision::ByProduct(pairs, pairs))
    , pairsCubed(TDivision::By(pairs.value * pairsSquared.value))
    , pairsFourth(TDivision::By(pairsSquared.value * pairsSquared.value))
  {}
};

/** n a - b^2 */
template <typename TNumber>
VOXELMAPS_HOST_DEVICE inline double
CooccurrenceVariance(std::int64_t n, std::int64_t a, std::int64_t b)
{
  return ToDouble(TNumber(n) * TNumber(a) - TNumber(b) * TNumber(b));
}

VOXELMAPS_HOST_DEVICE inline double
JoinedHalves(std::int64_t high, std::int64_t low, double)
{
  return static_cast<double>(high) * 4294967296.0 + static_cast<double>(low);
}
template <int VWords>
VOXELMAPS_HOST_DEVICE inline WideInteger<VWords>
JoinedHalves(std::int64_t high, std::int64_t low, WideInteger<VWords>)
{
  return WideInteger<VWords>(high).ShiftedByHalfWord() + WideInteger<VWords>(low);
}

/** C^2 sum v^3 - 3 C (sum v) (sum v^2) + 2 (sum v)^3; Horner's form keeps all numbers below 4 C^3 Ng^3. */
template <typename TNumber>
VOXELMAPS_HOST_DEVICE inline double
CooccurrenceShade(const CooccurrenceSums & sums)
{
  const TNumber c(static_cast<TNumber>(sums.pairs));
  const TNumber first(static_cast<TNumber>(sums.sums));
  const TNumber second(static_cast<TNumber>(sums.sumSquares));
  const TNumber third = JoinedHalves(sums.sumCubesHigh, sums.sumCubes, c);
  return ToDouble((c * third - TNumber(3) * first * second) * c + TNumber(2) * first * first * first);
}

/** C^3 sum v^4 - 4 C^2 (sum v) (sum v^3) + 6 C (sum v)^2 (sum v^2) - 3 (sum v)^4; Horner's form keeps all numbers below
 * 4 C^4 Ng^4, or 6 Ng^4 if C is 1. */
template <typename TNumber>
VOXELMAPS_HOST_DEVICE inline double
CooccurrenceProminence(const CooccurrenceSums & sums)
{
  const TNumber c(static_cast<TNumber>(sums.pairs));
  const TNumber first(static_cast<TNumber>(sums.sums));
  const TNumber second(static_cast<TNumber>(sums.sumSquares));
  const TNumber third = JoinedHalves(sums.sumCubesHigh, sums.sumCubes, c);
  const TNumber fourth = JoinedHalves(sums.sumFourthsHigh, sums.sumFourths, c);
  const TNumber firstSquared = first * first;
  return ToDouble(((c * fourth - TNumber(4) * first * third) * c + TNumber(6) * firstSquared * second) * c -
                  TNumber(3) * firstSquared * firstSquared);
}

/** C^2 times the correlation coefficient's numerator over its denominator; 1 if a row or column has no variance. */
template <typename TNumber, typename TDivision>
VOXELMAPS_HOST_DEVICE inline double
CooccurrenceCorrelation(const CooccurrenceSums & sums, bool symmetric)
{
  // 4 C^2 times the variances and the covariance of a and b.
  const std::int64_t squares = sums.sumSquares + sums.differenceSquares;
  const double       rowVariance =
    CooccurrenceVariance<TNumber>(sums.pairs, squares + 2 * sums.products, sums.sums + sums.signedDifferences);
  const double columnVariance =
    symmetric
      ? rowVariance
      : CooccurrenceVariance<TNumber>(sums.pairs, squares - 2 * sums.products, sums.sums - sums.signedDifferences);
  if (rowVariance == 0.0 || columnVariance == 0.0)
  {
    return 1.0;
  }
  const TNumber first(static_cast<TNumber>(sums.sums));
  const TNumber difference(static_cast<TNumber>(sums.signedDifferences));
  const double  covariance = ToDouble(TNumber(sums.pairs) * TNumber(sums.sumSquares - sums.differenceSquares) -
                                     first * first + difference * difference);
  if (symmetric)
  {
    return TDivision::Quotient(covariance, TDivision::By(rowVariance));
  }
#if defined(__CUDA_ARCH__)
  return covariance / __dsqrt_rn(rowVariance * columnVariance);
#else
  return covariance / std::sqrt(rowVariance * columnVariance);
#endif
}

/** T 2^entropyBits times the mutual information of rows and columns in bits: 0 where it is not greater than what the
 * rounding of the terms t(n) could be, since Imc2 has a root of it. */
VOXELMAPS_HOST_DEVICE inline std::int64_t
CooccurrenceMutualInformation(const CooccurrenceSums & sums, const CooccurrenceScales & scales)
{
  const std::int64_t total = CooccurrenceTotal(sums, scales);
  const std::int64_t columnTerms = scales.symmetric ? sums.rowTerms : sums.columnTerms;
  const std::int64_t information = scales.entropyTable[total] - sums.rowTerms - columnTerms + sums.cellTerms;
  return information <= 2 * total ? 0 : information;
}

/** Value of one feature of one matrix, which has at least one pair. TNumber is double, WideInteger<2> or
 * WideInteger<4>, as the task's arithmetic says. */
template <typename TNumber, typename TDivision>
VOXELMAPS_HOST_DEVICE inline double
CooccurrenceFeatureValue(CooccurrenceFeatureMapEnums::Feature feature, const CooccurrenceSums & sums,
                         const CooccurrenceDivisors<TDivision> & by, const CooccurrenceScales & scales)
{
  using Feature = CooccurrenceFeatureMapEnums::Feature;
  // sum w / C in the unit of the feature.
  const auto meanWeight = [&](CooccurrenceWeight weight) {
    return TDivision::Quotient(JoinedHalves(sums.weightsHigh[weight], sums.weights[weight], 0.0), by.pairs) *
           scales.weightScale;
  };
  // (t(C) - terms) / C
  const auto entropy = [&](std::int64_t terms) {
    return TDivision::Quotient(static_cast<double>(scales.entropyTable[sums.pairs] - terms), by.pairs) *
           scales.entropyScale;
  };
  // A quotient by T is one by C, halved for symmetric matrices.
  const double pairsPerTotal = scales.symmetric ? 0.5 : 1.0;

  switch (feature)
  {
    case Feature::Autocorrelation:
    {
      // 4 times the sum of a b = u^2 - k^2
      const std::int64_t products =
        sums.sumSquares + scales.center * (2 * sums.sums + scales.center * sums.pairs) - sums.differenceSquares;
      return TDivision::Quotient(static_cast<double>(products), by.pairs) * 0.25;
    }
    case Feature::ClusterProminence:
      return TDivision::Quotient(CooccurrenceProminence<TNumber>(sums), by.pairsFourth);
    case Feature::ClusterShade:
      return TDivision::Quotient(CooccurrenceShade<TNumber>(sums), by.pairsCubed);
    case Feature::ClusterTendency:
      return TDivision::Quotient(CooccurrenceVariance<TNumber>(sums.pairs, sums.sumSquares, sums.sums),
                                 by.pairsSquared);
    case Feature::Contrast:
      return TDivision::Quotient(static_cast<double>(sums.differenceSquares), by.pairs);
    case Feature::Correlation:
      return CooccurrenceCorrelation<TNumber, TDivision>(sums, scales.symmetric);
    case Feature::DifferenceAverage:
      return TDivision::Quotient(static_cast<double>(sums.differences), by.pairs);
    case Feature::DifferenceEntropy:
      return entropy(sums.differenceTerms);
    case Feature::DifferenceVariance:
      return TDivision::Quotient(CooccurrenceVariance<TNumber>(sums.pairs, sums.differenceSquares, sums.differences),
                                 by.pairsSquared);
    case Feature::InverseDifference:
      return meanWeight(InverseDifferenceWeight);
    case Feature::InverseDifferenceMoment:
      return meanWeight(InverseDifferenceMomentWeight);
    case Feature::InverseDifferenceMomentNormalized:
      return meanWeight(InverseDifferenceMomentNormalizedWeight);
    case Feature::InverseDifferenceNormalized:
      return meanWeight(InverseDifferenceNormalizedWeight);
    case Feature::InformationalMeasureOfCorrelation1:
    {
      // -I / max(HX, HY), where all three have the divisor T. The divisor is too great for FusedDivision.
      const std::int64_t columnTerms = scales.symmetric ? sums.rowTerms : sums.columnTerms;
      const std::int64_t terms = sums.rowTerms < columnTerms ? sums.rowTerms : columnTerms;
      const std::int64_t greater = scales.entropyTable[CooccurrenceTotal(sums, scales)] - terms;
      const std::int64_t information = CooccurrenceMutualInformation(sums, scales);
      return information == 0 ? 0.0 : -static_cast<double>(information) / static_cast<double>(greater);
    }
    case Feature::InformationalMeasureOfCorrelation2:
    {
      const double information =
        TDivision::Quotient(static_cast<double>(CooccurrenceMutualInformation(sums, scales)), by.pairs) *
        (pairsPerTotal * scales.entropyScale);
      const double square = OneMinusExpMinus(2.0 * information);
#if defined(__CUDA_ARCH__)
      return __dsqrt_rn(square);
#else
      return std::sqrt(square);
#endif
    }
    case Feature::InverseVariance:
      return meanWeight(InverseVarianceWeight);
    case Feature::MaximalCorrelationCoefficient:
      return sums.maximalCorrelation;
    case Feature::JointAverage:
      return TDivision::Quotient(static_cast<double>(sums.sums + sums.signedDifferences + scales.center * sums.pairs),
                                 by.pairs) *
             0.5;
    case Feature::JointEnergy:
      return TDivision::Quotient(static_cast<double>(sums.cellSquares), by.pairsSquared) *
             (pairsPerTotal * pairsPerTotal);
    case Feature::JointEntropy:
      return TDivision::Quotient(
               static_cast<double>(scales.entropyTable[CooccurrenceTotal(sums, scales)] - sums.cellTerms), by.pairs) *
             (pairsPerTotal * scales.entropyScale);
    case Feature::MaximumProbability:
      return TDivision::Quotient(static_cast<double>(sums.maximum), by.pairs) * pairsPerTotal;
    case Feature::SumAverage:
      return TDivision::Quotient(static_cast<double>(sums.sums + scales.center * sums.pairs), by.pairs);
    case Feature::SumEntropy:
      return entropy(sums.sumTerms);
    case Feature::SumSquares:
      return TDivision::Quotient(
               CooccurrenceVariance<TNumber>(sums.pairs,
                                             sums.sumSquares + sums.differenceSquares + 2 * sums.products,
                                             sums.sums + sums.signedDifferences),
               by.pairsSquared) *
             0.25;
  }
  return 0.0;
}
} // namespace voxelmaps

#endif // CooccurrenceFormulas_h
