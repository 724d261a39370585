// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by GrayToneDifferenceTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "GrayToneDifferenceTile.h"
#include "window/cpu/Simd.h"
#include "window/WindowBox.h"

/* What a voxel adds to its window depends on its neighbors in the window, so on the faces of the window it is on: its
 * class of positions, one of up to 27. The terms of all voxels and classes are computed once, in vectors of voxels, and
 * each window adds up the terms of its voxels by level. Vectors of the pairs of levels have one level i per element:
 * each element adds up its row of Complexity in the order of its definition. */
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** Numbers of a table of doubles, at the indices that the elements of a vector have. */
inline Real
Gather(const double * table, Bits32 indices)
{
  // The unmasked forms trip a false warning of GCC 12.
#if defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX512F__)
  return reinterpret_cast<Real>(
    _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, reinterpret_cast<__m256i>(indices), table, 8));
#elif defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX2__)
  const __m256d all = reinterpret_cast<__m256d>(Bits64{} - 1);
  return reinterpret_cast<Real>(
    _mm256_mask_i32gather_pd(_mm256_setzero_pd(), table, reinterpret_cast<__m128i>(indices), all, 8));
#elif defined(VOXELMAPS_VECTOR_TYPES)
  return Real{ table[indices[0]], table[indices[1]] };
#else
  return table[indices];
#endif
}

/** The bits of integers below 2^52 that are held in doubles. */
inline Bits64
ToBits64(Real value)
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  // The sum has the integer in its lower bits.
  return reinterpret_cast<Bits64>(value + 4503599627370496.0) & 0xfffffffffffffu;
#else
  return static_cast<std::uint64_t>(value);
#endif
}

inline Bits32
ToBits32(Bits64 value)
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  return __builtin_convertvector(value, Bits32);
#else
  return static_cast<std::uint32_t>(value);
#endif
}

/** The value where an element is below a limit, else 0. */
inline Real
Where(Real numbers, double limit, Real value)
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  return reinterpret_cast<Real>(reinterpret_cast<Bits64>(numbers < limit) & reinterpret_cast<Bits64>(value));
#else
  return numbers < limit ? value : 0.0;
#endif
}

inline Real
AbsoluteValue(Real value)
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  return reinterpret_cast<Real>(reinterpret_cast<Bits64>(value) & 0x7fffffffffffffffu);
#else
  return value < 0.0 ? -value : value;
#endif
}

template <typename TPack, typename T>
inline void
Store(const TPack & pack, T * memory)
{
  std::memcpy(memory, &pack, sizeof(TPack));
}

/** Sum of integers, whose order does not matter. */
template <typename T, typename TPack>
inline T
ElementSum(const TPack & pack)
{
  T elements[simdWidth];
  std::memcpy(elements, &pack, sizeof(pack));
  T sum = 0;
  for (const T element : elements)
  {
    sum += element;
  }
  return sum;
}

/** Computes a tile. */
class GrayToneDifferenceTileComputer
{
public:
  GrayToneDifferenceTileComputer(const GrayToneDifferenceTask & task, const KernelTile & tile, void * workspace)
    : m_Task(task)
    , m_Tile(tile)
    , m_Memory(task, tile.size, workspace)
    , m_Slides(m_Memory.classes[0].number != 2 && task.window[0] >= minSlidingSize)
  {
    for (int voxels = 0; voxels < maxNeighbors + 2; ++voxels)
    {
      // Exact, as weights are below 2^53.
      const bool hasWeight = voxels > 0 && voxels <= 2 * task.numberOfOffsets + 1;
      m_Weights[voxels] = hasWeight ? static_cast<double>(task.weights[voxels - 1]) : 0.0;
    }
    m_Memory.reciprocals[0] = 0.0;
    for (int n = 1; n <= task.windowVoxels; ++n)
    {
      m_Memory.reciprocals[n] = 1.0 / n;
    }
    for (int lane = 0; lane < simdWidth; ++lane)
    {
      m_Numbers[lane] = lane;
    }
  }

  void
  Compute()
  {
    std::memset(m_Memory.levels,
                0,
                static_cast<std::size_t>(m_Memory.LevelOffset(-1, -1, m_Memory.planes)) * sizeof(std::uint16_t));
    CopyInput(m_Task, m_Tile, m_Task.levels, m_Memory.pitch, -1, m_Memory.rows + 1, m_Memory.planes, [&](int y, int z) {
      return m_Memory.levels + m_Memory.LevelOffset(0, y, z);
    });
    const PositionClasses & classes = m_Memory.classes[2];
    int                     summed = 0;
    int                     ready[maxClasses] = { classes.first[0], classes.first[1], classes.first[2] };
    for (int z = 0; z < m_Tile.size[2]; ++z)
    {
      m_Tile.checkAbort(m_Tile.execution);
      for (; summed < z + m_Task.window[2]; ++summed)
      {
        this->SumPlane(summed);
      }
      for (int c = 0; c < classes.number; ++c)
      {
        for (; ready[c] < z + classes.first[c] + classes.positions[c]; ++ready[c])
        {
          this->MakeTerms(c, ready[c]);
        }
      }
      for (int y = 0; y < m_Tile.size[1]; ++y)
      {
        this->ComputeRow(y, z);
      }
    }
  }

private:
  static constexpr int maxNeighbors = 26;
  // Four columns of a window that slides take less time than all columns of larger windows.
  static constexpr int minSlidingSize = 6;

  /** Levels and number of the neighbors along x and y of all voxels of a plane, themselves among them. */
  void
  SumPlane(int z)
  {
    constexpr std::uint32_t one = std::uint32_t{ 1 } << GrayToneDifferenceTileMemory::sumBits;
    const int               pitch = m_Memory.pitch;
    const int               classesX = m_Memory.classes[0].number;
    for (int y = -1; y <= m_Memory.rows; ++y)
    {
      const std::uint16_t * const levels = m_Memory.levels + m_Memory.LevelOffset(0, y, z);
      for (int c = 0; c < classesX; ++c)
      {
        std::uint32_t * const sums = this->RowSums(y, c);
        const bool            before = m_Memory.classes[0].before[c] != 0;
        const bool            after = m_Memory.classes[0].after[c] != 0;
        const auto getValue = [](std::uint16_t level) { return std::uint32_t{ level } + (level != 0 ? one : 0u); };
        for (int x = 0; x < pitch; ++x)
        {
          sums[x] =
            getValue(levels[x]) + (before ? getValue(levels[x - 1]) : 0u) + (after ? getValue(levels[x + 1]) : 0u);
        }
      }
    }
    for (int b = 0; b < m_Memory.classes[1].number; ++b)
    {
      const bool before = m_Memory.classes[1].before[b] != 0;
      const bool after = m_Memory.classes[1].after[b] != 0;
      for (int c = 0; c < classesX; ++c)
      {
        std::uint32_t * to = m_Memory.PlaneSums(z, m_Task.window[2], b, c);
        for (int y = 0; y < m_Memory.rows; ++y, to += pitch)
        {
          const std::uint32_t * const own = this->RowSums(y, c);
          const std::uint32_t * const previous = this->RowSums(y - 1, c);
          const std::uint32_t * const next = this->RowSums(y + 1, c);
          for (int x = 0; x < pitch; ++x)
          {
            to[x] = own[x] + (before ? previous[x] : 0u) + (after ? next[x] : 0u);
          }
        }
      }
    }
  }

  std::uint32_t *
  RowSums(int y, int c) const
  {
    return m_Memory.rowSums + (std::ptrdiff_t{ y + 1 } * m_Memory.classes[0].number + c) * m_Memory.pitch;
  }

  /** The terms of all voxels of a plane of the input in one class along z. */
  void
  MakeTerms(int classZ, int z)
  {
    const bool before = m_Memory.classes[2].before[classZ] != 0;
    const bool after = m_Memory.classes[2].after[classZ] != 0;
    for (int b = 0; b < m_Memory.classes[1].number; ++b)
    {
      for (int c = 0; c < m_Memory.classes[0].number; ++c)
      {
        const std::uint32_t * const own = m_Memory.PlaneSums(z, m_Task.window[2], b, c);
        const std::uint32_t * const previous = before ? m_Memory.PlaneSums(z - 1, m_Task.window[2], b, c) : own;
        const std::uint32_t * const next = after ? m_Memory.PlaneSums(z + 1, m_Task.window[2], b, c) : own;
        std::uint64_t * const       to = m_Memory.Terms(classZ, z, b, c);
        for (int y = 0; y < m_Memory.rows; ++y)
        {
          const std::uint16_t * const levels = m_Memory.levels + m_Memory.LevelOffset(0, y, z);
          const std::ptrdiff_t        row = std::ptrdiff_t{ y } * m_Memory.pitch;
          for (int x = 0; x < m_Memory.pitch; x += simdWidth)
          {
            Bits32 sums = Load<Bits32>(own + row + x);
            sums += before ? Load<Bits32>(previous + row + x) : Bits32{};
            sums += after ? Load<Bits32>(next + row + x) : Bits32{};
            Store(this->LevelTerms(sums, Load<Bits16>(levels + x)), to + row + x);
          }
        }
      }
    }
  }

  /** Terms of the voxels with these levels from the sums of their neighbors and themselves. */
  Bits64
  LevelTerms(Bits32 sums, Bits16 bits) const
  {
    constexpr std::uint32_t sumMask = (std::uint32_t{ 1 } << GrayToneDifferenceTileMemory::sumBits) - 1;
    // The levels of absent voxels do not matter, as nothing is done with their terms.
#if defined(VOXELMAPS_VECTOR_TYPES)
    const Bits32 levels = __builtin_convertvector(bits, Bits32);
#else
    const Bits32 levels = bits;
#endif
    const Bits32 voxels = sums >> GrayToneDifferenceTileMemory::sumBits;
    // One of k + 1 voxels is the voxel itself: (k + 1) i - (S + i) = k i - S.
    const Real product = ToReal(voxels) * ToReal(levels);
    const Real difference = AbsoluteValue(product - ToReal(sums & sumMask));
    const Real weight = Gather(m_Weights, voxels);
    const Real counted = m_Task.countVoxelsWithoutNeighbors ? Real{} + 1.0 : Where(-ToReal(voxels), -1.5, Real{} + 1.0);
    return ToBits64(difference * weight) + (ToBits64(counted) << m_Task.differenceBits);
  }

  void
  ComputeRow(int y, int z)
  {
    const std::uint16_t * const own =
      m_Memory.levels + m_Memory.LevelOffset(m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2]);
    const std::int64_t firstVoxel = OutputVoxel(m_Task, m_Tile, 0, y, z);
    this->ListRows(y, z);
    int last = -1; // window whose sums are in the tables, if they are kept
    for (int x = 0; x < m_Tile.size[0]; ++x)
    {
      const std::int64_t out = (firstVoxel + x) * m_Task.voxelStride;
      if (own[x] == 0 || !m_Task.IsSelected(firstVoxel + x))
      {
        StoreBackground(m_Task, firstVoxel + x);
        continue;
      }
      if (m_Slides && x > 0 && last == x - 1)
      {
        this->SlideTo(x);
      }
      else
      {
        this->ClearTables();
        this->AddVoxels(x);
      }
      last = x;
      this->ComputeWindow(out);
    }
  }

  /** The rows of the windows of a row of the output. */
  void
  ListRows(int y, int z)
  {
    GrayToneDifferenceWindowRow * row = m_Memory.windowRows;
    for (int wz = 0; wz < m_Task.window[2]; ++wz)
    {
      const int classZ = m_Memory.classes[2].Of(wz, m_Task.window[2]);
      for (int wy = 0; wy < m_Task.window[1]; ++wy, ++row)
      {
        const int classY = m_Memory.classes[1].Of(wy, m_Task.window[1]);
        row->levels = m_Memory.levels + m_Memory.LevelOffset(0, y + wy, z + wz);
        row->terms = m_Memory.Terms(classZ, z + wz, classY, 0) + std::ptrdiff_t{ y + wy } * m_Memory.pitch;
        // Additions to one number wait for each other, so that two tables take less time than one.
        row->sums = m_Memory.table + (wy % 2 == 0 ? 0 : m_Task.numberOfGrayLevels + 1);
      }
    }
  }

  void
  ClearTables()
  {
    std::memset(
      m_Memory.table, 0, 2 * (static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1) * sizeof(std::uint64_t));
  }

  /** Add the voxels of a window to empty tables. */
  void
  AddVoxels(int x)
  {
    const int                                 classes = m_Memory.classes[0].number;
    const int                                 inside = classes == 1 ? m_Task.window[0] : m_Task.window[0] - 2;
    const GrayToneDifferenceWindowRow * const end = m_Memory.windowRows + m_Task.window[1] * m_Task.window[2];
    for (const GrayToneDifferenceWindowRow * row = m_Memory.windowRows; row < end; ++row)
    {
      const std::uint16_t * levels = row->levels + x;
      const std::uint64_t * terms = row->terms + x;
      std::uint64_t * const sums = row->sums;
      if (classes > 1)
      {
        sums[levels[0]] += terms[0];
        sums[levels[inside + 1]] += terms[inside + 1 + (classes - 1) * m_Memory.planeVoxels];
        terms += m_Memory.planeVoxels + 1;
        ++levels;
      }
      for (int i = 0; i < inside; ++i)
      {
        sums[levels[i]] += terms[i];
      }
    }
  }

  /** From the sums of the window before to those of a window: one column leaves, one enters, and two change their
   * class. Differences of unsigned numbers cancel. */
  void
  SlideTo(int x)
  {
    const int                                 classes = m_Memory.classes[0].number;
    const int                                 size = m_Task.window[0];
    const GrayToneDifferenceWindowRow * const end = m_Memory.windowRows + m_Task.window[1] * m_Task.window[2];
    for (const GrayToneDifferenceWindowRow * row = m_Memory.windowRows; row < end; ++row)
    {
      const std::uint16_t * const levels = row->levels + x - 1;
      const std::uint64_t * const first = row->terms + x - 1;
      const std::uint64_t * const inside = classes == 1 ? first : first + m_Memory.planeVoxels;
      const std::uint64_t * const last = classes == 1 ? first : first + 2 * m_Memory.planeVoxels;
      std::uint64_t * const       sums = row->sums;
      sums[levels[0]] -= first[0];
      sums[levels[size]] += last[size];
      if (classes > 1)
      {
        sums[levels[1]] += first[1] - inside[1];
        sums[levels[size - 1]] += inside[size - 1] - last[size - 1];
      }
    }
  }

  /** List the levels of the window. */
  int
  ListLevels()
  {
    const std::uint64_t * const table = m_Memory.table;
    const std::uint64_t * const otherTable = table + m_Task.numberOfGrayLevels + 1;
    int                         levels = 0;
    for (int i = 1; i <= m_Task.numberOfGrayLevels; ++i)
    {
      const std::uint64_t sum = table[i] + otherTable[i];
      m_Memory.packed[levels] = sum;
      m_Memory.present[levels] = i;
      levels += sum != 0 ? 1 : 0;
    }
    return levels;
  }

  void
  ComputeWindow(std::int64_t out)
  {
    const int levels = this->ListLevels();
    Store(Bits64{}, m_Memory.packed + levels);
    Store(Real{}, m_Memory.present + levels);
    const std::uint64_t mask = (std::uint64_t{ 1 } << m_Task.differenceBits) - 1;
    Bits64              differences{};
    Bits64              productSum{};
    Real                voxels{};
    Real                voxelLevels{};
    Real                voxelSquares{};
    Real                levelSum{};
    Real                levelSquares{};
    for (int i = 0; i < levels; i += simdWidth)
    {
      const Bits64 packed = Load<Bits64>(m_Memory.packed + i);
      const Bits64 count = packed >> m_Task.differenceBits;
      const Bits64 product = (packed & mask) * count;
      differences += packed & mask;
      productSum += product;
      // Integers below 2^53, whose sums are exact in any order.
      const Real present = Load<Real>(m_Memory.present + i);
      const Real counts = ToReal(count);
      const Real weighted = counts * present;
      voxels += counts;
      voxelLevels += weighted;
      voxelSquares += weighted * present;
      levelSum += present;
      levelSquares += present * present;
      Store(ToBits32(count), m_Memory.counts + i);
      Store(ToReal(product), m_Memory.products + i);
      Store(weighted, m_Memory.weighted + i);
      Store(Bits32{}, m_Memory.counts + i + simdWidth);
      for (double * const padded : { m_Memory.products, m_Memory.weighted })
      {
        Store(Real{}, padded + i + simdWidth);
      }
    }
    GrayToneDifferenceSums sums{};
    sums.voxels = static_cast<std::uint64_t>(ElementSum<double>(voxels));
    sums.levels = static_cast<std::uint64_t>(levels);
    sums.voxelLevels = static_cast<std::uint64_t>(ElementSum<double>(voxelLevels));
    sums.voxelSquares = static_cast<std::uint64_t>(ElementSum<double>(voxelSquares));
    sums.levelSum = static_cast<std::uint64_t>(ElementSum<double>(levelSum));
    sums.levelSquares = static_cast<std::uint64_t>(ElementSum<double>(levelSquares));
    sums.differences = static_cast<double>(ElementSum<std::uint64_t>(differences));
    sums.products = static_cast<double>(ElementSum<std::uint64_t>(productSum));
    if (m_Task.needsComplexity || m_Task.needsImbalances)
    {
      this->ComparePairs(levels, sums);
    }
    StoreGrayToneDifferenceFeatures(m_Task, sums, out);
  }

  void
  ComparePairs(int levels, GrayToneDifferenceSums & sums) const
  {
    const Real numbers = Load<Real>(m_Numbers);
    Real       imbalances{};
    for (int i = 0; i < levels - 1; i += simdWidth)
    {
      const Real   present = Load<Real>(m_Memory.present + i);
      const Bits32 counts = Load<Bits32>(m_Memory.counts + i);
      const Real   products = Load<Real>(m_Memory.products + i);
      const Real   weighted = Load<Real>(m_Memory.weighted + i);
      Real         rows{};
      for (int j = i + 1; j < levels; ++j)
      {
        // Element e has the levels i + e and j + e.
        const double remaining = levels - j;
        const Real   reciprocal = Gather(m_Memory.reciprocals, counts + Load<Bits32>(m_Memory.counts + j));
        const Real   term = GrayToneDifferencePairTerm<Real>(
          products, Load<Real>(m_Memory.products + j), Load<Real>(m_Memory.present + j) - present, reciprocal);
        rows += Where(numbers, remaining, term);
        imbalances += Where(numbers, remaining, AbsoluteValue(weighted - Load<Real>(m_Memory.weighted + j)));
      }
      double elements[simdWidth];
      Store(rows, elements);
      for (const double row : elements)
      {
        sums.complexity += row;
      }
    }
    sums.imbalances = static_cast<std::uint64_t>(ElementSum<double>(imbalances));
  }

  const GrayToneDifferenceTask &     m_Task;
  const KernelTile &                 m_Tile;
  const GrayToneDifferenceTileMemory m_Memory;
  const bool                         m_Slides;
  double                             m_Weights[maxNeighbors + 2]; // by the number of neighbors and the voxel itself
  double                             m_Numbers[simdWidth];
};
} // namespace

void
ComputeGrayToneDifferenceTile(const GrayToneDifferenceTask & task, const KernelTile & tile, void * workspace)
{
  GrayToneDifferenceTileComputer(task, tile, workspace).Compute();
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
