// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CudaDevices_h
#define voxelmaps_CudaDevices_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <string>

namespace voxelmaps
{
/** \class DeviceError
 * \brief An error of a device, and not of a job: there is none, it has too little memory, or CUDA failed.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT DeviceError : public EngineError
{
public:
  using EngineError::EngineError;
};

/** \class DeviceEnums
 * \brief The choice between the CPU and a CUDA device, which does not change results.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT DeviceEnums
{
public:
  /** \class Device
   * \brief What computes.
   *
   * \ingroup VoxelMaps
   */
  enum class Device : std::uint8_t
  {
    /** The CUDA device if it is usable, else the CPU. Always the CPU if the environment variable VOXELMAPS_USE_CUDA is
     * 0, OFF, NO or FALSE. */
    Automatic = 0,
    /** The CPU. */
    CPU,
    /** The CUDA device; an error if it is not usable. */
    CUDA
  };
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(DeviceEnums::Device, "invalid device", "Automatic", "CPU", "CUDA");

/** \class CudaDevices
 * \brief The CUDA devices that the Cuda filters of this module can use.
 *
 * All functions may be called in any build, on any machine and from any thread; a build without CUDA has no devices.
 * CUDA is not called before the first use of one of these functions or of a filter. Of these functions, only
 * GetFreeMemory creates a context on a device.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT CudaDevices
{
public:
  /** Number of devices, in the numbering of CUDA; 0 if there is no driver, or if this build has no code for any of
   * them. */
  static int
  GetNumberOfDevices();

  /** Why GetNumberOfDevices() returns 0, and what to do about it; empty if it does not. */
  static std::string
  GetReasonForNoDevice();

  /** Throw EngineError, which says why and what to do, unless the device exists and this build has code for
   * it. */
  static void
  Verify(int deviceID);

  /** Whether the device exists and this build has code for it. */
  static bool
  IsUsable(int deviceID);

  /** Name of a device, "NVIDIA H100 80GB HBM3" for example; empty if there is no such device. */
  static std::string
  GetName(int deviceID);

  /** Bytes of device memory that are currently free; 0 if there is no such device. What the process keeps is not free:
   * see ReleaseResources(). */
  static std::uint64_t
  GetFreeMemory(int deviceID);

  /** Free what the process keeps of all devices from one Update() to the next, so that the next one need not wait for
   * it: a thirty-second of the memory of each device, streams, tables, and up to 128 MB of page-locked host memory.
   * Filters that run at the same time keep what they use. */
  static void
  ReleaseResources();

  /** Versions of CUDA that this module was built with and that the driver supports, such as 13000 for 13.0; 0 if
   * none. */
  static int
  GetRuntimeVersion();
  static int
  GetDriverVersion();
};
} // namespace voxelmaps

#endif // voxelmaps_CudaDevices_h
