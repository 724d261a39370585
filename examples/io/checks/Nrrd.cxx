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
#include <map>
#include <sstream>

// NRRD: https://teem.sourceforge.net/nrrd/format.html

namespace ExampleIO
{
namespace FileChecks
{
namespace
{
struct Header
{
  /** In lower case. */
  std::map<std::string, std::string> fields;
  /** The lines after "data file: LIST". */
  std::vector<std::string> list;
  /** Where the header ends. */
  std::uint64_t length{ 0 };

  std::string
  Get(const std::string & field, const std::string & otherwise = "") const
  {
    const auto found = fields.find(field);
    return found == fields.end() ? otherwise : found->second;
  }
};

std::string
ToLower(std::string text)
{
  std::transform(
    text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Header
ParseHeader(const std::string & name)
{
  constexpr std::size_t longest = 1 << 20;
  const std::string     bytes = ByteFile(name).Read(0, longest);
  if (bytes.compare(0, 7, "NRRD000") != 0)
  {
    throw std::runtime_error("it does not begin with NRRD000");
  }
  Header      header;
  bool        isList = false;
  std::size_t position = 0;
  while (position < bytes.size())
  {
    const auto  end = std::min(bytes.find('\n', position), bytes.size());
    std::string line = bytes.substr(position, end - position);
    position = end + 1;
    if (!line.empty() && line.back() == '\r')
    {
      line.pop_back();
    }
    if (isList)
    {
      header.list.push_back(line);
      continue;
    }
    if (line.empty())
    {
      break;
    }
    // "key:=value" is a note, "field: value" is not.
    const auto separator = line.find(':');
    if (line[0] == '#' || separator == std::string::npos || line.compare(separator, 2, ":=") == 0)
    {
      continue;
    }
    std::string field = ToLower(line.substr(0, separator));
    field = field == "datafile" ? "data file" : field;
    field.erase(std::remove(field.begin(), field.end(), field == "data file" ? '\0' : ' '), field.end());
    const auto        value = line.find_first_not_of(" \t", separator + 1);
    const std::string text = value == std::string::npos ? "" : line.substr(value);
    if (!header.fields.emplace(field, text).second)
    {
      throw std::runtime_error("its header has the field " + field + " twice");
    }
    isList = field == "data file" && text.compare(0, 4, "LIST") == 0;
  }
  header.length = std::min(position, bytes.size());
  return header;
}

std::uint64_t
GetBytesOfType(const Header & header)
{
  static const std::map<std::string, std::uint64_t> bytes{
    { "signed char", 1 },
    { "int8", 1 },
    { "int8_t", 1 },
    { "uchar", 1 },
    { "unsigned char", 1 },
    { "uint8", 1 },
    { "uint8_t", 1 },
    { "short", 2 },
    { "short int", 2 },
    { "signed short", 2 },
    { "signed short int", 2 },
    { "int16", 2 },
    { "int16_t", 2 },
    { "ushort", 2 },
    { "unsigned short", 2 },
    { "unsigned short int", 2 },
    { "uint16", 2 },
    { "uint16_t", 2 },
    { "int", 4 },
    { "signed int", 4 },
    { "int32", 4 },
    { "int32_t", 4 },
    { "uint", 4 },
    { "unsigned int", 4 },
    { "uint32", 4 },
    { "uint32_t", 4 },
    { "longlong", 8 },
    { "long long", 8 },
    { "long long int", 8 },
    { "signed long long", 8 },
    { "signed long long int", 8 },
    { "int64", 8 },
    { "int64_t", 8 },
    { "ulonglong", 8 },
    { "unsigned long long", 8 },
    { "unsigned long long int", 8 },
    { "uint64", 8 },
    { "uint64_t", 8 },
    { "float", 4 },
    { "double", 8 },
  };
  const std::string type = ToLower(header.Get("type"));
  const auto        found = bytes.find(type);
  if (found == bytes.end())
  {
    throw std::runtime_error("its header has the type '" + type + "', which is not one of voxels");
  }
  return found->second;
}

/** The files of a header without voxels, and how many axes of the image are in each. */
std::vector<std::string>
GetDataFiles(const Header & header, std::size_t dimension, std::size_t & axesOfFile)
{
  const std::string text = header.Get("data file");
  const auto        words = GetWords(text);
  axesOfFile = dimension;
  if (words.empty())
  {
    throw std::runtime_error("the field data file of its header is empty");
  }
  const bool isList = words[0] == "LIST";
  if (!isList && (text.find('%') == std::string::npos || words.size() < 4))
  {
    return { text };
  }
  axesOfFile = dimension - 1;
  const std::size_t last = isList ? 1 : 4;
  if (words.size() > last)
  {
    const auto axes = GetInteger(words[last], "data file");
    if (axes < 1 || axes > static_cast<std::int64_t>(dimension))
    {
      throw std::runtime_error("data file: '" + text + "' does not fit the " + std::to_string(dimension) +
                               " axes of the image");
    }
    axesOfFile = static_cast<std::size_t>(axes);
  }
  if (isList)
  {
    return header.list;
  }
  const auto get = [&words](std::size_t i) { return GetInteger(words[i], "data file"); };
  return GetNamesOfPattern(words[0], get(1), get(2), get(3));
}

/** The offset after a number of lines. */
std::uint64_t
SkipLines(const std::string & name, std::uint64_t offset, std::int64_t lines)
{
  std::ifstream stream(name, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  std::string line;
  for (std::int64_t i = 0; i < lines; ++i)
  {
    if (!std::getline(stream, line))
    {
      throw std::runtime_error("'" + name + "' has fewer lines than the line skip of the header, " +
                               std::to_string(lines));
    }
    offset += line.size() + 1;
  }
  return offset;
}
} // namespace

CompressedParts
CheckNrrd(const std::string & name)
{
  const Header header = ParseHeader(name);
  const auto   dimension = GetInteger(header.Get("dimension"), "dimension");
  if (dimension < 1 || dimension > 16)
  {
    throw std::runtime_error("the dimension is " + std::to_string(dimension) + ", but must be from 1 to 16");
  }
  auto sizes = GetWords(header.Get("sizes"));
  if (sizes.size() != static_cast<std::size_t>(dimension))
  {
    throw std::runtime_error("sizes has " + std::to_string(sizes.size()) + " entries, but the dimension is " +
                             std::to_string(dimension));
  }
  const std::uint64_t bytesOfVoxel = GetBytesOfType(header);
  const std::uint64_t numberOfVoxels = GetProduct(sizes, "sizes");
  CheckMemory(Multiply(numberOfVoxels, bytesOfVoxel));

  const std::string encoding = ToLower(header.Get("encoding"));
  const bool        isRaw = encoding == "raw";
  const bool        isGzip = encoding == "gzip" || encoding == "gz";
  const bool        isText = encoding == "txt" || encoding == "text" || encoding == "ascii";
  if (!isRaw && !isGzip && !isText && encoding != "hex" && encoding != "bzip2" && encoding != "bz2")
  {
    throw std::runtime_error("there is no encoding '" + encoding + "'");
  }
  const auto skippedLines = GetInteger(header.Get("lineskip", "0"), "line skip");
  const auto skippedBytes = GetInteger(header.Get("byteskip", "0"), "byte skip");
  if (skippedLines < 0 || skippedBytes < (isRaw ? -1 : 0))
  {
    throw std::runtime_error("line skip and byte skip must not be negative, except a byte skip of -1 for raw voxels");
  }

  const bool               isAttached = header.Get("data file").empty();
  std::size_t              axesOfFile = sizes.size();
  std::vector<std::string> files{ name };
  if (!isAttached)
  {
    files = GetDataFiles(header, sizes.size(), axesOfFile);
    std::transform(files.begin(), files.end(), files.begin(), [&name](const std::string & file) {
      return GetDataFileName(name, file);
    });
  }
  sizes.resize(axesOfFile);
  const std::uint64_t voxelsOfFile = GetProduct(sizes, "sizes");
  const std::uint64_t numberOfFiles = numberOfVoxels / voxelsOfFile;
  if (files.size() < numberOfFiles)
  {
    throw std::runtime_error("its header names " + std::to_string(files.size()) + " data files, but promises " +
                             std::to_string(numberOfFiles));
  }

  CompressedParts parts;
  for (std::uint64_t i = 0; i < numberOfFiles; ++i)
  {
    CompressedPart part;
    part.file = files[i];
    part.offset = SkipLines(part.file, isAttached ? header.length : 0, skippedLines);
    part.promised = Multiply(voxelsOfFile, bytesOfVoxel);
    const std::string what = isAttached ? "it" : "its data file '" + part.file + "'";
    if (isText)
    {
      CheckNumbersInText(part.file, part.offset + static_cast<std::uint64_t>(skippedBytes), voxelsOfFile);
    }
    else if (isRaw || isGzip)
    {
      // The bytes to skip are compressed too.
      (isGzip ? part.promised : part.offset) += static_cast<std::uint64_t>(std::max<std::int64_t>(skippedBytes, 0));
      const auto more = CheckSizeOrCompressedPart(what, part, isGzip);
      parts.insert(parts.end(), more.begin(), more.end());
    }
  }
  return parts;
}
} // namespace FileChecks
} // namespace ExampleIO
