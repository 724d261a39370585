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

// Formats whose size alone is checked.

namespace ExampleIO
{
namespace FileChecks
{
CompressedParts
CheckGipl(const std::string & name)
{
  static const std::map<int, std::uint64_t> bytes{ { 1, 1 },  { 7, 1 },  { 8, 1 },  { 15, 2 }, { 16, 2 },
                                                   { 31, 4 }, { 32, 4 }, { 64, 4 }, { 65, 8 } };
  constexpr std::size_t                     length = 256;
  const std::string                         header = ReadHead(name, length);
  if (header.size() < length)
  {
    throw std::runtime_error("the file ends within its header");
  }
  const auto magic = GetNumber<std::uint32_t>(header, 252, true);
  if (magic != 719555000U && magic != 4026526128U)
  {
    throw std::runtime_error("its header is not one of GIPL");
  }
  const int  type = GetNumber<std::uint16_t>(header, 8, true);
  const auto found = bytes.find(type);
  if (found == bytes.end())
  {
    throw std::runtime_error("its header has the type " + std::to_string(type) + ", which is not one of voxels");
  }
  std::uint64_t numberOfBytes = found->second;
  for (std::size_t d = 0; d < 4; ++d)
  {
    const auto size = GetNumber<std::uint16_t>(header, 2 * d, true);
    if (size == 0 && d < 2)
    {
      throw NoVoxels();
    }
    numberOfBytes = Multiply(numberOfBytes, std::max<std::uint64_t>(size, 1));
  }
  CompressedPart part;
  part.file = name;
  part.promised = length + numberOfBytes;
  return CheckSizeOrCompressedPart("it", part, IsGzip(name));
}

CompressedParts
CheckBmp(const std::string & name)
{
  ByteFile          file(name);
  const std::string header = file.Read(0, 54);
  const auto        offset = GetNumber<std::uint32_t>(header, 10, false);
  const auto        width = GetNumber<std::int32_t>(header, 18, false);
  const auto        height = GetNumber<std::int32_t>(header, 22, false);
  const auto        bits = GetNumber<std::uint16_t>(header, 28, false);
  const auto        compression = GetNumber<std::uint32_t>(header, 30, false);
  if (width == 0 || height == 0)
  {
    throw NoVoxels();
  }
  if (width < 0)
  {
    throw std::runtime_error("its width is " + std::to_string(width));
  }
  if (compression == 0)
  {
    const std::uint64_t row = (static_cast<std::uint64_t>(width) * bits + 31) / 32 * 4;
    const auto          rows = static_cast<std::uint64_t>(height < 0 ? -static_cast<std::int64_t>(height) : height);
    CheckSize("it", file.GetSize(), offset + row * rows);
  }
  return {};
}

CompressedParts
CheckJpeg(const std::string & name)
{
  // Segments with a length until the start of a scan, then coded voxels until the next marker, then segments again.
  ByteFile                     file(name);
  const auto                   cut = [] { return std::runtime_error("it is cut: it has no marker of its end"); };
  static constexpr int         startOfScan = 0xDA;
  static constexpr int         endOfImage = 0xD9;
  static constexpr std::size_t chunk = 1 << 16;
  // After the marker of the start.
  std::uint64_t position = 2;
  while (true)
  {
    const std::string head = file.Read(position, 4);
    if (head.size() < 2)
    {
      throw cut();
    }
    const int marker = static_cast<unsigned char>(head[1]);
    if (static_cast<unsigned char>(head[0]) != 0xFF)
    {
      throw std::runtime_error("at byte " + std::to_string(position) + " is no marker of JPEG");
    }
    if (marker == endOfImage)
    {
      return {};
    }
    if (marker == 0xFF)
    {
      // A byte that only fills.
      ++position;
      continue;
    }
    if (head.size() < 4)
    {
      throw cut();
    }
    position += 2 + std::uint64_t{ GetNumber<std::uint16_t>(head, 2, true) };
    if (marker != startOfScan)
    {
      continue;
    }
    // 0 after 0xFF is a coded byte, and 0xD0 to 0xD7 are markers within a scan.
    for (bool isInScan = true; isInScan;)
    {
      const std::string bytes = file.Read(position, chunk);
      if (bytes.size() < 2)
      {
        throw cut();
      }
      std::size_t i = 0;
      for (; i + 1 < bytes.size() && isInScan; ++i)
      {
        const int next = static_cast<unsigned char>(bytes[i + 1]);
        isInScan =
          static_cast<unsigned char>(bytes[i]) != 0xFF || next == 0 || next == 0xFF || (next >= 0xD0 && next <= 0xD7);
      }
      position += isInScan ? i : i - 1;
    }
  }
}

CompressedParts
CheckVtk(const std::string & name)
{
  static const std::map<std::string, std::uint64_t> bytesOfType{
    { "unsigned_char", 1 },
    { "char", 1 },
    { "unsigned_short", 2 },
    { "short", 2 },
    { "unsigned_int", 4 },
    { "int", 4 },
    { "float", 4 },
    { "double", 8 },
    { "unsigned_long", 8 },
    { "long", 8 },
    { "unsigned_long_long", 8 },
    { "long_long", 8 },
    { "vtktypeint64", 8 },
    { "vtktypeuint64", 8 },
  };
  constexpr std::size_t longest = 1 << 16;
  ByteFile              file(name);
  const std::string     head = file.Read(0, longest);
  std::uint64_t         numberOfVoxels = 0;
  std::uint64_t         numberOfValues = 0;
  std::uint64_t         bytesOfValue = 0;
  bool                  isText = false;
  for (std::size_t position = 0; position < head.size();)
  {
    const auto  end = std::min(head.find('\n', position), head.size());
    std::string line = head.substr(position, end - position);
    std::transform(
      line.begin(), line.end(), line.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    position = end + 1;
    auto words = GetWords(line);
    if (bytesOfValue != 0 && (words.empty() || words[0] != "lookup_table"))
    {
      // Only scalars have a line with the name of a lookup table.
      position -= line.size() + 1;
    }
    if (bytesOfValue != 0)
    {
      if (isText)
      {
        CheckNumbersInText(name, position, numberOfValues);
      }
      else
      {
        CheckSize("it", file.GetSize(), Add(position, Multiply(numberOfValues, bytesOfValue)));
      }
      return {};
    }
    if (words.empty())
    {
      continue;
    }
    isText = isText || words[0] == "ascii";
    if (words[0] == "dimensions")
    {
      words.erase(words.begin());
      numberOfVoxels = GetProduct(words, "DIMENSIONS");
    }
    if ((words[0] == "scalars" || words[0] == "vectors" || words[0] == "tensors") && words.size() > 2)
    {
      const auto type = bytesOfType.find(words[2]);
      if (type == bytesOfType.end())
      {
        // The reader knows what it can read.
        return {};
      }
      const auto components = words[0] == "vectors"   ? 3
                              : words[0] == "tensors" ? 9
                              : words.size() > 3      ? GetInteger(words[3], "SCALARS")
                                                      : 1;
      bytesOfValue = type->second;
      numberOfValues = Multiply(numberOfVoxels, static_cast<std::uint64_t>(std::max<std::int64_t>(components, 1)));
      CheckMemory(Multiply(numberOfValues, bytesOfValue));
    }
  }
  if (bytesOfValue != 0)
  {
    throw std::runtime_error("the file ends within its header");
  }
  return {};
}
} // namespace FileChecks
} // namespace ExampleIO
