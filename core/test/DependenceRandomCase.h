// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependenceRandomCase_h
#define DependenceRandomCase_h

#include "CooccurrenceRandomCase.h"
#include "DependenceOracle.h"

#include "voxelmaps/DependenceJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <vector>

namespace VoxelMapsTest
{
/** What a test of gray level dependences is drawn from, without ITK types. */
struct DependenceRandomCase
{
  /** Levels, window and region; its features and aggregation do not matter. */
  TextureRandomCase            common;
  DependenceOracle::Parameters parameters;
};

inline std::ostream &
operator<<(std::ostream & out, const DependenceRandomCase & randomCase)
{
  out << randomCase.common << ", alpha " << randomCase.parameters.alpha << ", offsets";
  for (const auto & offset : randomCase.parameters.offsets)
  {
    out << " (" << offset[0] << ',' << offset[1] << ',' << offset[2] << ')';
  }
  return out;
}

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
inline DependenceRandomCase
DrawDependenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                         RandomNumbers & random)
{
  DependenceRandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  randomCase.parameters.offsets = DrawPairOffsets(dimension, true, random);
  randomCase.common.offsets = randomCase.parameters.offsets; // for DrawPositions
  randomCase.parameters.alpha =
    random.Chance(0.5) ? 0
                       : random.OneOf<std::uint32_t>({ 1, 2, 7, randomCase.common.numberOfGrayLevels, 4000000000u });
  randomCase.parameters.features = voxelmaps::DependenceFeatureMapEnums::GetAllFeatures();
  if (random.Chance(0.5))
  {
    random.Shuffle(randomCase.parameters.features);
    randomCase.parameters.features.resize(
      static_cast<std::size_t>(random.Between(1, voxelmaps::DependenceFeatureMapEnums::NumberOfFeatures)));
  }
  return randomCase;
}

/** The job of a case, without output buffer. */
inline voxelmaps::DependenceJob
MakeDependenceJob(const DependenceRandomCase & randomCase)
{
  voxelmaps::DependenceJob job;
  job.levels = randomCase.common.levels.values.data();
  job.levelsSize = randomCase.common.levels.size;
  job.numberOfGrayLevels = randomCase.common.numberOfGrayLevels;
  job.outputIndex = randomCase.common.regionIndex;
  job.outputSize = randomCase.common.regionSize;
  job.windowSize = randomCase.common.window.size;
  job.windowAnchor = randomCase.common.window.anchor;
  job.offsets = randomCase.parameters.offsets;
  job.alpha = randomCase.parameters.alpha;
  job.features = randomCase.parameters.features;
  return job;
}

/** Compare components of the region (x fastest, components interleaved) with the oracle; false at the first difference.
 *
 * The budget bounds the oracle's work, in voxels visited. */
template <typename TReal>
bool
AgreesWithOracle(const DependenceRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget)
{
  const TextureRandomCase & common = randomCase.common;
  const auto &              features = randomCase.parameters.features;
  const auto &              origin = common.regionIndex;
  for (const auto & position : DrawPositions(common, random, budget))
  {
    const auto voxel = static_cast<std::size_t>(
      ((position[2] - origin[2]) * common.regionSize[1] + position[1] - origin[1]) * common.regionSize[0] +
      position[0] - origin[0]);
    const bool isAbsent = common.levels(position) == 0;
    const auto matrix = isAbsent
                          ? DependenceOracle::Matrix{}
                          : DependenceOracle::MakeMatrix(common.levels, common.window, position, randomCase.parameters);
    for (std::size_t f = 0; f < features.size(); ++f)
    {
      const TReal             actual = result[voxel * features.size() + f];
      DependenceOracle::Value expected;
      expected.isExact = true;
      expected.exact = backgroundValue;
      if (!isAbsent)
      {
        expected = DependenceOracle::ComputeFeature(features[f], matrix);
      }
      if (!Agrees(expected, actual))
      {
        ADD_FAILURE() << features[f] << " at " << position[0] << ", " << position[1] << ", " << position[2] << " is "
                      << actual << " instead of "
                      << (expected.isExact ? static_cast<long double>(expected.exact) : expected.reference);
        return false;
      }
    }
  }
  return true;
}
} // namespace VoxelMapsTest

#endif // DependenceRandomCase_h
