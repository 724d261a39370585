// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaStream_h
#define CudaStream_h

#include "cuda/CudaContext.h"

namespace voxelmaps
{
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
} // namespace voxelmaps

#endif // CudaStream_h
