// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedProcessor_h
#define TestedProcessor_h

#include "voxelmaps/EnumeratorNames.h"

#include <sstream>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** Whether the CUDA engines and the Cuda filters are tested: the environment variable VOXELMAPS_TEST_PROCESSOR is Cuda.
 * Otherwise, it is unset or CPU, and the same tests use the CPU engines and filters. */
bool
IsCudaTest();

/** Prefix of the class name of the tested filters: "Cuda", or none. */
inline std::string
GetClassNamePrefix()
{
  return IsCudaTest() ? "Cuda" : "";
}

/** Run all tests that the command line selects. Without a filter, these are all for CUDA, and all but those of suites
 * Cuda* for the CPU. */
int
RunTests(int argc, char * argv[]);

/** All methods of an enumeration. */
template <typename TMethod>
std::vector<TMethod>
GetMethods()
{
  return voxelmaps::GetEnumerators<TMethod>();
}

/** The method whose printed name contains a name, or Automatic. */
template <typename TMethod>
TMethod
FindMethod(const std::string & name)
{
  for (const TMethod method : GetMethods<TMethod>())
  {
    std::ostringstream text;
    text << method;
    if (!name.empty() && text.str().find(name) != std::string::npos)
    {
      return method;
    }
  }
  return TMethod::Automatic;
}
} // namespace VoxelMapsTest

#endif // TestedProcessor_h
