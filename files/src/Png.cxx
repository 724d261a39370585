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
#include "FileContent.h"

#include <zlib.h>

// PNG: https://www.w3.org/TR/png-3

namespace voxelmaps
{
void
InspectPng(ImageFile & image)
{
  ByteFile    file(image.name);
  bool        hasVoxels = false;
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
    if (isFirst)
    {
      const std::uint64_t width = GetNumber<std::uint32_t>(data, 4, true);
      const std::uint64_t height = GetNumber<std::uint32_t>(data, 8, true);
      if (width == 0 || height == 0)
      {
        throw NoVoxels();
      }
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
