// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GrayLevelDiscretizationCases.h"
#include "GrayLevelDiscretizationOracle.h"
#include "TestedProcessor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using namespace GrayLevelDiscretizationCases;
using GrayLevelDiscretizationOracle::Bounds;
using GrayLevelDiscretizationOracle::Oracle;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

const std::vector<Method> rangeMethods(allMethods.begin(), allMethods.begin() + 3);

/** Discretize on the processor that is tested. */
Result
DiscretizeLevels(const Job & job)
{
  return IsCudaTest() ? voxelmaps::DiscretizeGrayLevelsCuda(job, {}) : voxelmaps::DiscretizeGrayLevels(job);
}

/** Run a job into levels between guards. */
Levels
Discretize(Job job, Result * result = nullptr)
{
  GuardedOutput<std::uint16_t> levels(static_cast<std::size_t>(job.size[0] * job.size[1] * job.size[2]), 0xabcd);
  job.levels = levels.data();
  const Result got = DiscretizeLevels(job);
  if (result != nullptr)
  {
    *result = got;
  }
  return levels.Get();
}

template <typename TPixel>
Levels
Discretize(const std::vector<TPixel> & pixels, const Parameters & parameters, const Mask & mask = {})
{
  return Discretize(MakeJob(pixels, mask, parameters));
}

/** Compare a job with the oracle, and with itself with threads. */
template <typename TPixel>
void
Check(const std::vector<TPixel> & pixels, const Mask & mask, const Parameters & parameters)
{
  std::ostringstream text;
  text << parameters.method << ", range source " << parameters.rangeSource << ", " << GetPixelType<TPixel>()
       << (mask.empty() ? "" : ", mask") << ", " << pixels.size() << " pixels";
  SCOPED_TRACE(text.str());
  std::vector<double> numbers;
  for (const TPixel pixel : pixels)
  {
    numbers.push_back(static_cast<double>(pixel));
  }
  const Oracle oracle(parameters, numbers, mask);
  Job          job = MakeJob(pixels, mask, parameters);
  Result       result;
  const Levels levels = Discretize(job, &result);
  EXPECT_EQ(oracle.GetMinimum(), result.rangeMinimum);
  EXPECT_EQ(oracle.GetMaximum(), result.rangeMaximum);
  EXPECT_LE(oracle.GetNumberOfLevels().low, result.numberOfGrayLevels);
  EXPECT_GE(oracle.GetNumberOfLevels().high, result.numberOfGrayLevels);
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    const Bounds bounds = oracle.GetLevel(i);
    ASSERT_LE(bounds.low, levels[i]) << "of " << numbers[i];
    ASSERT_GE(bounds.high, levels[i]) << "of " << numbers[i];
    ASSERT_LE(levels[i], result.numberOfGrayLevels) << "of " << numbers[i];
  }
  for (const unsigned int workers : { 2u, 5u })
  {
    job.execution.numberOfWorkers = workers;
    job.execution.parallelFor = RunThreads;
    EXPECT_EQ(levels, Discretize(job)) << workers << " workers";
  }
}

template <typename TPixel>
void
CheckAllMethods()
{
  std::mt19937 random(GetPixelType<TPixel>() == PixelType::Float ? 7 : 3);
  // The large one is divided among workers.
  for (const std::size_t count : { std::size_t{ 1 }, std::size_t{ 61 }, std::size_t{ 2500 }, std::size_t{ 140003 } })
  {
    const Mask mask = DrawMask(count, random);
    for (const Method method : allMethods)
    {
      const bool isLevel = method == Method::Identity || method == Method::Levels;
      const auto pixels = DrawPixels<TPixel>(isLevel ? Kind::SmallNumbers : Kind::Finite, count, random);
      for (const RangeSource source : allSources)
      {
        Parameters parameters;
        parameters.method = method;
        parameters.rangeSource = source;
        parameters.numberOfGrayLevels = method == Method::FixedBinNumber ? 7 : 300;
        parameters.binWidth = std::is_floating_point<TPixel>::value ? 0.7 : 3.0;
        parameters.binEdges = { -30.0, -7.25, 4.0, 4.5, 50.0 };
        parameters.rangeMinimum = 2.0;
        parameters.rangeMaximum = 51.0;
        Check(pixels, mask, parameters);
        // Not all combinations of the large array, which take long.
        if (count < 10000 || source == RangeSource::Image)
        {
          Check(pixels, {}, parameters);
        }
        if (count < 10000)
        {
          Check(pixels, Mask(count, 0), parameters);
        }
      }
    }
  }
}

/** The ends of a type in all methods that have a range. */
template <typename TPixel>
void
CheckExtremes()
{
  using Limits = std::numeric_limits<TPixel>;
  const std::vector<TPixel> pixels{
    Limits::lowest(), 0, 1, 2, 100, Limits::max(), static_cast<TPixel>(Limits::max() / 2)
  };
  for (const std::size_t copies : { 1, 20000 })
  {
    std::vector<TPixel> many;
    for (std::size_t i = 0; i < copies; ++i)
    {
      many.insert(many.end(), pixels.begin(), pixels.end());
    }
    for (const Method method : rangeMethods)
    {
      Parameters parameters;
      parameters.method = method;
      parameters.numberOfGrayLevels = 65535;
      parameters.binWidth =
        std::max(1.0, static_cast<double>(Limits::max()) / 1000.0 - static_cast<double>(Limits::lowest()) / 1000.0);
      Check(many, {}, parameters);
      parameters.rangeSource = RangeSource::Given;
      parameters.rangeMinimum = -1e6;
      parameters.rangeMaximum = -5.5;
      parameters.binWidth = 100.0;
      Check(many, {}, parameters);
      parameters.rangeMinimum = 3.25;
      parameters.rangeMaximum = 1e6;
      Check(many, {}, parameters);
    }
  }
}

} // namespace

TEST(GrayLevelDiscretization, AllTypesMethodsRangesAndMasks)
{
  const auto check = [](auto... pixels) { (..., CheckAllMethods<decltype(pixels)>()); };
  check(char(), std::int8_t(), std::uint8_t(), std::int16_t(), std::uint16_t(), std::int32_t(), std::uint32_t());
  check(0L, 0UL, 0LL, 0ULL, 0.0f, 0.0);
}

TEST(GrayLevelDiscretization, EndsOfTheTypes)
{
  const auto check = [](auto... pixels) { (..., CheckExtremes<decltype(pixels)>()); };
  check(std::int8_t(), std::uint8_t(), std::int16_t(), std::uint16_t(), std::int32_t(), std::uint32_t());
  check(std::int64_t(), std::uint64_t(), 0.0f);
}

TEST(GrayLevelDiscretization, TypesHaveTheirPixelType)
{
  // The others are those of AllTypesMethodsRangesAndMasks.
  EXPECT_EQ(PixelType::UInt8, GetPixelType<bool>());
  EXPECT_FALSE(voxelmaps::hasPixelType<long double>);
  std::ostringstream names;
  for (unsigned int i = 0; i <= 10; ++i)
  {
    names << static_cast<PixelType>(i) << ' ';
  }
  EXPECT_EQ("Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double invalid pixel type ", names.str());
}

TEST(GrayLevelDiscretization, SpecialValues)
{
  const double              denormal = std::numeric_limits<double>::denorm_min();
  const std::vector<double> pixels{ quietNaN, -infinity, -0.0, 0.0, denormal, 1.0, 4.0, infinity };
  Parameters                parameters;
  parameters.numberOfGrayLevels = 4;
  Result result;
  EXPECT_EQ((Levels{ 0, 1, 1, 1, 1, 2, 4, 4 }), Discretize(MakeJob(pixels, {}, parameters), &result));
  EXPECT_EQ(0.0, result.rangeMinimum);
  EXPECT_FALSE(std::signbit(result.rangeMinimum));
  EXPECT_EQ(4.0, result.rangeMaximum);
  EXPECT_EQ(4u, result.numberOfGrayLevels);

  parameters.method = Method::Edges;
  parameters.binEdges = { -1.0, 0.0, denormal, 4.0 };
  EXPECT_EQ((Levels{ 0, 0, 2, 2, 3, 3, 4, 4 }), Discretize(pixels, parameters));

  parameters.method = Method::Levels;
  EXPECT_EQ((Levels{ 0, 0, 4, 0 }), Discretize<float>({ -0.0f, static_cast<float>(quietNaN), 4.0f, 0.0f }, parameters));
  parameters.method = Method::Identity;
  EXPECT_EQ((Levels{ 1, 0, 4 }), Discretize<float>({ -0.0f, static_cast<float>(quietNaN), 3.0f }, parameters));

  // Denormal and huge ranges.
  parameters.method = Method::FixedBinNumber;
  EXPECT_EQ((Levels{ 1, 2, 3, 4, 4 }),
            Discretize<double>({ 0.0, denormal, 2 * denormal, 3 * denormal, 4 * denormal }, parameters));
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ((Levels{ 1, 3, 4 }), Discretize<double>({ -largest, 0.0, largest }, parameters));
}

TEST(GrayLevelDiscretization, AbsentVoxelsLeaveNoLevel)
{
  Parameters parameters;
  Result     result;
  EXPECT_EQ((Levels{ 0, 0 }), Discretize(MakeJob<float>({ 1.0f, 2.0f }, { 0, 0 }, parameters), &result));
  EXPECT_EQ(0.0, result.rangeMinimum);
  EXPECT_EQ(0.0, result.rangeMaximum);
  // NaN inside a mask.
  EXPECT_EQ((Levels{ 0, 0 }), Discretize<double>({ quietNaN, 2.0 }, parameters, { 1, 0 }));
  // No voxels.
  for (const Method method : allMethods)
  {
    parameters.method = method;
    parameters.binEdges = { 1.0 };
    Job job;
    job.parameters = parameters;
    job.size = { { 5, 0, 3 } };
    EXPECT_EQ(Levels{}, Discretize(job)) << method;
  }
}

TEST(GrayLevelDiscretization, MergingRangesDoesNotDependOnTheOrder)
{
  const std::vector<std::vector<float>> rows{
    { -0.0f, 5.0f }, { 0.0f }, {}, { static_cast<float>(quietNaN) }, { 7.0f }
  };
  std::vector<voxelmaps::IntensityRange> parts(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
  {
    parts[i].AddRow(PixelType::Float, rows[i].data(), nullptr, static_cast<std::int64_t>(rows[i].size()));
  }
  std::vector<std::size_t> order{ 0, 1, 2, 3, 4 };
  do
  {
    voxelmaps::IntensityRange range;
    EXPECT_TRUE(range.IsEmpty());
    for (const std::size_t i : order)
    {
      range.Merge(parts[i]);
    }
    EXPECT_FALSE(range.IsEmpty());
    EXPECT_EQ(0.0, range.GetMinimum());
    EXPECT_FALSE(std::signbit(range.GetMinimum()));
    EXPECT_EQ(7.0, range.GetMaximum());
    EXPECT_EQ(5, range.GetNumberOfUnmaskedPixels());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(GrayLevelDiscretization, ProgressCountsAllVoxels)
{
  const std::vector<std::uint8_t> pixels(3000000, 7);
  Job                             job = MakeJob(pixels, {}, Parameters());
  std::atomic<std::uint64_t>      voxels{ 0 };
  job.execution.numberOfWorkers = 3;
  job.execution.parallelFor = RunThreads;
  job.execution.reportProgress = [&voxels](std::uint64_t count) { voxels += count; };
  Discretize(job);
  EXPECT_EQ(pixels.size(), voxels);
  job.execution.reportProgress = [](std::uint64_t) { throw Aborted(); };
  EXPECT_THROW(Discretize(job), Aborted);
}

TEST(GrayLevelDiscretizationErrors, Intensities)
{
  Parameters parameters;
  parameters.method = Method::Identity;
  // The smallest is reported, with any number of workers.
  std::vector<float> pixels(300000, 3.0f);
  pixels[250000] = -5.0f;
  pixels[100] = 32.0f;
  pixels[299999] = 2.5f;
  Job job = MakeJob(pixels, {}, parameters);
  for (const unsigned int workers : { 1u, 4u })
  {
    job.execution.numberOfWorkers = workers;
    job.execution.parallelFor = RunThreads;
    EXPECT_EQ(
      "Intensity -5 is not a valid gray level: Identity accepts integers from 0 to 31 (NumberOfGrayLevels - 1).",
      GetErrorMessage([&] { Discretize(job); }));
  }
  parameters.method = Method::Levels;
  EXPECT_EQ("Intensity -inf is not a valid gray level: Levels accepts integers from 0 to 32 (NumberOfGrayLevels).",
            GetErrorMessage([&] { Discretize<double>({ infinity, 1.0, -infinity }, parameters); }));
  EXPECT_EQ((Levels{ 0, 1, 0 }), Discretize<double>({ infinity, 1.0, -infinity }, parameters, { 0, 1, 0 }));
  EXPECT_EQ((Levels{ 0, 32 }), Discretize<std::uint8_t>({ 0, 32 }, parameters));
  EXPECT_EQ("Intensity 33 is not a valid gray level: Levels accepts integers from 0 to 32 (NumberOfGrayLevels).",
            GetErrorMessage([&] { Discretize<std::uint8_t>({ 0, 33 }, parameters); }));
}

TEST(GrayLevelDiscretizationErrors, Ranges)
{
  Parameters parameters;
  for (const RangeSource source : { RangeSource::Image, RangeSource::Mask })
  {
    parameters.rangeSource = source;
    EXPECT_EQ("No intensity of the image is finite, so there is no range; the image has 2 voxels.",
              GetErrorMessage([&] { Discretize<double>({ quietNaN, infinity }, parameters); }));
  }
  parameters.rangeSource = RangeSource::Given;
  parameters.method = Method::FixedBinSize;
  parameters.binWidth = 1.0;
  parameters.rangeMaximum = 65535.0;
  EXPECT_EQ("BinWidth 1 over the range 0 to 65535 makes 65536 gray levels, but at most 65535 are possible.",
            GetErrorMessage([&] { Discretize<int>({ 1 }, parameters); }));
  parameters.rangeMaximum = 65534.5;
  EXPECT_EQ((Levels{ 1, 65535 }), Discretize<int>({ 0, 65535 }, parameters));
}

TEST(GrayLevelDiscretizationErrors, Jobs)
{
  const std::vector<float> pixels{ 1.0f, 2.0f };
  Levels                   levels(2);
  const auto               expectError = [&](const std::string & message, const auto & change) {
    Job job = MakeJob(pixels, {}, Parameters());
    job.levels = levels.data();
    change(job);
    EXPECT_EQ(message, GetErrorMessage([&] { DiscretizeLevels(job); }));
  };
  expectError("The array has 2 voxels, but pixels is null.", [](Job & job) { job.pixels = nullptr; });
  expectError("The array has 2 voxels, but levels is null.", [](Job & job) { job.levels = nullptr; });
  expectError("The pixel type is 10, which does not exist; it must be 0 (Int8) to 9 (Double).",
              [](Job & job) { job.pixelType = static_cast<PixelType>(10); });
  expectError("The size of the array is 2 x -1 x 1, but must not be negative, and its pixels must fit into memory.",
              [](Job & job) { job.size[1] = -1; });
  expectError("The size of the array is 4294967296 x 4294967296 x 1, but must not be negative, and its pixels must fit "
              "into memory.",
              [](Job & job) { job.size = { { std::int64_t{ 1 } << 32, std::int64_t{ 1 } << 32, 1 } }; });
  expectError("NumberOfGrayLevels is 0, but must be 1 to 65535.",
              [](Job & job) { job.parameters.numberOfGrayLevels = 0; });
  expectError("There are 0 BinEdges, but must be 1 to 65535.",
              [](Job & job) { job.parameters.method = Method::Edges; });
}

namespace
{
/** -2, 0, 5 and 100, as far as the type has them, with levels 1, 0, 7 and 65535. */
template <typename TPixel, typename TIntensity>
void
CheckSelection()
{
  SCOPED_TRACE(GetPixelType<TPixel>());
  const bool                hasNegative = std::numeric_limits<TPixel>::is_signed;
  const std::vector<TPixel> pixels{ static_cast<TPixel>(hasNegative ? -2 : 2), 0, 5, 100 };
  const Levels              levels{ 1, 0, 7, 65535 };
  std::vector<TIntensity>   intensities(pixels.size() + 1, 77);
  voxelmaps::SelectIntensities(GetPixelType<TPixel>(),
                               pixels.data(),
                               levels.data(),
                               static_cast<std::int64_t>(pixels.size()),
                               intensities.data(),
                               std::is_same<TIntensity, double>::value,
                               {});
  EXPECT_EQ(hasNegative ? -2 : 2, intensities[0]);
  EXPECT_TRUE(std::isnan(intensities[1]));
  EXPECT_EQ(5, intensities[2]);
  EXPECT_EQ(100, intensities[3]);
  EXPECT_EQ(77, intensities[4]) << "wrote after the intensities";
}
} // namespace

TEST(SelectIntensities, AllTypes)
{
  const auto check = [](auto... pixels) {
    (..., CheckSelection<decltype(pixels), float>());
    (..., CheckSelection<decltype(pixels), double>());
  };
  check(std::int8_t(), std::uint8_t(), std::int16_t(), std::uint16_t(), std::int32_t(), std::uint32_t());
  check(std::int64_t(), std::uint64_t(), 0.0f, 0.0);
}

TEST(SelectIntensities, NegativeZeroAndWorkers)
{
  std::vector<float>      pixels(300001, 1.5f);
  Levels                  levels(pixels.size(), 3);
  std::vector<double>     intensities(pixels.size());
  voxelmaps::JobExecution execution;
  pixels[0] = -0.0f;
  levels[200000] = 0;
  execution.numberOfWorkers = 3;
  execution.parallelFor = RunThreads;
  voxelmaps::SelectIntensities(
    PixelType::Float, pixels.data(), levels.data(), 300001, intensities.data(), true, execution);
  EXPECT_EQ(0.0, intensities[0]);
  EXPECT_FALSE(std::signbit(intensities[0]));
  for (std::size_t i = 1; i < intensities.size(); ++i)
  {
    ASSERT_TRUE(i == 200000 ? std::isnan(intensities[i]) : intensities[i] == 1.5) << i;
  }
}

TEST(SelectIntensities, Errors)
{
  EXPECT_EQ("The pixel type is 10, which does not exist; it must be 0 (Int8) to 9 (Double).", GetErrorMessage([] {
              voxelmaps::SelectIntensities(static_cast<PixelType>(10), nullptr, nullptr, 0, nullptr, false, {});
            }));
}

TEST(SelectIntensities, LargeIntegersNeedDouble)
{
  for (const PixelType type :
       { PixelType::Int8, PixelType::UInt8, PixelType::Int16, PixelType::UInt16, PixelType::Float })
  {
    EXPECT_FALSE(voxelmaps::NeedsDoubleIntensities(type)) << type;
  }
  for (const PixelType type :
       { PixelType::Int32, PixelType::UInt32, PixelType::Int64, PixelType::UInt64, PixelType::Double })
  {
    EXPECT_TRUE(voxelmaps::NeedsDoubleIntensities(type)) << type;
  }
}
