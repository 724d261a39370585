// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RunLengthRandomFilterCase_h
#define RunLengthRandomFilterCase_h

#include "TextureRandomCase.h"
#include "ItkTestUtilities.h"
#include "TestedFilters.h"

#include "itkVoxelMapsEnums.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
/** Intensities that a discretization turns into given levels. */
template <typename TFilter>
class IntensityMaker
{
public:
  using PixelType = typename TFilter::InputPixelType;
  using Method = itk::GrayLevelDiscretizationEnums::Method;
  using RangeSource = itk::GrayLevelDiscretizationEnums::RangeSource;

  IntensityMaker(std::uint32_t numberOfGrayLevels, RandomNumbers & random)
    : m_Random(random)
    , m_Number(numberOfGrayLevels)
  {
    // Ranges of small types allow few levels with some methods.
    constexpr bool      isReal = std::is_floating_point<PixelType>::value;
    const std::int64_t  room = isReal ? 1 << 20 : sizeof(PixelType) == 1 ? 256 : 65536;
    const std::int64_t  lowest = isReal ? -1000 : static_cast<std::int64_t>(std::numeric_limits<PixelType>::lowest());
    std::vector<Method> methods;
    if (isReal || lowest + room >= m_Number)
    {
      methods.push_back(Method::Identity);
    }
    if (m_Number <= room)
    {
      methods.push_back(Method::FixedBinSize);
    }
    if (2 * m_Number < room)
    {
      methods.push_back(Method::FixedBinNumber);
    }
    if (3 * m_Number + 3 < room)
    {
      methods.push_back(Method::FixedBinSizeAtMultiples);
    }
    if (isReal || lowest + room > m_Number)
    {
      methods.push_back(Method::Levels);
    }
    if (3 * m_Number < room)
    {
      methods.push_back(Method::Edges);
    }
    m_Method = random.OneOf(methods);
    switch (m_Method)
    {
      case Method::Identity:
        m_Maximum = m_Number - 1;
        break;
      case Method::FixedBinSize:
        m_Minimum = random.Between(lowest, lowest + room - m_Number);
        m_Maximum = m_Minimum + m_Number - 1;
        break;
      case Method::FixedBinNumber:
        m_Minimum = random.Between(lowest, lowest + room - 1 - 2 * m_Number);
        m_Maximum = m_Minimum + 2 * m_Number;
        break;
      case Method::FixedBinSizeAtMultiples:
        m_FirstEdge = random.Between(lowest + 3, lowest + room - 3 * m_Number) / 3 * 3;
        m_FirstEdge -= m_FirstEdge > lowest + room - 3 * m_Number ? 3 : 0;
        m_Minimum = m_FirstEdge + random.Below(3);
        m_Maximum = m_FirstEdge + 3 * (m_Number - 1) + random.Below(3);
        m_Maximum += m_Maximum == m_Minimum ? 1 : 0;
        break;
      case Method::Levels:
        break;
      case Method::Edges:
        m_Minimum = random.Between(lowest, lowest + room - 3 * m_Number);
        break;
    }
  }

  /** An intensity of this level; with a given range it may lie anywhere in its bin, and beyond the ends. */
  PixelType
  MakeIntensity(std::int64_t level)
  {
    constexpr bool isReal = std::is_floating_point<PixelType>::value;
    const double   fraction = isReal ? 0.25 * static_cast<double>(m_Random.Below(4)) : 0.0;
    switch (m_Method)
    {
      case Method::Identity:
        return static_cast<PixelType>(level - 1);
      case Method::FixedBinSize:
        return static_cast<PixelType>(static_cast<double>(m_Minimum + level - 1) + fraction);
      case Method::FixedBinNumber:
        return static_cast<PixelType>(m_Minimum + 2 * level - 1);
      case Method::Levels:
        return static_cast<PixelType>(level);
      case Method::Edges:
        // Bins of one, two or three integers in turn.
        return static_cast<PixelType>(static_cast<double>(GetEdge(level - 1) + m_Random.Below((level - 1) % 3 + 1)) +
                                      fraction);
      case Method::FixedBinSizeAtMultiples:
        break;
    }
    return static_cast<PixelType>(static_cast<double>(m_FirstEdge + 3 * (level - 1) + m_Random.Below(3)) + fraction);
  }

  void
  Configure(TFilter * filter) const
  {
    filter->SetDiscretizationMethod(m_Method);
    filter->SetRangeSource(RangeSource::Given);
    if (m_Method == Method::Edges)
    {
      std::vector<double> edges;
      for (std::int64_t i = 0; i < m_Number; ++i)
      {
        edges.push_back(static_cast<double>(this->GetEdge(i)));
      }
      filter->SetBinEdges(edges);
    }
    if (m_Method == Method::Identity || m_Method == Method::FixedBinNumber || m_Method == Method::Levels)
    {
      filter->SetNumberOfGrayLevels(static_cast<unsigned int>(m_Number));
    }
    filter->SetRangeMinimum(static_cast<double>(m_Minimum));
    filter->SetRangeMaximum(static_cast<double>(m_Maximum));
    filter->SetBinWidth(m_Method == Method::FixedBinSizeAtMultiples ? 3.0 : 1.0);
  }

  Method
  GetMethod() const
  {
    return m_Method;
  }

private:
  std::int64_t
  GetEdge(std::int64_t i) const
  {
    constexpr std::int64_t offsets[3] = { 0, 1, 3 };
    return m_Minimum + i / 3 * 6 + offsets[i % 3];
  }

  RandomNumbers & m_Random;
  std::int64_t    m_Number;
  Method          m_Method{ Method::Identity };
  std::int64_t    m_Minimum{ 0 };
  std::int64_t    m_Maximum{ 0 };
  std::int64_t    m_FirstEdge{ 0 };
};

/** Whether the filter gives what the oracle gives, for one case drawn from a seed. */
template <typename TFilter>
void
CheckRandomFilterCase(std::uint64_t seed)
{
  using InputImageType = typename TFilter::InputImageType;
  using MaskImageType = typename TFilter::MaskImageType;
  using PixelType = typename TFilter::InputPixelType;
  constexpr unsigned int dimension = TFilter::ImageDimension;

  RandomNumbers     random(seed);
  TextureRandomCase randomCase = DrawTextureRandomCase(seed, dimension, sizeof(PixelType) == 1 ? 256 : 65535, random);
  IntensityMaker<TFilter> intensityMaker(randomCase.numberOfGrayLevels, random);

  // Pixels, and what is absent: by a mask, or as NaN.
  std::vector<PixelType> pixels;
  for (const std::uint16_t level : randomCase.levels.values)
  {
    pixels.push_back(intensityMaker.MakeIntensity(level));
  }
  const std::string          holes = DrawHoles(randomCase.levels, random);
  const bool                 hasNaN = std::is_floating_point<PixelType>::value && random.Chance(0.3);
  const unsigned char        inside = random.Chance(0.5) ? 1 : 7;
  std::vector<unsigned char> mask;
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    const bool isInside = randomCase.levels.values[i] != 0;
    mask.push_back(isInside ? inside : random.OneOf<unsigned char>({ 0, 2, 255 }));
    if (hasNaN && (random.Chance(0.1) || (!isInside && random.Chance(0.5))))
    {
      pixels[i] = std::numeric_limits<PixelType>::quiet_NaN();
      mask[i] = random.Chance(0.5) ? inside : mask[i];
      randomCase.levels.values[i] = 0;
    }
  }

  typename InputImageType::SizeType   size;
  typename InputImageType::IndexType  start;
  typename InputImageType::RegionType region;
  typename TFilter::SizeType          windowSize;
  typename TFilter::OffsetType        windowAnchor;
  const bool                          hasStart = random.Chance(0.5);
  bool                                isRadius = true;
  bool                                isDefaultAnchor = true;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    size[axis] = static_cast<itk::SizeValueType>(randomCase.levels.size[axis]);
    start[axis] = hasStart ? random.Between(-50, 50) : 0;
    region.SetIndex(axis, start[axis] + randomCase.regionIndex[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(randomCase.regionSize[axis]));
    windowSize[axis] = static_cast<itk::SizeValueType>(randomCase.window.size[axis]);
    windowAnchor[axis] = randomCase.window.anchor[axis];
    isDefaultAnchor = isDefaultAnchor && randomCase.window.anchor[axis] == randomCase.window.size[axis] / 2;
    isRadius = isRadius && isDefaultAnchor && randomCase.window.size[axis] % 2 == 1;
  }

  const auto filter = VoxelMapsTest::NewFilter<TFilter>();
  filter->SetInput(MakeImage<InputImageType>(size, pixels, start));
  const bool hasMask = holes != "no holes" || random.Chance(0.2);
  if (hasMask)
  {
    filter->SetMaskImage(MakeImage<MaskImageType>(size, mask, start));
    filter->SetInsidePixelValue(inside);
  }
  intensityMaker.Configure(filter);
  if (isRadius)
  {
    for (unsigned int axis = 0; axis < dimension; ++axis)
    {
      windowSize[axis] /= 2;
    }
    filter->SetNeighborhoodRadius(windowSize);
  }
  else
  {
    filter->SetWindowSize(windowSize);
    if (!isDefaultAnchor)
    {
      filter->SetWindowAnchor(windowAnchor);
    }
  }
  typename TFilter::OffsetsType offsets;
  for (const TextureRandomCase::Triple & triple : randomCase.offsets)
  {
    typename TFilter::OffsetType offset;
    for (unsigned int axis = 0; axis < dimension; ++axis)
    {
      offset[axis] = triple[axis];
    }
    offsets.push_back(offset);
  }
  filter->SetOffsets(offsets);
  filter->SetFeatures(randomCase.features);
  filter->SetAggregation(randomCase.aggregation);
  const double background = random.OneOf<double>({ 0.0, -1.0, 1e30, std::numeric_limits<double>::quiet_NaN() });
  filter->SetBackgroundValue(background);
  const auto workUnits = static_cast<unsigned int>(random.OneOf<int>({ 0, 1, 2, 3, 8 }));
  if (workUnits > 0)
  {
    filter->SetNumberOfWorkUnits(workUnits);
  }

  SCOPED_TRACE(::testing::Message() << randomCase << ", " << holes << (hasMask ? ", masked" : "")
                                    << (hasNaN ? ", NaN" : "") << ", " << intensityMaker.GetMethod() << ", image at "
                                    << start << ", background " << background << ", work units " << workUnits);
  filter->GetOutput()->SetRequestedRegion(region);
  VOXELMAPS_ASSERT_NO_ITK_ERROR(filter->GetOutput()->Update());
  ASSERT_EQ(region, filter->GetOutput()->GetBufferedRegion());
  ASSERT_EQ(randomCase.GetNumberOfComponents(), filter->GetOutput()->GetNumberOfComponentsPerPixel());
  ASSERT_EQ(randomCase.GetNumberOfComponents(), filter->GetFeatureNames().size());
  EXPECT_EQ(randomCase.numberOfGrayLevels, filter->GetUsedNumberOfGrayLevels());
  const auto result = GetBuffer(filter->GetOutput());
  ASSERT_TRUE(AgreesWithOracle(randomCase, result, background, random));
}

/** Cases of consecutive seeds; ends at the first one that fails. */
template <typename TFilter>
void
CheckRandomFilterCases(std::uint64_t firstSeed, unsigned int count)
{
  for (unsigned int i = 0; i < count; ++i)
  {
    CheckRandomFilterCase<TFilter>(firstSeed + i);
    if (::testing::Test::HasFailure())
    {
      return;
    }
  }
}
} // namespace VoxelMapsTest

#endif // RunLengthRandomFilterCase_h
