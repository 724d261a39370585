// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "PaperKFOE.h"

#include "connectedness/cuda/CudaConnectednessSlab.h"

#include <stdexcept>

namespace VoxelMapsBenchmarks
{
namespace
{
using namespace voxelmaps;

// The paper's blocks: 16 x 16 x 1 threads, one for each voxel.
constexpr int blockSide = 16;
constexpr int numberOfNeighbors = 6;
constexpr int correctionPasses = 2;

constexpr int maxIterations = 20000;

struct Voxel
{
  int          x, y, z;
  bool         isInside;
  std::int64_t number;
};

__device__ Voxel
GetThreadVoxel(const CudaConnectednessScene & scene)
{
  const auto x = static_cast<int>(blockIdx.x * blockSide + threadIdx.x);
  const auto y = static_cast<int>(blockIdx.y * blockSide + threadIdx.y);
  const auto z = static_cast<int>(blockIdx.z);
  return { x, y, z, IsInImage(scene, x, y, z), GetVoxel(scene, x, y, z) };
}

/** Number of a neighbor, or -1. */
__device__ std::int64_t
           GetNeighbor(const CudaConnectednessScene & scene, const Voxel & voxel, int n)
{
  const CudaLink & link = scene.links[n / 2];
  const int        sign = n % 2 == 0 ? 1 : -1;
  return IsInImage(scene, voxel.x + sign * link.x, voxel.y + sign * link.y, voxel.z + sign * link.z)
           ? voxel.number + sign * link.stride
           : -1;
}

template <typename TKeys>
__device__ std::uint32_t
           GetAffinity(const CudaConnectednessScene & scene, const Voxel & voxel, std::int64_t neighbor, int n)
{
  return TKeys::Key(scene, TKeys::Load(scene, voxel.number), TKeys::Load(scene, neighbor), scene.links[n / 2].weight);
}

/** AFFINITY-KERNEL: all affinities of a voxel into memory. */
template <typename TKeys>
__global__ void
AffinityKernel(CudaConnectednessScene scene, std::uint32_t * affinities)
{
  const Voxel voxel = GetThreadVoxel(scene);
  for (int n = 0; n < numberOfNeighbors && voxel.isInside; ++n)
  {
    const std::int64_t neighbor = GetNeighbor(scene, voxel, n);
    affinities[n * scene.numberOfVoxels + voxel.number] =
      neighbor >= 0 ? GetAffinity<TKeys>(scene, voxel, neighbor, n) : noKey;
  }
}

/** TRACKING-KERNEL: a key may be replaced by a lesser one, if another thread stored a greater one since it was read. */
__global__ void
TrackingKernel(CudaConnectednessScene scene, const std::uint32_t * affinities, const std::uint8_t * c1,
               std::uint8_t * c2, int * any)
{
  const Voxel voxel = GetThreadVoxel(scene);
  if (!voxel.isInside || c1[voxel.number] == 0)
  {
    return;
  }
  volatile std::uint32_t * const keys = scene.keys;
  for (int n = 0; n < numberOfNeighbors; ++n)
  {
    const std::uint32_t affinity = affinities[n * scene.numberOfVoxels + voxel.number];
    const std::int64_t  neighbor = GetNeighbor(scene, voxel, n);
    if (affinity > 0)
    {
      const std::uint32_t key = keys[voxel.number];
      const std::uint32_t least = affinity < key ? affinity : key;
      if (least > keys[neighbor])
      {
        keys[neighbor] = least;
        c2[neighbor] = 1;
        *any = 1;
      }
    }
  }
}

/** PARALLEL-kFOE-KERNEL as printed. */
template <typename TKeys>
__global__ void
ParallelKernel(CudaConnectednessScene scene, const std::uint8_t * c1, std::uint8_t * c2, int * any)
{
  const Voxel voxel = GetThreadVoxel(scene);
  const bool  offers = voxel.isInside && c1[voxel.number] != 0;
  const bool  isAtEdge =
    threadIdx.x == 0 || threadIdx.x == blockSide - 1 || threadIdx.y == 0 || threadIdx.y == blockSide - 1;
  volatile std::uint32_t * const keys = scene.keys;
  for (int pass = 0; pass <= correctionPasses; ++pass)
  {
    for (int n = 0; n < numberOfNeighbors && offers && (pass == 0 || isAtEdge); ++n)
    {
      const std::int64_t neighbor = GetNeighbor(scene, voxel, n);
      if (neighbor >= 0)
      {
        const std::uint32_t affinity = GetAffinity<TKeys>(scene, voxel, neighbor, n);
        const std::uint32_t key = keys[voxel.number];
        const std::uint32_t least = affinity < key ? affinity : key;
        if (least > keys[neighbor])
        {
          atomicExch(scene.keys + neighbor, least);
          c2[neighbor] = 1;
          *any = 1;
        }
      }
    }
    __syncthreads();
  }
}

template <typename TKeys>
void
Run(CudaConnectednessContext & context, const CudaConnectednessScene & scene, PaperProgram program)
{
  const cudaStream_t          stream = context.stream;
  const auto                  voxels = static_cast<std::size_t>(scene.numberOfVoxels);
  DeviceBuffer<std::uint8_t>  c1(voxels, stream);
  DeviceBuffer<std::uint8_t>  c2(voxels, stream);
  DeviceBuffer<int>           any(1, stream);
  DeviceBuffer<std::uint32_t> affinities(program == PaperProgram::Original ? numberOfNeighbors * voxels : 0, stream);
  const dim3                  threads(blockSide, blockSide);
  const dim3                  blocks(
    (scene.size[0] + blockSide - 1) / blockSide, (scene.size[1] + blockSide - 1) / blockSide, scene.size[2]);
  CudaKernelClock clock(context.kernelTimes);
  CheckCuda(cudaMemsetAsync(c1.data(), 0, voxels, stream), "clearing flags");
  for (const std::int64_t seed : context.job.seeds)
  {
    CheckCuda(cudaMemsetAsync(c1.data() + seed, 1, 1, stream), "flagging seeds");
  }
  if (program == PaperProgram::Original)
  {
    AffinityKernel<TKeys><<<blocks, threads, 0, stream>>>(scene, affinities.data());
    CheckLaunch("computing affinities");
  }
  // They need not end at all: keys may fall and rise again.
  int anyOnHost = 1;
  for (int iteration = 0; anyOnHost != 0 && iteration < maxIterations; ++iteration)
  {
    CheckCuda(cudaMemsetAsync(c2.data(), 0, voxels, stream), "clearing flags");
    CheckCuda(cudaMemsetAsync(any.data(), 0, sizeof(int), stream), "clearing flags");
    if (program == PaperProgram::Original)
    {
      TrackingKernel<<<blocks, threads, 0, stream>>>(scene, affinities.data(), c1.data(), c2.data(), any.data());
    }
    else
    {
      ParallelKernel<TKeys><<<blocks, threads, 0, stream>>>(scene, c1.data(), c2.data(), any.data());
    }
    CheckLaunch("iterating");
    CheckCuda(cudaMemcpyAsync(c1.data(), c2.data(), voxels, cudaMemcpyDeviceToDevice, stream), "copying flags");
    CheckCuda(cudaMemcpyAsync(&anyOnHost, any.data(), sizeof(int), cudaMemcpyDeviceToHost, stream),
              "copying from the device");
    context.stream.Synchronize();
  }
  clock.Stop();
}
} // namespace

double
ComputePaperKFOE(const voxelmaps::FuzzyConnectednessJob & job, PaperProgram program, std::uint32_t * keys)
{
  if (job.adjacency != voxelmaps::FuzzyConnectednessJob::Adjacency::Face || job.size[2] < 2 || job.size[2] > 65535)
  {
    throw std::runtime_error("The papers' programs support only 3D images and links over faces.");
  }
  const CudaOptions        options;
  const CudaStream         stream;
  CudaConnectednessContext context{ job, options, keys, stream, CudaKernelTimes(stream), nullptr, 0 };
  CudaConnectednessSlab    slab(context, 0, job.size[2]);
  WithKeys(slab.GetPixels(), [&](auto kind) { Run<decltype(kind)>(context, slab.GetScene(), program); });
  slab.CopyKeysToHost();
  return context.kernelTimes.GetMilliseconds();
}
} // namespace VoxelMapsBenchmarks
