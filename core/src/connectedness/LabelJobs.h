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
#ifndef LabelJobs_h
#define LabelJobs_h

#include "connectedness/ConnectednessKeys.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstddef>
#include <cstdint>
#include <set>

namespace voxelmaps
{
/** What is known of a voxel after the scenes of some labels: its greatest key, the greatest of all other labels, and
 * the label of the greatest. */
struct BestTwo
{
  std::uint32_t best;
  std::uint32_t second;
  std::uint16_t winner;

  /** Add a label that is greater than all before. If ties are not kept, they have label 0. */
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

/** Call f(label, job) for the scenes of all labels, each with its own affinity; the lowest label first. */
template <typename TFunction>
void
ForEachLabelJob(const RelativeFuzzyConnectednessJob & job, const TFunction & f)
{
  const std::set<std::uint16_t> labels(job.labels.begin(), job.labels.end());
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
    for (const LabelAffinity & affinity : job.affinities)
    {
      if (affinity.label == label)
      {
        affinity.ApplyTo(labelJob);
      }
    }
    f(label, labelJob);
  }
}
} // namespace voxelmaps

#endif // LabelJobs_h
