// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRandomCase.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace
{
using Job = voxelmaps::FuzzyConnectednessJob;
using PixelType = Job::PixelType;
using AffinityFunction = Job::AffinityFunction;
using FuzzyConnectednessOracle::Scene;
using namespace VoxelMapsTest;
using Vector = std::vector<double>;

/** Sums of vectors, of their products, and their number. */
struct Moments
{
  explicit Moments(std::size_t n)
    : sums(n, 0.0)
    , products(n * n, 0.0)
  {}

  void
  Add(const Vector & vector)
  {
    for (std::size_t i = 0; i < vector.size(); ++i)
    {
      sums[i] += vector[i];
      for (std::size_t j = 0; j < vector.size(); ++j)
      {
        products[i * vector.size() + j] += vector[i] * vector[j];
      }
    }
    ++count;
  }

  void
  Add(const Moments & other)
  {
    std::transform(sums.begin(), sums.end(), other.sums.begin(), sums.begin(), std::plus<>());
    std::transform(products.begin(), products.end(), other.products.begin(), products.begin(), std::plus<>());
    count += other.count;
  }

  Vector
  GetCovariance(bool hasMean) const
  {
    Vector covariance(products);
    for (std::size_t i = 0; i < products.size(); ++i)
    {
      const double meanProduct = hasMean ? sums[i / sums.size()] * sums[i % sums.size()] / count : 0.0;
      covariance[i] = (products[i] - meanProduct) / count;
    }
    return covariance;
  }

  Vector sums;
  Vector products;
  double count{ 0.0 };
};

/** The documented estimate with flags for all voxels of the image, in which the object grows until nothing changes. */
struct Expected
{
  Expected(const Scene & scene, std::int64_t radius)
    : n(std::max(scene.components, 1u))
    , contrasts(n, 0.0)
    , object(n)
    , differences(n)
    , others(n)
  {
    const bool                isSum = scene.affinityFunction == AffinityFunction::WeightedSum;
    std::vector<std::int64_t> seeds(scene.seeds);
    std::sort(seeds.begin(), seeds.end());
    seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
    const auto getVector = [&](std::int64_t voxel) {
      const auto first = scene.intensities.begin() + voxel * static_cast<std::int64_t>(n);
      return Vector(first, first + static_cast<std::int64_t>(n));
    };
    const auto getPlace = [&scene](std::int64_t voxel) { return GetPosition(voxel, scene.size); };
    const auto isFinite = [&](std::int64_t voxel) {
      const Vector vector = getVector(voxel);
      return std::all_of(vector.begin(), vector.end(), [](double each) { return std::isfinite(each); });
    };
    Vector origin(n, 0.0);
    for (auto seed = seeds.rbegin(); seed != seeds.rend(); ++seed)
    {
      origin = isFinite(*seed) ? getVector(*seed) : origin;
    }
    const auto subtract = [](Vector a, const Vector & b) {
      std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::minus<>());
      return a;
    };
    for (const std::int64_t seed : seeds)
    {
      std::vector<std::int64_t> box;
      for (std::int64_t voxel = 0; voxel < scene.GetNumberOfVoxels(); ++voxel)
      {
        bool isNear = (scene.mask.empty() || scene.mask[voxel] != 0) && isFinite(voxel);
        for (int d = 0; d < 3; ++d)
        {
          isNear = isNear && std::abs(getPlace(voxel)[d] - getPlace(seed)[d]) <= radius;
        }
        if (isNear)
        {
          box.push_back(voxel);
        }
      }
      if (std::count(box.begin(), box.end(), seed) == 0)
      {
        continue;
      }
      std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
      for (const std::int64_t voxel : box)
      {
        std::int64_t stride = 1;
        for (int d = 0; d < 3; ++d)
        {
          if (getPlace(voxel)[d] + 1 < scene.size[d] && std::binary_search(box.begin(), box.end(), voxel + stride))
          {
            pairs.emplace_back(voxel, voxel + stride);
          }
          stride *= scene.size[d];
        }
      }
      Vector medians(n, 0.0);
      for (std::size_t i = 0; i < n; ++i)
      {
        Vector steps;
        for (const auto & pair : pairs)
        {
          steps.push_back(
            std::abs(subtract(getVector(pair.first), origin)[i] - subtract(getVector(pair.second), origin)[i]));
        }
        steps.erase(std::remove(steps.begin(), steps.end(), 0.0), steps.end());
        std::sort(steps.begin(), steps.end());
        medians[i] = steps.empty() ? 0.0 : steps[(steps.size() - 1) / 2];
      }
      std::vector<bool> isObject(static_cast<std::size_t>(scene.GetNumberOfVoxels()), false);
      isObject[seed] = true;
      const auto isClose = [&](std::int64_t voxel, const Vector & to, double most) {
        const Vector difference = subtract(subtract(getVector(voxel), origin), to);
        double       squares = 0.0;
        for (std::size_t i = 0; i < n; ++i)
        {
          squares += medians[i] == 0.0 ? 0.0 : difference[i] / medians[i] * (difference[i] / medians[i]);
        }
        return squares <= most * most * static_cast<double>(n);
      };
      const auto grow = [&](std::int64_t from, std::int64_t to) {
        const bool grows = isObject[from] && !isObject[to] && isClose(to, subtract(getVector(seed), origin), 2.0);
        isObject[to] = isObject[to] || grows;
        return grows;
      };
      for (bool hasGrown = true; hasGrown;)
      {
        hasGrown = false;
        for (const auto & pair : pairs)
        {
          hasGrown = grow(pair.first, pair.second) || grow(pair.second, pair.first) || hasGrown;
        }
      }
      const auto measure = [&] {
        Moments moments(n);
        for (const std::int64_t voxel : box)
        {
          if (isObject[voxel])
          {
            moments.Add(subtract(getVector(voxel), origin));
          }
        }
        return moments;
      };
      Moments inBox = measure();
      Vector  mean(inBox.sums);
      for (double & each : mean)
      {
        each /= inBox.count;
      }
      const auto different = std::count_if(
        box.begin(), box.end(), [&](std::int64_t voxel) { return !isObject[voxel] && !isClose(voxel, mean, 3.0); });
      Moments inBoxOthers(n);
      Vector  ofBox(n, 0.0);
      for (const std::int64_t voxel : box)
      {
        const Vector vector = subtract(getVector(voxel), origin);
        if (10 * different < static_cast<std::int64_t>(box.size()))
        {
          isObject[voxel] = isObject[voxel] || isClose(voxel, mean, 3.0);
        }
        else if (!isObject[voxel])
        {
          inBoxOthers.Add(vector);
          for (std::size_t i = 0; i < n; ++i)
          {
            ofBox[i] += std::abs(vector[i] - mean[i]);
          }
        }
      }
      inBox = measure();
      Moments inBoxDifferences(n);
      for (const auto & pair : pairs)
      {
        if (isObject[pair.first] && isObject[pair.second])
        {
          Vector difference =
            subtract(subtract(getVector(pair.first), origin), subtract(getVector(pair.second), origin));
          for (double & each : difference)
          {
            each = isSum ? std::abs(each) : each / 2.0;
          }
          inBoxDifferences.Add(difference);
        }
      }
      object.Add(inBox);
      differences.Add(inBoxDifferences);
      others.Add(inBoxOthers);
      std::transform(contrasts.begin(), contrasts.end(), ofBox.begin(), contrasts.begin(), std::plus<>());
    }
    affinity.objectMean = object.sums;
    affinity.objectCovariance = object.GetCovariance(true);
    affinity.differenceMean.assign(n, 0.0);
    affinity.differenceCovariance = differences.count > 0.0 ? differences.GetCovariance(isSum) : Vector(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
    {
      affinity.objectMean[i] = object.sums[i] / object.count + origin[i];
      affinity.differenceMean[i] = isSum && differences.count > 0.0 ? differences.sums[i] / differences.count : 0.0;
      contrasts[i] = others.count > 0.0 ? contrasts[i] / others.count : 0.0;
    }
    for (std::size_t i = 0; i < n && others.count > 0.0; ++i)
    {
      const double mean = object.sums[i] / object.count;
      const double squares =
        others.products[i * n + i] / others.count - 2.0 * mean * (others.sums[i] / others.count) + mean * mean;
      mayLeak = mayLeak && squares < 4.0 * affinity.objectCovariance[i * n + i];
    }
    mayLeak = mayLeak && others.count > 0.0 && scene.affinityFunction != AffinityFunction::Homogeneity;
    const auto widen = [this](Vector & covariance, std::size_t i, double deviation) {
      const double least = deviation > 0.0 ? deviation * deviation * 0.72134752044448170 : 0.0;
      const double variance = covariance[i * n + i];
      if (variance < least)
      {
        factors[i] = variance > 0.0 ? std::sqrt(least / variance) : 1.0;
        covariance[i * n + i] = least;
      }
    };
    for (Vector * const covariance : { &affinity.objectCovariance, &affinity.differenceCovariance })
    {
      factors.assign(n, 1.0);
      for (std::size_t i = 0; i < n; ++i)
      {
        const bool isObject = covariance == &affinity.objectCovariance;
        widen(*covariance,
              i,
              isObject ? contrasts[i] / 2.0
              : isSum  ? contrasts[i] / 2.0 - affinity.differenceMean[i]
                       : contrasts[i] / 4.0);
      }
      for (std::size_t k = 0; k < n * n; ++k)
      {
        (*covariance)[k] *= k / n == k % n ? 1.0 : factors[k / n] * factors[k % n];
      }
    }
  }

  const std::size_t                     n;
  Vector                                contrasts;
  Vector                                factors;
  bool                                  mayLeak{ true };
  Moments                               object;
  Moments                               differences;
  Moments                               others;
  voxelmaps::FuzzyConnectednessAffinity affinity;
};

voxelmaps::AffinityEstimate
Estimate(const Scene & scene, unsigned int radius, PixelType type = PixelType::Double)
{
  const auto randomCase = MakeFuzzyConnectednessCase(scene, type);
  const Job  job = MakeFuzzyConnectednessJob(randomCase);
  return voxelmaps::EstimateAffinity(job, { scene.affinityFunction, radius }, {});
}

/** A tube along z of a radius around the middle, with noise of a standard deviation of about 10, and a contrast to what
 * is around it. */
Scene
MakeTube(double radius, double contrast)
{
  RandomNumbers random(4);
  Scene         scene;
  scene.size = { { 21, 21, 21 } };
  for (std::int64_t voxel = 0; voxel < scene.GetNumberOfVoxels(); ++voxel)
  {
    double noise = 0.0;
    for (int i = 0; i < 12; ++i)
    {
      noise += static_cast<double>(random.Between(-10, 10)) / 2.1;
    }
    const bool isInside = std::hypot(voxel % 21 - 10, voxel / 21 % 21 - 10) <= radius;
    scene.intensities.push_back(std::floor(100.0 + noise + (isInside ? contrast : 0.0)));
  }
  return scene;
}

std::int64_t
GetVoxel(std::int64_t x, std::int64_t y, std::int64_t z)
{
  return (z * 21 + y) * 21 + x;
}
} // namespace

TEST(FuzzyConnectednessAffinityEstimate, EqualsTheBruteForceEstimate)
{
  int          estimates = 0;
  int          warnings = 0;
  std::int64_t most = 0;
  for (std::uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed)
  {
    RandomNumbers random(1811 + seed);
    const auto    type =
      random.OneOf<PixelType>({ PixelType::UInt8, PixelType::Int16, PixelType::Float, PixelType::Double });
    auto randomCase = DrawFuzzyConnectednessRandomCase(seed, seed % 2 == 0 ? 2 : 3, type, random);
    if (random.Chance(0.4))
    {
      MakeVectors(randomCase, static_cast<unsigned int>(random.OneOf<std::int64_t>({ 1, 2, 3, 16 })), random);
    }
    const Scene & scene = randomCase.scene;
    // AbsoluteDifference has no affinity to estimate.
    if (scene.GetNumberOfVoxels() > 3000 || scene.seeds.size() > 63 ||
        scene.affinityFunction == AffinityFunction::AbsoluteDifference)
    {
      continue;
    }
    SCOPED_TRACE(::testing::Message() << randomCase);
    const auto                  radius = static_cast<unsigned int>(random.Chance(0.05) ? 20 : random.Below(4));
    Job                         job = MakeFuzzyConnectednessJob(randomCase);
    const Expected              expected(scene, radius);
    voxelmaps::AffinityEstimate estimate;
    // Constant surroundings, and those of one voxel.
    const std::string error =
      GetErrorMessage([&] { estimate = voxelmaps::EstimateAffinity(job, { scene.affinityFunction, radius }, {}); });
    if (error != "no error")
    {
      EXPECT_NE(std::string::npos, error.find("cannot be estimated")) << error;
      continue;
    }
    ASSERT_EQ(expected.object.count, static_cast<double>(estimate.numberOfVoxels));
    ASSERT_EQ(expected.affinity.objectMean, estimate.affinity.objectMean);
    ASSERT_EQ(expected.affinity.objectCovariance, estimate.affinity.objectCovariance);
    ASSERT_EQ(expected.affinity.differenceMean, estimate.affinity.differenceMean);
    ASSERT_EQ(expected.affinity.differenceCovariance, estimate.affinity.differenceCovariance);
    ASSERT_EQ(expected.mayLeak, !estimate.warning.empty()) << estimate.warning;
    ++estimates;
    warnings += estimate.warning.empty() ? 0 : 1;
    most = std::max(most, estimate.numberOfVoxels);

    // The order of the seeds and the number of workers do not matter.
    random.Shuffle(job.seeds);
    job.execution.numberOfWorkers = 3;
    job.execution.parallelFor = RunThreads;
    ASSERT_EQ(estimate.affinity,
              voxelmaps::EstimateAffinity(job, { scene.affinityFunction, radius }, job.execution).affinity);
  }
  EXPECT_GT(estimates, 150);
  EXPECT_GT(warnings, 10);
  EXPECT_GT(most, 300);
}

TEST(FuzzyConnectednessAffinityEstimate, WorkersShareManySeeds)
{
  Scene         scene = MakeTube(4.0, 90.0);
  RandomNumbers random(3);
  for (int i = 0; i < 3000; ++i)
  {
    scene.seeds.push_back(random.Below(scene.GetNumberOfVoxels()));
  }
  const auto randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Float);
  Job        job = MakeFuzzyConnectednessJob(randomCase);
  const auto expected = voxelmaps::EstimateAffinity(job, {}, {});
  job.execution.parallelFor = RunThreads;
  for (const unsigned int workers : { 2u, 7u })
  {
    job.execution.numberOfWorkers = workers;
    EXPECT_EQ(expected.affinity, voxelmaps::EstimateAffinity(job, {}, job.execution).affinity);
  }
  // Boxes of all voxels, for some of the seeds.
  const auto whole = voxelmaps::EstimateAffinity(job, { job.affinityFunction, 100 }, job.execution);
  EXPECT_LE(whole.numberOfVoxels, 8 * scene.GetNumberOfVoxels());
  EXPECT_GT(voxelmaps::EstimateAffinity(job, { job.affinityFunction, 4294967295 }, job.execution).numberOfVoxels, 0);
}

TEST(FuzzyConnectednessAffinityEstimate, HoldsForThinObjects)
{
  for (const double radius : { 1.0, 1.5, 2.0, 20.0 })
  {
    SCOPED_TRACE(radius);
    Scene scene = MakeTube(radius, 90.0);
    scene.seeds = { GetVoxel(10, 10, 4), GetVoxel(10, 10, 10), GetVoxel(10, 10, 16) };
    const auto estimate = Estimate(scene, 2);
    EXPECT_EQ("", estimate.warning);
    EXPECT_NEAR(190.0, estimate.affinity.objectMean[0], 8.0);
    // Noise where the box is in the object, and else up to 90 / (2 sqrt(2 ln 2)) = 38.
    EXPECT_GT(std::sqrt(estimate.affinity.objectCovariance[0]), radius > 4.0 ? 8.0 : 30.0);
    EXPECT_LT(std::sqrt(estimate.affinity.objectCovariance[0]), radius > 4.0 ? 11.0 : 42.0);

    // The object is the tube, whichever seed is in it.
    scene.affinity = estimate.affinity;
    for (const std::int64_t seed : { GetVoxel(10, 10, 2), GetVoxel(10, 10, 15) })
    {
      scene.seeds = { seed };
      const auto randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
      const Job  job = MakeFuzzyConnectednessJob(randomCase);
      const auto strengths = ConvertToStrengths<double>(job, FuzzyConnectednessOracle::ComputeKeys(scene));
      int        wrong = 0;
      for (std::int64_t voxel = 0; voxel < scene.GetNumberOfVoxels() && radius < 5.0; ++voxel)
      {
        const bool isInside = std::hypot(voxel % 21 - 10, voxel / 21 % 21 - 10) <= radius;
        wrong += isInside != (strengths[voxel] >= 0.4) ? 1 : 0;
      }
      EXPECT_LE(wrong, 5);
    }
  }
}

TEST(FuzzyConnectednessAffinityEstimate, WarnsIfTheSpreadExceedsTheContrast)
{
  Scene scene = MakeTube(2.0, 90.0);
  scene.seeds = { GetVoxel(10, 10, 4), GetVoxel(10, 10, 16) };
  EXPECT_EQ("", Estimate(scene, 2).warning);
  // One of the seeds is in the surroundings.
  scene.seeds.push_back(GetVoxel(3, 3, 10));
  EXPECT_EQ(0u, Estimate(scene, 2).warning.find("The object may leak: the intensities that the seeds suggest for it"));
  // Homogeneity does not depend on the intensities of the object.
  scene.affinityFunction = AffinityFunction::Homogeneity;
  EXPECT_EQ("", Estimate(scene, 2).warning);
}

TEST(FuzzyConnectednessAffinityEstimate, RefusesWhatHasNoEstimate)
{
  Scene scene;
  scene.size = { { 4, 3, 1 } };
  scene.intensities.assign(12, 7.0);
  for (const std::int64_t seed : { INT64_C(-1), INT64_C(12), INT64_MAX, INT64_MIN })
  {
    scene.seeds = { 3, seed };
    EXPECT_NE("no error", GetErrorMessage([&] { Estimate(scene, 2); })) << seed;
  }
  scene.seeds = { 3 };
  EXPECT_EQ(
    "The affinity cannot be estimated from the 6 voxels of the object in boxes of radius 1 around the seeds. The "
    "object variance of the estimate has the value 0, but must be positive and finite, from "
    "1e-299 to 1e+307. Increase the radius, or set the affinity.",
    GetErrorMessage([&] {
      scene.seeds = { 1 };
      Estimate(scene, 1);
    }));
  // Without voxels: no seed, or one that is not finite.
  scene.seeds.clear();
  EXPECT_NE(std::string::npos, GetErrorMessage([&] { Estimate(scene, 2); }).find("the 0 voxels"));
  scene.seeds = { 0 };
  scene.intensities[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(std::string::npos, GetErrorMessage([&] { Estimate(scene, 2); }).find("the 0 voxels"));
  // Nothing to estimate.
  scene.affinityFunction = AffinityFunction::AbsoluteDifference;
  EXPECT_EQ("no error", GetErrorMessage([&] { Estimate(scene, 2); }));
}
