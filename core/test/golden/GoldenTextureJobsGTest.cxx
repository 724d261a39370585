// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTextureJobChecks.h"
#include "GoldenHashes.h"
#include "TextureMemoryScene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// All texture classes: features of small images with all engines.
namespace
{
using namespace VoxelMapsTest;
using namespace VoxelMapsGolden;
using voxelmaps::CooccurrenceJob;
using voxelmaps::DependenceJob;
using voxelmaps::FirstOrderJob;
using voxelmaps::GrayToneDifferenceJob;
using voxelmaps::RunLengthJob;
using voxelmaps::SizeZoneJob;
using voxelmaps::Triple;
using Enums = voxelmaps::RunLengthFeatureMapEnums;

/** The hash of the output of a job by all engines, on the CPU with different numbers of threads, and on a device also
 * by one of the methods in many slabs. */
template <typename TJob>
void
CheckAllEngines(GoldenGroup & group, TJob job)
{
  const std::size_t bytes = CountNumbers(job) * (job.outputIsDouble ? sizeof(double) : sizeof(float));
  const auto        check = [&](const std::string & name, const auto & compute) {
    auto buffer = MakeGuardedBuffer(bytes);
    job.output = buffer.data() + guardBytes;
    const bool isSupported = compute(job);
    if (isSupported)
    {
      group.Check(name, Hash(buffer));
    }
    return isSupported;
  };
  job.execution.parallelFor = RunThreads;
  for (const unsigned int workers : IsCudaTest() ? std::vector{ 3u } : std::vector{ 1u, 3u })
  {
    job.execution.numberOfWorkers = workers;
    for (const auto & engine : GetEngines(job))
    {
      check(engine.name + ", " + std::to_string(workers) + " workers", engine.compute);
    }
  }
  if (IsCudaTest())
  {
    const auto methods = GetMethodNames<TJob>();
    // Over all cases, each method has its turn.
    const std::string & method = methods[static_cast<std::size_t>(job.levelsSize[0]) % methods.size()];
    const auto          compute = [&method](const TJob & each, std::uint64_t budget) {
      voxelmaps::ComputeFeatureMapsCuda(WithMethod(each, method), MakeCudaOptions(budget));
      return true;
    };
    const auto checkBudget = [&](std::uint64_t budget) {
      return check(method + " with a budget of " + std::to_string(budget),
                   [&](const TJob & each) { return compute(each, budget); });
    };
    const auto budgets = FindSmallBudgets(checkBudget);
    if (!budgets.empty())
    {
      checkBudget(budgets.back());
    }
  }
}

/** Levels and intensities of an image. */
struct Scene
{
  std::vector<std::uint16_t> levels;
  std::vector<float>         intensities;
};

void
DrawWindow(unsigned int dimension, Draws & draws, voxelmaps::TextureFeatureMapJob & job)
{
  const std::int64_t edge = draws.OneOf<std::int64_t>({ 2, 3, 3, 4, 5, 5, 6, 7, 9 });
  const bool         isCube = draws.Percent(70);
  const bool         isCentered = draws.Percent(70);
  job.levelsSize = { { 1, 1, 1 } };
  for (unsigned int d = 0; d < dimension; ++d)
  {
    job.levelsSize[d] = draws.Between(3, dimension == 2 ? 30 : 10);
    job.windowSize[d] = isCube ? edge : draws.Between(1, edge);
    job.windowAnchor[d] = isCentered ? job.windowSize[d] / 2 : draws.Below(job.windowSize[d]);
  }
  job.outputSize = job.levelsSize;
  job.numberOfGrayLevels = draws.OneOf<std::uint32_t>({ 2, 5, 16, 32, 32, 64, 256 });
  job.backgroundValue = -1.0;
}

/** Noise around a level that changes along the axes, with holes. */
Scene
DrawScene(Draws & draws, voxelmaps::TextureFeatureMapJob & job)
{
  const auto         levels = static_cast<std::int64_t>(job.numberOfGrayLevels);
  const std::int64_t noise = draws.Between(1, levels);
  const std::int64_t width = draws.Between(1, 9);
  const std::int64_t holes = draws.OneOf<std::int64_t>({ 0, 0, 5, 40 });
  const bool         hasFractions = draws.Percent(40);
  const std::int64_t factor = draws.OneOf<std::int64_t>({ 1, 12, 3000 });
  Scene              scene;
  for (std::int64_t i = 0; i < job.levelsSize[0] * job.levelsSize[1] * job.levelsSize[2]; ++i)
  {
    const std::int64_t place = i % job.levelsSize[0] / width + i / job.levelsSize[0] / width * 5;
    const std::int64_t level = (place + draws.Below(noise)) % levels + 1;
    const bool         isHole = draws.Percent(holes);
    scene.levels.push_back(isHole ? std::uint16_t{ 0 } : static_cast<std::uint16_t>(level));
    const auto intensity = static_cast<float>(level * factor - 100) + (hasFractions ? 0.125f * draws.Below(8) : 0.0f);
    scene.intensities.push_back(isHole ? std::nanf("") : intensity);
  }
  job.levels = scene.levels.data();
  return scene;
}

/** Check all features of a class; setParameters(job, scene, dimension, draws) sets what only it has. */
template <typename TJob, typename TEnums, typename TSetParameters>
void
CheckClass(const std::string & name, int cases, const TSetParameters & setParameters)
{
  GoldenGroup group(name);
  for (int i = 0; i < cases; ++i)
  {
    Draws              draws(group.NextCase());
    const unsigned int dimension = draws.Percent(30) ? 2 : 3;
    TJob               job;
    DrawWindow(dimension, draws, job);
    const Scene scene = DrawScene(draws, job);
    job.features = TEnums::GetAllFeatures();
    job.outputIsDouble = true;
    setParameters(job, scene, dimension, draws);
    CheckAllEngines(group, job);
  }
}

/** A job of run lengths and its levels. */
struct RunLengthCase
{
  std::vector<std::uint16_t> levels;
  RunLengthJob               job;
};

void
CheckAllEngines(GoldenGroup & group, RunLengthCase golden)
{
  golden.job.levels = golden.levels.data();
  CheckAllEngines(group, golden.job);
}

/** All directions of run lengths of a dimension, one of each two opposite ones. */
std::vector<Triple>
GetRunOffsets(unsigned int dimension)
{
  std::vector<Triple> offsets{ { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } }, { { -1, 1, 0 } } };
  for (std::int64_t y = -1; dimension == 3 && y <= 1; ++y)
  {
    for (std::int64_t x = -1; x <= 1; ++x)
    {
      offsets.push_back({ { x, y, 1 } });
    }
  }
  return offsets;
}

void
DrawLevels(RunLengthCase & golden, Draws & draws)
{
  const Triple &             size = golden.job.levelsSize;
  std::vector<std::uint16_t> palette;
  for (std::int64_t i = draws.OneOf<std::int64_t>({ 1, 2, 2, 3, 5, 9, 300 }); i > 0; --i)
  {
    palette.push_back(static_cast<std::uint16_t>(draws.Between(1, golden.job.numberOfGrayLevels)));
  }
  palette[0] = static_cast<std::uint16_t>(draws.Percent(50) ? golden.job.numberOfGrayLevels : palette[0]);
  const std::int64_t pattern = draws.Below(4);
  const std::int64_t width = draws.Between(1, 5);
  const Triple       step{ { draws.Between(0, 2), draws.Between(0, 2), draws.Between(0, 2) } };
  const std::int64_t holes = draws.OneOf<std::int64_t>({ 0, 0, 0, 2, 20, 60 });
  const Triple       first{ { draws.Below(size[0]), draws.Below(size[1]), draws.Below(size[2]) } };
  const bool         hasBox = draws.Percent(20);
  const auto fromPalette = [&](std::int64_t at) { return palette[static_cast<std::size_t>(at) % palette.size()]; };
  for (std::int64_t z = 0; z < size[2]; ++z)
  {
    for (std::int64_t y = 0; y < size[1]; ++y)
    {
      for (std::int64_t x = 0; x < size[0]; ++x)
      {
        std::uint16_t level = draws.OneOf(palette);
        if (pattern == 1 && x > 0 && draws.Percent(75)) // runs
        {
          level = golden.levels.back() > 0 ? golden.levels.back() : level;
        }
        else if (pattern == 2 && draws.Percent(95)) // stripes
        {
          level = fromPalette(step[0] * x + step[1] * y + step[2] * z);
        }
        else if (pattern == 3) // blocks
        {
          level = fromPalette(x / width + 3 * (y / width) + 5 * (z / width));
        }
        const bool isHole = draws.Percent(holes) || (hasBox && (x < first[0] || y < first[1] || z < first[2]));
        golden.levels.push_back(isHole ? std::uint16_t{ 0 } : level);
      }
    }
  }
}

/** The entire image, a part of it, or more than it; shortened where walking the windows would take long. */
void
DrawOutputRegion(RunLengthCase & golden, Draws & draws)
{
  golden.job.outputIndex = golden.job.levelsIndex;
  golden.job.outputSize = golden.job.levelsSize;
  const std::int64_t kind = draws.Below(10);
  std::int64_t       work = static_cast<std::int64_t>(golden.job.offsets.size());
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t size = golden.job.levelsSize[axis];
    if (kind < 3)
    {
      const std::int64_t start = draws.Below(size);
      golden.job.outputIndex[axis] += start;
      golden.job.outputSize[axis] = draws.Between(1, size - start);
    }
    else if (kind < 5 && size > 1)
    {
      const std::int64_t before = draws.Between(-2, 3);
      golden.job.outputIndex[axis] -= before;
      golden.job.outputSize[axis] = std::max<std::int64_t>(size + before + draws.Between(-2, 3), 1);
    }
    work *= std::min(golden.job.windowSize[axis], size) * golden.job.outputSize[axis];
  }
  constexpr std::int64_t maxWork = 1000000;
  while (work > maxWork)
  {
    std::int64_t & longest = *std::max_element(golden.job.outputSize.begin(), golden.job.outputSize.end());
    work = work / longest * (longest / 2);
    longest /= 2;
  }
}

void
DrawFeatures(RunLengthCase & golden, Draws & draws)
{
  golden.job.features = Enums::GetElevenFeatures();
  const std::int64_t kind = draws.Below(6);
  if (kind > 1)
  {
    golden.job.features = Enums::GetAllFeatures();
  }
  if (kind > 2)
  {
    draws.Shuffle(golden.job.features);
  }
  if (kind > 3)
  {
    golden.job.features.resize(static_cast<std::size_t>(draws.Between(1, 15)));
  }
  golden.job.aggregation = static_cast<Enums::Aggregation>(draws.Below(3));
}

void
DrawOffsets(RunLengthCase & golden, unsigned int dimension, Draws & draws)
{
  golden.job.offsets = GetRunOffsets(dimension);
  const std::int64_t kind = draws.Below(3);
  if (kind > 0)
  {
    draws.Shuffle(golden.job.offsets);
    for (Triple & offset : golden.job.offsets)
    {
      const std::int64_t sign = draws.Percent(50) ? 1 : -1;
      offset = { { sign * offset[0], sign * offset[1], sign * offset[2] } };
    }
  }
  if (kind > 1)
  {
    golden.job.offsets.resize(
      static_cast<std::size_t>(draws.Between(1, static_cast<std::int64_t>(golden.job.offsets.size()))));
  }
}

/** A case with a window, and all else drawn. */
RunLengthCase
DrawRunLengthCase(unsigned int dimension, const Triple & windowSize, Draws & draws)
{
  RunLengthCase golden;
  golden.job.levelsSize = { { 1, 1, 1 } };
  golden.job.windowSize = windowSize;
  golden.job.numberOfGrayLevels =
    draws.OneOf<std::uint32_t>({ 1, 2, 3, 4, 8, 16, 32, 33, 64, 100, 255, 256, 257, 1000, 4096, 65535 });
  golden.job.outputIsDouble = draws.Percent(50);
  golden.job.backgroundValue = draws.OneOf<double>({ 0.0, 0.0, -1.0, 0.25 });
  const bool         isAnchored = draws.Percent(30);
  const bool         isShifted = draws.Percent(30);
  const std::int64_t most = dimension == 2 ? 40 : 14;
  const std::int64_t kind = draws.Below(8);
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    golden.job.levelsSize[axis] = draws.Between(kind < 2 ? 1 : most / 3, kind < 2 ? 6 : most);
    golden.job.windowAnchor[axis] = isAnchored ? draws.Below(windowSize[axis]) : windowSize[axis] / 2;
    golden.job.levelsIndex[axis] = isShifted ? draws.Between(-9, 9) : 0;
  }
  if (kind == 2) // a line, or one long axis
  {
    const auto axis = static_cast<std::size_t>(draws.Below(dimension));
    golden.job.levelsSize = { { 1, draws.Between(1, 3), 1 } };
    golden.job.levelsSize[axis] = draws.Between(20, 300);
  }
  DrawLevels(golden, draws);
  DrawOffsets(golden, dimension, draws);
  DrawFeatures(golden, draws);
  DrawOutputRegion(golden, draws);
  return golden;
}

/** Cases with drawn windows, most of them small. */
void
CheckDrawnCases(const std::string & name, unsigned int dimension, int count)
{
  GoldenGroup group(name);
  for (int i = 0; i < count; ++i)
  {
    Draws              draws(group.NextCase());
    Triple             window{ { 1, 1, 1 } };
    const std::int64_t most = draws.OneOf<std::int64_t>({ 3, 5, 7, 9, 9, 15 });
    const std::int64_t edge = draws.Between(1, most);
    const bool         isCube = draws.Percent(50);
    for (unsigned int axis = 0; axis < dimension; ++axis)
    {
      window[axis] = isCube ? edge : draws.Between(1, most);
    }
    CheckAllEngines(group, DrawRunLengthCase(dimension, window, draws));
  }
}
} // namespace

TEST(GoldenTextureJobs, Cooccurrence)
{
  CheckClass<CooccurrenceJob, voxelmaps::CooccurrenceFeatureMapEnums>(
    "CooccurrenceJob", 60, [](CooccurrenceJob & job, const Scene &, unsigned int dimension, Draws & draws) {
      job.offsets = GetNeighborOffsets(dimension == 3);
      job.aggregation = draws.OneOf<CooccurrenceJob::Aggregation>({ CooccurrenceJob::Aggregation::PerDirection,
                                                                    CooccurrenceJob::Aggregation::Average,
                                                                    CooccurrenceJob::Aggregation::Average,
                                                                    CooccurrenceJob::Aggregation::Merge });
      job.symmetric = draws.Percent(80);
    });
}

TEST(GoldenTextureJobs, Dependence)
{
  CheckClass<DependenceJob, voxelmaps::DependenceFeatureMapEnums>(
    "DependenceJob", 40, [](DependenceJob & job, const Scene &, unsigned int dimension, Draws & draws) {
      job.offsets = GetNeighborOffsets(dimension == 3);
      job.alpha = draws.OneOf<std::uint32_t>({ 0, 0, 1, 3 });
    });
}

TEST(GoldenTextureJobs, FirstOrder)
{
  CheckClass<FirstOrderJob, voxelmaps::FirstOrderFeatureMapEnums>(
    "FirstOrderJob", 60, [](FirstOrderJob & job, const Scene & scene, unsigned int, Draws & draws) {
      job.intensities = scene.intensities.data();
      job.voxelArrayShift = draws.OneOf<double>({ 0.0, 0.0, 300.0, -2.5 });
    });
}

TEST(GoldenTextureJobs, GrayToneDifference)
{
  CheckClass<GrayToneDifferenceJob, voxelmaps::GrayToneDifferenceFeatureMapEnums>(
    "GrayToneDifferenceJob", 40, [](GrayToneDifferenceJob & job, const Scene &, unsigned int dimension, Draws &) {
      job.offsets = GetNeighborOffsets(dimension == 3);
    });
}

TEST(GoldenTextureJobs, SizeZone)
{
  CheckClass<SizeZoneJob, voxelmaps::SizeZoneFeatureMapEnums>(
    "SizeZoneJob", 40, [](SizeZoneJob &, const Scene &, unsigned int, Draws &) {});
}


TEST(GoldenRunLengthJob, Drawn2D)
{
  CheckDrawnCases("RunLengthJob2D", 2, 180);
}

TEST(GoldenRunLengthJob, Drawn3D)
{
  CheckDrawnCases("RunLengthJob3D", 3, 180);
}

/** Every feature alone, with every aggregation. */
TEST(GoldenRunLengthJob, SingleFeatures)
{
  GoldenGroup group("RunLengthJobOfOneFeature");
  for (const Enums::Feature feature : Enums::GetAllFeatures())
  {
    for (const auto aggregation : voxelmaps::GetEnumerators<Enums::Aggregation>())
    {
      Draws              draws(group.NextCase());
      const unsigned int dimension = draws.Percent(50) ? 2 : 3;
      RunLengthCase      golden =
        DrawRunLengthCase(dimension, dimension == 2 ? Triple{ { 5, 5, 1 } } : Triple{ { 3, 3, 3 } }, draws);
      golden.job.features = { feature };
      golden.job.aggregation = aggregation;
      CheckAllEngines(group, golden);
    }
  }
}

/** Every square window of 1 ... 15 and cube of 1 ... 9, for engines that have code for each. */
TEST(GoldenRunLengthJob, EveryWindowSize)
{
  GoldenGroup group("RunLengthJobOfEverySize");
  for (const unsigned int dimension : { 2u, 3u })
  {
    for (std::int64_t edge = 1; edge <= (dimension == 2 ? 15 : 9); ++edge)
    {
      for (const auto & features : { Enums::GetElevenFeatures(), Enums::GetAllFeatures() })
      {
        Draws         draws(group.NextCase());
        RunLengthCase golden = DrawRunLengthCase(dimension, { { edge, edge, dimension == 2 ? 1 : edge } }, draws);
        golden.job.features = features;
        CheckAllEngines(group, golden);
      }
    }
  }
}

TEST(GoldenRunLengthJob, LargeWindows)
{
  GoldenGroup               group("RunLengthJobOfLargeWindow");
  const std::vector<Triple> windows{ { { 21, 21, 1 } },  { { 20, 22, 1 } },   { { 255, 1, 1 } }, { { 1, 255, 1 } },
                                     { { 1, 1, 255 } },  { { 255, 255, 1 } }, { { 31, 3, 1 } },  { { 2, 40, 1 } },
                                     { { 16, 16, 1 } },  { { 17, 9, 1 } },    { { 10, 10, 1 } }, { { 64, 64, 1 } },
                                     { { 11, 11, 11 } }, { { 10, 10, 10 } },  { { 13, 1, 13 } }, { { 20, 20, 2 } },
                                     { { 9, 9, 10 } },   { { 40, 40, 40 } } };
  for (int repetition = 0; repetition < 2; ++repetition)
  {
    for (const Triple & window : windows)
    {
      Draws draws(group.NextCase());
      CheckAllEngines(group, DrawRunLengthCase(window[2] > 1 ? 3 : 2, window, draws));
    }
  }
}
