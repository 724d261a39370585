// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceRandomCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace
{
using Triple = CooccurrenceOracle::Triple;
using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
using VoxelMapsTest::RandomNumbers;

template <typename TReal>
bool
AgreesWithOracleAs(const CooccurrenceRandomCase & randomCase, const std::vector<TReal> & result, double backgroundValue,
                   RandomNumbers & random, std::int64_t budget)
{
  const TextureRandomCase & common = randomCase.common;
  const Triple &            size = common.regionSize;
  const std::size_t         components = randomCase.GetNumberOfComponents();
  if (result.size() != components * static_cast<std::size_t>(size[0] * size[1] * size[2]))
  {
    ADD_FAILURE() << "the result has " << result.size() << " numbers";
    return false;
  }
  for (const Triple & position : DrawPositions(common, random, budget))
  {
    const Triple p{
      { position[0] - common.regionIndex[0], position[1] - common.regionIndex[1], position[2] - common.regionIndex[2] }
    };
    const auto first = static_cast<std::size_t>((p[2] * size[1] + p[1]) * size[0] + p[0]) * components;
    std::vector<CooccurrenceOracle::Value> expected;
    double                                 empty = randomCase.emptyValue;
    if (common.levels(position) == 0)
    {
      expected.resize(components);
      std::for_each(expected.begin(), expected.end(), [](CooccurrenceOracle::Value & value) { value.isEmpty = true; });
      empty = backgroundValue;
    }
    else
    {
      expected = CooccurrenceOracle::ComputeFeatures(common.levels, common.window, position, randomCase.parameters);
    }
    for (std::size_t c = 0; c < components; ++c)
    {
      if (!CooccurrenceOracle::Agrees(expected[c], result[first + c], empty))
      {
        std::ostringstream actual;
        actual.precision(17);
        actual << result[first + c];
        ADD_FAILURE() << "component " << c << " ("
                      << Enums::GetName(randomCase.parameters.features[c % randomCase.parameters.features.size()])
                      << ") of voxel " << position[0] << ',' << position[1] << ',' << position[2] << " is "
                      << actual.str() << ", but must be " << CooccurrenceOracle::ToString(expected[c]);
        return false;
      }
    }
  }
  return true;
}
} // namespace

std::ostream &
operator<<(std::ostream & out, const CooccurrenceRandomCase & randomCase)
{
  const auto print = [&out](const char * name, const Triple & triple) {
    out << ", " << name << ' ' << triple[0] << ',' << triple[1] << ',' << triple[2];
  };
  const TextureRandomCase &              common = randomCase.common;
  const CooccurrenceOracle::Parameters & parameters = randomCase.parameters;
  out << "seed " << common.seed << ", " << common.dimension << "D, " << common.pattern << ", "
      << common.numberOfGrayLevels << " gray levels";
  print("image", common.levels.size);
  print("window", common.window.size);
  print("anchor", common.window.anchor);
  print("region at", common.regionIndex);
  print("of size", common.regionSize);
  out << ", " << parameters.aggregation << (parameters.symmetric ? ", symmetric" : ", asymmetric") << ", empty value "
      << randomCase.emptyValue << ", offsets";
  for (const Triple & offset : parameters.offsets)
  {
    out << " (" << offset[0] << ',' << offset[1] << ',' << offset[2] << ')';
  }
  out << ", features";
  for (const CooccurrenceOracle::Feature feature : parameters.features)
  {
    out << ' ' << Enums::GetAbbreviation(feature);
  }
  return out;
}

std::vector<CooccurrenceOracle::Triple>
DrawPairOffsets(unsigned int dimension, bool symmetric, RandomNumbers & random)
{
  std::vector<Triple> offsets;
  const auto          add = [&](const Triple & offset) {
    const Triple opposite{ { -offset[0], -offset[1], -offset[2] } };
    const auto   has = [&](const Triple & other) {
      return std::find(offsets.begin(), offsets.end(), other) != offsets.end();
    };
    const bool isZero = offset == opposite;
    if (!isZero && !has(offset) && !(symmetric && has(opposite)))
    {
      offsets.push_back(offset);
    }
  };
  if (random.Chance(0.6))
  {
    for (std::int64_t i = 0; i < (dimension == 3 ? 27 : 9); ++i)
    {
      add({ { 1 - i % 3, 1 - i / 3 % 3, dimension == 3 ? 1 - i / 9 : 0 } });
    }
    random.Shuffle(offsets);
    if (random.Chance(0.5))
    {
      offsets.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(offsets.size()))));
    }
    return offsets;
  }
  const std::int64_t number = random.Between(1, 9);
  const std::int64_t length = random.Chance(0.2) ? 12 : 3;
  while (offsets.empty() || static_cast<std::int64_t>(offsets.size()) < number)
  {
    add({ { random.Between(-length, length),
            random.Between(-length, length),
            dimension == 3 ? random.Between(-length, length) : 0 } });
  }
  return offsets;
}

CooccurrenceRandomCase
DrawCooccurrenceRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                           RandomNumbers & random)
{
  CooccurrenceRandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  CooccurrenceOracle::Parameters & parameters = randomCase.parameters;
  parameters.numberOfGrayLevels = randomCase.common.numberOfGrayLevels;
  parameters.symmetric = random.Chance(0.6);
  parameters.offsets = DrawPairOffsets(dimension, parameters.symmetric, random);
  parameters.aggregation = random.OneOf<Enums::Aggregation>({ Enums::Aggregation::PerDirection, //
                                                              Enums::Aggregation::Average,
                                                              Enums::Aggregation::Merge });
  parameters.features = Enums::GetAllFeatures();
  if (random.Chance(0.5))
  {
    random.Shuffle(parameters.features);
    parameters.features.resize(static_cast<std::size_t>(random.Between(1, Enums::NumberOfFeatures)));
  }
  if (random.Chance(0.3))
  {
    randomCase.emptyValue = random.OneOf<double>({ 0.0, -2.5, 1e30 });
  }
  randomCase.common.offsets = parameters.offsets; // for DrawPositions
  LeaveOutLargeCorrelations(randomCase);
  return randomCase;
}

void
LeaveOutLargeCorrelations(CooccurrenceRandomCase & randomCase)
{
  constexpr std::int64_t maxLevels = 64;
  std::int64_t           levels = 1;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    levels *= std::min(randomCase.common.window.size[axis], randomCase.common.levels.size[axis]);
  }
  if (std::min<std::int64_t>(levels, randomCase.common.numberOfGrayLevels) > maxLevels)
  {
    auto &     features = randomCase.parameters.features;
    const auto found =
      std::find(features.begin(), features.end(), CooccurrenceOracle::Feature::MaximalCorrelationCoefficient);
    if (found != features.end())
    {
      *found = features.size() > 1 ? features.back() : CooccurrenceOracle::Feature::Contrast;
      features.resize(std::max<std::size_t>(features.size() - 1, 1));
    }
  }
}

voxelmaps::CooccurrenceJob
MakeCooccurrenceJob(const CooccurrenceRandomCase & randomCase)
{
  voxelmaps::CooccurrenceJob job;
  job.levels = randomCase.common.levels.values.data();
  job.levelsSize = randomCase.common.levels.size;
  job.numberOfGrayLevels = randomCase.common.numberOfGrayLevels;
  job.outputIndex = randomCase.common.regionIndex;
  job.outputSize = randomCase.common.regionSize;
  job.windowSize = randomCase.common.window.size;
  job.windowAnchor = randomCase.common.window.anchor;
  job.offsets = randomCase.parameters.offsets;
  job.features = randomCase.parameters.features;
  job.aggregation = randomCase.parameters.aggregation;
  job.symmetric = randomCase.parameters.symmetric;
  job.emptyValue = randomCase.emptyValue;
  return job;
}

bool
AgreesWithOracle(const CooccurrenceRandomCase & randomCase, const std::vector<float> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget)
{
  return AgreesWithOracleAs(randomCase, result, backgroundValue, random, budget);
}

bool
AgreesWithOracle(const CooccurrenceRandomCase & randomCase, const std::vector<double> & result, double backgroundValue,
                 RandomNumbers & random, std::int64_t budget)
{
  return AgreesWithOracleAs(randomCase, result, backgroundValue, random, budget);
}
