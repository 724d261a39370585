// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "TestedFilters.h"
#include "ItkTestUtilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Image2D = itk::Image<unsigned char, 2>;
using Image3D = itk::Image<unsigned char, 3>;
using Filter2D = itk::RunLengthFeatureMapImageFilter<Image2D>;
using Filter3D = itk::RunLengthFeatureMapImageFilter<Image3D>;
using Enums = itk::RunLengthFeatureMapEnums;
using Feature = Enums::Feature;
using Aggregation = Enums::Aggregation;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Names = std::vector<std::string>;
using VoxelMapsTest::ExpectError;
using VoxelMapsTest::GetBuffer;
using VoxelMapsTest::MakeImage;

constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

Image2D::Pointer
MakeRamp(itk::SizeValueType width = 6, itk::SizeValueType height = 5)
{
  std::vector<unsigned char> pixels(width * height);
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    pixels[i] = static_cast<unsigned char>(i * 7);
  }
  return MakeImage<Image2D>({ { width, height } }, pixels);
}

Image2D::Pointer
MakeMask(itk::SizeValueType width, itk::SizeValueType height, unsigned char value = 1)
{
  return MakeImage<Image2D>({ { width, height } }, std::vector<unsigned char>(width * height, value));
}

Filter2D::Pointer
MakeFilter()
{
  auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(MakeRamp());
  return filter;
}

/** Expect an error that names these words, and that the filter works once the mistake is undone. */
template <typename TMistake, typename TRepair>
void
ExpectRepairableError(TMistake && mistake, TRepair && repair, const Names & words)
{
  const auto filter = MakeFilter();
  mistake(filter.GetPointer());
  ExpectError([&] { filter->Update(); }, words);
  repair(filter.GetPointer());
  EXPECT_NO_THROW(filter->Update());
  EXPECT_EQ(GetBuffer([] {
              const auto fresh = MakeFilter();
              fresh->Update();
              return fresh;
            }()
                        ->GetOutput()),
            GetBuffer(filter->GetOutput()));
}
} // namespace

TEST(RunLengthFeatureMapImageFilter, IsABasicObjectWithTheDocumentedDefaults)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
  EXPECT_EQ(VoxelMapsTest::GetClassNamePrefix() + "RunLengthFeatureMapImageFilter", filter->GetNameOfClass());
  EXPECT_EQ(32u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(Method::FixedBinNumber, filter->GetDiscretizationMethod());
  EXPECT_EQ(25.0, filter->GetBinWidth());
  EXPECT_EQ(RangeSource::Mask, filter->GetRangeSource());
  EXPECT_EQ(0.0, filter->GetRangeMinimum());
  EXPECT_EQ(255.0, filter->GetRangeMaximum());
  EXPECT_EQ(Filter3D::SizeType::Filled(2), filter->GetNeighborhoodRadius());
  EXPECT_EQ(Filter3D::SizeType::Filled(5), filter->GetWindowSize());
  EXPECT_EQ((Filter3D::OffsetType{ { 2, 2, 2 } }), filter->GetWindowAnchor());
  EXPECT_EQ(Filter3D::GetAllOffsets(), filter->GetOffsets());
  EXPECT_EQ(Enums::GetElevenFeatures(), filter->GetFeatures());
  EXPECT_EQ(Aggregation::Average, filter->GetAggregation());
  EXPECT_EQ(nullptr, filter->GetMaskImage());
  EXPECT_EQ(1, filter->GetInsidePixelValue());
  EXPECT_EQ(0.0, filter->GetBackgroundValue());
  EXPECT_EQ(255u, Filter3D::MaximumWindowSize + 0u);
  EXPECT_EQ(65535u, Filter3D::MaximumNumberOfVoxelsInWindow + 0u);
  EXPECT_EQ(Filter2D::GetAllOffsets(), VoxelMapsTest::NewFilter<Filter2D>()->GetOffsets());
}

TEST(RunLengthFeatureMapImageFilter, SettersStoreAndModify)
{
  const auto                  filter = VoxelMapsTest::NewFilter<Filter2D>();
  const auto                  mask = MakeMask(6, 5);
  const Filter2D::OffsetsType offsets{ { { 1, 1 } }, { { 0, -1 } } };
  const std::vector<Feature>  features{ Feature::RunEntropy, Feature::ShortRunEmphasis };

  const auto expectModified = VoxelMapsTest::MakeModifiedCheck(filter.GetPointer());
  // Setting the same value again changes nothing, so nothing is computed again.
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetMaskImage(mask); }, modified);
    expectModified([&] { filter->SetInsidePixelValue(9); }, modified);
    expectModified([&] { filter->SetBackgroundValue(-3.0); }, modified);
    expectModified([&] { filter->SetNumberOfGrayLevels(12); }, modified);
    expectModified([&] { filter->SetDiscretizationMethod(Method::FixedBinSize); }, modified);
    expectModified([&] { filter->SetBinWidth(4.5); }, modified);
    expectModified([&] { filter->SetRangeSource(RangeSource::Given); }, modified);
    expectModified([&] { filter->SetRangeMinimum(-1.0); }, modified);
    expectModified([&] { filter->SetRangeMaximum(99.0); }, modified);
    expectModified([&] { filter->SetOffsets(offsets); }, modified);
    expectModified([&] { filter->SetFeatures(features); }, modified);
    expectModified([&] { filter->SetAggregation(Aggregation::Merge); }, modified);
    expectModified([&] { filter->SetOffsetWeights({ 0.5 }); }, modified);
  }
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetNeighborhoodRadius(3); }, modified);
  }
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetWindowSize(4); }, modified);
  }
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetWindowAnchor({ { 0, 1 } }); }, modified);
  }
  EXPECT_EQ(mask.GetPointer(), filter->GetMaskImage());
  EXPECT_EQ(9, filter->GetInsidePixelValue());
  EXPECT_EQ(-3.0, filter->GetBackgroundValue());
  EXPECT_EQ(12u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(Method::FixedBinSize, filter->GetDiscretizationMethod());
  EXPECT_EQ(4.5, filter->GetBinWidth());
  EXPECT_EQ(RangeSource::Given, filter->GetRangeSource());
  EXPECT_EQ(-1.0, filter->GetRangeMinimum());
  EXPECT_EQ(99.0, filter->GetRangeMaximum());
  EXPECT_EQ(offsets, filter->GetOffsets());
  EXPECT_EQ(features, filter->GetFeatures());
  EXPECT_EQ(Aggregation::Merge, filter->GetAggregation());
}

TEST(RunLengthFeatureMapImageFilter, WindowsComeFromRadiusOrSizeAndAnchor)
{
  using SizeType = Filter2D::SizeType;
  using OffsetType = Filter2D::OffsetType;
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();

  filter->SetNeighborhoodRadius({ { 0, 3 } });
  EXPECT_EQ((SizeType{ { 0, 3 } }), filter->GetNeighborhoodRadius());
  EXPECT_EQ((SizeType{ { 1, 7 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 0, 3 } }), filter->GetWindowAnchor());

  filter->SetNeighborhoodRadius(4);
  EXPECT_EQ((SizeType{ { 9, 9 } }), filter->GetWindowSize());

  filter->SetWindowSize({ { 4, 5 } });
  EXPECT_EQ((SizeType{ { 4, 5 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 2, 2 } }), filter->GetWindowAnchor());

  filter->SetWindowAnchor({ { 0, 4 } });
  EXPECT_EQ((OffsetType{ { 0, 4 } }), filter->GetWindowAnchor());
  filter->SetWindowSize(6);
  EXPECT_EQ((SizeType{ { 6, 6 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 0, 4 } }), filter->GetWindowAnchor());

  // The same radius as before undoes size and anchor, too.
  const auto before = filter->GetMTime();
  filter->SetNeighborhoodRadius(4);
  EXPECT_GT(filter->GetMTime(), before);
  EXPECT_EQ((SizeType{ { 9, 9 } }), filter->GetWindowSize());
  EXPECT_EQ((OffsetType{ { 4, 4 } }), filter->GetWindowAnchor());
}

TEST(RunLengthFeatureMapImageFilter, OffsetsAreAllDirectionsOnce)
{
  const auto check = [](const auto & offsets, std::size_t count, unsigned int lastAxis) {
    ASSERT_EQ(count, offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i)
    {
      bool isZero = true;
      for (unsigned int axis = 0; axis < offsets[i].GetOffsetDimension(); ++axis)
      {
        EXPECT_LE(std::abs(offsets[i][axis]), axis <= lastAxis ? 1 : 0);
        isZero = isZero && offsets[i][axis] == 0;
      }
      EXPECT_FALSE(isZero);
      for (std::size_t j = 0; j < i; ++j)
      {
        auto opposite = offsets[j];
        opposite.Fill(0);
        opposite -= offsets[j];
        EXPECT_NE(offsets[j], offsets[i]);
        EXPECT_NE(opposite, offsets[i]);
      }
    }
    auto xAxis = offsets[0];
    xAxis.Fill(0);
    xAxis[0] = 1;
    EXPECT_EQ(xAxis, offsets[0]);
  };
  check(Filter2D::GetAllOffsets(), 4, 1);
  check(Filter2D::GetInPlaneOffsets(), 4, 1);
  check(Filter3D::GetInPlaneOffsets(), 4, 1);
  check(Filter3D::GetAllOffsets(), 13, 2);
}

TEST(RunLengthFeatureMapImageFilter, NamesOfComponents)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
  EXPECT_EQ((Names{ "SRE", "LRE", "GLN", "RLN", "RP", "LGRE", "HGRE", "SRLGE", "SRHGE", "LRLGE", "LRHGE" }),
            filter->GetFeatureNames());

  filter->SetFeatures({ Feature::RunEntropy, Feature::GrayLevelNonUniformityNormalized });
  filter->SetOffsets({ { { 1, -1, 0 } }, { { 0, 0, 1 } } });
  EXPECT_EQ((Names{ "RE", "GLNN" }), filter->GetFeatureNames());
  filter->SetAggregation(Aggregation::Merge);
  EXPECT_EQ((Names{ "RE", "GLNN" }), filter->GetFeatureNames());
  filter->SetAggregation(Aggregation::PerDirection);
  EXPECT_EQ((Names{ "RE_1_-1_0", "GLNN_1_-1_0", "RE_0_0_1", "GLNN_0_0_1" }), filter->GetFeatureNames());

  const auto filter2D = VoxelMapsTest::NewFilter<Filter2D>();
  filter2D->SetAggregation(Aggregation::PerDirection);
  const Names names = filter2D->GetFeatureNames();
  ASSERT_EQ(44u, names.size());
  EXPECT_EQ("SRE_1_0", names[0]);
  EXPECT_EQ("LRE_1_0", names[1]);
  // One direction keeps its name, so that names do not depend on how many there are.
  filter2D->SetOffsets({ { { -1, 1 } } });
  EXPECT_EQ("SRE_-1_1", filter2D->GetFeatureNames()[0]);
}

TEST(RunLengthFeatureMapImageFilter, PrintsItsMembers)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInsidePixelValue(66);
  filter->SetBackgroundValue(-12.5);
  filter->SetNumberOfGrayLevels(77);
  filter->SetDiscretizationMethod(Method::FixedBinSizeAtMultiples);
  filter->SetBinWidth(12.25);
  filter->SetRangeSource(RangeSource::Image);
  filter->SetRangeMinimum(-33.5);
  filter->SetRangeMaximum(44.5);
  filter->SetNeighborhoodRadius({ { 8, 7 } });
  filter->SetOffsets({ { { 1, -1 } } });
  filter->SetFeatures({ Feature::RunEntropy });
  filter->SetAggregation(Aggregation::Merge);
  const auto print = [&filter] {
    std::ostringstream out;
    filter->Print(out);
    return out.str();
  };
  const auto expectTexts = [](const std::string & all, const Names & texts) {
    for (const std::string & text : texts)
    {
      EXPECT_NE(std::string::npos, all.find(text)) << text << " is missing in\n" << all;
    }
  };
  expectTexts(print(),
              { "InsidePixelValue: 66",
                "BackgroundValue: -12.5",
                "NumberOfGrayLevels: 77",
                "DiscretizationMethod: FixedBinSizeAtMultiples",
                "BinWidth: 12.25",
                "RangeSource: Image",
                "RangeMinimum: -33.5",
                "RangeMaximum: 44.5",
                "NeighborhoodRadius: [8, 7]",
                "WindowSize: [17, 15]",
                "WindowAnchor: [8, 7]",
                "Offsets: [1, -1]",
                "Features: RE\n",
                "Aggregation: Merge",
                "UsedNumberOfGrayLevels: 0",
                "UsedRangeMinimum: 0",
                "UsedRangeMaximum: 0" });
  filter->SetWindowSize({ { 4, 6 } });
  filter->SetWindowAnchor({ { 3, 0 } });
  expectTexts(print(), { "WindowSize: [4, 6]", "WindowAnchor: [3, 0]" });
}

TEST(RunLengthFeatureMapImageFilter, TellsTheRangeAndLevelsItUsed)
{
  const auto filter = MakeFilter();
  filter->Update();
  EXPECT_EQ(32u, filter->GetUsedNumberOfGrayLevels());
  EXPECT_EQ(0.0, filter->GetUsedRangeMinimum());
  EXPECT_EQ(7.0 * 29, filter->GetUsedRangeMaximum());
  filter->SetDiscretizationMethod(Method::FixedBinSize);
  filter->Update();
  EXPECT_EQ(static_cast<unsigned int>(7 * 29 / 25 + 1), filter->GetUsedNumberOfGrayLevels());
  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMaximum(99.0);
  filter->Update();
  EXPECT_EQ(4u, filter->GetUsedNumberOfGrayLevels());
  EXPECT_EQ(99.0, filter->GetUsedRangeMaximum());
}

TEST(RunLengthFeatureMapImageFilter, NumberOfComponentsIsKnownBeforeComputing)
{
  const auto filter = MakeFilter();
  filter->UpdateOutputInformation();
  EXPECT_EQ(11u, filter->GetOutput()->GetNumberOfComponentsPerPixel());
  filter->SetAggregation(Aggregation::PerDirection);
  filter->UpdateOutputInformation();
  EXPECT_EQ(44u, filter->GetOutput()->GetNumberOfComponentsPerPixel());
  filter->SetFeatures({ Feature::RunEntropy });
  filter->UpdateOutputInformation();
  EXPECT_EQ(4u, filter->GetOutput()->GetNumberOfComponentsPerPixel());
  filter->Update();
  EXPECT_EQ(4u * 30u, GetBuffer(filter->GetOutput()).size());
}

// A constant window is one run per line; worked by hand for 3 x 3 windows of level 1.
TEST(RunLengthFeatureMapImageFilter, ConstantImageByHand)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(MakeMask(5, 5, 17));
  filter->SetNeighborhoodRadius(1);
  filter->SetOffsets({ { { 1, 0 } }, { { 1, 1 } } });
  filter->SetFeatures(Enums::GetAllFeatures());
  filter->SetAggregation(Aggregation::PerDirection);
  filter->Update();
  const auto          output = GetBuffer(filter->GetOutput());
  const float * const middle = output.data() + 12 * 32;
  // Along x: 3 runs of length 3. SRE, LRE, GLN, RLN, RP, LGRE, HGRE, SRLGE, SRHGE, LRLGE, LRHGE, GLNN, RLNN, GLV, RV,
  // RE
  const std::vector<float> alongX{ 1.0f / 9.0f, 9, 3, 3, 1.0f / 3.0f, 1, 1, 1.0f / 9.0f,
                                   1.0f / 9.0f, 9, 9, 1, 1,           0, 0, 0 };
  EXPECT_EQ(alongX, std::vector<float>(middle, middle + 16));
  // Diagonal: runs of length 1, 2, 3, 2, 1; N = 5, sum of squares 19, RLN (4 + 4 + 1) / 5, variance 19/5 - (9/5)^2.
  const float shortRuns = static_cast<float>((2.0 * 36 + 2.0 * 9 + 4.0) / (36.0 * 5.0));
  EXPECT_FLOAT_EQ(shortRuns, middle[16]);
  EXPECT_EQ(19.0f / 5.0f, middle[17]);
  EXPECT_EQ(5.0f, middle[18]);
  EXPECT_EQ(9.0f / 5.0f, middle[19]);
  EXPECT_EQ(5.0f / 9.0f, middle[20]);
  EXPECT_EQ(static_cast<float>((5.0 * 19.0 - 81.0) / 25.0), middle[30]);
  // Entropy of shares 2/5, 2/5, 1/5
  EXPECT_FLOAT_EQ(1.5219281f, middle[31]);
}

TEST(RunLengthFeatureMapImageFilter, WhereThereIsNoVoxelThereIsBackground)
{
  for (const double background : { 0.0, -7.5, quietNaN })
  {
    for (const RangeSource source : { RangeSource::Given, RangeSource::Image, RangeSource::Mask })
    {
      const auto filter = MakeFilter();
      filter->SetMaskImage(MakeMask(6, 5, 0));
      filter->SetBackgroundValue(background);
      filter->SetRangeSource(source);
      filter->Update();
      for (const float value : GetBuffer(filter->GetOutput()))
      {
        ASSERT_TRUE(std::isnan(background) ? std::isnan(value) : value == static_cast<float>(background)) << value;
      }
    }
  }
}

TEST(RunLengthFeatureMapImageFilter, NaNPixelsAreAbsent)
{
  using FloatImage = itk::Image<float, 2>;
  using FloatFilter = itk::RunLengthFeatureMapImageFilter<FloatImage>;
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

  const auto filter = VoxelMapsTest::NewFilter<FloatFilter>();
  filter->SetInput(MakeImage<FloatImage>({ { 5, 1 } }, { 1.0f, 1.0f, nan, 1.0f, 2.0f }));
  filter->SetOffsets({ { { 1, 0 } } });
  filter->SetFeatures({ Feature::LongRunEmphasis, Feature::RunPercentage });
  filter->SetBackgroundValue(quietNaN);
  filter->Update();
  const auto output = GetBuffer(filter->GetOutput());
  // The windows of 5 pixels hold 1 1 -, 1 1 - 1, (nothing), 1 - 1 2 and - 1 2: the NaN cuts runs and is not counted.
  EXPECT_EQ((std::vector<float>{ 4.0f, 1.0f / 2.0f, 5.0f / 2.0f, 2.0f / 3.0f }),
            std::vector<float>(output.begin(), output.begin() + 4));
  EXPECT_TRUE(std::isnan(output[4]));
  EXPECT_TRUE(std::isnan(output[5]));
  EXPECT_EQ((std::vector<float>{ 1.0f, 1.0f, 1.0f, 1.0f }), std::vector<float>(output.begin() + 6, output.end()));

  // A mask of NaN only has no range, and needs none.
  filter->SetMaskImage(MakeImage<Image2D>({ { 5, 1 } }, { 0, 0, 1, 0, 0 }));
  filter->Update();
  for (const float value : GetBuffer(filter->GetOutput()))
  {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(RunLengthFeatureMapImageFilter, MaskHolesInterruptRuns)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  filter->SetInput(MakeMask(5, 1, 40));
  filter->SetMaskImage(MakeImage<Image2D>({ { 5, 1 } }, { 7, 7, 1, 7, 0 }));
  filter->SetInsidePixelValue(7);
  filter->SetOffsets({ { { 1, 0 } } });
  filter->SetFeatures({ Feature::LongRunEmphasis });
  filter->SetBackgroundValue(-1.0);
  filter->Update();
  EXPECT_EQ((std::vector<float>{ 4.0f, 2.5f, -1.0f, 1.0f, -1.0f }), GetBuffer(filter->GetOutput()));
}

TEST(RunLengthFeatureMapImageFilterErrors, Windows)
{
  const auto radius2 = [](Filter2D * filter) { filter->SetNeighborhoodRadius(2); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize({ { 0, 5 } }); }, radius2, { "0" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize({ { 3, 0 } }); }, radius2, { "0" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize({ { 256, 1 } }); }, radius2, { "256" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize({ { 1, 1000 } }); }, radius2, { "1000" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetNeighborhoodRadius(128); }, radius2, { "257" });
  // A radius of -1, as languages without unsigned numbers pass it on, or one that wraps around to a small window.
  ExpectRepairableError([](Filter2D * filter) { filter->SetNeighborhoodRadius(-1); }, radius2, {});
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetNeighborhoodRadius(itk::SizeValueType{ 1 } << 63); }, radius2, {});
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowSize(-1); }, radius2, {});

  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowAnchor({ { -1, 0 } }); }, radius2, { "-1" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetWindowAnchor({ { 0, 5 } }); }, radius2, { "5" });
  ExpectRepairableError(
    [](Filter2D * filter) {
      filter->SetWindowAnchor({ { 4, 0 } });
      filter->SetWindowSize({ { 3, 9 } });
    },
    radius2,
    { "4" });

  const auto filter = VoxelMapsTest::NewFilter<Filter3D>();
  filter->SetInput(MakeImage<Image3D>({ { 2, 2, 2 } }, { 1, 2, 3, 4, 5, 6, 7, 8 }));
  filter->SetWindowSize({ { 41, 40, 40 } });
  ExpectError([&] { filter->Update(); }, { "65600" });
  filter->SetWindowSize({ { 255, 255, 255 } });
  ExpectError([&] { filter->Update(); }, { std::to_string(255 * 255 * 255) });
  filter->SetWindowSize({ { 255, 257, 1 } });
  ExpectError([&] { filter->Update(); }, { "257" });
  // 65535 voxels are allowed.
  filter->SetWindowSize({ { 255, 1, 255 } });
  EXPECT_NO_THROW(filter->Update());
  filter->SetWindowSize({ { 15, 17, 255 } });
  EXPECT_NO_THROW(filter->Update());
}

TEST(RunLengthFeatureMapImageFilterErrors, Levels)
{
  for (const Method method : { Method::FixedBinNumber, Method::Identity })
  {
    for (const unsigned int number : { 0u, 65536u })
    {
      const auto filter = MakeFilter();
      filter->SetDiscretizationMethod(method);
      filter->SetNumberOfGrayLevels(number);
      ExpectError([&] { filter->Update(); }, { std::to_string(number) });
    }
  }
  for (const Method method : { Method::FixedBinSize, Method::FixedBinSizeAtMultiples })
  {
    const auto filter = MakeFilter();
    filter->SetDiscretizationMethod(method);
    for (const double width : { 0.0, -3.5 })
    {
      filter->SetBinWidth(width);
      ExpectError([&] { filter->Update(); }, { width == 0.0 ? "0" : "-3.5" });
    }
    filter->SetBinWidth(1e-7);
    ExpectError([&] { filter->Update(); }, { "1e-07" });
  }
  const auto identity = MakeFilter();
  identity->SetDiscretizationMethod(Method::Identity);
  identity->SetNumberOfGrayLevels(100);
  ExpectError([&] { identity->Update(); }, {});
}

TEST(RunLengthFeatureMapImageFilterErrors, Ranges)
{
  const auto filter = MakeFilter();
  filter->SetRangeSource(RangeSource::Given);
  filter->SetRangeMinimum(7.5);
  filter->SetRangeMaximum(7.5);
  ExpectError([&] { filter->Update(); }, { "7.5" });
  filter->SetRangeMaximum(-6.5);
  ExpectError([&] { filter->Update(); }, { "7.5", "-6.5" });
  filter->SetRangeMaximum(quietNaN);
  ExpectError([&] { filter->Update(); }, { "nan" });
  filter->SetRangeMinimum(quietNaN);
  filter->SetRangeMaximum(8.5);
  ExpectError([&] { filter->Update(); }, { "nan" });
  filter->SetRangeMinimum(-std::numeric_limits<double>::infinity());
  ExpectError([&] { filter->Update(); }, { "-inf" });
}

TEST(RunLengthFeatureMapImageFilterErrors, Offsets)
{
  const auto all = [](Filter2D * filter) { filter->SetOffsets(Filter2D::GetAllOffsets()); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({}); }, all, { "0" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, 0 } }, { { 0, 0 } } }); }, all, { "[0, 0]" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 2, 0 } } }); }, all, { "2" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetOffsets({ { { 1, -3 } } }); }, all, { "-3" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, 1 } }, { { 0, 1 } }, { { 1, 1 } } }); }, all, { "[1, 1]" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetOffsets({ { { 1, -1 } }, { { 0, 1 } }, { { -1, 1 } } }); }, all, { "[-1, 1]" });
}

TEST(RunLengthFeatureMapImageFilterErrors, Features)
{
  const auto eleven = [](Filter2D * filter) { filter->SetFeatures(Enums::GetElevenFeatures()); };
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({}); }, eleven, { "0" });
  ExpectRepairableError(
    [](Filter2D * filter) { filter->SetFeatures({ Feature::RunEntropy, Feature::RunVariance, Feature::RunEntropy }); },
    eleven,
    { "RunEntropy" });
  ExpectRepairableError([](Filter2D * filter) { filter->SetFeatures({ static_cast<Feature>(16) }); }, eleven, { "16" });
}

TEST(RunLengthFeatureMapImageFilterErrors, MaskOfAnotherGeometry)
{
  const auto filter = MakeFilter();
  filter->SetMaskImage(MakeMask(13, 5));
  ExpectError([&] { filter->Update(); }, { "13" });
  filter->SetMaskImage(MakeImage<Image2D>({ { 6, 5 } }, std::vector<unsigned char>(30, 1), { { 0, 21 } }));
  ExpectError([&] { filter->Update(); }, { "21" });

  const auto   shifted = MakeMask(6, 5);
  const double origin[2] = { 0.0, -7.25 };
  shifted->SetOrigin(origin);
  filter->SetMaskImage(shifted);
  ExpectError([&] { filter->Update(); }, { "~-7.25" });

  const auto   stretched = MakeMask(6, 5);
  const double spacing[2] = { 1.0, 1.75 };
  stretched->SetSpacing(spacing);
  filter->SetMaskImage(stretched);
  ExpectError([&] { filter->Update(); }, { "~1.75" });

  filter->SetMaskImage(MakeMask(6, 5));
  EXPECT_NO_THROW(filter->Update());
}

TEST(RunLengthFeatureMapImageFilterErrors, ImageOfVectors)
{
  using VectorImageType = itk::VectorImage<float, 2>;
  const auto image = VectorImageType::New();
  image->SetRegions(VectorImageType::SizeType{ { 4, 3 } });
  image->SetNumberOfComponentsPerPixel(3);
  image->Allocate(true);
  const auto filter = VoxelMapsTest::NewFilter<itk::RunLengthFeatureMapImageFilter<VectorImageType>>();
  filter->SetInput(image);
  ExpectError([&] { filter->Update(); }, { "3" });
}

TEST(RunLengthFeatureMapImageFilterErrors, NoInput)
{
  const auto filter = VoxelMapsTest::NewFilter<Filter2D>();
  ExpectError([&] { filter->Update(); }, { "~Primary" });
}
