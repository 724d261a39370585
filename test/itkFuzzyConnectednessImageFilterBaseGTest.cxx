// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "PipelineTestUtilities.h"
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkRegionOfInterestImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// CropToSeeds of both filters, against filters of an image that itk::RegionOfInterestImageFilter has cropped.
namespace
{
using namespace VoxelMapsTest;
using Affinity = itk::FuzzyConnectednessEnums::AffinityFunction;
using Adjacency = itk::FuzzyConnectednessEnums::Adjacency;
using Enums = itk::RelativeFuzzyConnectednessEnums;
using ImageType = itk::Image<short, 3>;
using LabelType = itk::Image<unsigned char, 3>;
using IndexType = ImageType::IndexType;
using RegionType = ImageType::RegionType;
using OneObject = itk::FuzzyConnectednessImageFilter<ImageType>;
using SeveralLabels = itk::RelativeFuzzyConnectednessImageFilter<ImageType>;

const double infinity = std::numeric_limits<double>::infinity();

/** Everything that filters are set to. */
struct Scene
{
  ImageType::Pointer                               image;
  LabelType::Pointer                               mask;      // or null
  LabelType::Pointer                               seedImage; // or null
  std::vector<std::pair<IndexType, unsigned char>> seeds;
  Adjacency                                        adjacency{ Adjacency::Face };
  bool                                             isEstimated{ false };
  bool                                             isWeighted{ false };
  Enums::Competition                               competition{ Enums::Competition::Relative };
  Enums::TieRule                                   tieRule{ Enums::TieRule::Background };

  template <typename TFilter>
  void
  Apply(TFilter * filter) const
  {
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetSeedImage(seedImage);
    filter->SetAffinity({ { 100.0 }, { 2000.0 }, {}, { 500.0 } });
    filter->SetAdjacency(adjacency);
    filter->SetEstimateAffinityFromSeeds(isEstimated);
    filter->SetDistanceWeighting(isWeighted);
    filter->ClearSeeds();
    for (const auto & seed : seeds)
    {
      if constexpr (std::is_same<TFilter, OneObject>::value)
      {
        filter->AddSeed(seed.first);
      }
      else
      {
        filter->AddSeed(seed.first, seed.second);
      }
    }
    if constexpr (!std::is_same<TFilter, OneObject>::value)
    {
      filter->SetAffinityFunction(itk::FuzzyConnectednessEnums::AffinityFunction::GeometricMean);
      filter->SetCompetition(competition);
      filter->SetTieRule(tieRule);
      filter->GenerateStrengthImageOn();
      filter->GenerateMarginImageOn();
    }
  }

  /** The indices of all seeds. */
  std::vector<IndexType>
  GetAllSeeds() const
  {
    std::vector<IndexType> all;
    for (const auto & seed : seeds)
    {
      all.push_back(seed.first);
    }
    if (seedImage != nullptr)
    {
      itk::ImageRegionIteratorWithIndex<LabelType> it(seedImage, seedImage->GetLargestPossibleRegion());
      for (; !it.IsAtEnd(); ++it)
      {
        if (it.Get() != 0)
        {
          all.push_back(it.GetIndex());
        }
      }
    }
    return all;
  }

  /** The box of all seeds with so many voxels around it, voxel by voxel. */
  RegionType
  GetBox(const std::vector<std::int64_t> & margins) const
  {
    const RegionType whole = image->GetLargestPossibleRegion();
    RegionType       box = whole;
    for (unsigned int d = 0; d < 3; ++d)
    {
      std::vector<itk::IndexValueType> inBox;
      for (itk::IndexValueType i = whole.GetIndex(d); i < whole.GetUpperIndex()[d] + 1; ++i)
      {
        bool hasBefore = false;
        bool hasAfter = false;
        for (const IndexType & seed : this->GetAllSeeds())
        {
          hasBefore = hasBefore || seed[d] - margins[d] <= i;
          hasAfter = hasAfter || seed[d] + margins[d] >= i;
        }
        if (hasBefore && hasAfter)
        {
          inBox.push_back(i);
        }
      }
      box.SetIndex(d, inBox.front());
      box.SetSize(d, inBox.size());
    }
    return box;
  }

  /** The scene with everything cropped to a box, as images that begin at index 0. */
  Scene
  CropTo(const RegionType & box) const
  {
    Scene      cropped = *this;
    const auto crop = [&box](auto & image) {
      using Type = typename std::remove_reference_t<decltype(image)>::ObjectType;
      if (image != nullptr)
      {
        const auto filter = itk::RegionOfInterestImageFilter<Type, Type>::New();
        filter->SetInput(image);
        filter->SetRegionOfInterest(box);
        filter->Update();
        image = filter->GetOutput();
      }
    };
    crop(cropped.image);
    crop(cropped.mask);
    crop(cropped.seedImage);
    for (auto & seed : cropped.seeds)
    {
      for (unsigned int d = 0; d < 3; ++d)
      {
        seed.first[d] -= box.GetIndex(d);
      }
    }
    return cropped;
  }
};

const ImageType::SizeType sceneSize{ { 19, 14, 9 } };
const IndexType           sceneStart{ { -6, 40, 3 } };

IndexType
RandomIndex(RandomNumbers & random)
{
  IndexType index;
  for (unsigned int d = 0; d < 3; ++d)
  {
    index[d] = sceneStart[d] + random.Below(static_cast<std::int64_t>(sceneSize[d]));
  }
  return index;
}

Scene
MakeScene(RandomNumbers & random)
{
  const std::size_t  count = sceneSize[0] * sceneSize[1] * sceneSize[2];
  std::vector<short> pixels(count);
  // Few levels have many ties.
  const std::int64_t step = random.Chance(0.5) ? 1 : 40;
  std::generate(pixels.begin(), pixels.end(), [&] { return static_cast<short>(random.Below(200 / step) * step); });
  Scene scene;
  scene.image = MakeImage<ImageType>(sceneSize, pixels, sceneStart);
  Place(scene.image.GetPointer());
  const auto makeLabels = [&scene](unsigned char value) {
    const auto labels = LabelType::New();
    labels->CopyInformation(scene.image);
    labels->SetRegions(scene.image->GetLargestPossibleRegion());
    labels->Allocate();
    labels->FillBuffer(value);
    return labels;
  };
  const bool hasSeedImage = random.Chance(0.5);
  if (hasSeedImage)
  {
    scene.seedImage = makeLabels(0);
    for (std::int64_t i = random.Between(1, 5); i > 0; --i)
    {
      scene.seedImage->SetPixel(RandomIndex(random), static_cast<unsigned char>(random.Between(1, 4)));
    }
  }
  for (std::int64_t i = random.Between(hasSeedImage ? 0 : 1, 4); i > 0; --i)
  {
    const IndexType index = RandomIndex(random);
    const auto      all = scene.GetAllSeeds();
    if (std::find(all.begin(), all.end(), index) == all.end())
    {
      scene.seeds.emplace_back(index, static_cast<unsigned char>(random.Between(1, 4)));
    }
  }
  if (random.Chance(0.5))
  {
    scene.mask = makeLabels(1);
    for (int i = 0; i < 300; ++i)
    {
      scene.mask->SetPixel(RandomIndex(random), 0);
    }
    for (const IndexType & seed : scene.GetAllSeeds())
    {
      scene.mask->SetPixel(seed, 1);
    }
  }
  scene.adjacency = random.OneOf<Adjacency>({ Adjacency::Face, Adjacency::FaceEdge, Adjacency::Full });
  scene.isEstimated = random.Chance(0.3);
  scene.isWeighted = random.Chance(0.3);
  scene.competition = random.OneOf<Enums::Competition>({ Enums::Competition::Relative, Enums::Competition::Iterative });
  scene.tieRule =
    random.OneOf<Enums::TieRule>({ Enums::TieRule::Background, Enums::TieRule::LowestLabel, Enums::TieRule::Distance });
  return scene;
}

/** Expect that an output has the pixels of another one in a box, and zeros outside. */
template <typename TImage>
void
ExpectPixelsInBox(const TImage * inBox, const RegionType & box, const TImage * whole)
{
  EXPECT_EQ(GetBuffer(inBox), GetBuffer(whole, box));
  itk::ImageRegionConstIteratorWithIndex<TImage> it(whole, whole->GetLargestPossibleRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    if (!box.IsInside(it.GetIndex()))
    {
      ASSERT_EQ(0, it.Get()) << it.GetIndex();
    }
  }
}

template <typename TFilter>
void
ExpectAsCropped(TFilter * filter, const Scene & scene, const RegionType & box)
{
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
  EXPECT_EQ(box, filter->GetUsedCropRegion());
  ExpectGeometry(filter, scene.image.GetPointer());
  const auto cropped = TFilter::New();
  scene.CropTo(box).Apply(cropped.GetPointer());
  VOXELMAPS_ASSERT_NO_ITK_ERROR(cropped->Update());
  ExpectPixelsInBox(cropped->GetOutput(), box, filter->GetOutput());
  EXPECT_EQ(cropped->GetUsedAffinity(), filter->GetUsedAffinity());
  if constexpr (std::is_same<TFilter, SeveralLabels>::value)
  {
    ExpectPixelsInBox(cropped->GetStrengthImage(), box, filter->GetStrengthImage());
    ExpectPixelsInBox(cropped->GetMarginImage(), box, filter->GetMarginImage());
  }
}

/** A scene of one seed at this place. */
Scene
MakeOneSeedScene(const IndexType & seed)
{
  RandomNumbers random(5);
  Scene         scene = MakeScene(random);
  scene.mask = nullptr;
  scene.seedImage = nullptr;
  scene.seeds = { { seed, static_cast<unsigned char>(2) } };
  scene.isEstimated = false;
  return scene;
}
} // namespace

TEST(FuzzyConnectednessImageFilterBase, CropToSeedsIsTheResultOfTheCroppedImage)
{
  int croppedCases = 0;
  for (std::uint64_t number = 0; number < 200 && !HasFailure(); ++number)
  {
    SCOPED_TRACE(number);
    RandomNumbers             random(7000 + number);
    const Scene               scene = MakeScene(random);
    std::vector<std::int64_t> margins;
    std::vector<double>       given;
    const bool                inMillimeters = random.Chance(0.5);
    for (unsigned int d = 0; d < 3; ++d)
    {
      margins.push_back(random.Below(5));
      // Anything above the number of voxels before is rounded up.
      const double voxels =
        static_cast<double>(margins.back()) - (margins.back() > 0 && random.Chance(0.5) ? 0.9 : 0.0);
      given.push_back(inMillimeters ? voxels * scene.image->GetSpacing()[d] : voxels);
    }
    const auto prepare = [&](auto * filter) {
      scene.Apply(filter);
      filter->CropToSeedsOn();
      filter->SetCropMargin(itk::FixedArray<double, 3>(given.data()));
      filter->SetCropMarginInMillimeters(inMillimeters);
      filter->SetNumberOfWorkUnits(static_cast<unsigned int>(random.Between(1, 5)));
    };
    const RegionType box = scene.GetBox(margins);
    croppedCases += box != scene.image->GetLargestPossibleRegion() ? 1 : 0;
    const auto oneObject = OneObject::New();
    prepare(oneObject.GetPointer());
    oneObject->SetMethod(random.OneOf<std::string>({ "", "Hierarchy" }));
    ExpectAsCropped(oneObject.GetPointer(), scene, box);
    const auto severalLabels = SeveralLabels::New();
    prepare(severalLabels.GetPointer());
    ExpectAsCropped(severalLabels.GetPointer(), scene, box);
  }
  EXPECT_GT(croppedCases, 150);
}

TEST(FuzzyConnectednessImageFilterBase, MarginsAreInVoxelsOrMillimeters)
{
  // Spacing 0.9375, 0.9375 and 3.3.
  const Scene scene = MakeOneSeedScene({ { 3, 46, 7 } });
  const auto  filter = OneObject::New();
  scene.Apply(filter.GetPointer());
  const auto expectBox = [&](const std::vector<std::int64_t> & margins) {
    ExpectAsCropped(filter.GetPointer(), scene, scene.GetBox(margins));
  };
  filter->Update();
  EXPECT_EQ(scene.image->GetLargestPossibleRegion(), filter->GetUsedCropRegion());
  filter->CropToSeedsOn();
  expectBox({ 10, 10, 10 });
  filter->SetCropMargin(0.0);
  expectBox({ 0, 0, 0 });
  EXPECT_EQ(1u, filter->GetUsedCropRegion().GetNumberOfPixels());
  filter->SetCropMargin(2.0);
  expectBox({ 2, 2, 2 });
  filter->SetCropMargin(1.001);
  expectBox({ 2, 2, 2 });
  filter->CropMarginInMillimetersOn();
  expectBox({ 2, 2, 1 });
  filter->SetCropMargin(3.3);
  expectBox({ 4, 4, 1 });
  filter->SetCropMargin(3.4);
  expectBox({ 4, 4, 2 });
  for (const double huge : { 1e18, 1e300, infinity })
  {
    filter->SetCropMargin(huge);
    expectBox({ 100, 100, 100 });
    EXPECT_EQ(scene.image->GetLargestPossibleRegion(), filter->GetUsedCropRegion());
  }
  const double perAxis[3] = { 0.0, infinity, 0.2 };
  filter->SetCropMargin(itk::FixedArray<double, 3>(perAxis));
  expectBox({ 0, 100, 1 });

  // 11 voxels, although the quotient is a little more than 11.
  const Scene atCorner = MakeOneSeedScene(sceneStart);
  atCorner.image->SetSpacing(itk::Vector<double, 3>(0.7));
  const auto fine = OneObject::New();
  atCorner.Apply(fine.GetPointer());
  fine->CropToSeedsOn();
  fine->CropMarginInMillimetersOn();
  fine->SetCropMargin(7.7);
  ExpectAsCropped(fine.GetPointer(), atCorner, atCorner.GetBox({ 11, 11, 11 }));
  EXPECT_EQ(12u, fine->GetUsedCropRegion().GetSize(0));
}

TEST(FuzzyConnectednessImageFilterBase, ChangesOfTheCropComputeAgain)
{
  const Scene  scene = MakeOneSeedScene({ { 3, 46, 7 } });
  const auto   filter = OneObject::New();
  unsigned int runs = 0;
  scene.Apply(filter.GetPointer());
  Observe<itk::StartEvent>(filter, [&runs] { ++runs; });
  filter->Update();
  filter->CropToSeedsOn();
  filter->Update();
  EXPECT_EQ(2u, runs);
  filter->SetCropMargin(4.0);
  filter->Update();
  EXPECT_EQ(3u, runs);
  filter->SetCropMargin(4.0);
  filter->Update();
  EXPECT_EQ(3u, runs);
  filter->CropMarginInMillimetersOn();
  filter->Update();
  EXPECT_EQ(4u, runs);
  std::ostringstream text;
  filter->Print(text);
  for (const char * word :
       { "CropToSeeds: On", "CropMargin: [4, 4, 4]", "CropMarginInMillimeters: On", "UsedCropRegion" })
  {
    EXPECT_NE(std::string::npos, text.str().find(word)) << word;
  }
}

TEST(FuzzyConnectednessImageFilterBase, CropErrorsNameTheValue)
{
  const Scene scene = MakeOneSeedScene({ { 3, 46, 7 } });
  const auto  filter = SeveralLabels::New();
  scene.Apply(filter.GetPointer());
  const double negative[3] = { 1.0, -0.5, 2.0 };
  filter->SetCropMargin(itk::FixedArray<double, 3>(negative));
  ExpectError([&] { filter->Update(); }, { "CropMargin", "~-0.5", "1", "0" });
  filter->SetCropMargin(std::nan(""));
  ExpectError([&] { filter->Update(); }, { "CropMargin", "nan", "0" });
  filter->SetCropMargin(1.0);
  filter->CropToSeedsOn();
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
  // A seed image without seeds, with and without other seeds.
  Scene empty = scene;
  empty.seedImage = LabelType::New();
  empty.seedImage->SetRegions(scene.image->GetLargestPossibleRegion());
  empty.seedImage->Allocate(true);
  empty.seedImage->CopyInformation(scene.image);
  empty.Apply(filter.GetPointer());
  ExpectError([&] { filter->Update(); }, { "seed", "image", "0", "2394" });
  filter->ClearSeeds();
  ExpectError([&] { filter->Update(); }, { "seed", "image", "0", "2394" });
  // Seeds outside the mask, and of two labels: their indices are those of the image.
  empty.seedImage = nullptr;
  empty.mask = LabelType::New();
  empty.mask->SetRegions(scene.image->GetLargestPossibleRegion());
  empty.mask->Allocate(true);
  empty.mask->CopyInformation(scene.image);
  empty.mask->SetPixel({ { 4, 46, 7 } }, 1);
  empty.Apply(filter.GetPointer());
  ExpectError([&] { filter->Update(); }, { "[3,", "46", "7]", "outside", "mask" });
  filter->SetMaskImage(nullptr);
  filter->AddSeed({ { 3, 46, 7 } }, 9);
  ExpectError([&] { filter->Update(); }, { "[3,", "46", "7]", "labels", "2", "9" });
}

TEST(FuzzyConnectednessImageFilterBase, CropToSeedsIn2DAndOfNothing)
{
  using FlatType = itk::Image<float, 2>;
  const auto flat = itk::RelativeFuzzyConnectednessImageFilter<FlatType>::New();
  flat->SetInput(MakeImage<FlatType>({ { 4, 2 } }, { 0.0f, 1.0f, 4.0f, 6.0f, 0.0f, 1.0f, 4.0f, 6.0f }));
  flat->AddSeed({ { 0, 0 } }, 5);
  flat->AddSeed({ { 2, 0 } }, 2);
  flat->SetAffinityFunction(Affinity::Homogeneity);
  flat->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  flat->CropToSeedsOn();
  flat->SetCropMargin(0.0);
  flat->Update();
  EXPECT_EQ((std::vector<unsigned char>{ 5, 5, 2, 0, 0, 0, 0, 0 }), GetBuffer(flat->GetOutput()));
  const double onlyY[2] = { 0.0, 1.0 };
  flat->SetCropMargin(itk::FixedArray<double, 2>(onlyY));
  flat->Update();
  EXPECT_EQ((std::vector<unsigned char>{ 5, 5, 2, 0, 5, 5, 2, 0 }), GetBuffer(flat->GetOutput()));

  const auto nothing = itk::FuzzyConnectednessImageFilter<FlatType>::New();
  const auto seeds = itk::Image<unsigned char, 2>::New();
  seeds->SetRegions(FlatType::SizeType{ { 0, 3 } });
  seeds->Allocate();
  nothing->SetInput(MakeImage<FlatType>({ { 0, 3 } }, {}));
  nothing->SetSeedImage(seeds);
  nothing->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  nothing->CropToSeedsOn();
  nothing->Update();
  EXPECT_EQ(0u, nothing->GetOutput()->GetBufferedRegion().GetNumberOfPixels());
}
