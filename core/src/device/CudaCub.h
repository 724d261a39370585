// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaCub_h
#define CudaCub_h

#include "device/CudaMemory.h"

#include <cstddef>

namespace voxelmaps
{
/** Call a function of CUB as call(memory, bytes): without memory, it tells how much it needs, then it works. */
template <typename TCall>
void
CallCub(const char * doing, cudaStream_t stream, const TCall & call)
{
  std::size_t bytes = 0;
  CheckCuda(call(nullptr, bytes), doing);
  const DeviceBuffer<char> memory(bytes, stream);
  CheckCuda(call(memory.data(), bytes), doing);
}
} // namespace voxelmaps

#endif // CudaCub_h
