// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "sizezone/SizeZonePlan.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <string>

namespace voxelmaps
{
SizeZonePlan::SizeZonePlan(const SizeZoneJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  if (job.connectivity > SizeZoneJob::Connectivity::InPlane)
  {
    throw EngineError("A job has the connectivity " + std::to_string(static_cast<int>(job.connectivity)) +
                      ", but must have one of SizeZoneFeatureMapEnums::Connectivity.");
  }
  SetTextureTask(job, static_cast<int>(job.features.size()), task);
  SetTaskFeatures(job.features, "SizeZoneFeatureMapEnums::Feature", task);
  task.connectsSlices = job.connectivity == SizeZoneJob::Connectivity::Full;
  task.windowVoxels = static_cast<int>(NumberOfVoxels(job.windowSize));
  const auto voxels = static_cast<std::uint64_t>(task.windowVoxels);
  const bool needsEntropy =
    std::find(job.features.begin(), job.features.end(), SizeZoneJob::Feature::ZoneEntropy) != job.features.end();
  matrix.Make({ voxels, job.numberOfGrayLevels, voxels }, needsEntropy, job.execution, task.scales);
}
} // namespace voxelmaps
