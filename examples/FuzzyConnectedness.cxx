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
// line, or which of several labels of seeds is connected to it most strongly.

#include "FuzzyConnectednessOptions.h"
#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/Progress.h"
#include "itkBinaryThresholdImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <utility>

namespace
{
using namespace FuzzyConnectednessProgram;

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
  if (affinity == Enums::AffinityFunction::AbsoluteDifference)
  {
    if (options.mean || options.variance || options.differenceMean || options.differenceVariance || options.weight ||
        options.estimateRadius)
    {
      throw std::runtime_error("--affinity absolute has no means, variances, weight and --estimate-radius");
    }
    return;
  }
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

/** The seeds that are given as indices and as points, and their labels. */
template <typename TImage>
std::vector<std::pair<typename TImage::IndexType, unsigned short>>
GetSeeds(const TImage * image, const Options & options)
{
  const auto        region = image->GetLargestPossibleRegion();
  const std::string whyCount = "the image has " + std::to_string(TImage::ImageDimension) + " axes";

  std::vector<std::pair<typename TImage::IndexType, unsigned short>> seeds;
  for (const auto & words : options.seeds)
  {
    const auto                  seed = ParseSeed<itk::IndexValueType>("--seed", words, options);
    typename TImage::OffsetType fromFirst;
    ExampleIO::CopyNumbers("--seed", seed.place, fromFirst, whyCount);
    seeds.emplace_back(region.GetIndex() + fromFirst, seed.label);
  }
  for (const auto & words : options.seedPoints)
  {
    const auto                 seed = ParseSeed<double>("--seed-point", words, options);
    typename TImage::PointType point;
    typename TImage::IndexType index;
    ExampleIO::CopyNumbers("--seed-point", seed.place, point, whyCount);
    if (options.seedPointFrame == "ras")
    {
      point[0] = -point[0];
      point[1] = -point[1];
    }
    if (!image->TransformPhysicalPointToIndex(point, index))
    {
      throw std::runtime_error("--seed-point: " + ExampleIO::Join(seed.place) + " (" + options.seedPointFrame +
                               ") is outside the image");
    }
    seeds.emplace_back(index, seed.label);
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

template <typename TImage>
double
GetVolumeOfVoxel(const TImage * image)
{
  double volume = 1.0;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    volume *= image->GetSpacing()[d];
  }
  return volume;
}

/** "1234 voxels, 567 mm^3". */
template <typename TImage>
std::string
DescribeSize(const TImage * image, std::int64_t count)
{
  std::ostringstream text;
  text << count << (count == 1 ? " voxel, " : " voxels, ") << static_cast<double>(count) * GetVolumeOfVoxel(image)
       << (TImage::ImageDimension == 2 ? " mm^2" : " mm^3");
  return text.str();
}

/** The number of voxels for which a condition holds. */
template <typename TImage, typename TCondition>
std::int64_t
CountVoxels(const TImage * image, TCondition && condition)
{
  const auto * pixels = image->GetBufferPointer();
  return std::count_if(pixels, pixels + image->GetLargestPossibleRegion().GetNumberOfPixels(), condition);
}

template <typename TFilter>
void
PrintAffinity(const TFilter * filter, const Options & options)
{
  if (filter->GetAffinityFunction() == Enums::AffinityFunction::AbsoluteDifference)
  {
    std::cout << "affinity " << options.affinity << '\n';
    return;
  }
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

/** Give a mask or seed image the geometry of the image. */
template <typename TMask, typename TImage>
void
MatchGeometry(const std::string & what, const std::string & name, TMask * mask, const TImage * image,
              const Options & options)
{
  const auto remark = ExampleIO::MatchGeometry(mask, "the " + what + " '" + name + "'", image, options.maskGeometry);
  if (!options.quiet && !remark.empty())
  {
    std::cout << remark << "; ignored\n";
  }
}

/** Set the parameters that a filter for one object and one for labels have. */
template <typename TImage, typename TFilter>
void
SetParameters(TFilter * filter, const Options & options)
{
  SetAffinity(filter, options);
  if (options.connectivity)
  {
    filter->SetAdjacency(GetAdjacency(*options.connectivity, TImage::ImageDimension));
  }
  filter->SetDistanceWeighting(options.distanceWeighting);
  filter->SetMinimumStrength(options.minimumStrength);
  filter->SetCropToSeeds(options.cropToSeeds);
  filter->SetCropMarginInMillimeters(options.cropMarginInMillimeters);
  if (options.cropMargin.size() == 1)
  {
    filter->SetCropMargin(options.cropMargin.front());
  }
  else if (!options.cropMargin.empty())
  {
    typename TFilter::CropMarginType margins;
    ExampleIO::CopyNumbers("--crop-margin",
                           options.cropMargin,
                           margins,
                           "it needs one, or one for each of the " + std::to_string(TImage::ImageDimension) + " axes");
    filter->SetCropMargin(margins);
  }
}

/** Set image, mask and seed image, which ReadSeeds reads for an image. */
template <typename TImage, typename TFilter, typename TReadSeeds>
void
SetImages(TFilter * filter, const TImage * image, const Options & options, TReadSeeds && readSeeds)
{
  filter->SetInput(image);
  if (!options.seedImage.empty())
  {
    const auto seeds = readSeeds("seed image", options.seedImage);
    MatchGeometry("seed image", options.seedImage, seeds.GetPointer(), image, options);
    filter->SetSeedImage(seeds);
  }
  if (!options.mask.empty())
  {
    const auto mask = ExampleIO::ReadMaskFor<TImage::ImageDimension>("mask", options.mask);
    MatchGeometry("mask", options.mask, mask.GetPointer(), image, options);
    filter->SetMaskImage(mask);
  }
}

/** Run a filter; returns the seconds that it took. */
double
Update(itk::ProcessObject * filter, const Options & options)
{
  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet, options.progressXML);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename TImage>
void
PrintTime(double seconds, const TImage * image)
{
  std::cout << std::setprecision(3) << seconds << " s for " << image->GetLargestPossibleRegion().GetNumberOfPixels()
            << " voxels\n";
}

/** "strength >= 0.4 in 1234 voxels, 567 mm^3", or that there is no threshold to suggest. */
template <typename TImage>
std::string
DescribeThreshold(const TImage * image, double threshold, std::int64_t count)
{
  return threshold > 0.0 ? "strength >= " + ExampleIO::ToText(threshold) + " in " + DescribeSize(image, count)
                         : std::string("none");
}

template <typename TImage>
void
ComputeObject(const ExampleIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;

  auto filter = itk::FuzzyConnectednessImageFilter<TImage>::New();
  SetParameters<TImage>(filter.GetPointer(), options);
  filter->SetMethod(methods.at(options.method));

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  for (const auto & seed : GetSeeds(image.GetPointer(), options))
  {
    filter->AddSeed(seed.first);
  }
  SetImages(filter.GetPointer(), image.GetPointer(), options, ExampleIO::ReadMaskFor<dimension>);

  using StrengthType = typename itk::FuzzyConnectednessImageFilter<TImage>::OutputImageType;
  using ObjectType = itk::Image<unsigned char, dimension>;
  ExampleIO::OutputFiles outputs({ options.input, options.seedImage, options.mask });
  outputs.AddImage(options.output, ExampleIO::GetProperties<StrengthType>(image.GetPointer()));
  if (!options.object.empty())
  {
    outputs.AddImage(options.object, ExampleIO::GetProperties<ObjectType>(image.GetPointer()));
  }

  const double seconds = Update(filter, options);

  const auto *                 strength = filter->GetOutput();
  typename ObjectType::Pointer object;
  outputs.WriteImage(strength, options.output);
  if (!options.object.empty())
  {
    object = GetObject(strength, options.threshold);
    outputs.WriteImage(object.GetPointer(), options.object);
  }
  const double suggested = options.suggestThreshold ? filter->GetSuggestedThreshold(options.minimumVolume) : 0.0;
  outputs.Commit();

  if (!options.quiet)
  {
    const auto countFrom = [strength](double threshold) {
      return CountVoxels(strength, [threshold](auto value) { return value > 0 && value >= threshold; });
    };
    PrintAffinity(filter.GetPointer(), options);
    std::cout << options.output << ": strength > 0 in " << DescribeSize(strength, countFrom(0.0)) << '\n';
    if (object)
    {
      std::cout << options.object << ": strength >= " << options.threshold << " in "
                << DescribeSize(strength, CountVoxels(object.GetPointer(), [](auto value) { return value > 0; }))
                << '\n';
    }
    if (options.suggestThreshold)
    {
      std::cout << "suggested threshold: " << DescribeThreshold(strength, suggested, countFrom(suggested)) << '\n';
    }
    PrintTime(seconds, strength);
  }
}

/** How many voxels each label has, and the strengths of these voxels if they are needed. */
template <typename TLabelImage, typename TStrengthImage>
std::map<unsigned short, std::pair<std::int64_t, std::vector<float>>>
SortByLabel(const TLabelImage * labels, const TStrengthImage * strengths, bool needsStrengths)
{
  std::map<unsigned short, std::pair<std::int64_t, std::vector<float>>> result;
  const auto *                                                          label = labels->GetBufferPointer();
  const auto *                                                          strength = strengths->GetBufferPointer();
  const auto end = labels->GetLargestPossibleRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < end; ++i)
  {
    if (label[i] != 0)
    {
      auto & ofLabel = result[label[i]];
      ++ofLabel.first;
      if (needsStrengths)
      {
        ofLabel.second.push_back(strength[i]);
      }
    }
  }
  return result;
}

/** The smallest object for which a threshold is suggested: a volume, and a box of the estimation radius, as for one
 * object. */
template <typename TImage>
std::int64_t
GetMinNumberOfVoxels(const TImage * image, unsigned int estimationRadius, double minimumVolume)
{
  double box = 1.0;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    box *= std::min(static_cast<double>(image->GetLargestPossibleRegion().GetSize(d)), 2.0 * estimationRadius + 1.0);
  }
  return static_cast<std::int64_t>(std::min(std::max(box, std::ceil(minimumVolume / GetVolumeOfVoxel(image))), 9e18));
}

template <typename TImage>
void
ComputeLabels(const ExampleIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  using LabelType = itk::Image<unsigned short, dimension>;

  auto filter = itk::RelativeFuzzyConnectednessImageFilter<TImage, LabelType>::New();
  SetParameters<TImage>(filter.GetPointer(), options);
  filter->SetCompetition(competitions.at(options.competition));
  filter->SetTieRule(tieRules.at(options.ties));
  filter->GenerateStrengthImageOn();
  filter->SetGenerateMarginImage(!options.margin.empty());

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  for (const auto & seed : GetSeeds(image.GetPointer(), options))
  {
    filter->AddSeed(seed.first, seed.second);
  }
  SetImages(filter.GetPointer(), image.GetPointer(), options, ExampleIO::ReadLabelsFor<dimension>);

  using StrengthType = typename itk::RelativeFuzzyConnectednessImageFilter<TImage, LabelType>::StrengthImageType;
  ExampleIO::OutputFiles outputs({ options.input, options.seedImage, options.mask });
  outputs.AddImage(options.output, ExampleIO::GetProperties<StrengthType>(image.GetPointer()));
  outputs.AddImage(options.labels, ExampleIO::GetProperties<LabelType>(image.GetPointer()));
  if (!options.margin.empty())
  {
    outputs.AddImage(options.margin, ExampleIO::GetProperties<StrengthType>(image.GetPointer()));
  }

  const double seconds = Update(filter, options);

  const LabelType *    labels = filter->GetOutput();
  const StrengthType * strength = filter->GetStrengthImage();
  outputs.WriteImage(strength, options.output);
  outputs.WriteImage(labels, options.labels);
  if (!options.margin.empty())
  {
    outputs.WriteImage(static_cast<const StrengthType *>(filter->GetMarginImage()), options.margin);
  }
  outputs.Commit();
  if (options.quiet)
  {
    return;
  }

  const std::int64_t minVoxels = GetMinNumberOfVoxels(labels, filter->GetEstimationRadius(), options.minimumVolume);
  PrintAffinity(filter.GetPointer(), options);
  std::cout << options.output << ": strength > 0 in "
            << DescribeSize(labels, CountVoxels(strength, [](auto value) { return value > 0; })) << '\n';
  for (const auto & [label, ofLabel] : SortByLabel(labels, strength, options.suggestThreshold))
  {
    std::cout << options.labels << ": label " << label << " in " << DescribeSize(labels, ofLabel.first);
    if (options.suggestThreshold)
    {
      const voxelmaps::FuzzyConnectednessVolumeCurve curve(ofLabel.second.data(), ofLabel.first);
      const double                                   suggested = curve.GetSuggestedThreshold(minVoxels);
      std::cout << "; suggested threshold: "
                << DescribeThreshold(labels, suggested, curve.GetNumberOfVoxels(suggested));
    }
    std::cout << '\n';
  }
  PrintTime(seconds, labels);
}

void
Run(const Options & options)
{
  VerifyOptions(options);
  const auto input = ExampleIO::FindScalarInput(options.input, options.dicom);
  if (!options.quiet && !input.remark.empty())
  {
    std::cout << input.remark << '\n';
  }
  ExampleIO::RunForImageType(input, [&](auto type) {
    using ImageType = typename decltype(type)::Type;
    options.labels.empty() ? ComputeObject<ImageType>(input, options) : ComputeLabels<ImageType>(input, options);
  });
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{
    "Compute the strength of connectedness of every voxel to the seeds, or which of several labels of seeds is "
    "connected to it most strongly.",
    "FuzzyConnectedness"
  };
  ExampleIO::ModuleDescription module(app, "Segmentation", "Fuzzy Connectedness");
  AddOptions(app, module, options);

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
