// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "GrayLevelDiscretizationCases.h"
#include "TestedProcessor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

// Gray levels of pixels of several types, with masks.
namespace
{
using namespace VoxelMapsGolden;
using namespace GrayLevelDiscretizationCases;

/** Draw what the method uses. */
Parameters
DrawParameters(Method method, Draws & draws)
{
  Parameters         parameters;
  const unsigned int levels =
    method == Method::Identity ? 61 : draws.OneOf<unsigned int>({ 1, 2, 7, 16, 32, 64, 255, 1000, 65535 });
  const double binWidth = draws.OneOf<double>({ 0.3, 1.0, 2.5, 7.0, 25.0, 100.0 });
  parameters.method = method;
  parameters.rangeSource = static_cast<RangeSource>(draws.Below(3));
  const double minimum = draws.OneOf<double>({ -250.5, 0.0, 10.0 });
  const double maximum = draws.OneOf<double>({ 11.0, 100.25, 255.0, 1200.0 });
  if (method == Method::FixedBinNumber || method == Method::Identity)
  {
    parameters.numberOfGrayLevels = levels;
  }
  else
  {
    parameters.binWidth = binWidth;
  }
  if (method != Method::Identity && parameters.rangeSource == RangeSource::Given)
  {
    parameters.rangeMinimum = minimum;
    parameters.rangeMaximum = maximum;
  }
  return parameters;
}

template <typename TPixel>
void
CheckLevels(GoldenGroup & group, int dimension)
{
  constexpr bool isReal = std::is_floating_point<TPixel>::value;
  for (int i = 0; i < 8; ++i)
  {
    Draws        draws(group.NextCase());
    const auto   method = static_cast<Method>(i % 4);
    const bool   isIdentity = method == Method::Identity;
    std::int64_t voxels = 1;
    for (int axis = 0; axis < dimension; ++axis)
    {
      voxels *= draws.Between(3, dimension == 2 ? 30 : 11);
      // An index, which jobs do not have.
      draws.Between(-4, 4);
    }
    const std::int64_t  lowest = isIdentity || !std::is_signed<TPixel>::value ? 0 : -700;
    const std::int64_t  greatest = isIdentity ? 60 : sizeof(TPixel) == 1 ? 255 : 900;
    const bool          hasNaN = draws.Percent(50);
    const std::int64_t  run = draws.OneOf<std::int64_t>({ 0, 50, 80 });
    std::vector<TPixel> pixels;
    std::vector<int>    regions;
    for (std::int64_t voxel = 0; voxel < voxels; ++voxel)
    {
      const std::int64_t value = draws.Between(lowest, greatest);
      const double       fraction = isReal && !isIdentity ? static_cast<double>(draws.Below(8)) * 0.125 : 0.0;
      pixels.push_back(voxel > 0 && draws.Percent(run) ? pixels.back()
                                                       : static_cast<TPixel>(static_cast<double>(value) + fraction));
      if (isReal && hasNaN && draws.Percent(3))
      {
        pixels.back() = std::numeric_limits<TPixel>::quiet_NaN();
      }
      regions.push_back(draws.OneOf<int>({ 0, 1, 1, 1, 2, 2 }));
    }
    const auto region = static_cast<int>(draws.Between(1, 2));
    regions[static_cast<std::size_t>(draws.Below(voxels))] = region;
    for (int axis = 0; axis < dimension; ++axis)
    {
      // A spacing.
      draws.OneOf<double>({ 0.5, 1.0, 2.25 });
    }
    const Parameters parameters = DrawParameters(method, draws);
    Mask             mask;
    if (draws.Percent(60))
    {
      std::transform(regions.begin(), regions.end(), std::back_inserter(mask), [region](int each) {
        return static_cast<std::uint8_t>(each == region ? 1 : 0);
      });
    }
    Levels levels(pixels.size());
    Job    job = MakeJob(pixels, mask, parameters);
    job.levels = levels.data();
    job.execution.parallelFor = RunThreads;
    for (const unsigned int workers : { 1u, 3u })
    {
      job.execution.numberOfWorkers = workers;
      const Result result =
        IsCudaTest() ? DiscretizeGrayLevelsCuda(job, voxelmaps::CudaOptions{}) : DiscretizeGrayLevels(job);
      const double used[]{ result.rangeMinimum, result.rangeMaximum, static_cast<double>(result.numberOfGrayLevels) };
      group.Check(std::to_string(workers) + " workers", Hash(used, sizeof(used), Hash(levels)));
    }
  }
}
} // namespace

TEST(GoldenGrayLevelDiscretization, PixelTypes)
{
  GoldenGroup group("GrayLevelDiscretizationFilter");
  CheckLevels<unsigned char>(group, 2);
  CheckLevels<short>(group, 3);
  CheckLevels<unsigned short>(group, 2);
  CheckLevels<float>(group, 2);
  CheckLevels<float>(group, 3);
  CheckLevels<double>(group, 3);
}
