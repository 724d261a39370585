// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/RegionTypes.h"

#include "common/ExpMinus.h"
#include "common/Log2.h"
#include "glcm/WeightedCooccurrence.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

namespace voxelmaps
{
namespace
{
double
Entropy(const std::vector<double> & probabilities)
{
  CompensatedSum entropy;
  for (const double p : probabilities)
  {
    entropy += p > 0.0 ? -p * Log2(p) : 0.0;
  }
  return entropy;
}

/** sum of p(k) weight(k). */
template <typename TWeight>
double
Mean(const std::vector<double> & probabilities, const TWeight & weight)
{
  CompensatedSum mean;
  for (std::size_t k = 0; k < probabilities.size(); ++k)
  {
    mean += probabilities[k] == 0.0 ? 0.0 : probabilities[k] * weight(static_cast<double>(k));
  }
  return mean;
}

/** Exactly 0 if only one k has a probability. */
double
Variance(const std::vector<double> & probabilities, double mean)
{
  const auto isUsed = [](double p) { return p > 0.0; };
  return std::count_if(probabilities.begin(), probabilities.end(), isUsed) < 2
           ? 0.0
           : Mean(probabilities, [mean](double k) { return (k - mean) * (k - mean); });
}

/** An array of as many values as are given, so that a missing one is a compiler error. */
template <typename... TValues>
std::array<double, sizeof...(TValues)>
MakeArray(const TValues &... values)
{
  return { { values... } };
}

double
ComputeMaximalCorrelation(const std::vector<Cell> & cells, std::uint32_t numberOfGrayLevels)
{
  using Correlation = MaximalCorrelation<double, SerialLane>;
  std::vector<int> ranks(numberOfGrayLevels + 1, -1);
  for (const Cell & cell : cells)
  {
    ranks[cell.row] = ranks[cell.column] = 0;
  }
  int levels = 0;
  for (int & rank : ranks)
  {
    rank = rank < 0 ? rank : levels++;
  }
  if (levels < 2)
  {
    return 0.0;
  }
  if (levels > maxCorrelationLevels)
  {
    throw EngineError("A region has " + std::to_string(levels) +
                      " gray levels, but MaximalCorrelationCoefficient supports at most " +
                      std::to_string(maxCorrelationLevels) + ": use wider or fewer bins, or leave this feature out.");
  }
  const SerialLane    lane;
  const auto          size = static_cast<std::size_t>(levels);
  std::vector<double> counts(size * size);
  std::vector<double> triangle(size * (size + 1) / 2);
  std::vector<double> first(2 * size);
  std::vector<double> second(2 * size);
  for (const Cell & cell : cells)
  {
    counts[ranks[cell.row] * size + ranks[cell.column]] = cell.value;
  }
  Correlation::MultiplyByTransposed(
    lane, levels, levels, counts.data(), first.data(), second.data(), triangle.data(), 1);
  Correlation::Tridiagonalize(lane, levels, triangle.data(), first.data(), second.data());
  return Correlation::Search(lane, levels, first.data(), second.data(), true);
}
} // namespace

std::array<double, CooccurrenceFeatureMapEnums::NumberOfFeatures>
ComputeCooccurrenceValues(const std::vector<Cell> & cells, std::uint32_t levels, bool needsMaximalCorrelation,
                          bool hasOneLevel)
{
  const double   n = levels;
  CompensatedSum total;
  for (const Cell & cell : cells)
  {
    total += cell.value;
  }
  std::vector<double> rows(levels + 1);
  std::vector<double> columns(levels + 1);
  std::vector<double> sums(2 * std::size_t{ levels } + 1);
  std::vector<double> differences(levels);
  for (const Cell & cell : cells)
  {
    const double p = cell.value / total;
    rows[cell.row] += p;
    columns[cell.column] += p;
    sums[cell.row + cell.column] += p;
    differences[cell.row < cell.column ? cell.column - cell.row : cell.row - cell.column] += p;
  }
  const auto   number = [](double k) { return k; };
  const double rowMean = Mean(rows, number);
  const double columnMean = Mean(columns, number);
  const double rowVariance = Variance(rows, rowMean);
  const double columnVariance = Variance(columns, columnMean);
  const double differenceMean = Mean(differences, number);

  CompensatedSum autocorrelation, prominence, shade, tendency, covariance, energy, entropy, information;
  double         maximum = 0.0;
  for (const Cell & cell : cells)
  {
    const double p = cell.value / total;
    const auto   i = static_cast<double>(cell.row);
    const auto   j = static_cast<double>(cell.column);
    const double deviation = (i - rowMean) + (j - columnMean);
    const double square = deviation * deviation;
    autocorrelation += p * (i * j);
    tendency += p * square;
    shade += p * (square * deviation);
    prominence += p * (square * square);
    covariance += p * ((i - rowMean) * (j - columnMean));
    energy += p * p;
    entropy += -p * Log2(p);
    information += p * Log2(p / (rows[cell.row] * columns[cell.column]));
    maximum = p > maximum ? p : maximum;
  }
  // Smaller information is rounding of its terms; Imc2 has a root of it.
  const double mutualInformation = information > 0x1p-46 ? information : 0.0;
  const double correlation =
    rowVariance > 0.0 && columnVariance > 0.0 ? covariance / std::sqrt(rowVariance * columnVariance) : 1.0;
  const double maximalCorrelation = hasOneLevel               ? 1.0
                                    : needsMaximalCorrelation ? ComputeMaximalCorrelation(cells, levels)
                                                              : 0.0;
  // In the order of the enumeration.
  return MakeArray(autocorrelation,
                   prominence,
                   shade,
                   tendency,
                   Mean(differences, [](double k) { return k * k; }),
                   correlation,
                   differenceMean,
                   Entropy(differences),
                   Variance(differences, differenceMean),
                   Mean(differences, [](double k) { return 1.0 / (1.0 + k); }),
                   Mean(differences, [](double k) { return 1.0 / (1.0 + k * k); }),
                   Mean(differences, [n](double k) { return 1.0 / (1.0 + k * k / (n * n)); }),
                   Mean(differences, [n](double k) { return 1.0 / (1.0 + k / n); }),
                   mutualInformation == 0.0 ? 0.0 : -mutualInformation / std::max(Entropy(rows), Entropy(columns)),
                   std::sqrt(OneMinusExpMinus(2.0 * mutualInformation)),
                   Mean(differences, [](double k) { return k == 0.0 ? 0.0 : 1.0 / (k * k); }),
                   rowMean,
                   energy,
                   entropy,
                   maximum,
                   Mean(sums, number),
                   Entropy(sums),
                   rowVariance,
                   maximalCorrelation);
}

SizeMatrixValues
ComputeSizeMatrixValues(const std::vector<Cell> & cells)
{
  const auto sumsBy = [&cells](std::uint64_t Cell::* coordinate) {
    std::vector<Cell> sums;
    for (const Cell & cell : cells)
    {
      sums.push_back({ cell.*coordinate, 0, cell.value });
    }
    return MergeCells(std::move(sums));
  };
  const std::vector<Cell> levels = sumsBy(&Cell::row);
  const std::vector<Cell> sizes = sumsBy(&Cell::column);
  CompensatedSum          total, entropy;
  for (const Cell & cell : cells)
  {
    total += cell.value;
  }
  const double n = total;
  for (const Cell & cell : cells)
  {
    const double p = cell.value / n;
    entropy += -p * Log2(p);
  }

  const auto mean = [n](const std::vector<Cell> & parts, const auto & weight) {
    CompensatedSum sum;
    for (const Cell & cell : parts)
    {
      sum += cell.value * weight(static_cast<double>(cell.row), static_cast<double>(cell.column));
    }
    return sum / n;
  };
  const auto nonUniformity = [](const std::vector<Cell> & parts) {
    CompensatedSum sum;
    for (const Cell & cell : parts)
    {
      sum += cell.value * cell.value;
    }
    return static_cast<double>(sum);
  };
  const auto variance = [&mean](const std::vector<Cell> & parts) {
    const double center = mean(parts, [](double v, double) { return v; });
    // Exactly 0 if there is one v, whatever the rounding of weights.
    return parts.size() < 2 ? 0.0 : mean(parts, [center](double v, double) { return (v - center) * (v - center); });
  };
  // In the order of the enumeration.
  return MakeArray(mean(sizes, [](double j, double) { return 1.0 / (j * j); }),
                   mean(sizes, [](double j, double) { return j * j; }),
                   nonUniformity(levels) / n,
                   nonUniformity(levels) / (n * n),
                   nonUniformity(sizes) / n,
                   nonUniformity(sizes) / (n * n),
                   1.0 / mean(sizes, [](double j, double) { return j; }),
                   variance(levels),
                   variance(sizes),
                   entropy,
                   mean(levels, [](double i, double) { return 1.0 / (i * i); }),
                   mean(levels, [](double i, double) { return i * i; }),
                   mean(cells, [](double i, double j) { return 1.0 / ((i * i) * (j * j)); }),
                   mean(cells, [](double i, double j) { return (i * i) / (j * j); }),
                   mean(cells, [](double i, double j) { return (j * j) / (i * i); }),
                   mean(cells, [](double i, double j) { return (i * i) * (j * j); }));
}

SizeMatrixFeature
ToSizeMatrixFeature(RunLengthFeatureMapEnums::Feature feature)
{
  using F = SizeMatrixFeature;
  // In the order of the enumeration.
  constexpr F features[] = { F::SmallEmphasis,
                             F::LargeEmphasis,
                             F::LevelNonUniformity,
                             F::SizeNonUniformity,
                             F::Percentage,
                             F::LowLevelEmphasis,
                             F::HighLevelEmphasis,
                             F::SmallLowLevelEmphasis,
                             F::SmallHighLevelEmphasis,
                             F::LargeLowLevelEmphasis,
                             F::LargeHighLevelEmphasis,
                             F::LevelNonUniformityNormalized,
                             F::SizeNonUniformityNormalized,
                             F::LevelVariance,
                             F::SizeVariance,
                             F::Entropy };
  static_assert(std::size(features) == RunLengthFeatureMapEnums::NumberOfFeatures);
  return features[static_cast<std::size_t>(feature)];
}

std::array<double, GrayToneDifferenceFeatureMapEnums::NumberOfFeatures>
ComputeGrayToneDifferenceValues(const std::vector<ToneDifference> & levels)
{
  constexpr double greatestCoarseness = 1e6;
  CompensatedSum   voxels, differences, products;
  for (const ToneDifference & one : levels)
  {
    voxels += one.voxels;
    differences += one.difference;
    products += one.voxels * one.difference;
  }
  // Over the pairs of levels, each once.
  CompensatedSum imbalances, complexity, contrast, strength;
  for (std::size_t i = 0; i < levels.size(); ++i)
  {
    for (std::size_t j = i + 1; j < levels.size(); ++j)
    {
      const ToneDifference & a = levels[i];
      const ToneDifference & b = levels[j];
      const double           step = b.level - a.level;
      imbalances += std::abs(a.level * a.voxels - b.level * b.voxels);
      complexity += step * (a.voxels * a.difference + b.voxels * b.difference) / (a.voxels + b.voxels);
      contrast += a.voxels * b.voxels * (step * step);
      strength += (a.voxels + b.voxels) * (step * step);
    }
  }
  const double n = voxels;
  const auto   count = static_cast<double>(levels.size());
  // In the order of the enumeration.
  return MakeArray(imbalances == 0.0 ? 0.0 : products / (2.0 * imbalances),
                   products == 0.0 ? greatestCoarseness : n / products,
                   2.0 * complexity / n,
                   count < 2.0 ? 0.0 : 2.0 * contrast / (n * n) * differences / n / (count * (count - 1.0)),
                   differences == 0.0 ? 0.0 : 2.0 * strength / n / differences);
}
} // namespace voxelmaps
