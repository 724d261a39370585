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
#include <memory>

namespace itk
{
namespace voxelmaps
{
/** Copies from the device to ordinary host memory through page-locked memory: while the device copies one chunk, host
 * threads copy the previous one. The page-locked memory is kept for the next copy of the program. */
class CudaStaging
{
public:
  explicit CudaStaging(const JobExecution & execution);
  ~CudaStaging();

  /** Copy to host memory what lies in device memory after the work so far in the stream; afterChunk is called with the
   * number of bytes that have arrived. Returns when everything has arrived. */
  void
  ToHost(void * host, const void * device, std::size_t bytes, cudaStream_t stream,
         const std::function<void(std::size_t)> & afterChunk);

  /** Bytes of host memory that are page-locked at a time. */
  static constexpr std::size_t chunkBytes = std::size_t{ 16 } << 20;

private:
  struct Chunk;
  static std::unique_ptr<Chunk>
  TakeChunk();

  void
  CopyByWorkers(void * to, const void * from, std::size_t bytes) const;

  const JobExecution &   m_Execution;
  std::unique_ptr<Chunk> m_Chunks[2];
};
} // namespace voxelmaps
} // namespace itk

#endif // CudaStaging_h
