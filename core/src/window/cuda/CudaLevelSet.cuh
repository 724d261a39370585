// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaLevelSet_cuh
#define CudaLevelSet_cuh

#include "device/CudaWarp.cuh"

#include <cstdint>

namespace voxelmaps
{
/** The levels of at most 32 VWords that occur, in memory that threads share, and their ranks among them. */
template <int VWords>
class LevelSet
{
public:
  __device__ void
  Clear(int thread, int threads)
  {
    for (int word = thread; word < VWords; word += threads)
    {
      m_Bits[word] = 0;
    }
  }
  __device__ void
  Add(int level)
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
  /** Called by one thread; returns the number of levels. By hand: each thread may have a set of its own. */
  __device__ int
  MakeRanks()
  {
    int levels = 0;
    for (int word = 0; word < VWords; ++word)
    {
      m_Before[word] = levels;
      levels += __popc(m_Bits[word]);
    }
    return levels;
  }
  /** The same, called by all threads of a block. */
  __device__ int
  MakeRanksOfBlock()
  {
    static_assert(VWords <= wordBits, "a lane has a word");
    const int      lane = static_cast<int>(threadIdx.x) % wordBits;
    const WarpSums sums(lane < VWords ? __popc(m_Bits[lane]) : 0);
    if (threadIdx.x < VWords)
    {
      m_Before[lane] = sums.before;
    }
    __syncthreads();
    return sums.all;
  }
  __device__ int
  Rank(int level) const
  {
    return m_Before[level / wordBits] + __popc(m_Bits[level / wordBits] & ((1u << (level % wordBits)) - 1u));
  }

private:
  static constexpr int wordBits = 32;

  std::uint32_t m_Bits[VWords];
  /** Levels in the words before. */
  int m_Before[VWords];
};
} // namespace voxelmaps

#endif // CudaLevelSet_cuh
