// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaFirstOrderMethods.h"
#include "CudaFirstOrderSums.cuh"
#include "device/CudaLaunch.h"
#include "device/CudaWarp.cuh"
#include "window/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

// A warp computes as many windows as it has lanes. The sums whose order is fixed are a lane's for its window; the
// percentiles and levels of one window after the other are found by all lanes.
namespace voxelmaps
{
namespace
{
constexpr int          lanesPerWarp = 32;
constexpr unsigned int warpsPerBlock = 4;
constexpr unsigned int allLanes = 0xffffffffu;

// Intensities are selected digit by digit, from the highest.
constexpr int digitBits = 8;
constexpr int digits = 1 << digitBits;

/** The words that counts of levels or of digits use. */
constexpr int warpWords = numberOfRanks * digits;

/** Where the voxels of a window are. */
struct SharedBox
{
  std::int64_t first;
  int          size[3];
};

struct SharedMemory
{
  std::uint64_t prefixes[numberOfRanks];
  SharedBox     boxes[lanesPerWarp];
  std::uint32_t words[warpWords];
};

/** What the lanes of a warp find of one window together. */
template <typename T>
class WarpWindow
{
public:
  __device__
  WarpWindow(const FirstOrderTask & task, SharedMemory & shared, std::uint32_t * levelCounts, int warpLane)
    : m_Task(task)
    , m_Shared(shared)
    , m_LevelCounts(levelCounts)
    , m_WarpLane(warpLane)
  {}

  /** Find the percentiles of the window of a lane, which has so many voxels; only this lane keeps them. */
  __device__ void
  FindPercentiles(int lane, int voxels, FirstOrderSums<double> & sums)
  {
    // Lane n finds the intensity of rank n; others are as the last one.
    const double value = this->Select(m_Shared.boxes[lane], KeyNumber(min(m_WarpLane, numberOfRanks - 1), voxels));
    double       values[numberOfRanks];
#pragma unroll
    for (int rank = 0; rank < numberOfRanks; ++rank)
    {
      values[rank] = __shfl_sync(allLanes, value, rank);
    }
    if (m_WarpLane == lane)
    {
      SetPercentiles([&](int rank) { return values[rank]; }, voxels, sums);
    }
  }

  /** Count the levels of the window of a lane; only this lane keeps the sums. */
  __device__ void
  CountLevels(int lane, int voxels, FirstOrderSums<double> & sums)
  {
    const SharedBox & box = m_Shared.boxes[lane];
    const bool        isShared = m_LevelCounts == m_Shared.words;
    for (int i = m_WarpLane; isShared && i <= m_Task.numberOfGrayLevels; i += lanesPerWarp)
    {
      m_LevelCounts[i] = 0;
    }
    __syncwarp();
    // (n + 1)^2 - n^2 and t(n + 1) - t(n) add up to the same sums in any order of the voxels.
    std::int64_t  entropy = 0;
    std::uint64_t squares = 0;
    this->ForEachVoxel(box, [&](std::int64_t at) {
      const std::uint16_t level = m_Task.levels[at];
      if (level != 0)
      {
        const std::uint32_t count = atomicAdd(m_LevelCounts + level, 1u);
        entropy += m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
        squares += 2 * std::uint64_t{ count } + 1;
      }
    });
    __syncwarp();
    if (!isShared)
    {
      // For the next window; the table may be much larger than windows.
      this->ForEachVoxel(box, [&](std::int64_t at) { m_LevelCounts[m_Task.levels[at]] = 0; });
    }
    entropy = ReduceWarp(entropy, cuda::std::plus<>());
    squares = ReduceWarp(squares, cuda::std::plus<>());
    if (m_WarpLane == lane)
    {
      sums.entropy = static_cast<double>(m_Task.entropyTable[voxels] - entropy);
      sums.levelSquares = static_cast<double>(squares);
    }
    __syncwarp();
  }

private:
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;

  /** Call f(offset of a voxel among the levels) for the voxels of a window, shared by the lanes. */
  template <typename TFunction>
  __device__ void
  ForEachVoxel(const SharedBox & box, const TFunction & f) const
  {
    const int voxels = box.size[0] * box.size[1] * box.size[2];
    for (int i = m_WarpLane; i < voxels; i += lanesPerWarp)
    {
      const int row = i / box.size[0];
      const int z = row / box.size[1];
      f(box.first + m_Task.LevelOffset(i - row * box.size[0], row - z * box.size[1], z));
    }
  }

  /** The intensity number rank in ascending order, of each lane's rank. By hand: CUB sorts or selects one list at a
   * time, not ranks of the windows of a warp. */
  __device__ double
  Select(const SharedBox & box, int rank)
  {
    Bits prefix = 0;
    for (int shift = static_cast<int>(sizeof(Bits)) * 8 - digitBits; shift >= 0; shift -= digitBits)
    {
      // The lanes of one prefix share the counts of the first of them.
      const int          first = __ffs(static_cast<int>(__match_any_sync(allLanes, prefix))) - 1;
      const unsigned int firsts = __ballot_sync(allLanes, first == m_WarpLane);
      if (first == m_WarpLane)
      {
        m_Shared.prefixes[first] = prefix;
      }
      for (unsigned int rest = firsts; rest != 0; rest &= rest - 1)
      {
        std::uint32_t * const counts = m_Shared.words + (__ffs(static_cast<int>(rest)) - 1) * digits;
        for (int i = m_WarpLane; i < digits; i += lanesPerWarp)
        {
          counts[i] = 0;
        }
      }
      __syncwarp();
      const T * const intensities = static_cast<const T *>(m_Task.intensities);
      this->ForEachVoxel(box, [&](std::int64_t at) {
        const T intensity = intensities[at];
        if (intensity == intensity)
        {
          Bits bits;
          memcpy(&bits, &intensity, sizeof(bits));
          const Bits rounded = ToOrder(bits) >> shift;
          for (unsigned int rest = firsts; rest != 0; rest &= rest - 1)
          {
            const int owner = __ffs(static_cast<int>(rest)) - 1;
            if ((rounded >> digitBits) == static_cast<Bits>(m_Shared.prefixes[owner]))
            {
              atomicAdd(m_Shared.words + owner * digits + static_cast<int>(rounded % digits), 1u);
            }
          }
        }
      });
      __syncwarp();
      this->NextDigit(first, rank, prefix);
      __syncwarp();
    }
    const Bits bits = FromOrder(prefix);
    T          intensity;
    memcpy(&intensity, &bits, sizeof(intensity));
    return static_cast<double>(intensity);
  }

  /** Find the next digit of every lane from the counts; ranks become those among the intensities with this digit. */
  __device__ void
  NextDigit(int first, int & rank, Bits & prefix)
  {
    constexpr int laneDigits = digits / lanesPerWarp;
    int           laneDigit = 0;
    int           laneRank = 0;
    for (int n = 0; n < numberOfRanks; ++n)
    {
      const std::uint32_t * const counts =
        m_Shared.words + __shfl_sync(allLanes, first, n) * digits + m_WarpLane * laneDigits;
      const int wanted = __shfl_sync(allLanes, rank, n);
      int       own = 0;
      for (int i = 0; i < laneDigits; ++i)
      {
        own += static_cast<int>(counts[i]);
      }
      int        rest = wanted - WarpSums(own).before;
      const bool isHere = rest >= 0 && rest < own;
      int        digit = 0;
      if (isHere)
      {
        while (rest >= static_cast<int>(counts[digit]))
        {
          rest -= static_cast<int>(counts[digit]);
          ++digit;
        }
        digit += m_WarpLane * laneDigits;
      }
      const int owner = __ffs(static_cast<int>(__ballot_sync(allLanes, isHere))) - 1;
      digit = __shfl_sync(allLanes, digit, owner);
      rest = __shfl_sync(allLanes, rest, owner);
      // Lanes beyond the ranks are as the last one.
      if (m_WarpLane >= n)
      {
        laneDigit = digit;
        laneRank = rest;
      }
    }
    prefix = prefix << digitBits | static_cast<Bits>(laneDigit);
    rank = laneRank;
  }

  const FirstOrderTask & m_Task;
  SharedMemory &         m_Shared;
  std::uint32_t *        m_LevelCounts;
  int                    m_WarpLane;
};

/** Windows of a group are those of the lanes of a warp. */
template <typename T>
__global__ void
__launch_bounds__(warpsPerBlock * lanesPerWarp)
  RadixSelectionKernel(const __grid_constant__ FirstOrderTask task, const CudaIntensityRange * range,
                       std::uint32_t * scratch, std::int64_t firstGroup, std::int64_t endGroup, std::int64_t windows)
{
  if (range != nullptr && (range->AreKeys() || range->AreFloats()))
  {
    return;
  }
  extern __shared__ __align__(16) char sharedBytes[];
  const int                            warp = static_cast<int>(threadIdx.x) / lanesPerWarp;
  const int                            warpLane = static_cast<int>(threadIdx.x) % lanesPerWarp;
  SharedMemory &                       shared = reinterpret_cast<SharedMemory *>(sharedBytes)[warp];
  const std::int64_t                   gridWarp = std::int64_t{ blockIdx.x } * warpsPerBlock + warp;
  std::uint32_t *                      levelCounts = shared.words;
  if (scratch != nullptr)
  {
    levelCounts = scratch + gridWarp * (task.numberOfGrayLevels + 1);
    for (int i = warpLane; i <= task.numberOfGrayLevels; i += lanesPerWarp)
    {
      levelCounts[i] = 0;
    }
    __syncwarp();
  }
  WarpWindow<T>      warpWindow(task, shared, levelCounts, warpLane);
  const std::int64_t step = std::int64_t{ gridDim.x } * warpsPerBlock;
  for (std::int64_t group = firstGroup + gridWarp; group < endGroup; group += step)
  {
    const std::int64_t        number = group * lanesPerWarp + warpLane;
    const bool                isWindow = number < windows;
    const FirstOrderWindow<T> window(task, isWindow ? number : windows - 1);
    const bool                isComputed = isWindow && window.box.isComputed;
    const unsigned int        computed = __ballot_sync(allLanes, isComputed);
    FirstOrderSums<double>    sums{};
    SharedBox &               box = shared.boxes[warpLane];
    box.first = task.LevelOffset(window.box.first[0], window.box.first[1], window.box.first[2]);
    for (int d = 0; d < 3; ++d)
    {
      box.size[d] = window.box.size[d];
    }
    if (isComputed)
    {
      window.Start(sums);
      window.Sum(sums);
    }
    __syncwarp();
    const int ownVoxels = static_cast<int>(sums.voxels);
    for (unsigned int rest = task.needsPercentiles ? computed : 0; rest != 0; rest &= rest - 1)
    {
      const int lane = __ffs(static_cast<int>(rest)) - 1;
      warpWindow.FindPercentiles(lane, __shfl_sync(allLanes, ownVoxels, lane), sums);
    }
    if (isComputed)
    {
      window.SumRobustly(sums);
    }
    __syncwarp();
    for (unsigned int rest = task.needsLevelCounts ? computed : 0; rest != 0; rest &= rest - 1)
    {
      const int lane = __ffs(static_cast<int>(rest)) - 1;
      warpWindow.CountLevels(lane, __shfl_sync(allLanes, ownVoxels, lane), sums);
    }
    if (isComputed)
    {
      StoreFirstOrderFeatures(task, number, sums);
    }
    else if (isWindow)
    {
      StoreBackground(task, number);
    }
    __syncwarp();
  }
}

std::uint64_t
WarpScratchBytes(const FirstOrderTask & task)
{
  return task.needsLevelCounts && task.numberOfGrayLevels >= warpWords && !CudaFirstOrderTilesSupports(task)
           ? (static_cast<std::uint64_t>(task.numberOfGrayLevels) + 1) * sizeof(std::uint32_t)
           : 0;
}

template <typename T>
void
Launch(const FirstOrderTask & task, const CudaIntensityRange * range, const CudaMethodResources & resources)
{
  constexpr std::size_t sharedBytes = warpsPerBlock * sizeof(SharedMemory);
  static_assert(sharedBytes <= 49152, "fits the shared memory of every device");
  const auto          windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::int64_t  groups = (windows + lanesPerWarp - 1) / lanesPerWarp;
  const std::uint64_t scratchBytes = WarpScratchBytes(task);
  auto                blocks =
    static_cast<std::uint64_t>(PrepareKernel(RadixSelectionKernel<T>, warpsPerBlock * lanesPerWarp, sharedBytes));
  if (scratchBytes > 0)
  {
    blocks = std::min<std::uint64_t>(blocks, resources.scratchBytes / (scratchBytes * warpsPerBlock));
  }
  auto * const scratch = scratchBytes > 0 ? static_cast<std::uint32_t *>(resources.scratch) : nullptr;

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 32;
  const auto             wave = static_cast<std::int64_t>(blocks * warpsPerBlock);
  const std::int64_t     waveSteps = wave * lanesPerWarp * task.windowVoxels;
  const std::int64_t     part = std::max<std::int64_t>(partSteps / waveSteps, 1) * wave;
  LaunchChunked(
    groups, part, resources, "starting the kernel of RadixSelection", [&](std::int64_t first, std::int64_t end) {
      RadixSelectionKernel<T><<<BlocksFor(static_cast<std::uint64_t>(end - first), warpsPerBlock, blocks),
                                warpsPerBlock * lanesPerWarp,
                                sharedBytes,
                                resources.stream>>>(task, range, scratch, first, end, windows);
    });
}
} // namespace

CudaScratchBytes
CudaRadixSelectionScratchBytes(const FirstOrderTask & task)
{
  constexpr std::uint64_t maxWarpsPerMultiprocessor = 64; // of all devices so far
  const std::uint64_t     warpWindow = WarpScratchBytes(task);
  return { cudaIntensityRangeBytes + warpWindow * warpsPerBlock,
           cudaIntensityRangeBytes + warpWindow * maxWarpsPerMultiprocessor *
                                       static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) };
}

void
ComputeByCudaRadixSelection(const FirstOrderTask & task, const CudaMethodResources & resources)
{
  const CudaIntensityRange * const range = ComputeByCudaFirstOrderTiles(task, resources);
  if (CudaFirstOrderTilesSupports(task))
  {
    return;
  }
  CudaMethodResources others = resources;
  others.scratch = static_cast<char *>(resources.scratch) + cudaIntensityRangeBytes;
  others.scratchBytes -= cudaIntensityRangeBytes;
  task.intensitiesAreDouble ? Launch<double>(task, range, others) : Launch<float>(task, range, others);
}

std::vector<CudaTextureMethod<FirstOrderJob>>
TextureClass<FirstOrderJob>::GetCudaMethods() const
{
  return { { "RadixSelection", MethodSupport::Full, CudaRadixSelectionScratchBytes, ComputeByCudaRadixSelection } };
}

void
TextureClass<FirstOrderJob>::AddCudaTables(CudaTables & tables, FirstOrderTask & deviceTask) const
{
  tables.Add(entropyTable, deviceTask.entropyTable);
}
} // namespace voxelmaps
