// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureClassCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

// The tests that all texture classes share; and directions without pairs, which only run lengths can skip.
namespace
{
using Job = voxelmaps::RunLengthJob;
using Triple = voxelmaps::Triple;
using Aggregation = Job::Aggregation;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();
using namespace VoxelMapsTest;

/** A small random job with many absent voxels; the levels live in the case. */
Job
DrawSparseJob(std::uint64_t seed, RandomNumbers & random, TextureRandomCase & randomCase)
{
  randomCase = DrawTextureRandomCase(seed, random.Chance(0.5) ? 2 : 3, 20, random);
  for (auto & level : randomCase.levels.values)
  {
    level = random.Chance(0.8) ? 0 : level;
  }
  Job job = MakeRunLengthJob(randomCase);
  job.backgroundValue = -1.0;
  job.execution.numberOfWorkers = 2;
  job.execution.parallelFor = RunThreads;
  return job;
}

/** Whether some line along a direction holds two voxels with a level in the window of a voxel, from the definition. */
bool
HasPair(const TextureRandomCase & randomCase, const Triple & voxel, const Triple & step)
{
  const RunLengthOracle::WindowLevels inWindow(randomCase.levels, randomCase.window, voxel);
  bool                                hasPair = false;
  inWindow.ForEachVoxel([&](const Triple & at, std::uint16_t) {
    for (std::int64_t k = 1; k < 255 && !hasPair; ++k)
    {
      hasPair = inWindow(RunLengthOracle::Move(at, step, k)) != 0;
    }
  });
  return hasPair;
}

template <typename TJob>
class TextureClassJob : public ::testing::Test
{};
TYPED_TEST_SUITE(TextureClassJob, AllTextureJobs, TextureJobName);

/** The classes whose offsets are those of pairs of voxels. */
template <typename TJob>
class PairClassJob : public ::testing::Test
{};
using PairJobs =
  ::testing::Types<voxelmaps::CooccurrenceJob, voxelmaps::DependenceJob, voxelmaps::GrayToneDifferenceJob>;
TYPED_TEST_SUITE(PairClassJob, PairJobs, TextureJobName);
} // namespace

// Few enough for compute-sanitizer.
TYPED_TEST(TextureClassJob, SmallCases)
{
  constexpr std::uint64_t seed = ClassCase<TypeParam>::seeds[0];
  CheckRandomCases<TypeParam>(seed, 2, 4);
  CheckRandomCases<TypeParam>(seed + 100, 3, 4);
}

TYPED_TEST(TextureClassJob, RandomCasesIn2D)
{
  CheckRandomCases<TypeParam>(ClassCase<TypeParam>::seeds[1], 2, ClassCase<TypeParam>::counts[0]);
}

TYPED_TEST(TextureClassJob, RandomCasesIn3D)
{
  CheckRandomCases<TypeParam>(ClassCase<TypeParam>::seeds[2], 3, ClassCase<TypeParam>::counts[1]);
}

TYPED_TEST(TextureClassJob, MethodsAreListedAndRefusedByName)
{
  const TextureScene<TypeParam> scene({ { 9, 8, 1 } }, { { 4, 4, 1 } }, 32);
  TypeParam                     job = scene.job;
  std::vector<float>            output(72 * job.GetNumberOfComponents());
  const auto                    compute = [&job] {
    IsCudaTest() ? static_cast<void>(ComputeFeatureMapsCuda(job, {})) : ComputeFeatureMaps(job);
  };
  job.output = output.data();
  const auto known = GetMethodNames<TypeParam>();
  const auto methods = IsCudaTest() ? voxelmaps::GetCudaMethods(job) : voxelmaps::GetMethods(job);
  ASSERT_FALSE(methods.empty());
  for (const std::string & method : methods)
  {
    EXPECT_NE(known.end(), std::find(known.begin(), known.end(), method)) << method;
    job.method = method;
    EXPECT_NO_THROW(compute()) << method;
  }
  std::vector<std::string> words{ "Tables", "does not exist", "4 x 4 x 1", "32 gray levels" };
  words.insert(words.end(), methods.begin(), methods.end());
  job.method = "Tables";
  ExpectEngineError(compute, words);
  EXPECT_THROW(compute(), voxelmaps::UnsupportedMethodError);
  // The pointers of a job and its output are not used to list methods.
  job.levels = nullptr;
  job.intensities = nullptr;
  job.output = nullptr;
  EXPECT_EQ(methods, IsCudaTest() ? voxelmaps::GetCudaMethods(job) : voxelmaps::GetMethods(job));
}

TYPED_TEST(TextureClassJob, WorkersDoNotChangeBits)
{
  const ClassNoise<TypeParam> noise(ClassCase<TypeParam>::sizeForWorkers);
  CheckWorkers(noise.job);
}

TYPED_TEST(TextureClassJob, RegionsDoNotChangeBits)
{
  const ClassNoise<TypeParam> noise(ClassCase<TypeParam>::sizeForRegions, 40);
  CheckRegions(noise.job);
}

TYPED_TEST(TextureClassJob, FeaturesDoNotDependOnOtherFeatures)
{
  for (const std::uint32_t levels : { 5u, 300u, 65535u })
  {
    const ClassNoise<TypeParam> noise(Triple{ { 20, 9, 3 } }, levels);
    CheckFeaturesAlone(noise.job);
  }
}

TYPED_TEST(TextureClassJob, OnlySelectedVoxelsAreComputed)
{
  const ClassNoise<TypeParam> noise(Triple{ { 200, 11, 2 } });
  CheckSelection(noise.job);
}

TYPED_TEST(TextureClassJob, ExceptionOfReportProgressEndsTheJob)
{
  const ClassNoise<TypeParam> noise(Triple{ { 300, 300, 10 } });
  CheckProgressException(noise.job);
}

TYPED_TEST(TextureClassJob, EmptyRegionNeedsNoWork)
{
  const ClassNoise<TypeParam> noise(Triple{ { 4, 3, 1 } });
  TypeParam                   part = noise.job;
  part.outputSize[1] = 0;
  TypeParam empty = part;
  empty.levels = nullptr;
  empty.intensities = nullptr;
  empty.levelsSize = empty.outputSize = { { 0, 0, 0 } };
  for (const auto & engine : GetEngines(part))
  {
    EXPECT_NO_THROW(engine.compute(part)) << engine.name;
    EXPECT_NO_THROW(engine.compute(empty)) << engine.name;
  }
}

TYPED_TEST(TextureClassJob, RefusesInvalidFeatures)
{
  using Feature = typename TypeParam::Feature;
  const ClassNoise<TypeParam> noise(Triple{ { 4, 3, 1 } });
  constexpr unsigned int      number = TypeParam::Enums::NumberOfFeatures;
  const auto                  last = static_cast<Feature>(number - 1);
  TypeParam                   job = noise.job;
  job.features.clear();
  ExpectRefusal(job, { "0", "features", std::to_string(number) });
  job.features = { last, static_cast<Feature>(number) };
  ExpectRefusal(job, { "features", std::to_string(number) });
  if (number > 1)
  {
    job.features = { last, last };
    ExpectRefusal(job, { "twice", std::to_string(number - 1) });
  }
}

TYPED_TEST(TextureClassJob, RefusesNullPointers)
{
  const ClassNoise<TypeParam> noise(Triple{ { 4, 3, 1 } });
  TypeParam                   job = noise.job;
  job.levels = nullptr;
  ExpectRefusal(job, { "levels", "12", "null" });
  job = noise.job;
  job.output = nullptr;
  ExpectEngineError(
    [&job] { IsCudaTest() ? static_cast<void>(ComputeFeatureMapsCuda(job, {})) : ComputeFeatureMaps(job); },
    { "output", "12", "null" });
}

TYPED_TEST(PairClassJob, RefusesInvalidOffsets)
{
  const ClassNoise<TypeParam> noise(Triple{ { 4, 3, 1 } });
  TypeParam                   job = noise.job;
  job.offsets.clear();
  ExpectRefusal(job, { "0", "offsets", "4096" });
  job.offsets.assign(4097, { { 1, 0, 0 } });
  ExpectRefusal(job, { "4097", "offsets", "4096" });
  job.offsets = { { { 1, 0, 0 } }, { { 0, 0, 0 } } };
  ExpectRefusal(job, { "offset", "0, 0, 0" });
  job.offsets = { { { 1, 255, 0 } } };
  ExpectRefusal(job, { "offset", "255", "254" });
  job.offsets = { { { 1, 0, -255 } } };
  ExpectRefusal(job, { "offset", "255", "254" });
}

TEST(TextureFeatureMapJob, DirectionsWithoutPairsAreSkipped)
{
  RandomNumbers random(4712);
  std::size_t   numberOfChanges = 0;
  std::size_t   numberOfNaN = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed)
  {
    TextureRandomCase  randomCase;
    Job                job = DrawSparseJob(seed, random, randomCase);
    const std::int64_t side = job.windowSize[0];
    const bool         isCube = job.windowSize[1] == side && (job.windowSize[2] == side || job.levelsSize[2] == 1);
    const bool         isMerged = job.aggregation == Aggregation::Merge;
    const bool         isJoined = job.aggregation != Aggregation::PerDirection;
    if (isJoined)
    {
      // Scales are those of all directions, not only of those that are left: of short runs by the longest line, and of
      // 1 / i^2 by the number of directions in a matrix.
      std::vector<Job::Feature> others;
      std::copy_if(job.features.begin(), job.features.end(), std::back_inserter(others), [&](Job::Feature feature) {
        const std::string name = Print(feature);
        return (isCube || name.find("ShortRun") != 0) && (!isMerged || name.find("LowGrayLevel") == std::string::npos);
      });
      job.features = others.empty() ? std::vector<Job::Feature>{ Job::Feature::LongRunEmphasis } : others;
    }
    const std::size_t features = job.features.size();
    const std::size_t directions = job.offsets.size();

    // The rule applied to the features of every direction, and to averages or matrices of the directions that are left,
    // which are tested by themselves.
    Job eachDirection = job;
    eachDirection.aggregation = Aggregation::PerDirection;
    const std::vector<double>                        values = ComputeJob<double>(eachDirection);
    std::map<std::vector<bool>, std::vector<double>> joined;
    const auto getJoined = [&](const std::vector<bool> & isUsed) -> const std::vector<double> & {
      std::vector<double> & result = joined[isUsed];
      if (result.empty())
      {
        Job left = job;
        left.offsets.clear();
        for (std::size_t d = 0; d < directions; ++d)
        {
          if (isUsed[d])
          {
            left.offsets.push_back(job.offsets[d]);
          }
        }
        result = ComputeJob<double>(left);
      }
      return result;
    };
    std::vector<double> expected;
    for (std::size_t at = 0; at < values.size(); at += directions * features)
    {
      const auto   i = static_cast<std::int64_t>(at / (directions * features));
      const Triple voxel = RunLengthOracle::Move(
        RunLengthOracle::Move(GetPosition(i, job.outputSize), job.outputIndex), job.levelsIndex, -1);
      const bool        isPresent = randomCase.levels(voxel) != 0;
      std::vector<bool> usedDirections;
      for (std::size_t d = 0; d < directions; ++d)
      {
        usedDirections.push_back(!isPresent || HasPair(randomCase, voxel, job.offsets[d]));
        for (std::size_t f = 0; f < features && !isJoined; ++f)
        {
          expected.push_back(usedDirections[d] ? values[at + d * features + f] : quietNaN);
        }
      }
      const auto used = std::count(usedDirections.begin(), usedDirections.end(), true);
      numberOfChanges += used < static_cast<std::int64_t>(directions) ? 1 : 0;
      numberOfNaN += used == 0 ? 1 : 0;
      for (std::size_t f = 0; f < features && isJoined; ++f)
      {
        expected.push_back(!isPresent ? -1.0 : used > 0 ? getJoined(usedDirections)[at / directions + f] : quietNaN);
      }
    }

    job.skipDirectionsWithoutPairs = true;
    for (const auto & engine : GetEngines(job))
    {
      SCOPED_TRACE(::testing::Message() << engine.name << ", " << randomCase);
      const std::vector<double> result = ComputeJob<double>(job, engine);
      const std::vector<float>  rounded = ComputeJob<float>(job, engine);
      ASSERT_TRUE(result.empty() || HasSameBits(expected, result));
      ASSERT_TRUE(rounded.empty() || HasSameBits(std::vector<float>(expected.begin(), expected.end()), rounded));
    }
  }
  EXPECT_GT(numberOfChanges, 500u);
  EXPECT_GT(numberOfNaN, 50u);
}
