// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaWarp_cuh
#define CudaWarp_cuh

#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/std/functional>

// CUB's collectives of a warp, for all of its lanes, without shared memory. Called by all lanes.
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
} // namespace voxelmaps

#endif // CudaWarp_cuh
