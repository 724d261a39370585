// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RunLengthOracle_h
#define RunLengthOracle_h

#include "voxelmaps/RunLengthJob.h"

#include <algorithm>
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

  std::size_t
  GetNumber(const Triple & position) const
  {
    return static_cast<std::size_t>((position[2] * size[1] + position[1]) * size[0] + position[0]);
  }
  std::uint16_t
  operator()(const Triple & position) const
  {
    return values[this->GetNumber(position)];
  }
};

struct Window
{
  Triple size{ { 1, 1, 1 } };
  Triple anchor{ { 0, 0, 0 } };
};

/** A position that is some steps away. */
inline Triple
Move(const Triple & from, const Triple & step, std::int64_t steps = 1)
{
  return { { from[0] + steps * step[0], from[1] + steps * step[1], from[2] + steps * step[2] } };
}

/** The levels in the window at a position, which ends at the image's border. */
class WindowLevels
{
public:
  WindowLevels(const Levels & levels, const Window & window, const Triple & position)
    : m_Levels(levels)
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      const std::int64_t first = position[axis] - window.anchor[axis];
      m_Begin[axis] = std::max<std::int64_t>(first, 0);
      m_End[axis] = std::min(first + window.size[axis], levels.size[axis]);
    }
  }

  /** 0 where there is no voxel, and outside of the window. */
  std::uint16_t
  operator()(const Triple & at) const
  {
    bool isInside = true;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      isInside = isInside && at[axis] >= m_Begin[axis] && at[axis] < m_End[axis];
    }
    return isInside ? m_Levels(at) : std::uint16_t{ 0 };
  }

  /** Call f(position, level) for every voxel that has a level, x fastest. */
  template <typename TFunction>
  void
  ForEachVoxel(const TFunction & f) const
  {
    Triple at;
    for (at[2] = m_Begin[2]; at[2] < m_End[2]; ++at[2])
    {
      for (at[1] = m_Begin[1]; at[1] < m_End[1]; ++at[1])
      {
        for (at[0] = m_Begin[0]; at[0] < m_End[0]; ++at[0])
        {
          if (m_Levels(at) != 0)
          {
            f(at, m_Levels(at));
          }
        }
      }
    }
  }

private:
  const Levels & m_Levels;
  Triple         m_Begin;
  Triple         m_End;
};

/** The distance of floats near a number. */
long double
FloatSpacing(long double value);

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
template <typename TReal>
bool
Agrees(const Value & expected, TReal actual);
} // namespace RunLengthOracle

#endif // RunLengthOracle_h
