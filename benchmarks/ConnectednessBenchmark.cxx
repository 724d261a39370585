// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Benchmark.h"
#include "SyntheticImages.h"
#include "baselines/HeapConnectedness.h"
#include "connectedness/ConnectednessKeyEngines.h"

#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include <memory>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsBenchmarks;
using Job = voxelmaps::FuzzyConnectednessJob;
using Adjacency = Job::Adjacency;
// Programs are compared by the keys that strengths are computed from: see ConnectednessKeys.h.
using Keys = std::vector<std::uint32_t>;

Triple sceneSize{ { 512, 512, 155 } };

const std::vector<std::int16_t> &
GetCT()
{
  static const auto image = MakeCT(sceneSize);
  return image;
}

/** The number of the voxel at a position from -1 to 1. */
std::int64_t
GetVoxel(const double (&position)[3])
{
  std::int64_t index[3];
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    index[axis] = static_cast<std::int64_t>((position[axis] + 1.0) / 2.0 * static_cast<double>(sceneSize[axis]));
  }
  return index[0] + sceneSize[0] * (index[1] + sceneSize[1] * index[2]);
}

struct Case
{
  /** "vessel" and "liver" estimate the affinity around a seed there; with "everything", the seed reaches all voxels;
   * "noise" is an image of vectors, all of which is reached. */
  std::string  object;
  Adjacency    adjacency{ Adjacency::Face };
  double       minimumStrength{ 0.0 };
  unsigned int components{ 0 };

  std::string
  GetName() const
  {
    return "connectedness/" + object + (components > 0 ? ",components:" + ToText(components) : "") +
           (adjacency == Adjacency::Face ? "/neighbors:6" : "/neighbors:26") + "/minimum:" + ToText(minimumStrength);
  }
};

/** The affinity is wide enough that none is so small that it counts as 0, as those of air are for a vessel. */
void
ReachEverything(voxelmaps::FuzzyConnectednessProblem & problem)
{
  problem.image = GetCT().data();
  problem.pixelType = Job::PixelType::Int16;
  problem.size = sceneSize;
  problem.affinity.objectMean = { 110.0 };
  problem.affinity.objectCovariance = { 200.0 * 200.0 };
  problem.affinity.differenceCovariance = { 50.0 * 50.0 };
}

/** A job with its image, and the keys of Hierarchy on the CPU with all threads. */
struct Fixture
{
  explicit Fixture(const Case & thisCase)
  {
    ReachEverything(job);
    job.seeds = { GetVoxel(thisCase.object == "vessel" ? ctVessel : ctLiver) };
    job.adjacency = thisCase.adjacency;
    job.minimumStrength = thisCase.minimumStrength;
    if (thisCase.components > 0)
    {
      this->MakeNoise(thisCase.components);
    }
    else if (thisCase.object != "everything")
    {
      job.affinity = voxelmaps::EstimateAffinity(job, {}, {}).affinity;
    }
    keys.resize(static_cast<std::size_t>(job.GetNumberOfVoxels()));
    expected.resize(keys.size());
    job.method = "Hierarchy";
    job.execution = MakeExecution(allThreads);
    voxelmaps::ComputeFuzzyConnectednessKeys(job, expected.data());
  }

  /** Vectors of 40 levels, with components that depend on each other in the affinity. */
  void
  MakeNoise(std::size_t n)
  {
    vectors.resize(n * static_cast<std::size_t>(GetNumberOfVoxels(sceneSize)));
    for (std::size_t i = 0; i < vectors.size(); ++i)
    {
      vectors[i] = static_cast<std::uint8_t>(110.0 + 20.0 * Noise(i));
    }
    job.image = vectors.data();
    job.pixelType = Job::PixelType::UInt8;
    job.numberOfComponents = static_cast<unsigned int>(n);
    job.affinity.objectMean.assign(n, 110.0);
    job.affinity.objectCovariance.assign(n * n, 20.0);
    job.affinity.differenceCovariance.assign(n * n, 10.0);
    for (std::size_t i = 0; i < n; ++i)
    {
      job.affinity.objectCovariance[i * n + i] = 200.0;
      job.affinity.differenceCovariance[i * n + i] = 100.0;
    }
  }

  void
  Finish(State & state) const
  {
    const auto reached =
      keys.size() - static_cast<std::size_t>(std::count(expected.begin(), expected.end(), voxelmaps::noKey));
    Verify(reached > 1, "only the seed is reached");
    Verify(keys == expected, "differs from Hierarchy on the CPU");
    state.counters["reached"] = static_cast<double>(reached) / static_cast<double>(keys.size());
    CountVoxels(state, job.GetNumberOfVoxels());
  }

  std::vector<std::uint8_t> vectors;
  Job                       job;
  Keys                      keys;
  Keys                      expected;
};

/** Benchmarks of one case run one after the other and share its fixture, whose keys are overwritten here, so that
 * voxels that a program leaves out are wrong. */
Fixture &
GetFixture(const Case & thisCase)
{
  static std::string              lastName;
  static std::unique_ptr<Fixture> last;
  if (lastName != thisCase.GetName())
  {
    last.reset();
    last = std::make_unique<Fixture>(thisCase);
    lastName = thisCase.GetName();
  }
  std::fill(last->keys.begin(), last->keys.end(), ~std::uint32_t{ 0 });
  return *last;
}

using CpuProgram = std::function<void(Job &, std::uint32_t * keys)>;

void
RegisterCpu(const Case & thisCase, const std::string & name, unsigned int threads, const CpuProgram & program)
{
  RegisterWall(thisCase.GetName() + "/" + name + "/threads:" + ToText(threads), [=](State & state) {
    Fixture & fixture = GetFixture(thisCase);
    Job       job = fixture.job;
    job.execution = MakeExecution(threads);
    for (auto _ : state)
    {
      program(job, fixture.keys.data());
    }
    fixture.Finish(state);
  });
}

CpuProgram
WithMethod(const std::string & method)
{
  return [method](Job & job, std::uint32_t * keys) {
    job.method = method;
    voxelmaps::ComputeFuzzyConnectednessKeys(job, keys);
  };
}

/** Returns the milliseconds of the kernels. */
using DeviceProgram = std::function<double(const Job &, std::uint32_t * keys)>;

void
RegisterDevice(const Case & thisCase, const std::string & name, const DeviceProgram & program)
{
  Register(thisCase.GetName() + "/" + name, [=](State & state) {
    RequireDevice();
    Fixture & fixture = GetFixture(thisCase);
    RunKernels(state, [&] { return program(fixture.job, fixture.keys.data()); });
    fixture.Finish(state);
  })->UseManualTime();
}

void
RegisterCase(const Case & thisCase)
{
  // It is too slow for the links of 26 neighbors.
  if (thisCase.components == 0 && thisCase.adjacency == Adjacency::Face)
  {
    RegisterCpu(thisCase, "Heap", 1, ComputeHeapConnectedness<std::int16_t>);
  }
  if (thisCase.components == 0)
  {
    RegisterCpu(thisCase, "Buckets", 1, WithMethod("Buckets"));
  }
  for (unsigned int threads = 1; threads < allThreads; threads *= 2)
  {
    RegisterCpu(thisCase, "Hierarchy", threads, WithMethod("Hierarchy"));
  }
  RegisterCpu(thisCase, "Hierarchy", allThreads, WithMethod("Hierarchy"));
  for (const std::string method : { "Hierarchy", "CorrectedKFOE" })
  {
    RegisterDevice(thisCase, "Cuda" + method, [=](Job job, std::uint32_t * keys) {
      job.method = method;
      return voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, {}, keys).kernelMilliseconds;
    });
  }
}

// --- Labels ----------------------------------------------------------------------------------------------------------

using LabelJob = voxelmaps::RelativeFuzzyConnectednessJob;
using Hierarchy = voxelmaps::RelativeFuzzyConnectednessHierarchy;

/** Five labels that share all voxels, each with a voxel and its neighbors along x as seeds. */
struct LabelFixture
{
  LabelFixture(Adjacency adjacency, LabelJob::Competition competition)
  {
    ReachEverything(job);
    job.adjacency = adjacency;
    job.competition = competition;
    std::uint8_t label = 0;
    for (const auto & position : { GetVoxel(ctVessel),
                                   GetVoxel(ctLiver),
                                   GetVoxel(ctBone),
                                   GetVoxel({ -0.9, -0.9, -0.9 }),
                                   GetVoxel({ 0.4, 0.0, 0.0 }) })
    {
      ++label;
      for (std::int64_t x = -1; x <= 1; ++x)
      {
        job.seeds.push_back(position + x);
        job.labels.push_back(label);
      }
    }
    job.execution = MakeExecution(allThreads);
    labels.resize(static_cast<std::size_t>(job.GetNumberOfVoxels()));
    expected.resize(labels.size());
    job.labelOutput = expected.data();
    voxelmaps::ComputeRelativeFuzzyConnectedness(job);
    job.labelOutput = labels.data();
  }

  LabelJob                  job;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint8_t> expected;
};

/** A first run, and one for other seeds with the hierarchy of a run before. */
void
RegisterLabels(Adjacency adjacency, LabelJob::Competition competition, bool isOnDevice, bool isUpdate)
{
  const std::string name = "labels/" + ToText(competition) +
                           (adjacency == Adjacency::Face ? "/neighbors:6" : "/neighbors:26") +
                           (isUpdate ? "/other seeds" : "/first run") + (isOnDevice ? "/Cuda" : "/CPU");
  const auto run = [=](State & state) {
    if (isOnDevice)
    {
      RequireDevice();
    }
    LabelFixture fixture(adjacency, competition);
    Hierarchy    hierarchy;
    const auto   compute = [&](const LabelJob & job) {
      if (!isUpdate)
      {
        hierarchy.Release();
      }
      if (isOnDevice)
      {
        return voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, {}, hierarchy).kernelMilliseconds;
      }
      voxelmaps::ComputeRelativeFuzzyConnectedness(job, hierarchy);
      return 0.0;
    };
    if (isUpdate)
    {
      LabelJob before = fixture.job;
      before.seeds.resize(1);
      before.labels.resize(1);
      compute(before);
    }
    std::fill(fixture.labels.begin(), fixture.labels.end(), std::uint8_t{ 77 });
    if (isOnDevice)
    {
      RunKernels(state, [&] { return compute(fixture.job); });
    }
    else
    {
      for (auto _ : state)
      {
        compute(fixture.job);
      }
    }
    Verify(fixture.labels == fixture.expected, "labels differ from those of the CPU without a hierarchy");
    state.counters["hierarchy, bytes per voxel"] =
      static_cast<double>(hierarchy.GetMemory()) / static_cast<double>(fixture.labels.size());
    CountVoxels(state, fixture.job.GetNumberOfVoxels());
  };
  isOnDevice ? static_cast<void>(Register(name, run)->UseManualTime()) : RegisterWall(name, run);
}

void
RegisterBenchmarks(int & argc, char ** argv)
{
  sceneSize = TakeSize(argc, argv, sceneSize);
  for (const auto adjacency : { Adjacency::Face, Adjacency::Full })
  {
    for (const std::string object : { "everything", "liver", "vessel" })
    {
      for (const double minimum : { 0.0, 0.5 })
      {
        RegisterCase({ object, adjacency, minimum });
      }
    }
    for (const auto competition : { LabelJob::Competition::Relative, LabelJob::Competition::Iterative })
    {
      for (const bool isOnDevice : { false, true })
      {
        RegisterLabels(adjacency, competition, isOnDevice, false);
        RegisterLabels(adjacency, competition, isOnDevice, true);
      }
    }
  }
  for (const unsigned int components : { 1u, 3u, 8u })
  {
    RegisterCase({ "noise", Adjacency::Face, 0.0, components });
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  return RunProgram(argc, argv, RegisterBenchmarks);
}
