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

/** What a test of gray tone differences is drawn from, without ITK types. */
struct GrayToneDifferenceRandomCase
{
  /** Levels, window and region; its features and aggregation do not matter. */
  TextureRandomCase                    common;
  GrayToneDifferenceOracle::Parameters parameters;
};

std::ostream &
operator<<(std::ostream & out, const GrayToneDifferenceRandomCase & randomCase);

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
GrayToneDifferenceRandomCase
DrawGrayToneDifferenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                                 VoxelMapsTest::RandomNumbers & random);

/** The job of a case, without output buffer. */
voxelmaps::GrayToneDifferenceJob
MakeGrayToneDifferenceJob(const GrayToneDifferenceRandomCase & randomCase);

/** Compare components of the region with the oracle. */
template <typename TReal>
bool
AgreesWithOracle(const GrayToneDifferenceRandomCase & randomCase, const std::vector<TReal> & result,
                 double backgroundValue, VoxelMapsTest::RandomNumbers & random, std::int64_t budget = 40000)
{
  namespace Oracle = GrayToneDifferenceOracle;
  const TextureRandomCase &  common = randomCase.common;
  const Oracle::Parameters & parameters = randomCase.parameters;
  const auto &               features = parameters.features;
  const auto                 expect = [&](const Oracle::Triple & position) {
    return [&,
            matrix = Oracle::MakeMatrix(
              common.levels, common.window, position, parameters.offsets, parameters.countVoxelsWithoutNeighbors)](
             std::size_t f, TReal actual) {
      const long double expected = Oracle::ComputeFeature(matrix, features[f]);
      return Oracle::Agrees(expected, Oracle::GetTolerance(matrix, features[f]), actual)
                               ? std::string()
                               : VoxelMapsTest::Print(expected);
    };
  };
  return AgreesWithOracle(common, features, features.size(), result, backgroundValue, random, budget, expect);
}

#endif // GrayToneDifferenceRandomCase_h
