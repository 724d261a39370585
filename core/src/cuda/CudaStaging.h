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
#ifndef CudaStaging_h
#define CudaStaging_h

#include "cuda/CudaMemory.h"
#include "cuda/CudaStream.h"

#include <cstddef>
#include <functional>

namespace voxelmaps
{
/** Copies between the device and ordinary host memory through page-locked memory: while the device copies some chunks,
 * host threads copy others. CUDA itself would copy at a fraction of that speed. */
class CudaStaging
{
public:
  explicit CudaStaging(const JobExecution & execution);

  /** Copy to host memory what lies in device memory after the work so far in the stream; afterChunk is called with the
   * number of bytes that have arrived, from the calling thread: ITK lets no other thread of a filter report progress.
   * Returns when everything has arrived. If host memory is fresh, its pages are provided ahead of the copies. */
  void
  ToHost(void * host, const void * device, std::size_t bytes, cudaStream_t stream,
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
} // namespace voxelmaps

#endif // CudaStaging_h
