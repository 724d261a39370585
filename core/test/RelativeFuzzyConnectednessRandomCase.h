// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RelativeFuzzyConnectednessRandomCase_h
#define RelativeFuzzyConnectednessRandomCase_h

#include "FuzzyConnectednessRandomCase.h"
#include "RelativeFuzzyConnectednessOracle.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace VoxelMapsTest
{
using RelativeJob = voxelmaps::RelativeFuzzyConnectednessJob;

/** The outputs of a job; those that were not asked for are empty. Labels have 16 bits, whatever the job has. */
struct RelativeOutputs
{
  std::vector<std::uint16_t> labels;
  std::vector<double>        strengths;
  std::vector<double>        margins;
};

/** Which outputs to ask for, and of which types. */
struct RelativeRequest
{
  bool labelsAre16Bit{ true };
  bool realsAreDouble{ true };
  bool wantsStrengths{ true };
  bool wantsMargins{ true };
};

/** The outputs that compute(job) writes for a job; expect that it writes nothing else. */
template <typename TLabel, typename TReal>
RelativeOutputs
RunTypedRelativeJob(RelativeJob job, const RelativeRequest & request,
                    const std::function<void(const RelativeJob &)> & compute)
{
  const auto            count = static_cast<std::size_t>(job.GetNumberOfVoxels());
  GuardedOutput<TLabel> labels(count, TLabel{ 201 });
  GuardedOutput<TReal>  strengths(request.wantsStrengths ? count : 0, TReal{ -7 });
  GuardedOutput<TReal>  margins(request.wantsMargins ? count : 0, TReal{ -7 });
  job.labelOutput = labels.data();
  job.labelsAre16Bit = sizeof(TLabel) == 2;
  job.strengthOutput = request.wantsStrengths ? strengths.data() : nullptr;
  job.marginOutput = request.wantsMargins ? margins.data() : nullptr;
  job.outputIsDouble = std::is_same<TReal, double>::value;
  compute(job);
  const auto convert = [](auto to, const auto & from) {
    const auto values = from.Get();
    to.assign(values.begin(), values.end());
    return to;
  };
  using Reals = std::vector<double>;
  return { convert(std::vector<std::uint16_t>(), labels), convert(Reals(), strengths), convert(Reals(), margins) };
}

inline RelativeOutputs
RunRelativeJob(const RelativeJob & job, const RelativeRequest & request,
               const std::function<void(const RelativeJob &)> & compute)
{
  return request.labelsAre16Bit
           ? (request.realsAreDouble ? RunTypedRelativeJob<std::uint16_t, double>(job, request, compute)
                                     : RunTypedRelativeJob<std::uint16_t, float>(job, request, compute))
           : (request.realsAreDouble ? RunTypedRelativeJob<std::uint8_t, double>(job, request, compute)
                                     : RunTypedRelativeJob<std::uint8_t, float>(job, request, compute));
}

/** The job of a case and the labels of its seeds, computed by so many workers. */
inline RelativeJob
MakeRelativeJob(const FuzzyConnectednessRandomCase & randomCase, const std::vector<std::uint16_t> & labels,
                unsigned int numberOfWorkers = 1)
{
  RelativeJob job;
  static_cast<voxelmaps::FuzzyConnectednessProblem &>(job) = MakeFuzzyConnectednessJob(randomCase);
  job.labels = labels;
  job.execution.numberOfWorkers = numberOfWorkers;
  job.execution.parallelFor = RunThreads;
  return job;
}

/** Call check() for every competition and tie rule, set in a job. */
template <typename TCheck>
void
ForEachRule(RelativeJob & job, const TCheck & check)
{
  for (const auto competition : { RelativeJob::Competition::Relative, RelativeJob::Competition::Iterative })
  {
    for (const auto tieRule :
         { RelativeJob::TieRule::Background, RelativeJob::TieRule::LowestLabel, RelativeJob::TieRule::Distance })
    {
      SCOPED_TRACE(::testing::Message() << competition << ", " << tieRule);
      job.competition = competition;
      job.tieRule = tieRule;
      check();
    }
  }
}

/** A label for every seed, the same for seeds of the same voxel: any numbers up to a maximum, of up to 40 labels. */
inline std::vector<std::uint16_t>
DrawLabels(const std::vector<std::int64_t> & seeds, std::int64_t maxLabel, RandomNumbers & random)
{
  std::vector<std::uint16_t> choices;
  const std::int64_t         count = random.OneOf<std::int64_t>({ 1, 2, 2, 3, 5, random.Between(1, 40) });
  for (std::int64_t i = 0; i < count; ++i)
  {
    choices.push_back(static_cast<std::uint16_t>(random.Chance(0.5) ? i + 1 : random.Between(1, maxLabel)));
  }
  std::map<std::int64_t, std::uint16_t> voxelLabels;
  std::vector<std::uint16_t>            labels;
  for (const std::int64_t seed : seeds)
  {
    labels.push_back(voxelLabels.emplace(seed, random.OneOf(choices)).first->second);
  }
  return labels;
}

/** What a job must give by the oracle. The iteration takes long, so its labels are only known if asked for. */
inline RelativeOutputs
ExpectedOutputs(const FuzzyConnectednessRandomCase & randomCase, const RelativeJob & job,
                const RelativeFuzzyConnectednessOracle::Strengths & strengths, bool realsAreDouble)
{
  namespace Oracle = RelativeFuzzyConnectednessOracle;
  using Competition = RelativeJob::Competition;
  using TieRule = RelativeJob::TieRule;
  RelativeOutputs expected;
  const auto      oneObject = MakeFuzzyConnectednessJob(randomCase);
  expected.strengths = ConvertToStrengths<double>(oneObject, strengths.first);
  std::vector<bool> counts;
  for (std::size_t voxel = 0; voxel < expected.strengths.size(); ++voxel)
  {
    counts.push_back(strengths.first[voxel] != 0 && expected.strengths[voxel] >= job.minimumStrength);
  }
  // Those of ties by distance are not positive.
  std::vector<double> marginsOfTies(counts.size(), 1.0);
  expected.labels = job.tieRule == TieRule::Distance
                      ? Oracle::ComputeNearest(randomCase.scene, job.labels, strengths, counts, &marginsOfTies)
                    : job.competition == Competition::Relative ? Oracle::ComputeRelative(strengths, job.tieRule)
                    : job.tieRule == TieRule::Background
                      ? Oracle::ComputeIterative(randomCase.scene, job.labels, strengths)
                      : Oracle::ComputeLowestIterative(randomCase.scene, job.labels, strengths);
  const auto others = ConvertToStrengths<double>(oneObject, strengths.second);
  for (std::size_t voxel = 0; voxel < others.size(); ++voxel)
  {
    if (expected.strengths[voxel] < job.minimumStrength)
    {
      expected.labels[voxel] = 0;
      expected.strengths[voxel] = 0.0;
    }
    expected.margins.push_back(marginsOfTies[voxel] <= 0.0        ? marginsOfTies[voxel]
                               : expected.strengths[voxel] == 0.0 ? 0.0
                                                                  : expected.strengths[voxel] - others[voxel]);
    if (!realsAreDouble)
    {
      expected.strengths[voxel] = static_cast<float>(expected.strengths[voxel]);
      expected.margins[voxel] = static_cast<float>(expected.margins[voxel]);
    }
  }
  return expected;
}

/** Whether the outputs that were asked for are equal; the message names the first that is not. */
inline ::testing::AssertionResult
AreSameOutputs(const RelativeOutputs & expected, const RelativeOutputs & actual)
{
  const auto compare = [](const char * name, const auto & a, const auto & b) -> ::testing::AssertionResult {
    for (std::size_t voxel = 0; voxel < b.size(); ++voxel)
    {
      if (!(a[voxel] == b[voxel]))
      {
        return ::testing::AssertionFailure()
               << "voxel " << voxel << " has the " << name << ' ' << b[voxel] << " instead of " << a[voxel];
      }
    }
    return ::testing::AssertionSuccess();
  };
  const auto labels = compare("label", expected.labels, actual.labels);
  const auto strengths = compare("strength", expected.strengths, actual.strengths);
  const auto margins = compare("margin", expected.margins, actual.margins);
  return !labels ? labels : !strengths ? strengths : margins;
}
} // namespace VoxelMapsTest

#endif // RelativeFuzzyConnectednessRandomCase_h
