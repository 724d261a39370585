// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedProcessor.h"

#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace VoxelMapsTest
{
namespace
{
std::string
GetEnvironmentVariable(const char * name)
{
  const char * const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/** Why the environment variable is invalid, or nothing. */
std::string
FindInvalidEnvironment()
{
  const std::string processor = GetEnvironmentVariable("VOXELMAPS_TEST_PROCESSOR");
  if (!processor.empty() && processor != "CPU" && processor != "Cuda")
  {
    return "VOXELMAPS_TEST_PROCESSOR is '" + processor + "', but must be CPU or Cuda";
  }
  return "";
}
} // namespace

bool
IsCudaTest()
{
  static const bool isCuda = GetEnvironmentVariable("VOXELMAPS_TEST_PROCESSOR") == "Cuda";
  return isCuda;
}

int
RunTests(int argc, char * argv[])
{
  ::testing::InitGoogleTest(&argc, argv);
  const std::string invalid = FindInvalidEnvironment();
  if (!invalid.empty())
  {
    std::cerr << invalid << std::endl;
    return EXIT_FAILURE;
  }
  if (!IsCudaTest() && std::string(GTEST_FLAG_GET(filter)) == "*")
  {
    GTEST_FLAG_SET(filter, "-Cuda*:*/Cuda*");
  }
  if (IsCudaTest() && !GTEST_FLAG_GET(list_tests))
  {
    const std::string reason = voxelmaps::CudaDevices::GetReasonForNoDevice();
    if (!reason.empty())
    {
      // In these brackets, CTest looks for what was skipped.
      std::cout << "[  SKIPPED ] all tests: " << reason << std::endl;
      return EXIT_SUCCESS;
    }
    std::cout << "device 0: " << voxelmaps::CudaDevices::GetName(0) << ", CUDA "
              << voxelmaps::CudaDevices::GetRuntimeVersion() << " on a driver for "
              << voxelmaps::CudaDevices::GetDriverVersion() << std::endl;
  }
  return RUN_ALL_TESTS();
}
} // namespace VoxelMapsTest
