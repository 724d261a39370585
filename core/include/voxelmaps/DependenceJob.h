// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_DependenceJob_h
#define voxelmaps_DependenceJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>
#include <vector>

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
    VOXELMAPS_GLDM_FEATURES(VOXELMAPS_FEATURE_ENUMERATOR)
  };

  VOXELMAPS_FEATURE_NAMES_MACRO(VOXELMAPS_GLDM_FEATURES);
};

/** \class DependenceJob
 * \brief The complete input, parameters and output of an engine of gray level dependences.
 *
 * Methods of the CPU:
 * - Tiles counts the dependences of the windows of a tile side by side.
 * - WindowWalk counts those of the windows one by one; supports every job.
 *
 * Methods of CUDA:
 * - BitPlanes: a thread counts the dependences of one window by bits in its registers, level by level: up to 7 voxels
 *   along each axis, 63 levels (511 of windows of several slices), and neighbors at distance 1.
 * - WindowWalk: a warp or a block counts the dependences of one window by atomic additions; supports every job.
 *
 * \ingroup VoxelMaps
 */
struct DependenceJob : FeatureJob<DependenceFeatureMapEnums>
{
  /** The neighbors of a voxel p are p + offset and p - offset. No offset twice, as itself or as its opposite. */
  std::vector<Triple> offsets;
  /** A neighbor is dependent if its level differs by at most so much. */
  std::uint32_t alpha{ 0 };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    visit("Offsets", &DependenceJob::offsets);
    visit("Alpha", &DependenceJob::alpha);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const DependenceJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const DependenceJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_DependenceJob_h
