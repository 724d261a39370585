// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTestUtilities_h
#define CudaTestUtilities_h

#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace VoxelMapsTest
{
/** Options of a CUDA engine. */
template <typename TOptions>
TOptions
MakeCudaOptions(typename TOptions::Method method, std::uint64_t memoryBudget = 0)
{
  TOptions options;
  options.method = method;
  options.memoryBudget = memoryBudget;
  return options;
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
