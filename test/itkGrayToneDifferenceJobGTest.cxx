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
#include "GrayToneDifferenceRandomCase.h"
#include "GuardedOutput.h"
#include "TestedClasses.h"
#include "VoxelMapsTestUtilities.h"

#include "itkGrayToneDifferenceJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using Job = itk::voxelmaps::GrayToneDifferenceJob;
using Triple = itk::voxelmaps::Triple;
using Enums = itk::GrayToneDifferenceFeatureMapEnums;
using VoxelMapsTest::GetGrayToneDifferenceEngines;
using VoxelMapsTest::GrayToneDifferenceEngine;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::isCudaTest;
using VoxelMapsTest::RandomNumbers;
using VoxelMapsTest::RunThreads;

/** The output of a job by an engine; nothing if the engine cannot take the job. */
template <typename TReal>
std::vector<TReal>
Compute(const Job & job, const GrayToneDifferenceEngine & engine = GetGrayToneDifferenceEngines().front())
{
  return VoxelMapsTest::ComputeIntoGuardedOutput<TReal>(job, job.features.size(), engine);
}

/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal>
void
CheckCase(const GrayToneDifferenceRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  Job job = MakeGrayToneDifferenceJob(randomCase);
  job.backgroundValue = 3.0;
  // An index frame of its own must not matter.
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t shift = random.Between(-1000, 1000);
    job.levelsIndex[axis] += shift;
    job.outputIndex[axis] += shift;
  }

  std::vector<TReal> first;
  for (const GrayToneDifferenceEngine & engine : GetGrayToneDifferenceEngines())
  {
    SCOPED_TRACE(engine.name);
    const bool hasThreads = random.Chance(0.5);
    job.execution.numberOfWorkers = hasThreads ? static_cast<unsigned int>(random.Between(1, 5)) : 1;
    job.execution.parallelFor = hasThreads ? RunThreads : decltype(job.execution.parallelFor){};
    std::atomic<std::uint64_t> completed{ 0 };
    job.execution.reportProgress = [&completed](std::uint64_t numberOfVoxels) { completed += numberOfVoxels; };
    const std::vector<TReal> result = Compute<TReal>(job, engine);
    if (first.empty())
    {
      first = result;
      ASSERT_TRUE(AgreesWithOracle(randomCase, result, job.backgroundValue, random, budget));
    }
    else if (result.empty())
    {
      continue; // cannot take the job
    }
    EXPECT_EQ(static_cast<std::uint64_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]), completed.load());
    ASSERT_TRUE(HasSameBits(first, result));
  }

  // The engine that walks every window, while it does not take too long.
  double steps = static_cast<double>(job.offsets.size());
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    steps *= static_cast<double>(job.windowSize[axis] * job.outputSize[axis]);
  }
  if (steps < 2e6 && !isCudaTest)
  {
    SCOPED_TRACE("windows walked one by one");
    job.walkWindows = true;
    job.execution.reportProgress = nullptr;
    ASSERT_TRUE(HasSameBits(first, Compute<TReal>(job)));
  }
}

void
CheckRandomCases(std::uint64_t firstSeed, unsigned int dimension, unsigned int count)
{
  for (std::uint64_t seed = firstSeed; seed < firstSeed + count; ++seed)
  {
    RandomNumbers                random(seed);
    GrayToneDifferenceRandomCase randomCase = DrawGrayToneDifferenceRandomCase(seed, dimension, 65535, random);
    const std::string            holes = DrawHoles(randomCase.common.levels, random);
    SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes);
    if (random.Chance(0.5))
    {
      CheckCase<float>(randomCase, random, 15000);
    }
    else
    {
      CheckCase<double>(randomCase, random, 15000);
    }
    if (::testing::Test::HasFailure())
    {
      return;
    }
  }
}

/** All offsets of the neighbors at a distance. */
std::vector<Triple>
OffsetsOfDistance(std::int64_t distance)
{
  std::vector<Triple> offsets;
  for (std::int64_t z = -distance; z <= distance; ++z)
  {
    for (std::int64_t y = -distance; y <= distance; ++y)
    {
      for (std::int64_t x = -distance; x <= distance; ++x)
      {
        const std::int64_t last = z != 0 ? z : y != 0 ? y : x;
        if (last > 0 && std::max({ std::abs(x), std::abs(y), std::abs(z) }) == distance)
        {
          offsets.push_back({ { x, y, z } });
        }
      }
    }
  }
  return offsets;
}

/** Noise with holes, and all features. */
struct NoiseJob
{
  explicit NoiseJob(const Triple & size, std::uint32_t numberOfGrayLevels = 16)
    : levels(static_cast<std::size_t>(size[0] * size[1] * size[2]))
  {
    RandomNumbers random(7);
    for (std::uint16_t & level : levels)
    {
      level = static_cast<std::uint16_t>(random.Chance(0.1) ? 0 : random.Between(1, numberOfGrayLevels));
    }
    job.levels = levels.data();
    job.levelsSize = size;
    job.outputSize = size;
    job.numberOfGrayLevels = numberOfGrayLevels;
    job.windowSize = { { 3, 3, std::min<std::int64_t>(size[2], 3) } };
    job.windowAnchor = { { 1, 1, job.windowSize[2] / 2 } };
    job.offsets = OffsetsOfDistance(1);
    job.features = Enums::GetAllFeatures();
  }

  std::vector<std::uint16_t> levels;
  Job                        job;
};

void
ExpectRefusal(const Job & job, const std::vector<std::string> & words)
{
  std::vector<float> output(std::max<std::size_t>(job.features.size(), 1) * 64);
  Job                withOutput = job;
  withOutput.output = output.data();
  try
  {
    GetGrayToneDifferenceEngines().front().compute(withOutput);
    ADD_FAILURE() << "no error";
  }
  catch (const itk::voxelmaps::EngineError & error)
  {
    for (const std::string & word : words)
    {
      EXPECT_TRUE(VoxelMapsTest::ContainsWord(error.what(), word)) << word << " is missing in: " << error.what();
    }
  }
}
} // namespace

// Few enough for compute-sanitizer.
TEST(GrayToneDifferenceJob, SmallCases)
{
  CheckRandomCases(810000, 2, 4);
  CheckRandomCases(810100, 3, 4);
}

TEST(GrayToneDifferenceJob, RandomCasesIn2D)
{
  CheckRandomCases(811000, 2, 700);
}

TEST(GrayToneDifferenceJob, RandomCasesIn3D)
{
  CheckRandomCases(820000, 3, 700);
}

TEST(GrayToneDifferenceJob, LargeWindowsAndManyLevels)
{
  // Sums in 64 and in 128 bits, weights of few and of many neighbors, tables of few and of many levels.
  const std::vector<Triple> windows{ { { 40, 40, 40 } }, { { 255, 255, 1 } }, { { 17, 17, 17 } }, { { 11, 11, 11 } },
                                     { { 9, 9, 9 } },    { { 255, 3, 3 } },   { { 3, 250, 2 } },  { { 2, 2, 2 } } };
  const std::vector<std::uint32_t> numbersOfLevels{ 2, 33, 256, 1000, 1025, 65535 };
  std::uint64_t                    seed = 830000;
  for (const Triple & window : windows)
  {
    for (const std::uint32_t levels : numbersOfLevels)
    {
      for (const std::int64_t used : { std::int64_t{ 3 }, std::int64_t{ std::min<std::uint32_t>(levels, 1500) } })
      {
        ++seed;
        // The oracle takes long for the largest windows.
        const bool isLarge = window[0] * window[1] * window[2] > 1000;
        if (isLarge && (used == 3 || levels != 65535))
        {
          continue;
        }
        RandomNumbers                random(seed);
        GrayToneDifferenceRandomCase randomCase = DrawGrayToneDifferenceRandomCase(seed, 3, 65535, random);
        RunLengthRandomCase &        common = randomCase.common;
        common.numberOfGrayLevels = levels;
        common.window.size = window;
        for (unsigned int axis = 0; axis < 3; ++axis)
        {
          common.levels.size[axis] = window[axis] + (axis == 0 ? 6 : random.Below(2));
          common.window.anchor[axis] = random.Below(window[axis]);
          common.regionIndex[axis] = std::min<std::int64_t>(common.window.anchor[axis], common.levels.size[axis] - 1);
          common.regionSize[axis] =
            axis == 0 && !isLarge ? std::min<std::int64_t>(2, common.levels.size[0] - common.regionIndex[0]) : 1;
        }
        common.levels.values.resize(
          static_cast<std::size_t>(common.levels.size[0] * common.levels.size[1] * common.levels.size[2]));
        std::vector<std::uint16_t> palette{ 1, static_cast<std::uint16_t>(levels) };
        while (static_cast<std::int64_t>(palette.size()) < used)
        {
          palette.push_back(static_cast<std::uint16_t>(random.Between(1, levels)));
        }
        const double change = random.OneOf<double>({ 0.01, 0.2, 1.0 });
        for (std::size_t i = 0; i < common.levels.values.size(); ++i)
        {
          common.levels.values[i] =
            i == 0 || random.Chance(change) ? random.OneOf(palette) : common.levels.values[i - 1];
        }
        randomCase.parameters.offsets = OffsetsOfDistance(random.Chance(0.7) ? 1 : 2);
        common.offsets = randomCase.parameters.offsets;
        SCOPED_TRACE(::testing::Message() << randomCase << ", " << used << " levels used");
        CheckCase<double>(randomCase, random, 100);
        if (::testing::Test::HasFailure())
        {
          return;
        }
      }
    }
  }
}

TEST(GrayToneDifferenceJob, ThousandsOfNeighbors)
{
  // Voxels of extreme levels with up to 575 neighbors; weights of 2208.
  constexpr std::int64_t       edge = 24;
  RandomNumbers                random(9);
  GrayToneDifferenceRandomCase randomCase;
  RunLengthRandomCase &        common = randomCase.common;
  common.dimension = 2;
  common.numberOfGrayLevels = 65535;
  common.levels.size = { { edge, edge, 1 } };
  for (std::int64_t i = 0; i < edge * edge; ++i)
  {
    common.levels.values.push_back(static_cast<std::uint16_t>(random.Chance(0.3)   ? 65535
                                                              : random.Chance(0.9) ? 1
                                                                                   : random.Between(2, 65534)));
  }
  common.window.size = common.levels.size;
  common.window.anchor = { { edge / 2, edge / 2, 0 } };
  common.regionIndex = { { edge / 2, edge / 2, 0 } };
  for (std::int64_t y = 0; y < edge; ++y)
  {
    for (std::int64_t x = 1 - edge; x < edge; ++x)
    {
      if (y > 0 || x > 0)
      {
        common.offsets.push_back({ { x, y, 0 } });
      }
    }
  }
  randomCase.parameters.offsets = common.offsets;
  randomCase.parameters.features = Enums::GetAllFeatures();
  CheckCase<double>(randomCase, random, 1);
}

TEST(GrayToneDifferenceJob, WorkersDoNotChangeBits)
{
  NoiseJob   noise(Triple{ { 197, 61, 3 } });
  const auto one = Compute<float>(noise.job);
  noise.job.execution.parallelFor = RunThreads;
  for (const unsigned int workers : { 0u, 1u, 2u, 3u, 8u, 64u })
  {
    noise.job.execution.numberOfWorkers = workers;
    EXPECT_TRUE(HasSameBits(one, Compute<float>(noise.job))) << workers;
  }
}

TEST(GrayToneDifferenceJob, RegionsDoNotChangeBits)
{
  NoiseJob          noise(Triple{ { 150, 27, 24 } }, 40);
  const Triple      size = noise.job.outputSize;
  const auto        whole = Compute<double>(noise.job);
  const std::size_t components = noise.job.features.size();
  RandomNumbers     random(3);
  for (int i = 0; i < 30; ++i)
  {
    Job job = noise.job;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      job.outputIndex[axis] = random.Below(size[axis]);
      job.outputSize[axis] = random.Between(1, size[axis] - job.outputIndex[axis]);
    }
    const auto          part = Compute<double>(job);
    std::vector<double> expected;
    for (std::int64_t z = 0; z < job.outputSize[2]; ++z)
    {
      for (std::int64_t y = 0; y < job.outputSize[1]; ++y)
      {
        const std::int64_t first =
          ((job.outputIndex[2] + z) * size[1] + job.outputIndex[1] + y) * size[0] + job.outputIndex[0];
        const auto begin = whole.begin() + first * static_cast<std::int64_t>(components);
        expected.insert(expected.end(), begin, begin + job.outputSize[0] * static_cast<std::int64_t>(components));
      }
    }
    EXPECT_TRUE(HasSameBits(expected, part)) << i;
  }
}

TEST(GrayToneDifferenceJob, AFeatureHasTheSameBitsInAnySelection)
{
  for (const std::uint32_t levels : { 5u, 300u, 65535u })
  {
    NoiseJob          noise(Triple{ { 20, 9, 3 } }, levels);
    const auto        all = Compute<double>(noise.job);
    const std::size_t components = noise.job.features.size();
    for (std::size_t f = 0; f < components; ++f)
    {
      noise.job.features = { Enums::GetAllFeatures()[f] };
      std::vector<double> expected;
      for (std::size_t i = f; i < all.size(); i += components)
      {
        expected.push_back(all[i]);
      }
      EXPECT_TRUE(HasSameBits(expected, Compute<double>(noise.job))) << noise.job.features[0];
    }
  }
}

TEST(GrayToneDifferenceJob, ASelectionIsComputedAlone)
{
  for (const bool hasBackgroundNaN : { false, true })
  {
    NoiseJob                  noise(Triple{ { 200, 11, 2 } });
    const auto                all = Compute<float>(noise.job);
    const std::size_t         components = noise.job.features.size();
    std::vector<std::uint8_t> selection(noise.levels.size());
    RandomNumbers             random(5);
    for (std::size_t i = 0; i < selection.size(); ++i)
    {
      selection[i] = i % 200 > 120 ? random.Chance(0.02) : random.Chance(0.4);
    }
    noise.job.selection = selection.data();
    constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();
    noise.job.backgroundValue = hasBackgroundNaN ? -quietNaN : -7.0;
    const float        background = hasBackgroundNaN ? std::numeric_limits<float>::quiet_NaN() : -7.0f;
    std::vector<float> expected = all;
    for (std::size_t i = 0; i < selection.size(); ++i)
    {
      if (selection[i] == 0 || noise.levels[i] == 0)
      {
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(i * components), components, background);
      }
    }
    EXPECT_TRUE(HasSameBits(expected, Compute<float>(noise.job)));
  }
}

TEST(GrayToneDifferenceJob, OffsetsLongerThanTheWindowDoNotMatter)
{
  NoiseJob   noise(Triple{ { 60, 20, 5 } });
  const auto expected = Compute<double>(noise.job);
  noise.job.offsets.push_back({ { 3, 0, 0 } });
  noise.job.offsets.push_back({ { 1, 1, -4 } });
  std::rotate(noise.job.offsets.begin(), noise.job.offsets.begin() + 5, noise.job.offsets.end());
  EXPECT_TRUE(HasSameBits(expected, Compute<double>(noise.job)));
}

TEST(GrayToneDifferenceJob, AnExceptionOfReportProgressEndsTheJob)
{
  for (const bool threads : { false, true })
  {
    NoiseJob           noise(Triple{ { 200, 100, 40 } });
    std::vector<float> output(noise.job.features.size() * noise.levels.size());
    noise.job.output = output.data();
    if (threads)
    {
      noise.job.execution.parallelFor = RunThreads;
      noise.job.execution.numberOfWorkers = 3;
    }
    std::atomic<std::uint64_t> done{ 0 };
    noise.job.execution.reportProgress = [&done](std::uint64_t numberOfVoxels) {
      done += numberOfVoxels;
      if (done > 0)
      {
        throw std::runtime_error("enough");
      }
    };
    EXPECT_THROW(GetGrayToneDifferenceEngines().front().compute(noise.job), std::runtime_error);
    EXPECT_LT(done.load(), noise.levels.size());
  }
}

TEST(GrayToneDifferenceJob, RefusesWhatBreaksARule)
{
  const NoiseJob noise(Triple{ { 4, 3, 1 } });
  Job            job = noise.job;
  job.offsets.clear();
  ExpectRefusal(job, { "0", "offsets", "4096" });
  job.offsets.assign(4097, Triple{ { 1, 0, 0 } });
  ExpectRefusal(job, { "4097", "offsets", "4096" });
  job.offsets = { { { 1, 0, 0 } }, { { 0, 0, 0 } } };
  ExpectRefusal(job, { "offset", "0, 0, 0" });
  job.offsets = { { { 1, 255, 0 } } };
  ExpectRefusal(job, { "offset", "255", "254" });
  job.offsets = { { { 1, 0, 0 } }, { { -1, 0, 0 } } };
  ExpectRefusal(job, { "offset", "twice" });

  job = noise.job;
  job.features.clear();
  ExpectRefusal(job, { "0", "features", "5" });
  job.features = { Job::Feature::Contrast, static_cast<Job::Feature>(5) };
  ExpectRefusal(job, { "features", "5" });
  job.features = { Job::Feature::Contrast, Job::Feature::Contrast };
  ExpectRefusal(job, { "twice", "3" });

  job = noise.job;
  job.outputSize = { { 0, 3, 1 } };
  EXPECT_TRUE(Compute<float>(job).empty());
}
