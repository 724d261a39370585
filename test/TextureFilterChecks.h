// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureFilterChecks_h
#define TextureFilterChecks_h

// Filters and checks that the tests of several texture filters have in common.

#include "PipelineTestUtilities.h"
#include "RunLengthRandomFilterCase.h"
#include "ItkTestUtilities.h"
#include "TestedFilters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace VoxelMapsTest
{
/** The image of PyRadiomics' documentation, 5 x 5 pixels. */
inline const std::vector<unsigned char> documentedImage{ 5, 2, 5, 4, 4, //
                                                         3, 3, 3, 1, 3, //
                                                         2, 1, 1, 1, 3, //
                                                         4, 2, 2, 2, 3, //
                                                         3, 5, 3, 3, 2 };

/** A filter of an image of gray levels, of which 0 is outside of its mask. */
template <typename TFilter>
typename TFilter::Pointer
MakeLevelsFilter(const typename TFilter::SizeType & size, const std::vector<unsigned char> & levels,
                 unsigned int numberOfGrayLevels, unsigned int radius = 2)
{
  std::vector<unsigned char> inside;
  for (const unsigned char level : levels)
  {
    inside.push_back(level != 0 ? 1 : 0);
  }
  const auto filter = VoxelMapsTest::NewFilter<TFilter>();
  filter->SetInput(MakeImage<typename TFilter::InputImageType>(size, levels));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, inside));
  filter->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Levels);
  filter->SetNumberOfGrayLevels(numberOfGrayLevels);
  filter->SetNeighborhoodRadius(radius);
  return filter;
}

/** A filter of documentedImage. */
template <typename TFilter>
typename TFilter::Pointer
MakeDocumentedFilter()
{
  return MakeLevelsFilter<TFilter>({ { 5, 5 } }, documentedImage, 5);
}

/** Expect an error of a filter of documentedImage that names these words, and that the filter works once the mistake is
 * undone. */
template <typename TFilter, typename TMistake, typename TRepair>
void
ExpectRepairableError(TMistake && mistake, TRepair && repair, const std::vector<std::string> & words)
{
  const auto filter = MakeDocumentedFilter<TFilter>();
  mistake(filter.GetPointer());
  ExpectError([&] { filter->Update(); }, words);
  repair(filter.GetPointer());
  EXPECT_NO_THROW(filter->Update());
  EXPECT_TRUE(HasSameBits(Compute(MakeDocumentedFilter<TFilter>()), GetBuffer(filter->GetOutput())));
}

/** The features of a pixel, by feature. For filters with one component per feature. */
template <typename TFilter>
auto
ComputePixel(const itk::SmartPointer<TFilter> & filter, std::size_t pixel)
{
  filter->Update();
  const auto                                                              output = GetBuffer(filter->GetOutput());
  const auto                                                              features = filter->GetFeatures();
  std::map<typename std::decay_t<decltype(features)>::value_type, double> values;
  for (std::size_t f = 0; f < features.size(); ++f)
  {
    values[features[f]] = output[pixel * features.size() + f];
  }
  return values;
}

template <typename TFeature>
struct Expectation
{
  TFeature feature;
  double   value;
  /** 0 for quotients of integers, which must be met exactly. */
  double tolerance;
};

template <typename TFeature>
void
ExpectValues(const std::vector<Expectation<TFeature>> & expectations, const std::map<TFeature, double> & actual)
{
  for (const Expectation<TFeature> & expected : expectations)
  {
    ASSERT_EQ(1u, actual.count(expected.feature)) << expected.feature;
    if (expected.tolerance == 0.0)
    {
      EXPECT_EQ(expected.value, actual.at(expected.feature)) << expected.feature;
    }
    else
    {
      EXPECT_NEAR(expected.value, actual.at(expected.feature), expected.tolerance) << expected.feature;
    }
  }
}

/** A filter of noise with flat parts, and a mask with holes. */
template <typename TFilter>
typename TFilter::Pointer
MakeSceneFilter(const typename TFilter::SizeType & size = { { 41, 17, 9 } })
{
  using ImageType = typename TFilter::InputImageType;
  using PixelType = typename ImageType::PixelType;
  RandomNumbers              random(17);
  const std::size_t          count = size[0] * size[1] * size[2];
  std::vector<PixelType>     pixels(count);
  std::vector<unsigned char> inside(count);
  for (std::size_t i = 0; i < count; ++i)
  {
    pixels[i] = static_cast<PixelType>(i > 0 && random.Chance(0.6) ? pixels[i - 1] : random.Between(0, 250));
    inside[i] = random.Chance(0.85) ? 1 : 0;
  }
  const typename ImageType::IndexType start{ { -3, 5, 40 } };
  const auto                          filter = VoxelMapsTest::NewFilter<TFilter>();
  filter->SetInput(MakeImage<ImageType>(size, pixels, start));
  filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, inside, start));
  filter->SetRangeSource(itk::GrayLevelDiscretizationEnums::RangeSource::Given);
  filter->SetWindowSize({ { 5, 4, 3 } });
  filter->SetWindowAnchor({ { 1, 3, 0 } });
  return filter;
}

/** A filter with the image, mask, window and region of a random case; what else the case has is to be set. */
template <typename TFilter>
class RandomFilter
{
public:
  using RegionType = typename TFilter::InputImageType::RegionType;

  /** The levels of the case become those that the filter makes from random intensities. */
  RandomFilter(TextureRandomCase & randomCase, RandomNumbers & random)
  {
    using InputImageType = typename TFilter::InputImageType;
    using PixelType = typename TFilter::InputPixelType;
    constexpr unsigned int dimension = TFilter::ImageDimension;

    IntensityMaker<TFilter>      intensityMaker(randomCase.numberOfGrayLevels, random);
    std::vector<std::uint16_t> & levels = randomCase.levels.values;
    std::vector<PixelType>       pixels;
    for (const std::uint16_t level : levels)
    {
      pixels.push_back(intensityMaker.MakeIntensity(level));
    }
    m_Description = DrawHoles(randomCase.levels, random);
    std::vector<unsigned char> mask;
    for (const std::uint16_t level : levels)
    {
      mask.push_back(level != 0 ? 1 : 0);
    }
    if (std::is_floating_point<PixelType>::value && random.Chance(0.3))
    {
      // NaN is an absent voxel, too.
      const auto at = static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(pixels.size())));
      pixels[at] = std::numeric_limits<PixelType>::quiet_NaN();
      levels[at] = 0;
    }

    typename InputImageType::SizeType  size;
    typename InputImageType::IndexType start;
    typename TFilter::SizeType         windowSize;
    typename TFilter::OffsetType       windowAnchor;
    for (unsigned int axis = 0; axis < dimension; ++axis)
    {
      size[axis] = static_cast<itk::SizeValueType>(randomCase.levels.size[axis]);
      start[axis] = random.Between(-50, 50);
      m_Region.SetIndex(axis, start[axis] + randomCase.regionIndex[axis]);
      m_Region.SetSize(axis, static_cast<itk::SizeValueType>(randomCase.regionSize[axis]));
      windowSize[axis] = static_cast<itk::SizeValueType>(randomCase.window.size[axis]);
      windowAnchor[axis] = randomCase.window.anchor[axis];
    }
    filter->SetInput(MakeImage<InputImageType>(size, pixels, start));
    filter->SetMaskImage(MakeImage<typename TFilter::MaskImageType>(size, mask, start));
    intensityMaker.Configure(filter);
    filter->SetWindowSize(windowSize);
    filter->SetWindowAnchor(windowAnchor);
    filter->SetBackgroundValue(-1.0);
    std::ostringstream method;
    method << intensityMaker.GetMethod();
    m_Description += ", " + method.str();
  }

  template <typename TTriples>
  void
  SetOffsets(const TTriples & triples)
  {
    typename TFilter::OffsetsType offsets;
    for (const auto & triple : triples)
    {
      offsets.emplace_back();
      std::copy_n(triple.begin(), TFilter::ImageDimension, offsets.back().begin());
    }
    filter->SetOffsets(offsets);
  }

  /** The output in the region of the case; nothing, and a failure, if the filter throws an exception. */
  std::vector<typename TFilter::OutputValueType>
  Compute(std::size_t numberOfComponents) const
  {
    filter->GetOutput()->SetRequestedRegion(m_Region);
    try
    {
      filter->GetOutput()->Update();
    }
    catch (const itk::ExceptionObject & error)
    {
      ADD_FAILURE() << error;
      return {};
    }
    EXPECT_EQ(m_Region, filter->GetOutput()->GetBufferedRegion());
    EXPECT_EQ(numberOfComponents, filter->GetFeatureNames().size());
    return GetBuffer(filter->GetOutput());
  }

  /** Holes and intensities. */
  const std::string &
  GetDescription() const
  {
    return m_Description;
  }

  const RegionType &
  GetRegion() const
  {
    return m_Region;
  }

  const typename TFilter::Pointer filter = VoxelMapsTest::NewFilter<TFilter>();

private:
  RegionType  m_Region;
  std::string m_Description;
};

/** The number of levels up to which cases for a filter are to be drawn. */
template <typename TFilter>
constexpr std::uint32_t maximumNumberOfLevels = sizeof(typename TFilter::InputPixelType) == 1 ? 256 : 65535;
} // namespace VoxelMapsTest

#endif // TextureFilterChecks_h
