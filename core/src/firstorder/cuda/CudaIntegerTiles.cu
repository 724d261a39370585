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
// Most medical images have intensities that are integers. Where all of a slab are, and near enough to each other, 16
// bits hold each of them, from their minimum on. A thread computes two windows: their keys are the halves of words, and
// a sorting network sorts both at once. Small windows are sorted in registers. Of larger ones, the planes of one x are
// sorted, each once for all windows along x, and a rank is found by bisection, as the key with as many others below it
// in all planes of the window.
//
// Sums of integers are exact in any order: |I| and |shift| are at most 2^20, so that the sum of (I + shift)^2 over at
// most 2000 voxels is below 2^53, and the doubles that the definition adds are integers without rounding; halves of
// integers from the median on are far below 2^52. Sums of deviations are doubles in the order of the definition.
#include "CudaFirstOrderMethods.h"
#include "CudaFirstOrderSums.cuh"
#include "cuda/CudaLaunch.h"
#include "texture/cuda/CudaParts.h"
#include "texture/cuda/CudaRegisterSort.cuh"
#include "texture/cuda/CudaThreadTables.cuh"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace voxelmaps
{
namespace
{
constexpr int maxVoxels = 2000;

constexpr int lanesPerWarp = 32;
constexpr int warpsPerBlock = 4;
constexpr int threadsPerBlock = warpsPerBlock * lanesPerWarp;
// For 168 registers per thread.
constexpr int blocksPerMultiprocessor = 3;
using Tables = CudaThreadTables<threadsPerBlock>;

/** The windows of a thread are warpsPerBlock rows apart. */
constexpr int windowsPerThread = 2;
constexpr int outputRows = windowsPerThread * warpsPerBlock;

/** Above all other keys. */
constexpr std::uint32_t absentKey = 0xffff;
constexpr std::uint32_t maxKey = 0xfffe;

// Small windows are sorted as a whole; of larger ones, planes of so many voxels.
constexpr int maxVoxelsToSort = 125;
constexpr int maxPlaneVoxels = 121;

// Percentiles lie between two keys each.
constexpr int numberOfPercentiles = 5;
constexpr int numberOfRanks = 2 * numberOfPercentiles;
constexpr int medianNumber = 2;

constexpr VOXELMAPS_HOST_DEVICE double
PercentilePart(int percentile)
{
  constexpr double parts[numberOfPercentiles] = { 0.1, 0.25, 0.5, 0.75, 0.9 };
  return parts[percentile];
}

/** The number of a rank among the keys in ascending order. */
constexpr VOXELMAPS_HOST_DEVICE int
KeyNumber(int rank, int voxels)
{
  const int percentile = rank / 2;
  if (percentile == medianNumber)
  {
    return rank % 2 == 0 ? (voxels - 1) / 2 : voxels / 2;
  }
  const PercentilePosition position = FindPercentilePosition(voxels, PercentilePart(percentile));
  return rank % 2 == 0 ? position.below : position.above;
}

/** Find the range of the intensities of a slab, in memory that was cleared. */
template <typename T>
__global__ void
IntegerRangeKernel(const T * intensities, std::int64_t voxels, CudaIntegerRange * range)
{
  constexpr int limit = CudaIntegerRange::limit;
  __shared__ std::uint32_t shared[3];
  std::uint32_t            hasOthers = 0;
  std::uint32_t            fromMinimum = 0;
  std::uint32_t            fromMaximum = 0;
  const std::int64_t       step = std::int64_t{ gridDim.x } * blockDim.x;
  if (threadIdx.x < 3)
  {
    shared[threadIdx.x] = 0;
  }
  __syncthreads();
  for (std::int64_t i = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x; i < voxels; i += step)
  {
    const T intensity = intensities[i];
    if (intensity == intensity)
    {
      const bool isNear = intensity >= -limit && intensity <= limit;
      const int  integer = isNear ? static_cast<int>(intensity) : 0;
      hasOthers |= isNear && static_cast<T>(integer) == intensity ? 0u : 1u;
      fromMinimum = max(fromMinimum, static_cast<std::uint32_t>(limit + 1 - integer));
      fromMaximum = max(fromMaximum, static_cast<std::uint32_t>(limit + 1 + integer));
    }
  }
  atomicOr(shared, hasOthers);
  atomicMax(shared + 1, fromMinimum);
  atomicMax(shared + 2, fromMaximum);
  __syncthreads();
  if (threadIdx.x == 0)
  {
    atomicOr(&range->hasOthers, shared[0]);
    atomicMax(&range->fromMinimum, shared[1]);
    atomicMax(&range->fromMaximum, shared[2]);
  }
}

/** Entries of the tables of levels. */
bool
HasByteCounts(const FirstOrderTask & task)
{
  return task.windowVoxels <= 255;
}

/** How the output is cut into tiles. Word (x, y, z) of a tile has the voxels (x, y, z) and (x, y + warpsPerBlock, z),
 * of the windows of a thread. */
struct IntegerTileLayout
{
  int          columns;
  int          rows;
  int          planes;
  int          lists;      // sorted planes
  int          listStride; // from a key of a list to its next one
  int          listKeys;   // 0 if there are no lists
  int          levelWords; // 0 if levels are not counted
  std::int64_t tilesX;
  std::int64_t tilesY;

  explicit IntegerTileLayout(const FirstOrderTask & task, int theListKeys = 0)
    : columns(lanesPerWarp + task.window[0] - 1)
    , rows(warpsPerBlock + task.window[1] - 1)
    , planes(task.window[2])
    , lists(columns * warpsPerBlock)
    // Lanes have neighboring lists: each has a bank for itself.
    , listStride((lists + lanesPerWarp - 1) / lanesPerWarp * lanesPerWarp)
    , listKeys(task.needsPercentiles ? theListKeys : 0)
    , levelWords(!task.needsLevelCounts ? 0
                 : HasByteCounts(task)  ? Tables::NumberOfWords<std::uint8_t>(task.numberOfGrayLevels + 1)
                                        : Tables::NumberOfWords<std::uint16_t>(task.numberOfGrayLevels + 1))
    , tilesX((task.outputSize[0] + lanesPerWarp - 1) / lanesPerWarp)
    , tilesY((task.outputSize[1] + outputRows - 1) / outputRows)
  {}
  VOXELMAPS_HOST_DEVICE int
  Words() const
  {
    return columns * rows * planes;
  }
  VOXELMAPS_HOST_DEVICE int
  Place(int x, int y, int z) const
  {
    return (z * rows + y) * columns + x;
  }
};

/** Shared memory of a block. */
struct IntegerTileMemory
{
  std::int64_t *  entropyTable;
  std::uint32_t * positions; // of the voxels of a window, in a tile
  std::uint32_t * keys;
  std::uint32_t * levels; // where they are counted, in a table
  std::uint32_t * lists;
  std::uint32_t * levelCounts; // tables in place of the lists
  std::size_t     bytes;

  VOXELMAPS_HOST_DEVICE
  IntegerTileMemory(const FirstOrderTask & task, const IntegerTileLayout & layout, char * shared)
    : bytes(0)
  {
    const auto append = [&](std::size_t number, auto *& part) {
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(shared + bytes);
      bytes += (number * sizeof(*part) + 7) / 8 * 8;
    };
    append(task.needsLevelCounts ? task.windowVoxels + 1 : 0, entropyTable);
    append(task.windowVoxels, positions);
    append(layout.Words(), keys);
    append(task.needsLevelCounts ? layout.Words() : 0, levels);
    const std::size_t end = bytes;
    append(static_cast<std::size_t>(layout.levelWords) * threadsPerBlock, levelCounts);
    const std::size_t endWithCounts = bytes;
    bytes = end;
    append(static_cast<std::size_t>(layout.listStride) * layout.listKeys, lists);
    bytes = endWithCounts > bytes ? endWithCounts : bytes;
  }
};

__device__ void
LoadTables(const FirstOrderTask & task, const IntegerTileLayout & layout, const IntegerTileMemory & memory)
{
  for (int v = threadIdx.x; v < task.windowVoxels; v += threadsPerBlock)
  {
    const int row = v / task.window[0];
    const int plane = row / task.window[1];
    memory.positions[v] =
      static_cast<std::uint32_t>(layout.Place(v - row * task.window[0], row - plane * task.window[1], plane));
  }
  for (int n = threadIdx.x; task.needsLevelCounts && n <= task.windowVoxels; n += threadsPerBlock)
  {
    memory.entropyTable[n] = task.entropyTable[n];
  }
}

/** Load a tile; start is its first output voxel. */
__device__ void
LoadTile(const FirstOrderTask & task, const IntegerTileLayout & layout, int minimum, const std::int64_t (&start)[3],
         const IntegerTileMemory & memory)
{
  const bool hasByteCounts = task.windowVoxels <= 255;
  for (int i = threadIdx.x; i < layout.Words(); i += threadsPerBlock)
  {
    const int          row = i / layout.columns;
    const int          plane = row / layout.rows;
    const std::int64_t x = start[0] + i - row * layout.columns + task.outputToLevels[0] - task.anchor[0];
    const std::int64_t z = start[2] + plane + task.outputToLevels[2] - task.anchor[2];
    std::uint32_t      keys = 0;
    std::uint32_t      levels = 0;
#pragma unroll
    for (int w = 0; w < windowsPerThread; ++w)
    {
      const std::int64_t y =
        start[1] + row - plane * layout.rows + w * warpsPerBlock + task.outputToLevels[1] - task.anchor[1];
      std::uint32_t key = absentKey;
      int           level = 0;
      if (x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2])
      {
        const std::int64_t at = task.LevelOffset(x, y, z);
        const double       intensity = task.intensitiesAreDouble
                                         ? static_cast<const double *>(task.intensities)[at]
                                         : static_cast<double>(static_cast<const float *>(task.intensities)[at]);
        key = intensity == intensity ? static_cast<std::uint32_t>(static_cast<int>(intensity) - minimum) : absentKey;
        if (task.needsLevelCounts)
        {
          level = task.levels[at];
          level = hasByteCounts ? Tables::Offset<std::uint8_t>(level) : Tables::Offset<std::uint16_t>(level);
        }
      }
      keys |= key << (16 * w);
      levels |= static_cast<std::uint32_t>(level) << (16 * w);
    }
    memory.keys[i] = keys;
    if (task.needsLevelCounts)
    {
      memory.levels[i] = levels;
    }
  }
}

/** Sort the planes of a tile into lists. */
template <int VKeys>
__device__ void
SortPlanes(const FirstOrderTask & task, const IntegerTileLayout & layout, const IntegerTileMemory & memory)
{
  const int planeVoxels = task.window[1] * task.window[2];
  for (int list = threadIdx.x; list < layout.lists; list += threadsPerBlock)
  {
    // As rows of lists are as long as those of the tile.
    const std::uint32_t * const tile = memory.keys + list;
    std::uint32_t               keys[VKeys];
#pragma unroll
    for (int v = 0; v < VKeys; ++v)
    {
      keys[v] = v < planeVoxels ? tile[memory.positions[v * task.window[0]]] : ~std::uint32_t{ 0 };
    }
    SortHalves(keys);
#pragma unroll
    for (int v = 0; v < VKeys; ++v)
    {
      memory.lists[v * layout.listStride + list] = keys[v];
    }
  }
}

/** How many of VKeys sorted keys are at most a key; at(i) is number i. */
template <int VKeys, typename TAt>
__device__ int
CountUpTo(std::uint32_t key, const TAt & at)
{
  int number = 0;
#pragma unroll
  for (int size = VKeys; size > 1; size -= size / 2)
  {
    number += at(number + size / 2 - 1) <= key ? size / 2 : 0;
  }
  return number + (at(number) <= key ? 1 : 0);
}

/** The sorted planes of a window, VKeys keys each. */
template <int VKeys>
struct SortedPlanes
{
  const std::uint16_t * keys;
  int                   number;
  int                   stride; // of keys

  __device__ std::uint32_t
             Key(int plane, int i) const
  {
    return keys[i * stride + plane * windowsPerThread];
  }
  /** How many keys of a plane are at most a key. */
  __device__ int
  CountInPlane(int plane, std::uint32_t key) const
  {
    return CountUpTo<VKeys>(key, [&](int i) { return this->Key(plane, i); });
  }
  __device__ int
  Count(std::uint32_t key) const
  {
    int count = 0;
#pragma unroll 4
    for (int plane = 0; plane < number; ++plane)
    {
      count += this->CountInPlane(plane, key);
    }
    return count;
  }
  /** The least key above another. */
  __device__ std::uint32_t
             Next(std::uint32_t key) const
  {
    std::uint32_t next = absentKey;
#pragma unroll 4
    for (int plane = 0; plane < number; ++plane)
    {
      const int i = this->CountInPlane(plane, key);
      next = min(next, i < VKeys ? this->Key(plane, i) : absentKey);
    }
    return next;
  }
  /** Find the keys of all ranks. */
  __device__ void
  Select(std::uint16_t (&ranks)[numberOfRanks][windowsPerThread], int w) const
  {
    std::uint32_t least = absentKey;
    std::uint32_t greatest = 0;
    int           voxels = 0;
    for (int plane = 0; plane < number; ++plane)
    {
      const int count = this->CountInPlane(plane, maxKey);
      least = min(least, this->Key(plane, 0));
      greatest = count > 0 ? max(greatest, this->Key(plane, count - 1)) : greatest;
      voxels += count;
    }
#pragma unroll 1
    for (int rank = 0; rank < numberOfRanks; rank += 2)
    {
      const int below = KeyNumber(rank, voxels);
      // The least key that more than so many are at most.
      std::uint32_t key = greatest;
      int           count = voxels;
      while (least < key)
      {
        const std::uint32_t middle = (least + key) / 2;
        const int           middleCount = this->Count(middle);
        if (middleCount > below)
        {
          key = middle;
          count = middleCount;
        }
        else
        {
          least = middle + 1;
        }
      }
      ranks[rank][w] = static_cast<std::uint16_t>(key);
      ranks[rank + 1][w] = static_cast<std::uint16_t>(KeyNumber(rank + 1, voxels) < count ? key : this->Next(key));
    }
  }
};

/** Find the keys of all ranks of both windows of a thread, at this place in the tile, in registers. */
template <int VKeys>
__device__ void
SelectFromRegisters(const FirstOrderTask & task, const IntegerTileMemory & memory, const std::uint32_t * tile,
                    std::uint16_t (&ranks)[numberOfRanks][windowsPerThread])
{
  std::uint32_t keys[VKeys];
#pragma unroll
  for (int v = 0; v < VKeys; ++v)
  {
    keys[v] = v < task.windowVoxels ? tile[memory.positions[v]] : ~std::uint32_t{ 0 };
  }
  SortHalves(keys);
  const bool isFull = (keys[VKeys - 1] & 0xffffu) != absentKey && keys[VKeys - 1] >> 16 != absentKey;
  if (isFull)
  {
    // Where most windows are, all numbers are constants.
#pragma unroll
    for (int rank = 0; rank < numberOfRanks; ++rank)
    {
      ranks[rank][0] = static_cast<std::uint16_t>(keys[KeyNumber(rank, VKeys)] & 0xffffu);
      ranks[rank][1] = static_cast<std::uint16_t>(keys[KeyNumber(rank, VKeys)] >> 16);
    }
    return;
  }
  std::uint32_t sorted[VKeys];
#pragma unroll
  for (int v = 0; v < VKeys; ++v)
  {
    sorted[v] = keys[v];
  }
#pragma unroll
  for (int w = 0; w < windowsPerThread; ++w)
  {
    const auto at = [&](int i) { return sorted[i] >> (16 * w) & 0xffffu; };
    const int  voxels = CountUpTo<VKeys>(maxKey, at);
#pragma unroll 1
    for (int rank = 0; rank < numberOfRanks; ++rank)
    {
      ranks[rank][w] = static_cast<std::uint16_t>(at(KeyNumber(rank, voxels)));
    }
  }
}

/** One of the windows of a thread. */
class IntegerWindow
{
public:
  __device__
  IntegerWindow(const FirstOrderTask & task, const IntegerTileMemory & memory, int minimum, int place, int w)
    : m_Task(task)
    , m_Memory(memory)
    , m_Minimum(minimum)
    , m_Keys(Half(memory.keys, place, w))
    , m_Levels(Half(memory.levels, place, w))
  {}

  /** The first and second pass; ownPosition is that of the window's own voxel. */
  __device__ void
  Sum(int ownPosition, int shift, FirstOrderSums<double> & sums) const
  {
    const std::uint32_t ownKey = m_Keys[ownPosition * windowsPerThread];
    const std::int64_t  origin = ownKey == absentKey ? 0 : m_Minimum + static_cast<int>(ownKey);
    StartFirstOrderSums(static_cast<double>(origin), CUDART_INF, sums);
    std::uint32_t voxels = 0;
    std::uint32_t keySum = 0;
    std::uint64_t keySquares = 0;
    std::uint32_t least = absentKey;
    std::uint32_t greatest = 0;
    this->ForEachKey([&](std::uint32_t key) {
      least = min(least, key);
      if (key != absentKey)
      {
        greatest = max(greatest, key);
        ++voxels;
        keySum += key;
        keySquares += std::uint64_t{ key } * key;
      }
    });
    const std::int64_t number = voxels;
    const std::int64_t sum = keySum;
    const std::int64_t shiftedMinimum = m_Minimum + shift;
    sums.voxels = static_cast<double>(voxels);
    sums.differences = static_cast<double>(sum + number * (m_Minimum - origin));
    sums.energy = static_cast<double>(static_cast<std::int64_t>(keySquares) + 2 * shiftedMinimum * sum +
                                      number * shiftedMinimum * shiftedMinimum);
    if (voxels != 0)
    {
      sums.minimum = static_cast<double>(m_Minimum + static_cast<int>(least));
      sums.maximum = static_cast<double>(m_Minimum + static_cast<int>(greatest));
    }
    sums.shift = sums.differences / sums.voxels;
    if (m_Task.needsDeviations)
    {
      // The double with these bits is 2^52 + key.
      const double bias = 4503599627370496.0 - static_cast<double>(m_Minimum - origin);
      this->ForEachKey([&](std::uint32_t key) {
        if (key != absentKey)
        {
          const double deviation = (__hiloint2double(0x43300000, static_cast<int>(key)) - bias) - sums.shift;
          const double square = deviation * deviation;
          sums.absolutes += fabs(deviation);
          sums.squares += square;
          sums.cubes += square * deviation;
          sums.fourths += square * square;
        }
      });
    }
  }

  /** The percentiles, and the sums that need them. */
  __device__ void
  SumRobustly(const std::uint16_t (&ranks)[numberOfRanks][windowsPerThread], int w, FirstOrderSums<double> & sums) const
  {
    const auto voxels = static_cast<int>(sums.voxels);
    const auto at = [&](int rank) { return static_cast<double>(m_Minimum + static_cast<int>(ranks[rank][w])); };
    const auto percentile = [&](int number) {
      return Interpolate(
        at(2 * number), at(2 * number + 1), FindPercentilePosition(voxels, PercentilePart(number)).fraction);
    };
    sums.percentile10 = percentile(0);
    sums.percentile25 = percentile(1);
    sums.median = ComputeMedian([&](int k) { return at(2 * medianNumber + (k == (voxels - 1) / 2 ? 0 : 1)); }, voxels);
    sums.percentile75 = percentile(3);
    sums.percentile90 = percentile(4);
    if (!m_Task.needsRobustDeviations)
    {
      return;
    }
    // Integers between the percentiles are these.
    const int  first = static_cast<int>(ceil(sums.percentile10)) - m_Minimum;
    const int  last = min(static_cast<int>(floor(sums.percentile90)) - m_Minimum, static_cast<int>(maxKey));
    const auto isInside = [=](std::uint32_t key) {
      return static_cast<int>(key) >= first && static_cast<int>(key) <= last;
    };
    int number = 0;
    int keySum = 0;
    this->ForEachKey([&](std::uint32_t key) {
      if (isInside(key))
      {
        ++number;
        keySum += static_cast<int>(key);
      }
    });
    const double       median = sums.median - m_Minimum; // an integer, or halfway between two
    const std::int64_t twice = std::int64_t{ 2 } * keySum - number * static_cast<std::int64_t>(2.0 * median);
    sums.robustVoxels = static_cast<double>(number);
    sums.robustDifferences = 0.5 * static_cast<double>(twice);
    sums.robustShift = sums.robustDifferences / sums.robustVoxels;
    // The double with these bits is 2^51 + key.
    const double bias = 2251799813685248.0 + median;
    this->ForEachKey([&](std::uint32_t key) {
      if (isInside(key))
      {
        sums.robustAbsolutes +=
          fabs((__hiloint2double(0x43200000, static_cast<int>(2 * key)) - bias) - sums.robustShift);
      }
    });
  }

  /** Count the levels in a table of so many words. */
  template <typename TCount>
  __device__ void
  CountLevels(int levelWords, FirstOrderSums<double> & sums) const
  {
    constexpr int           bits = 8 * sizeof(TCount);
    constexpr std::uint32_t mask = (std::uint64_t{ 1 } << bits) - 1;
    char * const            counts = Tables::ThreadTable(reinterpret_cast<char *>(m_Memory.levelCounts), 0);
    Tables::Clear(counts, levelWords);
    // Levels are loaded before stores that they could depend on.
    constexpr int atATime = 4;
    int           v = 0;
    for (; v + atATime <= m_Task.windowVoxels; v += atATime)
    {
      int offsets[atATime];
#pragma unroll
      for (int k = 0; k < atATime; ++k)
      {
        offsets[k] = m_Levels[m_Memory.positions[v + k] * windowsPerThread];
      }
#pragma unroll
      for (int k = 0; k < atATime; ++k)
      {
        ++Tables::At<TCount>(counts, offsets[k]);
      }
    }
    for (; v < m_Task.windowVoxels; ++v)
    {
      ++Tables::At<TCount>(counts, m_Levels[m_Memory.positions[v] * windowsPerThread]);
    }
    std::int64_t  entropy = m_Memory.entropyTable[static_cast<int>(sums.voxels)];
    std::uint32_t squares = 0;
    for (int i = 0; i < levelWords; ++i)
    {
      // Level 0 is no level.
      std::uint32_t word = Tables::At<std::uint32_t>(counts, i * Tables::wordStride) & (i == 0 ? ~mask : ~0u);
      for (; word != 0; word >>= bits)
      {
        const std::uint32_t voxels = word & mask;
        entropy -= m_Memory.entropyTable[voxels];
        squares += voxels * voxels;
      }
    }
    sums.entropy = static_cast<double>(entropy);
    sums.levelSquares = static_cast<double>(squares);
  }

private:
  static const __device__ std::uint16_t *
                          Half(const std::uint32_t * words, int place, int w)
  {
    return reinterpret_cast<const std::uint16_t *>(words + place) + w;
  }
  /** Call f(key) for the voxels of the window, in the order of the sums. */
  template <typename TFunction>
  __device__ void
  ForEachKey(const TFunction & f) const
  {
#pragma unroll 4
    for (int v = 0; v < m_Task.windowVoxels; ++v)
    {
      f(m_Keys[m_Memory.positions[v] * windowsPerThread]);
    }
  }

  const FirstOrderTask &    m_Task;
  const IntegerTileMemory & m_Memory;
  const int                 m_Minimum;
  const std::uint16_t *     m_Keys;
  const std::uint16_t *     m_Levels;
};

/** VKeys keys are sorted at a time: all of a window, or those of a plane of it. */
template <int VKeys, bool VPlanes>
__global__ void
__launch_bounds__(threadsPerBlock, blocksPerMultiprocessor)
  IntegerTilesKernel(const __grid_constant__ FirstOrderTask task, const __grid_constant__ IntegerTileLayout layout,
                     const CudaIntegerRange * range, std::int64_t firstTile)
{
  if (!range->AreKeys())
  {
    return;
  }
  extern __shared__ __align__(16) char shared[];
  const IntegerTileMemory              memory(task, layout, shared);
  const std::int64_t                   tile = firstTile + blockIdx.x;
  const std::int64_t                   tileRow = tile / layout.tilesX;
  const std::int64_t                   tilePlane = tileRow / layout.tilesY;
  const std::int64_t                   start[3] = { (tile - tileRow * layout.tilesX) * lanesPerWarp,
                                                    (tileRow - tilePlane * layout.tilesY) * outputRows,
                                                    tilePlane };
  const int                            lane = threadIdx.x % lanesPerWarp;
  const int                            warp = threadIdx.x / lanesPerWarp;
  bool                                 isComputed[windowsPerThread];
  std::int64_t                         outputs[windowsPerThread];
#pragma unroll
  for (int w = 0; w < windowsPerThread; ++w)
  {
    const std::int64_t voxel[3] = { start[0] + lane, start[1] + warp + w * warpsPerBlock, start[2] };
    const bool         isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
    outputs[w] = (voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0];
    isComputed[w] = isOutput && WindowBox(task, voxel).isComputed;
    if (isOutput && !isComputed[w])
    {
      StoreFirstOrderBackground(task, outputs[w]);
    }
  }
  if (__syncthreads_or(isComputed[0] || isComputed[1] ? 1 : 0) == 0)
  {
    return;
  }
  const int minimum = range->Minimum();
  LoadTables(task, layout, memory);
  LoadTile(task, layout, minimum, start, memory);
  __syncthreads();

  const int     place = layout.Place(lane, warp, 0);
  std::uint16_t ranks[numberOfRanks][windowsPerThread];
  if (task.needsPercentiles)
  {
    if constexpr (VPlanes)
    {
      SortPlanes<VKeys>(task, layout, memory);
      __syncthreads();
#pragma unroll 1
      for (int w = 0; w < windowsPerThread; ++w)
      {
        if (w == 0 ? isComputed[0] : isComputed[1])
        {
          SortedPlanes<VKeys>{ reinterpret_cast<const std::uint16_t *>(memory.lists + warp * layout.columns + lane) + w,
                               task.window[0],
                               layout.listStride * windowsPerThread }
            .Select(ranks, w);
        }
      }
      // Levels are counted where the lists are.
      __syncthreads();
    }
    else
    {
      SelectFromRegisters<VKeys>(task, memory, memory.keys + place, ranks);
    }
  }
#pragma unroll 1
  for (int w = 0; w < windowsPerThread; ++w)
  {
    if (w == 0 ? isComputed[0] : isComputed[1])
    {
      const IntegerWindow    window(task, memory, minimum, place, w);
      FirstOrderSums<double> sums;
      window.Sum(
        layout.Place(task.anchor[0], task.anchor[1], task.anchor[2]), static_cast<int>(task.voxelArrayShift), sums);
      if (task.needsPercentiles)
      {
        window.SumRobustly(ranks, w, sums);
      }
      if (task.needsLevelCounts)
      {
        task.windowVoxels <= 255 ? window.CountLevels<std::uint8_t>(layout.levelWords, sums)
                                 : window.CountLevels<std::uint16_t>(layout.levelWords, sums);
      }
      StoreFirstOrderFeatures(task, w == 0 ? outputs[0] : outputs[1], sums);
    }
  }
}

/** Keys of a list of sorted planes, as the kernels have them. */
int
ListKeys(const FirstOrderTask & task)
{
  const int planeVoxels = task.window[1] * task.window[2];
  return task.windowVoxels <= maxVoxelsToSort ? 0
         : planeVoxels <= 25                  ? 25
         : planeVoxels <= 49                  ? 49
         : planeVoxels <= 81                  ? 81
                                              : maxPlaneVoxels;
}

template <int VKeys, bool VPlanes>
void
Launch(const FirstOrderTask & task, const CudaIntegerRange * range, const CudaMethodResources & resources)
{
  const IntegerTileLayout layout(task, VPlanes ? VKeys : 0);
  const std::size_t       bytes = IntegerTileMemory(task, layout, nullptr).bytes;
  const auto              kernel = IntegerTilesKernel<VKeys, VPlanes>;
  AllowSharedMemory(kernel, bytes);

  // In parts of less than a tenth of a second, so that an abort is quick.
  constexpr std::int64_t partVoxels = std::int64_t{ 1 } << 24;
  const std::int64_t     tiles = layout.tilesX * layout.tilesY * task.outputSize[2];
  LaunchInParts(tiles,
                partVoxels / task.windowVoxels + 1,
                resources,
                "starting the kernel of integer tiles",
                [&](std::int64_t first, std::int64_t end) {
                  kernel<<<static_cast<unsigned int>(end - first), threadsPerBlock, bytes, resources.stream>>>(
                    task, layout, range, first);
                });
}

void
Launch(const FirstOrderTask & task, const CudaIntegerRange * range, const CudaMethodResources & resources)
{
  if (task.windowVoxels <= 27)
  {
    return Launch<27, false>(task, range, resources);
  }
  if (task.windowVoxels <= 64)
  {
    return Launch<64, false>(task, range, resources);
  }
  switch (ListKeys(task))
  {
    case 0:
      return Launch<maxVoxelsToSort, false>(task, range, resources);
    case 25:
      return Launch<25, true>(task, range, resources);
    case 49:
      return Launch<49, true>(task, range, resources);
    case 81:
      return Launch<81, true>(task, range, resources);
    default:
      return Launch<maxPlaneVoxels, true>(task, range, resources);
  }
}

bool
IsSupported(const FirstOrderTask & task)
{
  const IntegerTileLayout layout(task, ListKeys(task));
  return task.windowVoxels <= maxVoxels &&
         (task.windowVoxels <= maxVoxelsToSort || task.window[1] * task.window[2] <= maxPlaneVoxels) &&
         std::abs(task.voxelArrayShift) <= CudaIntegerRange::limit &&
         std::trunc(task.voxelArrayShift) == task.voxelArrayShift &&
         // Places in the tables of levels have 16 bits.
         Tables::Bytes(layout.levelWords) <= 65536 &&
         IntegerTileMemory(task, layout, nullptr).bytes <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}
} // namespace

const CudaIntegerRange *
ComputeByCudaIntegerTiles(const FirstOrderTask & task, const CudaMethodResources & resources)
{
  if (!IsSupported(task))
  {
    return nullptr;
  }
  constexpr const char * doing = "looking for integers";
  constexpr unsigned int threads = 256;
  auto * const           range = static_cast<CudaIntegerRange *>(resources.scratch);
  const auto             voxels = static_cast<std::int64_t>(NumberOfVoxels(task.levelsSize));
  const unsigned int     blocks = BlocksForGridStride(static_cast<std::uint64_t>(voxels), threads);
  CheckCuda(cudaMemsetAsync(range, 0, sizeof(*range), resources.stream), doing);
  if (task.intensitiesAreDouble)
  {
    IntegerRangeKernel<<<blocks, threads, 0, resources.stream>>>(
      static_cast<const double *>(task.intensities), voxels, range);
  }
  else
  {
    IntegerRangeKernel<<<blocks, threads, 0, resources.stream>>>(
      static_cast<const float *>(task.intensities), voxels, range);
  }
  CheckLaunch(doing);
  Launch(task, range, resources);
  return range;
}
} // namespace voxelmaps
