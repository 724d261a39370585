// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/cuda/CudaConnectednessSlab.h"

#include <array>
#include <utility>

namespace voxelmaps
{
namespace
{
constexpr int blockSide = 16;        // the paper's blocks of 16 x 16 x 1 voxels
constexpr int iterationsAtOnce = 32; // before the host reads whether the last one changed anything

constexpr unsigned int flagThreads = 256;

/** Every voxel whose key grew in the last iteration (C1 of the paper) offers it to its neighbors; those whose key grows
 * do so in the next iteration (C2). Then voxels at the edge of the block offer again, since their keys may have
 * grown. */
template <typename TKeys>
__global__ void
__launch_bounds__(blockSide * blockSide)
  OfferKernel(CudaConnectednessScene scene, std::uint8_t * grew, std::uint8_t * growing, unsigned int correctionPasses,
              int * anyGrew)
{
  const int          x = static_cast<int>(blockIdx.x * blockSide + threadIdx.x);
  const std::int64_t blocksInY = (scene.size[1] + blockSide - 1) / blockSide;
  bool               any = false;
  // A grid has at most 65535 blocks in y, so a block may have to process several places.
  for (std::int64_t place = blockIdx.y; place < blocksInY * scene.size[2]; place += gridDim.y)
  {
    const int          y = static_cast<int>(place % blocksInY * blockSide + threadIdx.y);
    const int          z = static_cast<int>(place / blocksInY);
    const bool         inside = x < scene.size[0] && y < scene.size[1];
    const std::int64_t voxel = GetVoxel(scene, x, y, z);
    const bool         offers = inside && grew[voxel] != 0;
    const bool         isAtEdge =
      threadIdx.x == 0 || threadIdx.x == blockSide - 1 || threadIdx.y == 0 || threadIdx.y == blockSide - 1;
    if (offers)
    {
      // The iteration after the next one uses these flags again.
      grew[voxel] = 0;
    }
    for (unsigned int pass = 0; pass <= correctionPasses; ++pass)
    {
      if (offers && (pass == 0 || isAtEdge))
      {
        const auto          pixel = TKeys::Load(scene, voxel);
        const std::uint32_t key = __ldcg(scene.keys + voxel);
        for (int n = 0; n < 2 * scene.numberOfLinks; ++n)
        {
          const CudaLink & link = scene.links[n / 2];
          const int        sign = n % 2 == 0 ? 1 : -1;
          if (!IsInImage(scene, x + sign * link.x, y + sign * link.y, z + sign * link.z))
          {
            continue;
          }
          const std::int64_t  neighbor = voxel + sign * link.stride;
          const std::uint32_t known = __ldcg(scene.keys + neighbor);
          if (known >= key)
          {
            continue;
          }
          const std::uint32_t affinity = TKeys::Key(scene, pixel, TKeys::Load(scene, neighbor), link.weight);
          const std::uint32_t offer = affinity < key ? affinity : key;
          // The paper compares and then exchanges, which may lower a key that another thread has raised in between.
          if (offer > known && atomicMax(scene.keys + neighbor, offer) < offer)
          {
            growing[neighbor] = 1;
            any = true;
          }
        }
      }
      if (correctionPasses > 0)
      {
        __syncthreads();
      }
    }
  }
  if (any)
  {
    *anyGrew = 1;
  }
}

__global__ void
FlagKnownKernel(const std::uint32_t * keys, std::int64_t numberOfVoxels, std::uint8_t * flags)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) { flags[voxel] = keys[voxel] != noKey ? 1 : 0; });
}
} // namespace

void
RunCudaCorrectedKFOE(CudaConnectednessContext & context, const CudaConnectednessSlab & slab,
                     unsigned int correctionPasses)
{
  const CudaConnectednessScene & scene = slab.GetScene();
  const cudaStream_t             stream = context.stream;
  DeviceBuffer<std::uint8_t>     grew(static_cast<std::size_t>(scene.numberOfVoxels), stream);
  DeviceBuffer<std::uint8_t>     growing(static_cast<std::size_t>(scene.numberOfVoxels), stream);
  DeviceBuffer<int>              anyGrew(iterationsAtOnce, stream);
  {
    CudaKernelClock clock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(growing.data(), 0, growing.size(), stream), "clearing flags");
    FlagKnownKernel<<<BlocksForGridStride(grew.size(), flagThreads), flagThreads, 0, stream>>>(
      scene.keys, scene.numberOfVoxels, grew.data());
    CheckLaunch("flagging seeds");
    clock.StopLater();
  }
  const auto kernel = WithKeys(slab.GetPixels(), [](auto keys) { return &OfferKernel<decltype(keys)>; });
  const dim3 threads(blockSide, blockSide);
  const auto blocksFor = [](int size) { return (size + blockSide - 1) / blockSide; };
  const dim3 blocks(
    static_cast<unsigned int>(blocksFor(scene.size[0])),
    static_cast<unsigned int>(std::min<std::int64_t>(std::int64_t{ blocksFor(scene.size[1]) } * scene.size[2], 65535)));
  for (bool done = false; !done;)
  {
    std::array<int, iterationsAtOnce> any;
    CudaKernelClock                   clock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(anyGrew.data(), 0, sizeof(any), stream), "clearing flags");
    for (int i = 0; i < iterationsAtOnce; ++i)
    {
      kernel<<<blocks, threads, 0, stream>>>(scene, grew.data(), growing.data(), correctionPasses, anyGrew.data() + i);
      CheckLaunch("iterating CorrectedKFOE");
      std::swap(grew, growing);
    }
    context.RunHostWork();
    clock.Stop();
    CopyFromDevice(any.data(), anyGrew.data(), any.size(), stream);
    for (int i = 0; i < iterationsAtOnce && !done; ++i)
    {
      ++context.numberOfIterations;
      done = any[i] == 0;
    }
    context.job.execution.CheckAbort();
  }
}
} // namespace voxelmaps
