/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "VoxelMapsTestUtilities.h"

#include "itkCastImageFilter.h"
#include "itkCommand.h"
#include "itkPlatformMultiThreader.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using FilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;
using OutputType = FilterType::OutputImageType;
using RegionType = ImageType::RegionType;
using Enums = itk::RunLengthFeatureMapEnums;
using Aggregation = Enums::Aggregation;
using Feature = Enums::Feature;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Clock = std::chrono::steady_clock;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::RandomNumbers;

/** A noisy image with flat parts, and a mask with holes. */
struct Scene
{
  explicit Scene(const ImageType::IndexType & start = ImageType::IndexType{ {} })
  {
    RandomNumbers              random(7);
    const ImageType::SizeType  size{ { 37, 23, 11 } };
    const std::size_t          count = size[0] * size[1] * size[2];
    std::vector<short>         pixels(count);
    std::vector<unsigned char> inside(count);
    for (std::size_t i = 0; i < count; ++i)
    {
      pixels[i] = static_cast<short>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(-200, 1000));
      inside[i] = random.Chance(0.9) ? 1 : 0;
    }
    image = MakeImage<ImageType>(size, pixels, start);
    mask = MakeImage<MaskType>(size, inside, start);
  }

  FilterType::Pointer
  MakeFilter(RangeSource source = RangeSource::Given, bool useMask = true) const
  {
    auto filter = FilterType::New();
    filter->SetInput(image);
    if (useMask)
    {
      filter->SetMaskImage(mask);
    }
    filter->SetRangeSource(source);
    filter->SetRangeMinimum(-150.0);
    filter->SetRangeMaximum(900.0);
    filter->SetFeatures(Enums::GetAllFeatures());
    filter->SetWindowSize({ { 5, 4, 3 } });
    filter->SetWindowAnchor({ { 1, 3, 0 } });
    return filter;
  }

  ImageType::Pointer image;
  MaskType::Pointer  mask;
};

std::vector<float>
Compute(const FilterType::Pointer & filter)
{
  filter->Update();
  return GetBuffer(filter->GetOutput());
}

/** The region that the features of a region are made of: padded by the window of Scene, cropped to the image. */
RegionType
PadByTheWindow(const RegionType & region, const RegionType & largest)
{
  RegionType padded;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    constexpr itk::IndexValueType before[3] = { 1, 3, 0 };
    constexpr itk::IndexValueType after[3] = { 3, 0, 2 };
    const auto                    begin = std::max(region.GetIndex(axis) - before[axis], largest.GetIndex(axis));
    const auto end = std::min(region.GetUpperIndex()[axis] + after[axis], largest.GetUpperIndex()[axis]);
    padded.SetIndex(axis, begin);
    padded.SetSize(axis, static_cast<itk::SizeValueType>(end - begin + 1));
  }
  return padded;
}

/** Call a function at events of an object. */
template <typename TEvent>
void
Observe(itk::Object * object, std::function<void()> reaction)
{
  object->AddObserver(TEvent(), [reaction](const itk::EventObject &) { reaction(); });
}

/** An image of 256^3 voxels that the filter needs seconds for. */
ImageType::Pointer
MakeLargeImage()
{
  auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType::Filled(256));
  image->Allocate();
  std::uint32_t state = 12345;
  short * const pixels = image->GetBufferPointer();
  for (std::size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    state = state * 1664525u + 1013904223u;
    pixels[i] = static_cast<short>(state >> 24);
  }
  return image;
}

/** Sets the flag that aborts a filter, and notes when. */
class AbortFlag
{
public:
  void
  Set(FilterType * filter)
  {
    m_Time = Clock::now();
    m_ProcessorTime = std::clock();
    m_IsSet = true;
    filter->SetAbortGenerateData(true);
  }
  bool
  IsSet() const
  {
    return m_IsSet;
  }

  /** Seconds since the flag. Where other programs keep the processors busy, at most the time that this program's work
   * would have taken without them. */
  double
  SecondsSince() const
  {
    const double processorTime = static_cast<double>(std::clock() - m_ProcessorTime) / CLOCKS_PER_SEC;
    return std::min(std::chrono::duration<double>(Clock::now() - m_Time).count(),
                    processorTime / std::max(1u, std::thread::hardware_concurrency()));
  }

private:
  std::atomic<bool> m_IsSet{ false };
  Clock::time_point m_Time;
  std::clock_t      m_ProcessorTime{ 0 };
};

/** Run a filter that is going to be aborted; the seconds from the flag to the exception. */
double
SecondsToAbort(FilterType * filter, const AbortFlag & flag)
{
  try
  {
    filter->Update();
  }
  catch (const itk::ProcessAborted &)
  {
    EXPECT_TRUE(flag.IsSet());
    return flag.SecondsSince();
  }
  ADD_FAILURE() << "no itk::ProcessAborted";
  return 0.0;
}

constexpr double mostSecondsToAbort = 0.2;
} // namespace

TEST(RunLengthPipeline, WorkUnitsDoNotChangeBits)
{
  const Scene scene;
  const auto  single = scene.MakeFilter();
  single->SetNumberOfWorkUnits(1);
  const auto expected = Compute(single);
  for (const unsigned int number : { 1u, 2u, 8u, 100u })
  {
    const auto filter = scene.MakeFilter();
    filter->SetNumberOfWorkUnits(number);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter))) << number << " work units";

    const auto threaded = scene.MakeFilter();
    const auto threader = itk::PlatformMultiThreader::New();
    threader->SetMaximumNumberOfThreads(number);
    threader->SetNumberOfWorkUnits(number);
    threaded->SetMultiThreader(threader);
    EXPECT_TRUE(HasSameBits(expected, Compute(threaded))) << number << " threads";

    const auto bounded = scene.MakeFilter();
    bounded->GetMultiThreader()->SetMaximumNumberOfThreads(number);
    EXPECT_TRUE(HasSameBits(expected, Compute(bounded))) << number << " threads at most";
    // The filter leaves the threader as it found it.
    EXPECT_EQ(bounded->GetNumberOfWorkUnits(), bounded->GetMultiThreader()->GetNumberOfWorkUnits());
  }
}

TEST(RunLengthPipeline, StreamDivisionsDoNotChangeBits)
{
  const Scene scene(ImageType::IndexType{ { -3, 5, 40 } });
  for (const Aggregation aggregation : { Aggregation::PerDirection, Aggregation::Average, Aggregation::Merge })
  {
    for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
    {
      const auto whole = scene.MakeFilter(source);
      whole->SetAggregation(aggregation);
      const auto expected = Compute(whole);
      for (const unsigned int divisions : { 1u, 2u, 7u })
      {
        const auto filter = scene.MakeFilter(source);
        filter->SetAggregation(aggregation);
        const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
        streamer->SetInput(filter->GetOutput());
        streamer->SetNumberOfStreamDivisions(divisions);
        streamer->Update();
        EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput()))) << divisions << " divisions";
        if (divisions > 1)
        {
          EXPECT_LT(filter->GetOutput()->GetBufferedRegion().GetNumberOfPixels() * 2,
                    scene.image->GetBufferedRegion().GetNumberOfPixels() * 3 / 2);
        }
      }
    }
  }
}

TEST(RunLengthPipeline, StreamsThroughAnUpstreamFilter)
{
  const Scene scene(ImageType::IndexType{ { 100, -200, 7 } });
  const auto  expected = Compute(scene.MakeFilter());

  using CastType = itk::CastImageFilter<ImageType, ImageType>;
  using CastMaskType = itk::CastImageFilter<MaskType, MaskType>;
  const auto cast = CastType::New();
  cast->SetInput(scene.image);
  cast->InPlaceOff();
  const auto castMask = CastMaskType::New();
  castMask->SetInput(scene.mask);
  castMask->InPlaceOff();
  const auto filter = scene.MakeFilter();
  filter->SetInput(cast->GetOutput());
  filter->SetMaskImage(castMask->GetOutput());
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(4);

  unsigned int runs = 0;
  Observe<itk::EndEvent>(filter, [&] {
    ++runs;
    const RegionType padded =
      PadByTheWindow(filter->GetOutput()->GetBufferedRegion(), scene.image->GetLargestPossibleRegion());
    EXPECT_TRUE(cast->GetOutput()->GetBufferedRegion().IsInside(padded));
    EXPECT_TRUE(castMask->GetOutput()->GetBufferedRegion().IsInside(padded));
    // 3 slices and 2 more behind them: no more than that is ever asked for.
    EXPECT_LE(cast->GetOutput()->GetBufferedRegion().GetSize(2), 5u);
    EXPECT_LE(castMask->GetOutput()->GetBufferedRegion().GetSize(2), 5u);
  });
  streamer->Update();
  EXPECT_EQ(4u, runs);
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
}

TEST(RunLengthPipeline, OddRegionsDoNotChangeBits)
{
  const ImageType::IndexType start{ { -11, 1000, 3 } };
  const Scene                scene(start);
  const auto                 whole = scene.MakeFilter();
  whole->Update();
  const std::vector<RegionType> regions{
    { { { 0, 0, 0 } }, { { 1, 1, 1 } } },    { { { 36, 22, 10 } }, { { 1, 1, 1 } } },
    { { { 3, 5, 2 } }, { { 7, 1, 9 } } },    { { { 1, 0, 10 } }, { { 35, 23, 1 } } },
    { { { 20, 0, 0 } }, { { 1, 23, 11 } } }, { { { 5, 4, 3 } }, { { 17, 13, 5 } } }
  };
  const auto reused = scene.MakeFilter();
  for (RegionType region : regions)
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      region.SetIndex(axis, region.GetIndex(axis) + start[axis]);
    }
    SCOPED_TRACE(::testing::Message() << region);
    for (const auto & filter : { scene.MakeFilter(), reused })
    {
      filter->GetOutput()->SetRequestedRegion(region);
      filter->GetOutput()->Update();
      ASSERT_EQ(region, filter->GetOutput()->GetBufferedRegion());
      EXPECT_TRUE(HasSameBits(GetBuffer(whole->GetOutput(), region), GetBuffer(filter->GetOutput())));
      const RegionType padded = PadByTheWindow(region, scene.image->GetLargestPossibleRegion());
      EXPECT_EQ(padded, scene.image->GetRequestedRegion());
      EXPECT_EQ(padded, scene.mask->GetRequestedRegion());
    }
  }
}

TEST(RunLengthPipeline, OnlyAnAutomaticRangeAsksForTheWholeInput)
{
  const Scene      scene;
  const RegionType region({ { 10, 10, 5 } }, { { 2, 3, 1 } });
  const RegionType padded = PadByTheWindow(region, scene.image->GetLargestPossibleRegion());
  ASSERT_NE(padded, scene.image->GetLargestPossibleRegion());
  const auto request = [&](const FilterType::Pointer & filter) {
    filter->GetOutput()->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(region);
    filter->GetOutput()->PropagateRequestedRegion();
    EXPECT_EQ(scene.image->GetRequestedRegion(), scene.mask->GetRequestedRegion());
    return scene.image->GetRequestedRegion();
  };
  EXPECT_EQ(padded, request(scene.MakeFilter(RangeSource::Given)));
  EXPECT_EQ(scene.image->GetLargestPossibleRegion(), request(scene.MakeFilter(RangeSource::Image)));
  EXPECT_EQ(scene.image->GetLargestPossibleRegion(), request(scene.MakeFilter(RangeSource::Mask)));
  const auto identity = scene.MakeFilter(RangeSource::Mask);
  identity->SetDiscretizationMethod(Method::Identity);
  EXPECT_EQ(padded, request(identity));
}

TEST(RunLengthPipeline, GeometryIsKeptAndDoesNotChangeBits)
{
  const Scene plain;
  const auto  expected = Compute(plain.MakeFilter(RangeSource::Mask));

  const ImageType::IndexType start{ { -70, 3, 1000000 } };
  const Scene                placed(start);
  const double               origin[3] = { 12.5, -100.0, 3e4 };
  const double               spacing[3] = { 0.9375, 0.9375, 3.3 };
  ImageType::DirectionType   direction;
  const double               c = std::cos(0.4);
  const double               s = std::sin(0.4);
  direction(0, 0) = c;
  direction(0, 1) = -s;
  direction(1, 0) = s;
  direction(1, 1) = c;
  direction(2, 2) = -1.0;
  const auto place = [&](auto * image) {
    image->SetOrigin(origin);
    image->SetSpacing(spacing);
    image->SetDirection(direction);
  };
  place(placed.image.GetPointer());
  place(placed.mask.GetPointer());

  const auto filter = placed.MakeFilter(RangeSource::Mask);
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  EXPECT_EQ(placed.image->GetLargestPossibleRegion(), filter->GetOutput()->GetLargestPossibleRegion());
  EXPECT_EQ(placed.image->GetLargestPossibleRegion(), filter->GetOutput()->GetBufferedRegion());
  EXPECT_EQ(placed.image->GetOrigin(), filter->GetOutput()->GetOrigin());
  EXPECT_EQ(placed.image->GetSpacing(), filter->GetOutput()->GetSpacing());
  EXPECT_EQ(placed.image->GetDirection(), filter->GetOutput()->GetDirection());
}

TEST(RunLengthPipeline, AMaskOfAnotherDirectionIsRefused)
{
  const Scene              scene;
  ImageType::DirectionType direction;
  direction.SetIdentity();
  direction(2, 2) = -1.0;
  scene.mask->SetDirection(direction);
  EXPECT_THROW(scene.MakeFilter()->Update(), itk::ExceptionObject);
}

TEST(RunLengthPipeline, InputsAreNotChanged)
{
  const Scene scene;
  const auto  pixels = GetBuffer(scene.image.GetPointer());
  const auto  inside = GetBuffer(scene.mask.GetPointer());
  const auto  imageTime = scene.image->GetMTime();
  for (const RangeSource source : { RangeSource::Given, RangeSource::Mask })
  {
    scene.MakeFilter(source)->Update();
    EXPECT_EQ(scene.image->GetLargestPossibleRegion(), scene.image->GetBufferedRegion());
    EXPECT_EQ(pixels, GetBuffer(scene.image.GetPointer()));
    EXPECT_EQ(inside, GetBuffer(scene.mask.GetPointer()));
    EXPECT_EQ(imageTime, scene.image->GetMTime());
  }
}

TEST(RunLengthPipeline, ComputesAgainOnlyAfterAChange)
{
  const Scene  scene;
  const auto   filter = scene.MakeFilter();
  unsigned int runs = 0;
  Observe<itk::StartEvent>(filter, [&runs] { ++runs; });

  const auto expectFresh = [&](const std::function<void(FilterType *)> & change) {
    const unsigned int before = runs;
    change(filter);
    const auto actual = Compute(filter);
    EXPECT_EQ(before + 1, runs);
    filter->Update();
    EXPECT_EQ(before + 1, runs) << "computed again without a change";
    return actual;
  };
  // Every parameter must change the result, and to what a fresh filter gives.
  const std::vector<std::function<void(FilterType *)>> changes{
    [](FilterType * f) { f->SetNumberOfGrayLevels(7); },
    [](FilterType * f) { f->SetRangeMinimum(0.0); },
    [](FilterType * f) { f->SetRangeMaximum(500.0); },
    [](FilterType * f) { f->SetDiscretizationMethod(Method::FixedBinSize); },
    [](FilterType * f) { f->SetBinWidth(60.0); },
    [](FilterType * f) { f->SetRangeSource(RangeSource::Image); },
    [](FilterType * f) { f->SetNeighborhoodRadius(1); },
    [](FilterType * f) {
      f->SetWindowSize({ { 2, 3, 2 } });
    },
    [](FilterType * f) {
      f->SetWindowAnchor({ { 0, 0, 0 } });
    },
    [](FilterType * f) { f->SetOffsets(FilterType::GetInPlaneOffsets()); },
    [](FilterType * f) { f->SetAggregation(Aggregation::Merge); },
    [](FilterType * f) {
      f->SetFeatures({ Feature::RunEntropy, Feature::LongRunEmphasis });
    },
    [](FilterType * f) { f->SetAggregation(Aggregation::PerDirection); },
    [](FilterType * f) { f->SetInsidePixelValue(0); },
    [](FilterType * f) { f->SetBackgroundValue(-1.0); },
    [](FilterType * f) { f->SetMaskImage(nullptr); },
  };
  auto previous = expectFresh([](FilterType *) {});
  for (std::size_t i = 0; i < changes.size(); ++i)
  {
    SCOPED_TRACE(i);
    const auto actual = expectFresh(changes[i]);
    EXPECT_FALSE(HasSameBits(previous, actual));
    const auto fresh = scene.MakeFilter();
    for (std::size_t j = 0; j <= i; ++j)
    {
      changes[j](fresh);
    }
    EXPECT_TRUE(HasSameBits(Compute(fresh), actual));
    previous = actual;
  }
  // New pixels are new results, too.
  scene.image->FillBuffer(3);
  scene.image->Modified();
  EXPECT_FALSE(HasSameBits(previous, expectFresh([](FilterType *) {})));
}

TEST(RunLengthPipeline, ProgressGrowsFrom0To1)
{
  const Scene scene;
  for (const unsigned int workUnits : { 1u, 2u, 8u })
  {
    const auto         filter = scene.MakeFilter();
    std::vector<float> values;
    filter->SetNumberOfWorkUnits(workUnits);
    Observe<itk::ProgressEvent>(filter, [&] { values.push_back(filter->GetProgress()); });
    // Progress starts again with every update.
    for (int run = 0; run < 2; ++run)
    {
      values.clear();
      filter->Modified();
      filter->Update();
      ASSERT_GE(values.size(), 2u);
      for (std::size_t i = 1; i < values.size(); ++i)
      {
        EXPECT_LE(values[i - 1], values[i]) << "event " << i;
      }
      EXPECT_GE(values.front(), 0.0f);
      EXPECT_LT(values.front(), 1.0f);
      EXPECT_EQ(1.0f, values.back());
    }
  }
}

TEST(RunLengthPipeline, ProgressIsReportedOnTheWay)
{
  // Enough work for more than one report from the updating thread.
  RandomNumbers      random(3);
  std::vector<short> pixels(120 * 110 * 40);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Below(500));
  }
  const auto filter = FilterType::New();
  filter->SetInput(MakeImage<ImageType>({ { 120, 110, 40 } }, pixels));
  unsigned int between = 0;
  Observe<itk::ProgressEvent>(
    filter, [&] { between += filter->GetProgress() > 0.02f && filter->GetProgress() < 0.98f ? 1 : 0; });
  filter->Update();
  EXPECT_GE(between, 5u);
}

TEST(RunLengthPipeline, AbortFromAnObserver)
{
  const auto image = MakeLargeImage();
  for (const float progress : { 0.0f, 0.01f, 0.1f })
  {
    SCOPED_TRACE(::testing::Message() << "at progress " << progress);
    const auto filter = FilterType::New();
    filter->SetInput(image);
    AbortFlag flag;
    Observe<itk::ProgressEvent>(filter, [&] {
      if (!flag.IsSet() && filter->GetProgress() >= progress)
      {
        flag.Set(filter);
      }
    });
    unsigned int aborts = 0;
    Observe<itk::AbortEvent>(filter, [&aborts] { ++aborts; });
    EXPECT_LT(SecondsToAbort(filter, flag), mostSecondsToAbort);
    EXPECT_EQ(1u, aborts);
    EXPECT_LT(filter->GetProgress(), 0.9f);
  }
}

TEST(RunLengthPipeline, AbortFromAnotherThread)
{
  const auto image = MakeLargeImage();
  struct Setting
  {
    unsigned int         radius;
    Aggregation          aggregation;
    unsigned int         numberOfGrayLevels;
    RangeSource          source;
    std::vector<Feature> features;
  };
  // Quick and slow ways of computing; with 15^3 voxels a window, a thousand voxels take long.
  const std::vector<Setting> settings{
    { 2, Aggregation::Average, 32, RangeSource::Mask, Enums::GetElevenFeatures() },
    { 4, Aggregation::Merge, 256, RangeSource::Image, Enums::GetElevenFeatures() },
    { 7, Aggregation::PerDirection, 256, RangeSource::Given, { Feature::RunEntropy } },
    { 7, Aggregation::Average, 65535, RangeSource::Given, Enums::GetAllFeatures() },
    { 20 - 1, Aggregation::Merge, 65535, RangeSource::Given, Enums::GetAllFeatures() },
  };
  for (const Setting & setting : settings)
  {
    SCOPED_TRACE(::testing::Message() << "radius " << setting.radius << ", " << setting.features.size() << " features");
    const auto filter = FilterType::New();
    filter->SetInput(image);
    filter->SetNeighborhoodRadius(setting.radius);
    filter->SetAggregation(setting.aggregation);
    filter->SetNumberOfGrayLevels(setting.numberOfGrayLevels);
    filter->SetRangeSource(setting.source);
    filter->SetFeatures(setting.features);
    AbortFlag   flag;
    std::thread user;
    // The flag is cleared when an update starts, so the user comes after that.
    Observe<itk::StartEvent>(filter, [&] {
      user = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        flag.Set(filter);
      });
    });
    const double seconds = SecondsToAbort(filter, flag);
    user.join();
    EXPECT_LT(seconds, mostSecondsToAbort);
  }
}

TEST(RunLengthPipeline, WorksAgainAfterAnAbort)
{
  const Scene scene;
  const auto  expected = Compute(scene.MakeFilter());
  const auto  filter = scene.MakeFilter();
  bool        abort = true;
  Observe<itk::ProgressEvent>(filter, [&] {
    if (abort)
    {
      filter->SetAbortGenerateData(true);
    }
  });
  for (const bool again : { true, true, false })
  {
    abort = again;
    if (abort)
    {
      EXPECT_THROW(filter->Update(), itk::ProcessAborted);
    }
    else
    {
      EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    }
  }
  // An abort in the middle of a pipeline ends the pipeline, which works again, too.
  const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(3);
  abort = true;
  filter->Modified();
  EXPECT_THROW(streamer->Update(), itk::ProcessAborted);
  abort = false;
  // itk::StreamingImageFilter does not tidy up after an exception by itself.
  streamer->ResetPipeline();
  streamer->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(streamer->GetOutput())));
}

TEST(RunLengthPipeline, TwoFiltersMayRunAtTheSameTime)
{
  const Scene                     scene;
  const auto                      expected = Compute(scene.MakeFilter());
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread>        threads;
  for (auto & result : results)
  {
    threads.emplace_back([&scene, &result] {
      // Pipelines of their own: filters write the requested region into their input.
      const auto image = ImageType::New();
      image->Graft(scene.image);
      const auto mask = MaskType::New();
      mask->Graft(scene.mask);
      const auto filter = scene.MakeFilter();
      filter->SetInput(image);
      filter->SetMaskImage(mask);
      result = Compute(filter);
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (const auto & result : results)
  {
    EXPECT_TRUE(HasSameBits(expected, result));
  }
}
