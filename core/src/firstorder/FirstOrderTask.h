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

  /** What the selected features need beside the first pass over the window. */
  bool needsDeviations;
  bool needsPercentiles;
  bool needsRobustDeviations;
  bool needsLevelCounts;
};
} // namespace voxelmaps

#endif // FirstOrderTask_h
