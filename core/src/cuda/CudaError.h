// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
