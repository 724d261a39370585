// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// The program FeatureMaps reads images as float or double; its maps must be those of the filters on the type in the
// file.

#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace
{
using Method = itk::GrayLevelDiscretizationEnums::Method;

/** The maps of two classes. First order features use intensities and levels, those of all other classes only levels. */
template <typename TPixel>
std::vector<float>
ComputeMaps(const std::vector<double> & intensities, Method method, double binWidth)
{
  using ImageType = itk::Image<TPixel, 2>;
  auto image = ImageType::New();
  image->SetRegions(itk::Size<2>{ { 200, intensities.size() / 200 } });
  image->Allocate();
  std::transform(intensities.begin(), intensities.end(), image->GetBufferPointer(), [](double intensity) {
    return static_cast<TPixel>(intensity);
  });

  std::vector<float> values;
  const auto         append = [&](const auto & filter) {
    filter->SetInput(image);
    filter->SetDiscretizationMethod(method);
    filter->SetNumberOfGrayLevels(100);
    filter->SetBinWidth(binWidth);
    filter->Update();
    auto * pixels = filter->GetOutput()->GetPixelContainer();
    values.insert(values.end(), pixels->GetBufferPointer(), pixels->GetBufferPointer() + pixels->Size());
  };
  append(itk::FirstOrderFeatureMapImageFilter<ImageType>::New());
  append(itk::RunLengthFeatureMapImageFilter<ImageType>::New());
  return values;
}

template <typename TPixel>
class FeatureMapTypes : public ::testing::Test
{};

using IntegerTypes =
  ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t>;
} // namespace

TYPED_TEST_SUITE(FeatureMapTypes, IntegerTypes, );

TYPED_TEST(FeatureMapTypes, GiveTheMapsOfTheTypeThatTheProgramReads)
{
  using ReadType = std::conditional_t<sizeof(TypeParam) <= 2, float, double>;
  constexpr double lowest = std::max<double>(std::numeric_limits<TypeParam>::lowest(), -0x1p53);
  constexpr double highest = std::min<double>(std::numeric_limits<TypeParam>::max(), 0x1p53);

  std::mt19937_64     generator(7);
  std::vector<double> wide(200 * 200);
  std::vector<double> levels(wide.size());
  std::generate(wide.begin(), wide.end(), [&] {
    return std::floor(std::uniform_real_distribution<double>(lowest, highest)(generator));
  });
  wide.front() = lowest;
  wide.back() = highest;
  // With so few intensities, there is a table of their levels for integers of 16 bits.
  std::generate(levels.begin(), levels.end(), [&] { return static_cast<double>(generator() % 100); });

  for (const auto & intensities : { wide, levels })
  {
    const double width = (intensities == wide ? highest - lowest : 100.0) / 31.7;
    for (const auto method : { Method::FixedBinNumber, Method::FixedBinSize, Method::Identity })
    {
      if (method != Method::Identity || intensities == levels)
      {
        const auto expected = ComputeMaps<TypeParam>(intensities, method, width);
        const auto actual = ComputeMaps<ReadType>(intensities, method, width);
        EXPECT_EQ(expected.size(), 200 * 200 * (19 + 11));
        EXPECT_EQ(std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(float)), 0) << method;
      }
    }
  }
}
