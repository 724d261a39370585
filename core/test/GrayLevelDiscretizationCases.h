// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayLevelDiscretizationCases_h
#define GrayLevelDiscretizationCases_h

// Pixels, masks and jobs of the tests of gray levels on the CPU and on devices.

#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/GrayLevelDiscretization.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace GrayLevelDiscretizationCases
{
using namespace VoxelMapsTest;
using voxelmaps::GetPixelType;
using voxelmaps::PixelType;
using Job = voxelmaps::GrayLevelDiscretizationJob;
using Result = voxelmaps::GrayLevelDiscretizationResult;
using Parameters = voxelmaps::GrayLevelDiscretizationParameters;
using Method = Parameters::MethodEnum;
using RangeSource = Parameters::RangeSourceEnum;
using Mask = std::vector<std::uint8_t>;
using Levels = std::vector<std::uint16_t>;

const std::vector<Method>      allMethods = voxelmaps::GetEnumerators<Method>();
const std::vector<RangeSource> allSources = voxelmaps::GetEnumerators<RangeSource>();

/** Without levels. */
template <typename TPixel>
Job
MakeJob(const std::vector<TPixel> & pixels, const Mask & mask, const Parameters & parameters)
{
  Job job;
  job.pixels = pixels.data();
  job.pixelType = GetPixelType<TPixel>();
  job.size = { { static_cast<std::int64_t>(pixels.size()), 1, 1 } };
  job.mask = mask.empty() ? nullptr : mask.data();
  job.parameters = parameters;
  return job;
}

enum class Kind
{
  /** Valid for Identity and Levels. */
  SmallNumbers,
  /** Negative numbers and fractions. */
  Finite,
  /** For real types, also some NaN, infinities, zeros of both signs, and denormals. */
  Mixed,
  /** All bits are random. */
  AllBits
};

template <typename TPixel>
std::vector<TPixel>
DrawPixels(Kind kind, std::size_t count, std::mt19937 & random)
{
  using Limits = std::numeric_limits<TPixel>;
  std::vector<TPixel> pixels(count);
  for (TPixel & pixel : pixels)
  {
    const int value = static_cast<int>(random() % 100);
    pixel = static_cast<TPixel>(value);
    if (kind == Kind::AllBits)
    {
      const std::uint64_t bits = std::uint64_t{ random() } << 32 | random();
      std::memcpy(&pixel, &bits, sizeof(pixel));
    }
    else if (kind != Kind::SmallNumbers && std::is_floating_point<TPixel>::value)
    {
      const TPixel special[] = { Limits::quiet_NaN(),       Limits::infinity(),     -Limits::infinity(),
                                 static_cast<TPixel>(-0.0), static_cast<TPixel>(0), Limits::denorm_min() };
      const bool   isSpecial = kind == Kind::Mixed && random() % 8 == 0;
      pixel = isSpecial ? special[random() % 6] : static_cast<TPixel>(value * 0.37 - 11.0);
    }
    else if (kind != Kind::SmallNumbers)
    {
      pixel = static_cast<TPixel>(Limits::is_signed ? value - 40 : value + 3);
    }
  }
  return pixels;
}

/** 0, 100 and 200. */
inline Mask
DrawMask(std::size_t count, std::mt19937 & random)
{
  Mask mask(count);
  for (std::uint8_t & inside : mask)
  {
    inside = static_cast<std::uint8_t>(random() % 3 * 100);
  }
  return mask;
}
} // namespace GrayLevelDiscretizationCases

#endif // GrayLevelDiscretizationCases_h
