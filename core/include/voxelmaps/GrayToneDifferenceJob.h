// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_GrayToneDifferenceJob_h
#define voxelmaps_GrayToneDifferenceJob_h

#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <vector>

namespace voxelmaps
{
/** \class GrayToneDifferenceJob
 * \brief The complete input, parameters and output of an engine of gray tone differences.
 *
 * \ingroup VoxelMaps
 */
struct GrayToneDifferenceJob : TextureFeatureMapJob
{
  using Feature = GrayToneDifferenceFeatureMapEnums::Feature;

  /** The neighbors of the voxel p are p + offset and p - offset. */
  std::vector<Triple>  offsets;
  std::vector<Feature> features;
  /** Whether voxels without neighbors count, with a difference of 0. */
  bool countVoxelsWithoutNeighbors{ true };

  /** Visit the neighbors of the windows one by one, which is slow, even if the faster engine supports the job. For
   * tests: the result is bit-identical. */
  bool walkWindows{ false };
};

/** See TextureFeatureMapJob. */
VoxelMapsCore_EXPORT void
ComputeGrayToneDifferenceFeatureMaps(const GrayToneDifferenceJob & job);

using CudaGrayToneDifferenceOptions = CudaTextureOptions<GrayToneDifferenceFeatureMapEnums::CudaMethod>;
using CudaGrayToneDifferenceReport = CudaTextureReport<GrayToneDifferenceFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device. */
VoxelMapsCore_EXPORT CudaGrayToneDifferenceReport
ComputeGrayToneDifferenceFeatureMapsCuda(const GrayToneDifferenceJob &         job,
                                         const CudaGrayToneDifferenceOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_GrayToneDifferenceJob_h
