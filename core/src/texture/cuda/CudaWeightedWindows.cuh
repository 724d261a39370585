// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaWeightedWindows_cuh
#define CudaWeightedWindows_cuh

#include "cuda/CudaLaunch.h"
#include "texture/cuda/CudaChunkedLaunch.h"

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
constexpr int           weightedBlockThreads = 64;
constexpr std::uint64_t weightedThreadsPerMultiprocessor = 512;

/** A thread computes windows of weighted matrices one after the other, in its part of the scratch memory. */
template <typename TWindows, typename TTask>
__global__ void
__launch_bounds__(weightedBlockThreads)
  WeightedWindowsKernel(const __grid_constant__ TTask task, double * scratch, std::uint64_t threadSize,
                        std::int64_t threads, std::int64_t firstWindow, std::int64_t endWindow)
{
  const std::int64_t thread = std::int64_t{ blockIdx.x } * weightedBlockThreads + threadIdx.x;
  if (thread >= threads)
  {
    return;
  }
  TWindows windows(task, scratch + static_cast<std::uint64_t>(thread) * threadSize);
  for (std::int64_t number = firstWindow + thread; number < endWindow; number += threads)
  {
    windows.Compute(number);
  }
}

template <typename TWindows>
CudaScratchBytes
CudaWeightedWindowsScratchBytes(const typename TWindows::Task & task)
{
  const std::uint64_t bytes = TWindows::GetWorkspaceSize(task) * sizeof(double);
  const std::uint64_t threads =
    static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * weightedThreadsPerMultiprocessor;
  return { bytes, bytes * std::min(threads, NumberOfVoxels(task.outputSize)) };
}

/** steps: a measure of the work for one window. */
template <typename TWindows>
void
ComputeByCudaWeightedWindows(const typename TWindows::Task & task, std::int64_t steps,
                             const CudaMethodResources & resources)
{
  const std::uint64_t size = TWindows::GetWorkspaceSize(task);
  const auto          windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const auto          threads =
    std::min<std::int64_t>(windows,
                           static_cast<std::int64_t>(
                             std::min(resources.scratchBytes, CudaWeightedWindowsScratchBytes<TWindows>(task).maximum) /
                             (size * sizeof(double))));
  // In parts of about a tenth of a second, so that an abort is quick; each thread has a window, or more.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 31;
  const std::int64_t     part = std::max(partSteps / std::max<std::int64_t>(steps, 1), threads);
  const auto blocks = static_cast<unsigned int>((threads + weightedBlockThreads - 1) / weightedBlockThreads);
  LaunchChunked(
    windows, part, resources, "starting the kernel of weighted matrices", [&](std::int64_t first, std::int64_t end) {
      WeightedWindowsKernel<TWindows><<<blocks, weightedBlockThreads, 0, resources.stream>>>(
        task, static_cast<double *>(resources.scratch), size, threads, first, end);
    });
}
} // namespace voxelmaps

#endif // CudaWeightedWindows_cuh
