// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifference_h
#define GrayToneDifference_h

#include "window/PairOffsets.h"
#include "window/TextureClass.h"
#include "voxelmaps/GrayToneDifferenceJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** A GrayToneDifferenceJob, or a slab of one, as all engines and kernels see it. TextureClass makes it and
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

/** See the primary template. */
template <>
class TextureClass<GrayToneDifferenceJob> : public TextureClassBase<GrayToneDifferenceTask>
{
public:
  explicit TextureClass(const GrayToneDifferenceJob & job);

  std::vector<TextureMethod<GrayToneDifferenceJob>>
  GetMethods(const GrayToneDifferenceJob & job) const;
  std::vector<CudaTextureMethod<GrayToneDifferenceJob>>
  GetCudaMethods() const;
  void
  AddCudaTables(CudaTables & tables, GrayToneDifferenceTask & task) const;

  // The tables of the task.
  std::vector<PairOffset>    offsets;
  std::vector<std::uint64_t> weights;

private:
  void
  SetFeatures(const GrayToneDifferenceJob & job);
  void
  SetOffsets(const GrayToneDifferenceJob & job);
  void
  MakeWeights();
};
} // namespace voxelmaps

#endif // GrayToneDifference_h
