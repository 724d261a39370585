// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureTask_h
#define TextureTask_h

#include "common/HostDevice.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>

namespace voxelmaps
{
/** A TextureFeatureMapJob, or a slab of one, as kernels see it: plain numbers and pointers, which go to a CUDA kernel
 * by value, and which sources compiled for one instruction set can use without templates of the C++ library. Indices
 * and sizes are (x, y, z); the pointers are host or device pointers. Tasks of texture classes derive from it. */
struct TextureTask
{
  const std::uint16_t * levels;
  std::int64_t          levelsSize[3];
  int                   numberOfGrayLevels;
  /** As those of the job. */
  const void * intensities;
  bool         intensitiesAreDouble;

  void * output;
  bool   outputIsDouble;
  int    numberOfComponents;
  /** Component c of output voxel v is at v * voxelStride + c * componentStride. */
  std::int64_t voxelStride;
  std::int64_t componentStride;
  std::int64_t outputSize[3];
  /** Output voxel (0, 0, 0) among the levels. */
  std::int64_t outputToLevels[3];
  double       backgroundValue;
  /** One byte per output voxel, 0 where nothing is to be computed; null selects all. */
  const std::uint8_t * selection;

  int window[3];
  int anchor[3];

  VOXELMAPS_HOST_DEVICE std::int64_t
                        LevelOffset(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return (z * levelsSize[1] + y) * levelsSize[0] + x;
  }
  /** Level of a voxel, 0 beyond the buffer. */
  VOXELMAPS_HOST_DEVICE std::uint16_t
                        LevelAt(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    const bool isInside = x >= 0 && x < levelsSize[0] && y >= 0 && y < levelsSize[1] && z >= 0 && z < levelsSize[2];
    return isInside ? levels[this->LevelOffset(x, y, z)] : std::uint16_t{ 0 };
  }
  VOXELMAPS_HOST_DEVICE bool
  IsSelected(std::int64_t outputVoxel) const
  {
    return selection == nullptr || selection[outputVoxel] != 0;
  }
  /** Whether the maps lie one after the other in the output, and not the components of a voxel. */
  VOXELMAPS_HOST_DEVICE bool
  IsPlanar() const
  {
    return componentStride != 1;
  }
};

/** The features of a task, of a class with these enumerations. */
template <typename TEnums>
struct FeatureTask : TextureTask
{
  using Feature = typename TEnums::Feature;

  static constexpr int maxFeatures = TEnums::NumberOfFeatures;

  int     numberOfFeatures;
  Feature features[maxFeatures];
};

/** Number of bytes of a component of the output. */
inline std::size_t
ComponentBytes(const TextureTask & task)
{
  return task.outputIsDouble ? sizeof(double) : sizeof(float);
}

/** Number of bytes of an intensity; 0 if there are none. */
inline std::size_t
IntensityBytes(const TextureTask & task)
{
  return task.intensities == nullptr ? 0 : task.intensitiesAreDouble ? sizeof(double) : sizeof(float);
}

/** Number of voxels of a box. */
template <typename TSize>
std::uint64_t
NumberOfVoxels(const TSize & size)
{
  return static_cast<std::uint64_t>(size[0] * size[1] * size[2]);
}

/** Store one component as the type of the output; `out` is where component 0 of the voxel is. */
VOXELMAPS_HOST_DEVICE inline void
StoreComponent(const TextureTask & task, std::int64_t out, std::int64_t component, double value)
{
  const std::int64_t at = out + component * task.componentStride;
  if (task.outputIsDouble)
  {
    static_cast<double *>(task.output)[at] = value;
  }
  else
  {
    static_cast<float *>(task.output)[at] = static_cast<float>(value);
  }
}

/** Set the fields of a job, with the host pointers. */
void
SetTextureTask(const TextureFeatureMapJob & job, int numberOfComponents, TextureTask & task);
} // namespace voxelmaps

#endif // TextureTask_h
