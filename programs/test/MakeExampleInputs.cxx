// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// MakeExampleInputs FOLDER: write the small images that the tests of the example programs read.

#include "itkGDCMImageIO.h"
#include "itkImageFileWriter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMetaDataObject.h"
#include "itkRGBPixel.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

namespace
{
/** An image with the values of a function of the index, and with a spacing and origin other than ITK's defaults. */
template <typename TImage, typename TFunction>
typename TImage::Pointer
MakeImage(const typename TImage::SizeType & size, TFunction && function)
{
  auto image = TImage::New();
  image->SetRegions(size);
  image->Allocate();

  auto spacing = image->GetSpacing();
  auto origin = image->GetOrigin();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    spacing[d] = 1.0 + 0.25 * d;
    origin[d] = -10.0 + 3.0 * d;
  }
  image->SetSpacing(spacing);
  image->SetOrigin(origin);

  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetLargestPossibleRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(function(it.GetIndex()));
  }
  return image;
}

/** Smooth blobs and a little texture, from -100 to 220. */
template <typename TIndex>
double
GetIntensity(const TIndex & index)
{
  const auto x = static_cast<double>(index[0]);
  const auto y = static_cast<double>(index[1]);
  double     z = 0.0;
  if constexpr (TIndex::Dimension > 2)
  {
    z = static_cast<double>(index[2]);
  }
  return std::floor(60.0 + 120.0 * std::sin(0.45 * x) * std::cos(0.35 * y + 0.2 * z) + 40.0 * std::sin(x * y + z));
}

template <typename TImage>
void
Write(const TImage * image, const std::string & name)
{
  auto writer = itk::ImageFileWriter<TImage>::New();
  writer->SetInput(image);
  writer->SetFileName(name);
  writer->Update();
}

/** One DICOM file per slice. */
void
WriteSeries(const itk::Image<short, 3> * volume, const std::string & folder, const std::string & seriesUID,
            itk::SizeValueType numberOfSlices)
{
  using ImageType = itk::Image<short, 3>;
  std::filesystem::create_directories(folder);
  for (itk::SizeValueType k = 0; k < numberOfSlices; ++k)
  {
    auto size = volume->GetLargestPossibleRegion().GetSize();
    size[2] = 1;
    auto                 slice = ImageType::New();
    ImageType::IndexType start{};
    start[2] = static_cast<itk::IndexValueType>(k);
    ImageType::PointType origin;
    volume->TransformIndexToPhysicalPoint(start, origin);
    slice->SetRegions(size);
    slice->SetSpacing(volume->GetSpacing());
    slice->SetOrigin(origin);
    slice->SetDirection(volume->GetDirection());
    slice->Allocate();
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(slice, slice->GetLargestPossibleRegion()); !it.IsAtEnd(); ++it)
    {
      auto index = it.GetIndex();
      index[2] = static_cast<itk::IndexValueType>(k);
      it.Set(volume->GetPixel(index));
    }

    auto & dictionary = slice->GetMetaDataDictionary();
    itk::EncapsulateMetaData<std::string>(dictionary, "0008|0060", "CT");
    itk::EncapsulateMetaData<std::string>(dictionary, "0020|000d", "1.2.826.0.1.3680043.2.1125.1");
    itk::EncapsulateMetaData<std::string>(dictionary, "0020|000e", seriesUID);
    itk::EncapsulateMetaData<std::string>(dictionary, "0020|0052", "1.2.826.0.1.3680043.2.1125.2");
    itk::EncapsulateMetaData<std::string>(dictionary, "0020|0013", std::to_string(k + 1));
    auto imageIO = itk::GDCMImageIO::New();
    imageIO->KeepOriginalUIDOn();

    auto writer = itk::ImageFileWriter<ImageType>::New();
    writer->SetImageIO(imageIO);
    writer->SetInput(slice);
    // The order of the names is not that of the slices, so that only the headers can sort them.
    writer->SetFileName(folder + "/" + std::to_string((k * 5) % 12) + "_" + seriesUID.back() + ".dcm");
    writer->Update();
  }
}

void
WriteVolumes(const std::string & folder)
{
  using ShortImage = itk::Image<short, 3>;
  using FloatImage = itk::Image<float, 3>;
  using IntImage = itk::Image<int, 3>;
  using MaskImage = itk::Image<unsigned char, 3>;
  using Image4D = itk::Image<short, 4>;
  const ShortImage::SizeType size{ { 20, 18, 12 } };

  const auto intensity = [](const auto & index) { return static_cast<short>(GetIntensity(index)); };
  const auto head = MakeImage<ShortImage>(size, intensity);
  // As scanners do: the first two axes point to the patient's right and front.
  ShortImage::DirectionType direction;
  direction.SetIdentity();
  direction[0][0] = -1.0;
  direction[1][1] = -1.0;
  head->SetDirection(direction);
  Write(head.GetPointer(), folder + "/head.nii.gz");
  WriteSeries(head, folder + "/dicom", "1.2.826.0.1.3680043.2.1125.3.1", size[2]);
  WriteSeries(head, folder + "/dicom_missing", "1.2.826.0.1.3680043.2.1125.3.1", size[2]);
  std::filesystem::remove(folder + "/dicom_missing/1_1.dcm");
  WriteSeries(head, folder + "/dicom_two", "1.2.826.0.1.3680043.2.1125.3.1", size[2]);
  WriteSeries(head, folder + "/dicom_two", "1.2.826.0.1.3680043.2.1125.3.2", 3);

  auto wide =
    MakeImage<IntImage>(size, [](const auto & index) { return static_cast<int>(GetIntensity(index)) * 1000000; });
  Write(wide.GetPointer(), folder + "/head_int32.mha");

  auto withNaN = MakeImage<FloatImage>(size, [](const auto & index) {
    return index[0] == 3 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(GetIntensity(index) / 7.0);
  });
  Write(withNaN.GetPointer(), folder + "/head_nan.nrrd");

  auto labels = MakeImage<MaskImage>(size, [](const auto & index) {
    return static_cast<unsigned char>(index[0] < 5 || index[2] > 8 ? 0 : (index[1] < 9 ? 3 : 7));
  });
  labels->SetDirection(direction);
  Write(labels.GetPointer(), folder + "/labels.nii.gz");
  // Files of the same name, with and without compression.
  std::filesystem::create_directories(folder + "/neighbors");
  Write(head.GetPointer(), folder + "/neighbors/head.nii.gz");
  Write(labels.GetPointer(), folder + "/neighbors/head.nii");
  const auto lesion = MakeImage<MaskImage>(size, [](const auto & index) {
    return static_cast<unsigned char>((index[0] == 4 || index[0] == 9) && index[1] == 8 && index[2] < 3 ? 2 : 0);
  });
  lesion->SetDirection(direction);
  Write(lesion.GetPointer(), folder + "/lesion.nii.gz");
  auto spacing = labels->GetSpacing();
  spacing[2] = 2.0;
  labels->SetSpacing(spacing);
  Write(labels.GetPointer(), folder + "/labels_spacing.nii.gz");
  labels->SetSpacing(head->GetSpacing());
  auto origin = labels->GetOrigin();
  origin[0] += 0.001;
  labels->SetOrigin(origin);
  Write(labels.GetPointer(), folder + "/labels_origin.nii.gz");
  const auto nothing = MakeImage<MaskImage>(size, [](const auto &) { return static_cast<unsigned char>(0); });
  nothing->SetDirection(direction);
  Write(nothing.GetPointer(), folder + "/empty_mask.nii.gz");
  auto small = MakeImage<MaskImage>({ { 19, 18, 12 } }, [](const auto &) { return static_cast<unsigned char>(1); });
  small->SetDirection(direction);
  Write(small.GetPointer(), folder + "/small_mask.nii.gz");

  Write(MakeImage<Image4D>({ { 20, 18, 12, 1 } }, intensity).GetPointer(), folder + "/one_volume.nrrd");
  Write(MakeImage<Image4D>({ { 20, 18, 12, 2 } }, intensity).GetPointer(), folder + "/two_volumes.nrrd");
}

void
WriteSlices(const std::string & folder)
{
  using ImageType = itk::Image<unsigned char, 2>;
  using ColorImageType = itk::Image<itk::RGBPixel<unsigned char>, 2>;
  const ImageType::SizeType size{ { 31, 26 } };

  const auto level = [](const auto & index) {
    return static_cast<unsigned char>((GetIntensity(index) + 100.0) / 320.0 * 15.0);
  };
  Write(MakeImage<ImageType>(size, level).GetPointer(), folder + "/slice.png");

  const auto gray = MakeImage<ColorImageType>(size, [&level](const auto & index) {
    itk::RGBPixel<unsigned char> pixel;
    pixel.Fill(level(index));
    return pixel;
  });
  Write(gray.GetPointer(), folder + "/gray_as_color.png");
  ColorImageType::PixelType red;
  red.Set(200, 0, 0);
  gray->SetPixel({ { 4, 7 } }, red);
  Write(gray.GetPointer(), folder + "/color.png");
}

/** Images in which the labels of all voxels, and the threshold, follow from the definitions. */
void
WriteObjects(const std::string & folder)
{
  using LineType = itk::Image<unsigned char, 2>;
  const auto line = MakeImage<LineType>(
    { { 5, 1 } }, [](const auto & index) -> unsigned char { return index[0] == 0 || index[0] == 4 ? 0 : 4; });
  Write(line.GetPointer(), folder + "/line.nrrd");

  // Two cubes of 6x6x6 voxels and a bridge of two.
  const auto leak = MakeImage<itk::Image<short, 3>>({ { 16, 8, 8 } }, [](const auto & index) -> short {
    const bool isBridge = index[1] == 2 && index[2] == 2 && (index[0] == 7 || index[0] == 8);
    const auto isInside = [](auto i) { return i >= 1 && i <= 6; };
    const bool isCube = isInside(index[0] < 8 ? index[0] : index[0] - 8) && isInside(index[1]) && isInside(index[2]);
    return isBridge ? 90 : isCube ? 100 : -1000;
  });
  Write(leak.GetPointer(), folder + "/leak.nrrd");
}

} // namespace

int
main(int argc, char * argv[])
{
  if (argc != 2)
  {
    std::cerr << "usage: MakeExampleInputs FOLDER\n";
    return EXIT_FAILURE;
  }
  const std::string folder = argv[1];
  try
  {
    std::filesystem::create_directories(folder + "/no_dicom");
    std::ofstream(folder + "/no_dicom/note.txt") << "no image\n";
    WriteVolumes(folder);
    WriteSlices(folder);
    WriteObjects(folder);
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
