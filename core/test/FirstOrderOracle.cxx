// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FirstOrderOracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace FirstOrderOracle
{
namespace
{
using Numbers = std::vector<double>;

Value
Exact(double value)
{
  Value result;
  result.isExact = true;
  result.exact = value;
  return result;
}

Value
Near(long double reference, long double tolerance = 0.0L)
{
  Value result;
  result.reference = reference;
  result.tolerance = tolerance;
  return result;
}

/** numpy.percentile(sorted, 100 * part) */
double
ComputePercentile(const Numbers & sorted, double part)
{
  const double      index = static_cast<double>(sorted.size() - 1) * part;
  const auto        previous = static_cast<std::size_t>(std::floor(index));
  const std::size_t next = std::min(previous + 1, sorted.size() - 1);
  const double      gamma = index - static_cast<double>(previous);
  const double      difference = sorted[next] - sorted[previous];
  return gamma >= 0.5 ? sorted[next] - difference * (1.0 - gamma) : sorted[previous] + difference * gamma;
}

/** Mean of the differences from the median, which rounds no digits of a great offset away. */
long double
MeanDifference(const Numbers & numbers, long double median)
{
  long double sum = 0.0L;
  for (const double x : numbers)
  {
    sum += x - median;
  }
  return sum / static_cast<long double>(numbers.size());
}

long double
ComputeMedian(Numbers numbers)
{
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2), numbers.end());
  return numbers[numbers.size() / 2];
}

long double
MeanOf(const Numbers & numbers)
{
  const long double median = ComputeMedian(numbers);
  return median + MeanDifference(numbers, median);
}

/** Mean of |x - mean|^power, or of (x - mean)^power. */
long double
ComputeMoment(const Numbers & numbers, int power, bool isAbsolute)
{
  const long double median = ComputeMedian(numbers);
  const long double mean = MeanDifference(numbers, median);
  long double       sum = 0.0L;
  for (const double x : numbers)
  {
    const long double difference = (x - median) - mean;
    const long double deviation = isAbsolute ? std::abs(difference) : difference;
    long double       product = 1.0L;
    for (int i = 0; i < power; ++i)
    {
      product *= deviation;
    }
    sum += product;
  }
  return sum / static_cast<long double>(numbers.size());
}

bool
IsNear(const Value & expected, long double actual, long double unit)
{
  if (std::isnan(expected.reference))
  {
    return std::isnan(actual);
  }
  return std::abs(actual - expected.reference) <= 2.0L * unit + expected.tolerance;
}

/** The distance of floats near a number. */
long double
UnitInTheLastPlace(long double value)
{
  const auto  magnitude = static_cast<float>(std::abs(value));
  const float next = std::nextafter(magnitude, std::numeric_limits<float>::infinity());
  return std::isfinite(next) ? static_cast<long double>(next) - static_cast<long double>(magnitude)
                             : std::abs(value) * 0x1p-23L;
}
} // namespace

Value
Compute(Feature feature, const std::vector<Voxel> & voxels, double voxelArrayShift, double voxelVolume)
{
  Numbers                                numbers;
  std::map<std::uint16_t, std::uint64_t> counts;
  long double                            energy = 0.0L;
  long double                            greatest = 0.0L;
  for (const Voxel & voxel : voxels)
  {
    const long double shifted = static_cast<long double>(voxel.intensity) + voxelArrayShift;
    numbers.push_back(voxel.intensity);
    ++counts[voxel.level];
    energy += shifted * shifted;
    greatest = std::max(greatest, std::abs(static_cast<long double>(voxel.intensity)));
  }
  Numbers sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  const bool        isFlat = sorted.front() == sorted.back();
  const std::size_t half = sorted.size() / 2;
  const auto        size = static_cast<long double>(numbers.size());

  switch (feature)
  {
    case Feature::Percentile10:
      return Exact(ComputePercentile(sorted, 0.1));
    case Feature::Percentile90:
      return Exact(ComputePercentile(sorted, 0.9));
    case Feature::Energy:
      return Near(energy);
    case Feature::Entropy:
    {
      long double entropy = 0.0L;
      for (const auto & count : counts)
      {
        const long double p = static_cast<long double>(count.second) / size;
        entropy -= p * std::log2(p);
      }
      return counts.size() == 1 ? Exact(0.0) : Near(entropy);
    }
    case Feature::InterquartileRange:
      return Exact(ComputePercentile(sorted, 0.75) - ComputePercentile(sorted, 0.25));
    case Feature::Kurtosis:
    {
      const long double variance = ComputeMoment(numbers, 2, false);
      return isFlat ? Exact(0.0) : Near(ComputeMoment(numbers, 4, false) / (variance * variance));
    }
    case Feature::Maximum:
      return Exact(sorted.back());
    case Feature::MeanAbsoluteDeviation:
      return isFlat ? Exact(0.0) : Near(ComputeMoment(numbers, 1, true));
    case Feature::Mean:
      return isFlat ? Exact(sorted.front()) : Near(MeanOf(numbers), 1e-15L * greatest);
    case Feature::Median:
      return Exact(sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0);
    case Feature::Minimum:
      return Exact(sorted.front());
    case Feature::Range:
      return Exact(sorted.back() - sorted.front());
    case Feature::RobustMeanAbsoluteDeviation:
    {
      Numbers inside;
      for (const double x : numbers)
      {
        if (x >= ComputePercentile(sorted, 0.1) && x <= ComputePercentile(sorted, 0.9))
        {
          inside.push_back(x);
        }
      }
      if (inside.empty())
      {
        return Near(std::numeric_limits<long double>::quiet_NaN());
      }
      const auto ends = std::minmax_element(inside.begin(), inside.end());
      return *ends.first == *ends.second ? Exact(0.0) : Near(ComputeMoment(inside, 1, true));
    }
    case Feature::RootMeanSquared:
      return Near(std::sqrt(energy / size));
    case Feature::Skewness:
    {
      const long double variance = ComputeMoment(numbers, 2, false);
      return isFlat ? Exact(0.0) : Near(ComputeMoment(numbers, 3, false) / (variance * std::sqrt(variance)), 1e-12L);
    }
    case Feature::StandardDeviation:
      return isFlat ? Exact(0.0) : Near(std::sqrt(ComputeMoment(numbers, 2, false)));
    case Feature::TotalEnergy:
      return Near(energy * voxelVolume);
    case Feature::Uniformity:
    {
      std::uint64_t squares = 0;
      for (const auto & count : counts)
      {
        squares += count.second * count.second;
      }
      return Exact(static_cast<double>(squares) / static_cast<double>(numbers.size() * numbers.size()));
    }
    case Feature::Variance:
      return isFlat ? Exact(0.0) : Near(ComputeMoment(numbers, 2, false));
  }
  return {};
}

bool
Agrees(const Value & expected, float actual)
{
  if (std::abs(expected.reference) > static_cast<long double>(std::numeric_limits<float>::max()))
  {
    return actual == static_cast<float>(expected.reference);
  }
  return expected.isExact ? static_cast<float>(expected.exact) == actual
                          : IsNear(expected, actual, UnitInTheLastPlace(expected.reference));
}

bool
Agrees(const Value & expected, double actual)
{
  return expected.isExact ? expected.exact == actual
                          : IsNear(expected, actual, 0.5e-12L * std::abs(expected.reference));
}
} // namespace FirstOrderOracle
