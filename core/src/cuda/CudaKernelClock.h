// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaKernelClock_h
#define CudaKernelClock_h

#include "cuda/CudaStream.h"

#include <memory>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** Sum of the times of kernels in a stream. CudaKernelClock adds to it. */
class CudaKernelTimes
{
public:
  explicit CudaKernelTimes(const CudaStream & stream)
    : m_Stream(stream)
  {}

  /** Without the kernels that no clock has waited for. */
  double
  GetMilliseconds() const
  {
    return m_Milliseconds;
  }

private:
  friend class CudaKernelClock;

  struct Interval
  {
    CudaEvent begin;
    CudaEvent end;
  };

  const CudaStream &                     m_Stream;
  std::vector<std::unique_ptr<Interval>> m_Pending;
  double                                 m_Milliseconds{ 0.0 };
};

/** Measures the time of the kernels that are launched between its construction and Stop or StopLater. */
class CudaKernelClock
{
public:
  explicit CudaKernelClock(CudaKernelTimes & times)
    : m_Times(times)
    , m_Interval(std::make_unique<CudaKernelTimes::Interval>())
  {
    m_Interval->begin.Record(m_Times.m_Stream);
  }

  /** Does not wait for the kernels, so that the next ones can follow without a gap; the next Stop adds their time. */
  void
  StopLater()
  {
    m_Interval->end.Record(m_Times.m_Stream);
    m_Times.m_Pending.push_back(std::move(m_Interval));
  }

  /** Waits for the kernels. */
  void
  Stop()
  {
    this->StopLater();
    m_Times.m_Pending.back()->end.Synchronize();
    for (const auto & interval : m_Times.m_Pending)
    {
      m_Times.m_Milliseconds += interval->end.MillisecondsSince(interval->begin);
    }
    m_Times.m_Pending.clear();
  }

private:
  CudaKernelTimes &                          m_Times;
  std::unique_ptr<CudaKernelTimes::Interval> m_Interval;
};
} // namespace voxelmaps

#endif // CudaKernelClock_h
