// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CooccurrenceJob_h
#define voxelmaps_CooccurrenceJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace voxelmaps
{
/** \class CooccurrenceFeatureMapEnums
 * \brief Enumerations of CooccurrenceFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT CooccurrenceFeatureMapEnums
{
public:
  /** \class Feature
   * \brief The features of the gray level co-occurrence matrix, with the identifiers of the Image Biomarker
   * Standardisation Initiative, in the order of PyRadiomics but for the last one.
   *
   * The IBSI does not define the maximal correlation coefficient.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    Autocorrelation = 0,                /**< AC, IBSI QWB0 */
    ClusterProminence,                  /**< CP, IBSI AE86 */
    ClusterShade,                       /**< CS, IBSI 7NFM */
    ClusterTendency,                    /**< CT, IBSI DG8W; also IBSI's sum variance, OEEB */
    Contrast,                           /**< CON, IBSI ACUI */
    Correlation,                        /**< COR, IBSI NI2N */
    DifferenceAverage,                  /**< DA, IBSI TF7R; also IBSI's dissimilarity, 8S9J */
    DifferenceEntropy,                  /**< DE, IBSI NTRS */
    DifferenceVariance,                 /**< DV, IBSI D3YU */
    InverseDifference,                  /**< ID, IBSI IB1Z */
    InverseDifferenceMoment,            /**< IDM, IBSI WF0Z */
    InverseDifferenceMomentNormalized,  /**< IDMN, IBSI 1QCO */
    InverseDifferenceNormalized,        /**< IDN, IBSI NDRX */
    InformationalMeasureOfCorrelation1, /**< IMC1, IBSI R8DG */
    InformationalMeasureOfCorrelation2, /**< IMC2, IBSI JN9H */
    InverseVariance,                    /**< IV, IBSI E8JP */
    JointAverage,                       /**< JA, IBSI 60VM */
    JointEnergy,                        /**< JEN, IBSI 8ZQL (angular second moment) */
    JointEntropy,                       /**< JE, IBSI TU9B */
    MaximumProbability,                 /**< MP, IBSI GYBY (joint maximum) */
    SumAverage,                         /**< SA, IBSI ZGXS */
    SumEntropy,                         /**< SE, IBSI P6QZ */
    SumSquares,                         /**< SS, IBSI UR99 (joint variance) */
    MaximalCorrelationCoefficient       /**< MCC; by far the slowest feature */
  };

  /** \class Aggregation
   * \brief How the matrices of the directions of one window are combined into features.
   *
   * \ingroup VoxelMaps
   */
  enum class Aggregation : std::uint8_t
  {
    /** The features of every direction, one direction after another. */
    PerDirection = 0,
    /** The mean of the features over the directions that have a pair of voxels (PyRadiomics' default, IBSI
     * "averaged"). */
    Average,
    /** The features of the sum of all matrices (IBSI "merged"). */
    Merge
  };

  static constexpr unsigned int NumberOfFeatures = 24;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(CooccurrenceFeatureMapEnums::Aggregation, "invalid aggregation", "PerDirection", "Average",
                           "Merge");

/** \class CooccurrenceJob
 * \brief The complete input, parameters and output of a co-occurrence engine.
 *
 * Methods of the CPU:
 * - Columns and SlidingWindow keep the matrices of windows that slide along y and x up to date.
 * - WindowWalk counts the pairs of the windows one by one; supports every job.
 *
 * Methods of CUDA:
 * - SortedPairs: a thread sorts the pairs of one window in its registers.
 * - RankTables: a thread counts the pairs of one matrix in a table of the ranks of the levels of its window.
 * - WindowWalk: a warp counts the pairs of one window by atomic additions; supports every job.
 *
 * \ingroup VoxelMaps
 */
struct CooccurrenceJob : FeatureJob<CooccurrenceFeatureMapEnums>
{
  using Aggregation = CooccurrenceFeatureMapEnums::Aggregation;

  /** A pair consists of the voxels p and p + offset. */
  std::vector<Triple> offsets;
  /** Weight of the pairs of each offset in the sum of the matrices, 0 to 1e100; empty if all count alike. For Merge.
   * Such matrices are counted window by window, which is slow, and windows must have at most 512 voxels or levels. */
  std::vector<double> offsetWeights;
  Aggregation         aggregation{ Aggregation::Average };
  /** Count every pair in both orders. */
  bool symmetric{ true };
  /** Value of features of a matrix without pairs. */
  double emptyValue{ std::numeric_limits<double>::quiet_NaN() };
  /** Whether all voxels of the whole region, of which the job may be a part, have the same level: the maximal
   * correlation coefficient is 1 then, instead of 0. So it is if numberOfGrayLevels is 1. */
  bool hasOneLevel{ false };

  std::size_t
  GetNumberOfComponents() const
  {
    return features.size() * (aggregation == Aggregation::PerDirection ? offsets.size() : 1);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const CooccurrenceJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const CooccurrenceJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_CooccurrenceJob_h
