// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "TextureRandomCase.h"

#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/RunLengthJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// What only the CUDA engine has; everything else is tested by RunLengthJobGTest.cxx.
namespace
{
using Job = voxelmaps::RunLengthJob;
using Triple = voxelmaps::Triple;
using Enums = voxelmaps::RunLengthFeatureMapEnums;
using Method = Enums::CudaMethod;
using Options = voxelmaps::CudaRunLengthOptions;
using Report = voxelmaps::CudaRunLengthReport;
using VoxelMapsTest::ComputeOnCpu;
using VoxelMapsTest::ComputeOnDevice;
using VoxelMapsTest::CountNumbers;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::Print;
using VoxelMapsTest::RandomNumbers;
using VoxelMapsTest::RunThreads;
using VoxelMapsTest::Supports;

const std::vector<Method> allMethods = VoxelMapsTest::GetMethods<Method>();
// These must take every job.
const std::vector<Method> generalMethods{ Method::Automatic, Method::SortReduce, Method::WindowWalk };

Options
MakeOptions(Method method, std::uint64_t memoryBudget = 0)
{
  return VoxelMapsTest::MakeCudaOptions<Options>(method, memoryBudget);
}

class CudaRunLengthJob : public VoxelMapsTest::CudaTest
{};

/** The message of the error that a call must throw. */
std::string
GetErrorMessage(const std::function<void()> & action)
{
  try
  {
    action();
  }
  catch (const std::runtime_error & error)
  {
    return error.what();
  }
  ADD_FAILURE() << "no std::runtime_error";
  return "";
}

/** Levels with runs and holes, and a job over them. */
struct SceneJob
{
  SceneJob(const Triple & size, const Triple & windowSize, std::uint32_t numberOfGrayLevels, std::uint64_t seed = 5)
  {
    RandomNumbers random(seed);
    levels.resize(static_cast<std::size_t>(size[0] * size[1] * size[2]));
    for (std::size_t i = 0; i < levels.size(); ++i)
    {
      levels[i] =
        i > 0 && random.Chance(0.6) ? levels[i - 1] : static_cast<std::uint16_t>(random.Between(0, numberOfGrayLevels));
    }
    job.levels = levels.data();
    job.levelsSize = size;
    job.numberOfGrayLevels = numberOfGrayLevels;
    job.outputSize = size;
    job.windowSize = windowSize;
    job.windowAnchor = { { windowSize[0] / 2, windowSize[1] / 2, windowSize[2] / 2 } };
    job.offsets = { { { 1, 0, 0 } }, { { -1, 1, 0 } } };
    if (size[2] > 1)
    {
      job.offsets.push_back({ { 1, -1, 1 } });
    }
    job.features = Enums::GetElevenFeatures();
    job.backgroundValue = -1.0;
  }

  std::vector<std::uint16_t> levels;
  Job                        job;
};

/** A small flat scene that every method takes. */
SceneJob
MakeSmallScene()
{
  SceneJob scene({ { 60, 40, 1 } }, { { 4, 4, 1 } }, 32);
  scene.job.aggregation = Job::Aggregation::PerDirection;
  return scene;
}

template <typename TReal>
void
ExpectCpuBits(const Job & job)
{
  const auto expected = ComputeOnCpu<TReal>(job);
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(Print(method));
    Job methodJob = job;
    try
    {
      ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<TReal>(methodJob, MakeOptions(method))));
    }
    catch (const std::runtime_error & error)
    {
      ASSERT_TRUE(VoxelMapsTest::IsUnsupported(error.what())) << error.what();
      const bool mergesVaryingDirections =
        job.skipDirectionsWithoutPairs && job.aggregation == Job::Aggregation::Merge && method == Method::SortReduce;
      ASSERT_EQ(mergesVaryingDirections ? 1 : 0, std::count(generalMethods.begin(), generalMethods.end(), method))
        << error.what();
    }
  }
}

void
CheckRandomCases(std::uint64_t firstSeed, unsigned int dimension, unsigned int count)
{
  for (std::uint64_t seed = firstSeed; seed < firstSeed + count; ++seed)
  {
    RandomNumbers     random(seed);
    TextureRandomCase randomCase = DrawTextureRandomCase(seed, dimension, 65535, random);
    const std::string holes = DrawHoles(randomCase.levels, random);
    SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes);
    const Job job = MakeRunLengthJob(randomCase);
    if (random.Chance(0.5))
    {
      ExpectCpuBits<float>(job);
    }
    else
    {
      ExpectCpuBits<double>(job);
    }
    if (::testing::Test::HasFatalFailure())
    {
      return;
    }
  }
}

/** The greatest number in a text. */
std::uint64_t
GreatestNumberIn(const std::string & text)
{
  std::uint64_t greatest = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
  {
    if (std::isdigit(static_cast<unsigned char>(text[i])) &&
        (i == 0 || !std::isdigit(static_cast<unsigned char>(text[i - 1]))))
    {
      greatest = std::max<std::uint64_t>(greatest, std::strtoull(text.c_str() + i, nullptr, 10));
    }
  }
  return greatest;
}
} // namespace

TEST_F(CudaRunLengthJob, RandomCasesIn2DHaveTheBitsOfTheCpu)
{
  CheckRandomCases(600000, 2, 1000);
}

TEST_F(CudaRunLengthJob, RandomCasesIn3DHaveTheBitsOfTheCpu)
{
  CheckRandomCases(610000, 3, 1000);
}

TEST_F(CudaRunLengthJob, SmallCases)
{
  // For compute-sanitizer: few voxels, all methods, all features.
  int count = 0;
  for (std::uint64_t seed = 620000; count < 30; ++seed)
  {
    RandomNumbers     random(seed);
    TextureRandomCase randomCase = DrawTextureRandomCase(seed, 2 + seed % 2, 300, random);
    if (randomCase.levels.values.size() > 500)
    {
      continue;
    }
    const std::string holes = DrawHoles(randomCase.levels, random);
    SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes);
    Job job = MakeRunLengthJob(randomCase);
    ExpectCpuBits<double>(job);
    std::vector<std::uint8_t> selection(CountNumbers(job) / job.GetNumberOfComponents());
    std::generate(selection.begin(), selection.end(), [&random] { return random.Chance(0.5) ? 1 : 0; });
    job.selection = selection.data();
    job.skipDirectionsWithoutPairs = true;
    ExpectCpuBits<float>(job);
    ++count;
  }
  ExpectCpuBits<float>(MakeSmallScene().job);
}

TEST_F(CudaRunLengthJob, FewVoxels)
{
  // For racecheck, which takes minutes for the small cases.
  int count = 0;
  for (std::uint64_t seed = 630000; count < 4; ++seed)
  {
    RandomNumbers           random(seed);
    const TextureRandomCase randomCase = DrawTextureRandomCase(seed, 2 + seed % 2, 20, random);
    if (randomCase.levels.values.size() <= 30)
    {
      SCOPED_TRACE(randomCase);
      ExpectCpuBits<float>(MakeRunLengthJob(randomCase));
      ++count;
    }
  }
}

TEST_F(CudaRunLengthJob, RunEntropyOfSmallWindows)
{
  // Levels of 6, 9 and 16 bits; windows of 10 voxels along an axis, or with a direction twice, have tables instead.
  for (const Triple & windowSize : { Triple{ { 1, 3, 2 } },
                                     Triple{ { 3, 3, 3 } },
                                     Triple{ { 5, 5, 5 } },
                                     Triple{ { 5, 4, 1 } },
                                     Triple{ { 2, 7, 6 } },
                                     Triple{ { 7, 7, 7 } },
                                     Triple{ { 8, 9, 1 } },
                                     Triple{ { 9, 9, 9 } },
                                     Triple{ { 10, 3, 3 } } })
  {
    for (const std::uint32_t numberOfGrayLevels : { 1u, 20u, 63u, 64u, 511u, 512u, 65535u })
    {
      SCOPED_TRACE(::testing::Message() << windowSize[0] << " x " << windowSize[1] << " x " << windowSize[2] << ", "
                                        << numberOfGrayLevels << " levels");
      SceneJob scene({ { 35, 11, 10 } }, windowSize, numberOfGrayLevels);
      scene.job.features = { Job::Feature::RunEntropy };
      for (const auto aggregation :
           { Job::Aggregation::Average, Job::Aggregation::PerDirection, Job::Aggregation::Merge })
      {
        scene.job.aggregation = aggregation;
        ExpectCpuBits<double>(scene.job);
      }
      scene.job.offsets.clear();
      for (std::int64_t i = 0; i < 13; ++i)
      {
        scene.job.offsets.push_back({ { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 } });
      }
      ExpectCpuBits<double>(scene.job);
      scene.job.offsets.back() = scene.job.offsets.front();
      ExpectCpuBits<double>(scene.job);
      if (::testing::Test::HasFailure())
      {
        return;
      }
    }
  }
}

TEST_F(CudaRunLengthJob, AveragesAtTheLimitsOfPackedSums)
{
  // Several tiles; up to 32 levels (5 x 5 x 5) or 63 (3 x 3 x 3) share a 64-bit word with 1 / i^2, and greatest sums
  // come from scenes of one level.
  for (const std::int64_t side : { 3, 5 })
  {
    for (const std::uint32_t numberOfGrayLevels : { 1u, 9u, 31u, 32u, 33u, 63u, 64u, 65u, 255u })
    {
      SceneJob scene({ { 67, 35, 7 } }, { { side, side, side } }, numberOfGrayLevels);
      scene.job.aggregation = Job::Aggregation::Average;
      scene.job.offsets.clear();
      for (std::int64_t i = 14; i < 27; ++i)
      {
        scene.job.offsets.push_back({ { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 } });
      }
      for (const std::uint32_t onlyLevel : { 0u, 1u, numberOfGrayLevels })
      {
        SCOPED_TRACE(::testing::Message()
                     << "side " << side << ", " << numberOfGrayLevels << " levels, only " << onlyLevel);
        if (onlyLevel > 0)
        {
          std::fill(scene.levels.begin(), scene.levels.end(), static_cast<std::uint16_t>(onlyLevel));
        }
        scene.job.features = Enums::GetElevenFeatures();
        ASSERT_TRUE(HasSameBits(ComputeOnCpu<double>(scene.job),
                                ComputeOnDevice<double>(scene.job, MakeOptions(Method::BoxSums))));
        // Without 1 / i^2 and without sums over levels.
        scene.job.features = { Enums::Feature::RunPercentage, Enums::Feature::LongRunHighGrayLevelEmphasis };
        ASSERT_TRUE(
          HasSameBits(ComputeOnCpu<float>(scene.job), ComputeOnDevice<float>(scene.job, MakeOptions(Method::BoxSums))));
      }
    }
  }
}

TEST_F(CudaRunLengthJob, ReportsMethodAndSlabs)
{
  const SceneJob scene = MakeSmallScene();
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(Print(method));
    Report report;
    ComputeOnDevice<float>(scene.job, MakeOptions(method), report);
    EXPECT_EQ(method == Method::Automatic, report.method != method);
    EXPECT_NE(Method::Automatic, report.method);
    EXPECT_EQ(voxelmaps::CudaDevices::GetName(0), report.deviceName);
    EXPECT_FALSE(report.deviceName.empty());
    EXPECT_EQ(1u, report.numberOfSlabs);
    EXPECT_GT(report.kernelMilliseconds, 0.0);
  }
}

TEST_F(CudaRunLengthJob, UnsupportedMethodThrows)
{
  // 9 x 9 x 9 voxels are no machine word.
  const SceneJob volume({ { 12, 11, 10 } }, { { 9, 9, 9 } }, 32);
  EXPECT_FALSE(Supports(volume.job, Method::WindowWord));
  for (const Method method : generalMethods)
  {
    EXPECT_TRUE(Supports(volume.job, method)) << Print(method);
  }
  const SceneJob small = MakeSmallScene();
  for (const Method method : allMethods)
  {
    EXPECT_TRUE(Supports(small.job, method)) << Print(method);
  }
}

TEST_F(CudaRunLengthJob, AutomaticChoosesSlidingWindowForWideAndMergedWindows)
{
  const auto chooseMethod = [](const Job & job) {
    Report report;
    ComputeOnDevice<float>(job, MakeOptions(Method::Automatic), report);
    return report.method;
  };
  EXPECT_EQ(Method::SlidingWindow, chooseMethod(SceneJob({ { 30, 20, 1 } }, { { 10, 10, 1 } }, 32).job));
  EXPECT_EQ(Method::SlidingWindow, chooseMethod(SceneJob({ { 12, 11, 10 } }, { { 3, 3, 11 } }, 32).job));
  SceneJob merged({ { 12, 11, 10 } }, { { 5, 5, 5 } }, 32);
  EXPECT_EQ(Method::BoxSums, chooseMethod(merged.job));
  merged.job.aggregation = Job::Aggregation::Merge;
  EXPECT_EQ(Method::SlidingWindow, chooseMethod(merged.job));
  // Run entropy has a kernel beside these methods, for windows whose counts fit shared memory.
  merged.job.features = { Enums::Feature::RunEntropy };
  EXPECT_EQ(Method::SlidingWindow, chooseMethod(merged.job));
  SceneJob wide({ { 12, 11, 10 } }, { { 9, 9, 9 } }, 1000);
  wide.job.features = Enums::GetAllFeatures();
  EXPECT_FALSE(Supports(wide.job, Method::BoxSums));
  EXPECT_EQ(Method::WindowWalk, chooseMethod(wide.job));
}

TEST_F(CudaRunLengthJob, RunEntropyBesideOtherMethods)
{
  struct EntropyCase
  {
    Triple        windowSize;
    std::uint32_t numberOfGrayLevels;
    double        newLevelChance;
    Method        method;
  };
  // Windows of 255, 256 and more voxels, whose counts are of 8 and 16 bits; as many levels as voxels; levels that are
  // looked up or searched; and windows of one level, with the greatest counts.
  const std::vector<EntropyCase> cases{
    { { { 4, 4, 1 } }, 32, 0.5, Method::WindowWord },      { { { 4, 3, 1 } }, 16383, 1.0, Method::WindowWord },
    { { { 5, 5, 5 } }, 32, 0.5, Method::BoxSums },         { { { 5, 5, 5 } }, 256, 1.0, Method::BoxSums },
    { { { 3, 4, 3 } }, 1024, 1.0, Method::BoxSums },       { { { 7, 7, 7 } }, 32, 0.2, Method::BoxSums },
    { { { 5, 5, 5 } }, 3, 0.0, Method::BoxSums },          { { { 7, 7, 7 } }, 3, 0.0, Method::BoxSums },
    { { { 17, 15, 1 } }, 32, 0.5, Method::SlidingWindow }, { { { 16, 16, 1 } }, 32, 0.5, Method::SlidingWindow },
    { { { 17, 15, 1 } }, 2, 0.0, Method::SlidingWindow },  { { { 3, 3, 3 } }, 20000, 1.0, Method::SlidingWindow },
    { { { 16, 16, 1 } }, 2, 0.0, Method::SlidingWindow },  { { { 10, 5, 5 } }, 60, 0.9, Method::SlidingWindow }
  };
  for (const EntropyCase & entropy : cases)
  {
    for (const double holeChance : { 0.0, 0.1 })
    {
      SceneJob      scene({ { 45, 21, 6 } }, entropy.windowSize, entropy.numberOfGrayLevels);
      RandomNumbers random(12);
      for (std::size_t i = 0; i < scene.levels.size(); ++i)
      {
        scene.levels[i] = i == 0 || random.Chance(entropy.newLevelChance)
                            ? static_cast<std::uint16_t>(random.Between(1, entropy.numberOfGrayLevels))
                            : scene.levels[i - 1];
      }
      std::replace_if(
        scene.levels.begin(),
        scene.levels.end(),
        [&](std::uint16_t) { return random.Chance(holeChance); },
        std::uint16_t{ 0 });
      scene.job.offsets.push_back({ { 0, 1, 0 } });
      for (const auto aggregation :
           { Job::Aggregation::PerDirection, Job::Aggregation::Average, Job::Aggregation::Merge })
      {
        scene.job.aggregation = aggregation;
        for (const bool isAlone : { false, true })
        {
          SCOPED_TRACE(::testing::Message()
                       << entropy.windowSize[0] << " x " << entropy.windowSize[1] << " x " << entropy.windowSize[2]
                       << ", " << entropy.numberOfGrayLevels << " levels, " << holeChance << ", " << aggregation
                       << (isAlone ? ", alone" : ""));
          scene.job.features = Enums::GetAllFeatures();
          // Not the last component.
          std::swap(scene.job.features[3], scene.job.features.back());
          if (isAlone)
          {
            scene.job.features = { Enums::Feature::RunEntropy };
          }
          const auto expected = ComputeOnCpu<double>(scene.job);
          Report     report;
          ASSERT_TRUE(
            HasSameBits(expected, ComputeOnDevice<double>(scene.job, MakeOptions(Method::Automatic), report)));
          const bool isMerged = aggregation == Job::Aggregation::Merge;
          ASSERT_EQ(isMerged ? Method::SlidingWindow : entropy.method, report.method);
          const std::uint64_t budget = std::uint64_t{ 4 } << 20;
          ASSERT_TRUE(
            HasSameBits(expected, ComputeOnDevice<double>(scene.job, MakeOptions(Method::Automatic, budget))));
        }
      }
    }
  }
}

TEST_F(CudaRunLengthJob, WideWindowsHaveTheBitsOfTheCpu)
{
  struct WideCase
  {
    Triple        size;
    Triple        windowSize;
    std::uint32_t numberOfGrayLevels;
  };
  // Runs of up to 255 voxels, which are more than sums of all lengths fit for; many levels; windows that go beyond the
  // image.
  const std::vector<WideCase> cases{
    { { { 70, 50, 1 } }, { { 31, 31, 1 } }, 256 },  { { { 300, 9, 1 } }, { { 255, 4, 1 } }, 2 },
    { { { 9, 300, 1 } }, { { 4, 255, 1 } }, 2 },    { { { 40, 30, 1 } }, { { 90, 10, 1 } }, 5000 },
    { { { 24, 20, 18 } }, { { 15, 15, 15 } }, 32 }, { { { 13, 12, 40 } }, { { 2, 3, 33 } }, 1000 }
  };
  for (const WideCase & wide : cases)
  {
    for (const double holeChance : { 0.0, 0.3 })
    {
      SceneJob scene(wide.size, wide.windowSize, wide.numberOfGrayLevels);
      // One direction has the longest runs.
      RandomNumbers random(11);
      for (std::uint16_t & level : scene.levels)
      {
        level = random.Chance(holeChance) ? 0 : random.Chance(0.02) ? level : 1;
      }
      scene.job.offsets.push_back({ { 0, 1, 0 } });
      scene.job.features = Enums::GetAllFeatures();
      scene.job.features.pop_back(); // run entropy
      for (const auto aggregation :
           { Job::Aggregation::PerDirection, Job::Aggregation::Average, Job::Aggregation::Merge })
      {
        SCOPED_TRACE(::testing::Message() << wide.windowSize[0] << " x " << wide.windowSize[1] << " x "
                                          << wide.windowSize[2] << ", " << holeChance << ", " << aggregation);
        scene.job.aggregation = aggregation;
        const auto expected = ComputeOnCpu<double>(scene.job);
        ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(scene.job, MakeOptions(Method::SlidingWindow))));
        ASSERT_TRUE(HasSameBits(
          expected, ComputeOnDevice<double>(scene.job, MakeOptions(Method::SlidingWindow, std::uint64_t{ 1 } << 22))));
      }
    }
  }
}

TEST_F(CudaRunLengthJob, EmptyRegionNeedsNoWork)
{
  SceneJob scene = MakeSmallScene();
  scene.job.outputSize[1] = 0;
  for (const Method method : allMethods)
  {
    EXPECT_NO_THROW(ComputeOnDevice<float>(scene.job, MakeOptions(method))) << Print(method);
  }
}

TEST_F(CudaRunLengthJob, SlabsDoNotChangeBits)
{
  for (const std::int64_t planes : { 2, 3, 7 })
  {
    SceneJob scene({ { 22, 18, planes } }, { { 3, 4, 3 } }, 16);
    // A part of the image, so that slabs reach beyond the output; and much output for the scratch memory of SortReduce.
    scene.job.outputIndex = { { 1, 2, 0 } };
    scene.job.outputSize = { { 20, 14, planes } };
    scene.job.aggregation = Job::Aggregation::PerDirection;
    const auto expected = ComputeOnCpu<double>(scene.job);
    for (const Method method : allMethods)
    {
      SCOPED_TRACE(::testing::Message() << planes << " planes, " << Print(method));
      if (!Supports(scene.job, method))
      {
        continue;
      }
      std::set<std::uint64_t> numbers;
      bool                    hasEnoughMemory = true;
      for (std::uint64_t budget = std::uint64_t{ 64 } << 20; hasEnoughMemory && budget > 0; budget = budget * 3 / 4)
      {
        try
        {
          Report report;
          ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(scene.job, MakeOptions(method, budget), report)));
          numbers.insert(report.numberOfSlabs);
        }
        catch (const std::runtime_error &)
        {
          hasEnoughMemory = false;
        }
      }
      EXPECT_EQ(1u, *numbers.begin());
      EXPECT_TRUE(*numbers.rbegin() >= static_cast<std::uint64_t>(planes)) << *numbers.rbegin() << " slabs at most";
    }
  }
}

TEST_F(CudaRunLengthJob, SlabsOfRowsDoNotChangeBits)
{
  SceneJob   scene = MakeSmallScene();
  const auto expected = ComputeOnCpu<double>(scene.job);
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(Print(method));
    std::uint64_t most = 0;
    for (std::uint64_t budget = std::uint64_t{ 16 } << 20; budget > 4096; budget = budget * 3 / 4)
    {
      try
      {
        Report report;
        ASSERT_TRUE(HasSameBits(expected, ComputeOnDevice<double>(scene.job, MakeOptions(method, budget), report)));
        most = std::max(most, report.numberOfSlabs);
      }
      catch (const std::runtime_error &)
      {
        break;
      }
    }
    EXPECT_GE(most, 7u);
  }
}

TEST_F(CudaRunLengthJob, ErrorStatesRequiredBytes)
{
  const SceneJob scene({ { 300, 200, 5 } }, { { 5, 5, 5 } }, 32);
  const auto     expected = ComputeOnCpu<float>(scene.job);
  for (const Method method : generalMethods)
  {
    SCOPED_TRACE(Print(method));
    const std::string message = GetErrorMessage([&] { ComputeOnDevice<float>(scene.job, MakeOptions(method, 1000)); });
    const std::uint64_t needed = GreatestNumberIn(message);
    EXPECT_GT(needed, 1000u) << message;
    EXPECT_TRUE(VoxelMapsTest::ContainsWord(message, "1000")) << message;
    if (method != Method::SortReduce) // which would do window by window
    {
      EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, MakeOptions(method, needed)))) << message;
    }
    GetErrorMessage([&] { ComputeOnDevice<float>(scene.job, MakeOptions(method, needed - 1)); });
  }
}

TEST_F(CudaRunLengthJob, InvalidDeviceIDsThrow)
{
  const SceneJob scene = MakeSmallScene();
  const int      number = voxelmaps::CudaDevices::GetNumberOfDevices();
  ASSERT_GE(number, 1);
  for (const int deviceID : { -1, number, 12345 })
  {
    Options options;
    options.deviceID = deviceID;
    const std::string message = GetErrorMessage([&] { ComputeOnDevice<float>(scene.job, options); });
    EXPECT_NE(std::string::npos, message.find("DeviceID")) << message;
    EXPECT_NE(std::string::npos, message.find(std::to_string(deviceID))) << message;
  }
  EXPECT_TRUE(HasSameBits(ComputeOnCpu<float>(scene.job), ComputeOnDevice<float>(scene.job, Options{})));
}

TEST_F(CudaRunLengthJob, RepeatedRunsGiveTheSameBits)
{
  SceneJob scene({ { 131, 97, 23 } }, { { 5, 5, 5 } }, 32);
  scene.job.aggregation = Job::Aggregation::Average;
  const SceneJob other({ { 150, 90, 25 } }, { { 3, 3, 3 } }, 7, 77);
  const auto     expected = ComputeOnCpu<float>(scene.job);
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(Print(method));
    if (!Supports(scene.job, method))
    {
      continue;
    }
    for (int run = 0; run < 5; ++run)
    {
      EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, MakeOptions(method)))) << "run " << run;
      // Leaves other numbers in the memory that the next run gets.
      ComputeOnDevice<float>(other.job, MakeOptions(method));
    }
  }
}

TEST_F(CudaRunLengthJob, DeviceMemoryIsTheSameBeforeAndAfter)
{
  const SceneJob volume({ { 90, 80, 20 } }, { { 5, 5, 5 } }, 64);
  const SceneJob small = MakeSmallScene();
  const auto     use = [&](Method method) {
    for (const SceneJob * scene : { &volume, &small })
    {
      if (!Supports(scene->job, method))
      {
        continue;
      }
      ComputeOnDevice<double>(scene->job, MakeOptions(method));
      ComputeOnDevice<float>(scene->job, MakeOptions(method, std::uint64_t{ 8 } << 20));

      // Errors before, and an abort in the middle.
      GetErrorMessage([&] { ComputeOnDevice<float>(scene->job, MakeOptions(method, 100)); });
      Job aborted = scene->job;
      aborted.execution.reportProgress = [](std::uint64_t numberOfVoxels) {
        if (numberOfVoxels > 0)
        {
          throw std::runtime_error("enough");
        }
      };
      EXPECT_EQ("enough", GetErrorMessage([&] { ComputeOnDevice<float>(aborted, MakeOptions(method)); }));
      aborted.execution.reportProgress = [](std::uint64_t) { throw std::runtime_error("at once"); };
      EXPECT_EQ("at once", GetErrorMessage([&] { ComputeOnDevice<float>(aborted, MakeOptions(method)); }));
    }
  };
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(Print(method));
    // The first time, CUDA loads the kernels.
    use(method);
    const std::uint64_t before = voxelmaps::CudaDevices::GetFreeMemory(0);
    use(method);
    EXPECT_EQ(before, voxelmaps::CudaDevices::GetFreeMemory(0));
  }
}

TEST_F(CudaRunLengthJob, ExceptionOfReportProgressEndsTheJobOfEveryMethod)
{
  SceneJob   scene({ { 64, 48, 24 } }, { { 3, 3, 3 } }, 16);
  const auto expected = ComputeOnCpu<float>(scene.job);
  for (const Method method : allMethods)
  {
    SCOPED_TRACE(Print(method));
    if (!Supports(scene.job, method))
    {
      continue;
    }
    std::uint64_t done = 0;
    Job           aborted = scene.job;
    aborted.execution.reportProgress = [&done](std::uint64_t numberOfVoxels) {
      done += numberOfVoxels;
      if (done > 0)
      {
        throw std::runtime_error("enough");
      }
    };
    // Slabs of this budget are a part of the volume.
    const Options options = MakeOptions(method, std::uint64_t{ 1 } << 20);
    EXPECT_EQ("enough", GetErrorMessage([&] { ComputeOnDevice<float>(aborted, options); }));
    EXPECT_LT(done, scene.levels.size());
    EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, options)));
  }
}

TEST_F(CudaRunLengthJob, SeveralHostThreadsAtTheSameTime)
{
  SceneJob         volume({ { 70, 60, 12 } }, { { 5, 5, 5 } }, 32);
  const SceneJob   small = MakeSmallScene();
  const auto       volumeExpected = ComputeOnCpu<float>(volume.job);
  const auto       smallExpected = ComputeOnCpu<float>(small.job);
  std::atomic<int> differences{ 0 };
  RunThreads(10, [&](unsigned int thread) {
    const Method method = allMethods[thread % allMethods.size()];
    for (int run = 0; run < 4; ++run)
    {
      differences += HasSameBits(smallExpected, ComputeOnDevice<float>(small.job, MakeOptions(method))) ? 0 : 1;
      const Method general = generalMethods[thread % generalMethods.size()];
      differences += HasSameBits(volumeExpected, ComputeOnDevice<float>(volume.job, MakeOptions(general))) ? 0 : 1;
    }
  });
  EXPECT_EQ(0, differences.load());
}

TEST_F(CudaRunLengthJob, HostThreadsWithDifferentSharedMemory)
{
  // The same kernels, with 2 to 1,024 levels in shared memory, and outputs of both sizes.
  std::vector<SceneJob> scenes;
  for (const std::uint32_t levels : { 2u, 64u, 256u, 512u, 1024u })
  {
    scenes.emplace_back(SceneJob({ { 70, 60, 6 } }, { { 5, 5, 5 } }, levels));
    scenes.back().job.features = Enums::GetAllFeatures();
    scenes.back().job.features.pop_back();
    scenes.back().job.aggregation = Job::Aggregation::Average;
  }
  std::vector<std::vector<double>> expected;
  for (const SceneJob & scene : scenes)
  {
    expected.push_back(ComputeOnCpu<double>(scene.job));
  }
  RunThreads(static_cast<unsigned int>(2 * scenes.size()), [&](unsigned int thread) {
    const std::size_t which = thread % scenes.size();
    for (int run = 0; run < 20; ++run)
    {
      EXPECT_TRUE(
        HasSameBits(expected[which], ComputeOnDevice<double>(scenes[which].job, MakeOptions(Method::BoxSums))));
    }
  });
}

TEST_F(CudaRunLengthJob, KeysOfPrimitivesThatNeed64Bits)
{
  // 40000 windows, 65536 levels and 15 lengths are more than 2^32 keys.
  for (const auto aggregation : { Job::Aggregation::PerDirection, Job::Aggregation::Merge })
  {
    SceneJob scene({ { 200, 200, 1 } }, { { 15, 15, 1 } }, 65535);
    scene.job.features = Enums::GetAllFeatures();
    scene.job.aggregation = aggregation;
    EXPECT_TRUE(HasSameBits(ComputeOnCpu<double>(scene.job),
                            ComputeOnDevice<double>(scene.job, MakeOptions(Method::SortReduce))));
  }
}

TEST_F(CudaRunLengthJob, BatchesOfPrimitivesDoNotChangeBits)
{
  // 2^27 voxels of windows fit a batch; these are more, and with less memory there are more batches.
  SceneJob scene({ { 500, 400, 3 } }, { { 9, 9, 3 } }, 100);
  scene.job.features = Enums::GetAllFeatures();
  for (const auto aggregation : { Job::Aggregation::Average, Job::Aggregation::Merge })
  {
    scene.job.aggregation = aggregation;
    const auto expected = ComputeOnCpu<float>(scene.job);
    for (const std::uint64_t budget : { 0, 100000000, 400000000 })
    {
      EXPECT_TRUE(HasSameBits(expected, ComputeOnDevice<float>(scene.job, MakeOptions(Method::SortReduce, budget))))
        << budget;
    }
  }
}

TEST_F(CudaRunLengthJob, MoreThan2To31Voxels)
{
  const char * const variable = std::getenv("VOXELMAPS_LARGE_TESTS");
  if (variable == nullptr || std::string(variable) != "1")
  {
    GTEST_SKIP() << "needs 22 GB of memory: set VOXELMAPS_LARGE_TESTS=1";
  }
  const Triple               size{ { 1291, 1291, 1291 } };
  const auto                 voxels = static_cast<std::size_t>(size[0] * size[1] * size[2]);
  std::vector<std::uint16_t> levels(voxels);
  std::uint32_t              state = 1;
  for (std::uint16_t & level : levels)
  {
    state = state * 1664525u + 1013904223u;
    level = static_cast<std::uint16_t>(state >> 30);
  }
  ASSERT_GT(voxels, std::size_t{ 1 } << 31);
  Job job;
  job.levels = levels.data();
  job.levelsSize = size;
  job.numberOfGrayLevels = 3;
  job.outputSize = size;
  job.windowSize = { { 2, 2, 2 } };
  job.windowAnchor = { { 1, 0, 1 } };
  job.offsets = { { { 1, -1, 1 } } };
  job.features = { Enums::Feature::LongRunEmphasis };
  job.execution.numberOfWorkers = std::max(1u, std::thread::hardware_concurrency());
  job.execution.parallelFor = RunThreads;
  std::vector<float> expected(voxels);
  job.output = expected.data();
  voxelmaps::ComputeRunLengthFeatureMaps(job);
  std::vector<float> actual(voxels);
  job.output = actual.data();
  for (const Method method : generalMethods)
  {
    std::fill(actual.begin(), actual.end(), -1.0F);
    voxelmaps::ComputeRunLengthFeatureMapsCuda(job, MakeOptions(method));
    EXPECT_TRUE(HasSameBits(expected, actual)) << Print(method);
  }
}
