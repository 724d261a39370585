// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TemporaryFolder.h"
#include "voxelmaps/ImageFile.h"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace
{
/** The message of the check of a file; empty if it passes. */
std::string
Check(const std::string & name)
{
  try
  {
    VerifyCompressedVoxels(voxelmaps::InspectImageFile(name));
  }
  catch (const std::runtime_error & error)
  {
    return error.what();
  }
  return {};
}

/** Expect that the check of a file says this. */
void
ExpectMessage(const std::string & name, const std::string & part)
{
  const std::string message = Check(name);
  EXPECT_EQ(message.find("cannot read '" + name + "': "), 0U) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

/** A number as bytes, with the least significant one first or last. */
template <typename T>
std::string
Bytes(T number, bool isBigEndian = false)
{
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &number, sizeof(T));
  const std::uint16_t one = 1;
  char                first = 0;
  std::memcpy(&first, &one, 1);
  return isBigEndian == (first == 1) ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

template <typename T>
void
Put(std::string & bytes, std::size_t offset, T number, bool isBigEndian = false)
{
  bytes.replace(offset, sizeof(T), Bytes(number, isBigEndian));
}

/** A stream of gzip (31) or zlib (15). */
std::string
Compress(const std::string & bytes, int windowBits = 31, int level = 9)
{
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
  std::string input = bytes;
  std::string out(bytes.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/** Voxels that compress a little. */
std::string
MakeVoxels(std::size_t count)
{
  std::string voxels(count, '\0');
  for (std::size_t i = 0; i < count; ++i)
  {
    voxels[i] = static_cast<char>((i * i * 7) % 251);
  }
  return voxels;
}

/** 4 x 3 x 2 voxels of two bytes. */
std::string
MakeNiftiHeader(const std::string & magic = "n+1", bool isBigEndian = false)
{
  std::string header(magic == "n+1" ? 352 : 348, '\0');
  Put<std::int32_t>(header, 0, 348, isBigEndian);
  const std::int16_t sizes[]{ 3, 4, 3, 2, 1, 1, 1, 1 };
  for (std::size_t i = 0; i < 8; ++i)
  {
    Put(header, 40 + 2 * i, sizes[i], isBigEndian);
    Put(header, 76 + 4 * i, 1.0F, isBigEndian);
  }
  Put<std::int16_t>(header, 70, 4, isBigEndian);
  Put<std::int16_t>(header, 72, 16, isBigEndian);
  Put(header, 108, magic == "n+1" ? 352.0F : 0.0F, isBigEndian);
  Put<std::int16_t>(header, 252, 1, isBigEndian);
  Put<std::int16_t>(header, 254, 1, isBigEndian);
  for (std::size_t i = 0; i < 3; ++i)
  {
    Put(header, 280 + 20 * i, 1.0F, isBigEndian);
  }
  header.replace(344, magic.size(), magic);
  return header;
}

std::string
MakeSecondNiftiHeader()
{
  std::string header(544, '\0');
  Put<std::int32_t>(header, 0, 540);
  header.replace(4, 8, std::string("n+2\0\r\n\x1A\n", 8));
  Put<std::int16_t>(header, 12, 4);
  Put<std::int16_t>(header, 14, 16);
  const std::int64_t sizes[]{ 3, 4, 3, 2, 1, 1, 1, 1 };
  for (std::size_t i = 0; i < 8; ++i)
  {
    Put(header, 16 + 8 * i, sizes[i]);
    Put(header, 104 + 8 * i, 1.0);
  }
  Put<std::int64_t>(header, 168, 544);
  return header;
}

std::string
MakeMetaHeader(const std::string & more = "", const std::string & dataFile = "LOCAL")
{
  return "ObjectType = Image\nNDims = 3\n" + more +
         "DimSize = 4 3 2\nElementType = MET_SHORT\nElementDataFile = " + dataFile + "\n";
}

std::string
MakeNrrdHeader(const std::string & more = "encoding: raw\n", const std::string & end = "\n")
{
  return "NRRD0004\n# a comment: of no meaning\ntype: short\ndimension: 3\nsizes: 4 3 2\nendian: little\n"
         "note:=a note\n" +
         more + end;
}

std::string
MakeChunk(const std::string & type, const std::string & data)
{
  const std::string body = type + data;
  const auto        checksum =
    crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef *>(body.data()), static_cast<uInt>(body.size()));
  return Bytes(static_cast<std::uint32_t>(data.size()), true) + body +
         Bytes(static_cast<std::uint32_t>(checksum), true);
}

const std::string pngSignature = "\x89PNG\r\n\x1A\n";

/** 4 x 3 voxels of one byte. */
std::string
MakePngHead()
{
  return MakeChunk("IHDR",
                   Bytes<std::uint32_t>(4, true) + Bytes<std::uint32_t>(3, true) + std::string("\x08\0\0\0\0", 5));
}

std::string
MakePng()
{
  // Each row begins with the number of its filter.
  return pngSignature + MakePngHead() + MakeChunk("IDAT", Compress(std::string(3 * 5, '\0'), 15)) +
         MakeChunk("IEND", "");
}

/** A data element, explicit little-endian. */
std::string
MakeElement(std::uint32_t tag, const std::string & type, const std::string & value, bool isUndefined = false)
{
  const bool isLong = type == "OW" || type == "OB" || type == "SQ";
  const auto length = static_cast<std::uint32_t>(value.size());
  return Bytes(static_cast<std::uint16_t>(tag >> 16)) + Bytes(static_cast<std::uint16_t>(tag)) + type +
         (isLong ? std::string(2, '\0') + Bytes(isUndefined ? 0xFFFFFFFFU : length)
                 : Bytes(static_cast<std::uint16_t>(length))) +
         value;
}

/** A tag of four bytes, and a length. */
std::string
MakeItem(std::uint16_t element, std::uint32_t length)
{
  return Bytes<std::uint16_t>(0xFFFE) + Bytes(element) + Bytes(length);
}

std::string
MakeDicomStart(const std::string & syntax)
{
  return std::string(128, '\0') + "DICM" + MakeElement(0x00020010, "UI", syntax);
}

std::string
MakeDicomHeader()
{
  // A sequence of an item with a sequence in it, both without lengths, and one with lengths.
  const std::string inner = MakeElement(0x00081155, "UI", "1.2.3.4\0");
  const std::string open =
    MakeElement(0x00081140,
                "SQ",
                MakeItem(0xE000, 0xFFFFFFFF) + MakeElement(0x00081199, "SQ", MakeItem(0xE0DD, 0), true) + inner +
                  MakeItem(0xE00D, 0) + MakeItem(0xE0DD, 0),
                true);
  const std::string closed =
    MakeElement(0x00082112, "SQ", MakeItem(0xE000, static_cast<std::uint32_t>(inner.size())) + inner);
  return MakeElement(0x00080060, "CS", "CT") + open + closed + MakeElement(0x00280010, "US", Bytes<std::uint16_t>(3)) +
         MakeElement(0x00280011, "US", Bytes<std::uint16_t>(4)) +
         MakeElement(0x00280100, "US", Bytes<std::uint16_t>(16));
}

const std::string explicitSyntax = "1.2.840.10008.1.2.1";

std::string
MakeDicom()
{
  return MakeDicomStart(explicitSyntax) + MakeDicomHeader() + MakeElement(0x7FE00010, "OW", MakeVoxels(24));
}

std::string
MakeCompressedDicom()
{
  return MakeDicomStart("1.2.840.10008.1.2.4.70") + MakeDicomHeader() +
         MakeElement(
           0x7FE00010, "OB", MakeItem(0xE000, 0) + MakeItem(0xE000, 10) + MakeVoxels(10) + MakeItem(0xE0DD, 0), true);
}

/** The same without types, as implicit little-endian has it. */
std::string
MakeImplicitDicom(const std::string & syntax = "1.2.840.10008.1.2")
{
  const auto makeElement = [](std::uint32_t tag, const std::string & value, std::uint32_t length) {
    return Bytes(static_cast<std::uint16_t>(tag >> 16)) + Bytes(static_cast<std::uint16_t>(tag)) + Bytes(length) +
           value;
  };
  const std::string sequence = makeElement(0x00081140, MakeItem(0xE000, 2) + "ab" + MakeItem(0xE0DD, 0), 0xFFFFFFFF);
  const auto        makeNumber = [&makeElement](std::uint32_t tag, std::uint16_t number) {
    return makeElement(tag, Bytes(number), 2);
  };
  return MakeDicomStart(syntax) + sequence + makeNumber(0x00280010, 3) + makeNumber(0x00280011, 4) +
         makeNumber(0x00280100, 16) + makeElement(0x7FE00010, MakeVoxels(24), 24);
}

/** All valid files in one file each. */
std::map<std::string, std::string>
MakeValidFiles()
{
  const std::string voxels = MakeVoxels(48);
  const std::string packed = Compress(voxels, 15);
  return {
    { "first.nii", MakeNiftiHeader() + voxels },
    { "big.nii", MakeNiftiHeader("n+1", true) + voxels },
    { "first.nii.gz", Compress(MakeNiftiHeader() + voxels) },
    { "upper.NII.GZ", Compress(MakeNiftiHeader() + voxels) },
    { "second.nii", MakeSecondNiftiHeader() + voxels },
    { "raw.mha", MakeMetaHeader() + voxels },
    { "end.mha", MakeMetaHeader("HeaderSize = -1\n") + voxels },
    { "colon.mha", "NDims: 1\nDimSize: 6\nElementType: MET_DOUBLE\nElementDataFile: Local\n" + voxels },
    { "packed.mha",
      MakeMetaHeader("CompressedData = True\nCompressedDataSize = " + std::to_string(packed.size()) + "\n") + packed },
    { "packed_without_size.mha", MakeMetaHeader("CompressedData = True\n") + packed },
    { "raw.nrrd", MakeNrrdHeader() + voxels },
    { "packed.nrrd", MakeNrrdHeader("encoding: gzip\n") + Compress(voxels) },
    { "skip.nrrd", MakeNrrdHeader("encoding: raw\nline skip: 2\nbyteskip: 3\n") + "one\ntwo\nabc" + voxels },
    { "packed_skip.nrrd", MakeNrrdHeader("encoding: gz\nbyte skip: 3\n") + Compress("abc" + voxels) },
    { "gray.png", MakePng() },
    { "explicit.dcm", MakeDicom() },
    { "compressed.dcm", MakeCompressedDicom() },
    { "implicit", MakeImplicitDicom() },
  };
}
} // namespace

TEST(ImageFileTest, ValidFilesPass)
{
  const TemporaryFolder folder;
  for (const auto & [name, contents] : MakeValidFiles())
  {
    EXPECT_EQ(Check(folder.Write(name, contents)), "");
    // Some programs append to files, but not to those whose voxels are at the end.
    const std::string longer = Check(folder.Write(name, contents + "\nmore"));
    EXPECT_EQ(longer.empty(), name != "end.mha") << longer;
  }
}

TEST(ImageFileTest, EveryCutIsFound)
{
  const TemporaryFolder folder;
  for (const auto & [name, contents] : MakeValidFiles())
  {
    // All lengths near the end, and some of the others.
    for (std::size_t size = 0; size < contents.size(); size += size + 40 < contents.size() ? 11 : 1)
    {
      EXPECT_NE(Check(folder.Write(name, contents.substr(0, size))), "") << name << " of " << size << " bytes";
    }
  }
}

TEST(ImageFileTest, EveryChangedByteOfCompressedVoxelsIsFound)
{
  const TemporaryFolder folder;
  // Without compression, as two compressed streams can mean the same.
  const std::string contents = Compress(MakeNiftiHeader() + MakeVoxels(48), 31, 0);
  // Bytes 4 to 9 of gzip tell the time and the system; no reader needs them.
  for (std::size_t i = 10; i < contents.size(); ++i)
  {
    std::string changed = contents;
    changed[i] = static_cast<char>(changed[i] ^ 0x01);
    EXPECT_NE(Check(folder.Write("x.nii.gz", changed)), "") << "byte " << i;
  }
  const std::string png = MakePng();
  for (std::size_t i = pngSignature.size(); i < png.size(); ++i)
  {
    std::string changed = png;
    changed[i] = static_cast<char>(changed[i] ^ 0x01);
    EXPECT_NE(Check(folder.Write("x.png", changed)), "") << "byte " << i;
  }
}

TEST(ImageFileTest, GzipMayHaveSeveralMembersAndBytesAfterThem)
{
  const TemporaryFolder folder;
  const std::string     contents = MakeNiftiHeader() + MakeVoxels(48);
  const std::string     two = Compress(contents.substr(0, 100)) + Compress(contents.substr(100));
  EXPECT_EQ(Check(folder.Write("x.nii.gz", two)), "");
  EXPECT_EQ(Check(folder.Write("x.nii.gz", two + std::string(100, '\0'))), "");
  ExpectMessage(folder.Write("x.nii.gz", two.substr(0, two.size() - 3)), "cut");
  // The reader takes a file without compression, too.
  EXPECT_EQ(Check(folder.Write("x.nii.gz", contents)), "");
  ExpectMessage(folder.Write("x.nii.gz", contents.substr(0, 380)),
                "it has 380 bytes, but the header promises 400 bytes");
  ExpectMessage(folder.Write("x.nii", two), "only names that end with .nii.gz may be");
}

TEST(ImageFileTest, HeadersOfNifti)
{
  const TemporaryFolder folder;
  const auto expect = [&folder](const std::string & part, const std::function<void(std::string &)> & change) {
    std::string contents = MakeNiftiHeader() + MakeVoxels(48);
    change(contents);
    ExpectMessage(folder.Write("x.nii", contents), part);
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  expect("not one of NIfTI", [](auto & bytes) { Put<std::int32_t>(bytes, 0, 349); });
  expect("dim[0] of its header is 8, but must be from 1 to 7", [](auto & bytes) { Put<std::int16_t>(bytes, 40, 8); });
  expect("dim[2] of its header is -3", [](auto & bytes) { Put<std::int16_t>(bytes, 44, -3); });
  expect("it has 400 bytes, but the header promises 424 bytes", [](auto & bytes) { Put<std::int16_t>(bytes, 46, 3); });
  expect("voxels of the data type 1536", [](auto & bytes) { Put<std::int16_t>(bytes, 70, 1536); });
  expect("scl_inter of its header is 5, but scl_slope is 0", [](auto & bytes) { Put(bytes, 116, 5.0F); });
  expect("voxels of the data type 3", [](auto & bytes) { Put<std::int16_t>(bytes, 70, 3); });
  expect("8 bits per voxel, but the data type 4 has 16", [](auto & bytes) { Put<std::int16_t>(bytes, 72, 8); });
  expect("vox_offset of its header is 0, but must be at least 352", [](auto & bytes) { Put(bytes, 108, 0.0F); });
  expect("vox_offset of its header is nan", [](auto & bytes) { Put(bytes, 108, nan); });
  expect("the header promises", [](auto & bytes) { Put(bytes, 108, 1e18F); });
  expect("pixdim[1]", [](auto & bytes) { Put(bytes, 80, nan); });
  expect("scl_slope", [](auto & bytes) { Put(bytes, 112, std::numeric_limits<float>::infinity()); });
  expect("the qform", [](auto & bytes) { Put(bytes, 256, nan); });
  expect("longer than 1", [](auto & bytes) { Put(bytes, 256, 1.1F); });
  expect("the sform", [](auto & bytes) { Put(bytes, 284, nan); });
  expect("the voxels are in another file", [](auto & bytes) {
    bytes.replace(344, 3, "ni1");
    Put(bytes, 108, 352.0F);
  });
  expect("can address", [](auto & bytes) {
    Put<std::int16_t>(bytes, 40, 7);
    for (std::size_t i = 1; i < 8; ++i)
    {
      Put<std::int16_t>(bytes, 40 + 2 * i, 32000);
    }
  });

  // What a header says and a reader does not use.
  std::string unused = MakeNiftiHeader() + MakeVoxels(48);
  Put<std::int16_t>(unused, 254, 0);
  Put(unused, 284, nan);
  Put(unused, 112, nan);
  Put<std::int16_t>(unused, 48, -5);
  EXPECT_EQ(Check(folder.Write("x.nii", unused)), "");

  std::string empty = MakeNiftiHeader();
  Put<std::int16_t>(empty, 44, 0);
  const auto name = folder.Write("x.nii", empty);
  EXPECT_EQ(Check(name), "'" + name + "' has no voxels");

  std::string huge = MakeSecondNiftiHeader();
  Put(huge, 24, std::numeric_limits<std::int64_t>::max());
  ExpectMessage(folder.Write("x.nii", huge), "more than 2^64 bytes of voxels");
}

TEST(ImageFileTest, PairsOfNifti)
{
  const TemporaryFolder folder;
  const std::string     voxels = MakeVoxels(48);
  const auto            header = folder.Write("x.hdr", MakeNiftiHeader("ni1"));
  ExpectMessage(header, "there is no file");
  const auto image = folder.Write("x.img", voxels);
  for (const auto & name : { header, image })
  {
    EXPECT_EQ(Check(name), "");
    EXPECT_EQ(voxelmaps::InspectImageFile(name).files, (std::vector<std::string>{ header, image }));
  }
  folder.Write("x.img", voxels.substr(1));
  ExpectMessage(header, "x.img' has 47 bytes, but the header promises 48 bytes");
  ExpectMessage(image, "it has 47 bytes");
  folder.Write("x.img", Compress(voxels));
  ExpectMessage(header, "only names that end with .nii.gz may be");
  folder.Write("x.img", voxels);
  folder.Write("x.hdr", MakeNiftiHeader(""));
  ExpectMessage(header, "Analyze 7.5");
  folder.Write("x.hdr", MakeNiftiHeader("n+1"));
  ExpectMessage(header, "header and voxels are in one file");
  ExpectMessage(folder.Write("y.img", voxels), "there is no file");
  EXPECT_EQ(Check(folder.Write("UPPER.HDR", MakeNiftiHeader("ni1"))).find("UPPER.IMG") != std::string::npos, true);
  folder.Write("UPPER.IMG", voxels);
  EXPECT_EQ(Check(folder.Get("UPPER.HDR").string()), "");
  ExpectMessage(folder.Write("x.img.gz", Compress(voxels)), "it is none of NIfTI");
}

TEST(ImageFileTest, NeighborsOfNifti)
{
  const TemporaryFolder folder;
  const std::string     contents = MakeNiftiHeader() + MakeVoxels(48);
  const auto            packed = folder.Write("x.nii.gz", Compress(contents));
  EXPECT_FALSE(voxelmaps::InspectImageFile(packed).needsLink);
  const auto plain = folder.Write("x.nii", contents);
  EXPECT_TRUE(voxelmaps::InspectImageFile(packed).needsLink);
  EXPECT_FALSE(voxelmaps::InspectImageFile(plain).needsLink);
}

TEST(ImageFileTest, OtherFormatsAreRefused)
{
  const TemporaryFolder folder;
  for (const std::string name : { "x.vtk", "x.gipl", "x.mrc", "x.tif", "x.bmp", "x.jpg", "x.h5", "x.nia", "x" })
  {
    ExpectMessage(folder.Write(name, MakeVoxels(1000)), "it is none of NIfTI, NRRD, MetaImage, PNG and DICOM");
    ExpectMessage(folder.Write(name, ""), "it is empty");
  }
  const auto missing = folder.Get("missing").string();
  EXPECT_EQ(Check(missing), "there is no file '" + missing + "'");
  ExpectMessage(folder.Get("").string(), "it is neither a file nor a directory");
  ExpectMessage("/dev/zero", "it is neither a file nor a directory");
}

TEST(ImageFileTest, HeadersOfMetaImage)
{
  const TemporaryFolder folder;
  const auto            expect = [&folder](const std::string & from, const std::string & to, const std::string & part) {
    std::string header = MakeMetaHeader("ElementSpacing = 1 1 1\n");
    header.replace(header.find(from), from.size(), to);
    ExpectMessage(folder.Write("x.mha", header + MakeVoxels(48)), part);
  };
  expect("NDims = 3", "NDims = -3", "NDims is -3, but must be from 1 to 10");
  expect("NDims = 3", "NDims = 99", "NDims is 99");
  expect("NDims = 3\n", "", "NDims: '' is not a whole number");
  expect("NDims = 3", "NDims = 2", "DimSize has 3 entries, but NDims is 2");
  expect("4 3 2", "4 3 -2", "DimSize has -2, but sizes are positive");
  expect("4 3 2", "4 3 x", "DimSize: 'x' is not a whole number");
  expect("4 3 2", "4 3 99999999999999999999", "is not a whole number");
  expect("4 3 2", "4000000000 4000000000 4000000000", "more than 2^64 bytes of voxels");
  expect("4 3 2", "4 3 3", "but the header promises");
  expect("MET_SHORT", "MET_STRING", "there is no type 'MET_STRING'");
  expect("1 1 1", "1 nan 1", "ElementSpacing: 'nan' is not a finite number");
  expect("ElementDataFile", "ElementData", "no field ElementDataFile");
  expect("ElementSpacing", "DimSize", "has the field DimSize twice");
  expect("ElementSpacing = 1 1 1", "ElementNumberOfChannels = 0", "must be positive");
  expect("ElementSpacing = 1 1 1", "ElementToIntensityFunctionSlope = 2", "which the reader ignores");
  expect("ElementSpacing = 1 1 1", "HeaderSize = -2", "HeaderSize is -2");
  expect("ElementSpacing = 1 1 1", "HeaderSize = 5", "HeaderSize is 5, but the header has");
  expect("LOCAL", "x%03d.raw", "in several files");
  expect("LOCAL", "LIST", "in several files");
  expect("1 1 1", "1 1", "ElementSpacing has 2 numbers, but must have 3");
  expect("ElementSpacing = 1 1 1", "TransformMatrix = 1 0 0", "TransformMatrix has 3 numbers, but must have 9");
  expect("ElementSpacing = 1 1 1", "BinaryData = False", "its voxels are text");
  expect("LOCAL", "nothing.raw", "nothing.raw' with its voxels");

  std::string empty = MakeMetaHeader();
  empty.replace(empty.find("4 3 2"), 5, "4 0 2");
  const auto name = folder.Write("x.mha", empty);
  EXPECT_EQ(Check(name), "'" + name + "' has no voxels");
}

TEST(ImageFileTest, DataFilesOfMetaImage)
{
  const TemporaryFolder folder;
  const std::string     voxels = MakeVoxels(48);
  folder.Write("x.raw", voxels);
  for (const std::string & dataFile : { std::string("x.raw"), folder.Get("x.raw").string() })
  {
    const auto header = folder.Write("x.mhd", MakeMetaHeader("", dataFile));
    EXPECT_EQ(Check(header), "") << dataFile;
    EXPECT_EQ(voxelmaps::GetFilesOfImage(header), (std::vector<std::string>{ header, folder.Get("x.raw").string() }));
  }
  ExpectMessage(folder.Write("x.mhd", MakeMetaHeader("HeaderSize = 1\n", "x.raw")),
                "x.raw' has 48 bytes, but the header promises 49 bytes");
  ExpectMessage(folder.Write("x.mhd", MakeMetaHeader("", "x.mhd")), "is the header itself");
  ExpectMessage(folder.Write("x.mhd", MakeMetaHeader("", "/dev/zero")), "there is no file '/dev/zero'");
  const std::string packed = Compress(voxels, 15);
  folder.Write("x.zraw", packed);
  const std::string isCompressed =
    "CompressedData = True\nCompressedDataSize = " + std::to_string(packed.size()) + "\n";
  EXPECT_EQ(Check(folder.Write("x.mhd", MakeMetaHeader(isCompressed, "x.zraw"))), "");
  folder.Write("x.zraw", packed.substr(1));
  ExpectMessage(folder.Write("x.mhd", MakeMetaHeader(isCompressed, "x.zraw")), "but the header promises");
}

TEST(ImageFileTest, HeadersOfNrrd)
{
  const TemporaryFolder folder;
  const auto            expect = [&folder](const std::string & from, const std::string & to, const std::string & part) {
    std::string header = MakeNrrdHeader();
    header.replace(header.find(from), from.size(), to);
    ExpectMessage(folder.Write("x.nrrd", header + MakeVoxels(48)), part);
  };
  expect("NRRD0004", "NRRX0004", "does not begin with NRRD000");
  expect("dimension: 3", "dimension: 17", "dimension is 17");
  expect("dimension: 3", "dimension: 2", "sizes has 3 entries, but the dimension is 2");
  expect("4 3 2", "4 3 -2", "sizes has -2");
  expect("4 3 2", "4 3 3", "but the header promises");
  expect("short", "block", "type 'block'");
  expect("endian", "sizes", "has the field sizes twice");
  expect("encoding: raw", "encoding: raw\nbyte skip: -2", "must not be negative");
  expect("encoding: raw", "encoding: raw\nline skip: 99", "fewer lines");
  expect("encoding: raw", "encoding: ascii", "its encoding is 'ascii', but must be raw or gzip");
  expect("endian: little", "endian: little\nspace origin: (0,nan,0)", "'nan' is not a finite number");
}

TEST(ImageFileTest, DataFilesOfNrrd)
{
  const TemporaryFolder folder;
  const std::string     voxels = MakeVoxels(48);
  folder.Write("x.raw", "abc" + voxels);
  folder.Write("x1.raw", voxels.substr(0, 24));
  const std::vector<std::string> dataFiles{ "byte skip: 3\ndata file: x.raw\n", "byte skip: -1\ndatafile: x.raw\n" };
  for (const auto & dataFile : dataFiles)
  {
    EXPECT_EQ(Check(folder.Write("x.nhdr", MakeNrrdHeader("encoding: raw\n" + dataFile, ""))), "") << dataFile;
  }
  ExpectMessage(folder.Write("x.nhdr", MakeNrrdHeader("encoding: raw\ndata file: y.raw\n", "")),
                "y.raw' with its voxels");
  ExpectMessage(folder.Write("x.nhdr", MakeNrrdHeader("encoding: raw\ndata file: x1.raw\n", "")),
                "x1.raw' has 24 bytes, but the header promises 48 bytes");
  ExpectMessage(folder.Write("x.nhdr", MakeNrrdHeader("encoding: raw\ndata file: LIST\nx1.raw\n", "")),
                "several files");
  ExpectMessage(folder.Write("x.nhdr", MakeNrrdHeader("encoding: raw\ndata file: x%d.raw 1 2 1\n", "")),
                "several files");
}

TEST(ImageFileTest, ChunksOfPng)
{
  const TemporaryFolder folder;
  const std::string     voxels = MakeChunk("IDAT", Compress(std::string(3 * 5, '\0'), 15));
  const std::string     end = MakeChunk("IEND", "");
  ExpectMessage(folder.Write("x.png", pngSignature + voxels + end), "first chunk is not IHDR");
  ExpectMessage(folder.Write("x.png", pngSignature + MakePngHead() + MakePngHead() + voxels + end), "more than one");
  ExpectMessage(folder.Write("x.png", pngSignature + MakePngHead() + end), "no chunk IDAT");
  ExpectMessage(folder.Write("x.png", pngSignature + MakePngHead() + voxels), "no chunk IEND");
  std::string huge = pngSignature + MakePngHead() + voxels + end;
  Put<std::uint32_t>(huge, 33, 0x7FFFFFFF, true);
  ExpectMessage(folder.Write("x.png", huge), "cut within the chunk IDAT");

  // Width, bit depth, color type and methods.
  const auto makeHead = [](std::uint32_t width, const std::string & rest) {
    return MakeChunk("IHDR", Bytes(width, true) + Bytes<std::uint32_t>(1, true) + rest);
  };
  const std::string palette = MakeChunk("PLTE", "abcdef");
  const std::string gray("\10\0\0\0\0", 5);
  const std::string indexed("\10\3\0\0\0", 5);
  EXPECT_EQ(Check(folder.Write("x.png", pngSignature + makeHead(4, indexed) + palette + voxels + end)), "");
  for (const auto & [chunks, message] : std::vector<std::pair<std::string, std::string>>{
         { makeHead(1000001, gray), "its size is 1000001" },
         { makeHead(4, std::string("\3\0\0\0\0", 5)), "no color type 0 of bit depth 3" },
         { makeHead(4, std::string("\10\5\0\0\0", 5)), "no color type 5" },
         { makeHead(4, std::string("\10\0\0\0\2", 5)), "interlace method" },
         { makeHead(4, indexed), "no palette" },
         { makeHead(4, indexed) + palette + palette, "no palette, or not in its place" },
         { makeHead(4, indexed) + MakeChunk("PLTE", "ab"), "no palette, or not in its place" },
         { makeHead(4, gray) + MakeChunk("ABCD", ""), "unknown chunk ABCD" } })
  {
    ExpectMessage(folder.Write("x.png", pngSignature + chunks + voxels + end), message);
  }
}

TEST(ImageFileTest, ElementsOfDicom)
{
  const TemporaryFolder folder;
  ExpectMessage(folder.Write("x.dcm", MakeDicomStart(explicitSyntax) + MakeDicomHeader()), "no pixel data");
  const std::string whole = MakeDicom();
  const auto        name = folder.Write("x.dcm", whole.substr(0, whole.size() - 5));
  ExpectMessage(name, "bytes, but its element (7fe0,0010) ends at ");
  ExpectMessage(folder.Write("x.dcm", MakeDicomStart(explicitSyntax) + MakeElement(0x00081140, "SQ", "abcdefgh", true)),
                "instead of an item");
  std::string deep;
  for (int i = 0; i < 100000; ++i)
  {
    deep += MakeElement(0x00081140, "SQ", MakeItem(0xE000, 0xFFFFFFFF), true);
  }
  ExpectMessage(folder.Write("x.dcm", MakeDicomStart(explicitSyntax) + deep), "nested more than 32 times");
  // What the header says of the voxels.
  const auto makeDicom = [](const std::string & more, std::size_t size) {
    return MakeDicomStart(explicitSyntax) + MakeDicomHeader() + more + MakeElement(0x7FE00010, "OW", MakeVoxels(size));
  };
  const std::string bits = MakeElement(0x00280100, "US", Bytes<std::uint16_t>(16));
  EXPECT_EQ(Check(folder.Write("x.dcm", makeDicom(bits, 24))), "");
  ExpectMessage(folder.Write("x.dcm", makeDicom(bits, 22)), "its pixel data has 22 bytes, but the header needs 24");
  const std::string frames = MakeElement(0x00280008, "IS", "2 ");
  EXPECT_EQ(Check(folder.Write("x.dcm", makeDicom(frames + bits, 48))), "");
  ExpectMessage(folder.Write("x.dcm", makeDicom(frames + bits, 46)), "header needs 48");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00280100, "US", Bytes<std::uint16_t>(7)), 24)),
                "its BitsAllocated is 7, not 1, 8,");
  EXPECT_EQ(Check(folder.Write("x.dcm", makeDicom(MakeElement(0x00280030, "DS", "0.5\\ 2e-1 "), 24))), "");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00280030, "DS", "0.5\\nan "), 24)),
                "its PixelSpacing is '0.5\\nan', not 2 numbers");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00281053, "DS", "abc "), 24)),
                "its RescaleSlope is 'abc', not 1 number");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00280002, "US", Bytes<std::uint16_t>(0)), 24)),
                "its SamplesPerPixel is 0, not 1, 3 or 4");
  ExpectMessage(folder.Write("x.dcm", MakeDicomStart("1.2.3") + MakeDicomHeader()), "transfer syntax '1.2.3'");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00280008, "IS", "1.5 "), 24)), "not a whole number");
  // Compressed pixel data.
  const auto makeFragments = [](const std::string & fragments) {
    return MakeDicomStart("1.2.840.10008.1.2.4.70") + MakeDicomHeader() +
           MakeElement(0x7FE00010, "OB", fragments, true);
  };
  EXPECT_EQ(Check(folder.Write("x.dcm", makeFragments(MakeItem(0xE000, 3) + "abc" + MakeItem(0xE0DD, 0)))), "");
  ExpectMessage(folder.Write("x.dcm", makeFragments(MakeItem(0xE000, 2) + "ab" + MakeItem(0xE00D, 0))),
                "its pixel data is damaged: it has the element (fffe,e00d) instead of a fragment");
  ExpectMessage(folder.Write("x.dcm", makeFragments(MakeItem(0xE000, 0xFFFFFFFF) + MakeItem(0xE0DD, 0))),
                "its pixel data is damaged: it has an item without a length");
  // A transfer syntax of General Electric, and pixel data with padding.
  EXPECT_EQ(Check(folder.Write("x.dcm", MakeImplicitDicom("1.2.840.113619.5.2"))), "");
  ExpectMessage(folder.Write("x.dcm", makeDicom("", 152)), "its pixel data has 152 bytes, but the header needs 24");
  // A wrong value is refused, even with an element without a type after it.
  const std::string withoutType = std::string("\x29\0\x10\0\2\0\0\0ab", 10);
  EXPECT_EQ(Check(folder.Write("x.dcm", makeDicom(withoutType, 24))), "");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00281053, "DS", "nan ") + withoutType, 24)),
                "its RescaleSlope is 'nan'");
  ExpectMessage(folder.Write("x.dcm", makeDicom(MakeElement(0x00283000, "SQ", ""), 24)), "ModalityLUTSequence");
  // The directory of a medium has no voxels.
  ExpectMessage(folder.Write("DICOMDIR",
                             std::string(128, '\0') + "DICM" +
                               MakeElement(0x00020002, "UI", std::string("1.2.840.10008.1.3.10\0\0", 22)) +
                               MakeElement(0x00020010, "UI", explicitSyntax)),
                "it has no pixel data");
  // An element of the first group without a type, and no transfer syntax: GDCM would abort.
  const std::string damaged("\x02\0\x10\0U'\x04\0abcd", 12);
  ExpectMessage(folder.Write("x.dcm", std::string(128, '\0') + "DICM" + damaged), "its element (0002,0010) ends at");
  ExpectMessage(folder.Write("x.dcm", MakeDicomStart("") + MakeDicomHeader()), "transfer syntax '' is not");
}
