// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaMemory_h
#define CudaMemory_h

#include "device/CudaContext.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** Bytes of a part of a buffer, so that the next part begins where every type can. */
inline std::uint64_t
RoundUpToAlignment(std::uint64_t bytes)
{
  constexpr std::uint64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/** Elements in device memory, uninitialized, for work in one stream; freed at the end, after the work so far in the
 * stream. */
template <typename T>
class DeviceBuffer
{
public:
  DeviceBuffer() = default;
  DeviceBuffer(std::size_t size, cudaStream_t stream) { this->Allocate(size, stream); }
  DeviceBuffer(DeviceBuffer && other) noexcept { *this = std::move(other); }
  DeviceBuffer &
  operator=(DeviceBuffer && other) noexcept
  {
    std::swap(m_Data, other.m_Data);
    std::swap(m_Size, other.m_Size);
    std::swap(m_Stream, other.m_Stream);
    std::swap(m_Context, other.m_Context);
    return *this;
  }
  ~DeviceBuffer() { this->Free(); }

  /** False, with an empty buffer, if there is too little memory. */
  bool
  TryAllocate(std::size_t size, cudaStream_t stream)
  {
    this->Free();
    if (size > 0)
    {
      CudaContext & context = CudaContext::Current();
      m_Data = static_cast<T *>(context.TryAllocate(size * sizeof(T), stream));
      if (m_Data == nullptr)
      {
        return false;
      }
      m_Size = size;
      m_Stream = stream;
      m_Context = &context;
    }
    return true;
  }
  /** Throws CudaOutOfMemory if there is too little memory. */
  void
  Allocate(std::size_t size, cudaStream_t stream)
  {
    if (!this->TryAllocate(size, stream))
    {
      throw CudaOutOfMemory("The device has too little free memory for a buffer of " +
                            std::to_string(size * sizeof(T)) +
                            " bytes. Free memory on the device, or set a smaller DeviceMemoryBudget.");
    }
  }
  void
  Free()
  {
    if (m_Data != nullptr)
    {
      m_Context->Free(m_Data, m_Stream);
    }
    m_Data = nullptr;
    m_Size = 0;
  }

  T *
  data() const
  {
    return m_Data;
  }
  std::size_t
  size() const
  {
    return m_Size;
  }

private:
  T *           m_Data{ nullptr };
  std::size_t   m_Size{ 0 };
  cudaStream_t  m_Stream{ nullptr };
  CudaContext * m_Context{ nullptr };
};

/** Page-locked host memory, copied at full speed while kernels run. Page-locking takes longer than copying, so up to
 * maxKeptBytes are cached for later buffers. */
class PinnedBuffer
{
public:
  static constexpr std::size_t maxKeptBytes = std::size_t{ 128 } << 20;

  explicit PinnedBuffer(std::size_t bytes);
  PinnedBuffer(PinnedBuffer && other) noexcept
    : m_Data(std::exchange(other.m_Data, nullptr))
    , m_Size(other.m_Size)
  {}
  PinnedBuffer &
  operator=(PinnedBuffer &&) = delete;
  ~PinnedBuffer();
  char *
  data() const
  {
    return static_cast<char *>(m_Data);
  }
  /** At least the bytes asked for. */
  std::size_t
  size() const
  {
    return m_Size;
  }

  /** Free what is kept. */
  static void
  ReleaseKept() noexcept;

private:
  void *      m_Data{ nullptr };
  std::size_t m_Size{ 0 };
};

/** Copy elements in host memory into a new device buffer. */
template <typename T>
DeviceBuffer<T>
CopyToDevice(const T * values, std::size_t count, cudaStream_t stream)
{
  DeviceBuffer<T> buffer(count, stream);
  if (count > 0)
  {
    CheckCuda(cudaMemcpyAsync(buffer.data(), values, count * sizeof(T), cudaMemcpyHostToDevice, stream),
              "copying to the device");
  }
  return buffer;
}
template <typename T>
DeviceBuffer<T>
CopyToDevice(const std::vector<T> & values, cudaStream_t stream)
{
  return CopyToDevice(values.data(), values.size(), stream);
}

template <typename T>
void
CopyOnDevice(T * to, const T * from, std::size_t count, cudaStream_t stream)
{
  CheckCuda(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice, stream), "copying on the device");
}

/** Copy elements in device memory to the host, after the work so far in the stream, and wait for them. */
template <typename T>
void
CopyFromDevice(T * to, const T * from, std::size_t count, cudaStream_t stream)
{
  CheckCuda(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "copying from the device");
  CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
}
/** The same for the first element of a buffer. */
template <typename T>
T
CopyFromDevice(const DeviceBuffer<T> & buffer, cudaStream_t stream)
{
  T value;
  CopyFromDevice(&value, buffer.data(), 1, stream);
  return value;
}

/** Call attempt(size) with a size, then with half of it, and so on down to minSize, until its result, a std::optional
 * or a bool, is not empty or false; returns the last result. */
template <typename TAttempt>
auto
RetryWithSmallerSize(std::int64_t size, std::int64_t minSize, const TAttempt & attempt) -> decltype(attempt(size))
{
  for (;;)
  {
    auto result = attempt(size);
    if (result || size <= minSize)
    {
      return result;
    }
    size = std::max(size / 2, minSize);
  }
}
} // namespace voxelmaps

#endif // CudaMemory_h
