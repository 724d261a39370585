// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RegionMatrix_h
#define voxelmaps_RegionMatrix_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** Matrices of a region of gray levels, as the Image Biomarker Standardisation Initiative (IBSI 1, arXiv:1612.07003,
 * section 3.6 to 3.11) names them. */
enum class RegionMatrixKind : std::uint8_t
{
  /** Row and column: levels of two voxels; in both orders. */
  Cooccurrence,
  /** Row: level; column: length. */
  RunLength,
  /** Row: level; column: number of voxels. */
  SizeZone,
  /** Row: level; column: the least distance of a voxel of the zone to the border of the region. */
  DistanceZone,
  /** Row: level; column: 1 + the number of dependent neighbors. */
  Dependence,
  /** Row: level; column: number of its voxels that have a neighbor; value: sum of the differences from their mean. */
  ToneDifference
};

/** \class RegionMatrixElement
 * \brief An element that is not 0 of a matrix of a region.
 *
 * \ingroup VoxelMaps
 */
struct RegionMatrixElement
{
  std::uint64_t row{ 0 };
  std::uint64_t column{ 0 };
  double        value{ 0.0 };
};

/** \class RegionMatrixJob
 * \brief A matrix of a region: what the features of texture are computed from, before directions and slices are merged.
 *
 * \ingroup VoxelMaps
 */
struct RegionMatrixJob
{
  RegionMatrixKind kind{ RegionMatrixKind::Cooccurrence };
  /** A gray level from 1 up per voxel of a box, 0 outside the region. */
  const std::uint16_t * levels{ nullptr };
  Triple                size{ { 0, 0, 0 } };
  /** Not 0 in the region whose border distances are measured to, which can be larger than that of the levels; the
   * levels' if null. */
  const std::uint8_t * inside{ nullptr };
  /** The direction of co-occurrence and run lengths; of neighbors, one of each two opposite offsets. */
  std::vector<Triple> offsets;
  /** Axes along which voxels of a zone are neighbors and distances are measured. */
  std::array<bool, 3> connectsAxis{ { true, true, true } };
  /** The greatest difference of the levels of dependent neighbors. */
  std::uint32_t alpha{ 0 };
  JobExecution  execution;
};

/** Compute a matrix, in ascending order of row and column. Throws EngineError if the job is invalid. */
VoxelMapsCore_EXPORT std::vector<RegionMatrixElement>
                     ComputeRegionMatrix(const RegionMatrixJob & job);

/** The features of a matrix, or of the sum of matrices, in the order of the enumeration of its class; those of
 * RunLength for all matrices by level and size. NaN if there are no elements.
 *
 * numberOfGrayLevels   The range of levels, which normalized differences are related to. */
VoxelMapsCore_EXPORT std::vector<double>
ComputeRegionMatrixFeatures(RegionMatrixKind kind, const std::vector<RegionMatrixElement> & elements,
                            std::uint32_t numberOfGrayLevels);
} // namespace voxelmaps

#endif // voxelmaps_RegionMatrix_h
