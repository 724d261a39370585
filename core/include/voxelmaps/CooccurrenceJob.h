// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CooccurrenceJob_h
#define voxelmaps_CooccurrenceJob_h

#include "voxelmaps/CooccurrenceFeatureMapEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace voxelmaps
{
/** \class CooccurrenceJob
 * \brief The complete input, parameters and output of a co-occurrence engine.
 *
 * \ingroup VoxelMaps
 */
struct CooccurrenceJob : TextureFeatureMapJob
{
  using Feature = CooccurrenceFeatureMapEnums::Feature;
  using Aggregation = CooccurrenceFeatureMapEnums::Aggregation;

  /** A pair consists of the voxels p and p + offset. */
  std::vector<Triple> offsets;
  /** Weight of the pairs of each offset in the sum of the matrices, 0 to 1e100; empty if all count alike. For Merge.
   * Such matrices are counted window by window, which is slow, and windows must have at most 512 voxels or levels. */
  std::vector<double>  offsetWeights;
  std::vector<Feature> features;
  Aggregation          aggregation{ Aggregation::Average };
  /** Count every pair in both orders. */
  bool symmetric{ true };
  /** Value of features of a matrix without pairs. */
  double emptyValue{ std::numeric_limits<double>::quiet_NaN() };
  /** Whether all voxels of the whole region, of which the job may be a part, have the same level: the maximal
   * correlation coefficient is 1 then, instead of 0. So it is if numberOfGrayLevels is 1. */
  bool hasOneLevel{ false };

  /** Count the pairs of the windows one by one, which is slow, even if the faster engine supports the job. For tests:
   * the result is bit-identical. */
  bool walkWindows{ false };

  /** Number of components of a voxel of the output. */
  std::size_t
  GetNumberOfComponents() const
  {
    return features.size() * (aggregation == Aggregation::PerDirection ? offsets.size() : 1);
  }
};

/** See TextureFeatureMapJob. */
VoxelMapsCore_EXPORT void
ComputeCooccurrenceFeatureMaps(const CooccurrenceJob & job);

using CudaCooccurrenceOptions = CudaTextureOptions<CooccurrenceFeatureMapEnums::CudaMethod>;
using CudaCooccurrenceReport = CudaTextureReport<CooccurrenceFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device. */
VoxelMapsCore_EXPORT CudaCooccurrenceReport
ComputeCooccurrenceFeatureMapsCuda(const CooccurrenceJob & job, const CudaCooccurrenceOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_CooccurrenceJob_h
