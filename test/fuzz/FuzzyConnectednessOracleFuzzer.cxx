// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
#include "FuzzyConnectednessJobChecks.h"

#include <cmath>

// Valid jobs for the connectedness engine, computed by all methods and compared with the oracle as the random tests do.
namespace
{
using VoxelMapsFuzz::FuzzedInput;
using Job = voxelmaps::FuzzyConnectednessJob;
using FuzzyConnectednessOracle::Scene;
using VoxelMapsFuzz::ConsumeAnyDouble;
using VoxelMapsFuzz::ConsumeOneIn;

/** A number that the engine accepts; any double, or one in 0.01 ... 10 times a usual number. */
double
ConsumeFinite(FuzzedInput & data, double usual, double minimum, double maximum)
{
  const double value =
    ConsumeOneIn(data, 8) ? ConsumeAnyDouble(data) : usual * data.ConsumeIntegralInRange<int>(1, 1000) / 100.0;
  return value >= minimum && value <= maximum ? value : usual;
}

Scene
ConsumeScene(FuzzedInput & data)
{
  constexpr double max = std::numeric_limits<double>::max();
  Scene            scene;
  scene.size = VoxelMapsFuzz::ConsumeSmallSize(data);
  scene.affinityFunction = static_cast<Job::AffinityFunction>(data.ConsumeIntegralInRange<std::uint8_t>(0, 3));
  scene.adjacency = static_cast<Job::Adjacency>(data.ConsumeIntegralInRange<std::uint8_t>(0, 2));
  scene.distanceWeighting = data.ConsumeBool();
  for (double & spacing : scene.spacing)
  {
    spacing = ConsumeFinite(data, 1.0, 1e-140, 1e140);
  }
  scene.objectMean = ConsumeFinite(data, 30.0, -max, max);
  scene.objectVariance = ConsumeFinite(data, 300.0, 1e-299, max);
  scene.differenceMean = ConsumeFinite(data, 3.0, -max, max);
  scene.differenceVariance = ConsumeFinite(data, 100.0, 1e-299, max);
  scene.weight = ConsumeFinite(data, 0.1, 0.0, 1.0);
  return scene;
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput                  data(bytes, numberOfBytes);
  Scene                        scene = ConsumeScene(data);
  const auto                   pixelType = static_cast<Job::PixelType>(data.ConsumeIntegralInRange<std::uint8_t>(0, 7));
  const bool                   isReal = pixelType == Job::PixelType::Float || pixelType == Job::PixelType::Double;
  const auto                   exponent = data.ConsumeIntegralInRange<int>(-1000, 1000);
  const bool                   isScaled = isReal && data.ConsumeBool();
  const bool                   hasMask = data.ConsumeBool();
  const bool                   isSigned = pixelType == Job::PixelType::Int8 || data.ConsumeBool();
  VoxelMapsTest::RandomNumbers random(data.ConsumeIntegral<std::uint8_t>());
  std::vector<std::uint64_t>   seeds;
  const auto                   numberOfSeeds = data.ConsumeIntegralInRange<std::uint8_t>(1, 4);
  for (std::uint8_t i = 0; i < numberOfSeeds; ++i)
  {
    seeds.push_back(data.ConsumeIntegral<std::uint16_t>());
  }
  const std::int64_t voxels = scene.GetNumberOfVoxels();
  const auto         voxelBytes = VoxelMapsFuzz::ConsumeBytesForVoxels(data, voxels);
  // A float holds powers of 2 up to 127, and no byte has more than 7 bits.
  const int limit = pixelType == Job::PixelType::Float ? 120 : 1016;
  for (const std::uint8_t byte : voxelBytes)
  {
    const bool isUnsigned =
      pixelType == Job::PixelType::UInt8 || pixelType == Job::PixelType::UInt16 || pixelType == Job::PixelType::UInt32;
    const double     value = isSigned && !isUnsigned ? static_cast<std::int8_t>(byte) : byte % 128;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    scene.intensities.push_back(!isScaled      ? value
                                : byte == 0x81 ? infinity
                                : byte == 0x82 ? std::numeric_limits<double>::quiet_NaN()
                                               : std::ldexp(value, std::min(exponent, limit)));
    if (hasMask)
    {
      scene.mask.push_back(byte % 8 == 5 ? 0 : byte | 1);
    }
  }
  for (const std::uint64_t seed : seeds)
  {
    scene.seeds.push_back(static_cast<std::int64_t>(seed) % voxels);
    if (hasMask)
    {
      // A seed outside the mask is no valid job.
      scene.mask[static_cast<std::size_t>(scene.seeds.back())] = 1;
    }
  }
  const auto randomCase = MakeFuzzyConnectednessCase(scene, pixelType);
  SCOPED_TRACE(::testing::Message() << randomCase);
  VoxelMapsTest::CheckFuzzyConnectednessCase(randomCase, random);
  return 0;
}
