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

// Computes run length feature maps of an image file or DICOM directory from the command line.

#include "io/Crop.h"
#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/CommandLine.h"
#include "io/SlicerModule.h"
#include "io/Progress.h"
#include "itkMinimumMaximumImageCalculator.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkVectorIndexSelectionCastImageFilter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>

namespace
{
using Enums = itk::RunLengthFeatureMapEnums;

const std::map<std::string, Enums::Aggregation> aggregations{ { "per-direction", Enums::Aggregation::PerDirection },
                                                              { "average", Enums::Aggregation::Average },
                                                              { "merge", Enums::Aggregation::Merge } };

const std::vector<std::string> directions{ "all", "in-plane" };

struct Options
{
  std::string                       input;
  std::string                       output;
  std::string                       mask;
  ExampleIO::MaskGeometryRules      maskGeometry;
  std::optional<itk::SizeValueType> radius;
  std::vector<itk::SizeValueType>   window;
  std::vector<itk::OffsetValueType> anchor;
  std::optional<unsigned int>       levels;
  std::optional<double>             binWidth;
  bool                              asLevels{ false };
  std::vector<double>               range;
  std::string                       aggregation{ "average" };
  std::vector<std::string>          features;
  std::string                       offsets{ "all" };
  bool                              crop{ false };
  bool                              quiet{ false };
  bool                              progressXML{ false };
  ExampleIO::DicomOptions           dicom;
  /** The files of --output-sre and so on; empty if not given. */
  std::map<Enums::Feature, std::string> featureFiles;
};

/** "--output-sre" for ShortRunEmphasis. */
std::string
GetOutputOption(Enums::Feature feature)
{
  return CLI::detail::to_lower(std::string("--output-") + Enums::GetAbbreviation(feature));
}

void
AddOptions(CLI::App & app, ExampleIO::ModuleDescription & module, Options & options)
{
  using ExampleIO::AddNumbers;
  const auto defaults = itk::RunLengthFeatureMapImageFilter<itk::Image<float, 3>>::New();
  const auto defaultRadius = std::to_string(defaults->GetWindowAnchor()[0]);
  const auto defaultLevels = std::to_string(defaults->GetNumberOfGrayLevels());

  auto * input =
    app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files");
  input->required();
  app.add_option(
    "OUTPUT",
    options.output,
    "vector image (.nrrd, .mha, .nii.gz, ...); or a name with %s, such as map_%s.nii.gz, for one scalar image per "
    "component, where %s stands for the name of the component, such as SRE");
  auto * mask =
    ExampleIO::AddFile(app, "--mask", options.mask, "image of the same geometry; only voxels where it is not 0 count");
  auto * crop =
    app.add_flag("--crop",
                 options.crop,
                 "compute and write only the bounding box of the mask plus the window; the maps overlay the image");
  module.AddGroup("Input", "The image, and the part of it to compute");
  module.AddImage(input, "Image", "scalar", "input");
  module.AddImage(mask, "Mask", "label", "input");
  const auto [maskGeometry, tolerance] = ExampleIO::AddMaskGeometryOptions(app, options.maskGeometry);
  module.AddEnumeration(maskGeometry, "Geometry of the mask", { "check", "ignore" });
  module.AddOptionalNumbers(tolerance, "Tolerance of the geometry", "double");
  module.AddFlag(crop, "Crop to the mask");

  auto * radius = AddNumbers(app,
                             "--radius",
                             options.radius,
                             "N",
                             "radius of the window: its voxels on each side (default " + defaultRadius + ")");
  auto * window =
    AddNumbers(app, "--window", options.window, "X,Y[,Z]", "size of the window in voxels, instead of --radius");
  auto * anchor = AddNumbers(
    app, "--anchor", options.anchor, "X,Y[,Z]", "position of the voxel in its window, from 0 (default: the middle)");
  auto * offsets =
    app.add_option("--offsets", options.offsets, "all directions, or only those in the plane of x and y")
      ->type_name("WHICH")
      ->capture_default_str()
      ->check(CLI::IsMember(directions));
  auto * aggregation = app.add_option("--aggregation", options.aggregation, "how to combine the directions")
                         ->type_name("HOW")
                         ->capture_default_str()
                         ->check(CLI::IsMember(aggregations));
  module.AddGroup("Window", "The voxels around each voxel, and the directions of the runs in them");
  module.AddOptionalNumbers(radius, "Radius", "integer");
  module.AddOptionalNumbers(window, "Window size", "integer");
  module.AddOptionalNumbers(anchor, "Anchor", "integer");
  module.AddEnumeration(offsets, "Directions", directions);
  // Not per-direction: a volume of 3D Slicer has one component.
  module.AddEnumeration(aggregation, "Aggregation", { "average", "merge" });

  auto * levels = AddNumbers(app,
                             "--levels",
                             options.levels,
                             "N",
                             "number of gray levels between minimum and maximum (default " + defaultLevels +
                               "; with --as-levels the image's maximum + 1)");
  auto * binWidth = AddNumbers(
    app, "--bin-width", options.binWidth, "W", "width of a gray level, from the minimum, instead of --levels");
  auto * range = AddNumbers(app,
                            "--range",
                            options.range,
                            "LO,HI",
                            "minimum and maximum of the intensities; values outside are clamped (default: those of "
                            "the image, inside the mask)");
  auto * asLevels =
    app.add_flag("--as-levels", options.asLevels, "use the intensities, whole numbers from 0, as gray levels");
  module.AddGroup("Gray levels", "How intensities become gray levels");
  module.AddOptionalNumbers(levels, "Number of levels", "integer");
  module.AddOptionalNumbers(binWidth, "Bin width", "double");
  module.AddOptionalNumbers(range, "Range", "double");
  module.AddFlag(asLevels, "Intensities are levels");

  app.add_option("--features", options.features, "all (sixteen), eleven, or a list such as SRE,LRE,GLN,RLN,RP")
    ->type_name("LIST")
    ->delimiter(',')
    ->allow_extra_args(false)
    ->default_str("eleven");
  module.AddGroup("Output", "A map for each feature, instead of OUTPUT and --features");
  for (const auto feature : Enums::GetAllFeatures())
  {
    const std::string name = Enums::GetName(feature);
    auto *            file =
      app.add_option(GetOutputOption(feature), options.featureFiles[feature], "map of " + name)->type_name("FILE");
    module.AddImage(file, name, "scalar", "output");
  }
  ExampleIO::AddDicomOptions(app, options.input, options.dicom);
  ExampleIO::AddRunOptions(app, options.quiet);
  module.AddProgressOption(options.progressXML);

  crop->needs(mask);
  window->excludes(radius);
  anchor->needs(window);
  binWidth->excludes(levels)->excludes(asLevels);
  range->excludes(asLevels);
}

/** The features of a list of names. */
std::vector<Enums::Feature>
FindFeatures(const std::vector<std::string> & names)
{
  if (names.empty() || (names.size() == 1 && names.front() == "eleven"))
  {
    return Enums::GetElevenFeatures();
  }
  if (names.size() == 1 && names.front() == "all")
  {
    return Enums::GetAllFeatures();
  }
  std::vector<Enums::Feature> features;
  for (const auto & name : names)
  {
    Enums::Feature feature{};
    if (!Enums::FindFeature(name, feature))
    {
      std::vector<std::string> known;
      for (const auto each : Enums::GetAllFeatures())
      {
        known.emplace_back(Enums::GetAbbreviation(each));
      }
      throw std::runtime_error("--features: there is no feature '" + name + "'; there are " +
                               ExampleIO::Join(known, ", "));
    }
    features.push_back(feature);
  }
  return features;
}

/** The features to compute: those of --features, or those with a file of their own. */
std::vector<Enums::Feature>
GetFeatures(const Options & options)
{
  std::vector<Enums::Feature> features;
  for (const auto & [feature, file] : options.featureFiles)
  {
    if (!file.empty())
    {
      features.push_back(feature);
    }
  }
  if (features.empty())
  {
    if (options.output.empty())
    {
      throw std::runtime_error("there is no output: give OUTPUT, or a file for a feature, such as " +
                               GetOutputOption(Enums::GetAllFeatures().front()));
    }
    return FindFeatures(options.features);
  }
  const std::string first = GetOutputOption(features.front());
  if (!options.output.empty() || !options.features.empty())
  {
    throw std::runtime_error(first + " excludes OUTPUT and --features");
  }
  if (options.aggregation == "per-direction")
  {
    throw std::runtime_error(first + " is for one component: --aggregation per-direction needs OUTPUT");
  }
  return features;
}

/** The number of gray levels of an image whose intensities are gray levels; the filter reports invalid levels. */
template <typename TImage>
unsigned int
GetNumberOfLevelsInImage(const TImage * image)
{
  auto calculator = itk::MinimumMaximumImageCalculator<TImage>::New();
  calculator->SetImage(image);
  calculator->ComputeMaximum();
  const auto maximum = static_cast<double>(calculator->GetMaximum());
  return static_cast<unsigned int>(std::clamp(std::floor(maximum) + 1.0, 1.0, 65535.0));
}

template <typename TFilter, typename TImage>
void
SetParameters(TFilter * filter, const TImage * image, const Options & options)
{
  using MethodEnum = itk::GrayLevelDiscretizationEnums::Method;
  constexpr unsigned int dimension = TImage::ImageDimension;
  const std::string      whyCount = "the image has " + std::to_string(dimension) + " axes";

  if (options.radius)
  {
    filter->SetNeighborhoodRadius(*options.radius);
  }
  if (!options.window.empty())
  {
    typename TFilter::SizeType size;
    ExampleIO::CopyNumbers("--window", options.window, size, whyCount);
    filter->SetWindowSize(size);
  }
  if (!options.anchor.empty())
  {
    typename TFilter::OffsetType anchor;
    ExampleIO::CopyNumbers("--anchor", options.anchor, anchor, whyCount);
    filter->SetWindowAnchor(anchor);
  }
  if (options.levels)
  {
    filter->SetNumberOfGrayLevels(*options.levels);
  }
  else if (options.asLevels)
  {
    filter->SetNumberOfGrayLevels(GetNumberOfLevelsInImage(image));
  }
  if (options.asLevels)
  {
    filter->SetDiscretizationMethod(MethodEnum::Identity);
  }
  if (options.binWidth)
  {
    filter->SetDiscretizationMethod(MethodEnum::FixedBinSize);
    filter->SetBinWidth(*options.binWidth);
  }
  if (!options.range.empty())
  {
    std::array<double, 2> range{};
    ExampleIO::CopyNumbers("--range", options.range, range, "a range has 2");
    filter->SetRangeSource(itk::GrayLevelDiscretizationEnums::RangeSource::Given);
    filter->SetRangeMinimum(range[0]);
    filter->SetRangeMaximum(range[1]);
  }
  filter->SetAggregation(aggregations.at(options.aggregation));
  filter->SetOffsets(options.offsets == "all" ? TFilter::GetAllOffsets() : TFilter::GetInPlaneOffsets());
}

/** The names of the output files: one, or one per component. */
std::vector<std::string>
GetOutputNames(const Options & options, const std::vector<Enums::Feature> & features,
               const std::vector<std::string> & componentNames)
{
  std::vector<std::string> names;
  if (options.output.empty())
  {
    for (const auto feature : features)
    {
      names.push_back(options.featureFiles.at(feature));
    }
    return names;
  }
  if (options.output.find("%s") == std::string::npos)
  {
    return { options.output };
  }
  for (const auto & component : componentNames)
  {
    std::string name = options.output;
    for (auto at = name.find("%s"); at != std::string::npos; at = name.find("%s", at + component.size()))
    {
      name.replace(at, 2, component);
    }
    names.push_back(name);
  }
  return names;
}

/** The files for maps with the geometry of an image, after a check that they can be written. */
template <typename TImage>
void
AddOutputs(ExampleIO::OutputFiles & outputs, const TImage * image, const std::vector<std::string> & fileNames,
           std::size_t numberOfComponents)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  const bool             isVector = fileNames.size() == 1 && numberOfComponents > 1;
  for (const auto & name : fileNames)
  {
    outputs.AddImage(name,
                     isVector ? ExampleIO::GetProperties<itk::VectorImage<float, dimension>>(
                                  image, static_cast<unsigned int>(numberOfComponents))
                              : ExampleIO::GetProperties<itk::Image<float, dimension>>(image));
  }
}

template <typename TMaps>
void
WriteMaps(TMaps * maps, ExampleIO::OutputFiles & outputs, const std::vector<std::string> & fileNames,
          const std::vector<std::string> & componentNames)
{
  constexpr unsigned int dimension = TMaps::ImageDimension;
  if (fileNames.size() == 1 && componentNames.size() > 1)
  {
    // Formats that can store metadata keep the names of the components.
    itk::EncapsulateMetaData<std::string>(
      maps->GetMetaDataDictionary(), "FeatureNames", ExampleIO::Join(componentNames));
    outputs.WriteImage(maps, fileNames.front());
    outputs.Commit();
    return;
  }
  using ComponentImageType = itk::Image<float, dimension>;
  auto component = itk::VectorIndexSelectionCastImageFilter<TMaps, ComponentImageType>::New();
  component->SetInput(maps);
  for (unsigned int i = 0; i < fileNames.size(); ++i)
  {
    component->SetIndex(i);
    component->Update();
    outputs.WriteImage(component->GetOutput(), fileNames[i]);
  }
  outputs.Commit();
}

/** Request only the part of the maps that the mask needs. */
template <typename TFilter, typename TMask>
void
RequestMask(TFilter * filter, const TMask * mask, const Options & options)
{
  filter->UpdateOutputInformation();
  const auto box = ExampleIO::GetBoundingBox(mask);
  if (box.GetNumberOfPixels() == 0)
  {
    throw std::runtime_error("--crop: the mask '" + options.mask + "' is empty");
  }
  auto * maps = filter->GetOutput();
  maps->SetRequestedRegion(
    ExampleIO::PadByWindow(box, filter->GetWindowSize(), filter->GetWindowAnchor(), maps->GetLargestPossibleRegion()));
}

template <typename TImage>
void
Run(const ExampleIO::Input & input, const Options & options, const std::vector<Enums::Feature> & features)
{
  constexpr unsigned int dimension = TImage::ImageDimension;

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  auto       filter = itk::RunLengthFeatureMapImageFilter<TImage>::New();
  SetParameters(filter.GetPointer(), image.GetPointer(), options);
  filter->SetFeatures(features);
  filter->SetInput(image);

  const auto             componentNames = filter->GetFeatureNames();
  const auto             fileNames = GetOutputNames(options, features, componentNames);
  ExampleIO::OutputFiles outputs({ options.input, options.mask });
  AddOutputs(outputs, image.GetPointer(), fileNames, componentNames.size());

  auto numberOfVoxels = image->GetLargestPossibleRegion().GetNumberOfPixels();
  if (!options.mask.empty())
  {
    const auto mask = ExampleIO::ReadMaskFor<dimension>("mask", options.mask);
    const auto remark = ExampleIO::MatchGeometry(
      mask.GetPointer(), "the mask '" + options.mask + "'", image.GetPointer(), options.maskGeometry);
    if (!options.quiet && !remark.empty())
    {
      std::cout << remark << "; ignored\n";
    }
    filter->SetMaskImage(mask);
    const unsigned char * inside = mask->GetBufferPointer();
    numberOfVoxels = std::count(inside, inside + mask->GetLargestPossibleRegion().GetNumberOfPixels(), 1);
    if (options.crop)
    {
      RequestMask(filter.GetPointer(), mask.GetPointer(), options);
    }
  }

  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet, options.progressXML);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const typename itk::RunLengthFeatureMapImageFilter<TImage>::OutputImageType::Pointer maps = filter->GetOutput();
  maps->DisconnectPipeline();
  ExampleIO::ShrinkToBuffer(maps.GetPointer());
  WriteMaps(maps.GetPointer(), outputs, fileNames, componentNames);

  if (!options.quiet)
  {
    const auto offsets = filter->GetOffsets().size();
    std::cout << (options.output.empty() ? ExampleIO::Join(fileNames, ", ") : options.output) << ": "
              << filter->GetUsedNumberOfGrayLevels() << " levels in [" << filter->GetUsedRangeMinimum() << ", "
              << filter->GetUsedRangeMaximum() << "], window " << ExampleIO::Join(filter->GetWindowSize(), "x")
              << " with the voxel at " << ExampleIO::Join(filter->GetWindowAnchor()) << ", " << offsets
              << " directions, " << options.aggregation << ", " << componentNames.size()
              << (componentNames.size() == 1 ? " component\n" : " components\n");
    std::cout << ExampleIO::Join(image->GetLargestPossibleRegion().GetSize(), "x") << " image, ";
    if (options.crop)
    {
      std::cout << ExampleIO::Join(maps->GetLargestPossibleRegion().GetSize(), "x") << " maps, ";
    }
    std::cout << numberOfVoxels << " voxels in " << std::setprecision(3) << seconds.count()
              << " s: " << static_cast<double>(numberOfVoxels) / std::max(seconds.count(), 1e-9) / 1e6
              << " million voxels per second\n";
  }
}

void
Run(const Options & options)
{
  const auto features = GetFeatures(options);
  const auto input = ExampleIO::FindScalarInput(options.input, options.dicom);
  if (!options.quiet && !input.remark.empty())
  {
    std::cout << input.remark << '\n';
  }
  ExampleIO::RunForImageType(input, [&](auto type) { Run<typename decltype(type)::Type>(input, options, features); });
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Compute features of the gray level run length matrix of the window around every voxel.",
                "RunLengthFeatureMaps" };
  ExampleIO::ModuleDescription module(app, "Filtering.Texture", "Run Length Feature Maps");
  AddOptions(app, module, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
