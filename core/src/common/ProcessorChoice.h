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
#ifndef ProcessorChoice_h
#define ProcessorChoice_h

#include "voxelmaps/Job.h"

#include <cstdint>

// Whether a job of a Cuda class is computed on the CPU all the same. That depends on expected times alone: results are
// bit-identical.
namespace voxelmaps
{
/** What is known of a device without starting it. */
struct DeviceSpeed
{
  /** Arithmetic operations per second as a multiple of those of an H100. */
  double arithmetic{ 1.0 };
};

/** Expected times of a job, in milliseconds. */
struct ExpectedTimes
{
  double cpu;
  double device;
};

/** ExpectedTimes of a job from its work on one CPU thread, and on an H100 without copies; both in milliseconds.
 * numberOfTasks is the number of parts that the CPU engine shares out to its threads. */
ExpectedTimes
ExpectTimes(double cpuWork, double deviceWork, std::uint64_t outputBytes, std::uint64_t numberOfTasks,
            const JobExecution & execution, const DeviceSpeed & speed);
} // namespace voxelmaps

#endif // ProcessorChoice_h
