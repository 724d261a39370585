// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceFormulas_h
#define GrayToneDifferenceFormulas_h

#include "common/WideInteger.h"
#include "voxelmaps/GrayToneDifferenceJob.h"

#include <cstdint>

/** From the differences of the voxels of one window to features. One text for host and device.
 *
 * A voxel of level i with k neighbors, whose levels have the sum S, adds |k i - S| weight(k) to A(i) of its level,
 * where weight(k) is L / k, an integer. With n(i) voxels of level i that count, everything but Complexity is a quotient
 * of integers: of N = sum n(i), g = levels with n(i) > 0, M1 = sum n(i) i, M2 = sum n(i) i^2, P1 = sum i, P2 = sum i^2,
 * sum A(i), X = sum n(i) A(i) and D = sum over i < j of |i n(i) - j n(j)|. All sums are over the levels with n(i) > 0.
 * Sums beyond 2^53 are rounded once to double.
 *
 * Complexity is the sum of GrayToneDifferencePairTerm over i < j in this order: for each i, ascending, the sum over the
 * ascending j; then the sum of these rows, ascending. The operations of doubles below are IEEE 754 operations in the
 * order written; compile with contraction off (-ffp-contract=off, -fmad=false), and all compilers give the same bits.
 */
namespace voxelmaps
{
/** A(i) of one level, where 64 bits are enough for X. */
struct NarrowDifference
{
  using Number = std::uint64_t;

  std::uint64_t value;

  VOXELMAPS_HOST_DEVICE void
  Add(std::uint32_t difference, std::uint64_t weight)
  {
    value += difference * weight;
  }
  VOXELMAPS_HOST_DEVICE Number
  Get() const
  {
    return value;
  }
};

/** The same for all other jobs: the sums of the lower 40 bits of the terms, which are below 2^79, and of the bits above
 * them. */
struct WideDifference
{
  using Number = WideInteger<2>;

  static constexpr int           lowBits = 40;
  static constexpr std::uint64_t lowMask = (std::uint64_t{ 1 } << lowBits) - 1;

  std::uint64_t low;
  std::uint64_t high;

  VOXELMAPS_HOST_DEVICE void
  Add(std::uint32_t difference, std::uint64_t weight)
  {
    const std::uint64_t product = difference * weight;
    low += product & lowMask;
    high += (MultiplyHigh(difference, weight) << (64 - lowBits)) | (product >> lowBits);
  }
  VOXELMAPS_HOST_DEVICE Number
  Get() const
  {
    return Number(static_cast<std::int64_t>(high)) * Number(std::int64_t{ 1 } << lowBits) +
           Number(static_cast<std::int64_t>(low));
  }
};

VOXELMAPS_HOST_DEVICE inline double
ToDouble(std::uint64_t value)
{
  return static_cast<double>(value);
}

/** |k i - S| */
VOXELMAPS_HOST_DEVICE inline std::uint32_t
NeighborDifference(std::uint32_t level, std::uint32_t neighbors, std::uint32_t sum)
{
  const std::uint32_t product = neighbors * level;
  return product < sum ? sum - product : product - sum;
}

/** Inputs of the features of one window. */
struct GrayToneDifferenceSums
{
  std::uint64_t voxels;       // N
  std::uint64_t levels;       // g
  std::uint64_t voxelLevels;  // M1
  std::uint64_t voxelSquares; // M2
  std::uint64_t levelSum;     // P1
  std::uint64_t levelSquares; // P2
  double        differences;  // sum A(i)
  double        products;     // X
  std::uint64_t imbalances;   // D, if a feature needs it
  double        complexity;   // the sum of the rows, if a feature needs it
};

/** Adds up the levels of a window. */
template <typename TNumber>
class GrayToneDifferenceTotals
{
public:
  /** A level with at least one voxel; returns n(i) A(i), rounded once. */
  VOXELMAPS_HOST_DEVICE double
  AddLevel(std::uint64_t level, std::uint64_t count, const TNumber & difference)
  {
    const TNumber product = TNumber(static_cast<std::int64_t>(count)) * difference;
    m_Sums.voxels += count;
    ++m_Sums.levels;
    m_Sums.voxelLevels += count * level;
    m_Sums.voxelSquares += count * level * level;
    m_Sums.levelSum += level;
    m_Sums.levelSquares += level * level;
    m_Differences = m_Differences + difference;
    m_Products = m_Products + product;
    return ToDouble(product);
  }
  /** The sums, without those over pairs of levels. */
  VOXELMAPS_HOST_DEVICE GrayToneDifferenceSums
  GetSums() const
  {
    GrayToneDifferenceSums sums = m_Sums;
    sums.differences = ToDouble(m_Differences);
    sums.products = ToDouble(m_Products);
    return sums;
  }

private:
  GrayToneDifferenceSums m_Sums{};
  TNumber                m_Differences{ 0 };
  TNumber                m_Products{ 0 };
};

/** The term of the levels i < j of Complexity, from n(i) A(i), n(j) A(j), j - i and 1 / (n(i) + n(j)). */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline TReal
GrayToneDifferencePairTerm(TReal first, TReal second, TReal levelDifference, TReal reciprocal)
{
  return (first + second) * levelDifference * reciprocal;
}

/** Value of one feature; scale is L. */
VOXELMAPS_HOST_DEVICE inline double
GrayToneDifferenceFeatureValue(GrayToneDifferenceFeatureMapEnums::Feature feature, const GrayToneDifferenceSums & sums,
                               double scale)
{
  using Feature = GrayToneDifferenceFeatureMapEnums::Feature;
  constexpr double greatestCoarseness = 1e6;
  const auto       voxels = static_cast<double>(sums.voxels);
  const double     scaledVoxels = voxels * scale;
  switch (feature)
  {
    case Feature::Busyness:
      return sums.imbalances == 0 ? 0.0 : sums.products / (2.0 * scale * static_cast<double>(sums.imbalances));
    case Feature::Coarseness:
      return sums.products == 0.0 ? greatestCoarseness : scaledVoxels / sums.products;
    case Feature::Complexity:
      return sums.voxels == 0 ? 0.0 : 2.0 * sums.complexity / scaledVoxels;
    case Feature::Contrast:
    {
      if (sums.levels < 2)
      {
        return 0.0;
      }
      const double pairs = static_cast<double>(sums.levels * (sums.levels - 1));
      const double variance = 2.0 * VarianceNumerator(sums.voxels, sums.voxelSquares, sums.voxelLevels);
      return variance * sums.differences / (voxels * voxels * pairs * scaledVoxels);
    }
    case Feature::Strength:
    {
      if (sums.differences == 0.0)
      {
        return 0.0;
      }
      // sum over i < j of (n(i) + n(j)) (j - i)^2, below 2^64: so are the lower 64 bits of it.
      const std::uint64_t spread =
        sums.levels * sums.voxelSquares - 2 * sums.voxelLevels * sums.levelSum + sums.voxels * sums.levelSquares;
      return 2.0 * static_cast<double>(spread) * scale / (voxels * sums.differences);
    }
  }
  return 0.0;
}
} // namespace voxelmaps

#endif // GrayToneDifferenceFormulas_h
