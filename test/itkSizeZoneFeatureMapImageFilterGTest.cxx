// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkSizeZoneFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<unsigned char, 3>;
using DoubleFilter2D = itk::SizeZoneFeatureMapImageFilter<Image2D, itk::VectorImage<double, 2>>;
using DoubleFilter3D = itk::SizeZoneFeatureMapImageFilter<Image3D, itk::VectorImage<double, 3>>;
using Enums = itk::SizeZoneFeatureMapEnums;
using Feature = Enums::Feature;
using Connectivity = Enums::Connectivity;
using namespace VoxelMapsTest;
} // namespace

// Checked with PyRadiomics 3.0.1; quotients of integers are met exactly.
TEST(SizeZoneFeatureMapImageFilter, DocumentedImage)
{
  const auto values = ComputePixel(MakeLevelsFilter<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5), 12);
  EXPECT_EQ(85.0 / 11.0, values.at(Feature::LargeAreaEmphasis));
  EXPECT_EQ(27.0 / 11.0, values.at(Feature::GrayLevelNonUniformity));
  EXPECT_EQ(27.0 / 121.0, values.at(Feature::GrayLevelNonUniformityNormalized));
  EXPECT_EQ(43.0 / 11.0, values.at(Feature::SizeZoneNonUniformity));
  EXPECT_EQ(43.0 / 121.0, values.at(Feature::SizeZoneNonUniformityNormalized));
  EXPECT_EQ(11.0 / 25.0, values.at(Feature::ZonePercentage));
  EXPECT_EQ(204.0 / 121.0, values.at(Feature::GrayLevelVariance));
  EXPECT_EQ(310.0 / 121.0, values.at(Feature::ZoneVariance));
  EXPECT_EQ(13.0, values.at(Feature::HighGrayLevelZoneEmphasis));
  EXPECT_EQ(590.0 / 11.0, values.at(Feature::LargeAreaHighGrayLevelEmphasis));
  EXPECT_NEAR(3.02716911844, values.at(Feature::ZoneEntropy), 1e-11);
  EXPECT_NEAR(23413.0 / 39600.0, values.at(Feature::SmallAreaEmphasis), 1e-15);
  EXPECT_NEAR(1247.0 / 6600.0, values.at(Feature::LowGrayLevelZoneEmphasis), 1e-15);
  EXPECT_NEAR(84049.0 / 1425600.0, values.at(Feature::SmallAreaLowGrayLevelEmphasis), 1e-15);
  EXPECT_NEAR(43833.0 / 4400.0, values.at(Feature::SmallAreaHighGrayLevelEmphasis), 1e-14);
  EXPECT_NEAR(96557.0 / 39600.0, values.at(Feature::LargeAreaLowGrayLevelEmphasis), 1e-15);
}

TEST(SizeZoneFeatureMapImageFilter, ConnectivityInPlaneIsThatOfSlices)
{
  const std::vector<unsigned char> levels(27, 1);
  const auto                       filter = MakeLevelsFilter<DoubleFilter3D>({ { 3, 3, 3 } }, levels, 1, 1);
  filter->SetConnectivity(Connectivity::InPlane);
  const auto values = ComputePixel(filter, 13);
  EXPECT_EQ(3.0 / 27.0, values.at(Feature::ZonePercentage));
  EXPECT_EQ(81.0, values.at(Feature::LargeAreaEmphasis));
  // A window of one slice has the zones of this slice.
  const auto slice = MakeLevelsFilter<DoubleFilter3D>({ { 3, 3, 3 } }, levels, 1, 1);
  slice->SetWindowSize({ { 3, 3, 1 } });
  EXPECT_EQ(1.0 / 9.0, ComputePixel(slice, 13).at(Feature::ZonePercentage));
}
