// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "TestedEngines.h"
#include "VoxelMapsTestUtilities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// The texture classes apart from run lengths: all features of small images with all engines.
namespace
{
using namespace VoxelMapsGolden;
using voxelmaps::CooccurrenceJob;
using voxelmaps::DependenceJob;
using voxelmaps::FirstOrderJob;
using voxelmaps::GrayToneDifferenceJob;
using voxelmaps::SizeZoneJob;
using voxelmaps::Triple;

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

/** Neighbors, one of each two opposite ones. */
std::vector<Triple>
GetOffsets(unsigned int dimension)
{
  std::vector<Triple> offsets;
  for (std::int64_t i = 14; i < (dimension == 2 ? 18 : 27); ++i)
  {
    offsets.push_back({ { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 } });
  }
  return offsets;
}

/** Check all features of a class; setParameters(job, dimension, draws) sets what is its own, and returns the number of
 * components. */
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
    const std::size_t components = setParameters(job, scene, dimension, draws);
    for (const auto & engine : VoxelMapsTest::GetEngines(job))
    {
      auto buffer = MakeGuardedBuffer(scene.levels.size() * components * sizeof(double));
      TJob computed = job;
      computed.output = buffer.data() + guardBytes;
      if (engine.compute(computed))
      {
        group.Check(engine.name, Hash(buffer));
      }
    }
  }
}
} // namespace

TEST(GoldenTextureJobs, Cooccurrence)
{
  CheckClass<CooccurrenceJob, voxelmaps::CooccurrenceFeatureMapEnums>(
    "CooccurrenceJob", 60, [](CooccurrenceJob & job, const Scene &, unsigned int dimension, Draws & draws) {
      job.offsets = GetOffsets(dimension);
      job.aggregation = draws.OneOf<CooccurrenceJob::Aggregation>({ CooccurrenceJob::Aggregation::PerDirection,
                                                                    CooccurrenceJob::Aggregation::Average,
                                                                    CooccurrenceJob::Aggregation::Average,
                                                                    CooccurrenceJob::Aggregation::Merge });
      job.symmetric = draws.Percent(80);
      return job.GetNumberOfComponents();
    });
}

TEST(GoldenTextureJobs, Dependence)
{
  CheckClass<DependenceJob, voxelmaps::DependenceFeatureMapEnums>(
    "DependenceJob", 40, [](DependenceJob & job, const Scene &, unsigned int dimension, Draws & draws) {
      job.offsets = GetOffsets(dimension);
      job.alpha = draws.OneOf<std::uint32_t>({ 0, 0, 1, 3 });
      return job.features.size();
    });
}

TEST(GoldenTextureJobs, FirstOrder)
{
  CheckClass<FirstOrderJob, voxelmaps::FirstOrderFeatureMapEnums>(
    "FirstOrderJob", 60, [](FirstOrderJob & job, const Scene & scene, unsigned int, Draws & draws) {
      job.intensities = scene.intensities.data();
      job.voxelArrayShift = draws.OneOf<double>({ 0.0, 0.0, 300.0, -2.5 });
      return job.features.size();
    });
}

TEST(GoldenTextureJobs, GrayToneDifference)
{
  CheckClass<GrayToneDifferenceJob, voxelmaps::GrayToneDifferenceFeatureMapEnums>(
    "GrayToneDifferenceJob", 40, [](GrayToneDifferenceJob & job, const Scene &, unsigned int dimension, Draws &) {
      job.offsets = GetOffsets(dimension);
      return job.features.size();
    });
}

TEST(GoldenTextureJobs, SizeZone)
{
  CheckClass<SizeZoneJob, voxelmaps::SizeZoneFeatureMapEnums>(
    "SizeZoneJob", 40, [](SizeZoneJob & job, const Scene &, unsigned int, Draws &) { return job.features.size(); });
}
