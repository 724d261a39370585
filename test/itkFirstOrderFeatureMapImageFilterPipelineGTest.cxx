// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkAddImageAdaptor.h"
#include "itkCastImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using FilterType = itk::FirstOrderFeatureMapImageFilter<ImageType>;
using OutputType = FilterType::OutputImageType;
using RegionType = ImageType::RegionType;
using Enums = itk::FirstOrderFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using VoxelMapsTest::Compute;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::maxSecondsToAbort;
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
  MakeFilter(RangeSource source = RangeSource::Given) const
  {
    auto filter = VoxelMapsTest::NewFilter<FilterType>();
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetRangeSource(source);
    filter->SetRangeMinimum(-150.0);
    filter->SetRangeMaximum(900.0);
    filter->SetWindowSize({ { 5, 4, 3 } });
    filter->SetWindowAnchor({ { 1, 3, 0 } });
    return filter;
  }

  ImageType::Pointer image;
  MaskType::Pointer  mask;
};

/** A filter that is not done too soon, however many processors there are. */
FilterType::Pointer
MakeTwoThreadFilter()
{
  auto filter = VoxelMapsTest::NewFilter<FilterType>();
  filter->SetNumberOfWorkUnits(2);
  return filter;
}
} // namespace

TEST(FirstOrderPipeline, WorkUnitsDoNotChangeBits)
{
  const Scene scene;
  VoxelMapsTest::ExpectWorkUnitsDoNotChangeBits([&scene] { return scene.MakeFilter(); });
}

TEST(FirstOrderPipeline, StreamDivisionsDoNotChangeBits)
{
  const Scene scene(ImageType::IndexType{ { -3, 5, 40 } });
  for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
  {
    const auto expected = Compute(scene.MakeFilter(source));
    for (const unsigned int divisions : { 1u, 2u, 7u })
    {
      const auto filter = scene.MakeFilter(source);
      const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
      streamer->SetInput(filter->GetOutput());
      streamer->SetNumberOfStreamDivisions(divisions);
      streamer->Update();
      EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput()))) << divisions << " divisions";
    }
  }
}

TEST(FirstOrderPipeline, StreamsThroughAnUpstreamFilter)
{
  const Scene scene(ImageType::IndexType{ { 100, -200, 7 } });
  const auto  expected = Compute(scene.MakeFilter());
  using CastType = itk::CastImageFilter<ImageType, ImageType>;
  const auto cast = CastType::New();
  cast->SetInput(scene.image);
  cast->InPlaceOff();
  using CastMaskType = itk::CastImageFilter<MaskType, MaskType>;
  const auto castMask = CastMaskType::New();
  castMask->SetInput(scene.mask);
  castMask->InPlaceOff();
  const auto filter = scene.MakeFilter();
  filter->SetInput(cast->GetOutput());
  filter->SetMaskImage(castMask->GetOutput());
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(4);
  streamer->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
  EXPECT_LE(cast->GetOutput()->GetBufferedRegion().GetSize(2), 5u);
}

TEST(FirstOrderPipeline, OddRegionsDoNotChangeBits)
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
    }
  }
}

TEST(FirstOrderPipeline, GeometryIsKeptAndChangesTotalEnergyAlone)
{
  const Scene plain;
  const Scene placed(ImageType::IndexType{ { -70, 3, 1000000 } });
  VoxelMapsTest::Place(placed.image.GetPointer(), placed.mask.GetPointer());
  const auto before = plain.MakeFilter();
  const auto after = placed.MakeFilter();
  EXPECT_FALSE(HasSameBits(Compute(before), Compute(after)));
  VoxelMapsTest::ExpectGeometry(after.GetPointer(), placed.image.GetPointer());
  std::vector<Feature> features = Enums::GetAllFeatures();
  features.erase(features.begin() + static_cast<std::ptrdiff_t>(Feature::TotalEnergy));
  before->SetFeatures(features);
  after->SetFeatures(features);
  EXPECT_TRUE(HasSameBits(Compute(before), Compute(after)));
}

TEST(FirstOrderPipeline, AdaptorsAreAsCopies)
{
  const Scene scene;
  using AdaptorType = itk::AddImageAdaptor<ImageType>;
  const auto adaptor = AdaptorType::New();
  adaptor->SetImage(scene.image);
  adaptor->SetValue(100);
  const auto copy = ImageType::New();
  copy->CopyInformation(scene.image);
  copy->SetRegions(scene.image->GetLargestPossibleRegion());
  copy->Allocate();
  for (std::size_t i = 0; i < copy->GetLargestPossibleRegion().GetNumberOfPixels(); ++i)
  {
    copy->GetBufferPointer()[i] = static_cast<short>(scene.image->GetBufferPointer()[i] + 100);
  }
  const auto adapted = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<AdaptorType, OutputType>>();
  adapted->SetInput(adaptor);
  const auto copied = VoxelMapsTest::NewFilter<FilterType>();
  copied->SetInput(copy);
  EXPECT_TRUE(HasSameBits(Compute(copied), Compute(adapted)));
}

TEST(FirstOrderPipeline, ImagesWithoutVoxelsHaveOutputsWithoutVoxels)
{
  for (const ImageType::SizeType & size : { ImageType::SizeType{ { 0, 0, 0 } }, ImageType::SizeType{ { 4, 0, 4 } } })
  {
    const auto filter = VoxelMapsTest::NewFilter<FilterType>();
    filter->SetInput(MakeImage<ImageType>(size, {}));
    EXPECT_NO_THROW(filter->Update());
    EXPECT_EQ(size, filter->GetOutput()->GetBufferedRegion().GetSize());
  }
}

TEST(FirstOrderPipeline, ComputesAgainOnlyAfterAChange)
{
  const Scene                                          scene;
  VoxelMapsTest::ChangeChecker<FilterType, Scene>      checker(scene);
  const std::vector<std::function<void(FilterType *)>> changes{
    [](FilterType * f) { f->SetNumberOfGrayLevels(7); },
    [](FilterType * f) { f->SetDiscretizationMethod(Method::FixedBinSize); },
    [](FilterType * f) { f->SetBinWidth(60.0); },
    [](FilterType * f) { f->SetNeighborhoodRadius(1); },
    [](FilterType * f) { f->SetWindowSize({ { 2, 3, 2 } }); },
    [](FilterType * f) { f->SetWindowAnchor({ { 0, 0, 0 } }); },
    [](FilterType * f) { f->SetVoxelArrayShift(40.0); },
    [](FilterType * f) { f->SetFeatures({ Feature::Median, Feature::Energy }); },
    [](FilterType * f) { f->SetInsidePixelValue(0); },
    [](FilterType * f) { f->SetBackgroundValue(-1.0); },
    [](FilterType * f) { f->SetMaskImage(nullptr); },
  };
  const auto previous = checker.ExpectNewResults(changes);
  scene.image->FillBuffer(3);
  scene.image->Modified();
  EXPECT_FALSE(HasSameBits(previous, checker.ComputeAfter([](FilterType *) {})));
}

TEST(FirstOrderPipeline, ProgressGrowsFrom0To1)
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

TEST(FirstOrderPipeline, ProgressIsReportedOnTheWay)
{
  const auto filter = MakeTwoThreadFilter();
  // CUDA reports in larger pieces.
  const itk::SizeValueType slices = VoxelMapsTest::IsCudaTest() ? 200 : 40;
  filter->SetInput(VoxelMapsTest::MakeImageForProgress({ { 120, 110, slices } }));
  VoxelMapsTest::ExpectProgressOnTheWay(filter);
}

TEST(FirstOrderPipeline, AbortFromAnObserver)
{
  const auto image = VoxelMapsTest::MakeLargeImage(8);
  for (const float progress : { 0.0f, 0.1f })
  {
    SCOPED_TRACE(::testing::Message() << "at progress " << progress);
    const auto filter = MakeTwoThreadFilter();
    filter->SetInput(image);
    EXPECT_LT(VoxelMapsTest::AbortFromAnObserver(filter, progress).withoutOthers, maxSecondsToAbort);
  }
}

TEST(FirstOrderPipeline, AbortFromAnotherThread)
{
  const auto image = VoxelMapsTest::MakeLargeImage(8);
  for (const unsigned int radius : { 2u, 7u, 19u })
  {
    SCOPED_TRACE(::testing::Message() << "radius " << radius);
    const auto filter = MakeTwoThreadFilter();
    filter->SetInput(image);
    filter->SetNeighborhoodRadius(radius);
    filter->SetNumberOfGrayLevels(256);
    // CUDA may be done after 300 ms.
    const int milliseconds = VoxelMapsTest::IsCudaTest() ? 50 : 300;
    EXPECT_LT(VoxelMapsTest::AbortFromAnotherThread(filter, milliseconds).withoutOthers, maxSecondsToAbort);
  }
}

TEST(FirstOrderPipeline, WorksAgainAfterAnAbort)
{
  const Scene scene;
  const auto  expected = Compute(scene.MakeFilter());
  const auto  filter = scene.MakeFilter();
  bool        abort = true;
  VoxelMapsTest::ExpectWorksAgainAfterAborts(filter.GetPointer(), expected, abort);
}

TEST(FirstOrderPipeline, SeveralFiltersMayRunAtTheSameTime)
{
  VoxelMapsTest::ExpectSameBitsAtTheSameTime(Scene(), 4, [](const FilterType::Pointer &, unsigned int) {});
}
