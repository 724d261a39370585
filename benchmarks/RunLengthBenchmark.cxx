// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Benchmark.h"
#include "HeadData.h"
#include "PeakMemory.h"
#include "baselines/SequentialRunLength.h"

#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

#ifdef VOXELMAPS_BENCHMARK_CUDA
#  include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using namespace VoxelMapsBenchmarks;
using Enums = itk::RunLengthFeatureMapEnums;
using Aggregation = Enums::Aggregation;
using Method = Enums::CudaMethod;
using Job = voxelmaps::RunLengthJob;
using voxelmaps::InstructionSet;

template <unsigned int VDimension>
using CpuFilter = itk::RunLengthFeatureMapImageFilter<itk::Image<Pixel, VDimension>>;
template <unsigned int VDimension>
using CudaFilter = itk::CudaRunLengthFeatureMapImageFilter<itk::Image<Pixel, VDimension>>;

/** A computation that all programs can do. */
struct Case
{
  /** The names of its benchmarks begin with this, "r1/t1" for example. */
  std::string name;
  /** "t1", "t2" or "pd": slice of the head; "head": t1; "phantom": a synthetic head of the size. */
  std::string image;
  /** Where the image begins in the head. */
  Triple index{ { 0, 0, 0 } };
  /** The gray levels are the image's own. */
  bool identity{ false };
  /** Without buffers. */
  Job job;

  unsigned int
  GetDimension() const
  {
    return job.levelsSize[2] == 1 ? 2 : 3;
  }
  Case
  Named(const std::string & newName) const
  {
    Case other = *this;
    other.name = newName;
    return other;
  }
  /** The same of some slices in the middle of a volume. */
  Case
  WithSlices(std::int64_t number) const
  {
    Case other = *this;
    other.job.outputSize[2] = std::min(number, job.levelsSize[2]);
    other.job.outputIndex[2] = (job.levelsSize[2] - other.job.outputSize[2]) / 2;
    return other;
  }
};

template <unsigned int VDimension>
std::vector<Triple>
GetAllOffsets()
{
  std::vector<Triple> offsets;
  for (const auto & offset : CpuFilter<VDimension>::GetAllOffsets())
  {
    offsets.push_back({ { 0, 0, 0 } });
    std::copy_n(offset.begin(), VDimension, offsets.back().begin());
  }
  return offsets;
}

Case
MakeCase(const std::string & image, const Triple & size, std::int64_t window, unsigned int levels)
{
  const bool is2D = size[2] == 1;
  Case       result;
  result.image = image;
  result.job.levelsSize = size;
  result.job.outputSize = size;
  result.job.windowSize = { { window, window, is2D ? 1 : window } };
  result.job.windowAnchor = { { window / 2, window / 2, is2D ? 0 : window / 2 } };
  result.job.numberOfGrayLevels = levels;
  result.job.offsets = is2D ? GetAllOffsets<2>() : GetAllOffsets<3>();
  result.job.features = Enums::GetElevenFeatures();
  return result;
}

/** As in the paper: 256 levels as they are, windows that begin at their voxel, each direction of its own. */
Case
MakePaperCase(const std::string & modality, std::int64_t window)
{
  Case result = MakeCase(modality, sliceSize, window, 256);
  result.identity = true;
  result.job.windowAnchor = { { 0, 0, 0 } };
  result.job.aggregation = Aggregation::PerDirection;
  return result;
}

/** The cases that are measured on the CPU. */
std::vector<Case>
MakeCpuCases()
{
  std::vector<Case> cases{ MakePaperCase("t1", 4).Named("a_perDirection") };
  const auto        add = [&](const Case & thisCase, const std::string & name) -> Case & {
    cases.push_back(thisCase.Named(name));
    return cases.back();
  };
  const auto makeCube = [](std::int64_t window) {
    Case result = MakeCase("head", { { 96, 96, 96 } }, window, 32);
    result.index = { { 42, 60, 42 } };
    return result;
  };
  for (const unsigned int levels : { 32, 256 })
  {
    add(MakeCase("t1", sliceSize, 5, levels), "b_average");
    add(MakeCase("t1", sliceSize, 5, levels), "b_perDirection").job.aggregation = Aggregation::PerDirection;
  }
  add(MakeCase("head", headSize, 5, 32), "c_average");
  for (const std::int64_t window : { 3, 5, 7, 9 })
  {
    add(MakeCase("t1", sliceSize, window, 32), "windows");
    add(makeCube(window), "windows");
  }
  add(MakeCase("t1", sliceSize, 5, 32), "sixteenFeatures").job.features = Enums::GetAllFeatures();
  add(makeCube(5), "sixteenFeatures").job.features = Enums::GetAllFeatures();
  for (Case & each : cases)
  {
    const unsigned int dimension = each.GetDimension();
    each.name = "cpu/" + each.name + "/" + ToString(each.job.levelsSize, dimension) +
                "/window:" + ToString(each.job.windowSize, dimension) +
                "/levels:" + std::to_string(each.job.numberOfGrayLevels);
  }
  return cases;
}

/** A case with its image, its buffers and the expected result. */
struct Fixture : Case
{
  explicit Fixture(const Case & thisCase)
    : Case(thisCase)
  {
    head = image == "phantom" ? MakePhantom(job.levelsSize)
           : image == "head"  ? ExtractBox(LoadHead("t1"), index, job.levelsSize)
                              : LoadSlice(image);
    const auto discretization = itk::GrayLevelDiscretizationImageFilter<HeadImage>::New();
    discretization->SetInput(head);
    discretization->SetNumberOfGrayLevels(job.numberOfGrayLevels);
    if (identity)
    {
      discretization->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Identity);
    }
    discretization->Update();
    levels = discretization->GetOutput();
    job.levels = levels->GetBufferPointer();
    expected.resize(CountVoxels(job.outputSize) * job.GetNumberOfComponents() *
                    (job.outputIsDouble ? sizeof(double) : sizeof(float)));
    job.output = expected.data();
    job.execution = MakeExecution(allThreads);
    voxelmaps::ComputeRunLengthFeatureMaps(job);
    job.execution = {};
    output.resize(expected.size());
    job.output = output.data();
  }

  /** Overwrite the output, so that VerifyBits finds the voxels that a program leaves out. */
  void
  Spoil()
  {
    std::fill(output.begin(), output.end(), static_cast<char>(0xcc));
  }
  void
  VerifyBits(const void * actual) const
  {
    Verify(std::memcmp(expected.data(), actual, expected.size()) == 0, "differs from the CPU engine with all threads");
  }
  void
  CountVoxelsIn(State & state, bool withDirections) const
  {
    const auto voxels = static_cast<double>(CountVoxels(job.outputSize));
    state.counters["per voxel"] = TimePer(voxels);
    if (withDirections)
    {
      state.counters["per voxel and direction"] = TimePer(voxels * static_cast<double>(job.offsets.size()));
    }
  }

  HeadImage::Pointer                                                           head;
  itk::GrayLevelDiscretizationImageFilter<HeadImage>::OutputImageType::Pointer levels;
  std::vector<char>                                                            expected;
  std::vector<char>                                                            output;
};

/** Benchmarks are called several times, and those of one case one after the other. */
std::unique_ptr<Fixture> lastFixture;

Fixture &
GetFixture(const Case & thisCase)
{
  if (!lastFixture || lastFixture->name != thisCase.name || lastFixture->job.outputSize != thisCase.job.outputSize)
  {
    lastFixture.reset();
    lastFixture = std::make_unique<Fixture>(thisCase);
  }
  lastFixture->Spoil();
  return *lastFixture;
}

// ---------------------------------------------------------------------------------------------------------------------
// Programs

template <typename TImage>
typename TImage::Pointer
MakeInput(const HeadImage * head)
{
  const auto                image = TImage::New();
  typename TImage::SizeType size;
  std::copy_n(head->GetLargestPossibleRegion().GetSize().begin(), TImage::ImageDimension, size.begin());
  image->SetRegions(size);
  image->Allocate();
  std::copy_n(
    head->GetBufferPointer(), image->GetLargestPossibleRegion().GetNumberOfPixels(), image->GetBufferPointer());
  return image;
}

template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const Case & thisCase, const typename TFilter::InputImageType * input, unsigned int threads)
{
  const Job & job = thisCase.job;
  const auto  filter = MakeOnProcessor<TFilter>();
  filter->SetInput(input);
  filter->SetNumberOfWorkUnits(threads);
  filter->SetNumberOfGrayLevels(job.numberOfGrayLevels);
  if (thisCase.identity)
  {
    filter->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Identity);
  }
  typename TFilter::SizeType   windowSize;
  typename TFilter::OffsetType windowAnchor;
  auto                         region = input->GetLargestPossibleRegion();
  for (unsigned int axis = 0; axis < TFilter::ImageDimension; ++axis)
  {
    windowSize[axis] = static_cast<itk::SizeValueType>(job.windowSize[axis]);
    windowAnchor[axis] = job.windowAnchor[axis];
    region.SetIndex(axis, job.outputIndex[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(job.outputSize[axis]));
  }
  filter->SetWindowSize(windowSize);
  filter->SetWindowAnchor(windowAnchor);
  filter->SetAggregation(job.aggregation);
  filter->SetFeatures(job.features);
  filter->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion(region);
  return filter;
}

enum class Memory
{
  Touched, /**< the same output again */
  Fresh    /**< a new filter, whose output is in new memory */
};

template <typename TFilter>
void
RunFilter(State & state, const Case & thisCase, unsigned int threads, Memory memory)
{
  const Fixture & fixture = GetFixture(thisCase);
  const auto      input = MakeInput<typename TFilter::InputImageType>(fixture.head);
  // The filter may run filters of its own.
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
  auto filter = MakeFilter<TFilter>(thisCase, input, threads);
  filter->Update();
  fixture.VerifyBits(filter->GetOutput()->GetBufferPointer());
  if (memory == Memory::Fresh)
  {
    filter = nullptr;
  }
  for (auto _ : state)
  {
    if (memory == Memory::Touched)
    {
      filter->Modified();
      filter->Update();
    }
    else
    {
      MakeFilter<TFilter>(thisCase, input, threads)->Update();
    }
  }
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(allThreads);
  fixture.CountVoxelsIn(state, false);
}

/** Skip a benchmark where there is no device, or its method does not take the window. */
RunFunction
OnDevice(const RunFunction & run)
{
  return [run](State & state) {
    RequireDevice();
    try
    {
      run(state);
    }
    catch (const std::exception & error)
    {
      if (std::strstr(error.what(), "does not support") != nullptr)
      {
        throw Skipped(error.what());
      }
      throw;
    }
  };
}

void
RegisterFilter(const std::string & name, const Case & thisCase, unsigned int threads, Memory memory)
{
  const auto run = thisCase.GetDimension() == 2 ? RunFilter<CpuFilter<2>> : RunFilter<CpuFilter<3>>;
  RegisterWall(name, [=](State & state) { run(state, thisCase, threads, memory); });
}

void
RegisterCudaFilter(const std::string & name, const Case & thisCase, Memory memory)
{
  const auto run = thisCase.GetDimension() == 2 ? RunFilter<CudaFilter<2>> : RunFilter<CudaFilter<3>>;
  RegisterWall(name, OnDevice([=](State & state) { run(state, thisCase, allThreads, memory); }));
}

void
RegisterEngine(const std::string & name, const Case & thisCase, unsigned int threads,
               InstructionSet instructionSet = InstructionSet::AVX512)
{
  RegisterWall(WithThreads(name, threads), [=](State & state) {
    const Fixture & fixture = GetFixture(thisCase);
    Job             job = fixture.job;
    job.widestInstructionSet = instructionSet;
    if (threads > 1)
    {
      job.execution = MakeExecution(threads);
    }
    for (auto _ : state)
    {
      voxelmaps::ComputeRunLengthFeatureMaps(job);
    }
    fixture.VerifyBits(job.output);
    fixture.CountVoxelsIn(state, true);
  });
}

/** The time is that of the kernels; "call" is the time of the whole call, from and to host memory. */
void
RunCudaEngine(State & state, const Case & thisCase, Method method)
{
  const Fixture &                 fixture = GetFixture(thisCase);
  voxelmaps::CudaRunLengthOptions options;
  voxelmaps::CudaRunLengthReport  report;
  options.method = method;
  const auto compute = [&] { report = voxelmaps::ComputeRunLengthFeatureMapsCuda(fixture.job, options); };
  if (state.max_iterations > 1)
  {
    // Kernels are loaded when they are first used.
    compute();
  }
  double calls = 0.0;
  double matrices = 0.0;
  double features = 0.0;
  for (auto _ : state)
  {
    calls += MeasureMilliseconds(compute);
    state.SetIterationTime(1e-3 * report.kernelMilliseconds);
    matrices += report.matricesMilliseconds;
    features += report.featuresMilliseconds;
  }
  fixture.VerifyBits(fixture.job.output);
  fixture.CountVoxelsIn(state, true);
  state.counters["call"] = MeanOf(calls);
  if (report.method == Method::SortReduce)
  {
    state.counters["matrices"] = MeanOf(matrices);
    state.counters["features"] = MeanOf(features);
  }
  state.counters["slabs"] = static_cast<double>(report.numberOfSlabs);
  state.SetLabel(ToName(report.method));
}

void
RegisterCudaEngine(const std::string & name, const Case & thisCase, Method method, int iterations)
{
  RegisterManual(name, iterations, OnDevice([=](State & state) { RunCudaEngine(state, thisCase, method); }));
}

/** Greatest relative difference of two results; infinite if a value is not finite. */
template <typename TA, typename TB>
double
MaxRelativeDifference(const TA * a, const TB * b, std::size_t number)
{
  double maximum = 0.0;
  for (std::size_t i = 0; i < number; ++i)
  {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    const double relative = difference == 0.0 ? 0.0 : difference / std::abs(static_cast<double>(b[i]));
    maximum = relative <= maximum ? maximum : relative;
    if (!std::isfinite(relative))
    {
      return std::numeric_limits<double>::infinity();
    }
  }
  return maximum;
}

/** The paper's program. With matrices, it runs without the features, too, in turn, as the clock of the processor
 * changes: the counter "features" is the difference. */
template <typename TReal>
void
RunSequential(State & state, const Case & thisCase, Rows rows, bool withMatrices)
{
  const Fixture & fixture = GetFixture(thisCase);
  // Of the image, only the slices that the output needs.
  Job        job = fixture.job;
  const auto before = job.outputIndex[2] - job.windowAnchor[2];
  const auto first = std::max<std::int64_t>(0, before);
  const auto end = std::min(job.levelsSize[2], before + job.outputSize[2] - 1 + job.windowSize[2]);
  job.levels += first * job.levelsSize[0] * job.levelsSize[1];
  job.levelsSize[2] = end - first;
  job.outputIndex[2] -= first;
  std::vector<TReal> output(CountVoxels(job.outputSize) * job.GetNumberOfComponents());
  const auto         measure = [&](bool matricesOnly) {
    return MeasureMilliseconds([&] { ComputeSequentialRunLengthFeatures(job, rows, matricesOnly, output.data()); });
  };
  double matrices = 0.0;
  double all = 0.0;
  for (auto _ : state)
  {
    matrices += withMatrices ? measure(true) : 0.0;
    const double milliseconds = measure(false);
    state.SetIterationTime(1e-3 * milliseconds);
    all += milliseconds;
  }
  const char * const expected = fixture.expected.data();
  const double       difference =
    job.outputIsDouble ? MaxRelativeDifference(reinterpret_cast<const double *>(expected), output.data(), output.size())
                             : MaxRelativeDifference(reinterpret_cast<const float *>(expected), output.data(), output.size());
  constexpr double tolerance = 1e-5;
  Verify(difference <= tolerance, "differs from the engine by " + std::to_string(difference) + " of the value");
  fixture.CountVoxelsIn(state, false);
  if (withMatrices)
  {
    state.counters["matrices"] = MeanOf(matrices);
    state.counters["features"] = MeanOf(all - matrices);
  }
}

void
RegisterSequential(const std::string & name, const Case & thisCase, bool isDouble, bool withMatrices, int iterations,
                   Rows rows = Rows::Present)
{
  const auto run = isDouble ? RunSequential<double> : RunSequential<float>;
  RegisterManual(name, iterations, [=](State & state) { run(state, thisCase, rows, withMatrices); });
}

#ifdef VOXELMAPS_BENCHMARK_CUDA
/** Copy so many bytes through page-locked memory. */
void
RunCopy(State & state, std::size_t bytes, cudaMemcpyKind direction)
{
  RequireDevice();
  const auto            check = [](cudaError_t result) { Verify(result == cudaSuccess, cudaGetErrorString(result)); };
  constexpr std::size_t chunkBytes = std::size_t{ 64 } << 20;
  void *                to = nullptr;
  void *                from = nullptr;
  const bool            toHost = direction == cudaMemcpyDeviceToHost;
  check(cudaMalloc(toHost ? &from : &to, chunkBytes));
  check(cudaMallocHost(toHost ? &to : &from, chunkBytes));
  for (auto _ : state)
  {
    for (std::size_t done = 0; done < bytes; done += chunkBytes)
    {
      check(cudaMemcpyAsync(to, from, std::min(chunkBytes, bytes - done), direction, nullptr));
    }
    check(cudaDeviceSynchronize());
  }
  check(cudaFreeHost(toHost ? to : from));
  check(cudaFree(toHost ? from : to));
}
#endif

/** Write to new memory for the first time. */
void
RunFirstTouch(State & state, std::size_t bytes, unsigned int threads)
{
  const auto execution = MakeExecution(threads);
  for (auto _ : state)
  {
    const std::unique_ptr<char[]> memory(new char[bytes]);
    execution.parallelFor(threads, [&](unsigned int worker) {
      const std::size_t first = bytes / threads * worker;
      std::memset(memory.get() + first, 1, (worker + 1 == threads ? bytes : first + bytes / threads) - first);
    });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables

std::vector<unsigned int>
GetThreadCounts()
{
  return allThreads > 1 ? std::vector<unsigned int>{ 1, allThreads } : std::vector<unsigned int>{ 1 };
}

void
RegisterCpu()
{
  for (const Case & whole : MakeCpuCases())
  {
    const bool        is2D = whole.GetDimension() == 2;
    const bool        isNamed = whole.name[5] == '_' || isCheck;
    const std::string prefix = whole.name + "/";
    // Two slices are enough for a check.
    const Case thisCase = isCheck ? whole.WithSlices(2) : whole;
    for (const unsigned int threads : GetThreadCounts())
    {
      RegisterFilter(WithThreads(prefix + "Filter", threads), thisCase, threads, Memory::Touched);
      RegisterEngine(prefix + "Engine", thisCase, threads);
    }
    const InstructionSet widest = voxelmaps::GetWidestInstructionSet();
    if (isNamed && widest > InstructionSet::Baseline)
    {
      RegisterEngine(prefix + "EngineBaseline", thisCase, 1, InstructionSet::Baseline);
    }
    if (isNamed && widest > InstructionSet::AVX2)
    {
      RegisterEngine(prefix + "EngineAVX2", thisCase, 1, InstructionSet::AVX2);
    }
    if (isCheck)
    {
      RegisterCudaEngine(prefix + "Cuda", thisCase, Method::Automatic, 1);
    }
    if (isNamed && whole.job.features.size() == 11)
    {
      const Case slab = isCheck ? thisCase : whole.WithSlices(8);
      RegisterSequential(WithThreads(prefix + "SequentialFloat", 1), slab, false, false, 0);
      RegisterSequential(WithThreads(prefix + "SequentialDouble", 1), slab, true, false, 0);
      if (is2D)
      {
        RegisterSequential(WithThreads(prefix + "SequentialFloatAllRows", 1), slab, false, false, 0, Rows::All);
      }
    }
  }
}

/** A method on the device, and for Automatic, Update() from and to images. */
void
RegisterCudaMethod(const Case & thisCase, Method method, int iterations)
{
  const std::string prefix = thisCase.name + "/" + ToName(method) + "/";
  RegisterCudaEngine(prefix + "kernels", thisCase, method, iterations);
  if (method == Method::Automatic)
  {
    RegisterCudaFilter(prefix + "update", thisCase, Memory::Touched);
    RegisterCudaFilter(prefix + "fresh", thisCase, Memory::Fresh);
  }
}

void
RegisterUpdates(const Case & thisCase, unsigned int threads)
{
  const std::string prefix = thisCase.name + "/CPU,threads:" + std::to_string(threads) + "/";
  RegisterFilter(prefix + "update", thisCase, threads, Memory::Touched);
  RegisterFilter(prefix + "fresh", thisCase, threads, Memory::Fresh);
}

void
RegisterR1()
{
  for (const std::string modality : { "t1", "t2", "pd" })
  {
    const Case thisCase = MakePaperCase(modality, 4).Named("r1/" + modality);
    for (const Method method :
         { Method::Automatic, Method::WindowWord, Method::WindowWalk, Method::BoxSums, Method::SortReduce })
    {
      RegisterCudaMethod(thisCase, method, 5);
    }
    for (const unsigned int threads : GetThreadCounts())
    {
      RegisterUpdates(thisCase, threads);
    }
  }
}

void
RegisterR2()
{
  const Triple      size = isCheck ? Triple{ { 64, 48, 14 } } : Triple{ { 512, 512, 155 } };
  const Case        thisCase = MakeCase("phantom", size, 5, 32).Named("r2");
  const std::size_t bytes = CountVoxels(size) * sizeof(float) * thisCase.job.features.size();
  RegisterCudaMethod(thisCase, Method::Automatic, 3);
  RegisterUpdates(thisCase, allThreads);
  for (const Method method : { Method::WindowWalk, Method::SortReduce })
  {
    RegisterCudaEngine("r2/" + ToName(method) + ",slices:10/kernels", thisCase.WithSlices(10), method, 2);
  }
#ifdef VOXELMAPS_BENCHMARK_CUDA
  const std::size_t levelsBytes = CountVoxels(size) * sizeof(std::uint16_t);
  RegisterWall("floor/levels to the device/wall",
               [=](State & state) { RunCopy(state, levelsBytes, cudaMemcpyHostToDevice); });
  RegisterWall("floor/maps to the host/wall", [=](State & state) { RunCopy(state, bytes, cudaMemcpyDeviceToHost); });
#endif
  for (const unsigned int threads : GetThreadCounts())
  {
    RegisterWall("floor/first touch of the maps,threads:" + std::to_string(threads) + "/wall",
                 [=](State & state) { RunFirstTouch(state, bytes, threads); });
  }
}

void
RegisterWindows()
{
  const Triple size = isCheck ? Triple{ { 40, 24, 16 } } : Triple{ { 256, 256, 128 } };
  for (const unsigned int levels : { 32u, 256u })
  {
    for (const std::int64_t window : { 3, 5, 7, 9 })
    {
      const std::string name = "windows/window:" + std::to_string(window) + "/levels:" + std::to_string(levels) + "/";
      const Case        thisCase = MakeCase("phantom", size, window, levels).Named(name);
      RegisterCudaEngine(name + "Automatic", thisCase, Method::Automatic, 5);
      RegisterCudaEngine(name + "WindowWalk", thisCase, Method::WindowWalk, 1);
      RegisterEngine(name + "CPU", thisCase, allThreads);
    }
  }
}

/** Tables 4 to 6 of the paper: all directions, and each one; and figure 11: the time over the size of the window. */
void
RegisterPaper()
{
  const auto registerCase = [](const std::string & name, Case thisCase, bool isDouble, bool withMatrices) {
    thisCase.name = name;
    thisCase.job.outputIsDouble = isDouble;
    RegisterSequential(name + "/sequential", thisCase, isDouble, withMatrices, 1);
    RegisterCudaEngine(name + "/SortReduce", thisCase, Method::SortReduce, 3);
    if (thisCase.job.offsets.size() > 1)
    {
      RegisterCudaEngine(name + "/Automatic", thisCase, Method::Automatic, 3);
      RegisterEngine(name + "/CPU", thisCase, 1);
    }
  };
  // As in the paper, in degrees.
  const std::vector<std::pair<std::string, Triple>> directions{
    { "0", { { 1, 0, 0 } } }, { "45", { { 1, -1, 0 } } }, { "90", { { 0, -1, 0 } } }, { "135", { { -1, -1, 0 } } }
  };
  for (const bool isDouble : { false, true })
  {
    const std::string precision = isDouble ? "double/" : "float/";
    for (const std::string modality : { "t1", "t2", "pd" })
    {
      Case thisCase = MakePaperCase(modality, 4);
      thisCase.job.offsets.clear();
      for (const auto & direction : directions)
      {
        thisCase.job.offsets.push_back(direction.second);
      }
      registerCase("paper/" + precision + "all directions/" + modality, thisCase, isDouble, true);
      for (const auto & direction : directions)
      {
        thisCase.job.offsets = { direction.second };
        registerCase("paper/" + precision + direction.first + "/" + modality, thisCase, isDouble, true);
      }
    }
    for (std::int64_t window = 4; window <= 20; window += isCheck ? 8 : 1)
    {
      registerCase(
        "figure11/" + precision + "window:" + std::to_string(window), MakePaperCase("t1", window), isDouble, false);
    }
  }
}

/** Peak memory of the filter, with the image, as a multiple of input and output. */
double
MeasureFilterMemory()
{
  lastFixture.reset();
  PeakMemory::Reset();
  const double before = PeakMemory::GetResident();
  const auto   head = LoadHead("t1");
  PeakMemory::Reset();
  const Case thisCase = MakeCase("head", headSize, 5, 32);
  MakeFilter<CpuFilter<3>>(thisCase, head, allThreads)->Update();
  const std::size_t bytesPerVoxel = sizeof(Pixel) + sizeof(float) * thisCase.job.features.size();
  return (PeakMemory::GetPeak() - before) / static_cast<double>(CountVoxels(headSize) * bytesPerVoxel);
}

bool
RegisterBenchmarks(int & argc, char ** argv)
{
  const char * const variable = std::getenv("VOXELMAPS_BENCHMARK_DATA");
  dataDirectory = variable != nullptr ? variable : VOXELMAPS_BENCHMARK_DEFAULT_DATA;
  if (TakeOption(argc, argv, "--data", dataDirectory) && !dataDirectory.empty())
  {
    Verify(DescribeData() != "synthetic head", "there is no brainweb_t1.mha in the directory " + dataDirectory);
  }
  std::string directory;
  if (TakeOption(argc, argv, "--write-slices", directory))
  {
    WriteSlices(directory);
    return false;
  }
  benchmark::AddCustomContext("data", DescribeData());
  const auto instructionSet = static_cast<std::size_t>(voxelmaps::GetWidestInstructionSet());
  benchmark::AddCustomContext("instructions",
                              std::vector<std::string>{ "baseline", "AVX2", "AVX-512" }[instructionSet]);
  RegisterMemory("memory/c_average/Filter", "peak/(input+output)", 1.25, MeasureFilterMemory);
  RegisterCpu();
  RegisterR1();
  RegisterPaper();
  RegisterR2();
  RegisterWindows();
  return true;
}
} // namespace

int
main(int argc, char * argv[])
{
  return RunProgram(argc, argv, RegisterBenchmarks);
}
