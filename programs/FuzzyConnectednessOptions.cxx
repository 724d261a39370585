// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessOptions.h"

#include "itkFuzzyConnectednessImageFilter.h"

#include <limits>
#include <sstream>

namespace FuzzyConnectednessProgram
{
namespace
{
const std::vector<std::string> frames{ "lps", "ras" };

/** Accepts a number, and = and a label after it. */
template <typename T>
CLI::Validator
NumberAndLabel()
{
  return CLI::Validator(
    [](std::string & text) -> std::string {
      const auto  equal = text.find('=');
      std::string number = text.substr(0, equal);
      std::string error =
        ProgramIO::DecimalNumber<T>(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max())(number);
      if (error.empty() && equal != std::string::npos)
      {
        std::string label = text.substr(equal + 1);
        error = ProgramIO::DecimalNumber<unsigned short>(1, std::numeric_limits<unsigned short>::max())(label);
        error = error.empty() ? error : "the label " + error;
      }
      return error;
    },
    "");
}

template <typename T>
CLI::Option *
AddSeeds(CLI::App & app, const std::string & name, std::vector<std::vector<std::string>> & value,
         const std::string & description)
{
  return app.add_option(name, value, description)
    ->type_name("X,Y[,Z][=LABEL]")
    ->delimiter(',')
    ->allow_extra_args(false)
    ->check(NumberAndLabel<T>());
}
} // namespace

void
AddOptions(CLI::App & app, ProgramIO::ModuleDescription & module, Options & options)
{
  using ProgramIO::AddNumbers;
  const auto toText = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  const auto defaults = itk::FuzzyConnectednessImageFilter<itk::Image<float, 3>>::New();
  using IndexValue = itk::IndexValueType;

  auto * input =
    app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files");
  input->required();
  auto * output = app.add_option(
    "OUTPUT",
    options.output,
    "image of the strengths (.nii.gz, .nrrd, .mha, ...): 1 at the seeds, 0 if not connected; with --labels, of the "
    "strongest label");
  output->required();
  auto * object = ProgramIO::AddFile(app, "--object", options.object, "image to write: 1 in the object, 0 outside");
  auto * threshold =
    AddNumbers(app, "--threshold", options.threshold, "T", "strength of the weakest voxels of the object", 0.0, 1.0);
  auto * suggestThreshold = app.add_flag("--suggest-threshold",
                                         options.suggestThreshold,
                                         "print the strength above which the object leaks: where its volume grows most "
                                         "relative to itself; with --labels, for each label");
  auto * minimumVolume = AddNumbers(app,
                                    "--minimum-volume",
                                    options.minimumVolume,
                                    "V",
                                    "volume in mm^3 (2D: mm^2) that the object is known to have at least, for "
                                    "--suggest-threshold (default 0)",
                                    0.0,
                                    1e15);
  module.AddGroup("Input and output", "The image, the strengths of connectedness, and the object");
  module.AddImage(input, "Image", "scalar", "input");
  module.AddImage(output, "Strength", "scalar", "output");
  module.AddImage(object, "Object", "label", "output");
  module.AddOptionalNumbers(threshold, "Threshold of the object", "double");
  module.AddFlag(suggestThreshold, "Suggest a threshold");
  module.AddOptionalNumbers(minimumVolume, "Minimum volume of the object", "double");

  AddSeeds<IndexValue>(app,
                       "--seed",
                       options.seeds,
                       "index of a voxel of the object, from 0, and its label with --labels; can be repeated");
  auto * seedPoint =
    AddSeeds<double>(app,
                     "--seed-point",
                     options.seedPoints,
                     "physical point, in mm, of a voxel of the object, and its label with --labels; can be repeated");
  auto * frame = app
                   .add_option("--seed-point-frame",
                               options.seedPointFrame,
                               "x and y of --seed-point grow to the left and posterior (lps, as in ITK and DICOM), or "
                               "to the right and anterior (ras, as in 3D Slicer and NIfTI)")
                   ->type_name("FRAME")
                   ->capture_default_str()
                   ->check(CLI::IsMember(frames));
  auto * seedImage = ProgramIO::AddFile(
    app,
    "--seed-image",
    options.seedImage,
    "image of the same geometry; its voxels that are not 0 are seeds, and with --labels, their values the labels");
  auto * mask = ProgramIO::AddFile(
    app, "--mask", options.mask, "image of the same geometry; paths stay inside its voxels that are not 0");
  module.AddGroup("Seeds and mask", "Where the object is, and where it can be");
  module.AddPoints(seedPoint, "Seed points", frame, frames);
  module.AddImage(seedImage, "Seed label map", "label", "input");
  module.AddImage(mask, "Mask", "label", "input");
  const auto [maskGeometry, tolerance] = ProgramIO::AddMaskGeometryOptions(app, options.maskGeometry);
  module.AddEnumeration(maskGeometry, "Geometry of mask and seeds", { "check", "ignore" });
  module.AddOptionalNumbers(tolerance, "Tolerance of the geometry", "double");

  auto * cropToSeeds = app.add_flag("--crop-to-seeds",
                                    options.cropToSeeds,
                                    "compute only the bounding box of all seeds and a margin, as if the image ended "
                                    "there; outside, all outputs are 0");
  auto * cropMargin = AddNumbers(app,
                                 "--crop-margin",
                                 options.cropMargin,
                                 "N[,N,N]",
                                 "margin of --crop-to-seeds at both ends of each axis, in voxels (default " +
                                   toText(defaults->GetCropMargin()[0]) + ")",
                                 0.0);
  auto * cropMarginInMillimeters =
    app.add_flag("--crop-margin-mm", options.cropMarginInMillimeters, "--crop-margin is in millimeters");
  module.AddFlag(cropToSeeds, "Crop to the seeds");
  module.AddOptionalNumbers(cropMargin, "Margin of the crop", "double");
  module.AddFlag(cropMarginInMillimeters, "Margin in millimeters");

  auto * labels =
    ProgramIO::AddFile(app,
                       "--labels",
                       options.labels,
                       "image to write: the label of the seeds to which a voxel is connected most strongly, "
                       "0 if to none; then each seed has a label from 1 to 65535");
  auto * margin =
    ProgramIO::AddFile(app,
                       "--margin",
                       options.margin,
                       "image to write: strength of the label minus that of the strongest other label, which "
                       "tells how certain the label is");
  auto * competition = app
                         .add_option("--competition",
                                     options.competition,
                                     "a voxel goes to the label of greatest strength (relative), or to the label whose "
                                     "strongest paths no other label cuts off (iterative)")
                         ->type_name("HOW")
                         ->capture_default_str()
                         ->check(CLI::IsMember(competitions));
  auto * ties = app
                  .add_option("--ties",
                              options.ties,
                              "a voxel that several labels have the same claim to gets 0 (background) or the lowest of "
                              "these labels (lowest)")
                  ->type_name("HOW")
                  ->capture_default_str()
                  ->check(CLI::IsMember(tieRules));
  module.AddGroup("Labels", "Several objects that compete for voxels");
  module.AddImage(labels, "Labels", "label", "output");
  module.AddImage(margin, "Margin", "scalar", "output");
  module.AddEnumeration(competition, "Competition", ProgramIO::GetKeys(competitions));
  module.AddEnumeration(ties, "Ties", ProgramIO::GetKeys(tieRules));

  auto * affinity = app.add_option("--affinity", options.affinity, "affinity function")
                      ->type_name("HOW")
                      ->capture_default_str()
                      ->check(CLI::IsMember(affinities));
  auto * mean = AddNumbers(app, "--mean", options.mean, "M", "mean intensity of the object");
  auto * variance = AddNumbers(app, "--variance", options.variance, "V", "variance of the intensities of the object");
  auto * differenceVariance = AddNumbers(app,
                                         "--difference-variance",
                                         options.differenceVariance,
                                         "D",
                                         "variance of the differences between neighbors in the object");
  auto * differenceMean = AddNumbers(app,
                                     "--difference-mean",
                                     options.differenceMean,
                                     "M",
                                     "mean of these differences, for --affinity weighted-sum (default " +
                                       toText(defaults->GetDifferenceMean()) + ")");
  auto * weight = AddNumbers(app,
                             "--weight",
                             options.weight,
                             "W",
                             "weight of the intensity, from 0 to 1, for --affinity weighted-sum (default " +
                               toText(defaults->GetWeight()) + ")",
                             0.0,
                             1.0);
  auto * estimateRadius =
    AddNumbers(app,
               "--estimate-radius",
               options.estimateRadius,
               "N",
               "estimate mean and variances from windows of this radius around the seeds "
               "(default " +
                 std::to_string(defaults->GetEstimationRadius()) + ", unless mean and variances are given)");
  module.AddGroup("Affinity", "How alike neighboring voxels of the object are");
  module.AddEnumeration(affinity, "Affinity", ProgramIO::GetKeys(affinities));
  module.AddOptionalNumbers(mean, "Mean", "double");
  module.AddOptionalNumbers(variance, "Variance", "double");
  module.AddOptionalNumbers(differenceVariance, "Difference variance", "double");
  module.AddOptionalNumbers(differenceMean, "Difference mean", "double");
  module.AddOptionalNumbers(weight, "Weight", "double");
  module.AddOptionalNumbers(estimateRadius, "Estimation radius", "integer");

  auto * minimumStrength = AddNumbers(app,
                                      "--minimum-strength",
                                      options.minimumStrength,
                                      "T",
                                      "set weaker voxels to 0, which is faster than computing all strengths",
                                      0.0,
                                      1.0)
                             ->capture_default_str();
  auto * connectivity = AddNumbers(app,
                                   "--connectivity",
                                   options.connectivity,
                                   "N",
                                   "number of neighbors of a voxel: 4 or 8 in 2D, 6, 18 or 26 in 3D (default 4 or 6)");
  auto * distanceWeighting = app.add_flag(
    "--distance-weighting", options.distanceWeighting, "reduce the affinity of neighbors with their distance");
  auto * method = app.add_option("--method", options.method, "algorithm; all give the same result")
                    ->type_name("HOW")
                    ->capture_default_str()
                    ->check(CLI::IsMember(methods));
  module.AddGroup("Paths", "How the strengths are computed");
  module.AddNumber(minimumStrength, "Minimum strength", 0.0, 1.0, 0.01);
  module.AddOptionalNumbers(connectivity, "Connectivity", "integer");
  module.AddFlag(distanceWeighting, "Weight by distance");
  module.AddEnumeration(method, "Method", ProgramIO::GetKeys(methods));
  ProgramIO::AddDicomOptions(app, options.input, options.dicom);
  ProgramIO::AddRunOptions(app, options.quiet);
  module.AddProgressOption(options.progressXML);

  threshold->needs(object);
  object->needs(threshold);
  object->excludes(labels);
  margin->needs(labels);
  minimumVolume->needs(suggestThreshold);
  cropMargin->needs(cropToSeeds);
  cropMarginInMillimeters->needs(cropMargin);
  suggestThreshold->excludes(app.get_option("--quiet"));
}

void
VerifyOptions(const Options & options)
{
  if (options.seeds.empty() && options.seedPoints.empty() && options.seedImage.empty())
  {
    throw std::runtime_error("there is no seed: give --seed, --seed-point or --seed-image");
  }
  // Not by CLI11: 3D Slicer always passes options with a list of values.
  if (options.labels.empty() && options.competition != "relative")
  {
    throw std::runtime_error("--competition " + options.competition + " is for --labels");
  }
  if (options.labels.empty() && options.ties != "background")
  {
    throw std::runtime_error("--ties " + options.ties + " is for --labels");
  }
  if (!options.labels.empty() && options.method != "automatic")
  {
    throw std::runtime_error("--method " + options.method + " is for one object, but there are --labels");
  }
  if (!options.object.empty() && options.threshold < options.minimumStrength)
  {
    throw std::runtime_error("--threshold " + ProgramIO::ToText(options.threshold) +
                             " has no effect below --minimum-strength " + ProgramIO::ToText(options.minimumStrength));
  }
  ProgramIO::VerifyMaskGeometryRules(options.maskGeometry, !options.mask.empty() || !options.seedImage.empty());
}

template <typename T>
Seed<T>
ParseSeed(const std::string & option, const std::vector<std::string> & words, const Options & options)
{
  const std::string text = ProgramIO::Join(words);
  Seed<T>           seed;
  for (const std::string & word : words)
  {
    const auto equal = word.find('=');
    T          number{};
    std::from_chars(word.data(), word.data() + std::min(equal, word.size()), number);
    seed.place.push_back(number);
    if (equal != std::string::npos)
    {
      if (&word != &words.back())
      {
        throw std::runtime_error(option + ": '" + text + "' has a label that is not at its end");
      }
      std::from_chars(word.data() + equal + 1, word.data() + word.size(), seed.label);
    }
  }
  if (options.labels.empty() && seed.label != 0)
  {
    throw std::runtime_error(option + ": '" + text + "' has a label, which is for --labels");
  }
  if (!options.labels.empty() && seed.label == 0)
  {
    throw std::runtime_error(option + ": '" + text + "' has no label, but --labels needs one, such as " + text + "=1");
  }
  return seed;
}

template Seed<itk::IndexValueType>
ParseSeed(const std::string &, const std::vector<std::string> &, const Options &);
template Seed<double>
ParseSeed(const std::string &, const std::vector<std::string> &, const Options &);
} // namespace FuzzyConnectednessProgram
