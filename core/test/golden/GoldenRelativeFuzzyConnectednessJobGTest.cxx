// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "TestedEngines.h"
#include "VoxelMapsTestUtilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using namespace VoxelMapsGolden;
using Job = voxelmaps::RelativeFuzzyConnectednessJob;
using Hierarchy = voxelmaps::RelativeFuzzyConnectednessHierarchy;

/** All that a result depends on; the job refers to it. */
struct Case
{
  std::vector<std::int16_t> pixels;
  std::vector<std::uint8_t> mask; // empty if there is none
  Job                       job;
};

/** The number of the case decides competition, ties, affinity function and adjacency. */
void
DrawCase(int number, Draws & draws, Case & golden)
{
  Job & job = golden.job;
  job.competition = static_cast<Job::Competition>(number % 2);
  job.tieRule = static_cast<Job::TieRule>(number / 2 % 2);
  job.affinityFunction = static_cast<Job::AffinityFunction>(number / 4 % 5);
  job.adjacency = static_cast<Job::Adjacency>(number / 20 % 3);
  job.size = draws.Percent(40)
               ? voxelmaps::Triple{ { draws.Between(1, 300), draws.Between(1, 140), 1 } }
               : voxelmaps::Triple{ { draws.Between(1, 50), draws.Between(1, 40), draws.Between(1, 40) } };
  const std::int64_t voxels = job.GetNumberOfVoxels();
  // Few levels make ties.
  const std::int64_t levels = draws.OneOf<std::int64_t>({ 1, 2, 4, 20, 200, 2000 });
  const std::int64_t width = draws.Between(3, 12);
  for (std::int64_t voxel = 0; voxel < voxels; ++voxel)
  {
    const std::int64_t x = voxel % job.size[0];
    const std::int64_t y = voxel / job.size[0] % job.size[1];
    golden.pixels.push_back(
      static_cast<std::int16_t>((x / width + 2 * (y / width)) % 3 * levels + draws.Below(levels)));
  }
  job.image = golden.pixels.data();
  job.pixelType = Job::PixelType::Int16;
  if (draws.Percent(30))
  {
    for (std::int64_t voxel = 0; voxel < voxels; ++voxel)
    {
      golden.mask.push_back(draws.Percent(85) ? 1 : 0);
    }
  }
  const std::int64_t        labels = draws.OneOf<std::int64_t>({ 1, 2, 3, 7, 40 });
  const std::int64_t        strokes = draws.Between(1, 30);
  std::vector<std::uint8_t> isSeed(static_cast<std::size_t>(voxels), 0);
  for (std::int64_t stroke = 0; stroke < strokes; ++stroke)
  {
    const auto         label = static_cast<std::uint16_t>(1 + 1600 * draws.Below(labels));
    const std::int64_t start = draws.Below(voxels);
    for (std::int64_t voxel = start; voxel < std::min(voxels, start + 5); ++voxel)
    {
      if (isSeed[static_cast<std::size_t>(voxel)] == 0)
      {
        isSeed[static_cast<std::size_t>(voxel)] = 1;
        job.seeds.push_back(voxel);
        job.labels.push_back(label);
        if (!golden.mask.empty())
        {
          golden.mask[static_cast<std::size_t>(voxel)] = 1;
        }
      }
    }
  }
  job.mask = golden.mask.empty() ? nullptr : golden.mask.data();
  job.affinity.objectMean = { static_cast<double>(levels) };
  job.affinity.objectCovariance = { static_cast<double>(levels * levels) };
  job.affinity.differenceMean = { draws.OneOf<double>({ 0.0, 1.5 }) };
  job.affinity.differenceCovariance = { static_cast<double>(levels) * 2.0 };
  job.weight = 0.375;
  job.spacing = { { 1.0, draws.OneOf<double>({ 0.5, 1.0, 1.25 }), 3.0 } };
  job.distanceWeighting = draws.Percent(30) && job.affinityFunction != Job::AffinityFunction::AbsoluteDifference;
  job.minimumStrength = draws.OneOf<double>({ 0.0, 0.0, 0.0, 0.01, 0.5 });
  job.labelsAre16Bit = true;
  job.outputIsDouble = draws.Percent(50);
  if (job.competition == Job::Competition::Relative && draws.Percent(20))
  {
    auto & affinity = job.labelAffinities[job.labels[0]] = job.affinity;
    affinity.objectMean[0] *= 0.5;
    affinity.differenceMean[0] = 0.5;
  }
}

/** Hash of labels, strengths and margins, each with guards. */
std::uint64_t
HashResult(Job job, const std::function<void(const Job &)> & compute)
{
  const auto                 count = static_cast<std::size_t>(job.GetNumberOfVoxels());
  const std::size_t          realBytes = job.outputIsDouble ? sizeof(double) : sizeof(float);
  std::vector<unsigned char> labels = MakeGuardedBuffer(count * sizeof(std::uint16_t));
  std::vector<unsigned char> strengths = MakeGuardedBuffer(count * realBytes);
  std::vector<unsigned char> margins = MakeGuardedBuffer(count * realBytes);
  job.labelOutput = labels.data() + guardBytes;
  job.strengthOutput = strengths.data() + guardBytes;
  job.marginOutput = margins.data() + guardBytes;
  compute(job);
  return Hash(margins, Hash(strengths, Hash(labels)));
}
} // namespace

TEST(GoldenRelativeFuzzyConnectednessJob, Drawn)
{
  GoldenGroup group("RelativeFuzzyConnectednessJob");
  for (int i = 0; i < 120; ++i)
  {
    Draws draws(group.NextCase());
    Case  golden;
    DrawCase(i, draws, golden);
    for (const unsigned int workers : { 1u, 3u })
    {
      golden.job.execution.numberOfWorkers = workers;
      golden.job.execution.parallelFor = RunThreads;
      const std::string variant = std::to_string(workers) + " workers";
      group.Check(variant, HashResult(golden.job, [](const Job & job) { ComputeLabels(job); }));
      Hierarchy  hierarchy;
      const auto computeWithHierarchy = [&hierarchy](const Job & job) { ComputeLabels(job, hierarchy); };
      group.Check(variant + ", hierarchy", HashResult(golden.job, computeWithHierarchy));
      group.Check(variant + ", hierarchy again", HashResult(golden.job, computeWithHierarchy));
    }
  }
}
