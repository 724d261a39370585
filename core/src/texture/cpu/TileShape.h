// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TileShape_h
#define TileShape_h

#include "texture/TextureTask.h"

#include <cstddef>
#include <cstdint>

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
};

} // namespace
} // namespace voxelmaps

#endif // TileShape_h
