// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
