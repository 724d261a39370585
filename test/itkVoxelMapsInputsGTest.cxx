// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Inputs and parameters that are unusual or not valid, for all filters.

#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkImageAdaptor.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageSource.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
using FloatImageType = itk::Image<float, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using SizeType = ImageType::SizeType;
using IndexType = ImageType::IndexType;
using LevelImageType = itk::Image<unsigned short, 3>;
template <typename... TArguments>
using DiscretizationFilter = itk::GrayLevelDiscretizationImageFilter<TArguments...>;
using DiscretizationMethod = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Aggregation = itk::RunLengthFeatureMapEnums::Aggregation;
using AffinityFunction = itk::FuzzyConnectednessEnums::AffinityFunction;
using Adjacency = itk::FuzzyConnectednessEnums::Adjacency;
using Method = itk::FuzzyConnectednessEnums::Method;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::RandomNumbers;

const std::vector<DiscretizationMethod> allDiscretizationMethods{ DiscretizationMethod::FixedBinNumber,
                                                                  DiscretizationMethod::FixedBinSize,
                                                                  DiscretizationMethod::FixedBinSizeAtMultiples,
                                                                  DiscretizationMethod::Identity,
                                                                  DiscretizationMethod::Levels,
                                                                  DiscretizationMethod::Edges };
const std::vector<Method>               allMethods{ Method::Automatic, Method::Buckets, Method::Hierarchy };

/** A linear function of the pixels, whose parameters belong to the adaptor. */
struct LinearAccessor
{
  using InternalType = short;
  using ExternalType = float;

  ExternalType
  Get(const InternalType & value) const
  {
    return static_cast<float>(value) * factor + offset;
  }
  void
  Set(InternalType &, const ExternalType &) const
  {}

  float factor{ 1.0f };
  float offset{ 0.0f };
};

/** Whether pixels are above a threshold. */
struct ThresholdAccessor
{
  using InternalType = short;
  using ExternalType = bool;

  ExternalType
  Get(const InternalType & value) const
  {
    return value > threshold;
  }
  void
  Set(InternalType &, const ExternalType &) const
  {}

  short threshold{ 0 };
};

using LinearAdaptor = itk::ImageAdaptor<ImageType, LinearAccessor>;
using ThresholdAdaptor = itk::ImageAdaptor<ImageType, ThresholdAccessor>;

LinearAdaptor::Pointer
MakeLinear(ImageType * image, float factor, float offset)
{
  LinearAccessor accessor;
  accessor.factor = factor;
  accessor.offset = offset;
  const auto adaptor = LinearAdaptor::New();
  adaptor->SetImage(image);
  adaptor->SetPixelAccessor(accessor);
  return adaptor;
}

ThresholdAdaptor::Pointer
MakeThreshold(ImageType * image, short threshold)
{
  ThresholdAccessor accessor;
  accessor.threshold = threshold;
  const auto adaptor = ThresholdAdaptor::New();
  adaptor->SetImage(image);
  adaptor->SetPixelAccessor(accessor);
  return adaptor;
}

/** An image with the pixels of an adaptor. */
template <typename TImage, typename TAdaptor>
typename TImage::Pointer
MakeCopy(const TAdaptor * adaptor)
{
  const auto copy = TImage::New();
  copy->CopyInformation(adaptor);
  copy->SetRegions(adaptor->GetLargestPossibleRegion());
  copy->Allocate();
  itk::ImageRegionIteratorWithIndex<TImage> it(copy, copy->GetLargestPossibleRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<typename TImage::PixelType>(adaptor->GetPixel(it.GetIndex())));
  }
  return copy;
}

const SizeType  adaptedSize{ { 31, 23, 11 } };
const IndexType adaptedIndex{ { 5, -3, 70 } };

ImageType::Pointer
MakeNoise(std::uint64_t seed)
{
  RandomNumbers      random(seed);
  std::vector<short> pixels(adaptedSize[0] * adaptedSize[1] * adaptedSize[2]);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Between(-100, 100));
  }
  return MakeImage<ImageType>(adaptedSize, pixels, adaptedIndex);
}

/** A source of noise times a factor. */
class NoiseSource : public itk::ImageSource<ImageType>
{
public:
  using Self = NoiseSource;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);
  itkSetMacro(Factor, short);

protected:
  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(ImageType::RegionType(adaptedIndex, adaptedSize));
  }
  void
  GenerateData() override
  {
    const auto noise = MakeNoise(8);
    this->AllocateOutputs();
    itk::ImageRegionIteratorWithIndex<ImageType> it(this->GetOutput(), this->GetOutput()->GetBufferedRegion());
    for (; !it.IsAtEnd(); ++it)
    {
      it.Set(static_cast<short>(m_Factor * noise->GetPixel(it.GetIndex())));
    }
  }

private:
  short m_Factor{ 1 };
};

/** What a filter computes with inputs that prepare(filter, wrap) sets, as adaptors and as copies of them. */
template <typename TAdaptedFilter, typename TFilter, typename TPrepare>
void
ExpectAdaptorsAreAsCopies(const TPrepare & prepare)
{
  const auto adapted = VoxelMapsTest::NewFilter<TAdaptedFilter>();
  prepare(adapted.GetPointer(), [](auto image) { return image; });
  adapted->Update();
  const auto ordinary = VoxelMapsTest::NewFilter<TFilter>();
  prepare(ordinary.GetPointer(), [](auto adaptor) {
    using AdaptorType = typename decltype(adaptor)::ObjectType;
    return MakeCopy<itk::Image<typename AdaptorType::PixelType, 3>>(adaptor.GetPointer());
  });
  ordinary->Update();
  const auto expected = GetBuffer(ordinary->GetOutput());
  EXPECT_NE(*std::min_element(expected.begin(), expected.end()), *std::max_element(expected.begin(), expected.end()));
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(adapted->GetOutput())));
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

/** The estimate by its definition: voxel by voxel, with a mark for each. */
voxelmaps::AffinityEstimate
EstimateByDefinition(const voxelmaps::FuzzyConnectednessInput & input, bool isWeightedSum, std::int64_t radius)
{
  const auto &              size = input.size;
  const auto * const        image = static_cast<const float *>(input.image);
  std::vector<std::uint8_t> isUsed(static_cast<std::size_t>(input.GetNumberOfVoxels()), 0);
  for (const std::int64_t seed : input.seeds)
  {
    const std::int64_t at[3] = { seed % size[0], seed / size[0] % size[1], seed / size[0] / size[1] };
    std::int64_t       first[3];
    std::int64_t       last[3];
    for (int d = 0; d < 3; ++d)
    {
      first[d] = std::max<std::int64_t>(at[d] - radius, 0);
      last[d] = std::min(at[d] + radius, size[d] - 1);
    }
    for (std::int64_t z = first[2]; z <= last[2]; ++z)
    {
      for (std::int64_t y = first[1]; y <= last[1]; ++y)
      {
        for (std::int64_t x = first[0]; x <= last[0]; ++x)
        {
          const std::int64_t voxel = (z * size[1] + y) * size[0] + x;
          isUsed[voxel] = (input.mask == nullptr || input.mask[voxel] != 0) && std::isfinite(image[voxel]) ? 1 : 0;
        }
      }
    }
  }
  std::vector<double> intensities;
  std::vector<double> differences;
  for (std::int64_t voxel = 0; voxel < input.GetNumberOfVoxels(); ++voxel)
  {
    if (isUsed[voxel] == 0)
    {
      continue;
    }
    intensities.push_back(image[voxel]);
    const std::int64_t at[3] = { voxel % size[0], voxel / size[0] % size[1], voxel / size[0] / size[1] };
    const std::int64_t strides[3] = { 1, size[0], size[0] * size[1] };
    for (int d = 0; d < 3; ++d)
    {
      if (at[d] + 1 < size[d] && isUsed[voxel + strides[d]] != 0)
      {
        differences.push_back(
          std::abs(static_cast<double>(image[voxel]) - static_cast<double>(image[voxel + strides[d]])));
      }
    }
  }
  std::sort(differences.begin(), differences.end());
  differences.resize(differences.size() - differences.size() / 10);
  const auto getMean = [](const std::vector<double> & values) {
    double sum = 0.0;
    for (const double value : values)
    {
      sum += value;
    }
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
  };
  const auto getVariance = [](const std::vector<double> & values, double mean) {
    double sum = 0.0;
    for (const double value : values)
    {
      sum += (value - mean) * (value - mean);
    }
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
  };
  voxelmaps::AffinityEstimate estimate;
  estimate.numberOfVoxels = static_cast<std::int64_t>(intensities.size());
  estimate.mean = getMean(intensities);
  estimate.variance = getVariance(intensities, estimate.mean);
  const double mean = getMean(differences);
  const double variance = getVariance(differences, mean);
  estimate.differenceMean = isWeightedSum ? mean : 0.0;
  estimate.differenceVariance = isWeightedSum ? variance : 0.25 * (variance + mean * mean);
  return estimate;
}
} // namespace

TEST(AdaptorInputs, DiscretizationTakesImagesAndMasks)
{
  const auto image = MakeNoise(1);
  const auto other = MakeNoise(2);
  for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
  {
    ExpectAdaptorsAreAsCopies<DiscretizationFilter<LinearAdaptor, LevelImageType, ThresholdAdaptor>,
                              DiscretizationFilter<FloatImageType, LevelImageType, itk::Image<bool, 3>>>(
      [&](auto filter, auto wrap) {
        filter->SetInput(wrap(MakeLinear(image, -0.5f, 100.0f)));
        filter->SetMaskImage(wrap(MakeThreshold(other, -50)));
        filter->SetRangeSource(source);
        filter->SetNumberOfWorkUnits(3);
      });
  }
}

TEST(AdaptorInputs, RunLengthsTakeImagesMasksAndSelections)
{
  const auto image = MakeNoise(3);
  const auto other = MakeNoise(4);
  const auto third = MakeNoise(5);
  using Maps = itk::VectorImage<float, 3>;
  for (const RangeSource source : { RangeSource::Given, RangeSource::Mask })
  {
    ExpectAdaptorsAreAsCopies<itk::RunLengthFeatureMapImageFilter<LinearAdaptor, Maps, ThresholdAdaptor>,
                              itk::RunLengthFeatureMapImageFilter<FloatImageType, Maps, itk::Image<bool, 3>>>(
      [&](auto filter, auto wrap) {
        filter->SetInput(wrap(MakeLinear(image, 2.0f, -7.0f)));
        filter->SetMaskImage(wrap(MakeThreshold(other, -50)));
        filter->SetSelectionImage(wrap(MakeThreshold(third, 20)));
        filter->SetRangeSource(source);
        filter->SetNumberOfGrayLevels(7);
        filter->SetNeighborhoodRadius(1);
        filter->SetNumberOfWorkUnits(3);
        ImageType::RegionType part(IndexType{ { 8, 0, 73 } }, SizeType{ { 20, 10, 5 } });
        filter->GetOutput()->SetRequestedRegion(part);
      });
  }
}

TEST(AdaptorInputs, ConnectednessTakesImagesMasksAndSeeds)
{
  const auto image = MakeNoise(6);
  const auto other = MakeNoise(7);
  for (const Method method : allMethods)
  {
    ExpectAdaptorsAreAsCopies<itk::FuzzyConnectednessImageFilter<LinearAdaptor, FloatImageType, ThresholdAdaptor>,
                              itk::FuzzyConnectednessImageFilter<FloatImageType, FloatImageType, itk::Image<bool, 3>>>(
      [&](auto filter, auto wrap) {
        filter->SetInput(wrap(MakeLinear(image, 3.0f, 11.0f)));
        filter->SetMaskImage(wrap(MakeThreshold(other, -50)));
        filter->SetSeedImage(wrap(MakeThreshold(other, 99)));
        filter->EstimateAffinityFromSeedsOn();
        filter->SetMethod(method);
      });
  }
}

TEST(AdaptorInputs, PipelinesBehindAdaptorsAreUpdated)
{
  const auto upstream = NoiseSource::New();
  const auto adapted = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<LinearAdaptor>>();
  const auto linear = MakeLinear(upstream->GetOutput(), 0.5f, 1.0f);
  adapted->SetInput(linear);
  adapted->SetSeed({ { 9, 4, 75 } });
  adapted->SetObjectMean(120.0);
  adapted->SetObjectVariance(10000.0);
  adapted->SetDifferenceVariance(10000.0);
  for (const short factor : { 3, 2 })
  {
    upstream->SetFactor(factor);
    adapted->Update();
    const auto ordinary = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<FloatImageType>>();
    ordinary->SetInput(MakeCopy<FloatImageType>(linear.GetPointer()));
    ordinary->SetSeeds(adapted->GetSeeds());
    ordinary->SetObjectMean(120.0);
    ordinary->SetObjectVariance(10000.0);
    ordinary->SetDifferenceVariance(10000.0);
    ordinary->Update();
    EXPECT_TRUE(HasSameBits(GetBuffer(ordinary->GetOutput()), GetBuffer(adapted->GetOutput())));
  }
}

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
      for (const DiscretizationMethod method : allDiscretizationMethods)
      {
        for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
        {
          const auto discretization = DiscretizationFilter<ImageType>::New();
          discretization->SetInput(image);
          discretization->SetMaskImage(isMasked ? mask : nullptr);
          discretization->SetMethod(method);
          discretization->SetBinEdges({ 1.0, 2.0 });
          discretization->SetRangeSource(source);
          expectEmpty(discretization.GetPointer());
          const auto runLengths = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
          runLengths->SetInput(image);
          runLengths->SetMaskImage(isMasked ? mask : nullptr);
          runLengths->SetSelectionImage(isMasked ? nullptr : mask);
          runLengths->SetDiscretizationMethod(method);
          runLengths->SetBinEdges({ 1.0, 2.0 });
          runLengths->SetRangeSource(source);
          expectEmpty(runLengths.GetPointer());
        }
      }
      for (const Method method : allMethods)
      {
        for (const bool isEstimated : { false, true })
        {
          const auto connectedness = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
          connectedness->SetInput(image);
          connectedness->SetMaskImage(isMasked ? mask : nullptr);
          connectedness->SetSeedImage(mask);
          connectedness->SetMethod(method);
          connectedness->SetObjectMean(0.0);
          connectedness->SetEstimateAffinityFromSeeds(isEstimated);
          expectEmpty(connectedness.GetPointer());
        }
      }
    }
    // There is no voxel that a seed could have.
    const auto connectedness = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
    connectedness->SetInput(image);
    connectedness->SetSeed(region.GetIndex());
    connectedness->SetObjectMean(0.0);
    ExpectError([&] { connectedness->Update(); }, { "seed", "-2", "0" });
  }
}

TEST(JobsWithoutVoxels, AreNoWork)
{
  for (const Method method : allMethods)
  {
    voxelmaps::FuzzyConnectednessJob job;
    job.size = { { 4, 0, 4 } };
    job.method = method;
    job.pixelType = voxelmaps::FuzzyConnectednessJob::PixelType::Int16;
    EXPECT_NO_THROW(voxelmaps::ComputeFuzzyConnectedness(job));
  }
}

TEST(EnumeratorsThatDoNotExist, OfTheDiscretization)
{
  const auto filter = DiscretizationFilter<ImageType>::New();
  filter->SetInput(MakeNoise(1));
  filter->SetMethod(static_cast<DiscretizationMethod>(6));
  ExpectError([&] { filter->Update(); }, { "method", "6", "0", "5", "Edges" });
  filter->SetMethod(DiscretizationMethod::FixedBinNumber);
  filter->SetRangeSource(static_cast<RangeSource>(3));
  ExpectError([&] { filter->Update(); }, { "RangeSource", "3", "0", "2", "Mask" });
  filter->SetRangeSource(RangeSource::Image);
  EXPECT_NO_THROW(filter->Update());
}

TEST(EnumeratorsThatDoNotExist, OfRunLengths)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  filter->SetInput(MakeNoise(1));
  for (const unsigned int number : { 3u, 9u, 255u })
  {
    filter->SetAggregation(static_cast<Aggregation>(number));
    ExpectError([&] { filter->Update(); }, { "Aggregation", std::to_string(number), "0", "2", "Merge" });
  }
  filter->SetAggregation(Aggregation::Merge);
  filter->SetDiscretizationMethod(static_cast<DiscretizationMethod>(9));
  ExpectError([&] { filter->Update(); }, { "method", "9", "5" });
  filter->SetDiscretizationMethod(DiscretizationMethod::FixedBinSize);
  filter->SetRangeSource(static_cast<RangeSource>(9));
  ExpectError([&] { filter->Update(); }, { "RangeSource", "9", "2" });
  filter->SetRangeSource(RangeSource::Image);
  EXPECT_NO_THROW(filter->Update());
}

TEST(EnumeratorsThatDoNotExist, OfRunLengthJobs)
{
  voxelmaps::RunLengthJob job;
  job.numberOfGrayLevels = 2;
  job.offsets = { { { 1, 0, 0 } } };
  job.features = itk::RunLengthFeatureMapEnums::GetElevenFeatures();
  job.aggregation = static_cast<Aggregation>(9);
  EXPECT_THROW(voxelmaps::ComputeRunLengthFeatureMaps(job), voxelmaps::EngineError);
}

TEST(EnumeratorsThatDoNotExist, OfConnectedness)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  filter->SetInput(MakeNoise(1));
  filter->SetSeed(adaptedIndex);
  filter->SetObjectMean(0.0);
  filter->SetAffinityFunction(static_cast<AffinityFunction>(5));
  ExpectError([&] { filter->Update(); }, { "AffinityFunction", "5", "0", "4", "AbsoluteDifference" });
  filter->SetAffinityFunction(AffinityFunction::Minimum);
  filter->SetAdjacency(static_cast<Adjacency>(3));
  ExpectError([&] { filter->Update(); }, { "Adjacency", "3", "0", "2", "Full" });
  filter->SetAdjacency(Adjacency::Full);
  filter->SetMethod(static_cast<Method>(3));
  ExpectError([&] { filter->Update(); }, { "Method", "3", "0", "2", "Hierarchy" });
  filter->SetMethod(Method::Buckets);
  EXPECT_NO_THROW(filter->Update());
}

TEST(EnumeratorsThatDoNotExist, OfCudaMethods)
{
  // The same on machines without a device.
  const auto runLengths = itk::CudaRunLengthFeatureMapImageFilter<ImageType>::New();
  runLengths->SetInput(MakeNoise(1));
  runLengths->SetCudaMethod(static_cast<itk::RunLengthFeatureMapEnums::CudaMethod>(6));
  ExpectError([&] { runLengths->Update(); }, { "CudaMethod", "6", "0", "5", "SlidingWindow" });
  const auto cooccurrence = itk::CudaCooccurrenceFeatureMapImageFilter<ImageType>::New();
  cooccurrence->SetInput(MakeNoise(1));
  cooccurrence->SetCudaMethod(static_cast<itk::CooccurrenceFeatureMapEnums::CudaMethod>(9));
  ExpectError([&] { cooccurrence->Update(); }, { "CudaMethod", "9", "0" });
  const auto sizeZone = itk::CudaSizeZoneFeatureMapImageFilter<ImageType>::New();
  sizeZone->SetInput(MakeNoise(1));
  sizeZone->SetCudaMethod(static_cast<itk::SizeZoneFeatureMapEnums::CudaMethod>(2));
  ExpectError([&] { sizeZone->Update(); }, { "CudaMethod", "2", "0", "1", "BitPlanes" });
  const auto firstOrder = itk::CudaFirstOrderFeatureMapImageFilter<ImageType>::New();
  firstOrder->SetInput(MakeNoise(1));
  firstOrder->SetCudaMethod(static_cast<itk::FirstOrderFeatureMapEnums::CudaMethod>(9));
  ExpectError([&] { firstOrder->Update(); }, { "CudaMethod", "9", "0" });
  const auto grayToneDifference = itk::CudaGrayToneDifferenceFeatureMapImageFilter<ImageType>::New();
  grayToneDifference->SetInput(MakeNoise(1));
  grayToneDifference->SetCudaMethod(static_cast<itk::GrayToneDifferenceFeatureMapEnums::CudaMethod>(9));
  ExpectError([&] { grayToneDifference->Update(); }, { "CudaMethod", "9", "0" });
  const auto connectedness = itk::CudaFuzzyConnectednessImageFilter<ImageType>::New();
  connectedness->SetInput(MakeNoise(1));
  connectedness->SetSeed(adaptedIndex);
  connectedness->SetCudaMethod(static_cast<itk::FuzzyConnectednessEnums::CudaMethod>(3));
  ExpectError([&] { connectedness->Update(); }, { "CudaMethod", "3", "0", "2", "Hierarchy" });
}

TEST(ExtremeIntensities, HaveTheLevelsOfIntensitiesAPowerOfTwoBelow)
{
  using DoubleImage = itk::Image<double, 2>;
  constexpr int       exponent = 1022;
  RandomNumbers       random(9);
  std::vector<double> values{ -3.999999, 3.999999, 0.0, -0.0, 4.9e-324 };
  while (values.size() < 1000)
  {
    values.push_back(static_cast<double>(random.Between(-(std::int64_t{ 1 } << 52), std::int64_t{ 1 } << 52)) *
                     0x1p-50 * 0.99);
  }
  auto large = values;
  for (double & value : large)
  {
    value = std::ldexp(value, exponent);
    ASSERT_TRUE(std::isfinite(value));
  }
  using Levels = std::vector<unsigned short>;
  const auto getLevels = [](const std::vector<double> & pixels,
                            double                      scale,
                            DiscretizationMethod        method,
                            unsigned int                number,
                            RangeSource                 source) {
    const auto filter = DiscretizationFilter<DoubleImage>::New();
    filter->SetInput(MakeImage<DoubleImage>({ { 1000, 1 } }, pixels));
    filter->SetMethod(method);
    filter->SetNumberOfGrayLevels(number);
    filter->SetBinWidth(7.9 / number * scale);
    filter->SetRangeSource(source);
    filter->SetRangeMinimum(0.0);
    filter->SetRangeMaximum(3.99 * scale);
    filter->Update();
    return Levels(GetBuffer(filter->GetOutput()));
  };
  for (const DiscretizationMethod method : { DiscretizationMethod::FixedBinNumber,
                                             DiscretizationMethod::FixedBinSize,
                                             DiscretizationMethod::FixedBinSizeAtMultiples })
  {
    for (const unsigned int number : { 2u, 3u, 32u, 1000u, 60000u })
    {
      for (const RangeSource source : { RangeSource::Given, RangeSource::Image })
      {
        const Levels expected = getLevels(values, 1.0, method, number, source);
        EXPECT_GT(*std::max_element(expected.begin(), expected.end()), 1);
        EXPECT_EQ(expected, getLevels(large, std::ldexp(1.0, exponent), method, number, source))
          << method << " with " << number << " levels, " << source;
      }
    }
  }
}

TEST(ExtremeIntensities, AConstantImageIsOfLevelOneWithAnyBinWidth)
{
  using DoubleImage = itk::Image<double, 2>;
  const auto filter = DiscretizationFilter<DoubleImage>::New();
  filter->SetInput(MakeImage<DoubleImage>({ { 2, 1 } }, { 1e300, 1e300 }));
  filter->SetMethod(DiscretizationMethod::FixedBinSizeAtMultiples);
  filter->SetBinWidth(1e-10);
  filter->Update();
  EXPECT_EQ((std::vector<unsigned short>{ 1, 1 }), GetBuffer(filter->GetOutput()));
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
  const auto filter = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  filter->SetInput(image);
  filter->SetSeed(adaptedIndex);
  filter->SetObjectMean(0.0);
  EXPECT_NO_THROW(filter->Update());
  filter->DistanceWeightingOn();
  ExpectError([&] { filter->Update(); }, { "DistanceWeighting", "spacing", "~1e-160", "~1e-140" });
  spacing[1] = 1e-140;
  image->SetSpacing(spacing);
  EXPECT_NO_THROW(filter->Update());
}

TEST(ExtremeParameters, MeansAndVariancesWhoseCostsAreNotFiniteAreRefused)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  filter->SetInput(MakeNoise(1));
  filter->SetSeed(adaptedIndex);
  filter->SetObjectMean(-1.7e308);
  ExpectError([&] { filter->Update(); }, { "ObjectMean", "~-1.7e+308", "~8.9e+307" });
  filter->SetObjectMean(0.0);
  filter->SetDifferenceMean(1.7e308);
  ExpectError([&] { filter->Update(); }, { "DifferenceMean", "~1.7e+308", "~8.9e+307" });
  filter->SetDifferenceMean(0.0);
  filter->SetObjectVariance(1.7e308);
  ExpectError([&] { filter->Update(); }, { "ObjectVariance", "~1.7e+308", "~1e+307" });
  filter->SetObjectVariance(1.0);
  filter->SetDifferenceVariance(1e-305);
  ExpectError([&] { filter->Update(); }, { "DifferenceVariance", "~1e-305", "~1e-299" });
  filter->SetDifferenceVariance(1e-299);
  EXPECT_NO_THROW(filter->Update());

  // The same of an estimate.
  using DoubleImage = itk::Image<double, 2>;
  for (const double value : { 1e-160, 1e160 })
  {
    const auto estimating = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<DoubleImage>>();
    estimating->SetInput(MakeImage<DoubleImage>({ { 4, 1 } }, { 0.0, value, 3.0 * value, 2.0 * value }));
    estimating->SetSeed({ { 1, 0 } });
    estimating->EstimateAffinityFromSeedsOn();
    ExpectError([&] { estimating->Update(); }, { "variance", "EstimationRadius", "~1e-299" });
  }
}

TEST(ExtremeParameters, BackgroundsThatTheOutputCannotHoldAreRefused)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  filter->SetInput(MakeNoise(1));
  filter->SetBackgroundValue(-1e300);
  ExpectError([&] { filter->Update(); }, { "BackgroundValue", "~-1e+300", "~3.40282e+38" });
  const auto toDouble =
    VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType, itk::VectorImage<double, 3>>>();
  toDouble->SetInput(MakeNoise(1));
  toDouble->SetBackgroundValue(-1e300);
  EXPECT_NO_THROW(toDouble->Update());
}

TEST(ExtremeParameters, SettingNaNAgainIsNoChange)
{
  const auto filter = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  filter->SetBackgroundValue(std::nan(""));
  filter->SetBinWidth(std::nan(""));
  const auto time = filter->GetMTime();
  filter->SetBackgroundValue(std::nan(""));
  filter->SetBinWidth(std::nan(""));
  EXPECT_EQ(time, filter->GetMTime());
  filter->SetBinWidth(1.0);
  EXPECT_LT(time, filter->GetMTime());
}

TEST(ExtremeParameters, NoVoxelEqualsAnInsidePixelValueOfNaN)
{
  const auto image = MakeNoise(1);
  const auto mask = FloatImageType::New();
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate(true);
  const auto expectNaNIsRefused = [&](auto filter) {
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetInsidePixelValue(std::nanf(""));
    ExpectError([&] { filter->Update(); }, { "InsidePixelValue", "nan" });
    filter->SetInsidePixelValue(0.0f);
    EXPECT_NO_THROW(filter->Update());
  };
  expectNaNIsRefused(DiscretizationFilter<ImageType, LevelImageType, FloatImageType>::New());
  using Maps = itk::VectorImage<float, 3>;
  expectNaNIsRefused(VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType, Maps, FloatImageType>>());
  const auto connectedness =
    VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType, FloatImageType, FloatImageType>>();
  connectedness->SetSeed(adaptedIndex);
  connectedness->SetObjectMean(0.0);
  expectNaNIsRefused(connectedness);
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

  const auto runLengths = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  runLengths->SetInput(source->GetOutput());
  runLengths->SetRangeSource(RangeSource::Given);
  ExpectMemoryError(runLengths.GetPointer(),
                    { "Not enough memory", "[524288, 524288, 1024] voxels", "11 components", "12.4 PB" });

  const auto connectedness = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  connectedness->SetInput(source->GetOutput());
  connectedness->SetSeed({ { 0, 0, 0 } });
  connectedness->SetObjectMean(0.0);
  ExpectMemoryError(connectedness.GetPointer(), { "Not enough memory", "[524288, 524288, 1024] voxels", "1.13 PB" });
}

TEST(NotEnoughMemory, NumbersOfVoxelsMayOverflow)
{
  // 2^64 voxels, which is 0 as an integer.
  const auto source = SourceWithoutPixels::New();
  source->size = { { 1 << 22, 1 << 21, 1 << 21 } };
  const auto runLengths = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  runLengths->SetInput(source->GetOutput());
  ExpectMemoryError(runLengths.GetPointer(), { "Not enough memory", "812 EB" });
  const auto connectedness = VoxelMapsTest::NewFilter<itk::FuzzyConnectednessImageFilter<ImageType>>();
  connectedness->SetInput(source->GetOutput());
  connectedness->SetSeed({ { 0, 0, 0 } });
  connectedness->SetObjectMean(0.0);
  ExpectMemoryError(connectedness.GetPointer(), { "Not enough memory", "73.8 EB" });
}

namespace
{
/** Throws std::bad_alloc where the engine would be called. */
class FilterWithoutMemory : public itk::RunLengthFeatureMapImageFilter<ImageType>
{
public:
  using Self = FilterWithoutMemory;
  using Pointer = itk::SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeFeatureMaps(const voxelmaps::RunLengthJob &) override
  {
    throw std::bad_alloc();
  }
};
} // namespace

TEST(NotEnoughMemory, AlsoOfAnEngine)
{
  const auto filter = FilterWithoutMemory::New();
  filter->SetInput(MakeNoise(1));
  ExpectMemoryError(filter.GetPointer(), { "Not enough memory", "[31, 23, 11] voxels", "11 components", "345 kB" });
}

TEST(AffinityEstimate, IsThatOfTheDefinition)
{
  RandomNumbers random(10);
  for (int number = 0; number < 300; ++number)
  {
    voxelmaps::FuzzyConnectednessInput input;
    std::int64_t                       voxels = 1;
    for (int d = 0; d < 3; ++d)
    {
      input.size[d] = random.Chance(0.3) ? 1 : random.Between(1, 17);
      voxels *= input.size[d];
    }
    std::vector<float>        image(static_cast<std::size_t>(voxels));
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(voxels));
    const bool                isInteger = random.Chance(0.5);
    for (std::size_t i = 0; i < image.size(); ++i)
    {
      image[i] = static_cast<float>(random.Between(-100000, 100000)) * (isInteger ? 1.0f : 1.1e-3f);
      image[i] = random.Chance(0.02) ? std::numeric_limits<float>::quiet_NaN() : image[i];
      mask[i] = random.Chance(0.8) ? 1 : 0;
    }
    input.image = image.data();
    input.mask = random.Chance(0.5) ? mask.data() : nullptr;
    for (std::int64_t seed = random.Between(1, 40); seed > 0; --seed)
    {
      input.seeds.push_back(random.Below(voxels));
    }
    const auto radius = static_cast<unsigned int>(random.Chance(0.1) ? 4000000000u : random.Below(9));
    for (const bool isWeightedSum : { false, true })
    {
      const auto affinityFunction = isWeightedSum ? AffinityFunction::WeightedSum : AffinityFunction::GeometricMean;
      const auto expected = EstimateByDefinition(input, isWeightedSum, radius);
      const auto actual = voxelmaps::EstimateAffinity(input, { affinityFunction, radius }, {});
      EXPECT_EQ(expected.numberOfVoxels, actual.numberOfVoxels) << number;
      EXPECT_EQ(expected.mean, actual.mean) << number;
      EXPECT_EQ(expected.variance, actual.variance) << number;
      EXPECT_EQ(expected.differenceMean, actual.differenceMean) << number;
      EXPECT_EQ(expected.differenceVariance, actual.differenceVariance) << number;
    }
  }
}

TEST(AffinityEstimate, TakesStepsInProportionToVoxelsAndSeeds)
{
  struct Case
  {
    voxelmaps::Triple size;
    std::int64_t      seeds;
    unsigned int      radius;
  };
  for (const Case & each : { Case{ { { 1, 100000, 1 } }, 20000, 2000 },
                             Case{ { { 1, 1, 100000 } }, 20000, 2000 },
                             Case{ { { 4, 200, 200 } }, 500, 100 },
                             Case{ { { 64, 64, 64 } }, 100000, 20 } })
  {
    RandomNumbers                      random(11);
    voxelmaps::FuzzyConnectednessInput input;
    input.size = each.size;
    std::vector<short> image(static_cast<std::size_t>(input.GetNumberOfVoxels()));
    for (short & pixel : image)
    {
      pixel = static_cast<short>(random.Below(1000));
    }
    input.image = image.data();
    input.pixelType = voxelmaps::FuzzyConnectednessInput::PixelType::Int16;
    for (std::int64_t i = 0; i < each.seeds; ++i)
    {
      input.seeds.push_back(random.Below(input.GetNumberOfVoxels()));
    }
    // An abort is checked for once in 65536 steps.
    std::int64_t            checks = 0;
    voxelmaps::JobExecution execution;
    execution.reportProgress = [&checks](std::uint64_t) { ++checks; };
    voxelmaps::EstimateAffinity(input, { AffinityFunction::GeometricMean, each.radius }, execution);
    EXPECT_LT(checks * 65536, 32 * (input.GetNumberOfVoxels() + each.seeds)) << each.size[0] << ' ' << each.size[1];
    EXPECT_GT(checks, 0);
  }
}
