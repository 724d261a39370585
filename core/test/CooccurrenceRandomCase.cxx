// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceRandomCase.h"

#include <algorithm>

namespace
{
using Triple = CooccurrenceOracle::Triple;
using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
using VoxelMapsTest::RandomNumbers;
} // namespace

std::ostream &
operator<<(std::ostream & out, const CooccurrenceRandomCase & randomCase)
{
  const CooccurrenceOracle::Parameters & parameters = randomCase.parameters;
  out << randomCase.common << "; of pairs: " << parameters.aggregation
      << (parameters.symmetric ? ", symmetric" : ", asymmetric") << ", empty value " << randomCase.emptyValue;
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
  parameters.features = DrawFeatures<Enums>(random);
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
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = MakeRunLengthJob(randomCase.common);
  job.offsets = randomCase.parameters.offsets;
  job.features = randomCase.parameters.features;
  job.aggregation = randomCase.parameters.aggregation;
  job.symmetric = randomCase.parameters.symmetric;
  job.emptyValue = randomCase.emptyValue;
  return job;
}
