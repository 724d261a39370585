// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaCooccurrenceMethods.h"
#include "device/CudaMemory.h"
#include "window/cuda/CudaTextureEngine.h"
#include "CudaRankedWindows.cuh"
#include "glcm/CooccurrenceWalk.h"
#include "glcm/WeightedCooccurrence.h"
#include "window/cuda/CudaWalk.cuh"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace voxelmaps
{
namespace
{
// --- WindowWalk: one warp per window, or one thread if offsets have weights. Supports every task; the reference on the
// device.

// Warps in flight on every multiprocessor, if there is memory for their tables.
constexpr std::int64_t warpsPerMultiprocessor = 32;

/** The team of a walk: a block of one warp, which sums without shared memory, since tables can use all of it. By hand:
 * with CUB's WarpReduce, the sums of a window need 336 bytes of local memory instead of registers. */
class Warp : public CudaThreadBlock
{
public:
  static constexpr VOXELMAPS_HOST_DEVICE int
  Size()
  {
    return lanesPerWarp;
  }
  static __device__ void
  Synchronize()
  {
    __syncwarp();
  }
  static __device__ std::int64_t
                    Sum(std::int64_t value)
  {
    for (int offset = Size() / 2; offset > 0; offset /= 2)
    {
      value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    return value;
  }
  static __device__ std::int64_t
                    Max(std::int64_t value)
  {
    for (int offset = Size() / 2; offset > 0; offset /= 2)
    {
      value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    return value;
  }
  static __device__ std::uint64_t
                    ReplaceZero(std::uint64_t & number, std::uint64_t value)
  {
    return atomicCAS(reinterpret_cast<unsigned long long *>(&number), 0ull, static_cast<unsigned long long>(value));
  }
};

/** Maximal correlations are computed by a kernel of their own. */
struct NoCorrelation
{
  __device__ void
  operator()(const WindowBox &, int, int, CooccurrenceSums &) const
  {}
};

/** Compilers access shared memory faster if they know that it is. */
template <typename TNumber, bool VIsShared>
__global__ void
__launch_bounds__(Warp::Size())
  WalkKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ CooccurrenceCountTable table,
             char * scratch, const __grid_constant__ WindowNumbers numbers, std::int64_t firstWindow,
             std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  const auto                           compute = [&](void * memory) {
    NoCorrelation                                  correlation;
    CooccurrenceWalk<Warp, TNumber, NoCorrelation> walk(task, table, Warp(), correlation, memory);
    for (std::int64_t i = firstWindow + blockIdx.x; i < endWindow; i += gridDim.x)
    {
      walk.Compute(numbers[i]);
      __syncwarp();
    }
  };
  if constexpr (VIsShared)
  {
    compute(shared);
  }
  else
  {
    compute(scratch + std::uint64_t{ blockIdx.x } * table.Bytes());
  }
}

std::uint64_t
WarpsInFlight()
{
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) *
         static_cast<std::uint64_t>(PolicyValue("glcm.teams", warpsPerMultiprocessor));
}

template <typename TNumber>
void
Launch(const CooccurrenceTask & task, const WindowNumbers & numbers, const CudaMethodResources & resources)
{
  const CooccurrenceCountTable table = MakeCooccurrenceCountTable(task);
  std::uint64_t                warps = WarpsInFlight();
  if (!table.isShared && table.Bytes() > 0)
  {
    warps = std::max<std::uint64_t>(std::min<std::uint64_t>(warps, resources.scratchBytes / table.Bytes()), 1);
  }
  const std::size_t sharedBytes = table.isShared ? table.Bytes() : 0;

  // In parts of about a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 33;
  const std::int64_t     steps = static_cast<std::int64_t>(NumberOfVoxels(task.window)) * task.numberOfOffsets;
  const std::int64_t     part = std::max(partSteps, steps) / std::max<std::int64_t>(steps, 1);
  LaunchChunked(
    numbers.number, part, resources, "starting the kernel of WindowWalk", [&](std::int64_t first, std::int64_t end) {
      const auto kernel = table.isShared ? WalkKernel<TNumber, true> : WalkKernel<TNumber, false>;
      kernel<<<static_cast<unsigned int>(warps), Warp::Size(), sharedBytes, resources.stream>>>(
        task, table, static_cast<char *>(resources.scratch), numbers, first, end);
    });
}

CudaScratchBytes
WalkScratchBytes(const CooccurrenceTask & task)
{
  const CooccurrenceCountTable table = MakeCooccurrenceCountTable(task);
  const std::uint64_t          bytes = table.isShared ? 0 : table.Bytes();
  return { bytes, bytes * WarpsInFlight() };
}

void
ComputeByWalk(const CooccurrenceTask & task, const WindowNumbers & numbers, const CudaMethodResources & resources)
{
  switch (task.arithmetic)
  {
    case CooccurrenceArithmetic::Double:
      return Launch<double>(task, numbers, resources);
    case CooccurrenceArithmetic::Bits128:
      return Launch<WideInteger<2>>(task, numbers, resources);
    case CooccurrenceArithmetic::Bits256:
      return Launch<WideInteger<4>>(task, numbers, resources);
  }
}

void
ComputeByWalk(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  ComputeByWalk(task, { static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)), 0, nullptr }, resources);
}

CudaScratchBytes
WeightedScratchBytes(const CooccurrenceTask & task)
{
  return CudaWalkScratchBytes<WeightedCooccurrence>(task, cudaThreadWalkPolicy);
}

void
ComputeWeighted(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  const std::int64_t levels = MaxWindowLevels(task);
  const std::int64_t steps =
    static_cast<std::int64_t>(task.maxPairs) + levels * levels * (task.needsMaximalCorrelation ? levels : 1);
  ComputeByCudaWalk<WeightedCooccurrence>(task, cudaThreadWalkPolicy, 8 * steps, resources);
}

// --- RankTables: tables of the ranks of levels for the windows in tiles of few levels; WindowWalk computes the others.

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

bool
RankTablesSupport(const CooccurrenceTask & task, const CudaDeviceLimits & limits)
{
  return !task.wideMoments && task.arithmetic != CooccurrenceArithmetic::Bits256 &&
         CudaFewLevelTilesSupports(task, limits);
}

CudaScratchBytes
RankTablesScratchBytes(const CooccurrenceTask & task)
{
  const CudaTileRows     rows = GetCudaTileRows(task);
  const CudaScratchBytes walk = WalkScratchBytes(task);
  const std::uint64_t    listBytes = ListBytes(task, rows);
  // WindowWalk needs its memory when the tiles are done.
  const std::uint64_t tileBytes = CudaFewLevelTilesScratchBytes(PartRows(task, rows) * rows.tiles);
  return { listBytes + std::max(walk.minimum, tileBytes), listBytes + std::max(walk.maximum, tileBytes) };
}

void
ComputeByRankTables(const CooccurrenceTask & task, const CudaMethodResources & resources)
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
      CopyFromDevice(&length, list, 1, resources.stream);
      ComputeByWalk(task, WindowNumbers{ length, first, list + 1 }, others);
    });
}

// --- The engine

/** Adds the maximal correlations, which the methods leave out. */
CudaScratchBytes
WithCorrelations(CudaScratchBytes method, const CooccurrenceTask & slab)
{
  const CudaScratchBytes correlations = CudaMaximalCorrelationScratchBytes(slab);
  return { std::max(method.minimum, correlations.minimum), std::max(method.maximum, correlations.maximum) };
}
} // namespace

std::vector<CudaTextureMethod<CooccurrenceJob>>
TextureClass<CooccurrenceJob>::GetCudaMethods() const
{
  if (task.offsetWeights != nullptr)
  {
    return { { "WindowWalk", MethodSupport::Full, WeightedScratchBytes, ComputeWeighted } };
  }
  const auto pairList = std::make_shared<const std::int32_t *>(nullptr);
  return { { "SortedPairs",
             FullSupportIf(CudaSortedPairsSupports(task, GetCudaDeviceLimits())),
             [](const CooccurrenceTask & slab) { return WithCorrelations(CudaSortedPairsScratchBytes(slab), slab); },
             [pairList](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
               ComputeByCudaSortedPairs(slab, *pairList, resources);
               ComputeCudaMaximalCorrelations(slab, resources);
             },
             [this, pairList](CudaTables & tables) { tables.Add(MakeCudaPairList(task), *pairList); } },
           { "RankTables",
             FullSupportIf(RankTablesSupport(task, GetCudaDeviceLimits())),
             [](const CooccurrenceTask & slab) { return WithCorrelations(RankTablesScratchBytes(slab), slab); },
             [](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
               ComputeByRankTables(slab, resources);
               ComputeCudaMaximalCorrelations(slab, resources);
             } },
           { "WindowWalk",
             MethodSupport::Full,
             [](const CooccurrenceTask & slab) { return WithCorrelations(WalkScratchBytes(slab), slab); },
             [](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
               ComputeByWalk(slab, resources);
               ComputeCudaMaximalCorrelations(slab, resources);
             } } };
}

void
TextureClass<CooccurrenceJob>::AddCudaTables(CudaTables & tables, CooccurrenceTask & deviceTask) const
{
  tables.Add(offsets, deviceTask.offsets);
  if (!offsetWeights.empty())
  {
    tables.Add(offsetWeights, deviceTask.offsetWeights);
  }
  tables.Add(weights, deviceTask.weights);
  tables.Add(entropyTable, deviceTask.scales.entropyTable);
}
} // namespace voxelmaps
