// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaConnectednessSlab.h"
#include "CudaGatherTiles.cuh"
#include "CudaSweepTiles.cuh"

namespace voxelmaps
{
namespace
{
// Time of a launch without a limit, after which the host checks for an abort.
constexpr double millisecondsAtOnce = 30.0;

constexpr unsigned int queueThreads = 256; // of the small kernels around the queue

inline __device__ unsigned int
GetTileNumber(const CudaConnectednessScene & scene, const CudaTileGrid & grid, std::int64_t voxel)
{
  const std::int64_t row = voxel / scene.size[0];
  const auto         x = static_cast<int>(voxel % scene.size[0]) >> grid.bits[0];
  const auto         y = static_cast<int>(row % scene.size[1]) >> grid.bits[1];
  const auto         z = static_cast<int>(row / scene.size[1]) >> grid.bits[2];
  return GetNeighborTile(grid, 0, x, y, z);
}

/** Wake the tiles of seeds, or of those among the voxels first ... first + count - 1 that have keys. */
__global__ void
WakeKernel(CudaConnectednessScene scene, CudaTileGrid grid, TileQueue queue, const std::int64_t * seeds,
           std::int64_t first, std::int64_t count)
{
  const std::int64_t i = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  if (i < count)
  {
    const std::int64_t voxel = seeds != nullptr ? seeds[i] : first + i;
    const unsigned int tile = GetTileNumber(scene, grid, voxel);
    if (scene.keys[voxel] != noKey && queue.Wake(tile))
    {
      queue.Put(tile, ~0ull);
    }
  }
}

/** Put all waiting tiles into an empty queue: a launch that ends when its time is up leaves gaps in the queue. */
__global__ void
PutWaitingKernel(TileQueue queue, unsigned int numberOfTiles)
{
  const unsigned int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile < numberOfTiles && (queue.states[tile] & queued) != 0)
  {
    queue.Put(tile, ~0ull);
  }
}

std::size_t
SharedBytes(const CudaConnectednessScene & scene, const CudaTileGrid & grid, std::size_t pixelBytes)
{
  const std::size_t localVoxels = (grid.GetNumberOfLocalVoxels() + 1) / 2 * 2;
  return localVoxels * (pixelBytes + sizeof(std::uint32_t)) +
         scene.numberOfLinks * settleTileVoxels * sizeof(std::uint32_t);
}
} // namespace

bool
RunCudaActiveTiles(CudaConnectednessContext & context, const CudaConnectednessSlab & slab, double maxMilliseconds)
{
  const CudaConnectednessScene & scene = slab.GetScene();
  const cudaStream_t             stream = context.stream;
  const bool                     sweeps = scene.numberOfLinks == 3 && scene.size[2] > 1;
  const std::size_t              pixelBytes =
    WithKeys(slab.GetPixels(), [](auto keys) { return sizeof(typename decltype(keys)::Pixel); });
  // All but the keys of links and 1 KB for the static shared memory of the kernel.
  const std::size_t bytesForVoxels = GetCudaDeviceLimits().maxSharedMemoryPerBlock -
                                     scene.numberOfLinks * settleTileVoxels * sizeof(std::uint32_t) - 1024;
  CudaTileGrid grid = MakeTileGrid(scene, settleTileBits, bytesForVoxels / (pixelBytes + sizeof(std::uint32_t)));
  if (sweeps)
  {
    for (int d = 0; d < 3; ++d)
    {
      grid.bits[d] = 3; // side 8
      grid.halo[d] = 1;
      grid.tiles[d] = (scene.size[d] + side - 1) / side;
    }
    SetStrides(scene, grid);
  }
  const auto  tiles = static_cast<std::size_t>(grid.GetNumberOfTiles());
  std::size_t slots = 1;
  while (slots < tiles)
  {
    slots *= 2;
  }
  DeviceBuffer<unsigned long long> counters(3, stream);
  DeviceBuffer<unsigned int>       arrays(slots + tiles, stream);
  TileQueue                        queue{};
  queue.head = counters.data();
  queue.tail = counters.data() + 1;
  queue.awake = reinterpret_cast<unsigned int *>(counters.data() + 2);
  queue.slots = arrays.data();
  queue.slotMask = static_cast<unsigned int>(slots - 1);
  queue.states = arrays.data() + slots;

  const auto        kernel = WithKeys(slab.GetPixels(), [sweeps](auto keys) {
    return sweeps ? &SweepTilesKernel<decltype(keys)> : &GatherTilesKernel<decltype(keys)>;
  });
  const int         threads = sweeps ? warp : gatherThreads;
  const std::size_t sharedBytes = sweeps ? 0 : SharedBytes(scene, grid, pixelBytes);
  const auto        blocks =
    static_cast<unsigned int>(std::min<std::size_t>(PrepareKernel(kernel, threads, sharedBytes), tiles));
  {
    CudaKernelClock clock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(counters.data(), 0, 3 * sizeof(unsigned long long), stream), "clearing counters");
    CheckCuda(cudaMemsetAsync(arrays.data(), 0, arrays.size() * sizeof(unsigned int), stream), "clearing a queue");
    const auto wake = [&](const std::int64_t * seeds, std::int64_t first, std::int64_t count) {
      WakeKernel<<<BlocksFor(count, queueThreads), queueThreads, 0, stream>>>(scene, grid, queue, seeds, first, count);
      CheckLaunch("waking tiles");
    };
    if (slab.GetSeeds().size() > 0)
    {
      wake(slab.GetSeeds().data(), 0, static_cast<std::int64_t>(slab.GetSeeds().size()));
    }
    if (slab.GetKeysBefore() != nullptr)
    {
      wake(nullptr, 0, slab.GetPlaneSize());
    }
    if (slab.GetKeysBehind() != nullptr)
    {
      wake(nullptr, scene.numberOfVoxels - slab.GetPlaneSize(), slab.GetPlaneSize());
    }
    clock.StopLater();
  }

  for (;;)
  {
    queue.nanoseconds =
      static_cast<unsigned long long>(1e6 * (maxMilliseconds > 0.0 ? maxMilliseconds : millisecondsAtOnce));
    CudaKernelClock clock(context.kernelTimes);
    kernel<<<blocks, threads, sharedBytes, stream>>>(scene, grid, queue);
    CheckLaunch("settling tiles");
    context.WorkBesideDevice();
    clock.Stop();
    unsigned long long counts[3];
    CheckCuda(cudaMemcpyAsync(counts, counters.data(), sizeof(counts), cudaMemcpyDeviceToHost, stream),
              "copying from the device");
    context.stream.Synchronize();
    ++context.numberOfIterations;
    context.job.execution.CheckAbort();
    if (static_cast<unsigned int>(counts[2]) == 0)
    {
      break;
    }
    if (maxMilliseconds > 0.0)
    {
      return false;
    }
    CudaKernelClock queueClock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(counters.data(), 0, 2 * sizeof(unsigned long long), stream), "clearing counters");
    CheckCuda(cudaMemsetAsync(queue.slots, 0, slots * sizeof(unsigned int), stream), "clearing a queue");
    PutWaitingKernel<<<BlocksFor(tiles, queueThreads), queueThreads, 0, stream>>>(queue,
                                                                                  static_cast<unsigned int>(tiles));
    CheckLaunch("putting tiles into a queue");
    queueClock.StopLater();
  }
  context.job.execution.ReportProgress(static_cast<std::uint64_t>(scene.numberOfVoxels));
  return true;
}
} // namespace voxelmaps
