// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureRandomCase.h"

#include <algorithm>

namespace
{
using Triple = TextureRandomCase::Triple;
using VoxelMapsTest::RandomNumbers;

void
Print(std::ostream & out, const char * name, const Triple & triple)
{
  out << ", " << name << ' ' << triple[0] << ',' << triple[1] << ',' << triple[2];
}

Triple
DrawImageSize(unsigned int dimension, RandomNumbers & random)
{
  Triple size{ { 1, 1, 1 } };
  if (dimension == 2)
  {
    switch (random.Below(10))
    {
      case 0: // one voxel
        break;
      case 1: // one row or column
        size[static_cast<std::size_t>(random.Below(2))] = random.Between(2, 40);
        break;
      case 2:
      case 3:
        size = { { random.Between(2, 9), random.Between(2, 9), 1 } };
        break;
      case 4: // wide enough for many vectors and tiles
        size = { { random.Between(300, 700), random.Between(1, 6), 1 } };
        break;
      case 5: // high
        size = { { random.Between(1, 6), random.Between(300, 500), 1 } };
        break;
      default:
        size = { { random.Between(5, 40), random.Between(5, 30), 1 } };
    }
    return size;
  }
  switch (random.Below(10))
  {
    case 0:
      break;
    case 1:
      size[static_cast<std::size_t>(random.Below(3))] = random.Between(2, 30);
      break;
    case 2:
    case 3:
      size = { { random.Between(2, 6), random.Between(2, 6), random.Between(2, 6) } };
      break;
    case 4:
      size = { { random.Between(300, 400), random.Between(1, 3), random.Between(1, 3) } };
      break;
    case 5: // one slice
      size = { { random.Between(3, 17), random.Between(3, 14), 1 } };
      break;
    default:
      size = { { random.Between(4, 17), random.Between(4, 14), random.Between(4, 11) } };
  }
  return size;
}

void
DrawLevels(TextureRandomCase & randomCase, RandomNumbers & random)
{
  const Triple & size = randomCase.levels.size;
  const auto     count = static_cast<std::size_t>(size[0] * size[1] * size[2]);
  auto &         values = randomCase.levels.values;
  values.assign(count, 1);

  // Few levels make long runs; the extreme ones make extreme sums.
  const std::int64_t         greatest = randomCase.numberOfGrayLevels;
  std::vector<std::uint16_t> palette;
  const std::int64_t         paletteSize = random.OneOf<std::int64_t>({ 1, 2, 2, 3, 4, 8, 1000 });
  for (std::int64_t i = 0; i < std::min<std::int64_t>(paletteSize, 2 * greatest); ++i)
  {
    palette.push_back(static_cast<std::uint16_t>(random.Between(1, greatest)));
  }
  if (random.Chance(0.5))
  {
    palette[0] = static_cast<std::uint16_t>(greatest);
  }
  if (random.Chance(0.3))
  {
    palette.back() = 1;
  }

  const std::int64_t kind = random.Below(4);
  const Triple       step{ { random.Between(-1, 1), random.Between(-1, 1), random.Between(-1, 1) } };
  const std::int64_t width = random.Between(1, 5);
  randomCase.pattern =
    std::vector<std::string>{ "noise", "runs", "stripes", "blocks" }[static_cast<std::size_t>(kind)] + " of " +
    std::to_string(palette.size()) + " levels";
  for (std::size_t i = 0; i < count; ++i)
  {
    const auto [x, y, z] = VoxelMapsTest::GetPosition(static_cast<std::int64_t>(i), size);
    const auto fromPalette = [&palette](std::int64_t at) {
      const auto n = static_cast<std::int64_t>(palette.size());
      return palette[static_cast<std::size_t>((at % n + n) % n)];
    };
    switch (kind)
    {
      case 0:
        values[i] = random.OneOf(palette);
        break;
      case 1: // go on with a neighbor's level
      {
        const std::size_t stride = random.Chance(0.5) ? 1 : static_cast<std::size_t>(size[0]);
        values[i] = i >= stride && random.Chance(0.8) ? values[i - stride] : random.OneOf(palette);
        break;
      }
      case 2: // parallel lines along some direction, with a little noise
        values[i] = random.Chance(0.03) ? random.OneOf(palette) : fromPalette(step[0] * x + step[1] * y + step[2] * z);
        break;
      default:
        values[i] = fromPalette(x / width + 3 * (y / width) + 5 * (z / width));
    }
  }
}

void
DrawWindow(TextureRandomCase & randomCase, RandomNumbers & random)
{
  const std::int64_t kind = random.Below(4);
  const std::int64_t edge = random.Between(1, 9);
  for (unsigned int axis = 0; axis < randomCase.dimension; ++axis)
  {
    switch (kind)
    {
      case 0: // a radius
        randomCase.window.size[axis] = edge / 2 * 2 + 1;
        break;
      case 1:
        randomCase.window.size[axis] = edge;
        break;
      default:
        randomCase.window.size[axis] = random.Between(1, 9);
    }
    randomCase.window.anchor[axis] =
      kind == 3 ? random.Below(randomCase.window.size[axis]) : randomCase.window.size[axis] / 2;
  }
}

void
DrawOffsets(TextureRandomCase & randomCase, RandomNumbers & random)
{
  auto & offsets = randomCase.offsets;
  offsets = VoxelMapsTest::GetNeighborOffsets(randomCase.dimension == 3);
  if (random.Chance(0.7))
  {
    random.Shuffle(offsets);
    for (Triple & offset : offsets)
    {
      if (random.Chance(0.5))
      {
        offset = { { -offset[0], -offset[1], -offset[2] } };
      }
    }
  }
  if (random.Chance(0.6))
  {
    offsets.resize(static_cast<std::size_t>(random.Between(1, static_cast<std::int64_t>(offsets.size()))));
  }
}

/** The features decide which way the engine computes (run entropy, sums of 1 / i^2 and of i), so draw all kinds. */
void
DrawFeatures(TextureRandomCase & randomCase, RandomNumbers & random)
{
  using Enums = voxelmaps::RunLengthFeatureMapEnums;
  auto & features = randomCase.features;
  features = Enums::GetAllFeatures();
  const auto drop = [&features](const std::vector<TextureRandomCase::Feature> & unwanted) {
    for (const TextureRandomCase::Feature feature : unwanted)
    {
      features.erase(std::remove(features.begin(), features.end(), feature), features.end());
    }
  };
  switch (random.Below(6))
  {
    case 0:
      features = Enums::GetElevenFeatures();
      break;
    case 1:
      break;
    case 2:
      random.Shuffle(features);
      drop({ TextureRandomCase::Feature::RunEntropy });
      break;
    case 3: // none that needs 1 / i^2
      random.Shuffle(features);
      drop({ TextureRandomCase::Feature::RunEntropy,
             TextureRandomCase::Feature::LowGrayLevelRunEmphasis,
             TextureRandomCase::Feature::ShortRunLowGrayLevelEmphasis,
             TextureRandomCase::Feature::LongRunLowGrayLevelEmphasis });
      if (random.Chance(0.5))
      {
        drop({ TextureRandomCase::Feature::GrayLevelVariance });
      }
      break;
    default:
      random.Shuffle(features);
      features.resize(static_cast<std::size_t>(random.Between(1, 16)));
      if (features.size() > 1 && random.Chance(0.6))
      {
        drop({ TextureRandomCase::Feature::RunEntropy });
      }
  }
  randomCase.aggregation = random.OneOf<TextureRandomCase::Aggregation>({ TextureRandomCase::Aggregation::PerDirection,
                                                                          TextureRandomCase::Aggregation::Average,
                                                                          TextureRandomCase::Aggregation::Merge });
}
} // namespace

std::ostream &
operator<<(std::ostream & out, const TextureRandomCase & randomCase)
{
  out << "seed " << randomCase.seed << ", " << randomCase.dimension << "D, " << randomCase.pattern << ", "
      << randomCase.numberOfGrayLevels << " gray levels";
  Print(out, "image", randomCase.levels.size);
  Print(out, "window", randomCase.window.size);
  Print(out, "anchor", randomCase.window.anchor);
  Print(out, "region at", randomCase.regionIndex);
  Print(out, "of size", randomCase.regionSize);
  out << ", " << randomCase.aggregation << ", directions";
  for (const Triple & offset : randomCase.offsets)
  {
    out << " (" << offset[0] << ',' << offset[1] << ',' << offset[2] << ')';
  }
  out << ", features";
  for (const TextureRandomCase::Feature feature : randomCase.features)
  {
    out << ' ' << voxelmaps::RunLengthFeatureMapEnums::GetAbbreviation(feature);
  }
  return out;
}

TextureRandomCase
DrawTextureRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                      RandomNumbers & random)
{
  std::vector<std::uint32_t> numbers{ 2, 3, 4, 8, 16, 32, 64, 100, 255, 256, 257, 1000, 4096, 65535 };
  numbers.erase(std::remove_if(
                  numbers.begin(), numbers.end(), [=](std::uint32_t number) { return number > maxNumberOfGrayLevels; }),
                numbers.end());

  TextureRandomCase randomCase;
  randomCase.seed = seed;
  randomCase.dimension = dimension;
  randomCase.numberOfGrayLevels = random.OneOf(numbers);
  randomCase.levels.size = DrawImageSize(dimension, random);
  DrawLevels(randomCase, random);
  DrawWindow(randomCase, random);
  DrawOffsets(randomCase, random);
  DrawFeatures(randomCase, random);
  randomCase.regionSize = randomCase.levels.size;
  if (random.Chance(0.5))
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      randomCase.regionIndex[axis] = random.Below(randomCase.levels.size[axis]);
      randomCase.regionSize[axis] = random.Between(1, randomCase.levels.size[axis] - randomCase.regionIndex[axis]);
    }
  }
  return randomCase;
}

voxelmaps::RunLengthJob
MakeRunLengthJob(const TextureRandomCase & randomCase)
{
  voxelmaps::RunLengthJob job;
  job.levels = randomCase.levels.values.data();
  job.levelsSize = randomCase.levels.size;
  job.numberOfGrayLevels = randomCase.numberOfGrayLevels;
  job.outputIndex = randomCase.regionIndex;
  job.outputSize = randomCase.regionSize;
  job.windowSize = randomCase.window.size;
  job.windowAnchor = randomCase.window.anchor;
  job.offsets = randomCase.offsets;
  job.features = randomCase.features;
  job.aggregation = randomCase.aggregation;
  return job;
}

std::string
DrawHoles(RunLengthOracle::Levels & levels, RandomNumbers & random)
{
  const Triple &     size = levels.size;
  const std::int64_t kind = random.Below(20);
  if (kind < 8)
  {
    return "no holes";
  }
  if (kind == 8)
  {
    std::fill(levels.values.begin(), levels.values.end(), std::uint16_t{ 0 });
    return "all masked";
  }
  if (kind < 13)
  {
    Triple first;
    Triple last;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      first[axis] = random.Below(size[axis]);
      last[axis] = random.Between(first[axis], size[axis] - 1);
    }
    for (std::size_t i = 0; i < levels.values.size(); ++i)
    {
      const Triple position = VoxelMapsTest::GetPosition(static_cast<std::int64_t>(i), size);
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        if (position[axis] < first[axis] || position[axis] > last[axis])
        {
          levels.values[i] = 0;
        }
      }
    }
    return "box mask";
  }
  const double share = random.OneOf<double>({ 0.02, 0.2, 0.5, 0.9 });
  for (std::uint16_t & level : levels.values)
  {
    level = random.Chance(share) ? std::uint16_t{ 0 } : level;
  }
  return std::to_string(share) + " holes";
}

std::vector<Triple>
DrawPositions(const TextureRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  const Triple & index = randomCase.regionIndex;
  const Triple & size = randomCase.regionSize;
  std::int64_t   workPerVoxel = static_cast<std::int64_t>(randomCase.offsets.size());
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    workPerVoxel *= std::min(randomCase.window.size[axis], randomCase.levels.size[axis]);
  }
  const std::int64_t voxels = size[0] * size[1] * size[2];
  const auto         getPosition = [&](std::int64_t i) {
    return RunLengthOracle::Move(VoxelMapsTest::GetPosition(i, size), index);
  };
  std::vector<Triple> positions;
  if (voxels * workPerVoxel <= budget)
  {
    for (std::int64_t i = 0; i < voxels; ++i)
    {
      positions.push_back(getPosition(i));
    }
    return positions;
  }
  for (const std::int64_t corner : { std::int64_t{ 0 }, size[0] - 1, voxels - size[0], voxels - 1 })
  {
    positions.push_back(getPosition(corner));
  }
  for (std::int64_t work = 0; work < budget; work += workPerVoxel)
  {
    positions.push_back(getPosition(random.Below(voxels)));
  }
  return positions;
}
