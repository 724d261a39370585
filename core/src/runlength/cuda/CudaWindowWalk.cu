// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One warp per window walks its runs and counts levels in a table. Supports every task; the reference on the device.
#include "CudaRunLengthMethods.h"
#include "common/WideProduct.h"
#include "texture/cuda/CudaChunkedLaunch.h"
#include "texture/cpu/WindowBox.h"

#include <math_constants.h>

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr int warpsPerBlock = 4;
constexpr int lanesPerWarp = 32;
constexpr int maxRunLength = 255;
constexpr int sharedTableEntries = 1024;

// Warps in flight on every multiprocessor, if there is memory for their tables.
constexpr std::uint64_t warpsPerMultiprocessor = 32;

/** Counts runs by level and, for entropy, by level and length: an array over all keys, or a hash table where that would
 * be much larger than a window. */
struct CountTable
{
  std::uint64_t keys;
  std::uint64_t entries;
  bool          isHash;
  bool          isShared;

  std::uint64_t
  BytesPerWarp() const
  {
    return entries * (isHash ? 2 : 1) * sizeof(std::uint32_t);
  }
};

CountTable
MakeCountTable(const RunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  CountTable table{};
  table.keys = (task.needsLevelCounts ? levels : 0) +
               (task.needsEntropy ? levels * static_cast<std::uint64_t>(task.directions.longestLine) : 0);
  table.entries = table.keys;
  if (table.keys > 4 * task.maxVoxels && table.keys > sharedTableEntries)
  {
    table.isHash = true;
    table.entries = 64;
    const std::uint64_t maxKeys = task.maxVoxels * (task.needsLevelCounts && task.needsEntropy ? 2 : 1);
    while (table.entries < 2 * maxKeys)
    {
      table.entries *= 2;
    }
  }
  table.isShared = !table.isHash && table.entries <= sharedTableEntries;
  return table;
}

/** Sums over the runs of each length, of one warp. */
struct LengthSums
{
  std::uint32_t runs;
  std::uint64_t squares;
  std::uint64_t inversesHigh;
  std::uint64_t inversesLow;
};

using Count64 = unsigned long long;
using Division = PlainDivision<double>;

template <typename T>
__device__ T
WarpSum(T value)
{
  for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
  {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

/** One warp's work on one window. */
class WarpWindow
{
public:
  __device__
  WarpWindow(const RunLengthTask & task, const CountTable & table, LengthSums * sums, std::uint32_t * counts,
             int warpLane)
    : m_Task(task)
    , m_Table(table)
    , m_Sums(sums)
    , m_Counts(counts)
    , m_WarpLane(warpLane)
    , m_Window{}
  {}

  __device__ void
  Compute(std::int64_t number)
  {
    m_Window = this->Locate(number);
    const std::int64_t out = number * m_Task.voxelStride;
    if (!m_Window.isComputed)
    {
      for (int c = m_WarpLane; c < m_Task.numberOfComponents; c += lanesPerWarp)
      {
        StoreComponentOrNaN(m_Task, out, c, m_Task.backgroundValue);
      }
      return;
    }
    const unsigned int directions = m_Task.skipDirectionsWithoutPairs ? this->DirectionsWithPairs() : ~0u;
    m_Voxels = this->CountVoxels();
    this->ClearMatrix();
    // Lane f keeps feature f.
    const bool isFeature = m_WarpLane < m_Task.numberOfFeatures;
    double     sum = 0.0;
    int        used = 0;
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      double value = CUDART_NAN;
      if (directions >> d & 1u)
      {
        this->AddDirection(m_Task.directions.steps[d]);
        ++used;
        if (m_Task.aggregation != RunLengthJob::Aggregation::Merge)
        {
          value = this->Evaluate(1);
          sum += value;
          this->ClearMatrix();
        }
      }
      if (m_Task.aggregation == RunLengthJob::Aggregation::PerDirection && isFeature)
      {
        StoreComponentOrNaN(m_Task, out, d * m_Task.numberOfFeatures + m_WarpLane, value);
      }
    }
    if (m_Task.aggregation == RunLengthJob::Aggregation::Merge)
    {
      sum = used > 0 ? this->Evaluate(used) : CUDART_NAN;
    }
    else if (isFeature)
    {
      // 0 / 0 is NaN where all directions were skipped.
      sum = this->Average(sum, static_cast<double>(used));
    }
    if (m_Task.aggregation != RunLengthJob::Aggregation::PerDirection && isFeature)
    {
      StoreComponentOrNaN(m_Task, out, m_WarpLane, sum);
    }
  }

  /** Compute those of a warp's number of windows again in which a direction without pairs is to be skipped. */
  __device__ void
  SkipDirections(std::int64_t first, std::int64_t end)
  {
    // Each lane looks at the neighbors of one voxel; only where some are absent does the warp search a window.
    bool isSearched = false;
    if (first + m_WarpLane < end)
    {
      const WindowBox window = this->Locate(first + m_WarpLane);
      for (int d = 0; d < m_Task.directions.number && window.isComputed && !isSearched; ++d)
      {
        isSearched = !window.HasPairAtCenter(m_Task, m_Task.directions.steps[d]);
      }
    }
    for (unsigned int searched = __ballot_sync(0xffffffffu, isSearched); searched != 0; searched &= searched - 1)
    {
      const std::int64_t number = first + __ffs(static_cast<int>(searched)) - 1;
      m_Window = this->Locate(number);
      if (this->DirectionsWithPairs() != (1u << m_Task.directions.number) - 1)
      {
        this->Compute(number);
      }
      __syncwarp();
    }
  }

private:
  __device__ WindowBox
  Locate(std::int64_t number) const
  {
    const std::int64_t row = number / m_Task.outputSize[0];
    const std::int64_t voxel[3] = { number - row * m_Task.outputSize[0],
                                    row % m_Task.outputSize[1],
                                    row / m_Task.outputSize[1] };
    return WindowBox(m_Task, voxel);
  }

  /** Bit d is set if some line along direction d holds two voxels. */
  __device__ unsigned int
  DirectionsWithPairs() const
  {
    const bool hasPair =
      m_WarpLane < m_Task.directions.number && m_Window.HasPair(m_Task, m_Task.directions.steps[m_WarpLane]);
    return __ballot_sync(0xffffffffu, hasPair);
  }

  __device__ int
  LevelInWindow(int x, int y, int z) const
  {
    return m_Window.Level(m_Task, x, y, z);
  }

  __device__ std::uint32_t
             CountVoxels() const
  {
    std::uint32_t present = 0;
    for (int i = m_WarpLane; i < m_Window.NumberOfVoxels(); i += lanesPerWarp)
    {
      const int row = i / m_Window.size[0];
      present +=
        this->LevelInWindow(i - row * m_Window.size[0], row % m_Window.size[1], row / m_Window.size[1]) != 0 ? 1 : 0;
    }
    return WarpSum(present);
  }

  __device__ void
  ClearMatrix()
  {
    __syncwarp();
    for (int l = m_WarpLane; l <= m_Task.directions.longestLine; l += lanesPerWarp)
    {
      m_Sums[l] = LengthSums{ 0, 0, 0, 0 };
    }
    const std::uint64_t words = m_Table.entries * (m_Table.isHash ? 2 : 1);
    for (std::uint64_t i = m_WarpLane; i < words; i += lanesPerWarp)
    {
      m_Counts[i] = 0;
    }
    m_LevelSum = 0;
    m_LevelNonUniformity = 0;
    m_EntropySum = 0;
    __syncwarp();
  }

  /** Count one more of a key; returns how many there were. */
  __device__ std::uint32_t
             CountOneMore(std::uint32_t key)
  {
    if (!m_Table.isHash)
    {
      return atomicAdd(m_Counts + key, 1u);
    }
    const std::uint64_t mask = m_Table.entries - 1;
    std::uint64_t       slot = (key * 0x9e3779b1u) & mask;
    for (;;)
    {
      const std::uint32_t found = atomicCAS(m_Counts + slot, 0u, key + 1);
      if (found == 0 || found == key + 1)
      {
        return atomicAdd(m_Counts + m_Table.entries + slot, 1u);
      }
      slot = (slot + 1) & mask;
    }
  }

  __device__ void
  AddDirection(const int (&step)[3])
  {
    for (int i = m_WarpLane; i < m_Window.NumberOfVoxels(); i += lanesPerWarp)
    {
      const int row = i / m_Window.size[0];
      const int at[3] = { i - row * m_Window.size[0], row % m_Window.size[1], row / m_Window.size[1] };
      const int level = this->LevelInWindow(at[0], at[1], at[2]);
      if (level == 0 || this->LevelInWindow(at[0] - step[0], at[1] - step[1], at[2] - step[2]) == level)
      {
        continue;
      }
      int length = 1;
      while (this->LevelInWindow(at[0] + length * step[0], at[1] + length * step[1], at[2] + length * step[2]) == level)
      {
        ++length;
      }
      this->AddRun(static_cast<std::uint32_t>(level), length);
    }
    __syncwarp();
  }

  __device__ void
  AddRun(std::uint32_t level, int length)
  {
    LengthSums & sums = m_Sums[length];
    atomicAdd(&sums.runs, 1u);
    atomicAdd(reinterpret_cast<Count64 *>(&sums.squares), Count64{ level } * level);
    m_LevelSum += level;
    if (m_Task.needsInverses)
    {
      const std::uint64_t inverse = m_Task.inverseSquares[level];
      if (m_Task.wideInverses)
      {
        atomicAdd(reinterpret_cast<Count64 *>(&sums.inversesHigh), static_cast<Count64>(inverse >> 32));
        atomicAdd(reinterpret_cast<Count64 *>(&sums.inversesLow), static_cast<Count64>(inverse & 0xffffffffu));
      }
      else
      {
        atomicAdd(reinterpret_cast<Count64 *>(&sums.inversesLow), static_cast<Count64>(inverse));
      }
    }
    // (n + 1)^2 - n^2 and t(n + 1) - t(n) add up to the same sums in any order of the runs.
    if (m_Task.needsLevelCounts)
    {
      m_LevelNonUniformity += 2 * std::uint64_t{ this->CountOneMore(level - 1) } + 1;
    }
    if (m_Task.needsEntropy)
    {
      const std::uint32_t cells = m_Task.needsLevelCounts ? static_cast<std::uint32_t>(m_Task.numberOfGrayLevels) : 0;
      const std::uint32_t count =
        this->CountOneMore(cells + (level - 1) * static_cast<std::uint32_t>(m_Task.directions.longestLine) +
                           static_cast<std::uint32_t>(length) - 1);
      m_EntropySum += m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
    }
  }

  /** The value of the feature of this lane, of the sum of so many matrices. */
  __device__ double
  Evaluate(std::uint64_t matrices)
  {
    __syncwarp();
    const std::uint64_t levelSum = WarpSum(m_LevelSum);
    const std::uint64_t levelNonUniformity = WarpSum(m_LevelNonUniformity);
    const std::int64_t  entropySum = WarpSum(m_EntropySum);
    if (m_WarpLane >= m_Task.numberOfFeatures)
    {
      return 0.0;
    }
    RunLengthSums<double> sums{};
    ClearRuns(sums);
    sums.voxels = static_cast<double>(m_Voxels * matrices);
    std::uint64_t runs = 0;
    std::uint64_t squares = 0;
    for (int l = 1; l <= m_Task.directions.longestLine; ++l)
    {
      const LengthSums & of = m_Sums[l];
      const double       inverses =
        m_Task.wideInverses ? static_cast<double>(of.inversesHigh) * 4294967296.0 + static_cast<double>(of.inversesLow)
                                  : static_cast<double>(of.inversesLow);
      AddRunsWithLength(sums,
                        m_Task.lengthSquares[l],
                        m_Task.shortRunWeights[l],
                        static_cast<double>(of.runs),
                        static_cast<double>(of.squares),
                        inverses);
      runs += of.runs;
      squares += of.squares;
    }
    sums.levelNonUniformity = static_cast<double>(levelNonUniformity);
    sums.levelVariance = VarianceNumerator(runs, squares, levelSum);
    if (m_Task.needsEntropy)
    {
      sums.entropy = static_cast<double>(m_Task.entropyTable[runs] - entropySum);
    }
    if (m_Task.aggregation == RunLengthJob::Aggregation::Average)
    {
      return RunLengthAverageTerm(m_Task.features[m_WarpLane], sums, Division::Reciprocal(sums.runs));
    }
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(m_Task.scales.shortRunScale));
    return RunLengthFeatureValue(m_Task.features[m_WarpLane], sums, divisors, m_Task.scales);
  }
  __device__ double
  Average(double sum, double directions) const
  {
    return RunLengthAverage<double, Division>(
      m_Task.features[m_WarpLane], sum, static_cast<double>(m_Voxels), directions, m_Task.scales);
  }

  const RunLengthTask & m_Task;
  const CountTable &    m_Table;
  LengthSums *          m_Sums;
  std::uint32_t *       m_Counts;
  int                   m_WarpLane;
  WindowBox             m_Window;
  std::uint64_t         m_Voxels{ 0 };
  std::uint64_t         m_LevelSum{ 0 };
  std::uint64_t         m_LevelNonUniformity{ 0 };
  std::int64_t          m_EntropySum{ 0 };
};

__global__ void
__launch_bounds__(warpsPerBlock * lanesPerWarp)
  WindowWalkKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ CountTable table,
                   bool skipDirections, std::uint32_t * scratch, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  const int                            warp = threadIdx.x / lanesPerWarp;
  auto *          sums = reinterpret_cast<LengthSums *>(shared) + warp * (task.directions.longestLine + 1);
  std::uint32_t * counts;
  if (table.isShared)
  {
    counts = reinterpret_cast<std::uint32_t *>(reinterpret_cast<LengthSums *>(shared) +
                                               warpsPerBlock * (task.directions.longestLine + 1)) +
             warp * table.entries;
  }
  else
  {
    counts = scratch + (std::uint64_t{ blockIdx.x } * warpsPerBlock + warp) * table.entries * (table.isHash ? 2 : 1);
  }
  WarpWindow         window(task, table, sums, counts, threadIdx.x % lanesPerWarp);
  const std::int64_t windowsPerStep = skipDirections ? lanesPerWarp : 1;
  const std::int64_t step = std::int64_t{ gridDim.x } * warpsPerBlock * windowsPerStep;
  for (std::int64_t number = firstWindow + (std::int64_t{ blockIdx.x } * warpsPerBlock + warp) * windowsPerStep;
       number < endWindow;
       number += step)
  {
    skipDirections ? window.SkipDirections(number, endWindow) : window.Compute(number);
    __syncwarp();
  }
}

std::uint64_t
WarpsInFlight()
{
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * warpsPerMultiprocessor;
}

void
Launch(const RunLengthTask & task, const CudaMethodResources & resources, bool skipDirections)
{
  const CountTable table = MakeCountTable(task);
  const auto       windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  std::uint64_t    warps = WarpsInFlight();
  if (!table.isShared && table.BytesPerWarp() > 0)
  {
    warps = std::min<std::uint64_t>(warps, resources.scratchBytes / table.BytesPerWarp());
  }
  const auto blocks = static_cast<unsigned int>(std::max<std::uint64_t>(warps / warpsPerBlock, 1));
  const auto sharedBytes = warpsPerBlock * ((task.directions.longestLine + 1) * sizeof(LengthSums) +
                                            (table.isShared ? table.entries * sizeof(std::uint32_t) : 0));
  static_assert(warpsPerBlock * ((maxRunLength + 1) * sizeof(LengthSums) + sharedTableEntries * 4) <= 49152,
                "fits the shared memory of every device");

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 34;
  const auto             steps = static_cast<std::int64_t>(task.maxVoxels) * task.directions.number;
  const std::int64_t     part = std::max(partSteps, steps) / std::max<std::int64_t>(steps, 1);
  LaunchChunked(
    windows, part, resources, "starting the kernel of WindowWalk", [&](std::int64_t first, std::int64_t end) {
      WindowWalkKernel<<<blocks, warpsPerBlock * lanesPerWarp, sharedBytes, resources.stream>>>(
        task, table, skipDirections, static_cast<std::uint32_t *>(resources.scratch), first, end);
    });
}
} // namespace

CudaScratchBytes
CudaWindowWalkScratchBytes(const RunLengthTask & task)
{
  const CountTable    table = MakeCountTable(task);
  const std::uint64_t blockBytes = table.isShared ? 0 : table.BytesPerWarp() * warpsPerBlock;
  return { blockBytes, blockBytes * (WarpsInFlight() / warpsPerBlock) };
}

void
ComputeByCudaWindowWalk(const RunLengthTask & task, const CudaMethodResources & resources)
{
  Launch(task, resources, false);
}

void
SkipDirectionsByCudaWindowWalk(const RunLengthTask & task, const CudaMethodResources & resources)
{
  Launch(task, resources, true);
}
} // namespace voxelmaps
