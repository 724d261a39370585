// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "IbsiPhantom.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkFirstOrderFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<short, 2>;
using Image3D = itk::Image<short, 3>;
using Filter2D = itk::FirstOrderFeatureMapImageFilter<Image2D>;
using Enums = itk::FirstOrderFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Names = std::vector<std::string>;
using namespace VoxelMapsTest;

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
    const auto filter = NewFilter<Filter2D>();
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

} // namespace

// Checked with PyRadiomics 3.0.1.
TEST(FirstOrderFeatureMapImageFilter, HandCase)
{
  const auto filter = NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D, Doubles<2>>>();
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

TEST(FirstOrderFeatureMapImageFilter, VoxelArrayShiftAndVolumeOfVoxels)
{
  const auto   image = MakeImage<Image2D>({ { 3, 1 } }, { -3, 0, 3 });
  const double spacing[2] = { 0.5, 3.0 };
  image->SetSpacing(spacing);
  const auto filter = NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D, Doubles<2>>>();
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

TEST(FirstOrderFeatureMapImageFilter, NaNAndMaskedPixelsAreAbsent)
{
  using ImageType = itk::Image<float, 2>;
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto filter = NewFilter<itk::FirstOrderFeatureMapImageFilter<ImageType>>();
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
  const auto filter = NewFilter<itk::FirstOrderFeatureMapImageFilter<ImageType, Doubles<2>>>();
  filter->SetInput(MakeImage<ImageType>({ { 4, 1 } }, { 0.0, -0.0, -0.0, 0.0 }));
  filter->SetFeatures({ Feature::Minimum, Feature::Maximum, Feature::Median, Feature::Mean });
  filter->Update();
  EXPECT_TRUE(HasSameBits(std::vector<double>(16, 0.0), GetBuffer(filter->GetOutput())));
}

TEST(FirstOrderFeatureMapImageFilterErrors, WindowsAndVolumes)
{
  const auto radius2 = [](Filter2D * filter) { filter->SetNeighborhoodRadius(2); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize({ { 0, 5 } }); }, radius2, { "0" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetNeighborhoodRadius(128); }, radius2, { "257" });
  const auto   image = MakeRamp();
  const double spacing[2] = { 1e200, 1e200 };
  image->SetSpacing(spacing);
  const auto filter = NewFilter<Filter2D>();
  filter->SetInput(image);
  ExpectError([&] { filter->Update(); }, { "voxelVolume", "inf" });
}
