// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "glrlm/RunLength.h"

#include "common/FixedPoint.h"
#include "common/ParallelFor.h"
#include "window/OffsetWeights.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace voxelmaps
{
Directions
MakeDirections(const std::vector<Triple> & offsets, const Triple & windowSize)
{
  if (offsets.empty() || offsets.size() > Directions::maxNumber)
  {
    throw EngineError("A job has " + std::to_string(offsets.size()) + " offsets, but must have 1 to " +
                      std::to_string(Directions::maxNumber) + ": one of each opposite pair.");
  }
  Directions directions{};
  directions.longestLine = 1;
  for (const Triple & offset : offsets)
  {
    const bool isUnit = std::all_of(offset.begin(), offset.end(), [](std::int64_t c) { return c >= -1 && c <= 1; });
    const std::int64_t sign = offset[2] != 0 ? offset[2] : offset[1] != 0 ? offset[1] : offset[0];
    if (!isUnit || sign == 0)
    {
      throw EngineError("A job has the offset (" + std::to_string(offset[0]) + ", " + std::to_string(offset[1]) + ", " +
                        std::to_string(offset[2]) +
                        "), which is not a valid direction: its components must be -1, 0 or 1, and not all 0.");
    }
    const int    d = directions.number++;
    std::int64_t longest = 255;
    for (int axis = 0; axis < 3; ++axis)
    {
      directions.steps[d][axis] = static_cast<int>(offset[axis] * sign);
      if (offset[axis] != 0)
      {
        longest = std::min(longest, windowSize[axis]);
      }
    }
    directions.longestLines[d] = static_cast<int>(longest);
    directions.longestLine = std::max(directions.longestLine, directions.longestLines[d]);
  }
  return directions;
}

std::vector<RunLengthFeatureMapEnums::Feature>
RunLengthFeatureMapEnums::GetElevenFeatures()
{
  return GetFirstEnumerators<Feature>(11);
}

namespace
{
constexpr int entropyBits = 36;

// Fixed point 1 / i^2 must be good to 2^-24 for the greatest level, half a unit in the last place of a float.
constexpr int minInverseBits = 23;

// Sums of 1 / i^2 over a window have 40 bits if that is enough, so that kernels can keep them in one word with a number
// of runs and a sum of i^2; else 62, which must not overflow 64 bits.
constexpr int shortSumBits = 40;
constexpr int longSumBits = 62;
} // namespace

TextureClass<RunLengthJob>::TextureClass(const RunLengthJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyEnumerator("The aggregation", job.aggregation, RunLengthJob::Aggregation::Merge);
  SetTextureTask(job, static_cast<int>(job.GetNumberOfComponents()), task);
  task.directions = MakeDirections(job.offsets, job.windowSize);
  task.aggregation = job.aggregation;
  task.skipDirectionsWithoutPairs = job.skipDirectionsWithoutPairs;
  SetOffsetWeights(job, offsetWeights, task);
  this->SetFeatures(job);
  task.maxVoxels = NumberOfVoxels(job.windowSize) * static_cast<std::uint64_t>(task.DirectionsPerMatrix());
  this->MakeLengthTables();
  this->MakeInverses();
  task.scales.entropyScale = PowerOfTwo(-entropyBits);
  if (task.needsEntropy)
  {
    entropyTable = MakeEntropyTable(task.maxVoxels, entropyBits, job.execution);
  }
  task.lengthSquares = lengthSquares.data();
  task.shortRunWeights = shortRunWeights.data();
  task.inverseSquares = inverseSquares.data();
  task.entropyTable = entropyTable.data();
}

void
TextureClass<RunLengthJob>::SetFeatures(const RunLengthJob & job)
{
  using Feature = RunLengthJob::Feature;
  SetTaskFeatures(job.features, "RunLengthFeatureMapEnums::Feature", task);
  for (const Feature feature : job.features)
  {
    switch (feature)
    {
      case Feature::GrayLevelNonUniformity:
      case Feature::GrayLevelNonUniformityNormalized:
        task.needsLevelCounts = true;
        break;
      case Feature::LowGrayLevelRunEmphasis:
      case Feature::ShortRunLowGrayLevelEmphasis:
      case Feature::LongRunLowGrayLevelEmphasis:
        task.needsInverses = true;
        break;
      case Feature::HighGrayLevelRunEmphasis:
      case Feature::ShortRunHighGrayLevelEmphasis:
      case Feature::LongRunHighGrayLevelEmphasis:
        task.needsSquares = true;
        break;
      case Feature::GrayLevelVariance:
        task.needsSquares = true;
        task.needsLevelSum = true;
        break;
      case Feature::RunEntropy:
        task.needsEntropy = true;
        break;
      case Feature::ShortRunEmphasis:
      case Feature::LongRunEmphasis:
      case Feature::RunLengthNonUniformity:
      case Feature::RunLengthNonUniformityNormalized:
      case Feature::RunPercentage:
      case Feature::RunVariance:
        break;
    }
  }
}

void
TextureClass<RunLengthJob>::MakeLengthTables()
{
  // Up to length 12 the weights lcm^2 / l^2 are integers and the sums of short runs exact.
  const auto    longest = static_cast<std::uint64_t>(task.directions.longestLine);
  std::uint64_t multiple = 1;
  for (std::uint64_t l = 2; l <= 12 && longest <= 12 && l <= longest; ++l)
  {
    multiple = std::lcm(multiple, l);
  }
  task.scales.shortRunScale = static_cast<double>(multiple * multiple);
  lengthSquares.push_back(0.0);
  shortRunWeights.push_back(0.0);
  for (std::uint64_t l = 1; l <= longest; ++l)
  {
    lengthSquares.push_back(static_cast<double>(l) * static_cast<double>(l));
    shortRunWeights.push_back(task.scales.shortRunScale / lengthSquares.back());
  }
}

void
TextureClass<RunLengthJob>::MakeInverses()
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  const int  minBits = minInverseBits + 2 * CeilLog2(levels);
  int        inverseBits = shortSumBits - CeilLog2(task.maxVoxels + 1);
  if (inverseBits < minBits)
  {
    inverseBits = longSumBits - CeilLog2(task.maxVoxels);
  }
  if (inverseBits < minBits)
  {
    inverseBits = longSumBits;
    task.wideInverses = true;
  }
  task.scales.inverseScale = PowerOfTwo(-inverseBits);
  if (task.needsInverses)
  {
    inverseSquares = MakeInverseSquares(levels, inverseBits);
  }
}
} // namespace voxelmaps
