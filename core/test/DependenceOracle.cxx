// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceOracle.h"

#include <algorithm>
#include <cmath>

namespace DependenceOracle
{
namespace
{
using Real = long double;

/** The mean of a function of level and size. */
template <typename TFunction>
Real
Mean(const Matrix & matrix, const TFunction & function)
{
  Real voxels = 0.0L;
  Real sum = 0.0L;
  for (const auto & element : matrix)
  {
    const auto count = static_cast<Real>(element.second);
    voxels += count;
    sum += count * function(static_cast<Real>(element.first.first), static_cast<Real>(element.first.second));
  }
  return sum / voxels;
}

std::uint64_t
NumberOfVoxels(const Matrix & matrix)
{
  std::uint64_t voxels = 0;
  for (const auto & element : matrix)
  {
    voxels += element.second;
  }
  return voxels;
}

/** numerator / denominator, which must be met exactly if the numerator is below 2^53. */
Value
Quotient(Real numerator, std::uint64_t denominator)
{
  Value value;
  value.reference = numerator / static_cast<Real>(denominator);
  value.isExact = numerator < 9007199254740992.0L;
  value.exact = static_cast<double>(numerator) / static_cast<double>(denominator);
  return value;
}

/** The mean of integers, which add up to less than 2^64. */
template <typename TFunction>
Value
IntegerMean(const Matrix & matrix, const TFunction & function)
{
  std::uint64_t sum = 0;
  for (const auto & element : matrix)
  {
    sum += element.second * function(std::uint64_t{ element.first.first }, std::uint64_t{ element.first.second });
  }
  return Quotient(static_cast<Real>(sum), NumberOfVoxels(matrix));
}

/** N^2 times the variance, over N^2. */
template <typename TFunction>
Value
Variance(const Matrix & matrix, const TFunction & function)
{
  const std::uint64_t voxels = NumberOfVoxels(matrix);
  std::uint64_t       sum = 0;
  for (const auto & element : matrix)
  {
    sum += element.second * function(element.first);
  }
  std::uint64_t squares = 0;
  for (const auto & element : matrix)
  {
    squares += element.second * function(element.first) * function(element.first);
  }
  // Products of numbers below 2^16 and 2^48, and of numbers below 2^32.
  return Quotient(static_cast<Real>(voxels * squares - sum * sum), voxels * voxels);
}

/** The sum over all keys of the squared number of voxels with this key, over N^power. */
template <typename TKey>
Value
NonUniformity(const Matrix & matrix, int power, const TKey & key)
{
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const auto & element : matrix)
  {
    counts[key(element.first)] += element.second;
  }
  std::uint64_t squares = 0;
  for (const auto & count : counts)
  {
    squares += count.second * count.second;
  }
  const std::uint64_t voxels = NumberOfVoxels(matrix);
  return Quotient(static_cast<Real>(squares), power == 1 ? voxels : voxels * voxels);
}

Value
Near(Real reference, Real tolerance)
{
  Value value;
  value.reference = reference;
  value.tolerance = tolerance;
  return value;
}

Value
Entropy(const Matrix & matrix)
{
  const auto voxels = static_cast<Real>(NumberOfVoxels(matrix));
  Real       entropy = 0.0L;
  for (const auto & element : matrix)
  {
    const Real p = static_cast<Real>(element.second) / voxels;
    entropy -= p * std::log2(p);
  }
  return Near(entropy, 1e-12L);
}

/** A mean with 1 / i^2 or 1 / j^2, for which fixed-point numbers have at least 55 bits. */
template <typename TFunction>
Value
InverseMean(const Matrix & matrix, const TFunction & function)
{
  std::uint32_t greatest = 0;
  for (const auto & element : matrix)
  {
    greatest = std::max({ greatest, element.first.first, element.first.second });
  }
  const Real mean = Mean(matrix, function);
  return Near(mean,
              std::fabs(mean) * static_cast<Real>(greatest) * static_cast<Real>(greatest) * std::ldexp(1.0L, -55));
}
} // namespace

Matrix
MakeMatrix(const Levels & levels, const Window & window, const Triple & position, const Parameters & parameters)
{
  std::map<Triple, std::uint32_t> voxels;
  Triple                          at;
  for (std::int64_t i = 0; i < window.size[0] * window.size[1] * window.size[2]; ++i)
  {
    const Triple inWindow{
      { i % window.size[0], i / window.size[0] % window.size[1], i / (window.size[0] * window.size[1]) }
    };
    bool isInside = true;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      at[axis] = position[axis] - window.anchor[axis] + inWindow[axis];
      isInside = isInside && at[axis] >= 0 && at[axis] < levels.size[axis];
    }
    if (isInside && levels(at) != 0)
    {
      voxels[at] = levels(at);
    }
  }
  Matrix matrix;
  for (const auto & voxel : voxels)
  {
    std::uint32_t size = 1;
    for (const Triple & offset : parameters.offsets)
    {
      for (const std::int64_t sign : { -1, 1 })
      {
        const auto neighbor = voxels.find({ { voxel.first[0] + sign * offset[0],
                                              voxel.first[1] + sign * offset[1],
                                              voxel.first[2] + sign * offset[2] } });
        if (neighbor != voxels.end())
        {
          const std::uint32_t greater = std::max(voxel.second, neighbor->second);
          const std::uint32_t lesser = std::min(voxel.second, neighbor->second);
          size += greater - lesser <= parameters.alpha ? 1 : 0;
        }
      }
    }
    ++matrix[{ voxel.second, size }];
  }
  return matrix;
}

Value
ComputeFeature(Feature feature, const Matrix & matrix)
{
  using Key = Matrix::key_type;
  const auto getLevel = [](const Key & key) { return std::uint64_t{ key.first }; };
  const auto getSize = [](const Key & key) { return std::uint64_t{ key.second }; };
  switch (feature)
  {
    case Feature::SmallDependenceEmphasis:
      return InverseMean(matrix, [](Real, Real j) { return 1.0L / (j * j); });
    case Feature::LargeDependenceEmphasis:
      return IntegerMean(matrix, [](std::uint64_t, std::uint64_t j) { return j * j; });
    case Feature::GrayLevelNonUniformity:
      return NonUniformity(matrix, 1, getLevel);
    case Feature::DependenceNonUniformity:
      return NonUniformity(matrix, 1, getSize);
    case Feature::DependenceNonUniformityNormalized:
      return NonUniformity(matrix, 2, getSize);
    case Feature::GrayLevelVariance:
      return Variance(matrix, getLevel);
    case Feature::DependenceVariance:
      return Variance(matrix, getSize);
    case Feature::DependenceEntropy:
      return Entropy(matrix);
    case Feature::LowGrayLevelEmphasis:
      return InverseMean(matrix, [](Real i, Real) { return 1.0L / (i * i); });
    case Feature::HighGrayLevelEmphasis:
      return IntegerMean(matrix, [](std::uint64_t i, std::uint64_t) { return i * i; });
    case Feature::SmallDependenceLowGrayLevelEmphasis:
      return InverseMean(matrix, [](Real i, Real j) { return 1.0L / (i * i * j * j); });
    case Feature::SmallDependenceHighGrayLevelEmphasis:
      return InverseMean(matrix, [](Real i, Real j) { return i * i / (j * j); });
    case Feature::LargeDependenceLowGrayLevelEmphasis:
      return InverseMean(matrix, [](Real i, Real j) { return j * j / (i * i); });
    case Feature::LargeDependenceHighGrayLevelEmphasis:
      // Without overflow for sizes below 2^8.
      return IntegerMean(matrix, [](std::uint64_t i, std::uint64_t j) { return i * i * j * j; });
  }
  return {};
}
} // namespace DependenceOracle
