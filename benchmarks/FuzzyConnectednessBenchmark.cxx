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
#include "BenchmarkMain.h"
#include "HeapConnectedness.h"
#include "SyntheticLiverCTSource.h"

#ifdef VOXELMAPS_BENCHMARK_CUDA
#  include "PaperKFOE.h"
#endif

#include "itkCudaDevices.h"
#include "itkCudaFuzzyConnectednessImageFilter.h"
#include "itkCudaFuzzyConnectednessJob.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkMultiThreaderBase.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#  include <malloc.h>
#  include <sys/wait.h>
#  include <unistd.h>
#endif

namespace
{
using Job = itk::FuzzyConnectednessJob;
using Enums = itk::FuzzyConnectednessEnums;
using ImageType = SyntheticLiverCT::ImageType;
using Pixel = ImageType::PixelType;
using FilterType = itk::FuzzyConnectednessImageFilter<ImageType>;
using CudaFilterType = itk::CudaFuzzyConnectednessImageFilter<ImageType>;
using CudaMethod = Enums::CudaMethod;
using VoxelMapsBenchmarks::ReadStatus;
using VoxelMapsBenchmarks::Register;
using VoxelMapsBenchmarks::Stopwatch;

// ---------------------------------------------------------------------------------------------------------------------
// Data

SyntheticLiverCT::Result
MakeScene(const ImageType::SizeType & size, std::uint64_t randomSeed = 1)
{
  SyntheticLiverCT::Settings settings;
  settings.size = size;
  settings.randomSeed = randomSeed;
  return SyntheticLiverCT::Make(settings);
}

std::string
ToString(const ImageType::SizeType & size)
{
  std::ostringstream text;
  text << size[0] << 'x' << size[1] << 'x' << size[2];
  return text.str();
}

// ---------------------------------------------------------------------------------------------------------------------
// Cases

enum class Program
{
  Heap,
  Queue,
  Buckets,
  Tiles,
  Hierarchy
};

std::string
GetName(Program program)
{
  switch (program)
  {
    case Program::Heap:
      return "Heap";
    case Program::Queue:
      return "Queue";
    case Program::Buckets:
      return "Buckets";
    case Program::Tiles:
      return "Tiles";
    case Program::Hierarchy:
      return "Hierarchy";
  }
  return "unknown";
}

enum class Object
{
  Vessel,
  Liver,
  Everything
};

/** What is computed, by whichever program. */
struct Case
{
  Object           object;
  Enums::Adjacency adjacency;
  double           minimumStrength;

  std::string
  GetName(const ImageType::SizeType & size) const
  {
    std::ostringstream text;
    text << (object == Object::Vessel  ? "vessel"
             : object == Object::Liver ? "liver"
                                       : "everything")
         << '/' << ToString(size) << "/neighbors:" << (adjacency == Enums::Adjacency::Face ? 6 : 26)
         << "/minimum:" << minimumStrength;
    return text.str();
  }
};

std::vector<Case>
MakeCases()
{
  std::vector<Case> cases;
  for (const auto adjacency : { Enums::Adjacency::Face, Enums::Adjacency::Full })
  {
    for (const auto object : { Object::Vessel, Object::Liver, Object::Everything })
    {
      for (const double minimumStrength : { 0.0, 0.5 })
      {
        cases.push_back({ object, adjacency, minimumStrength });
      }
    }
  }
  return cases;
}

ImageType::IndexType
GetSeed(const SyntheticLiverCT::Result & scene, Object object)
{
  return object == Object::Vessel ? scene.vesselSeed : scene.liverSeed;
}

/** The engine's job, without workers and memory for the keys. */
Job
MakeJob(const SyntheticLiverCT::Result & scene, const Case & thisCase)
{
  const auto size = scene.image->GetLargestPossibleRegion().GetSize();
  Job        job;
  job.image = scene.image->GetBufferPointer();
  job.pixelType = Job::PixelType::Int16;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    job.size[axis] = static_cast<std::int64_t>(size[axis]);
    job.spacing[axis] = scene.image->GetSpacing()[axis];
  }
  job.seeds.push_back(scene.image->ComputeOffset(GetSeed(scene, thisCase.object)));
  job.adjacency = thisCase.adjacency;
  job.minimumStrength = thisCase.minimumStrength;
  if (thisCase.object == Object::Everything)
  {
    // Wide enough that no affinity of the image is so small that it counts as 0, as those of air are for a vessel.
    job.objectMean = 110.0;
    job.objectVariance = 200.0 * 200.0;
    job.differenceVariance = 50.0 * 50.0;
  }
  else
  {
    const itk::AffinityEstimate estimate = itk::EstimateAffinity(job, 2);
    job.objectMean = estimate.mean;
    job.objectVariance = estimate.variance;
    job.differenceVariance = estimate.differenceVariance;
  }
  return job;
}

/** Let the job use threads as the filter does. */
void
SetThreads(Job & job, unsigned int threads)
{
  job.numberOfWorkers = threads;
  const auto threader = itk::MultiThreaderBase::New();
  threader->SetMaximumNumberOfThreads(threads);
  threader->SetNumberOfWorkUnits(threads);
  job.runWorkers = [threader](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    threader->ParallelizeArray(
      0, numberOfWorkers, [&body](itk::SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
  };
}

void
ComputeKeys(Job & job, Program program)
{
  switch (program)
  {
    case Program::Heap:
      VoxelMapsBenchmarks::ComputeHeapConnectedness<Pixel>(job);
      return;
    case Program::Queue:
      job.method = Enums::Method::Queue;
      break;
    case Program::Buckets:
      job.method = Enums::Method::Buckets;
      break;
    case Program::Tiles:
      job.method = Enums::Method::Tiles;
      break;
    case Program::Hierarchy:
      job.method = Enums::Method::Hierarchy;
      break;
  }
  itk::ComputeFuzzyConnectedness(job);
}

/** 1, 2, 4 ... and all. */
std::vector<unsigned int>
GetThreadCounts(unsigned int all)
{
  std::vector<unsigned int> counts;
  for (unsigned int threads = 1; threads < all; threads *= 2)
  {
    counts.push_back(threads);
  }
  counts.push_back(all);
  return counts;
}

bool
HasDevice()
{
  return itk::CudaDevices::IsUsable(0);
}

const std::vector<CudaMethod> cudaMethods{ CudaMethod::Automatic,
                                           CudaMethod::CorrectedKFOE,
                                           CudaMethod::ActiveTiles,
                                           CudaMethod::Hierarchy };

std::string
GetName(CudaMethod method)
{
  std::ostringstream text;
  text << "Cuda" << method;
  return text.str();
}

itk::CudaFuzzyConnectednessReport
ComputeCudaKeys(const Job & job, CudaMethod method)
{
  itk::CudaFuzzyConnectednessOptions options;
  options.method = method;
  return itk::ComputeFuzzyConnectednessCuda(job, options);
}

// ---------------------------------------------------------------------------------------------------------------------
// Check

std::size_t
CountReached(const std::vector<std::uint32_t> & keys)
{
  return keys.size() - static_cast<std::size_t>(std::count(keys.begin(), keys.end(), 0U));
}

/** Whether all programs give the same keys as the heap. */
bool
Check(unsigned int allThreads)
{
  const auto scene = MakeScene({ { 72, 64, 40 } });
  const auto size = scene.image->GetLargestPossibleRegion().GetSize();
  bool       agrees = true;
  for (const Case & thisCase : MakeCases())
  {
    Job                        job = MakeJob(scene, thisCase);
    std::vector<std::uint32_t> expected(size[0] * size[1] * size[2]);
    job.keys = expected.data();
    ComputeKeys(job, Program::Heap);
    std::cerr << "check " << thisCase.GetName(size) << ": " << CountReached(expected) << " voxels reached";

    // Of so coarse a vessel, little has a strength of 0.5.
    bool       caseAgrees = CountReached(expected) > (thisCase.minimumStrength == 0.0 ? 1000 : 0);
    const auto compare = [&](Program program, unsigned int threads) {
      std::vector<std::uint32_t> keys(expected.size(), ~0U);
      job.keys = keys.data();
      SetThreads(job, threads);
      ComputeKeys(job, program);
      if (keys != expected)
      {
        std::cerr << ", " << GetName(program) << " with " << threads << " threads DIFFERS";
        caseAgrees = false;
      }
    };
    compare(Program::Queue, 1);
    compare(Program::Buckets, 1);
    for (const unsigned int threads : { 1U, 2U, allThreads })
    {
      compare(Program::Tiles, threads);
      compare(Program::Hierarchy, threads);
    }
    for (const CudaMethod method : cudaMethods)
    {
      if (HasDevice())
      {
        std::vector<std::uint32_t> keys(expected.size(), ~0U);
        job.keys = keys.data();
        ComputeCudaKeys(job, method);
        if (keys != expected)
        {
          std::cerr << ", " << GetName(method) << " DIFFERS";
          caseAgrees = false;
        }
      }
    }
    std::cerr << (caseAgrees ? ", the same by all" : " FAILED") << std::endl;
    agrees = agrees && caseAgrees;
  }
  return agrees;
}

// ---------------------------------------------------------------------------------------------------------------------
// Time

void
RunEngine(benchmark::State & state, const SyntheticLiverCT::Result & scene, const Case & thisCase, Program program,
          unsigned int threads)
{
  Job                        job = MakeJob(scene, thisCase);
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(job.GetNumberOfVoxels()));
  job.keys = keys.data();
  SetThreads(job, threads);
  const Stopwatch stopwatch;
  for (auto _ : state)
  {
    ComputeKeys(job, program);
    benchmark::ClobberMemory();
  }
  stopwatch.Report(state, keys.size());
  state.counters["reached"] = static_cast<double>(CountReached(keys)) / static_cast<double>(keys.size());
}

/** The time of a run is that of its kernels; "host" is that of the whole call, with copies to and from the device. */
void
RunCudaEngine(benchmark::State & state, const SyntheticLiverCT::Result & scene, const Case & thisCase,
              CudaMethod method)
{
  Job                        job = MakeJob(scene, thisCase);
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(job.GetNumberOfVoxels()));
  job.keys = keys.data();
  SetThreads(job, itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  itk::CudaFuzzyConnectednessReport report;
  double                            hostMilliseconds = 0.0;
  for (auto _ : state)
  {
    const auto start = std::chrono::steady_clock::now();
    report = ComputeCudaKeys(job, method);
    hostMilliseconds += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(1e-3 * report.kernelMilliseconds);
  }
  state.counters["host"] = hostMilliseconds / static_cast<double>(state.iterations());
  state.counters["rounds"] = static_cast<double>(report.numberOfIterations);
  state.counters["reached"] = static_cast<double>(CountReached(keys)) / static_cast<double>(keys.size());
  std::ostringstream used;
  used << report.method << " on " << report.deviceName;
  state.SetLabel(used.str());
}

template <typename TFilter>
void
RunFilter(benchmark::State & state, const SyntheticLiverCT::Result & scene, const Case & thisCase, unsigned int threads)
{
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
  // New of the base class may be that of the Cuda class.
  const typename TFilter::Pointer filter = TFilter::New();
  filter->SetInput(scene.image);
  filter->SetSeed(GetSeed(scene, thisCase.object));
  filter->EstimateAffinityFromSeedsOn();
  filter->SetAdjacency(thisCase.adjacency);
  filter->SetMinimumStrength(thisCase.minimumStrength);
  filter->SetNumberOfWorkUnits(threads);
  const Stopwatch stopwatch;
  for (auto _ : state)
  {
    // Nobody has touched the memory of the first result.
    filter->GetOutput()->Initialize();
    filter->Modified();
    filter->Update();
    benchmark::DoNotOptimize(filter->GetOutput()->GetBufferPointer());
  }
  stopwatch.Report(state, scene.image->GetLargestPossibleRegion().GetNumberOfPixels());
}

/** The scene is made when the first benchmark needs it. */
class LazyScene
{
public:
  explicit LazyScene(const ImageType::SizeType & size)
    : m_Size(size)
  {}

  const SyntheticLiverCT::Result &
  Get()
  {
    if (!m_Scene)
    {
      m_Scene = std::make_unique<SyntheticLiverCT::Result>(MakeScene(m_Size));
    }
    return *m_Scene;
  }

private:
  ImageType::SizeType                       m_Size;
  std::unique_ptr<SyntheticLiverCT::Result> m_Scene;
};

void
RegisterBenchmarks(LazyScene & scene, const ImageType::SizeType & size, unsigned int allThreads)
{
  using benchmark::State;
  const auto registerEngine = [&](const Case & thisCase, Program program, unsigned int threads) {
    Register(GetName(program) + "/" + thisCase.GetName(size) + "/threads:" + std::to_string(threads),
             [&scene, thisCase, program, threads](State & state) {
               RunEngine(state, scene.Get(), thisCase, program, threads);
             });
  };
  for (const Case & thisCase : MakeCases())
  {
    if (thisCase.adjacency == Enums::Adjacency::Face)
    {
      registerEngine(thisCase, Program::Heap, 1);
      registerEngine(thisCase, Program::Queue, 1);
    }
    registerEngine(thisCase, Program::Buckets, 1);
    for (const unsigned int threads : GetThreadCounts(allThreads))
    {
      registerEngine(thisCase, Program::Tiles, threads);
      registerEngine(thisCase, Program::Hierarchy, threads);
    }
    if (thisCase.adjacency == Enums::Adjacency::Face && thisCase.object != Object::Everything)
    {
      Register("Filter/" + thisCase.GetName(size) + "/threads:" + std::to_string(allThreads),
               [&scene, thisCase, allThreads](State & state) {
                 RunFilter<FilterType>(state, scene.Get(), thisCase, allThreads);
               });
      if (HasDevice())
      {
        Register("CudaFilter/" + thisCase.GetName(size) + "/threads:" + std::to_string(allThreads),
                 [&scene, thisCase, allThreads](State & state) {
                   RunFilter<CudaFilterType>(state, scene.Get(), thisCase, allThreads);
                 });
      }
    }
    for (const CudaMethod method : cudaMethods)
    {
      if (HasDevice())
      {
        benchmark::RegisterBenchmark(
          (GetName(method) + "/" + thisCase.GetName(size)).c_str(),
          [&scene, thisCase, method](State & state) { RunCudaEngine(state, scene.Get(), thisCase, method); })
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime();
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// Bytes per voxel beside input and output that the filter may use.
constexpr double memoryLimit = 12.0;

#ifdef __linux__
/** Run one program and print what it took beside input and output. Returns whether it keeps to the limit. */
bool
MeasureMemoryHere(const ImageType::SizeType & size, const Case & thisCase, Program program, unsigned int threads)
{
  const auto                 scene = MakeScene(size);
  Job                        job = MakeJob(scene, thisCase);
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(job.GetNumberOfVoxels()), 1);
  job.keys = keys.data();
  SetThreads(job, threads);
  // What making the image took is not the program's; 5 sets the peak to what is resident now.
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;
  const double before = ReadStatus("VmRSS");
  const double peakBefore = ReadStatus("VmHWM");
  ComputeKeys(job, program);
  const double peak = ReadStatus("VmHWM");

  const double perVoxel = (peak - before) / static_cast<double>(keys.size());
  const bool   isLimited = program != Program::Heap;
  const bool   keeps = !isLimited || perVoxel <= memoryLimit;
  std::cout << GetName(program) << '/' << thisCase.GetName(size) << "/threads:" << threads << ": " << std::fixed
            << std::setprecision(2) << perVoxel << " bytes per voxel beside input and output";
  if (peakBefore > 1.05 * before)
  {
    std::cout << " at most: the peak could not be reset";
  }
  std::cout << (keeps ? "" : " EXCEEDED") << std::endl;
  return keeps;
}

/** The same in a process of its own, which no other leaves memory to. */
bool
MeasureMemory(const ImageType::SizeType & size, const Case & thisCase, Program program, unsigned int threads)
{
  const pid_t child = fork();
  if (child < 0)
  {
    throw std::runtime_error("fork failed");
  }
  if (child == 0)
  {
    bool keeps = false;
    try
    {
      keeps = MeasureMemoryHere(size, thisCase, program, threads);
    }
    catch (const std::exception & error)
    {
      std::cerr << error.what() << std::endl;
    }
    _exit(keeps ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}
#else
bool
MeasureMemory(const ImageType::SizeType &, const Case &, Program, unsigned int)
{
  throw std::runtime_error("--memory needs Linux");
}
#endif

bool
MeasureMemory(const ImageType::SizeType & size, unsigned int allThreads)
{
  std::cout << "limit: " << memoryLimit << " bytes per voxel, not for Heap" << std::endl;
  bool keep = true;
  for (const Case & thisCase : MakeCases())
  {
    const bool isFull = thisCase.minimumStrength == 0.0;
    const bool isFace = thisCase.adjacency == Enums::Adjacency::Face;
    if (isFull && (isFace || thisCase.object == Object::Everything))
    {
      for (const auto program : { Program::Heap, Program::Queue, Program::Buckets, Program::Tiles, Program::Hierarchy })
      {
        const bool isParallel = program == Program::Tiles || program == Program::Hierarchy;
        if (isFace || program == Program::Buckets || isParallel)
        {
          keep = MeasureMemory(size, thisCase, program, isParallel ? allThreads : 1) && keep;
        }
      }
    }
  }
  return keep;
}

// ---------------------------------------------------------------------------------------------------------------------
// The tables of the paper

#ifdef VOXELMAPS_BENCHMARK_CUDA
constexpr int runsOfTables = 3;

struct TableRow
{
  int                  table;
  ImageType::IndexType seed;
  std::string          program;
  double               milliseconds;     // of kernels, or of the processor
  double               hostMilliseconds; // of the whole call
  double               wrongVoxels;
  double               iterations;
};

/** Run a program three times; its function returns milliseconds of kernels, or 0 if it has none, and iterations. */
TableRow
MeasureRow(int table, const ImageType::IndexType & seed, const std::string & program, Job job,
           const std::vector<std::uint32_t> & expected, int runs,
           const std::function<std::pair<double, double>(const Job &)> & compute)
{
  TableRow                   row{ table, seed, program, 0.0, 0.0, 0.0, 0.0 };
  std::vector<std::uint32_t> keys(expected.size());
  job.keys = keys.data();
  for (int run = 0; run < runs; ++run)
  {
    std::fill(keys.begin(), keys.end(), ~0U);
    const auto   start = std::chrono::steady_clock::now();
    const auto   result = compute(job);
    const double host = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    std::size_t  wrong = 0;
    for (std::size_t voxel = 0; voxel < keys.size(); ++voxel)
    {
      wrong += keys[voxel] != expected[voxel] ? 1 : 0;
    }
    row.hostMilliseconds += host / runs;
    row.milliseconds += (result.first > 0.0 ? result.first : host) / runs;
    row.iterations += result.second / runs;
    row.wrongVoxels += static_cast<double>(wrong) / runs;
  }
  std::ostringstream line;
  line << std::left << std::setw(6) << table << std::setw(16)
       << (std::to_string(seed[0]) + "," + std::to_string(seed[1]) + "," + std::to_string(seed[2])) << std::setw(28)
       << program << std::right << std::fixed << std::setprecision(2) << std::setw(12) << row.milliseconds
       << std::setw(12) << row.hostMilliseconds << std::setprecision(1) << std::setw(14) << row.wrongVoxels
       << std::setw(10) << row.iterations << '\n';
  std::cout << line.str() << std::flush;
  return row;
}

/** Tables 1 to 3 of Li et al. 2015, with three synthetic CTs of the sizes of theirs and three seeds each. */
void
MakeTables(const std::string & fileName, int onlyTable, bool withSerialQueue, unsigned int threads)
{
  std::cout << itk::CudaDevices::GetName(0) << ", driver for CUDA " << itk::CudaDevices::GetDriverVersion()
            << "; mean of " << runsOfTables << " runs; milliseconds of kernels, of the whole call, wrong voxels, "
            << "iterations" << std::endl;
  std::vector<TableRow>    rows;
  const itk::SizeValueType slices[] = { 155, 215, 175 };
  for (int table = 1; table <= 3; ++table)
  {
    if (onlyTable != 0 && table != onlyTable)
    {
      continue;
    }
    const auto scene = MakeScene({ { 512, 512, slices[table - 1] } }, static_cast<std::uint64_t>(table));
    const std::vector<ImageType::IndexType> seeds{ scene.vesselSeed, scene.liverSeed, scene.boneSeed };
    std::vector<Job>                        jobs;
    std::vector<std::vector<std::uint32_t>> allExpected;
    for (const auto & seed : seeds)
    {
      // All of the image is reached from each seed, as in the paper.
      Job job = MakeJob(scene, { Object::Everything, Enums::Adjacency::Face, 0.0 });
      job.seeds = { scene.image->ComputeOffset(seed) };
      SetThreads(job, threads);
      allExpected.emplace_back(static_cast<std::size_t>(job.GetNumberOfVoxels()));
      job.keys = allExpected.back().data();
      ComputeKeys(job, Program::Hierarchy);
      jobs.push_back(job);
    }
    if (withSerialQueue)
    {
      // It takes so long that the seeds of a table are done at a time, by one thread each.
      std::vector<TableRow>    queueRows(seeds.size());
      std::vector<std::thread> queueThreads;
      for (std::size_t i = 0; i < seeds.size(); ++i)
      {
        queueThreads.emplace_back([&, i] {
          queueRows[i] = MeasureRow(table, seeds[i], "serial queue", jobs[i], allExpected[i], 1, [](Job job) {
            job.numberOfWorkers = 1;
            ComputeKeys(job, Program::Queue);
            return std::make_pair(0.0, 0.0);
          });
        });
      }
      for (std::thread & thread : queueThreads)
      {
        thread.join();
      }
      rows.insert(rows.end(), queueRows.begin(), queueRows.end());
    }
    for (std::size_t i = 0; i < seeds.size(); ++i)
    {
      const auto measure = [&](const std::string & program, int runs, const auto & compute) {
        rows.push_back(MeasureRow(table, seeds[i], program, jobs[i], allExpected[i], runs, compute));
      };
      using VoxelMapsBenchmarks::PaperProgram;
      const auto paper = [](PaperProgram program) {
        return [program](const Job & theJob) {
          const auto result = VoxelMapsBenchmarks::ComputePaperKFOE(theJob, program);
          return std::make_pair(result.kernelMilliseconds, static_cast<double>(result.numberOfIterations));
        };
      };
      measure("CUDA-kFOE", runsOfTables, paper(PaperProgram::Original));
      measure("corrected, as printed", runsOfTables, paper(PaperProgram::Corrected));
      for (const CudaMethod method : cudaMethods)
      {
        measure(GetName(method), runsOfTables, [method](const Job & theJob) {
          const auto report = ComputeCudaKeys(theJob, method);
          return std::make_pair(report.kernelMilliseconds, static_cast<double>(report.numberOfIterations));
        });
      }
    }
  }
  std::ofstream file(fileName);
  file << "[\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
  {
    const TableRow & row = rows[i];
    file << "  { \"table\": " << row.table << ", \"seed\": [" << row.seed[0] << ", " << row.seed[1] << ", "
         << row.seed[2] << "], \"program\": \"" << row.program << "\", \"milliseconds\": " << row.milliseconds
         << ", \"hostMilliseconds\": " << row.hostMilliseconds << ", \"wrongVoxels\": " << row.wrongVoxels
         << ", \"iterations\": " << row.iterations << " }" << (i + 1 < rows.size() ? "," : "") << '\n';
  }
  file << "]\n";
  if (!file)
  {
    throw std::runtime_error("cannot write " + fileName);
  }
}
#else
void
MakeTables(const std::string &, int, bool, unsigned int)
{
  throw std::runtime_error("--tables needs a build with VoxelMaps_USE_CUDA");
}
#endif

// ---------------------------------------------------------------------------------------------------------------------

struct Options : VoxelMapsBenchmarks::Options
{
  ImageType::SizeType size{ { 512, 512, 155 } };
  std::string         tables;
  int                 onlyTable{ 0 };
  bool                withSerialQueue{ true };
};

ImageType::SizeType
ParseSize(const std::string & text)
{
  ImageType::SizeType size;
  std::istringstream  stream(text);
  char                comma = ',';
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    if ((axis > 0 && !(stream >> comma)) || comma != ',' || !(stream >> size[axis]))
    {
      throw std::runtime_error("--size is " + text + ", but must be x,y,z");
    }
  }
  if (stream >> comma)
  {
    throw std::runtime_error("--size is " + text + ", but must be x,y,z");
  }
  return size;
}

/** Take this program's own arguments from the command line; the rest is Google Benchmark's. */
Options
TakeOptions(int & argc, char ** argv)
{
  Options           options;
  const std::string help =
    "FuzzyConnectednessBenchmark [--size X,Y,Z] [--check | --memory | --tables FILE [--table N] [--no-queue]]\n"
    "                            [options of Google Benchmark]\n"
    "  --size X,Y,Z  voxels of the synthetic liver CT, default 512,512,155\n"
    "  --check       only check that all programs give the same keys, on a small image\n"
    "  --memory      only measure the peak memory\n"
    "  --tables FILE only redo the tables of Li et al. 2015 on a CUDA device, and write them to a file as JSON\n"
    "  --table N     only one of them, 1 to 3\n"
    "  --no-queue    leave out the serial program of the tables, which takes minutes\n\n";
  // These are not common to the benchmark programs.
  int kept = 1;
  for (int i = 1; i < argc; ++i)
  {
    const std::string argument = argv[i];
    if (argument == "--tables" && i + 1 < argc)
    {
      options.tables = argv[++i];
    }
    else if (argument == "--table" && i + 1 < argc)
    {
      options.onlyTable = std::atoi(argv[++i]);
    }
    else if (argument == "--no-queue")
    {
      options.withSerialQueue = false;
    }
    else
    {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  VoxelMapsBenchmarks::TakeOptions(
    argc, argv, options, help, "--size", [&options](const std::string & value) { options.size = ParseSize(value); });
  return options;
}

int
Run(int argc, char * argv[])
{
  const unsigned int threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  const Options      options = TakeOptions(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
  {
    return EXIT_FAILURE;
  }
  if (options.memory)
  {
    return MeasureMemory(options.size, threads) ? EXIT_SUCCESS : EXIT_FAILURE;
  }

  if (!options.tables.empty())
  {
    MakeTables(options.tables, options.onlyTable, options.withSerialQueue, threads);
    return EXIT_SUCCESS;
  }

  if (!Check(threads))
  {
    std::cerr << "the programs give different keys" << std::endl;
    return EXIT_FAILURE;
  }
  if (!options.check)
  {
    LazyScene scene(options.size);
    RegisterBenchmarks(scene, options.size, threads);
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
  return EXIT_SUCCESS;
}
} // namespace

int
main(int argc, char * argv[])
{
  return VoxelMapsBenchmarks::RunProgram(argc, argv, Run);
}
