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
#include "io/ImageWriting.h"
#include "io/Text.h"
#include "itkImageFileReader.h"
#include "itkImageRegionIterator.h"
#include "itkImageRegionConstIterator.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>

namespace
{
namespace fs = std::filesystem;
using ExampleIO::GetProperties;
using ExampleIO::OutputFiles;
using FloatImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using ByteSlice = itk::Image<unsigned char, 2>;
using VectorImage = itk::VectorImage<float, 3>;

/** The message of the exception that a function throws. */
std::string
GetMessageOf(const std::function<void()> & function)
{
  try
  {
    function();
  }
  catch (const std::exception & error)
  {
    return ExampleIO::GetOneLineMessage(error);
  }
  return "no exception";
}

[[maybe_unused]] std::string
ReadText(const fs::path & file)
{
  std::ifstream stream(file, std::ios::binary);
  return { std::istreambuf_iterator<char>(stream), {} };
}

[[maybe_unused]] void
WriteText(const fs::path & file, const std::string & text)
{
  std::ofstream(file, std::ios::binary) << text;
}

/** An image with a geometry other than ITK's defaults. */
template <typename TImage>
typename TImage::Pointer
MakeImage(bool hasDefaultGeometry = false, itk::SizeValueType size = 7)
{
  constexpr unsigned int     dimension = TImage::ImageDimension;
  auto                       image = TImage::New();
  typename TImage::SizeType  sizes;
  typename TImage::PointType origin;
  auto                       spacing = image->GetSpacing();
  auto                       direction = image->GetDirection();
  for (unsigned int d = 0; d < dimension; ++d)
  {
    sizes[d] = size + d;
    origin[d] = hasDefaultGeometry ? 0.0 : -101.23456789 + 30.0 * d;
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
  auto *     values = image->GetBufferPointer();
  const auto count = image->GetLargestPossibleRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  for (std::size_t i = 0; i < count; ++i)
  {
    values[i] = static_cast<typename TImage::InternalPixelType>(i % 2);
  }
  return image;
}

class ExampleOutput : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    m_Folder = fs::temp_directory_path() /
               ("ExampleOutput-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(m_Folder);
    fs::create_directories(m_Folder);
    m_Former = fs::current_path();
    fs::current_path(m_Folder);
  }

  void
  TearDown() override
  {
    fs::current_path(m_Former);
    fs::remove_all(m_Folder);
  }

  /** The names of all files, with those in hidden folders. */
  std::vector<std::string>
  GetNames() const
  {
    std::vector<std::string> names;
    for (const auto & entry : fs::recursive_directory_iterator(m_Folder))
    {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /** The message for an output that is no good, after which nothing may be left. */
  template <typename TImage>
  std::string
  GetRefusal(const std::string & name, const TImage * image, const std::vector<std::string> & inputs = {})
  {
    const auto  before = this->GetNames();
    std::string message;
    {
      OutputFiles outputs(inputs);
      message =
        GetMessageOf([&] { outputs.AddImage(name, GetProperties<TImage>(image, image->GetNumberOfComponentsPerPixel())); });
    }
    EXPECT_EQ(before, this->GetNames());
    return message;
  }

  fs::path m_Folder;
  fs::path m_Former;
};

TEST_F(ExampleOutput, Formats)
{
  const auto scalars = MakeImage<FloatImage>();
  const auto vectors = MakeImage<VectorImage>();
  const auto bytes = MakeImage<ByteImage>();
  const auto plain = MakeImage<ByteImage>(true);
  const auto slice = MakeImage<ByteSlice>(true);
  for (const std::string name : { "x.nii", "x.nii.gz", "x.mha", "x.mhd", "x.nrrd", "x.nhdr", "x.hdr", "x.img", "x.img.gz", "x.gipl", "x.vtk", "x.png", "x.tif", "x.bmp", "x.jpg", "x.dcm", "x%d.mhd" , "x%s.nii"})
  {
    std::cout << name << "\n  scalars: " << this->GetRefusal(name, scalars.GetPointer())
              << "\n  vectors: " << this->GetRefusal(name, vectors.GetPointer())
              << "\n  bytes: " << this->GetRefusal(name, bytes.GetPointer())
              << "\n  plain: " << this->GetRefusal(name, plain.GetPointer())
              << "\n  slice: " << this->GetRefusal(name, slice.GetPointer()) << '\n';
  }
}
} // namespace
