// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ConnectednessKeys_h
#define ConnectednessKeys_h

#include "common/HostDevice.h"

#include <cstdint>
#include <cstring>

/** Affinities as ordered integers, for host and device.
 *
 * Fuzzy connectedness only compares affinities, so any increasing function of them serves until the end. Products and
 * minima of Gaussians are kept as logarithms: a cost is round(2^24 * -ln g), and the key of an affinity mu is topKey -
 * (-ln mu in these units). Weighted sums are kept as round(2^30 * term), and absolute differences as the bits of a
 * float, which are ordered like the floats. The functions below are IEEE 754 double operations in the order written;
 * compiled without contraction (-ffp-contract=off, -fmad=false), they give the same keys and strengths with all
 * compilers. */
namespace voxelmaps
{
constexpr std::uint32_t noKey = 0;                                       // no link, or not reached
constexpr std::uint32_t topKey = 0x7ffffffe;                             // affinity 1
constexpr std::uint32_t seedKey = 0x7fffffff;                            // above the key of every affinity
constexpr double        logUnits = 16777216.0;                           // 2^24
constexpr double        sumUnits = 1073741824.0;                         // 2^30
constexpr double        maxFloatDifference = 3.40282346638528859812e+38; // the largest float

/** exp(-x) for x >= 0, within about one unit in the last place. Not std::exp, which differs between C libraries. */
VOXELMAPS_HOST_DEVICE inline double
NegativeExponential(double x)
{
  if (!(x < 700.0))
  {
    return 0.0;
  }
  // exp(-x) = 2^-n exp(-r) with |r| <= ln(2) / 2; ln 2 is split into two parts, so that n * high is exact.
  const int    n = static_cast<int>(x * 1.4426950408889634 + 0.5);
  const double high = n * 0.693147180369123816490;
  const double low = n * 1.90821492927058770002e-10;
  const double r = (x - high) - low;
  const double y = -r;
  // Taylor series up to y^13; the remainder is below 2^-53.
  double sum = 1.0 / 6227020800.0;
  sum = sum * y + 1.0 / 479001600.0;
  sum = sum * y + 1.0 / 39916800.0;
  sum = sum * y + 1.0 / 3628800.0;
  sum = sum * y + 1.0 / 362880.0;
  sum = sum * y + 1.0 / 40320.0;
  sum = sum * y + 1.0 / 5040.0;
  sum = sum * y + 1.0 / 720.0;
  sum = sum * y + 1.0 / 120.0;
  sum = sum * y + 1.0 / 24.0;
  sum = sum * y + 1.0 / 6.0;
  sum = sum * y + 0.5;
  sum = sum * y + 1.0;
  sum = sum * y + 1.0;
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 - n) << 52;
  double              power;
  memcpy(&power, &bits, sizeof(power));
  return sum * power;
}

/** How the terms of the mean and of the difference are combined to a key. */
enum class Combination : std::uint8_t
{
  Product,     // costs are added
  Minimum,     // the larger cost counts
  WeightedSum, // terms are added
  Difference   // the bits of the difference as float are the cost
};

/** The affinity function, in the units of keys. */
struct AffinityTerms
{
  Combination combination;
  bool        usesMean;
  double      mean;             // of the object
  double      meanFactor;       // cost = meanFactor (h - mean)^2
  double      difference;       // expected difference
  double      differenceScale;  // 0.5 for affinities of half the difference, else 1
  double      differenceFactor; // cost = differenceFactor (differenceScale |a - b| - difference)^2
  double      meanWeight;       // of the weighted sum, times 2^30
  double      differenceWeight;
};

VOXELMAPS_HOST_DEVICE inline std::uint32_t
CostToInteger(double cost)
{
  return cost < static_cast<double>(topKey) ? static_cast<std::uint32_t>(cost + 0.5) : topKey;
}

VOXELMAPS_HOST_DEVICE inline std::uint32_t
CostTerm(const AffinityTerms & terms, double cost, double weight)
{
  if (terms.combination == Combination::WeightedSum)
  {
    return static_cast<std::uint32_t>(weight * NegativeExponential(cost / logUnits) + 0.5);
  }
  return CostToInteger(cost);
}

/** Term of the sum a + b of two intensities. */
VOXELMAPS_HOST_DEVICE inline std::uint32_t
MeanTerm(const AffinityTerms & terms, double sum)
{
  if (!terms.usesMean)
  {
    return 0;
  }
  const double distance = sum * 0.5 - terms.mean;
  return CostTerm(terms, distance * distance * terms.meanFactor, terms.meanWeight);
}

/** Term of the difference |a - b| of two intensities. */
VOXELMAPS_HOST_DEVICE inline std::uint32_t
DifferenceTerm(const AffinityTerms & terms, double difference)
{
  if (terms.combination == Combination::Difference)
  {
    // Every finite difference keeps a link.
    const auto rounded = difference < maxFloatDifference ? static_cast<float>(difference) : 3.40282346638528859812e+38f;
    std::uint32_t bits;
    memcpy(&bits, &rounded, sizeof(bits));
    return bits;
  }
  const double distance = difference * terms.differenceScale - terms.difference;
  return CostTerm(terms, distance * distance * terms.differenceFactor, terms.differenceWeight);
}

/** The effect of the length of a link: a cost, or for weighted sums a factor in units of 2^-32. */
struct LinkWeight
{
  std::uint32_t cost;
  std::uint32_t number; // of the link of a slab on a device, for keys that are looked up
  std::uint64_t factor;
};

VOXELMAPS_HOST_DEVICE inline std::uint32_t
TermKey(Combination combination, std::uint32_t meanTerm, std::uint32_t differenceTerm, const LinkWeight & link)
{
  if (combination == Combination::WeightedSum)
  {
    return static_cast<std::uint32_t>(((std::uint64_t{ meanTerm } + differenceTerm) * link.factor) >> 32);
  }
  const std::uint64_t both = combination == Combination::Minimum
                               ? (meanTerm > differenceTerm ? meanTerm : differenceTerm)
                               : std::uint64_t{ meanTerm } + differenceTerm;
  const std::uint64_t cost = both + link.cost;
  return cost < topKey ? static_cast<std::uint32_t>(topKey - cost) : noKey;
}

/** A link between two components, or between the seeds that they have. */
struct ComponentLink
{
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t key;
};

/** Strength of a key: 1 for seeds, 0 for noKey. */
VOXELMAPS_HOST_DEVICE inline double
KeyStrength(Combination combination, std::uint32_t key)
{
  if (key == noKey)
  {
    return 0.0;
  }
  if (key == seedKey)
  {
    return 1.0;
  }
  if (combination == Combination::WeightedSum)
  {
    return static_cast<double>(key) / sumUnits;
  }
  if (combination == Combination::Difference)
  {
    const std::uint32_t bits = topKey - key;
    if (bits > 0x7f7fffff) // of no float
    {
      return 0.0;
    }
    float difference;
    memcpy(&difference, &bits, sizeof(difference));
    return 1.0 / (1.0 + static_cast<double>(difference));
  }
  return NegativeExponential(static_cast<double>(topKey - key) / logUnits);
}
} // namespace voxelmaps

#endif // ConnectednessKeys_h
