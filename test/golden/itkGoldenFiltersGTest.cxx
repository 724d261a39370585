// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The filters around the engines: types of pixels, discretization, masks, regions and estimates.
namespace
{
using namespace VoxelMapsGolden;
using namespace VoxelMapsTest;

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
    image = MakeImage<ImageType>(size, pixels, start);
    mask = MakeImage<MaskType>(size, inside, start);
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

/** Set the method and what it uses. */
template <typename TFilter>
void
DrawRange(TFilter * filter, Discretization method, Draws & draws)
{
  const unsigned int levels =
    method == Discretization::Identity ? 61 : draws.OneOf<unsigned int>({ 1, 2, 7, 16, 32, 64, 255, 1000, 65535 });
  const double binWidth = draws.OneOf<double>({ 0.3, 1.0, 2.5, 7.0, 25.0, 100.0 });
  const auto   rangeSource = static_cast<RangeSource>(draws.Below(3));
  const double minimum = draws.OneOf<double>({ -250.5, 0.0, 10.0 });
  const double maximum = draws.OneOf<double>({ 11.0, 100.25, 255.0, 1200.0 });
  filter->SetDiscretizationMethod(method);
  if (method == Discretization::FixedBinNumber || method == Discretization::Identity)
  {
    filter->SetNumberOfGrayLevels(levels);
  }
  else
  {
    filter->SetBinWidth(binWidth);
  }
  filter->SetRangeSource(rangeSource);
  if (method != Discretization::Identity && rangeSource == RangeSource::Given)
  {
    filter->SetRangeMinimum(minimum);
    filter->SetRangeMaximum(maximum);
  }
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

/** All features, or some of them in any order. */
template <typename TFeature>
std::vector<TFeature>
DrawFeatures(std::vector<TFeature> features, Draws & draws)
{
  if (draws.Percent(30))
  {
    draws.Shuffle(features);
    features.resize(static_cast<std::size_t>(draws.Between(1, static_cast<std::int64_t>(features.size()))));
  }
  return features;
}

/** Set a window of this radius. */
template <typename TFilter>
void
DrawRadius(TFilter * filter, std::int64_t maxRadius, Draws & draws)
{
  filter->SetNeighborhoodRadius(static_cast<itk::SizeValueType>(draws.Between(1, maxRadius)));
}

/** Draw a window with an anchor. */
template <typename TFilter>
auto
DrawWindow(const TFilter *, std::int64_t maxSize, Draws & draws)
{
  std::pair<typename TFilter::SizeType, typename TFilter::OffsetType> window;
  for (unsigned int axis = 0; axis < TFilter::ImageDimension; ++axis)
  {
    window.first[axis] = static_cast<itk::SizeValueType>(draws.Between(1, maxSize));
    window.second[axis] = draws.Below(static_cast<std::int64_t>(window.first[axis]));
  }
  return window;
}

template <typename TFilter>
void
DrawOffsets(TFilter * filter, Draws & draws)
{
  switch (draws.Below(4))
  {
    case 0:
      filter->SetOffsets(TFilter::GetInPlaneOffsets());
      break;
    case 1:
      filter->SetDistances({ 2, 1 });
      break;
    default:
      break;
  }
}

// What is drawn for each texture class: its own parameters, features and window.

struct SizeZone
{
  template <typename TImage, typename TMaps>
  using FilterType = itk::SizeZoneFeatureMapImageFilter<TImage, TMaps>;

  template <typename TFilter>
  static void
  Draw(TFilter * filter, Draws & draws)
  {
    filter->SetConnectivity(static_cast<typename TFilter::ConnectivityEnum>(draws.Below(2)));
    filter->SetFeatures(DrawFeatures(itk::SizeZoneFeatureMapEnums::GetAllFeatures(), draws));
    DrawRadius(filter, 4, draws);
  }
};

struct RunLength
{
  template <typename TImage, typename TMaps>
  using FilterType = itk::RunLengthFeatureMapImageFilter<TImage, TMaps>;

  template <typename TFilter>
  static void
  Draw(TFilter * filter, Draws & draws)
  {
    filter->SetAggregation(static_cast<typename TFilter::AggregationEnum>(draws.Below(3)));
    if (draws.Percent(50))
    {
      filter->SetFeatures(itk::RunLengthFeatureMapEnums::GetAllFeatures());
    }
    if (draws.Percent(30))
    {
      filter->SetOffsets(TFilter::GetInPlaneOffsets());
    }
    const auto window = DrawWindow(filter, 6, draws);
    switch (draws.Below(3))
    {
      case 0:
        DrawRadius(filter, 3, draws);
        break;
      case 1:
        filter->SetWindowSize(window.first);
        break;
      default:
        filter->SetWindowSize(window.first);
        filter->SetWindowAnchor(window.second);
    }
  }
};

template <bool VIsMaximalCorrelation>
struct CooccurrenceOf
{
  template <typename TImage, typename TMaps>
  using FilterType = itk::CooccurrenceFeatureMapImageFilter<TImage, TMaps>;

  template <typename TFilter>
  static void
  Draw(TFilter * filter, Draws & draws)
  {
    // The last one has cases of its own.
    auto       features = itk::CooccurrenceFeatureMapEnums::GetAllFeatures();
    const auto last = features.back();
    features.pop_back();
    filter->SetAggregation(static_cast<typename TFilter::AggregationEnum>(draws.Below(3)));
    filter->SetSymmetric(draws.Percent(60));
    filter->SetFeatures(DrawFeatures(VIsMaximalCorrelation ? decltype(features){ last } : features, draws));
    DrawOffsets(filter, draws);
    DrawRadius(filter, 3, draws);
  }
};
using Cooccurrence = CooccurrenceOf<false>;
using MaximalCorrelation = CooccurrenceOf<true>;

struct Dependence
{
  template <typename TImage, typename TMaps>
  using FilterType = itk::DependenceFeatureMapImageFilter<TImage, TMaps>;

  template <typename TFilter>
  static void
  Draw(TFilter * filter, Draws & draws)
  {
    filter->SetAlpha(draws.OneOf<unsigned int>({ 0, 0, 1, 5 }));
    filter->SetFeatures(DrawFeatures(itk::DependenceFeatureMapEnums::GetAllFeatures(), draws));
    if (draws.Percent(30))
    {
      filter->SetDistances({ 2, 1 });
    }
    DrawRadius(filter, 3, draws);
  }
};

struct FirstOrder
{
  template <typename TImage, typename TMaps>
  using FilterType = itk::FirstOrderFeatureMapImageFilter<TImage, TMaps>;

  template <typename TFilter>
  static void
  Draw(TFilter * filter, Draws & draws)
  {
    filter->SetVoxelArrayShift(draws.OneOf<double>({ 0.0, 1000.0 }));
    filter->SetFeatures(DrawFeatures(itk::FirstOrderFeatureMapEnums::GetAllFeatures(), draws));
    const auto window = DrawWindow(filter, 7, draws);
    filter->SetWindowSize(window.first);
    filter->SetWindowAnchor(window.second);
  }
};

struct GrayToneDifference
{
  template <typename TImage, typename TMaps>
  using FilterType = itk::GrayToneDifferenceFeatureMapImageFilter<TImage, TMaps>;

  template <typename TFilter>
  static void
  Draw(TFilter * filter, Draws & draws)
  {
    filter->SetCountVoxelsWithoutNeighbors(draws.Percent(60));
    filter->SetFeatures(DrawFeatures(itk::GrayToneDifferenceFeatureMapEnums::GetAllFeatures(), draws));
    DrawOffsets(filter, draws);
    DrawRadius(filter, 3, draws);
  }
};

template <typename TClass, typename TPixel, unsigned int VDimension, typename TReal>
void
CheckTextureFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType =
    typename TClass::template FilterType<typename SceneType::ImageType, itk::VectorImage<TReal, VDimension>>;
  for (int i = 0; i < 6; ++i)
  {
    Draws           draws(group.NextCase());
    const auto      method = static_cast<Discretization>(draws.Below(4));
    const SceneType scene(method == Discretization::Identity, draws);
    const auto      pointer = NewFilter<FilterType>();
    auto * const    filter = pointer.GetPointer();
    filter->SetInput(scene.image);
    DrawRange(filter, method, draws);
    SetMask(filter, scene, draws);
    filter->SetBackgroundValue(draws.OneOf<double>({ 0.0, -1.0 }));
    TClass::Draw(filter, draws);
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(DrawPart(scene.image->GetLargestPossibleRegion(), draws));
    CheckWorkUnits(group, filter, [filter] { return HashUsed(filter, Hash(GetBuffer(filter->GetOutput()))); });
  }
}

/** Pixel type, dimension and type of the maps. */
template <typename TPixel, unsigned int VDimension, typename TReal>
struct Types
{
  template <typename TClass>
  static void
  Check(GoldenGroup & group)
  {
    CheckTextureFilter<TClass, TPixel, VDimension, TReal>(group);
  }
};

/** All cases of a texture class, in the order of the types. */
template <typename TClass, typename... TTypes>
void
CheckTextureFilters(const char * groupName)
{
  GoldenGroup group(groupName);
  (TTypes::template Check<TClass>(group), ...);
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
CheckConnectednessFilter(GoldenGroup & group)
{
  using SceneType = Scene<TPixel, VDimension>;
  using FilterType = itk::FuzzyConnectednessImageFilter<typename SceneType::ImageType, itk::Image<TReal, VDimension>>;
  for (int i = 0; i < 4; ++i)
  {
    Draws           draws(group.NextCase());
    const SceneType scene(true, draws);
    const auto      filter = NewFilter<FilterType>();
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
    itk::FuzzyConnectednessAffinity affinity;
    affinity.objectMean = { static_cast<double>(draws.Between(0, 60)) };
    affinity.objectCovariance = { draws.OneOf<double>({ 30.0, 400.0, 1000.5 }) };
    affinity.differenceMean = { draws.OneOf<double>({ 0.0, 4.5 }) };
    affinity.differenceCovariance = { draws.OneOf<double>({ 10.0, 250.25 }) };
    filter->SetAffinity(affinity);
    filter->SetEstimateAffinityFromSeeds(draws.Percent(50));
    filter->SetEstimationRadius(3);
    filter->SetWeight(draws.OneOf<double>({ 0.25, 0.5 }));
    filter->SetMinimumStrength(draws.OneOf<double>({ 0.0, 0.0, 0.125 }));
    filter->SetDistanceWeighting(draws.Percent(30));
    CheckWorkUnits(group, filter.GetPointer(), [&filter] {
      const auto & affinity = filter->GetUsedAffinity();
      const double used[]{ affinity.objectMean[0],
                           affinity.objectCovariance[0],
                           affinity.differenceMean[0],
                           affinity.differenceCovariance[0] };
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
  CheckTextureFilters<Cooccurrence,
                      Types<unsigned char, 2, float>,
                      Types<unsigned char, 3, double>,
                      Types<short, 3, float>,
                      Types<float, 2, double>,
                      Types<double, 3, float>>("CooccurrenceFeatureMapFilter");
}

TEST(GoldenFilters, MaximalCorrelationMap)
{
  CheckTextureFilters<MaximalCorrelation,
                      Types<unsigned char, 2, double>,
                      Types<short, 3, double>,
                      Types<float, 3, float>>("MaximalCorrelationMapFilter");
}

TEST(GoldenFilters, DependenceFeatureMap)
{
  CheckTextureFilters<Dependence,
                      Types<unsigned char, 2, float>,
                      Types<unsigned char, 3, double>,
                      Types<short, 3, float>,
                      Types<float, 2, double>,
                      Types<double, 3, float>>("DependenceFeatureMapFilter");
}

TEST(GoldenFilters, FirstOrderFeatureMap)
{
  CheckTextureFilters<FirstOrder,
                      Types<unsigned char, 2, float>,
                      Types<short, 3, float>,
                      Types<short, 2, double>,
                      Types<float, 3, float>,
                      Types<float, 2, double>,
                      Types<double, 3, double>>("FirstOrderFeatureMapFilter");
}

TEST(GoldenFilters, GrayToneDifferenceFeatureMap)
{
  CheckTextureFilters<GrayToneDifference,
                      Types<unsigned char, 2, float>,
                      Types<short, 3, float>,
                      Types<float, 2, double>,
                      Types<float, 3, double>>("GrayToneDifferenceFeatureMapFilter");
}

TEST(GoldenFilters, RunLengthFeatureMap)
{
  CheckTextureFilters<RunLength,
                      Types<unsigned char, 2, float>,
                      Types<unsigned char, 3, double>,
                      Types<short, 2, double>,
                      Types<short, 3, float>,
                      Types<unsigned short, 2, float>,
                      Types<float, 2, double>,
                      Types<float, 3, float>,
                      Types<double, 3, double>>("RunLengthFeatureMapFilter");
}

TEST(GoldenFilters, SizeZoneFeatureMap)
{
  CheckTextureFilters<SizeZone,
                      Types<unsigned char, 2, float>,
                      Types<unsigned char, 3, double>,
                      Types<short, 3, float>,
                      Types<float, 2, double>,
                      Types<double, 3, float>>("SizeZoneFeatureMapFilter");
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
