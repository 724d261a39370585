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

/** Compare components of the region with the oracle. */
template <typename TReal>
bool
AgreesWithOracle(const FirstOrderRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget = 30000)
{
  const auto & features = randomCase.features;
  const auto   expect = [&](const TextureRandomCase::Triple & position) {
    return [&, voxels = GatherWindow(randomCase, position)](std::size_t f, TReal actual) {
      const auto expected =
        FirstOrderOracle::Compute(features[f], voxels, randomCase.voxelArrayShift, randomCase.voxelVolume);
      return PrintUnlessAgrees(Agrees(expected, actual), expected);
    };
  };
  return ::AgreesWithOracle(
    randomCase.levels, features, features.size(), result, backgroundValue, random, budget, expect);
}
} // namespace VoxelMapsTest

#endif // FirstOrderRandomCase_h
