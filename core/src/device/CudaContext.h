// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaContext_h
#define CudaContext_h

#include "voxelmaps/CudaDevices.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** An error of CUDA or of what it is asked for. */
class CudaError : public DeviceError
{
public:
  using DeviceError::DeviceError;
};

/** Too little device memory; a smaller slab may fit. */
class CudaOutOfMemory : public CudaError
{
public:
  using CudaError::CudaError;
};

/** Throw CudaError, with CUDA's text and advice, unless the result is success. */
void
CheckCuda(cudaError_t result, const char * doing);

/** Check the launch of a kernel. */
void
CheckLaunch(const char * kernel);

/** The properties of a device that the choice of kernels depends on. */
struct CudaDeviceLimits
{
  /** Shared memory that a block can have if its kernel asks for it, in bytes. */
  std::size_t maxSharedMemoryPerBlock;
  int         numberOfMultiprocessors;
};

/** Resources of a device that are cached from one job to the next: a pool of device memory, streams, events, and
 * tables.
 *
 * Creating these takes longer than computing a small image. All functions may be called from any thread. */
class CudaContext
{
public:
  CudaContext(const CudaContext &) = delete;
  CudaContext &
  operator=(const CudaContext &) = delete;

  /** The context of the current device, created at its first use. Never destroyed: the driver may be unloaded
   * before static destructors run, and frees everything. */
  static CudaContext &
  Current();

  /** Free everything of all devices that no job uses at the moment. */
  static void
  ReleaseAll();

  /** Let two devices copy from each other directly, if the system can. */
  static void
  AllowAccess(int first, int second);

  const CudaDeviceLimits &
  GetLimits() const
  {
    return m_Limits;
  }

  /** Memory from the pool, for work in a stream. Null if there is too little. Free puts it back once the work so far in
   * the stream is done. */
  void *
  TryAllocate(std::size_t bytes, cudaStream_t stream);
  void
  Free(void * memory, cudaStream_t stream) noexcept;

  /** Bytes of the pool that no job uses, which cudaMemGetInfo does not count as free. */
  std::uint64_t
  GetUnusedBytes() const;
  /** Bytes of the pool that jobs and cached tables use; 0 for a device without pools. */
  std::uint64_t
  GetUsedBytes() const;

  cudaStream_t
  TakeStream();
  void
  PutBackStream(cudaStream_t stream) noexcept;
  cudaEvent_t
  TakeEvent();
  void
  PutBackEvent(cudaEvent_t event) noexcept;

  /** A copy of the bytes in device memory, which other jobs with the same bytes share. It has arrived on return. */
  std::shared_ptr<const void>
  GetTable(const std::vector<char> & bytes);
  /** Keep a table until the work so far in a stream is done, for jobs that do not wait for it. */
  void
  KeepTable(std::shared_ptr<const void> table, cudaStream_t stream);

private:
  explicit CudaContext(int device);
  ~CudaContext() = default;

  void
  Release() noexcept;

  /** Take the last one out of a list; null if there is none. */
  template <typename T>
  T *
  TakeLast(std::vector<T *> & kept);

  struct Table;
  using UsedTable = std::pair<std::shared_ptr<const void>, cudaEvent_t>;

  /** Take the tables whose work is done out of m_UsedTables. */
  std::vector<UsedTable>
  TakeDoneTables();

  CudaDeviceLimits                    m_Limits{};
  cudaMemPool_t                       m_Pool{ nullptr };
  cudaStream_t                        m_TableStream{ nullptr };
  std::mutex                          m_Mutex;
  std::vector<cudaStream_t>           m_Streams;
  std::vector<cudaEvent_t>            m_Events;
  std::vector<std::shared_ptr<Table>> m_Tables;
  // With the events after which they are not used any more.
  std::vector<UsedTable> m_UsedTables;
};

/** Makes a device the current one of this host thread for the lifetime of the object, then restores the former one. */
class CurrentDevice
{
public:
  /** Throws CudaError if there is no such device, or it cannot be used. */
  explicit CurrentDevice(int deviceID);
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &
  operator=(const CurrentDevice &) = delete;
  ~CurrentDevice();

private:
  int m_Former{ -1 };
};

/** Bytes that a job may use on the current device: the budget if it is not 0, but never more than is free, minus a
 * reserve for CUDA itself. */
std::uint64_t
UsableDeviceMemory(std::uint64_t budget);

/** A stream of a job: filters in several host threads do not wait for each other. Buffers that are used in it must be
 * destroyed before it. */
class CudaStream
{
public:
  CudaStream()
    : m_Context(CudaContext::Current())
    , m_Stream(m_Context.TakeStream())
  {}
  CudaStream(const CudaStream &) = delete;
  CudaStream &
  operator=(const CudaStream &) = delete;
  ~CudaStream()
  {
    // The next job must not wait for this one, nor may this one use memory of the host any more.
    cudaStreamSynchronize(m_Stream);
    m_Context.PutBackStream(m_Stream);
  }
  operator cudaStream_t() const { return m_Stream; }
  void
  Synchronize() const
  {
    CheckCuda(cudaStreamSynchronize(m_Stream), "waiting for the device");
  }

private:
  CudaContext &      m_Context;
  const cudaStream_t m_Stream;
};

/** A point in the work of a stream, with its time. */
class CudaEvent
{
public:
  CudaEvent()
    : m_Context(CudaContext::Current())
    , m_Event(m_Context.TakeEvent())
  {}
  CudaEvent(const CudaEvent &) = delete;
  CudaEvent &
  operator=(const CudaEvent &) = delete;
  ~CudaEvent() { m_Context.PutBackEvent(m_Event); }
  operator cudaEvent_t() const { return m_Event; }
  void
  Record(cudaStream_t stream) const
  {
    CheckCuda(cudaEventRecord(m_Event, stream), "recording an event");
  }
  void
  Synchronize() const
  {
    CheckCuda(cudaEventSynchronize(m_Event), "waiting for the device");
  }
  /** Milliseconds from the other event to this one; both must have happened. */
  float
  MillisecondsSince(const CudaEvent & start) const
  {
    float milliseconds = 0.0f;
    CheckCuda(cudaEventElapsedTime(&milliseconds, start, *this), "reading the time of an event");
    return milliseconds;
  }

private:
  CudaContext &     m_Context;
  const cudaEvent_t m_Event;
};

/** To be called before the first call of CUDA. */
void
SetCudaProcessId();

/** Whether this process was forked from one that had called CUDA, which does not work in it then. */
bool
WasForkedAfterCudaInit();
} // namespace voxelmaps

#endif // CudaContext_h
