// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzedConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include <algorithm>

// Valid and invalid jobs for the connectedness engine, and images for the estimate of its parameters: the engine must
// refuse those that its header excludes with an EngineError, compute all others, and write strengths in [0, 1] for
// every voxel and nothing else.
namespace
{
using namespace VoxelMapsFuzz;
using Job = voxelmaps::FuzzyConnectednessJob;
using VoxelMapsTest::HasSameBits;

/** Whether the header of the job excludes it. */
bool
IsInvalid(const Job & job)
{
  return IsInvalidProblem(job) || IsInvalidAffinity(job.affinity, job.affinityFunction);
}

template <typename TReal>
std::vector<TReal>
Compute(Job job)
{
  constexpr std::size_t guard = 16;
  constexpr TReal       untouched = -12345;
  std::vector<TReal>    buffer(static_cast<std::size_t>(CountVoxels(job.size)) + 2 * guard, untouched);
  job.output = buffer.data() + guard;
  const bool isInvalid = IsInvalid(job);
  try
  {
    const auto report = voxelmaps::ComputeFuzzyConnectedness(job);
    Require(!report.method.empty(), "the report names no method");
  }
  catch (const voxelmaps::EngineError & error)
  {
    if (!isInvalid)
    {
      Fail(std::string("a valid job was refused: ") + error.what());
    }
    return {};
  }
  Require(!isInvalid, "an invalid job was computed");
  const auto isUntouched = [](TReal value) { return value == untouched; };
  Require(std::all_of(buffer.begin(), buffer.begin() + guard, isUntouched), "wrote before the output");
  Require(std::all_of(buffer.end() - guard, buffer.end(), isUntouched), "wrote after the output");
  const std::vector<TReal> result(buffer.begin() + guard, buffer.end() - guard);
  Require(std::all_of(result.begin(), result.end(), [](TReal value) { return value >= 0 && value <= 1; }),
          "a strength is not in [0, 1]");
  for (const std::int64_t seed : job.seeds)
  {
    Require(result[static_cast<std::size_t>(seed)] == 1, "the strength of a seed is not 1");
  }
  return result;
}

template <typename TReal>
void
Check(Job job, std::uint8_t otherMethod)
{
  const std::vector<TReal> result = Compute<TReal>(job);
  if (result.empty())
  {
    return;
  }
  // All that must not matter.
  const auto methods = voxelmaps::GetMethods(job);
  job.method = methods[otherMethod % methods.size()];
  job.execution.numberOfWorkers = 1;
  std::reverse(job.seeds.begin(), job.seeds.end());
  Require(HasSameBits(result, Compute<TReal>(job)), "another way to compute the job gives another result");
}

void
CheckEstimate(const Job & job, unsigned int radius)
{
  try
  {
    const auto estimate = voxelmaps::EstimateAffinity(job, { job.affinityFunction, radius }, job.execution);
    Require(!IsInvalidInput(job), "the estimate of an invalid input was computed");
    Require(estimate.numberOfVoxels >= 0 &&
              estimate.numberOfVoxels <= CountVoxels(job.size) * static_cast<std::int64_t>(job.seeds.size()),
            "the estimate uses more voxels than there are");
    for (const auto & variances : { estimate.affinity.objectCovariance, estimate.affinity.differenceCovariance })
    {
      Require(variances.empty() || !(variances[0] < 0.0), "a variance is negative");
    }
  }
  catch (const voxelmaps::EngineError &)
  {
    // Also that of a region without a spread.
  }
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput data(bytes, numberOfBytes);
  Job         job = ConsumeConnectednessJob(data);
  const auto  otherMethod = data.ConsumeIntegralInRange<std::uint8_t>(0, 2);
  const auto  radius =
    ConsumeOneIn(data, 16) ? ConsumeAnyInteger<unsigned int>(data) : data.ConsumeIntegralInRange<unsigned int>(0, 4);
  const FuzzedImage image(data, job);
  CheckEstimate(job, radius);
  if (job.outputIsDouble)
  {
    Check<double>(job, otherMethod);
  }
  else
  {
    Check<float>(job, otherMethod);
  }
  return 0;
}
