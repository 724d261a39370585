// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_SizeZoneJob_h
#define voxelmaps_SizeZoneJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>

namespace voxelmaps
{
/** \class SizeZoneFeatureMapEnums
 * \brief Enumerations of SizeZoneFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT SizeZoneFeatureMapEnums
{
public:
  /** \class Feature
   * \brief Features of gray level size zone matrices, in alphabetical order of their names in PyRadiomics.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    VOXELMAPS_GLSZM_FEATURES(VOXELMAPS_FEATURE_ENUMERATOR)
  };

  /** \class Connectivity
   * \brief Which voxels are neighbors in a zone.
   *
   * \ingroup VoxelMaps
   */
  enum class Connectivity : std::uint8_t
  {
    /** All that share a face, an edge or a corner: 26 in 3D, 8 in 2D (PyRadiomics, IBSI "3D"). */
    Full = 0,
    /** The 8 neighbors in the xy plane: zones of 3D windows are those of their slices (IBSI "2.5D"). */
    InPlane
  };

  VOXELMAPS_FEATURE_NAMES_MACRO(VOXELMAPS_GLSZM_FEATURES);
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(SizeZoneFeatureMapEnums::Connectivity, "invalid connectivity", "Full", "InPlane");

/** \class SizeZoneJob
 * \brief The complete input, parameters and output of a size zone engine.
 *
 * Methods of the CPU:
 * - BitPlanes fills the zones of a window as sets of bits.
 * - WindowWalk fills them voxel by voxel; supports every job.
 *
 * Method of CUDA, in addition to which the CPU computes what it does not support:
 * - BitPlanes: a thread, or a lane per slice, fills the zones of a window as sets of bits; supports slices of up to 256
 *   bits, which are rows of one bit more than voxels, and up to 32 slices: 11 x 11 x 11, for example.
 *
 * \ingroup VoxelMaps
 */
struct SizeZoneJob : FeatureJob<SizeZoneFeatureMapEnums>
{
  using Connectivity = SizeZoneFeatureMapEnums::Connectivity;

  /** Which voxels are neighbors. */
  Connectivity connectivity{ Connectivity::Full };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    visit("Connectivity", &SizeZoneJob::connectivity);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const SizeZoneJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const SizeZoneJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_SizeZoneJob_h
