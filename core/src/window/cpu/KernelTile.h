// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef KernelTile_h
#define KernelTile_h

#include "window/TextureTask.h"
#include "window/WorkspaceLayout.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace voxelmaps
{
/** A box of the output region, as kernels see it. */
struct KernelTile
{
  std::int64_t start[3];
  int          size[3];

  // Called every few milliseconds; throws to end the job.
  void (*checkAbort)(const void * execution);
  const void * execution;
};

/** Declares a kernel, of which there is one compilation per instruction set. */
#define VOXELMAPS_DECLARE_KERNEL(...)                                                                                  \
  namespace baseline                                                                                                   \
  {                                                                                                                    \
  __VA_ARGS__;                                                                                                         \
  }                                                                                                                    \
  namespace avx2                                                                                                       \
  {                                                                                                                    \
  __VA_ARGS__;                                                                                                         \
  }                                                                                                                    \
  namespace avx512                                                                                                     \
  {                                                                                                                    \
  __VA_ARGS__;                                                                                                         \
  }

namespace
{
constexpr int            blockVoxels = 32;               // rows are processed in blocks of this many voxels
constexpr std::ptrdiff_t inputSlack = blockVoxels + 256; // blocks may read past the last row by a block and a run

inline int
RoundUp(int n, int multiple)
{
  return (n + multiple - 1) / multiple * multiple;
}

/** Sizes of a tile and of its input, which is larger by the window. */
struct TileShape
{
  int            nx, ny, nz; // output, nx rounded up to blocks
  int            ex, ey, ez; // input, ex rounded up to blocks
  std::ptrdiff_t outputVoxels;
  std::ptrdiff_t inputVoxels;

  TileShape(const TextureTask & task, const int size[3])
    : nx(RoundUp(size[0], blockVoxels))
    , ny(size[1])
    , nz(size[2])
    , ex(RoundUp(nx + task.window[0] - 1, blockVoxels))
    , ey(size[1] + task.window[1] - 1)
    , ez(size[2] + task.window[2] - 1)
    , outputVoxels(std::ptrdiff_t{ nx } * ny * nz)
    , inputVoxels(std::ptrdiff_t{ ex } * ey * ez)
  {}
  std::ptrdiff_t
  InputOffset(int x, int y, int z) const
  {
    return (std::ptrdiff_t{ z } * ey + y) * ex + x;
  }
};

/** Number of a voxel of a tile in the output. */
inline std::int64_t
OutputVoxel(const TextureTask & task, const KernelTile & tile, int x, int y, int z)
{
  return ((tile.start[2] + z) * task.outputSize[1] + tile.start[1] + y) * task.outputSize[0] + tile.start[0] + x;
}

/** Copy the part of an image that the windows of a tile reach: so many planes of rows of so many voxels, which go to
 * getRow(y, z). Voxels beyond the image are left as they are. */
template <typename T, typename TGetRow>
inline void
CopyInput(const TextureTask & task, const KernelTile & tile, const T * image, int length, int firstRow, int endRow,
          int planes, const TGetRow & getRow)
{
  std::int64_t start[3];
  for (int d = 0; d < 3; ++d)
  {
    start[d] = tile.start[d] + task.outputToLevels[d] - task.anchor[d];
  }
  // The columns of a row that are in the image.
  const std::int64_t first = start[0] < 0 ? -start[0] : 0;
  const std::int64_t rest = task.levelsSize[0] - start[0];
  const std::int64_t end = rest < length ? rest : length;
  for (int z = 0; z < planes && first < end; ++z)
  {
    for (int y = firstRow; y < endRow; ++y)
    {
      const std::int64_t atY = start[1] + y;
      const std::int64_t atZ = start[2] + z;
      if (atY >= 0 && atY < task.levelsSize[1] && atZ >= 0 && atZ < task.levelsSize[2])
      {
        std::memcpy(getRow(y, z) + first,
                    image + task.LevelOffset(start[0] + first, atY, atZ),
                    static_cast<std::size_t>(end - first) * sizeof(T));
      }
    }
  }
}
template <typename T>
inline void
CopyInput(const TextureTask & task, const KernelTile & tile, const T * image, const TileShape & shape, T * input)
{
  CopyInput(task, tile, image, shape.ex, 0, shape.ey, shape.ez, [&](int y, int z) {
    return input + shape.InputOffset(0, y, z);
  });
}
} // namespace
} // namespace voxelmaps

#endif // KernelTile_h
