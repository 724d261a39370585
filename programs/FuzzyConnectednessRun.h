// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzyConnectednessRun_h
#define FuzzyConnectednessRun_h

// What the program FuzzyConnectedness does for one object and for labels.

#include "FuzzyConnectednessOptions.h"
#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/Progress.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <utility>

namespace FuzzyConnectednessProgram
{
/** Compute the strengths of one object, see FuzzyConnectednessObject.cxx. */
void
ComputeObject(const ProgramIO::Input & input, const Options & options);

/** Compute labels, see FuzzyConnectednessLabels.cxx. */
void
ComputeLabels(const ProgramIO::Input & input, const Options & options);

inline Enums::Adjacency
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
    ProgramIO::CopyNumbers("--seed", seed.place, fromFirst, whyCount);
    seeds.emplace_back(region.GetIndex() + fromFirst, seed.label);
  }
  for (const auto & words : options.seedPoints)
  {
    const auto                 seed = ParseSeed<double>("--seed-point", words, options);
    typename TImage::PointType point;
    typename TImage::IndexType index;
    ProgramIO::CopyNumbers("--seed-point", seed.place, point, whyCount);
    if (options.seedPointFrame == "ras")
    {
      point[0] = -point[0];
      point[1] = -point[1];
    }
    if (!image->TransformPhysicalPointToIndex(point, index))
    {
      throw std::runtime_error("--seed-point: " + ProgramIO::Join(seed.place) + " (" + options.seedPointFrame +
                               ") is outside the image");
    }
    seeds.emplace_back(index, seed.label);
  }
  return seeds;
}

template <typename TImage>
double
GetVoxelVolume(const TImage * image)
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
  text << count << (count == 1 ? " voxel, " : " voxels, ") << static_cast<double>(count) * GetVoxelVolume(image)
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
  const auto remark = ProgramIO::MatchGeometry(mask, "the " + what + " '" + name + "'", image, options.maskGeometry);
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
    ProgramIO::CopyNumbers("--crop-margin",
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
    const auto mask = ProgramIO::ReadMaskFor<TImage::ImageDimension>("mask", options.mask);
    MatchGeometry("mask", options.mask, mask.GetPointer(), image, options);
    filter->SetMaskImage(mask);
  }
}

/** Run a filter; returns the seconds that it took. */
inline double
Update(itk::ProcessObject * filter, const Options & options)
{
  const auto start = std::chrono::steady_clock::now();
  ProgramIO::UpdateWithProgress(filter, options.quiet, options.progressXML);
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
  return threshold > 0.0 ? "strength >= " + ProgramIO::ToText(threshold) + " in " + DescribeSize(image, count)
                         : std::string("none");
}
} // namespace FuzzyConnectednessProgram

#endif // FuzzyConnectednessRun_h
