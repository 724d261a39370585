// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// A thread computes two windows. The voxels of a window become keys of 16 bits, of level and size: once they are
// sorted, equal elements of the matrix are neighbors, and so are voxels of one level. A sorting network sorts the keys
// of both windows at once, in registers, whatever the number of levels. All other sums need no order.
#include "CudaDependenceMethods.h"
#include "texture/cuda/CudaParts.h"
#include "texture/cuda/CudaRegisterSort.cuh"
#include "texture/cuda/CudaThreadTables.cuh"
#include "texture/cpu/WindowBox.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
constexpr int warpsPerBlock = 4;
constexpr int threadsPerBlock = warpsPerBlock * lanesPerWarp;
using Tables = CudaThreadTables<threadsPerBlock>;
// For 168 registers per thread.
constexpr int blocksPerMultiprocessor = 3;

/** The windows of a thread are warpsPerBlock rows apart. */
constexpr int windowsPerThread = 2;
constexpr int outputRows = windowsPerThread * warpsPerBlock;

/** A key is (level << sizeBits) | size: sizes are at most 27. */
constexpr int sizeBits = 5;
constexpr int maxLevels = 2046;
/** Greater than all other keys, and without a bit in common with their levels. */
constexpr std::uint32_t absentVoxel = 0xffff;

constexpr int maxKeys = 128;

/** Numbers of keys that there is a network for. */
int
NumberOfKeys(int voxels)
{
  return voxels <= 32 ? 32 : voxels <= 64 ? 64 : maxKeys;
}

/** How the output is cut into tiles. The tile of levels has a voxel more at each side than that of dependent neighbors,
 * which has all voxels of the windows of a block. */
struct DependencesLayout
{
  int columns;
  int rows;
  int planes;
  /** Words of the voxels of every size, in bytes. */
  int          countWords;
  std::int64_t tilesX;
  std::int64_t tilesY;

  explicit DependencesLayout(const DependenceTask & task)
    : columns(lanesPerWarp + task.window[0] - 1)
    , rows(outputRows + task.window[1] - 1)
    , planes(task.window[2])
    , countWords(Tables::NumberOfWords<std::uint8_t>(task.maxSize + 1))
    , tilesX((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp)
    , tilesY((task.outputSize[1] + outputRows - 1) / outputRows)
  {}
  VOXELMAPS_HOST_DEVICE int
  Voxels() const
  {
    return columns * rows * planes;
  }
  VOXELMAPS_HOST_DEVICE int
  LevelVoxels() const
  {
    return (columns + 2) * (rows + 2) * (planes + 2);
  }
  VOXELMAPS_HOST_DEVICE int
  Place(int x, int y, int z) const
  {
    return (z * rows + y) * columns + x;
  }
  /** In the tile of levels, of the same voxel. */
  VOXELMAPS_HOST_DEVICE int
  LevelPlace(int x, int y, int z) const
  {
    return ((z + 1) * (rows + 2) + y + 1) * (columns + 2) + x + 1;
  }
};

/** Shared memory of a block. */
struct DependencesMemory
{
  CudaDependencePosition * positions;
  std::int64_t *           entropySteps; // t(n + 1) - t(n)
  std::uint64_t *          inverses;     // q(j)
  std::uint32_t *          neighbors;
  std::uint32_t *          sizeCounts; // voxels of every size, of a window
  std::uint16_t *          levels;
  std::size_t              bytes;

  VOXELMAPS_HOST_DEVICE
  DependencesMemory(const DependenceTask & task, const DependencesLayout & layout, char * shared)
    : bytes(0)
  {
    const auto take = [&](int number, auto *& part) {
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(shared + bytes);
      bytes += (static_cast<std::size_t>(number) * sizeof(*part) + 7) / 8 * 8;
    };
    take(task.windowVoxels, positions);
    take(maxKeys, entropySteps);
    take(task.maxSize + 1, inverses);
    take(layout.Voxels(), neighbors);
    take(layout.countWords * threadsPerBlock, sizeCounts);
    take(layout.LevelVoxels(), levels);
  }
};

__device__ void
LoadTables(const DependenceTask & task, const CudaDependencePosition * positions, const DependencesMemory & memory)
{
  for (int v = threadIdx.x; v < task.windowVoxels; v += threadsPerBlock)
  {
    memory.positions[v] = positions[v];
  }
  const std::int64_t * const t = task.scales.entropyTable;
  for (int n = threadIdx.x; n < maxKeys; n += threadsPerBlock)
  {
    memory.entropySteps[n] = t != nullptr && n < task.windowVoxels ? t[n + 1] - t[n] : 0;
  }
  for (int j = threadIdx.x; j <= task.maxSize; j += threadsPerBlock)
  {
    memory.inverses[j] = task.scales.inverseSquares[j];
  }
}

/** Load the levels of a tile; start is its first output voxel. */
__device__ void
LoadLevels(const DependenceTask & task, const DependencesLayout & layout, const std::int64_t (&start)[3],
           const DependencesMemory & memory)
{
  for (int i = threadIdx.x; i < layout.LevelVoxels(); i += threadsPerBlock)
  {
    const int          row = i / (layout.columns + 2);
    const int          plane = row / (layout.rows + 2);
    const std::int64_t x = start[0] + i - row * (layout.columns + 2) - 1 + task.outputToLevels[0] - task.anchor[0];
    const std::int64_t y = start[1] + row - plane * (layout.rows + 2) - 1 + task.outputToLevels[1] - task.anchor[1];
    const std::int64_t z = start[2] + plane - 1 + task.outputToLevels[2] - task.anchor[2];
    const bool         isInside =
      x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2];
    memory.levels[i] = isInside ? task.levels[task.LevelOffset(x, y, z)] : 0;
  }
}

/** Find the dependent neighbors of all voxels of a tile. */
__device__ void
FindNeighbors(const DependenceTask & task, const DependencesLayout & layout, const DependencesMemory & memory)
{
  for (int i = threadIdx.x; i < layout.Voxels(); i += threadsPerBlock)
  {
    const int             row = i / layout.columns;
    const int             plane = row / layout.rows;
    const std::uint16_t * at =
      memory.levels + layout.LevelPlace(i - row * layout.columns, row - plane * layout.rows, plane);
    std::uint32_t dependent = 0;
    for (int k = 0; k < task.numberOfOffsets; ++k)
    {
      const auto & step = task.offsets[k].step;
      const int    offset = layout.LevelPlace(step[0], step[1], step[2]) - layout.LevelPlace(0, 0, 0);
      dependent |= (AreDependent(at[0], at[offset], task.alpha) ? 1u : 0u) << (2 * k);
      dependent |= (AreDependent(at[0], at[-offset], task.alpha) ? 2u : 0u) << (2 * k);
    }
    memory.neighbors[i] = dependent;
  }
}

/** The window of a thread, by its least corner. */
struct WindowInTile
{
  const std::uint16_t * levels;
  const std::uint32_t * neighbors;

  __device__ std::uint32_t
             Level(const CudaDependencePosition & position) const
  {
    return levels[position.level];
  }
  __device__ std::uint32_t
             Size(const CudaDependencePosition & position) const
  {
    return 1u + static_cast<std::uint32_t>(__popc(neighbors[position.neighbors] & position.mask));
  }
  __device__ std::uint32_t
             Key(const CudaDependencePosition & position) const
  {
    const std::uint32_t level = this->Level(position);
    return level == 0 ? absentVoxel : (level << sizeBits) | this->Size(position);
  }
};

/** Counts the keys of one of two windows, which come one after the other. */
template <int VHalf>
class SortedWindowKeys
{
public:
  __device__ void
  Add(const DependencesMemory & memory, std::uint32_t keys)
  {
    const std::uint32_t key = VHalf == 0 ? keys & 0xffffu : keys >> 16;
    const bool          isPresent = key != absentVoxel;
    m_Equal = key == m_Before ? m_Equal + 1 : 0;
    m_LevelCount = ((key ^ m_Before) >> sizeBits) == 0 ? m_LevelCount + 1 : 0;
    m_Before = key;
    entropyTerms += isPresent ? memory.entropySteps[m_Equal] : 0;
    // n + 1 voxels of a level after n add (n + 1)^2 - n^2.
    levelSquares += isPresent ? 2 * m_LevelCount + 1 : 0;
  }

  std::int64_t  entropyTerms{ 0 };
  std::uint32_t levelSquares{ 0 };

private:
  std::uint32_t m_Before{ absentVoxel };
  std::uint32_t m_Equal{ 0 };
  std::uint32_t m_LevelCount{ 0 };
};

__device__ std::uint32_t
           LowHalf(std::uint64_t number)
{
  return static_cast<std::uint32_t>(number);
}
__device__ std::uint32_t
           HighHalf(std::uint64_t number)
{
  return static_cast<std::uint32_t>(number >> 32);
}

/** A sum of 64-bit numbers, each times one below 2^24, at most 128 of them; halves are summed apart. */
class SplitSum
{
public:
  __device__ void
  Add(std::uint64_t a, std::uint32_t b)
  {
    m_Low += std::uint64_t{ LowHalf(a) } * b;
    m_High += std::uint64_t{ HighHalf(a) } * b;
  }
  __device__ WideInteger<2>
             Get() const
  {
    WideInteger<2> sum(0);
    AddProduct(sum, m_Low, 1);
    AddProduct(sum, m_High, std::uint64_t{ 1 } << 32);
    return sum;
  }

private:
  std::uint64_t m_Low{ 0 };
  std::uint64_t m_High{ 0 };
};

/** The sums of a window that do not need sorted keys. */
__device__ SizeMatrixSums
SumOverWindow(const DependenceTask & task, const DependencesLayout & layout, const DependencesMemory & memory,
              const WindowInTile & window)
{
  char * const counts = Tables::ThreadTable(reinterpret_cast<char *>(memory.sizeCounts), 0);
  Tables::Clear(counts, layout.countWords);
  std::uint32_t  entries = 0;
  std::uint32_t  levels = 0;
  std::uint32_t  levelSquares = 0;
  std::uint32_t  sizes = 0;
  std::uint32_t  sizeSquares = 0;
  std::uint32_t  sizeNonUniformity = 0;
  std::uint64_t  squares = 0;
  SplitSum       inverseLevels;
  SplitSum       inverseSizes;
  SplitSum       levelSquaresTimesInverses;
  SplitSum       sizeSquaresTimesInverses;
  WideInteger<2> inverses(0);
#pragma unroll 4
  for (int v = 0; v < task.windowVoxels; ++v)
  {
    const CudaDependencePosition position = memory.positions[v];
    const std::uint32_t          i = window.Level(position);
    // Of a voxel without level, all terms are 0.
    const std::uint32_t isPresent = i != 0 ? 1 : 0;
    const std::uint32_t j = isPresent * window.Size(position);
    const std::uint64_t inverseLevel = __ldg(task.scales.inverseSquares + i);
    const std::uint64_t inverseSize = memory.inverses[j];
    const std::uint32_t levelSquare = i * i;
    const std::uint32_t sizeSquare = j * j;
    entries += isPresent;
    levels += i;
    levelSquares += levelSquare;
    sizes += j;
    sizeSquares += sizeSquare;
    squares += std::uint64_t{ levelSquare } * sizeSquare;
    inverseLevels.Add(inverseLevel, 1);
    inverseSizes.Add(inverseSize, 1);
    levelSquaresTimesInverses.Add(inverseSize, levelSquare);
    sizeSquaresTimesInverses.Add(inverseLevel, sizeSquare);
    AddProduct(inverses, inverseLevel, inverseSize);
    auto & count = Tables::At<std::uint8_t>(counts, Tables::Offset<std::uint8_t>(static_cast<int>(j)));
    sizeNonUniformity += isPresent * (2u * count + 1u);
    count = static_cast<std::uint8_t>(count + isPresent);
  }
  SizeMatrixSums sums;
  ClearEntries(sums);
  sums.entries = entries;
  sums.axes[levelAxis].sum = levels;
  sums.axes[levelAxis].squares = levelSquares;
  sums.axes[levelAxis].inverses = inverseLevels.Get();
  sums.axes[levelAxis].squaresTimesInverses = levelSquaresTimesInverses.Get();
  sums.axes[sizeAxis].sum = sizes;
  sums.axes[sizeAxis].squares = sizeSquares;
  sums.axes[sizeAxis].nonUniformity = sizeNonUniformity;
  sums.axes[sizeAxis].inverses = inverseSizes.Get();
  sums.axes[sizeAxis].squaresTimesInverses = sizeSquaresTimesInverses.Get();
  AddProduct(sums.squares, squares, 1);
  sums.inverses = inverses;
  return sums;
}

template <int VKeys>
__global__ void
__launch_bounds__(threadsPerBlock, blocksPerMultiprocessor)
  SortedDependencesKernel(const __grid_constant__ DependenceTask task, const __grid_constant__ DependencesLayout layout,
                          const CudaDependencePosition * __restrict__ positions, std::int64_t firstTile)
{
  extern __shared__ __align__(16) char shared[];
  const DependencesMemory              memory(task, layout, shared);
  const std::int64_t                   tile = firstTile + blockIdx.x;
  const std::int64_t                   tileRow = tile / layout.tilesX;
  const std::int64_t                   tilePlane = tileRow / layout.tilesY;
  const std::int64_t                   start[3] = { (tile - tileRow * layout.tilesX) * lanesPerWarp,
                                                    (tileRow - tilePlane * layout.tilesY) * outputRows,
                                                    tilePlane };
  LoadTables(task, positions, memory);
  LoadLevels(task, layout, start, memory);
  __syncthreads();
  FindNeighbors(task, layout, memory);
  __syncthreads();

  const int    lane = threadIdx.x % lanesPerWarp;
  const int    warp = threadIdx.x / lanesPerWarp;
  WindowInTile windows[windowsPerThread];
  bool         isComputed[windowsPerThread];
  std::int64_t outputs[windowsPerThread];
#pragma unroll
  for (int w = 0; w < windowsPerThread; ++w)
  {
    const int          y = warp + w * warpsPerBlock;
    const std::int64_t voxel[3] = { start[0] + lane, start[1] + y, start[2] };
    const bool         isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
    windows[w] = { memory.levels + layout.LevelPlace(lane, y, 0), memory.neighbors + layout.Place(lane, y, 0) };
    outputs[w] = (voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0];
    isComputed[w] = isOutput && WindowBox(task, voxel).isComputed;
    if (isOutput && !isComputed[w])
    {
      for (int c = 0; c < task.numberOfComponents; ++c)
      {
        StoreComponentOrNaN(task, outputs[w] * task.voxelStride, c, task.backgroundValue);
      }
    }
  }
  if (!__any_sync(0xffffffffu, isComputed[0] || isComputed[1]))
  {
    return;
  }

  SortedWindowKeys<0> first;
  SortedWindowKeys<1> second;
  {
    std::uint32_t keys[VKeys];
#pragma unroll
    for (int v = 0; v < VKeys; ++v)
    {
      keys[v] = (absentVoxel << 16) | absentVoxel;
      if (v < task.windowVoxels)
      {
        const CudaDependencePosition position = memory.positions[v];
        keys[v] = (windows[1].Key(position) << 16) | windows[0].Key(position);
      }
    }
    SortHalves(keys);
#pragma unroll
    for (int v = 0; v < VKeys; ++v)
    {
      first.Add(memory, keys[v]);
      second.Add(memory, keys[v]);
    }
  }
#pragma unroll 1
  for (int w = 0; w < windowsPerThread; ++w)
  {
    if (w == 0 ? isComputed[0] : isComputed[1])
    {
      SizeMatrixSums sums = SumOverWindow(task, layout, memory, w == 0 ? windows[0] : windows[1]);
      sums.entropyTerms = w == 0 ? first.entropyTerms : second.entropyTerms;
      sums.axes[levelAxis].nonUniformity = w == 0 ? first.levelSquares : second.levelSquares;
      StoreDependenceFeatures(task, w == 0 ? outputs[0] : outputs[1], sums);
    }
  }
}

template <int VKeys>
void
Launch(const DependenceTask & task, const CudaDependencePosition * positions, const CudaMethodResources & resources)
{
  const DependencesLayout layout(task);
  const std::size_t       bytes = DependencesMemory(task, layout, nullptr).bytes;
  const auto              kernel = SortedDependencesKernel<VKeys>;
  AllowSharedMemory(kernel, bytes);

  // In parts of less than a tenth of a second, so that an abort is quick.
  constexpr std::int64_t partTiles = std::int64_t{ 1 } << 17;
  const std::int64_t     tiles = layout.tilesX * layout.tilesY * task.outputSize[2];
  LaunchInParts(
    tiles, partTiles, resources, "starting the kernel of SortedDependences", [&](std::int64_t first, std::int64_t end) {
      kernel<<<static_cast<unsigned int>(end - first), threadsPerBlock, bytes, resources.stream>>>(
        task, layout, positions, first);
    });
}
} // namespace

bool
CudaSortedDependencesSupports(const DependenceTask & hostTask, const CudaDeviceLimits & limits)
{
  const auto isNear = [](const PairOffset & offset) {
    return std::abs(offset.step[0]) <= 1 && std::abs(offset.step[1]) <= 1 && std::abs(offset.step[2]) <= 1;
  };
  const DependencesLayout layout(hostTask);
  return hostTask.windowVoxels <= maxKeys && hostTask.numberOfGrayLevels <= maxLevels &&
         std::all_of(hostTask.offsets, hostTask.offsets + hostTask.numberOfOffsets, isNear) &&
         layout.LevelVoxels() <= 65535 &&
         DependencesMemory(hostTask, layout, nullptr).bytes <= limits.maxSharedMemoryPerBlock;
}

std::vector<CudaDependencePosition>
MakeCudaDependencePositions(const DependenceTask & hostTask)
{
  const DependencesLayout             layout(hostTask);
  std::vector<CudaDependencePosition> positions;
  for (int z = 0; z < hostTask.window[2]; ++z)
  {
    for (int y = 0; y < hostTask.window[1]; ++y)
    {
      for (int x = 0; x < hostTask.window[0]; ++x)
      {
        const int              at[3] = { x, y, z };
        CudaDependencePosition position{};
        position.level = static_cast<std::uint16_t>(layout.LevelPlace(x, y, z) - layout.LevelPlace(0, 0, 0));
        position.neighbors = static_cast<std::uint16_t>(layout.Place(x, y, z));
        for (int k = 0; k < hostTask.numberOfOffsets; ++k)
        {
          const auto & step = hostTask.offsets[k].step;
          bool         hasNext = true;
          bool         hasPrevious = true;
          for (int d = 0; d < 3; ++d)
          {
            hasNext = hasNext && at[d] + step[d] >= 0 && at[d] + step[d] < hostTask.window[d];
            hasPrevious = hasPrevious && at[d] - step[d] >= 0 && at[d] - step[d] < hostTask.window[d];
          }
          position.mask |= (hasNext ? 1u : 0u) << (2 * k);
          position.mask |= (hasPrevious ? 2u : 0u) << (2 * k);
        }
        positions.push_back(position);
      }
    }
  }
  return positions;
}

void
ComputeByCudaSortedDependences(const DependenceTask & task, const CudaDependencePosition * positions,
                               const CudaMethodResources & resources)
{
  switch (NumberOfKeys(task.windowVoxels))
  {
    case 32:
      return Launch<32>(task, positions, resources);
    case 64:
      return Launch<64>(task, positions, resources);
    default:
      return Launch<maxKeys>(task, positions, resources);
  }
}
} // namespace voxelmaps
