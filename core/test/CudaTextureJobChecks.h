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
#include <thread>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
template <typename TJob>
using CudaJobOptions = voxelmaps::CudaTextureOptions<TJob>;
template <typename TJob>
using CudaJobReport = voxelmaps::CudaTextureReport<TJob>;
template <typename TJob>
using CudaJobMethod = typename CudaJobOptions<TJob>::Method;

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
ComputeOnDevice(const TJob & job, CudaJobMethod<TJob> method, CudaJobReport<TJob> & report,
                std::uint64_t memoryBudget = 0)
{
  return ComputeOnDevice<TReal>(job, MakeCudaOptions<CudaJobOptions<TJob>>(method, memoryBudget), report);
}

template <typename TReal, typename TJob>
std::vector<TReal>
ComputeOnDevice(const TJob & job, CudaJobMethod<TJob> method, std::uint64_t memoryBudget = 0)
{
  CudaJobReport<TJob> report;
  return ComputeOnDevice<TReal>(job, method, report, memoryBudget);
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
  catch (const voxelmaps::UnsupportedOnDeviceError & error)
  {
    EXPECT_TRUE(ContainsWord(error.what(), Print(method)) && ContainsWord(error.what(), "Automatic")) << error.what();
    return false;
  }
}

/** Expect that Automatic chooses a method, and that all methods that support the job, among them the chosen one and
 * WindowWalk, give the bits of the CPU. */
template <typename TJob>
void
ExpectCpuBits(const TJob & job, CudaJobMethod<TJob> expectedMethod)
{
  using Method = CudaJobMethod<TJob>;
  const auto expected = ComputeOnCpu<double>(job);
  for (const Method method : voxelmaps::GetEnumerators<Method>())
  {
    SCOPED_TRACE(::testing::Message() << method);
    try
    {
      CudaJobReport<TJob> report;
      ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(job, method, report)));
      EXPECT_EQ(method == Method::Automatic ? expectedMethod : method, report.method);
    }
    catch (const voxelmaps::UnsupportedOnDeviceError & error)
    {
      EXPECT_TRUE(method != Method::Automatic && method != expectedMethod && method != Method::WindowWalk)
        << error.what();
    }
  }
}

/** The same, whatever method Automatic chooses. */
template <typename TJob>
void
ExpectCpuBits(const TJob & job)
{
  CudaJobReport<TJob> report;
  ComputeOnDevice<double>(job, CudaJobMethod<TJob>::Automatic, report);
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
