// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FeatureMapsJob_h
#define voxelmaps_FeatureMapsJob_h

#include "voxelmaps/CooccurrenceJob.h"
#include "voxelmaps/DependenceJob.h"
#include "voxelmaps/FirstOrderJob.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/GrayToneDifferenceJob.h"
#include "voxelmaps/RunLengthJob.h"
#include "voxelmaps/SizeZoneJob.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace voxelmaps
{
/** A job of any texture class. */
using TextureClassJob =
  std::variant<CooccurrenceJob, DependenceJob, FirstOrderJob, GrayToneDifferenceJob, RunLengthJob, SizeZoneJob>;

/** A job of a class by its name in PyRadiomics, such as "glrlm", with the default parameters and without features.
 * Throws EngineError if there is no such class. */
VoxelMapsCore_EXPORT TextureClassJob
MakeTextureClassJob(const std::string & className);

/** Names of the methods of the CPU that support a job of a class, the one that an empty name chooses first. Pointers of
 * the job may be null. Throws EngineError if the job is invalid. */
VoxelMapsCore_EXPORT std::vector<std::string>
                     GetMethods(const TextureClassJob & job);

/** The same for a CUDA device. The list is empty if only the CPU computes the job. */
VoxelMapsCore_EXPORT std::vector<std::string>
                     GetCudaMethods(const TextureClassJob & job, int deviceID = 0);

/** \class FeatureMapsJob
 * \brief Maps of several texture classes from the pixels of one array.
 *
 * \ingroup VoxelMaps
 */
struct FeatureMapsJob
{
  /** One pixel of the pixel type per voxel. */
  const void * pixels{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  Triple       size{ { 0, 0, 0 } };
  /** One byte per voxel, 0 where a voxel is absent; null if there is no mask. */
  const std::uint8_t *              mask{ nullptr };
  GrayLevelDiscretizationParameters discretization;

  /** The window of voxel p consists of p - windowAnchor ... p - windowAnchor + windowSize - 1. */
  Triple windowSize{ { 1, 1, 1 } };
  Triple windowAnchor{ { 0, 0, 0 } };

  /** Features, parameters and methods of the classes. What TextureFeatureMapJob has of them is set by the engine. */
  std::vector<TextureClassJob> classes;

  /** The part of the array that has maps. */
  Triple outputIndex{ { 0, 0, 0 } };
  Triple outputSize{ { 0, 0, 0 } };
  /** The maps, those of the first class first: float, or double if outputIsDouble. Voxel v of map m is at output +
   * v * voxelStride + m * mapStride: 1 and at least the number of voxels of the output, one contiguous map after the
   * other; or at least the number of maps and 1, interleaved, as in an itk::VectorImage. */
  void *       output{ nullptr };
  bool         outputIsDouble{ false };
  std::int64_t voxelStride{ 1 };
  std::int64_t mapStride{ 0 };
  /** One byte per voxel of the output, 0 where no features are to be computed; null selects all voxels. */
  const std::uint8_t * selection{ nullptr };
  /** Value of all features of a voxel that is absent or not selected. */
  double backgroundValue{ 0.0 };

  JobExecution execution;
};

/** Number of maps of all classes of a job. */
VoxelMapsCore_EXPORT std::int64_t
                     GetNumberOfMaps(const FeatureMapsJob & job);

/** Discretize, and compute the maps of all classes on the CPU; bit-identical to the jobs of the classes. Throws
 * EngineError, as these and DiscretizeGrayLevels do. */
VoxelMapsCore_EXPORT GrayLevelDiscretizationResult
ComputeFeatureMaps(const FeatureMapsJob & job);

/** The same on a CUDA device; bit-identical. The input is copied to the device once, if it is not there already. */
VoxelMapsCore_EXPORT GrayLevelDiscretizationResult
ComputeFeatureMapsCuda(const FeatureMapsJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_FeatureMapsJob_h
