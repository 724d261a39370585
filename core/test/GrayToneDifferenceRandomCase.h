// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceRandomCase_h
#define GrayToneDifferenceRandomCase_h

#include "GrayToneDifferenceOracle.h"
#include "TextureRandomCase.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/GrayToneDifferenceJob.h"

#include <ostream>
#include <vector>

namespace VoxelMapsTest
{
using GrayToneDifferenceRandomCase = ClassRandomCase<voxelmaps::GrayToneDifferenceJob>;

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
GrayToneDifferenceRandomCase
DrawGrayToneDifferenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                                 RandomNumbers & random);

/** Compare components of the region with the oracle. */
template <typename TReal>
bool
AgreesWithOracle(const GrayToneDifferenceRandomCase & randomCase, const std::vector<TReal> & result,
                 double backgroundValue, RandomNumbers & random, std::int64_t budget = 40000)
{
  namespace Oracle = GrayToneDifferenceOracle;
  const TextureRandomCase & common = randomCase.common;
  const auto &              parameters = randomCase.parameters;
  const auto &              features = parameters.features;
  const auto                expect = [&](const Oracle::Triple & position) {
    return [&,
            matrix = Oracle::MakeMatrix(
              common.levels, common.window, position, parameters.offsets, parameters.countVoxelsWithoutNeighbors)](
             std::size_t f, TReal actual) {
      const long double expected = Oracle::ComputeFeature(matrix, features[f]);
      return Oracle::Agrees(expected, Oracle::GetTolerance(matrix, features[f]), actual) ? std::string()
                                                                                                        : Print(expected);
    };
  };
  return ::AgreesWithOracle(common, features, features.size(), result, backgroundValue, random, budget, expect);
}
} // namespace VoxelMapsTest

#endif // GrayToneDifferenceRandomCase_h
