// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "RelativeFuzzyConnectednessRandomCase.h"

#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"

#include <gtest/gtest.h>

#include <vector>

namespace
{
using namespace VoxelMapsTest;
using FuzzyConnectednessOracle::Scene;
using FuzzyConnectednessOracle::Triple;
using Competition = RelativeJob::Competition;
using TieRule = RelativeJob::TieRule;
using PixelType = RelativeJob::PixelType;
using Adjacency = RelativeJob::Adjacency;
using Options = voxelmaps::CudaRelativeFuzzyConnectednessOptions;
using Report = voxelmaps::CudaRelativeFuzzyConnectednessReport;
using Hierarchy = voxelmaps::RelativeFuzzyConnectednessHierarchy;
using Labels = std::vector<std::uint16_t>;

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
  for (const Competition competition : { Competition::Relative, Competition::Iterative })
  {
    for (const TieRule tieRule : { TieRule::Background, TieRule::LowestLabel })
    {
      job.competition = competition;
      job.tieRule = tieRule;
      SCOPED_TRACE(::testing::Message() << competition << ", " << tieRule);
      const auto expected = RunRelativeJob(
        job, {}, [&](const RelativeJob & each) { voxelmaps::ComputeRelativeFuzzyConnectedness(each, cpuHierarchy); });
      const auto computeRetained = [&](const RelativeJob & each) {
        voxelmaps::ComputeRelativeFuzzyConnectednessCuda(each, {}, deviceHierarchy);
      };
      EXPECT_TRUE(AreSameOutputs(expected, RunRelativeJob(job, {}, computeOnDevice))) << "once";
      EXPECT_TRUE(AreSameOutputs(expected, RunRelativeJob(job, {}, computeRetained))) << "retained";
    }
  }
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
