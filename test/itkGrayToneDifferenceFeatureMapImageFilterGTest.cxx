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
#include "GrayToneDifferenceRandomCase.h"
#include "PipelineTestUtilities.h"
#include "RunLengthRandomFilterCase.h"
#include "TestedClasses.h"
#include "VoxelMapsTestUtilities.h"

#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<unsigned char, 3>;
using Filter2D = VoxelMapsTest::GrayToneDifferenceFilter<Image2D>;
using Filter3D = VoxelMapsTest::GrayToneDifferenceFilter<Image3D>;
using DoubleFilter2D = VoxelMapsTest::GrayToneDifferenceFilter<Image2D, itk::VectorImage<double, 2>>;
using DoubleFilter3D = VoxelMapsTest::GrayToneDifferenceFilter<Image3D, itk::VectorImage<double, 3>>;
using Enums = itk::GrayToneDifferenceFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Names = std::vector<std::string>;
using Values = std::vector<double>;
using VoxelMapsTest::Compute;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::maxSecondsToAbort;
using VoxelMapsTest::RandomNumbers;

// The values of flat windows and of single voxels, in the order of the features.
const Values flatValues{ 0.0, 1e6, 0.0, 0.0, 0.0 };

/** The image of PyRadiomics' documentation. */
const std::vector<unsigned char> documentedImage{ 5, 2, 5, 4, 4, //
                                                  3, 3, 3, 1, 3, //
                                                  2, 1, 1, 1, 3, //
                                                  4, 2, 2, 2, 3, //
                                                  3, 5, 3, 3, 2 };

/** A filter of gray levels; 0 is outside of its mask. */
template <typename TFilter>
typename TFilter::Pointer
MakeFilterOfLevels(const typename TFilter::SizeType & size, const std::vector<unsigned char> & levels,
                   unsigned int numberOfGrayLevels, unsigned int radius = 2)
{
  const auto                 filter = TFilter::New();
  std::vector<unsigned char> inside;
  for (const unsigned char level : levels)
  {
    inside.push_back(level != 0 ? 1 : 0);
  }
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(size, levels));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, inside));
  filter->SetDiscretizationMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(numberOfGrayLevels);
  filter->SetNeighborhoodRadius(radius);
  return filter;
}

/** The features of one pixel. */
template <typename TFilter>
Values
ComputePixel(const itk::SmartPointer<TFilter> & filter, std::size_t pixel)
{
  filter->Update();
  const auto        output = GetBuffer(filter->GetOutput());
  const std::size_t features = filter->GetFeatures().size();
  const auto        begin = output.begin() + static_cast<std::ptrdiff_t>(pixel * features);
  return Values(begin, begin + static_cast<std::ptrdiff_t>(features));
}

void
ExpectNear(const Values & expected, const Values & actual)
{
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t f = 0; f < expected.size(); ++f)
  {
    EXPECT_NEAR(expected[f], actual[f], 1e-15 * std::abs(expected[f])) << Enums::GetAllFeatures()[f];
  }
}

Filter2D::Pointer
MakeFilter()
{
  return MakeFilterOfLevels<Filter2D>({ { 5, 5 } }, documentedImage, 5);
}

/** Expect an error that names these words, and that the filter works once the mistake is undone. */
template <typename TMistake, typename TRepair>
void
ExpectRepairableError(TMistake && mistake, TRepair && repair, const Names & words)
{
  const auto filter = MakeFilter();
  mistake(filter.GetPointer());
  ExpectError([&] { filter->Update(); }, words);
  repair(filter.GetPointer());
  EXPECT_NO_THROW(filter->Update());
  EXPECT_TRUE(HasSameBits(Compute(MakeFilter()), GetBuffer(filter->GetOutput())));
}

/** Noise with flat parts and a mask with holes. */
template <typename TFilter>
typename TFilter::Pointer
MakeSceneFilter()
{
  using ImageType = typename TFilter::InputImageType;
  using MaskType = typename TFilter::MaskImageType;
  RandomNumbers                              random(19);
  const typename ImageType::SizeType         size{ { 71, 19, 9 } };
  const std::size_t                          count = size[0] * size[1] * size[2];
  std::vector<typename ImageType::PixelType> pixels(count);
  std::vector<unsigned char>                 inside(count);
  for (std::size_t i = 0; i < count; ++i)
  {
    pixels[i] =
      static_cast<typename ImageType::PixelType>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(0, 250));
    inside[i] = random.Chance(0.85) ? 1 : 0;
  }
  const typename ImageType::IndexType start{ { -3, 5, 40 } };
  const auto                          filter = TFilter::New();
  filter->SetInput(MakeImage<ImageType>(size, pixels, start));
  filter->SetMaskImage(MakeImage<MaskType>(size, inside, start));
  filter->SetRangeSource(RangeSource::Given);
  filter->SetWindowSize({ { 5, 4, 3 } });
  filter->SetWindowAnchor({ { 1, 3, 0 } });
  return filter;
}

template <typename TFilter>
void
CheckRandomFilterCase(std::uint64_t seed)
{
  using InputImageType = typename TFilter::InputImageType;
  using MaskImageType = typename TFilter::MaskImageType;
  using PixelType = typename TFilter::InputPixelType;
  constexpr unsigned int dimension = TFilter::ImageDimension;

  RandomNumbers                random(seed);
  GrayToneDifferenceRandomCase randomCase =
    DrawGrayToneDifferenceRandomCase(seed, dimension, sizeof(PixelType) == 1 ? 256 : 65535, random);
  RunLengthRandomCase &                  common = randomCase.common;
  VoxelMapsTest::IntensityMaker<TFilter> intensityMaker(common.numberOfGrayLevels, random);
  std::vector<PixelType>                 pixels;
  for (const std::uint16_t level : common.levels.values)
  {
    pixels.push_back(intensityMaker.MakeIntensity(level));
  }
  const std::string          holes = DrawHoles(common.levels, random);
  std::vector<unsigned char> mask;
  for (const std::uint16_t level : common.levels.values)
  {
    mask.push_back(level != 0 ? 1 : 0);
  }

  typename InputImageType::SizeType   size;
  typename InputImageType::IndexType  start;
  typename InputImageType::RegionType region;
  typename TFilter::SizeType          windowSize;
  typename TFilter::OffsetType        windowAnchor;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    size[axis] = static_cast<itk::SizeValueType>(common.levels.size[axis]);
    start[axis] = random.Between(-50, 50);
    region.SetIndex(axis, start[axis] + common.regionIndex[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(common.regionSize[axis]));
    windowSize[axis] = static_cast<itk::SizeValueType>(common.window.size[axis]);
    windowAnchor[axis] = common.window.anchor[axis];
  }
  const auto filter = TFilter::New();
  filter->SetInput(MakeImage<InputImageType>(size, pixels, start));
  filter->SetMaskImage(MakeImage<MaskImageType>(size, mask, start));
  intensityMaker.Configure(filter);
  filter->SetWindowSize(windowSize);
  filter->SetWindowAnchor(windowAnchor);
  typename TFilter::OffsetsType offsets;
  for (const GrayToneDifferenceOracle::Triple & triple : randomCase.parameters.offsets)
  {
    offsets.emplace_back();
    std::copy_n(triple.begin(), dimension, offsets.back().begin());
  }
  filter->SetOffsets(offsets);
  filter->SetFeatures(randomCase.parameters.features);
  filter->SetCountVoxelsWithoutNeighbors(randomCase.parameters.countVoxelsWithoutNeighbors);
  filter->SetBackgroundValue(-1.0);

  SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes << ", " << intensityMaker.GetMethod());
  filter->GetOutput()->SetRequestedRegion(region);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->GetOutput()->Update());
  ASSERT_EQ(region, filter->GetOutput()->GetBufferedRegion());
  ASSERT_EQ(randomCase.parameters.features.size(), filter->GetFeatureNames().size());
  ASSERT_TRUE(AgreesWithOracle(randomCase, GetBuffer(filter->GetOutput()), -1.0, random, 10000));
}

template <typename TFilter>
void
CheckRandomFilterCases(std::uint64_t firstSeed, unsigned int count)
{
  for (unsigned int i = 0; i < count && !::testing::Test::HasFailure(); ++i)
  {
    CheckRandomFilterCase<TFilter>(firstSeed + i);
  }
}
} // namespace

TEST(GrayToneDifferenceFeatureMapImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = Filter3D::New();
  EXPECT_EQ(std::string(VoxelMapsTest::classNamePrefix) + "GrayToneDifferenceFeatureMapImageFilter",
            filter->GetNameOfClass());
  EXPECT_EQ(32u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(Filter3D::SizeType::Filled(5), filter->GetWindowSize());
  EXPECT_EQ(Filter3D::GetAllOffsets({ 1 }), filter->GetOffsets());
  EXPECT_EQ(Enums::GetAllFeatures(), filter->GetFeatures());
  EXPECT_TRUE(filter->GetCountVoxelsWithoutNeighbors());
  EXPECT_EQ(13u, filter->GetOffsets().size());
  EXPECT_EQ(4u, Filter2D::New()->GetOffsets().size());
}

TEST(GrayToneDifferenceFeatureMapImageFilter, SettersStoreAndModify)
{
  const auto                  filter = Filter2D::New();
  const Filter2D::OffsetsType offsets{ { { 1, 1 } }, { { 0, -3 } } };
  const std::vector<Feature>  features{ Feature::Strength, Feature::Contrast };
  const auto                  expectModified = [&filter](const auto & set, bool modified) {
    const auto before = filter->GetMTime();
    set();
    EXPECT_EQ(modified, filter->GetMTime() > before);
  };
  // Setting the same value again changes nothing, so nothing is computed again.
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetOffsets(offsets); }, modified);
    expectModified([&] { filter->SetFeatures(features); }, modified);
    expectModified([&] { filter->SetCountVoxelsWithoutNeighbors(false); }, modified);
  }
  EXPECT_EQ(offsets, filter->GetOffsets());
  EXPECT_EQ(features, filter->GetFeatures());
  EXPECT_FALSE(filter->GetCountVoxelsWithoutNeighbors());
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetDistances({ 2, 1 }); }, modified);
  }
  filter->CountVoxelsWithoutNeighborsOn();
  EXPECT_TRUE(filter->GetCountVoxelsWithoutNeighbors());
}

TEST(GrayToneDifferenceFeatureMapImageFilter, NamesOfComponents)
{
  const auto filter = Filter3D::New();
  EXPECT_EQ((Names{ "BUS", "COA", "COM", "CON", "STR" }), filter->GetFeatureNames());
  filter->SetFeatures({ Feature::Strength, Feature::Coarseness });
  EXPECT_EQ((Names{ "STR", "COA" }), filter->GetFeatureNames());
}

TEST(GrayToneDifferenceFeatureMapImageFilter, PrintsItsMembers)
{
  const auto filter = Filter2D::New();
  filter->SetOffsets({ { { 1, -1 } } });
  filter->SetFeatures({ Feature::Busyness });
  filter->CountVoxelsWithoutNeighborsOff();
  std::ostringstream out;
  filter->Print(out);
  for (const std::string text : { "Offsets: [1, -1]", "Features: Busyness", "CountVoxelsWithoutNeighbors: Off" })
  {
    EXPECT_NE(std::string::npos, out.str().find(text)) << text << " is missing in\n" << out.str();
  }
}

// Worked out with exact fractions.
TEST(GrayToneDifferenceFeatureMapImageFilter, DocumentedImage)
{
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5);
  // s = 45/8, 503/120, 76/15, 53/15, 104/15
  const Values values{
    2493.0 / 3920, 500.0 / 2493, 16892957.0 / 2047500, 4563.0 / 31250, 232.0 / 169,
  };
  ExpectNear(values, ComputePixel(filter, 12));
  // A quotient of integers below 2^53 is rounded once.
  EXPECT_EQ(values[1], ComputePixel(filter, 12)[1]);
  EXPECT_EQ(values[3], ComputePixel(filter, 12)[3]);
  // All pixels have a neighbor.
  filter->CountVoxelsWithoutNeighborsOff();
  ExpectNear(values, ComputePixel(filter, 12));
  // The opposite offsets are the same neighbors.
  auto offsets = filter->GetOffsets();
  for (auto & offset : offsets)
  {
    offset = { { -offset[0], -offset[1] } };
  }
  filter->SetOffsets(offsets);
  ExpectNear(values, ComputePixel(filter, 12));

  // The window of a corner is cut off by the image: 5 2 5, 3 3 3, 2 1 1.
  const Values corner = ComputePixel(filter, 0);
  EXPECT_NEAR(1369.0 / 3480, corner[0], 1e-15);
  EXPECT_NEAR(11387.0 / 1350, corner[2], 1e-14);
}

TEST(GrayToneDifferenceFeatureMapImageFilter, ALine)
{
  // 1 3 2 with neighbors along x: |1 - 3| = 2, |3 - 3/2| = 3/2, |2 - 3| = 1.
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 3, 1 } }, { 1, 3, 2 }, 4);
  // Pairs of levels: (1, 2): 1 (2 + 1) / 2, (1, 3): 2 (2 + 3/2) / 2, (2, 3): 1 (1 + 3/2) / 2.
  const Values values{ (4.5 / 3) / (2.0 * (1 + 2 + 1) / 3),
                       3 / 4.5,
                       2.0 / 3 * (1.5 + 3.5 + 1.25),
                       2.0 * (1 + 4 + 1) / 9 / 6 * 4.5 / 3,
                       2.0 * 2 * (1 + 4 + 1) / 3 / 4.5 };
  for (const std::size_t pixel : { 0u, 1u, 2u })
  {
    ExpectNear(values, ComputePixel(filter, pixel));
  }
}

TEST(GrayToneDifferenceFeatureMapImageFilter, FlatWindowsAndSingleVoxels)
{
  for (const unsigned int levels : { 1u, 7u, 255u })
  {
    const auto level = static_cast<unsigned char>(levels);
    const auto flat =
      MakeFilterOfLevels<DoubleFilter3D>({ { 4, 4, 3 } }, std::vector<unsigned char>(48, level), levels);
    for (const std::size_t pixel : { 0u, 21u, 47u })
    {
      EXPECT_EQ(flatValues, ComputePixel(flat, pixel));
    }
    // A window of one voxel has no neighbors, whether they count or not.
    flat->SetNeighborhoodRadius(0);
    EXPECT_EQ(flatValues, ComputePixel(flat, 5));
    flat->CountVoxelsWithoutNeighborsOff();
    EXPECT_EQ(flatValues, ComputePixel(flat, 5));

    const auto voxel = MakeFilterOfLevels<DoubleFilter3D>({ { 1, 1, 1 } }, { level }, levels);
    EXPECT_EQ(flatValues, ComputePixel(voxel, 0));
    voxel->CountVoxelsWithoutNeighborsOff();
    EXPECT_EQ(flatValues, ComputePixel(voxel, 0));
  }
}

TEST(GrayToneDifferenceFeatureMapImageFilter, BusynessIsZeroWhereLevelsBalance)
{
  // i n(i) = j n(j): two voxels of level 1 and one of 2, or six of 5 and five of 6.
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 3, 1 } }, { 1, 2, 1 }, 2);
  Values     values = ComputePixel(filter, 1);
  EXPECT_EQ(0.0, values[0]);
  // s(1) = 2, s(2) = 1
  EXPECT_EQ(3.0 / 5, values[1]);
  const auto larger = MakeFilterOfLevels<DoubleFilter2D>({ { 11, 1 } }, { 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5 }, 9, 10);
  EXPECT_EQ(0.0, ComputePixel(larger, 4)[0]);
  // One voxel more.
  const auto other = MakeFilterOfLevels<DoubleFilter2D>({ { 12, 1 } }, { 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6 }, 9, 11);
  EXPECT_LT(0.0, ComputePixel(other, 4)[0]);
}

TEST(GrayToneDifferenceFeatureMapImageFilter, IsolatedVoxelsCountOrNot)
{
  // A pair 2 4, an isolated 6: with it N = 3 and three levels, without it N = 2 and two levels.
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 5, 1 } }, { 2, 4, 0, 0, 6 }, 6, 4);
  filter->SetBackgroundValue(-5.0);
  for (const std::size_t pixel : { 0u, 1u, 4u })
  {
    filter->CountVoxelsWithoutNeighborsOn();
    // s = 2, 2, 0
    ExpectNear({ (4.0 / 3) / (2.0 * (2 + 4 + 2) / 3),
                 3.0 / 4,
                 2.0 / 3 * (2.0 * 4 / 2 + 4.0 * 2 / 2 + 2.0 * 2 / 2) / 3 * 3,
                 2.0 * (4 + 16 + 4) / 9 / 6 * 4 / 3,
                 2.0 * 2 * (4 + 16 + 4) / 3 / 4 },
               ComputePixel(filter, pixel));
    filter->CountVoxelsWithoutNeighborsOff();
    ExpectNear({ 2.0 / 2.0, 2.0 / 4, 2.0 / 2 * 2 * 4 / 2, 2.0 * 4 / 4 / 2 * 4 / 2, 2.0 * 2 * 4 / 2 / 4 },
               ComputePixel(filter, pixel));
  }
  EXPECT_EQ(Values(5, -5.0), ComputePixel(filter, 2));
  // Only isolated voxels.
  const auto isolated = MakeFilterOfLevels<DoubleFilter2D>({ { 5, 1 } }, { 2, 0, 4, 0, 6 }, 6, 4);
  ExpectNear({ 0.0, 1e6, 0.0, 0.0, 0.0 }, ComputePixel(isolated, 2));
  isolated->CountVoxelsWithoutNeighborsOff();
  EXPECT_EQ(flatValues, ComputePixel(isolated, 2));
}

TEST(GrayToneDifferenceFeatureMapImageFilter, UnusedLevelsDoNotMatter)
{
  const auto expected = Compute(MakeFilter());
  for (const unsigned int levels : { 6u, 255u, 1025u, 65535u })
  {
    const auto filter = MakeFilter();
    filter->SetNumberOfGrayLevels(levels);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter))) << levels;
  }
}

TEST(GrayToneDifferenceFeatureMapImageFilterErrors, Offsets)
{
  const auto all = [](Filter2D * filter) { filter->SetDistances({ 1 }); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({}); }, all, { "0", "4096" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, 0 } }, { { 0, 0 } } }); }, all, { "[0, 0]" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 255, 0 } } }); }, all, { "255", "254" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 1, 1 } }, { { 0, 1 } }, { { 1, 1 } } }); },
                        all,
                        { "[1, 1]", "twice" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, -2 } }, { { -1, 2 } } }); }, all, { "[-1, 2]", "opposite" });
}

TEST(GrayToneDifferenceFeatureMapImageFilterErrors, Features)
{
  const auto all = [](Filter2D * filter) { filter->SetFeatures(Enums::GetAllFeatures()); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({}); }, all, { "0" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetFeatures({ Feature::Contrast, Feature::Strength, Feature::Contrast }); },
    all,
    { "Contrast" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({ static_cast<Feature>(5) }); }, all, { "5" });
}

TEST(GrayToneDifferenceFeatureMapImageFilterRandom, UInt8In2D)
{
  CheckRandomFilterCases<Filter2D>(740000, 300);
}

TEST(GrayToneDifferenceFeatureMapImageFilterRandom, FloatIn3DToDouble)
{
  CheckRandomFilterCases<VoxelMapsTest::GrayToneDifferenceFilter<itk::Image<float, 3>, itk::VectorImage<double, 3>>>(
    750000, 300);
}

TEST(GrayToneDifferencePipeline, WorkUnitsDoNotChangeBits)
{
  VoxelMapsTest::ExpectWorkUnitsDoNotChangeBits([] { return MakeSceneFilter<Filter3D>(); });
}

TEST(GrayToneDifferencePipeline, StreamDivisionsDoNotChangeBits)
{
  for (const unsigned int distance : { 1u, 2u })
  {
    const auto whole = MakeSceneFilter<Filter3D>();
    whole->SetDistances({ distance });
    const auto expected = Compute(whole);
    for (const unsigned int divisions : { 1u, 2u, 7u })
    {
      const auto filter = MakeSceneFilter<Filter3D>();
      filter->SetDistances({ distance });
      const auto streamer = itk::StreamingImageFilter<Filter3D::OutputImageType, Filter3D::OutputImageType>::New();
      streamer->SetInput(filter->GetOutput());
      streamer->SetNumberOfStreamDivisions(divisions);
      streamer->Update();
      EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput()))) << divisions << " divisions";
    }
  }
}

TEST(GrayToneDifferencePipeline, AbortsSoon)
{
  // Also where windows are large, and where the general engines are used. A device computes all of the image in less
  // than 200 ms.
  constexpr int milliseconds = VoxelMapsTest::isCudaTest ? 30 : 200;
  for (const bool isWalk : { false, true })
  {
    for (const unsigned int radius : { 2u, 9u })
    {
      const auto filter = VoxelMapsTest::GrayToneDifferenceFilter<itk::Image<short, 3>>::New();
      filter->SetInput(VoxelMapsTest::MakeLargeImage(8));
      filter->SetNumberOfWorkUnits(2);
      filter->SetNeighborhoodRadius(radius);
      if (isWalk)
      {
        filter->SetDistances({ 1, 2 });
      }
      EXPECT_LT(VoxelMapsTest::AbortFromAnObserver(filter, 0.0f).withoutOthers, maxSecondsToAbort);
      EXPECT_LT(VoxelMapsTest::AbortFromAnotherThread(filter, milliseconds).withoutOthers, maxSecondsToAbort);
    }
  }
}

TEST(GrayToneDifferencePipeline, WorksAgainAfterAborts)
{
  const auto filter = MakeSceneFilter<Filter3D>();
  bool       abort = false;
  VoxelMapsTest::ExpectWorksAgainAfterAborts(filter.GetPointer(), Compute(MakeSceneFilter<Filter3D>()), abort);
}
