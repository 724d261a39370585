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

// DicomSeries.h: folders whose files make a volume, and folders that are refused.

#include "io/DicomSeries.h"
#include "io/ImageReading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace
{
namespace fs = std::filesystem;

enum class Syntax
{
  ExplicitLittleEndian,
  ImplicitLittleEndian,
  ExplicitBigEndian
};

/** A slice of 5x4 pixels, whose values are 100 * number + index. */
struct Slice
{
  int         number{ 0 };
  std::string series{ "1.2.3" };
  std::string instance;
  std::string classUID{ "1.2.840.10008.5.1.4.1.1.4" };
  std::string frameOfReference{ "1.2.7" };
  std::string position;
  std::string orientation{ "1\\0\\0\\0\\1\\0" };
  std::string spacing{ "0.5\\0.75" };
  std::string description{ "A head" };
  std::string thickness{ "2" };
  std::string slope;
  std::string intercept;
  std::string frames;
  int         columns{ 5 };
  int         rows{ 4 };
  int         bits{ 16 };
  bool        hasPixels{ true };
  Syntax      syntax{ Syntax::ExplicitLittleEndian };
};

/** Writes DICOM data elements. */
class Writer
{
public:
  explicit Writer(Syntax syntax)
    : m_Syntax(syntax)
  {}

  void
  Add(unsigned int group, unsigned int element, const std::string & type, std::string value)
  {
    if (value.size() % 2 == 1)
    {
      value += type == "UI" ? '\0' : ' ';
    }
    const bool isMeta = group == 2;
    m_IsBigEndian = m_Syntax == Syntax::ExplicitBigEndian && !isMeta;
    this->AddInteger(group, 2);
    this->AddInteger(element, 2);
    if (m_Syntax == Syntax::ImplicitLittleEndian && !isMeta)
    {
      this->AddInteger(value.size(), 4);
    }
    else
    {
      m_Bytes += type;
      const bool isLong = type == "OW" || type == "OB" || type == "SQ";
      if (isLong)
      {
        this->AddInteger(0, 2);
      }
      this->AddInteger(value.size(), isLong ? 4 : 2);
    }
    m_Bytes += value;
  }

  void
  AddText(unsigned int group, unsigned int element, const std::string & type, const std::string & text)
  {
    if (!text.empty())
    {
      this->Add(group, element, type, text);
    }
  }

  void
  AddNumber(unsigned int group, unsigned int element, unsigned int value)
  {
    this->Add(group, element, "US", this->GetShort(value));
  }

  std::string
  GetShort(unsigned int value) const
  {
    const char low = static_cast<char>(value & 0xff);
    const char high = static_cast<char>(value >> 8);
    return m_Syntax == Syntax::ExplicitBigEndian ? std::string{ high, low } : std::string{ low, high };
  }

  void
  AddBytes(const std::string & bytes)
  {
    m_Bytes += bytes;
  }

  const std::string &
  GetBytes() const
  {
    return m_Bytes;
  }

private:
  void
  AddInteger(std::uint64_t value, unsigned int count)
  {
    for (unsigned int i = 0; i < count; ++i)
    {
      m_Bytes += static_cast<char>(value >> 8 * (m_IsBigEndian ? count - 1 - i : i));
    }
  }

  Syntax      m_Syntax;
  bool        m_IsBigEndian{ false };
  std::string m_Bytes;
};

std::string
GetBytes(const Slice & slice)
{
  const std::string instance =
    slice.instance.empty() ? slice.series + ".1." + std::to_string(slice.number + 1) : slice.instance;
  const char * syntax =
    slice.syntax == Syntax::ExplicitLittleEndian
      ? "1.2.840.10008.1.2.1"
      : (slice.syntax == Syntax::ImplicitLittleEndian ? "1.2.840.10008.1.2" : "1.2.840.10008.1.2.2");
  Writer meta(slice.syntax);
  meta.Add(2, 1, "OB", std::string("\0\1", 2));
  meta.Add(2, 2, "UI", slice.classUID);
  meta.Add(2, 3, "UI", instance);
  meta.Add(2, 0x10, "UI", syntax);
  meta.Add(2, 0x12, "UI", "1.2.3.4");

  const auto length = meta.GetBytes().size();
  Writer     writer(slice.syntax);
  writer.AddBytes(std::string(128, '\0') + "DICM");
  writer.Add(2, 0, "UL", { static_cast<char>(length & 0xff), static_cast<char>(length >> 8), '\0', '\0' });
  writer.AddBytes(meta.GetBytes());
  writer.AddText(8, 0x16, "UI", slice.classUID);
  writer.AddText(8, 0x18, "UI", instance);
  writer.AddText(8, 0x60, "CS", "MR");
  writer.AddText(8, 0x103e, "LO", slice.description);
  writer.AddText(0x10, 0x10, "PN", "Nobody");
  writer.AddText(0x18, 0x50, "DS", slice.thickness);
  writer.AddText(0x20, 0xd, "UI", "1.2.9");
  writer.AddText(0x20, 0xe, "UI", slice.series);
  writer.AddText(0x20, 0x13, "IS", std::to_string(slice.number));
  writer.AddText(0x20, 0x32, "DS", slice.position);
  writer.AddText(0x20, 0x37, "DS", slice.orientation);
  writer.AddText(0x20, 0x52, "UI", slice.frameOfReference);
  if (!slice.hasPixels)
  {
    return writer.GetBytes();
  }
  writer.AddNumber(0x28, 2, 1);
  writer.AddText(0x28, 4, "CS", "MONOCHROME2");
  writer.AddText(0x28, 8, "IS", slice.frames);
  writer.AddNumber(0x28, 0x10, static_cast<unsigned int>(slice.rows));
  writer.AddNumber(0x28, 0x11, static_cast<unsigned int>(slice.columns));
  writer.AddText(0x28, 0x30, "DS", slice.spacing);
  writer.AddNumber(0x28, 0x100, static_cast<unsigned int>(slice.bits));
  writer.AddNumber(0x28, 0x101, 16);
  writer.AddNumber(0x28, 0x102, 15);
  writer.AddNumber(0x28, 0x103, 1);
  writer.AddText(0x28, 0x1052, "DS", slice.intercept);
  writer.AddText(0x28, 0x1053, "DS", slice.slope);
  std::string pixels;
  const int   count = slice.rows * slice.columns * (slice.frames.empty() ? 1 : std::stoi(slice.frames));
  for (int i = 0; i < count; ++i)
  {
    pixels += writer.GetShort(static_cast<unsigned int>(100 * slice.number + i));
  }
  writer.Add(0x7fe0, 0x10, "OW", pixels);
  return writer.GetBytes();
}

class DicomSeriesTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    const auto * info = ::testing::UnitTest::GetInstance()->current_test_info();
    m_Folder = fs::path(::testing::TempDir()) / (std::string("VoxelMaps") + info->name());
    fs::remove_all(m_Folder);
    fs::create_directories(m_Folder);
  }

  void
  TearDown() override
  {
    fs::remove_all(m_Folder);
  }

  /** Seven slices, 2.5 mm apart, with names in another order; each can be changed. */
  void
  WriteSeries(const std::function<void(Slice &)> & change = {}, const std::string & prefix = "")
  {
    for (int i = 0; i < 7; ++i)
    {
      Slice slice;
      slice.number = i;
      slice.position = "-3\\4\\" + std::to_string(10.0 + 2.5 * i);
      if (change)
      {
        change(slice);
      }
      this->Write(prefix + std::to_string((3 * i) % 7) + ".dcm", GetBytes(slice));
    }
  }

  /** The name of the file of a slice that WriteSeries writes. */
  static std::string
  GetName(int number)
  {
    return std::to_string((3 * number) % 7) + ".dcm";
  }

  void
  Write(const std::string & name, const std::string & bytes) const
  {
    std::ofstream(m_Folder / name, std::ios::binary) << bytes;
  }

  std::string
  GetFolder() const
  {
    return m_Folder.string();
  }

  itk::Image<double, 3>::Pointer
  Read(const ProgramIO::DicomOptions & options = {}) const
  {
    return ProgramIO::ReadScalarImage<itk::Image<double, 3>>(ProgramIO::FindScalarInput(this->GetFolder(), options));
  }

  /** Check that the folder is the volume of the first numberOfSlices slices. */
  void
  ExpectVolume(itk::SizeValueType numberOfSlices = 7, const ProgramIO::DicomOptions & options = {}) const
  {
    const auto image = this->Read(options);
    const auto size = image->GetLargestPossibleRegion().GetSize();
    ASSERT_EQ(size, (itk::Size<3>{ { 5, 4, numberOfSlices } }));
    EXPECT_DOUBLE_EQ(image->GetSpacing()[0], 0.75);
    EXPECT_DOUBLE_EQ(image->GetSpacing()[1], 0.5);
    EXPECT_DOUBLE_EQ(image->GetSpacing()[2], 2.5);
    EXPECT_DOUBLE_EQ(image->GetOrigin()[0], -3.0);
    EXPECT_DOUBLE_EQ(image->GetOrigin()[1], 4.0);
    EXPECT_DOUBLE_EQ(image->GetOrigin()[2], 10.0);
    EXPECT_EQ(image->GetDirection(), image->GetInverseDirection());
    for (itk::SizeValueType k = 0; k < size[2]; ++k)
    {
      const auto z = static_cast<itk::IndexValueType>(k);
      EXPECT_EQ(image->GetPixel({ { 0, 0, z } }), 100.0 * static_cast<double>(k));
      EXPECT_EQ(image->GetPixel({ { 4, 3, z } }), 100.0 * static_cast<double>(k) + 19.0);
    }
  }

  /** Check that the folder is refused with a line that has all of these words. */
  void
  ExpectRefused(const std::vector<std::string> & words, const ProgramIO::DicomOptions & options = {}) const
  {
    try
    {
      voxelmaps::FindDicomSeries(this->GetFolder(), options);
      FAIL() << "not refused";
    }
    catch (const std::runtime_error & error)
    {
      const std::string message = error.what();
      EXPECT_NE(message.find(this->GetFolder()), std::string::npos) << message;
      for (const auto & word : words)
      {
        EXPECT_NE(message.find(word), std::string::npos) << word << " is not in: " << message;
      }
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
  }

  /** Check that even --allow-uneven-slices changes nothing. */
  void
  ExpectAlwaysRefused(const std::vector<std::string> & words) const
  {
    ProgramIO::DicomOptions uneven;
    uneven.allowUnevenSlices = true;
    this->ExpectRefused(words);
    this->ExpectRefused(words, uneven);
  }

  fs::path m_Folder;
};

TEST_F(DicomSeriesTest, ReadsAVolumeInTheOrderOfPositions)
{
  this->WriteSeries();
  this->ExpectVolume();
  EXPECT_EQ(voxelmaps::FindDicomSeries(this->GetFolder(), {}).remark, "");
  EXPECT_EQ(ProgramIO::FindScalarInput(this->GetFolder()).componentType, itk::IOComponentEnum::SHORT);
}

TEST_F(DicomSeriesTest, ReadsAllTransferSyntaxesWithoutCompression)
{
  for (const auto syntax : { Syntax::ImplicitLittleEndian, Syntax::ExplicitBigEndian })
  {
    this->WriteSeries([syntax](Slice & slice) { slice.syntax = syntax; });
    this->ExpectVolume();
  }
}

TEST_F(DicomSeriesTest, IgnoresWhatIsNoImage)
{
  this->WriteSeries();
  this->Write("README", "no image");
  this->Write("notes.txt", "");
  fs::create_directory(m_Folder / "more.dcm");
  Slice report;
  report.series = "1.2.4";
  report.classUID = "1.2.840.10008.5.1.4.1.1.88.22";
  report.hasPixels = false;
  this->Write("report.dcm", GetBytes(report));
  report.series = "1.2.3";
  report.instance = "1.2.3.9";
  report.classUID = "1.2.840.10008.5.1.4.1.1.11.1";
  this->Write("presentation.dcm", GetBytes(report));
  // A DICOMDIR has its class only in the meta information.
  std::string dicomdir = GetBytes(report);
  dicomdir.resize(dicomdir.find(std::string("\x08\0\x16\0UI", 6)));
  const std::string reportClass = report.classUID;
  dicomdir.replace(
    dicomdir.find(reportClass), reportClass.size(), "1.2.840.10008.1.3.10\0\0\0\0\0\0\0\0", reportClass.size());
  this->Write("DICOMDIR", dicomdir);
  report.series = "1.2.5";
  report.classUID = "1.2.840.10008.5.1.4.1.1.4";
  this->Write("other.dcm", GetBytes(report));
  this->ExpectVolume();
}

TEST_F(DicomSeriesTest, RefusesMissingSlice)
{
  this->WriteSeries();
  fs::remove(m_Folder / GetName(3));
  this->ExpectRefused({ "median is 2.5 mm", "5 mm from '" + GetName(2) + "' to '" + GetName(4) + "'", "missing" });

  ProgramIO::DicomOptions options;
  options.allowUnevenSlices = true;
  const auto input = ProgramIO::FindScalarInput(this->GetFolder(), options);
  EXPECT_NE(input.remark.find("warning: in '" + this->GetFolder()), std::string::npos) << input.remark;
  const auto image = ProgramIO::ReadScalarImage<itk::Image<short, 3>>(input);
  EXPECT_EQ(image->GetLargestPossibleRegion().GetSize(2), 6U);
  EXPECT_DOUBLE_EQ(image->GetSpacing()[2], 3.0);

  options.unevenAdvice = "; or else";
  options.allowUnevenSlices = false;
  this->ExpectRefused({ "or uneven; or else" }, options);
}

TEST_F(DicomSeriesTest, RefusesMissingSliceOfMicroscopicSteps)
{
  this->WriteSeries([](Slice & slice) { slice.position = "0\\0\\" + std::to_string(0.004 * slice.number); });
  EXPECT_NO_THROW(voxelmaps::FindDicomSeries(this->GetFolder(), {}));
  fs::remove(m_Folder / GetName(3));
  this->ExpectRefused({ "median is 0.004 mm" });
}

TEST_F(DicomSeriesTest, HasToleranceForUnevenSteps)
{
  // 1 % of 2.5 mm is 0.025 mm.
  const auto move = [this](double distance) {
    this->WriteSeries([distance](Slice & slice) {
      if (slice.number == 3)
      {
        slice.position = "-3\\4\\" + std::to_string(17.5 + distance);
      }
    });
  };
  move(0.024);
  EXPECT_EQ(voxelmaps::FindDicomSeries(this->GetFolder(), {}).remark, "");
  this->ExpectVolume();
  move(0.026);
  this->ExpectRefused({ "agree within 0.025 mm", "2.526 mm from '" + GetName(2) + "'", "2.474 mm" });
}

TEST_F(DicomSeriesTest, RefusesTiltedGantry)
{
  this->WriteSeries([](Slice & slice) {
    slice.position = "-3\\" + std::to_string(4 + 0.3 * slice.number) + "\\" + std::to_string(10 + 2.5 * slice.number);
  });
  this->ExpectAlwaysRefused({ "0.3 mm in the plane of the slices", "gantry", "0.025 mm" });
}

TEST_F(DicomSeriesTest, RefusesDifferencesThatAddUp)
{
  // Steps of 2.5 mm may differ by 0.025 mm, and slices may be 0.25 mm beside their places.
  const auto writeLong = [this](const std::function<std::string(int)> & getPosition) {
    for (int i = 0; i < 48; ++i)
    {
      Slice slice;
      slice.number = i;
      slice.position = getPosition(i);
      this->Write(std::to_string(100 + i) + ".dcm", GetBytes(slice));
    }
  };
  writeLong([](int i) { return "0\\" + std::to_string(0.02 * i) + "\\" + std::to_string(2.5 * i); });
  this->ExpectAlwaysRefused({ "'113.dcm' is 0.26 mm off the normal", "'100.dcm'", "10 % of the step of 2.5 mm" });
  writeLong([](int i) { return "0\\0\\" + std::to_string(2.5 * i + 0.024 * std::max(i - 24, 0)); });
  this->ExpectRefused({ "mm off its even position", "'1" });
  writeLong([](int i) { return "0\\0\\" + std::to_string(2.5 * i + (i % 2 == 0 ? 0.0 : 0.012)); });
  EXPECT_EQ(voxelmaps::FindDicomSeries(this->GetFolder(), {}).remark, "");
}

TEST_F(DicomSeriesTest, RefusesCopiedSlice)
{
  this->WriteSeries();
  fs::copy_file(m_Folder / GetName(5), m_Folder / "copy.dcm");
  this->ExpectAlwaysRefused({ "'" + GetName(5) + "'", "'copy.dcm'", "same image", "1.2.3.1.6" });
}

TEST_F(DicomSeriesTest, RefusesRepeatedPositions)
{
  this->WriteSeries();
  this->WriteSeries([](Slice & slice) { slice.instance = "1.2.3.2." + std::to_string(slice.number + 1); }, "again");
  this->ExpectAlwaysRefused({ "'" + GetName(0) + "', 'again" + GetName(0) + "'", "same place", "[-3, 4, 10]" });
}

TEST_F(DicomSeriesTest, RefusesWhatCannotBeRead)
{
  const auto refuse = [this](const std::string & name, const std::string & problem) {
    this->ExpectAlwaysRefused({ "'" + name + "'", problem });
    fs::remove(m_Folder / name);
    this->ExpectVolume();
  };
  this->WriteSeries();
  fs::create_symlink("nowhere", m_Folder / "7.dcm");
  refuse("7.dcm", "link");
  this->Write("empty.IMA", "");
  refuse("empty.IMA", "empty");
  this->Write("text.dcm", "no image");
  refuse("text.dcm", "no DICOM file");

  // Images often have no extension, or one that is a part of a UID.
  Slice slice;
  slice.number = 6;
  fs::remove(m_Folder / GetName(6));
  slice.position = "-3\\4\\25";
  this->Write("1.2.3.4", GetBytes(slice));
  this->ExpectVolume();
  fs::create_symlink("nowhere", m_Folder / "1.2.3.5");
  refuse("1.2.3.5", "link");
  this->Write("IM7", "");
  refuse("IM7", "empty");
  this->Write("IM8", std::string(100, '\0'));
  refuse("IM8", "zeros");
}

TEST_F(DicomSeriesTest, RefusesFilesCutAnywhere)
{
  this->WriteSeries();
  const std::string whole = GetBytes(Slice{});
  for (std::size_t size = 0; size < whole.size(); ++size)
  {
    this->Write("cut.dcm", whole.substr(0, size));
    this->ExpectRefused({ "'cut.dcm'" });
    this->Write("cut.dcm", "");
    fs::remove(m_Folder / "cut.dcm");
  }
  this->ExpectVolume();
}

TEST_F(DicomSeriesTest, RefusesTooFewPixels)
{
  this->WriteSeries();
  std::string bytes = GetBytes(Slice{});
  // 36 instead of 40 bytes.
  const auto position = bytes.size() - 44;
  ASSERT_EQ(bytes[position], 40);
  bytes[position] = 36;
  this->Write(GetName(0), bytes.substr(0, bytes.size() - 4));
  this->ExpectAlwaysRefused({ "'" + GetName(0) + "'", "36 bytes, but the header needs 40" });
}

TEST_F(DicomSeriesTest, RefusesDifferentSlices)
{
  const auto refuse = [this](const std::string & what, const std::function<void(Slice &)> & change) {
    this->WriteSeries([&change](Slice & slice) {
      if (slice.number == 5)
      {
        change(slice);
      }
    });
    this->ExpectAlwaysRefused({ what, "'" + GetName(5) + "'" });
  };
  refuse("5x6 pixels", [](Slice & slice) { slice.rows = 6; });
  refuse("[0.5, 0.8]", [](Slice & slice) { slice.spacing = "0.5\\0.8"; });
  refuse("PixelSpacing", [](Slice & slice) { slice.spacing = ""; });
  refuse("[1, 0, 0, 0, 0, -1]", [](Slice & slice) { slice.orientation = "1\\0\\0\\0\\0\\-1"; });
  refuse("no valid ImagePositionPatient", [](Slice & slice) { slice.orientation = ""; });
  refuse("no valid ImagePositionPatient", [](Slice & slice) { slice.position = ""; });
  for (const std::string position : { "1\\nan\\3", "1\\2", "1\\2\\3\\4", "1\\2\\1e308", "1\\2\\here" })
  {
    refuse("its ImagePositionPatient is '" + position + "'", [&position](Slice & slice) { slice.position = position; });
  }
  refuse("its PixelSpacing is 'abc'", [](Slice & slice) { slice.spacing = "abc"; });
  refuse("its RescaleSlope is 'nan'", [](Slice & slice) { slice.slope = "nan"; });
  refuse("its RescaleSlope is 0", [](Slice & slice) { slice.slope = "0.0"; });
  refuse("its RescaleIntercept is 'x'", [](Slice & slice) { slice.intercept = "x"; });
  refuse("its BitsAllocated is 7, not", [](Slice & slice) { slice.bits = 7; });
  refuse("its SliceThickness is 'inf'", [](Slice & slice) { slice.thickness = "inf"; });
  refuse("its pixel data has 40 bytes, but the header needs 20", [](Slice & slice) { slice.bits = 8; });
  refuse("FrameOfReferenceUID", [](Slice & slice) { slice.frameOfReference = "1.2.8"; });
  refuse("more than one frame", [](Slice & slice) { slice.frames = "2"; });
  refuse("no pixel data", [](Slice & slice) { slice.hasPixels = false; });
}

TEST_F(DicomSeriesTest, RefusesWhatAllSlicesHaveWrong)
{
  this->WriteSeries([](Slice & slice) { slice.position = ""; });
  this->ExpectAlwaysRefused({ "ImagePositionPatient", "and 2 more" });
  this->WriteSeries([](Slice & slice) { slice.orientation = "1\\0\\0\\1\\0\\0"; });
  this->ExpectAlwaysRefused({ "perpendicular unit vectors", "[1, 0, 0, 1, 0, 0]" });
  this->WriteSeries([](Slice & slice) { slice.spacing = "0\\1"; });
  this->ExpectAlwaysRefused({ "PixelSpacing must be positive" });
  this->WriteSeries([](Slice & slice) { slice.frames = "2"; });
  this->ExpectAlwaysRefused({ "more than one frame" });
}

TEST_F(DicomSeriesTest, ChoosesASeries)
{
  this->WriteSeries();
  Slice other;
  other.series = "1.2.4";
  other.description = "A \x1b[31mknee";
  this->Write("other.dcm", GetBytes(other));

  ProgramIO::DicomOptions options;
  options.seriesAdvice = ": choose one";
  this->ExpectRefused({ "1.2.3: 7 files", "1.2.4: 1 file", "but one is needed: choose one" }, options);
  options.series = "1.2.5";
  this->ExpectRefused({ "no series '1.2.5'", "1.2.3: 7 files, MR, A head", "1.2.4: 1 file" }, options);
  options.series = "1.2.3";
  this->ExpectVolume(7, options);
  options.series = "1.2.4";
  EXPECT_EQ(voxelmaps::FindDicomSeries(this->GetFolder(), options).fileNames.size(), 1U);

  EXPECT_EQ(ProgramIO::ListDicomSeries(this->GetFolder()),
            "1.2.3: 7 files, MR, A head, 5x4x7 voxels of 0.75x0.5x2.5 mm\n"
            "1.2.4: 1 file, MR, A [31mknee, 5x4x1 voxels\n");

  // A broken file of a series does not keep another one from being read.
  const std::string whole = GetBytes(other);
  this->Write("other.dcm", whole.substr(0, whole.size() - 2));
  this->ExpectRefused({ "'other.dcm'", "it is cut", "(7fe0,0010)" }, options);
  options.series = "1.2.3";
  this->ExpectVolume(7, options);
  fs::create_symlink("nowhere", m_Folder / "7.dcm");
  this->ExpectRefused({ "'7.dcm'" }, options);
  const auto list = ProgramIO::ListDicomSeries(this->GetFolder());
  EXPECT_NE(list.find("1.2.4: 1 file, MR, A [31mknee; no volume: "), std::string::npos) << list;
  EXPECT_NE(list.find("\ncannot be read: '7.dcm' ("), std::string::npos) << list;
}

TEST_F(DicomSeriesTest, HasATypeForTheValuesOfAllFiles)
{
  this->WriteSeries([](Slice & slice) {
    if (slice.number == 5)
    {
      slice.slope = "0.25";
      slice.intercept = "-0.5";
    }
  });
  EXPECT_EQ(ProgramIO::FindScalarInput(this->GetFolder()).componentType, itk::IOComponentEnum::DOUBLE);
  const auto image = this->Read();
  EXPECT_EQ(image->GetPixel({ { 1, 0, 4 } }), 401.0);
  EXPECT_EQ(image->GetPixel({ { 1, 0, 5 } }), 0.25 * 501.0 - 0.5);
  EXPECT_EQ(image->GetPixel({ { 1, 0, 6 } }), 601.0);
}

TEST_F(DicomSeriesTest, SetsTheGeometryThatITKIgnores)
{
  // GDCM 3.0.21 gives secondary captures no position.
  this->WriteSeries([](Slice & slice) { slice.classUID = "1.2.840.10008.5.1.4.1.1.7"; });
  this->ExpectVolume();
}

TEST_F(DicomSeriesTest, ReadsOneFile)
{
  Slice slice;
  slice.position = "1\\2\\3";
  this->Write("slice.dcm", GetBytes(slice));
  EXPECT_EQ(this->Read()->GetLargestPossibleRegion().GetSize(2), 1U);
  for (const std::string position : { "1\\2\\1e308", "1\\nan\\3" })
  {
    Slice other = slice;
    other.position = position;
    this->Write("slice.dcm", GetBytes(other));
    this->ExpectAlwaysRefused({ "its ImagePositionPatient is '" + position + "', not 3 numbers" });
  }
  slice.frames = "3";
  this->Write("slice.dcm", GetBytes(slice));
  EXPECT_EQ(this->Read()->GetLargestPossibleRegion().GetSize(2), 3U);
}

TEST_F(DicomSeriesTest, RefusesFoldersWithoutImages)
{
  this->ExpectAlwaysRefused({ "holds no DICOM series" });
  EXPECT_THROW(ProgramIO::ListDicomSeries(this->GetFolder()), std::runtime_error);
  this->Write("note.txt", "no image");
  this->ExpectAlwaysRefused({ "holds no DICOM series" });
  Slice report;
  report.classUID = "1.2.840.10008.5.1.4.1.1.88.22";
  report.hasPixels = false;
  this->Write("report.dcm", GetBytes(report));
  this->ExpectAlwaysRefused({ "holds no DICOM series" });
}

TEST_F(DicomSeriesTest, SkipsSequencesAndCompressedPixels)
{
  /** Why a file cannot be read; empty if it can. */
  const auto read = [this](const std::string & bytes) -> std::string {
    this->Write("file.dcm", bytes);
    try
    {
      voxelmaps::InspectImageFile((m_Folder / "file.dcm").string());
      return "";
    }
    catch (const std::runtime_error & error)
    {
      return error.what();
    }
  };
  const std::string start = std::string(128, '\0') + "DICM";
  const auto        tag = [](const std::string & bytes, const std::string & rest) { return bytes + rest; };
  using namespace std::string_literals;
  const std::string item = tag("\xfe\xff\x00\xe0"s, "\xff\xff\xff\xff");
  const std::string itemEnd = "\xfe\xff\x0d\xe0\0\0\0\0"s;
  const std::string sequenceEnd = "\xfe\xff\xdd\xe0\0\0\0\0"s;
  // A sequence in a sequence, with the UID of another series.
  const std::string inner = "\x20\0\x0e\0UI\4\0"
                            "9.9\0"s;
  const std::string nested = "\x08\0\x15\x11SQ\0\0\xff\xff\xff\xff"s + item + inner + itemEnd + sequenceEnd;
  const std::string sequence = "\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff"s + item + nested + itemEnd + sequenceEnd;
  const std::string header = "\x20\0\x0e\0UI\6\0"
                             "1.2.3\0"s +
                             "\x28\0\x10\0US\2\0\4\0"s + "\x28\0\x11\0US\2\0\5\0"s + "\x28\0\0\1US\2\0\x10\0"s;
  const std::string fragments =
    "\xe0\x7f\x10\0OB\0\0\xff\xff\xff\xff"s + "\xfe\xff\0\xe0\0\0\0\0"s + "\xfe\xff\0\xe0\4\0\0\0abcd"s;

  EXPECT_EQ(read(start + sequence + header + fragments + sequenceEnd), "");
  const auto whole = voxelmaps::FindDicomSeries(this->GetFolder(), {});
  EXPECT_EQ(whole.uid, "1.2.3");
  EXPECT_EQ(whole.size, (std::array<std::size_t, 3>{ 5, 4, 1 }));
  for (const auto & cut : { start + sequence + header + fragments,
                            start + sequence + header + fragments.substr(0, fragments.size() - 1),
                            start + sequence.substr(0, sequence.size() - 8) + header + fragments + sequenceEnd })
  {
    EXPECT_NE(read(cut), "");
  }

  // Sequences in sequences without an end.
  std::string deep = start;
  for (unsigned int i = 0; i < 100000; ++i)
  {
    deep += "\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff"s + item;
  }
  EXPECT_NE(read(deep).find("its sequences are nested more than 32 times"), std::string::npos);
}
} // namespace
