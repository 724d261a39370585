// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Example_h
#define Example_h

// Shared by the example programs: errors in one line, arguments, and images from files or DICOM folders.

#include "itkGDCMSeriesFileNames.h"
#include "itkImageFileReader.h"
#include "itkImageSeriesReader.h"
#include "itkMetaDataObject.h"
#include "itksys/SystemTools.hxx"

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace Example
{
/** Call run(argc, argv) and return the exit code of the program. An exception, or fewer than `minimum` arguments,
 * prints one line and returns 1. */
template <typename TFunction>
int
Run(int argc, char * argv[], int minimum, const std::string & usage, const TFunction & run)
{
  std::string message;
  try
  {
    if (argc <= minimum)
    {
      throw std::runtime_error("usage: " + itksys::SystemTools::GetFilenameName(argv[0]) + " " + usage);
    }
    run(argc, argv);
    return 0;
  }
  catch (const itk::ExceptionObject & error)
  {
    message = error.GetDescription();
  }
  catch (const std::exception & error)
  {
    message = error.what();
  }
  while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back())))
  {
    message.pop_back();
  }
  std::cerr << itksys::SystemTools::GetFilenameName(argv[0]) << ": ";
  for (const char c : message)
  {
    std::cerr << (c == '\n' ? ' ' : c);
  }
  std::cerr << std::endl;
  return 1;
}

/** A number that is all of an argument. */
template <typename TNumber>
TNumber
ParseNumber(const std::string & text)
{
  TNumber            number;
  std::istringstream stream(text);
  if ((std::is_unsigned<TNumber>::value && text.find('-') != std::string::npos) || !(stream >> number) ||
      stream.peek() != std::istringstream::traits_type::eof())
  {
    throw std::runtime_error("'" + text + "' must be a number" +
                             (std::is_integral<TNumber>::value ? " without fraction" : ""));
  }
  return number;
}

inline std::vector<std::string>
Split(const std::string & text, char separator)
{
  std::vector<std::string> parts;
  std::istringstream       stream(text);
  for (std::string part; std::getline(stream, part, separator);)
  {
    parts.push_back(part);
  }
  return parts;
}

/** The index of a voxel, such as 85,92,26. */
inline itk::Index<3>
ParseIndex(const std::string & text)
{
  const auto parts = Split(text, ',');
  if (parts.size() != 3)
  {
    throw std::runtime_error("'" + text + "' must be the index X,Y,Z of a voxel");
  }
  itk::Index<3> index;
  for (unsigned int d = 0; d < 3; ++d)
  {
    index[d] = ParseNumber<itk::IndexValueType>(parts[d]);
  }
  return index;
}

/** A reader of a 3D image of one component from a file, or from a folder with the files of one DICOM series. */
template <typename TImage>
typename itk::ImageSource<TImage>::Pointer
MakeReader(const std::string & path)
{
  const auto refuse = [path](const std::string & reason) { throw std::runtime_error("'" + path + "' " + reason); };

  if (!itksys::SystemTools::FileIsDirectory(path))
  {
    auto reader = itk::ImageFileReader<TImage>::New();
    reader->SetFileName(path);
    reader->UpdateOutputInformation();
    // ITK would read the luminance of colors, and the first of several volumes.
    const auto * file = reader->GetImageIO();
    if (file->GetNumberOfComponents() != 1)
    {
      refuse("has " + std::to_string(file->GetNumberOfComponents()) + " components per voxel; select one of them");
    }
    if (file->GetNumberOfDimensions() > 3 && file->GetDimensions(3) > 1)
    {
      refuse("has " + std::to_string(file->GetDimensions(3)) + " volumes; select one of them");
    }
    return reader.GetPointer();
  }

  auto names = itk::GDCMSeriesFileNames::New();
  names->SetDirectory(path);
  const auto & series = names->GetSeriesUIDs();
  if (series.size() != 1)
  {
    refuse("has " + std::to_string(series.size()) + " DICOM series; give a folder with the files of one");
  }
  auto reader = itk::ImageSeriesReader<TImage>::New();
  reader->SetFileNames(names->GetFileNames(series.front()));
  // The positions of all slices are known after reading.
  reader->AddObserver(itk::EndEvent(), [refuse, output = reader->GetOutput()](const itk::EventObject &) {
    double deviation = 0.0;
    itk::ExposeMetaData(output->GetMetaDataDictionary(), "ITK_non_uniform_sampling_deviation", deviation);
    if (deviation > 1e-3 * output->GetSpacing()[2])
    {
      refuse("has slices at uneven distances, by up to " + std::to_string(deviation) + " mm; one may be missing");
    }
  });
  return reader.GetPointer();
}

/** Read what MakeReader() supports. */
template <typename TImage>
typename TImage::Pointer
ReadVolume(const std::string & path)
{
  const auto reader = MakeReader<TImage>(path);
  reader->Update();
  return reader->GetOutput();
}
} // namespace Example

#endif // Example_h
