// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceOracle_h
#define GrayToneDifferenceOracle_h

#include "RunLengthOracle.h"

#include "voxelmaps/GrayToneDifferenceJob.h"

#include <cstdint>
#include <map>
#include <vector>

/** Features of the neighborhood gray tone difference matrix by brute force, from their definitions: the matrix is a map
 * from level to its row, and numbers are those of long double.
 *
 * Only names of features are shared with the module; no formula and no algorithm is. */
namespace GrayToneDifferenceOracle
{
using Triple = RunLengthOracle::Triple;
using Levels = RunLengthOracle::Levels;
using Window = RunLengthOracle::Window;
using Feature = voxelmaps::GrayToneDifferenceFeatureMapEnums::Feature;

/** A level of the matrix. */
struct Row
{
  long double count{ 0.0L };
  long double difference{ 0.0L };
};
using Matrix = std::map<std::uint32_t, Row>;

/** The matrix of the window at a position; the window ends at the image's border. */
Matrix
MakeMatrix(const Levels & levels, const Window & window, const Triple & position, const std::vector<Triple> & offsets,
           bool countVoxelsWithoutNeighbors);

long double
ComputeFeature(const Matrix & matrix, Feature feature);

/** The greatest difference between a feature of double and ComputeFeature, relative, by rounding. */
long double
GetTolerance(const Matrix & matrix, Feature feature);

/** Whether a result is what it must be: within the tolerance in double, within one unit in the last place of a float.
 */
bool
Agrees(long double expected, long double tolerance, float actual);
bool
Agrees(long double expected, long double tolerance, double actual);
} // namespace GrayToneDifferenceOracle

#endif // GrayToneDifferenceOracle_h
