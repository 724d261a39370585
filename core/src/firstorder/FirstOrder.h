// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrder_h
#define FirstOrder_h

#include "window/TextureClass.h"
#include "voxelmaps/FirstOrderJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** A FirstOrderJob, or a slab of one, as all engines and kernels see it. TextureClass makes it and owns its table. */
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

/** See the primary template. */
template <>
class TextureClass<FirstOrderJob> : public TextureClassBase<FirstOrderTask>
{
public:
  explicit TextureClass(const FirstOrderJob & job);

  std::vector<TextureMethod<FirstOrderJob>>
  GetMethods(const FirstOrderJob & job) const;
  std::vector<CudaTextureMethod<FirstOrderJob>>
  GetCudaMethods() const;
  void
  AddCudaTables(CudaTables & tables, FirstOrderTask & task) const;

  /** The table of the task. */
  std::vector<std::int64_t> entropyTable;
};
} // namespace voxelmaps

#endif // FirstOrder_h
