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
