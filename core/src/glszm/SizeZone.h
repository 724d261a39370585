// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZone_h
#define SizeZone_h

#include "common/FixedPoint.h"
#include "window/SizeMatrixPlan.h"
#include "window/TextureClass.h"
#include "voxelmaps/SizeZoneJob.h"

#include <cstdint>

namespace voxelmaps
{
/** The features of a matrix by level and size whose entries are zones, in the order of SizeZoneJob::Feature. */
constexpr SizeMatrixFeature sizeZoneMatrixFeatures[] = {
  SizeMatrixFeature::LevelNonUniformity,
  SizeMatrixFeature::LevelNonUniformityNormalized,
  SizeMatrixFeature::LevelVariance,
  SizeMatrixFeature::HighLevelEmphasis,
  SizeMatrixFeature::LargeEmphasis,
  SizeMatrixFeature::LargeHighLevelEmphasis,
  SizeMatrixFeature::LargeLowLevelEmphasis,
  SizeMatrixFeature::LowLevelEmphasis,
  SizeMatrixFeature::SizeNonUniformity,
  SizeMatrixFeature::SizeNonUniformityNormalized,
  SizeMatrixFeature::SmallEmphasis,
  SizeMatrixFeature::SmallHighLevelEmphasis,
  SizeMatrixFeature::SmallLowLevelEmphasis,
  SizeMatrixFeature::Entropy,
  SizeMatrixFeature::Percentage,
  SizeMatrixFeature::SizeVariance,
};
constexpr SizeMatrixFeature
ToSizeMatrixFeature(SizeZoneFeatureMapEnums::Feature feature)
{
  return sizeZoneMatrixFeatures[static_cast<int>(feature)];
}

/** A zone in a list: the level in the upper 16 bits, the number of voxels in the lower ones. */
VOXELMAPS_HOST_DEVICE constexpr std::uint32_t
MakeZone(std::uint32_t level, std::uint32_t size)
{
  return level << 16 | size;
}
VOXELMAPS_HOST_DEVICE constexpr std::uint32_t
ZoneLevel(std::uint32_t zone)
{
  return zone >> 16;
}
VOXELMAPS_HOST_DEVICE constexpr std::uint32_t
ZoneSize(std::uint32_t zone)
{
  return zone & 0xffffu;
}

/** A SizeZoneJob, or a slab of one, as all engines and kernels see it. TextureClass makes it and owns its tables. */
struct SizeZoneTask : SizeMatrixTask<SizeZoneFeatureMapEnums>
{
  /** Whether zones connect across slices. */
  bool connectsSlices;
};

// A slice of a window as a word of bits, row by row. A row is followed by one bit that is always 0, so that no voxel
// becomes a neighbor of the next row's.
namespace
{
constexpr int maxWordSlices = 9;
constexpr int maxWordBits = 128;

/** From a row to the next one. */
VOXELMAPS_HOST_DEVICE inline int
RowBits(const SizeZoneTask & task)
{
  return task.window[0] + 1;
}

/** Whether the slices of a window fit words of so many bits. From row to row, words are shifted by less than 64 bits.
 */
inline bool
SlicesFitWords(const SizeZoneTask & task, int bits)
{
  return RowBits(task) < (bits < 64 ? bits : 64) && RowBits(task) * task.window[1] - 1 <= bits &&
         task.window[2] <= maxWordSlices;
}

/** Number of bits of a level - 1. */
inline int
LevelBits(const SizeZoneTask & task)
{
  return BitCount(static_cast<std::uint64_t>(task.numberOfGrayLevels - 1));
}
} // namespace

/** See the primary template. */
template <>
class TextureClass<SizeZoneJob> : public TextureClassBase<SizeZoneTask>
{
public:
  explicit TextureClass(const SizeZoneJob & job);

  std::vector<TextureMethod<SizeZoneJob>>
  GetMethods(const SizeZoneJob & job) const;
  std::vector<CudaTextureMethod<SizeZoneJob>>
  GetCudaMethods() const;
  void
  AddCudaTables(CudaTables & tables, SizeZoneTask & task) const;

  /** The tables of the task. */
  SizeMatrixPlan matrix;
};
} // namespace voxelmaps

#endif // SizeZone_h
