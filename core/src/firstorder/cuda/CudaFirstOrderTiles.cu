// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// A block loads the voxels of the windows of a tile of output voxels into shared memory, once for all passes over these
// windows. Intensities are sorted as unsigned integers, which have the same order: small windows in registers, by a
// sorting network. Of larger windows, the planes of one x are sorted, each once for all windows along x; a percentile
// is found by bisection, as the least key that so many keys in all planes of the window are at most.
//
// Most medical images have intensities that are integers. Where all of a slab are, and near enough to each other, keys
// of 16 bits are their distances from the minimum, and a word has the keys of two windows, which are sorted at once.
// Sums of integers are exact in any order: |I| and |shift| are at most 2^20, so that the sum of (I + shift)^2 over at
// most 2000 voxels is at most 2^53, and the doubles that the definition adds are integers without rounding; so are
// twice the differences from the median. Sums of deviations are of doubles, in the order of the definition.
#include "CudaFirstOrderMethods.h"
#include "CudaFirstOrderSums.cuh"
#include "device/CudaRange.cuh"
#include "window/WorkspaceLayout.h"
#include "window/cuda/CudaRegisterSort.cuh"
#include "window/cuda/CudaThreadTables.cuh"
#include "window/cuda/CudaWindowTile.cuh"

#include <cmath>
#include <type_traits>
#include <utility>

namespace voxelmaps
{
namespace
{
constexpr int maxVoxels = 2000;

constexpr int lanesPerWarp = CudaWindowTiles::lanes;
constexpr int warpsPerBlock = CudaWindowTiles::maxWarps;
constexpr int threadsPerBlock = warpsPerBlock * lanesPerWarp;
using Tables = CudaThreadTables<threadsPerBlock>;

/** The windows of a thread are warpsPerBlock rows apart. */
constexpr int windowsPerThread = 2;
constexpr int outputRows = windowsPerThread * warpsPerBlock;

/** Voxels of a window are read so many at a time. */
constexpr int voxelsAtATime = 4;

// Small windows are sorted as a whole; of larger ones, planes of so many voxels.
constexpr int maxVoxelsToSort = 125;
constexpr int maxPlaneVoxels = 121;

/** The keys of all ranks, of the windows of a thread. */
using RankKeys = std::uint32_t[numberOfRanks][windowsPerThread];

/** A tile of integers: a word has the intensities of two voxels, warpsPerBlock rows apart, as distances from the
 * minimum of the slab. */
class IntegerTile
{
public:
  using Value = std::uint16_t;
  static constexpr int           windowsPerWord = windowsPerThread;
  static constexpr std::uint32_t absentValue = 0xffff;
  static constexpr std::uint32_t absentKey = 0xffff; // above all others
  static constexpr std::uint32_t maxKey = 0xfffe;

  __device__
  IntegerTile(const FirstOrderTask & task, const CudaIntensityRange * range)
    : m_Task(task)
    , m_Minimum(range->Minimum())
  {}

  /** Whether this kind of tile is for the slab. */
  static __device__ bool
  IsFor(const CudaIntensityRange * range)
  {
    return range->AreKeys();
  }
  template <typename T>
  __device__ std::uint32_t
             MakeValue(T intensity) const
  {
    return intensity == intensity ? static_cast<std::uint32_t>(static_cast<int>(intensity) - m_Minimum) : absentKey;
  }

  // Sorted words and their keys.
  using Exchange = HalvesExchange;
  static __device__ std::uint32_t
                    ToSort(std::uint32_t word)
  {
    return word;
  }
  static __device__ std::uint32_t
                    Key(std::uint32_t word, int w)
  {
    return word >> (16 * w) & 0xffffu;
  }

  /** The first and second pass over a window, with the value of its own voxel. */
  template <typename TWindow>
  __device__ void
  Sum(const TWindow & window, std::uint32_t own, FirstOrderSums<double> & sums) const
  {
    const std::int64_t origin = own == absentKey ? 0 : m_Minimum + static_cast<int>(own);
    StartFirstOrderSums(static_cast<double>(origin), CUDART_INF, sums);
    std::uint32_t voxels = 0;
    std::uint32_t keySum = 0;
    std::uint64_t squares = 0;
    std::uint32_t least = absentKey;
    std::uint32_t greatest = 0;
    window.ForEachValue([&](std::uint32_t key) {
      const std::uint32_t present = key != absentKey ? key : 0;
      voxels += key != absentKey ? 1 : 0;
      least = min(least, key);
      greatest = max(greatest, present);
      keySum += present;
      squares += std::uint64_t{ present } * present;
    });
    const std::int64_t number = voxels;
    const std::int64_t sum = keySum;
    const std::int64_t shifted = m_Minimum + static_cast<int>(m_Task.voxelArrayShift);
    sums.voxels = static_cast<double>(voxels);
    sums.differences = static_cast<double>(sum + number * (m_Minimum - origin));
    sums.energy =
      static_cast<double>(static_cast<std::int64_t>(squares) + 2 * shifted * sum + number * shifted * shifted);
    if (voxels != 0)
    {
      sums.minimum = this->ToIntensity(least);
      sums.maximum = this->ToIntensity(greatest);
    }
    sums.shift = sums.differences / sums.voxels;
    if (m_Task.needsDeviations)
    {
      // The double with these bits is 2^52 + key.
      const double bias = 4503599627370496.0 - static_cast<double>(m_Minimum - origin);
      window.ForEachValue([&](std::uint32_t key) {
        const double deviation = (__hiloint2double(0x43300000, static_cast<int>(key)) - bias) - sums.shift;
        window.AddPowers(key != absentKey ? deviation : 0.0, sums);
      });
    }
  }
  /** The sums that need percentiles. */
  template <typename TWindow>
  __device__ void
  SumRobustly(const TWindow & window, FirstOrderSums<double> & sums) const
  {
    // Integers between the percentiles are these.
    const int  first = static_cast<int>(ceil(sums.percentile10)) - m_Minimum;
    const int  last = min(static_cast<int>(floor(sums.percentile90)) - m_Minimum, static_cast<int>(maxKey));
    const auto isInside = [=](std::uint32_t key) {
      return static_cast<int>(key) >= first && static_cast<int>(key) <= last;
    };
    int number = 0;
    int keySum = 0;
    window.ForEachValue([&](std::uint32_t key) {
      number += isInside(key) ? 1 : 0;
      keySum += isInside(key) ? static_cast<int>(key) : 0;
    });
    const double       median = sums.median - m_Minimum; // an integer, or halfway between two
    const std::int64_t twice = std::int64_t{ 2 } * keySum - number * static_cast<std::int64_t>(2.0 * median);
    sums.robustVoxels = static_cast<double>(number);
    sums.robustDifferences = 0.5 * static_cast<double>(twice);
    sums.robustShift = sums.robustDifferences / sums.robustVoxels;
    // The double with these bits is 2^51 + key.
    const double bias = 2251799813685248.0 + median;
    window.ForEachValue([&](std::uint32_t key) {
      const double deviation = (__hiloint2double(0x43200000, static_cast<int>(2 * key)) - bias) - sums.robustShift;
      sums.robustAbsolutes += isInside(key) ? fabs(deviation) : 0.0;
    });
  }
  __device__ double
  ToIntensity(std::uint32_t key) const
  {
    return static_cast<double>(m_Minimum + static_cast<int>(key));
  }

private:
  const FirstOrderTask & m_Task;
  const int              m_Minimum;
};

/** A tile of floats, or of doubles that are floats, a voxel per word. */
class FloatTile
{
public:
  using Value = float;
  static constexpr int           windowsPerWord = 1;
  static constexpr std::uint32_t absentValue = 0x7fffffff; // NaN
  static constexpr std::uint32_t absentKey = 0xffffffff;
  static constexpr std::uint32_t maxKey = 0xff800000; // infinity

  __device__
  FloatTile(const FirstOrderTask & task, const CudaIntensityRange *)
    : m_Task(task)
  {}

  static __device__ bool
  IsFor(const CudaIntensityRange * range)
  {
    return range == nullptr || (!range->AreKeys() && range->AreFloats());
  }
  template <typename T>
  __device__ std::uint32_t
             MakeValue(T intensity) const
  {
    return intensity == intensity ? __float_as_uint(static_cast<float>(intensity)) : absentValue;
  }

  using Exchange = WordsExchange;
  static __device__ std::uint32_t
                    ToSort(std::uint32_t bits)
  {
    return ToOrder(bits);
  }
  static __device__ std::uint32_t
                    Key(std::uint32_t word, int)
  {
    return word;
  }

  template <typename TWindow>
  __device__ void
  Sum(const TWindow & window, float own, FirstOrderSums<double> & sums) const
  {
    StartFirstOrderSums(static_cast<double>(own), CUDART_INF, sums);
    int   voxels = 0;
    float least = CUDART_INF_F;
    float greatest = -CUDART_INF_F;
    window.ForEachValue([&](float intensity) {
      const bool   isPresent = intensity == intensity;
      const double difference = static_cast<double>(intensity) - sums.origin;
      const double shifted = static_cast<double>(intensity) + m_Task.voxelArrayShift;
      voxels += isPresent ? 1 : 0;
      sums.differences += isPresent ? difference : 0.0;
      sums.energy += isPresent ? shifted * shifted : 0.0;
      // NaN is not chosen.
      least = fminf(least, intensity);
      greatest = fmaxf(greatest, intensity);
    });
    sums.voxels = static_cast<double>(voxels);
    sums.minimum = static_cast<double>(least);
    sums.maximum = static_cast<double>(greatest);
    sums.shift = sums.differences / sums.voxels;
    if (m_Task.needsDeviations)
    {
      window.ForEachValue([&](float intensity) {
        const double deviation = (static_cast<double>(intensity) - sums.origin) - sums.shift;
        window.AddPowers(intensity == intensity ? deviation : 0.0, sums);
      });
    }
  }
  template <typename TWindow>
  __device__ void
  SumRobustly(const TWindow & window, FirstOrderSums<double> & sums) const
  {
    // Floats between the percentiles are these.
    const float first = __double2float_ru(sums.percentile10);
    const float last = __double2float_rd(sums.percentile90);
    const auto  isInside = [=](float intensity) { return intensity >= first && intensity <= last; };
    int         number = 0;
    window.ForEachValue([&](float intensity) {
      number += isInside(intensity) ? 1 : 0;
      sums.robustDifferences += isInside(intensity) ? static_cast<double>(intensity) - sums.median : 0.0;
    });
    sums.robustVoxels = static_cast<double>(number);
    sums.robustShift = sums.robustDifferences / sums.robustVoxels;
    window.ForEachValue([&](float intensity) {
      const double deviation = (static_cast<double>(intensity) - sums.median) - sums.robustShift;
      sums.robustAbsolutes += isInside(intensity) ? fabs(deviation) : 0.0;
    });
  }
  __device__ double
  ToIntensity(std::uint32_t key) const
  {
    return static_cast<double>(__uint_as_float(FromOrder(key)));
  }

private:
  const FirstOrderTask & m_Task;
};

/** The CudaIntensityRange of one intensity. */
template <typename T>
struct IntensityRangeOf
{
  const T * intensities;

  __device__ CudaIntensityRange
  operator()(std::int64_t i) const
  {
    constexpr int limit = CudaIntensityRange::limit;
    const T       intensity = intensities[i];
    if (!(intensity == intensity))
    {
      return {};
    }
    const bool isNear = intensity >= -limit && intensity <= limit;
    const int  integer = isNear ? static_cast<int>(intensity) : 0;
    return { isNear && static_cast<T>(integer) == intensity ? 0u : 1u,
             static_cast<T>(static_cast<float>(intensity)) == intensity ? 0u : 1u,
             static_cast<std::uint32_t>(limit + 1 - integer),
             static_cast<std::uint32_t>(limit + 1 + integer) };
  }
};
struct JoinIntensityRanges
{
  __device__ CudaIntensityRange
  operator()(const CudaIntensityRange & a, const CudaIntensityRange & b) const
  {
    return { a.hasOthers | b.hasOthers,
             a.hasDoubles | b.hasDoubles,
             max(a.fromMinimum, b.fromMinimum),
             max(a.fromMaximum, b.fromMaximum) };
  }
};

/** Sums over the levels of a window. */
class LevelSums
{
public:
  __device__
  LevelSums(const std::int64_t * table, int voxels)
    : m_Table(table)
    , m_Entropy(table[voxels])
  {}

  __device__ void
  AddLevel(std::uint32_t voxels)
  {
    m_Entropy -= m_Table[voxels];
    m_Squares += voxels * voxels;
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
  std::uint32_t        m_Squares{ 0 };
};

/** How the output is cut into tiles. */
struct FirstOrderLayout
{
  CudaWindowTiles            tiles;
  const CudaIntensityRange * range;
  int                        wordRows; // of the output in a tile, of words
  int                        columns;
  int                        rows;
  int                        planes;
  int                        lists;      // sorted planes
  int                        listStride; // from a key of a list to its next one
  int                        listKeys;   // 0 if there are no lists
  int                        positions;  // of a window, a multiple of voxelsAtATime
  int                        levelWords; // 0 if levels are not counted, or sorted

  FirstOrderLayout(const FirstOrderTask & task, int windowsPerWord, int theListKeys,
                   const CudaIntensityRange * theRange = nullptr)
    : tiles(task, outputRows, 1)
    , range(theRange)
    , wordRows(outputRows / windowsPerWord)
    , columns(lanesPerWarp + task.window[0] - 1)
    , rows(wordRows + task.window[1] - 1)
    , planes(task.window[2])
    , lists(columns * wordRows)
    // Lanes have neighboring lists: each has a bank for itself.
    , listStride((lists + lanesPerWarp - 1) / lanesPerWarp * lanesPerWarp)
    , listKeys(task.needsPercentiles ? theListKeys : 0)
    , positions((task.windowVoxels + voxelsAtATime - 1) / voxelsAtATime * voxelsAtATime)
    , levelWords(LevelWords(task))
  {}
  static int
  LevelWords(const FirstOrderTask & task)
  {
    const int levels = task.numberOfGrayLevels + 1;
    const int words =
      HasByteCounts(task) ? Tables::NumberOfWords<std::uint8_t>(levels) : Tables::NumberOfWords<std::uint16_t>(levels);
    // With more, blocks do not fit a multiprocessor.
    constexpr int maxWords = 96;
    return !task.needsLevelCounts || (task.windowVoxels <= maxVoxelsToSort && words > maxWords) ? 0 : words;
  }
  static VOXELMAPS_HOST_DEVICE bool
  HasByteCounts(const FirstOrderTask & task)
  {
    return task.windowVoxels <= 255;
  }
  VOXELMAPS_HOST_DEVICE int
  Words() const
  {
    return columns * rows * planes;
  }
  /** With as many absent voxels behind the tile as there are rows of words: from every window on, the position behind
   * the tile is absent. */
  VOXELMAPS_HOST_DEVICE int
  AllWords() const
  {
    return this->Words() + lists;
  }
  VOXELMAPS_HOST_DEVICE int
  Place(int x, int y, int z) const
  {
    return (z * rows + y) * columns + x;
  }
};

/** Shared memory of a block. */
struct TileMemory
{
  uint4 *         positions; // bytes from a window to its voxels
  std::int64_t *  entropyTable;
  std::uint32_t * values;
  std::uint32_t * levels;
  std::uint32_t * lists;
  std::uint32_t * levelCounts; // tables in place of the lists
  std::size_t     bytes;

  VOXELMAPS_HOST_DEVICE
  TileMemory(const FirstOrderTask & task, const FirstOrderLayout & layout, char * shared)
  {
    WorkspaceLayout workspace(shared, sizeof(std::int64_t));
    positions = workspace.Append<uint4>(layout.positions / voxelsAtATime);
    entropyTable = workspace.Append<std::int64_t>(task.needsLevelCounts ? task.windowVoxels + 1 : 0);
    values = workspace.Append<std::uint32_t>(layout.AllWords());
    levels = workspace.Append<std::uint32_t>(task.needsLevelCounts ? layout.AllWords() : 0);
    WorkspaceLayout counts = workspace;
    levelCounts = counts.Append<std::uint32_t>(std::ptrdiff_t{ layout.levelWords } * threadsPerBlock);
    lists = workspace.Append<std::uint32_t>(std::ptrdiff_t{ layout.listStride } * layout.listKeys);
    bytes = counts.Bytes() > workspace.Bytes() ? counts.Bytes() : workspace.Bytes();
  }
};

__device__ void
LoadTables(const FirstOrderTask & task, const FirstOrderLayout & layout, const TileMemory & memory)
{
  for (int v = threadIdx.x; v < layout.positions; v += threadsPerBlock)
  {
    const int row = v / task.window[0];
    const int plane = row / task.window[1];
    const int place = v < task.windowVoxels
                        ? layout.Place(v - row * task.window[0], row - plane * task.window[1], plane)
                        : layout.Words();
    reinterpret_cast<std::uint32_t *>(memory.positions)[v] = static_cast<std::uint32_t>(place) * sizeof(std::uint32_t);
  }
  for (int n = threadIdx.x; task.needsLevelCounts && n <= task.windowVoxels; n += threadsPerBlock)
  {
    memory.entropyTable[n] = task.entropyTable[n];
  }
}

/** Load a tile; start is its first output voxel. */
template <typename TTile>
__device__ void
LoadTile(const FirstOrderTask & task, const FirstOrderLayout & layout, const TTile & tile,
         const std::int64_t (&start)[3], const TileMemory & memory)
{
  const std::int64_t first[3] = { start[0] + task.outputToLevels[0] - task.anchor[0],
                                  start[1] + task.outputToLevels[1] - task.anchor[1],
                                  start[2] + task.outputToLevels[2] - task.anchor[2] };
  const int          rowsPerStep = threadsPerBlock / layout.columns;
  const int          columnsPerStep = threadsPerBlock - rowsPerStep * layout.columns;
  int                y = static_cast<int>(threadIdx.x) / layout.columns;
  int                x = static_cast<int>(threadIdx.x) - y * layout.columns;
  int                z = 0;
#pragma unroll 2
  for (int i = threadIdx.x; i < layout.AllWords(); i += threadsPerBlock)
  {
    for (; y >= layout.rows; y -= layout.rows)
    {
      ++z;
    }
    std::uint32_t values = 0;
    std::uint32_t levels = 0;
    const bool    isInside = z < layout.planes && first[0] + x >= 0 && first[0] + x < task.levelsSize[0] &&
                          first[2] + z >= 0 && first[2] + z < task.levelsSize[2];
#pragma unroll
    for (int w = 0; w < TTile::windowsPerWord; ++w)
    {
      const std::int64_t row = first[1] + y + w * warpsPerBlock;
      const bool         isVoxel = isInside && row >= 0 && row < task.levelsSize[1];
      // Loads that depend on no branch are on their way together.
      const std::int64_t  at = isVoxel ? task.LevelOffset(first[0] + x, row, first[2] + z) : 0;
      const std::uint32_t value = task.intensitiesAreDouble
                                    ? tile.MakeValue(static_cast<const double *>(task.intensities)[at])
                                    : tile.MakeValue(static_cast<const float *>(task.intensities)[at]);
      values |= (isVoxel ? value : TTile::absentValue) << (16 * w);
      if (task.needsLevelCounts)
      {
        const std::uint32_t level = task.levels[at];
        levels |= (isVoxel ? level : 0) << (16 * w);
      }
    }
    memory.values[i] = values;
    if (task.needsLevelCounts)
    {
      memory.levels[i] = levels;
    }
    y += rowsPerStep;
    x += columnsPerStep;
    if (x >= layout.columns)
    {
      x -= layout.columns;
      ++y;
    }
  }
}

__device__ std::uint32_t
           WordAt(const char * tile, std::uint32_t position)
{
  return *reinterpret_cast<const std::uint32_t *>(tile + position);
}

/** Sort the planes of a tile into lists. */
template <typename TTile, int VKeys>
__device__ void
SortPlanes(const FirstOrderTask & task, const FirstOrderLayout & layout, const TileMemory & memory)
{
  const int                   planeVoxels = task.window[1] * task.window[2];
  const std::uint32_t * const positions = reinterpret_cast<const std::uint32_t *>(memory.positions);
  for (int list = threadIdx.x; list < layout.lists; list += threadsPerBlock)
  {
    // As rows of lists are as long as those of the tile.
    const char * const tile = reinterpret_cast<const char *>(memory.values + list);
    std::uint32_t      keys[VKeys];
#pragma unroll
    for (int v = 0; v < VKeys; ++v)
    {
      keys[v] = v < planeVoxels ? TTile::ToSort(WordAt(tile, positions[v * task.window[0]])) : 0xffffffffu;
    }
    SortKeys<typename TTile::Exchange>(keys);
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
template <typename TTile, int VKeys>
class SortedPlanes
{
public:
  __device__
  SortedPlanes(const FirstOrderLayout & layout, const std::uint32_t * lists, int number, int w)
    : m_Keys(reinterpret_cast<const Key *>(lists) + (TTile::windowsPerWord > 1 ? w : 0))
    , m_Number(number)
    , m_Stride(layout.listStride * TTile::windowsPerWord)
  {}

  /** Find the keys of all ranks. */
  __device__ void
  Select(RankKeys & ranks, int w) const
  {
    std::uint32_t least = TTile::absentKey;
    std::uint32_t greatest = 0;
    int           voxels = 0;
    for (int plane = 0; plane < m_Number; ++plane)
    {
      const int count = this->CountInPlane(plane, TTile::maxKey);
      least = min(least, this->KeyAt(plane, 0));
      greatest = count > 0 ? max(greatest, this->KeyAt(plane, count - 1)) : greatest;
      voxels += count;
    }
#pragma unroll 1
    for (int rank = 0; rank < numberOfRanks; rank += 2)
    {
      const int     below = KeyNumber(rank, voxels);
      std::uint32_t key = greatest;
      int           count = voxels;
      while (least < key)
      {
        const std::uint32_t middle = least + (key - least) / 2;
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
      ranks[rank][w] = key;
      ranks[rank + 1][w] = KeyNumber(rank + 1, voxels) < count ? key : this->Next(key);
    }
  }

private:
  using Key = std::conditional_t<TTile::windowsPerWord == 1, std::uint32_t, std::uint16_t>;

  __device__ std::uint32_t
             KeyAt(int plane, int i) const
  {
    return m_Keys[i * m_Stride + plane * TTile::windowsPerWord];
  }
  /** How many keys of a plane are at most a key. */
  __device__ int
  CountInPlane(int plane, std::uint32_t key) const
  {
    return CountUpTo<VKeys>(key, [&](int i) { return this->KeyAt(plane, i); });
  }
  __device__ int
  Count(std::uint32_t key) const
  {
    int count = 0;
#pragma unroll 4
    for (int plane = 0; plane < m_Number; ++plane)
    {
      count += this->CountInPlane(plane, key);
    }
    return count;
  }
  /** The least key above another. */
  __device__ std::uint32_t
             Next(std::uint32_t key) const
  {
    std::uint32_t next = TTile::absentKey;
    for (int plane = 0; plane < m_Number; ++plane)
    {
      const int i = this->CountInPlane(plane, key);
      next = min(next, i < VKeys ? this->KeyAt(plane, i) : TTile::absentKey);
    }
    return next;
  }

  const Key * m_Keys;
  int         m_Number;
  int         m_Stride; // of keys
};

/** Number w of the keys of all ranks, from as many sorted keys as there can be. */
template <typename TTile, int VKeys, int... VRanks>
__device__ void
SelectConstants(const std::uint32_t (&keys)[VKeys], int w, RankKeys & ranks, std::integer_sequence<int, VRanks...>)
{
#pragma unroll
  for (int k = 0; k < TTile::windowsPerWord; ++k)
  {
    ((ranks[VRanks][w + k] = TTile::Key(keys[std::integral_constant<int, KeyNumber(VRanks, VKeys)>::value], k)), ...);
  }
}

/** Load the words of a window; those it has not are absent. */
template <int VKeys>
__device__ void
LoadWindow(const FirstOrderTask & task, const FirstOrderLayout & layout, const TileMemory & memory,
           const std::uint32_t * words, std::uint32_t (&keys)[VKeys])
{
  const char * const tile = reinterpret_cast<const char *>(words);
  const auto         end = static_cast<std::uint32_t>(layout.Words() * sizeof(std::uint32_t));
#pragma unroll
  for (int v = 0; v < VKeys; v += voxelsAtATime)
  {
    const uint4 at = v < task.windowVoxels ? memory.positions[v / voxelsAtATime] : make_uint4(end, end, end, end);
    const std::uint32_t positions[voxelsAtATime] = { at.x, at.y, at.z, at.w };
#pragma unroll
    for (int k = 0; k < voxelsAtATime && v + k < VKeys; ++k)
    {
      keys[v + k] = WordAt(tile, positions[k]);
    }
  }
}

/** Sort the levels of windows, where there are too many to count each. */
template <int VKeys>
__device__ __noinline__ void
SortLevels(const FirstOrderTask & task, const FirstOrderLayout & layout, const TileMemory & memory,
           const std::uint32_t * words, std::uint32_t * sorted)
{
  std::uint32_t keys[VKeys];
  LoadWindow(task, layout, memory, words, keys);
  SortHalves(keys);
#pragma unroll
  for (int v = 0; v < VKeys; ++v)
  {
    sorted[v] = keys[v];
  }
}

/** Sort windows in registers, those of the words that begin here: number w, or both. Find the keys of all ranks. */
template <typename TTile, int VKeys>
__device__ void
SelectFromRegisters(const FirstOrderTask & task, const FirstOrderLayout & layout, const TileMemory & memory,
                    const std::uint32_t * words, int w, RankKeys & ranks)
{
  std::uint32_t keys[VKeys];
  LoadWindow(task, layout, memory, words, keys);
#pragma unroll
  for (int v = 0; v < VKeys; ++v)
  {
    keys[v] = TTile::ToSort(keys[v]);
  }
  SortKeys<typename TTile::Exchange>(keys);
  bool isFull = true;
#pragma unroll
  for (int k = 0; k < TTile::windowsPerWord; ++k)
  {
    isFull = isFull && TTile::Key(keys[VKeys - 1], k) != TTile::absentKey;
  }
  if (isFull)
  {
    // As nearly all windows of usual sizes are: all numbers are constants.
    SelectConstants<TTile>(keys, w, ranks, std::make_integer_sequence<int, numberOfRanks>());
    return;
  }
  std::uint32_t sorted[VKeys];
#pragma unroll
  for (int v = 0; v < VKeys; ++v)
  {
    sorted[v] = keys[v];
  }
#pragma unroll
  for (int k = 0; k < TTile::windowsPerWord; ++k)
  {
    const auto at = [&](int i) { return TTile::Key(sorted[i], k); };
    const int  voxels = CountUpTo<VKeys>(TTile::maxKey, at);
#pragma unroll 1
    for (int rank = 0; rank < numberOfRanks; ++rank)
    {
      ranks[rank][w + k] = at(KeyNumber(rank, voxels));
    }
  }
}

/** One of the windows of a thread. */
template <typename TTile>
class TileWindow
{
public:
  __device__
  TileWindow(const FirstOrderLayout & layout, const TileMemory & memory, int lane, int warp, int w)
    : m_Layout(layout)
    , m_Memory(memory)
    , m_Offset(sizeof(std::uint32_t) * Place(layout, lane, warp, w) +
               (TTile::windowsPerWord > 1 ? sizeof(std::uint16_t) * w : 0))
    , m_Values(reinterpret_cast<const char *>(memory.values) + m_Offset)
  {}

  /** The first word. */
  static __device__ int
  Place(const FirstOrderLayout & layout, int lane, int warp, int w)
  {
    return layout.Place(lane, TTile::windowsPerWord > 1 ? warp : warp + w * warpsPerBlock, 0);
  }
  __device__ typename TTile::Value
  Value(int place) const
  {
    return *reinterpret_cast<const typename TTile::Value *>(m_Values + place * sizeof(std::uint32_t));
  }
  /** Call f(value) for the voxels of the window, in the order of the sums; values may be absent. */
  template <typename TFunction>
  __device__ void
  ForEachValue(const TFunction & f) const
  {
    this->ForEachVoxel<typename TTile::Value>(m_Values, [&](const auto & values) {
#pragma unroll
      for (int k = 0; k < voxelsAtATime; ++k)
      {
        f(values[k]);
      }
    });
  }
  static __device__ void
  AddPowers(double deviation, FirstOrderSums<double> & sums)
  {
    const double square = deviation * deviation;
    sums.absolutes += fabs(deviation);
    sums.squares += square;
    sums.cubes += square * deviation;
    sums.fourths += square * square;
  }

  /** Count the levels in a table. */
  template <typename TCount>
  __device__ void
  CountLevels(FirstOrderSums<double> & sums) const
  {
    constexpr int           bits = 8 * sizeof(TCount);
    constexpr std::uint32_t mask = (std::uint64_t{ 1 } << bits) - 1;
    char * const            counts = Tables::ThreadTable(reinterpret_cast<char *>(m_Memory.levelCounts), 0);
    Tables::Clear(counts, m_Layout.levelWords);
    this->ForEachVoxel<std::uint16_t>(reinterpret_cast<const char *>(m_Memory.levels) + m_Offset,
                                      [&](const auto & levels) {
#pragma unroll
                                        for (int k = 0; k < voxelsAtATime; ++k)
                                        {
                                          ++Tables::At<TCount>(counts, Tables::Offset<TCount>(levels[k]));
                                        }
                                      });
    LevelSums levelSums(m_Memory.entropyTable, static_cast<int>(sums.voxels));
    for (int i = 0; i < m_Layout.levelWords; ++i)
    {
      // Level 0 marks absent voxels.
      std::uint32_t word = Tables::At<std::uint32_t>(counts, i * Tables::wordStride) & (i == 0 ? ~mask : ~0u);
      for (; word != 0; word >>= bits)
      {
        levelSums.AddLevel(word & mask);
      }
    }
    levelSums.Store(sums);
  }
  /** The same from so many sorted levels. */
  __device__ void
  CountSortedLevels(const std::uint32_t * sorted, int number, int w, FirstOrderSums<double> & sums) const
  {
    LevelSums     levelSums(m_Memory.entropyTable, static_cast<int>(sums.voxels));
    std::uint32_t level = 0;
    std::uint32_t voxels = 0;
    for (int i = 0; i < number; ++i)
    {
      const std::uint32_t next = IntegerTile::Key(sorted[i], w % TTile::windowsPerWord);
      if (next != level)
      {
        levelSums.AddLevel(voxels);
        level = next;
        voxels = 0;
      }
      voxels += level != 0 ? 1 : 0;
    }
    levelSums.AddLevel(voxels);
    levelSums.Store(sums);
  }

private:
  /** Call f(values) for so many voxels at a time. */
  template <typename T, typename TFunction>
  __device__ void
  ForEachVoxel(const char * values, const TFunction & f) const
  {
    const auto at = [=](std::uint32_t position) { return *reinterpret_cast<const T *>(values + position); };
    for (int v = 0; v < m_Layout.positions; v += voxelsAtATime)
    {
      const uint4 positions = m_Memory.positions[v / voxelsAtATime];
      const T     loaded[voxelsAtATime] = { at(positions.x), at(positions.y), at(positions.z), at(positions.w) };
      f(loaded);
    }
  }

  const FirstOrderLayout & m_Layout;
  const TileMemory &       m_Memory;
  const unsigned int       m_Offset;
  const char *             m_Values;
};

/** The body of the kernel. VKeys keys are sorted at a time: all of a window, or those of a plane of it. */
template <typename TTile, int VKeys, bool VPlanes>
struct TilesBody
{
  using Task = FirstOrderTask;
  using Layout = FirstOrderLayout;
  using Window = TileWindow<TTile>;
  static constexpr int minBlocks = 3; // for 168 registers per thread

  const Task &   task;
  const Layout & layout;

  __device__ void
  Compute(const std::int64_t (&start)[3]) const
  {
    if (!TTile::IsFor(layout.range))
    {
      return;
    }
    const TileMemory     memory(task, layout, SharedMemory());
    const int            lane = threadIdx.x % lanesPerWarp;
    const int            warp = threadIdx.x / lanesPerWarp;
    const CudaTileWindow windows[windowsPerThread] = { { task, start, lane, warp, 0 },
                                                       { task, start, lane, warp + warpsPerBlock, 0 } };
#pragma unroll
    for (const CudaTileWindow & window : windows)
    {
      if (window.isOutput && !window.isComputed)
      {
        StoreBackground(task, window.output);
      }
    }
    if (__syncthreads_or(windows[0].isComputed || windows[1].isComputed ? 1 : 0) == 0)
    {
      return;
    }
    const TTile tile(task, layout.range);
    LoadTables(task, layout, memory);
    LoadTile(task, layout, tile, start, memory);
    __syncthreads();

    RankKeys ranks;
    if (VPlanes && task.needsPercentiles)
    {
      if constexpr (VPlanes)
      {
        SortPlanes<TTile, VKeys>(task, layout, memory);
        __syncthreads();
#pragma unroll 1
        for (int w = 0; w < windowsPerThread; ++w)
        {
          if (w == 0 ? windows[0].isComputed : windows[1].isComputed)
          {
            const std::uint32_t * const lists = memory.lists + Window::Place(layout, lane, warp, w);
            SortedPlanes<TTile, VKeys>(layout, lists, task.window[0], w).Select(ranks, w);
          }
        }
        // Levels are counted where the lists are.
        __syncthreads();
      }
    }
    std::uint32_t sortedLevels[VPlanes ? 1 : VKeys];
#pragma unroll 1
    for (int w = 0; w < windowsPerThread; ++w)
    {
      if constexpr (!VPlanes)
      {
        const int place = Window::Place(layout, lane, warp, w);
        if (task.needsPercentiles && w % TTile::windowsPerWord == 0)
        {
          SelectFromRegisters<TTile, VKeys>(task, layout, memory, memory.values + place, w, ranks);
        }
        if (task.needsLevelCounts && layout.levelWords == 0 && w % TTile::windowsPerWord == 0)
        {
          SortLevels<VKeys>(task, layout, memory, memory.levels + place, sortedLevels);
        }
      }
      if (w == 0 ? windows[0].isComputed : windows[1].isComputed)
      {
        const Window           window(layout, memory, lane, warp, w);
        FirstOrderSums<double> sums;
        tile.Sum(window, window.Value(layout.Place(task.anchor[0], task.anchor[1], task.anchor[2])), sums);
        if (task.needsPercentiles)
        {
          SetPercentiles(
            [&](int rank) { return tile.ToIntensity(ranks[rank][w]); }, static_cast<int>(sums.voxels), sums);
          if (task.needsRobustDeviations)
          {
            tile.SumRobustly(window, sums);
          }
        }
        if (task.needsLevelCounts && layout.levelWords == 0)
        {
          window.CountSortedLevels(sortedLevels, VPlanes ? 0 : VKeys, w, sums);
        }
        else if (task.needsLevelCounts)
        {
          FirstOrderLayout::HasByteCounts(task) ? window.template CountLevels<std::uint8_t>(sums)
                                                : window.template CountLevels<std::uint16_t>(sums);
        }
        StoreFirstOrderFeatures(task, w == 0 ? windows[0].output : windows[1].output, sums);
      }
    }
  }
};

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

template <typename TTile, int VKeys, bool VPlanes>
void
Launch(const FirstOrderTask & task, const CudaIntensityRange * range, const CudaMethodResources & resources)
{
  const FirstOrderLayout layout(task, TTile::windowsPerWord, VPlanes ? VKeys : 0, range);
  constexpr std::int64_t partVoxels = std::int64_t{ 1 } << 24;
  LaunchWindowTiles<TilesBody<TTile, VKeys, VPlanes>>(task,
                                                      layout,
                                                      TileMemory(task, layout, nullptr).bytes,
                                                      partVoxels / task.windowVoxels + 1,
                                                      resources,
                                                      "starting the kernel of tiles");
}

template <typename TTile>
void
Launch(const FirstOrderTask & task, const CudaIntensityRange * range, const CudaMethodResources & resources)
{
  const int  keys = ListKeys(task);
  const auto launch = task.windowVoxels <= 27   ? Launch<TTile, 27, false>
                      : task.windowVoxels <= 64 ? Launch<TTile, 64, false>
                      : keys == 0               ? Launch<TTile, maxVoxelsToSort, false>
                      : keys == 25              ? Launch<TTile, 25, true>
                      : keys == 49              ? Launch<TTile, 49, true>
                      : keys == 81              ? Launch<TTile, 81, true>
                                                : Launch<TTile, maxPlaneVoxels, true>;
  launch(task, range, resources);
}

template <typename TTile>
bool
FitsTiles(const FirstOrderTask & task)
{
  const FirstOrderLayout layout(task, TTile::windowsPerWord, ListKeys(task));
  return task.windowVoxels <= maxVoxels &&
         (task.windowVoxels <= maxVoxelsToSort || task.window[1] * task.window[2] <= maxPlaneVoxels) &&
         TileMemory(task, layout, nullptr).bytes <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}
} // namespace

bool
CudaFirstOrderTilesSupports(const FirstOrderTask & task)
{
  return !task.intensitiesAreDouble && FitsTiles<FloatTile>(task);
}

const CudaIntensityRange *
ComputeByCudaFirstOrderTiles(const FirstOrderTask & task, const CudaMethodResources & resources)
{
  const bool hasIntegerTiles = std::abs(task.voxelArrayShift) <= CudaIntensityRange::limit &&
                               std::trunc(task.voxelArrayShift) == task.voxelArrayShift && FitsTiles<IntegerTile>(task);
  const bool           hasFloatTiles = FitsTiles<FloatTile>(task);
  CudaIntensityRange * range = nullptr;
  if (hasIntegerTiles || (hasFloatTiles && task.intensitiesAreDouble))
  {
    const auto voxels = static_cast<std::int64_t>(NumberOfVoxels(task.levelsSize));
    range = static_cast<CudaIntensityRange *>(resources.scratch);
    const CudaIntensityRange initial{ hasIntegerTiles ? 0u : 1u, hasFloatTiles ? 0u : 1u, 0, 0 };
    const auto               find = [&](const auto & rangeOf) {
      ReduceOnDevice(voxels, rangeOf, JoinIntensityRanges(), initial, range, resources.stream);
    };
    task.intensitiesAreDouble ? find(IntensityRangeOf<double>{ static_cast<const double *>(task.intensities) })
                              : find(IntensityRangeOf<float>{ static_cast<const float *>(task.intensities) });
  }
  if (hasIntegerTiles)
  {
    Launch<IntegerTile>(task, range, resources);
  }
  if (hasFloatTiles)
  {
    Launch<FloatTile>(task, range, resources);
  }
  return range;
}
} // namespace voxelmaps
