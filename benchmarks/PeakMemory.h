// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PeakMemory_h
#define PeakMemory_h

#include "Benchmark.h"

#include <fstream>
#include <limits>

#ifdef __GLIBC__
#  include <malloc.h>
#endif

namespace VoxelMapsBenchmarks
{
/** The resident memory of this process and its peak, in bytes, as Linux says them. */
class PeakMemory
{
public:
  /** Set the peak to what is resident now. Memory that is free already must not be used again: it would not count. */
  static void
  Reset()
  {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    std::ofstream("/proc/self/clear_refs") << 5 << std::flush;
    if (!(GetPeak() <= 1.05 * GetResident()))
    {
      throw Skipped("this system cannot reset the peak of the resident memory");
    }
  }
  static double
  GetResident()
  {
    return ReadStatus("VmRSS:");
  }
  static double
  GetPeak()
  {
    return ReadStatus("VmHWM:");
  }

private:
  static double
  ReadStatus(const std::string & key)
  {
    std::ifstream status("/proc/self/status");
    std::string   line;
    while (std::getline(status, line))
    {
      if (line.compare(0, key.size(), key) == 0)
      {
        return 1024.0 * std::stod(line.substr(key.size()));
      }
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
};

/** A benchmark that measures memory in some unit once. Above the limit, the exit code of the program is 1. */
inline void
RegisterMemory(const std::string & name, const std::string & unit, double limit,
               const std::function<double()> & measure)
{
  if (!isCheck)
  {
    Register(name,
             [=](State & state) {
               for (auto _ : state)
               {
                 const double memory = measure();
                 state.counters[unit] = memory;
                 state.SetLabel(memory <= limit ? "" : "over the limit");
                 numberOfWrong += memory <= limit ? 0 : 1;
               }
             })
      ->Iterations(1)
      ->UseRealTime();
  }
}
} // namespace VoxelMapsBenchmarks

#endif // PeakMemory_h
