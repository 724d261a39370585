// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedProcessor_h
#define TestedProcessor_h

namespace VoxelMapsTest
{
/** Whether the CUDA engines and the Cuda filters are tested: the environment variable VOXELMAPS_TEST_PROCESSOR is Cuda.
 * Otherwise, it is unset or CPU, and the same tests use the CPU engines and filters. */
bool
IsCudaTest();

/** Run all tests that the command line selects. Without a filter, these are all for CUDA, and all but those of suites
 * Cuda* for the CPU. */
int
RunTests(int argc, char * argv[]);

} // namespace VoxelMapsTest

#endif // TestedProcessor_h
