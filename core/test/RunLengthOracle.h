// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RunLengthOracle_h
#define RunLengthOracle_h

#include "voxelmaps/RunLengthJob.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/** Run length features by brute force: walk the lines of one window, count the runs, sum in exact integers.
 *
 * Only names of features and aggregations are shared with the module; no formula and no algorithm is. */
namespace RunLengthOracle
{
using Triple = std::array<std::int64_t, 3>;
using Feature = voxelmaps::RunLengthFeatureMapEnums::Feature;
using Aggregation = voxelmaps::RunLengthFeatureMapEnums::Aggregation;

/** Gray levels of an image, x fastest; 0 where there is no voxel. */
struct Levels
{
  Triple                     size{ { 1, 1, 1 } };
  std::vector<std::uint16_t> values;

  std::uint16_t
  operator()(const Triple & position) const
  {
    return values[static_cast<std::size_t>((position[2] * size[1] + position[1]) * size[0] + position[0])];
  }
};

struct Window
{
  Triple size{ { 1, 1, 1 } };
  Triple anchor{ { 0, 0, 0 } };
};

/** Number of runs of each (level, length). */
using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

/** What one component must be. */
struct Value
{
  /** The value in double, if it has to be met exactly. */
  bool   isExact{ true };
  double exact{ 0.0 };
  /** The value up to the rounding of long double, and what a double may differ from it, relative; 0 for two units in
   * the last place of a float. */
  long double reference{ 0.0L };
  long double tolerance{ 0.0L };
  /** A ratio as numerator / (runs^power * common); averages are defined by these. */
  double numerator{ 0.0 };
  double runs{ 1.0 };
  int    power{ 0 };
  double common{ 1.0 };
};

/** Add the runs of the window at a position along one direction; window and runs end at the image's border. */
void
AddRuns(const Levels & levels, const Window & window, const Triple & position, const Triple & direction,
        Matrix & matrix);

/** Voxels with a level in the window, clipped at the image's border. */
std::uint64_t
CountVoxels(const Levels & levels, const Window & window, const Triple & position);

/** The longest run that the window allows along any of the directions. */
std::int64_t
LongestPossibleRun(const Window & window, const std::vector<Triple> & directions);

/** A feature of one matrix of windows with this many voxels. */
Value
ComputeFeature(const Matrix & matrix, std::uint64_t numberOfVoxels, std::int64_t longestPossibleRun, Feature feature);

/** The feature with the formula of one of run lengths, of a matrix of levels and sizes of another kind. */
Value
ComputeSizeFeature(const Matrix & matrix, Feature feature);

/** All components at a voxel that has a level. */
std::vector<Value>
ComputeFeatures(const Levels & levels, const Window & window, const Triple & position,
                const std::vector<Triple> & directions, const std::vector<Feature> & features, Aggregation aggregation);

/** Whether a result is what it must be: equal to the rounded exact value, or within two units in the last place of a
 * float, or the tolerance of a double, of the reference. */
bool
Agrees(const Value & expected, float actual);
bool
Agrees(const Value & expected, double actual);
} // namespace RunLengthOracle

#endif // RunLengthOracle_h
