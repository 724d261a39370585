// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaWindowTile_cuh
#define CudaWindowTile_cuh

#include "device/CudaLaunch.h"
#include "window/WindowBox.h"
#include "window/cuda/CudaSlabEngine.h"

#include <algorithm>
#include <cstdint>

// The frame of kernels in which a block computes tiles of windows, as an agent of CUB: a warp has 32 windows of a row.
// The body of a kernel is a class with
// - Task and Layout, its parameters, where Layout::tiles are the tiles;
// - minBlocks, minimum number of blocks per multiprocessor for __launch_bounds__, or 0;
// - Body{ task, layout }, what a block does once;
// - Compute(start), what it does for the tile from this output voxel on.
namespace voxelmaps
{
/** How the output is cut into tiles of 32 columns. A block has a warp for each row of a tile, or for every fourth. */
struct CudaWindowTiles
{
  static constexpr int lanes = 32;
  static constexpr int maxWarps = 4;
  static constexpr int maxThreads = lanes * maxWarps;

  int          rows;
  int          slices;
  std::int64_t tilesX;
  std::int64_t tilesY;
  std::int64_t tilesZ;

  CudaWindowTiles(const TextureTask & task, int rowsOfTile, int slicesOfTile)
    : rows(rowsOfTile)
    , slices(slicesOfTile)
    , tilesX((task.outputSize[0] + lanes - 1) / lanes)
    , tilesY((task.outputSize[1] + rows - 1) / rows)
    , tilesZ((task.outputSize[2] + slices - 1) / slices)
  {}
  int
  Threads() const
  {
    return lanes * std::min(rows, maxWarps);
  }
  std::int64_t
  Number() const
  {
    return tilesX * tilesY * tilesZ;
  }
  /** The first output voxel of a tile. */
  __device__ void
  GetStart(std::int64_t tile, std::int64_t (&start)[3]) const
  {
    const std::int64_t row = tile / tilesX;
    const std::int64_t plane = row / tilesY;
    start[0] = (tile - row * tilesX) * lanes;
    start[1] = (row - plane * tilesY) * rows;
    start[2] = plane * slices;
  }
};

/** The window of a column, row, and slice of a tile. */
struct CudaTileWindow
{
  /** Number of the output voxel. */
  std::int64_t output;
  /** False beyond the output. */
  bool isOutput;
  bool isComputed;

  __device__
  CudaTileWindow(const TextureTask & task, const std::int64_t (&start)[3], int column, int row, int slice)
  {
    const std::int64_t voxel[3] = { start[0] + column, start[1] + row, start[2] + slice };
    isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
    isComputed = isOutput && WindowBox(task, voxel).isComputed;
    output = (voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0];
  }
};

/** Called by all threads of a block: call store(i, level) for the voxels of a box that begins with the window of an
 * output voxel, x fastest. */
template <typename TStore>
__device__ void
ForEachTileLevel(const TextureTask & task, const std::int64_t (&start)[3], int columns, int rows, int planes,
                 const TStore & store)
{
  // A signed step lets the compiler have several voxels on their way.
  const int threads = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < columns * rows * planes; i += threads)
  {
    const int row = i / columns;
    const int plane = row / rows;
    store(i,
          task.LevelAt(start[0] + i - row * columns + task.outputToLevels[0] - task.anchor[0],
                       start[1] + row - plane * rows + task.outputToLevels[1] - task.anchor[1],
                       start[2] + plane + task.outputToLevels[2] - task.anchor[2]));
  }
}

/** The dynamic shared memory of a block. */
inline __device__ char *
SharedMemory()
{
  extern __shared__ __align__(16) char shared[];
  return shared;
}

/** VIsPersistent is whether a block computes several tiles, one after the other. */
template <typename TBody, bool VIsPersistent>
__global__ void
__launch_bounds__(CudaWindowTiles::maxThreads, TBody::minBlocks)
  WindowTileKernel(const __grid_constant__ typename TBody::Task   task,
                   const __grid_constant__ typename TBody::Layout layout, std::int64_t firstTile, std::int64_t endTile)
{
  TBody        body{ task, layout };
  std::int64_t start[3];
  if constexpr (VIsPersistent)
  {
    for (std::int64_t tile = firstTile + blockIdx.x; tile < endTile; tile += gridDim.x)
    {
      layout.tiles.GetStart(tile, start);
      body.Compute(start);
    }
  }
  else
  {
    layout.tiles.GetStart(firstTile + blockIdx.x, start);
    body.Compute(start);
  }
}

/** Compute all tiles, about partTiles at a time, which should be a tenth of a second, so that an abort is quick. */
template <typename TBody, bool VIsPersistent = false>
void
LaunchWindowTiles(const typename TBody::Task & task, const typename TBody::Layout & layout, std::size_t sharedBytes,
                  std::int64_t partTiles, const CudaMethodResources & resources, const char * what)
{
  const auto   kernel = WindowTileKernel<TBody, VIsPersistent>;
  std::int64_t blocks = partTiles;
  if constexpr (VIsPersistent)
  {
    blocks = PrepareKernel(kernel, layout.tiles.Threads(), sharedBytes);
  }
  else
  {
    AllowSharedMemory(kernel, sharedBytes);
  }
  LaunchChunked(
    layout.tiles.Number(), std::max(partTiles, blocks), resources, what, [&](std::int64_t first, std::int64_t end) {
      kernel<<<static_cast<unsigned int>(std::min(end - first, blocks)),
               layout.tiles.Threads(),
               sharedBytes,
               resources.stream>>>(task, layout, first, end);
    });
}
} // namespace voxelmaps

#endif // CudaWindowTile_cuh
