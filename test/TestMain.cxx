/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "TestedClasses.h"
#include "itkCudaDevices.h"
#include "itkVoxelMapsCudaFactory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

// For the test of the environment.
extern const bool overrideEnabledAtStart;
const bool        overrideEnabledAtStart = itk::VoxelMapsCudaFactory::GetOverrideEnabled();

#if defined(VOXELMAPS_TEST_CUDA)
template <typename... TEnums>
static bool
IsMethodOfAny(const std::string & name)
{
  return (... || (VoxelMapsTest::FindMethod<typename TEnums::CudaMethod>(name) != TEnums::CudaMethod::Automatic));
}
#endif

int
main(int argc, char * argv[])
{
  ::testing::InitGoogleTest(&argc, argv);
  // New() of a class is to give that class, also where a device is.
  itk::VoxelMapsCudaFactory::SetOverrideEnabled(false);
#if defined(VOXELMAPS_TEST_CUDA)
  const char * const method = std::getenv("VOXELMAPS_TEST_CUDA_METHOD");
  if (method != nullptr && !IsMethodOfAny<itk::CooccurrenceFeatureMapEnums,
                                          itk::DependenceFeatureMapEnums,
                                          itk::FirstOrderFeatureMapEnums,
                                          itk::FuzzyConnectednessEnums,
                                          itk::GrayToneDifferenceFeatureMapEnums,
                                          itk::RelativeFuzzyConnectednessEnums,
                                          itk::RunLengthFeatureMapEnums,
                                          itk::SizeZoneFeatureMapEnums>(method))
  {
    std::cerr << "VOXELMAPS_TEST_CUDA_METHOD is '" << method << "', which is no CUDA method" << std::endl;
    return EXIT_FAILURE;
  }
  if (!GTEST_FLAG_GET(list_tests))
  {
    const std::string reason = itk::CudaDevices::GetReasonForNoDevice();
    if (!reason.empty())
    {
      // In these brackets, CTest looks for what was skipped.
      std::cout << "[  SKIPPED ] all tests: " << reason << std::endl;
      return EXIT_SUCCESS;
    }
    std::cout << "device 0: " << itk::CudaDevices::GetName(0) << ", CUDA " << itk::CudaDevices::GetRuntimeVersion()
              << " on a driver for " << itk::CudaDevices::GetDriverVersion() << std::endl;
  }
#endif
  return RUN_ALL_TESTS();
}
