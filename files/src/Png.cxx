// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FileContent.h"

#include <map>
#include <set>

#include <zlib.h>

// PNG: https://www.w3.org/TR/png-3

namespace voxelmaps
{
namespace
{
/** Check the chunk IHDR; libpng would end the program. Returns whether there must be a palette. */
bool
CheckHeader(const std::string & data)
{
  for (const std::size_t position : { 4U, 8U })
  {
    const auto size = GetNumber<std::uint32_t>(data, position, true);
    if (size == 0)
    {
      throw NoVoxels();
    }
    if (size > 1000000)
    {
      throw std::runtime_error("its size is " + std::to_string(size) + ", more than 1000000");
    }
  }
  // The color types, and the bit depths of each.
  static const std::map<int, std::set<int>> depths{
    { 0, { 1, 2, 4, 8, 16 } }, { 2, { 8, 16 } }, { 3, { 1, 2, 4, 8 } }, { 4, { 8, 16 } }, { 6, { 8, 16 } }
  };
  const int  depth = static_cast<unsigned char>(data[12]);
  const int  color = static_cast<unsigned char>(data[13]);
  const auto found = depths.find(color);
  if (found == depths.end() || found->second.count(depth) == 0)
  {
    throw std::runtime_error("there is no color type " + std::to_string(color) + " of bit depth " +
                             std::to_string(depth));
  }
  if (data[14] != 0 || data[15] != 0 || static_cast<unsigned char>(data[16]) > 1)
  {
    throw std::runtime_error("its compression, filter or interlace method is unknown");
  }
  return color == 3;
}
} // namespace

void
InspectPng(ImageFile & image)
{
  ByteFile    file(image.name);
  bool        hasVoxels = false;
  bool        hasPalette = false;
  bool        needsPalette = false;
  std::string type;
  // After the signature.
  std::uint64_t position = 8;
  for (bool isFirst = true; type != "IEND"; isFirst = false)
  {
    const std::string head = file.Read(position, 8);
    if (head.size() < 8)
    {
      throw std::runtime_error("it is cut: it has no chunk IEND");
    }
    const auto length = GetNumber<std::uint32_t>(head, 0, true);
    type = head.substr(4);
    for (const char letter : type)
    {
      if (!((letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z')))
      {
        throw std::runtime_error("at byte " + std::to_string(position) + " is no chunk of PNG");
      }
    }
    if (file.GetSize() - position < 12 + std::uint64_t{ length })
    {
      throw std::runtime_error("it is cut within the chunk " + type);
    }
    const std::string data = file.Read(position + 4, std::size_t{ length } + 8);
    const auto        checksum =
      crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef *>(data.data()), static_cast<uInt>(data.size() - 4));
    if (checksum != GetNumber<std::uint32_t>(data, data.size() - 4, true))
    {
      throw std::runtime_error("the checksum of its chunk " + type + " is wrong");
    }
    if (isFirst != (type == "IHDR") || (isFirst && length != 13))
    {
      throw std::runtime_error(isFirst ? "its first chunk is not IHDR, of 13 bytes"
                                       : "it has more than one chunk IHDR");
    }
    needsPalette = isFirst ? CheckHeader(data) : needsPalette;
    if (type != "IDAT" && length > 8000000)
    {
      throw std::runtime_error("its chunk " + type + " has more than 8000000 bytes");
    }
    if (type == "PLTE" && (hasPalette || hasVoxels || length == 0 || length % 3 != 0 || length > 3 * 256))
    {
      throw std::runtime_error("its chunk PLTE is no palette, or not in its place");
    }
    hasPalette = hasPalette || type == "PLTE";
    if (type == "IDAT" && needsPalette && !hasPalette)
    {
      throw std::runtime_error("it has no palette before its voxels");
    }
    // Chunks whose names begin with a capital letter must be understood.
    if (type[0] < 'a' && !isFirst && type != "PLTE" && type != "IDAT" && type != "IEND")
    {
      throw std::runtime_error("it has the unknown chunk " + type);
    }
    hasVoxels = hasVoxels || type == "IDAT";
    position += 12 + std::uint64_t{ length };
  }
  if (!hasVoxels)
  {
    throw std::runtime_error("it has no chunk IDAT with voxels");
  }
}
} // namespace voxelmaps
