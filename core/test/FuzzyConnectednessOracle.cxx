// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessOracle.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

namespace FuzzyConnectednessOracle
{
namespace
{
/** The part of a link's affinity that depends on its length. */
struct Step
{
  Triple        by;
  std::uint64_t cost;   // in units of 2^-24
  std::uint64_t factor; // in units of 2^-32
};

double
LengthRatio(const Scene & scene, const Triple & step)
{
  double squares = 0.0;
  double minSpacing = scene.spacing[0];
  for (int d = 0; d < 3; ++d)
  {
    const double length = static_cast<double>(step[d]) * scene.spacing[d];
    squares += length * length;
    // An image of one slice has no spacing between slices.
    if (d < 2 || scene.size[2] > 1)
    {
      minSpacing = std::min(minSpacing, scene.spacing[d]);
    }
  }
  return std::sqrt(squares) / minSpacing;
}

std::uint64_t
RoundCost(double cost)
{
  return cost < fullAffinity ? static_cast<std::uint64_t>(std::floor(cost + 0.5)) : fullAffinity;
}

Step
MakeStep(const Scene & scene, const Triple & by)
{
  Step step{ by, 0, std::uint64_t{ 1 } << 32 };
  if (scene.distanceWeighting)
  {
    const double ratio = LengthRatio(scene, by);
    step.cost = RoundCost(std::log(ratio) * 0x1p24);
    step.factor = static_cast<std::uint64_t>(std::floor(0x1p32 / ratio + 0.5));
  }
  return step;
}

std::uint32_t
DistanceKey(double distance)
{
  // Floats that are not negative are ordered like their bits.
  const double largest = std::numeric_limits<float>::max();
  const auto   rounded = static_cast<float>(std::min(distance, largest));
  std::int32_t bits = 0;
  std::memcpy(&bits, &rounded, sizeof(bits));
  return fullAffinity - static_cast<std::uint32_t>(bits);
}

/** Number of elements of an intensity. */
unsigned int
GetLength(const Scene & scene)
{
  return std::max(scene.components, 1u);
}

/** Key of the costs of mean and difference, and of the length of the link. */
std::uint32_t
CostKey(const Scene & scene, double cost1, double cost2, const Step & step)
{
  if (scene.affinityFunction == AffinityFunction::WeightedSum)
  {
    const double weight1 = std::floor(0x1p30 * scene.weight + 0.5);
    const double weight2 = 0x1p30 - weight1;
    const auto   term1 = static_cast<std::uint64_t>(std::floor(weight1 * NegativeExponential(cost1 * 0x1p-24) + 0.5));
    const auto   term2 = static_cast<std::uint64_t>(std::floor(weight2 * NegativeExponential(cost2 * 0x1p-24) + 0.5));
    return static_cast<std::uint32_t>((term1 + term2) * step.factor / (std::uint64_t{ 1 } << 32));
  }
  std::uint64_t cost = step.cost;
  switch (scene.affinityFunction)
  {
    case AffinityFunction::Minimum:
      cost += std::max(RoundCost(cost1), RoundCost(cost2));
      break;
    case AffinityFunction::Homogeneity:
      cost += RoundCost(cost2);
      break;
    default:
      cost += RoundCost(cost1) + RoundCost(cost2);
  }
  return cost >= fullAffinity ? notReached : static_cast<std::uint32_t>(fullAffinity - cost);
}

/** Cost of a vector relative to the mean, with a covariance matrix. */
double
VectorCost(const std::vector<double> & x, const std::vector<double> & covariance, double half)
{
  using Row = std::vector<double>;
  const std::size_t n = x.size();
  std::vector<Row>  l(n, Row(n, 0.0));
  Row               d(n, 0.0);
  Row               z(n, 0.0);
  double            cost = 0.0;
  for (std::size_t i = 0; i < n; ++i)
  {
    Row scaled(n, 0.0); // L[i][j] D[j]
    d[i] = covariance[i * n + i];
    z[i] = x[i];
    for (std::size_t j = 0; j < i; ++j)
    {
      scaled[j] = covariance[i * n + j];
      for (std::size_t k = 0; k < j; ++k)
      {
        scaled[j] -= scaled[k] * l[j][k];
      }
      l[i][j] = scaled[j] / d[j];
      d[i] -= scaled[j] * l[i][j];
      z[i] -= l[i][j] * z[j];
    }
    cost += z[i] * z[i] * (0x1p24 * (half / (2.0 * d[i])));
  }
  return cost;
}

std::uint32_t
StepKey(const Scene & scene, const double * a, const double * b, const Step & step)
{
  const bool isSum = scene.affinityFunction == AffinityFunction::WeightedSum;
  const bool usesMean = scene.affinityFunction != AffinityFunction::Homogeneity &&
                        scene.affinityFunction != AffinityFunction::AbsoluteDifference;
  std::vector<double> fromMean;
  std::vector<double> difference;
  double              squares = 0.0;
  for (unsigned int i = 0; i < GetLength(scene); ++i)
  {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
    {
      return notReached;
    }
    squares += (a[i] - b[i]) * (a[i] - b[i]);
    fromMean.push_back((a[i] + b[i]) * 0.5 - (usesMean ? scene.affinity.objectMean[i] : 0.0));
    difference.push_back(isSum ? std::abs(a[i] - b[i]) - scene.affinity.differenceMean[i] : (a[i] - b[i]) * 0.5);
  }
  if (scene.affinityFunction == AffinityFunction::AbsoluteDifference)
  {
    return DistanceKey(std::sqrt(squares));
  }
  const double half = scene.affinityFunction == AffinityFunction::GeometricMean ? 0.5 : 1.0;
  return CostKey(scene,
                 usesMean ? VectorCost(fromMean, scene.affinity.objectCovariance, half) : 0.0,
                 VectorCost(difference, scene.affinity.differenceCovariance, half),
                 step);
}

/** Steps to half of the neighbors, those that come later in memory. */
std::vector<Step>
MakeStepsForward(const Scene & scene)
{
  const std::int64_t maxSteps = scene.adjacency == Adjacency::Face ? 1 : scene.adjacency == Adjacency::FaceEdge ? 2 : 3;
  std::vector<Step>  steps;
  for (std::int64_t number = 14; number < 27; ++number)
  {
    const Triple by{ { number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1 } };
    // No link of an image of one slice leaves it, and the spacing between slices may be less than the others.
    const bool isInImage = by[2] == 0 || scene.size[2] > 1;
    if (isInImage && std::abs(by[0]) + std::abs(by[1]) + std::abs(by[2]) <= maxSteps)
    {
      steps.push_back(MakeStep(scene, by));
    }
  }
  return steps;
}

/** x^T C^-1 x. */
long double
SquaredMahalanobisDistance(std::vector<long double> x, const std::vector<double> & covariance)
{
  const std::size_t              n = x.size();
  std::vector<long double>       matrix(covariance.begin(), covariance.end());
  const std::vector<long double> original = x;
  for (std::size_t k = 0; k < n; ++k)
  {
    for (std::size_t i = 0; i < n; ++i)
    {
      if (i != k)
      {
        const long double factor = matrix[i * n + k] / matrix[k * n + k];
        for (std::size_t j = k; j < n; ++j)
        {
          matrix[i * n + j] -= factor * matrix[k * n + j];
        }
        x[i] -= factor * x[k];
      }
    }
  }
  long double result = 0.0L;
  for (std::size_t i = 0; i < n; ++i)
  {
    result += original[i] * x[i] / matrix[i * n + i];
  }
  return result;
}
} // namespace

double
NegativeExponential(double x)
{
  if (!(x < 700.0))
  {
    return 0.0;
  }
  const int    n = static_cast<int>(std::floor(x * 1.4426950408889634 + 0.5));
  const double r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
  double       factorial[14] = { 1.0 };
  for (int k = 1; k < 14; ++k)
  {
    factorial[k] = factorial[k - 1] * k;
  }
  double sum = 1.0 / factorial[13];
  for (int k = 12; k >= 0; --k)
  {
    sum = 1.0 / factorial[k] - r * sum;
  }
  return std::ldexp(sum, -n);
}

std::uint32_t
LinkKey(const Scene & scene, const double * a, const double * b, const Triple & step)
{
  return StepKey(scene, a, b, MakeStep(scene, step));
}

std::vector<Edge>
MakeEdges(const Scene & scene)
{
  const auto        steps = MakeStepsForward(scene);
  const auto        isInside = [&scene](std::int64_t voxel) { return scene.mask.empty() || scene.mask[voxel] != 0; };
  std::vector<Edge> edges;
  std::int64_t      voxel = 0;
  for (std::int64_t z = 0; z < scene.size[2]; ++z)
  {
    for (std::int64_t y = 0; y < scene.size[1]; ++y)
    {
      for (std::int64_t x = 0; x < scene.size[0]; ++x, ++voxel)
      {
        for (const Step & step : steps)
        {
          const Triple to{ { x + step.by[0], y + step.by[1], z + step.by[2] } };
          if (std::min({ to[0], to[1], to[2] }) < 0 || to[0] >= scene.size[0] || to[1] >= scene.size[1] ||
              to[2] >= scene.size[2])
          {
            continue;
          }
          const std::int64_t neighbor = (to[2] * scene.size[1] + to[1]) * scene.size[0] + to[0];
          if (!isInside(voxel) || !isInside(neighbor))
          {
            continue;
          }
          const std::int64_t  n = GetLength(scene);
          const double *      intensities = scene.intensities.data();
          const std::uint32_t key = StepKey(scene, intensities + voxel * n, intensities + neighbor * n, step);
          if (key != notReached)
          {
            edges.push_back({ key, static_cast<std::uint32_t>(voxel), static_cast<std::uint32_t>(neighbor) });
          }
        }
      }
    }
  }
  return edges;
}

std::vector<std::uint32_t>
ComputeKeys(const Scene & scene)
{
  const auto                 count = static_cast<std::size_t>(scene.GetNumberOfVoxels());
  std::vector<std::uint32_t> keys(count, notReached);
  std::vector<std::uint32_t> component(count);
  std::iota(component.begin(), component.end(), 0u);
  std::vector<std::vector<std::uint32_t>> members(count);
  std::vector<bool>                       hasSeed(count, false);
  for (std::size_t voxel = 0; voxel < count; ++voxel)
  {
    members[voxel] = { static_cast<std::uint32_t>(voxel) };
  }
  for (const std::int64_t seed : scene.seeds)
  {
    keys[seed] = seedKey;
    hasSeed[seed] = true;
  }

  std::vector<Edge> edges = MakeEdges(scene);
  std::sort(edges.begin(), edges.end(), [](const Edge & a, const Edge & b) { return a.key > b.key; });
  for (const Edge & edge : edges)
  {
    std::uint32_t large = component[edge.a];
    std::uint32_t small = component[edge.b];
    if (large == small)
    {
      continue;
    }
    if (members[large].size() < members[small].size())
    {
      std::swap(large, small);
    }
    // The strongest path between the two components has just become this link.
    if (hasSeed[large] != hasSeed[small])
    {
      for (const std::uint32_t voxel : members[hasSeed[large] ? small : large])
      {
        keys[voxel] = edge.key;
      }
    }
    hasSeed[large] = hasSeed[large] || hasSeed[small];
    for (const std::uint32_t voxel : members[small])
    {
      component[voxel] = large;
    }
    members[large].insert(members[large].end(), members[small].begin(), members[small].end());
    members[small] = {};
  }
  return keys;
}

long double
ComputeAffinity(const Scene & scene, const double * a, const double * b, const Triple & step)
{
  std::vector<long double> h;
  std::vector<long double> half;
  std::vector<long double> absolute;
  long double              squares = 0.0L;
  for (unsigned int i = 0; i < GetLength(scene); ++i)
  {
    const long double difference = static_cast<long double>(a[i]) - b[i];
    h.push_back((static_cast<long double>(a[i]) + b[i]) / 2.0L - scene.affinity.objectMean[i]);
    half.push_back(difference / 2.0L);
    absolute.push_back(std::abs(difference) - scene.affinity.differenceMean[i]);
    squares += difference * difference;
  }
  const auto gaussian = [](const std::vector<long double> & x, const std::vector<double> & covariance) {
    return std::exp(-SquaredMahalanobisDistance(x, covariance) / 2.0L);
  };
  const long double meanTerm = gaussian(h, scene.affinity.objectCovariance);
  const long double halfTerm = gaussian(half, scene.affinity.differenceCovariance);
  const long double length = scene.distanceWeighting ? LengthRatio(scene, step) : 1.0L;
  switch (scene.affinityFunction)
  {
    case AffinityFunction::WeightedSum:
      return (scene.weight * meanTerm +
              (1.0L - scene.weight) * gaussian(absolute, scene.affinity.differenceCovariance)) /
             length;
    case AffinityFunction::Minimum:
      return std::min(meanTerm, halfTerm) / length;
    case AffinityFunction::Homogeneity:
      return halfTerm / length;
    case AffinityFunction::AbsoluteDifference:
      return 1.0L / (1.0L + std::sqrt(squares));
    default:
      return std::sqrt(meanTerm * halfTerm) / length;
  }
}

long double
KeyStrength(const Scene & scene, std::uint32_t key)
{
  if (key == notReached || key == seedKey)
  {
    return key == seedKey ? 1.0L : 0.0L;
  }
  if (scene.affinityFunction == AffinityFunction::WeightedSum)
  {
    return key * 0x1p-30L;
  }
  if (scene.affinityFunction == AffinityFunction::AbsoluteDifference)
  {
    const std::uint32_t bits = fullAffinity - key;
    float               difference = 0.0f;
    std::memcpy(&difference, &bits, sizeof(difference));
    // Smaller keys are those of no difference.
    return std::isfinite(difference) ? 1.0L / (1.0L + difference) : 0.0L;
  }
  return std::exp((static_cast<long double>(key) - fullAffinity) * 0x1p-24L);
}
} // namespace FuzzyConnectednessOracle
