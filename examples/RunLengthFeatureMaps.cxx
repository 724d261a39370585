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

#include "ExampleCrop.h"
#include "ExampleIO.h"
#include "ExampleMain.h"
#include "ExampleProgress.h"
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

struct Options
{
  std::string                       input;
  std::string                       output;
  std::string                       mask;
  std::optional<itk::SizeValueType> radius;
  std::vector<itk::SizeValueType>   window;
  std::vector<itk::OffsetValueType> anchor;
  std::optional<unsigned int>       levels;
  std::optional<double>             binWidth;
  bool                              asLevels{ false };
  std::vector<double>               range;
  std::string                       aggregation{ "average" };
  std::vector<std::string>          features{ "eleven" };
  std::string                       offsets{ "all" };
  bool                              crop{ false };
  bool                              quiet{ false };
};

void
AddOptions(CLI::App & app, Options & options)
{
  using ExampleIO::AddNumbers;
  app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files")
    ->required();
  app
    .add_option("OUTPUT",
                options.output,
                "vector image (.nrrd, .mha, .nii.gz, ...); or a name with %s, such as map_%s.nii.gz, for one scalar "
                "image per component, where %s stands for the name of the component, such as SRE")
    ->required();
  auto * mask =
    app.add_option("--mask", options.mask, "image of the same geometry; only voxels where it is not 0 count")
      ->type_name("FILE");
  auto * crop =
    app.add_flag("--crop",
                 options.crop,
                 "compute and write only the bounding box of the mask plus the window; the maps overlay the image");
  auto * radius =
    AddNumbers(app, "--radius", options.radius, "N", "radius of the window: its voxels on each side (default 2)");
  auto * window =
    AddNumbers(app, "--window", options.window, "X,Y[,Z]", "size of the window in voxels, instead of --radius");
  auto * anchor = AddNumbers(
    app, "--anchor", options.anchor, "X,Y[,Z]", "position of the voxel in its window, from 0 (default: the middle)");
  auto * levels = AddNumbers(app,
                             "--levels",
                             options.levels,
                             "N",
                             "number of gray levels between minimum and maximum (default 32; with --as-levels the "
                             "image's maximum + 1)");
  auto * binWidth = AddNumbers(
    app, "--bin-width", options.binWidth, "W", "width of a gray level, from the minimum, instead of --levels");
  auto * asLevels =
    app.add_flag("--as-levels", options.asLevels, "use the intensities, whole numbers from 0, as gray levels");
  auto * range = AddNumbers(app,
                            "--range",
                            options.range,
                            "LO,HI",
                            "minimum and maximum of the intensities; values outside are clamped (default: those of "
                            "the image, inside the mask)");
  app.add_option("--aggregation", options.aggregation, "how to combine the directions")
    ->type_name("HOW")
    ->capture_default_str()
    ->check(CLI::IsMember(aggregations));
  app.add_option("--features", options.features, "all (sixteen), eleven, or a list such as SRE,LRE,GLN,RLN,RP")
    ->type_name("LIST")
    ->delimiter(',')
    ->allow_extra_args(false)
    ->default_str("eleven");
  app.add_option("--offsets", options.offsets, "all directions, or only those in the plane of x and y")
    ->type_name("WHICH")
    ->capture_default_str()
    ->check(CLI::IsMember({ "all", "in-plane" }));
  ExampleIO::AddRunOptions(app, options.quiet);

  crop->needs(mask);
  window->excludes(radius);
  anchor->needs(window);
  binWidth->excludes(levels)->excludes(asLevels);
  range->excludes(asLevels);
}

std::vector<Enums::Feature>
GetFeatures(const std::vector<std::string> & names)
{
  if (names.size() == 1 && names.front() == "all")
  {
    return Enums::GetAllFeatures();
  }
  if (names.size() == 1 && names.front() == "eleven")
  {
    return Enums::GetElevenFeatures();
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
  filter->SetFeatures(GetFeatures(options.features));
  filter->SetOffsets(options.offsets == "all" ? TFilter::GetAllOffsets() : TFilter::GetInPlaneOffsets());
}

/** The names of the output files: one, or one per component if the name contains %s. */
std::vector<std::string>
GetOutputNames(const std::string & pattern, const std::vector<std::string> & componentNames)
{
  const auto position = pattern.find("%s");
  if (position == std::string::npos)
  {
    return { pattern };
  }
  std::vector<std::string> names;
  for (const auto & component : componentNames)
  {
    names.push_back(std::string(pattern).replace(position, 2, component));
  }
  return names;
}

template <typename TMaps>
void
WriteMaps(TMaps * maps, const std::vector<std::string> & fileNames, const std::vector<std::string> & componentNames)
{
  constexpr unsigned int dimension = TMaps::ImageDimension;
  if (fileNames.size() == 1 && componentNames.size() > 1)
  {
    // Formats that can store metadata keep the names of the components.
    itk::EncapsulateMetaData<std::string>(
      maps->GetMetaDataDictionary(), "FeatureNames", ExampleIO::Join(componentNames));
    ExampleIO::WriteFile(maps, fileNames.front());
    return;
  }
  using ComponentImageType = itk::Image<float, dimension>;
  auto component = itk::VectorIndexSelectionCastImageFilter<TMaps, ComponentImageType>::New();
  component->SetInput(maps);
  for (unsigned int i = 0; i < fileNames.size(); ++i)
  {
    component->SetIndex(i);
    component->Update();
    ExampleIO::WriteFile(component->GetOutput(), fileNames[i]);
  }
}

/** Request only the part of the maps that the mask needs. */
template <typename TFilter, typename TMask>
void
RequestMask(TFilter * filter, const TMask * mask, const Options & options)
{
  // This compares the geometry of the mask with that of the image.
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
Run(const ExampleIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  auto       filter = itk::RunLengthFeatureMapImageFilter<TImage>::New();
  SetParameters(filter.GetPointer(), image.GetPointer(), options);
  filter->SetInput(image);

  const auto componentNames = filter->GetFeatureNames();
  const auto fileNames = GetOutputNames(options.output, componentNames);
  for (const auto & name : fileNames)
  {
    ExampleIO::CheckOutput(name);
  }

  auto numberOfVoxels = image->GetLargestPossibleRegion().GetNumberOfPixels();
  if (!options.mask.empty())
  {
    const auto mask = ExampleIO::ReadMaskFor<dimension>("mask", options.mask);
    filter->SetMaskImage(mask);
    const unsigned char * inside = mask->GetBufferPointer();
    numberOfVoxels = std::count(inside, inside + mask->GetLargestPossibleRegion().GetNumberOfPixels(), 1);
    if (options.crop)
    {
      RequestMask(filter.GetPointer(), mask.GetPointer(), options);
    }
  }

  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const typename itk::RunLengthFeatureMapImageFilter<TImage>::OutputImageType::Pointer maps = filter->GetOutput();
  maps->DisconnectPipeline();
  ExampleIO::ShrinkToBuffer(maps.GetPointer());
  WriteMaps(maps.GetPointer(), fileNames, componentNames);

  if (!options.quiet)
  {
    const auto offsets = filter->GetOffsets().size();
    std::cout << options.output << ": " << filter->GetUsedNumberOfGrayLevels() << " levels in ["
              << filter->GetUsedRangeMinimum() << ", " << filter->GetUsedRangeMaximum() << "], window "
              << ExampleIO::Join(filter->GetWindowSize(), "x") << " with the voxel at "
              << ExampleIO::Join(filter->GetWindowAnchor()) << ", " << offsets << " directions, " << options.aggregation
              << ", " << componentNames.size() << (componentNames.size() == 1 ? " component\n" : " components\n");
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
  const auto input = ExampleIO::FindScalarInput(options.input);
  if (!options.quiet && !input.remark.empty())
  {
    std::cout << input.remark << '\n';
  }
  ExampleIO::RunForImageType(input, [&](auto type) { Run<typename decltype(type)::Type>(input, options); });
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Compute features of the gray level run length matrix of the window around every voxel.",
                "RunLengthFeatureMaps" };
  AddOptions(app, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
