/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "CudaFirstOrderMethods.h"
#include "CudaFirstOrderSums.cuh"
#include "cuda/CudaLaunch.h"
#include "firstorder/SortingNetwork.h"

#include <algorithm>
#include <cmath>

// A thread computes a window. It sorts in shared memory while that holds the windows of a warp, else in device memory;
// number k of all threads lie side by side, so that threads of a warp do not get into each other's way.
namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerWarp = 32;
constexpr unsigned int maxThreadsPerBlock = 128;
// Blocks of fewer threads where these take less shared memory than this.
constexpr std::size_t preferredSharedBytes = 32768;

std::size_t
BytesOfWindow(const FirstOrderTask & task)
{
  return task.needsPercentiles || task.needsLevelCounts
           ? static_cast<std::size_t>(task.windowVoxels) * IntensityBytes(task)
           : 0;
}

bool
UsesSharedMemory(const FirstOrderTask & task)
{
  return BytesOfWindow(task) * threadsPerWarp <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}

unsigned int
ThreadsPerBlock(const FirstOrderTask & task)
{
  unsigned int threads = maxThreadsPerBlock;
  while (UsesSharedMemory(task) && threads > threadsPerWarp && threads * BytesOfWindow(task) > preferredSharedBytes)
  {
    threads /= 2;
  }
  return threads;
}

/** Sort the numbers 0 ... size - 1 of a thread. */
template <typename T>
__device__ void
Sort(int size, T * numbers, std::int64_t stride)
{
  SortByMergeExchange(size, [=](int i, int j) {
    const T a = numbers[i * stride];
    const T b = numbers[j * stride];
    numbers[i * stride] = a < b ? a : b;
    numbers[j * stride] = a < b ? b : a;
  });
}

template <typename T>
__device__ void
FindPercentiles(const FirstOrderWindow<T> & window, int voxels, T * numbers, std::int64_t stride,
                FirstOrderSums<double> & sums)
{
  int n = 0;
  window.ForEachVoxel([&](T intensity) {
    if (intensity == intensity)
    {
      numbers[n++ * stride] = intensity;
    }
  });
  for (; n < window.task.windowVoxels; ++n)
  {
    numbers[n * stride] = static_cast<T>(CUDART_INF);
  }
  Sort(window.task.windowVoxels, numbers, stride);
  const auto at = [=](int k) { return static_cast<double>(numbers[k * stride]); };
  sums.percentile10 = Percentile(at, voxels, 0.1);
  sums.percentile25 = Percentile(at, voxels, 0.25);
  sums.median = MedianOf(at, voxels);
  sums.percentile75 = Percentile(at, voxels, 0.75);
  sums.percentile90 = Percentile(at, voxels, 0.9);
}

/** Sums over the levels, which are sorted like intensities. */
template <typename T>
__device__ void
CountLevels(const FirstOrderWindow<T> & window, int voxels, T * numbers, std::int64_t stride,
            FirstOrderSums<double> & sums)
{
  int n = 0;
  window.ForEachLevel([&](std::uint16_t level) {
    if (level != 0)
    {
      numbers[n++ * stride] = static_cast<T>(level);
    }
  });
  for (; n < window.task.windowVoxels; ++n)
  {
    numbers[n * stride] = static_cast<T>(CUDART_INF);
  }
  Sort(window.task.windowVoxels, numbers, stride);
  std::int64_t  entropy = window.task.entropyTable[voxels];
  std::uint64_t squares = 0;
  int           first = 0;
  for (int k = 1; k <= voxels; ++k)
  {
    if (k == voxels || numbers[k * stride] != numbers[first * stride])
    {
      const auto count = static_cast<std::uint64_t>(k - first);
      entropy -= window.task.entropyTable[count];
      squares += count * count;
      first = k;
    }
  }
  sums.entropy = static_cast<double>(entropy);
  sums.levelSquares = static_cast<double>(squares);
}

template <typename T>
__device__ void
ComputeWindow(const FirstOrderTask & task, std::int64_t number, T * numbers, std::int64_t stride)
{
  const FirstOrderWindow<T> window(task, number);
  if (!window.box.isComputed)
  {
    window.StoreBackground();
    return;
  }
  FirstOrderSums<double> sums;
  window.Sum(sums);
  const int voxels = static_cast<int>(sums.voxels);
  if (task.needsPercentiles)
  {
    FindPercentiles(window, voxels, numbers, stride, sums);
  }
  window.SumRobustly(sums);
  if (task.needsLevelCounts)
  {
    CountLevels(window, voxels, numbers, stride, sums);
  }
  window.Store(sums);
}

template <typename T>
__global__ void
__launch_bounds__(maxThreadsPerBlock) SortingNetworkKernel(const __grid_constant__ FirstOrderTask task, T * scratch,
                                                           std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  const std::int64_t                   thread = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  const std::int64_t                   threads = std::int64_t{ gridDim.x } * blockDim.x;
  for (std::int64_t number = firstWindow + thread; number < endWindow; number += threads)
  {
    if (scratch == nullptr)
    {
      ComputeWindow(task, number, reinterpret_cast<T *>(shared) + threadIdx.x, blockDim.x);
    }
    else
    {
      ComputeWindow(task, number, scratch + thread, threads);
    }
  }
}

template <typename T>
void
Launch(const FirstOrderTask & task, const CudaMethodResources & resources)
{
  const auto         windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const unsigned int threads = ThreadsPerBlock(task);
  const bool         usesShared = UsesSharedMemory(task);
  const std::size_t  sharedBytes = usesShared ? BytesOfWindow(task) * threads : 0;
  const auto         resident =
    static_cast<std::uint64_t>(PrepareKernel(SortingNetworkKernel<T>, static_cast<int>(threads), sharedBytes));
  const std::uint64_t maxBlocks =
    usesShared ? resident : std::min<std::uint64_t>(resident, resources.scratchBytes / (BytesOfWindow(task) * threads));
  T * const scratch = usesShared ? nullptr : static_cast<T *>(resources.scratch);

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr double   stepsOfPart = 2e11;
  const double       logarithm = std::log2(task.windowVoxels + 1.0);
  const double       steps = task.windowVoxels * (4.0 + logarithm * logarithm) * (usesShared ? 1.0 : 10.0);
  const auto         wave = static_cast<std::int64_t>(maxBlocks * threads);
  const std::int64_t part = std::max<std::int64_t>(static_cast<std::int64_t>(stepsOfPart / steps) / wave, 1) * wave;
  for (std::int64_t first = 0; first < windows; first += part)
  {
    const std::int64_t end = std::min(windows, first + part);
    SortingNetworkKernel<T><<<BlocksFor(static_cast<std::uint64_t>(end - first), threads, maxBlocks),
                              threads,
                              sharedBytes,
                              resources.stream>>>(task, scratch, first, end);
    CheckLaunch("starting the kernel of SortingNetwork");
    if (end < windows)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
    }
  }
}
} // namespace

CudaScratchBytes
CudaSortingNetworkScratchBytes(const FirstOrderTask & task)
{
  if (UsesSharedMemory(task))
  {
    return {};
  }
  constexpr std::uint64_t maxThreadsPerMultiprocessor = 2048; // of all devices so far
  const std::uint64_t     ofWindow = BytesOfWindow(task);
  return { ofWindow * maxThreadsPerBlock,
           ofWindow * maxThreadsPerMultiprocessor *
             static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) };
}

void
ComputeByCudaSortingNetwork(const FirstOrderTask & task, const CudaMethodResources & resources)
{
  if (task.intensitiesAreDouble)
  {
    Launch<double>(task, resources);
  }
  else
  {
    Launch<float>(task, resources);
  }
}
} // namespace voxelmaps
} // namespace itk
