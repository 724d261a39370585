// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/ThreadPool.h"
#include "common/ParallelFor.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#if defined(__linux__)
#  include <sched.h>
#endif
#if !defined(_WIN32)
#  include <pthread.h>
#endif

namespace voxelmaps
{
namespace
{
class ThreadPool
{
public:
  void
  Run(unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    if (m_Body != nullptr)
    {
      lock.unlock();
      for (unsigned int worker = 0; worker < numberOfWorkers; ++worker)
      {
        body(worker);
      }
      return;
    }
    m_Body = &body;
    m_NextWorker = 1;
    m_EndWorker = numberOfWorkers;
    m_Running = 0;
    while (m_NumberOfThreads + 1 < numberOfWorkers && this->TryStartThread())
    {
    }
    m_HasWork.notify_all();
    lock.unlock();
    body(0);
    lock.lock();
    // What no thread has taken up yet is done here: none may be there, or all may wait for a processor.
    while (m_NextWorker < m_EndWorker)
    {
      this->RunNext(lock);
    }
    m_IsDone.wait(lock, [this] { return m_Running == 0; });
    m_Body = nullptr;
  }

private:
  /** Threads end with the process. */
  bool
  TryStartThread()
  {
    try
    {
      std::thread([this] { this->Serve(); }).detach();
    }
    catch (const std::exception &)
    {
      return false;
    }
    ++m_NumberOfThreads;
    return true;
  }

  [[noreturn]] void
  Serve()
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    for (;;)
    {
      m_HasWork.wait(lock, [this] { return m_NextWorker < m_EndWorker; });
      this->RunNext(lock);
    }
  }

  void
  RunNext(std::unique_lock<std::mutex> & lock)
  {
    const unsigned int worker = m_NextWorker++;
    const auto * const body = m_Body;
    ++m_Running;
    lock.unlock();
    (*body)(worker);
    lock.lock();
    if (--m_Running == 0)
    {
      m_IsDone.notify_one();
    }
  }

  std::mutex                                m_Mutex;
  std::condition_variable                   m_HasWork;
  std::condition_variable                   m_IsDone;
  const std::function<void(unsigned int)> * m_Body{ nullptr };
  unsigned int                              m_NextWorker{ 0 };
  unsigned int                              m_EndWorker{ 0 };
  unsigned int                              m_Running{ 0 };
  unsigned int                              m_NumberOfThreads{ 0 };
};

// Never destroyed: its threads may run until the end of the process.
ThreadPool * pool = nullptr;

ThreadPool &
GetPool()
{
  static std::once_flag once;
  std::call_once(once, [] {
    pool = new ThreadPool;
#if !defined(_WIN32)
    // Threads are not forked, and a mutex may be locked for good.
    pthread_atfork(nullptr, nullptr, [] { pool = new ThreadPool; });
#endif
  });
  return *pool;
}
} // namespace

ParallelFor
GetThreadPool()
{
  return [](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    GetPool().Run(numberOfWorkers, body);
  };
}

unsigned int
GetNumberOfProcessors()
{
#if defined(__linux__)
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) == 0)
  {
    return static_cast<unsigned int>(std::max(CPU_COUNT(&processors), 1));
  }
#endif
  return std::max(std::thread::hardware_concurrency(), 1u);
}

void
ForEachRangeOfVoxels(std::int64_t size, const JobExecution & execution,
                     const std::function<void(std::int64_t begin, std::int64_t end)> & compute)
{
  // Processed within about a millisecond.
  constexpr std::int64_t voxelsBetweenChecks = std::int64_t{ 1 } << 20;
  // Fewer take less time than it takes to start a worker.
  constexpr std::int64_t minVoxelsPerWorker = std::int64_t{ 1 } << 16;

  ForEachRange(size, minVoxelsPerWorker, execution, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += voxelsBetweenChecks)
    {
      compute(first, std::min(first + voxelsBetweenChecks, end));
      execution.CheckAbort();
    }
  });
}
} // namespace voxelmaps
