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

#include "RunLengthFeatureMapsRun.h"
#include "io/SlicerModule.h"

#include <iostream>

namespace
{
using namespace RunLengthFeatureMapsProgram;

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
  const auto [radiusOfFilter, levelsOfFilter] = GetDefaults();
  const auto defaultRadius = std::to_string(radiusOfFilter);
  const auto defaultLevels = std::to_string(levelsOfFilter);

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

void
Run(const Options & options)
{
  const auto features = GetFeatures(options);
  const auto input = ExampleIO::FindScalarInput(options.input, options.dicom);
  if (!options.quiet && !input.remark.empty())
  {
    std::cout << input.remark << '\n';
  }
  input.dimension == 2 ? Run2D(input, options, features) : Run3D(input, options, features);
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
