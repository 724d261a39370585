// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TemporaryFolder.h"
#include "io/ImageReading.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace
{
using Image2D = itk::Image<double, 2>;

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
