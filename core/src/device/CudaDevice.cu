// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

#include "device/CudaArchitectures.h"
#include "device/CudaMemory.h"
#include "voxelmaps/CudaDevices.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

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

// Kernels are loaded at their first launch and need device memory, for their local variables too.
constexpr std::uint64_t reservedBytes = std::uint64_t{ 64 } << 20;
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

CurrentDevice::CurrentDevice(int deviceID)
{
  CudaDevices::Verify(deviceID);
  int former = deviceID;
  CheckCuda(cudaGetDevice(&former), "querying the current device");
  if (former != deviceID)
  {
    const cudaError_t result = cudaSetDevice(deviceID);
    if (result != cudaSuccess)
    {
      // A device that cannot be used may still have become the current one.
      cudaSetDevice(former);
    }
    CheckCuda(result, "choosing the device");
    m_Former = former;
  }
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
  CheckCuda(cudaMemGetInfo(&free, &total), "querying free device memory");
  free += CudaContext::Current().GetUnusedBytes();
  const std::uint64_t usable = free > 2 * reservedBytes ? free - reservedBytes : free / 2;
  return budget > 0 ? std::min(budget, usable) : usable;
}

namespace
{
/** Number of devices in CUDA's order, those included that this build has no code for. */
int
CountDevices(cudaError_t & result)
{
  SetCudaProcessId();
  int number = 0;
  result = WasForkedAfterCudaInit() ? cudaErrorInitializationError : cudaGetDeviceCount(&number);
  cudaGetLastError();
  return result == cudaSuccess ? number : 0;
}

/** Why the kernels of this build do not run on a device; empty if they do. Creates no context. */
std::string
GetIncompatibilityReason(int deviceID)
{
  int major = 0;
  int minor = 0;
  CheckCuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, deviceID),
            "querying the compute capability");
  CheckCuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, deviceID),
            "querying the compute capability");
  if (ArchitecturesRunOn(VOXELMAPS_CUDA_ARCHITECTURES, 10 * major + minor))
  {
    return "";
  }
  return "The CUDA device " + std::to_string(deviceID) + " (" + CudaDevices::GetName(deviceID) +
         ") has the compute capability " + std::to_string(major) + '.' + std::to_string(minor) +
         ", but this build has code for " + VOXELMAPS_CUDA_ARCHITECTURES +
         " only: build with its number in CMAKE_CUDA_ARCHITECTURES, or compute on the CPU.";
}
} // namespace

int
CudaDevices::GetNumberOfDevices()
{
  cudaError_t result = cudaSuccess;
  const int   number = CountDevices(result);
  for (int deviceID = 0; deviceID < number; ++deviceID)
  {
    if (IsUsable(deviceID))
    {
      return number;
    }
  }
  return 0;
}

std::string
CudaDevices::GetReasonForNoDevice()
{
  cudaError_t result = cudaSuccess;
  const int   number = CountDevices(result);
  // CUDA reports a missing driver as one that is too old.
  if (result != cudaSuccess && GetDriverVersion() == 0)
  {
    return "This machine has no NVIDIA driver: install one, or compute on the CPU.";
  }
  try
  {
    CheckCuda(result == cudaSuccess && number == 0 ? cudaErrorNoDevice : result, "looking for a device");
    return GetNumberOfDevices() > 0 ? "" : GetIncompatibilityReason(0);
  }
  catch (const CudaError & error)
  {
    return error.what();
  }
}

void
CudaDevices::Verify(int deviceID)
{
  // Devices do not come and go while a program runs. Not destroyed: filters may run until the process ends.
  static auto & mutex = *new std::mutex;
  static auto & verified = *new std::set<int>;
  if (!WasForkedAfterCudaInit())
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (verified.count(deviceID) > 0)
    {
      return;
    }
  }
  cudaError_t result = cudaSuccess;
  const int   number = CountDevices(result);
  if (number == 0)
  {
    throw CudaError(GetReasonForNoDevice());
  }
  if (deviceID < 0 || deviceID >= number)
  {
    throw CudaError("The DeviceID is " + std::to_string(deviceID) + ", but must be 0 to " + std::to_string(number - 1) +
                    ": this machine has " + std::to_string(number) + " CUDA device(s).");
  }
  const std::string reason = GetIncompatibilityReason(deviceID);
  if (!reason.empty())
  {
    throw CudaError(reason);
  }
  const std::lock_guard<std::mutex> lock(mutex);
  verified.insert(deviceID);
}

bool
CudaDevices::IsUsable(int deviceID)
{
  try
  {
    Verify(deviceID);
    return true;
  }
  catch (const CudaError &)
  {
    return false;
  }
}

std::string
CudaDevices::GetName(int deviceID)
{
  // The query takes longer than computing a small image.
  static auto *                     mutex = new std::mutex;
  static auto &                     names = *new std::map<int, std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto                        known = names.find(deviceID);
  if (known != names.end())
  {
    return known->second;
  }
  cudaDeviceProp properties;
  if (deviceID < 0 || cudaGetDeviceProperties(&properties, deviceID) != cudaSuccess)
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
    const CurrentDevice device(deviceID);
    std::size_t         free = 0;
    std::size_t         total = 0;
    CheckCuda(cudaMemGetInfo(&free, &total), "querying free device memory");
    return free;
  }
  catch (const CudaError &)
  {
    return 0;
  }
}

void
CudaDevices::ReleaseResources()
{
  CudaContext::ReleaseAll();
  PinnedBuffer::ReleaseKept();
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
} // namespace voxelmaps
