// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneOracle_h
#define SizeZoneOracle_h

#include "RunLengthOracle.h"

#include "voxelmaps/SizeZoneJob.h"

/** Features of gray level size zone matrices by brute force: zones by a flood fill on a map from position to level, and
 * the formulas of the oracle of run lengths.
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
using RunLengthOracle::Matrix;
using RunLengthOracle::Value;

/** The zones of the window at a position, clipped at the image's border. */
Matrix
CountZones(const Levels & levels, const Window & window, const Triple & position, Connectivity connectivity);

/** A feature of a matrix with at least one zone. */
Value
ComputeFeature(const Matrix & matrix, Feature feature);
} // namespace SizeZoneOracle

#endif // SizeZoneOracle_h
