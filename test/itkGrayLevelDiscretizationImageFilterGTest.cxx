// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ItkTestUtilities.h"
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"

#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

// The formulas are those of the core, whose tests check them.
namespace
{
using ImageType = itk::Image<float, 2>;
using MaskType = itk::Image<unsigned char, 2>;
using LevelType = itk::Image<unsigned short, 2>;
using FilterType = itk::GrayLevelDiscretizationImageFilter<ImageType>;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Levels = std::vector<unsigned short>;
using namespace VoxelMapsTest;

constexpr float quietNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

FilterType::Pointer
MakeFilter(const std::vector<float> & pixels)
{
  const auto filter = NewFilter<FilterType>();
  filter->SetInput(MakeImage<ImageType>({ { pixels.size(), 1 } }, pixels));
  return filter;
}
} // namespace

// Worked by hand: width 25 from the minimum -30 on, at multiples of 25, and in 3 bins.
TEST(GrayLevelDiscretizationImageFilter, MethodsByHand)
{
  const std::vector<float> pixels{ -30, -26, -25, -6, -5, -1, 0, 19, 20, 24, 25, 44, quietNaN };
  const auto               multiples = MakeFilter(pixels);
  multiples->SetBinWidth(25.0);
  EXPECT_EQ((Levels{ 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 0 }), Compute(multiples));
  EXPECT_EQ(4u, multiples->GetUsedNumberOfGrayLevels());
  EXPECT_EQ(-30.0, multiples->GetUsedRangeMinimum());
  EXPECT_EQ(44.0, multiples->GetUsedRangeMaximum());
  multiples->SetDiscretizationMethod(Method::FixedBinSize);
  EXPECT_EQ((Levels{ 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0 }), Compute(multiples));
  const auto number = MakeFilter(pixels);
  number->SetNumberOfGrayLevels(3);
  number->SetRangeMinimum(-15.0);
  number->SetRangeMaximum(15.0);
  EXPECT_EQ((Levels{ 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 0 }), Compute(number));
  // numpy.digitize([...], [-1, 0, 2.5, 1000])
  const auto edges = MakeFilter({ -infinity, -1.5f, -1.0f, -0.5f, 0.0f, 2.25f, 2.5f, 1000.0f, infinity, quietNaN });
  edges->SetBinEdges({ -1.0, 0.0, 2.5, 1000.0 });
  EXPECT_EQ((Levels{ 0, 0, 1, 1, 2, 2, 3, 4, 4, 0 }), Compute(edges));
  const auto identity = MakeFilter({ 0.0f, -0.0f, quietNaN, 31.0f });
  identity->SetDiscretizationMethod(Method::Identity);
  EXPECT_EQ((Levels{ 1, 1, 0, 32 }), Compute(identity));
  identity->SetNumberOfGrayLevels(31);
  ExpectError([&] { identity->Update(); }, { "31", "Identity" });
}

TEST(GrayLevelDiscretizationImageFilter, RangesComeFromImageOrMask)
{
  const auto filter = MakeFilter({ -100.0f, 0.0f, 3.0f, 6.0f, 10.0f, 1000.0f });
  filter->SetNumberOfGrayLevels(10);
  EXPECT_EQ((Levels{ 1, 1, 1, 1, 2, 10 }), Compute(filter));
  filter->SetMaskImage(MakeImage<MaskType>({ { 6, 1 } }, { 0, 255, 255, 255, 255, 0 }));
  EXPECT_EQ((Levels{ 0, 1, 4, 7, 10, 0 }), Compute(filter));
  EXPECT_EQ(10.0, filter->GetUsedRangeMaximum());
  filter->SetRangeSource(RangeSource::Image);
  EXPECT_EQ((Levels{ 0, 1, 1, 1, 2, 0 }), Compute(filter));
  filter->SetMaskImage(MakeImage<MaskType>({ { 6, 1 } }, { 0, 0, 0, 0, 0, 0 }));
  ExpectError([&] { filter->Update(); }, { "the mask has no voxel inside" });
  const auto nothing = MakeFilter({ quietNaN, infinity });
  ExpectError([&] { nothing->Update(); }, { "finite" });
}

TEST(GrayLevelDiscretizationImageFilter, RunsInPlaceIfAskedTo)
{
  using InPlaceFilter = itk::GrayLevelDiscretizationImageFilter<LevelType>;
  const Levels pixels{ 7, 100, 0, 65535, 300, 42, 42, 9000 };
  const auto   makeFilter = [&pixels] {
    const auto filter = NewFilter<InPlaceFilter>();
    filter->SetInput(MakeImage<LevelType>({ { 4, 2 } }, pixels));
    filter->SetMaskImage(MakeImage<MaskType>({ { 4, 2 } }, { 1, 1, 1, 0, 1, 1, 1, 1 }));
    return filter;
  };
  const auto apart = makeFilter();
  EXPECT_FALSE(apart->GetInPlace());
  const Levels expected = Compute(apart);
  EXPECT_EQ(pixels, GetBuffer(apart->GetInput()));

  const auto filter = makeFilter();
  filter->InPlaceOn();
  const unsigned short * const buffer = filter->GetInput()->GetBufferPointer();
  EXPECT_EQ(expected, Compute(filter));
  EXPECT_EQ(buffer, filter->GetOutput()->GetBufferPointer());
  // Its pixels are gone.
  filter->Modified();
  ExpectError([&] { filter->Update(); }, { "the input has no pixels" });

  // A part is not in place, nor is an error that states an intensity.
  const auto part = makeFilter();
  part->InPlaceOn();
  part->SetRangeMinimum(0.0);
  part->SetRangeMaximum(9000.0);
  part->GetOutput()->SetRequestedRegion(LevelType::RegionType({ { 1, 0 } }, { { 2, 2 } }));
  part->Update();
  EXPECT_EQ(pixels, GetBuffer(part->GetInput()));
  part->ClearDiscretization();
  part->SetDiscretizationMethod(Method::Levels);
  EXPECT_FALSE(part->CanRunInPlace());
  ExpectError([&] { part->UpdateLargestPossibleRegion(); }, { "42", "not a valid gray level" });
  EXPECT_EQ(pixels, GetBuffer(part->GetInput()));
  EXPECT_FALSE(FilterType::New()->CanRunInPlace());

  // An update that does not finish leaves no half of an input.
  const auto aborted = makeFilter();
  aborted->InPlaceOn();
  const auto tag = aborted->AddObserver(itk::ProgressEvent(), [&aborted](const itk::EventObject &) {
    if (aborted->GetProgress() > 0.0f)
    {
      throw std::runtime_error("of the user");
    }
  });
  EXPECT_THROW(aborted->Update(), std::runtime_error);
  aborted->RemoveObserver(tag);
  ExpectError([&] { aborted->Update(); }, { "the input has no pixels" });
}

TEST(GrayLevelDiscretizationImageFilter, RegionsAndStreamingDoNotChangeLevels)
{
  RandomNumbers      random(4);
  std::vector<float> pixels(40 * 30);
  for (float & pixel : pixels)
  {
    pixel = static_cast<float>(random.Between(-500, 500));
  }
  const auto                image = MakeImage<ImageType>({ { 40, 30 } }, pixels, { { -5, 9 } });
  const itk::ImageRegion<2> region({ { 1, 12 } }, { { 7, 5 } });
  for (const bool isGiven : { true, false })
  {
    const auto makeFilter = [&] {
      const auto filter = NewFilter<FilterType>();
      filter->SetInput(image);
      if (isGiven)
      {
        filter->SetRangeMinimum(-400.0);
        filter->SetRangeMaximum(300.0);
      }
      return filter;
    };
    const auto whole = makeFilter();
    const auto expected = Compute(whole);
    const auto part = makeFilter();
    part->GetOutput()->SetRequestedRegion(region);
    part->Update();
    // An automatic range needs everything anyway.
    EXPECT_EQ(isGiven ? region : image->GetLargestPossibleRegion(), part->GetOutput()->GetBufferedRegion());
    EXPECT_EQ(GetBuffer(whole->GetOutput(), region), GetBuffer(part->GetOutput(), region));
    const auto streamer = itk::StreamingImageFilter<LevelType, LevelType>::New();
    const auto streamed = makeFilter();
    streamer->SetInput(streamed->GetOutput());
    streamer->SetNumberOfStreamDivisions(4);
    EXPECT_EQ(expected, Compute(streamer));
    ExpectWorkUnitsDoNotChangeBits(makeFilter);
  }
}
