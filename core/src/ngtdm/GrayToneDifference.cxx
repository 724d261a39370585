// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ngtdm/GrayToneDifference.h"

#include "common/FixedPoint.h"
#include "common/ParallelFor.h"

#include <algorithm>
#include <cstdlib>

namespace voxelmaps
{
namespace
{
// Up to so many neighbors, their number divides the least common multiple of 1 ... 26.
constexpr std::uint64_t maxExactNeighbors = 26;
constexpr std::uint64_t leastCommonMultiple = 26771144400;

// Weights of more neighbors: good to 2^-50 for 8192 of them.
constexpr int weightBits = 62;

constexpr int narrowSumBits = 62;
} // namespace

TextureClass<GrayToneDifferenceJob>::TextureClass(const GrayToneDifferenceJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  SetTextureTask(job, static_cast<int>(job.features.size()), task);
  this->SetFeatures(job);
  task.countVoxelsWithoutNeighbors = job.countVoxelsWithoutNeighbors;
  task.windowVoxels = static_cast<int>(NumberOfVoxels(job.windowSize));
  this->SetOffsets(job);
  this->MakeWeights();
}

void
TextureClass<GrayToneDifferenceJob>::SetFeatures(const GrayToneDifferenceJob & job)
{
  using Feature = GrayToneDifferenceJob::Feature;
  SetTaskFeatures(job.features, "GrayToneDifferenceFeatureMapEnums::Feature", task);
  for (const Feature feature : job.features)
  {
    task.needsComplexity = task.needsComplexity || feature == Feature::Complexity;
    task.needsImbalances = task.needsImbalances || feature == Feature::Busyness;
  }
}

void
TextureClass<GrayToneDifferenceJob>::SetOffsets(const GrayToneDifferenceJob & job)
{
  offsets = MakeNeighborOffsets(job.offsets, task.window);
  int longest = 0;
  for (const PairOffset & offset : offsets)
  {
    for (int d = 0; d < 3; ++d)
    {
      task.reach[d] = std::max(task.reach[d], std::abs(offset.step[d]));
      longest = std::max(longest, task.reach[d]);
    }
  }
  // No pair is given twice, so their number determines whether the box is complete.
  std::size_t boxVoxels = 1;
  for (const int reach : task.reach)
  {
    boxVoxels *= static_cast<std::size_t>(2 * std::min(reach, 1) + 1);
  }
  task.isBox = longest <= 1 && 2 * offsets.size() + 1 == boxVoxels;
  task.numberOfOffsets = static_cast<int>(offsets.size());
  task.offsets = offsets.data();
}

void
TextureClass<GrayToneDifferenceJob>::MakeWeights()
{
  const std::uint64_t neighbors = 2 * offsets.size();
  const bool          isExact = neighbors <= maxExactNeighbors;
  weights.push_back(0);
  for (std::uint64_t k = 1; k <= neighbors; ++k)
  {
    weights.push_back(isExact ? leastCommonMultiple / k
                              : static_cast<std::uint64_t>(FixedPointQuotient(1, k, weightBits)));
  }
  task.weights = weights.data();
  task.scale = isExact ? static_cast<double>(leastCommonMultiple) : PowerOfTwo(weightBits);
  // A(i) <= n(i) (Ng - 1) L, and X <= windowVoxels times their sum.
  const double voxels = task.windowVoxels;
  const double bound = voxels * (task.numberOfGrayLevels - 1) * task.scale;
  task.isWide = !isExact || voxels * bound > PowerOfTwo(narrowSumBits);
  task.differenceBits = task.isWide ? 0 : BitCount(static_cast<std::uint64_t>(bound));
}
} // namespace voxelmaps
