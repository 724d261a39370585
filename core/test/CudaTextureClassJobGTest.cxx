// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

// What the CUDA engines of all texture classes have in common, in addition to the tests of
// TextureFeatureMapJobGTest.cxx and TextureMemoryGTest.cxx.
namespace
{
using namespace VoxelMapsTest;

template <typename TJob>
class CudaTextureClassJob : public CudaTest
{
protected:
  const std::vector<std::string> methods = GetMethodNames<TJob>();
};
TYPED_TEST_SUITE(CudaTextureClassJob, AllTextureJobs, TextureJobName);

/** The classes whose features depend on the neighbors of each voxel. */
template <typename TJob>
class CudaNeighborClassJob : public CudaTest
{};
using NeighborJobs = ::testing::Types<voxelmaps::DependenceJob, voxelmaps::GrayToneDifferenceJob>;
TYPED_TEST_SUITE(CudaNeighborClassJob, NeighborJobs, TextureJobName);

/** One of the values of the parameter that a class has of its own. */
void
SetParameter(std::size_t number, voxelmaps::DependenceJob & job)
{
  constexpr std::uint32_t alphas[]{ 0, 1, 40, 65535 };
  job.alpha = alphas[number % 4];
}
void
SetParameter(std::size_t number, voxelmaps::GrayToneDifferenceJob & job)
{
  job.countVoxelsWithoutNeighbors = number % 2 == 0;
}
} // namespace

TYPED_TEST(CudaTextureClassJob, EveryMethodSupportsRandomCases)
{
  std::set<std::string>   supported;
  constexpr std::uint64_t firstSeed = ClassCase<TypeParam>::seeds[1] + 100000;
  for (std::uint64_t seed = firstSeed; seed < firstSeed + 100 && !this->HasFailure(); ++seed)
  {
    RandomNumbers     random(seed);
    auto              randomCase = ClassCase<TypeParam>::Draw(seed, 2 + seed % 2, random);
    const std::string rest = ClassCase<TypeParam>::DrawRest(randomCase, random);
    SCOPED_TRACE(::testing::Message() << randomCase << ", " << rest);
    const TypeParam job = MakeCaseJob(randomCase);
    for (const std::string & method : this->methods)
    {
      if (Supports(job, method))
      {
        supported.insert(method);
      }
      else
      {
        EXPECT_NE("", method);
      }
    }
  }
  EXPECT_EQ(this->methods.size(), supported.size());
}

TYPED_TEST(CudaTextureClassJob, ReportsMethodAndSlabs)
{
  const TextureScene<TypeParam> scene({ { 60, 40, 1 } }, { { 4, 4, 1 } }, 32);
  for (const std::string & method : this->methods)
  {
    if (Supports(scene.job, method))
    {
      SCOPED_TRACE(method);
      voxelmaps::CudaReport report;
      ComputeOnDevice<float>(scene.job, method, report);
      EXPECT_EQ(method.empty(), report.method != method);
      EXPECT_EQ(voxelmaps::CudaDevices::GetName(0), report.deviceName);
      EXPECT_EQ(1u, report.numberOfSlabs);
      EXPECT_GT(report.kernelMilliseconds, 0.0);
    }
  }
}

TYPED_TEST(CudaTextureClassJob, InvalidDeviceIDsThrow)
{
  const TextureScene<TypeParam> scene({ { 9, 8, 1 } }, { { 4, 4, 1 } }, 32);
  voxelmaps::CudaOptions        options;
  voxelmaps::CudaReport         report;
  for (const int deviceID : { -1, voxelmaps::CudaDevices::GetNumberOfDevices(), 12345 })
  {
    options.deviceID = deviceID;
    EXPECT_THROW(ComputeOnDevice<float>(scene.job, options, report), voxelmaps::EngineError);
  }
}

TYPED_TEST(CudaTextureClassJob, RepeatedAndAbortedRunsGiveTheSameBits)
{
  const TextureScene<TypeParam> scene({ { 64, 48, 24 } }, { { 5, 5, 5 } }, 32);
  const TextureScene<TypeParam> other({ { 70, 45, 25 } }, { { 3, 3, 3 } }, 7, 1.0, 0.0, 77);
  const auto                    expected = ComputeOnCpu<float>(scene.job);
  for (const std::string & method : this->methods)
  {
    SCOPED_TRACE(method);
    if (!Supports(scene.job, method))
    {
      continue;
    }
    TypeParam aborted = scene.job;
    aborted.execution.reportProgress = [](std::uint64_t) { throw Aborted{}; };
    for (int run = 0; run < 4; ++run)
    {
      // They leave other numbers in the memory that the next run gets.
      EXPECT_THROW(ComputeOnDevice<float>(aborted, method), Aborted);
      ComputeOnDevice<float>(other.job, method);
      EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, method))) << "run " << run;
    }
  }
}

TYPED_TEST(CudaTextureClassJob, SeveralHostThreadsAtTheSameTime)
{
  // The same kernels, with 2 to 1,024 levels in shared memory.
  std::vector<std::unique_ptr<TextureScene<TypeParam>>> scenes;
  std::vector<std::vector<double>>                      expected;
  for (const std::uint32_t levels : { 2u, 64u, 256u, 1024u })
  {
    scenes.push_back(std::make_unique<TextureScene<TypeParam>>(
      voxelmaps::Triple{ { 30, 20, 4 } }, voxelmaps::Triple{ { 5, 5, 5 } }, levels));
    expected.push_back(ComputeOnCpu<double>(scenes.back()->job));
  }
  std::atomic<int> differences{ 0 };
  RunThreads(8, [&](unsigned int thread) {
    for (std::size_t run = thread; run < thread + 8; ++run)
    {
      const std::size_t which = run % scenes.size();
      const TypeParam & job = scenes[which]->job;
      const auto        method = this->methods[run / scenes.size() % this->methods.size()];
      if (Supports(job, method))
      {
        differences += HasSameBits(expected[which], ComputeOnDevice<double>(job, method)) ? 0 : 1;
      }
    }
  });
  EXPECT_EQ(0, differences.load());
}

// Few voxels, for compute-sanitizer.
TYPED_TEST(CudaNeighborClassJob, SmallCases)
{
  struct SmallCase
  {
    std::int64_t  side;
    std::uint32_t levels;
  };
  for (const SmallCase & each : { SmallCase{ 3, 60 }, { 5, 5 }, { 5, 5000 }, { 7, 64 }, { 9, 60 } })
  {
    NeighborScene<TypeParam>  scene({ { 7, 5, 3 } }, { { each.side, each.side, each.side } }, each.levels, 0.6, 0.1);
    std::vector<std::uint8_t> selection(scene.levels.size(), 1);
    selection[10] = 0;
    scene.job.selection = selection.data();
    ExpectCpuBits(scene.job);
  }
}

TYPED_TEST(CudaNeighborClassJob, ManyAndFewLevelsInAWindow)
{
  // Levels of 6, 9 and 16 bits, tables of all sizes. One level in all windows, a few, as many as there are voxels.
  std::size_t number = 0;
  for (const std::int64_t side : { 3, 5, 7, 9 })
  {
    for (const std::uint32_t levels : { 1u, 2u, 32u, 63u, 64u, 128u, 256u, 400u, 511u, 512u, 1000u, 65535u })
    {
      for (const double newLevelChance : { 0.0, 0.05, 1.0 })
      {
        for (const double holeChance : { 0.0, 0.2, 0.9 })
        {
          SCOPED_TRACE(::testing::Message() << side << ", " << levels << " levels, new with " << newLevelChance
                                            << ", holes with " << holeChance);
          NeighborScene<TypeParam> scene(
            { { 35, 11, 9 } }, { { side, side, side } }, levels, newLevelChance, holeChance);
          SetParameter(number++, scene.job);
          ExpectCpuBits(scene.job);
          ASSERT_FALSE(this->HasFailure());
        }
      }
    }
  }
}

TYPED_TEST(CudaNeighborClassJob, WindowsOfAllShapes)
{
  const std::vector<voxelmaps::Triple> windows{ { { 1, 1, 1 } },  { { 5, 1, 1 } },  { { 1, 6, 1 } }, { { 1, 1, 4 } },
                                                { { 1, 1, 9 } },  { { 2, 2, 2 } },  { { 2, 3, 4 } }, { { 5, 5, 1 } },
                                                { { 4, 8, 6 } },  { { 7, 7, 7 } },  { { 9, 1, 3 } }, { { 9, 9, 9 } },
                                                { { 10, 2, 3 } }, { { 10, 5, 3 } }, { { 33, 2, 3 } } };
  for (const voxelmaps::Triple & windowSize : windows)
  {
    SCOPED_TRACE(::testing::Message() << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2]);
    NeighborScene<TypeParam> scene({ { 70, 13, 10 } }, windowSize, 32, 0.6, 0.3);
    ExpectCpuBits(scene.job);
    // Anchors at the faces.
    scene.job.windowAnchor = { { windowSize[0] - 1, 0, windowSize[2] - 1 } };
    // Some of the neighbors; the first four are those in the plane.
    for (const std::size_t neighbors : { 13, 12, 7, 4, 1 })
    {
      scene.job.offsets.resize(neighbors);
      SetParameter(neighbors, scene.job);
      ExpectCpuBits(scene.job);
    }
  }
}
