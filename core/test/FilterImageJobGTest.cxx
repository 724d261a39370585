// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "FilterOracle.h"
#include "TestedProcessor.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/CudaArrays.h"
#include "voxelmaps/FilterImageJob.h"
#include "voxelmaps/ThreadPool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace
{
using voxelmaps::FilterBoundary;
using voxelmaps::FilterCombination;
using voxelmaps::FilteredImage;
using voxelmaps::FilterImageJob;
using voxelmaps::FilterTerm;
using voxelmaps::AxisFilter;
using VoxelMapsTest::IsCudaTest;
using VoxelMapsTest::RandomNumbers;

void
Compute(const FilterImageJob & job)
{
  IsCudaTest() ? voxelmaps::FilterImageCuda(job, {}) : voxelmaps::FilterImage(job);
}

std::size_t
GetOutputVoxels(const FilterImageJob & job)
{
  return static_cast<std::size_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]) * job.images.size();
}

/** The output of a job on the processor that is tested. On a device, that of the CPU has the same bits. */
template <typename T = double>
std::vector<T>
GetOutput(FilterImageJob job)
{
  std::vector<T> output(GetOutputVoxels(job), T{ -7 });
  job.output = output.data();
  job.outputIsDouble = sizeof(T) == sizeof(double);
  Compute(job);
  if (IsCudaTest())
  {
    std::vector<T> expected(output.size());
    job.output = expected.data();
    voxelmaps::FilterImage(job);
    EXPECT_TRUE(VoxelMapsTest::HasSameBits(output, expected));
  }
  return output;
}

template <typename T>
FilterImageJob
MakeJob(const std::vector<T> & pixels, const voxelmaps::Triple & size)
{
  FilterImageJob job;
  job.pixels = pixels.data();
  job.pixelType = voxelmaps::GetPixelType<T>();
  job.size = job.outputSize = size;
  return job;
}

AxisFilter
MakeGaussian(unsigned int axis, double sigma, unsigned int order = 0, bool normalizeAcrossScale = false)
{
  AxisFilter filter;
  filter.axis = axis;
  filter.sigma = sigma;
  filter.order = order;
  filter.normalizeAcrossScale = normalizeAcrossScale;
  return filter;
}

AxisFilter
MakeConvolution(unsigned int axis, const std::vector<double> & kernel, std::int64_t origin, FilterBoundary boundary)
{
  AxisFilter filter;
  filter.axis = axis;
  filter.kernel = kernel;
  filter.origin = origin;
  filter.boundary = boundary;
  return filter;
}

template <typename T = double>
std::vector<T>
MakeNoise(RandomNumbers & random, const voxelmaps::Triple & size)
{
  std::vector<T> pixels(static_cast<std::size_t>(size[0] * size[1] * size[2]));
  for (T & pixel : pixels)
  {
    pixel = static_cast<T>(random.Between(0, 120)) / (std::is_integral<T>::value ? T{ 1 } : T{ 7 });
  }
  return pixels;
}

voxelmaps::Triple
MakeSize(RandomNumbers & random)
{
  voxelmaps::Triple size{ { random.Between(1, 9), random.Between(1, 9), random.Between(1, 9) } };
  size[static_cast<std::size_t>(random.Below(3))] = random.Chance(0.3) ? 1 : random.Between(1, 70);
  return size;
}

AxisFilter
MakeRandomGabor(RandomNumbers & random)
{
  AxisFilter filter;
  filter.secondAxis = static_cast<unsigned int>(random.Between(1, 2));
  filter.axis = static_cast<unsigned int>(random.Below(filter.secondAxis));
  filter.sigma = static_cast<double>(random.Between(1, 30)) / 10;
  filter.wavelength = static_cast<double>(random.Between(5, 60)) / 10;
  filter.gamma = static_cast<double>(random.Between(4, 40)) / 10;
  filter.angle = static_cast<double>(random.Between(-8, 8)) * 0.3926990816987242 * (random.Chance(0.5) ? 1.0 : 1.1);
  filter.boundary = static_cast<FilterBoundary>(random.Below(5));
  return filter;
}

AxisFilter
MakeRandomFilter(RandomNumbers & random)
{
  if (random.Chance(0.2))
  {
    return MakeRandomGabor(random);
  }
  const auto axis = static_cast<unsigned int>(random.Below(3));
  if (random.Chance(0.4))
  {
    const double sigma = static_cast<double>(random.Between(4, 60)) / 10;
    return MakeGaussian(axis, sigma, static_cast<unsigned int>(random.Below(3)), random.Chance(0.5));
  }
  std::vector<double> kernel;
  const std::int64_t  taps = random.Between(1, random.Chance(0.2) ? 40 : 6);
  for (std::int64_t j = 0; j < taps; ++j)
  {
    kernel.push_back(static_cast<double>(random.Between(-40, 40)) / 9);
  }
  return MakeConvolution(axis, kernel, random.Below(taps), static_cast<FilterBoundary>(random.Below(5)));
}

/** Images of random terms, some of which begin with the same filters. */
std::vector<FilteredImage>
MakeRandomImages(RandomNumbers & random)
{
  std::vector<FilteredImage> images(static_cast<std::size_t>(random.Between(1, 3)));
  const AxisFilter           shared = MakeRandomFilter(random);
  for (FilteredImage & image : images)
  {
    image.combination = static_cast<FilterCombination>(random.Below(4));
    image.isAbsolute = random.Chance(0.3);
    for (std::int64_t t = random.Between(1, 3); t > 0; --t)
    {
      FilterTerm term;
      term.factor = static_cast<double>(random.Between(-20, 20)) / 8;
      term.filters.push_back(random.Chance(0.5) ? shared : MakeRandomFilter(random));
      while (random.Chance(0.6))
      {
        term.filters.push_back(MakeRandomFilter(random));
      }
      image.terms.push_back(term);
    }
  }
  return images;
}

void
ChooseOutput(RandomNumbers & random, FilterImageJob & job)
{
  for (std::size_t d = 0; d < 3; ++d)
  {
    job.outputIndex[d] = random.Below(job.size[d]);
    job.outputSize[d] = random.Between(1, job.size[d] - job.outputIndex[d]);
  }
}

/** The part of full images that a job has as its output. */
template <typename T>
std::vector<T>
Crop(const std::vector<T> & images, const FilterImageJob & job)
{
  std::vector<T>    result;
  const std::size_t voxels = images.size() / job.images.size();
  for (std::size_t v = 0; v < images.size(); ++v)
  {
    const auto position = VoxelMapsTest::GetPosition(static_cast<std::int64_t>(v % voxels), job.size);
    bool       isInside = true;
    for (std::size_t d = 0; d < 3; ++d)
    {
      isInside = isInside && position[d] >= job.outputIndex[d] && position[d] < job.outputIndex[d] + job.outputSize[d];
    }
    if (isInside)
    {
      result.push_back(images[v]);
    }
  }
  return result;
}

void
ExpectNear(const std::vector<double> & found, const std::vector<long double> & expected, double tolerance)
{
  ASSERT_EQ(found.size(), expected.size());
  long double greatest = 0;
  for (const long double value : expected)
  {
    greatest = std::max(greatest, std::abs(value));
  }
  for (std::size_t v = 0; v < found.size(); ++v)
  {
    ASSERT_LE(std::abs(found[v] - expected[v]), tolerance * greatest) << v << ": " << found[v];
  }
}
} // namespace

TEST(FilterImageJob, SmallCasesOfGaussiansAreThoseOfTheOracle)
{
  RandomNumbers random(1);
  for (int round = 0; round < 60; ++round)
  {
    const auto                     size = MakeSize(random);
    const auto                     pixels = MakeNoise(random, size);
    const std::vector<long double> exact(pixels.begin(), pixels.end());
    FilterImageJob                 job = MakeJob(pixels, size);
    job.spacing = { { 0.5, 0.8, 2.0 } };
    const double sigma = static_cast<double>(random.Between(4, 60)) / 10;
    for (unsigned int order = 0; order < 3; ++order)
    {
      const auto    axis = static_cast<unsigned int>(random.Below(3));
      const bool    isNormalized = random.Chance(0.5);
      FilteredImage image;
      image.terms.push_back({ { MakeGaussian(axis, sigma, order, isNormalized) }, 1.0 });
      job.images = { image };
      auto expected = FilterOracle::Gaussian(exact, size, axis, order, sigma / job.spacing[axis]);
      for (long double & value : expected)
      {
        value *= isNormalized ? std::pow(static_cast<long double>(sigma), order) : 1.0L;
      }
      SCOPED_TRACE(testing::Message() << round << ": order " << order << ", sigma " << sigma << ", axis " << axis);
      const auto found = GetOutput(job);
      if (size[axis] == 1 && order > 0)
      {
        // The response to a constant is 0 up to rounding.
        const double scale = isNormalized ? std::pow(sigma, order) : 1.0;
        for (const double value : found)
        {
          ASSERT_LE(std::abs(value), 1e-10 * scale);
        }
        continue;
      }
      // The sum of the denominators loses digits in proportion to (sigma / spacing)^3.
      ExpectNear(found, expected, 1e-12 * std::max(1.0, std::pow(sigma / job.spacing[axis], 3) / 20));
    }
  }
}

template <typename T>
void
CheckConvolutions(std::uint64_t seed)
{
  RandomNumbers random(seed);
  for (int round = 0; round < 80; ++round)
  {
    const auto     size = MakeSize(random);
    const auto     pixels = MakeNoise<T>(random, size);
    FilterImageJob job = MakeJob(pixels, size);
    job.isSingle = sizeof(T) == sizeof(float);
    std::vector<T> expected;
    for (int i = 0; i < 3; ++i)
    {
      FilteredImage  image;
      FilterTerm     term;
      std::vector<T> values = pixels;
      while (term.filters.size() < 2)
      {
        const AxisFilter filter = MakeRandomFilter(random);
        if (!filter.kernel.empty())
        {
          term.filters.push_back(filter);
          values = FilterOracle::Convolve(
            values, size, filter.axis, filter.kernel, filter.origin, static_cast<unsigned int>(filter.boundary));
        }
      }
      image.terms.push_back(term);
      job.images.push_back(image);
      expected.insert(expected.end(), values.begin(), values.end());
    }
    ChooseOutput(random, job);
    EXPECT_EQ(GetOutput<T>(job), Crop(expected, job)) << round;
  }
}

TEST(FilterImageJob, SmallCasesOfConvolutionsAreSumsInOrder)
{
  CheckConvolutions<double>(2);
  CheckConvolutions<float>(3);
}

template <typename T>
void
CheckGabor(const voxelmaps::Triple & size, const AxisFilter & filter, RandomNumbers & random)
{
  const auto     pixels = MakeNoise<T>(random, size);
  FilterImageJob job = MakeJob(pixels, size);
  job.isSingle = sizeof(T) == sizeof(float);
  job.spacing = { { 1.0, 0.75, 1.6 } };
  job.images = { { { { { filter }, 1.0 } }, FilterCombination::Sum } };
  const auto expected = FilterOracle::FilterGabor<T>(pixels,
                                                     size,
                                                     job.spacing,
                                                     { { { filter.axis, filter.secondAxis } },
                                                       filter.sigma,
                                                       filter.wavelength,
                                                       filter.gamma,
                                                       filter.angle,
                                                       static_cast<unsigned int>(filter.boundary) });
  EXPECT_EQ(GetOutput<T>(job), expected);
  ChooseOutput(random, job);
  EXPECT_EQ(GetOutput<T>(job), Crop(expected, job));
}

TEST(FilterImageJob, SmallCasesOfGaborFiltersAreSumsInOrder)
{
  RandomNumbers random(10);
  for (int round = 0; round < 60; ++round)
  {
    SCOPED_TRACE(round);
    const auto       size = MakeSize(random);
    const AxisFilter filter = MakeRandomGabor(random);
    random.Chance(0.5) ? CheckGabor<double>(size, filter, random) : CheckGabor<float>(size, filter, random);
  }
  // A kernel of one voxel.
  AxisFilter filter = MakeRandomGabor(random);
  filter.sigma = 0.01;
  CheckGabor<double>({ { 5, 4, 3 } }, filter, random);
}

/** A device has the padded planes in several parts. */
TEST(FilterImageJob, GaborFiltersOfLongReach)
{
  RandomNumbers random(12);
  AxisFilter    filter = MakeRandomGabor(random);
  filter.axis = 0;
  filter.secondAxis = 1;
  filter.sigma = 75.0;
  filter.gamma = 1.0;
  filter.wavelength = 40.0;
  CheckGabor<double>({ { 3, 2, 19 } }, filter, random);
}

/** The modulus of the response to an impulse is the envelope, and to a wave along the direction the same everywhere. */
TEST(FilterImageJob, GaborFiltersAnswerToImpulsesAndWaves)
{
  const voxelmaps::Triple size{ { 61, 61, 1 } };
  std::vector<double>     pixels(61 * 61);
  pixels[30 * 61 + 30] = 1.0;
  AxisFilter filter;
  filter.secondAxis = 1;
  filter.sigma = 4.0;
  filter.wavelength = 6.0;
  filter.gamma = 1.25;
  filter.angle = 0.6;
  FilterImageJob job = MakeJob(pixels, size);
  job.images = { { { { { filter }, 1.0 } }, FilterCombination::Sum } };
  const auto  envelope = GetOutput(job);
  long double sum = 0;
  for (std::size_t v = 0; v < pixels.size(); ++v)
  {
    const auto        x = static_cast<long double>(v % 61) - 30;
    const auto        y = static_cast<long double>(v / 61) - 30;
    const long double along = x * std::cos(0.6L) + y * std::sin(0.6L);
    const long double across = 1.25L * (y * std::cos(0.6L) - x * std::sin(0.6L));
    const long double exponent = (along * along + across * across) / 32;
    const long double expected = exponent <= 18 ? std::exp(-exponent) : 0;
    ASSERT_NEAR(envelope[v], static_cast<double>(expected), 1e-15) << v;
    sum += expected;
    pixels[v] = static_cast<double>(std::cos(2 * 3.14159265358979323846L * along / 6));
  }
  job.outputIndex = { { 30, 30, 0 } };
  job.outputSize = { { 1, 1, 1 } };
  // A cosine is the mean of two waves, one of which has almost no response.
  EXPECT_NEAR(GetOutput(job)[0], static_cast<double>(sum / 2), 1e-3);
}

TEST(FilterImageJob, MeansOfGaborFilters)
{
  constexpr double       degree = 3.14159265358979323846 / 180;
  voxelmaps::GaborFilter filter;
  filter.sigma = 1.5;
  filter.wavelength = 3.0;
  filter.gamma = 0.7;
  filter.angle = 20 * degree;
  EXPECT_EQ(voxelmaps::MakeGaborImage(filter).terms.size(), 1u);
  // Steps, and the angles that differ by other than half a turn.
  const std::vector<std::pair<double, std::size_t>> counts{ { 22.5, 8 }, { 45, 4 },  { 60, 3 },  { 180, 1 },
                                                            { 72, 5 },   { 100, 4 }, { 50, 8 },  { 270, 2 },
                                                            { 360, 1 },  { 1, 180 }, { 1000, 1 } };
  for (const auto & [step, count] : counts)
  {
    filter.angleStep = step * degree;
    filter.hasAllPlanes = !filter.hasAllPlanes;
    EXPECT_EQ(voxelmaps::MakeGaborImage(filter).terms.size(), count * (filter.hasAllPlanes ? 3 : 1)) << step;
  }
  filter.angleStep = 45 * degree;
  filter.hasAllPlanes = true;
  RandomNumbers       random(11);
  const auto          pixels = MakeNoise(random, { { 9, 8, 7 } });
  FilterImageJob      job = MakeJob(pixels, { { 9, 8, 7 } });
  std::vector<double> expected(pixels.size());
  for (const std::array<std::size_t, 2> axes : { std::array<std::size_t, 2>{ 0, 1 }, { 0, 2 }, { 1, 2 } })
  {
    for (int k = 0; k < 4; ++k)
    {
      const double angle = filter.angle + k * filter.angleStep;
      const auto   values = FilterOracle::FilterGabor<double>(
        pixels, job.size, job.spacing, { axes, 1.5, 3.0, 0.7, angle, static_cast<unsigned int>(filter.boundary) });
      for (std::size_t v = 0; v < values.size(); ++v)
      {
        const double term = 1.0 / 12 * values[v];
        expected[v] += term;
      }
    }
  }
  job.images = { voxelmaps::MakeGaborImage(filter) };
  EXPECT_EQ(GetOutput(job), expected);
  for (const double step : { -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity() })
  {
    filter.angleStep = step;
    VoxelMapsTest::ExpectEngineError([&filter] { voxelmaps::MakeGaborImage(filter); }, { "AngleStep is", "radians" });
  }
  filter.angleStep = 1e-4;
  VoxelMapsTest::ExpectEngineError([&filter] { voxelmaps::MakeGaborImage(filter); },
                                   { "62832 angles", "at most 4096", "larger AngleStep" });
}

TEST(FilterImageJob, CombinationsOfTerms)
{
  RandomNumbers random(4);
  for (int round = 0; round < 40; ++round)
  {
    const auto     size = MakeSize(random);
    const auto     pixels = MakeNoise(random, size);
    FilterImageJob job = MakeJob(pixels, size);
    job.images = MakeRandomImages(random);
    job.images.resize(1);
    const FilterCombination combination = job.images[0].combination;
    const bool              isMagnitude = combination == FilterCombination::Magnitude;
    if (combination == FilterCombination::Sum || isMagnitude)
    {
      // Sums of two numbers do not depend on the order, which is that of the first filters that terms share.
      job.images[0].terms.resize(std::min<std::size_t>(job.images[0].terms.size(), 2));
    }
    std::vector<double> expected;
    for (const FilterTerm & term : job.images[0].terms)
    {
      FilterImageJob single = job;
      single.images = { { { { term.filters, 1.0 } } } };
      const auto values = GetOutput(single);
      const bool isFirst = expected.empty();
      expected.resize(values.size());
      for (std::size_t v = 0; v < values.size(); ++v)
      {
        const double value = term.factor * values[v];
        const double product = isMagnitude ? value * value : value;
        expected[v] = isFirst                                     ? product
                      : combination == FilterCombination::Maximum ? std::max(expected[v], product)
                                                                  : expected[v] + product;
      }
    }
    for (double & value : expected)
    {
      value = isMagnitude ? std::sqrt(value) : value;
      value = combination == FilterCombination::Mean ? value / static_cast<double>(job.images[0].terms.size()) : value;
      value = job.images[0].isAbsolute ? std::abs(value) : value;
    }
    EXPECT_EQ(GetOutput(job), expected) << round;
    const std::vector<float> rounded(expected.begin(), expected.end());
    EXPECT_EQ(GetOutput<float>(job), rounded) << round;
  }
}

TEST(FilterImageJob, DoesNotDependOnWorkersTypesOrRegions)
{
  RandomNumbers random(5);
  for (int round = 0; round < 40; ++round)
  {
    const auto               size = MakeSize(random);
    const auto               bytes = MakeNoise<std::uint8_t>(random, size);
    const std::vector<float> floats(bytes.begin(), bytes.end());
    FilterImageJob           job = MakeJob(bytes, size);
    job.images = MakeRandomImages(random);
    job.isSingle = random.Chance(0.5);
    job.usesEntireLines = true;
    const auto expected = GetOutput(job);
    ChooseOutput(random, job);
    const auto part = Crop(expected, job);
    EXPECT_EQ(GetOutput(job), part) << round;
    job.pixels = floats.data();
    job.pixelType = voxelmaps::PixelType::Float;
    job.execution.numberOfWorkers = 3;
    job.execution.parallelFor = voxelmaps::GetThreadPool();
    EXPECT_EQ(GetOutput(job), part) << round;
  }
}

/** Voxels beyond the margin of a recursive filter change results by no more than rounding does. */
TEST(FilterImageJob, MarginOfRecursiveFilters)
{
  RandomNumbers random(6);
  for (const double sigma : { 0.5, 1.0, 3.0, 6.0 })
  {
    for (unsigned int order = 0; order < 3; ++order)
    {
      const voxelmaps::Triple size{ { 3, 900, 2 } };
      auto                    pixels = MakeNoise(random, size);
      FilterImageJob          job = MakeJob(pixels, size);
      job.images = { { { { { MakeGaussian(1, sigma, order) }, 1.0 } }, FilterCombination::Sum } };
      const auto margin = static_cast<std::int64_t>(32 * sigma + 8);
      job.outputIndex = { { 0, margin, 0 } };
      job.outputSize = { { 3, 900 - 2 * margin, 2 } };
      const auto near = GetOutput(job);
      job.usesEntireLines = true;
      const auto                     all = GetOutput(job);
      const std::vector<long double> exact(all.begin(), all.end());
      SCOPED_TRACE(testing::Message() << "sigma " << sigma << ", order " << order);
      ExpectNear(near, exact, 1e-12);

      // An impulse outside of the margin vanishes.
      pixels.assign(pixels.size(), 0.0);
      std::fill(pixels.begin(), pixels.begin() + 3, 1.0);
      job.outputSize = { { 3, 1, 1 } };
      for (const double value : GetOutput(job))
      {
        EXPECT_LE(std::abs(value), 0x1p-53);
      }
    }
  }
}

TEST(FilterImageJob, AppendedPlanesAreTheFirstOnes)
{
  RandomNumbers random(7);
  for (int round = 0; round < 20; ++round)
  {
    const auto        size = MakeSize(random);
    const auto        pixels = MakeNoise<float>(random, size);
    voxelmaps::Triple larger = size, appended;
    for (std::size_t d = 0; d < 3; ++d)
    {
      appended[d] = random.Below(2);
      larger[d] += appended[d];
    }
    std::vector<float> copy;
    for (std::int64_t z = 0; z < larger[2]; ++z)
    {
      for (std::int64_t y = 0; y < larger[1]; ++y)
      {
        for (std::int64_t x = 0; x < larger[0]; ++x)
        {
          copy.push_back(
            pixels[static_cast<std::size_t>((z % size[2] * size[1] + y % size[1]) * size[0] + x % size[0])]);
        }
      }
    }
    FilterImageJob given = MakeJob(copy, larger);
    given.images = MakeRandomImages(random);
    given.usesEntireLines = true;
    given.outputSize = size;
    FilterImageJob job = given;
    job.pixels = pixels.data();
    job.size = size;
    job.appended = appended;
    EXPECT_EQ(GetOutput(job), GetOutput(given)) << round;
  }
}

TEST(FilterImageJob, NotANumberSpreadsAlongLines)
{
  std::vector<double> pixels(9, 1.0);
  pixels[4] = std::numeric_limits<double>::quiet_NaN();
  FilterImageJob job = MakeJob(pixels, { { 3, 3, 1 } });
  job.images = { { { { { MakeGaussian(0, 1.0) }, 1.0 } }, FilterCombination::Sum } };
  const auto found = GetOutput(job);
  for (std::size_t v = 0; v < 9; ++v)
  {
    EXPECT_EQ(std::isnan(found[v]), v / 3 == 1) << v;
  }
}

TEST(FilterImageJob, DoesNotDependOnTheRoundingModeOfTheCaller)
{
  RandomNumbers  random(9);
  const auto     pixels = MakeNoise(random, { { 9, 8, 7 } });
  FilterImageJob job = MakeJob(pixels, { { 9, 8, 7 } });
  job.images = { { { { { MakeGaussian(0, 1.3) }, 1.0 } }, FilterCombination::Sum },
                 { { { { MakeRandomGabor(random) }, 1.0 } }, FilterCombination::Sum } };
  for (const bool isSingle : { false, true })
  {
    job.isSingle = isSingle;
    const auto expected = GetOutput(job);
    std::fesetround(FE_UPWARD);
    const auto found = GetOutput(job);
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(VoxelMapsTest::HasSameBits(found, expected)) << isSingle;
  }
}

TEST(FilterImageJob, ReportsProgressAndCanBeAborted)
{
  RandomNumbers       random(8);
  const auto          pixels = MakeNoise(random, { { 9, 8, 7 } });
  FilterImageJob      job = MakeJob(pixels, { { 9, 8, 7 } });
  std::vector<double> output(3 * pixels.size());
  job.output = output.data();
  job.outputIsDouble = true;
  job.images.assign(3, { { { { MakeGaussian(0, 1.0), MakeRandomGabor(random) }, 1.0 } }, FilterCombination::Sum });
  std::atomic<std::uint64_t> reported{ 0 };
  job.execution.reportProgress = [&reported](std::uint64_t voxels) { reported += voxels; };
  Compute(job);
  EXPECT_EQ(reported, output.size());
  for (int calls = 0; calls < 5; ++calls)
  {
    int left = calls;
    job.execution.reportProgress = [&left](std::uint64_t) {
      if (left-- == 0)
      {
        throw VoxelMapsTest::Aborted();
      }
    };
    EXPECT_THROW(Compute(job), VoxelMapsTest::Aborted) << calls;
  }
}

TEST(FilterImageJob, EmptyOutputsAreNotComputed)
{
  FilterImageJob job = MakeJob(std::vector<double>(), { { 0, 3, 4 } });
  job.images = { { { { { MakeGaussian(0, 1.0) }, 1.0 } }, FilterCombination::Sum } };
  EXPECT_TRUE(GetOutput(job).empty());
  EXPECT_EQ(voxelmaps::GetFilterMemory(job), 0u);
}

TEST(FilterImageJob, SaysHowMuchMemoryItNeeds)
{
  const std::vector<float> pixels(1000);
  FilterImageJob           job = MakeJob(pixels, { { 10, 10, 10 } });
  std::vector<float>       output(2000);
  job.output = output.data();
  FilterTerm term{ { MakeGaussian(0, 1.0), MakeGaussian(1, 1.0), MakeGaussian(2, 1.0) }, 1.0 };
  job.images = { { { term }, FilterCombination::Sum },
                 { { term, { { MakeGaussian(2, 1.0) }, 1.0 } }, FilterCombination::Sum } };
  // Two results at a time, or one and a sum, of doubles.
  EXPECT_EQ(voxelmaps::GetFilterMemory(job), 16000u);
  job.memoryBudget = 15999;
  VoxelMapsTest::ExpectEngineError([&job] { Compute(job); }, { "bytes of", "15999", "smaller part" });

  // The engine pads rows of Gabor filters in addition.
  AxisFilter gabor;
  gabor.secondAxis = 1;
  gabor.sigma = 2.0;
  gabor.wavelength = 3.0;
  job.images = { { { { { gabor }, 1.0 } }, FilterCombination::Sum } };
  job.memoryBudget = voxelmaps::GetFilterMemory(job);
  EXPECT_EQ(job.memoryBudget, 8000u);
  VoxelMapsTest::ExpectEngineError([&job] { Compute(job); }, { "bytes of", "8000" });
  job.memoryBudget = 1 << 20;
  Compute(job);
}

TEST(FilterImageJob, RefusesInvalidJobs)
{
  const std::vector<float> pixels(60);
  std::vector<float>       output(60);
  FilterImageJob           valid = MakeJob(pixels, { { 5, 4, 3 } });
  valid.output = output.data();
  valid.images = { { { { { MakeGaussian(0, 1.0) }, 1.0 } }, FilterCombination::Sum } };
  const auto expectError = [&valid](const std::vector<std::string> & words, const auto & change) {
    FilterImageJob job = valid;
    change(job, job.images[0].terms[0].filters[0]);
    VoxelMapsTest::ExpectEngineError([&job] { Compute(job); }, words);
  };
  constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
  expectError({ "sigma nan" }, [](auto &, auto & filter) { filter.sigma = notANumber; });
  expectError({ "sigma 0" }, [](auto &, auto & filter) { filter.sigma = 0.0; });
  expectError({ "sigma 1e+30", "1000 voxels" }, [](auto &, auto & filter) { filter.sigma = 1e30; });
  expectError({ "sigma 1e-30", "0.05" }, [](auto &, auto & filter) {
    filter.sigma = 1e-30;
    filter.order = 2;
  });
  expectError({ "sigma 1", "kernel of 1" }, [](auto &, auto & filter) { filter.kernel = { 1.0 }; });
  expectError({ "order 3" }, [](auto &, auto & filter) { filter.order = 3; });
  expectError({ "axis 3" }, [](auto &, auto & filter) { filter.axis = 3; });
  expectError({ "origin 2" },
              [](auto &, auto & filter) { filter = MakeConvolution(0, { 1.0, 2.0 }, 2, FilterBoundary::Zero); });
  expectError({ "not finite" },
              [](auto &, auto & filter) { filter = MakeConvolution(0, { notANumber }, 0, FilterBoundary::Zero); });
  expectError({ "boundary of a filter is 5" },
              [](auto &, auto & filter) { filter = MakeConvolution(0, { 1.0 }, 0, static_cast<FilterBoundary>(5)); });
  const auto expectGaborError = [&](const std::vector<std::string> & words, const auto & change) {
    expectError(words, [&](auto &, auto & filter) {
      filter.secondAxis = 1;
      filter.wavelength = 2.0;
      change(filter);
    });
  };
  expectGaborError({ "axes 0 and 0" }, [](auto & filter) { filter.secondAxis = 0; });
  expectGaborError({ "axes 0 and 3" }, [](auto & filter) { filter.secondAxis = 3; });
  expectGaborError({ "sigma 0" }, [](auto & filter) { filter.sigma = 0.0; });
  expectGaborError({ "wavelength -2" }, [](auto & filter) { filter.wavelength = -2.0; });
  expectGaborError({ "wavelength 1e-310" }, [](auto & filter) { filter.wavelength = 1e-310; });
  expectGaborError({ "gamma 1e-310", "too large" }, [](auto & filter) { filter.gamma = 1e-310; });
  expectGaborError({ "gamma nan" }, [](auto & filter) { filter.gamma = notANumber; });
  expectGaborError({ "angle nan" }, [](auto & filter) { filter.angle = notANumber; });
  expectGaborError({ "order 1" }, [](auto & filter) { filter.order = 1; });
  expectGaborError({ "kernel of 1" }, [](auto & filter) { filter.kernel = { 1.0 }; });
  expectGaborError({ "reaches", "along axis 0", "1024" }, [](auto & filter) { filter.sigma = 171.0; });
  expectGaborError({ "reaches", "along axis 1" }, [](auto & filter) { filter.gamma = 1e-300; });
  expectGaborError({ "boundary of a filter is 5" },
                   [](auto & filter) { filter.boundary = static_cast<FilterBoundary>(5); });
  expectError({ "spacing 0" }, [](auto & job, auto &) { job.spacing[1] = 0.0; });
  expectError({ "spacing inf" }, [](auto & job, auto &) { job.spacing[1] = std::numeric_limits<double>::infinity(); });
  expectError({ "appends 2" }, [](auto & job, auto &) { job.appended[1] = 2; });
  expectError({ "index 1 and size 5" }, [](auto & job, auto &) { job.outputIndex[0] = 1; });
  expectError({ "2^52" }, [](auto & job, auto &) { job.size = { { 1 << 30, 1 << 30, 1 << 30 } }; });
  expectError({ "no terms" }, [](auto & job, auto &) { job.images[0].terms.clear(); });
  expectError({ "without filters" }, [](auto & job, auto &) { job.images[0].terms[0].filters.clear(); });
  expectError({ "null" }, [](auto & job, auto &) { job.output = nullptr; });
  expectError({ "pixel type is 10" },
              [](auto & job, auto &) { job.pixelType = static_cast<voxelmaps::PixelType>(10); });
}

class CudaFilterImageJob : public VoxelMapsTest::CudaTest
{};

/** Arrays of the device stay there, in a part of memory with a budget. */
TEST_F(CudaFilterImageJob, SmallCasesInDeviceMemory)
{
  RandomNumbers random(9);
  for (int round = 0; round < 10; ++round)
  {
    const auto     size = MakeSize(random);
    const auto     pixels = MakeNoise<std::int16_t>(random, size);
    FilterImageJob job = MakeJob(pixels, size);
    job.images = MakeRandomImages(random);
    job.isSingle = random.Chance(0.5);
    ChooseOutput(random, job);
    const std::vector<float> expected = GetOutput<float>(job);
    const auto               voxels = static_cast<std::int64_t>(expected.size());
    const auto               whole = [](std::int64_t count) {
      return voxelmaps::ArrayBox{ { { count, 1, 1 } }, { { 0, 0, 0 } }, { { count, 1, 1 } } };
    };

    voxelmaps::CudaOptions options;
    const auto             count = static_cast<std::int64_t>(pixels.size());
    const auto             input = voxelmaps::AllocateCuda(pixels.size() * sizeof(std::int16_t), options);
    const auto             output = voxelmaps::AllocateCuda(expected.size() * sizeof(float), options);
    options.outputLocation = voxelmaps::MemoryLocation::Device;
    voxelmaps::CopyBoxCuda(
      pixels.data(), whole(count), input.get(), whole(count), sizeof(std::int16_t), job.execution, options);
    job.pixels = input.get();
    job.output = output.get();
    options.inputLocation = voxelmaps::MemoryLocation::Device;
    voxelmaps::FilterImageCuda(job, options);
    options.outputLocation = voxelmaps::MemoryLocation::Host;
    std::vector<float> found(expected.size());
    voxelmaps::CopyBoxCuda(
      output.get(), whole(voxels), found.data(), whole(voxels), sizeof(float), job.execution, options);
    EXPECT_TRUE(VoxelMapsTest::HasSameBits(found, expected)) << round;

    options.memoryBudget = 1;
    options.outputLocation = voxelmaps::MemoryLocation::Device;
    VoxelMapsTest::ExpectEngineError([&] { voxelmaps::FilterImageCuda(job, options); }, { "bytes of device memory" });
  }
}
