// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessJobChecks.h"

#include <cmath>
#include <limits>

namespace
{
using Job = voxelmaps::FuzzyConnectednessJob;
using PixelType = Job::PixelType;
using AffinityFunction = Job::AffinityFunction;
using FuzzyConnectednessOracle::Scene;
using namespace VoxelMapsTest;

/** A case of so many components, of any affinity function. */
FuzzyConnectednessRandomCase
DrawVectorCase(std::uint64_t seed, unsigned int dimension, PixelType type, unsigned int components,
               RandomNumbers & random)
{
  auto randomCase = DrawFuzzyConnectednessRandomCase(seed, dimension, type, random);
  MakeVectors(randomCase, components, random);
  return randomCase;
}

unsigned int
DrawComponents(RandomNumbers & random)
{
  return static_cast<unsigned int>(random.OneOf<std::int64_t>({ 1, 2, 3, 3, 4, random.Between(5, 16), 16 }));
}

class VectorFuzzyConnectednessRandom : public ::testing::TestWithParam<PixelType>
{};
} // namespace

TEST_P(VectorFuzzyConnectednessRandom, EqualsTheOracle)
{
  // All numbers of components, and one, which must give the keys of scalars, with all affinity functions.
  for (std::uint64_t i = 0; i < 33; ++i)
  {
    const std::uint64_t seed = 910000 + 100 * static_cast<std::uint64_t>(GetParam()) + i;
    RandomNumbers       random(seed);
    const auto          components = i < 16 ? static_cast<unsigned int>(i + 1) : i < 21 ? 1 : DrawComponents(random);
    const auto          randomCase = DrawVectorCase(seed, i % 2 == 0 ? 2 : 3, GetParam(), components, random);
    SCOPED_TRACE(::testing::Message() << randomCase);
    CheckFuzzyConnectednessCase(randomCase, random);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(AllPixelTypes, VectorFuzzyConnectednessRandom, ::testing::ValuesIn(allPixelTypes),
                         PixelTypeName);

TEST(VectorFuzzyConnectednessJob, RefusesInvalidJobs)
{
  Scene scene;
  scene.size = { { 2, 1, 1 } };
  scene.components = 3;
  scene.intensities = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 };
  scene.affinity = { { 1.0, 1.0, 1.0 }, { 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 4.0 }, { 0.0, 0.0, 0.0 }, { 1.0 } };
  scene.affinity.differenceCovariance = scene.affinity.objectCovariance;
  scene.seeds = { 0 };
  const auto randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Float);
  const auto getError = [&](const auto & change) {
    Job job = MakeFuzzyConnectednessJob(randomCase);
    job.affinityFunction = AffinityFunction::WeightedSum;
    change(job);
    std::vector<float> output(2);
    job.output = output.data();
    return GetErrorMessage([&job] { voxelmaps::ComputeFuzzyConnectedness(job); });
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ("no error", getError([](Job &) {}));
  EXPECT_EQ("A job has a number of components of 17, but it must be at most 16.",
            getError([](Job & job) { job.numberOfComponents = 17; }));
  EXPECT_EQ("The object mean of the affinity has 2 elements, but voxels of 3 components need 3.",
            getError([](Job & job) { job.affinity.objectMean.resize(2); }));
  EXPECT_EQ("The difference mean of the affinity has 1 elements, but voxels of 3 components need 3.",
            getError([](Job & job) { job.affinity.differenceMean.resize(1); }));
  EXPECT_EQ("The object mean of the affinity has the value nan, but must be finite, from -8.9e+307 to 8.9e+307.",
            getError([](Job & job) { job.affinity.objectMean[1] = nan; }));
  EXPECT_EQ("The difference covariance of the affinity has 4 elements, but voxels of 3 components need 9.",
            getError([](Job & job) { job.affinity.differenceCovariance.resize(4); }));
  EXPECT_EQ(
    "The object covariance of the affinity has the variance 0 of component 1, but must be positive and finite, from "
    "1e-299 to 1e+307.",
    getError([](Job & job) { job.affinity.objectCovariance[4] = 0.0; }));
  EXPECT_EQ("The object covariance of the affinity has the elements 0 in row 1, column 0, and 1 in row 0, column 1, "
            "but a covariance "
            "matrix must be symmetric and finite.",
            getError([](Job & job) { job.affinity.objectCovariance[1] = 1.0; }));
  EXPECT_EQ(
    "The difference covariance of the affinity has the elements nan in row 1, column 0, and nan in row 0, column 1, "
    "but a "
    "covariance matrix must be symmetric and finite.",
    getError([](Job & job) { job.affinity.differenceCovariance[1] = job.affinity.differenceCovariance[3] = nan; }));
  // Component 2 is the sum of the others.
  EXPECT_EQ(
    "The object covariance of the affinity is not positive definite: of the variance 5 of component 2, 0 is left if "
    "the "
    "components before it are known, but at least 1e-12 of the variance must be: no component may be constant or "
    "depend linearly on others.",
    getError([](Job & job) { job.affinity.objectCovariance = { 2.0, 0.0, 2.0, 0.0, 3.0, 3.0, 2.0, 3.0, 5.0 }; }));
  EXPECT_EQ(
    "The difference covariance of the affinity is not positive definite: of the variance 1 of component 1, -3 is left "
    "if the "
    "components before it are known, but at least 1e-12 of the variance must be: no component may be constant or "
    "depend linearly on others.",
    getError([](Job & job) { job.affinity.differenceCovariance = { 1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0 }; }));
  // What the function does not use may be empty, and a difference mean of 0.
  EXPECT_EQ("no error", getError([](Job & job) { job.affinity.differenceMean.clear(); }));
  EXPECT_EQ("no error", getError([](Job & job) {
              job.affinityFunction = AffinityFunction::Homogeneity;
              job.affinity.objectMean.clear();
              job.affinity.objectCovariance.clear();
              job.affinity.differenceMean.clear();
            }));
  EXPECT_EQ("no error", getError([](Job & job) {
              job.affinityFunction = AffinityFunction::AbsoluteDifference;
              job.affinity = {};
            }));
}

TEST(VectorFuzzyConnectednessJob, KeysAreNearTheClosedFormula)
{
  for (std::uint64_t seed = 0; seed < 400; ++seed)
  {
    RandomNumbers random(970000 + seed);
    auto          randomCase = DrawVectorCase(seed, 2, PixelType::UInt8, DrawComponents(random), random);
    Scene &       scene = randomCase.scene;
    SCOPED_TRACE(::testing::Message() << randomCase);
    for (int pair = 0; pair < 20; ++pair)
    {
      const FuzzyConnectednessOracle::Triple step{ { 1, random.Between(-1, 1), 0 } };
      const double * const a = scene.intensities.data() + random.Below(scene.GetNumberOfVoxels()) * scene.components;
      const double * const b = scene.intensities.data() + random.Below(scene.GetNumberOfVoxels()) * scene.components;
      const std::uint32_t  key = FuzzyConnectednessOracle::LinkKey(scene, a, b, step);
      const long double    expected = FuzzyConnectednessOracle::ComputeAffinity(scene, a, b, step);
      // Bounds of the rounding of keys: three times 2^-25 of the logarithm, or 2^-31 twice and 2^-30 once of the sum;
      // and of the computation.
      const long double bound =
        scene.affinityFunction == AffinityFunction::WeightedSum ? 0x1.2p-29L : expected * 0x1p-23L + 1e-55L;
      ASSERT_LE(std::abs(FuzzyConnectednessOracle::KeyStrength(scene, key) - expected), bound);
    }
  }
}
