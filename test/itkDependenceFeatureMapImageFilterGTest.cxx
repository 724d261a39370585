// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceRandomCase.h"
#include "IbsiPhantom.h"
#include "TestedFilters.h"
#include "TextureFilterChecks.h"

#include "itkDependenceFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using DoubleFilter2D = itk::DependenceFeatureMapImageFilter<Image2D, itk::VectorImage<double, 2>>;
using Enums = itk::DependenceFeatureMapEnums;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using VoxelMapsTest::ComputePixel;
using VoxelMapsTest::DependenceRandomCase;
using VoxelMapsTest::documentedImage;
using VoxelMapsTest::Expectation;
using VoxelMapsTest::ExpectValues;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::MakeLevelsFilter;
using VoxelMapsTest::MakeImage;

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

TEST(DependenceFeatureMapImageFilter, WindowsOfOneVoxel)
{
  const auto filter = MakeLevelsFilter<DoubleFilter2D>({ { 2, 2 } }, { 1, 2, 4, 200 }, 200, 0);
  for (std::size_t pixel = 0; pixel < 4; ++pixel)
  {
    const double level = std::vector<double>{ 1, 2, 4, 200 }[pixel];
    ExpectValues<Feature>({ { Feature::SmallDependenceEmphasis, 1, 0 },
                            { Feature::LargeDependenceEmphasis, 1, 0 },
                            { Feature::GrayLevelNonUniformity, 1, 0 },
                            { Feature::DependenceNonUniformity, 1, 0 },
                            { Feature::DependenceNonUniformityNormalized, 1, 0 },
                            { Feature::GrayLevelVariance, 0, 0 },
                            { Feature::DependenceVariance, 0, 0 },
                            { Feature::DependenceEntropy, 0, 0 },
                            { Feature::LowGrayLevelEmphasis, 1 / (level * level), 1e-16 },
                            { Feature::HighGrayLevelEmphasis, level * level, 0 },
                            { Feature::SmallDependenceLowGrayLevelEmphasis, 1 / (level * level), 1e-16 },
                            { Feature::SmallDependenceHighGrayLevelEmphasis, level * level, 0 },
                            { Feature::LargeDependenceLowGrayLevelEmphasis, 1 / (level * level), 1e-16 },
                            { Feature::LargeDependenceHighGrayLevelEmphasis, level * level, 0 } },
                          ComputePixel(filter, pixel));
  }
}

TEST(DependenceFeatureMapImageFilter, ConstantWindows)
{
  for (const unsigned int levels : { 1u, 7u })
  {
    const unsigned char level = levels == 1 ? 1 : 3;
    const auto   filter = MakeLevelsFilter<DoubleFilter2D>({ { 5, 5 } }, std::vector<unsigned char>(25, level), levels);
    const double square = level * level;
    // 4 corners of size 4, 12 pixels of size 6 at edges, 9 of size 9 inside.
    const double sizeSquares = 4 * 16 + 12 * 36 + 9 * 81;
    const double sizes = 4 * 4 + 12 * 6 + 9 * 9;
    ExpectValues<Feature>({ { Feature::LargeDependenceEmphasis, sizeSquares / 25, 0 },
                            { Feature::GrayLevelNonUniformity, 25, 0 },
                            { Feature::DependenceNonUniformity, (16.0 + 144.0 + 81.0) / 25, 0 },
                            { Feature::DependenceNonUniformityNormalized, (16.0 + 144.0 + 81.0) / 625, 0 },
                            { Feature::GrayLevelVariance, 0, 0 },
                            { Feature::DependenceVariance, (25 * sizeSquares - sizes * sizes) / 625, 0 },
                            { Feature::LowGrayLevelEmphasis, 1 / square, 1e-16 },
                            { Feature::HighGrayLevelEmphasis, square, 0 },
                            { Feature::SmallDependenceEmphasis, (4 / 16.0 + 12 / 36.0 + 9 / 81.0) / 25, 1e-16 },
                            { Feature::LargeDependenceHighGrayLevelEmphasis, sizeSquares * square / 25, 0 } },
                          ComputePixel(filter, 12));
  }
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

namespace
{
/** In the order of the enumeration, from the tables of the manual. */
struct PublishedValues
{
  double in2D;
  double in25D;
  double in3D;
};
const std::vector<PublishedValues> published{
  { 0.158, 0.159, 0.045 },  { 19.2, 18.8, 109 },  { 10.2, 37.9, 37.9 },        { 3.96, 12.4, 4.86 },
  { 0.212, 0.167, 0.0657 }, { 2.7, 3.05, 3.05 },  { 2.73, 3.27, 22.1 },        { 2.71, 3.36, 4.4 },
  { 0.702, 0.693, 0.693 },  { 7.49, 7.66, 7.66 }, { 0.0473, 0.0477, 0.00963 }, { 3.06, 3.07, 0.736 },
  { 17.6, 17.2, 102 },      { 49.5, 50.8, 235 },
};

/** The features of the phantom, or of one of its slices. */
template <typename TFilter>
std::vector<double>
ComputePhantom(const typename TFilter::SizeType & size, std::size_t first,
               const typename TFilter::OffsetsType & offsets)
{
  std::size_t number = 1;
  for (const auto length : size)
  {
    number *= length;
  }
  const auto begin = static_cast<std::ptrdiff_t>(first);
  const auto end = static_cast<std::ptrdiff_t>(first + number);
  const auto filter = VoxelMapsTest::NewFilter<TFilter>();
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(
    size, { IbsiPhantom::phantomImage.begin() + begin, IbsiPhantom::phantomImage.begin() + end }));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(
    size, { IbsiPhantom::phantomMask.begin() + begin, IbsiPhantom::phantomMask.begin() + end }));
  filter->SetDiscretizationMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(6);
  filter->SetNeighborhoodRadius(5);
  filter->SetOffsets(offsets);
  filter->Update();
  // A window that covers the image gives the same values at all voxels.
  const auto          output = GetBuffer(filter->GetOutput());
  const std::size_t   components = filter->GetFeatures().size();
  std::vector<double> values(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(components));
  for (std::size_t i = 0; i < number; ++i)
  {
    const bool isInside = IbsiPhantom::phantomMask[first + i] != 0;
    for (std::size_t f = 0; f < components; ++f)
    {
      EXPECT_EQ(isInside ? values[f] : 0.0, output[i * components + f]) << i;
    }
  }
  return values;
}
} // namespace

TEST(DependenceFeatureMapImageFilter, PublishedValuesOfThePhantom)
{
  using Phantom2D = itk::DependenceFeatureMapImageFilter<itk::Image<short, 2>, itk::VectorImage<double, 2>>;
  using Phantom3D = itk::DependenceFeatureMapImageFilter<itk::Image<short, 3>, itk::VectorImage<double, 3>>;
  const auto & size = IbsiPhantom::phantomSize;
  const auto   in3D = ComputePhantom<Phantom3D>({ { size[0], size[1], size[2] } }, 0, Phantom3D::GetAllOffsets());
  const auto   in25D = ComputePhantom<Phantom3D>({ { size[0], size[1], size[2] } }, 0, Phantom3D::GetInPlaneOffsets());
  std::vector<double> in2D(published.size(), 0.0);
  for (std::size_t slice = 0; slice < size[2]; ++slice)
  {
    const auto values =
      ComputePhantom<Phantom2D>({ { size[0], size[1] } }, slice * size[0] * size[1], Phantom2D::GetAllOffsets());
    for (std::size_t f = 0; f < in2D.size(); ++f)
    {
      in2D[f] += values[f] / size[2];
    }
  }
  ASSERT_EQ(std::size_t{ Enums::NumberOfFeatures }, published.size());
  for (std::size_t f = 0; f < published.size(); ++f)
  {
    EXPECT_EQ(published[f].in2D, IbsiPhantom::RoundTo3Digits(in2D[f])) << static_cast<Feature>(f);
    EXPECT_EQ(published[f].in25D, IbsiPhantom::RoundTo3Digits(in25D[f])) << static_cast<Feature>(f);
    EXPECT_EQ(published[f].in3D, IbsiPhantom::RoundTo3Digits(in3D[f])) << static_cast<Feature>(f);
  }
}
