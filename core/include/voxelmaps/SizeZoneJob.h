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

  std::vector<Feature> features;
  /** Which voxels are neighbors. */
  Connectivity connectivity{ Connectivity::Full };
};

/** See TextureFeatureMapJob. */
VoxelMapsCore_EXPORT void
ComputeSizeZoneFeatureMaps(const SizeZoneJob & job);

using CudaSizeZoneOptions = CudaTextureOptions<SizeZoneFeatureMapEnums::CudaMethod>;
using CudaSizeZoneReport = CudaTextureReport<SizeZoneFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device. Automatic computes jobs that no method supports on the CPU. */
VoxelMapsCore_EXPORT CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob & job, const CudaSizeZoneOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_SizeZoneJob_h
