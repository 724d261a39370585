// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceOracle.h"
#include "IbsiPhantom.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkGrayToneDifferenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace
{
using Enums = itk::GrayToneDifferenceFeatureMapEnums;
using Feature = Enums::Feature;
using IbsiPhantom::phantomImage;
using IbsiPhantom::phantomMask;
using IbsiPhantom::phantomSize;
using VoxelMapsTest::MakeImage;

enum PublishedColumn
{
  AveragedOverSlicesIn2D,
  MergedIn25D,
  In3D
};

struct PublishedRow
{
  Feature               feature;
  std::array<double, 3> values;
};

// Reference values of the IBSI manual (arXiv:1612.07003), three significant digits.
const std::vector<PublishedRow> publishedRows{
  { Feature::Busyness, { { 2.99, 6.8, 6.54 } } },         //
  { Feature::Coarseness, { { 0.121, 0.0285, 0.0296 } } }, //
  { Feature::Complexity, { { 10.4, 14.1, 13.5 } } },      //
  { Feature::Contrast, { { 0.925, 0.601, 0.584 } } },     //
  { Feature::Strength, { { 2.88, 0.741, 0.763 } } },
};

void
ExpectPublishedValues(PublishedColumn column, const std::vector<double> & values)
{
  ASSERT_EQ(publishedRows.size(), values.size());
  for (std::size_t row = 0; row < publishedRows.size(); ++row)
  {
    EXPECT_EQ(publishedRows[row].feature, Enums::GetAllFeatures()[row]);
    EXPECT_EQ(publishedRows[row].values[column], IbsiPhantom::RoundTo3Digits(values[row]))
      << publishedRows[row].feature << " is " << values[row];
  }
}

/** Compute the part of the phantom from this voxel on. Its intensities are gray levels, from 1 to 6; every window holds
 * all of it, so that all voxels of the mask have the same features. */
template <typename TFilter>
std::vector<double>
Compute(const typename TFilter::SizeType & size, std::size_t first, const typename TFilter::OffsetsType & offsets)
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
  filter->CountVoxelsWithoutNeighborsOff();
  filter->Update();

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

using Filter3D = itk::GrayToneDifferenceFeatureMapImageFilter<itk::Image<short, 3>, itk::VectorImage<double, 3>>;
using Filter2D = itk::GrayToneDifferenceFeatureMapImageFilter<itk::Image<short, 2>, itk::VectorImage<double, 2>>;

constexpr Filter3D::SizeType sizeIn3D{ { phantomSize[0], phantomSize[1], phantomSize[2] } };
} // namespace

TEST(GrayToneDifferencePublishedValues, PhantomIn3D)
{
  ExpectPublishedValues(In3D, Compute<Filter3D>(sizeIn3D, 0, Filter3D::GetAllOffsets()));
}

TEST(GrayToneDifferencePublishedValues, PhantomIn25D)
{
  ExpectPublishedValues(MergedIn25D, Compute<Filter3D>(sizeIn3D, 0, Filter3D::GetInPlaneOffsets()));
}

TEST(GrayToneDifferencePublishedValues, PhantomIn2D)
{
  std::vector<double> means(publishedRows.size(), 0.0);
  for (std::size_t slice = 0; slice < phantomSize[2]; ++slice)
  {
    const std::vector<double> values = Compute<Filter2D>(
      { { phantomSize[0], phantomSize[1] } }, slice * phantomSize[0] * phantomSize[1], Filter2D::GetAllOffsets());
    ASSERT_EQ(means.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      means[i] += values[i] / phantomSize[2];
    }
  }
  ExpectPublishedValues(AveragedOverSlicesIn2D, means);
}

// The oracle must know the published values too.
TEST(GrayToneDifferencePublishedValues, PhantomOfTheOracle)
{
  GrayToneDifferenceOracle::Levels levels;
  levels.size = { { phantomSize[0], phantomSize[1], phantomSize[2] } };
  for (std::size_t i = 0; i < phantomImage.size(); ++i)
  {
    levels.values.push_back(static_cast<std::uint16_t>(phantomMask[i] != 0 ? phantomImage[i] : 0));
  }
  const GrayToneDifferenceOracle::Window window{ { { 9, 9, 9 } }, { { 4, 4, 4 } } };
  for (const bool isInPlane : { false, true })
  {
    std::vector<GrayToneDifferenceOracle::Triple> offsets;
    for (const auto & offset : isInPlane ? Filter3D::GetInPlaneOffsets() : Filter3D::GetAllOffsets())
    {
      offsets.push_back({ { offset[0], offset[1], offset[2] } });
    }
    const auto          matrix = GrayToneDifferenceOracle::MakeMatrix(levels, window, { { 2, 2, 0 } }, offsets, false);
    std::vector<double> values;
    for (const Feature feature : Enums::GetAllFeatures())
    {
      values.push_back(static_cast<double>(GrayToneDifferenceOracle::ComputeFeature(matrix, feature)));
    }
    ExpectPublishedValues(isInPlane ? MergedIn25D : In3D, values);
  }
}
