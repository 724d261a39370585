// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_GrayToneDifferenceJob_h
#define voxelmaps_GrayToneDifferenceJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>
#include <vector>

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
    VOXELMAPS_NGTDM_FEATURES(VOXELMAPS_FEATURE_ENUMERATOR)
  };

  VOXELMAPS_FEATURE_NAMES_MACRO(VOXELMAPS_NGTDM_FEATURES);
};

/** \class GrayToneDifferenceJob
 * \brief The complete input, parameters and output of an engine of gray tone differences.
 *
 * Methods of the CPU:
 * - Tiles sums the differences of the windows of a tile side by side.
 * - WindowWalk visits the neighbors of the windows one by one; supports every job.
 *
 * Methods of CUDA:
 * - LevelTables: a thread sums the differences of one window by level.
 * - WindowWalk: a block of threads sums the differences of one window; supports every job.
 *
 * \ingroup VoxelMaps
 */
struct GrayToneDifferenceJob : FeatureJob<GrayToneDifferenceFeatureMapEnums>
{
  /** The neighbors of the voxel p are p + offset and p - offset. */
  std::vector<Triple> offsets;
  /** Whether voxels without neighbors count, with a difference of 0. */
  bool countVoxelsWithoutNeighbors{ true };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    visit("Offsets", &GrayToneDifferenceJob::offsets);
    visit("CountVoxelsWithoutNeighbors", &GrayToneDifferenceJob::countVoxelsWithoutNeighbors);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const GrayToneDifferenceJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const GrayToneDifferenceJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_GrayToneDifferenceJob_h
