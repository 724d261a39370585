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
#ifndef SizeZoneTask_h
#define SizeZoneTask_h

#include "voxelmaps/SizeZoneJob.h"
#include "sizezone/SizeZoneFormulas.h"
#include "texture/TextureTask.h"

#include <cstdint>

namespace voxelmaps
{
/** A SizeZoneJob, or a slab of one, as all engines and kernels see it. SizeZonePlan makes it and owns its tables. */
struct SizeZoneTask : FeatureTask<SizeZoneFeatureMapEnums>
{
  /** Whether zones connect across slices. */
  bool connectsSlices;
  /** Number of voxels of a window that is not clipped. */
  int windowVoxels;

  SizeMatrixScales scales;
};
} // namespace voxelmaps

#endif // SizeZoneTask_h
