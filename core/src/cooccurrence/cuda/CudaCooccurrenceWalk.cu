// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// One warp per window, or one thread if offsets have weights. Supports every task; the reference on the device.
#include "CudaCooccurrenceMethods.h"
#include "CudaRankedWindows.cuh"
#include "cooccurrence/CooccurrenceWalk.h"
#include "cooccurrence/WeightedCooccurrence.h"
#include "texture/cuda/CudaWalk.cuh"

#include <algorithm>

namespace voxelmaps
{
namespace
{
// Warps in flight on every multiprocessor, if there is memory for their tables.
constexpr std::uint64_t warpsPerMultiprocessor = 32;

/** The team of a walk: a block of one warp. */
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
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * warpsPerMultiprocessor;
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
} // namespace

CudaScratchBytes
CudaCooccurrenceWalkScratchBytes(const CooccurrenceTask & task)
{
  const CooccurrenceCountTable table = MakeCooccurrenceCountTable(task);
  const std::uint64_t          bytes = table.isShared ? 0 : table.Bytes();
  return { bytes, bytes * WarpsInFlight() };
}

void
ComputeByCudaCooccurrenceWalk(const CooccurrenceTask & task, const WindowNumbers & numbers,
                              const CudaMethodResources & resources)
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
ComputeByCudaCooccurrenceWalk(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  ComputeByCudaCooccurrenceWalk(
    task, { static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)), 0, nullptr }, resources);
}

CudaScratchBytes
CudaWeightedCooccurrenceScratchBytes(const CooccurrenceTask & task)
{
  return CudaWalkScratchBytes<WeightedCooccurrence>(task, cudaThreadWalkPolicy);
}

void
ComputeByCudaWeightedCooccurrence(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  const std::int64_t levels = MaxWindowLevels(task);
  const std::int64_t steps =
    static_cast<std::int64_t>(task.maxPairs) + levels * levels * (task.needsMaximalCorrelation ? levels : 1);
  ComputeByCudaWalk<WeightedCooccurrence>(task, cudaThreadWalkPolicy, 8 * steps, resources);
}
} // namespace voxelmaps
