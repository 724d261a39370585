// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TemporaryFolder.h"
#include "io/Geometry.h"
#include "io/ImageWriting.h"
#include "io/Text.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

namespace
{
namespace fs = std::filesystem;
using ProgramIO::OutputFiles;
using FloatImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using ByteSlice = itk::Image<unsigned char, 2>;
using VectorImage = itk::VectorImage<float, 3>;

/** The message of the exception that a function throws, or an empty text. */
std::string
GetErrorMessage(const std::function<void()> & function)
{
  try
  {
    function();
  }
  catch (const std::exception & error)
  {
    return ProgramIO::GetOneLineMessage(error);
  }
  return "";
}

void
ExpectPart(const std::string & part, const std::string & text)
{
  EXPECT_TRUE(part.empty() ? text.empty() : text.find(part) != std::string::npos) << "'" << text << "' has no " << part;
}

/** An image that hardly can be compressed, with ITK's default geometry or with another. */
template <typename TImage>
typename TImage::Pointer
MakeImage(bool hasDefaultGeometry = false, itk::SizeValueType size = 7)
{
  auto                       image = TImage::New();
  typename TImage::SizeType  sizes;
  typename TImage::PointType origin;
  auto                       spacing = image->GetSpacing();
  auto                       direction = image->GetDirection();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    sizes[d] = size + d;
    origin[d] = hasDefaultGeometry ? 0.0 : -1012.3456789 + 30.0 * d;
    spacing[d] = hasDefaultGeometry ? 1.0 : 0.7 + 0.31 * d;
  }
  if (!hasDefaultGeometry)
  {
    direction[0][0] = direction[1][1] = 0.6;
    direction[0][1] = -0.8;
    direction[1][0] = 0.8;
  }
  image->SetRegions(sizes);
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
  if constexpr (std::is_same_v<TImage, VectorImage>)
  {
    image->SetNumberOfComponentsPerPixel(11);
  }
  image->Allocate();
  auto *        values = image->GetBufferPointer();
  const auto    count = image->GetLargestPossibleRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  std::uint64_t random = 1;
  for (std::size_t i = 0; i < count; ++i)
  {
    random = random * 6364136223846793005U + 1442695040888963407U;
    values[i] = static_cast<typename TImage::InternalPixelType>(random >> 40U);
  }
  return image;
}

template <typename TImage>
ProgramIO::ImageProperties
GetImageProperties(const TImage & image)
{
  return ProgramIO::GetProperties<typename TImage::ObjectType>(image.GetPointer(),
                                                               image->GetNumberOfComponentsPerPixel());
}

/** Add, write and commit an image. */
template <typename TImage>
void
WriteOne(const TImage & image, const std::string & name)
{
  OutputFiles outputs({});
  outputs.AddImage(name, GetImageProperties(image));
  outputs.WriteImage(image.GetPointer(), name);
  outputs.Commit();
}

/** Check that a file has the voxels of an image. */
template <typename TImage>
void
ExpectVoxels(const TImage & image, const std::string & name)
{
  const auto stored = itk::ReadImage<typename TImage::ObjectType>(name);
  const auto count = image->GetLargestPossibleRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  ASSERT_EQ(image->GetLargestPossibleRegion(), stored->GetLargestPossibleRegion());
  EXPECT_TRUE(std::equal(image->GetBufferPointer(), image->GetBufferPointer() + count, stored->GetBufferPointer()))
    << name;
}

/** Runs in an empty folder. */
class ExampleOutput : public ::testing::Test
{
protected:
  ExampleOutput() { fs::current_path(m_Folder.Get("")); }
  ~ExampleOutput() override { fs::current_path(m_Former); }

  /** The names of all files, with those in hidden folders, separated by spaces. */
  std::string
  GetNames() const
  {
    std::vector<std::string> names;
    for (const auto & entry : fs::recursive_directory_iterator(m_Folder.Get("")))
    {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return ProgramIO::Join(names, " ");
  }

  /** Check the message for an output, which changes no file. */
  template <typename TImage>
  void
  ExpectRefusal(const std::string & part, const std::string & name, const TImage & image)
  {
    const auto before = this->GetNames();
    SCOPED_TRACE(name);
    ExpectPart(part, GetErrorMessage([&] { OutputFiles({}).AddImage(name, GetImageProperties(image)); }));
    EXPECT_EQ(before, this->GetNames());
  }

  fs::path              m_Former{ fs::current_path() };
  const TemporaryFolder m_Folder;
};

TEST_F(ExampleOutput, EveryFormatKeepsEverything)
{
  const auto                     scalars = MakeImage<FloatImage>();
  const auto                     vectors = MakeImage<VectorImage>();
  const auto                     slice = MakeImage<ByteSlice>();
  OutputFiles                    outputs({});
  const std::vector<std::string> names{ "a.nii", "b.nii.gz", "c.mha", "d.mhd", "e.nrrd", "f.nhdr", "g.hdr", "h.img" };
  for (const auto & name : names)
  {
    outputs.AddImage(name, GetImageProperties(scalars));
    outputs.AddImage("v" + name, GetImageProperties(vectors));
    outputs.AddImage("s" + name, GetImageProperties(slice));
  }
  for (const auto & name : names)
  {
    outputs.WriteImage(scalars.GetPointer(), name);
    outputs.WriteImage(vectors.GetPointer(), "v" + name);
    outputs.WriteImage(slice.GetPointer(), "s" + name);
    EXPECT_FALSE(fs::exists(name));
  }
  outputs.Commit();
  for (const auto & name : names)
  {
    ExpectVoxels(scalars, name);
    ExpectVoxels(vectors, "v" + name);
    ExpectVoxels(slice, "s" + name);
  }
}

TEST_F(ExampleOutput, RefusesWhatAFormatCannotStore)
{
  const auto image = MakeImage<FloatImage>();
  // MetaIO makes another name of it.
  this->ExpectRefusal("cannot write 'x%d.mhd': it was not written", "x%d.mhd", image);
  // NIfTI has no place for the axes of sheared voxels.
  auto direction = image->GetDirection();
  direction[0][2] = 0.6;
  direction[2][2] = 0.8;
  image->SetDirection(direction);
  this->ExpectRefusal("cannot write 'x.nii': ", "x.nii", image);
  this->ExpectRefusal("", "x.nrrd", image);
}

TEST_F(ExampleOutput, LeavesNothingButTheOutputs)
{
  const auto image = MakeImage<FloatImage>();
  // What a killed run has left is neither read nor removed.
  fs::create_directories(".voxelmaps-123/0");
  WriteOne(image, "x.mhd");
  EXPECT_EQ(".voxelmaps-123 0 x.mhd x.raw", this->GetNames());
  {
    OutputFiles outputs({});
    outputs.AddImage("x.mhd", GetImageProperties(image));
    outputs.AddImage("y.nii", GetImageProperties(image));
    outputs.WriteImage(image.GetPointer(), "x.mhd");
    // The second one was not written.
    EXPECT_THROW(outputs.Commit(), std::logic_error);
  }
  EXPECT_EQ(".voxelmaps-123 0 x.mhd x.raw", this->GetNames());
}

TEST_F(ExampleOutput, KeepsLinksAndModes)
{
  const auto image = MakeImage<FloatImage>();
  fs::create_directory("data");
  m_Folder.Write("data/old.nii", "old");
  fs::permissions("data/old.nii", fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  const auto mode = fs::status("data/old.nii").permissions();
  fs::create_symlink("data/old.nii", "soft.nii");
  fs::create_symlink("data/new.nii", "dangling.nii");
  fs::create_symlink("data/new.mhd", "pair.mhd");
  WriteOne(image, "soft.nii");
  WriteOne(image, "dangling.nii");
  EXPECT_TRUE(fs::is_symlink("soft.nii"));
  EXPECT_TRUE(fs::is_symlink("dangling.nii"));
  EXPECT_EQ(mode, fs::status("data/old.nii").permissions());
  ExpectVoxels(image, "data/old.nii");
  ExpectVoxels(image, "data/new.nii");
  this->ExpectRefusal("it is a symbolic link, but its format needs more than one file", "pair.mhd", image);
}

TEST_F(ExampleOutput, ComparesWhatWasWritten)
{
  const auto  image = MakeImage<FloatImage>();
  OutputFiles outputs({});
  const auto  finish = [&](const std::string & name, const FloatImage * written, std::uintmax_t missing = 0) {
    const auto temporary = outputs.GetTemporaryName(name);
    itk::WriteImage(written, temporary);
    const fs::path last = name == "x.mhd" ? fs::path(temporary).replace_extension(".raw") : fs::path(temporary);
    fs::resize_file(last, fs::file_size(last) - missing);
    return GetErrorMessage([&] { outputs.FinishImage(name, GetImageProperties(image)); });
  };
  for (const std::string name : { "x.nii", "x.nii.gz", "x.mha", "x.mhd", "x.nrrd" })
  {
    SCOPED_TRACE(name);
    outputs.AddImage(name, GetImageProperties(image));
    ExpectPart("cannot write '" + name + "': it was not written", finish(name, image, 1));
    ExpectPart("what its format stores has spacing [1, 1, 1], the image [0.7, ",
               finish(name, MakeImage<FloatImage>(true)));
    ExpectPart("has size [6, 7, 8], the image [7, 8, 9]", finish(name, MakeImage<FloatImage>(false, 6)));
    ExpectPart("", finish(name, image));
  }
  itk::WriteImage(MakeImage<ByteImage>().GetPointer(), outputs.GetTemporaryName("x.nii"));
  ExpectPart("its format stores 1 components of unsigned_char instead of 1 components of float",
             GetErrorMessage([&] { outputs.FinishImage("x.nii", GetImageProperties(image)); }));
}

TEST(ExampleGeometry, DifferencesHaveBothValues)
{
  const auto image = ProgramIO::GetGeometry(MakeImage<ByteImage>(true).GetPointer());
  const auto find = [&image](const std::function<void(ProgramIO::Geometry &)> & change, double tolerance = 1e-6) {
    auto mask = image;
    change(mask);
    return ProgramIO::FindDifference("the mask 'm.nii'", mask, image, tolerance);
  };
  EXPECT_EQ("", find([](auto &) {}));
  EXPECT_EQ("the mask 'm.nii' has spacing [1, 1, 2.5], the image [1, 1, 1]",
            find([](auto & mask) { mask.spacing[2] = 2.5; }));
  EXPECT_EQ("the mask 'm.nii' has size [7, 8, 10], the image [7, 8, 9]", find([](auto & mask) { mask.size[2] = 10; }));
  EXPECT_EQ("the mask 'm.nii' has origin [0, 1e-05, 0], the image [0, 0, 0]",
            find([](auto & mask) { mask.origin[1] = 1e-5; }));
  EXPECT_EQ("", find([](auto & mask) { mask.origin[1] = 1e-5; }, 1e-4));
  EXPECT_EQ("the mask 'm.nii' has direction [1, 0, 0, 0, 1, 0, 0, 0, -1], the image [1, 0, 0, 0, 1, 0, 0, 0, 1]",
            find([](auto & mask) { mask.direction[8] = -1.0; }));
  EXPECT_EQ("the mask 'm.nii' has origin [nan, 0, 0], the image [0, 0, 0]",
            find([](auto & mask) { mask.origin[0] = std::nan(""); }));
}

TEST(ExampleGeometry, IgnoredUnlessTheSizeDiffers)
{
  const auto                   image = MakeImage<FloatImage>();
  const auto                   mask = MakeImage<ByteImage>(true);
  const auto                   smaller = MakeImage<ByteImage>(true, 6);
  ProgramIO::MaskGeometryRules rules;
  EXPECT_THROW(ProgramIO::MatchGeometry(mask.GetPointer(), "the mask", image.GetPointer(), rules), std::runtime_error);
  rules.mode = "ignore";
  EXPECT_THROW(ProgramIO::MatchGeometry(smaller.GetPointer(), "the mask", image.GetPointer(), rules),
               std::runtime_error);
  ExpectPart("the mask has spacing [1, 1, 1], the image [0.7, ",
             ProgramIO::MatchGeometry(mask.GetPointer(), "the mask", image.GetPointer(), rules));
  EXPECT_EQ(image->GetOrigin(), mask->GetOrigin());
  EXPECT_EQ(image->GetSpacing(), mask->GetSpacing());
  EXPECT_EQ(image->GetDirection(), mask->GetDirection());
  EXPECT_EQ("", ProgramIO::MatchGeometry(mask.GetPointer(), "the mask", image.GetPointer(), rules));
}
} // namespace
