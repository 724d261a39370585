// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_DependenceJob_h
#define voxelmaps_DependenceJob_h

#include "voxelmaps/DependenceFeatureMapEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class DependenceJob
 * \brief The complete input, parameters and output of an engine of gray level dependences.
 *
 * \ingroup VoxelMaps
 */
struct DependenceJob : TextureFeatureMapJob
{
  using Feature = DependenceFeatureMapEnums::Feature;

  /** The neighbors of a voxel p are p + offset and p - offset. No offset twice, as itself or as its opposite. */
  std::vector<Triple> offsets;
  /** A neighbor is dependent if its level differs by at most so much. */
  std::uint32_t alpha{ 0 };
  /** Features to compute, each at most once. */
  std::vector<Feature> features;

  /** Compute the windows one by one, which is slow, even if the faster engine supports the job. For tests: the result
   * is bit-identical. */
  bool walkWindows{ false };
};

/** Compute the features of all voxels of the output region on the CPU. The result depends only on levels and
 * parameters; it is bit-identical for all numbers of workers and instruction sets. Throws EngineError if the job is
 * invalid, except for levels above numberOfGrayLevels, which it does not look for. */
VoxelMapsCore_EXPORT void
ComputeDependenceFeatureMaps(const DependenceJob & job);

using CudaDependenceOptions = CudaTextureOptions<DependenceFeatureMapEnums::CudaMethod>;
using CudaDependenceReport = CudaTextureReport<DependenceFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device; bit-identical. Throws EngineError also if CUDA fails, the device has too little memory,
 * or the method does not support the job; the message has the text of CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaDependenceReport
ComputeDependenceFeatureMapsCuda(const DependenceJob & job, const CudaDependenceOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_DependenceJob_h
