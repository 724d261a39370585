// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
#include "GrayLevelDiscretizationOracle.h"
#include "discretization/GrayLevelJob.h"
#include "voxelmaps/GrayLevelDiscretization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

// Parameters and tiny images of all pixel types for the discretization. Levels are compared with the definitions,
// evaluated in integers where all numbers are integers, and in long double elsewhere: there, levels on both sides of a
// bin's edge are right within the rounding of the documented double operations.
namespace
{
using GrayLevelDiscretizationOracle::Oracle;
using namespace VoxelMapsFuzz;
using Parameters = voxelmaps::GrayLevelDiscretizationParameters;
using Method = Parameters::MethodEnum;
using RangeSource = Parameters::RangeSourceEnum;
using Levels = std::vector<unsigned short>;

/** What an input says, except for the values of its pixels. */
struct Case
{
  Parameters                 parameters;
  std::array<std::size_t, 2> size;
  std::vector<std::uint8_t>  mask; // no mask if empty
};

Parameters
ConsumeParameters(FuzzedInput & data)
{
  Parameters parameters;
  parameters.method = ConsumeEnumerator<Method>(data, 6);
  parameters.rangeSource = ConsumeEnumerator<RangeSource>(data, 3);
  parameters.numberOfGrayLevels =
    ConsumeOneIn(data, 8) ? ConsumeAnyInteger<unsigned int>(data) : data.ConsumeIntegralInRange<unsigned int>(1, 256);
  parameters.binWidth = ConsumeAnyDouble(data);
  parameters.rangeMinimum = ConsumeAnyDouble(data);
  parameters.rangeMaximum = ConsumeAnyDouble(data);
  if (!ConsumeOneIn(data, 8) && parameters.rangeMaximum < parameters.rangeMinimum)
  {
    std::swap(parameters.rangeMinimum, parameters.rangeMaximum);
  }
  if (!ConsumeOneIn(data, 8))
  {
    parameters.binWidth = std::abs(parameters.binWidth);
  }
  const auto numberOfEdges = data.ConsumeIntegralInRange<std::uint8_t>(0, 6);
  for (std::uint8_t i = 0; i < numberOfEdges; ++i)
  {
    parameters.binEdges.push_back(ConsumeAnyDouble(data));
  }
  if (!ConsumeOneIn(data, 8))
  {
    std::sort(parameters.binEdges.begin(), parameters.binEdges.end(), [](double a, double b) {
      return std::isnan(b) ? !std::isnan(a) : a < b;
    });
  }
  return parameters;
}

/** The pixel next to a number. */
template <typename TPixel>
TPixel
ToPixel(double value)
{
  using Limits = std::numeric_limits<TPixel>;
  if constexpr (std::is_floating_point<TPixel>::value)
  {
    return static_cast<TPixel>(value);
  }
  else
  {
    return std::isnan(value)                                ? TPixel{}
           : value <= static_cast<double>(Limits::lowest()) ? Limits::lowest()
           : value >= static_cast<double>(Limits::max())    ? Limits::max()
                                                            : static_cast<TPixel>(value);
  }
}

/** The levels of all pixels; nothing if the job is refused. */
template <typename TPixel>
std::optional<Levels>
Discretize(const Case & input, const std::vector<TPixel> & pixels, unsigned int numberOfWorkers, std::string & error)
{
  Levels                                levels(pixels.size());
  voxelmaps::GrayLevelDiscretizationJob job;
  job.pixels = pixels.data();
  job.pixelType = voxelmaps::GetPixelType<TPixel>();
  job.size = { { static_cast<std::int64_t>(input.size[0]), static_cast<std::int64_t>(input.size[1]), 1 } };
  job.mask = input.mask.empty() ? nullptr : input.mask.data();
  job.parameters = input.parameters;
  job.levels = levels.data();
  job.execution.numberOfWorkers = numberOfWorkers;
  try
  {
    const unsigned int largest = voxelmaps::DiscretizeGrayLevels(job).numberOfGrayLevels;
    Require(std::all_of(levels.begin(), levels.end(), [&](unsigned short level) { return level <= largest; }),
            "a level exceeds the number of gray levels");
  }
  catch (const voxelmaps::EngineError & exception)
  {
    error = exception.what();
    return {};
  }
  return levels;
}

/** What a failure needs to be made again by hand. */
std::string
Describe(const Case & input, const std::vector<double> & pixels)
{
  std::ostringstream text;
  text.precision(17);
  const Parameters & p = input.parameters;
  text << ": " << p.method << ", range source " << p.rangeSource << ", " << p.numberOfGrayLevels << " levels, width "
       << p.binWidth << ", range " << p.rangeMinimum << " to " << p.rangeMaximum << ", edges";
  for (const double edge : p.binEdges)
  {
    text << ' ' << edge;
  }
  text << (input.mask.empty() ? ", no mask" : ", with mask") << ", pixels";
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    text << ' ' << pixels[i] << (input.mask.empty() || input.mask[i] != 0 ? "" : " (outside)");
  }
  return text.str();
}

template <typename TPixel>
void
Check(const Case & input, const std::vector<double> & palette, const std::vector<std::uint8_t> & bytes)
{
  std::vector<TPixel> pixels;
  std::vector<double> asDouble;
  for (const std::uint8_t byte : bytes)
  {
    // Integers that all types hold, or one of the palette.
    pixels.push_back(byte < 128 ? static_cast<TPixel>(byte) : ToPixel<TPixel>(palette[byte % palette.size()]));
    asDouble.push_back(static_cast<double>(pixels.back()));
  }
  std::string       error;
  const auto        levels = Discretize(input, pixels, 3, error);
  const std::string description = Describe(input, asDouble);
  if (levels != Discretize(input, asDouble, 1, error))
  {
    Fail("the levels depend on the pixel type" + description);
  }

  const Oracle oracle(input.parameters, asDouble, input.mask);
  const bool   mustFail = oracle.MustFail();
  if (!levels)
  {
    if (!mustFail && !oracle.MayFail())
    {
      Fail("valid parameters were refused: " + error + description);
    }
    return;
  }
  if (mustFail)
  {
    Fail("invalid parameters were accepted" + description);
  }
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    const auto bounds = oracle.GetLevel(i);
    if (!((*levels)[i] >= bounds.low && (*levels)[i] <= bounds.high))
    {
      Fail("pixel " + std::to_string(i) + " has level " + std::to_string((*levels)[i]) + " instead of " +
           std::to_string(bounds.low) + " to " + std::to_string(bounds.high) + description);
    }
  }
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput data(bytes, numberOfBytes);
  Case        input;
  input.parameters = ConsumeParameters(data);
  input.size = { { data.ConsumeIntegralInRange<std::size_t>(1, 9), data.ConsumeIntegralInRange<std::size_t>(1, 5) } };
  const auto          inside = data.ConsumeBool() ? 1 : data.ConsumeIntegral<std::uint8_t>();
  const bool          hasMask = data.ConsumeBool();
  const auto          pixelType = data.ConsumeIntegralInRange<std::uint8_t>(0, 9);
  std::vector<double> palette;
  const auto          paletteSize = data.ConsumeIntegralInRange<std::uint8_t>(1, 5);
  for (std::uint8_t i = 0; i < paletteSize; ++i)
  {
    palette.push_back(ConsumeAnyDouble(data));
  }
  const auto pixelBytes = ConsumeBytesForVoxels(data, static_cast<std::int64_t>(input.size[0] * input.size[1]));
  for (std::size_t i = 0; hasMask && i < pixelBytes.size(); ++i)
  {
    input.mask.push_back(pixelBytes[i] % 4 != 3 || inside == 0 ? 1 : 0);
  }
  voxelmaps::VisitPixelType(static_cast<voxelmaps::PixelType>(pixelType),
                            [&](auto pixel) { Check<decltype(pixel)>(input, palette, pixelBytes); });
  return 0;
}
