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
/** Number of numbers in the output of a job. */
template <typename TJob>
std::size_t
CountNumbers(const TJob & job)
{
  return job.GetNumberOfComponents() *
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
ComputeOnDevice(TJob job, const voxelmaps::CudaOptions & options, voxelmaps::CudaReport & report)
{
  std::vector<TReal> output(CountNumbers(job), static_cast<TReal>(-1.2345e29));
  job.output = output.data();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  report = ComputeFeatureMapsCuda(job, options);
  return output;
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(const TJob & job, const std::string & method, voxelmaps::CudaReport & report,
                std::uint64_t memoryBudget = 0)
{
  return ComputeOnDevice<TReal>(WithMethod(job, method), MakeCudaOptions(memoryBudget), report);
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(const TJob & job, const std::string & method, std::uint64_t memoryBudget = 0)
{
  voxelmaps::CudaReport report;
  return ComputeOnDevice<TReal>(job, method, report, memoryBudget);
}

/** Whether a method supports a job, as the list of methods must say; if not, its error must name the method, and those
 * that do. */
template <typename TJob>
bool
Supports(const TJob & job, const std::string & method)
{
  const auto methods = voxelmaps::GetCudaMethods(job);
  const bool isListed = method.empty() || std::find(methods.begin(), methods.end(), method) != methods.end();
  try
  {
    ComputeOnDevice<float>(job, method);
    EXPECT_TRUE(isListed) << method;
    return true;
  }
  catch (const voxelmaps::UnsupportedMethodError & error)
  {
    EXPECT_FALSE(isListed) << error.what();
    EXPECT_TRUE(ContainsWord(error.what(), method)) << error.what();
    for (const std::string & other : methods)
    {
      EXPECT_TRUE(ContainsWord(error.what(), other)) << error.what();
    }
    return false;
  }
}

/** Expect that a method is the automatic choice, and that all methods that support the job, among them the chosen one
 * and WindowWalk, give the bits of the CPU. */
template <typename TJob>
void
ExpectCpuBits(const TJob & job, const std::string & expectedMethod)
{
  const auto expected = ComputeOnCpu<double>(job);
  for (const std::string method : MethodNames<TJob>::cuda)
  {
    SCOPED_TRACE(method);
    try
    {
      voxelmaps::CudaReport report;
      ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(job, method, report)));
      EXPECT_EQ(method.empty() ? expectedMethod : method, report.method);
    }
    catch (const voxelmaps::UnsupportedMethodError & error)
    {
      EXPECT_TRUE(!method.empty() && method != expectedMethod && method != "WindowWalk") << error.what();
    }
  }
}

/** The same, whatever the automatic choice is. */
template <typename TJob>
void
ExpectCpuBits(const TJob & job)
{
  voxelmaps::CudaReport report;
  ComputeOnDevice<double>(job, "", report);
  ExpectCpuBits(job, report.method);
}

/** A scene with the offsets of all neighbors. */
template <typename TJob>
struct NeighborScene : TextureScene<TJob>
{
  NeighborScene(const voxelmaps::Triple & size, const voxelmaps::Triple & windowSize, std::uint32_t numberOfGrayLevels,
                double newLevelChance, double holeChance = 0.0)
    : TextureScene<TJob>(size, windowSize, numberOfGrayLevels, newLevelChance, holeChance, 5)
  {
    this->SetAllNeighbors();
  }
};
} // namespace VoxelMapsTest

#endif // CudaTextureJobChecks_h
