// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ImageWriting.h"

#include "Process.h"
// This registers all formats.
#include "itkImageFileReader.h"
#include "itkImageIOFactory.h"
#include "voxelmaps/ImageFile.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#ifndef _WIN32
#  include <fcntl.h>
#  include <unistd.h>
#endif

namespace ProgramIO
{
namespace
{
namespace fs = std::filesystem;

/** The extensions of outputs, and that of the second file. */
const std::map<std::string, std::string> formats{ { ".nii", "" },     { ".nii.gz", "" }, { ".hdr", ".img" },
                                                  { ".img", ".hdr" }, { ".nrrd", "" },   { ".nhdr", ".raw" },
                                                  { ".mha", "" },     { ".mhd", ".raw" } };

/** "cannot write 'x': no space left on device". */
std::runtime_error
MakeError(const std::string & name, const std::string & reason)
{
  return std::runtime_error("cannot write '" + name + "': " + reason);
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

/** Move a file to its place; a former file there keeps its mode. */
std::error_code
Move(const OutputFile & file)
{
  std::error_code error;
  const auto      status = fs::status(file.target, error);
  if (fs::exists(status))
  {
    if (!fs::is_regular_file(status))
    {
      return std::make_error_code(std::errc::file_exists);
    }
    // Some file systems have no modes.
    fs::permissions(file.temporary, status.permissions(), error);
  }
  fs::rename(file.temporary, file.target, error);
  return error;
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

/** Throw if a file, or two, does not have these properties and all voxels. */
void
CheckImage(const std::string & file, const ImageProperties & properties)
{
  try
  {
    VerifyCompressedVoxels(voxelmaps::InspectImageFile(file));
  }
  catch (const std::runtime_error &)
  {
    throw std::runtime_error("it was not written as a whole");
  }
  const auto imageIO = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::ReadMode);
  if (imageIO.IsNull())
  {
    throw std::runtime_error("this ITK has no reader of its format");
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
}

/** Why nothing can be written at the end of a file, such as "no space left on device"; empty if it can be. */
std::string
GetReasonWhyFull(const fs::path & file)
{
  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::app);
  stream << std::string(1 << 20, '\0') << std::flush;
  return stream || errno == 0 ? "" : voxelmaps::GetSystemMessage(errno);
}
} // namespace

void
WriteVoxels(const std::string & file, const ImageProperties & properties, const void * voxels,
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
    const auto size = static_cast<itk::SizeValueType>(geometry.size[d]);
    imageIO->SetDimensions(d, size);
    imageIO->SetSpacing(d, geometry.spacing[d]);
    imageIO->SetOrigin(d, geometry.origin[d]);
    std::vector<double> axis;
    for (unsigned int row = 0; row < dimension; ++row)
    {
      axis.push_back(geometry.direction[row * dimension + d]);
    }
    imageIO->SetDirection(d, axis);
    region.SetSize(d, size);
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

OutputFiles::OutputFiles(const std::vector<std::string> & inputs)
{
  for (const auto & input : inputs)
  {
    for (const auto & file : input.empty() ? std::vector<std::string>() : voxelmaps::GetFilesOfImage(input))
    {
      m_Inputs.emplace_back(ResolveFile(file), input);
    }
  }
}

fs::path
OutputFiles::MakeFolder(const fs::path & place, const std::string & name)
{
  std::error_code error;
  if (!fs::is_directory(place, error))
  {
    throw MakeError(name, "there is no folder '" + place.string() + "'");
  }
  try
  {
    auto & hidden = m_Folders[place];
    if (!hidden)
    {
      hidden = std::make_unique<TemporaryFolder>(place / ".voxelmaps-");
    }
    const auto folder = hidden->GetPath() / std::to_string(m_Outputs.size());
    fs::create_directory(folder);
    // A bit by which files get the group of their folder stays.
    fs::permissions(hidden->GetPath(), fs::perms::group_all | fs::perms::others_all, fs::perm_options::remove, error);
    return folder;
  }
  catch (const fs::filesystem_error & problem)
  {
    throw MakeError(name, voxelmaps::GetSystemMessage(problem.code().value()));
  }
  catch (const std::runtime_error & problem)
  {
    throw MakeError(name, problem.what());
  }
}

void
OutputFiles::Add(const std::string & name, const std::string & secondExtension)
{
  const fs::path  target = ResolveFile(name);
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
    throw MakeError(name, errno == 0 ? "the file cannot be opened" : voxelmaps::GetSystemMessage(errno));
  }
  if (fs::is_symlink(name, error) && !secondExtension.empty())
  {
    throw MakeError(name, "it is a symbolic link, but its format needs more than one file");
  }
  Output output{ { { fs::path(name).filename(), target } } };
  if (!secondExtension.empty())
  {
    auto second = output.files.front();
    second.temporary.replace_extension(secondExtension);
    second.target.replace_extension(secondExtension);
    output.files.push_back(second);
  }
  for (const auto & file : output.files)
  {
    for (const auto & [inputFile, input] : m_Inputs)
    {
      if (IsSameFile(file.target, inputFile))
      {
        throw MakeError(name, "'" + file.temporary.string() + "' is a file of the input '" + input + "'");
      }
    }
    for (const auto & [otherName, other] : m_Outputs)
    {
      for (const auto & otherFile : other.files)
      {
        if (IsSameFile(file.target, otherFile.target))
        {
          throw std::runtime_error("'" + otherName + "' and '" + name + "' would both write the file '" +
                                   file.target.string() + "'");
        }
      }
    }
  }
  const auto & second = output.files.back().target;
  if (fs::exists(second, error) && !(fs::exists(status) && fs::is_regular_file(second)))
  {
    throw MakeError(name, "'" + second.string() + "' is there already, without '" + name + "'");
  }
  const auto folder = this->MakeFolder(target.parent_path(), name);
  for (auto & file : output.files)
  {
    file.temporary = folder / file.temporary;
  }
  m_Outputs[name] = output;
}

void
OutputFiles::AddImage(const std::string & name, const ImageProperties & properties)
{
  const auto format = std::find_if(formats.begin(), formats.end(), [&name](const auto & extensions) {
    const auto & first = extensions.first;
    return name.size() > first.size() && name.compare(name.size() - first.size(), first.size(), first) == 0;
  });
  if (format == formats.end())
  {
    throw MakeError(name,
                    "outputs are NIfTI (.nii, .nii.gz, .hdr, .img), NRRD (.nrrd, .nhdr) or MetaImage (.mha, .mhd)");
  }
  this->Add(name, format->second);
  ImageProperties small = properties;
  std::size_t     count = properties.numberOfComponents;
  for (auto & size : small.geometry.size)
  {
    size = std::min(size, 4.0);
    count *= static_cast<std::size_t>(size);
  }
  // The bytes of the largest type are enough for any.
  const std::vector<double> zeros(count);
  this->Write(name, [&] { WriteVoxels(this->GetTemporaryName(name), small, zeros.data(), {}); });
  this->FinishImage(name, small);
  auto & output = m_Outputs.at(name);
  output.isFinished = false;
  for (const auto & file : output.files)
  {
    fs::remove(file.temporary);
  }
}

std::string
OutputFiles::GetTemporaryName(const std::string & name) const
{
  return m_Outputs.at(name).files.front().temporary.string();
}

void
OutputFiles::Write(const std::string & name, const std::function<void()> & write) const
{
  try
  {
    CallWriter(name, write);
  }
  catch (const std::runtime_error & error)
  {
    std::string message = error.what();
    for (const auto & file : m_Outputs.at(name).files)
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
OutputFiles::FinishImage(const std::string & name, const ImageProperties & properties)
{
  auto & output = m_Outputs.at(name);
  this->Write(name, [&] { CheckImage(output.files.front().temporary.string(), properties); });
  for (const auto & file : output.files)
  {
    if (const int error = Synchronize(file.temporary); error != 0)
    {
      throw MakeError(name, error == ENOENT ? "it was not written" : voxelmaps::GetSystemMessage(error));
    }
  }
  output.isFinished = true;
}

void
OutputFiles::Commit()
{
  for (const auto & [name, output] : m_Outputs)
  {
    if (!output.isFinished)
    {
      throw std::logic_error("the output '" + name + "' was not finished");
    }
  }
  // Moving takes milliseconds.
  const auto lock = DeferRequestsToEnd();
  for (const auto & [name, output] : m_Outputs)
  {
    // A reader that finds a header must also find the voxels.
    for (auto file = output.files.rbegin(); file != output.files.rend(); ++file)
    {
      if (const auto error = Move(*file))
      {
        throw MakeError(name, voxelmaps::GetSystemMessage(error.value()));
      }
    }
  }
  for (const auto & [place, folder] : m_Folders)
  {
    Synchronize(place);
  }
  m_Folders.clear();
  m_Outputs.clear();
}
} // namespace ProgramIO
