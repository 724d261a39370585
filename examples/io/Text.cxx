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
#include "Text.h"

#include "itkMacro.h"

namespace ExampleIO
{
std::string
GetOneLineMessage(const std::exception & error)
{
  const auto * itkError = dynamic_cast<const itk::ExceptionObject *>(&error);
  std::string  text = itkError ? itkError->GetDescription() : error.what();

  for (const std::string prefix : { "ITK ERROR: ", "itk::ERROR: " })
  {
    if (text.compare(0, prefix.size(), prefix) == 0)
    {
      const auto end = text.find("): ");
      text.erase(0, end == std::string::npos ? prefix.size() : end + 3);
    }
  }

  std::istringstream words(text);
  std::string        line;
  for (std::string word; words >> word;)
  {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}
} // namespace ExampleIO
