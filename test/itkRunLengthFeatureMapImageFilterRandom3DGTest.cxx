/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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
