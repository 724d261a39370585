// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RegionFeaturesJob_h
#define voxelmaps_RegionFeaturesJob_h

#include "voxelmaps/FeatureMapsJob.h"
#include "voxelmaps/FeatureTable.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class RegionFeaturesJob
 * \brief Features of the regions of a label image: one number per feature and region.
 *
 * Each region has its own range of intensities, gray levels and matrices, whose counts are exact. Features are sums of
 * doubles with compensation, in ascending order of the gray levels or intensities, so that results are bit-identical
 * for all numbers of workers.
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
  /** The labels of the regions; all that are greater than 0, in ascending order, if empty. */
  std::vector<std::int64_t> labels;

  /** The range is that of each region for RangeSource::Mask. */
  GrayLevelDiscretizationParameters discretization;
  /** Features and parameters of the classes. What TextureFeatureMapJob has of them is not used, nor are windows. */
  std::vector<TextureClassJob> classes;
  /** Numbers of features of shape in space, and of shape in a plane, PyRadiomics' class shape2D. */
  std::vector<unsigned int> shapeFeatures;
  std::vector<unsigned int> planarShapeFeatures;
  /** Size of a voxel in mm. */
  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };
  /** Whether voxels of a zone can be neighbors along each axis: false across the planes of PyRadiomics' force2D. */
  std::array<bool, 3> connectsAxis{ { true, true, true } };

  /** Progress is reported in voxels of the array, and again in those of each region when its levels are there. */
  JobExecution execution;
};

/** \class RegionFeatures
 * \brief The features of a region.
 *
 * \ingroup VoxelMaps
 */
struct RegionFeatures
{
  std::int64_t label{ 0 };
  /** All voxels with the label. Those with NaN, or below the first edge of bins, have no gray level. */
  std::int64_t numberOfVoxels{ 0 };
  unsigned int numberOfGrayLevels{ 0 };
  /** The bounding box in the array. */
  Triple boxIndex{ { 0, 0, 0 } };
  Triple boxSize{ { 0, 0, 0 } };
  /** Those of the classes in their order, then shape and planar shape; NaN where a feature is undefined. */
  std::vector<double> values;
};

/** Names of the features of shape, whose places are their numbers. */
const VoxelMapsCore_EXPORT FeatureTable &
GetShapeFeatureTable();
const VoxelMapsCore_EXPORT FeatureTable &
GetPlanarShapeFeatureTable();

/** Compute the features of all regions on the CPU. Throws EngineError if the job is invalid, an intensity in a region
 * is infinite, or there are too many gray levels. */
VoxelMapsCore_EXPORT std::vector<RegionFeatures>
                     ComputeRegionFeatures(const RegionFeaturesJob & job);

/** The same on a CUDA device; bit-identical. Pixels and labels in device memory stay there: matrices, counts, and for
 * first order the sorted intensities of the regions, are copied to the host, which computes the features of them. Jobs
 * in host memory that do not fit into that of the device are computed on the CPU. */
VoxelMapsCore_EXPORT std::vector<RegionFeatures>
                     ComputeRegionFeaturesCuda(const RegionFeaturesJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_RegionFeaturesJob_h
