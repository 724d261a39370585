// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/FixedPoint.h"
#include "texture/SizeMatrixPlan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace
{
using namespace voxelmaps;

constexpr int numberOfFeatures = static_cast<int>(SizeMatrixFeature::LargeHighLevelEmphasis) + 1;

/** Number of entries by (level, size). */
using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

/** Sums of a matrix, by groups along an axis: 0 for groups of a level, 1 for groups of a size. */
template <int VAxis>
SizeMatrixSums
SumMatrix(const Matrix & matrix, const SizeMatrixScales & scales)
{
  std::map<std::uint32_t, SizeMatrixGroup> groups;
  std::map<std::uint32_t, std::uint64_t>   others;
  SizeMatrixSums                           sums;
  ClearEntries(sums);
  for (const auto & element : matrix)
  {
    const std::uint32_t of = VAxis == levelAxis ? element.first.first : element.first.second;
    const std::uint32_t v = VAxis == levelAxis ? element.first.second : element.first.first;
    if (groups.count(of) == 0)
    {
      ClearEntries(groups[of]);
    }
    for (std::uint32_t n = 0; n < element.second; ++n)
    {
      AddEntry(groups[of], v, scales.inverseSquares[v]);
    }
    others[v] += element.second;
    sums.entropyTerms += scales.entropyTable[element.second];
  }
  for (const auto & group : groups)
  {
    AddGroup<VAxis>(sums, group.first, scales.inverseSquares[group.first], group.second);
  }
  for (const auto & other : others)
  {
    sums.axes[1 - VAxis].nonUniformity += other.second * other.second;
  }
  return sums;
}

/** A feature from its definition. */
long double
Expected(SizeMatrixFeature feature, const Matrix & matrix)
{
  long double                          entries = 0.0L;
  long double                          sizes = 0.0L;
  long double                          levels = 0.0L;
  std::map<std::uint32_t, long double> levelCounts;
  std::map<std::uint32_t, long double> sizeCounts;
  for (const auto & element : matrix)
  {
    const long double n = element.second;
    entries += n;
    levels += n * element.first.first;
    sizes += n * element.first.second;
    levelCounts[element.first.first] += n;
    sizeCounts[element.first.second] += n;
  }
  const auto mean = [&](const auto & term) {
    long double sum = 0.0L;
    for (const auto & element : matrix)
    {
      const long double i = element.first.first;
      const long double j = element.first.second;
      sum += element.second / entries * term(i, j, element.second / entries);
    }
    return sum;
  };
  const auto nonUniformity = [](const std::map<std::uint32_t, long double> & counts) {
    long double sum = 0.0L;
    for (const auto & count : counts)
    {
      sum += count.second * count.second;
    }
    return sum;
  };
  using Number = long double;
  switch (feature)
  {
    case SizeMatrixFeature::SmallEmphasis:
      return mean([](Number, Number j, Number) { return 1.0L / (j * j); });
    case SizeMatrixFeature::LargeEmphasis:
      return mean([](Number, Number j, Number) { return j * j; });
    case SizeMatrixFeature::LevelNonUniformity:
      return nonUniformity(levelCounts) / entries;
    case SizeMatrixFeature::LevelNonUniformityNormalized:
      return nonUniformity(levelCounts) / (entries * entries);
    case SizeMatrixFeature::SizeNonUniformity:
      return nonUniformity(sizeCounts) / entries;
    case SizeMatrixFeature::SizeNonUniformityNormalized:
      return nonUniformity(sizeCounts) / (entries * entries);
    case SizeMatrixFeature::Percentage:
      return entries / sizes;
    case SizeMatrixFeature::LevelVariance:
      return mean([&](Number i, Number, Number) { return (i - levels / entries) * (i - levels / entries); });
    case SizeMatrixFeature::SizeVariance:
      return mean([&](Number, Number j, Number) { return (j - sizes / entries) * (j - sizes / entries); });
    case SizeMatrixFeature::Entropy:
      return mean([](Number, Number, Number p) { return -std::log2(p); });
    case SizeMatrixFeature::LowLevelEmphasis:
      return mean([](Number i, Number, Number) { return 1.0L / (i * i); });
    case SizeMatrixFeature::HighLevelEmphasis:
      return mean([](Number i, Number, Number) { return i * i; });
    case SizeMatrixFeature::SmallLowLevelEmphasis:
      return mean([](Number i, Number j, Number) { return 1.0L / (i * i * j * j); });
    case SizeMatrixFeature::SmallHighLevelEmphasis:
      return mean([](Number i, Number j, Number) { return i * i / (j * j); });
    case SizeMatrixFeature::LargeLowLevelEmphasis:
      return mean([](Number i, Number j, Number) { return j * j / (i * i); });
    case SizeMatrixFeature::LargeHighLevelEmphasis:
      return mean([](Number i, Number j, Number) { return i * i * j * j; });
  }
  return NAN;
}
} // namespace

TEST(SizeMatrix, GroupsAlongBothAxesGiveTheSameBitsAndTheDefinition)
{
  std::mt19937 random(1);
  const auto   upTo = [&random](std::uint32_t n) { return 1 + static_cast<std::uint32_t>(random() % n); };
  for (int repetition = 0; repetition < 80; ++repetition)
  {
    SCOPED_TRACE("case " + std::to_string(repetition));
    const std::uint32_t maxEntries = repetition % 3 == 0 ? 65535 : 125;
    const std::uint32_t maxLevel = repetition % 5 == 0 ? 65535 : upTo(256);
    const std::uint32_t maxSize = repetition % 7 == 0 ? 65535 : upTo(125);
    SizeMatrixPlan      plan;
    SizeMatrixScales    scales;
    plan.Make({ maxEntries, maxLevel, maxSize }, true, voxelmaps::JobExecution(), scales);
    Matrix        matrix;
    std::uint32_t left = maxEntries;
    for (std::uint32_t element = upTo(40); element > 0 && left > 0; --element)
    {
      const std::uint32_t n = std::min(left, repetition % 2 == 0 ? upTo(4) : upTo(left));
      matrix[{ repetition % 11 == 0 ? maxLevel : upTo(maxLevel), upTo(maxSize) }] += n;
      left -= n;
    }
    const SizeMatrixSums byLevel = SumMatrix<levelAxis>(matrix, scales);
    const SizeMatrixSums bySize = SumMatrix<sizeAxis>(matrix, scales);
    // 2^-s by which q(n) is rounded, relative to the smallest 1 / n^2.
    const double greatest = std::max(maxLevel, maxSize);
    const double tolerance = 1e-15 + 2.0 * scales.inverseScale * greatest * greatest;
    for (int f = 0; f < numberOfFeatures; ++f)
    {
      SCOPED_TRACE("feature " + std::to_string(f));
      const auto   feature = static_cast<SizeMatrixFeature>(f);
      const double value = SizeMatrixFeatureValue(feature, byLevel, scales);
      EXPECT_EQ(value, SizeMatrixFeatureValue(feature, bySize, scales));
      const auto   expected = static_cast<double>(Expected(feature, matrix));
      const double floor = feature == SizeMatrixFeature::Entropy ? 1e-11 : 1e-14 * greatest;
      EXPECT_NEAR(value, expected, std::max(tolerance * std::abs(expected), matrix.size() == 1 ? floor : floor * 1e-3));
    }
  }
}

TEST(SizeMatrix, GreatestSumsFit)
{
  SizeMatrixPlan   plan;
  SizeMatrixScales scales;
  plan.Make({ 65535, 65535, 65535 }, true, voxelmaps::JobExecution(), scales);
  const Matrix         matrix = { { { 1, 1 }, 65535 } };
  const SizeMatrixSums sums = SumMatrix<levelAxis>(matrix, scales);
  EXPECT_EQ(SizeMatrixFeatureValue(SizeMatrixFeature::SmallLowLevelEmphasis, sums, scales), 1.0);
  EXPECT_EQ(SizeMatrixFeatureValue(SizeMatrixFeature::LargeLowLevelEmphasis, sums, scales), 1.0);
  const SizeMatrixSums greatest = SumMatrix<sizeAxis>({ { { 65535, 65535 }, 65535 } }, scales);
  EXPECT_EQ(SizeMatrixFeatureValue(SizeMatrixFeature::LargeHighLevelEmphasis, greatest, scales),
            65535.0 * 65535.0 * 65535.0 * 65535.0);
  EXPECT_EQ(SizeMatrixFeatureValue(SizeMatrixFeature::LevelVariance, greatest, scales), 0.0);
  EXPECT_EQ(SizeMatrixFeatureValue(SizeMatrixFeature::Entropy, greatest, scales), 0.0);
}
