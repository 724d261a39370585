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
#include "Formats.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

// MetaImage: https://itk.org/Wiki/ITK/MetaIO/Documentation

namespace ExampleIO
{
namespace FileChecks
{
namespace
{
struct Header
{
  std::map<std::string, std::string> fields;
  /** The lines after "ElementDataFile = LIST". */
  std::vector<std::string> list;
  /** Where the header ends. */
  std::uint64_t length{ 0 };

  std::string
  Get(const std::string & field, const std::string & otherwise = "") const
  {
    const auto found = fields.find(field);
    return found == fields.end() ? otherwise : found->second;
  }

  bool
  IsTrue(const std::string & field, bool otherwise) const
  {
    const std::string text = this->Get(field);
    return text.empty() ? otherwise : text[0] == 'T' || text[0] == 't' || text[0] == '1';
  }
};

std::string
Trim(const std::string & text)
{
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

Header
ParseHeader(const std::string & name)
{
  constexpr std::size_t longest = 1 << 20;
  const std::string     bytes = ByteFile(name).Read(0, longest);
  Header                header;
  std::size_t           position = 0;
  while (position < bytes.size() && header.fields.count("ElementDataFile") == 0)
  {
    const auto        end = std::min(bytes.find('\n', position), bytes.size());
    const std::string line = bytes.substr(position, end - position);
    const auto        separator = line.find_first_of("=:");
    if (separator != std::string::npos)
    {
      const std::string field = Trim(line.substr(0, separator));
      if (!header.fields.emplace(field, Trim(line.substr(separator + 1))).second && field != "Comment")
      {
        throw std::runtime_error("its header has the field " + field + " twice");
      }
    }
    position = end + 1;
  }
  if (header.fields.count("ElementDataFile") == 0)
  {
    throw std::runtime_error("its header has no field ElementDataFile");
  }
  header.length = std::min(position, bytes.size());
  while (position < bytes.size() && header.Get("ElementDataFile").compare(0, 4, "LIST") == 0)
  {
    const auto end = std::min(bytes.find('\n', position), bytes.size());
    header.list.push_back(Trim(bytes.substr(position, end - position)));
    position = end + 1;
  }
  return header;
}

std::uint64_t
GetBytesOfType(const std::string & type)
{
  static const std::map<std::string, std::uint64_t> bytes{
    { "MET_CHAR", 1 },      { "MET_UCHAR", 1 },      { "MET_SHORT", 2 }, { "MET_USHORT", 2 },
    { "MET_INT", 4 },       { "MET_UINT", 4 },       { "MET_LONG", 4 },  { "MET_ULONG", 4 },
    { "MET_LONG_LONG", 8 }, { "MET_ULONG_LONG", 8 }, { "MET_FLOAT", 4 }, { "MET_DOUBLE", 8 },
  };
  // Arrays have the type of their numbers: MET_FLOAT_ARRAY.
  const std::string array = "_ARRAY";
  const auto        end = type.size() - std::min(type.size(), array.size());
  const auto        found = bytes.find(type.substr(end) == array ? type.substr(0, end) : type);
  if (found == bytes.end())
  {
    throw std::runtime_error("ElementType: there is no type '" + type + "' of voxels");
  }
  return found->second;
}

void
CheckGeometry(const Header & header)
{
  for (const char * field : { "ElementSpacing",
                              "ElementSize",
                              "Offset",
                              "Origin",
                              "Position",
                              "TransformMatrix",
                              "Rotation",
                              "Orientation" })
  {
    for (const auto & word : GetWords(header.Get(field)))
    {
      CheckFinite(word, field);
    }
  }
  // The reader of ITK ignores both.
  for (const auto & [field, neutral] :
       { std::pair{ "ElementToIntensityFunctionSlope", "1" }, std::pair{ "ElementToIntensityFunctionOffset", "0" } })
  {
    const std::string text = header.Get(field, neutral);
    CheckFinite(text, field);
    if (std::stod(text) != std::stod(neutral))
    {
      throw std::runtime_error(std::string(field) + " is " + text + ", which the reader ignores; it must be " +
                               neutral);
    }
  }
}

/** The files with the voxels of a list or a pattern, and how many voxels are in each. */
std::vector<std::string>
GetDataFiles(const Header & header, const std::vector<std::string> & sizes, std::size_t & axesOfFile)
{
  const std::string              element = header.Get("ElementDataFile");
  const std::vector<std::string> words = GetWords(element);
  axesOfFile = sizes.size();
  if (words.empty())
  {
    throw std::runtime_error("ElementDataFile of its header is empty");
  }
  if (words[0] == "LIST")
  {
    axesOfFile = sizes.size() - 1;
    if (words.size() > 1)
    {
      const std::string digits = words[1].substr(0, words[1].find_first_of("Dd"));
      const auto        axes = GetInteger(digits, "ElementDataFile");
      // The reader leaves memory uninitialized if a file has all axes.
      if (axes != static_cast<std::int64_t>(axesOfFile))
      {
        throw std::runtime_error("ElementDataFile is '" + element +
                                 "', but each file must have one axis less than the " + std::to_string(sizes.size()) +
                                 " of the image");
      }
    }
    return header.list;
  }
  if (words[0].find('%') != std::string::npos)
  {
    axesOfFile = sizes.size() - 1;
    const auto get = [&words](std::size_t i, std::int64_t otherwise) {
      return i < words.size() ? GetInteger(words[i], "ElementDataFile") : otherwise;
    };
    return GetNamesOfPattern(words[0], get(1, 1), get(2, GetInteger(sizes.back(), "DimSize")), get(3, 1));
  }
  return { element };
}
} // namespace

CompressedParts
CheckMetaImage(const std::string & name)
{
  const Header header = ParseHeader(name);
  const auto   dimension = GetInteger(header.Get("NDims"), "NDims");
  if (dimension < 1 || dimension > 10)
  {
    throw std::runtime_error("NDims is " + std::to_string(dimension) + ", but must be from 1 to 10");
  }
  auto sizes = GetWords(header.Get("DimSize"));
  if (sizes.size() != static_cast<std::size_t>(dimension))
  {
    throw std::runtime_error("DimSize has " + std::to_string(sizes.size()) + " entries, but NDims is " +
                             std::to_string(dimension));
  }
  const auto channels = GetInteger(header.Get("ElementNumberOfChannels", "1"), "ElementNumberOfChannels");
  if (channels < 1)
  {
    throw std::runtime_error("ElementNumberOfChannels is " + std::to_string(channels) + ", but must be positive");
  }
  const std::uint64_t bytesOfVoxel =
    Multiply(GetBytesOfType(header.Get("ElementType")), static_cast<std::uint64_t>(channels));
  const std::uint64_t numberOfVoxels = GetProduct(sizes, "DimSize");
  CheckMemory(Multiply(numberOfVoxels, bytesOfVoxel));
  CheckGeometry(header);

  const std::string  element = header.Get("ElementDataFile");
  const bool         isLocal = element == "LOCAL" || element == "Local" || element == "local";
  const bool         isCompressed = header.IsTrue("CompressedData", false);
  const std::int64_t skipped = GetInteger(header.Get("HeaderSize", "0"), "HeaderSize");
  if (skipped < -1)
  {
    throw std::runtime_error("HeaderSize is " + std::to_string(skipped) + ", but must be at least -1");
  }

  CompressedPart part;
  part.promised = Multiply(numberOfVoxels, bytesOfVoxel);
  part.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(skipped, 0));
  if (isLocal && skipped > 0 && part.offset < header.length)
  {
    throw std::runtime_error("HeaderSize is " + std::to_string(skipped) + ", but the header has " +
                             std::to_string(header.length) + " bytes");
  }
  part.offset = isLocal ? std::max(part.offset, header.length) : part.offset;
  if (isCompressed && !header.Get("CompressedDataSize").empty())
  {
    const auto size = GetInteger(header.Get("CompressedDataSize"), "CompressedDataSize");
    if (size < 1)
    {
      throw std::runtime_error("CompressedDataSize is " + std::to_string(size) + ", but must be positive");
    }
    part.size = static_cast<std::uint64_t>(size);
  }
  if (!header.IsTrue("BinaryData", true))
  {
    part.file = isLocal ? name : GetDataFileName(name, element);
    CheckNumbersInText(part.file, part.offset, Multiply(numberOfVoxels, static_cast<std::uint64_t>(channels)));
    return {};
  }
  if (isLocal)
  {
    part.file = name;
    return CheckSizeOrCompressedPart("it", part, isCompressed);
  }

  std::size_t axesOfFile = 0;
  const auto  files = GetDataFiles(header, sizes, axesOfFile);
  sizes.resize(axesOfFile);
  const std::uint64_t voxelsOfFile = GetProduct(sizes, "DimSize");
  const std::uint64_t numberOfFiles = numberOfVoxels / voxelsOfFile;
  if (files.size() < numberOfFiles)
  {
    throw std::runtime_error("its header names " + std::to_string(files.size()) + " data files, but promises " +
                             std::to_string(numberOfFiles));
  }
  CompressedParts parts;
  part.promised = Multiply(voxelsOfFile, bytesOfVoxel);
  for (std::uint64_t i = 0; i < numberOfFiles; ++i)
  {
    part.file = GetDataFileName(name, files[i]);
    std::error_code error;
    if (part.offset < header.length && skipped != -1 && std::filesystem::equivalent(name, part.file, error))
    {
      throw std::runtime_error("its data file '" + part.file + "' is the header itself");
    }
    const auto more = CheckSizeOrCompressedPart("its data file '" + part.file + "'", part, isCompressed);
    parts.insert(parts.end(), more.begin(), more.end());
  }
  return parts;
}
} // namespace FileChecks
} // namespace ExampleIO
