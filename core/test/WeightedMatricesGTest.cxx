// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceOracle.h"
#include "RunLengthOracle.h"
#include "TextureClassCase.h"

#include "common/Log2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

// Merged matrices with weights of offsets, of both classes that have them.
namespace
{
using CooccurrenceJob = voxelmaps::CooccurrenceJob;
using RunLengthJob = voxelmaps::RunLengthJob;
using Triple = voxelmaps::Triple;
using namespace VoxelMapsTest;

/** Noise with holes, all features, and all neighbors with weights between which there are many magnitudes. */
template <typename TJob>
struct WeightedNoise : ClassNoise<TJob>
{
  explicit WeightedNoise(const Triple & size, std::uint32_t numberOfGrayLevels = 6)
    : ClassNoise<TJob>(size, numberOfGrayLevels)
  {
    TJob & job = this->job;
    job.features = TJob::Enums::GetAllFeatures();
    job.aggregation = TJob::Aggregation::Merge;
    job.offsets = GetNeighborOffsets(true);
    job.windowSize = { { 3, 3, std::min<std::int64_t>(size[2], 3) } };
    job.windowAnchor = { { 1, 1, job.windowSize[2] / 2 } };
    job.backgroundValue = 0.0;
    for (int i = 14; i < 27; ++i)
    {
      job.offsetWeights.push_back(std::exp(-static_cast<double>((i * 7) % 13)));
    }
  }
};

template <typename TJob>
class WeightedMatrices : public ::testing::Test
{};
using Jobs = ::testing::Types<CooccurrenceJob, RunLengthJob>;

/** What rounding may change in a feature: that of terms that cancel grows with powers of the levels. */
long double
GetTolerance(CooccurrenceJob::Feature feature, std::uint32_t numberOfGrayLevels)
{
  using Feature = CooccurrenceJob::Feature;
  const long double levels = 2.0L * numberOfGrayLevels;
  switch (feature)
  {
    case Feature::ClusterProminence:
      return 1e-14L * levels * levels * levels * levels;
    case Feature::ClusterShade:
      return 1e-14L * levels * levels * levels;
    case Feature::Autocorrelation:
    case Feature::ClusterTendency:
    case Feature::Contrast:
    case Feature::DifferenceVariance:
    case Feature::SumSquares:
      return 1e-14L * levels * levels;
    case Feature::MaximalCorrelationCoefficient:
      return 1e-11L;
    default:
      return 1e-12L;
  }
}

/** The feature of a matrix whose counts are those of the oracle, so that weights are integers. */
long double
GetExpected(const CooccurrenceJob & job, const RunLengthOracle::Levels & levels, const RunLengthOracle::Window & window,
            const Triple & position, const std::vector<int> & weights, std::size_t feature)
{
  CooccurrenceOracle::Matrix matrix;
  std::int64_t               total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
  {
    CooccurrenceOracle::Matrix offsetMatrix;
    CooccurrenceOracle::AddPairs(levels, window, position, job.offsets[i], job.symmetric, offsetMatrix);
    for (const auto & cell : offsetMatrix)
    {
      if (weights[i] > 0)
      {
        matrix[cell.first] += cell.second * weights[i];
        total += cell.second * weights[i];
      }
    }
  }
  return matrix.empty() ? std::numeric_limits<long double>::quiet_NaN()
                        : CooccurrenceOracle::ComputeFeature(
                            matrix, job.features[feature], job.symmetric, job.numberOfGrayLevels, total)
                            .reference;
}
long double
GetTolerance(RunLengthJob::Feature, std::uint32_t)
{
  return 1e-12L;
}
long double
GetExpected(const RunLengthJob & job, const RunLengthOracle::Levels & levels, const RunLengthOracle::Window & window,
            const Triple & position, const std::vector<int> & weights, std::size_t feature)
{
  RunLengthOracle::Matrix matrix;
  std::uint64_t           voxels = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
  {
    RunLengthOracle::Matrix directionMatrix;
    RunLengthOracle::AddRuns(levels, window, position, job.offsets[i], directionMatrix);
    voxels += RunLengthOracle::CountVoxels(levels, window, position) * static_cast<std::uint64_t>(weights[i]);
    for (const auto & cell : directionMatrix)
    {
      if (weights[i] > 0)
      {
        matrix[cell.first] += cell.second * static_cast<std::uint64_t>(weights[i]);
      }
    }
  }
  // Many runs weigh as much as one here.
  return matrix.empty() ? std::numeric_limits<long double>::quiet_NaN()
                        : RunLengthOracle::ComputeFeature(matrix, voxels, 255, job.features[feature]).reference;
}

/** Nonuniformities that are not normalized grow with the weights. */
template <typename TFeature>
bool
IsCount(TFeature feature)
{
  const std::string name = Print(feature);
  return name == "GrayLevelNonUniformity" || name == "RunLengthNonUniformity";
}
} // namespace

TYPED_TEST_SUITE(WeightedMatrices, Jobs, TextureJobName);

TYPED_TEST(WeightedMatrices, IntegerWeightsRepeatPairs)
{
  for (std::uint64_t seed = 0; seed < 200 && !::testing::Test::HasFailure(); ++seed)
  {
    SCOPED_TRACE(seed);
    RandomNumbers            random(seed);
    const auto               numberOfGrayLevels = static_cast<std::uint32_t>(random.OneOf<int>({ 1, 2, 5, 20 }));
    const Triple             size{ { random.Between(1, 6), random.Between(1, 5), random.Between(1, 4) } };
    WeightedNoise<TypeParam> noise(size, numberOfGrayLevels);
    auto &                   job = noise.job;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      job.windowSize[axis] = random.Between(1, 5);
      job.windowAnchor[axis] = random.Below(job.windowSize[axis]);
    }
    if constexpr (std::is_same<TypeParam, CooccurrenceJob>::value)
    {
      job.symmetric = random.Chance(0.6);
    }
    // A common factor, of which features do not depend unless they count.
    const double     factor = random.OneOf<double>({ 1.0, 0.37, 1e-30 });
    const auto       greatest = random.OneOf<std::int64_t>({ 0, 3, 3, 3, 3 });
    std::vector<int> weights;
    for (double & weight : job.offsetWeights)
    {
      weights.push_back(static_cast<int>(random.Between(0, greatest)));
      weight = factor * weights.back();
    }
    const RunLengthOracle::Levels levels{ size, noise.levels };
    const RunLengthOracle::Window window{ job.windowSize, job.windowAnchor };
    for (const auto & engine : GetEngines(job))
    {
      const auto result = ComputeJob<double>(job, engine);
      if (result.empty())
      {
        continue;
      }
      std::size_t voxel = 0;
      for (std::int64_t i = 0; i < size[0] * size[1] * size[2]; ++i, ++voxel)
      {
        const Triple position = GetPosition(i, size);
        for (std::size_t f = 0; f < job.features.size(); ++f)
        {
          const double      actual = result[voxel * job.features.size() + f];
          const long double scale = IsCount(job.features[f]) ? factor : 1.0L;
          const long double expected =
            levels(position) == 0 ? 0.0L : scale * GetExpected(job, levels, window, position, weights, f);
          if (std::isnan(expected))
          {
            EXPECT_TRUE(std::isnan(actual)) << f << " of voxel " << i << ": " << actual;
            continue;
          }
          const long double tolerance =
            scale * GetTolerance(job.features[f], numberOfGrayLevels) + 1e-13L * std::fabs(expected);
          const bool agrees = Print(job.features[f]) == "InformationalMeasureOfCorrelation2"
                                ? std::fabs(actual * actual - expected * expected) < 1e-11L
                                : std::fabs(static_cast<long double>(actual) - expected) <= tolerance;
          ASSERT_TRUE(agrees) << engine.name << ", " << job.features[f] << " of voxel " << i << " is " << actual
                              << ", but must be " << static_cast<double>(expected);
        }
      }
    }
  }
}

TYPED_TEST(WeightedMatrices, AllEnginesGiveTheSameBits)
{
  for (std::uint64_t seed = 0; seed < 60 && !::testing::Test::HasFailure(); ++seed)
  {
    SCOPED_TRACE(seed);
    RandomNumbers            random(seed);
    const Triple             size{ { random.Between(1, 12), random.Between(1, 7), random.Between(1, 5) } };
    WeightedNoise<TypeParam> noise(size, static_cast<std::uint32_t>(random.OneOf<int>({ 1, 4, 30, 512, 65535 })));
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      noise.job.windowSize[axis] = random.Between(1, 7);
      noise.job.windowAnchor[axis] = random.Below(noise.job.windowSize[axis]);
    }
    if constexpr (std::is_same<TypeParam, CooccurrenceJob>::value)
    {
      noise.job.symmetric = random.Chance(0.6);
    }
    else
    {
      noise.job.skipDirectionsWithoutPairs = random.Chance(0.5);
    }
    CheckAllEngines<double>(
      noise.job, random, [](const std::vector<double> & result, double) { return !result.empty(); });
  }
}

TYPED_TEST(WeightedMatrices, CommonPowerOfTwoDoesNotChangeBits)
{
  WeightedNoise<TypeParam> noise(Triple{ { 9, 6, 4 } });
  auto &                   features = noise.job.features;
  for (std::size_t f = features.size(); f-- > 0;)
  {
    if (IsCount(features[f]))
    {
      features.erase(features.begin() + static_cast<std::ptrdiff_t>(f));
    }
  }
  const auto expected = ComputeJob<double>(noise.job);
  for (const double factor : { 0x1p-700, 0.25, 0x1p300 })
  {
    auto job = noise.job;
    std::for_each(job.offsetWeights.begin(), job.offsetWeights.end(), [factor](double & weight) { weight *= factor; });
    EXPECT_TRUE(HasSameBits(expected, ComputeJob<double>(job))) << factor;
  }
}

TYPED_TEST(WeightedMatrices, WorkersRegionsAndSelectionsDoNotChangeBits)
{
  CheckWorkers(WeightedNoise<TypeParam>(Triple{ { 40, 11, 5 } }).job);
  CheckRegions(WeightedNoise<TypeParam>(Triple{ { 13, 7, 5 } }).job);
  CheckSelection(WeightedNoise<TypeParam>(Triple{ { 60, 5, 2 } }).job);
  CheckFeaturesAlone(WeightedNoise<TypeParam>(Triple{ { 11, 6, 3 } }).job);
  CheckProgressException(WeightedNoise<TypeParam>(Triple{ { 150, 150, 10 } }).job);
}

TYPED_TEST(WeightedMatrices, RefusesInvalidJobs)
{
  const WeightedNoise<TypeParam> noise(Triple{ { 4, 3, 1 } });
  auto                           job = noise.job;
  job.offsetWeights.pop_back();
  ExpectRefusal(job, { "12", "OffsetWeights", "offsets", "13" });
  for (const double weight : { -1.0, 1e101, std::numeric_limits<double>::quiet_NaN() })
  {
    job = noise.job;
    job.offsetWeights[3] = weight;
    ExpectRefusal(job, { "OffsetWeights", "0", "1e100" });
  }
  job = noise.job;
  job.aggregation = TypeParam::Aggregation::Average;
  ExpectRefusal(job, { "OffsetWeights", "Merge" });

  job = noise.job;
  job.windowSize = { { 27, 19, 1 } };
  job.windowAnchor = { { 13, 9, 0 } };
  job.numberOfGrayLevels = 512;
  EXPECT_NO_THROW(ComputeJob<float>(job));
  job.numberOfGrayLevels = 513;
  ExpectRefusal(job, { "513", "OffsetWeights", "512" });
}

TEST(Log2, IsAccurate)
{
  EXPECT_EQ(0.0, voxelmaps::Log2(1.0));
  RandomNumbers random(11);
  for (int i = 0; i < 200000; ++i)
  {
    const double      mantissa = 1.0 + static_cast<double>(random.Below(std::int64_t{ 1 } << 52)) * 0x1p-52;
    const double      x = std::ldexp(mantissa, static_cast<int>(random.OneOf<int>({ -1, 0, -7, -1022, 1023 })));
    const long double expected = std::log2(static_cast<long double>(x));
    ASSERT_LE(std::fabs(voxelmaps::Log2(x) - expected), 0x1p-50L * std::fabs(expected)) << x;
  }
}
