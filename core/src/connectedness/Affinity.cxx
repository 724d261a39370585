// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/ParallelFor.h"
#include "connectedness/AffinityPlan.h"
#include "connectedness/VectorKeys.h"
#include "connectedness/VerifyJob.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace voxelmaps
{
namespace
{
using Function = FuzzyConnectednessEnums::AffinityFunction;

// Sums of two components are then finite, or so far from the mean that the affinity is 0; factors of costs are finite.
constexpr double maxMean = 8.9e307;
constexpr double minVariance = 1e-299;
constexpr double maxVariance = 1e307;

// Least part of a component's variance that must be left if the components before it are known. Rounding leaves about
// 1e-16 of components that depend linearly on each other.
constexpr double minIndependence = 1e-12;

// Relative difference between the two elements for a pair of components, which rounding explains.
constexpr double maxAsymmetry = 1e-12;

template <typename... TParts>
[[noreturn]] void
Fail(const TParts &... parts)
{
  std::ostringstream message;
  message.precision(9);
  (message << ... << parts);
  throw EngineError(message.str());
}

/** Factor a covariance matrix as L D L^T, from its lower triangle. Returns the number of the first component for which
 * that fails, or the number of components. */
unsigned int
Factor(const std::vector<double> & covariance, unsigned int n, double * lower, double * diagonal)
{
  double scaled[maxComponents]; // of the current row: L[i][j] D[j]
  for (unsigned int i = 0; i < n; ++i)
  {
    double * const row = lower + i * (i - 1) / 2;
    double         rest = covariance[i * n + i];
    bool           isFinite = true;
    for (unsigned int j = 0; j < i; ++j)
    {
      const double * const rowJ = lower + j * (j - 1) / 2;
      scaled[j] = covariance[i * n + j];
      for (unsigned int k = 0; k < j; ++k)
      {
        scaled[j] = scaled[j] - scaled[k] * rowJ[k];
      }
      row[j] = scaled[j] / diagonal[j];
      isFinite = isFinite && std::isfinite(row[j]);
      rest = rest - scaled[j] * row[j];
    }
    diagonal[i] = rest;
    if (!isFinite || !(rest >= minVariance && rest >= minIndependence * covariance[i * n + i]))
    {
      return i;
    }
  }
  return n;
}

/** Factor a covariance matrix that has been verified. */
MahalanobisTerms
MakeMahalanobisTerms(const std::vector<double> & mean, const std::vector<double> & covariance, unsigned int n,
                     double half)
{
  MahalanobisTerms terms{};
  std::copy(mean.begin(), mean.end(), terms.mean);
  double diagonal[maxComponents];
  Factor(covariance, n, terms.lower, diagonal);
  for (unsigned int i = 0; i < n; ++i)
  {
    terms.factors[i] = logUnits * (half / (2.0 * diagonal[i]));
  }
  return terms;
}
void
VerifySize(const std::string & name, std::size_t size, unsigned int numberOfComponents, std::size_t expected)
{
  if (size != expected)
  {
    Fail("The ",
         name,
         " has ",
         size,
         " elements, but voxels of ",
         numberOfComponents,
         numberOfComponents == 1 ? " component need " : " components need ",
         expected,
         size == 0 ? ": set the affinity, or estimate it from the seeds." : ".");
  }
}

void
VerifyMean(const std::string & name, const std::vector<double> & mean, unsigned int numberOfComponents)
{
  VerifySize(name, mean.size(), numberOfComponents, numberOfComponents);
  for (const double each : mean)
  {
    if (!(each >= -maxMean && each <= maxMean))
    {
      Fail("The ", name, " has the value ", each, ", but must be finite, from ", -maxMean, " to ", maxMean, '.');
    }
  }
}

void
VerifyCovariance(const std::string & name, const std::vector<double> & covariance, unsigned int n)
{
  VerifySize(name, covariance.size(), n, std::size_t{ n } * n);
  for (unsigned int i = 0; i < n; ++i)
  {
    const double variance = covariance[i * n + i];
    if (!(variance >= minVariance && variance <= maxVariance))
    {
      Fail("The ",
           name,
           n == 1 ? " has the value " : " has the variance ",
           variance,
           n == 1 ? "" : " of component " + std::to_string(i),
           ", but must be positive and finite, from ",
           minVariance,
           " to ",
           maxVariance,
           '.');
    }
  }
  for (unsigned int i = 0; i < n; ++i)
  {
    for (unsigned int j = 0; j < i; ++j)
    {
      const double below = covariance[i * n + j];
      const double above = covariance[j * n + i];
      const double allowed = maxAsymmetry * std::sqrt(covariance[i * n + i]) * std::sqrt(covariance[j * n + j]);
      if (!(std::abs(below - above) <= allowed))
      {
        Fail("The ",
             name,
             " has the elements ",
             below,
             " in row ",
             i,
             ", column ",
             j,
             ", and ",
             above,
             " in row ",
             j,
             ", column ",
             i,
             ", but a covariance matrix must be symmetric and finite.");
      }
    }
  }
  double             lower[maxComponents * (maxComponents - 1) / 2];
  double             diagonal[maxComponents];
  const unsigned int failed = Factor(covariance, n, lower, diagonal);
  if (failed < n)
  {
    Fail("The ",
         name,
         " is not positive definite: of the variance ",
         covariance[failed * n + failed],
         " of component ",
         failed,
         ", ",
         diagonal[failed],
         " is left if the components before it are known, but at least ",
         minIndependence,
         " of the variance must be: no component may be constant or depend linearly on others.");
  }
}
} // namespace

void
VerifyAffinity(const FuzzyConnectednessAffinity & affinity, Function function, unsigned int numberOfComponents,
               const std::string & context)
{
  if (function == Function::AbsoluteDifference)
  {
    return;
  }
  const std::string variance = numberOfComponents == 1 ? "variance of " : "covariance of ";
  if (function != Function::Homogeneity)
  {
    VerifyMean("object mean of " + context, affinity.objectMean, numberOfComponents);
    VerifyCovariance("object " + variance + context, affinity.objectCovariance, numberOfComponents);
  }
  if (function == Function::WeightedSum && !affinity.differenceMean.empty())
  {
    VerifyMean("difference mean of " + context, affinity.differenceMean, numberOfComponents);
  }
  VerifyCovariance("difference " + variance + context, affinity.differenceCovariance, numberOfComponents);
}

VectorTerms
MakeVectorTerms(const FuzzyConnectednessProblem & problem)
{
  const DefaultFloatingPointEnvironment environment;
  const FuzzyConnectednessAffinity &    affinity = problem.affinity;
  const unsigned int                    n = problem.numberOfComponents;
  VectorTerms                           terms{};
  terms.common = MakeAffinityTerms(problem);
  terms.componentType = problem.pixelType;
  terms.numberOfComponents = static_cast<int>(n);
  // The square root of the geometric mean halves the logarithms.
  const double half = problem.affinityFunction == Function::GeometricMean ? 0.5 : 1.0;
  if (terms.common.usesMean)
  {
    terms.object = MakeMahalanobisTerms(affinity.objectMean, affinity.objectCovariance, n, half);
  }
  if (terms.common.combination != Combination::Difference)
  {
    const bool isSum = terms.common.combination == Combination::WeightedSum;
    terms.difference = MakeMahalanobisTerms(
      isSum ? affinity.differenceMean : std::vector<double>(), affinity.differenceCovariance, n, half);
  }
  return terms;
}
} // namespace voxelmaps
