// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// A synthetic CT of an abdomen with vessels in the liver, as an image file or as a DICOM series.

#include "SyntheticLiverCTSource.h"
#include "io/CommandLine.h"
#include "itkGDCMImageIO.h"
#include "itkImageFileWriter.h"
#include "itkImageSeriesWriter.h"
#include "itkMetaDataObject.h"

#include <iomanip>
#include <iostream>
#include <memory>

namespace
{
using ImageType = SyntheticLiverCT::ImageType;

struct Options
{
  std::string                     output;
  std::vector<itk::SizeValueType> size{ 256, 256, 80 };
  std::uint64_t                   randomSeed{ 1 };
  double                          noise{ 10.0 };
  std::string                     organs;
  std::string                     strokes;
  bool                            dicom{ false };
};

void
AddOptions(CLI::App & app, Options & options)
{
  app
    .add_option("OUTPUT",
                options.output,
                "image to write (.nii.gz, .nrrd, .mha, ...), or with --dicom a new or empty folder for the slices")
    ->required();
  ProgramIO::AddNumbers(
    app, "--size", options.size, "X,Y,Z", "number of voxels; the anatomy fills an image of any size")
    ->default_str("256,256,80");
  ProgramIO::AddNumbers(
    app, "--random-seed", options.randomSeed, "N", "each number gives different vessels and different noise")
    ->capture_default_str();
  ProgramIO::AddNumbers(app, "--noise", options.noise, "SIGMA", "standard deviation of the noise, in Hounsfield units")
    ->capture_default_str();
  app
    .add_option(
      "--organs",
      options.organs,
      "image to write of the organ that fills more than half of a voxel: 1 liver, 2 its vessels, 3 spine, 4 spleen, "
      "0 all others")
    ->type_name("FILE");
  app
    .add_option("--strokes",
                options.strokes,
                "image to write of lines in these organs, and of lines of label 5 in all others, as seeds")
    ->type_name("FILE");
  app.add_flag("--dicom", options.dicom, "write a DICOM series, one file per slice");
}

/** A DICOM series as a CT scanner would write it. */
void
WriteDicom(const ImageType * image, const Options & options)
{
  std::filesystem::create_directories(options.output);
  if (!std::filesystem::is_empty(options.output))
  {
    // Other files would look like a part of the series.
    throw std::runtime_error("the folder '" + options.output + "' is not empty");
  }
  std::vector<itk::MetaDataDictionary>                                         headers;
  itk::ImageSeriesWriter<ImageType, itk::Image<short, 2>>::DictionaryArrayType headerPointers;
  std::vector<std::string>                                                     names;
  const auto size = image->GetLargestPossibleRegion().GetSize();
  headers.resize(size[2]);
  for (itk::SizeValueType k = 0; k < size[2]; ++k)
  {
    std::ostringstream   spacing;
    std::ostringstream   position;
    std::ostringstream   name;
    ImageType::PointType point;
    image->TransformIndexToPhysicalPoint({ { 0, 0, static_cast<itk::IndexValueType>(k) } }, point);
    // 10 digits fit into a decimal string.
    spacing << std::setprecision(10) << image->GetSpacing()[2];
    position << std::setprecision(10) << point[0] << '\\' << point[1] << '\\' << point[2];
    for (const auto & [tag, value] : {
           std::pair<const char *, std::string>{ "0008|0016", "1.2.840.10008.5.1.4.1.1.2" }, // CT Image Storage
           { "0008|0060", "CT" },
           { "0008|103e", "Synthetic liver" },
           { "0010|0010", "Synthetic" },
           { "0018|0050", spacing.str() },
           { "0018|0088", spacing.str() },
           { "0020|0013", std::to_string(k + 1) },
           { "0020|0032", position.str() },
           { "0020|0037", "1\\0\\0\\0\\1\\0" },
           { "0028|0004", "MONOCHROME2" },
           { "0028|1050", "100" },
           { "0028|1051", "400" },
         })
    {
      itk::EncapsulateMetaData<std::string>(headers[k], tag, value);
    }
    headerPointers.push_back(&headers[k]);
    name << "slice" << std::setw(4) << std::setfill('0') << k + 1 << ".dcm";
    names.push_back((std::filesystem::path(options.output) / name.str()).string());
  }
  auto writer = itk::ImageSeriesWriter<ImageType, itk::Image<short, 2>>::New();
  writer->SetInput(image);
  // Of one object, so that all slices get the same identifiers of study and series.
  writer->SetImageIO(itk::GDCMImageIO::New());
  writer->SetFileNames(names);
  writer->SetMetaDataDictionaryArray(&headerPointers);
  writer->Update();
}

void
Run(const Options & options)
{
  SyntheticLiverCT::Settings settings;
  ProgramIO::CopyNumbers("--size", options.size, settings.size, "the image has 3 axes");
  settings.randomSeed = options.randomSeed;
  settings.noise = options.noise;
  const auto result = SyntheticLiverCT::Make(settings);
  if (options.dicom)
  {
    WriteDicom(result.image, options);
  }
  else
  {
    itk::WriteImage(result.image.GetPointer(), options.output);
  }
  if (!options.organs.empty())
  {
    itk::WriteImage(result.organs.GetPointer(), options.organs);
  }
  if (!options.strokes.empty())
  {
    itk::WriteImage(result.strokes.GetPointer(), options.strokes);
  }
  std::cout << options.output << ": " << ProgramIO::Join(settings.size, "x") << " voxels of "
            << ProgramIO::Join(result.image->GetSpacing(), " x ") << " mm\n";
  const auto print = [](const char * name, const ImageType::IndexType & index) {
    std::cout << name << " seed " << ProgramIO::Join(index) << '\n';
  };
  print("vessel", result.vesselSeed);
  print("liver", result.liverSeed);
  print("bone", result.boneSeed);
  print("spleen", result.spleenSeed);
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Make a synthetic CT of the abdomen with vessels in the liver.", "SyntheticLiverCT" };
  AddOptions(app, options);

  return ProgramIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
