// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayLevelDiscretizationOracle_h
#define GrayLevelDiscretizationOracle_h

#include "voxelmaps/GrayLevelDiscretizationParameters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/** Gray levels by the definitions of the methods: in integers if all numbers are, otherwise in long double. */
namespace GrayLevelDiscretizationOracle
{
using Parameters = voxelmaps::GrayLevelDiscretizationParameters;
using Method = Parameters::MethodEnum;
using RangeSource = Parameters::RangeSourceEnum;

/** Levels from low to high are right: real numbers are rounded on either side of the edge of a bin. */
struct Bounds
{
  long double low;
  long double high;
};

/** floor of a quotient of doubles, of which up to four operations may have been rounded. */
inline Bounds
QuotientFloor(long double numerator, long double denominator)
{
  const long double quotient = numerator / denominator;
  const long double error = std::abs(quotient) * 4.01L * 0x1p-53L + 0x1p-1073L;
  return { std::floor(quotient - error), std::floor(quotient + error) };
}

class Oracle
{
public:
  /** Where the mask is 0, pixels are absent; there is none if it is empty. */
  Oracle(const Parameters & parameters, const std::vector<double> & pixels, const std::vector<std::uint8_t> & mask)
    : m_Parameters(parameters)
    , m_Pixels(pixels)
    , m_Mask(mask)
    , m_Minimum(parameters.rangeMinimum)
    , m_Maximum(parameters.rangeMaximum)
  {
    m_HasRange = m_Minimum < m_Maximum && std::isfinite(m_Maximum - m_Minimum);
    if (parameters.rangeSource == RangeSource::Given)
    {
      return;
    }
    std::vector<double> used;
    for (std::size_t i = 0; i < pixels.size(); ++i)
    {
      if (std::isfinite(pixels[i]) && (parameters.rangeSource == RangeSource::Image || this->IsInside(i)))
      {
        used.push_back(pixels[i]);
      }
    }
    m_Minimum = used.empty() ? 0.0 : *std::min_element(used.begin(), used.end());
    m_Maximum = used.empty() ? 0.0 : *std::max_element(used.begin(), used.end());
    // With an empty mask, any range works.
    m_HasRange = !used.empty() || (parameters.rangeSource == RangeSource::Mask && !mask.empty());
  }

  bool
  IsInside(std::size_t pixel) const
  {
    return m_Mask.empty() || m_Mask[pixel] != 0;
  }

  /** Whether the documentation promises an error. */
  bool
  MustFail() const
  {
    const Parameters & p = m_Parameters;
    const auto         hasInvalidEdge = [&p] {
      bool isInvalid = p.binEdges.empty();
      for (std::size_t i = 0; i < p.binEdges.size(); ++i)
      {
        isInvalid = isInvalid || !std::isfinite(p.binEdges[i]) || (i > 0 && p.binEdges[i] <= p.binEdges[i - 1]);
      }
      return isInvalid;
    };
    switch (p.method)
    {
      case Method::FixedBinNumber:
        return this->HasInvalidNumber() || this->HasInvalidRange();
      case Method::FixedBinSize:
      case Method::FixedBinSizeAtMultiples:
        return !(p.binWidth > 0.0 && std::isfinite(p.binWidth)) || this->HasInvalidRange();
      case Method::Identity:
      case Method::Levels:
        return this->HasInvalidNumber() || this->HasInvalidPixel();
      case Method::Edges:
        return hasInvalidEdge();
      default:
        return true;
    }
  }

  /** Whether an error is right, too, because of rounding or of a parameter that this method does not use. */
  bool
  MayFail() const
  {
    const bool usesRange = m_Parameters.method == Method::FixedBinNumber ||
                           m_Parameters.method == Method::FixedBinSize ||
                           m_Parameters.method == Method::FixedBinSizeAtMultiples;
    return static_cast<int>(m_Parameters.rangeSource) > 2 ||
           (usesRange && m_HasRange && this->GetNumberOfLevels().high > maxLevels);
  }

  /** Bounds of the level of a pixel; the job must be valid. */
  Bounds
  GetLevel(std::size_t pixel) const
  {
    const double x = m_Pixels[pixel];
    const auto   exactly = [](long double level) { return Bounds{ level, level }; };
    if (std::isnan(x) || !this->IsInside(pixel))
    {
      return exactly(0);
    }
    switch (m_Parameters.method)
    {
      case Method::Identity:
        return exactly(x + 1.0L);
      case Method::Levels:
        return exactly(x);
      case Method::Edges:
        return exactly(static_cast<long double>(std::count_if(
          m_Parameters.binEdges.begin(), m_Parameters.binEdges.end(), [x](double edge) { return edge <= x; })));
      default:
        return this->GetBin(x < m_Minimum ? m_Minimum : x > m_Maximum ? m_Maximum : x);
    }
  }

  Bounds
  GetNumberOfLevels() const
  {
    const long double number = m_Parameters.numberOfGrayLevels;
    const auto        edges = static_cast<long double>(m_Parameters.binEdges.size());
    switch (m_Parameters.method)
    {
      case Method::FixedBinSize:
      case Method::FixedBinSizeAtMultiples:
        return this->GetBin(m_Maximum);
      case Method::Edges:
        return { edges, edges };
      default:
        return { number, number };
    }
  }

  double
  GetMinimum() const
  {
    return m_Parameters.method == Method::Identity ? 0.0
           : m_Parameters.method == Method::Levels ? 1.0
           : m_Parameters.method == Method::Edges  ? m_Parameters.binEdges.front()
                                                   : m_Minimum;
  }
  double
  GetMaximum() const
  {
    return m_Parameters.method == Method::Identity ? m_Parameters.numberOfGrayLevels - 1.0
           : m_Parameters.method == Method::Levels ? m_Parameters.numberOfGrayLevels
           : m_Parameters.method == Method::Edges  ? m_Parameters.binEdges.back()
                                                   : m_Maximum;
  }

private:
  static constexpr long double maxLevels = Parameters::MaximumNumberOfGrayLevels;

  bool
  HasInvalidNumber() const
  {
    return m_Parameters.numberOfGrayLevels < 1 || m_Parameters.numberOfGrayLevels > maxLevels;
  }

  bool
  HasInvalidRange() const
  {
    return static_cast<int>(m_Parameters.rangeSource) > 2 || !m_HasRange || this->GetNumberOfLevels().low > maxLevels;
  }

  /** Whether there is an intensity that Identity or Levels does not accept. */
  bool
  HasInvalidPixel() const
  {
    for (std::size_t i = 0; i < m_Pixels.size(); ++i)
    {
      const double x = m_Pixels[i];
      const bool   isZero = m_Parameters.method == Method::Levels && x == 0.0;
      const bool   isLevel = x >= this->GetMinimum() && x <= this->GetMaximum() && x == std::floor(x);
      if (this->IsInside(i) && !std::isnan(x) && !isLevel && !isZero)
      {
        return true;
      }
    }
    return false;
  }

  /** The level of an intensity in the range. */
  Bounds
  GetBin(double x) const
  {
    const bool        isNumber = m_Parameters.method == Method::FixedBinNumber;
    const long double number = m_Parameters.numberOfGrayLevels;
    const double      width = m_Parameters.binWidth;
    const auto isSmallInteger = [](double value) { return std::abs(value) <= 0x1p32 && value == std::floor(value); };
    if (m_Minimum == m_Maximum)
    {
      return { 1, 1 };
    }
    if (isSmallInteger(x) && isSmallInteger(m_Minimum) && isSmallInteger(m_Maximum) &&
        (isNumber || isSmallInteger(width)))
    {
      const auto level = static_cast<long double>(this->GetIntegerBin(static_cast<std::int64_t>(x)));
      return { level, level };
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

  std::int64_t
  GetIntegerBin(std::int64_t x) const
  {
    const auto         minimum = static_cast<std::int64_t>(m_Minimum);
    const auto         maximum = static_cast<std::int64_t>(m_Maximum);
    const auto         width = static_cast<std::int64_t>(m_Parameters.binWidth);
    const std::int64_t number = m_Parameters.numberOfGrayLevels;
    const auto         floor = [width](std::int64_t n) { return n / width - (n % width < 0 ? 1 : 0); };
    switch (m_Parameters.method)
    {
      case Method::FixedBinNumber:
        return std::min(number * (x - minimum) / (maximum - minimum) + 1, number);
      case Method::FixedBinSize:
        return (x - minimum) / width + 1;
      default:
        return floor(x) - floor(minimum) + 1;
    }
  }

  const Parameters                m_Parameters;
  const std::vector<double>       m_Pixels;
  const std::vector<std::uint8_t> m_Mask;
  double                          m_Minimum;
  double                          m_Maximum;
  bool                            m_HasRange{ false };
};
} // namespace GrayLevelDiscretizationOracle

#endif // GrayLevelDiscretizationOracle_h
