// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DeviceImageChecks_h
#define DeviceImageChecks_h

// Filters of images with pixels in the memory of a device: of an emulated one, and of itk::CudaImage. Results have the
// bits of the same filter of itk::Image, and pixels are copied only when the host asks for them.

#include "FilterPropertyChecks.h"
#include "ItkTestUtilities.h"
#include "PipelineTestUtilities.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFeatureMapsImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkResponseMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** Checks for a kind of device, which has
 * - Image<TPixel>: the 3D images;
 * - GetDevice(): what computes, for SetDevice();
 * - IsHostOutOfDate(image), IsDeviceOutOfDate(image): which pixels a change of the others made wrong;
 * - SetOnDevice(image, pixels): change the pixels on the device;
 * - SetUp(): skips the test where there is no device. */
template <typename TKind>
class DeviceImages : public ::testing::Test
{
public:
  template <typename TPixel>
  using Host = itk::Image<TPixel, 3>;
  template <typename TPixel>
  using Device = typename TKind::template Image<TPixel>;
  using IndexType = itk::Index<3>;
  using RegionType = itk::ImageRegion<3>;

  void
  SetUp() override
  {
    TKind::SetUp();
  }

  /** An image whose pixels are on the device only. */
  template <typename TPixel>
  static typename Device<TPixel>::Pointer
  ToDevice(const Host<TPixel> * image)
  {
    const auto result = Device<TPixel>::New();
    result->CopyInformation(image);
    result->SetRegions(image->GetLargestPossibleRegion());
    result->Allocate();
    TKind::SetOnDevice(result.GetPointer(), GetBuffer(image));
    ExpectOnDevice(result.GetPointer());
    return result;
  }

  template <typename TImage>
  static void
  ExpectOnDevice(const TImage * image)
  {
    EXPECT_TRUE(TKind::IsHostOutOfDate(image)) << "pixels were copied to the host, or written there";
    EXPECT_FALSE(TKind::IsDeviceOutOfDate(image)) << "pixels are not on the device";
  }

  /** The images of a scene, on the host or on the device. */
  template <template <typename> class TImage>
  struct Scene
  {
    typename TImage<float>::Pointer         image;
    typename TImage<unsigned char>::Pointer mask;
    typename TImage<unsigned char>::Pointer selection;
    typename TImage<unsigned char>::Pointer seeds;
  };

  static Scene<Host>
  MakeHostScene()
  {
    const itk::Size<3>         size{ { 26, 22, 16 } };
    RandomNumbers              random(11);
    const std::size_t          count = size[0] * size[1] * size[2];
    std::vector<float>         pixels(count);
    std::vector<unsigned char> inside(count);
    std::vector<unsigned char> selected(count);
    std::vector<unsigned char> seeds(count);
    for (std::size_t i = 0; i < count; ++i)
    {
      pixels[i] = static_cast<float>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(-200, 1000));
      inside[i] = random.Chance(0.95) ? 3 : 0;
      selected[i] = random.Chance(0.5) ? 1 : 0;
    }
    for (const std::size_t voxel : { 12u, 4000u, 7777u })
    {
      inside[voxel] = 3;
      seeds[voxel] = voxel == 4000 ? 2 : 1;
    }
    const IndexType start{ { -3, 5, 40 } };
    Scene<Host>     scene{ MakeImage<Host<float>>(size, pixels, start),
                       MakeImage<Host<unsigned char>>(size, inside, start),
                       MakeImage<Host<unsigned char>>(size, selected, start),
                       MakeImage<Host<unsigned char>>(size, seeds, start) };
    Place(scene.image.GetPointer(), scene.mask.GetPointer(), scene.selection.GetPointer(), scene.seeds.GetPointer());
    return scene;
  }

  void
  ExpectInputsStayedOnDevice() const
  {
    ExpectOnDevice(device.image.GetPointer());
    ExpectOnDevice(device.mask.GetPointer());
    ExpectOnDevice(device.selection.GetPointer());
    ExpectOnDevice(device.seeds.GetPointer());
  }

  /** Expect the same bits of an output on the host and of one that is only on the device. */
  template <typename THost, typename TDevice>
  static void
  ExpectSame(const THost * expected, const TDevice * actual)
  {
    ExpectOnDevice(actual);
    EXPECT_EQ(expected->GetBufferedRegion(), actual->GetBufferedRegion());
    EXPECT_EQ(expected->GetSpacing(), actual->GetSpacing());
    EXPECT_TRUE(HasSameBits(GetBuffer(expected), GetBuffer(actual)));
    EXPECT_FALSE(TKind::IsHostOutOfDate(actual));
  }

  /** Prepare a filter for the images of a scene. */
  template <typename TFilter, typename TScene>
  static typename TFilter::Pointer
  MakeFilter(const TScene & scene)
  {
    const auto filter = TFilter::New();
    filter->SetDevice(TKind::GetDevice());
    filter->SetInput(scene.image);
    if constexpr (hasMask<TFilter>)
    {
      filter->SetMaskImage(scene.mask);
    }
    return filter;
  }

  template <template <typename...> class TFilter>
  void
  CheckTexture() const
  {
    const auto prepare = [](const auto & filter, const auto & scene) {
      filter->SetSelectionImage(scene.selection);
      filter->SetNumberOfGrayLevels(16);
      filter->SetRangeMinimum(-150.0);
      filter->SetRangeMaximum(900.0);
      filter->SetNeighborhoodRadius(1);
      if (filter->GetFeatureNames().empty())
      {
        filter->SetFeatureNames({ "glcm_Contrast", "firstorder_Mean", "ngtdm_Busyness" });
      }
      return filter;
    };
    const auto expected = Compute(prepare(MakeFilter<TFilter<Host<float>>>(host), host));
    using Maps = itk::VectorImage<float, 3>;
    using FilterType = TFilter<Device<float>, Maps>;
    const auto filter = prepare(MakeFilter<FilterType>(device), device);
    SCOPED_TRACE(filter->GetNameOfClass());
    EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
    // Connected as an itk::Image.
    EXPECT_TRUE(HasSameBits(expected, Compute(prepare(MakeFilter<TFilter<Host<float>>>(device), device))));
    // In pieces.
    const auto streamed = prepare(MakeFilter<FilterType>(device), device);
    const auto streamer = itk::StreamingImageFilter<Maps, Maps>::New();
    streamer->SetInput(streamed->GetOutput());
    streamer->SetNumberOfStreamDivisions(5);
    EXPECT_TRUE(HasSameBits(expected, Compute(streamer)));
    // One image for each feature, which stay on the device; again after a change, and a part of them.
    const auto hostImages = prepare(MakeFilter<TFilter<Host<float>, Host<float>>>(host), host);
    const auto images = prepare(MakeFilter<TFilter<Device<float>>>(device), device);
    for (const double background : { 0.0, -1.0 })
    {
      hostImages->SetBackgroundValue(background);
      images->SetBackgroundValue(background);
      hostImages->Update();
      images->Update();
      ASSERT_EQ(images->GetFeatureNames().size(), images->GetNumberOfIndexedOutputs());
      for (unsigned int map = 0; map < images->GetNumberOfIndexedOutputs(); ++map)
      {
        ExpectSame(hostImages->GetOutput(map), images->GetOutput(map));
      }
    }
    const RegionType part{ { { 4, 6, 42 } }, { { 11, 9, 5 } } };
    const auto       again = prepare(MakeFilter<TFilter<Device<float>>>(device), device);
    again->GetOutput()->SetRequestedRegion(part);
    again->Update();
    hostImages->SetBackgroundValue(0.0);
    hostImages->Update();
    EXPECT_TRUE(HasSameBits(GetBuffer(hostImages->GetOutput(), part), GetBuffer(again->GetOutput())));
    this->ExpectInputsStayedOnDevice();
  }

  Scene<Host>   host{ MakeHostScene() };
  Scene<Device> device{ ToDevice(host.image.GetPointer()),
                        ToDevice(host.mask.GetPointer()),
                        ToDevice(host.selection.GetPointer()),
                        ToDevice(host.seeds.GetPointer()) };
};
TYPED_TEST_SUITE_P(DeviceImages);

TYPED_TEST_P(DeviceImages, TextureMaps)
{
  this->template CheckTexture<itk::CooccurrenceFeatureMapImageFilter>();
  this->template CheckTexture<itk::DependenceFeatureMapImageFilter>();
  this->template CheckTexture<itk::FeatureMapsImageFilter>();
  this->template CheckTexture<itk::FirstOrderFeatureMapImageFilter>();
  this->template CheckTexture<itk::GrayToneDifferenceFeatureMapImageFilter>();
  this->template CheckTexture<itk::RunLengthFeatureMapImageFilter>();
  this->template CheckTexture<itk::SizeZoneFeatureMapImageFilter>();
}

TYPED_TEST_P(DeviceImages, GrayLevels)
{
  using Test = DeviceImages<TypeParam>;
  const auto expected =
    this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<itk::Image<float, 3>>>(this->host);
  const auto filter =
    this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<typename Test::template Device<float>>>(
      this->device);
  for (const unsigned int levels : { 7u, 900u })
  {
    expected->SetNumberOfGrayLevels(levels);
    filter->SetNumberOfGrayLevels(levels);
    expected->Update();
    filter->Update();
    EXPECT_EQ(expected->GetUsedRangeMinimum(), filter->GetUsedRangeMinimum());
    Test::ExpectSame(expected->GetOutput(), filter->GetOutput());
  }
  // A part of the image.
  expected->SetRangeMinimum(0.0);
  expected->SetRangeMaximum(500.0);
  expected->Update();
  filter->SetRangeMinimum(0.0);
  filter->SetRangeMaximum(500.0);
  const typename Test::RegionType part{ { { 4, 6, 42 } }, { { 11, 9, 5 } } };
  filter->GetOutput()->SetRequestedRegion(part);
  filter->Update();
  EXPECT_EQ(part, filter->GetOutput()->GetBufferedRegion());
  EXPECT_TRUE(HasSameBits(GetBuffer(expected->GetOutput(), part), GetBuffer(filter->GetOutput())));
  this->ExpectInputsStayedOnDevice();
}

TYPED_TEST_P(DeviceImages, Responses)
{
  using Test = DeviceImages<TypeParam>;
  const auto expected = this->template MakeFilter<itk::ResponseMapImageFilter<itk::Image<float, 3>>>(this->host);
  const auto filter =
    this->template MakeFilter<itk::ResponseMapImageFilter<typename Test::template Device<float>>>(this->device);
  const auto check = [&](const auto & change) {
    change(expected);
    change(filter);
    expected->Update();
    filter->Update();
    Test::ExpectSame(expected->GetOutput(), filter->GetOutput());
  };
  check([](const auto & each) { each->SetSupportSize(3); });
  check([](const auto & each) {
    each->SetSupportSize(5);
    each->SetFilter(itk::ResponseMapEnums::Filter::Laws);
    each->SetKernels("E5L5S5");
    each->SetPooling(itk::ResponseMapEnums::Pooling::Maximum);
    each->ComputeEnergyOn();
  });
  const typename Test::RegionType part{ { { 4, 6, 42 } }, { { 11, 9, 5 } } };
  filter->Modified();
  filter->GetOutput()->SetRequestedRegion(part);
  filter->Update();
  EXPECT_EQ(part, filter->GetOutput()->GetBufferedRegion());
  EXPECT_TRUE(HasSameBits(GetBuffer(expected->GetOutput(), part), GetBuffer(filter->GetOutput())));
  this->ExpectInputsStayedOnDevice();
}

TYPED_TEST_P(DeviceImages, Strengths)
{
  using Test = DeviceImages<TypeParam>;
  const typename Test::IndexType seed{ { 9, 5, 40 } }; // the first of the seed image
  const auto expected = this->template MakeFilter<itk::FuzzyConnectednessImageFilter<itk::Image<float, 3>>>(this->host);
  const auto filter =
    this->template MakeFilter<itk::FuzzyConnectednessImageFilter<typename Test::template Device<float>>>(this->device);
  const auto check = [&](const auto & change) {
    change(expected, this->host);
    change(filter, this->device);
    expected->Update();
    filter->Update();
    EXPECT_EQ(expected->GetUsedAffinity(), filter->GetUsedAffinity());
    Test::ExpectSame(expected->GetOutput(), filter->GetOutput());
  };
  check([&](const auto & each, const auto &) {
    each->SetSeed(seed);
    each->SetAffinity({ { 400.0 }, { 90000.0 }, {}, { 40000.0 } });
  });
  check([](const auto & each, const auto & scene) { each->SetSeedImage(scene.seeds); });
  check([](const auto & each, const auto &) { each->EstimateAffinityFromSeedsOn(); });
  check([](const auto & each, const auto &) {
    each->ClearSeeds();
    each->CropToSeedsOn();
    each->SetCropMargin(4.0);
  });
  check([](const auto & each, const auto & scene) {
    each->SetSeedImage(nullptr);
    each->SetSeed({ { 9, 5, 40 } });
    each->SetMaskImage(nullptr);
    each->SetMinimumStrength(0.25);
    each->SetCropMargin(12.0);
    static_cast<void>(scene);
  });
  this->ExpectInputsStayedOnDevice();
}

TYPED_TEST_P(DeviceImages, Labels)
{
  using Test = DeviceImages<TypeParam>;
  using Device = typename Test::template Device<float>;
  const auto expected =
    this->template MakeFilter<itk::RelativeFuzzyConnectednessImageFilter<itk::Image<float, 3>>>(this->host);
  const auto filter = this->template MakeFilter<itk::RelativeFuzzyConnectednessImageFilter<Device>>(this->device);
  const auto check = [&](const auto & change) {
    change(expected, this->host);
    change(filter, this->device);
    expected->Update();
    filter->Update();
    Test::ExpectSame(expected->GetOutput(), filter->GetOutput());
    Test::ExpectSame(expected->GetStrengthImage(), filter->GetStrengthImage());
    Test::ExpectSame(expected->GetMarginImage(), filter->GetMarginImage());
  };
  check([](const auto & each, const auto & scene) {
    each->SetSeedImage(scene.seeds);
    each->SetAffinityFunction(itk::FuzzyConnectednessEnums::AffinityFunction::GeometricMean);
    each->SetCompetition(itk::RelativeFuzzyConnectednessEnums::Competition::Relative);
    each->SetAffinity({ { 400.0 }, { 90000.0 }, {}, { 40000.0 } });
    each->GenerateStrengthImageOn();
    each->GenerateMarginImageOn();
    each->KeepHierarchyOn();
  });
  check([](const auto & each, const auto &) { each->AddSeed({ { 2, 7, 50 } }, 3); });
  check([](const auto & each, const auto &) { each->EstimateAffinityOfEveryLabelOn(); });
  check([](const auto & each, const auto &) {
    each->EstimateAffinityOfEveryLabelOff();
    each->CropToSeedsOn();
    each->SetCropMargin(2.0);
  });
  this->ExpectInputsStayedOnDevice();
}

TYPED_TEST_P(DeviceImages, ChangesOnBothSides)
{
  using Test = DeviceImages<TypeParam>;
  const auto expected =
    this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<itk::Image<float, 3>>>(this->host);
  const auto filter =
    this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<typename Test::template Device<float>>>(
      this->device);
  const auto check = [&] {
    expected->Update();
    filter->Update();
    Test::ExpectSame(expected->GetOutput(), filter->GetOutput());
  };
  check();
  const auto setPixel = [](auto * image, float value) {
    image->GetBufferPointer()[77] = value;
    image->Modified();
  };
  setPixel(this->host.image.GetPointer(), 5000.0f);
  setPixel(this->device.image.GetPointer(), 5000.0f);
  check();
  EXPECT_FALSE(TypeParam::IsHostOutOfDate(this->device.image.GetPointer())) << "the host has not asked for it again";
  setPixel(this->host.image.GetPointer(), -9000.0f);
  TypeParam::SetOnDevice(this->device.image.GetPointer(), GetBuffer(this->host.image.GetPointer()));
  this->device.image->Modified();
  check();
  Test::ExpectOnDevice(this->device.image.GetPointer());
  // The next filter finds the change of an output, too.
  const auto second = TypeParam::GetDevice();
  const auto maps = itk::FirstOrderFeatureMapImageFilter<itk::Image<unsigned short, 3>>::New();
  maps->SetDevice(second);
  maps->SetInput(filter->GetOutput());
  const auto first = Compute(maps);
  filter->SetNumberOfGrayLevels(5);
  expected->SetNumberOfGrayLevels(5);
  EXPECT_FALSE(HasSameBits(first, Compute(maps)));
  const auto hostMaps = itk::FirstOrderFeatureMapImageFilter<itk::Image<unsigned short, 3>>::New();
  hostMaps->SetInput(expected->GetOutput());
  EXPECT_TRUE(HasSameBits(Compute(hostMaps), Compute(maps)));
}

TYPED_TEST_P(DeviceImages, TheCPUAndOtherImages)
{
  using Test = DeviceImages<TypeParam>;
  using Device = typename Test::template Device<float>;
  const auto expected =
    this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<itk::Image<float, 3>>>(this->host);
  expected->Update();
  // Input or output alone on the device, or a mask.
  using Levels = itk::Image<unsigned short, 3>;
  const auto toHost = this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<Device, Levels>>(this->device);
  EXPECT_TRUE(HasSameBits(GetBuffer(expected->GetOutput()), Compute(toHost)));
  toHost->SetMaskImage(this->host.mask);
  EXPECT_TRUE(HasSameBits(GetBuffer(expected->GetOutput()), Compute(toHost)));
  this->ExpectInputsStayedOnDevice();
  using DeviceLevels = typename Test::template Device<unsigned short>;
  const auto fromHost =
    this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<itk::Image<float, 3>, DeviceLevels>>(this->host);
  fromHost->Update();
  Test::ExpectSame(expected->GetOutput(), fromHost->GetOutput());
  fromHost->SetMaskImage(this->device.mask);
  EXPECT_TRUE(HasSameBits(GetBuffer(expected->GetOutput()), Compute(fromHost)));
  // The CPU computes if it is asked to.
  const auto onCPU = this->template MakeFilter<itk::GrayLevelDiscretizationImageFilter<Device>>(this->device);
  onCPU->SetDevice(itk::DeviceEnums::Device::CPU);
  EXPECT_TRUE(HasSameBits(GetBuffer(expected->GetOutput()), Compute(onCPU)));
  EXPECT_EQ("CPU", std::string(onCPU->GetUsedDeviceName()));
}

TYPED_TEST_P(DeviceImages, ErrorsNameTheValues)
{
  using Test = DeviceImages<TypeParam>;
  using Device = typename Test::template Device<float>;
  const auto filter = this->template MakeFilter<itk::FuzzyConnectednessImageFilter<Device>>(this->device);
  filter->SetAffinity({ { 400.0 }, { 90000.0 }, {}, { 40000.0 } });
  filter->SetSeed({ { 9, 5, 40 } });
  filter->SetInsidePixelValue(2);
  ExpectError([&] { filter->Update(); }, { "mask", "2", "3" });
  filter->SetInsidePixelValue(3);
  filter->Update();
  auto pixels = GetBuffer(this->host.mask.GetPointer());
  pixels[12] = 0;
  TypeParam::SetOnDevice(this->device.mask.GetPointer(), pixels);
  this->device.mask->Modified();
  ExpectError([&] { filter->Update(); }, { "seed", "outside", "mask" });
  pixels[13] = 9;
  TypeParam::SetOnDevice(this->device.mask.GetPointer(), pixels);
  const auto second = this->template MakeFilter<itk::FirstOrderFeatureMapImageFilter<Device>>(this->device);
  ExpectError([&] { second->Update(); }, { "mask", "3", "9", "SetInsidePixelValue" });
}

/** A chain with one Update(): levels, and their maps in a mask that is an object. */
TYPED_TEST_P(DeviceImages, Chain)
{
  using Test = DeviceImages<TypeParam>;
  const auto run = [](const auto & scene, auto pixel, const auto & expectStaysThere) {
    using ImageType = typename std::decay_t<decltype(*scene.image)>;
    using LevelImageType = typename ImageType::template Rebind<unsigned short>::Type;
    const auto levels = Test::template MakeFilter<itk::GrayLevelDiscretizationImageFilter<ImageType>>(scene);
    const auto strengths = Test::template MakeFilter<itk::FuzzyConnectednessImageFilter<ImageType>>(scene);
    strengths->SetAffinity({ { 400.0 }, { 90000.0 }, {}, { 40000.0 } });
    strengths->SetSeedImage(scene.seeds);
    // Levels with one edge are a threshold: 0 below it, 1 above.
    const auto object = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
    object->SetDevice(TypeParam::GetDevice());
    object->SetInput(strengths->GetOutput());
    object->SetBinEdges({ 0.4 });
    const auto maps = itk::FeatureMapsImageFilter<LevelImageType, itk::VectorImage<float, 3>, LevelImageType>::New();
    maps->SetDevice(TypeParam::GetDevice());
    maps->SetFeatureNames({ "glcm_Contrast", "glrlm_RunEntropy" });
    maps->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Levels);
    maps->SetNumberOfGrayLevels(32);
    maps->SetInput(levels->GetOutput());
    maps->SetMaskImage(object->GetOutput());
    const auto result = Compute(maps);
    expectStaysThere(levels->GetOutput(), strengths->GetOutput(), object->GetOutput());
    static_cast<void>(pixel);
    return result;
  };
  const auto expected = run(this->host, 0.0f, [](const auto *...) {});
  const auto actual = run(this->device, 0.0f, [](const auto *... images) { (Test::ExpectOnDevice(images), ...); });
  EXPECT_TRUE(HasSameBits(expected, actual));
  this->ExpectInputsStayedOnDevice();
}

REGISTER_TYPED_TEST_SUITE_P(DeviceImages, TextureMaps, GrayLevels, Responses, Strengths, Labels, ChangesOnBothSides,
                            TheCPUAndOtherImages, ErrorsNameTheValues, Chain);
} // namespace VoxelMapsTest

#endif // DeviceImageChecks_h
