// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef QueueMethod_h
#define QueueMethod_h

#include "ConnectednessSearch.h"

#include <deque>

namespace voxelmaps
{
/** kFOE: every voxel whose strength has grown offers it to its neighbors, first in, first out, until none grows. */
template <typename TPixel>
void
RunQueueMethod(const ConnectednessSearch<TPixel> & search)
{
  std::deque<std::int64_t> queue(search.job.seeds.begin(), search.job.seeds.end());
  for (const std::int64_t seed : search.job.seeds)
  {
    search.keys[seed] = seedKey;
  }
  // The work of a few milliseconds.
  constexpr std::uint64_t stepsBetweenReports = 65536;

  std::uint64_t steps = 0;
  std::uint64_t reached = 0;
  while (!queue.empty())
  {
    const std::int64_t voxel = queue.front();
    queue.pop_front();
    search.ForEachNeighbor(voxel, [&](std::int64_t neighbor, const LinkWeight & weight) {
      const std::uint32_t known = search.keys[neighbor];
      if (known >= search.keys[voxel] || !search.IsInside(neighbor))
      {
        return;
      }
      const std::uint32_t offer =
        std::min(search.edges.Key(search.image[voxel], search.image[neighbor], weight), search.keys[voxel]);
      if (offer >= search.minKey && offer > known)
      {
        reached += known == noKey ? 1 : 0;
        search.keys[neighbor] = offer;
        queue.push_back(neighbor);
      }
    });
    if (++steps % stepsBetweenReports == 0)
    {
      search.job.execution.ReportProgress(reached);
      reached = 0;
    }
  }
  search.job.execution.ReportProgress(reached);
}
} // namespace voxelmaps

#endif // QueueMethod_h
