// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaLaunch_h
#define CudaLaunch_h

#include "device/CudaContext.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// How kernels of all engines are launched.
namespace voxelmaps
{
/** The limits of the current device. */
inline const CudaDeviceLimits &
GetCudaDeviceLimits()
{
  return CudaContext::Current().GetLimits();
}

/** Number of blocks of so many threads for one thread per item, at least 1 and at most maxBlocks. */
inline unsigned int
BlocksFor(std::uint64_t items, unsigned int threads, std::uint64_t maxBlocks = 0x7fffffff)
{
  const std::uint64_t blocks = items / threads + (items % threads != 0 ? 1 : 0);
  return static_cast<unsigned int>(std::min(std::max<std::uint64_t>(blocks, 1), maxBlocks));
}

#if defined(__CUDACC__)
/** Call f(i) for those of the items 0 ... count - 1 that are this thread's. */
template <typename TFunction>
inline __device__ void
ForEachInGrid(std::int64_t count, const TFunction & f)
{
  const std::int64_t step = std::int64_t{ gridDim.x } * blockDim.x;
  for (std::int64_t i = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x; i < count; i += step)
  {
    f(i);
  }
}
#endif

/** Number of blocks for a kernel whose threads step through the items: at most twice as many as the current device can
 * run at a time, which keeps all multiprocessors busy until the end. */
inline unsigned int
BlocksForGridStride(std::uint64_t items, unsigned int threads)
{
  constexpr unsigned int maxThreadsPerMultiprocessor = 2048; // of all devices so far
  return BlocksFor(items,
                   threads,
                   std::uint64_t{ 2 } * GetCudaDeviceLimits().numberOfMultiprocessors *
                     (maxThreadsPerMultiprocessor / threads));
}

/** Let a kernel use all shared memory that a block can have, on the current device. The limit belongs to the kernel,
 * not to a launch: a smaller one could be set by another thread between this call and the launch. */
template <typename TKernel>
void
AllowMaxSharedMemory(TKernel kernel)
{
  cudaFuncAttributes attributes;
  CheckCuda(cudaFuncGetAttributes(&attributes, kernel), "querying the attributes of a kernel");
  const std::size_t bytes = GetCudaDeviceLimits().maxSharedMemoryPerBlock - attributes.sharedSizeBytes;
  CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "setting the shared memory of a kernel");
}

/** AllowMaxSharedMemory where a launch needs more than every kernel has. */
template <typename TKernel>
void
AllowSharedMemory(TKernel kernel, std::size_t bytes)
{
  constexpr std::size_t defaultMaxSharedBytes = 49152;
  if (bytes > defaultMaxSharedBytes)
  {
    AllowMaxSharedMemory(kernel);
  }
}

/** AllowMaxSharedMemory; returns how many blocks of the kernel, with so much dynamic shared memory each, run at a time
 * on the entire device. */
template <typename TKernel>
int
PrepareKernel(TKernel kernel, int threads, std::size_t sharedBytes)
{
  AllowMaxSharedMemory(kernel);
  int blocks = 0;
  CheckCuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, sharedBytes),
            "asking how many blocks fit");
  return std::max(1, blocks * GetCudaDeviceLimits().numberOfMultiprocessors);
}
} // namespace voxelmaps

#endif // CudaLaunch_h
