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

// Computes the strength of connectedness of every voxel of an image file or DICOM directory to seeds from the command
// line.

#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/CommandLine.h"
#include "io/SlicerModule.h"
#include "io/Progress.h"
#include "itkBinaryThresholdImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>

namespace
{
using Enums = itk::FuzzyConnectednessEnums;

const std::map<std::string, Enums::AffinityFunction> affinities{
  { "geometric-mean", Enums::AffinityFunction::GeometricMean },
  { "weighted-sum", Enums::AffinityFunction::WeightedSum },
  { "minimum", Enums::AffinityFunction::Minimum },
  { "homogeneity", Enums::AffinityFunction::Homogeneity }
};
const std::map<std::string, Enums::Method> methods{ { "automatic", Enums::Method::Automatic },
                                                    { "queue", Enums::Method::Queue },
                                                    { "buckets", Enums::Method::Buckets },
                                                    { "tiles", Enums::Method::Tiles },
                                                    { "hierarchy", Enums::Method::Hierarchy } };

const std::vector<std::string> frames{ "lps", "ras" };

struct Options
{
  std::string                                   input;
  std::string                                   output;
  std::vector<std::vector<itk::IndexValueType>> seeds;
  std::vector<std::vector<double>>              seedPoints;
  std::string                                   seedPointFrame{ "lps" };
  std::string                                   seedImage;
  std::string                                   mask;
  ExampleIO::MaskGeometryRules                  maskGeometry;
  std::string                                   affinity{ "geometric-mean" };
  std::optional<double>                         mean;
  std::optional<double>                         variance;
  std::optional<double>                         differenceMean;
  std::optional<double>                         differenceVariance;
  std::optional<double>                         weight;
  std::optional<unsigned int>                   estimateRadius;
  double                                        minimumStrength{ 0.0 };
  std::optional<unsigned int>                   connectivity;
  bool                                          distanceWeighting{ false };
  double                                        threshold{ 0.0 };
  std::string                                   object;
  std::string                                   method{ "automatic" };
  bool                                          quiet{ false };
  bool                                          progressXML{ false };
  ExampleIO::DicomOptions                       dicom;
};

void
AddOptions(CLI::App & app, ExampleIO::ModuleDescription & module, Options & options)
{
  using ExampleIO::AddNumbers;
  const auto toText = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  const auto defaults = itk::FuzzyConnectednessImageFilter<itk::Image<float, 3>>::New();

  auto * input =
    app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files");
  input->required();
  auto * output = app.add_option(
    "OUTPUT", options.output, "image of the strengths (.nii.gz, .nrrd, .mha, ...): 1 at the seeds, 0 if not connected");
  output->required();
  auto * object = ExampleIO::AddFile(app, "--object", options.object, "image to write: 1 in the object, 0 outside");
  auto * threshold =
    AddNumbers(app, "--threshold", options.threshold, "T", "strength of the weakest voxels of the object", 0.0, 1.0);
  module.AddGroup("Input and output", "The image, the strengths of connectedness, and the object");
  module.AddImage(input, "Image", "scalar", "input");
  module.AddImage(output, "Strength", "scalar", "output");
  module.AddImage(object, "Object", "label", "output");
  module.AddOptionalNumbers(threshold, "Threshold of the object", "double");

  AddNumbers(app, "--seed", options.seeds, "X,Y[,Z]", "index of a voxel of the object, from 0; can be repeated");
  auto * seedPoint = AddNumbers(app,
                                "--seed-point",
                                options.seedPoints,
                                "X,Y[,Z]",
                                "physical point, in mm, of a voxel of the object; can be repeated");
  auto * frame = app
                   .add_option("--seed-point-frame",
                               options.seedPointFrame,
                               "x and y of --seed-point grow to the left and posterior (lps, as in ITK and DICOM), or "
                               "to the right and anterior (ras, as in 3D Slicer and NIfTI)")
                   ->type_name("FRAME")
                   ->capture_default_str()
                   ->check(CLI::IsMember(frames));
  auto * seedImage = ExampleIO::AddFile(
    app, "--seed-image", options.seedImage, "image of the same geometry; its voxels that are not 0 are seeds");
  auto * mask = ExampleIO::AddFile(
    app, "--mask", options.mask, "image of the same geometry; paths stay inside its voxels that are not 0");
  module.AddGroup("Seeds and mask", "Where the object is, and where it can be");
  module.AddPoints(seedPoint, "Seed points", frame, frames);
  module.AddImage(seedImage, "Seed label map", "label", "input");
  module.AddImage(mask, "Mask", "label", "input");
  const auto [maskGeometry, tolerance] = ExampleIO::AddMaskGeometryOptions(app, options.maskGeometry);
  module.AddEnumeration(maskGeometry, "Geometry of mask and seeds", { "check", "ignore" });
  module.AddOptionalNumbers(tolerance, "Tolerance of the geometry", "double");

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
  module.AddEnumeration(affinity, "Affinity", ExampleIO::GetKeys(affinities));
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
  module.AddEnumeration(method, "Method", ExampleIO::GetKeys(methods));
  ExampleIO::AddDicomOptions(app, options.input, options.dicom);
  ExampleIO::AddRunOptions(app, options.quiet);
  module.AddProgressOption(options.progressXML);

  threshold->needs(object);
  object->needs(threshold);
}

Enums::Adjacency
GetAdjacency(unsigned int connectivity, unsigned int dimension)
{
  const auto adjacencies =
    dimension == 2
      ? std::map<unsigned int, Enums::Adjacency>{ { 4, Enums::Adjacency::Face }, { 8, Enums::Adjacency::Full } }
      : std::map<unsigned int, Enums::Adjacency>{ { 6, Enums::Adjacency::Face },
                                                  { 18, Enums::Adjacency::FaceEdge },
                                                  { 26, Enums::Adjacency::Full } };
  const auto found = adjacencies.find(connectivity);
  if (found == adjacencies.end())
  {
    throw std::runtime_error("--connectivity: " + std::to_string(connectivity) + " is not " +
                             (dimension == 2 ? "4 or 8, as for a 2D image" : "6, 18 or 26, as for a 3D image"));
  }
  return found->second;
}

/** Set the parameters of the affinity, or let the filter estimate them if none are given. */
template <typename TFilter>
void
SetAffinity(TFilter * filter, const Options & options)
{
  const auto affinity = affinities.at(options.affinity);
  filter->SetAffinityFunction(affinity);
  if (affinity != Enums::AffinityFunction::WeightedSum && (options.weight || options.differenceMean))
  {
    throw std::runtime_error("--weight and --difference-mean are for --affinity weighted-sum");
  }
  filter->SetWeight(options.weight.value_or(filter->GetWeight()));
  filter->SetDifferenceMean(options.differenceMean.value_or(filter->GetDifferenceMean()));

  if (!options.mean && !options.variance && !options.differenceVariance && !options.differenceMean)
  {
    filter->EstimateAffinityFromSeedsOn();
    filter->SetEstimationRadius(options.estimateRadius.value_or(filter->GetEstimationRadius()));
    return;
  }
  if (options.estimateRadius)
  {
    throw std::runtime_error("--estimate-radius excludes means and variances");
  }
  if (!options.differenceVariance)
  {
    throw std::runtime_error("--difference-variance is required if the affinity is not estimated");
  }
  filter->EstimateAffinityFromSeedsOff();
  filter->SetDifferenceVariance(*options.differenceVariance);
  if (affinity == Enums::AffinityFunction::Homogeneity)
  {
    if (options.mean || options.variance)
    {
      throw std::runtime_error("--affinity homogeneity has no --mean and --variance");
    }
    return;
  }
  if (!options.mean || !options.variance)
  {
    throw std::runtime_error("--mean and --variance are required if the affinity is not estimated");
  }
  filter->SetObjectMean(*options.mean);
  filter->SetObjectVariance(*options.variance);
}

/** The seeds that are given as indices and as points. */
template <typename TImage>
std::vector<typename TImage::IndexType>
GetSeeds(const TImage * image, const Options & options)
{
  const auto        region = image->GetLargestPossibleRegion();
  const std::string whyCount = "the image has " + std::to_string(TImage::ImageDimension) + " axes";

  std::vector<typename TImage::IndexType> seeds;
  for (const auto & values : options.seeds)
  {
    typename TImage::OffsetType fromFirst;
    ExampleIO::CopyNumbers("--seed", values, fromFirst, whyCount);
    seeds.push_back(region.GetIndex() + fromFirst);
  }
  for (const auto & values : options.seedPoints)
  {
    typename TImage::PointType point;
    typename TImage::IndexType seed;
    ExampleIO::CopyNumbers("--seed-point", values, point, whyCount);
    if (options.seedPointFrame == "ras")
    {
      point[0] = -point[0];
      point[1] = -point[1];
    }
    if (!image->TransformPhysicalPointToIndex(point, seed))
    {
      throw std::runtime_error("--seed-point: " + ExampleIO::Join(values) + " (" + options.seedPointFrame +
                               ") is outside the image");
    }
    seeds.push_back(seed);
  }
  return seeds;
}

/** 1 where the strength is at least the threshold, 0 elsewhere. */
template <typename TStrengthImage>
auto
GetObject(const TStrengthImage * strength, double threshold)
{
  using ObjectType = itk::Image<unsigned char, TStrengthImage::ImageDimension>;
  using PixelType = typename TStrengthImage::PixelType;

  // Rounding to the pixel type must not lower the threshold.
  auto lowest = static_cast<PixelType>(threshold);
  if (static_cast<double>(lowest) < threshold)
  {
    lowest = std::nextafter(lowest, std::numeric_limits<PixelType>::max());
  }
  auto binary = itk::BinaryThresholdImageFilter<TStrengthImage, ObjectType>::New();
  binary->SetInput(strength);
  binary->SetLowerThreshold(lowest);
  binary->SetInsideValue(1);
  binary->SetOutsideValue(0);
  binary->Update();
  typename ObjectType::Pointer object = binary->GetOutput();
  object->DisconnectPipeline();
  return object;
}

/** "1234 voxels, 567 mm^3". */
template <typename TImage>
std::string
DescribeSize(const TImage * image)
{
  const auto * pixels = image->GetBufferPointer();
  const auto   end = pixels + image->GetLargestPossibleRegion().GetNumberOfPixels();
  const auto   count = std::count_if(pixels, end, [](auto pixel) { return pixel > 0; });

  double volume = static_cast<double>(count);
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    volume *= image->GetSpacing()[d];
  }
  std::ostringstream text;
  text << count << (count == 1 ? " voxel, " : " voxels, ") << volume
       << (TImage::ImageDimension == 2 ? " mm^2" : " mm^3");
  return text.str();
}

template <typename TFilter>
void
PrintAffinity(const TFilter * filter, const Options & options)
{
  const bool isEstimated = !options.differenceVariance;
  std::cout << "affinity " << options.affinity << ": ";
  if (options.affinity != "homogeneity")
  {
    std::cout << "mean " << filter->GetUsedObjectMean() << ", variance " << filter->GetUsedObjectVariance() << ", ";
  }
  if (options.affinity == "weighted-sum")
  {
    std::cout << "difference mean " << filter->GetUsedDifferenceMean() << ", ";
  }
  std::cout << "difference variance " << filter->GetUsedDifferenceVariance()
            << (isEstimated ? ", estimated from the seeds\n" : "\n");
}

/** A mask or seed image with the geometry of the image. */
template <typename TImage>
auto
ReadMatchingMask(const std::string & what, const std::string & name, const TImage * image, const Options & options)
{
  const auto mask = ExampleIO::ReadMaskFor<TImage::ImageDimension>(what, name);
  const auto remark =
    ExampleIO::MatchGeometry(mask.GetPointer(), "the " + what + " '" + name + "'", image, options.maskGeometry);
  if (!options.quiet && !remark.empty())
  {
    std::cout << remark << "; ignored\n";
  }
  return mask;
}

template <typename TImage>
void
Run(const ExampleIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;

  auto filter = itk::FuzzyConnectednessImageFilter<TImage>::New();
  SetAffinity(filter.GetPointer(), options);
  filter->SetMethod(methods.at(options.method));
  if (options.connectivity)
  {
    filter->SetAdjacency(GetAdjacency(*options.connectivity, dimension));
  }
  filter->SetDistanceWeighting(options.distanceWeighting);
  filter->SetMinimumStrength(options.minimumStrength);

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  filter->SetInput(image);
  filter->SetSeeds(GetSeeds(image.GetPointer(), options));
  if (!options.seedImage.empty())
  {
    filter->SetSeedImage(ReadMatchingMask("seed image", options.seedImage, image.GetPointer(), options));
  }
  if (!options.mask.empty())
  {
    filter->SetMaskImage(ReadMatchingMask("mask", options.mask, image.GetPointer(), options));
  }
  using StrengthType = typename itk::FuzzyConnectednessImageFilter<TImage>::OutputImageType;
  using ObjectType = itk::Image<unsigned char, dimension>;
  ExampleIO::OutputFiles outputs({ options.input, options.seedImage, options.mask });
  outputs.AddImage(options.output, ExampleIO::GetProperties<StrengthType>(image.GetPointer()));
  if (!options.object.empty())
  {
    outputs.AddImage(options.object, ExampleIO::GetProperties<ObjectType>(image.GetPointer()));
  }

  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet, options.progressXML);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const auto *                 strength = filter->GetOutput();
  typename ObjectType::Pointer object;
  outputs.WriteImage(strength, options.output);
  if (!options.object.empty())
  {
    object = GetObject(strength, options.threshold);
    outputs.WriteImage(object.GetPointer(), options.object);
  }
  outputs.Commit();

  if (!options.quiet)
  {
    PrintAffinity(filter.GetPointer(), options);
    std::cout << options.output << ": strength > 0 in " << DescribeSize(strength) << '\n';
    if (object)
    {
      std::cout << options.object << ": strength >= " << options.threshold << " in "
                << DescribeSize(object.GetPointer()) << '\n';
    }
    std::cout << std::setprecision(3) << seconds.count() << " s for "
              << image->GetLargestPossibleRegion().GetNumberOfPixels() << " voxels\n";
  }
}

void
Run(const Options & options)
{
  if (options.seeds.empty() && options.seedPoints.empty() && options.seedImage.empty())
  {
    throw std::runtime_error("there is no seed: give --seed, --seed-point or --seed-image");
  }

  const auto input = ExampleIO::FindScalarInput(options.input, options.dicom);
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
  CLI::App app{ "Compute the strength of connectedness of every voxel to the seeds.", "FuzzyConnectedness" };
  ExampleIO::ModuleDescription module(app, "Segmentation", "Fuzzy Connectedness");
  AddOptions(app, module, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
