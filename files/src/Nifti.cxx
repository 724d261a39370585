// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FileContent.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

// NIfTI-1 and NIfTI-2: https://nifti.nimh.nih.gov

namespace voxelmaps
{
namespace
{
/** What the checks need of a header. */
struct Header
{
  std::array<std::int64_t, 8> sizes{};
  std::array<double, 8>       spacing{};
  int                         dataType{ 0 };
  int                         bits{ 0 };
  double                      offset{ 0.0 };
  double                      slope{ 0.0 };
  double                      intercept{ 0.0 };
  int                         qformCode{ 0 };
  int                         sformCode{ 0 };
  std::array<double, 6>       qform{};
  std::array<double, 12>      sform{};
  bool                        isSingleFile{ false };
  bool                        hasMagic{ false };
  std::uint64_t               length{ 0 };
};

template <typename T, typename TArray>
void
GetNumbers(const std::string & bytes, std::size_t offset, bool isBigEndian, TArray & numbers)
{
  for (std::size_t i = 0; i < numbers.size(); ++i)
  {
    numbers[i] = static_cast<typename TArray::value_type>(GetNumber<T>(bytes, offset + i * sizeof(T), isBigEndian));
  }
}

Header
ParseFirstVersion(const std::string & bytes, bool isBigEndian)
{
  Header header;
  GetNumbers<std::int16_t>(bytes, 40, isBigEndian, header.sizes);
  GetNumbers<float>(bytes, 76, isBigEndian, header.spacing);
  GetNumbers<float>(bytes, 256, isBigEndian, header.qform);
  GetNumbers<float>(bytes, 280, isBigEndian, header.sform);
  header.dataType = GetNumber<std::int16_t>(bytes, 70, isBigEndian);
  header.bits = GetNumber<std::int16_t>(bytes, 72, isBigEndian);
  header.offset = static_cast<double>(GetNumber<float>(bytes, 108, isBigEndian));
  header.slope = static_cast<double>(GetNumber<float>(bytes, 112, isBigEndian));
  header.intercept = static_cast<double>(GetNumber<float>(bytes, 116, isBigEndian));
  header.qformCode = GetNumber<std::int16_t>(bytes, 252, isBigEndian);
  header.sformCode = GetNumber<std::int16_t>(bytes, 254, isBigEndian);
  const std::string magic = bytes.substr(344, 3);
  header.isSingleFile = magic == "n+1";
  header.hasMagic = header.isSingleFile || magic == "ni1";
  header.length = 348;
  return header;
}

Header
ParseSecondVersion(const std::string & bytes, bool isBigEndian)
{
  if (bytes.size() < 540)
  {
    throw std::runtime_error("the file ends within its header");
  }
  Header header;
  GetNumbers<std::int64_t>(bytes, 16, isBigEndian, header.sizes);
  GetNumbers<double>(bytes, 104, isBigEndian, header.spacing);
  GetNumbers<double>(bytes, 352, isBigEndian, header.qform);
  GetNumbers<double>(bytes, 400, isBigEndian, header.sform);
  header.dataType = GetNumber<std::int16_t>(bytes, 12, isBigEndian);
  header.bits = GetNumber<std::int16_t>(bytes, 14, isBigEndian);
  header.offset = static_cast<double>(GetNumber<std::int64_t>(bytes, 168, isBigEndian));
  header.slope = GetNumber<double>(bytes, 176, isBigEndian);
  header.intercept = GetNumber<double>(bytes, 184, isBigEndian);
  header.qformCode = GetNumber<std::int32_t>(bytes, 344, isBigEndian);
  header.sformCode = GetNumber<std::int32_t>(bytes, 348, isBigEndian);
  const std::string magic = bytes.substr(4, 3);
  header.isSingleFile = magic == "n+2";
  header.hasMagic = header.isSingleFile || magic == "ni2";
  header.length = 540;
  return header;
}

Header
ParseHeader(const std::string & bytes)
{
  if (bytes.size() < 348)
  {
    throw std::runtime_error("it has " + std::to_string(bytes.size()) + " bytes, but the header of NIfTI has 348");
  }
  for (const bool isBigEndian : { false, true })
  {
    const auto length = GetNumber<std::int32_t>(bytes, 0, isBigEndian);
    if (length == 348)
    {
      return ParseFirstVersion(bytes, isBigEndian);
    }
    if (length == 540)
    {
      return ParseSecondVersion(bytes, isBigEndian);
    }
  }
  throw std::runtime_error("its header is not one of NIfTI: it does not begin with 348 or 540");
}

void
RequireFinite(double value, const std::string & field)
{
  if (!std::isfinite(value))
  {
    throw std::runtime_error("the number in " + field + " of its header is not finite");
  }
}

/** The number of bytes of the voxels. */
std::uint64_t
GetNumberOfBytes(const Header & header)
{
  // Complex numbers and colors are among them.
  static const std::map<int, int> bits{ { 2, 8 },     { 4, 16 },    { 8, 32 },   { 16, 32 },  { 32, 64 },
                                        { 64, 64 },   { 128, 24 },  { 256, 8 },  { 512, 16 }, { 768, 32 },
                                        { 1024, 64 }, { 1280, 64 }, { 2304, 32 } };
  const auto                      type = bits.find(header.dataType);
  if (type == bits.end())
  {
    throw std::runtime_error("voxels of the data type " + std::to_string(header.dataType) + " cannot be read");
  }
  if (header.bits != type->second)
  {
    throw std::runtime_error("its header says " + std::to_string(header.bits) + " bits per voxel, but the data type " +
                             std::to_string(header.dataType) + " has " + std::to_string(type->second));
  }
  const auto dimension = header.sizes[0];
  if (dimension < 1 || dimension > 7)
  {
    throw std::runtime_error("dim[0] of its header is " + std::to_string(dimension) + ", but must be from 1 to 7");
  }
  auto numberOfBytes = static_cast<std::uint64_t>(type->second / 8);
  for (std::size_t i = 1; i <= static_cast<std::size_t>(dimension); ++i)
  {
    // Some programs write 0 for axes without meaning.
    const auto size = i > 3 && header.sizes[i] == 0 ? 1 : header.sizes[i];
    if (size == 0)
    {
      throw NoVoxels();
    }
    if (size < 0)
    {
      throw std::runtime_error("dim[" + std::to_string(i) + "] of its header is " + std::to_string(size) +
                               ", but sizes are positive");
    }
    numberOfBytes = Multiply(numberOfBytes, static_cast<std::uint64_t>(size));
  }
  CheckMemory(numberOfBytes);
  return numberOfBytes;
}

void
CheckGeometry(const Header & header)
{
  for (std::size_t i = 1; i <= 3; ++i)
  {
    RequireFinite(header.spacing[i], "pixdim[" + std::to_string(i) + "]");
  }
  if (std::isinf(header.slope) || std::isinf(header.intercept))
  {
    throw std::runtime_error("the number in scl_slope or scl_inter of its header is not finite");
  }
  if (header.slope == 0.0 && header.intercept != 0.0)
  {
    // A slope of 0 means that there is no scaling, but the reader adds the intercept.
    std::ostringstream text;
    text << "scl_inter of its header is " << header.intercept << ", but scl_slope is 0";
    throw std::runtime_error(text.str());
  }
  if (header.qformCode > 0)
  {
    std::for_each(header.qform.begin(), header.qform.end(), [](double value) { RequireFinite(value, "the qform"); });
    RequireFinite(header.spacing[0], "pixdim[0]");
    const double b = header.qform[0];
    const double c = header.qform[1];
    const double d = header.qform[2];
    // Slightly more than 1 is rounding.
    if (b * b + c * c + d * d > 1.001)
    {
      throw std::runtime_error("the quaternion in the qform of its header is longer than 1");
    }
  }
  if (header.sformCode > 0)
  {
    std::for_each(header.sform.begin(), header.sform.end(), [](double value) { RequireFinite(value, "the sform"); });
  }
}

/** The offset of the voxels in their file. */
std::uint64_t
GetOffset(const Header & header)
{
  // After the header of a single file come four bytes for extensions.
  const double lowest = header.isSingleFile ? static_cast<double>(header.length) + 4.0 : 0.0;
  if (!(header.offset >= lowest && header.offset < 9e18))
  {
    std::ostringstream text;
    text << "vox_offset of its header is " << header.offset << ", but must be at least " << lowest;
    throw std::runtime_error(text.str());
  }
  return static_cast<std::uint64_t>(header.offset);
}

/** The other file of a pair, .img for .hdr and the reverse, in the same case. */
std::string
FindPartner(const std::string & name, const std::string & ending)
{
  std::string partner = name.substr(0, name.size() - ending.size());
  for (std::size_t i = partner.size(), j = 0; j < ending.size(); ++i, ++j)
  {
    const bool isUpper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    partner += isUpper ? static_cast<char>(std::toupper(static_cast<unsigned char>(ending[j]))) : ending[j];
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(partner, error))
  {
    throw std::runtime_error("there is no file '" + partner + "', which belongs to it");
  }
  return partner;
}
} // namespace

void
InspectNifti(ImageFile & file)
{
  const std::string lower = ToLower(file.name);
  const auto        hasEnding = [&lower](const std::string & ending) {
    return lower.compare(lower.size() - ending.size(), ending.size(), ending) == 0;
  };
  const bool        isHeader = hasEnding(".hdr");
  const bool        isPair = isHeader || hasEnding(".img");
  const std::string headerFile = isPair && !isHeader ? FindPartner(file.name, ".hdr") : file.name;
  CompressedPart    part;
  part.file = isHeader ? FindPartner(file.name, ".img") : file.name;
  file.files = { headerFile };
  for (const auto & name : { headerFile, part.file })
  {
    if (!hasEnding(".gz") && IsGzip(name))
    {
      throw std::runtime_error("'" + name + "' is compressed with gzip, but only names that end with .nii.gz may be");
    }
  }

  const Header        header = ParseHeader(ReadHead(headerFile, 540));
  const std::uint64_t numberOfBytes = GetNumberOfBytes(header);
  CheckGeometry(header);
  if (!header.hasMagic)
  {
    throw std::runtime_error("its header is not one of NIfTI but of Analyze 7.5, which has no orientation");
  }
  if (header.isSingleFile == isPair)
  {
    throw std::runtime_error(isPair ? "its header says that header and voxels are in one file"
                                    : "its header says that the voxels are in another file");
  }

  part.promised = Add(GetOffset(header), numberOfBytes);
  AddVoxels(file, part, IsGzip(part.file));

  // The reader looks for voxels without compression first.
  const std::string base = file.name.substr(0, file.name.size() - 3);
  std::error_code   error;
  file.needsLink = hasEnding(".gz") && (std::filesystem::exists(base, error) ||
                                        std::filesystem::exists(base.substr(0, base.size() - 4) + ".nii", error));
}
} // namespace voxelmaps
