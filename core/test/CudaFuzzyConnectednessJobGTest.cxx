// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessJobChecks.h"

#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// What only the CUDA engine has; everything else is tested by FuzzyConnectednessJobGTest.cxx.
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
using namespace VoxelMapsTest;
namespace Oracle = FuzzyConnectednessOracle;

Options
MakeOptions(CudaMethod method, std::uint64_t memoryBudget = 0)
{
  return MakeCudaOptions<Options>(method, memoryBudget);
}

/** Keys of a job on the device. */
Keys
ComputeOnDevice(const Job & job, CudaMethod method)
{
  return MakeConnectednessEngine(MakeOptions(method)).computeKeys(job);
}

class CudaFuzzyConnectednessJob : public CudaTest
{
protected:
  const std::vector<CudaMethod> methods = voxelmaps::GetEnumerators<CudaMethod>();
};
} // namespace

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
    ExpectKeys(RunFuzzyConnectednessJob(job, Job::Method::Hierarchy, 4), job);
    const auto         inSlabs = MakeOptions(CudaMethod::Hierarchy, BudgetForPlanes(job, 7));
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
    const Keys expected = RunFuzzyConnectednessJob(job, Job::Method::Buckets, 1);
    for (const CudaMethod method : { CudaMethod::CorrectedKFOE, CudaMethod::Hierarchy })
    {
      for (int i = 0; i < (method == CudaMethod::CorrectedKFOE ? 5 : 20); ++i)
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
  std::vector<Keys>        actual(cases.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cases.size(); ++i)
  {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 10; ++n)
      {
        actual[i] = ComputeOnDevice(MakeFuzzyConnectednessJob(*cases[i]), methods[(i + n) % methods.size()]);
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
  for (const CudaMethod method : methods)
  {
    std::uint64_t count = 0;
    const auto    caller = std::this_thread::get_id();
    job.execution.reportProgress = [&](std::uint64_t voxels) {
      EXPECT_EQ(caller, std::this_thread::get_id());
      count += voxels;
    };
    const Report report = voxelmaps::ComputeFuzzyConnectednessCuda(job, MakeOptions(method));
    EXPECT_LE(count, each.scene.intensities.size());
    EXPECT_TRUE(method == CudaMethod::Automatic ? report.method != method : report.method == method);
    EXPECT_EQ(1u, report.numberOfSlabs);
    EXPECT_GT(report.numberOfIterations, 0u);
    EXPECT_GT(report.kernelMilliseconds, 0.0);
    EXPECT_EQ(voxelmaps::CudaDevices::GetName(0), report.deviceName);
    const auto inSlabs = MakeOptions(method, BudgetForPlanes(job, 10));
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
      voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, MakeOptions(CudaMethod::Hierarchy, budget), keys.data());
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
