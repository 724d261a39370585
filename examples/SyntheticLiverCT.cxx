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

/** Numbers for a DICOM header, with 10 digits, which fit into its decimal strings. */
std::string
JoinDecimals(const std::vector<double> & values)
{
  std::ostringstream text;
  text << std::setprecision(10);
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    text << (i == 0 ? "" : "\\") << values[i];
  }
  return text.str();
}

/** The DICOM headers that a CT scanner would write, one per slice. */
std::vector<std::unique_ptr<itk::MetaDataDictionary>>
MakeHeaders(const ImageType * image, const Options & options)
{
  // Equal settings give equal identifiers, which contain a hash of the settings.
  std::ostringstream settings;
  settings << ProgramIO::Join(options.size) << ' ' << options.randomSeed << ' ' << options.noise;
  std::uint64_t number = 0;
  for (const char c : settings.str())
  {
    number = SyntheticLiverCT::Detail::RandomSequence(number).Get(static_cast<unsigned char>(c));
  }
  const std::string root = "2.25." + std::to_string(number);

  const auto size = image->GetLargestPossibleRegion().GetSize();
  const auto spacing = image->GetSpacing();
  const auto direction = image->GetDirection();

  std::vector<std::unique_ptr<itk::MetaDataDictionary>> headers;
  for (itk::SizeValueType k = 0; k < size[2]; ++k)
  {
    const ImageType::IndexType index{ { 0, 0, static_cast<itk::IndexValueType>(k) } };
    ImageType::PointType       position;
    image->TransformIndexToPhysicalPoint(index, position);
    const std::string instance = std::to_string(k + 1);

    headers.push_back(std::make_unique<itk::MetaDataDictionary>());
    const auto set = [&headers](const char * tag, const std::string & value) {
      itk::EncapsulateMetaData<std::string>(*headers.back(), tag, value);
    };
    set("0008|0008", "DERIVED\\SECONDARY\\AXIAL");
    set("0008|0016", "1.2.840.10008.5.1.4.1.1.2"); // CT Image Storage
    set("0008|0018", root + ".3." + instance);
    set("0008|0020", "20150101");
    set("0008|0030", "120000");
    set("0008|0060", "CT");
    set("0008|103e", "Synthetic liver");
    set("0010|0010", "Synthetic");
    set("0010|0020", "Synthetic" + std::to_string(options.randomSeed));
    set("0018|0050", JoinDecimals({ spacing[2] }));
    set("0018|0088", JoinDecimals({ spacing[2] }));
    set("0020|000d", root + ".1");
    set("0020|000e", root + ".2");
    set("0020|0011", "1");
    set("0020|0012", "1");
    set("0020|0013", instance);
    set("0020|0032", JoinDecimals({ position[0], position[1], position[2] }));
    set("0020|0037",
        JoinDecimals(
          { direction[0][0], direction[1][0], direction[2][0], direction[0][1], direction[1][1], direction[2][1] }));
    set("0020|0052", root + ".4");
    set("0028|0004", "MONOCHROME2");
    set("0028|1050", "100");
    set("0028|1051", "400");
    set("0028|1052", "0");
    set("0028|1053", "1");
    set("0028|1054", "HU");
  }
  return headers;
}

void
WriteDicom(const ImageType * image, const Options & options)
{
  std::filesystem::create_directories(options.output);
  if (!std::filesystem::is_empty(options.output))
  {
    // Other files would look like a part of the series.
    throw std::runtime_error("the folder '" + options.output + "' is not empty");
  }
  using WriterType = itk::ImageSeriesWriter<ImageType, itk::Image<short, 2>>;
  const auto                      headers = MakeHeaders(image, options);
  WriterType::DictionaryArrayType headerPointers;
  std::vector<std::string>        names;
  for (const auto & header : headers)
  {
    headerPointers.push_back(header.get());
    std::ostringstream name;
    name << "slice" << std::setw(4) << std::setfill('0') << headerPointers.size() << ".dcm";
    names.push_back((std::filesystem::path(options.output) / name.str()).string());
  }
  auto imageIO = itk::GDCMImageIO::New();
  imageIO->KeepOriginalUIDOn();
  auto writer = WriterType::New();
  writer->SetInput(image);
  writer->SetImageIO(imageIO);
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
  settings.wantsOrgans = !options.organs.empty() || !options.strokes.empty();
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
