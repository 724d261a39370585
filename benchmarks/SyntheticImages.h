// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SyntheticImages_h
#define SyntheticImages_h

#include "Benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace VoxelMapsBenchmarks
{
/** Uniform in [-1, 1), the same on every platform (splitmix64). */
inline double
Noise(std::uint64_t position)
{
  std::uint64_t z = (position + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

/** Call getIntensity(u, v, w, noise) for all voxels, with coordinates from -1 to 1 and nearly normal noise of standard
 * deviation 1. */
template <typename TPixel, typename TGetIntensity>
std::vector<TPixel>
MakeImage(const Triple & size, const TGetIntensity & getIntensity)
{
  std::vector<TPixel> image(static_cast<std::size_t>(GetNumberOfVoxels(size)));
  const auto          center = [](std::int64_t i, std::int64_t n) {
    return (2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(n) - 1.0;
  };
  voxelmaps::ForEachRangeOfVoxels(
    GetNumberOfVoxels(size), MakeExecution(allThreads), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
      {
        const std::int64_t row = i / size[0];
        const auto         position = 4 * static_cast<std::uint64_t>(i);
        const double       noise =
          std::sqrt(0.75) * (Noise(position) + Noise(position + 1) + Noise(position + 2) + Noise(position + 3));
        image[static_cast<std::size_t>(i)] = static_cast<TPixel>(std::lround(getIntensity(
          center(i % size[0], size[0]), center(row % size[1], size[1]), center(row / size[1], size[2]), noise)));
      }
    });
  return image;
}

/** Nested ellipsoids with folds, a bias field and noise, with about the intensities of a T1-weighted head. */
inline std::vector<std::uint8_t>
MakeHead(const Triple & size)
{
  struct Shell
  {
    double radius;
    double intensity;
  };
  // From the outside: scalp, skull, fluid, gray matter, white matter, ventricles; radii relative to the head.
  constexpr Shell shells[] = { { 1.0, 170 }, { 0.93, 25 }, { 0.86, 55 }, { 0.83, 120 }, { 0.75, 165 }, { 0.18, 50 } };
  return MakeImage<std::uint8_t>(size, [&](double u, double v, double w, double noise) {
    u /= 0.85;
    v /= 0.9;
    w /= 0.95;
    const double radius = std::sqrt(u * u + v * v + w * w);
    const double folds = 0.04 * std::sin(22.0 * u) * std::sin(25.0 * v) * std::sin(24.0 * w);
    double       intensity = 0.0;
    for (const Shell & shell : shells)
    {
      const bool isFolded = shell.radius < 0.8 && shell.radius > 0.5;
      intensity = radius + (isFolded ? folds : 0.0) < shell.radius ? shell.intensity : intensity;
    }
    return std::clamp(std::abs(intensity * (1.0 + 0.1 * u + 0.05 * v) + 5.0 * noise), 0.0, 255.0);
  });
}

/** Positions in the CT, in its coordinates from -1 to 1. */
constexpr double ctLiver[3] = { -0.35, -0.1, 0.1 };
constexpr double ctVessel[3] = { -0.25, 0.0, 0.0 };
constexpr double ctBone[3] = { 0.0, 0.55, 0.0 };

/** A body with liver, vessels that branch in it, and spine, in Hounsfield units. */
inline std::vector<std::int16_t>
MakeCT(const Triple & size)
{
  const auto isInEllipsoid = [](double u, double v, double w, const double(&center)[3], const double(&radii)[3]) {
    return std::pow((u - center[0]) / radii[0], 2) + std::pow((v - center[1]) / radii[1], 2) +
             std::pow((w - center[2]) / radii[2], 2) <
           1.0;
  };
  return MakeImage<std::int16_t>(size, [&](double u, double v, double w, double noise) {
    double intensity = -1000.0;
    if (isInEllipsoid(u, v, w, { 0.0, 0.0, 0.0 }, { 0.9, 0.75, 5.0 }))
    {
      intensity = isInEllipsoid(u, v, w, ctBone, { 0.13, 0.13, 5.0 }) ? 500.0 : -60.0;
      if (isInEllipsoid(u, v, w, ctLiver, { 0.45, 0.45, 0.75 }))
      {
        // A trunk along z, and sheets of branches that thin out away from it.
        const double distance = std::hypot(u - ctVessel[0], v - ctVessel[1]);
        const double branch = std::abs(std::sin(9.0 * std::atan2(v - ctVessel[1], u - ctVessel[0]))) * distance +
                              0.1 * std::abs(std::sin(12.0 * w));
        intensity = distance < 0.05 || branch < 0.02 ? 260.0 : 110.0;
      }
    }
    return std::max(intensity + 15.0 * noise, -1024.0);
  });
}
} // namespace VoxelMapsBenchmarks

#endif // SyntheticImages_h
