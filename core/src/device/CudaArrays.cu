// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/CudaArrays.h"

#include "device/CudaLaunch.h"
#include "device/CudaStaging.h"
#include "discretization/GrayLevelJob.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;

/** What the threads find in a mask. */
struct MaskCounters
{
  unsigned int hasInside;
  // The largest bits, and their largest complement, of values that are neither 0 nor NaN: 0 if there is none.
  unsigned long long maximum;
  unsigned long long maximumOfComplement;
};

/** The bits of a value, followed by zeros: equal for equal values other than 0 and NaN. */
template <typename T>
__device__ unsigned long long
BitsOf(T value)
{
  if constexpr (std::is_same<T, float>::value)
  {
    return __float_as_uint(value);
  }
  else if constexpr (std::is_same<T, double>::value)
  {
    return static_cast<unsigned long long>(__double_as_longlong(value));
  }
  else
  {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <typename T>
__global__ void
MaskKernel(const T * pixels, std::int64_t count, bool hasInsideValue, T insideValue, std::uint8_t * bytes,
           MaskCounters * counters)
{
  bool               hasInside = false;
  unsigned long long maximum = 0;
  unsigned long long maximumOfComplement = 0;
  ForEachInGrid(count, [&](std::int64_t i) {
    const T    value = pixels[i];
    const bool isValue = value == value && value != T{};
    const bool isInside = hasInsideValue ? value == insideValue : isValue;
    bytes[i] = isInside ? 1 : 0;
    hasInside = hasInside || isInside;
    if (isValue)
    {
      const unsigned long long bits = BitsOf(value);
      maximum = bits > maximum ? bits : maximum;
      maximumOfComplement = ~bits > maximumOfComplement ? ~bits : maximumOfComplement;
    }
  });
  // By hand: few threads find more than those before them.
  if (hasInside && *static_cast<volatile unsigned int *>(&counters->hasInside) == 0)
  {
    atomicOr(&counters->hasInside, 1u);
  }
  if (maximum > *static_cast<volatile unsigned long long *>(&counters->maximum))
  {
    atomicMax(&counters->maximum, maximum);
  }
  if (maximumOfComplement > *static_cast<volatile unsigned long long *>(&counters->maximumOfComplement))
  {
    atomicMax(&counters->maximumOfComplement, maximumOfComplement);
  }
}

/** Count the pixels other than 0, and write those for which there is room. By hand: few are, and CUB's DeviceSelect
 * writes all. */
template <typename T>
__global__ void
NonzeroKernel(const T * pixels, std::int64_t count, NonzeroPixel * found, unsigned long long room,
              unsigned long long * numberOfFound)
{
  ForEachInGrid(count, [&](std::int64_t i) {
    const T value = pixels[i];
    if (value != T{})
    {
      const unsigned long long place = atomicAdd(numberOfFound, 1ull);
      if (place < room)
      {
        found[place] = { i, static_cast<std::int64_t>(value) };
      }
    }
  });
}

cudaPos
PositionOf(const ArrayBox & box, std::uint64_t bytesPerVoxel)
{
  return make_cudaPos(
    static_cast<std::size_t>(box.index[0]) * bytesPerVoxel, static_cast<std::size_t>(box.index[1]), box.index[2]);
}

cudaPitchedPtr
PointerOf(const void * array, const ArrayBox & box, std::uint64_t bytesPerVoxel)
{
  const std::size_t rowBytes = static_cast<std::size_t>(box.arraySize[0]) * bytesPerVoxel;
  return make_cudaPitchedPtr(const_cast<void *>(array), rowBytes, rowBytes, static_cast<std::size_t>(box.arraySize[1]));
}

cudaStream_t
StreamOf(const CudaOptions & options)
{
  return static_cast<cudaStream_t>(options.stream);
}
} // namespace

int
GetDeviceOf(const void * address)
{
  cudaPointerAttributes attributes{};
  const cudaError_t     result = cudaPointerGetAttributes(&attributes, address);
  cudaGetLastError();
  const bool isOnDevice = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return result == cudaSuccess && isOnDevice ? attributes.device : -1;
}

std::shared_ptr<void>
AllocateCuda(std::uint64_t bytes, const CudaOptions & options)
{
  const CurrentDevice device(options.deviceID);
  auto                buffer = std::make_unique<DeviceBuffer<char>>(bytes, StreamOf(options));
  void * const        data = buffer->data();
  return std::shared_ptr<void>(data, [buffer = buffer.release(), deviceID = options.deviceID](void *) {
    int former = deviceID;
    // Null is the default stream of the current device.
    cudaGetDevice(&former);
    cudaSetDevice(deviceID);
    delete buffer;
    cudaSetDevice(former);
  });
}

void
CopyBoxCuda(const void * from, const ArrayBox & fromBox, void * to, const ArrayBox & toBox, std::uint64_t bytesPerVoxel,
            const JobExecution & execution, const CudaOptions & options)
{
  const CurrentDevice device(options.deviceID);
  const cudaStream_t  stream = StreamOf(options);
  const bool          isFromHost = options.inputLocation == MemoryLocation::Host;
  const bool          isToHost = options.outputLocation == MemoryLocation::Host;
  const std::uint64_t bytes = static_cast<std::uint64_t>(toBox.size[0] * toBox.size[1] * toBox.size[2]) * bytesPerVoxel;
  if (bytes == 0)
  {
    return;
  }
  if (isFromHost && !isToHost && fromBox.size == fromBox.arraySize && toBox.size == toBox.arraySize)
  {
    CudaStaging(execution).ToDevice(to, from, bytes, stream);
  }
  else
  {
    cudaMemcpy3DParms copy{};
    copy.srcPtr = PointerOf(from, fromBox, bytesPerVoxel);
    copy.srcPos = PositionOf(fromBox, bytesPerVoxel);
    copy.dstPtr = PointerOf(to, toBox, bytesPerVoxel);
    copy.dstPos = PositionOf(toBox, bytesPerVoxel);
    copy.extent = make_cudaExtent(static_cast<std::size_t>(toBox.size[0]) * bytesPerVoxel,
                                  static_cast<std::size_t>(toBox.size[1]),
                                  static_cast<std::size_t>(toBox.size[2]));
    copy.kind = isFromHost ? (isToHost ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                           : (isToHost ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
    CheckCuda(cudaMemcpy3DAsync(&copy, stream), "copying a box of an array");
  }
  if (isFromHost || isToHost)
  {
    CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
  }
}

void
ClearCuda(void * memory, std::uint64_t bytes, const CudaOptions & options)
{
  const CurrentDevice device(options.deviceID);
  CheckCuda(cudaMemsetAsync(memory, 0, bytes, StreamOf(options)), "clearing device memory");
}

MaskValues
MakeMaskBytesCuda(PixelType pixelType, const void * pixels, std::int64_t count, const void * insideValue,
                  std::uint8_t * bytes, const CudaOptions & options)
{
  const CurrentDevice              device(options.deviceID);
  const cudaStream_t               stream = StreamOf(options);
  const DeviceBuffer<MaskCounters> onDevice(1, stream);
  CheckCuda(cudaMemsetAsync(onDevice.data(), 0, sizeof(MaskCounters), stream), "clearing device memory");
  VisitPixelType(pixelType, [&](auto pixel) {
    if (insideValue != nullptr)
    {
      std::memcpy(&pixel, insideValue, sizeof(pixel));
    }
    MaskKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(count), threadsPerBlock), threadsPerBlock, 0, stream>>>(
      static_cast<const decltype(pixel) *>(pixels), count, insideValue != nullptr, pixel, bytes, onDevice.data());
    CheckLaunch("starting the kernel of masks");
  });
  const MaskCounters counters = CopyFromDevice(onDevice, stream);
  return { counters.hasInside != 0, counters.maximum != 0 && counters.maximum != ~counters.maximumOfComplement };
}

std::vector<NonzeroPixel>
FindNonzeroPixelsCuda(PixelType pixelType, const void * pixels, std::int64_t count, const CudaOptions & options)
{
  const CurrentDevice                    device(options.deviceID);
  const cudaStream_t                     stream = StreamOf(options);
  const DeviceBuffer<unsigned long long> counter(1, stream);
  // Enough for most seed images.
  unsigned long long         room = std::min<unsigned long long>(static_cast<unsigned long long>(count), 1u << 16);
  DeviceBuffer<NonzeroPixel> found(room, stream);
  for (;;)
  {
    CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned long long), stream), "clearing device memory");
    VisitPixelType(pixelType, [&](auto pixel) {
      const unsigned int blocks = BlocksForGridStride(static_cast<std::uint64_t>(count), threadsPerBlock);
      NonzeroKernel<<<blocks, threadsPerBlock, 0, stream>>>(
        static_cast<const decltype(pixel) *>(pixels), count, found.data(), room, counter.data());
      CheckLaunch("starting the kernel of seeds");
    });
    const unsigned long long number = CopyFromDevice(counter, stream);
    if (number <= room)
    {
      std::vector<NonzeroPixel> result(number);
      CopyFromDevice(result.data(), found.data(), number, stream);
      std::sort(result.begin(), result.end(), [](const auto & a, const auto & b) { return a.number < b.number; });
      return result;
    }
    room = number;
    found.Allocate(room, stream);
  }
}
} // namespace voxelmaps
