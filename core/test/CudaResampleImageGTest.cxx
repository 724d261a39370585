// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestMemory.h"
#include "CudaTestUtilities.h"
#include "ResampleImageCases.h"

#include <gtest/gtest.h>

#include <vector>

// Arrays in device memory against the CPU, which ResampleImageJobGTest.cxx compares with an oracle.
namespace
{
using namespace ResampleImageCases;
using namespace VoxelMapsTest;

class CudaResampleImage : public CudaTest
{};

template <typename TPixel>
void
CheckPlaces(ResampleImageJob & job, std::vector<TPixel> & pixels, const Stream & stream)
{
  std::vector<TPixel> expected(GetNumberOfVoxels(job.outputGrid));
  job.pixels = pixels.data();
  job.pixelType = job.outputType = GetPixelType<TPixel>();
  job.output = expected.data();
  voxelmaps::ResampleImage(job);
  for (const Place & place : GetPlaces(stream))
  {
    SCOPED_TRACE(Print(place));
    const DeviceArray<TPixel> pixelsOnDevice(pixels, place.stream);
    std::vector<TPixel>       output(expected.size(), 77);
    PlacedVector<TPixel>      placed(output, place);
    voxelmaps::CudaOptions    options;
    place.Set(options);
    job.pixels = place.input == voxelmaps::MemoryLocation::Device ? pixelsOnDevice.data() : pixels.data();
    job.output = placed.data();
    voxelmaps::ResampleImageCuda(job, options);
    placed.CopyBack();
    EXPECT_TRUE(HasSameBits(expected, output));
  }
}
} // namespace

TEST_F(CudaResampleImage, ArraysInAllPlacesSmallCases)
{
  const Stream  stream;
  RandomNumbers random(21);
  for (int i = 0; i < 6; ++i)
  {
    ResampleImageJob job;
    DrawGrids(job, 9, random);
    auto shorts = DrawPixels<std::int16_t>(job.inputGrid, random);
    auto floats = DrawPixels<float>(job.inputGrid, random);
    ForEachInterpolation(job, [&] {
      CheckPlaces(job, shorts, stream);
      CheckPlaces(job, floats, stream);
    });
  }
}

TEST_F(CudaResampleImage, PartsOfLargeImages)
{
  const Stream     stream;
  RandomNumbers    random(22);
  ResampleImageJob job;
  job.inputGrid.size = { { 300, 211, 150 } };
  job.inputGrid.spacing = { { 0.8, 0.8, 1.5 } };
  job.outputGrid.size = { { 60, 51, 70 } };
  job.outputGrid.origin = { { 80.25, 60.5, 70.125 } };
  auto pixels = DrawPixels<std::int16_t>(job.inputGrid, random);
  ForEachInterpolation(job, [&] { CheckPlaces(job, pixels, stream); });
}
