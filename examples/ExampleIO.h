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
#ifndef ExampleIO_h
#define ExampleIO_h

// What the example programs share: reading all formats that ITK reads, checking outputs early, one-line error messages.

#include "itkGDCMImageIO.h"
#include "itkGDCMSeriesFileNames.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageIOFactory.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "itkImageSeriesReader.h"
#include "itkUnaryGeneratorImageFilter.h"
#include "itkVectorImage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ExampleIO
{
/** The message of an exception on one line, without the class and address of the ITK object that threw it. */
inline std::string
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

/** "4,4" for the values 4 and 4. */
template <typename TValues>
std::string
Join(const TValues & values, const char * separator = ",")
{
  std::ostringstream text;
  const char *       before = "";
  for (const auto & value : values)
  {
    text << before << value;
    before = separator;
  }
  return text.str();
}

/** An image to read: a file, or the files of a DICOM series. */
struct Input
{
  std::string               name;
  std::vector<std::string>  fileNames;
  bool                      isSeries{ false };
  itk::ImageIOBase::Pointer imageIO;
  unsigned int              dimension{ 0 };
  itk::IOComponentEnum      componentType{ itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE };
  /** Red, green, and blue; read as a gray image if all three are equal everywhere. */
  bool isColor{ false };
  /** A message about the choice of files for the user; may be empty. */
  std::string remark;
};

/** Find the series with the most files in a DICOM directory. */
inline void
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

/** Read the header of a file or DICOM directory, but no voxels. */
inline Input
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
  input.componentType = input.imageIO->GetComponentType();
  return input;
}

/** The same as FindInput, but require one value per voxel. */
inline Input
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

/** Passes an image type to a function. */
template <typename TImage>
struct ImageTypeTag
{
  using Type = TImage;
};

template <unsigned int VDimension, typename TFunction>
void
RunForPixelType(const Input & input, TFunction && run)
{
  // A double can represent all values of the other integer types that are used in practice.
  switch (input.componentType)
  {
    case itk::IOComponentEnum::UCHAR:
      return run(ImageTypeTag<itk::Image<unsigned char, VDimension>>{});
    case itk::IOComponentEnum::CHAR:
    case itk::IOComponentEnum::SHORT:
      return run(ImageTypeTag<itk::Image<short, VDimension>>{});
    case itk::IOComponentEnum::USHORT:
      return run(ImageTypeTag<itk::Image<unsigned short, VDimension>>{});
    case itk::IOComponentEnum::INT:
      return run(ImageTypeTag<itk::Image<int, VDimension>>{});
    case itk::IOComponentEnum::FLOAT:
      return run(ImageTypeTag<itk::Image<float, VDimension>>{});
    default:
      return run(ImageTypeTag<itk::Image<double, VDimension>>{});
  }
}

/** Call a function with the ImageTypeTag of the image type that can hold all values of the input. */
template <typename TFunction>
void
RunForImageType(const Input & input, TFunction && run)
{
  if (input.dimension == 2)
  {
    RunForPixelType<2>(input, run);
  }
  else
  {
    RunForPixelType<3>(input, run);
  }
}

template <typename TImage>
typename TImage::Pointer
ReadFiles(const Input & input)
{
  const auto update = [&input](auto reader) {
    reader->SetImageIO(input.imageIO);
    try
    {
      reader->Update();
    }
    catch (const itk::ExceptionObject & error)
    {
      throw std::runtime_error("cannot read '" + input.name + "': " + GetOneLineMessage(error));
    }
    typename TImage::Pointer image = reader->GetOutput();
    image->DisconnectPipeline();
    return image;
  };
  if (input.isSeries)
  {
    auto reader = itk::ImageSeriesReader<TImage>::New();
    reader->SetFileNames(input.fileNames);
    return update(reader);
  }
  auto reader = itk::ImageFileReader<TImage>::New();
  reader->SetFileName(input.fileNames.front());
  return update(reader);
}

/** Read an image with one value per voxel, or a gray image stored with equal red, green, and blue. */
template <typename TImage>
typename TImage::Pointer
ReadScalarImage(const Input & input)
{
  if (!input.isColor)
  {
    return ReadFiles<TImage>(input);
  }

  using ColorImageType = itk::VectorImage<unsigned short, TImage::ImageDimension>;
  const auto color = ReadFiles<ColorImageType>(input);
  auto       gray = TImage::New();
  gray->CopyInformation(color);
  gray->SetRegions(color->GetLargestPossibleRegion());
  gray->Allocate();

  itk::ImageRegionConstIterator<ColorImageType> in(color, color->GetLargestPossibleRegion());
  itk::ImageRegionIterator<TImage>              out(gray, gray->GetLargestPossibleRegion());
  for (; !in.IsAtEnd(); ++in, ++out)
  {
    const auto pixel = in.Get();
    if (pixel[0] != pixel[1] || pixel[0] != pixel[2])
    {
      throw std::runtime_error("'" + input.name +
                               "' is a color image: it has 3 components per voxel; an image of one is needed");
    }
    out.Set(static_cast<typename TImage::PixelType>(pixel[0]));
  }
  return gray;
}

/** Read a mask: 1 for all values except 0 and NaN, so that every label counts as inside. */
template <unsigned int VDimension>
typename itk::Image<unsigned char, VDimension>::Pointer
ReadMask(const Input & input)
{
  using ValueImageType = itk::Image<float, VDimension>;
  using MaskImageType = itk::Image<unsigned char, VDimension>;

  auto threshold = itk::UnaryGeneratorImageFilter<ValueImageType, MaskImageType>::New();
  threshold->SetInput(ReadScalarImage<ValueImageType>(input));
  threshold->SetFunctor([](const float & value) -> unsigned char { return value < 0.0F || value > 0.0F ? 1 : 0; });
  threshold->Update();
  typename MaskImageType::Pointer mask = threshold->GetOutput();
  mask->DisconnectPipeline();
  return mask;
}

/** Read a mask for an image with VDimension dimensions. */
template <unsigned int VDimension>
typename itk::Image<unsigned char, VDimension>::Pointer
ReadMaskFor(const std::string & what, const std::string & name)
{
  const auto input = FindScalarInput(name);
  if (input.dimension != VDimension)
  {
    throw std::runtime_error("the " + what + " '" + name + "' has " + std::to_string(input.dimension) +
                             " dimensions, the image " + std::to_string(VDimension));
  }
  return ReadMask<VDimension>(input);
}

/** Throw if a file cannot be written; programs check this before a long computation. */
inline void
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

/** The same for several files; also throws if two of them are the same, as the second one would replace the first. */
inline void
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

#endif // ExampleIO_h
