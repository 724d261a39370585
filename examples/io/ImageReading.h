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
#ifndef ImageReading_h
#define ImageReading_h

// Reading all formats that ITK reads.

#include "DicomSeries.h"
#include "Text.h"
#include "itkImageFileReader.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "itkImageSeriesReader.h"
#include "itkUnaryGeneratorImageFilter.h"
#include "itkVectorImage.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace ExampleIO
{
/** An image to read: a file, or the files of a DICOM series. */
struct Input
{
  std::string              name;
  std::vector<std::string> fileNames;
  bool                     isSeries{ false };
  /** Of a series. */
  DicomVolume               volume;
  itk::ImageIOBase::Pointer imageIO;
  unsigned int              dimension{ 0 };
  itk::IOComponentEnum      componentType{ itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE };
  /** Red, green, and blue; read as a gray image if all three are equal everywhere. */
  bool isColor{ false };
  /** A message about the choice of files for the user; may be empty. */
  std::string remark;
};

/** Read the header of a file or DICOM directory, but no voxels. */
Input
FindInput(const std::string & name, const DicomOptions & options = {});

/** The same as FindInput, but require one value per voxel. */
Input
FindScalarInput(const std::string & name, const DicomOptions & options = {});

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
  if constexpr (TImage::ImageDimension == 3)
  {
    if (input.isSeries)
    {
      auto reader = itk::ImageSeriesReader<TImage>::New();
      reader->SetFileNames(input.fileNames);
      const auto image = update(reader);
      SetDicomGeometry(image.GetPointer(), input.volume);
      return image;
    }
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

} // namespace ExampleIO

#endif // ImageReading_h
