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
#include "ImageWriting.h"

#include "itkImageIOFactory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ExampleIO
{
void
CheckOutput(const std::string & name)
{
  const auto imageIO = itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::IOFileModeEnum::WriteMode);
  if (imageIO.IsNull())
  {
    throw std::runtime_error("no writer of ITK can write the file '" + name + "'");
  }
  const bool existed = std::filesystem::exists(name);
  const bool isWritable = std::ofstream(name, std::ios::binary | std::ios::app).good();
  if (isWritable && !existed)
  {
    std::filesystem::remove(name);
  }
  if (!isWritable)
  {
    throw std::runtime_error("cannot write the file '" + name + "'");
  }
}

void
CheckOutputs(const std::vector<std::string> & names)
{
  std::vector<std::filesystem::path> paths;
  for (const auto & name : names)
  {
    const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(name));
    if (std::find(paths.begin(), paths.end(), path) != paths.end())
    {
      throw std::runtime_error("the file '" + name + "' is given for two outputs");
    }
    paths.push_back(path);
    CheckOutput(name);
  }
}
} // namespace ExampleIO
