// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRange_cuh
#define CudaRange_cuh

#include "common/HostDevice.h"
#include "device/CudaCub.h"

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace voxelmaps
{
/** Join initial and get(i) of the items 0 ... count - 1 into a result in device memory, in any order. */
template <typename TResult, typename TGet, typename TJoin>
void
ReduceOnDevice(std::int64_t count, const TGet & get, const TJoin & join, const TResult & initial, TResult * result,
               cudaStream_t stream)
{
  CallCub("reducing an image", stream, [&](void * memory, std::size_t & bytes) {
    const thrust::counting_iterator<std::int64_t> items(0);
    return cub::DeviceReduce::TransformReduce(memory, bytes, items, result, count, join, get, initial, stream);
  });
}

/** The least and the greatest number of an image; the other way round if there is none. */
template <typename T>
struct CudaRange
{
  // Kernels cannot call the functions of std::numeric_limits.
  static constexpr T lowest = std::numeric_limits<T>::lowest();
  static constexpr T highest = std::numeric_limits<T>::max();

  T least;
  T greatest;

  bool
  IsEmpty() const
  {
    return least > greatest;
  }
};

template <typename T>
struct JoinRanges
{
  VOXELMAPS_HOST_DEVICE CudaRange<T>
                        operator()(const CudaRange<T> & a, const CudaRange<T> & b) const
  {
    return { a.least < b.least ? a.least : b.least, a.greatest > b.greatest ? a.greatest : b.greatest };
  }
};

/** The range of one number; empty if it is masked or not finite. */
template <typename T>
struct RangeOfItem
{
  const T *            numbers;
  const std::uint8_t * mask;

  VOXELMAPS_HOST_DEVICE CudaRange<T>
                        operator()(std::int64_t i) const
  {
    constexpr T lowest = CudaRange<T>::lowest;
    constexpr T highest = CudaRange<T>::highest;
    bool        isUsed = mask == nullptr || mask[i] != 0;
    const T     number = isUsed ? numbers[i] : T{ 0 };
    if constexpr (std::is_floating_point<T>::value)
    {
      isUsed = isUsed && number >= lowest && number <= highest;
    }
    return isUsed ? CudaRange<T>{ number, number } : CudaRange<T>{ highest, lowest };
  }
};

/** The range of the finite numbers inside a mask, which may be null, in device memory. Waits for the stream. */
template <typename T>
CudaRange<T>
FindCudaRange(const T * numbers, const std::uint8_t * mask, std::int64_t count, cudaStream_t stream)
{
  CudaRange<T>                     range{ CudaRange<T>::highest, CudaRange<T>::lowest };
  const DeviceBuffer<CudaRange<T>> onDevice(1, stream);
  ReduceOnDevice(count, RangeOfItem<T>{ numbers, mask }, JoinRanges<T>(), range, onDevice.data(), stream);
  CopyFromDevice(&range, onDevice.data(), 1, stream);
  return range;
}
} // namespace voxelmaps

#endif // CudaRange_cuh
