// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One block per window finds the dependent neighbors of its voxels and counts in a hash table. Supports every task. The
// dependent neighbors at distance 1 are the same in all windows, but for those beyond the faces of a window, so they
// are found once, before; others are looked for in every window.
#include "CudaDependenceMethods.h"
#include "cuda/CudaLaunch.h"
#include "texture/cuda/CudaChunkedLaunch.h"
#include "texture/cpu/WindowBox.h"

#include <algorithm>
#include <cstdlib>

namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
// A warp for small windows.
constexpr int largeWindowThreads = 256;
constexpr int maxWarpVoxels = 1024;

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

// Two bits each, in 32.
constexpr int maxBitOffsets = 13;

/** Bytes of the dependent neighbors of all voxels. */
std::uint64_t
NeighborBytes(const DependenceTask & task, bool areNeighborsInBits)
{
  constexpr std::uint64_t alignment = 256;
  const std::uint64_t     bytes = areNeighborsInBits ? NumberOfVoxels(task.levelsSize) * sizeof(std::uint32_t) : 0;
  return (bytes + alignment - 1) / alignment * alignment;
}

constexpr unsigned int neighborThreads = 256;

/** The dependent neighbors of every voxel: bit 2 k for p + offset k, bit 2 k + 1 for p - offset k. */
__global__ void
__launch_bounds__(neighborThreads)
  FindNeighborsKernel(const __grid_constant__ DependenceTask task, std::uint32_t * neighbors, std::int64_t voxels)
{
  const std::int64_t number = std::int64_t{ blockIdx.x } * neighborThreads + threadIdx.x;
  if (number >= voxels)
  {
    return;
  }
  const std::int64_t row = number / task.levelsSize[0];
  const std::int64_t at[3] = { number - row * task.levelsSize[0], row % task.levelsSize[1], row / task.levelsSize[1] };
  const auto         levelAt = [&task](std::int64_t x, std::int64_t y, std::int64_t z) -> int {
    const bool isInside =
      x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2];
    return isInside ? task.levels[task.LevelOffset(x, y, z)] : 0;
  };
  const int     level = task.levels[number];
  std::uint32_t dependent = 0;
  for (int k = 0; k < task.numberOfOffsets; ++k)
  {
    const PairOffset offset = task.offsets[k];
    const auto &     step = offset.step;
    const int        next = levelAt(at[0] + step[0], at[1] + step[1], at[2] + step[2]);
    const int        previous = levelAt(at[0] - step[0], at[1] - step[1], at[2] - step[2]);
    dependent |= (AreDependent(level, next, task.alpha) ? 1u : 0u) << (2 * k);
    dependent |= (AreDependent(level, previous, task.alpha) ? 2u : 0u) << (2 * k);
  }
  neighbors[number] = dependent;
}

/** Where a voxel is along an axis of its window: it may be at both faces. */
constexpr int atLowFace = 1;
constexpr int atHighFace = 2;
constexpr int axisPlaces = 4;
constexpr int numberOfPlaces = axisPlaces * axisPlaces * axisPlaces;

/** The neighbors that are in the window of a voxel at a place. */
__device__ std::uint32_t
           NeighborsInWindow(const DependenceTask & task, int place)
{
  std::uint32_t mask = 0;
  for (int k = 0; k < task.numberOfOffsets; ++k)
  {
    const PairOffset offset = task.offsets[k];
    bool             hasNext = true;
    bool             hasPrevious = true;
    for (int d = 0, remainingPlace = place; d < 3; ++d, remainingPlace /= axisPlaces)
    {
      const bool isLow = (remainingPlace & atLowFace) != 0;
      const bool isHigh = (remainingPlace & atHighFace) != 0;
      hasNext = hasNext && !(offset.step[d] > 0 && isHigh) && !(offset.step[d] < 0 && isLow);
      hasPrevious = hasPrevious && !(offset.step[d] < 0 && isHigh) && !(offset.step[d] > 0 && isLow);
    }
    mask |= (hasNext ? 1u : 0u) << (2 * k);
    mask |= (hasPrevious ? 2u : 0u) << (2 * k);
  }
  return mask;
}

__device__ std::uint64_t
           WarpSum(std::uint64_t value)
{
  for (int offset = lanesPerWarp / 2; offset > 0; offset /= 2)
  {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__device__ WideInteger<2>
           WarpSum(WideInteger<2> value)
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
class BlockWindow
{
public:
  __device__
  BlockWindow(const DependenceTask & task, const HashTable & table, const std::uint32_t * neighbors,
              const std::uint32_t * masks, std::uint32_t * keys, SizeMatrixSums * sums)
    : m_Task(task)
    , m_Table(table)
    , m_Neighbors(neighbors)
    , m_Masks(masks)
    , m_Keys(keys)
    , m_Counts(keys + table.Entries())
    , m_WarpSums(sums)
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
        StoreComponentOrNaN(m_Task, number * m_Task.voxelStride, c, m_Task.backgroundValue);
      }
      return;
    }
    SizeMatrixSums sums;
    ClearEntries(sums);
    for (int v = threadIdx.x; v < window.NumberOfVoxels(); v += VThreads)
    {
      const int windowRow = v / window.size[0];
      this->AddVoxel(
        window, v - windowRow * window.size[0], windowRow % window.size[1], windowRow / window.size[1], sums);
    }
    this->AddThreads(sums);
    for (int f = threadIdx.x; f < m_Task.numberOfFeatures; f += VThreads)
    {
      StoreComponent(
        m_Task, number * m_Task.voxelStride, f, SizeMatrixFeatureValue(m_Task.matrixFeatures[f], sums, m_Task.scales));
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
    const std::uint32_t   size = 1 + this->NumberOfDependentNeighbors(window, x, y, z, level);
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

  __device__ std::uint32_t
             NumberOfDependentNeighbors(const WindowBox & window, int x, int y, int z, int level) const
  {
    if (m_Neighbors != nullptr)
    {
      const auto place = [](int at, int size) { return (at == 0 ? atLowFace : 0) | (at == size - 1 ? atHighFace : 0); };
      const int  places =
        (place(z, window.size[2]) * axisPlaces + place(y, window.size[1])) * axisPlaces + place(x, window.size[0]);
      const std::int64_t voxel = m_Task.LevelOffset(window.first[0] + x, window.first[1] + y, window.first[2] + z);
      return static_cast<std::uint32_t>(__popc(m_Neighbors[voxel] & m_Masks[places]));
    }
    std::uint32_t number = 0;
    for (int k = 0; k < m_Task.numberOfOffsets; ++k)
    {
      const PairOffset offset = m_Task.offsets[k];
      const int        after = window.Level(m_Task, x + offset.step[0], y + offset.step[1], z + offset.step[2]);
      const int        before = window.Level(m_Task, x - offset.step[0], y - offset.step[1], z - offset.step[2]);
      number += AreDependent(level, after, m_Task.alpha) ? 1 : 0;
      number += AreDependent(level, before, m_Task.alpha) ? 1 : 0;
    }
    return number;
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
    ForEachSum(sums, sums, [](auto & sum, const auto &) { sum = WarpSum(sum); });
    sums.entries = static_cast<std::uint32_t>(WarpSum(std::uint64_t{ sums.entries }));
    sums.entropyTerms = static_cast<std::int64_t>(WarpSum(static_cast<std::uint64_t>(sums.entropyTerms)));
    if (VThreads == lanesPerWarp)
    {
      __syncthreads();
      return;
    }
    if (threadIdx.x % lanesPerWarp == 0)
    {
      m_WarpSums[threadIdx.x / lanesPerWarp] = sums;
    }
    __syncthreads();
    sums = m_WarpSums[0];
    for (int warp = 1; warp < VThreads / lanesPerWarp; ++warp)
    {
      ForEachSum(sums, m_WarpSums[warp], [](auto & sum, const auto & more) { sum = sum + more; });
      sums.entries += m_WarpSums[warp].entries;
      sums.entropyTerms += m_WarpSums[warp].entropyTerms;
    }
  }

  const DependenceTask & m_Task;
  const HashTable &      m_Table;
  const std::uint32_t *  m_Neighbors;
  const std::uint32_t *  m_Masks;
  std::uint32_t *        m_Keys;
  std::uint32_t *        m_Counts;
  SizeMatrixSums *       m_WarpSums;
};

/** The neighbors are null if they are looked for in every window. */
template <int VThreads>
__global__ void
__launch_bounds__(VThreads)
  DependenceWalkKernel(const __grid_constant__ DependenceTask task, const __grid_constant__ HashTable table,
                       const std::uint32_t * neighbors, bool isShared, char * tables, std::int64_t firstWindow,
                       std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  __shared__ SizeMatrixSums            sums[VThreads / lanesPerWarp];
  __shared__ std::uint32_t masks[numberOfPlaces];
  if (neighbors != nullptr)
  {
    for (int place = threadIdx.x; place < numberOfPlaces; place += VThreads)
    {
      masks[place] = NeighborsInWindow(task, place);
    }
  }
  char * const          bytes = isShared ? shared : tables + std::uint64_t{ blockIdx.x } * table.Bytes();
  BlockWindow<VThreads> window(task, table, neighbors, masks, reinterpret_cast<std::uint32_t *>(bytes), sums);
  window.Clear();
  for (std::int64_t number = firstWindow + blockIdx.x; number < endWindow; number += gridDim.x)
  {
    window.Compute(number);
  }
}

std::uint64_t
BlocksInFlight(const DependenceTask & task)
{
  return std::min(static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * blocksPerMultiprocessor,
                  NumberOfVoxels(task.outputSize));
}
} // namespace

bool
CudaDependenceNeighborsAreBits(const DependenceTask & hostTask)
{
  return hostTask.numberOfOffsets <= maxBitOffsets &&
         std::all_of(hostTask.offsets, hostTask.offsets + hostTask.numberOfOffsets, [](const PairOffset & offset) {
           return std::abs(offset.step[0]) <= 1 && std::abs(offset.step[1]) <= 1 && std::abs(offset.step[2]) <= 1;
         });
}

CudaScratchBytes
CudaDependenceWalkScratchBytes(const DependenceTask & task, bool areNeighborsInBits)
{
  const HashTable     table(task);
  const std::uint64_t neighbors = NeighborBytes(task, areNeighborsInBits);
  const std::uint64_t bytes = table.IsShared() ? 0 : table.Bytes();
  return { neighbors + bytes, neighbors + bytes * BlocksInFlight(task) };
}

void
ComputeByCudaDependenceWalk(const DependenceTask & task, bool areNeighborsInBits, const CudaMethodResources & resources)
{
  const HashTable     table(task);
  const auto          windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::uint64_t neighborBytes = NeighborBytes(task, areNeighborsInBits);
  auto *              neighbors = static_cast<std::uint32_t *>(areNeighborsInBits ? resources.scratch : nullptr);
  char * const        tables = static_cast<char *>(resources.scratch) + neighborBytes;
  std::uint64_t       blocks = BlocksInFlight(task);
  if (!table.IsShared())
  {
    blocks = std::max<std::uint64_t>(
      std::min<std::uint64_t>(blocks, (resources.scratchBytes - neighborBytes) / table.Bytes()), 1);
  }
  if (areNeighborsInBits)
  {
    const std::uint64_t voxels = NumberOfVoxels(task.levelsSize);
    FindNeighborsKernel<<<BlocksFor(voxels, neighborThreads), neighborThreads, 0, resources.stream>>>(
      task, neighbors, static_cast<std::int64_t>(voxels));
    CheckLaunch("starting the kernel of dependent neighbors");
  }
  const std::size_t sharedBytes = table.IsShared() ? table.Bytes() : 0;
  static_assert(maxSharedEntries * 2 * sizeof(std::uint32_t) <= 40000, "fits the shared memory of every device");
  const bool isSmall = task.windowVoxels <= maxWarpVoxels;
  const auto kernel = isSmall ? DependenceWalkKernel<lanesPerWarp> : DependenceWalkKernel<largeWindowThreads>;

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 34;
  constexpr std::int64_t voxelSteps = 20;
  const std::int64_t     steps =
    std::int64_t{ task.windowVoxels } * ((areNeighborsInBits ? 0 : task.numberOfOffsets) + voxelSteps);
  const std::int64_t part = std::max<std::int64_t>(partSteps / steps, 1);
  LaunchChunked(
    windows, part, resources, "starting the kernel of WindowWalk", [&](std::int64_t first, std::int64_t end) {
      kernel<<<static_cast<unsigned int>(std::min<std::uint64_t>(blocks, static_cast<std::uint64_t>(end - first))),
               isSmall ? lanesPerWarp : largeWindowThreads,
               sharedBytes,
               resources.stream>>>(task, table, neighbors, table.IsShared(), tables, first, end);
    });
}
} // namespace voxelmaps
