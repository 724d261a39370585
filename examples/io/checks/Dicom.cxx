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
#include "Formats.h"

#include "io/DicomHeader.h"

namespace ExampleIO
{
namespace FileChecks
{
CompressedParts
CheckDicom(const std::string & name)
{
  const auto file = ReadDicomHeader(name);
  // ITK's reader decides about the list of the files of a medium, and what it may understand better.
  if (!file || file->classUID == "1.2.840.10008.1.3.10" || file->isDeflated || !file->isProblemCertain)
  {
    return {};
  }
  if (!file->problem.empty())
  {
    throw std::runtime_error(file->problem);
  }
  if (!file->hasPixelData)
  {
    throw std::runtime_error("it has no pixel data");
  }
  return {};
}
} // namespace FileChecks
} // namespace ExampleIO
