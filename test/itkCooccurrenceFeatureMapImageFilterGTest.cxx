// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Filter2D = itk::CooccurrenceFeatureMapImageFilter<Image2D>;
using DoubleFilter2D = itk::CooccurrenceFeatureMapImageFilter<Image2D, itk::VectorImage<double, 2>>;
using Enums = itk::CooccurrenceFeatureMapEnums;
using Feature = Enums::Feature;
using Aggregation = Enums::Aggregation;
using namespace VoxelMapsTest;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

/** A filter of an image of gray levels, with all features. */
template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const typename TFilter::SizeType & size, const std::vector<unsigned char> & levels,
           unsigned int numberOfGrayLevels, unsigned int radius = 2)
{
  const auto filter = MakeLevelsFilter<TFilter>(size, levels, numberOfGrayLevels, radius);
  filter->SetFeatures(Enums::GetAllFeatures());
  return filter;
}
} // namespace

// Worked out with exact fractions.
TEST(CooccurrenceFeatureMapImageFilter, DocumentedImageAlongX)
{
  const auto filter = MakeFilter<DoubleFilter2D>({ { 5, 5 } }, documentedImage, 5);
  filter->SetOffsets({ { { 1, 0 } } });
  const std::vector<Expectation<Feature>> expectations{
    { Feature::Autocorrelation, 77.0 / 10, 0 },
    { Feature::JointAverage, 27.0 / 10, 0 },
    { Feature::ClusterProminence, 39899.0 / 1250, 0 },
    { Feature::ClusterShade, 27.0 / 250, 0 },
    { Feature::ClusterTendency, 197.0 / 50, 0 },
    { Feature::Contrast, 23.0 / 10, 0 },
    { Feature::Correlation, 41.0 / 156, 0 },
    { Feature::DifferenceAverage, 11.0 / 10, 0 },
    { Feature::DifferenceVariance, 109.0 / 100, 0 },
    { Feature::DifferenceEntropy, 1.84643934467, 1e-11 },
    { Feature::JointEnergy, 3.0 / 40, 0 },
    { Feature::JointEntropy, 3.94643934467, 1e-11 },
    { Feature::InformationalMeasureOfCorrelation1, -0.204990774066, 1e-12 },
    { Feature::InformationalMeasureOfCorrelation2, 0.77070547197, 1e-11 },
    { Feature::InverseDifferenceMoment, 57.0 / 100, 1e-15 },
    { Feature::InverseDifferenceMomentNormalized, 118497.0 / 128180, 1e-15 },
    { Feature::InverseDifference, 5.0 / 8, 1e-15 },
    { Feature::InverseDifferenceNormalized, 1417.0 / 1680, 1e-15 },
    { Feature::InverseVariance, 103.0 / 360, 1e-15 },
    { Feature::MaximumProbability, 3.0 / 20, 0 },
    { Feature::SumAverage, 27.0 / 5, 0 },
    { Feature::SumEntropy, 2.80370169606, 1e-11 },
    { Feature::SumSquares, 39.0 / 25, 0 },
    { Feature::MaximalCorrelationCoefficient, 0.630279555131, 1e-12 },
  };
  EXPECT_EQ(std::size_t{ Enums::NumberOfFeatures }, expectations.size());
  ExpectValues(expectations, ComputePixel(filter, 12));
}

// Pairs (1, 1), (1, 2), (2, 4) along x, in this order.
TEST(CooccurrenceFeatureMapImageFilter, AsymmetricMatrixByHand)
{
  const auto filter = MakeFilter<DoubleFilter2D>({ { 4, 1 } }, { 1, 1, 2, 4 }, 4, 4);
  filter->SetOffsets({ { { 1, 0 } } });
  filter->SymmetricOff();
  const double entropy = std::log2(3.0);
  const double rows = std::log2(3.0) - 2.0 / 3.0;
  // Rows 1 (twice) and 2; columns 1, 2 and 4: I = HX + HY - HXY = HX.
  const std::vector<Expectation<Feature>> expectations{
    { Feature::Autocorrelation, 11.0 / 3, 0 },
    { Feature::JointAverage, 4.0 / 3, 0 },
    { Feature::SumAverage, 11.0 / 3, 0 },
    { Feature::Contrast, 5.0 / 3, 0 },
    { Feature::DifferenceAverage, 1.0, 0 },
    { Feature::SumSquares, 2.0 / 9, 0 },
    { Feature::ClusterTendency, 26.0 / 9, 0 },
    // Covariance 11/3 - 4/3 7/3 = 5/9, variances 2/9 and 14/9
    { Feature::Correlation, 5.0 / std::sqrt(28.0), 1e-15 },
    { Feature::JointEnergy, 1.0 / 3, 0 },
    { Feature::MaximumProbability, 1.0 / 3, 0 },
    { Feature::JointEntropy, entropy, 1e-14 },
    { Feature::InformationalMeasureOfCorrelation1, -rows / entropy, 1e-14 },
    { Feature::InformationalMeasureOfCorrelation2, std::sqrt(1.0 - std::exp(-2.0 * rows)), 1e-14 },
    // Each column has one row.
    { Feature::MaximalCorrelationCoefficient, 1, 0 },
  };
  ExpectValues(expectations, ComputePixel(filter, 1));

  // The opposite offset swaps rows and columns.
  filter->SetOffsets({ { { -1, 0 } } });
  ExpectValues<Feature>({ { Feature::JointAverage, 7.0 / 3, 0 },
                          { Feature::SumSquares, 14.0 / 9, 0 },
                          { Feature::Contrast, 5.0 / 3, 0 },
                          { Feature::Correlation, 5.0 / std::sqrt(28.0), 1e-15 } },
                        ComputePixel(filter, 1));
  // Both are allowed, as their pairs differ.
  filter->SetOffsets({ { { 1, 0 } }, { { -1, 0 } } });
  ExpectValues<Feature>({ { Feature::JointAverage, 11.0 / 6, 1e-15 } }, ComputePixel(filter, 1));
  // Together they are the symmetric matrix.
  filter->SetAggregation(Aggregation::Merge);
  const auto merged = ComputePixel(filter, 1);
  filter->SymmetricOn();
  filter->SetOffsets({ { { 1, 0 } } });
  const auto symmetric = ComputePixel(filter, 1);
  for (const Feature feature : Enums::GetAllFeatures())
  {
    EXPECT_NEAR(symmetric.at(feature), merged.at(feature), 1e-14) << feature;
  }
}

TEST(CooccurrenceFeatureMapImageFilter, MaximalCorrelationOfSpecialMatrices)
{
  const auto checkCorrelation = [](const std::vector<unsigned char> & levels, bool symmetric, double expected) {
    const auto filter = MakeFilter<DoubleFilter2D>({ { 2, levels.size() / 2 } }, levels, 9, 20);
    filter->SetOffsets({ { { 1, 0 } } });
    filter->SetSymmetric(symmetric);
    filter->SetFeatures({ Feature::MaximalCorrelationCoefficient });
    ExpectValues<Feature>({ { Feature::MaximalCorrelationCoefficient, expected, 0 } }, ComputePixel(filter, 0));
  };
  for (const bool symmetric : { true, false })
  {
    // Levels that have no pairs with each other: two, and as many as there are.
    checkCorrelation({ 1, 1, 1, 2, 2, 1, 7, 7, 7, 7, 7, 9, 9, 7 }, symmetric, 1.0);
    checkCorrelation({ 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9 }, symmetric, 1.0);
  }
  // Odd levels that have pairs with even ones alone: an eigenvalue is -1. In one order, rows and columns are
  // independent.
  checkCorrelation({ 1, 2, 3, 4, 1, 4, 5, 2, 5, 4 }, true, 1.0);
  checkCorrelation({ 1, 2, 1, 4, 3, 2, 3, 4, 5, 2, 5, 4 }, false, 0.0);
  checkCorrelation({ 1, 2, 1, 4, 3, 2, 3, 4, 5, 2, 5, 4 }, true, 1.0);
  // P = ((4, 1), (1, 2)) has the second eigenvalue 4 / 5 + 2 / 3 - 1 = 7 / 15, ((2, 3), (3, 2)) has -1 / 5.
  const double grid = std::ldexp(1.0, 40);
  checkCorrelation({ 1, 1, 1, 1, 1, 8, 8, 8 }, true, std::round(7.0 / 15 * grid) / grid);
  checkCorrelation({ 3, 3, 3, 4, 3, 4, 4, 3, 4, 4 }, true, std::round(0.2 * grid) / grid);
  // The second singular value of P = ((2, 1), (1, 4)) is (2 4 - 1 1) / sqrt(3 5 3 5).
  checkCorrelation({ 2, 2, 2, 2, 2, 5, 5, 2, 5, 5, 5, 5, 5, 5, 5, 5 }, false, std::round(7.0 / 15 * grid) / grid);
}

TEST(CooccurrenceFeatureMapImageFilter, MaximalCorrelationOfARegionWithOneLevel)
{
  const auto filter = MakeFilter<DoubleFilter2D>({ { 3, 3 } }, std::vector<unsigned char>(9, 4), 6, 1);
  filter->SetFeatures({ Feature::MaximalCorrelationCoefficient, Feature::Correlation });
  ExpectValues<Feature>({ { Feature::MaximalCorrelationCoefficient, 0, 0 } }, ComputePixel(filter, 4));
  filter->RegionHasOneLevelOn();
  ExpectValues<Feature>({ { Feature::MaximalCorrelationCoefficient, 1, 0 }, { Feature::Correlation, 1, 0 } },
                        ComputePixel(filter, 4));
}

TEST(CooccurrenceFeatureMapImageFilter, MatricesWithoutPairsAreEmpty)
{
  for (const double empty : { quietNaN, 0.0, -2.5 })
  {
    // A line along x has pairs in one of the four directions, an isolated pixel in none.
    const std::vector<unsigned char> levels{ 2, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
    const auto                       filter = MakeFilter<Filter2D>({ { 6, 3 } }, levels, 4, 1);
    filter->SetInsidePixelValue(1);
    filter->SetMaskImage(MakeImage<Image2D>({ { 6, 3 } }, { 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }));
    filter->SetEmptyValue(empty);
    filter->SetBackgroundValue(9.0);
    filter->SetFeatures({ Feature::Contrast, Feature::JointAverage });
    const auto isEmpty = [&](float value) {
      return std::isnan(empty) ? std::isnan(value) : value == static_cast<float>(empty);
    };
    for (const Aggregation aggregation : { Aggregation::Average, Aggregation::Merge })
    {
      filter->SetAggregation(aggregation);
      const auto output = Compute(filter);
      // Pixel 1 sees 2 4 3.
      EXPECT_EQ(5.0f / 2.0f, output[2]);
      EXPECT_EQ(13.0f / 4.0f, output[3]);
      EXPECT_EQ(9.0f, output[2 * 3]);
      EXPECT_TRUE(isEmpty(output[2 * 17]) && isEmpty(output[2 * 17 + 1]));
    }
    filter->SetAggregation(Aggregation::PerDirection);
    const auto output = Compute(filter);
    EXPECT_EQ(5.0f / 2.0f, output[8]);
    for (std::size_t component = 2; component < 8; ++component)
    {
      EXPECT_TRUE(isEmpty(output[8 + component])) << component;
    }
    for (std::size_t component = 0; component < 8; ++component)
    {
      EXPECT_TRUE(isEmpty(output[8 * 17 + component])) << component;
    }
  }
  // If no window can have a pair, that is an error.
  const auto filter = MakeFilter<Filter2D>({ { 5, 5 } }, documentedImage, 5);
  filter->SetNeighborhoodRadius(0);
  ExpectError([&] { filter->Update(); }, { "[1, 1]", "pair", "Offsets" });
}

TEST(CooccurrenceFeatureMapImageFilter, NormalizedFeaturesUseTheNumberOfGrayLevelsOfTheImage)
{
  // All windows have the levels 1 and 2, whatever the number of levels is.
  const std::vector<unsigned char> levels{ 1, 2, 1, 2, 1, 2, 1, 2 };
  for (const unsigned int number : { 2u, 4u, 200u })
  {
    const auto filter = MakeFilter<DoubleFilter2D>({ { 8, 1 } }, levels, number);
    filter->SetOffsets({ { { 1, 0 } } });
    const double ng = number;
    ExpectValues<Feature>({ { Feature::InverseDifferenceNormalized, ng / (ng + 1.0), 1e-15 },
                            { Feature::InverseDifferenceMomentNormalized, ng * ng / (ng * ng + 1.0), 1e-15 } },
                          ComputePixel(filter, 4));
  }
}
