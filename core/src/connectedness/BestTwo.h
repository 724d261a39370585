// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BestTwo_h
#define BestTwo_h

#include "connectedness/ConnectednessKeys.h"
#include "connectedness/TieDistances.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** Per-voxel state after the scenes of some labels: its greatest key, the greatest of all other labels, and
 * the label of the greatest. */
struct BestTwo
{
  std::uint32_t best;
  std::uint32_t second;
  std::uint16_t winner;

  /** Add a label. If ties are kept, they have the label that was added first, otherwise label 0. */
  VOXELMAPS_HOST_DEVICE void
  Add(std::uint32_t key, std::uint16_t label, bool keepsTies)
  {
    if (key > best)
    {
      second = best;
      best = key;
      winner = label;
    }
    else
    {
      winner = key == best && !keepsTies ? std::uint16_t{ 0 } : winner;
      second = second > key ? second : key;
    }
  }
};

/** Add a label to the set of those that are strongest at a voxel, from its key and the greatest key before. */
VOXELMAPS_HOST_DEVICE inline void
AddToSet(std::uint32_t key, std::uint32_t best, std::uint32_t rank, std::size_t wordsPerSet, std::uint32_t * words)
{
  if (key < best || key == noKey)
  {
    return;
  }
  for (std::size_t i = 0; key > best && i < wordsPerSet; ++i)
  {
    words[i] = 0;
  }
  words[rank / 32] |= 1u << rank % 32;
}

/** Call f(label, job) for the scenes of all labels, each with its own affinity, in the order in which they win ties:
 * the lowest label first, or for Distance, the one whose first seed comes first. */
template <typename TFunction>
void
ForEachLabelJob(const RelativeFuzzyConnectednessJob & job, const TFunction & f)
{
  std::vector<std::uint16_t> labels = TieDistances(job).rankLabels;
  if (job.tieRule != RelativeFuzzyConnectednessJob::TieRule::Distance)
  {
    std::sort(labels.begin(), labels.end());
  }
  for (const std::uint16_t label : labels)
  {
    FuzzyConnectednessJob labelJob;
    static_cast<FuzzyConnectednessProblem &>(labelJob) = job;
    // Others may be below the minimum where this label is not.
    labelJob.minimumStrength = 0.0;
    labelJob.execution.reportProgress = [&job, &labels](std::uint64_t count) {
      job.execution.ReportProgress(count / labels.size());
    };
    labelJob.seeds.clear();
    for (std::size_t i = 0; i < job.seeds.size(); ++i)
    {
      if (job.labels[i] == label)
      {
        labelJob.seeds.push_back(job.seeds[i]);
      }
    }
    const auto affinity = job.labelAffinities.find(label);
    labelJob.affinity = affinity != job.labelAffinities.end() ? affinity->second : job.affinity;
    f(label, labelJob);
  }
}
} // namespace voxelmaps

#endif // BestTwo_h
