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
#ifndef CudaDevice_h
#define CudaDevice_h

#include "common/ProcessorChoice.h"

#include <cstdint>

namespace voxelmaps
{
/** Makes a device the current one of this host thread for the lifetime of the object, then restores the former one. */
class CurrentDevice
{
public:
  /** Throws CudaError if there is no such device, or it cannot be used. */
  explicit CurrentDevice(int deviceID);
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &
  operator=(const CurrentDevice &) = delete;
  ~CurrentDevice();

private:
  int m_Former{ -1 };
};

/** Bytes that a job may use on the current device: the budget if it is not 0, but never more than is free, minus a
 * reserve for CUDA itself. */
std::uint64_t
UsableDeviceMemory(std::uint64_t budget);

/** Speed of a device, asked for without starting it. */
DeviceSpeed
GetDeviceSpeed(int deviceID);
} // namespace voxelmaps

#endif // CudaDevice_h
