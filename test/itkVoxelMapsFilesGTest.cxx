// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Images that ITK's readers deliver from NIfTI files and DICOM series, in a pipeline with the filters.

#include "ItkTestUtilities.h"

#include "itkFeatureMapsImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGDCMImageIO.h"
#include "itkGDCMSeriesFileNames.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageSeriesReader.h"
#include "itkImageSeriesWriter.h"
#include "itkMetaDataObject.h"
#include "itkNiftiImageIO.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using ImageType = itk::Image<short, 3>;
using ReaderType = itk::ImageSource<ImageType>;

/** A folder for the files of a test, which is deleted in the end. */
class Files : public testing::Test
{
protected:
  void
  SetUp() override
  {
    const std::string name = "VoxelMapsFiles" + std::to_string(std::random_device()());
    m_Folder = std::filesystem::temp_directory_path() / name;
    ASSERT_TRUE(std::filesystem::create_directory(m_Folder)) << m_Folder;
  }
  void
  TearDown() override
  {
    std::filesystem::remove_all(m_Folder);
  }

  std::filesystem::path m_Folder;
};

/** Noise in Hounsfield units, in a volume whose slices are turned by about 37 degrees. */
ImageType::Pointer
MakeVolume()
{
  const ImageType::SizeType size{ { 17, 13, 9 } };
  RandomNumbers             random(56);
  std::vector<short>        pixels(size[0] * size[1] * size[2]);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Between(-1024, 1500));
  }
  auto         image = MakeImage<ImageType>(size, pixels);
  const double spacing[]{ 0.75, 0.5, 2.5 };
  image->SetSpacing(spacing);
  const double origin[]{ -12.5, 30.25, -101.5 };
  image->SetOrigin(origin);
  ImageType::DirectionType direction;
  direction.SetIdentity();
  direction[0][0] = direction[1][1] = 0.8;
  direction[0][1] = -0.6;
  direction[1][0] = 0.6;
  image->SetDirection(direction);
  return image;
}

template <typename TFirst, typename TSecond>
void
ExpectSameGeometry(const TFirst * expected, const TSecond * image)
{
  // NIfTI files have numbers in single precision.
  const double tolerance = 1e-5;
  EXPECT_EQ(expected->GetLargestPossibleRegion(), image->GetLargestPossibleRegion());
  for (unsigned int i = 0; i < 3; ++i)
  {
    EXPECT_NEAR(expected->GetOrigin()[i], image->GetOrigin()[i], tolerance);
    EXPECT_NEAR(expected->GetSpacing()[i], image->GetSpacing()[i], tolerance);
    for (unsigned int j = 0; j < 3; ++j)
    {
      EXPECT_NEAR(expected->GetDirection()[i][j], image->GetDirection()[i][j], tolerance);
    }
  }
}

/** Expect that filters after a reader compute what they compute from the image in memory, with its geometry. */
void
ExpectSameMaps(ImageType * image, ReaderType * reader)
{
  const auto expectSame = [image, reader](auto filter, auto expected) {
    expected->SetInput(image);
    expected->Update();
    filter->SetInput(reader->GetOutput());
    filter->Update();
    EXPECT_EQ(GetBuffer(expected->GetOutput()), GetBuffer(filter->GetOutput()));
    ExpectSameGeometry(image, filter->GetOutput());
  };
  const auto makeMaps = [] {
    auto filter = itk::FeatureMapsImageFilter<ImageType>::New();
    filter->SetFeatureNames({ "firstorder_Mean", "glcm_Contrast", "glrlm_RunEntropy" });
    return filter;
  };
  const auto makeConnectedness = [] {
    auto filter = itk::FuzzyConnectednessImageFilter<ImageType>::New();
    filter->SetSeed({ { 5, 6, 4 } });
    filter->EstimateAffinityFromSeedsOn();
    return filter;
  };
  VOXELMAPS_ASSERT_NO_ITK_ERROR(expectSame(makeMaps(), makeMaps()));
  VOXELMAPS_ASSERT_NO_ITK_ERROR(expectSame(makeConnectedness(), makeConnectedness()));
}
} // namespace

TEST_F(Files, Nifti)
{
  const auto image = MakeVolume();
  auto       writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetInput(image);
  writer->SetImageIO(itk::NiftiImageIO::New());
  writer->SetFileName((m_Folder / "image.nii.gz").string());
  VOXELMAPS_ASSERT_NO_ITK_ERROR(writer->Update());

  auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetImageIO(itk::NiftiImageIO::New());
  reader->SetFileName((m_Folder / "image.nii.gz").string());
  ExpectSameMaps(image, reader);
}

TEST_F(Files, DicomSeries)
{
  const auto                             image = MakeVolume();
  const auto                             size = image->GetLargestPossibleRegion().GetSize();
  auto                                   io = itk::GDCMImageIO::New();
  std::vector<std::string>               names;
  std::vector<itk::MetaDataDictionary>   dictionaries(size[2]);
  std::vector<itk::MetaDataDictionary *> pointers;
  io->KeepOriginalUIDOn();
  for (itk::SizeValueType k = 0; k < size[2]; ++k)
  {
    // The names are in the reverse order of the positions.
    names.push_back((m_Folder / ("slice" + std::to_string(10 + size[2] - k) + ".dcm")).string());
    itk::Point<double, 3> position;
    image->TransformIndexToPhysicalPoint(itk::Index<3>{ { 0, 0, static_cast<itk::IndexValueType>(k) } }, position);
    std::ostringstream place;
    place << position[0] << '\\' << position[1] << '\\' << position[2];
    const std::string uid = "1.2.826.0.1.3680043.2.1125.";
    for (const auto & [key, value] : std::map<std::string, std::string>{
           { "0008|0016", "1.2.840.10008.5.1.4.1.1.2" }, // CT
           { "0008|0018", uid + "3." + std::to_string(k + 1) },
           { "0008|0060", "CT" },
           { "0020|000d", uid + "1" },
           { "0020|000e", uid + "2" },
           { "0020|0013", std::to_string(k + 1) },
           { "0020|0032", place.str() },
           { "0020|0037", "0.8\\0.6\\0\\-0.6\\0.8\\0" },
           { "0028|0004", "MONOCHROME2" },
         })
    {
      itk::EncapsulateMetaData<std::string>(dictionaries[k], key, value);
    }
    pointers.push_back(&dictionaries[k]);
  }
  auto writer = itk::ImageSeriesWriter<ImageType, itk::Image<short, 2>>::New();
  writer->SetInput(image);
  writer->SetImageIO(io);
  writer->SetFileNames(names);
  writer->SetMetaDataDictionaryArray(&pointers);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(writer->Update());

  auto series = itk::GDCMSeriesFileNames::New();
  series->SetDirectory(m_Folder.string());
  ASSERT_EQ(1u, series->GetSeriesUIDs().size());
  auto reader = itk::ImageSeriesReader<ImageType>::New();
  reader->SetImageIO(itk::GDCMImageIO::New());
  reader->SetFileNames(series->GetFileNames(series->GetSeriesUIDs().front()));
  ASSERT_EQ(size[2], reader->GetFileNames().size());
  ExpectSameMaps(image, reader);
}
