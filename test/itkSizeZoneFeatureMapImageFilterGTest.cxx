// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "IbsiPhantom.h"
#include "SizeZoneRandomCase.h"
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkSizeZoneFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
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
using VoxelMapsTest::Compute;
using VoxelMapsTest::ComputePixel;
using VoxelMapsTest::documentedImage;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::MakeLevelsFilter;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::SizeZoneRandomCase;

enum PublishedColumn
{
  SlicesIn2D,
  SlicesMerged,
  In3D
};

struct PublishedRow
{
  Feature               feature;
  std::array<double, 3> values;
};

// Reference values of the IBSI manual (arXiv:1612.07003), three significant digits.
const std::vector<PublishedRow> publishedRows{
  { Feature::SmallAreaEmphasis, { { 0.363, 0.368, 0.255 } } },
  { Feature::LargeAreaEmphasis, { { 43.9, 34.2, 550.0 } } },
  { Feature::LowGrayLevelZoneEmphasis, { { 0.371, 0.368, 0.253 } } },
  { Feature::HighGrayLevelZoneEmphasis, { { 16.4, 16.2, 15.6 } } },
  { Feature::SmallAreaLowGrayLevelEmphasis, { { 0.0259, 0.0295, 0.0256 } } },
  { Feature::SmallAreaHighGrayLevelEmphasis, { { 10.3, 9.87, 2.76 } } },
  { Feature::LargeAreaLowGrayLevelEmphasis, { { 40.4, 30.6, 503.0 } } },
  { Feature::LargeAreaHighGrayLevelEmphasis, { { 113.0, 107.0, 1490.0 } } },
  { Feature::GrayLevelNonUniformity, { { 1.41, 5.44, 1.4 } } },
  { Feature::GrayLevelNonUniformityNormalized, { { 0.323, 0.302, 0.28 } } },
  { Feature::SizeZoneNonUniformity, { { 1.49, 3.44, 1.0 } } },
  { Feature::SizeZoneNonUniformityNormalized, { { 0.333, 0.191, 0.2 } } },
  { Feature::ZonePercentage, { { 0.24, 0.243, 0.0676 } } },
  { Feature::GrayLevelVariance, { { 3.97, 3.92, 2.64 } } },
  { Feature::ZoneVariance, { { 21.0, 17.3, 331.0 } } },
  { Feature::ZoneEntropy, { { 1.93, 3.08, 2.32 } } },
};

void
ExpectPublishedValues(PublishedColumn column, const std::map<Feature, double> & values)
{
  for (const PublishedRow & row : publishedRows)
  {
    EXPECT_EQ(row.values[column], IbsiPhantom::RoundTo3Digits(values.at(row.feature)))
      << row.feature << " is " << values.at(row.feature);
  }
}

/** Compute the part of the phantom from this voxel on. Its intensities are gray levels, from 1 to 9; every window holds
 * all of it, so that all voxels of the mask have the same features. */
template <typename TFilter>
std::map<Feature, double>
ComputePhantom(const typename TFilter::SizeType & size, std::size_t first, Connectivity connectivity)
{
  std::size_t number = 1;
  for (unsigned int axis = 0; axis < TFilter::ImageDimension; ++axis)
  {
    number *= size[axis];
  }
  const auto                       begin = static_cast<std::ptrdiff_t>(first);
  const auto                       end = static_cast<std::ptrdiff_t>(first + number);
  const std::vector<unsigned char> mask(IbsiPhantom::phantomMask.begin() + begin,
                                        IbsiPhantom::phantomMask.begin() + end);
  const std::vector<unsigned char> levels(IbsiPhantom::phantomImage.begin() + begin,
                                          IbsiPhantom::phantomImage.begin() + end);
  const auto                       filter = MakeLevelsFilter<TFilter>(size, levels, 9, 4);
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, mask));
  filter->SetConnectivity(connectivity);
  filter->SetFeatures(Enums::GetAllFeatures());
  filter->Update();

  const std::size_t         components = Enums::NumberOfFeatures;
  const auto                output = GetBuffer(filter->GetOutput());
  std::vector<double>       values;
  std::map<Feature, double> features;
  for (std::size_t i = 0; i < number; ++i)
  {
    const std::vector<double> here(output.begin() + static_cast<std::ptrdiff_t>(i * components),
                                   output.begin() + static_cast<std::ptrdiff_t>((i + 1) * components));
    if (mask[i] == 0)
    {
      EXPECT_EQ(std::vector<double>(components, 0.0), here);
      continue;
    }
    values = values.empty() ? here : values;
    EXPECT_EQ(values, here) << "at voxel " << i;
  }
  for (const Feature feature : Enums::GetAllFeatures())
  {
    features[feature] = values[static_cast<std::size_t>(feature)];
  }
  return features;
}
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

// The window of 5 x 5 at the corner holds the first 3 x 3 pixels, whose zones are (1, 2), two (2, 1), (3, 3), two (5,
// 1).
TEST(SizeZoneFeatureMapImageFilter, DocumentedImageAtTheCorner)
{
  const auto values = ComputePixel(MakeLevelsFilter<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5), 0);
  EXPECT_NEAR(157.0 / 216.0, values.at(Feature::SmallAreaEmphasis), 1e-15);
  EXPECT_EQ(6.0 / 9.0, values.at(Feature::ZonePercentage));
  EXPECT_EQ(17.0 / 6.0, values.at(Feature::LargeAreaEmphasis));
}

TEST(SizeZoneFeatureMapImageFilter, OneVoxel)
{
  const auto values = ComputePixel(MakeLevelsFilter<DoubleFilter2D>({ { 1, 1 } }, { 3 }, 5), 0);
  for (const Feature feature : { Feature::GrayLevelNonUniformity,
                                 Feature::GrayLevelNonUniformityNormalized,
                                 Feature::SizeZoneNonUniformity,
                                 Feature::SizeZoneNonUniformityNormalized,
                                 Feature::SmallAreaEmphasis,
                                 Feature::LargeAreaEmphasis,
                                 Feature::ZonePercentage })
  {
    EXPECT_EQ(1.0, values.at(feature)) << feature;
  }
  for (const Feature feature : { Feature::GrayLevelVariance, Feature::ZoneVariance, Feature::ZoneEntropy })
  {
    EXPECT_EQ(0.0, values.at(feature)) << feature;
  }
  EXPECT_EQ(9.0, values.at(Feature::HighGrayLevelZoneEmphasis));
  EXPECT_NEAR(1.0 / 9.0, values.at(Feature::LowGrayLevelZoneEmphasis), 1e-16);
}

TEST(SizeZoneFeatureMapImageFilter, AFlatWindowIsOneZone)
{
  const auto values =
    ComputePixel(MakeLevelsFilter<DoubleFilter3D>({ { 5, 5, 5 } }, std::vector<unsigned char>(125, 1), 1), 62);
  EXPECT_EQ(1.0 / 125.0, values.at(Feature::ZonePercentage));
  EXPECT_EQ(15625.0, values.at(Feature::LargeAreaEmphasis));
  EXPECT_EQ(0.0, values.at(Feature::ZoneEntropy));
  EXPECT_EQ(0.0, values.at(Feature::ZoneVariance));
  EXPECT_EQ(0.0, values.at(Feature::GrayLevelVariance));
  EXPECT_NEAR(1.0 / 15625.0, values.at(Feature::SmallAreaLowGrayLevelEmphasis), 1e-18);
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

TEST(SizeZonePublishedValues, AllFeaturesArePublished)
{
  EXPECT_EQ(std::size_t{ Enums::NumberOfFeatures }, publishedRows.size());
}

TEST(SizeZonePublishedValues, Phantom)
{
  const auto & size = IbsiPhantom::phantomSize;
  ExpectPublishedValues(In3D, ComputePhantom<DoubleFilter3D>({ { size[0], size[1], size[2] } }, 0, Connectivity::Full));
  ExpectPublishedValues(SlicesMerged,
                        ComputePhantom<DoubleFilter3D>({ { size[0], size[1], size[2] } }, 0, Connectivity::InPlane));
  std::map<Feature, double> means;
  for (std::size_t slice = 0; slice < size[2]; ++slice)
  {
    for (const auto & value :
         ComputePhantom<DoubleFilter2D>({ { size[0], size[1] } }, slice * size[0] * size[1], Connectivity::Full))
    {
      means[value.first] += value.second / size[2];
    }
  }
  ExpectPublishedValues(SlicesIn2D, means);
}

// The oracle must know the published values too.
TEST(SizeZonePublishedValues, PhantomOfTheOracle)
{
  SizeZoneOracle::Levels levels;
  levels.size = { { IbsiPhantom::phantomSize[0], IbsiPhantom::phantomSize[1], IbsiPhantom::phantomSize[2] } };
  for (std::size_t i = 0; i < IbsiPhantom::phantomImage.size(); ++i)
  {
    levels.values.push_back(
      static_cast<std::uint16_t>(IbsiPhantom::phantomMask[i] != 0 ? IbsiPhantom::phantomImage[i] : 0));
  }
  const SizeZoneOracle::Window window{ { { 9, 9, 9 } }, { { 4, 4, 4 } } };
  for (const Connectivity connectivity : { Connectivity::Full, Connectivity::InPlane })
  {
    const auto                matrix = SizeZoneOracle::CountZones(levels, window, { { 2, 2, 0 } }, connectivity);
    std::map<Feature, double> values;
    for (const Feature feature : Enums::GetAllFeatures())
    {
      values[feature] = static_cast<double>(SizeZoneOracle::ComputeFeature(matrix, feature).reference);
    }
    ExpectPublishedValues(connectivity == Connectivity::Full ? In3D : SlicesMerged, values);
  }
}
