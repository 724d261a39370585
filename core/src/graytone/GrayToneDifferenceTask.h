// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceTask_h
#define GrayToneDifferenceTask_h

#include "voxelmaps/GrayToneDifferenceJob.h"
#include "texture/PairOffsets.h"
#include "texture/TextureTask.h"

#include <cstdint>

namespace voxelmaps
{
/** A GrayToneDifferenceJob, or a slab of one, as all engines and kernels see it. GrayToneDifferencePlan makes it and
 * owns its tables. */
struct GrayToneDifferenceTask : FeatureTask<GrayToneDifferenceFeatureMapEnums>
{
  bool countVoxelsWithoutNeighbors;

  /** Those that are shorter than the window, one of each opposite pair. */
  int                numberOfOffsets;
  const PairOffset * offsets;
  /** Whether the neighbors are all voxels p + d with |d[axis]| <= reach[axis], which is 0 or 1. */
  bool isBox;
  int  reach[3];

  /** Number of voxels of a window that is not clipped. */
  int windowVoxels;
  /** L, and L / k for k = 0 ... most neighbors of a voxel, rounded to an integer; 0 for k = 0. */
  double                scale;
  const std::uint64_t * weights;
  /** Whether sums need WideDifference. */
  bool isWide;
  /** Least power of two that no A(i) reaches, if isWide is false. */
  int differenceBits;

  /** Whether the selected features need the sums over pairs of levels. */
  bool needsComplexity;
  bool needsImbalances;
};
} // namespace voxelmaps

#endif // GrayToneDifferenceTask_h
