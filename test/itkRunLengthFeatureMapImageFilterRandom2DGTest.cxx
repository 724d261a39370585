// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RunLengthRandomFilterCase.h"
#include "TestedFilters.h"

#include <gtest/gtest.h>

namespace
{
template <typename TPixel, typename TOutputValue>
using Filter2D = itk::RunLengthFeatureMapImageFilter<itk::Image<TPixel, 2>, itk::VectorImage<TOutputValue, 2>>;
} // namespace

TEST(RunLengthFeatureMapImageFilterRandom, UInt8In2D)
{
  VoxelMapsTest::CheckRandomFilterCases<Filter2D<unsigned char, float>>(200000, 800);
}

TEST(RunLengthFeatureMapImageFilterRandom, FloatIn2D)
{
  VoxelMapsTest::CheckRandomFilterCases<Filter2D<float, float>>(210000, 800);
}

TEST(RunLengthFeatureMapImageFilterRandom, UInt16In2DToDouble)
{
  VoxelMapsTest::CheckRandomFilterCases<Filter2D<unsigned short, double>>(220000, 600);
}
