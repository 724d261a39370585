/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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
