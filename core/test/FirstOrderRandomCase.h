// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderRandomCase_h
#define FirstOrderRandomCase_h

#include "FirstOrderOracle.h"
#include "TextureRandomCase.h"

#include "voxelmaps/FirstOrderJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** Levels, window and region of a random case of run lengths, with intensities and first order features. */
struct FirstOrderRandomCase
{
  using Feature = voxelmaps::FirstOrderFeatureMapEnums::Feature;

  TextureRandomCase levels;
  /** NaN where the level is 0. */
  std::vector<double>  intensities;
  bool                 areDouble{ false };
  std::string          pattern;
  std::vector<Feature> features;
  double               voxelArrayShift{ 0.0 };
  double               voxelVolume{ 1.0 };
};

inline std::vector<FirstOrderRandomCase::Feature>
DrawFirstOrderFeatures(RandomNumbers & random)
{
  auto features = voxelmaps::FirstOrderFeatureMapEnums::GetAllFeatures();
  if (random.Chance(0.7))
  {
    random.Shuffle(features);
  }
  if (random.Chance(0.3))
  {
    features.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(features.size()))));
  }
  return features;
}

/** Intensities for the levels of a case, each a float if they are to be floats. */
inline void
DrawIntensities(bool areDouble, FirstOrderRandomCase & randomCase, RandomNumbers & random)
{
  const auto         kind = random.Below(6);
  const char * const patterns[] = { "levels", "integers", "ties", "noise", "constant", "great offset" };
  randomCase.pattern = patterns[kind];
  randomCase.areDouble = areDouble;
  const double scale = random.OneOf<double>({ 1e-3, 1.0, 12345.678 });
  for (const std::uint16_t level : randomCase.levels.levels.values)
  {
    double       x = 0.0;
    const double noise = static_cast<double>(random.Between(-1000000, 1000000)) * 1e-6;
    switch (kind)
    {
      case 0:
        x = level;
        break;
      case 1:
        x = static_cast<double>(random.Between(-1000, 3000));
        break;
      case 2:
        x = static_cast<double>(random.Between(-2, 2)) * 0.1;
        break;
      case 3:
        x = noise * scale;
        break;
      case 4:
        x = 0.1;
        break;
      default:
        x = 1e6 + noise;
        break;
    }
    x = areDouble ? x : static_cast<double>(static_cast<float>(x));
    randomCase.intensities.push_back(level != 0 ? x : std::numeric_limits<double>::quiet_NaN());
  }
}

inline std::ostream &
operator<<(std::ostream & out, const FirstOrderRandomCase & randomCase)
{
  return out << randomCase.levels << ", intensities: " << randomCase.pattern
             << (randomCase.areDouble ? " in double" : "");
}

/** A case as a job with its intensities; the job points into this object. */
struct FirstOrderCaseJob
{
  FirstOrderCaseJob(const FirstOrderRandomCase & randomCase, bool areDouble)
    : floats(randomCase.intensities.begin(), randomCase.intensities.end())
  {
    static_cast<voxelmaps::TextureFeatureMapJob &>(job) = MakeRunLengthJob(randomCase.levels);
    job.intensities =
      areDouble ? static_cast<const void *>(randomCase.intensities.data()) : static_cast<const void *>(floats.data());
    job.intensitiesAreDouble = areDouble;
    job.features = randomCase.features;
    job.voxelArrayShift = randomCase.voxelArrayShift;
    job.voxelVolume = randomCase.voxelVolume;
  }
  FirstOrderCaseJob(const FirstOrderCaseJob &) = delete;
  FirstOrderCaseJob &
  operator=(const FirstOrderCaseJob &) = delete;

  std::vector<float>       floats;
  voxelmaps::FirstOrderJob job;
};

/** The voxels of the window of a position of the image. */
inline std::vector<FirstOrderOracle::Voxel>
GatherWindow(const FirstOrderRandomCase & randomCase, const TextureRandomCase::Triple & position)
{
  const auto &                         levels = randomCase.levels.levels;
  const auto &                         window = randomCase.levels.window;
  std::vector<FirstOrderOracle::Voxel> voxels;
  TextureRandomCase::Triple            at;
  TextureRandomCase::Triple            first;
  TextureRandomCase::Triple            end;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    first[axis] = std::max<std::int64_t>(position[axis] - window.anchor[axis], 0);
    end[axis] = std::min(position[axis] - window.anchor[axis] + window.size[axis], levels.size[axis]);
  }
  for (at[2] = first[2]; at[2] < end[2]; ++at[2])
  {
    for (at[1] = first[1]; at[1] < end[1]; ++at[1])
    {
      for (at[0] = first[0]; at[0] < end[0]; ++at[0])
      {
        if (levels(at) != 0)
        {
          const auto i = static_cast<std::size_t>((at[2] * levels.size[1] + at[1]) * levels.size[0] + at[0]);
          voxels.push_back({ randomCase.intensities[i], levels(at) });
        }
      }
    }
  }
  return voxels;
}

/** Compare components of the region (x fastest, components interleaved) with the oracle; false at the first difference.
 *
 * The budget bounds the oracle's work, in voxels visited. */
template <typename TReal>
bool
AgreesWithOracle(const FirstOrderRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget = 30000)
{
  const TextureRandomCase & levels = randomCase.levels;
  const std::size_t         components = randomCase.features.size();
  for (const auto & position : DrawPositions(levels, random, budget))
  {
    const auto & origin = levels.regionIndex;
    const auto   voxel = static_cast<std::size_t>(
      ((position[2] - origin[2]) * levels.regionSize[1] + position[1] - origin[1]) * levels.regionSize[0] +
      position[0] - origin[0]);
    const bool isAbsent = levels.levels(position) == 0;
    const auto voxels = isAbsent ? std::vector<FirstOrderOracle::Voxel>{} : GatherWindow(randomCase, position);
    for (std::size_t f = 0; f < components; ++f)
    {
      const TReal actual = result[voxel * components + f];
      if (isAbsent)
      {
        const auto background = static_cast<TReal>(backgroundValue);
        if (actual != background && !(std::isnan(actual) && std::isnan(background)))
        {
          ADD_FAILURE() << actual << " instead of the background at " << position[0] << ", " << position[1] << ", "
                        << position[2];
          return false;
        }
        continue;
      }
      const auto expected =
        FirstOrderOracle::Compute(randomCase.features[f], voxels, randomCase.voxelArrayShift, randomCase.voxelVolume);
      if (!Agrees(expected, actual))
      {
        ADD_FAILURE() << randomCase.features[f] << " at " << position[0] << ", " << position[1] << ", " << position[2]
                      << " of " << voxels.size() << " voxels is " << actual << " instead of "
                      << (expected.isExact ? static_cast<long double>(expected.exact) : expected.reference);
        return false;
      }
    }
  }
  return true;
}
} // namespace VoxelMapsTest

#endif // FirstOrderRandomCase_h
