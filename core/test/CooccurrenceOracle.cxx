// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceOracle.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <type_traits>

namespace CooccurrenceOracle
{
namespace
{
#if defined(__SIZEOF_INT128__) && !defined(VOXELMAPS_WITHOUT_COMPILER_EXTENSIONS)
__extension__ using Wide = __int128;
constexpr long double maxWide = 8.5e37L; // 2^126
#else
using Wide = std::int64_t;
constexpr long double maxWide = 4.6e18L; // 2^62
#endif

constexpr long double maxExactInteger = 9007199254740992.0L; // 2^53

Wide
GreatestCommonDivisor(Wide a, Wide b)
{
  a = a < 0 ? -a : a;
  while (b != 0)
  {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Value
Approximate(long double reference, long double uncertainty = 0.0L)
{
  Value value;
  value.reference = reference;
  value.exact = static_cast<double>(reference);
  value.uncertainty = uncertainty;
  return value;
}

/** numerator / denominator, to be met exactly if that is documented: if the quotient has an integer below 2^53 as
 * numerator and this known denominator. */
Value
Ratio(Wide numerator, Wide denominator, long double knownDenominator)
{
  const Wide divisor = GreatestCommonDivisor(numerator, denominator);
  numerator = divisor == 0 ? Wide{ 0 } : numerator / divisor;
  denominator = divisor == 0 ? Wide{ 1 } : denominator / divisor;
  Value value;
  value.reference = static_cast<long double>(numerator) / static_cast<long double>(denominator);
  value.isExact =
    knownDenominator <= maxExactInteger && std::fabs(value.reference) * knownDenominator <= 0.999L * maxExactInteger;
  value.exact = value.isExact ? static_cast<double>(numerator) / static_cast<double>(denominator)
                              : static_cast<double>(value.reference);
  return value;
}

/** The mean of an integer function of the levels over a matrix, as a fraction in lowest terms. */
struct Mean
{
  Wide numerator{ 0 };
  Wide denominator{ 1 };

  template <typename TFunction>
  Mean(const Matrix & matrix, Wide total, const TFunction & function)
  {
    for (const auto & entry : matrix)
    {
      numerator += entry.second * Wide{ function(entry.first.first, entry.first.second) };
    }
    const Wide divisor = GreatestCommonDivisor(numerator, total);
    numerator /= divisor;
    denominator = total / divisor;
  }
  Wide
  Deviation(Wide x) const
  {
    return denominator * x - numerator;
  }
};

/** sum P (x - mean x)^power / T, where x is an integer function of the levels. */
template <typename TFunction>
Value
CentralMoment(const Matrix & matrix, Wide total, int power, long double knownDenominator, const TFunction & function)
{
  const Mean  mean(matrix, total, function);
  long double greatest = 1.0L;
  long double sum = 0.0L;
  long double magnitudeSum = 0.0L;
  for (const auto & entry : matrix)
  {
    const auto deviation =
      static_cast<long double>(mean.Deviation(Wide{ function(entry.first.first, entry.first.second) }));
    const long double term = static_cast<long double>(entry.second) * std::pow(deviation, power);
    greatest = std::max(greatest, std::fabs(deviation));
    sum += term;
    magnitudeSum += std::fabs(term);
  }
  const auto        realTotal = static_cast<long double>(total);
  const long double scale = std::pow(static_cast<long double>(mean.denominator), power) * realTotal;
  if (std::pow(greatest, power) * realTotal > maxWide || scale > maxWide)
  {
    return Approximate(sum / scale, magnitudeSum / scale * 1e-17L);
  }
  Wide numerator = 0;
  Wide denominator = total;
  for (int i = 0; i < power; ++i)
  {
    denominator *= mean.denominator;
  }
  for (const auto & entry : matrix)
  {
    Wide       term = entry.second;
    const Wide deviation = mean.Deviation(Wide{ function(entry.first.first, entry.first.second) });
    for (int i = 0; i < power; ++i)
    {
      term *= deviation;
    }
    numerator += term;
  }
  return Ratio(numerator, denominator, knownDenominator);
}

Value
Correlation(const Matrix & matrix, Wide total, bool symmetric)
{
  const Mean  first(matrix, total, [](Wide i, Wide) { return i; });
  const Mean  second(matrix, total, [](Wide, Wide j) { return j; });
  Wide        covariance = 0;
  Wide        firstVariance = 0;
  Wide        secondVariance = 0;
  const auto  realTotal = static_cast<long double>(total);
  long double magnitude = 0.0L;
  for (const auto & entry : matrix)
  {
    const Wide i = first.Deviation(entry.first.first);
    const Wide j = second.Deviation(entry.first.second);
    covariance += entry.second * i * j;
    firstVariance += entry.second * i * i;
    secondVariance += entry.second * j * j;
    magnitude += static_cast<long double>(entry.second) * std::fabs(static_cast<long double>(i)) *
                 std::fabs(static_cast<long double>(j));
  }
  if (firstVariance == 0 || secondVariance == 0)
  {
    Value one;
    one.isExact = true;
    one.exact = 1.0;
    one.reference = 1.0L;
    return one;
  }
  if (symmetric)
  {
    // The denominator is known as 4 C^2 times the variance.
    const auto realDenominator = static_cast<long double>(first.denominator);
    return Ratio(covariance,
                 firstVariance,
                 static_cast<long double>(firstVariance) / (realDenominator * realDenominator) * realTotal);
  }
  const long double roots =
    std::sqrt(static_cast<long double>(firstVariance)) * std::sqrt(static_cast<long double>(secondVariance));
  return Approximate(static_cast<long double>(covariance) / roots, magnitude / roots * 1e-17L);
}

using Histogram = std::map<std::uint32_t, std::int64_t>;

template <typename TCounts>
long double
Entropy(const TCounts & counts, long double total)
{
  // All terms are positive, so nothing cancels.
  long double entropy = 0.0L;
  for (const auto & entry : counts)
  {
    const auto count = static_cast<long double>(entry.second);
    entropy += count / total * std::log2(total / count);
  }
  return entropy;
}

template <typename TFunction>
Histogram
MakeHistogram(const Matrix & matrix, const TFunction & function)
{
  Histogram histogram;
  for (const auto & entry : matrix)
  {
    histogram[function(entry.first.first, entry.first.second)] += entry.second;
  }
  return histogram;
}

std::uint32_t
Difference(std::uint32_t i, std::uint32_t j)
{
  return i < j ? j - i : i - j;
}

std::uint32_t
First(std::uint32_t i, std::uint32_t)
{
  return i;
}
std::uint32_t
Second(std::uint32_t, std::uint32_t j)
{
  return j;
}

/** Mutual information of rows and columns in bits. */
long double
MutualInformation(const Matrix & matrix, std::int64_t total)
{
  Histogram  rows = MakeHistogram(matrix, First);
  Histogram  columns = MakeHistogram(matrix, Second);
  const bool isProduct = matrix.size() == rows.size() * columns.size() &&
                         std::all_of(matrix.begin(), matrix.end(), [&](const Matrix::value_type & entry) {
                           return entry.second * total == rows[entry.first.first] * columns[entry.first.second];
                         });
  if (isProduct)
  {
    return 0.0L;
  }
  long double information = 0.0L;
  const auto  realTotal = static_cast<long double>(total);
  for (const auto & entry : matrix)
  {
    const auto count = static_cast<long double>(entry.second);
    const auto product = static_cast<long double>(rows[entry.first.first] * columns[entry.first.second]);
    information += count / realTotal * std::log2(count * realTotal / product);
  }
  return information;
}

/** The uncertainty of mutual information whose terms n log2 n have the bits that a sum below 2^61 leaves, at most 48.
 */
long double
InformationUncertainty(std::int64_t greatestTotal)
{
  const auto        real = static_cast<long double>(std::max<std::int64_t>(greatestTotal, 2));
  const long double unit = std::max(std::ldexp(1.0L, -48), 2.0L * real * std::log2(real) * std::ldexp(1.0L, -61));
  return 2.0L * unit;
}

long double
SecondMeasure(long double information)
{
  return std::sqrt(-std::expm1(-2.0L * information));
}

/** The second greatest singular value of P(i, j) / sqrt(r(i) k(j)), where r and k are sums of rows and columns:
 * rotations make the columns orthogonal to each other (one-sided Jacobi), whose lengths are the singular values then.
 */
long double
SecondSingularValue(const Matrix & matrix)
{
  const Histogram                                   rows = MakeHistogram(matrix, First);
  const Histogram                                   columns = MakeHistogram(matrix, Second);
  std::map<std::uint32_t, std::size_t>              levelRows;
  std::map<std::uint32_t, std::vector<long double>> elements;
  for (const auto & row : rows)
  {
    levelRows.emplace(row.first, levelRows.size());
  }
  for (const auto & column : columns)
  {
    elements[column.first].assign(rows.size(), 0.0L);
  }
  for (const auto & entry : matrix)
  {
    const std::uint32_t i = entry.first.first;
    const std::uint32_t j = entry.first.second;
    elements[j][levelRows[i]] =
      static_cast<long double>(entry.second) /
      std::sqrt(static_cast<long double>(rows.at(i)) * static_cast<long double>(columns.at(j)));
  }
  const auto product = [](const std::vector<long double> & a, const std::vector<long double> & b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
  };
  bool isRotated = true;
  for (int sweep = 0; sweep < 100 && isRotated; ++sweep)
  {
    isRotated = false;
    for (auto first = elements.begin(); first != elements.end(); ++first)
    {
      for (auto second = std::next(first); second != elements.end(); ++second)
      {
        std::vector<long double> & a = first->second;
        std::vector<long double> & b = second->second;
        const long double          firstProduct = product(a, a);
        const long double          secondProduct = product(b, b);
        const long double          mixed = product(a, b);
        if (std::fabs(mixed) <= 1e-18L * std::sqrt(firstProduct * secondProduct) || std::fabs(mixed) < 1e-40L)
        {
          continue;
        }
        isRotated = true;
        const long double cotangent = (secondProduct - firstProduct) / (2.0L * mixed);
        const long double tangent =
          (cotangent < 0.0L ? -1.0L : 1.0L) / (std::fabs(cotangent) + std::sqrt(1.0L + cotangent * cotangent));
        const long double cosine = 1.0L / std::sqrt(1.0L + tangent * tangent);
        for (std::size_t i = 0; i < a.size(); ++i)
        {
          const long double before = a[i];
          a[i] = cosine * (before - tangent * b[i]);
          b[i] = cosine * (tangent * before + b[i]);
        }
      }
    }
  }
  std::vector<long double> values{ 0.0L, 0.0L };
  for (const auto & column : elements)
  {
    values.push_back(std::sqrt(product(column.second, column.second)));
  }
  std::sort(values.begin(), values.end());
  return values[values.size() - 2];
}

/** Half a step of the grid of the results, and as much for the rounding of their computation. */
constexpr long double correlationUncertainty = 1e-12L;
} // namespace

void
AddPairs(const Levels & levels, const Window & window, const Triple & position, const Triple & offset, bool symmetric,
         Matrix & matrix)
{
  const RunLengthOracle::WindowLevels inWindow(levels, window, position);
  inWindow.ForEachVoxel([&](const Triple & at, std::uint16_t i) {
    const std::uint16_t j = inWindow(RunLengthOracle::Move(at, offset));
    if (j != 0)
    {
      ++matrix[{ i, j }];
      if (symmetric)
      {
        ++matrix[{ j, i }];
      }
    }
  });
}

Value
ComputeFeature(const Matrix & matrix, Feature feature, bool symmetric, std::uint32_t numberOfGrayLevels,
               std::int64_t greatestTotal)
{
  std::int64_t total = 0;
  for (const auto & entry : matrix)
  {
    total += entry.second;
  }
  const auto        realTotal = static_cast<long double>(total);
  const long double pairs = symmetric ? realTotal / 2.0L : realTotal;
  const auto        greatestLevel = static_cast<long double>(numberOfGrayLevels);

  // sum P f(i, j) / T with an integer f
  const auto mean = [&](long double knownDenominator, auto function) {
    Wide sum = 0;
    for (const auto & entry : matrix)
    {
      sum += entry.second * function(Wide{ entry.first.first }, Wide{ entry.first.second });
    }
    return Ratio(sum, total, knownDenominator);
  };
  // sum P f(|i - j|) / T
  const auto differenceMean = [&](auto function) {
    long double sum = 0.0L;
    for (const auto & entry : matrix)
    {
      sum += static_cast<long double>(entry.second) *
             function(static_cast<long double>(Difference(entry.first.first, entry.first.second)));
    }
    return Approximate(sum / realTotal);
  };
  const auto levelSum = [](Wide i, Wide j) { return i + j; };
  const auto difference = [](Wide i, Wide j) { return i < j ? j - i : i - j; };

  switch (feature)
  {
    case Feature::Autocorrelation:
      return mean(4.0L * pairs, [](Wide i, Wide j) { return i * j; });
    case Feature::ClusterProminence:
      return CentralMoment(matrix, total, 4, std::pow(pairs, 4), levelSum);
    case Feature::ClusterShade:
      return CentralMoment(matrix, total, 3, std::pow(pairs, 3), levelSum);
    case Feature::ClusterTendency:
      return CentralMoment(matrix, total, 2, pairs * pairs, levelSum);
    case Feature::Contrast:
      return mean(pairs, [](Wide i, Wide j) { return (i - j) * (i - j); });
    case Feature::Correlation:
      return Correlation(matrix, total, symmetric);
    case Feature::DifferenceAverage:
      return mean(pairs, difference);
    case Feature::DifferenceEntropy:
      return Approximate(Entropy(MakeHistogram(matrix, Difference), realTotal));
    case Feature::DifferenceVariance:
      return CentralMoment(matrix, total, 2, pairs * pairs, difference);
    case Feature::InverseDifference:
      return differenceMean([](long double k) { return 1.0L / (1.0L + k); });
    case Feature::InverseDifferenceMoment:
      return differenceMean([](long double k) { return 1.0L / (1.0L + k * k); });
    case Feature::InverseDifferenceMomentNormalized:
      return differenceMean([=](long double k) { return 1.0L / (1.0L + k / greatestLevel * (k / greatestLevel)); });
    case Feature::InverseDifferenceNormalized:
      return differenceMean([=](long double k) { return 1.0L / (1.0L + k / greatestLevel); });
    case Feature::InformationalMeasureOfCorrelation1:
    {
      const long double rows = Entropy(MakeHistogram(matrix, First), realTotal);
      const long double columns = Entropy(MakeHistogram(matrix, Second), realTotal);
      const long double information = MutualInformation(matrix, total);
      const long double entropy = std::max(rows, columns);
      return information == 0.0L ? Ratio(0, 1, 1.0L)
                                 : Approximate(-information / entropy, InformationUncertainty(greatestTotal) / entropy);
    }
    case Feature::InformationalMeasureOfCorrelation2:
    {
      const long double information = MutualInformation(matrix, total);
      const long double uncertainty = InformationUncertainty(greatestTotal);
      return information == 0.0L ? Ratio(0, 1, 1.0L)
                                 : Approximate(SecondMeasure(information),
                                               SecondMeasure(information + uncertainty) - SecondMeasure(information));
    }
    case Feature::InverseVariance:
      return differenceMean([](long double k) { return k == 0.0L ? 0.0L : 1.0L / (k * k); });
    case Feature::JointAverage:
      return mean(2.0L * pairs, [](Wide i, Wide) { return i; });
    case Feature::JointEnergy:
    {
      Wide sum = 0;
      for (const auto & entry : matrix)
      {
        sum += Wide{ entry.second } * entry.second;
      }
      return Ratio(sum, Wide{ total } * total, realTotal * realTotal);
    }
    case Feature::JointEntropy:
      return Approximate(Entropy(matrix, realTotal));
    case Feature::MaximalCorrelationCoefficient:
      return numberOfGrayLevels == 1 ? Ratio(1, 1, 1.0L)
                                     : Approximate(SecondSingularValue(matrix), correlationUncertainty);
    case Feature::MaximumProbability:
    {
      std::int64_t greatest = 0;
      for (const auto & entry : matrix)
      {
        greatest = std::max(greatest, entry.second);
      }
      return Ratio(greatest, total, realTotal);
    }
    case Feature::SumAverage:
      return mean(pairs, levelSum);
    case Feature::SumEntropy:
      return Approximate(
        Entropy(MakeHistogram(matrix, [](std::uint32_t i, std::uint32_t j) { return i + j; }), realTotal));
    case Feature::SumSquares:
      return CentralMoment(matrix, total, 2, 4.0L * pairs * pairs, [](Wide i, Wide) { return i; });
  }
  return Value{};
}

std::vector<Value>
ComputeFeatures(const Levels & levels, const Window & window, const Triple & position,
                const voxelmaps::CooccurrenceJob & parameters)
{
  std::int64_t greatestTotal = 1;
  std::int64_t totalSum = 0;
  for (const Triple & offset : parameters.offsets)
  {
    std::int64_t pairs = parameters.symmetric ? 2 : 1;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      pairs *= std::max<std::int64_t>(window.size[axis] - std::abs(offset[axis]), 0);
    }
    greatestTotal = std::max(greatestTotal, pairs);
    totalSum += pairs;
  }
  const auto computeValues = [&](const Matrix & matrix, std::int64_t greatest) {
    std::vector<Value> values;
    for (const Feature feature : parameters.features)
    {
      if (matrix.empty())
      {
        values.emplace_back();
        values.back().isEmpty = true;
      }
      else
      {
        values.push_back(
          ComputeFeature(matrix, feature, parameters.symmetric, parameters.numberOfGrayLevels, greatest));
      }
    }
    return values;
  };

  if (parameters.aggregation == Aggregation::Merge)
  {
    Matrix matrix;
    for (const Triple & offset : parameters.offsets)
    {
      AddPairs(levels, window, position, offset, parameters.symmetric, matrix);
    }
    return computeValues(matrix, totalSum);
  }

  std::vector<Value> values;
  for (const Triple & offset : parameters.offsets)
  {
    Matrix matrix;
    AddPairs(levels, window, position, offset, parameters.symmetric, matrix);
    const std::vector<Value> offsetValues = computeValues(matrix, greatestTotal);
    values.insert(values.end(), offsetValues.begin(), offsetValues.end());
  }
  if (parameters.aggregation == Aggregation::PerDirection)
  {
    return values;
  }

  std::vector<Value> means;
  for (std::size_t f = 0; f < parameters.features.size(); ++f)
  {
    // In the documented order: doubles are added offset by offset, and divided once.
    Value mean;
    mean.isExact = true;
    double numberOfMatrices = 0.0;
    for (std::size_t d = 0; d < parameters.offsets.size(); ++d)
    {
      const Value & value = values[d * parameters.features.size() + f];
      if (!value.isEmpty)
      {
        numberOfMatrices += 1.0;
        mean.isExact = mean.isExact && value.isExact;
        mean.exact += value.exact;
        mean.reference += value.reference;
        // A sum that cancels keeps the error of its terms, each of which is a double.
        mean.uncertainty += value.uncertainty + std::fabs(value.reference) * 2.5e-16L;
      }
    }
    mean.isEmpty = numberOfMatrices == 0.0;
    mean.uncertainty /= static_cast<long double>(numberOfMatrices);
    mean.reference /= static_cast<long double>(numberOfMatrices);
    mean.exact /= numberOfMatrices;
    means.push_back(mean);
  }
  return means;
}

template <typename TReal>
bool
Agrees(const Value & expected, TReal actual, double emptyValue)
{
  if (expected.isEmpty)
  {
    return std::isnan(emptyValue) ? std::isnan(actual) : actual == static_cast<TReal>(emptyValue);
  }
  if (expected.isExact)
  {
    return actual == static_cast<TReal>(expected.exact);
  }
  const long double error = std::fabs(static_cast<long double>(actual) - expected.reference);
  // Fixed-point weights are good to 2^-39 relative, and entropies to a few 10^-14.
  const long double tolerance = std::is_same<TReal, float>::value
                                  ? 2 * RunLengthOracle::FloatSpacing(expected.reference)
                                  : 4e-12L * std::fabs(expected.reference) + 1e-13L;
  return error <= tolerance + expected.uncertainty;
}
template bool
Agrees(const Value &, float, double);
template bool
Agrees(const Value &, double, double);
} // namespace CooccurrenceOracle
