// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// ChainFilters IMAGE LABELS LOWER UPPER CLUSTERS [median|diffusion]
//
// A pipeline of ITK's filters with those of this module: smooth an image (a file or a folder with a DICOM series),
// select the voxels from LOWER to UPPER, compute four texture maps inside, and write labels 1 to CLUSTERS of similar
// texture, found by k-means. Isolated voxels get label 0.

#include "Example.h"
#include "itkBinaryThresholdImageFilter.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkCurvatureAnisotropicDiffusionImageFilter.h"
#include "itkImageFileWriter.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "itkKdTreeBasedKmeansEstimator.h"
#include "itkListSample.h"
#include "itkMedianImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkStandardDeviationPerComponentSampleFilter.h"
#include "itkWeightedCentroidKdTreeGenerator.h"

#include <algorithm>
#include <cmath>

namespace
{
constexpr unsigned int numberOfFeatures = 4;
using ImageType = itk::Image<float, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using MapsType = itk::VectorImage<float, 3>;
using VectorType = itk::FixedArray<float, numberOfFeatures>;
using SampleType = itk::Statistics::ListSample<VectorType>;
using GeneratorType = itk::Statistics::WeightedCentroidKdTreeGenerator<SampleType>;
using EstimatorType = itk::Statistics::KdTreeBasedKmeansEstimator<GeneratorType::KdTreeType>;

/** The cluster of every vector, from 0, by k-means. Divides every feature by its standard deviation, so that all count
 * the same. The first centers are quantiles of the first feature. */
std::vector<unsigned int>
Cluster(SampleType * sample, unsigned int numberOfClusters)
{
  auto deviations = itk::Statistics::StandardDeviationPerComponentSampleFilter<SampleType>::New();
  deviations->SetInput(sample);
  deviations->Update();
  std::vector<VectorType> sorted;
  for (std::size_t i = 0; i < sample->Size(); ++i)
  {
    for (unsigned int f = 0; f < numberOfFeatures; ++f)
    {
      const double deviation = deviations->GetStandardDeviationPerComponent()[f];
      sample->SetMeasurement(i, f, sample->GetMeasurementVector(i)[f] / (deviation > 0.0 ? deviation : 1.0));
    }
    sorted.push_back(sample->GetMeasurementVector(i));
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto & x, const auto & y) { return x[0] < y[0]; });

  auto generator = GeneratorType::New();
  generator->SetSample(sample);
  generator->SetBucketSize(16);
  generator->Update();
  EstimatorType::ParametersType centers(numberOfClusters * numberOfFeatures);
  for (unsigned int i = 0; i < centers.size(); ++i)
  {
    const std::size_t k = i / numberOfFeatures;
    centers[i] = sorted[(2 * k + 1) * sorted.size() / (2 * numberOfClusters)][i % numberOfFeatures];
  }
  auto estimator = EstimatorType::New();
  estimator->SetParameters(centers);
  estimator->SetKdTree(generator->GetOutput());
  estimator->SetMaximumIteration(100);
  estimator->SetCentroidPositionChangesThreshold(0.0);
  estimator->StartOptimization();
  centers = estimator->GetParameters();

  std::vector<unsigned int> clusters;
  for (std::size_t i = 0; i < sample->Size(); ++i)
  {
    std::vector<double> distances(numberOfClusters);
    for (unsigned int j = 0; j < centers.size(); ++j)
    {
      const double difference = sample->GetMeasurementVector(i)[j % numberOfFeatures] - centers[j];
      distances[j / numberOfFeatures] += difference * difference;
    }
    clusters.push_back(std::min_element(distances.begin(), distances.end()) - distances.begin());
  }
  return clusters;
}

template <typename TFilter>
MapsType::Pointer
ComputeMaps(const ImageType * image, const MaskType * mask, const std::vector<std::string> & features)
{
  auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetMaskImage(mask);
  filter->SetFeatureNames(features);
  filter->Update();
  return filter->GetOutput();
}

void
Run(int argc, char * argv[])
{
  const auto        lower = Example::ParseNumber<float>(argv[3]);
  const auto        upper = Example::ParseNumber<float>(argv[4]);
  const auto        numberOfClusters = Example::ParseNumber<unsigned int>(argv[5]);
  const std::string smoothing = argc > 6 ? argv[6] : "median";
  const auto        image = Example::ReadVolume<ImageType>(argv[1]);

  itk::ImageSource<ImageType>::Pointer smooth;
  if (smoothing == "median")
  {
    auto median = itk::MedianImageFilter<ImageType, ImageType>::New();
    median->SetInput(image);
    smooth = median;
  }
  else if (smoothing == "diffusion")
  {
    auto diffusion = itk::CurvatureAnisotropicDiffusionImageFilter<ImageType, ImageType>::New();
    diffusion->SetInput(image);
    // The largest stable step in 3D; voxels may be smaller than 1 mm.
    diffusion->SetTimeStep(std::min(1.0, *std::min_element(image->GetSpacing().Begin(), image->GetSpacing().End())) /
                           16.0);
    smooth = diffusion;
  }
  else
  {
    throw std::runtime_error("'" + smoothing + "' must be median or diffusion");
  }
  auto mask = itk::BinaryThresholdImageFilter<ImageType, MaskType>::New();
  mask->SetInput(smooth->GetOutput());
  mask->SetLowerThreshold(lower);
  mask->SetUpperThreshold(upper);
  mask->SetInsideValue(1);
  mask->Update();

  const auto runs = ComputeMaps<itk::RunLengthFeatureMapImageFilter<ImageType>>(
    smooth->GetOutput(), mask->GetOutput(), { "SRE", "RE" });
  const auto pairs = ComputeMaps<itk::CooccurrenceFeatureMapImageFilter<ImageType>>(
    smooth->GetOutput(), mask->GetOutput(), { "CON", "JE" });

  auto                                    sample = SampleType::New();
  const auto                              region = image->GetLargestPossibleRegion();
  itk::ImageRegionConstIterator<MapsType> run(runs, region);
  itk::ImageRegionConstIterator<MapsType> pair(pairs, region);
  itk::ImageRegionIterator<MaskType>      voxel(mask->GetOutput(), region);
  for (; !voxel.IsAtEnd(); ++voxel, ++run, ++pair)
  {
    if (voxel.Get() == 1 && std::isnan(pair.Get()[0]))
    {
      // An isolated voxel has no pairs, so that its co-occurrence features are NaN. It gets no label.
      voxel.Set(0);
    }
    else if (voxel.Get() == 1)
    {
      const float values[numberOfFeatures] = { run.Get()[0], run.Get()[1], pair.Get()[0], pair.Get()[1] };
      sample->PushBack(values);
    }
  }
  if (numberOfClusters < 1 || numberOfClusters > 255 || sample->Size() < numberOfClusters)
  {
    throw std::runtime_error(std::to_string(numberOfClusters) + " clusters of " + std::to_string(sample->Size()) +
                             " voxels: there must be 1 to 255 clusters, and as many voxels from LOWER to UPPER");
  }
  auto cluster = Cluster(sample, numberOfClusters);
  auto next = cluster.begin();
  for (voxel.GoToBegin(); !voxel.IsAtEnd(); ++voxel)
  {
    voxel.Set(voxel.Get() == 1 ? static_cast<unsigned char>(1 + *next++) : 0);
  }
  itk::WriteImage(mask->GetOutput(), argv[2]);
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 5, "IMAGE LABELS LOWER UPPER CLUSTERS [median|diffusion]", Run);
}
