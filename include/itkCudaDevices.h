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
#ifndef itkCudaDevices_h
#define itkCudaDevices_h

#include "VoxelMapsExport.h"

#include <cstdint>
#include <string>

namespace itk
{
/** \class CudaDevices
 * \brief The CUDA devices that the Cuda filters of this module can use.
 *
 * All functions may be called in any build, on any machine and from any thread: a build without CUDA has no devices. No
 * CUDA function is called before one of these functions, or a filter, is first used, and none of them but GetFreeMemory
 * creates a context on a device.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT CudaDevices
{
public:
  /** Number of devices, numbered as CUDA does; 0 if there is no driver, or if kernels of this build run on none of
   * them. */
  static int
  GetNumberOfDevices();

  /** Why GetNumberOfDevices() is 0, and what to do about it; empty if it is not. */
  static std::string
  GetReasonForNoDevice();

  /** Throws voxelmaps::EngineError, which says why and what to do, unless the device exists and kernels of this build
   * run on it. */
  static void
  Verify(int deviceID);

  /** Whether the device exists and kernels of this build run on it. */
  static bool
  IsUsable(int deviceID);

  /** Name of a device, "NVIDIA H100 80GB HBM3" for example; empty if there is no such device. */
  static std::string
  GetName(int deviceID);

  /** Bytes of device memory that are free at this moment; 0 if there is no such device. */
  static std::uint64_t
  GetFreeMemory(int deviceID);

  /** Versions of CUDA that this module was built with and that the driver supports, as 13000 for 13.0; 0 if none. */
  static int
  GetRuntimeVersion();
  static int
  GetDriverVersion();
};
} // namespace itk

#endif // itkCudaDevices_h
