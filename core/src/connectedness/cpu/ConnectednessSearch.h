// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ConnectednessSearch_h
#define ConnectednessSearch_h

#include "connectedness/AffinityPlan.h"
#include "PixelAccess.h"

namespace voxelmaps
{
/** A job for one pixel type, as Queue, Buckets and Tiles see it. */
template <typename TPixel>
struct ConnectednessSearch
{
  const FuzzyConnectednessJob &                job;
  const typename PixelAccess<TPixel>::Iterator image;
  const EdgeKeys<TPixel>                       edges;
  const std::vector<Link>                      links;
  /** Links of smaller keys do not count. */
  const std::uint32_t minKey;
  /** One per voxel, noKey before the search. */
  std::uint32_t * keys;

  ConnectednessSearch(const FuzzyConnectednessJob & theJob, std::uint32_t * theKeys)
    : job(theJob)
    , image(PixelAccess<TPixel>::Get(theJob))
    , edges(theJob)
    , links(MakeLinks(theJob))
    , minKey(MinKey(theJob))
    , keys(theKeys)
  {}

  /** Call f(neighbor, weight of the link) for all neighbors in the image. */
  template <typename TFunction>
  void
  ForEachNeighbor(std::int64_t voxel, const TFunction & f) const
  {
    const std::int64_t x = voxel % job.size[0];
    const std::int64_t row = voxel / job.size[0];
    const std::int64_t y = row % job.size[1];
    const std::int64_t z = row / job.size[1];
    const bool         interior = x > 0 && x < job.size[0] - 1 && y > 0 && y < job.size[1] - 1 &&
                          (job.size[2] == 1 || (z > 0 && z < job.size[2] - 1));
    if (interior)
    {
      for (const Link & link : links)
      {
        f(voxel + link.stride, link.weight);
      }
      return;
    }
    for (const Link & link : links)
    {
      const std::int64_t nx = x + link.x;
      const std::int64_t ny = y + link.y;
      const std::int64_t nz = z + link.z;
      if (nx >= 0 && nx < job.size[0] && ny >= 0 && ny < job.size[1] && nz >= 0 && nz < job.size[2])
      {
        f(voxel + link.stride, link.weight);
      }
    }
  }

  bool
  IsInside(std::int64_t voxel) const
  {
    return job.mask == nullptr || job.mask[voxel] != 0;
  }
};
} // namespace voxelmaps

#endif // ConnectednessSearch_h
