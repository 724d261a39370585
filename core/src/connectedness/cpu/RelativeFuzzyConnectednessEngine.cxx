// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "NearestLabels.h"
#include "RelativeHierarchy.h"

#include "connectedness/ConnectednessKeyEngines.h"
#include "connectedness/BestTwo.h"
#include "connectedness/RelativeResults.h"
#include "connectedness/VerifyJob.h"

#include "voxelmaps/Job.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace voxelmaps
{
namespace
{
/** Compute one scene for every label, each with its own affinity, and keep the best two of every voxel. */
void
ComputeScenes(const RelativeFuzzyConnectednessJob & job)
{
  const auto                 voxels = static_cast<std::size_t>(job.GetNumberOfVoxels());
  std::vector<std::uint32_t> best(voxels, noKey);
  std::vector<std::uint32_t> second(voxels, noKey);
  std::vector<std::uint16_t> winners(voxels, 0);
  std::vector<std::uint32_t> scene(voxels);
  const bool                 keepsTies = job.tieRule != RelativeFuzzyConnectednessJob::TieRule::Background;
  const bool                 isByDistance = job.tieRule == RelativeFuzzyConnectednessJob::TieRule::Distance;
  const TieDistances         distances(job);
  TieSets                    sets(distances);
  const std::size_t          words = isByDistance ? sets.GetWordsPerSet() : 0;
  std::vector<std::uint32_t> strongest(voxels * words, 0); // labels, as sets
  ForEachLabelJob(job, [&](std::uint16_t label, const FuzzyConnectednessJob & labelJob) {
    ComputeFuzzyConnectednessKeys(labelJob, scene.data());
    ForEachRangeOfVoxels(job.GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t voxel = begin; voxel < end; ++voxel)
      {
        if (words > 0)
        {
          AddToSet(scene[voxel], best[voxel], distances.labelRanks[label], words, strongest.data() + voxel * words);
        }
        BestTwo bestTwo{ best[voxel], second[voxel], winners[voxel] };
        bestTwo.Add(scene[voxel], label, keepsTies);
        best[voxel] = bestTwo.best;
        second[voxel] = bestTwo.second;
        winners[voxel] = bestTwo.winner;
      }
    });
  });
  const RelativeResults results(job);
  const std::uint32_t   minKey = MinKey(job);
  ForEachRangeOfVoxels(job.GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
    results.Write(
      begin, static_cast<int>(end - begin), best.data() + begin, second.data() + begin, winners.data() + begin);
    for (std::int64_t voxel = begin; words > 0 && voxel < end; ++voxel)
    {
      if (best[voxel] < minKey)
      {
        std::fill_n(strongest.begin() + voxel * static_cast<std::int64_t>(words), words, 0u);
      }
    }
  });
  if (words > 0)
  {
    std::vector<std::uint32_t> voxelSets = sets.Find(strongest);
    SettleTiesByDistance(job, distances, sets, voxelSets.data());
  }
}
} // namespace

RelativeFuzzyConnectednessHierarchy::RelativeFuzzyConnectednessHierarchy() = default;
RelativeFuzzyConnectednessHierarchy::~RelativeFuzzyConnectednessHierarchy() = default;

void
RelativeFuzzyConnectednessHierarchy::Release()
{
  m_Hierarchy.reset();
}

std::uint64_t
RelativeFuzzyConnectednessHierarchy::GetMemory() const
{
  return m_Hierarchy ? m_Hierarchy->GetMemory() : 0;
}

void
ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job)
{
  VerifyRelativeJob(job);
  if (job.GetNumberOfVoxels() == 0)
  {
    return;
  }
  if (!job.labelAffinities.empty())
  {
    ComputeScenes(job);
    return;
  }
  CpuRelativeHierarchy(job, false).Compute(job);
}

void
ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job,
                                  RelativeFuzzyConnectednessHierarchy & hierarchy)
{
  if (!job.labelAffinities.empty() || job.GetNumberOfVoxels() == 0)
  {
    ComputeRelativeFuzzyConnectedness(job);
    return;
  }
  VerifyRelativeJob(job);
  // One of a device is of no use here.
  auto * const kept = dynamic_cast<CpuRelativeHierarchy *>(hierarchy.m_Hierarchy.get());
  if (kept == nullptr)
  {
    auto made = std::make_unique<CpuRelativeHierarchy>(job, true);
    made->Compute(job);
    hierarchy.m_Hierarchy = std::move(made);
    return;
  }
  kept->Compute(job);
}
} // namespace voxelmaps
