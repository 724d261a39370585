// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DicomHeader.h"
#include "FileContent.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace voxelmaps
{
namespace
{
/** What a file without the start of a DICOM file is. */
std::string
DescribeOther(const std::string & fileName)
{
  std::ifstream         stream(fileName, std::ios::binary);
  std::array<char, 132> bytes{};
  stream.read(bytes.data(), bytes.size());
  if (stream.gcount() == 0)
  {
    return "it is empty";
  }
  const auto end = bytes.begin() + stream.gcount();
  return std::count(bytes.begin(), end, 0) == stream.gcount() ? "it begins with zeros" : "it is no DICOM file";
}

/** The extension in lower case; none if it is a number, as in names that are UIDs. */
std::string
GetExtension(const std::string & name)
{
  const std::string extension = ToLower(std::filesystem::path(name).extension().string());
  const bool        isNumber =
    std::all_of(extension.begin(), extension.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  return isNumber ? "" : extension;
}
} // namespace

DicomFolder
ScanDicomFolder(const std::string & folder)
{
  namespace fs = std::filesystem;
  std::vector<DicomFile>   files;
  std::vector<DicomFile>   suspects;
  std::set<std::string>    extensions{ ".dcm", ".dicom", ".ima" };
  std::vector<std::string> names;
  for (const auto & entry : fs::directory_iterator(folder))
  {
    names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());

  for (const auto & name : names)
  {
    std::error_code error;
    const auto      status = fs::status(name, error);
    if (fs::is_directory(status))
    {
      continue;
    }
    DicomFile suspect;
    suspect.name = name;
    if (status.type() == fs::file_type::not_found)
    {
      suspect.problem = "it is a link to a file that is not there";
    }
    else if (!fs::is_regular_file(status))
    {
      suspect.problem = "it is no regular file";
    }
    else if (auto file = ReadDicomHeader(name))
    {
      if (file->hasPixelData || file->problem.empty())
      {
        extensions.insert(GetExtension(name));
      }
      files.push_back(std::move(*file));
      continue;
    }
    else
    {
      suspect.problem = DescribeOther(name);
    }
    suspects.push_back(suspect);
  }

  DicomFolder                                   result;
  std::map<std::string, std::vector<DicomFile>> groups;
  for (auto & file : files)
  {
    if (!file.seriesUID.empty() || file.hasPixelData)
    {
      groups[file.seriesUID].push_back(std::move(file));
    }
    else if (!file.problem.empty())
    {
      result.unreadable.push_back(std::move(file));
    }
  }
  for (auto & [uid, group] : groups)
  {
    const auto isUsed = [](const DicomFile & file) { return file.hasPixelData || !file.problem.empty(); };
    group.erase(std::remove_if(group.begin(), group.end(), [&](const DicomFile & file) { return !isUsed(file); }),
                group.end());
    if (std::any_of(group.begin(), group.end(), [](const DicomFile & file) { return file.hasPixelData; }))
    {
      result.series.push_back({ uid, std::move(group) });
    }
  }
  for (auto & suspect : suspects)
  {
    // Hidden files, such as those that macOS writes beside others.
    if (fs::path(suspect.name).filename().string().front() == '.')
    {
      continue;
    }
    const std::string extension = GetExtension(suspect.name);
    const bool        hasImageName = extension == ".dcm" || extension == ".dicom" || extension == ".ima";
    // Another file, such as a README, can have no extension, as images often have.
    if (hasImageName || (extensions.count(extension) > 0 && suspect.problem != "it is no DICOM file"))
    {
      result.unreadable.push_back(std::move(suspect));
    }
  }
  return result;
}
} // namespace voxelmaps
