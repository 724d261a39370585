// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestMemory.h"
#include "CudaTestUtilities.h"
#include "GrayLevelDiscretizationCases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

// The device against the CPU, which GrayLevelDiscretizationGTest.cxx compares with an oracle.
namespace
{
using namespace GrayLevelDiscretizationCases;
using voxelmaps::CudaOptions;
using voxelmaps::MemoryLocation;

const std::vector<MemoryLocation> bothLocations{ MemoryLocation::Host, MemoryLocation::Device };

/** What a discretization gave: an error, or levels and a result. */
struct Outcome
{
  std::string error;
  Result      result;
  Levels      levels;
};

bool
operator==(const Outcome & a, const Outcome & b)
{
  // Also the sign of zero.
  const auto isSame = [](double x, double y) { return x == y && std::signbit(x) == std::signbit(y); };
  return a.error == b.error && a.levels == b.levels && isSame(a.result.rangeMinimum, b.result.rangeMinimum) &&
         isSame(a.result.rangeMaximum, b.result.rangeMaximum) &&
         a.result.numberOfGrayLevels == b.result.numberOfGrayLevels;
}

std::ostream &
operator<<(std::ostream & out, const Outcome & outcome)
{
  if (!outcome.error.empty())
  {
    return out << "error: " << outcome.error;
  }
  out << outcome.result.rangeMinimum << " to " << outcome.result.rangeMaximum << ", "
      << outcome.result.numberOfGrayLevels << " levels:";
  for (std::size_t i = 0; i < std::min<std::size_t>(outcome.levels.size(), 100); ++i)
  {
    out << ' ' << outcome.levels[i];
  }
  return out;
}

template <typename TRun>
Outcome
GetOutcome(const TRun & run)
{
  Outcome           outcome;
  const std::string error = GetErrorMessage([&] { run(outcome); });
  return error == "no error" ? outcome : Outcome{ error, {}, {} };
}

template <typename TPixel>
Outcome
RunOnCpu(const std::vector<TPixel> & pixels, const Mask & mask, const Parameters & parameters)
{
  return GetOutcome([&](Outcome & outcome) {
    Job job = MakeJob(pixels, mask, parameters);
    outcome.levels.resize(pixels.size());
    job.levels = outcome.levels.data();
    outcome.result = voxelmaps::DiscretizeGrayLevels(job);
  });
}

/** With arrays in host and device memory as the options say, for which a stream is made. */
template <typename TPixel>
Outcome
RunOnDevice(const std::vector<TPixel> & pixels, const Mask & mask, const Parameters & parameters,
            CudaOptions options = {}, const voxelmaps::JobExecution & execution = {})
{
  const Stream                    stream;
  GuardedOutput<std::uint16_t>    levels(pixels.size(), 0xabcd);
  const DeviceArray<TPixel>       pixelsOnDevice(pixels, stream);
  const DeviceArray<std::uint8_t> maskOnDevice(mask, stream);
  const DeviceArray               levelsOnDevice(levels.values, stream);
  options.stream = static_cast<cudaStream_t>(stream);
  const bool hasDeviceOutput = options.outputLocation == MemoryLocation::Device;
  return GetOutcome([&](Outcome & outcome) {
    Job job = MakeJob(pixels, mask, parameters);
    if (options.inputLocation == MemoryLocation::Device)
    {
      job.pixels = pixelsOnDevice.data();
      job.mask = mask.empty() ? nullptr : maskOnDevice.data();
    }
    job.levels = hasDeviceOutput ? levelsOnDevice.data() + levels.guard : levels.data();
    job.execution = execution;
    outcome.result = voxelmaps::DiscretizeGrayLevelsCuda(job, options);
    levels.values = hasDeviceOutput ? levelsOnDevice.Get() : levels.values;
    outcome.levels = levels.Get();
  });
}

template <typename TPixel>
void
Check(const std::vector<TPixel> & pixels, const Mask & mask, const Parameters & parameters)
{
  const Outcome expected = RunOnCpu(pixels, mask, parameters);
  for (const MemoryLocation input : bothLocations)
  {
    for (const MemoryLocation output : bothLocations)
    {
      std::ostringstream text;
      text << parameters.method << ", range source " << parameters.rangeSource << ", " << GetPixelType<TPixel>()
           << (mask.empty() ? "" : ", mask") << ", " << pixels.size() << " pixels, from "
           << (input == MemoryLocation::Device ? "device" : "host") << " to "
           << (output == MemoryLocation::Device ? "device" : "host");
      SCOPED_TRACE(text.str());
      CudaOptions options;
      options.inputLocation = input;
      options.outputLocation = output;
      EXPECT_EQ(expected, RunOnDevice(pixels, mask, parameters, options));
    }
  }
}

/** All methods, range sources and masks. */
template <typename TPixel>
void
CheckPixels(const std::vector<TPixel> & pixels, Parameters parameters, std::mt19937 & random)
{
  const Mask mask = DrawMask(pixels.size(), random);
  for (const Method method : allMethods)
  {
    parameters.method = method;
    for (const RangeSource source : allSources)
    {
      parameters.rangeSource = source;
      Check(pixels, mask, parameters);
      Check(pixels, {}, parameters);
      if (!parameters.UsesRange())
      {
        break;
      }
    }
    Check(pixels, Mask(pixels.size(), 0), parameters);
  }
}

template <typename TPixel>
void
CheckType()
{
  using Limits = std::numeric_limits<TPixel>;
  std::mt19937 random(static_cast<unsigned int>(GetPixelType<TPixel>()));
  Parameters   parameters;
  parameters.binEdges = { -30.0, -7.25, 0.0, 4.0, 4.5, 50.0, 1e6, 1e18 };
  parameters.rangeMinimum = 2.0;
  parameters.rangeMaximum = 51.0;
  for (const Kind kind : { Kind::SmallNumbers, Kind::Mixed, Kind::AllBits })
  {
    for (const std::size_t count : { 1, 33, 5003 })
    {
      const std::vector<TPixel> pixels = DrawPixels<TPixel>(kind, count, random);
      parameters.numberOfGrayLevels = kind == Kind::SmallNumbers ? 100 : kind == Kind::Mixed ? 7 : 65535;
      // The narrow bins are too many for wide types, which is an error on both.
      parameters.binWidth = kind == Kind::AllBits ? 25.0 : 0.7;
      CheckPixels(pixels, parameters, random);
    }
  }
  parameters.binWidth = static_cast<double>(Limits::max()) / 1000.0 - static_cast<double>(Limits::lowest()) / 1000.0;
  CheckPixels(DrawPixels<TPixel>(Kind::AllBits, 3001, random), parameters, random);
  const std::vector<TPixel> ends{
    Limits::lowest(), 0, 1, 2, 100, Limits::max(), static_cast<TPixel>(Limits::max() / 2)
  };
  CheckPixels(ends, parameters, random);
}

class CudaGrayLevelDiscretization : public CudaTest
{};
} // namespace

TEST_F(CudaGrayLevelDiscretization, AllTypesMethodsRangesAndMasks)
{
  const auto check = [](auto... pixels) { (..., CheckType<decltype(pixels)>()); };
  check(std::int8_t(), std::uint8_t(), std::int16_t(), std::uint16_t(), std::int32_t(), std::uint32_t());
  check(std::int64_t(), std::uint64_t(), 0.0f, 0.0);
}

TEST_F(CudaGrayLevelDiscretization, ManyEdges)
{
  std::mt19937 random(3);
  Parameters   parameters;
  parameters.method = Method::Edges;
  for (const int count : { 1, 255, 256, 257, 65535 })
  {
    parameters.binEdges.clear();
    for (int i = 0; i < count; ++i)
    {
      parameters.binEdges.push_back(i * 0.5 - 20.0);
    }
    Check(DrawPixels<float>(Kind::Mixed, 1000, random), {}, parameters);
    Check(DrawPixels<std::uint16_t>(Kind::AllBits, 1000, random), {}, parameters);
  }
}

TEST_F(CudaGrayLevelDiscretization, LargeArraysInParts)
{
  std::mt19937             random(4);
  const std::vector<float> pixels = DrawPixels<float>(Kind::Mixed, 3000001, random);
  const Mask               mask = DrawMask(pixels.size(), random);
  for (const Method method : { Method::FixedBinNumber, Method::Identity })
  {
    Parameters parameters;
    parameters.method = method;
    const Outcome expected = RunOnCpu(pixels, mask, parameters);
    for (const std::uint64_t budget : { 0, 1 << 20, 7000000 })
    {
      for (const MemoryLocation input : bothLocations)
      {
        for (const MemoryLocation output : bothLocations)
        {
          SCOPED_TRACE(budget);
          CudaOptions options;
          options.memoryBudget = budget;
          options.inputLocation = input;
          options.outputLocation = output;
          std::uint64_t           voxels = 0;
          voxelmaps::JobExecution execution;
          execution.reportProgress = [&voxels](std::uint64_t count) { voxels += count; };
          EXPECT_EQ(expected, RunOnDevice(pixels, mask, parameters, options, execution));
          EXPECT_EQ(pixels.size(), voxels);
        }
      }
    }
  }
  CudaOptions options;
  options.memoryBudget = 1000;
  EXPECT_NE("", RunOnDevice(pixels, mask, Parameters(), options).error);
  options.memoryBudget = 0;
  options.deviceID = 1000;
  EXPECT_NE("", RunOnDevice(pixels, mask, Parameters(), options).error);
}

namespace
{
template <typename TIntensity, typename TPixel>
void
CheckSelection(const std::vector<TPixel> & pixels)
{
  SCOPED_TRACE(GetPixelType<TPixel>());
  constexpr bool isDouble = std::is_same<TIntensity, double>::value;
  const Stream   stream;
  CudaOptions    options;
  options.inputLocation = MemoryLocation::Device;
  options.outputLocation = MemoryLocation::Device;
  options.stream = static_cast<cudaStream_t>(stream);

  // One after the other in the stream: the levels are not waited for.
  const DeviceArray<TPixel>     pixelsOnDevice(pixels, stream);
  const DeviceArray             levelsOnDevice(Levels(pixels.size()), stream);
  const DeviceArray<TIntensity> intensitiesOnDevice(std::vector<TIntensity>(pixels.size() + 1, 5), stream);
  Job                           job = MakeJob(pixels, {}, Parameters());
  job.pixels = pixelsOnDevice.data();
  job.levels = levelsOnDevice.data();
  // Levels 0 to 3.
  job.parameters.method = Method::Edges;
  job.parameters.binEdges = { -8.0, 20.0, 30.0 };
  voxelmaps::DiscretizeGrayLevelsCuda(job, options);
  voxelmaps::SelectIntensitiesCuda(
    job.pixelType, job.pixels, job.levels, job.size[0], intensitiesOnDevice.data(), isDouble, options);

  const Levels            levels = levelsOnDevice.Get();
  std::vector<TIntensity> expected(pixels.size() + 1, 5);
  voxelmaps::SelectIntensities(job.pixelType, pixels.data(), levels.data(), job.size[0], expected.data(), isDouble, {});
  const std::vector<TIntensity> intensities = intensitiesOnDevice.Get();
  EXPECT_EQ(0, std::memcmp(expected.data(), intensities.data(), expected.size() * sizeof(TIntensity)));
}

template <typename TPixel>
void
CheckSelections()
{
  std::mt19937 random(5);
  for (const Kind kind : { Kind::Mixed, Kind::AllBits })
  {
    const std::vector<TPixel> pixels = DrawPixels<TPixel>(kind, 3001, random);
    CheckSelection<float>(pixels);
    CheckSelection<double>(pixels);
  }
}

class CudaSelectIntensities : public CudaTest
{};
} // namespace

TEST_F(CudaSelectIntensities, AllTypes)
{
  const auto check = [](auto... pixels) { (..., CheckSelections<decltype(pixels)>()); };
  check(std::int8_t(), std::uint8_t(), std::int16_t(), std::uint16_t(), std::int32_t(), std::uint32_t());
  check(std::int64_t(), std::uint64_t(), 0.0f, 0.0);
}

TEST_F(CudaSelectIntensities, Errors)
{
  const float         pixel = 1.0f;
  const std::uint16_t level = 1;
  float               intensity = 0.0f;
  const auto          select = [&](const CudaOptions & options, PixelType pixelType) {
    return GetErrorMessage(
      [&] { voxelmaps::SelectIntensitiesCuda(pixelType, &pixel, &level, 1, &intensity, false, options); });
  };
  CudaOptions options;
  EXPECT_EQ("The pixel type is 10, which does not exist; it must be 0 (Int8) to 9 (Double).",
            select(options, static_cast<PixelType>(10)));
  const std::string message =
    "SelectIntensitiesCuda supports arrays in device memory only, but a location is host memory.";
  EXPECT_EQ(message, select(options, PixelType::Float));
  options.inputLocation = MemoryLocation::Device;
  EXPECT_EQ(message, select(options, PixelType::Float));
}

TEST_F(CudaGrayLevelDiscretization, IntegersThatDoubleCannotHold)
{
  constexpr std::int64_t     exact = std::int64_t{ 1 } << 53;
  std::mt19937               random(1);
  std::vector<std::int64_t>  pixels;
  std::vector<std::uint64_t> unsignedPixels;
  constexpr std::uint64_t    high = std::uint64_t{ 1 } << 63;
  for (int i = 0; i < 64; ++i)
  {
    pixels.push_back(exact + i);
    unsignedPixels.push_back(high + static_cast<std::uint64_t>(i) * 511);
  }
  Parameters parameters;
  parameters.numberOfGrayLevels = 1000;
  parameters.binWidth = 1.0;
  for (int i = 0; i < 40; ++i)
  {
    parameters.binEdges.push_back(static_cast<double>(exact + 2 * i));
  }
  parameters.rangeMinimum = static_cast<double>(exact);
  parameters.rangeMaximum = static_cast<double>(exact + 62);
  CheckPixels(pixels, parameters, random);
  for (std::int64_t & pixel : pixels)
  {
    pixel = -pixel;
  }
  CheckPixels(pixels, parameters, random);
  CheckPixels(unsignedPixels, parameters, random);
}
