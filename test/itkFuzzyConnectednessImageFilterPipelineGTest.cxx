// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRandomCase.h"
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using FilterType = itk::FuzzyConnectednessImageFilter<ImageType>;
using OutputType = FilterType::OutputImageType;
using RegionType = ImageType::RegionType;
using AffinityFunction = FilterType::AffinityFunctionEnum;
using Adjacency = FilterType::AdjacencyEnum;
using Method = FilterType::MethodEnum;
using PixelType = voxelmaps::FuzzyConnectednessJob::PixelType;
using VoxelMapsTest::Compute;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::maxSecondsToAbort;
using VoxelMapsTest::Observe;
using VoxelMapsTest::RandomNumbers;

const std::vector<Method> allMethods{ Method::Automatic, Method::Buckets, Method::Hierarchy };

/** A noisy image of more than one tile, a mask with holes, and seeds. */
struct Scene
{
  explicit Scene(const ImageType::IndexType & start = ImageType::IndexType{ {} })
  {
    RandomNumbers              random(7);
    const ImageType::SizeType  size{ { 37, 33, 19 } };
    const std::size_t          count = size[0] * size[1] * size[2];
    std::vector<short>         pixels(count);
    std::vector<unsigned char> inside(count);
    std::vector<unsigned char> isSeed(count, 0);
    for (std::size_t i = 0; i < count; ++i)
    {
      pixels[i] = static_cast<short>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(-200, 1000));
      inside[i] = random.Chance(0.9) ? 1 : 0;
    }
    seeds = { { { start[0] + 4, start[1] + 5, start[2] + 6 } }, { { start[0] + 30, start[1] + 20, start[2] } } };
    image = MakeImage<ImageType>(size, pixels, start);
    mask = MakeImage<MaskType>(size, inside, start);
    seedImage = MakeImage<MaskType>(size, isSeed, start);
    for (const ImageType::IndexType & seed : seeds)
    {
      mask->SetPixel(seed, 1);
      seedImage->SetPixel(seed, 3);
    }
  }

  FilterType::Pointer
  MakeFilter() const
  {
    auto filter = VoxelMapsTest::NewFilter<FilterType>();
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetSeeds(seeds);
    filter->SetObjectMean(400.0);
    filter->SetObjectVariance(40000.0);
    filter->SetDifferenceMean(100.0);
    filter->SetDifferenceVariance(10000.0);
    return filter;
  }

  ImageType::Pointer    image;
  MaskType::Pointer     mask;
  MaskType::Pointer     seedImage;
  FilterType::SeedsType seeds;
};

/** Compare the filter with the oracle, including start indices, spacing, masks and seed images. */
template <typename TPixel, unsigned int VDimension, typename TStrength>
void
CheckRandomCases(PixelType type, std::uint64_t firstSeed)
{
  using InputType = itk::Image<TPixel, VDimension>;
  using StrengthType = itk::Image<TStrength, VDimension>;
  using InsideType = itk::Image<short, VDimension>;
  using TestedFilter = itk::FuzzyConnectednessImageFilter<InputType, StrengthType, InsideType>;
  for (std::uint64_t seed = firstSeed; seed < firstSeed + 24; ++seed)
  {
    RandomNumbers random(seed);
    const auto    randomCase = DrawFuzzyConnectednessRandomCase(seed, VDimension, type, random);
    const auto &  scene = randomCase.scene;
    SCOPED_TRACE(::testing::Message() << randomCase);

    typename InputType::IndexType start;
    typename InputType::SizeType  size;
    double                        spacing[VDimension];
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      start[d] = random.Between(-100, 100);
      size[d] = static_cast<itk::SizeValueType>(scene.size[d]);
      spacing[d] = scene.spacing[d];
    }
    std::vector<TPixel> pixels(scene.intensities.size());
    std::memcpy(pixels.data(), randomCase.pixels.data(), randomCase.pixels.size());
    const auto filter = VoxelMapsTest::NewFilter<TestedFilter>();
    const auto image = MakeImage<InputType>(size, pixels, start);
    image->SetSpacing(spacing);
    filter->SetInput(image);
    if (!scene.mask.empty())
    {
      std::vector<short> inside;
      for (const std::uint8_t voxel : scene.mask)
      {
        // Only InsidePixelValue is inside.
        inside.push_back(voxel != 0 ? -5 : static_cast<short>(random.Between(-4, 1)));
      }
      const auto mask = MakeImage<InsideType>(size, inside, start);
      mask->SetSpacing(spacing);
      filter->SetMaskImage(mask);
      filter->SetInsidePixelValue(-5);
    }
    std::vector<short> isSeed(pixels.size(), 0);
    bool               usesSeedImage = false;
    for (const std::int64_t voxel : scene.seeds)
    {
      if (random.Chance(0.2))
      {
        isSeed[static_cast<std::size_t>(voxel)] = static_cast<short>(random.OneOf<int>({ -1, 1, 999 }));
        usesSeedImage = true;
      }
      else
      {
        filter->AddSeed(image->ComputeIndex(voxel));
      }
    }
    if (usesSeedImage)
    {
      const auto seedImage = MakeImage<InsideType>(size, isSeed, start);
      seedImage->SetSpacing(spacing);
      filter->SetSeedImage(seedImage);
    }
    filter->SetAffinityFunction(scene.affinityFunction);
    filter->SetObjectMean(scene.objectMean);
    filter->SetObjectVariance(scene.objectVariance);
    filter->SetDifferenceMean(scene.differenceMean);
    filter->SetDifferenceVariance(scene.differenceVariance);
    filter->SetWeight(scene.weight);
    filter->SetAdjacency(scene.adjacency);
    filter->SetDistanceWeighting(scene.distanceWeighting);

    auto       keys = FuzzyConnectednessOracle::ComputeKeys(scene);
    const auto job = MakeFuzzyConnectednessJob(randomCase);
    if (random.Chance(0.5))
    {
      const double minimumStrength = random.OneOf(ConvertToStrengths<double>(job, keys));
      filter->SetMinimumStrength(minimumStrength);
      keys = ClearWeakKeys(job, keys, minimumStrength);
    }
    const auto expected = ConvertToStrengths<TStrength>(job, keys);
    for (const Method method : allMethods)
    {
      filter->SetMethod(method);
      filter->SetNumberOfWorkUnits(random.OneOf<unsigned int>({ 1, 2, 8 }));
      VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->Update());
      const auto actual = GetBuffer(filter->GetOutput());
      ASSERT_TRUE(HasSameBits(expected, actual)) << "method " << method;
    }
    // Within one unit in the last place of float, or two of double, of the exact strength of the key.
    for (std::size_t voxel = 0; voxel < keys.size(); ++voxel)
    {
      const auto nearest = static_cast<TStrength>(FuzzyConnectednessOracle::KeyStrength(scene, keys[voxel]));
      const auto units = std::is_same<TStrength, float>::value ? 1 : 2;
      TStrength  min = nearest;
      TStrength  max = nearest;
      for (int i = 0; i < units; ++i)
      {
        min = std::nextafter(min, TStrength{ 0 });
        max = std::nextafter(max, TStrength{ 2 });
      }
      ASSERT_TRUE(expected[voxel] >= min && expected[voxel] <= max) << "voxel " << voxel;
    }
  }
}

/** An image for which every CPU method needs more than a second. */
ImageType::Pointer
MakeLargeImage()
{
  return VoxelMapsTest::MakeLargeImage(10);
}

FilterType::Pointer
MakeLargeFilter(ImageType * image, Method method)
{
  auto filter = VoxelMapsTest::NewFilter<FilterType>();
  filter->SetInput(image);
  filter->SetSeed({ { 128, 128, 128 } });
  filter->SetObjectMean(512.0);
  filter->SetObjectVariance(1e5);
  filter->SetDifferenceVariance(1e4);
  filter->SetAdjacency(Adjacency::Full);
  filter->SetMethod(method);
  return filter;
}

} // namespace

TEST(FuzzyConnectednessPipeline, WorkUnitsDoNotChangeBits)
{
  const Scene scene;
  for (const Method method : allMethods)
  {
    VoxelMapsTest::ExpectWorkUnitsDoNotChangeBits([&scene, method] {
      auto filter = scene.MakeFilter();
      filter->SetMethod(method);
      return filter;
    });
  }
}

TEST(FuzzyConnectednessPipeline, ARequestedRegionGivesTheWholeOutput)
{
  const Scene scene(ImageType::IndexType{ { 100, -200, 7 } });
  const auto  expected = Compute(scene.MakeFilter());
  const auto  filter = scene.MakeFilter();
  filter->SetSeedImage(scene.seedImage);
  filter->GetOutput()->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion(RegionType({ { 105, -195, 8 } }, { { 3, 2, 1 } }));
  filter->GetOutput()->PropagateRequestedRegion();
  const RegionType largest = scene.image->GetLargestPossibleRegion();
  EXPECT_EQ(largest, scene.image->GetRequestedRegion());
  EXPECT_EQ(largest, scene.mask->GetRequestedRegion());
  EXPECT_EQ(largest, scene.seedImage->GetRequestedRegion());
  filter->GetOutput()->UpdateOutputData();
  EXPECT_EQ(largest, filter->GetOutput()->GetBufferedRegion());
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput())));
}

TEST(FuzzyConnectednessPipeline, StreamingDownstreamComputesOnce)
{
  const Scene  scene(ImageType::IndexType{ { -3, 5, 40 } });
  const auto   expected = Compute(scene.MakeFilter());
  const auto   filter = scene.MakeFilter();
  unsigned int runs = 0;
  Observe<itk::EndEvent>(filter, [&runs] { ++runs; });
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(4);
  streamer->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
  EXPECT_EQ(1u, runs);
}

TEST(FuzzyConnectednessPipeline, GeometryIsKeptAndDoesNotChangeBits)
{
  const Scene plain;
  const auto  expected = Compute(plain.MakeFilter());

  const Scene placed(ImageType::IndexType{ { -70, 3, 1000000 } });
  VoxelMapsTest::Place(placed.image.GetPointer(), placed.mask.GetPointer());

  const auto filter = placed.MakeFilter();
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  VoxelMapsTest::ExpectGeometry(filter.GetPointer(), placed.image.GetPointer());
  for (const ImageType::IndexType & seed : placed.seeds)
  {
    EXPECT_EQ(1.0f, filter->GetOutput()->GetPixel(seed));
  }
  // The spacing only matters with DistanceWeighting.
  filter->DistanceWeightingOn();
  EXPECT_FALSE(HasSameBits(expected, Compute(filter)));
}

TEST(FuzzyConnectednessPipeline, DoubleAndFloatAreTheSameStrengths)
{
  using DoubleFilter = itk::FuzzyConnectednessImageFilter<ImageType, itk::Image<double, 3>>;
  const Scene scene;
  const auto  floats = Compute(scene.MakeFilter());
  const auto  filter = VoxelMapsTest::NewFilter<DoubleFilter>();
  filter->SetInput(scene.image);
  filter->SetMaskImage(scene.mask);
  filter->SetSeeds(scene.seeds);
  filter->SetObjectMean(400.0);
  filter->SetObjectVariance(40000.0);
  filter->SetDifferenceVariance(10000.0);
  for (const Method method : allMethods)
  {
    filter->SetMethod(method);
    filter->Update();
    const auto doubles = GetBuffer(filter->GetOutput());
    EXPECT_TRUE(HasSameBits(floats, std::vector<float>(doubles.begin(), doubles.end())));
    EXPECT_FALSE(std::equal(floats.begin(), floats.end(), doubles.begin())) << "doubles have more digits";
  }
}

TEST(FuzzyConnectednessPipeline, InputsAreNotChanged)
{
  const Scene scene;
  const auto  pixels = GetBuffer(scene.image.GetPointer());
  const auto  inside = GetBuffer(scene.mask.GetPointer());
  const auto  isSeed = GetBuffer(scene.seedImage.GetPointer());
  const auto  imageTime = scene.image->GetMTime();
  for (const Method method : allMethods)
  {
    const auto filter = scene.MakeFilter();
    filter->SetSeedImage(scene.seedImage);
    filter->SetMethod(method);
    filter->Update();
    EXPECT_EQ(pixels, GetBuffer(scene.image.GetPointer()));
    EXPECT_EQ(inside, GetBuffer(scene.mask.GetPointer()));
    EXPECT_EQ(isSeed, GetBuffer(scene.seedImage.GetPointer()));
    EXPECT_EQ(imageTime, scene.image->GetMTime());
  }
}

TEST(FuzzyConnectednessPipeline, ComputesAgainOnlyAfterAChange)
{
  const Scene                                     scene;
  VoxelMapsTest::ChangeChecker<FilterType, Scene> checker(scene);
  // Every parameter must change the result, and to that of a fresh filter.
  const std::vector<std::function<void(FilterType *)>> changes{
    [](FilterType * f) { f->SetObjectMean(300.0); },
    [](FilterType * f) { f->SetObjectVariance(20000.0); },
    [](FilterType * f) { f->SetDifferenceVariance(15000.0); },
    [](FilterType * f) { f->SetAdjacency(Adjacency::FaceEdge); },
    [](FilterType * f) { f->SetAdjacency(Adjacency::Full); },
    [](FilterType * f) { f->DistanceWeightingOn(); },
    [](FilterType * f) { f->SetAffinityFunction(AffinityFunction::Minimum); },
    [](FilterType * f) { f->SetAffinityFunction(AffinityFunction::Homogeneity); },
    [](FilterType * f) { f->SetAffinityFunction(AffinityFunction::WeightedSum); },
    [](FilterType * f) { f->SetWeight(0.75); },
    [](FilterType * f) { f->SetDifferenceMean(50.0); },
    [](FilterType * f) { f->SetMinimumStrength(0.5); },
    [](FilterType * f) { f->EstimateAffinityFromSeedsOn(); },
    [](FilterType * f) { f->SetEstimationRadius(3); },
    [&scene](FilterType * f) { f->SetSeed(scene.seeds[0]); },
    [](FilterType * f) { f->AddSeed({ { 9, 9, 9 } }); },
    [&scene](FilterType * f) { f->SetSeedImage(scene.seedImage); },
    [](FilterType * f) { f->SetMaskImage(nullptr); },
  };
  scene.mask->SetPixel({ { 9, 9, 9 } }, 1);
  const auto previous = checker.ExpectNewResults(changes);
  // The method does not change the result.
  EXPECT_TRUE(HasSameBits(previous, checker.ComputeAfter([](FilterType * f) { f->SetMethod(Method::Buckets); })));
  // New pixels give new results.
  scene.image->FillBuffer(3);
  scene.image->Modified();
  EXPECT_FALSE(HasSameBits(previous, checker.ComputeAfter([](FilterType * f) { f->EstimateAffinityFromSeedsOff(); })));
}

TEST(FuzzyConnectednessPipeline, ProgressGrowsFrom0To1)
{
  const Scene scene;
  for (const Method method : allMethods)
  {
    for (const unsigned int workUnits : { 1u, 2u, 8u })
    {
      const auto filter = scene.MakeFilter();
      filter->SetMethod(method);
      filter->SetNumberOfWorkUnits(workUnits);
      VoxelMapsTest::ExpectProgressGrowsTo1(filter, [](float first) { EXPECT_EQ(0.0f, first); });
    }
  }
}

TEST(FuzzyConnectednessPipeline, ProgressIsReportedOnTheWay)
{
  if (VoxelMapsTest::IsCudaTest())
  {
    GTEST_SKIP() << "CUDA finishes this image without intermediate reports";
  }
  const auto image = VoxelMapsTest::MakeImageForProgress({ { 120, 110, 60 } });
  for (const Method method : allMethods)
  {
    const auto filter = VoxelMapsTest::NewFilter<FilterType>();
    filter->SetInput(image);
    filter->SetSeed({ { 60, 55, 30 } });
    filter->SetObjectVariance(90000.0);
    filter->SetDifferenceVariance(10000.0);
    filter->SetMethod(method);
    filter->SetNumberOfWorkUnits(2);
    SCOPED_TRACE(method);
    VoxelMapsTest::ExpectProgressOnTheWay(filter);
  }
}

TEST(FuzzyConnectednessPipeline, AbortFromAnObserver)
{
  const auto image = MakeLargeImage();
  for (const Method method : { Method::Buckets, Method::Hierarchy })
  {
    // With CUDA, there are few progress events between start and end.
    for (const float progress : { 0.0f, VoxelMapsTest::IsCudaTest() ? 0.0f : 0.05f })
    {
      SCOPED_TRACE(::testing::Message() << method << " at progress " << progress);
      const auto filter = MakeLargeFilter(image, method);
      // Of many threads, the one that reports the progress may get nothing to do before the others have finished.
      filter->SetNumberOfWorkUnits(2);
      EXPECT_LT(VoxelMapsTest::AbortFromAnObserver(filter, progress).elapsed, maxSecondsToAbort);
    }
  }
}

TEST(FuzzyConnectednessPipeline, AbortFromAnotherThread)
{
  const auto image = MakeLargeImage();
  const auto mask = MaskType::New();
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate();
  mask->FillBuffer(1);
  const auto seedImage = MaskType::New();
  seedImage->SetRegions(image->GetLargestPossibleRegion());
  seedImage->Allocate(true);
  seedImage->SetPixel({ { 255, 255, 255 } }, 1);
  for (const Method method : { Method::Buckets, Method::Hierarchy })
  {
    // CUDA may have finished after 20 ms.
    for (const int milliseconds : { VoxelMapsTest::IsCudaTest() ? 4 : 50, VoxelMapsTest::IsCudaTest() ? 8 : 400 })
    {
      SCOPED_TRACE(::testing::Message() << method << " after " << milliseconds << " ms");
      const auto filter = MakeLargeFilter(image, method);
      filter->SetMaskImage(mask);
      filter->SetSeedImage(seedImage);
      EXPECT_LT(VoxelMapsTest::AbortFromAnotherThread(filter, milliseconds).elapsed, maxSecondsToAbort);
    }
  }
}

TEST(FuzzyConnectednessPipeline, WorksAgainAfterAnAbort)
{
  const Scene scene;
  for (const Method method : allMethods)
  {
    const auto expected = Compute(scene.MakeFilter());
    const auto filter = scene.MakeFilter();
    filter->SetMethod(method);
    bool abort = true;
    VoxelMapsTest::ExpectWorksAgainAfterAborts(filter.GetPointer(), expected, abort);
  }
}

TEST(FuzzyConnectednessPipeline, ExceptionsOfObserversPassUnchanged)
{
  const Scene scene;
  const auto  expected = Compute(scene.MakeFilter());
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(method);
    const auto filter = scene.MakeFilter();
    filter->SetMethod(method);
    filter->SetNumberOfWorkUnits(1);
    FilterType * const  observed = filter;
    const unsigned long tag = Observe<itk::ProgressEvent>(filter, [observed] {
      if (observed->GetProgress() > 0.0f)
      {
        throw std::runtime_error("from an observer");
      }
    });
    try
    {
      filter->Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const std::runtime_error & error)
    {
      EXPECT_STREQ("from an observer", error.what());
    }
    // The engine was at work; CUDA may report the first voxels together with the last.
    EXPECT_LT(filter->GetProgress(), VoxelMapsTest::IsCudaTest() ? 1.1f : 1.0f);
    filter->RemoveObserver(tag);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  }
}

TEST(FuzzyConnectednessPipeline, TwoFiltersMayRunAtTheSameTime)
{
  VoxelMapsTest::ExpectSameBitsAtTheSameTime(
    Scene(), static_cast<unsigned int>(allMethods.size()), [](const FilterType::Pointer & filter, unsigned int number) {
      filter->SetMethod(allMethods[number]);
    });
}
