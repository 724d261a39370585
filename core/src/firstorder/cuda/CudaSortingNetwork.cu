// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaFirstOrderMethods.h"
#include "CudaFirstOrderSums.cuh"
#include "cuda/CudaLaunch.h"
#include "firstorder/SortingNetwork.h"
#include "texture/cuda/CudaParts.h"

#include <algorithm>
#include <cmath>

// A thread computes a window. It sorts intensities, and counts levels, in words of shared memory that lie side by side
// for the threads of a block, so that threads of a warp do not get into each other's way.
namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerWarp = 32;
constexpr unsigned int maxThreadsPerBlock = 128;
// Blocks have fewer threads where these take less shared memory than this.
constexpr std::size_t preferredSharedBytes = 33792;

/** What a thread keeps in shared memory: numbers to be sorted, and in place of these, counts of levels. */
struct WindowWords
{
  int  numbers;       // of type float or double
  int  levelWords;    // 32-bit words of counts, one in place of a number; 0 if levels are sorted
  bool hasByteCounts; // else, counts have 16 bits
};

WindowWords
MakeWords(const FirstOrderTask & task)
{
  WindowWords words{};
  words.numbers = task.needsPercentiles || task.needsLevelCounts ? task.windowVoxels : 0;
  words.hasByteCounts = task.windowVoxels <= 255;
  const int wordCounts = words.hasByteCounts ? 4 : 2;
  const int levelWords = (task.numberOfGrayLevels + wordCounts) / wordCounts;
  words.levelWords = task.needsLevelCounts && levelWords <= words.numbers ? levelWords : 0;
  return words;
}

std::size_t
BytesPerWindow(const FirstOrderTask & task)
{
  return static_cast<std::size_t>(MakeWords(task).numbers) * IntensityBytes(task);
}

unsigned int
ThreadsPerBlock(const FirstOrderTask & task)
{
  unsigned int threads = maxThreadsPerBlock;
  while (threads > threadsPerWarp && threads * BytesPerWindow(task) > preferredSharedBytes)
  {
    threads /= 2;
  }
  return threads;
}

/** Sort the numbers 0 ... size - 1 of a thread, which are stride apart. */
template <typename T>
__device__ void
Sort(int size, T * numbers, int stride)
{
  ForEachMergeExchangeRound(size, [=](int p, int r, int d) {
    // Exchange m of the round begins at number (m / p) 2 p + r + m % p. Exchanges do not depend on each other, so
    // several are on their way at a time.
    constexpr int atATime = 4;
    const int     n = size - d - r;
    const int     rest = n & (2 * p - 1);
    const int     exchanges = n <= 0 ? 0 : ((n & ~(2 * p - 1)) >> 1) + (rest < p ? rest : p);
    const auto    numberOf = [=](int m) { return 2 * m - (m & (p - 1)) + r; };
    int           m = 0;
    for (; m + atATime <= exchanges; m += atATime)
    {
      T * first[atATime];
      T   a[atATime];
      T   b[atATime];
#pragma unroll
      for (int k = 0; k < atATime; ++k)
      {
        first[k] = numbers + numberOf(m + k) * stride;
        a[k] = first[k][0];
        b[k] = first[k][d * stride];
      }
#pragma unroll
      for (int k = 0; k < atATime; ++k)
      {
        first[k][0] = a[k] < b[k] ? a[k] : b[k];
        first[k][d * stride] = a[k] < b[k] ? b[k] : a[k];
      }
    }
    for (; m < exchanges; ++m)
    {
      T * const first = numbers + numberOf(m) * stride;
      const T   a = first[0];
      const T   b = first[d * stride];
      first[0] = a < b ? a : b;
      first[d * stride] = a < b ? b : a;
    }
  });
}

/** Sort what a function gives of the voxels of a window, at most size; returns how many these are. */
template <typename T, typename TForEach>
__device__ int
SortWindow(int size, T * numbers, int stride, const TForEach & forEach)
{
  int n = 0;
  forEach([&](T number) { numbers[n++ * stride] = number; });
  for (int i = n; i < size; ++i)
  {
    numbers[i * stride] = static_cast<T>(CUDART_INF);
  }
  Sort(size, numbers, stride);
  return n;
}

template <typename T>
__device__ void
FindPercentiles(const FirstOrderWindow<T> & window, T * numbers, int stride, FirstOrderSums<double> & sums)
{
  const int  voxels = SortWindow(window.task.windowVoxels, numbers, stride, [&](const auto & add) {
    window.ForEachVoxel([&](T intensity) {
      if (intensity == intensity)
      {
        add(intensity);
      }
    });
  });
  const auto at = [=](int k) { return static_cast<double>(numbers[k * stride]); };
  sums.percentile10 = Percentile(at, voxels, 0.1);
  sums.percentile25 = Percentile(at, voxels, 0.25);
  sums.median = ComputeMedian(at, voxels);
  sums.percentile75 = Percentile(at, voxels, 0.75);
  sums.percentile90 = Percentile(at, voxels, 0.9);
}

/** Sums over the levels of a window. */
class LevelSums
{
public:
  __device__
  LevelSums(const FirstOrderTask & task, int voxels)
    : m_Table(task.entropyTable)
    , m_Entropy(task.entropyTable[voxels])
  {}

  __device__ void
  AddLevel(std::uint32_t voxels)
  {
    m_Entropy -= m_Table[voxels];
    m_Squares += std::uint64_t{ voxels } * voxels;
  }
  __device__ void
  Store(FirstOrderSums<double> & sums) const
  {
    sums.entropy = static_cast<double>(m_Entropy);
    sums.levelSquares = static_cast<double>(m_Squares);
  }

private:
  const std::int64_t * m_Table;
  std::int64_t         m_Entropy;
  std::uint64_t        m_Squares{ 0 };
};

/** Count levels in the bits of words. */
template <int VBits, typename T>
__device__ void
CountLevels(const FirstOrderWindow<T> & window, int levelWords, std::uint32_t * words, int stride, LevelSums & sums)
{
  constexpr std::uint32_t wordCounts = 32 / VBits;
  constexpr std::uint32_t mask = (std::uint64_t{ 1 } << VBits) - 1;
  for (int i = 0; i < levelWords; ++i)
  {
    words[i * stride] = 0;
  }
  window.ForEachLevel([=](std::uint16_t level) {
    words[static_cast<int>(level / wordCounts) * stride] += 1u << (level % wordCounts * VBits);
  });
  for (int i = 0; i < levelWords; ++i)
  {
    // Level 0 is no level.
    std::uint32_t word = words[i * stride] & (i == 0 ? ~mask : ~0u);
    for (; word != 0; word >>= VBits)
    {
      if ((word & mask) != 0)
      {
        sums.AddLevel(word & mask);
      }
    }
  }
}

/** The same by sorting the levels, where there are too many to count each. */
template <typename T>
__device__ void
SortLevels(const FirstOrderWindow<T> & window, T * numbers, int stride, LevelSums & sums)
{
  const int voxels = SortWindow(window.task.windowVoxels, numbers, stride, [&](const auto & add) {
    window.ForEachLevel([&](std::uint16_t level) {
      if (level != 0)
      {
        add(static_cast<T>(level));
      }
    });
  });
  int       first = 0;
  for (int k = 1; k <= voxels; ++k)
  {
    if (k == voxels || numbers[k * stride] != numbers[first * stride])
    {
      sums.AddLevel(static_cast<std::uint32_t>(k - first));
      first = k;
    }
  }
}

template <typename T>
__global__ void
__launch_bounds__(maxThreadsPerBlock, 4)
  SortingNetworkKernel(const __grid_constant__ FirstOrderTask task, const __grid_constant__ WindowWords words,
                       const CudaIntegerRange * integers, std::int64_t firstWindow, std::int64_t endWindow)
{
  if (integers != nullptr && integers->AreKeys())
  {
    return;
  }
  extern __shared__ __align__(16) char shared[];
  T * const                            numbers = reinterpret_cast<T *>(shared) + threadIdx.x;
  const int                            stride = static_cast<int>(blockDim.x);
  const std::int64_t                   threads = std::int64_t{ gridDim.x } * blockDim.x;
  for (std::int64_t number = firstWindow + std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x; number < endWindow;
       number += threads)
  {
    const FirstOrderWindow<T> window(task, number);
    if (!window.box.isComputed)
    {
      StoreFirstOrderBackground(task, number);
      continue;
    }
    FirstOrderSums<double> sums;
    window.Start(sums);
    if (task.needsPercentiles)
    {
      FindPercentiles(window, numbers, stride, sums);
    }
    window.Sum(sums);
    window.SumRobustly(sums);
    if (task.needsLevelCounts)
    {
      LevelSums             levelSums(task, static_cast<int>(sums.voxels));
      std::uint32_t * const levelWords = reinterpret_cast<std::uint32_t *>(numbers);
      const int             levelStride = stride * static_cast<int>(sizeof(T) / sizeof(std::uint32_t));
      if (words.levelWords == 0)
      {
        SortLevels(window, numbers, stride, levelSums);
      }
      else if (words.hasByteCounts)
      {
        CountLevels<8>(window, words.levelWords, levelWords, levelStride, levelSums);
      }
      else
      {
        CountLevels<16>(window, words.levelWords, levelWords, levelStride, levelSums);
      }
      levelSums.Store(sums);
    }
    StoreFirstOrderFeatures(task, number, sums);
  }
}

template <typename T>
void
Launch(const FirstOrderTask & task, const CudaIntegerRange * integers, const CudaMethodResources & resources)
{
  const auto         windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const unsigned int threads = ThreadsPerBlock(task);
  const std::size_t  sharedBytes = BytesPerWindow(task) * threads;
  const WindowWords  words = MakeWords(task);
  const auto         blocks =
    static_cast<std::uint64_t>(PrepareKernel(SortingNetworkKernel<T>, static_cast<int>(threads), sharedBytes));

  // In parts of at most a tenth of a second, so that an abort is quick.
  constexpr double   partSteps = 4e11;
  const double       logarithm = std::log2(task.windowVoxels + 1.0);
  const double       steps = task.windowVoxels * (4.0 + logarithm * logarithm);
  const auto         wave = static_cast<std::int64_t>(blocks * threads);
  const std::int64_t part = std::max<std::int64_t>(static_cast<std::int64_t>(partSteps / steps) / wave, 1) * wave;
  LaunchInParts(
    windows, part, resources, "starting the kernel of SortingNetwork", [&](std::int64_t first, std::int64_t end) {
      SortingNetworkKernel<T><<<BlocksFor(static_cast<std::uint64_t>(end - first), threads, blocks),
                                threads,
                                sharedBytes,
                                resources.stream>>>(task, words, integers, first, end);
    });
}
} // namespace

bool
CudaSortingNetworkSupports(const FirstOrderTask & task)
{
  return BytesPerWindow(task) * threadsPerWarp <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}

void
ComputeByCudaSortingNetwork(const FirstOrderTask & task, const CudaIntegerRange * integers,
                            const CudaMethodResources & resources)
{
  if (task.intensitiesAreDouble)
  {
    Launch<double>(task, integers, resources);
  }
  else
  {
    Launch<float>(task, integers, resources);
  }
}
} // namespace voxelmaps
