// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CooccurrenceJob_h
#define voxelmaps_CooccurrenceJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>
#include <limits>

namespace voxelmaps
{
/** \class CooccurrenceFeatureMapEnums
 * \brief Enumerations of CooccurrenceFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT CooccurrenceFeatureMapEnums : public TextureFeatureMapEnums
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
    VOXELMAPS_GLCM_FEATURES(VOXELMAPS_FEATURE_ENUMERATOR)
  };

  VOXELMAPS_FEATURE_NAMES_MACRO(VOXELMAPS_GLCM_FEATURES);
};

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
struct CooccurrenceJob : DirectionalFeatureJob<CooccurrenceFeatureMapEnums>
{
  /** Count every pair in both orders. */
  bool symmetric{ true };
  /** Value of features of a matrix without pairs. */
  double emptyValue{ std::numeric_limits<double>::quiet_NaN() };
  /** Whether all voxels of the whole region, of which the job may be a part, have the same level: the maximal
   * correlation coefficient is 1 then, instead of 0. So it is if numberOfGrayLevels is 1. */
  bool hasOneLevel{ false };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    DirectionalFeatureJob::VisitParameters(visit);
    visit("Symmetric", &CooccurrenceJob::symmetric);
    visit("EmptyValue", &CooccurrenceJob::emptyValue);
    visit("RegionHasOneLevel", &CooccurrenceJob::hasOneLevel);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const CooccurrenceJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const CooccurrenceJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_CooccurrenceJob_h
