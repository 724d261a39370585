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
/** Levels, window and region of a random case of run lengths, with features of size zones. */
struct SizeZoneRandomCase
{
  using Feature = SizeZoneOracle::Feature;
  using Connectivity = SizeZoneOracle::Connectivity;

  TextureRandomCase    common;
  std::vector<Feature> features;
  Connectivity         connectivity{ Connectivity::Full };
};

inline std::ostream &
operator<<(std::ostream & out, const SizeZoneRandomCase & randomCase)
{
  out << randomCase.common << ", " << randomCase.connectivity << ", features of zones:";
  for (const SizeZoneRandomCase::Feature feature : randomCase.features)
  {
    out << ' ' << voxelmaps::SizeZoneFeatureMapEnums::GetAbbreviation(feature);
  }
  return out;
}

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
inline SizeZoneRandomCase
DrawSizeZoneRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                       RandomNumbers & random)
{
  SizeZoneRandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  randomCase.features = voxelmaps::SizeZoneFeatureMapEnums::GetAllFeatures();
  if (random.Chance(0.5))
  {
    random.Shuffle(randomCase.features);
    randomCase.features.resize(
      static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(randomCase.features.size()))));
  }
  randomCase.connectivity = random.Chance(0.7) ? SizeZoneOracle::Connectivity::Full //
                                               : SizeZoneOracle::Connectivity::InPlane;
  // A flood fill visits the neighbors of a voxel.
  randomCase.common.offsets.assign(26, { { 1, 0, 0 } });
  return randomCase;
}

/** The job of a case, without output buffer. */
inline voxelmaps::SizeZoneJob
MakeSizeZoneJob(const SizeZoneRandomCase & randomCase)
{
  voxelmaps::SizeZoneJob job;
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = MakeRunLengthJob(randomCase.common);
  job.features = randomCase.features;
  job.connectivity = randomCase.connectivity;
  return job;
}

/** Compare components of the region (x fastest, components interleaved) with the oracle; false at the first difference.
 *
 * The budget bounds the oracle's work, in neighbors visited. */
template <typename TReal>
bool
AgreesWithOracle(const SizeZoneRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget = 100000)
{
  const TextureRandomCase & common = randomCase.common;
  const std::size_t         components = randomCase.features.size();
  for (const auto & position : DrawPositions(common, random, budget))
  {
    const auto & origin = common.regionIndex;
    const auto   voxel = static_cast<std::size_t>(
      ((position[2] - origin[2]) * common.regionSize[1] + position[1] - origin[1]) * common.regionSize[0] +
      position[0] - origin[0]);
    const bool isAbsent = common.levels(position) == 0;
    const auto matrix = isAbsent
                          ? SizeZoneOracle::Matrix{}
                          : SizeZoneOracle::CountZones(common.levels, common.window, position, randomCase.connectivity);
    for (std::size_t f = 0; f < components; ++f)
    {
      const TReal           actual = result[voxel * components + f];
      const auto            background = static_cast<TReal>(backgroundValue);
      SizeZoneOracle::Value expected;
      if (!isAbsent)
      {
        expected = SizeZoneOracle::ComputeFeature(matrix, randomCase.features[f]);
      }
      const bool agrees = isAbsent ? actual == background || (std::isnan(actual) && std::isnan(background))
                                   : SizeZoneOracle::Agrees(expected, actual);
      if (!agrees)
      {
        ADD_FAILURE() << randomCase.features[f] << " at " << position[0] << ", " << position[1] << ", " << position[2]
                      << " of " << matrix.size() << " kinds of zones is " << std::setprecision(17) << actual
                      << " instead of "
                      << (isAbsent           ? static_cast<long double>(backgroundValue)
                          : expected.isExact ? static_cast<long double>(expected.exact)
                                             : expected.reference);
        return false;
      }
    }
  }
  return true;
}
} // namespace VoxelMapsTest

#endif // SizeZoneRandomCase_h
