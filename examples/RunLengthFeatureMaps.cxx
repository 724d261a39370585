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

// Run length feature maps of an image file or DICOM directory, from the command line.

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

struct Options
{
  std::string input;
  std::string output;
  std::string mask;
  std::string radius;
  std::string window;
  std::string anchor;
  std::string levels;
  std::string binWidth;
  bool        asLevels{ false };
  std::string range;
  std::string aggregation{ "average" };
  std::string features{ "eleven" };
  std::string offsets{ "all" };
  std::string threads;
  bool        quiet{ false };
};

void
AddOptions(CLI::App & app, Options & options)
{
  app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files")
    ->required();
  app
    .add_option(
      "OUTPUT",
      options.output,
      "image of vectors (.nrrd, .mha, .nii.gz, ...), or a name with %s, such as map_%s.nii.gz, for one scalar "
      "image per component; %s becomes the component's name, such as SRE")
    ->required();
  app.add_option("--mask", options.mask, "image of the same geometry; only voxels where it is not 0 count")
    ->type_name("FILE");
  auto * radius =
    app.add_option("--radius", options.radius, "voxels of the window to each side (default 2)")->type_name("N");
  auto * window = app.add_option("--window", options.window, "size of the window in voxels, instead of --radius")
                    ->type_name("X,Y[,Z]");
  auto * anchor =
    app.add_option("--anchor", options.anchor, "position of the voxel in its window, from 0 (default: the middle)")
      ->type_name("X,Y[,Z]");
  auto * levels = app
                    .add_option("--levels",
                                options.levels,
                                "number of gray levels between minimum and maximum (default 32; with --as-levels the "
                                "image's maximum + 1)")
                    ->type_name("N");
  auto * binWidth =
    app
      .add_option("--bin-width", options.binWidth, "intensities per gray level, from the minimum, instead of --levels")
      ->type_name("W");
  auto * asLevels =
    app.add_flag("--as-levels", options.asLevels, "the intensities are the levels: whole numbers from 0");
  auto * range =
    app
      .add_option("--range",
                  options.range,
                  "minimum and maximum of the intensities; those outside count as the nearer one (default: "
                  "what the image has inside the mask)")
      ->type_name("LO,HI");
  app.add_option("--aggregation", options.aggregation, "per-direction, average or merge: how directions are combined")
    ->type_name("HOW")
    ->capture_default_str();
  app.add_option("--features", options.features, "all (sixteen), eleven, or a list such as SRE,LRE,GLN,RLN,RP")
    ->type_name("LIST")
    ->capture_default_str();
  app.add_option("--offsets", options.offsets, "all directions, or those in-plane (x and y) only")
    ->type_name("all|in-plane")
    ->capture_default_str();
  app.add_option("--threads", options.threads, "number of threads (default: one per processor)")->type_name("N");
  app.add_flag("--quiet", options.quiet, "print nothing but errors");

  window->excludes(radius);
  anchor->needs(window);
  binWidth->excludes(levels)->excludes(asLevels);
  range->excludes(asLevels);
}

Enums::Aggregation
ParseAggregation(const std::string & text)
{
  const std::map<std::string, Enums::Aggregation> values{ { "per-direction", Enums::Aggregation::PerDirection },
                                                          { "average", Enums::Aggregation::Average },
                                                          { "merge", Enums::Aggregation::Merge } };
  const auto                                      found = values.find(text);
  if (found == values.end())
  {
    throw std::runtime_error("--aggregation: '" + text + "' is not per-direction, average or merge");
  }
  return found->second;
}

std::vector<Enums::Feature>
ParseFeatures(const std::string & text)
{
  if (text == "all")
  {
    return Enums::GetAllFeatures();
  }
  if (text == "eleven")
  {
    return Enums::GetElevenFeatures();
  }
  std::vector<Enums::Feature> features;
  for (const auto & name : ExampleIO::SplitAtCommas(text))
  {
    Enums::Feature feature{};
    if (!Enums::FindFeature(name, feature))
    {
      std::string known;
      for (const auto each : Enums::GetAllFeatures())
      {
        known += std::string(known.empty() ? "" : ", ") + Enums::GetAbbreviation(each);
      }
      throw std::runtime_error("--features: there is no feature '" + name + "'; there are " + known);
    }
    features.push_back(feature);
  }
  return features;
}

/** Levels that hold every intensity of an image that is levels already; what is no level is left for the filter. */
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

  if (!options.radius.empty())
  {
    filter->SetNeighborhoodRadius(ExampleIO::ParseNumber<itk::SizeValueType>("--radius", options.radius));
  }
  if (!options.window.empty())
  {
    typename TFilter::SizeType size;
    const auto values = ExampleIO::ParseNumbers<itk::SizeValueType>("--window", options.window, dimension, whyCount);
    std::copy(values.begin(), values.end(), size.begin());
    filter->SetWindowSize(size);
  }
  if (!options.anchor.empty())
  {
    typename TFilter::OffsetType anchor;
    const auto values = ExampleIO::ParseNumbers<itk::OffsetValueType>("--anchor", options.anchor, dimension, whyCount);
    std::copy(values.begin(), values.end(), anchor.begin());
    filter->SetWindowAnchor(anchor);
  }
  if (!options.levels.empty())
  {
    filter->SetNumberOfGrayLevels(ExampleIO::ParseNumber<unsigned int>("--levels", options.levels));
  }
  else if (options.asLevels)
  {
    filter->SetNumberOfGrayLevels(GetNumberOfLevelsInImage(image));
  }
  if (options.asLevels)
  {
    filter->SetDiscretizationMethod(MethodEnum::Identity);
  }
  if (!options.binWidth.empty())
  {
    filter->SetDiscretizationMethod(MethodEnum::FixedBinSize);
    filter->SetBinWidth(ExampleIO::ParseNumber<double>("--bin-width", options.binWidth));
  }
  if (!options.range.empty())
  {
    const auto range = ExampleIO::ParseNumbers<double>("--range", options.range, 2, "a range has 2");
    filter->SetRangeSource(itk::GrayLevelDiscretizationEnums::RangeSource::Given);
    filter->SetRangeMinimum(range[0]);
    filter->SetRangeMaximum(range[1]);
  }
  filter->SetAggregation(ParseAggregation(options.aggregation));
  filter->SetFeatures(ParseFeatures(options.features));
  if (options.offsets != "all" && options.offsets != "in-plane")
  {
    throw std::runtime_error("--offsets: '" + options.offsets + "' is not all or in-plane");
  }
  filter->SetOffsets(options.offsets == "all" ? TFilter::GetAllOffsets() : TFilter::GetInPlaneOffsets());
}

/** The names of the output's files: one, or one per component if the name has a %s. */
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
    // Formats that keep text beside the voxels tell readers what the components are.
    std::string list;
    for (const auto & name : componentNames)
    {
      list += (list.empty() ? "" : ",") + name;
    }
    itk::EncapsulateMetaData<std::string>(maps->GetMetaDataDictionary(), "FeatureNames", list);
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

/** "4x4" for the values 4 and 4. */
template <typename TArray>
std::string
Join(const TArray & values, unsigned int dimension, const char * separator)
{
  std::ostringstream text;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    text << (d == 0 ? "" : separator) << values[d];
  }
  return text.str();
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
  }

  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  WriteMaps(filter->GetOutput(), fileNames, componentNames);

  if (!options.quiet)
  {
    const auto offsets = filter->GetOffsets().size();
    std::cout << options.output << ": " << filter->GetUsedNumberOfGrayLevels() << " levels in ["
              << filter->GetUsedRangeMinimum() << ", " << filter->GetUsedRangeMaximum() << "], window "
              << Join(filter->GetWindowSize(), dimension, "x") << " with the voxel at "
              << Join(filter->GetWindowAnchor(), dimension, ",") << ", " << offsets << " directions, "
              << options.aggregation << ", " << componentNames.size()
              << (componentNames.size() == 1 ? " component\n" : " components\n");
    std::cout << Join(image->GetLargestPossibleRegion().GetSize(), dimension, "x") << " image, " << numberOfVoxels
              << " voxels in " << std::setprecision(3) << seconds.count()
              << " s: " << static_cast<double>(numberOfVoxels) / std::max(seconds.count(), 1e-9) / 1e6
              << " million voxels per second\n";
  }
}

void
Run(const Options & options)
{
  ExampleIO::SetNumberOfThreads(options.threads);

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
  CLI::App app{ "Features of the gray level run length matrix of the window around every voxel.",
                "RunLengthFeatureMaps" };
  AddOptions(app, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
