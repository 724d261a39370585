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
