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
#include "itkImageIOFactory.h"

#include <filesystem>
#include <stdexcept>

namespace ExampleIO
{
Input
FindInput(const std::string & name, const DicomOptions & options)
{
  Input input;
  input.name = name;
  if (!std::filesystem::exists(name))
  {
    throw std::runtime_error("there is no file '" + name + "'");
  }
  if (std::filesystem::is_directory(name))
  {
    input.isSeries = true;
    input.volume = FindDicomVolume(name, options);
    input.fileNames = input.volume.fileNames;
    input.remark = input.volume.remark;
    input.imageIO = itk::GDCMImageIO::New();
  }
  else
  {
    if (!options.series.empty() || options.allowUnevenSlices)
    {
      throw std::runtime_error(std::string(options.series.empty() ? "--allow-uneven-slices" : "--series") +
                               " is for a folder with DICOM files, but '" + name + "' is a file");
    }
    input.fileNames = { name };
    input.imageIO = itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::IOFileModeEnum::ReadMode);
    if (input.imageIO.IsNull())
    {
      throw std::runtime_error("no reader of ITK can read the file '" + name + "'");
    }
  }
  input.imageIO->SetFileName(input.fileNames.front());
  try
  {
    input.imageIO->ReadImageInformation();
  }
  catch (const itk::ExceptionObject & error)
  {
    throw std::runtime_error("cannot read '" + name + "': " + GetOneLineMessage(error));
  }

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
  input.componentType = input.isSeries ? input.volume.componentType : input.imageIO->GetComponentType();
  return input;
}

Input
FindScalarInput(const std::string & name, const DicomOptions & options)
{
  Input      input = FindInput(name, options);
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
