// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessJobChecks.h"

#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using Job = voxelmaps::FuzzyConnectednessJob;
using AffinityFunction = Job::AffinityFunction;
using Adjacency = Job::Adjacency;
using PixelType = Job::PixelType;
using Keys = std::vector<std::uint32_t>;
using FuzzyConnectednessOracle::Scene;
using FuzzyConnectednessOracle::Triple;
using namespace VoxelMapsTest;
namespace Oracle = FuzzyConnectednessOracle;
using Options = voxelmaps::CudaFuzzyConnectednessOptions;
using Report = voxelmaps::CudaFuzzyConnectednessReport;

const std::vector<AffinityFunction> allAffinityFunctions = voxelmaps::GetEnumerators<AffinityFunction>();

class FuzzyConnectednessRandom : public ::testing::TestWithParam<PixelType>
{
public:
  /** Every affinity function with every adjacency eight times. */
  static void
  CheckCases(unsigned int dimension, std::uint64_t firstSeed)
  {
    for (std::uint64_t i = 0; i < 120; ++i)
    {
      const std::uint64_t seed = firstSeed + 100 * static_cast<std::uint64_t>(GetParam()) * 12 + i;
      RandomNumbers       random(seed);
      const auto          randomCase = DrawFuzzyConnectednessRandomCase(seed, dimension, GetParam(), random);
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckFuzzyConnectednessCase(randomCase, random);
      ASSERT_FALSE(HasFailure());
    }
  }
};
} // namespace

TEST_P(FuzzyConnectednessRandom, EqualsTheOracleIn2D)
{
  CheckCases(2, 1000000);
}

TEST_P(FuzzyConnectednessRandom, EqualsTheOracleIn3D)
{
  CheckCases(3, 2000004);
}

INSTANTIATE_TEST_SUITE_P(PixelTypes, FuzzyConnectednessRandom, ::testing::ValuesIn(allPixelTypes), PixelTypeName);

TEST(FuzzyConnectednessJob, SerpentineOfHundredThousandVoxels)
{
  for (const Triple & size : { Triple{ { 401, 501, 1 } }, Triple{ { 61, 61, 105 } } })
  {
    const auto path = MakeSerpentine(size);
    ASSERT_GE(path.size(), 100000u);
    for (const bool wallsAreMasked : { false, true })
    {
      Scene scene = MakePathScene(size, path);
      if (wallsAreMasked)
      {
        scene.mask.assign(scene.intensities.size(), 0);
        for (const std::int64_t voxel : path)
        {
          scene.mask[static_cast<std::size_t>(voxel)] = 1;
        }
        std::transform(scene.mask.begin(),
                       scene.mask.end(),
                       scene.intensities.begin(),
                       scene.intensities.begin(),
                       std::multiplies<double>());
      }
      const Keys expected = Oracle::ComputeKeys(scene);
      ASSERT_NE(Oracle::notReached, expected[static_cast<std::size_t>(path.back())]);
      ExpectKeys(expected, scene, PixelType::Int16);
    }
  }
}

TEST(FuzzyConnectednessJob, StrengthsOfKeys)
{
  RandomNumbers random(31);
  Keys          keys{ Oracle::notReached, 1, 2, Oracle::fullAffinity - 1, Oracle::fullAffinity, Oracle::seedKey };
  for (int i = 0; i < 200000; ++i)
  {
    keys.push_back(static_cast<std::uint32_t>(random.Below(Oracle::seedKey)));
    // Most strengths in practice are greater than exp(-8).
    keys.push_back(Oracle::fullAffinity - static_cast<std::uint32_t>(random.Below(1 << 27)));
  }
  std::sort(keys.begin(), keys.end());
  Job job;
  for (const AffinityFunction affinityFunction : allAffinityFunctions)
  {
    job.affinityFunction = affinityFunction;
    Scene scene;
    scene.affinityFunction = affinityFunction;
    const bool isSum = affinityFunction == AffinityFunction::WeightedSum;
    const bool isDifference = affinityFunction == AffinityFunction::AbsoluteDifference;
    if (isSum)
    {
      // Except for seeds, keys of sums are at most 2^30.
      keys.erase(std::remove_if(keys.begin(),
                                keys.end(),
                                [](std::uint32_t key) { return key > (1u << 30) && key != Oracle::seedKey; }),
                 keys.end());
    }
    const auto  doubles = ConvertToStrengths<double>(job, keys);
    const auto  floats = ConvertToStrengths<float>(job, keys);
    std::size_t notNearestDoubles = 0;
    std::size_t notNearestFloats = 0;
    for (std::size_t i = 0; i < keys.size(); ++i)
    {
      const long double expected = Oracle::KeyStrength(scene, keys[i]);
      const auto        nearestDouble = static_cast<double>(expected);
      const auto        nearestFloat = static_cast<float>(expected);
      notNearestDoubles += doubles[i] != nearestDouble ? 1 : 0;
      notNearestFloats += floats[i] != nearestFloat ? 1 : 0;
      // Within two units in the last place of double and one of float.
      ASSERT_LE(std::abs(doubles[i] - nearestDouble), nearestDouble * 0x1p-51) << "key " << keys[i];
      ASSERT_TRUE(floats[i] == nearestFloat || floats[i] == std::nextafter(nearestFloat, 0.0f) ||
                  floats[i] == std::nextafter(nearestFloat, 2.0f))
        << "key " << keys[i];
      ASSERT_EQ(static_cast<float>(doubles[i]), floats[i]);
      if (!isSum && !isDifference && keys[i] != Oracle::notReached && keys[i] != Oracle::seedKey)
      {
        // Bit-identical to the documented series.
        ASSERT_EQ(Oracle::NegativeExponential((Oracle::fullAffinity - keys[i]) * 0x1p-24), doubles[i]);
      }
      if (i > 0)
      {
        // Small differences give the same strength.
        ASSERT_TRUE(keys[i] == keys[i - 1] || doubles[i] > doubles[i - 1] ||
                    (isDifference && doubles[i] == doubles[i - 1]) || (doubles[i] == 1.0 && keys[i] == Oracle::seedKey))
          << "keys " << keys[i - 1] << " and " << keys[i];
      }
    }
    EXPECT_LE(notNearestFloats, isSum ? 0 : keys.size() / 100000);
    EXPECT_LE(notNearestDoubles, isSum ? 0 : keys.size() / 2);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
}

TEST(FuzzyConnectednessJob, OutputHoldsStrengthsOfKeys)
{
  RandomNumbers random(71);
  Scene         scene = MakeNoiseScene({ { 70, 60, 50 } }, 60, random);
  scene.affinity = { { 30.0 }, { 400.0 }, { 0.0 }, { 100.0 } };
  scene.seeds = { 20000, 7 };
  const auto          each = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  Job                 job = MakeFuzzyConnectednessJob(each);
  const Keys          keys = RunFuzzyConnectednessJob(job, "Buckets", 1);
  std::vector<float>  floats(keys.size());
  std::vector<double> doubles(keys.size());
  for (const auto & engine : GetEngines(job))
  {
    job.output = floats.data();
    job.outputIsDouble = false;
    engine.compute(job);
    EXPECT_TRUE(HasSameBits(ConvertToStrengths<float>(job, keys), floats)) << engine.name;
    job.output = doubles.data();
    job.outputIsDouble = true;
    engine.compute(job);
    EXPECT_TRUE(HasSameBits(ConvertToStrengths<double>(job, keys), doubles)) << engine.name;
  }
}

TEST(FuzzyConnectednessJob, ListsTheMethodsThatSupportAJob)
{
  // Only the size, the number of neighbors and the pixels count here, so no image is needed.
  using Names = std::vector<std::string>;
  Job job;
  job.size = { { 100, 100, 100 } };
  EXPECT_EQ((Names{ "Hierarchy", "Buckets", "Queue" }), GetMethods(job));
  job.minimumStrength = 0.5;
  EXPECT_EQ((Names{ "Buckets", "Hierarchy", "Queue" }), GetMethods(job));
  job.execution.numberOfWorkers = 4;
  EXPECT_EQ((Names{ "Hierarchy", "Buckets", "Queue" }), GetMethods(job));
  job.numberOfComponents = 2;
  EXPECT_EQ((Names{ "Hierarchy", "Buckets" }), GetMethods(job));

  // Hierarchy numbers links with 32 bits: 13 per voxel with 26 neighbors, 3 with 6, and 2 with 4.
  job.adjacency = Adjacency::Full;
  job.size = { { 1000, 1000, 330 } };
  EXPECT_EQ((Names{ "Hierarchy", "Buckets" }), GetMethods(job));
  job.size = { { 1000, 1000, 331 } };
  EXPECT_EQ((Names{ "Buckets" }), GetMethods(job));
  job.adjacency = Adjacency::Face;
  EXPECT_EQ((Names{ "Hierarchy", "Buckets" }), GetMethods(job));
  job.size = { { 1000, 1000, 1432 } };
  EXPECT_EQ((Names{ "Buckets" }), GetMethods(job));
  job.size = { { 40000, 40000, 1 } };
  EXPECT_EQ((Names{ "Hierarchy", "Buckets" }), GetMethods(job));
}

TEST(FuzzyConnectednessJob, CountsWhatItReaches)
{
  RandomNumbers random(61);
  Scene         scene = MakeNoiseScene({ { 100, 50, 40 } }, 20, random);
  for (double & intensity : scene.intensities)
  {
    intensity = random.Chance(0.2) ? 10000.0 : intensity;
  }
  scene.seeds = { 0, 100000, 199999 };
  scene.affinity = { { 0.0 }, { 100.0 }, { 0.0 }, { 100.0 } };
  const auto randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  Job        job = MakeFuzzyConnectednessJob(randomCase);
  const Keys expected = Oracle::ComputeKeys(randomCase.scene);
  const auto reached = expected.size() - static_cast<std::size_t>(std::count(expected.begin(), expected.end(), 0u));
  ASSERT_LT(reached, expected.size());
  for (const std::string method : { "Buckets", "Hierarchy", "Queue", "" })
  {
    for (const unsigned int workers : { 1u, 8u })
    {
      std::atomic<std::uint64_t> count{ 0 };
      std::atomic<unsigned int>  calls{ 0 };
      job.execution.reportProgress = [&](std::uint64_t voxels) {
        count += voxels;
        ++calls;
      };
      EXPECT_TRUE(AreSameKeys(expected, RunFuzzyConnectednessJob(job, method, workers)));
      // Seeds may or may not be counted. Hierarchy, which Automatic chooses here, works on all voxels.
      const bool onAll = method == "Hierarchy" || method.empty();
      EXPECT_LE(count, onAll ? expected.size() : reached);
      EXPECT_GE(count, reached - 3);
      EXPECT_GE(calls, 2u);
    }
  }
}

TEST(FuzzyConnectednessJob, EndsEarlyOnRequest)
{
  Scene scene;
  scene.size = { { 200, 100, 40 } };
  scene.intensities.assign(static_cast<std::size_t>(scene.GetNumberOfVoxels()), 0.0);
  scene.seeds = { 0 };
  const auto randomCase = MakeFuzzyConnectednessCase(scene, PixelType::UInt8);
  Job        job = MakeFuzzyConnectednessJob(randomCase);
  for (const std::string method : { "Buckets", "Hierarchy", "Queue", "" })
  {
    for (const unsigned int workers : { 1u, 8u })
    {
      std::atomic<std::uint64_t> count{ 0 };
      job.execution.reportProgress = [&count](std::uint64_t voxels) {
        count += voxels;
        if (count >= 100000)
        {
          throw std::runtime_error("enough");
        }
      };
      EXPECT_THROW(RunFuzzyConnectednessJob(job, method, workers), std::runtime_error);
      EXPECT_LT(count, 400000u);
    }
  }
}

TEST(FuzzyConnectednessJob, HundredThousandSeeds)
{
  RandomNumbers random(81);
  Scene         scene = MakeNoiseScene({ { 120, 110, 40 } }, 100, random);
  scene.affinity = { { 50.0 }, { 500.0 }, { 0.0 }, { 200.0 } };
  for (int i = 0; i < 100000; ++i)
  {
    scene.seeds.push_back(random.Below(scene.GetNumberOfVoxels()));
  }
  ExpectKeys(Oracle::ComputeKeys(scene), scene, PixelType::UInt8);
}

TEST(FuzzyConnectednessJob, RefusesInvalidJobs)
{
  Scene scene;
  scene.size = { { 4, 3, 1 } };
  scene.intensities.assign(12, 7.0);
  scene.mask.assign(12, 1);
  scene.mask[5] = 0;
  scene.seeds = { 2 };
  const auto         randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Double);
  std::vector<float> strengths(12);
  const auto         expectError = [&](const auto & change, const std::vector<std::string> & words) {
    Job job = MakeFuzzyConnectednessJob(randomCase);
    job.output = strengths.data();
    change(job);
    ExpectEngineError([&job] { voxelmaps::ComputeFuzzyConnectedness(job); }, words);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t seed : { INT64_C(-1), INT64_C(12), INT64_MAX, INT64_MIN })
  {
    expectError([seed](Job & job) { job.seeds.push_back(seed); }, { std::to_string(seed), "not in the image" });
  }
  expectError([](Job & job) { job.seeds = { 2, 5 }; }, { "voxel 5", "outside the mask" });
  expectError([](Job & job) { job.size[1] = -3; }, { "-3", "negative" });
  expectError([](Job & job) { job.size = { { INT64_MAX, INT64_MAX, 0 } }; }, { "2", "voxels" });
  expectError([](Job & job) { job.pixelType = static_cast<PixelType>(8); }, { "8", "pixel type" });
  expectError([](Job & job) { job.affinityFunction = static_cast<AffinityFunction>(5); }, { "5", "affinity function" });
  expectError([](Job & job) { job.adjacency = static_cast<Adjacency>(3); }, { "3", "adjacency" });
  expectError([](Job & job) { job.method = "Tiles"; },
              { "Tiles", "does not exist", "4 x 3 x 1", "Hierarchy", "Queue" });
  expectError(
    [](Job & job) {
      job.method = "Queue";
      job.numberOfComponents = 1;
    },
    { "Queue", "does not support", "1 components", "Hierarchy, Buckets" });
  expectError([](Job & job) { job.affinity = {}; }, { "object mean", "0 elements", "need 1" });
  for (const double value : { nan, infinity, -infinity, 9e307 })
  {
    expectError([value](Job & job) { job.affinity.objectMean = { value }; }, { "object mean", "finite" });
    expectError(
      [value](Job & job) {
        job.affinityFunction = AffinityFunction::WeightedSum;
        job.affinity.differenceMean = { value };
      },
      { "difference mean", "finite" });
  }
  for (const double value : { nan, infinity, 0.0, -1.0, 1e-300, 2e307 })
  {
    expectError([value](Job & job) { job.affinity.objectCovariance = { value }; }, { "object variance", "finite" });
    expectError([value](Job & job) { job.affinity.differenceCovariance = { value }; },
                { "difference variance", "finite" });
  }
  for (const double value : { nan, infinity, -0.01, 1.01 })
  {
    expectError([value](Job & job) { job.weight = value; }, { "Weight", "0 to 1" });
    expectError([value](Job & job) { job.minimumStrength = value; }, { "MinimumStrength", "0 to 1" });
  }
}

// What only the CUDA engine has.
namespace
{

/** Keys of a job on the device. */
Keys
ComputeOnDevice(const Job & job, const std::string & method)
{
  return MakeConnectednessEngine(method, Options{}).computeKeys(job);
}

class CudaFuzzyConnectednessJob : public CudaTest
{};
} // namespace

// Small enough for compute-sanitizer.
TEST_F(CudaFuzzyConnectednessJob, SmallCases)
{
  RandomNumbers random(61);
  for (const PixelType type : { PixelType::UInt8, PixelType::Float, PixelType::Double })
  {
    for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
    {
      Scene scene = MakeNoiseScene({ { 21, 18, 17 } }, 30, random);
      scene.adjacency = adjacency;
      for (std::int64_t i = 0; i < scene.GetNumberOfVoxels(); ++i)
      {
        scene.mask.push_back(i == 2000 || random.Chance(0.9) ? 1 : 0);
      }
      scene.seeds = { 2000 };
      scene.affinity = { { 15.0 }, { 100.0 }, { 0.0 }, { 40.0 } };
      ExpectKeys(Oracle::ComputeKeys(scene), scene, type);
    }
  }
}

TEST_F(CudaFuzzyConnectednessJob, LargerVolumesEqualTheCPU)
{
  RandomNumbers random(71);
  for (int i = 0; i < 36; ++i)
  {
    Scene scene;
    scene.size = { { random.Between(60, 130), random.Between(50, 100), random.Between(30, 60) } };
    scene.affinityFunction = static_cast<AffinityFunction>(i % 5);
    scene.adjacency = static_cast<Adjacency>(i / 4 % 3);
    scene.intensities.resize(static_cast<std::size_t>(scene.GetNumberOfVoxels()));
    const double steps = random.OneOf<double>({ 5.0, 60.0, 2000.0 });
    for (std::size_t voxel = 0; voxel < scene.intensities.size(); ++voxel)
    {
      const double smooth = voxel > 0 ? scene.intensities[voxel - 1] : 0.5 * steps;
      scene.intensities[voxel] = i % 2 == 0 ? static_cast<double>(random.Below(static_cast<std::int64_t>(steps)))
                                            : smooth + static_cast<double>(random.Between(-2, 2));
    }
    scene.affinity = { { 0.5 * steps }, { 0.2 * steps * steps }, { 0.0 }, { 0.1 * steps * steps } };
    scene.distanceWeighting = i % 7 < 2 && scene.affinityFunction != AffinityFunction::AbsoluteDifference;
    for (int n = 0; n < 1 + 10 * (i % 3); ++n)
    {
      scene.seeds.push_back(random.Below(scene.GetNumberOfVoxels()));
    }
    auto each = MakeFuzzyConnectednessCase(scene, i % 3 == 0 ? PixelType::Float : PixelType::Int16);
    if (i % 4 == 3)
    {
      MakeVectors(each, 3, random);
    }
    const Job job = MakeFuzzyConnectednessJob(each);
    SCOPED_TRACE(::testing::Message() << each);
    ExpectKeys(RunFuzzyConnectednessJob(job, "Hierarchy", 4), job);
    const auto         inSlabs = MakeCudaOptions<Options>(BudgetForPlanes(job, 7));
    std::vector<float> strengths(static_cast<std::size_t>(job.GetNumberOfVoxels()));
    Job                withOutput = job;
    withOutput.output = strengths.data();
    EXPECT_GT(voxelmaps::ComputeFuzzyConnectednessCuda(withOutput, inSlabs).numberOfSlabs, 1u);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST_F(CudaFuzzyConnectednessJob, RepeatedRunsGiveTheSameBits)
{
  RandomNumbers random(91);
  Scene         scene = MakeNoiseScene({ { 100, 90, 80 } }, 30, random);
  scene.affinity = { { 15.0 }, { 100.0 }, { 0.0 }, { 40.0 } };
  scene.seeds = { 350000 };
  for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
  {
    scene.adjacency = adjacency;
    const auto each = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
    const Job  job = MakeFuzzyConnectednessJob(each);
    const Keys expected = RunFuzzyConnectednessJob(job, "Buckets", 1);
    for (const std::string method : { "CorrectedKFOE", "Hierarchy" })
    {
      for (int i = 0; i < (method == "CorrectedKFOE" ? 5 : 20); ++i)
      {
        ASSERT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, method))) << method << ", run " << i;
      }
    }
  }
}

TEST_F(CudaFuzzyConnectednessJob, SeveralThreadsAtATime)
{
  RandomNumbers                                              random(101);
  std::vector<std::unique_ptr<FuzzyConnectednessRandomCase>> cases;
  std::vector<Keys>                                          expected;
  for (std::uint64_t i = 0; i < 8; ++i)
  {
    cases.push_back(
      std::make_unique<FuzzyConnectednessRandomCase>(DrawFuzzyConnectednessRandomCase(i, 3, PixelType::Int16, random)));
    expected.push_back(Oracle::ComputeKeys(cases.back()->scene));
  }
  std::vector<Keys> actual(cases.size());
  RunThreads(8, [&](unsigned int i) {
    for (unsigned int n = 0; n < 10; ++n)
    {
      actual[i] = ComputeOnDevice(MakeFuzzyConnectednessJob(*cases[i]), cudaConnectednessMethods[(i + n) % 3]);
    }
  });
  for (std::size_t i = 0; i < cases.size(); ++i)
  {
    EXPECT_TRUE(AreSameKeys(expected[i], actual[i])) << *cases[i];
  }
}

TEST_F(CudaFuzzyConnectednessJob, ReportsMethodAndSlabs)
{
  Scene scene;
  scene.size = { { 64, 64, 64 } };
  scene.intensities.assign(static_cast<std::size_t>(scene.GetNumberOfVoxels()), 1.0);
  scene.seeds = { 0 };
  const auto         each = MakeFuzzyConnectednessCase(scene, PixelType::UInt8);
  Job                job = MakeFuzzyConnectednessJob(each);
  std::vector<float> strengths(scene.intensities.size());
  job.output = strengths.data();
  for (const std::string method : cudaConnectednessMethods)
  {
    std::uint64_t count = 0;
    const auto    caller = std::this_thread::get_id();
    job.execution.reportProgress = [&](std::uint64_t voxels) {
      EXPECT_EQ(caller, std::this_thread::get_id());
      count += voxels;
    };
    job.method = method;
    const Report report = voxelmaps::ComputeFuzzyConnectednessCuda(job, {});
    EXPECT_LE(count, each.scene.intensities.size());
    EXPECT_EQ(method.empty() ? "Hierarchy" : method, report.method);
    EXPECT_EQ(1u, report.numberOfSlabs);
    EXPECT_GT(report.numberOfIterations, 0u);
    EXPECT_GT(report.kernelMilliseconds, 0.0);
    EXPECT_EQ(voxelmaps::CudaDevices::GetName(0), report.deviceName);
    const auto inSlabs = MakeCudaOptions<Options>(BudgetForPlanes(job, 10));
    EXPECT_GT(voxelmaps::ComputeFuzzyConnectednessCuda(job, inSlabs).numberOfSlabs, 1u);
  }
}

TEST_F(CudaFuzzyConnectednessJob, MoreThan2To31Voxels)
{
  if (std::getenv("VOXELMAPS_LARGE_TESTS") == nullptr)
  {
    GTEST_SKIP() << "needs 12 GB of memory: set VOXELMAPS_LARGE_TESTS=1";
  }
  // The steps of intensity between slices grow: the key of a slice is that of the largest step on the way to it.
  Job job;
  job.size = { { 1290, 1290, 1300 } };
  ASSERT_GT(job.GetNumberOfVoxels(), std::int64_t{ 1 } << 31);
  const std::int64_t        planeSize = job.size[0] * job.size[1];
  std::vector<std::uint8_t> image(static_cast<std::size_t>(job.GetNumberOfVoxels()));
  const auto intensity = [](std::int64_t z) { return static_cast<std::uint8_t>(z % 2 == 0 ? 0 : z / 10); };
  for (std::int64_t z = 0; z < job.size[2]; ++z)
  {
    std::fill_n(image.begin() + z * planeSize, planeSize, intensity(z));
  }
  job.image = image.data();
  job.pixelType = PixelType::UInt8;
  job.affinityFunction = AffinityFunction::Homogeneity;
  job.affinity.differenceCovariance = { 100.0 };
  job.seeds = { planeSize / 2 };
  Scene scene;
  scene.affinityFunction = job.affinityFunction;
  scene.affinity = job.affinity;
  Keys keys(image.size());
  for (const std::uint64_t budget : { std::uint64_t{ 0 }, std::uint64_t{ 20 } << 30 })
  {
    std::fill(keys.begin(), keys.end(), 0xdeadbeefu);
    const Report report =
      voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, MakeCudaOptions<Options>(budget), keys.data());
    RecordProperty("slabs", std::to_string(report.numberOfSlabs));
    std::uint32_t expected = Oracle::fullAffinity;
    std::uint64_t wrong = 0;
    for (std::int64_t z = 0; z < job.size[2]; ++z)
    {
      if (z > 0)
      {
        const double before = intensity(z - 1);
        const double here = intensity(z);
        expected = std::min(expected, Oracle::LinkKey(scene, &before, &here, { { 0, 0, 1 } }));
      }
      wrong += static_cast<std::uint64_t>(
        planeSize - std::count(keys.begin() + z * planeSize, keys.begin() + (z + 1) * planeSize, expected));
    }
    // The seed has its own key.
    EXPECT_EQ(1u, wrong) << report.numberOfSlabs << " slabs";
    EXPECT_EQ(Oracle::seedKey, keys[static_cast<std::size_t>(job.seeds[0])]);
  }
}
