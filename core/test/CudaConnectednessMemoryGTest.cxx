// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestMemory.h"
#include "CudaTestUtilities.h"
#include "FuzzyConnectednessJobChecks.h"
#include "RelativeFuzzyConnectednessRandomCase.h"

#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Images, masks and outputs of connectedness in device memory: the bits must be those of the CPU with host memory.
namespace
{
using voxelmaps::FuzzyConnectednessProblem;
using voxelmaps::MemoryLocation;
using namespace VoxelMapsTest;
using Job = voxelmaps::FuzzyConnectednessJob;
using Options = voxelmaps::CudaFuzzyConnectednessOptions;
using RelativeOptions = voxelmaps::CudaOptions;
using PixelType = Job::PixelType;

class CudaConnectednessMemory : public CudaTest
{};

/** Image and mask of a job in device memory. */
class DeviceScene
{
public:
  DeviceScene(const FuzzyConnectednessRandomCase & randomCase, const FuzzyConnectednessProblem & problem,
              cudaStream_t stream)
    : m_Image(randomCase.pixels, stream)
  {
    if (problem.mask != nullptr)
    {
      const std::vector<std::uint8_t> mask(problem.mask, problem.mask + problem.GetNumberOfVoxels());
      m_Mask = std::make_unique<DeviceArray<std::uint8_t>>(mask, stream);
    }
  }
  void
  Set(FuzzyConnectednessProblem & problem) const
  {
    problem.image = m_Image.data();
    problem.mask = m_Mask ? m_Mask->data() : nullptr;
  }
  DeviceArray<unsigned char> &
  GetImage()
  {
    return m_Image;
  }

private:
  DeviceArray<unsigned char>                 m_Image;
  std::unique_ptr<DeviceArray<std::uint8_t>> m_Mask;
};

/** Lets a job write to the memory of a place, between guards. */
class PlacedOutput
{
public:
  PlacedOutput(void *& output, std::size_t bytes, const Place & place)
    : m_Output(output)
    , m_Guarded(output != nullptr ? bytes : 0, 0xa5)
    , m_Placed(m_Guarded.values, place)
  {
    output = output != nullptr ? m_Placed.data() + m_Guarded.guard : nullptr;
  }

  /** To where the job would have written otherwise. */
  void
  CopyBack()
  {
    m_Placed.CopyBack();
    const std::vector<unsigned char> bytes = m_Guarded.Get();
    std::copy(bytes.begin(), bytes.end(), static_cast<unsigned char *>(m_Output));
  }

private:
  void * const                 m_Output;
  GuardedOutput<unsigned char> m_Guarded;
  PlacedVector<unsigned char>  m_Placed;
};

template <typename TReal>
std::vector<TReal>
ComputeOnCpu(Job job)
{
  std::vector<TReal> strengths(static_cast<std::size_t>(job.GetNumberOfVoxels()));
  job.output = strengths.data();
  job.outputIsDouble = sizeof(TReal) == sizeof(double);
  job.method.clear();
  voxelmaps::ComputeFuzzyConnectedness(job);
  return strengths;
}

template <typename TReal>
std::uint64_t
CheckStrengths(const FuzzyConnectednessRandomCase & randomCase, const Place & place, Options options,
               const std::string & method = "")
{
  Job                      job = WithMethod(MakeFuzzyConnectednessJob(randomCase), method);
  const std::vector<TReal> expected = ComputeOnCpu<TReal>(job);
  const DeviceScene        scene(randomCase, job, place.stream);
  std::vector<TReal>       actual(expected.size());
  if (place.input == MemoryLocation::Device)
  {
    scene.Set(job);
  }
  job.output = actual.data();
  job.outputIsDouble = sizeof(TReal) == sizeof(double);
  PlacedOutput output(job.output, actual.size() * sizeof(TReal), place);
  place.Set(options);
  const auto report = voxelmaps::ComputeFuzzyConnectednessCuda(job, options);
  output.CopyBack();
  EXPECT_EQ(expected, actual) << randomCase << ' ' << place << ' ' << method;
  return report.numberOfSlabs;
}

void
CheckLabels(const RelativeJob & job, const RelativeRequest & request, const DeviceScene & scene, const Place & place,
            voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy)
{
  const auto computeInPlace = [&](RelativeJob placed) {
    const auto      voxels = static_cast<std::size_t>(job.GetNumberOfVoxels());
    const auto      realBytes = placed.outputIsDouble ? sizeof(double) : sizeof(float);
    PlacedOutput    labels(placed.labelOutput, voxels * (placed.labelsAre16Bit ? 2 : 1), place);
    PlacedOutput    strengths(placed.strengthOutput, voxels * realBytes, place);
    PlacedOutput    margins(placed.marginOutput, voxels * realBytes, place);
    RelativeOptions options;
    place.Set(options);
    if (place.input == MemoryLocation::Device)
    {
      scene.Set(placed);
    }
    if (hierarchy != nullptr)
    {
      voxelmaps::ComputeRelativeFuzzyConnectednessCuda(placed, options, *hierarchy);
    }
    else
    {
      voxelmaps::ComputeRelativeFuzzyConnectednessCuda(placed, options);
    }
    labels.CopyBack();
    strengths.CopyBack();
    margins.CopyBack();
  };
  const auto computeOnCpu = [](const RelativeJob & each) { voxelmaps::ComputeRelativeFuzzyConnectedness(each); };
  EXPECT_TRUE(AreSameOutputs(RunRelativeJob(job, request, computeOnCpu), RunRelativeJob(job, request, computeInPlace)));
}
} // namespace

TEST_F(CudaConnectednessMemory, StrengthsHaveTheBitsOfTheCpu)
{
  const Stream  stream;
  RandomNumbers random(11);
  std::uint64_t seed = 0;
  for (const PixelType type : allPixelTypes)
  {
    for (const unsigned int dimension : { 2u, 3u })
    {
      for (const bool isVector : { false, true })
      {
        auto randomCase = DrawFuzzyConnectednessRandomCase(++seed, dimension, type, random);
        if (isVector)
        {
          MakeVectors(randomCase, 3, random);
        }
        for (const Place & place : GetPlaces(stream))
        {
          for (const std::string method : cudaConnectednessMethods)
          {
            CheckStrengths<float>(randomCase, place, {}, method);
            CheckStrengths<double>(randomCase, place, {}, method);
            ASSERT_FALSE(this->HasFailure());
          }
        }
      }
    }
  }
}

TEST_F(CudaConnectednessMemory, SlabsHaveTheBitsOfTheCpu)
{
  const Stream  stream;
  RandomNumbers random(12);
  auto          scene = MakeNoiseScene({ { 60, 50, 40 } }, 30, random);
  scene.affinity = { { 15.0 }, { 100.0 }, { 0.0 }, { 40.0 } };
  scene.seeds = { 7, 60000 };
  const auto randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  for (const Place & place : GetPlaces(stream))
  {
    Options options;
    options.memoryBudget = 2000000 + std::uint64_t{ 60 } * 50 * 10 * 18;
    EXPECT_GT(CheckStrengths<float>(randomCase, place, options), 1u);
    EXPECT_GT(CheckStrengths<double>(randomCase, place, options), 1u);
  }
}

TEST_F(CudaConnectednessMemory, CallsComeBetweenTheEarlierAndTheLaterWorkOfTheirStream)
{
  const Stream  stream;
  RandomNumbers random(13);
  auto          scene = MakeNoiseScene({ { 30, 20, 10 } }, 30, random);
  scene.seeds = { 7 };
  const auto                   randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  const std::vector<float>     expected = ComputeOnCpu<float>(MakeFuzzyConnectednessJob(randomCase));
  FuzzyConnectednessRandomCase wrongCase = randomCase;
  wrongCase.pixels.assign(wrongCase.pixels.size(), 1);
  for (const cudaStream_t used : { cudaStream_t{ nullptr }, cudaStream_t(stream) })
  {
    const Place        place{ MemoryLocation::Device, MemoryLocation::Device, used };
    Job                job = MakeFuzzyConnectednessJob(randomCase);
    DeviceScene        right(randomCase, job, used);
    DeviceScene        wrong(wrongCase, job, used);
    DeviceScene        input(wrongCase, job, used);
    std::vector<float> actual(expected.size());
    job.output = actual.data();
    PlacedOutput output(job.output, actual.size() * sizeof(float), place);
    input.Set(job);
    Options options;
    place.Set(options);
    DelayStream<50>(used);
    input.GetImage().Assign(right.GetImage());
    voxelmaps::ComputeFuzzyConnectednessCuda(job, options);
    input.GetImage().Assign(wrong.GetImage());
    output.CopyBack();
    EXPECT_EQ(expected, actual);
  }
}

TEST_F(CudaConnectednessMemory, LabelsHaveTheBitsOfTheCpu)
{
  const Stream  stream;
  RandomNumbers random(14);
  std::uint64_t seed = 100;
  for (const PixelType type : allPixelTypes)
  {
    for (const unsigned int dimension : { 2u, 3u })
    {
      auto        randomCase = DrawFuzzyConnectednessRandomCase(++seed, dimension, type, random);
      RelativeJob job = MakeRelativeJob(randomCase, DrawLabels(randomCase.scene.seeds, 255, random), 2);
      for (const Place & place : GetPlaces(stream))
      {
        const DeviceScene                              scene(randomCase, job, place.stream);
        voxelmaps::RelativeFuzzyConnectednessHierarchy hierarchy;
        for (const auto competition : { RelativeJob::Competition::Relative, RelativeJob::Competition::Iterative })
        {
          SCOPED_TRACE(::testing::Message() << randomCase << ' ' << place << ' ' << competition);
          job.competition = competition;
          CheckLabels(job, { false, false }, scene, place, nullptr);
          CheckLabels(job, { true, true }, scene, place, &hierarchy);
          CheckLabels(job, { false, false }, scene, place, &hierarchy);
        }
        RelativeJob labelJob = job;
        labelJob.competition = RelativeJob::Competition::Relative;
        labelJob.labelAffinities[job.labels.front()] = job.affinity;
        labelJob.labelAffinities[job.labels.front()].objectMean[0] += 1.0;
        CheckLabels(labelJob, { true, false }, scene, place, nullptr);
        ASSERT_FALSE(this->HasFailure());
      }
    }
  }
}

TEST_F(CudaConnectednessMemory, ErrorsAndAbortsLeaveNoMemoryBehind)
{
  RandomNumbers random(111);
  auto          scene = MakeNoiseScene({ { 200, 200, 50 } }, 30, random);
  scene.affinity = { { 15.0 }, { 100.0 }, { 0.0 }, { 40.0 } };
  scene.seeds = { 1000000 };
  const auto         randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  Job                job = MakeFuzzyConnectednessJob(randomCase);
  std::vector<float> strengths(scene.intensities.size());
  job.output = strengths.data();
  for (const std::string method : cudaConnectednessMethods)
  {
    SCOPED_TRACE(method);
    job.method = method;
    for (int callsBeforeEnd = 0; callsBeforeEnd < 3; ++callsBeforeEnd)
    {
      int calls = 0;
      job.execution.reportProgress = [&](std::uint64_t) {
        if (calls++ == callsBeforeEnd)
        {
          throw Aborted{};
        }
      };
      EXPECT_THROW(voxelmaps::ComputeFuzzyConnectednessCuda(job, {}), Aborted);
      EXPECT_EQ(0u, GetUsedDeviceBytes());
    }
    job.execution.reportProgress = nullptr;
    EXPECT_THROW(voxelmaps::ComputeFuzzyConnectednessCuda(job, MakeCudaOptions<Options>(100000)),
                 voxelmaps::EngineError);
    EXPECT_EQ(0u, GetUsedDeviceBytes());
    // The device works after errors.
    voxelmaps::ComputeFuzzyConnectednessCuda(job, {});
    EXPECT_EQ(ComputeOnCpu<float>(job), strengths);
    EXPECT_EQ(0u, GetUsedDeviceBytes());
  }
  Options options;
  options.deviceID = voxelmaps::CudaDevices::GetNumberOfDevices();
  EXPECT_THROW(voxelmaps::ComputeFuzzyConnectednessCuda(job, options), voxelmaps::EngineError);
}

TEST_F(CudaConnectednessMemory, SeedsOutsideAMaskOnTheDeviceAreErrors)
{
  RandomNumbers random(15);
  auto          scene = MakeNoiseScene({ { 8, 7, 6 } }, 30, random);
  scene.seeds = { 5, 100 };
  const auto                randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Float);
  Job                       job = MakeFuzzyConnectednessJob(randomCase);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(job.GetNumberOfVoxels()), 1);
  mask[100] = 0;
  job.mask = mask.data();
  std::vector<float> strengths(mask.size());
  job.output = strengths.data();
  const std::string expected = GetErrorMessage([&job] { voxelmaps::ComputeFuzzyConnectedness(job); });
  const Place       place{ MemoryLocation::Device, MemoryLocation::Host, nullptr };
  const DeviceScene onDevice(randomCase, job, nullptr);
  Options           options;
  RelativeOptions   relativeOptions;
  place.Set(options);
  place.Set(relativeOptions);
  RelativeJob relative;
  static_cast<FuzzyConnectednessProblem &>(relative) = job;
  relative.labels = { 1, 2 };
  std::vector<std::uint8_t> labels(mask.size());
  relative.labelOutput = labels.data();
  onDevice.Set(job);
  onDevice.Set(relative);
  EXPECT_NE(std::string::npos, expected.find("a seed at voxel 100"));
  EXPECT_EQ(expected, GetErrorMessage([&] { voxelmaps::ComputeFuzzyConnectednessCuda(job, options); }));
  EXPECT_EQ(expected,
            GetErrorMessage([&] { voxelmaps::ComputeRelativeFuzzyConnectednessCuda(relative, relativeOptions); }));
}
