// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RunLengthRandomFilterCase.h"
#include "TestedFilters.h"

#include <gtest/gtest.h>

namespace
{
template <typename TPixel, typename TOutputValue>
using Filter3D = itk::RunLengthFeatureMapImageFilter<itk::Image<TPixel, 3>, itk::VectorImage<TOutputValue, 3>>;
} // namespace

TEST(RunLengthFeatureMapImageFilterRandom, UInt8In3D)
{
  VoxelMapsTest::CheckRandomFilterCases<Filter3D<unsigned char, float>>(300000, 600);
}

TEST(RunLengthFeatureMapImageFilterRandom, Int16In3D)
{
  VoxelMapsTest::CheckRandomFilterCases<Filter3D<short, float>>(310000, 600);
}

TEST(RunLengthFeatureMapImageFilterRandom, DoubleIn3DToDouble)
{
  VoxelMapsTest::CheckRandomFilterCases<Filter3D<double, double>>(320000, 600);
}
