// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

#include "CudaTestMemory.h"
#include "CudaTextureJobChecks.h"
#include "TextureMemoryScene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

// Input and output in device memory, which TextureMemoryGTest.cxx has in host memory: the bits must be those of the
// CPU.
namespace
{
using voxelmaps::MemoryLocation;
using namespace VoxelMapsTest;

/** The arrays of a scene in device memory, copied in a stream. */
template <typename TJob>
struct DeviceInput
{
  DeviceInput(const TextureMemoryScene<TJob> & scene, cudaStream_t stream)
    : levels(scene.levels, stream)
    , intensities(scene.intensities, stream)
    , selection(scene.selection, stream)
  {}

  /** Let a job use them instead of those that it uses. */
  void
  Set(TJob & job) const
  {
    job.levels = levels.data();
    job.intensities = job.intensities != nullptr ? intensities.data() : nullptr;
    job.selection = job.selection != nullptr ? selection.data() : nullptr;
  }
  void
  Assign(const DeviceInput & other)
  {
    levels.Assign(other.levels);
    intensities.Assign(other.intensities);
    selection.Assign(other.selection);
  }

  DeviceArray<std::uint16_t> levels;
  DeviceArray<float>         intensities;
  DeviceArray<std::uint8_t>  selection;
};

/** An output in a place. */
template <typename TReal>
class PlacedOutput
{
public:
  template <typename TJob>
  PlacedOutput(const TJob & job, const OutputLayout & layout, const Place & place)
    : m_Layout(layout)
    , m_OnHost(layout, CountVoxels(job.outputSize), job.GetNumberOfComponents())
    , m_Placed(m_OnHost.buffer, place)
  {}

  /** Let a job write here. */
  template <typename TJob>
  void
  Set(TJob & job)
  {
    m_Layout.Set(job);
    job.outputIsDouble = std::is_same<TReal, double>::value;
    job.output = m_Placed.data() + m_OnHost.guard;
  }
  void
  Assign(const PlacedOutput & other)
  {
    m_Placed.Assign(other.m_Placed);
  }
  /** After the work so far in the stream, if in device memory. */
  ::testing::AssertionResult
  Has(const std::vector<TReal> & expected)
  {
    m_Placed.CopyBack();
    return m_OnHost.Has(expected);
  }

private:
  const OutputLayout   m_Layout;
  LaidOutOutput<TReal> m_OnHost;
  PlacedVector<TReal>  m_Placed;
};

/** Compute a job over the arrays of a scene in a place, with all layouts or those with gaps; the greatest number of
 * slabs. */
template <typename TReal, typename TJob>
std::uint64_t
CheckLayouts(TJob job, const std::vector<TReal> & expected, const DeviceInput<TJob> & input, const Place & place,
             voxelmaps::CudaOptions options, bool areAll = true)
{
  std::uint64_t maxNumberOfSlabs = 0;
  place.Set(options);
  if (place.input == MemoryLocation::Device)
  {
    input.Set(job);
  }
  for (const OutputLayout & layout : GetOutputLayouts(CountVoxels(job.outputSize), job.GetNumberOfComponents()))
  {
    if (!areAll && std::string(layout.name).find("gaps") == std::string::npos)
    {
      continue;
    }
    SCOPED_TRACE(layout.name);
    PlacedOutput<TReal> output(job, layout, place);
    output.Set(job);
    const voxelmaps::CudaReport report = voxelmaps::ComputeFeatureMapsCuda(job, options);
    EXPECT_TRUE(output.Has(expected));
    const bool isOnCpu = report.method.empty();
    EXPECT_EQ(place.output == MemoryLocation::Device || isOnCpu, report.kernelMilliseconds == 0.0);
    maxNumberOfSlabs = std::max(maxNumberOfSlabs, report.numberOfSlabs);
  }
  return maxNumberOfSlabs;
}

/** By a method, with all layouts, and with those with gaps in slabs; the greatest number of slabs. */
template <typename TReal, typename TJob>
std::uint64_t
CheckMethod(const TJob & job, const std::vector<TReal> & expected, const DeviceInput<TJob> & input, const Place & place,
            const std::string & method)
{
  SCOPED_TRACE(::testing::Message() << method << (job.outputIsDouble ? ", double" : ", float"));
  const auto compute = [&](std::uint64_t budget) {
    SCOPED_TRACE(::testing::Message() << "budget " << budget);
    return CheckLayouts(WithMethod(job, method), expected, input, place, MakeCudaOptions(budget), budget == 0);
  };
  std::uint64_t maxNumberOfSlabs = 0;
  try
  {
    maxNumberOfSlabs = compute(0);
  }
  catch (const voxelmaps::UnsupportedMethodError &)
  {
    return 0;
  }
  for (const std::uint64_t budget : FindSmallBudgets(compute))
  {
    maxNumberOfSlabs = std::max(maxNumberOfSlabs, compute(budget));
  }
  return maxNumberOfSlabs;
}

template <typename TJob>
class CudaTextureMemory : public CudaTest
{};

TYPED_TEST_SUITE(CudaTextureMemory, AllTextureJobs, TextureJobName);

class CudaSizeZoneMemory : public CudaTest
{};
} // namespace

TEST_F(CudaSizeZoneMemory, TheCpuComputesWhatNoMethodSupports)
{
  using Job = voxelmaps::SizeZoneJob;
  const Stream            stream;
  TextureMemoryScene<Job> scene({ { 23, 9, 5 } }, { { 17, 17, 2 } }, 16);
  scene.SetRegion({ { { 2, 1, 0 } }, { { 19, 6, 5 } } });
  scene.job.selection = scene.selection.data();
  const auto expected = ComputeOnCpu<float>(scene.job);
  for (const Place & place : GetPlaces(stream))
  {
    SCOPED_TRACE(::testing::Message() << place);
    const DeviceInput<Job> input(scene, place.stream);
    voxelmaps::CudaOptions options;
    CheckLayouts(scene.job, expected, input, place, options);
    options.otherDeviceIDs = { 0 };
    CheckLayouts(scene.job, expected, input, place, options);
  }
  voxelmaps::CudaReport report;
  EXPECT_EQ(expected, ComputeOnDevice<float>(scene.job, "", report));
  EXPECT_EQ("", report.method);
  EXPECT_EQ("CPU", report.deviceName);
  EXPECT_THROW(ComputeOnDevice<float>(scene.job, "BitPlanes"), voxelmaps::UnsupportedMethodError);
}

TYPED_TEST(CudaTextureMemory, AllPlacesAndLayoutsHaveTheBitsOfTheCpu)
{
  const Stream                  stream;
  TextureMemoryScene<TypeParam> scene({ { 23, 9, 5 } }, { { 3, 4, 3 } }, 16);
  // A part of the image, so that slabs reach beyond the output.
  scene.SetRegion({ { { 2, 1, 1 } }, { { 19, 4, 3 } } });
  for (const Place & place : GetPlaces(stream))
  {
    SCOPED_TRACE(::testing::Message() << place);
    const DeviceInput<TypeParam> input(scene, place.stream);
    std::uint64_t                maxNumberOfSlabs = 0; // of any method
    for (TypeParam job : WithAllAggregations(scene.job))
    {
      for (const std::string method : MethodNames<TypeParam>::cuda)
      {
        job.selection = nullptr;
        job.backgroundValue = -7.0;
        job.outputIsDouble = true;
        CheckMethod(job, ComputeOnCpu<double>(job), input, place, method);
        job.selection = scene.selection.data();
        job.backgroundValue = std::numeric_limits<double>::quiet_NaN();
        job.outputIsDouble = false;
        maxNumberOfSlabs = std::max(maxNumberOfSlabs, CheckMethod(job, ComputeOnCpu<float>(job), input, place, method));
        ASSERT_FALSE(this->HasFailure());
      }
    }
    // Where nothing is copied, most methods need no memory, and thus no slabs.
    if (place.input == MemoryLocation::Host || place.output == MemoryLocation::Host)
    {
      EXPECT_GT(maxNumberOfSlabs, 1u);
    }
  }
}

TYPED_TEST(CudaTextureMemory, ErrorsAndAbortsLeaveNoMemoryBehind)
{
  const TextureMemoryScene<TypeParam> scene({ { 60, 40, 12 } }, { { 5, 5, 5 } }, 64);
  for (const std::string method : MethodNames<TypeParam>::cuda)
  {
    SCOPED_TRACE(method);
    if (!Supports(scene.job, method))
    {
      continue;
    }
    EXPECT_EQ(0u, GetUsedDeviceBytes());
    EXPECT_THROW(ComputeOnDevice<float>(scene.job, method, 100), voxelmaps::EngineError);
    TypeParam aborted = scene.job;
    for (const bool atOnce : { true, false })
    {
      aborted.execution.reportProgress = [atOnce](std::uint64_t voxels) {
        if (atOnce || voxels > 0)
        {
          throw Aborted{};
        }
      };
      EXPECT_THROW(ComputeOnDevice<float>(aborted, method), Aborted);
    }
    EXPECT_EQ(0u, GetUsedDeviceBytes());
  }
}

TYPED_TEST(CudaTextureMemory, SeveralDevicesHaveTheBitsOfTheCpu)
{
  const Stream                  stream;
  TextureMemoryScene<TypeParam> scene({ { 23, 9, 7 } }, { { 3, 4, 3 } }, 16);
  // Where there is one device only, it does the work of several.
  const int last = voxelmaps::CudaDevices::GetNumberOfDevices() - 1;
  for (const TextureRegion & region : { TextureRegion{ { { 2, 1, 1 } }, { { 19, 6, 5 } } },
                                        TextureRegion{ { { 0, 0, 3 } }, { { 23, 9, 1 } } },
                                        TextureRegion{ { { 5, 5, 5 } }, { { 1, 1, 1 } } } })
  {
    scene.SetRegion(region);
    for (const Place & place : GetPlaces(stream))
    {
      const DeviceInput<TypeParam> input(scene, place.stream);
      for (const bool isDouble : { false, true })
      {
        SCOPED_TRACE(::testing::Message() << region << ' ' << place << (isDouble ? ", double" : ", float"));
        TypeParam job = scene.job;
        job.selection = isDouble ? nullptr : scene.selection.data();
        job.outputIsDouble = isDouble;
        job.execution.numberOfWorkers = 3;
        const auto check = [&](const auto & expected) {
          for (const std::vector<int> & others : { std::vector<int>{ last }, std::vector<int>{ 0, last, last } })
          {
            voxelmaps::CudaOptions options;
            options.otherDeviceIDs = others;
            CheckLayouts(job, expected, input, place, options);
            // Arrays in host memory only.
            TypeParam                                 onHost = job;
            typename std::decay_t<decltype(expected)> output(expected.size());
            onHost.output = output.data();
            voxelmaps::ComputeFeatureMapsCuda(onHost, options);
            EXPECT_EQ(0, std::memcmp(expected.data(), output.data(), expected.size() * sizeof(expected[0])));
          }
        };
        isDouble ? check(ComputeOnCpu<double>(job)) : check(ComputeOnCpu<float>(job));
        ASSERT_FALSE(this->HasFailure());
      }
    }
  }
}

TYPED_TEST(CudaTextureMemory, SeveralDevicesReportProgressAbortsAndErrors)
{
  TextureMemoryScene<TypeParam> scene({ { 23, 9, 7 } }, { { 3, 4, 3 } }, 16);
  std::vector<float>            output(CountVoxels(scene.job.outputSize) * scene.job.GetNumberOfComponents());
  TypeParam                     job = scene.job;
  job.output = output.data();
  voxelmaps::CudaOptions options;
  options.otherDeviceIDs = { 0, 0 };
  std::uint64_t finished = 0;
  const auto    caller = std::this_thread::get_id();
  job.execution.reportProgress = [&](std::uint64_t voxels) {
    EXPECT_EQ(caller, std::this_thread::get_id());
    finished += voxels;
  };
  const voxelmaps::CudaReport report = voxelmaps::ComputeFeatureMapsCuda(job, options);
  EXPECT_EQ(CountVoxels(job.outputSize), finished);
  EXPECT_EQ(3u, report.numberOfSlabs);
  const std::string name = voxelmaps::CudaDevices::GetName(0);
  EXPECT_EQ(name + ", " + name + ", " + name, report.deviceName);

  job.execution.reportProgress = [](std::uint64_t) { throw Aborted{}; };
  EXPECT_THROW(voxelmaps::ComputeFeatureMapsCuda(job, options), Aborted);
  job.execution.reportProgress = nullptr;
  options.memoryBudget = 1;
  EXPECT_THROW(voxelmaps::ComputeFeatureMapsCuda(job, options), voxelmaps::EngineError);
  options.memoryBudget = 0;
  options.otherDeviceIDs = { 1000 };
  EXPECT_THROW(voxelmaps::ComputeFeatureMapsCuda(job, options), voxelmaps::EngineError);
  options.otherDeviceIDs = { 0 };
  job.outputSize[1] = -1;
  EXPECT_THROW(voxelmaps::ComputeFeatureMapsCuda(job, options), voxelmaps::EngineError);
  job = scene.job;
  job.output = output.data();
  job.outputSize[1] = 0;
  voxelmaps::ComputeFeatureMapsCuda(job, options);
}

TYPED_TEST(CudaTextureMemory, CallsComeBetweenTheEarlierAndTheLaterWorkOfTheirStream)
{
  const Stream                        stream;
  TextureMemoryScene<TypeParam>       scene({ { 23, 9, 5 } }, { { 3, 4, 3 } }, 16, 1);
  const TextureMemoryScene<TypeParam> otherScene({ { 23, 9, 5 } }, { { 3, 4, 3 } }, 16, 2);
  scene.job.selection = scene.selection.data();
  const auto expected = ComputeOnCpu<float>(scene.job);
  for (const Place & place : GetPlaces(stream))
  {
    for (const std::string method : MethodNames<TypeParam>::cuda)
    {
      for (const OutputLayout & layout :
           GetOutputLayouts(CountVoxels(scene.job.outputSize), scene.job.GetNumberOfComponents()))
      {
        SCOPED_TRACE(::testing::Message() << place << ", " << method << ", " << layout.name);
        const DeviceInput<TypeParam> right(scene, place.stream);
        const DeviceInput<TypeParam> wrong(otherScene, place.stream);
        DeviceInput<TypeParam>       input(otherScene, place.stream);
        const PlacedOutput<float>    empty(scene.job, layout, place);
        PlacedOutput<float>          output(scene.job, layout, place);
        PlacedOutput<float>          result(scene.job, layout, place);
        TypeParam                    job = scene.job;
        output.Set(job);
        if (place.input == MemoryLocation::Device)
        {
          input.Set(job);
        }
        voxelmaps::CudaOptions options;
        place.Set(options);
        DelayStream<10>(place.stream);
        input.Assign(right);
        output.Assign(empty);
        try
        {
          voxelmaps::ComputeFeatureMapsCuda(WithMethod(job, method), options);
        }
        catch (const voxelmaps::UnsupportedMethodError &)
        {
          break;
        }
        result.Assign(output);
        input.Assign(wrong);
        output.Assign(empty);
        ASSERT_TRUE((place.output == MemoryLocation::Device ? result : output).Has(expected));
      }
    }
  }
}

TYPED_TEST(CudaTextureMemory, TablesOutliveCallsThatDoNotWait)
{
  constexpr std::int64_t  numberOfCalls = 200;
  constexpr std::uint32_t numberOfGrayLevels = 8;
  const Stream            stream;
  for (const cudaStream_t used : { cudaStream_t{ nullptr }, cudaStream_t(stream) })
  {
    const Place                   place{ MemoryLocation::Device, MemoryLocation::Device, used };
    TextureMemoryScene<TypeParam> scene({ { 15, 7, 5 } }, { { 1, 1, 1 } }, numberOfGrayLevels);
    const DeviceInput<TypeParam>  input(scene, used);
    RandomNumbers                 random(3);
    SCOPED_TRACE(::testing::Message() << place);

    std::vector<TypeParam>                            jobs;
    std::vector<std::unique_ptr<PlacedOutput<float>>> outputs;
    for (std::int64_t call = 0; call < numberOfCalls; ++call)
    {
      auto      choices = WithAllAggregations(scene.job);
      TypeParam job = random.OneOf(choices);
      // Each with other tables.
      job.numberOfGrayLevels = numberOfGrayLevels + static_cast<std::uint32_t>(call);
      job.windowSize = { { 2 + call % 4, 1 + call / 4 % 5, 1 + call / 20 % 3 } };
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        job.windowAnchor[axis] = random.Below(job.windowSize[axis]);
      }
      random.Shuffle(job.features);
      job.features.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(job.features.size()))));
      const auto layouts = GetOutputLayouts(CountVoxels(job.outputSize), job.GetNumberOfComponents());
      jobs.push_back(job);
      outputs.push_back(std::make_unique<PlacedOutput<float>>(job, random.OneOf(layouts), place));
    }
    DelayStream<300>(used);
    for (std::size_t call = 0; call < jobs.size(); ++call)
    {
      TypeParam job = jobs[call];
      outputs[call]->Set(job);
      input.Set(job);
      voxelmaps::CudaOptions options;
      place.Set(options);
      voxelmaps::ComputeFeatureMapsCuda(job, options);
    }
    CheckCudaCall(cudaStreamSynchronize(used));
    for (std::size_t call = 0; call < jobs.size(); ++call)
    {
      ASSERT_TRUE(outputs[call]->Has(ComputeOnCpu<float>(jobs[call]))) << "call " << call;
    }
  }
}
