// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FilterOracle_h
#define FilterOracle_h

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

// Filters by direct sums, which share nothing with the engines.
namespace FilterOracle
{
using Size = std::array<std::int64_t, 3>;

/** Replace each line along an axis. */
template <typename T>
std::vector<T>
FilterAxis(const std::vector<T> & image, const Size & size, unsigned int axis,
           const std::function<T(const std::vector<T> & line, std::int64_t i)> & filter)
{
  std::vector<T>     result(image.size());
  const std::int64_t stride = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
  for (std::size_t v = 0; v < image.size(); ++v)
  {
    const std::int64_t at = static_cast<std::int64_t>(v) / stride % size[axis];
    if (at != 0)
    {
      continue;
    }
    std::vector<T> line;
    for (std::int64_t i = 0; i < size[axis]; ++i)
    {
      line.push_back(image[v + static_cast<std::size_t>(i * stride)]);
    }
    for (std::int64_t i = 0; i < size[axis]; ++i)
    {
      result[v + static_cast<std::size_t>(i * stride)] = filter(line, i);
    }
  }
  return result;
}

/** Sum of exponentially decaying oscillations, as Farneback and Westin fit them to a Gaussian and its derivatives. */
inline long double
Oscillations(unsigned int order, long double x)
{
  constexpr long double a[3][4] = { { 1.3530L, 1.8151L, -0.3531L, 0.0902L },
                                    { -0.6724L, -3.4327L, 0.6724L, 0.6100L },
                                    { -1.3563L, 5.2318L, 0.3446L, -2.2355L } };
  return std::exp(-1.3932L * x) * (a[order][0] * std::cos(0.6681L * x) + a[order][1] * std::sin(0.6681L * x)) +
         std::exp(-1.3732L * x) * (a[order][2] * std::cos(2.0787L * x) + a[order][3] * std::sin(2.0787L * x));
}

/** The impulse response at k >= 0, as far as it matters; that of -k is equal, but for the sign of the first derivative.
 * Its sum, or its response to x or to x^2 / 2, is 1. */
inline std::vector<long double>
GaussianResponse(unsigned int order, long double sigma)
{
  std::vector<long double> response;
  const auto               length = static_cast<int>(60 * sigma) + 60;
  for (int k = 0; k <= length; ++k)
  {
    response.push_back(Oscillations(order, k / sigma));
  }
  const auto moment = [&response](int power) {
    long double sum = power == 0 ? response[0] : 0;
    for (std::size_t k = 1; k < response.size(); ++k)
    {
      sum += 2 * std::pow(static_cast<long double>(k), power) * response[k];
    }
    return sum;
  };
  long double scale = 1;
  if (order == 0)
  {
    scale = moment(0);
  }
  else if (order == 1)
  {
    response[0] = 0;
    scale = moment(1);
  }
  else
  {
    const std::vector<long double> gaussian = GaussianResponse(0, sigma);
    const long double              constant = moment(0);
    for (std::size_t k = 0; k < response.size(); ++k)
    {
      response[k] -= constant * gaussian[k];
    }
    scale = moment(2) / 2;
  }
  for (long double & value : response)
  {
    value /= scale;
  }
  return response;
}

/** A Gaussian, or its derivative per voxel; voxels beyond an end are those of the end. */
inline std::vector<long double>
Gaussian(const std::vector<long double> & image, const Size & size, unsigned int axis, unsigned int order,
         long double sigma)
{
  const std::vector<long double> response = GaussianResponse(order, sigma);
  return FilterAxis<long double>(image, size, axis, [&](const std::vector<long double> & line, std::int64_t i) {
    const auto last = static_cast<std::int64_t>(line.size()) - 1;
    const auto at = [&](std::int64_t k) {
      return line[static_cast<std::size_t>(std::min(std::max<std::int64_t>(k, 0), last))];
    };
    long double sum = response[0] * at(i);
    for (std::size_t k = 1; k < response.size(); ++k)
    {
      const auto distance = static_cast<std::int64_t>(k);
      sum += response[k] * (order == 1 ? at(i + distance) - at(i - distance) : at(i + distance) + at(i - distance));
    }
    return sum;
  });
}

/** The voxel that a boundary has, found by walking: 0 Zero, 1 Nearest, 2 Periodic, 3 Mirror, 4 MirrorWithoutEdge. */
template <typename T>
T
BoundaryVoxel(const std::vector<T> & line, std::int64_t i, unsigned int boundary)
{
  const auto length = static_cast<std::int64_t>(line.size());
  while (i < 0 || i >= length)
  {
    switch (boundary)
    {
      case 0:
        return 0;
      case 1:
        i += i < 0 ? 1 : -1;
        break;
      case 2:
        i += i < 0 ? length : -length;
        break;
      case 3:
        i = i < 0 ? -1 - i : 2 * length - 1 - i;
        break;
      default:
        i = length == 1 ? 0 : i < 0 ? -i : 2 * length - 2 - i;
    }
  }
  return line[static_cast<std::size_t>(i)];
}

/** A convolution in the documented order. */
template <typename T>
std::vector<T>
Convolve(const std::vector<T> & image, const Size & size, unsigned int axis, const std::vector<double> & kernel,
         std::int64_t origin, unsigned int boundary)
{
  return FilterAxis<T>(image, size, axis, [&](const std::vector<T> & line, std::int64_t i) {
    std::vector<std::int64_t> order, beyond;
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(kernel.size()); ++j)
    {
      const bool isBeyond = boundary == 2 && i + origin - j >= static_cast<std::int64_t>(line.size());
      isBeyond ? static_cast<void>(beyond.insert(beyond.begin(), j)) : order.push_back(j);
    }
    beyond.insert(beyond.end(), order.begin(), order.end());
    T sum = 0;
    for (const std::int64_t j : beyond)
    {
      const T product =
        static_cast<T>(kernel[static_cast<std::size_t>(j)]) * BoundaryVoxel(line, i + origin - j, boundary);
      sum += product;
    }
    return sum;
  });
}
} // namespace FilterOracle

#endif // FilterOracle_h
