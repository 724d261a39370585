// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
