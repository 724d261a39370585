// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/HostMemory.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__linux__)
#  include <sys/mman.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#  include <unistd.h>
#endif
#if defined(__SSE2__) || defined(_M_X64)
#  define VOXELMAPS_STREAMING_STORES
#  include <emmintrin.h>
#endif

namespace voxelmaps
{
namespace
{
constexpr std::uintptr_t pageBytes = 4096;
// On x86-64, and on 64-bit Arm with pages of 4096 bytes. Of other sizes, some pages are ordinary ones.
constexpr std::uintptr_t hugePageBytes = std::uintptr_t{ 2 } << 20;
#if defined(__linux__)
// MADV_POPULATE_WRITE of Linux 5.14, which older headers lack.
constexpr int adviceToPopulate = 23;
#endif
} // namespace

std::uint64_t
GetMachineMemory()
{
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long pageSize = sysconf(_SC_PAGESIZE);
  if (pages > 0 && pageSize > 0)
  {
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageSize);
  }
#endif
  return ~std::uint64_t{ 0 };
}

void
UseHugePages(void * data, std::size_t bytes)
{
#if defined(MADV_HUGEPAGE)
  // Smaller buffers often come from memory that has been written to before.
  constexpr std::size_t minBytesForHugePages = std::size_t{ 4 } << 20;
  if (data == nullptr || bytes < minBytesForHugePages)
  {
    return;
  }
  const auto           address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t offset = (hugePageBytes - address % hugePageBytes) % hugePageBytes;
  const std::uintptr_t end = (address + bytes) / hugePageBytes * hugePageBytes;
  if (address + offset < end)
  {
    // A hint: failure only affects performance.
    static_cast<void>(madvise(static_cast<char *>(data) + offset, end - address - offset, MADV_HUGEPAGE));
  }
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

void
TouchMemory(void * data, std::size_t bytes, const JobExecution & execution)
{
  // Fewer take less time than it takes to start a worker.
  constexpr std::int64_t minHugePagesPerWorker = 1;

  UseHugePages(data, bytes);
  if (bytes == 0)
  {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto firstHugePage = address / hugePageBytes;
  const auto hugePages = static_cast<std::int64_t>((address + bytes - 1) / hugePageBytes - firstHugePage + 1);
  // Workers that write to the same huge page would wait for each other.
  ForEachRange(hugePages, minHugePagesPerWorker, execution, [=](std::int64_t first, std::int64_t last) {
    const auto atHugePage = [=](std::int64_t number) {
      return (firstHugePage + static_cast<std::uintptr_t>(number)) * hugePageBytes;
    };
    const std::uintptr_t begin = std::max(atHugePage(first), address);
    const std::uintptr_t end = std::min(atHugePage(last), address + bytes);
    for (std::uintptr_t at = begin; at < end; at += pageBytes - at % pageBytes)
    {
      static_cast<volatile char *>(data)[at - address] = 0;
    }
  });
}

void
PopulateHugePages(void * data, std::size_t bytes, std::size_t begin, std::size_t end)
{
#if defined(__linux__)
  if (!PopulatesHugePages())
  {
    return;
  }
  const auto           address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t pagesEnd = (address + bytes) / pageBytes * pageBytes;
  const std::uintptr_t partEnd = address + std::min(end, bytes);
  for (std::uintptr_t at = (address + begin + hugePageBytes - 1) / hugePageBytes * hugePageBytes;
       at < std::min(partEnd, pagesEnd);
       at += hugePageBytes)
  {
    // A hint: otherwise, the first write takes longer.
    static_cast<void>(
      madvise(static_cast<char *>(data) + (at - address), std::min(hugePageBytes, pagesEnd - at), adviceToPopulate));
  }
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
  static_cast<void>(begin);
  static_cast<void>(end);
#endif
}

bool
PopulatesHugePages()
{
#if defined(__linux__)
  // Systems refuse a hint that they do not know, even about nothing.
  static const bool populates =
    sysconf(_SC_PAGESIZE) == static_cast<long>(pageBytes) && madvise(nullptr, 0, adviceToPopulate) == 0;
  return populates;
#else
  return false;
#endif
}

void
CopyPastCaches(void * to, const void * from, std::size_t bytes)
{
#if defined(VOXELMAPS_STREAMING_STORES)
  constexpr std::size_t vectorBytes = sizeof(__m128i);
  constexpr std::size_t lineBytes = 4 * vectorBytes;

  auto *            target = static_cast<char *>(to);
  const auto *      source = static_cast<const char *>(from);
  const std::size_t unaligned = (vectorBytes - reinterpret_cast<std::uintptr_t>(to) % vectorBytes) % vectorBytes;
  std::size_t       at = std::min(unaligned, bytes);
  std::memcpy(target, source, at);
  for (; at + lineBytes <= bytes; at += lineBytes)
  {
    for (std::size_t i = at; i < at + lineBytes; i += vectorBytes)
    {
      _mm_stream_si128(reinterpret_cast<__m128i *>(target + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(source + i)));
    }
  }
  std::memcpy(target + at, source + at, bytes - at);
  // Before other threads learn that the copy is done.
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}
} // namespace voxelmaps
