// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FilterOracle_h
#define FilterOracle_h

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
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

/** Parameters of a Gabor filter. */
struct Gabor
{
  std::array<std::size_t, 2> axes;
  double                     sigma, wavelength, gamma, angle;
  unsigned int               boundary;
};

/** The modulus of a Gabor filter in the documented order. */
template <typename T>
std::vector<T>
FilterGabor(const std::vector<T> & image, const Size & size, const std::array<double, 3> & spacing, const Gabor & gabor)
{
  struct Tap
  {
    std::int64_t i, j;
    T            even, odd;
  };
  std::vector<Tap> taps;
  const auto [first, second] = gabor.axes;
  const double extent = 6 * gabor.sigma * std::max(1.0, 1 / gabor.gamma);
  const auto   reach = static_cast<std::int64_t>(extent / std::min(spacing[first], spacing[second])) + 2;
  for (std::int64_t j = -reach; j <= 0; ++j)
  {
    for (std::int64_t i = -reach; i <= reach && (j < 0 || i < 0); ++i)
    {
      const double x = static_cast<double>(i) * spacing[first];
      const double y = static_cast<double>(j) * spacing[second];
      const double along = x * std::cos(gabor.angle) + y * std::sin(gabor.angle);
      const double across = y * std::cos(gabor.angle) - x * std::sin(gabor.angle);
      const double u = along / gabor.sigma;
      const double v = gabor.gamma * across / gabor.sigma;
      const double exponent = (u * u + v * v) / 2;
      const double phase = 2 * 3.14159265358979323846 * (along / gabor.wavelength);
      if (exponent <= 18)
      {
        taps.push_back({ i,
                         j,
                         static_cast<T>(std::exp(-exponent) * std::cos(phase)),
                         static_cast<T>(std::exp(-exponent) * std::sin(phase)) });
      }
    }
  }
  // Where voxels are along the axes, from -reach on, counted from 1; 0 beyond the ends.
  std::array<std::vector<std::int64_t>, 2> places;
  for (std::size_t d = 0; d < 2; ++d)
  {
    std::vector<std::int64_t> line(static_cast<std::size_t>(size[gabor.axes[d]]));
    std::iota(line.begin(), line.end(), 1);
    for (std::int64_t i = -reach; i < size[gabor.axes[d]] + reach; ++i)
    {
      places[d].push_back(BoundaryVoxel(line, i, gabor.boundary));
    }
  }
  const auto at = [&](std::array<std::int64_t, 3> index, std::int64_t i, std::int64_t j) {
    index[first] = places[0][static_cast<std::size_t>(index[first] + i + reach)] - 1;
    index[second] = places[1][static_cast<std::size_t>(index[second] + j + reach)] - 1;
    return index[first] < 0 || index[second] < 0
             ? T{ 0 }
             : image[static_cast<std::size_t>((index[2] * size[1] + index[1]) * size[0] + index[0])];
  };
  std::vector<T> result;
  for (std::int64_t number = 0; number < static_cast<std::int64_t>(image.size()); ++number)
  {
    const std::array<std::int64_t, 3> index{ number % size[0], number / size[0] % size[1], number / size[0] / size[1] };
    T                                 even = image[static_cast<std::size_t>(number)];
    T                                 odd = 0;
    for (const Tap & tap : taps)
    {
      const T before = at(index, tap.i, tap.j);
      const T behind = at(index, -tap.i, -tap.j);
      const T evenProduct = tap.even * (before + behind);
      const T oddProduct = tap.odd * (before - behind);
      even += evenProduct;
      odd += oddProduct;
    }
    const double evenSquare = static_cast<double>(even) * static_cast<double>(even);
    const double oddSquare = static_cast<double>(odd) * static_cast<double>(odd);
    result.push_back(static_cast<T>(std::sqrt(evenSquare + oddSquare)));
  }
  return result;
}
} // namespace FilterOracle

#endif // FilterOracle_h
