// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Benchmark.h"
#include "HeadData.h"

#include "voxelmaps/CooccurrenceJob.h"
#include "voxelmaps/DependenceJob.h"
#include "voxelmaps/FirstOrderJob.h"
#include "voxelmaps/GrayToneDifferenceJob.h"
#include "voxelmaps/SizeZoneJob.h"
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
using voxelmaps::InstructionSet;
using voxelmaps::TextureFeatureMapJob;

// --- Texture classes: what their engines are called ------------------------------------------------------------------

template <typename TJob, typename TOptions, typename TReport, void (*VCompute)(const TJob &),
          TReport (*VComputeCuda)(const TJob &, const TOptions &)>
struct TextureClass
{
  using Job = TJob;
  using CudaOptions = TOptions;
  using CudaReport = TReport;

  /** All methods of the device; cases that one does not support are skipped. */
  static std::vector<typename TOptions::Method>
  GetCudaMethods()
  {
    std::vector<typename TOptions::Method> methods;
    for (int i = 0;; ++i)
    {
      const auto method = static_cast<typename TOptions::Method>(i);
      if (ToName(method).find("invalid") != std::string::npos)
      {
        return methods;
      }
      methods.push_back(method);
    }
  }
  static void
  Compute(const Job & job)
  {
    VCompute(job);
  }
  static CudaReport
  ComputeCuda(const Job & job, const CudaOptions & options)
  {
    return VComputeCuda(job, options);
  }
};

#define VOXELMAPS_TEXTURE_CLASS(name)                                                                                  \
  TextureClass<voxelmaps::name##Job,                                                                                   \
               voxelmaps::Cuda##name##Options,                                                                         \
               voxelmaps::Cuda##name##Report,                                                                          \
               voxelmaps::Compute##name##FeatureMaps,                                                                  \
               voxelmaps::Compute##name##FeatureMapsCuda>

/** Steps to the neighbors of a voxel, one of each two opposite ones. */
std::vector<Triple>
GetDirections()
{
  return itk::TextureOffsets<3>::GetTriples(itk::TextureOffsets<3>::GetOfDistances({ 1 }, false));
}

/** All features but the maximal correlation coefficient, the mean of the 13 directions. */
struct Cooccurrence : VOXELMAPS_TEXTURE_CLASS(Cooccurrence)
{
  static constexpr const char * name = "cooccurrence";

  static void
  SetParameters(Job & job)
  {
    for (const auto feature : itk::CooccurrenceFeatureMapEnums::GetAllFeatures())
    {
      if (feature != Job::Feature::MaximalCorrelationCoefficient)
      {
        job.features.push_back(feature);
      }
    }
    job.offsets = GetDirections();
  }
};

/** All features, the mean of the 13 directions. */
struct AllCooccurrence : VOXELMAPS_TEXTURE_CLASS(Cooccurrence)
{
  static constexpr const char * name = "allcooccurrence";

  static void
  SetParameters(Job & job)
  {
    job.features = itk::CooccurrenceFeatureMapEnums::GetAllFeatures();
    job.offsets = GetDirections();
  }
};

/** All features, with the 26 neighbors. */
struct Dependence : VOXELMAPS_TEXTURE_CLASS(Dependence)
{
  static constexpr const char * name = "dependence";

  static void
  SetParameters(Job & job)
  {
    job.features = itk::DependenceFeatureMapEnums::GetAllFeatures();
    job.offsets = GetDirections();
  }
};

struct FirstOrder : VOXELMAPS_TEXTURE_CLASS(FirstOrder)
{
  static constexpr const char * name = "firstorder";

  static void
  SetParameters(Job & job)
  {
    job.features = itk::FirstOrderFeatureMapEnums::GetAllFeatures();
  }
};

/** All features, with the 26 neighbors. */
struct GrayToneDifference : VOXELMAPS_TEXTURE_CLASS(GrayToneDifference)
{
  static constexpr const char * name = "graytonedifference";

  static void
  SetParameters(Job & job)
  {
    job.features = itk::GrayToneDifferenceFeatureMapEnums::GetAllFeatures();
    job.offsets = GetDirections();
  }
};

/** The maximal correlation coefficient alone, the mean of the 13 directions. */
struct MaximalCorrelation : VOXELMAPS_TEXTURE_CLASS(Cooccurrence)
{
  static constexpr const char * name = "maximalcorrelation";

  static void
  SetParameters(Job & job)
  {
    job.features = { Job::Feature::MaximalCorrelationCoefficient };
    job.offsets = GetDirections();
  }
};

struct SizeZone : VOXELMAPS_TEXTURE_CLASS(SizeZone)
{
  static constexpr const char * name = "sizezone";

  static void
  SetParameters(Job & job)
  {
    job.features = itk::SizeZoneFeatureMapEnums::GetAllFeatures();
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
    expected.resize(CountVoxels(size) * job.features.size());
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
  CountVoxelsIn(State & state) const
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
    fixture.CountVoxelsIn(state);
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
      catch (const voxelmaps::EngineError & error)
      {
        if (std::string(error.what()).find("does not support") != std::string::npos)
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
    fixture.CountVoxelsIn(state);
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
      if (instructionSet <= voxelmaps::GetWidestInstructionSet())
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
  RegisterClass<AllCooccurrence>();
  RegisterClass<Cooccurrence>();
  RegisterClass<Dependence>();
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
