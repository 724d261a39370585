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
    GrayLevelNonUniformity = 0,       /**< GLN, IBSI JNSA */
    GrayLevelNonUniformityNormalized, /**< GLNN, IBSI Y1RO */
    GrayLevelVariance,                /**< GLV, IBSI BYLV */
    HighGrayLevelZoneEmphasis,        /**< HGLZE, IBSI 5GN9 */
    LargeAreaEmphasis,                /**< LAE, IBSI 48P8 */
    LargeAreaHighGrayLevelEmphasis,   /**< LAHGLE, IBSI J17V */
    LargeAreaLowGrayLevelEmphasis,    /**< LALGLE, IBSI YH51 */
    LowGrayLevelZoneEmphasis,         /**< LGLZE, IBSI XMSY */
    SizeZoneNonUniformity,            /**< SZN, IBSI 4JP3 */
    SizeZoneNonUniformityNormalized,  /**< SZNN, IBSI VB3A */
    SmallAreaEmphasis,                /**< SAE, IBSI 5QRC */
    SmallAreaHighGrayLevelEmphasis,   /**< SAHGLE, IBSI HW1V */
    SmallAreaLowGrayLevelEmphasis,    /**< SALGLE, IBSI 5RAI */
    ZoneEntropy,                      /**< ZE, IBSI GU8N */
    ZonePercentage,                   /**< ZP, IBSI P30P */
    ZoneVariance                      /**< ZV, IBSI 3NSA */
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

  static constexpr unsigned int NumberOfFeatures = 16;

  VOXELMAPS_FEATURE_NAMES_MACRO;
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
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const SizeZoneJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const SizeZoneJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_SizeZoneJob_h
