// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Tiling_h
#define Tiling_h

#include "common/ParallelFor.h"

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
/** Cut n into equal parts of at most maxSize; returns the size of a part. */
inline std::int64_t
EqualPart(std::int64_t n, std::int64_t maxSize)
{
  const std::int64_t parts = (n + maxSize - 1) / maxSize;
  return (n + parts - 1) / parts;
}

/** A tile of about so many voxels, with long rows. */
inline Triple
TileSize(const Triple & outputSize, std::int64_t voxels, const Triple & maxSize)
{
  Triple       size;
  std::int64_t rest = std::max<std::int64_t>(voxels, 1);
  for (int d = 0; d < 3; ++d)
  {
    size[d] = EqualPart(outputSize[d], std::min(rest, maxSize[d]));
    rest = std::max<std::int64_t>(rest / size[d], 1);
  }
  return size;
}

/** A region cut into boxes, x fastest. */
struct Tiling
{
  Triple region;
  Triple tile;
  Triple count;

  Tiling(const Triple & regionSize, const Triple & tileSize)
    : region(regionSize)
    , tile(tileSize)
  {
    for (int d = 0; d < 3; ++d)
    {
      count[d] = (region[d] + tile[d] - 1) / tile[d];
    }
  }
  std::int64_t
  Number() const
  {
    return count[0] * count[1] * count[2];
  }
  void
  Get(std::int64_t number, Triple & start, Triple & size) const
  {
    start = {
      { number % count[0] * tile[0], number / count[0] % count[1] * tile[1], number / (count[0] * count[1]) * tile[2] }
    };
    for (int d = 0; d < 3; ++d)
    {
      size[d] = std::min(tile[d], region[d] - start[d]);
    }
  }
};

/** Compute the tiles with all workers; makeWorker() returns the function that is called with start and size of a tile.
 */
template <typename TMakeWorker>
void
ForEachTile(const Tiling & tiling, const JobExecution & execution, const TMakeWorker & makeWorker)
{
  ForEachTask(tiling.Number(), execution, [&](unsigned int) {
    return [&execution, &tiling, compute = makeWorker()](std::int64_t number) mutable {
      Triple start;
      Triple size;
      tiling.Get(number, start, size);
      compute(start, size);
      execution.ReportProgress(static_cast<std::uint64_t>(size[0] * size[1] * size[2]));
    };
  });
}
} // namespace voxelmaps

#endif // Tiling_h
