// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FileContent.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

// MetaImage: https://itk.org/Wiki/ITK/MetaIO/Documentation

namespace voxelmaps
{
namespace
{
bool
IsTrue(const TextHeader & header, const std::string & field, bool otherwise)
{
  const std::string text = header.Get(field);
  return text.empty() ? otherwise : text[0] == 'T' || text[0] == 't' || text[0] == '1';
}

TextHeader
ParseHeader(const std::string & name)
{
  constexpr std::size_t longest = 1 << 20;
  const std::string     bytes = ByteFile(name).Read(0, longest);
  TextHeader            header;
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
  return header;
}

std::uint64_t
GetTypeBytes(const std::string & type)
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
CheckGeometry(const TextHeader & header, std::size_t dimension)
{
  const std::size_t square = dimension * dimension;
  for (const auto & [field, count] : { std::pair{ "ElementSpacing", dimension },
                                       std::pair{ "ElementSize", dimension },
                                       std::pair{ "Offset", dimension },
                                       std::pair{ "Origin", dimension },
                                       std::pair{ "Position", dimension },
                                       std::pair{ "TransformMatrix", square },
                                       std::pair{ "Rotation", square },
                                       std::pair{ "Orientation", square } })
  {
    const auto words = GetWords(header.Get(field));
    if (!words.empty() && words.size() != count)
    {
      throw std::runtime_error(std::string(field) + " has " + std::to_string(words.size()) +
                               " numbers, but must have " + std::to_string(count));
    }
    for (const auto & word : words)
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
} // namespace

void
InspectMetaImage(ImageFile & file)
{
  const TextHeader header = ParseHeader(file.name);
  const auto       dimension = GetInteger(header.Get("NDims"), "NDims");
  if (dimension < 1 || dimension > 10)
  {
    throw std::runtime_error("NDims is " + std::to_string(dimension) + ", but must be from 1 to 10");
  }
  const auto sizes = GetWords(header.Get("DimSize"));
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
  const std::uint64_t voxelBytes =
    Multiply(GetTypeBytes(header.Get("ElementType")), static_cast<std::uint64_t>(channels));
  const std::uint64_t numberOfVoxels = GetProduct(sizes, "DimSize");
  CheckMemory(Multiply(numberOfVoxels, voxelBytes));
  CheckGeometry(header, sizes.size());

  const std::string  element = header.Get("ElementDataFile");
  const bool         isLocal = element == "LOCAL" || element == "Local" || element == "local";
  const bool         isCompressed = IsTrue(header, "CompressedData", false);
  const std::int64_t skipped = GetInteger(header.Get("HeaderSize", "0"), "HeaderSize");
  if (skipped < -1)
  {
    throw std::runtime_error("HeaderSize is " + std::to_string(skipped) + ", but must be at least -1");
  }

  CompressedPart part;
  part.promised = Multiply(numberOfVoxels, voxelBytes);
  part.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(skipped, 0));
  if (isLocal && skipped > 0 && part.offset < header.length)
  {
    throw std::runtime_error("HeaderSize is " + std::to_string(skipped) + ", but the header has " +
                             std::to_string(header.length) + " bytes");
  }
  part.offset = isLocal ? std::max(part.offset, header.length) : part.offset;
  if (isLocal && skipped == -1 && ByteFile(file.name).GetSize() != Add(part.offset, part.promised))
  {
    throw std::runtime_error("HeaderSize is -1, so that the voxels are at its end, but it has " +
                             std::to_string(ByteFile(file.name).GetSize()) + " bytes instead of " +
                             std::to_string(Add(part.offset, part.promised)));
  }
  if (isCompressed && !header.Get("CompressedDataSize").empty())
  {
    const auto size = GetInteger(header.Get("CompressedDataSize"), "CompressedDataSize");
    if (size < 1)
    {
      throw std::runtime_error("CompressedDataSize is " + std::to_string(size) + ", but must be positive");
    }
    part.size = static_cast<std::uint64_t>(size);
  }
  if (!IsTrue(header, "BinaryData", true))
  {
    throw std::runtime_error("its voxels are text (BinaryData = False), which is not supported");
  }
  if (!isLocal && (element.compare(0, 4, "LIST") == 0 || element.find('%') != std::string::npos))
  {
    throw std::runtime_error("its voxels are in several files (ElementDataFile = " + MakePrintable(element) +
                             "), which is not supported");
  }
  part.file = isLocal ? file.name : FindDataFile(file.name, element);
  std::error_code error;
  if (!isLocal && std::filesystem::equivalent(file.name, part.file, error))
  {
    throw std::runtime_error("its data file '" + part.file + "' is the header itself");
  }
  AddVoxels(file, part, isCompressed);
}
} // namespace voxelmaps
