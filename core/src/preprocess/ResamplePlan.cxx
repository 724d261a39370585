// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "preprocess/ResamplePlan.h"

#include "discretization/GrayLevelJob.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <utility>

namespace voxelmaps
{
namespace
{
// ITK's for the first coefficient of a line.
constexpr double tolerance = 1e-10;

/** Voxels around the box that are filtered with it, for orders 0 to 5. What is beyond has an effect on the coefficients
 * of the box by the tails of the impulse response h of the inverse filter alone, which the mirrored ends of the padded
 * box replace by others: at most 6 L^2 T(margin) of the greatest intensity, where L is the sum of |h| and T that of |h|
 * beyond the margin. This is below 2^-53 from 23, 32, 42 and 53 voxels on for orders 2 to 5. Over as many more as
 * the greatest pole needs for 1e-9, recursions that differ in the last bit become equal. */
constexpr std::int64_t margins[maxSplineOrder + 1]{ 0, 0, 35, 48, 63, 78 };

[[noreturn]] void
Throw(const std::ostringstream & message)
{
  throw EngineError(message.str());
}

void
VerifyGrid(const char * name, const ImageGrid & grid, unsigned int dimension, std::int64_t pixelSize)
{
  std::ostringstream message;
  message.precision(17);
  std::int64_t       voxels = 1;
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() / pixelSize;
  for (const std::int64_t extent : grid.size)
  {
    if (extent < 0 || (extent > 0 && voxels > limit / extent))
    {
      message << "The size of the " << name << " is " << grid.size[0] << " x " << grid.size[1] << " x " << grid.size[2]
              << ", but must not be negative, and its pixels must fit into memory: choose a larger spacing.";
      Throw(message);
    }
    voxels *= extent;
  }
  if (dimension == 2 && grid.size[2] > 1)
  {
    message << "The size of the " << name << " in z is " << grid.size[2] << ", but must be 1 in dimension 2.";
    Throw(message);
  }
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    if (!(grid.spacing[axis] > 0.0 && std::isfinite(grid.spacing[axis])))
    {
      message << "The spacing of the " << name << " along axis " << axis << " is " << grid.spacing[axis]
              << ", but must be positive and finite.";
      Throw(message);
    }
    if (!std::isfinite(grid.origin[axis]))
    {
      message << "The origin of the " << name << " along axis " << axis << " is " << grid.origin[axis]
              << ", but must be finite.";
      Throw(message);
    }
  }
}

using Matrix = double[9];

/** The matrix of the first axes; the others are those of space. */
void
GetMatrix(const ImageGrid & grid, unsigned int dimension, Matrix & matrix)
{
  for (unsigned int i = 0; i < 9; ++i)
  {
    const bool isUsed = i / 3 < dimension && i % 3 < dimension;
    matrix[i] = isUsed ? grid.direction[i] * grid.spacing[i % 3] : i % 4 == 0 ? 1.0 : 0.0;
  }
}

/** By Gauss and Jordan: exact quotients for axes of the image that are those of space. False if there is none. */
bool
Invert(const Matrix & matrix, Matrix & inverse)
{
  double rows[3][6];
  for (int i = 0; i < 3; ++i)
  {
    for (int j = 0; j < 3; ++j)
    {
      rows[i][j] = matrix[3 * i + j];
      rows[i][j + 3] = i == j ? 1.0 : 0.0;
    }
  }
  for (int column = 0; column < 3; ++column)
  {
    int pivot = column;
    for (int i = column + 1; i < 3; ++i)
    {
      pivot = std::abs(rows[i][column]) > std::abs(rows[pivot][column]) ? i : pivot;
    }
    std::swap(rows[column], rows[pivot]);
    const double divisor = rows[column][column];
    if (!(std::abs(divisor) > 0.0 && std::isfinite(divisor)))
    {
      return false;
    }
    for (int j = 0; j < 6; ++j)
    {
      rows[column][j] /= divisor;
    }
    for (int i = 0; i < 3; ++i)
    {
      const double factor = rows[i][column];
      for (int j = 0; i != column && factor != 0.0 && j < 6; ++j)
      {
        rows[i][j] -= factor * rows[column][j];
      }
    }
  }
  bool isFinite = true;
  for (int i = 0; i < 9; ++i)
  {
    // Without negative zeros.
    inverse[i] = rows[i / 3][i % 3 + 3] + 0.0;
    isFinite = isFinite && std::isfinite(inverse[i]);
  }
  return isFinite;
}

bool
IsDiagonal(const Matrix & matrix)
{
  bool result = true;
  for (int i = 0; i < 9; ++i)
  {
    result = result && (i % 4 == 0 || matrix[i] == 0.0);
  }
  return result;
}

GridMap
MakeMap(const ResampleImageJob & job)
{
  GridMap map{};
  Matrix  toPoint;
  GetMatrix(job.outputGrid, job.dimension, map.toPoint);
  GetMatrix(job.inputGrid, job.dimension, toPoint);
  Matrix unused;
  for (const auto & [name, isInvertible] :
       { std::pair("output", Invert(map.toPoint, unused)), std::pair("image", Invert(toPoint, map.toIndex)) })
  {
    if (!isInvertible)
    {
      std::ostringstream message;
      message << "The directions of the axes of the " << name
              << " do not span the space, but must be linearly independent and finite.";
      Throw(message);
    }
  }
  std::copy_n(job.outputGrid.origin.begin(), job.dimension, map.outputOrigin);
  std::copy_n(job.inputGrid.origin.begin(), job.dimension, map.inputOrigin);
  map.rowLength = job.outputGrid.size[0];
  return map;
}

int
GetPoles(int order, double (&poles)[2])
{
  switch (order)
  {
    case 2:
      poles[0] = std::sqrt(8.0) - 3.0;
      return 1;
    case 3:
      poles[0] = std::sqrt(3.0) - 2.0;
      return 1;
    case 4:
      poles[0] = std::sqrt(664.0 - std::sqrt(438976.0)) + std::sqrt(304.0) - 19.0;
      poles[1] = std::sqrt(664.0 + std::sqrt(438976.0)) - std::sqrt(304.0) - 19.0;
      return 2;
    case 5:
      poles[0] = std::sqrt(67.5 - std::sqrt(4436.25)) + std::sqrt(26.25) - 6.5;
      poles[1] = std::sqrt(67.5 + std::sqrt(4436.25)) - std::sqrt(26.25) - 6.5;
      return 2;
    default:
      return 0;
  }
}

SplinePole
MakePole(double z, std::int64_t length)
{
  SplinePole pole{};
  pole.pole = z;
  pole.lastFactor = z / (z * z - 1.0);
  const auto horizon = static_cast<std::int64_t>(std::ceil(std::log(tolerance) / std::log(std::abs(z))));
  pole.isComplete = horizon >= length;
  pole.numberOfInitialSamples = static_cast<int>(pole.isComplete ? length - 2 : horizon - 1);
  const double inverse = 1.0 / z;
  pole.weightOfLast = std::pow(z, static_cast<double>(length - 1));
  double power = z;
  double mirrored = pole.weightOfLast * (pole.weightOfLast * inverse);
  for (int n = 0; n < pole.numberOfInitialSamples; ++n)
  {
    pole.initialWeight[n] = pole.isComplete ? power + mirrored : power;
    power *= z;
    mirrored *= inverse;
  }
  pole.divisor = 1.0 - power * power;
  return pole;
}

SplineFilter
MakeFilter(int order, std::int64_t length)
{
  SplineFilter filter{};
  double       poles[2];
  filter.length = length;
  filter.numberOfPoles = length > 1 ? GetPoles(order, poles) : 0;
  filter.gain = 1.0;
  for (int p = 0; p < filter.numberOfPoles; ++p)
  {
    filter.gain = filter.gain * (1.0 - poles[p]) * (1.0 - 1.0 / poles[p]);
    filter.poles[p] = MakePole(poles[p], length);
  }
  return filter;
}

/** Set the boxes: those of the corners of the output, with a voxel for the rounding of indices in between. */
void
SetBoxes(const ResampleImageJob & job, ResamplePlan & plan)
{
  const Triple & outputSize = job.outputGrid.size;
  for (int axis = 0; axis < 3; ++axis)
  {
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (int corner = 0; corner < 4; ++corner)
    {
      const RowOfIndices row =
        plan.map.GetRow(corner % 2 == 0 ? 0 : outputSize[1] - 1, corner / 2 == 0 ? 0 : outputSize[2] - 1);
      for (const std::int64_t x : { std::int64_t{ 0 }, outputSize[0] - 1 })
      {
        first = std::min(first, plan.map.GetIndex(row, x, axis));
        last = std::max(last, plan.map.GetIndex(row, x, axis));
      }
    }
    const std::int64_t size = job.inputGrid.size[axis];
    // Beyond the image there is nothing to compute.
    if (!(first < static_cast<double>(size) && last > -1.0))
    {
      plan.boxSize = plan.paddedSize = { { 0, 0, 0 } };
      return;
    }
    const std::int64_t reach = plan.formula.order / 2 + 2;
    std::int64_t       begin = static_cast<std::int64_t>(std::floor(std::max(first, -1.0))) - reach;
    std::int64_t end = static_cast<std::int64_t>(std::ceil(std::min(last, static_cast<double>(size)))) + reach + 1;
    // What is mirrored is inside, for lines that are longer than twice the reach.
    if (begin < 0 || end > size)
    {
      end = std::max(end, -begin + 1);
      begin = std::min(begin, 2 * (size - 1) - end + 1);
    }
    begin = std::max<std::int64_t>(begin, 0);
    end = std::min(end, size);
    const std::int64_t margin = plan.hasPoles ? margins[plan.formula.order] : 0;
    plan.boxIndex[axis] = begin;
    plan.boxSize[axis] = end - begin;
    plan.paddedIndex[axis] = std::max<std::int64_t>(begin - margin, 0);
    plan.paddedSize[axis] = std::min(end + margin, size) - plan.paddedIndex[axis];
    const bool isFiltered = plan.hasPoles && axis < static_cast<int>(job.dimension);
    plan.filters[axis] = MakeFilter(isFiltered ? plan.formula.order : 0, plan.paddedSize[axis]);
  }
}

void
VerifyOutput(const ResampleImageJob & job)
{
  std::ostringstream message;
  message.precision(17);
  if (job.outputType != job.pixelType && job.outputType != PixelType::Float && job.outputType != PixelType::Double)
  {
    message << "The output type is " << job.outputType << ", but must be the pixel type, " << job.pixelType
            << ", Float or Double.";
    Throw(message);
  }
  VisitPixelType(job.outputType, [&](auto pixel) {
    using T = decltype(pixel);
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::is_integer)
    {
      // The maximum of 64 bits is rounded up to a power of two.
      const double above = 2.0 * static_cast<double>(Limits::max() / 2 + 1);
      if (!(job.defaultValue >= static_cast<double>(Limits::lowest()) && job.defaultValue < above &&
            std::floor(job.defaultValue) == job.defaultValue))
      {
        message << "The default value is " << job.defaultValue << ", but must be one of the output type "
                << job.outputType << ": an integer from " << +Limits::lowest() << " to " << +Limits::max() << '.';
        Throw(message);
      }
    }
  });
}
} // namespace

ResamplePlan
MakeResamplePlan(const ResampleImageJob & job)
{
  using InterpolationEnum = ResampleImageJob::InterpolationEnum;
  VerifyEnumerator("The pixel type", job.pixelType, PixelType::Double);
  VerifyEnumerator("The output type", job.outputType, PixelType::Double);
  VerifyEnumerator("The interpolation", job.interpolation, InterpolationEnum::BSpline);
  std::ostringstream message;
  const bool         isSpline = job.interpolation == InterpolationEnum::BSpline;
  if (isSpline && job.splineOrder > maxSplineOrder)
  {
    message << "The order of the B-spline is " << job.splineOrder << ", but must be 0 to " << maxSplineOrder << '.';
    Throw(message);
  }
  if (job.dimension != 2 && job.dimension != 3)
  {
    message << "The dimension is " << job.dimension << ", but must be 2 or 3.";
    Throw(message);
  }
  constexpr std::int64_t largestPixel = sizeof(double);
  VerifyGrid("image", job.inputGrid, job.dimension, largestPixel);
  VerifyGrid("output", job.outputGrid, job.dimension, largestPixel);
  VerifyOutput(job);

  ResamplePlan   plan;
  const Triple & outputSize = job.outputGrid.size;
  plan.numberOfOutputVoxels = outputSize[0] * outputSize[1] * outputSize[2];
  const Triple & size = job.inputGrid.size;
  const bool     hasPixels = size[0] > 0 && size[1] > 0 && size[2] > 0;
  if (plan.numberOfOutputVoxels > 0 && ((hasPixels && job.pixels == nullptr) || job.output == nullptr))
  {
    message << "The output has " << plan.numberOfOutputVoxels << " voxels, but "
            << (job.output == nullptr ? "output" : "pixels") << " is null.";
    Throw(message);
  }
  plan.map = MakeMap(job);
  plan.isSeparable = IsDiagonal(plan.map.toPoint) && IsDiagonal(plan.map.toIndex);
  ResampleFormula & formula = plan.formula;
  formula.isNearest = job.interpolation == InterpolationEnum::NearestNeighbor;
  formula.isLinear = job.interpolation == InterpolationEnum::Linear;
  formula.order = isSpline ? static_cast<int>(job.splineOrder) : formula.isLinear ? 1 : 0;
  std::copy(size.begin(), size.end(), formula.size);
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    formula.numberOfTaps[axis] = axis < job.dimension ? formula.order + 1 : 1;
  }
  plan.isCopy = formula.isNearest && job.outputType == job.pixelType;
  plan.hasPoles = isSpline && job.splineOrder > 1;
  if (plan.numberOfOutputVoxels > 0 && hasPixels)
  {
    SetBoxes(job, plan);
  }
  return plan;
}

std::string
GetResampleMemoryError(const Triple & size)
{
  std::ostringstream message;
  const double bytes = static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]) *
                       static_cast<double>(sizeof(double));
  message << "Resampling needs a part of the image of " << size[0] << " x " << size[1] << " x " << size[2]
          << " voxels in double, " << bytes << " bytes, which do not fit into memory: resample parts of the output.";
  return message.str();
}

void
ThrowNonfinitePixel(const ResampleImageJob & job, std::int64_t number, double value)
{
  const Triple &     size = job.inputGrid.size;
  std::ostringstream message;
  message << "The pixel (" << number % size[0] << ", " << number / size[0] % size[1] << ", "
          << number / size[0] / size[1] << ") is " << value << ", but the B-spline of order " << job.splineOrder
          << " needs finite pixels, since all values depend on each: replace it, or choose Linear.";
  Throw(message);
}
} // namespace voxelmaps
