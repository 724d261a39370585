/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef voxelmaps_CooccurrenceFeatureMapEnums_h
#define voxelmaps_CooccurrenceFeatureMapEnums_h

#include "voxelmaps/CoreExport.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class CooccurrenceFeatureMapEnums
 * \brief Enumerations of CooccurrenceFeatureMapImageFilter, and the names of the features.
 *
 * This header includes no ITK header, so that the engines can include it.
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

  /** \class CudaMethod
   * \brief How the features are computed on a CUDA device. All methods give bit-identical results.
   *
   * \ingroup VoxelMaps
   */
  enum class CudaMethod : std::uint8_t
  {
    /** The fastest method that supports the job. */
    Automatic = 0,
    /** A thread sorts the pairs of one window in its registers. */
    SortedPairs,
    /** A warp counts the pairs of one window by atomic additions; takes every job. */
    WindowWalk
  };

  static constexpr unsigned int NumberOfFeatures = 24;

  /** Abbreviation of a feature, "AC" for Autocorrelation. */
  static const char *
  GetAbbreviation(Feature feature);

  /** Full name of a feature as spelled in the enumeration. */
  static const char *
  GetName(Feature feature);

  /** Name of a feature in PyRadiomics, "Idm" for InverseDifferenceMoment. */
  static const char *
  GetPyRadiomicsName(Feature feature);

  /** Find the feature with this abbreviation, full name, name in PyRadiomics, or name in the manual of the Image
   * Biomarker Standardisation Initiative with underscores ("joint_maximum"), ignoring case. Returns false if there is
   * none. */
  static bool
  FindFeature(const std::string & name, Feature & feature);

  /** All features, in the order of the enumeration. */
  static std::vector<Feature>
  GetAllFeatures();
};

/** Print the name of an enumerator. */
extern VoxelMapsCore_EXPORT std::ostream &
                            operator<<(std::ostream & out, CooccurrenceFeatureMapEnums::Feature value);
extern VoxelMapsCore_EXPORT std::ostream &
                            operator<<(std::ostream & out, CooccurrenceFeatureMapEnums::Aggregation value);
extern VoxelMapsCore_EXPORT std::ostream &
                            operator<<(std::ostream & out, CooccurrenceFeatureMapEnums::CudaMethod value);
} // namespace voxelmaps

#endif // voxelmaps_CooccurrenceFeatureMapEnums_h
