// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ConnectednessGraph_h
#define ConnectednessGraph_h

#include "RowKeys.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace voxelmaps
{
/** The links between the voxels of an image of any pixel type. */
struct ConnectednessGraph
{
  Triple                         size;
  const std::uint8_t *           mask; // null if there is none
  const std::unique_ptr<RowKeys> rows;
  const std::vector<Link>        links;
  /** Links of smaller keys do not count. */
  const std::uint32_t minKey;

  ConnectednessGraph(const FuzzyConnectednessProblem & problem, std::uint32_t theMinKey)
    : size(problem.size)
    , mask(problem.mask)
    , rows(MakeRowKeys(problem))
    , links(MakeLinks(problem))
    , minKey(theMinKey)
  {}

  /** Compute the keys of one link of voxels first + i; a key is noKey where there is no link. */
  void
  GetKeys(std::int64_t first, int count, const Link & link, std::uint32_t * keys) const
  {
    rows->Compute(first, count, link, keys);
    if (mask == nullptr)
    {
      for (int i = 0; i < count; ++i)
      {
        keys[i] = keys[i] >= minKey ? keys[i] : noKey;
      }
      return;
    }
    const std::uint8_t * const from = mask + first;
    const std::uint8_t * const to = from + link.stride;
    for (int i = 0; i < count; ++i)
    {
      keys[i] = keys[i] >= minKey && from[i] != 0 && to[i] != 0 ? keys[i] : noKey;
    }
  }

  /** Call f(i, key) for one link of voxels first + i. */
  template <typename TFunction>
  void
  ForEachKey(std::int64_t first, int count, const Link & link, const TFunction & f) const
  {
    // A row of a tile.
    constexpr int                    chunk = 128;
    std::array<std::uint32_t, chunk> keys;
    for (int begin = 0; begin < count; begin += chunk)
    {
      const int end = std::min(begin + chunk, count);
      this->GetKeys(first + begin, end - begin, link, keys.data());
      for (int i = begin; i < end; ++i)
      {
        f(i, keys[i - begin]);
      }
    }
  }

  /** The key of one link of a voxel. */
  std::uint32_t
  GetKey(std::int64_t voxel, const Link & link) const
  {
    std::uint32_t key = noKey;
    this->GetKeys(voxel, 1, link, &key);
    return key;
  }
};
} // namespace voxelmaps

#endif // ConnectednessGraph_h
