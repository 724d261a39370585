// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ResampleImageCases.h"
#include "TestedProcessor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

// So that allocations fail as they do without a sanitizer.
extern "C"
{
  const char *
  __asan_default_options()
  {
    return "allocator_may_return_null=1";
  }
  const char *
  __tsan_default_options()
  {
    return "allocator_may_return_null=1";
  }
}

namespace
{
using namespace ResampleImageCases;
using namespace VoxelMapsTest;
using Real = long double;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

void
Compute(const ResampleImageJob & job)
{
  IsCudaTest() ? voxelmaps::ResampleImageCuda(job, {}) : voxelmaps::ResampleImage(job);
}

template <typename TPixel>
std::vector<TPixel>
Resample(ResampleImageJob job)
{
  GuardedOutput<TPixel> output(GetNumberOfVoxels(job.outputGrid), static_cast<TPixel>(77));
  job.output = output.data();
  job.outputType = GetPixelType<TPixel>();
  Compute(job);
  return output.Get();
}

/** The B-spline of an order at x, by its recursion. */
Real
Spline(int order, Real x)
{
  if (order == 0)
  {
    return x >= -0.5L && x < 0.5L ? 1.0L : 0.0L;
  }
  const Real half = static_cast<Real>(order + 1) / 2;
  return ((half + x) * Spline(order - 1, x + 0.5L) + (half - x) * Spline(order - 1, x - 0.5L)) / order;
}

std::int64_t
Mirror(std::int64_t index, std::int64_t size)
{
  while (index < 0 || index >= size)
  {
    index = size == 1 ? 0 : index < 0 ? -index : 2 * (size - 1) - index;
  }
  return index;
}

/** Coefficients by the solution of the equations of a line: Gauss' elimination. */
std::vector<Real>
SolveLine(int order, std::vector<Real> samples)
{
  const auto                     size = static_cast<std::int64_t>(samples.size());
  std::vector<std::vector<Real>> rows(samples.size(), std::vector<Real>(samples.size(), 0));
  for (std::int64_t i = 0; i < size; ++i)
  {
    for (std::int64_t k = -3; k <= 3; ++k)
    {
      rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(Mirror(i + k, size))] +=
        Spline(order, static_cast<Real>(k));
    }
  }
  // The middle of each row is the greatest.
  for (std::size_t i = 0; i < samples.size(); ++i)
  {
    for (std::size_t j = i + 1; j < samples.size(); ++j)
    {
      const Real factor = rows[j][i] / rows[i][i];
      for (std::size_t k = i; factor != 0 && k < samples.size(); ++k)
      {
        rows[j][k] -= factor * rows[i][k];
      }
      samples[j] -= factor * samples[i];
    }
  }
  for (std::size_t i = samples.size(); i-- > 0;)
  {
    for (std::size_t k = i + 1; k < samples.size(); ++k)
    {
      samples[i] -= rows[i][k] * samples[k];
    }
    samples[i] /= rows[i][i];
  }
  return samples;
}

/** The complete image as coefficients, and values by sums over all of them, in long double. */
class Oracle
{
public:
  explicit Oracle(const ResampleImageJob & job, const std::vector<double> & pixels)
    : m_Job(job)
    , m_Values(pixels.begin(), pixels.end())
  {
    const bool isSpline = job.interpolation == Interpolation::BSpline;
    m_Order = isSpline ? static_cast<int>(job.splineOrder) : job.interpolation == Interpolation::Linear ? 1 : 0;
    std::int64_t stride = 1;
    for (unsigned int axis = 0; axis < job.dimension; ++axis)
    {
      const std::int64_t size = job.inputGrid.size[axis];
      for (std::int64_t i = 0; m_Order > 1 && size > 1 && i < static_cast<std::int64_t>(pixels.size()); ++i)
      {
        if (i / stride % size == 0)
        {
          this->SolveLineAt(i, stride, size);
        }
      }
      stride *= size;
    }
  }

  /** The continuous index of a voxel of the output. */
  std::array<Real, 3>
  GetIndex(const Triple & voxel) const
  {
    std::array<Real, 3> vector{};
    const auto          at = [](const ImageGrid & grid, unsigned int row, unsigned int column) {
      return static_cast<Real>(grid.direction[3 * row + column]);
    };
    for (unsigned int row = 0; row < m_Job.dimension; ++row)
    {
      vector[row] = static_cast<Real>(m_Job.outputGrid.origin[row]) - static_cast<Real>(m_Job.inputGrid.origin[row]);
      for (unsigned int column = 0; column < m_Job.dimension; ++column)
      {
        vector[row] += at(m_Job.outputGrid, row, column) * static_cast<Real>(m_Job.outputGrid.spacing[column]) *
                       static_cast<Real>(voxel[column]);
      }
    }
    std::array<Real, 3> index{};
    for (unsigned int column = 0; column < m_Job.dimension; ++column)
    {
      // The inverse of a rotation is its transpose.
      for (unsigned int row = 0; row < m_Job.dimension; ++row)
      {
        index[column] += at(m_Job.inputGrid, row, column) * vector[row];
      }
      index[column] /= static_cast<Real>(m_Job.inputGrid.spacing[column]);
    }
    return index;
  }

  /** Where another voxel is chosen, or none, if the index is rounded otherwise. */
  bool
  IsAtEdge(const std::array<Real, 3> & index) const
  {
    bool result = false;
    for (unsigned int axis = 0; axis < m_Job.dimension; ++axis)
    {
      const Real half = index[axis] - 0.5L;
      const Real size = static_cast<Real>(m_Job.inputGrid.size[axis]);
      // ITK's B-splines of order 0 and 1 find the voxel in single precision.
      const Real rounding = m_Job.interpolation == Interpolation::BSpline && m_Order < 2 ? 1e-5L : 1e-12L;
      const bool isHalf = std::abs(half - std::round(half)) < rounding;
      const bool isWhole = std::abs(index[axis] - std::round(index[axis])) < rounding;
      result = result || (m_Order == 0 && isHalf) || (m_Order == 1 && isWhole && rounding > 1e-6L);
      result = result || std::abs(index[axis] + 0.5L) < 1e-12L || std::abs(index[axis] - size + 0.5L) < 1e-12L;
    }
    return result;
  }

  Real
  GetValue(const std::array<Real, 3> & index) const
  {
    for (unsigned int axis = 0; axis < m_Job.dimension; ++axis)
    {
      if (index[axis] < -0.5L || index[axis] >= static_cast<Real>(m_Job.inputGrid.size[axis]) - 0.5L)
      {
        return static_cast<Real>(m_Job.defaultValue);
      }
    }
    Real sum = 0;
    this->ForEachTap(2, index, [&](std::int64_t z, Real wz) {
      this->ForEachTap(1, index, [&](std::int64_t y, Real wy) {
        this->ForEachTap(0, index, [&](std::int64_t x, Real wx) {
          const auto & size = m_Job.inputGrid.size;
          sum += wx * wy * wz * m_Values[static_cast<std::size_t>((z * size[1] + y) * size[0] + x)];
        });
      });
    });
    return sum;
  }

private:
  void
  SolveLineAt(std::int64_t first, std::int64_t stride, std::int64_t size)
  {
    std::vector<Real> line;
    const auto at = [&](std::int64_t n) -> Real & { return m_Values[static_cast<std::size_t>(first + n * stride)]; };
    for (std::int64_t n = 0; n < size; ++n)
    {
      line.push_back(at(n));
    }
    line = SolveLine(m_Order, line);
    for (std::int64_t n = 0; n < size; ++n)
    {
      at(n) = line[static_cast<std::size_t>(n)];
    }
  }

  template <typename TVisit>
  void
  ForEachTap(unsigned int axis, const std::array<Real, 3> & index, const TVisit & visit) const
  {
    const std::int64_t size = m_Job.inputGrid.size[axis];
    const bool         isLinear = m_Job.interpolation == Interpolation::Linear;
    const auto         nearest = static_cast<std::int64_t>(std::floor(index[axis] + 0.5L));
    for (std::int64_t k = nearest - 3; k <= nearest + 3; ++k)
    {
      // From -1/2 to 1/2 on: the nearest voxel of two is that with the greater index.
      const Real distance = static_cast<Real>(k) - index[axis];
      const Real weight = axis >= m_Job.dimension ? (k == 0 ? 1.0L : 0.0L)
                          : m_Order == 0          ? (k == nearest ? 1.0L : 0.0L)
                                                  : Spline(m_Order, distance);
      if (weight != 0)
      {
        visit(isLinear ? std::clamp<std::int64_t>(k, 0, size - 1) : Mirror(k, size), weight);
      }
    }
  }

  const ResampleImageJob & m_Job;
  std::vector<Real>        m_Values;
  int                      m_Order;
};

/** Compare a job with the oracle, and with itself with threads and on the CPU. */
template <typename TPixel>
void
Check(ResampleImageJob & job, const std::vector<TPixel> & pixels, const std::vector<unsigned int> & numbersOfWorkers)
{
  job.pixels = pixels.data();
  job.pixelType = GetPixelType<TPixel>();
  job.defaultValue = 33.0;
  const Oracle oracle(job, std::vector<double>(pixels.begin(), pixels.end()));
  const auto   values = Resample<double>(job);
  const auto   converted = Resample<TPixel>(job);
  const auto   floats = Resample<float>(job);
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    const auto index = oracle.GetIndex(GetPosition(static_cast<std::int64_t>(i), job.outputGrid.size));
    // Within the tolerance of ITK's first coefficient, 1e-10 of the intensities.
    if (!oracle.IsAtEdge(index))
    {
      ASSERT_NEAR(static_cast<double>(oracle.GetValue(index)), values[i], 2e-8) << "of voxel " << i;
    }
    ASSERT_EQ(static_cast<float>(values[i]), floats[i]);
    const double lowest = static_cast<double>(std::numeric_limits<TPixel>::lowest());
    const double highest = static_cast<double>(std::numeric_limits<TPixel>::max());
    // Conversions cut fractions off.
    ASSERT_EQ(static_cast<TPixel>(std::clamp(values[i], lowest, highest)), converted[i]);
  }
  for (const unsigned int workers : numbersOfWorkers)
  {
    job.execution.numberOfWorkers = workers;
    job.execution.parallelFor = RunThreads;
    EXPECT_TRUE(HasSameBits(values, Resample<double>(job)));
    job.execution = {};
  }
  if (IsCudaTest())
  {
    std::vector<double> expected(values.size());
    job.output = expected.data();
    job.outputType = PixelType::Double;
    voxelmaps::ResampleImage(job);
    EXPECT_TRUE(HasSameBits(expected, values));
  }
}

template <typename TPixel>
void
CheckRandomCases(unsigned int seed, int count, std::int64_t maxSize)
{
  RandomNumbers random(seed);
  for (int i = 0; i < count; ++i)
  {
    SCOPED_TRACE("case " + std::to_string(i) + " of type " + Print(GetPixelType<TPixel>()));
    ResampleImageJob job;
    DrawGrids(job, maxSize, random);
    const auto pixels = DrawPixels<TPixel>(job.inputGrid, random);
    ForEachInterpolation(job, [&] { Check(job, pixels, { 2, 5 }); });
  }
}

/** A row of noise, whose output of 512 voxels has indices without rounding. */
class ResampleImageRow : public testing::Test
{
protected:
  ResampleImageRow()
  {
    job.inputGrid.size = { { 384, 1, 1 } };
    job.outputGrid = job.inputGrid;
    job.outputGrid.size[0] = 512;
    job.outputGrid.spacing[0] = 0.75;
    RandomNumbers random(5);
    m_Pixels = DrawPixels<double>(job.inputGrid, random);
    job.pixels = m_Pixels.data();
    job.pixelType = PixelType::Double;
  }

  ResampleImageJob    job;
  std::vector<double> m_Pixels;
};

void
ExpectError(ResampleImageJob job, const std::vector<std::string> & words)
{
  float pixel = 1.0f;
  job.pixels = job.pixels == nullptr ? &pixel : job.pixels;
  job.output = &pixel;
  ExpectEngineError([&] { Compute(job); }, words);
}

ResampleImageJob
MakeJob()
{
  ResampleImageJob job;
  job.inputGrid.size = { { 1, 1, 1 } };
  job.outputGrid.size = { { 1, 1, 1 } };
  return job;
}
} // namespace

TEST(ResampleImageJob, SmallCases)
{
  CheckRandomCases<std::int16_t>(1, 12, 7);
  CheckRandomCases<float>(2, 12, 7);
}

TEST(ResampleImageJob, RandomCases)
{
  CheckRandomCases<double>(3, 6, 21);
  CheckRandomCases<std::uint8_t>(4, 6, 21);
}

TEST(ResampleImageJob, AllTypes)
{
  const auto check = [](auto... pixels) { (..., CheckRandomCases<decltype(pixels)>(7, 1, 6)); };
  check(std::int8_t(), std::uint8_t(), std::int16_t(), std::uint16_t(), std::int32_t(), std::uint32_t());
  check(std::int64_t(), std::uint64_t(), 0.0f, 0.0);
}

TEST(ResampleImageJob, LinesOfAllLengths)
{
  RandomNumbers random(11);
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    for (std::int64_t length = 1; length <= 70; ++length)
    {
      SCOPED_TRACE("length " + std::to_string(length) + " along axis " + std::to_string(axis));
      ResampleImageJob job;
      job.inputGrid.size = { { 1, 1, 1 } };
      job.inputGrid.size[axis] = length;
      job.outputGrid = job.inputGrid;
      job.outputGrid.size[axis] = 2 * length + 4;
      job.outputGrid.spacing[axis] = 0.53;
      job.outputGrid.origin[axis] = -0.7;
      const auto pixels = DrawPixels<float>(job.inputGrid, random);
      ForEachInterpolation(job, [&] { Check(job, pixels, {}); });
    }
  }
}

TEST(ResampleImageJob, NearestNeighborOfTies)
{
  const std::vector<std::int16_t> pixels{ 1, 2, 3 };
  ResampleImageJob                job;
  job.inputGrid.size = { { 3, 1, 1 } };
  job.outputGrid.size = { { 8, 1, 1 } };
  job.outputGrid.origin[0] = -0.5;
  job.outputGrid.spacing[0] = 0.5;
  job.interpolation = Interpolation::NearestNeighbor;
  job.pixels = pixels.data();
  job.pixelType = PixelType::Int16;
  job.defaultValue = 9.0;
  // At indices -1/2, 0, 1/2, ...: 5/2 is outside.
  EXPECT_EQ((std::vector<std::int16_t>{ 1, 1, 2, 2, 3, 3, 9, 9 }), Resample<std::int16_t>(job));
}

TEST(ResampleImageJob, NearestNeighborCopiesAllBits)
{
  constexpr std::int64_t          large = (std::int64_t{ 1 } << 62) + 1;
  const std::vector<std::int64_t> pixels{ large, -large };
  ResampleImageJob                job;
  job.inputGrid.size = { { 2, 1, 1 } };
  job.outputGrid = job.inputGrid;
  job.interpolation = Interpolation::NearestNeighbor;
  job.pixels = pixels.data();
  job.pixelType = PixelType::Int64;
  EXPECT_EQ(pixels, Resample<std::int64_t>(job));
}

TEST_F(ResampleImageRow, PartsHaveTheValuesOfTheCompleteImage)
{
  for (unsigned int order = 0; order <= 5; ++order)
  {
    SCOPED_TRACE(order);
    job.splineOrder = order;
    job.outputGrid.size[0] = 512;
    job.outputGrid.origin[0] = 0.0;
    const auto complete = Resample<double>(job);
    for (std::int64_t first = 0; first + 16 <= 512; first += 16)
    {
      job.outputGrid.size[0] = 16;
      job.outputGrid.origin[0] = 0.75 * static_cast<double>(first);
      const auto part = Resample<double>(job);
      for (std::size_t i = 0; i < part.size(); ++i)
      {
        // The tails are below 2^-53 of the greatest intensity; sums of both are rounded.
        const double expected = complete[static_cast<std::size_t>(first) + i];
        ASSERT_NEAR(expected, part[i], 101 * 0x1p-50);
        ASSERT_EQ(static_cast<float>(expected), static_cast<float>(part[i]));
      }
    }
  }
}

TEST_F(ResampleImageRow, NonfinitePixels)
{
  m_Pixels[200] = infinity;
  for (unsigned int order = 2; order <= 5; ++order)
  {
    job.splineOrder = order;
    std::vector<double> output(512);
    job.output = output.data();
    job.outputType = PixelType::Double;
    ExpectEngineError([&] { Compute(job); },
                      { "(200, 0, 0)", "inf", "order " + std::to_string(order), "choose Linear" });
  }
  // What is not needed may be anything.
  job.outputGrid.size[0] = 16;
  EXPECT_TRUE(std::isfinite(Resample<double>(job)[15]));
  job.outputGrid.size[0] = 512;
  job.interpolation = Interpolation::Linear;
  const auto values = Resample<double>(job);
  EXPECT_TRUE(std::isfinite(values[265]));
  // 199.5
  EXPECT_EQ(infinity, values[266]);
  EXPECT_FALSE(std::isfinite(values[267]));
  m_Pixels[200] = quietNaN;
  EXPECT_TRUE(std::isnan(Resample<double>(job)[267]));
  // 198, whose next voxel has no weight.
  m_Pixels[199] = quietNaN;
  EXPECT_EQ(m_Pixels[198], Resample<double>(job)[264]);
}

TEST_F(ResampleImageRow, ProgressAndAbort)
{
  std::atomic<std::uint64_t> reported{ 0 };
  job.execution.reportProgress = [&reported](std::uint64_t voxels) { reported += voxels; };
  Resample<double>(job);
  EXPECT_EQ(512u, reported);
  job.execution.reportProgress = [](std::uint64_t) { throw Aborted(); };
  EXPECT_THROW(Resample<double>(job), Aborted);
}

TEST(ResampleImageJob, EmptyAndFarGrids)
{
  ResampleImageJob job = MakeJob();
  job.outputGrid.size = { { 3, 0, 2 } };
  EXPECT_TRUE(Resample<float>(job).empty());
  const float pixel = 2.0f;
  job.pixels = &pixel;
  job.outputGrid.size = { { 3, 1, 1 } };
  job.defaultValue = -4.0;
  for (const double origin : { 1e300, -1e300, 7.0, -4.0 })
  {
    job.outputGrid.origin[0] = origin;
    ForEachInterpolation(job, [&] { EXPECT_EQ(std::vector<float>(3, -4.0f), Resample<float>(job)); });
  }
  job.inputGrid.size = { { 0, 1, 1 } };
  EXPECT_EQ(std::vector<float>(3, -4.0f), Resample<float>(job));
}

TEST(ResampleImageJob, Errors)
{
  const auto expect = [](const auto & change, const std::vector<std::string> & words) {
    ResampleImageJob job = MakeJob();
    change(job);
    ExpectError(job, words);
  };
  for (const double spacing : { 0.0, -1.0, quietNaN, infinity })
  {
    expect([&](auto & job) { job.inputGrid.spacing[1] = spacing; },
           { "spacing of the image along axis 1", Print(spacing), "positive" });
    expect([&](auto & job) { job.outputGrid.spacing[0] = spacing; },
           { "spacing of the output along axis 0", "positive" });
  }
  expect([](auto & job) { job.splineOrder = 6; }, { "6", "0 to 5" });
  expect([](auto & job) { job.dimension = 4; }, { "4", "2 or 3" });
  expect([](auto & job) { job.interpolation = static_cast<Interpolation>(3); }, { "interpolation is 3" });
  expect([](auto & job) { job.pixelType = static_cast<PixelType>(10); }, { "pixel type is 10" });
  expect([](auto & job) { job.outputType = PixelType::Int16; }, { "Int16", "must be the pixel type, Float" });
  expect([](auto & job) { job.outputGrid.size[0] = -1; }, { "-1 x 1 x 1", "negative" });
  expect([](auto & job) { job.outputGrid.size = { { 1 << 30, 1 << 30, 1 << 30 } }; }, { "must fit into memory" });
  expect([](auto & job) { job.outputGrid.origin[2] = infinity; }, { "origin of the output along axis 2", "finite" });
  expect([](auto & job) { job.inputGrid.direction[4] = 0.0; }, { "directions of the axes of the image" });
  expect([](auto & job) { job.outputGrid.direction[4] = quietNaN; }, { "directions of the axes of the output" });
  expect(
    [](auto & job) {
      job.dimension = 2;
      job.inputGrid.size[2] = 2;
    },
    { "in z is 2", "1 in dimension 2" });
  expect(
    [](auto & job) {
      job.pixelType = job.outputType = PixelType::UInt8;
      job.defaultValue = 256.0;
    },
    { "256", "from 0 to 255" });
  ResampleImageJob job = MakeJob();
  ExpectEngineError([&] { Compute(job); }, { "1 voxels", "output is null" });
}

TEST(ResampleImageJob, MemoryThatDoesNotFit)
{
  // No pixel is read before the error.
  ResampleImageJob job = MakeJob();
  job.inputGrid.size = { { 1 << 20, 1 << 20, 1 << 19 } };
  job.outputGrid = job.inputGrid;
  job.outputGrid.size = { { 2, 2, 2 } };
  job.outputGrid.spacing = { { 1e6, 1e6, 5e5 } };
  ExpectError(job, { "voxels in double", "bytes", "do not fit into memory" });
}
