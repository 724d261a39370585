// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_DependenceFeatureMapEnums_h
#define voxelmaps_DependenceFeatureMapEnums_h

#include "voxelmaps/FeatureTable.h"

#include <cstdint>

namespace voxelmaps
{
/** \class DependenceFeatureMapEnums
 * \brief Enumerations of DependenceFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT DependenceFeatureMapEnums
{
public:
  /** \class Feature
   * \brief The features of the gray level dependence matrix, with the identifiers of the Image Biomarker
   * Standardisation Initiative, in the order of PyRadiomics.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    SmallDependenceEmphasis = 0,          /**< SDE, IBSI SODN */
    LargeDependenceEmphasis,              /**< LDE, IBSI IMOQ */
    GrayLevelNonUniformity,               /**< GLN, IBSI FP8K */
    DependenceNonUniformity,              /**< DN, IBSI Z87G */
    DependenceNonUniformityNormalized,    /**< DNN, IBSI OKJI */
    GrayLevelVariance,                    /**< GLV, IBSI 1PFV */
    DependenceVariance,                   /**< DV, IBSI DNX2 */
    DependenceEntropy,                    /**< DE, IBSI FCBV */
    LowGrayLevelEmphasis,                 /**< LGLE, IBSI TL9H */
    HighGrayLevelEmphasis,                /**< HGLE, IBSI OAE7 */
    SmallDependenceLowGrayLevelEmphasis,  /**< SDLGLE, IBSI EQ3F */
    SmallDependenceHighGrayLevelEmphasis, /**< SDHGLE, IBSI JA6D */
    LargeDependenceLowGrayLevelEmphasis,  /**< LDLGLE, IBSI NBZI */
    LargeDependenceHighGrayLevelEmphasis  /**< LDHGLE, IBSI 9QMG */
  };

  /** \class CudaMethod
   * \brief How the features are computed on a CUDA device. All methods give bit-identical results.
   *
   * \ingroup VoxelMaps
   */
  enum class CudaMethod : std::uint8_t
  {
    /** The faster method that supports the job. */
    Automatic = 0,
    /** A thread counts the dependences of one window by bits in its registers, level by level: up to 9 voxels along
     * each axis and 63 levels, or 7 voxels and 511 levels, and neighbors at distance 1. */
    BitPlanes,
    /** A warp or a block counts the dependences of one window by atomic additions; supports every job. */
    WindowWalk
  };

  static constexpr unsigned int NumberOfFeatures = 14;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};

/** Names of the enumerators, which are printed. */
constexpr auto
GetEnumeratorNames(DependenceFeatureMapEnums::CudaMethod)
{
  return MakeEnumeratorNames({ "Automatic", "BitPlanes", "WindowWalk" }, "invalid method");
}
} // namespace voxelmaps

#endif // voxelmaps_DependenceFeatureMapEnums_h
