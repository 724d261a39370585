// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkCastImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

// What the base class of texture filters gives to all of them, through the run length filter: selections, levels and
// edges as discretizations, errors of observers.
namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<short, 3>;
using Mask3D = itk::Image<unsigned char, 3>;
using Levels3D = itk::Image<unsigned short, 3>;
using DoubleMaps3D = itk::VectorImage<double, 3>;
using Filter3D = itk::RunLengthFeatureMapImageFilter<Image3D>;
using LevelFilter3D = itk::RunLengthFeatureMapImageFilter<Levels3D>;
using DoubleFilter3D = itk::RunLengthFeatureMapImageFilter<Image3D, DoubleMaps3D>;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::RandomNumbers;

constexpr itk::SizeValueType width = 9;
constexpr itk::SizeValueType height = 7;
constexpr itk::SizeValueType depth = 5;

template <typename TImage>
typename TImage::Pointer
MakeRandomImage(RandomNumbers & random, std::int64_t minimum, std::int64_t maximum)
{
  std::vector<typename TImage::PixelType> pixels(width * height * depth);
  for (auto & pixel : pixels)
  {
    pixel = static_cast<typename TImage::PixelType>(random.Between(minimum, maximum));
  }
  return MakeImage<TImage>({ { width, height, depth } }, pixels);
}

Mask3D::Pointer
MakeRandomMask(RandomNumbers & random, double share)
{
  std::vector<unsigned char> pixels(width * height * depth);
  for (auto & pixel : pixels)
  {
    pixel = random.Chance(share) ? 1 : 0;
  }
  return MakeImage<Mask3D>({ { width, height, depth } }, pixels);
}
} // namespace

TEST(TextureFeatureMapImageFilter, SelectionIsApartFromTheMask)
{
  RandomNumbers random(77);
  const auto    image = MakeRandomImage<Image3D>(random, 0, 200);
  const auto    mask = MakeRandomMask(random, 0.7);
  const auto    selection = MakeRandomMask(random, 0.4);
  const auto    all = VoxelMapsTest::NewFilter<Filter3D>();
  const auto    selected = VoxelMapsTest::NewFilter<Filter3D>();
  for (const auto & filter : { all, selected })
  {
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetBackgroundValue(-3.0);
    filter->SetNumberOfGrayLevels(6);
  }
  selected->SetSelectionImage(selection);
  EXPECT_EQ(selection.GetPointer(), selected->GetSelectionImage());
  all->Update();
  selected->Update();
  std::vector<float>               expected = GetBuffer(all->GetOutput());
  const std::vector<unsigned char> flags = GetBuffer(selection.GetPointer());
  const std::size_t                components = all->GetFeatureNames().size();
  for (std::size_t i = 0; i < expected.size(); ++i)
  {
    expected[i] = flags[i / components] == 1 ? expected[i] : -3.0f;
  }
  EXPECT_EQ(expected, GetBuffer(selected->GetOutput()));

  // A region uses its own part of the selection.
  const auto again = VoxelMapsTest::NewFilter<Filter3D>();
  again->SetInput(image);
  again->SetMaskImage(mask);
  again->SetSelectionImage(selection);
  again->SetBackgroundValue(-3.0);
  again->SetNumberOfGrayLevels(6);
  again->UpdateOutputInformation();
  const itk::ImageRegion<3> region({ { 2, 3, 1 } }, { { 4, 2, 3 } });
  again->GetOutput()->SetRequestedRegion(region);
  again->Update();
  for (itk::IndexValueType z = 1; z < 4; ++z)
  {
    EXPECT_EQ(selected->GetOutput()->GetPixel({ { 3, 4, z } }), again->GetOutput()->GetPixel({ { 3, 4, z } }));
  }

  const auto mistake = VoxelMapsTest::NewFilter<Filter3D>();
  mistake->SetInput(image);
  mistake->SetSelectionImage(MakeImage<Mask3D>({ { 2, 2, 2 } }, std::vector<unsigned char>(8, 1)));
  ExpectError([&] { mistake->Update(); }, { "the selection", "[2, 2, 2]" });
}

TEST(TextureFeatureMapImageFilter, SelectionsAreReadBySeveralThreads)
{
  constexpr itk::SizeValueType columns = 331;
  constexpr itk::SizeValueType rows = 607;
  RandomNumbers                random(78);
  const auto image = MakeImage<Image2D>({ { columns, rows } }, std::vector<unsigned char>(columns * rows, 0));
  const auto selection = MakeImage<Image2D>({ { columns, rows } }, std::vector<unsigned char>(columns * rows, 0));
  for (itk::SizeValueType voxel = 0; voxel < columns * rows; ++voxel)
  {
    image->GetBufferPointer()[voxel] = static_cast<unsigned char>(random.Below(256));
    selection->GetBufferPointer()[voxel] = static_cast<unsigned char>(random.Below(3));
  }
  using FilterType = itk::RunLengthFeatureMapImageFilter<Image2D>;
  const auto filter = VoxelMapsTest::NewFilter<FilterType>();
  filter->SetInput(image);
  filter->SetNeighborhoodRadius(1);
  filter->SetFeatures({ itk::RunLengthFeatureMapEnums::Feature::RunPercentage });
  filter->Update();
  auto expected = GetBuffer(filter->GetOutput());
  for (itk::SizeValueType voxel = 0; voxel < columns * rows; ++voxel)
  {
    expected[voxel] = selection->GetBufferPointer()[voxel] == 2 ? expected[voxel] : -7.0f;
  }
  filter->SetSelectionImage(selection);
  filter->SetInsidePixelValue(2);
  filter->SetBackgroundValue(-7.0);
  for (const unsigned int threads : { 1u, 2u, 3u, 8u })
  {
    filter->SetNumberOfWorkUnits(threads);
    filter->Modified();
    filter->Update();
    EXPECT_EQ(expected, GetBuffer(filter->GetOutput())) << threads << " threads";
  }
}

// One of image and mask comes from a filter that computes the requested region only, the other is in memory.
TEST(TextureFeatureMapImageFilter, StreamsImagesAndMasksFromOtherSources)
{
  const Image3D::SizeType    size{ { 9, 7, 12 } };
  std::vector<short>         values(size[0] * size[1] * size[2]);
  std::vector<unsigned char> inside(values.size());
  RandomNumbers              random(20261122);
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    values[i] = static_cast<short>(random.Between(0, 99));
    inside[i] = random.Chance(0.8) ? 1 : 0;
  }
  const auto image = MakeImage<Image3D>(size, values);
  const auto mask = MakeImage<Mask3D>(size, inside);
  const auto imageSource = itk::CastImageFilter<Image3D, Image3D>::New();
  imageSource->InPlaceOff();
  imageSource->SetInput(image);
  const auto maskSource = itk::CastImageFilter<Mask3D, Mask3D>::New();
  maskSource->InPlaceOff();
  maskSource->SetInput(mask);

  const auto makeFilter = [] {
    const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
    filter->SetRangeMinimum(0.0);
    filter->SetRangeMaximum(99.0);
    filter->SetRangeSource(RangeSource::Given);
    filter->SetNeighborhoodRadius(1);
    return filter;
  };
  const auto whole = makeFilter();
  whole->SetInput(image);
  whole->SetMaskImage(mask);
  whole->Update();

  for (const bool isMaskInMemory : { true, false })
  {
    const auto filter = makeFilter();
    filter->SetInput(isMaskInMemory ? imageSource->GetOutput() : image.GetPointer());
    filter->SetMaskImage(isMaskInMemory ? mask.GetPointer() : maskSource->GetOutput());
    const auto streamer = itk::StreamingImageFilter<Filter3D::OutputImageType, Filter3D::OutputImageType>::New();
    streamer->SetInput(filter->GetOutput());
    streamer->SetNumberOfStreamDivisions(4);
    streamer->Update();
    EXPECT_TRUE(HasSameBits(GetBuffer(whole->GetOutput()), GetBuffer(streamer->GetOutput())));
  }
}

TEST(TextureFeatureMapImageFilter, LevelsOfTheDiscretizationFilterCanBeFedToIt)
{
  RandomNumbers random(78);
  const auto    image = MakeRandomImage<Image3D>(random, -100, 900);
  const auto    mask = MakeRandomMask(random, 0.6);
  const auto    direct = VoxelMapsTest::NewFilter<Filter3D>();
  direct->SetInput(image);
  direct->SetMaskImage(mask);
  direct->SetNumberOfGrayLevels(9);
  direct->SetBackgroundValue(-1.0);
  direct->Update();

  const auto discretization = itk::GrayLevelDiscretizationImageFilter<Image3D, Levels3D>::New();
  discretization->SetInput(image);
  discretization->SetMaskImage(mask);
  discretization->SetNumberOfGrayLevels(9);
  const auto levelFilter = VoxelMapsTest::NewFilter<LevelFilter3D>();
  levelFilter->SetInput(discretization->GetOutput());
  levelFilter->SetDiscretizationMethod(Method::Levels);
  levelFilter->SetNumberOfGrayLevels(9);
  levelFilter->SetBackgroundValue(-1.0);
  levelFilter->Update();
  EXPECT_EQ(GetBuffer(direct->GetOutput()), GetBuffer(levelFilter->GetOutput()));
  EXPECT_EQ(9u, levelFilter->GetUsedNumberOfGrayLevels());
}

TEST(TextureFeatureMapImageFilter, EdgesAreThoseOfEqualBins)
{
  RandomNumbers random(79);
  const auto    image = MakeRandomImage<Image3D>(random, 0, 79);
  const auto    bins = VoxelMapsTest::NewFilter<Filter3D>();
  bins->SetInput(image);
  bins->SetDiscretizationMethod(Method::FixedBinSize);
  bins->SetRangeSource(RangeSource::Given);
  bins->SetRangeMinimum(0.0);
  bins->SetRangeMaximum(79.0);
  bins->SetBinWidth(10.0);
  bins->Update();
  const auto edges = VoxelMapsTest::NewFilter<Filter3D>();
  edges->SetInput(image);
  edges->SetDiscretizationMethod(Method::Edges);
  edges->SetBinEdges({ 0, 10, 20, 30, 40, 50, 60, 70 });
  edges->Update();
  EXPECT_EQ(GetBuffer(bins->GetOutput()), GetBuffer(edges->GetOutput()));
  edges->SetBinEdges({ 0, 10, 10 });
  ExpectError([&] { edges->Update(); }, { "BinEdges", "10" });
}

TEST(TextureFeatureMapImageFilter, FeaturesAreSelectedByName)
{
  using Enums = itk::RunLengthFeatureMapEnums;
  const auto filter = Filter3D::New();
  filter->SetFeatureNames({ "sre", "LongRunEmphasis", "glrlm_RunPercentage" });
  EXPECT_EQ((Filter3D::FeaturesType{
              Enums::Feature::ShortRunEmphasis, Enums::Feature::LongRunEmphasis, Enums::Feature::RunPercentage }),
            filter->GetFeatures());
  const itk::ModifiedTimeType time = filter->GetMTime();
  filter->SetFeatureNames({ "SRE", "LRE", "RP" });
  EXPECT_EQ(time, filter->GetMTime());
  ExpectError([&] { filter->SetFeatureNames({ "SRE", "glcm_Contrast" }); },
              { "'glcm_Contrast' does not exist", "SRE, LRE" });
  EXPECT_EQ(3u, filter->GetFeatureNames().size());
  filter->SetFeatureNames({ "RE" });
  EXPECT_EQ((std::vector<std::string>{ "RE" }), filter->GetFeatureNames());
}

TEST(TextureFeatureMapImageFilter, OffsetsAreSetOneByOne)
{
  const auto                 filter = Filter3D::New();
  const Filter3D::OffsetType x{ { 1, 0, 0 } };
  const Filter3D::OffsetType y{ { 0, 1, 0 } };
  filter->SetOffset(x);
  filter->AddOffset(y);
  EXPECT_EQ((Filter3D::OffsetsType{ x, y }), filter->GetOffsets());
  filter->ClearOffsets();
  EXPECT_TRUE(filter->GetOffsets().empty());
}

TEST(TextureFeatureMapImageFilter, SkippingDirectionsIsOffByDefault)
{
  const auto filter = VoxelMapsTest::NewFilter<DoubleFilter3D>();
  EXPECT_FALSE(filter->GetSkipDirectionsWithoutPairs());
  EXPECT_EQ(nullptr, filter->GetSelectionImage());
  EXPECT_TRUE(filter->GetBinEdges().empty());

  // One voxel alone has no pair in any direction.
  const auto image = MakeImage<Image3D>({ { 3, 3, 3 } }, std::vector<short>(27, 5));
  const auto mask = Mask3D::New();
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate(true);
  mask->SetPixel({ { 1, 1, 1 } }, 1);
  filter->SetInput(image);
  filter->SetMaskImage(mask);
  filter->Update();
  EXPECT_EQ(1.0, filter->GetOutput()->GetPixel({ { 1, 1, 1 } })[0]);
  filter->SkipDirectionsWithoutPairsOn();
  filter->Update();
  EXPECT_TRUE(std::isnan(filter->GetOutput()->GetPixel({ { 1, 1, 1 } })[0]));
  EXPECT_EQ(0.0, filter->GetOutput()->GetPixel({ { 0, 1, 1 } })[0]);
}

TEST(TextureFeatureMapImageFilter, ImagesWithoutBufferAreErrors)
{
  RandomNumbers random(81);
  const auto    image = MakeRandomImage<Image3D>(random, 0, 9);
  const auto    size = image->GetLargestPossibleRegion().GetSize();
  const auto    unallocated = Image3D::New();
  unallocated->SetRegions(size);
  const auto mask = Filter3D::MaskImageType::New();
  mask->SetRegions(size);
  const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
  filter->SetInput(unallocated);
  ExpectError([&] { filter->Update(); }, { "buffer has 0", "Allocate" });
  filter->SetInput(image);
  filter->SetMaskImage(mask);
  ExpectError([&] { filter->Update(); }, { "buffer has 0", "Allocate" });
  filter->SetMaskImage(nullptr);
  filter->SetSelectionImage(mask);
  ExpectError([&] { filter->Update(); }, { "buffer has 0", "Allocate" });
  filter->SetSelectionImage(nullptr);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
}

TEST(TextureFeatureMapImageFilter, ExceptionsOfObserversPassUnchanged)
{
  RandomNumbers random(80);
  const auto    filter = VoxelMapsTest::NewFilter<Filter3D>();
  filter->SetInput(MakeRandomImage<Image3D>(random, 0, 9));
  filter->AddObserver(itk::ProgressEvent(),
                      [](const itk::EventObject &) { throw std::runtime_error("of the observer"); });
  try
  {
    filter->Update();
    FAIL() << "no exception";
  }
  catch (const itk::ExceptionObject & error)
  {
    FAIL() << error;
  }
  catch (const std::runtime_error & error)
  {
    EXPECT_STREQ("of the observer", error.what());
  }
}
