// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaArchitectures_h
#define CudaArchitectures_h

#include <string>

namespace voxelmaps
{
/** Whether code compiled for a list in the syntax of CMAKE_CUDA_ARCHITECTURES, with commas for semicolons, runs on a
 * device of a compute capability such as 90 for 9.0. Machine code ("80", "80-real") runs on the same major version from
 * its minor version on, PTX ("80", "80-virtual") on everything that is newer; "90a" on 9.0 only, "100f" on its major
 * version. Names such as "native" are taken to run everywhere. */
bool
ArchitecturesRunOn(const std::string & architectures, int capability);
} // namespace voxelmaps

#endif // CudaArchitectures_h
