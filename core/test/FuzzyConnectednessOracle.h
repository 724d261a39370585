// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzyConnectednessOracle_h
#define FuzzyConnectednessOracle_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <array>
#include <cstdint>
#include <vector>

/** Fuzzy connectedness by Kruskal's algorithm: join components in the order of their strongest links; the link that
 * joins a component to one with a seed gives the strength of its voxels.
 *
 * Shares the names of affinity functions and adjacencies with the module, but no formula and no algorithm. Costs and
 * keys follow their documentation. */
namespace FuzzyConnectednessOracle
{
using Triple = std::array<std::int64_t, 3>;
using Affinity = voxelmaps::FuzzyConnectednessAffinity;
using AffinityFunction = voxelmaps::FuzzyConnectednessEnums::AffinityFunction;
using Adjacency = voxelmaps::FuzzyConnectednessEnums::Adjacency;

constexpr std::uint32_t notReached = 0;
constexpr std::uint32_t fullAffinity = 0x7ffffffe;
constexpr std::uint32_t seedKey = 0x7fffffff;

/** An image of any pixel type, whose intensities double represents exactly, and all parameters. */
struct Scene
{
  Triple                size{ { 1, 1, 1 } };
  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };
  /** Number of components of a voxel; 0 for scalars. */
  unsigned int              components{ 0 };
  std::vector<double>       intensities; // all components of a voxel, one after the other
  std::vector<std::uint8_t> mask;        // no mask if empty
  std::vector<std::int64_t> seeds;

  AffinityFunction affinityFunction{ AffinityFunction::GeometricMean };
  Affinity         affinity{ { 0.0 }, { 1.0 }, { 0.0 }, { 1.0 } };
  double           weight{ 0.5 };
  Adjacency        adjacency{ Adjacency::Face };
  bool             distanceWeighting{ false };

  std::int64_t
  GetNumberOfVoxels() const
  {
    return size[0] * size[1] * size[2];
  }
};

/** exp(-x) for 0 <= x < 700, by the documented series; 0 for larger x. */
double
NegativeExponential(double x);

/** Key of the link of two voxels whose intensities begin at a and b, step voxels apart. The covariance matrix is
 * factored as L D L^T, row by row; z[i] = x[i] - L[i][0] z[0] - L[i][1] z[1] - ..., and the squared distance in units
 * of the cost is the sum of z[i]^2 times (unit / 2 / D[i]), all in this order, in double. */
std::uint32_t
LinkKey(const Scene & scene, const double * a, const double * b, const Triple & step);

/** A link of two voxels, and its key, which is not 0. */
struct Edge
{
  std::uint32_t key;
  std::uint32_t a;
  std::uint32_t b;
};

/** All links of a scene, each once. */
std::vector<Edge>
MakeEdges(const Scene & scene);

/** Keys of all voxels. */
std::vector<std::uint32_t>
ComputeKeys(const Scene & scene);

/** The affinity of two voxels whose intensities begin at a and b by its closed formula, not rounded to a key, and by
 * Gaussian elimination. */
long double
ComputeAffinity(const Scene & scene, const double * a, const double * b, const Triple & step);

/** The strength of a key in long double. */
long double
KeyStrength(const Scene & scene, std::uint32_t key);
} // namespace FuzzyConnectednessOracle

#endif // FuzzyConnectednessOracle_h
