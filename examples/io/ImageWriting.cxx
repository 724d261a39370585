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

#include "Supervisor.h"
// This registers all formats.
#include "itkImageFileReader.h"
#include "itkImageIOFactory.h"
#include "itk_zlib.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <system_error>

#ifndef _WIN32
#  include <fcntl.h>
#  include <unistd.h>
#endif

namespace ExampleIO
{
namespace
{
namespace fs = std::filesystem;

/** The extensions of outputs, and that of the second file. */
const std::array<std::array<std::string, 2>, 8> formats{ { { { ".nii", "" } },
                                                           { { ".nii.gz", "" } },
                                                           { { ".hdr", ".img" } },
                                                           { { ".img", ".hdr" } },
                                                           { { ".nrrd", "" } },
                                                           { { ".nhdr", ".raw" } },
                                                           { { ".mha", "" } },
                                                           { { ".mhd", ".raw" } } } };

/** "cannot write 'x': no space left on device". */
std::runtime_error
MakeError(const std::string & name, const std::string & reason)
{
  return std::runtime_error("cannot write '" + name + "': " + reason);
}

std::string
GetMessage(int error)
{
  std::string message = std::generic_category().message(error);
  message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return message;
}

/** The place of a file, with all symbolic links resolved; the file itself need not exist. */
fs::path
ResolveFile(const fs::path & name)
{
  fs::path        file = fs::absolute(name);
  std::error_code error;
  // weakly_canonical does not follow a link to a file that does not exist.
  for (int i = 0; i < 40 && fs::is_symlink(file, error); ++i)
  {
    file = file.parent_path() / fs::read_symlink(file, error);
  }
  const fs::path resolved = fs::weakly_canonical(file, error);
  return error ? file.lexically_normal() : resolved;
}

bool
IsSameFile(const fs::path & a, const fs::path & b)
{
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

/** All files that are read with an image: those of a folder, or those that a header names. */
std::vector<fs::path>
GetFilesOfImage(const fs::path & name)
{
  std::vector<fs::path> files{ name };
  std::error_code       error;
  for (const auto & entry : fs::directory_iterator(name, error))
  {
    files.push_back(entry.path());
  }
  const auto plain = name.extension() == ".gz" ? fs::path(name).replace_extension() : name;
  if (plain.extension() == ".hdr" || plain.extension() == ".img")
  {
    for (const char * extension : { ".hdr", ".img", ".hdr.gz", ".img.gz" })
    {
      files.push_back(fs::path(plain).replace_extension(extension));
    }
  }
  std::string start(65536, '\0');
  std::ifstream(name, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  std::istringstream lines(start);
  for (std::string line; std::getline(lines, line) && line.size() < 4096;)
  {
    const auto first = line.find_first_not_of(" \t", line.find_last_of("=:") + 1);
    const auto last = line.find_last_not_of(" \t\r");
    const auto file = first <= last && last != std::string::npos ? line.substr(first, last + 1 - first) : "";
    if (!file.empty() && file.find('\0') == std::string::npos && fs::is_regular_file(name.parent_path() / file, error))
    {
      files.push_back(name.parent_path() / file);
    }
  }
  return files;
}

/** Wait until the data of a file or the entries of a folder are on the disk; returns the error or 0. */
int
Synchronize([[maybe_unused]] const fs::path & path)
{
  int error = 0;
#ifndef _WIN32
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  error = file >= 0 && ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
#endif
  // Some file systems cannot synchronize folders.
  return error == EINVAL || error == ENOTSUP ? 0 : error;
}

/** Ignores the signals that ask the program to end while it moves files, which takes milliseconds. */
class SignalsIgnored
{
public:
  SignalsIgnored()
  {
    std::transform(std::begin(endingSignals), std::end(endingSignals), m_Formers.begin(), [](int number) {
      return std::signal(number, SIG_IGN);
    });
  }
  SignalsIgnored(const SignalsIgnored &) = delete;
  SignalsIgnored &
  operator=(const SignalsIgnored &) = delete;
  ~SignalsIgnored()
  {
    for (std::size_t i = 0; i < m_Formers.size(); ++i)
    {
      std::signal(endingSignals[i], m_Formers[i]);
    }
  }

private:
  std::array<void (*)(int), std::size(endingSignals)> m_Formers{};
};

/** Write an image with its ImageIO, as itk::ImageFileWriter does. */
void
WriteToFile(const std::string & file, const ImageProperties & properties, const void * voxels,
            const itk::MetaDataDictionary & dictionary)
{
  const auto   imageIO = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::WriteMode);
  const auto & geometry = properties.geometry;
  const auto   dimension = static_cast<unsigned int>(geometry.size.size());
  if (imageIO.IsNull())
  {
    throw std::runtime_error("this ITK has no writer of its format");
  }
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

/** The geometry in a header, in the number of dimensions of the image that was written. */
template <unsigned int VDimension>
Geometry
ReadGeometry(itk::ImageIOBase * imageIO)
{
  const auto reader = itk::ImageFileReader<itk::Image<unsigned char, VDimension>>::New();
  reader->SetImageIO(imageIO);
  reader->SetFileName(imageIO->GetFileName());
  reader->UpdateOutputInformation();
  return GetGeometry(reader->GetOutput());
}

/** The length of a file after decompression that must follow from its header and the number of bytes of its voxels. */
bool
IsWhole(const fs::path & file, std::uint64_t numberOfBytes)
{
  const gzFile      stream = gzopen(file.string().c_str(), "rb");
  std::string       start;
  std::vector<char> block(1 << 20);
  std::uint64_t     length = 0;
  int               count = 0;
  do
  {
    count = std::max(gzread(stream, block.data(), static_cast<unsigned int>(block.size())), 0);
    start.append(block.data(), length == 0 ? static_cast<std::size_t>(count) : 0);
    length += static_cast<std::uint64_t>(count);
  } while (count > 0 && gzdirect(stream) == 0);
  length = gzdirect(stream) != 0 ? fs::file_size(file) : length;

  const std::string lastLine = "ElementDataFile = LOCAL\n";
  const auto        extension = file.extension();
  const auto        offset = extension == ".nrrd"                         ? start.find("\n\n") + 2
                             : extension == ".mha"                        ? start.find(lastLine) + lastLine.size()
                             : extension == ".raw" || extension == ".img" ? 0
                                                                          : 352;
  // Only a stream that ends before its checksum is an error here.
  return gzclose(stream) == Z_OK && length == offset + numberOfBytes;
}

/** Throw if a file, or two, does not have these properties and all voxels. */
void
CheckImage(const std::string & file, const fs::path & fileOfVoxels, const ImageProperties & properties)
{
  const auto imageIO = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::ReadMode);
  if (imageIO.IsNull())
  {
    throw std::runtime_error("it was not written as a whole");
  }
  imageIO->SetFileName(file);
  const auto geometry = properties.geometry.size.size() == 2 ? ReadGeometry<2>(imageIO) : ReadGeometry<3>(imageIO);
  const auto describe = [](unsigned int count, itk::IOComponentEnum type) {
    return std::to_string(count) + " components of " + itk::ImageIOBase::GetComponentTypeAsString(type);
  };
  const auto stored = describe(imageIO->GetNumberOfComponents(), imageIO->GetComponentType());
  const auto wanted = describe(properties.numberOfComponents, properties.componentType);
  if (stored != wanted)
  {
    throw std::runtime_error("its format stores " + stored + " instead of " + wanted);
  }
  const auto difference = FindDifference("what its format stores", geometry, properties.geometry, 1e-3);
  if (!difference.empty())
  {
    throw std::runtime_error(difference);
  }
  if (!IsWhole(fileOfVoxels, static_cast<std::uint64_t>(imageIO->GetImageSizeInBytes())))
  {
    throw std::runtime_error("it was not written as a whole");
  }
}

/** Why nothing can be written at the end of a file, such as "no space left on device"; empty if it can be. */
std::string
GetReasonWhyFull(const fs::path & file)
{
  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::app);
  stream << std::string(1 << 20, '\0') << std::flush;
  return stream || errno == 0 ? "" : GetMessage(errno);
}
} // namespace

OutputFiles::OutputFiles(const std::vector<std::string> & inputs)
{
  for (const auto & input : inputs)
  {
    for (const auto & file : input.empty() ? std::vector<fs::path>() : GetFilesOfImage(input))
    {
      m_Inputs.emplace_back(ResolveFile(file), input);
    }
  }
}

OutputFiles::~OutputFiles()
{
  std::error_code error;
  for (const auto & [place, folder] : m_Folders)
  {
    fs::remove_all(folder, error);
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

fs::path
OutputFiles::MakeFolder(const fs::path & place, const std::string & name)
{
  std::error_code error;
  if (!fs::is_directory(place, error))
  {
    throw MakeError(name, "there is no folder '" + place.string() + "'");
  }
  fs::path & hidden = m_Folders[place];
  if (hidden.empty())
  {
    std::random_device random;
    hidden = place / (".voxelmaps-" + std::to_string(random()) + std::to_string(random()));
    RemoveFolderIfKilled(hidden);
    fs::create_directory(hidden, error);
  }
  const auto folder = hidden / std::to_string(m_Outputs.size());
  if (error || !fs::create_directory(folder, error))
  {
    throw MakeError(name, "no file can be made in '" + place.string() + "': " + GetMessage(error.value()));
  }
  // A bit by which files get the group of their folder stays.
  fs::permissions(hidden, fs::perms::group_all | fs::perms::others_all, fs::perm_options::remove, error);
  return folder;
}

void
OutputFiles::Add(const std::string & name, const std::string & secondExtension)
{
  if (name.empty())
  {
    throw std::runtime_error("the name of an output is empty");
  }
  Output          output{ name, { { "", ResolveFile(name), "" } } };
  const fs::path  target = output.files.front().target;
  std::error_code error;
  const auto      status = fs::status(target, error);
  if (fs::is_symlink(target, error))
  {
    throw MakeError(name, "its symbolic links lead to each other");
  }
  if (fs::exists(status) && !fs::is_regular_file(status))
  {
    throw MakeError(name, fs::is_directory(status) ? "it is a folder" : "it is not a regular file");
  }
  errno = 0;
  if (fs::exists(status) && !std::ofstream(target, std::ios::binary | std::ios::app))
  {
    throw MakeError(name, errno == 0 ? "the file cannot be opened" : GetMessage(errno));
  }
  if (!secondExtension.empty())
  {
    output.files.push_back({ "", fs::path(target).replace_extension(secondExtension), "" });
    if (fs::is_symlink(name, error))
    {
      throw MakeError(name, "it is a symbolic link, but its format needs more than one file");
    }
  }
  for (const auto & file : output.files)
  {
    this->CheckFile(output, file);
  }
  const auto folder = this->MakeFolder(target.parent_path(), name);
  output.files.front().temporary = folder / fs::path(name).filename();
  output.files.back().temporary =
    fs::path(output.files.front().temporary).replace_extension(output.files.back().target.extension());
  m_Outputs.push_back(output);
}

void
OutputFiles::CheckFile(const Output & output, const File & file) const
{
  const bool        isFirst = &file == &output.files.front();
  const std::string described = isFirst ? "it" : "'" + file.target.filename().string() + "', which belongs to it,";
  for (const auto & other : m_Outputs)
  {
    for (const auto & otherFile : other.files)
    {
      if (IsSameFile(file.target, otherFile.target))
      {
        throw std::runtime_error("'" + other.name + "' and '" + output.name + "' would both write the file '" +
                                 file.target.filename().string() + "'");
      }
    }
  }
  for (const auto & [inputFile, input] : m_Inputs)
  {
    if (IsSameFile(file.target, inputFile))
    {
      throw MakeError(output.name, described + " is a file of the input '" + input + "'");
    }
  }
  std::error_code error;
  if (!isFirst && fs::exists(file.target, error) &&
      (!fs::exists(output.files.front().target, error) || !fs::is_regular_file(file.target)))
  {
    throw MakeError(output.name, described + " is there already, without '" + output.name + "'");
  }
}

void
OutputFiles::AddImage(const std::string & name, const ImageProperties & properties)
{
  const auto format = std::find_if(formats.begin(), formats.end(), [&name](const auto & extensions) {
    const auto & first = extensions[0];
    return name.size() > first.size() && name.compare(name.size() - first.size(), first.size(), first) == 0;
  });
  if (format == formats.end() && !name.empty())
  {
    throw MakeError(name,
                    "outputs are NIfTI (.nii, .nii.gz, .hdr, .img), NRRD (.nrrd, .nhdr) or MetaImage (.mha, .mhd)");
  }
  this->Add(name, format == formats.end() ? "" : (*format)[1]);
  ImageProperties small = properties;
  std::size_t     count = properties.numberOfComponents;
  for (auto & size : small.geometry.size)
  {
    size = std::min<itk::SizeValueType>(size, 4);
    count *= size;
  }
  // The bytes of the largest type are enough for any.
  const std::vector<double> zeros(count);
  this->WriteVoxels(name, small, zeros.data(), {});
  this->FinishImage(name, small);
  auto & output = m_Outputs.back();
  for (const auto & file : output.files)
  {
    fs::remove(file.temporary);
  }
  output.isFinished = false;
}

void
OutputFiles::AddFile(const std::string & name)
{
  this->Add(name, "");
}

std::string
OutputFiles::GetTemporaryName(const std::string & name) const
{
  return this->Find(name).files.front().temporary.string();
}

void
OutputFiles::Write(const std::string & name, const std::function<void()> & write, double numberOfBytes) const
{
  try
  {
    CallWriter(name, write, GetReadingTimeLimit(numberOfBytes));
  }
  catch (const std::runtime_error & error)
  {
    std::string message = error.what();
    for (const auto & file : this->Find(name).files)
    {
      const auto reason = GetReasonWhyFull(file.temporary);
      message = reason.empty() ? message : MakeError(name, reason).what();
    }
    const auto folder = fs::path(this->GetTemporaryName(name)).parent_path().string() + '/';
    for (auto at = message.find(folder); at != std::string::npos; at = message.find(folder))
    {
      message.erase(at, folder.size());
    }
    throw std::runtime_error(message);
  }
}

void
OutputFiles::WriteVoxels(const std::string & name, const ImageProperties & properties, const void * voxels,
                         const itk::MetaDataDictionary & dictionary) const
{
  double numberOfBytes = sizeof(double) * properties.numberOfComponents;
  for (const auto size : properties.geometry.size)
  {
    numberOfBytes *= static_cast<double>(size);
  }
  this->Write(name, [&] { WriteToFile(this->GetTemporaryName(name), properties, voxels, dictionary); }, numberOfBytes);
}

void
OutputFiles::FinishImage(const std::string & name, const ImageProperties & properties)
{
  const auto & files = this->Find(name).files;
  const auto & ofVoxels = files.back().target.extension() == ".hdr" ? files.front() : files.back();
  this->Write(name, [&] { CheckImage(files.front().temporary.string(), ofVoxels.temporary, properties); });
  this->FinishFile(name);
}

void
OutputFiles::FinishFile(const std::string & name)
{
  const auto & output = this->Find(name);
  for (const auto & file : output.files)
  {
    std::error_code error;
    if (!fs::is_regular_file(file.temporary, error))
    {
      throw MakeError(name, "it was not written");
    }
    if (const int number = Synchronize(file.temporary); number != 0)
    {
      throw MakeError(name, GetMessage(number));
    }
  }
  m_Outputs[static_cast<std::size_t>(&output - m_Outputs.data())].isFinished = true;
}

void
OutputFiles::Move(const Output & output, File & file)
{
  std::error_code error;
  const auto      status = fs::status(file.target, error);
  const bool      isReplaced = fs::exists(status);
  if (isReplaced && !fs::is_regular_file(status))
  {
    throw MakeError(output.name, "it is no longer a regular file");
  }
  error.clear();
  // The last file needs no copy of the former one: it is either replaced, or stays.
  if (isReplaced && &file != &m_Outputs.back().files.front())
  {
    auto former = file.temporary;
    former += ".former";
    fs::create_hard_link(file.target, former, error);
    if (error)
    {
      // Some file systems have no hard links.
      fs::rename(file.target, former, error);
    }
    file.former = error ? fs::path() : former;
  }
  if (isReplaced && !error)
  {
    fs::permissions(file.temporary, status.permissions(), error);
  }
  if (!error)
  {
    fs::rename(file.temporary, file.target, error);
    file.isMoved = !error;
  }
  if (error)
  {
    throw MakeError(output.name, GetMessage(error.value()));
  }
}

void
OutputFiles::PutBack(const Output & output, const File & file)
{
  std::error_code error;
  if (!file.former.empty())
  {
    fs::rename(file.former, file.target, error);
  }
  else if (file.isMoved)
  {
    fs::remove(file.target, error);
  }
  if (error)
  {
    // The folder stays.
    m_Folders.clear();
    throw MakeError(output.name,
                    GetMessage(error.value()) + "; its former content is in '" + file.former.string() + "'");
  }
}

void
OutputFiles::Commit()
{
  for (const auto & output : m_Outputs)
  {
    if (!output.isFinished)
    {
      throw std::logic_error("the output '" + output.name + "' was not finished");
    }
  }
  const SignalsIgnored signalsIgnored;
  // From here on, the hidden folders have the former files.
  for (const auto & [place, folder] : m_Folders)
  {
    KeepFolderIfKilled(folder);
  }
  const auto forAll = [this](auto && function) {
    for (auto & output : m_Outputs)
    {
      // A reader that finds a header must also find the voxels.
      std::for_each(output.files.rbegin(), output.files.rend(), [&](auto & file) { function(output, file); });
    }
  };
  try
  {
    forAll([this](const Output & output, File & file) { this->Move(output, file); });
  }
  catch (const std::exception &)
  {
    forAll([this](const Output & output, const File & file) { this->PutBack(output, file); });
    throw;
  }
  std::error_code error;
  for (const auto & [place, folder] : m_Folders)
  {
    Synchronize(place);
    fs::remove_all(folder, error);
  }
  m_Folders.clear();
  m_Outputs.clear();
}
} // namespace ExampleIO
