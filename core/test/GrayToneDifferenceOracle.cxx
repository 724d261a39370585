// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceOracle.h"

#include <cmath>
#include <limits>

namespace GrayToneDifferenceOracle
{
Matrix
MakeMatrix(const Levels & levels, const Window & window, const Triple & position, const std::vector<Triple> & offsets,
           bool countVoxelsWithoutNeighbors)
{
  Matrix                              matrix;
  const RunLengthOracle::WindowLevels inWindow(levels, window, position);
  inWindow.ForEachVoxel([&](const Triple & at, std::uint16_t level) {
    long double neighbors = 0.0L;
    long double sum = 0.0L;
    for (const Triple & offset : offsets)
    {
      for (const std::int64_t sign : { -1, 1 })
      {
        const std::uint16_t neighbor = inWindow(RunLengthOracle::Move(at, offset, sign));
        neighbors += neighbor != 0 ? 1.0L : 0.0L;
        sum += static_cast<long double>(neighbor);
      }
    }
    if (neighbors > 0.0L)
    {
      // Not rounded before the quotient, so that equal levels differ by exactly 0.
      matrix[level].difference += std::abs(neighbors * static_cast<long double>(level) - sum) / neighbors;
    }
    if (neighbors > 0.0L || countVoxelsWithoutNeighbors)
    {
      matrix[level].count += 1.0L;
    }
  });
  return matrix;
}

long double
ComputeFeature(const Matrix & matrix, Feature feature)
{
  long double voxels = 0.0L;
  long double differences = 0.0L;
  for (const auto & row : matrix)
  {
    voxels += row.second.count;
    differences += row.second.difference;
  }
  if (matrix.empty())
  {
    return feature == Feature::Coarseness ? 1e6L : 0.0L;
  }
  long double weightedDifferences = 0.0L;
  for (const auto & row : matrix)
  {
    weightedDifferences += row.second.count / voxels * row.second.difference;
  }
  // Sums over all ordered pairs of levels.
  long double imbalances = 0.0L;
  long double complexity = 0.0L;
  long double contrast = 0.0L;
  long double strength = 0.0L;
  for (const auto & a : matrix)
  {
    for (const auto & b : matrix)
    {
      const long double i = a.first;
      const long double j = b.first;
      const long double pi = a.second.count / voxels;
      const long double pj = b.second.count / voxels;
      // From integers, so that equal products differ by exactly 0.
      imbalances += std::abs(i * a.second.count - j * b.second.count) / voxels;
      complexity += std::abs(i - j) * (pi * a.second.difference + pj * b.second.difference) / (pi + pj);
      contrast += pi * pj * (i - j) * (i - j);
      strength += (pi + pj) * (i - j) * (i - j);
    }
  }
  const auto levels = static_cast<long double>(matrix.size());
  switch (feature)
  {
    case Feature::Busyness:
      return imbalances == 0.0L ? 0.0L : weightedDifferences / imbalances;
    case Feature::Coarseness:
      return weightedDifferences == 0.0L ? 1e6L : 1.0L / weightedDifferences;
    case Feature::Complexity:
      return complexity / voxels;
    case Feature::Contrast:
      return levels < 2.0L ? 0.0L : contrast / (levels * (levels - 1.0L)) * (differences / voxels);
    case Feature::Strength:
      return differences == 0.0L ? 0.0L : strength / differences;
  }
  return std::numeric_limits<long double>::quiet_NaN();
}

long double
GetTolerance(const Matrix & matrix, Feature feature)
{
  // Roundings of the last step, and 2^-50 of the weights of up to 8192 neighbors; Complexity adds up rows of doubles.
  const long double roundings =
    feature == Feature::Complexity ? 16.0L + 2.0L * static_cast<long double>(matrix.size()) : 16.0L;
  return roundings * std::numeric_limits<double>::epsilon() / 2.0L;
}

bool
Agrees(long double expected, long double tolerance, float actual)
{
  const auto rounded = static_cast<float>(expected);
  if (expected == 0.0L)
  {
    return actual == 0.0f;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return tolerance < 1e-8L && actual >= std::nextafter(rounded, -infinity) &&
         actual <= std::nextafter(rounded, infinity);
}

bool
Agrees(long double expected, long double tolerance, double actual)
{
  return std::abs(static_cast<long double>(actual) - expected) <= tolerance * std::abs(expected);
}
} // namespace GrayToneDifferenceOracle
