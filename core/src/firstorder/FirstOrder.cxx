// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "firstorder/FirstOrder.h"

#include "common/FixedPoint.h"
#include "common/ParallelFor.h"

#include <cmath>
#include <string>

namespace voxelmaps
{
namespace
{
/** Set features, and what they need. Throws EngineError if they break a rule. */
void
SetFeatures(const FirstOrderJob & job, FirstOrderTask & task)
{
  using Feature = FirstOrderJob::Feature;
  SetTaskFeatures(job.features, "FirstOrderFeatureMapEnums::Feature", task);
  for (const Feature feature : job.features)
  {
    switch (feature)
    {
      case Feature::Variance:
      case Feature::StandardDeviation:
      case Feature::Skewness:
      case Feature::Kurtosis:
      case Feature::MeanAbsoluteDeviation:
        task.needsDeviations = true;
        break;
      case Feature::RobustMeanAbsoluteDeviation:
        task.needsPercentiles = true;
        task.needsRobustDeviations = true;
        break;
      case Feature::Percentile10:
      case Feature::Percentile90:
      case Feature::Median:
      case Feature::InterquartileRange:
        task.needsPercentiles = true;
        break;
      case Feature::Entropy:
      case Feature::Uniformity:
        task.needsLevelCounts = true;
        break;
      case Feature::Energy:
      case Feature::Maximum:
      case Feature::Mean:
      case Feature::Minimum:
      case Feature::Range:
      case Feature::RootMeanSquared:
      case Feature::TotalEnergy:
        break;
    }
  }
}
} // namespace

TextureClass<FirstOrderJob>::TextureClass(const FirstOrderJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  SetTextureTask(job, static_cast<int>(job.features.size()), task);
  SetFeatures(job, task);
  if (!std::isfinite(job.voxelArrayShift))
  {
    throw EngineError("VoxelArrayShift is " + std::to_string(job.voxelArrayShift) + ", but must be finite.");
  }
  if (!std::isfinite(job.voxelVolume) || job.voxelVolume <= 0.0)
  {
    throw EngineError("The volume of a voxel is " + std::to_string(job.voxelVolume) +
                      ", but must be positive and finite.");
  }
  if (job.intensities == nullptr && NumberOfVoxels(job.levelsSize) > 0)
  {
    throw EngineError("A job has no intensities, but first order features need them.");
  }
  task.voxelArrayShift = job.voxelArrayShift;
  task.voxelVolume = job.voxelVolume;
  task.windowVoxels = static_cast<int>(NumberOfVoxels(job.windowSize));
  if (task.needsLevelCounts)
  {
    const auto voxels = static_cast<std::uint64_t>(task.windowVoxels);
    const int  bits = EntropyBits(voxels);
    entropyTable = MakeEntropyTable(voxels, bits, job.execution);
    task.entropyScale = PowerOfTwo(-bits);
  }
  task.entropyTable = entropyTable.data();
}
} // namespace voxelmaps
