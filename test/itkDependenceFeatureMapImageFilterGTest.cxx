// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "IbsiPhantom.h"
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkDependenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using DoubleFilter2D = itk::DependenceFeatureMapImageFilter<Image2D, itk::VectorImage<double, 2>>;
using Enums = itk::DependenceFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using namespace VoxelMapsTest;

} // namespace

// Worked out with exact fractions.
TEST(DependenceFeatureMapImageFilter, DocumentedImage)
{
  const auto                              filter = MakeLevelsFilter<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5);
  const std::vector<Expectation<Feature>> expectations{
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
  ExpectValues<Feature>({ { Feature::DependenceEntropy, 2.28103611255, 1e-11 } }, ComputePixel(filter, 0));
}

// 1 2 4 4 along x.
TEST(DependenceFeatureMapImageFilter, ALineByHand)
{
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 4, 1 } }, { 1, 2, 4, 4 }, 4, 4);
  // Sizes 1 1 2 2.
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 10.0 / 4, 0 },
                          { Feature::SmallDependenceEmphasis, 2.5 / 4, 1e-16 },
                          { Feature::DependenceNonUniformity, 8.0 / 4, 0 },
                          { Feature::GrayLevelNonUniformity, 6.0 / 4, 0 },
                          { Feature::DependenceEntropy, 1.5, 1e-14 },
                          { Feature::LargeDependenceHighGrayLevelEmphasis, (1.0 + 4.0 + 2 * 64.0) / 4, 0 } },
                        ComputePixel(filter, 1));
  // Sizes 2 2 2 2.
  filter->SetAlpha(1);
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 4.0, 0 }, { Feature::DependenceVariance, 0.0, 0 } },
                        ComputePixel(filter, 1));
  // Sizes 2 3 3 2.
  filter->SetAlpha(2);
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 26.0 / 4, 0 } }, ComputePixel(filter, 1));
  // Pixels two apart: 1 and 4, 2 and 4.
  filter->SetDistances({ 2 });
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 10.0 / 4, 0 } }, ComputePixel(filter, 1));
  // Any level depends on any other.
  for (const unsigned int alpha : { 3u, 4u, 65536u, 4294967295u })
  {
    filter->SetAlpha(alpha);
    ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 4.0, 0 } }, ComputePixel(filter, 1));
  }
  // Along y there is no pair of pixels.
  filter->SetOffsets({ { { 0, 1 } } });
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 1.0, 0 },
                          { Feature::SmallDependenceEmphasis, 1.0, 0 },
                          { Feature::DependenceNonUniformity, 4.0, 0 } },
                        ComputePixel(filter, 1));
}

// A voxel of the mask depends on its neighbors in the mask alone.
TEST(DependenceFeatureMapImageFilter, AbsentPixelsAreNoNeighbors)
{
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 3, 1 } }, { 2, 2, 2 }, 2, 1);
  filter->SetMaskImage(MakeImage<Image2D>({ { 3, 1 } }, { 1, 1, 0 }));
  filter->SetAlpha(2);
  filter->SetBackgroundValue(9.0);
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 4.0, 0 } }, ComputePixel(filter, 1));
  ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, 9.0, 0 } }, ComputePixel(filter, 2));
}
