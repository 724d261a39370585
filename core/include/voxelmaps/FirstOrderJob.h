/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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

/** Compute the features of all voxels of the output region on the CPU. The result depends on intensities, levels and
 * parameters alone; it is bit-identical for all numbers of workers and instruction sets. Throws EngineError if the job
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

/** Whether the CPU is expected to be faster than the device with the method Automatic: an estimate from the sizes, the
 * number of workers, and the kind of device. */
VoxelMapsCore_EXPORT bool
IsCpuFaster(const FirstOrderJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_FirstOrderJob_h
