// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Benchmark_h
#define Benchmark_h

#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/Job.h"
#include "voxelmaps/ThreadPool.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace VoxelMapsBenchmarks
{
using benchmark::State;
using voxelmaps::Triple;

inline int                numberOfErrors = 0;
inline const unsigned int allThreads = voxelmaps::GetNumberOfProcessors();

/** Thrown by a benchmark that cannot run on this machine, or by a method that does not support its case. */
class Skipped : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

inline void
RequireDevice()
{
  if (!voxelmaps::CudaDevices::IsUsable(0))
  {
    throw Skipped("no CUDA device: " + voxelmaps::CudaDevices::GetReasonForNoDevice());
  }
}

inline void
Verify(bool isRight, const std::string & error)
{
  if (!isRight)
  {
    throw std::runtime_error(error);
  }
}

/** Register a benchmark. If it throws anything but Skipped, the exit code of the program is 1. */
inline benchmark::internal::Benchmark *
Register(const std::string & name, const std::function<void(State &)> & run)
{
  const auto runSafely = [run](State & state) {
    try
    {
      run(state);
    }
    catch (const Skipped & reason)
    {
      state.SkipWithError(reason.what());
    }
    catch (const std::exception & error)
    {
      const bool isUnsupported = std::string(error.what()).find("does not support") != std::string::npos;
      numberOfErrors += isUnsupported ? 0 : 1;
      state.SkipWithError(((isUnsupported ? "" : "WRONG: ") + std::string(error.what())).c_str());
    }
  };
  return benchmark::RegisterBenchmark(name.c_str(), runSafely)->Unit(benchmark::kMillisecond);
}

/** A benchmark of wall time, which also reports the processor time of all threads. */
inline void
RegisterWall(const std::string & name, const std::function<void(State &)> & run)
{
  Register(name, run)->MeasureProcessCPUTime()->UseRealTime();
}

/** A benchmark of a call on a device: its time is that of the kernels, which the call returns in milliseconds; the
 * counter "call" is the time of the entire call, from and to host memory. */
inline void
RunKernels(State & state, const std::function<double()> & call)
{
  RequireDevice();
  if (state.max_iterations > 1)
  {
    // Kernels are loaded when they are first used.
    call();
  }
  double seconds = 0.0;
  for (auto _ : state)
  {
    const auto   start = std::chrono::steady_clock::now();
    const double kernelMilliseconds = call();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(1e-3 * kernelMilliseconds);
  }
  state.counters["call"] = { seconds, benchmark::Counter::kAvgIterations };
}

/** The counter "per voxel", in seconds by the clock of the benchmark. */
inline void
CountVoxels(State & state, std::int64_t voxels)
{
  state.counters["per voxel"] = { static_cast<double>(voxels),
                                  benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert };
}

inline voxelmaps::JobExecution
MakeExecution(unsigned int threads)
{
  voxelmaps::JobExecution execution;
  execution.numberOfWorkers = threads;
  if (threads > 1)
  {
    execution.parallelFor = voxelmaps::GetThreadPool();
  }
  return execution;
}

template <typename T>
std::string
ToText(const T & value)
{
  std::ostringstream text;
  text << value;
  // Names of enumerators follow that of their enumeration.
  return text.str().substr(text.str().rfind(':') + 1);
}

inline std::string
ToText(const Triple & size)
{
  return ToText(size[0]) + "x" + ToText(size[1]) + "x" + ToText(size[2]);
}

inline std::int64_t
GetNumberOfVoxels(const Triple & size)
{
  return size[0] * size[1] * size[2];
}

/** Remove --name=VALUE from the command line and return VALUE; empty if it is not there. */
inline std::string
TakeOption(int & argc, char ** argv, const std::string & name)
{
  const std::string prefix = "--" + name + "=";
  char ** const     end = argv + argc;
  char ** const     found =
    std::find_if(argv + 1, end, [&](const std::string & argument) { return argument.rfind(prefix, 0) == 0; });
  if (found == end)
  {
    return "";
  }
  const std::string value = std::string(*found).substr(prefix.size());
  std::copy(found + 1, end, found);
  --argc;
  return value;
}

/** --size=X,Y,Z, or the default. */
inline Triple
TakeSize(int & argc, char ** argv, const Triple & defaultSize)
{
  const std::string value = TakeOption(argc, argv, "size");
  if (value.empty())
  {
    return defaultSize;
  }
  std::istringstream stream(value);
  Triple             size;
  char               comma;
  stream >> size[0] >> comma >> size[1] >> comma >> size[2];
  Verify(stream && stream.eof() && *std::min_element(size.begin(), size.end()) > 0,
         "--size is " + value + "; give the numbers of voxels along x, y and z, for example --size=512,512,155");
  return size;
}

/** The main function of a program; registerBenchmarks removes the program's own options from the command line. */
inline int
RunProgram(int argc, char * argv[], void (*registerBenchmarks)(int & argc, char ** argv))
{
  try
  {
    registerBenchmarks(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
    {
      return EXIT_FAILURE;
    }
    benchmark::AddCustomContext("threads", std::to_string(allThreads));
    benchmark::AddCustomContext("device", voxelmaps::CudaDevices::GetName(0));
    benchmark::AddCustomContext("CUDA driver", std::to_string(voxelmaps::CudaDevices::GetDriverVersion()));
    return benchmark::RunSpecifiedBenchmarks() > 0 && numberOfErrors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
} // namespace VoxelMapsBenchmarks

#endif // Benchmark_h
