// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaDevice_h
#define CudaDevice_h

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
} // namespace voxelmaps

#endif // CudaDevice_h
