// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzedConnectednessJob.h"
#include "RelativeFuzzyConnectednessRandomCase.h"
#include "connectedness/cpu/RelativeHierarchy.h"

#include <algorithm>
#include <map>

// Valid and invalid jobs for the engine that lets labels compete: it must refuse those that its header excludes with an
// EngineError, and compute all others alike in all ways: with and without a hierarchy, with tiles of any size and any
// number of workers, and as the oracle does.
namespace
{
using namespace VoxelMapsFuzz;
using Job = voxelmaps::RelativeFuzzyConnectednessJob;
using voxelmaps::Triple;
using namespace VoxelMapsTest;
namespace Oracle = RelativeFuzzyConnectednessOracle;

/** Without image and mask. */
Job
ConsumeJob(FuzzedInput & data)
{
  Job        job;
  const auto problem = ConsumeConnectednessJob(data);
  static_cast<voxelmaps::FuzzyConnectednessProblem &>(job) = problem;
  // The other method is of strengths only.
  job.method = problem.method == "Hierarchy" ? problem.method : "";
  job.outputIsDouble = problem.outputIsDouble;
  job.competition = ConsumeEnumerator<Job::Competition>(data, 2);
  job.tieRule = ConsumeEnumerator<Job::TieRule>(data, 2);
  job.labelsAre16Bit = data.ConsumeBool();
  const std::int64_t voxels = std::max<std::int64_t>(1, CountVoxels(job.size));
  const auto         numberOfMoreSeeds = data.ConsumeIntegralInRange<std::uint8_t>(0, 12);
  for (std::uint8_t i = 0; i < numberOfMoreSeeds; ++i)
  {
    job.seeds.push_back(data.ConsumeIntegralInRange<std::int64_t>(0, voxels - 1));
  }
  const auto consumeLabel = [&data] {
    return ConsumeOneIn(data, 50) ? data.ConsumeIntegral<std::uint16_t>()
                                  : data.ConsumeIntegralInRange<std::uint16_t>(1, 4);
  };
  std::map<std::int64_t, std::uint16_t> labels;
  for (const std::int64_t seed : job.seeds)
  {
    const std::uint16_t label = consumeLabel();
    job.labels.push_back(ConsumeOneIn(data, 50) ? label : labels.emplace(seed, label).first->second);
  }
  if (ConsumeOneIn(data, 50))
  {
    job.labels.resize(data.ConsumeIntegralInRange<std::uint8_t>(0, 9), 1);
  }
  const auto consume = [&data](double usual) {
    return ConsumeOneIn(data, 16) ? ConsumeAnyDouble(data)
                                  : usual * data.ConsumeIntegralInRange<std::uint8_t>(1, 200) / 20.0;
  };
  const bool mayHaveAffinities = job.competition == Job::Competition::Relative || ConsumeOneIn(data, 16);
  for (std::uint8_t i = data.ConsumeIntegralInRange<std::uint8_t>(0, 2); mayHaveAffinities && i > 0; --i)
  {
    const auto label = consumeLabel();
    job.labelAffinities[label] = { { consume(30.0) }, { consume(300.0) }, { consume(3.0) }, { consume(100.0) } };
  }
  return job;
}

/** Whether the header of the job excludes it. */
bool
IsInvalid(const Job & job)
{
  std::map<std::int64_t, std::uint16_t> labels;
  bool isInvalid = IsInvalidProblem(job) || static_cast<std::uint8_t>(job.competition) > 1 ||
                   static_cast<std::uint8_t>(job.tieRule) > 1 || job.labels.size() != job.seeds.size() ||
                   (job.competition == Job::Competition::Iterative && !job.labelAffinities.empty());
  for (std::size_t i = 0; i < job.labels.size() && !isInvalid; ++i)
  {
    const std::uint16_t label = job.labels[i];
    isInvalid =
      label == 0 || (label > 255 && !job.labelsAre16Bit) || labels.emplace(job.seeds[i], label).first->second != label;
  }
  bool usesCommonAffinity = job.labelAffinities.empty();
  for (const std::uint16_t label : job.labels)
  {
    usesCommonAffinity = usesCommonAffinity || job.labelAffinities.count(label) == 0;
  }
  isInvalid = isInvalid || (usesCommonAffinity && IsInvalidAffinity(job.affinity, job.affinityFunction));
  for (const auto & affinity : job.labelAffinities)
  {
    isInvalid = isInvalid || IsInvalidAffinity(affinity.second, job.affinityFunction);
  }
  return isInvalid;
}

/** The outputs by the oracle. */
RelativeOutputs
ComputeExpected(const Job & job, const FuzzedImage & image)
{
  FuzzyConnectednessRandomCase randomCase;
  auto &                       scene = randomCase.scene;
  randomCase.pixelType = job.pixelType;
  scene.size = job.size;
  scene.spacing = job.spacing;
  scene.intensities = image.GetIntensities();
  scene.mask = job.mask == nullptr ? std::vector<std::uint8_t>() : image.GetMask();
  scene.seeds = job.seeds;
  scene.affinityFunction = job.affinityFunction;
  scene.affinity = job.affinity;
  scene.weight = job.weight;
  scene.adjacency = job.adjacency;
  scene.distanceWeighting = job.distanceWeighting;
  const auto strengths = Oracle::ComputeStrengths(
    scene, job.labels, [&job](std::uint16_t label, FuzzyConnectednessOracle::Scene & labelJob) {
      const auto found = job.labelAffinities.find(label);
      labelJob.affinity = found == job.labelAffinities.end() ? job.affinity : found->second;
    });
  return ExpectedOutputs(randomCase, job, strengths, job.outputIsDouble);
}

/** All ways to compute a valid job give the outputs. */
void
CheckOtherWays(Job job, const RelativeOutputs & expected, const RelativeRequest & request, const Triple & tileSize)
{
  const auto check = [&](const char * name, const auto & compute) {
    const auto comparison = AreSameOutputs(expected, RunRelativeJob(job, request, compute));
    if (!comparison)
    {
      Fail(std::string(name) + ": " + comparison.message());
    }
  };
  job.execution.numberOfWorkers = 3;
  job.execution.parallelFor = RunThreads;
  voxelmaps::RelativeFuzzyConnectednessHierarchy hierarchy;
  const auto                                     computeWithHierarchy = [&hierarchy](const Job & other) {
    voxelmaps::ComputeRelativeFuzzyConnectedness(other, hierarchy);
  };
  // Built for other seeds.
  const Job whole = job;
  job.seeds.resize(job.seeds.size() / 2);
  job.labels.resize(job.seeds.size());
  RunRelativeJob(job, request, computeWithHierarchy);
  job = whole;
  check("with a kept hierarchy", computeWithHierarchy);
  for (const bool isKept : { false, true })
  {
    check("with tiles", [isKept, &tileSize](const Job & other) {
      if (other.labelAffinities.empty())
      {
        voxelmaps::CpuRelativeHierarchy(other, isKept, tileSize).Compute(other);
      }
      else
      {
        voxelmaps::ComputeRelativeFuzzyConnectedness(other);
      }
    });
  }
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput           data(bytes, numberOfBytes);
  Job                   job = ConsumeJob(data);
  const RelativeRequest request{ job.labelsAre16Bit, job.outputIsDouble, data.ConsumeBool(), data.ConsumeBool() };
  Triple                tileSize;
  for (std::int64_t & size : tileSize)
  {
    size = data.ConsumeIntegralInRange<std::int64_t>(1, 7);
  }
  const FuzzedImage image(data, job);
  if (std::min({ job.size[0], job.size[1], job.size[2] }) < 0)
  {
    // No buffer has such a size.
    bool isRefused = false;
    try
    {
      voxelmaps::ComputeRelativeFuzzyConnectedness(job);
    }
    catch (const voxelmaps::EngineError &)
    {
      isRefused = true;
    }
    Require(isRefused, "a job of a negative size was computed");
    return 0;
  }
  const bool      isInvalid = IsInvalid(job);
  RelativeOutputs outputs;
  try
  {
    outputs =
      RunRelativeJob(job, request, [](const Job & other) { voxelmaps::ComputeRelativeFuzzyConnectedness(other); });
  }
  catch (const voxelmaps::EngineError & error)
  {
    if (!isInvalid)
    {
      Fail(std::string("a valid job was refused: ") + error.what());
    }
    return 0;
  }
  Require(!isInvalid, "an invalid job was computed");
  const auto comparison = AreSameOutputs(ComputeExpected(job, image), outputs);
  if (!comparison)
  {
    Fail(std::string("not as the oracle: ") + comparison.message());
  }
  if (CountVoxels(job.size) > 0)
  {
    CheckOtherWays(job, outputs, request, tileSize);
  }
  return 0;
}
