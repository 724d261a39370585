// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedProcessor.h"

int
main(int argc, char * argv[])
{
  return VoxelMapsTest::RunTests(argc, argv);
}
