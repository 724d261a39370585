// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/ProcessorChoice.h"

#include <algorithm>
#include <thread>

namespace voxelmaps
{
namespace
{
// Milliseconds, measured with an H100 and 16 cores: see doc/performance.md.
constexpr double deviceCallTime = 0.03;
constexpr double threadWakeTime = 0.06;
// A bus of half the speed of PCI Express 5.0, through page-locked memory, and one thread that copies to the output.
constexpr double busBytesPerMillisecond = 25e6;
constexpr double threadBytesPerMillisecond = 10e6;
} // namespace

ExpectedTimes
ExpectTimes(double cpuWork, double deviceWork, std::uint64_t outputBytes, std::uint64_t numberOfTasks,
            const JobExecution & execution, const DeviceSpeed & speed)
{
  // Filters have more work units than there are threads.
  const double workers = std::max(1u, std::min(execution.numberOfWorkers, std::thread::hardware_concurrency()));
  const double cpuWorkers = std::min(workers, static_cast<double>(std::max<std::uint64_t>(numberOfTasks, 1)));
  const auto   bytes = static_cast<double>(outputBytes);
  const double copy = bytes / std::min(busBytesPerMillisecond, workers * threadBytesPerMillisecond);
  return { cpuWork / cpuWorkers + (cpuWorkers > 1.0 ? threadWakeTime : 0.0),
           deviceCallTime + deviceWork / speed.arithmetic + copy };
}
} // namespace voxelmaps
