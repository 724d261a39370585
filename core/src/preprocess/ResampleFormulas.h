// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ResampleFormulas_h
#define ResampleFormulas_h

#include "common/HostDevice.h"

#include <cmath>
#include <cstdint>

// What CPU and CUDA compute of a resampling. Operations and their order are those of ITK's ResampleImageFilter,
// BSplineDecompositionImageFilter and BSplineInterpolateImageFunction, so that values of integer types, whose fractions
// are cut off, are the same.
namespace voxelmaps
{
constexpr int maxSplineOrder = 5;
constexpr int maxNumberOfTaps = maxSplineOrder + 1;

/** A row of the output in continuous indices of the image. */
struct RowOfIndices
{
  double start[3];
  // To the end of the row, a voxel behind the last one.
  double vector[3];
};

/** The map from voxels of the output to continuous indices of the image, through points in mm. */
struct GridMap
{
  // Matrices are row by row.
  double       toPoint[9];
  double       outputOrigin[3];
  double       toIndex[9];
  double       inputOrigin[3];
  std::int64_t rowLength;

  VOXELMAPS_HOST_DEVICE void
  Map(std::int64_t x, std::int64_t y, std::int64_t z, double * index) const
  {
    const double position[3]{ static_cast<double>(x), static_cast<double>(y), static_cast<double>(z) };
    double       vector[3];
    for (int row = 0; row < 3; ++row)
    {
      double point = outputOrigin[row];
      for (int column = 0; column < 3; ++column)
      {
        point += toPoint[3 * row + column] * position[column];
      }
      vector[row] = point - inputOrigin[row];
    }
    for (int row = 0; row < 3; ++row)
    {
      index[row] = 0.0;
      for (int column = 0; column < 3; ++column)
      {
        index[row] += toIndex[3 * row + column] * vector[column];
      }
    }
  }

  VOXELMAPS_HOST_DEVICE RowOfIndices
  GetRow(std::int64_t y, std::int64_t z) const
  {
    RowOfIndices row;
    this->Map(0, y, z, row.start);
    this->Map(rowLength, y, z, row.vector);
    for (int axis = 0; axis < 3; ++axis)
    {
      row.vector[axis] -= row.start[axis];
    }
    return row;
  }

  VOXELMAPS_HOST_DEVICE double
  GetIndex(const RowOfIndices & row, std::int64_t x, int axis) const
  {
    return row.start[axis] + static_cast<double>(x) / static_cast<double>(rowLength) * row.vector[axis];
  }
};

/** Whether a continuous index is at most half a voxel outside of an axis; false for NaN. */
VOXELMAPS_HOST_DEVICE inline bool
IsInsideAxis(double index, std::int64_t size)
{
  return index >= -0.5 && index < static_cast<double>(size) - 0.5;
}

VOXELMAPS_HOST_DEVICE inline std::int64_t
GetNearestIndex(double index, std::int64_t size)
{
  const auto nearest = static_cast<std::int64_t>(std::floor(index + 0.5));
  // The sum may have been rounded up.
  return nearest < size ? nearest : size - 1;
}

/** The index in an axis that is mirrored at its first and last voxel. */
VOXELMAPS_HOST_DEVICE inline std::int64_t
GetMirroredIndex(std::int64_t index, std::int64_t size)
{
  if (size == 1)
  {
    return 0;
  }
  const std::int64_t period = 2 * (size - 1);
  index = index < 0 ? -index : index;
  if (index >= period)
  {
    index %= period;
  }
  return index < size ? index : period - index;
}

/** The first voxel that the B-spline of an order reaches at a continuous index, before mirroring. ITK looks
 * for it in single precision. */
VOXELMAPS_HOST_DEVICE inline std::int64_t
GetFirstTap(int order, double index)
{
  const float shifted = static_cast<float>(index) + (order % 2 == 0 ? 0.5f : 0.0f);
  return static_cast<std::int64_t>(std::floor(shifted)) - order / 2;
}

/** The weights of these voxels, for the distance w from the middle one, or from that before the middle. */
VOXELMAPS_HOST_DEVICE inline void
ComputeSplineWeights(int order, double w, double * weight)
{
  const double square = w * w;
  if (order == 0)
  {
    weight[0] = 1.0;
  }
  else if (order == 1)
  {
    weight[1] = w;
    weight[0] = 1.0 - w;
  }
  else if (order == 2)
  {
    weight[1] = 0.75 - square;
    weight[2] = 0.5 * (w - weight[1] + 1.0);
    weight[0] = 1.0 - weight[1] - weight[2];
  }
  else if (order == 3)
  {
    weight[3] = (1.0 / 6.0) * w * w * w;
    weight[0] = (1.0 / 6.0) + 0.5 * w * (w - 1.0) - weight[3];
    weight[2] = w + weight[0] - 2.0 * weight[3];
    weight[1] = 1.0 - weight[0] - weight[2] - weight[3];
  }
  else if (order == 4)
  {
    const double t = (1.0 / 6.0) * square;
    const double half = (0.5 - w) * (0.5 - w);
    const double odd = w * (t - 11.0 / 24.0);
    const double even = 19.0 / 96.0 + square * (0.25 - t);
    weight[0] = half * ((1.0 / 24.0) * half);
    weight[1] = even + odd;
    weight[3] = even - odd;
    weight[4] = weight[0] + odd + 0.5 * w;
    weight[2] = 1.0 - weight[0] - weight[1] - weight[3] - weight[4];
  }
  else
  {
    const double u = square - w;
    const double uSquare = u * u;
    const double v = w - 0.5;
    const double t = u * (u - 3.0);
    weight[5] = (1.0 / 120.0) * w * square * square;
    weight[0] = (1.0 / 24.0) * (1.0 / 5.0 + u + uSquare) - weight[5];
    const double innerEven = (1.0 / 24.0) * (u * (u - 5.0) + 46.0 / 5.0);
    const double innerOdd = (-1.0 / 12.0) * v * (t + 4.0);
    weight[2] = innerEven + innerOdd;
    weight[3] = innerEven - innerOdd;
    const double outerEven = (1.0 / 16.0) * (9.0 / 5.0 - t);
    const double outerOdd = (1.0 / 24.0) * v * (uSquare - u - 5.0);
    weight[1] = outerEven + outerOdd;
    weight[4] = outerEven - outerOdd;
  }
}

/** The voxels of an axis that a value depends on, as indices in the source. */
struct AxisTaps
{
  std::int64_t index[maxNumberOfTaps];
  // Weights of a B-spline. The second one of linear interpolation is the distance from the first voxel, or 0.
  double weight[maxNumberOfTaps];
};

/** What a value is computed from: pixels or coefficients of a box of the image, in double. */
struct ResampleSource
{
  const double * values;
  std::int64_t   boxIndex[3];
  std::int64_t   rowStride;
  std::int64_t   planeStride;
};

/** How a value is computed. */
struct ResampleFormula
{
  bool isNearest;
  bool isLinear;
  int  order;
  // Taps of an axis; 1 along z in images of dimension 2.
  int          numberOfTaps[3];
  std::int64_t size[3];

  VOXELMAPS_HOST_DEVICE AxisTaps
  GetTaps(int axis, double x, std::int64_t boxIndex) const
  {
    AxisTaps taps;
    taps.weight[0] = 1.0;
    if (isNearest || numberOfTaps[axis] == 1)
    {
      taps.index[0] = GetNearestIndex(x, size[axis]) - boxIndex;
      // A B-spline of order 0 finds its voxel in single precision.
      if (!isNearest && !isLinear && order == 0)
      {
        taps.index[0] = GetMirroredIndex(GetFirstTap(0, x), size[axis]) - boxIndex;
      }
    }
    else if (isLinear)
    {
      const double       floor = std::floor(x);
      const std::int64_t first = floor > 0.0 ? static_cast<std::int64_t>(floor) : 0;
      const bool         hasNext = first + 1 < size[axis];
      taps.index[0] = first - boxIndex;
      taps.index[1] = taps.index[0] + (hasNext ? 1 : 0);
      taps.weight[1] = hasNext ? x - static_cast<double>(first) : 0.0;
    }
    else
    {
      const std::int64_t first = GetFirstTap(order, x);
      ComputeSplineWeights(order, x - static_cast<double>(first + order / 2), taps.weight);
      for (int k = 0; k <= order; ++k)
      {
        taps.index[k] = GetMirroredIndex(first + k, size[axis]) - boxIndex;
      }
    }
    return taps;
  }

  /** The value at taps along x, y and z. */
  VOXELMAPS_HOST_DEVICE double
  GetValue(const ResampleSource & source, const AxisTaps * taps) const
  {
    if (isLinear)
    {
      return this->GetLinearValue(source, taps);
    }
    double sum = 0.0;
    for (int kz = 0; kz < numberOfTaps[2]; ++kz)
    {
      for (int ky = 0; ky < numberOfTaps[1]; ++ky)
      {
        const double * const row =
          source.values + taps[2].index[kz] * source.planeStride + taps[1].index[ky] * source.rowStride;
        for (int kx = 0; kx < numberOfTaps[0]; ++kx)
        {
          sum += taps[0].weight[kx] * taps[1].weight[ky] * taps[2].weight[kz] * row[taps[0].index[kx]];
        }
      }
    }
    return sum;
  }

  /** The next value is not used at distance 0, where it may be infinite or NaN, nor before the first voxel. */
  VOXELMAPS_HOST_DEVICE static double
  Blend(double value, double next, double distance)
  {
    return distance > 0.0 ? value + (next - value) * distance : value;
  }

private:
  VOXELMAPS_HOST_DEVICE double
  GetLinearValue(const ResampleSource & source, const AxisTaps * taps) const
  {
    double alongZ[2];
    for (int kz = 0; kz < numberOfTaps[2]; ++kz)
    {
      double alongY[2];
      for (int ky = 0; ky < 2; ++ky)
      {
        const double * const row =
          source.values + taps[2].index[kz] * source.planeStride + taps[1].index[ky] * source.rowStride;
        alongY[ky] = Blend(row[taps[0].index[0]], row[taps[0].index[1]], taps[0].weight[1]);
      }
      alongZ[kz] = Blend(alongY[0], alongY[1], taps[1].weight[1]);
    }
    return numberOfTaps[2] == 1 ? alongZ[0] : Blend(alongZ[0], alongZ[1], taps[2].weight[1]);
  }
};

// Number of weights of the first coefficient, which are below ITK's tolerance then.
constexpr int maxHorizon = 28;

/** The recursions of a pole along a line. */
struct SplinePole
{
  double pole;
  // Factor of the first sample of the anticausal recursion.
  double lastFactor;
  // Causal recursion: weights of the samples 1 ... numberOfInitialSamples.
  int    numberOfInitialSamples;
  double initialWeight[maxHorizon];
  // The lines are so short that the sum over the mirrored line is complete.
  bool   isComplete;
  double weightOfLast;
  double divisor;
};

/** From samples of a line to coefficients. */
struct SplineFilter
{
  std::int64_t length;
  // No poles for a length of 1, and for orders 0 and 1.
  int        numberOfPoles;
  double     gain;
  SplinePole poles[2];
};

/** Replace the samples of a line by coefficients. line(n) is a reference to a sample, or to those of several lines. */
template <typename TLine>
VOXELMAPS_HOST_DEVICE void
FilterSplineLine(const SplineFilter & filter, const TLine & line)
{
  if (filter.numberOfPoles == 0)
  {
    return;
  }
  const std::int64_t length = filter.length;
  for (std::int64_t n = 0; n < length; ++n)
  {
    line(n) = filter.gain * line(n);
  }
  for (int p = 0; p < filter.numberOfPoles; ++p)
  {
    const SplinePole & pole = filter.poles[p];
    const double       z = pole.pole;
    auto               value = line(0);
    if (pole.isComplete)
    {
      value = value + pole.weightOfLast * line(length - 1);
    }
    for (int n = 1; n <= pole.numberOfInitialSamples; ++n)
    {
      value = value + pole.initialWeight[n - 1] * line(n);
    }
    if (pole.isComplete)
    {
      value = value / pole.divisor;
    }
    line(0) = value;
    for (std::int64_t n = 1; n < length; ++n)
    {
      value = line(n) + z * value;
      line(n) = value;
    }
    value = pole.lastFactor * (z * line(length - 2) + value);
    line(length - 1) = value;
    for (std::int64_t n = length - 2; n >= 0; --n)
    {
      value = z * (value - line(n));
      line(n) = value;
    }
  }
}
} // namespace voxelmaps

#endif // ResampleFormulas_h
