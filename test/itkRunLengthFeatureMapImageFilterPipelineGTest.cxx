// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkCastImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using FilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;
using OutputType = FilterType::OutputImageType;
using RegionType = ImageType::RegionType;
using Enums = itk::RunLengthFeatureMapEnums;
using Aggregation = Enums::Aggregation;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using VoxelMapsTest::Compute;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::maxSecondsToAbort;
using VoxelMapsTest::Observe;
using VoxelMapsTest::RandomNumbers;

/** A noisy image with flat parts, and a mask with holes. */
struct Scene
{
  explicit Scene(const ImageType::IndexType & start = ImageType::IndexType{ {} })
  {
    RandomNumbers              random(7);
    const ImageType::SizeType  size{ { 37, 23, 11 } };
    const std::size_t          count = size[0] * size[1] * size[2];
    std::vector<short>         pixels(count);
    std::vector<unsigned char> inside(count);
    for (std::size_t i = 0; i < count; ++i)
    {
      pixels[i] = static_cast<short>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(-200, 1000));
      inside[i] = random.Chance(0.9) ? 1 : 0;
    }
    image = MakeImage<ImageType>(size, pixels, start);
    mask = MakeImage<MaskType>(size, inside, start);
  }

  FilterType::Pointer
  MakeFilter(RangeSource source = RangeSource::Given, bool useMask = true) const
  {
    auto filter = VoxelMapsTest::NewFilter<FilterType>();
    filter->SetInput(image);
    if (useMask)
    {
      filter->SetMaskImage(mask);
    }
    filter->SetRangeSource(source);
    filter->SetRangeMinimum(-150.0);
    filter->SetRangeMaximum(900.0);
    filter->SetFeatures(Enums::GetAllFeatures());
    filter->SetWindowSize({ { 5, 4, 3 } });
    filter->SetWindowAnchor({ { 1, 3, 0 } });
    return filter;
  }

  ImageType::Pointer image;
  MaskType::Pointer  mask;
};

/** The region that the features of a region are made of: padded by the window of Scene, cropped to the image. */
RegionType
PadByTheWindow(const RegionType & region, const RegionType & largest)
{
  RegionType padded;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    constexpr itk::IndexValueType before[3] = { 1, 3, 0 };
    constexpr itk::IndexValueType after[3] = { 3, 0, 2 };
    const auto                    begin = std::max(region.GetIndex(axis) - before[axis], largest.GetIndex(axis));
    const auto end = std::min(region.GetUpperIndex()[axis] + after[axis], largest.GetUpperIndex()[axis]);
    padded.SetIndex(axis, begin);
    padded.SetSize(axis, static_cast<itk::SizeValueType>(end - begin + 1));
  }
  return padded;
}

/** An image that the filter needs seconds for, with two threads. */
ImageType::Pointer
MakeLargeImage()
{
  return VoxelMapsTest::MakeLargeImage(8);
}

/** A filter that is not done too soon, however many processors there are. */
FilterType::Pointer
MakeTwoThreadFilter()
{
  auto filter = VoxelMapsTest::NewFilter<FilterType>();
  filter->SetNumberOfWorkUnits(2);
  return filter;
}
} // namespace

TEST(RunLengthPipeline, WorkUnitsDoNotChangeBits)
{
  const Scene scene;
  VoxelMapsTest::ExpectWorkUnitsDoNotChangeBits([&scene] { return scene.MakeFilter(); });
}

TEST(RunLengthPipeline, StreamDivisionsDoNotChangeBits)
{
  const Scene scene(ImageType::IndexType{ { -3, 5, 40 } });
  for (const Aggregation aggregation : { Aggregation::PerDirection, Aggregation::Average, Aggregation::Merge })
  {
    for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
    {
      const auto whole = scene.MakeFilter(source);
      whole->SetAggregation(aggregation);
      const auto expected = Compute(whole);
      for (const unsigned int divisions : { 1u, 2u, 7u })
      {
        const auto filter = scene.MakeFilter(source);
        filter->SetAggregation(aggregation);
        const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
        streamer->SetInput(filter->GetOutput());
        streamer->SetNumberOfStreamDivisions(divisions);
        streamer->Update();
        EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput()))) << divisions << " divisions";
        if (divisions > 1)
        {
          EXPECT_LT(filter->GetOutput()->GetBufferedRegion().GetNumberOfPixels() * 2,
                    scene.image->GetBufferedRegion().GetNumberOfPixels() * 3 / 2);
        }
      }
    }
  }
}

TEST(RunLengthPipeline, StreamsThroughAnUpstreamFilter)
{
  const Scene scene(ImageType::IndexType{ { 100, -200, 7 } });
  const auto  expected = Compute(scene.MakeFilter());

  using CastType = itk::CastImageFilter<ImageType, ImageType>;
  using CastMaskType = itk::CastImageFilter<MaskType, MaskType>;
  const auto cast = CastType::New();
  cast->SetInput(scene.image);
  cast->InPlaceOff();
  const auto castMask = CastMaskType::New();
  castMask->SetInput(scene.mask);
  castMask->InPlaceOff();
  const auto filter = scene.MakeFilter();
  filter->SetInput(cast->GetOutput());
  filter->SetMaskImage(castMask->GetOutput());
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(4);

  unsigned int runs = 0;
  Observe<itk::EndEvent>(filter, [&] {
    ++runs;
    const RegionType padded =
      PadByTheWindow(filter->GetOutput()->GetBufferedRegion(), scene.image->GetLargestPossibleRegion());
    EXPECT_TRUE(cast->GetOutput()->GetBufferedRegion().IsInside(padded));
    EXPECT_TRUE(castMask->GetOutput()->GetBufferedRegion().IsInside(padded));
    // 3 slices and 2 more behind them: no more than that is ever asked for.
    EXPECT_LE(cast->GetOutput()->GetBufferedRegion().GetSize(2), 5u);
    EXPECT_LE(castMask->GetOutput()->GetBufferedRegion().GetSize(2), 5u);
  });
  streamer->Update();
  EXPECT_EQ(4u, runs);
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
}

TEST(RunLengthPipeline, OddRegionsDoNotChangeBits)
{
  const ImageType::IndexType start{ { -11, 1000, 3 } };
  const Scene                scene(start);
  const auto                 whole = scene.MakeFilter();
  whole->Update();
  const std::vector<RegionType> regions{
    { { { 0, 0, 0 } }, { { 1, 1, 1 } } },    { { { 36, 22, 10 } }, { { 1, 1, 1 } } },
    { { { 3, 5, 2 } }, { { 7, 1, 9 } } },    { { { 1, 0, 10 } }, { { 35, 23, 1 } } },
    { { { 20, 0, 0 } }, { { 1, 23, 11 } } }, { { { 5, 4, 3 } }, { { 17, 13, 5 } } }
  };
  const auto reused = scene.MakeFilter();
  for (RegionType region : regions)
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      region.SetIndex(axis, region.GetIndex(axis) + start[axis]);
    }
    SCOPED_TRACE(::testing::Message() << region);
    for (const auto & filter : { scene.MakeFilter(), reused })
    {
      filter->GetOutput()->SetRequestedRegion(region);
      filter->GetOutput()->Update();
      ASSERT_EQ(region, filter->GetOutput()->GetBufferedRegion());
      EXPECT_TRUE(HasSameBits(GetBuffer(whole->GetOutput(), region), GetBuffer(filter->GetOutput())));
      const RegionType padded = PadByTheWindow(region, scene.image->GetLargestPossibleRegion());
      EXPECT_EQ(padded, scene.image->GetRequestedRegion());
      EXPECT_EQ(padded, scene.mask->GetRequestedRegion());
    }
  }
}

TEST(RunLengthPipeline, OnlyAnAutomaticRangeAsksForTheWholeInput)
{
  const Scene      scene;
  const RegionType region({ { 10, 10, 5 } }, { { 2, 3, 1 } });
  const RegionType padded = PadByTheWindow(region, scene.image->GetLargestPossibleRegion());
  ASSERT_NE(padded, scene.image->GetLargestPossibleRegion());
  const auto request = [&](const FilterType::Pointer & filter) {
    filter->GetOutput()->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(region);
    filter->GetOutput()->PropagateRequestedRegion();
    EXPECT_EQ(scene.image->GetRequestedRegion(), scene.mask->GetRequestedRegion());
    return scene.image->GetRequestedRegion();
  };
  EXPECT_EQ(padded, request(scene.MakeFilter(RangeSource::Given)));
  EXPECT_EQ(scene.image->GetLargestPossibleRegion(), request(scene.MakeFilter(RangeSource::Image)));
  EXPECT_EQ(scene.image->GetLargestPossibleRegion(), request(scene.MakeFilter(RangeSource::Mask)));
  const auto identity = scene.MakeFilter(RangeSource::Mask);
  identity->SetDiscretizationMethod(Method::Identity);
  EXPECT_EQ(padded, request(identity));
}

TEST(RunLengthPipeline, GeometryIsKeptAndDoesNotChangeBits)
{
  const Scene plain;
  const auto  expected = Compute(plain.MakeFilter(RangeSource::Mask));

  const ImageType::IndexType start{ { -70, 3, 1000000 } };
  const Scene                placed(start);
  VoxelMapsTest::Place(placed.image.GetPointer(), placed.mask.GetPointer());

  const auto filter = placed.MakeFilter(RangeSource::Mask);
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  VoxelMapsTest::ExpectGeometry(filter.GetPointer(), placed.image.GetPointer());
}

TEST(RunLengthPipeline, AMaskOfAnotherDirectionIsRefused)
{
  const Scene              scene;
  ImageType::DirectionType direction;
  direction.SetIdentity();
  direction(2, 2) = -1.0;
  scene.mask->SetDirection(direction);
  EXPECT_THROW(scene.MakeFilter()->Update(), itk::ExceptionObject);
}

TEST(RunLengthPipeline, InputsAreNotChanged)
{
  const Scene scene;
  const auto  pixels = GetBuffer(scene.image.GetPointer());
  const auto  inside = GetBuffer(scene.mask.GetPointer());
  const auto  imageTime = scene.image->GetMTime();
  for (const RangeSource source : { RangeSource::Given, RangeSource::Mask })
  {
    scene.MakeFilter(source)->Update();
    EXPECT_EQ(scene.image->GetLargestPossibleRegion(), scene.image->GetBufferedRegion());
    EXPECT_EQ(pixels, GetBuffer(scene.image.GetPointer()));
    EXPECT_EQ(inside, GetBuffer(scene.mask.GetPointer()));
    EXPECT_EQ(imageTime, scene.image->GetMTime());
  }
}

TEST(RunLengthPipeline, ComputesAgainOnlyAfterAChange)
{
  const Scene                                     scene;
  VoxelMapsTest::ChangeChecker<FilterType, Scene> checker(scene);
  // Every parameter must change the result, and to what a fresh filter gives.
  const std::vector<std::function<void(FilterType *)>> changes{
    [](FilterType * f) { f->SetNumberOfGrayLevels(7); },
    [](FilterType * f) { f->SetRangeMinimum(0.0); },
    [](FilterType * f) { f->SetRangeMaximum(500.0); },
    [](FilterType * f) { f->SetDiscretizationMethod(Method::FixedBinSize); },
    [](FilterType * f) { f->SetBinWidth(60.0); },
    [](FilterType * f) { f->SetRangeSource(RangeSource::Image); },
    [](FilterType * f) { f->SetNeighborhoodRadius(1); },
    [](FilterType * f) { f->SetWindowSize({ { 2, 3, 2 } }); },
    [](FilterType * f) { f->SetWindowAnchor({ { 0, 0, 0 } }); },
    [](FilterType * f) { f->SetOffsets(FilterType::GetInPlaneOffsets()); },
    [](FilterType * f) { f->SetAggregation(Aggregation::Merge); },
    [](FilterType * f) { f->SetFeatures({ Feature::RunEntropy, Feature::LongRunEmphasis }); },
    [](FilterType * f) { f->SetAggregation(Aggregation::PerDirection); },
    [](FilterType * f) { f->SetInsidePixelValue(0); },
    [](FilterType * f) { f->SetBackgroundValue(-1.0); },
    [](FilterType * f) { f->SetMaskImage(nullptr); },
  };
  const auto previous = checker.ExpectNewResults(changes);
  // New pixels are new results, too.
  scene.image->FillBuffer(3);
  scene.image->Modified();
  EXPECT_FALSE(HasSameBits(previous, checker.ComputeAfter([](FilterType *) {})));
}

TEST(RunLengthPipeline, ProgressGrowsFrom0To1)
{
  const Scene scene;
  for (const unsigned int workUnits : { 1u, 2u, 8u })
  {
    const auto filter = scene.MakeFilter();
    filter->SetNumberOfWorkUnits(workUnits);
    VoxelMapsTest::ExpectProgressGrowsTo1(filter, [](float first) {
      EXPECT_GE(first, 0.0f);
      EXPECT_LT(first, 1.0f);
    });
  }
}

TEST(RunLengthPipeline, ProgressIsReportedOnTheWay)
{
  const auto filter = MakeTwoThreadFilter();
  // CUDA reports in larger pieces.
  const itk::SizeValueType slices = VoxelMapsTest::IsCudaTest() ? 200 : 40;
  filter->SetInput(VoxelMapsTest::MakeImageForProgress({ { 120, 110, slices } }));
  VoxelMapsTest::ExpectProgressOnTheWay(filter);
}

TEST(RunLengthPipeline, AbortFromAnObserver)
{
  const auto image = MakeLargeImage();
  for (const float progress : { 0.0f, 0.01f, 0.1f })
  {
    SCOPED_TRACE(::testing::Message() << "at progress " << progress);
    const auto filter = MakeTwoThreadFilter();
    filter->SetInput(image);
    EXPECT_LT(VoxelMapsTest::AbortFromAnObserver(filter, progress).withoutOthers, maxSecondsToAbort);
  }
}

TEST(RunLengthPipeline, AbortFromAnotherThread)
{
  const auto image = MakeLargeImage();
  struct Setting
  {
    unsigned int         radius;
    Aggregation          aggregation;
    unsigned int         numberOfGrayLevels;
    RangeSource          source;
    std::vector<Feature> features;
  };
  // Quick and slow ways of computing; with 15^3 voxels a window, a thousand voxels take long.
  const std::vector<Setting> settings{
    { 2, Aggregation::Average, 32, RangeSource::Mask, Enums::GetElevenFeatures() },
    { 4, Aggregation::Merge, 256, RangeSource::Image, Enums::GetElevenFeatures() },
    { 7, Aggregation::PerDirection, 256, RangeSource::Given, { Feature::RunEntropy } },
    { 7, Aggregation::Average, 65535, RangeSource::Given, Enums::GetAllFeatures() },
    { 20 - 1, Aggregation::Merge, 65535, RangeSource::Given, Enums::GetAllFeatures() },
  };
  for (const Setting & setting : settings)
  {
    SCOPED_TRACE(::testing::Message() << "radius " << setting.radius << ", " << setting.features.size() << " features");
    const auto filter = MakeTwoThreadFilter();
    filter->SetInput(image);
    filter->SetNeighborhoodRadius(setting.radius);
    filter->SetAggregation(setting.aggregation);
    filter->SetNumberOfGrayLevels(setting.numberOfGrayLevels);
    filter->SetRangeSource(setting.source);
    filter->SetFeatures(setting.features);
    // CUDA may be done after 300 ms.
    const int milliseconds = VoxelMapsTest::IsCudaTest() ? 50 : 300;
    EXPECT_LT(VoxelMapsTest::AbortFromAnotherThread(filter, milliseconds).withoutOthers, maxSecondsToAbort);
  }
}

TEST(RunLengthPipeline, WorksAgainAfterAnAbort)
{
  const Scene scene;
  const auto  expected = Compute(scene.MakeFilter());
  const auto  filter = scene.MakeFilter();
  bool        abort = true;
  VoxelMapsTest::ExpectWorksAgainAfterAborts(filter.GetPointer(), expected, abort);
  // An abort in the middle of a pipeline ends the pipeline, which works again, too.
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(3);
  abort = true;
  filter->Modified();
  EXPECT_THROW(streamer->Update(), itk::ProcessAborted);
  abort = false;
  // itk::StreamingImageFilter does not tidy up after an exception by itself.
  streamer->ResetPipeline();
  streamer->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
}

TEST(RunLengthPipeline, TwoFiltersMayRunAtTheSameTime)
{
  VoxelMapsTest::ExpectSameBitsAtTheSameTime(Scene(), 4, [](const FilterType::Pointer &, unsigned int) {});
}
