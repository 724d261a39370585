// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceOracle_h
#define CooccurrenceOracle_h

#include "RunLengthOracle.h"

#include "voxelmaps/CooccurrenceJob.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/** Co-occurrence features by brute force, from their definitions: the matrix is a map, moments are sums of powers of
 * deviations from the mean in exact fractions, logarithms are those of long double.
 *
 * Only names of features and aggregations are shared with the module; no formula and no algorithm is. */
namespace CooccurrenceOracle
{
using Triple = RunLengthOracle::Triple;
using Levels = RunLengthOracle::Levels;
using Window = RunLengthOracle::Window;
using Feature = voxelmaps::CooccurrenceFeatureMapEnums::Feature;
using Aggregation = voxelmaps::CooccurrenceFeatureMapEnums::Aggregation;

/** Number of pairs of each (level, level); a symmetric matrix has both orders. */
using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

/** What one component must be. */
struct Value
{
  /** The value in double, if it has to be met exactly. */
  bool   isExact{ false };
  double exact{ 0.0 };
  /** The value up to the rounding of long double, and what that rounding may be. */
  long double reference{ 0.0L };
  long double uncertainty{ 0.0L };
  /** Whether it stands for a matrix without pairs. */
  bool isEmpty{ false };
};

/** Add the pairs of the window at a position with one offset; the window ends at the image's border. */
void
AddPairs(const Levels & levels, const Window & window, const Triple & position, const Triple & offset, bool symmetric,
         Matrix & matrix);

/** A feature of one matrix that has pairs. The uncertainty of mutual information is that of terms n log2 n in fixed
 * point, whose bits follow from the greatest possible sum of a matrix. */
Value
ComputeFeature(const Matrix & matrix, Feature feature, bool symmetric, std::uint32_t numberOfGrayLevels,
               std::int64_t greatestTotal);

/** All components at a voxel that has a level. */
std::vector<Value>
ComputeFeatures(const Levels & levels, const Window & window, const Triple & position,
                const voxelmaps::CooccurrenceJob & parameters);

/** Whether a result is what it must be: equal to the rounded exact value, within two units in the last place of a float
 * of the reference, or the value of matrices without pairs. */
template <typename TReal>
bool
Agrees(const Value & expected, TReal actual, double emptyValue);
} // namespace CooccurrenceOracle

#endif // CooccurrenceOracle_h
