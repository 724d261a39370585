// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessEnums_h
#define voxelmaps_FuzzyConnectednessEnums_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"

#include <cstdint>

namespace voxelmaps
{
/** \class FuzzyConnectednessEnums
 * \brief Enumerations of FuzzyConnectednessImageFilter.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT FuzzyConnectednessEnums
{
public:
  /** \class AffinityFunction
   * \brief Affinity of two adjacent voxels of intensities a and b.
   *
   * With g(x, m, v) = exp(-(x - m)^2 / (2 v)), mean h = (a + b) / 2 and difference d = |a - b|:
   *
   * \ingroup VoxelMaps
   */
  enum class AffinityFunction : std::uint8_t
  {
    /** sqrt(g(h, ObjectMean, ObjectVariance) g(d / 2, 0, DifferenceVariance)); Li et al. \cite Li2016, equation (1). */
    GeometricMean = 0,
    /** Weight g(h, ObjectMean, ObjectVariance) + (1 - Weight) g(d, DifferenceMean, DifferenceVariance); ITK 3. */
    WeightedSum,
    /** The smaller of g(h, ObjectMean, ObjectVariance) and g(d / 2, 0, DifferenceVariance). */
    Minimum,
    /** g(d / 2, 0, DifferenceVariance). */
    Homogeneity,
    /** 1 / (1 + d), with d rounded to float: paths avoid edges, as in a watershed of the gradient magnitude. */
    AbsoluteDifference
  };

  /** \class Adjacency
   * \brief Which voxels are neighbors.
   *
   * \ingroup VoxelMaps
   */
  enum class Adjacency : std::uint8_t
  {
    /** Voxels that share a face: 4 in 2D, 6 in 3D. */
    Face = 0,
    /** Voxels that share a face or an edge: 8 in 2D, 18 in 3D. */
    FaceEdge,
    /** Voxels that share a face, an edge or a corner: 8 in 2D, 26 in 3D. */
    Full
  };
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(FuzzyConnectednessEnums::AffinityFunction, "invalid affinity function", "GeometricMean",
                           "WeightedSum", "Minimum", "Homogeneity", "AbsoluteDifference");
VOXELMAPS_ENUMERATOR_NAMES(FuzzyConnectednessEnums::Adjacency, "invalid adjacency", "Face", "FaceEdge", "Full");
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessEnums_h
