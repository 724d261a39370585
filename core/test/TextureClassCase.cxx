// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureClassCase.h"

#include <limits>

namespace VoxelMapsTest
{
namespace
{
using voxelmaps::Triple;

/** All features of a class, or some of them in any order. */
template <typename TEnums>
std::vector<typename TEnums::Feature>
DrawFeatures(RandomNumbers & random)
{
  auto features = TEnums::GetAllFeatures();
  if (random.Chance(0.5))
  {
    random.Shuffle(features);
    features.resize(static_cast<std::size_t>(random.Between(1, TEnums::NumberOfFeatures)));
  }
  return features;
}

/** Add an offset that is not 0 and not there yet; returns whether it was added. */
bool
AddOffset(std::vector<Triple> & offsets, const Triple & offset, bool isOppositeTheSame)
{
  const Triple opposite = RunLengthOracle::Move({}, offset, -1);
  const auto   has = [&](const Triple & other) {
    return std::find(offsets.begin(), offsets.end(), other) != offsets.end();
  };
  const bool isNew = offset != opposite && !has(offset) && !(isOppositeTheSame && has(opposite));
  if (isNew)
  {
    offsets.push_back(offset);
  }
  return isNew;
}

/** Up to 9 offsets of up to 3 voxels in any direction, or of up to 12, some of which windows do not hold. */
template <typename TAdd>
void
DrawLongOffsets(const std::vector<Triple> & offsets, bool isVolume, RandomNumbers & random, const TAdd & add)
{
  const std::int64_t number = random.Between(1, 9);
  const std::int64_t length = random.Chance(0.2) ? 12 : 3;
  while (offsets.empty() || static_cast<std::int64_t>(offsets.size()) < number)
  {
    add({ { random.Between(-length, length),
            random.Between(-length, length),
            isVolume ? random.Between(-length, length) : 0 } });
  }
}

/** Leave some of the offsets out, in any order, with a probability. */
void
ShuffleOffsets(std::vector<Triple> & offsets, double probability, RandomNumbers & random)
{
  random.Shuffle(offsets);
  if (random.Chance(probability))
  {
    offsets.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(offsets.size()))));
  }
}

/** Offsets of distance 1, or long ones. */
std::vector<Triple>
DrawPairOffsets(unsigned int dimension, bool symmetric, RandomNumbers & random)
{
  std::vector<Triple> offsets;
  const auto          add = [&](const Triple & offset) { AddOffset(offsets, offset, symmetric); };
  if (!random.Chance(0.6))
  {
    DrawLongOffsets(offsets, dimension == 3, random, add);
    return offsets;
  }
  for (std::int64_t i = 0; i < (dimension == 3 ? 27 : 9); ++i)
  {
    add({ { 1 - i % 3, 1 - i / 3 % 3, dimension == 3 ? 1 - i / 9 : 0 } });
  }
  ShuffleOffsets(offsets, 0.5, random);
  return offsets;
}

/** All neighbors at a distance of up to 2, with or without those in z, or long offsets. */
std::vector<Triple>
DrawNeighborOffsets(unsigned int dimension, RandomNumbers & random)
{
  std::vector<Triple> offsets;
  const auto          add = [&](const Triple & offset) {
    if (AddOffset(offsets, offset, true) && !random.Chance(0.5))
    {
      offsets.back() = RunLengthOracle::Move({}, offset, -1);
    }
  };
  const std::int64_t distance = random.Chance(0.8) ? 1 : 2;
  const std::int64_t depth = dimension == 2 || random.Chance(0.2) ? 0 : distance;
  if (random.Below(4) == 0)
  {
    DrawLongOffsets(offsets, depth > 0, random, add);
    return offsets;
  }
  const std::int64_t side = 2 * distance + 1;
  for (std::int64_t i = 0; i < side * side * (2 * depth + 1); ++i)
  {
    add({ { i % side - distance, i / side % side - distance, i / (side * side) - depth } });
  }
  ShuffleOffsets(offsets, 0.25, random);
  return offsets;
}
} // namespace

voxelmaps::FirstOrderJob
MakeCaseJob(const FirstOrderRandomCase & randomCase)
{
  auto job = MakeCaseJob<voxelmaps::FirstOrderJob>(randomCase);
  job.intensities = job.intensitiesAreDouble ? static_cast<const void *>(randomCase.intensities.data())
                                             : static_cast<const void *>(randomCase.floats.data());
  return job;
}

void
DrawIntensities(bool areDouble, FirstOrderRandomCase & randomCase, RandomNumbers & random)
{
  const auto         kind = random.Below(6);
  const char * const patterns[] = { "levels", "integers", "ties", "noise", "constant", "great offset" };
  randomCase.pattern = patterns[kind];
  randomCase.parameters.intensitiesAreDouble = areDouble;
  const double scale = random.OneOf<double>({ 1e-3, 1.0, 12345.678 });
  for (const std::uint16_t level : randomCase.common.levels.values)
  {
    double       x = 0.0;
    const double noise = static_cast<double>(random.Between(-1000000, 1000000)) * 1e-6;
    switch (kind)
    {
      case 0:
        x = level;
        break;
      case 1:
        x = static_cast<double>(random.Between(-1000, 3000));
        break;
      case 2:
        x = static_cast<double>(random.Between(-2, 2)) * 0.1;
        break;
      case 3:
        x = noise * scale;
        break;
      case 4:
        x = 0.1;
        break;
      default:
        x = 1e6 + noise;
        break;
    }
    x = level != 0 ? x : std::numeric_limits<double>::quiet_NaN();
    randomCase.floats.push_back(static_cast<float>(x));
    randomCase.intensities.push_back(areDouble ? x : static_cast<double>(randomCase.floats.back()));
  }
}

std::vector<voxelmaps::FirstOrderJob::Feature>
DrawFirstOrderFeatures(RandomNumbers & random)
{
  auto features = voxelmaps::FirstOrderFeatureMapEnums::GetAllFeatures();
  if (random.Chance(0.7))
  {
    random.Shuffle(features);
  }
  if (random.Chance(0.3))
  {
    features.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(features.size()))));
  }
  return features;
}

void
LeaveOutLargeCorrelations(ClassRandomCase<voxelmaps::CooccurrenceJob> & randomCase)
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
      std::find(features.begin(), features.end(), voxelmaps::CooccurrenceJob::Feature::MaximalCorrelationCoefficient);
    if (found != features.end())
    {
      *found = features.size() > 1 ? features.back() : voxelmaps::CooccurrenceJob::Feature::Contrast;
      features.resize(std::max<std::size_t>(features.size() - 1, 1));
    }
  }
}

auto
ClassCase<voxelmaps::CooccurrenceJob>::Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random,
                                            std::uint32_t maxNumberOfGrayLevels) -> RandomCase
{
  using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
  RandomCase randomCase{ DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random), {} };
  auto &     parameters = randomCase.parameters;
  parameters.symmetric = random.Chance(0.6);
  parameters.offsets = DrawPairOffsets(dimension, parameters.symmetric, random);
  parameters.aggregation = random.OneOf<Enums::Aggregation>({ Enums::Aggregation::PerDirection, //
                                                              Enums::Aggregation::Average,
                                                              Enums::Aggregation::Merge });
  parameters.features = DrawFeatures<Enums>(random);
  parameters.emptyValue = random.Chance(0.3) ? random.OneOf<double>({ 0.0, -2.5, 1e30 }) : parameters.emptyValue;
  randomCase.common.offsets = parameters.offsets;
  LeaveOutLargeCorrelations(randomCase);
  return randomCase;
}

auto
ClassCase<voxelmaps::DependenceJob>::Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random,
                                          std::uint32_t maxNumberOfGrayLevels) -> RandomCase
{
  RandomCase randomCase{ DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random), {} };
  auto &     parameters = randomCase.parameters;
  parameters.offsets = DrawPairOffsets(dimension, true, random);
  parameters.alpha = random.Chance(0.5)
                       ? 0
                       : random.OneOf<std::uint32_t>({ 1, 2, 7, randomCase.common.numberOfGrayLevels, 4000000000u });
  parameters.features = DrawFeatures<voxelmaps::DependenceFeatureMapEnums>(random);
  randomCase.common.offsets = parameters.offsets;
  return randomCase;
}

auto
ClassCase<voxelmaps::FirstOrderJob>::Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random,
                                          std::uint32_t maxNumberOfGrayLevels) -> RandomCase
{
  RandomCase randomCase;
  randomCase.common = DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  return randomCase;
}

std::string
ClassCase<voxelmaps::FirstOrderJob>::DrawRest(RandomCase & randomCase, RandomNumbers & random)
{
  const std::string holes = DrawHoles(randomCase.common.levels, random);
  DrawIntensities(random.Chance(0.4), randomCase, random);
  auto & parameters = randomCase.parameters;
  parameters.features = DrawFirstOrderFeatures(random);
  parameters.voxelArrayShift = random.OneOf<double>({ 0.0, 1000.0, -37.5 });
  parameters.voxelVolume = random.OneOf<double>({ 1.0, 0.3 });
  return holes + ", intensities: " + randomCase.pattern + (parameters.intensitiesAreDouble ? " in double" : "");
}

auto
ClassCase<voxelmaps::GrayToneDifferenceJob>::Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random,
                                                  std::uint32_t maxNumberOfGrayLevels) -> RandomCase
{
  RandomCase randomCase{ DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random), {} };
  auto &     parameters = randomCase.parameters;
  parameters.offsets = DrawNeighborOffsets(dimension, random);
  parameters.countVoxelsWithoutNeighbors = random.Chance(0.6);
  parameters.features = DrawFeatures<voxelmaps::GrayToneDifferenceFeatureMapEnums>(random);
  randomCase.common.offsets = parameters.offsets;
  return randomCase;
}

auto
ClassCase<voxelmaps::SizeZoneJob>::Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random,
                                        std::uint32_t maxNumberOfGrayLevels) -> RandomCase
{
  RandomCase randomCase{ DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random), {} };
  auto &     parameters = randomCase.parameters;
  parameters.features = DrawFeatures<voxelmaps::SizeZoneFeatureMapEnums>(random);
  parameters.connectivity = random.Chance(0.7) ? voxelmaps::SizeZoneJob::Connectivity::Full //
                                               : voxelmaps::SizeZoneJob::Connectivity::InPlane;
  // A flood fill visits the neighbors of a voxel.
  randomCase.common.offsets.assign(26, { { 1, 0, 0 } });
  return randomCase;
}
} // namespace VoxelMapsTest
