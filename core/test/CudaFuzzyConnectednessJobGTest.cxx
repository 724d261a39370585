// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "FuzzyConnectednessRandomCase.h"

#include "connectedness/ConnectednessKeyEngines.h"
#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using Job = voxelmaps::FuzzyConnectednessJob;
using Options = voxelmaps::CudaFuzzyConnectednessOptions;
using Report = voxelmaps::CudaFuzzyConnectednessReport;
using CudaMethod = Options::Method;
using AffinityFunction = Job::AffinityFunction;
using Adjacency = Job::Adjacency;
using PixelType = Job::PixelType;
using Keys = std::vector<std::uint32_t>;
using FuzzyConnectednessOracle::Scene;
using FuzzyConnectednessOracle::Triple;
using VoxelMapsTest::RandomNumbers;
namespace Oracle = FuzzyConnectednessOracle;

const std::vector<CudaMethod> exactMethods{ CudaMethod::CorrectedKFOE, CudaMethod::Hierarchy };
const std::vector<CudaMethod> allCudaMethods{ CudaMethod::CorrectedKFOE, CudaMethod::Hierarchy, CudaMethod::Automatic };

Options
MakeOptions(CudaMethod method, std::uint64_t memoryBudget = 0)
{
  return VoxelMapsTest::MakeCudaOptions<Options>(method, memoryBudget);
}

/** Keys of a job on the device. */
Keys
ComputeOnDevice(const Job & job, const Options & options, Report * report = nullptr)
{
  return ComputeGuardedKeys(job.GetNumberOfVoxels(), [&](std::uint32_t * keys) {
    const Report made = voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, options, keys);
    if (report != nullptr)
    {
      *report = made;
    }
  });
}

/** A budget with which an image is cut into slabs of a few planes; the engine reserves 2 MB. */
std::uint64_t
BudgetForPlanes(const Job & job, std::int64_t planes)
{
  const std::int64_t allPlanes = job.size[2] > 1 ? job.size[2] : job.size[1] > 1 ? job.size[1] : job.size[0];
  const std::int64_t planeSize = job.GetNumberOfVoxels() / allPlanes;
  return 2000000 + 25 * static_cast<std::uint64_t>(planeSize * planes);
}

/** Expect keys of every method, in one slab and in several. */
void
ExpectKeysOnDevice(const Keys & expected, const Job & job)
{
  for (const CudaMethod method : allCudaMethods)
  {
    EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, MakeOptions(method)))) << method;
  }
  for (const CudaMethod method : exactMethods)
  {
    EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, MakeOptions(method, BudgetForPlanes(job, 7)))))
      << method << " in slabs";
  }
}

class CudaFuzzyConnectednessJob : public VoxelMapsTest::CudaTest
{};

class CudaFuzzyConnectednessRandom
  : public CudaFuzzyConnectednessJob
  , public ::testing::WithParamInterface<PixelType>
{
public:
  static void
  CheckCases(unsigned int dimension, std::uint64_t firstSeed)
  {
    CheckFuzzyConnectednessRandomCases(dimension, GetParam(), firstSeed, CheckCase);
  }

private:
  static void
  CheckCase(const FuzzyConnectednessRandomCase & randomCase, RandomNumbers & random)
  {
    Job        job = MakeFuzzyConnectednessJob(randomCase);
    const Keys expected = Oracle::ComputeKeys(randomCase.scene);
    ASSERT_TRUE(AreSameKeys(expected, RunFuzzyConnectednessJob(job, Job::Method::Buckets, 1))) << "CPU";
    ExpectKeysOnDevice(expected, job);

    random.Shuffle(job.seeds);
    Options options = MakeOptions(CudaMethod::CorrectedKFOE);
    options.correctionPasses = static_cast<unsigned int>(random.Below(5));
    EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, options)))
      << "shuffled seeds, " << options.correctionPasses << " correction passes";

    // A voxel whose strength equals the minimum must be kept.
    const auto   strengths = ConvertToStrengths<double>(job, expected);
    const double fraction = static_cast<double>(random.Below(1000)) / 1000.0;
    job.minimumStrength = random.OneOf<double>({ fraction, random.OneOf(strengths), random.OneOf(strengths), 1.0 });
    const Keys strong = ClearWeakKeys(job, expected, job.minimumStrength);
    for (const CudaMethod method : exactMethods)
    {
      EXPECT_TRUE(AreSameKeys(strong, ComputeOnDevice(job, MakeOptions(method))))
        << "minimum strength " << job.minimumStrength << ", " << method;
    }
  }
};

/** A square spiral from a corner inwards. */
std::vector<std::int64_t>
MakeSpiral(std::int64_t side)
{
  std::vector<std::int64_t> path;
  std::vector<bool>         used(static_cast<std::size_t>(side * side));
  const std::int64_t        steps[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
  std::int64_t              x = 0;
  std::int64_t              y = 0;
  const auto                isUsed = [&](std::int64_t atX, std::int64_t atY) {
    return atX >= 0 && atX < side && atY >= 0 && atY < side && used[static_cast<std::size_t>(atY * side + atX)];
  };
  const auto isOutside = [&](std::int64_t atX, std::int64_t atY) {
    return atX < 0 || atX >= side || atY < 0 || atY >= side;
  };
  path.push_back(0);
  used[0] = true;
  for (int direction = 0, turns = 0; turns < 2;)
  {
    const std::int64_t dx = steps[direction][0];
    const std::int64_t dy = steps[direction][1];
    // Turn at the border, and before the path would touch itself.
    if (isOutside(x + dx, y + dy) || isUsed(x + dx, y + dy) || isUsed(x + 2 * dx, y + 2 * dy))
    {
      direction = (direction + 1) % 4;
      ++turns;
      continue;
    }
    turns = 0;
    x += dx;
    y += dy;
    path.push_back(y * side + x);
    used[static_cast<std::size_t>(path.back())] = true;
  }
  return path;
}
} // namespace

TEST_P(CudaFuzzyConnectednessRandom, EqualsTheOracleIn2D)
{
  CheckCases(2, 1000000);
}

TEST_P(CudaFuzzyConnectednessRandom, EqualsTheOracleIn3D)
{
  CheckCases(3, 2000004);
}

INSTANTIATE_TEST_SUITE_P(PixelTypes, CudaFuzzyConnectednessRandom,
                         ::testing::Values(PixelType::Int8, PixelType::UInt8, PixelType::Int16, PixelType::UInt16,
                                           PixelType::Int32, PixelType::UInt32, PixelType::Float, PixelType::Double),
                         PixelTypeName);

// Small enough for compute-sanitizer.
TEST_F(CudaFuzzyConnectednessJob, SmallCases)
{
  RandomNumbers random(61);
  for (const PixelType type : { PixelType::UInt8, PixelType::Float, PixelType::Double })
  {
    for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
    {
      Scene scene;
      scene.size = { { 21, 18, 17 } };
      scene.adjacency = adjacency;
      for (std::int64_t i = 0; i < scene.GetNumberOfVoxels(); ++i)
      {
        scene.intensities.push_back(static_cast<double>(random.Below(30)));
        scene.mask.push_back(random.Chance(0.9) ? 1 : 0);
      }
      scene.mask[2000] = 1;
      scene.seeds = { 2000 };
      scene.objectMean = 15.0;
      scene.objectVariance = 100.0;
      scene.differenceVariance = 40.0;
      const auto each = MakeFuzzyConnectednessCase(scene, type);
      const Job  job = MakeFuzzyConnectednessJob(each);
      const Keys expected = Oracle::ComputeKeys(scene);
      for (const CudaMethod method : exactMethods)
      {
        EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, MakeOptions(method)))) << method;
      }
      EXPECT_TRUE(
        AreSameKeys(expected, ComputeOnDevice(job, MakeOptions(CudaMethod::Hierarchy, BudgetForPlanes(job, 9)))));
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
    scene.affinityFunction = static_cast<AffinityFunction>(i % 4);
    scene.adjacency = static_cast<Adjacency>(i / 4 % 3);
    scene.intensities.resize(static_cast<std::size_t>(scene.GetNumberOfVoxels()));
    const double steps = random.OneOf<double>({ 5.0, 60.0, 2000.0 });
    for (std::size_t voxel = 0; voxel < scene.intensities.size(); ++voxel)
    {
      const double smooth = voxel > 0 ? scene.intensities[voxel - 1] : 0.5 * steps;
      scene.intensities[voxel] = i % 2 == 0 ? static_cast<double>(random.Below(static_cast<std::int64_t>(steps)))
                                            : smooth + static_cast<double>(random.Between(-2, 2));
    }
    scene.objectMean = 0.5 * steps;
    scene.objectVariance = 0.2 * steps * steps;
    scene.differenceVariance = 0.1 * steps * steps;
    scene.distanceWeighting = i % 5 == 0;
    for (int n = 0; n < 1 + 10 * (i % 3); ++n)
    {
      scene.seeds.push_back(random.Below(scene.GetNumberOfVoxels()));
    }
    const auto each = MakeFuzzyConnectednessCase(scene, i % 3 == 0 ? PixelType::Float : PixelType::Int16);
    const Job  job = MakeFuzzyConnectednessJob(each);
    SCOPED_TRACE(::testing::Message() << each);
    ExpectKeysOnDevice(RunFuzzyConnectednessJob(job, Job::Method::Buckets, 1), job);
    if (HasFailure())
    {
      return;
    }
  }
}

TEST_F(CudaFuzzyConnectednessJob, SerpentineSpiralAndComb)
{
  std::vector<Scene> scenes;
  scenes.push_back(MakePathScene({ { 401, 501, 1 } }, MakeSerpentine({ { 401, 501, 1 } })));
  scenes.push_back(MakePathScene({ { 61, 61, 105 } }, MakeSerpentine({ { 61, 61, 105 } })));
  scenes.push_back(MakePathScene({ { 255, 255, 1 } }, MakeSpiral(255)));
  // A comb: a spine along x with teeth along y, and the seed at the end of the last tooth.
  Scene comb = MakePathScene({ { 301, 100, 1 } }, { 301 * 99 + 300 });
  for (std::int64_t x = 0; x < 301; x += 2)
  {
    comb.intensities[static_cast<std::size_t>(x)] = 0.0;
    comb.intensities[static_cast<std::size_t>(std::min<std::int64_t>(x + 1, 300))] = 1.0;
    for (std::int64_t y = 1; y < 100; ++y)
    {
      comb.intensities[static_cast<std::size_t>(y * 301 + x)] = static_cast<double>(y % 7);
    }
  }
  scenes.push_back(comb);
  for (const Scene & scene : scenes)
  {
    const auto each = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
    SCOPED_TRACE(::testing::Message() << each);
    const Keys expected = Oracle::ComputeKeys(scene);
    EXPECT_GT(expected.size() - static_cast<std::size_t>(std::count(expected.begin(), expected.end(), 0u)), 15000u);
    for (const CudaMethod method : allCudaMethods)
    {
      EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(MakeFuzzyConnectednessJob(each), MakeOptions(method))))
        << method;
    }
    const Job job = MakeFuzzyConnectednessJob(each);
    EXPECT_TRUE(AreSameKeys(
      expected, ComputeOnDevice(job, MakeOptions(CudaMethod::Hierarchy, BudgetForPlanes(job, job.size[1] / 3)))));
  }
}

TEST_F(CudaFuzzyConnectednessJob, PlateausAndCheckerboards)
{
  for (const Triple & size : { Triple{ { 150, 70, 1 } }, Triple{ { 40, 41, 43 } }, Triple{ { 1, 200, 30 } } })
  {
    for (const Adjacency adjacency : { Adjacency::Face, Adjacency::FaceEdge, Adjacency::Full })
    {
      Scene scene;
      scene.size = size;
      scene.adjacency = adjacency;
      scene.intensities.assign(static_cast<std::size_t>(scene.GetNumberOfVoxels()), 7.0);
      scene.seeds = { scene.GetNumberOfVoxels() / 2, 3 };
      scene.objectMean = 5.0;
      scene.objectVariance = 2.0;
      for (const PixelType type : { PixelType::UInt8, PixelType::Float })
      {
        ExpectKeysOnDevice(Oracle::ComputeKeys(scene),
                           MakeFuzzyConnectednessJob(MakeFuzzyConnectednessCase(scene, type)));
      }
      for (std::size_t voxel = 0; voxel < scene.intensities.size(); voxel += 2)
      {
        scene.intensities[voxel] = 30000.0;
      }
      scene.affinityFunction = AffinityFunction::Homogeneity;
      ExpectKeysOnDevice(Oracle::ComputeKeys(scene),
                         MakeFuzzyConnectednessJob(MakeFuzzyConnectednessCase(scene, PixelType::Int16)));
    }
  }
}

TEST_F(CudaFuzzyConnectednessJob, LinesOneVoxelWide)
{
  for (const Triple & size : { Triple{ { 3000, 1, 1 } },
                               Triple{ { 1, 3000, 1 } },
                               Triple{ { 1, 1, 3000 } },
                               Triple{ { 3, 2, 900 } },
                               Triple{ { 2, 1000, 2 } },
                               Triple{ { 1000, 2, 2 } },
                               Triple{ { 1, 1, 1 } },
                               Triple{ { 2, 1, 1 } },
                               Triple{ { 1, 2, 1 } } })
  {
    RandomNumbers random(5);
    Scene         scene = MakeNoiseScene(size, 40, random);
    scene.seeds = { scene.GetNumberOfVoxels() / 3 };
    scene.objectMean = 20.0;
    scene.objectVariance = 50.0;
    scene.differenceVariance = 50.0;
    for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
    {
      scene.adjacency = adjacency;
      const Keys expected = Oracle::ComputeKeys(scene);
      for (const PixelType type : { PixelType::UInt8, PixelType::Double })
      {
        ExpectKeysOnDevice(expected, MakeFuzzyConnectednessJob(MakeFuzzyConnectednessCase(scene, type)));
      }
    }
  }
}

TEST_F(CudaFuzzyConnectednessJob, HundredThousandSeeds)
{
  RandomNumbers random(81);
  Scene         scene = MakeNoiseScene({ { 120, 110, 40 } }, 100, random);
  scene.objectMean = 50.0;
  scene.objectVariance = 500.0;
  scene.differenceVariance = 200.0;
  for (int i = 0; i < 100000; ++i)
  {
    scene.seeds.push_back(random.Below(scene.GetNumberOfVoxels()));
  }
  ExpectKeysOnDevice(Oracle::ComputeKeys(scene),
                     MakeFuzzyConnectednessJob(MakeFuzzyConnectednessCase(scene, PixelType::UInt8)));
}

TEST_F(CudaFuzzyConnectednessJob, RepeatedRunsGiveTheSameBits)
{
  RandomNumbers random(91);
  Scene         scene = MakeNoiseScene({ { 100, 90, 80 } }, 30, random);
  scene.objectMean = 15.0;
  scene.objectVariance = 100.0;
  scene.differenceVariance = 40.0;
  scene.seeds = { 350000 };
  for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
  {
    scene.adjacency = adjacency;
    const auto each = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
    const Job  job = MakeFuzzyConnectednessJob(each);
    const Keys expected = RunFuzzyConnectednessJob(job, Job::Method::Buckets, 1);
    for (const CudaMethod method : exactMethods)
    {
      for (int i = 0; i < (method == CudaMethod::CorrectedKFOE ? 5 : 20); ++i)
      {
        ASSERT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, MakeOptions(method)))) << method << ", run " << i;
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
  std::vector<Keys>        actual(cases.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cases.size(); ++i)
  {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 10; ++n)
      {
        actual[i] = ComputeOnDevice(MakeFuzzyConnectednessJob(*cases[i]), MakeOptions(allCudaMethods[(i + n) % 4]));
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (std::size_t i = 0; i < cases.size(); ++i)
  {
    EXPECT_TRUE(AreSameKeys(expected[i], actual[i])) << *cases[i];
  }
}

TEST_F(CudaFuzzyConnectednessJob, OutputHoldsStrengthsOfKeys)
{
  RandomNumbers random(121);
  Scene         scene = MakeNoiseScene({ { 70, 60, 50 } }, 60, random);
  scene.objectMean = 30.0;
  scene.objectVariance = 400.0;
  scene.differenceVariance = 100.0;
  scene.seeds = { 20000, 7 };
  const auto          each = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  Job                 job = MakeFuzzyConnectednessJob(each);
  const Keys          keys = RunFuzzyConnectednessJob(job, Job::Method::Buckets, 1);
  std::vector<float>  floats(keys.size());
  std::vector<double> doubles(keys.size());
  job.execution.parallelFor = VoxelMapsTest::RunThreads;
  job.execution.numberOfWorkers = 3;
  for (const CudaMethod method : allCudaMethods)
  {
    for (const std::uint64_t budget : { std::uint64_t{ 0 }, BudgetForPlanes(job, 9) })
    {
      job.output = floats.data();
      job.outputIsDouble = false;
      voxelmaps::ComputeFuzzyConnectednessCuda(job, MakeOptions(method, budget));
      EXPECT_TRUE(VoxelMapsTest::HasSameBits(ConvertToStrengths<float>(job, keys), floats)) << method;
      job.output = doubles.data();
      job.outputIsDouble = true;
      voxelmaps::ComputeFuzzyConnectednessCuda(job, MakeOptions(method, budget));
      EXPECT_TRUE(VoxelMapsTest::HasSameBits(ConvertToStrengths<double>(job, keys), doubles)) << method;
    }
  }
}

TEST_F(CudaFuzzyConnectednessJob, ReportsMethodAndSlabs)
{
  Scene scene;
  scene.size = { { 64, 64, 64 } };
  scene.intensities.assign(static_cast<std::size_t>(scene.GetNumberOfVoxels()), 1.0);
  scene.seeds = { 0 };
  const auto each = MakeFuzzyConnectednessCase(scene, PixelType::UInt8);
  Job        job = MakeFuzzyConnectednessJob(each);
  for (const CudaMethod method : allCudaMethods)
  {
    std::uint64_t count = 0;
    const auto    caller = std::this_thread::get_id();
    job.execution.reportProgress = [&](std::uint64_t voxels) {
      EXPECT_EQ(caller, std::this_thread::get_id());
      count += voxels;
    };
    Report report;
    ComputeOnDevice(job, MakeOptions(method), &report);
    EXPECT_LE(count, each.scene.intensities.size());
    EXPECT_TRUE(method == CudaMethod::Automatic ? report.method != method : report.method == method);
    EXPECT_EQ(1u, report.numberOfSlabs);
    EXPECT_GT(report.numberOfIterations, 0u);
    EXPECT_GT(report.kernelMilliseconds, 0.0);
    EXPECT_EQ(voxelmaps::CudaDevices::GetName(0), report.deviceName);
    ComputeOnDevice(job, MakeOptions(method, BudgetForPlanes(job, 10)), &report);
    EXPECT_GT(report.numberOfSlabs, 1u);
  }
}

TEST_F(CudaFuzzyConnectednessJob, ErrorsAndAbortsLeaveNoMemoryBehind)
{
  RandomNumbers random(111);
  Scene         scene = MakeNoiseScene({ { 200, 200, 50 } }, 30, random);
  scene.objectMean = 15.0;
  scene.objectVariance = 100.0;
  scene.differenceVariance = 40.0;
  scene.seeds = { 1000000 };
  const auto each = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  Job        job = MakeFuzzyConnectednessJob(each);
  // The first launch of a kernel loads it into device memory.
  for (const CudaMethod method : allCudaMethods)
  {
    ComputeOnDevice(job, MakeOptions(method));
  }
  const std::uint64_t before = voxelmaps::CudaDevices::GetFreeMemory(0);
  for (const CudaMethod method : allCudaMethods)
  {
    ComputeOnDevice(job, MakeOptions(method));
    EXPECT_EQ(before, voxelmaps::CudaDevices::GetFreeMemory(0)) << method;
    for (int callsBeforeEnd = 0; callsBeforeEnd < 3; ++callsBeforeEnd)
    {
      int calls = 0;
      job.execution.reportProgress = [&](std::uint64_t) {
        if (calls++ == callsBeforeEnd)
        {
          throw std::runtime_error("enough");
        }
      };
      EXPECT_THROW(ComputeOnDevice(job, MakeOptions(method)), std::runtime_error) << method;
      EXPECT_EQ(before, voxelmaps::CudaDevices::GetFreeMemory(0)) << method;
    }
    job.execution.reportProgress = nullptr;
    try
    {
      ComputeOnDevice(job, MakeOptions(method, 100000));
      FAIL() << "the budget is too small";
    }
    catch (const voxelmaps::EngineError & error)
    {
      EXPECT_NE(std::string::npos, std::string(error.what()).find("DeviceMemoryBudget")) << error.what();
    }
    EXPECT_EQ(before, voxelmaps::CudaDevices::GetFreeMemory(0)) << method;
  }
  Options options;
  options.deviceID = 1000;
  EXPECT_THROW(ComputeOnDevice(job, options), voxelmaps::EngineError);
  // The device works after errors.
  const Keys expected = RunFuzzyConnectednessJob(job, Job::Method::Buckets, 1);
  ExpectKeysOnDevice(expected, job);
  EXPECT_EQ(before, voxelmaps::CudaDevices::GetFreeMemory(0));
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
  job.differenceVariance = 100.0;
  job.seeds = { planeSize / 2 };
  Scene scene;
  scene.affinityFunction = job.affinityFunction;
  scene.differenceVariance = job.differenceVariance;
  Keys keys(image.size());
  for (const std::uint64_t budget : { std::uint64_t{ 0 }, std::uint64_t{ 20 } << 30 })
  {
    std::fill(keys.begin(), keys.end(), 0xdeadbeefu);
    const Report report =
      voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, MakeOptions(CudaMethod::Hierarchy, budget), keys.data());
    RecordProperty("slabs", std::to_string(report.numberOfSlabs));
    std::uint32_t expected = Oracle::fullAffinity;
    std::uint64_t wrong = 0;
    for (std::int64_t z = 0; z < job.size[2]; ++z)
    {
      if (z > 0)
      {
        expected = std::min(expected, Oracle::LinkKey(scene, intensity(z - 1), intensity(z), { { 0, 0, 1 } }));
      }
      wrong += static_cast<std::uint64_t>(
        planeSize - std::count(keys.begin() + z * planeSize, keys.begin() + (z + 1) * planeSize, expected));
    }
    // The seed has its own key.
    EXPECT_EQ(1u, wrong) << report.numberOfSlabs << " slabs";
    EXPECT_EQ(Oracle::seedKey, keys[static_cast<std::size_t>(job.seeds[0])]);
  }
}
