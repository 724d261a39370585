// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WorkspaceLayout_h
#define WorkspaceLayout_h

#include "common/HostDevice.h"

#include <cstddef>

namespace voxelmaps
{
// Unnamed, since the kernels of the CPU are compiled once per instruction set.
namespace
{
/** Lays out the parts of a workspace one behind the other, in shared memory of a device too: without memory to learn
 * their size, then on the memory. */
class WorkspaceLayout
{
public:
  /** Every part is aligned to so many bytes: the default is for all vectors. */
  explicit VOXELMAPS_HOST_DEVICE
  WorkspaceLayout(void * memory, std::size_t alignment = 64)
    : m_Memory(static_cast<char *>(memory))
    , m_Alignment(alignment)
  {}
  /** Room for so many elements. */
  template <typename T>
  VOXELMAPS_HOST_DEVICE T *
  Append(std::ptrdiff_t number)
  {
    const std::size_t begin = this->Reserve<T>(number);
#if !defined(__CUDA_ARCH__)
    if (m_Memory == nullptr)
    {
      return nullptr;
    }
#endif
    return reinterpret_cast<T *>(m_Memory + begin);
  }
  /** The same; returns where it begins, in bytes. */
  template <typename T>
  VOXELMAPS_HOST_DEVICE std::size_t
                        Reserve(std::ptrdiff_t number)
  {
    const std::size_t begin = m_Bytes;
    m_Bytes += (static_cast<std::size_t>(number) * sizeof(T) + m_Alignment - 1) / m_Alignment * m_Alignment;
    return begin;
  }
  VOXELMAPS_HOST_DEVICE std::size_t
                        Bytes() const
  {
    return m_Bytes;
  }

private:
  char *      m_Memory;
  std::size_t m_Alignment;
  std::size_t m_Bytes{ 0 };
};
} // namespace
} // namespace voxelmaps

#endif // WorkspaceLayout_h
