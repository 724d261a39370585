// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RegionFeaturesJob_h
#define voxelmaps_RegionFeaturesJob_h

#include "voxelmaps/FeatureMapsJob.h"
#include "voxelmaps/ShapeFeatureEnums.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class RegionFeaturesJob
 * \brief Features of the regions of a label image: one number per feature and region.
 *
 * Each region has its own range of intensities, gray levels and matrices. Counts are exact integers of 64 bits.
 * Features are sums of doubles with compensation, in ascending order of the gray levels or intensities, so that results
 * are bit-identical for all numbers of workers.
 *
 * \ingroup VoxelMaps
 */
struct RegionFeaturesJob
{
  /** One pixel of the pixel type per voxel. NaN is an absent voxel, except for shape; infinity in a region is an error.
   */
  const void * pixels{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  Triple       size{ { 0, 0, 0 } };
  /** One label of an integer type per voxel. */
  const void * labelImage{ nullptr };
  PixelType    labelType{ PixelType::UInt8 };
  /** The labels of the regions, each at most once. */
  std::vector<std::int64_t> labels;

  /** The range is that of each region for RangeSource::Mask. */
  GrayLevelDiscretizationParameters discretization;
  /** Features and parameters of the classes. What TextureFeatureMapJob has of them is not used, nor are windows. A run
   * length direction counts if one of its lines has two voxels of the region. */
  std::vector<TextureClassJob>                  classes;
  std::vector<ShapeFeatureEnums::Feature>       shapeFeatures;
  std::vector<PlanarShapeFeatureEnums::Feature> planarShapeFeatures;
  /** Size of a voxel in mm. */
  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };
  /** Whether voxels of a zone can be neighbors along each axis: false across the planes of PyRadiomics' force2D. */
  std::array<bool, 3> connectsAxis{ { true, true, true } };

  /** The features of region r begin at output + r * GetNumberOfFeatures: those of the classes in their order, then
   * shape and planar shape. NaN for regions without voxels. */
  double * output{ nullptr };

  /** Progress is reported in voxels of the array, and again in voxels of each region when it is finished. */
  JobExecution execution;
};

/** \class RegionSummary
 * \brief What a region consists of.
 *
 * \ingroup VoxelMaps
 */
struct RegionSummary
{
  std::int64_t label{ 0 };
  /** All voxels with the label; those without NaN and below no first edge of bins are present. */
  std::int64_t numberOfVoxels{ 0 };
  std::int64_t numberOfPresentVoxels{ 0 };
  /** First and last index along each axis. */
  Triple first{ { 0, 0, 0 } };
  Triple last{ { -1, -1, -1 } };
  /** Of the intensities that are not NaN. */
  double       minimum{ 0.0 };
  double       maximum{ 0.0 };
  unsigned int numberOfGrayLevels{ 0 };
};

/** Number of features of a region. */
VoxelMapsCore_EXPORT std::int64_t
                     GetNumberOfFeatures(const RegionFeaturesJob & job);

/** All labels of a label image other than 0, in ascending order. */
VoxelMapsCore_EXPORT std::vector<std::int64_t>
FindLabels(const void * labelImage, PixelType labelType, std::int64_t numberOfVoxels, const JobExecution & execution);

/** Compute the features of all regions on the CPU. Throws EngineError if the job is invalid, an intensity in a region
 * is infinite, or there are too many gray levels. */
VoxelMapsCore_EXPORT std::vector<RegionSummary>
                     ComputeRegionFeatures(const RegionFeaturesJob & job);
} // namespace voxelmaps

#endif // voxelmaps_RegionFeaturesJob_h
