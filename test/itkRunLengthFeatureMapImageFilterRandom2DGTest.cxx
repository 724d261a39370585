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
