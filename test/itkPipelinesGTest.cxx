// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkCastImageFilter.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFeatureMapsImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkResponseMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// What all filters do in pipelines, and what those of connectedness do, which compute their entire output at once.
namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using FilterType = itk::FuzzyConnectednessImageFilter<ImageType>;
using OutputType = FilterType::OutputImageType;
using RegionType = ImageType::RegionType;
using AffinityFunction = FilterType::AffinityFunctionEnum;
using Adjacency = FilterType::AdjacencyEnum;
using namespace VoxelMapsTest;

// Fast enough for large images.
std::vector<std::string>
GetFastMethods()
{
  return IsCudaTest() ? std::vector<std::string>{ "Hierarchy" } : std::vector<std::string>{ "Buckets", "Hierarchy" };
}

/** A noisy image of more than one tile, a mask with holes, and seeds. */
struct Scene
{
  explicit Scene(const ImageType::IndexType & start = ImageType::IndexType{ {} })
  {
    RandomNumbers              random(7);
    const ImageType::SizeType  size{ { 37, 33, 19 } };
    const std::size_t          count = size[0] * size[1] * size[2];
    std::vector<short>         pixels(count);
    std::vector<unsigned char> inside(count);
    std::vector<unsigned char> isSeed(count, 0);
    for (std::size_t i = 0; i < count; ++i)
    {
      pixels[i] = static_cast<short>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(-200, 1000));
      inside[i] = random.Chance(0.9) ? 1 : 0;
    }
    seeds = { { { start[0] + 4, start[1] + 5, start[2] + 6 } }, { { start[0] + 30, start[1] + 20, start[2] } } };
    image = MakeImage<ImageType>(size, pixels, start);
    mask = MakeImage<MaskType>(size, inside, start);
    seedImage = MakeImage<MaskType>(size, isSeed, start);
    for (const ImageType::IndexType & seed : seeds)
    {
      mask->SetPixel(seed, 1);
      seedImage->SetPixel(seed, 3);
    }
  }

  FilterType::Pointer
  MakeFilter() const;

  ImageType::Pointer    image;
  MaskType::Pointer     mask;
  MaskType::Pointer     seedImage;
  FilterType::SeedsType seeds;
};

using RelativeType = itk::RelativeFuzzyConnectednessImageFilter<ImageType>;
template <typename TFilter>
constexpr bool isOneObject = std::is_same<TFilter, FilterType>::value;
template <typename TFilter>
constexpr bool isConnectedness = isOneObject<TFilter> || std::is_same<TFilter, RelativeType>::value;
template <typename TFilter>
constexpr bool isDiscretization =
  std::is_same<TFilter, itk::GrayLevelDiscretizationImageFilter<ImageType, itk::Image<unsigned short, 3>>>::value;

/** Set what a filter computes of a scene. */
template <typename TFilter>
void
SetParameters(TFilter * filter, const Scene & scene, const std::string & method = {})
{
  if constexpr (isConnectedness<TFilter>)
  {
    filter->SetAffinity({ { 400.0 }, { 40000.0 }, { 100.0 }, { 10000.0 } });
    filter->SetMethod(method);
  }
  else if constexpr (!hasMask<TFilter>)
  {
    filter->SetFilter(itk::ResponseMapEnums::Filter::Laws);
    filter->SetKernels("E5L5S5");
    filter->SetPooling(itk::ResponseMapEnums::Pooling::Mean);
    filter->ComputeEnergyOn();
  }
  else
  {
    filter->SetRangeMinimum(-150.0);
    filter->SetRangeMaximum(900.0);
  }
  if constexpr (isOneObject<TFilter>)
  {
    filter->SetSeeds(scene.seeds);
  }
  else if constexpr (isConnectedness<TFilter>)
  {
    filter->AddSeed(scene.seeds[0], 1);
    filter->AddSeed(scene.seeds[1], 2);
    filter->SetCompetition(itk::RelativeFuzzyConnectednessEnums::Competition::Iterative);
  }
  else if constexpr (std::is_base_of<itk::TextureFeatureMapImageFilter<ImageType>, TFilter>::value)
  {
    filter->SetNeighborhoodRadius(1);
    if (filter->GetFeatureNames().empty())
    {
      filter->SetFeatureNames({ "glcm_Contrast", "firstorder_Mean", "glszm_ZonePercentage", "glrlm_RP" });
    }
  }
}

FilterType::Pointer
Scene::MakeFilter() const
{
  const auto filter = NewFilter<FilterType>();
  filter->SetInput(image);
  filter->SetMaskImage(mask);
  SetParameters(filter.GetPointer(), *this);
  return filter;
}

/** For an image for which every CPU method needs more than a second. */
FilterType::Pointer
MakeLargeFilter(ImageType * image, const std::string & method)
{
  auto filter = NewFilter<FilterType>();
  filter->SetInput(image);
  filter->SetSeed({ { 128, 128, 128 } });
  filter->SetAffinity({ { 512.0 }, { 1e5 }, {}, { 1e4 } });
  filter->SetAdjacency(Adjacency::Full);
  filter->SetMethod(method);
  return filter;
}

template <typename TFilter>
class Pipelines : public ::testing::Test
{
public:
  typename TFilter::Pointer
  MakeFilter(const std::string & method = {}) const
  {
    const auto filter = NewFilter<TFilter>();
    filter->SetInput(image);
    if constexpr (hasMask<TFilter>)
    {
      filter->SetMaskImage(mask);
    }
    SetParameters(filter.GetPointer(), scene, method);
    return filter;
  }

  const std::vector<std::string> methods =
    isOneObject<TFilter> ? GetConnectednessMethods() : std::vector<std::string>{ "" };
  const Scene              scene;
  const ImageType::Pointer image = scene.image;
  const MaskType::Pointer  mask = scene.mask;
};
using Filters =
  ::testing::Types<itk::CooccurrenceFeatureMapImageFilter<ImageType>, itk::DependenceFeatureMapImageFilter<ImageType>,
                   itk::FeatureMapsImageFilter<ImageType>, itk::FirstOrderFeatureMapImageFilter<ImageType>, FilterType,
                   itk::GrayLevelDiscretizationImageFilter<ImageType, itk::Image<unsigned short, 3>>,
                   itk::GrayToneDifferenceFeatureMapImageFilter<ImageType>, RelativeType,
                   itk::ResponseMapImageFilter<ImageType>, itk::RunLengthFeatureMapImageFilter<ImageType>,
                   itk::SizeZoneFeatureMapImageFilter<ImageType>>;
TYPED_TEST_SUITE(Pipelines, Filters);
} // namespace

TYPED_TEST(Pipelines, WorkUnitsDoNotChangeBits)
{
  for (const std::string & method : this->methods)
  {
    ExpectWorkUnitsDoNotChangeBits([&] { return this->MakeFilter(method); });
  }
}

TYPED_TEST(Pipelines, ProgressGrowsFrom0To1)
{
  for (const std::string & method : this->methods)
  {
    for (const unsigned int workUnits : { 1u, 2u, 8u })
    {
      const auto filter = this->MakeFilter(method);
      filter->SetNumberOfWorkUnits(workUnits);
      ExpectProgressGrowsTo1(filter, [](float first) {
        EXPECT_GE(first, 0.0f);
        EXPECT_LT(first, isConnectedness<TypeParam> ? 1e-9f : 1.0f);
      });
    }
  }
}

TYPED_TEST(Pipelines, WorksAgainAfterAbortsAndExceptions)
{
  const auto expected = Compute(this->MakeFilter());
  for (const std::string & method : this->methods)
  {
    SCOPED_TRACE(method);
    bool abort = true;
    ExpectWorksAgainAfterAborts(this->MakeFilter(method).GetPointer(), expected, abort);

    // Exceptions of observers pass unchanged.
    const auto filter = this->MakeFilter(method);
    filter->SetNumberOfWorkUnits(1);
    TypeParam * const   observed = filter;
    const unsigned long tag = Observe<itk::ProgressEvent>(filter, [observed] {
      if (observed->GetProgress() > 0.0f)
      {
        throw std::runtime_error("from an observer");
      }
    });
    try
    {
      filter->Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const std::runtime_error & error)
    {
      EXPECT_STREQ("from an observer", error.what());
    }
    // The engine was at work; CUDA may report the first voxels together with the last, as discretization does.
    EXPECT_LT(filter->GetProgress(), IsCudaTest() || isDiscretization<TypeParam> ? 1.1f : 1.0f);
    filter->RemoveObserver(tag);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  }
}

TYPED_TEST(Pipelines, SeveralMayRunAtTheSameTime)
{
  ExpectSameBitsAtTheSameTime(
    static_cast<const TestFixture &>(*this), 4, [this](const auto & filter, unsigned int number) {
      SetParameters(filter.GetPointer(), this->scene, this->methods[number % this->methods.size()]);
    });
}

TEST(FuzzyConnectednessPipeline, ARequestedRegionGivesTheWholeOutput)
{
  const Scene scene(ImageType::IndexType{ { 100, -200, 7 } });
  const auto  expected = Compute(scene.MakeFilter());
  const auto  filter = scene.MakeFilter();
  filter->SetSeedImage(scene.seedImage);
  filter->GetOutput()->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion(RegionType({ { 105, -195, 8 } }, { { 3, 2, 1 } }));
  filter->GetOutput()->PropagateRequestedRegion();
  const RegionType largest = scene.image->GetLargestPossibleRegion();
  EXPECT_EQ(largest, scene.image->GetRequestedRegion());
  EXPECT_EQ(largest, scene.mask->GetRequestedRegion());
  EXPECT_EQ(largest, scene.seedImage->GetRequestedRegion());
  filter->GetOutput()->UpdateOutputData();
  EXPECT_EQ(largest, filter->GetOutput()->GetBufferedRegion());
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput())));
}

TEST(FuzzyConnectednessPipeline, StreamingDownstreamComputesOnce)
{
  const Scene  scene(ImageType::IndexType{ { -3, 5, 40 } });
  const auto   expected = Compute(scene.MakeFilter());
  const auto   filter = scene.MakeFilter();
  unsigned int runs = 0;
  Observe<itk::EndEvent>(filter, [&runs] { ++runs; });
  const auto toDouble = itk::CastImageFilter<OutputType, itk::Image<double, 3>>::New();
  toDouble->SetInput(filter->GetOutput());
  const auto toFloat = itk::CastImageFilter<itk::Image<double, 3>, OutputType>::New();
  toFloat->SetInput(toDouble->GetOutput());
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(toFloat->GetOutput());
  streamer->SetNumberOfStreamDivisions(4);
  streamer->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
  EXPECT_EQ(1u, runs);
  // An output that is released after it was read is computed again for each piece.
  filter->ReleaseDataFlagOn();
  filter->Modified();
  streamer->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
  EXPECT_EQ(5u, runs);
}

TEST(FuzzyConnectednessPipeline, GeometryIsKeptAndDoesNotChangeBits)
{
  const Scene plain;
  const auto  expected = Compute(plain.MakeFilter());

  const Scene placed(ImageType::IndexType{ { -70, 3, 1000000 } });
  Place(placed.image.GetPointer(), placed.mask.GetPointer());

  const auto filter = placed.MakeFilter();
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  ExpectGeometry(filter.GetPointer(), placed.image.GetPointer());
  for (const ImageType::IndexType & seed : placed.seeds)
  {
    EXPECT_EQ(1.0f, filter->GetOutput()->GetPixel(seed));
  }
  // The spacing only matters with DistanceWeighting.
  filter->DistanceWeightingOn();
  EXPECT_FALSE(HasSameBits(expected, Compute(filter)));
}

TEST(FuzzyConnectednessPipeline, DoubleAndFloatAreTheSameStrengths)
{
  using DoubleFilter = itk::FuzzyConnectednessImageFilter<ImageType, itk::Image<double, 3>>;
  const Scene scene;
  const auto  floats = Compute(scene.MakeFilter());
  const auto  filter = NewFilter<DoubleFilter>();
  filter->SetInput(scene.image);
  filter->SetMaskImage(scene.mask);
  filter->SetSeeds(scene.seeds);
  filter->SetAffinity({ { 400.0 }, { 40000.0 }, {}, { 10000.0 } });
  for (const std::string & method : GetConnectednessMethods())
  {
    filter->SetMethod(method);
    filter->Update();
    const auto doubles = GetBuffer(filter->GetOutput());
    EXPECT_TRUE(HasSameBits(floats, std::vector<float>(doubles.begin(), doubles.end())));
    EXPECT_FALSE(std::equal(floats.begin(), floats.end(), doubles.begin())) << "doubles have more digits";
  }
}

TEST(FuzzyConnectednessPipeline, ComputesAgainOnlyAfterAChange)
{
  const Scene                      scene;
  ChangeChecker<FilterType, Scene> checker(scene);
  // Every parameter must change the result, and to that of a fresh filter.
  const std::vector<std::function<void(FilterType *)>> changes{
    [](FilterType * f) { f->SetAffinity({ { 300.0 }, { 40000.0 }, { 100.0 }, { 10000.0 } }); },
    [](FilterType * f) { f->SetAffinity({ { 300.0 }, { 20000.0 }, { 100.0 }, { 15000.0 } }); },
    [](FilterType * f) { f->SetAdjacency(Adjacency::FaceEdge); },
    [](FilterType * f) { f->SetAdjacency(Adjacency::Full); },
    [](FilterType * f) { f->DistanceWeightingOn(); },
    [](FilterType * f) { f->SetAffinityFunction(AffinityFunction::Minimum); },
    [](FilterType * f) { f->SetAffinityFunction(AffinityFunction::Homogeneity); },
    [](FilterType * f) { f->SetAffinityFunction(AffinityFunction::WeightedSum); },
    [](FilterType * f) { f->SetWeight(0.75); },
    [](FilterType * f) { f->SetAffinity({ { 300.0 }, { 20000.0 }, { 50.0 }, { 15000.0 } }); },
    [](FilterType * f) { f->SetMinimumStrength(0.5); },
    [](FilterType * f) { f->EstimateAffinityFromSeedsOn(); },
    [](FilterType * f) { f->SetEstimationRadius(3); },
    [&scene](FilterType * f) { f->SetSeed(scene.seeds[0]); },
    [](FilterType * f) { f->AddSeed({ { 9, 9, 9 } }); },
    [&scene](FilterType * f) { f->SetSeedImage(scene.seedImage); },
    [](FilterType * f) { f->SetMaskImage(nullptr); },
  };
  scene.mask->SetPixel({ { 9, 9, 9 } }, 1);
  const auto previous = checker.ExpectNewResults(changes);
  // The method does not change the result.
  EXPECT_TRUE(HasSameBits(previous, checker.ComputeAfter([](FilterType * f) { f->SetMethod("Hierarchy"); })));
  // New pixels give new results.
  scene.image->FillBuffer(3);
  scene.image->Modified();
  EXPECT_FALSE(HasSameBits(previous, checker.ComputeAfter([](FilterType * f) { f->EstimateAffinityFromSeedsOff(); })));
}

TEST(FuzzyConnectednessPipeline, ProgressIsReportedOnTheWay)
{
  if (IsCudaTest())
  {
    GTEST_SKIP() << "CUDA finishes this image without intermediate reports";
  }
  const auto image = MakeImageForProgress({ { 120, 110, 60 } });
  for (const std::string & method : GetConnectednessMethods())
  {
    const auto filter = NewFilter<FilterType>();
    filter->SetInput(image);
    filter->SetSeed({ { 60, 55, 30 } });
    filter->SetAffinity({ { 0.0 }, { 90000.0 }, {}, { 10000.0 } });
    filter->SetMethod(method);
    filter->SetNumberOfWorkUnits(2);
    SCOPED_TRACE(method);
    ExpectProgressOnTheWay(filter);
  }
}

TEST(FuzzyConnectednessPipeline, AbortFromAnObserver)
{
  const auto image = MakeLargeImage(10);
  for (const std::string & method : GetFastMethods())
  {
    // With CUDA, there are few progress events between start and end.
    for (const float progress : { 0.0f, IsCudaTest() ? 0.0f : 0.05f })
    {
      SCOPED_TRACE(::testing::Message() << method << " at progress " << progress);
      const auto filter = MakeLargeFilter(image, method);
      // Two threads: among many, the one that reports the progress may get nothing to do before the others have
      // finished.
      filter->SetNumberOfWorkUnits(2);
      EXPECT_LT(AbortFromAnObserver(filter, progress).elapsed, maxSecondsToAbort);
    }
  }
}

TEST(FuzzyConnectednessPipeline, AbortFromAnotherThread)
{
  const auto image = MakeLargeImage(10);
  const auto mask = MaskType::New();
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate();
  mask->FillBuffer(1);
  const auto seedImage = MaskType::New();
  seedImage->SetRegions(image->GetLargestPossibleRegion());
  seedImage->Allocate(true);
  seedImage->SetPixel({ { 255, 255, 255 } }, 1);
  for (const std::string & method : GetFastMethods())
  {
    // CUDA may have finished after 20 ms.
    for (const int milliseconds : { IsCudaTest() ? 4 : 50, IsCudaTest() ? 8 : 400 })
    {
      SCOPED_TRACE(::testing::Message() << method << " after " << milliseconds << " ms");
      const auto filter = MakeLargeFilter(image, method);
      filter->SetMaskImage(mask);
      filter->SetSeedImage(seedImage);
      EXPECT_LT(AbortFromAnotherThread(filter, milliseconds).elapsed, maxSecondsToAbort);
    }
  }
}
