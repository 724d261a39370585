// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/AffinityPlan.h"
#include "common/ParallelFor.h"

#include <sstream>

namespace voxelmaps
{
AffinityTerms
MakeAffinityTerms(const FuzzyConnectednessProblem & problem)
{
  const DefaultFloatingPointEnvironment environment;
  using Function = FuzzyConnectednessProblem::AffinityFunction;
  const bool    sum = problem.affinityFunction == Function::WeightedSum;
  AffinityTerms terms{};
  terms.combination = sum                                                        ? Combination::WeightedSum
                      : problem.affinityFunction == Function::Minimum            ? Combination::Minimum
                      : problem.affinityFunction == Function::AbsoluteDifference ? Combination::Difference
                                                                                 : Combination::Product;
  terms.usesMean =
    problem.affinityFunction != Function::Homogeneity && problem.affinityFunction != Function::AbsoluteDifference;
  // Those of vectors are in VectorTerms.
  const auto first = [](const std::vector<double> & values) { return values.empty() ? 0.0 : values.front(); };
  terms.mean = first(problem.affinity.objectMean);
  // The square root of the geometric mean halves the logarithms.
  const double half = problem.affinityFunction == Function::GeometricMean ? 0.5 : 1.0;
  terms.meanFactor = logUnits * (half / (2.0 * first(problem.affinity.objectCovariance)));
  terms.difference = sum ? first(problem.affinity.differenceMean) : 0.0;
  terms.differenceScale = sum ? 1.0 : 0.5;
  terms.differenceFactor = logUnits * (half / (2.0 * first(problem.affinity.differenceCovariance)));
  // Both weights are integers, so that no sum exceeds 2^30.
  terms.meanWeight = std::floor(sumUnits * problem.weight + 0.5);
  terms.differenceWeight = sumUnits - terms.meanWeight;
  return terms;
}

std::vector<Link>
MakeLinks(const FuzzyConnectednessProblem & problem)
{
  const DefaultFloatingPointEnvironment environment;
  const int                             maxSteps = problem.adjacency == FuzzyConnectednessProblem::Adjacency::Face ? 1
                                                   : problem.adjacency == FuzzyConnectednessProblem::Adjacency::FaceEdge ? 2
                                                                                                                         : 3;
  const int                             depth = problem.size[2] > 1 ? 1 : 0;
  const double                          minSpacing = problem.size[2] > 1
                                                       ? std::min({ problem.spacing[0], problem.spacing[1], problem.spacing[2] })
                                                       : std::min(problem.spacing[0], problem.spacing[1]);

  // Squares of other spacings would underflow or overflow.
  constexpr double minAllowed = 1e-140;
  constexpr double maxAllowed = 1e140;
  const auto       isAllowed = [](double spacing) { return spacing >= minAllowed && spacing <= maxAllowed; };
  if (problem.distanceWeighting && !std::all_of(problem.spacing.begin(), problem.spacing.end(), isAllowed))
  {
    std::ostringstream message;
    message << "With DistanceWeighting, the spacing must be from " << minAllowed << " to " << maxAllowed
            << " along every axis, but is [" << problem.spacing[0] << ", " << problem.spacing[1] << ", "
            << problem.spacing[2] << "].";
    throw EngineError(message.str());
  }

  std::vector<Link> links;
  for (int z = -depth; z <= depth; ++z)
  {
    for (int y = -1; y <= 1; ++y)
    {
      for (int x = -1; x <= 1; ++x)
      {
        const int steps = std::abs(x) + std::abs(y) + std::abs(z);
        if (steps == 0 || steps > maxSteps)
        {
          continue;
        }
        Link link{ x, y, z, (z * problem.size[1] + y) * problem.size[0] + x, { 0, 0, std::uint64_t{ 1 } << 32 } };
        if (problem.distanceWeighting)
        {
          const double dx = x * problem.spacing[0];
          const double dy = y * problem.spacing[1];
          const double dz = z * problem.spacing[2];
          const double ratio = std::sqrt(dx * dx + dy * dy + dz * dz) / minSpacing;
          link.weight.cost = CostToInteger(logUnits * std::log(ratio));
          link.weight.factor = static_cast<std::uint64_t>(4294967296.0 / ratio + 0.5);
        }
        links.push_back(link);
      }
    }
  }
  // Methods with a stack visit the last neighbor first: those along x, which share a cache line, come last.
  std::stable_sort(
    links.begin(), links.end(), [](const Link & a, const Link & b) { return std::abs(a.stride) > std::abs(b.stride); });
  return links;
}

std::uint32_t
MinKey(const FuzzyConnectednessProblem & problem)
{
  const DefaultFloatingPointEnvironment environment;
  const Combination                     combination = MakeAffinityTerms(problem).combination;
  std::uint32_t                         below = noKey;
  std::uint32_t                         reaching = seedKey;
  while (reaching - below > 1)
  {
    const std::uint32_t middle = below + (reaching - below) / 2;
    if (KeyStrength(combination, middle) >= problem.minimumStrength)
    {
      reaching = middle;
    }
    else
    {
      below = middle;
    }
  }
  return reaching;
}
} // namespace voxelmaps
