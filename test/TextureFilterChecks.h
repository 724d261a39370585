// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureFilterChecks_h
#define TextureFilterChecks_h

// Filters and checks that the tests of several texture filters have in common.

#include "PipelineTestUtilities.h"
#include "ItkTestUtilities.h"
#include "TestedFilters.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
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

} // namespace VoxelMapsTest

#endif // TextureFilterChecks_h
