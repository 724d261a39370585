// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Windows in tiles with few different levels, as most tiles of medical images are. A warp counts the pairs of one
// matrix of 32 windows side by side, a lane the matrix of its window, in a table of its own in shared memory, by the
// rank of a level among those of the tile. All windows of a tile have the same ranks: so the table slides from row to
// row, and lists that the block makes once state which cells have the same sum, or difference, of levels.
// doc/engines/glcm.md
#include "CudaCooccurrenceMethods.h"
#include "CudaTileBlock.cuh"
#include "glcm/MaximalCorrelation.h"

#include <algorithm>
#include <utility>

namespace voxelmaps
{
namespace
{
/** Levels of the tiles of three stages. With the tables of the first one, twice as many warps fit as with those of the
 * second one. With those of the third one, a block has room for about half of the directions at a time. */
constexpr int fewLevels = 16;
constexpr int moreLevels = 24;
constexpr int mostLevels = 32;

// So that the fourth power of the number of pairs is below maxFusedDivisor, counts of levels fit 16 bits, and sums of
// fourth powers 32 bits.
constexpr std::uint64_t maxTablePairs = 2047;
static_assert(maxTablePairs * (mostLevels - 1) * (mostLevels - 1) * (mostLevels - 1) * (mostLevels - 1) <= 0x7fffffff,
              "sums of fourth powers fit 32 bits");

/** The table of a thread, a triangle of cells (i, j) of ranks, j <= i. A word has the cells of some i, and the same j.
 */
template <int VLevels, typename TCount>
struct CellTable
{
  static constexpr int perWord = 4 / static_cast<int>(sizeof(TCount));
  static constexpr int wordRows = VLevels / perWord;
  static_assert(VLevels % perWord == 0, "all words have as many cells");

  static constexpr __host__ __device__ int
  FirstWord(int wordRow)
  {
    return perWord * (wordRow * (wordRow + 1) / 2);
  }
  static constexpr int numberOfWords = perWord * (wordRows * (wordRows + 1) / 2);

  /** Where a table has a cell, in bytes. */
  static __device__ int
  Offset(int i, int j)
  {
    return (FirstWord(i / perWord) + j) * wordStride + i % perWord * static_cast<int>(sizeof(TCount));
  }
  /** A cell that is always 0: above the diagonal. */
  static constexpr int emptyCell = wordStride;

  // The ranks of the voxels of a tile are stored as the parts of Offset, so that the greater of two such numbers is
  // that of the greater rank.
  static __device__ std::uint16_t
                    Code(int rank)
  {
    return static_cast<std::uint16_t>(FirstWord(rank / perWord) << 7 | rank << 2 |
                                      rank % perWord * static_cast<int>(sizeof(TCount)));
  }
  /** Offset of the cell of two voxels. */
  static __device__ unsigned int
  CodedOffset(unsigned int greater, unsigned int less)
  {
    return (greater & 0x3f83u) + ((less & 0x7cu) << 5);
  }
  static_assert(FirstWord(wordRows - 1) < 128 && VLevels <= 32, "codes have room for it");
};

/** Cells of a table whose sums, or differences, of levels are equal, one group after the other. Four at a time are read
 * together; groups are filled up with empty cells. */
struct CellGroups
{
  /** Offsets of four cells. */
  uint2 * cells;
  /** The sum or difference in the upper half, and in the lower one where its cells end, in units of four. */
  std::uint32_t * groups;
};

/** Counts of 16 bits in registers; all indices are constants. A word has those of i and i + VStride. */
template <int VNumber, int VStride>
class PackedCounts
{
  static_assert(VStride == 1 || VStride == 2, "two in a word");

public:
  template <int VIndex>
  __device__ void
  Add(std::uint32_t n)
  {
    m_Words[Word(VIndex)] += n << Shift(VIndex);
  }
  /** Add the halves of a word to the counts of an index, and VStride behind it. */
  template <int VIndex>
  __device__ void
  AddTwo(std::uint32_t two)
  {
    if constexpr (Shift(VIndex) == 0)
    {
      m_Words[Word(VIndex)] += two;
    }
    else
    {
      m_Words[Word(VIndex)] += two << 16;
      m_Words[Word(VIndex + VStride)] += two >> 16;
    }
  }
  template <int VIndex>
  __device__ std::uint32_t
             Get() const
  {
    return m_Words[Word(VIndex)] >> Shift(VIndex) & 0xffffu;
  }

private:
  static constexpr __host__ __device__ int
  Word(int index)
  {
    return VStride == 2 ? index / 4 * 2 + index % 2 : index / 2;
  }
  static constexpr __host__ __device__ int
  Shift(int index)
  {
    return index / VStride % 2 * 16;
  }

  // With room for the second half of the last pair, which is always 0.
  std::uint32_t m_Words[Word(VNumber + 1) + 1]{};
};

/** The sums over the cells of a table. VIsNarrow: ranks are levels from the least one on, so that all sums and
 * differences of levels are constants, and counted as well. */
template <int VLevels, typename TCount, bool VIsNarrow>
class CellSums
{
  using Table = CellTable<VLevels, TCount>;

  static constexpr bool areBytes = sizeof(TCount) == 1;
  static constexpr int  stride = areBytes ? 2 : 1;

public:
  __device__
  CellSums(const char * table, const std::int64_t * terms)
    : m_Table(table)
    , m_Terms(terms)
  {}

  /** All lanes of a warp together. */
  __device__ __forceinline__ void
  Add(int levels, CooccurrenceSums & sums)
  {
    this->AddWordRows(levels, std::make_integer_sequence<int, Table::wordRows>());
    this->AddRows(levels, sums, std::make_integer_sequence<int, VLevels>());
    sums.cellTerms = 2 * m_OffDiagonal + m_OnDiagonal;
    sums.cellSquares = 2 * m_Squares;
    sums.maximum = max(m_Maximum & 0xffffu, m_Maximum >> 16);
  }

  /** The sums over sums and differences of levels; the former are relative to VLevels - 1. */
  __device__ __forceinline__ void
  AddNarrow(int levels, const std::int64_t * weights, CooccurrenceSums & sums) const
  {
    static_assert(VIsNarrow, "else, they are not counted");
    Sums32 s{};
    this->AddSums(levels, s, sums, std::make_integer_sequence<int, 2 * VLevels - 1>());
    this->AddDifferences(levels, weights, s, sums, std::make_integer_sequence<int, VLevels>());
    sums.pairs = s.pairs;
    sums.sums = s.first;
    sums.sumSquares = s.second;
    sums.sumCubes = s.third;
    sums.sumFourths = s.fourth;
    sums.differences = s.differences;
    sums.differenceSquares = s.differenceSquares;
  }

private:
  /** |v| <= 31 and at most 2047 pairs: all sums fit 32 bits. */
  struct Sums32
  {
    int pairs;
    int first;
    int second;
    int third;
    int fourth;
    int differences;
    int differenceSquares;
  };

  template <int... VWordRows>
  __device__ __forceinline__ void
  AddWordRows(int levels, std::integer_sequence<int, VWordRows...>)
  {
    const auto add = [&](auto wordRow) {
      constexpr int row = decltype(wordRow)::value;
      this->template AddWords<row>(std::make_integer_sequence<int, Table::perWord *(row + 1)>());
      return true;
    };
    (void)((VWordRows * Table::perWord < levels && add(std::integral_constant<int, VWordRows>())) && ...);
  }
  template <int VWordRow, int... VColumns>
  __device__ __forceinline__ void
  AddWords(std::integer_sequence<int, VColumns...>)
  {
    (this->template AddWord<VWordRow, VColumns>(), ...);
  }
  template <int VWordRow, int VColumn>
  __device__ __forceinline__ void
  AddWord()
  {
    const std::uint32_t word =
      *reinterpret_cast<const std::uint32_t *>(m_Table + (Table::FirstWord(VWordRow) + VColumn) * wordStride);
    if (!__any_sync(allLanes, word != 0))
    {
      return;
    }
    constexpr int first = VWordRow * Table::perWord;
    if constexpr (VColumn >= first)
    {
      this->template AddDiagonal<first, VColumn>(word, std::make_integer_sequence<int, Table::perWord>());
    }
    else if constexpr (areBytes)
    {
      constexpr std::uint32_t halves = 0x00ff00ffu;
      const std::uint32_t     even = word & halves;
      const std::uint32_t     odd = word >> 8 & halves;
      this->template AddTwo<first, VColumn>(even);
      this->template AddTwo<first + 1, VColumn>(odd);
      m_Rows.template Add<VColumn>(__dp4a(word, 0x01010101u, 0u));
      m_Squares = __dp4a(word, word, m_Squares);
    }
    else
    {
      const std::uint32_t low = word & 0xffffu;
      const std::uint32_t high = word >> 16;
      this->template AddTwo<first, VColumn>(word);
      m_Rows.template Add<VColumn>(low + high);
      m_Squares += low * low + high * high;
    }
  }
  /** Add the cells of a column in a row and in the row that is a stride behind it, none of them on the diagonal. */
  template <int VRow, int VColumn>
  __device__ __forceinline__ void
  AddTwo(std::uint32_t two)
  {
    m_Rows.template AddTwo<VRow>(two);
    m_Maximum = __vmaxu2(m_Maximum, two);
    m_OffDiagonal += m_Terms[two & 0xffffu] + m_Terms[two >> 16];
    if constexpr (VIsNarrow)
    {
      m_Sums.template AddTwo<VRow + VColumn>(two);
      m_Differences.template AddTwo<VRow - VColumn>(two);
    }
  }
  /** Add a word with a cell on the diagonal; those before it are empty. */
  template <int VFirst, int VColumn, int... VCells>
  __device__ __forceinline__ void
  AddDiagonal(std::uint32_t word, std::integer_sequence<int, VCells...>)
  {
    (this->template AddCell<VFirst + VCells, VColumn>(word >> (VCells * 8 * static_cast<int>(sizeof(TCount))) &
                                                      (areBytes ? 0xffu : 0xffffu)),
     ...);
  }
  template <int VRow, int VColumn>
  __device__ __forceinline__ void
  AddCell(std::uint32_t n)
  {
    if constexpr (VRow >= VColumn)
    {
      constexpr std::uint32_t times = VRow == VColumn ? 2 : 1;
      (VRow == VColumn ? m_OnDiagonal : m_OffDiagonal) += m_Terms[times * n];
      m_Squares += times * n * n;
      m_Maximum = __vmaxu2(m_Maximum, times * n);
      m_Rows.template Add<VRow>(n);
      m_Rows.template Add<VColumn>(n);
      if constexpr (VIsNarrow)
      {
        m_Sums.template Add<VRow + VColumn>(n);
        m_Differences.template Add<VRow - VColumn>(n);
      }
    }
  }

  template <int... VRows>
  __device__ __forceinline__ void
  AddRows(int levels, CooccurrenceSums & sums, std::integer_sequence<int, VRows...>) const
  {
    (void)((VRows < levels && (sums.rowTerms += m_Terms[m_Rows.template Get<VRows>()], true)) && ...);
  }
  template <int... VSums>
  __device__ __forceinline__ void
  AddSums(int levels, Sums32 & s, CooccurrenceSums & sums, std::integer_sequence<int, VSums...>) const
  {
    (void)((VSums < 2 * levels - 1 && (this->template AddSum<VSums>(s, sums), true)) && ...);
  }
  template <int VSum>
  __device__ __forceinline__ void
  AddSum(Sums32 & s, CooccurrenceSums & sums) const
  {
    constexpr int v = VSum - (VLevels - 1);
    const auto    n = static_cast<int>(m_Sums.template Get<VSum>());
    s.first += n * v;
    s.second += n * (v * v);
    s.third += n * (v * v * v);
    s.fourth += n * (v * v * v * v);
    sums.sumTerms += m_Terms[n];
  }
  template <int... VDifferences>
  __device__ __forceinline__ void
  AddDifferences(int levels, const std::int64_t * weights, Sums32 & s, CooccurrenceSums & sums,
                 std::integer_sequence<int, VDifferences...>) const
  {
    (void)((VDifferences < levels && (this->template AddDifference<VDifferences>(weights, s, sums), true)) && ...);
  }
  template <int VDifference>
  __device__ __forceinline__ void
  AddDifference(const std::int64_t * weights, Sums32 & s, CooccurrenceSums & sums) const
  {
    const auto n = static_cast<int>(m_Differences.template Get<VDifference>());
    s.pairs += n;
    s.differences += n * VDifference;
    s.differenceSquares += n * (VDifference * VDifference);
    sums.differenceTerms += m_Terms[n];
    AddWeights(n, weights + VDifference * NumberOfCooccurrenceWeights, sums);
  }

private:
  const char * const            m_Table;
  const std::int64_t * const    m_Terms;
  PackedCounts<VLevels, stride> m_Rows;
  PackedCounts<VIsNarrow ? 2 * VLevels - 1 : 1, stride> m_Sums;
  PackedCounts<VIsNarrow ? VLevels : 1, stride>         m_Differences;
  std::int64_t m_OnDiagonal{ 0 };
  std::int64_t m_OffDiagonal{ 0 };
  // The squares of cells off the diagonal, and twice those on it.
  std::uint32_t m_Squares{ 0 };
  std::uint32_t m_Maximum{ 0 };
};

/** The work of a thread. After the first stage (VIsSecond), tables have more levels, and counts can be too great for
 * them. */
template <int VLevels, typename TCount, bool VIsSecond>
class TableBlock : public TileBlock
{
  using Table = CellTable<VLevels, TCount>;

  // The first stage with bytes has no registers for numbers of 128 bits.
  static constexpr bool hasWideNumbers = VIsSecond || sizeof(TCount) != 1;
  /** The greatest number of groups of four cells in a list. */
  static constexpr int maxQuads = hasWideNumbers ? TriangleRow(VLevels) : 104;

public:
  static constexpr int tableWords = Table::numberOfWords;
  /** Bytes of the lists of sums and of differences, and of the levels by rank. */
  static constexpr int listBytes = 2 * maxQuads * static_cast<int>(sizeof(uint2) + sizeof(std::uint32_t)) + VLevels;

  __device__
  TableBlock(const CooccurrenceTask & task, const TileLayout & layout, char * shared)
    : TileBlock(task, layout, shared)
  {}

  /** Compute the windows of a tile, or return false. */
  __device__ bool
  Compute(unsigned int tileRow, unsigned int tileX, const CudaOtherWindows & others)
  {
    this->Begin(tileRow, tileX);
    if (!this->FindComputed(!VIsSecond))
    {
      return true;
    }
    if (!this->MakeTile())
    {
      return false;
    }
    this->ComputeRows([this](int chunk, int step) { this->ComputeRow(chunk, step); });
    if constexpr (VIsSecond)
    {
      __syncthreads();
      this->LeaveWindows(m_Info.overflows, others);
    }
    return true;
  }

private:
  __device__ CellGroups
  DifferenceGroups() const
  {
    uint2 * const cells = reinterpret_cast<uint2 *>(m_Shared + m_Layout.listsBegin);
    return { cells, reinterpret_cast<std::uint32_t *>(cells + 2 * maxQuads) };
  }
  __device__ CellGroups
  SumGroups() const
  {
    const CellGroups differences = this->DifferenceGroups();
    return { differences.cells + maxQuads, differences.groups + maxQuads };
  }
  /** Whether the levels of the tile span so few that ranks are levels from the least one on. */
  __device__ bool
  IsNarrow() const
  {
    return this->Range() < VLevels;
  }
  /** The sum of levels from the least one on that moments are relative to. */
  __device__ int
  MiddleSum() const
  {
    return this->IsNarrow() ? VLevels - 1 : this->Range();
  }
  /** The weights of the differences of narrow tiles, in place of lists. */
  __device__ std::int64_t *
             NarrowWeights() const
  {
    return reinterpret_cast<std::int64_t *>(m_Shared + m_Layout.listsBegin);
  }
  /** Load the voxels of the windows, replace their levels by ranks, and list the cells of sums and differences; false
   * if the tables have no room for so many levels. */
  __device__ bool
  MakeTile()
  {
    this->LoadLevels();
    const CellGroups     differenceGroups = this->DifferenceGroups();
    const CellGroups     sumGroups = this->SumGroups();
    std::uint8_t * const level = reinterpret_cast<std::uint8_t *>(sumGroups.groups + maxQuads);
    // Counts of sums and differences of the cells, where the tables are later.
    int * const   differences = reinterpret_cast<int *>(m_Shared + m_Layout.tablesBegin);
    int * const   sums = differences + maxRange + 1;
    constexpr int numberOfCounts = 3 * (maxRange + 1);
    for (int i = threadIdx.x; i < numberOfCounts; i += blockDim.x)
    {
      differences[i] = 0;
    }
    __syncthreads();
    if (this->IsNarrow())
    {
      if (this->Range() >= m_Layout.maxNarrowLevels)
      {
        return false;
      }
      for (int i = threadIdx.x; i < m_Layout.tileVoxels; i += blockDim.x)
      {
        m_Tile[i] = m_Tile[i] != 0 ? Table::Code(m_Tile[i] - m_Info.least) : std::uint16_t{ noLevel };
      }
      for (int i = threadIdx.x; i < VLevels * NumberOfCooccurrenceWeights; i += blockDim.x)
      {
        const bool isWeight = m_Task.needsWeights && i / NumberOfCooccurrenceWeights < m_Task.numberOfGrayLevels;
        this->NarrowWeights()[i] = isWeight ? m_Task.weights[i] : 0;
      }
      __syncthreads();
      return true;
    }
    if (this->Range() > (hasWideNumbers ? maxRange : m_Layout.maxDoubleRange))
    {
      return false;
    }
    this->FindRanks();
    if (m_Info.levels > min(VLevels, m_Layout.maxLevels))
    {
      return false;
    }
    for (int bit = threadIdx.x; bit <= maxRange; bit += blockDim.x)
    {
      if (m_Info.set.Has(bit))
      {
        level[this->Rank(bit)] = static_cast<std::uint8_t>(bit);
      }
    }
    for (int i = threadIdx.x; i < m_Layout.tileVoxels; i += blockDim.x)
    {
      m_Tile[i] = m_Tile[i] != 0 ? Table::Code(this->Rank(m_Tile[i] - m_Info.least)) : std::uint16_t{ noLevel };
    }
    __syncthreads();
    // By hand: two counting sorts of the cells, in memory that the tables have later; CUB's BlockRadixSort needs more.
    this->ForEachCell([&](int i, int j) {
      atomicAdd(differences + level[i] - level[j], 1);
      atomicAdd(sums + level[i] + level[j], 1);
    });
    __syncthreads();
    if (m_Warp == 0)
    {
      this->MakeGroups<(maxRange + 1) / lanesPerWarp>(differences, differenceGroups.groups, m_Info.differences);
    }
    if (m_Warp == m_Layout.warps - 1)
    {
      this->MakeGroups<2 * (maxRange + 1) / lanesPerWarp>(sums, sumGroups.groups, m_Info.sums);
    }
    for (int i = threadIdx.x; i < 2 * maxQuads; i += blockDim.x)
    {
      constexpr std::uint32_t twoCells = Table::emptyCell << 16 | Table::emptyCell;
      differenceGroups.cells[i] = { twoCells, twoCells };
    }
    __syncthreads();
    if (m_Info.differences < 0 || m_Info.sums < 0)
    {
      return false;
    }
    this->ForEachCell([&](int i, int j) {
      const auto offset = static_cast<std::uint16_t>(Table::Offset(i, j));
      reinterpret_cast<std::uint16_t *>(differenceGroups.cells)[atomicAdd(differences + level[i] - level[j], 1)] =
        offset;
      reinterpret_cast<std::uint16_t *>(sumGroups.cells)[atomicAdd(sums + level[i] + level[j], 1)] = offset;
    });
    __syncthreads();
    return true;
  }

  template <typename TVisit>
  __device__ void
  ForEachCell(const TVisit & visit) const
  {
    const int levels = m_Info.levels;
    for (int cell = threadIdx.x; cell < levels * levels; cell += blockDim.x)
    {
      const int i = cell / levels;
      const int j = cell - i * levels;
      if (j <= i)
      {
        visit(i, j);
      }
    }
  }

  /** Make groups from how many cells have each value, and replace these numbers by where the cells of a group begin;
   * the number of groups is -1 if they have no room. A lane has some values, one after the other. */
  template <int VLaneValues>
  __device__ void
  MakeGroups(int * counts, std::uint32_t * groups, int & number) const
  {
    int * const laneCounts = counts + m_Lane * VLaneValues;
    int         laneGroups = 0;
    int         laneQuads = 0;
    for (int i = 0; i < VLaneValues; ++i)
    {
      laneGroups += laneCounts[i] != 0 ? 1 : 0;
      laneQuads += (laneCounts[i] + 3) / 4;
    }
    const WarpSums laneGroup(laneGroups);
    const WarpSums laneQuad(laneQuads);
    const bool     hasRoom = laneQuad.all <= maxQuads;
    if (m_Lane == 0)
    {
      number = hasRoom ? laneGroup.all : -1;
    }
    if (!hasRoom)
    {
      return;
    }
    int group = laneGroup.before;
    int quad = laneQuad.before;
    for (int i = 0; i < VLaneValues; ++i)
    {
      const int cells = laneCounts[i];
      if (cells != 0)
      {
        laneCounts[i] = 4 * quad;
        quad += (cells + 3) / 4;
        groups[group] = static_cast<std::uint32_t>((m_Lane * VLaneValues + i) << 16 | quad);
        ++group;
      }
    }
  }

  /** Compute a row of each group. */
  __device__ void
  ComputeRow(int chunk, int step)
  {
    const int          row = m_Group * m_Layout.steps + step;
    const unsigned int computed = m_Info.computed[row];
    const bool         isComputed = (computed >> m_Lane & 1u) != 0;
    CooccurrenceSums   sums{};
    if (computed != 0 && m_Matrix < m_Layout.matrices)
    {
      this->Count(row, m_CountedStep == step - 1);
      m_CountedStep = step;
      this->SumTable(sums);
      if (VIsSecond && __any_sync(allLanes, sums.pairs != m_CountedPairs))
      {
        atomicOr(m_Info.overflows + row, sums.pairs != m_CountedPairs ? computed & 1u << m_Lane : 0u);
      }
    }
    if (hasWideNumbers && this->MiddleSum() > m_Layout.maxDoubleRange)
    {
      this->template Evaluate<WideInteger<hasWideNumbers ? 2 : 1>>(chunk, row, sums, isComputed, this->MiddleSum());
    }
    else
    {
      this->template Evaluate<double>(chunk, row, sums, isComputed, this->MiddleSum());
    }
  }

  /** Count the pairs of the matrix of this warp. The table may have those of the row before. */
  __device__ void
  Count(int row, bool hasRowBefore)
  {
    if (!hasRowBefore)
    {
      m_CountedPairs = 0;
      for (int word = 0; word < Table::numberOfWords; ++word)
      {
        *reinterpret_cast<std::uint32_t *>(m_Table + word * wordStride) = 0;
      }
    }
    this->CountPairs(row, hasRowBefore, [this](const PairRows & rows, int number) {
      this->CountRows(rows, [this, number](unsigned int a, unsigned int b) {
        const unsigned int greater = max(a, b);
        auto &             count = *reinterpret_cast<TCount *>(m_Table + Table::CodedOffset(greater, min(a, b)));
        const int          next = count + number;
        if (greater < noLevel)
        {
          count = static_cast<TCount>(next);
          if constexpr (VIsSecond)
          {
            m_CountedPairs += number;
          }
        }
      });
    });
  }

  __device__ void
  SumTable(CooccurrenceSums & sums) const
  {
    if (this->IsNarrow())
    {
      CellSums<VLevels, TCount, true> cells(m_Table, m_Terms);
      cells.Add(this->Range() + 1, sums);
      cells.AddNarrow(this->Range() + 1, this->NarrowWeights(), sums);
    }
    else
    {
      if (m_Task.needsCells || m_Task.needsRows)
      {
        CellSums<VLevels, TCount, false>(m_Table, m_Terms).Add(m_Info.levels, sums);
      }
      this->SumDifferences(sums);
      this->SumSums(sums);
    }
    sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
  }
  /** Call add(value, number) for the groups that have pairs, with the sum or difference and the number of pairs. */
  template <typename TAdd>
  __device__ void
  ForEachGroup(const CellGroups & groups, int number, const TAdd & add) const
  {
    int quad = 0;
#pragma unroll 1
    for (int group = 0; group < number; ++group)
    {
      const std::uint32_t header = groups.groups[group];
      const int           n = this->GroupCount(groups, quad, static_cast<int>(header & 0xffffu));
      if (__any_sync(allLanes, n != 0))
      {
        add(static_cast<int>(header >> 16), n);
      }
    }
  }
  /** The number of pairs in a group; quad is its first four cells, and then those of the next group. */
  __device__ int
  GroupCount(const CellGroups & groups, int & quad, int end) const
  {
    int n = 0;
    // Most groups have one or two quads.
#pragma unroll 1
    do
    {
      const uint2 four = groups.cells[quad];
      n += this->Cell(four.x & 0xffffu) + this->Cell(four.x >> 16) + this->Cell(four.y & 0xffffu) +
           this->Cell(four.y >> 16);
    } while (++quad < end);
    return n;
  }
  __device__ int
  Cell(unsigned int offset) const
  {
    return *reinterpret_cast<const TCount *>(m_Table + offset);
  }
  __device__ void
  SumDifferences(CooccurrenceSums & sums) const
  {
    // With at most 2047 pairs and differences up to 255, 32 bits are enough.
    int pairs = 0;
    int differences = 0;
    int squares = 0;
    this->ForEachGroup(this->DifferenceGroups(), m_Info.differences, [&](int k, int n) {
      pairs += n;
      differences += n * k;
      squares += n * (k * k);
      sums.differenceTerms += m_Terms[n];
      if (m_Task.needsWeights)
      {
        AddWeights(n, m_Task.weights + k * NumberOfCooccurrenceWeights, sums);
      }
    });
    sums.pairs = pairs;
    sums.differences = differences;
    sums.differenceSquares = squares;
  }
  __device__ void
  SumSums(CooccurrenceSums & sums) const
  {
    int       firsts = 0;
    int       squares = 0;
    const int range = this->Range();
    this->ForEachGroup(this->SumGroups(), m_Info.sums, [&](int sum, int n) {
      const int v = sum - range;
      const int square = v * v;
      firsts += n * v;
      squares += n * square;
      sums.sumCubes += std::int64_t{ n * v } * square;
      sums.sumFourths += std::int64_t{ n * square } * square;
      sums.sumTerms += m_Terms[n];
    });
    sums.sums = firsts;
    sums.sumSquares = squares;
  }

  int m_CountedPairs{ 0 };
};

/** The first stage adds the tiles with more levels to a list, which begins with their number, or leaves their windows
 * if there is no list. */
template <typename TCount>
__global__ void
__launch_bounds__(maxTileWarps * lanesPerWarp, sizeof(TCount) == 1 ? 2 : 1)
  FewLevelTilesKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ TileLayout layout,
                      const __grid_constant__ CudaOtherWindows others, unsigned int firstTileRow,
                      std::uint32_t * otherTiles)
{
  extern __shared__ __align__(16) char shared[];
  TableBlock<fewLevels, TCount, false> block(task, layout, shared);
  if (block.Compute(firstTileRow + blockIdx.x, blockIdx.y, others))
  {
    return;
  }
  if (otherTiles == nullptr)
  {
    block.LeaveWindows(others);
  }
  else if (threadIdx.x == 0)
  {
    // By hand, as CudaOtherWindows.
    otherTiles[1 + atomicAdd(otherTiles, 1u)] = blockIdx.x * layout.tilesX + blockIdx.y;
  }
}

/** Whether bytes hold all counts of cells. */
bool
HasByteCounts(const CooccurrenceTask & task)
{
  return task.maxPairs <= 0xff;
}

using SecondBlock = TableBlock<moreLevels, std::uint8_t, true>;
using LastBlock = TableBlock<mostLevels, std::uint8_t, true>;

template <typename TBlock>
TileLayout
MakeLayout(const CooccurrenceTask & task, int blockWarps, int featuresAtATime = mostFeaturesAtATime)
{
  return TileLayout(task, TBlock::tableWords, TBlock::listBytes, blockWarps, featuresAtATime);
}
/** The layout of the first stage: for 5 x 5 x 5 voxels, 113 KB, or 94 KB where a block cannot have as much. */
TileLayout
MakeFirstLayout(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  const auto make = [&](int featuresAtATime) {
    return HasByteCounts(task)
             ? MakeLayout<TableBlock<fewLevels, std::uint8_t, false>>(task, maxTileWarps, featuresAtATime)
             : MakeLayout<TableBlock<fewLevels, std::uint16_t, false>>(task, maxTileWarps, featuresAtATime);
  };
  const TileLayout layout = make(mostFeaturesAtATime);
  return FitsSharedMemory(layout, limits) ? layout : make(fewFeaturesAtATime);
}

/** Let SortedPairs have the tiles that it computes faster, and return whether it leaves some to the second stage.
 * Measured on an H100, 32 x 256 x 256 voxels, tiles with n consecutive levels, in ms:
 *
 *   window    n       1st stage   2nd stage   SortedPairs
 *   3^3       8, 14   4.0, 5.6                4.7, 5.2
 *   5^3       16      6.4                     12.9
 *   5^3       20, 24              9.5, 11.1   13.0, 13.2
 *   7^2       16, 18  2.3         3.2         2.8, 2.9
 *
 * Other levels have longer lists: 3^3 gains up to 7, and the second stage does not gain. */
bool
LeaveTilesToSorting(const CooccurrenceTask & task, std::int64_t tiles, TileLayout & first, TileLayout & second)
{
  constexpr std::uint64_t  smallPairs = 32;
  constexpr std::uint64_t  largePairs = 100;
  const std::int64_t       secondTilesPerMultiprocessor = PolicyValue("glcm.second_tiles", 32);
  const CudaDeviceLimits & limits = GetCudaDeviceLimits();
  first.maxNarrowLevels = task.maxPairs <= smallPairs ? 12 : fewLevels;
  first.maxLevels = task.maxPairs <= smallPairs ? 7 : task.maxPairs < largePairs ? 14 : fewLevels;
  second.maxNarrowLevels = moreLevels;
  second.maxLevels = fewLevels;
  return task.maxPairs >= largePairs && tiles >= secondTilesPerMultiprocessor * limits.numberOfMultiprocessors;
}

/** The layout of the last stage, of as many warps as the shared memory allows. */
TileLayout
MakeLastLayout(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  TileLayout layout = MakeLayout<LastBlock>(task, maxTileWarps);
  for (const int warps : { 7, 5, 4 })
  {
    if (!FitsSharedMemory(layout, limits))
    {
      layout = MakeLayout<LastBlock>(task, warps);
    }
  }
  return layout;
}

/** The size of a list of tiles, which begins with their number. */
std::uint64_t
TileListBytes(std::int64_t tiles)
{
  constexpr std::uint64_t alignment = 256;
  return ((static_cast<std::uint64_t>(tiles) + 1) * sizeof(std::uint32_t) / alignment + 1) * alignment;
}
} // namespace

bool
CudaFewLevelTilesSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  // The limit of a grid.
  constexpr std::int64_t maxColumns = std::int64_t{ 65535 } * lanesPerWarp;
  constexpr std::int64_t maxRowsOfTiles = 0x7fffffff;
  return task.outputSize[0] <= maxColumns &&
         task.outputSize[1] <= maxRowsOfTiles / std::max<std::int64_t>(task.outputSize[2], 1) &&
         task.scales.symmetric && !task.wideWeights && task.maxPairs <= maxTablePairs &&
         task.numberOfOffsets / task.OffsetsPerMatrix() <= maxTileWarps &&
         FitsSharedMemory(MakeFirstLayout(task, limits), limits);
}

CudaTileRows
GetCudaTileRows(const CooccurrenceTask & task)
{
  const TileLayout layout = MakeFirstLayout(task, GetCudaDeviceLimits());
  return {
    layout.tilesX, layout.tilesY, layout.groups * layout.steps, std::int64_t{ layout.tilesY } * task.outputSize[2]
  };
}

std::uint64_t
CudaFewLevelTilesScratchBytes(std::int64_t tiles)
{
  return 2 * TileListBytes(tiles);
}

void
LaunchCudaFewLevelTiles(const CooccurrenceTask & task, std::int64_t firstRow, std::int64_t endRow,
                        const CudaOtherWindows & others, void * scratch, cudaStream_t stream)
{
  const CudaDeviceLimits & limits = GetCudaDeviceLimits();
  TileLayout               layout = MakeFirstLayout(task, limits);
  const std::uint64_t      listBytes = TileListBytes((endRow - firstRow) * layout.tilesX);
  std::uint32_t *          tiles = static_cast<std::uint32_t *>(scratch);
  std::uint32_t *          otherTiles = tiles + listBytes / sizeof(std::uint32_t);
  for (std::uint32_t * const list : { tiles, otherTiles })
  {
    CheckCuda(cudaMemsetAsync(list, 0, sizeof(*list), stream), "starting the kernel of tiles");
  }
  // SortedPairs sorts what the second stage leaves; RankTables has a last stage before its tables of windows.
  const bool isSorted = others.marks != nullptr;
  TileLayout second = MakeLayout<SecondBlock>(task, maxTileWarps);
  const bool gainsBySecond =
    !isSorted || LeaveTilesToSorting(task, (endRow - firstRow) * layout.tilesX, layout, second);
  const bool       hasSecond = gainsBySecond && FitsSharedMemory(second, limits);
  const TileLayout last = MakeLastLayout(task, limits);
  const bool       hasLast = !isSorted && FitsSharedMemory(last, limits);
  const auto       start = [&](auto kernel) {
    AllowSharedMemory(kernel, static_cast<std::size_t>(layout.bytes));
    const dim3 blocks(static_cast<unsigned int>(endRow - firstRow), layout.tilesX);
    kernel<<<blocks, layout.warps * lanesPerWarp, layout.bytes, stream>>>(
      task, layout, others, static_cast<unsigned int>(firstRow), hasSecond || hasLast ? tiles : nullptr);
  };
  HasByteCounts(task) ? start(FewLevelTilesKernel<std::uint8_t>) : start(FewLevelTilesKernel<std::uint16_t>);
  if (hasSecond)
  {
    LaunchTileList<SecondBlock>(
      task, second, layout, firstRow, endRow, others, tiles, hasLast ? otherTiles : nullptr, stream);
    std::swap(tiles, otherTiles);
  }
  if (hasLast)
  {
    LaunchTileList<LastBlock>(task, last, layout, firstRow, endRow, others, tiles, nullptr, stream);
  }
}
} // namespace voxelmaps
