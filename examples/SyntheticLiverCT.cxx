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

#include "ExampleIO.h"
#include "ExampleMain.h"
#include "SyntheticLiverCTSource.h"
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
  std::string output;
  std::string size{ "256,256,80" };
  std::string spacing;
  std::string randomSeed{ "1" };
  std::string noise{ "10" };
  std::string threads;
  bool        dicom{ false };
  bool        quiet{ false };
};

void
AddOptions(CLI::App & app, Options & options)
{
  app
    .add_option(
      "OUTPUT", options.output, "image to write (.nii.gz, .nrrd, .mha, ...); with --dicom a folder for the slices")
    ->required();
  app.add_option("--size", options.size, "number of voxels; the anatomy fills the image, whatever its size")
    ->type_name("X,Y,Z")
    ->capture_default_str();
  app
    .add_option(
      "--spacing", options.spacing, "of the voxels, in mm (default: the natural size, 0.7,0.7,1.5 for 512,512,155)")
    ->type_name("X,Y,Z");
  app.add_option("--random-seed", options.randomSeed, "another number gives other vessels and other noise")
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--noise", options.noise, "standard deviation of the noise, in Hounsfield units")
    ->type_name("SIGMA")
    ->capture_default_str();
  app.add_flag("--dicom", options.dicom, "write a DICOM series, one file per slice");
  app.add_option("--threads", options.threads, "number of threads (default: one per processor)")->type_name("N");
  app.add_flag("--quiet", options.quiet, "print nothing but errors");
}

/** Numbers for a DICOM header, with as many digits as its decimal strings have room for. */
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

/** What a CT scanner would say about each slice. */
std::vector<std::unique_ptr<itk::MetaDataDictionary>>
MakeHeaders(const ImageType * image, const Options & options)
{
  // The same image has the same identifiers: a number made of what decides about its voxels.
  std::uint64_t number = 0;
  for (const char c : options.size + ' ' + options.spacing + ' ' + options.randomSeed + ' ' + options.noise)
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
    set("0010|0020", "Synthetic" + options.randomSeed);
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
  using SliceType = itk::Image<short, 2>;
  using WriterType = itk::ImageSeriesWriter<ImageType, SliceType>;

  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error)
  {
    throw std::runtime_error("cannot make the folder '" + options.output + "': " + error.message());
  }

  const auto                      headers = MakeHeaders(image, options);
  WriterType::DictionaryArrayType headerPointers;
  std::vector<std::string>        fileNames;
  for (std::size_t k = 0; k < headers.size(); ++k)
  {
    headerPointers.push_back(headers[k].get());
    std::ostringstream name;
    name << options.output << "/slice" << std::setw(4) << std::setfill('0') << k + 1 << ".dcm";
    fileNames.push_back(name.str());
  }

  auto imageIO = itk::GDCMImageIO::New();
  imageIO->KeepOriginalUIDOn();
  auto writer = WriterType::New();
  writer->SetInput(image);
  writer->SetImageIO(imageIO);
  writer->SetFileNames(fileNames);
  writer->SetMetaDataDictionaryArray(&headerPointers);
  try
  {
    writer->Update();
  }
  catch (const itk::ExceptionObject & exception)
  {
    throw std::runtime_error("cannot write '" + options.output + "': " + ExampleIO::GetOneLineMessage(exception));
  }
}

void
Run(const Options & options)
{
  SyntheticLiverCT::Settings settings;
  const std::string          whyCount = "the image has 3 axes";
  const auto                 size = ExampleIO::ParseNumbers<itk::SizeValueType>("--size", options.size, 3, whyCount);
  std::copy(size.begin(), size.end(), settings.size.begin());
  if (!options.spacing.empty())
  {
    const auto spacing = ExampleIO::ParseNumbers<double>("--spacing", options.spacing, 3, whyCount);
    std::copy(spacing.begin(), spacing.end(), settings.spacing.Begin());
  }
  settings.randomSeed = ExampleIO::ParseNumber<std::uint64_t>("--random-seed", options.randomSeed);
  settings.noise = ExampleIO::ParseNumber<double>("--noise", options.noise);
  ExampleIO::SetNumberOfThreads(options.threads);
  if (!options.dicom)
  {
    ExampleIO::CheckOutput(options.output);
  }

  const auto result = SyntheticLiverCT::Make(settings);
  if (options.dicom)
  {
    WriteDicom(result.image, options);
  }
  else
  {
    ExampleIO::WriteFile(result.image.GetPointer(), options.output);
  }

  if (!options.quiet)
  {
    const auto print = [](const char * name, const ImageType::IndexType & index) {
      std::cout << name << " seed " << index[0] << ',' << index[1] << ',' << index[2] << '\n';
    };
    const auto spacing = result.image->GetSpacing();
    std::cout << options.output << ": " << size[0] << 'x' << size[1] << 'x' << size[2] << " voxels of " << spacing[0]
              << " x " << spacing[1] << " x " << spacing[2] << " mm\n";
    print("vessel", result.vesselSeed);
    print("liver", result.liverSeed);
    print("bone", result.boneSeed);
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "A synthetic CT of an abdomen with vessels in the liver.", "SyntheticLiverCT" };
  AddOptions(app, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
