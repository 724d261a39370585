// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSortedKeys_cuh
#define CudaSortedKeys_cuh

#include "cooccurrence/CooccurrenceFormulas.h"

#include <cstddef>
#include <cstdint>

// Pairs of levels as keys of 16 bits. When they are sorted, equal pairs are neighbors, and so are equal sums of levels.
namespace voxelmaps
{
/** Pairs of a window: sums of rows count at most twice as many, which fit bytes. */
constexpr int maxSortedPairs = 127;

/** A key is (sum << 7) | (difference / 2), for levels of 0 to 255: sum and difference are even or odd together, so that
 * the key determines both levels. */
constexpr int     sumShift = 7;
inline __device__ std::uint32_t
                  PairKey(int sum, int difference)
{
  return static_cast<std::uint32_t>(sum << sumShift | difference >> 1);
}
/** Where there is no pair, a key of its own: greater than all others, with a sum that no pair has. */
constexpr std::uint32_t noPair = 0xff80;

/** What the sums of t grow by, in shared memory. */
struct SortedKeySteps
{
  /** When a pair makes a cell c: t(c) - t(c - 1) in each of two cells, or t(c) - t(c - 2) in one of the diagonal. */
  struct __align__(16) Cell
  {
    std::int64_t besideDiagonal;
    std::int64_t onDiagonal;
  };
  static constexpr int         numberOfTerms = 2 * maxSortedPairs + 1;
  static constexpr int         numberOfSums = maxSortedPairs + 1;
  static constexpr std::size_t bytes = numberOfTerms * sizeof(Cell) + numberOfSums * sizeof(std::int64_t);

  char * cells;
  char * sums; // t(n + 1) - t(n)

  __device__ explicit SortedKeySteps(char * shared)
    : cells(shared)
    , sums(shared + numberOfTerms * sizeof(Cell))
  {}
  /** From t(n) for n up to twice the number of pairs; by all threads of the block. */
  __device__ void
  Load(const std::int64_t * t, int maxPairs) const
  {
    for (int n = threadIdx.x; n < numberOfTerms; n += blockDim.x)
    {
      const bool isTerm = n <= 2 * maxPairs;
      reinterpret_cast<Cell *>(cells)[n] = { isTerm && n > 0 ? 2 * (t[n] - t[n - 1]) : 0,
                                             isTerm && n > 1 ? t[n] - t[n - 2] : 0 };
    }
    for (int n = threadIdx.x; n < numberOfSums; n += blockDim.x)
    {
      reinterpret_cast<std::int64_t *>(sums)[n] = n < maxPairs ? t[n + 1] - t[n] : 0;
    }
  }
};

/** Sorted keys, one after the other, in the low (0) or high (1) halves of words. */
template <int VHalf>
class SortedKeys
{
public:
  /** The word of the keys, and which bits of it differ from the word before. */
  __device__ __forceinline__ void
  Add(const SortedKeySteps & steps, std::uint32_t word, std::uint32_t changed)
  {
    constexpr int           shift = 16 * VHalf;
    constexpr std::uint32_t cellBits = 0xffffu << shift;
    constexpr std::uint32_t sumBits = noPair << shift;
    // The difference, and whether the sum is odd.
    constexpr std::uint32_t differenceBits = 0xffu << shift;

    const bool isOnDiagonal = (word & differenceBits) == 0;
    const int  next = m_Place + (isOnDiagonal ? 2 * cellStride : cellStride);
    const int  first = isOnDiagonal ? 2 * cellStride + diagonalPlace : cellStride;
    m_Place = (changed & cellBits) == 0 ? next : first;
    m_CellTerms += *reinterpret_cast<const std::int64_t *>(steps.cells + m_Place);
    m_Places += m_Place;
    m_MaxPlace = max(m_MaxPlace, m_Place);
    m_Sum = (changed & sumBits) == 0 ? m_Sum + sumStride : 0;
    m_SumTerms += *reinterpret_cast<const std::int64_t *>(steps.sums + m_Sum);
  }

  /** Of so many keys, of which so many are pairs, and so many of these on the diagonal. */
  __device__ void
  Get(const std::int64_t * terms, int keys, int pairs, int pairsOnDiagonal, int maxPairs, CooccurrenceSums & sums) const
  {
    const int others = keys - pairs;
    sums.cellTerms = m_CellTerms;
    sums.maximum = m_MaxPlace / cellStride;
    // The squares of two cells c grow by 4 c - 2, that of a cell of the diagonal by 4 c - 4. Each of the other keys is
    // a cell of its own off the diagonal, and all have the same sum.
    const int cells = (m_Places - pairsOnDiagonal * diagonalPlace) / cellStride;
    sums.cellSquares = 4 * (cells - others) - 2 * pairs - 2 * pairsOnDiagonal;
    sums.sumTerms = m_SumTerms - terms[min(others, maxPairs)];
  }

private:
  static constexpr int cellStride = sizeof(SortedKeySteps::Cell);
  static constexpr int sumStride = sizeof(std::int64_t);
  static constexpr int diagonalPlace = sizeof(std::int64_t);

  /** Of the steps of the current cell c: c * cellStride, and diagonalPlace if it is on the diagonal. */
  int m_Place{ 0 };
  int m_Places{ 0 };
  int m_MaxPlace{ 0 };
  /** Of the step of the current sum. */
  int          m_Sum{ 0 };
  std::int64_t m_CellTerms{ 0 };
  std::int64_t m_SumTerms{ 0 };
};
} // namespace voxelmaps

#endif // CudaSortedKeys_cuh
