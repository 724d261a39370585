// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "FirstOrderRandomCase.h"
#include "IbsiPhantom.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkGrayLevelDiscretizationImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using Image2D = itk::Image<short, 2>;
using Image3D = itk::Image<short, 3>;
using Filter2D = itk::FirstOrderFeatureMapImageFilter<Image2D>;
using Filter3D = itk::FirstOrderFeatureMapImageFilter<Image3D>;
using Enums = itk::FirstOrderFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Names = std::vector<std::string>;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::FirstOrderRandomCase;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::RandomNumbers;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

template <unsigned int VDimension>
using Doubles = itk::VectorImage<double, VDimension>;

Image2D::Pointer
MakeRamp()
{
  std::vector<short> pixels(30);
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    pixels[i] = static_cast<short>(i * 7);
  }
  return MakeImage<Image2D>({ { 6, 5 } }, pixels);
}

/** The 5 x 5 image of PyRadiomics' documentation, with intensities of ten times the levels. */
const std::vector<short> handImage{ 50, 20, 50, 40, 40, 30, 30, 30, 10, 30, 20, 10, 10,
                                    10, 30, 40, 20, 20, 20, 30, 30, 50, 30, 30, 20 };

template <typename TFilter>
void
UseHandImageLevels(TFilter * filter)
{
  filter->SetDiscretizationMethod(Method::FixedBinSize);
  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMinimum(10.0);
  filter->SetRangeMaximum(50.0);
  filter->SetBinWidth(10.0);
}

/** All features at a position of an image, by feature. */
template <typename TFilter>
std::map<Feature, double>
FeaturesAt(TFilter * filter, const typename TFilter::InputImageType::IndexType & index)
{
  filter->SetFeatures(Enums::GetAllFeatures());
  filter->Update();
  const auto                values = filter->GetOutput()->GetPixel(index);
  std::map<Feature, double> features;
  for (const Feature feature : Enums::GetAllFeatures())
  {
    features[feature] = values[static_cast<unsigned int>(feature)];
  }
  return features;
}

/** Expect an error that names these words, and that the filter works once the mistake is undone. */
template <typename TMistake, typename TRepair>
void
ExpectRepairableError(TMistake && mistake, TRepair && repair, const Names & words)
{
  const auto make = [] {
    const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
    filter->SetInput(MakeRamp());
    return filter;
  };
  const auto filter = make();
  mistake(filter.GetPointer());
  ExpectError([&] { filter->Update(); }, words);
  repair(filter.GetPointer());
  EXPECT_NO_THROW(filter->Update());
  const auto fresh = make();
  fresh->Update();
  EXPECT_EQ(GetBuffer(fresh->GetOutput()), GetBuffer(filter->GetOutput()));
}

/** Whether the filter gives what the oracle gives, for one case drawn from a seed. The levels are those of the filter
 * that makes levels alone. */
template <typename TFilter>
void
CheckRandomFilterCase(std::uint64_t seed)
{
  using InputImageType = typename TFilter::InputImageType;
  using MaskImageType = typename TFilter::MaskImageType;
  using PixelType = typename TFilter::InputPixelType;
  constexpr unsigned int dimension = TFilter::ImageDimension;
  constexpr bool         isReal = std::is_floating_point<PixelType>::value;

  RandomNumbers        random(seed);
  FirstOrderRandomCase randomCase;
  TextureRandomCase &  levels = randomCase.levels;
  levels = DrawTextureRandomCase(seed, dimension, 256, random);

  const std::size_t                    count = levels.levels.values.size();
  typename InputImageType::SizeType    size;
  typename InputImageType::IndexType   start;
  typename InputImageType::SpacingType spacing;
  typename InputImageType::RegionType  region;
  typename TFilter::SizeType           windowSize;
  typename TFilter::OffsetType         windowAnchor;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    size[axis] = static_cast<itk::SizeValueType>(levels.levels.size[axis]);
    start[axis] = random.Between(-50, 50);
    spacing[axis] = random.OneOf<double>({ 0.5, 1.0, 3.3 });
    randomCase.voxelVolume *= spacing[axis];
    region.SetIndex(axis, start[axis] + levels.regionIndex[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(levels.regionSize[axis]));
    windowSize[axis] = static_cast<itk::SizeValueType>(levels.window.size[axis]);
    windowAnchor[axis] = levels.window.anchor[axis];
  }

  // Some intensities of the whole range of the type, or few, and NaN.
  const bool                 isWide = random.Chance(0.5);
  const bool                 hasNaN = isReal && random.Chance(0.5);
  const bool                 hasMask = random.Chance(0.5);
  const bool                 hasSelection = random.Chance(0.3);
  std::vector<PixelType>     pixels;
  std::vector<unsigned char> mask;
  std::vector<unsigned char> selection;
  for (std::size_t i = 0; i < count; ++i)
  {
    PixelType pixel{};
    if (isReal)
    {
      pixel = static_cast<PixelType>(static_cast<double>(random.Between(-1000000, 1000000)) * (isWide ? 0.37 : 1e-9));
      pixel = random.Chance(0.1) ? static_cast<PixelType>(-0.0) : pixel;
      // One number is needed for a range.
      pixel = hasNaN && i > 0 && random.Chance(0.1) ? std::numeric_limits<PixelType>::quiet_NaN() : pixel;
    }
    else
    {
      const auto bits = static_cast<std::uint64_t>(random.Below(std::numeric_limits<std::int64_t>::max())) * 2 +
                        static_cast<std::uint64_t>(random.Below(2));
      pixel = isWide ? static_cast<PixelType>(bits) : static_cast<PixelType>(bits % 7);
    }
    pixels.push_back(pixel);
    mask.push_back(random.Chance(0.8) ? 3 : 0);
    selection.push_back(random.Chance(0.7) ? 3 : 1);
  }

  const auto image = MakeImage<InputImageType>(size, pixels, start);
  const auto maskImage = MakeImage<MaskImageType>(size, mask, start);
  const auto selectionImage = MakeImage<MaskImageType>(size, selection, start);
  for (const auto & of : { maskImage, selectionImage })
  {
    of->SetSpacing(spacing);
  }
  image->SetSpacing(spacing);

  randomCase.features = VoxelMapsTest::DrawFirstOrderFeatures(random);
  randomCase.voxelArrayShift = random.OneOf<double>({ 0.0, 1000.0 });
  const auto background = random.OneOf<double>({ 0.0, -1.0, quietNaN });
  const auto filter = VoxelMapsTest::NewFilter<TFilter>();
  filter->SetInput(image);
  filter->SetInsidePixelValue(3);
  filter->SetMaskImage(hasMask ? maskImage : nullptr);
  filter->SetSelectionImage(hasSelection ? selectionImage : nullptr);
  filter->SetNumberOfGrayLevels(random.OneOf<unsigned int>({ 1, 8, 32, 300, 65535 }));
  filter->SetRangeSource(RangeSource::Image);
  filter->SetWindowSize(windowSize);
  filter->SetWindowAnchor(windowAnchor);
  filter->SetFeatures(randomCase.features);
  filter->SetVoxelArrayShift(randomCase.voxelArrayShift);
  filter->SetBackgroundValue(background);
  filter->SetNumberOfWorkUnits(static_cast<itk::ThreadIdType>(random.OneOf<int>({ 1, 2, 3, 8 })));

  using LevelImageType = itk::Image<unsigned short, dimension>;
  const auto discretization = itk::GrayLevelDiscretizationImageFilter<InputImageType, LevelImageType>::New();
  discretization->SetInput(image);
  discretization->SetMaskImage(hasMask ? maskImage : nullptr);
  discretization->SetInsidePixelValue(3);
  discretization->SetNumberOfGrayLevels(filter->GetNumberOfGrayLevels());
  discretization->SetRangeSource(RangeSource::Image);
  SCOPED_TRACE(::testing::Message() << levels << (hasMask ? ", masked" : "") << (hasSelection ? ", selection" : "")
                                    << (isWide ? ", wide" : "") << (hasNaN ? ", NaN" : "") << ", background "
                                    << background);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(discretization->Update());
  levels.levels.values = GetBuffer(discretization->GetOutput());
  for (std::size_t i = 0; i < count; ++i)
  {
    randomCase.intensities.push_back(levels.levels.values[i] != 0 ? static_cast<double>(pixels[i]) : quietNaN);
  }

  filter->GetOutput()->SetRequestedRegion(region);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->GetOutput()->Update());
  ASSERT_EQ(region, filter->GetOutput()->GetBufferedRegion());
  ASSERT_EQ(randomCase.features.size(), filter->GetOutput()->GetNumberOfComponentsPerPixel());
  auto result = GetBuffer(filter->GetOutput());
  if (hasSelection)
  {
    // What is not selected is background; the oracle knows no selection.
    filter->SetSelectionImage(nullptr);
    filter->GetOutput()->SetRequestedRegion(region);
    filter->GetOutput()->Update();
    const auto        all = GetBuffer(filter->GetOutput());
    const auto        selected = GetBuffer(selectionImage.GetPointer(), region);
    const std::size_t components = randomCase.features.size();
    using ValueType = typename TFilter::OutputValueType;
    std::vector<ValueType> expected = all;
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
      expected[i] = selected[i / components] == 3 ? expected[i] : static_cast<ValueType>(background);
    }
    ASSERT_TRUE(VoxelMapsTest::HasSameBits(expected, result));
    result = all;
  }
  ASSERT_TRUE(AgreesWithOracle(randomCase, result, background, random));
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

template <typename TPixel, unsigned int VDimension, typename TReal>
using RandomFilter =
  itk::FirstOrderFeatureMapImageFilter<itk::Image<TPixel, VDimension>, itk::VectorImage<TReal, VDimension>>;
} // namespace

TEST(FirstOrderFeatureMapImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
  EXPECT_EQ(VoxelMapsTest::GetClassNamePrefix() + "FirstOrderFeatureMapImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(32u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(Method::FixedBinNumber, filter->GetDiscretizationMethod());
  EXPECT_EQ(Filter3D::SizeType::Filled(5), filter->GetWindowSize());
  EXPECT_EQ(Enums::GetAllFeatures(), filter->GetFeatures());
  EXPECT_EQ(0.0, filter->GetVoxelArrayShift());
  EXPECT_EQ(0.0, filter->GetBackgroundValue());
}

TEST(FirstOrderFeatureMapImageFilter, SettersStoreAndModify)
{
  const auto                 filter = VoxelMapsTest::NewFilter<Filter2D>();
  const std::vector<Feature> features{ Feature::Variance, Feature::Mean };
  const auto                 expectModified = VoxelMapsTest::MakeModifiedCheck(filter.GetPointer());
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetFeatures(features); }, modified);
    expectModified([&] { filter->SetVoxelArrayShift(300.0); }, modified);
  }
  EXPECT_EQ(features, filter->GetFeatures());
  EXPECT_EQ(300.0, filter->GetVoxelArrayShift());
}

TEST(FirstOrderFeatureMapImageFilter, NamesOfComponents)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetFeatures({ Feature::RootMeanSquared, Feature::Percentile10 });
  EXPECT_EQ((Names{ "RMS", "P10" }), filter->GetFeatureNames());
  filter->SetInput(MakeRamp());
  filter->UpdateOutputInformation();
  EXPECT_EQ(2u, filter->GetOutput()->GetNumberOfComponentsPerPixel());
}

TEST(FirstOrderFeatureMapImageFilter, PrintsItsMembers)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetFeatures({ Feature::Uniformity, Feature::Skewness });
  filter->SetVoxelArrayShift(-12.5);
  VoxelMapsTest::ExpectPrints(filter.GetPointer(),
                              { "Features: UNI SKE\n", "VoxelArrayShift: -12.5\n", "NumberOfGrayLevels: 32\n" });
}

// Checked with PyRadiomics 3.0.1.
TEST(FirstOrderFeatureMapImageFilter, HandCase)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D, Doubles<2>>>();
  filter->SetInput(MakeImage<Image2D>({ { 5, 5 } }, handImage));
  UseHandImageLevels(filter.GetPointer());
  const auto values = FeaturesAt(filter.GetPointer(), { { 2, 2 } });
  EXPECT_EQ(23200.0, values.at(Feature::Energy));
  EXPECT_EQ(23200.0, values.at(Feature::TotalEnergy));
  EXPECT_EQ(28.0, values.at(Feature::Mean));
  EXPECT_EQ(30.0, values.at(Feature::Median));
  EXPECT_EQ(10.0, values.at(Feature::Minimum));
  EXPECT_EQ(50.0, values.at(Feature::Maximum));
  EXPECT_EQ(40.0, values.at(Feature::Range));
  EXPECT_EQ(10.0, values.at(Feature::Percentile10));
  EXPECT_DOUBLE_EQ(46.0, values.at(Feature::Percentile90));
  EXPECT_EQ(10.0, values.at(Feature::InterquartileRange));
  EXPECT_EQ(48.0 / 5.0, values.at(Feature::MeanAbsoluteDeviation));
  EXPECT_DOUBLE_EQ(90.0 / 11.0, values.at(Feature::RobustMeanAbsoluteDeviation));
  EXPECT_NEAR(30.4630924235, values.at(Feature::RootMeanSquared), 1e-10);
  EXPECT_EQ(0.25, values.at(Feature::Skewness));
  EXPECT_DOUBLE_EQ(7.0 / 3.0, values.at(Feature::Kurtosis));
  EXPECT_EQ(144.0, values.at(Feature::Variance));
  EXPECT_EQ(12.0, values.at(Feature::StandardDeviation));
  EXPECT_EQ(151.0 / 625.0, values.at(Feature::Uniformity));
  EXPECT_NEAR(2.18190118891, values.at(Feature::Entropy), 1e-11);
}

TEST(FirstOrderFeatureMapImageFilter, HandCaseAtTheCorner)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D, Doubles<2>>>();
  filter->SetInput(MakeImage<Image2D>({ { 5, 5 } }, handImage));
  UseHandImageLevels(filter.GetPointer());
  // Rows 50 20 50, 30 30 30, 20 10 10.
  const auto values = FeaturesAt(filter.GetPointer(), { { 0, 0 } });
  EXPECT_EQ(50.0, values.at(Feature::Percentile90));
  EXPECT_DOUBLE_EQ(25329.0 / 12482.0, values.at(Feature::Kurtosis));
}

TEST(FirstOrderFeatureMapImageFilter, VoxelArrayShiftAndVolumeOfVoxels)
{
  const auto   image = MakeImage<Image2D>({ { 3, 1 } }, { -3, 0, 3 });
  const double spacing[2] = { 0.5, 3.0 };
  image->SetSpacing(spacing);
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D, Doubles<2>>>();
  filter->SetInput(image);
  const auto plain = FeaturesAt(filter.GetPointer(), { { 1, 0 } });
  EXPECT_EQ(18.0, plain.at(Feature::Energy));
  EXPECT_EQ(27.0, plain.at(Feature::TotalEnergy));
  EXPECT_EQ(std::sqrt(6.0), plain.at(Feature::RootMeanSquared));
  filter->SetVoxelArrayShift(3.0);
  const auto shifted = FeaturesAt(filter.GetPointer(), { { 1, 0 } });
  EXPECT_EQ(45.0, shifted.at(Feature::Energy));
  EXPECT_EQ(67.5, shifted.at(Feature::TotalEnergy));
  EXPECT_EQ(std::sqrt(15.0), shifted.at(Feature::RootMeanSquared));
  EXPECT_EQ(plain.at(Feature::Mean), shifted.at(Feature::Mean));
  EXPECT_EQ(plain.at(Feature::Minimum), shifted.at(Feature::Minimum));
}

// A window that covers the phantom gives its values at every voxel of the mask.
TEST(FirstOrderFeatureMapImageFilter, PhantomOfTheIBSI)
{
  using IbsiPhantom::phantomImage;
  using IbsiPhantom::phantomMask;
  using IbsiPhantom::phantomSize;
  const Image3D::SizeType size{ { phantomSize[0], phantomSize[1], phantomSize[2] } };
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<Image3D, Doubles<3>>>();
  const auto mask = MakeImage<itk::Image<unsigned char, 3>>(size, phantomMask);
  filter->SetInput(MakeImage<Image3D>(size, phantomImage));
  filter->SetMaskImage(mask);
  filter->SetDiscretizationMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(6);
  filter->SetNeighborhoodRadius(4);
  const std::map<Feature, std::string> published{
    { Feature::Mean, "2.15" },
    { Feature::Variance, "3.05" },
    { Feature::Skewness, "1.08" },
    { Feature::Median, "1" },
    { Feature::Minimum, "1" },
    { Feature::Percentile10, "1" },
    { Feature::Percentile90, "4" },
    { Feature::Maximum, "6" },
    { Feature::InterquartileRange, "3" },
    { Feature::Range, "5" },
    { Feature::MeanAbsoluteDeviation, "1.55" },
    { Feature::RobustMeanAbsoluteDeviation, "1.11" },
    { Feature::Energy, "567" },
    { Feature::RootMeanSquared, "2.77" },
    { Feature::Entropy, "1.27" },
    { Feature::Uniformity, "0.512" },
  };
  const auto rounded = [](double value) {
    std::ostringstream text;
    text.precision(3);
    text << value;
    return text.str();
  };
  filter->SetFeatures(Enums::GetAllFeatures());
  filter->Update();
  const auto values = GetBuffer(filter->GetOutput());
  for (std::size_t i = 0; i < phantomMask.size(); ++i)
  {
    const double * const voxel = values.data() + i * Enums::NumberOfFeatures;
    for (const auto & feature : published)
    {
      EXPECT_EQ(phantomMask[i] != 0 ? feature.second : "0", rounded(voxel[static_cast<std::size_t>(feature.first)]))
        << feature.first << " at voxel " << i;
    }
    // The IBSI subtracts 3, the kurtosis of a normal distribution.
    EXPECT_EQ(phantomMask[i] != 0 ? "-0.355" : "-3", rounded(voxel[static_cast<std::size_t>(Feature::Kurtosis)] - 3.0));
    // The summation order starts at the same voxel, but differences are from the window's own.
    EXPECT_EQ(phantomMask[i] != 0 ? 567.0 : 0.0, voxel[static_cast<std::size_t>(Feature::TotalEnergy)]);
  }
}

TEST(FirstOrderFeatureMapImageFilter, NaNAndMaskedPixelsAreAbsent)
{
  using ImageType = itk::Image<float, 2>;
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<ImageType>>();
  filter->SetInput(MakeImage<ImageType>({ { 5, 1 } }, { 1.0f, nan, 2.5f, 100.0f, 4.0f }));
  filter->SetMaskImage(MakeImage<itk::Image<unsigned char, 2>>({ { 5, 1 } }, { 1, 1, 1, 0, 1 }));
  filter->SetFeatures({ Feature::Mean, Feature::Maximum });
  filter->SetNeighborhoodRadius(4);
  filter->SetBackgroundValue(-1.0);
  filter->Update();
  EXPECT_EQ((std::vector<float>{ 2.5f, 4.0f, -1.0f, -1.0f, 2.5f, 4.0f, -1.0f, -1.0f, 2.5f, 4.0f }),
            GetBuffer(filter->GetOutput()));
}

TEST(FirstOrderFeatureMapImageFilter, NegativeZeroIsZero)
{
  using ImageType = itk::Image<double, 2>;
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<ImageType, Doubles<2>>>();
  filter->SetInput(MakeImage<ImageType>({ { 4, 1 } }, { 0.0, -0.0, -0.0, 0.0 }));
  filter->SetFeatures({ Feature::Minimum, Feature::Maximum, Feature::Median, Feature::Mean });
  filter->Update();
  EXPECT_TRUE(VoxelMapsTest::HasSameBits(std::vector<double>(16, 0.0), GetBuffer(filter->GetOutput())));
}

TEST(FirstOrderFeatureMapImageFilter, IntegersOf64BitsAreRoundedToDouble)
{
  using ImageType = itk::Image<std::int64_t, 2>;
  constexpr std::int64_t great = (std::int64_t{ 1 } << 53) + 1;
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<ImageType, Doubles<2>>>();
  filter->SetInput(MakeImage<ImageType>({ { 2, 1 } }, { great, great + 2 }));
  filter->SetFeatures({ Feature::Minimum, Feature::Maximum });
  filter->Update();
  const auto values = GetBuffer(filter->GetOutput());
  EXPECT_EQ(9007199254740992.0, values[0]);
  EXPECT_EQ(9007199254740996.0, values[1]);
}

TEST(FirstOrderFeatureMapImageFilterErrors, Features)
{
  const auto all = [](Filter2D * filter) { filter->SetFeatures(Enums::GetAllFeatures()); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({}); }, all, { "0" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetFeatures({ Feature::Mean, Feature::Energy, Feature::Mean }); }, all, { "Mean" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({ static_cast<Feature>(19) }); }, all, { "19" });
}

TEST(FirstOrderFeatureMapImageFilterErrors, VoxelArrayShift)
{
  const auto zero = [](Filter2D * filter) { filter->SetVoxelArrayShift(0.0); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetVoxelArrayShift(quietNaN); }, zero, { "nan" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetVoxelArrayShift(std::numeric_limits<double>::infinity()); },
                        zero,
                        { "VoxelArrayShift", "inf" });
}

TEST(FirstOrderFeatureMapImageFilterErrors, WindowsAndVolumes)
{
  const auto radius2 = [](Filter2D * filter) { filter->SetNeighborhoodRadius(2); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize({ { 0, 5 } }); }, radius2, { "0" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetNeighborhoodRadius(128); }, radius2, { "257" });
  const auto   image = MakeRamp();
  const double spacing[2] = { 1e200, 1e200 };
  image->SetSpacing(spacing);
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(image);
  ExpectError([&] { filter->Update(); }, { "voxelVolume", "inf" });
}

TEST(FirstOrderFeatureMapImageFilterErrors, ImageOfVectors)
{
  using VectorImageType = itk::VectorImage<float, 2>;
  const auto image = VectorImageType::New();
  image->SetRegions(VectorImageType::SizeType{ { 4, 3 } });
  image->SetNumberOfComponentsPerPixel(3);
  image->Allocate(true);
  const auto filter = VoxelMapsTest::NewFilter<itk::FirstOrderFeatureMapImageFilter<VectorImageType>>();
  filter->SetInput(image);
  ExpectError([&] { filter->Update(); }, { "3" });
}

TEST(FirstOrderFeatureMapImageFilterErrors, NoInput)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  ExpectError([&] { filter->Update(); }, { "~Primary" });
}

TEST(FirstOrderFeatureMapImageFilterRandom, UInt8In2D)
{
  CheckRandomFilterCases<RandomFilter<unsigned char, 2, float>>(1000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, Int16In3D)
{
  CheckRandomFilterCases<RandomFilter<short, 3, float>>(2000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, UInt16In2DToDouble)
{
  CheckRandomFilterCases<RandomFilter<unsigned short, 2, double>>(3000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, Int32In3D)
{
  CheckRandomFilterCases<RandomFilter<int, 3, float>>(4000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, Int64In2DToDouble)
{
  CheckRandomFilterCases<RandomFilter<std::int64_t, 2, double>>(5000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, UInt64In3D)
{
  CheckRandomFilterCases<RandomFilter<std::uint64_t, 3, float>>(6000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, FloatIn3D)
{
  CheckRandomFilterCases<RandomFilter<float, 3, float>>(7000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, FloatIn2DToDouble)
{
  CheckRandomFilterCases<RandomFilter<float, 2, double>>(8000, 60);
}

TEST(FirstOrderFeatureMapImageFilterRandom, DoubleIn3DToDouble)
{
  CheckRandomFilterCases<RandomFilter<double, 3, double>>(9000, 60);
}
