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
#ifndef ImageWriting_h
#define ImageWriting_h

// Writing images, with a check of the names before a long computation.

#include "Text.h"
#include "itkImageFileWriter.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace ExampleIO
{
/** Throw if a file cannot be written; programs check this before a long computation. */
void
CheckOutput(const std::string & name);

/** The same for several files; also throws if two of them are the same, as the second one would replace the first. */
void
CheckOutputs(const std::vector<std::string> & names);

template <typename TImage>
void
WriteFile(const TImage * image, const std::string & name)
{
  auto writer = itk::ImageFileWriter<TImage>::New();
  writer->SetInput(image);
  writer->SetFileName(name);
  try
  {
    writer->Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    throw std::runtime_error("cannot write '" + name + "': " + GetOneLineMessage(error));
  }

  // ITK's NIfTI writer does not report that it could not write the file.
  std::error_code error;
  if (std::filesystem::file_size(name, error) == 0 || error)
  {
    throw std::runtime_error("the file '" + name + "' was not written");
  }
}
} // namespace ExampleIO

#endif // ImageWriting_h
