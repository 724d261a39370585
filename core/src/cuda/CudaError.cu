// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "cuda/CudaError.h"

namespace voxelmaps
{
namespace
{
const char *
Advice(cudaError_t error)
{
  switch (error)
  {
    case cudaErrorNoDevice:
      return "Compute on the CPU, or check with nvidia-smi that there is a device.";
    case cudaErrorInitializationError:
      return "CUDA does not work in a process that was forked from one that had used it: start the process anew (in "
             "Python by multiprocessing.set_start_method(\"spawn\")), or compute on the CPU.";
    case cudaErrorInsufficientDriver:
      return "The driver is older than the CUDA version of this build: update the driver, or build with an older CUDA.";
    case cudaErrorInvalidDevice:
      return "SetDeviceID accepts 0 to the number of devices - 1.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "This build has no code for this device: build with its number in CMAKE_CUDA_ARCHITECTURES.";
    case cudaErrorMemoryAllocation:
      return "Free memory on the device, or set a smaller DeviceMemoryBudget.";
    case cudaErrorDevicesUnavailable:
      return "Another program holds the device for itself.";
    default:
      return "The device may have been lost: see the system log, and start the program again.";
  }
}
} // namespace

void
CheckCuda(cudaError_t result, const char * doing)
{
  if (result == cudaSuccess)
  {
    return;
  }
  // Errors that do not break the context must not show up in the next call.
  cudaGetLastError();
  throw CudaError(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorName(result) + ", " +
                  cudaGetErrorString(result) + ". " + Advice(result));
}

void
CheckLaunch(const char * kernel)
{
  CheckCuda(cudaGetLastError(), kernel);
}
} // namespace voxelmaps
