// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRandomCase.h"
#include "ItkTestUtilities.h"
#include "RelativeFuzzyConnectednessOracle.h"
#include "itkCovariantVector.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRGBPixel.h"
#include "itkRegionOfInterestImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkVector.h"

#include <algorithm>
#include <cstring>

namespace
{
using namespace VoxelMapsTest;
using PixelType = voxelmaps::FuzzyConnectednessJob::PixelType;

template <unsigned int VDimension>
typename itk::ImageRegion<VDimension>
MakeRegion(const FuzzyConnectednessOracle::Scene & scene)
{
  itk::ImageRegion<VDimension> region;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    region.SetIndex(d, 3 - static_cast<int>(d));
    region.SetSize(d, static_cast<itk::SizeValueType>(scene.size[d]));
  }
  return region;
}

/** An image with the pixels of a case, whose index does not begin at 0. */
template <typename TImage>
typename TImage::Pointer
MakeImage(const FuzzyConnectednessRandomCase & randomCase)
{
  const auto image = TImage::New();
  image->SetRegions(MakeRegion<TImage::ImageDimension>(randomCase.scene));
  // Ignored by images whose pixels have a fixed number.
  image->SetNumberOfComponentsPerPixel(randomCase.scene.components);
  image->Allocate();
  std::memcpy(image->GetBufferPointer(), randomCase.pixels.data(), randomCase.pixels.size());
  typename TImage::SpacingType spacing;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    spacing[d] = randomCase.scene.spacing[d];
  }
  image->SetSpacing(spacing);
  return image;
}

/** Random cases of images of a type, with a mask, against the oracles; and a crop against the image that it crops. */
template <typename TImage>
void
CheckImages(PixelType type, unsigned int components, std::uint64_t firstSeed)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  using MaskType = itk::Image<unsigned char, dimension>;
  for (std::uint64_t seed = firstSeed; seed < firstSeed + 8; ++seed)
  {
    RandomNumbers random(seed);
    auto          randomCase = DrawFuzzyConnectednessRandomCase(seed, dimension, type, random);
    MakeVectors(randomCase, components, random);
    const auto & scene = randomCase.scene;
    SCOPED_TRACE(::testing::Message() << randomCase);
    const auto image = MakeImage<TImage>(randomCase);
    const auto mask = MaskType::New();
    mask->CopyInformation(image);
    mask->SetRegions(image->GetLargestPossibleRegion());
    mask->Allocate();
    for (std::int64_t voxel = 0; voxel < scene.GetNumberOfVoxels(); ++voxel)
    {
      mask->GetBufferPointer()[voxel] = scene.mask.empty() || scene.mask[voxel] != 0 ? 1 : 0;
    }
    const auto prepare = [&](auto * filter) {
      filter->SetAffinityFunction(scene.affinityFunction);
      filter->SetAdjacency(scene.adjacency);
      filter->SetDistanceWeighting(scene.distanceWeighting);
      filter->SetWeight(scene.weight);
      filter->SetAffinity(scene.affinity);
    };
    const auto filter = itk::FuzzyConnectednessImageFilter<TImage>::New();
    prepare(filter.GetPointer());
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    const auto relative = itk::RelativeFuzzyConnectednessImageFilter<TImage>::New();
    prepare(relative.GetPointer());
    relative->SetCompetition(itk::RelativeFuzzyConnectednessEnums::Competition::Relative);
    relative->SetTieRule(itk::RelativeFuzzyConnectednessEnums::TieRule::Background);
    relative->SetInput(image);
    relative->SetMaskImage(mask);
    std::vector<std::uint16_t> labels;
    for (const std::int64_t voxel : scene.seeds)
    {
      labels.push_back(static_cast<std::uint16_t>(1 + voxel % 3));
      filter->AddSeed(image->ComputeIndex(voxel));
      relative->AddSeed(image->ComputeIndex(voxel), labels.back());
    }
    filter->Update();
    const auto expected =
      ConvertToStrengths<float>(MakeFuzzyConnectednessJob(randomCase), FuzzyConnectednessOracle::ComputeKeys(scene));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), filter->GetOutput()->GetBufferPointer()));
    relative->Update();
    const auto expectedLabels = RelativeFuzzyConnectednessOracle::ComputeRelative(
      RelativeFuzzyConnectednessOracle::ComputeStrengths(scene, labels), relative->GetTieRule());
    EXPECT_TRUE(std::equal(expectedLabels.begin(), expectedLabels.end(), relative->GetOutput()->GetBufferPointer()));

    filter->SetMaskImage(nullptr);
    filter->CropToSeedsOn();
    filter->SetCropMargin(1.0);
    filter->Update();
    const auto crop = itk::RegionOfInterestImageFilter<TImage, TImage>::New();
    crop->SetInput(image);
    crop->SetRegionOfInterest(filter->GetUsedCropRegion());
    const auto cropped = itk::FuzzyConnectednessImageFilter<TImage>::New();
    prepare(cropped.GetPointer());
    cropped->SetInput(crop->GetOutput());
    for (const auto & index : filter->GetSeeds())
    {
      cropped->AddSeed(typename TImage::IndexType{ {} } + (index - filter->GetUsedCropRegion().GetIndex()));
    }
    cropped->Update();
    EXPECT_EQ(GetBuffer(cropped->GetOutput()), GetBuffer(filter->GetOutput(), filter->GetUsedCropRegion()));
  }
}

using RGBImageType = itk::Image<itk::RGBPixel<unsigned char>, 2>;

/** Two regions of other colors, with noise. */
RGBImageType::Pointer
MakeColorImage()
{
  RandomNumbers random(5);
  const auto    image = RGBImageType::New();
  image->SetRegions(RGBImageType::SizeType{ { 40, 30 } });
  image->Allocate();
  for (std::size_t voxel = 0; voxel < 1200; ++voxel)
  {
    const int left = voxel % 40 < 20 ? 1 : 0;
    // Their brightness is the same.
    image->GetBufferPointer()[voxel].Set(static_cast<unsigned char>(100 + 60 * left + random.Between(-5, 5)),
                                         static_cast<unsigned char>(160 - 60 * left + random.Between(-5, 5)),
                                         static_cast<unsigned char>(80 + random.Between(-5, 5)));
  }
  return image;
}
} // namespace

TEST(VectorFuzzyConnectednessImageFilter, AllKindsOfImagesEqualTheOracle)
{
  CheckImages<itk::Image<itk::RGBPixel<unsigned char>, 2>>(PixelType::UInt8, 3, 1000);
  CheckImages<itk::Image<itk::RGBPixel<unsigned short>, 3>>(PixelType::UInt16, 3, 1100);
  CheckImages<itk::Image<itk::Vector<float, 2>, 3>>(PixelType::Float, 2, 1200);
  CheckImages<itk::Image<itk::CovariantVector<double, 3>, 2>>(PixelType::Double, 3, 1300);
  CheckImages<itk::Image<itk::FixedArray<short, 16>, 2>>(PixelType::Int16, 16, 1400);
  CheckImages<itk::VectorImage<float, 3>>(PixelType::Float, 4, 1500);
  CheckImages<itk::VectorImage<unsigned char, 2>>(PixelType::UInt8, 7, 1600);
  CheckImages<itk::VectorImage<int, 2>>(PixelType::Int32, 1, 1700);
}

TEST(VectorFuzzyConnectednessImageFilter, EstimatesAnAffinity)
{
  using FilterType = itk::FuzzyConnectednessImageFilter<RGBImageType>;
  const auto image = MakeColorImage();
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetSeed({ { 10, 15 } });
  filter->EstimateAffinityFromSeedsOn();
  filter->Update();
  const auto used = filter->GetUsedAffinity();
  ASSERT_EQ(3u, used.objectMean.size());
  EXPECT_NEAR(160.0, used.objectMean[0], 3.0);
  EXPECT_NEAR(100.0, used.objectMean[1], 3.0);
  EXPECT_NEAR(80.0, used.objectMean[2], 3.0);
  ASSERT_EQ(9u, used.objectCovariance.size());
  EXPECT_NEAR(10.0, used.objectCovariance[0], 6.0);
  EXPECT_GT(filter->GetOutput()->GetPixel({ { 3, 3 } }), 0.1f);
  EXPECT_LT(filter->GetOutput()->GetPixel({ { 30, 15 } }), 1e-6f);

  // The same values, set by hand.
  const auto again = FilterType::New();
  again->SetInput(image);
  again->SetSeed({ { 10, 15 } });
  again->SetAffinity(used);
  again->Update();
  EXPECT_EQ(GetBuffer(filter->GetOutput()), GetBuffer(again->GetOutput()));
}

TEST(VectorFuzzyConnectednessImageFilter, LabelsByColor)
{
  using FilterType = itk::RelativeFuzzyConnectednessImageFilter<RGBImageType>;
  const auto filter = FilterType::New();
  filter->SetInput(MakeColorImage());
  filter->SetAffinityFunction(FilterType::AffinityFunctionEnum::GeometricMean);
  filter->SetCompetition(FilterType::CompetitionEnum::Relative);
  filter->AddSeed({ { 10, 15 } }, 7);
  filter->AddSeed({ { 30, 15 } }, 9);
  const auto expectSides = [&] {
    filter->Update();
    for (int x = 0; x < 40; ++x)
    {
      EXPECT_EQ(x < 20 ? 7 : 9, filter->GetOutput()->GetPixel({ { x, 4 } })) << x;
    }
  };
  filter->EstimateAffinityOfEveryLabelOn();
  expectSides();
  const auto used = filter->GetUsedAffinitiesOfLabels();
  ASSERT_EQ(2u, used.size());
  EXPECT_NEAR(160.0, used.at(7).objectMean[0], 3.0);
  EXPECT_NEAR(100.0, used.at(9).objectMean[0], 3.0);

  filter->EstimateAffinityOfEveryLabelOff();
  const std::vector<double> covariance{ 20.0, 1.0, 0.0, 1.0, 20.0, 0.0, 0.0, 0.0, 20.0 };
  filter->SetAffinityOfLabel(7, { { 160.0, 100.0, 80.0 }, covariance, {}, covariance });
  filter->SetAffinityOfLabel(9, { { 100.0, 160.0, 80.0 }, covariance, {}, covariance });
  expectSides();
  EXPECT_EQ(100.0, filter->GetUsedAffinitiesOfLabels().at(9).objectMean[0]);
  filter->SetAffinityOfLabel(9, { { 100.0, 160.0, 80.0 }, { 20.0 }, {}, covariance });
  ExpectError(
    [&] { filter->Update(); },
    { "~"
      "The object covariance of the affinity of label 9 has 1 elements, but voxels of 3 components need 9." });
}

TEST(VectorFuzzyConnectednessImageFilter, ErrorsNameTheValue)
{
  const auto image = MakeColorImage();
  const auto filter = itk::FuzzyConnectednessImageFilter<RGBImageType>::New();
  filter->SetInput(image);
  filter->SetSeed({ { 10, 15 } });
  filter->SetAffinity({ { 1.0, 2.0 }, { 1.0 }, {}, { 1.0 } });
  ExpectError([&] { filter->Update(); },
              { "~"
                "The object mean of the affinity has 2 elements, but voxels of 3 components need 3." });
  // All voxels of one color.
  image->FillBuffer(itk::RGBPixel<unsigned char>(50));
  filter->EstimateAffinityFromSeedsOn();
  ExpectError([&] { filter->Update(); },
              { "~"
                "The object covariance of the estimate has the variance 0 of" });

  using VectorImageType = itk::VectorImage<float, 2>;
  const auto vectors = VectorImageType::New();
  vectors->SetRegions(image->GetLargestPossibleRegion());
  vectors->SetNumberOfComponentsPerPixel(17);
  vectors->Allocate(true);
  const auto vectorFilter = itk::FuzzyConnectednessImageFilter<VectorImageType>::New();
  vectorFilter->SetInput(vectors);
  vectorFilter->SetSeed({ { 1, 1 } });
  ExpectError([&] { vectorFilter->Update(); },
              { "~"
                "The pixels of the input have 17 components, but must have 1 to 16." });
}

TEST(VectorFuzzyConnectednessImageFilter, NoVoxels)
{
  using VectorImageType = itk::VectorImage<float, 2>;
  using SeedImageType = itk::Image<unsigned char, 2>;
  const auto vectors = VectorImageType::New();
  vectors->SetRegions(VectorImageType::SizeType{ { 0, 4 } });
  vectors->SetNumberOfComponentsPerPixel(3);
  vectors->Allocate();
  const auto seeds = SeedImageType::New();
  seeds->SetRegions(vectors->GetLargestPossibleRegion());
  seeds->Allocate();
  const auto filter = itk::FuzzyConnectednessImageFilter<VectorImageType>::New();
  filter->SetInput(vectors);
  filter->SetSeedImage(seeds);
  filter->EstimateAffinityFromSeedsOn();
  EXPECT_NO_THROW(filter->Update());
  const auto relative = itk::RelativeFuzzyConnectednessImageFilter<VectorImageType>::New();
  relative->SetInput(vectors);
  relative->SetSeedImage(seeds);
  relative->EstimateAffinityFromSeedsOn();
  EXPECT_NO_THROW(relative->Update());
  EXPECT_EQ(0u, relative->GetOutput()->GetBufferedRegion().GetNumberOfPixels());
}
