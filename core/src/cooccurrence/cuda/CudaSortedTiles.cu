// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Windows in tiles with more levels than tables of cells have room for. A lane slides tables of differences and of rows
// along the rows of a tile, as CudaFewLevelTiles.cu does, but sorts the pairs of each window in registers, so that
// pairs of the same cell are neighbors, and so are pairs with the same sum of levels. doc/cooccurrence-engine.md
#include "CudaSortedKeys.cuh"
#include "CudaTileBlock.cuh"
#include "cuda/CudaLaunch.h"
#include "texture/cuda/CudaRegisterSort.cuh"

namespace voxelmaps
{
namespace
{
/** Different levels of a tile. */
constexpr int maxTileLevels = 128;
// Words of the table of a thread: bytes for differences of levels, and rows by rank.
constexpr int differenceWords = (maxRange + 1) / 4;
constexpr int rowWords = maxTileLevels / 4;

/** A voxel is (rank << 8) | level, where the level is relative to the least one of the tile. */
constexpr int          rankShift = 8;
constexpr unsigned int levelMask = 0xff;

constexpr __host__ __device__ int
PowerOfTwo(int least)
{
  int power = 1;
  while (power < least)
  {
    power *= 2;
  }
  return power;
}

/** Sort 2 * VHalf keys in the low and high halves of the first VHalf words. Afterwards, the least VHalf keys are in the
 * low halves of the last VHalf words, and the others in the high halves of the first VHalf words. */
template <int VHalf, int VWords>
__device__ __forceinline__ void
SortTwoHalves(std::uint32_t (&words)[VWords])
{
  static_assert(VWords == PowerOfTwo(VHalf), "for a bitonic merge");
  std::uint32_t keys[VHalf];
#pragma unroll
  for (int i = 0; i < VHalf; ++i)
  {
    keys[i] = words[i];
  }
  SortHalves(keys);
  // Word i gets the least and the greatest of low half i and of the last high half but i.
#pragma unroll
  for (int i = 0; i < VHalf; ++i)
  {
    const std::uint32_t both = __byte_perm(keys[i], keys[VHalf - 1 - i], 0x7610);
    const std::uint32_t swapped = __byte_perm(both, both, 0x1032);
    words[i] = __byte_perm(__vminu2(both, swapped), __vmaxu2(both, swapped), 0x7610);
  }
#pragma unroll
  for (int i = VHalf; i < VWords; ++i)
  {
    words[i] = 0xffff0000u;
  }
#pragma unroll
  for (int step = VWords / 2; step > 0; step /= 2)
  {
#pragma unroll
    for (int i = 0; i < VWords; ++i)
    {
      if ((i & step) == 0)
      {
        HalvesExchange::Apply(words[i], words[i + step]);
      }
    }
  }
}

/** The work of a thread, for matrices of up to 2 * VHalf pairs. */
template <int VHalf>
class SortedBlock : public TileBlock
{
public:
  static constexpr int tableWords = differenceWords + rowWords;
  static constexpr int numberOfWeights = (maxRange + 1) * NumberOfCooccurrenceWeights;
  static constexpr int stepBytes =
    static_cast<int>(SortedKeySteps::bytes) +
    (SortedKeySteps::numberOfTerms + numberOfWeights + 1) / 2 * 2 * static_cast<int>(sizeof(std::int64_t));
  /** Places of the pairs of an offset in the tile. */
  static constexpr int numberOfPlaces = 2 * VHalf;

  static int
  ListBytes(const CooccurrenceTask & task)
  {
    return stepBytes + task.numberOfOffsets * numberOfPlaces * static_cast<int>(sizeof(std::uint16_t));
  }

  __device__
  SortedBlock(const CooccurrenceTask & task, const TileLayout & layout, char * shared)
    : TileBlock(task, layout, shared)
    , m_KeySteps(shared + layout.listsBegin)
    , m_Steps(reinterpret_cast<std::int64_t *>(shared + layout.listsBegin + SortedKeySteps::bytes))
    , m_Weights(m_Steps + SortedKeySteps::numberOfTerms)
    , m_Places(reinterpret_cast<std::uint16_t *>(shared + layout.listsBegin + stepBytes))
  {
    const std::int64_t * const t = task.scales.entropyTable;
    const int                  maxPairs = t != nullptr ? static_cast<int>(task.maxPairs) : 0;
    m_KeySteps.Load(t, maxPairs);
    for (int n = threadIdx.x; n < SortedKeySteps::numberOfTerms; n += blockDim.x)
    {
      m_Steps[n] = n < 2 * maxPairs ? t[n + 1] - t[n] : 0;
    }
    for (int i = threadIdx.x; i < numberOfWeights; i += blockDim.x)
    {
      const bool isWeight = task.needsWeights && i / NumberOfCooccurrenceWeights < task.numberOfGrayLevels;
      m_Weights[i] = isWeight ? task.weights[i] : 0;
    }
    for (int offset = m_Warp; offset < task.numberOfOffsets; offset += layout.warps)
    {
      const PairRows rows = this->Pairs(offset, 0);
      for (int i = m_Lane; i < numberOfPlaces; i += lanesPerWarp)
      {
        int place = 0;
        if (i < this->NumberOfPairs(rows))
        {
          const int y = i / rows.size[0];
          const int z = y / rows.size[1];
          place = ((rows.begin[2] + z) * layout.tileRows + rows.begin[1] + y - z * rows.size[1]) * layout.tileColumns +
                  rows.begin[0] + i - y * rows.size[0];
        }
        m_Places[offset * numberOfPlaces + i] = static_cast<std::uint16_t>(place);
      }
    }
  }

  /** Compute the windows of a tile, or return false. */
  __device__ bool
  Compute(unsigned int tileRow, unsigned int tileX, const CudaOtherWindows &)
  {
    this->Begin(tileRow, tileX);
    if (!this->FindComputed(false))
    {
      return true;
    }
    this->LoadLevels();
    __syncthreads();
    if (this->Range() > maxRange)
    {
      return false;
    }
    this->FindRanks();
    if (m_Info.levels > maxTileLevels)
    {
      return false;
    }
    for (int i = threadIdx.x; i < m_Layout.tileVoxels; i += blockDim.x)
    {
      const int level = m_Tile[i] - m_Info.least;
      m_Tile[i] = static_cast<std::uint16_t>(m_Tile[i] != 0 ? this->Rank(level) << rankShift | level : noLevel);
    }
    __syncthreads();
    this->ComputeRows([this](int chunk, int step) { this->ComputeRow(chunk, step); });
    return true;
  }

private:
  /** The words of 2 * 50 keys pass through shared memory in three parts. */
  static constexpr int stagedWords = 17;
  static_assert(stagedWords <= 2 * featuresAtATime, "the features of a warp take as much memory");

  /** Sums over the pairs of the table; the first four are of v. */
  struct PairSums
  {
    // |v| <= 255 and at most 127 pairs: sums of cubes fit 32 bits.
    int          first;
    int          second;
    int          third;
    int          pairs;
    int          differences;
    int          differenceSquares;
    std::int64_t fourth;
    std::int64_t differenceTerms;
    std::int64_t rowTerms;
    std::int64_t weights[NumberOfCooccurrenceWeights];

    __device__ void
    Negate()
    {
      first = -first;
      second = -second;
      third = -third;
      pairs = -pairs;
      differences = -differences;
      differenceSquares = -differenceSquares;
      fourth = -fourth;
      differenceTerms = -differenceTerms;
      rowTerms = -rowTerms;
      for (std::int64_t & weight : weights)
      {
        weight = -weight;
      }
    }
  };

  static __device__ int
  NumberOfPairs(const PairRows & rows)
  {
    return max(rows.size[0], 0) * max(rows.size[1], 0) * max(rows.size[2], 0);
  }
  static __device__ int
  Offset(unsigned int byte)
  {
    return static_cast<int>(byte / 4 * wordStride + byte % 4);
  }

  /** Compute a row of each group. */
  __device__ void
  ComputeRow(int chunk, int step)
  {
    const int          row = m_Group * m_Layout.steps + step;
    const unsigned int computed = m_Info.computed[row];
    CooccurrenceSums   sums{};
    if (computed != 0 && m_Matrix < m_Layout.matrices)
    {
      this->Count(row, m_CountedStep == step - 1);
      m_CountedStep = step;
      sums.pairs = m_PairSums.pairs;
      sums.sums = m_PairSums.first;
      sums.sumSquares = m_PairSums.second;
      sums.sumCubes = m_PairSums.third;
      sums.sumFourths = m_PairSums.fourth;
      sums.differences = m_PairSums.differences;
      sums.differenceSquares = m_PairSums.differenceSquares;
      sums.differenceTerms = m_PairSums.differenceTerms;
      sums.rowTerms = m_PairSums.rowTerms;
      for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
      {
        sums.weights[w] = m_PairSums.weights[w];
      }
      if (m_Task.needsCells || m_Task.needsSumCounts)
      {
        this->SortPairs(row, sums);
      }
      sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
    }
    const bool isComputed = (computed >> m_Lane & 1u) != 0;
    if (this->Range() > m_Layout.maxDoubleRange)
    {
      this->Evaluate<WideInteger<2>>(chunk, row, sums, isComputed, this->Range());
    }
    else
    {
      this->Evaluate<double>(chunk, row, sums, isComputed, this->Range());
    }
  }

  /** Count the pairs of the matrix of this warp. The table may have those of the row before. */
  __device__ void
  Count(int row, bool hasRowBefore)
  {
    if (!hasRowBefore)
    {
      m_PairSums = {};
      for (int word = 0; word < tableWords; ++word)
      {
        *reinterpret_cast<std::uint32_t *>(m_Table + word * wordStride) = 0;
      }
    }
    const int range = this->Range();
    this->CountPairs(row, hasRowBefore, [&](const PairRows & rows, int number) {
      // What leaves the windows is added to the negative sums.
      if (number < 0)
      {
        m_PairSums.Negate();
      }
      this->template CountRowsOfLength<0>(rows, [&](unsigned int a, unsigned int b) {
        if (((a | b) & noLevel) == 0)
        {
          this->AddPair(a, b, number, range);
        }
      });
      if (number < 0)
      {
        m_PairSums.Negate();
      }
    });
  }
  __device__ __forceinline__ void
  AddPair(unsigned int a, unsigned int b, int number, int range)
  {
    const auto first = static_cast<int>(a & levelMask);
    const auto second = static_cast<int>(b & levelMask);
    const int  k = abs(first - second);
    const int  v = first + second - range;
    const auto square = static_cast<std::uint32_t>(v * v);
    m_PairSums.pairs += 1;
    m_PairSums.first += v;
    m_PairSums.second += static_cast<int>(square);
    m_PairSums.third += v * static_cast<int>(square);
    m_PairSums.fourth += static_cast<std::int64_t>(std::uint64_t{ square } * square);
    m_PairSums.differences += k;
    m_PairSums.differenceSquares += k * k;
    m_PairSums.differenceTerms += this->Step(Offset(static_cast<unsigned int>(k)), number);
    m_PairSums.rowTerms += this->Step(differenceWords * wordStride + Offset(a >> rankShift), number);
    m_PairSums.rowTerms += this->Step(differenceWords * wordStride + Offset(b >> rankShift), number);
    if (m_Task.needsWeights)
    {
#pragma unroll
      for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
      {
        m_PairSums.weights[w] += m_Weights[k * NumberOfCooccurrenceWeights + w];
      }
    }
  }
  /** Add 1 or -1 to a byte of the table; how much t differs between its two values. */
  __device__ __forceinline__ std::int64_t
                             Step(int offset, int number) const
  {
    auto &    count = *reinterpret_cast<std::uint8_t *>(m_Table + offset);
    const int before = count;
    count = static_cast<std::uint8_t>(before + number);
    return m_Steps[min(before, before + number)];
  }

  /** The sums over cells and sums of levels. */
  __device__ void
  SortPairs(int row, CooccurrenceSums & sums) const
  {
    constexpr int               numberOfWords = PowerOfTwo(VHalf);
    const PairRows              rows = this->Pairs(m_Matrix, row);
    const int                   pairs = this->NumberOfPairs(rows);
    const std::uint16_t * const places = m_Places + m_Matrix * numberOfPlaces;
    // The list has the places of the first row.
    const std::uint16_t * const first = m_Tile + row * m_Layout.tileColumns + m_Lane;
    const std::uint16_t * const second = first + rows.toSecond;
    const auto                  key = [&](int i) {
      return i < pairs ? Key(first[places[i]], second[places[i]], i) : noPair | static_cast<std::uint32_t>(i);
    };
    // Keys pass through shared memory, so that loops make and read them: the code of the sorting network alone nearly
    // fills the instruction cache.
    std::uint32_t words[numberOfWords];
#pragma unroll
    for (int begin = 0; begin < VHalf; begin += stagedWords)
    {
#pragma unroll 2
      for (int i = begin; i < begin + stagedWords && i < VHalf; ++i)
      {
        this->Staged(i - begin) = key(i) | key(VHalf + i) << 16;
      }
#pragma unroll
      for (int i = begin; i < begin + stagedWords && i < VHalf; ++i)
      {
        words[i] = this->Staged(i - begin);
      }
    }
    SortTwoHalves<VHalf>(words);
    SortedKeys<0> low;
    constexpr int firstLow = numberOfWords - VHalf;
    std::uint32_t before = ~words[firstLow];
#pragma unroll
    for (int begin = firstLow; begin < numberOfWords; begin += stagedWords)
    {
      const int end = begin + stagedWords < numberOfWords ? begin + stagedWords : numberOfWords;
#pragma unroll
      for (int i = begin; i < end; ++i)
      {
        this->Staged(i - begin) = words[i];
      }
#pragma unroll 4
      for (int i = 0; i < end - begin; ++i)
      {
        const std::uint32_t word = this->Staged(i);
        low.Add(m_KeySteps, word, word ^ before);
        before = word;
      }
    }
    SortedKeys<1> high(low);
    before <<= 16;
    // Keys without a pair are the last ones.
    const int keys = max(pairs, VHalf);
#pragma unroll
    for (int begin = 0; begin < VHalf; begin += stagedWords)
    {
#pragma unroll
      for (int i = begin; i < begin + stagedWords && i < VHalf; ++i)
      {
        this->Staged(i - begin) = words[i];
      }
#pragma unroll 4
      for (int i = begin; i < begin + stagedWords && VHalf + i < keys; ++i)
      {
        const std::uint32_t word = this->Staged(i - begin);
        high.Add(m_KeySteps, word, word ^ before);
        before = word;
      }
    }
    // The first byte of the table has the pairs without a difference.
    high.Get(m_Terms,
             keys,
             static_cast<int>(sums.pairs),
             *reinterpret_cast<const std::uint8_t *>(m_Table),
             static_cast<int>(m_Task.maxPairs),
             sums);
    // Other lanes write features where the keys are.
    __syncwarp();
  }
  static __device__ __forceinline__ std::uint32_t
                                    Key(unsigned int a, unsigned int b, int i)
  {
    const auto          first = static_cast<int>(a & levelMask);
    const auto          second = static_cast<int>(b & levelMask);
    const std::uint32_t key = PairKey(first + second, abs(first - second));
    return ((a | b) & noLevel) == 0 ? key : noPair | static_cast<std::uint32_t>(i);
  }
  /** A word of this thread, where the features of the warp are later. */
  __device__ std::uint32_t &
             Staged(int word) const
  {
    std::uint32_t * const lanes = reinterpret_cast<std::uint32_t *>(&this->Value(word / 2, m_Warp) - m_Lane);
    return lanes[word % 2 * lanesPerWarp + m_Lane];
  }

  const SortedKeySteps  m_KeySteps;
  std::int64_t * const  m_Steps; // t(n + 1) - t(n)
  std::int64_t * const  m_Weights;
  std::uint16_t * const m_Places;
  PairSums              m_PairSums{};
};

template <int VHalf>
TileLayout
MakeLayout(const CooccurrenceTask & task)
{
  using Block = SortedBlock<VHalf>;
  return TileLayout(task, Block::tableWords, Block::ListBytes(task), maxTileWarps, true);
}

/** Call call(half of the keys) for as many pairs as a matrix can have. */
template <typename TCall>
auto
CallForPairs(const CooccurrenceTask & task, const TCall & call)
{
  return task.maxPairs <= 64    ? call(std::integral_constant<int, 32>())
         : task.maxPairs <= 100 ? call(std::integral_constant<int, 50>())
                                : call(std::integral_constant<int, 64>());
}
} // namespace

bool
CudaSortedTilesSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  constexpr int maxPlaces = 0xffff;
  return task.OffsetsPerMatrix() == 1 && task.maxPairs <= static_cast<std::uint64_t>(maxSortedPairs) &&
         CallForPairs(task, [&](auto half) {
           const TileLayout layout = MakeLayout<decltype(half)::value>(task);
           return FitsSharedMemory(layout, limits) && layout.tileVoxels <= maxPlaces;
         });
}

void
LaunchCudaSortedTiles(const CooccurrenceTask & task, const TileLayout & first, std::int64_t firstRow,
                      std::int64_t endRow, const CudaOtherWindows & others, const std::uint32_t * tiles,
                      cudaStream_t stream)
{
  CallForPairs(task, [&](auto half) {
    constexpr int value = decltype(half)::value;
    LaunchTileList<SortedBlock<value>>(
      task, MakeLayout<value>(task), first, firstRow, endRow, others, tiles, nullptr, stream);
  });
}
} // namespace voxelmaps
