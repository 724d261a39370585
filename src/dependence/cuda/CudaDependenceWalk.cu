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
// One block per window looks at all neighbors of its voxels and counts in a hash table. Takes every task; the reference
// on the device.
#include "CudaDependenceMethods.h"
#include "texture/WindowBox.h"

#include <algorithm>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
// A warp for small windows.
constexpr int threadsOfLargeWindow = 256;
constexpr int maxVoxelsOfWarp = 1024;

// Larger hash tables are in device memory.
constexpr int maxSharedEntries = 4096;
// Blocks in flight on every multiprocessor, if there is memory for their tables.
constexpr std::uint64_t blocksPerMultiprocessor = 16;

/** Counts the elements of the matrix, the voxels of every level and those of every size, by keys level 2^16 + size
 * with 0 for all sizes or levels. Key 0 is an empty entry. */
struct HashTable
{
  int entryBits;

  explicit HashTable(const DependenceTask & task)
    : entryBits(6)
  {
    const int maxKeys = task.windowVoxels + std::min(task.windowVoxels, task.numberOfGrayLevels) + task.maxSize;
    while (this->Entries() < 2 * maxKeys)
    {
      ++entryBits;
    }
  }
  VOXELMAPS_HOST_DEVICE int
  Entries() const
  {
    return 1 << entryBits;
  }
  bool
  IsShared() const
  {
    return this->Entries() <= maxSharedEntries;
  }
  /** Of keys and counts. */
  VOXELMAPS_HOST_DEVICE std::uint64_t
                        Bytes() const
  {
    return static_cast<std::uint64_t>(this->Entries()) * 2 * sizeof(std::uint32_t);
  }
};

__device__ std::uint64_t
           SumOfWarp(std::uint64_t value)
{
  for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
  {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__device__ WideInteger<2>
           SumOfWarp(WideInteger<2> value)
{
  for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
  {
    WideInteger<2> other;
    other.words[0] = __shfl_xor_sync(0xffffffffu, value.words[0], offset);
    other.words[1] = __shfl_xor_sync(0xffffffffu, value.words[1], offset);
    value = value + other;
  }
  return value;
}

/** Call visit(sum of a, sum of b) for all sums. */
template <typename TVisit>
__device__ void
ForEachSum(SizeMatrixSums & a, const SizeMatrixSums & b, const TVisit & visit)
{
  for (int axis = 0; axis < 2; ++axis)
  {
    visit(a.axes[axis].sum, b.axes[axis].sum);
    visit(a.axes[axis].squares, b.axes[axis].squares);
    visit(a.axes[axis].nonUniformity, b.axes[axis].nonUniformity);
    visit(a.axes[axis].inverses, b.axes[axis].inverses);
    visit(a.axes[axis].squaresTimesInverses, b.axes[axis].squaresTimesInverses);
  }
  visit(a.squares, b.squares);
  visit(a.inverses, b.inverses);
}

/** The work of a block on one window. */
template <int VThreads>
class WindowOfBlock
{
public:
  __device__
  WindowOfBlock(const DependenceTask & task, const HashTable & table, std::uint32_t * keys, SizeMatrixSums * sums)
    : m_Task(task)
    , m_Table(table)
    , m_Keys(keys)
    , m_Counts(keys + table.Entries())
    , m_SumsOfWarps(sums)
  {}

  __device__ void
  Clear()
  {
    for (int i = threadIdx.x; i < 2 * m_Table.Entries(); i += VThreads)
    {
      m_Keys[i] = 0;
    }
    __syncthreads();
  }

  /** The table must be clear; it is left clear. */
  __device__ void
  Compute(std::int64_t number)
  {
    const std::int64_t row = number / m_Task.outputSize[0];
    const std::int64_t voxel[3] = { number - row * m_Task.outputSize[0],
                                    row % m_Task.outputSize[1],
                                    row / m_Task.outputSize[1] };
    const WindowBox    window(m_Task, voxel);
    if (!window.isComputed)
    {
      for (int c = threadIdx.x; c < m_Task.numberOfComponents; c += VThreads)
      {
        StoreComponentOrNaN(m_Task, number * m_Task.numberOfComponents + c, m_Task.backgroundValue);
      }
      return;
    }
    SizeMatrixSums sums;
    ClearEntries(sums);
    for (int v = threadIdx.x; v < window.NumberOfVoxels(); v += VThreads)
    {
      const int rowOfWindow = v / window.size[0];
      this->AddVoxel(
        window, v - rowOfWindow * window.size[0], rowOfWindow % window.size[1], rowOfWindow / window.size[1], sums);
    }
    this->AddThreads(sums);
    for (int f = threadIdx.x; f < m_Task.numberOfFeatures; f += VThreads)
    {
      StoreComponent(m_Task,
                     number * m_Task.numberOfComponents + f,
                     SizeMatrixFeatureValue(m_Task.matrixFeatures[f], sums, m_Task.scales));
    }
    this->Clear();
  }

private:
  __device__ void
  AddVoxel(const WindowBox & window, int x, int y, int z, SizeMatrixSums & sums)
  {
    const int level = window.Level(m_Task, x, y, z);
    if (level == 0)
    {
      return;
    }
    std::uint32_t size = 1;
    for (int k = 0; k < m_Task.numberOfOffsets; ++k)
    {
      const PairOffset offset = m_Task.offsets[k];
      const int        after = window.Level(m_Task, x + offset.step[0], y + offset.step[1], z + offset.step[2]);
      const int        before = window.Level(m_Task, x - offset.step[0], y - offset.step[1], z - offset.step[2]);
      size += AreDependent(level, after, m_Task.alpha) ? 1 : 0;
      size += AreDependent(level, before, m_Task.alpha) ? 1 : 0;
    }
    const auto            i = static_cast<std::uint32_t>(level);
    const std::uint64_t * inverses = m_Task.scales.inverseSquares;
    SizeMatrixGroup       group;
    ClearEntries(group);
    AddEntry(group, size, inverses[size]);
    AddGroup<levelAxis>(sums, i, inverses[i], group);

    // The entries after n add (n + 1)^2 - n^2; AddGroup has added 1.
    sums.axes[levelAxis].nonUniformity += 2 * std::uint64_t{ this->Count(i << 16) };
    sums.axes[sizeAxis].nonUniformity += 2 * std::uint64_t{ this->Count(size) } + 1;
    if (m_Task.scales.entropyTable != nullptr)
    {
      const std::uint32_t before = this->Count((i << 16) | size);
      sums.entropyTerms += m_Task.scales.entropyTable[before + 1] - m_Task.scales.entropyTable[before];
    }
  }

  /** Count a key; returns how often it was counted before. */
  __device__ std::uint32_t
             Count(std::uint32_t key)
  {
    std::uint32_t entry = (key * 2654435769u) >> (32 - m_Table.entryBits);
    for (;;)
    {
      std::uint32_t found = m_Keys[entry];
      if (found == 0)
      {
        found = atomicCAS(m_Keys + entry, 0u, key);
      }
      if (found == 0 || found == key)
      {
        return atomicAdd(m_Counts + entry, 1u);
      }
      entry = (entry + 1) & static_cast<std::uint32_t>(m_Table.Entries() - 1);
    }
  }

  /** Sums of all threads, for all threads. */
  __device__ void
  AddThreads(SizeMatrixSums & sums)
  {
    ForEachSum(sums, sums, [](auto & sum, const auto &) { sum = SumOfWarp(sum); });
    sums.entries = static_cast<std::uint32_t>(SumOfWarp(std::uint64_t{ sums.entries }));
    sums.entropyTerms = static_cast<std::int64_t>(SumOfWarp(static_cast<std::uint64_t>(sums.entropyTerms)));
    if (VThreads == lanesPerWarp)
    {
      __syncthreads();
      return;
    }
    if (threadIdx.x % lanesPerWarp == 0)
    {
      m_SumsOfWarps[threadIdx.x / lanesPerWarp] = sums;
    }
    __syncthreads();
    sums = m_SumsOfWarps[0];
    for (int warp = 1; warp < VThreads / lanesPerWarp; ++warp)
    {
      ForEachSum(sums, m_SumsOfWarps[warp], [](auto & sum, const auto & more) { sum = sum + more; });
      sums.entries += m_SumsOfWarps[warp].entries;
      sums.entropyTerms += m_SumsOfWarps[warp].entropyTerms;
    }
  }

  const DependenceTask & m_Task;
  const HashTable &      m_Table;
  std::uint32_t *        m_Keys;
  std::uint32_t *        m_Counts;
  SizeMatrixSums *       m_SumsOfWarps;
};

template <int VThreads>
__global__ void
__launch_bounds__(VThreads)
  DependenceWalkKernel(const __grid_constant__ DependenceTask task, const __grid_constant__ HashTable table,
                       bool isShared, char * scratch, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  __shared__ SizeMatrixSums            sums[VThreads / lanesPerWarp];
  char * const            bytes = isShared ? shared : scratch + std::uint64_t{ blockIdx.x } * table.Bytes();
  WindowOfBlock<VThreads> window(task, table, reinterpret_cast<std::uint32_t *>(bytes), sums);
  window.Clear();
  for (std::int64_t number = firstWindow + blockIdx.x; number < endWindow; number += gridDim.x)
  {
    window.Compute(number);
  }
}

std::uint64_t
BlocksInFlight()
{
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * blocksPerMultiprocessor;
}
} // namespace

CudaScratchBytes
CudaDependenceWalkScratchBytes(const DependenceTask & task)
{
  const HashTable     table(task);
  const std::uint64_t bytes = table.IsShared() ? 0 : table.Bytes();
  return { bytes, bytes * BlocksInFlight() };
}

void
ComputeByCudaDependenceWalk(const DependenceTask & task, const CudaMethodResources & resources)
{
  const HashTable table(task);
  const auto      windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  std::uint64_t   blocks = BlocksInFlight();
  if (!table.IsShared())
  {
    blocks = std::max<std::uint64_t>(std::min<std::uint64_t>(blocks, resources.scratchBytes / table.Bytes()), 1);
  }
  const std::size_t sharedBytes = table.IsShared() ? table.Bytes() : 0;
  static_assert(maxSharedEntries * 2 * sizeof(std::uint32_t) <= 40000, "fits the shared memory of every device");
  const bool isSmall = task.windowVoxels <= maxVoxelsOfWarp;
  const auto kernel = isSmall ? DependenceWalkKernel<lanesPerWarp> : DependenceWalkKernel<threadsOfLargeWindow>;

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t stepsOfPart = std::int64_t{ 1 } << 34;
  constexpr std::int64_t stepsOfVoxel = 20;
  const std::int64_t     steps = std::int64_t{ task.windowVoxels } * (task.numberOfOffsets + stepsOfVoxel);
  const std::int64_t     part = std::max<std::int64_t>(stepsOfPart / steps, 1);
  for (std::int64_t first = 0; first < windows; first += part)
  {
    const std::int64_t end = std::min(windows, first + part);
    kernel<<<static_cast<unsigned int>(std::min<std::uint64_t>(blocks, static_cast<std::uint64_t>(end - first))),
             isSmall ? lanesPerWarp : threadsOfLargeWindow,
             sharedBytes,
             resources.stream>>>(task, table, table.IsShared(), static_cast<char *>(resources.scratch), first, end);
    CheckLaunch("starting the kernel of WindowWalk");
    if (end < windows)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
    }
  }
}
} // namespace voxelmaps
} // namespace itk
