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
#include "TemporaryFolder.h"
#include "io/ImageReading.h"

#include "itkImageFileWriter.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#ifndef _WIN32
#  include <sys/resource.h>
#  include <sys/stat.h>
#  include <unistd.h>
#endif

namespace
{
using Image2D = itk::Image<double, 2>;
using Image3D = itk::Image<short, 3>;

/** A NRRD file of one row. */
template <typename T>
std::string
MakeRow(const std::string & type, const std::vector<T> & values)
{
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const std::uint16_t one = 1;
  char                first = 0;
  std::memcpy(&first, &one, 1);
  return "NRRD0004\ntype: " + type + "\ndimension: 2\nsizes: " + std::to_string(values.size()) +
         " 1\nencoding: raw\nendian: " + (first == 1 ? "little" : "big") + "\n\n" + bytes;
}

std::vector<double>
Read(const std::string & name)
{
  const auto image = ProgramIO::ReadScalarImage<Image2D>(ProgramIO::FindScalarInput(name));
  return { image->GetBufferPointer(),
           image->GetBufferPointer() + image->GetLargestPossibleRegion().GetNumberOfPixels() };
}

std::vector<int>
ReadMask(const std::string & name)
{
  const auto mask = ProgramIO::ReadMask<2>(ProgramIO::FindScalarInput(name));
  return { mask->GetBufferPointer(), mask->GetBufferPointer() + mask->GetLargestPossibleRegion().GetNumberOfPixels() };
}

template <typename TFunction>
std::string
GetMessage(TFunction && call)
{
  try
  {
    call();
  }
  catch (const std::runtime_error & error)
  {
    return error.what();
  }
  return {};
}

void
WriteVolume(const std::string & name, short value)
{
  auto image = Image3D::New();
  image->SetRegions(Image3D::SizeType{ { 4, 3, 2 } });
  image->Allocate();
  image->FillBuffer(value);
  auto writer = itk::ImageFileWriter<Image3D>::New();
  writer->SetInput(image);
  writer->SetFileName(name);
  writer->Update();
}

short
ReadFirstVoxel(const std::string & name)
{
  return *ProgramIO::ReadScalarImage<Image3D>(ProgramIO::FindScalarInput(name))->GetBufferPointer();
}
} // namespace

TEST(ImageReadingTest, LargeIntegersAreExactOrRefused)
{
  const TemporaryFolder folder;
  constexpr auto        limit = std::int64_t{ 1 } << 53;
  const auto   exact = folder.Write("x.nrrd", MakeRow<std::int64_t>("int64", { limit, -limit, limit - 1, -7 }));
  const double double53 = 9007199254740992.0;
  EXPECT_EQ(Read(exact), (std::vector<double>{ double53, -double53, double53 - 1.0, -7.0 }));

  const std::string rule = ", but integers beyond 2^53 are not exact as double";
  auto              name = folder.Write("x.nrrd", MakeRow<std::int64_t>("int64", { 1, limit + 1 }));
  EXPECT_EQ(GetMessage([&] { Read(name); }), "'" + name + "' has the value 9007199254740993" + rule);
  name = folder.Write("x.nrrd", MakeRow<std::int64_t>("int64", { 1, std::numeric_limits<std::int64_t>::min() }));
  EXPECT_EQ(GetMessage([&] { Read(name); }), "'" + name + "' has the value -9223372036854775808" + rule);
  name = folder.Write("x.nrrd", MakeRow<std::uint64_t>("uint64", { ~std::uint64_t{ 0 } }));
  EXPECT_EQ(GetMessage([&] { Read(name); }), "'" + name + "' has the value 18446744073709551615" + rule);
  name = folder.Write("x.nrrd", MakeRow<std::uint64_t>("uint64", { 5, 1ULL << 53 }));
  EXPECT_EQ(Read(name), (std::vector<double>{ 5.0, double53 }));
}

TEST(ImageReadingTest, MasksAreReadInTheirOwnType)
{
  const TemporaryFolder  folder;
  constexpr double       nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<int> expected{ 1, 0, 0, 1, 0, 1 };
  EXPECT_EQ(ReadMask(folder.Write("x.nrrd", MakeRow<double>("double", { 1e-300, 0.0, -0.0, -5e-324, nan, 256.0 }))),
            expected);
  EXPECT_EQ(
    ReadMask(folder.Write("x.nrrd", MakeRow<float>("float", { 1e-45F, 0.0F, -0.0F, -1.0F, std::nanf(""), 256.0F }))),
    expected);
  EXPECT_EQ(
    ReadMask(folder.Write("x.nrrd", MakeRow<std::int64_t>("int64", { (1LL << 53) + 1, 0, 0, 1LL << 62, 0, -1 }))),
    expected);
  EXPECT_EQ(ReadMask(folder.Write("x.nrrd", MakeRow<std::uint16_t>("ushort", { 1, 0, 0, 256, 0, 65535 }))), expected);
}

TEST(ImageReadingTest, LabelsAreWholeNumbers)
{
  const TemporaryFolder folder;
  const auto            read = [](const std::string & name) {
    const auto labels = ProgramIO::ReadLabelsFor<2>("seed image", name);
    return std::vector<int>(labels->GetBufferPointer(),
                            labels->GetBufferPointer() + labels->GetLargestPossibleRegion().GetNumberOfPixels());
  };
  const std::vector<int> expected{ 65535, 0, 0, 1 };
  EXPECT_EQ(read(folder.Write("x.nrrd", MakeRow<double>("double", { 65535.0, 0.0, -0.0, 1.0 }))), expected);
  EXPECT_EQ(read(folder.Write("x.nrrd", MakeRow<std::int64_t>("int64", { 65535, 0, 0, 1 }))), expected);
  EXPECT_EQ(read(folder.Write("x.nrrd", MakeRow<std::uint16_t>("ushort", { 65535, 0, 0, 1 }))), expected);

  const auto getMessage = [&](const std::string & name) { return GetMessage([&] { read(name); }); };
  const auto rule = [](const std::string & name, const std::string & value) {
    return "the seed image '" + name + "' has the value " + value +
           ", but labels are whole numbers from 0 (no seed) to 65535";
  };
  auto name = folder.Write("x.nrrd", MakeRow<float>("float", { 1.0F, 1.5F }));
  EXPECT_EQ(getMessage(name), rule(name, "1.5"));
  name = folder.Write("x.nrrd", MakeRow<float>("float", { 1.0F, std::nanf("") }));
  EXPECT_EQ(getMessage(name), rule(name, "nan"));
  name = folder.Write("x.nrrd", MakeRow<std::int16_t>("short", { 1, -7 }));
  EXPECT_EQ(getMessage(name), rule(name, "-7"));
  name = folder.Write("x.nrrd", MakeRow<std::int64_t>("int64", { 65536 }));
  EXPECT_EQ(getMessage(name), rule(name, "65536"));
}

TEST(ImageReadingTest, ImagesWithoutVoxelsAreRefused)
{
  const TemporaryFolder folder;
  const auto            name = folder.Write("x.nrrd", MakeRow<float>("float", {}));
  EXPECT_EQ(GetMessage([&] { Read(name); }), "'" + name + "' has no voxels");
}

TEST(ImageReadingTest, DamagedCompressedVoxelsAreRefused)
{
  const TemporaryFolder folder;
  const auto            name = folder.Get("head.nii.gz").string();
  WriteVolume(name, 7);
  std::filesystem::resize_file(name, std::filesystem::file_size(name) - 8);
  EXPECT_EQ(GetMessage([&] { ReadFirstVoxel(name); }),
            "cannot read '" + name + "': its compressed voxels are cut: the stream has no end");
}

TEST(ImageReadingTest, NamesOfNoImagesAreRefused)
{
  const TemporaryFolder folder;
  const auto find = [](const std::string & name) { return GetMessage([&name] { ProgramIO::FindInput(name); }); };
  const auto nothing = folder.Get("nothing.nii").string();
  EXPECT_EQ(find(nothing), "there is no file '" + nothing + "'");
  const auto note = folder.Write("note.txt", "no image");
  EXPECT_EQ(find(note).find("cannot read '" + note + "': it is none of NIfTI"), 0U);
  EXPECT_EQ(find(note + "/x.nii").find("cannot read") == 0 || find(note + "/x.nii").find("there is no file") == 0,
            true);
  EXPECT_NE(find("/" + std::string(100000, 'x')), "");
#ifndef _WIN32
  const auto pipe = folder.Get("pipe.nii").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(find(pipe), "cannot read '" + pipe + "': it is neither a file nor a directory");
  EXPECT_EQ(find("/dev/zero"), "cannot read '/dev/zero': it is neither a file nor a directory");
#endif
}

#ifndef _WIN32
TEST(ImageReadingTest, ACompressedFileIsNotConfusedWithItsNeighbor)
{
  const TemporaryFolder folder;
  const auto            compressed = folder.Get("head.nii.gz").string();
  WriteVolume(compressed, 7);
  WriteVolume(folder.Get("head.nii").string(), 11);
  setenv("TMPDIR", folder.Get("").c_str(), 1);
  const auto countFiles = [&folder] {
    const std::filesystem::directory_iterator files(folder.Get(""));
    return std::distance(begin(files), end(files));
  };
  const auto before = countFiles();
  EXPECT_EQ(ReadFirstVoxel(compressed), 7);
  EXPECT_EQ(ReadFirstVoxel(folder.Get("head.nii").string()), 11);
  EXPECT_EQ(countFiles(), before);
  unsetenv("TMPDIR");
}

TEST(ImageReadingTest, FilesWithoutPermissionAreNamed)
{
  const TemporaryFolder folder;
  const auto            name = folder.Write("x.nrrd", MakeRow<float>("float", { 1.0F }));
  ASSERT_EQ(chmod(name.c_str(), 0), 0);
  const auto find = [&name] {
    // The superuser may read everything. 65534 is nobody.
    if (geteuid() == 0 && setuid(65534) != 0)
    {
      std::_Exit(1);
    }
    std::cerr << GetMessage([&name] { ProgramIO::FindInput(name); });
    std::_Exit(0);
  };
  EXPECT_EXIT(find(), testing::ExitedWithCode(0), "^cannot read '.*x.nrrd': permission denied$");
}

TEST(ImageReadingTest, MissingMemoryIsNamed)
{
  const TemporaryFolder folder;
  const auto            name = folder.Write(
    "x.mha",
    "ObjectType = Image\nNDims = 3\nDimSize = 2000 2000 1500\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n");
  // The file system stores no zeros.
  std::filesystem::resize_file(name, std::filesystem::file_size(name) + 6000000000ULL);
  const auto read = [&name] {
    const rlimit limit{ 4000000000, 4000000000 };
    setrlimit(RLIMIT_AS, &limit);
    std::cerr << GetMessage(
      [&name] { ProgramIO::ReadScalarImage<itk::Image<unsigned char, 3>>(ProgramIO::FindScalarInput(name)); });
    std::_Exit(0);
  };
  EXPECT_EXIT(read(),
              testing::ExitedWithCode(0),
              "^cannot read '.*x.mha': there is not enough memory for its 2000x2000x1500 voxels, 6 GB$");
}
#endif
