// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkRunLengthFeatureMapImageFilter.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Filter2D = itk::RunLengthFeatureMapImageFilter<Image2D>;
using Enums = itk::RunLengthFeatureMapEnums;
using Feature = Enums::Feature;
using Aggregation = Enums::Aggregation;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::MakeImage;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

Image2D::Pointer
MakeMask(itk::SizeValueType width, itk::SizeValueType height, unsigned char value = 1)
{
  return MakeImage<Image2D>({ { width, height } }, std::vector<unsigned char>(width * height, value));
}

} // namespace

TEST(RunLengthFeatureMapImageFilter, WindowsComeFromRadiusOrSizeAndAnchor)
{
  using SizeType = Filter2D::SizeType;
  using OffsetType = Filter2D::OffsetType;
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();

  filter->SetNeighborhoodRadius({ { 0, 3 } });
  EXPECT_EQ((SizeType{ { 0, 3 } }), filter->GetNeighborhoodRadius());
  EXPECT_EQ((SizeType{ { 1, 7 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 0, 3 } }), filter->GetWindowAnchor());

  filter->SetNeighborhoodRadius(4);
  EXPECT_EQ((SizeType{ { 9, 9 } }), filter->GetWindowSize());

  filter->SetWindowSize({ { 4, 5 } });
  EXPECT_EQ((SizeType{ { 4, 5 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 2, 2 } }), filter->GetWindowAnchor());

  filter->SetWindowAnchor({ { 0, 4 } });
  EXPECT_EQ((OffsetType{ { 0, 4 } }), filter->GetWindowAnchor());
  filter->SetWindowSize(6);
  EXPECT_EQ((SizeType{ { 6, 6 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 0, 4 } }), filter->GetWindowAnchor());

  // The same radius as before undoes size and anchor, too.
  const auto before = filter->GetMTime();
  filter->SetNeighborhoodRadius(4);
  EXPECT_GT(filter->GetMTime(), before);
  EXPECT_EQ((SizeType{ { 9, 9 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 4, 4 } }), filter->GetWindowAnchor());
}

// A constant window is one run per line; worked by hand for 3 x 3 windows of level 1.
TEST(RunLengthFeatureMapImageFilter, ConstantImageByHand)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(MakeMask(5, 5, 17));
  filter->SetNeighborhoodRadius(1);
  filter->SetOffsets({ { { 1, 0 } }, { { 1, 1 } } });
  filter->SetFeatures(Enums::GetAllFeatures());
  filter->SetAggregation(Aggregation::PerDirection);
  filter->Update();
  const auto          output = GetBuffer(filter->GetOutput());
  const float * const middle = output.data() + 12 * 32;
  // Along x: 3 runs of length 3. SRE, LRE, GLN, RLN, RP, LGRE, HGRE, SRLGE, SRHGE, LRLGE, LRHGE, GLNN, RLNN, GLV, RV,
  // RE
  const std::vector<float> alongX{ 1.0f / 9.0f, 9, 3, 3, 1.0f / 3.0f, 1, 1, 1.0f / 9.0f,
                                   1.0f / 9.0f, 9, 9, 1, 1,           0, 0, 0 };
  EXPECT_EQ(alongX, std::vector<float>(middle, middle + 16));
  // Diagonal: runs of length 1, 2, 3, 2, 1; N = 5, sum of squares 19, RLN (4 + 4 + 1) / 5, variance 19/5 - (9/5)^2.
  const float shortRuns = static_cast<float>((2.0 * 36 + 2.0 * 9 + 4.0) / (36.0 * 5.0));
  EXPECT_FLOAT_EQ(shortRuns, middle[16]);
  EXPECT_EQ(19.0f / 5.0f, middle[17]);
  EXPECT_EQ(5.0f, middle[18]);
  EXPECT_EQ(9.0f / 5.0f, middle[19]);
  EXPECT_EQ(5.0f / 9.0f, middle[20]);
  EXPECT_EQ(static_cast<float>((5.0 * 19.0 - 81.0) / 25.0), middle[30]);
  // Entropy of shares 2/5, 2/5, 1/5
  EXPECT_FLOAT_EQ(1.5219281f, middle[31]);
}

TEST(RunLengthFeatureMapImageFilter, NaNPixelsAreAbsent)
{
  using FloatImage = itk::Image<float, 2>;
  using FloatFilter = itk::RunLengthFeatureMapImageFilter<FloatImage>;
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

  const auto filter = VoxelMapsTest::NewFilter<FloatFilter>();
  filter->SetInput(MakeImage<FloatImage>({ { 5, 1 } }, { 1.0f, 1.0f, nan, 1.0f, 2.0f }));
  filter->SetOffsets({ { { 1, 0 } } });
  filter->SetFeatures({ Feature::LongRunEmphasis, Feature::RunPercentage });
  filter->SetBackgroundValue(quietNaN);
  filter->Update();
  const auto output = GetBuffer(filter->GetOutput());
  // The windows of 5 pixels hold 1 1 -, 1 1 - 1, (nothing), 1 - 1 2 and - 1 2: the NaN cuts runs and is not counted.
  EXPECT_EQ((std::vector<float>{ 4.0f, 1.0f / 2.0f, 5.0f / 2.0f, 2.0f / 3.0f }),
            std::vector<float>(output.begin(), output.begin() + 4));
  EXPECT_TRUE(std::isnan(output[4]));
  EXPECT_TRUE(std::isnan(output[5]));
  EXPECT_EQ((std::vector<float>{ 1.0f, 1.0f, 1.0f, 1.0f }), std::vector<float>(output.begin() + 6, output.end()));

  // A mask of NaN only has no range, and needs none.
  filter->SetMaskImage(MakeImage<Image2D>({ { 5, 1 } }, { 0, 0, 1, 0, 0 }));
  filter->Update();
  for (const float value : GetBuffer(filter->GetOutput()))
  {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(RunLengthFeatureMapImageFilter, MaskHolesInterruptRuns)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(MakeMask(5, 1, 40));
  filter->SetMaskImage(MakeImage<Image2D>({ { 5, 1 } }, { 7, 7, 1, 7, 0 }));
  filter->SetInsidePixelValue(7);
  filter->SetOffsets({ { { 1, 0 } } });
  filter->SetFeatures({ Feature::LongRunEmphasis });
  filter->SetBackgroundValue(-1.0);
  filter->Update();
  EXPECT_EQ((std::vector<float>{ 4.0f, 2.5f, -1.0f, 1.0f, -1.0f }), GetBuffer(filter->GetOutput()));
}
