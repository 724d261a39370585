/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "RunLengthPlan.h"
#include "WideProduct.h"

#include <algorithm>
#include <numeric>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr int entropyBits = 36;

// Fixed point 1 / i^2 must be good to 2^-25 for the greatest level, so that the rounding to float stays the larger
// error.
constexpr int bitsOfLeastInverse = 24;

int
CeilLog2(std::uint64_t n)
{
  int bits = 0;
  while ((std::uint64_t{ 1 } << bits) < n)
  {
    ++bits;
  }
  return bits;
}

// log2(n) * 2^56 by repeated squaring in integers: std::log2 differs between C libraries.
std::uint64_t
Log2FixedPoint(std::uint64_t n)
{
  int exponent = 63;
  while ((n >> exponent) == 0)
  {
    --exponent;
  }
  std::uint64_t mantissa = n << (63 - exponent); // [1, 2) with 63 fraction bits
  std::uint64_t fraction = 0;
  for (int bit = 0; bit < 56; ++bit)
  {
    mantissa = MultiplyHigh(mantissa, mantissa); // [1, 4) with 62 fraction bits
    fraction <<= 1;
    if (mantissa >> 63)
    {
      fraction |= 1;
    }
    else
    {
      mantissa <<= 1;
    }
  }
  return (static_cast<std::uint64_t>(exponent) << 56) + fraction;
}

// round(2^entropyBits * n * log2(n))
std::int64_t
EntropyTerm(std::uint64_t n)
{
  if (n < 2)
  {
    return 0;
  }
  const std::uint64_t logarithm = Log2FixedPoint(n);
  const std::uint64_t high = MultiplyHigh(n, logarithm);
  const std::uint64_t low = n * logarithm;
  constexpr int       shift = 56 - entropyBits;
  const std::uint64_t rounded = low + (std::uint64_t{ 1 } << (shift - 1));
  const std::uint64_t carry = rounded < low ? 1 : 0;
  return static_cast<std::int64_t>(((high + carry) << (64 - shift)) | (rounded >> shift));
}

double
PowerOfTwo(int exponent)
{
  double power = 1.0;
  for (; exponent > 0; --exponent)
  {
    power *= 2.0;
  }
  for (; exponent < 0; ++exponent)
  {
    power *= 0.5;
  }
  return power;
}
} // namespace

RunLengthPlan::RunLengthPlan(const RunLengthJob & job)
{
  for (RunLengthJob::Triple direction : job.offsets)
  {
    const std::int64_t last = direction[2] != 0 ? direction[2] : direction[1] != 0 ? direction[1] : direction[0];
    int                longest = 255;
    for (int d = 0; d < 3; ++d)
    {
      direction[d] *= last;
      if (direction[d] != 0)
      {
        longest = std::min(longest, static_cast<int>(job.windowSize[d]));
      }
    }
    directions.push_back(direction);
    longestRuns.push_back(longest);
    longestRun = std::max(longestRun, longest);
  }
  directionsPerMatrix = job.aggregation == RunLengthJob::Aggregation::Merge ? static_cast<int>(directions.size()) : 1;
  mostVoxels = static_cast<std::uint64_t>(job.windowSize[0] * job.windowSize[1] * job.windowSize[2]) *
               static_cast<std::uint64_t>(directionsPerMatrix);

  for (const Feature feature : job.features)
  {
    switch (feature)
    {
      case Feature::GrayLevelNonUniformity:
      case Feature::GrayLevelNonUniformityNormalized:
        needsLevelCounts = true;
        break;
      case Feature::LowGrayLevelRunEmphasis:
      case Feature::ShortRunLowGrayLevelEmphasis:
      case Feature::LongRunLowGrayLevelEmphasis:
        needsInverses = true;
        break;
      case Feature::HighGrayLevelRunEmphasis:
      case Feature::ShortRunHighGrayLevelEmphasis:
      case Feature::LongRunHighGrayLevelEmphasis:
        needsSquares = true;
        break;
      case Feature::GrayLevelVariance:
        needsSquares = true;
        needsLevelSum = true;
        break;
      case Feature::RunEntropy:
        needsEntropy = true;
        break;
      default:
        break;
    }
  }

  // Up to length 12 the weights lcm^2 / l^2 are integers and the sums of short runs exact.
  std::uint64_t multiple = 1;
  for (std::uint64_t l = 2; l <= 12 && longestRun <= 12 && l <= static_cast<std::uint64_t>(longestRun); ++l)
  {
    multiple = std::lcm(multiple, l);
  }
  scales.shortRunScale = static_cast<double>(multiple * multiple);
  lengthSquares.push_back(0.0);
  shortRunWeights.push_back(0.0);
  for (int l = 1; l <= longestRun; ++l)
  {
    lengthSquares.push_back(static_cast<double>(l) * static_cast<double>(l));
    shortRunWeights.push_back(scales.shortRunScale / lengthSquares.back());
  }

  int inverseBits = 62 - CeilLog2(mostVoxels);
  if (inverseBits < bitsOfLeastInverse + 2 * CeilLog2(job.numberOfGrayLevels))
  {
    inverseBits = 62;
    wideInverses = true;
  }
  scales.inverseScale = PowerOfTwo(-inverseBits);
  if (needsInverses)
  {
    inverseSquares.push_back(0);
    for (std::uint64_t i = 1; i <= job.numberOfGrayLevels; ++i)
    {
      inverseSquares.push_back(((std::uint64_t{ 1 } << inverseBits) + i * i / 2) / (i * i));
    }
  }

  scales.entropyScale = PowerOfTwo(-entropyBits);
  if (needsEntropy)
  {
    for (std::uint64_t n = 0; n <= mostVoxels; ++n)
    {
      entropyTable.push_back(EntropyTerm(n));
    }
  }
}
} // namespace voxelmaps
} // namespace itk
