// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef OffsetWeights_h
#define OffsetWeights_h

#include "window/TextureTask.h"
#include "voxelmaps/Job.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** Levels that windows can have at most where matrices are weighted: a matrix of doubles per thread has 2 MB. */
constexpr int maxWeightedLevels = 512;

/** Greatest weight, so that sums do not overflow. */
constexpr double maxOffsetWeight = 1e100;

/** Throws EngineError unless there is a weight for each offset, matrices are merged, and windows
 * have few enough levels. */
inline void
VerifyOffsetWeights(const std::vector<double> & weights, std::size_t numberOfOffsets, bool isMerged,
                    std::uint64_t windowVoxels, std::uint32_t numberOfGrayLevels)
{
  if (weights.size() != numberOfOffsets)
  {
    throw EngineError("There are " + std::to_string(weights.size()) +
                      " OffsetWeights, but must be as many as offsets, " + std::to_string(numberOfOffsets) + '.');
  }
  for (const double weight : weights)
  {
    if (!(weight >= 0.0 && weight <= maxOffsetWeight))
    {
      throw EngineError("One of the OffsetWeights is " + std::to_string(weight) + ", but all must be 0 to 1e100.");
    }
  }
  if (!isMerged)
  {
    throw EngineError("There are OffsetWeights, but they weight merged matrices: use the Aggregation Merge.");
  }
  if (windowVoxels > maxWeightedLevels && numberOfGrayLevels > maxWeightedLevels)
  {
    throw EngineError("There are OffsetWeights, windows of " + std::to_string(windowVoxels) + " voxels and " +
                      std::to_string(numberOfGrayLevels) + " gray levels, but either must be at most " +
                      std::to_string(maxWeightedLevels) + " then; use fewer levels or smaller windows.");
  }
}

/** Let a task point to the weights of its job, if it has any; throws as VerifyOffsetWeights does. */
template <typename TJob, typename TTask>
void
SetOffsetWeights(const TJob & job, std::vector<double> & weights, TTask & task)
{
  if (job.offsetWeights.empty())
  {
    return;
  }
  VerifyOffsetWeights(job.offsetWeights,
                      job.offsets.size(),
                      job.aggregation == TJob::Aggregation::Merge,
                      NumberOfVoxels(job.windowSize),
                      job.numberOfGrayLevels);
  weights = job.offsetWeights;
  task.offsetWeights = weights.data();
}
} // namespace voxelmaps

#endif // OffsetWeights_h
