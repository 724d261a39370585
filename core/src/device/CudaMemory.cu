// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "device/CudaMemory.h"

#include <map>
#include <mutex>
#include <vector>

namespace voxelmaps
{
namespace
{
constexpr std::size_t minPinnedBytes = std::size_t{ 256 } << 10;

struct KeptPinnedMemory
{
  std::mutex                         mutex;
  std::multimap<std::size_t, void *> bySize;
  std::size_t                        bytes{ 0 };
};

// Never destroyed: the driver may be gone by the end of the program, and takes the memory with it.
KeptPinnedMemory &
GetKept()
{
  static auto * kept = new KeptPinnedMemory();
  return *kept;
}

/** So that later buffers of about the same size fit. */
std::size_t
RoundUpToPowerOfTwo(std::size_t bytes)
{
  std::size_t size = minPinnedBytes;
  while (size < bytes)
  {
    size *= 2;
  }
  return size;
}
} // namespace

PinnedBuffer::PinnedBuffer(std::size_t bytes)
  : m_Size(RoundUpToPowerOfTwo(bytes))
{
  KeptPinnedMemory & kept = GetKept();
  {
    const std::lock_guard<std::mutex> lock(kept.mutex);
    const auto                        found = kept.bySize.lower_bound(m_Size);
    if (found != kept.bySize.end())
    {
      m_Size = found->first;
      m_Data = found->second;
      kept.bySize.erase(found);
      kept.bytes -= m_Size;
      return;
    }
  }
  const auto  allocate = [this] { return cudaHostAlloc(&m_Data, m_Size, cudaHostAllocPortable); };
  cudaError_t result = allocate();
  if (result == cudaErrorMemoryAllocation)
  {
    cudaGetLastError();
    ReleaseKept();
    result = allocate();
  }
  if (result == cudaErrorMemoryAllocation)
  {
    cudaGetLastError();
    throw CudaError("The system cannot page-lock " + std::to_string(m_Size) +
                    " bytes of host memory. Free host memory, or raise the limit of locked memory (ulimit -l).");
  }
  CheckCuda(result, "allocating page-locked host memory");
}

PinnedBuffer::~PinnedBuffer()
{
  if (m_Data == nullptr)
  {
    return;
  }
  std::vector<void *> tooMany;
  KeptPinnedMemory &  kept = GetKept();
  {
    const std::lock_guard<std::mutex> lock(kept.mutex);
    kept.bySize.emplace(m_Size, m_Data);
    kept.bytes += m_Size;
    // The smallest first: page-locking takes time in proportion to the size.
    while (kept.bytes > maxKeptBytes)
    {
      const auto smallest = kept.bySize.begin();
      kept.bytes -= smallest->first;
      tooMany.push_back(smallest->second);
      kept.bySize.erase(smallest);
    }
  }
  for (void * const memory : tooMany)
  {
    cudaFreeHost(memory);
  }
}

void
PinnedBuffer::ReleaseKept() noexcept
{
  if (WasForkedAfterCudaInit())
  {
    return;
  }
  KeptPinnedMemory &                kept = GetKept();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  for (const auto & memory : kept.bySize)
  {
    cudaFreeHost(memory.second);
  }
  kept.bySize.clear();
  kept.bytes = 0;
  cudaGetLastError();
}
} // namespace voxelmaps
