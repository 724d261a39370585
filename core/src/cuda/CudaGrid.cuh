// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaGrid_cuh
#define CudaGrid_cuh

#include <cstdint>

namespace voxelmaps
{
/** Call f(i) for those of the items 0 ... count - 1 that are this thread's. */
template <typename TFunction>
inline __device__ void
ForEachInGrid(std::int64_t count, const TFunction & f)
{
  const std::int64_t step = std::int64_t{ gridDim.x } * blockDim.x;
  for (std::int64_t i = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x; i < count; i += step)
  {
    f(i);
  }
}
} // namespace voxelmaps

#endif // CudaGrid_cuh
