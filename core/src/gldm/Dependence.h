// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Dependence_h
#define Dependence_h

#include "window/PairOffsets.h"
#include "window/SizeMatrixPlan.h"
#include "window/TextureClass.h"
#include "voxelmaps/DependenceJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** A DependenceJob, or a slab of one, as all engines and kernels see it. TextureClass makes it and owns its tables.
 *
 * Every voxel of a window that has a level is an entry of the matrix of the window: its size is 1 + the number of its
 * dependent neighbors in the window. */
struct DependenceTask : SizeMatrixTask<DependenceFeatureMapEnums>
{
  /** The offsets that a window can hold. */
  int                numberOfOffsets;
  const PairOffset * offsets;
  /** At most numberOfGrayLevels. */
  int alpha;
  /** The greatest size of an entry. */
  int maxSize;
  /** Where a method has found them before: of every voxel of the levels, bits 2 k and 2 k + 1 for the neighbors along
   * offset k and against it that are dependent. */
  const std::uint32_t * dependentNeighbors;
};

/** The features of a matrix by level and size whose entries are voxels, in the order of DependenceJob::Feature. */
constexpr SizeMatrixFeature dependenceMatrixFeatures[] = {
  SizeMatrixFeature::SmallEmphasis,
  SizeMatrixFeature::LargeEmphasis,
  SizeMatrixFeature::LevelNonUniformity,
  SizeMatrixFeature::SizeNonUniformity,
  SizeMatrixFeature::SizeNonUniformityNormalized,
  SizeMatrixFeature::LevelVariance,
  SizeMatrixFeature::SizeVariance,
  SizeMatrixFeature::Entropy,
  SizeMatrixFeature::LowLevelEmphasis,
  SizeMatrixFeature::HighLevelEmphasis,
  SizeMatrixFeature::SmallLowLevelEmphasis,
  SizeMatrixFeature::SmallHighLevelEmphasis,
  SizeMatrixFeature::LargeLowLevelEmphasis,
  SizeMatrixFeature::LargeHighLevelEmphasis,
};

constexpr SizeMatrixFeature
ToSizeMatrixFeature(DependenceFeatureMapEnums::Feature feature)
{
  return dependenceMatrixFeatures[static_cast<int>(feature)];
}

/** Whether two voxels depend on each other, if both have a level. */
VOXELMAPS_HOST_DEVICE inline bool
AreDependent(int level, int other, int alpha)
{
  const int difference = level - other;
  return level != 0 && other != 0 && difference <= alpha && -difference <= alpha;
}

/** See the primary template. */
template <>
class TextureClass<DependenceJob> : public TextureClassBase<DependenceTask>
{
public:
  explicit TextureClass(const DependenceJob & job);

  std::vector<TextureMethod<DependenceJob>>
  GetMethods(const DependenceJob & job) const;
  std::vector<CudaTextureMethod<DependenceJob>>
  GetCudaMethods() const;
  void
  AddCudaTables(CudaTables & tables, DependenceTask & task) const;

  // The tables of the task.
  std::vector<PairOffset> offsets;
  SizeMatrixPlan          matrix;
};
} // namespace voxelmaps

#endif // Dependence_h
