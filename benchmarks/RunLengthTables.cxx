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
#include "RunLengthTables.h"

#include "RunLengthBenchmarkData.h"
#include "SequentialRunLength.h"

#include "itkCudaDevices.h"
#include "itkCudaRunLengthFeatureMapImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkImageFileWriter.h"
#include "itkMultiThreaderBase.h"
#include "itkRunLengthFeatureMapImageFilter.h"

#if defined(VOXELMAPS_BENCHMARK_CUDA)
#  include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace VoxelMapsBenchmarks
{
namespace
{
using Enums = itk::RunLengthFeatureMapEnums;
using Aggregation = Enums::Aggregation;
using Method = Enums::CudaMethod;
using Job = itk::RunLengthJob;

const std::vector<std::string> modalities{ "t1", "t2", "pd" };

// ---------------------------------------------------------------------------------------------------------------------
// Time

/** Milliseconds of each repetition. */
using Times = std::vector<double>;

double
Mean(const Times & times)
{
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

double
Deviation(const Times & times)
{
  const double mean = Mean(times);
  double       squares = 0.0;
  for (const double time : times)
  {
    squares += (time - mean) * (time - mean);
  }
  return times.size() > 1 ? std::sqrt(squares / static_cast<double>(times.size() - 1)) : 0.0;
}

double
Median(Times times)
{
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2.0;
}

double
Milliseconds(const std::function<void()> & action)
{
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/** Milliseconds by the clock on the wall, after a few runs to warm up. */
Times
Measure(int warmUps, int repetitions, const std::function<void()> & action)
{
  Times times;
  for (int run = -warmUps; run < repetitions; ++run)
  {
    const double time = Milliseconds(action);
    if (run >= 0)
    {
      times.push_back(time);
    }
  }
  return times;
}

// ---------------------------------------------------------------------------------------------------------------------
// Results

std::string
ToText(double value)
{
  std::ostringstream text;
  const int          digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 4;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string
ToText(const Times & times)
{
  return ToText(Mean(times)) + " ± " + ToText(Deviation(times));
}

/** A table that becomes Markdown, and the numbers behind it that become JSON. */
class Report
{
public:
  Report(const std::string & name, const std::string & data)
    : m_Name(name)
  {
    std::ostringstream json;
    json << "  \"table\": \"" << name << "\",\n  \"data\": \"" << data << "\",\n  \"device\": \""
         << itk::CudaDevices::GetName(0) << "\",\n  \"cudaRuntime\": " << itk::CudaDevices::GetRuntimeVersion()
         << ",\n  \"cudaDriver\": " << itk::CudaDevices::GetDriverVersion()
         << ",\n  \"threads\": " << std::thread::hardware_concurrency() << ",\n  \"times\": [\n";
    m_Json = json.str();
    m_Markdown << "Data: " << data << "; device: " << itk::CudaDevices::GetName(0)
               << "; processors: " << std::thread::hardware_concurrency() << "\n";
  }

  void
  Text(const std::string & text)
  {
    m_Markdown << "\n" << text << "\n\n";
  }
  void
  Head(const std::vector<std::string> & cells)
  {
    this->Row(cells);
    m_Markdown << "|";
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
      m_Markdown << (i == 0 ? "---|" : "---:|");
    }
    m_Markdown << "\n";
  }
  void
  Row(const std::vector<std::string> & cells)
  {
    m_Markdown << "|";
    for (const std::string & cell : cells)
    {
      m_Markdown << " " << cell << " |";
    }
    m_Markdown << "\n";
  }
  /** Keep all repetitions of something. */
  void
  Keep(const std::string & what, const Times & times)
  {
    std::ostringstream json;
    json << std::setprecision(6) << "    { \"name\": \"" << what << "\", \"mean\": " << Mean(times)
         << ", \"deviation\": " << Deviation(times) << ", \"median\": " << Median(times)
         << ", \"least\": " << *std::min_element(times.begin(), times.end()) << ", \"milliseconds\": [";
    for (std::size_t i = 0; i < times.size(); ++i)
    {
      json << (i == 0 ? "" : ", ") << times[i];
    }
    json << "] }";
    m_Times.push_back(json.str());
    std::cerr << m_Name << ": " << what << ": " << ToText(times) << " ms" << std::endl;
  }
  void
  Write(const std::string & directory) const
  {
    std::cout << m_Markdown.str() << std::flush;
    if (directory.empty())
    {
      return;
    }
    const std::string path = directory + "/run_length_" + m_Name;
    std::ofstream(path + ".md") << m_Markdown.str();
    std::ofstream json(path + ".json");
    json << "{\n" << m_Json;
    for (std::size_t i = 0; i < m_Times.size(); ++i)
    {
      json << m_Times[i] << (i + 1 < m_Times.size() ? ",\n" : "\n");
    }
    json << "  ]\n}\n";
    if (!json)
    {
      throw std::runtime_error("cannot write " + path + ".json");
    }
  }

private:
  std::string              m_Name;
  std::string              m_Json;
  std::ostringstream       m_Markdown;
  std::vector<std::string> m_Times;
};

// ---------------------------------------------------------------------------------------------------------------------
// What is measured

/** An image and what is computed of it. */
struct Task
{
  const std::vector<Pixel> * voxels;
  Triple                     size;
  Triple                     windowSize;
  Triple                     windowAnchor;
  unsigned int               numberOfGrayLevels;
  bool                       identity;
  Aggregation                aggregation;
};

template <unsigned int VDimension>
using ImageOf = itk::Image<Pixel, VDimension>;

template <unsigned int VDimension>
typename ImageOf<VDimension>::Pointer
MakeImage(const Task & task)
{
  const auto image = ImageOf<VDimension>::New();
  image->SetRegions(MakeRegion<VDimension>({ { 0, 0, 0 } }, task.size));
  image->Allocate();
  std::copy(task.voxels->begin(), task.voxels->end(), image->GetBufferPointer());
  return image;
}

template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const Task & task, const typename TFilter::InputImageType * image)
{
  constexpr unsigned int dimension = TFilter::ImageDimension;
  const auto             filter = TFilter::New();
  filter->SetInput(image);
  filter->SetNumberOfGrayLevels(task.numberOfGrayLevels);
  if (task.identity)
  {
    filter->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Identity);
  }
  typename TFilter::SizeType   windowSize;
  typename TFilter::OffsetType windowAnchor;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    windowSize[axis] = static_cast<itk::SizeValueType>(task.windowSize[axis]);
    windowAnchor[axis] = task.windowAnchor[axis];
  }
  filter->SetWindowSize(windowSize);
  filter->SetWindowAnchor(windowAnchor);
  filter->SetAggregation(task.aggregation);
  return filter;
}

/** The engine's job of a task, with its buffers. */
template <unsigned int VDimension, typename TReal>
struct EngineJob
{
  explicit EngineJob(const Task & task)
  {
    const auto discretization = itk::GrayLevelDiscretizationImageFilter<ImageOf<VDimension>>::New();
    discretization->SetInput(MakeImage<VDimension>(task));
    discretization->SetNumberOfGrayLevels(task.numberOfGrayLevels);
    if (task.identity)
    {
      discretization->SetMethod(itk::GrayLevelDiscretizationEnums::Method::Identity);
    }
    discretization->Update();
    const auto * const buffer = discretization->GetOutput()->GetBufferPointer();
    levels.assign(buffer, buffer + CountVoxels(task.size));

    job.levels = levels.data();
    job.levelsSize = task.size;
    job.numberOfGrayLevels = task.numberOfGrayLevels;
    job.outputSize = task.size;
    job.windowSize = task.windowSize;
    job.windowAnchor = task.windowAnchor;
    for (const auto & offset : itk::RunLengthFeatureMapImageFilter<ImageOf<VDimension>>::GetAllOffsets())
    {
      Triple triple{ { 0, 0, 0 } };
      std::copy_n(offset.begin(), VDimension, triple.begin());
      job.offsets.push_back(triple);
    }
    job.features = Enums::GetElevenFeatures();
    job.aggregation = task.aggregation;
    job.outputIsDouble = std::is_same<TReal, double>::value;
    output.resize(CountVoxels(task.size) * job.GetNumberOfComponents());
    job.output = output.data();
  }
  EngineJob(const EngineJob &) = delete;

  std::vector<std::uint16_t> levels;
  std::vector<TReal>         output;
  Job                        job;
};

/** What the CUDA engine says of some runs of a job. */
struct KernelTimes
{
  Times kernels;
  Times matrices;
  Times features;
  /** The whole call, from and to buffers that were used before. */
  Times         calls;
  std::uint64_t slabs{ 0 };
  Method        method{ Method::Automatic };
};

KernelTimes
MeasureKernels(const Job & job, Method method, int warmUps, int repetitions)
{
  KernelTimes               times;
  itk::CudaRunLengthOptions options;
  itk::CudaRunLengthReport  report;
  options.method = method;
  for (int run = -warmUps; run < repetitions; ++run)
  {
    const double call = Milliseconds([&] { report = itk::ComputeRunLengthFeatureMapsCuda(job, options); });
    if (run >= 0)
    {
      times.calls.push_back(call);
      times.kernels.push_back(report.kernelMilliseconds);
      times.matrices.push_back(report.matricesMilliseconds);
      times.features.push_back(report.featuresMilliseconds);
    }
  }
  times.slabs = report.numberOfSlabs;
  times.method = report.method;
  return times;
}

/** Whether a method says that it cannot take a job; other errors go on. */
bool
Takes(const Job & job, Method method)
{
  itk::CudaRunLengthOptions options;
  options.method = method;
  try
  {
    itk::ComputeRunLengthFeatureMapsCuda(job, options);
    return true;
  }
  catch (const std::runtime_error & error)
  {
    if (std::string(error.what()).find("cannot take") == std::string::npos)
    {
      throw;
    }
    return false;
  }
}

template <typename TReal>
void
VerifySameBits(const std::vector<TReal> & expected, const std::vector<TReal> & actual, const std::string & what)
{
  if (expected.size() != actual.size() ||
      std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(TReal)) != 0)
  {
    throw std::runtime_error(what + " has other bits than the CPU engine");
  }
}

template <unsigned int VDimension, typename TReal>
std::vector<TReal>
ComputeExpected(const EngineJob<VDimension, TReal> & engineJob)
{
  Job                job = engineJob.job;
  std::vector<TReal> expected(engineJob.output.size());
  job.output = expected.data();
  const auto threader = itk::MultiThreaderBase::New();
  job.numberOfWorkers = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  job.runWorkers = [threader](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    threader->ParallelizeArray(
      0, numberOfWorkers, [&body](itk::SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
  };
  itk::ComputeRunLengthFeatureMaps(job);
  return expected;
}

std::string
ToText(Method method)
{
  std::ostringstream text;
  text << method;
  const std::string all = text.str();
  return all.substr(all.find_last_of(':') == std::string::npos ? 0 : all.find_last_of(':') + 1);
}

SequentialRunLengthParameters
MakeSequentialParameters(const Task & task, const std::vector<Triple> & offsets)
{
  SequentialRunLengthParameters parameters;
  parameters.imageSize = task.size;
  parameters.outputSize = task.size;
  parameters.numberOfGrayLevels = task.numberOfGrayLevels;
  parameters.windowSize = task.windowSize;
  parameters.windowAnchor = task.windowAnchor;
  parameters.offsets = offsets;
  parameters.average = task.aggregation == Aggregation::Average;
  return parameters;
}

/** Update() of a filter again and again, and of a new one each time, whose output is in new memory. */
template <typename TFilter, typename TPrepare>
void
MeasureUpdates(Report & report, const std::string & name, const Task & task, int warmUps, int repetitions,
               const TPrepare & prepare, Times & again, Times & fresh)
{
  const auto image = MakeImage<TFilter::ImageDimension>(task);
  const auto filter = MakeFilter<TFilter>(task, image);
  prepare(filter.GetPointer());
  again = Measure(warmUps, repetitions, [&] {
    filter->Modified();
    filter->Update();
  });
  fresh = Measure(warmUps, repetitions, [&] {
    const auto newFilter = MakeFilter<TFilter>(task, image);
    prepare(newFilter.GetPointer());
    newFilter->Update();
  });
  report.Keep(name + "/update", again);
  report.Keep(name + "/new filter", fresh);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables

/** How often to measure. */
struct Effort
{
  int warmUps;
  int repetitions;
  int repetitionsOfSlow;
  /** Not 0 for large images: Primitives and Windows compute so many slices from the middle, and the CPU uses all
   * threads only. */
  std::int64_t slicesOfSlow;
};

/** The methods on a task: kernels, and Update() from and to images, beside the CPU filter. */
template <unsigned int VDimension>
void
CompareMethods(Report & report, const std::string & name, const Task & task, const std::vector<Method> & methods,
               const Effort & effort)
{
  using CpuFilter = itk::RunLengthFeatureMapImageFilter<ImageOf<VDimension>>;
  using CudaFilter = itk::CudaRunLengthFeatureMapImageFilter<ImageOf<VDimension>>;
  const unsigned int           threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  EngineJob<VDimension, float> engineJob(task);
  const auto                   expected = ComputeExpected(engineJob);
  const auto                   directions = static_cast<double>(engineJob.job.offsets.size());

  report.Text(name);
  report.Head({ "program",
                "slabs",
                "kernels, ms",
                "median, ms",
                "ns per voxel and direction",
                "Update(), ms",
                "Update() of a new filter, ms" });
  for (const Method method : methods)
  {
    const bool        isSlow = method == Method::Primitives || (method == Method::Windows && effort.slicesOfSlow > 0);
    const int         repetitions = isSlow ? effort.repetitionsOfSlow : effort.repetitions;
    const bool        isPart = isSlow && effort.slicesOfSlow > 0;
    const std::string label = name + "/" + ToText(method);
    Job               job = engineJob.job;
    auto              expectedOfJob = expected;
    if (isPart)
    {
      job.outputSize[2] = effort.slicesOfSlow;
      job.outputIndex[2] = (task.size[2] - effort.slicesOfSlow) / 2;
      const auto sliceNumbers = static_cast<std::ptrdiff_t>(expected.size()) / task.size[2];
      const auto first = expected.begin() + job.outputIndex[2] * sliceNumbers;
      expectedOfJob.assign(first, first + job.outputSize[2] * sliceNumbers);
      engineJob.output.resize(expectedOfJob.size());
      job.output = engineJob.output.data();
    }
    else if (!isSlow && !Takes(job, method))
    {
      continue;
    }
    std::fill(engineJob.output.begin(), engineJob.output.end(), -1.0F);
    const KernelTimes times = MeasureKernels(job, method, effort.warmUps, repetitions);
    VerifySameBits(expectedOfJob, engineJob.output, label);
    report.Keep(label + "/kernels", times.kernels);
    report.Keep(label + "/engine", times.calls);
    Times again;
    Times fresh;
    if (!isPart)
    {
      MeasureUpdates<CudaFilter>(
        report,
        label,
        task,
        effort.warmUps,
        repetitions,
        [method](CudaFilter * filter) { filter->SetCudaMethod(method); },
        again,
        fresh);
    }
    report.Row({ "CUDA " + ToText(method) + (times.method == method ? "" : " (" + ToText(times.method) + ")") +
                   (isPart ? ", " + std::to_string(job.outputSize[2]) + " slices" : ""),
                 std::to_string(times.slabs),
                 ToText(times.kernels),
                 ToText(Median(times.kernels)),
                 ToText(Median(times.kernels) * 1e6 / static_cast<double>(CountVoxels(job.outputSize)) / directions),
                 isPart ? "" : ToText(again),
                 isPart ? "" : ToText(fresh) });
    if (isPart)
    {
      engineJob.output.resize(expected.size());
      engineJob.job.output = engineJob.output.data();
    }
  }
  for (const unsigned int number : { threads, 1u })
  {
    if (number == 1 && effort.slicesOfSlow > 0)
    {
      continue;
    }
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(number);
    const std::string label = name + "/CPU, threads: " + std::to_string(number);
    Times             again;
    Times             fresh;
    MeasureUpdates<CpuFilter>(
      report,
      label,
      task,
      effort.repetitionsOfSlow > 1 ? effort.warmUps : 0,
      effort.repetitionsOfSlow,
      [number](CpuFilter * filter) { filter->SetNumberOfWorkUnits(number); },
      again,
      fresh);
    report.Row({ "CPU, " + std::to_string(number) + " thread(s)", "", "", "", "", ToText(again), ToText(fresh) });
  }
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
}

Task
MakeSliceTask(const Slice & slice, std::int64_t window)
{
  return {
    &slice.voxels, Slice::size, { { window, window, 1 } }, { { 0, 0, 0 } }, 256, true, Aggregation::PerDirection
  };
}

void
MeasureR1(const std::string & directory, const std::string & outputDirectory)
{
  Report report("r1", LoadSlice(directory, "t1").source);
  for (const std::string & modality : modalities)
  {
    const Slice slice = LoadSlice(directory, modality);
    CompareMethods<2>(report,
                      modality,
                      MakeSliceTask(slice, 4),
                      { Method::Automatic, Method::WindowWord, Method::Windows, Method::Separable, Method::Primitives },
                      { 3, 50, 15, 0 });
  }
  report.Write(outputDirectory);
}

/** Table 4 for a precision: total times; and table 5 or 6: matrices and features of each direction. */
template <typename TReal>
void
MeasurePaperTables(Report & report, const std::string & directory, const std::string & precision)
{
  constexpr int repetitions = 15;
  // As in the paper: (1, 0), (1, -1), (0, -1), (-1, -1).
  const std::vector<std::pair<std::string, Triple>> directions{
    { "0°", { { 1, 0, 0 } } }, { "45°", { { 1, -1, 0 } } }, { "90°", { { 0, -1, 0 } } }, { "135°", { { -1, -1, 0 } } }
  };
  std::vector<Triple> offsets;
  for (const auto & direction : directions)
  {
    offsets.push_back(direction.second);
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::string & modality : modalities)
  {
    const Slice              slice = LoadSlice(directory, modality);
    const Task               task = MakeSliceTask(slice, 4);
    EngineJob<2, TReal>      engineJob(task);
    Job &                    job = engineJob.job;
    std::vector<std::string> cells;
    const auto               compare = [&](const std::string & row, const Times & cpu, const Times & gpu) {
      const std::string label = precision + "/" + modality + "/" + row;
      report.Keep(label + "/sequential program", cpu);
      report.Keep(label + "/Primitives", gpu);
      std::vector<std::string> line{ row, modality, ToText(cpu), ToText(gpu), ToText(Mean(cpu) / Mean(gpu)) };
      rows.push_back(line);
    };

    job.offsets = offsets;
    const auto         expected = ComputeExpected(engineJob);
    auto               parameters = MakeSequentialParameters(task, offsets);
    std::vector<TReal> sequential(engineJob.output.size());
    const auto         measureSequential = [&](bool matricesOnly, int runs) {
      parameters.matricesOnly = matricesOnly;
      return Measure(runs > 1 ? 1 : 0, runs, [&] {
        ComputeSequentialRunLengthFeatures(engineJob.levels.data(), parameters, sequential.data());
      });
    };
    const Times       total = measureSequential(false, repetitions);
    const KernelTimes whole = MeasureKernels(job, Method::Primitives, 2, repetitions);
    VerifySameBits(expected, engineJob.output, "Primitives");
    compare("total, Primitives", total, whole.calls);
    compare("matrices, 4 directions, Primitives", measureSequential(true, repetitions), whole.matrices);
    const KernelTimes fast = MeasureKernels(job, Method::Automatic, 2, repetitions);
    VerifySameBits(expected, engineJob.output, "Automatic");
    for (const auto & direction : directions)
    {
      job.offsets = { direction.second };
      parameters.offsets = job.offsets;
      const KernelTimes ofDirection = MeasureKernels(job, Method::Primitives, 2, repetitions);
      // In turn, as the clock of the processor changes.
      Times matrices;
      Times features;
      for (int i = 0; i < repetitions; ++i)
      {
        matrices.push_back(Median(measureSequential(true, 1)));
        features.push_back(Median(measureSequential(false, 1)) - matrices.back());
      }
      compare("matrices " + direction.first + ", Primitives", matrices, ofDirection.matrices);
      compare("features " + direction.first + ", Primitives", features, ofDirection.features);
    }
    report.Keep(precision + "/" + modality + "/" + ToText(fast.method) + "/kernels", fast.kernels);
    report.Keep(precision + "/" + modality + "/" + ToText(fast.method) + "/engine", fast.calls);
    rows.push_back({ "total, " + ToText(fast.method),
                     modality,
                     ToText(total),
                     ToText(fast.calls),
                     ToText(Mean(total) / Mean(fast.calls)) });
  }
  report.Text("Tables 4 and " + std::string(precision == "float" ? "5" : "6") + ", " + precision +
              ": windows of 4 x 4, " + std::to_string(repetitions) +
              " repetitions, ms. Totals are from and to host memory; of one direction, the sequential program's "
              "features are the difference of two runs.");
  report.Head({ "what, and CUDA method", "image", "sequential program", "CUDA", "speedup" });
  // Equal rows of the three images side by side, in the order in which they came up.
  std::vector<std::string> order;
  for (const auto & row : rows)
  {
    if (std::find(order.begin(), order.end(), row[0]) == order.end())
    {
      order.push_back(row[0]);
    }
  }
  for (const std::string & what : order)
  {
    for (const auto & row : rows)
    {
      if (row[0] == what)
      {
        report.Row(row);
      }
    }
  }
}

/** Figure 11: the time of everything over the size of the window. */
template <typename TReal>
void
MeasureFigure11(Report & report, const std::string & directory, const std::string & precision)
{
  constexpr int repetitions = 15;
  const Slice   slice = LoadSlice(directory, "t1");
  report.Text("Figure 11, " + precision + ": T1, 4 directions, ms (" + std::to_string(repetitions) +
              " repetitions; the sequential program beyond 4 x 4: 3)");
  report.Head({ "window",
                "sequential program",
                "CPU engine, 1 thread",
                "Primitives, matrices",
                "Primitives, features",
                "Primitives, total",
                "speedup",
                "Automatic, kernels",
                "Automatic, total",
                "method" });
  for (std::int64_t window = 4; window <= 20; ++window)
  {
    const Task          task = MakeSliceTask(slice, window);
    EngineJob<2, TReal> engineJob(task);
    const auto          expected = ComputeExpected(engineJob);
    const auto          parameters = MakeSequentialParameters(task, engineJob.job.offsets);
    std::vector<TReal>  sequential(engineJob.output.size());
    const Times         cpu = Measure(1, window == 4 ? repetitions : 3, [&] {
      ComputeSequentialRunLengthFeatures(engineJob.levels.data(), parameters, sequential.data());
    });
    const Times         engine = Measure(1, 3, [&] { itk::ComputeRunLengthFeatureMaps(engineJob.job); });
    const KernelTimes   primitives = MeasureKernels(engineJob.job, Method::Primitives, 2, repetitions);
    VerifySameBits(expected, engineJob.output, "Primitives");
    const KernelTimes fast = MeasureKernels(engineJob.job, Method::Automatic, 2, repetitions);
    VerifySameBits(expected, engineJob.output, "Automatic");
    const std::string label = precision + "/window:" + std::to_string(window) + "/";
    report.Keep(label + "sequential program", cpu);
    report.Keep(label + "CPU engine", engine);
    report.Keep(label + "Primitives/matrices", primitives.matrices);
    report.Keep(label + "Primitives/features", primitives.features);
    report.Keep(label + "Primitives/total", primitives.calls);
    report.Keep(label + ToText(fast.method) + "/kernels", fast.kernels);
    report.Keep(label + ToText(fast.method) + "/total", fast.calls);
    report.Row({ std::to_string(window) + " x " + std::to_string(window),
                 ToText(cpu),
                 ToText(engine),
                 ToText(primitives.matrices),
                 ToText(primitives.features),
                 ToText(primitives.calls),
                 ToText(Mean(cpu) / Mean(primitives.calls)),
                 ToText(fast.kernels),
                 ToText(fast.calls),
                 ToText(fast.method) });
  }
}

void
MeasurePaper(const std::string & directory, const std::string & outputDirectory)
{
  Report report("paper", LoadSlice(directory, "t1").source);
  MeasurePaperTables<float>(report, directory, "float");
  MeasurePaperTables<double>(report, directory, "double");
  MeasureFigure11<float>(report, directory, "float");
  MeasureFigure11<double>(report, directory, "double");
  report.Write(outputDirectory);
}

#if defined(VOXELMAPS_BENCHMARK_CUDA)
/** The floor of an update: copies over the bus, and the first touch of new memory by one thread and by all. */
void
MeasureFloor(Report & report, std::size_t inputBytes, std::size_t outputBytes)
{
  const auto check = [](cudaError_t result) {
    if (result != cudaSuccess)
    {
      throw std::runtime_error(cudaGetErrorString(result));
    }
  };
  constexpr std::size_t pieceBytes = std::size_t{ 64 } << 20;
  void *                device = nullptr;
  void *                pinned = nullptr;
  check(cudaMalloc(&device, pieceBytes));
  check(cudaMallocHost(&pinned, pieceBytes));
  const auto copy = [&](std::size_t bytes, bool toHost) {
    for (std::size_t done = 0; done < bytes; done += pieceBytes)
    {
      const std::size_t now = std::min(pieceBytes, bytes - done);
      check(cudaMemcpyAsync(toHost ? pinned : device,
                            toHost ? device : pinned,
                            now,
                            toHost ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                            nullptr));
    }
    check(cudaDeviceSynchronize());
  };
  const Times toDevice = Measure(1, 3, [&] { copy(inputBytes, false); });
  const Times toHost = Measure(1, 3, [&] { copy(outputBytes, true); });
  check(cudaFreeHost(pinned));
  check(cudaFree(device));
  const auto touch = [outputBytes](unsigned int threads) {
    return Measure(1, 3, [outputBytes, threads] {
      const std::unique_ptr<char[]> memory(new char[outputBytes]);
      std::vector<std::thread>      workers;
      for (unsigned int i = 0; i < threads; ++i)
      {
        workers.emplace_back([&memory, outputBytes, threads, i] {
          const std::size_t first = outputBytes / threads * i;
          const std::size_t end = i + 1 == threads ? outputBytes : outputBytes / threads * (i + 1);
          std::memset(memory.get() + first, 1, end - first);
        });
      }
      for (std::thread & worker : workers)
      {
        worker.join();
      }
    });
  };
  const unsigned int threads = std::max(1u, std::thread::hardware_concurrency());
  const Times        touchByOne = touch(1);
  const Times        touchByAll = touch(threads);
  report.Keep("copy of the levels to the device", toDevice);
  report.Keep("copy of the maps to pinned memory", toHost);
  report.Keep("first touch by 1 thread", touchByOne);
  report.Keep("first touch by all threads", touchByAll);
  report.Text("Floor of an update, ms");
  report.Head({ "what", "ms" });
  report.Row({ "levels to the device, pinned", ToText(toDevice) });
  report.Row({ "maps to the host, pinned", ToText(toHost) });
  report.Row({ "first touch of the maps, 1 thread", ToText(touchByOne) });
  report.Row({ "first touch of the maps, " + std::to_string(threads) + " threads", ToText(touchByAll) });
}
#endif

void
MeasureR2(const std::string & outputDirectory)
{
  const Triple             size{ { 512, 512, 155 } };
  const std::vector<Pixel> voxels = MakePhantom(size);
  Report                   report("r2", "synthetic phantom of 512 x 512 x 155 voxels");
  const Task               task{ &voxels, size, { { 5, 5, 5 } }, { { 2, 2, 2 } }, 32, false, Aggregation::Average };
#if defined(VOXELMAPS_BENCHMARK_CUDA)
  const std::size_t count = CountVoxels(size);
  MeasureFloor(report, count * sizeof(std::uint16_t), count * sizeof(float) * Enums::GetElevenFeatures().size());
#endif
  CompareMethods<3>(report,
                    "5 x 5 x 5, 32 levels, 13 directions averaged, 11 features",
                    task,
                    { Method::Automatic, Method::Windows, Method::Primitives },
                    { 1, 5, 1, 10 });
  report.Write(outputDirectory);
}

void
MeasureWindows(const std::string & outputDirectory)
{
  const Triple             size{ { 256, 256, 128 } };
  const std::vector<Pixel> voxels = MakePhantom(size);
  Report                   report("windows", "synthetic phantom of 256 x 256 x 128 voxels");
  report.Text("13 directions averaged, 11 features: ns per voxel and direction of the kernels (ms of the kernels)");
  report.Head({ "window", "levels", "Automatic", "method", "Windows", "CPU engine, all threads" });
  for (const unsigned int levels : { 32u, 256u })
  {
    for (const std::int64_t window : { 3, 5, 7, 9 })
    {
      const Task                task{ &voxels,
                       size,
                                      { { window, window, window } },
                                      { { window / 2, window / 2, window / 2 } },
                       levels,
                       false,
                       Aggregation::Average };
      const EngineJob<3, float> engineJob(task);
      std::vector<float>        expected;
      const Times               cpu = Measure(0, 1, [&] { expected = ComputeExpected(engineJob); });
      const double              items = static_cast<double>(CountVoxels(size)) * 13.0;
      const auto                toCell = [items](const Times & times) {
        return ToText(Median(times) * 1e6 / items) + " (" + ToText(Median(times)) + ")";
      };
      const KernelTimes fast = MeasureKernels(engineJob.job, Method::Automatic, 1, 5);
      VerifySameBits(expected, engineJob.output, "Automatic");
      const KernelTimes general = MeasureKernels(engineJob.job, Method::Windows, 0, 1);
      VerifySameBits(expected, engineJob.output, "Windows");
      const std::string label = "window:" + std::to_string(window) + "/levels:" + std::to_string(levels) + "/";
      report.Keep(label + ToText(fast.method) + "/kernels", fast.kernels);
      report.Keep(label + "Windows/kernels", general.kernels);
      report.Keep(label + "CPU engine", cpu);
      report.Row({ ToString(task.windowSize, 3),
                   std::to_string(levels),
                   toCell(fast.kernels),
                   ToText(fast.method),
                   toCell(general.kernels),
                   toCell(cpu) });
    }
  }
  report.Write(outputDirectory);
}
} // namespace

void
WriteSlices(const std::string & directory, const std::string & target)
{
  for (const std::string & modality : modalities)
  {
    const Slice slice = LoadSlice(directory, modality);
    const auto  image = MakeImage<3>(MakeSliceTask(slice, 4));
    const auto  writer = itk::ImageFileWriter<ImageOf<3>>::New();
    writer->SetImageIO(itk::MetaImageIO::New());
    writer->SetFileName(GetSliceFileName(target, modality));
    writer->SetInput(image);
    writer->Update();
    std::cerr << GetSliceFileName(target, modality) << ": " << slice.source << std::endl;
  }
}

void
MeasureTable(const std::string & table, const std::string & directory, const std::string & outputDirectory)
{
  if (itk::CudaDevices::GetNumberOfDevices() == 0)
  {
    throw std::runtime_error("the table " + table + " needs a device: " + itk::CudaDevices::GetReasonForNoDevice());
  }
  if (table == "r1")
  {
    MeasureR1(directory, outputDirectory);
  }
  else if (table == "paper")
  {
    MeasurePaper(directory, outputDirectory);
  }
  else if (table == "r2")
  {
    MeasureR2(outputDirectory);
  }
  else if (table == "windows")
  {
    MeasureWindows(outputDirectory);
  }
  else
  {
    throw std::runtime_error("there is no table " + table + ": use r1, paper, r2 or windows");
  }
}
} // namespace VoxelMapsBenchmarks
