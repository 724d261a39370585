// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RowKeys_h
#define RowKeys_h

#include "connectedness/AffinityPlan.h"

#include <cstdint>
#include <memory>

namespace voxelmaps
{
/** Keys of the links of consecutive voxels. The only part of a contraction that depends on the pixel type. */
class RowKeys
{
public:
  virtual ~RowKeys() = default;

  /** Compute the key of one link of each of the voxels first + i, i < count, without mask and minimum. */
  virtual void
  Compute(std::int64_t first, int count, const Link & link, std::uint32_t * keys) const = 0;

  /** Whether the tables of keys, if there are any, cover these pixels. */
  virtual bool
  IsInRange(std::int64_t first, std::int64_t count) const = 0;

  /** Read the pixels of another image of the same size and type from now on. */
  virtual void
  SetImage(const FuzzyConnectednessInput & input) = 0;

protected:
  RowKeys() = default;
  RowKeys(const RowKeys &) = default;
  RowKeys &
  operator=(const RowKeys &) = default;
};

std::unique_ptr<RowKeys>
MakeRowKeys(const FuzzyConnectednessProblem & problem);
} // namespace voxelmaps

#endif // RowKeys_h
