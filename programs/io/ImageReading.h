// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ImageReading_h
#define ImageReading_h

// Reading the image files and DICOM folders that the library in files/ accepts.

#include "DicomSeries.h"
#include "Process.h"
#include "Text.h"
#include "itkImageFileReader.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "itkImageSeriesReader.h"
#include "itkVectorImage.h"
#include "voxelmaps/ImageFile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ProgramIO
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
  /** What is known of a file. */
  voxelmaps::ImageFile file;
  /** Has a link to the file, which is read instead if others beside the file would confuse the reader. */
  std::shared_ptr<TemporaryFolder> folder;
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
  // Few types, which programs are compiled for: 8 bits are read as 16. A double can represent all values of the other
  // types, as ReadScalarImage checks for integers of 64 bits.
  switch (input.componentType)
  {
    case itk::IOComponentEnum::CHAR:
    case itk::IOComponentEnum::SHORT:
      return run(ImageTypeTag<itk::Image<short, VDimension>>{});
    case itk::IOComponentEnum::UCHAR:
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

/** Call a function that reads the voxels of an input, and check what they were read from. */
void
ReadVoxels(const Input & input, std::size_t bytesPerComponent, const std::function<void()> & read);

template <typename TImage>
typename TImage::Pointer
ReadFiles(const Input & input)
{
  const auto update = [&input](auto reader) {
    reader->SetImageIO(input.imageIO);
    ReadVoxels(input, sizeof(typename TImage::InternalPixelType), [&reader] { reader->Update(); });
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

/** Read an image of 64-bit integers as double, or throw if a value is beyond 2^53. */
template <typename TInteger, typename TImage>
typename TImage::Pointer
ReadLargeIntegers(const Input & input)
{
  using IntegerImageType = itk::Image<TInteger, TImage::ImageDimension>;
  const auto integers = ReadFiles<IntegerImageType>(input);
  auto       image = TImage::New();
  image->CopyInformation(integers);
  image->SetRegions(integers->GetLargestPossibleRegion());
  image->Allocate();

  constexpr auto   limit = static_cast<TInteger>(std::int64_t{ 1 } << std::numeric_limits<double>::digits);
  const TInteger * in = integers->GetBufferPointer();
  auto *           out = image->GetBufferPointer();
  const auto       count = integers->GetLargestPossibleRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    bool isExact = in[i] <= limit;
    if constexpr (std::is_signed<TInteger>::value)
    {
      isExact = isExact && in[i] >= -limit;
    }
    if (!isExact)
    {
      throw std::runtime_error("'" + input.name + "' has the value " + std::to_string(in[i]) +
                               ", but integers beyond 2^53 are not exact as double");
    }
    out[i] = static_cast<typename TImage::PixelType>(in[i]);
  }
  return image;
}

/** Read an image with one value per voxel, or a gray image stored with equal red, green, and blue. */
template <typename TImage>
typename TImage::Pointer
ReadScalarImage(const Input & input)
{
  if (!input.isColor)
  {
    if constexpr (std::is_same<typename TImage::PixelType, double>::value)
    {
      using Component = itk::IOComponentEnum;
      const auto type = input.componentType;
      if (type == Component::LONGLONG || (type == Component::LONG && sizeof(long) == 8))
      {
        return ReadLargeIntegers<long long, TImage>(input);
      }
      if (type == Component::ULONGLONG || (type == Component::ULONG && sizeof(long) == 8))
      {
        return ReadLargeIntegers<unsigned long long, TImage>(input);
      }
    }
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

/** Read an image, and convert each value by a function. */
template <typename TImage, typename TFunction>
typename TImage::Pointer
ReadConverted(const Input & input, TFunction && convert)
{
  auto image = TImage::New();
  // In the type of its voxels: small numbers would be 0 in another one.
  RunForPixelType<TImage::ImageDimension>(input, [&](auto type) {
    using ValueImageType = typename decltype(type)::Type;
    // Integers of 64 bits that are not 0 stay so as double, even if they are not exact.
    const auto values = input.isColor ? ReadScalarImage<ValueImageType>(input) : ReadFiles<ValueImageType>(input);
    image->CopyInformation(values);
    image->SetRegions(values->GetLargestPossibleRegion());
    image->Allocate();
    const auto * in = values->GetBufferPointer();
    std::transform(in, in + values->GetLargestPossibleRegion().GetNumberOfPixels(), image->GetBufferPointer(), convert);
  });
  return image;
}

/** Read a mask: 1 for all values except 0 and NaN, so that every label counts as inside. */
template <unsigned int VDimension>
typename itk::Image<unsigned char, VDimension>::Pointer
ReadMask(const Input & input)
{
  return ReadConverted<itk::Image<unsigned char, VDimension>>(
    input, [](auto value) -> unsigned char { return value < 0 || value > 0 ? 1 : 0; });
}

/** Find a mask or an image of seeds for an image with VDimension dimensions. */
template <unsigned int VDimension>
Input
FindMaskFor(const std::string & what, const std::string & name)
{
  auto input = FindScalarInput(name);
  if (input.dimension != VDimension)
  {
    throw std::runtime_error("the " + what + " '" + name + "' has " + std::to_string(input.dimension) +
                             " dimensions, the image " + std::to_string(VDimension));
  }
  return input;
}

/** Read a mask for an image with VDimension dimensions. */
template <unsigned int VDimension>
typename itk::Image<unsigned char, VDimension>::Pointer
ReadMaskFor(const std::string & what, const std::string & name)
{
  return ReadMask<VDimension>(FindMaskFor<VDimension>(what, name));
}

/** Read an image of labels, whole numbers from 0 to 65535, for an image with VDimension dimensions. */
template <unsigned int VDimension>
typename itk::Image<unsigned short, VDimension>::Pointer
ReadLabelsFor(const std::string & what, const std::string & name)
{
  return ReadConverted<itk::Image<unsigned short, VDimension>>(
    FindMaskFor<VDimension>(what, name), [&](auto value) -> unsigned short {
      // Also if it is not a number.
      const auto number = static_cast<double>(value);
      if (!(number >= 0.0 && number <= std::numeric_limits<unsigned short>::max() && number == std::floor(number)))
      {
        std::ostringstream text;
        text << "the " << what << " '" << name << "' has the value " << number
             << ", but labels are whole numbers from 0 (no seed) to " << std::numeric_limits<unsigned short>::max();
        throw std::runtime_error(text.str());
      }
      return static_cast<unsigned short>(value);
    });
}

// Compiled once, in ImageReading.cxx.
#define ProgramIO_READERS(prefix, VDimension)                                                                          \
  prefix template itk::Image<unsigned char, VDimension>::Pointer  ReadMask<VDimension>(const Input &);                 \
  prefix template itk::Image<unsigned char, VDimension>::Pointer  ReadMaskFor<VDimension>(const std::string &,         \
                                                                                         const std::string &);        \
  prefix template itk::Image<unsigned short, VDimension>::Pointer ReadLabelsFor<VDimension>(const std::string &,       \
                                                                                            const std::string &);      \
  prefix template itk::Image<short, VDimension>::Pointer          ReadScalarImage<itk::Image<short, VDimension>>(      \
    const Input &);                                                                                           \
  prefix template itk::Image<unsigned short, VDimension>::Pointer                                                      \
  ReadScalarImage<itk::Image<unsigned short, VDimension>>(const Input &);                                              \
  prefix template itk::Image<int, VDimension>::Pointer   ReadScalarImage<itk::Image<int, VDimension>>(const Input &);  \
  prefix template itk::Image<float, VDimension>::Pointer ReadScalarImage<itk::Image<float, VDimension>>(               \
    const Input &);                                                                                                    \
  prefix template itk::Image<double, VDimension>::Pointer ReadScalarImage<itk::Image<double, VDimension>>(const Input &)

ProgramIO_READERS(extern, 2);
ProgramIO_READERS(extern, 3);
} // namespace ProgramIO

#endif // ImageReading_h
