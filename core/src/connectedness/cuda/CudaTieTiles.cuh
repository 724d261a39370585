// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTieTiles_cuh
#define CudaTieTiles_cuh

#include "CudaNodeGraph.cuh"
#include "CudaRelativeHierarchy.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"

namespace voxelmaps
{
/** Tiles whose voxels may change. */
struct CudaTieTiles
{
  const int *    tiles;  // of this pass; null for all
  unsigned int   pass;   // from 1 on
  unsigned int * passes; // of every tile, the last pass after which it was woken
  int *          woken;
  unsigned int * numberOfWoken;

  /** The tile of a block. */
  __device__ int
  GetTile() const
  {
    return tiles != nullptr ? tiles[blockIdx.x] : static_cast<int>(blockIdx.x);
  }

  /** Compute the tile of a voxel of the image again in the next pass. */
  __device__ void
  Wake(const CudaTileGrid & grid, int x, int y, int z) const
  {
    const int tile = ((z >> grid.bits[2]) * grid.tiles[1] + (y >> grid.bits[1])) * grid.tiles[0] + (x >> grid.bits[0]);
    // By hand: tiles are appended while others are computed.
    if (atomicExch(passes + tile, pass) != pass)
    {
      woken[atomicAdd(numberOfWoken, 1u)] = tile;
    }
  }
};

/** The number in the tile with its halo of voxel i of this thread. */
inline __device__ int
GetLocalNumberOfThread(const CudaTileGrid & grid, int i)
{
  return GetLocalNumber(grid, GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x)));
}

/** Change the values of a tile, which are in shared memory, until none changes any more. settle(i, local) returns the
 * new value of voxel i of this thread. Returns one bit for each voxel of this thread that has changed. */
template <typename TValue, typename TSettle>
inline __device__ unsigned int
SettleTile(const CudaTileGrid & grid, TValue * values, const TSettle & settle)
{
  unsigned int changed = 0;
  for (;;)
  {
    TValue       settled[contractVoxelsPerThread];
    unsigned int changing = 0;
#pragma unroll
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      const int local = GetLocalNumberOfThread(grid, i);
      settled[i] = settle(i, local);
      changing |= settled[i] != values[local] ? 1u << i : 0u;
    }
    changed |= changing;
    // All threads have read before any writes.
    if (__syncthreads_or(static_cast<int>(changing)) == 0)
    {
      return changed;
    }
#pragma unroll
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      if ((changing >> i & 1u) != 0)
      {
        values[GetLocalNumberOfThread(grid, i)] = settled[i];
      }
    }
    __syncthreads();
  }
}

/** Call launch(number of blocks, tiles), which launches a kernel for all tiles, and then for those that have been
 * woken, until there is none. */
template <typename TLaunch>
void
SettleTiles(const CudaRelativeOutputs & outputs, const CudaTileGrid & grid,
            CudaRelativeFuzzyConnectednessReport & report, const TLaunch & launch)
{
  const CudaStream &         stream = outputs.stream;
  const auto                 tiles = static_cast<std::size_t>(grid.GetNumberOfTiles());
  DeviceBuffer<unsigned int> passes(tiles, stream);
  DeviceBuffer<int>          lists[2]{ { tiles, stream }, { tiles, stream } };
  DeviceBuffer<unsigned int> counter(1, stream);
  CheckCuda(cudaMemsetAsync(passes.data(), 0, tiles * sizeof(unsigned int), stream), "clearing passes");
  auto awake = static_cast<unsigned int>(tiles);
  for (unsigned int pass = 1; awake > 0; ++pass)
  {
    CudaKernelClock    clock(outputs.times);
    const CudaTieTiles tieTiles{
      pass == 1 ? nullptr : lists[pass % 2].data(), pass, passes.data(), lists[(pass + 1) % 2].data(), counter.data()
    };
    CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned int), stream), "clearing a counter");
    launch(awake, tieTiles);
    CheckLaunch("settling ties");
    clock.StopLater();
    awake = CopyFromDevice(counter, stream);
    ++report.numberOfIterations;
    outputs.job.execution.CheckAbort();
  }
}
} // namespace voxelmaps

#endif // CudaTieTiles_cuh
