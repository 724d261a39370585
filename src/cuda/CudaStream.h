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
#ifndef CudaStream_h
#define CudaStream_h

#include "cuda/CudaError.h"

namespace itk
{
namespace voxelmaps
{
/** A stream of its own: filters in several host threads do not wait for each other. */
class CudaStream
{
public:
  CudaStream() { CheckCuda(cudaStreamCreateWithFlags(&m_Stream, cudaStreamNonBlocking), "creating a stream"); }
  CudaStream(const CudaStream &) = delete;
  CudaStream &
  operator=(const CudaStream &) = delete;
  ~CudaStream()
  {
    // Buffers are freed after this: nothing may use them any more.
    cudaStreamSynchronize(m_Stream);
    cudaStreamDestroy(m_Stream);
  }
  operator cudaStream_t() const { return m_Stream; }
  void
  Synchronize() const
  {
    CheckCuda(cudaStreamSynchronize(m_Stream), "waiting for the device");
  }

private:
  cudaStream_t m_Stream{ nullptr };
};

/** A point in the work of a stream, with its time. */
class CudaEvent
{
public:
  CudaEvent() { CheckCuda(cudaEventCreate(&m_Event), "creating an event"); }
  CudaEvent(const CudaEvent &) = delete;
  CudaEvent &
  operator=(const CudaEvent &) = delete;
  ~CudaEvent() { cudaEventDestroy(m_Event); }
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
  cudaEvent_t m_Event{ nullptr };
};
} // namespace voxelmaps
} // namespace itk

#endif // CudaStream_h
