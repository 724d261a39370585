// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedProcessor.h"

#include "voxelmaps/CooccurrenceFeatureMapEnums.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/DependenceFeatureMapEnums.h"
#include "voxelmaps/FirstOrderFeatureMapEnums.h"
#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"
#include "voxelmaps/RunLengthFeatureMapEnums.h"
#include "voxelmaps/SizeZoneFeatureMapEnums.h"

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

template <typename... TEnums>
bool
IsMethodOfAnyEngine(const std::string & name)
{
  return (... || (FindMethod<typename TEnums::CudaMethod>(name) != TEnums::CudaMethod::Automatic));
}

/** Why the environment variables are invalid, or nothing. */
std::string
FindInvalidEnvironment()
{
  const std::string processor = GetEnvironmentVariable("VOXELMAPS_TEST_PROCESSOR");
  if (!processor.empty() && processor != "CPU" && processor != "Cuda")
  {
    return "VOXELMAPS_TEST_PROCESSOR is '" + processor + "', but must be CPU or Cuda";
  }
  const std::string method = GetEnvironmentVariable("VOXELMAPS_TEST_CUDA_METHOD");
  if (!method.empty() && !IsCudaTest())
  {
    return "VOXELMAPS_TEST_CUDA_METHOD is '" + method + "', which needs VOXELMAPS_TEST_PROCESSOR=Cuda";
  }
  if (!method.empty() && !IsMethodOfAnyEngine<voxelmaps::CooccurrenceFeatureMapEnums,
                                              voxelmaps::DependenceFeatureMapEnums,
                                              voxelmaps::FirstOrderFeatureMapEnums,
                                              voxelmaps::FuzzyConnectednessEnums,
                                              voxelmaps::GrayToneDifferenceFeatureMapEnums,
                                              voxelmaps::RelativeFuzzyConnectednessEnums,
                                              voxelmaps::RunLengthFeatureMapEnums,
                                              voxelmaps::SizeZoneFeatureMapEnums>(method))
  {
    return "VOXELMAPS_TEST_CUDA_METHOD is '" + method + "', which is not a CUDA method";
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
