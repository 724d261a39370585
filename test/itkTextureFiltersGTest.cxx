// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// What all texture filters have in common: parameters, masks, regions, devices and errors. The values of features are
// those of the core, whose tests check them.

#include "FilterPropertyChecks.h"
#include "ItkTestUtilities.h"
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"

#include "itkCastImageFilter.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFeatureMapsImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkMetaDataObject.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using ImageType = itk::Image<short, 3>;
using MaskType = itk::Image<unsigned char, 3>;
using RegionType = ImageType::RegionType;
using Method = itk::GrayLevelDiscretizationEnums::Method;
using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;
using Device = itk::DeviceEnums::Device;
using Names = std::vector<std::string>;
using namespace VoxelMapsTest;

/** A noisy image with flat parts, and a mask with holes. */
struct Images
{
  explicit Images(const ImageType::SizeType & size = { { 23, 14, 8 } })
  {
    RandomNumbers              random(7);
    const std::size_t          count = size[0] * size[1] * size[2];
    std::vector<short>         pixels(count);
    std::vector<unsigned char> inside(count);
    std::vector<unsigned char> selected(count);
    for (std::size_t i = 0; i < count; ++i)
    {
      pixels[i] = static_cast<short>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(-200, 1000));
      inside[i] = random.Chance(0.9) ? 255 : 0;
      selected[i] = random.Chance(0.5) ? 1 : 0;
    }
    const ImageType::IndexType start{ { -3, 5, 40 } };
    image = MakeImage<ImageType>(size, pixels, start);
    mask = MakeImage<MaskType>(size, inside, start);
    selection = MakeImage<MaskType>(size, selected, start);
  }

  ImageType::Pointer image;
  MaskType::Pointer  mask;
  MaskType::Pointer  selection;
};

/** Filters of each class, whose features are few where the defaults are none or slow. */
template <template <typename...> class TFilter>
struct Class
{
  template <typename... TImages>
  using Filter = TFilter<TImages...>;
};
using Cooccurrence = Class<itk::CooccurrenceFeatureMapImageFilter>;
using Dependence = Class<itk::DependenceFeatureMapImageFilter>;
using FeatureMaps = Class<itk::FeatureMapsImageFilter>;
using FirstOrder = Class<itk::FirstOrderFeatureMapImageFilter>;
using GrayToneDifference = Class<itk::GrayToneDifferenceFeatureMapImageFilter>;
using RunLength = Class<itk::RunLengthFeatureMapImageFilter>;
using SizeZone = Class<itk::SizeZoneFeatureMapImageFilter>;

const Names severalFeatures{ "glcm_Contrast",
                             "firstorder_Mean",
                             "glcm_JointEntropy",
                             "glszm_ZonePercentage",
                             "glrlm_RP" };

template <typename TFilter>
typename TFilter::Pointer
MakeDefaultFilter()
{
  const auto filter = NewFilter<TFilter>();
  if (filter->GetFeatureNames().empty())
  {
    filter->SetFeatureNames(severalFeatures);
  }
  return filter;
}

template <typename TClass>
class TextureFilters : public ::testing::Test
{
public:
  using FilterType = typename TClass::template Filter<ImageType>;
  using MapType = itk::Image<float, 3>;
  using FilterOfImages = typename TClass::template Filter<ImageType, MapType>;

  /** A filter that streams. */
  template <typename TFilter = FilterType>
  typename TFilter::Pointer
  MakeFilter() const
  {
    const auto filter = MakeDefaultFilter<TFilter>();
    filter->SetInput(image);
    filter->SetMaskImage(mask);
    filter->SetRangeMinimum(-150.0);
    filter->SetRangeMaximum(900.0);
    filter->SetNumberOfGrayLevels(16);
    filter->SetWindowSize({ { 5, 4, 3 } });
    filter->SetWindowAnchor({ { 1, 3, 0 } });
    return filter;
  }

  const Images             images;
  const ImageType::Pointer image = images.image;
  const MaskType::Pointer  mask = images.mask;
};
using Classes =
  ::testing::Types<Cooccurrence, Dependence, FeatureMaps, FirstOrder, GrayToneDifference, RunLength, SizeZone>;
TYPED_TEST_SUITE(TextureFilters, Classes);
} // namespace

TYPED_TEST(TextureFilters, DefaultsAreAsDocumented)
{
  const auto filter = TestFixture::FilterType::New();
  EXPECT_EQ(Device::Automatic, filter->GetDevice());
  EXPECT_EQ(0, filter->GetDeviceID());
  EXPECT_EQ(1e-3, filter->GetCoordinateTolerance());
  EXPECT_EQ(TestFixture::FilterType::SizeType::Filled(5), filter->GetWindowSize());
  EXPECT_EQ((typename TestFixture::FilterType::OffsetType{ { 2, 2, 2 } }), filter->GetWindowAnchor());
  EXPECT_EQ((std::is_same<TypeParam, FeatureMaps>::value ? Method::FixedBinSizeAtMultiples : Method::FixedBinNumber),
            filter->GetDiscretizationMethod());
  EXPECT_EQ(32u, filter->GetNumberOfGrayLevels());
  EXPECT_EQ(25.0, filter->GetBinWidth());
  EXPECT_EQ(RangeSource::Mask, filter->GetRangeSource());
  EXPECT_EQ(0.0, filter->GetBackgroundValue());
  EXPECT_EQ("", filter->GetMethod());
  EXPECT_EQ((std::is_same<TypeParam, FeatureMaps>::value), filter->GetFeatureNames().empty());
}

TYPED_TEST(TextureFilters, SettersStoreModifyAndArePrinted)
{
  const auto filter = MakeDefaultFilter<typename TestFixture::FilterType>();
  const auto expectModified = MakeModifiedCheck(filter.GetPointer());
  const auto names = filter->GetFeatureNames();
  // Setting the same value again changes nothing, so nothing is computed again.
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetInsidePixelValue(66); }, modified);
    expectModified([&] { filter->SetDeviceID(3); }, modified);
    expectModified([&] { filter->SetOtherDeviceIDs({ 4, 5 }); }, modified);
    expectModified([&] { filter->SetMethod("WindowWalk"); }, modified);
    expectModified([&] { filter->SetBackgroundValue(std::nan("")); }, modified);
    expectModified([&] { filter->SetDiscretizationMethod(Method::FixedBinSize); }, modified);
    expectModified([&] { filter->SetBinWidth(12.25); }, modified);
    expectModified([&] { filter->SetRangeSource(RangeSource::Given); }, modified);
    expectModified([&] { filter->SetRangeMinimum(-33.5); }, modified);
    expectModified([&] { filter->SetRangeMaximum(44.5); }, modified);
    expectModified([&] { filter->SetFeatureNames({ names.front() }); }, modified && names.size() > 1);
    expectModified([&] { filter->SetNeighborhoodRadius(8); }, modified);
  }
  ExpectPrints(filter.GetPointer(),
               { "InsidePixelValue: 66\n",
                 "DeviceID: 3\n",
                 "OtherDeviceIDs: 4 5\n",
                 "Method: WindowWalk\n",
                 "BackgroundValue: nan\n",
                 "DiscretizationMethod: FixedBinSize\n",
                 "BinWidth: 12.25\n",
                 "RangeSource: Given\n",
                 "RangeMinimum: -33.5\n",
                 "RangeMaximum: 44.5\n",
                 "NeighborhoodRadius: [8, 8, 8]\n",
                 "WindowSize: [17, 17, 17]\n",
                 "WindowAnchor: [8, 8, 8]\n",
                 "FeatureNames: " + names.front() + "\n" });
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->ClearInsidePixelValue(); }, modified);
    expectModified([&] { filter->ClearDiscretization(); }, modified);
  }
  filter->SetNumberOfGrayLevels(77);
  ExpectPrints(filter.GetPointer(),
               { "NumberOfGrayLevels: 77\n", "InsidePixelValue: (not set)\n", "RangeSource: Mask\n" });
  expectModified([&] { filter->SetBinEdges({ 1.5, 2.5 }); }, true);
  ExpectPrints(filter.GetPointer(), { "NumberOfGrayLevels: 32\n", "BinEdges: 1.5 2.5\n" });
}

TYPED_TEST(TextureFilters, MethodsAreListedChosenAndRefused)
{
  const auto filter = this->MakeFilter();
  const auto expected = Compute(filter);
  const auto methods = filter->GetAvailableMethods();
  // With several classes, first order has no method in common with the others.
  EXPECT_EQ((std::is_same<TypeParam, FeatureMaps>::value), methods.empty());
  for (const std::string & method : methods)
  {
    filter->SetMethod(method);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter))) << method;
  }
  filter->SetMethod("Tables");
  ExpectError([&] { filter->Update(); }, { "Tables", "does not exist", "5 x 4 x 3", "16 gray levels" });
  filter->SetMethod("");
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
}

TYPED_TEST(TextureFilters, ComponentsHaveNamesInTheMetadata)
{
  const auto filter = this->MakeFilter();
  filter->UpdateOutputInformation();
  const Names names = filter->GetFeatureNames();
  EXPECT_EQ(names.size(), filter->GetOutput()->GetNumberOfComponentsPerPixel());
  std::string stored;
  EXPECT_TRUE(itk::ExposeMetaData(filter->GetOutput()->GetMetaDataDictionary(), "FeatureNames", stored));
  EXPECT_EQ(names.front(), stored.substr(0, stored.find(',')));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(std::count(stored.begin(), stored.end(), ',')) + 1);
  filter->Update();
  EXPECT_EQ(names.size() * this->image->GetLargestPossibleRegion().GetNumberOfPixels(),
            GetBuffer(filter->GetOutput()).size());
}

TYPED_TEST(TextureFilters, DoubleMapsRoundToFloatMaps)
{
  using Maps = itk::VectorImage<double, 3>;
  const auto toDouble = MakeDefaultFilter<typename TypeParam::template Filter<ImageType, Maps>>();
  toDouble->SetInput(this->image);
  toDouble->SetNeighborhoodRadius(1);
  const auto toFloat = MakeDefaultFilter<typename TestFixture::FilterType>();
  toFloat->SetInput(this->image);
  toFloat->SetNeighborhoodRadius(1);
  const auto         values = Compute(toDouble);
  std::vector<float> rounded(values.begin(), values.end());
  EXPECT_TRUE(HasSameBits(rounded, Compute(toFloat)));
}

// Features as components of one image, or as one image each.
TYPED_TEST(TextureFilters, ImagesOfFeaturesAreTheComponents)
{
  const auto components = this->MakeFilter();
  const auto images = this->template MakeFilter<typename TestFixture::FilterOfImages>();
  const auto set = [this](const auto & filter) {
    filter->SetSelectionImage(this->images.selection);
    filter->SetBackgroundValue(-3.0);
  };
  set(components);
  set(images);
  const Names       names = images->GetFeatureNames();
  const std::size_t last = names.size() - 1;
  EXPECT_EQ(components->GetFeatureNames(), names);
  EXPECT_EQ(names.size(), images->GetNumberOfIndexedOutputs());
  Place(this->image.GetPointer(), this->mask.GetPointer(), this->images.selection.GetPointer());
  unsigned int runs = 0;
  Observe<itk::EndEvent>(images, [&runs] { ++runs; });
  const auto expectMaps = [&](const RegionType & region) {
    components->Modified();
    components->GetOutput()->SetRequestedRegion(region);
    components->Update();
    const auto expected = GetBuffer(components->GetOutput());
    for (std::size_t map = 0; map < names.size(); ++map)
    {
      auto * const       output = images->GetFeatureMap(names[map]);
      std::vector<float> component;
      for (std::size_t i = map; i < expected.size(); i += names.size())
      {
        component.push_back(expected[i]);
      }
      EXPECT_EQ(images->GetOutput(static_cast<unsigned int>(map)), output);
      EXPECT_EQ(region, output->GetBufferedRegion());
      EXPECT_TRUE(HasSameBits(component, GetBuffer(output))) << names[map];
      EXPECT_EQ(this->image->GetOrigin(), output->GetOrigin());
      EXPECT_EQ(this->image->GetDirection(), output->GetDirection());
      std::string stored;
      EXPECT_TRUE(itk::ExposeMetaData(output->GetMetaDataDictionary(), "FeatureNames", stored));
      EXPECT_EQ(names[map], stored);
    }
  };
  // One update computes all, whichever output asks for it.
  images->GetOutput(static_cast<unsigned int>(last))->Update();
  images->Update();
  EXPECT_EQ(1u, runs);
  expectMaps(this->image->GetLargestPossibleRegion());
  const RegionType part({ { 0, 7, 42 } }, { { 9, 5, 3 } });
  images->Modified();
  images->GetOutput()->SetRequestedRegion(part);
  images->Update();
  expectMaps(part);
  // A released one is computed again, as are all.
  images->UpdateLargestPossibleRegion();
  images->GetOutput(1)->ReleaseData();
  images->GetOutput(1)->Update();
  expectMaps(this->image->GetLargestPossibleRegion());

  using MapType = typename TestFixture::MapType;
  const auto expected = GetBuffer(images->GetOutput(static_cast<unsigned int>(last)));
  const auto streamer = itk::StreamingImageFilter<MapType, MapType>::New();
  streamer->SetInput(images->GetOutput(static_cast<unsigned int>(last)));
  streamer->SetNumberOfStreamDivisions(4);
  runs = 0;
  images->Modified();
  EXPECT_TRUE(HasSameBits(expected, Compute(streamer)));
  EXPECT_EQ(4u, runs);
}

TYPED_TEST(TextureFilters, ImagesOfFeaturesFollowTheFeatures)
{
  auto        filter = this->template MakeFilter<typename TestFixture::FilterOfImages>();
  const Names names = filter->GetFeatureNames();
  const auto  last = static_cast<unsigned int>(names.size()) - 1;
  filter->Update();
  const itk::SmartPointer<typename TestFixture::MapType> map = filter->GetOutput(last);
  const auto                                             expected = GetBuffer(map.GetPointer());
  filter->SetFeatureNames({ names[last], names[0] });
  ASSERT_EQ(2u, filter->GetNumberOfIndexedOutputs());
  EXPECT_EQ(filter->GetOutput(filter->GetFeatureIndex(names[last])), filter->GetFeatureMap(names[last]));
  EXPECT_EQ((last < 2), map->GetSource() != nullptr);
  filter->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetFeatureMap(names[last]))));
  filter->SetFeatureNames(names);
  EXPECT_EQ(names.size(), filter->GetNumberOfIndexedOutputs());
  filter->Update();
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(filter->GetOutput(last))));
  // A map outlives the filter and the other maps.
  const itk::SmartPointer<typename TestFixture::MapType> kept = filter->GetOutput(last);
  filter = nullptr;
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(kept.GetPointer())));
}

TYPED_TEST(TextureFilters, NamesHaveAnIndex)
{
  const auto  filter = this->MakeFilter();
  const Names names = filter->GetFeatureNames();
  for (unsigned int i = 0; i < names.size(); ++i)
  {
    EXPECT_EQ(i, filter->GetFeatureIndex(names[i]));
  }
  ExpectError([&] { filter->GetFeatureIndex("Sharpness"); }, { filter->GetNameOfClass(), "Sharpness", "not exist" });
  filter->SetFeatureNames({ names[1] });
  ExpectError([&] { filter->GetFeatureIndex(names[0]); }, { filter->GetNameOfClass(), names[0], names[1] });
}

// The rule of masks: 0 and one other value, or InsidePixelValue; never empty.
TYPED_TEST(TextureFilters, MasksAreOfOneValueOrOfInsidePixelValue)
{
  const auto                 expected = Compute(this->MakeFilter());
  std::vector<unsigned char> values = GetBuffer(this->mask.GetPointer());
  RandomNumbers              random(3);
  for (unsigned char & value : values)
  {
    value = value != 0 ? 3 : random.Chance(0.5) ? 2 : 0;
  }
  const auto filter = this->MakeFilter();
  filter->SetMaskImage(MakeImage<MaskType>(
    this->image->GetLargestPossibleRegion().GetSize(), values, this->image->GetLargestPossibleRegion().GetIndex()));
  ExpectError([&] { filter->Update(); }, { "the mask has the values 0 and 2, 3", "SetInsidePixelValue" });
  filter->SetInsidePixelValue(7);
  ExpectError([&] { filter->Update(); }, { "the mask has no voxel of InsidePixelValue 7", "2, 3" });
  filter->SetInsidePixelValue(3);
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));

  const auto nothing = MaskType::New();
  nothing->SetRegions(this->image->GetLargestPossibleRegion());
  nothing->Allocate(true);
  const auto empty = this->MakeFilter();
  empty->SetMaskImage(nothing);
  ExpectError([&] { empty->Update(); }, { "the mask has no voxel inside" });
  // Also where only a part is computed.
  empty->GetOutput()->SetRequestedRegion(RegionType({ { 0, 6, 41 } }, { { 2, 2, 2 } }));
  ExpectError([&] { empty->Update(); }, { "the mask has no voxel inside" });
  empty->SetMaskImage(this->mask);
  empty->SetSelectionImage(nothing);
  ExpectError([&] { empty->Update(); }, { "the selection has no voxel inside" });
}

TYPED_TEST(TextureFilters, SelectionsAndMasksChooseVoxels)
{
  const auto all = this->MakeFilter();
  all->SetBackgroundValue(-3.0);
  auto              expected = Compute(all);
  const auto        flags = GetBuffer(this->images.selection.GetPointer());
  const auto        inside = GetBuffer(this->mask.GetPointer());
  const std::size_t components = all->GetFeatureNames().size();
  for (std::size_t i = 0; i < expected.size(); ++i)
  {
    EXPECT_TRUE(inside[i / components] != 0 || expected[i] == -3.0f);
    expected[i] = flags[i / components] == 1 ? expected[i] : -3.0f;
  }
  all->SetSelectionImage(this->images.selection);
  EXPECT_TRUE(HasSameBits(expected, Compute(all)));
}

TYPED_TEST(TextureFilters, RegionsAndStreamingDoNotChangeBits)
{
  using OutputType = typename TestFixture::FilterType::OutputImageType;
  for (const bool isGiven : { true, false })
  {
    const auto makeFilter = [&] {
      const auto filter = MakeDefaultFilter<typename TestFixture::FilterType>();
      filter->SetInput(this->image);
      filter->SetMaskImage(this->mask);
      filter->SetSelectionImage(this->images.selection);
      filter->SetNeighborhoodRadius(1);
      if (isGiven)
      {
        filter->SetRangeMinimum(-150.0);
        filter->SetRangeMaximum(900.0);
      }
      return filter;
    };
    const auto whole = makeFilter();
    const auto expected = Compute(whole);
    for (const RegionType & region : { RegionType({ { -3, 5, 40 } }, { { 1, 1, 1 } }),
                                       RegionType({ { 19, 18, 47 } }, { { 1, 1, 1 } }),
                                       RegionType({ { 0, 7, 42 } }, { { 9, 5, 3 } }) })
    {
      const auto filter = makeFilter();
      filter->GetOutput()->SetRequestedRegion(region);
      filter->Update();
      EXPECT_EQ(region, filter->GetOutput()->GetBufferedRegion());
      EXPECT_TRUE(HasSameBits(GetBuffer(whole->GetOutput(), region), GetBuffer(filter->GetOutput())));
      RegionType padded = region;
      padded.PadByRadius(1);
      padded.Crop(this->image->GetLargestPossibleRegion());
      EXPECT_EQ(isGiven ? padded : this->image->GetLargestPossibleRegion(), this->image->GetRequestedRegion());
    }
    // Both inputs come from filters that compute what is requested.
    const auto imageSource = itk::CastImageFilter<ImageType, ImageType>::New();
    imageSource->InPlaceOff();
    imageSource->SetInput(this->image);
    const auto maskSource = itk::CastImageFilter<MaskType, MaskType>::New();
    maskSource->InPlaceOff();
    maskSource->SetInput(this->mask);
    const auto filter = makeFilter();
    filter->SetInput(imageSource->GetOutput());
    filter->SetMaskImage(maskSource->GetOutput());
    const auto streamer = itk::StreamingImageFilter<OutputType, OutputType>::New();
    streamer->SetInput(filter->GetOutput());
    streamer->SetNumberOfStreamDivisions(5);
    EXPECT_TRUE(HasSameBits(expected, Compute(streamer)));
  }
}

TYPED_TEST(TextureFilters, ComputesAgainOnlyAfterAChange)
{
  using FilterType = typename TestFixture::FilterType;
  ChangeChecker<FilterType, TestFixture> checker(*this);
  checker.ExpectNewResults({ [](FilterType * filter) { filter->SetNumberOfGrayLevels(5); },
                             [](FilterType * filter) { filter->SetNeighborhoodRadius(2); },
                             [](FilterType * filter) { filter->SetBackgroundValue(-1.0); },
                             [](FilterType * filter) { filter->SetMaskImage(nullptr); },
                             [this](FilterType *) {
                               this->image->GetBufferPointer()[77] = 999;
                               this->image->GetBufferPointer()[78] = -150;
                               this->image->Modified();
                             } });
}

TYPED_TEST(TextureFilters, AbortsSoon)
{
  static const auto large = MakeLargeImage(8);
  const auto        filter = MakeDefaultFilter<typename TestFixture::FilterType>();
  filter->SetInput(large);
  filter->SetNumberOfWorkUnits(2);
  EXPECT_LT(AbortFromAnObserver(filter, 0.01f).withoutOthers, maxSecondsToAbort);
  const int milliseconds = IsCudaTest() ? 50 : 300;
  EXPECT_LT(AbortFromAnotherThread(filter, milliseconds).withoutOthers, maxSecondsToAbort);
}

TYPED_TEST(TextureFilters, GeometryIsKeptAndMustAgree)
{
  const auto expected = Compute(this->MakeFilter());
  Place(this->image.GetPointer(), this->mask.GetPointer());
  const auto filter = this->MakeFilter();
  filter->Update();
  ExpectGeometry(filter.GetPointer(), this->image.GetPointer());
  EXPECT_EQ((!std::is_same<TypeParam, FirstOrder>::value), HasSameBits(expected, GetBuffer(filter->GetOutput())));

  // NIfTI stores origins as float.
  auto origin = this->image->GetOrigin();
  origin[2] += 3.3e-4;
  this->mask->SetOrigin(origin);
  EXPECT_NO_THROW(filter->Update());
  origin[2] += 0.033;
  this->mask->SetOrigin(origin);
  ExpectError([&] { filter->Update(); }, { "the mask", "grid", "0.0101", "CoordinateTolerance", "0.001" });
  filter->SetCoordinateTolerance(0.02);
  EXPECT_NO_THROW(filter->Update());
  this->mask->SetOrigin(this->image->GetOrigin());
  auto direction = this->image->GetDirection();
  direction[2][2] = 1.0;
  this->mask->SetDirection(direction);
  ExpectError([&] { filter->Update(); }, { "the mask", "grid" });
  this->mask->SetDirection(this->image->GetDirection());
  this->mask->SetSpacing(this->image->GetSpacing() * 1.01);
  ExpectError([&] { filter->Update(); }, { "the mask", "grid", "spacings" });
  filter->SetMaskImage(MakeImage<MaskType>({ { 2, 2, 2 } }, std::vector<unsigned char>(8, 1)));
  ExpectError([&] { filter->Update(); }, { "the mask", "[2, 2, 2]", "[23, 14, 8]" });
  filter->SetMaskImage(nullptr);
  filter->SetSelectionImage(this->mask);
  ExpectError([&] { filter->Update(); }, { "the selection", "grid" });
}

TYPED_TEST(TextureFilters, ImagesWithoutVoxelsOrBuffers)
{
  const auto filter = MakeDefaultFilter<typename TestFixture::FilterType>();
  EXPECT_THROW(filter->Update(), itk::ExceptionObject); // no input
  for (const ImageType::SizeType & size : { ImageType::SizeType{ { 0, 0, 0 } }, ImageType::SizeType{ { 4, 0, 4 } } })
  {
    const auto empty = MakeImage<ImageType>(size, {});
    filter->SetInput(empty);
    filter->SetMaskImage(MakeImage<MaskType>(size, {}));
    filter->Update();
    EXPECT_EQ(empty->GetLargestPossibleRegion(), filter->GetOutput()->GetBufferedRegion());
  }
  const auto unallocated = ImageType::New();
  unallocated->SetRegions(this->image->GetLargestPossibleRegion());
  filter->SetMaskImage(nullptr);
  filter->SetInput(unallocated);
  ExpectError([&] { filter->Update(); }, { filter->GetNameOfClass(), "the input", "buffer has 0", "Allocate" });
  const auto mask = MaskType::New();
  mask->SetRegions(this->image->GetLargestPossibleRegion());
  filter->SetInput(this->image);
  filter->SetMaskImage(mask);
  ExpectError([&] { filter->Update(); }, { filter->GetNameOfClass(), "the mask", "buffer has 0", "Allocate" });
}

TYPED_TEST(TextureFilters, PixelsOfInputsAreAskedFor)
{
  const auto filter = this->MakeFilter();
  filter->SetSelectionImage(this->images.selection);
  ExpectPixelsAreAskedFor(filter, "Primary", this->image.GetPointer(), "the input");
  ExpectPixelsAreAskedFor(filter, "MaskImage", this->mask.GetPointer(), "the mask");
  ExpectPixelsAreAskedFor(filter, "SelectionImage", this->images.selection.GetPointer(), "the selection");
}

TYPED_TEST(TextureFilters, ErrorsNameTheValue)
{
  const auto expected = Compute(this->MakeFilter());
  const auto expectError = [&](const auto & mistake, const Names & words) {
    const auto filter = this->MakeFilter();
    mistake(filter.GetPointer());
    ExpectError([&] { filter->Update(); }, words);
  };
  expectError([](auto * filter) { filter->SetWindowSize({ { 0, 5, 5 } }); }, { "0" });
  expectError([](auto * filter) { filter->SetWindowSize({ { 256, 1, 1 } }); }, { "256" });
  expectError([](auto * filter) { filter->SetWindowSize({ { 41, 40, 40 } }); }, { "65600" });
  expectError([](auto * filter) { filter->SetNeighborhoodRadius(128); }, { "257" });
  // A radius of -1, as languages without unsigned numbers pass it on.
  expectError([](auto * filter) { filter->SetNeighborhoodRadius(-1); }, { "window size" });
  expectError([](auto * filter) { filter->SetWindowAnchor({ { 0, 4, 0 } }); }, { "4", "anchor" });
  expectError([](auto * filter) { filter->SetBackgroundValue(-1e300); }, { "BackgroundValue", "~-1e+300" });
  expectError([](auto * filter) { filter->SetNumberOfGrayLevels(65536); }, { "NumberOfGrayLevels", "65536" });
  expectError([](auto * filter) { filter->SetDiscretizationMethod(static_cast<Method>(9)); }, { "9", "Edges" });
  expectError([](auto * filter) { filter->SetRangeMaximum(std::nan("")); }, { "nan" });
  expectError([](auto * filter) { filter->SetRangeMaximum(-151.0); }, { "-151", "-150" });
  expectError([](auto * filter) { filter->SetDevice(static_cast<Device>(3)); }, { "Device", "3", "CUDA" });
  expectError([](auto * filter) { filter->SetFeatureNames({}); }, { "0 features" });
  EXPECT_TRUE(HasSameBits(expected, Compute(this->MakeFilter())));
  EXPECT_THROW(this->MakeFilter()->SetFeatureNames({ "Sharpness" }), itk::ExceptionObject);
}

// Parameters choose what uses them, or are an error.
TYPED_TEST(TextureFilters, ParametersOfTheDiscretizationHaveAnEffect)
{
  const auto makeFilter = [this] {
    const auto filter = MakeDefaultFilter<typename TestFixture::FilterType>();
    filter->SetInput(this->image);
    filter->SetNeighborhoodRadius(1);
    return filter;
  };
  const auto byWidth = makeFilter();
  byWidth->SetBinWidth(100.0);
  EXPECT_EQ(Method::FixedBinSizeAtMultiples, byWidth->GetDiscretizationMethod());
  byWidth->Update();
  EXPECT_EQ(13u, byWidth->GetUsedNumberOfGrayLevels()); // -200 ... 1000
  const auto byEdges = makeFilter();
  byEdges->SetBinEdges({ -200.0, 0.0, 500.0 });
  EXPECT_EQ(Method::Edges, byEdges->GetDiscretizationMethod());
  byEdges->Update();
  EXPECT_EQ(3u, byEdges->GetUsedNumberOfGrayLevels());
  const auto byNumber = makeFilter();
  byNumber->SetNumberOfGrayLevels(7);
  EXPECT_EQ(Method::FixedBinNumber, byNumber->GetDiscretizationMethod());
  byNumber->SetRangeMinimum(-50.0);
  ExpectError([&] { byNumber->Update(); }, { "RangeMinimum is -50", "RangeMaximum is not set" });
  byNumber->SetRangeMaximum(80.0);
  EXPECT_EQ(RangeSource::Given, byNumber->GetRangeSource());
  byNumber->Update();
  EXPECT_EQ(-50.0, byNumber->GetUsedRangeMinimum());
  EXPECT_EQ(80.0, byNumber->GetUsedRangeMaximum());
  EXPECT_EQ(7u, byNumber->GetUsedNumberOfGrayLevels());

  // What chooses takes back what it excludes.
  byNumber->SetRangeSource(RangeSource::Mask);
  byNumber->Update();
  EXPECT_EQ(-200.0, byNumber->GetUsedRangeMinimum());
  byNumber->SetBinWidth(100.0);
  byNumber->Update();
  EXPECT_EQ(13u, byNumber->GetUsedNumberOfGrayLevels());
  byNumber->SetDiscretizationMethod(Method::FixedBinNumber);
  byNumber->Update();
  EXPECT_EQ(32u, byNumber->GetUsedNumberOfGrayLevels());
  byEdges->SetNumberOfGrayLevels(5);
  byEdges->Update();
  EXPECT_EQ(5u, byEdges->GetUsedNumberOfGrayLevels());
  byEdges->SetRangeMinimum(0.0);
  byEdges->SetRangeMaximum(1.0);
  byEdges->SetBinEdges({ 0.0 });
  byEdges->Update();
  EXPECT_EQ(1u, byEdges->GetUsedNumberOfGrayLevels());

  // What is excluded afterwards is an error.
  byNumber->SetBinWidth(10.0);
  ExpectError([&] { byNumber->Update(); }, { "BinWidth", "no effect", "FixedBinNumber", "ClearDiscretization" });
  byNumber->ClearDiscretization();
  byNumber->SetNumberOfGrayLevels(7);
  byNumber->SetRangeSource(RangeSource::Image);
  byNumber->SetRangeMinimum(0.0);
  byNumber->SetRangeMaximum(1.0);
  ExpectError([&] { byNumber->Update(); }, { "RangeMinimum and RangeMaximum", "no effect", "RangeSource is Image" });
  byNumber->SetRangeSource(RangeSource::Image);
  EXPECT_NO_THROW(byNumber->Update());
  byEdges->SetRangeMinimum(0.0);
  byEdges->SetRangeMaximum(1.0);
  ExpectError([&] { byEdges->Update(); }, { "RangeMinimum and RangeMaximum", "no effect", "Edges" });
}

TYPED_TEST(TextureFilters, ParametersWithoutEffectAreErrors)
{
  const auto filter = this->MakeFilter();
  filter->SetInsidePixelValue(255);
  const auto expected = Compute(filter);
  filter->SetMaskImage(nullptr);
  ExpectError([&] { filter->Update(); }, { "InsidePixelValue is 255", "no mask", "ClearInsidePixelValue" });
  filter->ClearInsidePixelValue();
  EXPECT_NO_THROW(filter->Update());
  filter->SetMaskImage(this->mask);
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));

  constexpr bool needsPairs =
    std::is_same<TypeParam, Cooccurrence>::value || std::is_same<TypeParam, FeatureMaps>::value;
  filter->SetNeighborhoodRadius(0);
  if (needsPairs)
  {
    ExpectError([&] { filter->Update(); }, { filter->GetNameOfClass(), "[1, 1, 1]", "Offsets" });
    filter->SetWindowSize({ { 1, 2, 1 } });
  }
  EXPECT_NO_THROW(filter->Update());
}

TYPED_TEST(TextureFilters, TheGlobalToleranceIsThatOfNewFilters)
{
  using Common = itk::ImageToImageFilterCommon;
  const double before = Common::GetGlobalDefaultCoordinateTolerance();
  Common::SetGlobalDefaultCoordinateTolerance(0.5);
  const auto filter = this->MakeFilter();
  Common::SetGlobalDefaultCoordinateTolerance(before);
  EXPECT_EQ(0.5, filter->GetCoordinateTolerance());
  auto origin = this->mask->GetOrigin();
  origin[0] += 0.4 * this->mask->GetSpacing()[0];
  this->mask->SetOrigin(origin);
  EXPECT_NO_THROW(filter->Update());
}

// Pieces of a stream do not search the mask again: what is wrong elsewhere is found once it is modified.
TYPED_TEST(TextureFilters, MasksAreSearchedOnce)
{
  const auto filter = this->MakeFilter();
  const auto updatePiece = [&](itk::IndexValueType plane) {
    filter->GetOutput()->SetRequestedRegion(RegionType({ { 0, 7, plane } }, { { 2, 2, 1 } }));
    filter->Update();
  };
  updatePiece(41);
  this->mask->GetBufferPointer()[0] = 7;
  EXPECT_NO_THROW(updatePiece(43));
  this->mask->Modified();
  ExpectError([&] { updatePiece(45); }, { "the mask has the values 0 and 7, 255" });
}

TYPED_TEST(TextureFilters, LevelsOfTheDiscretizationFilterAreTheSame)
{
  using Levels = itk::Image<unsigned short, 3>;
  if (std::is_same<TypeParam, FirstOrder>::value || std::is_same<TypeParam, FeatureMaps>::value)
  {
    GTEST_SKIP() << "uses intensities";
  }
  const auto discretization = itk::GrayLevelDiscretizationImageFilter<ImageType, Levels>::New();
  discretization->SetInput(this->image);
  discretization->SetMaskImage(this->mask);
  discretization->SetNumberOfGrayLevels(16);
  discretization->SetRangeMinimum(-150.0);
  discretization->SetRangeMaximum(900.0);
  const auto filter = MakeDefaultFilter<typename TypeParam::template Filter<Levels>>();
  filter->SetInput(discretization->GetOutput());
  filter->SetDiscretizationMethod(Method::Levels);
  filter->SetNumberOfGrayLevels(16);
  filter->SetWindowSize({ { 5, 4, 3 } });
  filter->SetWindowAnchor({ { 1, 3, 0 } });
  EXPECT_TRUE(HasSameBits(Compute(this->MakeFilter()), Compute(filter)));
}

TYPED_TEST(TextureFilters, DevicesAreChosen)
{
  const auto filter = this->MakeFilter();
  filter->SetDevice(Device::CPU);
  const auto expected = Compute(filter);
  EXPECT_EQ("CPU", std::string(filter->GetUsedDeviceName()));
  filter->SetDevice(Device::Automatic);
  if (itk::CudaDevices::IsUsable(0))
  {
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    EXPECT_EQ(itk::CudaDevices::GetName(0), std::string(filter->GetUsedDeviceName()));
    // In slabs.
    filter->SetDeviceMemoryBudget(1 << 20);
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    if (itk::CudaDevices::IsUsable(1))
    {
      filter->SetDeviceMemoryBudget(0);
      filter->SetOtherDeviceIDs({ 1 });
      EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    }
    filter->SetDeviceID(itk::CudaDevices::GetNumberOfDevices());
    filter->SetOtherDeviceIDs({});
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    EXPECT_EQ("CPU", std::string(filter->GetUsedDeviceName()));
  }
  else
  {
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    EXPECT_EQ("CPU", std::string(filter->GetUsedDeviceName()));
    filter->SetDevice(Device::CUDA);
    ExpectError([&] { filter->Update(); },
                { filter->GetNameOfClass(), "device", "~" + itk::CudaDevices::GetReasonForNoDevice() });
  }
}

// Values are those of the filters of single classes.
TEST(FeatureMapsImageFilter, MapsAreThoseOfTheClasses)
{
  const Images images;
  const auto   filter = NewFilter<itk::FeatureMapsImageFilter<ImageType>>();
  filter->SetInput(images.image);
  filter->SetMaskImage(images.mask);
  filter->SetNeighborhoodRadius(1);
  filter->SetAlpha(1);
  filter->SetVoxelArrayShift(300.0);
  filter->SymmetricOff();
  filter->SetAggregation(itk::FeatureMapsImageFilter<ImageType>::AggregationEnum::Merge);
  filter->SetDistances({ 2, 1 });
  filter->SetFeatureNames({ "firstorder_Energy",
                            "glcm_CON",
                            "gldm_DependenceEntropy",
                            "glrlm_ShortRunEmphasis",
                            "glcm_angular_second_moment",
                            "glszm_ZE",
                            "ngtdm" });
  EXPECT_EQ((Names{ "firstorder_Energy",
                    "glcm_Contrast",
                    "glcm_JointEnergy",
                    "gldm_DependenceEntropy",
                    "glrlm_ShortRunEmphasis",
                    "glszm_ZoneEntropy",
                    "ngtdm_Busyness",
                    "ngtdm_Coarseness",
                    "ngtdm_Complexity",
                    "ngtdm_Contrast",
                    "ngtdm_Strength" }),
            filter->GetFeatureNames());
  const auto        maps = Compute(filter);
  const std::size_t components = filter->GetFeatureNames().size();
  std::size_t       first = 0;
  const auto        expectMaps = [&](const auto & single, const Names & names) {
    single->SetInput(images.image);
    single->SetMaskImage(images.mask);
    single->SetNeighborhoodRadius(1);
    single->SetBinWidth(25.0);
    if (!names.empty())
    {
      single->SetFeatureNames(names);
    }
    const auto        expected = Compute(single);
    const std::size_t count = single->GetFeatureNames().size();
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
      const float actual = maps[i / count * components + first + i % count];
      ASSERT_TRUE(HasSameBits(std::vector<float>{ expected[i] }, std::vector<float>{ actual })) << names.front();
    }
    first += count;
  };
  const auto firstOrder = NewFilter<itk::FirstOrderFeatureMapImageFilter<ImageType>>();
  firstOrder->SetVoxelArrayShift(300.0);
  expectMaps(firstOrder, { "ENE" });
  const auto cooccurrence = NewFilter<itk::CooccurrenceFeatureMapImageFilter<ImageType>>();
  cooccurrence->SymmetricOff();
  cooccurrence->SetAggregation(itk::CooccurrenceFeatureMapEnums::Aggregation::Merge);
  cooccurrence->SetDistances({ 2, 1 });
  expectMaps(cooccurrence, { "CON", "JEN" });
  const auto dependence = NewFilter<itk::DependenceFeatureMapImageFilter<ImageType>>();
  dependence->SetAlpha(1);
  dependence->SetDistances({ 2, 1 });
  expectMaps(dependence, { "DE" });
  const auto runLength = NewFilter<itk::RunLengthFeatureMapImageFilter<ImageType>>();
  runLength->SetAggregation(itk::RunLengthFeatureMapEnums::Aggregation::Merge);
  runLength->SkipDirectionsWithoutPairsOn();
  expectMaps(runLength, { "SRE" });
  expectMaps(NewFilter<itk::SizeZoneFeatureMapImageFilter<ImageType>>(), { "ZE" });
  const auto grayTone = NewFilter<itk::GrayToneDifferenceFeatureMapImageFilter<ImageType>>();
  grayTone->SetDistances({ 2, 1 });
  expectMaps(grayTone, { "BUS", "COA", "COM", "CON", "STR" });
}

TEST(CooccurrenceFilters, OtherNamesHaveAnIndex)
{
  const auto filter = itk::CooccurrenceFeatureMapImageFilter<ImageType, itk::Image<double, 3>>::New();
  filter->SetFeatureNames({ "JointEntropy", "glcm_Contrast" });
  EXPECT_EQ(1u, filter->GetFeatureIndex("contrast"));
  EXPECT_EQ(0u, filter->GetFeatureIndex("glcm_JointEntropy"));
  filter->SetAggregation(itk::CooccurrenceFeatureMapEnums::Aggregation::PerDirection);
  filter->SetOffsets({ { { 1, 0, 0 } }, { { 0, 1, 0 } } });
  ASSERT_EQ(4u, filter->GetNumberOfIndexedOutputs());
  EXPECT_EQ(filter->GetOutput(3), filter->GetFeatureMap("CON_0_1_0"));
  ExpectError([&] { filter->GetFeatureIndex("Contrast"); }, { "CooccurrenceFeatureMapImageFilter", "CON_1_0_0" });
  filter->AddOffset({ { 0, 0, 1 } });
  EXPECT_EQ(6u, filter->GetNumberOfIndexedOutputs());
}

TEST(FeatureMapsImageFilter, NamesAreFoundOrAreErrors)
{
  const auto filter = itk::FeatureMapsImageFilter<ImageType>::New();
  filter->SetFeatureNames({ "glcm" });
  EXPECT_EQ(24u, filter->GetFeatureNames().size());
  for (const auto & [names, words] : std::vector<std::pair<Names, Names>>{
         { { "Contrast" }, { "'Contrast' does not exist", "glcm_Contrast", "firstorder" } },
         { { "glcm_Sharpness" }, { "'glcm_Sharpness' does not exist", "class glcm", "JointEntropy" } },
         { { "glcm_CON", "glcm_Contrast" }, { "glcm_Contrast is given twice" } },
         { { "ngtdm", "ngtdm_Busyness" }, { "ngtdm_Busyness is given twice" } } })
  {
    ExpectError([&, &names = names] { filter->SetFeatureNames(names); }, words);
  }
  EXPECT_EQ(24u, filter->GetFeatureNames().size());
  filter->SetInput(Images().image);
  filter->SetAggregation(itk::RunLengthFeatureMapEnums::Aggregation::PerDirection);
  ExpectError([&] { filter->Update(); }, { "Aggregation is PerDirection", "Merge" });
}

TEST(VoxelPairFilters, OffsetsAreSetAndVerified)
{
  using FilterType = itk::CooccurrenceFeatureMapImageFilter<ImageType>;
  using Offsets = FilterType::OffsetsType;
  const auto filter = NewFilter<FilterType>();
  filter->SetInput(Images().image);
  filter->SetFeatureNames({ "Contrast" });
  EXPECT_EQ(13u, FilterType::GetAllOffsets().size());
  EXPECT_EQ(13u + 49u, FilterType::GetAllOffsets({ 1, 2 }).size());
  EXPECT_EQ((Offsets{ { { 1, 0, 0 } }, { { -1, 1, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } } }),
            FilterType::GetInPlaneOffsets());
  filter->SetOffset({ { 1, 0, 0 } });
  filter->AddOffset({ { 0, 2, 0 } });
  EXPECT_EQ((Offsets{ { { 1, 0, 0 } }, { { 0, 2, 0 } } }), filter->GetOffsets());
  filter->SetAggregation(itk::CooccurrenceFeatureMapEnums::Aggregation::PerDirection);
  EXPECT_EQ((Names{ "CON_1_0_0", "CON_0_2_0" }), filter->GetFeatureNames());
  EXPECT_NO_THROW(filter->Update());
  filter->SetOffsetWeights({ 1.0 });
  ExpectError([&] { filter->Update(); }, { "OffsetWeights" });
  filter->SetOffsetWeights({});
  for (const auto & [offsets, words] : std::vector<std::pair<Offsets, Names>>{
         { {}, { "0 offsets", "4096" } },
         { { { { 0, 0, 0 } } }, { "[0, 0, 0]", "zero" } },
         { { { { 0, 255, 0 } } }, { "[0, 255, 0]", "254" } },
         { { { { 1, 0, 0 } }, { { 1, 0, 0 } } }, { "[1, 0, 0]", "twice" } },
         { { { { 1, 0, 0 } }, { { -1, 0, 0 } } }, { "[-1, 0, 0]", "opposite" } } })
  {
    filter->SetOffsets(offsets);
    ExpectError([&] { filter->Update(); }, words);
  }
  filter->SymmetricOff();
  EXPECT_NO_THROW(filter->Update());
  ExpectError([&] { filter->SetDistances({ 1, 0 }); }, { "distance 0", "254" });
  ExpectError([&] { filter->SetDistances({ 2, 2 }); }, { "distance 2", "twice" });
  ExpectError([&] { filter->SetDistances({}); }, { "Distances is empty" });
  ExpectError([&] { filter->SetDistances({ 60 }); }, { "distance 60", "4096" });
}

TEST(RunLengthFilters, DirectionsAreSetAndVerified)
{
  using FilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;
  using Offsets = FilterType::OffsetsType;
  const auto filter = NewFilter<FilterType>();
  filter->SetInput(Images().image);
  EXPECT_EQ(13u, filter->GetOffsets().size());
  EXPECT_EQ(4u, FilterType::GetInPlaneOffsets().size());
  filter->SetFeatureNames({ "sre", "glrlm_LongRunEmphasis" });
  filter->SetOffset({ { 1, -1, 0 } });
  filter->SetAggregation(itk::RunLengthFeatureMapEnums::Aggregation::PerDirection);
  EXPECT_EQ((Names{ "SRE_1_-1_0", "LRE_1_-1_0" }), filter->GetFeatureNames());
  EXPECT_NO_THROW(filter->Update());
  for (const auto & [offsets, words] : std::vector<std::pair<Offsets, Names>>{
         { {}, { "0 offsets" } },
         { { { { 0, 0, 0 } } }, { "[0, 0, 0]" } },
         { { { { 1, -3, 0 } } }, { "[1, -3, 0]", "-1 to 1" } },
         { { { { 1, 0, 0 } }, { { -1, 0, 0 } } }, { "[-1, 0, 0]", "opposite" } } })
  {
    filter->SetOffsets(offsets);
    ExpectError([&] { filter->Update(); }, words);
  }
}

TEST(CooccurrenceFilters, DefaultFeaturesAreFast)
{
  using Feature = itk::CooccurrenceFeatureMapEnums::Feature;
  const auto features = itk::CooccurrenceFeatureMapImageFilter<ImageType>::New()->GetFeatures();
  EXPECT_EQ(23u, features.size());
  EXPECT_EQ(0, std::count(features.begin(), features.end(), Feature::MaximalCorrelationCoefficient));
}
