// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PipelineTestUtilities_h
#define PipelineTestUtilities_h

// What the tests of filters in pipelines share.

#include "ItkTestUtilities.h"

#include "itkCommand.h"
#include "itkImage.h"
#include "itkPlatformMultiThreader.h"
#include "itkProcessObject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
/** Update a filter; the pixels of its output. */
template <typename TFilter>
auto
Compute(const itk::SmartPointer<TFilter> & filter)
{
  filter->Update();
  return GetBuffer(filter->GetOutput());
}

/** Whether a filter has a mask. */
template <typename TFilter, typename = void>
constexpr bool hasMask = false;
template <typename TFilter>
constexpr bool hasMask<TFilter, std::void_t<typename TFilter::MaskImageType>> = true;

/** \class LateImage
 * \brief An image whose pixels are elsewhere until GetBufferPointer() is called, as on a device.
 */
template <typename TImage>
class LateImage : public TImage
{
public:
  using Self = LateImage;
  using Superclass = TImage;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  using ElementType = typename TImage::InternalPixelType;

  itkFactorylessNewMacro(Self);

  ElementType *
  GetBufferPointer() override
  {
    this->FillBufferOnce();
    return Superclass::GetBufferPointer();
  }
  const ElementType *
  GetBufferPointer() const override
  {
    this->FillBufferOnce();
    return Superclass::GetBufferPointer();
  }

  /** Copy an image, with a buffer of zeros. */
  void
  CopyLate(const TImage * image)
  {
    this->CopyInformation(image);
    this->SetRegions(image->GetBufferedRegion());
    this->Allocate(true);
    m_Pixels = GetBuffer(image);
  }

private:
  void
  FillBufferOnce() const
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    std::copy(m_Pixels.begin(), m_Pixels.end(), const_cast<Self *>(this)->GetPixelContainer()->GetBufferPointer());
    m_Pixels.clear();
  }

  mutable std::vector<ElementType> m_Pixels;
  mutable std::mutex               m_Mutex;
};

/** Expect that a filter asks an image, which is its input of a name, for the pixels, and that it is an error where
 * there are none. */
template <typename TFilter, typename TImage>
void
ExpectPixelsAreAskedFor(const itk::SmartPointer<TFilter> & filter, const char * inputName, const TImage * image,
                        const std::string & imageName)
{
  SCOPED_TRACE(inputName);
  const auto expected = Compute(filter);
  const auto late = LateImage<TImage>::New();
  late->CopyLate(image);
  filter->SetInput(inputName, late);
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));

  // Its pixels were released after something else has used them.
  late->ReleaseData();
  filter->Modified();
  ExpectError([&] { filter->Update(); },
              { filter->GetNameOfClass(), "~" + imageName + " has no pixels", "ReleaseDataFlagOff" });
  filter->SetInput(inputName, const_cast<TImage *>(image));
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
}

/** Call a function at events of an object. */
template <typename TEvent>
unsigned long
Observe(itk::Object * object, std::function<void()> reaction)
{
  return object->AddObserver(TEvent(), [reaction](const itk::EventObject &) { reaction(); });
}

/** An image of 256^3 voxels, of noise of so many bits. */
inline itk::Image<short, 3>::Pointer
MakeLargeImage(unsigned int bits)
{
  using ImageType = itk::Image<short, 3>;
  auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType::Filled(256));
  image->Allocate();
  std::uint32_t state = 12345;
  short * const pixels = image->GetBufferPointer();
  for (std::size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    state = state * 1664525u + 1013904223u;
    pixels[i] = static_cast<short>(state >> (32 - bits));
  }
  return image;
}

/** Expect that work units and threads do not change the bits of what filters compute that are made this way. */
template <typename TMakeFilter>
void
ExpectWorkUnitsDoNotChangeBits(const TMakeFilter & makeFilter)
{
  const auto single = makeFilter();
  single->SetNumberOfWorkUnits(1);
  const auto expected = Compute(single);
  for (const unsigned int number : { 1u, 2u, 8u, 100u })
  {
    const auto filter = makeFilter();
    filter->SetNumberOfWorkUnits(number);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter))) << number << " work units";

    const auto threaded = makeFilter();
    const auto threader = itk::PlatformMultiThreader::New();
    threader->SetMaximumNumberOfThreads(number);
    threader->SetNumberOfWorkUnits(number);
    threaded->SetMultiThreader(threader);
    EXPECT_TRUE(HasSameBits(expected, Compute(threaded))) << number << " threads";

    const auto bounded = makeFilter();
    bounded->GetMultiThreader()->SetMaximumNumberOfThreads(number);
    EXPECT_TRUE(HasSameBits(expected, Compute(bounded))) << number << " threads at most";
    // The filter leaves the threader as it found it.
    EXPECT_EQ(bounded->GetNumberOfWorkUnits(), bounded->GetMultiThreader()->GetNumberOfWorkUnits());
  }
}

/** Expect that filters of a scene compute the same when several run at the same time, each prepared for its number. */
template <typename TScene, typename TPrepare>
void
ExpectSameBitsAtTheSameTime(const TScene & scene, unsigned int numberOfFilters, const TPrepare & prepare)
{
  const auto                                    expected = Compute(scene.MakeFilter());
  std::vector<std::decay_t<decltype(expected)>> results(numberOfFilters);
  RunThreads(numberOfFilters, [&](unsigned int number) {
    // Pipelines of their own: filters write the requested region into their input.
    const auto filter = scene.MakeFilter();
    const auto graft = [](auto original) {
      auto image = decltype(original)::ObjectType::New();
      image->Graft(original);
      return image;
    };
    filter->SetInput(graft(scene.image));
    if constexpr (hasMask<typename std::decay_t<decltype(filter)>::ObjectType>)
    {
      filter->SetMaskImage(graft(scene.mask));
    }
    prepare(filter, number);
    results[number] = Compute(filter);
  });
  for (const auto & result : results)
  {
    EXPECT_TRUE(HasSameBits(expected, result));
  }
}

/** Give images origin, spacing and direction. */
template <typename... TImages>
void
Place(TImages *... images)
{
  const double              origin[3] = { 12.5, -100.0, 3e4 };
  const double              spacing[3] = { 0.9375, 0.9375, 3.3 };
  itk::Matrix<double, 3, 3> direction;
  const double              c = std::cos(0.4);
  const double              s = std::sin(0.4);
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
  (place(images), ...);
}

/** Expect that a filter computed the whole output, with the geometry of an image. */
template <typename TFilter, typename TImage>
void
ExpectGeometry(TFilter * filter, const TImage * image)
{
  EXPECT_EQ(image->GetLargestPossibleRegion(), filter->GetOutput()->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetLargestPossibleRegion(), filter->GetOutput()->GetBufferedRegion());
  EXPECT_EQ(image->GetOrigin(), filter->GetOutput()->GetOrigin());
  EXPECT_EQ(image->GetSpacing(), filter->GetOutput()->GetSpacing());
  EXPECT_EQ(image->GetDirection(), filter->GetOutput()->GetDirection());
}

/** Changes a filter of a scene, and expects that it computes once for each change. */
template <typename TFilter, typename TScene>
class ChangeChecker
{
public:
  using Change = std::function<void(TFilter *)>;

  explicit ChangeChecker(const TScene & scene)
    : m_Scene(scene)
    , m_Filter(scene.MakeFilter())
  {
    Observe<itk::StartEvent>(m_Filter, [this] { ++m_Runs; });
  }

  ChangeChecker(const ChangeChecker &) = delete;
  ChangeChecker &
  operator=(const ChangeChecker &) = delete;

  std::vector<float>
  ComputeAfter(const Change & change)
  {
    const unsigned int before = m_Runs;
    change(m_Filter);
    const auto actual = Compute(m_Filter);
    EXPECT_EQ(before + 1, m_Runs);
    m_Filter->Update();
    EXPECT_EQ(before + 1, m_Runs) << "computed again without a change";
    return actual;
  }

  /** Expect that each of these changes the result, and to what a fresh filter gives. Returns the last result. */
  std::vector<float>
  ExpectNewResults(const std::vector<Change> & changes)
  {
    auto previous = this->ComputeAfter([](TFilter *) {});
    for (std::size_t i = 0; i < changes.size(); ++i)
    {
      SCOPED_TRACE(i);
      const auto actual = this->ComputeAfter(changes[i]);
      EXPECT_FALSE(HasSameBits(previous, actual));
      const auto fresh = m_Scene.MakeFilter();
      for (std::size_t j = 0; j <= i; ++j)
      {
        changes[j](fresh);
      }
      EXPECT_TRUE(HasSameBits(Compute(fresh), actual));
      previous = actual;
    }
    return previous;
  }

private:
  const TScene &            m_Scene;
  typename TFilter::Pointer m_Filter;
  unsigned int              m_Runs{ 0 };
};

/** Expect that the progress of every update grows to 1; what it starts with is for the caller to check. */
inline void
ExpectProgressGrowsTo1(itk::ProcessObject * filter, const std::function<void(float)> & expectFirst)
{
  std::vector<float>  values;
  const unsigned long tag = Observe<itk::ProgressEvent>(filter, [&] { values.push_back(filter->GetProgress()); });
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
    expectFirst(values.front());
    EXPECT_EQ(1.0f, values.back());
  }
  filter->RemoveObserver(tag);
}

/** Expect that an update reports progress more than once between start and end. */
inline void
ExpectProgressOnTheWay(itk::ProcessObject * filter)
{
  unsigned int        between = 0;
  const unsigned long tag = Observe<itk::ProgressEvent>(
    filter, [&] { between += filter->GetProgress() > 0.02f && filter->GetProgress() < 0.98f ? 1 : 0; });
  filter->Update();
  filter->RemoveObserver(tag);
  EXPECT_GE(between, 5u);
}

/** An image that is enough work for more than one report of progress from the updating thread. */
inline itk::Image<short, 3>::Pointer
MakeImageForProgress(const itk::Size<3> & size)
{
  RandomNumbers      random(3);
  std::vector<short> pixels(size[0] * size[1] * size[2]);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Below(500));
  }
  return MakeImage<itk::Image<short, 3>>(size, pixels);
}

constexpr double maxSecondsToAbort = 0.5;

struct AbortSeconds
{
  double elapsed{ 0.0 };
  /** Where other programs keep the processors busy, at most the time that this program's work would have taken without
   * them. */
  double withoutOthers{ 0.0 };
};

/** Sets the flag that aborts a filter, and notes when. */
class AbortFlag
{
public:
  void
  Set(itk::ProcessObject * filter)
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

  /** Time since the flag was set. */
  AbortSeconds
  GetSeconds() const
  {
    AbortSeconds seconds;
    seconds.elapsed = std::chrono::duration<double>(Clock::now() - m_Time).count();
    const double processorTime = static_cast<double>(std::clock() - m_ProcessorTime) / CLOCKS_PER_SEC;
    seconds.withoutOthers =
      std::min(seconds.elapsed, processorTime / std::max(1u, std::thread::hardware_concurrency()));
    return seconds;
  }

private:
  using Clock = std::chrono::steady_clock;
  std::atomic<bool> m_IsSet{ false };
  Clock::time_point m_Time;
  std::clock_t      m_ProcessorTime{ 0 };
};

/** Run a filter that is going to be aborted; the time from the flag to the exception. */
inline AbortSeconds
UpdateUntilAbort(itk::ProcessObject * filter, const AbortFlag & flag)
{
  try
  {
    filter->Update();
  }
  catch (const itk::ProcessAborted &)
  {
    EXPECT_TRUE(flag.IsSet());
    return flag.GetSeconds();
  }
  ADD_FAILURE() << "no itk::ProcessAborted";
  return {};
}

/** Run a filter, and abort it when its progress gets so far. */
inline AbortSeconds
AbortFromAnObserver(itk::ProcessObject * filter, float progress)
{
  AbortFlag           flag;
  unsigned int        aborts = 0;
  const unsigned long progressTag = Observe<itk::ProgressEvent>(filter, [&] {
    if (!flag.IsSet() && filter->GetProgress() >= progress)
    {
      flag.Set(filter);
    }
  });
  const unsigned long abortTag = Observe<itk::AbortEvent>(filter, [&aborts] { ++aborts; });
  const AbortSeconds  seconds = UpdateUntilAbort(filter, flag);
  EXPECT_EQ(1u, aborts);
  EXPECT_LT(filter->GetProgress(), 0.9f);
  filter->RemoveObserver(progressTag);
  filter->RemoveObserver(abortTag);
  return seconds;
}

/** Run a filter, and abort it from another thread after so many milliseconds. */
inline AbortSeconds
AbortFromAnotherThread(itk::ProcessObject * filter, int milliseconds)
{
  AbortFlag   flag;
  std::thread user;
  // The flag is cleared when an update starts, so the user comes after that.
  const unsigned long tag = Observe<itk::StartEvent>(filter, [&] {
    user = std::thread([&flag, filter, milliseconds] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      flag.Set(filter);
    });
  });
  const AbortSeconds  seconds = UpdateUntilAbort(filter, flag);
  user.join();
  filter->RemoveObserver(tag);
  return seconds;
}

/** Expect that a filter works again after two aborts. Its next updates are aborted, too, if the caller says so. */
template <typename TFilter, typename TValue>
void
ExpectWorksAgainAfterAborts(TFilter * filter, const std::vector<TValue> & expected, bool & abort)
{
  Observe<itk::ProgressEvent>(filter, [filter, &abort] {
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
      filter->Update();
      EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput())));
    }
  }
}
} // namespace VoxelMapsTest

#endif // PipelineTestUtilities_h
