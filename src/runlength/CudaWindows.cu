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
// A warp per window: walks its runs, counts levels in a table. Takes every task; the reference on the device.
#include "../cuda/CudaError.h"
#include "CudaRunLengthTask.h"
#include "WideProduct.h"

#include <algorithm>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr int warpsPerBlock = 4;
constexpr int lanes = 32;
constexpr int mostRunLength = 255;
constexpr int sharedTableEntries = 1024;

// Windows in flight, if there is memory for their tables.
constexpr std::uint64_t warpsInFlight = 132 * 32;

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
MakeCountTable(const CudaRunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  CountTable table{};
  table.keys = (task.needsLevelCounts ? levels : 0) +
               (task.needsEntropy ? levels * static_cast<std::uint64_t>(task.longestRun) : 0);
  table.entries = table.keys;
  if (table.keys > 4 * task.mostVoxels && table.keys > sharedTableEntries)
  {
    table.isHash = true;
    table.entries = 64;
    const std::uint64_t mostKeys = task.mostVoxels * (task.needsLevelCounts && task.needsEntropy ? 2 : 1);
    while (table.entries < 2 * mostKeys)
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

template <typename T>
__device__ T
SumOfWarp(T value)
{
  for (int offset = lanes / 2; offset > 0; offset /= 2)
  {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

/** One warp's work on one window. */
class WindowOfWarp
{
public:
  __device__
  WindowOfWarp(const CudaRunLengthTask & task, const CountTable & table, LengthSums * sums, std::uint32_t * counts,
               int lane)
    : m_Task(task)
    , m_Table(table)
    , m_Sums(sums)
    , m_Counts(counts)
    , m_Lane(lane)
  {}

  __device__ void
  Compute(std::int64_t number)
  {
    const std::int64_t row = number / m_Task.outputSize[0];
    const std::int64_t voxel[3] = { number - row * m_Task.outputSize[0],
                                    row % m_Task.outputSize[1],
                                    row / m_Task.outputSize[1] };
    bool               isAbsent = false;
    std::int64_t       at[3];
    for (int d = 0; d < 3; ++d)
    {
      at[d] = voxel[d] + m_Task.outputToLevels[d];
      isAbsent = isAbsent || at[d] < 0 || at[d] >= m_Task.levelsSize[d];
      const std::int64_t first = at[d] - m_Task.anchor[d];
      m_First[d] = first > 0 ? first : 0;
      const std::int64_t end = first + m_Task.window[d];
      m_Size[d] = static_cast<int>((end < m_Task.levelsSize[d] ? end : m_Task.levelsSize[d]) - m_First[d]);
    }
    isAbsent = isAbsent || this->Level(at[0], at[1], at[2]) == 0;
    const std::int64_t out = number * m_Task.NumberOfComponents();
    if (isAbsent)
    {
      for (int c = m_Lane; c < m_Task.NumberOfComponents(); c += lanes)
      {
        this->Store(out + c, m_Task.backgroundValue);
      }
      return;
    }

    m_Voxels = this->CountVoxels();
    this->ClearMatrix();
    // Lane f keeps feature f.
    double sum = 0.0;
    for (int d = 0; d < m_Task.numberOfDirections; ++d)
    {
      this->AddDirection(m_Task.directions[d]);
      const bool isLast = d + 1 == m_Task.numberOfDirections;
      if (m_Task.aggregation == RunLengthJob::Aggregation::Merge && !isLast)
      {
        continue;
      }
      const double value = this->Evaluate();
      sum += value;
      if (m_Task.aggregation == RunLengthJob::Aggregation::Average)
      {
        if (isLast && m_Lane < m_Task.numberOfFeatures)
        {
          this->Store(out + m_Lane, sum / static_cast<double>(m_Task.numberOfDirections));
        }
      }
      else if (m_Lane < m_Task.numberOfFeatures)
      {
        const int first = m_Task.aggregation == RunLengthJob::Aggregation::Merge ? 0 : d * m_Task.numberOfFeatures;
        this->Store(out + first + m_Lane, value);
      }
      if (!isLast)
      {
        this->ClearMatrix();
      }
    }
  }

private:
  __device__ std::uint16_t
             Level(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return m_Task.levels[(z * m_Task.levelsSize[1] + y) * m_Task.levelsSize[0] + x];
  }

  __device__ void
  Store(std::int64_t at, double value) const
  {
    if (m_Task.outputIsDouble)
    {
      static_cast<double *>(m_Task.output)[at] = value;
    }
    else
    {
      static_cast<float *>(m_Task.output)[at] = static_cast<float>(value);
    }
  }

  /** Level of a voxel of the window, 0 beyond it. */
  __device__ int
  LevelInWindow(int x, int y, int z) const
  {
    if (x < 0 || x >= m_Size[0] || y < 0 || y >= m_Size[1] || z < 0 || z >= m_Size[2])
    {
      return 0;
    }
    return this->Level(m_First[0] + x, m_First[1] + y, m_First[2] + z);
  }

  __device__ std::uint32_t
             CountVoxels() const
  {
    std::uint32_t present = 0;
    const int     all = m_Size[0] * m_Size[1] * m_Size[2];
    for (int i = m_Lane; i < all; i += lanes)
    {
      const int row = i / m_Size[0];
      present += this->LevelInWindow(i - row * m_Size[0], row % m_Size[1], row / m_Size[1]) != 0 ? 1 : 0;
    }
    return SumOfWarp(present);
  }

  __device__ void
  ClearMatrix()
  {
    __syncwarp();
    for (int l = m_Lane; l <= m_Task.longestRun; l += lanes)
    {
      m_Sums[l] = LengthSums{ 0, 0, 0, 0 };
    }
    const std::uint64_t words = m_Table.entries * (m_Table.isHash ? 2 : 1);
    for (std::uint64_t i = m_Lane; i < words; i += lanes)
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
    const int all = m_Size[0] * m_Size[1] * m_Size[2];
    for (int i = m_Lane; i < all; i += lanes)
    {
      const int row = i / m_Size[0];
      const int at[3] = { i - row * m_Size[0], row % m_Size[1], row / m_Size[1] };
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
      const std::uint32_t count = this->CountOneMore(
        cells + (level - 1) * static_cast<std::uint32_t>(m_Task.longestRun) + static_cast<std::uint32_t>(length) - 1);
      m_EntropySum += m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
    }
  }

  /** The value of feature number lane. */
  __device__ double
  Evaluate()
  {
    __syncwarp();
    const std::uint64_t levelSum = SumOfWarp(m_LevelSum);
    const std::uint64_t levelNonUniformity = SumOfWarp(m_LevelNonUniformity);
    const std::int64_t  entropySum = SumOfWarp(m_EntropySum);
    if (m_Lane >= m_Task.numberOfFeatures)
    {
      return 0.0;
    }
    const bool            isMerged = m_Task.aggregation == RunLengthJob::Aggregation::Merge;
    const std::uint64_t   matrices = isMerged ? static_cast<std::uint64_t>(m_Task.numberOfDirections) : 1;
    RunLengthSums<double> sums{};
    ClearRuns(sums);
    sums.voxels = static_cast<double>(m_Voxels * matrices);
    std::uint64_t runs = 0;
    std::uint64_t squares = 0;
    for (int l = 1; l <= m_Task.longestRun; ++l)
    {
      const LengthSums & of = m_Sums[l];
      const double       inverses =
        m_Task.wideInverses ? static_cast<double>(of.inversesHigh) * 4294967296.0 + static_cast<double>(of.inversesLow)
                                  : static_cast<double>(of.inversesLow);
      AddRunsOfLength(sums,
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
    using Division = PlainDivision<double>;
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(m_Task.scales.shortRunScale));
    return RunLengthFeatureValue(m_Task.features[m_Lane], sums, divisors, m_Task.scales);
  }

  const CudaRunLengthTask & m_Task;
  const CountTable &        m_Table;
  LengthSums *              m_Sums;
  std::uint32_t *           m_Counts;
  int                       m_Lane;
  std::int64_t              m_First[3];
  int                       m_Size[3];
  std::uint64_t             m_Voxels{ 0 };
  std::uint64_t             m_LevelSum{ 0 };
  std::uint64_t             m_LevelNonUniformity{ 0 };
  std::int64_t              m_EntropySum{ 0 };
};

__global__ void
__launch_bounds__(warpsPerBlock * lanes)
  WindowsKernel(const __grid_constant__ CudaRunLengthTask task, const __grid_constant__ CountTable table,
                std::uint32_t * scratch, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ char shared[];
  const int              warp = threadIdx.x / lanes;
  auto *                 sums = reinterpret_cast<LengthSums *>(shared) + warp * (task.longestRun + 1);
  std::uint32_t *        counts;
  if (table.isShared)
  {
    counts = reinterpret_cast<std::uint32_t *>(reinterpret_cast<LengthSums *>(shared) +
                                               warpsPerBlock * (task.longestRun + 1)) +
             warp * table.entries;
  }
  else
  {
    counts = scratch + (std::uint64_t{ blockIdx.x } * warpsPerBlock + warp) * table.entries * (table.isHash ? 2 : 1);
  }
  WindowOfWarp       window(task, table, sums, counts, threadIdx.x % lanes);
  const std::int64_t step = std::int64_t{ gridDim.x } * warpsPerBlock;
  for (std::int64_t number = firstWindow + std::int64_t{ blockIdx.x } * warpsPerBlock + warp; number < endWindow;
       number += step)
  {
    window.Compute(number);
    __syncwarp();
  }
}
} // namespace

std::uint64_t
WindowsScratchBytes(const CudaRunLengthTask & task)
{
  const CountTable table = MakeCountTable(task);
  return table.isShared ? 0 : table.BytesPerWarp() * warpsPerBlock;
}

std::uint64_t
WindowsMostScratchBytes(const CudaRunLengthTask & task)
{
  return WindowsScratchBytes(task) * (warpsInFlight / warpsPerBlock);
}

void
ComputeByWindows(const CudaRunLengthTask & task, const CudaRunLengthResources & resources)
{
  const CountTable   table = MakeCountTable(task);
  const std::int64_t windows = task.outputSize[0] * task.outputSize[1] * task.outputSize[2];
  std::uint64_t      warps = warpsInFlight;
  if (!table.isShared && table.BytesPerWarp() > 0)
  {
    warps = std::min<std::uint64_t>(warps, resources.scratchBytes / table.BytesPerWarp());
  }
  const auto blocks = static_cast<unsigned int>(std::max<std::uint64_t>(warps / warpsPerBlock, 1));
  const auto sharedBytes = warpsPerBlock * ((task.longestRun + 1) * sizeof(LengthSums) +
                                            (table.isShared ? table.entries * sizeof(std::uint32_t) : 0));
  static_assert(warpsPerBlock * ((mostRunLength + 1) * sizeof(LengthSums) + sharedTableEntries * 4) <= 49152,
                "fits the shared memory of every device");

  // In pieces of about a tenth of a second, so that an abort is quick whatever the window.
  const auto         steps = static_cast<std::int64_t>(task.mostVoxels) * task.numberOfDirections;
  const std::int64_t piece = std::max<std::int64_t>(std::int64_t{ 1 } << 34, steps) / std::max<std::int64_t>(steps, 1);
  for (std::int64_t first = 0; first < windows; first += piece)
  {
    const std::int64_t end = std::min(windows, first + piece);
    WindowsKernel<<<blocks, warpsPerBlock * lanes, sharedBytes, resources.stream>>>(
      task, table, static_cast<std::uint32_t *>(resources.scratch), first, end);
    CheckLaunch("starting the kernel of Windows");
    if (end < windows)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.poll();
    }
  }
}
} // namespace voxelmaps
} // namespace itk
