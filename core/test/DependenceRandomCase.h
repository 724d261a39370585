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
using DependenceRandomCase = ClassRandomCase<voxelmaps::DependenceJob>;

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
  randomCase.parameters.features = DrawFeatures<voxelmaps::DependenceFeatureMapEnums>(random);
  return randomCase;
}

/** Compare components of the region with the oracle. */
template <typename TReal>
bool
AgreesWithOracle(const DependenceRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget)
{
  const TextureRandomCase & common = randomCase.common;
  const auto &              features = randomCase.parameters.features;
  const auto                expect = [&](const DependenceOracle::Triple & position) {
    return [&, matrix = DependenceOracle::MakeMatrix(common.levels, common.window, position, randomCase.parameters)](
             std::size_t f, TReal actual) {
      const auto expected = DependenceOracle::ComputeFeature(features[f], matrix);
      return PrintUnlessAgrees(Agrees(expected, actual), expected);
    };
  };
  return ::AgreesWithOracle(common, features, features.size(), result, backgroundValue, random, budget, expect);
}
} // namespace VoxelMapsTest

#endif // DependenceRandomCase_h
