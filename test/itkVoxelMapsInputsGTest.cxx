// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Inputs and parameters that are unusual or not valid, for all filters.

#include "TestedFilters.h"
#include "ItkTestUtilities.h"
#include "PipelineTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkResponseMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkImageSource.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// So that allocations fail as they do without a sanitizer.
extern "C"
{
  const char *
  __asan_default_options()
  {
    return "allocator_may_return_null=1";
  }
  const char *
  __tsan_default_options()
  {
    return "allocator_may_return_null=1";
  }
}

namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using SizeType = ImageType::SizeType;
using IndexType = ImageType::IndexType;
template <typename... TArguments>
using DiscretizationFilter = itk::GrayLevelDiscretizationImageFilter<TArguments...>;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using AffinityFunction = itk::FuzzyConnectednessEnums::AffinityFunction;
using Adjacency = itk::FuzzyConnectednessEnums::Adjacency;
using namespace VoxelMapsTest;

const SizeType  noiseSize{ { 31, 23, 11 } };
const IndexType noiseIndex{ { 5, -3, 70 } };

ImageType::Pointer
MakeNoise(std::uint64_t seed)
{
  RandomNumbers      random(seed);
  std::vector<short> pixels(noiseSize[0] * noiseSize[1] * noiseSize[2]);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Between(-100, 100));
  }
  return MakeImage<ImageType>(noiseSize, pixels, noiseIndex);
}

/** A source of an image that is never allocated, however large. */
class SourceWithoutPixels : public itk::ImageSource<ImageType>
{
public:
  using Self = SourceWithoutPixels;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

  SizeType size;

protected:
  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(ImageType::RegionType(size));
  }
  void
  GenerateData() override
  {
    ImageType * const output = this->GetOutput();
    output->SetBufferedRegion(output->GetRequestedRegion());
    // A buffer that claims to have all pixels.
    static ImageType::PixelType pixel;
    output->GetPixelContainer()->SetImportPointer(&pixel, output->GetRequestedRegion().GetNumberOfPixels(), false);
  }
};

template <typename TFilter>
void
ExpectMemoryError(TFilter * filter, const std::vector<std::string> & words)
{
  try
  {
    filter->Update();
    ADD_FAILURE() << "no exception";
  }
  catch (const itk::MemoryAllocationError & error)
  {
    const std::string message = error.GetDescription();
    EXPECT_NE(std::string::npos, message.find(filter->GetNameOfClass())) << message;
    for (const std::string & word : words)
    {
      EXPECT_NE(std::string::npos, message.find(word)) << '"' << word << "\" is missing in: " << message;
    }
  }
}

} // namespace

// As itk::MedianImageFilter does: no exception, and an output of the same region.
TEST(ImagesWithoutVoxels, HaveOutputsWithoutVoxels)
{
  for (const SizeType & size : { SizeType{ { 0, 0, 0 } }, SizeType{ { 0, 4, 4 } }, SizeType{ { 4, 4, 0 } } })
  {
    SCOPED_TRACE(size);
    const ImageType::RegionType region(IndexType{ { 3, -2, 1 } }, size);
    const auto                  image = MakeImage<ImageType>(size, {}, region.GetIndex());
    const auto                  mask = MakeImage<MaskType>(size, {}, region.GetIndex());
    const auto                  expectEmpty = [&region](auto filter) {
      EXPECT_NO_THROW(filter->Update());
      EXPECT_EQ(region, filter->GetOutput()->GetLargestPossibleRegion());
      EXPECT_EQ(region, filter->GetOutput()->GetBufferedRegion());
    };
    for (const bool isMasked : { false, true })
    {
      const auto discretization = DiscretizationFilter<ImageType>::New();
      discretization->SetInput(image);
      discretization->SetMaskImage(isMasked ? mask : nullptr);
      expectEmpty(discretization.GetPointer());
      for (const std::string & method : GetConnectednessMethods())
      {
        for (const bool isEstimated : { false, true })
        {
          const auto connectedness = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
          connectedness->SetInput(image);
          connectedness->SetMaskImage(isMasked ? mask : nullptr);
          connectedness->SetSeedImage(mask);
          connectedness->SetMethod(method);
          connectedness->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
          connectedness->SetEstimateAffinityFromSeeds(isEstimated);
          expectEmpty(connectedness.GetPointer());
        }
      }
    }
    const auto response = NewFilter<itk::ResponseMapImageFilter<ImageType>>();
    response->SetInput(image);
    expectEmpty(response.GetPointer());
    // There is no voxel that a seed could have.
    const auto connectedness = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
    connectedness->SetInput(image);
    connectedness->SetSeed(region.GetIndex());
    connectedness->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
    ExpectError([&] { connectedness->Update(); }, { "seed", "-2", "0" });
  }
}

TEST(PixelsOfInputs, AreAskedFor)
{
  const auto                 image = MakeNoise(1);
  const SizeType             size = image->GetLargestPossibleRegion().GetSize();
  std::vector<unsigned char> values(image->GetLargestPossibleRegion().GetNumberOfPixels(), 1);
  values[7] = 0;
  const auto mask = MakeImage<MaskType>(size, values, noiseIndex);
  std::fill(values.begin(), values.end(), static_cast<unsigned char>(0));
  values[4000] = 1;
  values[5000] = 2;
  const auto seeds = MakeImage<MaskType>(size, values, noiseIndex);

  const auto discretization = NewFilter<DiscretizationFilter<ImageType>>();
  discretization->SetInput(image);
  discretization->SetMaskImage(mask);
  ExpectPixelsAreAskedFor(discretization, "Primary", image.GetPointer(), "the input");
  ExpectPixelsAreAskedFor(discretization, "MaskImage", mask.GetPointer(), "the mask");

  const auto response = NewFilter<itk::ResponseMapImageFilter<ImageType>>();
  response->SetInput(image);
  ExpectPixelsAreAskedFor(response, "Primary", image.GetPointer(), "the input");

  const auto expectOfConnectedness = [&](const auto & filter) {
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetSeedImage(seeds);
    filter->SetAffinity({ { 0.0 }, { 1000.0 }, {}, { 1000.0 } });
    for (const bool isCropped : { false, true })
    {
      filter->SetCropToSeeds(isCropped);
      filter->SetCropMargin(20.0);
      ExpectPixelsAreAskedFor(filter, "Primary", image.GetPointer(), "the input");
      ExpectPixelsAreAskedFor(filter, "MaskImage", mask.GetPointer(), "the mask");
      ExpectPixelsAreAskedFor(filter, "SeedImage", seeds.GetPointer(), "the seed image");
    }
  };
  expectOfConnectedness(NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>());
  expectOfConnectedness(NewFilter<itk::RelativeFuzzyConnectednessImageFilter<ImageType>>());
  // Pixels of components.
  using VectorType = itk::VectorImage<float, 3>;
  const auto vectors = VectorType::New();
  vectors->SetRegions(image->GetLargestPossibleRegion());
  vectors->SetNumberOfComponentsPerPixel(2);
  vectors->Allocate();
  for (std::size_t i = 0; i < 2 * values.size(); ++i)
  {
    vectors->GetBufferPointer()[i] = image->GetBufferPointer()[i / 2] * (i % 2 == 0 ? 1.0f : 0.5f);
  }
  const auto filter = NewFilter<itk::FuzzyConnectednessImageFilter<VectorType>>();
  filter->SetInput(vectors);
  filter->SetSeedImage(seeds);
  filter->SetAffinityFunction(AffinityFunction::AbsoluteDifference);
  const auto expected = Compute(filter);
  vectors->ReleaseData();
  filter->Modified();
  ExpectError([&] { filter->Update(); }, { filter->GetNameOfClass(), "the input has no pixels" });
}

TEST(EnumeratorsThatDoNotExist, OfConnectedness)
{
  const auto filter = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  filter->SetInput(MakeNoise(1));
  filter->SetSeed(noiseIndex);
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  filter->SetAffinityFunction(static_cast<AffinityFunction>(5));
  ExpectError([&] { filter->Update(); }, { "AffinityFunction", "5", "0", "4", "AbsoluteDifference" });
  filter->SetAffinityFunction(AffinityFunction::Minimum);
  filter->SetAdjacency(static_cast<Adjacency>(3));
  ExpectError([&] { filter->Update(); }, { "Adjacency", "3", "0", "2", "Full" });
  filter->SetAdjacency(Adjacency::Full);
  filter->SetMethod("Tiles");
  ExpectError([&] { filter->Update(); }, { "method", "Tiles", "does not exist", GetConnectednessMethods().back() });
  filter->SetMethod("Hierarchy");
  EXPECT_NO_THROW(filter->Update());
}

TEST(ExtremeParameters, SpacingsWhoseSquaresDoNotFitAreRefused)
{
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double spacing : { 1e-160, 1e-300, 5e-324, 1e160, 1e300, std::nan(""), infinity })
  {
    for (const AffinityFunction affinityFunction : { AffinityFunction::GeometricMean, AffinityFunction::WeightedSum })
    {
      voxelmaps::FuzzyConnectednessJob job;
      std::vector<float>               image(8, 1.0f);
      std::vector<float>               output(8);
      job.image = image.data();
      job.size = { { 2, 2, 2 } };
      job.seeds = { 0 };
      job.spacing = { { 1.0, spacing, 1.0 } };
      job.affinityFunction = affinityFunction;
      job.affinity = { { 0.0 }, { 1.0 }, {}, { 1.0 } };
      job.output = output.data();
      EXPECT_NO_THROW(voxelmaps::ComputeFuzzyConnectedness(job)) << "without weighting, it is of no matter";
      job.distanceWeighting = true;
      EXPECT_THROW(voxelmaps::ComputeFuzzyConnectedness(job), voxelmaps::EngineError) << spacing;
    }
  }
  const auto             image = MakeNoise(1);
  ImageType::SpacingType spacing(1.0);
  spacing[1] = 1e-160;
  image->SetSpacing(spacing);
  const auto filter = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  filter->SetInput(image);
  filter->SetSeed(noiseIndex);
  filter->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  EXPECT_NO_THROW(filter->Update());
  filter->DistanceWeightingOn();
  ExpectError([&] { filter->Update(); }, { "DistanceWeighting", "spacing", "~1e-160", "~1e-140" });
  spacing[1] = 1e-140;
  image->SetSpacing(spacing);
  EXPECT_NO_THROW(filter->Update());
}

TEST(ExtremeParameters, VariancesOfEstimatesWhoseCostsAreNotFiniteAreRefused)
{
  using DoubleImage = itk::Image<double, 2>;
  for (const double value : { 1e-160, 1e160 })
  {
    const auto estimating = NewFilter<itk::FuzzyConnectednessImageFilter<DoubleImage>>();
    estimating->SetInput(MakeImage<DoubleImage>({ { 4, 1 } }, { 0.0, value, 3.0 * value, 2.0 * value }));
    estimating->SetSeed({ { 1, 0 } });
    estimating->EstimateAffinityFromSeedsOn();
    ExpectError([&] { estimating->Update(); }, { "variance", "EstimationRadius", "~1e-299" });
  }
}

TEST(NotEnoughMemory, TheMessageSaysForWhat)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the operator new of a sanitizer ends the program where there is not enough memory";
#endif
  const auto source = SourceWithoutPixels::New();
  source->size = { { 1 << 19, 1 << 19, 1 << 10 } };

  const auto discretization = DiscretizationFilter<ImageType>::New();
  discretization->SetInput(source->GetOutput());
  discretization->SetRangeSource(RangeSource::Given);
  ExpectMemoryError(discretization.GetPointer(), { "Not enough memory", "[524288, 524288, 1024] voxels", "563 TB" });

  const auto runLengths = NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  runLengths->SetInput(source->GetOutput());
  runLengths->SetRangeSource(RangeSource::Given);
  ExpectMemoryError(runLengths.GetPointer(),
                    { "Not enough memory", "[524288, 524288, 1024] voxels", "11 components", "12.4 PB" });

  const auto response = NewFilter<itk::ResponseMapImageFilter<ImageType>>();
  response->SetInput(source->GetOutput());
  ExpectMemoryError(response.GetPointer(), { "Not enough memory", "[524288, 524288, 1024] voxels", "1.13 PB" });

  const auto connectedness = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  connectedness->SetInput(source->GetOutput());
  connectedness->SetSeed({ { 0, 0, 0 } });
  connectedness->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  ExpectMemoryError(connectedness.GetPointer(), { "Not enough memory", "[524288, 524288, 1024] voxels", "1.13 PB" });
}

TEST(NotEnoughMemory, NumbersOfVoxelsMayOverflow)
{
  // 2^64 voxels, which is 0 as an integer.
  const auto source = SourceWithoutPixels::New();
  source->size = { { 1 << 22, 1 << 21, 1 << 21 } };
  const auto runLengths = NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  runLengths->SetInput(source->GetOutput());
  ExpectMemoryError(runLengths.GetPointer(), { "Not enough memory", "812 EB" });
  const auto connectedness = NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  connectedness->SetInput(source->GetOutput());
  connectedness->SetSeed({ { 0, 0, 0 } });
  connectedness->SetAffinity({ { 0.0 }, { 1.0 }, {}, { 1.0 } });
  ExpectMemoryError(connectedness.GetPointer(), { "Not enough memory", "73.8 EB" });
}
