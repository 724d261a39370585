// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayLevelFormula_h
#define GrayLevelFormula_h

#include "common/HostDevice.h"
#include "voxelmaps/GrayLevelDiscretization.h"

#include <cmath>
#include <cstdint>

namespace voxelmaps
{
/** What the level of a single intensity depends on: plain data, passed to kernels as an argument. */
struct GrayLevelFormula
{
  using MethodEnum = GrayLevelDiscretizationEnums::Method;

  MethodEnum     method;
  int            numberOfEdges;
  double         minimum;
  double         maximum;
  double         width;
  double         number;
  double         scale;
  const double * edges;

  /** The edges stay those of the discretization. */
  explicit GrayLevelFormula(const GrayLevelDiscretization & discretization)
    : method(discretization.m_Parameters.method)
    , numberOfEdges(static_cast<int>(discretization.m_Parameters.binEdges.size()))
    , minimum(discretization.m_Minimum)
    , maximum(discretization.m_Maximum)
    , width(discretization.m_Parameters.binWidth)
    , number(discretization.m_Parameters.numberOfGrayLevels)
    , scale(discretization.m_Scale)
    , edges(discretization.m_Parameters.binEdges.data())
  {}

  /** Level of an intensity; 0 for NaN, and for intensities that are not valid levels (Identity, Levels). */
  VOXELMAPS_HOST_DEVICE std::uint16_t
                        GetLevel(double intensity) const
  {
    if (intensity != intensity)
    {
      return 0;
    }
    const double atLeast = intensity < minimum ? minimum : intensity;
    const double x = maximum < atLeast ? maximum : atLeast;
    double       level = 0.0;
    switch (method)
    {
      case MethodEnum::FixedBinNumber:
        level = 1.0;
        if (maximum > minimum)
        {
          level = std::floor(number * (scale * x - scale * minimum) / (scale * maximum - scale * minimum)) + 1.0;
          level = number < level ? number : level;
        }
        break;
      case MethodEnum::FixedBinSize:
        level = std::floor((scale * x - scale * minimum) / (scale * width)) + 1.0;
        break;
      case MethodEnum::FixedBinSizeAtMultiples:
        level = maximum > minimum ? std::floor(x / width) - std::floor(minimum / width) + 1.0 : 1.0;
        break;
      case MethodEnum::Identity:
        level = x == intensity && x == std::floor(x) ? x + 1.0 : 0.0;
        break;
      case MethodEnum::Levels:
        level = x == intensity && x == std::floor(x) ? x : 0.0;
        break;
      case MethodEnum::Edges:
        level = this->CountEdgesUpTo(intensity);
        break;
    }
    return static_cast<std::uint16_t>(level);
  }

  /** Whether there are intensities that the method does not support. */
  VOXELMAPS_HOST_DEVICE bool
  HasInvalidIntensities() const
  {
    return method == MethodEnum::Identity || method == MethodEnum::Levels;
  }

  /** Whether an intensity that got level 0 is one that the method does not support. */
  VOXELMAPS_HOST_DEVICE bool
  IsInvalid(double intensity) const
  {
    // Intensity 0 is a valid level of Levels, for absent voxels, but level 0 is not one of Identity.
    return this->HasInvalidIntensities() && intensity == intensity &&
           (method == MethodEnum::Identity || intensity != 0.0);
  }

private:
  /** As std::upper_bound, which kernels cannot call. */
  VOXELMAPS_HOST_DEVICE int
  CountEdgesUpTo(double intensity) const
  {
    int first = 0;
    int count = numberOfEdges;
    while (count > 0)
    {
      const int half = count / 2;
      if (intensity < edges[first + half])
      {
        count = half;
      }
      else
      {
        first += half + 1;
        count -= half + 1;
      }
    }
    return first;
  }
};
} // namespace voxelmaps

#endif // GrayLevelFormula_h
