// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
#include "TextureClassCase.h"

#include <algorithm>

// Valid jobs for the run length engine, computed in all ways and compared with the oracle as the random tests do.
namespace
{
using VoxelMapsFuzz::FuzzedInput;
using VoxelMapsFuzz::ConsumeOneIn;

TextureRandomCase
ConsumeCase(FuzzedInput & data)
{
  using Enums = voxelmaps::RunLengthFeatureMapEnums;
  TextureRandomCase randomCase;
  randomCase.levels.size = VoxelMapsFuzz::ConsumeSmallSize(data);
  randomCase.dimension = randomCase.levels.size[2] > 1 ? 3 : 2;
  randomCase.numberOfGrayLevels = ConsumeOneIn(data, 4) ? data.ConsumeIntegralInRange<std::uint32_t>(1, 65535)
                                                        : data.ConsumeIntegralInRange<std::uint32_t>(1, 64);
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t maxSize = ConsumeOneIn(data, 16) ? 40 : 7;
    auto &             window = randomCase.window;
    window.size[axis] = axis < randomCase.dimension ? data.ConsumeIntegralInRange<std::int64_t>(1, maxSize) : 1;
    window.anchor[axis] =
      data.ConsumeBool() ? window.size[axis] / 2 : data.ConsumeIntegralInRange<std::int64_t>(0, window.size[axis] - 1);
    const std::int64_t size = randomCase.levels.size[axis];
    randomCase.regionIndex[axis] = data.ConsumeIntegralInRange<std::int64_t>(0, size - 1);
    randomCase.regionSize[axis] = data.ConsumeIntegralInRange<std::int64_t>(1, size - randomCase.regionIndex[axis]);
  }
  if (data.ConsumeBool())
  {
    randomCase.regionIndex = { { 0, 0, 0 } };
    randomCase.regionSize = randomCase.levels.size;
  }
  // One bit for each of the 13 directions and 16 features, from a number of these on.
  const auto directions = data.ConsumeIntegral<std::uint16_t>();
  const auto first = data.ConsumeIntegral<std::uint8_t>();
  for (int i = 0; i < 13; ++i)
  {
    const int number = (i + first) % 13;
    if ((directions >> number & 1) != 0 || (i == 12 && randomCase.offsets.empty()))
    {
      const std::int64_t sign = (directions >> 13 & 1) != 0 ? -1 : 1;
      const int          at = number + 14; // of the 27 neighbors, those after the middle
      randomCase.offsets.push_back({ { sign * (at % 3 - 1), sign * (at / 3 % 3 - 1), sign * (at / 9 - 1) } });
    }
  }
  const auto    features = data.ConsumeIntegral<std::uint16_t>();
  constexpr int numberOfFeatures = Enums::NumberOfFeatures;
  for (int i = 0; i < numberOfFeatures; ++i)
  {
    const int number = (i + first) % numberOfFeatures;
    if ((features >> number & 1) != 0 || (i == numberOfFeatures - 1 && randomCase.features.empty()))
    {
      randomCase.features.push_back(static_cast<Enums::Feature>(number));
    }
  }
  randomCase.aggregation = static_cast<Enums::Aggregation>(data.ConsumeIntegralInRange<std::uint8_t>(0, 2));
  return randomCase;
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput                  data(bytes, numberOfBytes);
  TextureRandomCase            randomCase = ConsumeCase(data);
  const bool                   isDouble = data.ConsumeBool();
  VoxelMapsTest::RandomNumbers random(data.ConsumeIntegral<std::uint8_t>());

  const TextureRandomCase::Triple & size = randomCase.levels.size;
  const std::uint32_t               count = randomCase.numberOfGrayLevels;
  for (const std::uint8_t byte : VoxelMapsFuzz::ConsumeBytesForVoxels(data, size[0] * size[1] * size[2]))
  {
    // The largest levels make the largest sums; 0 is a hole.
    const std::uint32_t fromLargest = std::min<std::uint32_t>(count, byte % 16);
    randomCase.levels.values.push_back(
      static_cast<std::uint16_t>(byte >= 0xf0 ? count - fromLargest : byte % (count + 1)));
  }
  constexpr std::int64_t budget = 20000;
  SCOPED_TRACE(::testing::Message() << randomCase);
  if (isDouble)
  {
    VoxelMapsTest::CheckCase<double, voxelmaps::RunLengthJob>(randomCase, random, budget);
  }
  else
  {
    VoxelMapsTest::CheckCase<float, voxelmaps::RunLengthJob>(randomCase, random, budget);
  }
  return 0;
}
