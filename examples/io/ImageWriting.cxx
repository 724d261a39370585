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

#include "voxelmaps/ImageFile.h"
#include "Supervisor.h"
#include "Text.h"
// This registers all formats.
#include "itkImageFileReader.h"
#include "itkImageIOFactory.h"
#include "itkImageIORegion.h"
#include "itkMetaDataObject.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

namespace ExampleIO
{
namespace
{
namespace fs = std::filesystem;

std::runtime_error
MakeError(const std::string & name, const std::string & reason)
{
  return std::runtime_error("cannot write '" + name + "': " + reason);
}

/** Whether a file is the header of another one with voxels, which must be there first. */
bool
IsHeader(const fs::path & file)
{
  const auto extension = file.extension();
  return extension == ".hdr" || extension == ".mhd" || extension == ".nhdr";
}

/** Whether two files can be a header and its voxels, which have the same name but for the extension. */
bool
IsPair(const fs::path & a, const fs::path & b)
{
  const auto isData = [](const fs::path & file) {
    const auto extension = file.extension();
    return extension == ".raw" || extension == ".zraw" || extension == ".img";
  };
  return fs::path(a).replace_extension() == fs::path(b).replace_extension() &&
         ((IsHeader(a) && isData(b)) || (IsHeader(b) && isData(a)));
}

bool
IsDicomFile(const fs::path & file)
{
  std::array<char, 132> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return std::memcmp(start.data() + 128, "DICM", 4) == 0;
}

/** Write an image with its ImageIO, as itk::ImageFileWriter does. */
void
WriteToFile(const std::string & file, const ImageProperties & properties, const void * voxels,
            const itk::MetaDataDictionary & dictionary)
{
  const auto imageIO = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::WriteMode);
  if (imageIO.IsNull())
  {
    throw std::runtime_error("no writer of ITK has its format");
  }
  const auto & geometry = properties.geometry;
  const auto   dimension = static_cast<unsigned int>(geometry.size.size());
  imageIO->SetNumberOfDimensions(dimension);
  itk::ImageIORegion region(dimension);
  for (unsigned int d = 0; d < dimension; ++d)
  {
    imageIO->SetDimensions(d, geometry.size[d]);
    imageIO->SetSpacing(d, geometry.spacing[d]);
    imageIO->SetOrigin(d, geometry.origin[d]);
    std::vector<double> axis;
    for (const auto & row : geometry.direction)
    {
      axis.push_back(row[d]);
    }
    imageIO->SetDirection(d, axis);
    region.SetIndex(d, 0);
    region.SetSize(d, geometry.size[d]);
  }
  imageIO->SetUseCompression(false);
  imageIO->SetMetaDataDictionary(dictionary);
  imageIO->SetPixelType(properties.pixelType);
  imageIO->SetComponentType(properties.componentType);
  imageIO->SetNumberOfComponents(properties.numberOfComponents);
  imageIO->SetFileName(file);
  imageIO->SetIORegion(region);
  imageIO->Write(voxels);
}

std::uint64_t
GetNumberOfBytes(const ImageProperties & properties)
{
  std::uint64_t count = properties.numberOfComponents * sizeof(double);
  for (const auto size : properties.geometry.size)
  {
    count *= size;
  }
  return count;
}

/** The geometry in a header that was read, with the number of dimensions of the image that was written. */
Geometry
GetStoredGeometry(const itk::ImageIOBase * imageIO, std::size_t dimension)
{
  Geometry   geometry;
  const auto stored = imageIO->GetNumberOfDimensions();
  for (unsigned int d = 0; d < stored || d < dimension; ++d)
  {
    // Some readers leave out a last axis of size 1, and some add one.
    const auto size = d < stored ? imageIO->GetDimensions(d) : 1;
    if (d >= dimension && size == 1)
    {
      continue;
    }
    geometry.size.push_back(size);
    geometry.spacing.push_back(d < stored ? imageIO->GetSpacing(d) : 1.0);
    geometry.origin.push_back(d < stored ? imageIO->GetOrigin(d) : 0.0);
  }
  for (unsigned int row = 0; row < dimension; ++row)
  {
    std::vector<double> values;
    for (unsigned int d = 0; d < dimension; ++d)
    {
      values.push_back(row < stored && d < stored ? imageIO->GetDirection(d)[row] : (row == d ? 1.0 : 0.0));
    }
    geometry.direction.push_back(values);
  }
  return geometry;
}

/** Throw if the format does not keep a property. Headers store numbers with 6 digits or more; beyond that, these
 * tolerances tell rounding from a format that has no place for a number. */
void
CheckHeader(const itk::ImageIOBase * imageIO, const ImageProperties & properties)
{
  const auto fail = [](const std::string & what, const std::string & stored, const std::string & written) {
    throw std::runtime_error("its format stores the " + what + " " + stored + " instead of " + written);
  };
  const auto & written = properties.geometry;
  const auto   stored = GetStoredGeometry(imageIO, written.size.size());

  if (imageIO->GetNumberOfComponents() != properties.numberOfComponents)
  {
    fail("number of components",
         std::to_string(imageIO->GetNumberOfComponents()),
         std::to_string(properties.numberOfComponents));
  }
  if (imageIO->GetComponentType() != properties.componentType)
  {
    fail("type",
         itk::ImageIOBase::GetComponentTypeAsString(imageIO->GetComponentType()),
         itk::ImageIOBase::GetComponentTypeAsString(properties.componentType));
  }
  if (imageIO->GetNumberOfDimensions() < written.size.size() && written.size.back() > 1)
  {
    fail("number of dimensions", std::to_string(imageIO->GetNumberOfDimensions()), std::to_string(written.size.size()));
  }
  if (stored.size != written.size)
  {
    fail("size", ToText(stored.size), ToText(written.size));
  }
  const double largestSpacing = *std::max_element(written.spacing.begin(), written.spacing.end());
  double       largestOrigin = 0.0;
  for (const double coordinate : written.origin)
  {
    largestOrigin = std::max(largestOrigin, std::abs(coordinate));
  }
  for (std::size_t d = 0; d < written.spacing.size(); ++d)
  {
    if (!(std::abs(stored.spacing[d] - written.spacing[d]) <= 1e-5 * written.spacing[d]))
    {
      fail("spacing", ToText(stored.spacing), ToText(written.spacing));
    }
  }
  if (!IsClose(stored.origin, written.origin, 1e-3 * largestSpacing + 1e-5 * largestOrigin))
  {
    fail("origin", ToText(stored.origin), ToText(written.origin));
  }
  if (!IsClose(stored.direction, written.direction, 1e-3))
  {
    fail("direction", ToText(stored.direction), ToText(written.direction));
  }
}

/** Throw if the file does not hold these voxels. */
void
CheckVoxels(itk::ImageIOBase * imageIO, const void * voxels)
{
  itk::ImageIORegion region(imageIO->GetNumberOfDimensions());
  for (unsigned int d = 0; d < imageIO->GetNumberOfDimensions(); ++d)
  {
    region.SetIndex(d, 0);
    region.SetSize(d, imageIO->GetDimensions(d));
  }
  imageIO->SetIORegion(region);
  std::vector<char> stored(static_cast<std::size_t>(imageIO->GetImageSizeInBytes()));
  imageIO->Read(stored.data());
  if (std::memcmp(stored.data(), voxels, stored.size()) != 0)
  {
    throw std::runtime_error("its format changes the values of voxels");
  }
}

/** Read a file again that was written with these properties, and also the voxels of formats of pictures or of any
 * format. */
void
CheckFile(const std::string & file, const ImageProperties & properties, const void * voxels, bool isAnyFormat)
{
  // First the length and checksums, which readers do not check.
  VerifyCompressedVoxels(voxelmaps::InspectImageFile(file));
  const auto imageIO = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::ReadMode);
  if (imageIO.IsNull())
  {
    throw std::runtime_error("what was written cannot be read");
  }
  imageIO->SetFileName(file);
  imageIO->ReadImageInformation();
  CheckHeader(imageIO, properties);

  const std::string format = imageIO->GetNameOfClass();
  const bool        isPicture =
    format == "PNGImageIO" || format == "TIFFImageIO" || format == "BMPImageIO" || format == "JPEGImageIO";
  if (voxels != nullptr && (isAnyFormat || isPicture))
  {
    CheckVoxels(imageIO, voxels);
  }
}

/** The bytes of an image with small whole numbers, different in all components and neighbors. */
template <typename T>
std::vector<char>
MakeSmallNumbers(std::size_t count)
{
  std::vector<T> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
  {
    numbers[i] = static_cast<T>(i * 7 % 11);
  }
  std::vector<char> bytes(count * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/** Write a small image with these properties, and read it again. */
void
TryToWrite(const std::string & file, ImageProperties properties)
{
  std::size_t count = properties.numberOfComponents;
  for (auto & size : properties.geometry.size)
  {
    size = std::min<itk::SizeValueType>(size, 4);
    count *= size;
  }
  std::vector<char> voxels;
  switch (properties.componentType)
  {
    case itk::IOComponentEnum::UCHAR:
      voxels = MakeSmallNumbers<unsigned char>(count);
      break;
    case itk::IOComponentEnum::SHORT:
      voxels = MakeSmallNumbers<short>(count);
      break;
    case itk::IOComponentEnum::USHORT:
      voxels = MakeSmallNumbers<unsigned short>(count);
      break;
    case itk::IOComponentEnum::FLOAT:
      voxels = MakeSmallNumbers<float>(count);
      break;
    case itk::IOComponentEnum::DOUBLE:
      voxels = MakeSmallNumbers<double>(count);
      break;
    default:
      throw std::logic_error("a type that the programs do not write");
  }
  WriteToFile(file, properties, voxels.data(), {});
  CheckFile(file, properties, voxels.data(), true);
}

std::vector<fs::path>
GetFileNames(const fs::path & folder)
{
  std::vector<fs::path> names;
  for (const auto & entry : fs::directory_iterator(folder))
  {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}
} // namespace

void
CallWriter(const std::string & name, const fs::path & temporary, const std::function<void()> & function,
           std::uint64_t numberOfBytes)
{
  try
  {
    // What libraries print is an error, and must not be printed.
    CallReader(name, function, GetReadingTimeLimit(static_cast<double>(numberOfBytes)), FileAction::Write);
  }
  catch (const std::runtime_error & error)
  {
    std::string reason;
    auto        files = GetFileNames(temporary.parent_path());
    if (files.empty())
    {
      files.push_back(temporary.filename());
    }
    for (const auto & file : files)
    {
      reason = reason.empty() ? GetReasonWhyFull(temporary.parent_path() / file) : reason;
    }
    if (reason.empty())
    {
      reason = GetOneLineMessage(error);
      const std::string hidden = temporary.string();
      for (auto at = reason.find(hidden); at != std::string::npos; at = reason.find(hidden, at))
      {
        reason.replace(at, hidden.size(), name);
        at += name.size();
      }
      // The checks of the written file are those of inputs.
      for (const auto & prefix : { "cannot write '" + name + "': ", "cannot read '" + name + "': " })
      {
        reason.erase(0, reason.compare(0, prefix.size(), prefix) == 0 ? prefix.size() : 0);
      }
    }
    throw MakeError(name, reason);
  }
}

const OutputFiles::Output &
OutputFiles::Find(const std::string & name) const
{
  const auto found =
    std::find_if(m_Outputs.begin(), m_Outputs.end(), [&name](const Output & output) { return output.name == name; });
  if (found == m_Outputs.end())
  {
    throw std::logic_error("'" + name + "' was not added to the output files");
  }
  return *found;
}

std::string
OutputFiles::GetTemporaryName(const std::string & name) const
{
  return this->Find(name).temporary.string();
}

OutputFiles::Output
OutputFiles::MakeOutput(const std::string & name)
{
  if (name.empty())
  {
    throw std::runtime_error("the name of an output is empty");
  }
  Output output;
  output.name = name;
  output.target = ResolveFile(name);

  std::error_code error;
  if (fs::is_symlink(output.target, error))
  {
    throw MakeError(name, "its symbolic links lead to each other");
  }
  const auto status = fs::status(output.target, error);
  if (fs::is_directory(status))
  {
    throw MakeError(name, "it is a folder");
  }
  if (fs::exists(status) && !fs::is_regular_file(status))
  {
    throw MakeError(name, "it is not a regular file");
  }
  errno = 0;
  if (fs::exists(status) && !std::ofstream(output.target, std::ios::binary | std::ios::app).good())
  {
    throw MakeError(name, errno == 0 ? "the file cannot be opened" : GetMessage({ errno, std::generic_category() }));
  }
  const auto fileName = fs::path(name).filename();
  output.fileNames = { fileName };
  this->CheckFiles(output);
  fs::path folder = output.target.parent_path();
  output.temporary = m_Files.MakeFolder(folder, name) / fileName;
  return output;
}

void
OutputFiles::CheckFiles(const Output & output) const
{
  const fs::path  named = fs::path(output.name).filename();
  std::error_code error;
  if (output.fileNames.size() > 1 && fs::is_symlink(output.name, error))
  {
    throw MakeError(output.name, "it is a symbolic link, but its format needs more than one file");
  }
  for (const auto & fileName : output.fileNames)
  {
    const bool     isNamed = fileName == named;
    const fs::path target = isNamed ? output.target : output.target.parent_path() / fileName;
    const auto     describe = [&] {
      return isNamed ? "'" + output.name + "'" : "'" + fileName.string() + "', which belongs to '" + output.name + "',";
    };

    for (const auto & other : m_Outputs)
    {
      for (const auto & otherName : other.fileNames)
      {
        if (IsSameFile(target,
                       otherName == fs::path(other.name).filename() ? other.target
                                                                    : other.target.parent_path() / otherName))
        {
          throw std::runtime_error(isNamed && fs::path(other.name).filename() == otherName
                                     ? "the file '" + output.name + "' is given for two outputs"
                                     : "'" + other.name + "' and '" + output.name + "' would both write the file '" +
                                         otherName.string() + "'");
        }
      }
    }
    for (const auto & input : m_Inputs)
    {
      if (input.empty())
      {
        continue;
      }
      if (IsSameFile(target, input))
      {
        throw MakeError(output.name, describe() + " is the input '" + input + "'");
      }
      const fs::path inputFile = ResolveFile(input);
      if (IsPair(inputFile, target) && fs::exists(target, error))
      {
        throw MakeError(output.name, describe() + " may belong to the input '" + input + "'");
      }
      if (fs::is_directory(inputFile, error) && inputFile == target.parent_path() && fs::exists(target, error) &&
          IsDicomFile(target))
      {
        throw MakeError(output.name, describe() + " is a file of the input '" + input + "'");
      }
    }
    if (!isNamed && fs::exists(target, error) && (!fs::exists(output.target, error) || !fs::is_regular_file(target)))
    {
      throw MakeError(output.name, describe() + " is there already, without '" + output.name + "'");
    }
  }
}

void
OutputFiles::AddImage(const std::string & name, const ImageProperties & properties)
{
  Output output = this->MakeOutput(name);
  if (itk::ImageIOFactory::CreateImageIO(name.c_str(), itk::IOFileModeEnum::WriteMode).IsNull())
  {
    throw std::runtime_error("no writer of ITK can write the file '" + name + "'");
  }
  CallWriter(name, output.temporary, [&] { TryToWrite(output.temporary.string(), properties); });
  const fs::path folder = output.temporary.parent_path();
  output.fileNames = GetFileNames(folder);
  for (const auto & fileName : output.fileNames)
  {
    fs::remove(folder / fileName);
  }
  this->CheckFiles(output);
  m_Outputs.push_back(output);
}

void
OutputFiles::AddFile(const std::string & name)
{
  m_Outputs.push_back(this->MakeOutput(name));
}

void
OutputFiles::WriteVoxels(const std::string & name, const ImageProperties & properties, const void * voxels,
                         const itk::MetaDataDictionary & dictionary) const
{
  const auto & output = this->Find(name);
  CallWriter(
    name,
    output.temporary,
    [&] { WriteToFile(output.temporary.string(), properties, voxels, dictionary); },
    GetNumberOfBytes(properties));
}

void
OutputFiles::FinishImage(const std::string & name, const ImageProperties & properties, const void * voxels)
{
  const auto & output = this->Find(name);
  CallWriter(
    name,
    output.temporary,
    [&] { CheckFile(output.temporary.string(), properties, voxels, false); },
    GetNumberOfBytes(properties));
  this->FinishFile(name);
}

void
OutputFiles::FinishFile(const std::string & name)
{
  const auto & output = this->Find(name);
  CallWriter(name, output.temporary, [&] {
    if (GetFileNames(output.temporary.parent_path()) != output.fileNames)
    {
      throw std::runtime_error("it was not written");
    }
  });
  m_Outputs[&output - m_Outputs.data()].isFinished = true;
}

void
OutputFiles::Commit()
{
  // A reader that finds a header must also find the voxels.
  for (const bool isHeader : { false, true })
  {
    for (const auto & output : m_Outputs)
    {
      if (!output.isFinished)
      {
        throw std::logic_error("the output '" + output.name + "' was not finished");
      }
      for (const auto & fileName : output.fileNames)
      {
        if (IsHeader(fileName) == isHeader)
        {
          m_Files.Add(output.temporary.parent_path() / fileName,
                      fileName == output.temporary.filename() ? output.target : output.target.parent_path() / fileName,
                      output.name);
        }
      }
    }
  }
  m_Files.Commit();
}
} // namespace ExampleIO
