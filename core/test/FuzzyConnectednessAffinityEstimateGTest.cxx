// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRandomCase.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include <gtest/gtest.h>

#include <cmath>
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

// The golden cases have the estimates of random images.
TEST(FuzzyConnectednessAffinityEstimate, DoesNotDependOnWorkersAndTheOrderOfSeeds)
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
    random.Shuffle(job.seeds);
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
