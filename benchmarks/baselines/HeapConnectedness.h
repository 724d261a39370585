// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef HeapConnectedness_h
#define HeapConnectedness_h

#include "connectedness/AffinityPlan.h"

#include <cstdint>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

namespace VoxelMapsBenchmarks
{
/** Dijkstra's algorithm with one binary heap, whose outdated entries are skipped when they come up. Its keys are from
 * the tables of the core, so only the search is compared. For images of fewer than 2^32 voxels, without mask. */
template <typename TPixel>
void
ComputeHeapConnectedness(const voxelmaps::FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  using namespace voxelmaps;
  if (job.mask != nullptr || job.GetNumberOfVoxels() > std::int64_t{ 0xffffffff })
  {
    throw std::invalid_argument("the heap supports no mask, and at most 2^32 - 1 voxels");
  }
  const auto * const      image = static_cast<const TPixel *>(job.image);
  const EdgeKeys<TPixel>  edges(job);
  const std::vector<Link> links = MakeLinks(job);
  const std::uint32_t     minKey = MinKey(job);
  const auto              sizeX = static_cast<std::uint32_t>(job.size[0]);
  const auto              sizeY = static_cast<std::uint32_t>(job.size[1]);
  const auto              sizeZ = static_cast<std::uint32_t>(job.size[2]);
  std::fill_n(keys, job.GetNumberOfVoxels(), noKey);

  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> heap;
  for (const std::int64_t seed : job.seeds)
  {
    keys[seed] = seedKey;
    heap.emplace(seedKey, static_cast<std::uint32_t>(seed));
  }
  while (!heap.empty())
  {
    const std::uint32_t key = heap.top().first;
    const std::uint32_t voxel = heap.top().second;
    heap.pop();
    if (keys[voxel] != key)
    {
      continue;
    }
    const auto visit = [&](const Link & link) {
      const std::int64_t  neighbor = voxel + link.stride;
      const std::uint32_t known = keys[neighbor];
      if (known >= key)
      {
        return;
      }
      const std::uint32_t offer = std::min(edges.Key(image[voxel], image[neighbor], link.weight), key);
      if (offer >= minKey && offer > known)
      {
        keys[neighbor] = offer;
        heap.emplace(offer, static_cast<std::uint32_t>(neighbor));
      }
    };

    const std::uint32_t row = voxel / sizeX;
    const std::uint32_t x = voxel % sizeX;
    const std::uint32_t y = row % sizeY;
    const std::uint32_t z = row / sizeY;
    const bool          isInterior =
      x > 0 && x + 1 < sizeX && y > 0 && y + 1 < sizeY && (sizeZ == 1 || (z > 0 && z + 1 < sizeZ));
    for (const Link & link : links)
    {
      // Unsigned: -1 is beyond every size too.
      if (isInterior ||
          (x + static_cast<std::uint32_t>(link.x) < sizeX && y + static_cast<std::uint32_t>(link.y) < sizeY &&
           z + static_cast<std::uint32_t>(link.z) < sizeZ))
      {
        visit(link);
      }
    }
  }
}
} // namespace VoxelMapsBenchmarks

#endif // HeapConnectedness_h
