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
#include "GoldenHashes.h"
#include "TestedClasses.h"
#include "VoxelMapsTestUtilities.h"

#include "itkGrayLevelDiscretizationImageFilter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

// The filters around the engines: types of pixels, discretization, masks, regions and estimates.
namespace
{
using namespace VoxelMapsGolden;
using VoxelMapsTest::CooccurrenceFilter;
using VoxelMapsTest::DependenceFilter;
using VoxelMapsTest::FirstOrderFilter;
using VoxelMapsTest::FuzzyConnectednessFilter;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::GrayToneDifferenceFilter;
using VoxelMapsTest::RunLengthFilter;
using VoxelMapsTest::SizeZoneFilter;

template <unsigned int VDimension>
using MaskImage = itk::Image<unsigned char, VDimension>;
using Discretization = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;

/** An image, its mask of values 0 ... 2, and one voxel in the inside of value 1 or 2. */
template <typename TPixel, unsigned int VDimension>
struct Scene
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using MaskType = MaskImage<VDimension>;

  /** Intensities are 0 ... 60 where they are to be gray levels. */
  Scene(bool hasGrayLevels, Draws & draws)
  {
    typename ImageType::SizeType  size;
    typename ImageType::IndexType start;
    const std::int64_t            most = VDimension == 2 ? 30 : 11;
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      size[axis] = static_cast<itk::SizeValueType>(draws.Between(3, most));
      start[axis] = draws.Between(-4, 4);
    }
    constexpr bool             isReal = std::is_floating_point<TPixel>::value;
    const std::int64_t         lowest = hasGrayLevels || !std::is_signed<TPixel>::value ? 0 : -700;
    const std::int64_t         greatest = hasGrayLevels ? 60 : sizeof(TPixel) == 1 ? 255 : 900;
    const bool                 hasNaN = draws.Percent(50);
    const std::int64_t         run = draws.OneOf<std::int64_t>({ 0, 50, 80 });
    std::vector<TPixel>        pixels;
    std::vector<unsigned char> inside;
    for (std::size_t i = 0; i < typename ImageType::RegionType(start, size).GetNumberOfPixels(); ++i)
    {
      const std::int64_t value = draws.Between(lowest, greatest);
      const double       fraction = isReal && !hasGrayLevels ? static_cast<double>(draws.Below(8)) * 0.125 : 0.0;
      pixels.push_back(i > 0 && draws.Percent(run) ? pixels[i - 1]
                                                   : static_cast<TPixel>(static_cast<double>(value) + fraction));
      if (isReal && hasNaN && draws.Percent(3))
      {
        pixels.back() = std::numeric_limits<TPixel>::quiet_NaN();
      }
      inside.push_back(static_cast<unsigned char>(draws.OneOf<int>({ 0, 1, 1, 1, 2, 2 })));
    }
    insideValue = static_cast<unsigned char>(draws.Between(1, 2));
    const auto seedOffset = static_cast<std::size_t>(draws.Below(static_cast<std::int64_t>(pixels.size())));
    inside[seedOffset] = insideValue;
    image = VoxelMapsTest::MakeImage<ImageType>(size, pixels, start);
    mask = VoxelMapsTest::MakeImage<MaskType>(size, inside, start);
    seed = image->ComputeIndex(static_cast<itk::OffsetValueType>(seedOffset));
    typename ImageType::SpacingType spacing;
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      spacing[axis] = draws.OneOf<double>({ 0.5, 1.0, 2.25 });
    }
    image->SetSpacing(spacing);
    mask->SetSpacing(spacing);
  }

  typename ImageType::Pointer   image;
  typename MaskType::Pointer    mask;
  unsigned char                 insideValue{ 1 };
  typename ImageType::IndexType seed;
};

/** What both filters of gray levels have, but for the names of the methods. */
template <typename TFilter>
void
DrawRange(TFilter * filter, Discretization method, Draws & draws)
{
  filter->SetNumberOfGrayLevels(
    method == Discretization::Identity ? 61 : draws.OneOf<unsigned int>({ 1, 2, 7, 16, 32, 64, 255, 1000, 65535 }));
  filter->SetBinWidth(draws.OneOf<double>({ 0.3, 1.0, 2.5, 7.0, 25.0, 100.0 }));
  filter->SetRangeSource(static_cast<RangeSource>(draws.Below(3)));
  filter->SetRangeMinimum(draws.OneOf<double>({ -250.5, 0.0, 10.0 }));
  filter->SetRangeMaximum(draws.OneOf<double>({ 11.0, 100.25, 255.0, 1200.0 }));
}

template <typename TFilter, typename TScene>
void
SetMask(TFilter * filter, const TScene & scene, Draws & draws)
{
  if (draws.Percent(60))
  {
    filter->SetMaskImage(scene.mask);
    filter->SetInsidePixelValue(scene.insideValue);
  }
}

/** What the filter used, if it is discretization. */
template <typename TFilter>
std::uint64_t
HashUsed(const TFilter * filter, std::uint64_t hash)
{
  const double used[]{ filter->GetUsedRangeMinimum(),
                       filter->GetUsedRangeMaximum(),
                       static_cast<double>(filter->GetUsedNumberOfGrayLevels()) };
  return Hash(used, sizeof(used), hash);
}

/** Compute with 1 and 3 threads. */
template <typename TFilter, typename THash>
void
CheckWorkUnits(GoldenGroup & group, TFilter * filter, const THash & hash)
{
  for (const itk::ThreadIdType workUnits : { 1, 3 })
  {
    filter->SetNumberOfWorkUnits(workUnits);
    filter->Modified();
    filter->Update();
    group.Check(std::to_string(workUnits) + " work units", hash());
  }
}

/** The same with the methods of the device that take the case, where the filter is one of a device. */
template <typename TFilter, typename THash>
void
CheckEngines(GoldenGroup & group, TFilter * filter, [[maybe_unused]] int numberOfCudaMethods, const THash & hash)
{
#if defined(VOXELMAPS_TEST_CUDA)
  for (int number = 0; number < numberOfCudaMethods; ++number)
  {
    const auto         method = static_cast<typename TFilter::CudaMethodEnum>(number);
    std::ostringstream variant;
    variant << method;
    filter->SetCudaMethod(method);
    try
    {
      filter->Modified();
      filter->Update();
    }
    catch (const itk::ExceptionObject & error)
    {
      if (std::string(error.GetDescription()).find("cannot take") == std::string::npos)
      {
        throw;
      }
      continue;
    }
    group.Check(variant.str(), hash());
  }
#else
  CheckWorkUnits(group, filter, hash);
#endif
}

template <typename TPixel, unsigned int VDimension>
void
CheckDiscretization(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using LevelImage = itk::Image<unsigned short, VDimension>;
  using FilterType = itk::GrayLevelDiscretizationImageFilter<typename SceneType::ImageType, LevelImage>;
  for (int i = 0; i < 8; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(i % 4);
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    CheckWorkUnits(group, filter.GetPointer(), [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

/** A part of a region, or all of it. */
template <typename TRegion>
TRegion
DrawPart(TRegion region, Draws & draws)
{
  const bool isPart = draws.Percent(40);
  for (unsigned int axis = 0; isPart && axis < TRegion::ImageDimension; ++axis)
  {
    const auto         size = static_cast<std::int64_t>(region.GetSize(axis));
    const std::int64_t before = draws.Below(size);
    region.SetIndex(axis, region.GetIndex(axis) + before);
    region.SetSize(axis, static_cast<itk::SizeValueType>(draws.Between(1, size - before)));
  }
  return region;
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckSizeZoneFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = SizeZoneFilter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetDiscretizationMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    filter->SetConnectivity(static_cast<typename FilterType::ConnectivityEnum>(draws.Below(2)));
    auto features = itk::SizeZoneFeatureMapEnums::GetAllFeatures();
    if (draws.Percent(30))
    {
      draws.Shuffle(features);
      features.resize(static_cast<std::size_t>(draws.Between(1, 16)));
      filter->SetFeatures(features);
    }
    filter->SetNeighborhoodRadius(static_cast<itk::SizeValueType>(draws.Between(1, 4)));
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    constexpr int numberOfCudaMethods = 3;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckRunLengthFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = RunLengthFilter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetDiscretizationMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    filter->SetAggregation(static_cast<typename FilterType::AggregationEnum>(draws.Below(3)));
    if (draws.Percent(50))
    {
      filter->SetFeatures(itk::RunLengthFeatureMapEnums::GetAllFeatures());
    }
    if (draws.Percent(30))
    {
      filter->SetOffsets(FilterType::GetInPlaneOffsets());
    }
    typename FilterType::SizeType   size;
    typename FilterType::OffsetType anchor;
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      size[axis] = static_cast<itk::SizeValueType>(draws.Between(1, 6));
      anchor[axis] = draws.Below(static_cast<std::int64_t>(size[axis]));
    }
    switch (draws.Below(3))
    {
      case 0:
        filter->SetNeighborhoodRadius(static_cast<itk::SizeValueType>(draws.Between(1, 3)));
        break;
      case 1:
        filter->SetWindowSize(size);
        break;
      default:
        filter->SetWindowSize(size);
        filter->SetWindowAnchor(anchor);
    }
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    constexpr int numberOfCudaMethods = 5;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckCooccurrenceFilter(GoldenGroup & group, std::vector<itk::CooccurrenceFeatureMapEnums::Feature> features)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = CooccurrenceFilter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetDiscretizationMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    filter->SetAggregation(static_cast<typename FilterType::AggregationEnum>(draws.Below(3)));
    filter->SetSymmetric(draws.Percent(60));
    auto selected = features;
    if (draws.Percent(30))
    {
      draws.Shuffle(selected);
      selected.resize(static_cast<std::size_t>(draws.Between(1, static_cast<std::int64_t>(features.size()))));
    }
    filter->SetFeatures(selected);
    switch (draws.Below(4))
    {
      case 0:
        filter->SetOffsets(FilterType::GetInPlaneOffsets());
        break;
      case 1:
        filter->SetDistances({ 2, 1 });
        break;
      default:
        break;
    }
    filter->SetNeighborhoodRadius(static_cast<itk::SizeValueType>(draws.Between(1, 3)));
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    constexpr int numberOfCudaMethods = 2;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckDependenceFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = DependenceFilter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetDiscretizationMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    filter->SetAlpha(draws.OneOf<unsigned int>({ 0, 0, 1, 5 }));
    auto features = itk::DependenceFeatureMapEnums::GetAllFeatures();
    if (draws.Percent(30))
    {
      draws.Shuffle(features);
      features.resize(static_cast<std::size_t>(draws.Between(1, 14)));
      filter->SetFeatures(features);
    }
    if (draws.Percent(30))
    {
      filter->SetDistances({ 2, 1 });
    }
    filter->SetNeighborhoodRadius(static_cast<itk::SizeValueType>(draws.Between(1, 3)));
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    constexpr int numberOfCudaMethods = 2;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckFirstOrderFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = FirstOrderFilter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetDiscretizationMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    filter->SetVoxelArrayShift(draws.OneOf<double>({ 0.0, 1000.0 }));
    auto features = itk::FirstOrderFeatureMapEnums::GetAllFeatures();
    if (draws.Percent(30))
    {
      draws.Shuffle(features);
      features.resize(static_cast<std::size_t>(draws.Between(1, 19)));
    }
    filter->SetFeatures(features);
    typename FilterType::SizeType   size;
    typename FilterType::OffsetType anchor;
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      size[axis] = static_cast<itk::SizeValueType>(draws.Between(1, 7));
      anchor[axis] = draws.Below(static_cast<std::int64_t>(size[axis]));
    }
    filter->SetWindowSize(size);
    filter->SetWindowAnchor(anchor);
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    constexpr int numberOfCudaMethods = 3;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckGrayToneDifferenceFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = GrayToneDifferenceFilter<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    filter->SetDiscretizationMethod(method);
    DrawRange(filter.GetPointer(), method, draws);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    filter->SetCountVoxelsWithoutNeighbors(draws.Percent(60));
    auto features = itk::GrayToneDifferenceFeatureMapEnums::GetAllFeatures();
    if (draws.Percent(30))
    {
      draws.Shuffle(features);
      features.resize(static_cast<std::size_t>(draws.Between(1, 5)));
      filter->SetFeatures(features);
    }
    switch (draws.Below(4))
    {
      case 0:
        filter->SetOffsets(FilterType::GetInPlaneOffsets());
        break;
      case 1:
        filter->SetDistances({ 2, 1 });
        break;
      default:
        break;
    }
    filter->SetNeighborhoodRadius(static_cast<itk::SizeValueType>(draws.Between(1, 3)));
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    constexpr int numberOfCudaMethods = 3;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      return HashUsed(filter.GetPointer(), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckConnectednessFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = FuzzyConnectednessFilter<typename SceneType::ImageType, itk::Image<TReal, VDimension>>;
  for (int i = 0; i < 4; ++i)
  {
    Draws           draws(group.NextCase());
    const SceneType scene(true, draws);
    const auto      filter = FilterType::New();
    filter->SetInput(scene.image);
    SetMask(filter.GetPointer(), scene, draws);
    filter->SetSeed(scene.seed);
    if (draws.Percent(30)) // the same seed once more
    {
      const auto seeds = SceneType::MaskType::New();
      seeds->CopyInformation(scene.mask);
      seeds->SetRegions(scene.mask->GetLargestPossibleRegion());
      seeds->Allocate(true);
      seeds->SetPixel(scene.seed, 7);
      filter->SetSeedImage(seeds);
    }
    filter->SetAffinityFunction(static_cast<typename FilterType::AffinityFunctionEnum>(draws.Below(4)));
    filter->SetAdjacency(static_cast<typename FilterType::AdjacencyEnum>(draws.Below(3)));
    filter->SetObjectMean(static_cast<double>(draws.Between(0, 60)));
    filter->SetObjectVariance(draws.OneOf<double>({ 30.0, 400.0, 1000.5 }));
    filter->SetDifferenceMean(draws.OneOf<double>({ 0.0, 4.5 }));
    filter->SetDifferenceVariance(draws.OneOf<double>({ 10.0, 250.25 }));
    filter->SetEstimateAffinityFromSeeds(draws.Percent(50));
    filter->SetEstimationRadius(3);
    filter->SetWeight(draws.OneOf<double>({ 0.25, 0.5 }));
    filter->SetMinimumStrength(draws.OneOf<double>({ 0.0, 0.0, 0.125 }));
    filter->SetDistanceWeighting(draws.Percent(30));
    constexpr int numberOfCudaMethods = 4;
    CheckEngines(group, filter.GetPointer(), numberOfCudaMethods, [&filter] {
      const double used[]{ filter->GetUsedObjectMean(),
                           filter->GetUsedObjectVariance(),
                           filter->GetUsedDifferenceMean(),
                           filter->GetUsedDifferenceVariance() };
      return Hash(used, sizeof(used), Hash(GetBuffer(filter->GetOutput())));
    });
  }
}
} // namespace

TEST(GoldenFilters, GrayLevelDiscretization)
{
  GoldenGroup group("GrayLevelDiscretizationFilter");
  CheckDiscretization<unsigned char, 2>(group);
  CheckDiscretization<short, 3>(group);
  CheckDiscretization<unsigned short, 2>(group);
  CheckDiscretization<float, 2>(group);
  CheckDiscretization<float, 3>(group);
  CheckDiscretization<double, 3>(group);
}

TEST(GoldenFilters, CooccurrenceFeatureMap)
{
  GoldenGroup group("CooccurrenceFeatureMapFilter");
  auto        features = itk::CooccurrenceFeatureMapEnums::GetAllFeatures();
  features.pop_back(); // has cases of its own
  CheckCooccurrenceFilter<unsigned char, 2, float>(group, features);
  CheckCooccurrenceFilter<unsigned char, 3, double>(group, features);
  CheckCooccurrenceFilter<short, 3, float>(group, features);
  CheckCooccurrenceFilter<float, 2, double>(group, features);
  CheckCooccurrenceFilter<double, 3, float>(group, features);
}

TEST(GoldenFilters, MaximalCorrelationMap)
{
  GoldenGroup                                                  group("MaximalCorrelationMapFilter");
  const std::vector<itk::CooccurrenceFeatureMapEnums::Feature> features{
    itk::CooccurrenceFeatureMapEnums::Feature::MaximalCorrelationCoefficient
  };
  CheckCooccurrenceFilter<unsigned char, 2, double>(group, features);
  CheckCooccurrenceFilter<short, 3, double>(group, features);
  CheckCooccurrenceFilter<float, 3, float>(group, features);
}

TEST(GoldenFilters, DependenceFeatureMap)
{
  GoldenGroup group("DependenceFeatureMapFilter");
  CheckDependenceFilter<unsigned char, 2, float>(group);
  CheckDependenceFilter<unsigned char, 3, double>(group);
  CheckDependenceFilter<short, 3, float>(group);
  CheckDependenceFilter<float, 2, double>(group);
  CheckDependenceFilter<double, 3, float>(group);
}

TEST(GoldenFilters, FirstOrderFeatureMap)
{
  GoldenGroup group("FirstOrderFeatureMapFilter");
  CheckFirstOrderFilter<unsigned char, 2, float>(group);
  CheckFirstOrderFilter<short, 3, float>(group);
  CheckFirstOrderFilter<short, 2, double>(group);
  CheckFirstOrderFilter<float, 3, float>(group);
  CheckFirstOrderFilter<float, 2, double>(group);
  CheckFirstOrderFilter<double, 3, double>(group);
}

TEST(GoldenFilters, GrayToneDifferenceFeatureMap)
{
  GoldenGroup group("GrayToneDifferenceFeatureMapFilter");
  CheckGrayToneDifferenceFilter<unsigned char, 2, float>(group);
  CheckGrayToneDifferenceFilter<short, 3, float>(group);
  CheckGrayToneDifferenceFilter<float, 2, double>(group);
  CheckGrayToneDifferenceFilter<float, 3, double>(group);
}

TEST(GoldenFilters, RunLengthFeatureMap)
{
  GoldenGroup group("RunLengthFeatureMapFilter");
  CheckRunLengthFilter<unsigned char, 2, float>(group);
  CheckRunLengthFilter<unsigned char, 3, double>(group);
  CheckRunLengthFilter<short, 2, double>(group);
  CheckRunLengthFilter<short, 3, float>(group);
  CheckRunLengthFilter<unsigned short, 2, float>(group);
  CheckRunLengthFilter<float, 2, double>(group);
  CheckRunLengthFilter<float, 3, float>(group);
  CheckRunLengthFilter<double, 3, double>(group);
}

TEST(GoldenFilters, SizeZoneFeatureMap)
{
  GoldenGroup group("SizeZoneFeatureMapFilter");
  CheckSizeZoneFilter<unsigned char, 2, float>(group);
  CheckSizeZoneFilter<unsigned char, 3, double>(group);
  CheckSizeZoneFilter<short, 3, float>(group);
  CheckSizeZoneFilter<float, 2, double>(group);
  CheckSizeZoneFilter<double, 3, float>(group);
}

TEST(GoldenFilters, FuzzyConnectedness)
{
  GoldenGroup group("FuzzyConnectednessFilter");
  CheckConnectednessFilter<unsigned char, 2, float>(group);
  CheckConnectednessFilter<short, 3, float>(group);
  CheckConnectednessFilter<unsigned short, 2, double>(group);
  CheckConnectednessFilter<float, 3, double>(group);
  CheckConnectednessFilter<double, 2, float>(group);
}
