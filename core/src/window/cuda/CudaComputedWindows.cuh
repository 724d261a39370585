// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaComputedWindows_cuh
#define CudaComputedWindows_cuh

#include "device/CudaCub.h"
#include "window/WindowBox.h"

#include <cub/device/device_partition.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <cstdint>

namespace voxelmaps
{
struct IsComputedWindow
{
  TextureTask  task;
  std::int64_t first;

  __device__ bool
  operator()(std::uint32_t i) const
  {
    return WindowBox::At(task, first + i).isComputed;
  }
};

/** Order the windows first ... first + number - 1, as numbers from first on: those that are computed, whose number
 * length becomes, and behind them those that masks and selections leave out. So the threads of a warp have work or
 * none; in the order of the output, they would wait for each other. CUB of CUDA 12.4 orders at most 2^31 - 1 items. */
inline void
OrderWindows(const TextureTask & task, std::int64_t first, int number, std::uint32_t * windows, std::uint32_t * length,
             cudaStream_t stream)
{
  CallCub("ordering windows", stream, [&](void * memory, std::size_t & bytes) {
    return cub::DevicePartition::If(memory,
                                    bytes,
                                    thrust::counting_iterator<std::uint32_t>(0),
                                    windows,
                                    length,
                                    number,
                                    IsComputedWindow{ task, first },
                                    stream);
  });
}
} // namespace voxelmaps

#endif // CudaComputedWindows_cuh
