// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeMatrixOracle_h
#define SizeMatrixOracle_h

#include "RunLengthOracle.h"

#include "voxelmaps/DependenceJob.h"
#include "voxelmaps/SizeZoneJob.h"

/** Features of gray level dependences and size zones by brute force: both matrices count something of each
 * (level, size), and their formulas are those of the oracle of run lengths. Zones are found by a flood fill on a map
 * from position to level.
 *
 * Only names of features and connectivities are shared with the module; no formula and no algorithm is. */
namespace SizeMatrixOracle
{
using Triple = RunLengthOracle::Triple;
using Levels = RunLengthOracle::Levels;
using Window = RunLengthOracle::Window;
using RunLengthOracle::Matrix;
using RunLengthOracle::Value;

/** The dependences of the window at a position; the window ends at the image's border. */
Matrix
CountDependences(const Levels & levels, const Window & window, const Triple & position,
                 const voxelmaps::DependenceJob & parameters);

/** The zones of the window at a position, clipped at the image's border. */
Matrix
CountZones(const Levels & levels, const Window & window, const Triple & position,
           voxelmaps::SizeZoneJob::Connectivity connectivity);

/** A feature of a matrix that is not empty. */
Value
ComputeFeature(const Matrix & matrix, voxelmaps::DependenceJob::Feature feature);
Value
ComputeFeature(const Matrix & matrix, voxelmaps::SizeZoneJob::Feature feature);
} // namespace SizeMatrixOracle

#endif // SizeMatrixOracle_h
