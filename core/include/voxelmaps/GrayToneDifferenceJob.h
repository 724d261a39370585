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
    Busyness = 0, /**< BUS, IBSI NQ30 */
    Coarseness,   /**< COA, IBSI QCDE */
    Complexity,   /**< COM, IBSI HDEZ */
    Contrast,     /**< CON, IBSI 65HE */
    Strength      /**< STR, IBSI 1X9X */
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
    /** A thread sums the differences of one window by level. */
    LevelTables,
    /** A block of threads sums the differences of one window; supports every job. */
    WindowWalk
  };

  static constexpr unsigned int NumberOfFeatures = 5;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(GrayToneDifferenceFeatureMapEnums::CudaMethod, "invalid method", "Automatic", "LevelTables",
                           "WindowWalk");

/** \class GrayToneDifferenceJob
 * \brief The complete input, parameters and output of an engine of gray tone differences.
 *
 * \ingroup VoxelMaps
 */
struct GrayToneDifferenceJob : FeatureJob<GrayToneDifferenceFeatureMapEnums>
{
  /** The neighbors of the voxel p are p + offset and p - offset. */
  std::vector<Triple> offsets;
  /** Whether voxels without neighbors count, with a difference of 0. */
  bool countVoxelsWithoutNeighbors{ true };

  /** Visit the neighbors of the windows one by one, which is slow, even if the faster engine supports the job. For
   * tests: the result is bit-identical. */
  bool walkWindows{ false };
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const GrayToneDifferenceJob & job);

VoxelMapsCore_EXPORT CudaTextureReport<GrayToneDifferenceJob>
ComputeFeatureMapsCuda(const GrayToneDifferenceJob & job, const CudaTextureOptions<GrayToneDifferenceJob> & options);
} // namespace voxelmaps

#endif // voxelmaps_GrayToneDifferenceJob_h
