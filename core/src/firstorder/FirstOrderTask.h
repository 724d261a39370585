// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderTask_h
#define FirstOrderTask_h

#include "voxelmaps/FirstOrderJob.h"
#include "texture/TextureTask.h"

#include <cstdint>

namespace voxelmaps
{
/** A FirstOrderJob, or a slab of one, as all engines and kernels see it. FirstOrderPlan makes it and owns its table. */
struct FirstOrderTask : FeatureTask<FirstOrderFeatureMapEnums>
{
  double voxelArrayShift;
  double voxelVolume;
  /** Number of voxels of a window that is not clipped. */
  int windowVoxels;

  /** t(n) = round(2^s n log2 n) for n = 0 ... windowVoxels, if entropy is selected, and 2^-s. */
  const std::int64_t * entropyTable;
  double               entropyScale;

  /** What the selected features need in addition to the first pass over the window. */
  bool needsDeviations;
  bool needsPercentiles;
  bool needsRobustDeviations;
  bool needsLevelCounts;
};
} // namespace voxelmaps

#endif // FirstOrderTask_h
