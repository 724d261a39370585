// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "device/CudaContext.h"

#include "device/CudaMemory.h"

#include <cstdlib>
#include <algorithm>
#include <iterator>
#include <map>
#include <atomic>

#if defined(__unix__) || defined(__APPLE__)
#  include <unistd.h>
#endif

namespace voxelmaps
{
namespace
{
// The rest goes back to the device as soon as it waits. Taking 0.4 GiB again takes 1.4 ms on an H100 with 80 GB, a
// fourteenth of what eleven run length maps take that need it.
constexpr std::size_t poolReleaseDivisor = 32;
constexpr std::size_t maxKeptTables = 32;

struct Contexts
{
  std::mutex                   mutex;
  std::map<int, CudaContext *> byDevice;
};

Contexts &
GetContexts()
{
  static auto * contexts = new Contexts();
  return *contexts;
}

int
GetAttribute(cudaDeviceAttr attribute, int device)
{
  int value = 0;
  CheckCuda(cudaDeviceGetAttribute(&value, attribute, device), "querying an attribute of the device");
  return value;
}

#if defined(__unix__) || defined(__APPLE__)
/** The process that called CUDA first; 0 if none has. */
std::atomic<pid_t> cudaProcessId{ 0 };
#endif
} // namespace

void
SetCudaProcessId()
{
#if defined(__unix__) || defined(__APPLE__)
  pid_t none = 0;
  cudaProcessId.compare_exchange_strong(none, getpid());
#endif
}

bool
WasForkedAfterCudaInit()
{
#if defined(__unix__) || defined(__APPLE__)
  const pid_t user = cudaProcessId;
  return user != 0 && user != getpid();
#else
  return false;
#endif
}

struct CudaContext::Table
{
  std::vector<char>  bytes;
  DeviceBuffer<char> onDevice;
};

CudaContext &
CudaContext::Current()
{
  int device = 0;
  CheckCuda(cudaGetDevice(&device), "querying the current device");
  Contexts &                        contexts = GetContexts();
  const std::lock_guard<std::mutex> lock(contexts.mutex);
  const auto                        found = contexts.byDevice.find(device);
  if (found != contexts.byDevice.end())
  {
    return *found->second;
  }
  return *contexts.byDevice.emplace(device, new CudaContext(device)).first->second;
}

void
CudaContext::ReleaseAll()
{
  Contexts & contexts = GetContexts();
  // Before the lock, which a thread that is not in this process may hold.
  if (WasForkedAfterCudaInit())
  {
    return;
  }
  const std::lock_guard<std::mutex> lock(contexts.mutex);
  int                               former = 0;
  if (contexts.byDevice.empty() || cudaGetDevice(&former) != cudaSuccess)
  {
    return;
  }
  for (const auto & context : contexts.byDevice)
  {
    cudaSetDevice(context.first);
    context.second->Release();
  }
  cudaSetDevice(former);
}

void
CudaContext::AllowAccess(int first, int second)
{
  for (const auto & [owner, peer] : { std::pair(first, second), std::pair(second, first) })
  {
    int canAccess = 0;
    if (owner == peer || cudaDeviceCanAccessPeer(&canAccess, peer, owner) != cudaSuccess || canAccess == 0)
    {
      continue;
    }
    const CurrentDevice peerDevice(peer);
    cudaDeviceEnablePeerAccess(owner, 0);
    const CurrentDevice ownerDevice(owner);
    cudaMemAccessDesc   access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = peer;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(Current().m_Pool, &access, 1);
  }
  // It may have been allowed before; failure only affects performance.
  cudaGetLastError();
}

CudaContext::CudaContext(int device)
{
  m_Limits.maxSharedMemoryPerBlock =
    static_cast<std::size_t>(GetAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  // For tests: compute as a device with less shared memory does.
  if (const char * const bytes = std::getenv("VOXELMAPS_TEST_SHARED_MEMORY"))
  {
    m_Limits.maxSharedMemoryPerBlock =
      std::min<std::size_t>(m_Limits.maxSharedMemoryPerBlock, std::strtoull(bytes, nullptr, 10));
  }
  m_Limits.numberOfMultiprocessors = GetAttribute(cudaDevAttrMultiProcessorCount, device);
  CheckCuda(cudaStreamCreateWithFlags(&m_TableStream, cudaStreamNonBlocking), "creating a stream");
  if (GetAttribute(cudaDevAttrMemoryPoolsSupported, device) != 0)
  {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    CheckCuda(cudaMemPoolCreate(&m_Pool, &properties), "creating a pool of device memory");
    // Failure only affects performance.
    std::size_t unused = 0;
    std::size_t total = 0;
    CheckCuda(cudaMemGetInfo(&unused, &total), "querying free memory");
    std::uint64_t kept = total / poolReleaseDivisor;
    cudaMemPoolSetAttribute(m_Pool, cudaMemPoolAttrReleaseThreshold, &kept);
  }
}

void
CudaContext::Release() noexcept
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  // Jobs that did not wait for their kernels may use the tables.
  cudaDeviceSynchronize();
  m_Tables.clear();
  for (const auto & used : this->TakeDoneTables())
  {
    cudaEventDestroy(used.second);
  }
  // Memory counts as used until the stream has reached its free.
  cudaStreamSynchronize(m_TableStream);
  for (const cudaEvent_t event : m_Events)
  {
    cudaEventDestroy(event);
  }
  m_Events.clear();
  for (const cudaStream_t stream : m_Streams)
  {
    cudaStreamDestroy(stream);
  }
  m_Streams.clear();
  if (m_Pool != nullptr)
  {
    cudaMemPoolTrimTo(m_Pool, 0);
  }
  cudaGetLastError();
}

void *
CudaContext::TryAllocate(std::size_t bytes, cudaStream_t stream)
{
  for (bool isRetry = false;; isRetry = true)
  {
    void *            memory = nullptr;
    const cudaError_t result =
      m_Pool != nullptr ? cudaMallocFromPoolAsync(&memory, bytes, m_Pool, stream) : cudaMalloc(&memory, bytes);
    if (result != cudaErrorMemoryAllocation)
    {
      CheckCuda(result, "allocating device memory");
      return memory;
    }
    cudaGetLastError();
    if (isRetry || m_Pool == nullptr)
    {
      return nullptr;
    }
    // The unused memory of the pool may be fragmented.
    cudaDeviceSynchronize();
    cudaMemPoolTrimTo(m_Pool, 0);
  }
}

void
CudaContext::Free(void * memory, cudaStream_t stream) noexcept
{
  if (memory != nullptr)
  {
    m_Pool != nullptr ? cudaFreeAsync(memory, stream) : cudaFree(memory);
  }
}

std::uint64_t
CudaContext::GetUnusedBytes() const
{
  std::uint64_t reserved = 0;
  if (m_Pool != nullptr)
  {
    CheckCuda(cudaMemPoolGetAttribute(m_Pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "querying free memory");
  }
  const std::uint64_t used = this->GetUsedBytes();
  return reserved > used ? reserved - used : 0;
}

std::uint64_t
CudaContext::GetUsedBytes() const
{
  std::uint64_t used = 0;
  if (m_Pool != nullptr)
  {
    CheckCuda(cudaMemPoolGetAttribute(m_Pool, cudaMemPoolAttrUsedMemCurrent, &used), "querying used memory");
  }
  return used;
}

template <typename T>
T *
CudaContext::TakeLast(std::vector<T *> & kept)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  T * const                         last = kept.empty() ? nullptr : kept.back();
  kept.resize(kept.empty() ? 0 : kept.size() - 1);
  return last;
}

cudaStream_t
CudaContext::TakeStream()
{
  cudaStream_t stream = this->TakeLast(m_Streams);
  if (stream == nullptr)
  {
    CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  }
  return stream;
}

void
CudaContext::PutBackStream(cudaStream_t stream) noexcept
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_Streams.push_back(stream);
}

cudaEvent_t
CudaContext::TakeEvent()
{
  cudaEvent_t event = this->TakeLast(m_Events);
  if (event == nullptr)
  {
    CheckCuda(cudaEventCreate(&event), "creating an event");
  }
  return event;
}

void
CudaContext::PutBackEvent(cudaEvent_t event) noexcept
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_Events.push_back(event);
}

std::shared_ptr<const void>
CudaContext::GetTable(const std::vector<char> & bytes)
{
  const auto share = [](const std::shared_ptr<Table> & table) {
    return std::shared_ptr<const void>(table, table->onDevice.data());
  };
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const auto                        found =
      std::find_if(m_Tables.begin(), m_Tables.end(), [&bytes](const auto & table) { return table->bytes == bytes; });
    if (found != m_Tables.end())
    {
      std::rotate(found, found + 1, m_Tables.end());
      return share(m_Tables.back());
    }
  }
  // Not a stream of the job, which a table may outlive.
  const auto table = std::make_shared<Table>(Table{ bytes, DeviceBuffer<char>(bytes.size(), m_TableStream) });
  CheckCuda(
    cudaMemcpyAsync(table->onDevice.data(), table->bytes.data(), bytes.size(), cudaMemcpyHostToDevice, m_TableStream),
    "copying a table to the device");
  CheckCuda(cudaStreamSynchronize(m_TableStream), "copying a table to the device");
  std::vector<std::shared_ptr<Table>> oldest;
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Tables.push_back(table);
    if (m_Tables.size() > maxKeptTables)
    {
      const auto end = m_Tables.begin() + static_cast<std::ptrdiff_t>(maxKeptTables / 2);
      oldest.assign(std::make_move_iterator(m_Tables.begin()), std::make_move_iterator(end));
      m_Tables.erase(m_Tables.begin(), end);
    }
  }
  if (!oldest.empty())
  {
    // Cheaper than an event of each job. Jobs that begin to use a table from now on see that it is not kept any more.
    CheckCuda(cudaDeviceSynchronize(), "waiting for kernels that use tables");
  }
  return share(table);
}

void
CudaContext::KeepTable(std::shared_ptr<const void> table, cudaStream_t stream)
{
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (std::any_of(m_Tables.begin(), m_Tables.end(), [&table](const auto & kept) {
          return kept->onDevice.data() == table.get();
        }))
    {
      // Whoever removes it waits for the device.
      return;
    }
  }
  const cudaEvent_t event = this->TakeEvent();
  const cudaError_t error = cudaEventRecord(event, stream);
  if (error != cudaSuccess)
  {
    cudaStreamSynchronize(stream);
    this->PutBackEvent(event);
    CheckCuda(error, "recording an event");
  }
  std::vector<UsedTable> done;
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_UsedTables.emplace_back(std::move(table), event);
    done = this->TakeDoneTables();
  }
  for (const auto & used : done)
  {
    this->PutBackEvent(used.second);
  }
}

std::vector<CudaContext::UsedTable>
CudaContext::TakeDoneTables()
{
  const auto             firstDone = std::partition(m_UsedTables.begin(), m_UsedTables.end(), [](const auto & used) {
    const bool isUsed = cudaEventQuery(used.second) == cudaErrorNotReady;
    if (isUsed)
    {
      // Clear cudaErrorNotReady, so that the next launch check does not report it.
      static_cast<void>(cudaGetLastError());
    }
    return isUsed;
  });
  std::vector<UsedTable> done(std::make_move_iterator(firstDone), std::make_move_iterator(m_UsedTables.end()));
  m_UsedTables.erase(firstDone, m_UsedTables.end());
  return done;
}
} // namespace voxelmaps
