// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneRandomCase_h
#define SizeZoneRandomCase_h

#include "TextureRandomCase.h"
#include "SizeZoneOracle.h"

#include "voxelmaps/SizeZoneJob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <ostream>
#include <vector>

namespace VoxelMapsTest
{
using SizeZoneRandomCase = ClassRandomCase<voxelmaps::SizeZoneJob>;

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
inline SizeZoneRandomCase
DrawSizeZoneRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                       RandomNumbers & random)
{
  SizeZoneRandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  randomCase.parameters.features = DrawFeatures<voxelmaps::SizeZoneFeatureMapEnums>(random);
  randomCase.parameters.connectivity = random.Chance(0.7) ? SizeZoneOracle::Connectivity::Full //
                                                          : SizeZoneOracle::Connectivity::InPlane;
  // A flood fill visits the neighbors of a voxel.
  randomCase.common.offsets.assign(26, { { 1, 0, 0 } });
  return randomCase;
}

/** Compare components of the region with the oracle, whose budget is in neighbors visited. */
template <typename TReal>
bool
AgreesWithOracle(const SizeZoneRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget = 100000)
{
  const TextureRandomCase & common = randomCase.common;
  const auto &              features = randomCase.parameters.features;
  const auto                expect = [&](const SizeZoneOracle::Triple & position) {
    return
      [&,
       matrix = SizeZoneOracle::CountZones(common.levels, common.window, position, randomCase.parameters.connectivity)](
        std::size_t f, TReal actual) {
        const auto expected = SizeZoneOracle::ComputeFeature(matrix, features[f]);
        return PrintUnlessAgrees(Agrees(expected, actual), expected);
      };
  };
  return ::AgreesWithOracle(common, features, features.size(), result, backgroundValue, random, budget, expect);
}
} // namespace VoxelMapsTest

#endif // SizeZoneRandomCase_h
