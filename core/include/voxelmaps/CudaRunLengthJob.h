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
#ifndef voxelmaps_CudaRunLengthJob_h
#define voxelmaps_CudaRunLengthJob_h

#include "voxelmaps/RunLengthJob.h"

namespace voxelmaps
{
/** \class CudaRunLengthOptions
 * \brief Options of the CUDA engine for a RunLengthJob. They do not affect the result.
 *
 * \ingroup VoxelMaps
 */
struct CudaRunLengthOptions : CudaOptions
{
  using Method = RunLengthFeatureMapEnums::CudaMethod;

  Method method{ Method::Automatic };
};

/** \class CudaRunLengthReport
 * \brief How the CUDA engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct CudaRunLengthReport : CudaReport
{
  CudaRunLengthOptions::Method method{ CudaRunLengthOptions::Method::Automatic };
  /** Kernel time that SortReduce spent on matrices and on features; 0 with other methods. */
  double matricesMilliseconds{ 0.0 };
  double featuresMilliseconds{ 0.0 };
};

/** Compute the features of all voxels of the output region on a CUDA device; bit-identical to
 * ComputeRunLengthFeatureMaps. Throws EngineError if CUDA fails, the device has too little memory, or the method does
 * not support the job; the message has the text of CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob & job, const CudaRunLengthOptions & options);

/** Whether ComputeRunLengthFeatureMaps is expected to be faster than the device with the method Automatic: an estimate
 * from the sizes, the number of workers, and the kind of device. */
VoxelMapsCore_EXPORT bool
IsCpuFaster(const RunLengthJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_CudaRunLengthJob_h
