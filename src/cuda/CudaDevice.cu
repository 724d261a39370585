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
#include "CudaDevice.h"
#include "CudaError.h"
#include "itkCudaDevices.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace itk
{
namespace voxelmaps
{
namespace
{
__global__ void
ProbeKernel()
{}

// Kernels that are loaded at their first launch, and their local memory, take some.
constexpr std::uint64_t reservedBytes = std::uint64_t{ 64 } << 20;
} // namespace

CurrentDevice::CurrentDevice(int deviceID)
{
  CudaDevices::Verify(deviceID);
  CheckCuda(cudaGetDevice(&m_Former), "asking for the current device");
  CheckCuda(cudaSetDevice(deviceID), "choosing the device");
  cudaFuncAttributes attributes;
  CheckCuda(cudaFuncGetAttributes(&attributes, ProbeKernel), "looking for code for this device");
}

CurrentDevice::~CurrentDevice()
{
  if (m_Former >= 0)
  {
    cudaSetDevice(m_Former);
  }
}

std::uint64_t
UsableDeviceMemory(std::uint64_t budget)
{
  std::size_t free = 0;
  std::size_t total = 0;
  CheckCuda(cudaMemGetInfo(&free, &total), "asking for free device memory");
  const std::uint64_t usable = free > 2 * reservedBytes ? free - reservedBytes : free / 2;
  return budget > 0 ? std::min(budget, usable) : usable;
}
} // namespace voxelmaps

int
CudaDevices::GetNumberOfDevices()
{
  int number = 0;
  if (cudaGetDeviceCount(&number) != cudaSuccess)
  {
    cudaGetLastError();
    return 0;
  }
  return number;
}

std::string
CudaDevices::GetReasonForNoDevice()
{
  int               number = 0;
  const cudaError_t result = cudaGetDeviceCount(&number);
  if (result == cudaSuccess && number > 0)
  {
    return "";
  }
  // CUDA calls this, too, a driver that is too old.
  if (GetDriverVersion() == 0)
  {
    cudaGetLastError();
    return "This machine has no NVIDIA driver: install one, or use the filters without Cuda in their names.";
  }
  try
  {
    voxelmaps::CheckCuda(result == cudaSuccess ? cudaErrorNoDevice : result, "looking for a device");
  }
  catch (const voxelmaps::CudaError & error)
  {
    return error.what();
  }
  return "";
}

void
CudaDevices::Verify(int deviceID)
{
  const int number = GetNumberOfDevices();
  if (number == 0)
  {
    throw voxelmaps::CudaError(GetReasonForNoDevice());
  }
  if (deviceID < 0 || deviceID >= number)
  {
    throw voxelmaps::CudaError("The DeviceID is " + std::to_string(deviceID) + ", but must be 0 to " +
                               std::to_string(number - 1) + ": this machine has " + std::to_string(number) +
                               " CUDA device(s).");
  }
}

bool
CudaDevices::IsUsable(int deviceID)
{
  try
  {
    const voxelmaps::CurrentDevice device(deviceID);
    return true;
  }
  catch (const voxelmaps::CudaError &)
  {
    return false;
  }
}

std::string
CudaDevices::GetName(int deviceID)
{
  // Asking takes longer than computing a small image.
  static std::mutex                 mutex;
  static std::map<int, std::string> names;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto                        known = names.find(deviceID);
  if (known != names.end())
  {
    return known->second;
  }
  cudaDeviceProp properties;
  if (deviceID < 0 || deviceID >= GetNumberOfDevices() || cudaGetDeviceProperties(&properties, deviceID) != cudaSuccess)
  {
    cudaGetLastError();
    return "";
  }
  return names[deviceID] = properties.name;
}

std::uint64_t
CudaDevices::GetFreeMemory(int deviceID)
{
  try
  {
    const voxelmaps::CurrentDevice device(deviceID);
    std::size_t                    free = 0;
    std::size_t                    total = 0;
    voxelmaps::CheckCuda(cudaMemGetInfo(&free, &total), "asking for free device memory");
    return free;
  }
  catch (const voxelmaps::CudaError &)
  {
    return 0;
  }
}

int
CudaDevices::GetRuntimeVersion()
{
  return CUDART_VERSION;
}

int
CudaDevices::GetDriverVersion()
{
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}
} // namespace itk
