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
#ifndef BenchmarkMain_h
#define BenchmarkMain_h

// What the benchmark programs share.

#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

namespace VoxelMapsBenchmarks
{
/** Measures the loop over a benchmark's state, to report nanoseconds per voxel as a plain number. */
class Stopwatch
{
public:
  void
  Report(benchmark::State & state, std::size_t voxels) const
  {
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - m_Start;
    const double items = static_cast<double>(state.iterations()) * static_cast<double>(voxels);
    state.SetItemsProcessed(static_cast<std::int64_t>(items));
    state.counters["ns/voxel"] = elapsed.count() / items;
  }

private:
  std::chrono::steady_clock::time_point m_Start{ std::chrono::steady_clock::now() };
};

template <typename TFunction>
void
Register(const std::string & name, TFunction && function)
{
  benchmark::RegisterBenchmark(name.c_str(), std::forward<TFunction>(function))
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
}

/** A line of /proc/self/status in bytes, 0 where there is none. */
inline double
ReadStatus(const std::string & key)
{
  std::ifstream status("/proc/self/status");
  std::string   line;
  while (std::getline(status, line))
  {
    if (line.compare(0, key.size() + 1, key + ":") == 0)
    {
      return 1024.0 * std::strtod(line.c_str() + key.size() + 1, nullptr);
    }
  }
  return 0.0;
}

/** The arguments that all programs have. */
struct Options
{
  bool check{ false };
  bool memory{ false };
};

/** Take a program's own arguments from the command line: --check, --memory, and one that has a value. The rest is
 * Google Benchmark's, whose help follows the program's. */
inline void
TakeOptions(int & argc, char ** argv, Options & options, const std::string & help, const std::string & valueOption,
            const std::function<void(const std::string &)> & takeValue)
{
  int kept = 1;
  for (int i = 1; i < argc; ++i)
  {
    const std::string argument = argv[i];
    if (argument == "--check")
    {
      options.check = true;
    }
    else if (argument == "--memory")
    {
      options.memory = true;
    }
    else if (argument == valueOption && i + 1 < argc)
    {
      takeValue(argv[++i]);
    }
    else if (argument.compare(0, valueOption.size() + 1, valueOption + "=") == 0)
    {
      takeValue(argument.substr(valueOption.size() + 1));
    }
    else
    {
      if (argument == "--help")
      {
        std::cout << help;
      }
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
}

/** Run a program; an error is printed. Returns the exit code. */
inline int
RunProgram(int argc, char * argv[], int (*run)(int, char **))
{
  // ITK's thread pool keeps the size it is made with, so it is made before a benchmark asks for fewer threads.
  itk::MultiThreaderBase::New()->ParallelizeArray(0, 2, [](itk::SizeValueType) {}, nullptr);
  try
  {
    return run(argc, argv);
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error.GetDescription() << std::endl;
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << std::endl;
  }
  return EXIT_FAILURE;
}
} // namespace VoxelMapsBenchmarks

#endif // BenchmarkMain_h
