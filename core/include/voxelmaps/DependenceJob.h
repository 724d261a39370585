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
  std::uint32_t        alpha{ 0 };
  std::vector<Feature> features;

  /** Compute the windows one by one, which is slow, even if the faster engine supports the job. For tests: the result
   * is bit-identical. */
  bool walkWindows{ false };
};

/** See TextureFeatureMapJob. */
VoxelMapsCore_EXPORT void
ComputeDependenceFeatureMaps(const DependenceJob & job);

using CudaDependenceOptions = CudaTextureOptions<DependenceFeatureMapEnums::CudaMethod>;
using CudaDependenceReport = CudaTextureReport<DependenceFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device. */
VoxelMapsCore_EXPORT CudaDependenceReport
ComputeDependenceFeatureMapsCuda(const DependenceJob & job, const CudaDependenceOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_DependenceJob_h
