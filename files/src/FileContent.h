// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FileContent_h
#define FileContent_h

// What the checks of image files share; they throw what ImageFile.h says, without the name of the file.

#include "voxelmaps/ImageFile.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace voxelmaps
{
/** What a check throws for an image without voxels. */
class NoVoxels : public std::runtime_error
{
public:
  NoVoxels()
    : std::runtime_error("it has no voxels")
  {}
};

// One check for each format.
void
InspectNifti(ImageFile & file);
void
InspectMetaImage(ImageFile & file);
void
InspectNrrd(ImageFile & file);
void
InspectPng(ImageFile & file);
void
InspectDicom(ImageFile & file);

/** Decompress a gzip or zlib stream. */
void
VerifyCompressedPart(const CompressedPart & part);

std::string
ToLower(std::string text);

/** The text in printable ASCII characters: headers and names can have any bytes, which terminals could execute. */
std::string
MakePrintable(const std::string & text);

/** A header of lines of text, as MetaImage and NRRD have it. */
struct TextHeader
{
  std::map<std::string, std::string> fields;
  /** Where the header ends. */
  std::uint64_t length{ 0 };

  std::string
  Get(const std::string & field, const std::string & otherwise = "") const
  {
    const auto found = fields.find(field);
    return found == fields.end() ? otherwise : found->second;
  }
};

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

/** Add the voxels of an image: throw if their file is shorter than the header promises, and leave compressed ones to
 * VerifyCompressedPart. */
void
AddVoxels(ImageFile & image, const CompressedPart & part, bool isCompressed);

/** The file of the voxels, by an absolute name or one relative to the folder of the header. */
std::string
FindDataFile(const std::string & header, const std::string & dataFile);

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

/** The text without blanks at its ends. */
std::string
Trim(const std::string & text);

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
} // namespace voxelmaps

#endif // FileContent_h
