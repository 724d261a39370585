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
  std::vector<Triple> offsets;
  /** Features to compute, each at most once. */
  std::vector<Feature> features;
  /** Whether voxels without neighbors count, with a difference of 0. */
  bool countVoxelsWithoutNeighbors{ true };

  /** Visit the neighbors of the windows one by one, which is slow, even if the faster engine supports the job. For
   * tests: the result is bit-identical. */
  bool walkWindows{ false };
};

/** Compute the features of all voxels of the output region on the CPU. The result depends only on levels and
 * parameters; it is bit-identical for all numbers of workers and instruction sets. Throws EngineError if the job is
 * invalid, except for levels above numberOfGrayLevels, which it does not look for. */
VoxelMapsCore_EXPORT void
ComputeGrayToneDifferenceFeatureMaps(const GrayToneDifferenceJob & job);

using CudaGrayToneDifferenceOptions = CudaTextureOptions<GrayToneDifferenceFeatureMapEnums::CudaMethod>;
using CudaGrayToneDifferenceReport = CudaTextureReport<GrayToneDifferenceFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device; bit-identical. Throws EngineError also if CUDA fails, the device has too little memory,
 * or the method does not support the job; the message has the text of CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaGrayToneDifferenceReport
ComputeGrayToneDifferenceFeatureMapsCuda(const GrayToneDifferenceJob &         job,
                                         const CudaGrayToneDifferenceOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_GrayToneDifferenceJob_h
