// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaContext_h
#define CudaContext_h

#include "cuda/CudaError.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace voxelmaps
{
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

/** To be called before the first call of CUDA. */
void
SetCudaProcessId();

/** Whether this process was forked from one that had called CUDA, which does not work in it then. */
bool
WasForkedAfterCudaInit();
} // namespace voxelmaps

#endif // CudaContext_h
