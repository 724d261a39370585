// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SortingNetwork_h
#define SortingNetwork_h

namespace voxelmaps
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
} // namespace
} // namespace voxelmaps

#endif // SortingNetwork_h
