// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_GrayToneDifferenceFeatureMapEnums_h
#define voxelmaps_GrayToneDifferenceFeatureMapEnums_h

#include "voxelmaps/FeatureTable.h"

#include <cstdint>

namespace voxelmaps
{
/** \class GrayToneDifferenceFeatureMapEnums
 * \brief Enumerations of GrayToneDifferenceFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT GrayToneDifferenceFeatureMapEnums
{
public:
  /** \class Feature
   * \brief The features of the neighborhood gray tone difference matrix, with the identifiers of the Image Biomarker
   * Standardisation Initiative, in the order of PyRadiomics.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    Busyness = 0, /**< BUS, IBSI NQ30 */
    Coarseness,   /**< COA, IBSI QCDE */
    Complexity,   /**< COM, IBSI HDEZ */
    Contrast,     /**< CON, IBSI 65HE */
    Strength      /**< STR, IBSI 1X9X */
  };

  /** \class CudaMethod
   * \brief How the features are computed on a CUDA device. All methods give bit-identical results.
   *
   * \ingroup VoxelMaps
   */
  enum class CudaMethod : std::uint8_t
  {
    /** The fastest method that supports the job. */
    Automatic = 0,
    /** A thread sums the differences of one window by level. */
    LevelTables,
    /** A block of threads sums the differences of one window; supports every job. */
    WindowWalk
  };

  static constexpr unsigned int NumberOfFeatures = 5;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};

/** Names of the enumerators, which are printed. */
constexpr auto
GetEnumeratorNames(GrayToneDifferenceFeatureMapEnums::CudaMethod)
{
  return MakeEnumeratorNames({ "Automatic", "LevelTables", "WindowWalk" }, "invalid method");
}
} // namespace voxelmaps

#endif // voxelmaps_GrayToneDifferenceFeatureMapEnums_h
