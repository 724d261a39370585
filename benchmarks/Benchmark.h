// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Benchmark_h
#define Benchmark_h

// What the benchmark programs share: the main function, how benchmarks are registered, and how they fail.

#include "itkMultiThreaderBase.h"
#include "itkVoxelMapsEnums.h"
#include "voxelmaps/Job.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace VoxelMapsBenchmarks
{
using benchmark::State;
using RunFunction = std::function<void(State &)>;

/** Whether results are checked, on small images, and nothing is timed. */
inline bool isCheck = false;
inline int  numberOfRight = 0;
inline int  numberOfWrong = 0;
/** The number of threads that ITK uses by default. */
inline unsigned int allThreads = 1;

/** Thrown by a benchmark that cannot run here. */
class Skipped : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

inline void
RequireDevice()
{
  if (!itk::CudaDevices::IsUsable(0))
  {
    throw Skipped("no CUDA device: " + itk::CudaDevices::GetReasonForNoDevice());
  }
}

inline void
Verify(bool isRight, const std::string & wrong)
{
  if (!isRight)
  {
    throw std::runtime_error(wrong);
  }
}

/** Register a benchmark. If it throws anything but Skipped, the exit code of the program is 1. */
inline benchmark::internal::Benchmark *
Register(const std::string & name, const RunFunction & run)
{
  auto * const registered = benchmark::RegisterBenchmark(name.c_str(), [name, run](State & state) {
    std::string outcome = "right";
    try
    {
      run(state);
      ++numberOfRight;
    }
    catch (const Skipped & reason)
    {
      outcome = std::string("skipped, ") + reason.what();
    }
    catch (const std::exception & error)
    {
      outcome = std::string("WRONG, ") + error.what();
      ++numberOfWrong;
    }
    if (outcome != "right")
    {
      state.SkipWithError(outcome.c_str());
    }
    if (isCheck)
    {
      std::cerr << name << ": " << outcome << std::endl;
    }
  });
  return isCheck ? registered->Iterations(1) : registered->Unit(benchmark::kMillisecond);
}

/** A benchmark of wall time; the processor time of all threads is reported, too. */
inline void
RegisterWall(const std::string & name, const RunFunction & run)
{
  Register(name, run)->MeasureProcessCPUTime()->UseRealTime();
}

/** A benchmark that reports the times of its iterations itself. If iterations is 0, the option --benchmark_min_time
 * decides how many there are. */
inline void
RegisterManual(const std::string & name, int iterations, const RunFunction & run)
{
  auto * const registered = Register(name, run)->UseManualTime();
  if (iterations > 0 && !isCheck)
  {
    registered->Iterations(iterations);
  }
}

inline double
MeasureMilliseconds(const std::function<void()> & action)
{
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/** The time for each of so many items, in seconds, by the clock of the benchmark. */
inline benchmark::Counter
TimePer(double items)
{
  return { items, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert };
}

/** The mean of a sum over the iterations. */
inline benchmark::Counter
MeanOf(double sum)
{
  return { sum, benchmark::Counter::kAvgIterations };
}

/** A filter on the CPU, also where a device is, unless it is a Cuda filter. */
template <typename TFilter>
typename TFilter::Pointer
MakeOnProcessor()
{
  using Device = itk::DeviceEnums::Device;
  const typename TFilter::Pointer filter = TFilter::New();
  filter->SetDevice(filter->GetDevice() == Device::CUDA ? Device::CUDA : Device::CPU);
  return filter;
}

inline voxelmaps::JobExecution
MakeExecution(unsigned int threads)
{
  const auto threader = itk::MultiThreaderBase::New();
  threader->SetMaximumNumberOfThreads(threads);
  threader->SetNumberOfWorkUnits(threads);
  voxelmaps::JobExecution execution;
  execution.numberOfWorkers = threads;
  execution.parallelFor = [threader](unsigned int numberOfWorkers, const auto & body) {
    threader->ParallelizeArray(
      0, numberOfWorkers, [&body](itk::SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
  };
  return execution;
}

inline std::string
WithThreads(const std::string & name, unsigned int threads)
{
  return name + "/threads:" + std::to_string(threads);
}

/** The name of an enumerator without that of its enumeration. */
template <typename TEnum>
std::string
ToName(TEnum value)
{
  std::ostringstream text;
  text << value;
  return text.str().substr(text.str().rfind(':') + 1);
}

/** Take --name=VALUE from the command line. Returns false if it is not there. */
inline bool
TakeOption(int & argc, char ** argv, const std::string & name, std::string & value)
{
  const std::string prefix = name + "=";
  char ** const     end = argv + argc;
  char ** const     found = std::find_if(argv + 1, end, [&](const char * argument) {
    return argument == name || std::string(argument).compare(0, prefix.size(), prefix) == 0;
  });
  if (found == end)
  {
    return false;
  }
  value = std::string(*found).substr(std::min(prefix.size(), std::string(*found).size()));
  std::copy(found + 1, end, found);
  --argc;
  return true;
}

/** Prints nothing: in a check, the benchmarks print their outcomes themselves. */
struct NoReporter : benchmark::BenchmarkReporter
{
  bool
  ReportContext(const Context &) override
  {
    return true;
  }
  void
  ReportRuns(const std::vector<Run> &) override
  {}
};

/** The main function of a program. registerBenchmarks takes the program's own options from the command line; it returns
 * false if nothing is to be run. */
inline int
RunProgram(int argc, char * argv[], bool (*registerBenchmarks)(int & argc, char ** argv))
{
  // ITK's thread pool keeps the size it is made with, so it is made before a benchmark asks for fewer threads.
  itk::MultiThreaderBase::New()->ParallelizeArray(0, 2, [](itk::SizeValueType) {}, nullptr);
  allThreads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  try
  {
    std::string none;
    isCheck = TakeOption(argc, argv, "--check", none);
    if (!registerBenchmarks(argc, argv))
    {
      return EXIT_SUCCESS;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
    {
      return EXIT_FAILURE;
    }
    benchmark::AddCustomContext("threads", std::to_string(allThreads));
    benchmark::AddCustomContext("device", itk::CudaDevices::GetName(0));
    benchmark::AddCustomContext("CUDA runtime", std::to_string(itk::CudaDevices::GetRuntimeVersion()));
    benchmark::AddCustomContext("CUDA driver", std::to_string(itk::CudaDevices::GetDriverVersion()));
    NoReporter        noReporter;
    const std::size_t number =
      isCheck ? benchmark::RunSpecifiedBenchmarks(&noReporter) : benchmark::RunSpecifiedBenchmarks();
    if (isCheck)
    {
      std::cerr << numberOfRight << " right, " << numberOfWrong << " wrong" << std::endl;
    }
    return number > 0 && numberOfWrong == 0 && (!isCheck || numberOfRight > 0) ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
} // namespace VoxelMapsBenchmarks

#endif // Benchmark_h
