// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RunLengthOracle.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace RunLengthOracle
{
namespace
{
#if defined(__SIZEOF_INT128__)
__extension__ using Wide = unsigned __int128;
#else
using Wide = long double;
#endif

constexpr Wide maxExactInteger = std::uint64_t{ 1 } << 53;

/** numerator / (runs^power * common) */
Value
Ratio(Wide numerator, Wide runs, int power, Wide common)
{
  const Wide denominator = (power == 0 ? Wide{ 1 } : power == 1 ? runs : runs * runs) * common;
  Value      value;
  value.numerator = static_cast<double>(numerator);
  value.runs = static_cast<double>(runs);
  value.power = power;
  value.common = static_cast<double>(common);
  value.isExact = numerator <= maxExactInteger && denominator <= maxExactInteger;
  value.reference = static_cast<long double>(numerator) / static_cast<long double>(denominator);
  value.exact = value.isExact ? static_cast<double>(numerator) / static_cast<double>(denominator)
                              : static_cast<double>(value.reference);
  return value;
}

Value
Approximate(long double reference)
{
  Value value;
  value.isExact = false;
  value.reference = reference;
  value.exact = static_cast<double>(reference);
  return value;
}

Wide
Square(Wide x)
{
  return x * x;
}

/** Numerator of a variance: N * sum x^2 - (sum x)^2. */
Wide
Spread(Wide count, Wide sum, Wide squareSum)
{
  return count * squareSum - Square(sum);
}
} // namespace

long double
FloatSpacing(long double value)
{
  const float magnitude = std::fabs(static_cast<float>(value));
  return static_cast<long double>(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) - magnitude;
}

void
AddRuns(const Levels & levels, const Window & window, const Triple & position, const Triple & direction,
        Matrix & matrix)
{
  const WindowLevels inWindow(levels, window, position);
  inWindow.ForEachVoxel([&](const Triple & first, std::uint16_t level) {
    if (inWindow(Move(first, direction, -1)) == level)
    {
      return;
    }
    std::uint32_t length = 0;
    for (Triple at = first; inWindow(at) == level; at = Move(at, direction))
    {
      ++length;
    }
    ++matrix[{ level, length }];
  });
}

std::uint64_t
CountVoxels(const Levels & levels, const Window & window, const Triple & position)
{
  std::uint64_t count = 0;
  WindowLevels(levels, window, position).ForEachVoxel([&count](const Triple &, std::uint16_t) { ++count; });
  return count;
}

std::int64_t
LongestPossibleRun(const Window & window, const std::vector<Triple> & directions)
{
  std::int64_t longest = 1;
  for (const Triple & direction : directions)
  {
    std::int64_t length = std::numeric_limits<std::int64_t>::max();
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      if (direction[axis] != 0)
      {
        length = std::min(length, window.size[axis]);
      }
    }
    longest = std::max(longest, length);
  }
  return longest;
}

Value
ComputeFeature(const Matrix & matrix, std::uint64_t numberOfVoxels, std::int64_t longestPossibleRun, Feature feature)
{
  Wide                          runs = 0;
  std::map<std::uint32_t, Wide> levelRuns;
  std::map<std::uint32_t, Wide> lengthRuns;
  for (const auto & entry : matrix)
  {
    runs += entry.second;
    levelRuns[entry.first.first] += entry.second;
    lengthRuns[entry.first.second] += entry.second;
  }

  // sum P * f(i) * h(j) in integers
  const auto sum = [&matrix](auto levelWeight, auto lengthWeight) {
    Wide total = 0;
    for (const auto & entry : matrix)
    {
      total += Wide{ entry.second } * levelWeight(Wide{ entry.first.first }) * lengthWeight(Wide{ entry.first.second });
    }
    return total;
  };
  // sum P * h(j) / i^2
  const auto lowLevelSum = [&matrix](auto lengthWeight) {
    long double total = 0.0L;
    for (const auto & entry : matrix)
    {
      const auto level = static_cast<long double>(entry.first.first);
      total += static_cast<long double>(entry.second) * lengthWeight(static_cast<long double>(entry.first.second)) /
               (level * level);
    }
    return total;
  };
  const auto one = [](auto) { return decltype(runs){ 1 }; };
  const auto self = [](Wide x) { return x; };
  const auto square = [](Wide x) { return x * x; };
  const auto squaredCountSum = [](const std::map<std::uint32_t, Wide> & counts) {
    Wide total = 0;
    for (const auto & entry : counts)
    {
      total += Square(entry.second);
    }
    return total;
  };

  // Short runs: bring 1 / j^2 to a common denominator, which is possible in 128 bits for short windows only.
  const auto shortRunSum = [&](auto levelWeight) {
    if (longestPossibleRun > 12)
    {
      long double total = 0.0L;
      for (const auto & entry : matrix)
      {
        const auto length = static_cast<long double>(entry.first.second);
        total +=
          static_cast<long double>(Wide{ entry.second } * levelWeight(Wide{ entry.first.first })) / (length * length);
      }
      return Approximate(total / static_cast<long double>(runs));
    }
    std::int64_t multiple = 1;
    for (std::int64_t length = 2; length <= longestPossibleRun; ++length)
    {
      multiple = std::lcm(multiple, length);
    }
    const Wide common = Square(static_cast<Wide>(multiple));
    return Ratio(sum(levelWeight, [common](Wide length) { return common / (length * length); }), runs, 1, common);
  };

  const auto realRuns = static_cast<long double>(runs);
  switch (feature)
  {
    case Feature::ShortRunEmphasis:
      return shortRunSum(one);
    case Feature::LongRunEmphasis:
      return Ratio(sum(one, square), runs, 1, 1);
    case Feature::GrayLevelNonUniformity:
      return Ratio(squaredCountSum(levelRuns), runs, 1, 1);
    case Feature::RunLengthNonUniformity:
      return Ratio(squaredCountSum(lengthRuns), runs, 1, 1);
    case Feature::RunPercentage:
      return Ratio(runs, runs, 0, numberOfVoxels);
    case Feature::LowGrayLevelRunEmphasis:
      return Approximate(lowLevelSum([](long double) { return 1.0L; }) / realRuns);
    case Feature::HighGrayLevelRunEmphasis:
      return Ratio(sum(square, one), runs, 1, 1);
    case Feature::ShortRunLowGrayLevelEmphasis:
      return Approximate(lowLevelSum([](long double length) { return 1.0L / (length * length); }) / realRuns);
    case Feature::ShortRunHighGrayLevelEmphasis:
      return shortRunSum(square);
    case Feature::LongRunLowGrayLevelEmphasis:
      return Approximate(lowLevelSum([](long double length) { return length * length; }) / realRuns);
    case Feature::LongRunHighGrayLevelEmphasis:
      return Ratio(sum(square, square), runs, 1, 1);
    case Feature::GrayLevelNonUniformityNormalized:
      return Ratio(squaredCountSum(levelRuns), runs, 2, 1);
    case Feature::RunLengthNonUniformityNormalized:
      return Ratio(squaredCountSum(lengthRuns), runs, 2, 1);
    case Feature::GrayLevelVariance:
      return Ratio(Spread(runs, sum(self, one), sum(square, one)), runs, 2, 1);
    case Feature::RunVariance:
      return Ratio(Spread(runs, sum(one, self), sum(one, square)), runs, 2, 1);
    case Feature::RunEntropy:
    {
      // All terms are positive, so nothing cancels.
      long double total = 0.0L;
      for (const auto & entry : matrix)
      {
        const auto count = static_cast<long double>(entry.second);
        total += count / realRuns * std::log2(realRuns / count);
      }
      return Approximate(total);
    }
  }
  return Value{};
}

Value
ComputeSizeFeature(const Matrix & matrix, Feature feature)
{
  std::uint64_t sizes = 0;
  std::uint32_t greatest = 0;
  for (const auto & entry : matrix)
  {
    sizes += entry.second * entry.first.second;
    greatest = std::max({ greatest, entry.first.first, entry.first.second });
  }
  Value value = ComputeFeature(matrix, sizes, 255, feature);
  // Inverse squares are fixed-point numbers, whose relative error is greatest for the greatest level and size.
  const bool isInverse = feature == Feature::ShortRunEmphasis || feature == Feature::LowGrayLevelRunEmphasis ||
                         feature == Feature::ShortRunLowGrayLevelEmphasis ||
                         feature == Feature::ShortRunHighGrayLevelEmphasis ||
                         feature == Feature::LongRunLowGrayLevelEmphasis;
  value.tolerance = isInverse && greatest > 512 ? 1e-7L : isInverse || feature == Feature::RunEntropy ? 1e-12L : 1e-13L;
  return value;
}

std::vector<Value>
ComputeFeatures(const Levels & levels, const Window & window, const Triple & position,
                const std::vector<Triple> & directions, const std::vector<Feature> & features, Aggregation aggregation)
{
  const std::int64_t  longest = LongestPossibleRun(window, directions);
  const std::uint64_t voxels = CountVoxels(levels, window, position);
  std::vector<Value>  values;

  if (aggregation == Aggregation::Merge)
  {
    Matrix matrix;
    for (const Triple & direction : directions)
    {
      AddRuns(levels, window, position, direction, matrix);
    }
    for (const Feature feature : features)
    {
      values.push_back(ComputeFeature(matrix, voxels * directions.size(), longest, feature));
    }
    return values;
  }

  for (const Triple & direction : directions)
  {
    Matrix matrix;
    AddRuns(levels, window, position, direction, matrix);
    for (const Feature feature : features)
    {
      values.push_back(ComputeFeature(matrix, voxels, longest, feature));
    }
  }
  if (aggregation == Aggregation::PerDirection)
  {
    return values;
  }

  std::vector<Value> means;
  for (std::size_t f = 0; f < features.size(); ++f)
  {
    // Exactly in the order that RunLengthFormulas.h defines: reciprocals of the runs in the terms, all else at the end.
    Value mean;
    for (std::size_t d = 0; d < directions.size(); ++d)
    {
      const Value & value = values[d * features.size() + f];
      mean.isExact = mean.isExact && value.isExact;
      const double reciprocal = 1.0 / value.runs;
      mean.exact += value.power == 0   ? value.numerator
                    : value.power == 1 ? value.numerator * reciprocal
                                       : value.numerator * (reciprocal * reciprocal);
      mean.common = value.common;
      mean.reference += value.reference;
    }
    mean.reference /= static_cast<long double>(directions.size());
    mean.exact = mean.isExact ? mean.exact / (static_cast<double>(directions.size()) * mean.common)
                              : static_cast<double>(mean.reference);
    means.push_back(mean);
  }
  return means;
}

template <typename TReal>
bool
Agrees(const Value & expected, TReal actual)
{
  if (expected.isExact)
  {
    return actual == static_cast<TReal>(expected.exact);
  }
  const long double error = std::fabs(static_cast<long double>(actual) - expected.reference);
  return error <= (std::is_same<TReal, double>::value && expected.tolerance > 0.0L
                     ? expected.tolerance * std::fabs(expected.reference)
                     : 2 * FloatSpacing(expected.reference));
}
template bool
Agrees(const Value &, float);
template bool
Agrees(const Value &, double);
} // namespace RunLengthOracle
