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
#include "DependenceRandomCase.h"
#include "IbsiPhantom.h"
#include "PipelineTestUtilities.h"
#include "RunLengthRandomFilterCase.h"
#include "TestedClasses.h"
#include "VoxelMapsTestUtilities.h"

#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<unsigned char, 3>;
using Filter2D = VoxelMapsTest::DependenceFilter<Image2D>;
using Filter3D = VoxelMapsTest::DependenceFilter<Image3D>;
using DoubleFilter2D = VoxelMapsTest::DependenceFilter<Image2D, itk::VectorImage<double, 2>>;
using Enums = itk::DependenceFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Names = std::vector<std::string>;
using VoxelMapsTest::Compute;
using VoxelMapsTest::DependenceRandomCase;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::maxSecondsToAbort;
using VoxelMapsTest::RandomNumbers;

/** The image of PyRadiomics' documentation. */
const std::vector<unsigned char> documentedImage{ 5, 2, 5, 4, 4, //
                                                  3, 3, 3, 1, 3, //
                                                  2, 1, 1, 1, 3, //
                                                  4, 2, 2, 2, 3, //
                                                  3, 5, 3, 3, 2 };

template <typename TFilter>
typename TFilter::Pointer
MakeFilterOfLevels(const typename TFilter::SizeType & size, const std::vector<unsigned char> & levels,
                   unsigned int numberOfGrayLevels, unsigned int radius = 2)
{
  const auto filter = TFilter::New();
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(size, levels));
  filter->SetDiscretizationMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(numberOfGrayLevels);
  filter->SetNeighborhoodRadius(radius);
  return filter;
}

/** The features of one pixel, by name. */
template <typename TFilter>
std::map<Feature, double>
ComputePixel(const itk::SmartPointer<TFilter> & filter, std::size_t pixel)
{
  filter->Update();
  const auto                output = GetBuffer(filter->GetOutput());
  const auto                features = filter->GetFeatures();
  std::map<Feature, double> values;
  for (std::size_t f = 0; f < features.size(); ++f)
  {
    values[features[f]] = output[pixel * features.size() + f];
  }
  return values;
}

struct Expectation
{
  Feature feature;
  double  value;
  /** 0 for quotients of integers, which must be met exactly. */
  double tolerance;
};

void
ExpectValues(const std::vector<Expectation> & expectations, const std::map<Feature, double> & actual)
{
  for (const Expectation & expected : expectations)
  {
    ASSERT_EQ(1u, actual.count(expected.feature)) << expected.feature;
    if (expected.tolerance == 0.0)
    {
      EXPECT_EQ(expected.value, actual.at(expected.feature)) << expected.feature;
    }
    else
    {
      EXPECT_NEAR(expected.value, actual.at(expected.feature), expected.tolerance) << expected.feature;
    }
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
  RandomNumbers                              random(17);
  const typename ImageType::SizeType         size{ { 41, 17, 9 } };
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

  RandomNumbers        random(seed);
  DependenceRandomCase randomCase =
    VoxelMapsTest::DrawDependenceRandomCase(seed, dimension, sizeof(PixelType) == 1 ? 256 : 65535, random);
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
  for (const DependenceOracle::Triple & triple : randomCase.parameters.offsets)
  {
    offsets.emplace_back();
    std::copy_n(triple.begin(), dimension, offsets.back().begin());
  }
  filter->SetOffsets(offsets);
  filter->SetFeatures(randomCase.parameters.features);
  filter->SetAlpha(randomCase.parameters.alpha);
  filter->SetBackgroundValue(-1.0);

  SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes << ", " << intensityMaker.GetMethod());
  filter->GetOutput()->SetRequestedRegion(region);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->GetOutput()->Update());
  ASSERT_EQ(region, filter->GetOutput()->GetBufferedRegion());
  ASSERT_EQ(randomCase.parameters.features.size(), filter->GetFeatureNames().size());
  ASSERT_TRUE(VoxelMapsTest::AgreesWithOracle(randomCase, GetBuffer(filter->GetOutput()), -1.0, random, 10000));
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

TEST(DependenceFeatureMapImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = Filter3D::New();
  EXPECT_EQ(std::string(VoxelMapsTest::classNamePrefix) + "DependenceFeatureMapImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(32u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(Filter3D::SizeType::Filled(5), filter->GetWindowSize());
  EXPECT_EQ(Filter3D::GetAllOffsets({ 1 }), filter->GetOffsets());
  EXPECT_EQ(Enums::GetAllFeatures(), filter->GetFeatures());
  EXPECT_EQ(0u, filter->GetAlpha());
  EXPECT_EQ(13u, filter->GetOffsets().size());
  EXPECT_EQ(4u, Filter2D::New()->GetOffsets().size());
  EXPECT_EQ(
    (Names{
      "SDE", "LDE", "GLN", "DN", "DNN", "GLV", "DV", "DE", "LGLE", "HGLE", "SDLGLE", "SDHGLE", "LDLGLE", "LDHGLE" }),
    filter->GetFeatureNames());
}

TEST(DependenceFeatureMapImageFilter, SettersStoreAndModify)
{
  const auto                  filter = Filter2D::New();
  const Filter2D::OffsetsType offsets{ { { 1, 1 } }, { { 0, -3 } } };
  const std::vector<Feature>  features{ Feature::DependenceEntropy, Feature::SmallDependenceEmphasis };
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
    expectModified([&] { filter->SetAlpha(3); }, modified);
  }
  EXPECT_EQ(offsets, filter->GetOffsets());
  EXPECT_EQ(features, filter->GetFeatures());
  EXPECT_EQ(3u, filter->GetAlpha());
  EXPECT_EQ((Names{ "DE", "SDE" }), filter->GetFeatureNames());
  expectModified([&] { filter->SetDistances({ 2, 1 }); }, true);
  expectModified([&] { filter->SetDistances({ 2, 1 }); }, false);
  EXPECT_EQ(Filter2D::GetAllOffsets({ 2, 1 }), filter->GetOffsets());
}

TEST(DependenceFeatureMapImageFilter, PrintsItsMembers)
{
  const auto filter = Filter2D::New();
  filter->SetOffsets({ { { 1, -1 } } });
  filter->SetFeatures({ Feature::DependenceEntropy });
  filter->SetAlpha(17);
  std::ostringstream out;
  filter->Print(out);
  for (const std::string text : { "Offsets: [1, -1]", "Features: DependenceEntropy", "Alpha: 17" })
  {
    EXPECT_NE(std::string::npos, out.str().find(text)) << text << " is missing in\n" << out.str();
  }
}

// Worked out with exact fractions.
TEST(DependenceFeatureMapImageFilter, DocumentedImage)
{
  const auto                     filter = MakeFilterOfLevels<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5);
  const std::vector<Expectation> expectations{
    { Feature::SmallDependenceEmphasis, 149.0 / 400, 1e-15 },
    { Feature::LargeDependenceEmphasis, 139.0 / 25, 0 },
    { Feature::GrayLevelNonUniformity, 151.0 / 25, 0 },
    { Feature::DependenceNonUniformity, 199.0 / 25, 0 },
    { Feature::DependenceNonUniformityNormalized, 199.0 / 625, 0 },
    { Feature::GrayLevelVariance, 36.0 / 25, 0 },
    { Feature::DependenceVariance, 18.0 / 25, 0 },
    { Feature::DependenceEntropy, 3.3834651896, 1e-10 },
    { Feature::LowGrayLevelEmphasis, 2723.0 / 10000, 1e-15 },
    { Feature::HighGrayLevelEmphasis, 232.0 / 25, 0 },
    { Feature::SmallDependenceLowGrayLevelEmphasis, 95801.0 / 1620000, 1e-15 },
    { Feature::SmallDependenceHighGrayLevelEmphasis, 18557.0 / 3600, 1e-14 },
    { Feature::LargeDependenceLowGrayLevelEmphasis, 192857.0 / 90000, 1e-14 },
    { Feature::LargeDependenceHighGrayLevelEmphasis, 878.0 / 25, 0 },
  };
  EXPECT_EQ(std::size_t{ Enums::NumberOfFeatures }, expectations.size());
  ExpectValues(expectations, ComputePixel(filter, 12));
  // The window of 5 x 5 at the corner holds the first 3 x 3 pixels.
  ExpectValues({ { Feature::DependenceEntropy, 2.28103611255, 1e-11 } }, ComputePixel(filter, 0));
}

// 1 2 4 4 along x.
TEST(DependenceFeatureMapImageFilter, ALineByHand)
{
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 4, 1 } }, { 1, 2, 4, 4 }, 4, 4);
  // Sizes 1 1 2 2.
  ExpectValues({ { Feature::LargeDependenceEmphasis, 10.0 / 4, 0 },
                 { Feature::SmallDependenceEmphasis, 2.5 / 4, 1e-16 },
                 { Feature::DependenceNonUniformity, 8.0 / 4, 0 },
                 { Feature::GrayLevelNonUniformity, 6.0 / 4, 0 },
                 { Feature::DependenceEntropy, 1.5, 1e-14 },
                 { Feature::LargeDependenceHighGrayLevelEmphasis, (1.0 + 4.0 + 2 * 64.0) / 4, 0 } },
               ComputePixel(filter, 1));
  // Sizes 2 2 2 2.
  filter->SetAlpha(1);
  ExpectValues({ { Feature::LargeDependenceEmphasis, 4.0, 0 }, { Feature::DependenceVariance, 0.0, 0 } },
               ComputePixel(filter, 1));
  // Sizes 2 3 3 2.
  filter->SetAlpha(2);
  ExpectValues({ { Feature::LargeDependenceEmphasis, 26.0 / 4, 0 } }, ComputePixel(filter, 1));
  // Pixels two apart: 1 and 4, 2 and 4.
  filter->SetDistances({ 2 });
  ExpectValues({ { Feature::LargeDependenceEmphasis, 10.0 / 4, 0 } }, ComputePixel(filter, 1));
  // Any level depends on any other.
  for (const unsigned int alpha : { 3u, 4u, 65536u, 4294967295u })
  {
    filter->SetAlpha(alpha);
    ExpectValues({ { Feature::LargeDependenceEmphasis, 4.0, 0 } }, ComputePixel(filter, 1));
  }
  // Along y there is no pair of pixels.
  filter->SetOffsets({ { { 0, 1 } } });
  ExpectValues({ { Feature::LargeDependenceEmphasis, 1.0, 0 },
                 { Feature::SmallDependenceEmphasis, 1.0, 0 },
                 { Feature::DependenceNonUniformity, 4.0, 0 } },
               ComputePixel(filter, 1));
}

TEST(DependenceFeatureMapImageFilter, WindowsOfOneVoxel)
{
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 2, 2 } }, { 1, 2, 4, 200 }, 200, 0);
  for (std::size_t pixel = 0; pixel < 4; ++pixel)
  {
    const double level = std::vector<double>{ 1, 2, 4, 200 }[pixel];
    ExpectValues({ { Feature::SmallDependenceEmphasis, 1, 0 },
                   { Feature::LargeDependenceEmphasis, 1, 0 },
                   { Feature::GrayLevelNonUniformity, 1, 0 },
                   { Feature::DependenceNonUniformity, 1, 0 },
                   { Feature::DependenceNonUniformityNormalized, 1, 0 },
                   { Feature::GrayLevelVariance, 0, 0 },
                   { Feature::DependenceVariance, 0, 0 },
                   { Feature::DependenceEntropy, 0, 0 },
                   { Feature::LowGrayLevelEmphasis, 1 / (level * level), 1e-16 },
                   { Feature::HighGrayLevelEmphasis, level * level, 0 },
                   { Feature::SmallDependenceLowGrayLevelEmphasis, 1 / (level * level), 1e-16 },
                   { Feature::SmallDependenceHighGrayLevelEmphasis, level * level, 0 },
                   { Feature::LargeDependenceLowGrayLevelEmphasis, 1 / (level * level), 1e-16 },
                   { Feature::LargeDependenceHighGrayLevelEmphasis, level * level, 0 } },
                 ComputePixel(filter, pixel));
  }
}

TEST(DependenceFeatureMapImageFilter, ConstantWindows)
{
  for (const unsigned int levels : { 1u, 7u })
  {
    const unsigned char level = levels == 1 ? 1 : 3;
    const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 5, 5 } }, std::vector<unsigned char>(25, level), levels);
    const double square = level * level;
    // 4 corners of size 4, 12 pixels of size 6 at edges, 9 of size 9 inside.
    const double sizeSquares = 4 * 16 + 12 * 36 + 9 * 81;
    const double sizes = 4 * 4 + 12 * 6 + 9 * 9;
    ExpectValues({ { Feature::LargeDependenceEmphasis, sizeSquares / 25, 0 },
                   { Feature::GrayLevelNonUniformity, 25, 0 },
                   { Feature::DependenceNonUniformity, (16.0 + 144.0 + 81.0) / 25, 0 },
                   { Feature::DependenceNonUniformityNormalized, (16.0 + 144.0 + 81.0) / 625, 0 },
                   { Feature::GrayLevelVariance, 0, 0 },
                   { Feature::DependenceVariance, (25 * sizeSquares - sizes * sizes) / 625, 0 },
                   { Feature::LowGrayLevelEmphasis, 1 / square, 1e-16 },
                   { Feature::HighGrayLevelEmphasis, square, 0 },
                   { Feature::SmallDependenceEmphasis, (4 / 16.0 + 12 / 36.0 + 9 / 81.0) / 25, 1e-16 },
                   { Feature::LargeDependenceHighGrayLevelEmphasis, sizeSquares * square / 25, 0 } },
                 ComputePixel(filter, 12));
  }
}

// A voxel of the mask depends on its neighbors in the mask alone.
TEST(DependenceFeatureMapImageFilter, AbsentPixelsAreNoNeighbors)
{
  const auto filter = MakeFilterOfLevels<DoubleFilter2D>({ { 3, 1 } }, { 2, 2, 2 }, 2, 1);
  filter->SetMaskImage(MakeImage<Image2D>({ { 3, 1 } }, { 1, 1, 0 }));
  filter->SetAlpha(2);
  filter->SetBackgroundValue(9.0);
  ExpectValues({ { Feature::LargeDependenceEmphasis, 4.0, 0 } }, ComputePixel(filter, 1));
  ExpectValues({ { Feature::LargeDependenceEmphasis, 9.0, 0 } }, ComputePixel(filter, 2));
}

namespace
{
/** In the order of the enumeration, from the tables of the manual. */
struct PublishedValues
{
  double in2D;
  double in25D;
  double in3D;
};
const std::vector<PublishedValues> published{
  { 0.158, 0.159, 0.045 },  { 19.2, 18.8, 109 },  { 10.2, 37.9, 37.9 },        { 3.96, 12.4, 4.86 },
  { 0.212, 0.167, 0.0657 }, { 2.7, 3.05, 3.05 },  { 2.73, 3.27, 22.1 },        { 2.71, 3.36, 4.4 },
  { 0.702, 0.693, 0.693 },  { 7.49, 7.66, 7.66 }, { 0.0473, 0.0477, 0.00963 }, { 3.06, 3.07, 0.736 },
  { 17.6, 17.2, 102 },      { 49.5, 50.8, 235 },
};

/** The features of the phantom, or of one of its slices. */
template <typename TFilter>
std::vector<double>
ComputePhantom(const typename TFilter::SizeType & size, std::size_t first,
               const typename TFilter::OffsetsType & offsets)
{
  std::size_t number = 1;
  for (const auto length : size)
  {
    number *= length;
  }
  const auto begin = static_cast<std::ptrdiff_t>(first);
  const auto end = static_cast<std::ptrdiff_t>(first + number);
  const auto filter = TFilter::New();
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(
    size, { IbsiPhantom::phantomImage.begin() + begin, IbsiPhantom::phantomImage.begin() + end }));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(
    size, { IbsiPhantom::phantomMask.begin() + begin, IbsiPhantom::phantomMask.begin() + end }));
  filter->SetDiscretizationMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(6);
  filter->SetNeighborhoodRadius(5);
  filter->SetOffsets(offsets);
  filter->Update();
  // A window that covers the image gives the same values at all voxels.
  const auto          output = GetBuffer(filter->GetOutput());
  const std::size_t   components = filter->GetFeatures().size();
  std::vector<double> values(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(components));
  for (std::size_t i = 0; i < number; ++i)
  {
    const bool isInside = IbsiPhantom::phantomMask[first + i] != 0;
    for (std::size_t f = 0; f < components; ++f)
    {
      EXPECT_EQ(isInside ? values[f] : 0.0, output[i * components + f]) << i;
    }
  }
  return values;
}
} // namespace

TEST(DependenceFeatureMapImageFilter, PublishedValuesOfThePhantom)
{
  using Phantom2D = VoxelMapsTest::DependenceFilter<itk::Image<short, 2>, itk::VectorImage<double, 2>>;
  using Phantom3D = VoxelMapsTest::DependenceFilter<itk::Image<short, 3>, itk::VectorImage<double, 3>>;
  const auto & size = IbsiPhantom::phantomSize;
  const auto   in3D = ComputePhantom<Phantom3D>({ { size[0], size[1], size[2] } }, 0, Phantom3D::GetAllOffsets());
  const auto   in25D = ComputePhantom<Phantom3D>({ { size[0], size[1], size[2] } }, 0, Phantom3D::GetInPlaneOffsets());
  std::vector<double> in2D(published.size(), 0.0);
  for (std::size_t slice = 0; slice < size[2]; ++slice)
  {
    const auto values =
      ComputePhantom<Phantom2D>({ { size[0], size[1] } }, slice * size[0] * size[1], Phantom2D::GetAllOffsets());
    for (std::size_t f = 0; f < in2D.size(); ++f)
    {
      in2D[f] += values[f] / size[2];
    }
  }
  ASSERT_EQ(std::size_t{ Enums::NumberOfFeatures }, published.size());
  for (std::size_t f = 0; f < published.size(); ++f)
  {
    EXPECT_EQ(published[f].in2D, IbsiPhantom::RoundTo3Digits(in2D[f])) << static_cast<Feature>(f);
    EXPECT_EQ(published[f].in25D, IbsiPhantom::RoundTo3Digits(in25D[f])) << static_cast<Feature>(f);
    EXPECT_EQ(published[f].in3D, IbsiPhantom::RoundTo3Digits(in3D[f])) << static_cast<Feature>(f);
  }
}

TEST(DependenceFeatureMapImageFilterErrors, Offsets)
{
  const auto all = [](Filter2D * filter) { filter->SetDistances({ 1 }); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({}); }, all, { "0", "4096" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets(Filter2D::OffsetsType(4097, Filter2D::OffsetType{ { 1, 0 } })); },
    all,
    { "4097", "4096" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, 0 } }, { { 0, 0 } } }); }, all, { "[0, 0]" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 255, 0 } } }); }, all, { "255", "254" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 1, -300 } } }); }, all, { "-300" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 1, 1 } }, { { 0, 1 } }, { { 1, 1 } } }); },
                        all,
                        { "[1, 1]", "twice" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, -2 } }, { { -1, 2 } } }); }, all, { "[-1, 2]", "opposite" });
}

TEST(DependenceFeatureMapImageFilterErrors, Features)
{
  const auto all = [](Filter2D * filter) { filter->SetFeatures(Enums::GetAllFeatures()); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({}); }, all, { "0" });
  ExpectRepairableError(
    [](Filter2D * filter) {
      filter->SetFeatures({ Feature::DependenceEntropy, Feature::GrayLevelVariance, Feature::DependenceEntropy });
    },
    all,
    { "DependenceEntropy" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({ static_cast<Feature>(14) }); }, all, { "14" });
}

TEST(DependenceFeatureMapImageFilterRandom, UInt8In2D)
{
  CheckRandomFilterCases<Filter2D>(750000, 300);
}

TEST(DependenceFeatureMapImageFilterRandom, FloatIn3DToDouble)
{
  CheckRandomFilterCases<VoxelMapsTest::DependenceFilter<itk::Image<float, 3>, itk::VectorImage<double, 3>>>(760000,
                                                                                                             300);
}

TEST(DependencePipeline, WorkUnitsDoNotChangeBits)
{
  VoxelMapsTest::ExpectWorkUnitsDoNotChangeBits([] { return MakeSceneFilter<Filter3D>(); });
}

TEST(DependencePipeline, StreamDivisionsDoNotChangeBits)
{
  const auto expected = Compute(MakeSceneFilter<Filter3D>());
  for (const unsigned int divisions : { 1u, 2u, 7u })
  {
    const auto filter = MakeSceneFilter<Filter3D>();
    const auto streamer = itk::StreamingImageFilter<Filter3D::OutputImageType, Filter3D::OutputImageType>::New();
    streamer->SetInput(filter->GetOutput());
    streamer->SetNumberOfStreamDivisions(divisions);
    streamer->Update();
    EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput()))) << divisions << " divisions";
  }
}

TEST(DependencePipeline, AbortsSoon)
{
  // Also where windows are so large that one row takes long. A device computes all of the image in less than 200 ms.
  constexpr int milliseconds = VoxelMapsTest::isCudaTest ? 30 : 200;
  for (const unsigned int radius : { 2u, 9u })
  {
    const auto filter = VoxelMapsTest::DependenceFilter<itk::Image<short, 3>>::New();
    filter->SetInput(VoxelMapsTest::MakeLargeImage(8));
    filter->SetNumberOfWorkUnits(2);
    filter->SetNeighborhoodRadius(radius);
    EXPECT_LT(VoxelMapsTest::AbortFromAnObserver(filter, 0.0f).withoutOthers, maxSecondsToAbort);
    EXPECT_LT(VoxelMapsTest::AbortFromAnotherThread(filter, milliseconds).withoutOthers, maxSecondsToAbort);
  }
}

TEST(DependencePipeline, WorksAgainAfterAborts)
{
  const auto filter = MakeSceneFilter<Filter3D>();
  bool       abort = false;
  VoxelMapsTest::ExpectWorksAgainAfterAborts(filter.GetPointer(), Compute(MakeSceneFilter<Filter3D>()), abort);
}
