// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedProcessor.h"
#include "itkVoxelMapsCudaFactory.h"

// For the test of the environment.
extern const bool overrideEnabledAtStart;
const bool        overrideEnabledAtStart = itk::VoxelMapsCudaFactory::GetOverrideEnabled();

int
main(int argc, char * argv[])
{
  // New() of a class is to give that class, also where there is a device.
  itk::VoxelMapsCudaFactory::SetOverrideEnabled(false);
  return VoxelMapsTest::RunTests(argc, argv);
}
