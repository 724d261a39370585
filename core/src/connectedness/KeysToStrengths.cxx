// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/KeysToStrengths.h"

#include "connectedness/AffinityPlan.h"

#include <algorithm>
#include <cstring>

namespace voxelmaps
{
namespace
{
template <typename TReal>
void
Convert(const FuzzyConnectednessJob & job, const std::uint32_t * keys)
{
  const Combination combination = MakeAffinityTerms(job).combination;
  auto * const      strengths = static_cast<TReal *>(job.output);
  ForEachRangeOfVoxels(job.GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t voxel = begin; voxel < end; ++voxel)
    {
      // memcpy, since keys and strengths may share memory.
      std::uint32_t key;
      std::memcpy(&key, keys + voxel, sizeof(key));
      const auto strength = static_cast<TReal>(KeyStrength(combination, key));
      std::memcpy(strengths + voxel, &strength, sizeof(strength));
    }
  });
}
} // namespace

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
  job.outputIsDouble ? Convert<double>(job, keys) : Convert<float>(job, keys);
}
} // namespace voxelmaps
