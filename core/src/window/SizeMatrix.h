// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeMatrix_h
#define SizeMatrix_h

#include "common/WideInteger.h"

#include <cstdint>

/** Matrices that count entries by gray level i and size j: zones by their number of voxels, or voxels by their number
 * of dependent neighbors. All engines add the same integers, so their order does not matter; the last step is one
 * quotient of doubles. */
namespace voxelmaps
{
/** Features of a matrix by level and size, by the terms that their names have in common. */
enum class SizeMatrixFeature : std::uint8_t
{
  SmallEmphasis,
  LargeEmphasis,
  LevelNonUniformity,
  LevelNonUniformityNormalized,
  SizeNonUniformity,
  SizeNonUniformityNormalized,
  Percentage,
  LevelVariance,
  SizeVariance,
  Entropy,
  LowLevelEmphasis,
  HighLevelEmphasis,
  SmallLowLevelEmphasis,
  SmallHighLevelEmphasis,
  LargeLowLevelEmphasis,
  LargeHighLevelEmphasis
};

/** What the arithmetic needs in addition to the entries; SizeMatrixPlan fills it and owns the tables. */
struct SizeMatrixScales
{
  /** q(n) = round(2^s / n^2) for n = 0 ... the greatest level or size; q(0) = 0. */
  const std::uint64_t * inverseSquares;
  /** 2^-s. */
  double inverseScale;
  /** t(n) = round(2^b n log2 n) for n = 0 ... the greatest number of entries; nullptr unless entropy is selected. */
  const std::int64_t * entropyTable;
  /** 2^-b. */
  double entropyScale;
};

/** Index of the axes of a matrix. */
constexpr int levelAxis = 0;
constexpr int sizeAxis = 1;

/** Sums over a group of entries that share their place on one axis, of the other coordinate v. */
struct SizeMatrixGroup
{
  std::uint32_t  entries;
  std::uint64_t  sum;      // sum v
  std::uint64_t  squares;  // sum v^2
  WideInteger<2> inverses; // sum q(v)
};

/** Sums over all entries of a matrix. Those of inverses are below 2^127. */
struct SizeMatrixSums
{
  struct Axis
  {
    std::uint64_t  sum;                  // sum v, v is i or j
    std::uint64_t  squares;              // sum v^2
    std::uint64_t  nonUniformity;        // sum over v of (entries of v)^2
    WideInteger<2> inverses;             // sum q(v)
    WideInteger<2> squaresTimesInverses; // sum v^2 q(w), w is the coordinate on the other axis
  };

  std::uint32_t  entries;
  std::int64_t   entropyTerms; // sum of t(n) over the elements n of the matrix
  Axis           axes[2];
  WideInteger<2> squares;  // sum i^2 j^2
  WideInteger<2> inverses; // sum q(i) q(j)
};

/** Start with no entry. */
VOXELMAPS_HOST_DEVICE inline void
ClearEntries(SizeMatrixGroup & group)
{
  group = SizeMatrixGroup{ 0, 0, 0, WideInteger<2>(0) };
}

VOXELMAPS_HOST_DEVICE inline void
ClearEntries(SizeMatrixSums & sums)
{
  const WideInteger<2>       zero(0);
  const SizeMatrixSums::Axis axis{ 0, 0, 0, zero, zero };
  sums = SizeMatrixSums{ 0, 0, { axis, axis }, zero, zero };
}

VOXELMAPS_HOST_DEVICE inline SizeMatrixSums
operator+(const SizeMatrixSums & a, const SizeMatrixSums & b)
{
  SizeMatrixSums sums = a;
  sums.entries += b.entries;
  sums.entropyTerms += b.entropyTerms;
  for (int i = 0; i < 2; ++i)
  {
    sums.axes[i].sum += b.axes[i].sum;
    sums.axes[i].squares += b.axes[i].squares;
    sums.axes[i].nonUniformity += b.axes[i].nonUniformity;
    sums.axes[i].inverses = a.axes[i].inverses + b.axes[i].inverses;
    sums.axes[i].squaresTimesInverses = a.axes[i].squaresTimesInverses + b.axes[i].squaresTimesInverses;
  }
  sums.squares = a.squares + b.squares;
  sums.inverses = a.inverses + b.inverses;
  return sums;
}

/** Add an entry with the coordinate v, inverse is q(v). */
VOXELMAPS_HOST_DEVICE inline void
AddEntry(SizeMatrixGroup & group, std::uint32_t v, std::uint64_t inverse)
{
  ++group.entries;
  group.sum += v;
  group.squares += std::uint64_t{ v } * v;
  AddProduct(group.inverses, inverse, 1);
}

/** Add all entries with the coordinate v on VAxis; inverse is q(v). Sums over the elements are the caller's:
 * entropyTerms, and the nonUniformity of the other axis. */
template <int VAxis>
VOXELMAPS_HOST_DEVICE inline void
AddGroup(SizeMatrixSums & sums, std::uint32_t v, std::uint64_t inverse, const SizeMatrixGroup & group)
{
  SizeMatrixSums::Axis & axis = sums.axes[VAxis];
  SizeMatrixSums::Axis & other = sums.axes[1 - VAxis];
  const std::uint64_t    entries = group.entries;
  const std::uint64_t    square = std::uint64_t{ v } * v;
  sums.entries += group.entries;
  axis.sum += entries * v;
  axis.squares += entries * square;
  axis.nonUniformity += entries * entries;
  AddProduct(axis.inverses, entries, inverse);
  other.sum += group.sum;
  other.squares += group.squares;
  other.inverses = other.inverses + group.inverses;
  AddProduct(axis.squaresTimesInverses, group.inverses, square);
  AddProduct(other.squaresTimesInverses, group.squares, inverse);
  AddProduct(sums.squares, group.squares, square);
  AddProduct(sums.inverses, group.inverses, inverse);
}

/** Value of a feature; there is at least one entry. */
VOXELMAPS_HOST_DEVICE inline double
SizeMatrixFeatureValue(SizeMatrixFeature feature, const SizeMatrixSums & sums, const SizeMatrixScales & scales)
{
  const SizeMatrixSums::Axis & levels = sums.axes[levelAxis];
  const SizeMatrixSums::Axis & sizes = sums.axes[sizeAxis];
  const auto                   entries = static_cast<double>(sums.entries);
  switch (feature)
  {
    case SizeMatrixFeature::SmallEmphasis:
      return ToDouble(sizes.inverses) / entries * scales.inverseScale;
    case SizeMatrixFeature::LargeEmphasis:
      return static_cast<double>(sizes.squares) / entries;
    case SizeMatrixFeature::LevelNonUniformity:
      return static_cast<double>(levels.nonUniformity) / entries;
    case SizeMatrixFeature::LevelNonUniformityNormalized:
      return static_cast<double>(levels.nonUniformity) / (entries * entries);
    case SizeMatrixFeature::SizeNonUniformity:
      return static_cast<double>(sizes.nonUniformity) / entries;
    case SizeMatrixFeature::SizeNonUniformityNormalized:
      return static_cast<double>(sizes.nonUniformity) / (entries * entries);
    case SizeMatrixFeature::Percentage:
      return entries / static_cast<double>(sizes.sum);
    case SizeMatrixFeature::LevelVariance:
      return VarianceNumerator(sums.entries, levels.squares, levels.sum) / (entries * entries);
    case SizeMatrixFeature::SizeVariance:
      return VarianceNumerator(sums.entries, sizes.squares, sizes.sum) / (entries * entries);
    case SizeMatrixFeature::Entropy:
      return static_cast<double>(scales.entropyTable[sums.entries] - sums.entropyTerms) / entries * scales.entropyScale;
    case SizeMatrixFeature::LowLevelEmphasis:
      return ToDouble(levels.inverses) / entries * scales.inverseScale;
    case SizeMatrixFeature::HighLevelEmphasis:
      return static_cast<double>(levels.squares) / entries;
    case SizeMatrixFeature::SmallLowLevelEmphasis:
      return ToDouble(sums.inverses) / entries * scales.inverseScale * scales.inverseScale;
    case SizeMatrixFeature::SmallHighLevelEmphasis:
      return ToDouble(levels.squaresTimesInverses) / entries * scales.inverseScale;
    case SizeMatrixFeature::LargeLowLevelEmphasis:
      return ToDouble(sizes.squaresTimesInverses) / entries * scales.inverseScale;
    case SizeMatrixFeature::LargeHighLevelEmphasis:
      return ToDouble(sums.squares) / entries;
  }
  return entries;
}
} // namespace voxelmaps

#endif // SizeMatrix_h
