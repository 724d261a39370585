// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureClassCase_h
#define TextureClassCase_h

// The random cases, noise and oracles of all texture classes by the same names, for tests that differ only in the
// class.

#include "CooccurrenceRandomCase.h"
#include "DependenceRandomCase.h"
#include "FirstOrderRandomCase.h"
#include "GrayToneDifferenceRandomCase.h"
#include "SizeZoneRandomCase.h"
#include "TextureJobChecks.h"
#include "TextureRandomCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** The random cases of a texture class: their first seeds and numbers, and how to draw and compute them. */
template <typename TJob>
struct ClassCase;

struct ClassCaseDefaults
{
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
  template <typename TJob>
  static void
  SetNoise(TJob &)
  {}
};

/** Cases of a class that one function draws and another one makes jobs of. */
template <auto VDraw, auto VMakeJob>
struct DrawnClassCase : ClassCaseDefaults
{
  static auto
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random)
  {
    return VDraw(seed, dimension, 65535, random);
  }
  template <typename TCase, typename TCompute>
  static void
  Compute(const TCase & randomCase, const TCompute & compute)
  {
    compute(VMakeJob(randomCase));
  }
};

template <>
struct ClassCase<voxelmaps::CooccurrenceJob> : DrawnClassCase<DrawCooccurrenceRandomCase, MakeCooccurrenceJob>
{
  static constexpr std::uint64_t seeds[]{ 609000, 610000, 620000 };
  static constexpr unsigned int  counts[]{ 1200, 1200 };
};

template <>
struct ClassCase<voxelmaps::DependenceJob>
  : DrawnClassCase<DrawDependenceRandomCase, MakeCaseJob<voxelmaps::DependenceJob>>
{
  static constexpr std::uint64_t seeds[]{ 709000, 710000, 720000 };
  static constexpr unsigned int  counts[]{ 400, 400 };
};

template <>
struct ClassCase<voxelmaps::FirstOrderJob> : ClassCaseDefaults
{
  static constexpr std::uint64_t seeds[]{ 9000, 20261201, 20263301 };
  static constexpr unsigned int  counts[]{ 1000, 1000 };
  static constexpr std::int64_t  budget = 30000;

  static FirstOrderRandomCase
  Draw(std::uint64_t seed, unsigned int dimension, RandomNumbers & random)
  {
    FirstOrderRandomCase randomCase;
    randomCase.levels = DrawTextureRandomCase(seed, dimension, 65535, random);
    return randomCase;
  }
  static std::string
  DrawRest(FirstOrderRandomCase & randomCase, RandomNumbers & random)
  {
    const std::string holes = DrawHoles(randomCase.levels.levels, random);
    DrawIntensities(random.Chance(0.4), randomCase, random);
    randomCase.features = DrawFirstOrderFeatures(random);
    randomCase.voxelArrayShift = random.OneOf<double>({ 0.0, 1000.0, -37.5 });
    randomCase.voxelVolume = random.OneOf<double>({ 1.0, 0.3 });
    return holes;
  }
  template <typename TCompute>
  static void
  Compute(const FirstOrderRandomCase & randomCase, const TCompute & compute)
  {
    compute(FirstOrderCaseJob(randomCase, randomCase.areDouble).job);
  }
};

template <>
struct ClassCase<voxelmaps::GrayToneDifferenceJob>
  : DrawnClassCase<DrawGrayToneDifferenceRandomCase, MakeCaseJob<voxelmaps::GrayToneDifferenceJob>>
{
  static constexpr std::uint64_t     seeds[]{ 810000, 811000, 820000 };
  static constexpr unsigned int      counts[]{ 700, 700 };
  static constexpr voxelmaps::Triple sizeForWorkers{ { 197, 61, 3 } };
  static constexpr voxelmaps::Triple sizeForRegions{ { 150, 27, 24 } };
};

template <>
struct ClassCase<voxelmaps::RunLengthJob> : DrawnClassCase<DrawTextureRandomCase, MakeRunLengthJob>
{
  static constexpr std::uint64_t seeds[]{ 399000, 400000, 410000 };
  static constexpr unsigned int  counts[]{ 600, 600 };
  static constexpr std::int64_t  budget = 150000;
  static constexpr std::uint32_t numberOfNoiseLevels = 4;

  static std::string
  DrawRest(TextureRandomCase & randomCase, RandomNumbers & random)
  {
    return DrawHoles(randomCase.levels, random);
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
struct ClassCase<voxelmaps::SizeZoneJob> : DrawnClassCase<DrawSizeZoneRandomCase, MakeCaseJob<voxelmaps::SizeZoneJob>>
{
  static constexpr std::uint64_t seeds[]{ 9000, 710000, 720000 };
  static constexpr unsigned int  counts[]{ 200, 300 };
  static constexpr std::int64_t  budget = 50000;
  static constexpr std::uint32_t numberOfNoiseLevels = 6;

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
  const auto agrees = [&](const std::vector<TReal> & result, double backgroundValue) {
    return AgreesWithOracle(randomCase, result, backgroundValue, random, budget);
  };
  ClassCase<TJob>::Compute(randomCase, [&](const TJob & job) { CheckAllEngines<TReal>(job, random, agrees); });
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
