// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef NearestLabelsRow_h
#define NearestLabelsRow_h

#include "window/cpu/KernelTile.h"

#include <cstdint>
#include <limits>

namespace voxelmaps
{
/** All links of a voxel. */
constexpr std::uint32_t allBlocked = ~std::uint32_t{ 0 };

/** A key of the zone of ties that no path has reached, above all others. */
template <typename TKey>
constexpr TKey unreachedKey = std::numeric_limits<TKey>::max() / 2;

/** A link, from a place in the workspace of NearestLabels to a neighbor. */
template <typename TKey>
struct NearestLabelsStep
{
  std::int64_t stride;
  TKey         key;
  int          bit; // of the link
};

/** A row of voxels to which keys pass from their neighbors. */
template <typename TKey>
struct NearestLabelsRow
{
  static constexpr std::int64_t maxLength = 64;

  using Step = NearestLabelsStep<TKey>;
  /** The first voxel, and its blocked links. */
  TKey *                keys;
  const std::uint32_t * blocked;
  std::int64_t          length;
  /** Links to other rows, and the two to the voxels before and behind in this row. */
  const Step * steps;
  std::int64_t numberOfSteps;
  const Step * alongX;
  /** Whether some voxels have both blocked and other links. */
  bool isMixed;
  /** Whether keys have passed along the row since it has changed. */
  bool isSettled;
};

/** Pass keys on to a row, and along it until nothing changes. Returns 0 if nothing has. */
VOXELMAPS_DECLARE_KERNEL(std::uint32_t PassKeysOn(const NearestLabelsRow<std::uint32_t> & row);
                         std::uint64_t PassKeysOn(const NearestLabelsRow<std::uint64_t> & row))
} // namespace voxelmaps

#endif // NearestLabelsRow_h
