// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/KeysToStrengths.h"

#include "common/ParallelFor.h"
#include "connectedness/AffinityPlan.h"

#include <algorithm>
#include <cstring>

namespace voxelmaps
{
namespace
{
template <typename TReal>
void
ConvertInOrder(const FuzzyConnectednessJob & job, const std::uint32_t * keys, std::int64_t begin, std::int64_t end)
{
  const Combination combination = MakeAffinityTerms(job).combination;
  auto * const      strengths = static_cast<TReal *>(job.output);
  for (std::int64_t voxel = begin; voxel < end; ++voxel)
  {
    // memcpy, since keys and strengths share memory.
    std::uint32_t key;
    std::memcpy(&key, keys + voxel, sizeof(key));
    const auto strength = static_cast<TReal>(KeyStrength(combination, key));
    std::memcpy(strengths + voxel, &strength, sizeof(strength));
  }
}
} // namespace

std::uint32_t *
GetKeysInOutput(const FuzzyConnectednessJob & job)
{
  return static_cast<std::uint32_t *>(job.output) + (job.outputIsDouble ? job.GetNumberOfVoxels() : 0);
}

void
ClearKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  ForEachRangeOfVoxels(job.GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
    std::fill(keys + begin, keys + end, noKey);
  });
}

void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, const std::uint32_t * keys)
{
  const std::int64_t count = job.GetNumberOfVoxels();
  if (!job.outputIsDouble)
  {
    // Every strength lies where its own key was.
    ForEachRangeOfVoxels(count, job.execution, [&](std::int64_t begin, std::int64_t end) {
      ConvertInOrder<float>(job, keys, begin, end);
    });
    return;
  }
  // The keys from number first on begin at byte 4 (count + first) of the output, and the strengths before number last
  // end at byte 8 last. So with last = (count + first) / 2, the strengths of first ... last - 1 cover no key of their
  // own range or after it, and can be written in any order. The rest is written in order: strength i ends at byte
  // 8 (i + 1), and the next key that is needed begins at byte 4 (count + i + 1), which is never less.
  constexpr std::int64_t maxInOrder = 1 << 17;
  std::int64_t           first = 0;
  while (count - first > maxInOrder)
  {
    const std::int64_t last = (count + first) / 2;
    ForEachRangeOfVoxels(last - first, job.execution, [&](std::int64_t begin, std::int64_t end) {
      ConvertInOrder<double>(job, keys, first + begin, first + end);
    });
    first = last;
  }
  ConvertInOrder<double>(job, keys, first, count);
}
} // namespace voxelmaps
