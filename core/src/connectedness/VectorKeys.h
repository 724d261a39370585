// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef VectorKeys_h
#define VectorKeys_h

#include "connectedness/ConnectednessKeys.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

/** Keys of links between voxels of several components, for host and device.
 *
 * Squared Mahalanobis distances take the place of (x - mean)^2 / variance. A covariance matrix is factored as L D L^T
 * with a unit lower triangular L and a diagonal D, so that x^T (L D L^T)^-1 x is the sum of z[i]^2 / D[i] with L z = x,
 * and z[i] = x[i] - L[i][0] z[0] - L[i][1] z[1] - ... With one component, these are the operations of the functions
 * for intensities. All are IEEE 754 double operations in the order written; see ConnectednessKeys.h. */
namespace voxelmaps
{
constexpr int maxComponents = static_cast<int>(maxNumberOfComponents);

/** A mean vector and a factored covariance matrix, in the units of keys. */
struct MahalanobisTerms
{
  double mean[maxComponents];
  double lower[maxComponents * (maxComponents - 1) / 2]; // the rows of L before the diagonal
  double factors[maxComponents];                         // cost = sum of factors[i] z[i]^2
};

/** The affinity function of vectors, in the units of keys. */
struct VectorTerms
{
  AffinityTerms                      common; // without means and factors
  FuzzyConnectednessInput::PixelType componentType;
  int                                numberOfComponents;
  MahalanobisTerms                   object;
  MahalanobisTerms                   difference;
};

/** The cost of a vector relative to the mean, which becomes z. */
VOXELMAPS_HOST_DEVICE inline double
MahalanobisCost(const MahalanobisTerms & terms, int numberOfComponents, double * vector)
{
  const double * lower = terms.lower;
  double         cost = 0.0;
  for (int i = 0; i < numberOfComponents; ++i)
  {
    double z = vector[i];
    for (int j = 0; j < i; ++j)
    {
      z = z - *lower++ * vector[j];
    }
    vector[i] = z;
    cost = cost + z * z * terms.factors[i];
  }
  return cost;
}

/** Call visit with a component of the type. */
#if defined(__CUDACC__)
#  pragma nv_exec_check_disable
#endif
template <typename TVisit>
VOXELMAPS_HOST_DEVICE auto
VisitComponentType(FuzzyConnectednessInput::PixelType type, const TVisit & visit)
{
  using PixelType = FuzzyConnectednessInput::PixelType;
  switch (type)
  {
    case PixelType::Int8:
      return visit(std::int8_t{});
    case PixelType::UInt8:
      return visit(std::uint8_t{});
    case PixelType::Int16:
      return visit(std::int16_t{});
    case PixelType::UInt16:
      return visit(std::uint16_t{});
    case PixelType::Int32:
      return visit(std::int32_t{});
    case PixelType::UInt32:
      return visit(std::uint32_t{});
    case PixelType::Float:
      return visit(float{});
    default:
      return visit(double{});
  }
}

/** Call f with a pointer to the image, of the type of its pixels. */
template <typename TFunction>
auto
WithImage(const FuzzyConnectednessInput & input, const TFunction & f)
{
  return VisitComponentType(input.pixelType,
                            [&](auto pixel) { return f(static_cast<const decltype(pixel) *>(input.image)); });
}

/** Number of bytes of a component. */
inline std::size_t
ComponentSize(FuzzyConnectednessInput::PixelType type)
{
  return VisitComponentType(type, [](auto component) { return sizeof(component); });
}

/** Convert the components of a pixel, exactly. Returns whether all are finite. */
VOXELMAPS_HOST_DEVICE inline bool
LoadComponents(const void * pixel, FuzzyConnectednessInput::PixelType type, int numberOfComponents, double * components)
{
  return VisitComponentType(type, [&](auto component) {
    const auto * const from = static_cast<const decltype(component) *>(pixel);
    bool               isFinite = true;
    for (int i = 0; i < numberOfComponents; ++i)
    {
      components[i] = static_cast<double>(from[i]);
      // Infinity minus infinity is NaN.
      isFinite = isFinite && components[i] - components[i] == 0.0;
    }
    return isFinite;
  });
}

/** Key of the link of two voxels, given pointers to their first components; noKey if a component is not finite. */
VOXELMAPS_HOST_DEVICE inline std::uint32_t
VectorKey(const VectorTerms & terms, const void * pixelA, const void * pixelB, const LinkWeight & link)
{
  const AffinityTerms & common = terms.common;
  const int             n = terms.numberOfComponents;
  double                a[maxComponents];
  double                b[maxComponents];
  if (!LoadComponents(pixelA, terms.componentType, n, a) || !LoadComponents(pixelB, terms.componentType, n, b))
  {
    return noKey;
  }
  double vector[maxComponents];
  if (common.combination == Combination::Difference)
  {
    double squares = 0.0;
    for (int i = 0; i < n; ++i)
    {
      const double difference = a[i] - b[i];
      squares = squares + difference * difference;
    }
    return TermKey(common.combination, 0, DifferenceTerm(common, sqrt(squares)), link);
  }
  std::uint32_t meanTerm = 0;
  if (common.usesMean)
  {
    for (int i = 0; i < n; ++i)
    {
      vector[i] = (a[i] + b[i]) * 0.5 - terms.object.mean[i];
    }
    meanTerm = CostTerm(common, MahalanobisCost(terms.object, n, vector), common.meanWeight);
  }
  for (int i = 0; i < n; ++i)
  {
    // Without the absolute value, the costs of a - b and b - a are the same.
    const double difference = a[i] - b[i];
    vector[i] = common.combination == Combination::WeightedSum
                  ? (difference < 0.0 ? -difference : difference) - terms.difference.mean[i]
                  : difference * common.differenceScale;
  }
  const std::uint32_t differenceTerm =
    CostTerm(common, MahalanobisCost(terms.difference, n, vector), common.differenceWeight);
  return TermKey(common.combination, meanTerm, differenceTerm, link);
}

/** The affinity function of a problem whose voxels have components. */
VectorTerms
MakeVectorTerms(const FuzzyConnectednessProblem & problem);
} // namespace voxelmaps

#endif // VectorKeys_h
