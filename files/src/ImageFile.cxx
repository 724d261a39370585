// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/ImageFile.h"
#include "FileContent.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace voxelmaps
{
namespace
{
namespace fs = std::filesystem;

/** Call a check, and name the file if it throws. */
template <typename TCheck>
auto
NameFile(const std::string & name, TCheck && check)
{
  try
  {
    return check();
  }
  catch (const NoVoxels &)
  {
    throw std::runtime_error("'" + name + "' has no voxels");
  }
  catch (const std::exception & error)
  {
    // What headers contain could be long, or move the cursor of a terminal.
    std::string what = error.what();
    std::replace_if(what.begin(), what.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
    throw std::runtime_error("cannot read '" + name + "': " + (what.size() > 300 ? what.substr(0, 300) + "..." : what));
  }
}

/** Throw if a file cannot be opened. Others than regular files, such as pipes, could block for ever. */
void
VerifyIsReadable(const std::string & name)
{
  std::error_code error;
  const auto      status = fs::status(name, error);
  if (status.type() == fs::file_type::not_found)
  {
    throw std::runtime_error("there is no file '" + name + "'");
  }
  NameFile(name, [&] {
    if (error)
    {
      throw std::runtime_error(GetSystemMessage(error.value()));
    }
    if (!fs::is_regular_file(status))
    {
      throw std::runtime_error("it is neither a file nor a directory");
    }
    errno = 0;
    if (!std::ifstream(name, std::ios::binary))
    {
      throw std::runtime_error(errno == 0 ? "it cannot be opened" : GetSystemMessage(errno));
    }
  });
}

bool
EndsWith(const std::string & text, const std::string & end)
{
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void
Inspect(ImageFile & file)
{
  using Check = void (*)(ImageFile &);
  struct Format
  {
    const char *    extension;
    ImageFileFormat format;
    Check           check;
  };
  static constexpr Format formats[]{
    { ".nii", ImageFileFormat::Nifti, InspectNifti },         { ".nii.gz", ImageFileFormat::Nifti, InspectNifti },
    { ".hdr", ImageFileFormat::Nifti, InspectNifti },         { ".img", ImageFileFormat::Nifti, InspectNifti },
    { ".mha", ImageFileFormat::MetaImage, InspectMetaImage }, { ".mhd", ImageFileFormat::MetaImage, InspectMetaImage },
    { ".nrrd", ImageFileFormat::Nrrd, InspectNrrd },          { ".nhdr", ImageFileFormat::Nrrd, InspectNrrd },
  };
  const std::string name = ToLower(file.name);
  for (const auto & format : formats)
  {
    if (EndsWith(name, format.extension))
    {
      file.format = format.format;
      format.check(file);
      return;
    }
  }
  const std::string start = ByteFile(file.name).Read(0, 8);
  if (start.empty())
  {
    throw std::runtime_error("it is empty");
  }
  const bool isPng = start == "\x89PNG\r\n\x1A\n";
  file.format = isPng ? ImageFileFormat::Png : ImageFileFormat::Dicom;
  (isPng ? InspectPng : InspectDicom)(file);
}
} // namespace

ImageFile
InspectImageFile(const std::string & name)
{
  VerifyIsReadable(name);
  ImageFile file;
  file.name = name;
  file.files = { name };
  NameFile(name, [&file] { Inspect(file); });
  return file;
}

void
VerifyCompressedVoxels(const ImageFile & file)
{
  NameFile(file.name, [&file] {
    for (const auto & part : file.compressedParts)
    {
      VerifyCompressedPart(part);
    }
  });
}

std::vector<std::string>
GetFilesOfImage(const std::string & name)
{
  std::error_code          error;
  std::vector<std::string> files{ name };
  if (fs::is_directory(name, error))
  {
    for (fs::directory_iterator entry(name, error), end; !error && entry != end; entry.increment(error))
    {
      files.push_back(entry->path().string());
    }
    return files;
  }
  try
  {
    return InspectImageFile(name).files;
  }
  catch (const std::exception &)
  {
    return files;
  }
}
} // namespace voxelmaps
