// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FirstOrderJob_h
#define voxelmaps_FirstOrderJob_h

#include "voxelmaps/FirstOrderFeatureMapEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <vector>

namespace voxelmaps
{
/** \class FirstOrderJob
 * \brief The complete input, parameters and output of a first order engine; it needs intensities.
 *
 * \ingroup VoxelMaps
 */
struct FirstOrderJob : TextureFeatureMapJob
{
  using Feature = FirstOrderFeatureMapEnums::Feature;

  /** Features to compute, each at most once. */
  std::vector<Feature> features;
  /** Added to intensities in Energy, TotalEnergy and RootMeanSquared. */
  double voxelArrayShift{ 0.0 };
  /** Product of the spacing along all axes, for TotalEnergy. */
  double voxelVolume{ 1.0 };
};

/** Compute the features of all voxels of the output region on the CPU. The result depends only on intensities, levels
 * and parameters; it is bit-identical for all numbers of workers and instruction sets. Throws EngineError if the job
 * is invalid, except for levels above numberOfGrayLevels and intensities that break the rules of TextureFeatureMapJob,
 * which it does not look for. */
VoxelMapsCore_EXPORT void
ComputeFirstOrderFeatureMaps(const FirstOrderJob & job);

using CudaFirstOrderOptions = CudaTextureOptions<FirstOrderFeatureMapEnums::CudaMethod>;
using CudaFirstOrderReport = CudaTextureReport<FirstOrderFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device; bit-identical. Throws EngineError also if CUDA fails, the device has too little memory,
 * or the method does not support the job; the message has the text of CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaFirstOrderReport
ComputeFirstOrderFeatureMapsCuda(const FirstOrderJob & job, const CudaFirstOrderOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_FirstOrderJob_h
