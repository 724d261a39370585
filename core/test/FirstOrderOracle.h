// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderOracle_h
#define FirstOrderOracle_h

#include "voxelmaps/FirstOrderJob.h"

#include <cstdint>
#include <vector>

/** First order features by brute force, in long double, from their definitions.
 *
 * Only names of features are shared with the module; no formula and no algorithm is. */
namespace FirstOrderOracle
{
using Feature = voxelmaps::FirstOrderFeatureMapEnums::Feature;

/** A voxel of the window. */
struct Voxel
{
  double        intensity;
  std::uint16_t level;
};

/** What a feature must be: equal to a double, or near to a long double. */
struct Value
{
  bool        isExact{ false };
  double      exact{ 0.0 };
  long double reference{ 0.0L };
  /** What cancellation in double may add to two units in the last place of a float, or 10^-12 of a double. */
  long double tolerance{ 0.0L };
};

/** A feature of the voxels of a window, at least one. */
Value
Compute(Feature feature, const std::vector<Voxel> & voxels, double voxelArrayShift, double voxelVolume);

/** Whether a value of the output is what it must be. */
bool
Agrees(const Value & expected, float actual);
bool
Agrees(const Value & expected, double actual);
} // namespace FirstOrderOracle

#endif // FirstOrderOracle_h
