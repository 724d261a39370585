// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkFirstOrderFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace
{
using Image2D = itk::Image<short, 2>;
using Feature = itk::FirstOrderFeatureMapEnums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using namespace VoxelMapsTest;

template <unsigned int VDimension>
using Doubles = itk::VectorImage<double, VDimension>;

} // namespace

// Checked with PyRadiomics 3.0.1.
TEST(FirstOrderFeatureMapImageFilter, HandCase)
{
  // Intensities of ten times the levels.
  std::vector<short> intensities;
  for (const unsigned char level : documentedImage)
  {
    intensities.push_back(static_cast<short>(10 * level));
  }
  const auto filter = NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D, Doubles<2>>>();
  filter->SetInput(MakeImage<Image2D>({ { 5, 5 } }, intensities));
  filter->SetDiscretizationMethod(Method::FixedBinSize);
  filter->SetRangeMinimum(10.0);
  filter->SetRangeMaximum(50.0);
  filter->SetBinWidth(10.0);
  const auto values = ComputePixel(filter, 12);
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
  const auto plain = ComputePixel(filter, 1);
  EXPECT_EQ(18.0, plain.at(Feature::Energy));
  EXPECT_EQ(27.0, plain.at(Feature::TotalEnergy));
  EXPECT_EQ(std::sqrt(6.0), plain.at(Feature::RootMeanSquared));
  filter->SetVoxelArrayShift(3.0);
  const auto shifted = ComputePixel(filter, 1);
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

TEST(FirstOrderFeatureMapImageFilterErrors, VolumesOfVoxels)
{
  const auto   image = MakeImage<Image2D>({ { 3, 1 } }, { -3, 0, 3 });
  const double spacing[2] = { 1e200, 1e200 };
  image->SetSpacing(spacing);
  const auto filter = NewFilter<itk::FirstOrderFeatureMapImageFilter<Image2D>>();
  filter->SetInput(image);
  ExpectError([&] { filter->Update(); }, { "volume of a voxel", "inf" });
}
