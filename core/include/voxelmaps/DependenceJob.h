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
    SmallDependenceEmphasis = 0,          /**< SDE, IBSI SODN */
    LargeDependenceEmphasis,              /**< LDE, IBSI IMOQ */
    GrayLevelNonUniformity,               /**< GLN, IBSI FP8K */
    DependenceNonUniformity,              /**< DN, IBSI Z87G */
    DependenceNonUniformityNormalized,    /**< DNN, IBSI OKJI */
    GrayLevelVariance,                    /**< GLV, IBSI 1PFV */
    DependenceVariance,                   /**< DV, IBSI DNX2 */
    DependenceEntropy,                    /**< DE, IBSI FCBV */
    LowGrayLevelEmphasis,                 /**< LGLE, IBSI TL9H */
    HighGrayLevelEmphasis,                /**< HGLE, IBSI OAE7 */
    SmallDependenceLowGrayLevelEmphasis,  /**< SDLGLE, IBSI EQ3F */
    SmallDependenceHighGrayLevelEmphasis, /**< SDHGLE, IBSI JA6D */
    LargeDependenceLowGrayLevelEmphasis,  /**< LDLGLE, IBSI NBZI */
    LargeDependenceHighGrayLevelEmphasis  /**< LDHGLE, IBSI 9QMG */
  };

  /** \class CudaMethod
   * \brief How the features are computed on a CUDA device. All methods give bit-identical results.
   *
   * \ingroup VoxelMaps
   */
  enum class CudaMethod : std::uint8_t
  {
    /** The faster method that supports the job. */
    Automatic = 0,
    /** A thread counts the dependences of one window by bits in its registers, level by level: up to 7 voxels along
     * each axis, 63 levels (511 of windows of several slices), and neighbors at distance 1. */
    BitPlanes,
    /** A warp or a block counts the dependences of one window by atomic additions; supports every job. */
    WindowWalk
  };

  static constexpr unsigned int NumberOfFeatures = 14;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(DependenceFeatureMapEnums::CudaMethod, "invalid method", "Automatic", "BitPlanes",
                           "WindowWalk");

/** \class DependenceJob
 * \brief The complete input, parameters and output of an engine of gray level dependences.
 *
 * \ingroup VoxelMaps
 */
struct DependenceJob : FeatureJob<DependenceFeatureMapEnums>
{
  /** The neighbors of a voxel p are p + offset and p - offset. No offset twice, as itself or as its opposite. */
  std::vector<Triple> offsets;
  /** A neighbor is dependent if its level differs by at most so much. */
  std::uint32_t alpha{ 0 };

  /** Compute the windows one by one, which is slow, even if the faster engine supports the job. For tests: the result
   * is bit-identical. */
  bool walkWindows{ false };
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const DependenceJob & job);

VoxelMapsCore_EXPORT CudaTextureReport<DependenceJob>
ComputeFeatureMapsCuda(const DependenceJob & job, const CudaTextureOptions<DependenceJob> & options);
} // namespace voxelmaps

#endif // voxelmaps_DependenceJob_h
