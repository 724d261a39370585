// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRandomCase.h"
#include "RelativeFuzzyConnectednessOracle.h"
#include "itkCovariantVector.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRGBPixel.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkVector.h"

#include <algorithm>
#include <cstring>

namespace
{
using VoxelMapsTest::RandomNumbers;
using PixelType = voxelmaps::FuzzyConnectednessJob::PixelType;
using AffinityFunction = itk::FuzzyConnectednessEnums::AffinityFunction;

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

itk::Array<double>
ToArray(const std::vector<double> & values)
{
  itk::Array<double> array(values.size());
  std::copy(values.begin(), values.end(), array.begin());
  return array;
}

itk::Array2D<double>
ToMatrix(const std::vector<double> & values, unsigned int n)
{
  itk::Array2D<double> matrix(n, n);
  for (unsigned int i = 0; i < n * n; ++i)
  {
    matrix(i / n, i % n) = values[i];
  }
  return matrix;
}

template <typename TFilter>
void
SetParameters(TFilter * filter, const FuzzyConnectednessOracle::Scene & scene)
{
  filter->SetAffinityFunction(scene.affinityFunction);
  filter->SetAdjacency(scene.adjacency);
  filter->SetDistanceWeighting(scene.distanceWeighting);
  filter->SetWeight(scene.weight);
  filter->SetObjectMeanVector(ToArray(scene.objectMeanVector));
  filter->SetObjectCovariance(ToMatrix(scene.objectCovariance, scene.components));
  filter->SetDifferenceMeanVector(ToArray(scene.differenceMeanVector));
  filter->SetDifferenceCovariance(ToMatrix(scene.differenceCovariance, scene.components));
}

template <typename TImage>
typename TImage::IndexType
IndexOf(const TImage * image, std::int64_t voxel)
{
  return image->ComputeIndex(voxel);
}

/** Random cases of images of a type, in both filters, with a mask, against the oracles. */
template <typename TImage>
void
CheckImages(PixelType type, unsigned int components, std::uint64_t firstSeed)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  using MaskType = itk::Image<unsigned char, dimension>;
  using FilterType = itk::FuzzyConnectednessImageFilter<TImage>;
  using RelativeType = itk::RelativeFuzzyConnectednessImageFilter<TImage>;
  for (std::uint64_t seed = firstSeed; seed < firstSeed + 8; ++seed)
  {
    RandomNumbers random(seed);
    auto          randomCase = DrawFuzzyConnectednessRandomCase(seed, dimension, type, random);
    MakeVectors(randomCase, components, random);
    const auto & scene = randomCase.scene;
    SCOPED_TRACE(::testing::Message() << randomCase);
    const auto image = MakeImage<TImage>(randomCase);
    const auto count = static_cast<std::size_t>(scene.GetNumberOfVoxels());
    const auto mask = MaskType::New();
    mask->CopyInformation(image);
    mask->SetRegions(image->GetLargestPossibleRegion());
    mask->Allocate();
    for (std::size_t voxel = 0; voxel < count; ++voxel)
    {
      mask->GetBufferPointer()[voxel] = scene.mask.empty() || scene.mask[voxel] != 0 ? 1 : 0;
    }

    const auto filter = FilterType::New();
    SetParameters(filter.GetPointer(), scene);
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    const auto relative = RelativeType::New();
    SetParameters(relative.GetPointer(), scene);
    relative->SetInput(image);
    relative->SetMaskImage(mask);
    relative->KeepHierarchyOn();
    std::vector<std::uint16_t> labels;
    for (const std::int64_t voxel : scene.seeds)
    {
      labels.push_back(static_cast<std::uint16_t>(1 + voxel % 3));
      filter->AddSeed(IndexOf(image.GetPointer(), voxel));
      relative->AddSeed(IndexOf(image.GetPointer(), voxel), static_cast<unsigned char>(labels.back()));
    }
    filter->Update();
    const auto expected =
      ConvertToStrengths<float>(MakeFuzzyConnectednessJob(randomCase), FuzzyConnectednessOracle::ComputeKeys(scene));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), filter->GetOutput()->GetBufferPointer()));

    const auto strengths = RelativeFuzzyConnectednessOracle::ComputeStrengths(scene, labels);
    for (const auto tieRule : { itk::RelativeFuzzyConnectednessEnums::TieRule::Background,
                                itk::RelativeFuzzyConnectednessEnums::TieRule::LowestLabel })
    {
      relative->SetTieRule(tieRule);
      relative->Update();
      const auto expectedLabels = RelativeFuzzyConnectednessOracle::ComputeRelative(strengths, tieRule);
      EXPECT_TRUE(std::equal(expectedLabels.begin(), expectedLabels.end(), relative->GetOutput()->GetBufferPointer()));
    }

    // A crop is what an image of this region gives.
    if (scene.mask.empty())
    {
      continue;
    }
    filter->SetCropToSeeds(true);
    filter->SetCropMargin(1.0);
    filter->Update();
    const auto                   cropped = filter->GetUsedCropRegion();
    FuzzyConnectednessRandomCase part = randomCase;
    part.scene.intensities.clear();
    part.scene.mask.clear();
    part.scene.seeds.clear();
    for (unsigned int d = 0; d < dimension; ++d)
    {
      part.scene.size[d] = static_cast<std::int64_t>(cropped.GetSize(d));
    }
    std::vector<std::size_t> voxels;
    for (std::size_t voxel = 0; voxel < count; ++voxel)
    {
      if (cropped.IsInside(image->ComputeIndex(static_cast<itk::OffsetValueType>(voxel))))
      {
        if (std::count(scene.seeds.begin(), scene.seeds.end(), static_cast<std::int64_t>(voxel)) > 0)
        {
          part.scene.seeds.push_back(static_cast<std::int64_t>(voxels.size()));
        }
        const auto first = scene.intensities.begin() + static_cast<std::ptrdiff_t>(voxel * components);
        part.scene.intensities.insert(part.scene.intensities.end(), first, first + components);
        part.scene.mask.push_back(scene.mask[voxel]);
        voxels.push_back(voxel);
      }
    }
    StorePixels(part, type);
    const auto expectedPart =
      ConvertToStrengths<float>(MakeFuzzyConnectednessJob(part), FuzzyConnectednessOracle::ComputeKeys(part.scene));
    std::vector<float> expectedWhole(count, 0.0f);
    for (std::size_t i = 0; i < voxels.size(); ++i)
    {
      expectedWhole[voxels[i]] = expectedPart[i];
    }
    EXPECT_TRUE(std::equal(expectedWhole.begin(), expectedWhole.end(), filter->GetOutput()->GetBufferPointer()))
      << "cropped";
  }
}

template <typename TFilter>
std::string
GetErrorMessage(TFilter * filter)
{
  try
  {
    filter->Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    return error.GetDescription();
  }
  return "no error";
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

TEST(VectorFuzzyConnectednessImageFilter, WhatIsNotSetIsEstimated)
{
  using FilterType = itk::FuzzyConnectednessImageFilter<RGBImageType>;
  const auto image = MakeColorImage();
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetSeed({ { 10, 15 } });
  filter->Update();
  const auto mean = filter->GetUsedObjectMeanVector();
  ASSERT_EQ(3u, mean.GetSize());
  EXPECT_NEAR(160.0, mean[0], 3.0);
  EXPECT_NEAR(100.0, mean[1], 3.0);
  EXPECT_NEAR(80.0, mean[2], 3.0);
  EXPECT_EQ(3u, filter->GetUsedObjectCovariance().rows());
  EXPECT_NEAR(10.0, filter->GetUsedObjectCovariance()(0, 0), 6.0);
  EXPECT_EQ(3u, filter->GetUsedDifferenceCovariance().cols());
  EXPECT_GT(filter->GetOutput()->GetPixel({ { 3, 3 } }), 0.1f);
  EXPECT_LT(filter->GetOutput()->GetPixel({ { 30, 15 } }), 1e-6f);
  const std::vector<float> strengths(filter->GetOutput()->GetBufferPointer(),
                                     filter->GetOutput()->GetBufferPointer() + 1200);

  // The same values, set by hand.
  const auto again = FilterType::New();
  again->SetInput(image);
  again->SetSeed({ { 10, 15 } });
  again->SetObjectMeanVector(mean);
  again->SetObjectCovariance(filter->GetUsedObjectCovariance());
  again->SetDifferenceCovariance(filter->GetUsedDifferenceCovariance());
  again->Update();
  EXPECT_TRUE(std::equal(strengths.begin(), strengths.end(), again->GetOutput()->GetBufferPointer()));
  // Other values, until the estimate replaces them.
  again->SetObjectMeanVector(ToArray({ 0.0, 0.0, 0.0 }));
  again->Update();
  EXPECT_FALSE(std::equal(strengths.begin(), strengths.end(), again->GetOutput()->GetBufferPointer()));
  again->EstimateAffinityFromSeedsOn();
  again->Update();
  EXPECT_TRUE(std::equal(strengths.begin(), strengths.end(), again->GetOutput()->GetBufferPointer()));

  std::ostringstream printed;
  filter->Print(printed);
  EXPECT_NE(std::string::npos, printed.str().find("UsedObjectMeanVector: ["));
}

TEST(VectorFuzzyConnectednessImageFilter, LabelsByColor)
{
  using FilterType = itk::RelativeFuzzyConnectednessImageFilter<RGBImageType>;
  const auto image = MakeColorImage();
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->AddSeed({ { 10, 15 } }, 7);
  filter->AddSeed({ { 30, 15 } }, 9);
  const auto expectSides = [&] {
    filter->Update();
    for (int x = 0; x < 40; ++x)
    {
      EXPECT_EQ(x < 20 ? 7 : 9, filter->GetOutput()->GetPixel({ { x, 4 } })) << x;
    }
  };
  filter->SetAffinityFunction(AffinityFunction::Homogeneity);
  expectSides();
  EXPECT_TRUE(filter->GetUsedAffinitiesOfLabels().empty());

  filter->SetAffinityFunction(AffinityFunction::GeometricMean);
  filter->EstimateAffinityOfEveryLabelOn();
  expectSides();
  const auto used = filter->GetUsedAffinitiesOfLabels();
  ASSERT_EQ(2u, used.size());
  EXPECT_NEAR(160.0, used[0].vectors.objectMean[0], 3.0);
  EXPECT_NEAR(100.0, used[1].vectors.objectMean[0], 3.0);

  filter->EstimateAffinityOfEveryLabelOff();
  filter->SetObjectMeanVector(7, ToArray({ 160.0, 100.0, 80.0 }));
  filter->SetObjectMeanVector(9, ToArray({ 100.0, 160.0, 80.0 }));
  const auto covariance = ToMatrix({ 20.0, 1.0, 0.0, 1.0, 20.0, 0.0, 0.0, 0.0, 20.0 }, 3);
  filter->SetObjectCovariance(7, covariance);
  filter->SetObjectCovariance(9, covariance);
  filter->SetDifferenceCovariance(7, covariance);
  filter->SetDifferenceCovariance(9, covariance);
  filter->SetDifferenceMeanVector(9, ToArray({ 0.0, 0.0, 0.0 }));
  expectSides();
  EXPECT_EQ(100.0, filter->GetUsedAffinitiesOfLabels()[1].vectors.objectMean[0]);
  filter->SetObjectCovariance(9, ToMatrix({ 1.0, 2.0, 2.0, 1.0 }, 2));
  EXPECT_NE(
    std::string::npos,
    GetErrorMessage(filter.GetPointer())
      .find("ObjectCovariance of label 9 has 2 rows and 2 columns, but pixels of 3 components need 3 of both."));
  filter->ClearAffinitiesOfLabels();
  filter->Update();
  EXPECT_TRUE(filter->GetUsedAffinitiesOfLabels().empty());
  filter->SetObjectMean(7, 5.0);
  EXPECT_NE(std::string::npos, GetErrorMessage(filter.GetPointer()).find("Label 7 has means or variances of its own"));
}

TEST(VectorFuzzyConnectednessImageFilter, ErrorsNameTheValue)
{
  using FilterType = itk::FuzzyConnectednessImageFilter<RGBImageType>;
  const auto image = MakeColorImage();
  const auto getError = [&](const auto & change) {
    const auto filter = FilterType::New();
    filter->SetInput(image);
    filter->SetSeed({ { 10, 15 } });
    change(*filter);
    return GetErrorMessage(filter.GetPointer());
  };
  const auto expectError = [&](const std::string & expected, const auto & change) {
    const std::string error = getError(change);
    EXPECT_NE(std::string::npos, error.find(expected)) << error;
  };
  EXPECT_EQ("no error", getError([](FilterType &) {}));
  expectError("ObjectMeanVector has 2 elements, but pixels of 3 components need 3.",
              [](FilterType & filter) { filter.SetObjectMeanVector(ToArray({ 1.0, 2.0 })); });
  expectError("DifferenceCovariance has 2 rows and 2 columns, but pixels of 3 components need 3 of both.",
              [](FilterType & filter) { filter.SetDifferenceCovariance(ToMatrix({ 1.0, 0.0, 0.0, 1.0 }, 2)); });
  expectError("ObjectCovariance is not positive definite: of the variance 1 of component 1, 0 is left",
              [](FilterType & filter) {
                filter.SetObjectCovariance(ToMatrix({ 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0 }, 3));
              });
  expectError("a covariance matrix must be symmetric", [](FilterType & filter) {
    filter.SetObjectCovariance(ToMatrix({ 1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 }, 3));
  });
  expectError("ObjectMean is 5, ObjectVariance 1,", [](FilterType & filter) { filter.SetObjectMean(5.0); });
  // All voxels of one color.
  const auto gray = RGBImageType::New();
  gray->SetRegions(image->GetLargestPossibleRegion());
  gray->Allocate();
  gray->FillBuffer(itk::RGBPixel<unsigned char>(50));
  expectError(
    "The estimate from the voxels around the seeds (EstimationRadius 2) is no affinity. ObjectCovariance has the "
    "variance 0 of component 0",
    [&](FilterType & filter) { filter.SetInput(gray); });

  using ScalarImageType = itk::Image<float, 2>;
  const auto scalars = ScalarImageType::New();
  scalars->SetRegions(image->GetLargestPossibleRegion());
  scalars->Allocate(true);
  const auto scalarFilter = itk::FuzzyConnectednessImageFilter<ScalarImageType>::New();
  scalarFilter->SetInput(scalars);
  scalarFilter->SetSeed({ { 1, 1 } });
  scalarFilter->SetObjectMeanVector(ToArray({ 1.0 }));
  EXPECT_NE(std::string::npos,
            GetErrorMessage(scalarFilter.GetPointer())
              .find("ObjectMeanVector has 1 elements, but the input is a scalar image: set means and variances."));

  using VectorImageType = itk::VectorImage<float, 2>;
  const auto vectors = VectorImageType::New();
  vectors->SetRegions(image->GetLargestPossibleRegion());
  vectors->SetNumberOfComponentsPerPixel(17);
  vectors->Allocate(true);
  const auto vectorFilter = itk::FuzzyConnectednessImageFilter<VectorImageType>::New();
  vectorFilter->SetInput(vectors);
  vectorFilter->SetSeed({ { 1, 1 } });
  EXPECT_NE(std::string::npos,
            GetErrorMessage(vectorFilter.GetPointer())
              .find("The pixels of the input have 17 components, but must have 1 to 16."));
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
  EXPECT_EQ("no error", GetErrorMessage(filter.GetPointer()));
  const auto relative = itk::RelativeFuzzyConnectednessImageFilter<VectorImageType>::New();
  relative->SetInput(vectors);
  relative->SetSeedImage(seeds);
  EXPECT_EQ("no error", GetErrorMessage(relative.GetPointer()));
  EXPECT_EQ(0u, relative->GetOutput()->GetBufferedRegion().GetNumberOfPixels());
}
