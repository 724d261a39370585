// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureClassCase_h
#define TextureClassCase_h

// The random cases, noise and oracles of all texture classes by the same names, for tests that differ only in the
// class.

#include "CooccurrenceOracle.h"
#include "FirstOrderOracle.h"
#include "GrayToneDifferenceOracle.h"
#include "SizeMatrixOracle.h"
#include "TextureJobChecks.h"
#include "TextureRandomCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** A random case of a class whose job is TJob. */
template <typename TJob>
struct ClassRandomCase
{
  /** Levels, window and region; of its other members, only the number of offsets matters, for DrawPositions. */
  TextureRandomCase common;
  /** Features and parameters. */
  TJob parameters;
};

struct FirstOrderRandomCase : ClassRandomCase<voxelmaps::FirstOrderJob>
{
  /** NaN where the level is 0. */
  std::vector<double> intensities;
  std::vector<float>  floats;
  std::string         pattern;
};

inline const TextureRandomCase &
GetCommon(const TextureRandomCase & randomCase)
{
  return randomCase;
}
template <typename TJob>
const TextureRandomCase &
GetCommon(const ClassRandomCase<TJob> & randomCase)
{
  return randomCase.common;
}

template <typename TJob>
std::ostream &
operator<<(std::ostream & out, const ClassRandomCase<TJob> & randomCase)
{
  out << randomCase.common << "; in " << TJob::Enums::GetFeatureTable().GetClassName() << ':';
  if constexpr (HasAggregation<TJob>::value)
  {
    out << ' ' << randomCase.parameters.aggregation << ", " << randomCase.parameters.offsets.size() << " offsets";
  }
  for (const auto feature : randomCase.parameters.features)
  {
    out << ' ' << TJob::Enums::GetAbbreviation(feature);
  }
  return out;
}

/** The job of a case, without output buffer; it refers to the case. */
inline voxelmaps::RunLengthJob
MakeCaseJob(const TextureRandomCase & randomCase)
{
  return MakeRunLengthJob(randomCase);
}
template <typename TJob>
TJob
MakeCaseJob(const ClassRandomCase<TJob> & randomCase)
{
  TJob job = randomCase.parameters;
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = MakeRunLengthJob(randomCase.common);
  return job;
}
voxelmaps::FirstOrderJob
MakeCaseJob(const FirstOrderRandomCase & randomCase);

/** Intensities for the levels of a case, each a float if they are to be floats. */
void
DrawIntensities(bool areDouble, FirstOrderRandomCase & randomCase, RandomNumbers & random);

/** All features in any order, or some of them. */
std::vector<voxelmaps::FirstOrderJob::Feature>
DrawFirstOrderFeatures(RandomNumbers & random);

/** Leave out the maximal correlation coefficient where windows can have hundreds of levels, which takes the oracle too
 * long. */
void
LeaveOutLargeCorrelations(ClassRandomCase<voxelmaps::CooccurrenceJob> & randomCase);

/** The random cases of a texture class: their first seeds and numbers, how to draw one, whose levels are all 1 ...
 * numberOfGrayLevels, so that masks can be laid over them, and what the oracle expects: Expect(randomCase, position)
 * returns the check of AgreesWithOracle. */
template <typename TJob>
struct ClassCase;

template <typename TJob>
struct ClassCaseDefaults
{
  using RandomCase = ClassRandomCase<TJob>;

  /** Bounds the work of the oracle for a case. */
  static constexpr std::int64_t      budget = 15000;
  static constexpr std::uint32_t     numberOfNoiseLevels = 16;
  static constexpr voxelmaps::Triple sizeForWorkers{ { 97, 61, 3 } };
  static constexpr voxelmaps::Triple sizeForRegions{ { 150, 7, 4 } };

  /** Draw what a case needs in addition to levels, window and features; returns a description. */
  template <typename TCase>
  static std::string
  DrawRest(TCase & randomCase, RandomNumbers & random)
  {
    return DrawHoles(randomCase.common.levels, random);
  }
  /** Set what a job over noise needs in addition to what a scene has. */
  static void
  SetNoise(TJob &)
  {}
};

/** The check of values that an oracle computes one by one from a matrix or from the voxels of a window. */
template <typename TMatrix, typename TCompute>
auto
ExpectOf(TMatrix matrix, const TCompute & compute)
{
  return [matrix = std::move(matrix), compute](std::size_t f, auto actual) {
    const auto expected = compute(matrix, f);
    return PrintUnlessAgrees(Agrees(expected, actual), expected);
  };
}

template <>
struct ClassCase<voxelmaps::CooccurrenceJob> : ClassCaseDefaults<voxelmaps::CooccurrenceJob>
{
  static constexpr std::uint64_t seeds[]{ 609000, 610000, 620000 };
  static constexpr unsigned int  counts[]{ 1200, 1200 };

  static RandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random, std::uint32_t maxNumberOfGrayLevels = 65535);

  static auto
  Expect(const RandomCase & randomCase, const voxelmaps::Triple & position)
  {
    const auto & common = randomCase.common;
    return
      [emptyValue = randomCase.parameters.emptyValue,
       expected = CooccurrenceOracle::ComputeFeatures(common.levels, common.window, position, MakeCaseJob(randomCase))](
        std::size_t c, auto actual) { return PrintUnlessAgrees(Agrees(expected[c], actual, emptyValue), expected[c]); };
  }
};

template <>
struct ClassCase<voxelmaps::DependenceJob> : ClassCaseDefaults<voxelmaps::DependenceJob>
{
  static constexpr std::uint64_t seeds[]{ 709000, 710000, 720000 };
  static constexpr unsigned int  counts[]{ 400, 400 };

  static RandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random, std::uint32_t maxNumberOfGrayLevels = 65535);

  static auto
  Expect(const RandomCase & randomCase, const voxelmaps::Triple & position)
  {
    const auto & common = randomCase.common;
    const auto & parameters = randomCase.parameters;
    return ExpectOf(SizeMatrixOracle::CountDependences(common.levels, common.window, position, parameters),
                    [&parameters](const auto & matrix, std::size_t f) {
                      return SizeMatrixOracle::ComputeFeature(matrix, parameters.features[f]);
                    });
  }
};

template <>
struct ClassCase<voxelmaps::FirstOrderJob> : ClassCaseDefaults<voxelmaps::FirstOrderJob>
{
  using RandomCase = FirstOrderRandomCase;
  static constexpr std::uint64_t seeds[]{ 9000, 20261201, 20263301 };
  static constexpr unsigned int  counts[]{ 1000, 1000 };
  static constexpr std::int64_t  budget = 30000;

  static RandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random, std::uint32_t maxNumberOfGrayLevels = 65535);
  static std::string
  DrawRest(RandomCase & randomCase, RandomNumbers & random);

  static auto
  Expect(const RandomCase & randomCase, const voxelmaps::Triple & position)
  {
    std::vector<FirstOrderOracle::Voxel> voxels;
    const auto &                         levels = randomCase.common.levels;
    RunLengthOracle::WindowLevels(levels, randomCase.common.window, position)
      .ForEachVoxel([&](const voxelmaps::Triple & at, std::uint16_t level) {
        voxels.push_back({ randomCase.intensities[levels.GetNumber(at)], level });
      });
    return ExpectOf(std::move(voxels), [&parameters = randomCase.parameters](const auto & window, std::size_t f) {
      return FirstOrderOracle::Compute(
        parameters.features[f], window, parameters.voxelArrayShift, parameters.voxelVolume);
    });
  }
};

template <>
struct ClassCase<voxelmaps::GrayToneDifferenceJob> : ClassCaseDefaults<voxelmaps::GrayToneDifferenceJob>
{
  static constexpr std::uint64_t     seeds[]{ 810000, 811000, 820000 };
  static constexpr unsigned int      counts[]{ 700, 700 };
  static constexpr voxelmaps::Triple sizeForWorkers{ { 197, 61, 3 } };
  static constexpr voxelmaps::Triple sizeForRegions{ { 150, 27, 24 } };

  static RandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random, std::uint32_t maxNumberOfGrayLevels = 65535);

  static auto
  Expect(const RandomCase & randomCase, const voxelmaps::Triple & position)
  {
    namespace Oracle = GrayToneDifferenceOracle;
    const auto & parameters = randomCase.parameters;
    return [&parameters,
            matrix = Oracle::MakeMatrix(randomCase.common.levels,
                                        randomCase.common.window,
                                        position,
                                        parameters.offsets,
                                        parameters.countVoxelsWithoutNeighbors)](std::size_t f, auto actual) {
      const auto        feature = parameters.features[f];
      const long double expected = Oracle::ComputeFeature(matrix, feature);
      return Oracle::Agrees(expected, Oracle::GetTolerance(matrix, feature), actual) ? std::string() : Print(expected);
    };
  }
};

template <>
struct ClassCase<voxelmaps::RunLengthJob> : ClassCaseDefaults<voxelmaps::RunLengthJob>
{
  using RandomCase = TextureRandomCase;
  static constexpr std::uint64_t seeds[]{ 399000, 400000, 410000 };
  static constexpr unsigned int  counts[]{ 600, 600 };
  static constexpr std::int64_t  budget = 150000;
  static constexpr std::uint32_t numberOfNoiseLevels = 4;

  static RandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random, std::uint32_t maxNumberOfGrayLevels = 65535)
  {
    return DrawTextureRandomCase(seed, dimension, maxNumberOfGrayLevels, random);
  }
  static std::string
  DrawRest(RandomCase & randomCase, RandomNumbers & random)
  {
    return DrawHoles(randomCase.levels, random);
  }
  static auto
  Expect(const RandomCase & each, const voxelmaps::Triple & position)
  {
    return ExpectOf(RunLengthOracle::ComputeFeatures(
                      each.levels, each.window, position, each.offsets, each.features, each.aggregation),
                    [](const auto & expected, std::size_t c) { return expected[c]; });
  }
  static void
  SetNoise(voxelmaps::RunLengthJob & job)
  {
    // The features of Zhang et al.
    job.features = voxelmaps::RunLengthFeatureMapEnums::GetElevenFeatures();
    job.windowSize = { { 5, 5, 1 } };
    job.windowAnchor = { { 2, 2, 0 } };
    job.offsets = { { { 1, 0, 0 } }, { { 0, 1, 0 } } };
  }
};

template <>
struct ClassCase<voxelmaps::SizeZoneJob> : ClassCaseDefaults<voxelmaps::SizeZoneJob>
{
  static constexpr std::uint64_t seeds[]{ 9000, 710000, 720000 };
  static constexpr unsigned int  counts[]{ 200, 300 };
  static constexpr std::int64_t  budget = 50000;
  static constexpr std::uint32_t numberOfNoiseLevels = 6;

  static RandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random, std::uint32_t maxNumberOfGrayLevels = 65535);

  static auto
  Expect(const RandomCase & randomCase, const voxelmaps::Triple & position)
  {
    const auto & common = randomCase.common;
    const auto & parameters = randomCase.parameters;
    return ExpectOf(SizeMatrixOracle::CountZones(common.levels, common.window, position, parameters.connectivity),
                    [&parameters](const auto & matrix, std::size_t f) {
                      return SizeMatrixOracle::ComputeFeature(matrix, parameters.features[f]);
                    });
  }
  static void
  SetNoise(voxelmaps::SizeZoneJob & job)
  {
    job.windowSize[0] = job.windowSize[1] = 5;
    job.windowAnchor[0] = job.windowAnchor[1] = 2;
  }
};

/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal, typename TJob, typename TCase>
void
CheckCase(const TCase & randomCase, RandomNumbers & random, std::int64_t budget = ClassCase<TJob>::budget)
{
  const TJob job = MakeCaseJob(randomCase);
  const auto expect = [&randomCase](const voxelmaps::Triple & position) {
    return ClassCase<TJob>::Expect(randomCase, position);
  };
  CheckAllEngines<TReal>(job, random, [&](const std::vector<TReal> & result, double backgroundValue) {
    return AgreesWithOracle(GetCommon(randomCase), job, result, backgroundValue, random, budget, expect);
  });
}

/** Draw the rest of a case, and compare it with the oracle, with float or double. */
template <typename TJob, typename TCase>
void
CheckDrawnCase(TCase & randomCase, RandomNumbers & random, std::int64_t budget = ClassCase<TJob>::budget)
{
  const std::string description = ClassCase<TJob>::DrawRest(randomCase, random);
  SCOPED_TRACE(::testing::Message() << randomCase << ", " << description);
  if (random.Chance(0.5))
  {
    CheckCase<float, TJob>(randomCase, random, budget);
  }
  else
  {
    CheckCase<double, TJob>(randomCase, random, budget);
  }
}

/** Compare random cases with the oracle until one fails. */
template <typename TJob>
void
CheckRandomCases(std::uint64_t firstSeed, unsigned int dimension, unsigned int count)
{
  for (std::uint64_t seed = firstSeed; seed < firstSeed + count && !::testing::Test::HasFailure(); ++seed)
  {
    RandomNumbers random(seed);
    auto          randomCase = ClassCase<TJob>::Draw(seed, dimension, random);
    CheckDrawnCase<TJob>(randomCase, random);
  }
}

/** Give a case a window, an image, a region that begins where the window begins with the image, and runs of few or many
 * used levels with a few holes. */
inline void
DrawLargeWindow(TextureRandomCase & common, const voxelmaps::Triple & imageSize, const voxelmaps::Triple & windowSize,
                const voxelmaps::Triple & regionSize, std::uint32_t levels, std::int64_t numberOfUsedLevels,
                RandomNumbers & random)
{
  common.numberOfGrayLevels = levels;
  common.levels.size = imageSize;
  common.window.size = windowSize;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    common.window.anchor[axis] = random.Below(windowSize[axis]);
    common.regionSize[axis] = std::min(regionSize[axis], imageSize[axis]);
    common.regionIndex[axis] = std::min(common.window.anchor[axis], imageSize[axis] - common.regionSize[axis]);
  }
  common.levels.values.resize(static_cast<std::size_t>(imageSize[0] * imageSize[1] * imageSize[2]));
  std::vector<std::uint16_t> palette{ 1, static_cast<std::uint16_t>(levels) };
  while (static_cast<std::int64_t>(palette.size()) < numberOfUsedLevels)
  {
    palette.push_back(static_cast<std::uint16_t>(random.Between(1, levels)));
  }
  const double  change = random.OneOf<double>({ 0.002, 0.01, 0.2, 1.0 });
  std::uint16_t level = palette.back();
  for (std::uint16_t & value : common.levels.values)
  {
    level = random.Chance(change) ? random.OneOf(palette) : level;
    value = random.Chance(0.001) ? std::uint16_t{ 0 } : level;
  }
}

/** The same with four voxels of an image that is a little larger than the window. */
inline void
DrawLargeWindow(TextureRandomCase & common, const voxelmaps::Triple & window, std::uint32_t levels,
                std::int64_t numberOfUsedLevels, std::int64_t regionWidth, RandomNumbers & random)
{
  DrawLargeWindow(common,
                  { { window[0] + 6, window[1] + random.Below(2), window[2] + random.Below(2) } },
                  window,
                  { { regionWidth, 1, 1 } },
                  levels,
                  numberOfUsedLevels,
                  random);
}

/** Noise with holes, and all features unless the class says otherwise. */
template <typename TJob>
struct ClassNoise : TextureScene<TJob>
{
  explicit ClassNoise(const voxelmaps::Triple & size,
                      std::uint32_t             numberOfGrayLevels = ClassCase<TJob>::numberOfNoiseLevels)
    : TextureScene<TJob>(size, { { 3, 3, std::min<std::int64_t>(size[2], 3) } }, numberOfGrayLevels, 1.0, 0.1, 7)
  {
    ClassCase<TJob>::SetNoise(this->job);
  }
};
} // namespace VoxelMapsTest

#endif // TextureClassCase_h
