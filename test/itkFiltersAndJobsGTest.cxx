// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ItkTestUtilities.h"
#include "TestedFilters.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkResponseMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

// Each filter computes what a job of the core does with the same pixels, mask, selection, region and
// parameters.
namespace
{
using namespace VoxelMapsTest;
using Discretization = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using voxelmaps::Triple;

/** An image with gray levels of 0 ... 60, a mask of values 0 ... 2, of which 1 counts, and what jobs need of them. */
template <typename TPixel, unsigned int VDimension>
struct Scene
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using MaskType = itk::Image<unsigned char, VDimension>;

  explicit Scene(RandomNumbers & random)
  {
    typename ImageType::RegionType  region;
    typename ImageType::SpacingType spacing;
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      size[axis] = random.Between(5, VDimension == 2 ? 25 : 11);
      region.SetSize(axis, static_cast<itk::SizeValueType>(size[axis]));
      region.SetIndex(axis, random.Between(-4, 4));
      spacing[axis] = random.OneOf<double>({ 0.5, 1.0, 2.25 });
      voxelVolume *= spacing[axis];
    }
    std::vector<unsigned char> values;
    for (std::size_t i = 0; i < region.GetNumberOfPixels(); ++i)
    {
      pixels.push_back(i > 0 && random.Chance(0.5) ? pixels[i - 1] : static_cast<TPixel>(random.Between(0, 60)));
      values.push_back(random.OneOf<unsigned char>({ 0, 1, 1, 1, 2 }));
      inside.push_back(values.back() == 1 ? 1 : 0);
    }
    image = MakeImage<ImageType>(region.GetSize(), pixels, region.GetIndex());
    mask = MakeImage<MaskType>(region.GetSize(), values, region.GetIndex());
    image->SetSpacing(spacing);
    mask->SetSpacing(spacing);
  }

  /** Have the filter and, by its mask, the job compute the image, or its part in the mask. */
  template <typename TFilter, typename TJob>
  void
  SetInputs(TFilter * filter, TJob & job, RandomNumbers & random) const
  {
    filter->SetInput(image);
    job.size = size;
    if (random.Chance(0.6))
    {
      filter->SetMaskImage(mask);
      filter->SetInsidePixelValue(1);
      job.mask = inside.data();
    }
  }

  std::vector<TPixel>         pixels;
  std::vector<std::uint8_t>   inside;
  Triple                      size{ { 1, 1, 1 } };
  double                      voxelVolume{ 1.0 };
  typename ImageType::Pointer image;
  typename MaskType::Pointer  mask;
};

/** Draw a method and what it uses. */
template <typename TFilter>
voxelmaps::GrayLevelDiscretizationParameters
SetDiscretization(TFilter * filter, RandomNumbers & random)
{
  voxelmaps::GrayLevelDiscretizationParameters result;
  switch (random.Below(3))
  {
    case 0:
      result.method = Discretization::Identity;
      filter->SetNumberOfGrayLevels(result.numberOfGrayLevels = 61);
      break;
    case 1:
      result.method = Discretization::FixedBinSize;
      filter->SetBinWidth(result.binWidth = random.OneOf<double>({ 0.3, 2.5, 25.0 }));
      filter->SetRangeMinimum(result.rangeMinimum = -10.5);
      filter->SetRangeMaximum(result.rangeMaximum = 50.0);
      result.rangeSource = RangeSource::Given;
      break;
    default:
      filter->SetNumberOfGrayLevels(result.numberOfGrayLevels = random.OneOf<unsigned int>({ 1, 7, 64, 1000 }));
      filter->SetRangeSource(result.rangeSource = RangeSource::Image);
  }
  filter->SetDiscretizationMethod(result.method);
  return result;
}

// The parameters of each class.

template <typename TFilter, typename TJob>
void
SetOffsets(TFilter * filter, TJob & job, RandomNumbers & random)
{
  if (random.Chance(0.3))
  {
    filter->SetOffsets(TFilter::GetInPlaneOffsets());
  }
  job.offsets = itk::VoxelMapsDetail::ToTriples(filter->GetOffsets());
}

template <typename TFilter, typename TJob>
void
SetDirections(TFilter * filter, TJob & job, RandomNumbers & random)
{
  SetOffsets(filter, job, random);
  job.aggregation = random.OneOf(voxelmaps::GetEnumerators<typename TJob::Aggregation>());
  filter->SetAggregation(job.aggregation);
  if (job.aggregation == TJob::Aggregation::Merge && random.Chance(0.3))
  {
    job.offsetWeights.resize(job.offsets.size(), 0.25);
    job.offsetWeights[0] = 3.5;
    filter->SetOffsetWeights(job.offsetWeights);
  }
}

template <typename TFilter>
void
SetParameters(TFilter * filter, voxelmaps::CooccurrenceJob & job, RandomNumbers & random)
{
  SetDirections(filter, job, random);
  filter->SetSymmetric(job.symmetric = random.Chance(0.6));
  filter->SetEmptyValue(job.emptyValue = random.OneOf<double>({ 0.0, -7.5, std::numeric_limits<double>::quiet_NaN() }));
  filter->SetRegionHasOneLevel(job.hasOneLevel = random.Chance(0.3));
}

template <typename TFilter>
void
SetParameters(TFilter * filter, voxelmaps::DependenceJob & job, RandomNumbers & random)
{
  SetOffsets(filter, job, random);
  filter->SetAlpha(job.alpha = random.OneOf<unsigned int>({ 0, 0, 1, 5 }));
}

template <typename TFilter>
void
SetParameters(TFilter * filter, voxelmaps::FirstOrderJob & job, RandomNumbers & random)
{
  filter->SetVoxelArrayShift(job.voxelArrayShift = random.OneOf<double>({ 0.0, 1000.0 }));
}

template <typename TFilter>
void
SetParameters(TFilter * filter, voxelmaps::GrayToneDifferenceJob & job, RandomNumbers & random)
{
  SetOffsets(filter, job, random);
  filter->SetCountVoxelsWithoutNeighbors(job.countVoxelsWithoutNeighbors = random.Chance(0.6));
}

template <typename TFilter>
void
SetParameters(TFilter * filter, voxelmaps::RunLengthJob & job, RandomNumbers & random)
{
  SetDirections(filter, job, random);
  filter->SetSkipDirectionsWithoutPairs(job.skipDirectionsWithoutPairs = random.Chance(0.4));
}

template <typename TFilter>
void
SetParameters(TFilter * filter, voxelmaps::SizeZoneJob & job, RandomNumbers & random)
{
  filter->SetConnectivity(job.connectivity = random.OneOf(voxelmaps::GetEnumerators<decltype(job.connectivity)>()));
}

template <template <typename...> class TFilter, typename TJob>
struct Class
{
  template <typename... TImages>
  using Filter = TFilter<TImages...>;
  using Job = TJob;
};

template <typename TClass, typename TPixel, unsigned int VDimension, typename TReal>
void
ExpectMapsOfJob(std::uint64_t seed)
{
  SCOPED_TRACE(seed);
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType =
    typename TClass::template Filter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  using Job = typename TClass::Job;
  RandomNumbers             random(seed);
  const SceneType           scene(random);
  const auto                pointer = NewFilter<FilterType>();
  auto * const              filter = pointer.GetPointer();
  voxelmaps::FeatureMapsJob job;
  Job                       classJob;
  job.pixels = scene.pixels.data();
  job.pixelType = voxelmaps::GetPixelType<TPixel>();
  scene.SetInputs(filter, job, random);
  job.discretization = SetDiscretization(filter, random);
  filter->SetBackgroundValue(job.backgroundValue = random.OneOf<double>({ 0.0, -1.0 }));
  classJob.features = Job::Enums::GetAllFeatures();
  random.Shuffle(classJob.features);
  classJob.features.resize(static_cast<std::size_t>(random.Between(1, Job::Enums::NumberOfFeatures)));
  filter->SetFeatures(classJob.features);
  SetParameters(filter, classJob, random);

  // A window, and a part of the image.
  typename FilterType::SizeType         window;
  typename FilterType::OffsetType       anchor;
  typename FilterType::OutputRegionType part = scene.image->GetLargestPossibleRegion();
  job.outputSize = scene.size;
  const bool isPart = random.Chance(0.4);
  const bool isRadius = random.Chance(0.5);
  for (unsigned int axis = 0; axis < VDimension; ++axis)
  {
    job.windowSize[axis] = isRadius ? 2 * random.Between(1, 2) + 1 : random.Between(2, 6);
    job.windowAnchor[axis] = isRadius ? job.windowSize[axis] / 2 : random.Below(job.windowSize[axis]);
    window[axis] = static_cast<itk::SizeValueType>(isRadius ? job.windowSize[axis] / 2 : job.windowSize[axis]);
    anchor[axis] = job.windowAnchor[axis];
    job.outputIndex[axis] = isPart ? random.Below(scene.size[axis]) : 0;
    job.outputSize[axis] -= job.outputIndex[axis];
    part.SetIndex(axis, part.GetIndex(axis) + job.outputIndex[axis]);
    part.SetSize(axis, static_cast<itk::SizeValueType>(job.outputSize[axis]));
  }
  if (isRadius)
  {
    filter->SetNeighborhoodRadius(window);
  }
  else
  {
    filter->SetWindowSize(window);
    filter->SetWindowAnchor(anchor);
  }
  std::vector<std::uint8_t> selection;
  if (random.Chance(0.3))
  {
    filter->SetSelectionImage(scene.mask);
    filter->SetInsidePixelValue(1);
    selection = GetBuffer(scene.mask.GetPointer(), part);
    std::replace(selection.begin(), selection.end(), std::uint8_t{ 2 }, std::uint8_t{ 0 });
    job.selection = selection.data();
  }
  if constexpr (std::is_same<Job, voxelmaps::FirstOrderJob>::value)
  {
    classJob.voxelVolume = scene.voxelVolume;
  }
  job.classes = { classJob };
  job.mapStride = 1;
  job.voxelStride = voxelmaps::GetNumberOfMaps(job);
  std::vector<TReal> expected(part.GetNumberOfPixels() * static_cast<std::size_t>(job.voxelStride));
  job.output = expected.data();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  filter->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion(part);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
  const auto used = voxelmaps::ComputeFeatureMaps(job);
  EXPECT_EQ(used.rangeMinimum, filter->GetUsedRangeMinimum());
  EXPECT_EQ(used.rangeMaximum, filter->GetUsedRangeMaximum());
  EXPECT_EQ(used.numberOfGrayLevels, filter->GetUsedNumberOfGrayLevels());
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput())));
}

template <typename TClass>
class FiltersAndJobs : public ::testing::Test
{};
using Classes = ::testing::Types<Class<itk::CooccurrenceFeatureMapImageFilter, voxelmaps::CooccurrenceJob>,
                                 Class<itk::DependenceFeatureMapImageFilter, voxelmaps::DependenceJob>,
                                 Class<itk::FirstOrderFeatureMapImageFilter, voxelmaps::FirstOrderJob>,
                                 Class<itk::GrayToneDifferenceFeatureMapImageFilter, voxelmaps::GrayToneDifferenceJob>,
                                 Class<itk::RunLengthFeatureMapImageFilter, voxelmaps::RunLengthJob>,
                                 Class<itk::SizeZoneFeatureMapImageFilter, voxelmaps::SizeZoneJob>>;
TYPED_TEST_SUITE(FiltersAndJobs, Classes);


template <typename TPixel, unsigned int VDimension>
void
ExpectLevelsOfJob()
{
  using SceneType = Scene<TPixel, VDimension>;
  using Levels = itk::Image<unsigned short, VDimension>;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
  {
    RandomNumbers   random(seed);
    const SceneType scene(random);
    const auto      filter = itk::GrayLevelDiscretizationImageFilter<typename SceneType::ImageType, Levels>::New();
    voxelmaps::GrayLevelDiscretizationJob job;
    job.pixels = scene.pixels.data();
    job.pixelType = voxelmaps::GetPixelType<TPixel>();
    scene.SetInputs(filter.GetPointer(), job, random);
    job.parameters = SetDiscretization(filter.GetPointer(), random);
    std::vector<std::uint16_t> expected(scene.pixels.size());
    job.levels = expected.data();
    voxelmaps::DiscretizeGrayLevels(job);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_EQ(expected, GetBuffer(filter->GetOutput())) << seed;
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
ExpectResponsesOfJob()
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = itk::ResponseMapImageFilter<typename SceneType::ImageType, itk::Image<TReal, VDimension>>;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
  {
    RandomNumbers             random(seed);
    const SceneType           scene(random);
    const auto                filter = NewFilter<FilterType>();
    voxelmaps::ResponseMapJob job;
    job.pixels = scene.pixels.data();
    job.pixelType = voxelmaps::GetPixelType<TPixel>();
    job.size = job.outputSize = scene.size;
    std::copy_n(scene.image->GetSpacing().Begin(), VDimension, job.spacing.begin());
    filter->SetInput(scene.image);
    auto & parameters = job.parameters;
    parameters.filterDimension = VDimension;
    filter->SetFilter(parameters.filter = voxelmaps::ResponseMapEnums::Filter::LaplacianOfGaussian);
    filter->SetSigma(parameters.sigma = random.OneOf<double>({ 0.5, 1.25 }));
    filter->SetCutoff(parameters.cutoff = random.OneOf<double>({ 3.0, 4.0 }));
    filter->SetBoundary(parameters.boundary = random.OneOf(voxelmaps::GetEnumerators<voxelmaps::FilterBoundary>()));
    std::vector<TReal> expected(scene.pixels.size());
    job.output = expected.data();
    job.outputIsDouble = std::is_same<TReal, double>::value;
    voxelmaps::ComputeResponseMap(job);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput()))) << seed;
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
ExpectStrengthsOfJob(voxelmaps::FuzzyConnectednessJob::PixelType pixelType)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = itk::FuzzyConnectednessImageFilter<typename SceneType::ImageType, itk::Image<TReal, VDimension>>;
  using Enums = voxelmaps::FuzzyConnectednessEnums;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
  {
    RandomNumbers                    random(seed);
    const SceneType                  scene(random);
    const auto                       filter = NewFilter<FilterType>();
    voxelmaps::FuzzyConnectednessJob job;
    job.image = scene.pixels.data();
    job.pixelType = pixelType;
    scene.SetInputs(filter.GetPointer(), job, random);
    job.seeds = { std::find(scene.inside.begin(), scene.inside.end(), 1) - scene.inside.begin() };
    filter->SetSeed(scene.image->ComputeIndex(job.seeds[0]));
    std::copy_n(scene.image->GetSpacing().Begin(), VDimension, job.spacing.begin());
    filter->SetAffinityFunction(job.affinityFunction =
                                  random.OneOf(voxelmaps::GetEnumerators<Enums::AffinityFunction>()));
    filter->SetAdjacency(job.adjacency = random.OneOf(voxelmaps::GetEnumerators<Enums::Adjacency>()));
    filter->SetWeight(job.weight = random.OneOf<double>({ 0.25, 0.5 }));
    filter->SetMinimumStrength(job.minimumStrength = random.OneOf<double>({ 0.0, 0.0, 0.125 }));
    job.distanceWeighting = job.affinityFunction != Enums::AffinityFunction::AbsoluteDifference && random.Chance(0.3);
    filter->SetDistanceWeighting(job.distanceWeighting);
    job.affinity = { { 30.0 }, { 400.0 }, { random.OneOf<double>({ 0.0, 4.5 }) }, { 250.25 } };
    filter->SetAffinity(job.affinity);
    std::vector<TReal> expected(scene.pixels.size());
    job.output = expected.data();
    job.outputIsDouble = std::is_same<TReal, double>::value;
    voxelmaps::ComputeFuzzyConnectedness(job);
    VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput()))) << seed;
  }
}
} // namespace

TYPED_TEST(FiltersAndJobs, MapsAreThoseOfTheJob)
{
  for (std::uint64_t seed = 0; seed < 6; ++seed)
  {
    ExpectMapsOfJob<TypeParam, unsigned char, 2, float>(seed);
    ExpectMapsOfJob<TypeParam, unsigned char, 3, double>(100 + seed);
    ExpectMapsOfJob<TypeParam, short, 3, float>(200 + seed);
    ExpectMapsOfJob<TypeParam, float, 2, double>(300 + seed);
    ExpectMapsOfJob<TypeParam, double, 3, float>(400 + seed);
  }
}

TEST(FiltersAndJobsOfPixels, LevelsAreThoseOfTheJob)
{
  ExpectLevelsOfJob<unsigned char, 2>();
  ExpectLevelsOfJob<short, 3>();
  ExpectLevelsOfJob<unsigned short, 2>();
  ExpectLevelsOfJob<float, 3>();
  ExpectLevelsOfJob<double, 2>();
}

TEST(FiltersAndJobsOfPixels, ResponsesAreThoseOfTheJob)
{
  ExpectResponsesOfJob<unsigned char, 2, float>();
  ExpectResponsesOfJob<short, 3, float>();
  ExpectResponsesOfJob<unsigned short, 2, double>();
  ExpectResponsesOfJob<float, 3, double>();
  ExpectResponsesOfJob<double, 2, float>();
}

TEST(FiltersAndJobsOfPixels, StrengthsAreThoseOfTheJob)
{
  using PixelType = voxelmaps::FuzzyConnectednessJob::PixelType;
  ExpectStrengthsOfJob<unsigned char, 2, float>(PixelType::UInt8);
  ExpectStrengthsOfJob<short, 3, float>(PixelType::Int16);
  ExpectStrengthsOfJob<unsigned short, 2, double>(PixelType::UInt16);
  ExpectStrengthsOfJob<float, 3, double>(PixelType::Float);
  ExpectStrengthsOfJob<double, 2, float>(PixelType::Double);
}
