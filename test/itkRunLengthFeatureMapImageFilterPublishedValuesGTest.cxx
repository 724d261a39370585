// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "IbsiPhantom.h"
#include "RunLengthOracle.h"
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
using IbsiPhantom::phantomImage;
using IbsiPhantom::phantomMask;
using IbsiPhantom::phantomSize;
using IbsiPhantom::RoundTo3Digits;
using VoxelMapsTest::MakeImage;

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
  std::string                                direction;
  PaperFilter::OffsetType                    offset;
  std::array<std::array<unsigned int, 5>, 5> runs;
};

// Table 2
const std::vector<PaperMatrix> paperMatrices{ { "0 degrees",
                                                { { 1, 0 } },
                                                { { { { 4, 0, 0, 0, 0 } },
                                                    { { 5, 0, 0, 0, 0 } },
                                                    { { 3, 2, 0, 0, 0 } },
                                                    { { 3, 0, 0, 0, 0 } },
                                                    { { 4, 1, 0, 0, 0 } } } } },
                                              { "45 degrees",
                                                { { 1, -1 } },
                                                { { { { 1, 0, 1, 0, 0 } },
                                                    { { 5, 0, 0, 0, 0 } },
                                                    { { 3, 0, 0, 1, 0 } },
                                                    { { 1, 1, 0, 0, 0 } },
                                                    { { 2, 2, 0, 0, 0 } } } } },
                                              { "90 degrees",
                                                { { 0, -1 } },
                                                { { { { 4, 0, 0, 0, 0 } },
                                                    { { 3, 1, 0, 0, 0 } },
                                                    { { 3, 2, 0, 0, 0 } },
                                                    { { 3, 0, 0, 0, 0 } },
                                                    { { 6, 0, 0, 0, 0 } } } } },
                                              { "135 degrees",
                                                { { -1, -1 } },
                                                { { { { 4, 0, 0, 0, 0 } },
                                                    { { 5, 0, 0, 0, 0 } },
                                                    { { 3, 2, 0, 0, 0 } },
                                                    { { 3, 0, 0, 0, 0 } },
                                                    { { 6, 0, 0, 0, 0 } } } } } };

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
      const double p = matrix.runs[row][column];
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

/* IBSI digital phantom */

enum PublishedColumn
{
  AveragedOverSlicesIn2D,
  MergedPerSliceIn2D,
  AveragedIn25D,
  MergedIn25D,
  AveragedIn3D,
  MergedIn3D
};

struct PublishedRow
{
  Feature               feature;
  std::array<double, 6> values;
};

// Reference values of the IBSI manual (arXiv:1612.07003), three significant digits.
const std::vector<PublishedRow> publishedRows{
  { Feature::ShortRunEmphasis, { { 0.641, 0.661, 0.665, 0.680, 0.705, 0.729 } } },
  { Feature::LongRunEmphasis, { { 3.78, 3.51, 3.46, 3.27, 3.06, 2.76 } } },
  { Feature::LowGrayLevelRunEmphasis, { { 0.604, 0.609, 0.580, 0.585, 0.603, 0.607 } } },
  { Feature::HighGrayLevelRunEmphasis, { { 9.82, 9.74, 10.3, 10.2, 9.70, 9.64 } } },
  { Feature::ShortRunLowGrayLevelEmphasis, { { 0.294, 0.311, 0.296, 0.312, 0.352, 0.372 } } },
  { Feature::ShortRunHighGrayLevelEmphasis, { { 8.57, 8.67, 9.03, 9.05, 8.54, 8.67 } } },
  { Feature::LongRunLowGrayLevelEmphasis, { { 3.14, 2.92, 2.79, 2.63, 2.39, 2.16 } } },
  { Feature::LongRunHighGrayLevelEmphasis, { { 17.4, 16.1, 17.9, 17.0, 17.6, 15.6 } } },
  { Feature::GrayLevelNonUniformity, { { 5.20, 20.5, 19.5, 77.1, 21.8, 281 } } },
  { Feature::GrayLevelNonUniformityNormalized, { { 0.460, 0.456, 0.413, 0.412, 0.430, 0.430 } } },
  { Feature::RunLengthNonUniformity, { { 6.12, 21.6, 22.3, 83.2, 26.9, 328 } } },
  { Feature::RunLengthNonUniformityNormalized, { { 0.492, 0.441, 0.461, 0.445, 0.513, 0.501 } } },
  { Feature::RunPercentage, { { 0.627, 0.627, 0.632, 0.632, 0.680, 0.680 } } },
  { Feature::GrayLevelVariance, { { 3.35, 3.37, 3.58, 3.59, 3.46, 3.48 } } },
  { Feature::RunVariance, { { 0.761, 0.778, 0.758, 0.767, 0.574, 0.598 } } },
  { Feature::RunEntropy, { { 2.17, 2.57, 2.52, 2.76, 2.43, 2.62 } } }
};

std::vector<Feature>
PublishedFeatures()
{
  std::vector<Feature> features;
  for (const PublishedRow & row : publishedRows)
  {
    features.push_back(row.feature);
  }
  return features;
}

void
ExpectPublishedValues(PublishedColumn column, const std::vector<double> & values)
{
  ASSERT_EQ(publishedRows.size(), values.size());
  for (std::size_t row = 0; row < publishedRows.size(); ++row)
  {
    EXPECT_EQ(publishedRows[row].values[column], RoundTo3Digits(values[row]))
      << publishedRows[row].feature << " is " << values[row];
  }
}

/** Use the intensities as they are: they are gray levels already, from 1 to 6. */
template <typename TFilter>
void
UsePhantomLevels(TFilter * filter)
{
  filter->SetDiscretizationMethod(TFilter::MethodEnum::FixedBinSize);
  filter->SetBinWidth(1.0);
  filter->SetRangeSource(TFilter::RangeSourceEnum::Given);
  filter->SetRangeMinimum(1.0);
  filter->SetRangeMaximum(6.0);
  filter->SetNeighborhoodRadius(4);
  filter->SetFeatures(PublishedFeatures());
}

/** The components at every voxel of the mask, which must all be the same; the background must be 0. */
template <typename TFilter>
std::vector<double>
GetTheOnlyValues(const TFilter * filter)
{
  const auto *        output = filter->GetOutput();
  const auto *        mask = filter->GetMaskImage();
  const auto *        pixel = output->GetBufferPointer();
  const std::size_t   components = output->GetNumberOfComponentsPerPixel();
  std::vector<double> values;
  for (std::size_t i = 0; i < output->GetBufferedRegion().GetNumberOfPixels(); ++i, pixel += components)
  {
    const std::vector<double> here(pixel, pixel + components);
    if (mask->GetBufferPointer()[i] == 0)
    {
      EXPECT_EQ(std::vector<double>(components, 0.0), here);
      continue;
    }
    if (values.empty())
    {
      values = here;
    }
    EXPECT_EQ(values, here) << "at voxel " << i;
  }
  return values;
}

using PhantomFilter3D = itk::RunLengthFeatureMapImageFilter<itk::Image<short, 3>, itk::VectorImage<double, 3>>;
using PhantomFilter2D = itk::RunLengthFeatureMapImageFilter<itk::Image<short, 2>, itk::VectorImage<double, 2>>;

std::vector<double>
ComputePhantomIn3D(const PhantomFilter3D::OffsetsType & offsets, Aggregation aggregation)
{
  const PhantomFilter3D::SizeType size{ { phantomSize[0], phantomSize[1], phantomSize[2] } };
  const auto                      filter = VoxelMapsTest::NewFilter<PhantomFilter3D>();
  filter->SetInput(MakeImage<itk::Image<short, 3>>(size, phantomImage));
  filter->SetMaskImage(MakeImage<itk::Image<unsigned char, 3>>(size, phantomMask));
  UsePhantomLevels(filter.GetPointer());
  filter->SetOffsets(offsets);
  filter->SetAggregation(aggregation);
  filter->Update();
  EXPECT_EQ(6u, filter->GetUsedNumberOfGrayLevels());
  return GetTheOnlyValues(filter.GetPointer());
}

/** Mean over the slices. */
std::vector<double>
ComputePhantomIn2D(Aggregation aggregation)
{
  const PhantomFilter2D::SizeType size{ { phantomSize[0], phantomSize[1] } };
  const std::size_t               slicePixels = size[0] * size[1];
  std::vector<double>             means(publishedRows.size(), 0.0);
  for (std::size_t slice = 0; slice < phantomSize[2]; ++slice)
  {
    const auto first = static_cast<std::ptrdiff_t>(slice * slicePixels);
    const auto last = static_cast<std::ptrdiff_t>((slice + 1) * slicePixels);
    const auto filter = VoxelMapsTest::NewFilter<PhantomFilter2D>();
    filter->SetInput(MakeImage<itk::Image<short, 2>>(
      size, std::vector<short>(phantomImage.begin() + first, phantomImage.begin() + last)));
    filter->SetMaskImage(MakeImage<itk::Image<unsigned char, 2>>(
      size, std::vector<unsigned char>(phantomMask.begin() + first, phantomMask.begin() + last)));
    UsePhantomLevels(filter.GetPointer());
    filter->SetAggregation(aggregation);
    filter->Update();
    const std::vector<double> values = GetTheOnlyValues(filter.GetPointer());
    EXPECT_EQ(means.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      means[i] += values[i] / phantomSize[2];
    }
  }
  return means;
}
} // namespace

TEST(RunLengthPublishedValues, PaperMatricesCountEveryPixel)
{
  for (const PaperMatrix & matrix : paperMatrices)
  {
    unsigned int pixels = 0;
    for (const auto & row : matrix.runs)
    {
      for (unsigned int length = 1; length <= 5; ++length)
      {
        pixels += length * row[length - 1];
      }
    }
    EXPECT_EQ(25u, pixels) << matrix.direction;
  }
}

TEST(RunLengthPublishedValues, PaperMatricesAreThoseOfTheOracle)
{
  RunLengthOracle::Levels levels;
  levels.size = { { 5, 5, 1 } };
  for (const unsigned char value : paperImage)
  {
    levels.values.push_back(static_cast<std::uint16_t>(value + 1));
  }
  for (const PaperMatrix & matrix : paperMatrices)
  {
    RunLengthOracle::Matrix expected;
    for (std::size_t row = 0; row < 5; ++row)
    {
      for (unsigned int length = 1; length <= 5; ++length)
      {
        if (matrix.runs[row][length - 1] > 0)
        {
          expected[{ paperLevels[row] + 1, length }] = matrix.runs[row][length - 1];
        }
      }
    }
    RunLengthOracle::Matrix actual;
    RunLengthOracle::AddRuns(levels,
                             { { { 9, 9, 1 } }, { { 4, 4, 0 } } },
                             { { 2, 2, 0 } },
                             { { matrix.offset[0], matrix.offset[1], 0 } },
                             actual);
    EXPECT_EQ(expected, actual) << matrix.direction;
  }
}

TEST(RunLengthPublishedValues, PaperFeaturesAtEveryPixel)
{
  const auto filter = VoxelMapsTest::NewFilter<PaperFilter>();
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
TEST(RunLengthPublishedValues, PaperWindowByHand)
{
  const auto filter = VoxelMapsTest::NewFilter<PaperFilter>();
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

TEST(RunLengthPublishedValues, PhantomIn3D)
{
  ExpectPublishedValues(AveragedIn3D, ComputePhantomIn3D(PhantomFilter3D::GetAllOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn3D, ComputePhantomIn3D(PhantomFilter3D::GetAllOffsets(), Aggregation::Merge));
}

TEST(RunLengthPublishedValues, PhantomIn25D)
{
  ExpectPublishedValues(AveragedIn25D, ComputePhantomIn3D(PhantomFilter3D::GetInPlaneOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn25D, ComputePhantomIn3D(PhantomFilter3D::GetInPlaneOffsets(), Aggregation::Merge));
}

TEST(RunLengthPublishedValues, PhantomIn2D)
{
  ExpectPublishedValues(AveragedOverSlicesIn2D, ComputePhantomIn2D(Aggregation::Average));
  ExpectPublishedValues(MergedPerSliceIn2D, ComputePhantomIn2D(Aggregation::Merge));
}

// The oracle must know the published values too.
TEST(RunLengthPublishedValues, PhantomOfTheOracle)
{
  RunLengthOracle::Levels levels;
  levels.size = { { phantomSize[0], phantomSize[1], phantomSize[2] } };
  for (std::size_t i = 0; i < phantomImage.size(); ++i)
  {
    levels.values.push_back(static_cast<std::uint16_t>(phantomMask[i] != 0 ? phantomImage[i] : 0));
  }
  const RunLengthOracle::Window window{ { { 9, 9, 9 } }, { { 4, 4, 4 } } };
  const auto                    compute = [&](const PhantomFilter3D::OffsetsType & offsets, Aggregation aggregation) {
    std::vector<RunLengthOracle::Triple> directions;
    for (const auto & offset : offsets)
    {
      directions.push_back({ { offset[0], offset[1], offset[2] } });
    }
    std::vector<double> values;
    for (const auto & value : RunLengthOracle::ComputeFeatures(
           levels, window, { { 2, 2, 0 } }, directions, PublishedFeatures(), aggregation))
    {
      values.push_back(static_cast<double>(value.reference));
      EXPECT_EQ(static_cast<float>(value.reference), static_cast<float>(value.exact));
    }
    return values;
  };
  ExpectPublishedValues(AveragedIn3D, compute(PhantomFilter3D::GetAllOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn3D, compute(PhantomFilter3D::GetAllOffsets(), Aggregation::Merge));
  ExpectPublishedValues(AveragedIn25D, compute(PhantomFilter3D::GetInPlaneOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn25D, compute(PhantomFilter3D::GetInPlaneOffsets(), Aggregation::Merge));
}
