// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureRandomCase_h
#define TextureRandomCase_h

#include "RunLengthOracle.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/RunLengthJob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

/** What a run length test is drawn from, without ITK types: levels, window, directions, features, aggregation. */
struct TextureRandomCase
{
  using Triple = RunLengthOracle::Triple;
  using Feature = RunLengthOracle::Feature;
  using Aggregation = RunLengthOracle::Aggregation;

  std::uint64_t           seed{ 0 };
  unsigned int            dimension{ 2 };
  std::string             pattern;
  std::uint32_t           numberOfGrayLevels{ 2 };
  RunLengthOracle::Levels levels;
  RunLengthOracle::Window window;
  std::vector<Triple>     offsets;
  std::vector<Feature>    features;
  Aggregation             aggregation{ Aggregation::Average };
  /** Part of the image whose features are asked for. */
  Triple regionIndex{ { 0, 0, 0 } };
  Triple regionSize{ { 1, 1, 1 } };
};

std::ostream &
operator<<(std::ostream & out, const TextureRandomCase & randomCase);

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
TextureRandomCase
DrawTextureRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                      VoxelMapsTest::RandomNumbers & random);

/** The job of a case, without output buffer. */
voxelmaps::RunLengthJob
MakeRunLengthJob(const TextureRandomCase & randomCase);

/** Set some levels to 0: none, scattered holes, all outside a box, or all; returns what was done. */
std::string
DrawHoles(RunLengthOracle::Levels & levels, VoxelMapsTest::RandomNumbers & random);

/** Positions to compare: the whole region if the oracle can do that soon, else its corners and random ones. */
std::vector<TextureRandomCase::Triple>
DrawPositions(const TextureRandomCase & randomCase, VoxelMapsTest::RandomNumbers & random, std::int64_t budget);

/** Compare components of the region (x fastest, components interleaved) with an oracle; false at the first difference.
 * expect(position) returns the check of a voxel that has a level: check(component, actual) returns what the component
 * must be, or nothing if it is that.
 *
 * The budget bounds the oracle's work, in voxels visited. */
template <typename TReal, typename TJob, typename TExpect>
bool
AgreesWithOracle(const TextureRandomCase & randomCase, const TJob & job, const std::vector<TReal> & result,
                 double backgroundValue, VoxelMapsTest::RandomNumbers & random, std::int64_t budget,
                 const TExpect & expect)
{
  const auto & origin = randomCase.regionIndex;
  const auto & size = randomCase.regionSize;
  const auto & features = job.features;
  const auto   components = job.GetNumberOfComponents();
  if (result.size() != components * static_cast<std::size_t>(size[0] * size[1] * size[2]))
  {
    ADD_FAILURE() << "the result has " << result.size() << " numbers";
    return false;
  }
  const auto background = static_cast<TReal>(backgroundValue);
  for (const auto & position : DrawPositions(randomCase, random, budget))
  {
    const TReal * const actual =
      result.data() +
      (((position[2] - origin[2]) * size[1] + position[1] - origin[1]) * size[0] + position[0] - origin[0]) *
        static_cast<std::int64_t>(components);
    const auto compare = [&](const auto & check) {
      for (std::size_t c = 0; c < components; ++c)
      {
        const std::string expected = check(c, actual[c]);
        if (!expected.empty())
        {
          ADD_FAILURE() << "component " << c << " (" << features[c % features.size()] << ") of voxel " << position[0]
                        << ',' << position[1] << ',' << position[2] << " is " << std::setprecision(17) << actual[c]
                        << ", but must be " << expected;
          return false;
        }
      }
      return true;
    };
    const auto checkAbsent = [&](std::size_t, TReal value) {
      const bool agrees = std::isnan(background) ? std::isnan(value) : value == background;
      return agrees ? std::string() : "the background " + std::to_string(background);
    };
    if (!(randomCase.levels(position) == 0 ? compare(checkAbsent) : compare(expect(position))))
    {
      return false;
    }
  }
  return true;
}

/** The text of an expectation that a value does not meet. */
template <typename TValue>
std::string
PrintUnlessAgrees(bool agrees, const TValue & expected)
{
  std::ostringstream text;
  if (!agrees)
  {
    text << std::setprecision(20) << (expected.isExact ? expected.exact : expected.reference);
  }
  return text.str();
}

#endif // TextureRandomCase_h
