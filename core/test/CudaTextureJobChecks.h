// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTextureJobChecks_h
#define CudaTextureJobChecks_h

// What the tests of the CUDA engines of all texture classes share.

#include "CudaTestUtilities.h"
#include "TextureJobChecks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
template <typename TJob>
using CudaJobOptions = typename CudaJobTypes<TJob>::Options;
template <typename TJob>
using CudaJobReport = typename CudaJobTypes<TJob>::Report;
template <typename TJob>
using CudaJobMethod = typename CudaJobOptions<TJob>::Method;

/** Number of numbers in the output of a job. */
template <typename TJob>
std::size_t
CountNumbers(const TJob & job)
{
  return GetNumberOfComponents(job) *
         static_cast<std::size_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]);
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnCpu(TJob job)
{
  std::vector<TReal> output(CountNumbers(job));
  job.output = output.data();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  job.execution.numberOfWorkers = std::max(1u, std::thread::hardware_concurrency());
  job.execution.parallelFor = RunThreads;
  ComputeFeatureMaps(job);
  return output;
}

/** Compute into a buffer that was filled with what cannot be a result. */
template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(TJob job, const CudaJobOptions<TJob> & options, CudaJobReport<TJob> & report)
{
  std::vector<TReal> output(CountNumbers(job), static_cast<TReal>(-1.2345e29));
  job.output = output.data();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  report = ComputeFeatureMapsCuda(job, options);
  return output;
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(const TJob & job, const CudaJobOptions<TJob> & options)
{
  CudaJobReport<TJob> report;
  return ComputeOnDevice<TReal>(job, options, report);
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(const TJob & job, CudaJobMethod<TJob> method, CudaJobReport<TJob> & report,
                std::uint64_t memoryBudget = 0)
{
  return ComputeOnDevice<TReal>(job, MakeCudaOptions<CudaJobOptions<TJob>>(method, memoryBudget), report);
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(const TJob & job, CudaJobMethod<TJob> method)
{
  CudaJobReport<TJob> report;
  return ComputeOnDevice<TReal>(job, method, report);
}

/** Whether a method supports a job; if not, its error must name the method, and Automatic. */
template <typename TJob>
bool
Supports(const TJob & job, CudaJobMethod<TJob> method)
{
  try
  {
    ComputeOnDevice<float>(job, method);
    return true;
  }
  catch (const voxelmaps::EngineError & error)
  {
    const std::string message = error.what();
    EXPECT_TRUE(IsUnsupported(message)) << message;
    EXPECT_NE(std::string::npos, message.find(Print(method))) << message;
    EXPECT_NE(std::string::npos, message.find("Automatic")) << message;
    return false;
  }
}

/** Expect that Automatic chooses a method, and that it and WindowWalk give the bits of the CPU. */
template <typename TJob>
void
ExpectCpuBits(const TJob & job, CudaJobMethod<TJob> expectedMethod)
{
  using Method = CudaJobMethod<TJob>;
  const auto expected = ComputeOnCpu<double>(job);
  for (const Method method : { Method::Automatic, Method::WindowWalk })
  {
    SCOPED_TRACE(::testing::Message() << method);
    CudaJobReport<TJob> report;
    ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(job, method, report)));
    EXPECT_EQ(method == Method::Automatic ? expectedMethod : method, report.method);
  }
}

/** Levels with holes, and a job over them with all features and the offsets of all neighbors. */
template <typename TJob>
struct NeighborScene
{
  NeighborScene(const voxelmaps::Triple & size, const voxelmaps::Triple & windowSize, std::uint32_t numberOfGrayLevels,
                double newLevelChance, double holeChance = 0.0)
  {
    RandomNumbers random(5);
    levels.resize(static_cast<std::size_t>(size[0] * size[1] * size[2]));
    auto level = static_cast<std::uint16_t>(numberOfGrayLevels);
    for (std::uint16_t & voxel : levels)
    {
      if (random.Chance(newLevelChance))
      {
        level = static_cast<std::uint16_t>(random.Between(1, numberOfGrayLevels));
      }
      voxel = random.Chance(holeChance) ? std::uint16_t{ 0 } : level;
    }
    job.levels = levels.data();
    job.levelsSize = size;
    job.numberOfGrayLevels = numberOfGrayLevels;
    job.outputSize = size;
    job.windowSize = windowSize;
    job.windowAnchor = { { windowSize[0] / 2, windowSize[1] / 2, windowSize[2] / 2 } };
    for (std::int64_t i = 14; i < 27; ++i)
    {
      if (size[2] > 1 || i < 18)
      {
        job.offsets.push_back({ { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 } });
      }
    }
    job.features = JobTextureClass<TJob>::Enums::GetAllFeatures();
    job.backgroundValue = -1.0;
  }
  NeighborScene(const NeighborScene &) = delete;
  NeighborScene &
  operator=(const NeighborScene &) = delete;

  std::vector<std::uint16_t> levels;
  TJob                       job;
};
} // namespace VoxelMapsTest

#endif // CudaTextureJobChecks_h
