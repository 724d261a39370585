// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// The reference values of the IBSI manual (arXiv:1612.07003) for its digital phantom, three significant digits.

#include "IbsiPhantom.h"
#include "ItkTestUtilities.h"
#include "TestedFilters.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace
{
using IbsiPhantom::phantomSize;
using namespace VoxelMapsTest;
template <template <typename...> class TFilter, unsigned int VDimension>
using DoubleFilter = TFilter<itk::Image<short, VDimension>, itk::VectorImage<double, VDimension>>;

/** How directions are combined, in the order of the columns of tables with six and with three values. */
struct Column
{
  bool isSliceMean;
  bool isInPlane;
  bool isMerged;
};
using Columns = std::vector<Column>;
const Columns sixColumns{ { true, true, false }, { true, true, true },    { false, true, false },
                          { false, true, true }, { false, false, false }, { false, false, true } };
const Columns threeColumns{ { true, true, true }, { false, true, true }, { false, false, true } };

using Rows = std::vector<std::pair<std::string, std::vector<double>>>;
const Rows cooccurrence{
  { "MaximumProbability", { 0.519, 0.512, 0.489, 0.492, 0.503, 0.509 } },
  { "JointAverage", { 2.14, 2.14, 2.2, 2.2, 2.14, 2.15 } },
  { "SumSquares", { 2.69, 2.71, 3.22, 3.24, 3.1, 3.13 } },
  { "JointEntropy", { 2.05, 2.24, 2.48, 2.61, 2.4, 2.57 } },
  { "DifferenceAverage", { 1.42, 1.4, 1.46, 1.44, 1.43, 1.38 } },
  { "DifferenceVariance", { 2.9, 3.06, 3.11, 3.23, 3.06, 3.21 } },
  { "DifferenceEntropy", { 1.4, 1.49, 1.61, 1.67, 1.56, 1.64 } },
  { "SumAverage", { 4.28, 4.29, 4.41, 4.41, 4.29, 4.3 } },
  { "ClusterTendency", { 5.47, 5.66, 7.48, 7.65, 7.07, 7.41 } },
  { "SumEntropy", { 1.6, 1.79, 2.01, 2.14, 1.92, 2.11 } },
  { "JointEnergy", { 0.368, 0.352, 0.286, 0.277, 0.303, 0.291 } },
  { "Contrast", { 5.28, 5.19, 5.39, 5.29, 5.32, 5.12 } },
  { "InverseDifference", { 0.678, 0.683, 0.668, 0.673, 0.677, 0.688 } },
  { "InverseDifferenceNormalized", { 0.851, 0.854, 0.847, 0.85, 0.851, 0.856 } },
  { "InverseDifferenceMoment", { 0.619, 0.625, 0.606, 0.613, 0.618, 0.631 } },
  { "InverseDifferenceMomentNormalized", { 0.899, 0.901, 0.897, 0.899, 0.898, 0.902 } },
  { "InverseVariance", { 0.0567, 0.0553, 0.0597, 0.0582, 0.0604, 0.0574 } },
  { "Correlation", { -0.0121, 0.0173, 0.178, 0.182, 0.157, 0.183 } },
  { "Autocorrelation", { 5.09, 5.14, 5.4, 5.45, 5.06, 5.19 } },
  { "ClusterShade", { 7.0, 6.98, 16.6, 16.4, 16.6, 17.4 } },
  { "ClusterProminence", { 79.1, 80.4, 147.0, 142.0, 145.0, 147.0 } },
  { "InformationalMeasureOfCorrelation1", { -0.155, -0.0341, -0.124, -0.0334, -0.157, -0.0288 } },
  { "InformationalMeasureOfCorrelation2", { 0.487, 0.263, 0.487, 0.291, 0.52, 0.269 } },
};
const Rows dependence{
  { "SmallDependenceEmphasis", { 0.158, 0.159, 0.045 } },
  { "LargeDependenceEmphasis", { 19.2, 18.8, 109 } },
  { "GrayLevelNonUniformity", { 10.2, 37.9, 37.9 } },
  { "DependenceNonUniformity", { 3.96, 12.4, 4.86 } },
  { "DependenceNonUniformityNormalized", { 0.212, 0.167, 0.0657 } },
  { "GrayLevelVariance", { 2.7, 3.05, 3.05 } },
  { "DependenceVariance", { 2.73, 3.27, 22.1 } },
  { "DependenceEntropy", { 2.71, 3.36, 4.4 } },
  { "LowGrayLevelEmphasis", { 0.702, 0.693, 0.693 } },
  { "HighGrayLevelEmphasis", { 7.49, 7.66, 7.66 } },
  { "SmallDependenceLowGrayLevelEmphasis", { 0.0473, 0.0477, 0.00963 } },
  { "SmallDependenceHighGrayLevelEmphasis", { 3.06, 3.07, 0.736 } },
  { "LargeDependenceLowGrayLevelEmphasis", { 17.6, 17.2, 102 } },
  { "LargeDependenceHighGrayLevelEmphasis", { 49.5, 50.8, 235 } },
};
// The IBSI subtracts 3 from the kurtosis.
const Rows firstOrder{
  { "Mean", { 2.15 } },
  { "Variance", { 3.05 } },
  { "Skewness", { 1.08 } },
  { "Median", { 1 } },
  { "Minimum", { 1 } },
  { "Percentile10", { 1 } },
  { "Percentile90", { 4 } },
  { "Maximum", { 6 } },
  { "InterquartileRange", { 3 } },
  { "Range", { 5 } },
  { "MeanAbsoluteDeviation", { 1.55 } },
  { "RobustMeanAbsoluteDeviation", { 1.11 } },
  { "Energy", { 567 } },
  { "RootMeanSquared", { 2.77 } },
  { "Entropy", { 1.27 } },
  { "Uniformity", { 0.512 } },
  { "TotalEnergy", { 567 } },
  { "Kurtosis", { 2.65 } },
};
const Rows grayToneDifference{
  { "Busyness", { 2.99, 6.8, 6.54 } },    { "Coarseness", { 0.121, 0.0285, 0.0296 } },
  { "Complexity", { 10.4, 14.1, 13.5 } }, { "Contrast", { 0.925, 0.601, 0.584 } },
  { "Strength", { 2.88, 0.741, 0.763 } },
};
const Rows runLength{
  { "ShortRunEmphasis", { 0.641, 0.661, 0.665, 0.680, 0.705, 0.729 } },
  { "LongRunEmphasis", { 3.78, 3.51, 3.46, 3.27, 3.06, 2.76 } },
  { "LowGrayLevelRunEmphasis", { 0.604, 0.609, 0.580, 0.585, 0.603, 0.607 } },
  { "HighGrayLevelRunEmphasis", { 9.82, 9.74, 10.3, 10.2, 9.70, 9.64 } },
  { "ShortRunLowGrayLevelEmphasis", { 0.294, 0.311, 0.296, 0.312, 0.352, 0.372 } },
  { "ShortRunHighGrayLevelEmphasis", { 8.57, 8.67, 9.03, 9.05, 8.54, 8.67 } },
  { "LongRunLowGrayLevelEmphasis", { 3.14, 2.92, 2.79, 2.63, 2.39, 2.16 } },
  { "LongRunHighGrayLevelEmphasis", { 17.4, 16.1, 17.9, 17.0, 17.6, 15.6 } },
  { "GrayLevelNonUniformity", { 5.20, 20.5, 19.5, 77.1, 21.8, 281 } },
  { "GrayLevelNonUniformityNormalized", { 0.460, 0.456, 0.413, 0.412, 0.430, 0.430 } },
  { "RunLengthNonUniformity", { 6.12, 21.6, 22.3, 83.2, 26.9, 328 } },
  { "RunLengthNonUniformityNormalized", { 0.492, 0.441, 0.461, 0.445, 0.513, 0.501 } },
  { "RunPercentage", { 0.627, 0.627, 0.632, 0.632, 0.680, 0.680 } },
  { "GrayLevelVariance", { 3.35, 3.37, 3.58, 3.59, 3.46, 3.48 } },
  { "RunVariance", { 0.761, 0.778, 0.758, 0.767, 0.574, 0.598 } },
  { "RunEntropy", { 2.17, 2.57, 2.52, 2.76, 2.43, 2.62 } },
};
const Rows sizeZone{
  { "SmallAreaEmphasis", { 0.363, 0.368, 0.255 } },
  { "LargeAreaEmphasis", { 43.9, 34.2, 550.0 } },
  { "LowGrayLevelZoneEmphasis", { 0.371, 0.368, 0.253 } },
  { "HighGrayLevelZoneEmphasis", { 16.4, 16.2, 15.6 } },
  { "SmallAreaLowGrayLevelEmphasis", { 0.0259, 0.0295, 0.0256 } },
  { "SmallAreaHighGrayLevelEmphasis", { 10.3, 9.87, 2.76 } },
  { "LargeAreaLowGrayLevelEmphasis", { 40.4, 30.6, 503.0 } },
  { "LargeAreaHighGrayLevelEmphasis", { 113.0, 107.0, 1490.0 } },
  { "GrayLevelNonUniformity", { 1.41, 5.44, 1.4 } },
  { "GrayLevelNonUniformityNormalized", { 0.323, 0.302, 0.28 } },
  { "SizeZoneNonUniformity", { 1.49, 3.44, 1.0 } },
  { "SizeZoneNonUniformityNormalized", { 0.333, 0.191, 0.2 } },
  { "ZonePercentage", { 0.24, 0.243, 0.0676 } },
  { "GrayLevelVariance", { 3.97, 3.92, 2.64 } },
  { "ZoneVariance", { 21.0, 17.3, 331.0 } },
  { "ZoneEntropy", { 1.93, 3.08, 2.32 } },
};

std::vector<std::string>
GetNames(const Rows & rows)
{
  std::vector<std::string> names;
  for (const auto & row : rows)
  {
    names.push_back(row.first);
  }
  return names;
}

/** The features of the phantom from a voxel on. Its intensities are gray levels; every window holds all of it, so that
 * all voxels of the mask have the same features. */
template <typename TFilter, typename TPrepare>
std::vector<double>
ComputePart(const typename TFilter::SizeType & size, std::size_t first, const Rows & rows, const TPrepare & prepare)
{
  std::size_t number = 1;
  for (const auto length : size)
  {
    number *= length;
  }
  const auto                       begin = static_cast<std::ptrdiff_t>(first);
  const auto                       end = static_cast<std::ptrdiff_t>(first + number);
  const std::vector<unsigned char> mask(IbsiPhantom::phantomMask.begin() + begin,
                                        IbsiPhantom::phantomMask.begin() + end);
  const auto                       filter = NewFilter<TFilter>();
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(
    size, { IbsiPhantom::phantomImage.begin() + begin, IbsiPhantom::phantomImage.begin() + end }));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, mask));
  filter->SetDiscretizationMethod(TFilter::MethodEnum::Levels);
  filter->SetNumberOfGrayLevels(6);
  filter->SetNeighborhoodRadius(4);
  filter->SetFeatureNames(GetNames(rows));
  prepare(*filter);
  filter->Update();
  const auto          output = GetBuffer(filter->GetOutput());
  std::vector<double> values;
  for (std::size_t i = 0; i < number; ++i)
  {
    const auto                at = output.begin() + static_cast<std::ptrdiff_t>(i * rows.size());
    const std::vector<double> here(at, at + static_cast<std::ptrdiff_t>(rows.size()));
    values = values.empty() && mask[i] != 0 ? here : values;
    EXPECT_EQ(mask[i] != 0 ? values : std::vector<double>(rows.size(), 0.0), here) << "at voxel " << i;
  }
  return values;
}

/** Expect the published values of filters that prepare(filter, column) has prepared. */
template <template <typename...> class TFilter, typename TPrepare>
void
ExpectPublished(const Rows & rows, const Columns & columns, const TPrepare & prepare)
{
  for (std::size_t number = 0; number < columns.size(); ++number)
  {
    const auto          prepareColumn = [&](auto & filter) { prepare(filter, columns[number]); };
    std::vector<double> values(rows.size());
    if (columns[number].isSliceMean)
    {
      for (std::size_t slice = 0; slice < phantomSize[2]; ++slice)
      {
        const auto part = ComputePart<DoubleFilter<TFilter, 2>>(
          { { phantomSize[0], phantomSize[1] } }, slice * phantomSize[0] * phantomSize[1], rows, prepareColumn);
        for (std::size_t i = 0; i < values.size(); ++i)
        {
          values[i] += part.at(i) / phantomSize[2];
        }
      }
    }
    else
    {
      values = ComputePart<DoubleFilter<TFilter, 3>>(
        { { phantomSize[0], phantomSize[1], phantomSize[2] } }, 0, rows, prepareColumn);
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
      EXPECT_EQ(rows[i].second[number], IbsiPhantom::RoundTo3Digits(values.at(i)))
        << rows[i].first << " is " << values[i] << " in column " << number;
    }
  }
}

/** Prepares filters with directions. */
template <typename TFilter>
void
SetDirections(TFilter & filter, const Column & column)
{
  filter.SetOffsets(column.isInPlane ? TFilter::GetInPlaneOffsets() : TFilter::GetAllOffsets());
}
template <typename TFilter>
void
SetAggregatedDirections(TFilter & filter, const Column & column)
{
  using Aggregation = typename TFilter::AggregationEnum;
  SetDirections(filter, column);
  filter.SetAggregation(column.isMerged ? Aggregation::Merge : Aggregation::Average);
}
} // namespace

TEST(PublishedValues, Cooccurrence)
{
  ExpectPublished<itk::CooccurrenceFeatureMapImageFilter>(
    cooccurrence, sixColumns, [](auto & filter, const Column & column) { SetAggregatedDirections(filter, column); });
}

TEST(PublishedValues, Dependence)
{
  ExpectPublished<itk::DependenceFeatureMapImageFilter>(
    dependence, threeColumns, [](auto & filter, const Column & column) { SetDirections(filter, column); });
}

TEST(PublishedValues, FirstOrder)
{
  ExpectPublished<itk::FirstOrderFeatureMapImageFilter>(
    firstOrder, { { false, false, false } }, [](auto &, const Column &) {});
}

TEST(PublishedValues, GrayToneDifference)
{
  ExpectPublished<itk::GrayToneDifferenceFeatureMapImageFilter>(
    grayToneDifference, threeColumns, [](auto & filter, const Column & column) {
      SetDirections(filter, column);
      filter.CountVoxelsWithoutNeighborsOff();
    });
}

TEST(PublishedValues, RunLength)
{
  ExpectPublished<itk::RunLengthFeatureMapImageFilter>(
    runLength, sixColumns, [](auto & filter, const Column & column) { SetAggregatedDirections(filter, column); });
}

TEST(PublishedValues, SizeZone)
{
  ExpectPublished<itk::SizeZoneFeatureMapImageFilter>(sizeZone, threeColumns, [](auto & filter, const Column & column) {
    using Connectivity = typename std::decay_t<decltype(filter)>::ConnectivityEnum;
    filter.SetConnectivity(column.isInPlane ? Connectivity::InPlane : Connectivity::Full);
  });
}
