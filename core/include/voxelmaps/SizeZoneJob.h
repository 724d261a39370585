// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_SizeZoneJob_h
#define voxelmaps_SizeZoneJob_h

#include "voxelmaps/SizeZoneFeatureMapEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <vector>

namespace voxelmaps
{
/** \class SizeZoneJob
 * \brief The complete input, parameters and output of a size zone engine.
 *
 * \ingroup VoxelMaps
 */
struct SizeZoneJob : TextureFeatureMapJob
{
  using Feature = SizeZoneFeatureMapEnums::Feature;
  using Connectivity = SizeZoneFeatureMapEnums::Connectivity;

  /** Features to compute, each at most once. */
  std::vector<Feature> features;
  /** Which voxels are neighbors. */
  Connectivity connectivity{ Connectivity::Full };
};

/** Compute the features of all voxels of the output region on the CPU. The result depends only on levels and
 * parameters; it is bit-identical for all numbers of workers and instruction sets. Throws EngineError if the job is
 * invalid, except for levels above numberOfGrayLevels, which it does not look for. */
VoxelMapsCore_EXPORT void
ComputeSizeZoneFeatureMaps(const SizeZoneJob & job);

using CudaSizeZoneOptions = CudaTextureOptions<SizeZoneFeatureMapEnums::CudaMethod>;
using CudaSizeZoneReport = CudaTextureReport<SizeZoneFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device; bit-identical. Automatic computes jobs that no method supports on the CPU. Throws
 * EngineError also if CUDA fails, the device has too little memory, or the method does not support the job; the message
 * has the text of CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob & job, const CudaSizeZoneOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_SizeZoneJob_h
