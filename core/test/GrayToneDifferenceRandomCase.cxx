// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceRandomCase.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace
{
using Triple = GrayToneDifferenceOracle::Triple;
using Enums = voxelmaps::GrayToneDifferenceFeatureMapEnums;
using VoxelMapsTest::RandomNumbers;

/** All neighbors at a distance of up to 2, with or without those in z, or any offsets, some of which windows do not
 * hold. */
std::vector<Triple>
DrawOffsets(unsigned int dimension, RandomNumbers & random)
{
  std::vector<Triple> offsets;
  const auto          add = [&](const Triple & offset) {
    const Triple opposite{ { -offset[0], -offset[1], -offset[2] } };
    const auto   has = [&](const Triple & other) {
      return std::find(offsets.begin(), offsets.end(), other) != offsets.end();
    };
    if (offset != opposite && !has(offset) && !has(opposite))
    {
      offsets.push_back(random.Chance(0.5) ? offset : opposite);
    }
  };
  const std::int64_t distance = random.Chance(0.8) ? 1 : 2;
  const std::int64_t depth = dimension == 2 || random.Chance(0.2) ? 0 : distance;
  switch (random.Below(4))
  {
    case 0: // of any length
    {
      const std::int64_t number = random.Between(1, 9);
      const std::int64_t length = random.Chance(0.2) ? 12 : 3;
      while (offsets.empty() || static_cast<std::int64_t>(offsets.size()) < number)
      {
        add({ { random.Between(-length, length),
                random.Between(-length, length),
                depth == 0 ? 0 : random.Between(-length, length) } });
      }
      return offsets;
    }
    default:
      for (std::int64_t z = -depth; z <= depth; ++z)
      {
        for (std::int64_t y = -distance; y <= distance; ++y)
        {
          for (std::int64_t x = -distance; x <= distance; ++x)
          {
            add({ { x, y, z } });
          }
        }
      }
  }
  random.Shuffle(offsets);
  if (random.Chance(0.25))
  {
    offsets.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(offsets.size()))));
  }
  return offsets;
}

template <typename TReal>
bool
AgreesWithOracleAs(const GrayToneDifferenceRandomCase & randomCase, const std::vector<TReal> & result,
                   double backgroundValue, RandomNumbers & random, std::int64_t budget)
{
  const TextureRandomCase & common = randomCase.common;
  const Triple &            size = common.regionSize;
  const auto &              features = randomCase.parameters.features;
  if (result.size() != features.size() * static_cast<std::size_t>(size[0] * size[1] * size[2]))
  {
    ADD_FAILURE() << "the result has " << result.size() << " numbers";
    return false;
  }
  for (const Triple & position : DrawPositions(common, random, budget))
  {
    const Triple p{
      { position[0] - common.regionIndex[0], position[1] - common.regionIndex[1], position[2] - common.regionIndex[2] }
    };
    const auto first = static_cast<std::size_t>((p[2] * size[1] + p[1]) * size[0] + p[0]) * features.size();
    const bool isAbsent = common.levels(position) == 0;
    GrayToneDifferenceOracle::Matrix matrix;
    if (!isAbsent)
    {
      matrix = GrayToneDifferenceOracle::MakeMatrix(common.levels,
                                                    common.window,
                                                    position,
                                                    randomCase.parameters.offsets,
                                                    randomCase.parameters.countVoxelsWithoutNeighbors);
    }
    for (std::size_t f = 0; f < features.size(); ++f)
    {
      const long double expected = isAbsent ? static_cast<long double>(backgroundValue)
                                            : GrayToneDifferenceOracle::ComputeFeature(matrix, features[f]);
      const long double tolerance = isAbsent ? 0.0L : GrayToneDifferenceOracle::GetTolerance(matrix, features[f]);
      if (!GrayToneDifferenceOracle::Agrees(expected, tolerance, result[first + f]))
      {
        ADD_FAILURE() << features[f] << " of voxel " << position[0] << ',' << position[1] << ',' << position[2]
                      << " is " << result[first + f] << ", but must be " << expected;
        return false;
      }
    }
  }
  return true;
}
} // namespace

std::ostream &
operator<<(std::ostream & out, const GrayToneDifferenceRandomCase & randomCase)
{
  const auto print = [&out](const char * name, const Triple & triple) {
    out << ", " << name << ' ' << triple[0] << ',' << triple[1] << ',' << triple[2];
  };
  const TextureRandomCase &                    common = randomCase.common;
  const GrayToneDifferenceOracle::Parameters & parameters = randomCase.parameters;
  out << "seed " << common.seed << ", " << common.dimension << "D, " << common.pattern << ", "
      << common.numberOfGrayLevels << " gray levels";
  print("image", common.levels.size);
  print("window", common.window.size);
  print("anchor", common.window.anchor);
  print("region at", common.regionIndex);
  print("of size", common.regionSize);
  out << (parameters.countVoxelsWithoutNeighbors ? ", all voxels" : ", voxels with neighbors") << ", offsets";
  for (const Triple & offset : parameters.offsets)
  {
    out << " (" << offset[0] << ',' << offset[1] << ',' << offset[2] << ')';
  }
  out << ", features";
  for (const GrayToneDifferenceOracle::Feature feature : parameters.features)
  {
    out << ' ' << Enums::GetAbbreviation(feature);
  }
  return out;
}

GrayToneDifferenceRandomCase
DrawGrayToneDifferenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                                 RandomNumbers & random)
{
  GrayToneDifferenceRandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  GrayToneDifferenceOracle::Parameters & parameters = randomCase.parameters;
  parameters.offsets = DrawOffsets(dimension, random);
  parameters.countVoxelsWithoutNeighbors = random.Chance(0.6);
  parameters.features = Enums::GetAllFeatures();
  if (random.Chance(0.5))
  {
    random.Shuffle(parameters.features);
    parameters.features.resize(static_cast<std::size_t>(random.Between(1, Enums::NumberOfFeatures)));
  }
  randomCase.common.offsets = parameters.offsets; // for DrawPositions
  return randomCase;
}

voxelmaps::GrayToneDifferenceJob
MakeGrayToneDifferenceJob(const GrayToneDifferenceRandomCase & randomCase)
{
  voxelmaps::GrayToneDifferenceJob job;
  job.levels = randomCase.common.levels.values.data();
  job.levelsSize = randomCase.common.levels.size;
  job.numberOfGrayLevels = randomCase.common.numberOfGrayLevels;
  job.outputIndex = randomCase.common.regionIndex;
  job.outputSize = randomCase.common.regionSize;
  job.windowSize = randomCase.common.window.size;
  job.windowAnchor = randomCase.common.window.anchor;
  job.offsets = randomCase.parameters.offsets;
  job.features = randomCase.parameters.features;
  job.countVoxelsWithoutNeighbors = randomCase.parameters.countVoxelsWithoutNeighbors;
  return job;
}

bool
AgreesWithOracle(const GrayToneDifferenceRandomCase & randomCase, const std::vector<float> & result,
                 double backgroundValue, RandomNumbers & random, std::int64_t budget)
{
  return AgreesWithOracleAs(randomCase, result, backgroundValue, random, budget);
}

bool
AgreesWithOracle(const GrayToneDifferenceRandomCase & randomCase, const std::vector<double> & result,
                 double backgroundValue, RandomNumbers & random, std::int64_t budget)
{
  return AgreesWithOracleAs(randomCase, result, backgroundValue, random, budget);
}
