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
#include "ImageReading.h"

#include "itkGDCMImageIO.h"
#include "itkGDCMSeriesFileNames.h"
#include "itkImageIOFactory.h"

#include <filesystem>
#include <stdexcept>

namespace ExampleIO
{
namespace
{
/** Find the series with the most files in a DICOM directory. */
void
FindSeries(Input & input)
{
  auto names = itk::GDCMSeriesFileNames::New();
  names->SetUseSeriesDetails(true);
  names->SetDirectory(input.name);

  const auto  uids = names->GetSeriesUIDs();
  std::string largest;
  for (const auto & uid : uids)
  {
    const auto files = names->GetFileNames(uid);
    if (files.size() > input.fileNames.size())
    {
      input.fileNames = files;
      largest = uid;
    }
  }
  if (input.fileNames.empty())
  {
    throw std::runtime_error("the directory '" + input.name + "' holds no DICOM series");
  }
  input.isSeries = true;
  if (uids.size() > 1)
  {
    input.remark = input.name + " holds " + std::to_string(uids.size()) + " series; reading the largest, " + largest +
                   " (" + std::to_string(input.fileNames.size()) + " files)";
  }
}
} // namespace

Input
FindInput(const std::string & name)
{
  Input input;
  input.name = name;
  if (!std::filesystem::exists(name))
  {
    throw std::runtime_error("there is no file '" + name + "'");
  }
  if (std::filesystem::is_directory(name))
  {
    FindSeries(input);
    input.imageIO = itk::GDCMImageIO::New();
  }
  else
  {
    input.fileNames = { name };
    input.imageIO = itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::IOFileModeEnum::ReadMode);
    if (input.imageIO.IsNull())
    {
      throw std::runtime_error("no reader of ITK can read the file '" + name + "'");
    }
  }
  input.imageIO->SetFileName(input.fileNames.front());
  CallReader(name, [&input] { input.imageIO->ReadImageInformation(); });

  // Some programs store a single volume with a fourth axis of size 1.
  input.dimension = input.imageIO->GetNumberOfDimensions();
  while (input.dimension > 3 && input.imageIO->GetDimensions(input.dimension - 1) == 1)
  {
    --input.dimension;
  }
  if (input.isSeries)
  {
    input.dimension = 3;
  }
  if (input.dimension != 2 && input.dimension != 3)
  {
    throw std::runtime_error("'" + name + "' has " + std::to_string(input.dimension) +
                             " dimensions, but must have 2 or 3");
  }
  input.componentType = input.imageIO->GetComponentType();
  return input;
}

Input
FindScalarInput(const std::string & name)
{
  Input      input = FindInput(name);
  const auto components = input.imageIO->GetNumberOfComponents();
  const bool hasBytes =
    input.componentType == itk::IOComponentEnum::UCHAR || input.componentType == itk::IOComponentEnum::USHORT;

  input.isColor = input.imageIO->GetPixelType() == itk::IOPixelEnum::RGB && components == 3 && hasBytes;
  if (components != 1 && !input.isColor)
  {
    throw std::runtime_error("'" + name + "' has " + std::to_string(components) +
                             " components per voxel; an image of one is needed");
  }
  return input;
}
} // namespace ExampleIO
