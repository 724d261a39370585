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
#include "Benchmark.h"
#include "HeadData.h"

#include "itkCudaCooccurrenceJob.h"
#include "itkCudaFirstOrderJob.h"
#include "itkCudaGrayToneDifferenceJob.h"
#include "itkCudaSizeZoneJob.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkTextureOffsets.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

// The engines of the texture classes, apart from run lengths, which have a program of their own.
namespace
{
using namespace VoxelMapsBenchmarks;
using itk::voxelmaps::InstructionSet;
using itk::voxelmaps::TextureFeatureMapJob;

// --- Texture classes: what their engines are called ------------------------------------------------------------------

struct Cooccurrence
{
  using Job = itk::voxelmaps::CooccurrenceJob;
  using CudaOptions = itk::voxelmaps::CudaCooccurrenceOptions;
  using CudaReport = itk::voxelmaps::CudaCooccurrenceReport;

  static constexpr const char * name = "cooccurrence";

  static std::vector<CudaOptions::Method>
  GetCudaMethods()
  {
    using Method = CudaOptions::Method;
    return { Method::Automatic, Method::WindowWalk };
  }

  /** All features of the class but the maximal correlation coefficient, the mean of the 13 directions. */
  static void
  SetParameters(Job & job)
  {
    job.features = itk::CooccurrenceFeatureMapEnums::GetAllFeatures();
    job.features.pop_back();
    job.offsets = itk::TextureOffsets<3>::GetTriples(itk::TextureOffsets<3>::GetOfDistances({ 1 }, false));
  }
  static std::size_t
  GetNumberOfComponents(const Job & job)
  {
    return job.GetNumberOfComponents();
  }
  static void
  Compute(const Job & job)
  {
    itk::voxelmaps::ComputeCooccurrenceFeatureMaps(job);
  }
  static CudaReport
  ComputeCuda(const Job & job, const CudaOptions & options)
  {
    return itk::voxelmaps::ComputeCooccurrenceFeatureMapsCuda(job, options);
  }
};

/** The maximal correlation coefficient alone. */
struct MaximalCorrelation : Cooccurrence
{
  static constexpr const char * name = "maximalcorrelation";

  static std::vector<CudaOptions::Method>
  GetCudaMethods()
  {
    return { CudaOptions::Method::Automatic };
  }
  static void
  SetParameters(Job & job)
  {
    Cooccurrence::SetParameters(job);
    job.features = { Job::Feature::MaximalCorrelationCoefficient };
  }
};

struct FirstOrder
{
  using Job = itk::voxelmaps::FirstOrderJob;
  using CudaOptions = itk::voxelmaps::CudaFirstOrderOptions;
  using CudaReport = itk::voxelmaps::CudaFirstOrderReport;

  static constexpr const char * name = "firstorder";

  /** The methods of the device; cases that one cannot take are skipped. */
  static std::vector<CudaOptions::Method>
  GetCudaMethods()
  {
    using Method = CudaOptions::Method;
    return { Method::Automatic, Method::SortingNetwork, Method::RadixSelection };
  }

  /** All features of the class. */
  static void
  SetParameters(Job & job)
  {
    job.features = itk::FirstOrderFeatureMapEnums::GetAllFeatures();
  }
  static std::size_t
  GetNumberOfComponents(const Job & job)
  {
    return job.features.size();
  }
  static void
  Compute(const Job & job)
  {
    itk::voxelmaps::ComputeFirstOrderFeatureMaps(job);
  }
  static CudaReport
  ComputeCuda(const Job & job, const CudaOptions & options)
  {
    return itk::voxelmaps::ComputeFirstOrderFeatureMapsCuda(job, options);
  }
};

struct GrayToneDifference
{
  using Job = itk::voxelmaps::GrayToneDifferenceJob;
  using CudaOptions = itk::voxelmaps::CudaGrayToneDifferenceOptions;
  using CudaReport = itk::voxelmaps::CudaGrayToneDifferenceReport;

  static constexpr const char * name = "graytonedifference";

  static std::vector<CudaOptions::Method>
  GetCudaMethods()
  {
    using Method = CudaOptions::Method;
    return { Method::Automatic, Method::WindowWalk };
  }

  /** All features of the class, all 26 neighbors. */
  static void
  SetParameters(Job & job)
  {
    job.features = itk::GrayToneDifferenceFeatureMapEnums::GetAllFeatures();
    job.offsets = itk::TextureOffsets<3>::GetTriples(itk::TextureOffsets<3>::GetOfDistances({ 1 }, false));
  }
  static std::size_t
  GetNumberOfComponents(const Job & job)
  {
    return job.features.size();
  }
  static void
  Compute(const Job & job)
  {
    itk::voxelmaps::ComputeGrayToneDifferenceFeatureMaps(job);
  }
  static CudaReport
  ComputeCuda(const Job & job, const CudaOptions & options)
  {
    return itk::voxelmaps::ComputeGrayToneDifferenceFeatureMapsCuda(job, options);
  }
};

struct SizeZone
{
  using Job = itk::voxelmaps::SizeZoneJob;
  using CudaOptions = itk::voxelmaps::CudaSizeZoneOptions;
  using CudaReport = itk::voxelmaps::CudaSizeZoneReport;

  static constexpr const char * name = "sizezone";

  /** The methods of the device; cases that one cannot take are skipped. */
  static std::vector<CudaOptions::Method>
  GetCudaMethods()
  {
    using Method = CudaOptions::Method;
    return { Method::Automatic, Method::BitPlanes, Method::UnionFind };
  }

  /** All features of the class. */
  static void
  SetParameters(Job & job)
  {
    job.features = itk::SizeZoneFeatureMapEnums::GetAllFeatures();
  }
  static std::size_t
  GetNumberOfComponents(const Job & job)
  {
    return job.features.size();
  }
  static void
  Compute(const Job & job)
  {
    itk::voxelmaps::ComputeSizeZoneFeatureMaps(job);
  }
  static CudaReport
  ComputeCuda(const Job & job, const CudaOptions & options)
  {
    return itk::voxelmaps::ComputeSizeZoneFeatureMapsCuda(job, options);
  }
};

// --- Cases -----------------------------------------------------------------------------------------------------------

/** Part of a head or of a synthetic one, and a window. */
struct Case
{
  Triple       size;
  std::int64_t window;
  unsigned int levels;

  /** The part of names that the classes have in common. */
  std::string
  GetName() const
  {
    return ToString(size, 3) + "/window:" + std::to_string(window) + "/levels:" + std::to_string(levels);
  }
};

/** Input of a case, and the result of the CPU engine with all threads. */
template <typename TClass>
struct Fixture
{
  explicit Fixture(const Case & thisCase)
    : name(thisCase.GetName())
  {
    // The middle of the head, where there is no air, or a whole synthetic head of the size.
    const Triple & size = thisCase.size;
    const bool     isInside = size[0] <= headSize[0] && size[1] <= headSize[1] && size[2] <= headSize[2];
    const Triple   index{ { (headSize[0] - size[0]) / 2, (headSize[1] - size[1]) / 2, (headSize[2] - size[2]) / 2 } };
    const auto     head = isInside ? ExtractBox(LoadHead("t1"), index, size) : MakePhantom(size);
    const auto     discretization = itk::GrayLevelDiscretizationImageFilter<HeadImage>::New();
    discretization->SetInput(head);
    discretization->SetNumberOfGrayLevels(thisCase.levels);
    discretization->Update();
    levels = discretization->GetOutput();
    intensities.assign(head->GetBufferPointer(), head->GetBufferPointer() + CountVoxels(size));
    job.levels = levels->GetBufferPointer();
    job.intensities = intensities.data();
    job.levelsSize = size;
    job.outputSize = size;
    job.numberOfGrayLevels = thisCase.levels;
    job.windowSize = { { thisCase.window, thisCase.window, thisCase.window } };
    job.windowAnchor = { { thisCase.window / 2, thisCase.window / 2, thisCase.window / 2 } };
    TClass::SetParameters(job);
    expected.resize(CountVoxels(size) * TClass::GetNumberOfComponents(job));
    output.resize(expected.size());
    job.output = expected.data();
    job.execution = MakeExecution(allThreads);
    TClass::Compute(job);
    job.execution = {};
    job.output = output.data();
  }

  void
  VerifyBits() const
  {
    Verify(std::memcmp(expected.data(), output.data(), expected.size() * sizeof(float)) == 0,
           "differs from the CPU engine with all threads");
  }
  void
  CountVoxelsOf(State & state) const
  {
    state.counters["per voxel"] = TimePer(static_cast<double>(CountVoxels(job.outputSize)));
  }

  std::string                                                                  name;
  typename TClass::Job                                                         job;
  itk::GrayLevelDiscretizationImageFilter<HeadImage>::OutputImageType::Pointer levels;
  std::vector<float>                                                           intensities;
  std::vector<float>                                                           expected;
  std::vector<float>                                                           output;
};

/** Benchmarks are called several times, and those of one case one after the other. */
template <typename TClass>
Fixture<TClass> &
GetFixture(const Case & thisCase)
{
  static std::unique_ptr<Fixture<TClass>> last;
  if (!last || last->name != thisCase.GetName())
  {
    last.reset();
    last = std::make_unique<Fixture<TClass>>(thisCase);
  }
  // So that VerifyBits finds the voxels that an engine leaves out.
  std::fill(last->output.begin(), last->output.end(), -1.2345e33f);
  return *last;
}

// --- Benchmarks ------------------------------------------------------------------------------------------------------

template <typename TClass>
void
RegisterCpu(const Case & thisCase, InstructionSet instructionSet)
{
  const std::vector<std::string> names{ "EngineBaseline", "EngineAVX2", "EngineAVX512" };
  const std::string              name =
    std::string(TClass::name) + "/" + thisCase.GetName() + "/" + names[static_cast<std::size_t>(instructionSet)];
  RegisterWall(WithThreads(name, 1), [=](State & state) {
    const auto & fixture = GetFixture<TClass>(thisCase);
    auto         job = fixture.job;
    job.widestInstructionSet = instructionSet;
    for (auto _ : state)
    {
      TClass::Compute(job);
    }
    fixture.VerifyBits();
    fixture.CountVoxelsOf(state);
  });
}

/** The time is that of the kernels; "call" is the time of the whole call, from and to host memory. */
template <typename TClass>
void
RegisterCuda(const Case & thisCase, typename TClass::CudaOptions::Method method)
{
  const std::string name = std::string(TClass::name) + "/" + thisCase.GetName() + "/Cuda" + ToName(method);
  RegisterManual(name, 3, [=](State & state) {
    RequireDevice();
    const auto &                 fixture = GetFixture<TClass>(thisCase);
    typename TClass::CudaOptions options;
    typename TClass::CudaReport  report;
    options.method = method;
    const auto compute = [&] {
      try
      {
        report = TClass::ComputeCuda(fixture.job, options);
      }
      catch (const itk::voxelmaps::EngineError & error)
      {
        if (std::string(error.what()).find("cannot take") != std::string::npos)
        {
          throw Skipped(error.what());
        }
        throw;
      }
    };
    if (state.max_iterations > 1)
    {
      // Kernels are loaded when they are first used.
      compute();
    }
    double calls = 0.0;
    for (auto _ : state)
    {
      calls += MeasureMilliseconds(compute);
      state.SetIterationTime(1e-3 * report.kernelMilliseconds);
    }
    fixture.VerifyBits();
    fixture.CountVoxelsOf(state);
    state.counters["call"] = MeanOf(calls);
    state.counters["slabs"] = static_cast<double>(report.numberOfSlabs);
    state.SetLabel(ToName(report.method));
  });
}

template <typename TClass>
void
RegisterClass()
{
  std::vector<Case> cases{ { { { 96, 96, 96 } }, 3, 32 },
                           { { { 96, 96, 96 } }, 5, 32 },
                           { { { 96, 96, 96 } }, 5, 256 },
                           { { { 96, 96, 96 } }, 7, 32 },
                           { { { 96, 96, 24 } }, 9, 32 } };
  if (isCheck)
  {
    cases = { { { { 33, 17, 9 } }, 5, 32 }, { { { 21, 12, 11 } }, 9, 256 } };
  }
  for (const Case & thisCase : cases)
  {
    for (const auto instructionSet : { InstructionSet::Baseline, InstructionSet::AVX2, InstructionSet::AVX512 })
    {
      if (instructionSet <= itk::voxelmaps::GetWidestInstructionSet())
      {
        RegisterCpu<TClass>(thisCase, instructionSet);
      }
    }
    for (const auto method : TClass::GetCudaMethods())
    {
      RegisterCuda<TClass>(thisCase, method);
    }
  }
  if (!isCheck)
  {
    RegisterCuda<TClass>({ { { 512, 512, 155 } }, 5, 32 }, TClass::CudaOptions::Method::Automatic);
  }
}

bool
RegisterBenchmarks(int & argc, char ** argv)
{
  const char * const variable = std::getenv("VOXELMAPS_BENCHMARK_DATA");
  dataDirectory = variable != nullptr ? variable : VOXELMAPS_BENCHMARK_DEFAULT_DATA;
  TakeOption(argc, argv, "--data", dataDirectory);
  benchmark::AddCustomContext("data", DescribeData());
  RegisterClass<Cooccurrence>();
  RegisterClass<FirstOrder>();
  RegisterClass<GrayToneDifference>();
  RegisterClass<MaximalCorrelation>();
  RegisterClass<SizeZone>();
  return true;
}
} // namespace

int
main(int argc, char * argv[])
{
  return RunProgram(argc, argv, RegisterBenchmarks);
}
