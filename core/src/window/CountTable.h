// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CountTable_h
#define CountTable_h

#include "common/HostDevice.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** Counts how often keys from 1 on occur, for a team of threads: an array, or a hash table where an array would be much
 * larger. */
class CountTable
{
public:
  /** For keys up to one, of which at most so many different ones are counted between two calls of Clear. */
  VOXELMAPS_HOST_DEVICE
  CountTable(std::uint64_t maxKey, std::uint64_t maxCounted)
    : m_Words(maxKey + 1)
    , m_Bits(0)
    , m_Counts(nullptr)
  {
    constexpr std::uint64_t maxArray = 1024;
    if (maxKey > maxArray && maxKey > 4 * maxCounted)
    {
      m_Bits = 6;
      while ((std::uint64_t{ 1 } << m_Bits) < 2 * maxCounted)
      {
        ++m_Bits;
      }
      m_Words = std::uint64_t{ 2 } << m_Bits;
    }
  }

  /** A multiple of 8. */
  VOXELMAPS_HOST_DEVICE std::size_t
                        Bytes() const
  {
    return static_cast<std::size_t>((m_Words + 1) / 2 * 2 * sizeof(std::uint32_t));
  }
  VOXELMAPS_HOST_DEVICE void
  SetMemory(void * memory)
  {
    m_Counts = static_cast<std::uint32_t *>(memory);
  }

  template <typename TTeam>
  VOXELMAPS_DEVICE void
  Clear(const TTeam & team)
  {
    const auto words = static_cast<std::uint32_t>(m_Words);
    for (auto i = static_cast<std::uint32_t>(team.Rank()); i < words; i += static_cast<std::uint32_t>(team.Size()))
    {
      m_Counts[i] = 0;
    }
  }

  /** Count some more of a key; returns how many there were. */
  template <typename TTeam>
  VOXELMAPS_DEVICE std::uint32_t
                   Count(std::uint32_t key, std::uint32_t number, const TTeam & team)
  {
    if (m_Bits == 0)
    {
      return team.Add(m_Counts[key], number);
    }
    // Keys, then their counts.
    const std::uint32_t entries = std::uint32_t{ 1 } << m_Bits;
    std::uint32_t       entry = (key * 2654435769u) >> (32 - m_Bits);
    for (;;)
    {
      const std::uint32_t found = team.ReplaceZero(m_Counts[entry], key);
      if (found == 0 || found == key)
      {
        return team.Add(m_Counts[entries + entry], number);
      }
      entry = (entry + 1) & (entries - 1);
    }
  }

  /** Call visit(key, count) for the keys from one on that were counted. It may count keys before that one. */
  template <typename TTeam, typename TVisit>
  VOXELMAPS_DEVICE void
  ForEach(std::uint32_t firstKey, const TTeam & team, const TVisit & visit) const
  {
    const std::uint32_t entries = m_Bits == 0 ? static_cast<std::uint32_t>(m_Words) : std::uint32_t{ 1 } << m_Bits;
    const auto          size = static_cast<std::uint32_t>(team.Size());
    for (auto i = (m_Bits == 0 ? firstKey : 0) + static_cast<std::uint32_t>(team.Rank()); i < entries; i += size)
    {
      const std::uint32_t key = m_Bits == 0 ? i : m_Counts[i];
      const std::uint32_t count = key < firstKey ? 0 : m_Counts[m_Bits == 0 ? i : entries + i];
      if (count != 0)
      {
        visit(key, count);
      }
    }
  }

private:
  std::uint64_t   m_Words;
  int             m_Bits;
  std::uint32_t * m_Counts;
};
} // namespace voxelmaps

#endif // CountTable_h
