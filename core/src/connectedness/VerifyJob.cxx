// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/VerifyJob.h"

#include "common/Methods.h"
#include "connectedness/AffinityPlan.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace voxelmaps
{
namespace
{
// Numbers of voxels, and of bytes of their strengths, are computed with 64 bits.
constexpr double maxNumberOfVoxels = 0x1p59;

template <typename TValue>
void
Require(bool isValid, const char * name, const TValue & value, const char * rule)
{
  if (!isValid)
  {
    std::ostringstream message;
    message << "A job has " << name << ' ' << value << ", but " << rule << '.';
    throw EngineError(message.str());
  }
}

template <typename TEnum>
void
RequireEnumerator(TEnum value, TEnum last, const char * name)
{
  Require(value <= last, name, static_cast<int>(value), "there is no such enumerator");
}

// One for CPU and CUDA.
struct RelativeMethod
{
  const char *  name;
  MethodSupport support;
};
const std::vector<RelativeMethod> relativeMethods{ { "Hierarchy", MethodSupport::Full } };
} // namespace

std::vector<std::string>
GetMethods(const RelativeFuzzyConnectednessJob &)
{
  return GetNames(relativeMethods);
}

void
VerifyInput(const FuzzyConnectednessInput & input)
{
  double voxels = 1.0;
  for (const std::int64_t size : input.size)
  {
    Require(size >= 0, "an image of size", size, "no size is negative");
    voxels *= static_cast<double>(std::max<std::int64_t>(size, 1));
  }
  Require(voxels <= maxNumberOfVoxels, "a number of voxels of", voxels, "it must be at most 2^59");
  RequireEnumerator(input.pixelType, FuzzyConnectednessInput::PixelType::Double, "the pixel type");
  Require(input.numberOfComponents <= maxNumberOfComponents,
          "a number of components of",
          input.numberOfComponents,
          "it must be at most 16");
  const std::int64_t count = input.GetNumberOfVoxels();
  Require(count == 0 || input.image != nullptr, "an image at", "a null pointer", "it has voxels");
  for (const std::int64_t seed : input.seeds)
  {
    Require(seed >= 0 && seed < count, "a seed at voxel", seed, "that voxel is not in the image");
  }
}

std::string
DescribeImage(const FuzzyConnectednessInput & input)
{
  const std::string components =
    input.numberOfComponents > 0 ? " of " + std::to_string(input.numberOfComponents) + " components" : "";
  return "an image of " + std::to_string(input.size[0]) + " x " + std::to_string(input.size[1]) + " x " +
         std::to_string(input.size[2]) + " voxels" + components;
}

void
VerifySeedMask(std::int64_t seed, std::uint8_t mask)
{
  Require(mask != 0, "a seed at voxel", seed, "that voxel is outside the mask");
}

void
VerifyProblem(const FuzzyConnectednessProblem & problem, MemoryLocation maskLocation)
{
  VerifyInput(problem);
  if (problem.mask != nullptr && maskLocation == MemoryLocation::Host)
  {
    for (const std::int64_t seed : problem.seeds)
    {
      VerifySeedMask(seed, problem.mask[seed]);
    }
  }
  RequireEnumerator(
    problem.affinityFunction, FuzzyConnectednessProblem::AffinityFunction::AbsoluteDifference, "the affinity function");
  if (problem.distanceWeighting &&
      problem.affinityFunction == FuzzyConnectednessProblem::AffinityFunction::AbsoluteDifference)
  {
    throw EngineError("DistanceWeighting is on, but the AffinityFunction AbsoluteDifference has no weighting.");
  }
  RequireEnumerator(problem.adjacency, FuzzyConnectednessProblem::Adjacency::Full, "the adjacency");
  const auto verifyFraction = [](double fraction, const char * name) {
    if (!(fraction >= 0.0 && fraction <= 1.0))
    {
      std::ostringstream message;
      message << name << " is " << fraction << ", but must be 0 to 1.";
      throw EngineError(message.str());
    }
  };
  verifyFraction(problem.weight, "Weight");
  verifyFraction(problem.minimumStrength, "MinimumStrength");
}

void
VerifyJob(const FuzzyConnectednessJob & job, MemoryLocation maskLocation)
{
  VerifyProblem(job, maskLocation);
  VerifyAffinity(job.affinity, job.affinityFunction, job.GetAffinityLength(), "the affinity");
}

void
VerifyOutput(const FuzzyConnectednessJob & job)
{
  VerifyInput(job);
  Require(job.GetNumberOfVoxels() == 0 || job.output != nullptr, "an output at", "a null pointer", "it has voxels");
}

void
VerifyRelativeJob(const RelativeFuzzyConnectednessJob & job, MemoryLocation maskLocation)
{
  VerifyProblem(job, maskLocation);
  FindMethod(relativeMethods, job.method, DescribeImage(job));
  RequireEnumerator(job.competition, RelativeFuzzyConnectednessJob::Competition::Iterative, "the competition");
  RequireEnumerator(job.tieRule, RelativeFuzzyConnectednessJob::TieRule::Distance, "the tie rule");
  for (const double spacing : job.spacing)
  {
    Require(job.tieRule != RelativeFuzzyConnectednessJob::TieRule::Distance ||
              (spacing > 0.0 && std::isfinite(spacing)),
            "the tie rule Distance and a spacing of",
            spacing,
            "distances need positive, finite spacings");
  }
  Require(
    job.GetNumberOfVoxels() == 0 || job.labelOutput != nullptr, "labels at", "a null pointer", "there are voxels");
  if (!job.labelAffinities.empty() && job.competition != RelativeFuzzyConnectednessJob::Competition::Relative)
  {
    throw EngineError("Competition is Iterative, but labels have separate affinities, which need Relative.");
  }
  for (const auto & [label, affinity] : job.labelAffinities)
  {
    VerifyAffinity(
      affinity, job.affinityFunction, job.GetAffinityLength(), "the affinity of label " + std::to_string(label));
  }
  const auto hasOwnAffinity = [&job](std::uint16_t label) { return job.labelAffinities.count(label) > 0; };
  if (job.labelAffinities.empty() || !std::all_of(job.labels.begin(), job.labels.end(), hasOwnAffinity))
  {
    VerifyAffinity(job.affinity, job.affinityFunction, job.GetAffinityLength(), "the affinity");
  }
  // The engines number links with 32 bits, and seeds as well.
  const std::size_t neighbors = std::max<std::size_t>(MakeLinks(job).size() / 2, 1);
  Require(job.GetNumberOfVoxels() < std::int64_t{ 0xffffffff } / static_cast<std::int64_t>(neighbors),
          "a number of voxels of",
          job.GetNumberOfVoxels(),
          "there must be less than 2^32 links");
  Require(job.seeds.size() < 0xffffffffu, "a number of seeds of", job.seeds.size(), "it must be less than 2^32");
  Require(
    job.labels.size() == job.seeds.size(), "a number of labels of", job.labels.size(), "every seed must have one");
  const std::uint16_t maxLabel = job.labelsAre16Bit ? 65535 : 255;
  for (std::size_t i = 0; i < job.seeds.size(); ++i)
  {
    Require(job.labels[i] != 0 && job.labels[i] <= maxLabel,
            "a seed of label",
            job.labels[i],
            job.labelsAre16Bit ? "labels must be 1 to 65535" : "labels must be 1 to 255");
  }
  // Those of a seed image ascend.
  const auto doesNotAscend = [](std::int64_t a, std::int64_t b) { return a >= b; };
  if (std::adjacent_find(job.seeds.begin(), job.seeds.end(), doesNotAscend) == job.seeds.end())
  {
    return;
  }
  std::vector<std::pair<std::int64_t, std::uint16_t>> labels;
  for (std::size_t i = 0; i < job.seeds.size(); ++i)
  {
    labels.emplace_back(job.seeds[i], job.labels[i]);
  }
  std::sort(labels.begin(), labels.end());
  for (std::size_t i = 1; i < labels.size(); ++i)
  {
    Require(labels[i - 1].first != labels[i].first || labels[i - 1].second == labels[i].second,
            "seeds of several labels at voxel",
            labels[i].first,
            "a voxel may be a seed of one label only");
  }
}
} // namespace voxelmaps
