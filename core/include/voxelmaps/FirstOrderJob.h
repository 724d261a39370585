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

  std::vector<Feature> features;
  /** Added to intensities in Energy, TotalEnergy and RootMeanSquared. */
  double voxelArrayShift{ 0.0 };
  /** Product of the spacing along all axes, for TotalEnergy. */
  double voxelVolume{ 1.0 };
};

/** See TextureFeatureMapJob. */
VoxelMapsCore_EXPORT void
ComputeFirstOrderFeatureMaps(const FirstOrderJob & job);

using CudaFirstOrderOptions = CudaTextureOptions<FirstOrderFeatureMapEnums::CudaMethod>;
using CudaFirstOrderReport = CudaTextureReport<FirstOrderFeatureMapEnums::CudaMethod>;

/** The same on a CUDA device. */
VoxelMapsCore_EXPORT CudaFirstOrderReport
ComputeFirstOrderFeatureMapsCuda(const FirstOrderJob & job, const CudaFirstOrderOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_FirstOrderJob_h
