// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FileContent.h"

#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <sstream>
#include <system_error>

namespace voxelmaps
{
namespace
{
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

using GzFile = std::unique_ptr<std::remove_pointer_t<gzFile>, int (*)(gzFile)>;

std::string
Describe(std::uint64_t numberOfBytes)
{
  return numberOfBytes == largest ? "more than 2^64 bytes"
                                  : std::to_string(numberOfBytes) + (numberOfBytes == 1 ? " byte" : " bytes");
}
} // namespace

ByteFile::ByteFile(const std::string & name)
  : m_Stream(name, std::ios::binary)
  , m_Size(0)
{
  std::error_code error;
  m_Size = std::filesystem::file_size(name, error);
  if (!m_Stream || error)
  {
    throw std::runtime_error("cannot open '" + name + "'");
  }
}

std::string
ByteFile::Read(std::uint64_t offset, std::size_t count)
{
  std::string bytes(count, '\0');
  if (offset >= m_Size)
  {
    return {};
  }
  m_Stream.clear();
  m_Stream.seekg(static_cast<std::streamoff>(offset));
  m_Stream.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(m_Stream.gcount()));
  return bytes;
}

bool
IsGzip(const std::string & name)
{
  return ByteFile(name).Read(0, 2) == "\x1F\x8B";
}

std::string
ReadHead(const std::string & name, std::size_t count)
{
  const GzFile file(gzopen(name.c_str(), "rb"), gzclose_r);
  if (!file)
  {
    throw std::runtime_error("cannot open '" + name + "'");
  }
  std::string bytes(count, '\0');
  const int   length = gzread(file.get(), bytes.data(), static_cast<unsigned int>(count));
  if (length < 0)
  {
    throw std::runtime_error("its gzip stream is damaged");
  }
  bytes.resize(static_cast<std::size_t>(length));
  return bytes;
}

std::uint64_t
Multiply(std::uint64_t a, std::uint64_t b)
{
  return a != 0 && b > largest / a ? largest : a * b;
}

std::uint64_t
Add(std::uint64_t a, std::uint64_t b)
{
  return b > largest - a ? largest : a + b;
}

void
CheckMemory(std::uint64_t numberOfBytes)
{
  // Processors of today address 2^47 bytes for a program.
  constexpr std::uint64_t limit = sizeof(void *) < 8 ? std::uint64_t{ 1 } << 31 : std::uint64_t{ 1 } << 47;
  if (numberOfBytes > limit)
  {
    throw std::runtime_error("its header promises " + Describe(numberOfBytes) +
                             " of voxels, more than a program can address");
  }
}

void
AddVoxels(ImageFile & image, const CompressedPart & part, bool isCompressed)
{
  const std::string   what = part.file == image.name ? "it" : "its data file '" + part.file + "'";
  const std::uint64_t fileSize = ByteFile(part.file).GetSize();
  const std::uint64_t needed = Add(part.offset, !isCompressed ? part.promised : (part.size != largest ? part.size : 0));
  if (fileSize < needed)
  {
    throw std::runtime_error(what + " has " + Describe(fileSize) + ", but the header promises " + Describe(needed));
  }
  if (part.file != image.files.front())
  {
    image.files.push_back(part.file);
  }
  if (!isCompressed)
  {
    return;
  }
  // Deflate reaches 1032:1 at most, so this finds absurd sizes before their memory is allocated.
  const std::uint64_t size = std::min(fileSize - part.offset, part.size);
  if (Multiply(size, 1032) < part.promised)
  {
    throw std::runtime_error(what + " has " + Describe(size) + " of compressed voxels, which cannot be the " +
                             Describe(part.promised) + " that the header promises");
  }
  image.compressedParts.push_back(part);
}

void
VerifyCompressedPart(const CompressedPart & part)
{
  ByteFile file(part.file);
  z_stream stream{};
  // 32: gzip or zlib, as the stream says.
  if (inflateInit2(&stream, MAX_WBITS + 32) != Z_OK)
  {
    throw std::runtime_error("there is not enough memory to decompress");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream *)> end(&stream, inflateEnd);

  constexpr std::size_t chunk = 1 << 18;
  std::string           in;
  std::string           out(chunk, '\0');
  std::uint64_t         position = part.offset;
  std::uint64_t         rest = std::min(part.size, file.GetSize() - std::min(part.offset, file.GetSize()));
  std::uint64_t         total = 0;
  bool                  isInside = false;
  bool                  hasMember = false;

  while (true)
  {
    if (stream.avail_in == 0)
    {
      in = file.Read(position, static_cast<std::size_t>(std::min<std::uint64_t>(chunk, rest)));
      position += in.size();
      rest -= in.size();
      if (in.empty())
      {
        break;
      }
      stream.next_in = reinterpret_cast<Bytef *>(in.data());
      stream.avail_in = static_cast<uInt>(in.size());
    }
    if (!isInside && hasMember && stream.next_in[0] != 0x1F)
    {
      // Bytes after the last member are ignored, as gzip does.
      break;
    }
    isInside = true;
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    total += out.size() - stream.avail_out;
    if (result == Z_STREAM_END)
    {
      isInside = false;
      hasMember = true;
      inflateReset(&stream);
    }
    else if (result != Z_OK && result != Z_BUF_ERROR)
    {
      throw std::runtime_error(std::string("its compressed voxels are damaged") +
                               (stream.msg ? std::string(": ") + stream.msg : std::string()));
    }
  }
  if (isInside || !hasMember)
  {
    throw std::runtime_error("its compressed voxels are cut: the stream has no end");
  }
  if (total < part.promised)
  {
    throw std::runtime_error("it has " + Describe(total) + " after decompression, but the header promises " +
                             Describe(part.promised));
  }
}

std::string
FindDataFile(const std::string & header, const std::string & dataFile)
{
  const std::filesystem::path path(dataFile);
  const std::string           name =
    path.is_absolute() ? dataFile : (std::filesystem::path(header).parent_path() / path).string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error))
  {
    throw std::runtime_error("there is no file '" + name + "' with its voxels");
  }
  return name;
}

std::vector<std::string>
GetWords(const std::string & text)
{
  std::istringstream       stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
  {
    words.push_back(word);
  }
  return words;
}

std::int64_t
GetInteger(const std::string & word, const std::string & field)
{
  std::int64_t number = 0;
  const char * end = word.data() + word.size();
  const auto   result = std::from_chars(word.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end)
  {
    throw std::runtime_error(field + ": '" + word + "' is not a whole number");
  }
  return number;
}

std::uint64_t
GetProduct(const std::vector<std::string> & sizes, const std::string & field)
{
  std::uint64_t product = 1;
  for (const auto & word : sizes)
  {
    const std::int64_t size = GetInteger(word, field);
    if (size == 0)
    {
      throw NoVoxels();
    }
    if (size < 0)
    {
      throw std::runtime_error(field + " has " + word + ", but sizes are positive");
    }
    product = Multiply(product, static_cast<std::uint64_t>(size));
  }
  return product;
}

void
CheckFinite(const std::string & word, const std::string & field)
{
  char *       end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !std::isfinite(value))
  {
    throw std::runtime_error(field + ": '" + word + "' is not a finite number");
  }
}

std::string
GetSystemMessage(int error)
{
  std::string message = std::generic_category().message(error);
  message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return message;
}

std::string
ToLower(std::string text)
{
  std::transform(
    text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string
MakePrintable(const std::string & text)
{
  std::string printable;
  for (const char c : text)
  {
    if (c >= ' ' && c <= '~')
    {
      printable += c;
    }
    else if (static_cast<unsigned char>(c) >= 0x80)
    {
      printable += '?';
    }
  }
  return printable;
}

std::string
Trim(const std::string & text)
{
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}
} // namespace voxelmaps
