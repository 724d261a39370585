// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceRandomCase_h
#define CooccurrenceRandomCase_h

#include "CooccurrenceOracle.h"
#include "TextureRandomCase.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/CooccurrenceJob.h"

#include <limits>
#include <ostream>
#include <vector>

/** What a co-occurrence test is drawn from, without ITK types. */
struct CooccurrenceRandomCase
{
  /** Levels, window and region; its features and aggregation do not matter. */
  TextureRandomCase              common;
  CooccurrenceOracle::Parameters parameters;
  double                         emptyValue{ std::numeric_limits<double>::quiet_NaN() };

  std::size_t
  GetNumberOfComponents() const
  {
    return parameters.features.size() *
           (parameters.aggregation == CooccurrenceOracle::Aggregation::PerDirection ? parameters.offsets.size() : 1);
  }
};

std::ostream &
operator<<(std::ostream & out, const CooccurrenceRandomCase & randomCase);

/** Offsets of distance 1, or up to 3 voxels in any direction, some of which windows do not hold. */
std::vector<CooccurrenceOracle::Triple>
DrawPairOffsets(unsigned int dimension, bool symmetric, VoxelMapsTest::RandomNumbers & random);

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
CooccurrenceRandomCase
DrawCooccurrenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                           VoxelMapsTest::RandomNumbers & random);

/** Leave out the maximal correlation coefficient where windows can have hundreds of levels, which takes the oracle too
 * long. */
void
LeaveOutLargeCorrelations(CooccurrenceRandomCase & randomCase);

/** The job of a case, without output buffer. */
voxelmaps::CooccurrenceJob
MakeCooccurrenceJob(const CooccurrenceRandomCase & randomCase);

/** Compare components of the region with the oracle. */
template <typename TReal>
bool
AgreesWithOracle(const CooccurrenceRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 VoxelMapsTest::RandomNumbers & random, std::int64_t budget = 40000)
{
  const TextureRandomCase & common = randomCase.common;
  const auto                expect = [&](const CooccurrenceOracle::Triple & position) {
    return [&,
            expected = CooccurrenceOracle::ComputeFeatures(
              common.levels, common.window, position, randomCase.parameters)](std::size_t c, TReal actual) {
      return PrintUnlessAgrees(Agrees(expected[c], actual, randomCase.emptyValue), expected[c]);
    };
  };
  return AgreesWithOracle(common,
                          randomCase.parameters.features,
                          randomCase.GetNumberOfComponents(),
                          result,
                          backgroundValue,
                          random,
                          budget,
                          expect);
}

#endif // CooccurrenceRandomCase_h
