// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by FirstOrderTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "FirstOrderTile.h"
#include "firstorder/FirstOrderFormulas.h"
#include "window/cpu/Simd.h"
#include "window/WindowBox.h"

#include <limits>

/* An element of a vector is a window; the windows of a vector are neighbors along x. */
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M), which sorts numbers
 * 0 ... size - 1 by exchange(i, j) with i < j, which must leave the lesser of the numbers i and j at i. Exchanges do
 * not depend on the numbers, so many windows are sorted at a time. */
template <typename TExchange>
inline void
SortByMergeExchange(int size, const TExchange & exchange)
{
  int most = 1;
  while (2 * most < size)
  {
    most *= 2;
  }
  for (int p = most; p > 0; p /= 2)
  {
    int r = 0;
    int d = p;
    for (int q = most;; q /= 2)
    {
      // All i < size - d with (i & p) == r.
      for (int block = r; block < size - d; block += 2 * p)
      {
        const int end = block + p < size - d ? block + p : size - d;
        for (int i = block; i < end; ++i)
        {
          exchange(i, i + d);
        }
      }
      if (q == p)
      {
        break;
      }
      d = q - p;
      r = p;
    }
  }
}
/** A vector of intensities, of one or two vectors of doubles. */
template <typename T>
struct Intensities;

template <>
struct Intensities<double>
{
  using Vector = Real;
  using Half = Real;
  static constexpr int halves = 1;
};

template <>
struct Intensities<float>
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  using Vector = float __attribute__((vector_size(8 * simdWidth)));
  using Half = float __attribute__((vector_size(4 * simdWidth)));
  static constexpr int halves = 2;
#else
  using Vector = float;
  using Half = float;
  static constexpr int halves = 1;
#endif
};

inline Real
WidenIntensities(Real value)
{
  return value;
}
#if defined(VOXELMAPS_VECTOR_TYPES)
inline Real
WidenIntensities(Intensities<float>::Half value)
{
  return __builtin_convertvector(value, Real);
}
#else
inline Real
WidenIntensities(float value)
{
  return static_cast<double>(value);
}
#endif

struct RealRoot
{
  static inline Real
  Of(Real value)
  {
#if defined(VOXELMAPS_VECTOR_TYPES)
    for (int i = 0; i < simdWidth; ++i)
    {
      value[i] = std::sqrt(value[i]);
    }
    return value;
#else
    return std::sqrt(value);
#endif
  }
};

/** Computes a tile of a job with intensities of type T. */
template <typename T>
class FirstOrderTileComputer
{
public:
  FirstOrderTileComputer(const FirstOrderTask & task, const KernelTile & tile, void * workspace)
    : m_Task(task)
    , m_Tile(tile)
    , m_Shape(task, tile.size)
    , m_Memory(task, m_Shape, workspace)
    , m_Intensities(static_cast<T *>(m_Memory.intensities))
  {}

  void
  Compute()
  {
    this->LoadInput();
    for (int z = 0; z < m_Tile.size[2]; ++z)
    {
      for (int y = 0; y < m_Tile.size[1]; ++y)
      {
        m_Tile.checkAbort(m_Tile.execution);
        this->ComputeRow(y, z);
      }
    }
  }

private:
  using Vector = typename Intensities<T>::Vector;
  static constexpr int halves = Intensities<T>::halves;
  static constexpr int width = halves * simdWidth; // windows of a vector
  static_assert(blockVoxels % width == 0, "rows are whole vectors");
  static_assert(sizeof(Vector) <= vectorBytes, "the memory for sorting is enough");

  /** Absent voxels have no level, and NaN. */
  void
  LoadInput()
  {
    for (std::ptrdiff_t i = 0; i < m_Shape.inputVoxels; ++i)
    {
      m_Intensities[i] = std::numeric_limits<T>::quiet_NaN();
      m_Memory.levels[i] = 0;
    }
    CopyInput(m_Task, m_Tile, static_cast<const T *>(m_Task.intensities), m_Shape, m_Intensities);
    CopyInput(m_Task, m_Tile, m_Task.levels, m_Shape, m_Memory.levels);
  }

  void
  ComputeRow(int y, int z)
  {
    if (m_Task.needsLevelCounts)
    {
      this->CountLevels(y, z);
    }
    const std::uint16_t * const own = m_Memory.levels + this->OwnVoxel(0, y, z);
    for (int x = 0; x < m_Tile.size[0]; x += width)
    {
      bool isComputed[width];
      bool isAny = false;
      for (int i = 0; i < width; ++i)
      {
        isComputed[i] =
          x + i < m_Tile.size[0] && own[x + i] != 0 && m_Task.IsSelected(OutputVoxel(m_Task, m_Tile, x + i, y, z));
        isAny = isAny || isComputed[i];
      }
      double values[FirstOrderTask::maxFeatures][width];
      if (isAny)
      {
        this->ComputeVector(x, y, z, isComputed, values);
      }
      for (int i = 0; i < width && x + i < m_Tile.size[0]; ++i)
      {
        const std::int64_t out = OutputVoxel(m_Task, m_Tile, x + i, y, z) * m_Task.voxelStride;
        for (int f = 0; f < m_Task.numberOfFeatures; ++f)
        {
          StoreComponentOrNaN(m_Task, out, f, isComputed[i] ? values[f][i] : m_Task.backgroundValue);
        }
      }
    }
  }

  /** From the least corner of a window to the voxel that it belongs to. */
  std::ptrdiff_t
  OwnVoxel(int x, int y, int z) const
  {
    return m_Shape.InputOffset(x + m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2]);
  }

  /** Sums over the levels of all windows of a row: n + 1 voxels of a level after n add t(n + 1) - t(n), (n + 1)^2 -
   * n^2. */
  void
  CountLevels(int y, int z)
  {
    std::memset(m_Memory.counts, 0, (static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1) * sizeof(std::uint32_t));
    std::int64_t          entropy = 0;
    std::uint64_t         squares = 0;
    std::uint32_t * const counts = m_Memory.counts;
    const auto            forEachInColumn = [&](int x, const auto & visit) {
      for (int wz = 0; wz < m_Task.window[2]; ++wz)
      {
        const std::uint16_t * level = m_Memory.levels + m_Shape.InputOffset(x, y, z + wz);
        for (int wy = 0; wy < m_Task.window[1]; ++wy, level += m_Shape.ex)
        {
          if (*level != 0)
          {
            visit(counts[*level]);
          }
        }
      }
    };
    const auto add = [&](std::uint32_t & count) {
      entropy += m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
      squares += 2 * std::uint64_t{ count } + 1;
      ++count;
    };
    const auto remove = [&](std::uint32_t & count) {
      --count;
      entropy -= m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
      squares -= 2 * std::uint64_t{ count } + 1;
    };
    for (int x = 0; x < m_Task.window[0] - 1; ++x)
    {
      forEachInColumn(x, add);
    }
    for (int x = 0; x < m_Tile.size[0]; ++x)
    {
      forEachInColumn(x + m_Task.window[0] - 1, add);
      m_Memory.levelEntropies[x] = entropy;
      m_Memory.levelSquares[x] = squares;
      forEachInColumn(x, remove);
    }
  }

  /** Call f(intensities of the voxel in all windows of a vector), in the order of the sums. */
  template <typename TFunction>
  void
  ForEachVoxel(int x, int y, int z, const TFunction & f) const
  {
    for (int wz = 0; wz < m_Task.window[2]; ++wz)
    {
      for (int wy = 0; wy < m_Task.window[1]; ++wy)
      {
        const T * const row = m_Intensities + m_Shape.InputOffset(x, y + wy, z + wz);
        for (int wx = 0; wx < m_Task.window[0]; ++wx)
        {
          f(row + wx);
        }
      }
    }
  }

  static Real
  LoadHalf(const T * intensities, int half)
  {
    return WidenIntensities(Load<typename Intensities<T>::Half>(intensities + half * simdWidth));
  }

  void
  ComputeVector(int x, int y, int z, const bool (&isComputed)[width],
                double (&values)[FirstOrderTask::maxFeatures][width])
  {
    FirstOrderSums<Real> sums[halves];
    for (int h = 0; h < halves; ++h)
    {
      StartFirstOrderSums(
        LoadHalf(m_Intensities + this->OwnVoxel(x, y, z), h), std::numeric_limits<double>::infinity(), sums[h]);
    }
    this->ForEachVoxel(x, y, z, [&](const T * intensities) {
      for (int h = 0; h < halves; ++h)
      {
        AddIntensity(LoadHalf(intensities, h), m_Task.voxelArrayShift, sums[h]);
      }
    });
    for (int h = 0; h < halves; ++h)
    {
      sums[h].shift = sums[h].differences / sums[h].voxels;
    }
    if (m_Task.needsDeviations)
    {
      this->ForEachVoxel(x, y, z, [&](const T * intensities) {
        for (int h = 0; h < halves; ++h)
        {
          AddDeviation(LoadHalf(intensities, h), sums[h]);
        }
      });
    }
    if (m_Task.needsPercentiles)
    {
      this->FindPercentiles(x, y, z, isComputed, sums);
    }
    if (m_Task.needsRobustDeviations)
    {
      this->ForEachVoxel(x, y, z, [&](const T * intensities) {
        for (int h = 0; h < halves; ++h)
        {
          AddRobustIntensity(LoadHalf(intensities, h), sums[h]);
        }
      });
      for (int h = 0; h < halves; ++h)
      {
        sums[h].robustShift = sums[h].robustDifferences / sums[h].robustVoxels;
      }
      this->ForEachVoxel(x, y, z, [&](const T * intensities) {
        for (int h = 0; h < halves; ++h)
        {
          AddRobustDeviation(LoadHalf(intensities, h), sums[h]);
        }
      });
    }
    if (m_Task.needsLevelCounts)
    {
      this->FinishLevels(x, isComputed, sums);
    }
    for (int f = 0; f < m_Task.numberOfFeatures; ++f)
    {
      for (int h = 0; h < halves; ++h)
      {
        const Real value =
          FirstOrderFeatureValue<Real, RealRoot>(m_Task.features[f], sums[h], m_Task.voxelVolume, m_Task.entropyScale);
        std::memcpy(values[f] + h * simdWidth, &value, sizeof(value));
      }
    }
  }

  /** A number of each window of a vector, as an array: vectors are slow to write element by element. */
  using Elements = double[width];

  static void
  GetElements(const FirstOrderSums<Real> (&sums)[halves], Real FirstOrderSums<Real>::* member, Elements & elements)
  {
    for (int h = 0; h < halves; ++h)
    {
      std::memcpy(elements + h * simdWidth, &(sums[h].*member), sizeof(Real));
    }
  }
  static void
  SetElements(const Elements & elements, Real FirstOrderSums<Real>::* member, FirstOrderSums<Real> (&sums)[halves])
  {
    for (int h = 0; h < halves; ++h)
    {
      std::memcpy(&(sums[h].*member), elements + h * simdWidth, sizeof(Real));
    }
  }

  void
  FinishLevels(int x, const bool (&isComputed)[width], FirstOrderSums<Real> (&sums)[halves]) const
  {
    Elements voxels;
    Elements entropy{};
    Elements squares{};
    GetElements(sums, &FirstOrderSums<Real>::voxels, voxels);
    for (int i = 0; i < width; ++i)
    {
      if (isComputed[i])
      {
        entropy[i] =
          static_cast<double>(m_Task.entropyTable[static_cast<int>(voxels[i])] - m_Memory.levelEntropies[x + i]);
        squares[i] = static_cast<double>(m_Memory.levelSquares[x + i]);
      }
    }
    SetElements(entropy, &FirstOrderSums<Real>::entropy, sums);
    SetElements(squares, &FirstOrderSums<Real>::levelSquares, sums);
  }

  /** Sort the intensities of the windows of a vector. */
  void
  FindPercentiles(int x, int y, int z, const bool (&isComputed)[width], FirstOrderSums<Real> (&sums)[halves])
  {
    auto * const sorted = static_cast<Vector *>(m_Memory.sorted);
    Vector *     next = sorted;
    this->ForEachVoxel(x, y, z, [&](const T * intensities) {
      // Absent voxels come last.
      const Vector value = Load<Vector>(intensities);
      const Vector last = Vector{} + std::numeric_limits<T>::infinity();
      *next++ = value == value ? value : last;
    });
    SortByMergeExchange(m_Task.windowVoxels, [sorted](int i, int j) {
      const Vector a = sorted[i];
      const Vector b = sorted[j];
      sorted[i] = a < b ? a : b;
      sorted[j] = a < b ? b : a;
    });
    const T * const numbers = static_cast<const T *>(m_Memory.sorted);
    Elements        voxels;
    Elements        percentiles[5]{};
    GetElements(sums, &FirstOrderSums<Real>::voxels, voxels);
    for (int i = 0; i < width; ++i)
    {
      if (isComputed[i])
      {
        const auto n = static_cast<int>(voxels[i]);
        const auto at = [=](int k) { return static_cast<double>(numbers[std::ptrdiff_t{ k } * width + i]); };
        percentiles[0][i] = Percentile(at, n, 0.1);
        percentiles[1][i] = Percentile(at, n, 0.25);
        percentiles[2][i] = ComputeMedian(at, n);
        percentiles[3][i] = Percentile(at, n, 0.75);
        percentiles[4][i] = Percentile(at, n, 0.9);
      }
    }
    SetElements(percentiles[0], &FirstOrderSums<Real>::percentile10, sums);
    SetElements(percentiles[1], &FirstOrderSums<Real>::percentile25, sums);
    SetElements(percentiles[2], &FirstOrderSums<Real>::median, sums);
    SetElements(percentiles[3], &FirstOrderSums<Real>::percentile75, sums);
    SetElements(percentiles[4], &FirstOrderSums<Real>::percentile90, sums);
  }

  const FirstOrderTask &     m_Task;
  const KernelTile &         m_Tile;
  const TileShape            m_Shape;
  const FirstOrderTileMemory m_Memory;
  T * const                  m_Intensities;
};
} // namespace

void
ComputeFirstOrderTile(const FirstOrderTask & task, const KernelTile & tile, void * workspace)
{
  if (task.intensitiesAreDouble)
  {
    FirstOrderTileComputer<double>(task, tile, workspace).Compute();
  }
  else
  {
    FirstOrderTileComputer<float>(task, tile, workspace).Compute();
  }
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
