// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Benchmark.h"
#include "PeakMemory.h"
#include "SyntheticLiverCTSource.h"
#include "baselines/HeapConnectedness.h"
#include "baselines/PaperKFOE.h"
#include "connectedness/ConnectednessKeyEngines.h"
#include "connectedness/KeysToStrengths.h"

#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace
{
using namespace VoxelMapsBenchmarks;
using Enums = itk::FuzzyConnectednessEnums;
using Method = Enums::Method;
using CudaMethod = Enums::CudaMethod;
using ImageType = SyntheticLiverCT::ImageType;
using Job = voxelmaps::FuzzyConnectednessJob;
// Programs are compared by the keys that strengths are computed from: see ConnectednessKeys.h.
using Keys = std::vector<std::uint32_t>;

ImageType::SizeType sceneSize{ { 512, 512, 155 } };

// ---------------------------------------------------------------------------------------------------------------------
// Cases

enum class Seed
{
  Vessel,
  Liver,
  Bone
};

/** A computation that all programs can do. */
struct Case
{
  /** The names of its benchmarks begin with this. */
  std::string         name;
  ImageType::SizeType size;
  std::uint64_t       randomSeed{ 1 };
  Seed                seed{ Seed::Liver };
  /** Use parameters with which the seed reaches all voxels; otherwise, estimate them around the seed. */
  bool             reachesEverything{ true };
  Enums::Adjacency adjacency{ Enums::Adjacency::Face };
  double           minimumStrength{ 0.0 };
  /** If not 0, noise of so many components instead of a CT, all of which is reached. */
  unsigned int components{ 0 };
};

std::vector<Case>
MakeCases(const std::string & table)
{
  std::vector<Case> cases;
  for (const auto adjacency : { Enums::Adjacency::Face, Enums::Adjacency::Full })
  {
    for (const std::string object : { "vessel", "liver", "everything" })
    {
      for (const std::string minimum : { "0", "0.5" })
      {
        const std::string neighbors = adjacency == Enums::Adjacency::Face ? "6" : "26";
        cases.push_back({ table + "/" + object + "/neighbors:" + neighbors + "/minimum:" + minimum + "/",
                          sceneSize,
                          1,
                          object == "vessel" ? Seed::Vessel : Seed::Liver,
                          object == "everything",
                          adjacency,
                          std::stod(minimum) });
      }
    }
  }
  return cases;
}

const SyntheticLiverCT::Result &
GetScene(const ImageType::SizeType & size, std::uint64_t randomSeed)
{
  static SyntheticLiverCT::Settings settings;
  static SyntheticLiverCT::Result   scene;
  if (!scene.image || size != settings.size || randomSeed != settings.randomSeed)
  {
    settings.size = size;
    settings.randomSeed = randomSeed;
    scene = SyntheticLiverCT::Make(settings);
  }
  return scene;
}

/** A case with its image, its buffer and the expected result. */
struct Fixture : Case
{
  explicit Fixture(const Case & thisCase)
    : Case(thisCase)
  {
    const auto & scene = GetScene(size, randomSeed);
    image = scene.image;
    seedIndex = seed == Seed::Vessel ? scene.vesselSeed : seed == Seed::Liver ? scene.liverSeed : scene.boneSeed;
    job.image = image->GetBufferPointer();
    job.pixelType = Job::PixelType::Int16;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      job.size[axis] = static_cast<std::int64_t>(size[axis]);
      job.spacing[axis] = image->GetSpacing()[axis];
    }
    job.seeds.push_back(image->ComputeOffset(seedIndex));
    job.adjacency = adjacency;
    job.minimumStrength = minimumStrength;
    if (reachesEverything)
    {
      // Wide enough that no affinity of the image is so small that it counts as 0, as those of air are for a vessel.
      job.objectMean = 110.0;
      job.objectVariance = 200.0 * 200.0;
      job.differenceVariance = 50.0 * 50.0;
    }
    else
    {
      const auto estimate = voxelmaps::EstimateAffinity(job, {}, {});
      job.objectMean = estimate.mean;
      job.objectVariance = estimate.variance;
      job.differenceVariance = estimate.differenceVariance;
    }
    keys.resize(static_cast<std::size_t>(job.GetNumberOfVoxels()));
    if (components > 0)
    {
      this->MakeVectors();
    }
  }

  /** Noise of 40 levels, with components that depend on each other in the affinity. */
  void
  MakeVectors()
  {
    const std::size_t n = components;
    std::uint64_t     random = 1;
    vectors.resize(keys.size() * n);
    for (std::uint8_t & component : vectors)
    {
      random = random * 6364136223846793005u + 1442695040888963407u;
      component = static_cast<std::uint8_t>(90 + (random >> 58) % 40);
    }
    job.image = vectors.data();
    job.pixelType = Job::PixelType::UInt8;
    job.numberOfComponents = components;
    job.vectors.objectMean.assign(n, 110.0);
    job.vectors.objectCovariance.assign(n * n, 20.0);
    job.vectors.differenceCovariance.assign(n * n, 10.0);
    for (std::size_t i = 0; i < n; ++i)
    {
      job.vectors.objectCovariance[i * n + i] = 200.0;
      job.vectors.differenceCovariance[i * n + i] = 100.0;
    }
  }

  void
  ComputeExpected()
  {
    Job reference = job;
    reference.method = Method::Hierarchy;
    reference.execution = MakeExecution(allThreads);
    expected.resize(keys.size());
    voxelmaps::ComputeFuzzyConnectednessKeys(reference, expected.data());
  }
  double
  CountReached() const
  {
    return static_cast<double>(expected.size()) -
           static_cast<double>(std::count(expected.begin(), expected.end(), voxelmaps::noKey));
  }
  std::size_t
  CountWrong() const
  {
    std::size_t wrong = 0;
    for (std::size_t voxel = 0; voxel < keys.size(); ++voxel)
    {
      wrong += keys[voxel] != expected[voxel] ? 1 : 0;
    }
    return wrong;
  }
  void
  VerifyKeys() const
  {
    // At the resolution of a check, few voxels of the vessel have a strength of 0.5.
    Verify(CountReached() > (minimumStrength == 0.0 ? 1000.0 : 0.0), "hardly any voxel is reached");
    Verify(CountWrong() == 0, std::to_string(CountWrong()) + " voxels differ from those of Hierarchy");
  }
  /** Overwrite all keys, so that VerifyKeys finds the voxels that a program leaves out. */
  void
  Spoil()
  {
    std::fill(keys.begin(), keys.end(), ~std::uint32_t{ 0 });
  }
  void
  Count(State & state) const
  {
    state.counters["per voxel"] = TimePer(static_cast<double>(keys.size()));
    state.counters["reached"] = CountReached() / static_cast<double>(keys.size());
  }

  ImageType::ConstPointer   image;
  std::vector<std::uint8_t> vectors;
  ImageType::IndexType      seedIndex;
  Job                       job;
  Keys                      keys;
  Keys                      expected;
};

/** Benchmarks are called several times, and those of one case one after the other. */
std::unique_ptr<Fixture> lastFixture;

Fixture &
GetFixture(const Case & thisCase)
{
  if (!lastFixture || lastFixture->name != thisCase.name)
  {
    lastFixture.reset();
    lastFixture = std::make_unique<Fixture>(thisCase);
    lastFixture->ComputeExpected();
  }
  return *lastFixture;
}

// ---------------------------------------------------------------------------------------------------------------------
// Programs

/** A method of the CPU engine, or the heap. */
struct CpuProgram
{
  std::string  name;
  bool         isHeap;
  Method       method;
  unsigned int threads;

  void
  Compute(Job job, std::uint32_t * keys) const
  {
    if (isHeap)
    {
      ComputeHeapConnectedness<ImageType::PixelType>(job, keys);
      return;
    }
    job.method = method;
    job.execution = MakeExecution(threads);
    voxelmaps::ComputeFuzzyConnectednessKeys(job, keys);
  }
};

/** Heap is too slow for 26 neighbors, except in a check. */
std::vector<CpuProgram>
MakeCpuPrograms(const Case & thisCase, const std::vector<unsigned int> & threadCounts)
{
  std::vector<CpuProgram> programs;
  if (thisCase.adjacency == Enums::Adjacency::Face || isCheck)
  {
    programs.push_back({ "Heap", true, Method::Automatic, 1 });
  }
  programs.push_back({ "Buckets", false, Method::Buckets, 1 });
  for (const unsigned int threads : threadCounts)
  {
    programs.push_back({ "Hierarchy", false, Method::Hierarchy, threads });
  }
  return programs;
}

void
RegisterCpuProgram(const std::string & name, const Case & thisCase, const CpuProgram & program)
{
  RegisterWall(name, [=](State & state) {
    Fixture & fixture = GetFixture(thisCase);
    fixture.Spoil();
    for (auto _ : state)
    {
      program.Compute(fixture.job, fixture.keys.data());
    }
    fixture.VerifyKeys();
    fixture.Count(state);
  });
}

/** Update() with all threads; the output is in fresh memory. */
template <typename TFilter>
void
RunFilter(State & state, const Case & thisCase)
{
  const Fixture & fixture = GetFixture(thisCase);
  const auto      filter = MakeOnProcessor<TFilter>();
  filter->SetInput(fixture.image);
  filter->SetSeed(fixture.seedIndex);
  filter->EstimateAffinityFromSeedsOn();
  filter->SetAdjacency(thisCase.adjacency);
  filter->SetMinimumStrength(thisCase.minimumStrength);
  for (auto _ : state)
  {
    filter->GetOutput()->Initialize();
    filter->Modified();
    filter->Update();
  }
  std::vector<float> strengths(fixture.expected.size());
  Job                job = fixture.job;
  job.output = strengths.data();
  voxelmaps::ConvertKeysToStrengths(job, fixture.expected.data());
  Verify(std::equal(strengths.begin(), strengths.end(), filter->GetOutput()->GetBufferPointer()),
         "other strengths than those of the engine");
  fixture.Count(state);
}

/** What a program on a device reports. */
struct DeviceResult
{
  double        kernelMilliseconds;
  std::uint64_t numberOfRounds;
};

using DeviceProgram = std::function<DeviceResult(const Job & job, std::uint32_t * keys)>;

/** The time is that of the kernels; "call" is the time of the whole call, from and to host memory. */
void
RegisterDeviceProgram(const std::string & name, const Case & thisCase, const DeviceProgram & program, bool isSlow,
                      bool isExact)
{
  RegisterManual(name + "/kernels", 1, [=](State & state) {
    RequireDevice();
    Fixture & fixture = GetFixture(thisCase);
    Job       job = fixture.job;
    job.execution = MakeExecution(allThreads);
    if (!isSlow)
    {
      // Kernels are loaded when they are first used.
      program(job, fixture.keys.data());
    }
    fixture.Spoil();
    DeviceResult result;
    for (auto _ : state)
    {
      state.counters["call"] = MeasureMilliseconds([&] { result = program(job, fixture.keys.data()); });
      state.SetIterationTime(1e-3 * result.kernelMilliseconds);
    }
    if (isExact)
    {
      fixture.VerifyKeys();
    }
    std::ostringstream seed;
    seed << "seed " << fixture.seedIndex;
    state.SetLabel(seed.str());
    state.counters["rounds"] = static_cast<double>(result.numberOfRounds);
    state.counters["wrong voxels"] = static_cast<double>(fixture.CountWrong());
    fixture.Count(state);
  });
}

void
RegisterCudaMethods(const Case & thisCase)
{
  for (const CudaMethod method : { CudaMethod::CorrectedKFOE, CudaMethod::Hierarchy })
  {
    const auto program = [method](const Job & job, std::uint32_t * keys) {
      voxelmaps::CudaFuzzyConnectednessOptions options;
      voxelmaps::CudaFuzzyConnectednessReport  report;
      options.method = method;
#ifdef VOXELMAPS_BENCHMARK_CUDA
      report = voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, options, keys);
#else
      static_cast<void>(job);
      static_cast<void>(keys);
#endif
      return DeviceResult{ report.kernelMilliseconds, report.numberOfIterations };
    };
    RegisterDeviceProgram(thisCase.name + ToName(method), thisCase, program, method == CudaMethod::CorrectedKFOE, true);
  }
}

/** The papers' programs have races: their wrong voxels are counted. */
void
RegisterPaperPrograms(const Case & thisCase)
{
  for (const auto paperProgram : { PaperProgram::Original, PaperProgram::Corrected })
  {
    const auto program = [paperProgram](const Job & job, std::uint32_t * keys) {
      PaperResult result{};
#ifdef VOXELMAPS_BENCHMARK_CUDA
      result = ComputePaperKFOE(job, paperProgram, keys);
#else
      static_cast<void>(job);
      static_cast<void>(keys);
#endif
      return DeviceResult{ result.kernelMilliseconds, result.numberOfIterations };
    };
    const std::string name = paperProgram == PaperProgram::Original ? "CUDA-kFOE" : "corrected CUDA-kFOE as printed";
    RegisterDeviceProgram(thisCase.name + name, thisCase, program, true, false);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables

/** Labels of a synthetic CT, all of which is reached: single voxels and cubes as seeds of five labels. */
struct LabelFixture
{
  using RelativeJob = voxelmaps::RelativeFuzzyConnectednessJob;
  using Competition = RelativeJob::Competition;
  using Hierarchy = voxelmaps::RelativeFuzzyConnectednessHierarchy;

  LabelFixture(Enums::Adjacency adjacency, Competition competition)
    : image(GetScene(sceneSize, 1).image)
  {
    Case everything;
    everything.size = sceneSize;
    everything.adjacency = adjacency;
    static_cast<voxelmaps::FuzzyConnectednessProblem &>(job) = Fixture(everything).job;
    job.seeds.clear();
    const auto & scene = GetScene(sceneSize, 1);
    const auto   corner = itk::Index<3>::Filled(3);
    const auto   middle = itk::Index<3>{ { static_cast<itk::IndexValueType>(sceneSize[0] / 2),
                                           static_cast<itk::IndexValueType>(sceneSize[1] / 5),
                                           static_cast<itk::IndexValueType>(sceneSize[2] / 2) } };
    for (const auto & center : { scene.vesselSeed, scene.liverSeed, scene.boneSeed, corner, middle })
    {
      AddCube(center, numberOfLabels == 0 ? 0 : 2);
    }
    job.competition = competition;
    job.execution = MakeExecution(allThreads);
    labels.resize(static_cast<std::size_t>(job.GetNumberOfVoxels()));
    expected.resize(labels.size());
    job.labelOutput = expected.data();
    voxelmaps::ComputeRelativeFuzzyConnectedness(job);
    job.labelOutput = labels.data();
  }

  /** Overwrite all labels, so that VerifyLabels finds what a program leaves out. */
  void
  Spoil()
  {
    std::fill(labels.begin(), labels.end(), std::uint8_t{ 77 });
  }
  void
  VerifyLabels() const
  {
    for (std::uint8_t label = 1; label <= numberOfLabels; ++label)
    {
      Verify(std::count(expected.begin(), expected.end(), label) > 0, "a label has no voxels");
    }
    Verify(labels == expected, "labels differ from those of the CPU without a hierarchy");
  }
  void
  Count(State & state) const
  {
    state.counters["per voxel"] = TimePer(static_cast<double>(labels.size()));
  }

  ImageType::ConstPointer   image;
  RelativeJob               job;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint8_t> expected;

private:
  void
  AddCube(const itk::Index<3> & center, int radius)
  {
    ++numberOfLabels;
    ImageType::RegionType cube(center, { { 1, 1, 1 } });
    cube.PadByRadius(static_cast<itk::OffsetValueType>(radius));
    cube.Crop(image->GetLargestPossibleRegion());
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> at(image, cube); !at.IsAtEnd(); ++at)
    {
      job.seeds.push_back(image->ComputeOffset(at.GetIndex()));
      job.labels.push_back(numberOfLabels);
    }
  }

  std::uint8_t numberOfLabels{ 0 };
};

/** Labels of all seeds, in three ways. */
enum class LabelTask
{
  Once,
  First, // with a hierarchy that is kept
  Other  // with a hierarchy that was kept for other seeds
};

struct LabelCase
{
  std::string               name;
  Enums::Adjacency          adjacency;
  LabelFixture::Competition competition;
  LabelTask                 task;
};

std::vector<LabelCase>
MakeLabelCases(const std::string & table)
{
  std::vector<LabelCase> cases;
  for (const auto adjacency : { Enums::Adjacency::Face, Enums::Adjacency::Full })
  {
    for (const auto competition : { LabelFixture::Competition::Relative, LabelFixture::Competition::Iterative })
    {
      const std::string name = table + "/" + ToName(competition) +
                               (adjacency == Enums::Adjacency::Face ? "/neighbors:6" : "/neighbors:26") + "/seeds:";
      cases.push_back({ name + "first", adjacency, competition, LabelTask::Once });
      cases.push_back({ name + "first, kept", adjacency, competition, LabelTask::First });
      cases.push_back({ name + "other", adjacency, competition, LabelTask::Other });
    }
  }
  return cases;
}

/** Call compute(job, hierarchy) for the seeds of a case, and before that, without measuring, for what it builds on.
 * afterEach() is called after what is measured. */
template <typename TCompute, typename TAfterEach>
void
RunLabelCase(State & state, const LabelCase & thisCase, const TCompute & compute, const TAfterEach & afterEach)
{
  LabelFixture            fixture(thisCase.adjacency, thisCase.competition);
  LabelFixture::Hierarchy hierarchy;
  if (thisCase.task == LabelTask::Other)
  {
    auto others = fixture.job;
    others.seeds.resize(1);
    others.labels.resize(1);
    compute(others, &hierarchy);
  }
  fixture.Spoil();
  for (auto _ : state)
  {
    if (thisCase.task == LabelTask::First)
    {
      state.PauseTiming();
      hierarchy.Release();
      state.ResumeTiming();
    }
    compute(fixture.job, thisCase.task == LabelTask::Once ? nullptr : &hierarchy);
    afterEach();
  }
  fixture.VerifyLabels();
  fixture.Count(state);
  if (thisCase.task != LabelTask::Once)
  {
    state.counters["kept bytes/voxel"] =
      static_cast<double>(hierarchy.GetMemory()) / static_cast<double>(fixture.labels.size());
  }
}

void
RegisterLabelsOnCpu()
{
  for (const LabelCase & thisCase : MakeLabelCases("labels-cpu"))
  {
    RegisterWall(WithThreads(thisCase.name, allThreads), [=](State & state) {
      const auto compute = [](const auto & job, LabelFixture::Hierarchy * hierarchy) {
        hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectedness(job, *hierarchy)
                             : voxelmaps::ComputeRelativeFuzzyConnectedness(job);
      };
      RunLabelCase(state, thisCase, compute, [] {});
    });
  }
}

/** The time is that of the kernels; "call" is the time of the whole call, from and to host memory. */
void
RegisterLabelsOnDevice()
{
  for (const LabelCase & thisCase : MakeLabelCases("labels-cuda"))
  {
    RegisterManual(thisCase.name + "/kernels", 1, [=](State & state) {
      RequireDevice();
      voxelmaps::CudaRelativeFuzzyConnectednessReport report;
      const auto compute = [&](const auto & job, LabelFixture::Hierarchy * hierarchy) {
        state.counters["call"] = MeasureMilliseconds([&] {
          report = hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, {}, *hierarchy)
                                        : voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, {});
        });
      };
      RunLabelCase(state, thisCase, compute, [&] {
        state.counters["rounds"] = static_cast<double>(report.numberOfIterations);
        state.SetIterationTime(1e-3 * report.kernelMilliseconds);
      });
    });
  }
  // Update() after a seed was added, into the same output.
  for (const auto competition : { LabelFixture::Competition::Relative, LabelFixture::Competition::Iterative })
  {
    RegisterWall("labels-cuda/" + ToName(competition) + "/neighbors:6/seeds:other/Update()", [=](State & state) {
      RequireDevice();
      using FilterType = itk::CudaRelativeFuzzyConnectednessImageFilter<ImageType>;
      const LabelFixture fixture(Enums::Adjacency::Face, competition);
      const auto         filter = MakeOnProcessor<FilterType>();
      filter->KeepHierarchyOn();
      filter->SetInput(fixture.image);
      filter->SetObjectMean(fixture.job.objectMean);
      filter->SetObjectVariance(fixture.job.objectVariance);
      filter->SetDifferenceVariance(fixture.job.differenceVariance);
      filter->SetCompetition(competition);
      for (std::size_t i = 0; i + 1 < fixture.job.seeds.size(); ++i)
      {
        filter->AddSeed(fixture.image->ComputeIndex(fixture.job.seeds[i]),
                        static_cast<unsigned char>(fixture.job.labels[i]));
      }
      filter->Update();
      for (auto _ : state)
      {
        filter->AddSeed(fixture.image->ComputeIndex(fixture.job.seeds.back()),
                        static_cast<unsigned char>(fixture.job.labels.back()));
        filter->Update();
      }
      Verify(std::equal(fixture.expected.begin(), fixture.expected.end(), filter->GetOutput()->GetBufferPointer()),
             "other labels than those of the engine");
      fixture.Count(state);
    });
  }
}

/** 1, 2, 4 ... and all. */
std::vector<unsigned int>
GetThreadCounts()
{
  if (isCheck)
  {
    return { 1, 2, allThreads };
  }
  std::vector<unsigned int> counts;
  for (unsigned int threads = 1; threads < allThreads; threads *= 2)
  {
    counts.push_back(threads);
  }
  counts.push_back(allThreads);
  return counts;
}

void
RegisterCpu()
{
  for (const Case & thisCase : MakeCases("connectedness-cpu"))
  {
    for (const CpuProgram & program : MakeCpuPrograms(thisCase, GetThreadCounts()))
    {
      RegisterCpuProgram(WithThreads(thisCase.name + program.name, program.threads), thisCase, program);
    }
    if (!thisCase.reachesEverything && (thisCase.adjacency == Enums::Adjacency::Face || isCheck))
    {
      RegisterWall(WithThreads(thisCase.name + "Filter", allThreads),
                   [=](State & state) { RunFilter<itk::FuzzyConnectednessImageFilter<ImageType>>(state, thisCase); });
    }
  }
}

void
RegisterCuda()
{
  for (const Case & thisCase : MakeCases("connectedness-cuda"))
  {
    RegisterCudaMethods(thisCase);
    if (!thisCase.reachesEverything && (thisCase.adjacency == Enums::Adjacency::Face || isCheck))
    {
      RegisterWall(thisCase.name + "CudaFilter/fresh", [=](State & state) {
        RequireDevice();
        RunFilter<itk::CudaFuzzyConnectednessImageFilter<ImageType>>(state, thisCase);
      });
    }
  }
}

/** Images of vectors, by the number of components. */
void
RegisterVectors()
{
  for (const unsigned int components : { 1, 3, 8 })
  {
    Case thisCase;
    thisCase.name = "connectedness-vectors/components:" + std::to_string(components) + "/";
    thisCase.size = sceneSize;
    thisCase.components = components;
    const CpuProgram program{ "Hierarchy", false, Method::Hierarchy, allThreads };
    RegisterCpuProgram(WithThreads(thisCase.name + program.name, program.threads), thisCase, program);
    RegisterCudaMethods(thisCase);
  }
}

/** Tables 1 to 3 of Li et al. 2016: three synthetic CTs of the sizes of theirs and three seeds each, from which all of
 * an image is reached. */
void
RegisterPapers()
{
  const std::vector<std::pair<std::string, Seed>> seeds{ { "vessel", Seed::Vessel },
                                                         { "liver", Seed::Liver },
                                                         { "bone", Seed::Bone } };
  std::uint64_t                                   randomSeed = 0;
  for (const itk::SizeValueType slices : { 155, 215, 175 })
  {
    ++randomSeed;
    for (const auto & seed : seeds)
    {
      Case thisCase;
      thisCase.size = { { 512, 512, slices } };
      thisCase.randomSeed = randomSeed;
      thisCase.seed = seed.second;
      thisCase.name = "connectedness-papers/512x512x" + std::to_string(slices) + "/" + seed.first + "/";
      RegisterPaperPrograms(thisCase);
      RegisterCudaMethods(thisCase);
    }
  }
}

/** Peak memory beside input and output, in bytes per voxel; there is no limit for the heap. */
void
RegisterProgramMemory()
{
  for (const Case & thisCase : MakeCases("memory"))
  {
    const bool isFace = thisCase.adjacency == Enums::Adjacency::Face;
    if (thisCase.minimumStrength > 0.0 || !(isFace || thisCase.reachesEverything))
    {
      continue;
    }
    for (const CpuProgram & program : MakeCpuPrograms(thisCase, { allThreads }))
    {
      const auto measure = [=] {
        lastFixture.reset();
        Fixture fixture(thisCase);
        PeakMemory::Reset();
        const double before = PeakMemory::GetResident();
        program.Compute(fixture.job, fixture.keys.data());
        return (PeakMemory::GetPeak() - before) / static_cast<double>(fixture.keys.size());
      };
      const double limit = program.isHeap ? std::numeric_limits<double>::infinity() : 12.0;
      RegisterMemory(WithThreads(thisCase.name + program.name, program.threads), "bytes/voxel", limit, measure);
    }
  }
}

bool
RegisterBenchmarks(int & argc, char ** argv)
{
  std::string size = isCheck ? "72,64,40" : "512,512,155";
  TakeOption(argc, argv, "--size", size);
  std::istringstream stream(size);
  char               comma[2] = {};
  stream >> sceneSize[0] >> comma[0] >> sceneSize[1] >> comma[1] >> sceneSize[2];
  Verify(stream && stream.peek() == EOF && comma[0] == ',' && comma[1] == ',',
         "--size is " + size + ", but must be x,y,z");
  benchmark::AddCustomContext("scene", "synthetic liver CT, " + size);
  RegisterProgramMemory();
  RegisterCpu();
  RegisterCuda();
  RegisterVectors();
  RegisterLabelsOnCpu();
  RegisterLabelsOnDevice();
  if (!isCheck)
  {
    RegisterPapers();
  }
  return true;
}
} // namespace

int
main(int argc, char * argv[])
{
  return RunProgram(argc, argv, RegisterBenchmarks);
}
