// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependenceOracle_h
#define DependenceOracle_h

#include "RunLengthOracle.h"

#include "voxelmaps/DependenceJob.h"

#include <cstdint>
#include <vector>

/** Features of gray level dependences by brute force: a window is a map from position to level, the matrix a map from
 * level and size to a count, and the formulas are those of the oracle of run lengths.
 *
 * Only names of features are shared with the module; no formula and no algorithm is. */
namespace DependenceOracle
{
using Triple = RunLengthOracle::Triple;
using Levels = RunLengthOracle::Levels;
using Window = RunLengthOracle::Window;
using Feature = voxelmaps::DependenceFeatureMapEnums::Feature;
using RunLengthOracle::Value;

/** Number of voxels of each (level, size). */
using RunLengthOracle::Matrix;

using Parameters = voxelmaps::DependenceJob;

/** The matrix of the window at a position; the window ends at the image's border. */
Matrix
MakeMatrix(const Levels & levels, const Window & window, const Triple & position, const Parameters & parameters);

/** A feature of a matrix with at least one voxel. */
Value
ComputeFeature(Feature feature, const Matrix & matrix);
} // namespace DependenceOracle

#endif // DependenceOracle_h
