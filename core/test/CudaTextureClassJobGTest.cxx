// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// What the CUDA engines of the classes with pairs of voxels share, beside the tests of TextureFeatureMapJobGTest.cxx.
namespace
{
using VoxelMapsTest::ClassCase;
using VoxelMapsTest::ComputeOnCpu;
using VoxelMapsTest::ComputeOnDevice;
using VoxelMapsTest::CudaJobMethod;
using VoxelMapsTest::CudaJobReport;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::NeighborScene;
using VoxelMapsTest::RandomNumbers;

template <typename TJob>
class CudaPairClassJob : public VoxelMapsTest::CudaTest
{
protected:
  /** All methods but Automatic. */
  static std::vector<CudaJobMethod<TJob>>
  GetMethods()
  {
    auto methods = VoxelMapsTest::GetMethods<CudaJobMethod<TJob>>();
    methods.erase(methods.begin());
    return methods;
  }
};
using PairJobs =
  ::testing::Types<voxelmaps::CooccurrenceJob, voxelmaps::DependenceJob, voxelmaps::GrayToneDifferenceJob>;
TYPED_TEST_SUITE(CudaPairClassJob, PairJobs, VoxelMapsTest::TextureJobName);
} // namespace

TYPED_TEST(CudaPairClassJob, RandomCasesHaveTheBitsOfTheCpu)
{
  using Method = CudaJobMethod<TypeParam>;
  std::set<Method>        methods;
  constexpr std::uint64_t firstSeed = ClassCase<TypeParam>::seeds[1] + 100000;
  for (std::uint64_t seed = firstSeed; seed < firstSeed + 600 && !this->HasFailure(); ++seed)
  {
    RandomNumbers     random(seed);
    auto              randomCase = ClassCase<TypeParam>::Draw(seed, 2 + seed % 2, random);
    const std::string holes = ClassCase<TypeParam>::DrawRest(randomCase, random);
    SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes);
    ClassCase<TypeParam>::Compute(randomCase, [&methods](const TypeParam & job) {
      const auto expected = ComputeOnCpu<float>(job);
      for (const Method method : { Method::Automatic, Method::WindowWalk })
      {
        CudaJobReport<TypeParam> report;
        EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(job, method, report))) << method;
        methods.insert(report.method);
      }
    });
  }
  EXPECT_EQ(this->GetMethods().size(), methods.size());
}

TYPED_TEST(CudaPairClassJob, SlabsDoNotChangeBits)
{
  NeighborScene<TypeParam> scene({ { 42, 28, 7 } }, { { 3, 4, 5 } }, 16, 0.5, 0.05);
  // A part of the image, so that slabs reach beyond the output.
  scene.job.outputIndex = { { 1, 2, 0 } };
  scene.job.outputSize = { { 40, 24, 7 } };
  const auto expected = ComputeOnCpu<float>(scene.job);
  for (const auto method : this->GetMethods())
  {
    SCOPED_TRACE(::testing::Message() << method);
    std::set<std::uint64_t> numbers;
    bool                    hasEnoughMemory = true;
    for (std::uint64_t budget = std::uint64_t{ 16 } << 20; hasEnoughMemory && budget > 0; budget = budget * 3 / 4)
    {
      try
      {
        CudaJobReport<TypeParam> report;
        ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, method, report, budget)));
        numbers.insert(report.numberOfSlabs);
      }
      catch (const voxelmaps::EngineError &)
      {
        hasEnoughMemory = false;
      }
    }
    ASSERT_FALSE(numbers.empty());
    EXPECT_EQ(1u, *numbers.begin());
    EXPECT_GE(*numbers.rbegin(), 7u);
  }
}

TYPED_TEST(CudaPairClassJob, ExceptionOfReportProgressEndsTheJob)
{
  struct Aborted
  {};
  const NeighborScene<TypeParam> scene({ { 64, 48, 24 } }, { { 3, 3, 3 } }, 16, 0.5);
  const auto                     expected = ComputeOnCpu<float>(scene.job);
  for (const auto method : this->GetMethods())
  {
    TypeParam aborted = scene.job;
    aborted.execution.reportProgress = [](std::uint64_t) { throw Aborted{}; };
    EXPECT_THROW(ComputeOnDevice<float>(aborted, method), Aborted) << method;
    EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, method))) << method;
  }
}
