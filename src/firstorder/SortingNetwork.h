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

namespace itk
{
namespace voxelmaps
{
namespace
{
/** Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M): calls exchange(i, j) with
 * i < j, which must leave the lesser of the numbers i and j of 0 ... size - 1 at i. The calls do not depend on the
 * numbers, so many windows can be sorted at a time. */
template <typename TExchange>
VOXELMAPS_HOST_DEVICE inline void
SortByMergeExchange(int size, const TExchange & exchange)
{
  int most = 1;
  while (2 * most < size)
  {
    most *= 2;
  }
  for (int p = most; p > 0; p /= 2)
  {
    int q = most;
    int r = 0;
    int d = p;
    for (;;)
    {
      // All i below size - d with (i & p) == r.
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
      q /= 2;
      r = p;
    }
  }
}
} // namespace
} // namespace voxelmaps
} // namespace itk

#endif // SortingNetwork_h
