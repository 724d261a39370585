// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkGrayToneDifferenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<unsigned char, 3>;
using Filter2D = itk::GrayToneDifferenceFeatureMapImageFilter<Image2D>;
using DoubleFilter2D = itk::GrayToneDifferenceFeatureMapImageFilter<Image2D, itk::VectorImage<double, 2>>;
using DoubleFilter3D = itk::GrayToneDifferenceFeatureMapImageFilter<Image3D, itk::VectorImage<double, 3>>;
using Enums = itk::GrayToneDifferenceFeatureMapEnums;
using Values = std::vector<double>;
using namespace VoxelMapsTest;

// The values of flat windows and of single voxels, in the order of the features.
const Values flatValues{ 0.0, 1e6, 0.0, 0.0, 0.0 };

/** The features of one pixel, in their order. */
template <typename TFilter>
Values
ComputeValues(const itk::SmartPointer<TFilter> & filter, std::size_t pixel)
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

} // namespace

// Worked out with exact fractions.
TEST(GrayToneDifferenceFeatureMapImageFilter, DocumentedImage)
{
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5);
  // s = 45/8, 503/120, 76/15, 53/15, 104/15
  const Values values{
    2493.0 / 3920, 500.0 / 2493, 16892957.0 / 2047500, 4563.0 / 31250, 232.0 / 169,
  };
  ExpectNear(values, ComputeValues(filter, 12));
  // A quotient of integers below 2^53 is rounded once.
  EXPECT_EQ(values[1], ComputeValues(filter, 12)[1]);
  EXPECT_EQ(values[3], ComputeValues(filter, 12)[3]);
  // All pixels have a neighbor.
  filter->CountVoxelsWithoutNeighborsOff();
  ExpectNear(values, ComputeValues(filter, 12));
  // The opposite offsets are the same neighbors.
  auto offsets = filter->GetOffsets();
  for (auto & offset : offsets)
  {
    offset = { { -offset[0], -offset[1] } };
  }
  filter->SetOffsets(offsets);
  ExpectNear(values, ComputeValues(filter, 12));

  // The window of a corner is cut off by the image: 5 2 5, 3 3 3, 2 1 1.
  const Values corner = ComputeValues(filter, 0);
  EXPECT_NEAR(1369.0 / 3480, corner[0], 1e-15);
  EXPECT_NEAR(11387.0 / 1350, corner[2], 1e-14);
}

TEST(GrayToneDifferenceFeatureMapImageFilter, IsolatedVoxelsCountOrNot)
{
  // A pair 2 4, an isolated 6: with it N = 3 and three levels, without it N = 2 and two levels.
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 5, 1 } }, { 2, 4, 0, 0, 6 }, 6, 4);
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
               ComputeValues(filter, pixel));
    filter->CountVoxelsWithoutNeighborsOff();
    ExpectNear({ 2.0 / 2.0, 2.0 / 4, 2.0 / 2 * 2 * 4 / 2, 2.0 * 4 / 4 / 2 * 4 / 2, 2.0 * 2 * 4 / 2 / 4 },
               ComputeValues(filter, pixel));
  }
  EXPECT_EQ(Values(5, -5.0), ComputeValues(filter, 2));
  // Only isolated voxels.
  const auto isolated = MakeLevelsFilter<DoubleFilter2D>({ { 5, 1 } }, { 2, 0, 4, 0, 6 }, 6, 4);
  ExpectNear({ 0.0, 1e6, 0.0, 0.0, 0.0 }, ComputeValues(isolated, 2));
  isolated->CountVoxelsWithoutNeighborsOff();
  EXPECT_EQ(flatValues, ComputeValues(isolated, 2));
}

TEST(GrayToneDifferenceFeatureMapImageFilter, UnusedLevelsDoNotMatter)
{
  const auto expected = Compute(MakeDocumentedFilter<Filter2D>());
  for (const unsigned int levels : { 6u, 255u, 1025u, 65535u })
  {
    const auto filter = MakeDocumentedFilter<Filter2D>();
    filter->SetNumberOfGrayLevels(levels);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter))) << levels;
  }
}
