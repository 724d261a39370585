// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by DependenceTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "DependenceTile.h"
#include "window/cpu/Simd.h"
#include "window/WindowBox.h"

/* An element of a vector is a window; the windows of a vector are neighbors along x. */
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** Computes a tile. */
class DependenceTileComputer
{
public:
  DependenceTileComputer(const DependenceTask & task, const DependenceTileLayout & layout, const DependenceTile & tile,
                         void * workspace)
    : m_Task(task)
    , m_Layout(layout)
    , m_Tile(tile)
    , m_Memory(task, layout, workspace)
    , m_ClearsAll(m_Memory.numberOfElements <= maxElementsPerVoxel * static_cast<std::size_t>(task.windowVoxels))
  {}

  void
  Compute()
  {
    std::memset(m_Memory.levels, 0, static_cast<std::size_t>(m_Layout.inputVoxels) * sizeof(std::uint16_t));
    CopyInput(
      m_Task, m_Tile, m_Task.levels, m_Layout.rowLength, 0, m_Layout.rows, m_Layout.planes, [this](int y, int z) {
        return m_Memory.levels + this->InputOffset(0, y, z);
      });
    this->FindDependentVoxels();
    std::memset(m_Memory.elements, 0, m_Memory.numberOfElements * sizeof(std::uint16_t));
    if (m_Layout.needsLevelSquares)
    {
      std::memset(
        m_Memory.levelCounts, 0, (static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1) * sizeof(std::uint32_t));
    }
    for (int z = 0; z < m_Tile.size[2]; ++z)
    {
      for (int y = 0; y < m_Tile.size[1]; ++y)
      {
        this->ComputeRow(y, z);
      }
    }
  }

private:
  static constexpr int blockWindows = sizeof(Bytes);
  static_assert(maxBlockWindows % blockWindows == 0, "rows are whole blocks");

  // Up to so many elements, it takes less time to clear all than those of each voxel.
  static constexpr std::size_t maxElementsPerVoxel = 32;

  static constexpr int voxelsBetweenAbortChecks = 1000000;

  std::ptrdiff_t
  InputOffset(int x, int y, int z) const
  {
    return (std::ptrdiff_t{ z } * m_Layout.rows + y) * m_Layout.rowLength + x;
  }

  void
  CheckAbort(int voxels)
  {
    m_VoxelsSinceCheck += voxels;
    if (m_VoxelsSinceCheck >= voxelsBetweenAbortChecks)
    {
      m_VoxelsSinceCheck = 0;
      m_Tile.checkAbort(m_Tile.execution);
    }
  }

  void
  FindDependentVoxels()
  {
    for (int k = 0; k < m_Task.numberOfOffsets; ++k)
    {
      const int(&step)[3] = m_Task.offsets[k].step;
      std::uint8_t * const dependent = m_Memory.dependent + k * m_Layout.inputVoxels;
      // The voxels whose neighbor is in the input.
      const int      firstX = step[0] < 0 ? -step[0] : 0;
      const int      endX = m_Layout.rowLength - (step[0] > 0 ? step[0] : 0);
      std::ptrdiff_t toNeighbor = this->InputOffset(step[0], step[1], step[2]);
      for (int z = 0; z < m_Layout.planes; ++z)
      {
        for (int y = 0; y < m_Layout.rows; ++y)
        {
          const std::ptrdiff_t row = this->InputOffset(0, y, z);
          const bool           hasNeighbors =
            y + step[1] >= 0 && y + step[1] < m_Layout.rows && z + step[2] >= 0 && z + step[2] < m_Layout.planes;
          if (!hasNeighbors)
          {
            // In no window.
            std::memset(dependent + row, 0, static_cast<std::size_t>(m_Layout.rowLength));
            continue;
          }
          std::memset(dependent + row, 0, static_cast<std::size_t>(firstX));
          std::memset(dependent + row + endX, 0, static_cast<std::size_t>(m_Layout.rowLength - endX));
          CompareRows(m_Memory.levels + row + firstX,
                      m_Memory.levels + row + firstX + toNeighbor,
                      endX - firstX,
                      static_cast<std::uint16_t>(m_Task.alpha),
                      dependent + row + firstX);
        }
      }
      this->CheckAbort(static_cast<int>(m_Layout.inputVoxels));
    }
  }

  static void
  CompareRows(const std::uint16_t * levels, const std::uint16_t * others, int number, std::uint16_t alpha,
              std::uint8_t * dependent)
  {
    for (int x = 0; x < number; ++x)
    {
      const std::uint16_t a = levels[x];
      const std::uint16_t b = others[x];
      const std::uint16_t greater = a > b ? a : b;
      const std::uint16_t lesser = a > b ? b : a;
      const auto          difference = static_cast<std::uint16_t>(greater - lesser);
      dependent[x] = static_cast<std::uint8_t>((difference <= alpha ? 1 : 0) & (lesser != 0 ? 1 : 0));
    }
  }

  void
  ComputeRow(int y, int z)
  {
    bool hasLevelSquares = false;
    for (int x = 0; x < m_Tile.size[0]; x += blockWindows)
    {
      const int end = x + blockWindows < m_Tile.size[0] ? x + blockWindows : m_Tile.size[0];
      bool      isComputed[blockWindows];
      bool      isAny = false;
      for (int i = x; i < end; ++i)
      {
        const std::uint16_t level =
          m_Memory.levels[this->InputOffset(i + m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2])];
        isComputed[i - x] = level != 0 && m_Task.IsSelected(OutputVoxel(m_Task, m_Tile, i, y, z));
        isAny = isAny || isComputed[i - x];
      }
      if (isAny)
      {
        if (m_Layout.needsLevelSquares && !hasLevelSquares)
        {
          this->CountLevels(y, z);
          hasLevelSquares = true;
        }
        this->FindSizes(this->InputOffset(x, y, z));
        this->CheckAbort(m_Task.windowVoxels);
      }
      for (int i = x; i < end; ++i)
      {
        const std::int64_t voxel = OutputVoxel(m_Task, m_Tile, i, y, z);
        if (isComputed[i - x])
        {
          this->ComputeWindow(this->InputOffset(i, y, z), i - x, i, voxel);
          continue;
        }
        StoreBackground(m_Task, voxel);
      }
    }
  }

  /** Sums of squares of the voxels of each level of all windows of a row: n + 1 voxels of a level after n add (n + 1)^2
   * - n^2. */
  void
  CountLevels(int y, int z)
  {
    std::uint64_t         squares = 0;
    std::uint32_t * const counts = m_Memory.levelCounts;
    const auto            forEachInColumn = [&](int x, const auto & visit) {
      for (int wz = 0; wz < m_Task.window[2]; ++wz)
      {
        const std::uint16_t * level = m_Memory.levels + this->InputOffset(x, y, z + wz);
        for (int wy = 0; wy < m_Task.window[1]; ++wy, level += m_Layout.rowLength)
        {
          if (*level != 0)
          {
            visit(counts[*level]);
          }
        }
      }
    };
    const auto add = [&](std::uint32_t & count) { squares += 2 * std::uint64_t{ count++ } + 1; };
    const auto remove = [&](std::uint32_t & count) { squares -= 2 * std::uint64_t{ --count } + 1; };
    const int  columns = m_Task.window[0];
    for (int x = 0; x < columns - 1; ++x)
    {
      forEachInColumn(x, add);
    }
    for (int x = 0; x < m_Tile.size[0]; ++x)
    {
      forEachInColumn(x + columns - 1, add);
      m_Memory.levelSquares[x] = squares;
      forEachInColumn(x, remove);
    }
    for (int x = 0; x < columns - 1; ++x)
    {
      forEachInColumn(m_Tile.size[0] + x, remove);
    }
  }

  /** Sizes of all voxels of a block of windows, the first of which has its least corner here. */
  void
  FindSizes(std::ptrdiff_t corner)
  {
    const std::uint8_t * const dependent = m_Memory.dependent + corner;
    for (int v = 0; v < m_Task.windowVoxels; ++v)
    {
      Bytes sizes = Bytes() + static_cast<std::uint8_t>(1);
      for (std::int32_t n = m_Layout.firstNeighbors[v]; n < m_Layout.firstNeighbors[v + 1]; ++n)
      {
        sizes = static_cast<Bytes>(sizes + Load<Bytes>(dependent + m_Layout.neighbors[n]));
      }
      std::memcpy(m_Memory.sizes + std::ptrdiff_t{ v } * blockWindows, &sizes, sizeof(sizes));
    }
  }

  /** The window with its least corner here, number `lane` of its block and number x of its row. */
  void
  ComputeWindow(std::ptrdiff_t corner, int lane, int x, std::int64_t outputVoxel)
  {
    const std::uint16_t * const levels = m_Memory.levels + corner;
    const std::uint8_t * const  sizes = m_Memory.sizes + lane;
    DependenceSizeSums * const  sums = m_Memory.sums;
    std::memset(sums, 0, (static_cast<std::size_t>(m_Task.maxSize) + 1) * sizeof(DependenceSizeSums));
    DependenceWindow window{ sums, 0, m_Layout.needsLevelSquares ? m_Memory.levelSquares[x] : 0 };
    // Local copies, which the compiler need not load again after every byte that is stored.
    const int                        number = m_Task.windowVoxels;
    const std::int32_t * const       voxels = m_Layout.voxels;
    const DependenceSizeSums * const levelSums = m_Layout.levels;
    const std::int64_t * const       differences = m_Layout.entropyDifferences;
    if (differences == nullptr)
    {
      for (int v = 0; v < number; ++v)
      {
        AddVoxel(levelSums[levels[voxels[v]]], sums[sizes[std::ptrdiff_t{ v } * blockWindows]]);
      }
    }
    else
    {
      const int    sizeBits = m_Layout.sizeBits;
      auto * const elements = m_Memory.elements;
      std::int64_t terms = 0;
      for (int v = 0; v < number; ++v)
      {
        const std::size_t   level = levels[voxels[v]];
        const std::size_t   size = sizes[std::ptrdiff_t{ v } * blockWindows];
        std::uint16_t &     element = elements[(level << sizeBits) + size];
        const std::uint16_t count = element;
        element = static_cast<std::uint16_t>(count + 1);
        terms += differences[count];
        AddVoxel(levelSums[level], sums[size]);
      }
      // Voxels without level have the size 1.
      const std::uint16_t absent = elements[1];
      for (int n = 0; n < absent; ++n)
      {
        terms -= differences[n];
      }
      window.entropyTerms = terms;
      this->ClearElements(levels, sizes);
    }
    m_Tile.finish(m_Task, outputVoxel, window);
    this->CheckAbort(m_Task.windowVoxels);
  }

  static void
  AddVoxel(const DependenceSizeSums & level, DependenceSizeSums & sums)
  {
#if defined(VOXELMAPS_VECTOR_TYPES)
    using Words = std::uint64_t __attribute__((vector_size(sizeof(DependenceSizeSums))));
    Words before;
    Words more;
    std::memcpy(&before, &sums, sizeof(before));
    std::memcpy(&more, &level, sizeof(more));
    before += more;
    std::memcpy(&sums, &before, sizeof(before));
#else
    sums.entriesAndLevels += level.entriesAndLevels;
    sums.squares += level.squares;
    sums.lowInverses += level.lowInverses;
    sums.highInverses += level.highInverses;
#endif
  }

  void
  ClearElements(const std::uint16_t * levels, const std::uint8_t * sizes)
  {
    if (m_ClearsAll)
    {
      std::memset(m_Memory.elements, 0, m_Memory.numberOfElements * sizeof(std::uint16_t));
      return;
    }
    for (int v = 0; v < m_Task.windowVoxels; ++v)
    {
      const std::size_t level = levels[m_Layout.voxels[v]];
      m_Memory.elements[(level << m_Layout.sizeBits) + sizes[std::ptrdiff_t{ v } * blockWindows]] = 0;
    }
  }

  const DependenceTask &       m_Task;
  const DependenceTileLayout & m_Layout;
  const DependenceTile &       m_Tile;
  const DependenceTileMemory   m_Memory;
  const bool                   m_ClearsAll;
  int                          m_VoxelsSinceCheck{ 0 };
};
} // namespace

void
ComputeDependenceTile(const DependenceTask & task, const DependenceTileLayout & layout, const DependenceTile & tile,
                      void * workspace)
{
  DependenceTileComputer(task, layout, tile, workspace).Compute();
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
