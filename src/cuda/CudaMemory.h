/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef CudaMemory_h
#define CudaMemory_h

#include "cuda/CudaError.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** Elements in device memory, uninitialized, freed at the end. */
template <typename T>
class DeviceBuffer
{
public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) { this->Allocate(size); }
  DeviceBuffer(DeviceBuffer && other) noexcept { *this = std::move(other); }
  DeviceBuffer &
  operator=(DeviceBuffer && other) noexcept
  {
    std::swap(m_Data, other.m_Data);
    std::swap(m_Size, other.m_Size);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(m_Data); }

  /** False, with an empty buffer, if there is too little memory. */
  bool
  TryAllocate(std::size_t size)
  {
    this->Free();
    void *            data = nullptr;
    const std::size_t bytes = size * sizeof(T);
    const cudaError_t result = bytes > 0 ? cudaMalloc(&data, bytes) : cudaSuccess;
    if (result == cudaErrorMemoryAllocation)
    {
      cudaGetLastError();
      return false;
    }
    CheckCuda(result, "allocating device memory");
    m_Data = static_cast<T *>(data);
    m_Size = size;
    return true;
  }
  /** Throws CudaOutOfMemory if there is too little memory. */
  void
  Allocate(std::size_t size)
  {
    if (!this->TryAllocate(size))
    {
      throw CudaOutOfMemory("The device has too little free memory for a buffer of " +
                            std::to_string(size * sizeof(T)) +
                            " bytes. Free memory on the device, or set a smaller DeviceMemoryBudget.");
    }
  }
  void
  Free()
  {
    cudaFree(m_Data);
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
  T *         m_Data{ nullptr };
  std::size_t m_Size{ 0 };
};

/** Page-locked host memory, which copies at full speed and beside kernels. */
class PinnedBuffer
{
public:
  explicit PinnedBuffer(std::size_t bytes)
  {
    const cudaError_t result = cudaHostAlloc(&m_Data, bytes, cudaHostAllocDefault);
    if (result == cudaErrorMemoryAllocation)
    {
      cudaGetLastError();
      throw CudaError("The system cannot page-lock " + std::to_string(bytes) +
                      " bytes of host memory. Free host memory, or raise the limit of locked memory (ulimit -l).");
    }
    CheckCuda(result, "allocating page-locked host memory");
  }
  PinnedBuffer(const PinnedBuffer &) = delete;
  PinnedBuffer &
  operator=(const PinnedBuffer &) = delete;
  ~PinnedBuffer() { cudaFreeHost(m_Data); }
  char *
  data() const
  {
    return static_cast<char *>(m_Data);
  }

private:
  void * m_Data{ nullptr };
};

/** Copy a host vector into a new device buffer. */
template <typename T>
DeviceBuffer<T>
CopyToDevice(const std::vector<T> & values, cudaStream_t stream)
{
  DeviceBuffer<T> buffer(values.size());
  if (!values.empty())
  {
    CheckCuda(cudaMemcpyAsync(buffer.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
              "copying to the device");
  }
  return buffer;
}
} // namespace voxelmaps
} // namespace itk

#endif // CudaMemory_h
