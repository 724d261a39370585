// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRandomCase.h"

#include "connectedness/ConnectednessKeyEngines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{
using Job = voxelmaps::FuzzyConnectednessJob;
using PixelType = Job::PixelType;
using FuzzyConnectednessOracle::Scene;
using FuzzyConnectednessOracle::Triple;
using namespace VoxelMapsTest;

template <typename TPixel>
void
StoreTypedPixels(std::vector<double> & intensities, std::vector<unsigned char> & bytes)
{
  bytes.resize(intensities.size() * sizeof(TPixel));
  for (std::size_t i = 0; i < intensities.size(); ++i)
  {
    const auto pixel = static_cast<TPixel>(intensities[i]);
    std::memcpy(bytes.data() + i * sizeof(pixel), &pixel, sizeof(pixel));
    intensities[i] = static_cast<double>(pixel);
  }
}

/** Intensities are base + scale * level, level 0 ... span. */
struct Levels
{
  double       base{ 0.0 };
  double       scale{ 1.0 };
  std::int64_t span{ 1 };
};

template <typename TPixel>
Levels
DrawIntegerLevels(RandomNumbers & random)
{
  const auto         min = static_cast<std::int64_t>(std::numeric_limits<TPixel>::min());
  const auto         max = static_cast<std::int64_t>(std::numeric_limits<TPixel>::max());
  const std::int64_t range = max - min;
  // Few levels make ties; more than 65536 are not looked up in tables.
  const std::int64_t span =
    std::min(range, random.OneOf<std::int64_t>({ 1, 2, 3, 10, 100, 4095, 65535, 65536, 1000000, range }));
  return { static_cast<double>(random.Between(min, max - span)), 1.0, span };
}

Levels
DrawLevels(PixelType type, RandomNumbers & random)
{
  return VisitPixelType(type, [&](auto pixel) -> Levels {
    if constexpr (std::is_integral<decltype(pixel)>::value)
    {
      return DrawIntegerLevels<decltype(pixel)>(random);
    }
    // 17 * 1e30 is a large float, and sums of 17 * 1e307 overflow even double.
    const double scale =
      random.OneOf<double>({ 1.0, 0.37, 1e-3, 1e-30, type == PixelType::Double && random.Chance(0.3) ? 1e307 : 1e30 });
    const std::int64_t span = random.OneOf<std::int64_t>({ 1, 2, 3, 17, 17, 100, 1000, 1000000 });
    return { scale * static_cast<double>(random.Between(-9, 0)),
             scale,
             scale > 1.0 ? std::min(span, INT64_C(17)) : span };
  });
}

Triple
DrawSize(unsigned int dimension, RandomNumbers & random)
{
  // Tiles of the CPU are 128 x 128 and 32 x 32 x 32.
  const bool isLarge = random.Chance(0.15);
  Triple     size{ { 1, 1, 1 } };
  if (dimension == 2)
  {
    size = isLarge ? Triple{ { random.Between(100, 170), random.Between(50, 140), 1 } }
                   : Triple{ { random.Between(1, 40), random.Between(1, 30), 1 } };
  }
  else
  {
    size = isLarge ? Triple{ { random.Between(25, 42), random.Between(10, 22), random.Between(25, 42) } }
                   : Triple{ { random.Between(1, 20), random.Between(1, 17), random.Between(1, 13) } };
  }
  // A row of tiles along one axis.
  if (random.Chance(0.05))
  {
    const auto axis = static_cast<std::size_t>(random.Below(dimension));
    size = { { 1, 1, 1 } };
    size[axis] = random.Between(2, 400);
    size[(axis + 1) % dimension] = random.Between(1, 3);
  }
  return size;
}

std::string
DrawIntensities(const Levels & levels, Scene & scene, RandomNumbers & random)
{
  const std::string pattern =
    random.OneOf<std::string>({ "noise", "noise", "smooth", "smooth", "blocks", "ball", "constant" });
  const std::int64_t        span = levels.span;
  const std::int64_t        noise = std::max<std::int64_t>(1, span / random.OneOf<std::int64_t>({ 5, 20, 100 }));
  const Triple &            size = scene.size;
  std::vector<std::int64_t> level(static_cast<std::size_t>(scene.GetNumberOfVoxels()));
  std::vector<std::int64_t> blocks(64);
  for (std::int64_t & block : blocks)
  {
    block = random.Below(span + 1);
  }
  std::size_t voxel = 0;
  for (std::int64_t z = 0; z < size[2]; ++z)
  {
    for (std::int64_t y = 0; y < size[1]; ++y)
    {
      for (std::int64_t x = 0; x < size[0]; ++x, ++voxel)
      {
        std::int64_t value = span / 2;
        if (pattern == "noise")
        {
          value = random.Below(span + 1);
        }
        else if (pattern == "smooth")
        {
          const std::size_t back = y > 0 && (x == 0 || random.Chance(0.5)) ? static_cast<std::size_t>(size[0]) : 1;
          value = (voxel >= back ? level[voxel - back] : value) + random.Between(-noise, noise);
        }
        else if (pattern == "blocks")
        {
          value = blocks[static_cast<std::size_t>((x / 5 + 7 * (y / 4) + 29 * (z / 3)) % 64)];
        }
        else if (pattern == "ball")
        {
          const auto fraction = [](std::int64_t at, std::int64_t count) {
            return (static_cast<double>(at) + 0.5) / static_cast<double>(count) - 0.5;
          };
          const double radius = std::hypot(fraction(x, size[0]), fraction(y, size[1]), fraction(z, size[2]));
          value = (radius < 0.3 ? span / 3 : span - span / 4) + random.Between(-noise, noise);
        }
        level[voxel] = std::max<std::int64_t>(0, std::min(value, span));
      }
    }
  }
  scene.intensities.resize(level.size());
  std::transform(level.begin(), level.end(), scene.intensities.begin(), [&levels](std::int64_t value) {
    return levels.base + levels.scale * static_cast<double>(value);
  });
  return pattern;
}

void
DrawMask(Scene & scene, RandomNumbers & random)
{
  const double inside = random.OneOf<double>({ 1.0, 1.0, 0.95, 0.8, 0.5 });
  if (inside < 1.0)
  {
    scene.mask.resize(scene.intensities.size());
    for (std::uint8_t & voxel : scene.mask)
    {
      // Every number except 0 is inside.
      voxel = static_cast<std::uint8_t>(random.Chance(inside) ? random.Between(1, 255) : 0);
    }
    scene.mask[static_cast<std::size_t>(random.Below(scene.GetNumberOfVoxels()))] = 1;
  }
}

void
DrawSeeds(Scene & scene, RandomNumbers & random)
{
  std::vector<std::int64_t> inside;
  for (std::int64_t voxel = 0; voxel < scene.GetNumberOfVoxels(); ++voxel)
  {
    if (scene.mask.empty() || scene.mask[static_cast<std::size_t>(voxel)] != 0)
    {
      inside.push_back(voxel);
    }
  }
  const std::int64_t count = random.Chance(0.05) ? 500 : random.Chance(0.4) ? 1 : random.Between(2, 20);
  for (std::int64_t i = 0; i < count; ++i)
  {
    // A seed may occur twice.
    scene.seeds.push_back(random.OneOf(inside));
  }
}

void
DrawAffinity(const Levels & levels, Scene & scene, RandomNumbers & random)
{
  const double span = levels.scale * static_cast<double>(levels.span);
  const auto   fraction = [&random] { return static_cast<double>(random.Below(1001)) / 1000.0; };
  const auto   variance = [&] {
    // From many affinities of 0 to nearly all of 1. The squares must not overflow double.
    const double deviation = random.OneOf<double>({ 0.01, 0.05, 0.1, 0.3, 1.0, 5.0 }) * std::min(span, 1e150);
    return deviation * deviation;
  };
  // Greater means are not allowed.
  constexpr double maxMean = 8e307;
  scene.affinity.objectMean = { std::min(levels.base + span * fraction(), maxMean) };
  scene.affinity.objectCovariance = { variance() };
  scene.affinity.differenceMean = { random.Chance(0.5) ? 0.0 : std::min(0.3 * span * fraction(), maxMean) };
  scene.affinity.differenceCovariance = { variance() };
  scene.weight = random.OneOf<double>({ 0.0, 0.5, 1.0, fraction(), fraction() });
  scene.distanceWeighting = random.Chance(0.4);
  for (double & spacing : scene.spacing)
  {
    spacing = random.OneOf<double>({ 1.0, 0.9375, 0.5, 0.25 + 3.0 * fraction() });
  }
}
} // namespace

std::ostream &
operator<<(std::ostream & out, const FuzzyConnectednessRandomCase & randomCase)
{
  const Scene & scene = randomCase.scene;
  out.precision(17);
  return out << "case " << randomCase.seed << ", " << randomCase.dimension << "D, " << scene.size[0] << " x "
             << scene.size[1] << " x " << scene.size[2] << ", " << randomCase.pattern << ", pixel type "
             << static_cast<int>(randomCase.pixelType) << ", " << scene.affinityFunction << ", mean "
             << scene.affinity.objectMean.front() << ", variance " << scene.affinity.objectCovariance.front()
             << ", difference mean " << scene.affinity.differenceMean.front() << ", difference variance "
             << scene.affinity.differenceCovariance.front() << ", weight " << scene.weight << ", " << scene.components
             << " components, " << scene.adjacency << (scene.distanceWeighting ? ", by distance" : "") << ", spacing "
             << scene.spacing[0] << ' ' << scene.spacing[1] << ' ' << scene.spacing[2] << ", "
             << (scene.mask.empty() ? "no" : "with") << " mask, " << scene.seeds.size() << " seeds";
}

FuzzyConnectednessRandomCase
DrawFuzzyConnectednessRandomCase(std::uint64_t seed, unsigned int dimension, PixelType type, RandomNumbers & random)
{
  FuzzyConnectednessRandomCase randomCase;
  randomCase.seed = seed;
  randomCase.dimension = dimension;
  Scene & scene = randomCase.scene;
  scene.affinityFunction = static_cast<Job::AffinityFunction>(seed % 5);
  scene.adjacency = static_cast<Job::Adjacency>(seed / 5 % 3);
  scene.size = DrawSize(dimension, random);
  const Levels levels = DrawLevels(type, random);
  randomCase.pattern = DrawIntensities(levels, scene, random);
  if ((type == PixelType::Float || type == PixelType::Double) && random.Chance(0.3))
  {
    randomCase.pattern += " and not finite";
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (double & intensity : scene.intensities)
    {
      if (random.Chance(0.04))
      {
        intensity = random.OneOf<double>({ std::numeric_limits<double>::quiet_NaN(), infinity, -infinity });
      }
    }
  }
  StorePixels(randomCase, type);
  DrawMask(scene, random);
  DrawSeeds(scene, random);
  DrawAffinity(levels, scene, random);
  scene.distanceWeighting =
    scene.distanceWeighting && scene.affinityFunction != Job::AffinityFunction::AbsoluteDifference;
  return randomCase;
}

void
MakeVectors(FuzzyConnectednessRandomCase & randomCase, unsigned int components, RandomNumbers & random)
{
  Scene &                   scene = randomCase.scene;
  const std::vector<double> scalars = scene.intensities;
  const auto                voxels = static_cast<std::int64_t>(scalars.size());
  const auto                scalar = scene.affinity;
  scene.affinity = {};
  scene.components = components;
  scene.intensities.resize(scalars.size() * components);
  const auto fraction = [&random] { return static_cast<double>(random.Below(1001)) / 1000.0; };
  for (unsigned int c = 0; c < components; ++c)
  {
    const std::int64_t shift = c == 0 ? 0 : random.OneOf<std::int64_t>({ 0, 1, random.Below(voxels) });
    for (std::int64_t voxel = 0; voxel < voxels; ++voxel)
    {
      scene.intensities[static_cast<std::size_t>(voxel * components + c)] =
        scalars[static_cast<std::size_t>((voxel + shift) % voxels)];
    }
    scene.affinity.objectMean.push_back(scalar.objectMean[0] * (0.8 + 0.2 * fraction()));
    scene.affinity.differenceMean.push_back(scalar.differenceMean[0] * fraction());
  }
  // Components that depend on common factors, and each on something of its own.
  const auto drawCovariance = [&](double variance) {
    constexpr std::size_t factors = 3;
    std::vector<double>   deviations;
    std::vector<double>   loads;
    std::vector<double>   covariance(std::size_t{ components } * components);
    const double          dependence = random.OneOf<double>({ 0.0, 0.5, 1.0 });
    for (unsigned int i = 0; i < components; ++i)
    {
      deviations.push_back(std::sqrt(variance) * (0.5 + fraction()));
      double rest = 1.0;
      for (std::size_t k = 0; k < factors; ++k)
      {
        // The sum of squares is at most 0.96.
        loads.push_back(dependence * (fraction() - 0.5) * 2.0 * 0.5656);
        rest -= loads.back() * loads.back();
      }
      for (unsigned int j = 0; j <= i; ++j)
      {
        double correlation = i == j ? rest : 0.0;
        for (std::size_t k = 0; k < factors; ++k)
        {
          correlation += loads[i * factors + k] * loads[j * factors + k];
        }
        covariance[i * components + j] = deviations[i] * deviations[j] * correlation;
        covariance[j * components + i] = covariance[i * components + j];
      }
    }
    return covariance;
  };
  // Mean squared distances grow with the number of components.
  scene.affinity.objectCovariance = drawCovariance(scalar.objectCovariance[0] * components);
  scene.affinity.differenceCovariance = drawCovariance(scalar.differenceCovariance[0] * components);
  StorePixels(randomCase, randomCase.pixelType);
}

void
StorePixels(FuzzyConnectednessRandomCase & randomCase, PixelType type)
{
  randomCase.pixelType = type;
  VisitPixelType(
    type, [&](auto pixel) { StoreTypedPixels<decltype(pixel)>(randomCase.scene.intensities, randomCase.pixels); });
}

FuzzyConnectednessRandomCase
MakeFuzzyConnectednessCase(const Scene & scene, PixelType type)
{
  FuzzyConnectednessRandomCase result;
  result.dimension = scene.size[2] > 1 ? 3 : 2;
  result.pattern = "made by hand";
  result.scene = scene;
  StorePixels(result, type);
  return result;
}

std::vector<std::int64_t>
MakeSerpentine(const Triple & size)
{
  std::vector<std::int64_t> slice;
  for (std::int64_t y = 0; y < size[1]; ++y)
  {
    const bool isForward = y / 2 % 2 == 0;
    for (std::int64_t x = 0; x < size[0]; ++x)
    {
      // Odd rows are walls with one gap.
      if (y % 2 == 0 || x == size[0] - 1)
      {
        slice.push_back(y * size[0] + (isForward ? x : size[0] - 1 - x));
      }
    }
  }
  std::vector<std::int64_t> path;
  for (std::int64_t z = 0; z < size[2]; ++z)
  {
    std::vector<std::int64_t> way = slice;
    if (z / 2 % 2 == 1)
    {
      std::reverse(way.begin(), way.end());
    }
    // Odd slices are walls with one gap.
    for (std::size_t i = z % 2 == 0 ? 0 : way.size() - 1; i < way.size(); ++i)
    {
      path.push_back(z * size[0] * size[1] + way[i]);
    }
  }
  return path;
}

Scene
MakePathScene(const Triple & size, const std::vector<std::int64_t> & path)
{
  Scene scene;
  scene.size = size;
  scene.affinityFunction = Job::AffinityFunction::Homogeneity;
  scene.affinity.differenceCovariance = { 100.0 };
  scene.intensities.assign(static_cast<std::size_t>(scene.GetNumberOfVoxels()), 20000.0);
  const auto length = static_cast<std::int64_t>(path.size());
  for (std::int64_t i = 0; i < length; ++i)
  {
    scene.intensities[static_cast<std::size_t>(path[i])] = static_cast<double>(i % 2 == 0 ? 0 : 180 * i / length);
  }
  scene.seeds = { path.front() };
  return scene;
}

Scene
MakeNoiseScene(const Triple & size, std::int64_t range, RandomNumbers & random)
{
  Scene scene;
  scene.size = size;
  for (std::int64_t i = 0; i < scene.GetNumberOfVoxels(); ++i)
  {
    scene.intensities.push_back(static_cast<double>(random.Below(range)));
  }
  return scene;
}

std::string
PixelTypeName(const ::testing::TestParamInfo<PixelType> & parameter)
{
  const std::vector<std::string> names{ "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Float", "Double" };
  return names[static_cast<std::size_t>(parameter.param)];
}

Job
MakeFuzzyConnectednessJob(const FuzzyConnectednessRandomCase & randomCase)
{
  const Scene & scene = randomCase.scene;
  Job           job;
  job.image = randomCase.pixels.data();
  job.pixelType = randomCase.pixelType;
  job.numberOfComponents = scene.components;
  job.affinity = scene.affinity;
  job.size = scene.size;
  job.spacing = scene.spacing;
  job.mask = scene.mask.empty() ? nullptr : scene.mask.data();
  job.seeds = scene.seeds;
  job.affinityFunction = scene.affinityFunction;
  job.weight = scene.weight;
  job.adjacency = scene.adjacency;
  job.distanceWeighting = scene.distanceWeighting;
  return job;
}

std::vector<std::uint32_t>
ComputeGuardedKeys(std::int64_t numberOfVoxels, const std::function<void(std::uint32_t *)> & computeKeys)
{
  // No key has the highest bit.
  VoxelMapsTest::GuardedOutput<std::uint32_t> keys(static_cast<std::size_t>(numberOfVoxels), 0xdeadbeef);
  computeKeys(keys.data());
  return keys.Get();
}

std::vector<std::uint32_t>
RunFuzzyConnectednessJob(Job job, const std::string & method, unsigned int numberOfWorkers)
{
  job.method = method;
  job.execution.numberOfWorkers = numberOfWorkers;
  job.execution.parallelFor = RunThreads;
  return ComputeGuardedKeys(job.GetNumberOfVoxels(), [&job](std::uint32_t * keys) {
    const auto report = voxelmaps::ComputeFuzzyConnectednessKeys(job, keys);
    EXPECT_EQ(job.method.empty() ? voxelmaps::GetMethods(job).front() : job.method, report.method);
  });
}

std::vector<std::uint32_t>
ClearWeakKeys(const Job & job, std::vector<std::uint32_t> keys, double minimumStrength)
{
  const std::vector<double> strengths = ConvertToStrengths<double>(job, keys);
  for (std::size_t voxel = 0; voxel < keys.size(); ++voxel)
  {
    keys[voxel] = strengths[voxel] < minimumStrength ? FuzzyConnectednessOracle::notReached : keys[voxel];
  }
  return keys;
}

::testing::AssertionResult
AreSameKeys(const std::vector<std::uint32_t> & expected, const std::vector<std::uint32_t> & actual)
{
  if (expected.size() != actual.size())
  {
    return ::testing::AssertionFailure() << expected.size() << " voxels were expected, but there are " << actual.size();
  }
  const auto        different = std::mismatch(expected.begin(), expected.end(), actual.begin());
  const std::size_t voxel = static_cast<std::size_t>(different.first - expected.begin());
  if (voxel == expected.size())
  {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "voxel " << voxel << " has key " << *different.second << " instead of "
                                       << *different.first;
}
