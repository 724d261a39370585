// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaJobArrays_h
#define CudaJobArrays_h

#include "cuda/CudaStaging.h"

#include <cstddef>
#include <functional>

namespace voxelmaps
{
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

#endif // CudaJobArrays_h
