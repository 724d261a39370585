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
#include "FileChecks.h"
#include "Text.h"
#include "checks/Formats.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace ExampleIO
{
namespace
{
/** Call a check, and name the file if it throws. */
template <typename TCheck>
auto
NameFile(const std::string & name, TCheck && check)
{
  try
  {
    return check();
  }
  catch (const FileChecks::NoVoxels &)
  {
    throw std::runtime_error("'" + name + "' has no voxels");
  }
  catch (const std::exception & error)
  {
    throw std::runtime_error("cannot read '" + name + "': " + GetOneLineMessage(error));
  }
}

bool
EndsWith(const std::string & text, const std::string & end)
{
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
} // namespace

std::vector<CompressedPart>
CheckImageHeader(const std::string & name)
{
  using namespace FileChecks;
  using Check = std::vector<CompressedPart> (*)(const std::string &);
  // Readers that ask for the ending of the name.
  static constexpr std::pair<const char *, Check> formats[]{
    { ".nii", CheckNifti },     { ".hdr", CheckNifti },     { ".img", CheckNifti },
    { ".mha", CheckMetaImage }, { ".mhd", CheckMetaImage }, { ".nrrd", CheckNrrd },
    { ".nhdr", CheckNrrd },     { ".gipl", CheckGipl },     { ".vtk", CheckVtk },
  };
  // Readers that ask for the first bytes.
  static constexpr std::pair<const char *, Check> signatures[]{
    { "\x89PNG\r\n\x1A\n", CheckPng },
    { "\xFF\xD8", CheckJpeg },
    { "BM", CheckBmp },
  };
  return NameFile(name, [&name] {
    std::string ending = name;
    std::transform(
      ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (EndsWith(ending, ".gz"))
    {
      ending.resize(ending.size() - 3);
    }
    for (const auto & [format, check] : formats)
    {
      if (EndsWith(ending, format))
      {
        return check(name);
      }
    }
    const std::string head = ByteFile(name).Read(0, 8);
    for (const auto & [signature, check] : signatures)
    {
      if (head.compare(0, std::string(signature).size(), signature) == 0)
      {
        return check(name);
      }
    }
    return CheckDicom(name);
  });
}

void
CheckCompressedParts(const std::string & name, const std::vector<CompressedPart> & parts)
{
  NameFile(name, [&parts] { std::for_each(parts.begin(), parts.end(), FileChecks::CheckCompressedPart); });
}

void
CheckImageFile(const std::string & name)
{
  CheckCompressedParts(name, CheckImageHeader(name));
}

void
CheckDicomFile(const std::string & name)
{
  NameFile(name, [&name] { FileChecks::CheckDicom(name); });
}
} // namespace ExampleIO
