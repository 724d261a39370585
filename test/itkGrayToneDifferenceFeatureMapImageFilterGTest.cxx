// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceRandomCase.h"
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkGrayToneDifferenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
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
using VoxelMapsTest::Compute;
using VoxelMapsTest::documentedImage;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeDocumentedFilter;
using VoxelMapsTest::MakeLevelsFilter;

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

TEST(GrayToneDifferenceFeatureMapImageFilter, ALine)
{
  // 1 3 2 with neighbors along x: |1 - 3| = 2, |3 - 3/2| = 3/2, |2 - 3| = 1.
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 3, 1 } }, { 1, 3, 2 }, 4);
  // Pairs of levels: (1, 2): 1 (2 + 1) / 2, (1, 3): 2 (2 + 3/2) / 2, (2, 3): 1 (1 + 3/2) / 2.
  const Values values{ (4.5 / 3) / (2.0 * (1 + 2 + 1) / 3),
                       3 / 4.5,
                       2.0 / 3 * (1.5 + 3.5 + 1.25),
                       2.0 * (1 + 4 + 1) / 9 / 6 * 4.5 / 3,
                       2.0 * 2 * (1 + 4 + 1) / 3 / 4.5 };
  for (const std::size_t pixel : { 0u, 1u, 2u })
  {
    ExpectNear(values, ComputeValues(filter, pixel));
  }
}

TEST(GrayToneDifferenceFeatureMapImageFilter, FlatWindowsAndSingleVoxels)
{
  for (const unsigned int levels : { 1u, 7u, 255u })
  {
    const auto level = static_cast<unsigned char>(levels);
    const auto flat = MakeLevelsFilter<DoubleFilter3D>({ { 4, 4, 3 } }, std::vector<unsigned char>(48, level), levels);
    for (const std::size_t pixel : { 0u, 21u, 47u })
    {
      EXPECT_EQ(flatValues, ComputeValues(flat, pixel));
    }
    // A window of one voxel has no neighbors, whether they count or not.
    flat->SetNeighborhoodRadius(0);
    EXPECT_EQ(flatValues, ComputeValues(flat, 5));
    flat->CountVoxelsWithoutNeighborsOff();
    EXPECT_EQ(flatValues, ComputeValues(flat, 5));

    const auto voxel = MakeLevelsFilter<DoubleFilter3D>({ { 1, 1, 1 } }, { level }, levels);
    EXPECT_EQ(flatValues, ComputeValues(voxel, 0));
    voxel->CountVoxelsWithoutNeighborsOff();
    EXPECT_EQ(flatValues, ComputeValues(voxel, 0));
  }
}

TEST(GrayToneDifferenceFeatureMapImageFilter, BusynessIsZeroWhereLevelsBalance)
{
  // i n(i) = j n(j): two voxels of level 1 and one of 2, or six of 5 and five of 6.
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 3, 1 } }, { 1, 2, 1 }, 2);
  Values     values = ComputeValues(filter, 1);
  EXPECT_EQ(0.0, values[0]);
  // s(1) = 2, s(2) = 1
  EXPECT_EQ(3.0 / 5, values[1]);
  const auto larger = MakeLevelsFilter<DoubleFilter2D>({ { 11, 1 } }, { 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5 }, 9, 10);
  EXPECT_EQ(0.0, ComputeValues(larger, 4)[0]);
  // One voxel more.
  const auto other = MakeLevelsFilter<DoubleFilter2D>({ { 12, 1 } }, { 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6 }, 9, 11);
  EXPECT_LT(0.0, ComputeValues(other, 4)[0]);
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
