// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureJobChecks_h
#define TextureJobChecks_h

// Checks that are the same for the jobs of all texture classes.

#include "TestedEngines.h"
#include "VoxelMapsTestUtilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace VoxelMapsTest
{
template <typename TVariant>
struct Alternatives;
template <typename... TJobs>
struct Alternatives<std::variant<TJobs...>>
{
  using Types = ::testing::Types<TJobs...>;
};

/** The jobs of all texture classes, for typed tests. */
using AllTextureJobs = Alternatives<voxelmaps::TextureClassJob>::Types;

/** Names the tests of AllTextureJobs. */
struct TextureJobName
{
  template <typename TJob>
  static std::string
  GetName(int)
  {
    return TJob::Enums::GetFeatureTable().GetClassName();
  }
};

template <typename TJob, typename = void>
struct HasAggregation : std::false_type
{};
template <typename TJob>
struct HasAggregation<TJob, std::void_t<decltype(TJob::aggregation)>> : std::true_type
{};

/** The output of a job by an engine, which must write all of it and nothing else; nothing if the engine does not
 * support the job. */
template <typename TReal, typename TJob>
std::vector<TReal>
ComputeJob(TJob job, const Engine<TJob> & engine)
{
  constexpr auto       untouched = static_cast<TReal>(-1.2345e33); // no result of any feature
  const auto           voxels = static_cast<std::size_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]);
  GuardedOutput<TReal> output(job.GetNumberOfComponents() * voxels, untouched);
  job.output = output.data();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  if (!engine.compute(job))
  {
    return {};
  }
  const std::vector<TReal> result = output.Get();
  EXPECT_EQ(0, std::count(result.begin(), result.end(), untouched)) << "left out a voxel";
  return result;
}

/** The output of a job by the first engine. */
template <typename TReal, typename TJob>
std::vector<TReal>
ComputeJob(const TJob & job)
{
  return ComputeJob<TReal>(job, GetEngines(job).front());
}

/** Compute a job in an index frame of its own, which must not matter, by all engines and with different numbers of
 * threads. The first result must satisfy agreesWithOracle(result, backgroundValue), and the others must have its bits.
 * Returns it. */
template <typename TReal, typename TJob, typename TAgreesWithOracle>
std::vector<TReal>
CheckAllEngines(TJob job, RandomNumbers & random, const TAgreesWithOracle & agreesWithOracle)
{
  job.backgroundValue = 3.0;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t shift = random.Between(-1000, 1000);
    job.levelsIndex[axis] += shift;
    job.outputIndex[axis] += shift;
  }

  std::vector<TReal> first;
  for (const Engine<TJob> & engine : GetEngines(job))
  {
    SCOPED_TRACE(engine.name);
    const bool hasThreads = random.Chance(0.5);
    job.execution.numberOfWorkers = hasThreads ? static_cast<unsigned int>(random.Between(1, 5)) : 1;
    job.execution.parallelFor = hasThreads ? RunThreads : voxelmaps::ParallelFor{};
    std::atomic<std::uint64_t> completed{ 0 };
    job.execution.reportProgress = [&completed](std::uint64_t numberOfVoxels) { completed += numberOfVoxels; };
    const std::vector<TReal> result = ComputeJob<TReal>(job, engine);
    if (first.empty())
    {
      first = result;
      EXPECT_TRUE(agreesWithOracle(result, job.backgroundValue));
    }
    else if (result.empty())
    {
      continue; // not supported
    }
    EXPECT_EQ(static_cast<std::uint64_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]), completed.load());
    EXPECT_TRUE(HasSameBits(first, result));
    if (::testing::Test::HasFailure())
    {
      break;
    }
  }
  return first;
}

/** Levels in short runs with holes, intensities, a selection, and a job of a class over them with all features. */
template <typename TJob>
struct TextureScene
{
  TextureScene(const voxelmaps::Triple & size, const voxelmaps::Triple & windowSize, std::uint32_t numberOfGrayLevels,
               double newLevelChance = 0.6, double holeChance = 0.15, std::uint64_t seed = 1)
  {
    RandomNumbers random(seed);
    auto          level = static_cast<std::uint16_t>(numberOfGrayLevels);
    for (std::int64_t i = 0; i < size[0] * size[1] * size[2]; ++i)
    {
      if (random.Chance(newLevelChance))
      {
        level = static_cast<std::uint16_t>(random.Between(1, numberOfGrayLevels));
      }
      levels.push_back(random.Chance(holeChance) ? std::uint16_t{ 0 } : level);
      intensities.push_back(levels.back() > 0 ? static_cast<float>(level) + static_cast<float>(random.Below(64)) / 64.0f
                                              : std::numeric_limits<float>::quiet_NaN());
      selection.push_back(static_cast<std::uint8_t>(random.Chance(0.4) ? 0 : random.Between(1, 255)));
    }
    job.levels = levels.data();
    job.levelsSize = size;
    job.numberOfGrayLevels = numberOfGrayLevels;
    if (std::is_same<TJob, voxelmaps::FirstOrderJob>::value)
    {
      job.intensities = intensities.data();
    }
    job.outputSize = size;
    job.windowSize = windowSize;
    job.windowAnchor = { { windowSize[0] / 2, windowSize[1] / 2, windowSize[2] / 2 } };
    job.backgroundValue = -7.0;
    job.features = TJob::Enums::GetAllFeatures();
    if constexpr (HasOffsets<TJob>::value)
    {
      job.offsets = { { { 1, 0, 0 } }, { { -1, 1, 0 } } };
      if (size[2] > 1)
      {
        job.offsets.push_back({ { 1, -1, 1 } });
      }
    }
    if (std::is_same<TJob, voxelmaps::GrayToneDifferenceJob>::value)
    {
      this->SetAllNeighbors(); // LevelTables supports no others
    }
  }
  TextureScene(const TextureScene &) = delete;
  TextureScene &
  operator=(const TextureScene &) = delete;

  void
  SetAllNeighbors()
  {
    if constexpr (HasOffsets<TJob>::value)
    {
      job.offsets = GetNeighborOffsets(job.levelsSize[2] > 1);
    }
  }

  std::vector<std::uint16_t> levels;
  std::vector<float>         intensities;
  /** As many voxels as there are levels. */
  std::vector<std::uint8_t> selection;
  TJob                      job;
};

/** The number of workers must not change bits, nor whether they run at the same time or one after another, in any
 * order. */
template <typename TJob>
void
CheckWorkers(TJob job)
{
  const auto one = ComputeJob<float>(job);
  for (const unsigned int workers : { 0u, 1u, 2u, 3u, 8u, 64u, 500u })
  {
    job.execution.numberOfWorkers = workers;
    for (const auto & parallelFor : { voxelmaps::ParallelFor(RunThreads), voxelmaps::ParallelFor(RunBackward) })
    {
      job.execution.parallelFor = parallelFor;
      EXPECT_TRUE(HasSameBits(one, ComputeJob<float>(job))) << workers;
    }
  }
}

/** Parts of the output must have the bits that they have in all of it. */
template <typename TJob>
void
CheckRegions(const TJob & job)
{
  const voxelmaps::Triple size = job.outputSize;
  const auto              all = ComputeJob<double>(job);
  const auto              components = static_cast<std::int64_t>(job.GetNumberOfComponents());
  RandomNumbers           random(3);
  for (int i = 0; i < 30; ++i)
  {
    TJob part = job;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      part.outputIndex[axis] = random.Below(size[axis]);
      part.outputSize[axis] = random.Between(1, size[axis] - part.outputIndex[axis]);
    }
    std::vector<double> expected;
    for (std::int64_t z = 0; z < part.outputSize[2]; ++z)
    {
      for (std::int64_t y = 0; y < part.outputSize[1]; ++y)
      {
        const std::int64_t first =
          ((part.outputIndex[2] + z) * size[1] + part.outputIndex[1] + y) * size[0] + part.outputIndex[0];
        const auto begin = all.begin() + first * components;
        expected.insert(expected.end(), begin, begin + part.outputSize[0] * components);
      }
    }
    EXPECT_TRUE(HasSameBits(expected, ComputeJob<double>(part))) << i;
  }
}

/** Every feature alone must have the bits that it has among the others. For jobs with one component per feature. */
template <typename TJob>
void
CheckFeaturesAlone(const TJob & job)
{
  const auto        all = ComputeJob<double>(job);
  const std::size_t components = job.features.size();
  for (std::size_t f = 0; f < components; ++f)
  {
    TJob alone = job;
    alone.features = { job.features[f] };
    std::vector<double> expected;
    for (std::size_t i = f; i < all.size(); i += components)
    {
      expected.push_back(all[i]);
    }
    EXPECT_TRUE(HasSameBits(expected, ComputeJob<double>(alone))) << job.features[f];
  }
}

/** Voxels that are not selected, or have level 0, must get the background value, and the others what they get without a
 * selection. */
template <typename TJob>
void
CheckSelection(TJob job)
{
  const std::size_t         components = job.GetNumberOfComponents();
  const auto                all = ComputeJob<float>(job);
  const auto                rowLength = static_cast<std::size_t>(job.outputSize[0]);
  std::vector<std::uint8_t> selection(all.size() / components);
  RandomNumbers             random(5);
  for (std::size_t i = 0; i < selection.size(); ++i)
  {
    // Gaps longer and shorter than the window.
    selection[i] = i % rowLength > rowLength * 3 / 5 ? random.Chance(0.02) : random.Chance(0.4);
  }
  job.selection = selection.data();
  for (const double background : { -7.0, -std::numeric_limits<double>::quiet_NaN() })
  {
    job.backgroundValue = background;
    // Any NaN becomes the same one.
    const float written =
      std::isnan(background) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(background);
    std::vector<float> expected = all;
    for (std::size_t i = 0; i < selection.size(); ++i)
    {
      if (selection[i] == 0 || job.levels[i] == 0)
      {
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(i * components), components, written);
      }
    }
    for (const Engine<TJob> & engine : GetEngines(job))
    {
      const auto result = ComputeJob<float>(job, engine);
      EXPECT_TRUE(result.empty() || HasSameBits(expected, result)) << engine.name;
    }
  }
}

/** An exception of reportProgress must end the job of every engine, that of the first one soon, and reach the caller.
 */
template <typename TJob>
void
CheckProgressException(TJob job)
{
  const auto         voxels = static_cast<std::size_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]);
  std::vector<float> output(job.GetNumberOfComponents() * voxels);
  job.output = output.data();
  for (const bool threads : { false, true })
  {
    job.execution.parallelFor = threads ? RunThreads : voxelmaps::ParallelFor{};
    job.execution.numberOfWorkers = threads ? 3 : 1;
    std::atomic<std::uint64_t> done{ 0 };
    job.execution.reportProgress = [&done](std::uint64_t numberOfVoxels) {
      done += numberOfVoxels;
      if (done > 0)
      {
        throw Aborted{};
      }
    };
    EXPECT_THROW(GetEngines(job).front().compute(job), Aborted);
    EXPECT_LT(done.load(), voxels);
  }
  job.execution.reportProgress = [](std::uint64_t) { throw Aborted{}; };
  for (const Engine<TJob> & engine : GetEngines(job))
  {
    try
    {
      EXPECT_FALSE(engine.compute(job)) << engine.name << " did not end"; // false if it does not support the job
    }
    catch (const Aborted &)
    {}
  }
}

/** All engines must refuse a job of at most 64 voxels, the first one with a message that has these words. */
template <typename TJob>
void
ExpectRefusal(TJob job, const std::vector<std::string> & words)
{
  std::vector<float> output(64 * (job.GetNumberOfComponents() + 1));
  job.output = output.data();
  for (const Engine<TJob> & engine : GetEngines(job))
  {
    try
    {
      // An engine may also refuse this job.
      EXPECT_FALSE(engine.compute(job)) << engine.name << " computed it";
    }
    catch (const voxelmaps::EngineError & error)
    {
      for (const std::string & word : words)
      {
        EXPECT_TRUE(ContainsWord(error.what(), word)) << word << " is missing in: " << error.what();
      }
    }
  }
}
} // namespace VoxelMapsTest

#endif // TextureJobChecks_h
