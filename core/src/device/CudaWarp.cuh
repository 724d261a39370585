// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaWarp_cuh
#define CudaWarp_cuh

#include <cooperative_groups.h>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/std/functional>

// Collectives of a warp without shared memory, those of CUB for all of its lanes.
namespace voxelmaps
{
/** The values of all lanes joined in any order; CUB has the result in the first lane only. */
template <typename T, typename TJoin>
__device__ T
ReduceWarp(const T & value, const TJoin & join)
{
  using Reduce = cub::WarpReduce<T>;
  typename Reduce::TempStorage none; // 32 lanes need none
  return cub::ShuffleIndex<32>(Reduce(none).Reduce(value, join), 0, 0xffffffffu);
}

/** The sum of the values of the lanes before, and that of all lanes. */
struct WarpSums
{
  int before;
  int all;

  explicit __device__
  WarpSums(int value)
  {
    using Scan = cub::WarpScan<int>;
    typename Scan::TempStorage none; // 32 lanes need none
    Scan(none).ExclusiveSum(value, before, all);
  }
};

/** A place in a list for each thread that calls this together with others. By hand: CUB needs all lanes. */
template <typename T>
__device__ T
TakePlace(T * number)
{
  const auto group = cooperative_groups::coalesced_threads();
  T          first = 0;
  if (group.thread_rank() == 0)
  {
    first = atomicAdd(number, static_cast<T>(group.size()));
  }
  return group.shfl(first, 0) + group.thread_rank();
}
} // namespace voxelmaps

#endif // CudaWarp_cuh
