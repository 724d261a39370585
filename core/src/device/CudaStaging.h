// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaStaging_h
#define CudaStaging_h

#include "device/CudaMemory.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace voxelmaps
{
/** Rows of bytes in host memory. */
struct HostRows
{
  char *      data;
  std::size_t rowBytes;
  std::size_t numberOfRows{ 1 };
  /** From the start of a row to that of the next. */
  std::size_t pitch{ 0 };

  std::size_t
  GetBytes() const
  {
    return rowBytes * numberOfRows;
  }
  /** From the start of the first row to the end of the last one. */
  std::size_t
  GetSpan() const
  {
    return (numberOfRows - 1) * pitch + rowBytes;
  }
  /** Whether it is worth while to provide the memory of each row ahead of the copies. */
  bool
  HasLongRows() const
  {
    return this->IsContiguous() || rowBytes >= std::size_t{ 1 } << 16;
  }
  bool
  IsContiguous() const
  {
    return numberOfRows == 1 || pitch == rowBytes;
  }
  /** Call visit(offset from data, bytes before the part, bytes of the part) for the parts of bytes begin ... end - 1 of
   * all rows, in order. */
  template <typename TVisit>
  void
  ForEachPart(std::size_t begin, std::size_t end, const TVisit & visit) const
  {
    if (this->IsContiguous())
    {
      visit(begin, std::size_t{ 0 }, end - begin);
      return;
    }
    for (std::size_t at = begin; at < end;)
    {
      const std::size_t row = at / rowBytes;
      const std::size_t inRow = at - row * rowBytes;
      const std::size_t size = std::min(rowBytes - inRow, end - at);
      visit(row * pitch + inRow, at - begin, size);
      at += size;
    }
  }
};

/** Copies between the device and ordinary host memory through page-locked memory: while the device copies some chunks,
 * host threads copy others. CUDA itself would copy at a fraction of that speed. */
class CudaStaging
{
public:
  explicit CudaStaging(const JobExecution & execution);

  /** Copy rows, which are contiguous in device memory after the work so far in the stream, to host memory; afterChunk
   * is called with the number of bytes that have arrived, from the calling thread: ITK lets no other thread of a filter
   * report progress. Returns when everything has arrived. If host memory is fresh, its pages are provided ahead of the
   * copies. */
  void
  ToHost(const HostRows & host, const void * device, cudaStream_t stream,
         const std::function<void(std::size_t)> & afterChunk);

  /** Copy to device memory, after the work so far in the stream. Host memory must not change until the stream has done
   * the copy. */
  void
  ToDevice(void * device, const void * host, std::size_t bytes, cudaStream_t stream);

private:
  class Transfer;

  /** Have page-locked memory for the chunks of so many bytes. Returns the size of a chunk. */
  std::size_t
  PrepareBuffers(std::size_t bytes);

  const JobExecution &      m_Execution;
  int                       m_Device{ 0 };
  std::vector<PinnedBuffer> m_Buffers;
};

/** Copies between the arrays of a job, in host memory or in that of the current device, and buffers of an engine. */
class CudaJobArrays
{
public:
  CudaJobArrays(const CudaOptions & options, const JobExecution & execution)
    : m_Options(options)
    , m_Staging(execution)
  {}

  /** Copy a part of the input to a buffer, after the work so far in the stream. Host memory must not change until the
   * stream has done the copy. */
  void
  CopyInput(void * buffer, const void * input, std::size_t bytes, cudaStream_t stream)
  {
    if (m_Options.inputLocation == MemoryLocation::Device)
    {
      CheckCuda(cudaMemcpyAsync(buffer, input, bytes, cudaMemcpyDeviceToDevice, stream), "copying the input");
      return;
    }
    m_Staging.ToDevice(buffer, input, bytes, stream);
  }

  /** Copy a buffer to a part of the output, after the work so far in the stream, and wait for it; afterChunk is called
   * with the number of bytes that have arrived. */
  void
  CopyOutput(void * output, const void * buffer, std::size_t bytes, cudaStream_t stream,
             const std::function<void(std::size_t)> & afterChunk)
  {
    if (m_Options.outputLocation == MemoryLocation::Device)
    {
      CheckCuda(cudaMemcpyAsync(output, buffer, bytes, cudaMemcpyDeviceToDevice, stream), "copying the output");
      CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
      afterChunk(bytes);
      return;
    }
    m_Staging.ToHost({ static_cast<char *>(output), bytes }, buffer, stream, afterChunk);
  }

private:
  const CudaOptions & m_Options;
  CudaStaging         m_Staging;
};

/** Let a stream of an engine wait for the work so far in that of the options, if it uses that. */
inline void
WaitForInput(const CudaOptions & options, cudaStream_t stream)
{
  if (options.UsesStream())
  {
    const CudaEvent isThere;
    isThere.Record(static_cast<cudaStream_t>(options.stream));
    CheckCuda(cudaStreamWaitEvent(stream, isThere), "ordering streams");
  }
}
} // namespace voxelmaps

#endif // CudaStaging_h
