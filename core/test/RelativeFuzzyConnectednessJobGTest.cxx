// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "RelativeFuzzyConnectednessRandomCase.h"
#include "TestedEngines.h"

#include "connectedness/cpu/RelativeHierarchy.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using FuzzyConnectednessOracle::Scene;
using FuzzyConnectednessOracle::Triple;
using Competition = RelativeJob::Competition;
using TieRule = RelativeJob::TieRule;
using PixelType = RelativeJob::PixelType;
using Hierarchy = voxelmaps::RelativeFuzzyConnectednessHierarchy;
using Labels = std::vector<std::uint16_t>;
namespace Oracle = RelativeFuzzyConnectednessOracle;
using Adjacency = RelativeJob::Adjacency;
using Options = voxelmaps::CudaOptions;
using Report = voxelmaps::CudaRelativeFuzzyConnectednessReport;

using Way = std::function<void(const RelativeJob &)>;

const auto computeOnce = [](const RelativeJob & job) { ComputeLabels(job); };

/** Once, with a hierarchy, and on the CPU with hierarchies of small tiles, so that small images have many. */
std::vector<Way>
GetAllWays(RandomNumbers & random)
{
  std::vector<Way> ways{
    computeOnce,
    [](const RelativeJob & job) {
      Hierarchy hierarchy;
      ComputeLabels(job, hierarchy);
      EXPECT_GT(hierarchy.GetMemory(), 0u);
    },
  };
  for (const bool isRetained : IsCudaTest() ? std::vector<bool>{} : std::vector<bool>{ false, true })
  {
    const Triple tileSize{ { random.Between(1, 9), random.Between(1, 6), random.Between(1, 4) } };
    ways.push_back([isRetained, tileSize](const RelativeJob & job) {
      voxelmaps::CpuRelativeHierarchy(job, isRetained, tileSize).Compute(job);
    });
  }
  return ways;
}

/** Give most labels an affinity of their own. */
void
DrawLabelAffinities(RelativeJob & job, RandomNumbers & random)
{
  const auto scale = [](std::vector<double> & values, double factor) {
    std::for_each(values.begin(), values.end(), [factor](double & value) { value *= factor; });
  };
  for (const std::uint16_t label : job.labels)
  {
    if (random.Chance(0.8))
    {
      const double factor = static_cast<double>(random.Between(1, 30)) / 10.0;
      auto &       affinity = job.labelAffinities[label] = job.affinity;
      scale(affinity.objectMean, 0.1 * factor);
      scale(affinity.objectCovariance, factor);
      scale(affinity.differenceMean, 0.1 * factor);
      scale(affinity.differenceCovariance, 1.0 / factor);
    }
  }
}

/** Compare a case with the oracle. Returns false if it is too large for the iteration. */
bool
CheckRelativeCase(const FuzzyConnectednessRandomCase & randomCase, RandomNumbers & random)
{
  const RelativeRequest request{ random.Chance(0.5), random.Chance(0.5), random.Chance(0.7), random.Chance(0.7) };
  const Labels          labels = DrawLabels(randomCase.scene.seeds, request.labelsAre16Bit ? 65535 : 255, random);
  const bool            isSmall = randomCase.scene.GetNumberOfVoxels() <= 1500;
  RelativeJob           job = MakeRelativeJob(randomCase, labels);
  if (random.Chance(0.3))
  {
    DrawLabelAffinities(job, random);
  }
  const bool isOneScene = job.labelAffinities.empty();
  const auto strengths = Oracle::ComputeStrengths(randomCase.scene, labels, [&job](std::uint16_t label, Scene & scene) {
    const auto affinity = job.labelAffinities.find(label);
    scene.affinity = affinity != job.labelAffinities.end() ? affinity->second : scene.affinity;
  });
  if (random.Chance(0.4))
  {
    const auto reached = ConvertToStrengths<double>(MakeFuzzyConnectednessJob(randomCase), strengths.first);
    job.minimumStrength =
      random.OneOf<double>({ static_cast<double>(random.Below(1000)) / 1000.0, random.OneOf(reached), 1.0 });
  }
  ForEachRule(job, [&] {
    if (job.competition == Competition::Iterative && (!isOneScene || (job.tieRule == TieRule::Background && !isSmall)))
    {
      return;
    }
    const auto expected = ExpectedOutputs(randomCase, job, strengths, request.realsAreDouble);
    for (const auto & compute : isOneScene ? GetAllWays(random) : std::vector<Way>{ computeOnce })
    {
      job.execution.numberOfWorkers = static_cast<unsigned int>(random.OneOf<std::int64_t>({ 1, 2, 3, 8 }));
      EXPECT_TRUE(AreSameOutputs(expected, RunRelativeJob(job, request, compute)))
        << "minimum " << job.minimumStrength << ", " << strengths.labels.size() << " labels, "
        << job.execution.numberOfWorkers << " workers";
    }
  });
  return isSmall;
}

/** A line of voxels whose links have the keys of these differences of intensity. */
Scene
MakeLine(const std::vector<double> & intensities)
{
  Scene scene;
  scene.size = { { static_cast<std::int64_t>(intensities.size()), 1, 1 } };
  scene.intensities = intensities;
  scene.affinityFunction = RelativeJob::AffinityFunction::Homogeneity;
  scene.affinity.differenceCovariance = { 100.0 };
  return scene;
}

Labels
ComputeSceneLabels(const Scene & scene, const Labels & labels, Competition competition, TieRule tieRule)
{
  const auto  randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  RelativeJob job = MakeRelativeJob(randomCase, labels);
  job.competition = competition;
  job.tieRule = tieRule;
  return RunRelativeJob(job, {}, computeOnce).labels;
}
} // namespace

class RelativeFuzzyConnectednessRandom : public ::testing::TestWithParam<PixelType>
{};

TEST_P(RelativeFuzzyConnectednessRandom, EqualsTheOracle)
{
  // A longer run: VOXELMAPS_TEST_CASES=2000.
  const char * const  text = std::getenv("VOXELMAPS_TEST_CASES");
  const std::uint64_t cases = text != nullptr ? std::strtoull(text, nullptr, 10) : 36;
  std::uint64_t       small = 0;
  for (std::uint64_t i = 0; i < cases; ++i)
  {
    const std::uint64_t seed = 16000000 + 100000 * static_cast<std::uint64_t>(GetParam()) + i;
    RandomNumbers       random(seed);
    auto randomCase = DrawFuzzyConnectednessRandomCase(seed, random.Chance(0.5) ? 2 : 3, GetParam(), random);
    if (random.Chance(0.2))
    {
      MakeVectors(randomCase, static_cast<unsigned int>(random.OneOf<std::int64_t>({ 1, 2, 3, 16 })), random);
    }
    SCOPED_TRACE(::testing::Message() << randomCase);
    small += CheckRelativeCase(randomCase, random) ? 1 : 0;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(small, cases / 3);
}

TEST_P(RelativeFuzzyConnectednessRandom, TiesByDistanceGoToTiedLabels)
{
  std::size_t ties = 0;
  for (std::uint64_t i = 0; i < 40 && !HasFailure(); ++i)
  {
    RandomNumbers random(17000000 + 1000 * static_cast<std::uint64_t>(GetParam()) + i);
    const Triple  size = random.Chance(0.5)
                           ? Triple{ { random.Between(4, 12), random.Between(4, 12), 1 } }
                           : Triple{ { random.Between(3, 7), random.Between(3, 7), random.Between(2, 5) } };
    // Few affinities, so that many strengths are equal.
    Scene scene = MakeNoiseScene(size, random.Between(2, 4), random);
    scene.adjacency = random.OneOf<Adjacency>({ Adjacency::Face, Adjacency::FaceEdge, Adjacency::Full });
    scene.affinityFunction = random.OneOf<RelativeJob::AffinityFunction>(
      { RelativeJob::AffinityFunction::AbsoluteDifference, RelativeJob::AffinityFunction::GeometricMean });
    scene.affinity = { { 1.0 }, { 4.0 }, { 0.0 }, { 2.0 } };
    Labels             labels;
    const std::int64_t numberOfLabels = random.Between(3, 5);
    for (std::int64_t label = 1; label <= numberOfLabels; ++label)
    {
      std::int64_t seed = random.Below(scene.GetNumberOfVoxels());
      while (std::find(scene.seeds.begin(), scene.seeds.end(), seed) != scene.seeds.end())
      {
        seed = random.Below(scene.GetNumberOfVoxels());
      }
      scene.seeds.push_back(seed);
      labels.push_back(static_cast<std::uint16_t>(label));
    }
    const auto  randomCase = MakeFuzzyConnectednessCase(scene, GetParam());
    RelativeJob job = MakeRelativeJob(randomCase, labels, static_cast<unsigned int>(random.Between(1, 3)));
    if (random.Chance(0.3) && scene.affinityFunction != RelativeJob::AffinityFunction::AbsoluteDifference)
    {
      DrawLabelAffinities(job, random);
    }
    const bool isOneScene = job.labelAffinities.empty();
    const auto strengths = Oracle::ComputeStrengths(scene, labels, [&job](std::uint16_t label, Scene & labelScene) {
      const auto affinity = job.labelAffinities.find(label);
      labelScene.affinity = affinity != job.labelAffinities.end() ? affinity->second : labelScene.affinity;
    });
    SCOPED_TRACE(::testing::Message() << randomCase);
    job.tieRule = TieRule::Distance;
    for (const auto & compute : isOneScene ? GetAllWays(random) : std::vector<Way>{ computeOnce })
    {
      const Labels result = RunRelativeJob(job, {}, compute).labels;
      for (std::size_t voxel = 0; voxel < result.size(); ++voxel)
      {
        const std::uint32_t strongest = strengths.first[voxel];
        ties += strongest != 0 && strongest == strengths.second[voxel] ? 1 : 0;
        // Labels are 1, 2, ...; where none reaches, there is none.
        const std::uint32_t strength =
          result[voxel] == 0 ? 0 : strengths.scenes[static_cast<std::size_t>(result[voxel]) - 1][voxel];
        ASSERT_EQ(strongest, strength) << "voxel " << voxel << " has the label " << result[voxel];
      }
    }
  }
  EXPECT_GT(ties, 1000u);
}

INSTANTIATE_TEST_SUITE_P(PixelTypes, RelativeFuzzyConnectednessRandom, ::testing::ValuesIn(allPixelTypes),
                         PixelTypeName);

TEST(RelativeFuzzyConnectednessJob, CompetitionsOnALine)
{
  // Links, from the weakest: 30-0 (a gap of 30), 20, 10. Label 5 on the left, label 2 on the right.
  //  seed 5, gap 10, voxel 1, gap 30, voxel 2, gap 20, seed 2
  const Scene line = [] {
    Scene scene = MakeLine({ 0, 10, 40, 60 });
    scene.seeds = { 0, 3 };
    return scene;
  }();
  for (const Competition competition : { Competition::Relative, Competition::Iterative })
  {
    for (const TieRule tieRule : { TieRule::Background, TieRule::LowestLabel })
    {
      EXPECT_EQ((Labels{ 5, 5, 2, 2 }), ComputeSceneLabels(line, { 5, 2 }, competition, tieRule));
    }
  }

  // Beyond a gap of 30, both labels have the same strength: seed 5, gap 10, voxel 1, gap 5, seed 2, gap 30, voxels
  // 3, 4.
  const Scene beyond = [] {
    Scene scene = MakeLine({ 0, 10, 15, 45, 46 });
    scene.seeds = { 0, 2 };
    return scene;
  }();
  EXPECT_EQ((Labels{ 5, 2, 2, 0, 0 }),
            ComputeSceneLabels(beyond, { 5, 2 }, Competition::Relative, TieRule::Background));
  EXPECT_EQ((Labels{ 2, 5, 5, 2, 2 }),
            ComputeSceneLabels(beyond, { 2, 5 }, Competition::Relative, TieRule::LowestLabel));
  // But all paths to voxels 3 and 4 pass the seed of label 2 (5).
  EXPECT_EQ((Labels{ 5, 2, 2, 2, 2 }),
            ComputeSceneLabels(beyond, { 5, 2 }, Competition::Iterative, TieRule::Background));
  EXPECT_EQ((Labels{ 2, 5, 5, 5, 5 }),
            ComputeSceneLabels(beyond, { 2, 5 }, Competition::Iterative, TieRule::LowestLabel));
}

TEST(RelativeFuzzyConnectednessJob, TiesGoToTheNearestLabel)
{
  const auto compute = [](const Scene & scene, const Labels & labels) {
    const Labels result = ComputeSceneLabels(scene, labels, Competition::Relative, TieRule::Distance);
    EXPECT_EQ(result, ComputeSceneLabels(scene, labels, Competition::Iterative, TieRule::Distance));
    return result;
  };
  // Beyond a gap of 30, both labels have the same strength.
  Scene line = MakeLine({ 0, 10, 15, 45, 46 });
  line.seeds = { 0, 2 };
  EXPECT_EQ((Labels{ 5, 2, 2, 2, 2 }), compute(line, { 5, 2 }));
  EXPECT_EQ((Labels{ 2, 5, 5, 5, 5 }), compute(line, { 2, 5 }));
  // All are ties; the voxel in the middle has the label of the first seed in memory.
  line = MakeLine({ 7, 7, 7, 7, 7 });
  line.seeds = { 4, 0 };
  EXPECT_EQ((Labels{ 9, 9, 9, 3, 3 }), compute(line, { 3, 9 }));
  EXPECT_EQ((Labels{ 3, 3, 3, 9, 9 }), compute(line, { 9, 3 }));
  // Rows are 10 mm apart, columns 1 mm.
  Scene plane = MakeLine(std::vector<double>(9, 7.0));
  plane.size = { { 3, 3, 1 } };
  plane.spacing = { { 1.0, 10.0, 1.0 } };
  plane.seeds = { 0, 8 };
  EXPECT_EQ((Labels{ 1, 1, 1, 1, 1, 2, 2, 2, 2 }), compute(plane, { 1, 2 }));
}

TEST(RelativeFuzzyConnectednessJob, MarginsOfTiesAreLeadsOfTheDistance)
{
  // All are ties except for the seeds; the lead is in voxels of 3 mm.
  Scene line = MakeLine(std::vector<double>(6, 7.0));
  line.spacing = { { 3.0, 5.0, 5.0 } };
  line.seeds = { 0, 4 };
  const auto  randomCase = MakeFuzzyConnectednessCase(line, PixelType::Int16);
  RelativeJob job = MakeRelativeJob(randomCase, { 1, 2 });
  job.tieRule = TieRule::Distance;
  RelativeRequest request;
  request.wantsMargins = request.realsAreDouble = true;
  const auto outputs = RunRelativeJob(job, request, computeOnce);
  EXPECT_EQ((Labels{ 1, 1, 1, 2, 2, 2 }), outputs.labels);
  // Voxel 5 is only reached across the seed of label 2. Seeds are as strong as links without a difference.
  EXPECT_EQ((std::vector<double>{ 0.0, -1.0 / 3.0, -1.0, -1.0 / 3.0, 0.0, 0.0 }), outputs.margins);
}

TEST(RelativeFuzzyConnectednessJob, NumbersOfLabelsAndOrderOfSeedsDoNotMatterByDistance)
{
  RandomNumbers random(31);
  Scene         scene = MakeNoiseScene({ { 40, 30, 20 } }, 12, random);
  Labels        labels;
  for (int i = 0; i < 60; ++i)
  {
    scene.seeds.push_back(400 * i + random.Below(400));
    labels.push_back(static_cast<std::uint16_t>(random.Between(1, 6)));
  }
  const Labels expected = ComputeSceneLabels(scene, labels, Competition::Iterative, TieRule::Distance);
  EXPECT_EQ(0, std::count(expected.begin(), expected.end(), std::uint16_t{ 0 }));
  const Labels numbers{ 0, 60, 7, 1000, 1, 33, 2 };
  const auto   rename = [&numbers](Labels each) {
    std::transform(each.begin(), each.end(), each.begin(), [&numbers](std::uint16_t label) { return numbers[label]; });
    return each;
  };
  EXPECT_EQ(rename(expected), ComputeSceneLabels(scene, rename(labels), Competition::Iterative, TieRule::Distance));
  std::reverse(scene.seeds.begin(), scene.seeds.end());
  std::reverse(labels.begin(), labels.end());
  EXPECT_EQ(expected, ComputeSceneLabels(scene, labels, Competition::Iterative, TieRule::Distance));
}

TEST(RelativeFuzzyConnectednessJob, DistancesOfMoreThan32Bits)
{
  // Many labels and long steps, so that keys of short paths exceed 32 bits.
  Scene scene = MakeLine(std::vector<double>(120, 7.0));
  scene.size = { { 2, 60, 1 } };
  Labels labels;
  for (std::int64_t i = 0; i < 33; ++i)
  {
    scene.seeds.push_back(i == 32 ? 119 : i);
    labels.push_back(static_cast<std::uint16_t>(i + 1));
  }
  for (const double spacing : { 1e5, 1e6, 1e9 })
  {
    scene.spacing = { { 1.0, spacing, 1.0 } };
    const Labels result = ComputeSceneLabels(scene, labels, Competition::Relative, TieRule::Distance);
    for (std::size_t voxel = 32; voxel < 120; ++voxel)
    {
      // Rows 16 to 37 are nearer to row 15, whose columns are of their own; of row 59, one voxel is a seed.
      const std::size_t row = voxel / 2;
      EXPECT_EQ(row <= 37 ? 31 + voxel % 2 : 33, result[voxel]) << "voxel " << voxel << ", spacing " << spacing;
    }
  }
}

TEST(RelativeFuzzyConnectednessJob, NoSeedsAndNoVoxels)
{
  RandomNumbers random(3);
  const auto  randomCase = MakeFuzzyConnectednessCase(MakeNoiseScene({ { 40, 40, 3 } }, 50, random), PixelType::Int16);
  RelativeJob job = MakeRelativeJob(randomCase, {});
  for (const auto & compute : GetAllWays(random))
  {
    for (const Competition competition : { Competition::Relative, Competition::Iterative })
    {
      job.competition = competition;
      const auto outputs = RunRelativeJob(job, {}, compute);
      EXPECT_EQ(Labels(4800, 0), outputs.labels);
      EXPECT_EQ(std::vector<double>(4800, 0.0), outputs.strengths);
      EXPECT_EQ(std::vector<double>(4800, 0.0), outputs.margins);
    }
  }
  job.size = { { 0, 4, 4 } };
  RunRelativeJob(job, {}, computeOnce);
  Hierarchy hierarchy;
  ComputeLabels(job, hierarchy);
  EXPECT_TRUE(hierarchy.IsEmpty());
  EXPECT_EQ(0u, hierarchy.GetMemory());
}

TEST(RelativeFuzzyConnectednessJob, ReportsProgressAndAborts)
{
  RandomNumbers random(4);
  Scene         scene = MakeNoiseScene({ { 70, 70, 40 } }, 500, random);
  scene.seeds = { 1000, 150000 };
  scene.affinity = { { 250.0 }, { 9000.0 }, { 0.0 }, { 9000.0 } };
  const auto  randomCase = MakeFuzzyConnectednessCase(scene, PixelType::Int16);
  RelativeJob job = MakeRelativeJob(randomCase, { 1, 2 });
  job.competition = Competition::Iterative;
  const auto    expected = RunRelativeJob(job, {}, computeOnce);
  std::uint64_t reported = 0;
  std::uint64_t calls = 0;
  job.execution.reportProgress = [&](std::uint64_t voxels) {
    reported += voxels;
    ++calls;
  };
  RunRelativeJob(job, {}, computeOnce);
  EXPECT_GT(calls, IsCudaTest() ? 5u : 20u);
  EXPECT_LE(reported, 70u * 70u * 40u);
  EXPECT_GT(reported, 70u * 70u * 40u * 9 / 10);

  // An abort at any time leaves a hierarchy that is empty, or as it was.
  Hierarchy kept;
  for (std::uint64_t last = 0; last < calls + 20; last += 1 + calls / 15)
  {
    std::uint64_t left = last;
    job.execution.reportProgress = [&left](std::uint64_t) {
      if (left-- == 0)
      {
        throw std::runtime_error("aborted");
      }
    };
    const bool wasEmpty = kept.IsEmpty();
    const auto computeKept = [&kept](const RelativeJob & each) { ComputeLabels(each, kept); };
    bool       isAborted = false;
    try
    {
      RunRelativeJob(job, {}, computeKept);
    }
    catch (const std::runtime_error &)
    {
      isAborted = true;
      EXPECT_EQ(wasEmpty, kept.IsEmpty());
    }
    EXPECT_TRUE(isAborted || !kept.IsEmpty());
    if (!kept.IsEmpty())
    {
      job.execution.reportProgress = nullptr;
      EXPECT_TRUE(AreSameOutputs(expected, RunRelativeJob(job, {}, computeKept)));
    }
    if (last % 2 == 1)
    {
      kept.Release();
    }
  }
}

TEST(RelativeFuzzyConnectednessJob, InvalidJobsAreErrors)
{
  const auto randomCase = [] {
    Scene scene;
    scene.size = { { 4, 1, 1 } };
    scene.intensities = { 0, 1, 2, 3 };
    scene.seeds = { 0, 3 };
    return MakeFuzzyConnectednessCase(scene, PixelType::UInt8);
  }();
  const auto expectError = [&](const std::function<void(RelativeJob &)> & change, const std::string & words) {
    RelativeJob job = MakeRelativeJob(randomCase, { 1, 2 });
    change(job);
    ExpectEngineError([&job] { RunRelativeJob(job, {}, computeOnce); }, { words });
  };
  expectError([](RelativeJob & job) { job.labels = { 1 }; }, "a number of labels of 1");
  expectError([](RelativeJob & job) { job.labels = { 1, 0 }; }, "a seed of label 0");
  expectError([](RelativeJob & job) { job.seeds = { 3, 3 }; }, "several labels at voxel 3");
  expectError([](RelativeJob & job) { job.seeds = { 0, 4 }; }, "a seed at voxel 4");
  expectError([](RelativeJob & job) { job.competition = static_cast<Competition>(2); }, "the competition 2");
  expectError([](RelativeJob & job) { job.tieRule = static_cast<TieRule>(7); }, "the tie rule 7");
  expectError([](RelativeJob & job) { job.labelAffinities = { { 1, { { 0.0 }, { 1.0 }, {}, { 0.0 } } } }; },
              "The difference variance of the affinity of label 1 has the value 0");
  expectError(
    [](RelativeJob & job) {
      job.labelAffinities = { { 1, job.affinity } };
      job.competition = Competition::Iterative;
    },
    "Competition is Iterative, but labels have separate affinities");
  expectError(
    [](RelativeJob & job) {
      job.affinityFunction = RelativeJob::AffinityFunction::AbsoluteDifference;
      job.distanceWeighting = true;
    },
    "AbsoluteDifference");
}

TEST(RelativeFuzzyConnectednessJob, PixelsBeyondTheFormerRangeAreErrors)
{
  if (IsCudaTest())
  {
    GTEST_SKIP() << "The CUDA engine keeps a copy of the pixels.";
  }
  std::vector<std::int16_t> pixels{ 0, 10, 40, 60 };
  std::vector<std::uint8_t> labels(4);
  RelativeJob               job;
  job.image = pixels.data();
  job.pixelType = PixelType::Int16;
  job.size = { { 4, 1, 1 } };
  job.seeds = { 0, 3 };
  job.labels = { 1, 2 };
  job.affinity = { { 30.0 }, { 900.0 }, {}, { 100.0 } };
  job.labelOutput = labels.data();
  Hierarchy hierarchy;
  ComputeLabels(job, hierarchy);
  for (const int changed : { -1, 61, 32767, -32768 })
  {
    pixels[1] = static_cast<std::int16_t>(changed);
    EXPECT_THROW(ComputeLabels(job, hierarchy), voxelmaps::EngineError) << changed;
  }
  pixels[1] = 60;
  ComputeLabels(job, hierarchy);
}

TEST(RelativeFuzzyConnectednessJob, EditsEqualFreshRuns)
{
  const char * const text = std::getenv("VOXELMAPS_TEST_SEQUENCES");
  const int          sequences = text != nullptr ? std::atoi(text) : 40;
  std::size_t        different = 0;
  for (int sequence = 0; sequence < sequences && !HasFailure(); ++sequence)
  {
    RandomNumbers random(777000 + static_cast<std::uint64_t>(sequence));
    auto          randomCase = DrawFuzzyConnectednessRandomCase(static_cast<std::uint64_t>(random.Below(1000000)),
                                                       random.Chance(0.4) ? 2 : 3,
                                                       random.OneOf(allPixelTypes),
                                                       random);
    SCOPED_TRACE(::testing::Message() << "sequence " << sequence << ", " << randomCase);
    Labels    labels = DrawLabels(randomCase.scene.seeds, 255, random);
    Hierarchy hierarchy;
    Labels    previous;
    for (int edit = 0; edit < 20 && !HasFailure(); ++edit)
    {
      // Edit the seeds: add some of a new or a known label, remove some, or move one.
      std::vector<std::int64_t> & seeds = randomCase.scene.seeds;
      const auto                  isFree = [&](std::int64_t voxel) {
        return std::find(seeds.begin(), seeds.end(), voxel) == seeds.end() &&
               (randomCase.scene.mask.empty() || randomCase.scene.mask[static_cast<std::size_t>(voxel)] != 0);
      };
      const std::int64_t kind = random.Below(3);
      if (kind == 0 || seeds.size() < 2)
      {
        const auto label =
          static_cast<std::uint16_t>(random.Chance(0.5) ? random.OneOf(labels) : random.Between(1, 255));
        const std::int64_t start = random.Below(randomCase.scene.GetNumberOfVoxels());
        for (std::int64_t i = 0; i < random.Between(1, 30); ++i)
        {
          const std::int64_t voxel = std::min(start + i, randomCase.scene.GetNumberOfVoxels() - 1);
          if (isFree(voxel))
          {
            seeds.push_back(voxel);
            labels.push_back(label);
          }
        }
      }
      else if (kind == 1)
      {
        const std::size_t first = static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(seeds.size())));
        const std::size_t count =
          std::min<std::size_t>(seeds.size() - first, static_cast<std::size_t>(random.Between(1, 30)));
        if (count < seeds.size())
        {
          seeds.erase(seeds.begin() + static_cast<std::ptrdiff_t>(first),
                      seeds.begin() + static_cast<std::ptrdiff_t>(first + count));
          labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(first),
                       labels.begin() + static_cast<std::ptrdiff_t>(first + count));
        }
      }
      else
      {
        const std::uint16_t from = random.OneOf(labels);
        std::replace(labels.begin(), labels.end(), from, static_cast<std::uint16_t>(random.Between(1, 255)));
      }
      RelativeJob job = MakeRelativeJob(randomCase, labels, static_cast<unsigned int>(random.Between(1, 4)));
      job.competition = random.OneOf<Competition>({ Competition::Relative, Competition::Iterative });
      job.tieRule = random.OneOf<TieRule>({ TieRule::Background, TieRule::LowestLabel, TieRule::Distance });
      job.minimumStrength = random.Chance(0.3) ? static_cast<double>(random.Below(1000)) / 1000.0 : 0.0;
      const RelativeRequest request{ random.Chance(0.5), random.Chance(0.5), random.Chance(0.5), random.Chance(0.5) };
      const auto            fresh = RunRelativeJob(
        job, request, [](const RelativeJob & each) { voxelmaps::ComputeRelativeFuzzyConnectedness(each); });
      const auto edited =
        RunRelativeJob(job, request, [&](const RelativeJob & each) { ComputeLabels(each, hierarchy); });
      EXPECT_TRUE(AreSameOutputs(fresh, edited)) << "edit " << edit;
      different += fresh.labels != previous ? 1 : 0;
      previous = fresh.labels;
    }
  }
  EXPECT_GT(different, 10u * static_cast<std::size_t>(sequences));
}

// What only the CUDA engine has.
namespace
{

class CudaRelativeFuzzyConnectednessJob : public VoxelMapsTest::CudaTest
{};

/** A case of several tiles of the device; with few levels, most links have equal keys. */
FuzzyConnectednessRandomCase
MakeNoiseCase(const Triple & size, std::int64_t levels, PixelType type, Adjacency adjacency, RandomNumbers & random)
{
  Scene scene = MakeNoiseScene(size, levels, random);
  scene.adjacency = adjacency;
  const auto squared = static_cast<double>(levels * levels);
  scene.affinity = { { 0.5 * static_cast<double>(levels) }, { squared }, { 0.0 }, { 0.1 * squared } };
  return MakeFuzzyConnectednessCase(scene, type);
}

/** Draw strokes: rows of up to maxLength seeds, one label each. */
void
DrawStrokes(FuzzyConnectednessRandomCase & randomCase, Labels & labels, std::int64_t strokes, std::int64_t maxLength,
            RandomNumbers & random)
{
  std::vector<std::int64_t> & seeds = randomCase.scene.seeds;
  std::vector<bool>           isSeed(static_cast<std::size_t>(randomCase.scene.GetNumberOfVoxels()), false);
  seeds.clear();
  labels.clear();
  for (std::int64_t stroke = 0; stroke < strokes; ++stroke)
  {
    const auto         label = static_cast<std::uint16_t>(random.Between(1, 6));
    const std::int64_t first = random.Below(randomCase.scene.GetNumberOfVoxels());
    const std::int64_t last = std::min(first + random.Between(1, maxLength), randomCase.scene.GetNumberOfVoxels());
    for (std::int64_t voxel = first; voxel < last; ++voxel)
    {
      if (!isSeed[static_cast<std::size_t>(voxel)])
      {
        isSeed[static_cast<std::size_t>(voxel)] = true;
        seeds.push_back(voxel);
        labels.push_back(label);
      }
    }
  }
}

const auto computeOnCpu = [](const RelativeJob & job) { voxelmaps::ComputeRelativeFuzzyConnectedness(job); };
const auto computeOnDevice = [](const RelativeJob & job) { voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, {}); };

/** Compare all competitions and ties with the CPU: once, and with two hierarchies. */
void
CheckAll(const FuzzyConnectednessRandomCase & randomCase, const Labels & labels, double minimumStrength,
         Hierarchy & deviceHierarchy, Hierarchy & cpuHierarchy)
{
  RelativeJob job = MakeRelativeJob(randomCase, labels, 2);
  job.minimumStrength = minimumStrength;
  ForEachRule(job, [&] {
    const auto expected = RunRelativeJob(
      job, {}, [&](const RelativeJob & each) { voxelmaps::ComputeRelativeFuzzyConnectedness(each, cpuHierarchy); });
    const auto computeRetained = [&](const RelativeJob & each) {
      voxelmaps::ComputeRelativeFuzzyConnectednessCuda(each, {}, deviceHierarchy);
    };
    EXPECT_TRUE(AreSameOutputs(expected, RunRelativeJob(job, {}, computeOnDevice))) << "once";
    EXPECT_TRUE(AreSameOutputs(expected, RunRelativeJob(job, {}, computeRetained))) << "retained";
  });
}

/** The same for drawn strokes and new hierarchies. */
void
CheckStrokes(FuzzyConnectednessRandomCase & randomCase, std::int64_t strokes, std::int64_t maxLength,
             RandomNumbers & random)
{
  Labels    labels;
  Hierarchy deviceHierarchy;
  Hierarchy cpuHierarchy;
  DrawStrokes(randomCase, labels, strokes, maxLength, random);
  CheckAll(randomCase, labels, 0.0, deviceHierarchy, cpuHierarchy);
}
} // namespace

// Small enough for compute-sanitizer.
TEST_F(CudaRelativeFuzzyConnectednessJob, SmallCases)
{
  RandomNumbers random(161);
  for (const PixelType type : { PixelType::UInt8, PixelType::Float, PixelType::Double })
  {
    for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
    {
      auto      randomCase = MakeNoiseCase({ { 25, 17, 13 } }, 20, type, adjacency, random);
      Labels    labels;
      Hierarchy deviceHierarchy;
      Hierarchy cpuHierarchy;
      for (int edit = 0; edit < 2; ++edit)
      {
        DrawStrokes(randomCase, labels, 4, 5, random);
        CheckAll(randomCase, labels, edit == 0 ? 0.0 : 0.6, deviceHierarchy, cpuHierarchy);
      }
    }
  }
  // Vectors, whose keys are computed before.
  auto vectors = MakeNoiseCase({ { 25, 17, 13 } }, 20, PixelType::UInt8, Adjacency::Face, random);
  MakeVectors(vectors, 3, random);
  CheckStrokes(vectors, 4, 5, random);
  // One scene per label.
  auto   randomCase = MakeNoiseCase({ { 25, 17, 13 } }, 20, PixelType::UInt8, Adjacency::Face, random);
  Labels labels;
  DrawStrokes(randomCase, labels, 4, 5, random);
  RelativeJob job = MakeRelativeJob(randomCase, labels);
  job.labelAffinities = { { labels.front(), { { 3.0 }, { 60.0 }, {}, { 30.0 } } } };
  EXPECT_TRUE(AreSameOutputs(RunRelativeJob(job, {}, computeOnCpu), RunRelativeJob(job, {}, computeOnDevice)));
}

TEST_F(CudaRelativeFuzzyConnectednessJob, FewVoxels)
{
  // For racecheck, which takes minutes for the small cases.
  RandomNumbers random(163);
  auto          randomCase = MakeNoiseCase({ { 7, 5, 3 } }, 20, PixelType::UInt8, Adjacency::Face, random);
  CheckStrokes(randomCase, 2, 2, random);
}

TEST_F(CudaRelativeFuzzyConnectednessJob, EditsOfManyTilesEqualTheCpu)
{
  for (std::uint64_t seed = 1600; seed < 1630 && !HasFailure(); ++seed)
  {
    RandomNumbers random(seed);
    const Triple  size = random.Chance(0.3)
                           ? Triple{ { random.Between(100, 300), random.Between(80, 200), 1 } }
                           : Triple{ { random.Between(20, 90), random.Between(20, 60), random.Between(2, 40) } };
    auto          randomCase = MakeNoiseCase(size,
                                    random.OneOf<std::int64_t>({ 2, 10, 120 }),
                                    random.OneOf<PixelType>({ PixelType::UInt8, PixelType::Int16, PixelType::Float }),
                                    random.OneOf<Adjacency>({ Adjacency::Face, Adjacency::FaceEdge, Adjacency::Full }),
                                    random);
    if (random.Chance(0.3))
    {
      MakeVectors(randomCase, static_cast<unsigned int>(random.Between(1, 4)), random);
    }
    SCOPED_TRACE(::testing::Message() << randomCase);
    Labels    labels;
    Hierarchy deviceHierarchy;
    Hierarchy cpuHierarchy;
    for (int edit = 0; edit < 4 && !HasFailure(); ++edit)
    {
      DrawStrokes(randomCase, labels, random.OneOf<std::int64_t>({ 0, 2, 5, 40 }), 30, random);
      CheckAll(randomCase, labels, random.Chance(0.3) ? 0.7 : 0.0, deviceHierarchy, cpuHierarchy);
    }
    EXPECT_GT(deviceHierarchy.GetMemory(), 8u * static_cast<std::uint64_t>(randomCase.scene.GetNumberOfVoxels()));
  }
}

TEST_F(CudaRelativeFuzzyConnectednessJob, MoreLinksBetweenSeedsThanTheHostSorts)
{
  RandomNumbers random(162);
  for (const Adjacency adjacency : { Adjacency::Face, Adjacency::Full })
  {
    auto randomCase = MakeNoiseCase({ { 60, 50, 40 } }, 15, PixelType::Int16, adjacency, random);
    CheckStrokes(randomCase, 2000, 40, random);
  }
}

TEST_F(CudaRelativeFuzzyConnectednessJob, HierarchiesOfTheOtherProcessorAreReplaced)
{
  RandomNumbers random(163);
  auto          randomCase = MakeNoiseCase({ { 40, 30, 20 } }, 100, PixelType::Int16, Adjacency::Face, random);
  Labels        labels;
  DrawStrokes(randomCase, labels, 5, 5, random);
  Hierarchy hierarchy;
  for (int i = 0; i < 2; ++i)
  {
    CheckAll(randomCase, labels, 0.0, hierarchy, hierarchy);
  }
}

TEST_F(CudaRelativeFuzzyConnectednessJob, ReportsMemoryAndRefusesTooLittle)
{
  RandomNumbers random(164);
  auto          randomCase = MakeNoiseCase({ { 90, 60, 40 } }, 100, PixelType::Int16, Adjacency::Face, random);
  Labels        labels;
  DrawStrokes(randomCase, labels, 5, 5, random);
  const RelativeJob job = MakeRelativeJob(randomCase, labels);
  Hierarchy         hierarchy;
  Options           options;
  const auto        compute = [&](const RelativeJob & each) {
    const Report report = voxelmaps::ComputeRelativeFuzzyConnectednessCuda(each, options, hierarchy);
    EXPECT_EQ(voxelmaps::CudaDevices::GetName(0), report.deviceName);
    EXPECT_EQ(1u, report.numberOfSlabs);
    EXPECT_GT(report.kernelMilliseconds, 0.0);
    EXPECT_GT(report.numberOfIterations, 3u);
  };
  // The image and 8 bytes per voxel alone take 2.2 MB, and 2 MB are assumed for other things.
  options.memoryBudget = 3000000;
  EXPECT_THROW(RunRelativeJob(job, {}, compute), voxelmaps::DeviceMemoryError);
  EXPECT_TRUE(hierarchy.IsEmpty());
  options.memoryBudget = 0;
  RunRelativeJob(job, {}, compute);
  const std::uint64_t memory = hierarchy.GetMemory();
  EXPECT_GT(memory, 10u * 216000u);
  EXPECT_LT(memory, 14u * 216000u);
  RunRelativeJob(job, {}, compute);
  EXPECT_EQ(memory, hierarchy.GetMemory());
  options.deviceID = voxelmaps::CudaDevices::GetNumberOfDevices();
  EXPECT_THROW(RunRelativeJob(job, {}, compute), voxelmaps::EngineError);
}
