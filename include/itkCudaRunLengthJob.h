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
#ifndef itkCudaRunLengthJob_h
#define itkCudaRunLengthJob_h

#include "itkRunLengthJob.h"

#include <cstdint>
#include <string>

namespace itk
{
/** \class CudaRunLengthOptions
 * \brief How the CUDA engine is to compute a RunLengthJob. The result does not depend on it.
 *
 * \ingroup VoxelMaps
 */
struct CudaRunLengthOptions
{
  using Method = RunLengthFeatureMapEnums::CudaMethod;

  int    deviceID{ 0 };
  Method method{ Method::Automatic };
  /** Bytes of device memory to use at most; 0 for what is free. */
  std::uint64_t memoryBudget{ 0 };
};

/** \class CudaRunLengthReport
 * \brief What the CUDA engine did.
 *
 * \ingroup VoxelMaps
 */
struct CudaRunLengthReport
{
  CudaRunLengthOptions::Method method{ CudaRunLengthOptions::Method::Automatic };
  std::string                  deviceName;
  /** Pieces of the output region that were computed one after the other. */
  std::uint64_t numberOfSlabs{ 0 };
  /** Sum of the times of all kernels. */
  double kernelMilliseconds{ 0.0 };
  /** Of Primitives: what of it went into the matrices, and what into the features; 0 with other methods. */
  double matricesMilliseconds{ 0.0 };
  double featuresMilliseconds{ 0.0 };
};

/** Compute all voxels of the output region on a CUDA device: the bits of ComputeRunLengthFeatureMaps.
 * Throws std::runtime_error, with CUDA's text, what was needed and what to do, if CUDA fails, the device lacks memory,
 * or the method cannot take the job. */
VoxelMaps_EXPORT CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob & job, const CudaRunLengthOptions & options);
} // namespace itk

#endif // itkCudaRunLengthJob_h
