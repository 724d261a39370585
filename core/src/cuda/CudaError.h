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
#ifndef CudaError_h
#define CudaError_h

#include "voxelmaps/CudaDevices.h"

#include <cuda_runtime_api.h>

namespace voxelmaps
{
/** An error of CUDA or of what it is asked for. */
class CudaError : public DeviceError
{
public:
  using DeviceError::DeviceError;
};

/** Too little device memory; a smaller slab may fit. */
class CudaOutOfMemory : public CudaError
{
public:
  using CudaError::CudaError;
};

/** Throw CudaError, with CUDA's text and advice, unless the result is success. */
void
CheckCuda(cudaError_t result, const char * doing);

/** Check the launch of a kernel. */
void
CheckLaunch(const char * kernel);
} // namespace voxelmaps

#endif // CudaError_h
