// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkRunLengthFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace
{
using Enums = itk::RunLengthFeatureMapEnums;
using Feature = Enums::Feature;
using Aggregation = Enums::Aggregation;
using namespace VoxelMapsTest;

/* Zhang et al. (2019) */

using PaperFilter = itk::RunLengthFeatureMapImageFilter<itk::Image<unsigned char, 2>>;

// Table 1
const std::vector<unsigned char> paperImage{ 0,   255, 113, 113, 42, //
                                             255, 42,  113, 113, 0,  //
                                             128, 113, 255, 0,   42, //
                                             113, 255, 0,   128, 42, //
                                             42,  113, 128, 255, 255 };

// Rows of Table 2; columns are the lengths 1 to 5.
const std::array<unsigned int, 5> paperLevels{ 0, 42, 113, 128, 255 };

struct PaperMatrix
{
  std::string                  direction;
  PaperFilter::OffsetType      offset;
  std::array<unsigned int, 25> runs;
};

// Table 2, row by row.
const std::vector<PaperMatrix> paperMatrices{
  { "0 degrees", { { 1, 0 } }, { { 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 3, 2, 0, 0, 0, 3, 0, 0, 0, 0, 4, 1, 0, 0, 0 } } },
  { "45 degrees", { { 1, -1 } }, { { 1, 0, 1, 0, 0, 5, 0, 0, 0, 0, 3, 0, 0, 1, 0, 1, 1, 0, 0, 0, 2, 2, 0, 0, 0 } } },
  { "90 degrees", { { 0, -1 } }, { { 4, 0, 0, 0, 0, 3, 1, 0, 0, 0, 3, 2, 0, 0, 0, 3, 0, 0, 0, 0, 6, 0, 0, 0, 0 } } },
  { "135 degrees", { { -1, -1 } }, { { 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 3, 2, 0, 0, 0, 3, 0, 0, 0, 0, 6, 0, 0, 0, 0 } } },
};

/** The eleven features as equations (2) to (12), in the order of the enumeration; i = value + 1. */
std::array<double, 11>
WorkOutFeatures(const PaperMatrix & matrix)
{
  double                runs = 0;
  double                pixels = 0;
  double                lre = 0;
  double                shortRuns = 0; // times 3600, the square of lcm(1 ... 5)
  double                gln = 0;
  double                lgre = 0;
  double                hgre = 0;
  double                srlge = 0;
  double                srhge = 0; // times 3600
  double                lrlge = 0;
  double                lrhge = 0;
  std::array<double, 5> lengthRuns{ {} };
  for (std::size_t row = 0; row < 5; ++row)
  {
    const double i = paperLevels[row] + 1.0;
    double       levelRuns = 0;
    for (std::size_t column = 0; column < 5; ++column)
    {
      const double j = static_cast<double>(column) + 1.0;
      const double p = matrix.runs[row * 5 + column];
      runs += p;
      pixels += p * j;
      lre += p * j * j;
      shortRuns += p * 3600.0 / (j * j);
      lgre += p / (i * i);
      hgre += p * i * i;
      srlge += p / (i * i * j * j);
      srhge += p * i * i * 3600.0 / (j * j);
      lrlge += p * j * j / (i * i);
      lrhge += p * i * i * j * j;
      levelRuns += p;
      lengthRuns[column] += p;
    }
    gln += levelRuns * levelRuns;
  }
  double rln = 0;
  for (const double count : lengthRuns)
  {
    rln += count * count;
  }
  return { { shortRuns / (3600.0 * runs),
             lre / runs,
             gln / runs,
             rln / runs,
             runs / pixels,
             lgre / runs,
             hgre / runs,
             srlge / runs,
             srhge / (3600.0 * runs),
             lrlge / runs,
             lrhge / runs } };
}

bool
IsExact(Feature feature)
{
  return feature != Feature::LowGrayLevelRunEmphasis && feature != Feature::ShortRunLowGrayLevelEmphasis &&
         feature != Feature::LongRunLowGrayLevelEmphasis && feature != Feature::RunEntropy;
}

void
ExpectFeature(Feature feature, double expected, float actual)
{
  const auto rounded = static_cast<float>(expected);
  if (IsExact(feature))
  {
    EXPECT_EQ(rounded, actual) << feature;
  }
  else
  {
    const float spacing = std::nextafter(rounded, 2.0f * rounded) - rounded;
    EXPECT_NEAR(expected, actual, 2.0 * spacing) << feature;
  }
}
} // namespace

TEST(RunLengthFeatureMapImageFilter, PaperFeaturesAtEveryPixel)
{
  const auto filter = NewFilter<PaperFilter>();
  filter->SetInput(MakeImage<itk::Image<unsigned char, 2>>({ { 5, 5 } }, paperImage));
  filter->SetDiscretizationMethod(PaperFilter::MethodEnum::Identity);
  filter->SetNumberOfGrayLevels(256);
  filter->SetNeighborhoodRadius(4);
  PaperFilter::OffsetsType offsets;
  for (const PaperMatrix & matrix : paperMatrices)
  {
    offsets.push_back(matrix.offset);
  }
  filter->SetOffsets(offsets);
  filter->SetAggregation(Aggregation::PerDirection);
  filter->Update();

  const auto * output = filter->GetOutput();
  ASSERT_EQ(44u, output->GetNumberOfComponentsPerPixel());
  const auto features = Enums::GetElevenFeatures();
  for (std::size_t pixel = 0; pixel < 25; ++pixel)
  {
    for (std::size_t direction = 0; direction < 4; ++direction)
    {
      const auto expected = WorkOutFeatures(paperMatrices[direction]);
      for (std::size_t f = 0; f < 11; ++f)
      {
        SCOPED_TRACE(::testing::Message() << "pixel " << pixel << ", " << paperMatrices[direction].direction);
        ExpectFeature(features[f], expected[f], output->GetBufferPointer()[pixel * 44 + direction * 11 + f]);
      }
    }
  }
}

// 4 x 4 windows whose anchor is their top-left pixel, as in the paper, against matrices counted by hand.
TEST(RunLengthFeatureMapImageFilter, PaperWindowByHand)
{
  const auto filter = NewFilter<PaperFilter>();
  filter->SetInput(MakeImage<itk::Image<unsigned char, 2>>({ { 5, 5 } }, paperImage));
  filter->SetDiscretizationMethod(PaperFilter::MethodEnum::Identity);
  filter->SetNumberOfGrayLevels(256);
  filter->SetWindowSize(4);
  filter->SetWindowAnchor({ { 0, 0 } });
  filter->SetOffsets({ { { 1, 0 } } });
  filter->SetFeatures({ Feature::RunPercentage, Feature::LongRunEmphasis, Feature::RunLengthNonUniformity });
  filter->Update();
  const float * const output = filter->GetOutput()->GetBufferPointer();
  // At (0,0), rows 0..3 and columns 0..3: only the two pairs of 113 are longer than 1, so 12 + 2 runs.
  EXPECT_EQ(14.0f / 16.0f, output[0]);
  EXPECT_EQ(20.0f / 14.0f, output[1]);
  EXPECT_EQ((12.0f * 12.0f + 2.0f * 2.0f) / 14.0f, output[2]);
  // At (3,3) the window is clipped to 128 42 / 255 255: 3 runs in 4 pixels.
  const float * const clipped = output + 3 * (3 * 5 + 3);
  EXPECT_EQ(3.0f / 4.0f, clipped[0]);
  EXPECT_EQ(6.0f / 3.0f, clipped[1]);
  EXPECT_EQ(5.0f / 3.0f, clipped[2]);
  // At (4,4) it is one pixel.
  const float * const corner = output + 3 * 24;
  EXPECT_EQ(1.0f, corner[0]);
  EXPECT_EQ(1.0f, corner[1]);
  EXPECT_EQ(1.0f, corner[2]);
}

TEST(RunLengthFeatureMapImageFilter, WindowsComeFromRadiusOrSizeAndAnchor)
{
  using SizeType = PaperFilter::SizeType;
  using OffsetType = PaperFilter::OffsetType;
  const auto filter = NewFilter<PaperFilter>();

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
