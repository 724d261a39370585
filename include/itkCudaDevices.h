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
 * All functions may be called in any build and on any machine, from any thread: without CUDA there are just no devices.
 * No CUDA function is called before the first of them, or a Cuda filter, is used.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT CudaDevices
{
public:
  /** Number of devices; 0 if there is no driver, or none that this build can use. */
  static int
  GetNumberOfDevices();

  /** Why there is no device, and what to do about it; empty if there is one. */
  static std::string
  GetReasonForNoDevice();

  /** Throws std::runtime_error, which says why and what to do, unless there is a device 0 ... number of devices - 1 of
   * this number. */
  static void
  Verify(int deviceID);

  /** Whether kernels of this module run on the device 0 ... GetNumberOfDevices() - 1. */
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
