// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WindowBox_h
#define WindowBox_h

#include "window/TextureTask.h"

#include <cstring>

namespace voxelmaps
{
/** The window of an output voxel, clipped at the level buffer. */
struct WindowBox
{
  std::int64_t first[3]; // least corner, among the levels
  int          size[3];
  int          center[3]; // the output voxel, from first on
  /** Whether the voxel is selected and has a level: only these are computed. */
  bool isComputed;

  WindowBox() = default;
  VOXELMAPS_HOST_DEVICE
  WindowBox(const TextureTask & task, const std::int64_t (&voxel)[3])
    : isComputed(task.IsSelected((voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0]))
  {
    std::int64_t at[3];
    for (int d = 0; d < 3; ++d)
    {
      at[d] = voxel[d] + task.outputToLevels[d];
      isComputed = isComputed && at[d] >= 0 && at[d] < task.levelsSize[d];
      const std::int64_t begin = at[d] - task.anchor[d];
      const std::int64_t end = begin + task.window[d];
      first[d] = begin > 0 ? begin : 0;
      size[d] = static_cast<int>((end < task.levelsSize[d] ? end : task.levelsSize[d]) - first[d]);
      center[d] = static_cast<int>(at[d] - first[d]);
    }
    isComputed = isComputed && task.levels[task.LevelOffset(at[0], at[1], at[2])] != 0;
  }

  /** The window of an output voxel by its number, x fastest. */
  static VOXELMAPS_HOST_DEVICE WindowBox
  At(const TextureTask & task, std::int64_t number)
  {
    const std::int64_t row = number / task.outputSize[0];
    const std::int64_t voxel[3] = { number - row * task.outputSize[0],
                                    row % task.outputSize[1],
                                    row / task.outputSize[1] };
    return WindowBox(task, voxel);
  }

  VOXELMAPS_HOST_DEVICE bool
  Contains(int x, int y, int z) const
  {
    return x >= 0 && x < size[0] && y >= 0 && y < size[1] && z >= 0 && z < size[2];
  }
  VOXELMAPS_HOST_DEVICE int
  NumberOfVoxels() const
  {
    return size[0] * size[1] * size[2];
  }
  /** Level of a voxel of the window, 0 beyond it. */
  VOXELMAPS_HOST_DEVICE int
  Level(const TextureTask & task, int x, int y, int z) const
  {
    return this->Contains(x, y, z) ? task.levels[task.LevelOffset(first[0] + x, first[1] + y, first[2] + z)] : 0;
  }
  /** Whether the output voxel, which must have a level, has a neighbor along a direction that has one. */
  VOXELMAPS_HOST_DEVICE bool
  HasPairAtCenter(const TextureTask & task, const int (&step)[3]) const
  {
    return this->Level(task, center[0] + step[0], center[1] + step[1], center[2] + step[2]) != 0 ||
           this->Level(task, center[0] - step[0], center[1] - step[1], center[2] - step[2]) != 0;
  }
  /** Whether a line of the window along a direction holds two voxels with a level, at any distance. The output voxel
   * must have one. */
  VOXELMAPS_HOST_DEVICE bool
  HasPair(const TextureTask & task, const int (&step)[3]) const
  {
    // In most windows there is no need to search.
    if (this->HasPairAtCenter(task, step))
    {
      return true;
    }
    for (int z = 0; z < size[2]; ++z)
    {
      for (int y = 0; y < size[1]; ++y)
      {
        for (int x = 0; x < size[0]; ++x)
        {
          if (this->Level(task, x, y, z) == 0)
          {
            continue;
          }
          for (int k = 1; this->Contains(x + k * step[0], y + k * step[1], z + k * step[2]); ++k)
          {
            if (this->Level(task, x + k * step[0], y + k * step[1], z + k * step[2]) != 0)
            {
              return true;
            }
          }
        }
      }
    }
    return false;
  }
};

/** Store a component where NaN is the quiet NaN without sign or payload: conversions and
 * operations that make NaN differ between processors. */
VOXELMAPS_HOST_DEVICE inline void
StoreComponentOrNaN(const TextureTask & task, std::int64_t out, std::int64_t component, double value)
{
  const std::int64_t at = out + component * task.componentStride;
  if (value == value)
  {
    StoreComponent(task, out, component, value);
  }
  else if (task.outputIsDouble)
  {
    const std::uint64_t bits = 0x7ff8000000000000u;
    std::memcpy(static_cast<double *>(task.output) + at, &bits, sizeof(bits));
  }
  else
  {
    const std::uint32_t bits = 0x7fc00000u;
    std::memcpy(static_cast<float *>(task.output) + at, &bits, sizeof(bits));
  }
}

/** Store the background in all components of an output voxel. */
VOXELMAPS_HOST_DEVICE inline void
StoreBackground(const TextureTask & task, std::int64_t voxel)
{
  for (int c = 0; c < task.numberOfComponents; ++c)
  {
    StoreComponentOrNaN(task, voxel * task.voxelStride, c, task.backgroundValue);
  }
}
/** The same, by a team, whose threads share the components. */
template <typename TTeam>
VOXELMAPS_DEVICE inline void
StoreBackground(const TextureTask & task, std::int64_t voxel, const TTeam & team)
{
  for (int c = team.Rank(); c < task.numberOfComponents; c += team.Size())
  {
    StoreComponentOrNaN(task, voxel * task.voxelStride, c, task.backgroundValue);
  }
}
} // namespace voxelmaps

#endif // WindowBox_h
