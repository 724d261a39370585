// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by NearestLabelsRow*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "NearestLabelsRow.h"

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** The key that a voxel has from a neighbor; not below unreachedKey if the link is blocked. */
template <bool IsMixed, typename TKey>
inline TKey
GetKeyFrom(const NearestLabelsStep<TKey> & step, TKey neighbor, std::uint32_t blocked)
{
  // In rows that are not mixed, all bits of the word are equal.
  const std::uint32_t word = IsMixed ? 0u - (blocked >> step.bit & 1u) : blocked;
  return static_cast<TKey>(neighbor + step.key) |
         (static_cast<TKey>(static_cast<std::int32_t>(word)) & unreachedKey<TKey>);
}

template <bool IsMixed, typename TKey>
inline TKey
PassOn(const NearestLabelsRow<TKey> & row, std::int64_t length)
{
  TKey * const                keys = row.keys;
  const std::uint32_t * const blocked = row.blocked;
  TKey                        settled[NearestLabelsRow<TKey>::maxLength];
  for (std::int64_t x = 0; x < length; ++x)
  {
    settled[x] = keys[x];
  }
  for (std::int64_t i = 0; i < row.numberOfSteps; ++i)
  {
    const NearestLabelsStep<TKey> step = row.steps[i];
    const TKey * const            from = keys + step.stride;
    for (std::int64_t x = 0; x < length; ++x)
    {
      const TKey key = GetKeyFrom<IsMixed>(step, from[x], blocked[x]);
      settled[x] = key < settled[x] ? key : settled[x];
    }
  }
  const auto store = [&]() {
    TKey difference = 0;
    for (std::int64_t x = 0; x < length; ++x)
    {
      difference |= settled[x] ^ keys[x];
      keys[x] = settled[x];
    }
    return difference;
  };
  const NearestLabelsStep<TKey> before = row.alongX[0];
  const NearestLabelsStep<TKey> behind = row.alongX[1];
  TKey                          changed = store();
  for (TKey difference = row.isSettled ? changed : TKey{ 1 }; difference != 0;)
  {
    for (std::int64_t x = 0; x < length; ++x)
    {
      const TKey first = GetKeyFrom<IsMixed>(before, keys[x + before.stride], blocked[x]);
      const TKey second = GetKeyFrom<IsMixed>(behind, keys[x + behind.stride], blocked[x]);
      const TKey key = first < second ? first : second;
      settled[x] = key < keys[x] ? key : keys[x];
    }
    difference = store();
    changed |= difference;
  }
  return changed;
}

template <typename TKey>
inline TKey
PassOnToRow(const NearestLabelsRow<TKey> & row)
{
  // Loops of a known length are unrolled.
  constexpr std::int64_t usual = 32;
  return row.length == usual ? (row.isMixed ? PassOn<true>(row, usual) : PassOn<false>(row, usual))
                             : (row.isMixed ? PassOn<true>(row, row.length) : PassOn<false>(row, row.length));
}
} // namespace

std::uint32_t
PassKeysOn(const NearestLabelsRow<std::uint32_t> & row)
{
  return PassOnToRow(row);
}

std::uint64_t
PassKeysOn(const NearestLabelsRow<std::uint64_t> & row)
{
  return PassOnToRow(row);
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
