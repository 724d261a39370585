// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RunLengthJob_h
#define voxelmaps_RunLengthJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstddef>
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

  static constexpr unsigned int NumberOfFeatures = 16;

  VOXELMAPS_FEATURE_NAMES_MACRO;

  /** The eleven features of Zhang et al. \cite Zhang2019, the default of the filter. */
  static std::vector<Feature>
  GetElevenFeatures();
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(RunLengthFeatureMapEnums::Aggregation, "invalid aggregation", "PerDirection", "Average",
                           "Merge");

/** \class RunLengthJob
 * \brief The complete input, parameters and output of a run length engine.
 *
 * Methods of the CPU:
 * - BoxSums: box sums that neighboring windows share.
 * - WindowWalk walks the runs of the windows one by one; supports every job.
 *
 * Methods of CUDA:
 * - WindowWord: the voxels of a small 2D window are the bits of a machine word.
 * - BoxSums: box sums that neighboring windows share, for windows of up to 9 voxels along each axis.
 * - SlidingWindow: windows slide along y and keep their matrices up to date; supports windows of any size and merged
 *   matrices.
 * - WindowWalk: a warp walks the runs of one window; supports every job.
 * - SortReduce: the pipeline of Zhang et al. \cite Zhang2019, which sorts and reduces the runs of all windows by the
 *   primitives of CUB, for windows of up to 24,000 voxels. It is not chosen automatically.
 *
 * \ingroup VoxelMaps
 */
struct RunLengthJob : FeatureJob<RunLengthFeatureMapEnums>
{
  using Aggregation = RunLengthFeatureMapEnums::Aggregation;

  /** Directions of the runs: at most 13 different directions with components -1, 0 or 1. */
  std::vector<Triple> offsets;
  /** Weight of the runs of each direction in the sum of the matrices, 0 to 1e100; empty if all count alike. For Merge.
   * Such matrices are counted window by window, which is slow, and windows must have at most 512 voxels or levels. */
  std::vector<double> offsetWeights;
  Aggregation         aggregation{ Aggregation::Average };
  /** Leave out, window by window, directions in which no line holds two voxels: see
   * RunLengthFeatureMapImageFilter::SetSkipDirectionsWithoutPairs. */
  bool skipDirectionsWithoutPairs{ false };

  std::size_t
  GetNumberOfComponents() const
  {
    return features.size() * (aggregation == Aggregation::PerDirection ? offsets.size() : 1);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const RunLengthJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const RunLengthJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_RunLengthJob_h
