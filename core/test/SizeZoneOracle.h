// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneOracle_h
#define SizeZoneOracle_h

#include "RunLengthOracle.h"

#include "voxelmaps/SizeZoneFeatureMapEnums.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/** Features of gray level size zone matrices by brute force: zones by a flood fill on a map from position to level,
 * features from their definitions.
 *
 * Only names of features and connectivities are shared with the module; no formula and no algorithm is. */
namespace SizeZoneOracle
{
using Triple = RunLengthOracle::Triple;
using Levels = RunLengthOracle::Levels;
using Window = RunLengthOracle::Window;
using Feature = voxelmaps::SizeZoneFeatureMapEnums::Feature;
using Connectivity = voxelmaps::SizeZoneFeatureMapEnums::Connectivity;

/** Number of zones of each (level, size). */
using Matrix = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

/** What a feature must be: equal to a double, or near to a long double. */
struct Value
{
  bool        isExact{ false };
  double      exact{ 0.0 };
  long double reference{ 0.0L };
  /** What the fixed-point numbers of a double may be wrong by, relative. */
  long double tolerance{ 0.0L };
};

/** The zones of the window at a position, clipped at the image's border. */
Matrix
CountZones(const Levels & levels, const Window & window, const Triple & position, Connectivity connectivity);

/** A feature of a matrix with at least one zone. */
Value
ComputeFeature(const Matrix & matrix, Feature feature);

/** Whether a result is what it must be: equal to the rounded exact value, or within two units in the last place of a
 * float, or the tolerance of a double, of the reference. */
bool
Agrees(const Value & expected, float actual);
bool
Agrees(const Value & expected, double actual);
} // namespace SizeZoneOracle

#endif // SizeZoneOracle_h
