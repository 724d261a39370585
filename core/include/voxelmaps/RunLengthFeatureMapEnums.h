// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RunLengthFeatureMapEnums_h
#define voxelmaps_RunLengthFeatureMapEnums_h

#include "voxelmaps/FeatureTable.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class RunLengthFeatureMapEnums
 * \brief Enumerations of RunLengthFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT RunLengthFeatureMapEnums
{
public:
  /** \class Feature
   * \brief The sixteen run length features, with the identifiers of the Image Biomarker Standardisation Initiative.
   *
   * The first eleven are those of \cite Galloway1975, \cite Chu1990 and \cite Dasarathy1991, as collected by
   * Zhang et al. \cite Zhang2019, equations (2) to (12).
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    ShortRunEmphasis = 0,             /**< SRE, IBSI 22OV */
    LongRunEmphasis,                  /**< LRE, IBSI W4KF */
    GrayLevelNonUniformity,           /**< GLN, IBSI R5YN */
    RunLengthNonUniformity,           /**< RLN, IBSI W92Y */
    RunPercentage,                    /**< RP, IBSI 9ZK5 */
    LowGrayLevelRunEmphasis,          /**< LGRE, IBSI V3SW */
    HighGrayLevelRunEmphasis,         /**< HGRE, IBSI G3QZ */
    ShortRunLowGrayLevelEmphasis,     /**< SRLGE, IBSI HTZT */
    ShortRunHighGrayLevelEmphasis,    /**< SRHGE, IBSI GD3A */
    LongRunLowGrayLevelEmphasis,      /**< LRLGE, IBSI IVPO */
    LongRunHighGrayLevelEmphasis,     /**< LRHGE, IBSI 3KUM */
    GrayLevelNonUniformityNormalized, /**< GLNN, IBSI OVBL */
    RunLengthNonUniformityNormalized, /**< RLNN, IBSI IC23 */
    GrayLevelVariance,                /**< GLV, IBSI 8CE5 */
    RunVariance,                      /**< RV, IBSI SXLW */
    RunEntropy                        /**< RE, IBSI HJ9O */
  };

  /** \class Aggregation
   * \brief How the matrices of the directions of one window are combined into features.
   *
   * \ingroup VoxelMaps
   */
  enum class Aggregation : std::uint8_t
  {
    /** The features of every direction, one direction after another \cite Zhang2019. */
    PerDirection = 0,
    /** The mean of the features over the directions (PyRadiomics' default, IBSI "averaged"). */
    Average,
    /** The features of the sum of all matrices (IBSI "merged"). */
    Merge
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
    /** All windows are written out, sorted and reduced by key: the parallel algorithm of Zhang et al. \cite Zhang2019.
     */
    SortReduce,
    /** A warp walks the runs of one window; supports every job. */
    WindowWalk,
    /** The voxels of a small 2D window are the bits of a machine word. */
    WindowWord,
    /** Box sums that neighboring windows share, for windows of up to 9 voxels along each axis. */
    BoxSums,
    /** Windows slide along y and keep their matrices up to date; supports windows of any size and merged matrices. */
    SlidingWindow
  };

  static constexpr unsigned int NumberOfFeatures = 16;

  VOXELMAPS_FEATURE_NAMES_MACRO;

  /** The eleven features of Zhang et al. \cite Zhang2019, the default of the filter. */
  static std::vector<Feature>
  GetElevenFeatures();
};

/** Names of the enumerators, which are printed. */
constexpr auto
GetEnumeratorNames(RunLengthFeatureMapEnums::Aggregation)
{
  return MakeEnumeratorNames({ "PerDirection", "Average", "Merge" }, "invalid aggregation");
}
constexpr auto
GetEnumeratorNames(RunLengthFeatureMapEnums::CudaMethod)
{
  return MakeEnumeratorNames({ "Automatic", "SortReduce", "WindowWalk", "WindowWord", "BoxSums", "SlidingWindow" },
                             "invalid method");
}
} // namespace voxelmaps

#endif // voxelmaps_RunLengthFeatureMapEnums_h
