// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FileContent.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

// NRRD: https://teem.sourceforge.net/nrrd/format.html

namespace voxelmaps
{
namespace
{
/** The names of the fields are in lower case. */
TextHeader
ParseHeader(const std::string & name)
{
  constexpr std::size_t longest = 1 << 20;
  const std::string     bytes = ByteFile(name).Read(0, longest);
  if (bytes.compare(0, 7, "NRRD000") != 0)
  {
    throw std::runtime_error("it does not begin with NRRD000");
  }
  TextHeader  header;
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
  }
  if (position >= longest)
  {
    throw std::runtime_error("its header does not end within " + std::to_string(longest) + " bytes");
  }
  header.length = std::min(position, bytes.size());
  return header;
}

/** The name of a type without words that do not change its size. */
std::string
Shorten(const std::string & type)
{
  std::vector<std::string> words = GetWords(type);
  if (words.size() > 1 && (words.front() == "signed" || words.front() == "unsigned"))
  {
    words.erase(words.begin());
  }
  if (words.size() > 1 && words.back() == "int")
  {
    words.pop_back();
  }
  std::string text;
  for (const auto & word : words)
  {
    text += (text.empty() ? "" : " ") + word;
  }
  const std::string end = "_t";
  const bool        isStandard = text.size() > 2 && text.compare(text.size() - 2, 2, end) == 0;
  return isStandard ? text.substr(0, text.size() - 2) : text;
}

std::uint64_t
GetTypeBytes(const TextHeader & header)
{
  // All names of the types of voxels, shortened: "unsigned short int" is "unsigned short".
  static const std::map<std::string, std::uint64_t> bytes{
    { "char", 1 },      { "int8", 1 },   { "uchar", 1 },     { "uint8", 1 },    { "short", 2 },
    { "int16", 2 },     { "ushort", 2 }, { "uint16", 2 },    { "int", 4 },      { "int32", 4 },
    { "uint", 4 },      { "uint32", 4 }, { "long long", 8 }, { "longlong", 8 }, { "int64", 8 },
    { "ulonglong", 8 }, { "uint64", 8 }, { "float", 4 },     { "double", 8 },
  };
  const std::string type = ToLower(header.Get("type"));
  const auto        found = bytes.find(Shorten(type));
  if (found == bytes.end())
  {
    throw std::runtime_error("its header has the type '" + type + "', which is not one of voxels");
  }
  return found->second;
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

void
InspectNrrd(ImageFile & file)
{
  const TextHeader header = ParseHeader(file.name);
  const auto       dimension = GetInteger(header.Get("dimension"), "dimension");
  if (dimension < 1 || dimension > 16)
  {
    throw std::runtime_error("the dimension is " + std::to_string(dimension) + ", but must be from 1 to 16");
  }
  const auto sizes = GetWords(header.Get("sizes"));
  if (sizes.size() != static_cast<std::size_t>(dimension))
  {
    throw std::runtime_error("sizes has " + std::to_string(sizes.size()) + " entries, but the dimension is " +
                             std::to_string(dimension));
  }
  const std::uint64_t voxelBytes = GetTypeBytes(header);
  const std::uint64_t numberOfVoxels = GetProduct(sizes, "sizes");
  CheckMemory(Multiply(numberOfVoxels, voxelBytes));

  for (const char * field : { "spacedirections", "spaceorigin" })
  {
    std::string text = header.Get(field);
    std::replace_if(text.begin(), text.end(), [](char c) { return c == '(' || c == ')' || c == ','; }, ' ');
    for (const auto & word : GetWords(text))
    {
      if (word != "none")
      {
        CheckFinite(word, field);
      }
    }
  }

  const std::string encoding = ToLower(header.Get("encoding"));
  const bool        isRaw = encoding == "raw";
  const bool        isGzip = encoding == "gzip" || encoding == "gz";
  if (!isRaw && !isGzip)
  {
    throw std::runtime_error("its encoding is '" + MakePrintable(encoding) + "', but must be raw or gzip");
  }
  const auto skippedLines = GetInteger(header.Get("lineskip", "0"), "line skip");
  const auto skippedBytes = GetInteger(header.Get("byteskip", "0"), "byte skip");
  if (skippedLines < 0 || skippedBytes < (isRaw ? -1 : 0))
  {
    throw std::runtime_error("line skip and byte skip must not be negative, except a byte skip of -1 for raw voxels");
  }

  const std::string dataFile = header.Get("data file");
  if (dataFile.compare(0, 4, "LIST") == 0 || dataFile.find('%') != std::string::npos)
  {
    throw std::runtime_error("its voxels are in several files (data file: " + MakePrintable(dataFile) +
                             "), which is not supported");
  }
  const bool     isAttached = dataFile.empty();
  CompressedPart part;
  part.file = isAttached ? file.name : FindDataFile(file.name, dataFile);
  part.offset = SkipLines(part.file, isAttached ? header.length : 0, skippedLines);
  part.promised = Multiply(numberOfVoxels, voxelBytes);
  // The bytes to skip are compressed too.
  (isGzip ? part.promised : part.offset) += static_cast<std::uint64_t>(std::max<std::int64_t>(skippedBytes, 0));
  AddVoxels(file, part, isGzip);
}
} // namespace voxelmaps
