// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneOracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace SizeZoneOracle
{
namespace
{
constexpr std::int64_t maxExactInteger = std::int64_t{ 1 } << 53;

/** A quotient of integers: exact where both are exact as doubles. */
Value
Quotient(long double numerator, long double denominator)
{
  constexpr auto limit = static_cast<long double>(maxExactInteger);
  Value          value;
  value.reference = numerator / denominator;
  value.tolerance = 1e-15L;
  value.isExact = numerator < limit && denominator < limit;
  value.exact = value.isExact ? static_cast<double>(numerator) / static_cast<double>(denominator) : 0.0;
  return value;
}

/** Mean of a function of level and size over all zones. */
template <typename TFunction>
long double
MeanOf(const Matrix & matrix, const TFunction & function)
{
  long double sum = 0.0L;
  long double zones = 0.0L;
  for (const auto & entry : matrix)
  {
    sum += static_cast<long double>(entry.second) *
           function(static_cast<long double>(entry.first.first), static_cast<long double>(entry.first.second));
    zones += static_cast<long double>(entry.second);
  }
  return sum / zones;
}

/** Sum of the squares of the numbers of zones with equal coordinates. */
template <typename TCoordinate>
std::int64_t
SquareSum(const Matrix & matrix, const TCoordinate & coordinate)
{
  std::map<std::int64_t, std::int64_t> numbers;
  for (const auto & entry : matrix)
  {
    numbers[coordinate(entry.first)] += entry.second;
  }
  std::int64_t squares = 0;
  for (const auto & number : numbers)
  {
    squares += number.second * number.second;
  }
  return squares;
}

/** Variance of a coordinate: N sum v^2 - (sum v)^2 over N^2, which has no rounding before the quotient if it is exact.
 */
template <typename TCoordinate>
Value
Variance(const Matrix & matrix, const TCoordinate & coordinate)
{
  std::int64_t zones = 0;
  std::int64_t sum = 0;
  for (const auto & entry : matrix)
  {
    zones += entry.second;
    sum += entry.second * coordinate(entry.first);
  }
  const long double mean = static_cast<long double>(sum) / static_cast<long double>(zones);
  long double       squares = 0.0L; // of N v - sum v, which are integers
  long double       reference = 0.0L;
  for (const auto & entry : matrix)
  {
    const auto number = static_cast<long double>(entry.second);
    const auto deviation = static_cast<long double>(zones * coordinate(entry.first) - sum);
    const auto difference = static_cast<long double>(coordinate(entry.first)) - mean;
    squares += number * deviation * deviation;
    reference += number * difference * difference;
  }
  const auto n = static_cast<long double>(zones);
  // N times the numerator, which must be exact in long double to be divided.
  Value value = squares < 9e18L ? Quotient(squares / n, n * n) : Value{};
  value.reference = reference / n;
  value.tolerance = 1e-13L;
  return value;
}

/** A mean with fixed-point numbers: their relative error is greatest for the greatest level and size. */
Value
Near(long double reference, const Matrix & matrix)
{
  std::int64_t greatest = 0;
  for (const auto & entry : matrix)
  {
    greatest = std::max({ greatest, entry.first.first, entry.first.second });
  }
  Value value;
  value.reference = reference;
  value.tolerance = greatest <= 512 ? 1e-12L : 1e-7L;
  return value;
}

template <typename TReal>
bool
IsNear(const Value & expected, TReal actual, long double distance)
{
  return std::isfinite(actual) && std::abs(static_cast<long double>(actual) - expected.reference) <= distance;
}
} // namespace

Matrix
CountZones(const Levels & levels, const Window & window, const Triple & position, Connectivity connectivity)
{
  Triple                          first;
  Triple                          end;
  Triple                          at;
  std::map<Triple, std::uint16_t> voxels;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    first[axis] = std::max<std::int64_t>(position[axis] - window.anchor[axis], 0);
    end[axis] = std::min(position[axis] - window.anchor[axis] + window.size[axis], levels.size[axis]);
  }
  for (at[2] = first[2]; at[2] < end[2]; ++at[2])
  {
    for (at[1] = first[1]; at[1] < end[1]; ++at[1])
    {
      for (at[0] = first[0]; at[0] < end[0]; ++at[0])
      {
        if (levels(at) != 0)
        {
          voxels[at] = levels(at);
        }
      }
    }
  }
  Matrix             matrix;
  const std::int64_t slices = connectivity == Connectivity::Full ? 1 : 0;
  while (!voxels.empty())
  {
    const std::uint16_t level = voxels.begin()->second;
    std::vector<Triple> front{ voxels.begin()->first };
    voxels.erase(voxels.begin());
    std::int64_t size = 0;
    while (!front.empty())
    {
      const Triple from = front.back();
      front.pop_back();
      ++size;
      for (at[2] = from[2] - slices; at[2] <= from[2] + slices; ++at[2])
      {
        for (at[1] = from[1] - 1; at[1] <= from[1] + 1; ++at[1])
        {
          for (at[0] = from[0] - 1; at[0] <= from[0] + 1; ++at[0])
          {
            const auto found = voxels.find(at);
            if (found != voxels.end() && found->second == level)
            {
              front.push_back(at);
              voxels.erase(found);
            }
          }
        }
      }
    }
    ++matrix[{ level, size }];
  }
  return matrix;
}

Value
ComputeFeature(const Matrix & matrix, Feature feature)
{
  std::int64_t zones = 0;
  std::int64_t voxels = 0;
  for (const auto & entry : matrix)
  {
    zones += entry.second;
    voxels += entry.second * entry.first.second;
  }
  const auto n = static_cast<long double>(zones);
  const auto getLevel = [](const std::pair<std::int64_t, std::int64_t> & key) { return key.first; };
  const auto getSize = [](const std::pair<std::int64_t, std::int64_t> & key) { return key.second; };
  // A mean of integers is a quotient of integers.
  const auto integers = [&](const auto & function) { return Quotient(std::round(MeanOf(matrix, function) * n), n); };
  const auto near = [&](const auto & function) { return Near(MeanOf(matrix, function), matrix); };
  switch (feature)
  {
    case Feature::GrayLevelNonUniformity:
      return Quotient(static_cast<long double>(SquareSum(matrix, getLevel)), n);
    case Feature::GrayLevelNonUniformityNormalized:
      return Quotient(static_cast<long double>(SquareSum(matrix, getLevel)), n * n);
    case Feature::GrayLevelVariance:
      return Variance(matrix, getLevel);
    case Feature::HighGrayLevelZoneEmphasis:
      return integers([](long double i, long double) { return i * i; });
    case Feature::LargeAreaEmphasis:
      return integers([](long double, long double j) { return j * j; });
    case Feature::LargeAreaHighGrayLevelEmphasis:
      return integers([](long double i, long double j) { return i * i * j * j; });
    case Feature::LargeAreaLowGrayLevelEmphasis:
      return near([](long double i, long double j) { return j * j / (i * i); });
    case Feature::LowGrayLevelZoneEmphasis:
      return near([](long double i, long double) { return 1.0L / (i * i); });
    case Feature::SizeZoneNonUniformity:
      return Quotient(static_cast<long double>(SquareSum(matrix, getSize)), n);
    case Feature::SizeZoneNonUniformityNormalized:
      return Quotient(static_cast<long double>(SquareSum(matrix, getSize)), n * n);
    case Feature::SmallAreaEmphasis:
      return near([](long double, long double j) { return 1.0L / (j * j); });
    case Feature::SmallAreaHighGrayLevelEmphasis:
      return near([](long double i, long double j) { return i * i / (j * j); });
    case Feature::SmallAreaLowGrayLevelEmphasis:
      return near([](long double i, long double j) { return 1.0L / (i * i * j * j); });
    case Feature::ZoneEntropy:
    {
      Value value;
      value.isExact = matrix.size() == 1;
      value.tolerance = 1e-12L;
      for (const auto & entry : matrix)
      {
        const auto number = static_cast<long double>(entry.second);
        value.reference += number / n * std::log2(n / number);
      }
      return value;
    }
    case Feature::ZonePercentage:
      return Quotient(n, static_cast<long double>(voxels));
    case Feature::ZoneVariance:
      return Variance(matrix, getSize);
  }
  return {};
}

bool
Agrees(const Value & expected, float actual)
{
  if (expected.isExact)
  {
    return static_cast<float>(expected.exact) == actual;
  }
  const auto  magnitude = static_cast<float>(std::abs(expected.reference));
  const float next = std::nextafter(magnitude, std::numeric_limits<float>::infinity());
  return IsNear(expected, actual, 2.0L * (static_cast<long double>(next) - static_cast<long double>(magnitude)));
}

bool
Agrees(const Value & expected, double actual)
{
  return expected.isExact ? expected.exact == actual
                          : IsNear(expected, actual, expected.tolerance * std::abs(expected.reference));
}
} // namespace SizeZoneOracle
