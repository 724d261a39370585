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
#ifndef Formats_h
#define Formats_h

// The checks of image files, one for each format; they throw what FileChecks.h says, without the name of the file.

#include "io/FileChecks.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ExampleIO
{
namespace FileChecks
{
using CompressedParts = std::vector<CompressedPart>;

/** What a check throws for an image without voxels. */
class NoVoxels : public std::runtime_error
{
public:
  NoVoxels()
    : std::runtime_error("it has no voxels")
  {}
};

CompressedParts
CheckNifti(const std::string & name);
CompressedParts
CheckMetaImage(const std::string & name);
CompressedParts
CheckNrrd(const std::string & name);
CompressedParts
CheckPng(const std::string & name);
CompressedParts
CheckGipl(const std::string & name);
CompressedParts
CheckBmp(const std::string & name);
CompressedParts
CheckJpeg(const std::string & name);
CompressedParts
CheckVtk(const std::string & name);
CompressedParts
CheckDicom(const std::string & name);

/** Decompress a gzip or zlib stream. */
void
CheckCompressedPart(const CompressedPart & part);

/** A file of bytes. */
class ByteFile
{
public:
  explicit ByteFile(const std::string & name);

  std::uint64_t
  GetSize() const
  {
    return m_Size;
  }

  /** At most this many bytes from an offset; less at the end of the file. */
  std::string
  Read(std::uint64_t offset, std::size_t count);

private:
  std::ifstream m_Stream;
  std::uint64_t m_Size;
};

/** Whether a file begins as gzip does. */
bool
IsGzip(const std::string & name);

/** The first bytes of a file, after decompression if it is a gzip stream; less at its end. */
std::string
ReadHead(const std::string & name, std::size_t count);

/** Products of sizes that are too large become the largest number. */
std::uint64_t
Multiply(std::uint64_t a, std::uint64_t b);
std::uint64_t
Add(std::uint64_t a, std::uint64_t b);

/** Throw if no machine could have the memory for this many bytes of voxels. */
void
CheckMemory(std::uint64_t numberOfBytes);

/** Throw if a file has fewer bytes than its header promises. What: "it" or "its data file 'x.raw'". */
void
CheckSize(const std::string & what, std::uint64_t size, std::uint64_t promised);

/** Check the size of the bytes of a file that may be compressed with gzip; the rest is left to CheckCompressedPart. */
CompressedParts
CheckSizeOrCompressedPart(const std::string & what, const CompressedPart & part, bool isCompressed);

/** An absolute name, or one relative to the folder of the header. */
std::string
GetDataFileName(const std::string & header, const std::string & dataFile);

/** A number in a file. */
template <typename T>
T
GetNumber(const std::string & bytes, std::size_t offset, bool isBigEndian)
{
  std::array<char, sizeof(T)> raw{};
  if (bytes.size() < offset + sizeof(T))
  {
    throw std::runtime_error("the file ends within its header");
  }
  for (std::size_t i = 0; i < sizeof(T); ++i)
  {
    raw[i] = bytes[offset + i];
  }
  const std::uint16_t one = 1;
  char                first = 0;
  std::memcpy(&first, &one, 1);
  if (isBigEndian == (first == 1))
  {
    std::array<char, sizeof(T)> swapped{};
    for (std::size_t i = 0; i < sizeof(T); ++i)
    {
      swapped[i] = raw[sizeof(T) - 1 - i];
    }
    raw = swapped;
  }
  T number{};
  std::memcpy(&number, raw.data(), sizeof(T));
  return number;
}

/** Words separated by blanks. */
std::vector<std::string>
GetWords(const std::string & text);

/** A whole number, or throw "'x' (field) is not a whole number". */
std::int64_t
GetInteger(const std::string & word, const std::string & field);

/** The number of voxels of an image whose sizes are words; throws if they are not positive. */
std::uint64_t
GetProduct(const std::vector<std::string> & sizes, const std::string & field);

/** Throw if a word is not a finite number. */
void
CheckFinite(const std::string & word, const std::string & field);

/** Throw if a file has fewer numbers than this as text, from an offset. */
void
CheckNumbersInText(const std::string & name, std::uint64_t offset, std::uint64_t promised);

/** The names of a pattern such as "slice%03d.raw", with numbers from first to last. */
std::vector<std::string>
GetNamesOfPattern(const std::string & pattern, std::int64_t first, std::int64_t last, std::int64_t step);
} // namespace FileChecks
} // namespace ExampleIO

#endif // Formats_h
