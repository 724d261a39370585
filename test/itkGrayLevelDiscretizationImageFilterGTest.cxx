// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "ItkTestUtilities.h"

#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace
{
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::HasSameBits;
using VoxelMapsTest::MakeImage;
using VoxelMapsTest::RandomNumbers;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Levels = std::vector<unsigned short>;

template <typename TPixel, unsigned int VDimension = 2>
using TypedFilter = itk::GrayLevelDiscretizationImageFilter<itk::Image<TPixel, VDimension>>;

using FloatFilter = TypedFilter<float>;
using FloatImage = itk::Image<float, 2>;
using MaskImage = itk::Image<unsigned char, 2>;

constexpr float quietNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/** An image without a buffer. */
struct ComputedImage
{
  using PixelType = short;
  using InternalPixelType = short;
  using IndexType = itk::Index<2>;
  using RegionType = itk::ImageRegion<2>;
  static constexpr unsigned int ImageDimension = 2;

  static PixelType
  GetPixel(const IndexType & index)
  {
    return static_cast<PixelType>(index[0] + 10 * index[1]);
  }
};

/** An image of one row, or of one column in the last axis, of these pixels. */
template <typename TImage>
typename TImage::Pointer
MakeLine(const std::vector<typename TImage::PixelType> & pixels, unsigned int axis = 0)
{
  auto size = TImage::SizeType::Filled(1);
  size[axis] = pixels.size();
  return MakeImage<TImage>(size, pixels);
}

template <typename TFilter>
Levels
GetOutputLevels(TFilter * filter)
{
  filter->Update();
  return GetBuffer(filter->GetOutput());
}

std::int64_t
QuotientFloor(std::int64_t numerator, std::int64_t denominator)
{
  const std::int64_t quotient = numerator / denominator;
  return quotient * denominator > numerator ? quotient - 1 : quotient;
}

/** Intensities around the ends of the range, and the ends of the type. */
template <typename TPixel>
std::vector<TPixel>
MakeIntegers(std::int64_t minimum, std::int64_t maximum)
{
  std::vector<TPixel> pixels{ std::numeric_limits<TPixel>::lowest(), std::numeric_limits<TPixel>::max() };
  const auto          step = std::max<std::int64_t>(1, (maximum - minimum) / 500);
  for (std::int64_t x = minimum - 3 * step; x <= maximum + 3 * step; x += step)
  {
    pixels.push_back(static_cast<TPixel>(x));
  }
  for (std::int64_t x = -2; x <= 2; ++x)
  {
    pixels.push_back(static_cast<TPixel>(minimum + x));
    pixels.push_back(static_cast<TPixel>(maximum + x));
  }
  return pixels;
}

/** All methods with a given range of integers, against integer arithmetic. */
template <typename TPixel, unsigned int VDimension>
void
CheckGivenIntegerRange(std::int64_t minimum, std::int64_t maximum, std::int64_t number, std::int64_t width)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  const std::vector<TPixel> pixels = MakeIntegers<TPixel>(minimum, maximum);

  const auto filter = TypedFilter<TPixel, VDimension>::New();
  filter->SetInput(MakeLine<ImageType>(pixels, VDimension - 1));
  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMinimum(static_cast<double>(minimum));
  filter->SetRangeMaximum(static_cast<double>(maximum));
  filter->SetNumberOfGrayLevels(static_cast<unsigned int>(number));
  filter->SetBinWidth(static_cast<double>(width));

  for (const Method method : { Method::FixedBinNumber, Method::FixedBinSize, Method::FixedBinSizeAtMultiples })
  {
    SCOPED_TRACE(::testing::Message() << method << " in " << VDimension << "D");
    filter->SetMethod(method);
    const auto getLevel = [=](std::int64_t x) {
      switch (method)
      {
        case Method::FixedBinNumber:
          return x == maximum ? number : number * (x - minimum) / (maximum - minimum) + 1;
        case Method::FixedBinSize:
          return (x - minimum) / width + 1;
        default:
          return QuotientFloor(x, width) - QuotientFloor(minimum, width) + 1;
      }
    };
    const Levels levels = GetOutputLevels(filter.GetPointer());
    ASSERT_EQ(pixels.size(), levels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i)
    {
      const auto x = std::min(std::max(static_cast<std::int64_t>(pixels[i]), minimum), maximum);
      ASSERT_EQ(getLevel(x), levels[i]) << "of " << +pixels[i];
    }
    EXPECT_EQ(getLevel(maximum), filter->GetUsedNumberOfGrayLevels());
    EXPECT_EQ(static_cast<double>(minimum), filter->GetUsedRangeMinimum());
    EXPECT_EQ(static_cast<double>(maximum), filter->GetUsedRangeMaximum());
  }
}

/** All methods with a given range of real numbers, against the formulas of the documentation. */
template <typename TPixel, unsigned int VDimension>
void
CheckGivenRealRange(double minimum, double maximum, unsigned int number, double width)
{
  RandomNumbers       random(4711);
  std::vector<TPixel> pixels{ static_cast<TPixel>(minimum), static_cast<TPixel>(maximum) };
  for (int i = 0; i < 500; ++i)
  {
    const double share = static_cast<double>(random.Between(-100, 1100)) / 1000.0;
    pixels.push_back(static_cast<TPixel>(minimum + share * (maximum - minimum)));
  }
  const auto filter = TypedFilter<TPixel, VDimension>::New();
  filter->SetInput(MakeLine<itk::Image<TPixel, VDimension>>(pixels, VDimension - 1));
  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMinimum(minimum);
  filter->SetRangeMaximum(maximum);
  filter->SetNumberOfGrayLevels(number);
  filter->SetBinWidth(width);

  for (const Method method : { Method::FixedBinNumber, Method::FixedBinSize, Method::FixedBinSizeAtMultiples })
  {
    SCOPED_TRACE(::testing::Message() << method << " in " << VDimension << "D");
    filter->SetMethod(method);
    const Levels levels = GetOutputLevels(filter.GetPointer());
    ASSERT_EQ(pixels.size(), levels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i)
    {
      const double x = std::min(std::max(static_cast<double>(pixels[i]), minimum), maximum);
      double       level = std::floor(x / width) - std::floor(minimum / width) + 1;
      if (method == Method::FixedBinNumber)
      {
        level = x == maximum ? number : std::floor(number * (x - minimum) / (maximum - minimum)) + 1;
      }
      else if (method == Method::FixedBinSize)
      {
        level = std::floor((x - minimum) / width) + 1;
      }
      ASSERT_EQ(level, levels[i]) << "of " << pixels[i];
    }
  }
}
} // namespace

TEST(GrayLevelDiscretizationImageFilter, LargeImagesHaveTheLevelsOfTheirIntensities)
{
  // All intensities of 16 bits, in more pixels than it takes for a table; wider types have none.
  constexpr itk::SizeValueType columns = 1031;
  constexpr itk::SizeValueType rows = 1021;
  using Image16 = itk::Image<short, 2>;
  using Image32 = itk::Image<int, 2>;
  const std::size_t  pixels = columns * rows;
  std::vector<short> values(pixels);
  for (std::size_t i = 0; i < pixels; ++i)
  {
    values[i] = static_cast<short>(static_cast<int>(i % 65536) - 32768);
  }
  RandomNumbers              random(5);
  std::vector<unsigned char> maskValues(pixels);
  for (auto & value : maskValues)
  {
    value = random.Chance(0.6) ? 1 : 0;
  }
  const auto mask = MakeImage<MaskImage>({ { columns, rows } }, maskValues);
  const auto prepare = [](auto * filter, Method method) {
    filter->SetMethod(method);
    filter->SetNumberOfGrayLevels(method == Method::Levels || method == Method::Identity ? 65535 : 37);
    filter->SetBinWidth(2.75);
    filter->SetBinEdges({ -20000.5, -3.0, 0.25, 1000.0, 30000.0 });
  };
  for (const Method method :
       { Method::FixedBinNumber, Method::FixedBinSize, Method::FixedBinSizeAtMultiples, Method::Edges, Method::Levels })
  {
    SCOPED_TRACE(::testing::Message() << method);
    std::vector<short> valid = values;
    if (method == Method::Levels)
    {
      for (short & value : valid)
      {
        value = static_cast<short>(value & 0x7fff);
      }
    }
    const auto large = TypedFilter<short>::New();
    prepare(large.GetPointer(), method);
    large->SetInput(MakeImage<Image16>({ { columns, rows } }, valid));
    const auto wide = TypedFilter<int>::New();
    prepare(wide.GetPointer(), method);
    wide->SetInput(MakeImage<Image32>({ { columns, rows } }, std::vector<int>(valid.begin(), valid.end())));
    for (const bool isMasked : { false, true })
    {
      if (isMasked)
      {
        large->SetMaskImage(mask);
        wide->SetMaskImage(mask);
      }
      const Levels levels = GetOutputLevels(large.GetPointer());
      EXPECT_EQ(GetOutputLevels(wide.GetPointer()), levels);
      if (method == Method::FixedBinNumber)
      {
        for (std::size_t i = 0; i < pixels; ++i)
        {
          const int level = std::min(static_cast<int>(std::floor(37.0 * (valid[i] + 32768.0) / 65535.0)) + 1, 37);
          ASSERT_EQ(!isMasked || maskValues[i] == 1 ? level : 0, levels[i]) << "of " << valid[i];
        }
      }
    }
  }

  // An invalid level is found in a table, too.
  const auto filter = TypedFilter<short>::New();
  prepare(filter.GetPointer(), Method::Identity);
  filter->SetInput(MakeImage<Image16>({ { columns, rows } }, values));
  ExpectError([&] { filter->Update(); }, { "-32768", "0", "65534" });
}

TEST(RowReader, CopiesRowsOfImagesThatComputeTheirPixels)
{
  const ComputedImage             image;
  const ComputedImage::RegionType region({ { -2, 5 } }, { { 4, 3 } });
  for (const itk::IndexValueType x : { -2, -1, 0, 1 })
  {
    for (const itk::IndexValueType y : { 5, 6, 7 })
    {
      const auto value = ComputedImage::GetPixel({ { x, y } });
      const auto bytes = itk::VoxelMapsDetail::MakeBytes(&image, region, value, voxelmaps::JobExecution());
      std::vector<std::uint8_t> expected(12, 0);
      expected[static_cast<std::size_t>((y - 5) * 4 + x + 2)] = 1;
      EXPECT_EQ(expected, std::vector<std::uint8_t>(bytes.get(), bytes.get() + 12)) << value;
    }
  }
}

TEST(GrayLevelDiscretizationImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = FloatFilter::New();
  EXPECT_STREQ("GrayLevelDiscretizationImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(Method::FixedBinNumber, filter->GetMethod());
  EXPECT_EQ(32u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(25.0, filter->GetBinWidth());
  EXPECT_EQ(RangeSource::Mask, filter->GetRangeSource());
  EXPECT_EQ(0.0, filter->GetRangeMinimum());
  EXPECT_EQ(255.0, filter->GetRangeMaximum());
  EXPECT_EQ(1, filter->GetInsidePixelValue());
  EXPECT_EQ(nullptr, filter->GetMaskImage());
  EXPECT_EQ(65535u, FloatFilter::MaximumNumberOfGrayLevels + 0u);
  EXPECT_TRUE(filter->NeedsWholeInput());
}

TEST(GrayLevelDiscretizationImageFilter, SettersStoreAndModify)
{
  const auto filter = FloatFilter::New();
  const auto mask = MakeImage<MaskImage>({ { 1, 1 } }, { 1 });

  const auto expectModified = VoxelMapsTest::MakeModifiedCheck(filter.GetPointer());
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetMethod(Method::FixedBinSize); }, modified);
    expectModified([&] { filter->SetNumberOfGrayLevels(99); }, modified);
    expectModified([&] { filter->SetBinWidth(2.5); }, modified);
    expectModified([&] { filter->SetRangeSource(RangeSource::Image); }, modified);
    expectModified([&] { filter->SetRangeMinimum(-7.5); }, modified);
    expectModified([&] { filter->SetRangeMaximum(1e6); }, modified);
    expectModified([&] { filter->SetInsidePixelValue(7); }, modified);
    expectModified([&] { filter->SetMaskImage(mask); }, modified);
  }
  EXPECT_EQ(Method::FixedBinSize, filter->GetMethod());
  EXPECT_EQ(99u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(2.5, filter->GetBinWidth());
  EXPECT_EQ(RangeSource::Image, filter->GetRangeSource());
  EXPECT_EQ(-7.5, filter->GetRangeMinimum());
  EXPECT_EQ(1e6, filter->GetRangeMaximum());
  EXPECT_EQ(7, filter->GetInsidePixelValue());
  EXPECT_EQ(mask.GetPointer(), filter->GetMaskImage());
}

TEST(GrayLevelDiscretizationImageFilter, PrintsItsMembers)
{
  const auto filter = FloatFilter::New();
  filter->SetMethod(Method::FixedBinSizeAtMultiples);
  filter->SetNumberOfGrayLevels(77);
  filter->SetBinWidth(12.25);
  filter->SetRangeSource(RangeSource::Image);
  filter->SetRangeMinimum(-33.5);
  filter->SetRangeMaximum(44.5);
  filter->SetInsidePixelValue(66);
  VoxelMapsTest::ExpectPrints(filter.GetPointer(),
                              { "Method: FixedBinSizeAtMultiples",
                                "NumberOfGrayLevels: 77",
                                "BinWidth: 12.25",
                                "RangeSource: Image",
                                "RangeMinimum: -33.5",
                                "RangeMaximum: 44.5",
                                "InsidePixelValue: 66",
                                "UsedRangeMinimum: 0",
                                "UsedRangeMaximum: 0",
                                "UsedNumberOfGrayLevels: 0" });
}

TEST(GrayLevelDiscretizationImageFilter, OnlyAnAutomaticRangeNeedsTheWholeInput)
{
  const auto filter = FloatFilter::New();
  filter->SetRangeSource(RangeSource::Image);
  EXPECT_TRUE(filter->NeedsWholeInput());
  filter->SetRangeSource(RangeSource::Given);
  EXPECT_FALSE(filter->NeedsWholeInput());
  filter->SetRangeSource(RangeSource::Mask);
  for (const Method method : { Method::Identity, Method::Levels, Method::Edges })
  {
    filter->SetMethod(method);
    EXPECT_FALSE(filter->NeedsWholeInput());
  }
}

TEST(GrayLevelDiscretizationImageFilter, LevelsStayAsTheyAre)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ 0.0f, 1.0f, 7.0f, 8.0f, quietNaN, 3.0f }));
  filter->SetMaskImage(MakeLine<MaskImage>({ 1, 1, 1, 1, 1, 0 }));
  filter->SetMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(8);
  EXPECT_EQ((Levels{ 0, 1, 7, 8, 0, 0 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(8u, filter->GetUsedNumberOfGrayLevels());
  EXPECT_EQ(1.0, filter->GetUsedRangeMinimum());
  EXPECT_EQ(8.0, filter->GetUsedRangeMaximum());
}

// numpy.digitize([...], [-1, 0, 2.5, 1000])
TEST(GrayLevelDiscretizationImageFilter, EdgesAreCountedAsNumpyDoes)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(
    MakeLine<FloatImage>({ -infinity, -1.5f, -1.0f, -0.5f, 0.0f, 2.25f, 2.5f, 999.0f, 1000.0f, infinity, quietNaN }));
  filter->SetMethod(Method::Edges);
  filter->SetBinEdges({ -1.0, 0.0, 2.5, 1000.0 });
  EXPECT_EQ((Levels{ 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(4u, filter->GetUsedNumberOfGrayLevels());
  EXPECT_EQ(-1.0, filter->GetUsedRangeMinimum());
  EXPECT_EQ(1000.0, filter->GetUsedRangeMaximum());
  EXPECT_EQ((std::vector<double>{ -1.0, 0.0, 2.5, 1000.0 }), filter->GetBinEdges());
}

// Worked by hand: 8 levels of 0..255 are 32 wide (but the last one ends at 255 inclusive).
TEST(GrayLevelDiscretizationImageFilter, FixedBinNumberByHand)
{
  const auto filter = TypedFilter<unsigned char>::New();
  filter->SetInput(MakeLine<itk::Image<unsigned char, 2>>({ 0, 31, 32, 63, 64, 127, 128, 223, 224, 254, 255 }));
  filter->SetRangeSource(RangeSource::Given);
  filter->SetNumberOfGrayLevels(8);
  EXPECT_EQ((Levels{ 1, 1, 2, 2, 3, 4, 5, 7, 8, 8, 8 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(8u, filter->GetUsedNumberOfGrayLevels());
}

// Worked by hand: min -30, width 25. Bins from min begin at -30, -5, 20; bins at multiples at -50, -25, 0, 25.
TEST(GrayLevelDiscretizationImageFilter, FixedBinSizesByHand)
{
  const auto filter = TypedFilter<short>::New();
  filter->SetInput(MakeLine<itk::Image<short, 2>>({ -30, -26, -25, -6, -5, -1, 0, 19, 20, 24, 25, 44 }));
  filter->SetMethod(Method::FixedBinSize);
  EXPECT_EQ((Levels{ 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(3u, filter->GetUsedNumberOfGrayLevels());
  EXPECT_EQ(-30.0, filter->GetUsedRangeMinimum());
  EXPECT_EQ(44.0, filter->GetUsedRangeMaximum());

  filter->SetMethod(Method::FixedBinSizeAtMultiples);
  EXPECT_EQ((Levels{ 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(4u, filter->GetUsedNumberOfGrayLevels());
}

// The greatest intensity begins a bin of its own if the range is a multiple of the width (IBSI 2.7).
TEST(GrayLevelDiscretizationImageFilter, FixedBinSizeCountsTheMaximum)
{
  const auto filter = TypedFilter<short>::New();
  filter->SetInput(MakeLine<itk::Image<short, 2>>({ 0, 24, 25, 49, 50 }));
  filter->SetMethod(Method::FixedBinSize);
  EXPECT_EQ((Levels{ 1, 1, 2, 2, 3 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(3u, filter->GetUsedNumberOfGrayLevels());
}

TEST(GrayLevelDiscretizationImageFilter, GivenRangesOfIntegerTypes)
{
  CheckGivenIntegerRange<unsigned char, 2>(10, 200, 32, 7);
  CheckGivenIntegerRange<unsigned char, 3>(0, 255, 255, 1);
  CheckGivenIntegerRange<short, 2>(-1000, 3000, 100, 25);
  CheckGivenIntegerRange<short, 3>(-32768, 32767, 65535, 3);
  CheckGivenIntegerRange<unsigned short, 2>(5, 60000, 1000, 333);
  CheckGivenIntegerRange<unsigned short, 3>(0, 65534, 65535, 1);
  CheckGivenIntegerRange<int, 2>(-2000000000, 2000000000, 65535, 100003);
  CheckGivenIntegerRange<int, 3>(-5, 77, 3, 10);
  CheckGivenIntegerRange<long long, 2>(-5000000000, 5000000001, 257, 1000000007);
}

TEST(GrayLevelDiscretizationImageFilter, GivenRangesOfRealTypes)
{
  CheckGivenRealRange<float, 2>(-1.5, 2.25, 64, 0.1);
  CheckGivenRealRange<float, 3>(0.1, 0.7, 10, 0.03);
  CheckGivenRealRange<double, 2>(-1e6, 1e7, 65535, 1e3);
  CheckGivenRealRange<double, 3>(-0.3, 0.3, 6, 0.1);
}

TEST(GrayLevelDiscretizationImageFilter, EverySecondIntensityUpTo65535Levels)
{
  std::vector<int> pixels;
  for (int i = 0; i < 2 * 65535; ++i)
  {
    pixels.push_back(i - 1000);
  }
  const auto filter = TypedFilter<int, 3>::New();
  filter->SetInput(MakeLine<itk::Image<int, 3>>(pixels));
  filter->SetMethod(Method::FixedBinSize);
  filter->SetBinWidth(2.0);
  const Levels levels = GetOutputLevels(filter.GetPointer());
  EXPECT_EQ(65535u, filter->GetUsedNumberOfGrayLevels());
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    ASSERT_EQ(i / 2 + 1, levels[i]);
  }
}

TEST(GrayLevelDiscretizationImageFilter, OutputMayBeAnyIntegerOf16BitsOrMore)
{
  const auto filter =
    itk::GrayLevelDiscretizationImageFilter<itk::Image<unsigned short, 2>, itk::Image<unsigned int, 2>>::New();
  filter->SetInput(MakeLine<itk::Image<unsigned short, 2>>({ 0, 1, 65533, 65534 }));
  filter->SetMethod(Method::Identity);
  filter->SetNumberOfGrayLevels(65535);
  filter->Update();
  EXPECT_EQ((std::vector<unsigned int>{ 1, 2, 65534, 65535 }), GetBuffer(filter->GetOutput()));
}

TEST(GrayLevelDiscretizationImageFilter, IdentityAddsOne)
{
  const auto filter = TypedFilter<unsigned char>::New();
  filter->SetInput(MakeLine<itk::Image<unsigned char, 2>>({ 0, 1, 7, 254, 255 }));
  filter->SetMethod(Method::Identity);
  filter->SetNumberOfGrayLevels(256);
  EXPECT_EQ((Levels{ 1, 2, 8, 255, 256 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(256u, filter->GetUsedNumberOfGrayLevels());

  const auto floatFilter = FloatFilter::New();
  floatFilter->SetInput(MakeLine<FloatImage>({ 0.0f, -0.0f, quietNaN, 31.0f }));
  floatFilter->SetMethod(Method::Identity);
  EXPECT_EQ((Levels{ 1, 1, 0, 32 }), GetOutputLevels(floatFilter.GetPointer()));
}

TEST(GrayLevelDiscretizationImageFilter, TheRangeComesFromImageOrMask)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ -100.0f, 0.0f, 3.0f, 6.0f, 10.0f, 1000.0f }));
  filter->SetNumberOfGrayLevels(10);

  // Without a mask, Mask means the whole image.
  for (const RangeSource source : { RangeSource::Mask, RangeSource::Image })
  {
    filter->SetRangeSource(source);
    EXPECT_EQ((Levels{ 1, 1, 1, 1, 2, 10 }), GetOutputLevels(filter.GetPointer()));
    EXPECT_EQ(-100.0, filter->GetUsedRangeMinimum());
    EXPECT_EQ(1000.0, filter->GetUsedRangeMaximum());
  }

  filter->SetMaskImage(MakeLine<MaskImage>({ 0, 1, 1, 1, 1, 0 }));
  EXPECT_EQ((Levels{ 0, 1, 1, 1, 2, 0 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(-100.0, filter->GetUsedRangeMinimum());

  filter->SetRangeSource(RangeSource::Mask);
  EXPECT_EQ((Levels{ 0, 1, 4, 7, 10, 0 }), GetOutputLevels(filter.GetPointer()));
  EXPECT_EQ(0.0, filter->GetUsedRangeMinimum());
  EXPECT_EQ(10.0, filter->GetUsedRangeMaximum());
  EXPECT_EQ(10u, filter->GetUsedNumberOfGrayLevels());

  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMinimum(0.0);
  filter->SetRangeMaximum(5.0);
  EXPECT_EQ((Levels{ 0, 1, 7, 10, 10, 0 }), GetOutputLevels(filter.GetPointer()));
}

TEST(GrayLevelDiscretizationImageFilter, OnlyVoxelsOfInsidePixelValueAreInside)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ 5.0f, 6.0f, 7.0f, 8.0f, 9.0f }));
  filter->SetMaskImage(MakeLine<MaskImage>({ 1, 7, 255, 7, 0 }));
  filter->SetMethod(Method::FixedBinSize);
  filter->SetBinWidth(1.0);
  filter->SetInsidePixelValue(7);
  EXPECT_EQ((Levels{ 0, 1, 0, 3, 0 }), GetOutputLevels(filter.GetPointer()));
  filter->SetInsidePixelValue(0);
  EXPECT_EQ((Levels{ 0, 0, 0, 0, 1 }), GetOutputLevels(filter.GetPointer()));
}

TEST(GrayLevelDiscretizationImageFilter, NaNIsAbsentAndInfinitiesAreClamped)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ quietNaN, -infinity, 1.0f, 2.0f, 4.0f, infinity }));
  filter->SetNumberOfGrayLevels(3);
  for (const RangeSource source : { RangeSource::Image, RangeSource::Mask })
  {
    filter->SetRangeSource(source);
    EXPECT_EQ((Levels{ 0, 1, 1, 2, 3, 3 }), GetOutputLevels(filter.GetPointer()));
    EXPECT_EQ(1.0, filter->GetUsedRangeMinimum());
    EXPECT_EQ(4.0, filter->GetUsedRangeMaximum());
  }
  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMinimum(-2.0);
  filter->SetRangeMaximum(4.0);
  for (const Method method : { Method::FixedBinNumber, Method::FixedBinSize, Method::FixedBinSizeAtMultiples })
  {
    SCOPED_TRACE(::testing::Message() << method);
    filter->SetMethod(method);
    filter->SetBinWidth(2.0);
    const Levels expected = method == Method::FixedBinNumber ? Levels{ 0, 1, 2, 3, 3, 3 } : Levels{ 0, 1, 2, 3, 4, 4 };
    EXPECT_EQ(expected, GetOutputLevels(filter.GetPointer()));
  }
}

TEST(GrayLevelDiscretizationImageFilter, AConstantImageIsAllOfLevelOne)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ -3.7f, -3.7f, quietNaN, -3.7f }));
  for (const Method method : { Method::FixedBinNumber, Method::FixedBinSize, Method::FixedBinSizeAtMultiples })
  {
    SCOPED_TRACE(::testing::Message() << method);
    filter->SetMethod(method);
    for (const RangeSource source : { RangeSource::Image, RangeSource::Mask })
    {
      filter->SetRangeSource(source);
      EXPECT_EQ((Levels{ 1, 1, 0, 1 }), GetOutputLevels(filter.GetPointer()));
    }
  }
}

TEST(GrayLevelDiscretizationImageFilter, AnEmptyMaskLeavesNoLevel)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f, 3.0f }));
  filter->SetMaskImage(MakeLine<MaskImage>({ 0, 0, 0 }));
  for (const RangeSource source : { RangeSource::Image, RangeSource::Mask, RangeSource::Given })
  {
    filter->SetRangeSource(source);
    EXPECT_EQ((Levels{ 0, 0, 0 }), GetOutputLevels(filter.GetPointer()));
  }
}

TEST(GrayLevelDiscretizationImageFilter, OneGrayLevel)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f, 3.0f }));
  filter->SetNumberOfGrayLevels(1);
  EXPECT_EQ((Levels{ 1, 1, 1 }), GetOutputLevels(filter.GetPointer()));
}

TEST(GrayLevelDiscretizationImageFilter, RegionsAndStreamingDoNotChangeLevels)
{
  RandomNumbers           random(42);
  FloatImage::SizeType    size{ { 23, 17 } };
  FloatImage::IndexType   start{ { -5, 100 } };
  std::vector<float>      pixels(size[0] * size[1]);
  MaskImage::Pointer      mask;
  FloatImage::SpacingType spacing;
  spacing[0] = 0.5;
  spacing[1] = 3.0;
  for (float & pixel : pixels)
  {
    pixel = static_cast<float>(random.Between(-50, 300));
  }
  const auto image = MakeImage<FloatImage>(size, pixels, start);
  image->SetSpacing(spacing);
  {
    std::vector<unsigned char> inside(pixels.size());
    for (unsigned char & pixel : inside)
    {
      pixel = random.Chance(0.7) ? 1 : 0;
    }
    mask = MakeImage<MaskImage>(size, inside, start);
    mask->SetSpacing(spacing);
  }

  for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
  {
    SCOPED_TRACE(::testing::Message() << source);
    const auto makeFilter = [&] {
      const auto filter = FloatFilter::New();
      filter->SetInput(image);
      filter->SetMaskImage(mask);
      filter->SetRangeSource(source);
      return filter;
    };
    const auto   whole = makeFilter();
    const Levels levels = GetOutputLevels(whole.GetPointer());
    EXPECT_EQ(image->GetLargestPossibleRegion(), whole->GetOutput()->GetBufferedRegion());
    EXPECT_EQ(spacing, whole->GetOutput()->GetSpacing());
    for (std::size_t i = 0; i < pixels.size(); ++i)
    {
      EXPECT_EQ(mask->GetBufferPointer()[i] == 0, levels[i] == 0);
    }

    for (const unsigned int divisions : { 2u, 7u })
    {
      const auto filter = makeFilter();
      const auto streamer =
        itk::StreamingImageFilter<FloatFilter::OutputImageType, FloatFilter::OutputImageType>::New();
      streamer->SetInput(filter->GetOutput());
      streamer->SetNumberOfStreamDivisions(divisions);
      streamer->Update();
      EXPECT_EQ(levels, GetBuffer(streamer->GetOutput()));
      EXPECT_LT(filter->GetOutput()->GetBufferedRegion().GetNumberOfPixels(), pixels.size());
      // The last request that went up.
      const bool isWhole = image->GetRequestedRegion() == image->GetLargestPossibleRegion();
      EXPECT_EQ(source != RangeSource::Given, isWhole);
      EXPECT_EQ(image->GetRequestedRegion(), mask->GetRequestedRegion());
    }

    const FloatImage::RegionType region({ { -2, 103 } }, { { 7, 5 } });
    const auto                   part = makeFilter();
    part->GetOutput()->SetRequestedRegion(region);
    part->Update();
    EXPECT_EQ(region, part->GetOutput()->GetBufferedRegion());
    EXPECT_EQ(GetBuffer(whole->GetOutput(), region), GetBuffer(part->GetOutput()));

    for (const unsigned int workUnits : { 1u, 2u, 8u })
    {
      const auto filter = makeFilter();
      filter->SetNumberOfWorkUnits(workUnits);
      EXPECT_EQ(levels, GetOutputLevels(filter.GetPointer()));
    }
  }
}

TEST(GrayLevelDiscretizationImageFilterErrors, Parameters)
{
  const auto makeFilter = [] {
    const auto filter = FloatFilter::New();
    filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f, 3.0f }));
    return filter;
  };
  for (const unsigned int number : { 0u, 65536u, 4000000000u })
  {
    for (const Method method : { Method::FixedBinNumber, Method::Identity, Method::Levels })
    {
      const auto filter = makeFilter();
      filter->SetMethod(method);
      filter->SetNumberOfGrayLevels(number);
      ExpectError([&] { filter->Update(); }, { std::to_string(number) });
    }
  }
  for (const Method method : { Method::FixedBinSize, Method::FixedBinSizeAtMultiples })
  {
    const std::vector<std::pair<double, std::string>> badWidths{
      { 0.0, "0" }, { -2.5, "-2.5" }, { quietNaN, "nan" }, { infinity, "inf" }
    };
    for (const auto & badWidth : badWidths)
    {
      const auto filter = makeFilter();
      filter->SetMethod(method);
      filter->SetBinWidth(badWidth.first);
      ExpectError([&] { filter->Update(); }, { badWidth.second });
    }
    const auto filter = makeFilter();
    filter->SetMethod(method);
    filter->SetRangeSource(RangeSource::Given);
    filter->SetRangeMinimum(0.0);
    filter->SetRangeMaximum(65535.0);
    filter->SetBinWidth(1.0);
    ExpectError([&] { filter->Update(); }, { "65536" });
    filter->SetRangeMaximum(65534.5);
    EXPECT_NO_THROW(filter->Update());
    filter->SetBinWidth(1e-300);
    ExpectError([&] { filter->Update(); }, { "1e-300" });
  }
  struct BadRange
  {
    double                   minimum;
    double                   maximum;
    std::vector<std::string> words;
  };
  const std::vector<BadRange> badRanges{ { 5.5, 5.5, { "5.5" } },
                                         { 17.0, -18.0, { "17", "-18" } },
                                         { quietNaN, 11.0, { "nan", "11" } },
                                         { 11.0, quietNaN, { "nan", "11" } },
                                         { -infinity, 12.0, { "-inf", "12" } },
                                         { 13.0, infinity, { "inf", "13" } } };
  for (const BadRange & range : badRanges)
  {
    const auto filter = makeFilter();
    filter->SetRangeSource(RangeSource::Given);
    filter->SetRangeMinimum(range.minimum);
    filter->SetRangeMaximum(range.maximum);
    ExpectError([&] { filter->Update(); }, range.words);
  }
}

TEST(GrayLevelDiscretizationImageFilterErrors, IdentityTakesLevelsOnly)
{
  const std::vector<std::pair<float, std::string>> badIntensities{
    { -1.0f, "-1" }, { 32.0f, "32" }, { 2.5f, "2.5" }, { infinity, "inf" }, { -infinity, "-inf" }
  };
  for (const auto & badIntensity : badIntensities)
  {
    const auto filter = FloatFilter::New();
    filter->SetInput(MakeLine<FloatImage>({ 1.0f, badIntensity.first, 3.0f }));
    filter->SetMethod(Method::Identity);
    ExpectError([&] { filter->Update(); }, { badIntensity.second });
    // What the mask leaves out is not looked at.
    filter->SetMaskImage(MakeLine<MaskImage>({ 1, 0, 1 }));
    EXPECT_EQ((Levels{ 2, 0, 4 }), GetOutputLevels(filter.GetPointer()));
  }
}

TEST(GrayLevelDiscretizationImageFilterErrors, LevelsTakesLevelsOnly)
{
  const std::vector<std::pair<float, std::string>> badIntensities{
    { -1.0f, "-1" }, { 33.0f, "33" }, { 2.5f, "2.5" }, { infinity, "inf" }, { -infinity, "-inf" }
  };
  for (const auto & badIntensity : badIntensities)
  {
    const auto filter = FloatFilter::New();
    filter->SetInput(MakeLine<FloatImage>({ 1.0f, badIntensity.first, 32.0f }));
    filter->SetMethod(Method::Levels);
    ExpectError([&] { filter->Update(); }, { badIntensity.second, "Levels", "32" });
    filter->SetMaskImage(MakeLine<MaskImage>({ 1, 0, 1 }));
    EXPECT_EQ((Levels{ 1, 0, 32 }), GetOutputLevels(filter.GetPointer()));
  }
}

TEST(GrayLevelDiscretizationImageFilterErrors, EdgesMustAscend)
{
  const std::vector<std::pair<std::vector<double>, std::string>> badEdges{ { {}, "0" },
                                                                           { { 1.0, 1.0 }, "1" },
                                                                           { { 3.0, 2.0 }, "2" },
                                                                           { { 0.0, quietNaN }, "nan" },
                                                                           { { 0.0, infinity }, "inf" } };
  for (const auto & badEdge : badEdges)
  {
    const auto filter = FloatFilter::New();
    filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f }));
    filter->SetMethod(Method::Edges);
    filter->SetBinEdges(badEdge.first);
    ExpectError([&] { filter->Update(); }, { "BinEdges", badEdge.second });
  }
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f }));
  filter->SetMethod(Method::Edges);
  filter->SetBinEdges(std::vector<double>(65536, 0.0));
  ExpectError([&] { filter->Update(); }, { "BinEdges", "65536" });
}

TEST(GrayLevelDiscretizationImageFilterErrors, MethodsThatDoNotExist)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f }));
  filter->SetMethod(static_cast<Method>(9));
  ExpectError([&] { filter->Update(); }, { "9" });
}

TEST(GrayLevelDiscretizationImageFilterErrors, NoFiniteIntensity)
{
  const auto filter = FloatFilter::New();
  filter->SetInput(MakeLine<FloatImage>({ quietNaN, infinity, -infinity }));
  filter->SetRangeSource(RangeSource::Image);
  ExpectError([&] { filter->Update(); }, {});
  filter->SetRangeSource(RangeSource::Mask);
  ExpectError([&] { filter->Update(); }, {});
  filter->SetRangeSource(RangeSource::Given);
  EXPECT_EQ((Levels{ 0, 32, 1 }), GetOutputLevels(filter.GetPointer()));
}

TEST(GrayLevelDiscretizationImageFilterErrors, MaskOfAnotherGeometry)
{
  const auto makeFilter = [](MaskImage * mask) {
    const auto filter = FloatFilter::New();
    filter->SetInput(MakeLine<FloatImage>({ 1.0f, 2.0f, 3.0f }));
    filter->SetMaskImage(mask);
    return filter;
  };
  const auto longer = makeFilter(MakeLine<MaskImage>({ 1, 1, 1, 1 }));
  ExpectError([&] { longer->Update(); }, { "4", "3" });

  const auto shifted = makeFilter(MakeImage<MaskImage>({ { 3, 1 } }, { 1, 1, 1 }, { { 2, 0 } }));
  ExpectError([&] { shifted->Update(); }, { "2" });

  const auto           mask = MakeLine<MaskImage>({ 1, 1, 1 });
  const double         origin[2] = { 7.25, 0.0 };
  FloatFilter::Pointer filter = makeFilter(mask);
  mask->SetOrigin(origin);
  ExpectError([&] { filter->Update(); }, { "~7.25" });

  const auto   spacedMask = MakeLine<MaskImage>({ 1, 1, 1 });
  const double spacing[2] = { 1.0, 1.75 };
  filter = makeFilter(spacedMask);
  spacedMask->SetSpacing(spacing);
  ExpectError([&] { filter->Update(); }, { "~1.75" });
}

TEST(GrayLevelDiscretizationImageFilterErrors, NoInput)
{
  const auto filter = FloatFilter::New();
  ExpectError([&] { filter->Update(); }, { "~Primary" });
}
