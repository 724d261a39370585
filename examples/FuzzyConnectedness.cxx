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

// The strength of connectedness of every voxel of an image file or DICOM directory with seeds, from the command line.

#include "ExampleIO.h"
#include "ExampleMain.h"
#include "ExampleProgress.h"
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

struct Options
{
  std::string              input;
  std::string              output;
  std::vector<std::string> seeds;
  std::vector<std::string> seedPoints;
  std::string              seedImage;
  std::string              mask;
  std::string              affinity{ "geometric-mean" };
  std::string              mean;
  std::string              variance;
  std::string              differenceMean;
  std::string              differenceVariance;
  std::string              weight;
  std::string              estimateRadius;
  std::string              minimumStrength;
  std::string              connectivity;
  bool                     distanceWeighting{ false };
  std::string              threshold;
  std::string              object;
  std::string              method{ "automatic" };
  std::string              threads;
  bool                     quiet{ false };
};

void
AddOptions(CLI::App & app, Options & options)
{
  app.add_option("INPUT", options.input, "2D or 3D image: any file that ITK reads, or a directory of DICOM files")
    ->required();
  app
    .add_option("OUTPUT",
                options.output,
                "image of the strengths (.nii.gz, .nrrd, .mha, ...): 1 at the seeds, 0 if not connected")
    ->required();
  app.add_option("--seed", options.seeds, "index of a voxel of the object, from 0; may be given several times")
    ->type_name("X,Y[,Z]")
    ->allow_extra_args(false);
  app.add_option("--seed-point", options.seedPoints, "the same as a physical point, in mm")
    ->type_name("X,Y[,Z]")
    ->allow_extra_args(false);
  app
    .add_option(
      "--seed-image", options.seedImage, "image of the same geometry; voxels where it is not 0 are seeds as well")
    ->type_name("FILE");
  app.add_option("--mask", options.mask, "image of the same geometry; no path leaves the voxels where it is not 0")
    ->type_name("FILE");

  app.add_option("--affinity", options.affinity, "geometric-mean, weighted-sum, minimum or homogeneity")
    ->type_name("HOW")
    ->capture_default_str();
  app.add_option("--mean", options.mean, "intensity of the object")->type_name("M");
  app.add_option("--variance", options.variance, "of the object's intensities")->type_name("V");
  app
    .add_option(
      "--difference-variance", options.differenceVariance, "of the differences between neighbors in the object")
    ->type_name("D");
  app
    .add_option(
      "--difference-mean", options.differenceMean, "of the differences, for --affinity weighted-sum (default 0)")
    ->type_name("M");
  app
    .add_option("--weight", options.weight, "of the intensity, from 0 to 1, for --affinity weighted-sum (default 0.5)")
    ->type_name("W");
  app
    .add_option("--estimate-radius",
                options.estimateRadius,
                "estimate mean and variances from the voxels around the seeds, so many to each side (default 2, unless "
                "they are given)")
    ->type_name("N");
  app
    .add_option(
      "--minimum-strength", options.minimumStrength, "weaker voxels get 0, which is faster than all (default 0)")
    ->type_name("T");
  app
    .add_option("--connectivity",
                options.connectivity,
                "number of neighbors of a voxel: 4 or 8 in 2D, 6, 18 or 26 in 3D (default 4 or 6)")
    ->type_name("N");
  app.add_flag("--distance-weighting", options.distanceWeighting, "neighbors farther away, in mm, are less connected");

  auto * threshold =
    app.add_option("--threshold", options.threshold, "strength of the weakest voxels of the object")->type_name("T");
  auto * object =
    app.add_option("--object", options.object, "image to write: 1 in the object, 0 outside")->type_name("FILE");
  app.add_option("--method", options.method, "automatic, queue, buckets, tiles or hierarchy; the result is the same")
    ->type_name("HOW")
    ->capture_default_str();
  app.add_option("--threads", options.threads, "number of threads (default: one per processor)")->type_name("N");
  app.add_flag("--quiet", options.quiet, "print nothing but errors");

  threshold->needs(object);
  object->needs(threshold);
}

/** The value of a word; the option's name is for the message if there is none. */
template <typename T>
T
ParseWord(const std::string & option, const std::string & text, const std::map<std::string, T> & values)
{
  const auto found = values.find(text);
  if (found == values.end())
  {
    std::string known;
    for (const auto & value : values)
    {
      known += (known.empty() ? "" : ", ") + value.first;
    }
    throw std::runtime_error(option + ": '" + text + "' is none of " + known);
  }
  return found->second;
}

Enums::Adjacency
ParseConnectivity(const std::string & text, unsigned int dimension)
{
  if (dimension == 2)
  {
    return ParseWord<Enums::Adjacency>(
      "--connectivity", text, { { "4", Enums::Adjacency::Face }, { "8", Enums::Adjacency::Full } });
  }
  return ParseWord<Enums::Adjacency>(
    "--connectivity",
    text,
    { { "6", Enums::Adjacency::Face }, { "18", Enums::Adjacency::FaceEdge }, { "26", Enums::Adjacency::Full } });
}

/** A number from 0 to 1. */
double
ParseShare(const std::string & option, const std::string & text)
{
  const auto value = ExampleIO::ParseNumber<double>(option, text);
  if (!(value >= 0.0 && value <= 1.0))
  {
    throw std::runtime_error(option + ": " + text + " is not from 0 to 1");
  }
  return value;
}

/** The affinity as told, or to be estimated if nothing is told. */
template <typename TFilter>
void
SetAffinity(TFilter * filter, const Options & options)
{
  const auto affinity =
    ParseWord<Enums::AffinityFunction>("--affinity",
                                       options.affinity,
                                       { { "geometric-mean", Enums::AffinityFunction::GeometricMean },
                                         { "weighted-sum", Enums::AffinityFunction::WeightedSum },
                                         { "minimum", Enums::AffinityFunction::Minimum },
                                         { "homogeneity", Enums::AffinityFunction::Homogeneity } });
  filter->SetAffinityFunction(affinity);

  const bool isWeightedSum = affinity == Enums::AffinityFunction::WeightedSum;
  if (!isWeightedSum && !(options.weight.empty() && options.differenceMean.empty()))
  {
    throw std::runtime_error("--weight and --difference-mean are for --affinity weighted-sum");
  }
  if (!options.weight.empty())
  {
    filter->SetWeight(ParseShare("--weight", options.weight));
  }
  if (!options.differenceMean.empty())
  {
    filter->SetDifferenceMean(ExampleIO::ParseNumber<double>("--difference-mean", options.differenceMean));
  }

  const bool isGiven = !(options.mean.empty() && options.variance.empty() && options.differenceVariance.empty() &&
                         options.differenceMean.empty());
  if (!isGiven)
  {
    filter->EstimateAffinityFromSeedsOn();
    if (!options.estimateRadius.empty())
    {
      filter->SetEstimationRadius(ExampleIO::ParseNumber<unsigned int>("--estimate-radius", options.estimateRadius));
    }
    return;
  }
  if (!options.estimateRadius.empty())
  {
    throw std::runtime_error("--estimate-radius excludes means and variances");
  }
  if (options.differenceVariance.empty())
  {
    throw std::runtime_error("--difference-variance is required if the affinity is not estimated");
  }
  filter->EstimateAffinityFromSeedsOff();
  filter->SetDifferenceVariance(ExampleIO::ParseNumber<double>("--difference-variance", options.differenceVariance));
  if (affinity == Enums::AffinityFunction::Homogeneity)
  {
    if (!(options.mean.empty() && options.variance.empty()))
    {
      throw std::runtime_error("--affinity homogeneity has no --mean and --variance");
    }
    return;
  }
  if (options.mean.empty() || options.variance.empty())
  {
    throw std::runtime_error("--mean and --variance are required if the affinity is not estimated");
  }
  filter->SetObjectMean(ExampleIO::ParseNumber<double>("--mean", options.mean));
  filter->SetObjectVariance(ExampleIO::ParseNumber<double>("--variance", options.variance));
}

/** The seeds that are given as indices and as points. */
template <typename TImage>
std::vector<typename TImage::IndexType>
ParseSeeds(const TImage * image, const Options & options)
{
  constexpr unsigned int                  dimension = TImage::ImageDimension;
  const std::string                       whyCount = "the image has " + std::to_string(dimension) + " axes";
  std::vector<typename TImage::IndexType> seeds;
  for (const auto & text : options.seeds)
  {
    const auto values = ExampleIO::ParseNumbers<itk::IndexValueType>("--seed", text, dimension, whyCount);
    typename TImage::IndexType seed;
    std::copy(values.begin(), values.end(), seed.begin());
    // What the user counts from 0 may not be what the image does.
    seeds.push_back(seed + (image->GetLargestPossibleRegion().GetIndex() - typename TImage::IndexType{}));
  }
  for (const auto & text : options.seedPoints)
  {
    const auto                 values = ExampleIO::ParseNumbers<double>("--seed-point", text, dimension, whyCount);
    typename TImage::PointType point;
    std::copy(values.begin(), values.end(), point.Begin());
    typename TImage::IndexType seed;
    if (!image->TransformPhysicalPointToIndex(point, seed))
    {
      throw std::runtime_error("--seed-point: " + text + " is outside the image");
    }
    seeds.push_back(seed);
  }
  return seeds;
}

/** Voxels whose strength is the threshold or more. */
template <typename TStrengthImage>
auto
GetObject(const TStrengthImage * strength, double threshold)
{
  using ObjectType = itk::Image<unsigned char, TStrengthImage::ImageDimension>;
  using PixelType = typename TStrengthImage::PixelType;

  // The nearest strength may be below the threshold.
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
  const bool isEstimated = options.differenceVariance.empty();
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

template <typename TImage>
void
Run(const ExampleIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;


  auto filter = itk::FuzzyConnectednessImageFilter<TImage>::New();
  SetAffinity(filter.GetPointer(), options);
  filter->SetMethod(ParseWord<Enums::Method>("--method",
                                             options.method,
                                             { { "automatic", Enums::Method::Automatic },
                                               { "queue", Enums::Method::Queue },
                                               { "buckets", Enums::Method::Buckets },
                                               { "tiles", Enums::Method::Tiles },
                                               { "hierarchy", Enums::Method::Hierarchy } }));
  if (!options.connectivity.empty())
  {
    filter->SetAdjacency(ParseConnectivity(options.connectivity, dimension));
  }
  filter->SetDistanceWeighting(options.distanceWeighting);
  if (!options.minimumStrength.empty())
  {
    filter->SetMinimumStrength(ParseShare("--minimum-strength", options.minimumStrength));
  }
  const double threshold = options.threshold.empty() ? 0.0 : ParseShare("--threshold", options.threshold);

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  filter->SetInput(image);
  filter->SetSeeds(ParseSeeds(image.GetPointer(), options));
  if (!options.seedImage.empty())
  {
    filter->SetSeedImage(ExampleIO::ReadMaskFor<dimension>("seed image", options.seedImage));
  }
  if (!options.mask.empty())
  {
    filter->SetMaskImage(ExampleIO::ReadMaskFor<dimension>("mask", options.mask));
  }
  ExampleIO::CheckOutput(options.output);
  if (!options.object.empty())
  {
    ExampleIO::CheckOutput(options.object);
  }

  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const auto * strength = filter->GetOutput();
  ExampleIO::WriteFile(strength, options.output);
  if (!options.quiet)
  {
    PrintAffinity(filter.GetPointer(), options);
    std::cout << options.output << ": strength > 0 in " << DescribeSize(strength) << '\n';
  }
  if (!options.object.empty())
  {
    const auto object = GetObject(strength, threshold);
    ExampleIO::WriteFile(object.GetPointer(), options.object);
    if (!options.quiet)
    {
      std::cout << options.object << ": strength >= " << threshold << " in " << DescribeSize(object.GetPointer())
                << '\n';
    }
  }
  if (!options.quiet)
  {
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
  CLI::App app{ "The strength of connectedness of every voxel with seeds.", "FuzzyConnectedness" };
  AddOptions(app, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
