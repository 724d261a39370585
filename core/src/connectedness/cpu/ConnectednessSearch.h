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
#ifndef ConnectednessSearch_h
#define ConnectednessSearch_h

#include "connectedness/AffinityPlan.h"
#include "connectedness/ImageOfInput.h"
#include "VectorVoxel.h"

namespace voxelmaps
{
/** Access to the pixels of an image: a pointer, or VectorVoxelIterator. */
template <typename TPixel>
struct PixelsOf
{
  using Iterator = const TPixel *;

  static Iterator
  Get(const FuzzyConnectednessInput & input)
  {
    return static_cast<Iterator>(input.image);
  }
};
template <>
struct PixelsOf<VectorVoxel>
{
  using Iterator = VectorVoxelIterator;

  static Iterator
  Get(const FuzzyConnectednessInput & input)
  {
    return Iterator(input);
  }
};

/** Call f with a pointer to the type of the pixels of a graph. */
template <typename TFunction>
auto
WithPixels(const FuzzyConnectednessInput & input, const TFunction & f)
{
  return input.numberOfComponents > 0 ? f(static_cast<const VectorVoxel *>(nullptr)) : WithImage(input, f);
}

/** The links between voxels of one pixel type. */
template <typename TPixel>
struct ConnectednessGraph
{
  using PixelIterator = typename PixelsOf<TPixel>::Iterator;

  Triple                  size;
  PixelIterator           image;
  const std::uint8_t *    mask; // null if there is none
  const EdgeKeys<TPixel>  edges;
  const std::vector<Link> links;
  /** Links of smaller keys do not count. */
  const std::uint32_t minKey;

  ConnectednessGraph(const FuzzyConnectednessProblem & problem, std::uint32_t theMinKey)
    : size(problem.size)
    , image(PixelsOf<TPixel>::Get(problem))
    , mask(problem.mask)
    , edges(problem)
    , links(MakeLinks(problem))
    , minKey(theMinKey)
  {}

  /** Call f(i, key) for one link of voxels first + i; a key is noKey where there is no link. */
  template <typename TFunction>
  void
  ForEachKey(std::int64_t first, int count, const Link & link, const TFunction & f) const
  {
    const PixelIterator from = image + first;
    const PixelIterator to = from + link.stride;
    // A copy, which f cannot change.
    const std::uint32_t least = minKey;
    if (mask == nullptr)
    {
      for (int i = 0; i < count; ++i)
      {
        const std::uint32_t key = edges.Key(from[i], to[i], link.weight);
        f(i, key >= least ? key : noKey);
      }
      return;
    }
    const std::uint8_t * const inside = mask + first;
    for (int i = 0; i < count; ++i)
    {
      const std::uint32_t key = edges.Key(from[i], to[i], link.weight);
      f(i, key >= least && inside[i] != 0 && inside[i + link.stride] != 0 ? key : noKey);
    }
  }

  /** The key of one link of a voxel. */
  std::uint32_t
  GetKey(std::int64_t voxel, const Link & link) const
  {
    std::uint32_t found = noKey;
    this->ForEachKey(voxel, 1, link, [&found](int, std::uint32_t key) { found = key; });
    return found;
  }

  /** Call f(neighbor, link) for all neighbors in the image. */
  template <typename TFunction>
  void
  ForEachLink(std::int64_t voxel, const TFunction & f) const
  {
    const std::int64_t x = voxel % size[0];
    const std::int64_t row = voxel / size[0];
    const std::int64_t y = row % size[1];
    const std::int64_t z = row / size[1];
    for (const Link & link : links)
    {
      const std::int64_t nx = x + link.x;
      const std::int64_t ny = y + link.y;
      const std::int64_t nz = z + link.z;
      if (nx >= 0 && nx < size[0] && ny >= 0 && ny < size[1] && nz >= 0 && nz < size[2])
      {
        f(voxel + link.stride, link);
      }
    }
  }
};

/** A job for one pixel type, as all methods see it. */
template <typename TPixel>
struct ConnectednessSearch : ConnectednessGraph<TPixel>
{
  const FuzzyConnectednessJob & job;
  /** One per voxel, noKey before the search. */
  std::uint32_t * keys;

  ConnectednessSearch(const FuzzyConnectednessJob & theJob, std::uint32_t * theKeys)
    : ConnectednessGraph<TPixel>(theJob, MinKey(theJob))
    , job(theJob)
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
      for (const Link & link : this->links)
      {
        f(voxel + link.stride, link.weight);
      }
      return;
    }
    this->ForEachLink(voxel, [&f](std::int64_t neighbor, const Link & link) { f(neighbor, link.weight); });
  }

  bool
  IsInside(std::int64_t voxel) const
  {
    return job.mask == nullptr || job.mask[voxel] != 0;
  }
};
} // namespace voxelmaps

#endif // ConnectednessSearch_h
