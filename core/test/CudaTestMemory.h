// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTestMemory_h
#define CudaTestMemory_h

// Streams and device memory, for tests that are built with CUDA.

#include "device/CudaContext.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/Job.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace VoxelMapsTest
{
/** Throws unless a call of CUDA has succeeded. */
inline void
CheckCudaCall(cudaError_t result)
{
  if (result != cudaSuccess)
  {
    throw std::runtime_error(cudaGetErrorString(result));
  }
}

/** Bytes of device memory that the library still uses, without what it only caches: 0 if there is no hierarchy and no
 * leak. */
inline std::uint64_t
GetUsedDeviceBytes()
{
  voxelmaps::CudaDevices::ReleaseResources();
  CheckCudaCall(cudaDeviceSynchronize());
  return voxelmaps::CudaContext::Current().GetUsedBytes();
}

/** A stream that does not wait for the default stream. */
class Stream
{
public:
  Stream() { CheckCudaCall(cudaStreamCreateWithFlags(&m_Stream, cudaStreamNonBlocking)); }
  Stream(const Stream &) = delete;
  Stream &
  operator=(const Stream &) = delete;
  ~Stream() { cudaStreamDestroy(m_Stream); }
  operator cudaStream_t() const { return m_Stream; }

private:
  cudaStream_t m_Stream{ nullptr };
};

/** Elements in device memory, copied in a stream without waiting for it. */
template <typename T>
class DeviceArray
{
public:
  DeviceArray(const std::vector<T> & values, cudaStream_t stream)
    : m_Size(values.size())
    , m_Stream(stream)
  {
    CheckCudaCall(cudaMalloc(&m_Data, std::max<std::size_t>(this->GetBytes(), 1)));
    if (!values.empty())
    {
      CheckCudaCall(cudaMemcpyAsync(m_Data, values.data(), this->GetBytes(), cudaMemcpyHostToDevice, stream));
    }
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &
  operator=(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(m_Data); }

  T *
  data() const
  {
    return static_cast<T *>(m_Data);
  }
  std::vector<T>
  Get() const
  {
    std::vector<T> values(m_Size);
    CheckCudaCall(cudaMemcpyAsync(values.data(), m_Data, this->GetBytes(), cudaMemcpyDeviceToHost, m_Stream));
    CheckCudaCall(cudaStreamSynchronize(m_Stream));
    return values;
  }

  /** Copy another array of the same size, without waiting for it. */
  void
  Assign(const DeviceArray & other)
  {
    CheckCudaCall(cudaMemcpyAsync(m_Data, other.m_Data, this->GetBytes(), cudaMemcpyDeviceToDevice, m_Stream));
  }

private:
  std::size_t
  GetBytes() const
  {
    return m_Size * sizeof(T);
  }

  const std::size_t  m_Size;
  const cudaStream_t m_Stream;
  void *             m_Data{ nullptr };
};

/** Let the later work of a stream begin late. */
template <int VMilliseconds>
void
DelayStream(cudaStream_t stream)
{
  const auto sleep = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(VMilliseconds)); };
  CheckCudaCall(cudaLaunchHostFunc(stream, sleep, nullptr));
}

/** Where input and output are, and the stream. */
struct Place
{
  voxelmaps::MemoryLocation input;
  voxelmaps::MemoryLocation output;
  cudaStream_t              stream;

  template <typename TOptions>
  void
  Set(TOptions & options) const
  {
    options.inputLocation = input;
    options.outputLocation = output;
    options.stream = stream;
  }
};

inline std::ostream &
operator<<(std::ostream & out, const Place & place)
{
  const auto name = [](voxelmaps::MemoryLocation location) {
    return location == voxelmaps::MemoryLocation::Device ? "device" : "host";
  };
  return out << "from " << name(place.input) << " to " << name(place.output) << " in "
             << (place.stream == nullptr ? "the legacy default stream" : "a stream of its own");
}

/** All places with device memory, in the legacy default stream and another one. */
inline std::vector<Place>
GetPlaces(const Stream & stream)
{
  std::vector<Place> places;
  for (const cudaStream_t used : { cudaStream_t{ nullptr }, cudaStream_t(stream) })
  {
    places.push_back({ voxelmaps::MemoryLocation::Device, voxelmaps::MemoryLocation::Device, used });
    places.push_back({ voxelmaps::MemoryLocation::Device, voxelmaps::MemoryLocation::Host, used });
    places.push_back({ voxelmaps::MemoryLocation::Host, voxelmaps::MemoryLocation::Device, used });
  }
  return places;
}

/** A vector in the memory that a place has for outputs: the vector itself, or a copy on the device. */
template <typename T>
class PlacedVector
{
public:
  PlacedVector(std::vector<T> & values, const Place & place)
    : m_Values(values)
  {
    if (place.output == voxelmaps::MemoryLocation::Device)
    {
      m_OnDevice = std::make_unique<DeviceArray<T>>(values, place.stream);
    }
  }

  T *
  data() const
  {
    return m_OnDevice ? m_OnDevice->data() : m_Values.data();
  }
  /** Copy what is on the device, without waiting for it. */
  void
  Assign(const PlacedVector & other)
  {
    if (m_OnDevice)
    {
      m_OnDevice->Assign(*other.m_OnDevice);
    }
  }
  /** Copy the device's values to the vector, after the work so far in the stream. */
  void
  CopyBack()
  {
    m_Values = m_OnDevice ? m_OnDevice->Get() : m_Values;
  }

private:
  std::vector<T> &                m_Values;
  std::unique_ptr<DeviceArray<T>> m_OnDevice;
};
} // namespace VoxelMapsTest

#endif // CudaTestMemory_h
