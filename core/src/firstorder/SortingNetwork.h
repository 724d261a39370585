// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SortingNetwork_h
#define SortingNetwork_h

#include "common/HostDevice.h"

namespace voxelmaps
{
namespace
{
/** The rounds of Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M), which sorts
 * numbers 0 ... size - 1: calls round(p, r, d). In a round, all i < size - d with (i & p) == r are exchanged with i +
 * d, where that is less; p is a power of two. Rounds do not depend on the numbers, so many windows are sorted at a
 * time. */
template <typename TRound>
VOXELMAPS_HOST_DEVICE inline void
ForEachMergeExchangeRound(int size, const TRound & round)
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
      round(p, r, d);
      if (q == p)
      {
        break;
      }
      d = q - p;
      r = p;
    }
  }
}

/** Sort by exchange(i, j) with i < j, which must leave the lesser of the numbers i and j at i. */
template <typename TExchange>
VOXELMAPS_HOST_DEVICE inline void
SortByMergeExchange(int size, const TExchange & exchange)
{
  ForEachMergeExchangeRound(size, [&](int p, int r, int d) {
    for (int block = r; block < size - d; block += 2 * p)
    {
      const int end = block + p < size - d ? block + p : size - d;
      for (int i = block; i < end; ++i)
      {
        exchange(i, i + d);
      }
    }
  });
}
} // namespace
} // namespace voxelmaps

#endif // SortingNetwork_h
