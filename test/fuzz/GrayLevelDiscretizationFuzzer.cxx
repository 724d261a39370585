// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
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
using VoxelMapsFuzz::FuzzedInput;
using Parameters = voxelmaps::GrayLevelDiscretizationParameters;
using Method = Parameters::MethodEnum;
using RangeSource = Parameters::RangeSourceEnum;
using Levels = std::vector<unsigned short>;
using VoxelMapsFuzz::ConsumeAnyDouble;
using VoxelMapsFuzz::ConsumeAnyInteger;
using VoxelMapsFuzz::ConsumeEnumerator;
using VoxelMapsFuzz::ConsumeOneIn;
using VoxelMapsFuzz::Fail;
using VoxelMapsFuzz::Require;

constexpr long double maxLevels = Parameters::MaximumNumberOfGrayLevels;

/** What an input says, except for the values of its pixels. */
struct Case
{
  Parameters                 parameters;
  std::array<std::size_t, 2> size;
  std::vector<unsigned char> mask; // no mask if empty
  unsigned char              inside{ 1 };

  bool
  IsInside(std::size_t pixel) const
  {
    return mask.empty() || mask[pixel] == inside;
  }
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
  std::vector<std::uint8_t> mask;
  for (const auto value : input.mask)
  {
    mask.push_back(value == input.inside ? 1 : 0);
  }
  Levels                                levels(pixels.size());
  voxelmaps::GrayLevelDiscretizationJob job;
  job.pixels = pixels.data();
  job.pixelType = voxelmaps::GetPixelType<TPixel>();
  job.size = { { static_cast<std::int64_t>(input.size[0]), static_cast<std::int64_t>(input.size[1]), 1 } };
  job.mask = mask.empty() ? nullptr : mask.data();
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

/** Levels from low to high are right. */
struct Bounds
{
  long double low;
  long double high;
};

/** floor of a quotient of doubles, of which up to four operations may have been rounded. */
Bounds
QuotientFloor(long double numerator, long double denominator)
{
  constexpr long double rounding = 4.01L * 0x1p-53L;
  constexpr long double underflow = 0x1p-1073L;
  const long double     quotient = numerator / denominator;
  const long double     error = std::abs(quotient) * rounding + underflow;
  return { std::floor(quotient - error), std::floor(quotient + error) };
}

bool
IsSmallInteger(double value)
{
  return std::abs(value) <= 0x1p32 && value == std::floor(value);
}

std::int64_t
IntegerFloor(std::int64_t numerator, std::int64_t denominator)
{
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

class Reference
{
public:
  Reference(const Case & input, const std::vector<double> & pixels)
    : m_Case(input)
    , m_Parameters(input.parameters)
    , m_Pixels(pixels)
  {
    m_UsesRange = m_Parameters.method == Method::FixedBinNumber || m_Parameters.method == Method::FixedBinSize ||
                  m_Parameters.method == Method::FixedBinSizeAtMultiples;
    this->FindRange();
  }

  /** Whether the documentation promises an exception. */
  bool
  MustFail() const
  {
    const Parameters & p = m_Parameters;
    switch (p.method)
    {
      case Method::FixedBinNumber:
      case Method::Identity:
      case Method::Levels:
        if (p.numberOfGrayLevels < 1 || p.numberOfGrayLevels > maxLevels)
        {
          return true;
        }
        break;
      case Method::FixedBinSize:
      case Method::FixedBinSizeAtMultiples:
        if (!(p.binWidth > 0.0 && std::isfinite(p.binWidth)))
        {
          return true;
        }
        break;
      case Method::Edges:
        for (std::size_t i = 0; i < p.binEdges.size(); ++i)
        {
          if (!std::isfinite(p.binEdges[i]) || (i > 0 && p.binEdges[i] <= p.binEdges[i - 1]))
          {
            return true;
          }
        }
        return p.binEdges.empty();
      default:
        return true;
    }
    if (m_UsesRange)
    {
      return static_cast<int>(p.rangeSource) > 2 || !m_HasRange || this->GetNumberOfLevels().low > maxLevels;
    }
    // Identity and Levels
    const double first = p.method == Method::Identity ? 0.0 : 1.0;
    const double last = p.method == Method::Identity ? p.numberOfGrayLevels - 1.0 : p.numberOfGrayLevels;
    for (std::size_t i = 0; i < m_Pixels.size(); ++i)
    {
      const double x = m_Pixels[i];
      const bool   isLevel = (x >= first && x <= last && x == std::floor(x)) || (first == 1.0 && x == 0.0);
      if (m_Case.IsInside(i) && !std::isnan(x) && !isLevel)
      {
        return true;
      }
    }
    return false;
  }

  /** Whether an exception is right, too, because of rounding or of a parameter that this method does not use. */
  bool
  MayFail() const
  {
    return static_cast<int>(m_Parameters.rangeSource) > 2 ||
           (m_UsesRange && m_HasRange && this->GetNumberOfLevels().high > maxLevels);
  }

  /** Only if MustFail() is false. */
  Bounds
  GetLevel(std::size_t pixel) const
  {
    const double x = m_Pixels[pixel];
    if (std::isnan(x) || !m_Case.IsInside(pixel))
    {
      return { 0, 0 };
    }
    switch (m_Parameters.method)
    {
      case Method::Identity:
        return { x + 1.0L, x + 1.0L };
      case Method::Levels:
        return { x, x };
      case Method::Edges:
      {
        const auto isPassed = [x](double edge) { return edge <= x; };
        const auto count = std::count_if(m_Parameters.binEdges.begin(), m_Parameters.binEdges.end(), isPassed);
        return { static_cast<long double>(count), static_cast<long double>(count) };
      }
      default:
        return this->GetBin(x < m_Minimum ? m_Minimum : x > m_Maximum ? m_Maximum : x);
    }
  }

private:
  void
  FindRange()
  {
    if (m_Parameters.rangeSource == RangeSource::Given)
    {
      m_Minimum = m_Parameters.rangeMinimum;
      m_Maximum = m_Parameters.rangeMaximum;
      m_HasRange = m_Minimum < m_Maximum && std::isfinite(m_Maximum - m_Minimum);
      return;
    }
    const bool isMaskRange = m_Parameters.rangeSource == RangeSource::Mask;
    for (std::size_t i = 0; i < m_Pixels.size(); ++i)
    {
      if (std::isfinite(m_Pixels[i]) && (!isMaskRange || m_Case.IsInside(i)))
      {
        m_Minimum = m_HasRange ? std::min(m_Minimum, m_Pixels[i]) : m_Pixels[i];
        m_Maximum = m_HasRange ? std::max(m_Maximum, m_Pixels[i]) : m_Pixels[i];
        m_HasRange = true;
      }
    }
    // With an empty mask, any range works.
    m_HasRange = m_HasRange || (isMaskRange && !m_Case.mask.empty());
  }

  Bounds
  GetNumberOfLevels() const
  {
    return m_Parameters.method == Method::FixedBinNumber
             ? Bounds{ static_cast<long double>(m_Parameters.numberOfGrayLevels),
                       static_cast<long double>(m_Parameters.numberOfGrayLevels) }
             : this->GetBin(m_Maximum);
  }

  /** The level of an intensity in the range. */
  Bounds
  GetBin(double x) const
  {
    const long double number = m_Parameters.numberOfGrayLevels;
    const double      width = m_Parameters.binWidth;
    const bool        isNumber = m_Parameters.method == Method::FixedBinNumber;
    if (m_Minimum == m_Maximum)
    {
      return { 1, 1 };
    }
    if (IsSmallInteger(x) && IsSmallInteger(m_Minimum) && IsSmallInteger(m_Maximum) &&
        (isNumber || IsSmallInteger(width)))
    {
      return this->GetIntegerBin(static_cast<std::int64_t>(x));
    }
    const long double minimum = m_Minimum;
    if (isNumber)
    {
      const Bounds bin = QuotientFloor(number * (x - minimum), m_Maximum - minimum);
      return { std::max(std::min(bin.low + 1, number), 1.0L), std::min(bin.high + 1, number) };
    }
    if (m_Parameters.method == Method::FixedBinSize)
    {
      const Bounds bin = QuotientFloor(x - minimum, width);
      return { std::max(bin.low + 1, 1.0L), bin.high + 1 };
    }
    const Bounds bin = QuotientFloor(x, width);
    const Bounds first = QuotientFloor(minimum, width);
    // Numbers of bins beyond 2^53 are rounded, too.
    const long double error = std::max(std::abs(bin.high), std::abs(first.low)) * 0x1p-51L;
    const long double more = error < 0.25L ? 0.0L : std::ceil(error);
    return { std::max(bin.low - first.high + 1 - more, 1.0L), bin.high - first.low + 1 + more };
  }

  Bounds
  GetIntegerBin(std::int64_t x) const
  {
    const auto         minimum = static_cast<std::int64_t>(m_Minimum);
    const auto         maximum = static_cast<std::int64_t>(m_Maximum);
    const std::int64_t number = m_Parameters.numberOfGrayLevels;
    std::int64_t       level = 0;
    if (m_Parameters.method == Method::FixedBinNumber)
    {
      level = std::min(number * (x - minimum) / (maximum - minimum) + 1, number);
    }
    else
    {
      const auto width = static_cast<std::int64_t>(m_Parameters.binWidth);
      level = m_Parameters.method == Method::FixedBinSize ? (x - minimum) / width + 1
                                                          : IntegerFloor(x, width) - IntegerFloor(minimum, width) + 1;
    }
    return { static_cast<long double>(level), static_cast<long double>(level) };
  }

  const Case &                m_Case;
  const Parameters &          m_Parameters;
  const std::vector<double> & m_Pixels;
  bool                        m_UsesRange{ false };
  bool                        m_HasRange{ false };
  double                      m_Minimum{ 0.0 };
  double                      m_Maximum{ 0.0 };
};

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
    text << ' ' << pixels[i] << (input.IsInside(i) ? "" : " (outside)");
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

  const Reference reference(input, asDouble);
  const bool      mustFail = reference.MustFail();
  if (!levels)
  {
    if (!mustFail && !reference.MayFail())
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
    const Bounds bounds = reference.GetLevel(i);
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
  input.inside = data.ConsumeBool() ? 1 : data.ConsumeIntegral<std::uint8_t>();
  const bool          hasMask = data.ConsumeBool();
  const auto          pixelType = data.ConsumeIntegralInRange<std::uint8_t>(0, 9);
  std::vector<double> palette;
  const auto          paletteSize = data.ConsumeIntegralInRange<std::uint8_t>(1, 5);
  for (std::uint8_t i = 0; i < paletteSize; ++i)
  {
    palette.push_back(ConsumeAnyDouble(data));
  }
  const auto pixelBytes =
    VoxelMapsFuzz::ConsumeBytesForVoxels(data, static_cast<std::int64_t>(input.size[0] * input.size[1]));
  for (std::size_t i = 0; hasMask && i < pixelBytes.size(); ++i)
  {
    input.mask.push_back(pixelBytes[i] % 4 == 3 ? 0 : input.inside);
  }
  switch (pixelType)
  {
    case 0:
      Check<signed char>(input, palette, pixelBytes);
      break;
    case 1:
      Check<unsigned char>(input, palette, pixelBytes);
      break;
    case 2:
      Check<short>(input, palette, pixelBytes);
      break;
    case 3:
      Check<unsigned short>(input, palette, pixelBytes);
      break;
    case 4:
      Check<int>(input, palette, pixelBytes);
      break;
    case 5:
      Check<unsigned int>(input, palette, pixelBytes);
      break;
    case 6:
      Check<long long>(input, palette, pixelBytes);
      break;
    case 7:
      Check<unsigned long long>(input, palette, pixelBytes);
      break;
    case 8:
      Check<float>(input, palette, pixelBytes);
      break;
    default:
      Check<double>(input, palette, pixelBytes);
  }
  return 0;
}
