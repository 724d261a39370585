// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "FuzzyConnectednessRandomCase.h"

#include "connectedness/ConnectednessKeyEngines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace
{
using Job = voxelmaps::FuzzyConnectednessJob;
using Options = voxelmaps::CudaFuzzyConnectednessOptions;
using Report = voxelmaps::CudaFuzzyConnectednessReport;
using CudaMethod = Options::Method;
using PixelType = Job::PixelType;
using Keys = std::vector<std::uint32_t>;
using VoxelMapsTest::RandomNumbers;

constexpr CudaMethod allMethods[] = { CudaMethod::CorrectedKFOE, CudaMethod::Hierarchy, CudaMethod::Automatic };

Keys
ComputeOnDevice(const Job & job, CudaMethod method, std::uint64_t memoryBudget, Report & report)
{
  return ComputeGuardedKeys(job.GetNumberOfVoxels(), [&](std::uint32_t * keys) {
    report = voxelmaps::ComputeFuzzyConnectednessKeysCuda(
      job, VoxelMapsTest::MakeCudaOptions<Options>(method, memoryBudget), keys);
  });
}

/** A budget with which an image is cut into slabs of a few planes; the engine reserves 2 MB. */
std::uint64_t
BudgetForPlanes(const Job & job, std::int64_t planes)
{
  const std::int64_t  allPlanes = job.size[2] > 1 ? job.size[2] : job.size[1] > 1 ? job.size[1] : job.size[0];
  const std::uint64_t voxelBytes = 8 * job.numberOfComponents + 80;
  return 2000000 + voxelBytes * static_cast<std::uint64_t>(job.GetNumberOfVoxels() / allPlanes * planes);
}

/** Expect keys of every method, in one slab and in several; returns the greatest number of slabs. */
std::uint64_t
ExpectKeysOnDevice(const Keys & expected, const Job & job)
{
  std::uint64_t slabs = 0;
  for (const CudaMethod method : allMethods)
  {
    Report report;
    EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, method, 0, report))) << method;
    EXPECT_TRUE(AreSameKeys(expected, ComputeOnDevice(job, method, BudgetForPlanes(job, 5), report)))
      << method << " in " << report.numberOfSlabs << " slabs";
    slabs = std::max(slabs, report.numberOfSlabs);
  }
  return slabs;
}

class CudaVectorFuzzyConnectednessJob : public VoxelMapsTest::CudaTest
{};

class CudaVectorFuzzyConnectednessRandom
  : public CudaVectorFuzzyConnectednessJob
  , public ::testing::WithParamInterface<PixelType>
{};
} // namespace

TEST_P(CudaVectorFuzzyConnectednessRandom, EqualsTheOracle)
{
  std::uint64_t slabs = 0;
  for (std::uint64_t i = 0; i < 48; ++i)
  {
    const std::uint64_t seed = 1910000 + 100 * static_cast<std::uint64_t>(GetParam()) + i;
    RandomNumbers       random(seed);
    auto                randomCase = DrawFuzzyConnectednessRandomCase(seed, i % 2 == 0 ? 2 : 3, GetParam(), random);
    MakeVectors(randomCase, static_cast<unsigned int>(i < 16 ? i + 1 : random.Between(2, 4)), random);
    if (i % 7 == 0)
    {
      randomCase.scene.affinityFunction = Job::AffinityFunction::AbsoluteDifference;
      randomCase.scene.distanceWeighting = false;
    }
    SCOPED_TRACE(::testing::Message() << randomCase);
    const Keys expected = FuzzyConnectednessOracle::ComputeKeys(randomCase.scene);
    Job        job = MakeFuzzyConnectednessJob(randomCase);
    slabs = std::max(slabs, ExpectKeysOnDevice(expected, job));

    const auto strengths = ConvertToStrengths<double>(job, expected);
    job.minimumStrength = random.OneOf(strengths);
    ExpectKeysOnDevice(ClearWeakKeys(job, expected, job.minimumStrength), job);
    if (HasFailure())
    {
      return;
    }
  }
  EXPECT_GT(slabs, 1u);
}

INSTANTIATE_TEST_SUITE_P(PixelTypes, CudaVectorFuzzyConnectednessRandom,
                         ::testing::Values(PixelType::Int8, PixelType::UInt8, PixelType::Int16, PixelType::UInt16,
                                           PixelType::Int32, PixelType::UInt32, PixelType::Float, PixelType::Double),
                         PixelTypeName);

TEST_F(CudaVectorFuzzyConnectednessJob, LargerVolumesEqualTheCPU)
{
  RandomNumbers random(1971);
  for (int i = 0; i < 9; ++i)
  {
    auto scene = MakeNoiseScene({ { 128, 120, 64 } }, 200, random);
    scene.affinityFunction = static_cast<Job::AffinityFunction>(i % 5);
    scene.adjacency = static_cast<Job::Adjacency>(i % 3);
    scene.objectMean = 100.0;
    scene.objectVariance = 2000.0;
    scene.differenceMean = 10.0;
    scene.differenceVariance = 3000.0;
    for (int n = 0; n < 1 + 10 * (i % 3); ++n)
    {
      scene.seeds.push_back(random.Below(scene.GetNumberOfVoxels()));
    }
    auto each = MakeFuzzyConnectednessCase(scene, i % 2 == 0 ? PixelType::UInt8 : PixelType::Float);
    MakeVectors(each, 3, random);
    const Job job = MakeFuzzyConnectednessJob(each);
    SCOPED_TRACE(::testing::Message() << each);
    EXPECT_GT(ExpectKeysOnDevice(RunFuzzyConnectednessJob(job, Job::Method::Hierarchy, 4), job), 1u);
    Report report;
    ComputeOnDevice(job, CudaMethod::Hierarchy, 0, report);
    RecordProperty("kernelMilliseconds", std::to_string(report.kernelMilliseconds));
    if (HasFailure())
    {
      return;
    }
  }
}
