// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaThreadTables_cuh
#define CudaThreadTables_cuh

#include "common/HostDevice.h"

#include <cstddef>
#include <cstdint>

// Tables of single threads in shared memory. Word i of all threads of a block is stored side by side, so that each lane
// of a warp has a bank for itself, wherever in its table it reads or writes.
namespace voxelmaps
{
/** Tables of a block of VThreads threads; a multiple of the lanes of a warp. */
template <int VThreads>
struct CudaThreadTables
{
  static constexpr int threads = VThreads;
  static constexpr int wordBytes = sizeof(std::uint32_t);
  /** From one word of a thread to its next one. */
  static constexpr int wordStride = VThreads * wordBytes;

  /** Words of a table of so many entries. */
  template <typename T>
  static constexpr int
  NumberOfWords(int entries)
  {
    return (entries * static_cast<int>(sizeof(T)) + wordBytes - 1) / wordBytes;
  }
  /** Bytes of so many words of each thread. */
  static constexpr VOXELMAPS_HOST_DEVICE std::size_t
                                         Bytes(int words)
  {
    return static_cast<std::size_t>(words) * wordStride;
  }
  /** Bytes from the table of a thread to its entry i. */
  template <typename T>
  static constexpr VOXELMAPS_HOST_DEVICE int
  Offset(int i)
  {
    constexpr int perWord = wordBytes / static_cast<int>(sizeof(T));
    return i / perWord * wordStride + i % perWord * static_cast<int>(sizeof(T));
  }

#if defined(__CUDACC__)
  /** The tables of this thread, which begin at the word of so many words before them. */
  static __device__ char *
  ThreadTable(char * shared, int wordsBefore)
  {
    return shared + wordsBefore * wordStride + threadIdx.x * wordBytes;
  }
  template <typename T>
  static __device__ T &
  At(char * table, int offset)
  {
    return *reinterpret_cast<T *>(table + offset);
  }
  static __device__ void
  Clear(char * table, int words)
  {
    for (int i = 0; i < words; ++i)
    {
      At<std::uint32_t>(table, i * wordStride) = 0;
    }
  }
#endif
};
} // namespace voxelmaps

#endif // CudaThreadTables_cuh
