// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Tables of the ranks of levels for the windows in tiles of few levels; WindowWalk computes the others.
#include "CudaCooccurrenceMethods.h"
#include "CudaRankedWindows.cuh"
#include "texture/cuda/CudaChunkedLaunch.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
/** Rows of tiles that are computed at a time, so that a list has room for all their windows. */
std::int64_t
PartRows(const CooccurrenceTask & task, const CudaTileRows & rows)
{
  constexpr std::int64_t maxListWindows = 1 << 20;
  const std::int64_t     rowWindows = std::min(rows.windowRows, task.outputSize[1]) * task.outputSize[0];
  return std::min(rows.number, std::max<std::int64_t>(maxListWindows / rowWindows, 1));
}

/** Bytes of a list of windows, which begins with their number. */
std::uint64_t
ListBytes(const CooccurrenceTask & task, const CudaTileRows & rows)
{
  constexpr std::uint64_t alignment = 256;
  const auto windows = static_cast<std::uint64_t>(PartRows(task, rows) * rows.windowRows * task.outputSize[0]);
  return ((windows + 1) * sizeof(std::uint32_t) / alignment + 1) * alignment;
}
} // namespace

bool
CudaRankTablesSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  return !task.wideMoments && task.arithmetic != CooccurrenceArithmetic::Bits256 &&
         CudaFewLevelTilesSupports(task, limits);
}

CudaScratchBytes
CudaRankTablesScratchBytes(const CooccurrenceTask & task)
{
  const CudaTileRows     rows = GetCudaTileRows(task);
  const CudaScratchBytes walk = CudaCooccurrenceWalkScratchBytes(task);
  const std::uint64_t    listBytes = ListBytes(task, rows);
  // WindowWalk needs its memory when the tiles are done.
  const std::uint64_t tileBytes = CudaFewLevelTilesScratchBytes(PartRows(task, rows) * rows.tiles);
  return { listBytes + std::max(walk.minimum, tileBytes), listBytes + std::max(walk.maximum, tileBytes) };
}

void
ComputeByCudaRankTables(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  constexpr const char * doing = "starting the kernel of RankTables";
  const CudaTileRows     tileRows = GetCudaTileRows(task);
  const std::uint64_t    listBytes = ListBytes(task, tileRows);
  std::uint32_t * const  list = static_cast<std::uint32_t *>(resources.scratch);
  CudaMethodResources    others = resources;
  others.scratch = static_cast<char *>(resources.scratch) + listBytes;
  others.scratchBytes = resources.scratchBytes - listBytes;
  LaunchChunked(
    tileRows.number, PartRows(task, tileRows), resources, doing, [&](std::int64_t firstRow, std::int64_t endRow) {
      const std::int64_t first = tileRows.GetFirstWindow(task, firstRow);
      CheckCuda(cudaMemsetAsync(list, 0, sizeof(*list), resources.stream), doing);
      LaunchCudaFewLevelTiles(task, firstRow, endRow, { list, first, nullptr }, others.scratch, resources.stream);
      CheckLaunch(doing);
      std::uint32_t length = 0;
      CheckCuda(cudaMemcpyAsync(&length, list, sizeof(length), cudaMemcpyDeviceToHost, resources.stream), doing);
      CheckCuda(cudaStreamSynchronize(resources.stream), doing);
      ComputeByCudaCooccurrenceWalk(task, WindowNumbers{ length, first, list + 1 }, others);
    });
}
} // namespace voxelmaps
