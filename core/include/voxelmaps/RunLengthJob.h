// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RunLengthJob_h
#define voxelmaps_RunLengthJob_h

#include "voxelmaps/RunLengthFeatureMapEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class RunLengthJob
 * \brief The complete input, parameters and output of a run length engine.
 *
 * \ingroup VoxelMaps
 */
struct RunLengthJob : TextureFeatureMapJob
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  using Aggregation = RunLengthFeatureMapEnums::Aggregation;

  /** Directions of the runs: at most 13 different directions with components -1, 0 or 1. */
  std::vector<Triple> offsets;
  /** Weight of the runs of each direction in the sum of the matrices, 0 to 1e100; empty if all count alike. For Merge.
   * Such matrices are counted window by window, which is slow, and windows must have at most 512 voxels or levels. */
  std::vector<double>  offsetWeights;
  std::vector<Feature> features;
  Aggregation          aggregation{ Aggregation::Average };
  /** Leave out, window by window, directions in which no line holds two voxels: see
   * RunLengthFeatureMapImageFilter::SetSkipDirectionsWithoutPairs. */
  bool skipDirectionsWithoutPairs{ false };

  /** Walk the windows one by one, which is slow, even if the faster engine supports the job. For tests: the result is
   * bit-identical. */
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
ComputeRunLengthFeatureMaps(const RunLengthJob & job);

using CudaRunLengthOptions = CudaTextureOptions<RunLengthFeatureMapEnums::CudaMethod>;

/** \class CudaRunLengthReport
 * \brief How the CUDA engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct CudaRunLengthReport : CudaTextureReport<RunLengthFeatureMapEnums::CudaMethod>
{
  /** Kernel time that SortReduce spent on matrices and on features; 0 with other methods. */
  double matricesMilliseconds{ 0.0 };
  double featuresMilliseconds{ 0.0 };
};

/** The same on a CUDA device. */
VoxelMapsCore_EXPORT CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob & job, const CudaRunLengthOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_RunLengthJob_h
