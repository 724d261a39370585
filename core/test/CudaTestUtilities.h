// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTestUtilities_h
#define CudaTestUtilities_h

#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <regex>
#include <string>

namespace VoxelMapsTest
{
/** Options of a CUDA engine. */
template <typename TOptions = voxelmaps::CudaOptions>
TOptions
MakeCudaOptions(std::uint64_t memoryBudget)
{
  TOptions options;
  options.memoryBudget = memoryBudget;
  return options;
}

/** A job that names a method. */
template <typename TJob>
TJob
WithMethod(TJob job, const std::string & method)
{
  job.method = method;
  return job;
}

/** The bytes of device memory that the error for too small a budget asks for. */
inline std::uint64_t
GetRequiredBytes(const voxelmaps::EngineError & error)
{
  const std::string message = error.what();
  std::smatch       match;
  EXPECT_TRUE(std::regex_search(message, match, std::regex("needs (about )?([0-9]+)"))) << message;
  return match.empty() ? 1 : std::stoull(match[2]);
}

/** A test that needs a device, and is skipped where there is none. */
class CudaTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    const std::string reason = voxelmaps::CudaDevices::GetReasonForNoDevice();
    if (!reason.empty())
    {
      GTEST_SKIP() << reason;
    }
  }
};
} // namespace VoxelMapsTest

#endif // CudaTestUtilities_h
