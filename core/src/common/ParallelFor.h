// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ParallelFor_h
#define ParallelFor_h

#include "voxelmaps/Job.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <exception>
#include <mutex>

namespace voxelmaps
{
/** While it exists, floating-point operations of this thread round to nearest, keep denormals and do not trap, whatever
 * the caller has set. */
class DefaultFloatingPointEnvironment
{
public:
  DefaultFloatingPointEnvironment()
  {
    std::fegetenv(&m_Former);
    std::fesetenv(FE_DFL_ENV);
  }
  DefaultFloatingPointEnvironment(const DefaultFloatingPointEnvironment &) = delete;
  DefaultFloatingPointEnvironment &
  operator=(const DefaultFloatingPointEnvironment &) = delete;
  ~DefaultFloatingPointEnvironment() { std::fesetenv(&m_Former); }

private:
  std::fenv_t m_Former;
};

/** Let workers take tasks 0 ... numberOfTasks - 1 until none is left. makeWorker(number) is called once in every worker
 * and returns the function that is called with each task. An exception ends all tasks and is thrown again here, since
 * thread pools lose them: that of the lowest task, so that it does not depend on the number of workers. */
template <typename TMakeWorker>
void
ForEachTask(std::int64_t numberOfTasks, const JobExecution & execution, const TMakeWorker & makeWorker)
{
  std::atomic<std::int64_t> next{ 0 };
  std::exception_ptr        error;
  std::int64_t              errorTask{ 0 };
  std::mutex                mutex;

  const std::function<void(unsigned int)> body = [&](unsigned int worker) {
    const DefaultFloatingPointEnvironment environment;
    std::int64_t                          task = -1;
    try
    {
      auto compute = makeWorker(worker);
      for (task = next++; task < numberOfTasks; task = next++)
      {
        compute(task);
      }
    }
    catch (...)
    {
      next = numberOfTasks;
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error || task < errorTask)
      {
        error = std::current_exception();
        errorTask = task;
      }
    }
  };

  const auto workers = static_cast<unsigned int>(
    std::max<std::int64_t>(1, std::min<std::int64_t>(execution.numberOfWorkers, numberOfTasks)));
  if (execution.parallelFor && workers > 1)
  {
    execution.parallelFor(workers, body);
  }
  else
  {
    body(0);
  }
  if (error)
  {
    std::rethrow_exception(error);
  }
}

/** Cut 0 ... size - 1 into one range per worker, of at least minSizePerWorker, and call compute(begin, end) for each.
 */
template <typename TCompute>
void
ForEachRange(std::int64_t size, std::int64_t minSizePerWorker, const JobExecution & execution, const TCompute & compute)
{
  const std::int64_t ranges =
    std::max<std::int64_t>(1, std::min<std::int64_t>(execution.numberOfWorkers, size / minSizePerWorker));
  ForEachTask(ranges, execution, [&](unsigned int) {
    return [&](std::int64_t range) {
      compute(size / ranges * range + std::min(range, size % ranges),
              size / ranges * (range + 1) + std::min(range + 1, size % ranges));
    };
  });
}
} // namespace voxelmaps

#endif // ParallelFor_h
