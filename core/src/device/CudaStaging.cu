// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "device/CudaStaging.h"

#include "common/HostMemory.h"
#include "common/ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

namespace voxelmaps
{
namespace
{
// As many buffers of a size as both kinds of copying need to overlap, and no chunk that is copied faster than
// requested.
constexpr std::size_t numberOfBuffers = 4;
constexpr std::size_t minChunkBytes = std::size_t{ 1 } << 20;
constexpr std::size_t maxChunkBytes = std::size_t{ 8 } << 20;
// Copying less is faster than waking a thread.
constexpr std::size_t minBytesPerWorker = std::size_t{ 512 } << 10;
// Waiting for longer than this, threads sleep.
constexpr auto maxSpinning = std::chrono::microseconds(200);
// Larger copies exceed the last-level cache: use non-temporal stores.
constexpr std::size_t minBytesPastCaches = std::size_t{ 32 } << 20;
// CUDA copies fewer bytes to the device before workers are awake.
constexpr std::size_t minBytesToDevice = std::size_t{ 4 } << 20;

void
CopyThroughCaches(void * to, const void * from, std::size_t bytes)
{
  std::memcpy(to, from, bytes);
}
} // namespace

/** A copy in progress. Slices of chunks are the tasks of the workers, in order; any worker can wait for any chunk, so
 * that a single thread can do all tasks. */
class CudaStaging::Transfer
{
public:
  Transfer(std::vector<PinnedBuffer> & buffers, const HostRows & host, const char * device, std::size_t chunkBytes,
           std::size_t slices, cudaStream_t stream)
    : m_Buffers(buffers)
    , m_Host(host)
    , m_Device(device)
    , m_Bytes(host.GetBytes())
    , m_ChunkBytes(chunkBytes)
    , m_Slices(slices)
    , m_Stream(stream)
  {
    for (std::size_t chunk = 0; chunk < std::min(numberOfBuffers, this->GetNumberOfChunks()); ++chunk)
    {
      this->Request(chunk);
    }
  }

  std::size_t
  GetNumberOfChunks() const
  {
    return (m_Bytes + m_ChunkBytes - 1) / m_ChunkBytes;
  }
  std::size_t
  GetNumberOfTasks() const
  {
    return this->GetNumberOfChunks() * m_Slices;
  }

  void
  Compute(std::size_t task)
  {
    try
    {
      const std::size_t chunk = task / m_Slices;
      Buffer &          state = m_States[chunk % numberOfBuffers];
      if (!this->WaitFor(chunk, state))
      {
        return;
      }
      const std::size_t  slice = task % m_Slices;
      const std::size_t  first = chunk * m_ChunkBytes;
      const std::size_t  size = std::min(m_ChunkBytes, m_Bytes - first);
      const std::size_t  begin = size * slice / m_Slices;
      const std::size_t  end = size * (slice + 1) / m_Slices;
      const auto         copy = m_Bytes < minBytesPastCaches ? CopyThroughCaches : CopyPastCaches;
      const char * const from = m_Buffers[chunk % numberOfBuffers].data() + begin;
      m_Host.ForEachPart(first + begin, first + end, [&](std::size_t to, std::size_t before, std::size_t bytes) {
        copy(m_Host.data + to, from + before, bytes);
      });
      if (state.remainingSlices.fetch_sub(1) == 1)
      {
        if (chunk + numberOfBuffers < this->GetNumberOfChunks())
        {
          this->Request(chunk + numberOfBuffers);
        }
        m_Arrived += size;
      }
      const std::size_t ahead = first + numberOfBuffers * m_ChunkBytes;
      if (m_Host.HasLongRows())
      {
        m_Host.ForEachPart(std::min(ahead + begin, m_Bytes),
                           std::min(ahead + end, m_Bytes),
                           [&](std::size_t to, std::size_t, std::size_t bytes) {
                             PopulateHugePages(m_Host.data, m_Host.GetSpan(), to, to + bytes);
                           });
      }
    }
    catch (...)
    {
      m_HasFailed = true;
      throw;
    }
  }

  /** Report what has arrived since the last call, a chunk at a time; by one thread only. */
  void
  ReportArrived(const std::function<void(std::size_t)> & afterChunk)
  {
    while (const std::size_t size = std::min<std::size_t>(m_Arrived, m_ChunkBytes))
    {
      m_Arrived -= size;
      afterChunk(size);
    }
  }

private:
  /** What a buffer holds; chunks are counted from 1, so that 0 is none. */
  struct Buffer
  {
    std::atomic<std::size_t> requested{ 0 };
    std::atomic<std::size_t> arrived{ 0 };
    std::atomic<std::size_t> remainingSlices{ 0 };
    std::mutex               mutex;
    CudaEvent                event;
  };

  void
  Request(std::size_t chunk)
  {
    Buffer &          state = m_States[chunk % numberOfBuffers];
    const std::size_t first = chunk * m_ChunkBytes;
    state.remainingSlices = m_Slices;
    CheckCuda(cudaMemcpyAsync(m_Buffers[chunk % numberOfBuffers].data(),
                              m_Device + first,
                              std::min(m_ChunkBytes, m_Bytes - first),
                              cudaMemcpyDeviceToHost,
                              m_Stream),
              "copying to the host");
    state.event.Record(m_Stream);
    state.requested = chunk + 1;
  }

  /** False if another worker has failed. */
  bool
  WaitFor(std::size_t chunk, Buffer & state) const
  {
    const auto start = std::chrono::steady_clock::now();
    while (state.arrived < chunk + 1)
    {
      if (m_HasFailed)
      {
        return false;
      }
      // One worker waits for the device, the others for that one.
      std::unique_lock<std::mutex> lock(state.mutex, std::defer_lock);
      if (std::chrono::steady_clock::now() - start < maxSpinning)
      {
        lock.try_lock();
      }
      else
      {
        lock.lock();
      }
      if (lock && state.requested == chunk + 1 && state.arrived < chunk + 1)
      {
        state.event.Synchronize();
        state.arrived = chunk + 1;
      }
      else if (state.arrived < chunk + 1)
      {
        lock = {};
        std::this_thread::yield();
      }
    }
    return true;
  }

  std::vector<PinnedBuffer> & m_Buffers;
  const HostRows              m_Host;
  const char * const          m_Device;
  const std::size_t           m_Bytes;
  const std::size_t           m_ChunkBytes;
  const std::size_t           m_Slices;
  const cudaStream_t          m_Stream;
  std::atomic<bool>           m_HasFailed{ false };
  std::atomic<std::size_t>    m_Arrived{ 0 };
  mutable Buffer              m_States[numberOfBuffers];
};

CudaStaging::CudaStaging(const JobExecution & execution)
  : m_Execution(execution)
{
  CheckCuda(cudaGetDevice(&m_Device), "querying the current device");
}

std::size_t
CudaStaging::PrepareBuffers(std::size_t bytes)
{
  const std::size_t chunkBytes =
    std::min(std::max((bytes + numberOfBuffers - 1) / numberOfBuffers, minChunkBytes), maxChunkBytes);
  if (m_Buffers.empty() || m_Buffers.front().size() < chunkBytes)
  {
    m_Buffers.clear();
  }
  while (m_Buffers.size() < std::min(numberOfBuffers, (bytes + chunkBytes - 1) / chunkBytes))
  {
    m_Buffers.emplace_back(chunkBytes);
  }
  return chunkBytes;
}

void
CudaStaging::ToHost(const HostRows & host, const void * device, cudaStream_t stream,
                    const std::function<void(std::size_t)> & afterChunk)
{
  const std::size_t bytes = host.GetBytes();
  const std::size_t chunkBytes = this->PrepareBuffers(bytes);
  JobExecution      execution = m_Execution;
  execution.numberOfWorkers = static_cast<unsigned int>(
    std::max<std::size_t>(std::min<std::size_t>(m_Execution.numberOfWorkers, bytes / minBytesPerWorker), 1));
  const std::size_t slices = std::min<std::size_t>(execution.numberOfWorkers, chunkBytes / minBytesPerWorker);
  try
  {
    Transfer transfer(m_Buffers, host, static_cast<const char *>(device), chunkBytes, slices, stream);
    if (bytes > numberOfBuffers * chunkBytes && host.HasLongRows())
    {
      // While the first chunks are on their way; those of later chunks while chunks before them are copied.
      UseHugePages(host.data, host.GetSpan());
      host.ForEachPart(0, numberOfBuffers * chunkBytes, [&](std::size_t to, std::size_t, std::size_t size) {
        TouchMemory(host.data + to, size, execution);
      });
    }
    const auto caller = std::this_thread::get_id();
    ForEachTask(static_cast<std::int64_t>(transfer.GetNumberOfTasks()), execution, [&](unsigned int) {
      const auto current = std::make_shared<CurrentDevice>(m_Device);
      return [&, current](std::int64_t task) {
        transfer.Compute(static_cast<std::size_t>(task));
        if (std::this_thread::get_id() == caller)
        {
          transfer.ReportArrived(afterChunk);
        }
      };
    });
    transfer.ReportArrived(afterChunk);
  }
  catch (...)
  {
    // The device may still be writing to the buffers, which go back to the next user.
    cudaStreamSynchronize(stream);
    throw;
  }
}

void
CudaStaging::ToDevice(void * device, const void * host, std::size_t bytes, cudaStream_t stream)
{
  if (bytes < minBytesToDevice)
  {
    CheckCuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "copying to the device");
    return;
  }
  const std::size_t chunkBytes = this->PrepareBuffers(bytes);
  const CudaEvent   sent[numberOfBuffers];
  try
  {
    std::size_t number = 0;
    for (std::size_t first = 0; first < bytes; first += chunkBytes, ++number)
    {
      const std::size_t buffer = number % numberOfBuffers;
      const std::size_t size = std::min(chunkBytes, bytes - first);
      char * const      chunk = m_Buffers[buffer].data();
      const auto *      source = static_cast<const char *>(host) + first;
      if (number >= numberOfBuffers)
      {
        sent[buffer].Synchronize();
      }
      ForEachRange(static_cast<std::int64_t>(size),
                   static_cast<std::int64_t>(minBytesPerWorker),
                   m_Execution,
                   [=](std::int64_t begin, std::int64_t end) {
                     std::memcpy(chunk + begin, source + begin, static_cast<std::size_t>(end - begin));
                   });
      CheckCuda(cudaMemcpyAsync(static_cast<char *>(device) + first, chunk, size, cudaMemcpyHostToDevice, stream),
                "copying to the device");
      sent[buffer].Record(stream);
      m_Execution.CheckAbort();
    }
    for (std::size_t buffer = 0; buffer < std::min(number, numberOfBuffers); ++buffer)
    {
      sent[buffer].Synchronize();
    }
  }
  catch (...)
  {
    // The device may still be reading the buffers, which go back to the next user.
    cudaStreamSynchronize(stream);
    throw;
  }
}
} // namespace voxelmaps
