// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaLevelSet_cuh
#define CudaLevelSet_cuh

#include <cstdint>

namespace voxelmaps
{
/** The levels that occur, as bits in memory that threads share, and their ranks among them. */
class LevelSetView
{
public:
  static constexpr int wordBits = 32;

  /** before: how many levels the words before have. */
  __device__
  LevelSetView(std::uint32_t * bits, int * before, int words)
    : m_Bits(bits)
    , m_Before(before)
    , m_Words(words)
  {}
  __device__ void
  Clear(int thread, int threads) const
  {
    for (int word = thread; word < m_Words; word += threads)
    {
      m_Bits[word] = 0;
    }
  }
  __device__ void
  Add(int level) const
  {
    std::uint32_t * const word = m_Bits + level / wordBits;
    const std::uint32_t   mask = 1u << (level % wordBits);
    // Reading is faster, and most levels are there already.
    if ((*static_cast<volatile std::uint32_t *>(word) & mask) == 0)
    {
      atomicOr(word, mask);
    }
  }
  __device__ bool
  Has(int level) const
  {
    return (m_Bits[level / wordBits] >> (level % wordBits) & 1u) != 0;
  }
  __device__ int
  Rank(int level) const
  {
    return m_Before[level / wordBits] + __popc(m_Bits[level / wordBits] & ((1u << (level % wordBits)) - 1u));
  }
  /** Called by one thread; returns the number of levels. */
  __device__ int
  MakeRanks() const
  {
    int levels = 0;
    for (int word = 0; word < m_Words; ++word)
    {
      m_Before[word] = levels;
      levels += __popc(m_Bits[word]);
    }
    return levels;
  }
  /** Called by all threads of a team, for which a scan of CUB adds up numbers; returns the number of levels. */
  template <typename TScan>
  __device__ __forceinline__ int
  MakeRanks(int thread, int threads, TScan scan) const
  {
    const int share = (m_Words + threads - 1) / threads;
    const int begin = min(thread * share, m_Words);
    const int end = min(begin + share, m_Words);
    int       levels = 0;
    for (int word = begin; word < end; ++word)
    {
      levels += __popc(m_Bits[word]);
    }
    int before = 0;
    int all = 0;
    scan.ExclusiveSum(levels, before, all);
    for (int word = begin; word < end; ++word)
    {
      m_Before[word] = before;
      before += __popc(m_Bits[word]);
    }
    return all;
  }

private:
  std::uint32_t * m_Bits;
  int *           m_Before;
  int             m_Words;
};

/** A set of at most 32 VWords levels, with its memory. */
template <int VWords>
struct LevelSet
{
  std::uint32_t bits[VWords];
  int           before[VWords];

  __device__ LevelSetView
  View()
  {
    return { bits, before, VWords };
  }
};
} // namespace voxelmaps

#endif // CudaLevelSet_cuh
