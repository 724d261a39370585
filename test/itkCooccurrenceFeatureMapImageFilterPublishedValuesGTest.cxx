// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceOracle.h"
#include "IbsiPhantom.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace
{
using Enums = itk::CooccurrenceFeatureMapEnums;
using Feature = Enums::Feature;
using Aggregation = Enums::Aggregation;
using IbsiPhantom::phantomImage;
using IbsiPhantom::phantomMask;
using IbsiPhantom::phantomSize;
using VoxelMapsTest::MakeImage;

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

// Reference values of the IBSI manual (arXiv:1612.07003), three significant digits. Those of sum variance and of
// dissimilarity are the same as those of cluster tendency and of difference average.
const std::vector<PublishedRow> publishedRows{
  { Feature::MaximumProbability, { { 0.519, 0.512, 0.489, 0.492, 0.503, 0.509 } } },
  { Feature::JointAverage, { { 2.14, 2.14, 2.2, 2.2, 2.14, 2.15 } } },
  { Feature::SumSquares, { { 2.69, 2.71, 3.22, 3.24, 3.1, 3.13 } } },
  { Feature::JointEntropy, { { 2.05, 2.24, 2.48, 2.61, 2.4, 2.57 } } },
  { Feature::DifferenceAverage, { { 1.42, 1.4, 1.46, 1.44, 1.43, 1.38 } } },
  { Feature::DifferenceVariance, { { 2.9, 3.06, 3.11, 3.23, 3.06, 3.21 } } },
  { Feature::DifferenceEntropy, { { 1.4, 1.49, 1.61, 1.67, 1.56, 1.64 } } },
  { Feature::SumAverage, { { 4.28, 4.29, 4.41, 4.41, 4.29, 4.3 } } },
  { Feature::ClusterTendency, { { 5.47, 5.66, 7.48, 7.65, 7.07, 7.41 } } },
  { Feature::SumEntropy, { { 1.6, 1.79, 2.01, 2.14, 1.92, 2.11 } } },
  { Feature::JointEnergy, { { 0.368, 0.352, 0.286, 0.277, 0.303, 0.291 } } },
  { Feature::Contrast, { { 5.28, 5.19, 5.39, 5.29, 5.32, 5.12 } } },
  { Feature::InverseDifference, { { 0.678, 0.683, 0.668, 0.673, 0.677, 0.688 } } },
  { Feature::InverseDifferenceNormalized, { { 0.851, 0.854, 0.847, 0.85, 0.851, 0.856 } } },
  { Feature::InverseDifferenceMoment, { { 0.619, 0.625, 0.606, 0.613, 0.618, 0.631 } } },
  { Feature::InverseDifferenceMomentNormalized, { { 0.899, 0.901, 0.897, 0.899, 0.898, 0.902 } } },
  { Feature::InverseVariance, { { 0.0567, 0.0553, 0.0597, 0.0582, 0.0604, 0.0574 } } },
  { Feature::Correlation, { { -0.0121, 0.0173, 0.178, 0.182, 0.157, 0.183 } } },
  { Feature::Autocorrelation, { { 5.09, 5.14, 5.4, 5.45, 5.06, 5.19 } } },
  { Feature::ClusterShade, { { 7.0, 6.98, 16.6, 16.4, 16.6, 17.4 } } },
  { Feature::ClusterProminence, { { 79.1, 80.4, 147.0, 142.0, 145.0, 147.0 } } },
  { Feature::InformationalMeasureOfCorrelation1, { { -0.155, -0.0341, -0.124, -0.0334, -0.157, -0.0288 } } },
  { Feature::InformationalMeasureOfCorrelation2, { { 0.487, 0.263, 0.487, 0.291, 0.52, 0.269 } } },
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
    EXPECT_EQ(publishedRows[row].values[column], IbsiPhantom::RoundTo3Digits(values[row]))
      << publishedRows[row].feature << " is " << values[row];
  }
}

/** Compute the part of the phantom from this voxel on. Its intensities are gray levels, from 1 to 6; every window holds
 * all of it, so that all voxels of the mask have the same features. */
template <typename TFilter>
std::vector<double>
Compute(const typename TFilter::SizeType & size, std::size_t first, const typename TFilter::OffsetsType & offsets,
        Aggregation aggregation)
{
  std::size_t number = 1;
  for (unsigned int axis = 0; axis < TFilter::ImageDimension; ++axis)
  {
    number *= size[axis];
  }
  const auto                       begin = static_cast<std::ptrdiff_t>(first);
  const auto                       end = static_cast<std::ptrdiff_t>(first + number);
  const std::vector<short>         image(phantomImage.begin() + begin, phantomImage.begin() + end);
  const std::vector<unsigned char> mask(phantomMask.begin() + begin, phantomMask.begin() + end);

  const auto filter = VoxelMapsTest::NewFilter<TFilter>();
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(size, image));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, mask));
  filter->SetDiscretizationMethod(TFilter::MethodEnum::Levels);
  filter->SetNumberOfGrayLevels(6);
  filter->SetNeighborhoodRadius(4);
  filter->SetOffsets(offsets);
  filter->SetFeatures(PublishedFeatures());
  filter->SetAggregation(aggregation);
  filter->Update();
  EXPECT_EQ(6u, filter->GetUsedNumberOfGrayLevels());

  const std::size_t   components = filter->GetOutput()->GetNumberOfComponentsPerPixel();
  const auto * const  output = filter->GetOutput()->GetBufferPointer();
  std::vector<double> values;
  for (std::size_t i = 0; i < number; ++i)
  {
    const std::vector<double> here(output + i * components, output + (i + 1) * components);
    if (mask[i] == 0)
    {
      EXPECT_EQ(std::vector<double>(components, 0.0), here);
      continue;
    }
    values = values.empty() ? here : values;
    EXPECT_EQ(values, here) << "at voxel " << i;
  }
  return values;
}

using Filter3D = itk::CooccurrenceFeatureMapImageFilter<itk::Image<short, 3>, itk::VectorImage<double, 3>>;
using Filter2D = itk::CooccurrenceFeatureMapImageFilter<itk::Image<short, 2>, itk::VectorImage<double, 2>>;

std::vector<double>
ComputeIn3D(const Filter3D::OffsetsType & offsets, Aggregation aggregation)
{
  return Compute<Filter3D>({ { phantomSize[0], phantomSize[1], phantomSize[2] } }, 0, offsets, aggregation);
}

/** Mean over the slices. */
std::vector<double>
ComputeIn2D(Aggregation aggregation)
{
  std::vector<double> means(publishedRows.size(), 0.0);
  for (std::size_t slice = 0; slice < phantomSize[2]; ++slice)
  {
    const std::vector<double> values = Compute<Filter2D>({ { phantomSize[0], phantomSize[1] } },
                                                         slice * phantomSize[0] * phantomSize[1],
                                                         Filter2D::GetAllOffsets(),
                                                         aggregation);
    EXPECT_EQ(means.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      means[i] += values[i] / phantomSize[2];
    }
  }
  return means;
}
} // namespace

// But for the maximal correlation coefficient.
TEST(CooccurrencePublishedValues, AllFeaturesArePublished)
{
  EXPECT_EQ(std::size_t{ Enums::NumberOfFeatures } - 1, publishedRows.size());
}

TEST(CooccurrencePublishedValues, PhantomIn3D)
{
  ExpectPublishedValues(AveragedIn3D, ComputeIn3D(Filter3D::GetAllOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn3D, ComputeIn3D(Filter3D::GetAllOffsets(), Aggregation::Merge));
}

TEST(CooccurrencePublishedValues, PhantomIn25D)
{
  ExpectPublishedValues(AveragedIn25D, ComputeIn3D(Filter3D::GetInPlaneOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn25D, ComputeIn3D(Filter3D::GetInPlaneOffsets(), Aggregation::Merge));
}

TEST(CooccurrencePublishedValues, PhantomIn2D)
{
  ExpectPublishedValues(AveragedOverSlicesIn2D, ComputeIn2D(Aggregation::Average));
  ExpectPublishedValues(MergedPerSliceIn2D, ComputeIn2D(Aggregation::Merge));
}

// The oracle must know the published values too.
TEST(CooccurrencePublishedValues, PhantomOfTheOracle)
{
  CooccurrenceOracle::Levels levels;
  levels.size = { { phantomSize[0], phantomSize[1], phantomSize[2] } };
  for (std::size_t i = 0; i < phantomImage.size(); ++i)
  {
    levels.values.push_back(static_cast<std::uint16_t>(phantomMask[i] != 0 ? phantomImage[i] : 0));
  }
  const CooccurrenceOracle::Window window{ { { 9, 9, 9 } }, { { 4, 4, 4 } } };
  const auto                       compute = [&](const Filter3D::OffsetsType & offsets, Aggregation aggregation) {
    CooccurrenceOracle::Parameters parameters;
    for (const auto & offset : offsets)
    {
      parameters.offsets.push_back({ { offset[0], offset[1], offset[2] } });
    }
    parameters.features = PublishedFeatures();
    parameters.aggregation = aggregation;
    parameters.numberOfGrayLevels = 6;
    std::vector<double> values;
    for (const auto & value : CooccurrenceOracle::ComputeFeatures(levels, window, { { 2, 2, 0 } }, parameters))
    {
      values.push_back(static_cast<double>(value.reference));
    }
    return values;
  };
  ExpectPublishedValues(AveragedIn3D, compute(Filter3D::GetAllOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn3D, compute(Filter3D::GetAllOffsets(), Aggregation::Merge));
  ExpectPublishedValues(AveragedIn25D, compute(Filter3D::GetInPlaneOffsets(), Aggregation::Average));
  ExpectPublishedValues(MergedIn25D, compute(Filter3D::GetInPlaneOffsets(), Aggregation::Merge));
}
