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
#include "DependenceRandomCase.h"
#include "GuardedOutput.h"
#include "TestedClasses.h"
#include "VoxelMapsTestUtilities.h"

#include "itkDependenceJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using Job = itk::voxelmaps::DependenceJob;
using Triple = itk::voxelmaps::Triple;
using Enums = itk::DependenceFeatureMapEnums;
using VoxelMapsTest::DependenceEngine;
using VoxelMapsTest::DependenceRandomCase;
using VoxelMapsTest::DrawDependenceRandomCase;
using VoxelMapsTest::GetDependenceEngines;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::isCudaTest;
using VoxelMapsTest::RandomNumbers;
using VoxelMapsTest::RunThreads;

/** The output of a job by an engine; nothing if the engine cannot take the job. */
template <typename TReal>
std::vector<TReal>
Compute(Job job, const DependenceEngine & engine = GetDependenceEngines().front())
{
  return VoxelMapsTest::ComputeIntoGuardedOutput<TReal>(job, job.features.size(), engine);
}

/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal>
void
CheckCase(const DependenceRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  Job job = MakeDependenceJob(randomCase);
  job.backgroundValue = 3.0;
  // An index frame of its own must not matter.
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t shift = random.Between(-1000, 1000);
    job.levelsIndex[axis] += shift;
    job.outputIndex[axis] += shift;
  }

  std::vector<TReal> first;
  for (const DependenceEngine & engine : GetDependenceEngines())
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
      ASSERT_TRUE(VoxelMapsTest::AgreesWithOracle(randomCase, result, job.backgroundValue, random, budget));
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
    RandomNumbers        random(seed);
    DependenceRandomCase randomCase = DrawDependenceRandomCase(seed, dimension, 65535, random);
    const std::string    holes = DrawHoles(randomCase.common.levels, random);
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
    job.offsets = { { { 1, 0, 0 } }, { { -1, 1, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } } };
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
    GetDependenceEngines().front().compute(withOutput);
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
TEST(DependenceJob, SmallCases)
{
  CheckRandomCases(709000, 2, 4);
  CheckRandomCases(709100, 3, 4);
}

TEST(DependenceJob, RandomCasesIn2D)
{
  CheckRandomCases(710000, 2, 400);
}

TEST(DependenceJob, RandomCasesIn3D)
{
  CheckRandomCases(720000, 3, 400);
}

TEST(DependenceJob, LargeWindowsAndManyLevels)
{
  // Counts of 8 and 16 bits, elements cleared at once and one by one, offsets too many for tiles.
  const std::vector<Triple> windows{ { { 40, 40, 40 } }, { { 255, 255, 1 } }, { { 17, 17, 17 } }, { { 11, 11, 11 } },
                                     { { 9, 9, 9 } },    { { 255, 1, 1 } },   { { 128, 2, 1 } } };
  std::uint64_t             seed = 730000;
  for (const Triple & window : windows)
  {
    const bool isLarge = window[0] * window[1] * window[2] > 20000;
    for (const std::uint32_t levels : { 33u, 65535u, 1u, 2u, 256u, 1000u })
    {
      if (isLarge && levels != 33 && levels != 65535)
      {
        continue; // the oracle takes long
      }
      RandomNumbers         random(++seed);
      DependenceRandomCase  randomCase = DrawDependenceRandomCase(seed, 3, 65535, random);
      RunLengthRandomCase & common = randomCase.common;
      common.numberOfGrayLevels = levels;
      common.window.size = window;
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        common.levels.size[axis] = window[axis] + (axis == 0 ? 6 : random.Below(2));
        common.window.anchor[axis] = random.Below(window[axis]);
        common.regionIndex[axis] = std::min<std::int64_t>(common.window.anchor[axis], common.levels.size[axis] - 1);
        common.regionSize[axis] =
          axis == 0 ? std::min<std::int64_t>(4, common.levels.size[0] - common.regionIndex[0]) : 1;
      }
      common.levels.values.resize(
        static_cast<std::size_t>(common.levels.size[0] * common.levels.size[1] * common.levels.size[2]));
      const double change = random.OneOf<double>({ 0.01, 0.2, 1.0 });
      for (std::size_t i = 0; i < common.levels.values.size(); ++i)
      {
        common.levels.values[i] = i == 0 || random.Chance(change)
                                    ? static_cast<std::uint16_t>(random.Between(1, levels))
                                    : common.levels.values[i - 1];
      }
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckCase<double>(randomCase, random, 100);
      if (::testing::Test::HasFailure())
      {
        return;
      }
    }
  }
}

TEST(DependenceJob, ManyOffsets)
{
  // 62 of distances 1 and 2 can be counted in bytes, the 171 up to distance 3 cannot.
  std::uint64_t seed = 740000;
  for (const std::int64_t distance : { 2, 3 })
  {
    for (const std::uint32_t levels : { 1u, 2u, 40u })
    {
      RandomNumbers        random(++seed);
      DependenceRandomCase randomCase = DrawDependenceRandomCase(seed, 3, 4, random);
      randomCase.parameters.offsets.clear();
      const std::int64_t side = 2 * distance + 1;
      // The second half of the cube around a voxel.
      for (std::int64_t i = side * side * side / 2 + 1; i < side * side * side; ++i)
      {
        randomCase.parameters.offsets.push_back(
          { { i % side - distance, i / side % side - distance, i / (side * side) - distance } });
      }
      RunLengthRandomCase & common = randomCase.common;
      common.numberOfGrayLevels = levels;
      common.levels.size = { { 9, 8, 8 } };
      common.window = { { { 8, 7, 7 } }, { { 4, 3, 3 } } };
      common.regionIndex = { { 0, 0, 3 } };
      common.regionSize = { { 9, 8, 2 } };
      common.levels.values.resize(9 * 8 * 8);
      for (std::uint16_t & level : common.levels.values)
      {
        level = static_cast<std::uint16_t>(random.Between(1, levels));
      }
      SCOPED_TRACE(::testing::Message() << randomCase);
      CheckCase<double>(randomCase, random, 20000);
    }
  }
}

TEST(DependenceJob, WorkersDoNotChangeBits)
{
  NoiseJob   noise(Triple{ { 97, 61, 3 } });
  const auto one = Compute<float>(noise.job);
  noise.job.execution.parallelFor = RunThreads;
  for (const unsigned int workers : { 0u, 1u, 2u, 3u, 8u, 64u })
  {
    noise.job.execution.numberOfWorkers = workers;
    EXPECT_TRUE(HasSameBits(one, Compute<float>(noise.job))) << workers;
  }
}

TEST(DependenceJob, RegionsDoNotChangeBits)
{
  NoiseJob          noise(Triple{ { 150, 7, 4 } }, 40);
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

TEST(DependenceJob, AFeatureHasTheSameBitsInAnySelection)
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

TEST(DependenceJob, ASelectionIsComputedAlone)
{
  NoiseJob                  noise(Triple{ { 200, 11, 2 } });
  const auto                all = Compute<float>(noise.job);
  const std::size_t         components = noise.job.features.size();
  std::vector<std::uint8_t> selection(noise.levels.size());
  RandomNumbers             random(5);
  for (std::size_t i = 0; i < selection.size(); ++i)
  {
    // Gaps longer and shorter than the window.
    selection[i] = i % 200 > 120 ? random.Chance(0.02) : random.Chance(0.4);
  }
  noise.job.selection = selection.data();
  noise.job.backgroundValue = -7.0;
  std::vector<float> expected = all;
  for (std::size_t i = 0; i < selection.size(); ++i)
  {
    if (selection[i] == 0 || noise.levels[i] == 0)
    {
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(i * components), components, -7.0f);
    }
  }
  EXPECT_TRUE(HasSameBits(expected, Compute<float>(noise.job)));
}

TEST(DependenceJob, AnExceptionOfCompletedEndsTheJob)
{
  for (const bool threads : { false, true })
  {
    NoiseJob           noise(Triple{ { 300, 300, 10 } });
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
    EXPECT_THROW(GetDependenceEngines().front().compute(noise.job), std::runtime_error);
    EXPECT_LT(done.load(), noise.levels.size());
  }
}

TEST(DependenceJob, RefusesWhatBreaksARule)
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
  job.offsets = { { { 1, 0, -255 } } };
  ExpectRefusal(job, { "offset", "255", "254" });
  job.offsets = { { { 1, 0, 0 } }, { { 1, -2, 0 } }, { { 1, 0, 0 } } };
  ExpectRefusal(job, { "offset", "1, 0, 0", "twice" });
  job.offsets = { { { 1, 0, 0 } }, { { 1, -2, 0 } }, { { -1, 2, 0 } } };
  ExpectRefusal(job, { "offset", "-1, 2, 0", "twice" });

  job = noise.job;
  job.features.clear();
  ExpectRefusal(job, { "0", "features", "14" });
  job.features = { Job::Feature::DependenceEntropy, static_cast<Job::Feature>(14) };
  ExpectRefusal(job, { "features", "14" });
  job.features = { Job::Feature::DependenceEntropy, Job::Feature::DependenceEntropy };
  ExpectRefusal(job, { "twice", "7" });
}
