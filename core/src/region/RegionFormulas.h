// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionFormulas_h
#define RegionFormulas_h

#include "region/CellCounts.h"
#include "texture/SizeMatrix.h"
#include "voxelmaps/CooccurrenceFeatureMapEnums.h"
#include "voxelmaps/DependenceFeatureMapEnums.h"
#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"
#include "voxelmaps/RunLengthFeatureMapEnums.h"
#include "voxelmaps/SizeZoneFeatureMapEnums.h"

#include <array>
#include <cstdint>
#include <vector>

/** Features of matrices of any size, in doubles. Counts are exact; each feature is a sum over the elements in ascending
 * order of row and column, with compensation, and moments are about the mean. So they agree with the formulas of the
 * window engines, whose integers have fixed sizes, but for the last digits. */
namespace voxelmaps
{
/** Features of a co-occurrence matrix by their number.
 *
 * cells         In ascending order, of levels from 1; each pair in both orders if the matrix is symmetric.
 * hasOneLevel   Whether the region has one level, for which the maximal correlation coefficient is 1.
 */
std::array<double, CooccurrenceFeatureMapEnums::NumberOfFeatures>
ComputeCooccurrenceValues(const std::vector<Cell> & cells, std::uint32_t levels, bool needsMaximalCorrelation,
                          bool hasOneLevel);

/** Values of a matrix by level and size, in the order of SizeMatrixFeature. */
using SizeMatrixValues = std::array<double, 16>;

SizeMatrixValues
ComputeSizeMatrixValues(const std::vector<Cell> & cells);

SizeMatrixFeature
ToSizeMatrixFeature(RunLengthFeatureMapEnums::Feature feature);
SizeMatrixFeature
ToSizeMatrixFeature(DependenceFeatureMapEnums::Feature feature);

/** A gray level, the number n of its voxels, and the sum of their differences from the mean of their neighbors. */
struct ToneDifference
{
  double level;
  double voxels;
  double difference;
};

double
ComputeGrayToneDifferenceValue(GrayToneDifferenceFeatureMapEnums::Feature feature,
                               const std::vector<ToneDifference> &        levels);
} // namespace voxelmaps

#endif // RegionFormulas_h
