// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayToneDifferenceRandomCase.h"

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
} // namespace

namespace VoxelMapsTest
{
GrayToneDifferenceRandomCase
DrawGrayToneDifferenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                                 RandomNumbers & random)
{
  GrayToneDifferenceRandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  voxelmaps::GrayToneDifferenceJob & parameters = randomCase.parameters;
  parameters.offsets = DrawOffsets(dimension, random);
  parameters.countVoxelsWithoutNeighbors = random.Chance(0.6);
  parameters.features = DrawFeatures<Enums>(random);
  randomCase.common.offsets = parameters.offsets; // for DrawPositions
  return randomCase;
}
} // namespace VoxelMapsTest
