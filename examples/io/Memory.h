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
#ifndef Memory_h
#define Memory_h

// What a program does when memory runs out.

#include "itkMacro.h"

#include <cstdint>
#include <iomanip>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ExampleIO
{
/** "not enough memory to read 'head.nii': it takes at least 275.0 MiB". */
inline std::runtime_error
MakeMemoryError(const std::string & purpose, std::uint64_t numberOfBytes)
{
  const double       mebibytes = static_cast<double>(numberOfBytes) / 1048576.0;
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << "not enough memory to " << purpose << ": it takes at least ";
  if (mebibytes < 1024.0)
  {
    text << mebibytes << " MiB";
  }
  else
  {
    text << mebibytes / 1024.0 << " GiB";
  }
  return std::runtime_error(text.str());
}

/** Call a function; if its memory runs out, throw an exception that says what it was for, "compute the maps", and how
 * much it takes at least. */
template <typename TFunction>
auto
CallWithMemory(const std::string & purpose, std::uint64_t numberOfBytes, TFunction && function)
{
  try
  {
    return function();
  }
  catch (const std::bad_alloc &)
  {
    throw MakeMemoryError(purpose, numberOfBytes);
  }
  catch (const itk::MemoryAllocationError &)
  {
    throw MakeMemoryError(purpose, numberOfBytes);
  }
}
} // namespace ExampleIO

#endif // Memory_h
