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
#include "RunLengthBenchmarkData.h"
#include "RunLengthTables.h"
#include "SequentialRunLength.h"

#include "itkCudaDevices.h"
#include "itkCudaRunLengthJob.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaFactory.h"

#if __has_include("itkRunLengthTextureFeaturesImageFilter.h")
#  include "itkRunLengthTextureFeaturesImageFilter.h"
#  define VOXELMAPS_HAS_ITK_RUN_LENGTH_FILTER
#endif

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __GLIBC__
#  include <malloc.h>
#endif
#ifdef __unix__
#  include <sys/resource.h>
#endif

namespace
{
using VoxelMapsBenchmarks::ComputeSequentialRunLengthFeatures;
using VoxelMapsBenchmarks::CountVoxels;
using VoxelMapsBenchmarks::LoadVolume;
using VoxelMapsBenchmarks::MakeRegion;
using VoxelMapsBenchmarks::Pixel;
using VoxelMapsBenchmarks::ReadStatus;
using VoxelMapsBenchmarks::Register;
using VoxelMapsBenchmarks::SequentialRunLengthParameters;
using VoxelMapsBenchmarks::Stopwatch;
using VoxelMapsBenchmarks::ToString;
using VoxelMapsBenchmarks::Triple;
using VoxelMapsBenchmarks::Volume;
using Enums = itk::RunLengthFeatureMapEnums;
using Aggregation = Enums::Aggregation;
using Job = itk::RunLengthJob;

// ---------------------------------------------------------------------------------------------------------------------
// Data

/** A box of the volume as an image; a slice of it if VDimension is 2. */
template <typename TPixel, unsigned int VDimension>
typename itk::Image<TPixel, VDimension>::Pointer
MakeImage(const Volume & volume, const Triple & index, const Triple & size)
{
  const auto image = itk::Image<TPixel, VDimension>::New();
  image->SetRegions(MakeRegion<VDimension>({ { 0, 0, 0 } }, size));
  image->Allocate();
  TPixel * target = image->GetBufferPointer();
  for (std::int64_t z = index[2]; z < index[2] + size[2]; ++z)
  {
    for (std::int64_t y = index[1]; y < index[1] + size[1]; ++y)
    {
      const Pixel * const source =
        &volume.voxels[static_cast<std::size_t>(index[0] + Volume::size[0] * (y + Volume::size[1] * z))];
      target = std::copy_n(source, size[0], target);
    }
  }
  return image;
}

// ---------------------------------------------------------------------------------------------------------------------
// Cases

/** What is computed, by whichever program. */
struct Case
{
  std::string  name;
  unsigned int dimension;
  Triple       imageIndex;
  Triple       imageSize;
  Triple       windowSize;
  Triple       windowAnchor;
  unsigned int numberOfGrayLevels;
  bool         identity;
  Aggregation  aggregation;
  bool         allSixteenFeatures;
  /** Output of the sequential program: all, or a slab of this thickness in the middle. */
  std::int64_t slab;
};

constexpr Triple sliceIndex{ { 0, 0, 90 } };
constexpr Triple sliceSize{ { 181, 217, 1 } };
constexpr Triple cubeIndex{ { 42, 60, 42 } };
constexpr Triple cubeSize{ { 96, 96, 96 } };

Case
MakeSliceCase(const std::string & name, std::int64_t window, unsigned int levels, Aggregation aggregation)
{
  return {
    name,  2,           sliceIndex, sliceSize, { { window, window, 1 } }, { { window / 2, window / 2, 0 } }, levels,
    false, aggregation, false,      1
  };
}

Case
MakeCubeCase(const std::string & name, std::int64_t window)
{
  return { name,
           3,
           cubeIndex,
           cubeSize,
           { { window, window, window } },
           { { window / 2, window / 2, window / 2 } },
           32,
           false,
           Aggregation::Average,
           false,
           1 };
}

std::vector<Case>
MakeCases()
{
  std::vector<Case> cases;

  Case a = MakeSliceCase("a_perDirection", 4, 256, Aggregation::PerDirection);
  a.windowAnchor = { { 0, 0, 0 } };
  a.identity = true;
  cases.push_back(a);

  for (const unsigned int levels : { 32, 256 })
  {
    cases.push_back(MakeSliceCase("b_average", 5, levels, Aggregation::Average));
    cases.push_back(MakeSliceCase("b_perDirection", 5, levels, Aggregation::PerDirection));
  }

  Case c = MakeCubeCase("c_average", 5);
  c.imageIndex = { { 0, 0, 0 } };
  c.imageSize = Volume::size;
  c.slab = 8;
  cases.push_back(c);

  for (const std::int64_t window : { 3, 5, 7, 9 })
  {
    cases.push_back(MakeSliceCase("windows", window, 32, Aggregation::Average));
  }
  for (const std::int64_t window : { 3, 5, 7, 9 })
  {
    cases.push_back(MakeCubeCase("windows", window));
  }

  Case sixteen2D = MakeSliceCase("sixteenFeatures", 5, 32, Aggregation::Average);
  sixteen2D.allSixteenFeatures = true;
  cases.push_back(sixteen2D);
  Case sixteen3D = MakeCubeCase("sixteenFeatures", 5);
  sixteen3D.allSixteenFeatures = true;
  cases.push_back(sixteen3D);

  for (Case & each : cases)
  {
    each.name += "/" + ToString(each.imageSize, each.dimension) +
                 "/window:" + ToString(each.windowSize, each.dimension) +
                 "/levels:" + std::to_string(each.numberOfGrayLevels);
  }
  return cases;
}

template <unsigned int VDimension>
using FilterOf = itk::RunLengthFeatureMapImageFilter<itk::Image<Pixel, VDimension>>;

/** Threads for everything that is made from now on: the filter may run filters of its own. */
void
SetNumberOfThreads(unsigned int threads)
{
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
}

template <unsigned int VDimension>
typename FilterOf<VDimension>::Pointer
MakeFilter(const Case & thisCase, const itk::Image<Pixel, VDimension> * image, unsigned int threads)
{
  SetNumberOfThreads(threads);
  const auto filter = FilterOf<VDimension>::New();
  filter->SetInput(image);
  filter->SetNumberOfWorkUnits(threads);
  filter->SetNumberOfGrayLevels(thisCase.numberOfGrayLevels);
  if (thisCase.identity)
  {
    filter->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Identity);
  }
  typename FilterOf<VDimension>::SizeType   windowSize;
  typename FilterOf<VDimension>::OffsetType windowAnchor;
  for (unsigned int axis = 0; axis < VDimension; ++axis)
  {
    windowSize[axis] = static_cast<itk::SizeValueType>(thisCase.windowSize[axis]);
    windowAnchor[axis] = thisCase.windowAnchor[axis];
  }
  filter->SetWindowSize(windowSize);
  filter->SetWindowAnchor(windowAnchor);
  filter->SetAggregation(thisCase.aggregation);
  if (thisCase.allSixteenFeatures)
  {
    filter->SetFeatures(Enums::GetAllFeatures());
  }
  return filter;
}

/** The gray levels of a case, as the filter makes them. */
template <unsigned int VDimension>
std::vector<std::uint16_t>
MakeLevels(const Case & thisCase, const itk::Image<Pixel, VDimension> * image)
{
  const auto filter = itk::GrayLevelDiscretizationImageFilter<itk::Image<Pixel, VDimension>>::New();
  filter->SetInput(image);
  filter->SetNumberOfGrayLevels(thisCase.numberOfGrayLevels);
  if (thisCase.identity)
  {
    filter->SetMethod(itk::GrayLevelDiscretizationEnums::Method::Identity);
  }
  filter->Update();
  const auto * const levels = filter->GetOutput()->GetBufferPointer();
  return { levels, levels + CountVoxels(thisCase.imageSize) };
}

template <unsigned int VDimension>
std::vector<Triple>
MakeOffsets()
{
  std::vector<Triple> offsets;
  for (const auto & offset : FilterOf<VDimension>::GetAllOffsets())
  {
    Triple triple{ { 0, 0, 0 } };
    std::copy_n(offset.begin(), VDimension, triple.begin());
    offsets.push_back(triple);
  }
  return offsets;
}

/** The engine's job for all voxels, without output buffer. */
Job
MakeJob(const Case & thisCase, const std::vector<std::uint16_t> & levels, unsigned int threads)
{
  Job job;
  job.levels = levels.data();
  job.levelsSize = thisCase.imageSize;
  job.numberOfGrayLevels = thisCase.numberOfGrayLevels;
  job.outputSize = thisCase.imageSize;
  job.windowSize = thisCase.windowSize;
  job.windowAnchor = thisCase.windowAnchor;
  job.offsets = thisCase.dimension == 2 ? MakeOffsets<2>() : MakeOffsets<3>();
  job.features = thisCase.allSixteenFeatures ? Enums::GetAllFeatures() : Enums::GetElevenFeatures();
  job.aggregation = thisCase.aggregation;
  job.numberOfWorkers = threads;
  if (threads > 1)
  {
    SetNumberOfThreads(threads);
    const auto threader = itk::MultiThreaderBase::New();
    threader->SetNumberOfWorkUnits(threads);
    job.runWorkers = [threader](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
      threader->ParallelizeArray(
        0, numberOfWorkers, [&body](itk::SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
    };
  }
  return job;
}

/** Parameters of the sequential program; the output is a slab of the thickness in the middle. */
SequentialRunLengthParameters
MakeSequentialParameters(const Case & thisCase, std::int64_t slab)
{
  SequentialRunLengthParameters parameters;
  parameters.imageSize = thisCase.imageSize;
  parameters.outputSize = thisCase.imageSize;
  parameters.outputSize[2] = slab;
  parameters.outputIndex[2] = (thisCase.imageSize[2] - slab) / 2;
  parameters.numberOfGrayLevels = thisCase.numberOfGrayLevels;
  parameters.windowSize = thisCase.windowSize;
  parameters.windowAnchor = thisCase.windowAnchor;
  parameters.offsets = thisCase.dimension == 2 ? MakeOffsets<2>() : MakeOffsets<3>();
  parameters.average = thisCase.aggregation == Aggregation::Average;
  return parameters;
}

/** Keep of the image only the slices that the output of the sequential program needs. */
void
CropToSlab(Case & thisCase, SequentialRunLengthParameters & parameters, std::vector<std::uint16_t> & levels)
{
  const auto first = std::max<std::int64_t>(0, parameters.outputIndex[2] - thisCase.windowAnchor[2]);
  const auto end = std::min(thisCase.imageSize[2],
                            parameters.outputIndex[2] + parameters.outputSize[2] - 1 - thisCase.windowAnchor[2] +
                              thisCase.windowSize[2]);
  const auto slice = thisCase.imageSize[0] * thisCase.imageSize[1];
  levels = std::vector<std::uint16_t>(levels.begin() + first * slice, levels.begin() + end * slice);
  thisCase.imageSize[2] = end - first;
  parameters.imageSize = thisCase.imageSize;
  parameters.outputIndex[2] -= first;
}

// ---------------------------------------------------------------------------------------------------------------------
// Check

/** Greatest relative difference of two results; infinite if a value is not finite. */
template <typename TA, typename TB>
double
MaximumRelativeDifference(const TA * a, const TB * b, std::size_t number)
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

constexpr double tolerance = 1e-5;

/** Whether filter, engine alone and sequential program agree on a case; prints the differences. */
template <unsigned int VDimension>
bool
CheckCase(const Volume & volume, Case thisCase, unsigned int threads)
{
  // A thin slab keeps the check short.
  const std::int64_t slab = std::min<std::int64_t>(thisCase.imageSize[2], 2);
  auto               parameters = MakeSequentialParameters(thisCase, slab);
  const auto         image = MakeImage<Pixel, VDimension>(volume, thisCase.imageIndex, thisCase.imageSize);

  const auto filter = MakeFilter<VDimension>(thisCase, image, threads);
  filter->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion(MakeRegion<VDimension>(parameters.outputIndex, parameters.outputSize));
  filter->Update();
  const float * const ofFilter = filter->GetOutput()->GetBufferPointer();
  const std::size_t number = CountVoxels(parameters.outputSize) * filter->GetOutput()->GetNumberOfComponentsPerPixel();

  auto               levels = MakeLevels<VDimension>(thisCase, image);
  auto               job = MakeJob(thisCase, levels, 1);
  std::vector<float> ofEngine(number);
  job.output = ofEngine.data();
  job.outputIndex = parameters.outputIndex;
  job.outputSize = parameters.outputSize;
  bool same = true;
  for (const auto instructionSet :
       { Job::InstructionSet::Baseline, Job::InstructionSet::AVX2, Job::InstructionSet::AVX512 })
  {
    if (instructionSet <= itk::GetWidestInstructionSet())
    {
      job.widestInstructionSet = instructionSet;
      std::fill(ofEngine.begin(), ofEngine.end(), -1.0F);
      itk::ComputeRunLengthFeatureMaps(job);
      same = same && std::memcmp(ofEngine.data(), ofFilter, number * sizeof(float)) == 0;
    }
  }

  if (itk::CudaDevices::IsUsable(0))
  {
    std::fill(ofEngine.begin(), ofEngine.end(), -1.0F);
    itk::ComputeRunLengthFeatureMapsCuda(job, itk::CudaRunLengthOptions{});
    same = same && std::memcmp(ofEngine.data(), ofFilter, number * sizeof(float)) == 0;
  }

  std::cerr << "check " << thisCase.name << ": engine alone " << (same ? "the same bits" : "DIFFERS");
  bool agrees = same;
  if (!thisCase.allSixteenFeatures)
  {
    CropToSlab(thisCase, parameters, levels);
    std::vector<float> sequential(number);
    ComputeSequentialRunLengthFeatures(levels.data(), parameters, sequential.data());
    std::vector<double> sequentialDouble(number);
    ComputeSequentialRunLengthFeatures(levels.data(), parameters, sequentialDouble.data());
    const double difference = MaximumRelativeDifference(ofFilter, sequential.data(), number);
    const double differenceDouble = MaximumRelativeDifference(ofFilter, sequentialDouble.data(), number);
    std::cerr << ", sequential program differs by at most " << difference << " (float), " << differenceDouble
              << " (double) of the value";
    agrees = agrees && difference <= tolerance && differenceDouble <= tolerance;
  }
  std::cerr << (agrees ? "" : " FAILED") << std::endl;
  return agrees;
}

bool
Check(const Volume & volume, const std::vector<Case> & cases, unsigned int threads)
{
  bool agrees = true;
  for (const Case & thisCase : cases)
  {
    const bool caseAgrees =
      thisCase.dimension == 2 ? CheckCase<2>(volume, thisCase, threads) : CheckCase<3>(volume, thisCase, threads);
    agrees = agrees && caseAgrees;
  }
  return agrees;
}

// ---------------------------------------------------------------------------------------------------------------------
// Time

template <unsigned int VDimension>
void
RunFilter(benchmark::State & state, const Volume & volume, const Case & thisCase, unsigned int threads)
{
  const auto      image = MakeImage<Pixel, VDimension>(volume, thisCase.imageIndex, thisCase.imageSize);
  const auto      filter = MakeFilter<VDimension>(thisCase, image, threads);
  const Stopwatch stopwatch;
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
    benchmark::DoNotOptimize(filter->GetOutput()->GetBufferPointer());
  }
  stopwatch.Report(state, CountVoxels(thisCase.imageSize));
}

template <unsigned int VDimension>
void
RunEngine(benchmark::State & state, const Volume & volume, const Case & thisCase, unsigned int threads,
          Job::InstructionSet instructionSet)
{
  SetNumberOfThreads(threads);
  const auto levels =
    MakeLevels<VDimension>(thisCase, MakeImage<Pixel, VDimension>(volume, thisCase.imageIndex, thisCase.imageSize));
  auto job = MakeJob(thisCase, levels, threads);
  job.widestInstructionSet = instructionSet;
  std::vector<float> output(CountVoxels(thisCase.imageSize) * job.GetNumberOfComponents());
  job.output = output.data();
  const Stopwatch stopwatch;
  for (auto _ : state)
  {
    itk::ComputeRunLengthFeatureMaps(job);
    benchmark::ClobberMemory();
  }
  stopwatch.Report(state, CountVoxels(thisCase.imageSize));
}

template <typename TReal>
void
RunSequential(benchmark::State & state, const Volume & volume, Case thisCase, SequentialRunLengthParameters::Rows rows)
{
  auto parameters = MakeSequentialParameters(thisCase, thisCase.slab);
  parameters.rows = rows;
  auto levels = thisCase.dimension == 2
                  ? MakeLevels<2>(thisCase, MakeImage<Pixel, 2>(volume, thisCase.imageIndex, thisCase.imageSize))
                  : MakeLevels<3>(thisCase, MakeImage<Pixel, 3>(volume, thisCase.imageIndex, thisCase.imageSize));
  CropToSlab(thisCase, parameters, levels);
  const std::size_t  voxels = CountVoxels(parameters.outputSize);
  std::vector<TReal> output(voxels * VoxelMapsBenchmarks::SequentialNumberOfFeatures *
                            (parameters.average ? 1 : parameters.offsets.size()));
  const Stopwatch    stopwatch;
  for (auto _ : state)
  {
    ComputeSequentialRunLengthFeatures(levels.data(), parameters, output.data());
    benchmark::ClobberMemory();
  }
  stopwatch.Report(state, voxels);
}

#ifdef VOXELMAPS_HAS_ITK_RUN_LENGTH_FILTER
/** ITK's own filter: ten features of the merged matrix. Short pixels, since it marks absent voxels by -1 and -10. */
template <unsigned int VDimension>
void
RunPeer(benchmark::State & state, const Volume & volume, const Case & thisCase, unsigned int threads)
{
  using InputType = itk::Image<short, VDimension>;
  using OutputType = itk::Image<itk::Vector<float, 10>, VDimension>;
  using PeerType = itk::Statistics::RunLengthTextureFeaturesImageFilter<InputType, OutputType>;
  const auto image = MakeImage<short, VDimension>(volume, thisCase.imageIndex, thisCase.imageSize);
  SetNumberOfThreads(threads);
  const auto                                filter = PeerType::New();
  typename PeerType::NeighborhoodRadiusType radius;
  radius.Fill(static_cast<itk::SizeValueType>(thisCase.windowSize[0] / 2));
  filter->SetInput(image);
  filter->SetNumberOfWorkUnits(threads);
  filter->SetNeighborhoodRadius(radius);
  filter->SetNumberOfBinsPerAxis(thisCase.numberOfGrayLevels);
  filter->SetHistogramValueMinimum(0);
  filter->SetHistogramValueMaximum(256);
  filter->SetHistogramDistanceMinimum(0);
  filter->SetHistogramDistanceMaximum(thisCase.numberOfGrayLevels);
  const Stopwatch stopwatch;
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
    benchmark::DoNotOptimize(filter->GetOutput()->GetBufferPointer());
  }
  stopwatch.Report(state, CountVoxels(thisCase.imageSize));
}
#endif

const char *
GetName(Job::InstructionSet instructionSet)
{
  switch (instructionSet)
  {
    case Job::InstructionSet::Baseline:
      return "Baseline";
    case Job::InstructionSet::AVX2:
      return "AVX2";
    case Job::InstructionSet::AVX512:
      return "AVX512";
  }
  return "unknown";
}

void
RegisterBenchmarks(const Volume & volume, const std::vector<Case> & cases, unsigned int maximumThreads)
{
  using benchmark::State;
  using Rows = SequentialRunLengthParameters::Rows;
  std::vector<unsigned int> threadCounts{ 1 };
  if (maximumThreads > 1)
  {
    threadCounts.push_back(maximumThreads);
  }
  const Job::InstructionSet widest = itk::GetWidestInstructionSet();

  for (const Case & thisCase : cases)
  {
    const bool is2D = thisCase.dimension == 2;
    for (const unsigned int threads : threadCounts)
    {
      const std::string suffix = "/" + thisCase.name + "/threads:" + std::to_string(threads);
      Register("Filter" + suffix, [&volume, thisCase, threads, is2D](State & state) {
        (is2D ? RunFilter<2> : RunFilter<3>)(state, volume, thisCase, threads);
      });
      Register("Engine" + suffix, [&volume, thisCase, threads, is2D, widest](State & state) {
        (is2D ? RunEngine<2> : RunEngine<3>)(state, volume, thisCase, threads, widest);
      });
    }

    const bool isNamedCase = thisCase.name[1] == '_';
    if (isNamedCase)
    {
      for (const auto instructionSet : { Job::InstructionSet::Baseline, Job::InstructionSet::AVX2 })
      {
        if (instructionSet < widest)
        {
          Register(std::string("Engine") + GetName(instructionSet) + "/" + thisCase.name + "/threads:1",
                   [&volume, thisCase, is2D, instructionSet](State & state) {
                     (is2D ? RunEngine<2> : RunEngine<3>)(state, volume, thisCase, 1, instructionSet);
                   });
        }
      }
      const std::string suffix = "/" + thisCase.name + "/threads:1";
      Register("SequentialFloat" + suffix,
               [&volume, thisCase](State & state) { RunSequential<float>(state, volume, thisCase, Rows::Present); });
      Register("SequentialDouble" + suffix,
               [&volume, thisCase](State & state) { RunSequential<double>(state, volume, thisCase, Rows::Present); });
      if (is2D)
      {
        Register("SequentialFloatAllRows" + suffix,
                 [&volume, thisCase](State & state) { RunSequential<float>(state, volume, thisCase, Rows::All); });
      }
    }

#ifdef VOXELMAPS_HAS_ITK_RUN_LENGTH_FILTER
    if (thisCase.windowSize[0] == 5 && thisCase.aggregation == Aggregation::Average && !thisCase.allSixteenFeatures &&
        thisCase.name[0] != 'c')
    {
      for (const unsigned int threads : threadCounts)
      {
        Register("ITK/" + thisCase.name + "/threads:" + std::to_string(threads),
                 [&volume, thisCase, threads, is2D](State & state) {
                   (is2D ? RunPeer<2> : RunPeer<3>)(state, volume, thisCase, threads);
                 });
      }
    }
#endif
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

/** Greatest resident memory of the process so far. */
double
ReadPeakMemory()
{
  double peak = ReadStatus("VmHWM");
#ifdef __unix__
  if (peak == 0.0)
  {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
  }
#endif
  return peak;
}

/** Run case (c) once and print its memory. Returns whether it keeps to the limit. */
bool
MeasureMemory(const std::string & directory, Case thisCase, unsigned int threads)
{
  constexpr double limit = 1.25;
  const double     before = ReadStatus("VmRSS");
  auto             image = itk::Image<Pixel, 3>::Pointer();
  {
    const Volume volume = LoadVolume(directory);
    std::cout << "data: " << volume.source << std::endl;
    image = MakeImage<Pixel, 3>(volume, thisCase.imageIndex, thisCase.imageSize);
  }
#ifdef __GLIBC__
  // What reading the file took is not the filter's.
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;
  const double loaded = ReadStatus("VmRSS");
  const double peakBefore = ReadPeakMemory();
  const auto   filter = MakeFilter<3>(thisCase, image, threads);
  filter->Update();
  const double peak = ReadPeakMemory();

  const auto       voxels = static_cast<double>(CountVoxels(thisCase.imageSize));
  const double     input = voxels * sizeof(Pixel);
  const double     output = voxels * sizeof(float) * filter->GetOutput()->GetNumberOfComponentsPerPixel();
  const double     ratio = (peak - before) / (input + output);
  constexpr double megabyte = 1e6;
  std::cout << "case: " << thisCase.name << ", threads: " << threads << '\n'
            << "input: " << input / megabyte << " MB\n"
            << "output: " << output / megabyte << " MB\n"
            << "resident before loading: " << before / megabyte << " MB, after: " << loaded / megabyte
            << " MB, peak so far: " << peakBefore / megabyte << " MB\n"
            << "peak: " << peak / megabyte << " MB\n"
            << "(peak - before) / (input + output): " << ratio << ", limit " << limit
            << (ratio <= limit ? "" : " EXCEEDED") << std::endl;
  return ratio <= limit;
}

// ---------------------------------------------------------------------------------------------------------------------

struct Options : VoxelMapsBenchmarks::Options
{
  std::string directory;
  std::string table;
  std::string outputDirectory;
  std::string slicesDirectory;
};

/** Take an option and its value from the command line. */
void
TakeValue(int & argc, char ** argv, const std::string & option, std::string & value)
{
  int kept = 1;
  for (int i = 1; i < argc; ++i)
  {
    if (argv[i] == option && i + 1 < argc)
    {
      value = argv[++i];
    }
    else
    {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
}

/** Take this program's own arguments from the command line; the rest is Google Benchmark's. */
Options
TakeOptions(int & argc, char ** argv)
{
  Options      options;
  const char * variable = std::getenv("VOXELMAPS_BENCHMARK_DATA");
  bool         isGiven = false;
  options.directory = variable != nullptr ? variable : VOXELMAPS_BENCHMARK_DEFAULT_DATA;
  const std::string help =
    "RunLengthBenchmark [--data DIR] [--check | --memory | --table T] [options of Google Benchmark]\n"
    "  --data DIR  directory of brainweb_t1.mha; default: the environment variable\n"
    "              VOXELMAPS_BENCHMARK_DATA, or " VOXELMAPS_BENCHMARK_DEFAULT_DATA ",\n"
    "              or else a synthetic phantom, which --data= asks for\n"
    "  --check     only check that all programs give the same features\n"
    "  --memory    only measure the peak memory of case (c)\n"
    "  --table T   only measure a table of the CUDA engine: r1, paper, r2 or windows\n"
    "  --out DIR   directory for the table as JSON and Markdown\n"
    "  --write-slices DIR  only write the slices that the tables need to files of their own\n\n";
  TakeValue(argc, argv, "--table", options.table);
  TakeValue(argc, argv, "--out", options.outputDirectory);
  TakeValue(argc, argv, "--write-slices", options.slicesDirectory);
  VoxelMapsBenchmarks::TakeOptions(argc, argv, options, help, "--data", [&](const std::string & value) {
    options.directory = value;
    isGiven = true;
  });
  if (isGiven && !options.directory.empty() && !std::ifstream(options.directory + "/brainweb_t1.mha").good())
  {
    throw std::runtime_error("there is no brainweb_t1.mha in the directory " + options.directory);
  }
  return options;
}

int
Run(int argc, char * argv[])
{
  const unsigned int threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  const Options      options = TakeOptions(argc, argv);
  const auto         cases = MakeCases();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
  {
    return EXIT_FAILURE;
  }

  // New() of a class is to give that class, also where a device is.
  itk::VoxelMapsCudaFactory::SetOverrideEnabled(false);
  if (!options.slicesDirectory.empty())
  {
    VoxelMapsBenchmarks::WriteSlices(options.directory, options.slicesDirectory);
    return EXIT_SUCCESS;
  }
  if (!options.table.empty())
  {
    VoxelMapsBenchmarks::MeasureTable(options.table, options.directory, options.outputDirectory);
    return EXIT_SUCCESS;
  }

  if (options.memory)
  {
    const auto c =
      std::find_if(cases.begin(), cases.end(), [](const Case & each) { return each.name.compare(0, 2, "c_") == 0; });
    return MeasureMemory(options.directory, *c, threads) ? EXIT_SUCCESS : EXIT_FAILURE;
  }

  const Volume volume = LoadVolume(options.directory);
  std::cerr << "data: " << volume.source << ", threads: " << threads
            << ", instructions: " << GetName(itk::GetWidestInstructionSet()) << std::endl;
  if (!Check(volume, cases, threads))
  {
    std::cerr << "the programs give different features" << std::endl;
    return EXIT_FAILURE;
  }
  if (!options.check)
  {
    benchmark::AddCustomContext("data", volume.source);
    benchmark::AddCustomContext("instructions", GetName(itk::GetWidestInstructionSet()));
    RegisterBenchmarks(volume, cases, threads);
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
