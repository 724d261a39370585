// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "window/PairOffsets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr std::int64_t maxOffsetComponent = 254; // windows have at most 255 voxels along an axis
constexpr std::size_t  maxNumberOfOffsets = 4096;

template <typename TOffset>
std::string
ToString(const TOffset & offset)
{
  return '(' + std::to_string(offset[0]) + ", " + std::to_string(offset[1]) + ", " + std::to_string(offset[2]) + ')';
}

void
VerifyNoPairTwice(const std::vector<PairOffset> & offsets)
{
  for (auto it = offsets.begin(); it != offsets.end(); ++it)
  {
    const auto isSame = [&it](const PairOffset & other) {
      const int(&a)[3] = it->step;
      const int(&b)[3] = other.step;
      return (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) || (a[0] == -b[0] && a[1] == -b[1] && a[2] == -b[2]);
    };
    if (std::any_of(offsets.begin(), it, isSame))
    {
      throw EngineError("A job has the offset " + ToString(it->step) +
                        " twice, as itself or as its opposite, but must have each pair of voxels once.");
    }
  }
}
} // namespace

std::vector<PairOffset>
MakePairOffsets(const std::vector<Triple> & offsets)
{
  if (offsets.empty() || offsets.size() > maxNumberOfOffsets)
  {
    throw EngineError("A job has " + std::to_string(offsets.size()) + " offsets, but must have 1 to " +
                      std::to_string(maxNumberOfOffsets) + '.');
  }
  std::vector<PairOffset> result;
  for (const Triple & offset : offsets)
  {
    PairOffset step{};
    bool       isValid = offset[0] != 0 || offset[1] != 0 || offset[2] != 0;
    for (int d = 0; d < 3; ++d)
    {
      isValid = isValid && offset[d] >= -maxOffsetComponent && offset[d] <= maxOffsetComponent;
      step.step[d] = static_cast<int>(offset[d]);
    }
    if (!isValid)
    {
      throw EngineError("A job has the offset " + ToString(offset) + ", but components must be -" +
                        std::to_string(maxOffsetComponent) + " to " + std::to_string(maxOffsetComponent) +
                        ", and not all 0.");
    }
    result.push_back(step);
  }
  return result;
}

std::vector<PairOffset>
MakeNeighborOffsets(const std::vector<Triple> & offsets, const int (&windowSize)[3])
{
  std::vector<PairOffset> result = MakePairOffsets(offsets);
  VerifyNoPairTwice(result);
  const auto isTooLong = [&windowSize](const PairOffset & offset) {
    return std::abs(offset.step[0]) >= windowSize[0] || std::abs(offset.step[1]) >= windowSize[1] ||
           std::abs(offset.step[2]) >= windowSize[2];
  };
  result.erase(std::remove_if(result.begin(), result.end(), isTooLong), result.end());
  return result;
}
} // namespace voxelmaps
