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
#ifndef itkCudaFuzzyConnectednessJob_h
#define itkCudaFuzzyConnectednessJob_h

#include "itkFuzzyConnectednessJob.h"

#include <cstdint>
#include <string>

namespace itk
{
/** \class CudaFuzzyConnectednessOptions
 * \brief How the CUDA engine is to compute a FuzzyConnectednessJob. The result does not depend on it.
 *
 * \ingroup VoxelMaps
 */
struct CudaFuzzyConnectednessOptions
{
  using Method = FuzzyConnectednessEnums::CudaMethod;

  int    deviceID{ 0 };
  Method method{ Method::Automatic };
  /** Bytes of device memory to use at most; 0 for what is free. */
  std::uint64_t memoryBudget{ 0 };
  /** Passes over block-edge voxels in every iteration of CorrectedKFOE. */
  unsigned int correctionPasses{ 2 };
};

/** \class CudaFuzzyConnectednessReport
 * \brief What the CUDA engine did.
 *
 * \ingroup VoxelMaps
 */
struct CudaFuzzyConnectednessReport
{
  CudaFuzzyConnectednessOptions::Method method{ CudaFuzzyConnectednessOptions::Method::Automatic };
  std::string                           deviceName;
  /** Pieces of the volume that were solved one after the other, as often as needed. */
  std::uint64_t numberOfSlabs{ 0 };
  /** Iterations of CorrectedKFOE, rounds of ActiveTiles or of Hierarchy. */
  std::uint64_t numberOfIterations{ 0 };
  /** Sum of the times of all kernels. */
  double kernelMilliseconds{ 0.0 };
};

/** Compute the keys of all voxels on a CUDA device: the bits of ComputeFuzzyConnectedness.
 * Throws std::runtime_error, with CUDA's text, what was needed and what to do, if CUDA fails, the device lacks memory,
 * or the method cannot take the job. */
VoxelMaps_EXPORT CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options);
} // namespace itk

#endif // itkCudaFuzzyConnectednessJob_h
