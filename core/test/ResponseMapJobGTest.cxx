// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "FilterOracle.h"
#include "TestedProcessor.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/CudaArrays.h"
#include "voxelmaps/ResponseMapJob.h"
#include "voxelmaps/ThreadPool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace
{
using voxelmaps::FilterBoundary;
using voxelmaps::ResponseMapJob;
using voxelmaps::Triple;
using Filter = voxelmaps::ResponseMapEnums::Filter;
using Pooling = voxelmaps::ResponseMapEnums::Pooling;
using VoxelMapsTest::IsCudaTest;
using VoxelMapsTest::RandomNumbers;
using Kernel = std::vector<double>;
using Kernels = std::vector<Kernel>;
using Values = std::vector<double>;

void
Compute(const ResponseMapJob & job)
{
  IsCudaTest() ? voxelmaps::ComputeResponseMapCuda(job, {}) : voxelmaps::ComputeResponseMap(job);
}

/** The map of a job on the processor that is tested. On a device, that of the CPU has the same bits. */
template <typename T = double>
std::vector<T>
GetMap(ResponseMapJob job)
{
  std::vector<T> map(static_cast<std::size_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]), T{ -7 });
  job.output = map.data();
  job.outputIsDouble = sizeof(T) == sizeof(double);
  Compute(job);
  if (IsCudaTest())
  {
    std::vector<T> expected(map.size());
    job.output = expected.data();
    voxelmaps::ComputeResponseMap(job);
    EXPECT_TRUE(VoxelMapsTest::HasSameBits(map, expected));
  }
  return map;
}

template <typename T>
ResponseMapJob
MakeJob(const std::vector<T> & pixels, const Triple & size)
{
  ResponseMapJob job;
  job.pixels = pixels.data();
  job.pixelType = voxelmaps::GetPixelType<T>();
  job.size = job.outputSize = size;
  return job;
}

Values
MakeNoise(RandomNumbers & random, const Triple & size)
{
  Values pixels(static_cast<std::size_t>(size[0] * size[1] * size[2]));
  for (double & pixel : pixels)
  {
    pixel = static_cast<double>(random.Between(-120, 120)) / 7;
  }
  return pixels;
}

Triple
MakeSize(RandomNumbers & random)
{
  return { { random.Between(1, 14), random.Between(1, 14), random.Between(1, 14) } };
}

/** Centered convolutions along x, y and z by direct sums. */
Values
Convolve(Values values, const Triple & size, const Kernels & kernels, FilterBoundary boundary)
{
  for (unsigned int axis = 0; axis < kernels.size(); ++axis)
  {
    const auto origin = static_cast<std::int64_t>(kernels[axis].size() / 2);
    values = FilterOracle::Convolve(values, size, axis, kernels[axis], origin, static_cast<unsigned int>(boundary));
  }
  return values;
}

Kernel
Scale(Kernel kernel, double squaredNorm)
{
  for (double & value : kernel)
  {
    value /= std::sqrt(squaredNorm);
  }
  return kernel;
}

/** All matrices that exchange and turn axes and have the determinant 1, row by row. */
std::vector<std::array<int, 9>>
MakeRotations(std::size_t axes)
{
  std::vector<std::array<int, 9>> rotations;
  for (int number = 0; number < 19683; ++number)
  {
    std::array<int, 9> m{};
    int                rest = number;
    int                entries = 0;
    for (int & entry : m)
    {
      entry = rest % 3 - 1;
      entries += std::abs(entry);
      rest /= 3;
    }
    const int determinant =
      m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    if (entries == 3 && determinant == 1 && (axes == 3 || m[8] == 1))
    {
      rotations.push_back(m);
    }
  }
  return rotations;
}

/** The maximum of the responses to cascades of kernels, all of which are rotated together. */
Values
PoolMaximum(const Values & pixels, const Triple & size, const std::vector<Kernels> & cascade, FilterBoundary boundary)
{
  Values     pooled;
  const auto rotations = MakeRotations(cascade[0].size());
  EXPECT_EQ(cascade[0].size() == 3 ? 24u : 4u, rotations.size());
  for (const std::array<int, 9> & m : rotations)
  {
    Values response = pixels;
    for (const Kernels & kernels : cascade)
    {
      Kernels turned(kernels.size());
      for (std::size_t row = 0; row < kernels.size(); ++row)
      {
        for (std::size_t column = 0; column < kernels.size(); ++column)
        {
          if (m[row * 3 + column] != 0)
          {
            turned[row] = kernels[column];
            if (m[row * 3 + column] < 0)
            {
              std::reverse(turned[row].begin(), turned[row].end());
            }
          }
        }
      }
      response = Convolve(response, size, turned, boundary);
    }
    for (std::size_t v = 0; v < response.size(); ++v)
    {
      response[v] = pooled.empty() ? response[v] : std::max(pooled[v], response[v]);
    }
    pooled = response;
  }
  return pooled;
}

/** A job of random parameters, which are valid. */
ResponseMapJob
MakeRandomJob(RandomNumbers & random, const Values & pixels, const Triple & size)
{
  ResponseMapJob job = MakeJob(pixels, size);
  auto &         p = job.parameters;
  job.spacing = { { 0.5, 1.0, 2.0 } };
  p.filter = static_cast<Filter>(random.Below(5));
  p.boundary = static_cast<FilterBoundary>(random.Below(5));
  p.filterDimension = random.Chance(0.5) ? 2 : 3;
  const std::size_t dimension = p.filterDimension;
  switch (p.filter)
  {
    case Filter::Mean:
      p.supportSize = static_cast<unsigned int>(2 * random.Below(5) + 1);
      break;
    case Filter::LaplacianOfGaussian:
      p.sigma = static_cast<double>(random.Between(3, 20)) / 10;
      p.cutoff = random.Chance(0.5) ? 4.0 : 2.5;
      break;
    case Filter::Laws:
      p.kernels = std::string("S3E5R5").substr(0, 2 * dimension);
      p.computeEnergy = random.Chance(0.7);
      p.energyDistance = p.computeEnergy ? static_cast<unsigned int>(random.Below(4)) : 7;
      break;
    case Filter::Gabor:
      p.sigma = static_cast<double>(random.Between(3, 10)) / 10;
      p.wavelength = 1.5;
      p.gamma = 0.75;
      p.angleStep = random.Chance(0.5) ? 1.0 : 0.0;
      break;
    case Filter::Wavelet:
      p.wavelet = random.Chance(0.5) ? "haar" : "db3";
      p.subband = std::string("LHH").substr(0, dimension);
      p.level = static_cast<unsigned int>(random.Between(1, 3));
      break;
  }
  if (p.filter == Filter::Laws || p.filter == Filter::Wavelet)
  {
    p.pooling = static_cast<Pooling>(random.Below(3));
  }
  return job;
}

std::vector<double>
Crop(const Values & values, const Triple & size, const Triple & index, const Triple & count)
{
  Values result;
  for (std::int64_t z = index[2]; z < index[2] + count[2]; ++z)
  {
    for (std::int64_t y = index[1]; y < index[1] + count[1]; ++y)
    {
      const auto row = values.begin() + (z * size[1] + y) * size[0] + index[0];
      result.insert(result.end(), row, row + count[0]);
    }
  }
  return result;
}
} // namespace

TEST(ResponseMapJob, SmallCasesAreSumsInOrder)
{
  RandomNumbers random(1);
  for (int round = 0; round < 40; ++round)
  {
    const Triple   size = MakeSize(random);
    const Values   pixels = MakeNoise(random, size);
    ResponseMapJob valid = MakeJob(pixels, size);
    valid.parameters.boundary = static_cast<FilterBoundary>(random.Below(5));
    valid.parameters.filterDimension = random.Chance(0.5) ? 2 : 3;
    const FilterBoundary boundary = valid.parameters.boundary;
    const std::size_t    dimension = valid.parameters.filterDimension;
    const auto           cut = [dimension](Kernels kernels) {
      kernels.resize(dimension);
      return kernels;
    };
    SCOPED_TRACE(testing::Message() << round << ": " << boundary << ", " << dimension);

    ResponseMapJob job = valid;
    job.parameters.supportSize = 3;
    EXPECT_EQ(GetMap(job), Convolve(pixels, size, Kernels(dimension, Kernel(3, 1.0 / 3.0)), boundary));

    job = valid;
    job.parameters.filter = Filter::Laws;
    job.parameters.kernels = std::string("E5S3R5").substr(0, 2 * dimension);
    const Kernels laws =
      cut({ Scale({ -1, -2, 0, 2, 1 }, 10), Scale({ -1, 2, -1 }, 6), Scale({ 1, -4, 6, -4, 1 }, 70) });
    EXPECT_EQ(GetMap(job), Convolve(pixels, size, laws, boundary));
    job.parameters.pooling = Pooling::Maximum;
    Values pooled = PoolMaximum(pixels, size, { laws }, boundary);
    EXPECT_EQ(GetMap(job), pooled);
    job.parameters.computeEnergy = true;
    job.parameters.energyDistance = 2;
    for (double & value : pooled)
    {
      value = std::abs(value);
    }
    const Values energy = Convolve(pooled, size, Kernels(dimension, Kernel(5, 0.2)), boundary);
    EXPECT_EQ(GetMap(job), energy);
    EXPECT_EQ(GetMap<float>(job), std::vector<float>(energy.begin(), energy.end()));

    job = valid;
    job.parameters.filter = Filter::Wavelet;
    job.parameters.wavelet = "haar";
    job.parameters.subband = std::string("HLH").substr(0, dimension);
    job.parameters.level = 2;
    const double               r = 0.7071067811865476;
    const Kernel               low{ r, r, 0 }, wideLow{ r, 0, r, 0, 0 }, wideHigh{ -r, 0, r, 0, 0 };
    const std::vector<Kernels> cascade{ cut({ low, low, low }), cut({ wideHigh, wideLow, wideHigh }) };
    EXPECT_EQ(GetMap(job), Convolve(Convolve(pixels, size, cascade[0], boundary), size, cascade[1], boundary));
    job.parameters.pooling = Pooling::Maximum;
    EXPECT_EQ(GetMap(job), PoolMaximum(pixels, size, cascade, boundary));
    // The same filters, by their numbers.
    job.parameters.wavelet = "coif1";
    job.parameters.lowPassFilter = { r, r };
    EXPECT_EQ(GetMap(job), PoolMaximum(pixels, size, cascade, boundary));
    job.parameters.highPassFilter = { -r, r };
    EXPECT_EQ(GetMap(job), PoolMaximum(pixels, size, cascade, boundary));
  }
}

/** Response to an impulse, by hand: the mean of the different rotations, of which a symmetric kernel has fewer. */
TEST(ResponseMapJob, MeanOfRotationsOfAnImpulse)
{
  Values pixels(25, 0.0);
  pixels[12] = 12.0;
  ResponseMapJob job = MakeJob(pixels, { { 5, 5, 1 } });
  job.parameters.filter = Filter::Laws;
  job.parameters.filterDimension = 2;
  job.parameters.kernels = "E3L3";
  job.parameters.boundary = FilterBoundary::Zero;
  job.parameters.pooling = Pooling::Mean;
  // The rotations have -1 0 1 along x or y, in both directions, so that opposite ones cancel each other.
  for (const double value : GetMap(job))
  {
    EXPECT_NEAR(0.0, value, 1e-15);
  }
  job.parameters.kernels = "S3L3";
  const double scale = 12.0 / 6.0;
  const Values map = GetMap(job);
  // (-1 2 -1) x (1 2 1) and its transpose: corners -1, edges (-2 + 2) / 2, center 4.
  EXPECT_NEAR(-scale, map[6], 1e-14);
  EXPECT_NEAR(0.0, map[7], 1e-14);
  EXPECT_NEAR(4 * scale, map[12], 1e-14);
  EXPECT_EQ(0.0, map[0]);
}

/** Response to an impulse, by hand: the modulus is the envelope, which is wider across the wave. */
TEST(ResponseMapJob, GaborFiltersOfAnImpulse)
{
  const Triple size{ { 9, 9, 9 } };
  Values       pixels(729, 0.0);
  pixels[364] = 1.0;
  ResponseMapJob job = MakeJob(pixels, size);
  job.spacing = { { 0.5, 1.0, 1.0 } };
  job.parameters.filter = Filter::Gabor;
  job.parameters.boundary = FilterBoundary::Zero;
  job.parameters.sigma = 1.5;
  job.parameters.wavelength = 3.0;
  job.parameters.gamma = 0.5;
  Values map = GetMap(job);
  EXPECT_NEAR(1.0, map[364], 1e-15);
  EXPECT_NEAR(std::exp(-(1.0 + 0.25 * 4.0) / 4.5), map[364 + 2 + 2 * 9], 1e-15);
  EXPECT_EQ(0.0, map[364 + 81]);
  // Along x and y, and in three planes, of which two have the direction of z.
  job.parameters.angleStep = 1.5707963267948966;
  map = GetMap(job);
  EXPECT_NEAR(1.0, map[364], 1e-15);
  EXPECT_NEAR(2.0 * (std::exp(-1.0 / 4.5) + std::exp(-0.25 / 4.5)) / 6.0, map[364 + 81], 1e-15);
  job.parameters.filterDimension = 2;
  map = GetMap(job);
  EXPECT_EQ(0.0, map[364 + 81]);
  EXPECT_NEAR((std::exp(-4.0 / 4.5) + std::exp(-1.0 / 4.5)) / 2.0, map[364 + 2 * 9], 1e-15);
}

/** The integral of the kernel times x^2 + y^2 + z^2 is 6: the Laplacian of this is 6. */
TEST(ResponseMapJob, LaplacianOfQuadraticFunction)
{
  const Triple size{ { 61, 45, 31 } };
  Values       pixels;
  for (std::int64_t v = 0; v < size[0] * size[1] * size[2]; ++v)
  {
    const auto p = VoxelMapsTest::GetPosition(v, size);
    pixels.push_back(0.25 * static_cast<double>(p[0] * p[0]) + static_cast<double>(p[1] * p[1]) +
                     4.0 * static_cast<double>(p[2] * p[2]));
  }
  ResponseMapJob job = MakeJob(pixels, size);
  job.parameters.filter = Filter::LaplacianOfGaussian;
  job.parameters.sigma = 2.5;
  job.parameters.cutoff = 6.0;
  job.outputIndex = { { 30, 22, 15 } };
  job.outputSize = { { 1, 1, 1 } };
  job.spacing = { { 1.0, 1.0, 1.0 } };
  EXPECT_NEAR(10.5, GetMap(job)[0], 1e-4);
  // The derivatives are those per voxel of voxels of half the size, and sigma is a length.
  job.parameters.sigma = 1.25;
  job.spacing = { { 0.5, 0.5, 0.5 } };
  EXPECT_NEAR(10.5, GetMap(job)[0], 1e-4);
  job.parameters.filterDimension = 2;
  EXPECT_NEAR(2.5, GetMap(job)[0], 1e-4);
}

TEST(ResponseMapJob, DoesNotDependOnWorkersOrRegions)
{
  RandomNumbers random(2);
  for (int round = 0; round < 120; ++round)
  {
    const Triple   size = MakeSize(random);
    const Values   pixels = MakeNoise(random, size);
    ResponseMapJob job = MakeRandomJob(random, pixels, size);
    const Values   all = GetMap(job);
    for (std::size_t d = 0; d < 3; ++d)
    {
      job.outputIndex[d] = random.Below(size[d]);
      job.outputSize[d] = random.Between(1, size[d] - job.outputIndex[d]);
    }
    const Values expected = Crop(all, size, job.outputIndex, job.outputSize);
    SCOPED_TRACE(testing::Message() << round << ": " << job.parameters.filter << ", " << job.parameters.boundary);
    EXPECT_EQ(GetMap(job), expected);

    // The part that it needs is enough.
    ResponseMapJob part = job;
    part.pixels = nullptr;
    const auto   input = voxelmaps::GetResponseMapInput(part);
    const Values inputPixels = Crop(pixels, size, input.index, input.size);
    part.pixels = inputPixels.data();
    part.size = input.size;
    for (std::size_t d = 0; d < 3; ++d)
    {
      part.outputIndex[d] -= input.index[d];
      ASSERT_GE(part.outputIndex[d], 0);
    }
    part.execution.numberOfWorkers = 3;
    part.execution.parallelFor = voxelmaps::GetThreadPool();
    EXPECT_EQ(GetMap(part), expected);
  }
}

TEST(ResponseMapJob, DoesNotDependOnTheRoundingModeOfTheCaller)
{
  RandomNumbers random(5);
  for (int round = 0; round < 40; ++round)
  {
    const Triple         size = MakeSize(random);
    const Values         pixels = MakeNoise(random, size);
    const ResponseMapJob job = MakeRandomJob(random, pixels, size);
    const Values         expected = GetMap(job);
    std::fesetround(FE_UPWARD);
    const Values found = GetMap(job);
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(VoxelMapsTest::HasSameBits(found, expected)) << round << ": " << job.parameters.filter;
  }
}

/** Filters of slabs at the ends do not read the entire image, except where it begins again. */
TEST(ResponseMapJob, ReadsAsFarAsKernelsReach)
{
  ResponseMapJob job;
  job.size = { { 20, 20, 100 } };
  job.outputSize = { { 20, 20, 10 } };
  job.parameters.filter = Filter::Laws;
  job.parameters.kernels = "L5L5L3";
  job.parameters.computeEnergy = true;
  job.parameters.pooling = Pooling::Maximum;
  job.outputIndex = { { 0, 0, 40 } };
  for (const auto boundary : { FilterBoundary::Zero, FilterBoundary::Mirror, FilterBoundary::Periodic })
  {
    job.parameters.boundary = boundary;
    // 7 voxels of the energy, and 2 of the longest kernel.
    EXPECT_EQ((Triple{ { 0, 0, 31 } }), voxelmaps::GetResponseMapInput(job).index);
    EXPECT_EQ((Triple{ { 20, 20, 28 } }), voxelmaps::GetResponseMapInput(job).size);
  }
  job.outputIndex = { { 0, 0, 90 } };
  EXPECT_EQ((Triple{ { 20, 20, 100 } }), voxelmaps::GetResponseMapInput(job).size);
  job.parameters.boundary = FilterBoundary::Mirror;
  EXPECT_EQ((Triple{ { 0, 0, 81 } }), voxelmaps::GetResponseMapInput(job).index);
}

TEST(ResponseMapJob, NotANumberSpreadsAsFarAsTheKernel)
{
  Values pixels(49, 1.0);
  pixels[24] = std::numeric_limits<double>::quiet_NaN();
  ResponseMapJob job = MakeJob(pixels, { { 7, 7, 1 } });
  job.parameters.filter = Filter::Wavelet;
  job.parameters.wavelet = "haar";
  job.parameters.subband = "LH";
  job.parameters.filterDimension = 2;
  job.parameters.pooling = Pooling::Maximum;
  const Values map = GetMap(job);
  for (std::int64_t v = 0; v < 49; ++v)
  {
    const bool isNear = std::abs(v % 7 - 3) <= 1 && std::abs(v / 7 - 3) <= 1;
    EXPECT_EQ(isNear, std::isnan(map[static_cast<std::size_t>(v)])) << v;
  }
}

TEST(ResponseMapJob, ReportsProgressAndCanBeAborted)
{
  RandomNumbers random(3);
  for (int round = 0; round < 12; ++round)
  {
    const Triple   size = MakeSize(random);
    const Values   pixels = MakeNoise(random, size);
    ResponseMapJob job = MakeRandomJob(random, pixels, size);
    Values         output(pixels.size());
    job.output = output.data();
    job.outputIsDouble = true;
    std::atomic<std::uint64_t> reported{ 0 };
    job.execution.reportProgress = [&reported](std::uint64_t voxels) { reported += voxels; };
    Compute(job);
    EXPECT_EQ(reported, output.size()) << round;
    int left = static_cast<int>(random.Below(5));
    job.execution.reportProgress = [&left](std::uint64_t) {
      if (left-- == 0)
      {
        throw VoxelMapsTest::Aborted();
      }
    };
    EXPECT_THROW(Compute(job), VoxelMapsTest::Aborted) << round;
  }
}

TEST(ResponseMapJob, RefusesInvalidJobs)
{
  const std::vector<float> pixels(60);
  std::vector<float>       output(60);
  const auto expectError = [&](Filter filter, const std::vector<std::string> & words, const auto & change) {
    ResponseMapJob job = MakeJob(pixels, { { 5, 4, 3 } });
    job.output = output.data();
    auto & p = job.parameters;
    p.filter = filter;
    p.sigma = filter == Filter::LaplacianOfGaussian || filter == Filter::Gabor ? 1.0 : 0.0;
    p.wavelength = filter == Filter::Gabor ? 2.0 : 0.0;
    p.kernels = filter == Filter::Laws ? "E5L5S5" : "";
    p.subband = filter == Filter::Wavelet ? "LHL" : "";
    Compute(job);
    change(job, p);
    VoxelMapsTest::ExpectEngineError([&job] { Compute(job); }, words);
    VoxelMapsTest::ExpectEngineError([&job] { voxelmaps::GetResponseMapInput(job); }, words);
  };
  constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
  const auto       log = Filter::LaplacianOfGaussian;
  expectError(Filter::Mean, { "Filter is 9" }, [](auto &, auto & p) { p.filter = static_cast<Filter>(9); });
  expectError(Filter::Mean, { "Boundary is 9" }, [](auto &, auto & p) { p.boundary = static_cast<FilterBoundary>(9); });
  expectError(Filter::Mean, { "Pooling is 9" }, [](auto &, auto & p) { p.pooling = static_cast<Pooling>(9); });
  expectError(Filter::Mean, { "FilterDimension is 1", "2 to 3" }, [](auto &, auto & p) { p.filterDimension = 1; });
  expectError(Filter::Mean, { "SupportSize is 4", "odd" }, [](auto &, auto & p) { p.supportSize = 4; });
  expectError(Filter::Mean, { "SupportSize is 0", "1 to 65535" }, [](auto &, auto & p) { p.supportSize = 0; });
  expectError(Filter::Mean,
              { "Sigma is 2", "no effect on the filter Mean, but on LaplacianOfGaussian and Gabor" },
              [](auto &, auto & p) { p.sigma = 2.0; });
  expectError(log, { "Sigma is 0", "greater than 0" }, [](auto &, auto & p) { p.sigma = 0.0; });
  expectError(log, { "Sigma is nan", "finite" }, [](auto &, auto & p) { p.sigma = notANumber; });
  expectError(log, { "Sigma is 1e+30", "smaller Sigma" }, [](auto &, auto & p) { p.sigma = 1e30; });
  expectError(log, { "Sigma is 1e-170", "not finite" }, [](auto &, auto & p) { p.sigma = 1e-170; });
  expectError(log, { "Cutoff is -1" }, [](auto &, auto & p) { p.cutoff = -1.0; });
  expectError(
    log, { "Pooling is Mean", "but on Laws and Wavelet" }, [](auto &, auto & p) { p.pooling = Pooling::Mean; });
  expectError(log, { "spacing -1" }, [](auto & job, auto &) { job.spacing[1] = -1.0; });
  expectError(Filter::Laws, { "Kernels is 'E5L5'", "3 names", "R5", "such as 'E5L5S5'" }, [](auto &, auto & p) {
    p.kernels = "E5L5";
  });
  expectError(Filter::Laws, { "Kernels is ''" }, [](auto &, auto & p) { p.kernels = ""; });
  expectError(Filter::Laws, { "Kernels is 'E5L5X5'" }, [](auto &, auto & p) { p.kernels = "E5L5X5"; });
  expectError(Filter::Laws, { "EnergyDistance is 3", "ComputeEnergy" }, [](auto &, auto & p) { p.energyDistance = 3; });
  expectError(Filter::Laws, { "EnergyDistance is 40000", "32767" }, [](auto &, auto & p) {
    p.computeEnergy = true;
    p.energyDistance = 40000;
  });
  expectError(Filter::Gabor, { "Wavelength is 0" }, [](auto &, auto & p) { p.wavelength = 0.0; });
  expectError(Filter::Gabor, { "Gamma is nan" }, [](auto &, auto & p) { p.gamma = notANumber; });
  expectError(Filter::Gabor, { "Angle is nan", "radians" }, [](auto &, auto & p) { p.angle = notANumber; });
  expectError(Filter::Gabor, { "AngleStep is -1" }, [](auto &, auto & p) { p.angleStep = -1.0; });
  expectError(Filter::Wavelet, { "Wavelet is 'db4'", "LowPassFilter" }, [](auto &, auto & p) { p.wavelet = "db4"; });
  expectError(Filter::Wavelet, { "Wavelet is 'haar'", "LowPassFilter is a list of 1" }, [](auto &, auto & p) {
    p.wavelet = "haar";
    p.lowPassFilter = { 1.0 };
  });
  expectError(Filter::Wavelet, { "HighPassFilter is a list of 1", "same length" }, [](auto &, auto & p) {
    p.highPassFilter = { 1.0 };
  });
  expectError(Filter::Wavelet, { "not finite" }, [](auto &, auto & p) { p.lowPassFilter = { 1.0, notANumber }; });
  expectError(
    Filter::Wavelet, { "Subband is 'LHX'", "3 letters of H and L" }, [](auto &, auto & p) { p.subband = "LHX"; });
  expectError(Filter::Wavelet, { "Level is 0", "1 to 16" }, [](auto &, auto & p) { p.level = 0; });
  expectError(Filter::Wavelet, { "Level is 16", "lower Level" }, [](auto &, auto & p) {
    p.lowPassFilter.assign(64, 0.5);
    p.level = 16;
  });
  expectError(Filter::Mean, { "index 1 and size 5" }, [](auto & job, auto &) { job.outputIndex[0] = 1; });
}

class CudaResponseMapJob : public VoxelMapsTest::CudaTest
{};

/** Arrays of the device stay there. */
TEST_F(CudaResponseMapJob, SmallCasesInDeviceMemory)
{
  RandomNumbers random(4);
  for (int round = 0; round < 20; ++round)
  {
    const Triple              size = MakeSize(random);
    const Values              pixels = MakeNoise(random, size);
    ResponseMapJob            job = MakeRandomJob(random, pixels, size);
    const Values              expected = GetMap(job);
    const auto                count = static_cast<std::int64_t>(pixels.size());
    const voxelmaps::ArrayBox whole{ { { count, 1, 1 } }, { { 0, 0, 0 } }, { { count, 1, 1 } } };

    voxelmaps::CudaOptions options;
    const auto             input = voxelmaps::AllocateCuda(pixels.size() * sizeof(double), options);
    const auto             output = voxelmaps::AllocateCuda(pixels.size() * sizeof(double), options);
    options.outputLocation = voxelmaps::MemoryLocation::Device;
    voxelmaps::CopyBoxCuda(pixels.data(), whole, input.get(), whole, sizeof(double), {}, options);
    options.inputLocation = voxelmaps::MemoryLocation::Device;
    job.pixels = input.get();
    job.output = output.get();
    job.outputIsDouble = true;
    voxelmaps::ComputeResponseMapCuda(job, options);
    Values found(pixels.size());
    options.outputLocation = voxelmaps::MemoryLocation::Host;
    voxelmaps::CopyBoxCuda(output.get(), whole, found.data(), whole, sizeof(double), {}, options);
    EXPECT_TRUE(VoxelMapsTest::HasSameBits(found, expected)) << round;
  }
}
